//! How far a phase has moved from one frame to the next.

use std::f64::consts::TAU;

use plisse_core::{Faces, Field, TriMesh, TriangleMap, Vertices};

use super::field::PhaseField;
use crate::error::{WrinkleError, fits};

/// Visible are amplitudes above this part of the largest.
const VISIBLE: f64 = 0.2;

/// How far a phase has moved between two frames, as an angle from 0 to π: whole turns are not seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhaseStep {
    /// Largest difference in radians over the corners that are visible in both frames: their
    /// amplitude is above a fifth of the largest of its frame. At π a crest has become a trough.
    pub largest: f64,
    /// Root mean square in radians over all corners with a phase in both frames, with the weight
    /// `a a_before A`, `A` being the area at rest. At most π.
    pub mean: f64,
}

/// The step from one phase to the next on the same mesh: what is seen when wrinkles pop.
///
/// A continuous motion of waves gives small steps, whatever their shape. If the number of waves
/// around a loop changes by one, the difference of both phases winds once around it and takes the
/// value π somewhere: `largest` then is near π if the whole loop is visible.
///
/// `None` if nothing is visible in both frames.
///
/// # Errors
/// [`WrinkleError::Length`] for values of another mesh.
pub fn phase_step(
    mesh: &TriMesh,
    rest: &Field<Faces, TriangleMap>,
    before: (&PhaseField, &Field<Vertices, f64>),
    now: (&PhaseField, &Field<Vertices, f64>),
) -> Result<Option<PhaseStep>, WrinkleError> {
    fits("rest shapes", rest, mesh.face_count())?;
    for (phase, amplitude) in [before, now] {
        fits("phases", phase.corners(), mesh.face_count())?;
        fits("amplitudes", amplitude, mesh.vertex_count())?;
    }
    let top = |a: &Field<Vertices, f64>| a.as_slice().iter().fold(0.0, |m: f64, a| m.max(*a));
    let (top_before, top_now) = (top(before.1), top(now.1));
    let (mut largest, mut sum, mut weights) = (None, 0.0, 0.0);
    for (face, corners) in mesh.faces().iter() {
        let (Some(old), Some(new)) = (before.0.at(face), now.0.at(face)) else { continue };
        for i in 0..3 {
            let turns = (new[i] - old[i]) / TAU;
            let off = TAU * (turns - turns.round()).abs();
            let (a_before, a_now) = (before.1[corners[i]] / top_before, now.1[corners[i]] / top_now);
            let weight = a_before * a_now * rest[face].area();
            sum += weight * off * off;
            weights += weight;
            if a_before > VISIBLE && a_now > VISIBLE {
                largest = Some(largest.map_or(off, |m: f64| m.max(off)));
            }
        }
    }
    Ok(largest.map(|largest| PhaseStep { largest, mean: (sum / weights).sqrt() }))
}
