//! How high the waves of a sheet can be.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use plisse_core::{Edges, Field, Vertices};

use crate::error::{WrinkleError, fits};
use crate::geometry::BaseSheet;

impl BaseSheet {
    /// A bound of the amplitudes that the sheet has material for, in m at rest.
    ///
    /// A wave of amplitude `a` climbs by `2a` from trough to crest, along a path in the sheet,
    /// which is at most as long as the diameter of its piece. The distance `d` of the vertex
    /// farthest from any other, along edges, bounds this diameter by `2d`. So no amplitude is
    /// larger than `d`, the largest over all pieces. Vertices without faces do not count.
    ///
    /// ```
    /// use plisse_core::{Field, IsotropicSheet, PoissonRatio, Positive, RestShape, generate};
    /// use plisse_wrinkle::{BaseSheet, Curvature, WrinkleError};
    /// let (mesh, uv) = generate::irregular_grid(10, 4, [0.25, 0.1], 1)?;
    /// let rest = RestShape::from_uv(&mesh, &uv)?;
    /// // At rest, however far the base is stretched.
    /// let x = uv.map(|u| glam::DVec3::new(2.0 * u.x, u.y, 0.0));
    /// let [young, thickness] = [1e6, 1e-4].map(Positive::literal);
    /// let film = IsotropicSheet::new(young, PoissonRatio::literal(0.5), thickness);
    /// let base = BaseSheet::new(&mesh, rest.maps(), &x, film, Curvature::default())?;
    /// assert!(base.reach() > 0.125 && base.reach() < 0.35);
    /// assert_eq!(base.check_amplitudes(&Field::filled(mesh.vertex_count(), 0.01)), Ok(()));
    /// let high = base.check_amplitudes(&Field::filled(mesh.vertex_count(), 0.5));
    /// assert!(matches!(high, Err(WrinkleError::TooHigh { amplitude: 0.5, .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn reach(&self) -> f64 {
        let lengths = self.rest_lengths();
        let mesh = self.mesh();
        let mut distance: Field<Vertices, f64> = Field::filled(mesh.vertex_count(), f64::INFINITY);
        let mut reach: f64 = 0.0;
        for start in mesh.vertices() {
            if distance[start] < f64::INFINITY {
                continue;
            }
            // Dijkstra's algorithm. Bits of numbers that are not negative have the order of the
            // numbers.
            let mut next = BinaryHeap::from([(Reverse(0_u64), start)]);
            distance[start] = 0.0;
            while let Some((Reverse(bits), v)) = next.pop() {
                let here = f64::from_bits(bits);
                if here > distance[v] {
                    continue;
                }
                reach = reach.max(here);
                for &edge in mesh.vertex_edges(v) {
                    let [a, b] = mesh.edges()[edge].vertices;
                    let (to, there) = (if a == v { b } else { a }, here + lengths[edge]);
                    if there < distance[to] {
                        distance[to] = there;
                        next.push((Reverse(there.to_bits()), to));
                    }
                }
            }
        }
        reach
    }

    /// That the sheet has material for all amplitudes, given in m: none is above its
    /// [reach](Self::reach).
    ///
    /// Where nothing limits the length of the waves, neither tension along the crests nor
    /// amplitudes that are held at zero, the energy falls as they become longer and higher without
    /// end. It then has no minimum, and what a solver returns means nothing.
    ///
    /// # Errors
    /// [`WrinkleError::TooHigh`] for one that is larger, infinite or NaN, [`WrinkleError::Length`]
    /// for amplitudes of another mesh.
    pub fn check_amplitudes(&self, amplitude: &Field<Vertices, f64>) -> Result<(), WrinkleError> {
        fits("amplitudes", amplitude, self.mesh().vertex_count())?;
        let reach = self.reach();
        // NaN is the largest of all.
        let highest = amplitude.iter().max_by(|(_, a), (_, b)| a.total_cmp(b));
        match highest {
            Some((vertex, &amplitude)) if amplitude.is_nan() || amplitude > reach => {
                Err(WrinkleError::TooHigh { vertex, amplitude, reach })
            }
            _ => Ok(()),
        }
    }

    /// Lengths of the edges at rest, in m; along a seam the larger of two.
    fn rest_lengths(&self) -> Field<Edges, f64> {
        let mut lengths = Field::filled(self.mesh().edge_count(), 0.0);
        for (id, face) in self.faces().iter() {
            for (edge, gradient) in self.mesh().face_edges()[id].into_iter().zip(face.gradients) {
                // The gradient of a barycentric coordinate is one over the height on the edge.
                let length: f64 = 2.0 * face.area() * gradient.length();
                lengths[edge] = length.max(lengths[edge]);
            }
        }
        lengths
    }
}
