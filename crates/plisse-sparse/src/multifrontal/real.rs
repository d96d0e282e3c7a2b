//! Numbers of single and double precision, a cache line of them, and vectors of the processor.

use bytemuck::Zeroable;
use pulp::Simd;

/// As many numbers as fit into a cache line, at the start of one.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Line<T, const W: usize>([T; W]);

/// `f32` for preconditioners, `f64` for everything else.
pub(crate) trait Real: Copy + Send + Sync + PartialOrd + 'static {
    /// Numbers of a [`Self::Line`].
    const WIDTH: usize;
    const ZERO: Self;
    type Line: Copy + Send + Sync;
    type Vector<S: Simd>: Copy;

    fn from_f64(value: f64) -> Self;
    fn to_f64(self) -> f64;
    fn zeros() -> Self::Line;
    fn lanes(line: &Self::Line) -> &[Self];
    fn lanes_mut(line: &mut Self::Line) -> &mut [Self];
    fn minus(self, other: Self) -> Self;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// `1/√a`; none unless that is a positive number.
    fn inverse_root(self) -> Option<Self>;

    fn vectors<S: Simd>(line: &Self::Line) -> &[Self::Vector<S>];
    fn vectors_mut<S: Simd>(line: &mut Self::Line) -> &mut [Self::Vector<S>];
    fn splat<S: Simd>(simd: S, value: Self) -> Self::Vector<S>;
    fn add<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    fn sub<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    fn mul<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// `a b + c`, rounded once where the processor does that in one instruction.
    fn mul_add<S: Simd>(
        simd: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;
    fn sum<S: Simd>(simd: S, a: Self::Vector<S>) -> Self;
}

macro_rules! real {
    ($real:ident, $width:literal, $vector:ident, $splat:ident, $add:ident, $sub:ident, $mul:ident, $mul_add:ident, $sum:ident) => {
        impl Real for $real {
            const WIDTH: usize = $width;
            const ZERO: Self = 0.0;
            type Line = Line<$real, $width>;
            type Vector<S: Simd> = S::$vector;

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $real
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn zeros() -> Self::Line {
                Line(Zeroable::zeroed())
            }
            #[inline(always)]
            fn lanes(line: &Self::Line) -> &[Self] {
                &line.0
            }
            #[inline(always)]
            fn lanes_mut(line: &mut Self::Line) -> &mut [Self] {
                &mut line.0
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self - other
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)]
            fn inverse_root(self) -> Option<Self> {
                let inverse = 1.0 / self.sqrt();
                // NaN is neither.
                (self > 0.0 && inverse > 0.0 && inverse.is_finite()).then_some(inverse)
            }
            #[inline(always)]
            fn vectors<S: Simd>(line: &Self::Line) -> &[S::$vector] {
                bytemuck::cast_slice(&line.0)
            }
            #[inline(always)]
            fn vectors_mut<S: Simd>(line: &mut Self::Line) -> &mut [S::$vector] {
                bytemuck::cast_slice_mut(&mut line.0)
            }
            #[inline(always)]
            fn splat<S: Simd>(simd: S, value: Self) -> S::$vector {
                simd.$splat(value)
            }
            #[inline(always)]
            fn add<S: Simd>(simd: S, a: S::$vector, b: S::$vector) -> S::$vector {
                simd.$add(a, b)
            }
            #[inline(always)]
            fn sub<S: Simd>(simd: S, a: S::$vector, b: S::$vector) -> S::$vector {
                simd.$sub(a, b)
            }
            #[inline(always)]
            fn mul<S: Simd>(simd: S, a: S::$vector, b: S::$vector) -> S::$vector {
                simd.$mul(a, b)
            }
            #[inline(always)]
            fn mul_add<S: Simd>(simd: S, a: S::$vector, b: S::$vector, c: S::$vector) -> S::$vector {
                simd.$mul_add(a, b, c)
            }
            #[inline(always)]
            fn sum<S: Simd>(simd: S, a: S::$vector) -> Self {
                simd.$sum(a)
            }
        }
    };
}

real!(f32, 16, f32s, splat_f32s, add_f32s, sub_f32s, mul_f32s, mul_add_e_f32s, reduce_sum_f32s);
real!(f64, 8, f64s, splat_f64s, add_f64s, sub_f64s, mul_f64s, mul_add_e_f64s, reduce_sum_f64s);
