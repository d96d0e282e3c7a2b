//! A term of the energy, and where its second derivatives go.

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

    /// Names every pair of nodes whose second derivative may be non-zero, once per block that
    /// [`Term::add_hessian`] will add, in that order. Of two pairs `(i, j)` and `(j, i)` one is
    /// enough.
    fn pattern(&self, pair: &mut dyn FnMut(Id<S>, Id<S>));

    /// Energy in joules.
    fn energy(&self, pose: &Pose<'_, S>) -> f64;

    /// Adds the derivative of the energy, in newtons.
    fn add_gradient(&self, pose: &Pose<'_, S>, gradient: &mut Field<S, DVec3>);

    /// Adds the derivative and says what a step to this pose stores and loses. Derivative and
    /// potential have the bits of [`Term::add_gradient`] and [`Term::energy`]. Terms override it
    /// where work is shared: elastic and external ones with [`StepEnergy::of_storage`], whose
    /// `stored` is what reports show, dissipative ones with [`StepEnergy::of_loss`].
    ///
    /// What is lost is, unless a term knows better, the force of a dissipative term times the way;
    /// to find it, every call evaluates the derivative twice, so dissipative terms should override
    /// it. So must elastic terms that also damp: what they would store is the whole potential here
    /// ([`ElementTerm`](crate::ElementTerm) does).
    fn energy_and_add_gradient(&self, pose: &Pose<'_, S>, gradient: &mut Field<S, DVec3>) -> StepEnergy {
        self.add_gradient(pose, gradient);
        let energy = self.energy(pose);
        if self.role() != Role::Dissipative {
            return StepEnergy::of_storage(energy);
        }
        let Some(step) = pose.step else { return StepEnergy::of_loss(energy, 0.0) };
        let mut own = Field::filled(pose.x.len(), DVec3::ZERO);
        self.add_gradient(pose, &mut own);
        let dissipated = own.iter().map(|(node, g)| g.dot(pose.x[node] - step.start[node])).sum();
        StepEnergy::of_loss(energy, dissipated)
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

    /// The largest multiple of the displacement from `pose.x` to `to` that a solver may take, all
    /// smaller ones included: beyond it nodes could pass through something, or leave the domain of
    /// a barrier. Infinite where nothing limits it. It is evaluated at the time of the pose.
    fn longest_step(&self, pose: &Pose<'_, S>, to: &Field<S, DVec3>) -> f64 {
        _ = (pose, to);
        f64::INFINITY
    }

    /// Changes a first guess `guess` of the positions at `time` so that it can be reached from the
    /// positions `start` at the time `from` without passing through anything. What moves by itself
    /// may have come closer meanwhile.
    fn admit(&self, start: &Field<S, DVec3>, from: f64, guess: &mut Field<S, DVec3>, time: f64) {
        _ = (start, from, guess, time);
    }

    /// Whether `guess` at `time` is on the same side of everything as `start` at the time `from`:
    /// what one term has admitted, another may have changed.
    fn is_reachable(&self, start: &Field<S, DVec3>, from: f64, guess: &Field<S, DVec3>, time: f64) -> bool {
        _ = (start, from, guess, time);
        true
    }

    /// A node that is on the other side of something at the end of a step. Each of the solver's own
    /// steps was short of that, but together they may have led around it: a shorter time step tells
    /// whether that is the motion.
    fn crossed(&self, start: &Field<S, DVec3>, from: f64, end: &Field<S, DVec3>, time: f64) -> Option<Id<S>> {
        _ = (start, from, end, time);
        None
    }

    /// The node that is closest to what this term keeps it away from; none without such a thing.
    fn clearance(&self, pose: &Pose<'_, S>) -> Option<Clearance<S>> {
        _ = pose;
        None
    }

    /// Work that something outside of the system does through this term on the way from `start` to
    /// the pose, in joules: the change of energy with time at fixed positions, as the mean of those
    /// at both ends. Only asked of terms that depend on time.
    fn work(&self, start: &Pose<'_, S>, end: &Pose<'_, S>) -> f64 {
        let change = |x| {
            let at = |time| self.energy(&Pose { x, time, step: None });
            at(end.time) - at(start.time)
        };
        0.5 * (change(start.x) + change(end.x))
    }
}

/// How close a node is to what a term keeps it away from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clearance<S: Space> {
    /// The node.
    pub node: Id<S>,
    /// Its distance in metres; negative on the wrong side.
    pub gap: f64,
    /// The largest depth of nodes that pins hold inside, in metres; zero if there are none. Nothing
    /// can push these out.
    pub held_depth: f64,
}

/// A dense part `weight · vector vectorᵀ` of a Hessian.
#[derive(Clone, Debug)]
pub struct RankOne<S: Space> {
    /// Positive factor.
    pub weight: f64,
    /// One vector per node.
    pub vector: Field<S, DVec3>,
}
