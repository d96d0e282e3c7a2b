//! `cargo xtask regress`: experiments of the papers, as tables.

mod animation;
#[cfg(test)]
mod damping_tests;
mod gauss_newton;
mod jitter;
pub(crate) mod spring;
mod stretch_test;
pub(crate) mod swing;
mod v_strips;
mod wrinkle;

use anyhow::{Result, bail};

/// Runs one experiment, or all of them.
pub(crate) fn run(names: &[&str]) -> Result<()> {
    let all = ["v-strips", "stretch-test", "spring", "swing", "wrinkle", "animation"];
    for name in if names.is_empty() { &all[..] } else { names } {
        match *name {
            "v-strips" => v_strips::run()?,
            "stretch-test" => stretch_test::run()?,
            "spring" => spring::run()?,
            "swing" => swing::run()?,
            "wrinkle" => wrinkle::run()?,
            "animation" => animation::run()?,
            "jitter" => jitter::run()?,
            _ => bail!("no experiment is called \"{name}\"; there are: {}", all.join(", ")),
        }
    }
    Ok(())
}
