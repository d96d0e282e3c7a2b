//! Energies of the inner product of two deformed fibres, `φ(I6(a, b))`, for any pair of unit
//! directions.
//!
//! Derivation. With `c = I6(a, b) - d`, `k = φ'(c)` and `m = φ''(c) ≥ 0`,
//!
//! ```text
//! gradient = k g,   Hessian = k (S ⊗ I₃) + m g gᵀ,   S = a bᵀ + b aᵀ,   g = vec(F S).
//! ```
//!
//! `S` has the unit eigenvectors `e± ∥ a ± b`, orthogonal for unit `a, b`, with eigenvalues
//! `d± = a·b ± 1`. In that basis `g = e+ ⊗ y+ + e- ⊗ y-` with `y± = d± F e±`, so the rank-one term
//! couples only the two directions `e± ⊗ n±`, `n± = y±/|y±|`. What is left is one 2×2 block and two
//! double eigenvalues:
//!
//! ```text
//! on (e+ ⊗ n+, e- ⊗ n-):   [ k d+ + m |y+|²    m |y+| |y-|     ]
//!                          [ m |y+| |y-|       k d- + m |y-|²  ]
//! on e+ ⊗ n+⊥:  k d+ (twice)          on e- ⊗ n-⊥:  k d- (twice)
//! ```
//!
//! This replaces Kim20, equations 34 to 41 and 45 to 52 (several of which are misprinted) and needs
//! no case for `I6 = 0`, `F = 0`, parallel columns or `a = ±b`.

use glam::{DVec2, DVec3};
use plisse_core::{Blocks, Mat3x2, Psd, SATURATION, UnitDir2, hypot, rarely, saturate};

use crate::eigenpairs::MembraneEigenpairs;
use crate::fibre_image::FibreImage;
use crate::outer::{outer_sum, symmetric_outer};
use crate::sym2::Sym2;

/// The eigenbasis of `a bᵀ + b aᵀ`, computed once per pair of directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShearBasis {
    plus: DVec2,
    minus: DVec2,
    d_plus: f64,
    d_minus: f64,
}

impl ShearBasis {
    /// For two unit directions, which may be equal or opposite.
    #[must_use]
    pub fn new(a: UnitDir2, b: UnitDir2) -> Self {
        let (a, b) = (a.get(), b.get());
        // Normalise the longer of a + b and a - b and take the other as its perpendicular: neither
        // can vanish.
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

    /// The vectors whose images are `y+` and `y-`.
    #[inline(always)]
    fn preimages(&self) -> [DVec2; 2] {
        [self.plus * self.d_plus, self.minus * self.d_minus]
    }

    fn images(&self, f: &Mat3x2) -> [FibreImage; 2] {
        self.preimages().map(|a| FibreImage::new(f, a))
    }

    /// `F (a bᵀ + b aᵀ)`: the derivative of `I6(a, b)` by `F`. Saturates with `F`.
    #[inline]
    #[must_use]
    pub fn gradient(&self, f: &Mat3x2) -> Mat3x2 {
        // Products of F with the directions overflow beyond the saturation.
        let f = if f.max_abs() < SATURATION { *f } else { f.saturated() };
        self.gradient_from(self.preimages().map(|a| f * a))
    }

    #[inline(always)]
    fn gradient_from(&self, [y_plus, y_minus]: [DVec3; 2]) -> Mat3x2 {
        Mat3x2::outer(y_plus, self.plus) + Mat3x2::outer(y_minus, self.minus)
    }

    /// [`Self::gradient`] and [`Self::hessian`] at once.
    #[inline(always)]
    #[must_use]
    pub fn gradient_and_hessian(&self, f: &Mat3x2, k: f64, m: f64, psd: Psd) -> (Mat3x2, Blocks<2>) {
        match FibreImage::pair_if_regular(f, self.preimages()) {
            Some(images) => self.assemble_both(images, k, m, psd),
            None => rarely(|| self.assemble_both(self.images(f), k, m, psd)),
        }
    }

    /// The 2×2 block of the module's derivation, and half the distance of its eigenvalues.
    #[inline(always)]
    fn block(&self, k: f64, m: f64, y_plus: &FibreImage, y_minus: &FibreImage) -> (Sym2, f64) {
        let (p, q) = (saturate(m * y_plus.square), saturate(m * y_minus.square));
        let mixed = saturate(saturate(m * y_plus.length) * y_minus.length);
        let (a, c) = (k * self.d_plus + p, k * self.d_minus + q);
        // From the squares, because they are known before their roots: this chain is the longest of
        // the kernel.
        let half = 0.5 * (a - c);
        let square = half * half + p * q;
        let radius = if (1e-280..1e280).contains(&square) { square.sqrt() } else { hypot(half, mixed) };
        (Sym2::new(a, mixed, c), radius)
    }

    /// The Hessian of `φ(I6)` for `k = φ'` and `m = φ'' ≥ 0`, exact or projected. `k` and `m` must
    /// be saturated.
    #[inline(always)]
    #[must_use]
    pub fn hessian(&self, f: &Mat3x2, k: f64, m: f64, psd: Psd) -> Blocks<2> {
        // Written out, not `with_pair`: its closure would be called in two places and not be
        // inlined.
        match FibreImage::pair_if_regular(f, self.preimages()) {
            Some(images) => self.assemble(images, k, m, psd),
            None => rarely(|| self.assemble(self.images(f), k, m, psd)),
        }
    }

    #[inline(always)]
    fn assemble_both(&self, images: [FibreImage; 2], k: f64, m: f64, psd: Psd) -> (Mat3x2, Blocks<2>) {
        (self.gradient_from([images[0].vector, images[1].vector]), self.assemble(images, k, m, psd))
    }

    #[inline(always)]
    fn assemble(&self, [y_plus, y_minus]: [FibreImage; 2], k: f64, m: f64, psd: Psd) -> Blocks<2> {
        // The direction of a zero vector is zero; its length multiplies it.
        let (n_plus, n_minus) = (y_plus.direction, y_minus.direction);
        let (block, radius) = self.block(k, m, &y_plus, &y_minus);
        let block = block.project_with_radius(radius, psd);
        let (base_plus, base_minus) = (psd.apply(k * self.d_plus), psd.apply(k * self.d_minus));

        // (base+ e+e+ᵀ + base- e-e-ᵀ) ⊗ I  plus  a matrix of rank two on g± = e± ⊗ n±.
        let (p, q) = (self.plus, self.minus);
        let (g, h) = ([n_plus * p.x, n_plus * p.y], [n_minus * q.x, n_minus * q.y]);
        let (a, c) = (block.a - base_plus, block.c - base_minus);
        let u = [g[0] * a + h[0] * block.b, g[1] * a + h[1] * block.b];
        let v = [g[0] * block.b + h[0] * c, g[1] * block.b + h[1] * c];
        let diagonal = |i: usize, j: usize| base_plus * p[i] * p[j] + base_minus * q[i] * q[j];
        Blocks::from_upper(
            symmetric_outer(g[0], u[0], h[0], v[0], diagonal(0, 0)),
            outer_sum(g[0], u[1], h[0], v[1], diagonal(0, 1)),
            symmetric_outer(g[1], u[1], h[1], v[1], diagonal(1, 1)),
        )
    }

    /// The six eigenpairs of the Hessian of `φ(I6)` for `k = φ'` and `m = φ''`.
    #[must_use]
    pub fn eigenpairs(&self, f: &Mat3x2, k: f64, m: f64) -> MembraneEigenpairs {
        let [y_plus, y_minus] = self.images(f);
        // Any direction completes the basis where the image is zero.
        let unit = |y: &FibreImage| if y.length == 0.0 { DVec3::X } else { y.direction };
        let (n_plus, n_minus) = (unit(&y_plus), unit(&y_minus));
        let ([high, low], [c, s]) = self.block(k, m, &y_plus, &y_minus).0.eigen();
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
