//! Elements inside of a step: with what they keep of its start, or without.

use glam::DVec3;
use plisse_core::{ElementStep, Field, Past, Psd, RateElement, StepEnergy};
use plisse_sparse::Sink as HessianSink;

use crate::memory::Memory;
use crate::pose::{Pose, StepMap};
use crate::sums;

/// A step in which something moves, and what each element keeps of it.
pub(crate) struct Inside<'a, E: RateElement<V>, const V: usize> {
    x: &'a Field<E::Space, DVec3>,
    step: StepMap<'a, E::Space>,
    kept: Option<&'a [E::Start]>,
}

impl<'a, E: RateElement<V>, const V: usize> Inside<'a, E, V> {
    /// The step of a pose; none outside of one and in equilibria.
    pub(crate) fn new(pose: &Pose<'a, E::Space>, elements: &[E]) -> Option<Self> {
        let step = pose.step.filter(|step| moves(step))?;
        let kept = step.memory.and_then(Memory::get::<Vec<E::Start>>).map(Vec::as_slice);
        Some(Self { x: pose.x, step, kept: kept.filter(|kept| kept.len() == elements.len()) })
    }

    /// Whether nothing has changed, so that nothing resists: integrators ask what it would cost not to move at all.
    pub(crate) fn is_at_rest(&self) -> bool {
        std::ptr::eq(self.x, self.step.start) && matches!(self.step.past, Past::Start)
    }

    /// The energies of a step to here.
    pub(crate) fn energies(&self, elements: &[E]) -> StepEnergy {
        sums::sum_in_chunks(elements, |item| self.with(item, |start, x| item.1.energies(x, start)))
    }

    /// Adds the derivative of the potential.
    pub(crate) fn add_gradient(&self, elements: &[E], gradient: &mut Field<E::Space, DVec3>) {
        sums::add_gradients(elements, gradient, E::nodes, |item, _| {
            self.with(item, |start, x| item.1.gradient(x, start))
        });
    }

    /// The two at once, with the same bits.
    pub(crate) fn energies_and_add_gradient(
        &self,
        elements: &[E],
        gradient: &mut Field<E::Space, DVec3>,
    ) -> StepEnergy {
        if !sums::is_serial(elements.len()) {
            self.add_gradient(elements, gradient);
            return self.energies(elements);
        }
        sums::energies_and_gradients(elements, gradient, E::nodes, |item, _| {
            self.with(item, |start, x| item.1.energies_and_gradient(x, start))
        })
    }

    /// Adds the second derivatives.
    pub(crate) fn add_hessian(&self, elements: &[E], psd: Psd, sink: &mut HessianSink<'_>) {
        sums::add_hessians(elements, sink, |item| {
            self.with(item, |start, x| item.1.hessian(x, start, psd)).0
        });
    }

    /// Evaluates an element with what it keeps and its positions.
    #[inline(always)]
    fn with<R>(&self, (i, element): (usize, &E), evaluate: impl FnOnce(&E::Start, &[DVec3; V]) -> R) -> R {
        let nodes = element.nodes();
        let fresh;
        let start = if let Some(kept) = self.kept {
            &kept[i]
        } else {
            fresh = element.start(&self.step.gather(nodes));
            &fresh
        };
        evaluate(start, &nodes.map(|node| self.x[node]))
    }
}

/// Keeps what each element needs of a step.
pub(crate) fn remember<E: RateElement<V>, const V: usize>(
    elements: &[E],
    step: &StepMap<'_, E::Space>,
    memory: &mut Memory,
) {
    if !moves(step) {
        return;
    }
    let mut kept: Vec<E::Start> = memory.take();
    match step.past {
        // Apart from the others, so that the compiler knows that there is nothing else to gather.
        Past::Start => sums::fill(elements, &mut kept, |element| {
            let start = element.nodes().map(|node| step.start[node]);
            element.start(&ElementStep { start, rate: step.rate, past: Past::Start })
        }),
        _ => sums::fill(elements, &mut kept, |element| element.start(&step.gather(element.nodes()))),
    }
    memory.keep(kept);
}

fn moves<S: plisse_core::Space>(step: &StepMap<'_, S>) -> bool {
    step.rate > 0.0 && step.rate.is_finite()
}
