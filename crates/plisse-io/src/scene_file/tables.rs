//! The tables of a scene file.

use glam::{DVec2, DVec3};
use plisse_core::{PoissonRatio, Positive, UnitDir2};

use super::choices::{UvScaleChoice, WarpWeft, WeldChoice};
use super::mistakes::Collector;
use super::read::{Item, Read, TableReference, names, table};
use super::values::{Count, Direction, Fraction, NonNegative, Pixels, RateExponent, Version, ViewAngle};

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
        /// What is written.
        output: Output = "{}",
        /// How pictures are taken.
        camera: CameraTable = "{}",
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

table! {
    /// Fine wrinkles on a coarse mesh (`model = "wrinkle"`): in every frame the equilibrium of one
    /// cloth as a tension field, amplitude and phase of its wrinkles, and the surface with every
    /// wave. Cloth of such scenes has no material of its own, pins hold entirely, obstacles have no
    /// friction; `step`, `shortest_step` and `scheme` of the time, and `[solver]`, do not matter.
    pub struct WrinkleTable ("[wrinkle]") {
        /// Young's modulus, Pa.
        young: Positive = required,
        /// Poisson's ratio.
        poisson: PoissonRatio = required,
        /// m.
        thickness: Positive = required,
        /// kg/m³. Without it the sheet has no weight.
        density: Positive = optional,
        /// How often every triangle is divided into four for pictures and meshes, up to 7.
        levels: u32 = "3",
        /// Amplitudes are zero at pins.
        clamped: bool = "false",
        /// Whether amplitudes and phases of the first frame are optimised once more with whole
        /// numbers of waves; those of all others are.
        rounded: bool = "false",
        /// How much a frame may lose by keeping the numbers of waves of the frame before, as a part
        /// of the bending energy of the waves; beyond that they snap to the best ones, and the
        /// surface jumps. A number that is off by the factor `r` costs about `(r - 1/r)²`. With 0
        /// they change whenever others are better.
        snap: NonNegative = "0.5",
        /// Which frame has the numbers of waves that suit it best; from there the others follow,
        /// one after the other.
        waves_from: WavesFromName = "\"first\"",
        /// Bending stiffness of the base.
        bending: BaseBendingName = "\"plate\"",
        /// This part of the elastic energy is added to the tension field, compression included;
        /// evens out where the tension field leaves triangles free.
        compression: Fraction = "0",
        /// Unbalanced force per area of the base, as a part of Young's modulus times thickness over
        /// the size of the sheet.
        tolerance: Positive = "1e-10",
        /// Newton iterations after which the base counts as not converged.
        max_iterations: Count = "500",
        /// Where the curvature along the crests comes from.
        curvature: CurvatureName = "\"quadric-fit\"",
        /// How powers of the amplitude are integrated.
        quadrature: QuadratureName = "\"exact\"",
        /// Which faces are held free of wrinkles.
        free_rule: FreeRuleName = "\"authors\"",
        /// Where the solver of wrinkles starts.
        start: WrinkleStartName = "\"both\"",
    }
}

names! {
    /// Which frame chooses the numbers of waves.
    pub enum WavesFromName {
        /// The first one.
        First = "first",
        /// The last one; wrinkles are then solved for backwards in time, after all bases.
        Last = "last",
    }
}

names! {
    /// Bending stiffness of the base.
    pub enum BaseBendingName {
        /// That of a plate, D.
        Plate = "plate",
        /// Poisson's ratio times that, as in the published results.
        NuD = "nu-d",
    }
}

names! {
    /// Where the curvature along the crests comes from.
    pub enum CurvatureName {
        /// A quadric through five rings of neighbours.
        QuadricFit = "quadric-fit",
        /// The second fundamental form of each face.
        SecondForm = "second-form",
    }
}

names! {
    /// How powers of the amplitude are integrated.
    pub enum QuadratureName {
        /// In closed form.
        Exact = "exact",
        /// At three points, as in the published results.
        ThreePoint = "three-point",
    }
}

names! {
    /// Which faces are held free of wrinkles.
    pub enum FreeRuleName {
        /// As in the published results.
        Authors = "authors",
        /// As in the text of the paper.
        Paper = "paper",
    }
}

names! {
    /// Where the solver of wrinkles starts.
    pub enum WrinkleStartName {
        /// From each; the lower energy is kept.
        Both = "both",
        /// From the compression alone.
        Strain = "strain",
        /// From compression and tension.
        Stress = "stress",
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
    /// How time advances.
    pub struct Time ("[time]") {
        /// How long it runs, s.
        duration: Positive = required,
        /// Longest step, s.
        step: Positive = "0.01",
        /// Steps that do not converge are shortened down to this, s; equal to `step` to forbid
        /// that.
        shortest_step: Positive = "1e-5",
        /// Pictures, meshes and checkpoints per second of simulated time.
        frames_per_second: Positive = "25",
        /// How a step is computed. `quasistatic` finds the equilibrium at each time.
        scheme: SchemeName = "\"backward-euler\"",
        /// For `newmark`: what is left of the fastest vibrations after each step, from 0 (nothing)
        /// to 1 (everything: no dissipation, for steps that resolve all vibrations).
        spectral_radius: Fraction = "0.8",
    }
}

names! {
    /// How a step is computed.
    pub enum SchemeName {
        /// First order, robust, loses energy.
        BackwardEuler = "backward-euler",
        /// Second order, loses little energy.
        Bdf2 = "bdf2",
        /// Second order, with as much dissipation as `spectral_radius` says.
        Newmark = "newmark",
        /// Equilibria.
        Quasistatic = "quasistatic",
    }
}

table! {
    /// How equations are solved.
    pub struct Solver ("[solver]") {
        /// Accelerations are right to this, m/s².
        tolerance: Positive = "0.1",
        /// Newton iterations after which a step counts as not converged.
        max_iterations: Count = "100",
        /// How linear systems are solved.
        linear: LinearName = "\"auto\"",
        /// When Hessians are made positive semidefinite.
        hessian: HessianName = "\"on-demand\"",
    }
}

names! {
    /// How linear systems are solved.
    pub enum LinearName {
        /// Whatever the last steps show to be cheapest.
        Auto = "auto",
        /// A factorisation each.
        Cholesky = "cholesky",
        /// Conjugate gradients with an old factorisation.
        StaleCholesky = "stale-cholesky",
        /// Conjugate gradients with the diagonal blocks.
        BlockJacobi = "block-jacobi",
    }
}

names! {
    /// When Hessians are made positive semidefinite.
    pub enum HessianName {
        /// Where the exact one is not.
        OnDemand = "on-demand",
        /// At first.
        ProjectedThenExact = "projected-then-exact",
        /// Always.
        Projected = "projected",
    }
}

table! {
    /// Moving or still air. It drags along the normals of faces.
    pub struct AirTable ("[air]") {
        /// Mean wind, m/s.
        wind: DVec3 = "[0, 0, 0]",
        /// Strength of gusts as a part of the wind.
        gusts: Fraction = "0",
        /// kg/m³.
        density: Positive = "1.2",
        /// Drag coefficient of a plate across the wind.
        drag: Positive = "1.2",
    }
}

table! {
    /// A piece of cloth. One of `grid`, `disc`, `cylinder`, `sphere`, `pillow`, `discs`, `annuli`,
    /// `mesh` gives its shape.
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
        /// An OBJ file. `vt` is the flat material space in metres; without `vt` the mesh is at rest
        /// as it is, and if it is not flat, its material must be isotropic.
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
        /// The shape starts stretched or shrunk by these factors along x, y and z, before it is
        /// turned; its rest shape stays.
        scale: Sides = "[1, 1, 1]",
        /// A fold across x, in which the cloth is at rest.
        fold: Fold = optional,
        /// Turned about x, then y, then z, degrees.
        rotation: DVec3 = "[0, 0, 0]",
        /// Then moved, m.
        position: DVec3 = "[0, 0, 0]",
        /// Random displacement at the start, m.
        jitter: NonNegative = "0",
        /// Velocity at the start, m/s.
        velocity: DVec3 = "[0, 0, 0]",
        /// Vertices that are held.
        pin: PinTable = repeated,
        /// Pressure inside a closed surface, Pa.
        pressure: f64 = optional,
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

/// A preset, or a preset with changes.
#[derive(Clone, Debug, PartialEq)]
pub enum MaterialChoice {
    /// The name of a preset, and its line.
    Preset(String, usize),
    /// A table.
    Table(Box<MaterialTable>),
}

impl Read for MaterialChoice {
    fn expected() -> String {
        "the name of a preset, or a table, see MaterialTable".to_owned()
    }
    fn read(item: &Item<'_>, mistakes: &mut Collector) -> Option<Self> {
        match item.get_ref().as_str() {
            Some(name) => Some(Self::Preset(name.to_owned(), mistakes.line(item.span().start))),
            None => MaterialTable::read(item, mistakes).map(|table| Self::Table(Box::new(table))),
        }
    }
    fn tables(out: &mut Vec<TableReference>) {
        MaterialTable::tables(out);
    }
}

table! {
    /// A material: a preset and what differs from it (`plisse materials` lists the presets), or an
    /// isotropic solid and its thickness: `young`, `poisson`, `thickness`, and `mass_density` or
    /// `density`. These say everything, so that nothing comes from a preset; of the rest,
    /// `membrane`, `bending`, `law`, `weight` and `damping` go with them.
    pub struct MaterialTable ("material") {
        /// Name of the preset; cotton if nothing is said.
        preset: String = optional,
        /// Mass per area, kg/m².
        density: Positive = optional,
        /// Young's modulus of a solid, Pa.
        young: Positive = optional,
        /// Thickness of the sheet, m.
        thickness: Positive = optional,
        /// Mass per volume of the solid, kg/m³; times `thickness` this is `density`.
        mass_density: Positive = optional,
        /// The energy of stretch. `fibres` takes `warp` and `weft`, the others `tensile` and
        /// `poisson` (`arap` only `tensile`).
        membrane: MembraneName = optional,
        /// Tensile modulus along the warp, N/m.
        warp: Positive = optional,
        /// Tensile modulus along the weft, N/m.
        weft: Positive = optional,
        /// Shear modulus between warp and weft, N/m; zero for none.
        shear: NonNegative = optional,
        /// How shear resists.
        shear_law: ShearName = optional,
        /// Directions of warp and weft in material coordinates.
        fibres: FibreDirections = optional,
        /// Tensile stiffness of an isotropic sheet (Young's modulus times thickness), N/m.
        tensile: Positive = optional,
        /// Poisson's ratio of an isotropic sheet or solid, also for `mid-edge` bending.
        poisson: PoissonRatio = optional,
        /// The bending model.
        bending: BendingName = optional,
        /// Bending rigidity, N m. Two values, along warp and weft, for `hinge` bending: the cloth
        /// bends with the first one where the warp bends.
        rigidity: WarpWeft = optional,
        /// How the energy of `hinge` bending grows with the angle.
        law: LawName = optional,
        /// How the mesh enters the stiffness of hinges.
        weight: WeightName = optional,
        /// What takes energy out of the motion: a rate in proportion to mass, 1/s, or a table.
        /// Without it that of the preset, and none for tensile or shear moduli without a `preset`.
        damping: DampingChoice = optional,
    }
}

/// Damping in proportion to mass, or a table.
#[derive(Clone, Debug, PartialEq)]
pub enum DampingChoice {
    /// In proportion to mass, 1/s.
    Mass(NonNegative),
    /// A table.
    Table(Box<DampingTable>),
}

impl Read for DampingChoice {
    fn expected() -> String {
        "zero or a positive number, or a table, see DampingTable".to_owned()
    }
    fn read(item: &Item<'_>, mistakes: &mut Collector) -> Option<Self> {
        if item.get_ref().is_table() {
            DampingTable::read(item, mistakes).map(|table| Self::Table(Box::new(table)))
        } else {
            NonNegative::read(item, mistakes).map(Self::Mass)
        }
    }
    fn tables(out: &mut Vec<TableReference>) {
        DampingTable::tables(out);
    }
}

table! {
    /// What takes energy out of the motion. Of `strain_rate`, `viscosity` and `isotropic_viscosity`
    /// one may be given.
    pub struct DampingTable ("damping") {
        /// Of changes of strain in the plane, or along wires: the moduli times this, s. Rigid
        /// motions are free.
        strain_rate: NonNegative = "0",
        /// Of changes of bending angles: the stiffness times this, s. Rigid motions of sheets are
        /// free, those of wires nearly.
        bending: NonNegative = "0",
        /// Of changes of strain: viscosities along warp and weft and of shear, N s/m.
        viscosity: DVec3 = optional,
        /// Of changes of strain: the viscosities lambda and mu of an isotropic sheet, N s/m.
        isotropic_viscosity: DVec2 = optional,
        /// How one of these changes with the rate.
        rate_law: RateLawTable = optional,
        /// In proportion to mass, 1/s. It slows down rigid motions, too.
        mass: NonNegative = "0",
        /// Rayleigh's damping: the stiffness in the plane times this, s. For comparison: it slows
        /// down swinging under tension.
        rayleigh: NonNegative = "0",
    }
}

table! {
    /// A resistance that is in proportion to the strain rate below a rate, and to a power of it
    /// above.
    pub struct RateLawTable ("rate_law") {
        /// The rate of the change, 1/s.
        rate: Positive = required,
        /// Above `rate` the viscous stress grows like the rate to the power of this less one: 1 as
        /// dry friction, 2 as without.
        exponent: RateExponent = required,
    }
}

names! {
    /// The energy of stretch.
    pub enum MembraneName {
        /// Baraff-Witkin.
        Fibres = "fibres",
        /// The same in Green's strain.
        Green = "green",
        /// As rigid as possible.
        Arap = "arap",
        /// St. Venant-Kirchhoff.
        StVenantKirchhoff = "st-venant-kirchhoff",
        /// Corotational.
        Corotational = "corotational",
        /// Stable neo-Hookean, of the surface alone.
        NeoHookean = "neo-hookean",
        /// Incompressible neo-Hookean: rubber, which thins as it is stretched.
        NeoHookeanIncompressible = "neo-hookean-incompressible",
    }
}

names! {
    /// How shear resists.
    pub enum ShearName {
        /// Baraff-Witkin.
        Quadratic = "quadratic",
        /// No stiffness at rest.
        Quartic = "quartic",
    }
}

names! {
    /// The bending model.
    pub enum BendingName {
        /// Hinges along edges.
        Hinge = "hinge",
        /// Mid-edge normals.
        MidEdge = "mid-edge",
        /// A constant matrix.
        Quadratic = "quadratic",
        /// None.
        None = "none",
    }
}

names! {
    /// How the energy of an angle grows.
    pub enum LawName {
        /// The square of the angle; jumps where a hinge folds over.
        Quadratic = "quadratic",
        /// The square of the tangent of its half.
        Tangent = "tangent",
        /// One minus its cosine: smooth everywhere.
        Sine = "sine",
        /// One minus the cosine of its half.
        Cosine = "cosine",
    }
}

names! {
    /// How the mesh enters the stiffness of hinges.
    pub enum WeightName {
        /// Rigidity of a plate.
        AreaSum = "area-sum",
        /// Three times that.
        DiscreteShells = "discrete-shells",
        /// Stiffness of each hinge.
        Unit = "unit",
    }
}

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

table! {
    /// A filling that keeps a volume.
    pub struct VolumeTable ("volume") {
        /// Volume without pressure, m³.
        target: Positive = required,
        /// Bulk modulus, Pa.
        bulk: Positive = required,
    }
}

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
        /// Vertices that are held.
        pin: PinTable = repeated,
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

table! {
    /// What cloth and wires cannot enter. One of `plane`, `sphere`, `capsule`, `box`, `mesh` gives
    /// the shape.
    pub struct ObstacleTable ("[[obstacle]]") {
        /// For reports.
        name: String = optional,
        /// Everything below a plane.
        plane: PlaneShape = optional,
        /// A ball.
        sphere: BallShape = optional,
        /// A rod with round ends.
        capsule: CapsuleShape = optional,
        /// A box.
        r#box: BoxShape = optional,
        /// A closed OBJ mesh.
        mesh: String = optional,
        /// Metres per unit of `mesh`: 1e-3 for a file in millimetres.
        mesh_unit: Positive = optional,
        /// Merges vertices of `mesh` that are this near to each other, m; `true` for a millionth of
        /// its size.
        weld: WeldChoice = optional,
        /// Turned about x, then y, then z, degrees.
        rotation: DVec3 = "[0, 0, 0]",
        /// Then moved, m.
        position: DVec3 = "[0, 0, 0]",
        /// Coefficient of friction.
        friction: NonNegative = "0.3",
        /// Gap at which contact begins, m. Without it, half of the mean edge of a cloth and at most
        /// the radius of wires. Vertices that start closer keep the gap of their start.
        range: Positive = optional,
        /// Pressure where the gap is 0.38 of the range, Pa; it grows without bound as the gap
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

table! {
    /// What is written, besides the report, a plot of the energies and checkpoints.
    pub struct Output ("[output]") {
        /// PNG pictures.
        pictures: Which = "\"all\"",
        /// OBJ meshes.
        meshes: Which = "\"last\"",
        /// A PC2 point cache for Blender.
        pc2: bool = "false",
        /// VTK files for ParaView.
        vtk: bool = "false",
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

/// Two numbers of cells.
pub type CellCounts = [Count; 2];
/// Two lengths, m.
pub type Lengths = [Positive; 2];
/// Three lengths, m.
pub type Sides = [Positive; 3];
/// Two directions in material coordinates.
pub type FibreDirections = [UnitDir2; 2];
/// Red, green, blue.
pub type Colour = [Fraction; 3];
/// Width and height in pixels.
pub type PictureSize = [Pixels; 2];

/// Numbers of vertices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Indices(pub Vec<u32>);

impl Read for Indices {
    fn expected() -> String {
        "a list of whole numbers".to_owned()
    }
    fn read(item: &Item<'_>, mistakes: &mut Collector) -> Option<Self> {
        let Some(array) = item.get_ref().as_array() else {
            super::read::refuse(item, "a list of whole numbers", mistakes);
            return None;
        };
        let read: Vec<Option<u32>> = array.iter().map(|entry| u32::read(entry, mistakes)).collect();
        read.into_iter().collect::<Option<_>>().map(Self)
    }
}
