//! `ccd DIR [LEVELS]`: continuous collision detection on files of queries with exact truth.
//!
//! The format of the public benchmark of Wang21: folders `edge-edge` and `vertex-face` anywhere
//! below DIR, with files `*.csv` in them. A query is eight lines, the four vertices at time 0 and
//! then at time 1; a line has numerators and denominators of three coordinates, and the truth,
//! which is 1 or 0 on all lines of a query.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use glam::DVec3;
use plisse::collision::Ccd;

/// Each query runs this often, and its shortest time counts: the other runs were interrupted, or
/// had to fetch the query from memory.
const PASSES: usize = 5;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    EdgeEdge,
    VertexFace,
}

impl Kind {
    fn of(folder: &Path) -> Option<Self> {
        match folder.file_name()?.to_str()? {
            "edge-edge" => Some(Self::EdgeEdge),
            "vertex-face" => Some(Self::VertexFace),
            _ => None,
        }
    }
}

struct Query {
    start: [DVec3; 4],
    end: [DVec3; 4],
    touches: bool,
}

#[derive(Default)]
struct Tally {
    queries: usize,
    positives: usize,
    false_negatives: usize,
    false_positives: usize,
    /// Seconds.
    sum: f64,
    worst: f64,
}

impl Tally {
    fn line(&self, name: &str) -> String {
        let mut line = String::new();
        // Writing into a string cannot fail.
        let _ = write!(
            line,
            "{name:32} {:8} queries {:8} positives {:4} false negatives {:6} false positives {:8.2} us mean {:8.2} us worst",
            self.queries,
            self.positives,
            self.false_negatives,
            self.false_positives,
            self.sum / self.queries.max(1) as f64 * 1e6,
            self.worst * 1e6,
        );
        line
    }
}

/// Prints a line for each folder of queries, and fails if a contact was missed.
pub(crate) fn run(args: &[&str]) -> Result<()> {
    let (folder, ccd) = match args {
        [folder] => (folder, Ccd::default()),
        [folder, levels] => (
            folder,
            Ccd::with_levels(
                levels.parse().with_context(|| format!("LEVELS must be a number, not {levels:?}"))?,
            ),
        ),
        _ => bail!("expected: ccd DIR [LEVELS]"),
    };
    let root = Path::new(folder);
    let mut sets = Vec::new();
    collect(root, &mut sets)?;
    ensure!(!sets.is_empty(), "{folder}: no folder edge-edge or vertex-face with *.csv files below");
    let mut missed = 0;
    for (folder, files) in sets {
        let tally = measure(&folder, &files, ccd)?;
        let name = folder.strip_prefix(root).ok().filter(|rest| !rest.as_os_str().is_empty());
        println!("{}", tally.line(&name.unwrap_or(&folder).display().to_string()));
        missed += tally.false_negatives;
    }
    ensure!(missed == 0, "{missed} contacts were missed");
    Ok(())
}

/// The folders of queries below a folder, each with its files, in the order of their names.
fn collect(folder: &Path, sets: &mut Vec<(PathBuf, Vec<PathBuf>)>) -> Result<()> {
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    let (folders, files): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| path.is_dir());
    if Kind::of(folder).is_some() {
        let files: Vec<_> =
            files.into_iter().filter(|path| path.extension().is_some_and(|e| e == "csv")).collect();
        if !files.is_empty() {
            sets.push((folder.to_path_buf(), files));
        }
    }
    folders.iter().try_for_each(|folder| collect(folder, sets))
}

fn measure(folder: &Path, files: &[PathBuf], ccd: Ccd) -> Result<Tally> {
    let kind = Kind::of(folder).context("collected folders have a kind")?;
    let mut tally = Tally::default();
    for path in files {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
        for query in parse(&text).with_context(|| path.display().to_string())? {
            let (mut best, mut found) = (f64::INFINITY, None);
            for _ in 0..PASSES {
                let clock = Instant::now();
                found = std::hint::black_box(answer(kind, std::hint::black_box(&query), ccd));
                best = best.min(clock.elapsed().as_secs_f64());
            }
            tally.queries += 1;
            tally.positives += usize::from(query.touches);
            tally.false_negatives += usize::from(query.touches && found.is_none());
            tally.false_positives += usize::from(!query.touches && found.is_some());
            tally.sum += best;
            tally.worst = tally.worst.max(best);
        }
    }
    Ok(tally)
}

fn answer(kind: Kind, query: &Query, ccd: Ccd) -> Option<f64> {
    match kind {
        Kind::EdgeEdge => ccd.edge_edge(&query.start, &query.end, 0.0),
        Kind::VertexFace => ccd.point_triangle(&query.start, &query.end, 0.0),
    }
}

fn parse(text: &str) -> Result<Vec<Query>> {
    let rows = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let rows = rows
        .map(|(number, line)| row(line).with_context(|| format!("line {}: {line}", number + 1)))
        .collect::<Result<Vec<_>>>()?;
    ensure!(rows.len() % 8 == 0, "{} lines; a query has eight", rows.len());
    let query = |rows: &[(DVec3, bool)]| {
        ensure!(rows.iter().all(|row| row.1 == rows[0].1), "the lines of a query disagree about the truth");
        Ok(Query {
            start: std::array::from_fn(|i| rows[i].0),
            end: std::array::from_fn(|i| rows[4 + i].0),
            touches: rows[0].1,
        })
    };
    rows.chunks_exact(8).map(query).collect()
}

fn row(line: &str) -> Result<(DVec3, bool)> {
    let cells: Vec<&str> = line.split(',').map(str::trim).collect();
    ensure!(cells.len() == 7, "{} numbers instead of 7", cells.len());
    let mut point = DVec3::ZERO;
    for k in 0..3 {
        point[k] = fraction(cells[2 * k], cells[2 * k + 1])?;
    }
    match cells[6] {
        "0" => Ok((point, false)),
        "1" => Ok((point, true)),
        other => bail!("the truth is 0 or 1, not {other:?}"),
    }
}

/// A quotient of integers that is exact in `f64`; the truth holds for no other.
fn fraction(numerator: &str, denominator: &str) -> Result<f64> {
    let (n, d) = (integer(numerator)?, integer(denominator)?);
    let quotient = n / d;
    // The fused product is rounded once, so that only an exact quotient leaves zero.
    ensure!(
        quotient.is_finite() && quotient.mul_add(d, -n) == 0.0,
        "{numerator}/{denominator} is not exact in f64"
    );
    Ok(quotient)
}

fn integer(text: &str) -> Result<f64> {
    let value: f64 = text.parse().with_context(|| format!("{text:?} is not an integer"))?;
    ensure!(format!("{value:.0}") == text, "{text} is not an integer that is exact in f64");
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A point that falls through a triangle, and one that falls beside it.
    const QUERIES: &str = "\
1,4,1,4,1,1,1\n0,1,0,1,0,1,1\n1,1,0,1,0,1,1\n0,1,1,1,0,1,1\n1,4,1,4,-1,1,1\n0,1,0,1,0,1,1\n1,1,0,1,0,1,1\n0,1,1,1,0,1,1
5,4,1,4,1,1,0\n0,1,0,1,0,1,0\n1,1,0,1,0,1,0\n0,1,1,1,0,1,0\n5,4,1,4,-1,1,0\n0,1,0,1,0,1,0\n1,1,0,1,0,1,0\n0,1,1,1,0,1,0
";

    #[test]
    fn files_are_found_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        let set = folder.path().join("some/vertex-face");
        std::fs::create_dir_all(&set).unwrap();
        std::fs::write(set.join("data.csv"), QUERIES).unwrap();
        std::fs::write(set.join("readme.txt"), "no query").unwrap();
        let mut sets = Vec::new();
        collect(folder.path(), &mut sets).unwrap();
        assert_eq!(sets.len(), 1);
        let tally = measure(&sets[0].0, &sets[0].1, Ccd::default()).unwrap();
        let counts = [tally.queries, tally.positives, tally.false_negatives, tally.false_positives];
        assert_eq!(counts, [2, 1, 0, 0]);
        run(&[folder.path().to_str().unwrap(), "10"]).unwrap();
    }

    #[test]
    fn wrong_files_are_refused() {
        let check = |text: &str, expected: &str| {
            let error = format!("{:#}", parse(text).err().unwrap());
            assert!(error.contains(expected), "{error}");
        };
        check("1,1,1,1,1,1,1\n", "1 lines; a query has eight");
        check("1,1,1,1,1,1\n", "line 1: 1,1,1,1,1,1: 6 numbers instead of 7");
        check("1,3,1,1,1,1,1\n", "1/3 is not exact in f64");
        check("9007199254740993,1,1,1,1,1,1\n", "is not an integer that is exact in f64");
        check("1,1,1,1,1,1,2\n", "the truth is 0 or 1");
        check(&QUERIES.replacen(",1\n", ",0\n", 1), "disagree about the truth");
        assert!(run(&["no such folder"]).is_err());
    }
}
