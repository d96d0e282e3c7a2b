//! Cloths that do not stretch: their integrator, and contact of their ghost meshes.

use std::collections::BTreeSet;
use std::sync::Arc;

use glam::DVec3;
use plisse_bending::HingeWeight;
use plisse_collision::{Body, Colliders, ResponseSettings};
use plisse_constrained::{
    ConstrainedError, CrMesh, Developable, DevelopableBuilder, EdgeBending, GhostContact, GhostContactError,
};
use plisse_contact::{Kinematic, Near, Shape};
use plisse_core::{Edges, Faces, Field, Id, Positive, TriMesh, TriangleMap, Vertices};
use plisse_system::{Adaptive, Pin, Scheme};

use super::SceneError;
use super::bodies::Place;
use super::builder::Settings;
use super::cloth::Cloth;
use super::friction::PairFrictions;
use super::material::Bending;
use super::obstacle::Obstacle;
use super::terms::{mean_edge, whole_surface};
use super::touching::Moved;

/// One developable cloth of a scene.
pub(super) struct Sheet<'a> {
    pub(super) cloth: &'a Cloth,
    pub(super) name: &'a str,
    pub(super) place: Place,
}

/// All developable cloths of a scene, as it has placed them.
pub(super) struct Sheets<'a> {
    pub(super) all: Vec<Sheet<'a>>,
    pub(super) pins: &'a [(Id<Vertices>, Pin)],
    pub(super) start: &'a Field<Vertices, DVec3>,
    pub(super) masses: &'a Field<Vertices, f64>,
    /// Of each vertex, whether a pin says where it is.
    pub(super) held: &'a [bool],
    /// Friction of single pairs.
    pub(super) friction: &'a PairFrictions,
}

/// Where repulsion begins without a range, as a part of the mean edge.
const RANGE: f64 = 0.1;

/// Refuses what the ghost mesh does not know. `alone`, `still` and `plain` say whether the scene
/// has no body of another kind, no air, and no term or integrator of the user's own.
pub(super) fn check(
    cloth: &Cloth,
    name: &str,
    pins: &[(Id<Vertices>, Pin)],
    [alone, still, plain]: [bool; 3],
) -> Result<(), SceneError> {
    let slides = pins.iter().any(|(_, pin)| matches!(pin, Pin::Line(_) | Pin::Plane(_)));
    let problems = [
        (!alone, "bodies of other kinds cannot be in its scene yet; make all developable, or all elastic"),
        (!still, "air does not act on it yet; remove the table of the air"),
        (!plain, "terms and integrators of one's own do not act on it; use plisse-constrained"),
        (slides, "its pins hold or move vertices, they do not let them slide; choose another pin"),
        (
            cloth.body.pins.iter().any(|(_, grip)| grip.until.is_some() || grip.stiffness.is_some()),
            "its pins hold exactly and for ever; remove \"until\" and \"stiffness\"",
        ),
        (!cloth.body.forces.is_empty(), "forces do not act on it yet; remove \"force\""),
        (
            cloth.uv.is_none() && !cloth.compliance.is_hard(),
            "its compliance is along warp and weft, but it has no material coordinates; give it `vt`, or no \
             compliance",
        ),
        (
            cloth.curved && cloth.material.bending != Bending::None,
            "its bending is measured from the flat state, but it is curved at rest; give it flat pieces, or \
             no bending",
        ),
        (cloth.filling.is_some(), "it cannot be filled; make it elastic"),
        (cloth.strain_limit.is_some(), "it does not stretch; remove the strain limit"),
        (cloth.membrane.is_some(), "it has no membrane; remove the energy of one's own"),
        (cloth.angle_law.is_some(), "its bending is quadratic; remove the angle law"),
    ];
    match problems.into_iter().find(|(is_so, _)| *is_so) {
        None => Ok(()),
        Some((_, reason)) => Err(SceneError::NotDevelopable { body: name.to_owned(), reason }),
    }
}

impl Sheet<'_> {
    /// The rigidity of the material in N m; of warp and weft the mean; zero without bending.
    fn rigidity(&self) -> Result<f64, SceneError> {
        match self.cloth.material.bending {
            Bending::Hinge { weight: HingeWeight::Unit, .. } => {
                let reason = "its hinges have a stiffness of their own; give a bending rigidity";
                Err(SceneError::NotDevelopable { body: self.name.to_owned(), reason })
            }
            Bending::Hinge { rigidity, .. } => Ok(rigidity.mean().get()),
            Bending::MidEdge { rigidity, .. } | Bending::Quadratic { rigidity } => Ok(rigidity.get()),
            Bending::None => Ok(0.0),
        }
    }
}

impl Sheets<'_> {
    /// Of mistakes that are of no single cloth.
    fn first(&self) -> String {
        self.all.first().map_or_else(String::new, |sheet| sheet.name.to_owned())
    }

    pub(super) fn integrator(
        &self,
        obstacles: &[Obstacle],
        gravity: DVec3,
        settings: &Settings,
    ) -> Result<Adaptive<Developable>, SceneError> {
        let refused = |source: ConstrainedError| SceneError::Constrained {
            body: self.first(),
            source: Box::new(source),
        };
        if !matches!(settings.scheme, Scheme::BackwardEuler | Scheme::Bdf2) {
            let reason = "its schemes are backward Euler and BDF2; choose one of them";
            return Err(SceneError::NotDevelopable { body: self.first(), reason });
        }
        let Joined { mesh, owners, bending } = self.joined()?;
        let density = |sheet: usize| self.all[sheet].cloth.material.density;
        let mut builder = DevelopableBuilder::new(mesh, density(0))
            .densities(|face| density(owners[face]))
            .compliance(|face| self.all[owners[face]].cloth.compliance)
            .gravity(gravity)
            .scheme(settings.scheme);
        if let Some(bending) = bending {
            builder = builder.edge_bending(bending);
        }
        for (vertex, pin) in self.pins {
            builder = match pin {
                Pin::Moving(motion) => builder.move_pin(*vertex, Arc::clone(motion)),
                _ => builder.pin(*vertex, self.start[*vertex]),
            };
        }
        if let Some(contact) = self.contact(obstacles)? {
            builder = builder.contact(contact);
        }
        let shortest = settings.shortest_step.unwrap_or(settings.time_step);
        Ok(Adaptive::new(builder.build().map_err(refused)?, shortest))
    }

    /// All sheets as one mesh of several pieces.
    fn joined(&self) -> Result<Joined, SceneError> {
        let refused = |source: ConstrainedError| SceneError::Constrained {
            body: self.first(),
            source: Box::new(source),
        };
        let (mut faces, mut maps, mut owners) = (Vec::new(), Vec::new(), Vec::new());
        let (mut creases, mut rigidities) = (BTreeSet::new(), Vec::new());
        for (number, Sheet { cloth, place, .. }) in self.all.iter().enumerate() {
            let id = |v: Id<Vertices>| place.id(v).get();
            faces.extend(cloth.mesh.faces().iter().map(|(_, corners)| corners.map(id)));
            maps.extend(cloth.rest.maps().as_slice().iter().copied());
            owners.resize(faces.len(), number);
            creases.extend(cloth.loose.iter().map(|edge| {
                let [a, b] = cloth.mesh.edges()[*edge].vertices.map(id);
                [a.min(b), a.max(b)]
            }));
            rigidities.push(self.all[number].rigidity()?);
        }
        let (maps, owners): (Field<Faces, TriangleMap>, Field<Faces, usize>) =
            (Field::from_vec(maps), Field::from_vec(owners));
        let mesh = whole_surface(&faces, self.start.len())?;
        let mesh = CrMesh::from_maps(mesh, &maps).map_err(refused)?;
        let rigidity = |edge: Id<Edges>| {
            let edge = &mesh.mesh().edges()[edge];
            let [a, b] = edge.vertices.map(Id::get);
            let is_crease = creases.contains(&[a.min(b), a.max(b)]);
            if is_crease { 0.0 } else { rigidities[owners[edge.faces.0]] }
        };
        let bends = rigidities.iter().any(|rigidity| *rigidity > 0.0);
        let bending = bends.then(|| EdgeBending::varied(&mesh, rigidity));
        Ok(Joined { mesh, owners, bending })
    }

    /// Contact of the ghosts with themselves, each other and obstacles; none if nothing can touch.
    fn contact(&self, obstacles: &[Obstacle]) -> Result<Option<GhostContact>, SceneError> {
        let of = |number: usize| &self.all[number].cloth.body.contact;
        if self.all.len() == 1 && !of(0).touches_itself && obstacles.is_empty() {
            return Ok(None);
        }
        let body = || self.first();
        let mut solids = Vec::new();
        for obstacle in obstacles {
            let Some(parts) = obstacle.parts(self.start) else {
                let reason = "obstacles of one's own have no triangles that it could touch; use a mesh";
                return Err(SceneError::NotDevelopable { body: body(), reason });
            };
            solids.push((obstacle, parts));
        }
        let count = self.start.len();
        let total = count + solids.iter().map(|(_, parts)| parts.local.len()).sum::<usize>();
        let refused = |source: GhostContactError| SceneError::GhostContact { body: body(), source };
        let collides = |source: plisse_collision::ColliderError| refused(source.into());
        let mut colliders = Colliders::new(total);
        for (number, Sheet { cloth, place, .. }) in self.all.iter().enumerate() {
            let mesh = cloth.mesh.among(place.range().start as u32, total);
            let radius = 0.5 * of(number).thickness;
            colliders.add_surface(Body(number as u32), &mesh, radius).map_err(collides)?;
        }
        let (mut first, mut moved) = (count as u32, Vec::new());
        for (number, (obstacle, parts)) in solids.into_iter().enumerate() {
            let (owner, own) = (Body((self.all.len() + number) as u32), parts.local.len());
            let id = |v: u32| Id::new(first + v);
            let added = match &parts.shape {
                Shape::Surface(faces) => {
                    let mesh = TriMesh::with_isolated_vertices(own, faces)
                        .map_err(|source| SceneError::Mesh { body: obstacle.called(number), source })?;
                    colliders.add_surface(owner, &mesh.among(first, total), parts.radius)
                }
                Shape::Lines(lines) => {
                    let lines: Vec<[Id<Vertices>; 2]> = lines.iter().map(|ends| ends.map(id)).collect();
                    colliders.add_lines(owner, &lines, parts.radius)
                }
                Shape::Points => {
                    let points: Vec<Id<Vertices>> = (0..own as u32).map(id).collect();
                    colliders.add_points(owner, &points, parts.radius)
                }
            };
            added.map_err(collides)?;
            first += own as u32;
            moved.push((own, Moved { obstacle: obstacle.clone(), local: parts.local, plane: parts.plane }));
        }
        let inverse =
            Field::from_fn(count, |v| if self.held[v.index()] { 0.0 } else { 1.0 / self.masses[v] });
        let reach = |number: usize| {
            of(number).range.map_or_else(|| RANGE * mean_edge(self.all[number].cloth), Positive::get)
        };
        let reach = (0..self.all.len()).map(reach).fold(f64::INFINITY, f64::min);
        let settings = ResponseSettings { reach, ..ResponseSettings::default() };
        let places = move |time: f64, start: f64, ghost: &Field<Vertices, DVec3>| {
            let centre = ghost.as_slice().iter().sum::<DVec3>() / ghost.len().max(1) as f64;
            let near = Near { time: start, centre };
            let mut out = Vec::new();
            for (own, moved) in &moved {
                let at = out.len();
                out.resize(at + own, DVec3::ZERO);
                moved.place(time, &near, &mut out[at..]);
            }
            out
        };
        let places = Arc::new(places);
        let passes = |number: &usize| !of(*number).touches_itself;
        let loose = (0..self.all.len()).filter(passes).map(|number| Body(number as u32)).collect();
        let mut contact = GhostContact::new(colliders, &inverse, places, settings, loose).map_err(refused)?;
        // Two cloths rub with the geometric mean of their coefficients, obstacles with their own.
        for a in 0..self.all.len() {
            let bodies = (a..self.all.len()).map(|b| (b, (of(a).friction * of(b).friction).sqrt()));
            let solids = obstacles.iter().enumerate().map(|(k, o)| (self.all.len() + k, o.law().friction));
            for (b, usual) in bodies.chain(solids) {
                let coefficient = self.friction.between(a, b).unwrap_or(usual);
                let pair = [a, b].map(|number| Body(number as u32));
                contact = contact.with_friction(pair, coefficient).map_err(refused)?;
            }
        }
        Ok(Some(contact))
    }
}

/// Sheets as one mesh.
struct Joined {
    mesh: CrMesh,
    /// Which sheet each face is of.
    owners: Field<Faces, usize>,
    /// None where nothing bends.
    bending: Option<EdgeBending>,
}
