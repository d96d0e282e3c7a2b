//! Cloth and thin shells on the CPU: the parts of plisse under one name.
//!
//! | module | crate | feature |
//! |---|---|---|
//! | [`core`] | `plisse-core` | always |
//! | [`eigen`] | `plisse-eigen` | `eigen` |
//! | [`membrane`] | `plisse-membrane` | `membrane` (default) |
//! | [`bending`] | `plisse-bending` | `bending` (default) |
//! | [`damping`] | `plisse-damping` | `damping` |
//! | [`collision`] | `plisse-collision` | `collision` |
//! | [`sparse`] | `plisse-sparse` | `sparse` |
//! | [`system`] | `plisse-system` | `system` |
//! | [`constrained`] | `plisse-constrained` | `constrained` |
//! | [`contact`] | `plisse-contact` | `contact` |
//! | [`wrinkle`] | `plisse-wrinkle` | `wrinkle` |
//! | [`yarn`] | `plisse-yarn` | `yarn` |
//! | [`io`] | `plisse-io` | `io` |
//! | [`picture`] | `plisse-picture` | `picture` |
//! | [`scene`] | `plisse-scene`: whole scenes | `scene` |
//! | [`mod@file`] | `plisse-scene`: scenes from files | `file` |
//!
//! Each crate can be used by itself; this one gathers them, so that their versions fit together.
//!
//! ```
//! # #[cfg(feature = "membrane")] {
//! use plisse::core::{Mat3x2, Positive, Psd};
//! use plisse::membrane::{BaraffWitkin, MembraneEnergy};
//!
//! let [warp, weft, shear] = [205.0, 1014.0, 53.0].map(|k| Positive::new(k).unwrap()); // denim, N/m
//! let denim = BaraffWitkin::from_moduli(warp, weft, shear);
//! let f = Mat3x2::from_array([0.98, 0.0, 0.0, 0.05, 1.0, 0.0]);
//! let at_f = denim.evaluate(&f, Psd::Clamp);
//! assert!(at_f.energy > 0.0 && at_f.pk1.is_finite());
//! # }
//! ```

#[cfg(feature = "bending")]
#[doc(inline)]
pub use plisse_bending as bending;
#[cfg(feature = "collision")]
#[doc(inline)]
pub use plisse_collision as collision;
#[cfg(feature = "constrained")]
#[doc(inline)]
pub use plisse_constrained as constrained;
#[cfg(feature = "contact")]
#[doc(inline)]
pub use plisse_contact as contact;
#[doc(inline)]
pub use plisse_core as core;
#[cfg(feature = "damping")]
#[doc(inline)]
pub use plisse_damping as damping;
#[cfg(feature = "eigen")]
#[doc(inline)]
pub use plisse_eigen as eigen;
#[cfg(feature = "io")]
#[doc(inline)]
pub use plisse_io as io;
#[cfg(feature = "membrane")]
#[doc(inline)]
pub use plisse_membrane as membrane;
#[cfg(feature = "picture")]
#[doc(inline)]
pub use plisse_picture as picture;
#[cfg(feature = "file")]
#[doc(inline)]
pub use plisse_scene::file;
#[cfg(feature = "scene")]
#[doc(inline)]
pub use plisse_scene::scene;
#[cfg(feature = "sparse")]
#[doc(inline)]
pub use plisse_sparse as sparse;
#[cfg(feature = "system")]
#[doc(inline)]
pub use plisse_system as system;
#[cfg(feature = "wrinkle")]
#[doc(inline)]
pub use plisse_wrinkle as wrinkle;
#[cfg(feature = "yarn")]
#[doc(inline)]
pub use plisse_yarn as yarn;

#[cfg(all(doctest, feature = "membrane", feature = "bending", feature = "file", feature = "picture"))]
mod book;
