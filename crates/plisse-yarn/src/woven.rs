//! Rectangular patches.

use glam::DVec3;

use crate::error::PatchError;
use crate::patch::Patch;
use crate::weave::Weave;
use crate::yarn::{Contacts, Family, Yarn, YarnMaterial};

/// A rectangular patch in the plane `z = 0`, from the origin to positive coordinates. Warp yarns
/// run along x, weft yarns along y; the crossing of warp `j` and weft `i` is node
/// `j · counts[0] + i`.
///
/// ```
/// use plisse_yarn::Woven;
/// let patch = Woven { counts: [8, 6], ..Woven::default() }.patch()?;
/// assert_eq!(patch.len(), 48);
/// assert_eq!(patch.yarns().len(), 14);
/// # Ok::<(), plisse_yarn::PatchError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Woven {
    /// Crossings along x and along y: numbers of weft yarns and of warp yarns.
    pub counts: [usize; 2],
    /// Distances between crossings along x and along y, m.
    pub spacing: [f64; 2],
    /// Lengths of warp and of weft yarns beyond their outer crossings, m. Where it is zero, the
    /// outer crossings are the ends and nothing slides there; else the ends are nodes of their own,
    /// after the crossings: two for each warp yarn, then two for each weft yarn.
    pub tails: [f64; 2],
    /// Which yarn is on top.
    pub weave: Weave,
    /// Material of the warp yarns.
    pub warp: YarnMaterial,
    /// Material of the weft yarns.
    pub weft: YarnMaterial,
    /// What happens between yarns.
    pub contacts: Contacts,
}

impl Default for Woven {
    /// A square of 11 by 11 crossings, plain weave of cotton, a millimetre apart, without tails.
    fn default() -> Self {
        Self {
            counts: [11, 11],
            spacing: [1e-3, 1e-3],
            tails: [0.0, 0.0],
            weave: Weave::plain(),
            warp: YarnMaterial::COTTON,
            weft: YarnMaterial::COTTON,
            contacts: Contacts::COTTON,
        }
    }
}

impl Woven {
    /// The patch.
    ///
    /// # Errors
    /// [`PatchError`] as [`Patch::new`]; a negative tail counts as a material that was refused.
    pub fn patch(&self) -> Result<Patch, PatchError> {
        let [nx, ny] = self.counts;
        let [dx, dy] = self.spacing;
        for (what, value, family) in
            [("the tail", self.tails[0], Family::Warp), ("the tail", self.tails[1], Family::Weft)]
        {
            if !(value >= 0.0 && value.is_finite()) {
                let expected = "give zero or a positive length in metres";
                return Err(PatchError::Material { yarn: format!("{family} 0"), what, value, expected });
            }
        }
        let mut x = Vec::with_capacity(nx * ny + 2 * (nx + ny));
        let mut over = Vec::with_capacity(x.capacity());
        for j in 0..ny {
            for i in 0..nx {
                x.push(DVec3::new(i as f64 * dx, j as f64 * dy, 0.0));
                over.push(self.weave.warp_is_over(j, i));
            }
        }
        let mut yarns = Vec::with_capacity(nx + ny);
        let mut add = |family: Family, number: usize, nodes: Vec<u32>, spacing: f64, x: &mut Vec<DVec3>| {
            let (material, tail, along) = match family {
                Family::Warp => (self.warp, self.tails[0], DVec3::X),
                Family::Weft => (self.weft, self.tails[1], DVec3::Y),
            };
            let mut lengths: Vec<f64> = (0..nodes.len()).map(|k| tail + k as f64 * spacing).collect();
            let mut nodes = nodes;
            if let (true, Some(&first), Some(&last)) = (tail > 0.0, nodes.first(), nodes.last()) {
                let ends = [x[first as usize] - along * tail, x[last as usize] + along * tail];
                lengths.insert(0, 0.0);
                lengths.push(2.0 * tail + (nodes.len() - 1) as f64 * spacing);
                nodes.insert(0, x.len() as u32);
                nodes.push(x.len() as u32 + 1);
                x.extend(ends);
            }
            yarns.push(Yarn { family, number, material, nodes, lengths });
        };
        for j in 0..ny {
            let nodes = (0..nx).map(|i| (j * nx + i) as u32).collect();
            add(Family::Warp, j, nodes, dx, &mut x);
        }
        for i in 0..nx {
            let nodes = (0..ny).map(|j| (j * nx + i) as u32).collect();
            add(Family::Weft, i, nodes, dy, &mut x);
        }
        over.resize(x.len(), true);
        Patch::new(x, yarns, over, self.contacts)
    }
}
