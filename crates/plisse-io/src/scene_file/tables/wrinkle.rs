//! Fine wrinkles on a coarse mesh.

use plisse_core::{PoissonRatio, Positive};

use crate::scene_file::read::{names, table};
use crate::scene_file::values::{Count, Fraction, NonNegative};

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
