//! `cargo xtask tidy`: the rules of the repository that no compiler checks.

mod dependencies;
mod text;

use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::repository_root;

/// A tracked text file.
struct File {
    path: String,
    text: String,
}

/// Collects every violation, prints them, and fails if there are any.
pub(crate) fn check() -> Result<()> {
    let files = files()?;
    let mut problems = Vec::new();
    text::first_line_docs(&files, &mut problems);
    text::paper_keys(&files, &mut problems);
    text::machine_paths(&files, &mut problems);
    text::columns(&files, &mut problems);
    text::links(&files, &mut problems);
    text::energies_have_pages(&files, &mut problems);
    text::scenes_have_pages(&files, &mut problems);
    dependencies::check(&files, &mut problems)?;
    if problems.is_empty() {
        println!("tidy: {} files, nothing to complain about", files.len());
        return Ok(());
    }
    for problem in &problems {
        eprintln!("tidy: {problem}");
    }
    bail!("tidy found {} problems", problems.len());
}

/// Every text file that git tracks or would track.
fn files() -> Result<Vec<File>> {
    let root = repository_root();
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(&root)
        .output()
        .context("git could not be started")?;
    ensure!(
        output.status.success(),
        "git ls-files failed: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let mut files = Vec::new();
    for path in String::from_utf8(output.stdout)?.lines() {
        // Files that are no text, or that were deleted but not yet committed, are passed over.
        if let Ok(text) = std::fs::read_to_string(root.join(path)) {
            files.push(File { path: path.to_owned(), text });
        }
    }
    Ok(files)
}

fn find<'a>(files: &'a [File], path: &str) -> &'a str {
    files.iter().find(|file| file.path == path).map_or("", |file| &file.text)
}
