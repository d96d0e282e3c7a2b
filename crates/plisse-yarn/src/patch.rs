//! A patch of cloth: yarns and their crossings.

use glam::DVec3;

use crate::element::ArcLength;
use crate::error::PatchError;
use crate::yarn::{Contacts, Family, Yarn};

/// A checked patch: nodes, the yarns that pass them, and which yarn is on top.
///
/// A node where a warp yarn and a weft yarn cross is a *crossing*: its unknowns are a position and
/// two arc lengths. Arc lengths are fixed at the ends of yarns, at nodes of one yarn, and where the
/// two yarns are parallel: sliding and moving would be the same thing there.
#[derive(Clone, Debug)]
pub struct Patch {
    x: Vec<DVec3>,
    yarns: Vec<Yarn>,
    contacts: Contacts,
    over: Vec<bool>,
    /// Warp and weft yarn of each node, with the place in its list.
    passing: Vec<[Option<Passing>; 2]>,
    /// The arc length at each node of each yarn.
    arcs: Vec<Vec<ArcLength>>,
    free: Vec<f64>,
}

/// A yarn at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passing {
    /// The yarn, by its place in [`Patch::yarns`].
    pub yarn: usize,
    /// The place of the node on the yarn.
    pub place: usize,
}

/// A piece of a yarn between two neighbours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) yarn: usize,
    pub(crate) nodes: [u32; 2],
    pub(crate) arcs: [ArcLength; 2],
    /// Material at rest, m.
    pub(crate) length: f64,
}

/// Sine of the angle below which two yarns count as parallel.
const PARALLEL: f64 = 0.1;

impl Patch {
    /// A patch of these yarns. `x` are the positions of the nodes at rest, by which angles between
    /// yarns are known; `over` says of each node whether the warp yarn is on top.
    ///
    /// # Errors
    /// [`PatchError`] with the yarn and the crossing.
    pub fn new(
        x: Vec<DVec3>,
        yarns: Vec<Yarn>,
        over: Vec<bool>,
        contacts: Contacts,
    ) -> Result<Self, PatchError> {
        contacts.check()?;
        if x.is_empty() {
            return Err(PatchError::Empty);
        }
        if over.len() != x.len() {
            return Err(PatchError::Sides { expected: x.len(), found: over.len() });
        }
        if let Some((node, at)) = x.iter().enumerate().find(|(_, at)| !at.is_finite()) {
            return Err(PatchError::NotFinite { node: node as u32, value: at.to_array() });
        }
        let mut passing = vec![[None; 2]; x.len()];
        for (index, yarn) in yarns.iter().enumerate() {
            check_yarn(yarn, x.len())?;
            let side = side(yarn.family);
            for (place, &node) in yarn.nodes.iter().enumerate() {
                let slot: &mut Option<Passing> = &mut passing[node as usize][side];
                if let Some(other) = slot {
                    let first: &Yarn = &yarns[other.yarn];
                    return Err(PatchError::Crowded { node, first: first.name(), second: yarn.name() });
                }
                *slot = Some(Passing { yarn: index, place });
            }
        }
        if let Some(node) = passing.iter().position(|both| both.iter().all(Option::is_none)) {
            return Err(PatchError::LooseNode { node: node as u32 });
        }
        let mut patch = Self { x, yarns, contacts, over, passing, arcs: Vec::new(), free: Vec::new() };
        patch.number_arcs();
        patch.check_spacing()?;
        Ok(patch)
    }

    /// Gives every arc length that may change a number: node by node, so that what is close in
    /// space is close in number.
    fn number_arcs(&mut self) {
        let held = |yarn: &Yarn| yarn.lengths.iter().map(|l| ArcLength::Held(*l)).collect();
        self.arcs = self.yarns.iter().map(held).collect();
        for node in 0..self.x.len() {
            let [Some(warp), Some(weft)] = self.passing[node] else { continue };
            let (a, b) = (self.direction(&self.x, warp), self.direction(&self.x, weft));
            if a.cross(b).length() < PARALLEL {
                continue;
            }
            for at in [warp, weft] {
                let yarn = &self.yarns[at.yarn];
                if at.place > 0 && at.place + 1 < yarn.nodes.len() {
                    self.arcs[at.yarn][at.place] = ArcLength::Free(self.free.len() as u32);
                    self.free.push(yarn.lengths[at.place]);
                }
            }
        }
    }

    fn check_spacing(&self) -> Result<(), PatchError> {
        for segment in self.segments() {
            let needed = self.needed(&segment);
            // The spacing of a generated patch has rounding errors.
            if segment.length < needed * (1.0 - 1e-9) {
                let yarn = self.yarns[segment.yarn].name();
                let crossing = self.crossing_name(segment.nodes[0]);
                return Err(PatchError::Overlap { yarn, crossing, spacing: segment.length, needed });
            }
        }
        Ok(())
    }

    /// Material that the yarns at the ends of a segment need on it, m: the sum of their radii; zero
    /// where no yarn crosses.
    pub(crate) fn needed(&self, segment: &Segment) -> f64 {
        let family = self.yarns[segment.yarn].family;
        let other = 1 - side(family);
        let radius = |node: u32| {
            self.passing[node as usize][other].map_or(0.0, |at| self.yarns[at.yarn].material.radius)
        };
        radius(segment.nodes[0]) + radius(segment.nodes[1])
    }

    /// Number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Whether there is no node.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// Positions at rest, m.
    #[must_use]
    pub fn rest(&self) -> &[DVec3] {
        &self.x
    }

    /// The yarns.
    #[must_use]
    pub fn yarns(&self) -> &[Yarn] {
        &self.yarns
    }

    /// What happens between yarns.
    #[must_use]
    pub fn contacts(&self) -> &Contacts {
        &self.contacts
    }

    /// Whether the warp yarn is on top at a node.
    #[must_use]
    pub fn warp_is_over(&self, node: u32) -> bool {
        self.over[node as usize]
    }

    /// The warp yarn and the weft yarn at a node.
    #[must_use]
    pub fn at_node(&self, node: u32) -> [Option<Passing>; 2] {
        self.passing[node as usize]
    }

    /// Whether two yarns cross at a node.
    #[must_use]
    pub fn is_crossing(&self, node: u32) -> bool {
        self.passing[node as usize].iter().all(Option::is_some)
    }

    /// Arc lengths that may change, at rest, m.
    #[must_use]
    pub fn free_lengths(&self) -> &[f64] {
        &self.free
    }

    /// The arc length of a yarn at a place on it.
    #[must_use]
    pub fn arc(&self, at: Passing) -> ArcLength {
        self.arcs[at.yarn][at.place]
    }

    /// Its value in metres; `own` are the values of those that may change.
    ///
    /// # Panics
    /// If `own` has fewer values than [`Self::free_lengths`].
    #[must_use]
    pub fn arc_length(&self, at: Passing, own: &[f64]) -> f64 {
        match self.arc(at) {
            ArcLength::Free(k) => own[k as usize],
            ArcLength::Held(value) => value,
        }
    }

    /// Name of a node in messages: `the crossing of warp 3 and weft 5`, `node 7 of warp 3`.
    #[must_use]
    pub fn crossing_name(&self, node: u32) -> String {
        match self.passing[node as usize] {
            [Some(warp), Some(weft)] => format!(
                "the crossing of {} and {}",
                self.yarns[warp.yarn].name(),
                self.yarns[weft.yarn].name()
            ),
            [Some(at), None] | [None, Some(at)] => {
                format!("node {} of {}", at.place, self.yarns[at.yarn].name())
            }
            [None, None] => format!("node {node}"),
        }
    }

    /// The pieces of all yarns.
    pub(crate) fn segments(&self) -> impl Iterator<Item = Segment> + '_ {
        self.yarns.iter().enumerate().flat_map(move |(yarn, of)| {
            (1..of.nodes.len()).map(move |k| Segment {
                yarn,
                nodes: [of.nodes[k - 1], of.nodes[k]],
                arcs: [self.arcs[yarn][k - 1], self.arcs[yarn][k]],
                length: of.lengths[k] - of.lengths[k - 1],
            })
        })
    }

    /// The neighbours of a node on a yarn; at an end the node itself.
    #[must_use]
    pub fn neighbours(&self, at: Passing) -> [u32; 2] {
        let nodes = &self.yarns[at.yarn].nodes;
        [nodes[at.place.saturating_sub(1)], nodes[(at.place + 1).min(nodes.len() - 1)]]
    }

    /// The direction of a yarn at a node, a unit vector; zero where its neighbours coincide.
    #[must_use]
    pub fn direction(&self, x: &[DVec3], at: Passing) -> DVec3 {
        let [before, after] = self.neighbours(at);
        (x[after as usize] - x[before as usize]).normalize_or_zero()
    }

    /// The normal of the cloth at a crossing; zero at other nodes and between parallel yarns.
    #[must_use]
    pub fn normal(&self, x: &[DVec3], node: u32) -> DVec3 {
        match self.passing[node as usize] {
            [Some(warp), Some(weft)] => {
                self.direction(x, warp).cross(self.direction(x, weft)).normalize_or_zero()
            }
            _ => DVec3::ZERO,
        }
    }

    /// Masses of the nodes, kg: half of the material at rest of each segment.
    #[must_use]
    pub fn masses(&self) -> Vec<f64> {
        let mut masses = vec![0.0; self.x.len()];
        for segment in self.segments() {
            let half = 0.5 * self.yarns[segment.yarn].material.density * segment.length;
            segment.nodes.into_iter().for_each(|node| masses[node as usize] += half);
        }
        masses
    }
}

/// Places of warp and weft in pairs.
pub(crate) fn side(family: Family) -> usize {
    match family {
        Family::Warp => 0,
        Family::Weft => 1,
    }
}

fn check_yarn(yarn: &Yarn, count: usize) -> Result<(), PatchError> {
    let name = yarn.name();
    yarn.material.check(&name)?;
    let (nodes, lengths) = (yarn.nodes.len(), yarn.lengths.len());
    if nodes < 2 {
        return Err(PatchError::Short { yarn: name, nodes });
    }
    if nodes != lengths {
        return Err(PatchError::Lengths { yarn: name, nodes, lengths });
    }
    if let Some(&node) = yarn.nodes.iter().find(|node| **node as usize >= count) {
        return Err(PatchError::NoNode { yarn: name, node, count });
    }
    for k in 1..nodes {
        let spacing = yarn.lengths[k] - yarn.lengths[k - 1];
        // Written so that NaN is refused.
        if !(spacing > 0.0 && spacing.is_finite()) {
            let crossing = format!("crossing {} on it", k - 1);
            return Err(PatchError::Spacing { yarn: name, crossing, spacing });
        }
    }
    Ok(())
}
