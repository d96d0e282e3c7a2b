//! What a step did: solver history, energies and momenta.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use glam::DVec3;
use plisse_core::{Space, StepEnergy};
use thiserror::Error as ThisError;

use super::worst::Worst;
use crate::newton::{Ended, Failure, NewtonError, NewtonReport};
use crate::pose::Pose;
use crate::state::State;
use crate::system::{System, TermEnergy};
use crate::term::{Clearance, Moving, Role, Taut, Term};

/// A step that was taken.
#[derive(Clone, Debug, PartialEq)]
pub struct StepReport {
    /// Length in seconds.
    pub dt: f64,
    /// One solve per substep; an integrator without adaptation has one.
    pub solves: Vec<NewtonReport>,
    /// Substeps that were tried and thrown away.
    pub rejected: usize,
    /// Energies at the end.
    pub energies: Energies,
    /// Where energy went during the step.
    pub balance: Balance,
    /// Energy that has appeared since the start although nothing explains it, as a fraction of the
    /// energy in play: [`Ledger::fraction`](crate::Ledger::fraction). Zero for equilibria and
    /// explicit steps, which keep no account.
    pub unexplained: f64,
    /// Whether an equilibrium is stable, a minimum of the energy: see
    /// [`Scheme::Quasistatic`](crate::Scheme::Quasistatic). `None` for steps in time, and where it
    /// is not known.
    pub stable: Option<bool>,
    /// The closest approach to what terms such as contact keep nodes away from, at the ends of the
    /// substeps.
    pub closest: Option<Closest>,
    /// The element that came nearest to a limit of its stretch, at the ends of the substeps; none
    /// without such a limit.
    pub tautest: Option<Tautest>,
    /// Linear momentum at the end, in kg m/s.
    pub momentum: DVec3,
    /// Angular momentum about the origin at the end, in kg m²/s.
    pub angular_momentum: DVec3,
}

impl StepReport {
    /// Two steps, one after the other, as one.
    #[must_use]
    pub fn followed_by(self, mut next: Self) -> Self {
        let mut solves = self.solves;
        solves.append(&mut next.solves);
        let closest = match (self.closest, next.closest) {
            (Some(a), Some(b)) => Some(a.and(b)),
            (a, b) => a.or(b),
        };
        let tautest = match (self.tautest, next.tautest) {
            (Some(a), Some(b)) => Some(a.and(b)),
            (a, b) => a.or(b),
        };
        let unexplained = self.unexplained.max(next.unexplained);
        let balance = self.balance.followed_by(next.balance);
        let (dt, rejected) = (self.dt + next.dt, self.rejected + next.rejected);
        Self { dt, rejected, solves, balance, unexplained, closest, tautest, ..next }
    }

    /// Newton iterations in all substeps.
    #[must_use]
    pub fn iterations(&self) -> usize {
        self.solves.iter().map(|solve| solve.iterations.len()).sum()
    }

    /// Residual at the end of the last substep, in m/s².
    #[must_use]
    pub fn residual(&self) -> f64 {
        self.solves.last().map_or(0.0, |solve| solve.residual)
    }

    /// Substeps whose residual was above the tolerance but as small as rounding allows.
    #[must_use]
    pub fn at_rounding(&self) -> usize {
        self.solves.iter().filter(|solve| solve.ended == Some(Ended::Rounding)).count()
    }
}

/// The closest approach of a node to what a term keeps it away from.
#[derive(Clone, Debug, PartialEq)]
pub struct Closest {
    /// Name of the term.
    pub term: String,
    /// Number of the node.
    pub node: usize,
    /// Its distance, m; infinite where nothing is close and only `held_depth` is to be told.
    pub gap: f64,
    /// The two parts that are so close, in words; see [`Clearance::parts`].
    pub parts: [String; 2],
    /// Where they are closest, m.
    pub place: DVec3,
    /// The largest depth, m, of nodes that pins hold on the wrong side; zero if there are none.
    /// Nothing can push these out.
    pub held_depth: f64,
}

impl Closest {
    /// Over terms, each with the pose as it sees it.
    pub(crate) fn of<'a, S: Space>(
        terms: impl Iterator<Item = (&'a dyn Term<S>, Pose<'a, S>)>,
    ) -> Option<Self> {
        let one = |(term, pose): (&dyn Term<S>, Pose<'_, S>)| {
            let Clearance { node, gap, parts, place, held_depth } = term.clearance(&pose)?;
            Some(Self { term: term.name().to_owned(), node: node.index(), gap, parts, place, held_depth })
        };
        terms.filter_map(one).reduce(Self::and)
    }

    /// The closer of two approaches.
    pub(crate) fn and(self, other: Self) -> Self {
        let held_depth = self.held_depth.max(other.held_depth);
        Self { held_depth, ..if other.gap < self.gap { other } else { self } }
    }
}

/// The two parts, their gap and where it is.
impl fmt::Display for Closest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { parts: [one, other], gap, place, .. } = self;
        write!(f, "{one} and {other}, gap {gap:.2e} m at ({:.4}, {:.4}, {:.4})", place.x, place.y, place.z)
    }
}

/// The element that is nearest to a limit of its stretch, relative to the way from rest to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tautest {
    /// Name of the term that limits it.
    pub term: String,
    /// Which element, how far it is stretched, and the limit.
    pub taut: Taut,
}

impl Tautest {
    /// Over all terms of a system.
    pub(crate) fn of<S: Space>(system: &System<S>, pose: &Pose<'_, S>) -> Option<Self> {
        let one = |(term, pose): (&dyn Term<S>, Pose<'_, S>)| {
            let taut = term.tautest(&pose)?;
            Some(Self { term: term.name().to_owned(), taut })
        };
        system.at(pose).filter_map(one).reduce(Self::and)
    }

    /// Whether it is at least half of the way to its limit.
    pub(crate) fn is_taut(&self) -> bool {
        self.taut.stretch - 1.0 >= 0.5 * (self.taut.limit - 1.0)
    }

    /// The tauter of two.
    pub(crate) fn and(self, other: Self) -> Self {
        let part = |it: &Self| (it.taut.stretch - 1.0) / (it.taut.limit - 1.0);
        if part(&other) > part(&self) { other } else { self }
    }
}

impl fmt::Display for Tautest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Taut { element, stretch, limit } = self.taut;
        // As many digits as it takes to see that it is below the limit.
        let digits = 2 - (limit - stretch).abs().max(1e-15).log10().floor().min(0.0) as i32;
        let digits = usize::try_from(digits).unwrap_or(2).min(15);
        write!(
            f,
            "{}: face {element} is {stretch:.digits$} times as long as at rest, at most {limit}",
            self.term
        )
    }
}

/// Energies of a state, in joules.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Energies {
    /// Kinetic energy.
    pub kinetic: f64,
    /// Each term. Values of dissipative terms are potentials of the step, not stored energies.
    pub terms: Vec<TermEnergy>,
}

impl Energies {
    /// Stored energy of the elastic terms.
    #[must_use]
    pub fn elastic(&self) -> f64 {
        self.sum(Role::Elastic)
    }

    /// Potential of the loads.
    #[must_use]
    pub fn external(&self) -> f64 {
        self.sum(Role::External)
    }

    /// Kinetic, elastic and external energy together.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.kinetic + self.elastic() + self.external()
    }

    fn sum(&self, role: Role) -> f64 {
        self.terms.iter().filter(|term| term.role == role).map(|term| term.energy).sum()
    }

    /// The energies of a state at rest or in motion.
    #[must_use]
    pub fn of<S: Space>(system: &System<S>, state: &State<S>) -> Self {
        let pose = state.pose();
        let parts: Vec<f64> = system.at(&pose).map(|(term, pose)| term.energy(&pose)).collect();
        let own = system.own_values(&state.own().values);
        let moving = Moving { x: state.x(), v: state.v(), own, own_rates: &state.own().rates };
        Self::with_parts(system, parts.into_iter(), &moving)
    }

    /// The energies of a state that a step has led to, where its terms have been evaluated.
    pub(crate) fn at_end_of_step<S: Space>(
        system: &System<S>,
        parts: &[StepEnergy],
        moving: &Moving<'_, S>,
    ) -> Self {
        let reported = |(term, part): (&dyn Term<S>, &StepEnergy)| match term.role() {
            Role::Dissipative | Role::Inertial => part.potential,
            Role::Elastic | Role::External => part.stored,
        };
        Self::with_parts(system, system.terms().zip(parts).map(reported), moving)
    }

    fn with_parts<S: Space>(
        system: &System<S>,
        parts: impl Iterator<Item = f64>,
        moving: &Moving<'_, S>,
    ) -> Self {
        let v = moving.v;
        let of_nodes = system
            .mass()
            .map_or(0.0, |mass| mass.iter().map(|(node, m)| 0.5 * m * v[node].length_squared()).sum());
        let inertial = system.terms().enumerate().filter(|(_, term)| term.role() == Role::Inertial);
        let of_terms = inertial.map(|(i, term)| {
            let range = system.own_of(i);
            let own_rates = moving.own_rates.get(range.clone()).unwrap_or_default();
            term.kinetic_energy(&Moving { own: &moving.own[range], own_rates, ..*moving })
        });
        let kinetic = of_terms.fold(of_nodes, |sum: f64, energy| sum + energy);
        let named = system.terms().zip(parts).map(|(term, energy)| TermEnergy {
            name: term.name().to_owned(),
            role: term.role(),
            energy,
        });
        Self { kinetic, terms: named.collect() }
    }
}

/// Changes of energy during a step, in joules. `after - before = work - dissipated - numerical`.
///
/// Work and dissipation are forces at the end of the step times the way; of damping, stresses times
/// changes of strain. Both belong to backward Euler. With other schemes they are right to first
/// order in the step, and `numerical` contains the difference.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Balance {
    /// Total energy (kinetic, elastic, external) at the start.
    pub before: f64,
    /// Total energy at the end.
    pub after: f64,
    /// Work that moving pins, obstacles, and springs to moving points did, and what wind and
    /// friction of moving obstacles fed into the motion: in every substep each of them either works
    /// or dissipates, on the whole.
    pub work: f64,
    /// What damping and other dissipative forces took from the motion: the sum of
    /// [`StepEnergy::dissipated`] without what is work. Of wind and friction never negative. Of
    /// damping it can be, where [`StepEnergy::dissipated`] says so.
    pub dissipated: f64,
}

impl Balance {
    /// What the scheme itself lost, or gained if negative.
    #[must_use]
    pub fn numerical(&self) -> f64 {
        self.before - self.after + self.work - self.dissipated
    }

    pub(crate) fn followed_by(self, next: Self) -> Self {
        Self {
            before: self.before,
            after: next.after,
            work: self.work + next.work,
            dissipated: self.dissipated + next.dissipated,
        }
    }
}

pub(crate) fn momenta<S: Space>(system: &System<S>, state: &State<S>) -> (DVec3, DVec3) {
    let (mut linear, mut angular) = (DVec3::ZERO, DVec3::ZERO);
    if let Some(mass) = system.mass() {
        for (node, m) in mass.iter() {
            let p = state.v()[node] * *m;
            linear += p;
            angular += state.x()[node].cross(p);
        }
    }
    (linear, angular)
}

/// Why a step was not taken. The state is as it was.
#[derive(Clone, Debug, PartialEq, ThisError)]
#[non_exhaustive]
pub enum StepError {
    /// The equations were not solved to the tolerance.
    #[error(
        "{} from t = {time} s: {}",
        if *is_equilibrium { "equilibrium".to_owned() } else { format!("step of {dt} s") },
        not_converged(error, *is_equilibrium, *dt, taut.as_deref(), closest.as_deref(), worst.as_deref())
    )]
    NotConverged {
        /// Start of the step in seconds.
        time: f64,
        /// Length of the step in seconds.
        dt: f64,
        /// Whether it was an equilibrium that was not found.
        is_equilibrium: bool,
        /// What was tried.
        error: Box<NewtonError>,
        /// What was pulled towards a limit of its stretch, if anything was: where pins pull further
        /// than the cloth can follow, no step succeeds.
        taut: Option<Box<Tautest>>,
        /// The smallest gap, if contact or something like it was in the way: where the step began
        /// if it found no room, else where the solver gave up.
        closest: Option<Box<Closest>>,
        /// The node that is farthest from balance; none if the step had no place to begin.
        worst: Option<Box<Worst>>,
    },
    /// A prescribed path gives a position that is not finite.
    #[error("the path of {node} gives {value:?} at t = {time} s, which is not finite")]
    BadMotion {
        /// The node, with the name of its space.
        node: String,
        /// Time in seconds.
        time: f64,
        /// The position.
        value: [f64; 3],
    },
    /// The state belongs to another system.
    #[error("the state has {found} positions, the system {expected} nodes")]
    WrongSize {
        /// Nodes of the system.
        expected: usize,
        /// Positions of the state.
        found: usize,
    },
    /// The integrator was made for another system.
    #[error("the integrator was made for another system; make one for this system")]
    WrongSystem,
    /// An explicit step left the range of numbers.
    #[error(
        "{node} left all bounds at t = {time} s: an explicit step of {dt} s is too long for this stiffness; shorten it or integrate implicitly"
    )]
    Unstable {
        /// The node, with the name of its space.
        node: String,
        /// Time in seconds.
        time: f64,
        /// Length of the step in seconds.
        dt: f64,
    },
    /// A node is on the wrong side of something that should have kept it away.
    #[error(
        "step of {dt} s from t = {time} s: node {node} would end on the wrong side ({term}); take shorter steps"
    )]
    Crossed {
        /// Start of the step in seconds.
        time: f64,
        /// Length of the step in seconds.
        dt: f64,
        /// Number of the node.
        node: usize,
        /// Name of the term that should have kept it away.
        term: String,
    },
    /// The motion has gained energy from nowhere, and shorter steps do not help.
    #[error(
        "at t = {time} s the motion has gained {excess:.3e} J that nothing explains, {:.0} % of the {scale:.3e} J in play: the \
         time integration is unstable. {remedy}",
        100.0 * excess / scale
    )]
    EnergyGained {
        /// Time in seconds.
        time: f64,
        /// The gain, J.
        excess: f64,
        /// The largest energy in play so far, J.
        scale: f64,
        /// What helps with this scheme, as a sentence without its full stop.
        remedy: &'static str,
    },
    /// A step that is too short to change the time.
    #[error("a step of {dt} s does not change the time of {time} s; take longer steps, or begin at zero")]
    NoAdvance {
        /// Time in seconds.
        time: f64,
        /// Length of the step in seconds.
        dt: f64,
    },
    /// Something has gone so far away that the numbers of its positions do not resolve it any more.
    #[error(
        "at t = {time} s node {node} is {distance:.1e} m from the origin, where its mesh is lost in rounding"
    )]
    Lost {
        /// Time in seconds.
        time: f64,
        /// Number of the node.
        node: usize,
        /// m.
        distance: f64,
    },
    /// An integrator could not take the step for a reason of its own: a projection or a contact
    /// solve that failed, for instance.
    #[error("step of {dt} s from t = {time} s: {cause}")]
    Failed {
        /// Start of the step in seconds.
        time: f64,
        /// Length of the step in seconds.
        dt: f64,
        /// Whether a shorter step may succeed, so that [`Adaptive`](crate::Adaptive) tries one.
        may_heal: bool,
        /// The reason.
        #[source]
        cause: Cause,
    },
    /// Even the shortest allowed step did not converge.
    #[error("no step as short as {shortest} s converges; last attempt: {last}")]
    TooShort {
        /// Shortest step that was allowed.
        shortest: f64,
        /// The last attempt.
        last: Box<StepError>,
    },
}

/// A step that begins beyond a limit of stretch failed for this and nothing else. Of one that has
/// no place to begin, the solver has no history that would tell anything.
fn not_converged(
    error: &NewtonError,
    is_equilibrium: bool,
    dt: f64,
    taut: Option<&Tautest>,
    closest: Option<&Closest>,
    worst: Option<&Worst>,
) -> String {
    let closest = closest.map(|closest| format!("closest: {closest}"));
    match (taut, closest) {
        (Some(taut), _) if error.failure == Failure::NoRoom && taut.taut.stretch >= taut.taut.limit => {
            format!(
                "something pulls further than a limit of stretch allows. {taut}. Let pins move less far, or raise the limit"
            )
        }
        (None, Some(closest)) if error.failure == Failure::NoRoom => format!("{}; {closest}", error.failure),
        (taut, closest) => {
            let advice = advice(error.failure, is_equilibrium, dt).map(str::to_owned);
            let facts = taut.map(ToString::to_string).into_iter().chain(closest);
            let more = facts.chain(worst.map(ToString::to_string)).chain(advice);
            more.fold(error.to_string(), |text, more| format!("{text}. {more}"))
        }
    }
}

/// Steps that are no longer than this, s, are not to blame.
const SHORT: f64 = 1e-4;

/// What may help; nothing where the failure itself says what is wrong.
fn advice(failure: Failure, is_equilibrium: bool, dt: f64) -> Option<&'static str> {
    match failure {
        Failure::NoRoom | Failure::RunsAway => None,
        _ if is_equilibrium => Some(
            "Hold with pins what slides or tips over, ask for a larger tolerance, or let it come to rest in \
             time steps with damping",
        ),
        _ if dt <= SHORT => Some(
            "The step is short enough: a part of the material is too stiff, or the mesh too fine, for the \
             tolerance that is asked for; take a larger tolerance or a softer material",
        ),
        Failure::Iterations => Some("Try a shorter step, more iterations or a larger tolerance"),
        _ => Some("Try a shorter step or a larger tolerance"),
    }
}

impl StepError {
    /// Whether a shorter step may succeed.
    pub(crate) fn may_heal(&self) -> bool {
        matches!(self, Self::NotConverged { .. } | Self::Crossed { .. } | Self::Failed { may_heal: true, .. })
    }
}

/// An error of another crate, shared.
///
/// ```
/// use plisse_system::{Cause, StepError};
/// let cause = Cause::new(std::io::Error::other("the projection stalls at face 7"));
/// let error = StepError::Failed { time: 0.5, dt: 0.01, may_heal: true, cause };
/// assert_eq!(error.to_string(), "step of 0.01 s from t = 0.5 s: the projection stalls at face 7");
/// ```
#[derive(Clone, Debug)]
pub struct Cause(Arc<dyn Error + Send + Sync>);

impl Cause {
    /// Shares an error.
    pub fn new(error: impl Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(error))
    }

    /// The error, if it is an `E`.
    #[must_use]
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }
}

/// Of the same error.
impl PartialEq for Cause {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Cause {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}
