//! Where the block of a pair of nodes is added.

/// A place among the numbers of a matrix for the block of a pair of nodes, as it is or transposed,
/// or nowhere. [`Pattern::slot`](crate::Pattern::slot) gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(u32);

impl Slot {
    /// Takes nothing: the place of blocks that a matrix does not have, such as those of held nodes.
    pub const NONE: Self = Self(u32::MAX);
    const FLIPPED: u32 = 1 << 31;
    /// Indices from here on are not representable.
    pub(crate) const LIMIT: usize = (Self::FLIPPED - 1) as usize;

    pub(crate) fn new(offset: usize, flipped: bool) -> Self {
        debug_assert!(offset < Self::LIMIT, "checked when the pattern is built");
        Self(offset as u32 | if flipped { Self::FLIPPED } else { 0 })
    }

    #[inline]
    pub(crate) fn is_flipped(self) -> bool {
        self.0 & Self::FLIPPED != 0
    }

    /// The first number of the block among those of a matrix; of [`Slot::NONE`], beyond all of
    /// them.
    #[inline]
    #[must_use]
    pub fn offset(self) -> usize {
        (self.0 & !Self::FLIPPED) as usize
    }
}
