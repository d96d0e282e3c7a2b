//! What takes part in contact, and what never changes about it.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use glam::DVec3;
use plisse_collision::{Body, BroadPhase, Colliders, ContactPair, InverseMasses};
use plisse_core::{Field, Id, Vertices};
use plisse_system::{Pose, Way};

use crate::neighbours::Neighbours;
use crate::tangle::Tangles;
use crate::touching::Laws;

/// Where the vertices of an obstacle are.
pub trait Kinematic: Send + Sync {
    /// Writes the positions at a time, in metres. All of them must be finite.
    ///
    /// `near` is where the bodies are. What has no end, such as a plane, must reach far around it;
    /// everything else is where it is. For the same `near` a vertex must be the same point of the
    /// obstacle at all times: friction follows from how it moves.
    fn place(&self, time: f64, near: &Near, out: &mut [DVec3]);

    /// Whether they change with time.
    fn moves(&self) -> bool;
}

/// Where the bodies are at the start of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    /// Seconds.
    pub time: f64,
    /// The mean of their positions, m.
    pub centre: DVec3,
}

impl Near {
    pub(crate) fn new(time: f64, nodes: &[DVec3]) -> Self {
        Self { time, centre: nodes.iter().sum::<DVec3>() / nodes.len().max(1) as f64 }
    }

    /// Of a step, or of a pose outside of one.
    pub(crate) fn of(pose: &Pose<'_, Vertices>) -> Self {
        match pose.step {
            Some(step) if step.dt.is_finite() => Self::new(pose.time - step.dt, step.start.as_slice()),
            Some(step) => Self::new(pose.time, step.start.as_slice()),
            None => Self::new(pose.time, pose.x.as_slice()),
        }
    }
}

/// Positions that never change.
impl Kinematic for Vec<DVec3> {
    fn place(&self, _: f64, _: &Near, out: &mut [DVec3]) {
        out.copy_from_slice(self);
    }

    fn moves(&self) -> bool {
        false
    }
}

/// The vertices of an obstacle.
pub(crate) struct Solid {
    /// Among those of all obstacles.
    pub(crate) vertices: Range<usize>,
    pub(crate) motion: Arc<dyn Kinematic>,
}

/// Areas that contact acts on, m², by the numbers of colliders.
#[derive(Default)]
pub(crate) struct Areas {
    pub(crate) vertices: Vec<f64>,
    pub(crate) edges: Vec<f64>,
    pub(crate) faces: Vec<f64>,
}

/// Vertices are those of the system, then those of obstacles.
pub(crate) struct Model {
    /// How many vertices the system has.
    pub(crate) nodes: usize,
    pub(crate) colliders: Colliders,
    pub(crate) phase: Mutex<BroadPhase>,
    pub(crate) admitted: Mutex<Admitted>,
    pub(crate) neighbours: Mutex<Neighbours>,
    pub(crate) laws: Laws,
    pub(crate) solids: Vec<Solid>,
    pub(crate) areas: Areas,
    /// At the start, m; of parallel edges, the energy fades by them.
    pub(crate) edge_lengths: Vec<f64>,
    /// Of every vertex, whether something else says where it is.
    pub(crate) kinematic: Vec<bool>,
    /// Of every vertex, 1/kg; zero for kinematic ones.
    pub(crate) inverse_masses: InverseMasses,
    /// Of every vertex at time zero.
    pub(crate) start: Field<Vertices, DVec3>,
    /// Of every vertex, the range that its start leaves it, m.
    pub(crate) start_ranges: Vec<f64>,
    /// Held vertices that start inside of an obstacle: what they bound passes through it.
    pub(crate) inside: BTreeSet<(u32, u32)>,
    /// If bodies may start through each other and stay so until they come apart.
    pub(crate) tangles: Option<Tangles>,
    /// Vertices without edges, ascending.
    pub(crate) points: Vec<u32>,
    /// Names of bodies, and the first vertex of each; none of obstacles.
    pub(crate) names: Vec<(String, Option<u32>)>,
    /// Whether any body is made of lines.
    pub(crate) has_wires: bool,
    /// The smallest mean edge of the bodies, m.
    pub(crate) edge: f64,
}

/// A way that was proven to be free last.
#[derive(Default)]
pub(crate) struct Admitted {
    times: [u64; 2],
    start: Vec<DVec3>,
    end: Vec<DVec3>,
}

impl Admitted {
    pub(crate) fn new(way: &Way<'_, Vertices>, end: &Field<Vertices, DVec3>) -> Self {
        let times = [way.from, way.time].map(f64::to_bits);
        Self { times, start: way.start.as_slice().to_vec(), end: end.as_slice().to_vec() }
    }

    pub(crate) fn is(&self, way: &Way<'_, Vertices>, end: &Field<Vertices, DVec3>) -> bool {
        self.times == [way.from, way.time].map(f64::to_bits)
            && self.end == end.as_slice()
            && self.start == way.start.as_slice()
    }
}

/// Where all vertices are.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) nodes: &'a [DVec3],
    pub(crate) solids: &'a [DVec3],
}

impl Place<'_> {
    #[inline]
    pub(crate) fn of(&self, vertex: u32) -> DVec3 {
        let vertex = vertex as usize;
        if vertex < self.nodes.len() { self.nodes[vertex] } else { self.solids[vertex - self.nodes.len()] }
    }

    #[inline]
    pub(crate) fn gather(&self, vertices: [u32; 4]) -> [DVec3; 4] {
        vertices.map(|vertex| self.of(vertex))
    }

    pub(crate) fn field(&self) -> Field<Vertices, DVec3> {
        Field::from_vec(self.nodes.iter().chain(self.solids).copied().collect())
    }
}

impl Model {
    /// Positions of the vertices of all obstacles at a time.
    pub(crate) fn solids_at(&self, time: f64, near: &Near) -> Vec<DVec3> {
        let count = self.solids.last().map_or(0, |solid| solid.vertices.end);
        let mut out = vec![DVec3::ZERO; count];
        for solid in &self.solids {
            solid.motion.place(time, near, &mut out[solid.vertices.clone()]);
        }
        out
    }

    /// Positions of the vertices of all obstacles at the start and at the end of a step.
    pub(crate) fn solids_along(&self, way: &Way<'_, Vertices>) -> [Vec<DVec3>; 2] {
        let near = Near::new(way.from, way.start.as_slice());
        [way.from, way.time].map(|time| self.solids_at(time, &near))
    }

    pub(crate) fn moves(&self) -> bool {
        self.solids.iter().any(|solid| solid.motion.moves())
    }

    /// The trees hold nothing but scratch, so that a panic elsewhere leaves them usable.
    pub(crate) fn phase(&self) -> MutexGuard<'_, BroadPhase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a pair of parts, of two bodies that can touch, takes part: what passes through an
    /// obstacle in which it is held does not, nor do parts of one body that start in one place.
    pub(crate) fn takes_part(&self, pair: ContactPair) -> bool {
        let vertices = pair.vertices(&self.colliders);
        let body = |v: &Id<Vertices>| self.colliders.body(*v).unwrap_or(Body(u32::MAX));
        let (Some(a), Some(b)) = (vertices.first().map(body), vertices.last().map(body)) else {
            return false;
        };
        if self.ignores(&vertices.iter().map(|v| v.get()).collect::<Vec<_>>()) {
            return false;
        }
        if a == b {
            return pair.distance(&self.colliders, &self.start) > self.laws.neighbours(a);
        }
        self.inside.is_empty() || vertices.iter().all(|v| !self.inside.contains(&(v.get(), a.max(b).0)))
    }

    /// A vertex, for messages: its number in its body, or the obstacle that it belongs to.
    pub(crate) fn name_of(&self, vertex: u32) -> String {
        let body = self.colliders.body(Id::new(vertex)).and_then(|body| self.names.get(body.0 as usize));
        match body {
            Some((name, Some(first))) => format!("vertex {} of {name}", vertex - first),
            Some((name, None)) => name.clone(),
            None => format!("vertex {vertex}"),
        }
    }

    /// As [`Self::phase`]: what is found does not depend on what is kept.
    pub(crate) fn neighbours(&self) -> MutexGuard<'_, Neighbours> {
        self.neighbours.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether pairs that are kept prove that nothing comes into contact on straight ways from one
    /// place to another.
    pub(crate) fn is_clear_between(&self, from: &Place<'_>, to: &Place<'_>) -> bool {
        self.neighbours().is_clear(self, from, to)
    }

    pub(crate) fn admitted(&self) -> MutexGuard<'_, Admitted> {
        self.admitted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    pub(crate) fn is_solid(&self, vertex: u32) -> bool {
        vertex as usize >= self.nodes
    }
}
