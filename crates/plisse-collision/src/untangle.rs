//! Surfaces that cross, pulled apart: the lines along which they cross are made shorter until there
//! are none.

use glam::DVec3;
use plisse_core::{Field, Id, TriMesh, Vertices};

use crate::contour;
use crate::oracle::{Crossing, SurfaceFace, intersections};

/// How [`untangle`] ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Untangled {
    /// How many times everything was moved.
    pub passes: usize,
    /// The longest way of a vertex, m.
    pub farthest: f64,
    /// What crosses still, ascending; nothing if all is free.
    pub left: Vec<Crossing>,
}

/// Moves of a vertex in one pass, in mean edges.
const MOVE: f64 = 0.1;
/// Times that moves are averaged over neighbours, so that whole patches move and no spikes.
const AVERAGES: usize = 6;
/// Passes after the last crossing, which leave a gap.
const CLEARANCE: usize = 2;

/// Moves vertices until no surface crosses itself or another, in at most so many passes.
///
/// Each pass moves every patch that crosses by at most a tenth of the mean edge against the
/// gradient of the length of the lines along which it crosses. Corners and rims that went through
/// come back; a patch that lies through another from rim to rim may have no way out. Only vertices
/// that `may_move` move, and only crossings that `counts` are removed.
///
/// ```
/// use glam::DVec3;
/// use plisse_collision::untangle;
/// use plisse_core::{Field, TriMesh};
///
/// // The tip of one triangle goes through another.
/// let mesh = TriMesh::new(6, &[[0, 1, 2], [3, 4, 5]])?;
/// let x = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0],
///     [0.3, 0.3, -0.1], [0.2, 0.3, 1.0], [0.4, 0.3, 1.0]];
/// let mut x = Field::from_vec(x.map(DVec3::from_array).to_vec());
/// let done = untangle(&[&mesh], &mut x, 100, |_| true, |_| true);
/// assert!(done.left.is_empty() && done.passes > 0 && done.farthest < 0.5);
/// # Ok::<(), plisse_core::MeshError>(())
/// ```
///
/// # Panics
/// If there are fewer positions than vertices.
#[must_use]
pub fn untangle(
    surfaces: &[&TriMesh],
    x: &mut Field<Vertices, DVec3>,
    most: usize,
    may_move: impl Fn(Id<Vertices>) -> bool,
    counts: impl Fn(&Crossing) -> bool,
) -> Untangled {
    let start = x.clone();
    let neighbours = neighbours(surfaces, x.len());
    let edge = mean_edge(surfaces, x, &may_move);
    let find = |x: &Field<Vertices, DVec3>| -> Vec<Crossing> {
        intersections(surfaces, x).crossings.into_iter().filter(&counts).collect()
    };
    let mut left = find(x);
    let mut passes = 0;
    let mut last: Vec<DVec3> = Vec::new();
    while !left.is_empty() && passes < most {
        passes += 1;
        last = vec![DVec3::ZERO; x.len()];
        for cluster in clusters(surfaces, &left) {
            let mut gradient = Field::filled(x.len(), DVec3::ZERO);
            for crossing in &cluster {
                contour::add_gradient(surfaces, x, crossing, &mut gradient);
            }
            let moves = gradient.iter().map(|(v, g)| if may_move(v) { -*g } else { DVec3::ZERO }).collect();
            let moves = averaged(moves, &neighbours, &may_move);
            let largest = moves.iter().map(|way| way.length_squared()).fold(0.0, f64::max).sqrt();
            if largest > 0.0 {
                last.iter_mut().zip(moves).for_each(|(sum, way)| *sum += way * (MOVE * edge / largest));
            }
        }
        x.as_mut_slice().iter_mut().zip(&last).for_each(|(x, way)| *x += *way);
        left = find(x);
    }
    if left.is_empty() && passes > 0 {
        for _ in 0..CLEARANCE {
            let further = Field::from_vec(x.as_slice().iter().zip(&last).map(|(x, way)| *x + *way).collect());
            if !find(&further).is_empty() {
                break;
            }
            *x = further;
        }
    }
    let ways = x.as_slice().iter().zip(start.as_slice()).map(|(x, start)| x.distance(*start));
    Untangled { passes, farthest: ways.fold(0.0, f64::max), left }
}

/// What is tangled: of each connected set of crossings the vertices of both patches, ascending. A
/// patch is what lies within two rings of the crossings, and what these cut off.
///
/// # Panics
/// If a crossing is not of these surfaces.
#[must_use]
pub fn tangles(surfaces: &[&TriMesh], crossings: &[Crossing], vertices: usize) -> Vec<Vec<Id<Vertices>>> {
    let neighbours = neighbours(surfaces, vertices);
    let mut patches: Vec<Vec<bool>> = Vec::new();
    for cluster in clusters(surfaces, crossings) {
        let mut patch = vec![false; vertices];
        let mut crossed = vec![false; vertices];
        for face in cluster.iter().flat_map(|crossing| crossing.faces) {
            for corner in corners(surfaces, face) {
                crossed[corner.index()] = true;
            }
        }
        let mut rim: Vec<usize> = (0..vertices).filter(|v| crossed[*v]).collect();
        cut_off(surfaces, &neighbours, &crossed, &mut patch);
        for _ in 0..=RINGS {
            for v in &rim {
                patch[*v] = true;
            }
            let next = rim.iter().flat_map(|v| &neighbours[*v]).map(|v| v.index());
            rim = next.filter(|v| !patch[*v]).collect();
        }
        patches.push(patch);
    }
    merged(patches).iter().map(|patch| ids_of(patch)).collect()
}

/// Rings of vertices around a crossing that belong to it.
const RINGS: usize = 2;

/// Adds the parts of surfaces that the crossed vertices separate from the largest part.
fn cut_off(surfaces: &[&TriMesh], neighbours: &[Vec<Id<Vertices>>], crossed: &[bool], patch: &mut [bool]) {
    for mesh in surfaces {
        let mut seen = vec![false; crossed.len()];
        let mut parts: Vec<Vec<usize>> = Vec::new();
        for first in mesh.faces().as_slice().iter().flatten().map(|v| v.index()) {
            if seen[first] || crossed[first] {
                continue;
            }
            let (mut part, mut next) = (Vec::new(), vec![first]);
            seen[first] = true;
            while let Some(v) = next.pop() {
                part.push(v);
                for w in neighbours[v].iter().map(|w| w.index()) {
                    if !seen[w] && !crossed[w] {
                        seen[w] = true;
                        next.push(w);
                    }
                }
            }
            parts.push(part);
        }
        let is_cut =
            |part: &&Vec<usize>| part.iter().any(|v| neighbours[*v].iter().any(|w| crossed[w.index()]));
        let largest = parts.iter().map(Vec::len).max().unwrap_or(0);
        let mut kept = false;
        for part in parts.iter().filter(is_cut) {
            if part.len() == largest && !kept {
                kept = true;
                continue;
            }
            part.iter().for_each(|v| patch[*v] = true);
        }
    }
}

/// Sets that have nothing in common, from sets that may.
fn merged(sets: Vec<Vec<bool>>) -> Vec<Vec<bool>> {
    let mut out: Vec<Vec<bool>> = Vec::new();
    for mut set in sets {
        let (meet, apart): (Vec<_>, Vec<_>) =
            out.into_iter().partition(|other| other.iter().zip(&set).any(|(a, b)| *a && *b));
        for other in meet {
            set.iter_mut().zip(other).for_each(|(a, b)| *a |= b);
        }
        out = apart;
        out.push(set);
    }
    out
}

fn ids_of(set: &[bool]) -> Vec<Id<Vertices>> {
    (0..set.len()).filter(|v| set[*v]).map(|v| Id::new(v as u32)).collect()
}

fn corners(surfaces: &[&TriMesh], face: SurfaceFace) -> [Id<Vertices>; 3] {
    surfaces[face.surface].faces()[face.face]
}

/// Crossings that have vertices in common, together.
fn clusters(surfaces: &[&TriMesh], crossings: &[Crossing]) -> Vec<Vec<Crossing>> {
    let mut of_vertex = std::collections::BTreeMap::new();
    let mut parent: Vec<usize> = (0..crossings.len()).collect();
    for (i, crossing) in crossings.iter().enumerate() {
        for v in crossing.faces.into_iter().flat_map(|face| corners(surfaces, face)) {
            let other = *of_vertex.entry(v.get()).or_insert(i);
            let (a, b) = (root(&parent, i), root(&parent, other));
            parent[a.max(b)] = a.min(b);
        }
    }
    let mut out = std::collections::BTreeMap::<usize, Vec<Crossing>>::new();
    for (i, crossing) in crossings.iter().enumerate() {
        out.entry(root(&parent, i)).or_default().push(*crossing);
    }
    out.into_values().collect()
}

fn root(parent: &[usize], mut i: usize) -> usize {
    while parent[i] != i {
        i = parent[i];
    }
    i
}

fn neighbours(surfaces: &[&TriMesh], vertices: usize) -> Vec<Vec<Id<Vertices>>> {
    let mut out = vec![Vec::new(); vertices];
    for edge in surfaces.iter().flat_map(|mesh| mesh.edges().as_slice()) {
        let [a, b] = edge.vertices;
        out[a.index()].push(b);
        out[b.index()].push(a);
    }
    out
}

/// Of the edges that may move: an obstacle can be much larger than what lies on it.
fn mean_edge(
    surfaces: &[&TriMesh],
    x: &Field<Vertices, DVec3>,
    may_move: impl Fn(Id<Vertices>) -> bool,
) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    let edges = surfaces.iter().flat_map(|mesh| mesh.edges().as_slice());
    for edge in edges.filter(|edge| edge.vertices.into_iter().all(&may_move)) {
        sum += x[edge.vertices[0]].distance(x[edge.vertices[1]]);
        count += 1;
    }
    sum / f64::from(count.max(1))
}

/// Moves averaged over neighbours; what may not move stays.
fn averaged(
    mut moves: Vec<DVec3>,
    neighbours: &[Vec<Id<Vertices>>],
    may_move: impl Fn(Id<Vertices>) -> bool,
) -> Vec<DVec3> {
    for _ in 0..AVERAGES {
        let mean = |v: usize| {
            let around = &neighbours[v];
            if around.is_empty() || !may_move(Id::new(v as u32)) {
                return moves[v];
            }
            let sum: DVec3 = around.iter().map(|w| moves[w.index()]).sum();
            0.5 * moves[v] + sum * (0.5 / around.len() as f64)
        };
        moves = (0..moves.len()).map(mean).collect();
    }
    moves
}

#[cfg(test)]
mod tests {
    use plisse_core::{SplitMix, generate};

    use super::*;

    fn length(surfaces: &[&TriMesh], x: &Field<Vertices, DVec3>) -> (f64, Field<Vertices, DVec3>) {
        let mut gradient = Field::filled(x.len(), DVec3::ZERO);
        let crossings = intersections(surfaces, x).crossings;
        let sum = crossings.iter().map(|c| contour::add_gradient(surfaces, x, c, &mut gradient)).sum();
        (sum, gradient)
    }

    #[test]
    fn the_gradient_is_that_of_the_length_and_has_no_resultant() {
        for seed in 0..20 {
            let mut random = SplitMix::new(seed);
            let mut point = || DVec3::new(random.signed(), random.signed(), random.signed());
            let (mesh, flat) = generate::grid(4, 4, [1.0; 2], generate::Diagonal::default()).expect("a grid");
            let count = flat.len();
            let total = 2 * count;
            let [one, other] = [0, count].map(|first| mesh.among(first as u32, total));
            let tilted = |x: DVec3| DVec3::new(x.x + 0.31, 0.2 + 0.6 * x.y, 0.4 - 0.9 * x.x);
            let raised = |x: &glam::DVec2| DVec3::new(x.x, x.y, 0.0);
            let flat: Vec<DVec3> = flat.as_slice().iter().map(raised).collect();
            let x: Vec<DVec3> = flat.iter().copied().chain(flat.iter().map(|x| tilted(*x))).collect();
            let x = Field::from_vec(x.into_iter().map(|x| x + point() * 0.04).collect());
            let surfaces = [&one, &other];
            let (sum, gradient) = length(&surfaces, &x);
            assert!(sum > 0.1, "{sum}");
            let resultant: DVec3 = gradient.as_slice().iter().sum();
            assert!(resultant.length() < 1e-12, "{resultant}");
            let way = Field::from_fn(total, |_| point());
            let slope: f64 = gradient.iter().map(|(v, g)| g.dot(way[v])).sum();
            let h = 1e-7;
            let at = |h: f64| length(&surfaces, &Field::from_fn(total, |v| x[v] + way[v] * h)).0;
            let difference = (at(h) - at(-h)) / (2.0 * h);
            assert!(slope.abs() > 1e-3);
            assert!((slope - difference).abs() < 1e-5 * slope.abs().max(1.0), "{seed}: {slope} {difference}");
        }
    }

    /// Two sheets of 20 cells, the second tilted so that its corner goes through the first.
    fn corner() -> ([TriMesh; 2], Field<Vertices, DVec3>) {
        let (mesh, flat) = generate::grid(20, 20, [1.0; 2], generate::Diagonal::default()).expect("a grid");
        let count = flat.len();
        let meshes = [0, count].map(|first| mesh.among(first as u32, 2 * count));
        let flat = flat.as_slice().iter().map(|x| DVec3::new(x.x, x.y, 0.0));
        let tilted = |x: DVec3| DVec3::new(0.32 + x.x, 0.34 + x.y, -0.08 + 0.21 * x.x + 0.13 * x.y);
        (meshes, Field::from_vec(flat.clone().chain(flat.map(tilted)).collect()))
    }

    #[test]
    fn a_corner_comes_back() {
        let ([one, other], mut x) = corner();
        let surfaces = [&one, &other];
        let done = untangle(&surfaces, &mut x, 300, |_| true, |_| true);
        assert!(done.left.is_empty() && intersections(&surfaces, &x).is_free(), "{done:?}");
        assert!(done.farthest < 0.2, "{}", done.farthest);
        // A second time there is nothing to do.
        let done = untangle(&surfaces, &mut x, 300, |_| true, |_| true);
        assert_eq!((done.passes, done.farthest), (0, 0.0));
    }

    #[test]
    fn what_may_not_move_stays() {
        let ([one, other], mut x) = corner();
        let start = x.clone();
        let first = x.len() as u32 / 2;
        let surfaces = [&one, &other];
        let done = untangle(&surfaces, &mut x, 300, |v| v.get() >= first, |_| true);
        assert!(done.left.is_empty(), "{} left after {}", done.left.len(), done.passes);
        assert!(x.ids().take(first as usize).all(|v| x[v] == start[v]));
        let done = untangle(&surfaces, &mut start.clone(), 5, |_| false, |_| true);
        assert!(!done.left.is_empty() && done.farthest == 0.0);
    }

    #[test]
    fn patches_have_the_corner_that_is_cut_off() {
        let ([one, other], x) = corner();
        let surfaces = [&one, &other];
        let found = tangles(&surfaces, &intersections(&surfaces, &x).crossings, x.len());
        assert_eq!(found.len(), 1);
        let first = x.len() as u32 / 2;
        // The tip of the second sheet lies below the first one, its far corner above.
        assert!(found[0].contains(&Id::new(first)));
        assert!(!found[0].contains(&Id::new(2 * first - 1)));
        assert!(found[0].iter().any(|v| v.get() < first));
    }
}
