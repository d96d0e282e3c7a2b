//! The closed forms of every kind of surface against a dense rank.

use plisse_core::generate::{self, Diagonal};

use super::*;

/// Rank by elimination with full pivoting. Entries are 0 and ±1 and stay small, so a pivot is zero
/// or about one.
fn rank(mut rows: Vec<Vec<f64>>) -> usize {
    let mut rank = 0;
    while rank < rows.len() {
        let width = rows[rank].len();
        let (mut best, mut at) = (1e-9, None);
        for (i, row) in rows.iter().enumerate().skip(rank) {
            for (j, value) in row.iter().enumerate().take(width) {
                if value.abs() > best {
                    (best, at) = (value.abs(), Some((i, j)));
                }
            }
        }
        let Some((i, j)) = at else { break };
        rows.swap(rank, i);
        let pivot = rows[rank].clone();
        for row in &mut rows[rank + 1..] {
            let factor = row[j] / pivot[j];
            if factor != 0.0 {
                for (x, p) in row.iter_mut().zip(&pivot) {
                    *x -= factor * p;
                }
            }
        }
        rank += 1;
    }
    rank
}

/// Numbers between -1 and 1 without a pattern.
fn noise(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

fn edge_ends(mesh: &TriMesh, edge: Id<Edges>) -> [Id<Vertices>; 2] {
    let [a, b] = mesh.edges()[edge].vertices;
    [a.min(b), a.max(b)]
}

#[track_caller]
fn check(mesh: &TriMesh, kept: &Field<Faces, bool>, betti: usize, components: usize) -> KeptComplex {
    let complex = KeptComplex::new(mesh, kept).unwrap();
    assert_eq!((complex.betti(), complex.component_count()), (betti, components));

    // The true dimension: edges of kept faces less the rank of their curls.
    let kept_faces: Vec<_> = kept.iter().filter(|(_, keep)| **keep).map(|(face, _)| face).collect();
    let curls = kept_faces.iter().map(|&face| {
        let mut row = vec![0.0; complex.edges().len()];
        for step in complex.face_steps(face) {
            row[complex.edge_place(step.edge).unwrap()] = step.sign;
        }
        row
    });
    assert_eq!(complex.dimension(), complex.edges().len() - rank(curls.collect()), "closed forms");

    // Nodes sit on the corners of their faces, and both faces of an edge agree about its ends.
    for &face in &kept_faces {
        let nodes = complex.face_nodes(face).unwrap();
        assert_eq!(nodes.map(|node| complex.node_vertices()[node]), mesh.faces()[face]);
        for (i, step) in complex.face_steps(face).into_iter().enumerate() {
            let edge = complex.edges()[complex.edge_place(step.edge).unwrap()];
            let (from, to) = (nodes[(i + 1) % 3], nodes[(i + 2) % 3]);
            assert_eq!(edge.nodes, if step.sign > 0.0 { [from, to] } else { [to, from] });
            assert_eq!(edge.nodes.map(|node| complex.node_vertices()[node]), edge_ends(mesh, step.edge));
        }
    }

    // Closed to rounding, with the periods that were asked for.
    let phi = Field::from_vec(noise(complex.node_count(), 1));
    let c: Vec<f64> = noise(complex.betti(), 2).iter().map(|x| 100.0 * x).collect();
    let omega = complex.omega(&phi, &c).unwrap();
    for &face in &kept_faces {
        // Three sums of two to `betti` numbers of up to 200.
        assert!(complex.curl(face, &omega).unwrap().abs() < 1e-12);
    }
    for (edge, value) in omega.iter() {
        assert!(complex.edge_place(edge).is_some() || *value == 0.0);
    }
    for (period, c) in complex.periods(&omega).unwrap().iter().zip(&c) {
        assert!((period - c).abs() < 1e-11);
    }
    // Without a phase no rounding is left.
    let still = Field::filled(complex.node_count(), 0.0);
    assert_eq!(complex.periods(&complex.omega(&still, &c).unwrap()).unwrap(), c);

    // Integration is the inverse, up to a constant on each component.
    let (back, periods) = complex.integrate(&omega).unwrap();
    let again = complex.omega(&back, &periods).unwrap();
    for (edge, value) in omega.iter() {
        assert!((again[edge] - value).abs() < 1e-10);
    }
    for (node, value) in back.iter() {
        let root = complex.roots()[complex.node_components()[node] as usize];
        assert!((value - (phi[node] - phi[root])).abs() < 1e-11);
    }

    // Primal loops are closed walks over the nodes.
    for k in 0..complex.betti() {
        let ends = complex.primal_loop(k).iter().map(|step| {
            let [tail, head] = complex.edges()[complex.edge_place(step.edge).unwrap()].nodes;
            if step.sign > 0.0 { [tail, head] } else { [head, tail] }
        });
        let ends: Vec<_> = ends.collect();
        for (i, end) in ends.iter().enumerate() {
            assert_eq!(end[1], ends[(i + 1) % ends.len()][0]);
        }
    }
    complex
}

fn all(mesh: &TriMesh) -> Field<Faces, bool> {
    Field::filled(mesh.face_count(), true)
}

/// An `m` by `n` torus.
fn torus(m: u32, n: u32) -> TriMesh {
    let at = |i: u32, j: u32| (i % m) * n + j % n;
    let mut faces = Vec::new();
    for i in 0..m {
        for j in 0..n {
            faces.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
            faces.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
        }
    }
    TriMesh::new((m * n) as usize, &faces).unwrap()
}

#[test]
fn surfaces_with_and_without_boundary() {
    let (disc, _) = generate::disc(4, 1.0).unwrap();
    check(&disc, &all(&disc), 0, 1);
    let (annulus, _) = generate::annulus(9, 2, 0.5, 1.0, Diagonal::Right).unwrap();
    check(&annulus, &all(&annulus), 1, 1);
    let tube = generate::cylinder(7, 3, 1.0, 1.0, Diagonal::Alternating).unwrap();
    check(&tube.mesh, &all(&tube.mesh), 1, 1);
    let (sphere, _) = generate::sphere(2, 1.0).unwrap();
    check(&sphere, &all(&sphere), 0, 1);
    let torus = torus(5, 4);
    check(&torus, &all(&torus), 2, 1);
}

#[test]
fn sphere_with_holes() {
    let (sphere, x) = generate::sphere(2, 1.0).unwrap();
    // Open at the poles of every axis, by the largest coordinate of the corners.
    for axes in 1..=3usize {
        let kept = Field::from_fn(sphere.face_count(), |face| {
            let centre = sphere.faces()[face].map(|v| x[v]).iter().sum::<glam::DVec3>() / 3.0;
            centre.to_array()[..axes].iter().all(|value| value.abs() < 0.85)
        });
        check(&sphere, &kept, 2 * axes - 1, 1);
    }
}

#[test]
fn torus_with_holes() {
    let torus = torus(6, 6);
    let mut kept = all(&torus);
    kept[Id::new(0)] = false;
    check(&torus, &kept, 2, 1);
    kept[Id::new(40)] = false;
    check(&torus, &kept, 3, 1);
}

#[test]
fn several_pieces() {
    // Rings 0 and 2 of a disc's faces, by the radius of the centre; the middle one is taken out.
    let (disc, uv) = generate::disc(5, 5.0).unwrap();
    let kept = Field::from_fn(disc.face_count(), |face| {
        let nearest = disc.faces()[face].map(|v| uv[v].length()).into_iter().fold(f64::MAX, f64::min);
        !(1.5..2.5).contains(&nearest)
    });
    // A disc of radius two, and an annulus from three to five; faces with a corner on radius two
    // are gone.
    check(&disc, &kept, 1, 2);
}

#[test]
fn faces_that_touch_in_a_point_are_apart() {
    // A fan of six around vertex 0, every other face removed: three triangles that share one
    // vertex.
    let fan: Vec<[u32; 3]> = (0..6).map(|i| [0, 1 + i, 1 + (i + 1) % 6]).collect();
    let mesh = TriMesh::new(7, &fan).unwrap();
    let kept = Field::from_fn(6, |face| face.get() % 2 == 0);
    let complex = check(&mesh, &kept, 0, 3);
    assert_eq!(complex.node_count(), 9);
    assert_eq!(complex.node_vertices().as_slice()[..3], [Id::new(0); 3]);

    // A ring of faces with one taken out still touches itself in the corner between its neighbours.
    // That closes no loop: nothing ties the two phases there.
    let (ring, _) = generate::annulus(8, 1, 0.5, 1.0, Diagonal::Right).unwrap();
    let whole = check(&ring, &all(&ring), 1, 1);
    let mut kept = all(&ring);
    kept[Id::new(5)] = false;
    let pinched = check(&ring, &kept, 0, 1);
    assert_eq!(pinched.node_count(), whole.node_count() + 1);

    // The same inside of a wider ring: two opposite faces of six around an interior vertex.
    let (annulus, _) = generate::annulus(8, 2, 0.5, 1.0, Diagonal::Right).unwrap();
    let vertex = annulus.vertices().find(|v| !annulus.is_boundary_vertex(*v)).unwrap();
    let around = annulus.vertex_faces(vertex);
    let apart = |face: Id<Faces>| {
        annulus.face_edges()[face].iter().all(|edge| !annulus.face_edges()[around[0]].contains(edge))
    };
    let other = around.iter().copied().find(|face| apart(*face)).unwrap();
    let mut kept = all(&annulus);
    for face in around {
        kept[*face] = *face == around[0] || *face == other;
    }
    let complex = KeptComplex::new(&annulus, &kept).unwrap();
    assert_eq!(complex.node_vertices().iter().filter(|(_, v)| **v == vertex).count(), 2);
    check(&annulus, &kept, complex.betti(), complex.component_count());
}

#[test]
fn speckled_removals() {
    // Many shapes at once: whatever the noise removes, the dimension is that of the curl's null
    // space.
    let (grid, _) = generate::irregular_grid(9, 7, [1.0, 1.0], 5).unwrap();
    let torus = torus(7, 6);
    for seed in 0..12 {
        for mesh in [&grid, &torus] {
            let kept = Field::from_vec(
                noise(mesh.face_count(), seed).iter().map(|x| *x < 0.8 - 0.1 * seed as f64).collect(),
            );
            let complex = KeptComplex::new(mesh, &kept).unwrap();
            check(mesh, &kept, complex.betti(), complex.component_count());
        }
    }
}

#[test]
fn nothing_kept() {
    let (disc, _) = generate::disc(2, 1.0).unwrap();
    let complex = check(&disc, &Field::filled(disc.face_count(), false), 0, 0);
    assert_eq!((complex.node_count(), complex.edges().len()), (0, 0));
    assert!(complex.crossings(Id::new(0)).is_empty());
}

#[test]
fn wrong_lengths_are_refused() {
    let (disc, _) = generate::disc(2, 1.0).unwrap();
    let short = Field::filled(3, true);
    assert_eq!(
        KeptComplex::new(&disc, &short).unwrap_err().to_string(),
        "kept faces: expected one value per face, that is 24, got 3"
    );
    let complex = KeptComplex::new(&disc, &all(&disc)).unwrap();
    let phi = Field::filled(complex.node_count(), 0.0);
    assert_eq!(
        complex.omega(&phi, &[1.0]).unwrap_err().to_string(),
        "expected one period per generator of the kept faces, that is 0, got 1"
    );
}
