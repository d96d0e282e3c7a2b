//! Contact of everything with everything: what of a scene takes part in it, and how.

use std::sync::Arc;

use glam::DVec3;
use plisse_contact::{ContactBuilder, ContactTerm, Kinematic, Near, Shape, Touching};
use plisse_core::{Field, Id, Positive, Vertices};

use super::SceneError;
use super::crossings::Surfaces;
use super::friction::PairFrictions;
use super::obstacle::{Obstacle, Parts};
use super::scene::{BodyInfo, Kind};
use super::yarns::Yarns;

/// How a cloth or wires touch themselves and others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyContact {
    /// Thickness of a cloth that counts in contact, m. Wires have their diameter, yarns that of the
    /// cloth that they make.
    pub thickness: f64,
    /// Gap at which contact begins, m. None: a fifth of the mean edge, and at most the radius of
    /// wires and yarns. Of two bodies the smaller one counts. What starts closer keeps the gap of
    /// its start, so that nothing is thrown off.
    pub range: Option<Positive>,
    /// Coefficient of friction on itself and on other bodies, of which the geometric mean counts.
    /// Obstacles have one of their own. [`SceneBuilder::friction`](super::SceneBuilder::friction)
    /// sets that of a single pair.
    pub friction: f64,
    /// Whether it touches itself. If not, its parts pass through each other.
    pub touches_itself: bool,
}

impl Default for BodyContact {
    /// No thickness, the range of the mesh, friction 0.3, with itself.
    fn default() -> Self {
        Self { thickness: 0.0, range: None, friction: 0.3, touches_itself: true }
    }
}

impl BodyContact {
    /// Gap at which contact of a body begins where obstacles and other bodies say nothing.
    pub(super) fn range_of(&self, body: &BodyInfo) -> Positive {
        self.range.unwrap_or_else(|| {
            length(match &body.kind {
                Kind::Cloth { mesh, rest, .. } => {
                    RANGE * (rest.area() / mesh.face_count() as f64 * 4.0 / 3f64.sqrt()).sqrt()
                }
                Kind::Wires { rest_lengths, radius, .. } => {
                    let mean = rest_lengths.iter().sum::<f64>() / rest_lengths.len().max(1) as f64;
                    radius.min(RANGE * mean)
                }
                Kind::Yarns { model, radii, .. } => {
                    let largest = radii.iter().copied().fold(0.0, f64::max);
                    largest.min(RANGE * Yarns::mean_segment(model.patch()))
                }
            })
        })
    }
}

/// Of the mean edge, the gap at which contact begins where nothing else is said.
const RANGE: f64 = 0.2;

/// Parts of yarns that start within so many thicknesses of their cloth, and the range, of each
/// other do not touch: in the plane of the cloth, where they come close by shear and by sliding,
/// yarns are half as thick as the cloth is across it. At three, shear by 60 degrees is free.
const NEIGHBOURS: f64 = 3.0;

/// What takes part in the contact of a scene.
pub(super) struct Everything<'a> {
    pub(super) bodies: &'a [BodyInfo],
    pub(super) contacts: &'a [BodyContact],
    pub(super) obstacles: &'a [Obstacle],
    pub(super) start: &'a Field<Vertices, DVec3>,
    pub(super) masses: &'a Field<Vertices, f64>,
    /// Of each vertex, whether a pin says where it is.
    pub(super) held: &'a [bool],
    /// Friction of single pairs.
    pub(super) friction: &'a PairFrictions,
    /// Whether something starts through each other and may stay so until it has come apart.
    pub(super) is_tangled: bool,
}

impl Everything<'_> {
    /// The term; none if nothing can touch anything.
    pub(super) fn term(&self) -> Result<Option<ContactTerm>, SceneError> {
        let solids: Vec<(&Obstacle, Parts)> =
            self.obstacles.iter().filter_map(|o| Some((o, o.parts(self.start)?))).collect();
        let alone = self.bodies.len() == 1 && solids.is_empty();
        if alone && !self.contacts[0].touches_itself {
            return Ok(None);
        }
        let mut builder = ContactTerm::builder();
        if self.is_tangled {
            builder = builder.may_start_tangled();
        } else {
            self.check_crossings()?;
        }
        for (body, contact) in self.bodies.iter().zip(self.contacts) {
            builder = self.add(builder, body, contact);
        }
        let mut watched = Vec::new();
        for (number, (obstacle, parts)) in solids.into_iter().enumerate() {
            let law = obstacle.law();
            let touching = Touching {
                radius: parts.radius,
                range: law.range.unwrap_or(Positive::literal(1e50)),
                stiffness: law.stiffness,
                friction: law.friction,
                slip: law.slip,
                touches_itself: false,
                neighbours: 0.0,
            };
            let count = parts.local.len();
            let motion = Moved { obstacle: obstacle.clone(), local: parts.local, plane: parts.plane };
            builder = builder.obstacle(
                self.name(self.bodies.len() + number),
                parts.shape,
                count,
                Arc::new(motion),
                touching,
            );
            for (vertex, x) in self.start.iter().filter(|(v, _)| self.held[v.index()]) {
                let radius = self.radius(vertex);
                if obstacle.distance(0.0, *x).value <= radius + obstacle.bulge() {
                    builder = builder.starts_inside(vertex, number as u32);
                }
                watched.push((obstacle.clone(), vertex, radius));
            }
        }
        for ([a, b], coefficient) in self.friction.iter() {
            // Of obstacles, only those count here that take part.
            if let (Some(a), Some(b)) = (self.collider(a), self.collider(b)) {
                builder = builder.friction(a, b, coefficient);
            }
        }
        let builder = builder.held_depth(move |time, x| {
            let depth = |(obstacle, v, radius): &(Obstacle, Id<Vertices>, f64)| {
                radius - obstacle.distance(time, x[*v]).value
            };
            watched.iter().map(depth).fold(0.0, f64::max)
        });
        let is_held = |v: Id<Vertices>| self.held[v.index()];
        let term = builder
            .build("contact", self.start, self.masses, is_held)
            .map_err(|source| SceneError::Contact { source })?;
        Ok(Some(term))
    }

    /// Whether any triangles cross at the start.
    fn check_crossings(&self) -> Result<(), SceneError> {
        let Self { bodies, contacts, obstacles, start, held, .. } = *self;
        let found = Surfaces::new(bodies, contacts, obstacles, start, held).find(0.0, start);
        let Some(first) = found.forbidden.first() else { return Ok(()) };
        Err(SceneError::StartsCrossing {
            bodies: first.bodies.clone(),
            faces: first.faces,
            place: first.place.to_array(),
            count: found.forbidden.len(),
        })
    }

    /// The name of a body, or of an obstacle that takes part.
    fn name(&self, number: usize) -> String {
        if let Some(body) = self.bodies.get(number) {
            return body.name.clone();
        }
        let takes_part = |(_, o): &(usize, &Obstacle)| o.parts(self.start).is_some();
        let mut solids = self.obstacles.iter().enumerate().filter(takes_part);
        solids.nth(number - self.bodies.len()).map_or_else(String::new, |(i, o)| o.called(i))
    }

    /// The number in contact of a body, or of an obstacle that takes part.
    fn collider(&self, number: usize) -> Option<u32> {
        let Some(obstacle) = number.checked_sub(self.bodies.len()) else { return Some(number as u32) };
        let takes_part = |o: &&Obstacle| o.parts(self.start).is_some();
        self.obstacles.get(obstacle).filter(takes_part)?;
        Some((self.bodies.len() + self.obstacles[..obstacle].iter().filter(takes_part).count()) as u32)
    }

    fn add(&self, builder: ContactBuilder, body: &BodyInfo, contact: &BodyContact) -> ContactBuilder {
        let first = body.vertices.start as u32;
        let law = super::obstacle::Contact::default();
        let range = contact.range_of(body);
        let touching = |radius: f64| Touching {
            radius,
            range,
            stiffness: law.stiffness,
            friction: contact.friction,
            slip: law.slip,
            touches_itself: contact.touches_itself,
            neighbours: 0.0,
        };
        match &body.kind {
            Kind::Cloth { mesh, rest, .. } => {
                let areas: Vec<f64> = mesh.faces().iter().map(|(face, _)| rest.map(face).area()).collect();
                let touching = touching(0.5 * contact.thickness);
                builder.cloth(
                    &body.name,
                    mesh.among(first, self.start.len()),
                    Field::from_vec(areas),
                    touching,
                )
            }
            Kind::Wires { segments, radius, .. } => {
                let id = |v: u32| Id::new(first + v);
                let segments = segments.iter().map(|ends| ends.map(id)).collect();
                builder.wires(&body.name, segments, touching(*radius))
            }
            Kind::Yarns { model, radii, .. } => {
                let largest = radii.iter().copied().fold(0.0, f64::max);
                let touching = touching(largest);
                let neighbours = NEIGHBOURS * (2.0 * largest + touching.range.get());
                let id = |v: u32| Id::new(first + v);
                let segments = model.patch().yarns().iter().zip(radii).flat_map(|(yarn, radius)| {
                    yarn.nodes.windows(2).map(move |ends| ([id(ends[0]), id(ends[1])], *radius))
                });
                builder.yarns(&body.name, segments.collect(), Touching { neighbours, ..touching })
            }
        }
    }

    /// Half of the thickness of what a vertex belongs to.
    fn radius(&self, vertex: Id<Vertices>) -> f64 {
        let body = self.bodies.iter().position(|body| body.vertices.contains(&vertex.index()));
        body.map_or(0.0, |body| match &self.bodies[body].kind {
            Kind::Cloth { .. } => 0.5 * self.contacts[body].thickness,
            Kind::Wires { radius, .. } => *radius,
            Kind::Yarns { model, radii, .. } => {
                let node = vertex.get() - self.bodies[body].vertices.start as u32;
                let passing = model.patch().at_node(node);
                passing.into_iter().flatten().map(|at| radii[at.yarn]).fold(0.0, f64::max)
            }
        })
    }
}

#[expect(clippy::expect_used, reason = "sheets and wires that were built have a length")]
fn length(metres: f64) -> Positive {
    Positive::new(metres).expect("lengths of meshes are positive")
}

/// The vertices of an obstacle on its way.
pub(super) struct Moved {
    pub(super) obstacle: Obstacle,
    pub(super) local: Vec<DVec3>,
    /// Of a plane, how far its triangle reaches, m.
    pub(super) plane: Option<f64>,
}

impl Kinematic for Moved {
    fn place(&self, time: f64, near: &Near, out: &mut [DVec3]) {
        let around = |size| self.obstacle.plane_around(self.obstacle.to_local(near.time, near.centre), size);
        let triangle = self.plane.map(around);
        let local = triangle.as_ref().map_or(&*self.local, |corners| corners);
        self.obstacle.place_parts(time, local, out);
    }

    fn moves(&self) -> bool {
        self.obstacle.moves()
    }
}

/// The triangle that stands for a plane follows the bodies. In their sizes at the start, it is so
/// large that nothing reaches its edge within a step, and small enough that distances to it are
/// exact to a millionth of a micrometre where bodies are a metre large.
pub(super) const PLANE: f64 = 1e4;

impl Parts {
    pub(super) fn surface(faces: Vec<[u32; 3]>, local: Vec<DVec3>) -> Self {
        Self { shape: Shape::Surface(faces), local, radius: 0.0, plane: None }
    }

    /// A ball or a rod.
    pub(super) fn round(shape: Shape, local: Vec<DVec3>, radius: f64) -> Self {
        Self { shape, local, radius, plane: None }
    }
}
