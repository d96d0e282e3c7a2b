//! Isotropic energies `ψ(σ₀, σ₁)` of a 3×2 deformation gradient, without a singular value
//! decomposition.
//!
//! With `F = σ₀ u₀v₀ᵀ + σ₁ u₁v₁ᵀ`, the unit normal `n` and `ψᵢ = ∂ψ/∂σᵢ`, the Hessian has
//!
//! ```text
//! stretch   2×2 block [[ψ₀₀, ψ₀₁], [ψ₀₁, ψ₁₁]] on (u₀v₀ᵀ, u₁v₁ᵀ)
//! twist     (u₁v₀ᵀ - u₀v₁ᵀ)/√2    (ψ₀ + ψ₁)/(σ₀ + σ₁)
//! flip      (u₁v₀ᵀ + u₀v₁ᵀ)/√2    (ψ₀ - ψ₁)/(σ₀ - σ₁)
//! normal    n v₀ᵀ, n v₁ᵀ          ψ₀/σ₀, ψ₁/σ₁
//! ```
//!
//! (Kim20, equations 27 and 28 for ARAP, extended to any isotropic energy.) The last two carry the
//! sign of the principal stress: a sheet buckles exactly when it is compressed. All four matrices
//! follow from the polar decomposition `F = R S` alone. With the traceless unit matrix
//! `B = v₀v₀ᵀ - v₁v₁ᵀ` and the quarter turn `E = [[0, -1], [1, 0]]`:
//!
//! ```text
//! u₀v₀ᵀ = R (I + B)/2,   u₁v₁ᵀ = R (I - B)/2,   twist = R E/√2,   flip = R B E/√2
//! ```
//!
//! `B` is the normalised deviator of `FᵀF`, `R = (F + cof F)/(σ₀ + σ₁)`; no singular vector is ever
//! computed, so nothing is singular for `σ₀ = σ₁`.

use glam::DVec3;
use plisse_core::{Blocks, Mat3x2, Psd, length_and_direction, rarely, saturate};

use crate::eigenpairs::MembraneEigenpairs;
use crate::outer::{outer_sum, symmetric_outer};
use crate::sym2::Sym2;

/// Second derivatives of an isotropic energy, in the frame of the principal stretches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IsotropicModuli {
    /// `[[ψ₀₀, ψ₀₁], [ψ₀₁, ψ₁₁]]`.
    pub stretch: Sym2,
    /// `(ψ₀ + ψ₁)/(σ₀ + σ₁)`.
    pub twist: f64,
    /// `(ψ₀ - ψ₁)/(σ₀ - σ₁)`, or `ψ₀₀ - ψ₀₁` for equal stretches; give it in a form without the
    /// quotient.
    pub flip: f64,
    /// `ψ₀/σ₀` and `ψ₁/σ₁`.
    pub normal: [f64; 2],
}

impl IsotropicModuli {
    /// Limits every modulus to ±[`SATURATION`](plisse_core::SATURATION).
    #[inline]
    #[must_use]
    pub fn saturated(&self) -> Self {
        Self {
            stretch: Sym2::new(saturate(self.stretch.a), saturate(self.stretch.b), saturate(self.stretch.c)),
            twist: saturate(self.twist),
            flip: saturate(self.flip),
            normal: self.normal.map(saturate),
        }
    }
}

/// Polar decomposition, principal stretches and principal directions of a deformation gradient.
///
/// `RᵀR = I` to rounding for every finite `F`. For exactly rank-deficient `F` the missing
/// directions are chosen (every choice is valid there); for `F = 0`, `R` is [`Mat3x2::FLAT`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolarFrame {
    rotation: Mat3x2,
    normal: DVec3,
    /// `B = [[b[0], b[1]], [b[1], -b[0]]]`.
    deviator: [f64; 2],
    stretches: Stretches,
}

/// The principal stretches, with the inverses that laws divide by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretches {
    /// `σ₀ ≥ σ₁ ≥ 0`.
    pub values: [f64; 2],
    /// `1/σ₀` and `1/σ₁`. For an exactly rank-deficient triangle, `σ₁ = 0`, the second one is
    /// 1e6/σ₀ instead of infinity, which would poison a factorisation; saturated for `F = 0`.
    pub inverses: [f64; 2],
    /// `1/(σ₀ + σ₁)`, saturated for `F = 0`.
    pub inverse_sum: f64,
}

impl Stretches {
    /// From two stretches, neither of them negative, in any order.
    #[must_use]
    pub fn new(a: f64, b: f64) -> Self {
        let (s0, s1) = if a < b { (b, a) } else { (a, b) };
        let inverse = |x: f64| saturate(1.0 / x);
        Self {
            values: [s0, s1],
            inverses: [inverse(s0), if s1 == 0.0 { saturate(1e6 * inverse(s0)) } else { inverse(s1) }],
            inverse_sum: inverse(s0 + s1),
        }
    }
}

/// `FᵀF`.
struct Gram {
    c00: f64,
    c01: f64,
    c11: f64,
}

impl Gram {
    #[inline(always)]
    fn new(f: &Mat3x2) -> Self {
        Self { c00: f.c0.length_squared(), c01: f.c0.dot(f.c1), c11: f.c1.length_squared() }
    }

    #[inline(always)]
    fn trace(&self) -> f64 {
        self.c00 + self.c11
    }

    /// The unit deviator `B` and the larger stretch: `FᵀF = (σ₀² + σ₁²)/2 I + (σ₀² - σ₁²)/2 B`.
    #[inline(always)]
    fn principal(&self) -> ([f64; 2], f64) {
        let (x, y) = (self.c00 - self.c11, 2.0 * self.c01);
        // No careful hypot: with the trace above 1e-60, squares of what passes this test are normal
        // numbers.
        let difference = (x * x + y * y).sqrt();
        let deviator = if difference > 1e-80 * self.trace() {
            let inverse = 1.0 / difference;
            [x * inverse, y * inverse]
        } else {
            [1.0, 0.0]
        };
        (deviator, (0.5 * (self.trace() + difference)).sqrt())
    }
}

impl PolarFrame {
    /// Decomposes `F`.
    #[must_use]
    pub fn new(f: &Mat3x2) -> Self {
        if *f == Mat3x2::ZERO {
            let stretches = Stretches::new(0.0, 0.0);
            return Self { rotation: Mat3x2::FLAT, normal: DVec3::Z, deviator: [1.0, 0.0], stretches };
        }
        // Squares and their products must stay in range. Powers of two scale without rounding.
        let largest = f.max_abs();
        let scale = if (1e-30..1e30).contains(&largest) { 1.0 } else { power_of_two(largest) };
        let f = Mat3x2::new(f.c0 / scale, f.c1 / scale);
        let (normal, jacobian) = accurate_normal(&f);
        let gram = Gram::new(&f);
        let (deviator, s0) = gram.principal();
        let s1 = jacobian / s0;
        let rotation = rotation(&f, normal, 1.0 / (s0 + s1));
        let stretches = Stretches::new(saturate(s0 * scale), saturate(s1 * scale));
        Self { rotation, normal, deviator, stretches }
    }

    /// Calls `body` with the frame of `F`: inline where nothing can go wrong, out of line near rank
    /// one and at extreme scales.
    #[inline(always)]
    pub fn with<T>(f: &Mat3x2, body: impl Fn(&Self) -> T) -> T {
        let gram = Gram::new(f);
        let cross = f.c0.cross(f.c1);
        let jacobian = cross.length();
        // The formulas for regular F lose digits in proportion to σ₀/σ₁: two at most.
        if jacobian > 0.02 * gram.trace() && (1e-60..1e60).contains(&gram.trace()) {
            body(&Self::regular(f, &gram, cross, jacobian))
        } else {
            rarely(|| body(&Self::new(f)))
        }
    }

    #[inline(always)]
    fn regular(f: &Mat3x2, gram: &Gram, cross: DVec3, jacobian: f64) -> Self {
        let (deviator, s0) = gram.principal();
        let (inverse_jacobian, inverse_s0) = (1.0 / jacobian, 1.0 / s0);
        let s1 = jacobian * inverse_s0;
        let inverse_sum = 1.0 / (gram.trace() + 2.0 * jacobian).sqrt();
        let normal = cross * inverse_jacobian;
        let rotation = rotation(f, normal, inverse_sum);
        let stretches =
            Stretches { values: [s0, s1], inverses: [inverse_s0, s0 * inverse_jacobian], inverse_sum };
        Self { rotation, normal, deviator, stretches }
    }

    /// The polar factor `R`, 3×2 with orthonormal columns.
    #[inline]
    #[must_use]
    pub fn rotation(&self) -> &Mat3x2 {
        &self.rotation
    }

    /// The unit normal of the deformed triangle, `f0 × f1` normalised.
    #[inline]
    #[must_use]
    pub fn normal(&self) -> DVec3 {
        self.normal
    }

    /// The principal stretches.
    #[inline]
    #[must_use]
    pub fn stretches(&self) -> &Stretches {
        &self.stretches
    }

    /// The stress `ψ₀ u₀v₀ᵀ + ψ₁ u₁v₁ᵀ` of an energy with the principal stresses `ψ₀, ψ₁`.
    #[inline(always)]
    #[must_use]
    pub fn stress(&self, principal: [f64; 2]) -> Mat3x2 {
        let (mean, half) = (0.5 * (principal[0] + principal[1]), 0.5 * (principal[0] - principal[1]));
        let (x, y) = (half * self.deviator[0], half * self.deviator[1]);
        let Mat3x2 { c0: r0, c1: r1 } = self.rotation;
        Mat3x2::new(r0 * (mean + x) + r1 * y, r0 * y + r1 * (mean - x))
    }

    /// The Hessian with these moduli, exact or projected. The moduli must be saturated.
    #[inline(always)]
    #[must_use]
    pub fn hessian(&self, moduli: &IsotropicModuli, psd: Psd) -> Blocks<2> {
        let stretch = moduli.stretch.project(psd);
        let (twist, flip) = (0.5 * psd.apply(moduli.twist), 0.5 * psd.apply(moduli.flip));
        let normal = moduli.normal.map(|value| psd.apply(value));

        // The stretch block on (I, B) instead of ((I + B)/2, (I - B)/2). Every 2×2 coefficient
        // matrix below carries a factor 1/√2, hence the halves.
        let mean = 0.5 * (stretch.a + stretch.c);
        let (ii, bb) = (0.5 * (mean + stretch.b), 0.5 * (mean - stretch.b));
        let ib = 0.25 * (stretch.a - stretch.c);
        let [x, y] = self.deviator;

        // Coefficients of r_a e_bᵀ, in the order (a b) = 00, 10, 01, 11:
        //   I = (1, 0, 0, 1),  B = (x, y, y, -x),  E = (0, 1, -1, 0),  B E = (y, -x, -x, -y).
        let (xx, xy, yy) = (x * x, x * y, y * y);
        let c00_00 = ii + 2.0 * ib * x + bb * xx + flip * yy;
        let c11_11 = ii - 2.0 * ib * x + bb * xx + flip * yy;
        let c00_11 = ii - bb * xx - flip * yy;
        let c10_10 = bb * yy + flip * xx + twist;
        let c10_01 = bb * yy + flip * xx - twist;
        let mixed = (bb - flip) * xy;
        let c00_10 = ib * y + mixed;
        let c11_10 = ib * y - mixed;

        // Block (b, b') = Σ C r_a r_a'ᵀ + o n nᵀ, with n nᵀ = I - r0 r0ᵀ - r1 r1ᵀ. The coefficients
        // of 01 equal those of 10 but for the twist.
        let Mat3x2 { c0: r0, c1: r1 } = self.rotation;
        let (o_mean, o_half) = (0.5 * (normal[0] + normal[1]), 0.5 * (normal[0] - normal[1]));
        let (o00, o11, o01) = (o_mean + o_half * x, o_mean - o_half * x, o_half * y);
        let block00 = symmetric_outer(
            r0,
            r0 * (c00_00 - o00) + r1 * c00_10,
            r1,
            r0 * c00_10 + r1 * (c10_10 - o00),
            o00,
        );
        let block11 = symmetric_outer(
            r0,
            r0 * (c10_10 - o11) + r1 * c11_10,
            r1,
            r0 * c11_10 + r1 * (c11_11 - o11),
            o11,
        );
        // Rows 00, 10 against columns 01, 11.
        let block01 =
            outer_sum(r0, r0 * (c00_10 - o01) + r1 * c00_11, r1, r0 * c10_01 + r1 * (c11_10 - o01), o01);
        Blocks::from_upper(block00, block01, block11)
    }

    /// The Hessian of an energy that is quadratic in the Biot strain,
    /// `μ ‖S - I‖² + λ/2 tr²(S - I)`: its stretch block is
    /// `[[shear + pressure, pressure], [pressure, shear + pressure]]` and its flip modulus `shear`.
    ///
    /// The same as [`Self::hessian`] with those moduli, in two thirds of the time. `shear > 0` and
    /// `shear + 2 pressure > 0` are required: then only twist and normal modes can be negative.
    #[inline(always)]
    #[must_use]
    pub fn biot_hessian(
        &self,
        shear: f64,
        pressure: f64,
        twist: f64,
        normal: [f64; 2],
        psd: Psd,
    ) -> Blocks<2> {
        // On (I, B, E, BE): shear + 2 pressure, shear, twist, shear. That is shear on the whole
        // plane, plus pressure R Rᵀ, plus (twist - shear)/2 (R E)(R E)ᵀ; and n nᵀ = I - r0 r0ᵀ - r1
        // r1ᵀ as in `hessian`.
        let half = 0.5 * (psd.apply(twist) - shear);
        let normal = normal.map(|value| psd.apply(value));
        let (o_mean, o_half) = (0.5 * (normal[0] + normal[1]), 0.5 * (normal[0] - normal[1]));
        let [x, y] = self.deviator;
        let (o00, o11, o01) = (o_mean + o_half * x, o_mean - o_half * x, o_half * y);
        let Mat3x2 { c0: r0, c1: r1 } = self.rotation;
        let (along, across) = (shear + pressure, shear + half);
        // ARAP passes a constant zero here, which the compiler may not drop from a sum by itself.
        let mixed = if pressure == 0.0 { r0 * -o01 } else { r1 * pressure - r0 * o01 };
        Blocks::from_upper(
            symmetric_outer(r0, r0 * (along - o00), r1, r1 * (across - o00), o00),
            outer_sum(r0, mixed, r1, r0 * -half - r1 * o01, o01),
            symmetric_outer(r0, r0 * (across - o11), r1, r1 * (along - o11), o11),
        )
    }

    /// The six eigenpairs with these moduli: two stretches, twist, flip, two normal modes.
    #[must_use]
    pub fn eigenpairs(&self, moduli: &IsotropicModuli) -> MembraneEigenpairs {
        let Mat3x2 { c0: r0, c1: r1 } = self.rotation;
        let [x, y] = self.deviator;
        // R times a 2×2 matrix given by rows.
        let times = |m: [f64; 4]| Mat3x2::new(r0 * m[0] + r1 * m[2], r0 * m[1] + r1 * m[3]);
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let first = times([0.5 * (1.0 + x), 0.5 * y, 0.5 * y, 0.5 * (1.0 - x)]);
        let second = times([0.5 * (1.0 - x), -0.5 * y, -0.5 * y, 0.5 * (1.0 + x)]);
        let twist = times([0.0, -half, half, 0.0]);
        let flip = times([half * y, -half * x, -half * x, -half * y]);
        // v₀ is the unit eigenvector of B.
        let (_, [v0, v1]) = Sym2::new(x, y, -x).eigen();
        let (normal0, normal1) = (
            Mat3x2::new(self.normal * v0, self.normal * v1),
            Mat3x2::new(self.normal * -v1, self.normal * v0),
        );
        let ([high, low], [c, s]) = moduli.stretch.eigen();
        let modes = [first * c + second * s, second * c - first * s, twist, flip, normal0, normal1];
        MembraneEigenpairs {
            values: [high, low, moduli.twist, moduli.flip, moduli.normal[0], moduli.normal[1]],
            modes: modes.map(|q| [q.c0, q.c1]),
        }
    }
}

/// `R = (F + cof F)/(σ₀ + σ₁)` with `cof F = [f1 × n | n × f0]`.
#[inline(always)]
fn rotation(f: &Mat3x2, normal: DVec3, inverse_sum: f64) -> Mat3x2 {
    (*f + Mat3x2::new(f.c1.cross(normal), normal.cross(f.c0))) * inverse_sum
}

/// The largest power of two that is not above a positive number; the smallest normal one for
/// subnormal numbers.
fn power_of_two(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & (0x7ff << 52)).max(f64::MIN_POSITIVE)
}

/// Unit normal and Jacobian, accurate to rounding even for columns that are almost parallel.
///
/// Each component of the cross product is a difference of two products that may cancel almost
/// entirely; the rounding of one product is recovered with a fused multiply-add and taken into
/// account (Kahan's algorithm). Slow where the processor has no such instruction, which does not
/// matter here.
fn accurate_normal(f: &Mat3x2) -> (DVec3, f64) {
    let difference = |a: f64, b: f64, c: f64, d: f64| {
        let cd = c * d;
        let error = (-c).mul_add(d, cd);
        a.mul_add(b, -cd) + error
    };
    let (p, q) = (f.c0, f.c1);
    let cross = DVec3::new(
        difference(p.y, q.z, p.z, q.y),
        difference(p.z, q.x, p.x, q.z),
        difference(p.x, q.y, p.y, q.x),
    );
    let (jacobian, normal) = length_and_direction(cross);
    let longer = if q.length_squared() > p.length_squared() { q } else { p };
    let (_, u) = length_and_direction(longer);
    if jacobian > 0.0 {
        // Components of the cross product below 1e-308 have lost digits; what matters is the longer
        // column.
        ((normal - u * u.dot(normal)).normalize(), jacobian)
    } else {
        // Parallel: every direction perpendicular to the longer column will do.
        (u.any_orthonormal_vector(), 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plisse_core::project_numeric;
    use plisse_testkit::{assert_close, max_abs};
    use proptest::prelude::*;

    fn any_finite_f() -> impl Strategy<Value = [f64; 6]> {
        prop_oneof![
            plisse_testkit::any_f(),
            plisse_testkit::near_degenerate(),
            plisse_testkit::degenerate(),
            plisse_testkit::extreme()
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]
        #[test]
        fn polar_decomposition(f in any_finite_f()) {
            let f = Mat3x2::from_array(f).saturated();
            let frame = PolarFrame::new(&f);
            let inline = PolarFrame::with(&f, |frame| *frame);
            assert_close("inline", &inline.rotation().to_array(), &frame.rotation().to_array(), 1e-14, 1.0);
            let r = frame.rotation();
            let n = frame.normal();
            let gram = [r.c0.length_squared() - 1.0, r.c1.length_squared() - 1.0, r.c0.dot(r.c1), r.c0.dot(n), r.c1.dot(n), n.length_squared() - 1.0];
            prop_assert!(max_abs(&gram) < 1e-14, "{gram:?}");
            // F = σ₀ u₀v₀ᵀ + σ₁ u₁v₁ᵀ, which is the stress of ψ = ½ ‖F‖².
            // Beyond a tenth of the saturation the stretches themselves may saturate.
            if f.max_abs() < 1e299 {
                let back = frame.stress(frame.stretches().values);
                assert_close("F", &back.to_array(), &f.to_array(), 4e-15, f64::MIN_POSITIVE);
            }
            let [s0, s1] = frame.stretches().values;
            prop_assert!(s0 >= s1 * (1.0 - 1e-15) && s1 >= 0.0);
            // The inline frame has its inverses from other operations.
            let (a, b) = (inline.stretches().inverses, frame.stretches().inverses);
            assert_close("inverses", &[a[0] * s0, a[1] * s1], &[b[0] * s0, b[1] * s1], 1e-13, 1.0);
        }

        #[test]
        fn hessian_rebuild_and_oracle_agree(
            f in any_finite_f(),
            m in prop::array::uniform7(-2.0..2.0f64),
        ) {
            let frame = PolarFrame::new(&Mat3x2::from_array(f));
            let moduli = IsotropicModuli { stretch: Sym2::new(m[0], m[1], m[2]), twist: m[3], flip: m[4], normal: [m[5], m[6]] };
            let pairs = frame.eigenpairs(&moduli);
            for i in 0..6 {
                for j in 0..6 {
                    let dot = pairs.eigenmatrix(i).dot(&pairs.eigenmatrix(j));
                    prop_assert!((dot - f64::from(u8::from(i == j))).abs() < 2e-14, "modes {i} and {j}: {dot}");
                }
            }
            let exact = frame.hessian(&moduli, Psd::Exact).to_matrix::<6>();
            let (shear, pressure) = (m[0].abs() + 0.1, 0.2 * m[1].abs());
            let biot = IsotropicModuli { stretch: Sym2::new(shear + pressure, pressure, shear + pressure), flip: shear, ..moduli };
            for psd in Psd::ALL {
                let (fast, general) = (frame.biot_hessian(shear, pressure, m[3], [m[5], m[6]], psd), frame.hessian(&biot, psd));
                assert_close("biot", fast.to_matrix::<6>().as_flattened(), general.to_matrix::<6>().as_flattened(), 1e-14, 1.0);
                let found = frame.hessian(&moduli, psd).to_matrix::<6>();
                let oracle = project_numeric(&exact, psd);
                assert_close("oracle", found.as_flattened(), oracle.as_flattened(), 2e-14, 1.0);
                let rebuilt = pairs.rebuild(psd).to_matrix::<6>();
                assert_close("rebuilt", rebuilt.as_flattened(), found.as_flattened(), 2e-14, 1.0);
            }
        }
    }
}
