//! One response: the positions, the pairs that watch them, and the contacts that are left.

use glam::DVec3;
use plisse_core::{Field, Id, Vertices, length_and_direction};
use rayon::prelude::*;

use super::impulse::{Impact, Impulse};
use super::pair::{ContactPair, Guarded, PairFilter, Stencil, flatten};
use super::{InverseMasses, Response, ResponseSettings};
use crate::broad_phase::BroadPhase;
use crate::closest::{Closest, edge_edge, point_edge, point_point, point_triangle};
use crate::colliders::Body;

/// Tests of pairs that one task takes at least.
const CHUNK: usize = 64;

/// A pair whose path is not proven free.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    /// The share of the step that is.
    pub(super) time: f64,
    pub(super) guarded: Guarded,
}

/// Invariant after [`Run::test`]: every admitted pair that is not in `hits` is proven to keep its
/// separation on the straight paths from `old` to `x`.
pub(super) struct Run<'a, B, P> {
    pub(super) response: &'a Response,
    pub(super) masses: &'a InverseMasses,
    pub(super) old: &'a Field<Vertices, DVec3>,
    pub(super) x: &'a mut Field<Vertices, DVec3>,
    pub(super) hits: Vec<Hit>,
    phase: &'a mut BroadPhase,
    filter: &'a PairFilter<B, P>,
    /// All pairs that can touch while ends of paths stay within `margin` of `around`.
    list: Vec<ContactPair>,
    around: Option<Field<Vertices, DVec3>>,
    margin: f64,
    /// Whether a vertex has moved since the last test, and which have.
    is_dirty: Vec<bool>,
    dirty: Vec<Id<Vertices>>,
}

impl<'a, B, P> Run<'a, B, P>
where
    B: Fn(Body, Body) -> bool + Sync,
    P: Fn(ContactPair) -> bool + Sync,
{
    /// Tests all pairs on the paths from `old` to `x`.
    pub(super) fn new(
        response: &'a Response,
        phase: &'a mut BroadPhase,
        masses: &'a InverseMasses,
        filter: &'a PairFilter<B, P>,
        old: &'a Field<Vertices, DVec3>,
        x: &'a mut Field<Vertices, DVec3>,
    ) -> Self {
        let is_dirty = vec![false; x.len()];
        let mut run = Self {
            response,
            masses,
            old,
            x,
            hits: Vec::new(),
            phase,
            filter,
            list: Vec::new(),
            around: None,
            margin: 0.0,
            is_dirty,
            dirty: Vec::new(),
        };
        // Without a margin: most steps have no contact, and need no second search.
        run.search(0.0);
        run.hits = run.tested(|_| true);
        run.sort();
        run
    }

    /// Moves a vertex, unless its motion is prescribed or the place is no place.
    pub(super) fn place(&mut self, vertex: Id<Vertices>, x: DVec3) {
        if self.masses.is_kinematic(vertex) || !x.is_finite() || x == self.x[vertex] {
            return;
        }
        self.x[vertex] = x;
        if !std::mem::replace(&mut self.is_dirty[vertex.index()], true) {
            self.dirty.push(vertex);
        }
    }

    /// Tests all pairs of vertices that have moved.
    pub(super) fn test(&mut self) {
        if !self.list_is_complete() {
            self.search(self.response.settings().reach);
        }
        let is_dirty = std::mem::take(&mut self.is_dirty);
        let moved = |vertices: &[Id<Vertices>]| vertices.iter().any(|v| is_dirty[v.index()]);
        let found = self.tested(|stencil| moved(stencil.vertices()));
        self.hits.retain(|hit| !moved(hit.guarded.stencil.vertices()));
        self.hits.extend(found);
        self.sort();
        self.is_dirty = is_dirty;
        for vertex in self.dirty.drain(..) {
            self.is_dirty[vertex.index()] = false;
        }
    }

    /// One pass of impulses over the contacts, in the order of their times. How many acted.
    ///
    /// The contacts stay in the list until the next test: an impulse may be too small to move a
    /// vertex at all.
    pub(super) fn impulses(&mut self) -> usize {
        let mut count = 0;
        for Hit { time, guarded } in self.hits.clone() {
            // Impulses of this pass may have ended the contact or moved it.
            let moved = guarded.stencil.vertices().iter().any(|v| self.is_dirty[v.index()]);
            let time = if moved { guarded.contact(self.old, self.x) } else { Some(time) };
            let acts = time.is_some_and(|time| self.impulse(&guarded, time).normal > 0.0);
            count += usize::from(acts);
        }
        count
    }

    fn impulse(&mut self, guarded: &Guarded, time: f64) -> Impulse {
        let at = |run: &Self, v: Id<Vertices>| run.old[v].lerp(run.x[v], time);
        match guarded.stencil {
            Stencil::VertexFace(v) => {
                let [p, a, b, c] = v.map(|v| at(self, v));
                self.stop(v, &point_triangle(p, [a, b, c]))
            }
            Stencil::EdgeEdge(v) => {
                let [a, b, c, d] = v.map(|v| at(self, v));
                self.stop(v, &edge_edge([a, b], [c, d]))
            }
            Stencil::VertexEdge(v) => {
                let [p, a, b] = v.map(|v| at(self, v));
                self.stop(v, &point_edge(p, [a, b]))
            }
            Stencil::VertexVertex(v) => {
                let [p, q] = v.map(|v| at(self, v));
                self.stop(v, &point_point(p, q))
            }
        }
    }

    fn stop<const V: usize>(&mut self, vertices: [Id<Vertices>; V], closest: &Closest<V>) -> Impulse {
        let impact = impact(self.masses, vertices, closest);
        let mut displacements = vertices.map(|v| self.x[v] - self.old[v]);
        let friction = self.response.friction(self.phase.colliders(), [vertices[0], vertices[V - 1]]);
        let impulse = impact.stop(&mut displacements, friction);
        if impulse.normal > 0.0 {
            for (vertex, displacement) in vertices.into_iter().zip(displacements) {
                self.place(vertex, self.old[vertex] + displacement);
            }
        }
        impulse
    }

    /// Whether the list holds every pair that can touch on the paths to where the vertices are now.
    fn list_is_complete(&self) -> bool {
        // Room for the rounding of lengths.
        let limit = self.margin * (1.0 - 1e-9);
        match &self.around {
            None => self.dirty.is_empty(),
            Some(around) => {
                self.dirty.iter().all(|v| length_and_direction(self.x[*v] - around[*v]).0 <= limit)
            }
        }
    }

    /// Lists the pairs that can touch while ends of paths move by at most `margin`.
    fn search(&mut self, margin: f64) {
        let settings = self.response.settings();
        // Points of a path move by at most as much as its end.
        let gap = settings.keep * settings.reach + 2.0 * margin;
        let pairs = self.phase.along(self.old, self.x, gap, &self.filter.bodies);
        let colliders = self.phase.colliders();
        self.list = flatten(&pairs)
            .into_par_iter()
            .with_min_len(CHUNK)
            .filter(|pair| self.masses.can_move(*pair, colliders) && (self.filter.pairs)(*pair))
            .collect();
        self.margin = margin;
        self.around = (margin > 0.0).then(|| self.x.clone());
    }

    fn tested(&self, which: impl Fn(&Stencil) -> bool + Sync) -> Vec<Hit> {
        let (old, x, colliders) = (self.old, &*self.x, self.phase.colliders());
        let ResponseSettings { keep, reach, .. } = *self.response.settings();
        self.list
            .par_iter()
            .with_min_len(CHUNK)
            .filter(|pair| which(&Stencil::new(**pair, colliders)))
            .filter_map(|pair| {
                let (guarded, time) = Guarded::on_path(*pair, colliders, old, x, [keep, reach])?;
                Some(Hit { time, guarded })
            })
            .collect()
    }

    fn sort(&mut self) {
        self.hits.sort_unstable_by(|a, b| {
            a.time.total_cmp(&b.time).then_with(|| a.guarded.pair.cmp(&b.guarded.pair))
        });
    }
}

/// What an impulse at these closest points acts on.
pub(super) fn impact<const V: usize>(
    masses: &InverseMasses,
    vertices: [Id<Vertices>; V],
    closest: &Closest<V>,
) -> Impact<V> {
    Impact {
        weights: *closest.weights(),
        normal: closest.normal(),
        inverse_masses: vertices.map(|v| masses.get(v)),
    }
}
