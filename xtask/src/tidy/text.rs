//! Rules about the text of files.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::{File, find};
use crate::repository_root;

/// Every Rust file starts with a `//!` line that says what it is about.
pub(super) fn first_line_docs(files: &[File], problems: &mut Vec<String>) {
    for file in files.iter().filter(|file| file.path.ends_with(".rs")) {
        if !file.text.starts_with("//! ") {
            problems.push(format!("{}: the first line must be a //! sentence", file.path));
        }
    }
}

/// Every paper key in the code is explained in the references.
pub(super) fn paper_keys(files: &[File], problems: &mut Vec<String>) {
    let known: BTreeSet<&str> =
        words(find(files, "docs/src/references.md")).filter(|w| is_paper_key(w)).collect();
    for file in files.iter().filter(|file| file.path.ends_with(".rs") || file.path.ends_with(".md")) {
        for key in words(&file.text).filter(|word| is_paper_key(word) && !known.contains(word)) {
            problems.push(format!("{}: the paper key {key} is not in docs/src/references.md", file.path));
        }
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric())
}

/// Two to six letters, the first of them a capital, and two digits: Kim20, BW98.
fn is_paper_key(word: &str) -> bool {
    let Some((letters, digits)) = word.len().checked_sub(2).and_then(|at| word.split_at_checked(at)) else {
        return false;
    };
    (2..=6).contains(&letters.len())
        && letters.starts_with(|c: char| c.is_ascii_uppercase())
        && letters.chars().all(|c| c.is_ascii_alphabetic())
        && digits.chars().all(|c| c.is_ascii_digit())
        // Names of formats and types.
        && !matches!(letters, "UTF" | "SHA" | "AVX" | "Float")
}

/// No path of somebody's machine, and nothing outside the repository.
pub(super) fn machine_paths(files: &[File], problems: &mut Vec<String>) {
    // In pieces, so that this file does not accuse itself.
    let forbidden = ["home", "root", "tmp", "work", "Users"].map(|folder| format!("/{folder}/"));
    let outside = ["..", "shared"].join("/");
    for file in files.iter().filter(|file| file.path != "Cargo.lock") {
        for (number, line) in file.text.lines().enumerate() {
            let path = forbidden.iter().any(|folder| {
                line.match_indices(folder.as_str())
                    .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '.'))
            });
            if path || line.contains(&outside) {
                problems.push(format!(
                    "{}:{}: a path of this machine: {}",
                    file.path,
                    number + 1,
                    line.trim()
                ));
            }
        }
    }
}

/// The widest line of prose.
const COLUMNS: usize = 100;

/// The reference of scene files, whose lines are those of the tables that it is written from.
const WRITTEN: &str = "docs/src/scenes/reference.md";

/// Comments and prose have at most 100 columns. Tables, code, pictures and addresses may be wider.
pub(super) fn columns(files: &[File], problems: &mut Vec<String>) {
    for file in files.iter().filter(|file| file.path != WRITTEN) {
        let is_rust = file.path.ends_with(".rs");
        if !is_rust && !file.path.ends_with(".md") {
            continue;
        }
        let mut in_code = false;
        for (number, line) in file.text.lines().enumerate() {
            let text = line.trim();
            let comment = ["///", "//!", "//"].into_iter().find_map(|mark| text.strip_prefix(mark));
            let Some(text) = (if is_rust { comment.map(str::trim) } else { Some(text) }) else {
                in_code = false;
                continue;
            };
            in_code ^= text.starts_with("```");
            let may_be_wide = in_code || text.starts_with(['|', '!']) || text.contains("://");
            let width = line.chars().count();
            if width > COLUMNS && !may_be_wide {
                problems.push(format!(
                    "{}:{}: {width} columns of prose, more than {COLUMNS}",
                    file.path,
                    number + 1
                ));
            }
        }
    }
}

/// Relative links in Markdown lead somewhere, and every page of the book is in its table of
/// contents.
pub(super) fn links(files: &[File], problems: &mut Vec<String>) {
    let root = repository_root();
    for file in files.iter().filter(|file| file.path.ends_with(".md")) {
        let folder = Path::new(&file.path).parent().unwrap_or(Path::new(""));
        for target in link_targets(&file.text) {
            let path = target.split('#').next().unwrap_or("");
            if path.is_empty() || path.contains("://") {
                continue;
            }
            if !root.join(normalise(&folder.join(path))).exists() {
                problems.push(format!("{}: the link {target} leads nowhere", file.path));
            }
        }
    }
    let summary = find(files, "docs/src/SUMMARY.md");
    for file in files.iter().filter(|file| file.path.starts_with("docs/src/") && file.path.ends_with(".md")) {
        let page = &file.path["docs/src/".len()..];
        if page != "SUMMARY.md" && !summary.contains(&format!("({page})")) {
            problems.push(format!("{}: not in docs/src/SUMMARY.md", file.path));
        }
    }
}

/// What stands between `](` and `)`.
fn link_targets(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).filter(|target| !target.contains(' '))
}

fn normalise(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = out.pop(),
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}

/// Every public energy and element has a page: aliases of `plisse-membrane`, structures of
/// `plisse-bending`.
pub(super) fn energies_have_pages(files: &[File], problems: &mut Vec<String>) {
    for (crate_name, keyword, folder) in
        [("plisse-membrane", "pub type ", "energies"), ("plisse-bending", "pub struct ", "bending")]
    {
        let (sources, folder) = (format!("crates/{crate_name}/src/"), format!("docs/src/{folder}/"));
        let pages: String =
            files.iter().filter(|f| f.path.starts_with(&folder)).map(|f| f.text.as_str()).collect();
        for file in files.iter().filter(|f| f.path.starts_with(&sources)) {
            for rest in file.text.lines().filter_map(|line| line.strip_prefix(keyword)) {
                let name: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
                let path = format!("{}::{name}`", crate_name.replace('-', "_"));
                if !name.ends_with("Evaluation") && !pages.contains(&path) {
                    problems.push(format!("{}: {name} has no page in {folder}", file.path));
                }
            }
        }
    }
}

/// Every scene of the repository is shown in the book.
pub(super) fn scenes_have_pages(files: &[File], problems: &mut Vec<String>) {
    let summary = find(files, "docs/src/SUMMARY.md");
    for file in files {
        let Some(name) = file.path.strip_prefix("fixtures/scenes/").and_then(|f| f.strip_suffix(".toml"))
        else {
            continue;
        };
        let shown = files
            .iter()
            .filter(|page| page.path.starts_with("docs/src/scenes/") && page.path.ends_with(".md"))
            .filter(|page| summary.contains(page.path.trim_start_matches("docs/src/")))
            .any(|page| {
                page.text.contains(&format!("{name}.png")) && page.text.contains(&format!("{name}.toml"))
            });
        if !shown {
            problems.push(format!("{}: no page of docs/src/scenes shows it, with its picture", file.path));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    fn problems(check: fn(&[File], &mut Vec<String>), files: &[File]) -> Vec<String> {
        let mut problems = Vec::new();
        check(files, &mut problems);
        problems
    }

    #[test]
    fn missing_first_lines_are_found() {
        let files =
            [file("a.rs", "//! Fine.\n"), file("b.rs", "fn main() {}\n"), file("c.md", "# no rust\n")];
        assert_eq!(problems(first_line_docs, &files), ["b.rs: the first line must be a //! sentence"]);
    }

    #[test]
    fn unknown_paper_keys_are_found() {
        // In pieces, so that this file does not accuse itself.
        let unknown = ["Abc", "19"].concat();
        let files = [
            file("docs/src/references.md", "| Kim20 |"),
            file("a.rs", &format!("// Kim20, equation 3; {unknown}; f64; SplitMix64")),
        ];
        let expected = format!("a.rs: the paper key {unknown} is not in docs/src/references.md");
        assert_eq!(problems(paper_keys, &files), [expected]);
    }

    #[test]
    fn machine_paths_are_found() {
        let path = ["", "home", "me", "x"].join("/");
        let files = [file("a.md", &format!("fine src/home/x\nsee {path}\n"))];
        assert_eq!(problems(machine_paths, &files), [format!("a.md:2: a path of this machine: see {path}")]);
    }

    #[test]
    fn wide_prose_is_found() {
        let wide = "x".repeat(101);
        let files = [
            file("a.md", &format!("{wide}\n| {wide}\n```\n{wide}\n```\n![{wide}]\n{}", &wide[1..])),
            file("b.rs", &format!("let {wide};\n    // {wide}\n/// ```\n/// {wide}\n/// ```\n")),
            file("c.txt", &wide),
        ];
        assert_eq!(
            problems(columns, &files),
            ["a.md:1: 101 columns of prose, more than 100", "b.rs:2: 108 columns of prose, more than 100"]
        );
    }

    #[test]
    fn dead_links_and_forgotten_pages_are_found() {
        let files = [
            file("docs/src/SUMMARY.md", "- [x](architecture.md)"),
            file("docs/src/nowhere.md", "[a](architecture.md#x) [b](missing.md) [c](https://example.org)"),
        ];
        assert_eq!(
            problems(links, &files),
            [
                "docs/src/nowhere.md: the link missing.md leads nowhere",
                "docs/src/nowhere.md: not in docs/src/SUMMARY.md"
            ]
        );
    }

    #[test]
    fn energies_without_a_page_are_found() {
        let files = [
            file("crates/plisse-membrane/src/a.rs", "pub type Known = X<Y>;\npub type Unknown = X<Z>;\n"),
            file("docs/src/energies/known.md", "`plisse_membrane::Known`"),
        ];
        assert_eq!(
            problems(energies_have_pages, &files),
            ["crates/plisse-membrane/src/a.rs: Unknown has no page in docs/src/energies/"]
        );
    }
}
