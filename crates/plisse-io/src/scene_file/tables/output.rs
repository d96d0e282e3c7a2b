//! What is written, and how pictures are taken.

use glam::{DVec2, DVec3};

use crate::scene_file::read::{names, table};
use crate::scene_file::values::{Fraction, Pixels, ViewAngle};

table! {
    /// What is written, besides the report, a plot of the energies and checkpoints.
    pub struct Output ("[output]") {
        /// PNG pictures.
        pictures: Which = "\"all\"",
        /// OBJ meshes.
        meshes: Which = "\"last\"",
        /// A PC2 point cache for Blender, one for each body.
        pc2: bool = "false",
        /// VTK files for ParaView.
        vtk: bool = "false",
        /// How often the triangles of developable cloth are divided into four in pictures and
        /// meshes, up to 4: a smooth surface through its edges, which crosses nothing that the
        /// simulated mesh does not cross. Without it, that mesh is shown.
        smooth: u32 = "0",
        /// Checkpoints: `all` to render any frame later and to go on from any of them, `last` to
        /// save space.
        checkpoints: Kept = "\"all\"",
    }
}

names! {
    /// Of which frames.
    pub enum Which {
        /// None.
        None = "none",
        /// The first and the last.
        Last = "last",
        /// All.
        All = "all",
    }
}

names! {
    /// Which checkpoints are kept.
    pub enum Kept {
        /// The last one.
        Last = "last",
        /// All.
        All = "all",
    }
}

table! {
    /// How pictures are taken. Without `from` and `at`, the camera sees everything of all frames,
    /// from the front right and above.
    pub struct CameraTable ("[camera]") {
        /// Where it is, m.
        from: DVec3 = optional,
        /// What it looks at, m.
        at: DVec3 = optional,
        /// Vertical opening angle, degrees.
        field_of_view: ViewAngle = "28",
        /// Width and height in pixels.
        size: PictureSize = "[1280, 960]",
        /// Whether edges are drawn.
        wireframe: bool = "false",
        /// Whether there is a ground with shadows.
        ground: bool = "true",
        /// Height of the ground, m; just below everything if absent.
        ground_height: f64 = optional,
        /// What colours show.
        colour_by: ColourBy = "\"material\"",
        /// The values at the ends of the colour bar.
        colour_range: DVec2 = optional,
    }
}

names! {
    /// What colours show.
    pub enum ColourBy {
        /// The colour of each body.
        Material = "material",
        /// The largest principal strain.
        Strain = "strain",
        /// Speed in m/s.
        Speed = "speed",
        /// Height in m.
        Height = "height",
        /// Amplitude of wrinkles in m; for `model = "wrinkle"`.
        Amplitude = "amplitude",
        /// Phase of wrinkles in radians; for `model = "wrinkle"`.
        Phase = "phase",
    }
}

/// Red, green, blue.
pub type Colour = [Fraction; 3];

/// Width and height in pixels.
pub type PictureSize = [Pixels; 2];
