//! A term made of many equal elements, evaluated in parallel and summed in a fixed order.

use glam::DVec3;
use plisse_core::{ElementStep, Field, Id, Past, Psd, StepElement, StepEnergy};
use plisse_sparse::Sink;

use crate::memory::Memory;
use crate::pose::{Pose, StepMap};
use crate::sums;
use crate::term::{Gradient, Role, Term, Unknown};

/// The sum of elements of one kind, which store energy, damp, or both.
///
/// Elements that store count as elastic. Outside of a step and in equilibria what they store is all
/// there is, and nothing is left of elements that only damp.
///
/// With more than one thread, each owns a range of the result and evaluates the elements that touch
/// it, in their order. Every number is thus summed in the order of a single thread, and the bits
/// are the same for any number of threads. Elements that touch two ranges are evaluated twice: few,
/// if nodes that are close in space are close in number.
#[derive(Clone, Debug)]
pub struct ElementTerm<E, const V: usize> {
    name: String,
    elements: Vec<E>,
}

impl<E: StepElement<V>, const V: usize> ElementTerm<E, V> {
    /// The sum of `elements`.
    #[must_use]
    pub fn new(name: impl Into<String>, elements: Vec<E>) -> Self {
        Self { name: name.into(), elements }
    }

    /// The elements.
    #[must_use]
    pub fn elements(&self) -> &[E] {
        &self.elements
    }

    /// Whether elements inside of a step may differ from those at rest. Known to the compiler, so
    /// that those that keep nothing pay nothing.
    #[inline(always)]
    fn keeps() -> bool {
        size_of::<E::Start>() > 0 || E::STILL.is_none()
    }

    /// The elements at a pose; none where there is nothing to evaluate.
    fn at<'a>(&'a self, pose: &Pose<'a, E::Space>) -> Option<At<'a, E, V>> {
        let starts = match pose.step.filter(Self::differs) {
            None => Starts::Still(E::STILL?),
            Some(step) => match step.memory.and_then(Memory::get::<Vec<E::Start>>) {
                Some(kept) if kept.len() == self.elements.len() => Starts::Kept(kept),
                _ => Starts::Fresh(step),
            },
        };
        Some(At { elements: &self.elements, x: pose.x, starts })
    }

    /// Whether something moves, and elements know.
    #[inline(always)]
    fn differs(step: &StepMap<'_, E::Space>) -> bool {
        Self::keeps() && step.rate > 0.0 && step.rate.is_finite()
    }
}

/// What each element keeps of a step.
enum Starts<'a, E: StepElement<V>, const V: usize> {
    /// The same for all, where nothing moves.
    Still(E::Start),
    /// What was computed once.
    Kept(&'a [E::Start]),
    /// Computed for every evaluation.
    Fresh(StepMap<'a, E::Space>),
}

/// Elements at a pose.
struct At<'a, E: StepElement<V>, const V: usize> {
    elements: &'a [E],
    x: &'a Field<E::Space, DVec3>,
    starts: Starts<'a, E, V>,
}

impl<E: StepElement<V>, const V: usize> At<'_, E, V> {
    fn energies(&self) -> StepEnergy {
        sums::sum_in_chunks(self.elements, |item| self.with(item, item.1.nodes(), E::energies))
    }

    fn add_gradient(&self, gradient: &mut Field<E::Space, DVec3>) {
        sums::add_gradients(self.elements, gradient, E::nodes, |item, nodes| {
            self.with(item, nodes, E::gradient)
        });
    }

    /// Evaluates an element with its positions and what it keeps.
    #[inline(always)]
    fn with<R>(
        &self,
        (i, element): (usize, &E),
        nodes: [Id<E::Space>; V],
        evaluate: impl FnOnce(&E, &[DVec3; V], &E::Start) -> R,
    ) -> R {
        let fresh;
        let start = match (&self.starts, E::STILL) {
            (_, Some(still)) if !ElementTerm::<E, V>::keeps() => {
                fresh = still;
                &fresh
            }
            (Starts::Still(start), _) => start,
            (Starts::Kept(kept), _) => &kept[i],
            (Starts::Fresh(step), _) => {
                fresh = element.start(&step.gather(nodes));
                &fresh
            }
        };
        evaluate(element, &nodes.map(|node| self.x[node]), start)
    }
}

impl<E: StepElement<V>, const V: usize> Term<E::Space> for ElementTerm<E, V> {
    fn name(&self) -> &str {
        &self.name
    }

    fn role(&self) -> Role {
        if E::STILL.is_some() { Role::Elastic } else { Role::Dissipative }
    }

    fn has_potential(&self) -> bool {
        self.elements.iter().all(E::has_potential)
    }

    fn pattern(&self, pair: &mut dyn FnMut(Unknown<E::Space>, Unknown<E::Space>)) {
        sums::pattern(self.elements.iter().map(E::nodes), pair);
    }

    fn remember(&self, step: &StepMap<'_, E::Space>, memory: &mut Memory) {
        if !Self::differs(step) {
            return;
        }
        let (elements, mut kept): (_, Vec<E::Start>) = (&self.elements, memory.take());
        match step.past {
            // Apart from the others, so that the compiler knows that there is nothing else to
            // gather.
            Past::Start => sums::fill(elements, &mut kept, |element| {
                let start = element.nodes().map(|node| step.start[node]);
                element.start(&ElementStep { start, rate: step.rate, past: Past::Start })
            }),
            _ => sums::fill(elements, &mut kept, |element| element.start(&step.gather(element.nodes()))),
        }
        memory.keep(kept);
    }

    fn energy(&self, pose: &Pose<'_, E::Space>) -> f64 {
        // Integrators ask what it would cost not to move at all: where nothing has changed, nothing
        // resists.
        let rests =
            |step: StepMap<'_, _>| std::ptr::eq(pose.x, step.start) && matches!(step.past, Past::Start);
        if E::STILL.is_none() && pose.step.is_some_and(rests) {
            return 0.0;
        }
        self.at(pose).map_or(0.0, |at| at.energies().potential)
    }

    fn add_gradient(&self, pose: &Pose<'_, E::Space>, gradient: &mut Gradient<'_, E::Space>) {
        if let Some(at) = self.at(pose) {
            at.add_gradient(gradient.nodes);
        }
    }

    fn energy_and_add_gradient(
        &self,
        pose: &Pose<'_, E::Space>,
        gradient: &mut Gradient<'_, E::Space>,
    ) -> StepEnergy {
        let Some(at) = self.at(pose) else { return StepEnergy::default() };
        if !sums::is_serial(self.elements.len()) {
            at.add_gradient(gradient.nodes);
            return at.energies();
        }
        sums::energies_and_gradients(&self.elements, gradient.nodes, E::nodes, |item, nodes| {
            at.with(item, nodes, E::energies_and_gradient)
        })
    }

    fn add_hessian(&self, pose: &Pose<'_, E::Space>, psd: Psd, sink: &mut Sink<'_>) {
        let Some(at) = self.at(pose) else { return };
        sums::add_hessians(&self.elements, sink, |item| {
            at.with(item, item.1.nodes(), |element, x, start| element.hessian(x, start, psd).0)
        });
    }
}
