//! Integer least squares: lattice reduction and enumeration.

#[cfg(test)]
mod tests;

use crate::error::WrinkleError;

/// How many nodes [`closest_integers`] visits by default before it gives up proving its answer: a
/// few seconds.
pub const DEFAULT_NODE_LIMIT: usize = 10_000_000;

/// The integers nearest to a real vector in the norm of a matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosestIntegers {
    /// The integers.
    pub integers: Vec<i64>,
    /// `(k - k*)ᵀ G (k - k*)` of them, computed with the matrix as given.
    pub cost: f64,
    /// Nodes visited: how often a value was given to one of the unknowns.
    pub nodes: usize,
    /// Whether the search came to its end, so that no other integers cost less (up to rounding).
    /// `false` if the limit of nodes was hit; the integers are then the best of those seen.
    pub proven: bool,
}

/// Minimises `(k - k*)ᵀ G (k - k*)` over vectors `k` of integers, exactly.
///
/// `gram` is `G`, symmetric and positive definite, `n` rows of `n` numbers; `target` is `k*`. With
/// `G = Rᵀ R` this asks for the point of the lattice `R k` that is closest to `R k*`. Rounding `k*`
/// number by number answers that only if the columns of `R` are orthogonal, and so does fixing one
/// number after the other. Here
///
/// 1. unknowns without a coupling (`G` falls into blocks, by exact zeros) are separated;
/// 2. the basis is made short and nearly orthogonal (LLL82, `δ = 0.99`); this changes the speed,
///    never the answer;
/// 3. the tree of partial choices is searched depth first, nearest value first (SE94), and a branch
///    is left when its part of the cost already exceeds the best complete one.
///
/// The first leaf is the answer of rounding in the reduced basis. The tree is exponential in `n` at
/// worst. `node_limit` bounds the sum over all blocks; see [`ClosestIntegers::proven`].
///
/// Of several optima that tie to the last bit the first one met is given, the same in every run.
///
/// # Errors
/// [`WrinkleError::Lattice`] if `G` has another size, is not positive definite to working
/// precision, or a number is not finite or too large to be counted (`|k*| >= 2⁵²`).
pub fn closest_integers(
    gram: &[f64],
    target: &[f64],
    node_limit: usize,
) -> Result<ClosestIntegers, WrinkleError> {
    let n = target.len();
    let refuse = |reason: String| Err(WrinkleError::Lattice { reason });
    if gram.len() != n * n {
        return refuse(format!("{n} unknowns need a matrix of {} numbers, got {}", n * n, gram.len()));
    }
    if let Some(i) = target.iter().position(|k| k.abs().is_nan() || k.abs() >= LARGEST) {
        return refuse(format!("the real solution of unknown {i} is {:e}: not a number of waves", target[i]));
    }
    if let Some(at) = gram.iter().position(|g| !g.is_finite()) {
        return refuse(format!("entry ({}, {}) of the matrix is not finite", at / n, at % n));
    }
    let mut integers = vec![0i64; n];
    let (mut nodes, mut proven) = (0, true);
    for block in blocks(gram, n) {
        let m = block.len();
        let part: Vec<f64> =
            block.iter().flat_map(|&i| block.iter().map(move |&j| gram[i * n + j])).collect();
        let Some(mut basis) = Basis::new(&part, m) else {
            return refuse(format!(
                "the matrix is not positive definite among unknowns {block:?}: a loop has no weight; check the rest areas"
            ));
        };
        // Around the rounded target all numbers are small, and integers in f64 exact.
        let origin: Vec<i64> = block.iter().map(|&i| target[i].round() as i64).collect();
        let mut offset: Vec<f64> = block.iter().map(|&i| target[i] - target[i].round()).collect();
        basis.reduce(&mut offset);
        let search = basis.enumerate(&offset, node_limit.saturating_sub(nodes));
        nodes += search.nodes;
        proven &= search.complete;
        let steps = basis.original(&search.best);
        for ((&i, from), step) in block.iter().zip(origin).zip(steps) {
            integers[i] = from.saturating_add(step);
        }
    }
    let cost = quadratic_form(gram, target, &integers);
    Ok(ClosestIntegers { integers, cost, nodes, proven })
}

/// `(k - k*)ᵀ G (k - k*)`, never below zero. `gram` has `n` rows of `n` numbers.
pub(crate) fn quadratic_form(gram: &[f64], target: &[f64], integers: &[i64]) -> f64 {
    let n = target.len();
    let off: Vec<f64> = integers.iter().zip(target).map(|(k, t)| *k as f64 - t).collect();
    let mut sum = 0.0;
    for i in 0..n {
        let row: f64 = gram[i * n..(i + 1) * n].iter().zip(&off).map(|(g, d)| g * d).sum();
        sum += off[i] * row;
    }
    sum.max(0.0)
}

/// Real numbers beyond this do not have a nearest integer in `f64`.
const LARGEST: f64 = 4_503_599_627_370_496.0;

/// Unknowns that hang together by entries of `G` other than zero, each block ascending.
fn blocks(gram: &[f64], n: usize) -> Vec<Vec<usize>> {
    let mut seen = vec![false; n];
    let mut all = Vec::new();
    for first in 0..n {
        if seen[first] {
            continue;
        }
        seen[first] = true;
        let mut block = vec![first];
        let mut next = 0;
        while next < block.len() {
            let i = block[next];
            next += 1;
            for j in 0..n {
                let coupled = gram[i * n + j].abs() > 0.0 || gram[j * n + i].abs() > 0.0;
                if coupled && !seen[j] {
                    seen[j] = true;
                    block.push(j);
                }
            }
        }
        block.sort_unstable();
        all.push(block);
    }
    all
}

/// A lattice: the upper triangle `R` of its basis, and the unimodular matrix `U` that leads back to
/// the basis it was made from.
struct Basis {
    n: usize,
    /// `r[i][j]`, `i <= j`; column `j` is basis vector `j`.
    r: Vec<Vec<f64>>,
    /// Column `j` of `U`: basis vector `j` in terms of the original ones.
    u: Vec<Vec<i64>>,
}

struct Search {
    best: Vec<f64>,
    nodes: usize,
    complete: bool,
}

impl Basis {
    /// The Cholesky factor; `None` if a pivot is not positive to working precision.
    fn new(gram: &[f64], n: usize) -> Option<Self> {
        let mut r = vec![vec![0.0; n]; n];
        for i in 0..n {
            for j in i..n {
                let mut sum = 0.5 * (gram[i * n + j] + gram[j * n + i]);
                for k in 0..i {
                    sum -= r[k][i] * r[k][j];
                }
                if i == j {
                    // A pivot that is only what rounding left of the diagonal is a zero.
                    let definite = sum > 8.0 * n as f64 * f64::EPSILON * gram[i * n + i];
                    if !definite {
                        return None;
                    }
                    r[i][i] = sum.sqrt();
                } else {
                    r[i][j] = sum / r[i][i];
                }
            }
        }
        let u = (0..n).map(|j| (0..n).map(|i| i64::from(i == j)).collect()).collect();
        Some(Self { n, r, u })
    }

    /// LLL82. Coordinates `z` in the basis change along, so that `U z` stays the same.
    ///
    /// Stops early, which only costs speed, if integers would overflow or rounding keeps it from
    /// ending.
    fn reduce(&mut self, z: &mut [f64]) {
        const DELTA: f64 = 0.99;
        let n = self.n;
        let mut k = 1;
        // The theory bounds the swaps by O(n² log(condition)); this is for what rounding might do.
        for _ in 0..10_000 * (n + 1) * (n + 1) {
            if k >= n {
                return;
            }
            if !self.shorten(k, k - 1, z) {
                return;
            }
            let (above, beside, below) = (self.r[k - 1][k - 1], self.r[k - 1][k], self.r[k][k]);
            if DELTA * above * above <= beside * beside + below * below {
                for i in (0..k - 1).rev() {
                    if !self.shorten(k, i, z) {
                        return;
                    }
                }
                k += 1;
            } else {
                self.swap(k);
                z.swap(k - 1, k);
                k = (k - 1).max(1);
            }
        }
    }

    /// Subtracts the multiple of basis vector `i` from vector `k` that leaves the least along `i`.
    /// `false` if integers would overflow.
    fn shorten(&mut self, k: usize, i: usize, z: &mut [f64]) -> bool {
        let multiple = (self.r[i][k] / self.r[i][i]).round();
        if multiple == 0.0 {
            return true;
        }
        if multiple.abs() >= LARGEST {
            return false;
        }
        let whole = multiple as i64;
        let mut column = Vec::with_capacity(self.n);
        for (a, b) in self.u[k].iter().zip(&self.u[i]) {
            match b.checked_mul(whole).and_then(|b| a.checked_sub(b)) {
                Some(value) if value.unsigned_abs() < LARGEST as u64 => column.push(value),
                _ => return false,
            }
        }
        self.u[k] = column;
        for row in 0..=i {
            self.r[row][k] -= multiple * self.r[row][i];
        }
        z[i] += multiple * z[k];
        true
    }

    /// Exchanges vectors `k - 1` and `k` and turns rows `k - 1` and `k` so that `R` is triangular
    /// again.
    fn swap(&mut self, k: usize) {
        self.u.swap(k - 1, k);
        for row in 0..=k {
            self.r[row].swap(k - 1, k);
        }
        let (a, b) = (self.r[k - 1][k - 1], self.r[k][k - 1]);
        let length = a.hypot(b);
        let (c, s) = (a / length, b / length);
        for j in k - 1..self.n {
            let (upper, lower) = (self.r[k - 1][j], self.r[k][j]);
            self.r[k - 1][j] = c * upper + s * lower;
            self.r[k][j] = c * lower - s * upper;
        }
        self.r[k][k - 1] = 0.0;
    }

    /// The integers `z` that minimise `|R (z - target)|²`.
    fn enumerate(&self, target: &[f64], node_limit: usize) -> Search {
        let n = self.n;
        // `cost[i]` is the part of unknowns i to n - 1; the entry past the end is the empty sum.
        let mut cost = vec![0.0; n + 1];
        let (mut centre, mut z, mut step) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        let (mut best, mut best_cost) = (vec![0.0; n], f64::INFINITY);
        let (mut nodes, mut level) = (0, n - 1);
        let mut down = true;
        loop {
            if down {
                let mut shift = 0.0;
                for j in level + 1..n {
                    shift += self.r[level][j] * (z[j] - target[j]);
                }
                centre[level] = target[level] - shift / self.r[level][level];
                z[level] = centre[level].round();
                // The second nearest integer lies on the side of the centre.
                step[level] = if centre[level] >= z[level] { 1.0 } else { -1.0 };
            } else {
                // 0, 1, -1, 2, -2, …: ever farther from the centre, so that the first one that is
                // too far ends the level.
                z[level] += step[level];
                step[level] = -step[level] - f64::signum(step[level]);
            }
            nodes += 1;
            let along = self.r[level][level] * (z[level] - centre[level]);
            cost[level] = cost[level + 1] + along * along;
            // Once there is an answer; the way down to the first leaf is always finished.
            if nodes > node_limit && best_cost < f64::INFINITY {
                return Search { best, nodes, complete: false };
            }
            if cost[level] < best_cost {
                if level == 0 {
                    best_cost = cost[0];
                    best.copy_from_slice(&z);
                    down = false;
                } else {
                    level -= 1;
                    down = true;
                }
            } else {
                level += 1;
                if level == n {
                    return Search { best, nodes, complete: true };
                }
                down = false;
            }
        }
    }

    /// `U z`: coordinates in the original basis.
    fn original(&self, z: &[f64]) -> Vec<i64> {
        let mut out = vec![0i64; self.n];
        for (column, z) in self.u.iter().zip(z) {
            for (out, u) in out.iter_mut().zip(column) {
                *out = out.saturating_add(u.saturating_mul(*z as i64));
            }
        }
        out
    }
}
