//! Whole scenes: cloth, wires and obstacles with materials, pins and motions.
//!
//! | what | items |
//! |---|---|
//! | the scene | [`Scene`], [`SceneBuilder`], [`Settings`], [`Air`], [`SceneError`], [`SceneWarning`] |
//! | bodies | [`Cloth`], [`MaxStretch`], [`Limited`], [`Model`], [`Filling`], [`Wires`], [`Wire`], [`Yarns`], [`DrawnYarns`], [`BodyContact`], [`BodyInfo`], [`Kind`] |
//! | materials | [`Material`], [`Membrane`], [`Stretching`], [`Shearing`], [`Bending`], [`Rigidity`], [`AngleLaw`], [`Damping`], [`StrainRate`], [`Preset`] |
//! | pins, forces and motions | [`Pick`], [`Hold`], [`Grip`], [`Timeline`], [`Keyframes`], [`Keyframe`], [`rotation_degrees`] |
//! | obstacles | [`Obstacle`], [`MeshFrame`], [`Solid`], [`Contact`], [`Distance`], [`DrawnSurface`] |
//! | of one's own | [`Cloth::membrane`], [`Cloth::angle_law`], [`SceneBuilder::term`] with [`Bodies`], [`Solid`], [`SceneBuilder::integrator`] |
//! | wrinkles on an equilibrium | [`WrinkleScene`], [`WrinkleOptions`], [`WrinkleBase`], [`WrinkleFrame`] (with the feature `wrinkle`) |
//! | whether anything crosses | [`Scene::crossings`], [`Crossings`], [`CrossedFaces`], [`MayCross`] |
//! | surfaces to look at | [`Scene::smooth_sheets`], [`SmoothSheet`] |
//! | starts that cross | [`CrossedStart`] |
//! | going on later | [`Checkpoint`], [`CheckpointError`], [`digest`] |
//!
//! Bodies are placed with z upwards, and gravity points against z, unless something else is said.

mod air;
mod assembly;
mod bodies;
mod body;
mod builder;
mod checkpoint;
mod cloth;
mod crossings;
mod damping;
mod dashpots;
mod developable;
mod directors;
mod drag;
mod drawn_yarns;
mod error;
mod friction;
mod material;
mod motion;
mod obstacle;
mod own;
mod pick;
mod pins;
mod plausible;
#[allow(clippy::module_inception, reason = "the scene of the module of scenes")]
mod scene;
mod smooth;
mod stages;
mod start;
mod strain_limit;
mod surroundings;
mod terms;
mod timeline;
mod touching;
mod warning;
mod wires;
#[cfg(feature = "wrinkle")]
mod wrinkle;
mod yarns;

pub use air::Air;
pub use bodies::Bodies;
pub use body::rotation_degrees;
pub use builder::{SceneBuilder, Settings};
pub use checkpoint::{Checkpoint, CheckpointError, digest};
pub use cloth::{Cloth, Filling, Model};
pub use crossings::{CrossedFaces, CrossedStart, Crossings, MayCross};
pub use damping::{Damping, StrainRate};
pub use drawn_yarns::DrawnYarns;
pub use error::SceneError;
#[cfg(feature = "file")]
pub(crate) use friction::PairFrictions;
pub use material::{AngleLaw, Bending, Material, Membrane, Preset, Rigidity, Shearing, Stretching};
pub use motion::{Keyframe, Keyframes};
pub use obstacle::{Contact, Distance, DrawnSurface, MeshFrame, Obstacle, Solid};
pub use pick::Pick;
pub use pins::{Grip, Hold};
#[cfg(feature = "file")]
pub(crate) use plausible::{Fit, SAME_PLACE, in_unit_square, open_seams};
pub use plisse_constrained::Compliance;
pub use scene::{BodyInfo, Kind, Scene};
pub use smooth::{MOST_LEVELS, SmoothSheet};
pub use strain_limit::{Limited, MaxStretch};
pub use timeline::{Interpolated, Timeline};
pub use touching::BodyContact;
pub use warning::SceneWarning;
#[cfg(feature = "file")]
pub(crate) use warning::short;
pub use wires::{Wire, Wires};
#[cfg(feature = "wrinkle")]
pub use wrinkle::{WrinkleBase, WrinkleFrame, WrinkleOptions, WrinkleScene};
pub use yarns::Yarns;
