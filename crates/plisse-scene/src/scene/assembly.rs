//! All bodies of a scene in one numbering, with what belongs to each of them.

use std::sync::Arc;

use glam::DVec3;
use plisse_core::{Field, Id, Positive, Vertices};
use plisse_system::{Attachments, Pin, SharedLoad, Term};
use plisse_yarn::YarnModel;

use super::SceneError;
use super::bodies::Place;
use super::body::Body;
use super::builder::Part;
use super::damping::Damping;
use super::drag::MassDamping;
use super::obstacle::Obstacle;
use super::pins::{Held, Way};
use super::scene::{BodyInfo, Kind};
use super::strain_limit::StrainLimitTerm;
use super::terms::{Slot, check_filling, cloth_masses, cloth_terms, mean_edge, wire_masses, wire_terms};
use super::yarns::Yarns;

/// Whether a pin says where a vertex of a body is.
pub(super) fn held_vertices(body: &Body, held: &[Held]) -> Field<Vertices, bool> {
    let mut is_held = Field::filled(body.x.len(), false);
    for held in held.iter().filter(|held| held.is_fixed()) {
        is_held[held.vertex] = true;
    }
    is_held
}

/// Coordinates up to this many mean edges resolve an edge to a part in a thousand million.
pub(super) const RESOLVED: f64 = 1e-9 / f64::EPSILON;

/// All bodies in one numbering.
pub(super) struct Assembly<'a> {
    gravity: DVec3,
    /// What pins follow.
    obstacles: &'a [Obstacle],
    /// Pins that have let go by this time are left out, s.
    time: f64,
    pub(super) mass: Vec<f64>,
    /// Masses that gravity acts on; yarns, whose material slides, have weights of their own.
    pub(super) weighed: Vec<f64>,
    pub(super) areas: Vec<f64>,
    pub(super) radii: Vec<f64>,
    /// Gaps at which contact begins where obstacles say nothing.
    pub(super) ranges: Vec<f64>,
    /// The smallest mean edge of a body, m.
    pub(super) finest: f64,
    pub(super) x: Vec<DVec3>,
    pub(super) v: Vec<DVec3>,
    pub(super) terms: Vec<Box<dyn Term<Vertices>>>,
    /// Strain limits with the name of their body.
    pub(super) limits: Vec<(String, StrainLimitTerm)>,
    pub(super) pins: Vec<(Id<Vertices>, Pin)>,
    /// Of each vertex, whether a pin that holds it at the start says where it is; none without pin.
    pub(super) held_first: Vec<Option<bool>>,
    pub(super) faces: Vec<[u32; 3]>,
    pub(super) bodies: Vec<BodyInfo>,
}

impl<'a> Assembly<'a> {
    pub(super) fn new(gravity: DVec3, obstacles: &'a [Obstacle], time: f64) -> Self {
        Self {
            gravity,
            obstacles,
            time,
            mass: Vec::new(),
            weighed: Vec::new(),
            areas: Vec::new(),
            radii: Vec::new(),
            ranges: Vec::new(),
            finest: f64::INFINITY,
            x: Vec::new(),
            v: Vec::new(),
            terms: Vec::new(),
            limits: Vec::new(),
            pins: Vec::new(),
            held_first: Vec::new(),
            faces: Vec::new(),
            bodies: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, part: &Part, name: &str, place: Place) -> Result<(), SceneError> {
        let body = part.body();
        let first_held = body.held(name, self.obstacles)?;
        let still_held = |held: &&Held| held.until > self.time;
        let all_held: Vec<Held> = first_held.iter().filter(still_held).cloned().collect();
        let held = part.held_faces(&all_held);
        let slot = Slot { name, held: &held };
        let Measured { masses, areas, damping, edge, range, kind } = match part {
            Part::Cloth(cloth) => {
                check_filling(cloth, name, &first_held)?;
                let placed = place.cloth(cloth);
                // Developable cloth has none on vertices.
                if !part.is_developable() {
                    cloth_terms(&placed, slot, &mut self.terms)?;
                }
                let limit = StrainLimitTerm::of_cloth(cloth, &held_vertices(body, &all_held), place, name)?;
                self.limits.extend(limit.map(|limit| (name.to_owned(), limit)));
                self.faces.extend(placed.mesh.faces().as_slice().iter().map(|f| f.map(Id::get)));
                let (masses, areas) = cloth_masses(cloth);
                let (mesh, rest, uv) = (cloth.mesh.clone(), cloth.rest.clone(), cloth.uv.clone());
                let edge = mean_edge(cloth);
                let (damping, range) = (cloth.material.damping, 0.5 * edge);
                Measured { masses, areas, damping, edge, range, kind: Kind::Cloth { mesh, rest, uv } }
            }
            Part::Wires(wires) => {
                wires.check_net(name)?;
                wire_terms(&place.wires(wires), slot, &mut self.terms)?;
                let (masses, areas) = wire_masses(wires);
                let radius = wires.wire.radius.get();
                let segments = wires.segments.clone();
                // The net has been built: no index is out of range.
                let length = |[a, b]: &[u32; 2]| wires.rest[Id::new(*a)].distance(wires.rest[Id::new(*b)]);
                let rest_lengths: Vec<f64> = segments.iter().map(length).collect();
                let mean = rest_lengths.iter().sum::<f64>() / rest_lengths.len() as f64;
                let (damping, range) = (wires.wire.damping, radius.min(0.5 * mean));
                let kind = Kind::Wires { segments, rest_lengths, radius };
                Measured { masses, areas, damping, edge: mean, range, kind }
            }
            Part::Yarns(yarns) => self.add_yarns(yarns, name, place),
        };
        if let Some(rate) = damping.mass {
            let coefficients = masses.iter().map(|(v, m)| (place.id(v), m * rate.get())).collect();
            self.terms.push(Box::new(MassDamping { name: format!("{name}: damping"), coefficients }));
        }
        let start = self.start(body, &first_held);
        self.pin(all_held, place);
        self.pull(body, name, &masses, &start.x, place)?;
        self.mass.extend_from_slice(masses.as_slice());
        self.areas.extend_from_slice(areas.as_slice());
        let is_weighed = !matches!(kind, Kind::Yarns { .. });
        self.weighed.extend(masses.as_slice().iter().map(|mass| if is_weighed { *mass } else { 0.0 }));
        match &kind {
            Kind::Cloth { .. } => self.radii.resize(self.areas.len(), 0.0),
            Kind::Wires { radius, .. } => self.radii.resize(self.areas.len(), *radius),
            Kind::Yarns { model, .. } => self.radii.extend(Yarns::node_sizes(model.patch()).0),
        }
        self.ranges.resize(self.areas.len(), range);
        self.finest = self.finest.min(edge);
        self.x.extend(start.x);
        self.v.extend(start.v);
        self.bodies.push(BodyInfo { name: name.to_owned(), vertices: place.range(), kind });
        Ok(())
    }

    /// Adds the terms of yarns.
    fn add_yarns(&mut self, yarns: &Yarns, name: &str, place: Place) -> Measured {
        let first = place.id(Id::new(0));
        let model = YarnModel::new(yarns.patch.clone()).named(name).starting_at(first);
        let x = yarns.body.x.as_slice();
        let origin = x.iter().sum::<DVec3>() / x.len() as f64;
        self.terms.extend(model.terms(self.gravity, origin));
        let (patch, radii) = (&yarns.patch, Yarns::contact_radii(&yarns.patch));
        let mean = Yarns::mean_segment(patch);
        let range = radii.iter().copied().fold(0.5 * mean, f64::min);
        let [masses, areas] = [patch.masses(), Yarns::node_sizes(patch).1].map(Field::from_vec);
        let kind = Kind::Yarns { model, own: 0..0, radii };
        Measured { masses, areas, damping: Damping::NONE, edge: mean, range, kind }
    }

    /// Where the vertices of a body start, with the pins that hold them then.
    fn start(&mut self, body: &Body, first: &[Held]) -> Start {
        let mut is_held = Field::filled(body.x.len(), None);
        first.iter().for_each(|held| is_held[held.vertex] = Some(held.is_fixed()));
        let mut x = body.start(|v| is_held[v].is_some());
        for held in first {
            x[held.vertex.index()] = held.at(0.0);
        }
        let velocity = |held: &Option<bool>| if held.is_some() { DVec3::ZERO } else { body.velocity };
        let v = is_held.as_slice().iter().map(velocity).collect();
        self.held_first.extend_from_slice(is_held.as_slice());
        Start { x, v }
    }

    /// The pins of a body that hold exactly.
    fn pin(&mut self, all: Vec<Held>, place: Place) {
        for held in all {
            let vertex = place.id(held.vertex);
            let pin = match held.way {
                Way::Still => Pin::Still,
                Way::Line(direction) => Pin::Line(direction),
                Way::Plane(normal) => Pin::Plane(normal),
                Way::Moving(..) | Way::Following(..) => Pin::Moving(Arc::new(move |t| held.at(t))),
            };
            self.pins.push((vertex, pin));
        }
    }

    /// The springs of soft pins, and the forces, both shared in proportion to masses.
    fn pull(
        &mut self,
        body: &Body,
        name: &str,
        masses: &Field<Vertices, f64>,
        start: &[DVec3],
        place: Place,
    ) -> Result<(), SceneError> {
        for (number, soft) in body.soft_pins(name, self.obstacles)?.into_iter().enumerate() {
            let mut term = Attachments::new(format!("{name}: soft pin {}", number + 1)).until(soft.until);
            let total: f64 = soft.held.iter().map(|held| masses[held.vertex]).sum();
            for held in soft.held {
                let share = Positive::new(soft.stiffness.get() * (masses[held.vertex] / total))?;
                let vertex = place.id(held.vertex);
                term = match held.way {
                    Way::Moving(..) | Way::Following(..) => {
                        term.to_path(vertex, move |time| held.at(time), share)
                    }
                    Way::Still | Way::Line(_) | Way::Plane(_) => term.to_point(vertex, held.place, share),
                };
            }
            self.terms.push(Box::new(term));
        }
        for (number, (pick, force)) in body.forces.iter().enumerate() {
            let mut picked = pick.resolve(name, &body.x, &body.groups)?;
            picked.sort_unstable();
            picked.dedup();
            let shares = picked.into_iter().map(|v| (place.id(v), masses[v], start[v.index()]));
            let force = force.clone();
            let load =
                SharedLoad::new(format!("{name}: force {}", number + 1), shares, move |t| force.at(t))?;
            self.terms.push(Box::new(load));
        }
        Ok(())
    }
}

/// What a body adds to a scene beside its terms.
struct Measured {
    /// kg.
    masses: Field<Vertices, f64>,
    /// Areas that contact of vertices acts on, m².
    areas: Field<Vertices, f64>,
    damping: Damping,
    /// Mean length of edges or segments, m.
    edge: f64,
    /// Gap at which contact of vertices begins where nothing else is said, m.
    range: f64,
    kind: Kind,
}

/// Positions and velocities of a body at the start. Held vertices are where their pins have them,
/// at rest.
struct Start {
    x: Vec<DVec3>,
    v: Vec<DVec3>,
}
