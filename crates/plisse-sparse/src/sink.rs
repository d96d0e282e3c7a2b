//! Takes the blocks of many pairs and adds them to a matrix.

use glam::DMat3;
use rayon::prelude::*;

use crate::matrix::BlockMatrix;
use crate::parallel::is_serial;
use crate::pattern::Pattern;
use crate::slot::Slot;

/// Adds blocks to a matrix. Each block has a slot, found in advance; the index of a block is that
/// of its slot.
#[derive(Debug)]
pub struct Sink<'a> {
    pattern: &'a Pattern,
    slots: &'a [Slot],
    /// Index of the first of `values`; blocks outside of them are not taken.
    first: usize,
    values: &'a mut [f64],
}

impl<'a> Sink<'a> {
    /// A sink for blocks with these slots.
    ///
    /// The slots must come from the pattern of the matrix, or from one that it has grown from:
    /// slots of another pattern would add to the wrong places.
    pub fn new(matrix: &'a mut BlockMatrix, slots: &'a [Slot]) -> Self {
        let (pattern, values) = matrix.parts_mut();
        Self { pattern, slots, first: 0, values }
    }

    /// Number of slots.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is no slot.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Adds the block of two nodes with three unknowns each.
    ///
    /// # Panics
    /// If there is no slot of this index.
    #[inline]
    pub fn add(&mut self, index: usize, block: &DMat3) {
        self.add_block(index, &block.to_cols_array_2d());
    }

    /// Adds a block with `R` rows and `C` columns, given by its columns: those of the pair of nodes
    /// of the slot.
    ///
    /// # Panics
    /// If there is no slot of this index.
    #[inline]
    pub fn add_block<const R: usize, const C: usize>(&mut self, index: usize, block: &[[f64; R]; C]) {
        let slot = self.slots[index];
        self.add_to(slot, block);
    }

    /// Adds a block of any size, with `rows` rows, given by its columns one after the other: for
    /// nodes whose numbers of unknowns are known at run time only.
    ///
    /// # Panics
    /// If there is no slot of this index, or the block is not a whole number of columns.
    #[inline]
    pub fn add_columns(&mut self, index: usize, rows: usize, block: &[f64]) {
        assert!(block.len().is_multiple_of(rows.max(1)), "columns have one length");
        let slot = self.slots[index];
        let flipped = slot.is_flipped();
        let Some(values) = self.find(slot, block.len()) else { return };
        if flipped {
            let columns = block.len() / rows.max(1);
            for (c, column) in block.chunks_exact(rows.max(1)).enumerate() {
                for (r, value) in column.iter().enumerate() {
                    values[r * columns + c] += value;
                }
            }
        } else {
            add_numbers(values, block);
        }
    }

    /// Adds the lower triangle of blocks of an element whose `V` nodes have three unknowns each,
    /// row by row, to the first slots. Upper blocks are the transposed ones.
    #[inline]
    pub fn add_lower<const V: usize>(&mut self, blocks: &[[DMat3; V]; V]) {
        let mut slots = self.slots.iter();
        for a in 0..V {
            for (b, slot) in (0..=a).zip(slots.by_ref()) {
                // The transposed block is there already.
                let block = if slot.is_flipped() { &blocks[b][a] } else { &blocks[a][b] };
                if let Some(values) = self.find(*slot, 9) {
                    add_numbers(values, block.as_ref());
                }
            }
        }
    }

    /// Adds `w_a w_b` times a symmetric matrix for every pair of the `V` nodes of an element, whose
    /// nodes have three unknowns each, to the first slots: the lower triangle, row by row. Blocks
    /// without weight are skipped.
    #[inline]
    pub fn add_weighted<const V: usize>(&mut self, weights: &[f64; V], matrix: &DMat3) {
        let mut slots = self.slots.iter();
        for a in 0..V {
            for (b, slot) in (0..=a).zip(slots.by_ref()) {
                let weight = weights[a] * weights[b];
                if weight == 0.0 {
                    continue;
                }
                if let Some(values) = self.find(*slot, 9) {
                    for (to, from) in values.iter_mut().zip(matrix.as_ref()) {
                        *to += from * weight;
                    }
                }
            }
        }
    }

    /// Adds the blocks of many elements in parallel, with the bits of a single thread. The slots
    /// are cut into pieces of `pairs`, one for each element; `add` is given the element's index and
    /// a sink for its piece.
    ///
    /// An element may be asked more than once, each time for other blocks.
    pub fn for_each(&mut self, pairs: usize, add: impl Fn(usize, &mut Sink<'_>) + Sync) {
        let (pattern, slots) = (self.pattern, self.slots);
        let work = |first: usize, values: &mut [f64]| {
            for (element, slots) in slots.chunks_exact(pairs.max(1)).enumerate() {
                let mut part = Sink { pattern, slots, first, values: &mut *values };
                if part.takes_any() {
                    add(element, &mut part);
                }
            }
        };
        // Parts of a sink are not cut again.
        let is_whole = self.values.len() == pattern.number_count();
        if is_serial(slots.len() / pairs.max(1)) || !is_whole {
            return work(self.first, self.values);
        }
        // Between blocks.
        let (threads, blocks) = (rayon::current_num_threads(), pattern.block_count());
        let mut parts = Vec::with_capacity(threads);
        let (mut rest, mut start) = (&mut *self.values, 0);
        for thread in 1..=threads {
            let end = pattern.numbers_before(blocks * thread / threads);
            let (part, after) = rest.split_at_mut(end - start);
            parts.push((start, part));
            (rest, start) = (after, end);
        }
        parts.into_par_iter().for_each(|(first, values)| work(first, values));
    }

    /// Whether any of the slots is here.
    #[inline]
    fn takes_any(&self) -> bool {
        self.slots.iter().any(|slot| slot.offset().wrapping_sub(self.first) < self.values.len())
    }

    #[inline]
    fn add_to<const R: usize, const C: usize>(&mut self, slot: Slot, block: &[[f64; R]; C]) {
        let flipped = slot.is_flipped();
        let Some(values) = self.find(slot, R * C) else { return };
        if flipped {
            for r in 0..R {
                for c in 0..C {
                    values[r * C + c] += block[c][r];
                }
            }
        } else {
            add_numbers(values, block.as_flattened());
        }
    }

    /// The numbers of a block. One comparison refuses `NONE` and what lies outside: ranges end
    /// between blocks.
    #[inline]
    fn find(&mut self, slot: Slot, count: usize) -> Option<&mut [f64]> {
        let start = slot.offset().wrapping_sub(self.first);
        if start < self.values.len() { Some(&mut self.values[start..start + count]) } else { None }
    }
}

#[inline]
fn add_numbers(to: &mut [f64], from: &[f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += *from;
    }
}
