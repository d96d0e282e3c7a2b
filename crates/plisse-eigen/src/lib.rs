//! Closed-form eigensystems of membrane and bending energies: invariants, projection kernels,
//! frames.
//!
//! For people who write an energy of their own: give the scalar derivatives, get the Hessian, its
//! projection and its eigenpairs. Nothing here iterates, allocates or fails.
//!
//! | kernel | for energies of the form | page of the book |
//! |---|---|---|
//! | [`FibreImage`], [`radial_hessian`] | ψ(‖Fa‖) | stretch |
//! | [`ShearBasis`] | φ((Fa)·(Fb)) | shear |
//! | [`PolarFrame`] | ψ(σ₀, σ₁), isotropic | isotropic membranes |
//! | [`AngleFrame`], [`in_plane`] | ψ(θ) of two edges | rods |
//! | [`hinge_hessian`], [`HingeFilter`] | ψ(θ) of two triangles | hinges |
//! | [`HingeFade`], [`TriangleFade`] | w ψ(θ), where triangles collapse | hinges |
//! | [`Sym2`] | the 2×2 block that is left in each of them | kernels |
//! | [`Eigenpairs`] | what an analysis returns: values, modes, `rebuild(psd)` | kernels |
//!
//! This crate knows no energy, no mesh, no solver and no file.
//!
//! ```
//! use plisse_core::{Mat3x2, Psd};
//! use plisse_eigen::{IsotropicModuli, PolarFrame, Sym2};
//!
//! // ψ = ½ ‖F‖² = ½ (σ₀² + σ₁²): every modulus is one, and the Hessian is the identity.
//! let frame = PolarFrame::new(&Mat3x2::from_array([1.1, 0.2, -0.1, 0.1, 0.8, 0.3]));
//! let ones = IsotropicModuli { stretch: Sym2::new(1.0, 0.0, 1.0), twist: 1.0, flip: 1.0, normal: [1.0; 2] };
//! let identity = frame.hessian(&ones, Psd::Clamp);
//! assert!((identity.entry(4, 4) - 1.0).abs() < 1e-15 && identity.entry(0, 4).abs() < 1e-15);
//! ```

#![cfg_attr(
    test,
    allow(
        clippy::float_cmp,
        clippy::unwrap_used,
        reason = "tests compare bits where bits are promised, and may panic"
    )
)]

mod angle;
mod eigenpairs;
mod fade;
mod fibre_image;
mod hinge;
pub mod invariants;
mod isotropic;
mod outer;
mod radial;
mod shear;
mod sym2;

pub use angle::{AngleFrame, in_plane};
pub use eigenpairs::{Eigenpairs, MembraneEigenpairs};
pub use fade::{HingeFade, TriangleFade, fade_weight};
pub use fibre_image::FibreImage;
pub use hinge::{HingeFilter, hinge_form, hinge_hessian};
pub use isotropic::{IsotropicModuli, PolarFrame, Stretches};
pub use radial::radial_hessian;
pub use shear::ShearBasis;
pub use sym2::Sym2;
