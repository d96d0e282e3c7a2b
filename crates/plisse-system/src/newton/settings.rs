//! How Newton's method works and when it stops.

use plisse_core::{Positive, Psd};
use plisse_sparse::LinearSolver;

/// When the iteration has converged. No criterion depends on the mesh: all are densities or
/// integrals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Criterion {
    /// Accelerations are right to this, in m/s²: either no node has an unbalanced force per mass
    /// above it, or the Newton decrement says that the step left to do changes accelerations by
    /// less than a tenth of it, in the root mean square over the mass of every part that nothing
    /// couples to the rest: `√(2 · decrement · inertia / mass)`, a bound where the stiffness is
    /// positive semidefinite. Stiff sheets need the latter: forces of 1 N on an edge of 1e8 N/m are
    /// 10 nm.
    Acceleration(Positive),
    /// No node has an unbalanced force per mass above this, in m/s²; a
    /// [`Problem`](crate::Problem) of somebody's own may have another
    /// [residual](crate::Problem::residual) than force per mass.
    ForcePerMass(Positive),
    /// The energy that the next step would gain is below this, in joules.
    Decrement(Positive),
}

impl Criterion {
    /// The number, in the unit of the criterion.
    #[must_use]
    pub fn tolerance(self) -> f64 {
        let (Self::Acceleration(tolerance) | Self::ForcePerMass(tolerance) | Self::Decrement(tolerance)) =
            self;
        tolerance.get()
    }

    /// The same with a larger tolerance.
    pub(crate) fn times(self, factor: Positive) -> Self {
        // Beyond the range of tolerances, the criterion stays as it is.
        let times = |tolerance: Positive| Positive::new(tolerance.get() * factor.get()).unwrap_or(tolerance);
        match self {
            Self::Acceleration(tolerance) => Self::Acceleration(times(tolerance)),
            Self::ForcePerMass(tolerance) => Self::ForcePerMass(times(tolerance)),
            Self::Decrement(tolerance) => Self::Decrement(times(tolerance)),
        }
    }

    /// Whether masses are part of it.
    #[must_use]
    pub fn needs_mass(self) -> bool {
        !matches!(self, Self::Decrement(_))
    }

    /// Whether a residual is small enough.
    pub(super) fn met_by_residual(self, residual: f64) -> bool {
        self.needs_mass() && residual <= self.tolerance()
    }

    /// Whether what is left to gain is small enough. `error` is how wrong the problem thinks that
    /// its residual's quantity still is.
    pub(super) fn met_by_decrement(self, decrement: f64, error: Option<f64>) -> bool {
        match self {
            Self::ForcePerMass(_) => false,
            Self::Decrement(tolerance) => decrement <= tolerance.get(),
            Self::Acceleration(tolerance) => error.is_some_and(|error| error <= 0.1 * tolerance.get()),
        }
    }
}

/// Which Hessian the steps are computed with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HessianPolicy {
    /// Projected at first; exact once full steps converge; projected again where the exact one is
    /// not positive definite.
    ProjectedThenExact,
    /// Exact at first; projected where that is not positive definite, until full steps converge
    /// again.
    #[default]
    OnDemand,
    /// As [`Self::ProjectedThenExact`] until a full step promises less than a hundredth of the
    /// energies, then always exact: near the minimum indefinite matrices are regularised. For
    /// energies whose projection leaves out as much as the curvature that is soft, as that of
    /// pressure does.
    ExactWhenNear,
    /// Always with this policy. With [`Psd::Exact`] nothing is projected and indefinite matrices
    /// are regularised.
    Always(Psd),
}

/// How long steps are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Search {
    /// Half of the step, and half of that, until the energy falls enough; twice of it while that
    /// pays. Cheap: few steps need more than one energy.
    #[default]
    Halving,
    /// Near the minimum along the step, by secants of the slope, unless the slope has fallen to
    /// half at its end. For energies with kinks in the slope: a step that ends behind one would be
    /// followed by one back. The length then tells how wrong the curvature along the step was, and
    /// short steps are regularised by as much.
    Secant,
}

/// How equations are solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewtonSettings {
    /// When to stop.
    pub criterion: Criterion,
    /// Iterations after which it is an error not to have converged.
    pub max_iterations: usize,
    /// Which Hessian to use.
    pub hessian: HessianPolicy,
    /// How to solve linear systems.
    pub solver: LinearSolver,
    /// Relative residual of linear solves; none lets it follow the progress of the outer iteration.
    pub linear_tolerance: Option<Positive>,
    /// Whether to accept only steps that lower the energy enough.
    pub line_search: bool,
    /// How to find such steps.
    pub search: Search,
    /// Whether to add to the diagonal when a matrix is not positive definite or steps are poor.
    pub regularise: bool,
    /// Do `max_iterations` and do not test for convergence; only forces that vanish exactly end it
    /// sooner.
    pub fixed: bool,
}

impl Default for NewtonSettings {
    /// 0.1 m/s² (a hundredth of gravity), 100 iterations, everything automatic.
    fn default() -> Self {
        Self {
            criterion: Criterion::Acceleration(DEFAULT_ACCELERATION),
            max_iterations: 100,
            hessian: HessianPolicy::default(),
            solver: LinearSolver::Auto,
            linear_tolerance: None,
            line_search: true,
            search: Search::default(),
            regularise: true,
            fixed: false,
        }
    }
}

/// A hundredth of gravity.
const DEFAULT_ACCELERATION: Positive = Positive::literal(0.1);
