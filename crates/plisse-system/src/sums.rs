//! Sums over many equal elements, in parallel and in a fixed order.

use std::ops::Add;

use glam::{DMat3, DVec3};
use plisse_core::{Field, Id, Space};
use rayon::prelude::*;

use crate::term::HessianSink;

/// Elements whose energies are added before the sums are.
const CHUNK: usize = 512;

/// Names every pair of nodes of each element: the lower triangle, row by row.
pub(crate) fn pattern<S: Space, const V: usize>(
    nodes: impl Iterator<Item = [Id<S>; V]>,
    pair: &mut dyn FnMut(Id<S>, Id<S>),
) {
    for nodes in nodes {
        for a in 0..V {
            for b in 0..=a {
                pair(nodes[a], nodes[b]);
            }
        }
    }
}

/// Adds the gradients of elements; `evaluate` is given the element with its index, and its nodes.
///
/// Each thread owns a range of the result and evaluates the elements that touch it, in their order.
pub(crate) fn add_gradients<S: Space, E: Sync, const V: usize>(
    elements: &[E],
    gradient: &mut Field<S, DVec3>,
    nodes: impl Fn(&E) -> [Id<S>; V] + Sync,
    evaluate: impl Fn((usize, &E), [Id<S>; V]) -> [DVec3; V] + Sync,
) {
    for_each_range(elements.len(), gradient.as_mut_slice(), |first, part| {
        let range = first..first + part.len();
        for (i, element) in elements.iter().enumerate() {
            let nodes = nodes(element);
            if nodes.iter().any(|node| range.contains(&node.index())) {
                for (node, force) in nodes.into_iter().zip(evaluate((i, element), nodes)) {
                    if let Some(sum) = part.get_mut(node.index().wrapping_sub(first)) {
                        *sum += force;
                    }
                }
            }
        }
    });
}

/// Adds gradients and gives the sum of energies, on one thread.
pub(crate) fn energies_and_gradients<S: Space, E, T: Default + Add<Output = T>, const V: usize>(
    elements: &[E],
    gradient: &mut Field<S, DVec3>,
    nodes: impl Fn(&E) -> [Id<S>; V],
    evaluate: impl Fn((usize, &E), [Id<S>; V]) -> (T, [DVec3; V]),
) -> T {
    let mut total = T::default();
    for (k, chunk) in elements.chunks(CHUNK).enumerate() {
        let mut sum = T::default();
        for (i, element) in chunk.iter().enumerate() {
            let nodes = nodes(element);
            let (energy, forces) = evaluate((k * CHUNK + i, element), nodes);
            sum = sum + energy;
            for (node, force) in nodes.into_iter().zip(forces) {
                gradient[node] += force;
            }
        }
        total = total + sum;
    }
    total
}

/// Adds the Hessians of elements, in the order of [`pattern`].
pub(crate) fn add_hessians<E: Sync, const V: usize>(
    elements: &[E],
    sink: &mut HessianSink<'_>,
    evaluate: impl Fn((usize, &E)) -> [[DMat3; V]; V] + Sync,
) {
    let slots = sink.slots;
    for_each_range(elements.len(), sink.values, |first, values| {
        let mut part = HessianSink { slots, first, values };
        for (slots, element) in slots.chunks_exact(V * (V + 1) / 2).zip(elements.iter().enumerate()) {
            if part.takes(slots) {
                part.add_blocks(slots, &evaluate(element));
            }
        }
    });
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
pub(crate) fn sum_in_chunks<E: Sync, T: Default + Add<Output = T> + Send>(
    elements: &[E],
    value: impl Fn((usize, &E)) -> T + Sync,
) -> T {
    let of_chunk = |(k, chunk): (usize, &[E])| {
        let items = chunk.iter().enumerate();
        items.fold(T::default(), |sum, (i, element)| sum + value((k * CHUNK + i, element)))
    };
    if is_serial(elements.len()) {
        elements.chunks(CHUNK).enumerate().map(of_chunk).fold(T::default(), T::add)
    } else {
        let sums: Vec<T> = elements.par_chunks(CHUNK).enumerate().map(of_chunk).collect();
        sums.into_iter().fold(T::default(), T::add)
    }
}

/// One value for each element.
pub(crate) fn fill<E: Sync, T: Send>(
    elements: &[E],
    out: &mut Vec<T>,
    value: impl Fn(&E) -> T + Send + Sync,
) {
    if is_serial(elements.len()) {
        out.clear();
        out.extend(elements.iter().map(value));
    } else {
        elements.par_iter().map(value).collect_into_vec(out);
    }
}

/// Whether so many elements are not worth the threads.
pub(crate) fn is_serial(count: usize) -> bool {
    count < 2 * CHUNK || rayon::current_num_threads() == 1
}
