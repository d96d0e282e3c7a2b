//! What cloth and wires cannot enter.

use glam::DVec3;
use plisse_core::Positive;

use super::output::Colour;
use super::pin::KeyframeTable;
use crate::scene_file::choices::WeldChoice;
use crate::scene_file::read::table;
use crate::scene_file::values::{Direction, NonNegative};

table! {
    /// What cloth and wires cannot enter. One of `plane`, `sphere`, `capsule`, `cylinder`, `cone`,
    /// `box`, `mesh`, `mesh_sequence` gives the shape.
    pub struct ObstacleTable ("[[obstacle]]") {
        /// For reports.
        name: String = optional,
        /// Everything below a plane.
        plane: PlaneShape = optional,
        /// A ball.
        sphere: BallShape = optional,
        /// A rod with round ends.
        capsule: CapsuleShape = optional,
        /// A pillar with flat ends.
        cylinder: CylinderShape = optional,
        /// A cone, with or without its tip.
        cone: ConeShape = optional,
        /// A box.
        r#box: BoxShape = optional,
        /// A closed OBJ mesh.
        mesh: String = optional,
        /// Closed OBJ meshes with the same faces, one after the other.
        mesh_sequence: MeshSequenceShape = optional,
        /// Metres per unit of `mesh` or of `mesh_sequence`: 1e-3 for files in millimetres.
        mesh_unit: Positive = optional,
        /// Merges vertices of a mesh that are this near to each other, m; `true` for a millionth of
        /// its size.
        weld: WeldChoice = optional,
        /// The shape grows or shrinks by these factors along x, y and z, about the origin, before
        /// it is turned. Round shapes, and boxes with a `rotation` of their own, stay what they
        /// are: their factors are equal.
        scale: Sides = "[1, 1, 1]",
        /// Turned about x, then y, then z, degrees.
        rotation: DVec3 = "[0, 0, 0]",
        /// Then moved, m.
        position: DVec3 = "[0, 0, 0]",
        /// Coefficient of friction.
        friction: NonNegative = "0.3",
        /// Gap at which contact begins, m, if that of a body is not smaller. What starts closer
        /// keeps the gap of its start.
        range: Positive = optional,
        /// Pressure where the gap is 0.53 of the range, Pa; it grows without bound as the gap
        /// closes.
        stiffness: Positive = "1e3",
        /// Speed below which friction holds, m/s.
        slip: Positive = "1e-3",
        /// A motion about its centre.
        motion: KeyframeTable = repeated,
        /// Constant speed between keyframes, instead of a stop at each.
        linear: bool = "false",
        /// Colour in pictures.
        colour: Colour = optional,
    }
}

table! {
    /// Everything below a plane.
    pub struct PlaneShape ("plane") {
        /// A point of it, m.
        point: DVec3 = "[0, 0, 0]",
        /// Where cloth may be.
        normal: Direction = required,
    }
}

table! {
    /// A ball.
    pub struct BallShape ("sphere") {
        /// m.
        centre: DVec3 = "[0, 0, 0]",
        /// m.
        radius: Positive = required,
    }
}

table! {
    /// A rod with round ends.
    pub struct CapsuleShape ("capsule") {
        /// One end of its axis, m.
        from: DVec3 = required,
        /// The other, m.
        to: DVec3 = required,
        /// m.
        radius: Positive = required,
    }
}

table! {
    /// A pillar with flat ends.
    pub struct CylinderShape ("cylinder") {
        /// The middle of one end, m.
        from: DVec3 = required,
        /// That of the other, m.
        to: DVec3 = required,
        /// m.
        radius: Positive = required,
    }
}

table! {
    /// A cone, with or without its tip.
    pub struct ConeShape ("cone") {
        /// The middle of one end, m.
        from: DVec3 = required,
        /// That of the other, m.
        to: DVec3 = required,
        /// At `from` and at `to`, m. One of them may be zero: there is the tip.
        radii: Radii = required,
    }
}

table! {
    /// Closed OBJ meshes with the same vertices and faces, one after the other. Vertices go
    /// straight from mesh to mesh; before the first and after the last the mesh stays. One of
    /// `files`, `pattern` names the meshes, one of `frames_per_second`, `times` says when they are
    /// reached.
    pub struct MeshSequenceShape ("mesh_sequence") {
        /// OBJ files, at least two.
        files: String = repeated,
        /// OBJ files by their numbers: `#` stands for the number, `####` for one with zeros in
        /// front, such as 0012. Needs `frames`.
        pattern: String = optional,
        /// The first and the last number of `pattern`.
        frames: FirstAndLast = optional,
        /// Meshes per second, from the time `start` on.
        frames_per_second: Positive = optional,
        /// Time of the first mesh with `frames_per_second`, s; 0 without it.
        start: f64 = optional,
        /// Time of each mesh, s, ascending.
        times: f64 = repeated,
    }
}

table! {
    /// A box.
    pub struct BoxShape ("box") {
        /// m.
        centre: DVec3 = "[0, 0, 0]",
        /// Sides, m.
        size: Sides = required,
        /// Turned about x, then y, then z, degrees.
        rotation: DVec3 = "[0, 0, 0]",
    }
}

/// Three lengths, m.
pub type Sides = [Positive; 3];

/// Two radii, m.
pub type Radii = [NonNegative; 2];

/// The first and the last number of a series.
pub type FirstAndLast = [u32; 2];
