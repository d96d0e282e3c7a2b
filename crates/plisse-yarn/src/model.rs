//! A patch as terms of a system.

use std::f64::consts::FRAC_PI_2;
use std::sync::Arc;

use glam::DVec3;
use plisse_core::{Field, Id, Positive, Vertices};
use plisse_system::{ElementTerm, OwnUnknown, Role, Term};

use crate::bend::Bend;
use crate::element::ArcLength;
use crate::friction::{FrictionTerm, Pulls, Rub};
use crate::gravity::Weight;
use crate::inertia::SegmentInertia;
use crate::jam::Jam;
use crate::patch::{Passing, Patch, Segment, side};
use crate::shear::Corner;
use crate::stretch::Stretch;
use crate::term::{Own, YarnTerm};

/// A patch that moves: makes the terms of a [`System`](plisse_system::System) with the masses of
/// [`Patch::masses`]. Steps are backward Euler.
///
/// The arc lengths that may change are the first own unknowns of its terms, then with friction the
/// anchors, one for each arc length.
///
/// ```
/// use glam::DVec3;
/// use plisse_core::{Field, Id, Positive};
/// use plisse_system::{Implicit, Integrator, NewtonSettings, Scheme, State, System};
/// use plisse_yarn::{Woven, YarnModel};
///
/// let model = YarnModel::new(Woven { counts: [5, 5], ..Woven::default() }.patch()?);
/// let mut builder = System::builder(Field::from_vec(model.patch().masses()));
/// for term in model.terms(DVec3::new(0.0, 0.0, -9.81), DVec3::ZERO) {
///     builder = builder.boxed_term(term);
/// }
/// let system = builder.pin(Id::new(0)).pin(Id::new(4)).build()?;
/// let mut state = State::at_rest(Field::from_vec(model.patch().rest().to_vec()))?;
/// let mut implicit = Implicit::new(&system, Scheme::BackwardEuler, NewtonSettings::default())?;
/// implicit.step(&system, &mut state, Positive::literal(1e-3))?;
/// assert!(state.x()[Id::new(24)].z < 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct YarnModel {
    patch: Arc<Patch>,
    name: String,
    first: u32,
}

/// Something that happened to a yarn and that a run should tell.
#[derive(Clone, Debug, PartialEq)]
pub struct YarnEvent {
    /// The yarn.
    pub yarn: String,
    /// The crossing.
    pub crossing: String,
    /// Material that is left between the crossing and the end of the yarn, m.
    pub left: f64,
}

impl std::fmt::Display for YarnEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { yarn, crossing, left } = self;
        write!(f, "{crossing} has reached the end of {yarn}: {left:.2e} m are left, and it stays there")
    }
}

impl YarnModel {
    /// A model of a patch whose nodes are the vertices of the system from zero on.
    #[must_use]
    pub fn new(patch: Patch) -> Self {
        Self { patch: Arc::new(patch), name: "yarn".to_owned(), first: 0 }
    }

    /// With another name: that before the colon in the names of its terms.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// With its nodes from this vertex on.
    #[must_use]
    pub fn starting_at(self, first: Id<Vertices>) -> Self {
        Self { first: first.get(), ..self }
    }

    /// The patch.
    #[must_use]
    pub fn patch(&self) -> &Arc<Patch> {
        &self.patch
    }

    /// Number of own unknowns of its terms: arc lengths and anchors.
    #[must_use]
    pub fn own_count(&self) -> usize {
        let free = self.patch.free_lengths().len();
        if self.rubs() { 2 * free } else { free }
    }

    /// Name of the term that brings the arc lengths and anchors along.
    #[must_use]
    pub fn owner(&self) -> String {
        self.term_name("inertia")
    }

    fn rubs(&self) -> bool {
        self.patch.contacts().friction > 0.0
    }

    fn id(&self, node: u32) -> Id<Vertices> {
        Id::new(self.first + node)
    }

    fn term_name(&self, what: &str) -> String {
        format!("{}: {what}", self.name)
    }

    /// The terms, in an order that must be kept: the first brings the arc lengths along. The
    /// potential of gravity (m/s²) is zero at `origin`.
    #[must_use]
    pub fn terms(&self, gravity: DVec3, origin: DVec3) -> Vec<Box<dyn Term<Vertices>>> {
        let owner = self.owner();
        let shares = || Own::Shares(owner.clone());
        let mut terms: Vec<Box<dyn Term<Vertices>>> = Vec::new();
        let inertia = self.inertia();
        terms.push(Box::new(YarnTerm::new(owner.clone(), Role::Inertial, inertia, Own::Brings(self.own()))));
        let pulls = self.pulls();
        let stretches = pulls.iter().flat_map(|family| family.stretches.iter().copied()).collect();
        terms.push(Box::new(YarnTerm::new(self.term_name("stretch"), Role::Elastic, stretches, shares())));
        let bends: Vec<Bend> = pulls.iter().flat_map(|family| family.bends.iter().copied()).collect();
        if !bends.is_empty() {
            terms.push(Box::new(YarnTerm::new(self.term_name("bending"), Role::Elastic, bends, shares())));
        }
        let corners = self.corners();
        if !corners.is_empty() {
            terms.push(Box::new(ElementTerm::new(self.term_name("shear"), corners)));
        }
        terms.push(Box::new(YarnTerm::new(self.term_name("jamming"), Role::Elastic, self.jams(), shares())));
        if self.rubs() {
            let contacts = self.patch.contacts();
            terms.push(Box::new(FrictionTerm {
                name: self.term_name("friction"),
                owner: owner.clone(),
                rubs: self.crossings(),
                pulls,
                friction: contacts.friction,
                stick: contacts.stick,
                press: contacts.press,
                anchors: self.patch.free_lengths().len() as u32,
            }));
        }
        if gravity != DVec3::ZERO {
            let weights = self.weights(gravity, origin);
            terms.push(Box::new(YarnTerm::new(self.term_name("gravity"), Role::External, weights, shares())));
        }
        terms
    }

    /// Arc lengths, then anchors. A metre of material moves a yarn by a metre.
    fn own(&self) -> Vec<OwnUnknown> {
        let free = self.patch.free_lengths();
        let twice = if self.rubs() { free } else { &[] };
        free.iter().chain(twice).map(|start| OwnUnknown { start: *start, arm: 1.0 }).collect()
    }

    fn ends(&self, segment: &Segment) -> [Id<Vertices>; 2] {
        segment.nodes.map(|node| self.id(node))
    }

    /// The inertia of all segments, in the order of the yarns.
    #[must_use]
    pub fn inertia(&self) -> Vec<SegmentInertia> {
        let one = |segment: Segment| {
            let density = self.patch.yarns()[segment.yarn].material.density;
            let lumped = 0.5 * density * segment.length;
            SegmentInertia::new(self.ends(&segment), segment.arcs, checked(density), lumped)
        };
        self.patch.segments().map(one).collect()
    }

    /// The weights of all segments.
    #[must_use]
    pub fn weights(&self, gravity: DVec3, origin: DVec3) -> Vec<Weight> {
        let one = |segment: Segment| {
            let density = checked(self.patch.yarns()[segment.yarn].material.density);
            Weight::new(self.ends(&segment), segment.arcs, density, gravity, origin)
        };
        self.patch.segments().map(one).collect()
    }

    /// The stretch of all segments.
    #[must_use]
    pub fn stretches(&self) -> Vec<Stretch> {
        self.patch.segments().map(|segment| self.stretch(&segment)).collect()
    }

    fn stretch(&self, segment: &Segment) -> Stretch {
        let material = &self.patch.yarns()[segment.yarn].material;
        Stretch::new(self.ends(segment), segment.arcs, checked(material.stretch), material.stretch_damping)
    }

    /// The bending at all inner nodes of yarns that resist it.
    #[must_use]
    pub fn bends(&self) -> Vec<Bend> {
        (0..self.patch.yarns().len()).flat_map(|yarn| self.bends_of(yarn)).collect()
    }

    fn bends_of(&self, index: usize) -> Vec<Bend> {
        let yarn = &self.patch.yarns()[index];
        let Ok(stiffness) = Positive::new(yarn.material.bending) else { return Vec::new() };
        let one = |place: usize| {
            let nodes = [place - 1, place, place + 1].map(|k| self.id(yarn.nodes[k]));
            let arcs = [place - 1, place + 1].map(|place| self.patch.arc(Passing { yarn: index, place }));
            Bend::new(nodes, arcs, stiffness, yarn.material.bending_damping)
        };
        (1..yarn.nodes.len() - 1).map(one).collect()
    }

    /// Stretch and bending of warp and of weft.
    fn pulls(&self) -> [Pulls; 2] {
        let mut pulls = [Pulls::default(), Pulls::default()];
        for segment in self.patch.segments() {
            let family = side(self.patch.yarns()[segment.yarn].family);
            pulls[family].stretches.push(self.stretch(&segment));
        }
        for (index, yarn) in self.patch.yarns().iter().enumerate() {
            pulls[side(yarn.family)].bends.extend(self.bends_of(index));
        }
        pulls
    }

    /// The corners of all crossings, up to four for each, which share its stiffness.
    #[must_use]
    pub fn corners(&self) -> Vec<Corner> {
        let Ok(stiffness) = Positive::new(0.25 * self.patch.contacts().shear) else { return Vec::new() };
        let rest = self.patch.rest();
        let mut corners = Vec::new();
        for node in 0..self.patch.len() as u32 {
            let [Some(warp), Some(weft)] = self.patch.at_node(node) else { continue };
            for a in self.patch.neighbours(warp).into_iter().filter(|a| *a != node) {
                for b in self.patch.neighbours(weft).into_iter().filter(|b| *b != node) {
                    let at = |k: u32| rest[k as usize];
                    let (e0, e1) = (at(a) - at(node), at(b) - at(node));
                    let angle =
                        if e0.length() * e1.length() > 0.0 { e0.angle_between(e1) } else { FRAC_PI_2 };
                    corners.push(Corner::new([node, a, b].map(|k| self.id(k)), angle, stiffness));
                }
            }
        }
        corners
    }

    /// The jamming of all segments whose material may change.
    #[must_use]
    pub fn jams(&self) -> Vec<Jam> {
        let stiffness = checked(self.patch.contacts().jamming);
        let one = |segment: Segment| {
            let is_held = segment.arcs.iter().all(|arc| matches!(arc, ArcLength::Held(_)));
            let distance = Positive::new(self.patch.needed(&segment)).ok().filter(|_| !is_held)?;
            Some(Jam::new(segment.arcs, distance, stiffness))
        };
        self.patch.segments().filter_map(one).collect()
    }

    /// Crossings where something can slide.
    fn crossings(&self) -> Vec<Rub> {
        let one = |node: u32| {
            let [Some(warp), Some(weft)] = self.patch.at_node(node) else { return None };
            let arcs = [warp, weft].map(|at| match self.patch.arc(at) {
                ArcLength::Free(k) => Some(k),
                ArcLength::Held(_) => None,
            });
            arcs.iter().any(Option::is_some).then(|| Rub {
                node: self.id(node),
                neighbours: [warp, weft].map(|at| self.patch.neighbours(at).map(|k| self.id(k))),
                side: if self.patch.warp_is_over(node) { 1.0 } else { -1.0 },
                arcs,
            })
        };
        (0..self.patch.len() as u32).filter_map(one).collect()
    }

    /// The largest friction of each crossing where something can slide, with its node, in newtons;
    /// empty without friction.
    #[must_use]
    pub fn friction_limits(&self, x: &Field<Vertices, DVec3>, own: &[f64]) -> Vec<(Id<Vertices>, f64)> {
        if !self.rubs() {
            return Vec::new();
        }
        let contacts = self.patch.contacts();
        let term = FrictionTerm {
            name: String::new(),
            owner: String::new(),
            rubs: self.crossings(),
            pulls: self.pulls(),
            friction: contacts.friction,
            stick: contacts.stick,
            press: contacts.press,
            anchors: 0,
        };
        let limits = term.limits(x, own);
        term.rubs.iter().map(|rub| rub.node).zip(limits).collect()
    }

    /// Crossings that have come to the end of a yarn: within the radius of the other yarn. They
    /// stay there, held as by a knot.
    #[must_use]
    pub fn events(&self, own: &[f64]) -> Vec<YarnEvent> {
        let mut events = Vec::new();
        for (index, yarn) in self.patch.yarns().iter().enumerate() {
            let last = yarn.nodes.len() - 1;
            for [end, place] in [[0, 1], [last, last - 1]] {
                if self.patch.is_crossing(yarn.nodes[end]) || !self.patch.is_crossing(yarn.nodes[place]) {
                    continue;
                }
                let length = |place| self.patch.arc_length(Passing { yarn: index, place }, own);
                let left = (length(end) - length(place)).abs();
                let other = self.patch.at_node(yarn.nodes[place])[1 - side(yarn.family)];
                let radius = other.map_or(0.0, |at| self.patch.yarns()[at.yarn].material.radius);
                if left < radius {
                    let crossing = self.patch.crossing_name(yarn.nodes[place]);
                    events.push(YarnEvent { yarn: yarn.name(), crossing, left });
                }
            }
        }
        events
    }
}

/// A number that the patch has checked.
fn checked(value: f64) -> Positive {
    #[expect(clippy::expect_used, reason = "patches refuse other numbers")]
    Positive::new(value).expect("a number that the patch has checked")
}
