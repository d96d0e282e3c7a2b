//! Masses, terms and pins, with the frozen pattern of their Hessian.

use std::sync::Arc;

use glam::DVec3;
use plisse_core::{Field, Id, Psd, Space};
use plisse_sparse::{BlockMatrix, Layout, Pattern, Sink, Slot};

use crate::error::SetupError;
use crate::parts::Parts;
use crate::pins::{Motion, Pin, Pins};
use crate::pose::Pose;
use crate::term::{RankOne, Role, Term};

/// Everything that determines the motion: masses, energy terms, pins. Frozen once built.
///
/// Unknowns are the nodes that are not held by a pin. Every block that a term will add to the
/// Hessian has its place computed in advance.
pub struct System<S: Space> {
    mass: Option<Field<S, f64>>,
    size: usize,
    terms: Vec<TermEntry<S>>,
    pins: Pins<S>,
    pattern: Arc<Pattern>,
    parts: Parts,
}

struct TermEntry<S: Space> {
    term: Box<dyn Term<S>>,
    slots: Vec<Slot>,
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
        let mut pairs = Vec::new();
        let mut counts = Vec::new();
        for (index, term) in terms.iter().enumerate() {
            if terms[..index].iter().any(|other| other.name() == term.name()) {
                return Err(SetupError::DuplicateTerm { name: term.name().to_owned() });
            }
            term.check(size)?;
            let (mut count, mut outside) = (0usize, None);
            term.pattern(&mut |a, b| {
                count += 1;
                if let Some(node) = [a, b].into_iter().find(|node| node.index() >= size) {
                    outside.get_or_insert(node);
                } else {
                    pairs.push(pins.unknown(a).zip(pins.unknown(b)));
                }
            });
            if let Some(node) = outside {
                let term = term.name().to_owned();
                return Err(SetupError::NodeOutOfRange { term, node: node.to_string(), count: size });
            }
            counts.push(count);
        }
        let layout = Layout::vectors(pins.nodes().len());
        let pattern = Pattern::new(layout, pairs.iter().flatten().copied())?;
        let slot = |(i, j)| pattern.slot(i, j);
        let mut slots = pairs.into_iter().map(|pair| pair.and_then(slot).unwrap_or(Slot::NONE));
        let terms = terms.into_iter().zip(counts);
        let terms = terms
            .map(|(term, count)| TermEntry { term, slots: slots.by_ref().take(count).collect() })
            .collect();
        let parts = Parts::new(&pattern, pins.nodes(), mass.as_ref());
        Ok(System { mass, size, terms, pins, pattern, parts })
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

    /// A node on which no term acts and which may move.
    pub(crate) fn loose_node(&self) -> Option<Id<S>> {
        let mut touched = vec![false; self.size];
        for entry in &self.terms {
            entry.term.pattern(&mut |a, b| {
                touched[a.index()] = true;
                touched[b.index()] = true;
            });
        }
        self.pins.nodes().iter().copied().find(|node| !touched[node.index()])
    }

    /// Sum of the energies of all terms, in joules.
    #[must_use]
    pub fn energy(&self, pose: &Pose<'_, S>) -> f64 {
        self.terms().map(|term| term.energy(pose)).sum()
    }

    /// Energy of each term; at a pose inside of a step, the potentials that a solver minimises,
    /// damping included.
    #[must_use]
    pub fn energies(&self, pose: &Pose<'_, S>) -> Vec<TermEnergy> {
        let one = |term: &dyn Term<S>| TermEnergy {
            name: term.name().to_owned(),
            role: term.role(),
            energy: term.energy(pose),
        };
        self.terms().map(one).collect()
    }

    /// Writes the derivative of the energy by every node, held ones included: there it is the force
    /// that the pin must supply. Newtons.
    pub fn gradient(&self, pose: &Pose<'_, S>, out: &mut Field<S, DVec3>) {
        out.as_mut_slice().fill(DVec3::ZERO);
        for term in self.terms() {
            term.add_gradient(pose, out);
        }
    }

    /// [`Self::energy`] and [`Self::gradient`] at once, with the same bits.
    pub fn energy_and_gradient(&self, pose: &Pose<'_, S>, out: &mut Field<S, DVec3>) -> f64 {
        out.as_mut_slice().fill(DVec3::ZERO);
        self.terms().map(|term| term.energy_and_add_gradient(pose, out).potential).sum()
    }

    /// Writes the second derivatives over the unknowns, without dense parts and without the
    /// restriction of sliding nodes.
    pub fn hessian(&self, pose: &Pose<'_, S>, psd: Psd, out: &mut BlockMatrix) {
        self.hessian_with(|_| *pose, psd, out);
    }

    /// [`Self::hessian`] with a pose for each term, by its place among the terms: each can then
    /// have what it remembers of a step ([`StepMap::memory`](crate::StepMap::memory)).
    pub fn hessian_with<'a>(&self, pose: impl Fn(usize) -> Pose<'a, S>, psd: Psd, out: &mut BlockMatrix) {
        out.reset(&self.pattern);
        for (i, entry) in self.terms.iter().enumerate() {
            entry.term.add_hessian(&pose(i), psd, &mut Sink::new(out, &entry.slots));
        }
    }

    /// Removes directions that sliding nodes may not take from a vector over the unknowns.
    pub fn restrict(&self, vector: &mut [f64]) {
        self.pins.filter(bytemuck::cast_slice_mut(vector));
    }

    /// Removes them from the Hessian, with its mean diagonal in their place.
    pub fn restrict_matrix(&self, matrix: &mut BlockMatrix) {
        let allowed = self.pins.allowed();
        if !allowed.is_empty() {
            matrix.restrict(|node| allowed[node].as_ref().map(|p| p.as_ref() as &[f64]));
        }
    }

    /// The dense parts of the Hessian, over all nodes.
    #[must_use]
    pub fn rank_ones(&self, pose: &Pose<'_, S>) -> Vec<RankOne<S>> {
        let mut out = Vec::new();
        for term in self.terms() {
            term.rank_ones(pose, &mut out);
        }
        out
    }
}
