//! The whole chain on a test bed, for benchmarks and experiments: base, wrinkles, phase, and how
//! many waves there are.

mod line;

use std::f64::consts::TAU;

use anyhow::Result;
use plisse::core::{Edges, Faces, Field, Id, Vertices};
use plisse::wrinkle::{
    BaseSettings, BaseSheet, BaseSolution, Curvature, FreeRule, Phase, PhaseOptions, PhaseProblem,
    WrinkleField, WrinkleProblem, WrinkleSettings, beds::Bed, recover_phase, solve_wrinkles, wrinkle_free,
};

pub(crate) use line::{Line, swings};

/// Where waves are counted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Count {
    /// Around the longest boundary of the mesh, or the longest seam of sewn panels, along edges
    /// whose faces have a phase that is seen: elsewhere it turns as it likes.
    Rim,
    /// Along a line between two places of the plane of the start, in metres, where the amplitude is
    /// at least half of its largest there: beyond, the phase is that of waves which nobody sees,
    /// and hardly determined.
    Line(Line),
}

/// A bed that was solved.
pub(crate) struct Chain {
    pub(crate) bed: Bed,
    pub(crate) base: BaseSolution,
    pub(crate) problem: WrinkleProblem,
    pub(crate) field: WrinkleField,
    pub(crate) phase: Phase,
}

/// Numbers of waves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waves {
    /// From the frequencies as solved for, with the sign of the phase.
    pub(crate) real: f64,
    /// The same with every edge or face counted as positive: more than `real` where the phase turns
    /// back.
    pub(crate) absolute: f64,
    /// Of the recovered phase around a loop; along a line nothing makes it whole.
    pub(crate) whole: Option<i64>,
}

/// Base and problem of a bed; `clamped` holds the amplitude at zero where vertices are held.
pub(crate) fn wrinkle_problem(bed: &Bed, clamped: bool) -> Result<(BaseSolution, WrinkleProblem)> {
    let problem = &bed.problem;
    let base = problem.solve(&bed.start, &BaseSettings::default())?;
    let sheet =
        BaseSheet::new(problem.mesh(), problem.rest(), &base.x, problem.sheet(), Curvature::default())?;
    let free = wrinkle_free(&sheet, FreeRule::default());
    let mut wrinkles = WrinkleProblem::with_free_faces(sheet, &free)?;
    if clamped {
        let held: Vec<_> = problem.pinned().iter().map(|(v, _)| *v).collect();
        wrinkles = wrinkles.with_clamped(&held)?;
    }
    Ok((base, wrinkles))
}

impl Chain {
    /// Solves with the default settings of every stage.
    pub(crate) fn solve(bed: Bed, clamped: bool) -> Result<Self> {
        let (base, problem) = wrinkle_problem(&bed, clamped)?;
        let field = solve_wrinkles(&problem, &WrinkleSettings::default())?;
        let free = problem.kept().map(|kept| !kept);
        let phase = recover_phase(
            &PhaseProblem {
                mesh: bed.problem.mesh(),
                rest: bed.problem.rest(),
                amplitude: &field.amplitude,
                omega: &field.omega,
                free: &free,
            },
            &PhaseOptions::default(),
        )?;
        Ok(Self { bed, base, problem, field, phase })
    }

    /// In mm at rest, none without wrinkles.
    pub(crate) fn wavelength(&self) -> Option<f64> {
        self.field.report.wavelength.map(|length| 1e3 * length)
    }

    pub(crate) fn largest_amplitude(&self) -> f64 {
        self.field.amplitude.as_slice().iter().fold(0.0, |m, a| a.max(m))
    }

    /// Waves at the place where the bed counts them; none if that leaves the faces that wrinkle.
    pub(crate) fn waves(&self, count: Count) -> Option<Waves> {
        match count {
            Count::Rim => self.rim_waves(),
            Count::Line(line) => Some(self.line_waves(line)),
        }
    }

    fn rim_waves(&self) -> Option<Waves> {
        let mesh = self.bed.problem.mesh();
        let rim = rim(&self.bed)?;
        let (mut sum, mut absolute) = (0.0, 0.0);
        for (i, &from) in rim.iter().enumerate() {
            let to = rim[(i + 1) % rim.len()];
            let edge = mesh.edge_between(from, to)?;
            self.problem.complex().edge_place(edge)?;
            let (left, right) = mesh.edges()[edge].faces;
            let seen = |face: Id<Faces>| self.phase.field.corners()[face].is_some();
            if !seen(left) && !right.is_some_and(seen) {
                continue;
            }
            let omega = along(&self.field.omega, edge, from, to);
            sum += omega;
            absolute += omega.abs();
        }
        let whole = self.phase.field.winding(mesh, &rim).map(i64::abs);
        Some(Waves { real: sum.abs() / TAU, absolute: absolute / TAU, whole })
    }

    fn line_waves(&self, line: Line) -> Waves {
        let mesh = self.bed.problem.mesh();
        // Amplitudes where the line enters and leaves a face, and the phase gained between.
        let mut pieces = Vec::new();
        for (face, corners) in mesh.faces().iter().filter(|(face, _)| self.problem.kept()[*face]) {
            let place = corners.map(|v| self.bed.start[v].truncate());
            let Some([enters, leaves]) = line.in_triangle(place) else { continue };
            let edges = mesh.face_edges()[face];
            // Edge i is opposite corner i.
            let rise = [
                along(&self.field.omega, edges[2], corners[0], corners[1]),
                along(&self.field.omega, edges[1], corners[0], corners[2]),
            ];
            let gain = (leaves[1] - enters[1]) * rise[0] + (leaves[2] - enters[2]) * rise[1];
            let amplitude = |at: [f64; 3]| -> f64 {
                at.iter().zip(corners).map(|(weight, v)| weight * self.field.amplitude[*v]).sum()
            };
            pieces.push(([amplitude(enters), amplitude(leaves)], gain));
        }
        let seen = 0.5 * pieces.iter().fold(0.0, |m: f64, ([a, b], _)| m.max(*a).max(*b));
        let (mut sum, mut absolute) = (0.0, 0.0);
        for (amplitudes, gain) in pieces {
            let gain = gain * above(seen, amplitudes);
            sum += gain;
            absolute += gain.abs();
        }
        Waves { real: sum.abs() / TAU, absolute: absolute / TAU, whole: None }
    }
}

/// The part of a way on which a value that changes evenly from one end to the other is not below a
/// bound.
fn above(bound: f64, [start, end]: [f64; 2]) -> f64 {
    let (low, high) = (start.min(end), start.max(end));
    if low >= bound {
        1.0
    } else if high <= bound {
        0.0
    } else {
        (high - bound) / (high - low)
    }
}

/// The phase gained from one end of an edge to the other, rad.
fn along(omega: &Field<Edges, f64>, edge: Id<Edges>, from: Id<Vertices>, to: Id<Vertices>) -> f64 {
    if from < to { omega[edge] } else { -omega[edge] }
}

/// The longest boundary of a mesh, or of its first panel before it was sewn.
fn rim(bed: &Bed) -> Option<Vec<Id<Vertices>>> {
    let mesh = bed.problem.mesh();
    let longest = |loops: Vec<Vec<Id<Vertices>>>| {
        let length = |path: &Vec<Id<Vertices>>| -> f64 {
            let next = |i: usize| bed.start[path[(i + 1) % path.len()]];
            path.iter().enumerate().map(|(i, v)| bed.start[*v].distance(next(i))).sum()
        };
        // Of equal ones the first.
        loops.into_iter().rev().max_by(|a, b| length(a).total_cmp(&length(b)))
    };
    let Some(panels) = bed.problem.panels() else { return longest(mesh.boundary_loops()) };
    let mut sewn = vec![Id::new(0); panels.vertex_count()];
    for (face, corners) in panels.faces().iter() {
        for (panel, vertex) in corners.iter().zip(mesh.faces()[face]) {
            sewn[panel.index()] = vertex;
        }
    }
    let loops = panels.boundary_loops();
    longest(loops.into_iter().map(|path| path.into_iter().map(|v| sewn[v.index()]).collect()).collect())
}

#[cfg(test)]
mod tests {
    use super::above;

    #[test]
    fn parts_above_a_bound() {
        let parts = [[1.0, 1.0], [0.0, 1.0], [2.0, 0.0], [0.1, 0.4], [0.5, 0.5]].map(|ends| above(0.5, ends));
        let expected = [1.0, 0.5, 0.75, 0.0, 1.0];
        assert!(parts.iter().zip(expected).all(|(part, x)| (part - x).abs() < 1e-15), "{parts:?}");
    }
}
