//! What a step that failed looked like around its worst vertex.

use plisse_core::{Hinge, Id, Vertices, hinge_angle};
use plisse_system::{State, StepError, Worst};

use super::scene::{BodyInfo, Kind, Scene};

/// Smaller folds are not worth a word, rad.
const VISIBLE: f64 = 0.02;

impl Scene {
    /// Names the worst vertex of a failed step as users know it, and says what is around it.
    pub(super) fn explain(&self, mut error: StepError) -> StepError {
        if let Some(worst) = worst_of(&mut error) {
            let node = worst.node;
            if let Some(body) = self.bodies.iter().find(|body| body.vertices.contains(&node)) {
                worst.name = format!("vertex {} of {}", node - body.vertices.start, body.name);
                worst.around = body.surroundings(node, &self.state);
            }
        }
        error
    }
}

fn worst_of(error: &mut StepError) -> Option<&mut Worst> {
    match error {
        StepError::NotConverged { worst, .. } => worst.as_deref_mut(),
        StepError::TooShort { last, .. } => worst_of(last),
        _ => None,
    }
}

impl BodyInfo {
    /// The most deformed face and the sharpest fold at a vertex of the scene; of wires and yarns
    /// nothing is said.
    fn surroundings(&self, node: usize, state: &State<Vertices>) -> Option<String> {
        let Kind::Cloth { mesh, rest, .. } = &self.kind else { return None };
        let x = &state.x().as_slice()[self.vertices.clone()];
        let vertex = Id::new((node - self.vertices.start) as u32);
        let stretches = |&face: &_| {
            let corners = mesh.faces()[face].map(|v| x[v.index()]);
            let f = rest.map(face).deformation_gradient(&corners);
            let (a, b, c) = (f.c0.length_squared(), f.c1.length_squared(), f.c0.dot(f.c1));
            let (mean, radius) = (0.5 * (a + b), (0.25 * (a - b) * (a - b) + c * c).sqrt());
            (face, [(mean + radius).sqrt(), (mean - radius).max(0.0).sqrt()])
        };
        let deformed = |[large, small]: [f64; 2]| large.ln().abs().max(small.ln().abs());
        let (face, [large, small]) = mesh
            .vertex_faces(vertex)
            .iter()
            .map(stretches)
            .max_by(|(_, a), (_, b)| deformed(*a).total_cmp(&deformed(*b)))?;
        let angle = |hinge: &Hinge| hinge_angle(&hinge.vertices().map(|v| x[v.index()])).abs();
        let sharpest = rest
            .hinges()
            .iter()
            .filter(|hinge| hinge.vertices().contains(&vertex))
            .map(|hinge| (hinge, angle(hinge)))
            .filter(|(_, angle)| *angle > VISIBLE)
            .max_by(|(_, a), (_, b)| a.total_cmp(b));
        let mut text = format!(
            "when the step began, its face {} was stretched to {large:.3} and {small:.3} of its size",
            face.index()
        );
        if let Some((hinge, angle)) = sharpest {
            let [a, b, ..] = hinge.vertices().map(Id::index);
            let degrees = angle.to_degrees();
            text +=
                &format!(", and the sharpest fold there, along vertices {a} and {b}, was of {degrees:.0}°");
        }
        Some(text)
    }
}
