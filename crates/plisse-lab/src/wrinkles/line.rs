//! A line across a mesh in the plane.

use glam::DVec2;
use plisse::core::{Field, TriMesh, Vertices};

/// From one place to another, in metres.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub(crate) from: DVec2,
    pub(crate) to: DVec2,
}

impl Line {
    pub(crate) fn new(from: [f64; 2], to: [f64; 2]) -> Self {
        Self { from: from.into(), to: to.into() }
    }

    /// Barycentric coordinates where the line enters a triangle and where it leaves it, in this
    /// order.
    pub(crate) fn in_triangle(&self, [a, b, c]: [DVec2; 3]) -> Option<[[f64; 3]; 2]> {
        let twice = (b - a).perp_dot(c - a);
        let at = |p: DVec2| {
            let (u, v) = ((p - a).perp_dot(c - a) / twice, (b - a).perp_dot(p - a) / twice);
            [1.0 - u - v, u, v]
        };
        let (start, end) = (at(self.from), at(self.to));
        let (mut low, mut high) = (0.0f64, 1.0f64);
        for i in 0..3 {
            let slope = end[i] - start[i];
            let zero = -start[i] / slope;
            if slope > 0.0 {
                low = low.max(zero);
            } else if slope < 0.0 {
                high = high.min(zero);
            } else if start[i] < 0.0 {
                return None;
            }
        }
        let point = |t: f64| std::array::from_fn(|i| start[i] + t * (end[i] - start[i]));
        (low < high).then(|| [point(low), point(high)])
    }

    /// Values at the vertices along the line, by the distance from its start in metres.
    pub(crate) fn profile(
        &self,
        mesh: &TriMesh,
        place: &Field<Vertices, DVec2>,
        value: impl Fn(plisse::core::Id<Vertices>) -> f64,
    ) -> Vec<(f64, f64)> {
        let direction = (self.to - self.from).normalize_or_zero();
        let mut points = Vec::new();
        for corners in mesh.faces().as_slice() {
            let Some(ends) = self.in_triangle(corners.map(|v| place[v])) else { continue };
            // Both ends would come twice, from the face on either side.
            let middle: [f64; 3] = std::array::from_fn(|i| 0.5 * (ends[0][i] + ends[1][i]));
            let at: DVec2 = (0..3).map(|i| middle[i] * place[corners[i]]).sum();
            let height: f64 = (0..3).map(|i| middle[i] * value(corners[i])).sum();
            points.push((direction.dot(at - self.from), height));
        }
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    }
}

/// Waves of a profile, half of its changes of sign, and half the largest rise from a trough to the
/// crest next to it. Swings below a twentieth of the largest are none.
pub(crate) fn swings(profile: &[(f64, f64)]) -> (f64, f64) {
    let largest = profile.iter().fold(0.0f64, |m, (_, z)| m.max(z.abs()));
    let (mut changes, mut sign, mut peak, mut rise) = (0usize, 0.0f64, 0.0f64, 0.0f64);
    for &(_, z) in profile {
        if z.abs() < 0.05 * largest {
            continue;
        }
        if z * sign < 0.0 {
            changes += 1;
            rise = rise.max(peak.abs());
            peak = 0.0;
        }
        sign = z.signum();
        if z.abs() > peak.abs() {
            peak = z;
        }
    }
    (0.5 * changes as f64, rise.max(peak.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_by_triangles() {
        let triangle = [DVec2::ZERO, DVec2::new(2.0, 0.0), DVec2::new(0.0, 2.0)];
        let line = Line::new([-1.0, 0.5], [3.0, 0.5]);
        let Some([enters, leaves]) = line.in_triangle(triangle) else { panic!("it crosses") };
        for (found, expected) in
            enters.iter().zip([0.75, 0.0, 0.25]).chain(leaves.iter().zip([0.0, 0.75, 0.25]))
        {
            assert!((found - expected).abs() < 1e-15, "{enters:?} {leaves:?}");
        }
        assert!(Line::new([-1.0, 2.5], [3.0, 2.5]).in_triangle(triangle).is_none());
        assert!(Line::new([-1.0, 0.5], [-0.1, 0.5]).in_triangle(triangle).is_none());
    }

    #[test]
    fn waves_of_a_sine_are_counted() {
        let profile: Vec<_> = (0..=500)
            .map(|i| {
                let t = f64::from(i) / 500.0;
                (t, 0.3 * (std::f64::consts::TAU * 5.0 * t + 0.2).sin())
            })
            .collect();
        let (waves, amplitude) = swings(&profile);
        assert!((waves - 5.0).abs() < 0.6 && (amplitude - 0.3).abs() < 1e-3, "{waves} {amplitude}");
    }
}
