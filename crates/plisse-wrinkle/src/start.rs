//! Where the solver starts.

use std::collections::VecDeque;

use glam::DVec2;
use plisse_core::{Edges, Faces, Field, Id, Vertices};

use crate::error::WrinkleError;
use crate::solver::{Point, WrinkleProblem, WrinkleSystem};

/// A guess of amplitude and wavelength. The energy has many minima; which one is found depends on
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrinkleStart {
    /// Amplitudes proportional to `√(2|λ₂|)`, as long an arc as the compression needs, the largest
    /// one a hundredth of the extent of the base, and one wavelength everywhere (Chen21, section
    /// 5.1). Knows nothing about thickness and tension.
    Strain,
    /// The wavelength at which a sheet of the size of this one, under its mean tension, would
    /// wrinkle (CM03: `k⁴ = π² T/(B L²)`), and the amplitude `√(2ε)/k` with `ε = -(λ₂ + ν λ₁)`, the
    /// compression beyond what the tension across makes by itself.
    Stress,
}

/// The unknowns at the start. Needs the matrix of the system for a linear solve.
pub(crate) fn start(system: &mut WrinkleSystem<'_>, start: WrinkleStart) -> Result<Point, WrinkleError> {
    let problem = system.problem();
    let guess = match start {
        WrinkleStart::Strain => strain_guess(problem),
        WrinkleStart::Stress => stress_guess(problem).unwrap_or_else(|| strain_guess(problem)),
    };
    let signs = comb(problem, &guess.amplitude);
    let target = Field::from_fn(signs.len(), |face| {
        let across: DVec2 = problem.sheet().faces()[face].directions()[1];
        across * (signs[face] * guess.frequency)
    });
    let (phi, c) = system.nearest_form(&target)?;
    Ok(Point::new(system, vertex_amplitudes(problem, &guess.amplitude), phi, c))
}

/// Amplitude of each face in m, and one frequency in rad/m.
struct Guess {
    amplitude: Field<Faces, f64>,
    frequency: f64,
}

/// `a k` of a wave that takes up this compression, a change of `FᵀF`. What is left of a base at
/// rest by rounding is none: scaled up to an amplitude, it would be taken for wrinkles.
fn slope(compression: f64) -> f64 {
    if compression > 1e-12 { (2.0 * compression).sqrt() } else { 0.0 }
}

fn strain_guess(problem: &WrinkleProblem) -> Guess {
    let sheet = problem.sheet();
    let slopes = sheet.faces().map(|face| slope(-face.strains()[1]));
    let steepest = slopes.as_slice().iter().fold(0.0f64, |m, s| m.max(*s));
    let x = sheet.x().as_slice();
    let (low, high) = x.iter().fold((x[0], x[0]), |(low, high), p| (low.min(*p), high.max(*p)));
    let largest = 0.01 * (high - low).max_element();
    // Without compression or extent any length will do: amplitudes are zero.
    let length = if steepest > 0.0 && largest > 0.0 { largest / steepest } else { sheet.sheet().thickness() };
    Guess { amplitude: slopes.map(|slope| length * slope), frequency: 1.0 / length }
}

/// `None` where nothing is under tension.
fn stress_guess(problem: &WrinkleProblem) -> Option<Guess> {
    let sheet = problem.sheet();
    let (nu, h) = (sheet.sheet().poisson(), sheet.sheet().thickness());
    let (mut area, mut tension) = (0.0, 0.0);
    for face in sheet.faces().as_slice() {
        area += face.area();
        tension += face.area() * face.strains()[0].max(0.0);
    }
    let mean = tension / area;
    let frequency =
        std::f64::consts::PI.sqrt() * (6.0 * (1.0 - nu * nu) * mean / (h * h)).powf(0.25) / area.powf(0.25);
    (frequency > 0.0 && frequency.is_finite()).then(|| Guess {
        amplitude: sheet.faces().map(|face| {
            let [along, across] = face.strains();
            slope(-(across + nu * along)) / frequency
        }),
        frequency,
    })
}

/// Vertices take the mean of their faces and are smoothed twice over their neighbours. Held ones
/// are zero all the time.
fn vertex_amplitudes(problem: &WrinkleProblem, face: &Field<Faces, f64>) -> Field<Vertices, f64> {
    let mesh = problem.sheet().mesh();
    let free = |vertex, value: f64, count: usize| {
        if problem.held()[vertex] || count == 0 { 0.0 } else { value / count as f64 }
    };
    let mut a = Field::from_fn(mesh.vertex_count(), |vertex| {
        let around = mesh.vertex_faces(vertex);
        free(vertex, around.iter().map(|f| face[*f]).sum(), around.len())
    });
    for _ in 0..2 {
        a = Field::from_fn(mesh.vertex_count(), |vertex| {
            let around = mesh.vertex_edges(vertex);
            let other = |edge: &Id<Edges>| {
                let [v0, v1] = mesh.edges()[*edge].vertices;
                a[if v0 == vertex { v1 } else { v0 }]
            };
            free(vertex, around.iter().map(other).sum(), around.len())
        });
    }
    a
}

/// A sign for the direction across the wrinkles of every kept face, so that neighbours agree
/// wherever possible. The signs spread along a spanning tree that prefers edges between large
/// amplitudes: jumps, if there must be some, are where little wrinkles.
fn comb(problem: &WrinkleProblem, amplitude: &Field<Faces, f64>) -> Field<Faces, f64> {
    let (mesh, kept) = (problem.sheet().mesh(), problem.kept());
    let mut joints: Vec<(f64, Id<Edges>, [Id<Faces>; 2])> = Vec::new();
    for (id, edge) in mesh.edges().iter() {
        if let (left, Some(right)) = edge.faces
            && kept[left]
            && kept[right]
        {
            joints.push((amplitude[left].min(amplitude[right]), id, [left, right]));
        }
    }
    joints.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));

    let mut tree: Vec<Vec<(Id<Faces>, f64)>> = vec![Vec::new(); mesh.face_count()];
    let mut set: Vec<usize> = (0..mesh.face_count()).collect();
    let find = |set: &mut Vec<usize>, mut at: usize| {
        while set[at] != at {
            set[at] = set[set[at]];
            at = set[at];
        }
        at
    };
    for (_, edge, faces) in joints {
        let [a, b] = faces.map(|face| find(&mut set, face.index()));
        if a != b {
            set[a.max(b)] = a.min(b);
            let sign = agreement(problem, edge, faces);
            tree[faces[0].index()].push((faces[1], sign));
            tree[faces[1].index()].push((faces[0], sign));
        }
    }

    let mut signs = Field::filled(mesh.face_count(), 0.0);
    let mut queue = VecDeque::new();
    for (root, keep) in kept.iter() {
        if *keep && signs[root] == 0.0 {
            signs[root] = 1.0;
            queue.push_back(root);
        }
        while let Some(face) = queue.pop_front() {
            for &(next, sign) in &tree[face.index()] {
                if signs[next] == 0.0 {
                    signs[next] = sign * signs[face];
                    queue.push_back(next);
                }
            }
        }
    }
    signs
}

/// Whether the directions across of two faces point the same way when the rest triangles are laid
/// out side by side. The rest is there for sewn panels and for base triangles that have collapsed.
fn agreement(problem: &WrinkleProblem, edge: Id<Edges>, faces: [Id<Faces>; 2]) -> f64 {
    let (mesh, sheet) = (problem.sheet().mesh(), problem.sheet());
    // Along the edge as the face walks it, and inwards, which is where the coordinate of the
    // opposite corner grows.
    let [left, right] = faces.map(|face| {
        let base = &sheet.faces()[face];
        let (g1, g2) = (base.covector([1.0, 0.0]), base.covector([0.0, 1.0]));
        let inwards = match mesh.face_edges()[face].iter().position(|e| *e == edge) {
            Some(1) => g1,
            Some(2) => g2,
            _ => -(g1 + g2),
        }
        .normalize_or_zero();
        // A rest triangle may be wound either way in its own frame.
        let along = if g1.perp_dot(g2) > 0.0 { -inwards.perp() } else { inwards.perp() };
        let across = base.directions()[1];
        DVec2::new(across.dot(along), across.dot(inwards))
    });
    // What is inwards and along for one is outwards and back for the other.
    if left.dot(right) <= 0.0 { 1.0 } else { -1.0 }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use plisse_core::generate::{self, Diagonal};
    use plisse_core::{IsotropicSheet, PoissonRatio, Positive, RestShape};

    use super::*;
    use crate::curvature::Curvature;
    use crate::free::FreeRule;
    use crate::geometry::BaseSheet;

    fn material() -> IsotropicSheet {
        IsotropicSheet::new(
            Positive::new(1e7).unwrap(),
            PoissonRatio::literal(0.3),
            Positive::new(1e-3).unwrap(),
        )
    }

    #[test]
    fn even_compression_starts_with_an_even_wave() {
        // Half as wide as long, stretched along x and compressed along y; rest triangles in frames
        // of their own, some mirrored.
        let (mesh, uv) = generate::irregular_grid(8, 5, [1.0, 0.5], 3).unwrap();
        let corners = Field::from_fn(mesh.face_count(), |face| {
            let (s, c) = (1.7 * face.index() as f64).sin_cos();
            let mirror = if face.index() % 3 == 0 { -1.0 } else { 1.0 };
            mesh.faces()[face].map(|v| {
                let u = uv[v];
                DVec2::new(c * u.x - s * u.y, mirror * (s * u.x + c * u.y))
            })
        });
        let rest = RestShape::from_corner_uv(&mesh, &corners).unwrap();
        let x = uv.map(|u| DVec3::new(1.05 * u.x, 0.9 * u.y, 0.0));
        let sheet = BaseSheet::new(&mesh, rest.maps(), &x, material(), Curvature::QuadricFit).unwrap();
        let problem = WrinkleProblem::new(sheet, FreeRule::Authors).unwrap();
        let mut system = WrinkleSystem::new(&problem).unwrap();
        let (along, across) = (1.05f64.powi(2) - 1.0, 0.9f64.powi(2) - 1.0);
        let mean_tension = std::f64::consts::PI * std::f64::consts::PI * 6.0 * (1.0 - 0.09) * along / 0.5;
        for (rule, amplitude, frequency) in [
            // A hundredth of the length, 1.05 m.
            (WrinkleStart::Strain, 0.0105, (-2.0 * across).sqrt() / 0.0105),
            (
                WrinkleStart::Stress,
                (-2.0 * (across + 0.3 * along)).sqrt() / (mean_tension / 1e-6).powf(0.25),
                (mean_tension / 1e-6).powf(0.25),
            ),
        ] {
            let point = start(&mut system, rule).unwrap();
            for a in point.a.as_slice() {
                assert!((a / amplitude - 1.0).abs() < 1e-12, "{rule:?}: {a} {amplitude}");
            }
            // Whatever the frames, the phase is frequency times y up to its sign.
            let rise = |edge: Id<Edges>| {
                let [a, b] = mesh.edges()[edge].vertices;
                uv[a.max(b)].y - uv[a.min(b)].y
            };
            let sign = point.omega.iter().map(|(edge, value)| value * rise(edge)).sum::<f64>().signum();
            for (edge, value) in point.omega.iter() {
                let expected = sign * frequency * rise(edge);
                assert!((value - expected).abs() < 1e-9 * frequency, "{rule:?} {edge}: {value} {expected}");
            }
        }
    }

    #[test]
    fn waves_around_a_ring_have_a_period() {
        let (mesh, uv) = generate::annulus(24, 3, 0.8, 1.0, Diagonal::Alternating).unwrap();
        let rest = RestShape::from_uv(&mesh, &uv).unwrap();
        let x = uv.map(|u| (*u * (1.0 - 0.05 / u.length())).extend(0.0));
        let sheet = BaseSheet::new(&mesh, rest.maps(), &x, material(), Curvature::QuadricFit).unwrap();
        let clamped: Vec<_> = mesh.vertices().filter(|v| uv[*v].length() < 0.81).collect();
        let problem = WrinkleProblem::new(sheet, FreeRule::Authors).unwrap().with_clamped(&clamped).unwrap();
        let mut system = WrinkleSystem::new(&problem).unwrap();
        let point = start(&mut system, WrinkleStart::Strain).unwrap();
        // The same frequency per length everywhere cannot be closed; the nearest form has it at a
        // radius in between.
        let target = strain_guess(&problem).frequency;
        let radius = point.c[0].abs() / (std::f64::consts::TAU * target);
        assert!((0.8..1.0).contains(&radius), "{radius}");
        assert!(clamped.iter().all(|v| point.a[*v] == 0.0));
        assert!(point.a.as_slice().iter().any(|a| *a > 0.0));
    }
}
