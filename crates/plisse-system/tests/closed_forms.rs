//! Equilibria with known answers: stretched strips, a cantilever, a hanging chain, an inflated
//! sphere.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

mod common;

use common::{G, Sheet, positive, settings};
use glam::DVec3;
use plisse_bending::{Director, HingeWeight, KoiterBending, Plate, RodStretch};
use plisse_core::{Field, Id, IsotropicSheet, PoissonRatio, RestShape, Vertices, generate};
use plisse_membrane::{
    Arap, BaraffWitkin, Corotational, Lame, MembraneElement, MembraneEnergy, NeoHookeanIncompressible,
    NeoHookeanLog, NeoHookeanStable, StVenantKirchhoff,
};
use plisse_system::{
    Criterion, ElementTerm, Gravity, Implicit, NewtonSettings, Pin, Pose, Pressure, Scheme, State, System,
    Volume,
};

fn equilibrium(
    system: &System<Vertices>,
    x: &Field<Vertices, DVec3>,
    settings: NewtonSettings,
) -> Field<Vertices, DVec3> {
    let mut state = State::at_rest(x.clone()).unwrap();
    let mut solver = Implicit::new(system, Scheme::Quasistatic, settings).unwrap();
    solver.equilibrate(system, &mut state).unwrap_or_else(|e| panic!("{e}"));
    state.x().clone()
}

fn by_energy(joules: f64) -> NewtonSettings {
    NewtonSettings {
        criterion: Criterion::Decrement(positive(joules)),
        max_iterations: 400,
        ..NewtonSettings::default()
    }
}

/// Force per width that holds a strip at a stretch, with its long sides free.
fn tension<E: MembraneEnergy + Copy + 'static>(energy: E, stretch: f64) -> f64 {
    let (length, width) = (1.0, 0.5);
    let sheet = Sheet::grid(8, 4, [length, width], generate::Diagonal::Alternating);
    let mut builder = System::massless(sheet.flat.len()).term(sheet.membrane(energy)).pin(Id::new(0));
    for (node, x) in sheet.flat.iter().skip(1) {
        let end = x.x == 0.0 || x.x == length;
        builder = match (end, x.y == 0.0) {
            // The corner on the axis keeps its place along both.
            (true, true) => builder.constrain(node, Pin::Line(DVec3::Z)),
            (true, false) => builder.constrain(node, Pin::Plane(DVec3::X)),
            (false, true) => builder.constrain(node, Pin::Plane(DVec3::Y)),
            (false, false) => builder,
        };
    }
    let system = builder.build().unwrap();
    let start = sheet.flat.map(|x| DVec3::new(stretch * x.x, x.y, 0.0));
    let x = equilibrium(&system, &start, by_energy(1e-15));
    let mut g = Field::filled(x.len(), DVec3::ZERO);
    system.gradient(&Pose::at(&x), &mut g);
    let pull: f64 = sheet.flat.iter().filter(|(_, x)| x.x == length).map(|(node, _)| g[node].x).sum();
    pull / width
}

/// A root by bisection.
fn root(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if (f(middle) > 0.0) == (f(high) > 0.0) {
            high = middle;
        } else {
            low = middle;
        }
    }
    0.5 * (low + high)
}

/// Each energy against its law of stress and stretch, written down here once more.
#[test]
fn uniaxial_stretch() {
    let (mu, lambda) = (30.0, 20.0);
    let lame = Lame::new(positive(mu), lambda).unwrap();
    let young = 4.0 * mu * (mu + lambda) / (2.0 * mu + lambda);
    for l in [1.05, 1.3, 2.0] {
        let near = |name: &str, found: f64, expected: f64| {
            assert!(
                (found - expected).abs() < 1e-6 * expected,
                "{name} at {l}: {found}, expected {expected}"
            );
        };
        let cloth = BaraffWitkin::from_moduli(positive(80.0), positive(50.0), positive(10.0));
        near("Baraff-Witkin", tension(cloth, l), 80.0 * (l - 1.0));
        near("ARAP", tension(Arap::new(positive(mu)), l), mu * (l - 1.0) * ARAP_FACTOR);
        near("StVK", tension(StVenantKirchhoff::new(lame), l), 0.5 * young * l * (l * l - 1.0));
        near("corotational", tension(Corotational::new(lame), l), young * (l - 1.0));
        near(
            "incompressible",
            tension(NeoHookeanIncompressible::new(positive(mu)), l),
            mu * (l - 1.0 / (l * l)),
        );
        // ψ = μ/2 (I - 2) - μ ln J + λ/2 ln² J: the sides narrow until their stress vanishes.
        let side = |s: f64| mu * (s - 1.0 / s) + lambda * (l * s).ln() / s;
        let s = root(side, 0.1, 1.5);
        let expected = mu * (l - 1.0 / l) + lambda * (l * s).ln() / l;
        near("logarithmic", tension(NeoHookeanLog::new(lame).unwrap(), l), expected);
        // ψ = μ/2 (I - 2) - μ (J - 1) + λ'/2 (J - 1)² with λ' = λ + μ.
        let side = |s: f64| mu * s - mu * l + (lambda + mu) * (l * s - 1.0) * l;
        let s = root(side, 0.1, 1.5);
        let expected = mu * l - mu * s + (lambda + mu) * (l * s - 1.0) * s;
        near("stable", tension(NeoHookeanStable::new(lame), l), expected);
    }
}

/// `ψ = μ |F - R|²`: the stress along a fibre is `2 μ (l - 1)`.
const ARAP_FACTOR: f64 = 2.0;

/// Tip of an inextensible cantilever under its own weight, by shooting: `D θ'' = -w (L - s) cos θ`,
/// `θ(0) = θ'(L) = 0`.
fn elastica(rigidity: f64, weight: f64, length: f64) -> (f64, f64) {
    let shoot = |slope: f64| {
        let n = 20_000;
        let h = length / f64::from(n);
        let second = |s: f64, theta: f64| -weight * (length - s) * theta.cos() / rigidity;
        let (mut theta, mut rate, mut x, mut z) = (0.0f64, slope, 0.0, 0.0);
        for k in 0..n {
            let s = h * f64::from(k);
            // The midpoint rule is accurate enough with so many steps.
            let (tm, rm) = (theta + 0.5 * h * rate, rate + 0.5 * h * second(s, theta));
            x += h * tm.cos();
            z -= h * tm.sin();
            theta += h * rm;
            rate += h * second(s + 0.5 * h, tm);
        }
        (rate, x, z)
    };
    let slope = root(|slope| shoot(slope).0, 0.0, weight * length * length / rigidity);
    let (_, x, z) = shoot(slope);
    (x, z)
}

fn cantilever(cells: usize, triangulation: &str) -> (f64, f64) {
    let length = 0.3;
    let h = length / cells as f64;
    let size = [length, 4.0 * h];
    let (mesh, uv) = match triangulation {
        "right" => generate::grid(cells, 4, size, generate::Diagonal::Right),
        "left" => generate::grid(cells, 4, size, generate::Diagonal::Left),
        "alternating" => generate::grid(cells, 4, size, generate::Diagonal::Alternating),
        _ => generate::irregular_grid(cells, 4, size, 7),
    }
    .unwrap();
    let rest = RestShape::from_uv(&mesh, &uv).unwrap();
    let sheet = Sheet { flat: generate::embed(&uv), mesh, rest };
    let density = 0.2;
    let weight = density * 9.81;
    let rigidity = weight * length.powi(3) / 5.0;
    // Without Poisson's effect a strip bends as a beam, whatever its width.
    let thickness = 1e-3f64;
    let young = positive(12.0 * rigidity / thickness.powi(3));
    let material = IsotropicSheet::new(young, PoissonRatio::ZERO, positive(thickness));
    let plate = Plate::of_sheet(&material).unwrap();
    let stretch = Lame::plane_stress(&material).unwrap();
    let faces = sheet.mesh.faces().ids();
    let bending =
        faces.map(|f| KoiterBending::new(&sheet.mesh, &sheet.rest, f, Director::Tangent, &plate)).collect();
    // The first column of cells is held. The normal at the end of that column is the mean of a held
    // and a free cell, so that the beam is clamped in the middle of it.
    let held = |x: &DVec3| x.x < 1.5 * h;
    let clamped: Vec<Id<Vertices>> =
        sheet.flat.iter().filter(|(_, x)| held(x)).map(|(node, _)| node).collect();
    let clamp = 0.5 * h;
    let system = System::builder(sheet.mass(density))
        .term(sheet.membrane(StVenantKirchhoff::new(stretch)))
        .term(ElementTerm::<_, 6>::new("bending", bending))
        .term(sheet.gravity(density))
        .pins(clamped)
        .build()
        .unwrap();
    let x = equilibrium(&system, &sheet.flat, by_energy(1e-12));
    let tip: Vec<DVec3> = sheet.flat.iter().filter(|(_, x)| x.x == length).map(|(node, _)| x[node]).collect();
    let z = tip.iter().map(|x| x.z).sum::<f64>() / tip.len() as f64;
    (z, elastica(rigidity, weight, length - clamp).1)
}

/// Mid-edge bending against the elastica: three triangulations within 3 % (1 % in fact) at 64
/// elements, better with each refinement.
///
/// On irregular meshes the normals at the edges, taken as means of two faces, are those of points
/// beside the edges, and the strip is 6 % too stiff at any resolution: free directors are what
/// cures that.
#[test]
fn cantilever_against_the_elastica() {
    for (triangulation, bound) in
        [("right", 0.01), ("left", 0.01), ("alternating", 0.01), ("irregular", 0.07)]
    {
        let error = |cells| {
            let (found, expected) = cantilever(cells, triangulation);
            assert!(expected < -0.1, "the deflection is large: {expected}");
            (found / expected - 1.0).abs()
        };
        let errors: Vec<f64> = [16, 32, 64].map(error).to_vec();
        assert!(errors[2] < bound, "{triangulation}: {errors:?}");
        assert!(errors[2] < errors[0], "{triangulation}: {errors:?}");
    }
}

/// A chain that hardly stretches hangs as a catenary.
#[test]
fn catenary() {
    let (n, span, length, density) = (64u32, 1.0, 1.3, 0.1);
    let segment = length / f64::from(n);
    let mass = Field::from_fn(n as usize + 1, |i: Id<Vertices>| {
        density * segment * if i.get() == 0 || i.get() == n { 0.5 } else { 1.0 }
    });
    let rods =
        (0..n).map(|k| RodStretch::new([k, k + 1].map(Id::new), positive(segment), positive(1e4))).collect();
    let system = System::builder(mass.clone())
        .term(ElementTerm::<_, 2>::new("chain", rods))
        .term(Gravity::new(G, &mass).unwrap())
        .pins([0, n].map(Id::new))
        .build()
        .unwrap();
    // A parabola of about the right length to start from.
    let start = Field::from_fn(n as usize + 1, |i: Id<Vertices>| {
        let u = f64::from(i.get()) / f64::from(n);
        DVec3::new(span * u, 0.0, -1.6 * u * (1.0 - u))
    });
    let x = equilibrium(&system, &start, by_energy(1e-14));
    // Half the length is a sinh(span / 2a), the sag a (cosh(span / 2a) - 1).
    let a = root(|a| 2.0 * a * (0.5 * span / a).sinh() - length, 0.1, 10.0);
    let catenary = |x: f64| a * (((x - 0.5 * span) / a).cosh() - (0.5 * span / a).cosh());
    for p in x.as_slice() {
        assert!((p.z - catenary(p.x)).abs() < 3e-4 && p.y.abs() < 1e-9, "{p} {}", catenary(p.x));
    }
}

/// An inflated neo-Hookean sphere: `p = 2 μ/R (λ⁻¹ - λ⁻⁷)`, by pressure and by volume.
#[test]
fn inflated_sphere() {
    let (mu, stretch) = (50.0, 1.2f64);
    let expected = 2.0 * mu * (stretch.recip() - stretch.powi(-7));
    let energy = NeoHookeanIncompressible::new(positive(mu));
    let errors: Vec<f64> = [2, 3]
        .into_iter()
        .map(|divisions| {
            let (mesh, x) = generate::sphere(divisions, 1.0).unwrap();
            let rest = RestShape::from_positions(&mesh, &x).unwrap();
            let element = |(face, v): (_, &[_; 3])| MembraneElement::new(*v, *rest.map(face), energy);
            let membrane =
                || ElementTerm::<_, 3>::new("membrane", mesh.faces().iter().map(element).collect::<Vec<_>>());
            let mass = rest.vertex_areas(&mesh).map(|a| 0.1 * a);
            let mean = |x: &Field<Vertices, DVec3>| {
                x.as_slice().iter().map(|x| x.length()).sum::<f64>() / x.len() as f64
            };

            let pressure = Pressure::new(&mesh, expected).unwrap();
            let system = System::builder(mass.clone()).term(membrane()).term(pressure).build().unwrap();
            let blown = equilibrium(&system, &x, settings(1e-6));
            let by_pressure = (mean(&blown) / stretch - 1.0).abs();

            let volume = Volume::keeping(&mesh, &x, positive(1e6)).unwrap();
            let target = volume.volume(&x) * stretch.powi(3);
            let filling = Volume::new(&mesh, positive(1e6), target).unwrap();
            let system = System::builder(mass).term(membrane()).term(filling.clone()).build().unwrap();
            let filled = equilibrium(&system, &x, settings(1e-4));
            assert!((filling.volume(&filled) / target - 1.0).abs() < 2e-4, "the volume is kept");
            let by_volume = (filling.pressure(&filled) / expected - 1.0).abs();
            assert!(by_pressure < 0.02 && by_volume < 0.02, "{by_pressure} {by_volume}");
            by_pressure.max(by_volume)
        })
        .collect();
    assert!(errors[1] < 0.35 * errors[0] && errors[1] < 5e-3, "second order in the facets: {errors:?}");
}

/// Hinges are not a plate: with `AreaSum` weights and the rigidity of the plate, a strip of right
/// triangles sinks 16 % deeper than the elastica, at any resolution. The mid-edge form above is the
/// one to calibrate with.
#[test]
fn cantilever_with_hinges() {
    let (length, cells, density) = (0.3, 64, 0.2);
    let h = length / cells as f64;
    let sheet = Sheet::grid(cells, 4, [length, 4.0 * h], generate::Diagonal::Right);
    let weight = density * 9.81;
    let rigidity = weight * length.powi(3) / 5.0;
    let system = System::builder(sheet.mass(density))
        .term(sheet.membrane(BaraffWitkin::from_moduli(positive(1e5), positive(1e5), positive(5e4))))
        .term(sheet.hinges(rigidity, HingeWeight::AreaSum))
        .term(sheet.gravity(density))
        .pins(sheet.flat.iter().filter(|(_, x)| x.x < 1.5 * h).map(|(node, _)| node))
        .build()
        .unwrap();
    let x = equilibrium(&system, &sheet.flat, by_energy(1e-12));
    let z = x[Id::new(cells as u32)].z;
    let (_, expected) = elastica(rigidity, weight, length - h);
    assert!((1.1..1.2).contains(&(z / expected)), "{z} {expected}");
}
