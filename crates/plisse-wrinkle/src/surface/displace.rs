//! Where the vertices of the finest mesh go.

use glam::{DMat2, DVec2, DVec3};
use plisse_core::{Faces, Field, Id, Mat3x2, TriMesh, TriangleMap, Vertices, length_and_direction};

use super::level::{Level, face_gradient};
use super::subdivide::{corners, gradient};
use super::{CurvatureShift, Profile};

/// `(a |∇φ|)²/8` at which `φ + c sin 2φ` reaches π: from there on the bulges of neighbouring crests
/// would pass through each other.
const TOUCHING: f64 = 2.301_669_424_375_85;

/// The largest strain that the curvature term may cause. Besides, it moves nothing farther than the
/// amplitude: that would be waves longer than the radius of curvature, of which the theory knows
/// nothing.
const LARGEST_SHIFT: f64 = 0.5;

/// Means over the corners of a vertex that have a phase.
pub(super) struct Means {
    pub(super) cos: Field<Vertices, f64>,
    pub(super) sin: Field<Vertices, f64>,
    sin_double: Field<Vertices, f64>,
}

impl Means {
    pub(super) fn new(level: &Level) -> Self {
        let n = level.mesh.vertex_count();
        let (mut cos, mut sin) = (Field::filled(n, 0.0), Field::filled(n, 0.0));
        let mut sin_double = Field::filled(n, 0.0);
        let mut count: Field<Vertices, f64> = Field::filled(n, 0.0);
        let waves = level.phase.values().map(|phi| phi.sin_cos());
        for (face, of_face) in level.phase.corners().iter() {
            for (corner, v) in of_face.iter().flatten().zip(level.mesh.faces()[face]) {
                let (s, c) = waves[corner.node];
                cos[v] += c;
                sin[v] += s;
                sin_double[v] += 2.0 * s * c;
                count[v] += 1.0;
            }
        }
        for v in level.mesh.vertices().filter(|v| count[*v] > 0.0) {
            cos[v] /= count[v];
            sin[v] /= count[v];
            sin_double[v] /= count[v];
        }
        Self { cos, sin, sin_double }
    }
}

/// Unit normals by area; zero where nothing spans one.
pub(super) fn vertex_normals(mesh: &TriMesh, x: &Field<Vertices, DVec3>) -> Field<Vertices, DVec3> {
    let mut normals = Field::filled(mesh.vertex_count(), DVec3::ZERO);
    for (face, vertices) in mesh.faces().iter() {
        let [a, b, c] = corners(mesh, x, face);
        for v in vertices {
            normals[*v] += (b - a).cross(c - a);
        }
    }
    normals.map(|n| length_and_direction(*n).1)
}

/// `a cos φ n + a²/8 sin 2φ ∇φ`, and the curvature term if asked for (Chen21, equation 19).
pub(super) fn displacements(
    level: &Level,
    means: &Means,
    profile: Profile,
    shift: Option<&Shift<'_>>,
) -> Field<Vertices, DVec3> {
    let normals = vertex_normals(&level.mesh, &level.x);
    let gradients = vertex_means(level, |face| face_gradient(level, face));
    let shifts = shift.map(|shift| vertex_means(level, |face| shift.on_face(level, face)));
    Field::from_fn(level.mesh.vertex_count(), |v| {
        let a = level.amplitude[v];
        let mut displacement = normals[v] * (a * means.cos[v]);
        let (slope, along) = length_and_direction(gradients[v]);
        if profile == Profile::Bulging && slope > 0.0 {
            let size = (a * a * slope / 8.0).min(TOUCHING / slope);
            displacement += along * (size * means.sin_double[v]);
        }
        if let Some(shifts) = &shifts {
            let (size, direction) = length_and_direction(shifts[v]);
            let bounded =
                if slope > 0.0 { (a.abs() * size.min(1.0)).min(LARGEST_SHIFT / slope) } else { 0.0 };
            displacement += direction * (bounded.copysign(a) * means.sin[v]);
        }
        displacement
    })
}

/// The mean by area of a vector on the faces with a phase around each vertex.
fn vertex_means(level: &Level, on_face: impl Fn(Id<Faces>) -> DVec3) -> Field<Vertices, DVec3> {
    let mut sums = Field::filled(level.mesh.vertex_count(), (DVec3::ZERO, 0.0));
    for (face, of_face) in level.phase.corners().iter() {
        if of_face.is_none() {
            continue;
        }
        let [a, b, c] = corners(&level.mesh, &level.x, face);
        let area = (b - a).cross(c - a).length();
        let value = on_face(face);
        for v in level.mesh.faces()[face] {
            sums[v].0 += value * area;
            sums[v].1 += area;
        }
    }
    sums.map(|(sum, area)| if *area > 0.0 && sum.is_finite() { *sum / *area } else { DVec3::ZERO })
}

/// The curvature term with what it needs of the coarse base.
pub(super) struct Shift<'a> {
    term: &'a CurvatureShift<'a>,
    coarse: &'a TriMesh,
    x: &'a Field<Vertices, DVec3>,
}

impl<'a> Shift<'a> {
    pub(super) fn new(
        term: &'a CurvatureShift<'a>,
        coarse: &'a TriMesh,
        x: &'a Field<Vertices, DVec3>,
    ) -> Self {
        Self { term, coarse, x }
    }

    /// `dr I_b⁻¹ v` of Chen21, equations 17 and 18, on a face of the finest mesh, without unit: the
    /// displacement is this times `a sin φ`.
    ///
    /// In the rest frame of the coarse face, where `I_u` is the identity and `F` the deformation
    /// gradient,
    ///
    /// ```text
    /// v = (α tr II + 2β w·II w/|w|²)/((α + 2β)|w|²) w + 2 (w·II w⊥)/|w|⁴ w⊥        w = Fᵀ ∇φ,   dr I_b⁻¹ v = F (FᵀF)⁻¹ v
    /// ```
    ///
    /// `II = -Fᵀ dn F` comes from the subdivided vertex normals of the base.
    fn on_face(&self, level: &Level, face: Id<Faces>) -> DVec3 {
        let Some(normals) = &level.normals else { return DVec3::ZERO };
        let parent = level.parent[face];
        let map: &TriangleMap = &self.term.rest[parent];
        let x = corners(&level.mesh, &level.x, face);
        // The coarse triangle stretches, the fine one says in which plane.
        let coarse = map.deformation_gradient(&corners(self.coarse, self.x, parent));
        let (_, normal) = length_and_direction((x[1] - x[0]).cross(x[2] - x[0]));
        let f =
            Mat3x2::new(coarse.c0.reject_from_normalized(normal), coarse.c1.reject_from_normalized(normal));
        let slope = face_gradient(level, face);
        let w = DVec2::new(f.c0.dot(slope), f.c1.dot(slope));
        let square = w.length_squared();
        let metric = DMat2::from_cols(
            DVec2::new(f.c0.dot(f.c0), f.c0.dot(f.c1)),
            DVec2::new(f.c0.dot(f.c1), f.c1.dot(f.c1)),
        );
        let collapsed = metric.determinant() <= 1e-12 * metric.col(0).x * metric.col(1).y;
        if square == 0.0 || !square.is_finite() || collapsed || normal == DVec3::ZERO {
            return DVec3::ZERO;
        }
        let hats = [[-1.0, -1.0], [1.0, 0.0], [0.0, 1.0]].map(|d| gradient(x, d));
        let n = level.mesh.faces()[face].map(|v| normals[v]);
        let turn = |t: DVec3| (0..3).map(|i| n[i] * hats[i].dot(t)).sum::<DVec3>();
        let (t0, t1) = (turn(f.c0), turn(f.c1));
        let mixed = -0.5 * (f.c0.dot(t1) + f.c1.dot(t0));
        let second = DMat2::from_cols(DVec2::new(-f.c0.dot(t0), mixed), DVec2::new(mixed, -f.c1.dot(t1)));
        let (alpha, beta) = (self.term.sheet.alpha(), self.term.sheet.beta());
        let trace = second.col(0).x + second.col(1).y;
        let (along, across) = (second * w, w.perp());
        let straight = (alpha * trace + 2.0 * beta * w.dot(along) / square) / ((alpha + 2.0 * beta) * square);
        let v = w * straight + across * (2.0 * across.dot(along) / (square * square));
        let lifted = metric.inverse() * v;
        f.c0 * lifted.x + f.c1 * lifted.y
    }
}
