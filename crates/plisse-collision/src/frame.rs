//! Second derivatives of the distance, and Hessians of contact energies ψ(d) in all their forms.
//!
//! The features that hold the closest points have `k` parameters: none for two points, one for a
//! point and an edge, two for interiors. Let `c` be the weights of the closest points, `n` the
//! normal, and for each parameter `m` a direction `Cₘ` in the space of weights with its image
//! `Eₘ = Σᵢ Cₘᵢ xᵢ`, chosen such that the `Cₘ` are orthonormal and the `Eₘ` orthogonal. With
//! `eₘ = Eₘ/|Eₘ|` and `wₘ = Cₘ/|Eₘ|`, and `a ⊗ v` for the vector with the parts `aᵢ v`,
//!
//! ```text
//! ∇d  = c ⊗ n
//! ∇²d = 1/d ccᵀ ⊗ (I - nnᵀ - Σ eₘeₘᵀ) - Σ [ (c⊗eₘ)(wₘ⊗n)ᵀ + (wₘ⊗n)(c⊗eₘ)ᵀ + d (wₘ⊗n)(wₘ⊗n)ᵀ ]
//! ```
//!
//! One formula serves all features. Interiors have no 1/d. For the derivation see the chapter
//! *Distances* of the book.

use glam::{DMat3, DVec3};
use plisse_core::range::{FACTOR, limit, limit_vector};
use plisse_core::{Blocks, length_and_direction, outer};
use plisse_eigen::Sym2;

use crate::closest::{Closest, Feature};
use crate::hull::{LONGEST, SHORTEST};
use crate::nearest_hessian::nearest_hessian;

/// Which Hessian of a contact energy ψ(d).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ContactHessian {
    /// The true second derivative, whatever its signs.
    Exact,
    /// `[ψ'']₊ ∇d ∇dᵀ`, of rank one. What it leaves out is small: its eigenvalues are about
    /// `±ψ'/h` with the edge length `h`, beside `ψ'/g` with the gap `g`. In Newton's method it
    /// converges as well as the others, and it is the cheapest.
    #[default]
    GaussNewton,
    /// Positive semidefinite in closed form: ψ'∇²d splits into orthogonal 2×2 blocks, which are
    /// projected one by one, beside `[ψ'']₊ ∇d ∇dᵀ`. Not quite the nearest such matrix to the sum:
    /// its distance to the true Hessian is a few percent larger.
    Closed,
    /// The nearest positive semidefinite matrix, by an eigensystem of size 5.
    Nearest,
}

/// The local geometry of a closest pair: what second derivatives need beside [`Closest`].
///
/// In derivatives, lengths and distances outside of 1e-50 m to 1e50 m count as the ends of this
/// range, and derivatives of ψ beyond ±1e150 as ±1e150: products then stay finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactFrame<const V: usize> {
    pub(crate) weights: [f64; V],
    pub(crate) distance: f64,
    pub(crate) normal: DVec3,
    /// Unit vectors across the normal; the first `free` of them are `eₘ`.
    pub(crate) tangents: [DVec3; 2],
    /// `wₘ`; zero from `free` on.
    pub(crate) slides: [[f64; V]; 2],
    /// How many parameters the features have.
    pub(crate) free: usize,
}

impl<const V: usize> ContactFrame<V> {
    /// The frame of a closest pair; `x` are the vertices it was computed from.
    ///
    /// Where the primitives touch, the normal and with it all derivatives are zero.
    #[must_use]
    pub fn new(closest: &Closest<V>, x: &[DVec3; V]) -> Self {
        let n = closest.normal;
        let mut frame = Self {
            weights: closest.weights,
            distance: closest.distance.clamp(SHORTEST, LONGEST),
            normal: n,
            tangents: [DVec3::ZERO; 2],
            slides: [[0.0; V]; 2],
            free: 0,
        };
        if closest.is_touching() {
            return frame;
        }
        let between = |i: usize, j: usize| limit_vector(x[i] - x[j], LONGEST);
        // 1/√2, 1/√3 and 1/√6 make the directions of weights orthonormal.
        let (root2, root6) = (std::f64::consts::FRAC_1_SQRT_2, 1.0 / 6f64.sqrt());
        match closest.feature {
            Feature::PointPoint(_) => {
                let (a, b) = n.any_orthonormal_pair();
                frame.tangents = [a, b];
            }
            Feature::PointEdge { edge: [i, j], .. } => {
                let (length, direction) = length_and_direction(between(i, j) * root2);
                let tangent = across(n, direction);
                frame.tangents = [tangent, n.cross(tangent)];
                let w = root2 / length.clamp(SHORTEST, LONGEST);
                (frame.slides[0][i], frame.slides[0][j]) = (w, -w);
                frame.free = 1;
            }
            Feature::PointTriangle => {
                let (u, v) = (between(2, 1), between(3, 1));
                let area = u.cross(v).length() * (root2 * root6 * 2.0);
                frame.slide(
                    [(u - v) * root2, -(u + v) * root6],
                    [&[0.0, 0.0, root2, -root2], &[0.0, 2.0 * root6, -root6, -root6]],
                    area,
                );
            }
            Feature::EdgeEdge => {
                let (u, v) = (between(1, 0), between(2, 3));
                frame.slide(
                    [u * root2, v * root2],
                    [&[-root2, root2, 0.0, 0.0], &[0.0, 0.0, root2, -root2]],
                    u.cross(v).length() * 0.5,
                );
            }
        }
        frame
    }

    /// Rotates the two parameters such that their images are orthogonal. `area` is the length of
    /// the cross product of the images, computed from the edges: in slivers the shorter image
    /// cancels, but area over length does not.
    #[inline]
    fn slide(&mut self, image: [DVec3; 2], weights: [&[f64; 4]; 2], area: f64) {
        let [p, q] = image;
        let (_, [cos, sin]) = Sym2::new(p.length_squared(), p.dot(q), q.length_squared()).eigen();
        let (long, short) = (p * cos + q * sin, q * cos - p * sin);
        let (length, direction) = length_and_direction(long);
        let length = length.clamp(SHORTEST, LONGEST);
        let tangent = across(self.normal, direction);
        let other = self.normal.cross(tangent);
        let other = if other.dot(short) < 0.0 { -other } else { other };
        let inverse = [1.0 / length, 1.0 / (area / length).clamp(SHORTEST, LONGEST)];
        // Only stencils of four vertices come here; the others have no second parameter.
        for i in 0..V.min(4) {
            self.slides[0][i] = (weights[0][i] * cos + weights[1][i] * sin) * inverse[0];
            self.slides[1][i] = (weights[1][i] * cos - weights[0][i] * sin) * inverse[1];
        }
        self.tangents = [tangent, other];
        self.free = 2;
    }

    /// How many parameters the closest features have: 0 for two points, 1 for a point and an edge,
    /// 2 for interiors.
    #[inline]
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.free
    }

    /// Two unit vectors that complete the normal to an orthonormal frame, along the features where
    /// they have a direction. Zero where the primitives touch.
    #[inline]
    #[must_use]
    pub fn tangents(&self) -> [DVec3; 2] {
        self.tangents
    }

    /// The Hessian of an energy ψ(d) by the vertices, from the `slope` ψ'(d) and the `curvature`
    /// ψ''(d).
    ///
    /// For ψ in joules the result is in N/m. The distance itself has slope 1 and curvature 0, its
    /// square `2 d` and 2.
    ///
    /// ```
    /// use glam::DVec3;
    /// use plisse_collision::{ContactFrame, ContactHessian, point_point};
    /// let x = [DVec3::new(0.0, 3.0, 4.0), DVec3::ZERO];
    /// let closest = point_point(x[0], x[1]);
    /// let frame = ContactFrame::new(&closest, &x);
    /// let square = frame.hessian(2.0 * closest.distance(), 2.0, ContactHessian::Exact);
    /// assert!((square.entry(1, 1) - 2.0).abs() < 1e-15 && (square.entry(1, 4) + 2.0).abs() < 1e-15);
    /// ```
    #[must_use]
    pub fn hessian(&self, slope: f64, curvature: f64, form: ContactHessian) -> Blocks<V> {
        let (slope, curvature) = (limit(slope, FACTOR), limit(curvature, FACTOR));
        match form {
            ContactHessian::Exact => {
                let block = Sym2::new(0.0, -slope, -slope * self.distance);
                self.assemble(curvature, [block, block], slope / self.distance)
            }
            ContactHessian::GaussNewton => {
                let mut out = Blocks::ZERO;
                out.add_outer(&self.weights.map(|c| self.normal * c), positive(curvature));
                out
            }
            ContactHessian::Closed => {
                let c = self.weights.iter().map(|c| c * c).sum::<f64>().sqrt();
                let block = |m: usize| {
                    let w = self.slides[m].iter().map(|w| w * w).sum::<f64>().sqrt();
                    if w == 0.0 {
                        return Sym2::new(0.0, 0.0, 0.0);
                    }
                    let unit = Sym2::new(0.0, -slope * c * w, -slope * self.distance * w * w);
                    let unit = unit.project(plisse_core::Psd::Clamp);
                    Sym2::new(unit.a / (c * c), unit.b / (c * w), unit.c / (w * w))
                };
                self.assemble(positive(curvature), [block(0), block(1)], positive(slope) / self.distance)
            }
            ContactHessian::Nearest => nearest_hessian(self, slope, curvature),
        }
    }

    /// `curvature GGᵀ + Σ (A (c⊗e)(c⊗e)ᵀ + B ((c⊗e)(w⊗n)ᵀ + (w⊗n)(c⊗e)ᵀ) + C (w⊗n)(w⊗n)ᵀ)` over the
    /// parameters, and `turn (c⊗e)(c⊗e)ᵀ` for the tangents that are left: in blocks of the frame
    /// n, e₁, e₂.
    #[inline]
    fn assemble(&self, curvature: f64, blocks: [Sym2; 2], turn: f64) -> Blocks<V> {
        let blocks = [0, 1].map(|m| if m < self.free { blocks[m] } else { Sym2::new(turn, 0.0, 0.0) });
        let (c, w, n, e) = (&self.weights, &self.slides, self.normal, self.tangents);
        let mut out = Blocks::ZERO;
        for i in 0..V {
            for j in 0..=i {
                let mut normal = n
                    * (curvature * c[i] * c[j]
                        + blocks[0].c * w[0][i] * w[0][j]
                        + blocks[1].c * w[1][i] * w[1][j]);
                let mut block = DMat3::ZERO;
                for m in 0..2 {
                    normal += e[m] * (blocks[m].b * w[m][i] * c[j]);
                    block +=
                        outer(e[m], e[m] * (blocks[m].a * c[i] * c[j]) + n * (blocks[m].b * c[i] * w[m][j]));
                }
                out.0[i][j] = block + outer(n, normal);
            }
        }
        out.mirrored()
    }
}

/// The unit vector nearest to `direction` among those that are orthogonal to the unit vector `n`:
/// rounding tilts directions against normals, and the blocks must be orthogonal.
#[inline]
fn across(n: DVec3, direction: DVec3) -> DVec3 {
    let (length, tangent) = length_and_direction(direction - n * n.dot(direction));
    // Edges of stencils far below the range have lost their direction.
    if length > 0.5 { tangent } else { n.any_orthonormal_vector() }
}

#[inline]
fn positive(x: f64) -> f64 {
    // Not f64::max, which would turn NaN into zero.
    if x < 0.0 { 0.0 } else { x }
}
