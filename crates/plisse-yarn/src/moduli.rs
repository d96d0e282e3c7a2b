//! Virtual tests: what a woven patch resists with, as a sheet.
//!
//! A [`Specimen`] is a rectangle of whole cells whose outer nodes follow a prescribed deformation,
//! while everything inside, arc lengths included, finds its equilibrium. With the deformation
//! gradient `F` of the rim the reactions `f` of its nodes at `X` are the nominal stress
//!
//! ```text
//! P = 1/A Σ f ⊗ X = 1/A ∂W/∂F
//! ```
//!
//! in N/m. Outer yarns lie between a cell of the specimen and one outside and count by half. All
//! parts of the energy then grow with the number of cells, and moduli do not depend on it.

use glam::{DMat2, DVec2, DVec3};
use plisse_core::{Field, Id, Positive, Vertices};
use plisse_system::{
    Criterion, Implicit, NewtonSettings, Pose, Scheme, SetupError, State, StepError, System,
};
use thiserror::Error;

use crate::error::PatchError;
use crate::model::YarnModel;
use crate::patch::{Patch, side};
use crate::woven::Woven;
use crate::yarn::YarnMaterial;

/// What is done to a specimen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VirtualTest {
    /// Pulled along the warp; its width is free.
    Warp,
    /// Pulled along the weft; its width is free.
    Weft,
    /// Pulled at 45° to warp and weft; its width is free.
    Bias,
    /// A picture frame: the angle between warp and weft changes, their lengths do not.
    Shear,
    /// Bent to a cylinder around which the warp runs.
    BendWarp,
    /// Bent to a cylinder around which the weft runs.
    BendWeft,
}

impl VirtualTest {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Warp, Self::Weft, Self::Bias, Self::Shear, Self::BendWarp, Self::BendWeft];

    /// Its name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Warp => "warp",
            Self::Weft => "weft",
            Self::Bias => "bias",
            Self::Shear => "shear",
            Self::BendWarp => "bending, warp",
            Self::BendWeft => "bending, weft",
        }
    }
}

/// What a test has found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// Which test.
    pub test: VirtualTest,
    /// Strain; the change of the angle in radians for shear, curvature in 1/m for bending.
    pub strain: f64,
    /// Nominal stress in N/m: force per width at rest; moment per width in N for bending.
    pub stress: f64,
    /// Strain across the direction that was pulled; zero in the other tests.
    pub across: f64,
}

impl Reading {
    /// Stress over strain: N/m, or N m for bending.
    #[must_use]
    pub fn modulus(&self) -> f64 {
        self.stress / self.strain
    }

    /// Poisson's ratio: how much narrower the specimen becomes by strain of its length.
    #[must_use]
    pub fn poisson(&self) -> f64 {
        -self.across / self.strain
    }
}

/// How far the tests go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TestSettings {
    /// Strain of the tests that pull.
    pub strain: f64,
    /// Change of the angle between warp and weft, rad.
    pub angle: f64,
    /// Curvature, 1/m.
    pub curvature: f64,
}

impl Default for TestSettings {
    /// Small, so that moduli are those of the undeformed cloth: 0.1 %, 0.01 rad, a radius of 0.2 m.
    fn default() -> Self {
        Self { strain: 1e-3, angle: 1e-2, curvature: 5.0 }
    }
}

/// Why a test could not be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModuliError {
    /// The patch was refused.
    #[error("{0}")]
    Patch(#[from] PatchError),
    /// Too few crossings.
    #[error(
        "a specimen of {} by {} crossings is too small; give at least {LEAST} in each direction",
        counts[0],
        counts[1]
    )]
    Counts {
        /// Crossings along warp and weft.
        counts: [usize; 2],
    },
    /// A strain that makes no sense.
    #[error("the test \"{test}\" cannot go to {value}; give a positive number up to {limit:.3}")]
    Strain {
        /// Name of the test.
        test: &'static str,
        /// Strain, angle or curvature.
        value: f64,
        /// The largest one.
        limit: f64,
    },
    /// The width that is free was not found.
    #[error("the test \"{test}\" at a strain of {strain} finds no width without stress across")]
    NoWidth {
        /// Name of the test.
        test: &'static str,
        /// The strain.
        strain: f64,
    },
    /// The equations could not be set up.
    #[error("{0}")]
    Setup(#[from] SetupError),
    /// No equilibrium was found.
    #[error("{0}")]
    Step(#[from] StepError),
}

/// Fewest crossings in a direction: two at each end are clamped where it bends.
const LEAST: usize = 4;
/// Largest strain of the tests that pull. At 0.414 yarns without stretch are parallel in the bias
/// test.
const LARGEST_STRAIN: f64 = 0.3;
/// Largest change of the angle between warp and weft, rad.
const LARGEST_ANGLE: f64 = 1.0;
/// Largest angle of a joint of a yarn that is bent, rad.
const LARGEST_JOINT: f64 = 0.5;
/// Most trials for a width.
const TRIALS: usize = 60;

/// A rectangle of woven cloth under test. Its warp runs along x.
///
/// ```
/// use plisse_yarn::{Specimen, VirtualTest, Woven};
///
/// let specimen = Specimen::new(&Woven { counts: [8, 8], ..Woven::default() })?;
/// // 60 N of each yarn, and a yarn per millimetre.
/// let reading = specimen.test(VirtualTest::Warp, 1e-3)?;
/// assert!((reading.modulus() / 6e4 - 1.0).abs() < 1e-6);
/// # Ok::<(), plisse_yarn::ModuliError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Specimen {
    model: YarnModel,
    counts: [usize; 2],
    spacing: [f64; 2],
    damping: [f64; 2],
}

impl Specimen {
    /// A specimen of this cloth with that many crossings; tails are cut off.
    ///
    /// # Errors
    /// [`ModuliError::Patch`] as [`Woven::patch`], [`ModuliError::Counts`] for fewer than four
    /// crossings in a direction.
    pub fn new(woven: &Woven) -> Result<Self, ModuliError> {
        let Woven { counts, spacing, .. } = *woven;
        let whole = Woven { tails: [0.0; 2], ..woven.clone() }.patch()?;
        if counts.iter().any(|n| *n < LEAST) {
            return Err(ModuliError::Counts { counts });
        }
        let mut yarns = whole.yarns().to_vec();
        for yarn in &mut yarns {
            let last = counts[1 - side(yarn.family)] - 1;
            if yarn.number == 0 || yarn.number == last {
                let YarnMaterial { density, stretch, bending, .. } = yarn.material;
                yarn.material = YarnMaterial {
                    density: 0.5 * density,
                    stretch: 0.5 * stretch,
                    bending: 0.5 * bending,
                    ..yarn.material
                };
            }
        }
        let over = (0..whole.len() as u32).map(|node| whole.warp_is_over(node)).collect();
        let patch = Patch::new(whole.rest().to_vec(), yarns, over, woven.contacts)?;
        let damping = damping(woven);
        Ok(Self { model: YarnModel::new(patch), counts, spacing, damping })
    }

    /// Its area at rest, m².
    #[must_use]
    pub fn area(&self) -> f64 {
        let side = |k: usize| (self.counts[k] - 1) as f64 * self.spacing[k];
        side(0) * side(1)
    }

    /// Mass per area, kg/m².
    #[must_use]
    pub fn density(&self) -> f64 {
        self.model.patch().masses().iter().sum::<f64>() / self.area()
    }

    /// The nominal stress of a deformation gradient, in N/m: force in the direction of the row on
    /// a width across the direction of the column. Columns of the gradient are where a metre of
    /// warp and a metre of weft go.
    ///
    /// # Errors
    /// [`ModuliError::Step`] if no equilibrium is found.
    pub fn stress(&self, gradient: DMat2) -> Result<DMat2, ModuliError> {
        let rest = self.model.patch().rest();
        let place = |x: &DVec3| (gradient * x.truncate()).extend(0.0);
        let [nx, ny] = self.counts;
        let is_outer = |node: &usize| {
            let (i, j) = (node % nx, node / nx);
            i == 0 || j == 0 || i + 1 == nx || j + 1 == ny
        };
        let held: Vec<usize> = (0..rest.len()).filter(is_outer).collect();
        let (_, forces) = self.equilibrium(rest.iter().map(place).collect(), &held)?;
        let mut sum = DMat2::ZERO;
        for node in held {
            let (f, x) = (forces[node].truncate(), rest[node].truncate());
            sum += DMat2::from_cols(f * x.x, f * x.y);
        }
        Ok(sum * (1.0 / self.area()))
    }

    /// Makes a test: to this strain, angle (rad) or curvature (1/m).
    ///
    /// # Errors
    /// [`ModuliError::Strain`] for what is not positive or too large, and those of
    /// [`Self::stress`].
    pub fn test(&self, test: VirtualTest, strain: f64) -> Result<Reading, ModuliError> {
        let limit = match test {
            VirtualTest::Warp | VirtualTest::Weft | VirtualTest::Bias => LARGEST_STRAIN,
            VirtualTest::Shear => LARGEST_ANGLE,
            VirtualTest::BendWarp => LARGEST_JOINT / self.spacing[0],
            VirtualTest::BendWeft => LARGEST_JOINT / self.spacing[1],
        };
        // Written so that NaN is refused.
        if !(strain > 0.0 && strain <= limit) {
            return Err(ModuliError::Strain { test: test.name(), value: strain, limit });
        }
        match test {
            VirtualTest::Warp => self.pull(test, DVec2::X, 1.0, strain),
            VirtualTest::Weft => self.pull(test, DVec2::Y, 1.0, strain),
            VirtualTest::Bias => {
                // The width of a trellis of yarns that do not stretch.
                let width = (2.0 - (1.0 + strain).powi(2)).sqrt();
                self.pull(test, DVec2::ONE.normalize(), width, strain)
            }
            VirtualTest::Shear => {
                let (sin, cos) = (0.5 * strain).sin_cos();
                let stress = self.stress(DMat2::from_cols(DVec2::new(cos, sin), DVec2::new(sin, cos)))?;
                let by_angle = DMat2::from_cols(DVec2::new(-sin, cos), DVec2::new(cos, -sin)) * 0.5;
                Ok(Reading { test, strain, stress: contract(stress, by_angle), across: 0.0 })
            }
            VirtualTest::BendWarp => self.bend(test, 0, strain),
            VirtualTest::BendWeft => self.bend(test, 1, strain),
        }
    }

    /// All moduli.
    ///
    /// # Errors
    /// As [`Self::test`].
    pub fn moduli(&self, settings: &TestSettings) -> Result<Moduli, ModuliError> {
        let TestSettings { strain, angle, curvature } = *settings;
        let warp = self.test(VirtualTest::Warp, strain)?;
        let weft = self.test(VirtualTest::Weft, strain)?;
        let bias = self.test(VirtualTest::Bias, strain)?;
        let shear = self.test(VirtualTest::Shear, angle)?;
        let bending =
            [self.test(VirtualTest::BendWarp, curvature)?, self.test(VirtualTest::BendWeft, curvature)?];
        let held = self.stress(DMat2::from_diagonal(DVec2::new(1.0 + strain, 1.0)))?;
        Ok(Moduli {
            density: self.density(),
            warp: warp.modulus(),
            weft: weft.modulus(),
            coupling: held.col(1).y / strain,
            shear: shear.modulus(),
            bending: bending.map(|reading| reading.modulus()),
            stretch_damping: self.damping[0],
            bending_damping: self.damping[1],
            readings: vec![warp, weft, bias, shear, bending[0], bending[1]],
        })
    }

    /// Pulls along a direction; `width` is a guess.
    fn pull(&self, test: VirtualTest, along: DVec2, width: f64, strain: f64) -> Result<Reading, ModuliError> {
        let project = |d: DVec2| DMat2::from_cols(d * d.x, d * d.y);
        let (lengthwise, crosswise) = (project(along), project(along.perp()));
        let stress = |width: f64| self.stress(lengthwise * (1.0 + strain) + crosswise * width);
        // Secants of the stress across. Where it stays zero, the width does not matter.
        let (mut from, mut at) = (width, width * (1.0 - 1e-3 * strain));
        let mut last = contract(stress(from)?, crosswise);
        for _ in 0..TRIALS {
            let here = stress(at)?;
            let across = contract(here, crosswise);
            let step = across * (at - from) / (across - last);
            // Two equal stresses have no secant.
            let step = if step.is_finite() { step } else { 0.0 };
            if across == 0.0 || step.abs() <= SMALLEST_STEP * strain {
                let across = at - 1.0;
                return Ok(Reading { test, strain, stress: contract(here, lengthwise), across });
            }
            (from, last) = (at, across);
            at -= step;
            if !(at > 0.0 && at.is_finite()) {
                break;
            }
        }
        Err(ModuliError::NoWidth { test: test.name(), strain })
    }

    /// Bends along an axis of the plane. The cells at both ends are clamped. A joint turns by the
    /// curvature times the spacing: the clamped cells are then at the angle of a cylinder, over the
    /// distance of their middles.
    fn bend(&self, test: VirtualTest, axis: usize, curvature: f64) -> Result<Reading, ModuliError> {
        let (n, spacing) = (self.counts[axis], self.spacing[axis]);
        let along = DVec3::AXES[axis];
        let mut profile = vec![DVec3::ZERO; n];
        for k in 1..n {
            let angle = (k as f64 - 0.5 * n as f64) * curvature * spacing;
            profile[k] = profile[k - 1] + (along * angle.cos() + DVec3::Z * angle.sin()) * spacing;
        }
        let rest = self.model.patch().rest();
        let index = |node: usize| if axis == 0 { node % self.counts[0] } else { node / self.counts[0] };
        let place = |(node, x): (usize, &DVec3)| *x - along * x[axis] + profile[index(node)];
        let held = |node: &usize| index(*node) < 2 || index(*node) + 2 >= n;
        let held: Vec<usize> = (0..rest.len()).filter(held).collect();
        let (x, forces) = self.equilibrium(rest.iter().enumerate().map(place).collect(), &held)?;
        // The torque that turns the far end up; forces add up to nothing there.
        let turn = along.cross(DVec3::Z);
        let torque = |&&node: &&usize| (x[node] - profile[n - 1]).cross(forces[node]).dot(turn);
        let far = held.iter().filter(|node| index(**node) >= 2);
        let width = (self.counts[1 - axis] - 1) as f64 * self.spacing[1 - axis];
        let stress = far.map(|node| torque(&node)).sum::<f64>() / width;
        Ok(Reading { test, strain: curvature, stress, across: 0.0 })
    }

    /// Positions in equilibrium with some nodes held, and the forces that hold them, N.
    fn equilibrium(&self, x: Vec<DVec3>, held: &[usize]) -> Result<(Vec<DVec3>, Vec<DVec3>), ModuliError> {
        let patch = self.model.patch();
        let mut builder = System::builder(Field::from_vec(patch.masses()));
        for term in self.model.terms(DVec3::ZERO, DVec3::ZERO) {
            builder = builder.boxed_term(term);
        }
        let id = |node: usize| Id::<Vertices>::new(node as u32);
        let system = builder.pins(held.iter().map(|node| id(*node))).build()?;
        let mut state = State::at_rest(Field::from_vec(x))?;
        // What the stretch of a cell stores at a strain of 1e-8.
        let cell = patch.yarns().iter().map(|yarn| yarn.material.stretch).fold(0.0, f64::max);
        let energy = 1e-16 * cell * self.spacing[0].max(self.spacing[1]);
        let criterion = Criterion::Decrement(Positive::new(energy).unwrap_or(FALLBACK));
        let settings = NewtonSettings { criterion, ..NewtonSettings::default() };
        let mut implicit = Implicit::new(&system, Scheme::Quasistatic, settings)?;
        implicit.equilibrate(&system, &mut state)?;
        let mut gradient = Field::filled(system.size(), DVec3::ZERO);
        let pose = Pose { own: &state.own().values, ..Pose::at(state.x()) };
        system.gradient(&pose, &mut gradient);
        Ok((state.x().as_slice().to_vec(), gradient.as_slice().to_vec()))
    }
}

/// A criterion for materials whose own is out of range, J.
const FALLBACK: Positive = Positive::literal(1e-18);
/// Change of a width that ends the search, by strain.
const SMALLEST_STEP: f64 = 1e-10;

fn contract(a: DMat2, b: DMat2) -> f64 {
    a.col(0).dot(b.col(0)) + a.col(1).dot(b.col(1))
}

/// Damping times of the sheet: those of warp and weft, weighted by what they carry.
fn damping(woven: &Woven) -> [f64; 2] {
    let share = |of: fn(&YarnMaterial) -> [f64; 2]| {
        let ([a, s], [b, t]) = (of(&woven.warp), of(&woven.weft));
        let (a, b) = (a / woven.spacing[1], b / woven.spacing[0]);
        if a + b > 0.0 { (a * s + b * t) / (a + b) } else { 0.0 }
    };
    [share(|yarn| [yarn.stretch, yarn.stretch_damping]), share(|yarn| [yarn.bending, yarn.bending_damping])]
}

/// Figures of a sheet that resists as woven cloth does.
#[derive(Clone, Debug, PartialEq)]
pub struct Moduli {
    /// Mass per area, kg/m².
    pub density: f64,
    /// Tensile modulus along the warp with the width free, N/m.
    pub warp: f64,
    /// Along the weft.
    pub weft: f64,
    /// Stress across the warp where it is pulled and the width is held, by strain, N/m.
    pub coupling: f64,
    /// Shear modulus between warp and weft, N/m.
    pub shear: f64,
    /// Bending rigidities where the warp bends and where the weft bends, N m.
    pub bending: [f64; 2],
    /// Damping time of stretching, s.
    pub stretch_damping: f64,
    /// Damping time of bending, s.
    pub bending_damping: f64,
    /// The tests, in the order of [`VirtualTest::ALL`].
    pub readings: Vec<Reading>,
}

impl Moduli {
    /// Those of a woven cloth, from a specimen with its number of crossings.
    ///
    /// # Errors
    /// As [`Specimen::new`] and [`Specimen::moduli`].
    pub fn of(woven: &Woven) -> Result<Self, ModuliError> {
        Specimen::new(woven)?.moduli(&TestSettings::default())
    }

    /// The modulus at 45° that an orthotropic sheet with the other moduli would have, N/m. Yarns
    /// that slide or jam make the test differ from it.
    #[must_use]
    pub fn bias_of_sheet(&self) -> f64 {
        let poisson = self.readings.first().map_or(0.0, Reading::poisson);
        let compliance = -poisson / self.warp;
        4.0 / (1.0 / self.warp + 2.0 * compliance + 1.0 / self.weft + 1.0 / self.shear)
    }
}
