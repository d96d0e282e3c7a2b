//! Quadratic bending: affine maps are free, cylinders have the energies that theory says.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use glam::{DVec2, DVec3};
use plisse_bending::{HingeElement, HingeWeight, QuadraticAngle, QuadraticBending};
use plisse_core::{Edges, Element, Field, Id, Positive, RestShape, TriMesh, Vertices, generate};
use plisse_testkit::check_gradient;

fn meshes() -> Vec<(TriMesh, Field<Vertices, DVec2>)> {
    vec![
        generate::grid(6, 5, [1.0, 0.8], generate::Diagonal::Right).unwrap(),
        generate::grid(6, 5, [1.0, 0.8], generate::Diagonal::Alternating).unwrap(),
        generate::irregular_grid(6, 5, [1.0, 0.8], 5).unwrap(),
        generate::disc(4, 0.7).unwrap(),
        generate::annulus(12, 3, 0.3, 0.9, generate::Diagonal::Alternating).unwrap(),
    ]
}

fn midpoints(mesh: &TriMesh, x: &Field<Vertices, DVec3>) -> Field<Edges, DVec3> {
    mesh.edges().map(|edge| 0.5 * (x[edge.vertices[0]] + x[edge.vertices[1]]))
}

fn affine(u: &DVec2) -> DVec3 {
    DVec3::new(1.2 * u.x - 0.3 * u.y + 5.0, 0.4 * u.x + 0.8 * u.y, 0.5 * u.x + 0.1 * u.y - 2.0)
}

#[test]
fn affine_maps_are_free() {
    for (mesh, uv) in meshes() {
        let rest = RestShape::from_uv(&mesh, &uv).unwrap();
        let x = uv.map(affine);
        let bumpy = x.map(|p| *p + DVec3::new(0.0, 0.0, 0.1 * (7.0 * p.x).sin()));
        let vertices = QuadraticBending::on_vertices(&mesh, &rest, Positive::ONE);
        let edges = QuadraticBending::on_edges(&mesh, &rest, Positive::ONE);
        // Entries are of the size 1/area² times area: energies of the bumpy sheet are the scale.
        assert!(vertices.energy(&x).abs() < 1e-11 * vertices.energy(&bumpy), "{}", vertices.energy(&x));
        let (flat, bent) = (midpoints(&mesh, &x), midpoints(&mesh, &bumpy));
        assert!(edges.energy(&flat).abs() < 1e-11 * edges.energy(&bent));
        assert!(vertices.gradient(&x).as_slice().iter().all(|g| g.length() < 1e-9));
    }
}

#[test]
fn gradient_is_that_of_the_energy_and_rows_are_symmetric() {
    let (mesh, uv) = generate::irregular_grid(1, 2, [1.0, 1.0], 1).unwrap();
    let rest = RestShape::from_uv(&mesh, &uv).unwrap();
    let q = QuadraticBending::on_vertices(&mesh, &rest, Positive::new(0.5).unwrap());
    let field = |x: &[f64; 18]| {
        Field::from_vec((0..6).map(|i| DVec3::new(x[3 * i], x[3 * i + 1], x[3 * i + 2])).collect())
    };
    let x: [f64; 18] = std::array::from_fn(|i| ((i * 7919) % 13) as f64 / 13.0 - 0.4);
    let gradient = |x: &[f64; 18]| {
        let g = q.gradient(&field(x));
        std::array::from_fn(|i| g.as_slice()[i / 3][i % 3])
    };
    check_gradient(|x| q.energy(&field(x)), gradient, &x, 1e-8);
    for i in (0..6).map(Id::new) {
        for (j, value) in q.row(i) {
            let back = q.row(j).find(|(k, _)| *k == i).unwrap().1;
            assert!((value - back).abs() <= 1e-14 * value.abs().max(1e-3));
        }
    }
}

fn roll(u: &DVec2, angle: f64) -> DVec3 {
    let (sin, cos) = angle.sin_cos();
    let (along, across) = (cos * u.x + sin * u.y, cos * u.y - sin * u.x);
    DVec3::new(along.sin(), across, 1.0 - along.cos())
}

/// Ratios to the plate, counted over the areas `A_e` of interior edges: midpoints on the cylinder,
/// vertices on it.
fn ratios(n: usize, degrees: f64, equilateral: bool) -> (f64, f64, f64) {
    let (mesh, uv) = if equilateral {
        // A sheared grid cut along the shorter diagonals.
        let (mesh, uv) = generate::grid(n, n, [1.0, 1.0], generate::Diagonal::Left).unwrap();
        (mesh, uv.map(|u| DVec2::new(u.x + 0.5 * u.y, 0.75f64.sqrt() * u.y)))
    } else {
        generate::grid(n, n, [1.0, 1.0], generate::Diagonal::Right).unwrap()
    };
    let rest = RestShape::from_uv(&mesh, &uv).unwrap();
    let q = QuadraticBending::on_edges(&mesh, &rest, Positive::ONE);
    let angle = degrees.to_radians();
    let middle = mesh.edges().map(|edge| 0.5 * (uv[edge.vertices[0]] + uv[edge.vertices[1]]));
    let plate: f64 = rest.hinges().iter().map(|h| 0.5 * (h.rest_areas()[0] + h.rest_areas()[1]) / 3.0).sum();
    let x = uv.map(|u| roll(u, angle));
    let hinges: f64 = rest
        .hinges()
        .iter()
        .map(|h| HingeElement::new(h, QuadraticAngle, Positive::ONE, HingeWeight::DiscreteShells))
        .map(|h| h.energy(&h.nodes().map(|v| x[v])))
        .sum();
    let sampled = q.energy(&middle.map(|u| roll(u, angle)));
    (sampled / plate, q.energy(&midpoints(&mesh, &x)) / plate, hinges / plate)
}

#[test]
fn cylinders_converge_as_the_tables_say() {
    // n, ruling angle, midpoints on the cylinder, vertices on the cylinder.
    for (n, degrees, sampled, conforming) in [
        (8, 0.0, 1.533, 2.856),
        (16, 0.0, 1.516, 2.933),
        (32, 0.0, 1.508, 2.968),
        (16, 90.0, 1.516, 2.933),
        (8, 45.0, 1.176, 8.977),
        (16, 45.0, 1.149, 8.994),
        (32, 45.0, 1.137, 8.999),
        (8, 135.0, 1.176, 3.27),
        (16, 135.0, 1.149, 3.13),
        (32, 135.0, 1.137, 3.06),
    ] {
        let (a, b, hinges) = ratios(n, degrees, false);
        println!("n {n}, {degrees} degrees: {a:.3} ({sampled}), {b:.3} ({conforming}), hinges {hinges:.3}");
        // The tables have three or four digits.
        assert!((a / sampled - 1.0).abs() < 2e-3, "n {n}, {degrees}: midpoints {a} instead of {sampled}");
        assert!(
            (b / conforming - 1.0).abs() < 3e-3,
            "n {n}, {degrees}: vertices {b} instead of {conforming}"
        );
        // Small angles: hinges with the Discrete Shells weight are the conforming form.
        assert!((hinges / b - 1.0).abs() < 0.02, "n {n}, {degrees}: hinges {hinges} instead of {b}");
    }
}

#[test]
fn equilateral_cylinders_converge_as_the_table_says() {
    for (n, sampled, conforming) in [(8, 1.144, 3.04), (16, 1.134, 3.02), (32, 1.130, 3.01)] {
        let (a, b, hinges) = ratios(n, 0.0, true);
        println!("equilateral, n {n}: {a:.3} ({sampled}), {b:.3} ({conforming}), hinges {hinges:.3}");
        assert!((a / sampled - 1.0).abs() < 2e-3 && (b / conforming - 1.0).abs() < 3e-3, "n {n}: {a} {b}");
    }
}

#[test]
fn energy_does_not_depend_on_the_place() {
    let (mesh, uv) = generate::grid(32, 32, [1.0, 1.0], generate::Diagonal::Right).unwrap();
    let rest = RestShape::from_uv(&mesh, &uv).unwrap();
    let q = QuadraticBending::on_vertices(&mesh, &rest, Positive::ONE);
    let x = uv.map(|u| DVec3::new(u.x, u.y, 0.005 * u.x * u.x));
    // Ten kilometres away positions themselves have lost four digits of the bend.
    let far = x.map(|p| *p + DVec3::new(1e4, -1e4, 1e4));
    assert!((q.energy(&far) / q.energy(&x) - 1.0).abs() < 1e-5, "{} {}", q.energy(&far), q.energy(&x));
}

#[test]
fn panels_sewn_afterwards_have_a_free_seam() {
    // Two squares side by side, built apart, then joined along x = 1.
    let (mesh, uv) = generate::grid(2, 2, [1.0, 1.0], generate::Diagonal::Right).unwrap();
    let rest = RestShape::from_uv(&mesh, &uv).unwrap();
    let (one, n) = (QuadraticBending::on_vertices(&mesh, &rest, Positive::ONE), uv.len());
    let both = |f: &[Id<Vertices>; 3]| [f.map(Id::get), f.map(|v| v.get() + n as u32)];
    let faces: Vec<[u32; 3]> = mesh.faces().as_slice().iter().flat_map(both).collect();
    let double = TriMesh::new(2 * n, &faces).unwrap();
    let uv2 = Field::from_fn(2 * n, |v: Id<Vertices>| {
        uv.as_slice()[v.index() % n] + DVec2::new((v.index() / n) as f64, 0.0)
    });
    let rest2 = RestShape::from_uv(&double, &uv2).unwrap();
    let apart = QuadraticBending::on_vertices(&double, &rest2, Positive::ONE);
    // The left column of the second panel becomes the right column of the first.
    let mut next = n as u32;
    let target = Field::from_fn(2 * n, |v: Id<Vertices>| {
        let i = v.index();
        if i < n {
            v
        } else if (i - n).is_multiple_of(3) {
            Id::new((i - n) as u32 + 2)
        } else {
            next += 1;
            Id::new(next - 1)
        }
    });
    let sewn = apart.merged(&target, next as usize);
    // Folded at the seam, each panel flat: no energy; and bent panels have the energy of the two.
    let at = |fold: bool| {
        let mut x = Field::filled(next as usize, DVec3::ZERO);
        for v in uv2.ids() {
            let u = uv2[v];
            x[target[v]] = if u.x <= 1.0 {
                DVec3::new(u.x, u.y, 0.0)
            } else if fold {
                DVec3::new(1.0, u.y, u.x - 1.0)
            } else {
                DVec3::new(u.x, u.y, (u.x - 1.0).powi(2))
            };
        }
        x
    };
    assert!(sewn.energy(&at(true)).abs() < 1e-12);
    let bent = uv.map(|u| DVec3::new(u.x + 1.0, u.y, u.x * u.x));
    assert!((sewn.energy(&at(false)) / one.energy(&bent) - 1.0).abs() < 1e-12);
}

#[test]
fn vertex_form_has_the_energy_of_the_plate_inside() {
    // Where every inner vertex has the same ring, the cotangent Laplacian is the mean curvature in
    // the limit; on a chessboard of diagonals, rings of four and eight triangles have areas in the
    // ratio 1 to 2 and the energy tends to 9/8 of the plate's.
    let ratio = |n: usize, diagonal| {
        let (mesh, uv) = generate::grid(n, n, [1.0, 1.0], diagonal).unwrap();
        let rest = RestShape::from_uv(&mesh, &uv).unwrap();
        let q = QuadraticBending::on_vertices(&mesh, &rest, Positive::ONE);
        q.energy(&uv.map(|u| roll(u, 0.0))) / 0.5
    };
    for (diagonal, limit) in [(generate::Diagonal::Right, 1.0), (generate::Diagonal::Alternating, 1.125)] {
        let errors = [16, 32, 64].map(|n| (ratio(n, diagonal) - limit).abs());
        println!("{diagonal:?}: {errors:?}");
        // The boundary strip makes the error one of first order.
        assert!(errors[2] < 0.6 * errors[1] && errors[1] < 0.6 * errors[0] && errors[2] < 0.03, "{errors:?}");
    }
}
