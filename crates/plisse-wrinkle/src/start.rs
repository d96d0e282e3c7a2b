//! Where the solver starts.

use std::collections::VecDeque;

use glam::DVec2;
use plisse_core::{Edges, Faces, Field, Id, Vertices};

use crate::solver::{Point, WrinkleProblem, WrinkleSystem};

/// A guess of amplitude and wavelength. The energy has many minima; which one is found depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrinkleStart {
    /// Amplitudes proportional to `√(2|λ₂|)`, as long an arc as the compression needs, the largest one a hundredth of the extent of the
    /// base, and one wavelength everywhere (Chen21, section 5.1). Knows nothing about thickness and tension.
    Strain,
    /// The wavelength at which a sheet of the size of this one, under its mean tension, would wrinkle (Cerda03: `k⁴ = π² T/(B L²)`), and
    /// the amplitude `√(2ε)/k` with `ε = -(λ₂ + ν λ₁)`, the compression beyond what the tension across makes by itself.
    Stress,
}

/// The unknowns at the start. Needs the matrix of the system for a linear solve.
pub(crate) fn start(system: &mut WrinkleSystem<'_>, start: WrinkleStart) -> Point {
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
    let (phi, c) = system.nearest_form(&target);
    Point::new(system, vertex_amplitudes(problem, &guess.amplitude), phi, c)
}

/// Amplitude of each face in m, and one frequency in rad/m.
struct Guess {
    amplitude: Field<Faces, f64>,
    frequency: f64,
}

fn strain_guess(problem: &WrinkleProblem) -> Guess {
    let sheet = problem.sheet();
    let slope = sheet.faces().map(|face| (2.0 * (-face.strains()[1]).max(0.0)).sqrt());
    let steepest = slope.as_slice().iter().fold(0.0f64, |m, s| m.max(*s));
    let x = sheet.x().as_slice();
    let (low, high) = x.iter().fold((x[0], x[0]), |(low, high), p| (low.min(*p), high.max(*p)));
    let largest = 0.01 * (high - low).max_element();
    // Without compression or extent any length will do: amplitudes are zero.
    let length = if steepest > 0.0 && largest > 0.0 { largest / steepest } else { sheet.sheet().thickness() };
    Guess { amplitude: slope.map(|slope| length * slope), frequency: 1.0 / length }
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
            (2.0 * (-(across + nu * along)).max(0.0)).sqrt() / frequency
        }),
        frequency,
    })
}

/// Vertices take the mean of their faces and are smoothed twice over their neighbours. Held ones are zero all the time.
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

/// A sign for the direction across the wrinkles of every kept face, so that neighbours agree wherever possible. The signs spread along
/// a spanning tree that prefers edges between large amplitudes: jumps, if there must be some, are where little wrinkles.
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

/// Whether the directions across of two faces point the same way when the rest triangles are laid out side by side. The rest is there
/// for sewn panels and for base triangles that have collapsed.
fn agreement(problem: &WrinkleProblem, edge: Id<Edges>, faces: [Id<Faces>; 2]) -> f64 {
    let (mesh, sheet) = (problem.sheet().mesh(), problem.sheet());
    // Along the edge as the face walks it, and inwards, which is where the coordinate of the opposite corner grows.
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
