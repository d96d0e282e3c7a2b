//! Patches with cuts: yarns that end there.

use glam::DVec3;

use crate::error::PatchError;
use crate::patch::{Patch, side};
use crate::yarn::Yarn;

/// Of the material between two crossings beyond what their yarns need, the part that a cut leaves
/// to each side.
const LEFT: f64 = 0.45;

impl Patch {
    /// The patch with every segment cut for whose ends at rest `is_cut` is true. Both pieces of a
    /// yarn keep its name, and end at nodes of their own, which come after all others: a little
    /// less than half of the material between the two crossings remains with each. Crossings next
    /// to a cut can slide to its end, where they stay, as at the end of any yarn.
    ///
    /// # Errors
    /// As [`Patch::new`].
    ///
    /// ```
    /// use plisse_yarn::Woven;
    /// let patch = Woven { counts: [4, 3], ..Woven::default() }.patch()?;
    /// // Across the middle of all three warp yarns.
    /// let torn = patch.cut(|a, b| (a.x < 1.5e-3) != (b.x < 1.5e-3))?;
    /// assert_eq!((torn.yarns().len(), torn.len()), (10, 12 + 6));
    /// # Ok::<(), plisse_yarn::PatchError>(())
    /// ```
    pub fn cut(&self, is_cut: impl Fn(DVec3, DVec3) -> bool) -> Result<Self, PatchError> {
        let mut x = self.rest().to_vec();
        let mut yarns = Vec::with_capacity(self.yarns().len());
        for yarn in self.yarns() {
            let (family, number, material) = (yarn.family, yarn.number, yarn.material);
            let mut piece = Yarn { family, number, material, nodes: Vec::new(), lengths: Vec::new() };
            for (k, (&node, &length)) in yarn.nodes.iter().zip(&yarn.lengths).enumerate() {
                piece.nodes.push(node);
                piece.lengths.push(length);
                let Some(&next) = yarn.nodes.get(k + 1) else { break };
                let [a, b] = [node, next].map(|node| self.rest()[node as usize]);
                if !is_cut(a, b) {
                    continue;
                }
                let whole = yarn.lengths[k + 1] - length;
                let radii = [node, next].map(|node| self.crossing_radius(yarn, node));
                let spare = LEFT * (whole - radii[0] - radii[1]).max(0.0);
                let [before, after] = radii.map(|radius| radius + spare);
                let mut end = |place: DVec3| {
                    x.push(place);
                    x.len() as u32 - 1
                };
                piece.nodes.push(end(a.lerp(b, before / whole)));
                piece.lengths.push(length + before);
                let first = (end(b.lerp(a, after / whole)), yarn.lengths[k + 1] - after);
                let rest = Yarn { family, number, material, nodes: vec![first.0], lengths: vec![first.1] };
                yarns.push(std::mem::replace(&mut piece, rest));
            }
            yarns.push(piece);
        }
        let mut over: Vec<bool> = (0..self.len() as u32).map(|node| self.warp_is_over(node)).collect();
        over.resize(x.len(), true);
        Self::new(x, yarns, over, *self.contacts())
    }

    /// Radius of the yarn that crosses another at a node, m; zero where none does.
    fn crossing_radius(&self, yarn: &Yarn, node: u32) -> f64 {
        let other = self.at_node(node)[1 - side(yarn.family)];
        other.map_or(0.0, |at| self.yarns()[at.yarn].material.radius)
    }
}
