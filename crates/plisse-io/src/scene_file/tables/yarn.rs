//! Cloth as yarns: its shape, its weave and what its yarns are made of.

use super::cloth::{CellCounts, Lengths};
use super::output::Colour;
use crate::scene_file::read::table;
use crate::scene_file::values::NonNegative;
use crate::scene_file::weave::WeaveChoice;
use plisse_core::Positive;

table! {
    /// A rectangle of yarns about the origin, for `model = "yarn"`: warp yarns run along x, weft
    /// yarns along y. One of `spacing`, `size` says how far apart they are. Vertex
    /// `j * counts[0] + i` is where warp `j` and weft `i` cross. Groups: `left`, `right`, `bottom`,
    /// `top`, `corners`, and corners as `top-left`: outer crossings; `left-ends` and so on: where
    /// yarns end; `warp 3`: all vertices of a yarn; `warp 3 start`, `warp 3 end`: its ends.
    pub struct WovenShape ("woven") {
        /// Crossings along x and y: numbers of weft yarns and of warp yarns.
        counts: CellCounts = required,
        /// Distance between crossings along x and y, m.
        spacing: Lengths = optional,
        /// Size between the outer crossings along x and y, m.
        size: Lengths = optional,
        /// Lengths of warp and of weft yarns beyond their outer crossings, m. Where it is zero,
        /// outer crossings are ends, and nothing slides there.
        tails: [NonNegative; 2] = "[0, 0]",
        /// Straight cuts: yarns end where they meet one.
        cut: CutTable = repeated,
    }
}

table! {
    /// A straight cut through a rectangle of yarns, before it is turned and moved. Every yarn that
    /// it meets between two crossings ends there, on both sides of it.
    pub struct CutTable ("cut") {
        /// One end: x and y, m.
        from: [f64; 2] = required,
        /// The other, m.
        to: [f64; 2] = required,
    }
}

table! {
    /// How a cloth with `model = "yarn"` is woven, and of what.
    pub struct YarnTable ("yarn") {
        /// Which yarn is on top.
        weave: WeaveChoice = "\"plain\"",
        /// The warp yarns.
        warp: YarnMaterialTable = "{}",
        /// The weft yarns.
        weft: YarnMaterialTable = "{}",
        /// Yarns that differ from the others of their family.
        single: SingleYarnTable = repeated,
        /// Coefficient of friction of yarns that slide along each other; zero for none.
        friction: NonNegative = "0.3",
        /// Force with which the weave presses two yarns together at rest, N.
        press: NonNegative = "1e-3",
        /// Stiffness of a crossing that sticks, N/m.
        stick: Positive = "50",
        /// Stiffness against a change of the angle between warp and weft, N m for each crossing.
        shear: NonNegative = "1e-6",
        /// Stiffness of yarns that are pushed against each other, N/m.
        jamming: Positive = "1e3",
    }
}

table! {
    /// What yarns are made of. Without keys, cotton of about 100 tex.
    pub struct YarnMaterialTable ("warp or weft") {
        /// Radius, m. The sum of the radii of two neighbours may not exceed their distance.
        radius: Positive = "2e-4",
        /// Mass per length, kg/m.
        density: Positive = "1e-4",
        /// Stretch stiffness, N: force per strain.
        stretch: Positive = "60",
        /// Bending stiffness, N m².
        bending: NonNegative = "1e-9",
        /// Damping time of stretching (`beta_s`), s.
        stretch_damping: NonNegative = "1e-3",
        /// Damping time of bending (`beta_b`), s.
        bending_damping: NonNegative = "1e-2",
        /// Colour in pictures.
        colour: Colour = optional,
    }
}

table! {
    /// A yarn that differs from the others of its family.
    pub struct SingleYarnTable ("single") {
        /// Which, such as `"warp 3"`, counted from zero.
        yarn: String = required,
        /// Radius, m.
        radius: Positive = optional,
        /// Mass per length, kg/m.
        density: Positive = optional,
        /// Stretch stiffness, N.
        stretch: Positive = optional,
        /// Bending stiffness, N m².
        bending: NonNegative = optional,
        /// Damping time of stretching, s.
        stretch_damping: NonNegative = optional,
        /// Damping time of bending, s.
        bending_damping: NonNegative = optional,
        /// Colour in pictures.
        colour: Colour = optional,
    }
}
