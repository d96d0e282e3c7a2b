//! Membrane energies of triangles: exact derivatives, closed-form eigensystems, projections that
//! can be trusted.
//!
//! An energy is a density per rest area, in J/m², of the 3×2 deformation gradient `F`. Every energy
//! gives its value, its stress `P = ∂ψ/∂F`, and its Hessian: exact, clamped or with absolute
//! eigenvalues ([`Psd`]).
//!
//! | energy | density | paper |
//! |---|---|---|
//! | [`Stretch`] | `(‖Fa‖ - bu)² + (‖Fb‖ - bv)²` | Kim20, equation 13 |
//! | [`QuarticStretch`] | `(‖Fa‖ - bu)⁴ + (‖Fb‖ - bv)⁴` | Kim20, equation 43 |
//! | [`GreenStretch`] | `(I5(a) - bu²)² + (I5(b) - bv²)²` | |
//! | [`Shear`] | `(I6(a, b) - d)²` | Kim20, equations 11 and 42 |
//! | [`QuarticShear`] | `(I6(a, b) - d)⁴` | Kim20, equation 44 |
//! | [`Arap`] | `μ ‖F - R‖²` | Kim20, section 4.2 |
//! | [`StVenantKirchhoff`] | `μ ‖E‖² + λ/2 tr²E` | |
//! | [`TensionField`] | the same without compression | Chen21, section 4.1 |
//! | [`Corotational`] | `μ ‖F - R‖² + λ/2 (I1 - 2)²` | |
//! | [`NeoHookeanLog`] | `μ/2 (I2 - 2) - μ ln J + λ/2 ln²J` | |
//! | [`NeoHookeanIncompressible`] | `μ/2 (I2 + 1/J² - 3)` | |
//! | [`NeoHookeanStable`] | `μ/2 (I2 - 2) - μ (J - 1) + (λ + μ)/2 (J - 1)²` | |
//! | [`Scaled`], [`Sum`], [`BaraffWitkin`] | combinations | |
//! | [`StrainLimit`] | a barrier of the largest stretch; infinite beyond | |
//!
//! **Promise.** For every finite `F`, zero and rank-deficient ones and any scale included, every
//! function returns finite numbers; what does not fit into `f64` saturates near ±1e300
//! ([`range`](plisse_core::range)). What an energy returns where it has no derivative is written on
//! its page. NaN in, NaN out.
//!
//! This crate knows no mesh connectivity, no solver, no thread and no file.
//!
//! ```
//! use plisse_core::{IsotropicSheet, Mat3x2, PoissonRatio, Positive, Psd};
//! use plisse_membrane::{Eigenanalysis, Lame, MembraneEnergy, StVenantKirchhoff};
//!
//! // A rubber sheet: 1 MPa, ν = 0.4, 0.5 mm thick.
//! let film = IsotropicSheet::new(Positive::new(1e6)?, PoissonRatio::new(0.4)?, Positive::new(0.5e-3)?);
//! let lame = Lame::plane_stress(&film)?;
//! let energy = StVenantKirchhoff::new(lame);
//! let f = Mat3x2::from_array([1.1, 0.0, 0.0, 0.0, 0.9, 0.0]);
//! let stress = energy.pk1(&f); // N/m
//! let stiffness = energy.hessian(&f, Psd::Clamp); // positive semidefinite
//! assert!(stress.c0.x > 0.0 && stress.c1.y < 0.0);
//! assert!(energy.eigensystem(&f).sorted_values()[0] < 0.0, "compressed sheets buckle");
//! # let _ = stiffness;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Psd`]: plisse_core::Psd

mod baraff_witkin;
mod element;
mod energy;
mod fibre;
mod isotropic;
mod law;
mod limit;
mod material;
mod shear;

pub use baraff_witkin::BaraffWitkin;
pub use element::MembraneElement;
pub use energy::{Eigenanalysis, Evaluation, MembraneEnergy, Scaled, Sum};
pub use fibre::{Fibre, FibrePair, GreenStretch, QuarticStretch, Stretch};
pub use isotropic::{
    Arap, ArapLaw, Corotational, CorotationalLaw, Isotropic, IsotropicLaw, NeoHookeanIncompressible,
    NeoHookeanIncompressibleLaw, NeoHookeanLog, NeoHookeanLogLaw, NeoHookeanStable, NeoHookeanStableLaw,
    StVenantKirchhoff, StVenantKirchhoffLaw, TensionField, TensionFieldLaw, TensionRegime,
};
pub use law::{FibreLaw, Green, Quadratic, Quartic, ShearLaw};
pub use limit::{LimitedStretch, StrainLimit, StrainLimitElement};
pub use material::{Lame, MaterialError};
pub use shear::{CrossFibre, QuarticShear, Shear};
