//! The equilibrium of a base mesh.

use glam::{DMat3, DVec3};
use plisse_core::{Field, Id, Positive, TriangleMap, Vertices, outer};
use plisse_eigen::PolarFrame;
use plisse_membrane::TensionRegime;
use plisse_system::{Pose, System, SystemBuilder};

use super::newton::{Energy, Limits, Run, Sliding, minimise};
use super::problem::BaseProblem;
use super::report::{BaseReport, BaseSolution};
use crate::error::{WrinkleError, fits};

/// How a base mesh is solved for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BaseSettings {
    /// Unbalanced force per area that is left, as a part of `Y h` over the size of the sheet (the
    /// square root of its area).
    pub tolerance: Positive,
    /// Iterations after which it is an error not to have converged.
    pub max_iterations: usize,
}

impl Default for BaseSettings {
    /// A tolerance of 1e-10 and 500 iterations: ten to twenty are usual, sheets with slack free
    /// edges need more.
    fn default() -> Self {
        Self { tolerance: Positive::literal(1e-10), max_iterations: 500 }
    }
}

impl BaseProblem {
    /// Finds an equilibrium from these positions, in metres. Held vertices are moved to their
    /// places first.
    ///
    /// # Errors
    /// [`WrinkleError::NoEquilibrium`] if none was found: it has the last positions, from which
    /// another call can go on.
    pub fn solve(
        &self,
        start: &Field<Vertices, DVec3>,
        settings: &BaseSettings,
    ) -> Result<BaseSolution, WrinkleError> {
        let [membrane, bending] = self.sheet_terms()?;
        let builder = System::builder(self.vertex_areas()).boxed_term(membrane).boxed_term(bending);
        self.equilibrium(builder, start, settings)
    }

    pub(super) fn equilibrium(
        &self,
        mut builder: SystemBuilder<Vertices>,
        start: &Field<Vertices, DVec3>,
        settings: &BaseSettings,
    ) -> Result<BaseSolution, WrinkleError> {
        fits("positions to start from", start, self.mesh().vertex_count())?;
        self.check_held()?;
        for term in self.load_terms()? {
            builder = builder.boxed_term(term);
        }
        let mut x = start.clone();
        for (vertex, place) in self.pinned() {
            x[*vertex] = *place;
            builder = builder.pin(*vertex);
        }
        let areas = self.vertex_areas();
        let mut sliding = Vec::new();
        if self.floats() {
            let (still, directions) = hold_floating(&x);
            builder = builder.pins(still);
            sliding = directions;
        }
        check_finite(&x)?;
        let system = builder.build()?;
        let tolerance = self.pressure_scale(settings.tolerance)?;
        let limits = Limits { tolerance, iterations: settings.max_iterations };
        let energy = Energy { system: &system, areas: &areas, sliding: &sliding };
        let Run { iterations, residual, minimum, result } = minimise(&energy, &mut x, limits);
        let pose = Pose::at(&x);
        let mut gradient = Field::filled(x.len(), DVec3::ZERO);
        system.gradient(&pose, &mut gradient);
        // What holds a floating sheet bears nothing, so it counts.
        let counts = |v: Id<Vertices>| self.floats() || !system.is_held(v);
        let forces = gradient.iter().filter(|(v, _)| counts(*v)).map(|(_, g)| g.length());
        let report = BaseReport {
            force: forces.fold(0.0, f64::max),
            residual,
            tolerance,
            minimum,
            energies: system.energies(&pose),
            volume: self.volume(&x),
            regimes: self.regimes(&x),
            iterations,
        };
        let last = BaseSolution { x, report };
        match result {
            Ok(()) => Ok(last),
            Err(failure) => {
                let iterations = last.report.iterations.len();
                let last = Box::new(last);
                Err(WrinkleError::NoEquilibrium { failure, iterations, residual, tolerance, last })
            }
        }
    }

    /// What the faces do at these positions: how many are taut, wrinkled and slack.
    #[must_use]
    pub fn regimes(&self, x: &Field<Vertices, DVec3>) -> [usize; 3] {
        let mut count = [0; 3];
        for (face, corners) in self.mesh().faces().iter() {
            let f = TriangleMap::deformation_gradient(&self.rest()[face], &corners.map(|v| x[v]));
            let regime = self.tension_field().law().regime(PolarFrame::new(&f).stretches());
            count[match regime {
                TensionRegime::Taut => 0,
                TensionRegime::Wrinkled => 1,
                TensionRegime::Slack => 2,
            }] += 1;
        }
        count
    }

    /// A part of `Y h` over the size of the sheet, in Pa.
    fn pressure_scale(&self, part: Positive) -> Result<f64, WrinkleError> {
        let area: f64 = self.rest().as_slice().iter().map(TriangleMap::area).sum();
        let value = part.get() * self.sheet().young() * self.sheet().thickness() / area.sqrt();
        let expected = "give a larger tolerance";
        if value > 0.0 && value.is_finite() {
            Ok(value)
        } else {
            Err(WrinkleError::Parameter { what: "the tolerance", value, expected })
        }
    }
}

fn check_finite(x: &Field<Vertices, DVec3>) -> Result<(), WrinkleError> {
    match x.iter().find(|(_, x)| !x.is_finite()) {
        None => Ok(()),
        Some((vertex, x)) => Err(WrinkleError::StartPlace { vertex, place: x.to_array() }),
    }
}

/// Three vertices that fix a rigid motion, and nothing else: one stays, one slides along the line
/// between both, one in the plane of all three. The loads of a floating sheet are in balance, so
/// none of them bears anything.
fn hold_floating(x: &Field<Vertices, DVec3>) -> (Option<Id<Vertices>>, Vec<Sliding>) {
    let far = |score: &dyn Fn(DVec3) -> f64| {
        let better = |a: &(Id<Vertices>, &DVec3), b: &(Id<Vertices>, &DVec3)| {
            // Of equal ones the first.
            score(*a.1).total_cmp(&score(*b.1)).then(b.0.cmp(&a.0))
        };
        x.iter().max_by(better).map(|(v, x)| (v, *x))
    };
    let middle = x.as_slice().iter().sum::<DVec3>() / x.len().max(1) as f64;
    let Some((a, xa)) = far(&|x| x.distance_squared(middle)) else { return (None, Vec::new()) };
    let Some((b, xb)) = far(&|x| x.distance_squared(xa)) else { return (Some(a), Vec::new()) };
    let line = (xb - xa).normalize_or(DVec3::X);
    let mut sliding = vec![(b, outer(line, line))];
    if let Some((c, xc)) = far(&|x| (x - xa).cross(line).length_squared()) {
        let normal = line.cross(xc - xa).normalize_or(line.any_orthonormal_vector());
        sliding.push((c, DMat3::IDENTITY - outer(normal, normal)));
    }
    (Some(a), sliding)
}
