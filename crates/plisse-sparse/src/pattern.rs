//! Which blocks of a symmetric matrix are stored, and where.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::error::PatternError;
use crate::layout::Layout;
use crate::parallel::is_serial;
use crate::slot::Slot;

/// Tells patterns apart: two patterns of one revision are the same pattern, so that an analysis of
/// one serves for the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revision(u64);

impl Revision {
    /// A number that nobody has. Only ever compared, so that runs repeat although the numbers may
    /// not.
    fn next() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed))
    }
}

/// The blocks of a symmetric matrix that are stored: the lower triangle, and every diagonal block.
///
/// A pattern does not change. [`Pattern::grown`] makes a larger one in which every block keeps its
/// place, so that the slots of the smaller pattern stay valid: pairs that come and go (contact) are
/// added to a base that was analysed once.
#[derive(Debug)]
pub struct Pattern {
    revision: Revision,
    /// The pattern that this one has grown from in the end.
    root: Revision,
    layout: Layout,
    /// Entries of column `j` are `starts[j]..starts[j + 1]`; the first of them is the diagonal.
    starts: Vec<u32>,
    /// Block row of each entry, ascending within a column.
    rows: Vec<u32>,
    /// The stored block of each entry, if blocks are not stored in the order of the entries.
    places: Option<Vec<u32>>,
    /// Entries left of the diagonal in row `i` are `left_starts[i]..left_starts[i + 1]`.
    left_starts: Vec<u32>,
    /// Column and stored block of each entry left of the diagonal, by ascending column.
    left: Vec<(u32, u32)>,
    /// The first number of each stored block and the end, if their sizes differ.
    offsets: Option<Vec<u32>>,
}

/// Column in the upper half, row in the lower one: sorts by columns.
type Key = u64;

fn key(i: u32, j: u32) -> Key {
    u64::from(i.min(j)) << 32 | u64::from(i.max(j))
}

fn column_and_row(key: Key) -> (u32, u32) {
    ((key >> 32) as u32, key as u32)
}

/// Keys in ascending order, each once. Columns are short: sorting each of them takes a third of the
/// time of sorting all keys at once.
fn sorted(keys: &[Key], columns: usize) -> Vec<Key> {
    let mut ends = vec![0; columns + 1];
    for &key in keys {
        ends[column_and_row(key).0 as usize + 1] += 1;
    }
    for j in 0..columns {
        ends[j + 1] += ends[j];
    }
    let mut rows = vec![0; keys.len()];
    let mut next = ends.clone();
    for &key in keys {
        let (column, row) = column_and_row(key);
        rows[next[column as usize]] = row;
        next[column as usize] += 1;
    }
    let mut out = Vec::new();
    for j in 0..columns {
        let column = &mut rows[ends[j]..ends[j + 1]];
        column.sort_unstable();
        let mut last = None;
        for &row in &*column {
            if last.replace(row) != Some(row) {
                out.push(key(row, j as u32));
            }
        }
    }
    out
}

impl Pattern {
    /// The pattern with the given pairs of nodes, in any order and with repetitions.
    ///
    /// # Errors
    /// If there are too many blocks for 31-bit indices.
    ///
    /// # Panics
    /// If a pair names a node that does not exist.
    pub fn new(layout: Layout, pairs: impl Iterator<Item = (u32, u32)>) -> Result<Arc<Self>, PatternError> {
        let mut keys: Vec<Key> = pairs.map(|(i, j)| key(i, j)).collect();
        keys.extend((0..layout.nodes() as u32).map(|i| key(i, i)));
        let keys = sorted(&keys, layout.nodes());
        Self::with_entries(layout, &keys, None, None)
    }

    /// This pattern with further pairs of nodes. Slots of this one are valid in it. Without a pair
    /// that is new, the result is this pattern itself.
    ///
    /// # Errors
    /// If there are too many blocks for 31-bit indices.
    ///
    /// # Panics
    /// If a pair names a node that does not exist.
    pub fn grown(
        self: &Arc<Self>,
        pairs: impl Iterator<Item = (u32, u32)>,
    ) -> Result<Arc<Self>, PatternError> {
        let is_new = |&(i, j): &(u32, u32)| self.entry(i, j).is_none();
        let new: Vec<Key> = pairs.filter(is_new).map(|(i, j)| key(i, j)).collect();
        if new.is_empty() {
            return Ok(Arc::clone(self));
        }
        let new = sorted(&new, self.size());
        // Both lists are sorted: one pass merges them.
        let total = self.block_count() + new.len();
        let (mut keys, mut places) = (Vec::with_capacity(total), Vec::with_capacity(total));
        let mut added = new.iter().copied().zip(self.block_count() as u32..).peekable();
        for j in 0..self.size() {
            for entry in self.entries(j) {
                let old = key(self.rows[entry], j as u32);
                while let Some((key, place)) = added.next_if(|(key, _)| *key < old) {
                    keys.push(key);
                    places.push(place);
                }
                keys.push(old);
                places.push(self.place(entry) as u32);
            }
        }
        for (key, place) in added {
            keys.push(key);
            places.push(place);
        }
        Self::with_entries(self.layout.clone(), &keys, Some(places), Some(self.root))
    }

    /// `last` if that has grown from this pattern and stores all of these pairs, so that its
    /// analysis serves once more; else this pattern grown by them. With the slot of every pair,
    /// [`Slot::NONE`] where there is none; without pairs, this pattern itself.
    ///
    /// # Errors
    /// If there are too many blocks for 31-bit indices.
    ///
    /// # Panics
    /// If a pair names a node that does not exist.
    pub fn with_slots_for(
        self: &Arc<Self>,
        last: &Arc<Self>,
        pairs: &[Option<(u32, u32)>],
    ) -> Result<(Arc<Self>, Vec<Slot>), PatternError> {
        if pairs.is_empty() {
            return Ok((Arc::clone(self), Vec::new()));
        }
        if last.root == self.revision
            && let Some(slots) = last.slots_of(pairs)
        {
            return Ok((Arc::clone(last), slots));
        }
        let grown = self.grown(pairs.iter().flatten().copied())?;
        #[expect(clippy::expect_used, reason = "the pattern has just grown by these pairs")]
        let slots = grown.slots_of(pairs).expect("a slot for every pair");
        Ok((grown, slots))
    }

    /// The slots of pairs, if all of them are stored.
    fn slots_of(&self, pairs: &[Option<(u32, u32)>]) -> Option<Vec<Slot>> {
        let slot = |pair: &Option<(u32, u32)>| match *pair {
            Some((i, j)) => self.slot(i, j),
            None => Some(Slot::NONE),
        };
        if is_serial(pairs.len()) {
            pairs.iter().map(slot).collect()
        } else {
            pairs.par_iter().map(slot).collect()
        }
    }

    fn with_entries(
        layout: Layout,
        keys: &[Key],
        places: Option<Vec<u32>>,
        root: Option<Revision>,
    ) -> Result<Arc<Self>, PatternError> {
        let size = layout.nodes();
        let mut starts = vec![0; size + 1];
        let mut left_starts = vec![0; size + 1];
        for &key in keys {
            let (column, row) = column_and_row(key);
            starts[column as usize + 1] += 1;
            if row != column {
                left_starts[row as usize + 1] += 1;
            }
        }
        for i in 0..size {
            starts[i + 1] += starts[i];
            left_starts[i + 1] += left_starts[i];
        }
        let place = |entry: usize| places.as_ref().map_or(entry as u32, |places| places[entry]);
        let mut next = left_starts.clone();
        let mut left = vec![(0, 0); left_starts[size] as usize];
        for (entry, &key) in keys.iter().enumerate() {
            let (column, row) = column_and_row(key);
            if row != column {
                let at = &mut next[row as usize];
                left[*at as usize] = (column, place(entry));
                *at += 1;
            }
        }
        let numbers_of = |key: Key| {
            let (column, row) = column_and_row(key);
            layout.size(column as usize) * layout.size(row as usize)
        };
        let count: usize = keys.iter().map(|key| numbers_of(*key)).sum();
        if count >= Slot::LIMIT {
            return Err(PatternError::TooLarge { count });
        }
        let offsets = layout.uniform().is_none().then(|| {
            let mut offsets = vec![0u32; keys.len() + 1];
            for (entry, key) in keys.iter().enumerate() {
                offsets[place(entry) as usize + 1] = numbers_of(*key) as u32;
            }
            for block in 0..keys.len() {
                offsets[block + 1] += offsets[block];
            }
            offsets
        });
        let rows = keys.iter().map(|&key| column_and_row(key).1).collect();
        let revision = Revision::next();
        let root = root.unwrap_or(revision);
        Ok(Arc::new(Self { revision, root, layout, starts, rows, places, left_starts, left, offsets }))
    }

    /// What tells this pattern from others.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// How unknowns are grouped into nodes.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Number of nodes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of stored blocks.
    #[must_use]
    pub fn block_count(&self) -> usize {
        self.rows.len()
    }

    /// Number of stored numbers.
    #[must_use]
    pub fn number_count(&self) -> usize {
        self.numbers_before(self.block_count())
    }

    /// The rows of a column, ascending from the diagonal, and the range of each block's numbers.
    /// Numbers of a block are stored column by column.
    pub fn column(&self, j: usize) -> impl ExactSizeIterator<Item = (usize, Range<usize>)> + '_ {
        self.entries(j).map(|entry| (self.rows[entry] as usize, self.numbers(self.place(entry))))
    }

    /// The rows of a column, ascending from the diagonal.
    #[must_use]
    pub fn rows_of_column(&self, j: usize) -> &[u32] {
        &self.rows[self.entries(j)]
    }

    /// Where the block of node `i` (rows) and node `j` (columns) is added; none if it is not
    /// stored.
    #[must_use]
    pub fn slot(&self, i: u32, j: u32) -> Option<Slot> {
        let entry = self.entry(i, j)?;
        Some(Slot::new(self.numbers_before(self.place(entry)), i < j))
    }

    fn entry(&self, i: u32, j: u32) -> Option<usize> {
        let (column, row) = (i.min(j), i.max(j));
        let range = self.entries(column as usize);
        self.rows[range.clone()].binary_search(&row).ok().map(|k| range.start + k)
    }

    /// Entries of a column.
    #[inline]
    pub(crate) fn entries(&self, j: usize) -> Range<usize> {
        self.starts[j] as usize..self.starts[j + 1] as usize
    }

    /// The block row of each entry.
    #[inline]
    pub(crate) fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Whether blocks are stored in the order of the entries.
    #[inline]
    pub(crate) fn is_in_order(&self) -> bool {
        self.places.is_none()
    }

    /// The stored block of an entry.
    #[inline]
    pub(crate) fn place(&self, entry: usize) -> usize {
        self.places.as_ref().map_or(entry, |places| places[entry] as usize)
    }

    /// Columns and stored blocks left of the diagonal.
    #[inline]
    pub(crate) fn left(&self, i: usize) -> &[(u32, u32)] {
        &self.left[self.left_starts[i] as usize..self.left_starts[i + 1] as usize]
    }

    /// Numbers stored before a block; of the number of blocks, all.
    #[inline]
    pub(crate) fn numbers_before(&self, block: usize) -> usize {
        match (&self.offsets, self.layout.uniform()) {
            (Some(offsets), _) => offsets[block] as usize,
            (None, size) => block * size.map_or(0, |size| size * size),
        }
    }

    /// The numbers of a stored block.
    #[inline]
    pub(crate) fn numbers(&self, block: usize) -> Range<usize> {
        self.numbers_before(block)..self.numbers_before(block + 1)
    }

    /// Bytes of indices.
    pub(crate) fn bytes(&self) -> usize {
        let lists = [Some(&self.starts), Some(&self.rows), Some(&self.left_starts)];
        let more = [self.places.as_ref(), self.offsets.as_ref()];
        let indices: usize = lists.into_iter().chain(more).flatten().map(Vec::len).sum();
        4 * indices + 8 * self.left.len()
    }
}
