//! `cargo xtask figures`: draws the plots of the book again, as SVG.

mod damping;
mod eigenvalues;
mod hanging_sheet;
mod modes;
mod yarn;

use anyhow::{Result, anyhow};

use crate::repository_root;

type DrawResult = Result<(), Box<dyn std::error::Error>>;
type Figure = fn(&std::path::Path) -> DrawResult;

/// Draws every figure into `docs/src/figures`.
pub(crate) fn draw() -> Result<()> {
    let folder = repository_root().join("docs/src/figures");
    std::fs::create_dir_all(&folder)?;
    let figures: [(&str, Figure); 9] = [
        ("eigenvalues.svg", eigenvalues::draw),
        ("modes-hinge.svg", modes::hinge),
        ("modes-rod.svg", modes::rod),
        ("hanging-sheet.svg", hanging_sheet::shapes),
        ("energies.svg", hanging_sheet::energies),
        ("damping-spring.svg", damping::spring),
        ("damping-swing.svg", damping::swing),
        ("damping-hanging.svg", damping::hanging),
        ("yarn-pull-out.svg", yarn::pull_out),
    ];
    for (name, draw) in figures {
        draw(&folder.join(name)).map_err(|e| anyhow!("{name}: {e}"))?;
        println!("docs/src/figures/{name}");
    }
    Ok(())
}
