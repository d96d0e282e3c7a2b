//! Impulses, rigid zones and rewinding that lead motions past all contacts, after Bridson, Fedkiw
//! and Anderson (2002).

mod groups;
mod impulse;
mod pair;
mod repel;
mod rewind;
mod rigid;
mod run;
mod zones;

use std::collections::BTreeMap;

use glam::DVec3;
use plisse_core::range::PARAMETER;
use plisse_core::{Field, Id, Vertices};
use thiserror::Error;

pub use impulse::{Impact, Impulse};
pub use pair::{ContactPair, PairFilter};

use crate::broad_phase::BroadPhase;
use crate::colliders::{Body, Colliders};
use pair::Stencil;
use run::Run;

/// What a [`Response`] may do. Lengths are in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResponseSettings {
    /// Coulomb's coefficient of friction, zero or more.
    pub friction: f64,
    /// Passes of impulses, before zones. Each takes all contacts in the order of their times. Zero
    /// leaves everything to zones.
    pub passes: usize,
    /// The share of its gap that a pair keeps at least, above zero and below one.
    pub keep: f64,
    /// Gaps above this count as this, zero or more: the activation distance of a contact energy,
    /// and the thickness of the layer in which [`Response::repel`] acts. Shorter than edges are.
    pub reach: f64,
    /// Rigid zones of more vertices than this are rewound instead, unless an obstacle that moves
    /// carries them. Zero leaves everything to rewinding.
    pub largest_zone: usize,
    /// A response to more contacts than this is refused at once, with
    /// [`ResponseError::TooMany`]: for callers that have something cheaper to do then.
    pub most_contacts: usize,
    /// The stiffness of [`Response::repel`] in N/m for every pair, zero or more.
    pub stiffness: f64,
}

impl Default for ResponseSettings {
    /// No friction, four passes, a tenth of gaps up to a millimetre, zones of up to 200 vertices,
    /// any number of contacts, 100 N/m.
    fn default() -> Self {
        Self {
            friction: 0.0,
            passes: 4,
            keep: 0.1,
            reach: 1e-3,
            largest_zone: 200,
            most_contacts: usize::MAX,
            stiffness: 100.0,
        }
    }
}

/// A setting or a mass that was refused.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ResponseSettingsError {
    /// A setting out of its range.
    #[error("{name} is {value}: give {expected}")]
    BadSetting {
        /// The name of the field.
        name: &'static str,
        /// What it is.
        value: f64,
        /// What it may be.
        expected: &'static str,
    },
    /// An inverse mass that is none.
    #[error("the inverse mass of {vertex} is {value}: give zero or a number from 1e-60 to 1e60, in 1/kg")]
    BadInverseMass {
        /// The vertex.
        vertex: Id<Vertices>,
        /// What was given.
        value: f64,
    },
}

/// Inverse masses of all vertices in 1/kg: positive, or zero for vertices whose motion is
/// prescribed.
#[derive(Clone, Debug, PartialEq)]
pub struct InverseMasses(Field<Vertices, f64>);

impl InverseMasses {
    /// Checks the numbers.
    ///
    /// # Errors
    /// [`ResponseSettingsError::BadInverseMass`] for the first one that is neither zero nor within
    /// [`PARAMETER`].
    pub fn new(inverse_masses: Field<Vertices, f64>) -> Result<Self, ResponseSettingsError> {
        let is_bad = |value: f64| value != 0.0 && !PARAMETER.contains(&value);
        if let Some((vertex, value)) = inverse_masses.iter().find(|(_, value)| is_bad(**value)) {
            return Err(ResponseSettingsError::BadInverseMass { vertex, value: *value });
        }
        Ok(Self(inverse_masses))
    }

    /// Whether the motion of a vertex is prescribed.
    ///
    /// # Panics
    /// If there is no such vertex.
    #[must_use]
    pub fn is_kinematic(&self, vertex: Id<Vertices>) -> bool {
        self.0[vertex] == 0.0
    }

    /// The inverse mass of a vertex in 1/kg.
    ///
    /// # Panics
    /// If there is no such vertex.
    #[must_use]
    pub fn get(&self, vertex: Id<Vertices>) -> f64 {
        self.0[vertex]
    }

    /// The mass of a vertex that can move, in kg.
    fn mass(&self, vertex: Id<Vertices>) -> f64 {
        1.0 / self.0[vertex]
    }

    fn can_move(&self, pair: ContactPair, colliders: &Colliders) -> bool {
        Stencil::new(pair, colliders).vertices().iter().any(|v| !self.is_kinematic(*v))
    }
}

/// What a response did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseReport {
    /// Pairs whose separation the candidate positions did not keep.
    pub contacts: usize,
    /// Passes of impulses.
    pub passes: usize,
    /// Impulses in all passes.
    pub impulses: usize,
    /// Passes of rigid zones.
    pub zone_passes: usize,
    /// Rigid zones at the end.
    pub zones: usize,
    /// Vertices of the largest of them that can move.
    pub largest_zone: usize,
    /// Vertices that went only a part of their way, or none of it, ascending. The momentum is not
    /// kept where there are any.
    pub rewound: Vec<Id<Vertices>>,
}

impl ResponseReport {
    /// Whether the candidate positions were left as they were.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        self.contacts == 0
    }
}

/// Why there are no positions without a contact that a response could find.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ResponseError {
    /// Prescribed motions leave a pair no room: halve the time step.
    #[error("{pair} are squeezed by prescribed motions at {time:.3} of the step: halve the step")]
    Squeezed {
        /// The pair.
        pair: ContactPair,
        /// Its vertices.
        vertices: Vec<Id<Vertices>>,
        /// The share of the step after which the pair is in contact, although everything of it that
        /// can move rests.
        time: f64,
    },
    /// A pair touches at the start, or as good as that in floating point. No shorter step helps.
    #[error("{pair} touch at the start of the step, their gap is {gap:e} m: exclude the pair or part it")]
    Touching {
        /// The pair.
        pair: ContactPair,
        /// Its vertices.
        vertices: Vec<Id<Vertices>>,
        /// The distance beyond the radii at the start, in metres.
        gap: f64,
    },
    /// More pairs than [`ResponseSettings::most_contacts`].
    #[error("{contacts} pairs come into contact, {most} are allowed: allow more, or halve the step")]
    TooMany {
        /// Pairs whose separation the candidate positions did not keep.
        contacts: usize,
        /// Those that the settings allow.
        most: usize,
    },
    /// A position is infinite or NaN.
    #[error("a position of {vertex} is not a number: reject the step")]
    NotFinite {
        /// The vertex.
        vertex: Id<Vertices>,
    },
}

/// Leads motions past contacts: from positions without an intersection to candidate positions that
/// may have any, it finds positions near the candidates to which all straight paths are free.
///
/// ```
/// use glam::DVec3;
/// use plisse_collision::{
///     Body, BroadPhase, Colliders, InverseMasses, PairFilter, Response, ResponseSettings,
/// };
/// use plisse_core::{Field, Id, TriMesh};
///
/// // A grain falls through a triangle that cannot move.
/// let mut colliders = Colliders::new(4);
/// colliders.add_surface(Body(0), &TriMesh::new(3, &[[0, 1, 2]])?, 0.0)?;
/// colliders.add_points(Body(1), &[Id::new(3)], 0.01)?;
/// let grain = |z: f64| DVec3::new(0.2, 0.2, z);
/// let old = Field::from_vec(vec![DVec3::ZERO, DVec3::X, DVec3::Y, grain(0.05)]);
/// let mut new = Field::from_vec(vec![DVec3::ZERO, DVec3::X, DVec3::Y, grain(-0.3)]);
/// let masses = InverseMasses::new(Field::from_vec(vec![0.0, 0.0, 0.0, 1.0]))?;
///
/// let response = Response::new(ResponseSettings::default())?;
/// let mut phase = BroadPhase::new(colliders, &old);
/// let report = response.respond(&mut phase, &masses, &PairFilter::all(), &old, &mut new)?;
/// assert_eq!((report.contacts, report.impulses), (1, 1));
/// assert!(new[Id::new(3)].z > 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    settings: ResponseSettings,
    /// Friction of single pairs, the smaller number first. Ordered: results must not depend on
    /// hashes.
    frictions: BTreeMap<[Body; 2], f64>,
}

impl Response {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`ResponseSettingsError::BadSetting`] for the first one out of its range.
    pub fn new(settings: ResponseSettings) -> Result<Self, ResponseSettingsError> {
        const NOT_NEGATIVE: &str = "a finite number, zero or more";
        let ResponseSettings { friction, keep, reach, stiffness, .. } = settings;
        let not_negative = |x: f64| x >= 0.0 && x <= *PARAMETER.end();
        let checks = [
            ("friction", friction, not_negative(friction), NOT_NEGATIVE),
            ("keep", keep, keep > 0.0 && keep < 1.0, "a number above zero and below one"),
            ("reach", reach, not_negative(reach), NOT_NEGATIVE),
            ("stiffness", stiffness, not_negative(stiffness), NOT_NEGATIVE),
        ];
        match checks.into_iter().find(|(_, _, is_good, _)| !is_good) {
            Some((name, value, _, expected)) => {
                Err(ResponseSettingsError::BadSetting { name, value, expected })
            }
            None => Ok(Self { settings, frictions: BTreeMap::new() }),
        }
    }

    /// The same with another coefficient of friction between two bodies, or of one with itself.
    ///
    /// # Errors
    /// [`ResponseSettingsError::BadSetting`] for a coefficient out of its range.
    pub fn with_friction(
        mut self,
        [a, b]: [Body; 2],
        coefficient: f64,
    ) -> Result<Self, ResponseSettingsError> {
        Self::new(ResponseSettings { friction: coefficient, ..self.settings })?;
        self.frictions.insert([a.min(b), a.max(b)], coefficient);
        Ok(self)
    }

    /// The coefficient of friction between the bodies of two vertices.
    fn friction(&self, colliders: &Colliders, [v, w]: [Id<Vertices>; 2]) -> f64 {
        if self.frictions.is_empty() {
            return self.settings.friction;
        }
        let pair = colliders.body(v).zip(colliders.body(w));
        let own = pair.and_then(|(a, b)| self.frictions.get(&[a.min(b), a.max(b)]));
        own.copied().unwrap_or(self.settings.friction)
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &ResponseSettings {
        &self.settings
    }

    /// Changes `candidate` so that every pair keeps its separation on the straight paths from
    /// `old`, by continuous collision detection of every pair: the sum of the radii and a share of
    /// the gap at `old`, `ξ + keep·min(gap, reach)`. Candidates without a contact are left as they
    /// are.
    ///
    /// First impulses act on the displacements, in the order of the times of contact; then vertices
    /// whose contacts are left move as rigid zones; then they go only a part of their way. The
    /// first two keep the momentum. Velocities after the step are `(candidate - old)/dt`.
    ///
    /// Vertices with prescribed motions arrive at their candidate positions in any case. Pairs of
    /// such vertices alone are not looked at. A pair that overlaps at `old`, nearer than the sum of
    /// its radii, keeps the share of its distance instead, so that it does not pass through.
    ///
    /// The result does not depend on the number of threads.
    ///
    /// # Errors
    /// [`ResponseError`]; `candidate` is then as it was.
    ///
    /// # Panics
    /// If there are fewer positions or masses than vertices.
    pub fn respond<B, P>(
        &self,
        phase: &mut BroadPhase,
        masses: &InverseMasses,
        filter: &PairFilter<B, P>,
        old: &Field<Vertices, DVec3>,
        candidate: &mut Field<Vertices, DVec3>,
    ) -> Result<ResponseReport, ResponseError>
    where
        B: Fn(Body, Body) -> bool + Sync,
        P: Fn(ContactPair) -> bool + Sync,
    {
        for part in phase.colliders().vertices() {
            let vertex = part.vertices[0];
            if !(old[vertex].is_finite() && candidate[vertex].is_finite()) {
                return Err(ResponseError::NotFinite { vertex });
            }
        }
        let mut run = Run::new(self, phase, masses, filter, old, candidate);
        let mut report = ResponseReport { contacts: run.hits.len(), ..ResponseReport::default() };
        if run.hits.is_empty() {
            return Ok(report);
        }
        let most = self.settings.most_contacts;
        if report.contacts > most {
            return Err(ResponseError::TooMany { contacts: report.contacts, most });
        }
        let asked = run.x.clone();
        while report.passes < self.settings.passes && !run.hits.is_empty() {
            report.passes += 1;
            report.impulses += run.impulses();
            run.test();
        }
        let counts = run.zones();
        (report.zone_passes, report.zones, report.largest_zone) =
            (counts.passes, counts.zones, counts.largest);
        match run.rewind() {
            Ok(rewound) => {
                report.rewound = rewound;
                Ok(report)
            }
            Err(error) => {
                *candidate = asked;
                Err(error)
            }
        }
    }
}
