//! One pair of parts: its vertices, its distance, and the separation that it must keep.

use std::fmt;

use glam::DVec3;
use plisse_core::{Edges, Faces, Field, Id, Vertices};

use crate::candidates::Pairs;
use crate::ccd::Ccd;
use crate::closest::{edge_edge, point_edge, point_point, point_triangle};
use crate::colliders::{Body, Colliders};

/// A pair of parts of [`Colliders`], of one of the kinds of [`Pairs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContactPair {
    /// A vertex of anything and a face.
    VertexFace(Id<Vertices>, Id<Faces>),
    /// Two edges.
    EdgeEdge(Id<Edges>, Id<Edges>),
    /// A vertex of anything and an edge of a line.
    VertexEdge(Id<Vertices>, Id<Edges>),
    /// Two vertices that have no edge.
    VertexVertex(Id<Vertices>, Id<Vertices>),
}

impl ContactPair {
    /// The vertices of the two parts, those of the first one first.
    ///
    /// # Panics
    /// If the colliders do not have these parts.
    #[must_use]
    pub fn vertices(self, colliders: &Colliders) -> Vec<Id<Vertices>> {
        Stencil::new(self, colliders).vertices().to_vec()
    }

    /// The sum of the radii in metres: the distance at which the parts touch.
    ///
    /// # Panics
    /// If the colliders do not have these parts.
    #[must_use]
    pub fn thickness(self, colliders: &Colliders) -> f64 {
        match self {
            Self::VertexFace(v, f) => colliders.vertex_radius(v) + colliders.face_radius(f),
            Self::EdgeEdge(e, f) => colliders.edge_radius(e) + colliders.edge_radius(f),
            Self::VertexEdge(v, e) => colliders.vertex_radius(v) + colliders.edge_radius(e),
            Self::VertexVertex(v, w) => colliders.vertex_radius(v) + colliders.vertex_radius(w),
        }
    }

    /// The distance of the parts at these positions, in metres, without their radii.
    ///
    /// # Panics
    /// If the colliders do not have these parts, or there are fewer positions than vertices.
    #[must_use]
    pub fn distance(self, colliders: &Colliders, x: &Field<Vertices, DVec3>) -> f64 {
        Stencil::new(self, colliders).distance(x)
    }
}

impl fmt::Display for ContactPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::VertexFace(v, g) => write!(f, "{v} and {g}"),
            Self::EdgeEdge(e, g) => write!(f, "{e} and {g}"),
            Self::VertexEdge(v, e) => write!(f, "{v} and {e}"),
            Self::VertexVertex(v, w) => write!(f, "{v} and {w}"),
        }
    }
}

/// Which pairs take part: of which bodies, and which of these one by one.
///
/// ```
/// use plisse_collision::{Body, ContactPair, PairFilter};
/// use plisse_core::Id;
///
/// // No body with itself, and one pair less.
/// let ignored = ContactPair::VertexFace(Id::new(3), Id::new(0));
/// let filter =
///     PairFilter { bodies: |a: Body, b: Body| a != b, pairs: |pair: ContactPair| pair != ignored };
/// assert!(!(filter.bodies)(Body(1), Body(1)) && !(filter.pairs)(ignored));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PairFilter<B, P> {
    /// Whether two bodies may touch, as [`BroadPhase::near`](crate::BroadPhase::near) asks.
    pub bodies: B,
    /// Whether this pair counts. Asked only for pairs that come near.
    pub pairs: P,
}

impl PairFilter<fn(Body, Body) -> bool, fn(ContactPair) -> bool> {
    /// Every pair.
    #[must_use]
    pub fn all() -> Self {
        Self { bodies: |_, _| true, pairs: |_| true }
    }
}

/// The vertices of a pair, in the order of its distance function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Stencil {
    VertexFace([Id<Vertices>; 4]),
    EdgeEdge([Id<Vertices>; 4]),
    VertexEdge([Id<Vertices>; 3]),
    VertexVertex([Id<Vertices>; 2]),
}

impl Stencil {
    pub(super) fn new(pair: ContactPair, colliders: &Colliders) -> Self {
        match pair {
            ContactPair::VertexFace(v, f) => {
                let [a, b, c] = colliders.face(f);
                Self::VertexFace([v, a, b, c])
            }
            ContactPair::EdgeEdge(e, f) => {
                let ([a, b], [c, d]) = (colliders.edge(e), colliders.edge(f));
                Self::EdgeEdge([a, b, c, d])
            }
            ContactPair::VertexEdge(v, e) => {
                let [a, b] = colliders.edge(e);
                Self::VertexEdge([v, a, b])
            }
            ContactPair::VertexVertex(v, w) => Self::VertexVertex([v, w]),
        }
    }

    pub(super) fn vertices(&self) -> &[Id<Vertices>] {
        match self {
            Self::VertexFace(v) | Self::EdgeEdge(v) => v,
            Self::VertexEdge(v) => v,
            Self::VertexVertex(v) => v,
        }
    }

    pub(super) fn distance(&self, x: &Field<Vertices, DVec3>) -> f64 {
        match *self {
            Self::VertexFace(v) => point_triangle(x[v[0]], [x[v[1]], x[v[2]], x[v[3]]]).distance(),
            Self::EdgeEdge(v) => edge_edge([x[v[0]], x[v[1]]], [x[v[2]], x[v[3]]]).distance(),
            Self::VertexEdge(v) => point_edge(x[v[0]], [x[v[1]], x[v[2]]]).distance(),
            Self::VertexVertex(v) => point_point(x[v[0]], x[v[1]]).distance(),
        }
    }

    /// The proven free share of a motion; `None` if all of it is.
    fn contact(
        &self,
        from: &Field<Vertices, DVec3>,
        to: &Field<Vertices, DVec3>,
        separation: f64,
    ) -> Option<f64> {
        let ccd = Ccd::default();
        match self {
            Self::VertexFace(v) => ccd.point_triangle(&v.map(|v| from[v]), &v.map(|v| to[v]), separation),
            Self::EdgeEdge(v) => ccd.edge_edge(&v.map(|v| from[v]), &v.map(|v| to[v]), separation),
            Self::VertexEdge(v) => ccd.point_edge(&v.map(|v| from[v]), &v.map(|v| to[v]), separation),
            Self::VertexVertex(v) => ccd.point_point(&v.map(|v| from[v]), &v.map(|v| to[v]), separation),
        }
    }
}

/// A pair and how near its parts may come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Guarded {
    pub(super) pair: ContactPair,
    pub(super) stencil: Stencil,
    /// The distance at the start, in metres.
    distance: f64,
    /// The sum of the radii, in metres.
    thickness: f64,
    /// The distance that a motion must keep, in metres.
    separation: f64,
}

impl Guarded {
    /// A pair whose parts keep the share `keep` of their gap at the start, or of `reach` if that is
    /// less. Parts that overlap at the start keep that share of their distance.
    fn new(
        pair: ContactPair,
        stencil: Stencil,
        thickness: f64,
        start: &Field<Vertices, DVec3>,
        [keep, reach]: [f64; 2],
    ) -> Self {
        let distance = stencil.distance(start);
        let gap = distance - thickness;
        let separation = if gap > 0.0 { thickness + keep * gap.min(reach) } else { keep * distance };
        Self { pair, stencil, distance, thickness, separation }
    }

    /// The pair and the share of the motion that is proven free, unless all of it is.
    pub(super) fn on_path(
        pair: ContactPair,
        colliders: &Colliders,
        from: &Field<Vertices, DVec3>,
        to: &Field<Vertices, DVec3>,
        [keep, reach]: [f64; 2],
    ) -> Option<(Self, f64)> {
        let (stencil, thickness) = (Stencil::new(pair, colliders), pair.thickness(colliders));
        // No pair has to keep more than this. Most pairs do, and need no distance at the start.
        stencil.contact(from, to, thickness + keep * reach)?;
        let guarded = Self::new(pair, stencil, thickness, from, [keep, reach]);
        guarded.contact(from, to).map(|time| (guarded, time))
    }

    pub(super) fn contact(&self, from: &Field<Vertices, DVec3>, to: &Field<Vertices, DVec3>) -> Option<f64> {
        self.stencil.contact(from, to, self.separation)
    }

    /// The distance beyond the radii at the start.
    pub(super) fn gap(&self) -> f64 {
        self.distance - self.thickness
    }
}

/// The pairs of all lists, one after the other.
pub(super) fn flatten(pairs: &Pairs) -> Vec<ContactPair> {
    let vertex_faces = pairs.vertex_faces.iter().map(|(v, f)| ContactPair::VertexFace(*v, *f));
    let edge_edges = pairs.edge_edges.iter().map(|(e, f)| ContactPair::EdgeEdge(*e, *f));
    let vertex_edges = pairs.vertex_edges.iter().map(|(v, e)| ContactPair::VertexEdge(*v, *e));
    let vertex_vertices = pairs.vertex_vertices.iter().map(|(v, w)| ContactPair::VertexVertex(*v, *w));
    vertex_faces.chain(edge_edges).chain(vertex_edges).chain(vertex_vertices).collect()
}
