//! The equilibrium of a base mesh.

use glam::DVec3;
use plisse_core::{Field, Id, Positive, TriangleMap, Vertices};
use plisse_eigen::PolarFrame;
use plisse_membrane::TensionRegime;
use plisse_system::{
    Criterion, HessianPolicy, LinearSolver, Newton, NewtonSettings, Pin, Pose, Search, SetupError, System,
    SystemBuilder,
};

use super::energy::Energy;
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
        let builder = System::massless(self.mesh().vertex_count()).boxed_term(membrane).boxed_term(bending);
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
        check_finite(&x)?;
        if self.floats() {
            for (vertex, pin) in hold_floating(&x) {
                builder = builder.constrain(vertex, pin);
            }
        }
        // Where neither pins nor these hold it, terms of the caller must.
        let system = builder.held_by_terms().build()?;
        if let Some(term) = system.terms().find(|term| !term.own().is_empty()) {
            let (term, integrator) = (term.name().to_owned(), "a tension field");
            return Err(SetupError::OwnInertia { term, integrator }.into());
        }
        let tolerance = self.pressure_scale(settings.tolerance)?;
        let mut newton = Newton::new(NewtonSettings {
            criterion: Criterion::ForcePerMass(tolerance),
            max_iterations: settings.max_iterations,
            hessian: HessianPolicy::ExactWhenNear,
            solver: LinearSolver::Cholesky,
            search: Search::Secant,
            ..NewtonSettings::default()
        });
        let mut energy = Energy::new(&system, &self.vertex_areas());
        let (found, failure) = match newton.minimise(&mut energy, &mut x) {
            Ok(report) => (report, None),
            Err(error) => (error.report, Some(error.failure)),
        };
        let minimum = failure.is_none() && newton.is_minimum(&mut energy, &x) == Some(true);
        let (residual, tolerance) = (found.residual, tolerance.get());
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
            volume: self.pressure_term()?.map(|pressure| pressure.volume(&x)),
            regimes: self.regimes(&x),
            iterations: found.iterations,
        };
        let last = BaseSolution { x, report };
        match failure {
            None => Ok(last),
            Some(failure) => {
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
    fn pressure_scale(&self, part: Positive) -> Result<Positive, WrinkleError> {
        let area: f64 = self.rest().as_slice().iter().map(TriangleMap::area).sum();
        let value = part.get() * self.sheet().young() * self.sheet().thickness() / area.sqrt();
        let (what, expected) = ("the tolerance", "give a larger tolerance");
        Positive::new(value).map_err(|_| WrinkleError::Parameter { what, value, expected })
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
fn hold_floating(x: &Field<Vertices, DVec3>) -> Vec<(Id<Vertices>, Pin)> {
    let mut out: Vec<(Id<Vertices>, Pin)> = Vec::new();
    // The farthest of the vertices that are left; of equal ones the first.
    let far = |taken: &[(Id<Vertices>, Pin)], score: &dyn Fn(DVec3) -> f64| {
        let left = x.iter().filter(|(v, _)| taken.iter().all(|(other, _)| other != v));
        let farthest = left.max_by(|a, b| score(*a.1).total_cmp(&score(*b.1)).then(b.0.cmp(&a.0)));
        farthest.map(|(v, x)| (v, *x))
    };
    let middle = x.as_slice().iter().sum::<DVec3>() / x.len().max(1) as f64;
    let Some((a, xa)) = far(&out, &|x| x.distance_squared(middle)) else { return out };
    out.push((a, Pin::Still));
    let Some((b, xb)) = far(&out, &|x| x.distance_squared(xa)) else { return out };
    let line = (xb - xa).normalize_or(DVec3::X);
    out.push((b, Pin::Line(line)));
    let Some((c, xc)) = far(&out, &|x| (x - xa).cross(line).length_squared()) else { return out };
    let normal = line.cross(xc - xa).normalize_or(line.any_orthonormal_vector());
    out.push((c, Pin::Plane(normal)));
    out
}
