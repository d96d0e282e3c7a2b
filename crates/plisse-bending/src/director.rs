//! Mid-edge bending whose directors are unknowns.

use glam::DVec3;
use plisse_core::{Id, MixedBlocks, MixedElement, Psd, RestShape, Vertices};

use crate::koiter::KoiterBending;

/// A face of a shell with one director angle per edge as an unknown: see
/// [free directors](KoiterBending#free-directors). The numbers of the unknowns are those of the
/// edges of the mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirectorBending {
    face: KoiterBending,
    /// Added to the diagonal of the Hessian, N m.
    floor: [f64; 3],
}

/// The part of its stiffness at rest that every director keeps in the Hessian. A triangle that has
/// collapsed to a line bends no more, and its directors would be undetermined.
const FLOOR: f64 = 1e-9;

impl DirectorBending {
    /// A face and the rest shape from which it was built.
    #[must_use]
    pub fn new(face: KoiterBending, rest: &RestShape) -> Self {
        Self { face, floor: face.director_stiffness(rest).map(|stiffness| FLOOR * stiffness) }
    }

    /// The face.
    #[must_use]
    pub fn face(&self) -> &KoiterBending {
        &self.face
    }
}

impl MixedElement<6, 3> for DirectorBending {
    type Space = Vertices;

    fn nodes(&self) -> [Id<Vertices>; 6] {
        plisse_core::Element::nodes(&self.face)
    }

    fn own(&self) -> [u32; 3] {
        self.face.edges().map(Id::get)
    }

    fn energy(&self, x: &[DVec3; 6], directors: &[f64; 3]) -> f64 {
        self.face.energy_with_directors(x, directors)
    }

    fn gradient(&self, x: &[DVec3; 6], directors: &[f64; 3]) -> ([DVec3; 6], [f64; 3]) {
        self.face.gradient_with_directors(x, directors)
    }

    fn hessian(&self, x: &[DVec3; 6], directors: &[f64; 3], psd: Psd) -> MixedBlocks<6, 3> {
        let all = self.face.evaluate_with_directors(x, directors, psd);
        let mut own = all.director_hessian;
        for (j, floor) in self.floor.into_iter().enumerate() {
            own[j][j] += floor;
        }
        MixedBlocks { nodes: all.hessian, mixed: all.mixed_hessian, own }
    }

    fn longest_step(&self, x: &[DVec3; 6], directors: &[f64; 3], to: &[DVec3; 6], end: &[f64; 3]) -> f64 {
        if !self.face.has_pole() {
            return f64::INFINITY;
        }
        let way = std::array::from_fn(|i| to[i] - x[i]);
        let turn = std::array::from_fn(|j| end[j] - directors[j]);
        self.face.longest_step(x, directors, &way, &turn)
    }
}
