//! Dense parts of a front: products of strips, and the Cholesky factor of the pivots.
//!
//! A strip is a cache line of rows: [`Real::WIDTH`] of them, column after column. It is both
//! operands of a product of strips, without packing. Columns are worked on four at a time, in
//! registers; every number is one sum in a fixed order.

use std::marker::PhantomData;

use pulp::{Arch, Simd, WithSimd};

use super::real::Real;

/// Columns that are worked on at once.
const COLUMNS: usize = 4;

/// Columns of a product between two additions to the result: two strips of that many stay in the
/// fastest cache.
const DEPTH: usize = 128;

/// The sizes of a front in unknowns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) pivots: usize,
    pub(crate) rows: usize,
}

impl Shape {
    /// Lines before strip `p` of the pivots, which has the columns up to its diagonal.
    #[inline(always)]
    pub(crate) fn pivot_strip<T: Real>(p: usize) -> usize {
        T::WIDTH * p * (p + 1) / 2
    }

    /// Lines of the strips of the pivots.
    #[inline(always)]
    pub(crate) fn pivot_lines<T: Real>(self) -> usize {
        let strips = self.pivots.div_ceil(T::WIDTH);
        Self::pivot_strip::<T>(strips.saturating_sub(1)) + self.pivots
    }

    /// Lines of the pivots and of the rows below, which have all columns.
    pub(crate) fn panel_lines<T: Real>(self) -> usize {
        self.pivot_lines::<T>() + self.row_strips::<T>() * self.pivots
    }

    pub(crate) fn pivot_strips<T: Real>(self) -> usize {
        self.pivots.div_ceil(T::WIDTH)
    }

    pub(crate) fn row_strips<T: Real>(self) -> usize {
        self.rows.div_ceil(T::WIDTH)
    }

    /// Lines of what is left of the rows: strip `a` has the columns up to its diagonal tile.
    pub(crate) fn rest_lines<T: Real>(self) -> usize {
        Self::pivot_strip::<T>(self.row_strips::<T>())
    }

    /// Where a row of the front is in the panel: the line of its first column, and the lane.
    #[inline(always)]
    pub(crate) fn place_in_panel<T: Real>(self, row: usize) -> (usize, usize) {
        if row < self.pivots {
            (Self::pivot_strip::<T>(row / T::WIDTH), row % T::WIDTH)
        } else {
            let row = row - self.pivots;
            (self.pivot_lines::<T>() + row / T::WIDTH * self.pivots, row % T::WIDTH)
        }
    }

    /// Multiplications of the elimination.
    pub(crate) fn work(self) -> f64 {
        let (k, r) = (self.pivots as f64, self.rows as f64);
        k * k * k / 6.0 + k * k * r / 2.0 + k * r * r / 2.0
    }
}

/// Work with the vectors of this processor, `V` of them in a line.
pub(super) trait Vectorised<T: Real> {
    type Output;
    fn run<S: Simd, const V: usize>(self, simd: S) -> Self::Output;
}

/// Runs the work with the widest vectors of this processor.
pub(super) fn run<T: Real, K: Vectorised<T>>(work: K) -> K::Output {
    struct Dispatch<T, K>(K, PhantomData<T>);
    impl<T: Real, K: Vectorised<T>> WithSimd for Dispatch<T, K> {
        type Output = K::Output;
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> K::Output {
            // A constant, so that only one of them is compiled.
            match const { T::WIDTH / (size_of::<T::Vector<S>>() / size_of::<T>()) } {
                1 => self.0.run::<S, 1>(simd),
                2 => self.0.run::<S, 2>(simd),
                4 => self.0.run::<S, 4>(simd),
                8 => self.0.run::<S, 8>(simd),
                _ => self.0.run::<S, 16>(simd),
            }
        }
    }
    Arch::new().dispatch(Dispatch(work, PhantomData))
}

/// `N` columns in registers.
type Columns<T, S, const V: usize, const N: usize> = [[<T as Real>::Vector<S>; V]; N];

/// `N` columns of `a bᵀ`, from a lane of `b`.
#[inline(always)]
fn products<S: Simd, T: Real, const V: usize, const N: usize>(
    simd: S,
    a: &[T::Line],
    b: &[T::Line],
    lane: usize,
) -> Columns<T, S, V, N> {
    let mut sum = [[T::splat(simd, T::ZERO); V]; N];
    for (a, b) in a.iter().zip(b) {
        let (a, b) = (T::vectors::<S>(a), &T::lanes(b)[lane..lane + N]);
        for n in 0..N {
            let factor = T::splat(simd, b[n]);
            for v in 0..V {
                sum[n][v] = T::mul_add(simd, a[v], factor, sum[n][v]);
            }
        }
    }
    sum
}

/// Splits columns into fours and what is left, as constants; into single ones where the processor
/// has no vectors, and would not have the registers.
macro_rules! for_columns {
    ($count:expr, $V:ident, $lane:ident, $N:ident => $body:expr) => {{
        let count = $count;
        let mut $lane = 0;
        if const { $V <= 4 } {
            const $N: usize = COLUMNS;
            while $lane + COLUMNS <= count {
                $body;
                $lane += COLUMNS;
            }
        }
        while $lane < count {
            const $N: usize = 1;
            $body;
            $lane += 1;
        }
    }};
}

/// `c -= a bᵀ`.
#[inline(always)]
fn subtract_products<S: Simd, T: Real, const V: usize>(
    simd: S,
    a: &[T::Line],
    b: &[T::Line],
    c: &mut [T::Line],
) {
    for (a, b) in a.chunks(DEPTH).zip(b.chunks(DEPTH)) {
        for_columns!(c.len(), V, lane, N => {
            let sum = products::<S, T, V, N>(simd, a, b, lane);
            for n in 0..N {
                let c = T::vectors_mut::<S>(&mut c[lane + n]);
                for v in 0..V {
                    c[v] = T::sub(simd, c[v], sum[n][v]);
                }
            }
        });
    }
}

/// `c = a bᵀ`.
#[inline(always)]
fn set_products<S: Simd, T: Real, const V: usize>(simd: S, a: &[T::Line], b: &[T::Line], c: &mut [T::Line]) {
    for (k, (a, b)) in a.chunks(DEPTH).zip(b.chunks(DEPTH)).enumerate() {
        for_columns!(c.len(), V, lane, N => {
            let sum = products::<S, T, V, N>(simd, a, b, lane);
            for n in 0..N {
                let c = T::vectors_mut::<S>(&mut c[lane + n]);
                for v in 0..V {
                    c[v] = if k == 0 { sum[n][v] } else { T::add(simd, c[v], sum[n][v]) };
                }
            }
        });
    }
}

/// The Cholesky factor of a diagonal tile. Inverses of the diagonal are in its place, zeros above.
/// Else the column where the matrix is not positive definite.
#[inline(always)]
fn cholesky_tile<S: Simd, T: Real, const V: usize>(simd: S, tile: &mut [T::Line]) -> Result<(), usize> {
    let count = tile.len();
    for_columns!(count, V, lane, N => {
        let (done, open) = tile.split_at_mut(lane);
        let sum = products::<S, T, V, N>(simd, done, done, lane);
        for n in 0..N {
            let column = T::vectors_mut::<S>(&mut open[n]);
            for v in 0..V {
                column[v] = T::sub(simd, column[v], sum[n][v]);
            }
        }
        for n in 0..N {
            let (done, open) = open.split_at_mut(n);
            let column = &mut open[0];
            for done in done.iter() {
                let factor = T::splat(simd, T::ZERO.minus(T::lanes(done)[lane + n]));
                let (to, from) = (T::vectors_mut::<S>(column), T::vectors::<S>(done));
                for v in 0..V {
                    to[v] = T::mul_add(simd, from[v], factor, to[v]);
                }
            }
            let inverse = T::lanes(column)[lane + n].inverse_root().ok_or(lane + n)?;
            let factor = T::splat(simd, inverse);
            for value in T::vectors_mut::<S>(column) {
                *value = T::mul(simd, *value, factor);
            }
            let lanes = T::lanes_mut(column);
            lanes[..lane + n].fill(T::ZERO);
            lanes[lane + n] = inverse;
        }
    });
    Ok(())
}

/// `tile ← tile D⁻ᵀ` with the factor of a diagonal tile.
#[inline(always)]
fn solve_tile<S: Simd, T: Real, const V: usize>(simd: S, tile: &mut [T::Line], diagonal: &[T::Line]) {
    for_columns!(tile.len(), V, lane, N => {
        let (done, open) = tile.split_at_mut(lane);
        let mut x = products::<S, T, V, N>(simd, done, diagonal, lane);
        for n in 0..N {
            let column = T::vectors::<S>(&open[n]);
            for v in 0..V {
                x[n][v] = T::sub(simd, column[v], x[n][v]);
            }
        }
        for n in 0..N {
            for m in 0..n {
                let factor = T::splat(simd, T::ZERO.minus(T::lanes(&diagonal[lane + m])[lane + n]));
                for v in 0..V {
                    x[n][v] = T::mul_add(simd, x[m][v], factor, x[n][v]);
                }
            }
            let inverse = T::splat(simd, T::lanes(&diagonal[lane + n])[lane + n]);
            let column = T::vectors_mut::<S>(&mut open[n]);
            for v in 0..V {
                x[n][v] = T::mul(simd, x[n][v], inverse);
                column[v] = x[n][v];
            }
        }
    });
}

/// The Cholesky factor of the pivots of a front; gives the pivot that is not positive.
pub(super) struct Pivots<'a, T: Real>(pub(super) &'a mut [T::Line], pub(super) usize);

impl<T: Real> Vectorised<T> for Pivots<'_, T> {
    type Output = Result<(), usize>;

    #[inline(always)]
    fn run<S: Simd, const V: usize>(self, simd: S) -> Result<(), usize> {
        let Self(lines, pivots) = self;
        let mut rest = lines;
        for first in (0..pivots).step_by(T::WIDTH) {
            let columns = T::WIDTH.min(pivots - first);
            let (own, below) = rest.split_at_mut(first + columns);
            let (left, diagonal) = own.split_at_mut(first);
            subtract_products::<S, T, V>(simd, left, left, diagonal);
            cholesky_tile::<S, T, V>(simd, diagonal).map_err(|column| first + column)?;
            let mut strips = &mut *below;
            for after in (first + T::WIDTH..pivots).step_by(T::WIDTH) {
                let (strip, others) = strips.split_at_mut(after + T::WIDTH.min(pivots - after));
                let (done, open) = strip.split_at_mut(first);
                let tile = &mut open[..T::WIDTH];
                subtract_products::<S, T, V>(simd, done, left, tile);
                solve_tile::<S, T, V>(simd, tile, diagonal);
                strips = others;
            }
            rest = below;
        }
        Ok(())
    }
}

/// `R ← R L⁻ᵀ` for some strips of rows, with the factor of the pivots.
pub(super) struct Rows<'a, T: Real> {
    pub(super) factor: &'a [T::Line],
    pub(super) pivots: usize,
    pub(super) strips: &'a mut [T::Line],
}

impl<T: Real> Vectorised<T> for Rows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const V: usize>(self, simd: S) {
        let Self { factor, pivots, strips } = self;
        for strip in strips.chunks_exact_mut(pivots) {
            for (p, first) in (0..pivots).step_by(T::WIDTH).enumerate() {
                let columns = T::WIDTH.min(pivots - first);
                let own = &factor[Shape::pivot_strip::<T>(p)..][..first + columns];
                let (left, diagonal) = own.split_at(first);
                let (done, open) = strip.split_at_mut(first);
                let tile = &mut open[..columns];
                subtract_products::<S, T, V>(simd, done, left, tile);
                solve_tile::<S, T, V>(simd, tile, diagonal);
            }
        }
    }
}

/// `C = R Rᵀ` for some strips of its lower triangle, from strip `first` on.
pub(super) struct Squares<'a, T: Real> {
    pub(super) rows: &'a [T::Line],
    pub(super) shape: Shape,
    pub(super) first: usize,
    pub(super) strips: &'a mut [T::Line],
}

impl<T: Real> Vectorised<T> for Squares<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const V: usize>(self, simd: S) {
        let Self { rows, shape, first, strips } = self;
        let (mut a, mut rest) = (first, strips);
        while !rest.is_empty() {
            let (strip, after) = rest.split_at_mut((a + 1) * T::WIDTH);
            let own = &rows[a * shape.pivots..][..shape.pivots];
            for (b, tile) in strip.chunks_exact_mut(T::WIDTH).enumerate() {
                let columns = T::WIDTH.min(shape.rows - b * T::WIDTH);
                let other = &rows[b * shape.pivots..][..shape.pivots];
                set_products::<S, T, V>(simd, own, other, &mut tile[..columns]);
            }
            (a, rest) = (a + 1, after);
        }
    }
}
