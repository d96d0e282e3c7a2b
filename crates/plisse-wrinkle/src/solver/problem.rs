//! What is to be solved.

use plisse_core::{Faces, Field, Id, Vertices};

use crate::complex::KeptComplex;
use crate::energy::Quadrature;
use crate::error::{WrinkleError, fits};
use crate::free::{FreeRule, wrinkle_free};
use crate::geometry::BaseSheet;

/// Wrinkles on a base: which faces may wrinkle, where the amplitude is held at zero, how the energy
/// is integrated.
#[derive(Clone, Debug)]
pub struct WrinkleProblem {
    sheet: BaseSheet,
    kept: Field<Faces, bool>,
    complex: KeptComplex,
    /// Vertices with amplitude zero.
    held: Field<Vertices, bool>,
    quadrature: Quadrature,
}

impl WrinkleProblem {
    /// Wrinkles wherever the rule does not exclude them, no vertex clamped, exact integration.
    ///
    /// # Errors
    /// None that a valid sheet gives; those of [`with_free_faces`](Self::with_free_faces).
    pub fn new(sheet: BaseSheet, rule: FreeRule) -> Result<Self, WrinkleError> {
        let free = wrinkle_free(&sheet, rule);
        Self::with_free_faces(sheet, &free)
    }

    /// The same with `free` saying for every face whether it is held free of wrinkles. The
    /// amplitude is zero on all vertices of such faces.
    ///
    /// # Errors
    /// [`WrinkleError::Length`] if that is not one value per face.
    pub fn with_free_faces(sheet: BaseSheet, free: &Field<Faces, bool>) -> Result<Self, WrinkleError> {
        fits("wrinkle-free faces", free, sheet.mesh().face_count())?;
        let kept = free.map(|free| !free);
        let complex = KeptComplex::new(sheet.mesh(), &kept)?;
        let held = Field::from_fn(sheet.mesh().vertex_count(), |vertex| {
            let around = sheet.mesh().vertex_faces(vertex);
            // A vertex of no face at all has no amplitude either.
            around.is_empty() || around.iter().any(|face| free[*face])
        });
        Ok(Self { sheet, kept, complex, held, quadrature: Quadrature::Exact })
    }

    /// Clamps vertices: their amplitude is zero too.
    ///
    /// # Errors
    /// [`WrinkleError::NoSuchVertex`] for one that the mesh does not have.
    pub fn with_clamped(mut self, vertices: &[Id<Vertices>]) -> Result<Self, WrinkleError> {
        for &vertex in vertices {
            if vertex.index() >= self.held.len() {
                return Err(WrinkleError::NoSuchVertex { vertex, count: self.held.len() });
            }
            self.held[vertex] = true;
        }
        Ok(self)
    }

    /// Integrates powers of the amplitude by this rule.
    #[must_use]
    pub fn with_quadrature(mut self, quadrature: Quadrature) -> Self {
        self.quadrature = quadrature;
        self
    }

    /// The base.
    #[must_use]
    pub fn sheet(&self) -> &BaseSheet {
        &self.sheet
    }

    /// The faces that may wrinkle.
    #[must_use]
    pub fn kept(&self) -> &Field<Faces, bool> {
        &self.kept
    }

    /// The faces that may wrinkle, as a complex.
    #[must_use]
    pub fn complex(&self) -> &KeptComplex {
        &self.complex
    }

    /// The vertices whose amplitude is zero: those of faces that may not wrinkle, and clamped ones.
    #[must_use]
    pub fn held(&self) -> &Field<Vertices, bool> {
        &self.held
    }

    /// How powers of the amplitude are integrated.
    #[must_use]
    pub fn quadrature(&self) -> Quadrature {
        self.quadrature
    }
}
