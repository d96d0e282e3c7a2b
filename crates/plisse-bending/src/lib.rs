//! Bending of rods and shells: exact derivatives, filters that hold on every mesh.
//!
//! | what | items | paper |
//! |---|---|---|
//! | scalar laws of an angle | [`AngleEnergy`]: [`QuadraticAngle`], [`TangentAngle`], [`SineAngle`], [`CosineAngle`], [`PrintedCosine`] | WK23, equations 33 to 39 |
//! | shells, four vertices | [`HingeElement`], [`HingeWeight`] | WK23, section 5 |
//! | the same with damping | [`DampedHinge`] | SO18, equation 12 |
//! | rods, three vertices | [`RodElement`]; stretching [`RodStretch`]; wire nets [`Net`] | WK23, section 4 |
//! | the plane | [`PlanarAngle`] | WK23, section 3 |
//! | constant matrices | [`QuadraticBending`] on vertices or on edges | EB08, Chen21 |
//! | mid-edge curvature | [`KoiterBending`], [`DirectorBending`], [`Director`], [`Plate`] | Chen21 |
//!
//! A law knows no vertices; the elements know no law. Evaluation of an element never fails and
//! returns finite numbers for every finite state; what happens at a fold, at a straight rod and at
//! degenerate triangles is written with each.
//!
//! This crate reads connectivity only to build stencils and constant matrices; it knows no solver,
//! no thread and no file.
//!
//! ```
//! use plisse_bending::{HingeElement, HingeWeight, QuadraticAngle};
//! use plisse_core::{generate, Element, Positive, Psd, RestShape};
//!
//! let (mesh, uv) = generate::grid(4, 4, [0.2, 0.2], generate::Diagonal::Alternating)?;
//! let rest = RestShape::from_uv(&mesh, &uv)?;
//! let rigidity = Positive::new(1e-5)?; // N m
//! let x = generate::embed(&uv).map(|p| glam::DVec3::new(p.x, p.y, 0.1 * p.x * p.x));
//! let energy: f64 = rest
//!     .hinges()
//!     .iter()
//!     .map(|hinge| HingeElement::new(hinge, QuadraticAngle, rigidity, HingeWeight::DiscreteShells))
//!     .map(|hinge| hinge.energy(&hinge.nodes().map(|v| x[v])))
//!     .sum();
//! assert!(energy > 0.0);
//! # let hinge = HingeElement::new(&rest.hinges()[0], QuadraticAngle, rigidity, HingeWeight::Unit);
//! # assert!(hinge.hessian(&hinge.nodes().map(|v| x[v]), Psd::Clamp).is_finite());
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

mod damped_hinge;
mod director;
mod fold;
mod free;
mod hinge;
mod koiter;
mod law;
mod net;
mod planar;
mod plate;
mod quadratic;
mod rod;

pub use damped_hinge::{DampedHinge, HingeStart};
pub use director::DirectorBending;
pub use hinge::{HingeElement, HingeWeight};
pub use koiter::{Director, KoiterBending, KoiterEvaluation};
pub use law::{AngleEnergy, CosineAngle, PrintedCosine, QuadraticAngle, SineAngle, TangentAngle};
pub use net::{Net, NetError};
pub use planar::PlanarAngle;
pub use plate::{Plate, PlateError};
pub use plisse_eigen::HingeFilter;
pub use quadratic::QuadraticBending;
pub use rod::{RodElement, RodStretch, wire_rigidity};
