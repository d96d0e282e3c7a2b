//! Solutions with a factor: forward along the tree, and back.
//!
//! Each front has a vector of its own, with its pivots and its rows. Forward, it takes what its
//! children leave in their rows; back, it takes its rows from its parent. Nothing is shared, and
//! each sum is in a fixed order.

use pulp::Simd;

use super::Multifrontal;
use super::dense::{Shape, Vectorised, run};
use super::plan::{FrontPlan, Plan};
use super::real::Real;

impl<T: Real> Multifrontal<T> {
    /// `out = A⁻¹ b` with the matrix of the last factorisation, which must have succeeded.
    pub(crate) fn solve(&mut self, b: &[f64], out: &mut [f64]) {
        let largest = b.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        let unit = super::power_of_two(1.0 / largest);
        let Self { plan, starts, panels, vector_starts, vectors, scale, .. } = self;
        for k in 0..plan.fronts.len() {
            let shape = plan.fronts[k].shape;
            let (before, own) = vectors.split_at_mut(vector_starts[k]);
            let own = &mut own[..vector_starts[k + 1] - vector_starts[k]];
            own.fill(T::zeros());
            let strips = shape.pivot_strips::<T>();
            for (lines, unknowns) in own.iter_mut().zip(plan.unknowns(k).chunks(T::WIDTH)) {
                for (to, from) in T::lanes_mut(lines).iter_mut().zip(unknowns) {
                    *to = T::from_f64(b[*from as usize] * unit);
                }
            }
            for &child in plan.children(k) {
                let child = child as usize;
                let rows = &before[vector_starts[child]..vector_starts[child + 1]];
                let rows = &rows[plan.fronts[child].shape.pivot_strips::<T>()..];
                for (line, map) in rows.iter().zip(plan.map(child).chunks(T::WIDTH)) {
                    for (from, row) in T::lanes(line).iter().zip(map) {
                        let to = place::<T>(own, shape, strips, *row as usize);
                        *to = to.plus(*from);
                    }
                }
            }
            let panel = &panels[starts[k]..starts[k + 1]];
            run::<T, _>(Forward { panel, shape, vector: own });
        }
        let back = *scale / unit;
        let most = plan.fronts.iter().map(|front| front.shape.pivots).max().unwrap_or(0);
        let mut sums = vec![T::zeros(); most];
        for k in (0..plan.fronts.len()).rev() {
            let shape = plan.fronts[k].shape;
            let own = rows_from_parent::<T>(plan, vector_starts, vectors, k);
            let panel = &panels[starts[k]..starts[k + 1]];
            run::<T, _>(Backward { panel, shape, vector: own, sums: &mut sums[..shape.pivots] });
            for (line, unknowns) in own.iter().zip(plan.unknowns(k).chunks(T::WIDTH)) {
                for (from, to) in T::lanes(line).iter().zip(unknowns) {
                    out[*to as usize] = from.to_f64() * back;
                }
            }
        }
    }
}

/// The vector of a front, with the rows that its parent knows.
pub(super) fn rows_from_parent<'a, T: Real>(
    plan: &Plan,
    starts: &[usize],
    vectors: &'a mut [T::Line],
    front: usize,
) -> &'a mut [T::Line] {
    let (own, after) = vectors[starts[front]..].split_at_mut(starts[front + 1] - starts[front]);
    let FrontPlan { shape, parent, .. } = plan.fronts[front];
    if parent != super::tree::NONE {
        let parent = parent as usize;
        let other = plan.fronts[parent].shape;
        let strips = other.pivot_strips::<T>();
        let from = &mut after[starts[parent] - starts[front + 1]..];
        for (line, map) in own[shape.pivot_strips::<T>()..].iter_mut().zip(plan.map(front).chunks(T::WIDTH)) {
            for (to, row) in T::lanes_mut(line).iter_mut().zip(map) {
                *to = *place::<T>(from, other, strips, *row as usize);
            }
        }
    }
    own
}

/// A row of a front in its vector.
#[inline(always)]
fn place<T: Real>(vector: &mut [T::Line], shape: Shape, strips: usize, row: usize) -> &mut T {
    let at = if row < shape.pivots { row } else { row - shape.pivots + strips * T::WIDTH };
    &mut T::lanes_mut(&mut vector[at / T::WIDTH])[at % T::WIDTH]
}

/// `to -= lines x`, in four sums that do not wait for each other.
#[inline(always)]
fn subtract<S: Simd, T: Real, const V: usize>(simd: S, lines: &[T::Line], x: &[T::Line], to: &mut T::Line) {
    let mut sums = [[T::splat(simd, T::ZERO); V]; 4];
    for (lines, x) in lines.chunks(T::WIDTH).zip(x) {
        let x = T::lanes(x);
        if lines.len() == T::WIDTH {
            for j in 0..T::WIDTH {
                let (line, factor) = (T::vectors::<S>(&lines[j]), T::splat(simd, x[j]));
                for v in 0..V {
                    sums[j % 4][v] = T::mul_add(simd, line[v], factor, sums[j % 4][v]);
                }
            }
        } else {
            for (line, x) in lines.iter().zip(x) {
                let (line, factor) = (T::vectors::<S>(line), T::splat(simd, *x));
                for v in 0..V {
                    sums[0][v] = T::mul_add(simd, line[v], factor, sums[0][v]);
                }
            }
        }
    }
    let to = T::vectors_mut::<S>(to);
    for v in 0..V {
        let left = T::add(simd, sums[0][v], sums[1][v]);
        let right = T::add(simd, sums[2][v], sums[3][v]);
        to[v] = T::sub(simd, to[v], T::add(simd, left, right));
    }
}

struct Forward<'a, T: Real> {
    panel: &'a [T::Line],
    shape: Shape,
    vector: &'a mut [T::Line],
}

impl<T: Real> Vectorised<T> for Forward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const V: usize>(self, simd: S) {
        let Self { panel, shape, vector } = self;
        let (pivots, rows) = panel.split_at(shape.pivot_lines::<T>());
        let (x, below) = vector.split_at_mut(shape.pivot_strips::<T>());
        for p in 0..x.len() {
            let first = p * T::WIDTH;
            let columns = T::WIDTH.min(shape.pivots - first);
            let strip = &pivots[Shape::pivot_strip::<T>(p)..][..first + columns];
            let (left, diagonal) = strip.split_at(first);
            let (done, open) = x.split_at_mut(p);
            let x = &mut open[0];
            subtract::<S, T, V>(simd, left, done, x);
            for (j, column) in diagonal.iter().enumerate() {
                let value = T::lanes(x)[j].times(T::lanes(column)[j]);
                let factor = T::splat(simd, T::ZERO.minus(value));
                let (to, from) = (T::vectors_mut::<S>(x), T::vectors::<S>(column));
                for v in 0..V {
                    to[v] = T::mul_add(simd, from[v], factor, to[v]);
                }
                T::lanes_mut(x)[j] = value;
            }
        }
        for (strip, to) in rows.chunks_exact(shape.pivots).zip(below) {
            subtract::<S, T, V>(simd, strip, x, to);
        }
    }
}

pub(super) struct Backward<'a, T: Real> {
    pub(super) panel: &'a [T::Line],
    pub(super) shape: Shape,
    pub(super) vector: &'a mut [T::Line],
    /// A line for each pivot.
    pub(super) sums: &'a mut [T::Line],
}

/// `sums += lines x`, lane by lane.
#[inline(always)]
fn gather<S: Simd, T: Real, const V: usize>(simd: S, lines: &[T::Line], x: &T::Line, sums: &mut [T::Line]) {
    let x = T::vectors::<S>(x);
    for (line, sum) in lines.iter().zip(sums) {
        let (line, sum) = (T::vectors::<S>(line), T::vectors_mut::<S>(sum));
        for v in 0..V {
            sum[v] = T::mul_add(simd, line[v], x[v], sum[v]);
        }
    }
}

/// The same for two strips.
#[inline(always)]
fn gather_two<S: Simd, T: Real, const V: usize>(
    simd: S,
    lines: [&[T::Line]; 2],
    x: [&T::Line; 2],
    sums: &mut [T::Line],
) {
    let x = x.map(|x| T::vectors::<S>(x));
    for ((a, b), sum) in lines[0].iter().zip(lines[1]).zip(sums) {
        let (a, b, sum) = (T::vectors::<S>(a), T::vectors::<S>(b), T::vectors_mut::<S>(sum));
        for v in 0..V {
            sum[v] = T::mul_add(simd, a[v], x[0][v], T::mul_add(simd, b[v], x[1][v], sum[v]));
        }
    }
}

impl<T: Real> Vectorised<T> for Backward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const V: usize>(self, simd: S) {
        let Self { panel, shape, vector, sums } = self;
        let (pivots, rows) = panel.split_at(shape.pivot_lines::<T>());
        let (x, below) = vector.split_at_mut(shape.pivot_strips::<T>());
        sums.fill(T::zeros());
        let mut strips = rows.chunks_exact(2 * shape.pivots);
        for (pair, y) in strips.by_ref().zip(below.chunks_exact(2)) {
            let (a, b) = pair.split_at(shape.pivots);
            gather_two::<S, T, V>(simd, [a, b], [&y[0], &y[1]], sums);
        }
        if below.len() % 2 == 1 {
            gather::<S, T, V>(simd, strips.remainder(), &below[below.len() - 1], sums);
        }
        for p in (0..x.len()).rev() {
            let first = p * T::WIDTH;
            let columns = T::WIDTH.min(shape.pivots - first);
            let strip = &pivots[Shape::pivot_strip::<T>(p)..][..first + columns];
            let (left, diagonal) = strip.split_at(first);
            let x = &mut x[p];
            let mut values = [T::ZERO; 16];
            values[..columns].copy_from_slice(&T::lanes(x)[..columns]);
            *x = T::zeros();
            for j in (0..columns).rev() {
                // Lanes up to the diagonal of `x` are zero.
                let (line, sum, y) =
                    (T::vectors::<S>(&diagonal[j]), T::vectors::<S>(&sums[first + j]), T::vectors::<S>(x));
                let mut total = T::mul_add(simd, line[0], y[0], sum[0]);
                for v in 1..V {
                    total = T::add(simd, total, T::mul_add(simd, line[v], y[v], sum[v]));
                }
                let inverse = T::lanes(&diagonal[j])[j];
                T::lanes_mut(x)[j] = values[j].minus(T::sum(simd, total)).times(inverse);
            }
            gather::<S, T, V>(simd, left, x, sums);
        }
    }
}
