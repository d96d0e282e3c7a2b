//! Materials of scene files: solids by their own figures, and sheets that bend differently along
//! warp and weft.
#![cfg(feature = "file")]
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use std::path::Path;

use glam::DVec3;
use plisse_bending::HingeWeight;
use plisse_core::generate::Diagonal;
use plisse_core::{IsotropicSheet, PoissonRatio, Positive, UnitDir2};
use plisse_scene::file::Loaded;
use plisse_scene::scene::{
    AngleLaw, Bending, Cloth, Damping, Material, Membrane, Rigidity, Scene, SceneError, rotation_degrees,
};
use plisse_system::Pose;

const HEAD: &str = "version = 1\ntime.duration = 1\n[[cloth]]\n";

fn p(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

fn load(material: &str) -> Result<Loaded, String> {
    let shape = "grid = { cells = [6, 6], size = [0.3, 0.3] }\nscale = [1.1, 0.9, 1]\n";
    let text = format!("{HEAD}{shape}material = {{ {material} }}\n");
    Loaded::parse(&text, "s", Path::new("")).map_err(|mistakes| mistakes.to_string())
}

/// Energies and the total mass of a scene, by which two materials are compared.
fn figures(scene: &Scene) -> Vec<f64> {
    let mut out: Vec<f64> =
        scene.system().energies(&Pose::at(scene.state().x())).iter().map(|e| e.energy).collect();
    out.push(scene.system().mass().unwrap().as_slice().iter().sum());
    out
}

#[test]
fn a_solid_is_what_it_is_in_code() {
    let sheet = || Cloth::sheet([6, 6], [0.3, 0.3]).unwrap().deformed(|x| x * DVec3::new(1.1, 0.9, 1.0));
    let in_code = |material: Material| Scene::builder().cloth(sheet().material(material)).build().unwrap();
    let mylar =
        Material::solid(&IsotropicSheet::new(p(4.5e9), PoissonRatio::literal(0.38), p(25e-6)), p(1390.0))
            .unwrap();
    let text = "young = 4.5e9, poisson = 0.38, thickness = 25e-6, mass_density = 1390";
    let loaded = load(text).unwrap();
    assert_eq!(figures(&loaded.scene), figures(&in_code(mylar)));
    assert!(loaded.scene.warnings().is_empty());
    // The density per area instead, another membrane, another bending; the figures of the solid
    // stay.
    let areal = load(&text.replace("mass_density = 1390", "density = 0.03475")).unwrap();
    let (a, b) = (figures(&loaded.scene), figures(&areal.scene));
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= 1e-14 * a.abs()), "{a:?} {b:?}");
    for other in [
        "membrane = \"neo-hookean\"",
        "membrane = \"st-venant-kirchhoff\"",
        "bending = \"hinge\"",
        "bending = \"none\"",
    ] {
        assert!(load(&format!("{text}, {other}")).is_ok(), "{other}");
    }
    // Nothing comes from a preset: with no damping of its own it has none.
    let rubber = IsotropicSheet::new(p(1e6), PoissonRatio::literal(0.3), p(1e-3));
    assert_eq!(Material::solid(&rubber, p(1e3)).unwrap().damping, Damping::NONE);
}

#[test]
fn mixed_descriptions_are_refused_with_the_keys() {
    let solid = "young = 1e6, poisson = 0.3, thickness = 1e-3, mass_density = 1000";
    for (text, expected) in [
        (
            "young = 1e6",
            "s:6: a solid needs \"young\" in Pa, \"poisson\", \"thickness\" in m; add \"poisson\", \"thickness\"",
        ),
        ("thickness = 1e-3", "add \"young\", \"poisson\""),
        (
            "young = 1e6, poisson = 0.3, thickness = 1e-3",
            "either \"mass_density\" in kg/m3 or \"density\" in kg/m2; add one",
        ),
        (&format!("{solid}, density = 0.2"), "both are given"),
        (&format!("{solid}, warp = 100"), "\"warp\" does not go with \"young\""),
        (&format!("{solid}, warp = 100, rigidity = 1e-5"), "\"warp\", \"rigidity\" do not go with \"young\""),
        (&format!("{solid}, preset = \"denim\""), "\"preset\" does not go with \"young\""),
        (&format!("{solid}, membrane = \"fibres\""), "not that of a solid with a Poisson's ratio"),
        (&format!("{solid}, law = \"sine\""), "belong to bending = \"hinge\""),
        (&solid.replace("0.3", "1.6"), "1.6 is not a number between -1 and 1"),
    ] {
        let error = load(text).err().unwrap();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

const CURVATURE: f64 = 2.0;

/// Bending energy of a sheet of 0.16 m² over that of a plate with rigidity one, rolled along x
/// after it was turned about z.
fn rolled(sheet: &Cloth, rigidity: Rigidity, degrees: f64) -> f64 {
    rolled_along(sheet, rigidity, [UnitDir2::U, UnitDir2::V], degrees)
}

/// The same with other directions of the fibres.
fn rolled_along(sheet: &Cloth, rigidity: Rigidity, directions: [UnitDir2; 2], degrees: f64) -> f64 {
    let turn = rotation_degrees(0.0, 0.0, degrees);
    let bending = Bending::Hinge { law: AngleLaw::Quadratic, rigidity, weight: HingeWeight::AreaSum };
    let membrane = Membrane { directions, ..Material::denim().membrane };
    let material = Material { membrane, bending, ..Material::denim() };
    let cloth = sheet.clone().material(material).rotated(turn).deformed(|x| {
        let angle = CURVATURE * x.x;
        DVec3::new(angle.sin() / CURVATURE, x.y, (1.0 - angle.cos()) / CURVATURE)
    });
    let scene = Scene::builder().cloth(cloth).build().unwrap();
    let energies = scene.system().energies(&Pose::at(scene.state().x()));
    let energy = energies.iter().find(|e| e.name == "cloth 1: bending").unwrap().energy;
    energy / (0.5 * CURVATURE * CURVATURE * 0.16)
}

/// On grids only the edges across the roll have an angle: warp and weft enter alone, as exactly as
/// one rigidity does.
#[test]
fn a_grid_bends_with_the_rigidity_of_its_fibres() {
    let (warp, weft) = (3e-4, 1e-4);
    let woven = Rigidity { warp: p(warp), weft: p(weft) };
    for diagonal in [Diagonal::Right, Diagonal::Left, Diagonal::Alternating] {
        let sheet = Cloth::grid([40, 40], [0.4, 0.4], diagonal).unwrap();
        let one = rolled(&sheet, Rigidity::uniform(p(1.0)), 0.0);
        // The outermost row of edges has no hinge: 1/40 of the sheet.
        assert!((one - 1.0).abs() < 0.03, "{diagonal:?} {one}");
        for (degrees, expected) in [(0.0, warp), (90.0, weft)] {
            let found = rolled(&sheet, woven, degrees) / rolled(&sheet, Rigidity::uniform(p(1.0)), degrees);
            // The diagonals have angles of rounding errors only.
            assert!((found / expected - 1.0).abs() < 1e-9, "{diagonal:?} {degrees} {found}");
        }
    }
}

/// Edges of irregular meshes have every direction, so that a part of the other rigidity enters: 6
/// to 9 % where the cells of a rectangle follow the fibres, 17 to 29 % on a disc without preferred
/// direction, up to 56 % where fibres run along the diagonals of cells.
#[test]
fn irregular_meshes_mix_the_rigidities() {
    let woven = Rigidity { warp: p(3.0), weft: p(1.0) };
    let sheets = [
        Cloth::irregular([40, 40], [0.4, 0.4], 3),
        Cloth::delaunay([40, 40], [0.4, 0.4], 3),
        Cloth::irregular_disc(22, (0.16 / std::f64::consts::PI).sqrt(), 3),
    ];
    for sheet in sheets.map(Result::unwrap) {
        for turn in [0.0, 15.0, 30.0, 45.0f64] {
            // Worst where cells of a rectangle are cut by the fibres at 45 degrees.
            let most = if turn == 0.0 { 0.3 } else { 0.6 };
            let warp = UnitDir2::from_angle(turn.to_radians()).unwrap();
            let fibres = [warp, warp.perp()];
            let rigidity =
                |value: Rigidity, degrees: f64| rolled_along(&sheet, value, fibres, degrees - turn);
            let found =
                [0.0, 90.0].map(|side| rigidity(woven, side) / rigidity(Rigidity::uniform(p(1.0)), side));
            let mixed = [(3.0 - found[0]) / 2.0, (found[1] - 1.0) / 2.0];
            assert!(mixed.iter().all(|part| (0.0..most).contains(part)), "{turn} {mixed:?}");
        }
    }
}

/// Directions of the fibres turn the rigidities with them; along oblique fibres, each bends with
/// its own.
#[test]
fn rigidities_follow_the_fibres() {
    let woven = Rigidity { warp: p(3.0), weft: p(1.0) };
    let [a, b] = [UnitDir2::from_angle(0.3).unwrap(), UnitDir2::from_angle(1.4).unwrap()];
    assert!((woven.across(a.get(), [a, b]) - 3.0).abs() < 1e-14);
    assert!((woven.across(b.get() * 7.0, [a, b]) - 1.0).abs() < 1e-14);
    for i in 0..100 {
        let n = UnitDir2::from_angle(0.1 * f64::from(i)).unwrap();
        assert!((1.0..=3.0).contains(&woven.across(n.get(), [a, b])));
        let (c, s) = (n.get().x, n.get().y);
        assert!((woven.across(n.get(), [UnitDir2::U, UnitDir2::V]) - (3.0 * c * c + s * s)).abs() < 1e-14);
    }
    // Whatever is given, the result is between both.
    assert_eq!(woven.across(glam::DVec2::ZERO, [a, b]), 2.0);
    assert_eq!(woven.across(a.get(), [a, a]), 2.0);
    // Exchanged directions exchange the rigidities.
    let sheet = Cloth::sheet([20, 20], [0.4, 0.4]).unwrap();
    let energy = |directions: [UnitDir2; 2], rigidity: Rigidity| {
        let membrane = Membrane { directions, ..Material::denim().membrane };
        let material = Material { membrane, bending: Bending::hinges(rigidity), ..Material::denim() };
        let cloth =
            sheet.clone().material(material).deformed(|x| DVec3::new(x.x, x.y, x.x * x.x + 0.3 * x.x * x.y));
        let scene = Scene::builder().cloth(cloth).build().unwrap();
        let energies = scene.system().energies(&Pose::at(scene.state().x()));
        energies.iter().find(|e| e.name == "cloth 1: bending").unwrap().energy
    };
    let exchanged = Rigidity { warp: woven.weft, weft: woven.warp };
    let (first, second) =
        (energy([UnitDir2::U, UnitDir2::V], woven), energy([UnitDir2::V, UnitDir2::U], exchanged));
    assert!((first / second - 1.0).abs() < 1e-13, "{first} {second}");
    assert!(energy([UnitDir2::V, UnitDir2::U], woven) < 0.7 * first);
}

/// Damping in proportion to stiffness follows the rigidity of each hinge.
#[test]
fn damping_follows_the_rigidity() {
    let lost = |rigidity: Rigidity| {
        let damping = Damping { bending: Some(p(0.1)), ..Damping::NONE };
        let material = Material { bending: Bending::hinges(rigidity), damping, ..Material::paper() };
        let cloth = Cloth::sheet([8, 2], [0.4, 0.1]).unwrap().material(material);
        let bent =
            cloth.deformed(|x| DVec3::new((2.0 * x.x).sin() / 2.0, x.y, (1.0 - (2.0 * x.x).cos()) / 2.0));
        let mut scene = Scene::builder().cloth(bent).gravity(DVec3::ZERO).time_step(p(1e-3)).build().unwrap();
        scene.step().unwrap();
        let energies = scene.system().energies(&Pose::at(scene.state().x()));
        energies.iter().find(|e| e.name == "cloth 1: bending").unwrap().energy
    };
    // Only the warp bends: the weft does not matter, and the warp does.
    let [stiff, limp] = [4e-4, 1e-4].map(p);
    let (warp, both) = (lost(Rigidity { warp: stiff, weft: limp }), lost(Rigidity::uniform(stiff)));
    // Nearly: its free sides curl a little the other way.
    assert!((warp / both - 1.0).abs() < 1e-3, "{warp} {both}");
    assert!((lost(Rigidity { warp: limp, weft: stiff }) / both - 1.0).abs() > 0.1);
}

#[test]
fn two_rigidities_in_files() {
    let loaded = load("preset = \"denim\", rigidity = [3e-5, 1e-5]").unwrap();
    assert!(loaded.scene.warnings().is_empty());
    assert!(load("rigidity = 1e-5").is_ok());
    assert!(load("rigidity = [2e-5, 2e-5], bending = \"mid-edge\"").is_ok());
    for (text, expected) in [
        (
            "rigidity = [3e-5, 1e-5], bending = \"mid-edge\"",
            "only hinges bend differently along warp (3e-5 N m) and weft (1e-5 N m)",
        ),
        ("rigidity = [3e-5, 1e-5], bending = \"quadratic\"", "give one \"rigidity\", or bending = \"hinge\""),
        ("rigidity = [3e-5]", "is not a positive number, or two: [warp, weft]"),
        ("rigidity = [3e-5, 0]", "0 is not a positive number"),
    ] {
        let error = load(text).err().unwrap();
        assert!(error.contains(expected), "{text}: {error}");
    }
    // A sphere has no warp.
    let text = format!(
        "{HEAD}sphere = {{ divisions = 1, radius = 0.1 }}\nmaterial = {{ membrane = \"arap\", tensile = 100, rigidity = [3e-5, 1e-5] }}\n"
    );
    let error = Loaded::parse(&text, "s", Path::new("")).err().unwrap().to_string();
    assert!(
        error.starts_with("s:3: cloth 1 has no material coordinates, so that a rigidity along warp"),
        "{error}"
    );
    let curved = Cloth::sphere(1, 0.1).unwrap();
    let bending = Bending::hinges(Rigidity { warp: p(2.0), weft: p(1.0) });
    let material = Material { bending, ..Material::paper() };
    let refused = Scene::builder().cloth(curved.material(material)).build().err();
    assert_eq!(refused, Some(SceneError::NoBendingDirections { body: "cloth 1".to_owned() }));
}
