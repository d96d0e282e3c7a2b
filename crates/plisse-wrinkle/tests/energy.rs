//! The wrinkle energy: derivatives, agreement with the equations of the paper, invariances,
//! extremes.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

mod bent;

use bent::{base, case, sheet};
use glam::{DAffine3, DMat2, DQuat, DVec2, DVec3};
use plisse_core::{
    Edges, Field, Id, IsotropicSheet, PoissonRatio, Positive, RestShape, TriMesh, TriangleMap, Vertices,
};
use plisse_testkit::{assert_close, check_gradient, check_jacobian};
use plisse_wrinkle::{BaseFace, BaseSheet, Curvature, Quadrature, Terms};
use proptest::prelude::*;

const RULES: [Quadrature; 2] = [Quadrature::Exact, Quadrature::ThreePoint];

fn list(t: &Terms) -> [f64; 6] {
    [t.stretch, t.curvature, t.gradient, t.quartic, t.base_bending, t.wrinkle_bending]
}

fn split(x: &[f64; 5]) -> ([f64; 3], [f64; 2]) {
    ([x[0], x[1], x[2]], [x[3], x[4]])
}

/// Amplitudes per vertex, and differences of a phase that is no gradient, per edge.
fn state(mesh: &TriMesh) -> (Field<Vertices, f64>, Field<Edges, f64>) {
    let a = Field::from_fn(mesh.vertex_count(), |v| 0.3 + 0.2 * (7.0 * f64::from(v.get())).sin());
    let omega = Field::from_fn(mesh.edge_count(), |e| 0.8 * (3.0 * f64::from(e.get())).cos());
    (a, omega)
}

fn check(face: &BaseFace, x: &[f64; 5]) {
    for q in RULES {
        let energy = |x: &[f64; 5]| face.energy(split(x).0, split(x).1, q);
        let gradient = |x: &[f64; 5]| face.gradient(split(x).0, split(x).1, q);
        let hessian = |x: &[f64; 5]| face.hessian(split(x).0, split(x).1, q);
        check_gradient(energy, gradient, x, 1e-8);
        check_jacobian(gradient, hessian, x, 1e-8);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn derivatives_agree_with_differences(
        a in prop::array::uniform3(-0.5..0.5f64),
        omega in prop::array::uniform2(-2.0..2.0f64),
        face in 0..32u32,
    ) {
        let case = case(4);
        let base = base(&case, Curvature::QuadricFit);
        check(&base.faces()[Id::new(face)], &[a[0], a[1], a[2], omega[0], omega[1]]);
    }
}

/// Without this a wrong derivative of a small term would hide behind the large ones.
#[test]
fn no_term_is_negligible_in_these_tests() {
    let case = case(4);
    let (a, omega) = state(&case.mesh);
    for curvature in [Curvature::QuadricFit, Curvature::SecondForm] {
        let terms = base(&case, curvature).terms(&a, &omega, Quadrature::Exact);
        for (i, term) in list(&terms).iter().enumerate() {
            assert!(*term > 1e-3 * terms.total(), "term {i}: {terms:?}");
        }
    }
}

/// The equations of the paper as they are printed: forms in the parameter domain of the edges 01
/// and 02.
struct Printed {
    rest: DMat2,
    base: DMat2,
    second: DMat2,
    area: f64,
}

fn gram(a: DVec3, b: DVec3) -> DMat2 {
    DMat2::from_cols(DVec2::new(a.dot(a), a.dot(b)), DVec2::new(a.dot(b), b.dot(b)))
}

fn outer(u: DVec2, v: DVec2) -> DMat2 {
    DMat2::from_cols(u * v.x, u * v.y)
}

impl Printed {
    fn new(case: &bent::Case, face: Id<plisse_core::Faces>) -> Self {
        let corners = case.mesh.faces()[face];
        let u = corners.map(|v| case.uv[v].extend(0.0));
        let x = corners.map(|v| case.x[v]);
        let normal = |[a, b, c]: [DVec3; 3]| (b - a).cross(c - a).normalize();
        let n = normal(x);
        // 2 h tan(θ/2), with the tangent of half the angle from the normals.
        let bend = [0, 1, 2].map(|j| {
            let edge = case.mesh.edges()[case.mesh.face_edges()[face][j]];
            let Some(right) = edge.faces.1 else { return 0.0 };
            let other = if edge.faces.0 == face { right } else { edge.faces.0 };
            let m = normal(case.mesh.faces()[other].map(|v| case.x[v]));
            let (p, r) = (x[(j + 1) % 3], x[(j + 2) % 3]);
            let along = (r - p).normalize();
            let height = (x[j] - p).reject_from(along).length();
            2.0 * height * n.cross(m).dot(along) / (1.0 + n.dot(m))
        });
        let second =
            DMat2::from_cols(DVec2::new(bend[0] + bend[1], bend[0]), DVec2::new(bend[0], bend[0] + bend[2]));
        let rest = gram(u[1] - u[0], u[2] - u[0]);
        Self { rest, base: gram(x[1] - x[0], x[2] - x[0]), second, area: 0.5 * rest.determinant().sqrt() }
    }

    fn norm(&self, m: DMat2) -> f64 {
        let m = self.rest.inverse() * m;
        let squared = m * m;
        0.5 * sheet().alpha() * (m.x_axis.x + m.y_axis.y).powi(2)
            + sheet().beta() * (squared.x_axis.x + squared.y_axis.y)
    }

    /// Smaller eigenvalue first, with the eigenvectors in the parameter domain.
    fn eigen(&self) -> [(f64, DVec2); 2] {
        let m = self.rest.inverse() * (self.base - self.rest);
        let (half, det) = (0.5 * (m.x_axis.x + m.y_axis.y), m.determinant());
        let root = (half * half - det).sqrt();
        [half - root, half + root].map(|value| (value, DVec2::new(-m.y_axis.x, m.x_axis.x - value)))
    }

    /// The terms as integrals over the face, by a rule given as (barycentric coordinates, weight).
    fn terms(&self, a: [f64; 3], omega: [f64; 2], rule: &[([f64; 3], f64)]) -> [f64; 6] {
        let h = sheet().thickness();
        let (alpha, beta) = (sheet().alpha(), sheet().beta());
        let (da, dphi) = (DVec2::new(a[1] - a[0], a[2] - a[0]), DVec2::from(omega));
        let [(low, _), (high, crest)] = self.eigen();
        let mixed = low <= 0.0 && high >= 0.0;
        let form = |m: DMat2| crest.dot(m * crest);
        let kappa = if mixed { form(self.second) / form(self.base) } else { 0.0 };
        let ratio = form(self.base) / form(self.rest);
        let mut out = [0.0; 6];
        for (at, weight) in rule {
            let a2 = (at[0] * a[0] + at[1] * a[1] + at[2] * a[2]).powi(2);
            let strain = self.base - self.rest + outer(da, da) * 0.5 + outer(dphi, dphi) * (0.5 * a2);
            let density = [
                0.25 * h * self.norm(strain),
                0.25 * h * 4.0 * a2 * kappa * kappa * beta * (alpha + beta) / (alpha + 2.0 * beta)
                    * ratio
                    * ratio,
                0.25 * h * a2 / 32.0 * self.norm(outer(dphi, da) + outer(da, dphi)),
                0.25 * h / 8.0 * self.norm(outer(da, da)),
                h.powi(3) / 12.0 * self.norm(self.second),
                h.powi(3) / 12.0 * 0.5 * a2 * self.norm(outer(dphi, dphi)),
            ];
            for (sum, density) in out.iter_mut().zip(density) {
                *sum += weight * self.area * density;
            }
        }
        out
    }
}

fn three_points() -> Vec<([f64; 3], f64)> {
    (0..3).map(|p| (std::array::from_fn(|i| if i == p { 2.0 / 3.0 } else { 1.0 / 6.0 }), 1.0 / 3.0)).collect()
}

/// Gauss's four points in both directions of a square that is collapsed to the triangle: exact to
/// degree six.
fn many_points() -> Vec<([f64; 3], f64)> {
    let gauss = [(0.3399810435848563, 0.6521451548625461), (0.8611363115940526, 0.3478548451374538)]
        .map(|(x, w)| [(0.5 - 0.5 * x, 0.5 * w), (0.5 + 0.5 * x, 0.5 * w)]);
    let gauss = gauss.as_flattened();
    let mut rule = Vec::new();
    for (s, ws) in gauss {
        for (t, wt) in gauss {
            // Of the unit square to the triangle (1 - s, s (1 - t), s t); twice the Jacobian, for
            // weights that sum to one.
            rule.push(([1.0 - s, s * (1.0 - t), s * t], 2.0 * s * ws * wt));
        }
    }
    rule
}

#[test]
fn terms_are_those_of_the_paper() {
    let case = case(5);
    let base = base(&case, Curvature::SecondForm);
    let (a, omega) = state(&case.mesh);
    let mut mixed = 0;
    for (id, face) in base.faces().iter() {
        let (a, omega) = (case.mesh.faces()[id].map(|v| a[v]), base.face_omega(id, &omega));
        let printed = Printed::new(&case, id);
        let eigen = printed.eigen();
        assert_close("strains", &face.strains(), &[eigen[1].0, eigen[0].0], 1e-12, 1.0);
        mixed += usize::from(face.is_mixed());
        for (q, rule) in [(Quadrature::Exact, many_points()), (Quadrature::ThreePoint, three_points())] {
            let (found, expected) = (list(&face.terms(a, omega, q)), printed.terms(a, omega, &rule));
            for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
                // 1e-11: curvatures of the nearly flat triangles lose digits in the differences of
                // normals.
                assert_close(&format!("{id}, term {i}"), &[*found], &[*expected], 1e-11, 1e-4);
            }
        }
    }
    assert!(mixed > 20 && mixed < base.faces().len(), "{mixed} mixed faces: both cases must occur");
}

#[test]
fn three_points_miss_the_fourth_power_only() {
    let case = case(3);
    let base = base(&case, Curvature::SecondForm);
    let face = &base.faces()[Id::new(0)];
    let both = |a: [f64; 3]| RULES.map(|q| list(&face.terms(a, [1.5, -0.7], q)));
    let [exact, three] = both([0.1, 0.8, 0.4]);
    assert!((exact[0] - three[0]).abs() > 1e-6 * exact[0]);
    assert_eq!(exact[1..], three[1..]);
    // A constant amplitude is integrated by every rule.
    let [exact, three] = both([0.5; 3]);
    assert_close("terms", &exact, &three, 1e-14, 0.0);
}

/// On a flat sheet with strains l1 and l2, waves across l2 with a constant amplitude are in
/// equilibrium where `a² k²/2 = -(l2 + ν l1) - h² k²/6`: they take away compression until what is
/// left pays for their bending.
#[test]
fn waves_relieve_compression() {
    let rest = TriangleMap::new([[0.0, 0.0], [1.0, 0.2], [0.3, 0.9]].map(DVec2::from)).unwrap();
    let u = [[0.0, 0.0], [1.0, 0.2], [0.3, 0.9]];
    let (l1, l2) = (0.1f64, -0.3f64);
    let x = Field::from_vec(
        u.iter().map(|u| DVec3::new((1.0 + l1).sqrt() * u[0], (1.0 + l2).sqrt() * u[1], 0.0)).collect(),
    );
    let mesh = TriMesh::new(3, &[[0, 1, 2]]).unwrap();
    let base =
        BaseSheet::new(&mesh, &Field::from_vec(vec![rest]), &x, sheet(), Curvature::default()).unwrap();
    let face = &base.faces()[Id::new(0)];
    assert_close("strains", &face.strains(), &[l1, l2], 1e-15, 1.0);
    let (k, h) = (1.3, sheet().thickness());
    let a = (2.0 * (-(l2 + sheet().poisson() * l1) - h * h * k * k / 6.0) / (k * k)).sqrt();
    let omega = [k * (u[1][1] - u[0][1]), k * (u[2][1] - u[0][1])];
    assert_close("w", &face.covector(omega).to_array(), &[0.0, k], 1e-15, 1.0);
    let by_a = |a: f64| face.gradient([a; 3], omega, Quadrature::Exact)[..3].iter().sum::<f64>();
    let size = face.energy([a; 3], omega, Quadrature::Exact);
    // The terms that cancel are about ten times the energy.
    assert!(by_a(a).abs() < 1e-13 * size, "{} of {size}", by_a(a));
    assert!(by_a(0.9 * a) < -1e-3 * size && by_a(1.1 * a) > 1e-3 * size);
}

#[test]
fn a_rigid_motion_of_the_base_changes_nothing() {
    let mut case = case(5);
    let (a, omega) = state(&case.mesh);
    for curvature in [Curvature::QuadricFit, Curvature::SecondForm] {
        let before = base(&case, curvature).terms(&a, &omega, Quadrature::Exact);
        let motion = DAffine3::from_rotation_translation(
            DQuat::from_scaled_axis(DVec3::new(0.4, -1.3, 0.8)),
            DVec3::new(3.0, -2.0, 0.5),
        );
        case.x = case.x.map(|x| motion.transform_point3(*x));
        let after = base(&case, curvature).terms(&a, &omega, Quadrature::Exact);
        assert_close("terms", &list(&after), &list(&before), 1e-12, 0.0);
    }
}

/// For frequencies with a phase: the third edge of a face is not looked at, so that elsewhere it
/// matters which one it is.
#[test]
fn corners_may_be_counted_from_any() {
    let mut case = case(5);
    let (a, _) = state(&case.mesh);
    let phase = |v: Id<Vertices>| (1.3 * f64::from(v.get())).sin();
    let omega = Field::from_fn(case.mesh.edge_count(), |e| {
        let [p, q] = case.mesh.edges()[e].vertices;
        phase(p.max(q)) - phase(p.min(q))
    });
    for curvature in [Curvature::QuadricFit, Curvature::SecondForm] {
        let before = base(&case, curvature).terms(&a, &omega, Quadrature::Exact);
        for _ in 0..2 {
            let faces: Vec<_> =
                case.mesh.faces().as_slice().iter().map(|[i, j, k]| [j, k, i].map(|v| v.get())).collect();
            case.mesh = TriMesh::new(case.mesh.vertex_count(), &faces).unwrap();
            case.rest = RestShape::from_uv(&case.mesh, &case.uv).unwrap().maps().clone();
            let after = base(&case, curvature).terms(&a, &omega, Quadrature::Exact);
            assert_close("terms", &list(&after), &list(&before), 1e-12, 0.0);
        }
    }
}

/// New numbers of the vertices reorder the edges and turn some of them around.
#[test]
fn vertices_may_have_any_numbers() {
    let case = case(4);
    let (a, omega) = state(&case.mesh);
    let count = case.mesh.vertex_count() as u32;
    // 7 and the 25 vertices have no bent divisor.
    assert_eq!(count, 25);
    let new = |v: Id<Vertices>| 7 * v.get() % count;
    let faces: Vec<_> = case.mesh.faces().as_slice().iter().map(|f| f.map(new)).collect();
    let mesh = TriMesh::new(count as usize, &faces).unwrap();
    let mut moved =
        (Field::filled(25, 0.0), Field::filled(25, DVec3::ZERO), Field::filled(mesh.edge_count(), 0.0));
    for v in case.mesh.vertices() {
        moved.0[Id::new(new(v))] = a[v];
        moved.1[Id::new(new(v))] = case.x[v];
    }
    let mut turned = 0;
    for (id, edge) in case.mesh.edges().iter() {
        let [p, q] = edge.vertices;
        let there = mesh.edge_between(Id::new(new(p)), Id::new(new(q))).unwrap();
        let turn = (p < q) != (new(p) < new(q));
        turned += usize::from(turn);
        moved.2[there] = if turn { -omega[id] } else { omega[id] };
    }
    assert!(turned > 10);
    let before = base(&case, Curvature::SecondForm).terms(&a, &omega, Quadrature::Exact);
    let renumbered = BaseSheet::new(&mesh, &case.rest, &moved.1, sheet(), Curvature::SecondForm).unwrap();
    let after = renumbered.terms(&moved.0, &moved.2, Quadrature::Exact);
    assert_close("terms", &list(&after), &list(&before), 1e-12, 0.0);
}

#[test]
fn amplitudes_have_no_sign() {
    let case = case(4);
    let base = base(&case, Curvature::QuadricFit);
    let (a, omega) = state(&case.mesh);
    let mirrored = a.map(|a| -a);
    for q in RULES {
        assert_eq!(base.terms(&a, &omega, q), base.terms(&mirrored, &omega, q));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    /// Sizes of everything from the smallest to the largest that the types accept.
    #[test]
    fn finite_in_finite_out(
        values in prop::array::uniform5(-1.0..1.0f64),
        exponents in prop::array::uniform5(-300..308i32),
        // Rest lengths from 1e-30 m to 1e30 m and parameters from 1e-60 to 1e60: others are refused
        // when something is built.
        size in -17..30i32,
        flat in 0..13i32,
        moduli in prop::array::uniform2(-60..61i32),
        poisson in prop::sample::select(vec![-0.9999999999999999, 0.0, 0.3, 0.9999999999999999]),
    ) {
        let rest = TriangleMap::new(
            [[0.0, 0.0], [1.0, 0.0], [0.7, 10f64.powi(-flat)]].map(|u| DVec2::from(u) * 10f64.powi(size)),
        ).unwrap();
        let x = [[0.0, 0.0, 0.0], [1.1, 0.0, 0.2], [0.6, 0.5, 0.0]].map(|x| DVec3::from(x) * 10f64.powi(size));
        let mesh = TriMesh::new(3, &[[0, 1, 2]]).unwrap();
        let [young, thickness] = moduli.map(|exponent| Positive::new(10f64.powi(exponent)).unwrap());
        let sheet = IsotropicSheet::new(young, PoissonRatio::new(poisson).unwrap(), thickness);
        let base = BaseSheet::new(
            &mesh, &Field::from_vec(vec![rest]), &Field::from_vec(x.to_vec()), sheet, Curvature::QuadricFit,
        ).unwrap();
        let state: [f64; 5] = std::array::from_fn(|i| values[i] * 10f64.powi(exponents[i]));
        let (a, omega) = split(&state);
        let face = &base.faces()[Id::new(0)];
        for q in RULES {
            prop_assert!(list(&face.terms(a, omega, q)).iter().all(|v| v.is_finite()));
            prop_assert!(face.energy(a, omega, q).is_finite());
            prop_assert!(face.gradient(a, omega, q).iter().all(|v| v.is_finite()));
            prop_assert!(face.hessian(a, omega, q).as_flattened().iter().all(|v| v.is_finite()));
        }
    }
}
