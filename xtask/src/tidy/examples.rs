//! Every public item of the facade appears in an example that is compiled.

use std::collections::BTreeSet;

use super::{File, find};

/// Collects the names in examples of the facade, the README and the pages of the book that are compiled, and compares.
pub(super) fn facade_items_in_examples(files: &[File], problems: &mut Vec<String>) {
    let book = find(files, "crates/plisse/src/book.rs");
    let sources =
        || files.iter().filter(|f| f.path.starts_with("crates/plisse/src/") && !f.path.ends_with("tests.rs"));
    let mut shown: BTreeSet<&str> = BTreeSet::new();
    for file in sources() {
        for line in examples(&file.text, "///").chain(examples(&file.text, "//!")) {
            shown.extend(words(line));
        }
    }
    for page in files.iter().filter(|f| f.path.ends_with(".md") && book.contains(&format!("\"{}\"", f.path)))
    {
        for line in examples(&page.text, "") {
            shown.extend(words(line));
        }
    }
    for file in sources() {
        // Tests are at the end of a file.
        let code = file.text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for name in code.lines().filter_map(public_item).filter(|name| !shown.contains(name)) {
            problems.push(format!("{}: `{name}` is public and appears in no example", file.path));
        }
    }
}

/// The lines of code blocks, in comments that start with `prefix`.
fn examples<'a>(text: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    let (mut open, mut rust) = (false, false);
    text.lines().filter_map(move |line| line.trim_start().strip_prefix(prefix)).filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        if fence {
            let other = ["sh", "text", "toml", "json"].iter().any(|kind| line.trim().ends_with(kind));
            (open, rust) = (!open, !open && !other);
        }
        rust && !fence
    })
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_'))
}

/// The name that a line makes public.
fn public_item(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub ")?;
    let rest = rest.strip_prefix("const ").unwrap_or(rest);
    let name = ["fn ", "struct ", "enum ", "type "].iter().find_map(|kind| rest.strip_prefix(kind))?;
    words(name).next()
}
