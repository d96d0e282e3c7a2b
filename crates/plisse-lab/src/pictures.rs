//! `cargo xtask pictures`: runs the scenes of the repository and puts their pictures into the book.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::repository_root;

/// Runs each scene, or those named, and takes a picture of its last frame.
pub(crate) fn take(names: &[&str]) -> Result<()> {
    let root = repository_root();
    let mut scenes: Vec<String> = std::fs::read_dir(root.join("fixtures/scenes"))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".toml").map(str::to_owned))
        .filter(|name| names.is_empty() || names.contains(&name.as_str()))
        .collect();
    scenes.sort();
    ensure!(!scenes.is_empty(), "no scene of fixtures/scenes is called so");
    for scene in scenes {
        let run = format!("out/{scene}");
        let file = format!("fixtures/scenes/{scene}.toml");
        plisse(&["run", &file, "--out", &run, "--force", "--quiet"])?;
        let to = format!("docs/src/scenes/{scene}.png");
        let text = std::fs::read_to_string(root.join(&file))?;
        if text.lines().any(|line| line.trim() == "model = \"wrinkle\"") {
            // These runs keep no checkpoints; their cameras have the size of the book.
            let pictures = root.join(&run).join("pictures");
            let last = last_frame(&pictures, ".png")?;
            std::fs::copy(pictures.join(format!("frame_{last:04}.png")), root.join(&to))?;
            println!("{to}");
            continue;
        }
        let last = last_frame(&root.join(&run).join("checkpoints"), ".plisse")?;
        let pictures = format!("{run}/book");
        plisse(&[
            "render",
            &run,
            "--frame",
            &last.to_string(),
            "--size",
            "800x600",
            "--out",
            &pictures,
            "--quiet",
        ])?;
        std::fs::copy(root.join(pictures).join(format!("frame_{last:04}.png")), root.join(&to))?;
        println!("{to}");
    }
    Ok(())
}

/// The largest number of the files `frame_….suffix` in a folder.
fn last_frame(folder: &Path, suffix: &str) -> Result<u32> {
    std::fs::read_dir(folder)?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| name.strip_prefix("frame_")?.strip_suffix(suffix)?.parse::<u32>().ok())
        .max()
        .context("the run has left no frame")
}

fn plisse(arguments: &[&str]) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["run", "--release", "--quiet", "-p", "plisse-cli", "--"])
        .args(arguments)
        .current_dir(repository_root())
        .status()
        .context("cargo could not be started")?;
    ensure!(status.success(), "plisse {} failed", arguments.join(" "));
    Ok(())
}
