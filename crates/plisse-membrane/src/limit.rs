//! A limit of stretch: a barrier that grows without bound as a triangle comes near to it.
//!
//! With the limit `L`, the stretch `b` at which the barrier begins, and `d = (s - b)/(L - b)`, the
//! law of a stretch `s` is zero up to `b` and then
//!
//! ```text
//! ψ(s) = k (L - b)² (-ln(1 - d) - d - d²/2)
//! ψ'   = k (L - b) d²/(1 - d)
//! ψ''  = k d (2 - d)/(1 - d)²
//! ```
//!
//! It has two continuous derivatives, rises and is convex. So are the sums over the principal
//! stretches, `ψ(σ₀) + ψ(σ₁)`, and over two fibres as functions of `F`: every eigenvalue (`ψ''`,
//! `ψ'/s`, the twist `(ψ₀' + ψ₁')/(σ₀ + σ₁)` and the flip `(ψ₀' - ψ₁')/(σ₀ - σ₁)`) is a slope or a
//! curvature of a function that rises and is convex. The exact Hessian is positive semidefinite and
//! needs no projection, and the states within the limit are a convex set.

use std::ops::RangeInclusive;

use glam::{DVec2, DVec3};
use plisse_core::{
    Blocks, Element, Id, Mat3x2, Positive, Psd, Space, TriangleMap, UnitDir2, Vertices, saturate,
};
use plisse_eigen::{FibreImage, IsotropicModuli, PolarFrame, Stretches, Sym2};

use crate::energy::MembraneEnergy;
use crate::fibre::{Fibre, FibrePair};
use crate::isotropic::{Isotropic, IsotropicLaw};
use crate::law::FibreLaw;
use crate::material::MaterialError;

/// Limits of stretch that are accepted. Below, rounding in the positions of a mesh would count;
/// above, nothing is limited.
const LIMITS: RangeInclusive<f64> = 1.0001..=100.0;
/// Where the barrier begins, as a part of the way from rest to the limit.
const BEGIN: f64 = 0.5;
/// The part of the distance to the limit that a step may use up.
const USED: f64 = 0.9;
/// A step that uses this part of the distance is not made longer: more would hardly change it.
const ENOUGH: f64 = 0.8;
/// Distances to the limit below this part of the barrier, or none, are taken for this part where a
/// force must be given.
const SMALLEST: f64 = 1e-12;
/// Below this depth the barrier is summed as a series: the logarithm would cancel.
const SHALLOW: f64 = 0.1;
/// Rounds of bisection for the longest step: more than the digits of a number.
const MOST: usize = 64;

/// The scalar law.
#[derive(Clone, Copy, Debug, PartialEq)]
struct StretchBarrier {
    begin: f64,
    limit: f64,
    /// N/m.
    stiffness: f64,
}

impl StretchBarrier {
    #[inline]
    fn width(&self) -> f64 {
        self.limit - self.begin
    }

    /// `d` and `1 - d`; the first is negative where the barrier has not begun, the second never
    /// below [`SMALLEST`].
    #[inline]
    fn depth(&self, s: f64) -> (f64, f64) {
        let inverse = 1.0 / self.width();
        (((s - self.begin) * inverse).min(1.0), ((self.limit - s) * inverse).max(SMALLEST))
    }

    #[inline]
    fn energy(&self, s: f64) -> f64 {
        if s >= self.limit {
            return f64::INFINITY;
        }
        let (d, rest) = self.depth(s);
        if d <= 0.0 {
            return 0.0;
        }
        let shape = if d < SHALLOW {
            // d³/3 + d⁴/4 + …
            (3..16).rev().fold(0.0, |sum, k| sum * d + 1.0 / f64::from(k)) * d * d * d
        } else {
            -rest.ln() - d - 0.5 * d * d
        };
        self.stiffness * self.width() * self.width() * shape
    }

    #[inline]
    fn tension(&self, s: f64) -> f64 {
        let (d, rest) = self.depth(s);
        if d <= 0.0 { 0.0 } else { self.stiffness * self.width() * d * d / rest }
    }

    #[inline]
    fn curvature(&self, s: f64) -> f64 {
        let (d, rest) = self.depth(s);
        if d <= 0.0 { 0.0 } else { self.stiffness * d * (2.0 - d) / (rest * rest) }
    }

    /// `(ψ'(s₀) - ψ'(s₁))/(s₀ - s₁)` for `s₀ ≥ s₁`, without the quotient of differences.
    #[inline]
    fn secant(&self, [s0, s1]: [f64; 2]) -> f64 {
        let ((d0, rest0), (d1, rest1)) = (self.depth(s0), self.depth(s1));
        if d0 <= 0.0 {
            0.0
        } else if d1 <= 0.0 {
            self.stiffness * (d0 / rest0) * (d0 / (d0 - d1))
        } else {
            self.stiffness * (d0 + d1 * (1.0 - d0)) / (rest0 * rest1)
        }
    }
}

impl FibreLaw for StretchBarrier {
    #[inline]
    fn energy(&self, s: f64, _: f64) -> f64 {
        self.energy(s)
    }
    #[inline]
    fn tension(&self, s: f64, _: f64) -> f64 {
        self.tension(s)
    }
    #[inline]
    fn along(&self, s: f64, _: f64) -> f64 {
        self.curvature(s)
    }
    /// Zero, and exact: the barrier begins above one.
    #[inline]
    fn collapsed(&self, _: f64) -> f64 {
        0.0
    }
}

impl IsotropicLaw for StretchBarrier {
    #[inline]
    fn energy(&self, s: &Stretches) -> f64 {
        self.energy(s.values[0]) + self.energy(s.values[1])
    }
    #[inline]
    fn stress(&self, s: &Stretches) -> [f64; 2] {
        s.values.map(|s| self.tension(s))
    }
    #[inline]
    fn moduli(&self, s: &Stretches) -> IsotropicModuli {
        let [t0, t1] = s.values.map(|s| self.tension(s));
        let [c0, c1] = s.values.map(|s| self.curvature(s));
        IsotropicModuli {
            stretch: Sym2::new(c0, 0.0, c1),
            twist: (t0 + t1) * s.inverse_sum,
            flip: self.secant(s.values),
            normal: [t0 * s.inverses[0], t1 * s.inverses[1]],
        }
    }
}

/// What a [`StrainLimit`] holds for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LimitedStretch {
    /// The larger principal stretch: no direction within the triangle is stretched beyond the
    /// limit. As the diagonal of a sheared square is longer, shear is limited, too.
    Principal,
    /// Two fibres, warp and weft, in material coordinates. Along other directions, such as the
    /// bias, the triangle is free.
    Fibres([UnitDir2; 2]),
}

/// The largest stretch that a sheet can have, held by a barrier.
///
/// Nothing happens up to half of the way from rest to the limit. From there on the tension grows,
/// without bound towards the limit: whatever pulls, the sheet does not reach it. Compression costs
/// nothing.
///
/// The stiffness sets the scale of the tension: with the limit `L` it is `k (L - 1)/4` where a
/// quarter of the way from rest to the limit is left, and ten times this where 7 % are left.
///
/// ```
/// use plisse_core::{Mat3x2, Positive};
/// use plisse_membrane::{LimitedStretch, StrainLimit};
/// let limit = StrainLimit::new(LimitedStretch::Principal, 1.04, Positive::literal(100.0))?;
/// assert_eq!((limit.begin(), limit.limit()), (1.02, 1.04));
/// let f = Mat3x2::from_array([1.03, 0.0, 0.0, 0.0, 0.9, 0.0]);
/// assert!((limit.stretch(&f) - 1.03).abs() < 1e-15);
/// assert!(StrainLimit::new(LimitedStretch::Principal, 1.0, Positive::ONE).is_err());
/// # Ok::<(), plisse_membrane::MaterialError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StrainLimit {
    barrier: Barrier,
    of: LimitedStretch,
    law: StretchBarrier,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Barrier {
    Principal(Isotropic<StretchBarrier>),
    Fibres(FibrePair<StretchBarrier>),
}

impl StrainLimit {
    /// A limit such as 1.05, which lets a sheet grow by 5 %, and a stiffness in N/m.
    ///
    /// # Errors
    /// [`MaterialError::StretchLimit`] unless the limit is between 1.0001 and 100.
    pub fn new(of: LimitedStretch, limit: f64, stiffness: Positive) -> Result<Self, MaterialError> {
        if !LIMITS.contains(&limit) {
            return Err(MaterialError::StretchLimit { limit });
        }
        let begin = 1.0 + BEGIN * (limit - 1.0);
        let law = StretchBarrier { begin, limit, stiffness: stiffness.get() };
        let barrier = match of {
            LimitedStretch::Principal => Barrier::Principal(Isotropic::from_law(law)),
            LimitedStretch::Fibres(directions) => {
                let [warp, weft] = directions.map(|direction| Fibre::new(direction, Positive::ONE, law));
                Barrier::Fibres(FibrePair::from_fibres(warp, weft))
            }
        };
        Ok(Self { barrier, of, law })
    }

    /// The largest stretch.
    #[must_use]
    pub fn limit(&self) -> f64 {
        self.law.limit
    }

    /// The stretch at which the barrier begins.
    #[must_use]
    pub fn begin(&self) -> f64 {
        self.law.begin
    }

    /// What it holds for.
    #[must_use]
    pub fn of(&self) -> LimitedStretch {
        self.of
    }

    /// The stretch that is limited: the larger principal one, or that of the longer fibre.
    #[inline]
    #[must_use]
    pub fn stretch(&self, f: &Mat3x2) -> f64 {
        match self.of {
            LimitedStretch::Principal => PolarFrame::with(f, |frame| frame.stretches().values[0]),
            LimitedStretch::Fibres(directions) => {
                FibreImage::with_pair(f, directions.map(UnitDir2::get), |[a, b]| a.length.max(b.length))
            }
        }
    }

    /// The nearest deformation gradient whose stretches are at most `largest`: of oblique fibres
    /// one that is near.
    #[must_use]
    pub fn shortened(&self, f: &Mat3x2, largest: f64) -> Mat3x2 {
        match self.of {
            LimitedStretch::Principal => PolarFrame::with(f, |frame| {
                let [s0, s1] = frame.stretches().values;
                *f - frame.stress([(s0 - largest).max(0.0), (s1 - largest).max(0.0)])
            }),
            LimitedStretch::Fibres(directions) => directions.into_iter().fold(*f, |f, direction| {
                let image = FibreImage::new(&f, direction.get());
                f - Mat3x2::outer(image.direction * (image.length - largest).max(0.0), direction.get())
            }),
        }
    }

    /// The largest `t` for which `f + t way` keeps a tenth of its distance to the limit, all
    /// smaller ones included; infinite where none is too large, zero where `f` is beyond the limit.
    /// It is never too large; what is left out is a tenth of the distance at most.
    ///
    /// The stretch is a norm of `f + t way`, hence convex in `t`: the chord from a point within to
    /// one beyond lies above it and meets the bound within.
    #[must_use]
    pub fn longest_step(&self, f: &Mat3x2, way: &Mat3x2) -> f64 {
        let (limit, start) = (self.law.limit, self.stretch(f));
        // False where a number is NaN.
        let is_within = start < limit && way.is_finite();
        if !is_within {
            return 0.0;
        }
        let [enough, bound] = [ENOUGH, USED].map(|part| start + part * (limit - start));
        let at = |t: f64| self.stretch(&(*f + *way * t));
        // |f + t way| ≥ t |way| - |f|.
        let mut high = (bound + start) / self.stretch(way);
        if !high.is_finite() {
            return f64::INFINITY;
        }
        let (mut low, mut below, mut above) = (0.0, start, at(high));
        for _ in 0..MOST {
            // All but the first is rounding.
            if above <= bound {
                return high;
            }
            let chord = low + (high - low) * ((bound - below) / (above - below));
            for t in [chord, 0.5 * (low + high)] {
                let value = at(t);
                if value > bound && t < high {
                    (high, above) = (t, value);
                } else if value <= bound && t > low {
                    (low, below) = (t, value);
                }
            }
            if below >= enough {
                break;
            }
        }
        low
    }

    /// Whether `f + t way` keeps a tenth of the distance of `f` to the limit, and with it every
    /// smaller `t`.
    #[inline]
    #[must_use]
    pub fn allows(&self, f: &Mat3x2, way: &Mat3x2, t: f64) -> bool {
        let start = self.stretch(f);
        start < self.law.limit && self.stretch(&(*f + *way * t)) <= start + USED * (self.law.limit - start)
    }

    /// `+∞` at the limit and beyond.
    #[inline]
    fn energy(&self, f: &Mat3x2) -> f64 {
        if self.stretch(f) >= self.law.limit {
            return f64::INFINITY;
        }
        match &self.barrier {
            Barrier::Principal(energy) => energy.energy(f),
            Barrier::Fibres(energy) => energy.energy(f),
        }
    }

    #[inline]
    fn pk1(&self, f: &Mat3x2) -> Mat3x2 {
        match &self.barrier {
            Barrier::Principal(energy) => energy.pk1(f),
            Barrier::Fibres(energy) => energy.pk1(f),
        }
    }

    /// Positive semidefinite as it is.
    #[inline]
    fn hessian(&self, f: &Mat3x2) -> Blocks<2> {
        match &self.barrier {
            Barrier::Principal(energy) => energy.hessian(f, Psd::Exact),
            Barrier::Fibres(energy) => energy.hessian(f, Psd::Exact),
        }
    }

    /// Whether nothing is near to the limit: most triangles cost one stretch.
    #[inline]
    fn is_slack(&self, f: &Mat3x2) -> bool {
        self.stretch(f) <= self.law.begin
    }
}

/// A triangle that is stretched at most to a limit.
///
/// The energy is infinite at the limit and beyond; gradient and Hessian are finite everywhere.
/// Solvers must keep their steps within [`StrainLimitElement::longest_step`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StrainLimitElement<S: Space = Vertices> {
    nodes: [Id<S>; 3],
    map: TriangleMap,
    limit: StrainLimit,
}

impl<S: Space> StrainLimitElement<S> {
    /// A triangle of a mesh: its corners, and its map from
    /// [`RestShape::map`](plisse_core::RestShape::map).
    #[must_use]
    pub fn new(nodes: [Id<S>; 3], map: TriangleMap, limit: StrainLimit) -> Self {
        Self { nodes, map, limit }
    }

    /// The limit.
    #[must_use]
    pub fn limit(&self) -> &StrainLimit {
        &self.limit
    }

    /// The stretch that is limited.
    #[must_use]
    pub fn stretch(&self, x: &[DVec3; 3]) -> f64 {
        self.limit.stretch(&self.map.deformation_gradient(x))
    }

    /// Where the triangle is, and which way it goes.
    fn path(&self, x: &[DVec3; 3], to: &[DVec3; 3]) -> [Mat3x2; 2] {
        let way = [to[0] - x[0], to[1] - x[1], to[2] - x[2]];
        [x, &way].map(|x| self.map.deformation_gradient(x))
    }

    /// The largest multiple of the way from `x` to `to` that keeps a tenth of the distance to the
    /// limit: [`StrainLimit::longest_step`].
    #[must_use]
    pub fn longest_step(&self, x: &[DVec3; 3], to: &[DVec3; 3]) -> f64 {
        let [f, way] = self.path(x, to);
        self.limit.longest_step(&f, &way)
    }

    /// Whether this multiple of the way from `x` to `to` does.
    #[must_use]
    pub fn allows(&self, x: &[DVec3; 3], to: &[DVec3; 3], t: f64) -> bool {
        let [f, way] = self.path(x, to);
        self.limit.allows(&f, &way, t)
    }

    /// The corners of the triangle that is stretched at most to `largest` and otherwise like this
    /// one, with the centroid of those corners kept that are `fixed`, or of all if none is.
    #[must_use]
    pub fn shortened(&self, x: &[DVec3; 3], largest: f64, fixed: [bool; 3]) -> [DVec3; 3] {
        let f = self.limit.shortened(&self.map.deformation_gradient(x), largest);
        let [[_, a, c], [_, b, d]] = *self.map.weights();
        let det = a * d - b * c;
        let corners = [DVec3::ZERO, f * (DVec2::new(d, -c) / det), f * (DVec2::new(-b, a) / det)];
        let fixed = if fixed == [false; 3] { [true; 3] } else { fixed };
        let centroid = |x: &[DVec3; 3]| {
            let count = fixed.iter().filter(|fixed| **fixed).count() as f64;
            let kept = x.iter().zip(fixed).filter(|(_, fixed)| *fixed);
            kept.map(|(x, _)| *x / count).sum::<DVec3>()
        };
        let offset = centroid(x) - centroid(&corners);
        corners.map(|corner| corner + offset)
    }
}

impl<S: Space> Element<3> for StrainLimitElement<S> {
    type Space = S;

    fn nodes(&self) -> [Id<S>; 3] {
        self.nodes
    }

    #[inline]
    fn energy(&self, x: &[DVec3; 3]) -> f64 {
        let energy = self.limit.energy(&self.map.deformation_gradient(x));
        if energy == f64::INFINITY { energy } else { saturate(energy * self.map.area()) }
    }

    #[inline]
    fn gradient(&self, x: &[DVec3; 3]) -> [DVec3; 3] {
        let f = self.map.deformation_gradient(x);
        if self.limit.is_slack(&f) {
            return [DVec3::ZERO; 3];
        }
        self.map.pull_back_gradient(&self.limit.pk1(&f))
    }

    #[inline]
    fn hessian(&self, x: &[DVec3; 3], _: Psd) -> Blocks<3> {
        let f = self.map.deformation_gradient(x);
        if self.limit.is_slack(&f) {
            return Blocks::ZERO;
        }
        self.map.pull_back_hessian(&self.limit.hessian(&f))
    }
}
