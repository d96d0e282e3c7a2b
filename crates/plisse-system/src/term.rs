//! A term of the energy, and where its second derivatives go.

use std::fmt;
use std::ops::{Index, IndexMut};

use glam::DVec3;
use plisse_core::{Field, Id, Psd, Space, StepEnergy};
use plisse_sparse::Sink;

use crate::error::SetupError;
use crate::memory::Memory;
use crate::pose::{Pose, StepMap};

/// How a term counts in the energy balance of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Stored energy: membranes, bending, springs.
    Elastic,
    /// Potential of a load: gravity, pressure, point loads.
    External,
    /// A potential of the step whose force depends on velocity: damping, wind. Its value is no
    /// stored energy.
    Dissipative,
    /// Inertia beside that of the masses of nodes: [`StepMap::inertia`] has its potential, and
    /// [`Term::kinetic_energy`] what it stores. Masses that couple several unknowns or depend on
    /// where these are, are kept as they were at the start of a step
    /// ([`Term::remember`]). Backward Euler only.
    Inertial,
}

/// A part of the energy: the sum over many elements, a load, a constraint force.
///
/// One virtual call evaluates all of it. Evaluation never fails and returns finite numbers for
/// finite positions; only a barrier has an infinite energy outside of its domain, and says with
/// [`Term::longest_step`] how far its inside reaches. Results must not depend on the number of
/// threads.
pub trait Term<S: Space>: Send + Sync {
    /// Name in reports; unique within a system.
    fn name(&self) -> &str;

    /// How the term counts in the energy balance.
    fn role(&self) -> Role {
        Role::Elastic
    }

    /// Whether the energy of given positions changes with time by itself, as that of a spring to a
    /// moving point does. Its change then counts as work in the energy balance.
    fn depends_on_time(&self) -> bool {
        false
    }

    /// Whether a dissipative term can drive the motion, as wind and friction of moving obstacles
    /// do. What it feeds into the motion within a step then counts as work in the energy balance.
    fn drives(&self) -> bool {
        false
    }

    /// Whether the gradient is that of the energy. Where it is not, a line search would judge steps
    /// by the wrong thing, and integrators refuse it.
    fn has_potential(&self) -> bool {
        true
    }

    /// Refuses a system of `size` nodes that the term does not fit. Nodes in [`Term::pattern`] are
    /// checked anyway.
    fn check(&self, size: usize) -> Result<(), SetupError> {
        _ = size;
        Ok(())
    }

    /// Unknowns that this term brings along, beside the positions of nodes: director angles of a
    /// shell, arc lengths of a yarn. [`Pose::own`] has their values.
    fn own(&self) -> Vec<OwnUnknown> {
        Vec::new()
    }

    /// The name of an earlier term whose own unknowns are those of this one, too: arc lengths of a
    /// yarn have inertia, are stretched and rub. Such a term brings none itself.
    fn shares_own(&self) -> Option<&str> {
        None
    }

    /// Names every pair of unknowns whose second derivative may be non-zero, once per block that
    /// [`Term::add_hessian`] will add, in that order. Of two pairs `(i, j)` and `(j, i)` one is
    /// enough.
    fn pattern(&self, pair: &mut dyn FnMut(Unknown<S>, Unknown<S>));

    /// Names further pairs, those of this pose, once per block that [`Term::add_hessian`] will add
    /// there after those of [`Term::pattern`]: vertices that are in contact, for instance. A
    /// Hessian whose pairs are all in the last pattern needs no new analysis.
    fn pairs(&self, pose: &Pose<'_, S>, pair: &mut dyn FnMut(Unknown<S>, Unknown<S>)) {
        _ = (pose, pair);
    }

    /// Energy in joules.
    fn energy(&self, pose: &Pose<'_, S>) -> f64;

    /// Adds the derivative of the energy: by positions in newtons.
    fn add_gradient(&self, pose: &Pose<'_, S>, gradient: &mut Gradient<'_, S>);

    /// Adds the derivative and says what a step to this pose stores and loses. Derivative and
    /// potential have the bits of [`Term::add_gradient`] and [`Term::energy`]. Terms override it
    /// where work is shared: elastic and external ones with [`StepEnergy::of_storage`], whose
    /// `stored` is what reports show, dissipative ones with [`StepEnergy::of_loss`].
    ///
    /// What is lost is, unless a term knows better, the force of a dissipative term times the way;
    /// to find it, every call evaluates the derivative twice, so dissipative terms should override
    /// it. So must elastic terms that also damp: what they would store is the whole potential here
    /// ([`ElementTerm`](crate::ElementTerm) does).
    fn energy_and_add_gradient(&self, pose: &Pose<'_, S>, gradient: &mut Gradient<'_, S>) -> StepEnergy {
        self.add_gradient(pose, gradient);
        let energy = self.energy(pose);
        match self.role() {
            Role::Elastic | Role::External => return StepEnergy::of_storage(energy),
            Role::Inertial => return StepEnergy::of_loss(energy, 0.0),
            Role::Dissipative => {}
        }
        let Some(step) = pose.step else { return StepEnergy::of_loss(energy, 0.0) };
        let mut alone = Field::filled(pose.x.len(), DVec3::ZERO);
        let mut unused = vec![0.0; pose.own.len()];
        self.add_gradient(pose, &mut Gradient { nodes: &mut alone, own: &mut unused });
        let dissipated = alone.iter().map(|(node, g)| g.dot(pose.x[node] - step.start[node])).sum();
        StepEnergy::of_loss(energy, dissipated)
    }

    /// What an inertial term stores in a motion, J, beside what the masses of nodes do.
    fn kinetic_energy(&self, motion: &Moving<'_, S>) -> f64 {
        _ = motion;
        0.0
    }

    /// Adds the second derivatives, in newtons per metre, exact or made positive semidefinite.
    fn add_hessian(&self, pose: &Pose<'_, S>, psd: Psd, sink: &mut Sink<'_>);

    /// Keeps what stays the same during a step, so that it is computed once; [`StepMap::memory`]
    /// then hands it to every evaluation. Terms that keep something must also work without.
    fn remember(&self, step: &StepMap<'_, S>, memory: &mut Memory) {
        _ = (step, memory);
    }

    /// Adds dense parts `weight · vector vectorᵀ` of the Hessian, with positive weights.
    fn rank_ones(&self, pose: &Pose<'_, S>, out: &mut Vec<RankOne<S>>) {
        _ = (pose, out);
    }

    /// The largest multiple of the way from one pose to another that a solver may take, all smaller
    /// ones included: beyond it nodes could pass through something, or leave the domain of a
    /// barrier. Infinite where nothing limits it. Both poses have the same time.
    fn longest_step(&self, pose: &Pose<'_, S>, to: &Pose<'_, S>) -> f64 {
        _ = (pose, to);
        f64::INFINITY
    }

    /// Changes a first guess of the positions at the end of a step so that it can be reached from
    /// the start without passing through anything. What moves by itself may have come closer
    /// meanwhile.
    fn admit(&self, way: &Way<'_, S>, guess: &mut Field<S, DVec3>) {
        _ = (way, guess);
    }

    /// Whether `guess` is on the same side of everything as the start: what one term has admitted,
    /// another may have changed.
    fn is_reachable(&self, way: &Way<'_, S>, guess: &Field<S, DVec3>) -> bool {
        _ = (way, guess);
        true
    }

    /// A node that is on the other side of something at the end of a step. Each of the solver's own
    /// steps was short of that, but together they may have led around it: a shorter time step tells
    /// whether that is the motion.
    fn crossed(&self, way: &Way<'_, S>, end: &Field<S, DVec3>) -> Option<Id<S>> {
        _ = (way, end);
        None
    }

    /// The solver is at this pose now and goes on from here: lists of neighbours, for instance, can
    /// be made anew. The energy of every pose must stay the same. The pose has no memory of its
    /// own.
    fn follow(&self, pose: &Pose<'_, S>, memory: &mut Memory) {
        _ = (pose, memory);
    }

    /// The solver has found a solution for what the term keeps of the step. Where something of it
    /// was only an estimate, as normal forces of friction are, the term puts a better one into its
    /// memory and answers true: the solver then goes on from here. `pass` counts from one.
    fn refine(&self, pose: &Pose<'_, S>, pass: usize, memory: &mut Memory) -> bool {
        _ = (pose, pass, memory);
        false
    }

    /// The step has ended at this pose. A term may change numbers of its own that its energy keeps
    /// where they are during a step, such as the places where friction sticks: what it does here
    /// must not change forces.
    fn settle(&self, pose: &Pose<'_, S>, own: &mut [f64]) {
        _ = (pose, own);
    }

    /// Whether [`Self::refine`] will probably answer true, by what the term keeps of the step. The
    /// first solve is then a rough one.
    fn refines(&self, memory: &Memory) -> bool {
        _ = memory;
        false
    }

    /// The node that is closest to what this term keeps it away from, with both parts in words;
    /// none without such a thing.
    fn clearance(&self, pose: &Pose<'_, S>) -> Option<Clearance<S>> {
        _ = pose;
        None
    }

    /// The element that is nearest to a limit of its stretch; none without such a limit.
    fn tautest(&self, pose: &Pose<'_, S>) -> Option<Taut> {
        _ = pose;
        None
    }

    /// Work that something outside of the system does through this term on the way from `start` to
    /// the pose, in joules: the change of energy with time at fixed positions, as the mean of those
    /// at both ends. Only asked of terms that depend on time.
    fn work(&self, start: &Pose<'_, S>, end: &Pose<'_, S>) -> f64 {
        work_at_rest(|pose| self.energy(pose), start, end)
    }
}

/// The change of an energy with time at fixed positions, as the mean of those at both ends, J.
pub(crate) fn work_at_rest<S: Space>(
    energy: impl Fn(&Pose<'_, S>) -> f64,
    start: &Pose<'_, S>,
    end: &Pose<'_, S>,
) -> f64 {
    let change = |pose: &Pose<'_, S>| {
        let at = |time| energy(&Pose { time, step: None, ..*pose });
        at(end.time) - at(start.time)
    };
    0.5 * (change(start) + change(end))
}

/// The way from the start of a step to its end.
#[derive(Clone, Copy, Debug)]
pub struct Way<'a, S: Space> {
    /// Positions at the start, m.
    pub start: &'a Field<S, DVec3>,
    /// Time at the start, s.
    pub from: f64,
    /// Time at the end, s.
    pub time: f64,
    /// What the term keeps of the step, if somebody asked it to ([`Term::remember`]).
    pub memory: Option<&'a Memory>,
}

/// Where everything is and how fast it changes.
#[derive(Clone, Copy, Debug)]
pub struct Moving<'a, S: Space> {
    /// Positions, m.
    pub x: &'a Field<S, DVec3>,
    /// Velocities, m/s.
    pub v: &'a Field<S, DVec3>,
    /// Unknowns of the term's own.
    pub own: &'a [f64],
    /// Their changes per second.
    pub own_rates: &'a [f64],
}

/// An unknown of a term's own: one number, without inertia unless a term brings it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnUnknown {
    /// Its value in a state that does not know it yet.
    pub start: f64,
    /// How far a change by one unit moves something, in metres; positive. Of an angle the lever
    /// arm. Solvers compare the derivative by this unknown with forces through it.
    pub arm: f64,
}

/// What a derivative is taken by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Unknown<S: Space> {
    /// The position of a node.
    Node(Id<S>),
    /// An unknown of the term's own, by its place in [`Term::own`].
    Own(u32),
    /// Nothing that could change: blocks with it are dropped, as those with held nodes are.
    Held,
}

impl<S: Space> fmt::Debug for Unknown<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(node) => node.fmt(f),
            Self::Own(index) => write!(f, "unknown {index} of its own"),
            Self::Held => f.write_str("held"),
        }
    }
}

impl<S: Space> From<Id<S>> for Unknown<S> {
    fn from(node: Id<S>) -> Self {
        Self::Node(node)
    }
}

/// Where terms add the derivatives of their energies. Indexed by a node it gives the part of that
/// node, in newtons.
#[derive(Debug)]
pub struct Gradient<'a, S: Space> {
    /// By the positions.
    pub nodes: &'a mut Field<S, DVec3>,
    /// By the unknowns of the term's own.
    pub own: &'a mut [f64],
}

impl<'a, S: Space> Gradient<'a, S> {
    /// For terms without unknowns of their own.
    pub fn by_nodes(nodes: &'a mut Field<S, DVec3>) -> Self {
        Self { nodes, own: &mut [] }
    }
}

impl<S: Space> Index<Id<S>> for Gradient<'_, S> {
    type Output = DVec3;
    #[inline]
    fn index(&self, node: Id<S>) -> &DVec3 {
        &self.nodes[node]
    }
}

impl<S: Space> IndexMut<Id<S>> for Gradient<'_, S> {
    #[inline]
    fn index_mut(&mut self, node: Id<S>) -> &mut DVec3 {
        &mut self.nodes[node]
    }
}

/// How close a node is to what a term keeps it away from.
#[derive(Clone, Debug, PartialEq)]
pub struct Clearance<S: Space> {
    /// The node.
    pub node: Id<S>,
    /// Its distance in metres; negative on the wrong side. Infinite where nothing is close and only
    /// `held_depth` is to be told.
    pub gap: f64,
    /// The two parts that are so close, as messages call them: `vertex 17 of towel`, `floor`.
    /// Whatever they are where the gap is infinite.
    pub parts: [String; 2],
    /// Where they are closest, in metres.
    pub place: DVec3,
    /// The largest depth of nodes that pins hold inside, in metres; zero if there are none. Nothing
    /// can push these out.
    pub held_depth: f64,
}

/// How far an element is stretched that a term keeps from being stretched further.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Taut {
    /// Number of the element within the term: that of the face for cloth.
    pub element: usize,
    /// Its length as a multiple of that at rest.
    pub stretch: f64,
    /// The stretch that it stays below.
    pub limit: f64,
}

/// A dense part `weight · vector vectorᵀ` of a Hessian.
#[derive(Clone, Debug)]
pub struct RankOne<S: Space> {
    /// Positive factor.
    pub weight: f64,
    /// One vector per node.
    pub vector: Field<S, DVec3>,
}
