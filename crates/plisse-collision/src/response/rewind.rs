//! The last resort: vertices in contact go only a part of their way, in the end none of it.

use std::collections::BTreeMap;

use plisse_core::{Id, Vertices};

use super::ResponseError;
use super::groups::Groups;
use super::pair::ContactPair;
use super::run::{Hit, Run};
use crate::colliders::Body;

/// How often a group is shortened before it stops where it was.
const FAILURES: u32 = 4;

/// The share of the free way that is used.
const SHARE: f64 = 0.9;

#[derive(Clone, Copy, Debug)]
struct Shortened {
    /// The share of the way that is left.
    share: f64,
    failures: u32,
}

impl<B, P> Run<'_, B, P>
where
    B: Fn(Body, Body) -> bool + Sync,
    P: Fn(ContactPair) -> bool + Sync,
{
    /// Shortens ways until there is no contact. The vertices that did not go all of their way,
    /// ascending.
    ///
    /// It ends: each pass shortens every group of a contact or stops it, five times at most between
    /// two merges. What rests at its start touches nothing that rests there, too.
    pub(super) fn rewind(&mut self) -> Result<Vec<Id<Vertices>>, ResponseError> {
        let ends = self.x.clone();
        let mut groups: Groups<Shortened> = Groups::new(ends.len());
        while !self.hits.is_empty() {
            let mut times: BTreeMap<u32, f64> = BTreeMap::new();
            for hit in self.hits.clone() {
                let vertices = hit.guarded.stencil.vertices();
                let movable = || vertices.iter().copied().filter(|v| !self.masses.is_kinematic(*v));
                if movable().all(|v| self.x[v] == self.old[v]) {
                    return Err(self.unresolved(&hit));
                }
                let joined = groups.join(
                    movable(),
                    || Shortened { share: 1.0, failures: 0 },
                    |group, other| *group = Shortened { share: group.share.min(other.share), failures: 0 },
                );
                if let Some(name) = joined {
                    let time = times.entry(name).or_insert(hit.time);
                    *time = time.min(hit.time);
                }
            }
            // Groups that have merged since take the earliest time of their parts.
            let mut merged: BTreeMap<u32, f64> = BTreeMap::new();
            for (name, time) in times {
                if let Some(root) = groups.of(Id::new(name)) {
                    let earliest = merged.entry(root).or_insert(time);
                    *earliest = earliest.min(time);
                }
            }
            for (name, time) in merged {
                let Some(group) = groups.get_mut(name) else { continue };
                group.data.failures += 1;
                let stops = group.data.failures > FAILURES;
                group.data.share = if stops { 0.0 } else { group.data.share * (SHARE * time) };
                let share = group.data.share;
                for vertex in group.members.clone() {
                    let (from, to) = (self.old[vertex], ends[vertex]);
                    self.place(vertex, if share == 0.0 { from } else { from.lerp(to, share) });
                }
            }
            self.test();
        }
        let shortened = groups.iter().filter(|group| group.data.share < 1.0);
        let mut vertices: Vec<_> = shortened.flat_map(|group| group.members.iter().copied()).collect();
        vertices.sort_unstable();
        Ok(vertices)
    }

    /// Why a pair is in contact although everything of it that can rest does.
    fn unresolved(&self, hit: &Hit) -> ResponseError {
        let Hit { time, guarded } = hit;
        let (pair, vertices) = (guarded.pair, guarded.stencil.vertices().to_vec());
        if guarded.contact(self.old, self.old).is_some() {
            ResponseError::Touching { pair, vertices, gap: guarded.gap() }
        } else {
            ResponseError::Squeezed { pair, vertices, time: *time }
        }
    }
}
