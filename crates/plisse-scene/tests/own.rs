//! Energies, laws, terms, obstacles and integrators of the user's own: where they are those of
//! plisse, the bits are the same.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use glam::{DMat3, DVec3};
use plisse_bending::{HingeWeight, QuadraticAngle};
use plisse_core::{Id, PoissonRatio, Positive, outer};
use plisse_membrane::{Corotational, Lame};
use plisse_scene::scene::{
    AngleLaw, Bending, Cloth, Distance, Material, Membrane, Obstacle, Pick, Scene, SceneBuilder, SceneError,
    Settings, Solid, Stretching, Wire, Wires,
};
use plisse_system::{Adaptive, Attachments, Implicit, State};

fn p(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

fn cloth() -> Cloth {
    let sheet = Cloth::irregular([7, 6], [0.3, 0.25], 3).unwrap();
    sheet.pin(Pick::group("left")).jittered(1e-3)
}

fn after(scene: SceneBuilder, steps: usize) -> State<plisse_core::Vertices> {
    run(scene.time_step(p(0.02)), steps)
}

fn run(scene: SceneBuilder, steps: usize) -> State<plisse_core::Vertices> {
    let mut scene = scene.build().unwrap();
    for _ in 0..steps {
        scene.step().unwrap();
    }
    scene.state().clone()
}

#[test]
fn a_membrane_of_ones_own_has_the_bits_of_the_same_material() {
    let lame = Lame::from_tensile(p(300.0), PoissonRatio::literal(0.3)).unwrap();
    let membrane = Membrane::isotropic(Stretching::Corotational(lame));
    let material = Material { membrane, ..Material::cotton() };
    let theirs = after(Scene::builder().cloth(cloth().material(material)), 4);
    let own = cloth().material(material).membrane(Corotational::new(lame));
    assert_eq!(after(Scene::builder().cloth(own), 4), theirs);
    // What the material says about the membrane does not matter any more, but for damping.
    let undamped = |material| Material { damping: plisse_scene::scene::Damping::NONE, ..material };
    let [a, b] = [Material::denim(), material].map(|material| {
        let bending = Bending::hinges(p(1e-5));
        let material = Material { bending, density: p(0.2), ..undamped(material) };
        after(Scene::builder().cloth(cloth().material(material).membrane(Corotational::new(lame))), 4)
    });
    assert_eq!(a, b);
}

#[test]
fn a_bending_law_of_ones_own_has_the_bits_of_the_same_material() {
    let bending = |law| Bending::Hinge { law, rigidity: p(1e-4).into(), weight: HingeWeight::AreaSum };
    let made_of = |law| cloth().material(Material { bending: bending(law), ..Material::cotton() });
    let theirs = after(Scene::builder().cloth(made_of(AngleLaw::Quadratic)), 4);
    let own = made_of(AngleLaw::Tangent).angle_law(QuadraticAngle);
    assert_eq!(after(Scene::builder().cloth(own), 4), theirs);

    let net = || Wires::net([3, 2], 2, [0.3, 0.2]).unwrap().pin(Pick::group("left"));
    let wire = |law| Wire { young: p(1e9), law, ..Wire::default() };
    let theirs = after(Scene::builder().wires(net().wire(wire(AngleLaw::Quadratic))), 4);
    let own = net().wire(wire(AngleLaw::Tangent)).angle_law(QuadraticAngle);
    assert_eq!(after(Scene::builder().wires(own), 4), theirs);

    let solid = cloth().material(Material::mylar()).angle_law(QuadraticAngle);
    let refused = Scene::builder().cloth(solid).build().err().unwrap();
    assert_eq!(refused, SceneError::NoHinges { body: "cloth 1".to_owned() });
    assert!(refused.to_string().contains("Bending::hinges"));
}

struct Ball;

impl Solid for Ball {
    fn distance(&self, x: DVec3) -> Distance {
        let length = x.length();
        let n = x / length;
        let hessian = (DMat3::IDENTITY - outer(n, n)) * (1.0 / length);
        Distance { value: length - 0.1, gradient: n, hessian }
    }

    fn is_convex(&self) -> bool {
        true
    }
}

/// Contact with a shape of one's own acts on vertices, by its distance.
#[test]
fn an_obstacle_of_ones_own_keeps_vertices_out() {
    let napkin = || Cloth::irregular([9, 9], [0.4, 0.4], 3).unwrap().at(DVec3::Z * 0.101);
    let own = after(Scene::builder().cloth(napkin()).obstacle(Obstacle::solid(Ball)), 8);
    // Without curvature the solver takes another way to the same place.
    let bare = |x: DVec3| Distance::without_curvature(x.length() - 0.1, x.normalize());
    let rough = after(Scene::builder().cloth(napkin()).obstacle(Obstacle::solid(bare)), 8);
    for (v, x) in rough.x().iter() {
        assert!(x.length() > 0.1 && (*x - own.x()[v]).length() < 1e-3, "{v}: {x}");
    }
}

#[test]
fn an_obstacle_of_ones_own_is_turned_moved_and_named() {
    let shelf = |x: DVec3| Distance::without_curvature(x.z, DVec3::Z);
    let quarter = plisse_scene::scene::rotation_degrees(0.0, 90.0, 0.0);
    let wall = Obstacle::solid(shelf).named("wall").placed(quarter, DVec3::X).placed(quarter, DVec3::Y);
    // The normal goes from z to x to -z; the point from the origin to (1, 0, 0) to (0, 1, -1).
    let found = wall.distance(0.0, DVec3::new(5.0, 5.0, -3.0));
    assert!((found.value - 2.0).abs() < 1e-14 && (found.gradient - DVec3::NEG_Z).length() < 1e-14);
    assert!(wall.name() == Some("wall") && wall.surface(0.0).is_none() && wall.as_plane(0.0).is_none());
    let lost = Obstacle::solid(shelf).placed(quarter, DVec3::splat(f64::NAN));
    let refused = Scene::builder().cloth(cloth()).obstacle(lost).build().err().unwrap();
    assert!(matches!(refused, SceneError::NotFinite { .. }), "{refused}");
}

/// Scenes can be built in one thread and looked at from others.
#[test]
fn scenes_go_between_threads() {
    fn check<T: Send + Sync>() {}
    check::<Scene>();
    check::<SceneBuilder>();
}

#[test]
fn an_integrator_of_ones_own_has_the_bits_of_the_same_settings() {
    let theirs = after(Scene::builder().cloth(cloth()), 4);
    let own = Scene::builder().cloth(cloth()).integrator(|system, settings| {
        let inner = Implicit::new(system, settings.scheme, settings.newton)?;
        Ok(Adaptive::new(inner, settings.shortest_step.unwrap_or(settings.time_step)))
    });
    assert_eq!(after(own.clone(), 4), theirs);
    // Resumed, too: the scene makes it forget.
    let [mut a, mut b] = [own.clone(), own].map(|scene| scene.time_step(p(0.02)).build().unwrap());
    a.step().unwrap();
    let checkpoint = a.checkpoint(1, 0);
    b.set_state(checkpoint.state).unwrap();
    for scene in [&mut a, &mut b] {
        scene.step().unwrap();
    }
    assert_eq!(a.state(), b.state());
}

/// Two bodies of every kind, with terms of all sorts: each moves as it would alone, and a term
/// finds its vertices.
#[test]
fn bodies_have_one_numbering() {
    let far = DVec3::X * 2.0;
    let hanging = || cloth().material(Material::mylar()).named("hanging");
    let quadratic = Bending::Quadratic { rigidity: p(1e-5) };
    let limp = || cloth().material(Material { bending: quadratic, ..Material::wool() }).named("limp").at(far);
    let rod = || Wires::line(DVec3::Y, DVec3::new(0.3, 1.0, 0.0), 6).unwrap().named("rod");
    let rod = || rod().wire(Wire { young: p(1e8), ..Wire::default() }).pin(Pick::vertices([0, 1]));
    // Substeps would be those of the whole scene, not of one body.
    let settings = Settings { time_step: p(1e-3), shortest_step: None, ..Settings::default() };
    let builder = || Scene::builder().settings(settings);
    let all = || builder().cloth(hanging()).wires(rod()).cloth(limp());
    let together = all().build().unwrap();
    let ranges: Vec<_> = together.bodies().iter().map(|body| body.vertices.clone()).collect();
    assert_eq!(ranges, [0..56, 56..63, 63..119]);
    assert_eq!(together.bodies()[1].vertex(Id::new(6)), Some(Id::new(62)));
    assert_eq!(together.bodies()[1].vertex(Id::new(7)), None);
    let state = run(all(), 5);
    let alone = [builder().cloth(hanging()), builder().wires(rod()), builder().cloth(limp())]
        .map(|scene| run(scene, 5));
    for (range, alone) in ranges.iter().zip(&alone) {
        for (x, expected) in state.x().as_slice()[range.clone()].iter().zip(alone.x().as_slice()) {
            // One tolerance for all bodies, 0.1 m/s², ends Newton's method a little earlier or
            // later.
            assert!(x.distance(*expected) < 1e-6, "{x} {expected}");
        }
    }
    // A spring of one's own at the free end of the rod.
    let pulled = all().term(|bodies| {
        let end = bodies.find("rod").and_then(|rod| rod.vertex(Id::new(6))).ok_or("no rod")?;
        let above = bodies.start()[end] + DVec3::Z;
        Ok(Attachments::new("string").to_point(end, above, Positive::literal(0.05)))
    });
    let pulled = run(pulled, 5);
    assert!(pulled.x()[Id::new(62)].z > state.x()[Id::new(62)].z + 1e-4);
    for range in [&ranges[0], &ranges[2]] {
        for (x, expected) in
            pulled.x().as_slice()[range.clone()].iter().zip(&state.x().as_slice()[range.clone()])
        {
            assert!(x.distance(*expected) < 1e-6, "{x} {expected}");
        }
    }
    let refused = all().term::<Attachments<_>>(|_| Err("out of string".into())).build().err().unwrap();
    assert_eq!(refused.to_string(), "a term of the scene could not be made: out of string");
}
