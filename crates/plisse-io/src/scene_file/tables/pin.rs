//! Pins and motions.

use glam::DVec3;
use plisse_core::Positive;

use crate::scene_file::mistakes::Collector;
use crate::scene_file::read::{Item, Read, refuse, table};
use crate::scene_file::values::Direction;

table! {
    /// Vertices that are held. One of `vertices`, `box`, `group` says which; without `motion`,
    /// `follow`, `line` or `plane` they stay.
    pub struct PinTable ("pin") {
        /// By number, from zero.
        vertices: Indices = optional,
        /// All within a box, as placed.
        r#box: Bounds = optional,
        /// A named group.
        group: String = optional,
        /// A motion about the centre of the picked vertices.
        motion: KeyframeTable = repeated,
        /// Constant speed between keyframes, instead of a stop at each.
        linear: bool = "false",
        /// Free along this direction.
        line: Direction = optional,
        /// Free in the plane with this normal.
        plane: Direction = optional,
        /// The name of an obstacle with which they move and turn, as if grown together; of one that
        /// has no name, such as `"obstacle 1"`. On a `mesh_sequence`, they go with the nearest
        /// face.
        follow: String = optional,
        /// When they are let go, s. No step crosses this time.
        until: Positive = optional,
        /// Springs instead of an exact hold, N/m: of all vertices together, which have parts in
        /// proportion to their masses.
        stiffness: Positive = optional,
    }
}

table! {
    /// A force on vertices. One of `vertices`, `box`, `group` says which; without, all. Vertices
    /// share it in proportion to their masses. Either `total` or `over_time`.
    pub struct ForceTable ("force") {
        /// By number, from zero.
        vertices: Indices = optional,
        /// All within a box, as placed.
        r#box: Bounds = optional,
        /// A named group.
        group: String = optional,
        /// On all of them together, N.
        total: DVec3 = optional,
        /// The same over time: changing steadily from each to the next, constant before the first
        /// and after the last.
        over_time: ForceFrame = repeated,
    }
}

table! {
    /// A force at a time.
    pub struct ForceFrame ("over_time") {
        /// s.
        time: f64 = required,
        /// N.
        total: DVec3 = required,
    }
}

table! {
    /// A box.
    pub struct Bounds ("box") {
        /// Smallest coordinates, m.
        min: DVec3 = required,
        /// Largest coordinates, m.
        max: DVec3 = required,
    }
}

table! {
    /// Where something is at a time, relative to where it was placed.
    pub struct KeyframeTable ("motion") {
        /// s.
        time: f64 = required,
        /// Displacement, m.
        r#move: DVec3 = "[0, 0, 0]",
        /// Turned about x, then y, then z, degrees. Up to half a turn from one keyframe to the
        /// next.
        rotate: DVec3 = "[0, 0, 0]",
    }
}

/// Numbers of vertices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Indices(pub Vec<u32>);

impl Read for Indices {
    fn expected() -> String {
        "a list of whole numbers".to_owned()
    }
    fn read(item: &Item<'_>, mistakes: &mut Collector) -> Option<Self> {
        let Some(array) = item.get_ref().as_array() else {
            refuse(item, "a list of whole numbers", mistakes);
            return None;
        };
        let read: Vec<Option<u32>> = array.iter().map(|entry| u32::read(entry, mistakes)).collect();
        read.into_iter().collect::<Option<_>>().map(Self)
    }
}
