//! Masses, terms and pins, with the pattern of their Hessian.

use std::ops::Range;
use std::sync::Arc;

use glam::DVec3;
use plisse_core::{Field, Id, Psd, Space};
use plisse_sparse::{BlockMatrix, Layout, Pattern, Sink, Slot};

use crate::error::SetupError;
use crate::parts::Parts;
use crate::pins::{Motion, Pin, Pins};
use crate::pose::{Inertia, Pose, StepMap};
use crate::state::State;
use crate::term::{Gradient, OwnUnknown, RankOne, Role, Term, Unknown};

/// Everything that determines the motion: masses, energy terms, pins. Frozen once built.
///
/// Unknowns are the nodes that are not held by a pin, with three numbers each, then those that
/// terms bring along ([`Term::own`]), with one. Every block that a term will add to the Hessian at
/// all poses has its place computed in advance.
pub struct System<S: Space> {
    mass: Option<Field<S, f64>>,
    size: usize,
    terms: Vec<TermEntry<S>>,
    pins: Pins<S>,
    pattern: Arc<Pattern>,
    own: Vec<Own>,
    /// Values at the start, as a pose wants them.
    start: Vec<f64>,
    parts: Parts,
}

struct TermEntry<S: Space> {
    term: Box<dyn Term<S>>,
    slots: Vec<Slot>,
    /// Its unknowns among those of all terms.
    own: Range<usize>,
}

/// An unknown of a term, as the system sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Own {
    /// Metres per unit.
    pub(crate) arm: f64,
    /// Mean mass of the nodes that it acts on, held ones included; one without masses.
    pub(crate) mass: f64,
}

impl Own {
    /// What resists a change by one unit, kg m² for an angle.
    pub(crate) fn inertia(&self) -> f64 {
        self.mass * self.arm * self.arm
    }

    /// Force per mass, in m/s², that the derivative by this unknown counts as: divided by this.
    pub(crate) fn weight(&self) -> f64 {
        self.mass * self.arm
    }
}

/// Collects the parts of a [`System`]; [`SystemBuilder::build`] checks them.
pub struct SystemBuilder<S: Space> {
    mass: Option<Field<S, f64>>,
    size: usize,
    terms: Vec<Box<dyn Term<S>>>,
    pins: Vec<(Id<S>, Pin)>,
    terms_hold: bool,
}

impl<S: Space> SystemBuilder<S> {
    /// Adds a term.
    #[must_use]
    pub fn term(mut self, term: impl Term<S> + 'static) -> Self {
        self.terms.push(Box::new(term));
        self
    }

    /// Adds a term chosen at run time.
    #[must_use]
    pub fn boxed_term(mut self, term: Box<dyn Term<S>>) -> Self {
        self.terms.push(term);
        self
    }

    /// Prescribes something for a node.
    #[must_use]
    pub fn constrain(mut self, node: Id<S>, pin: Pin) -> Self {
        self.pins.push((node, pin));
        self
    }

    /// Holds a node where the state has it.
    #[must_use]
    pub fn pin(self, node: Id<S>) -> Self {
        self.constrain(node, Pin::Still)
    }

    /// Holds several nodes where the state has them.
    #[must_use]
    pub fn pins(mut self, nodes: impl IntoIterator<Item = Id<S>>) -> Self {
        self.pins.extend(nodes.into_iter().map(|node| (node, Pin::Still)));
        self
    }

    /// Moves a node along a path, position by time.
    #[must_use]
    pub fn move_pin(self, node: Id<S>, motion: impl Fn(f64) -> DVec3 + Send + Sync + 'static) -> Self {
        self.constrain(node, Pin::Moving(Arc::new(motion)))
    }

    /// Says that terms hold the system, obstacles for instance: without masses it then needs no
    /// pins.
    #[must_use]
    pub fn held_by_terms(self) -> Self {
        Self { terms_hold: true, ..self }
    }

    /// Checks everything and freezes the pattern.
    pub fn build(self) -> Result<System<S>, SetupError> {
        let Self { mass, size, terms, pins, terms_hold } = self;
        let pins = Pins::new(size, &pins)?;
        match &mass {
            Some(mass) => check_masses(mass, &pins)?,
            None if !pins.any() && !terms_hold => return Err(SetupError::NothingHolds { space: S::NAME }),
            None => {}
        }
        for (index, term) in terms.iter().enumerate() {
            if terms[..index].iter().any(|other| other.name() == term.name()) {
                return Err(SetupError::DuplicateTerm { name: term.name().to_owned() });
            }
            term.check(size)?;
        }
        let brought: Vec<Vec<OwnUnknown>> = terms.iter().map(|term| term.own()).collect();
        let mut ranges = Vec::with_capacity(terms.len());
        let mut first = 0;
        for (index, (term, own)) in terms.iter().zip(&brought).enumerate() {
            check_own(term.name(), own)?;
            if let Some(name) = term.shares_own() {
                ranges.push(shared_range(name, &**term, &terms[..index], &ranges)?);
                continue;
            }
            ranges.push(first..first + own.len());
            first += own.len();
        }
        let numbering = Numbering { pins: &pins, size };
        let (mut pairs, mut counts) = (Vec::new(), Vec::new());
        let mut touched = Touched::new(first);
        for (term, own) in terms.iter().zip(&ranges) {
            let before = pairs.len();
            let mut missing = None;
            term.pattern(&mut |a, b| match numbering.pair(a, b, own) {
                Ok(pair) => {
                    touched.note(a, b, own, mass.as_ref());
                    pairs.push(pair);
                }
                Err(unknown) => {
                    missing.get_or_insert(unknown);
                }
            });
            if let Some(missing) = missing {
                return Err(outside(missing, term.name()));
            }
            counts.push(pairs.len() - before);
        }
        let nodes = pins.nodes().len();
        let layout = if first == 0 {
            Layout::vectors(nodes)
        } else {
            Layout::mixed((0..nodes).map(|_| 3).chain((0..first).map(|_| 1)))?
        };
        let pattern = Pattern::new(layout, pairs.iter().flatten().copied())?;
        let slot = |(i, j)| pattern.slot(i, j);
        let mut slots = pairs.into_iter().map(|pair| pair.and_then(slot).unwrap_or(Slot::NONE));
        let terms = terms.into_iter().zip(counts).zip(ranges);
        let terms = terms
            .map(|((term, count), own)| TermEntry { term, slots: slots.by_ref().take(count).collect(), own })
            .collect();
        let brought: Vec<OwnUnknown> = brought.into_iter().flatten().collect();
        let of = |(own, mass): (&OwnUnknown, f64)| Own { arm: own.arm, mass };
        let own: Vec<Own> = brought.iter().zip(touched.mean_masses()).map(of).collect();
        let start = brought.iter().map(|own| own.start).collect();
        let parts = Parts::new(&pattern, pins.nodes(), mass.as_ref(), &own);
        Ok(System { mass, size, terms, pins, pattern, own, start, parts })
    }
}

fn check_masses<S: Space>(mass: &Field<S, f64>, pins: &Pins<S>) -> Result<(), SetupError> {
    for (node, &m) in mass.iter() {
        if !(m >= 0.0 && m.is_finite()) {
            return Err(SetupError::BadMass { node: node.to_string(), mass: m });
        }
        if m == 0.0 && pins.unknown(node).is_some() {
            return Err(SetupError::ZeroMass { node: node.to_string() });
        }
    }
    Ok(())
}

fn check_own(term: &str, own: &[OwnUnknown]) -> Result<(), SetupError> {
    match own
        .iter()
        .enumerate()
        .find(|(_, own)| !(own.arm > 0.0 && own.arm.is_finite() && own.start.is_finite()))
    {
        None => Ok(()),
        Some((index, own)) => {
            Err(SetupError::BadOwnUnknown { term: term.to_owned(), index, start: own.start, arm: own.arm })
        }
    }
}

/// The unknowns of the term with this name, for one that shares them.
fn shared_range<S: Space>(
    name: &str,
    term: &dyn Term<S>,
    earlier: &[Box<dyn Term<S>>],
    ranges: &[Range<usize>],
) -> Result<Range<usize>, SetupError> {
    let owner = earlier.iter().position(|other| other.name() == name);
    match owner.filter(|_| term.own().is_empty()) {
        Some(owner) => Ok(ranges[owner].clone()),
        None => Err(SetupError::NothingToShare { term: term.name().to_owned(), with: name.to_owned() }),
    }
}

/// Numbers unknowns: nodes that may move, then what terms bring along.
struct Numbering<'a, S: Space> {
    pins: &'a Pins<S>,
    size: usize,
}

/// An unknown that does not exist, and how many there are.
type Outside<S> = (Unknown<S>, usize);

fn outside<S: Space>((unknown, count): Outside<S>, term: &str) -> SetupError {
    SetupError::NodeOutOfRange { term: term.to_owned(), node: format!("{unknown:?}"), count }
}

impl<S: Space> Numbering<'_, S> {
    /// The nodes of the pattern for two unknowns of a term whose own are in this range; none where
    /// a pin holds one.
    fn pair(
        &self,
        a: Unknown<S>,
        b: Unknown<S>,
        own: &Range<usize>,
    ) -> Result<Option<(u32, u32)>, Outside<S>> {
        Ok(self.unknown(a, own)?.zip(self.unknown(b, own)?))
    }

    fn unknown(&self, unknown: Unknown<S>, own: &Range<usize>) -> Result<Option<u32>, Outside<S>> {
        match unknown {
            Unknown::Node(node) if node.index() < self.size => Ok(self.pins.unknown(node)),
            Unknown::Node(_) => Err((unknown, self.size)),
            Unknown::Own(k) if (k as usize) < own.len() => {
                Ok(Some((self.pins.nodes().len() + own.start) as u32 + k))
            }
            Unknown::Own(_) => Err((unknown, own.len())),
            Unknown::Held => Ok(None),
        }
    }
}

/// Masses of the nodes that unknowns of terms act on.
struct Touched {
    sums: Vec<(f64, f64)>,
}

impl Touched {
    fn new(count: usize) -> Self {
        Self { sums: vec![(0.0, 0.0); count] }
    }

    fn note<S: Space>(
        &mut self,
        a: Unknown<S>,
        b: Unknown<S>,
        own: &Range<usize>,
        mass: Option<&Field<S, f64>>,
    ) {
        if let (Unknown::Node(node), Unknown::Own(k)) | (Unknown::Own(k), Unknown::Node(node)) = (a, b) {
            let (sum, count) = &mut self.sums[own.start + k as usize];
            *sum += mass.map_or(1.0, |mass| mass[node]);
            *count += 1.0;
        }
    }

    /// One where there is nothing.
    fn mean_masses(&self) -> impl Iterator<Item = f64> + '_ {
        self.sums.iter().map(|(sum, count)| if *sum > 0.0 { sum / count } else { 1.0 })
    }
}

/// Energy of one term.
#[derive(Clone, Debug, PartialEq)]
pub struct TermEnergy {
    /// Name of the term.
    pub name: String,
    /// How it counts.
    pub role: Role,
    /// Joules.
    pub energy: f64,
}

/// Energy that terms have taken from a motion and given to it: see [`System::dissipation`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dissipation {
    /// What has gone, J.
    pub dissipated: f64,
    /// What loads that depend on velocity have given, J.
    pub fed: f64,
}

impl<S: Space> System<S> {
    /// A system with these masses, in kilograms per node.
    #[must_use]
    pub fn builder(mass: Field<S, f64>) -> SystemBuilder<S> {
        let size = mass.len();
        SystemBuilder { mass: Some(mass), size, terms: Vec::new(), pins: Vec::new(), terms_hold: false }
    }

    /// A system without masses, for equilibria only.
    #[must_use]
    pub fn massless(size: usize) -> SystemBuilder<S> {
        SystemBuilder { mass: None, size, terms: Vec::new(), pins: Vec::new(), terms_hold: false }
    }

    /// Number of nodes, held ones included.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Masses in kilograms; none in a system for equilibria only.
    #[must_use]
    pub fn mass(&self) -> Option<&Field<S, f64>> {
        self.mass.as_ref()
    }

    /// The node of each unknown, ascending.
    #[must_use]
    pub fn unknowns(&self) -> &[Id<S>] {
        self.pins.nodes()
    }

    /// Whether a pin lets some node slide on a line or in a plane.
    #[must_use]
    pub fn has_sliding_pins(&self) -> bool {
        !self.pins.allowed().is_empty()
    }

    /// Linear momentum in kg m/s and angular momentum about the origin in kg m²/s; zero without
    /// masses.
    ///
    /// # Panics
    /// If the state has another number of nodes.
    #[must_use]
    pub fn momenta(&self, state: &State<S>) -> (DVec3, DVec3) {
        crate::integrator::momenta(self, state)
    }

    /// Whether a pin holds the node entirely.
    #[must_use]
    pub fn is_held(&self, node: Id<S>) -> bool {
        self.pins.unknown(node).is_none()
    }

    /// The terms.
    pub fn terms(&self) -> impl ExactSizeIterator<Item = &dyn Term<S>> {
        self.terms.iter().map(|entry| &*entry.term)
    }

    /// The pattern of the Hessian over the unknowns.
    #[must_use]
    pub fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    pub(crate) fn parts(&self) -> &Parts {
        &self.parts
    }

    pub(crate) fn pins(&self) -> &Pins<S> {
        &self.pins
    }

    pub(crate) fn moving(&self) -> impl Iterator<Item = (Id<S>, &Motion)> {
        self.pins.moving()
    }

    /// Where the unknowns that a term brings along, or shares, are among those of all terms
    /// ([`OwnState`](crate::OwnState)); none if there is no such term.
    #[must_use]
    pub fn own_range(&self, term: &str) -> Option<Range<usize>> {
        self.terms.iter().find(|entry| entry.term.name() == term).map(|entry| entry.own.clone())
    }

    /// Number of unknowns that terms bring along.
    #[must_use]
    pub fn own_count(&self) -> usize {
        self.own.len()
    }

    /// What terms bring along.
    pub(crate) fn own(&self) -> &[Own] {
        &self.own
    }

    /// The values of a state, or those at the start where it has none.
    pub(crate) fn own_values<'a>(&'a self, own: &'a [f64]) -> &'a [f64] {
        if own.len() == self.start.len() { own } else { &self.start }
    }

    /// A pose of the system as one of its terms sees it.
    pub(crate) fn seen_by<'a>(&'a self, term: usize, pose: &Pose<'a, S>) -> Pose<'a, S> {
        if self.own.is_empty() {
            return *pose;
        }
        let step = pose.step.map(|step| self.step_seen_by(term, &step));
        Pose { own: &self.own_values(pose.own)[self.own_of(term)], step, ..*pose }
    }

    /// A step of the system as one of its terms sees it.
    pub(crate) fn step_seen_by<'a>(&self, term: usize, step: &StepMap<'a, S>) -> StepMap<'a, S> {
        let range = self.own_of(term);
        let part = |own: &'a [f64]| own.get(range.clone()).unwrap_or_default();
        let of_term = |inertia: Inertia<'a, S>| Inertia { own_target: part(inertia.own_target), ..inertia };
        StepMap { own: part(step.own), inertia: step.inertia.map(of_term), ..*step }
    }

    /// The part of a vector over all terms' own unknowns that belongs to a term.
    pub(crate) fn own_of(&self, term: usize) -> Range<usize> {
        self.terms[term].own.clone()
    }

    /// A vector over the unknowns: what belongs to nodes, and what terms bring along.
    pub(crate) fn split<'a>(&self, vector: &'a [f64]) -> (&'a [DVec3], &'a [f64]) {
        let (nodes, own) = vector.split_at(3 * self.pins.nodes().len());
        (bytemuck::cast_slice(nodes), own)
    }

    /// [`Self::split`], to write.
    pub(crate) fn split_mut<'a>(&self, vector: &'a mut [f64]) -> (&'a mut [DVec3], &'a mut [f64]) {
        let (nodes, own) = vector.split_at_mut(3 * self.pins.nodes().len());
        (bytemuck::cast_slice_mut(nodes), own)
    }

    /// The terms, each with the pose as it sees it.
    pub(crate) fn at<'a>(
        &'a self,
        pose: &'a Pose<'a, S>,
    ) -> impl ExactSizeIterator<Item = (&'a dyn Term<S>, Pose<'a, S>)> {
        self.terms.iter().enumerate().map(|(i, entry)| (&*entry.term, self.seen_by(i, pose)))
    }

    /// A node on which no term acts and which may move.
    pub(crate) fn loose_node(&self) -> Option<Id<S>> {
        let mut touched = vec![false; self.size];
        for entry in &self.terms {
            entry.term.pattern(&mut |a, b| {
                for unknown in [a, b] {
                    if let Unknown::Node(node) = unknown {
                        touched[node.index()] = true;
                    }
                }
            });
        }
        self.pins.nodes().iter().copied().find(|node| !touched[node.index()])
    }

    /// Sum of the energies of all terms, in joules.
    #[must_use]
    pub fn energy(&self, pose: &Pose<'_, S>) -> f64 {
        self.at(pose).map(|(term, pose)| term.energy(&pose)).sum()
    }

    /// Energy of each term; at a pose inside of a step, the potentials that a solver minimises,
    /// damping included.
    #[must_use]
    pub fn energies(&self, pose: &Pose<'_, S>) -> Vec<TermEnergy> {
        let one = |(term, pose): (&dyn Term<S>, Pose<'_, S>)| TermEnergy {
            name: term.name().to_owned(),
            role: term.role(),
            energy: term.energy(&pose),
        };
        self.at(pose).map(one).collect()
    }

    /// Writes the derivative of the energy by every node, held ones included: there it is the force
    /// that the pin must supply. Newtons.
    pub fn gradient(&self, pose: &Pose<'_, S>, out: &mut Field<S, DVec3>) {
        self.add_gradients(pose, out, |_, _| {});
    }

    /// [`Self::energy`] and [`Self::gradient`] at once, with the same bits.
    pub fn energy_and_gradient(&self, pose: &Pose<'_, S>, out: &mut Field<S, DVec3>) -> f64 {
        out.as_mut_slice().fill(DVec3::ZERO);
        let mut own = vec![0.0; self.own.len()];
        let one = |(i, (term, pose)): (usize, (&dyn Term<S>, Pose<'_, S>))| {
            let own = &mut own[self.own_of(i)];
            term.energy_and_add_gradient(&pose, &mut Gradient { nodes: out, own }).potential
        };
        self.at(pose).enumerate().map(one).sum()
    }

    /// What terms have dissipated on the way of a step, and what those that [drive](Term::drives),
    /// such as wind, have fed into the motion, each on the whole: never negative. J.
    #[must_use]
    pub fn dissipation(&self, pose: &Pose<'_, S>) -> Dissipation {
        let mut nodes = Field::filled(self.size, DVec3::ZERO);
        let mut out = Dissipation::default();
        for (i, (term, pose)) in self.at(pose).enumerate() {
            let own = &mut vec![0.0; self.own_of(i).len()];
            let part = term.energy_and_add_gradient(&pose, &mut Gradient { nodes: &mut nodes, own });
            let fed = if term.drives() { (-part.dissipated).max(0.0) } else { 0.0 };
            out.dissipated += part.dissipated + fed;
            out.fed += fed;
        }
        out
    }

    /// The derivative of the energy by what terms bring along, one after the other.
    #[must_use]
    pub fn own_gradient(&self, pose: &Pose<'_, S>) -> Vec<f64> {
        let mut out = vec![0.0; self.own.len()];
        let mut nodes = Field::filled(self.size, DVec3::ZERO);
        self.add_gradients(pose, &mut nodes, |i, own| {
            out[self.own_of(i)].iter_mut().zip(own).for_each(|(sum, part)| *sum += part);
        });
        out
    }

    fn add_gradients(
        &self,
        pose: &Pose<'_, S>,
        out: &mut Field<S, DVec3>,
        mut take: impl FnMut(usize, &[f64]),
    ) {
        out.as_mut_slice().fill(DVec3::ZERO);
        for (i, (term, pose)) in self.at(pose).enumerate() {
            let mut own = vec![0.0; self.own_of(i).len()];
            term.add_gradient(&pose, &mut Gradient { nodes: out, own: &mut own });
            take(i, &own);
        }
    }

    /// Writes the second derivatives over the unknowns, without dense parts and without the
    /// restriction of sliding nodes.
    ///
    /// `out` keeps its pattern if that has grown from [`Self::pattern`] and has room for the pairs
    /// of this pose ([`Term::pairs`]).
    ///
    /// # Panics
    /// If a term names a pair of unknowns that do not exist, or if there are too many pairs for
    /// 31-bit indices.
    pub fn hessian(&self, pose: &Pose<'_, S>, psd: Psd, out: &mut BlockMatrix) {
        self.hessian_with(|_| *pose, psd, out);
    }

    /// [`Self::hessian`] with a pose for each term, by its place among the terms: each can then
    /// have what it remembers of a step ([`StepMap::memory`](crate::StepMap::memory)).
    pub fn hessian_with<'a>(&self, pose: impl Fn(usize) -> Pose<'a, S>, psd: Psd, out: &mut BlockMatrix)
    where
        S: 'a,
    {
        let poses = |i| -> (Pose<'_, S>, Pose<'a, S>) {
            let whole = pose(i);
            (self.seen_by(i, &whole), whole)
        };
        let numbering = Numbering { pins: &self.pins, size: self.size };
        // Pairs of this pose, and the end of those of each term.
        let (mut pairs, mut ends) = (Vec::new(), Vec::with_capacity(self.terms.len()));
        for (i, entry) in self.terms.iter().enumerate() {
            entry.term.pairs(&poses(i).0, &mut |a, b| {
                pairs.push(numbering.pair(a, b, &entry.own).unwrap_or_else(|missing| {
                    panic!("{}", outside(missing, entry.term.name()));
                }));
            });
            ends.push(pairs.len());
        }
        #[expect(clippy::expect_used, reason = "such a matrix would not fit into memory")]
        let (pattern, slots) =
            self.pattern.with_slots_for(out.pattern(), &pairs).expect("room for the pairs");
        out.reset(&pattern);
        let mut first = 0;
        for (i, (entry, end)) in self.terms.iter().zip(ends).enumerate() {
            let pose = poses(i).0;
            if first == end {
                entry.term.add_hessian(&pose, psd, &mut Sink::new(out, &entry.slots));
            } else if entry.slots.is_empty() {
                entry.term.add_hessian(&pose, psd, &mut Sink::new(out, &slots[first..end]));
            } else {
                let slots = [&entry.slots, &slots[first..end]].concat();
                entry.term.add_hessian(&pose, psd, &mut Sink::new(out, &slots));
            }
            first = end;
        }
    }

    /// Removes directions that sliding nodes may not take from a vector over the unknowns.
    pub fn restrict(&self, vector: &mut [f64]) {
        self.pins.filter(self.split_mut(vector).0);
    }

    /// Removes them from the Hessian, with its mean diagonal in their place.
    pub fn restrict_matrix(&self, matrix: &mut BlockMatrix) {
        let allowed = self.pins.allowed();
        if !allowed.is_empty() {
            matrix.restrict(|node| allowed.get(node)?.as_ref().map(|p| p.as_ref() as &[f64]));
        }
    }

    /// The dense parts of the Hessian, over all nodes.
    #[must_use]
    pub fn rank_ones(&self, pose: &Pose<'_, S>) -> Vec<RankOne<S>> {
        let mut out = Vec::new();
        for (term, pose) in self.at(pose) {
            term.rank_ones(&pose, &mut out);
        }
        out
    }
}
