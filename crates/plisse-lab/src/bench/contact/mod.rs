//! What contact costs: a sheet that touches nothing, one that falls on a ball, a stack of sheets.
//!
//! `free` runs the same steps with and without contact, interleaved. The other scenes run alone;
//! their unit is a factorisation in double precision of the matrix without contact, timed between
//! their steps. All times are CPU times of the one thread that does the work.

mod book;
mod clocked;
mod free;
mod run;
mod scene;
#[cfg(test)]
mod tests;
mod unit;

use anyhow::{Result, bail};
use plisse::core::Positive;
use plisse::system::{Criterion, NewtonSettings};

use scene::Layout;

/// 0.1 m/s² of every vertex, where the default is that of the mean.
const EVERY_VERTEX: Criterion = Criterion::ForcePerMass(Positive::literal(0.1));

struct Choice {
    free: bool,
    drape: bool,
    stack: bool,
    vertices: Option<usize>,
    steps: Vec<usize>,
    newton: NewtonSettings,
}

/// `cargo xtask bench contact [free] [drape] [stack] [N] [5ms] [1/60] [every]`. Without names all
/// scenes, without lengths both. `N` by `N` are the vertices of the free sheet and of the drape.
pub(crate) fn run(words: &[&str]) -> Result<()> {
    let Choice { free, drape, stack, vertices, steps, newton } = read(words)?;
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    one.install(|| {
        if free {
            free::table(vertices.unwrap_or(100), newton)?;
        }
        for count in steps {
            if drape {
                run::table(&Layout::drape(vertices.unwrap_or(50)), count, newton)?;
            }
            if stack {
                run::table(&Layout::stack(), count, newton)?;
            }
        }
        Ok(())
    })
}

fn read(words: &[&str]) -> Result<Choice> {
    let newton = NewtonSettings::default();
    let mut choice =
        Choice { free: false, drape: false, stack: false, vertices: None, steps: Vec::new(), newton };
    for word in words {
        match *word {
            "free" => choice.free = true,
            "drape" => choice.drape = true,
            "stack" => choice.stack = true,
            "5ms" => choice.steps.push(200),
            "1/60" => choice.steps.push(60),
            "every" => choice.newton.criterion = EVERY_VERTEX,
            number => match number.parse() {
                Ok(n) if n >= 3 => choice.vertices = Some(n),
                _ => bail!(
                    "\"{word}\" is no scene (free, drape, stack), no step (5ms, 1/60), not \"every\" and no \
                     number of vertices from 3 on"
                ),
            },
        }
    }
    if !(choice.free || choice.drape || choice.stack) {
        (choice.free, choice.drape, choice.stack) = (true, true, true);
    }
    if choice.steps.is_empty() {
        choice.steps = vec![200, 60];
    }
    Ok(choice)
}
