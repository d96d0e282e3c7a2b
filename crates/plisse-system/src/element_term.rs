//! A term made of many equal elements, evaluated in parallel and summed in a fixed order.

use glam::DVec3;
use plisse_core::{Element, Field, Id, Psd};
use rayon::prelude::*;

use crate::pose::Pose;
use crate::term::{HessianSink, Role, Term};

/// Elements whose energies are added before the sums are.
const CHUNK: usize = 512;

/// The sum of elements of one kind.
///
/// With more than one thread, each owns a range of the result and evaluates the elements that touch it, in their order. Every
/// number is thus summed in the order of a single thread, and the bits are the same for any number of threads. Elements that
/// touch two ranges are evaluated twice: few, if nodes that are close in space are close in number.
#[derive(Clone, Debug)]
pub struct ElementTerm<E, const V: usize> {
    name: String,
    role: Role,
    elements: Vec<E>,
}

impl<E: Element<V>, const V: usize> ElementTerm<E, V> {
    /// The sum of `elements`, as stored energy.
    #[must_use]
    pub fn new(name: impl Into<String>, elements: Vec<E>) -> Self {
        Self { name: name.into(), role: Role::Elastic, elements }
    }

    /// The same term with another role in the energy balance.
    #[must_use]
    pub fn with_role(self, role: Role) -> Self {
        Self { role, ..self }
    }

    /// The elements.
    #[must_use]
    pub fn elements(&self) -> &[E] {
        &self.elements
    }
}

/// Blocks in the lower triangle of an element with `v` nodes.
const fn triangle(v: usize) -> usize {
    v * (v + 1) / 2
}

impl<E: Element<V>, const V: usize> Term<E::Space> for ElementTerm<E, V> {
    fn name(&self) -> &str {
        &self.name
    }

    fn role(&self) -> Role {
        self.role
    }

    fn pattern(&self, pair: &mut dyn FnMut(Id<E::Space>, Id<E::Space>)) {
        for element in &self.elements {
            let nodes = element.nodes();
            for a in 0..V {
                for b in 0..=a {
                    pair(nodes[a], nodes[b]);
                }
            }
        }
    }

    fn energy(&self, pose: &Pose<'_, E::Space>) -> f64 {
        sum_in_chunks(&self.elements, |element| element.energy(&pose.gather(element.nodes())))
    }

    fn add_gradient(&self, pose: &Pose<'_, E::Space>, gradient: &mut Field<E::Space, DVec3>) {
        for_each_range(self.elements.len(), gradient.as_mut_slice(), |first, part| {
            let range = first..first + part.len();
            for element in &self.elements {
                let nodes = element.nodes();
                if nodes.iter().any(|node| range.contains(&node.index())) {
                    let forces = element.gradient(&pose.gather(nodes));
                    for (node, force) in nodes.into_iter().zip(forces) {
                        if let Some(sum) = part.get_mut(node.index().wrapping_sub(first)) {
                            *sum += force;
                        }
                    }
                }
            }
        });
    }

    fn energy_and_add_gradient(
        &self,
        pose: &Pose<'_, E::Space>,
        gradient: &mut Field<E::Space, DVec3>,
    ) -> f64 {
        if !is_serial(self.elements.len()) {
            self.add_gradient(pose, gradient);
            return self.energy(pose);
        }
        let mut total = 0.0;
        for chunk in self.elements.chunks(CHUNK) {
            let mut sum = 0.0;
            for element in chunk {
                let nodes = element.nodes();
                let (energy, forces) = element.energy_and_gradient(&pose.gather(nodes));
                sum += energy;
                for (node, force) in nodes.into_iter().zip(forces) {
                    gradient[node] += force;
                }
            }
            total += sum;
        }
        total
    }

    fn add_hessian(&self, pose: &Pose<'_, E::Space>, psd: Psd, sink: &mut HessianSink<'_>) {
        let slots = sink.slots;
        for_each_range(self.elements.len(), sink.values, |first, values| {
            let mut part = HessianSink { slots, first, values };
            let each = slots.chunks_exact(triangle(V)).zip(&self.elements);
            for (slots, element) in each {
                if part.takes(slots) {
                    part.add_blocks(slots, &element.hessian(&pose.gather(element.nodes()), psd).0);
                }
            }
        });
    }
}

/// Cuts `values` into one range per thread and works on all of them; `work` is given the index of the first value.
fn for_each_range<T: Send>(elements: usize, values: &mut [T], work: impl Fn(usize, &mut [T]) + Sync) {
    if is_serial(elements) {
        work(0, values);
        return;
    }
    let length = values.len().div_ceil(rayon::current_num_threads()).max(1);
    values.par_chunks_mut(length).enumerate().for_each(|(k, part)| work(k * length, part));
}

/// Adds numbers in chunks of fixed size, then the chunks in order: the same bits for any number of threads.
pub(crate) fn sum_in_chunks<E: Sync>(elements: &[E], value: impl Fn(&E) -> f64 + Sync) -> f64 {
    let of_chunk = |chunk: &[E]| chunk.iter().map(&value).sum::<f64>();
    if is_serial(elements.len()) {
        elements.chunks(CHUNK).map(of_chunk).sum()
    } else {
        let sums: Vec<f64> = elements.par_chunks(CHUNK).map(of_chunk).collect();
        sums.into_iter().sum()
    }
}

fn is_serial(count: usize) -> bool {
    count < 2 * CHUNK || rayon::current_num_threads() == 1
}
