//! Mid-edge bending: derivatives, projection, agreement with the plate and with hinges.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use glam::DVec3;
use plisse_bending::{Director, HingeElement, HingeWeight, KoiterBending, Plate, QuadraticAngle};
use plisse_core::{
    Blocks, Element, Field, Id, IsotropicSheet, PoissonRatio, Positive, Psd, RestShape, TriMesh, Vertices,
    generate, symmetric_eigen,
};
use plisse_testkit::{assert_close, check_gradient, check_jacobian, max_abs};
use proptest::prelude::*;

fn positive(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

const FACES: [[u32; 3]; 4] = [[0, 1, 2], [2, 1, 3], [0, 2, 4], [1, 0, 5]];

fn plate() -> Plate {
    Plate::of_sheet(&IsotropicSheet::new(positive(12.0), PoissonRatio::literal(0.3), Positive::ONE)).unwrap()
}

/// A face with one to three neighbours.
fn patch(neighbours: usize, director: Director) -> (KoiterBending, Vec<DVec3>) {
    let uv = [[0.0, 0.0], [1.0, 0.1], [0.3, 0.9], [1.2, 1.0], [-0.6, 0.7], [0.6, -0.8]];
    let count = 3 + neighbours;
    let mesh = TriMesh::new(count, &FACES[..=neighbours]).unwrap();
    let uv: Field<Vertices, _> = Field::from_vec(uv[..count].iter().map(|u| glam::DVec2::from(*u)).collect());
    let rest = RestShape::from_uv(&mesh, &uv).unwrap();
    let element = KoiterBending::new(&mesh, &rest, Id::new(0), director, &plate());
    (element, generate::embed(&uv).into_vec())
}

fn points(x: &[f64; 18]) -> [DVec3; 6] {
    std::array::from_fn(|i| DVec3::new(x[3 * i], x[3 * i + 1], x[3 * i + 2]))
}

fn flat(x: &[DVec3; 6]) -> [f64; 18] {
    std::array::from_fn(|i| x[i / 3][i % 3])
}

/// Positions of the stencil, displaced; repeated nodes keep the place of their corner.
fn displaced(element: &KoiterBending, x: &[DVec3], noise: &[f64]) -> [DVec3; 6] {
    element.nodes().map(|v| {
        let i = v.index();
        x[i] + 0.25 * DVec3::new(noise[3 * i], noise[3 * i + 1], noise[3 * i + 2])
    })
}

fn rows(h: &Blocks<6>) -> [[f64; 18]; 18] {
    h.to_matrix::<18>()
}

fn check(
    neighbours: usize,
    director: Director,
    noise: &[f64],
    angles: [f64; 3],
) -> Result<(), TestCaseError> {
    let (element, base) = patch(neighbours, director);
    let x = flat(&displaced(&element, &base, noise));
    let gradient = |x: &[f64; 18]| flat(&element.gradient(&points(x)));
    prop_assume!(max_abs(&gradient(&x)) > 1e-2);
    check_gradient(|x| element.energy(&points(x)), gradient, &x, 1e-6);
    check_jacobian(gradient, |x| rows(&element.hessian(&points(x), Psd::Exact)), &x, 1e-5);

    let p = points(&x);
    let exact = element.hessian(&p, Psd::Exact);
    for psd in [Psd::Clamp, Psd::Abs] {
        let projected = element.hessian(&p, psd);
        let smallest = symmetric_eigen(&rows(&projected)).0[0];
        prop_assert!(
            smallest >= -1e-12 * projected.norm(),
            "{psd:?}: {smallest:e} of {:e}",
            projected.norm()
        );
        let gap = symmetric_eigen(&rows(&(projected - exact))).0[0];
        prop_assert!(gap >= -1e-11 * projected.norm(), "{psd:?} does not majorise: {gap:e}");
    }
    let fused = element.evaluate(&p, Psd::Clamp);
    prop_assert_eq!(fused.energy, element.energy(&p));
    assert_close("fused", &flat(&fused.gradient), &gradient(&x), 1e-14, 1e-3);

    // With directors: 21 unknowns, of which three are angles.
    let join = |x: &[f64; 18], a: &[f64; 3]| -> [f64; 21] {
        std::array::from_fn(|i| if i < 18 { x[i] } else { a[i - 18] })
    };
    let split = |y: &[f64; 21]| -> ([DVec3; 6], [f64; 3]) {
        (points(&std::array::from_fn(|i| y[i])), [y[18], y[19], y[20]])
    };
    let energy = |y: &[f64; 21]| {
        let (x, a) = split(y);
        element.energy_with_directors(&x, &a)
    };
    let full = |y: &[f64; 21], psd: Psd| {
        let (x, a) = split(y);
        element.evaluate_with_directors(&x, &a, psd)
    };
    let gradient = |y: &[f64; 21]| {
        let e = full(y, Psd::Exact);
        join(&flat(&e.gradient), &e.director_gradient)
    };
    let hessian = |y: &[f64; 21], psd: Psd| -> [[f64; 21]; 21] {
        let e = full(y, psd);
        let h = rows(&e.hessian);
        std::array::from_fn(|i| {
            std::array::from_fn(|j| match (i < 18, j < 18) {
                (true, true) => h[i][j],
                (false, true) => e.mixed_hessian[i - 18][j / 3][j % 3],
                (true, false) => e.mixed_hessian[j - 18][i / 3][i % 3],
                (false, false) => e.director_hessian[i - 18][j - 18],
            })
        })
    };
    let y = join(&x, &angles);
    check_gradient(energy, gradient, &y, 1e-6);
    check_jacobian(gradient, |y| hessian(y, Psd::Exact), &y, 1e-5);
    let clamped = hessian(&y, Psd::Clamp);
    let smallest = symmetric_eigen(&clamped).0[0];
    prop_assert!(smallest >= -1e-12 * max_abs(clamped.as_flattened()), "with directors: {smallest:e}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn derivatives_and_projection(
        noise in prop::collection::vec(-1.0..1.0f64, 18), angles in prop::array::uniform3(-0.4..0.4f64),
        neighbours in 1..=3usize, tangent in any::<bool>(),
    ) {
        check(neighbours, if tangent { Director::Tangent } else { Director::Sine }, &noise, angles)?;
    }

    #[test]
    fn forces_and_torques_balance(noise in prop::collection::vec(-1.0..1.0f64, 18), neighbours in 1..=3usize) {
        let (element, base) = patch(neighbours, Director::Tangent);
        let x = displaced(&element, &base, &noise);
        let g = element.gradient(&x);
        let size = max_abs(&flat(&g)).max(1.0);
        let torque: DVec3 = x.iter().zip(&g).map(|(x, g)| x.cross(*g)).sum();
        prop_assert!(g.iter().sum::<DVec3>().length() < 1e-12 * size && torque.length() < 1e-12 * size);
    }

    #[test]
    fn curved_rest_shapes_rest(noise in prop::collection::vec(-1.0..1.0f64, 18), kind in 0..3usize) {
        let (_, base) = patch(3, Director::Sine);
        let mesh = TriMesh::new(6, &FACES).unwrap();
        let x: Field<Vertices, DVec3> = Field::from_fn(6, |v| {
            let n = &noise[3 * v.index()..];
            base[v.index()] + 0.25 * DVec3::new(n[0], n[1], n[2])
        });
        let rest = RestShape::from_positions(&mesh, &x).unwrap();
        let director = [Director::Average, Director::Sine, Director::Tangent][kind];
        let element = KoiterBending::new(&mesh, &rest, Id::new(0), director, &plate());
        let p = element.nodes().map(|v| x[v]);
        prop_assert!(element.energy(&p) < 1e-26, "{}", element.energy(&p));
        prop_assert!(max_abs(&flat(&element.gradient(&p))) < 1e-12);
    }

    #[test]
    fn average_is_sine_without_directors(noise in prop::collection::vec(-1.0..1.0f64, 18), angles in prop::array::uniform3(-0.4..0.4f64)) {
        let ((average, base), (sine, _)) = (patch(3, Director::Average), patch(3, Director::Sine));
        let x = displaced(&average, &base, &noise);
        let (a, b) = (average.evaluate_with_directors(&x, &angles, Psd::Clamp), sine.evaluate(&x, Psd::Clamp));
        prop_assert_eq!((a.energy, a.gradient, a.hessian), (b.energy, b.gradient, b.hessian));
        prop_assert_eq!((a.director_gradient, a.director_hessian), ([0.0; 3], [[0.0; 3]; 3]));
    }
}

/// A sheet rolled onto a cylinder of curvature one, rulings at an angle to the v axis.
fn roll(uv: &Field<Vertices, glam::DVec2>, angle: f64) -> Field<Vertices, DVec3> {
    let (sin, cos) = angle.sin_cos();
    uv.map(|u| {
        let (along, across) = (cos * u.x + sin * u.y, cos * u.y - sin * u.x);
        DVec3::new(along.sin(), across, 1.0 - along.cos())
    })
}

fn koiter_energy(n: usize, angle: f64, director: Director, seed: Option<u64>) -> f64 {
    let (mesh, uv) = match seed {
        Some(seed) => generate::irregular_grid(n, n, [1.0, 1.0], seed).unwrap(),
        None => generate::grid(n, n, [1.0, 1.0], generate::Diagonal::Right).unwrap(),
    };
    let rest = RestShape::from_uv(&mesh, &uv).unwrap();
    let x = roll(&uv, angle);
    // D = Y h³/(12 (1 - ν²)) = 1.
    let plate = Plate::new(Positive::ONE, PoissonRatio::literal(0.3));
    mesh.faces()
        .ids()
        // Faces on the boundary lack neighbours, whatever the mesh; count the others.
        .filter(|face| mesh.face_edges()[*face].iter().all(|e| !mesh.edges()[*e].is_boundary()))
        .map(|face| {
            let element = KoiterBending::new(&mesh, &rest, face, director, &plate);
            element.energy(&element.nodes().map(|v| x[v])) / (0.5 * rest.map(face).area())
        })
        .sum::<f64>()
        / mesh
            .faces()
            .ids()
            .filter(|face| mesh.face_edges()[*face].iter().all(|e| !mesh.edges()[*e].is_boundary()))
            .count() as f64
}

#[test]
fn cylinders_have_the_energy_of_the_plate() {
    // On regular grids the mid-edge form sees the curvature exactly in the limit, whatever the
    // ruling.
    for director in [Director::Sine, Director::Tangent] {
        for angle in [0.0, 0.3, std::f64::consts::FRAC_PI_4, 1.2] {
            let errors = [8, 16, 32].map(|n| (koiter_energy(n, angle, director, None) - 1.0).abs());
            println!("{director:?} {angle:.2}: {errors:?}");
            assert!(
                errors[2] < 5e-4 && errors[2] < 0.3 * errors[1] && errors[1] < 0.3 * errors[0],
                "{director:?} {angle}: {errors:?}"
            );
        }
    }
}

#[test]
fn discretisations_agree_for_fine_meshes() {
    for angle in [0.0, 0.7] {
        let gap = |n| {
            (koiter_energy(n, angle, Director::Sine, Some(3))
                / koiter_energy(n, angle, Director::Tangent, Some(3))
                - 1.0)
                .abs()
        };
        let (coarse, fine) = (gap(8), gap(32));
        assert!(fine < 0.12 * coarse && fine < 1e-3, "{coarse} {fine}");
    }
}

#[test]
fn agrees_with_hinges_when_only_one_family_of_edges_bends() {
    // Rulings along the grid, Poisson's ratio zero: the plate, and hinges with the weight l²/A, are
    // the same in the limit.
    let (mesh, uv) = generate::grid(32, 32, [1.0, 1.0], generate::Diagonal::Right).unwrap();
    let rest = RestShape::from_uv(&mesh, &uv).unwrap();
    let x = roll(&uv, 0.0);
    let hinges: f64 = rest
        .hinges()
        .iter()
        .map(|h| HingeElement::new(h, QuadraticAngle, Positive::ONE, HingeWeight::AreaSum))
        .map(|h| h.energy(&h.nodes().map(|v| x[v])))
        .sum();
    let plate = Plate::new(Positive::ONE, PoissonRatio::ZERO);
    // Faces of the first and last column lack a neighbour across the ruling and bend only half as
    // much.
    let faces: f64 = mesh
        .faces()
        .ids()
        .map(|face| KoiterBending::new(&mesh, &rest, face, Director::Tangent, &plate))
        .filter(|face| {
            face.nodes()[..3].iter().all(|v| (1.0 / 32.0 - 1e-9..=31.0 / 32.0 + 1e-9).contains(&uv[*v].x))
        })
        .map(|face| face.energy(&face.nodes().map(|v| x[v])))
        .sum();
    // One hinge per inner column of cells, 31 of them; 30 columns of complete faces.
    let (per_hinge, per_face) = (hinges * 32.0 / 31.0, faces * 32.0 / 30.0);
    assert!((per_hinge / 0.5 - 1.0).abs() < 2e-3, "{per_hinge}");
    assert!((per_face / per_hinge - 1.0).abs() < 2e-3, "{per_face} {per_hinge}");
}

#[test]
fn finite_for_every_finite_position_and_nan_is_not_hidden() {
    let values = [0.0, 1.0, -0.7, 1e-8, 1e-39, -1e-310, 1e39, -1e154, f64::MAX];
    let n = values.len();
    for director in [Director::Sine, Director::Tangent] {
        let (element, _) = patch(3, director);
        for i in 0..n.pow(3) {
            let v = [values[i % n], values[i / n % n], values[i / n / n]];
            let x = std::array::from_fn(|k| DVec3::new(v[k % 3], v[(k + k / 2) % 3], -v[(2 * k + 1) % 3]));
            for psd in Psd::ALL {
                let e = element.evaluate_with_directors(&x, &[0.1, -1.5, 3.0], psd);
                assert!(
                    e.energy.is_finite() && e.gradient.iter().all(|g| g.is_finite()) && e.hessian.is_finite(),
                    "{x:?}"
                );
                assert!(e.mixed_hessian.as_flattened().iter().all(|v| v.is_finite()), "{x:?}");
            }
        }
        let mut x = [DVec3::X; 6];
        x[4].z = f64::NAN;
        assert!(element.energy(&x).is_nan() && !element.gradient(&x)[0].is_finite());
        assert!(!element.hessian(&x, Psd::Clamp).is_finite());
    }
}

#[test]
fn flat_is_at_rest_and_folds_stay_finite() {
    let (element, base) = patch(3, Director::Tangent);
    let x = element.nodes().map(|v| base[v.index()]);
    assert!(element.energy(&x) < 1e-28 && max_abs(&flat(&element.gradient(&x))) < 1e-13);
    let mut folded = x;
    folded[3] = x[0] + DVec3::new(0.1, 0.05, 0.0); // the neighbour across edge 0 lies on the face
    let mut collapsed = x;
    collapsed[2] = 0.5 * (x[0] + x[1]);
    for x in [folded, collapsed, [x[0]; 6]] {
        for psd in Psd::ALL {
            let e = element.evaluate_with_directors(&x, &[0.1, -0.2, 0.3], psd);
            assert!(
                e.energy.is_finite() && e.gradient.iter().all(|g| g.is_finite()) && e.hessian.is_finite()
            );
            assert!(
                e.director_gradient.iter().chain(e.director_hessian.as_flattened()).all(|v| v.is_finite())
            );
        }
    }
}
