//! Refuses bodies that start inside obstacles.

use glam::DVec3;

use super::SceneError;
use super::obstacle::Obstacle;

/// Vertices of a body where they start.
pub(super) struct Placed<'a> {
    /// Name of the body.
    pub(super) name: String,
    /// Positions, m.
    pub(super) x: &'a [DVec3],
    /// Radii around the vertices, m.
    pub(super) radii: &'a [f64],
    /// Whether each vertex is held entirely.
    pub(super) held: &'a [bool],
    /// Whether each vertex is tangled with obstacles that are made of triangles, and may be.
    pub(super) tangled: &'a [bool],
}

/// Checks that no vertex starts as deep inside an obstacle as `depth` says, in metres, or deeper.
///
/// Contact would throw out what starts inside, to whichever side is near. Vertices that are held
/// entirely may be anywhere: contact cannot move them, and cloth that is clamped into a body is no
/// mistake. Where contact sees flat sides instead of a round surface, their corners count, too.
pub(super) fn check_start(
    obstacles: &[Obstacle],
    bodies: &[Placed<'_>],
    depth: impl Fn(&Obstacle) -> f64,
) -> Result<(), SceneError> {
    for (index, obstacle) in obstacles.iter().enumerate() {
        for body in bodies {
            check_body(obstacle, index, body, depth(obstacle))?;
        }
    }
    Ok(())
}

fn check_body(obstacle: &Obstacle, index: usize, body: &Placed<'_>, allowed: f64) -> Result<(), SceneError> {
    let mut deepest: Option<(usize, f64)> = None;
    let mut count = 0;
    let is_excused = |v: usize| body.held[v] || body.tangled[v] && obstacle.is_faceted();
    for (v, x) in body.x.iter().enumerate().filter(|(v, _)| !is_excused(*v)) {
        let depth = body.radii[v] + obstacle.bulge() - obstacle.distance(0.0, *x).value;
        if depth >= allowed {
            count += 1;
            if deepest.is_none_or(|(_, most)| depth > most) {
                deepest = Some((v, depth));
            }
        }
    }
    let Some((vertex, depth)) = deepest else { return Ok(()) };
    let gradient = obstacle.distance(0.0, body.x[vertex]).gradient;
    Err(SceneError::StartsInside {
        body: body.name.clone(),
        obstacle: obstacle.called(index),
        count,
        total: body.x.len() as u32,
        vertex: vertex as u32,
        place: body.x[vertex].to_array(),
        depth,
        outwards: gradient.to_array(),
    })
}
