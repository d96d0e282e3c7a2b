//! The shared ground of plisse: small matrices, quantities, typed fields, triangle meshes and rest
//! shapes.
//!
//! | what | items |
//! |---|---|
//! | small linear algebra | [`Mat3x2`], [`Blocks`], [`outer`], [`Psd`], [`symmetric_eigen`], [`project_numeric`] |
//! | safe scalars and vectors | [`saturate`], [`hypot`], [`length_and_direction`], [`rarely`] |
//! | quantities checked once | [`Positive`], [`PoissonRatio`], [`Angle`], [`UnitDir2`], [`IsotropicSheet`] |
//! | typed indices and storage | [`Space`], [`Id`], [`Field`] |
//! | topology | [`TriMesh`], [`Edge`], [`generate`] |
//! | random numbers that repeat | [`SplitMix`] |
//! | rest geometry | [`RestShape`], [`TriangleMap`], [`Hinge`], [`HingeFrame`], [`hinge_angle`] |
//! | the contract between energies and solvers | [`Element`], [`StepElement`], [`ElementStep`], [`Past`], [`StepEnergy`] |
//!
//! This crate knows no energy, no solver, no thread and no file. Lengths are metres, forces
//! newtons; the conventions that every plisse crate shares are written down in the chapter
//! *Conventions* of the book.
//!
//! ```
//! use plisse_core::{generate, RestShape};
//!
//! let (mesh, uv) = generate::grid(4, 3, [1.0, 0.5], generate::Diagonal::Alternating).unwrap();
//! let rest = RestShape::from_uv(&mesh, &uv).unwrap();
//! assert_eq!(mesh.face_count(), 24);
//! assert!((rest.area() - 0.5).abs() < 1e-15);
//! assert_eq!(rest.hinges().len(), mesh.edge_count() - mesh.boundary_edges().count());
//! ```

#![cfg_attr(
    test,
    allow(
        clippy::float_cmp,
        clippy::unwrap_used,
        reason = "tests compare bits where bits are promised, and may panic"
    )
)]

mod blocks;
mod element;
mod mat3x2;
mod mesh;
mod mixed_element;
mod psd;
mod quantity;
mod random;
pub mod range;
mod rest;
mod scalar;
mod sheet;
mod space;
mod step_element;
mod symmetric_eigen;

pub use blocks::{Blocks, outer};
pub use element::{Element, ElementEvaluation};
pub use mat3x2::Mat3x2;
pub use mesh::{Edge, InvertedPiece, MeshError, TriMesh, coincident, connected_pieces, generate};
pub use mixed_element::{MixedBlocks, MixedElement};
pub use psd::Psd;
pub use quantity::{Angle, PoissonRatio, Positive, QuantityError, UnitDir2};
pub use random::SplitMix;
pub use rest::{Hinge, HingeFrame, RestError, RestShape, TriangleMap, angle_change, hinge_angle};
pub use scalar::{SATURATION, hypot, length_and_direction, rarely, saturate};
pub use sheet::IsotropicSheet;
pub use space::{Edges, Faces, Field, FieldError, Id, Space, Vertices};
pub use step_element::{ElementStep, Past, StepElement, StepEnergy};
pub use symmetric_eigen::{project_numeric, symmetric_eigen};
