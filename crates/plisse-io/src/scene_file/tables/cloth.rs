//! Pieces of cloth and their shapes.

use glam::DVec3;
use plisse_core::Positive;

use super::material::MaterialChoice;
use super::obstacle::Sides;
use super::output::Colour;
use super::pin::{ForceTable, PinTable};
use super::yarn::{WovenShape, YarnTable};
use crate::scene_file::choices::{ComplianceChoice, UvScaleChoice, WeldChoice};
use crate::scene_file::read::{names, table};
use crate::scene_file::values::{Count, LargestStretch, NonNegative};

table! {
    /// A piece of cloth. One of `grid`, `disc`, `cylinder`, `sphere`, `pillow`, `discs`, `annuli`,
    /// `woven`, `mesh` gives its shape.
    pub struct ClothTable ("[[cloth]]") {
        /// For reports and files.
        name: String = optional,
        /// A rectangle about the origin, in x and y.
        grid: Grid = optional,
        /// A disc about the origin, in x and y.
        disc: Disc = optional,
        /// An open tube from the origin along z.
        cylinder: Cylinder = optional,
        /// A closed sphere about the origin; its material must be isotropic.
        sphere: SphereShape = optional,
        /// Two rectangles sewn along their sides, in x and y.
        pillow: Rectangle = optional,
        /// Two discs sewn along their rims, in x and y.
        discs: Disc = optional,
        /// Two rings sewn along both rims, in x and y: a flat torus.
        annuli: Annulus = optional,
        /// A rectangle of yarns about the origin, in x and y; for `model = "yarn"`.
        woven: WovenShape = optional,
        /// An OBJ file. `vt` is the flat material space in metres; without `vt` the mesh is at rest
        /// as it is, and if it is not flat, its material must be isotropic. With `model = "yarn"`,
        /// its faces are quads, and their edges are yarns.
        mesh: String = optional,
        /// Metres per unit of `mesh`: 1e-3 for a file in millimetres. `vt` stays.
        mesh_unit: Positive = optional,
        /// Merges vertices of `mesh` that are this near to each other, m; `true` for a millionth of
        /// its size. Without it, a mesh with edges that lie on each other but do not hang together
        /// is refused; `false` keeps them apart.
        weld: WeldChoice = optional,
        /// What `vt` of `mesh` is multiplied by to be metres; `"area"` makes the area at rest that
        /// of the mesh. Without it, `vt` that disagrees with the size of the mesh is refused; 1
        /// takes it as it is.
        uv_scale: UvScaleChoice = optional,
        /// What it is made of: the name of a preset, or a table.
        material: MaterialChoice = "\"cotton\"",
        /// How it resists stretch.
        model: ClothModelName = "\"elastic\"",
        /// How much it gives way in its plane, beside bending; for `model = "developable"`. Without
        /// it, nothing stretches.
        compliance: ComplianceTable = optional,
        /// How it is woven, and of what; for `model = "yarn"`.
        yarn: YarnTable = optional,
        /// The largest stretch, as a multiple of the length at rest: 1.05 lets the cloth grow by
        /// 5 %. No load and no solver iteration exceeds it. Without it, there is no limit.
        strain_limit: LargestStretch = optional,
        /// In which directions `strain_limit` holds.
        strain_limit_of: LimitName = "\"any\"",
        /// The shape starts stretched or shrunk by these factors along x, y and z, before it is
        /// turned; its rest shape stays.
        scale: Sides = "[1, 1, 1]",
        /// A fold across x, in which the cloth is at rest.
        fold: Fold = optional,
        /// Lines along which the cloth bends freely.
        crease: CreaseTable = repeated,
        /// Turned about x, then y, then z, degrees.
        rotation: DVec3 = "[0, 0, 0]",
        /// Then moved, m.
        position: DVec3 = "[0, 0, 0]",
        /// Random displacement at the start, m.
        jitter: NonNegative = "0",
        /// Velocity at the start, m/s.
        velocity: DVec3 = "[0, 0, 0]",
        /// Whether it touches itself; if not, its parts pass through each other. Without it,
        /// `true`, but for `pillow`, `discs` and `annuli`, whose two sheets start in one place, and
        /// for `model = "yarn"`.
        self_contact: bool = optional,
        /// Thickness that counts in contact, m; that of yarns follows from their radii.
        contact_thickness: NonNegative = "0",
        /// Gap at which contact begins, m. Without it, a fifth of the mean edge. Of two bodies the
        /// smaller one counts; what starts closer keeps the gap of its start.
        contact_range: Positive = optional,
        /// Coefficient of friction on itself and on other cloth and wires; of two bodies the
        /// geometric mean counts. Obstacles have one of their own.
        contact_friction: NonNegative = "0.3",
        /// Vertices that are held.
        pin: PinTable = repeated,
        /// Forces on vertices.
        force: ForceTable = repeated,
        /// Pressure inside a closed surface, Pa. On an open one it pushes along the normals of
        /// faces; pins must then hold all of its boundary where it starts, without `until` and
        /// `stiffness`.
        pressure: f64 = optional,
        /// The same over time: changing steadily from each to the next, constant before the first
        /// and after the last.
        pressure_over_time: PressureFrame = repeated,
        /// A filling that keeps a volume.
        volume: VolumeTable = optional,
        /// Colour in pictures.
        colour: Colour = optional,
    }
}

table! {
    /// A rectangle. Groups: `left`, `right`, `bottom`, `top`, `corners`, and corners as `top-left`.
    pub struct Grid ("grid") {
        /// Cells along x and y.
        cells: CellCounts = required,
        /// Size along x and y, m.
        size: Lengths = required,
        /// How cells are cut.
        diagonal: DiagonalName = optional,
        /// Moves vertices at random, another way for each number.
        irregular: u32 = optional,
    }
}

table! {
    /// A rectangle of two sheets. Groups: `seam`.
    pub struct Rectangle ("pillow") {
        /// Cells along x and y, at least two.
        cells: CellCounts = required,
        /// Size along x and y, m.
        size: Lengths = required,
        /// Irregular triangles, others for each number.
        irregular: u32 = optional,
    }
}

table! {
    /// A disc, or two. Groups: `rim`, `centre`; of two only `rim`, the seam.
    pub struct Disc ("disc") {
        /// Rings of triangles. Two discs have irregular ones.
        rings: Count = required,
        /// m.
        radius: Positive = required,
        /// Irregular triangles, others for each number.
        irregular: u32 = optional,
    }
}

table! {
    /// Two rings sewn to a torus, of irregular triangles. Groups: `inner`, `outer`, the seams.
    pub struct Annulus ("annuli") {
        /// Cells between the two radii.
        across: Count = required,
        /// Inner and outer radius, m.
        radii: Lengths = required,
        /// Which irregular triangles.
        irregular: u32 = "1",
    }
}

table! {
    /// An open tube. Groups: `bottom`, `top`.
    pub struct Cylinder ("cylinder") {
        /// Cells around and along.
        cells: CellCounts = required,
        /// m.
        radius: Positive = required,
        /// m.
        length: Positive = required,
        /// Irregular triangles, others for each number.
        irregular: u32 = optional,
    }
}

table! {
    /// A closed sphere.
    pub struct SphereShape ("sphere") {
        /// How often the faces of an icosahedron are divided into four, up to 8.
        divisions: u32 = required,
        /// m.
        radius: Positive = required,
    }
}

table! {
    /// A fold across the x axis of a flat shape, along a line of its mesh, before it is placed.
    pub struct Fold ("fold") {
        /// Where, in x.
        at: f64 = "0",
        /// Degrees by which the part beyond is turned upwards.
        angle: f64 = required,
    }
}

table! {
    /// A line of the mesh along which a cloth bends freely, before it is folded, turned and moved.
    pub struct CreaseTable ("crease") {
        /// One end, m.
        from: DVec3 = required,
        /// The other, m. Both may lie beyond the cloth.
        to: DVec3 = required,
    }
}

names! {
    /// How the cells of a grid are cut.
    pub enum DiagonalName {
        /// Upper left to lower right.
        Left = "left",
        /// Lower left to upper right.
        Right = "right",
        /// In turn.
        Alternating = "alternating",
        /// So that circles around triangles are empty; for irregular grids.
        Delaunay = "delaunay",
    }
}

names! {
    /// How a cloth resists stretch.
    pub enum ClothModelName {
        /// By the stiffness of its material.
        Elastic = "elastic",
        /// It does not stretch at all, and bends freely: fast projection on elements that do not
        /// lock. One cloth alone, with obstacles; only density and bending of the material count.
        Developable = "developable",
        /// Yarns that cross, stick and slide. Its shape is `woven`, or a `mesh` of quads; the table
        /// `yarn` says what it is made of.
        Yarn = "yarn",
    }
}

names! {
    /// Directions in which a strain limit holds.
    pub enum LimitName {
        /// Every direction in the plane of the cloth.
        Any = "any",
        /// Warp and weft; along the bias the cloth is free.
        WarpWeft = "warp-weft",
    }
}

table! {
    /// Strain over force per width, m/N; zero is inextensible. Warp and weft at zero with a soft
    /// shear are woven cloth. In directions that are left to the `"material"`, its membrane energy
    /// acts instead, on the same elements.
    pub struct ComplianceTable ("compliance") {
        /// Along the first material axis, x of a grid.
        warp: ComplianceChoice = "0",
        /// Along the second.
        weft: ComplianceChoice = "0",
        /// Of the angle between them.
        shear: ComplianceChoice = "0",
    }
}

table! {
    /// A pressure at a time.
    pub struct PressureFrame ("pressure_over_time") {
        /// s.
        time: f64 = required,
        /// Pa.
        pressure: f64 = required,
    }
}

table! {
    /// A filling that keeps a volume.
    pub struct VolumeTable ("volume") {
        /// Volume without pressure, m³.
        target: Positive = required,
        /// Bulk modulus, Pa.
        bulk: Positive = required,
    }
}

/// Two numbers of cells.
pub type CellCounts = [Count; 2];

/// Two lengths, m.
pub type Lengths = [Positive; 2];
