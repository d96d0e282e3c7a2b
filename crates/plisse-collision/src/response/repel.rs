//! Repulsion: small impulses that reopen gaps before they close.

use glam::DVec3;
use plisse_core::{Field, Id, Positive, Vertices};
use rayon::prelude::*;

use super::pair::{ContactPair, PairFilter, Stencil, flatten};
use super::run::impact;
use super::{InverseMasses, Response};
use crate::broad_phase::BroadPhase;
use crate::closest::{Closest, edge_edge, point_edge, point_point, point_triangle};
use crate::colliders::{Body, Colliders};

/// The share of an overlap that one step may open.
const OPENED: f64 = 0.1;

/// A pair with few vertices between, at the start.
enum Near {
    Four([Id<Vertices>; 4], Closest<4>),
    Three([Id<Vertices>; 3], Closest<3>),
    Two([Id<Vertices>; 2], Closest<2>),
}

impl Near {
    fn new(stencil: Stencil, x: &Field<Vertices, DVec3>) -> Self {
        match stencil {
            Stencil::VertexFace(v) => Self::Four(v, point_triangle(x[v[0]], [x[v[1]], x[v[2]], x[v[3]]])),
            Stencil::EdgeEdge(v) => Self::Four(v, edge_edge([x[v[0]], x[v[1]]], [x[v[2]], x[v[3]]])),
            Stencil::VertexEdge(v) => Self::Three(v, point_edge(x[v[0]], [x[v[1]], x[v[2]]])),
            Stencil::VertexVertex(v) => Self::Two(v, point_point(x[v[0]], x[v[1]])),
        }
    }

    fn distance(&self) -> f64 {
        match self {
            Self::Four(_, closest) => closest.distance(),
            Self::Three(_, closest) => closest.distance(),
            Self::Two(_, closest) => closest.distance(),
        }
    }
}

impl Response {
    /// Pushes pairs apart whose gap at `old` is below the reach, by changing `candidate`.
    ///
    /// A pair that overlaps the reach by `o` gets the impulse of a spring, `k o dt`, but moves
    /// apart by at most a tenth of `o` in the step; a pair that does so already is left alone.
    /// Friction acts in proportion. Pairs are taken one after the other, each with what the ones
    /// before left, in as many passes as impulses have, forwards and backwards in turn: layers that
    /// lie on each other hand on what the lowest one gets. Returns how many pairs were pushed.
    ///
    /// Call it before [`Response::respond`], which sees to it that nothing crosses. Pairs at
    /// distance zero have no normal and are left alone. Prescribed vertices stay.
    ///
    /// # Panics
    /// If there are fewer positions or masses than vertices.
    pub fn repel<B, P>(
        &self,
        phase: &mut BroadPhase,
        masses: &InverseMasses,
        filter: &PairFilter<B, P>,
        old: &Field<Vertices, DVec3>,
        candidate: &mut Field<Vertices, DVec3>,
        dt: Positive,
    ) -> usize
    where
        B: Fn(Body, Body) -> bool + Sync,
        P: Fn(ContactPair) -> bool + Sync,
    {
        let reach = self.settings().reach;
        let pairs = phase.along(old, old, reach, &filter.bodies);
        let colliders = phase.colliders();
        let mut near: Vec<Overlap> = flatten(&pairs)
            .into_par_iter()
            .filter(|pair| masses.can_move(*pair, colliders) && (filter.pairs)(*pair))
            .filter_map(|pair| {
                let near = Near::new(Stencil::new(pair, colliders), old);
                let depth = reach - (near.distance() - pair.thickness(colliders));
                (depth > 0.0).then_some(Overlap { near, depth, impulse: 0.0 })
            })
            .collect();
        let push = Push { response: self, masses, colliders: phase.colliders(), old, dt };
        for pass in 0..self.settings().passes {
            if pass % 2 == 0 {
                near.iter_mut().for_each(|overlap| push.apply(overlap, candidate));
            } else {
                near.iter_mut().rev().for_each(|overlap| push.apply(overlap, candidate));
            }
        }
        near.iter().filter(|overlap| overlap.impulse > 0.0).count()
    }
}

/// A pair that is nearer than the reach.
struct Overlap {
    near: Near,
    /// By how much, in metres.
    depth: f64,
    /// The impulse so far, times the time step, in kg·m.
    impulse: f64,
}

struct Push<'a> {
    response: &'a Response,
    masses: &'a InverseMasses,
    colliders: &'a Colliders,
    old: &'a Field<Vertices, DVec3>,
    dt: Positive,
}

impl Push<'_> {
    fn apply(&self, overlap: &mut Overlap, x: &mut Field<Vertices, DVec3>) {
        let Overlap { near, depth, impulse } = overlap;
        let dt = self.dt.get();
        let rest = self.response.settings().stiffness * *depth * dt * dt - *impulse;
        *impulse += match near {
            Near::Four(v, closest) => self.push(*v, closest, *depth, rest, x),
            Near::Three(v, closest) => self.push(*v, closest, *depth, rest, x),
            Near::Two(v, closest) => self.push(*v, closest, *depth, rest, x),
        };
    }

    /// Pushes by at most `limit`, times the time step; by how much.
    fn push<const V: usize>(
        &self,
        vertices: [Id<Vertices>; V],
        closest: &Closest<V>,
        depth: f64,
        limit: f64,
        x: &mut Field<Vertices, DVec3>,
    ) -> f64 {
        // Impulses of displacements are those of velocities times dt.
        let mut displacements = vertices.map(|v| x[v] - self.old[v]);
        let friction = self.response.friction(self.colliders, [vertices[0], vertices[V - 1]]);
        let impact = impact(self.masses, vertices, closest);
        let impulse = impact.raise(&mut displacements, OPENED * depth, limit, friction).normal;
        if impulse > 0.0 {
            for (vertex, displacement) in vertices.into_iter().zip(displacements) {
                let place = self.old[vertex] + displacement;
                if !self.masses.is_kinematic(vertex) && place.is_finite() {
                    x[vertex] = place;
                }
            }
        }
        impulse
    }
}
