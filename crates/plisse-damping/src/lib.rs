//! Strain-rate damping (SO18): forces that act on changes of deformation only.
//!
//! A [`Strain`] measures deformation, a [`Potential`] says how much its rate costs, and
//! [`Dissipation`] makes an element of both. Rigid motions are free: falling, turning and swinging
//! cloth is not slowed down, whatever the strength. (Slightly bent wires are the one exception, see
//! [`JointViscosity`].)
//!
//! | strain | components | of |
//! |---|---|---|
//! | [`GreenStrain`] | `(E_xx, E_yy, 2 E_xy)` | triangles |
//! | [`FibreStrain`] | stretches of warp and weft, shear | triangles |
//! | [`StretchTensor`] | `U - I` of `F = R U`, with the rate of `R` | triangles |
//! | [`HingeAngle`] | the angle | two triangles |
//! | [`RodJoint`] | angle and curvature vector | two segments |
//! | [`EdgeStretch`] | `|e|/L - 1` | edges, springs |
//!
//! | potential | |
//! |---|---|
//! | [`Viscosity`] | constant: `λ_d` and `μ_d`, one number per component, or `β` times an elasticity |
//! | [`ElasticViscosity`] | `β` times an elasticity that changes with the strain |
//! | [`RateDependent`] | one of these two, thinner or thicker with the rate |
//! | [`JointViscosity`] | for [`RodJoint`] |
//! | your own | implement [`Potential`] |
//!
//! [`VelocityForm`] takes strain rates from velocities and [`RayleighElement`] is the usual damping
//! in proportion to stiffness: both for comparison. Hinges of `plisse-bending` can have damping of
//! their own, for a fraction of what a second element would cost.
//!
//! Every finite state gives finite energies, forces and Hessians; what lies outside of the ranges
//! of [`range`](plisse_core::range) counts as their ends.
//!
//! This crate knows no mesh connectivity, no solver, no thread and no file.
//!
//! ```
//! use glam::{DVec2, DVec3};
//! use plisse_core::{Id, Positive, TriangleMap};
//! use plisse_damping::{Dissipation, GreenStrain, OnTriangle, Viscosity};
//!
//! let map = TriangleMap::new([DVec2::ZERO, DVec2::X, DVec2::Y]).ok_or("no area")?;
//! let strain = OnTriangle::new(map, GreenStrain::default());
//! let area = Positive::new(map.area())?;
//! let nodes = [Id::new(0), Id::new(1), Id::new(2)];
//! let damping = Dissipation::new(nodes, strain, Viscosity::isotropic(0.3, 0.5)?, area);
//! let x = [DVec3::ZERO, DVec3::X, DVec3::Y];
//! // Turning about z costs nothing, stretching along x does.
//! let turning = x.map(|x| DVec3::Z.cross(x));
//! assert!(damping.power(&x, &turning).abs() < 1e-15);
//! assert!(damping.power(&x, &[DVec3::ZERO, DVec3::X, DVec3::ZERO]) < -0.1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(
    test,
    allow(
        clippy::float_cmp,
        clippy::unwrap_used,
        reason = "tests compare bits where bits are promised, and may panic"
    )
)]

mod angles;
mod baraff_witkin;
mod corotational;
mod dissipation;
mod edge;
mod green;
mod rate_dependent;
mod rayleigh;
mod start;
mod strain;
mod triangle;
mod velocity_form;
mod viscosity;

pub use angles::{HingeAngle, JointFrame, RodJoint};
pub use baraff_witkin::{FibreImages, FibreStrain};
pub use corotational::{Polar, StretchTensor};
pub use dissipation::{Dissipation, PositionJacobian};
pub use edge::EdgeStretch;
pub use green::GreenStrain;
pub use rate_dependent::{RateDependent, RateLaw};
pub use rayleigh::{RayleighElement, RayleighStiffness};
pub use start::StrainStart;
pub use strain::Strain;
pub use triangle::{OnTriangle, PlaneHessian, PlaneStrain};
pub use velocity_form::VelocityForm;
pub use viscosity::{ElasticViscosity, JointViscosity, Potential, Viscosity, ViscosityError};
