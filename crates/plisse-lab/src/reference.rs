//! `cargo xtask reference`: the reference of scene files, written from the types that read them.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use plisse::io::scene_file::{SceneFile, TableReference};

use crate::repository_root;

/// Where it is in the repository.
const PATH: &str = "docs/src/scenes/reference.md";

/// Writes the page.
pub(crate) fn write() -> Result<()> {
    std::fs::write(repository_root().join(PATH), text()).with_context(|| format!("cannot write {PATH}"))?;
    println!("{PATH}");
    Ok(())
}

/// The whole page.
fn text() -> String {
    let mut out = String::from(
        "# Scene files: reference\n\n\
         *Written by `cargo xtask reference` from the types that read the files; do not edit.*\n\n",
    );
    out += &wrapped(
        "A scene file is [TOML](https://toml.io). Keys that are not listed here are mistakes, and \
         `plisse check` reports every mistake of a file at once. Paths count from the folder of the \
         scene file.",
    );
    out.push('\n');
    for table in SceneFile::reference() {
        // Writing to a string cannot fail.
        _ = section(&mut out, &table);
    }
    out
}

fn section(out: &mut String, table: &TableReference) -> std::fmt::Result {
    writeln!(out, "\n## {}\n\n{}\n", table.name, wrapped(&table.text))?;
    writeln!(out, "| key | what | accepted | default |\n|---|---|---|---|")?;
    for key in &table.keys {
        let accepted = link(&key.expected).replace('|', "\\|");
        writeln!(out, "| `{}` | {} | {accepted} | {} |", key.key, key.text, key.presence)?;
    }
    Ok(())
}

#[cfg(test)]
#[test]
fn the_page_is_up_to_date() {
    let page = std::fs::read_to_string(repository_root().join(PATH)).unwrap();
    assert!(page == text(), "run `cargo xtask reference`");
}

/// A paragraph in lines of up to a hundred columns.
fn wrapped(text: &str) -> String {
    let (mut out, mut column) = (String::new(), 0);
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > 0 {
            let fits = column + 1 + length <= 100;
            out.push(if fits { ' ' } else { '\n' });
            column = if fits { column + 1 } else { 0 };
        }
        out.push_str(word);
        column += length;
    }
    out
}

/// Names of tables become links to their sections.
fn link(expected: &str) -> String {
    match expected.rsplit_once("see ") {
        Some((before, name)) if name.chars().all(char::is_alphanumeric) => {
            format!("{before}see [{name}](#{})", name.to_lowercase())
        }
        _ => expected.to_owned(),
    }
}
