//! A term of elements whose unknowns are positions and numbers of their own.

use glam::DVec3;
use plisse_core::{MixedBlocks, MixedElement, Psd, StepEnergy};
use plisse_sparse::Sink;
use plisse_sparse::parallel::{fill, is_serial, sum_in_chunks};

use crate::error::SetupError;
use crate::pose::Pose;
use crate::term::{Gradient, OwnUnknown, Term, Unknown};

/// The sum of [elements](MixedElement) with unknowns of their own, which become those of the term.
///
/// The bits are the same for any number of threads.
#[derive(Clone, Debug)]
pub struct MixedTerm<E, const V: usize, const O: usize> {
    name: String,
    elements: Vec<E>,
    /// What elements call their own, in their numbering.
    numbers: Vec<Number>,
    unknowns: Vec<OwnUnknown>,
}

/// A number that elements depend on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    /// An unknown, by its place among those of the term.
    Free(u32),
    /// Given.
    Held(f64),
}

impl<E: MixedElement<V, O>, const V: usize, const O: usize> MixedTerm<E, V, O> {
    /// The sum of `elements`, with an unknown for each number that they refer to.
    #[must_use]
    pub fn new(name: impl Into<String>, elements: Vec<E>, unknowns: Vec<OwnUnknown>) -> Self {
        let numbers = (0..unknowns.len() as u32).map(Number::Free).collect();
        Self { name: name.into(), elements, numbers, unknowns }
    }

    /// With some of the numbers held at a value: those for which `value` gives one.
    #[must_use]
    pub fn holding(mut self, value: impl Fn(usize) -> Option<f64>) -> Self {
        let mut free = Vec::new();
        for (i, number) in self.numbers.iter_mut().enumerate() {
            if let Some(value) = value(i) {
                *number = Number::Held(value);
            } else if let Number::Free(old) = *number {
                *number = Number::Free(free.len() as u32);
                free.push(self.unknowns[old as usize]);
            }
        }
        self.unknowns = free;
        self
    }

    /// The elements.
    #[must_use]
    pub fn elements(&self) -> &[E] {
        &self.elements
    }

    /// The value of a number of the elements, by its place in their numbering: unknowns from the
    /// term's own.
    #[must_use]
    pub fn value(&self, number: usize, own: &[f64]) -> f64 {
        match self.numbers[number] {
            Number::Free(k) => own[k as usize],
            Number::Held(value) => value,
        }
    }

    fn arguments(&self, element: &E, pose: &Pose<'_, E::Space>) -> ([DVec3; V], [f64; O]) {
        let own = element.own().map(|number| self.value(number as usize, pose.own));
        (pose.gather(element.nodes()), own)
    }

    fn energy_of(&self, element: &E, pose: &Pose<'_, E::Space>) -> f64 {
        let (x, own) = self.arguments(element, pose);
        element.energy(&x, &own)
    }

    fn gradient_of(&self, element: &E, pose: &Pose<'_, E::Space>) -> ([DVec3; V], [f64; O]) {
        let (x, own) = self.arguments(element, pose);
        element.gradient(&x, &own)
    }

    fn add(&self, element: &E, (forces, moments): ([DVec3; V], [f64; O]), to: &mut Gradient<'_, E::Space>) {
        for (node, force) in element.nodes().into_iter().zip(forces) {
            to.nodes[node] += force;
        }
        for (number, moment) in element.own().into_iter().zip(moments) {
            if let Number::Free(k) = self.numbers[number as usize] {
                to.own[k as usize] += moment;
            }
        }
    }

    fn unknown(&self, number: u32) -> Unknown<E::Space> {
        match self.numbers[number as usize] {
            Number::Free(k) => Unknown::Own(k),
            Number::Held(_) => Unknown::Held,
        }
    }
}

impl<E: MixedElement<V, O>, const V: usize, const O: usize> Term<E::Space> for MixedTerm<E, V, O> {
    fn name(&self) -> &str {
        &self.name
    }

    fn own(&self) -> Vec<OwnUnknown> {
        self.unknowns.clone()
    }

    fn check(&self, _: usize) -> Result<(), SetupError> {
        let count = self.numbers.len();
        let mut numbers = self.elements.iter().flat_map(MixedElement::own);
        match numbers.find(|number| *number as usize >= count) {
            None => Ok(()),
            Some(number) => {
                let node = format!("number {number} of its elements");
                Err(SetupError::NodeOutOfRange { term: self.name.clone(), node, count })
            }
        }
    }

    fn pattern(&self, pair: &mut dyn FnMut(Unknown<E::Space>, Unknown<E::Space>)) {
        for element in &self.elements {
            let (nodes, own) = (element.nodes(), element.own().map(|number| self.unknown(number)));
            for a in 0..V {
                for b in 0..=a {
                    pair(nodes[a].into(), nodes[b].into());
                }
            }
            for a in 0..O {
                for node in nodes {
                    pair(own[a], node.into());
                }
                for other in &own[..=a] {
                    pair(own[a], *other);
                }
            }
        }
    }

    fn energy(&self, pose: &Pose<'_, E::Space>) -> f64 {
        sum_in_chunks(&self.elements, |(_, element)| self.energy_of(element, pose))
    }

    fn add_gradient(&self, pose: &Pose<'_, E::Space>, gradient: &mut Gradient<'_, E::Space>) {
        if is_serial(self.elements.len()) {
            for element in &self.elements {
                self.add(element, self.gradient_of(element, pose), gradient);
            }
            return;
        }
        // Sums over nodes and over own unknowns have different owners: evaluate each element once,
        // then add in order.
        let mut all = Vec::new();
        fill(&self.elements, &mut all, |element| self.gradient_of(element, pose));
        for (element, one) in self.elements.iter().zip(all) {
            self.add(element, one, gradient);
        }
    }

    fn energy_and_add_gradient(
        &self,
        pose: &Pose<'_, E::Space>,
        gradient: &mut Gradient<'_, E::Space>,
    ) -> StepEnergy {
        self.add_gradient(pose, gradient);
        StepEnergy::of_storage(self.energy(pose))
    }

    fn add_hessian(&self, pose: &Pose<'_, E::Space>, psd: Psd, sink: &mut Sink<'_>) {
        let pairs = V * (V + 1) / 2 + O * V + O * (O + 1) / 2;
        sink.for_each(pairs, |i, part| {
            let (x, own) = self.arguments(&self.elements[i], pose);
            let MixedBlocks { nodes, mixed, own } = self.elements[i].hessian(&x, &own, psd);
            part.add_lower(&nodes.0);
            let mut index = V * (V + 1) / 2;
            for a in 0..O {
                for row in mixed[a] {
                    part.add_block(index, &row.to_array().map(|value| [value]));
                    index += 1;
                }
                for value in &own[a][..=a] {
                    part.add_block(index, &[[*value]]);
                    index += 1;
                }
            }
        });
    }

    fn longest_step(&self, pose: &Pose<'_, E::Space>, to: &Pose<'_, E::Space>) -> f64 {
        let longest = |element: &E| {
            let ((x, own), (x_to, own_to)) = (self.arguments(element, pose), self.arguments(element, to));
            element.longest_step(&x, &own, &x_to, &own_to)
        };
        self.elements.iter().map(longest).fold(f64::INFINITY, f64::min)
    }
}
