//! Pressure on one side of a sheet whose boundary, if it has one, is held.

use glam::{DMat3, DVec3};
use plisse_core::{Field, Id, Psd, TriMesh, Vertices};
use plisse_system::{HessianSink, Pose, Role, Term};

/// `E = -p V` with `V = Σ (a - o)·((b - o) × (c - o))/6` over the faces, counted from a fixed point `o`.
///
/// Of a closed surface that is the volume inside. Of an open one it is the volume of the cone over the sheet with its tip in
/// `o`; while the boundary is held, another `o` changes it by a constant only, and the force is pressure times area either way.
/// The Hessian has eigenvalues of both signs in pairs and belongs to no single face: the projected policies leave it out.
#[derive(Clone, Debug)]
pub(super) struct HeldPressure {
    faces: Vec<[Id<Vertices>; 3]>,
    pressure: f64,
    origin: DVec3,
}

impl HeldPressure {
    pub(super) fn new(mesh: &TriMesh, pressure: f64, origin: DVec3) -> Self {
        Self { faces: mesh.faces().as_slice().to_vec(), pressure, origin }
    }

    fn corners<'a>(
        &'a self,
        x: &'a Field<Vertices, DVec3>,
    ) -> impl Iterator<Item = ([Id<Vertices>; 3], [DVec3; 3])> + 'a {
        self.faces.iter().map(move |face| (*face, face.map(|v| x[v] - self.origin)))
    }

    /// `V` in m³.
    pub(super) fn volume(&self, x: &Field<Vertices, DVec3>) -> f64 {
        self.corners(x).map(|(_, [a, b, c])| a.dot(b.cross(c)) / 6.0).sum()
    }
}

impl Term<Vertices> for HeldPressure {
    fn name(&self) -> &str {
        super::PRESSURE
    }

    fn role(&self) -> Role {
        Role::External
    }

    fn pattern(&self, pair: &mut dyn FnMut(Id<Vertices>, Id<Vertices>)) {
        for [a, b, c] in &self.faces {
            pair(*b, *a);
            pair(*c, *b);
            pair(*a, *c);
        }
    }

    fn energy(&self, pose: &Pose<'_, Vertices>) -> f64 {
        -self.pressure * self.volume(pose.x)
    }

    fn add_gradient(&self, pose: &Pose<'_, Vertices>, gradient: &mut Field<Vertices, DVec3>) {
        let factor = -self.pressure / 6.0;
        for (face, [a, b, c]) in self.corners(pose.x) {
            for (v, slope) in face.into_iter().zip([b.cross(c), c.cross(a), a.cross(b)]) {
                gradient[v] += slope * factor;
            }
        }
    }

    fn add_hessian(&self, pose: &Pose<'_, Vertices>, psd: Psd, sink: &mut HessianSink<'_>) {
        if psd != Psd::Exact {
            return;
        }
        let factor = -self.pressure / 6.0;
        for (k, (_, [a, b, c])) in self.corners(pose.x).enumerate() {
            // ∂²V/∂b∂a = [c]×/6 and cyclic.
            for (pair, opposite) in [c, a, b].into_iter().enumerate() {
                sink.add(3 * k + pair, &(cross_matrix(opposite) * factor));
            }
        }
    }
}

/// `[v]×`, the matrix of `w ↦ v × w`.
fn cross_matrix(v: DVec3) -> DMat3 {
    DMat3::from_cols(DVec3::new(0.0, v.z, -v.y), DVec3::new(-v.z, 0.0, v.x), DVec3::new(v.y, -v.x, 0.0))
}
