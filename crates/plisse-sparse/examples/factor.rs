//! Cholesky factors of sheets: our own beside faer's with minimum degree.
//!
//! Sheets have alternating diagonals, and hinges couple the opposite corners of two triangles, as
//! in a hanging sheet; the numbers are a Laplacian's. All variants of a round take their turns on
//! one thread; the least of CPU times counts (Linux alone tells these).
//! `cargo run --release -p plisse-sparse --example factor -- 100 200 300`
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark may panic, and prints")]

use plisse_sparse::oracle::FaerCholesky;
use plisse_sparse::{BlockMatrix, Layout, Linear, LinearSolver, Pattern};
use std::sync::Arc;

fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse::<f64>().unwrap() * 1e-6
}
fn time(best: &mut f64, f: impl FnOnce()) {
    let t = cpu();
    f();
    *best = best.min(cpu() - t);
}

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for n in std::env::args().skip(1) {
        let n = n.parse::<u32>().unwrap();
        pool.install(|| sheet(n));
    }
}

fn sheet(n: u32) {
    // Hinges couple the opposite corners of two triangles of an alternating grid.
    let at = |x: u32, y: u32| y * n + x;
    let mut triangles = Vec::new();
    for y in 0..n - 1 {
        for x in 0..n - 1 {
            let [a, b, c, d] = [at(x, y), at(x + 1, y), at(x, y + 1), at(x + 1, y + 1)];
            if (x + y) % 2 == 0 {
                triangles.extend([[a, b, d], [a, d, c]]);
            } else {
                triangles.extend([[a, b, c], [b, d, c]]);
            }
        }
    }
    let mut edges = std::collections::BTreeMap::new();
    let mut pairs = Vec::new();
    for t in &triangles {
        for k in 0..3 {
            let (i, j, o) = (t[k], t[(k + 1) % 3], t[(k + 2) % 3]);
            pairs.push((i, j));
            if let Some(other) = edges.insert((i.min(j), i.max(j)), o) {
                pairs.push((other, o));
            }
        }
    }
    let pattern = Pattern::new(Layout::vectors((n * n) as usize), pairs.into_iter()).unwrap();
    let mut a = BlockMatrix::zeros(Arc::clone(&pattern));
    for j in 0..pattern.size() {
        for (i, r) in pattern.column(j) {
            if i != j {
                for (k, at) in r.enumerate() {
                    a.values_mut()[at] = if k % 4 == 0 { -1.0 } else { 0.01 };
                }
            }
        }
    }
    for j in 0..pattern.size() {
        a.add_to_diagonal(j, 13.5);
    }
    let b: Vec<f64> = (0..3 * pattern.size()).map(|i| (i as f64).sin()).collect();
    let mut x = b.clone();
    let mut t = [f64::INFINITY; 10];
    let mut faer = None;
    time(&mut t[8], || faer = Some(FaerCholesky::new(&pattern).unwrap()));
    let mut faer = faer.unwrap();
    let mut single = Linear::new(LinearSolver::StaleCholesky);
    let mut double = Linear::new(LinearSolver::Cholesky);
    time(&mut t[9], || double.prepare(&pattern).unwrap());
    for _ in 0..if n > 150 { 4 } else { 12 } {
        time(&mut t[0], || faer.factorise_single(&a).unwrap());
        time(&mut t[1], || single.factorise(&a).unwrap());
        for _ in 0..3 {
            time(&mut t[2], || faer.substitute_single(&b, &mut x));
            time(&mut t[3], || single.substitute(&b, &mut x));
        }
        time(&mut t[4], || faer.factorise_double(&a).unwrap());
        time(&mut t[5], || double.factorise(&a).unwrap());
        for _ in 0..3 {
            time(&mut t[6], || faer.substitute_double(&b, &mut x));
            time(&mut t[7], || double.substitute(&b, &mut x));
        }
    }
    println!(
        "{:>7} f32 factor {:.1}/{:.1} {:.2}  solve {:.2}/{:.2} {:.2}   f64 factor {:.1}/{:.1} {:.2} solve {:.2}/{:.2} {:.2}  analysis {:.1}/{:.1} numbers {:.2}M/{:.2}M",
        3 * n * n,
        t[0],
        t[1],
        t[1] / t[0],
        t[2],
        t[3],
        t[3] / t[2],
        t[4],
        t[5],
        t[5] / t[4],
        t[6],
        t[7],
        t[7] / t[6],
        t[8],
        t[9],
        faer.factor_len() as f64 / 1e6,
        double.factor_len().unwrap() as f64 / 1e6
    );
}
