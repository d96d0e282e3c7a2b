//! Trees over everything that takes part in contact, and the pairs that they find.

use glam::DVec3;
use plisse_core::{Field, Id, Vertices};

use crate::bounds::{Bounds, Frame};
use crate::candidates::{Candidates, Pairs, limit};
use crate::colliders::{Body, Colliders, Part};
use crate::traverse::{between, within};
use crate::tree::Tree;

/// Finds the pairs that can touch. Its trees are built once; every search refits them.
///
/// The pairs and their order depend on nothing but colliders, positions and filter: not on the
/// trees, not on the number of threads. No pair is missed at any finite positions.
///
/// ```
/// use glam::DVec3;
/// use plisse_collision::{Body, BroadPhase, Colliders};
/// use plisse_core::{Field, Id, TriMesh};
///
/// // A grain above a triangle.
/// let mut colliders = Colliders::new(4);
/// colliders.add_surface(Body(0), &TriMesh::new(3, &[[0, 1, 2]])?, 0.0)?;
/// colliders.add_points(Body(1), &[Id::new(3)], 0.01)?;
/// let x = Field::from_vec(vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::new(0.2, 0.2, 0.05)]);
/// let mut phase = BroadPhase::new(colliders, &x);
///
/// let near = phase.near(&x, 0.01, 0.001, |_, _| true);
/// assert!(near.pairs().is_empty());
/// let near = phase.near(&x, 0.01, 0.02, |_, _| true);
/// assert_eq!(near.pairs().vertex_faces, [(Id::new(3), Id::new(0))]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct BroadPhase {
    colliders: Colliders,
    /// The vertices that take part, ascending.
    vertices: Vec<Part<1>>,
    /// Those of them that have no edge, by their place in `vertices`.
    points: Vec<u32>,
    /// Boxes of the vertices of the scene, not inflated; scratch.
    boxes: Vec<Bounds>,
    trees: Trees,
}

#[derive(Clone, Debug)]
struct Trees {
    vertices: Tree,
    points: Tree,
    edges: Tree,
    lines: Tree,
    faces: Tree,
}

impl BroadPhase {
    /// Builds the trees for these positions in metres. Searches are fastest while neighbours there
    /// stay neighbours; they are right in any case.
    ///
    /// # Panics
    /// If there are fewer positions than vertices.
    #[must_use]
    pub fn new(colliders: Colliders, x: &Field<Vertices, DVec3>) -> Self {
        let vertices: Vec<Part<1>> = colliders.vertices().collect();
        let mut has_edge = vec![false; colliders.vertex_count()];
        for vertex in colliders.edges().iter().flat_map(|edge| edge.vertices) {
            has_edge[vertex.index()] = true;
        }
        let mut points = Vec::new();
        for (place, vertex) in vertices.iter().enumerate() {
            if !has_edge[vertex.vertices[0].index()] {
                points.push(place as u32);
            }
        }
        let frame = frame(&vertices, x);
        let mut boxes = vec![Bounds::EMPTY; colliders.vertex_count()];
        fill(&mut boxes, &vertices, &frame, x, x);
        let trees = Trees {
            vertices: tree(vertices.iter(), &boxes),
            points: tree(points.iter().map(|place| &vertices[*place as usize]), &boxes),
            edges: tree(colliders.edges().iter(), &boxes),
            lines: tree(colliders.lines().iter().map(|edge| &colliders.edges()[*edge as usize]), &boxes),
            faces: tree(colliders.faces().iter(), &boxes),
        };
        Self { colliders, vertices, points, boxes, trees }
    }

    /// What takes part.
    #[must_use]
    pub fn colliders(&self) -> &Colliders {
        &self.colliders
    }

    /// Every pair that can come within `gap` (metres) of touching while no vertex moves farther
    /// than `radius` (metres) from `x`: one list for all iterations of a step.
    ///
    /// Radii of parts count: a pair touches where its distance is the sum of its radii. `bodies`
    /// says whether two bodies may touch, the smaller one first; asked with the same body twice, it
    /// says whether a body may touch itself. Negative lengths count as zero.
    ///
    /// A radius that is larger than edges are long makes a pair of nearly all neighbours.
    ///
    /// # Panics
    /// If there are fewer positions than vertices.
    #[must_use]
    pub fn near(
        &mut self,
        x: &Field<Vertices, DVec3>,
        gap: f64,
        radius: f64,
        bodies: impl Fn(Body, Body) -> bool + Sync,
    ) -> Candidates {
        let radius = radius.max(0.0);
        let start: Vec<(Id<Vertices>, DVec3)> =
            self.vertices.iter().map(|part| (part.vertices[0], x[part.vertices[0]])).collect();
        let largest = start.iter().fold(0.0f64, |largest, (_, x)| largest.max(x.abs().max_element()));
        let limit = limit(radius, largest);
        // Half for each of the two boxes.
        let half = (0.5 * gap.max(0.0)).next_up() + limit;
        let pairs = self.search(x, x, half, bodies);
        Candidates::new(pairs, start, radius, limit)
    }

    /// Every pair that comes within `gap` (metres) of touching while all vertices move straight
    /// from one place to another, each at its constant speed.
    ///
    /// Radii of parts and `bodies` count as in [`BroadPhase::near`].
    ///
    /// # Panics
    /// If there are fewer positions than vertices.
    #[must_use]
    pub fn along(
        &mut self,
        from: &Field<Vertices, DVec3>,
        to: &Field<Vertices, DVec3>,
        gap: f64,
        bodies: impl Fn(Body, Body) -> bool + Sync,
    ) -> Pairs {
        self.search(from, to, (0.5 * gap.max(0.0)).next_up(), bodies)
    }

    /// All pairs whose boxes overlap, those of whole motions, each inflated by `half` and by the
    /// radius of its part.
    fn search(
        &mut self,
        from: &Field<Vertices, DVec3>,
        to: &Field<Vertices, DVec3>,
        half: f64,
        bodies: impl Fn(Body, Body) -> bool + Sync,
    ) -> Pairs {
        // Of the start only: one vertex that flies off must not cost all others their resolution.
        let frame = frame(&self.vertices, from);
        fill(&mut self.boxes, &self.vertices, &frame, from, to);
        self.refit(&frame, half);

        let Self { colliders, vertices, points, trees, .. } = self;
        let (edges, faces, lines) = (colliders.edges(), colliders.faces(), colliders.lines());
        let vertex = |place: u32| vertices[place as usize].vertices[0];
        let ends = |edge: u32| edges[edge as usize].vertices;
        let vertex_faces = between(&trees.vertices, &trees.faces, &bodies, |v, f| {
            !faces[f as usize].vertices.contains(&vertex(v))
        });
        let edge_edges = within(&trees.edges, &bodies, |e, f| {
            let (e, f) = (ends(e), ends(f));
            !(f.contains(&e[0]) || f.contains(&e[1]))
        });
        let vertex_edges = between(&trees.vertices, &trees.lines, &bodies, |v, l| {
            !ends(lines[l as usize]).contains(&vertex(v))
        });
        let vertex_vertices = within(&trees.points, &bodies, |_, _| true);
        // Places in the ascending lists of vertices and lines have the order of their numbers.
        let line = |l: u32| Id::new(lines[l as usize]);
        let point = |p: u32| vertex(points[p as usize]);
        Pairs {
            vertex_faces: vertex_faces.into_iter().map(|(v, f)| (vertex(v), Id::new(f))).collect(),
            edge_edges: edge_edges.into_iter().map(|(e, f)| (Id::new(e), Id::new(f))).collect(),
            vertex_edges: vertex_edges.into_iter().map(|(v, l)| (vertex(v), line(l))).collect(),
            vertex_vertices: vertex_vertices.into_iter().map(|(p, q)| (point(p), point(q))).collect(),
        }
    }

    /// Fits the trees to the boxes of the vertices.
    fn refit(&mut self, frame: &Frame, half: f64) {
        let Self { colliders, vertices, points, boxes, trees } = self;
        let (edges, faces, lines) = (colliders.edges(), colliders.faces(), colliders.lines());
        let inflated = Inflated { boxes, frame, half };
        trees.vertices.refit(|v| inflated.of(&vertices[v as usize]));
        trees.faces.refit(|f| inflated.of(&faces[f as usize]));
        trees.edges.refit(|e| inflated.of(&edges[e as usize]));
        trees.lines.refit(|l| inflated.of(&edges[lines[l as usize] as usize]));
        trees.points.refit(|p| inflated.of(&vertices[points[p as usize] as usize]));
    }
}

/// Boxes of parts, from those of their vertices.
struct Inflated<'a> {
    boxes: &'a [Bounds],
    frame: &'a Frame,
    half: f64,
}

impl Inflated<'_> {
    #[inline]
    fn of<const N: usize>(&self, part: &Part<N>) -> Bounds {
        bounds(part, self.boxes).inflated(self.frame.length((part.radius + self.half).next_up()))
    }
}

#[inline]
fn bounds<const N: usize>(part: &Part<N>, boxes: &[Bounds]) -> Bounds {
    part.vertices.iter().fold(Bounds::EMPTY, |bounds, vertex| bounds.union(boxes[vertex.index()]))
}

fn frame(vertices: &[Part<1>], x: &Field<Vertices, DVec3>) -> Frame {
    Frame::around(vertices.iter().map(|part| x[part.vertices[0]]))
}

fn fill(
    boxes: &mut [Bounds],
    vertices: &[Part<1>],
    frame: &Frame,
    from: &Field<Vertices, DVec3>,
    to: &Field<Vertices, DVec3>,
) {
    for part in vertices {
        let vertex = part.vertices[0];
        let start = frame.point(from[vertex]);
        let moves = from[vertex] != to[vertex];
        boxes[vertex.index()] = if moves { start.union(frame.point(to[vertex])) } else { start };
    }
}

fn tree<'a, const N: usize>(parts: impl Iterator<Item = &'a Part<N>>, boxes: &[Bounds]) -> Tree {
    Tree::new(parts.map(|part| (part.body, bounds(part, boxes))))
}
