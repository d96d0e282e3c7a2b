//! `cargo xtask regress`: experiments of the papers, as tables.

mod gauss_newton;
mod stretch_test;
mod v_strips;

use anyhow::{Result, bail};

/// Runs one experiment, or all of them.
pub(crate) fn run(names: &[&str]) -> Result<()> {
    let all = ["v-strips", "stretch-test"];
    for name in if names.is_empty() { &all[..] } else { names } {
        match *name {
            "v-strips" => v_strips::run()?,
            "stretch-test" => stretch_test::run()?,
            _ => bail!("no experiment is called \"{name}\"; there are: {}", all.join(", ")),
        }
    }
    Ok(())
}
