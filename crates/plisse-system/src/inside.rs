//! Elements inside of a step: with what they keep of its start, or without.

use glam::DVec3;
use plisse_core::{Field, Past, RateElement};

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

    /// Evaluates an element with what it keeps and its positions.
    #[inline(always)]
    pub(crate) fn with<R>(
        &self,
        (i, element): (usize, &E),
        evaluate: impl FnOnce(&E::Start, &[DVec3; V]) -> R,
    ) -> R {
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
    sums::fill(elements, &mut kept, |element| element.start(&step.gather(element.nodes())));
    memory.keep(kept);
}

/// What the elements turn into heat in the step of a pose, in joules.
pub(crate) fn dissipated<E: RateElement<V>, const V: usize>(
    elements: &[E],
    pose: &Pose<'_, E::Space>,
) -> f64 {
    let Some(inside) = Inside::new(pose, elements) else { return 0.0 };
    sums::sum_in_chunks(elements, |item| inside.with(item, |start, x| item.1.dissipated(x, start)))
}

fn moves<S: plisse_core::Space>(step: &StepMap<'_, S>) -> bool {
    step.rate > 0.0 && step.rate.is_finite()
}
