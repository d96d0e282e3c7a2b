//! How far apart pins may be: what does not stretch has a length.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::{DVec2, DVec3};
use plisse_core::{Edges, Faces, Id, Vertices};
use plisse_system::Motion;

use crate::element::CrMesh;
use crate::error::ConstrainedError;

/// Where a vertex of the sheet is held.
#[derive(Clone)]
pub enum PinTarget {
    /// It stays at a place, m.
    Still(DVec3),
    /// It follows a path, position in metres by time in seconds.
    Moving(Motion),
}

impl PinTarget {
    /// The place at a time, m.
    #[must_use]
    pub fn at(&self, time: f64) -> DVec3 {
        match self {
            Self::Still(place) => *place,
            Self::Moving(motion) => motion(time),
        }
    }
}

/// A pinned vertex.
#[derive(Clone)]
pub struct VertexPin {
    /// The vertex.
    pub vertex: Id<Vertices>,
    /// Where it is.
    pub target: PinTarget,
}

/// Lengths of paths over the sheet between its pins.
pub(crate) struct Reach {
    pins: Vec<VertexPin>,
    /// Of every pair of pins that hang together, by rows, and their path.
    lengths: Vec<(usize, usize, f64)>,
}

/// Pins beyond this many are compared with this many others each: all pairs of a long row of pins
/// would take long and tell no more.
const MOST: usize = 64;

/// How much longer than the path two pins may be apart: the tolerance of lengths, twice.
const SLACK: f64 = 2e-4;

impl Reach {
    /// Paths lead over faces that do not stretch only.
    pub(crate) fn new(mesh: &CrMesh, pins: Vec<VertexPin>, is_hard: impl Fn(Id<Faces>) -> bool) -> Self {
        let links = links(mesh, is_hard);
        let stride = pins.len().div_ceil(MOST).max(1);
        let mut lengths = Vec::new();
        for first in (0..pins.len()).step_by(stride) {
            let paths = shortest_paths(&links, pins[first].vertex);
            for second in first + 1..pins.len() {
                let length = paths[pins[second].vertex.index()];
                if length.is_finite() {
                    lengths.push((first, second, length));
                }
            }
        }
        Self { pins, lengths }
    }

    pub(crate) fn pins(&self) -> &[VertexPin] {
        &self.pins
    }

    /// Whether the sheet reaches from pin to pin at a time.
    pub(crate) fn check(&self, time: f64) -> Result<(), ConstrainedError> {
        let places: Vec<DVec3> = self.pins.iter().map(|pin| pin.target.at(time)).collect();
        if let Some(k) = places.iter().position(|place| !place.is_finite()) {
            let (vertex, value) = (self.pins[k].vertex, places[k].to_array());
            return Err(ConstrainedError::BadMotion { vertex, time, value });
        }
        let missing = |&(i, j, length): &(usize, usize, f64)| {
            let distance = places[i].distance(places[j]);
            (distance - length > SLACK * length).then_some((i, j, length, distance))
        };
        let worst = self.lengths.iter().filter_map(missing);
        match worst.max_by(|a, b| (a.3 - a.2).total_cmp(&(b.3 - b.2))) {
            None => Ok(()),
            Some((i, j, length, distance)) => Err(ConstrainedError::OutOfReach {
                first: self.pins[i].vertex,
                second: self.pins[j].vertex,
                distance,
                length,
                missing: distance - length,
                time,
            }),
        }
    }
}

type Links = Vec<Vec<(u32, f64)>>;

/// Vertices joined by edges, and by the straight line over an edge from corner to opposite corner
/// where that stays inside of its two triangles.
fn links(mesh: &CrMesh, is_hard: impl Fn(Id<Faces>) -> bool) -> Links {
    let topology = mesh.mesh();
    let mut links: Links = vec![Vec::new(); topology.vertex_count()];
    let mut join = |a: Id<Vertices>, b: Id<Vertices>, length: f64| {
        links[a.index()].push((b.get(), length));
        links[b.index()].push((a.get(), length));
    };
    for (id, edge) in topology.edges().iter() {
        let corner = |face| topology.face_edges()[face].iter().position(|e: &Id<Edges>| *e == id);
        // Along an edge one face that does not stretch is enough, across it takes both.
        for face in std::iter::once(edge.faces.0).chain(edge.faces.1).filter(|face| is_hard(*face)) {
            if let Some(own) = corner(face) {
                join(edge.vertices[0], edge.vertices[1], mesh.lengths(face)[own]);
            }
        }
        let Some(own) = corner(edge.faces.0).filter(|_| is_hard(edge.faces.0)) else { continue };
        let Some(other) = edge.faces.1.filter(|face| is_hard(*face)) else { continue };
        if let (Some(far), Some(across)) = (corner(other), unfolded(mesh, id)) {
            join(topology.faces()[edge.faces.0][own], topology.faces()[other][far], across);
        }
    }
    links
}

/// Distance of the corners opposite an interior edge with both triangles laid flat.
fn unfolded(mesh: &CrMesh, id: Id<Edges>) -> Option<f64> {
    let topology = mesh.mesh();
    let edge = topology.edges()[id];
    let apex = |face, sign: f64| {
        let own = topology.face_edges()[face].iter().position(|e| *e == id)?;
        let lengths = mesh.lengths(face);
        let at = mesh.corner_at(face, edge.vertices[0])?;
        // From the first end: the edge along x, and the side from there to the apex.
        let (base, side) = (lengths[own], lengths[3 - own - at]);
        let other = lengths[at];
        let x = (base * base + side * side - other * other) / (2.0 * base);
        Some((DVec2::new(x, sign * (side * side - x * x).max(0.0).sqrt()), base))
    };
    let ((a, base), (b, _)) = (apex(edge.faces.0, 1.0)?, apex(edge.faces.1?, -1.0)?);
    let crossing = a.x + (b.x - a.x) * a.y / (a.y - b.y);
    (0.0..=base).contains(&crossing).then(|| a.distance(b))
}

/// Dijkstra's algorithm; infinite where nothing leads.
fn shortest_paths(links: &Links, from: Id<Vertices>) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; links.len()];
    best[from.index()] = 0.0;
    // Lengths are positive, so that their bits are in the order of the numbers.
    let mut next = BinaryHeap::from([Reverse((0f64.to_bits(), from.get()))]);
    while let Some(Reverse((bits, vertex))) = next.pop() {
        let length = f64::from_bits(bits);
        if length > best[vertex as usize] {
            continue;
        }
        for (other, link) in &links[vertex as usize] {
            let longer = length + link;
            if longer < best[*other as usize] {
                best[*other as usize] = longer;
                next.push(Reverse((longer.to_bits(), *other)));
            }
        }
    }
    best
}
