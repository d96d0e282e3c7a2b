//! Every element over the whole range of parameters and of `f64`: finite, and semidefinite where
//! that is asked for.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::f64::consts::PI;

use glam::{DMat3, DVec2, DVec3};
use plisse_bending::{
    AngleEnergy, CosineAngle, Director, HingeElement, HingeFilter, KoiterBending, Net, PlanarAngle, Plate,
    PrintedCosine, QuadraticAngle, QuadraticBending, RodElement, RodStretch, SineAngle, TangentAngle,
};
use plisse_core::range::{LENGTH, PARAMETER};
use plisse_core::{
    Angle, Blocks, Element, Field, Id, IsotropicSheet, PoissonRatio, Positive, Psd, RestShape, TriMesh,
    generate,
};
use plisse_testkit::{any_finite, any_points, assert_semidefinite, magnitude};
use proptest::prelude::*;

/// Semidefinite to rounding: matrices of up to 324 entries that are sums of some ten products.
const ROUNDING: f64 = 1e-14;

fn positive(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

fn laws() -> [(&'static str, Box<dyn AngleEnergy>); 6] {
    [
        ("quadratic", Box::new(QuadraticAngle)),
        ("tangent", Box::new(TangentAngle)),
        ("sine", Box::new(SineAngle)),
        ("cosine", Box::new(CosineAngle)),
        ("printed", Box::new(PrintedCosine { b: 0.3 })),
        ("torque", Box::new(PrintedCosine { b: -f64::MAX })),
    ]
}

fn finite(what: &str, values: impl IntoIterator<Item = f64>) {
    for value in values {
        assert!(value.is_finite(), "{what}: {value}");
    }
}

fn numbers(vectors: &[DVec3]) -> Vec<f64> {
    vectors.iter().flat_map(DVec3::to_array).collect()
}

fn entries<const N: usize>(h: &Blocks<N>) -> Vec<f64> {
    h.0.as_flattened().iter().flat_map(DMat3::to_cols_array).collect()
}

/// Everything that an element answers. `scale` is the size of the terms that cancel in a Hessian.
fn check<const V: usize, const N: usize>(
    what: &str,
    element: &impl Element<V>,
    x: &[DVec3; V],
    scale: impl Fn(&Blocks<V>) -> f64,
) {
    let (energy, gradient) = element.energy_and_gradient(x);
    finite(what, [energy, element.energy(x)]);
    finite(what, numbers(&gradient));
    finite(what, numbers(&element.gradient(x)));
    for psd in Psd::ALL {
        let all = element.evaluate(x, psd);
        for h in [all.hessian, element.hessian(x, psd)] {
            finite(what, entries(&h));
            if psd != Psd::Exact {
                let rows: [[f64; N]; N] = std::array::from_fn(|i| std::array::from_fn(|j| h.entry(i, j)));
                assert_semidefinite(&format!("{what}, {psd:?}"), &rows, ROUNDING, scale(&h));
            }
        }
    }
}

fn parameter() -> impl Strategy<Value = f64> {
    prop_oneof![magnitude(PARAMETER), 1e-6..1e3f64]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn hinges(x in any_points::<4>(), stiffness in parameter(), rest in -PI..PI) {
        let (x, rest) = (x.map(DVec3::from), Angle::new(rest).unwrap());
        for (name, law) in laws() {
            for filter in [HingeFilter::V1, HingeFilter::V2, HingeFilter::V3, HingeFilter::Numeric] {
                let hinge = HingeElement::from_parts([0, 1, 2, 3].map(Id::new), &law, positive(stiffness), rest)
                    .with_filter(filter);
                // Blocks of the wings times the feet of their altitudes: each row of blocks sums to
                // zero.
                check::<4, 12>(&format!("hinge, {name}, {filter:?}"), &hinge, &x, Blocks::max_abs);
            }
        }
    }

    #[test]
    fn rods(x in any_points::<3>(), stiffness in parameter(), rest in 0.0..PI) {
        let (x, rest) = (x.map(DVec3::from), Angle::new(rest).unwrap());
        for (name, law) in laws() {
            let rod = RodElement::new([0, 1, 2].map(Id::new), &law, positive(stiffness), rest);
            check::<3, 9>(&format!("rod, {name}"), &rod, &x, |_| 0.0);
            finite("eigenvalues", rod.eigensystem(&x).values);
        }
    }

    #[test]
    fn segments(x in any_points::<2>(), stiffness in parameter(), length in parameter()) {
        let segment = RodStretch::new([0, 1].map(Id::new), positive(length), positive(stiffness));
        check::<2, 6>("segment", &segment, &x.map(DVec3::from), |_| 0.0);
    }

    #[test]
    fn planar_angles(e in prop::array::uniform4(any_finite()), g in any_finite(), h in any_finite()) {
        let Some(angle) = PlanarAngle::new(DVec2::new(e[0], e[1]), DVec2::new(e[2], e[3])) else { return Ok(()) };
        let limit = plisse_core::range::FACTOR;
        let (g, h) = (g.clamp(-limit, limit), h.clamp(-limit, limit));
        for psd in Psd::ALL {
            let rows = angle.hessian(g, h, psd);
            finite("planar", rows.as_flattened().to_vec());
            if psd != Psd::Exact {
                assert_semidefinite("planar", &rows, ROUNDING, 0.0);
            }
        }
    }

    #[test]
    fn mid_edge(
        x in any_points::<6>(),
        size in magnitude(LENGTH),
        stiffness in magnitude(1e-58..=1e59),
        nu in -0.99..0.99f64,
        angles in prop::array::uniform3(-4.0..4.0f64),
    ) {
        let mesh = TriMesh::new(6, &[[0, 1, 2], [2, 1, 3], [0, 2, 4], [1, 0, 5]]).unwrap();
        let corners = [[0.0, 0.0], [1.0, 0.0], [0.3, 0.8], [1.2, 1.0], [-0.6, 0.7], [0.4, -0.7]];
        let uv = Field::from_vec(corners.map(|u| DVec2::from(u) * size).to_vec());
        let Ok(rest) = RestShape::from_uv(&mesh, &uv) else { return Ok(()) };
        let sheet = IsotropicSheet::new(positive(stiffness), PoissonRatio::new(nu).unwrap(), Positive::ONE);
        let plate = Plate::of_sheet(&sheet).unwrap();
        let x = x.map(DVec3::from);
        for director in [Director::Average, Director::Sine, Director::Tangent] {
            for face in mesh.faces().iter().map(|(face, _)| face) {
                let bending = KoiterBending::new(&mesh, &rest, face, director, &plate);
                let x = bending.nodes().map(|v| x[v.index()]);
                // Hinges of three edges, each with its own pull-back.
                check::<6, 18>(&format!("mid-edge, {director:?}"), &bending, &x, |h| 100.0 * h.max_abs());
                for psd in Psd::ALL {
                    let all = bending.evaluate_with_directors(&x, &angles, psd);
                    finite("directors", all.director_gradient);
                    finite("directors", all.director_hessian.as_flattened().to_vec());
                    finite("directors", numbers(all.mixed_hessian.as_flattened()));
                    finite("directors", entries(&all.hessian));
                }
            }
        }
    }

    #[test]
    fn constant_matrices(
        x in any_points::<9>(),
        size in magnitude(LENGTH),
        rigidity in parameter(),
        squeeze in magnitude(1e-12..=1.0),
    ) {
        let size = size.clamp(1e-29, 1e29);
        let (mesh, uv) = generate::grid(2, 2, [size, (size * squeeze).max(1e-29)], generate::Diagonal::Right).unwrap();
        let Ok(rest) = RestShape::from_uv(&mesh, &uv) else { return Ok(()) };
        let x = Field::from_vec(x.map(DVec3::from).to_vec());
        let bending = QuadraticBending::on_vertices(&mesh, &rest, positive(rigidity));
        finite("vertices", [bending.energy(&x)]);
        finite("vertices", numbers(bending.gradient(&x).as_slice()));
        prop_assert!(bending.energy(&x) >= 0.0 || bending.energy(&x).abs() < 1e300);
        let bending = QuadraticBending::on_edges(&mesh, &rest, positive(rigidity));
        let middle = Field::from_fn(mesh.edge_count(), |e| {
            let [a, b] = mesh.edges()[e].vertices;
            x[a] * 0.5 + x[b] * 0.5
        });
        finite("edges", [bending.energy(&middle)]);
        finite("edges", numbers(bending.gradient(&middle).as_slice()));
    }

    #[test]
    fn nets(x in any_points::<4>(), young in parameter(), radius in parameter()) {
        let positions = Field::from_vec(x.map(DVec3::from).to_vec());
        let segments = [[0, 1], [1, 2], [1, 3]];
        let Ok(net) = Net::new(&positions, &segments, QuadraticAngle, positive(young), positive(radius)) else {
            return Ok(());
        };
        for element in &net.bending {
            check::<3, 9>("net", element, &element.nodes().map(|v| positions[v]), |_| 0.0);
        }
        for element in &net.stretching {
            check::<2, 6>("net", element, &element.nodes().map(|v| positions[v]), |_| 0.0);
        }
    }
}
