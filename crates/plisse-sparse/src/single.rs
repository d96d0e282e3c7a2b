//! Conjugate gradients with diagonal blocks in single precision, for nodes with three unknowns.
//!
//! What an iteration costs is reading the matrix. Here both triangles are stored by rows in single
//! precision, which is read in order and without transposing, and the vectors have four lanes, so
//! that a block is three products of vectors. Everything else of an iteration is two passes over
//! the vectors. Sums are those of chunks of fixed size, added in their order: the bits do not
//! depend on the number of threads.
//!
//! Residuals that decide are computed in double precision from the solution, and every pass starts
//! from one (iterative refinement). Where single precision does not suffice the caller goes on in
//! double precision.

use glam::{DVec3, Vec4, Vec4Swizzles};
use rayon::prelude::*;

use crate::cg::{BlockJacobi, Limits, Outcome, norm};
use crate::matrix::BlockMatrix;
use crate::operator::Operator;
use crate::pattern::{Pattern, Revision};

/// Rows of a chunk: of one task, and of one sum.
const ROWS: usize = 256;

/// The most that a pass reduces the residual by before it is computed again: rounding errors of
/// single precision are 1e-7 of the matrix, and grow with the iterations.
const PASS: f64 = 1e-3;

/// Tolerances below this are left to double precision: they would take many passes.
const SMALLEST_TOLERANCE: f64 = 1e-5;

/// The matrix by rows, and the vectors of the iteration.
#[derive(Default)]
pub(crate) struct Single {
    revision: Option<Revision>,
    /// Blocks of row `i` are `starts[i]..starts[i + 1]`.
    starts: Vec<u32>,
    columns: Vec<u32>,
    /// The stored block of each, and whether it is transposed.
    sources: Vec<(u32, bool)>,
    /// Nine numbers each, column by column, and three more: columns are read four numbers at once.
    blocks: Vec<f32>,
    inverses: Vec<f32>,
    vectors: Vectors,
    residual: Vec<f64>,
}

#[derive(Default)]
struct Vectors {
    x: Vec<Vec4>,
    r: Vec<Vec4>,
    z: Vec<Vec4>,
    p: Vec<Vec4>,
    ap: Vec<Vec4>,
}

/// How a solve in single precision ended.
pub(crate) enum Ending {
    Done(Outcome),
    /// Single precision does not tell more; so many iterations were spent, and the solution so far
    /// is a start.
    GoOn(usize),
}

/// `r·z` and `r·r`.
type Sums = (f64, f64);

impl Single {
    /// Whether a system is one for single precision: not a small one, whose matrix is in the cache
    /// anyway and whose solution is often exact in double precision.
    pub(crate) fn suits(a: &Operator<'_>, tolerance: f64) -> bool {
        let vectors = a.matrix.pattern().layout().uniform() == Some(3) && a.matrix.pattern().size() >= ROWS;
        vectors && a.rank_ones.is_empty() && tolerance >= SMALLEST_TOLERANCE
    }

    /// Solves `A x = b` from `x = 0`, with the rules of [`crate::cg::solve`].
    pub(crate) fn solve(
        &mut self,
        a: &Operator<'_>,
        jacobi: &BlockJacobi,
        b: &[f64],
        x: &mut [f64],
        tolerance: f64,
        limits: Limits,
    ) -> Ending {
        let (norm_b, scale) = (norm(b), a.matrix.mean_diagonal());
        let usable = |value: f64| value > 1e-200 && value < 1e200;
        if !(Self::suits(a, tolerance) && usable(norm_b) && usable(scale)) {
            return Ending::GoOn(0);
        }
        // Numbers of one: units of the user may be outside the range of single precision.
        self.update(a.matrix, jacobi, scale);
        self.residual.clear();
        self.residual.extend_from_slice(b);
        let (mut iterations, mut energy, mut last) = (0, 0.0, 1.0);
        loop {
            let start: &[DVec3] = bytemuck::cast_slice(&self.residual);
            let Vectors { x: correction, r, .. } = &mut self.vectors;
            for (to, from) in r.iter_mut().zip(start) {
                *to = (*from / norm_b).as_vec3().extend(0.0);
            }
            correction.fill(Vec4::ZERO);
            let left = limits.iterations.saturating_sub(iterations);
            let (spent, ending) = self.pass(last, tolerance, left, limits, &mut energy);
            iterations += spent;
            // `A/s y = r/‖b‖`.
            let unit = norm_b / scale;
            let solution: &mut [DVec3] = bytemuck::cast_slice_mut(x);
            for (x, y) in solution.iter_mut().zip(&self.vectors.x) {
                *x += y.truncate().as_dvec3() * unit;
            }
            a.residual(b, x, &mut self.residual);
            let relative_residual = norm(&self.residual) / norm_b;
            if ending == PassEnd::Broken || !relative_residual.is_finite() {
                x.fill(0.0);
                return Ending::GoOn(iterations);
            }
            let converged = relative_residual <= tolerance;
            if converged || ending == PassEnd::Hopeless || iterations >= limits.iterations {
                return Ending::Done(Outcome { iterations, relative_residual, converged });
            }
            if relative_residual > 0.5 * last {
                return Ending::GoOn(iterations);
            }
            last = relative_residual;
        }
    }

    /// Iterations from the residual `r`, of relative size `size`, until the recursion says that
    /// `tolerance` is reached or that the residual should be computed again.
    fn pass(
        &mut self,
        size: f64,
        tolerance: f64,
        left: usize,
        limits: Limits,
        energy: &mut f64,
    ) -> (usize, PassEnd) {
        let Self { starts, columns, blocks, inverses, vectors, .. } = self;
        let matrix = Rows { starts, columns, blocks };
        let Vectors { x, r, z, p, ap } = vectors;
        // Without a step: `z` and the sums alone.
        let (mut rz, _) = step(0.0, p, ap, inverses, x, r, z);
        p.copy_from_slice(z);
        for iteration in 1..=left {
            let curvature = matrix.product(p, ap);
            // NaN is neither.
            if !(curvature > 0.0 && rz > 0.0 && (rz / curvature).is_finite()) {
                return (iteration - 1, PassEnd::Broken);
            }
            let alpha = rz / curvature;
            let (next, square) = step(alpha as f32, p, ap, inverses, x, r, z);
            *energy += alpha * rz;
            let settled = alpha * rz <= 0.2 * tolerance * *energy;
            let reached = square.sqrt();
            if reached == 0.0 || (settled && reached <= tolerance) || reached <= PASS * size {
                return (iteration, PassEnd::Refine);
            }
            if limits.is_hopeless(iteration, reached / size, tolerance / size) {
                return (iteration, PassEnd::Hopeless);
            }
            let beta = (next / rz) as f32;
            rz = next;
            for_chunks(p, |first, p| {
                for (p, z) in p.iter_mut().zip(&z[first..]) {
                    *p = *z + *p * beta;
                }
                0.0
            });
        }
        (left, PassEnd::Refine)
    }

    /// Takes the numbers of a matrix, divided by `scale`, and the inverses of its diagonal blocks.
    fn update(&mut self, a: &BlockMatrix, jacobi: &BlockJacobi, scale: f64) {
        let pattern = &**a.pattern();
        if self.revision != Some(pattern.revision()) {
            self.analyse(pattern);
        }
        let Self { starts, sources, blocks, inverses, vectors, .. } = self;
        let values = a.values().as_chunks::<9>().0;
        blocks.resize(9 * sources.len() + 3, 0.0);
        let inverse = 1.0 / scale;
        let fill = |first: usize, out: &mut [f32]| {
            for (to, &(place, transposed)) in out.as_chunks_mut::<9>().0.iter_mut().zip(&sources[first..]) {
                let from = values[place as usize].map(|value| (value * inverse) as f32);
                let [a, b, c, d, e, f, g, h, i] = from;
                *to = if transposed { [a, d, g, b, e, h, c, f, i] } else { from };
            }
        };
        let (whole, _) = blocks.split_at_mut(9 * sources.len());
        let size = 9 * ROWS * 8;
        if rayon::current_num_threads() == 1 {
            fill(0, whole);
        } else {
            whole.par_chunks_mut(size).enumerate().for_each(|(k, out)| fill(k * size / 9, out));
        }
        inverses.clear();
        inverses.extend(jacobi.inverses().iter().map(|value| (value * scale) as f32));
        inverses.extend([0.0; 3]);
        let rows = starts.len() - 1;
        let Vectors { x, r, z, p, ap } = vectors;
        for vector in [x, r, z, p, ap] {
            vector.clear();
            vector.resize(rows, Vec4::ZERO);
        }
    }

    fn analyse(&mut self, pattern: &Pattern) {
        self.starts.clear();
        self.columns.clear();
        self.sources.clear();
        self.starts.push(0);
        for i in 0..pattern.size() {
            for &(column, place) in pattern.left(i) {
                self.columns.push(column);
                self.sources.push((place, false));
            }
            for (k, entry) in pattern.entries(i).enumerate() {
                self.columns.push(pattern.rows()[entry]);
                self.sources.push((pattern.place(entry) as u32, k > 0));
            }
            self.starts.push(self.columns.len() as u32);
        }
        self.revision = Some(pattern.revision());
    }

    /// Bytes of the copy and the vectors.
    pub(crate) fn bytes(&self) -> usize {
        let numbers = self.blocks.len() + self.inverses.len() + self.starts.len() + self.columns.len();
        4 * numbers + 8 * (self.sources.len() + self.residual.len()) + 5 * 16 * self.vectors.x.len()
    }
}

/// Why a pass has ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PassEnd {
    /// The true residual should tell.
    Refine,
    /// The limit will not suffice.
    Hopeless,
    /// Not positive definite to this precision, or not a number.
    Broken,
}

#[derive(Clone, Copy)]
struct Rows<'a> {
    starts: &'a [u32],
    columns: &'a [u32],
    blocks: &'a [f32],
}

impl Rows<'_> {
    /// `out = A p`, and `p·A p`.
    fn product(self, p: &[Vec4], out: &mut [Vec4]) -> f64 {
        for_chunks(out, |first, out| {
            let mut sum = Vec4::ZERO;
            for (k, out) in out.iter_mut().enumerate() {
                *out = self.row(first + k, p);
                sum += *out * p[first + k];
            }
            total(sum)
        })
    }

    #[inline(always)]
    fn row(self, i: usize, p: &[Vec4]) -> Vec4 {
        let (start, end) = (self.starts[i] as usize, self.starts[i + 1] as usize);
        let numbers = &self.blocks[9 * start..9 * end + 3];
        // Three sums do not wait for each other.
        let [mut x, mut y, mut z] = [Vec4::ZERO; 3];
        for (k, &column) in self.columns[start..end].iter().enumerate() {
            let (v, block) = (p[column as usize], &numbers[9 * k..9 * k + 12]);
            x += Vec4::from_slice(&block[0..4]) * v.xxxx();
            y += Vec4::from_slice(&block[3..7]) * v.yyyy();
            z += Vec4::from_slice(&block[6..10]) * v.zzzz();
        }
        three(x + y + z)
    }
}

/// Without what was read beyond a column.
#[inline(always)]
fn three(v: Vec4) -> Vec4 {
    v.with_w(0.0)
}

fn total(sum: Vec4) -> f64 {
    let [x, y, z, _] = sum.to_array().map(f64::from);
    x + y + z
}

/// `x += α p`, `r -= α A p`, `z = D⁻¹ r`, and the sums, in one pass.
fn step(
    alpha: f32,
    p: &[Vec4],
    ap: &[Vec4],
    inverses: &[f32],
    x: &mut [Vec4],
    r: &mut [Vec4],
    z: &mut [Vec4],
) -> Sums {
    type Parts<'a> = ((&'a mut [Vec4], &'a mut [Vec4]), &'a mut [Vec4]);
    let chunk = |(k, ((x, r), z)): (usize, Parts<'_>)| {
        let first = k * ROWS;
        let (mut rz, mut rr) = (Vec4::ZERO, Vec4::ZERO);
        let (p, ap) = (&p[first..first + x.len()], &ap[first..first + x.len()]);
        let inverses = &inverses[9 * first..];
        for i in 0..x.len() {
            x[i] += p[i] * alpha;
            let v = r[i] - ap[i] * alpha;
            let block = &inverses[9 * i..9 * i + 12];
            let w = three(
                Vec4::from_slice(&block[0..4]) * v.xxxx()
                    + Vec4::from_slice(&block[3..7]) * v.yyyy()
                    + Vec4::from_slice(&block[6..10]) * v.zzzz(),
            );
            r[i] = v;
            z[i] = w;
            rz += v * w;
            rr += v * v;
        }
        (total(rz), total(rr))
    };
    let add = |a: Sums, b: Sums| (a.0 + b.0, a.1 + b.1);
    if is_serial(x.len()) {
        let parts = x.chunks_mut(ROWS).zip(r.chunks_mut(ROWS)).zip(z.chunks_mut(ROWS));
        parts.enumerate().map(chunk).fold((0.0, 0.0), add)
    } else {
        let parts = x.par_chunks_mut(ROWS).zip(r.par_chunks_mut(ROWS)).zip(z.par_chunks_mut(ROWS));
        let sums: Vec<Sums> = parts.enumerate().map(chunk).collect();
        sums.into_iter().fold((0.0, 0.0), add)
    }
}

fn is_serial(rows: usize) -> bool {
    rows < 8 * ROWS || rayon::current_num_threads() == 1
}

/// Works on chunks of a vector, given their first rows, and adds what that gives in their order.
fn for_chunks(out: &mut [Vec4], work: impl Fn(usize, &mut [Vec4]) -> f64 + Sync) -> f64 {
    let work = |(k, out): (usize, &mut [Vec4])| work(k * ROWS, out);
    if is_serial(out.len()) {
        out.chunks_mut(ROWS).enumerate().map(work).sum()
    } else {
        let sums: Vec<f64> = out.par_chunks_mut(ROWS).enumerate().map(work).collect();
        sums.into_iter().sum()
    }
}
