//! Springs of no length: a node to a point, a node to a path, two nodes to each other.

use std::fmt;
use std::sync::Arc;

use glam::{DMat3, DVec3};
use plisse_core::range::limit_vector;
use plisse_core::{Id, Positive, Psd, SATURATION, Space, saturate};
use plisse_sparse::Sink;

use crate::pins::Motion;
use crate::pose::Pose;
use crate::term::{Gradient, Term, Unknown, work_at_rest};

/// Springs `E = ½ k |x - y|²`. The Hessian is constant and positive semidefinite.
///
/// All springs of one term can let go at a time ([`Attachments::until`]). What they store then is
/// lost, and counts as negative work.
pub struct Attachments<S: Space> {
    name: String,
    springs: Vec<(Id<S>, Other<S>, f64)>,
    /// The last time at which they hold, s.
    until: f64,
}

enum Other<S: Space> {
    Point(DVec3),
    Path(Motion),
    Node(Id<S>),
}

impl<S: Space> Attachments<S> {
    /// No springs yet.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), springs: Vec::new(), until: f64::INFINITY }
    }

    /// A spring from a node to a point, with stiffness in N/m. A point that is not finite gives
    /// forces that are not, which a step reports.
    #[must_use]
    pub fn to_point(self, node: Id<S>, point: DVec3, stiffness: Positive) -> Self {
        self.with(node, Other::Point(point), stiffness)
    }

    /// A spring from a node to a point that moves, position by time.
    #[must_use]
    pub fn to_path(
        self,
        node: Id<S>,
        path: impl Fn(f64) -> DVec3 + Send + Sync + 'static,
        stiffness: Positive,
    ) -> Self {
        self.with(node, Other::Path(Arc::new(path)), stiffness)
    }

    /// A spring between two nodes.
    #[must_use]
    pub fn between(self, a: Id<S>, b: Id<S>, stiffness: Positive) -> Self {
        self.with(a, Other::Node(b), stiffness)
    }

    /// Springs that let go after this time in seconds: a step that ends later is without them. Let
    /// steps end at this time; a step across it loses them from its start.
    #[must_use]
    pub fn until(self, time: f64) -> Self {
        Self { until: time, ..self }
    }

    fn holds(&self, time: f64) -> bool {
        // Times are sums of steps.
        time <= self.until + RELEASE * (1.0 + self.until.abs())
    }

    fn with(mut self, node: Id<S>, other: Other<S>, stiffness: Positive) -> Self {
        self.springs.push((node, other, stiffness.get()));
        self
    }
}

/// Relative rounding error of times that are sums of steps.
const RELEASE: f64 = 1e-9;

impl<S: Space> Other<S> {
    fn place(&self, pose: &Pose<'_, S>) -> DVec3 {
        match self {
            Self::Point(point) => *point,
            Self::Path(path) => path(pose.time),
            Self::Node(node) => pose.x[*node],
        }
    }
}

impl<S: Space> fmt::Debug for Attachments<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attachments").field("name", &self.name).field("springs", &self.springs.len()).finish()
    }
}

impl<S: Space> Term<S> for Attachments<S> {
    fn name(&self) -> &str {
        &self.name
    }

    fn depends_on_time(&self) -> bool {
        self.until < f64::INFINITY || self.springs.iter().any(|(_, other, _)| matches!(other, Other::Path(_)))
    }

    fn pattern(&self, pair: &mut dyn FnMut(Unknown<S>, Unknown<S>)) {
        for (node, other, _) in &self.springs {
            pair((*node).into(), (*node).into());
            if let Other::Node(other) = other {
                pair((*other).into(), (*other).into());
                pair((*node).into(), (*other).into());
            }
        }
    }

    fn energy(&self, pose: &Pose<'_, S>) -> f64 {
        if !self.holds(pose.time) {
            return 0.0;
        }
        self.springs
            .iter()
            .map(|(node, other, k)| saturate(0.5 * k * pose.x[*node].distance_squared(other.place(pose))))
            .sum()
    }

    fn add_gradient(&self, pose: &Pose<'_, S>, gradient: &mut Gradient<'_, S>) {
        if !self.holds(pose.time) {
            return;
        }
        for (node, other, k) in &self.springs {
            let force = limit_vector((pose.x[*node] - other.place(pose)) * *k, SATURATION);
            gradient[*node] += force;
            if let Other::Node(other) = other {
                gradient[*other] -= force;
            }
        }
    }

    fn add_hessian(&self, pose: &Pose<'_, S>, _: Psd, sink: &mut Sink<'_>) {
        if !self.holds(pose.time) {
            return;
        }
        let mut index = 0;
        for (_, other, k) in &self.springs {
            let block = DMat3::from_diagonal(DVec3::splat(*k));
            sink.add(index, &block);
            index += 1;
            if matches!(other, Other::Node(_)) {
                sink.add(index, &block);
                sink.add(index + 1, &-block);
                index += 2;
            }
        }
    }

    /// What springs that let go have stored is gone at the start of the step.
    fn work(&self, start: &Pose<'_, S>, end: &Pose<'_, S>) -> f64 {
        if self.holds(start.time) && !self.holds(end.time) {
            return -self.energy(start);
        }
        work_at_rest(|pose| self.energy(pose), start, end)
    }
}
