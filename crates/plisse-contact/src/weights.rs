//! The areas that contacts act on.
//!
//! A vertex sees several triangles of one layer within its range, and more of them the finer the
//! mesh is. Were all of them to push, the gap would depend on the mesh. Only the nearest one does,
//! and of those that share no vertex with it the nearest again, which belongs to another layer. All
//! others keep a hundredth of their area: what nothing pushes would lose nine tenths of its gap in
//! every iteration.

use crate::list::Pair;
use crate::model::Model;
use crate::stencil::Kind;

/// Of the area of a vertex, what one of two layers of cloth counts: both have vertices, and pairs
/// of edges count as much as these.
const VERTEX: f64 = 0.25;
/// Of the area of an edge. On two layers about 2.6 edges cross each edge, so that all pairs of
/// edges together count about a half; the floor of the others is taken off.
const EDGE: f64 = 0.18;
/// Of pairs that do not count.
const FLOOR: f64 = 0.01;

/// Sets the weights of pairs in ascending order.
pub(crate) fn weigh(model: &Model, pairs: &mut [Pair]) {
    let areas = &model.areas;
    let mut nearest: Vec<usize> = Vec::new();
    let mut kept: Vec<usize> = Vec::new();
    // Of every vertex, the first pair of the group in which it was kept last: a ball has a group of
    // all faces that are near, and comparing each with all that are kept would take most of the
    // time of a list.
    let mut taken = vec![usize::MAX; model.kinematic.len()];
    let mut first = 0;
    while first < pairs.len() {
        let (kind, vertex) = (pairs[first].kind, pairs[first].parts[0]);
        let same = |pair: &Pair| pair.kind == kind && pair.parts[0] == vertex;
        let end = first + pairs[first..].iter().take_while(|pair| same(pair)).count();
        match kind {
            // A ball touches every face at another of its points, so that none stands for others.
            // Where a corner is the closest point, the ball pushes that vertex.
            Kind::VertexFace if model.is_solid(vertex) && model.is_point(vertex) => {
                for pair in &mut pairs[first..end] {
                    pair.weight = side(model, pair) * if pair.at_corner { FLOOR } else { VERTEX };
                }
            }
            Kind::VertexFace | Kind::VertexEdge => {
                nearest.clear();
                nearest.extend(first..end);
                nearest.sort_by(|a, b| pairs[*a].distance.total_cmp(&pairs[*b].distance));
                kept.clear();
                for &place in &nearest {
                    let corners = other(&pairs[place]);
                    if corners.iter().all(|v| taken[*v as usize] != first) {
                        corners.iter().for_each(|v| taken[*v as usize] = first);
                        kept.push(place);
                    }
                }
                for pair in &mut pairs[first..end] {
                    pair.weight = FLOOR * side(model, pair);
                }
                for &place in &kept {
                    let pair = &mut pairs[place];
                    let part = if pair.solid && !model.is_solid(vertex) { 1.0 } else { VERTEX };
                    // An obstacle pushes vertices, and a face only where these do not reach.
                    let counts = !(model.is_solid(vertex) && kind == Kind::VertexFace) || pair.interior;
                    if counts {
                        pair.weight = part * side(model, pair);
                    }
                }
            }
            Kind::EdgeEdge => {
                for pair in &mut pairs[first..end] {
                    let [a, b] = pair.parts.map(|edge| areas.edges[edge as usize]);
                    let [p, q] = [pair.vertices[0], pair.vertices[2]].map(|v| model.is_solid(v));
                    let area = if p {
                        b
                    } else if q {
                        a
                    } else {
                        0.5 * (a + b)
                    };
                    pair.weight = area * if pair.interior { EDGE } else { FLOOR };
                }
            }
            Kind::VertexVertex => {
                for pair in &mut pairs[first..end] {
                    pair.weight = areas.vertices[pair.parts[0] as usize];
                }
            }
        }
        first = end;
    }
}

/// The vertices of the second part.
fn other(pair: &Pair) -> &[u32] {
    let [first, all] = pair.kind.vertices();
    &pair.vertices[first..all]
}

/// The area of a vertex that touches a face or an edge; that of an obstacle's vertex is no larger
/// than what it touches.
fn side(model: &Model, pair: &Pair) -> f64 {
    let area = model.areas.vertices[pair.parts[0] as usize];
    if !model.is_solid(pair.parts[0]) {
        return area;
    }
    let other = pair.parts[1] as usize;
    let other = match pair.kind {
        Kind::VertexFace => model.areas.faces[other],
        _ => model.areas.edges[other],
    };
    area.min(other)
}
