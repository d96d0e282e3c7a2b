//! Contact of the ghost mesh, with itself and with what moves by itself (Bridson, Fedkiw and
//! Anderson 2002).

use std::sync::Arc;

use glam::DVec3;
use plisse_collision::{
    Body, BroadPhase, ColliderError, Colliders, ContactPair, InverseMasses, PairFilter, Response,
    ResponseError, ResponseReport, ResponseSettings, ResponseSettingsError,
};
use plisse_core::{Field, Positive, Vertices};
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
    response: Response,
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
        let response = Response::new(settings)?;
        loose.sort_unstable();
        Ok(Self { colliders, sheet, masses, obstacles, response, loose })
    }

    /// The same with another coefficient of friction between two bodies, or of one with itself.
    ///
    /// # Errors
    /// [`GhostContactError::Settings`] for a coefficient out of its range.
    pub fn with_friction(self, pair: [Body; 2], coefficient: f64) -> Result<Self, GhostContactError> {
        Ok(Self { response: self.response.with_friction(pair, coefficient)?, ..self })
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
        if repelled > 0 || !response.is_untouched() {
            ghost.as_mut_slice().copy_from_slice(&end.as_slice()[..self.sheet]);
        }
        Ok(Touched { repelled, response })
    }
}
