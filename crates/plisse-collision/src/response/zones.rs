//! Rigid impact zones: vertices whose contacts impulses did not resolve move as one body.

use std::collections::BTreeSet;

use glam::DVec3;
use plisse_core::{Field, Id, Vertices};

use super::groups::Groups;
use super::pair::{ContactPair, Guarded};
use super::rigid::{Anchor, Moving, RigidMotion};
use super::run::Run;
use crate::colliders::Body;

/// Passes after which the rest is left to rewinding. Zones only merge, so that there is an end
/// without it; it may be far.
const PASSES: usize = 64;

/// How a zone moves. The later ones are for contacts that the earlier ones have inside the zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mode {
    Rigid,
    Translation,
    /// As before the zones: left to rewinding.
    Free,
}

#[derive(Clone, Debug)]
struct Zone {
    /// Vertices with prescribed motions that it touches, ascending. They may have several zones.
    anchors: BTreeSet<Id<Vertices>>,
    mode: Mode,
}

/// What the zones did.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ZoneCounts {
    pub(super) passes: usize,
    pub(super) zones: usize,
    pub(super) largest: usize,
}

impl<B, P> Run<'_, B, P>
where
    B: Fn(Body, Body) -> bool + Sync,
    P: Fn(ContactPair) -> bool + Sync,
{
    /// Makes zones of the contacts until there are none, or none that zones can resolve.
    pub(super) fn zones(&mut self) -> ZoneCounts {
        let before = self.x.clone();
        let mut zones: Groups<Zone> = Groups::new(before.len());
        let mut passes = 0;
        while passes < PASSES && !self.hits.is_empty() {
            let changed = self.enlarge(&mut zones);
            if changed.is_empty() {
                break;
            }
            for name in changed {
                self.move_zone(&mut zones, name, &before);
            }
            self.test();
            passes += 1;
        }
        let bound = || zones.iter().filter(|zone| zone.data.mode != Mode::Free);
        ZoneCounts {
            passes,
            zones: bound().count(),
            largest: bound().map(|zone| zone.members.len()).max().unwrap_or(0),
        }
    }

    /// Joins the vertices of every contact to a zone; the zones that have changed, ascending.
    fn enlarge(&self, zones: &mut Groups<Zone>) -> BTreeSet<u32> {
        let mut changed = BTreeSet::new();
        for Guarded { stencil, .. } in self.hits.iter().map(|hit| hit.guarded) {
            let (anchors, members): (Vec<_>, Vec<_>) =
                stencil.vertices().iter().partition(|v| self.masses.is_kinematic(**v));
            let names: Vec<Option<u32>> = members.iter().map(|v| zones.of(*v)).collect();
            let zone = |name: &Option<u32>| name.and_then(|name| zones.get(name));
            if names.iter().any(|name| zone(name).is_some_and(|zone| zone.data.mode == Mode::Free)) {
                continue;
            }
            let inside = names.windows(2).all(|pair| pair[0] == pair[1])
                && names
                    .first()
                    .and_then(zone)
                    .is_some_and(|zone| anchors.iter().all(|v| zone.data.anchors.contains(v)));
            let alone = || Zone { anchors: BTreeSet::new(), mode: Mode::Rigid };
            let merge = |zone: &mut Zone, other: Zone| {
                zone.anchors.extend(other.anchors);
                zone.mode = zone.mode.max(other.mode);
            };
            let Some(name) = zones.join(members.into_iter(), alone, merge) else { continue };
            let Some(zone) = zones.get_mut(name) else { continue };
            // A contact inside a zone that has not just grown: its motion is at fault.
            if inside && !changed.contains(&name) {
                zone.data.mode = if zone.data.mode == Mode::Rigid { Mode::Translation } else { Mode::Free };
            }
            zone.data.anchors.extend(anchors);
            changed.insert(name);
        }
        // Names of zones that have merged into others since.
        changed.retain(|name| zones.get(*name).is_some());
        changed
    }

    fn move_zone(&mut self, zones: &mut Groups<Zone>, name: u32, before: &Field<Vertices, DVec3>) {
        let Some(zone) = zones.get_mut(name) else { return };
        let displacement = |v: Id<Vertices>| before[v] - self.old[v];
        let carried = zone.data.anchors.iter().any(|v| displacement(*v) != DVec3::ZERO);
        // What a moving obstacle carries must be carried: rewinding cannot.
        if zone.members.len() > self.response.settings().largest_zone && !carried {
            zone.data.mode = Mode::Free;
        }
        // The order of merging must not matter.
        zone.members.sort_unstable();
        let points: Vec<Moving> = zone
            .members
            .iter()
            .map(|v| Moving { x: self.old[*v], displacement: displacement(*v), mass: self.masses.mass(*v) })
            .collect();
        let anchors: Vec<Anchor> = zone
            .data
            .anchors
            .iter()
            .map(|v| Anchor { x: self.old[*v], displacement: displacement(*v) })
            .collect();
        let mut motion = match zone.data.mode {
            Mode::Rigid => Some(RigidMotion::new(&points, &anchors)),
            Mode::Translation => Some(RigidMotion::translation(&points, &anchors)),
            Mode::Free => None,
        };
        if motion.is_some_and(|motion| !points.iter().all(|p| motion.apply(p.x).is_finite())) {
            zone.data.mode = Mode::Free;
            motion = None;
        }
        for vertex in zone.members.clone() {
            self.place(vertex, motion.map_or(before[vertex], |motion| motion.apply(self.old[vertex])));
        }
    }
}
