//! How long the waves are.

use std::f64::consts::TAU;

use plisse_core::{Edges, Field, Vertices};

use crate::energy::mean2;
use crate::geometry::BaseSheet;

impl BaseSheet {
    /// The wavelength of a field of wrinkles in metres of the rest shape:
    /// `2π √(∫a² dA / ∫a² |w|² dA)`, which is 2π times the height over the slope of the waves, both
    /// as root mean squares. `None` if no amplitude is positive, or no frequency where one is.
    ///
    /// This is what compares wrinkles on different meshes, and on sheets where the phase closes
    /// around no loop. Places count as much as they wrinkle. Turns of the phase from one place to
    /// another do not tell: where the amplitude is next to nothing the energy hardly determines the
    /// frequency. The width of a sheet over this length is the number of waves that it would have
    /// if it wrinkled all over.
    ///
    /// Amplitudes per vertex in m, differences of the phase per edge in rad, from the smaller to
    /// the larger vertex. Neither the direction of the waves nor the sign of the phase matters.
    ///
    /// # Panics
    /// If a field is too short for the mesh.
    #[must_use]
    pub fn wavelength(&self, a: &Field<Vertices, f64>, omega: &Field<Edges, f64>) -> Option<f64> {
        let (mut height, mut slope) = (0.0, 0.0);
        for (id, face) in self.faces().iter() {
            let square = face.area() * mean2(self.mesh().faces()[id].map(|v| a[v]));
            height += square;
            slope += square * face.covector(self.face_omega(id, omega)).length_squared();
        }
        let length = TAU * (height / slope).sqrt();
        (height > 0.0 && length.is_finite()).then_some(length)
    }
}
