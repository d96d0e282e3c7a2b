//! Every load over the whole range of parameters and of `f64`: finite, and semidefinite where that
//! is asked for.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use glam::{DVec2, DVec3};
use plisse_bending::QuadraticBending;
use plisse_core::range::{LENGTH, PARAMETER};
use plisse_core::{Field, Id, Past, Positive, Psd, RestShape, TriMesh, Vertices, generate};
use plisse_system::{
    Attachments, BlockMatrix, ConstantTerm, Gradient, Gravity, PointLoads, Pose, Pressure, StepMap, System,
    Term, Volume, Wind,
};
use plisse_testkit::{any_finite, any_points, assert_semidefinite, extreme_eigenvalues, magnitude};
use proptest::prelude::*;

/// Semidefinite to rounding: sums of a few blocks of rank one.
const ROUNDING: f64 = 1e-14;

fn positive(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

fn field<const N: usize>(x: [[f64; 3]; N]) -> Field<Vertices, DVec3> {
    Field::from_vec(x.map(DVec3::from).to_vec())
}

/// A closed surface of four faces.
fn tetrahedron() -> TriMesh {
    TriMesh::new(4, &[[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]).unwrap()
}

fn finite(what: &str, values: impl IntoIterator<Item = f64>) {
    for value in values {
        assert!(value.is_finite(), "{what}: {value}");
    }
}

fn numbers(field: &Field<Vertices, DVec3>) -> Vec<f64> {
    field.as_slice().iter().flat_map(DVec3::to_array).collect()
}

/// The whole matrix of a system of four nodes.
fn dense(matrix: &BlockMatrix) -> [[f64; 12]; 12] {
    let rows = matrix.to_dense();
    std::array::from_fn(|i| std::array::from_fn(|j| rows[i][j]))
}

/// Everything that a term of four nodes answers, inside of a step and outside.
fn check(what: &str, term: impl Term<Vertices> + 'static, poses: &[Pose<'_, Vertices>]) {
    let size = poses[0].x.len();
    let system = System::builder(Field::filled(size, 1.0)).term(term).build().unwrap();
    let mut gradient = Field::filled(size, DVec3::ZERO);
    let mut matrix = BlockMatrix::zeros(system.pattern().clone());
    for pose in poses {
        finite(what, [system.energy(pose)]);
        system.gradient(pose, &mut gradient);
        finite(what, numbers(&gradient));
        finite(what, [system.energy_and_gradient(pose, &mut gradient)]);
        finite(what, numbers(&gradient));
        for term in system.terms() {
            let sum = term.energy_and_add_gradient(pose, &mut Gradient::by_nodes(&mut gradient));
            finite(what, [sum.potential, sum.stored, sum.dissipated]);
        }
        for psd in Psd::ALL {
            system.hessian(pose, psd, &mut matrix);
            finite(what, matrix.values().iter().copied());
            if psd != Psd::Exact && size == 4 {
                assert_semidefinite(what, &dense(&matrix), ROUNDING, 0.0);
            }
        }
        for part in system.rank_ones(pose) {
            finite(what, [part.weight]);
            let largest = numbers(&part.vector).iter().fold(0.0f64, |m, v| m.max(v.abs()));
            finite(what, [part.weight * largest * largest]);
            assert!(part.weight > 0.0);
        }
    }
}

/// Shares of faces below the largest number whose sum is above it.
#[test]
fn forces_of_a_volume_do_not_overflow_in_their_sum() {
    let x = field([
        [1.769e69, 9.02e68, -1.096e69],
        [-6.32e68, 0.0, 0.0],
        [0.0, -2.477e69, -3.109e69],
        [0.0, 3.367e69, 0.0],
    ]);
    let volume = Volume::new(&tetrahedron(), positive(325.0), 1.2357e40).unwrap();
    check("volume", volume, &[Pose::at(&x)]);
}

fn parameter() -> impl Strategy<Value = f64> + Clone {
    prop_oneof![magnitude(PARAMETER), 1e-6..1e3f64]
}

fn vector() -> impl Strategy<Value = DVec3> {
    prop_oneof![prop::array::uniform3(-20.0..20.0f64), prop::array::uniform3(any_finite())]
        .prop_map(DVec3::from)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn loads(
        x in any_points::<4>(), start in any_points::<4>(), reference in any_points::<4>(),
        rate in prop_oneof![magnitude(1e-300..=1e300), 1.0..1e4f64, Just(0.0)],
        k in [parameter(), parameter()],
        [wind, acceleration, force, point] in [vector(), vector(), vector(), vector()],
        masses in [parameter(), parameter(), parameter(), parameter()],
        pressure in prop_oneof![-1e4..1e4f64, magnitude(PARAMETER), magnitude(PARAMETER).prop_map(|p| -p)],
    ) {
        let (x, start, reference) = (field(x), field(start), field(reference));
        let dt = if rate > 0.0 { 1.0 / rate } else { f64::INFINITY };
        let step = StepMap { start: &start, dt, reference: &reference, rate, past: Past::Start, own: &[], inertia: None, memory: None };
        let poses = [Pose::at(&x), Pose { x: &x, own: &[], time: 0.5, step: Some(step) }];
        let mesh = tetrahedron();
        let [a, b] = k.map(positive);

        check("wind", Wind::new(&mesh, wind, a, b), &poses);
        check("pressure", Pressure::new(&mesh, pressure).unwrap(), &poses);
        for tip in [DVec3::ZERO, DVec3::splat(-1e200)] {
            check("held pressure", Pressure::held(&mesh, pressure, tip).unwrap(), &poses);
        }
        check("volume", Volume::new(&mesh, a, b.get()).unwrap(), &poses);
        if let Ok(volume) = Volume::keeping(&mesh, &start, a) {
            check("kept volume", volume, &poses);
        }
        let mass = Field::from_vec(masses.to_vec());
        if let Ok(gravity) = Gravity::new(acceleration, &mass) {
            check("gravity", gravity, &poses);
        }
        check("forces", PointLoads::new("forces", vec![(Id::new(0), force), (Id::new(2), point)]).unwrap(), &poses);
        let springs = Attachments::new("springs")
            .to_point(Id::new(0), point, a)
            .to_path(Id::new(1), move |t| force * t, b)
            .between(Id::new(2), Id::new(3), b);
        check("springs", springs, &poses);
    }

    #[test]
    fn constant_matrices(x in any_points::<4>(), rigidity in parameter(), size in magnitude(LENGTH), squeeze in magnitude(1e-9..=1.0)) {
        let (mesh, _) = generate::grid(1, 1, [1.0, 1.0], generate::Diagonal::Right).unwrap();
        let corners = [[0.0, 0.0], [1.0, 0.0], [0.0, squeeze], [1.0, squeeze]];
        let uv = Field::from_vec(corners.map(|u| DVec2::from(u) * size).to_vec());
        let Ok(rest) = RestShape::from_uv(&mesh, &uv) else { return Ok(()) };
        let bending = QuadraticBending::on_vertices(&mesh, &rest, positive(rigidity));
        let term = ConstantTerm::from_rows("bending", bending.size(), |i| bending.row(i));
        let x = field(x);
        let system = System::builder(Field::filled(4, 1.0)).term(term).build().unwrap();
        let mut gradient = Field::filled(4, DVec3::ZERO);
        finite("bending", [system.energy(&Pose::at(&x))]);
        system.gradient(&Pose::at(&x), &mut gradient);
        finite("bending", numbers(&gradient));
        let mut matrix = BlockMatrix::zeros(system.pattern().clone());
        system.hessian(&Pose::at(&x), Psd::Clamp, &mut matrix);
        let [low, high] = extreme_eigenvalues(&dense(&matrix));
        // Rows of slivers are sums of cotangents of opposite signs.
        prop_assert!(low >= -1e-13 * high.max(1.0), "{low} {high}");
    }
}

#[test]
fn parameters_outside_of_the_range_are_refused() {
    let mesh = tetrahedron();
    assert_eq!(
        Pressure::new(&mesh, -2e60).unwrap_err().to_string(),
        "the pressure is -2000000000000000000000000000000000000000000000000000000000000; give a number of pascals up to 1e60"
    );
    assert!(Pressure::new(&mesh, f64::NAN).is_err());
    assert_eq!(
        Pressure::held(&mesh, 1.0, DVec3::NAN).unwrap_err().to_string(),
        "the coordinate of the tip is NaN; give a finite number of metres"
    );
    for target in [0.0, -1.0, 1e-61, 2e60, f64::NAN] {
        assert!(Volume::new(&mesh, Positive::ONE, target).is_err(), "{target}");
    }
    let far = field([[0.0, 0.0, 0.0], [1e30, 0.0, 0.0], [0.0, 1e30, 0.0], [0.0, 0.0, 1e30]]);
    assert!(Volume::keeping(&mesh, &far, Positive::ONE).unwrap_err().to_string().contains("target volume"));
}
