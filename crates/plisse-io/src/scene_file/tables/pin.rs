//! Pins and motions.

use glam::DVec3;

use crate::scene_file::mistakes::Collector;
use crate::scene_file::read::{Item, Read, refuse, table};
use crate::scene_file::values::Direction;

table! {
    /// Vertices that are held. One of `vertices`, `box`, `group` says which; without `motion`,
    /// `line` or `plane` they stay.
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
