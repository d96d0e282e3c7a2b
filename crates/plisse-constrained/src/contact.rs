//! Contact of the ghost mesh, with itself and with what moves by itself (Bridson, Fedkiw and
//! Anderson 2002).

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::DVec3;
use plisse_collision::{
    Body, BroadPhase, Closest, ColliderError, Colliders, ContactPair, InverseMasses, PairFilter, Response,
    ResponseError, ResponseReport, ResponseSettings, ResponseSettingsError, edge_edge, point_edge,
    point_point, point_triangle,
};
use plisse_core::{Field, Id, Positive, Vertices};
use thiserror::Error;

/// Where the vertices of obstacles are: given the time in seconds, the time at the start of the
/// step, and the ghost there, one place for each.
pub type Places = Arc<dyn Fn(f64, f64, &Field<Vertices, DVec3>) -> Vec<DVec3> + Send + Sync>;

/// What the ghost mesh can touch, and how it is kept away.
#[derive(Clone)]
pub struct GhostContact {
    colliders: Colliders,
    /// Vertices of the sheet come first.
    sheet: usize,
    masses: InverseMasses,
    obstacles: Places,
    /// Without friction, which is in the projection.
    response: Response,
    /// Where no pair says otherwise.
    friction: f64,
    /// Of single pairs, the smaller number first.
    frictions: BTreeMap<[Body; 2], f64>,
    /// Bodies whose parts pass through each other, ascending.
    loose: Vec<Body>,
}

/// Why there is no contact of this sheet.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum GhostContactError {
    /// What takes part was refused.
    #[error(transparent)]
    Colliders(#[from] ColliderError),
    /// A setting or a mass was refused.
    #[error(transparent)]
    Settings(#[from] ResponseSettingsError),
    /// Fewer colliders than vertices of the sheet.
    #[error("there are {found} vertices that can collide, but the sheet has {sheet}: give them all")]
    TooFew {
        /// Vertices of the sheet.
        sheet: usize,
        /// Vertices of the colliders.
        found: usize,
    },
}

/// Why a step has no end without intersections.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("contact: {0}")]
pub struct GhostResponseError(ResponseError);

impl GhostResponseError {
    /// Whether a shorter step may succeed.
    #[must_use]
    pub fn may_heal(&self) -> bool {
        !matches!(self.0, ResponseError::Touching { .. })
    }
}

/// What contact did.
pub(crate) struct Touched {
    pub(crate) repelled: usize,
    pub(crate) response: ResponseReport,
    /// What the vertices that were moved touch, ascending.
    pub(crate) partners: Vec<(Id<Vertices>, Partner)>,
}

/// What a vertex of a sheet rubs on: the closest part that pushes it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Partner {
    /// Coulomb's coefficient.
    pub(crate) coefficient: f64,
    /// Vertices of sheets, with weights.
    pub(crate) sheet: Vec<(Id<Vertices>, f64)>,
    /// How far the vertices of obstacles in it carry it along, m.
    pub(crate) carried: DVec3,
    gap: f64,
}

impl GhostContact {
    /// Contact of sheets, whose vertices have these inverse masses in 1/kg (zero for pinned ones)
    /// and come first among the colliders; what follows are obstacles, whose places `obstacles`
    /// says. Bodies in `loose` do not touch themselves.
    ///
    /// # Errors
    /// [`GhostContactError`].
    pub fn new(
        colliders: Colliders,
        inverse_masses: &Field<Vertices, f64>,
        obstacles: Places,
        settings: ResponseSettings,
        mut loose: Vec<Body>,
    ) -> Result<Self, GhostContactError> {
        let (sheet, found) = (inverse_masses.len(), colliders.vertex_count());
        if found < sheet {
            return Err(GhostContactError::TooFew { sheet, found });
        }
        let mut all = inverse_masses.as_slice().to_vec();
        all.resize(found, 0.0);
        let masses = InverseMasses::new(Field::from_vec(all))?;
        Response::new(settings)?;
        let (friction, frictions) = (settings.friction, BTreeMap::new());
        let response = Response::new(ResponseSettings { friction: 0.0, ..settings })?;
        loose.sort_unstable();
        Ok(Self { colliders, sheet, masses, obstacles, response, friction, frictions, loose })
    }

    /// The same with another coefficient of friction between two bodies, or of one with itself.
    ///
    /// # Errors
    /// [`GhostContactError::Settings`] for a coefficient out of its range.
    pub fn with_friction(mut self, [a, b]: [Body; 2], coefficient: f64) -> Result<Self, GhostContactError> {
        Response::new(ResponseSettings { friction: coefficient, ..*self.response.settings() })?;
        self.frictions.insert([a.min(b), a.max(b)], coefficient);
        Ok(self)
    }

    /// How far repulsion opens a gap in one step at most, m.
    pub(crate) fn opens(&self) -> f64 {
        OPENED * self.response.settings().reach
    }

    /// The coefficient of friction between the bodies of two vertices.
    fn coefficient(&self, [v, w]: [Id<Vertices>; 2]) -> f64 {
        let pair = self.colliders.body(v).zip(self.colliders.body(w));
        let own = pair.and_then(|(a, b)| self.frictions.get(&[a.min(b), a.max(b)]));
        own.copied().unwrap_or(self.friction)
    }

    /// How far obstacles move during a step at most, m. Contact with what rests can take energy,
    /// but give none.
    pub(crate) fn way(&self, old: &Field<Vertices, DVec3>, times: [f64; 2]) -> f64 {
        let [start, end] = times.map(|time| (self.obstacles)(time, times[0], old));
        start.iter().zip(end).map(|(a, b)| a.distance(b)).fold(0.0, f64::max)
    }

    /// Leads the ghost from `old` past all contacts to places near `ghost`. Nothing is changed
    /// where nothing is close.
    pub(crate) fn respond(
        &self,
        old: &Field<Vertices, DVec3>,
        ghost: &mut Field<Vertices, DVec3>,
        times: [f64; 2],
        dt: Positive,
    ) -> Result<Touched, GhostResponseError> {
        let with_obstacles = |x: &Field<Vertices, DVec3>, time: f64| {
            let mut all = x.as_slice().to_vec();
            all.extend((self.obstacles)(time, times[0], old));
            // A caller that gives fewer places than vertices would be read beyond the end.
            all.resize(self.colliders.vertex_count(), DVec3::splat(f64::NAN));
            Field::from_vec(all)
        };
        let (start, mut end) = (with_obstacles(old, times[0]), with_obstacles(ghost, times[1]));
        // Anew for each step: its order depends on where it began, and steps must not depend on
        // that.
        let mut phase = BroadPhase::new(self.colliders.clone(), &start);
        let filter = PairFilter {
            bodies: |a: Body, b: Body| a != b || self.loose.binary_search(&a).is_err(),
            pairs: |_: ContactPair| true,
        };
        let repelled = self.response.repel(&mut phase, &self.masses, &filter, &start, &mut end, dt);
        let response = self
            .response
            .respond(&mut phase, &self.masses, &filter, &start, &mut end)
            .map_err(GhostResponseError)?;
        let mut partners = Vec::new();
        if repelled > 0 || !response.is_untouched() {
            let moved = |v: Id<Vertices>| {
                if v.index() < self.sheet { end[v] - ghost[v] } else { DVec3::ZERO }
            };
            let rubs = self.friction > 0.0 || self.frictions.values().any(|friction| *friction > 0.0);
            if rubs {
                partners = self.partners(&mut phase, filter.bodies, [&start, &end], moved);
            }
            ghost.as_mut_slice().copy_from_slice(&end.as_slice()[..self.sheet]);
        }
        Ok(Touched { repelled, response, partners })
    }

    /// For each vertex of a sheet that `moved` says contact has pushed, the closest part at the end
    /// of the step that can have pushed it so.
    fn partners(
        &self,
        phase: &mut BroadPhase,
        bodies: impl Fn(Body, Body) -> bool + Sync,
        [start, end]: [&Field<Vertices, DVec3>; 2],
        moved: impl Fn(Id<Vertices>) -> DVec3,
    ) -> Vec<(Id<Vertices>, Partner)> {
        let pairs = phase.along(start, end, self.response.settings().reach, bodies);
        let faces = pairs.vertex_faces.iter().map(|(v, f)| ContactPair::VertexFace(*v, *f));
        let edges = pairs.edge_edges.iter().map(|(e, f)| ContactPair::EdgeEdge(*e, *f));
        let lines = pairs.vertex_edges.iter().map(|(v, e)| ContactPair::VertexEdge(*v, *e));
        let points = pairs.vertex_vertices.iter().map(|(v, w)| ContactPair::VertexVertex(*v, *w));
        let mut found: BTreeMap<Id<Vertices>, Partner> = BTreeMap::new();
        for pair in faces.chain(edges).chain(lines).chain(points) {
            let vertices = pair.vertices(&self.colliders);
            if vertices.iter().all(|v| moved(*v) == DVec3::ZERO) {
                continue;
            }
            let x: Vec<DVec3> = vertices.iter().map(|v| end[*v]).collect();
            let (weights, normal, distance) = match (pair, &*x) {
                (ContactPair::EdgeEdge(..), &[a, b, c, d]) => parts(&edge_edge([a, b], [c, d])),
                (_, &[p, a, b, c]) => parts(&point_triangle(p, [a, b, c])),
                (_, &[p, a, b]) => parts(&point_edge(p, [a, b])),
                (_, &[p, q]) => parts(&point_point(p, q)),
                _ => continue,
            };
            let gap = distance - pair.thickness(&self.colliders);
            for (k, v) in vertices.iter().enumerate() {
                let (push, weight) = (moved(*v), weights[k]);
                // Pushed by this one, and near the place where it touches.
                let is_so = push.dot(normal) * weight.signum() > ALONG * push.length();
                let is_nearest = found.get(v).is_none_or(|partner| gap < partner.gap);
                if push == DVec3::ZERO || weight.abs() < NEAR || !is_so || !is_nearest {
                    continue;
                }
                let others = vertices.iter().zip(&weights).filter(|(_, w)| **w * weight < 0.0);
                let total: f64 = others.clone().map(|(_, w)| w.abs()).sum();
                let mut partner = Partner { coefficient: 0.0, sheet: Vec::new(), carried: DVec3::ZERO, gap };
                for (other, w) in others {
                    partner.coefficient = self.coefficient([*v, *other]);
                    let share = w.abs() / total;
                    if other.index() < self.sheet {
                        partner.sheet.push((*other, share));
                    } else {
                        partner.carried += (end[*other] - start[*other]) * share;
                    }
                }
                found.insert(*v, partner);
            }
        }
        found.into_iter().collect()
    }
}

/// What repulsion opens of an overlap in one step: see [`Response::repel`].
const OPENED: f64 = 0.1;
/// The least share of a vertex in a contact that counts as its own.
const NEAR: f64 = 0.05;
/// The least cosine between the push on a vertex and the normal of the contact.
const ALONG: f64 = 0.5;

/// Weights, normal and distance of closest points.
fn parts<const V: usize>(closest: &Closest<V>) -> (Vec<f64>, DVec3, f64) {
    (closest.weights().to_vec(), closest.normal(), closest.distance())
}
