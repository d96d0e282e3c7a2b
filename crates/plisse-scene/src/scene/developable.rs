//! Cloths that do not stretch: their integrator, and contact of their ghost meshes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use glam::DVec3;
use plisse_bending::HingeWeight;
use plisse_collision::{Body, Colliders, ResponseSettings};
use plisse_constrained::{
    Compliance, ConstrainedError, CrMesh, CurvedEdge, Developable, DevelopableBuilder, EdgeBending, FLAT,
    GhostContact, GhostContactError, curved_bending,
};
use plisse_contact::{Kinematic, Near, Shape};
use plisse_core::{Edge, Edges, Faces, Field, Hinge, Id, Positive, TriMesh, TriangleMap, Vertices};
use plisse_membrane::{MembraneElement, MembraneEnergy};
use plisse_system::{Adaptive, ElementTerm, Pin, Scheme, Wind};

use super::SceneError;
use super::air::Air;
use super::bodies::Place;
use super::builder::Settings;
use super::cloth::Cloth;
use super::friction::PairFrictions;
use super::material::Bending;
use super::obstacle::Obstacle;
use super::smooth::{EdgeSheet, FOLDED};
use super::terms::{check_directions, mean_edge, membrane_energy, whole_surface};
use super::timeline::Timeline;
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
    /// The air, with a wind over time if it has one.
    pub(super) wind: Option<(Air, Option<Timeline<DVec3>>)>,
}

/// Where repulsion begins without a range, as a part of the mean edge.
const RANGE: f64 = 0.1;

/// The midpoints of a triangle span a quarter of it.
const QUARTER: Positive = Positive::literal(4.0);

/// Refuses what the ghost mesh does not know. `alone` and `plain` say whether the scene has no body
/// of another kind, and no term or integrator of the user's own.
pub(super) fn check(
    cloth: &Cloth,
    name: &str,
    pins: &[(Id<Vertices>, Pin)],
    [alone, plain]: [bool; 2],
) -> Result<(), SceneError> {
    let slides = pins.iter().any(|(_, pin)| matches!(pin, Pin::Line(_) | Pin::Plane(_)));
    let problems = [
        (!alone, "bodies of other kinds cannot be in its scene yet; make all developable, or all elastic"),
        (!plain, "terms and integrators of one's own do not act on it; use plisse-constrained"),
        (slides, "its pins hold or move vertices, they do not let them slide; choose another pin"),
        (
            cloth.body.pins.iter().any(|(_, grip)| grip.until.is_some() || grip.stiffness.is_some()),
            "its pins hold exactly and for ever; remove \"until\" and \"stiffness\"",
        ),
        (!cloth.body.forces.is_empty(), "forces do not act on it yet; remove \"force\""),
        (
            cloth.uv.is_none() && !cloth.compliance.is_hard() && cloth.compliance != Compliance::FREE,
            "its compliance is along warp and weft, but it has no material coordinates; give it `vt`, or no \
             compliance",
        ),
        (cloth.filling.is_some(), "it cannot be filled; make it elastic"),
        (cloth.strain_limit.is_some(), "it does not stretch; remove the strain limit"),
        (
            cloth.membrane.is_some() && !cloth.compliance.is_free(),
            "it has no membrane; remove the energy of one's own, or leave a direction of its compliance to it",
        ),
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
        let Joined { mesh, owners, bending, angles } = self.joined()?;
        let soft = self.membranes(&mesh, &owners)?;
        let curved = self.curved(&mesh, &owners, &angles)?;
        let wind = self.wind.as_ref().map(|(air, mean)| {
            let faces = mesh.mesh().face_edges().as_slice().to_vec();
            Wind::over((faces, QUARTER), air.wind(mean.clone()), air.density, air.coefficient)
        });
        let density = |sheet: usize| self.all[sheet].cloth.material.density;
        let mut builder = DevelopableBuilder::new(mesh, density(0))
            .densities(|face| density(owners[face]))
            .compliance(|face| self.all[owners[face]].cloth.compliance)
            .gravity(gravity)
            .scheme(settings.scheme);
        if let Some(bending) = bending {
            builder = builder.edge_bending(bending);
        }
        for membrane in soft {
            builder = builder.term(membrane);
        }
        if !curved.elements().is_empty() {
            builder = builder.term(curved);
        }
        if let Some(wind) = wind {
            builder = builder.term(wind);
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

    /// Where the edges of each sheet are among those of the mesh of all.
    pub(super) fn edges(&self, all: &TriMesh) -> Vec<EdgeSheet> {
        let key = |[a, b]: [u32; 2]| [a.min(b), a.max(b)];
        let numbers: BTreeMap<[u32; 2], u32> =
            all.edges().iter().map(|(id, edge)| (key(edge.vertices.map(Id::get)), id.get())).collect();
        let one = |Sheet { cloth, place, .. }: &Sheet<'_>| {
            let edges = cloth.mesh.edges();
            let number = |(_, edge): (_, &Edge)| numbers[&key(edge.vertices.map(|v| place.id(v).get()))];
            let folds = cloth.rest.hinges().iter().filter(|hinge| hinge.rest_angle().abs() > FOLDED);
            let sharp = cloth.loose.iter().copied().chain(folds.map(Hinge::edge));
            EdgeSheet {
                numbers: Field::from_vec(edges.iter().map(number).collect()),
                sharp: sharp.map(|edge| key(edges[edge].vertices.map(Id::get))).collect(),
            }
        };
        self.all.iter().map(one).collect()
    }

    /// All sheets as one mesh of several pieces.
    fn joined(&self) -> Result<Joined, SceneError> {
        let refused = |source: ConstrainedError| SceneError::Constrained {
            body: self.first(),
            source: Box::new(source),
        };
        let (mut faces, mut maps, mut owners) = (Vec::new(), Vec::new(), Vec::new());
        let (mut creases, mut rigidities, mut angles) = (BTreeSet::new(), Vec::new(), BTreeMap::new());
        for (number, Sheet { cloth, place, .. }) in self.all.iter().enumerate() {
            let id = |v: Id<Vertices>| place.id(v).get();
            faces.extend(cloth.mesh.faces().iter().map(|(_, corners)| corners.map(id)));
            maps.extend(cloth.rest.maps().as_slice().iter().copied());
            owners.resize(faces.len(), number);
            creases.extend(cloth.loose.iter().map(|edge| {
                let [a, b] = cloth.mesh.edges()[*edge].vertices.map(id);
                [a.min(b), a.max(b)]
            }));
            let of_hinge = |hinge: &Hinge| {
                let [a, b] = [hinge.vertices()[0], hinge.vertices()[1]].map(id);
                ([a.min(b), a.max(b)], hinge.rest_angle())
            };
            let bent = cloth.rest.hinges().iter().filter(|hinge| hinge.rest_angle().abs() > FLAT);
            angles.extend(bent.map(of_hinge));
            rigidities.push(self.all[number].rigidity()?);
        }
        let (maps, owners): (Field<Faces, TriangleMap>, Field<Faces, usize>) =
            (Field::from_vec(maps), Field::from_vec(owners));
        let mesh = whole_surface(&faces, self.start.len())?;
        let mesh = CrMesh::from_maps(mesh, &maps).map_err(refused)?;
        angles.retain(|edge, _| !creases.contains(edge));
        let rigidity = |edge: Id<Edges>| {
            let key = ends(&mesh, edge);
            let is_flat = !creases.contains(&key) && !angles.contains_key(&key);
            if is_flat { rigidities[owners[mesh.mesh().edges()[edge].faces.0]] } else { 0.0 }
        };
        let bends = rigidities.iter().any(|rigidity| *rigidity > 0.0);
        let bending = bends.then(|| EdgeBending::varied(&mesh, rigidity));
        Ok(Joined { mesh, owners, bending, angles })
    }

    /// Bending of edges that are not flat at rest.
    fn curved(
        &self,
        mesh: &CrMesh,
        owners: &Field<Faces, usize>,
        angles: &BTreeMap<[u32; 2], f64>,
    ) -> Result<ElementTerm<CurvedEdge, 5>, SceneError> {
        let rigidities: Vec<f64> = self.all.iter().map(Sheet::rigidity).collect::<Result<_, _>>()?;
        Ok(curved_bending(mesh, |edge| match angles.get(&ends(mesh, edge)) {
            Some(angle) => (rigidities[owners[mesh.mesh().edges()[edge].faces.0]], *angle),
            None => (0.0, 0.0),
        }))
    }

    /// The membranes of sheets that leave directions to their material.
    fn membranes(&self, mesh: &CrMesh, owners: &Field<Faces, usize>) -> Result<Vec<Membrane>, SceneError> {
        let mut out = Vec::new();
        for (number, Sheet { cloth, name, .. }) in self.all.iter().enumerate() {
            if !cloth.compliance.is_free() {
                continue;
            }
            check_directions(cloth, name)?;
            let energy = membrane_energy(cloth)?;
            let own = mesh.mesh().face_edges().iter().filter(|(face, _)| owners[*face] == number);
            let element = |(face, edges): (Id<Faces>, &[Id<Edges>; 3])| {
                MembraneElement::new(*edges, *mesh.map(face), Arc::clone(&energy))
            };
            out.push(ElementTerm::new(format!("{name}: membrane"), own.map(element).collect()));
        }
        Ok(out)
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

/// A membrane energy on edge unknowns.
type Membrane = ElementTerm<MembraneElement<Arc<dyn MembraneEnergy>, Edges>, 3>;

/// The vertices of an edge, the smaller number first.
fn ends(mesh: &CrMesh, edge: Id<Edges>) -> [u32; 2] {
    let [a, b] = mesh.mesh().edges()[edge].vertices.map(Id::get);
    [a.min(b), a.max(b)]
}

/// Sheets as one mesh.
struct Joined {
    mesh: CrMesh,
    /// Which sheet each face is of.
    owners: Field<Faces, usize>,
    /// None where nothing bends.
    bending: Option<EdgeBending>,
    /// Rest angles of edges that are bent at rest and resist, by their vertices.
    angles: BTreeMap<[u32; 2], f64>,
}
