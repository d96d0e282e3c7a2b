//! Splitting convex polygons into triangles.

use glam::DVec3;

use super::error::ObjProblem;

/// Corners that turn by less (sine of the angle) count as straight: exporters round coordinates to
/// six decimals.
const STRAIGHT: f64 = 1e-3;
/// The least area of a triangle of the fan, relative to the squared size of the polygon.
const LEAST_AREA: f64 = 1e-12;
/// Diagonals of a quad count as equal within this fraction, so that rounding does not choose the
/// pattern of a grid.
const EQUAL: f64 = 1e-6;

/// The corner from which a fan of triangles fills the polygon. Uses up the points.
///
/// Convexity is judged in the plane of the polygon's mean (Newell) normal. Triangles pass as they
/// are.
pub(super) fn fan_apex(points: &mut [DVec3]) -> Result<usize, ObjProblem> {
    let n = points.len();
    if n == 3 {
        return Ok(0);
    }
    let (no_area, not_convex) = (ObjProblem::NoArea { corners: n }, ObjProblem::NotConvex { corners: n });
    if !normalise(points) {
        return Err(no_area);
    }
    let normal: DVec3 = (1..n - 1).map(|i| (points[i] - points[0]).cross(points[i + 1] - points[0])).sum();
    let area = normal.length();
    if area < LEAST_AREA {
        return Err(no_area);
    }
    let normal = normal / area;

    let mut turns = Vec::with_capacity(n);
    for i in 0..n {
        let (before, after) = (points[i] - points[(i + n - 1) % n], points[(i + 1) % n] - points[i]);
        let scale = before.length() * after.length();
        if scale == 0.0 {
            return Err(no_area);
        }
        turns.push(before.cross(after).dot(normal) / scale);
    }
    // The first and the last triangle of a fan have their tips beside the apex, which must not be
    // straight.
    let good = |apex: usize| turns[(apex + n - 1) % n] > STRAIGHT && turns[(apex + 1) % n] > STRAIGHT;
    let second_is_shorter = || points[1].distance(points[3]) < (1.0 - EQUAL) * points[0].distance(points[2]);
    let apex = if n == 4 && good(1) && second_is_shorter() { Some(1) } else { (0..n).find(|i| good(*i)) };
    match apex {
        Some(apex) if turns.iter().all(|turn| *turn >= -STRAIGHT) && fills(points, normal, apex) => Ok(apex),
        _ => Err(not_convex),
    }
}

/// Moves the polygon to the origin and scales it to size one, so that nothing overflows later.
/// False if it is a point.
fn normalise(points: &mut [DVec3]) -> bool {
    // Twice: differences of very large coordinates may overflow, too.
    for _ in 0..2 {
        let size = points.iter().fold(0.0, |size: f64, p| size.max(p.abs().max_element()));
        if size == 0.0 {
            return false;
        }
        for p in points.iter_mut() {
            *p /= size;
        }
        let origin = points[0];
        for p in points.iter_mut() {
            *p -= origin;
        }
    }
    true
}

/// Whether all triangles of the fan turn the same way, within half a turn in all. Left turns alone
/// are not enough: a pentagram has them, too.
fn fills(points: &[DVec3], normal: DVec3, apex: usize) -> bool {
    let n = points.len();
    let spoke = |i: usize| points[(apex + i) % n] - points[apex];
    let first = spoke(1);
    (1..n - 1).all(|i| {
        let (a, b) = (spoke(i), spoke(i + 1));
        a.cross(b).dot(normal) > LEAST_AREA
            && first.cross(b).dot(normal) > -STRAIGHT * first.length() * b.length()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Corners in the plane, tilted out of it.
    fn apex(corners: &[[f64; 2]], scale: f64) -> Result<usize, ObjProblem> {
        let mut points: Vec<DVec3> =
            corners.iter().map(|[x, y]| scale * DVec3::new(*x, 0.6 * y, 0.8 * y)).collect();
        fan_apex(&mut points)
    }

    fn regular(n: usize, step: usize) -> Vec<[f64; 2]> {
        let turn = std::f64::consts::TAU * step as f64 / n as f64;
        (0..n).map(|i| [(turn * i as f64).cos(), (turn * i as f64).sin()]).collect()
    }

    #[test]
    fn quads_are_split_along_the_shorter_diagonal() {
        for scale in [1e-300, 1e-3, 1.0, 1e300, -1e300] {
            assert_eq!(apex(&[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], scale), Ok(0));
            assert_eq!(apex(&[[0.0, 0.0], [1.0, 0.0], [2.0, 1.0], [1.0, 1.0]], scale), Ok(1));
            assert_eq!(apex(&[[1.0, 0.0], [2.0, 0.0], [1.0, 1.0], [0.0, 1.0]], scale), Ok(0));
        }
    }

    #[test]
    fn straight_corners_become_the_tips_of_no_triangle() {
        // A triangle with a vertex on an edge, wherever the list begins.
        let corners = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 3.0]];
        for shift in 0..4 {
            let mut corners = corners;
            corners.rotate_left(shift);
            assert_eq!(apex(&corners, 1.0).unwrap() % 2, (1 + shift) % 2);
        }
        // A square with a vertex on every edge: its fans start there.
        let square = [[0., 0.], [1., 0.], [2., 0.], [2., 1.], [2., 2.], [1., 2.], [0., 2.], [0., 1.]];
        assert_eq!(apex(&square, 1.0), Ok(1));
        assert_eq!(apex(&regular(1000, 1), 1.0), Ok(0));
    }

    #[test]
    fn what_a_fan_does_not_fill_is_refused() {
        let dart = [[0.0, 0.0], [2.0, -1.0], [1.0, 0.0], [2.0, 1.0]];
        let bow_tie = [[0.0, 0.0], [1.0, 1.1], [1.0, 0.0], [0.0, 1.0]];
        let flag = [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [1.0, 0.5], [0.0, 2.0]];
        for corners in [&dart[..], &bow_tie, &flag, &regular(5, 2), &regular(7, 3)] {
            let corners = corners.to_vec();
            for shift in 0..corners.len() {
                let mut corners = corners.clone();
                corners.rotate_left(shift);
                assert_eq!(apex(&corners, 1.0), Err(ObjProblem::NotConvex { corners: corners.len() }));
            }
        }
        // A curl: left turns only, twice around.
        let curl = [[0.0, 0.0], [2.0, -0.5], [2.0, 2.0], [-2.0, 2.0], [-2.0, -2.0], [2.5, -2.0], [1.5, 0.5]];
        assert_eq!(apex(&curl, 1.0), Err(ObjProblem::NotConvex { corners: 7 }));
        let line = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]];
        let point = [[1.0, 1.0]; 5];
        let double = [[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 1.0]];
        assert_eq!(apex(&line, 1.0), Err(ObjProblem::NoArea { corners: 4 }));
        assert_eq!(apex(&point, 1.0), Err(ObjProblem::NoArea { corners: 5 }));
        assert_eq!(apex(&double, 1.0), Err(ObjProblem::NoArea { corners: 4 }));
    }
}
