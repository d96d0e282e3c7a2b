//! Pressure on one side of a sheet whose boundary, if it has one, is held.

use glam::{DMat3, DVec3};
use plisse_core::{Field, Id, Psd, TriMesh, Vertices};
use plisse_system::{Gradient, Pose, Role, Sink, Term, Unknown};

/// `E = -p V` with `V = Σ (a - o)·((b - o) × (c - o))/6` over the faces, counted from a fixed point
/// `o`.
///
/// Of a closed surface that is the volume inside. Of an open one it is the volume of the cone over
/// the sheet with its tip in `o`; while the boundary is held, another `o` changes it by a constant
/// only, and the force is pressure times area either way. The Hessian has eigenvalues of both signs
/// in pairs and belongs to no single face: the projected policies leave it out.
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

    fn pattern(&self, pair: &mut dyn FnMut(Unknown<Vertices>, Unknown<Vertices>)) {
        for [a, b, c] in &self.faces {
            pair((*b).into(), (*a).into());
            pair((*c).into(), (*b).into());
            pair((*a).into(), (*c).into());
        }
    }

    fn energy(&self, pose: &Pose<'_, Vertices>) -> f64 {
        -self.pressure * self.volume(pose.x)
    }

    fn add_gradient(&self, pose: &Pose<'_, Vertices>, gradient: &mut Gradient<'_, Vertices>) {
        let factor = -self.pressure / 6.0;
        for (face, [a, b, c]) in self.corners(pose.x) {
            for (v, slope) in face.into_iter().zip([b.cross(c), c.cross(a), a.cross(b)]) {
                gradient[v] += slope * factor;
            }
        }
    }

    fn add_hessian(&self, pose: &Pose<'_, Vertices>, psd: Psd, sink: &mut Sink<'_>) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use plisse_core::generate;
    use plisse_system::{BlockMatrix, System};
    use std::sync::Arc;

    #[test]
    fn derivatives_agree_with_differences_wherever_the_origin() {
        let (mesh, uv) = generate::disc(3, 0.1).unwrap();
        let x = uv.map(|u| DVec3::new(u.x, u.y, 0.1 - 4.0 * u.length_squared() + 0.3 * u.x * u.y));
        let rim = || mesh.vertices().filter(|v| mesh.is_boundary_vertex(*v));
        let of = |origin| HeldPressure::new(&mesh, 250.0, origin);
        let system =
            |origin| System::massless(mesh.vertex_count()).term(of(origin)).pins(rim()).build().unwrap();
        let (near, far) = (system(DVec3::ZERO), system(DVec3::new(0.3, -0.2, 0.5)));
        let gradient = |system: &System<Vertices>, x: &Field<Vertices, DVec3>| {
            let mut out = Field::filled(x.len(), DVec3::ZERO);
            system.gradient(&Pose::at(x), &mut out);
            out
        };
        let g = gradient(&near, &x);
        let other = gradient(&far, &x);
        let mut hessian = BlockMatrix::zeros(Arc::clone(near.pattern()));
        near.hessian(&Pose::at(&x), Psd::Exact, &mut hessian);
        let nodes = near.unknowns();
        for (i, &v) in nodes.iter().enumerate() {
            // Off the boundary the origin does not matter.
            assert!((g[v] - other[v]).length() < 1e-14);
            for axis in 0..3 {
                let step = DVec3::AXES[axis] * 1e-4;
                let moved = |sign: f64| {
                    let mut y = x.clone();
                    y[v] += step * sign;
                    y
                };
                // Volume is cubic: central differences are exact but for rounding.
                let slope =
                    (near.energy(&Pose::at(&moved(1.0))) - near.energy(&Pose::at(&moved(-1.0)))) / 2e-4;
                assert!((slope - g[v][axis]).abs() < 1e-11, "{slope} {}", g[v][axis]);
                let (plus, minus) = (gradient(&near, &moved(1.0)), gradient(&near, &moved(-1.0)));
                let mut direction = vec![0.0; 3 * nodes.len()];
                direction[3 * i + axis] = 1.0;
                let mut product = vec![0.0; 3 * nodes.len()];
                hessian.mul(&direction, &mut product);
                for (k, &w) in nodes.iter().enumerate() {
                    let product = DVec3::from_slice(&product[3 * k..]);
                    assert!(((plus[w] - minus[w]) / 2e-4 - product).length() < 1e-10);
                }
            }
        }
        assert!(of(DVec3::ZERO).volume(&x) > 0.0);
    }
}
