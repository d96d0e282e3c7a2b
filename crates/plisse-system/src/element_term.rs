//! A term made of many equal elements, evaluated in parallel and summed in a fixed order.

use glam::DVec3;
use plisse_core::{Element, Field, Id, Psd};
use rayon::prelude::*;

use crate::pose::Pose;
use crate::term::{HessianSink, Role, Term};

/// Elements whose energies are added before the sums are.
const CHUNK: usize = 512;
/// Elements evaluated at a time by all threads together: few enough for the results to stay in cache, enough for the
/// threads not to wait for each other most of the time.
const BATCH: usize = 4 * CHUNK;

/// The sum of elements of one kind.
///
/// With more than one thread, elements are evaluated in batches while one thread adds the results of the last batch in
/// the order of the elements. That is the order of a single thread, so the bits are the same for any number of threads.
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
        map_in_order(
            &self.elements,
            |element| element.gradient(&pose.gather(element.nodes())),
            |_, element, forces| {
                for (node, force) in element.nodes().into_iter().zip(forces) {
                    gradient[node] += *force;
                }
            },
        );
    }

    fn energy_and_add_gradient(
        &self,
        pose: &Pose<'_, E::Space>,
        gradient: &mut Field<E::Space, DVec3>,
    ) -> f64 {
        // In the chunks of `sum_in_chunks`, for the same bits.
        let (mut total, mut chunk) = (0.0, 0.0);
        map_in_order(
            &self.elements,
            |element| element.energy_and_gradient(&pose.gather(element.nodes())),
            |index, element, (energy, forces)| {
                if index % CHUNK == 0 {
                    total += chunk;
                    chunk = 0.0;
                }
                chunk += energy;
                for (node, force) in element.nodes().into_iter().zip(forces) {
                    gradient[node] += *force;
                }
            },
        );
        total + chunk
    }

    fn add_hessian(&self, pose: &Pose<'_, E::Space>, psd: Psd, sink: &mut HessianSink<'_>) {
        map_in_order(
            &self.elements,
            |element| element.hessian(&pose.gather(element.nodes()), psd),
            |index, _, blocks| sink.add_blocks(index * triangle(V), &blocks.0),
        );
    }
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

/// Evaluates elements in parallel and hands the results over one by one, in order.
pub(crate) fn map_in_order<E: Sync, T: Send + Sync>(
    elements: &[E],
    evaluate: impl Fn(&E) -> T + Sync,
    mut consume: impl FnMut(usize, &E, &T) + Send,
) {
    if is_serial(elements.len()) {
        for (index, element) in elements.iter().enumerate() {
            consume(index, element, &evaluate(element));
        }
        return;
    }
    // Two batches in flight: one being evaluated, one being consumed.
    let mut ready: Vec<T> = Vec::with_capacity(BATCH);
    let mut next: Vec<T> = Vec::with_capacity(BATCH);
    let mut offset = 0;
    for batch in elements.chunks(BATCH) {
        let mut consume_ready = || {
            let first = offset - ready.len();
            for (index, value) in (first..).zip(&ready) {
                consume(index, &elements[index], value);
            }
        };
        rayon::join(
            || batch.par_iter().with_min_len(128).map(&evaluate).collect_into_vec(&mut next),
            &mut consume_ready,
        );
        std::mem::swap(&mut ready, &mut next);
        offset += batch.len();
    }
    let first = offset - ready.len();
    for (index, value) in (first..).zip(&ready) {
        consume(index, &elements[index], value);
    }
}

fn is_serial(count: usize) -> bool {
    count < 2 * CHUNK || rayon::current_num_threads() == 1
}
