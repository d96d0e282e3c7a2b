//! Pairs that were near not long ago: as long as nothing has moved far, lists are made of them, and
//! not of all that there is.

use glam::DVec3;
use plisse_sparse::parallel::filter_map;

use crate::list::{Apart, Radii, Raw, collect};
use crate::model::{Model, Place};

/// Pairs of bodies with each other, and of bodies with obstacles, which move in their own ways.
#[derive(Default)]
pub(crate) struct Neighbours {
    own: Option<Found>,
    solid: Option<Found>,
}

/// Everything within a radius of somewhere.
struct Found {
    /// Pairs, how far they were from each other, and by how much their surfaces were beyond the
    /// range of contact, m.
    pairs: Vec<(Raw, Apart, f64)>,
    nodes: Vec<DVec3>,
    solids: Vec<DVec3>,
    radius: f64,
    /// How many lists were made of it.
    lists: u32,
}

/// What is searched in addition, in mean edges, so that the next lists need no search.
const SLACK: f64 = 0.1;
/// Lists for which that must be enough, to be worth it.
const WORTH: f64 = 4.0;

/// Which pairs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Own,
    Solid,
}

impl Which {
    /// The one of two radii that counts for these pairs.
    fn of(self, radii: &Radii) -> f64 {
        match self {
            Self::Own => radii.own,
            Self::Solid => radii.solid,
        }
    }

    /// How much closer two parts may have come when everything has moved so far: both parts move,
    /// and of obstacles the radius counts both.
    fn approach(self, moved: f64) -> f64 {
        match self {
            Self::Own => 2.0 * moved,
            Self::Solid => moved,
        }
    }
}

impl Neighbours {
    /// All pairs that are in a list with these radii, and few more, in ascending order, each with
    /// its distance if that is known.
    pub(crate) fn within(
        &mut self,
        model: &Model,
        at: &Place<'_>,
        radii: &Radii,
    ) -> Vec<(Raw, Option<Apart>)> {
        let mut raw = near(&mut self.own, Which::Own, model, at, radii);
        if !model.solids.is_empty() {
            raw.extend(near(&mut self.solid, Which::Solid, model, at, radii));
            // Two ascending runs, which a stable sort merges.
            raw.sort_by_key(|(raw, _)| raw.key());
        }
        raw
    }
}

fn near(
    kept: &mut Option<Found>,
    which: Which,
    model: &Model,
    at: &Place<'_>,
    radii: &Radii,
) -> Vec<(Raw, Option<Apart>)> {
    let wanted = which.of(radii);
    let mut slack = SLACK * model.edge;
    if let Some(found) = kept {
        let place = Place { nodes: &found.nodes, solids: &found.solids };
        let moved = which.of(&Radii::between(&place, at));
        if moved + wanted <= found.radius {
            found.lists += 1;
            return found.select(which.approach((moved + wanted) * ROOM), false);
        }
        if WORTH * moved > slack * f64::from(found.lists) {
            slack = 0.0;
        }
    }
    let found = Found::new(which, model, at, wanted + slack);
    let selected = found.select(which.approach(wanted * ROOM), true);
    *kept = Some(found);
    selected
}

/// Room for rounding.
const ROOM: f64 = 1.0 + 1e-6;

impl Found {
    fn new(which: Which, model: &Model, at: &Place<'_>, radius: f64) -> Self {
        let laws = &model.laws;
        let gap = laws.largest_range();
        let around = match which {
            Which::Own => radius * ROOM,
            Which::Solid => 0.5 * radius * ROOM,
        };
        let near = model.phase().near(&at.field(), gap, around, |a, b| {
            laws.is_obstacle(b) == (which == Which::Solid) && laws.meet(a, b)
        });
        let mut raw = Vec::with_capacity(near.pairs().len());
        collect(model, near.pairs(), &mut raw);
        raw.sort_by_key(Raw::key);
        raw.dedup_by_key(|raw| raw.key());
        let reach = which.approach(radius * ROOM);
        let rated = |(_, raw): (usize, &Raw)| {
            let apart = raw.apart(at);
            let beyond = model.beyond(raw, &apart);
            (beyond <= reach).then_some((*raw, apart, beyond))
        };
        let pairs = filter_map(&raw, rated);
        Self { pairs, nodes: at.nodes.to_vec(), solids: at.solids.to_vec(), radius, lists: 1 }
    }

    /// Pairs that are not farther apart, with what is known of them if nothing has moved since.
    fn select(&self, reach: f64, is_here: bool) -> Vec<(Raw, Option<Apart>)> {
        let near = self.pairs.iter().filter(|(_, _, beyond)| *beyond <= reach);
        near.map(|(raw, apart, _)| (*raw, is_here.then_some(*apart))).collect()
    }
}
