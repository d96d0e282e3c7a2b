//! Energies of the inner product of two deformed fibres, `φ(I6(a, b))`, for any pair of unit directions.
//!
//! Derivation. With `c = I6(a, b) - d`, `k = φ'(c)` and `m = φ''(c) ≥ 0`,
//!
//! ```text
//! gradient = k g,   Hessian = k (S ⊗ I₃) + m g gᵀ,   S = a bᵀ + b aᵀ,   g = vec(F S).
//! ```
//!
//! `S` has the unit eigenvectors `e± ∥ a ± b`, orthogonal for unit `a, b`, with eigenvalues `d± = a·b ± 1`. In
//! that basis `g = e+ ⊗ y+ + e- ⊗ y-` with `y± = d± F e±`, so the rank-one term couples only the two directions
//! `e± ⊗ n±`, `n± = y±/|y±|`. What is left is one 2×2 block and two double eigenvalues:
//!
//! ```text
//! on (e+ ⊗ n+, e- ⊗ n-):   [ k d+ + m |y+|²    m |y+| |y-|     ]
//!                          [ m |y+| |y-|       k d- + m |y-|²  ]
//! on e+ ⊗ n+⊥:  k d+ (twice)          on e- ⊗ n-⊥:  k d- (twice)
//! ```
//!
//! This replaces Kim20, equations 34 to 41 and 45 to 52 (several of which are misprinted) and needs no case for
//! `I6 = 0`, `F = 0`, parallel columns or `a = ±b`.

use glam::{DMat3, DVec2, DVec3};
use plisse_core::{Blocks, Mat3x2, Psd, UnitDir2, length_and_direction, saturate};

use crate::eigenpairs::MembraneEigenpairs;
use crate::radial::radial_hessian;
use crate::sym2::Sym2;

/// The eigenbasis of `a bᵀ + b aᵀ`, computed once per pair of directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShearBasis {
    plus: DVec2,
    minus: DVec2,
    d_plus: f64,
    d_minus: f64,
}

/// Length and direction; any direction will do for a zero vector, because its length multiplies it.
#[inline]
fn split(y: DVec3) -> (f64, DVec3) {
    length_and_direction(y).unwrap_or((0.0, DVec3::X))
}

impl ShearBasis {
    /// For two unit directions, which may be equal or opposite.
    #[must_use]
    pub fn new(a: UnitDir2, b: UnitDir2) -> Self {
        let (a, b) = (a.get(), b.get());
        // Normalise the longer of a + b and a - b and take the other as its perpendicular: neither can vanish.
        let (plus, minus) = if a.dot(b) >= 0.0 {
            let plus = (a + b).normalize();
            (plus, plus.perp())
        } else {
            let minus = (a - b).normalize();
            (minus.perp(), minus)
        };
        let eigenvalue = |e: DVec2| 2.0 * a.dot(e) * b.dot(e);
        Self { plus, minus, d_plus: eigenvalue(plus), d_minus: eigenvalue(minus) }
    }

    #[inline]
    fn images(&self, f: &Mat3x2) -> (DVec3, DVec3) {
        (*f * (self.plus * self.d_plus), *f * (self.minus * self.d_minus))
    }

    /// `F (a bᵀ + b aᵀ)`: the derivative of `I6(a, b)` by `F`.
    #[inline]
    #[must_use]
    pub fn gradient(&self, f: &Mat3x2) -> Mat3x2 {
        let (y_plus, y_minus) = self.images(f);
        Mat3x2::outer(y_plus, self.plus) + Mat3x2::outer(y_minus, self.minus)
    }

    /// The 2×2 block of the module's derivation.
    #[inline]
    fn block(&self, k: f64, m: f64, s_plus: f64, s_minus: f64) -> Sym2 {
        let (p, q) = (saturate(m * s_plus), saturate(m * s_minus));
        Sym2::new(
            k * self.d_plus + saturate(p * s_plus),
            saturate(p * s_minus),
            k * self.d_minus + saturate(q * s_minus),
        )
    }

    /// The Hessian of `φ(I6)` for `k = φ'` and `m = φ'' ≥ 0`, exact or projected. `k` and `m` must be saturated.
    #[inline]
    #[must_use]
    pub fn hessian(&self, f: &Mat3x2, k: f64, m: f64, psd: Psd) -> Blocks<2> {
        let (y_plus, y_minus) = self.images(f);
        let ((s_plus, n_plus), (s_minus, n_minus)) = (split(y_plus), split(y_minus));
        let block = self.block(k, m, s_plus, s_minus).project(psd);
        let x = radial_hessian(n_plus, block.a, psd.apply(k * self.d_plus));
        let y = radial_hessian(n_minus, block.c, psd.apply(k * self.d_minus));
        let z = outer(n_plus * block.b, n_minus);
        let zt = z.transpose();
        let (p, q) = (self.plus, self.minus);
        // Block (i, j) of  e+e+ᵀ ⊗ x + e-e-ᵀ ⊗ y + e+e-ᵀ ⊗ z + e-e+ᵀ ⊗ zᵀ.
        let zs = z + zt;
        let h00 = x * (p.x * p.x) + y * (q.x * q.x) + zs * (p.x * q.x);
        let h11 = x * (p.y * p.y) + y * (q.y * q.y) + zs * (p.y * q.y);
        let h01 = x * (p.x * p.y) + y * (q.x * q.y) + z * (p.x * q.y) + zt * (q.x * p.y);
        Blocks([[h00, h01], [h01.transpose(), h11]])
    }

    /// The six eigenpairs of the Hessian of `φ(I6)` for `k = φ'` and `m = φ''`.
    #[must_use]
    pub fn eigenpairs(&self, f: &Mat3x2, k: f64, m: f64) -> MembraneEigenpairs {
        let (y_plus, y_minus) = self.images(f);
        let ((s_plus, n_plus), (s_minus, n_minus)) = (split(y_plus), split(y_minus));
        let ([high, low], [c, s]) = self.block(k, m, s_plus, s_minus).eigen();
        let (e_plus, e_minus) = (Mat3x2::outer(n_plus, self.plus), Mat3x2::outer(n_minus, self.minus));
        let (t0, t1) = n_plus.any_orthonormal_pair();
        let (t2, t3) = n_minus.any_orthonormal_pair();
        let modes = [
            e_plus * c + e_minus * s,
            e_minus * c - e_plus * s,
            Mat3x2::outer(t0, self.plus),
            Mat3x2::outer(t1, self.plus),
            Mat3x2::outer(t2, self.minus),
            Mat3x2::outer(t3, self.minus),
        ];
        let (k_plus, k_minus) = (k * self.d_plus, k * self.d_minus);
        MembraneEigenpairs {
            values: [high, low, k_plus, k_plus, k_minus, k_minus],
            modes: modes.map(|q| [q.c0, q.c1]),
        }
    }
}

#[inline]
fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::i6;
    use plisse_core::project_numeric;
    use plisse_testkit::{assert_close, check_gradient};
    use proptest::prelude::*;

    /// `k (S ⊗ I) + m g gᵀ`, entry by entry.
    fn dense(f: &Mat3x2, a: UnitDir2, b: UnitDir2, k: f64, m: f64) -> [[f64; 6]; 6] {
        let (a, b) = (a.get(), b.get());
        let s = |i: usize, j: usize| a[i] * b[j] + b[i] * a[j];
        let column = |j: usize| f.c0 * s(0, j) + f.c1 * s(1, j);
        let g = Mat3x2::new(column(0), column(1)).to_array();
        std::array::from_fn(|r| {
            std::array::from_fn(|c| {
                let identity = if r % 3 == c % 3 { s(r / 3, c / 3) } else { 0.0 };
                k * identity + m * g[r] * g[c]
            })
        })
    }

    fn any_angle() -> impl Strategy<Value = f64> {
        prop_oneof![3 => -3.2..3.2f64, 1 => Just(0.0), 1 => Just(std::f64::consts::PI), 1 => Just(std::f64::consts::FRAC_PI_2)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]
        #[test]
        fn hessian_and_eigenpairs_agree_with_the_dense_matrix(
            f in prop_oneof![plisse_testkit::any_f(), plisse_testkit::degenerate(), plisse_testkit::near_degenerate()],
            base in any_angle(), turn in any_angle(),
            k in -2.0..2.0f64, m in 0.0..3.0f64,
        ) {
            let f = Mat3x2::from_array(f);
            let a = UnitDir2::from_angle(base).unwrap();
            let b = UnitDir2::from_angle(base + turn).unwrap();
            let basis = ShearBasis::new(a, b);
            let expected = dense(&f, a, b, k, m);
            let pairs = basis.eigenpairs(&f, k, m);
            for psd in Psd::ALL {
                let oracle = project_numeric(&expected, psd);
                let found = basis.hessian(&f, k, m, psd).to_matrix::<6>();
                assert_close("hessian", found.as_flattened(), oracle.as_flattened(), 2e-14, plisse_testkit::max_abs(expected.as_flattened()));
                let rebuilt = pairs.rebuild(psd).to_matrix::<6>();
                assert_close("rebuilt", rebuilt.as_flattened(), found.as_flattened(), 2e-14, plisse_testkit::max_abs(expected.as_flattened()));
            }
        }

        #[test]
        fn gradient_of_the_invariant(f in plisse_testkit::any_f(), base in any_angle(), turn in any_angle()) {
            let (a, b) = (UnitDir2::from_angle(base).unwrap(), UnitDir2::from_angle(base + turn).unwrap());
            let basis = ShearBasis::new(a, b);
            check_gradient(
                |f| i6(&Mat3x2::from_array(*f), a, b),
                |f| basis.gradient(&Mat3x2::from_array(*f)).to_array(),
                &f,
                1e-9,
            );
        }
    }
}
