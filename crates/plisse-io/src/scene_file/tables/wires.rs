//! Rods and nets.

use glam::DVec3;
use plisse_core::Positive;

use super::cloth::{CellCounts, Lengths};
use super::material::{DampingChoice, LawName};
use super::output::Colour;
use super::pin::{ForceTable, PinTable};
use crate::scene_file::choices::WeldChoice;
use crate::scene_file::read::table;
use crate::scene_file::values::{Count, NonNegative};

table! {
    /// Rods or a net. One of `net`, `line`, `mesh` gives the shape.
    pub struct WiresTable ("[[wires]]") {
        /// For reports and files.
        name: String = optional,
        /// Crossing wires in x and y about the origin.
        net: NetShape = optional,
        /// A straight wire.
        line: LineShape = optional,
        /// The lines of an OBJ file.
        mesh: String = optional,
        /// Metres per unit of `mesh`: 1e-3 for a file in millimetres.
        mesh_unit: Positive = optional,
        /// Merges vertices of `mesh` that are this near to each other, m; `true` for a millionth of
        /// its size. Without it, vertices in the same place are refused; `false` keeps them apart.
        weld: WeldChoice = optional,
        /// Young's modulus, Pa.
        young: Positive = "200e9",
        /// Radius, m.
        radius: Positive = "1e-3",
        /// kg/m³.
        density: Positive = "7850",
        /// How the bending energy grows with the angle.
        law: LawName = "\"sine\"",
        /// What takes energy out of the motion: a rate in proportion to mass, 1/s, or a table.
        damping: DampingChoice = "0",
        /// Turned about x, then y, then z, degrees.
        rotation: DVec3 = "[0, 0, 0]",
        /// Then moved, m.
        position: DVec3 = "[0, 0, 0]",
        /// Random displacement at the start, m.
        jitter: NonNegative = "0",
        /// Velocity at the start, m/s.
        velocity: DVec3 = "[0, 0, 0]",
        /// Whether they touch themselves; if not, they pass through each other.
        self_contact: bool = "true",
        /// Gap at which contact begins, m. Without it, a fifth of the mean segment and at most the
        /// radius. Of two bodies the smaller one counts; what starts closer keeps the gap of its
        /// start.
        contact_range: Positive = optional,
        /// Coefficient of friction on themselves and on other cloth and wires; of two bodies the
        /// geometric mean counts. Obstacles have one of their own.
        contact_friction: NonNegative = "0.3",
        /// Vertices that are held.
        pin: PinTable = repeated,
        /// Forces on vertices.
        force: ForceTable = repeated,
        /// Colour in pictures.
        colour: Colour = optional,
    }
}

table! {
    /// A net. Groups: `left`, `right`, `bottom`, `top`, `corners`.
    pub struct NetShape ("net") {
        /// Meshes along x and y.
        meshes: CellCounts = required,
        /// Segments along each side of a mesh.
        segments: Count = "1",
        /// Size along x and y, m.
        size: Lengths = required,
    }
}

table! {
    /// A straight wire. Groups: `start`, `end`.
    pub struct LineShape ("line") {
        /// One end, m.
        from: DVec3 = required,
        /// The other, m.
        to: DVec3 = required,
        /// How many pieces.
        segments: Count = required,
    }
}
