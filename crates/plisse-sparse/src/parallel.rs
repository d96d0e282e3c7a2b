//! Work over many equal elements, in parallel and with the bits of a single thread.
//!
//! A thread owns a range of the result and evaluates the elements that touch it, in their order.
//! Every number is thus summed in the order of a single thread. Elements that touch two ranges are
//! evaluated twice: few, if nodes that are close in space are close in number.

use std::ops::Add;

use rayon::prelude::*;

/// Elements whose numbers are added before the sums are.
pub const CHUNK: usize = 512;

/// Whether so many elements are not worth the threads.
#[must_use]
pub fn is_serial(count: usize) -> bool {
    count < 2 * CHUNK || rayon::current_num_threads() == 1
}

/// Cuts `values` into one range per thread and works on all of them; `work` is given the index of
/// the first value of a range. For few elements there is one range and no thread.
pub fn for_each_range<T: Send>(elements: usize, values: &mut [T], work: impl Fn(usize, &mut [T]) + Sync) {
    if is_serial(elements) {
        work(0, values);
        return;
    }
    let length = values.len().div_ceil(rayon::current_num_threads()).max(1);
    values.par_chunks_mut(length).enumerate().for_each(|(k, part)| work(k * length, part));
}

/// Adds numbers in chunks of fixed size, then the chunks in order.
pub fn sum_in_chunks<E: Sync, T: Default + Add<Output = T> + Send>(
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

/// One value for each element, in place of what `out` holds.
pub fn fill<E: Sync, T: Send>(elements: &[E], out: &mut Vec<T>, value: impl Fn(&E) -> T + Send + Sync) {
    if is_serial(elements.len()) {
        out.clear();
        out.extend(elements.iter().map(value));
    } else {
        elements.par_iter().map(value).collect_into_vec(out);
    }
}

/// What `value` makes of the elements and their places, in their order, without those of which it
/// makes nothing.
pub fn filter_map<'a, E: Sync, T: Send>(
    elements: &'a [E],
    value: impl Fn((usize, &'a E)) -> Option<T> + Send + Sync,
) -> Vec<T> {
    let mut out = Vec::new();
    filter_into(elements, &mut out, value);
    out
}

/// As [`filter_map`], in place of what `out` holds, whose room is used again.
pub fn filter_into<'a, E: Sync, T: Send>(
    elements: &'a [E],
    out: &mut Vec<T>,
    value: impl Fn((usize, &'a E)) -> Option<T> + Send + Sync,
) {
    out.clear();
    if is_serial(elements.len()) {
        out.extend(elements.iter().enumerate().filter_map(value));
    } else {
        out.par_extend(elements.par_iter().enumerate().with_min_len(CHUNK).filter_map(value));
    }
}

/// The smallest of the values of elements, at most `most`.
pub fn smallest<E: Sync>(elements: &[E], most: f64, value: impl Fn(&E) -> f64 + Send + Sync) -> f64 {
    if is_serial(elements.len()) {
        elements.iter().map(value).fold(most, f64::min)
    } else {
        elements.par_iter().with_min_len(CHUNK).map(value).reduce(|| most, f64::min)
    }
}
