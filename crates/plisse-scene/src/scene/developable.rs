//! A cloth that does not stretch: its integrator, and contact of its ghost mesh.

use std::sync::Arc;

use glam::DVec3;
use plisse_bending::HingeWeight;
use plisse_collision::{Body, Colliders, ResponseSettings};
use plisse_constrained::{
    ConstrainedError, CrMesh, Developable, DevelopableBuilder, GhostContact, GhostContactError,
};
use plisse_contact::{Kinematic, Near, Shape};
use plisse_core::{Field, Id, Positive, TriMesh, Vertices};
use plisse_system::{Adaptive, Pin, Scheme};

use super::SceneError;
use super::builder::Settings;
use super::cloth::Cloth;
use super::material::Bending;
use super::obstacle::Obstacle;
use super::terms::mean_edge;
use super::touching::Moved;

/// A developable cloth as the scene has placed it.
pub(super) struct Sheet<'a> {
    pub(super) cloth: &'a Cloth,
    pub(super) name: &'a str,
    pub(super) pins: &'a [(Id<Vertices>, Pin)],
    pub(super) start: &'a Field<Vertices, DVec3>,
    pub(super) masses: &'a Field<Vertices, f64>,
    /// Of each vertex, whether a pin says where it is.
    pub(super) held: &'a [bool],
}

/// Where repulsion begins without a range, as a part of the mean edge.
const RANGE: f64 = 0.1;

/// Refuses what the ghost mesh does not know. `alone`, `still` and `plain` say whether the scene
/// has no other body, no air, and no term or integrator of the user's own.
pub(super) fn check(
    cloth: &Cloth,
    name: &str,
    pins: &[(Id<Vertices>, Pin)],
    [alone, still, plain]: [bool; 3],
) -> Result<(), SceneError> {
    let slides = pins.iter().any(|(_, pin)| matches!(pin, Pin::Line(_) | Pin::Plane(_)));
    let problems = [
        (!alone, "other bodies cannot be in its scene yet; make it the only one, or elastic"),
        (!still, "air does not act on it yet; remove the table of the air"),
        (!plain, "terms and integrators of one's own do not act on it; use plisse-constrained"),
        (slides, "its pins hold or move vertices, they do not let them slide; choose another pin"),
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
    pub(super) fn integrator(
        &self,
        obstacles: &[Obstacle],
        gravity: DVec3,
        settings: &Settings,
    ) -> Result<Adaptive<Developable>, SceneError> {
        let refused = |source: ConstrainedError| SceneError::Constrained {
            body: self.name.to_owned(),
            source: Box::new(source),
        };
        if !matches!(settings.scheme, Scheme::BackwardEuler | Scheme::Bdf2) {
            let reason = "its schemes are backward Euler and BDF2; choose one of them";
            return Err(SceneError::NotDevelopable { body: self.name.to_owned(), reason });
        }
        let mesh = CrMesh::new(self.cloth.mesh.clone(), &self.cloth.rest).map_err(refused)?;
        let mut builder = DevelopableBuilder::new(mesh, self.cloth.material.density)
            .gravity(gravity)
            .scheme(settings.scheme);
        if let Some(rigidity) = self.rigidity()? {
            builder = builder.bending(rigidity);
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

    /// The rigidity of the material in N m; of warp and weft the mean; none without bending.
    fn rigidity(&self) -> Result<Option<Positive>, SceneError> {
        match self.cloth.material.bending {
            Bending::Hinge { weight: HingeWeight::Unit, .. } => {
                let reason = "its hinges have a stiffness of their own; give a bending rigidity";
                Err(SceneError::NotDevelopable { body: self.name.to_owned(), reason })
            }
            Bending::Hinge { rigidity, .. } => Ok(Some(rigidity.mean())),
            Bending::MidEdge { rigidity, .. } | Bending::Quadratic { rigidity } => Ok(Some(rigidity)),
            Bending::None => Ok(None),
        }
    }

    /// Contact of the ghost with itself and with obstacles; none if it touches nothing.
    fn contact(&self, obstacles: &[Obstacle]) -> Result<Option<GhostContact>, SceneError> {
        let contact = &self.cloth.body.contact;
        if !contact.touches_itself && obstacles.is_empty() {
            return Ok(None);
        }
        let body = || self.name.to_owned();
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
        let sheet = self.cloth.mesh.among(0, total);
        colliders.add_surface(Body(0), &sheet, 0.5 * contact.thickness).map_err(collides)?;
        let (mut first, mut moved) = (count as u32, Vec::new());
        for (number, (obstacle, parts)) in solids.into_iter().enumerate() {
            let (owner, own) = (Body(number as u32 + 1), parts.local.len());
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
        let rubs = obstacles.iter().map(|obstacle| obstacle.law().friction).reduce(f64::max);
        let settings = ResponseSettings {
            friction: rubs.unwrap_or(contact.friction),
            reach: contact.range.map_or(RANGE * mean_edge(self.cloth), Positive::get),
            ..ResponseSettings::default()
        };
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
        let contact = GhostContact::new(colliders, &inverse, places, settings, contact.touches_itself);
        contact.map(Some).map_err(refused)
    }
}
