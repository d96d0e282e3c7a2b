//! Patches: what is built, and what is refused with yarn and crossing.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use glam::DVec3;
use plisse_yarn::{
    ArcLength, Contacts, Family, Patch, PatchError, Weave, Woven, Yarn, YarnMaterial, YarnModel,
    centre_lines, patch_of_quads, tubes,
};

fn refused(woven: &Woven) -> String {
    woven.patch().unwrap_err().to_string()
}

#[test]
fn bad_patches_are_refused_with_yarn_and_crossing() {
    let good = Woven::default();
    good.patch().unwrap();
    let text = refused(&Woven { spacing: [0.0, 1e-3], ..good.clone() });
    assert!(text.contains("warp 0") && text.contains("crossing 0") && text.contains("spacing"), "{text}");
    let text = refused(&Woven { spacing: [1e-3, f64::NAN], ..good.clone() });
    assert!(text.contains("node 0") && text.contains("NaN"), "{text}");
    let text = refused(&Woven { counts: [1, 5], ..good.clone() });
    assert!(text.contains("warp 0") && text.contains("at least two"), "{text}");
    let text = refused(&Woven { counts: [0, 0], ..good.clone() });
    assert!(text.contains("no node"), "{text}");
    for radius in [-1e-4, 0.0, f64::NAN, f64::INFINITY] {
        let weft = YarnMaterial { radius, ..good.weft };
        let text = refused(&Woven { weft, ..good.clone() });
        assert!(text.contains("weft 0") && text.contains("radius"), "{text}");
    }
    // Two weft yarns of 0.6 mm radius do not fit a millimetre apart.
    let weft = YarnMaterial { radius: 6e-4, ..good.weft };
    let text = refused(&Woven { weft, ..good.clone() });
    assert!(text.contains("warp 0") && text.contains("crossing of warp 0 and weft 0"), "{text}");
    assert!(text.contains("0.0012"), "{text}");
    let text = refused(&Woven { tails: [1e-4, 0.0], ..good.clone() });
    assert!(text.contains("warp 0") && text.contains("need"), "{text}");
    let text = refused(&Woven { tails: [0.0, -1.0], ..good.clone() });
    assert!(text.contains("tail") && text.contains("weft"), "{text}");
    for contacts in [
        Contacts { friction: -0.1, ..good.contacts },
        Contacts { jamming: 0.0, ..good.contacts },
        Contacts { stick: f64::NAN, ..good.contacts },
        Contacts { press: -1.0, ..good.contacts },
        Contacts { shear: f64::INFINITY, ..good.contacts },
    ] {
        assert!(refused(&Woven { contacts, ..good.clone() }).contains("between yarns"));
    }
}

#[test]
fn yarns_that_do_not_fit_together_are_refused() {
    let x = vec![DVec3::ZERO, DVec3::X, DVec3::Y];
    let material = YarnMaterial { radius: 0.1, ..YarnMaterial::COTTON };
    let yarn = |family, number, nodes: Vec<u32>| {
        let lengths = (0..nodes.len()).map(|k| k as f64).collect();
        Yarn { family, number, material, nodes, lengths }
    };
    let build = |yarns| Patch::new(x.clone(), yarns, vec![true; 3], Contacts::COTTON);
    let twice = build(vec![yarn(Family::Warp, 0, vec![0, 1]), yarn(Family::Warp, 1, vec![0, 2])]);
    assert!(matches!(twice, Err(PatchError::Crowded { node: 0, .. })), "{twice:?}");
    let missing = build(vec![yarn(Family::Warp, 0, vec![0, 7])]);
    assert!(matches!(missing, Err(PatchError::NoNode { node: 7, .. })));
    let loose = build(vec![yarn(Family::Warp, 0, vec![0, 1])]);
    assert!(matches!(loose, Err(PatchError::LooseNode { node: 2 })));
    let mut uneven = yarn(Family::Warp, 0, vec![0, 1, 2]);
    uneven.lengths.pop();
    assert!(matches!(build(vec![uneven]), Err(PatchError::Lengths { .. })));
    let sides = Patch::new(x.clone(), vec![yarn(Family::Warp, 0, vec![0, 1, 2])], vec![], Contacts::COTTON);
    assert!(matches!(sides, Err(PatchError::Sides { .. })));
}

#[test]
fn ends_single_yarns_and_parallel_yarns_do_not_slide() {
    let patch = Woven { counts: [4, 3], tails: [1e-3, 0.0], ..Woven::default() }.patch().unwrap();
    // Four crossings on each of three warp yarns may slide; one of three on each weft yarn.
    assert_eq!(patch.free_lengths().len(), 4 * 3 + 4);
    assert_eq!(patch.len(), 12 + 6);
    let end = patch.at_node(12)[0].unwrap();
    assert!(matches!(patch.arc(end), ArcLength::Held(_)) && !patch.is_crossing(12));
    // The mass is that of all material.
    let total: f64 = patch.masses().iter().sum();
    assert!((total - 1e-4 * (3.0 * 5e-3 + 4.0 * 2e-3)).abs() < 1e-15, "{total}");

    // Two yarns that run alongside each other at the middle node.
    let x = vec![-DVec3::X, DVec3::ZERO, DVec3::X, DVec3::new(-1.0, 0.05, 0.0), DVec3::new(1.0, -0.05, 0.0)];
    let material = YarnMaterial { radius: 0.1, ..YarnMaterial::COTTON };
    let lengths = vec![0.0, 1.0, 2.0];
    let warp =
        Yarn { family: Family::Warp, number: 0, material, nodes: vec![0, 1, 2], lengths: lengths.clone() };
    let weft = Yarn { family: Family::Weft, number: 0, material, nodes: vec![3, 1, 4], lengths };
    let patch = Patch::new(x, vec![warp, weft], vec![true; 5], Contacts::COTTON).unwrap();
    assert!(patch.is_crossing(1) && patch.free_lengths().is_empty());
}

#[test]
fn quads_of_a_grid_are_the_woven_patch() {
    let woven = Woven { counts: [5, 4], ..Woven::default() };
    let patch = woven.patch().unwrap();
    let mut quads = Vec::new();
    for j in 0..3u32 {
        for i in 0..4u32 {
            let a = 5 * j + i;
            // Corners may start anywhere.
            let quad = [a, a + 1, a + 6, a + 5];
            quads.push(if (i + j) % 2 == 0 { quad } else { [quad[2], quad[3], quad[0], quad[1]] });
        }
    }
    let build = |quads: &[[u32; 4]]| {
        patch_of_quads(patch.rest(), quads, &Weave::plain(), [woven.warp, woven.weft], woven.contacts)
    };
    let found = build(&quads).unwrap();
    assert_eq!(found.yarns().len(), 9);
    for (a, b) in found.yarns().iter().zip(patch.yarns()) {
        assert_eq!((a.family, a.number, &a.nodes), (b.family, b.number, &b.nodes));
        assert!(a.lengths.iter().zip(&b.lengths).all(|(a, b)| (a - b).abs() < 1e-15));
    }
    // Three quads about a node have no two families.
    let three = [[0, 1, 2, 3], [0, 3, 4, 5], [0, 5, 6, 1]];
    let x: Vec<DVec3> = (0..7).map(|k| DVec3::new(f64::from(k).cos(), f64::from(k).sin(), 0.0)).collect();
    let odd = patch_of_quads(&x, &three, &Weave::plain(), [woven.warp, woven.weft], woven.contacts);
    assert!(matches!(odd, Err(PatchError::Families { .. })), "{odd:?}");
    assert!(matches!(build(&[[0, 1, 2, 99]]), Err(PatchError::NoNode { node: 99, .. })));
}

#[test]
fn crimp_puts_the_upper_yarn_on_top() {
    let woven = Woven { counts: [5, 5], ..Woven::default() };
    let patch = woven.patch().unwrap();
    let lines = centre_lines(&patch, patch.rest(), 4);
    assert_eq!(lines.len(), 10);
    for (index, line) in lines.iter().enumerate() {
        assert_eq!(line.points.len(), 4 * 4 + 1);
        let yarn = &patch.yarns()[index];
        for (place, &node) in yarn.nodes.iter().enumerate() {
            let over = patch.warp_is_over(node) == (yarn.family == Family::Warp);
            let height = line.points[4 * place].z;
            assert!((height - if over { 2e-4 } else { -2e-4 }).abs() < 1e-12, "{height}");
        }
    }
    // Closed surfaces: every edge has two triangles, in opposite directions; volumes are positive.
    let tubes = tubes(&lines, 8);
    let mut edges = std::collections::BTreeMap::new();
    let mut volume = 0.0;
    for face in &tubes.faces {
        for k in 0..3 {
            *edges.entry((face[k], face[(k + 1) % 3])).or_insert(0) += 1;
        }
        let [a, b, c] = face.map(|v| tubes.points[v as usize]);
        volume += a.dot(b.cross(c)) / 6.0;
    }
    assert!(edges.iter().all(|(&(a, b), &count)| count == 1 && edges.contains_key(&(b, a))));
    // An octagon has 2 √2 r²; crimp makes the lines a little longer than 4 mm.
    let straight = 10.0 * 4e-3 * 2.0 * 2f64.sqrt() * 4e-8;
    assert!((0.95..1.25).contains(&(volume / straight)), "{}", volume / straight);
    assert_eq!(tubes.yarns.len(), tubes.faces.len());
}

#[test]
fn friction_presses_where_yarns_pull_over_each_other() {
    use plisse_core::Field;
    let contacts = Contacts { friction: 0.5, press: 0.0, ..Contacts::COTTON };
    let woven = Woven { counts: [3, 3], contacts, ..Woven::default() };
    let model = YarnModel::new(woven.patch().unwrap());
    let own: Vec<f64> = model.patch().free_lengths().to_vec();
    // Middle crossing lifted: the yarns are pulled taut over it, both downwards.
    let mut x = model.patch().rest().to_vec();
    x[4].z += 3e-4;
    let both = model.friction_limits(&Field::from_vec(x.clone()), &own);
    // Both pull down with the same force: the upper one presses, the lower one lifts off by as
    // much.
    let at = |limits: &[(plisse_core::Id<plisse_core::Vertices>, f64)]| {
        limits.iter().find(|(node, _)| node.index() == 4).unwrap().1
    };
    assert!(at(&both) < 1e-12, "{both:?}");
    // Without tension in the weft, the warp alone pulls: it is on top at (1, 1), and presses.
    assert!(model.patch().warp_is_over(4));
    (x[1].y, x[7].y) = (x[4].y - 9e-4, x[4].y + 9e-4);
    let pressed = at(&model.friction_limits(&Field::from_vec(x.clone()), &own));
    assert!(pressed > 0.1, "{pressed}");
    // Below the plane it pulls up, away from the weft.
    x[4].z = -3e-4;
    assert!(at(&model.friction_limits(&Field::from_vec(x), &own)) <= 0.0);
}
