//! Signed distance to a closed triangle mesh.

use glam::{DMat3, DVec3};
use plisse_core::{Field, Id, RestError, RestShape, TriMesh, Vertices, outer};

use super::super::SceneError;
use super::distance::Distance;

/// A closed surface, with a tree of boxes for the search and a normal for each face, edge and
/// vertex that tells inside from outside (those of edges and vertices are sums over the adjacent
/// faces, weighted by angle).
#[derive(Clone, Debug)]
pub(super) struct SolidMesh {
    positions: Vec<DVec3>,
    faces: Vec<[u32; 3]>,
    face_normals: Vec<DVec3>,
    /// Normal of the edge opposite each corner.
    edge_normals: Vec<[DVec3; 3]>,
    vertex_normals: Vec<DVec3>,
    /// The first holds everything.
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    min: DVec3,
    max: DVec3,
    content: Content,
}

#[derive(Clone, Copy, Debug)]
enum Content {
    Children(u32, u32),
    Faces(u32, u32),
}

/// The part of a triangle that is closest.
#[derive(Clone, Copy)]
enum Feature {
    Face,
    Edge(usize),
    Vertex(usize),
}

impl SolidMesh {
    pub(super) fn new(mesh: &TriMesh, x: &Field<Vertices, DVec3>) -> Result<Self, SceneError> {
        Self::check(mesh, x)?;
        Ok(Self::of_checked(mesh, x))
    }

    /// Refuses what has no inside.
    pub(super) fn check(mesh: &TriMesh, x: &Field<Vertices, DVec3>) -> Result<(), SceneError> {
        if let Some(edge) = mesh.boundary_edges().next() {
            return Err(SceneError::OpenObstacle { edge: edge.to_string() });
        }
        // Refuses triangles without area and coordinates that are not finite.
        RestShape::from_positions(mesh, x).map_err(|source: RestError| SceneError::Rest {
            body: "the mesh of an obstacle".to_owned(),
            source,
        })?;
        mesh.inverted_piece(x, false).map_or(Ok(()), |inverted| Err(SceneError::InsideOutObstacle(inverted)))
    }

    /// The same without a check, for what lies between two meshes that passed it. There triangles
    /// may have no area; the nearest feature then has a direction all the same.
    pub(super) fn of_checked(mesh: &TriMesh, x: &Field<Vertices, DVec3>) -> Self {
        let corners = |v: &[Id<Vertices>; 3]| v.map(|v| x[v]);
        let unit = |[a, b, c]: [DVec3; 3]| (b - a).cross(c - a).normalize_or_zero();
        let mut faces: Vec<[Id<Vertices>; 3]> = mesh.faces().as_slice().to_vec();
        let mut vertex_normals = vec![DVec3::ZERO; x.len()];
        for face in &faces {
            let p = corners(face);
            let normal = unit(p);
            if normal == DVec3::ZERO {
                // No area, and perhaps no angles.
                continue;
            }
            for (i, v) in face.iter().enumerate() {
                let (a, b) = (p[(i + 1) % 3] - p[i], p[(i + 2) % 3] - p[i]);
                vertex_normals[v.index()] += normal * a.angle_between(b);
            }
        }
        let nodes = build_tree(&mut faces, x);
        let edge_normal = |a: Id<Vertices>, b: Id<Vertices>| {
            let edge = mesh.edge_between(a, b).map(|edge| mesh.edges()[edge].faces);
            let (left, right) = edge.map_or((None, None), |(left, right)| (Some(left), right));
            [left, right].into_iter().flatten().map(|f| unit(corners(&mesh.faces()[f]))).sum::<DVec3>()
        };
        Self {
            face_normals: faces.iter().map(|f| unit(corners(f))).collect(),
            edge_normals: faces
                .iter()
                .map(|&[a, b, c]| [edge_normal(b, c), edge_normal(c, a), edge_normal(a, b)])
                .collect(),
            faces: faces.iter().map(|f| f.map(Id::get)).collect(),
            positions: x.as_slice().to_vec(),
            vertex_normals,
            nodes,
        }
    }

    pub(super) fn surface(&self) -> (&[DVec3], &[[u32; 3]]) {
        (&self.positions, &self.faces)
    }

    /// The middle of the box around it.
    pub(super) fn centre(&self) -> DVec3 {
        (self.nodes[0].min + self.nodes[0].max) * 0.5
    }

    /// Whether a point is farther away than this, by its box alone.
    pub(super) fn is_beyond(&self, x: DVec3, range: f64) -> bool {
        box_distance_squared(x, &self.nodes[0]) > range * range
    }

    /// The corners of a face that is nearest to a point.
    pub(super) fn nearest_face(&self, x: DVec3) -> [u32; 3] {
        self.faces[self.nearest(x).0]
    }

    /// The nearest face, its nearest point, and on which part of the face that is.
    fn nearest(&self, x: DVec3) -> (usize, DVec3, Feature) {
        let mut best = (f64::INFINITY, 0, DVec3::ZERO, Feature::Face);
        // Halving leaves at most 32 levels, each with one node waiting.
        let mut stack = [0u32; 64];
        let mut height = 1;
        while height > 0 {
            height -= 1;
            let node = self.nodes[stack[height] as usize];
            if box_distance_squared(x, &node) >= best.0 {
                continue;
            }
            match node.content {
                Content::Children(a, b) => {
                    let [da, db] = [a, b].map(|n| box_distance_squared(x, &self.nodes[n as usize]));
                    // The nearer child last, to be taken first.
                    (stack[height], stack[height + 1]) = if da < db { (b, a) } else { (a, b) };
                    height += 2;
                }
                Content::Faces(from, to) => {
                    for face in from..to {
                        let p = self.faces[face as usize].map(|v| self.positions[v as usize]);
                        let (closest, feature) = closest_point(x, p);
                        let squared = x.distance_squared(closest);
                        if squared < best.0 {
                            best = (squared, face as usize, closest, feature);
                        }
                    }
                }
            }
        }
        let (_, face, closest, feature) = best;
        (face, closest, feature)
    }

    pub(super) fn distance(&self, x: DVec3) -> Distance {
        let (face, closest, feature) = self.nearest(x);
        let offset = x - closest;
        let normal = match feature {
            Feature::Face => {
                let n = self.face_normals[face];
                return Distance { value: n.dot(offset), gradient: n, hessian: DMat3::ZERO };
            }
            Feature::Edge(i) => self.edge_normals[face][i],
            Feature::Vertex(i) => self.vertex_normals[self.faces[face][i] as usize],
        };
        let free = match feature {
            Feature::Edge(i) => {
                let p = self.faces[face].map(|v| self.positions[v as usize]);
                let e = (p[(i + 2) % 3] - p[(i + 1) % 3]).normalize_or_zero();
                DMat3::IDENTITY - outer(e, e)
            }
            _ => DMat3::IDENTITY,
        };
        let round = Distance::round(offset, free, 0.0, normal.normalize_or(DVec3::Z));
        if offset.dot(normal) < 0.0 { round.inside() } else { round }
    }
}

fn box_distance_squared(x: DVec3, node: &Node) -> f64 {
    x.distance_squared(x.clamp(node.min, node.max))
}

/// Sorts the faces into a tree of boxes, halved along the longest side.
fn build_tree(faces: &mut [[Id<Vertices>; 3]], x: &Field<Vertices, DVec3>) -> Vec<Node> {
    const LEAF: usize = 4;
    let mut nodes = Vec::new();
    let mut open = vec![(0usize, faces.len(), None::<(usize, bool)>)];
    while let Some((from, to, parent)) = open.pop() {
        let index = nodes.len();
        let (mut min, mut max) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for v in faces[from..to].iter().flatten() {
            (min, max) = (min.min(x[*v]), max.max(x[*v]));
        }
        if let Some((parent, second)) = parent {
            let node: &mut Node = &mut nodes[parent];
            if let Content::Children(a, b) = &mut node.content {
                *(if second { b } else { a }) = index as u32;
            }
        }
        if to - from <= LEAF {
            nodes.push(Node { min, max, content: Content::Faces(from as u32, to as u32) });
            continue;
        }
        let side = max - min;
        let axis = if side.x >= side.y && side.x >= side.z {
            0
        } else if side.y >= side.z {
            1
        } else {
            2
        };
        let middle = usize::midpoint(from, to);
        let key = |face: &[Id<Vertices>; 3]| face.iter().map(|v| x[*v][axis]).sum::<f64>();
        faces[from..to].select_nth_unstable_by(middle - from, |a, b| key(a).total_cmp(&key(b)));
        nodes.push(Node { min, max, content: Content::Children(0, 0) });
        open.push((middle, to, Some((index, true))));
        open.push((from, middle, Some((index, false))));
    }
    nodes
}

/// The closest point of a triangle, and on which part of it it lies.
fn closest_point(x: DVec3, p: [DVec3; 3]) -> (DVec3, Feature) {
    let normal = (p[1] - p[0]).cross(p[2] - p[0]);
    let inside = |i: usize| {
        let (a, b) = (p[(i + 1) % 3], p[(i + 2) % 3]);
        normal.dot((b - a).cross(x - a)) >= 0.0
    };
    let n = normal.normalize_or_zero();
    if n != DVec3::ZERO && (0..3).all(inside) {
        return (x - n * n.dot(x - p[0]), Feature::Face);
    }
    let mut best = (f64::INFINITY, p[0], Feature::Vertex(0));
    for i in 0..3 {
        let (a, b) = ((i + 1) % 3, (i + 2) % 3);
        let edge = p[b] - p[a];
        let s = edge.dot(x - p[a]) / edge.length_squared();
        let (point, feature) = if s <= 0.0 {
            (p[a], Feature::Vertex(a))
        } else if s >= 1.0 {
            (p[b], Feature::Vertex(b))
        } else {
            (p[a] + edge * s, Feature::Edge(i))
        };
        let squared = x.distance_squared(point);
        if squared < best.0 {
            best = (squared, point, feature);
        }
    }
    (best.1, best.2)
}
