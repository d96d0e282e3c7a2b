//! Sums over many equal elements, in parallel and in a fixed order.

use std::ops::Add;

use glam::{DMat3, DVec3};
use plisse_core::{Field, Id, Space};
use plisse_sparse::Sink;
use plisse_sparse::parallel::{CHUNK, for_each_range};
pub(crate) use plisse_sparse::parallel::{fill, is_serial, sum_in_chunks};

use crate::term::Unknown;

/// Names every pair of nodes of each element: the lower triangle, row by row.
pub(crate) fn pattern<S: Space, const V: usize>(
    nodes: impl Iterator<Item = [Id<S>; V]>,
    pair: &mut dyn FnMut(Unknown<S>, Unknown<S>),
) {
    for nodes in nodes {
        for a in 0..V {
            for b in 0..=a {
                pair(nodes[a].into(), nodes[b].into());
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
    sink: &mut Sink<'_>,
    evaluate: impl Fn((usize, &E)) -> [[DMat3; V]; V] + Sync,
) {
    sink.for_each(V * (V + 1) / 2, |i, part| part.add_lower(&evaluate((i, &elements[i]))));
}
