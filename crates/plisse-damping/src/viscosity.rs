//! Dissipation potentials: convex functions of a strain rate.

use plisse_core::range::{PARAMETER, scaled_matrix};
use plisse_core::{Positive, Psd, project_numeric};
use thiserror::Error;

/// A convex function `Ψ` of the strain rate with its minimum at zero, per unit of the element's
/// weight (SO18, equation 6). Half of the power that is lost, if it is quadratic.
///
/// `at` is the strain at the start of the step, for potentials that change with it. Implement this
/// for a law of your own; the derivatives must fit, and the tangent must be symmetric and positive
/// semidefinite, else it is no damping. Strains up to 1e60 and rates up to
/// [`range::RATE`](plisse_core::range::RATE) must give finite numbers.
pub trait Potential<const K: usize>: Send + Sync {
    /// `Ψ`, zero at rest.
    fn value(&self, at: &[f64; K], rate: &[f64; K]) -> f64;

    /// The viscous stress `∂Ψ/∂ε̇`.
    fn stress(&self, at: &[f64; K], rate: &[f64; K]) -> [f64; K];

    /// `∂²Ψ/∂ε̇²`.
    fn tangent(&self, at: &[f64; K], rate: &[f64; K]) -> [[f64; K]; K];
}

impl<const K: usize, P: Potential<K> + ?Sized> Potential<K> for &P {
    fn value(&self, at: &[f64; K], rate: &[f64; K]) -> f64 {
        (**self).value(at, rate)
    }
    fn stress(&self, at: &[f64; K], rate: &[f64; K]) -> [f64; K] {
        (**self).stress(at, rate)
    }
    fn tangent(&self, at: &[f64; K], rate: &[f64; K]) -> [[f64; K]; K] {
        (**self).tangent(at, rate)
    }
}

/// Parameters that would drive a motion instead of damping it.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ViscosityError {
    /// λ and μ of no convex potential.
    #[error("lambda = {lambda}, mu = {mu}: mu and lambda + mu must not be negative, and both at most 1e60")]
    Isotropic {
        /// First parameter.
        lambda: f64,
        /// Second parameter.
        mu: f64,
    },
    /// A number that is negative or outside of the range.
    #[error("viscosity {value} of component {component}: give zero or a positive number up to 1e60")]
    Component {
        /// Which strain, from zero.
        component: usize,
        /// What was given.
        value: f64,
    },
    /// A blend without width.
    #[error("blend from {straight} to {bent} rad: give 0 <= straight < bent <= pi")]
    Blend {
        /// Where it begins.
        straight: f64,
        /// Where it ends.
        bent: f64,
    },
    /// An exponent outside of the range.
    #[error("exponent {value}: from 1 (dry friction at high rates) over 2 (linear) to 4")]
    Exponent {
        /// What was given.
        value: f64,
    },
}

/// Viscosities beyond the range of parameters are refused.
const LARGEST: f64 = *PARAMETER.end();

/// Linear viscosity: `Ψ = ½ ε̇ᵀ D ε̇` with a constant positive semidefinite matrix `D`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viscosity<const K: usize> {
    matrix: [[f64; K]; K],
}

impl<const K: usize> Viscosity<K> {
    /// One number for each component of the strain: warp, weft and shear of a fabric, for example.
    /// Zero leaves one undamped.
    pub fn per_component(values: [f64; K]) -> Result<Self, ViscosityError> {
        let mut matrix = [[0.0; K]; K];
        for (component, value) in values.into_iter().enumerate() {
            if !(0.0..=LARGEST).contains(&value) {
                return Err(ViscosityError::Component { component, value });
            }
            matrix[component][component] = value;
        }
        Ok(Self { matrix })
    }

    /// The Rayleigh-equivalent potential of a material with constant moduli (SO18, equation 12):
    /// `beta` seconds times the second derivative of its energy by the strain, negative eigenvalues
    /// of which count as zero. The upper triangle is not read.
    pub fn of_elasticity(beta: Positive, modulus: &[[f64; K]; K]) -> Result<Self, ViscosityError> {
        for component in 0..K {
            for j in 0..=component {
                let value = modulus[component][j] * beta.get();
                if !(-LARGEST..=LARGEST).contains(&value) {
                    return Err(ViscosityError::Component { component, value });
                }
            }
        }
        Ok(Self { matrix: damped(beta, modulus) })
    }

    /// `D`.
    #[must_use]
    pub fn matrix(&self) -> &[[f64; K]; K] {
        &self.matrix
    }
}

impl Viscosity<3> {
    /// An isotropic sheet (SO18, equation 16): `D` of `λ_d` and `μ_d` in N s/m, for strains
    /// `(E_xx, E_yy, 2 E_xy)` along orthonormal axes.
    pub fn isotropic(lambda: f64, mu: f64) -> Result<Self, ViscosityError> {
        if !(lambda.is_finite() && mu.is_finite() && mu >= 0.0 && lambda + mu >= 0.0) {
            return Err(ViscosityError::Isotropic { lambda, mu });
        }
        let p = lambda + 2.0 * mu;
        if p > LARGEST {
            return Err(ViscosityError::Isotropic { lambda, mu });
        }
        Ok(Self { matrix: [[p, lambda, 0.0], [lambda, p, 0.0], [0.0, 0.0, mu]] })
    }
}

/// `β` times the part of a symmetric matrix without its negative eigenvalues.
fn damped<const K: usize>(beta: Positive, modulus: &[[f64; K]; K]) -> [[f64; K]; K] {
    let symmetric: [[f64; K]; K] =
        std::array::from_fn(|i| std::array::from_fn(|j| modulus[i.max(j)][i.min(j)] * beta.get()));
    let is_diagonal = (0..K).all(|i| (0..i).all(|j| symmetric[i][j] == 0.0));
    let clamped = if is_diagonal {
        // Most moduli are; their eigenvalues are at hand.
        std::array::from_fn(|i| symmetric[i].map(|value| Psd::Clamp.apply(value)))
    } else {
        project_numeric(&symmetric, Psd::Clamp)
    };
    scaled_matrix(&clamped, 1.0)
}

#[inline]
pub(crate) fn times<const K: usize>(m: &[[f64; K]; K], v: &[f64; K]) -> [f64; K] {
    std::array::from_fn(|i| m[i].iter().zip(v).map(|(m, v)| m * v).sum())
}

#[inline]
pub(crate) fn dot<const K: usize>(a: &[f64; K], b: &[f64; K]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl<const K: usize> Potential<K> for Viscosity<K> {
    #[inline]
    fn value(&self, _: &[f64; K], rate: &[f64; K]) -> f64 {
        0.5 * dot(rate, &times(&self.matrix, rate))
    }
    #[inline]
    fn stress(&self, _: &[f64; K], rate: &[f64; K]) -> [f64; K] {
        times(&self.matrix, rate)
    }
    #[inline]
    fn tangent(&self, _: &[f64; K], _: &[f64; K]) -> [[f64; K]; K] {
        self.matrix
    }
}

/// Viscosity in proportion to an elasticity that is not linear (SO18, equation 12): `beta` seconds
/// times the second derivative of the elastic energy by the strain, taken at the strain at the
/// start of the step, without its negative eigenvalues.
///
/// Those would make the damping a motor: many energies have them in compression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElasticViscosity<M> {
    beta: Positive,
    modulus: M,
}

impl<M> ElasticViscosity<M> {
    /// `modulus` gives the symmetric second derivative for a strain.
    #[must_use]
    pub fn new(beta: Positive, modulus: M) -> Self {
        Self { beta, modulus }
    }
}

impl<const K: usize, M: Fn(&[f64; K]) -> [[f64; K]; K] + Send + Sync> Potential<K> for ElasticViscosity<M> {
    #[inline]
    fn value(&self, at: &[f64; K], rate: &[f64; K]) -> f64 {
        0.5 * dot(rate, &self.stress(at, rate))
    }
    #[inline]
    fn stress(&self, at: &[f64; K], rate: &[f64; K]) -> [f64; K] {
        times(&self.tangent(at, rate), rate)
    }
    #[inline]
    fn tangent(&self, at: &[f64; K], _: &[f64; K]) -> [[f64; K]; K] {
        damped(self.beta, &(self.modulus)(at))
    }
}

/// Viscosity of a [`RodJoint`](crate::RodJoint): `c/2 (s θ̇² + (1 - s) |κ̇|²)` with a smooth step
/// `s` from the vector below 0.05 rad to the angle above 0.15 rad, by the angle at the start of the
/// step.
///
/// Straight rods need the vector, bent ones must have the angle: the vector of a bent rod changes
/// when it turns about any axis but the normal of its plane, by up to `2 tan(θ/2)` times the turn,
/// and would damp that. **Rigid turns are free from the end of the blend on, and for straight rods;
/// in between they cost a power of `c (1 - s) (2 tan(θ/2))²` times the square of the turning
/// rate.** A curved wire that is divided into joints of less than the blend (more than 42 per
/// circle) and turns fast should have a smaller one, [`JointViscosity::with_blend`]; the smaller,
/// the stiffer the force changes where a joint passes the straight state within a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointViscosity {
    viscosity: f64,
    blend: [f64; 2],
}

impl JointViscosity {
    /// Below this angle only the vector counts, unless told otherwise, rad.
    pub const STRAIGHT: f64 = 0.05;
    /// From this angle on only the angle counts, unless told otherwise, rad.
    pub const BENT: f64 = 0.15;

    /// Viscosity `c` in N m s.
    #[must_use]
    pub fn new(viscosity: Positive) -> Self {
        Self { viscosity: viscosity.get(), blend: [Self::STRAIGHT, Self::BENT] }
    }

    /// With another blend: only the vector below the angle `straight`, only the angle from `bent`
    /// on, in radians; `0 ≤ straight < bent ≤ π`.
    pub fn with_blend(self, straight: f64, bent: f64) -> Result<Self, ViscosityError> {
        if 0.0 <= straight && straight < bent && bent <= std::f64::consts::PI {
            Ok(Self { blend: [straight, bent], ..self })
        } else {
            Err(ViscosityError::Blend { straight, bent })
        }
    }

    /// Viscosities of angle and vector at an angle.
    #[inline]
    fn shares(&self, theta: f64) -> [f64; 2] {
        let [straight, bent] = self.blend;
        let t = ((theta - straight) / (bent - straight)).clamp(0.0, 1.0);
        let s = t * t * (3.0 - 2.0 * t);
        [self.viscosity * s, self.viscosity * (1.0 - s)]
    }
}

impl Potential<4> for JointViscosity {
    #[inline]
    fn value(&self, at: &[f64; 4], rate: &[f64; 4]) -> f64 {
        0.5 * dot(rate, &self.stress(at, rate))
    }
    #[inline]
    fn stress(&self, at: &[f64; 4], rate: &[f64; 4]) -> [f64; 4] {
        let [angle, vector] = self.shares(at[0]);
        [angle * rate[0], vector * rate[1], vector * rate[2], vector * rate[3]]
    }
    #[inline]
    fn tangent(&self, at: &[f64; 4], _: &[f64; 4]) -> [[f64; 4]; 4] {
        let [angle, vector] = self.shares(at[0]);
        let mut t = [[0.0; 4]; 4];
        t[0][0] = angle;
        for k in 1..4 {
            t[k][k] = vector;
        }
        t
    }
}
