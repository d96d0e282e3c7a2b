//! Putting contact together.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use glam::DVec3;
use plisse_collision::{Body, BroadPhase, ColliderError, Colliders, InverseMasses, ResponseSettingsError};
use plisse_core::{Faces, Field, Id, MeshError, TriMesh, Vertices};
use thiserror::Error;

use crate::impact::Impact;
use crate::list::{List, Radii, Room};
use crate::model::{Areas, Kinematic, Model, Near, Place, Solid};
use crate::tangle::Tangles;
use crate::term::ContactTerm;
use crate::touching::{Laws, Touching};

/// Why there can be no contact.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ContactError {
    /// Parts that cannot take part.
    #[error("{body}: {source}")]
    Collider {
        /// Name of the body.
        body: String,
        /// What is wrong.
        source: ColliderError,
    },
    /// An obstacle whose faces are no mesh.
    #[error("{body}: {source}")]
    Mesh {
        /// Name of the obstacle.
        body: String,
        /// What is wrong.
        source: MeshError,
    },
    /// Masses that do not fit.
    #[error(transparent)]
    Masses {
        /// What is wrong.
        source: ResponseSettingsError,
    },
    /// Numbers that do not fit.
    #[error("{body}: {what} is {value}: {expected}")]
    BadParameter {
        /// Name of the body.
        body: String,
        /// The parameter.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What would fit.
        expected: &'static str,
    },
    /// Bodies that touch at the start.
    #[error(
        "{} and {} touch at the start: their surfaces are {gap} m apart at ({:.4}, {:.4}, {:.4}), \
         and {count} pairs of parts touch in all",
        parts[0], parts[1], at.x, at.y, at.z
    )]
    Touching {
        /// A vertex of each of the two closest parts, with the name of its body.
        parts: [String; 2],
        /// Distance minus thickness, m; zero or less.
        gap: f64,
        /// Where, m.
        at: DVec3,
        /// How many pairs touch.
        count: usize,
    },
}

/// The parts of an obstacle, by the numbers of its vertices.
#[derive(Clone, Debug)]
pub enum Shape {
    /// Triangles; both sides count.
    Surface(Vec<[u32; 3]>),
    /// Thick lines: rods with round ends.
    Lines(Vec<[u32; 2]>),
    /// Balls.
    Points,
}

enum Part {
    Cloth {
        mesh: TriMesh,
        areas: Field<Faces, f64>,
    },
    /// Segments with their radii.
    Wires {
        segments: Vec<([Id<Vertices>; 2], f64)>,
    },
    Obstacle {
        shape: Shape,
        count: usize,
        motion: Arc<dyn Kinematic>,
    },
}

/// Collects what takes part in contact; [`ContactBuilder::build`] checks it.
pub struct ContactBuilder {
    bodies: Vec<(String, Part, Touching)>,
    obstacles: Vec<(String, Part, Touching)>,
    friction: BTreeMap<(u32, u32), f64>,
    inside: BTreeSet<(u32, u32)>,
    tangled: bool,
    depth: Option<Depth>,
}

/// The largest depth of held nodes inside of obstacles, m, by the time and the positions of all.
pub(crate) type Depth = Box<dyn Fn(f64, &Field<Vertices, DVec3>) -> f64 + Send + Sync>;

/// Of the range, gaps at the start above which nothing is changed: what rests there would hardly
/// move.
const RESTS: f64 = 0.95;
/// Of the range, what is left at least to a vertex that starts as close as can be.
const SMALLEST_RANGE: f64 = 1e-4;

impl ContactBuilder {
    pub(crate) fn new() -> Self {
        Self {
            bodies: Vec::new(),
            obstacles: Vec::new(),
            friction: BTreeMap::new(),
            inside: BTreeSet::new(),
            tangled: false,
            depth: None,
        }
    }

    /// Adds a cloth, in the numbering of the system, with the areas of its faces at rest in m².
    /// Bodies are numbered in the order in which they are added.
    #[must_use]
    pub fn cloth(
        mut self,
        name: impl Into<String>,
        mesh: TriMesh,
        areas: Field<Faces, f64>,
        touching: Touching,
    ) -> Self {
        self.bodies.push((name.into(), Part::Cloth { mesh, areas }, touching));
        self
    }

    /// Adds wires, in the numbering of the system.
    #[must_use]
    pub fn wires(
        self,
        name: impl Into<String>,
        segments: Vec<[Id<Vertices>; 2]>,
        touching: Touching,
    ) -> Self {
        let segments = segments.into_iter().map(|ends| (ends, touching.radius)).collect();
        self.yarns(name, segments, touching)
    }

    /// Adds wires whose segments have radii of their own, in m, in the numbering of the system. A
    /// vertex has the largest radius of its segments; that of `touching` does not count.
    #[must_use]
    pub fn yarns(
        mut self,
        name: impl Into<String>,
        segments: Vec<([Id<Vertices>; 2], f64)>,
        touching: Touching,
    ) -> Self {
        self.bodies.push((name.into(), Part::Wires { segments }, touching));
        self
    }

    /// Adds an obstacle of so many vertices. Obstacles are numbered after all bodies.
    #[must_use]
    pub fn obstacle(
        mut self,
        name: impl Into<String>,
        shape: Shape,
        count: usize,
        motion: Arc<dyn Kinematic>,
        touching: Touching,
    ) -> Self {
        self.obstacles.push((name.into(), Part::Obstacle { shape, count, motion }, touching));
        self
    }

    /// Sets the coefficient of friction of two bodies, obstacles numbered after bodies. It must be
    /// zero or more and finite.
    #[must_use]
    pub fn friction(mut self, a: u32, b: u32, coefficient: f64) -> Self {
        self.friction.insert((a.min(b), a.max(b)), coefficient);
        self
    }

    /// Lets what a held vertex bounds pass through an obstacle, counted among obstacles: it starts
    /// inside.
    #[must_use]
    pub fn starts_inside(mut self, vertex: Id<Vertices>, obstacle: u32) -> Self {
        self.inside.insert((vertex.get(), obstacle));
        self
    }

    /// Lets what crosses at the start pass through each other until it has come apart. What
    /// crosses, two rings of triangles around it and what it cuts off are left alone in each step;
    /// all else is kept apart.
    #[must_use]
    pub fn may_start_tangled(self) -> Self {
        Self { tangled: true, ..self }
    }

    /// Says how deep nodes that are held are inside of obstacles, m, by the time and the positions
    /// of all nodes: for reports.
    #[must_use]
    pub fn held_depth(
        self,
        depth: impl Fn(f64, &Field<Vertices, DVec3>) -> f64 + Send + Sync + 'static,
    ) -> Self {
        Self { depth: Some(Box::new(depth)), ..self }
    }

    /// Checks everything. `start` and `masses` are those of the nodes of the system; `is_held` says
    /// of which nodes something else says where they are.
    ///
    /// # Errors
    /// [`ContactError`] if something touches at the start, or cannot take part.
    pub fn build(
        self,
        name: impl Into<String>,
        start: &Field<Vertices, DVec3>,
        masses: &Field<Vertices, f64>,
        is_held: impl Fn(Id<Vertices>) -> bool,
    ) -> Result<ContactTerm, ContactError> {
        let nodes = start.len();
        let first_obstacle = self.bodies.len() as u32;
        let parts: Vec<(String, Part, Touching)> = self.bodies.into_iter().chain(self.obstacles).collect();
        for (name, _, touching) in &parts {
            check(name, touching)?;
        }
        for ((a, b), coefficient) in &self.friction {
            check_friction(
                [*a, *b].map(|body| parts.get(body as usize).map(|(name, ..)| name)),
                *coefficient,
            )?;
        }
        let solid_count: usize = parts.iter().map(|(_, part, _)| part.solid_count()).sum();
        let total = nodes + solid_count;
        let mut colliders = Colliders::new(total);
        let mut areas = Areas { vertices: vec![0.0; total], edges: Vec::new(), faces: Vec::new() };
        let mut solids: Vec<Solid> = Vec::new();
        let mut x = start.as_slice().to_vec();
        let near = Near::new(0.0, &x);
        let mut edge = f64::INFINITY;
        let mut firsts = Vec::with_capacity(parts.len());
        for (number, (name, part, touching)) in parts.iter().enumerate() {
            let body = number as u32;
            let wrong = |source| ContactError::Collider { body: name.clone(), source };
            firsts.push(part.first_vertex());
            match part {
                Part::Cloth { mesh, areas: of_faces } => {
                    colliders.add_surface(Body(body), mesh, touching.radius).map_err(wrong)?;
                    areas.add_surface(mesh, of_faces);
                    let lengths = mesh.edges().as_slice().iter();
                    let lengths =
                        lengths.map(|edge| x[edge.vertices[0].index()].distance(x[edge.vertices[1].index()]));
                    edge = edge.min(lengths.sum::<f64>() / mesh.edge_count().max(1) as f64);
                }
                Part::Wires { segments } => {
                    let length = |ends: &[Id<Vertices>; 2]| x[ends[0].index()].distance(x[ends[1].index()]);
                    for alike in segments.chunk_by(|(_, a), (_, b)| a.total_cmp(b).is_eq()) {
                        let radius = alike[0].1;
                        let lines: Vec<[Id<Vertices>; 2]> = alike.iter().map(|(ends, _)| *ends).collect();
                        colliders.add_lines(Body(body), &lines, radius).map_err(wrong)?;
                        areas.add_lines(&lines, radius, length);
                    }
                    let lengths = segments.iter().map(|(ends, _)| length(ends));
                    edge = edge.min(lengths.sum::<f64>() / segments.len().max(1) as f64);
                }
                Part::Obstacle { shape, count, motion } => {
                    let first = x.len();
                    let of_solids = first - nodes;
                    x.resize(first + count, DVec3::ZERO);
                    motion.place(0.0, &near, &mut x[first..]);
                    if let Some(bad) = x[first..].iter().find(|x| !x.is_finite()) {
                        let (what, value) = ("a coordinate", bad.x + bad.y + bad.z);
                        return Err(ContactError::BadParameter {
                            body: name.clone(),
                            what,
                            value,
                            expected: "give finite numbers",
                        });
                    }
                    solids.push(Solid { vertices: of_solids..of_solids + count, motion: Arc::clone(motion) });
                    add_obstacle(
                        &mut colliders,
                        &mut areas,
                        (body, name),
                        shape,
                        first..first + count,
                        touching,
                        &x,
                    )?;
                }
            }
        }
        let x = Field::from_vec(x);
        let length = |e: usize| {
            let [a, b] = colliders.edge(Id::new(e as u32));
            x[a].distance(x[b])
        };
        let edge_lengths: Vec<f64> = (0..colliders.edge_count()).map(length).collect();
        let mut has_edge = vec![false; total];
        for e in 0..colliders.edge_count() {
            for v in colliders.edge(Id::new(e as u32)) {
                has_edge[v.index()] = true;
            }
        }
        let is_point = |v: &u32| !has_edge[*v as usize] && colliders.body(Id::new(*v)).is_some();
        let points = (0..total as u32).filter(is_point).collect();
        let held = |v: usize| v >= nodes || is_held(Id::new(v as u32));
        let kinematic: Vec<bool> = (0..total).map(held).collect();
        let inverse = |v: usize| if kinematic[v] { 0.0 } else { 1.0 / masses[Id::new(v as u32)] };
        let inverse_masses = InverseMasses::new(Field::from_vec((0..total).map(inverse).collect()))
            .map_err(|source| ContactError::Masses { source })?;
        let laws = Laws {
            bodies: parts.iter().map(|(_, _, touching)| *touching).collect(),
            obstacles: first_obstacle,
            friction: self.friction,
        };
        let inside = self.inside.into_iter().map(|(v, obstacle)| (v, obstacle + first_obstacle)).collect();
        let tangles = self.tangled.then(|| Tangles::new(total, &surfaces(&parts, nodes)));
        let mut model = Model {
            nodes,
            phase: Mutex::new(BroadPhase::new(colliders.clone(), &x)),
            admitted: Mutex::default(),
            neighbours: Mutex::default(),
            colliders,
            laws,
            solids,
            areas,
            edge_lengths,
            kinematic,
            inverse_masses,
            start: x,
            start_ranges: vec![f64::INFINITY; total],
            inside,
            tangles,
            points,
            names: parts.iter().map(|(name, ..)| name.clone()).zip(firsts).collect(),
            has_wires: parts.iter().any(|(_, part, _)| matches!(part, Part::Wires { .. })),
            edge: if edge.is_finite() { edge } else { 1.0 },
        };
        let (bodies, solids) = model.start.as_slice().split_at(nodes);
        model.begin(&Place { nodes: bodies, solids });
        model.shorten_ranges()?;
        Ok(ContactTerm::new(name.into(), model, self.depth))
    }
}

impl Model {
    /// Gives vertices that start close to another body the range that they start with, so that
    /// nothing is thrown off.
    fn shorten_ranges(&mut self) -> Result<(), ContactError> {
        let (nodes, solids) = self.start.as_slice().split_at(self.nodes);
        let list = List::new(
            self,
            Place { nodes, solids },
            Radii::default(),
            &Impact::default(),
            None,
            Room::default(),
        );
        let mut shortened: Vec<(u32, f64)> = Vec::new();
        let mut worst: Option<(f64, [u32; 2])> = None;
        let mut count = 0;
        for pair in &list.pairs {
            let gap = pair.distance - pair.offset;
            let [first, all] = pair.kind.vertices();
            let vertices = [pair.vertices[0], pair.vertices[first]];
            let bodies = vertices.map(|v| self.colliders.body(Id::new(v)));
            if gap <= 0.0 {
                count += 1;
                if worst.is_none_or(|(least, _)| gap < least) {
                    worst = Some((gap, vertices));
                }
            } else if bodies[0] != bodies[1] && gap < RESTS * pair.range {
                let range = gap.max(SMALLEST_RANGE * pair.range);
                shortened.extend(pair.vertices[..all].iter().map(|v| (*v, range)));
            }
        }
        if let Some((gap, vertices)) = worst {
            let at = self.start[Id::new(vertices[0])];
            return Err(ContactError::Touching { parts: vertices.map(|v| self.name_of(v)), gap, at, count });
        }
        for (vertex, range) in shortened {
            if !self.is_solid(vertex) {
                let least = &mut self.start_ranges[vertex as usize];
                *least = least.min(range);
            }
        }
        Ok(())
    }
}

/// The triangles of every body and obstacle, by the numbers of all vertices.
fn surfaces(parts: &[(String, Part, Touching)], nodes: usize) -> Vec<Vec<[u32; 3]>> {
    let mut first = nodes as u32;
    let mut out = Vec::new();
    for (_, part, _) in parts {
        match part {
            Part::Cloth { mesh, .. } => {
                out.push(mesh.faces().as_slice().iter().map(|face| face.map(Id::get)).collect());
            }
            Part::Obstacle { shape: Shape::Surface(faces), .. } => {
                out.push(faces.iter().map(|face| face.map(|v| v + first)).collect());
            }
            Part::Obstacle { .. } | Part::Wires { .. } => {}
        }
        first += part.solid_count() as u32;
    }
    out
}

impl Part {
    /// The first vertex of a body, which vertices in messages are counted from; none of an
    /// obstacle.
    fn first_vertex(&self) -> Option<u32> {
        match self {
            Self::Cloth { mesh, .. } => mesh.faces().as_slice().iter().flatten().map(|v| v.get()).min(),
            Self::Wires { segments } => segments.iter().flat_map(|(ends, _)| ends).map(|v| v.get()).min(),
            Self::Obstacle { .. } => None,
        }
    }

    fn solid_count(&self) -> usize {
        match self {
            Self::Obstacle { count, .. } => *count,
            _ => 0,
        }
    }
}

impl Areas {
    fn add_surface(&mut self, mesh: &TriMesh, of_faces: &Field<Faces, f64>) {
        for (face, corners) in mesh.faces().iter() {
            for corner in corners {
                self.vertices[corner.index()] += of_faces[face] / 3.0;
            }
        }
        let of_edge = |edge: &plisse_core::Edge| {
            (of_faces[edge.faces.0] + edge.faces.1.map_or(0.0, |face| of_faces[face])) / 3.0
        };
        self.edges.extend(mesh.edges().as_slice().iter().map(of_edge));
        self.faces.extend(of_faces.as_slice());
    }

    fn add_lines(
        &mut self,
        segments: &[[Id<Vertices>; 2]],
        radius: f64,
        length: impl Fn(&[Id<Vertices>; 2]) -> f64,
    ) {
        for ends in segments {
            // Its shadow; a line without thickness has none, but must be kept away, too.
            let area = length(ends) * (2.0 * radius).max(1e-3 * length(ends));
            self.edges.push(area);
            for end in ends {
                self.vertices[end.index()] += 0.5 * area;
            }
        }
    }
}

fn add_obstacle(
    colliders: &mut Colliders,
    areas: &mut Areas,
    (body, name): (u32, &str),
    shape: &Shape,
    vertices: std::ops::Range<usize>,
    touching: &Touching,
    x: &[DVec3],
) -> Result<(), ContactError> {
    let wrong = |source| ContactError::Collider { body: name.to_owned(), source };
    let first = vertices.start as u32;
    let total = colliders.vertex_count();
    match shape {
        Shape::Surface(faces) => {
            let mesh = TriMesh::with_isolated_vertices(vertices.len(), faces)
                .map_err(|source| ContactError::Mesh { body: name.to_owned(), source })?;
            let mesh = mesh.among(first, total);
            let area = |corners: &[Id<Vertices>; 3]| {
                let [a, b, c] = corners.map(|v| x[v.index()]);
                0.5 * (b - a).cross(c - a).length()
            };
            areas.add_surface(&mesh, &mesh.faces().map(area));
            colliders.add_surface(Body(body), &mesh, touching.radius).map_err(wrong)
        }
        Shape::Lines(lines) => {
            let id = |v: u32| Id::new(first + v);
            let segments: Vec<[Id<Vertices>; 2]> = lines.iter().map(|ends| ends.map(id)).collect();
            areas.add_lines(&segments, touching.radius, |ends| {
                x[ends[0].index()].distance(x[ends[1].index()])
            });
            colliders.add_lines(Body(body), &segments, touching.radius).map_err(wrong)
        }
        Shape::Points => {
            let points: Vec<Id<Vertices>> = vertices.clone().map(|v| Id::new(v as u32)).collect();
            for v in vertices {
                areas.vertices[v] = 4.0 * std::f64::consts::PI * touching.radius * touching.radius;
            }
            colliders.add_points(Body(body), &points, touching.radius).map_err(wrong)
        }
    }
}

/// Whether a coefficient is one, and its two bodies exist.
fn check_friction(names: [Option<&String>; 2], coefficient: f64) -> Result<(), ContactError> {
    let body = || names.map(|name| name.map_or("no body", String::as_str)).join(" and ");
    let wrong = |expected| {
        Err(ContactError::BadParameter { body: body(), what: "friction", value: coefficient, expected })
    };
    if names.contains(&None) {
        wrong("give the numbers of bodies that were added")
    } else if !(coefficient >= 0.0 && coefficient.is_finite()) {
        wrong("give zero or more")
    } else {
        Ok(())
    }
}

fn check(body: &str, touching: &Touching) -> Result<(), ContactError> {
    let numbers = [
        ("the radius", touching.radius),
        ("friction", touching.friction),
        ("the distance of neighbours", touching.neighbours),
    ];
    match numbers.into_iter().find(|(_, value)| !(*value >= 0.0 && value.is_finite())) {
        None => Ok(()),
        Some((what, value)) => Err(ContactError::BadParameter {
            body: body.to_owned(),
            what,
            value,
            expected: "give zero or more",
        }),
    }
}
