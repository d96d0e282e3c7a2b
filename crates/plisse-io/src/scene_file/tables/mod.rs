//! The tables of a scene file, by subject; here the scene as a whole.

mod cloth;
mod friction;
mod material;
mod obstacle;
mod output;
mod pin;
mod time;
mod wires;
mod wrinkle;
mod yarn;

use glam::DVec3;
use plisse_core::Positive;

pub use cloth::*;
pub use friction::*;
pub use material::*;
pub use obstacle::*;
pub use output::*;
pub use pin::*;
pub use time::*;
pub use wires::*;
pub use wrinkle::*;
pub use yarn::*;

use crate::scene_file::read::{names, table};
use crate::scene_file::values::{Fraction, NonNegative, Version};

table! {
    /// A scene. Units are SI: metres, seconds, kilograms, newtons, pascals; angles are degrees.
    pub struct SceneFile ("the scene") {
        /// Version of the format.
        version: Version = required,
        /// What it shows.
        title: String = optional,
        /// What is computed: a sheet in motion, or fine wrinkles on a coarse sheet in equilibrium.
        model: ModelName = "\"elastic\"",
        /// The sheet and how its wrinkles are found; for `model = "wrinkle"`.
        wrinkle: WrinkleTable = optional,
        /// The axis that points upwards. Positions, rotations and cameras are in these axes.
        up: Up = "\"z\"",
        /// Gravity downwards, m/s².
        gravity: NonNegative = "9.81",
        /// What is done about triangles that cross at the start.
        start: StartName = "\"refuse\"",
        /// How time advances.
        time: Time = required,
        /// How equations are solved.
        solver: Solver = "{}",
        /// The air, if it matters.
        air: AirTable = optional,
        /// Pieces of cloth.
        cloth: ClothTable = repeated,
        /// Rods and nets.
        wires: WiresTable = repeated,
        /// What cloth and wires cannot enter.
        obstacle: ObstacleTable = repeated,
        /// Friction of single pairs of bodies and obstacles.
        friction: FrictionTable = repeated,
        /// What is written.
        output: Output = "{}",
        /// How pictures are taken.
        camera: CameraTable = "{}",
    }
}

names! {
    /// What is done about triangles that cross at the start.
    pub enum StartName {
        /// The scene is refused.
        Refuse = "refuse",
        /// They pass through each other until they have come apart.
        Ignore = "ignore",
        /// They are moved apart before the start.
        Untangle = "untangle",
    }
}

names! {
    /// What is computed.
    pub enum ModelName {
        /// The motion of cloth and wires.
        Elastic = "elastic",
        /// Wrinkles on the equilibrium of one cloth.
        Wrinkle = "wrinkle",
    }
}

names! {
    /// The axis that points upwards.
    pub enum Up {
        /// y.
        Y = "y",
        /// z.
        Z = "z",
    }
}

table! {
    /// Moving or still air. It drags along the normals of faces.
    pub struct AirTable ("[air]") {
        /// Mean wind, m/s.
        wind: DVec3 = "[0, 0, 0]",
        /// The same over time: changing steadily from each to the next, constant before the first
        /// and after the last.
        wind_over_time: WindFrame = repeated,
        /// Strength of gusts as a part of the wind.
        gusts: Fraction = "0",
        /// kg/m³.
        density: Positive = "1.2",
        /// Drag coefficient of a plate across the wind.
        drag: Positive = "1.2",
    }
}

table! {
    /// A mean wind at a time.
    pub struct WindFrame ("wind_over_time") {
        /// s.
        time: f64 = required,
        /// m/s.
        wind: DVec3 = required,
    }
}
