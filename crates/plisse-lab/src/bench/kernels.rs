//! Kernel benchmarks: variants of one evaluation, interleaved in one run, one thread.
//!
//! The machine is noisy, so every variant is timed in turn, many rounds, and the fastest round
//! counts; ratios between variants of one run mean more than the nanoseconds.

use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;
use glam::{DVec2, DVec3};
use plisse::bending::{
    Director, HingeElement, HingeFilter, KoiterBending, Plate, QuadraticAngle, RodElement,
};
use plisse::core::{
    Angle, Blocks, Element, Field, Id, IsotropicSheet, Mat3x2, PoissonRatio, Positive, Psd, RestShape,
    TriMesh, UnitDir2, Vertices, project_numeric,
};
use plisse::membrane::{
    Arap, BaraffWitkin, Corotational, Fibre, GreenStretch, Lame, MembraneElement, MembraneEnergy,
    NeoHookeanIncompressible, NeoHookeanLog, NeoHookeanStable, Quadratic, QuarticShear, QuarticStretch,
    Shear, StVenantKirchhoff, Stretch,
};

const SAMPLES: usize = 512;
const ROUNDS: usize = 400;

/// `cargo xtask bench kernels`.
pub(crate) fn run(json: bool) -> Result<()> {
    let lame = Lame::new(Positive::ONE, 0.5)?;
    let oblique = [UnitDir2::U, UnitDir2::from_angle(1.0)?];
    let rest = [Positive::ONE; 2];
    let fibre = |direction| Fibre::new(direction, Positive::ONE, Quadratic);
    let table = Table { json, samples: samples() };
    warm_up();
    table.header();
    table.row("stretch", &Stretch::warp_weft());
    table.row(
        "stretch (turned)",
        &Stretch::new([UnitDir2::from_angle(0.6)?, UnitDir2::from_angle(0.6)?.perp()], rest),
    );
    table.row("stretch (quartic)", &QuarticStretch::warp_weft());
    table.row("stretch (Green)", &GreenStretch::warp_weft());
    table.row("shear", &Shear::warp_weft());
    table.row("shear (oblique)", &Shear::new(oblique[0], oblique[1]));
    table.row("shear (quartic)", &QuarticShear::warp_weft());
    table.row("Baraff-Witkin", &BaraffWitkin::from_moduli(Positive::ONE, Positive::ONE, Positive::ONE));
    table.row("ARAP", &Arap::new(Positive::ONE));
    table.row("StVK", &StVenantKirchhoff::new(lame));
    table.row("corotational", &Corotational::new(lame));
    table.row("neo-Hookean log", &NeoHookeanLog::new(lame)?);
    table.row("neo-Hookean incompr.", &NeoHookeanIncompressible::new(Positive::ONE));
    table.row("neo-Hookean stable", &NeoHookeanStable::new(lame));
    table.row("fibres oblique, sum", &fibre(oblique[0]).plus(fibre(oblique[1])));
    table.row("fibres oblique, exact*", &Stretch::new(oblique, rest));
    let rest_angle = Angle::new(0.3)?;
    let hinge = |law, rest| HingeElement::from_parts([0, 1, 2, 3].map(Id::new), law, Positive::ONE, rest);
    let hinges = points::<4>(&[DVec3::ZERO, DVec3::X, DVec3::new(0.4, 0.9, 0.0), DVec3::new(0.6, -0.8, 0.0)]);
    table.element::<4, 12>("hinge, V2", &hinge(QuadraticAngle, rest_angle), &hinges);
    table.element::<4, 12>(
        "hinge, V1",
        &hinge(QuadraticAngle, rest_angle).with_filter(HingeFilter::V1),
        &hinges,
    );
    table.element::<4, 12>(
        "hinge, V3",
        &hinge(QuadraticAngle, rest_angle).with_filter(HingeFilter::V3),
        &hinges,
    );
    let rods = points::<3>(&[DVec3::ZERO, DVec3::X, DVec3::new(1.9, 0.6, 0.0)]);
    let rod = RodElement::new([0, 1, 2].map(Id::new), QuadraticAngle, Positive::ONE, Angle::new(0.2)?);
    table.element::<3, 9>("rod", &rod, &rods);
    let (shell, flat) = shell()?;
    let shells = points::<6>(&flat);
    table.element::<6, 18>("mid-edge bending", &shell.bending, &shells);
    table.element::<6, 18>("mid-edge shell", &shell, &shells);
    if !json {
        println!("\n* no closed form: the nearest projection of two oblique fibres is computed numerically.");
        println!(
            "numeric = best numeric clamp (tridiagonal + QR; 6x6, rods 9x9, hinges 12x12, mid-edge 18x18) of a given exact Hessian."
        );
    }
    Ok(())
}

struct Table {
    json: bool,
    samples: Vec<Mat3x2>,
}

impl Table {
    fn header(&self) {
        if !self.json {
            println!(
                "ns per element, one thread, best of {ROUNDS} interleaved rounds of {SAMPLES} elements\n"
            );
            println!(
                "{:<24}{:>8}{:>8}{:>8}{:>8}{:>8}{:>9}{:>8} |{:>9}{:>9}{:>9}",
                "energy",
                "energy",
                "grad",
                "exact",
                "clamp",
                "abs",
                "numeric",
                "fused",
                "cl/exact",
                "num/cl",
                "fused/3"
            );
        }
    }

    fn row<E: MembraneEnergy>(&self, name: &str, energy: &E) {
        let f = &self.samples;
        let exact: Vec<[[f64; 6]; 6]> = f.iter().map(|f| energy.hessian(f, Psd::Exact).to_matrix()).collect();
        let mut best = [f64::INFINITY; 7];
        for _ in 0..ROUNDS {
            keep_best(
                &mut best,
                [
                    time(|i| _ = black_box(energy.energy(black_box(&f[i])))),
                    time(|i| _ = black_box(&energy.pk1(black_box(&f[i])))),
                    time(|i| _ = black_box(&energy.hessian(black_box(&f[i]), Psd::Exact))),
                    time(|i| _ = black_box(&energy.hessian(black_box(&f[i]), Psd::Clamp))),
                    time(|i| _ = black_box(&energy.hessian(black_box(&f[i]), Psd::Abs))),
                    time(|i| _ = black_box(&project_numeric(black_box(&exact[i]), Psd::Clamp))),
                    time(|i| _ = black_box(&energy.evaluate(black_box(&f[i]), Psd::Clamp))),
                ],
            );
        }
        self.print(name, best);
    }

    /// The same for an element over `V` nodes; `M` is `3 V`.
    fn element<const V: usize, const M: usize>(
        &self,
        name: &str,
        element: &impl Element<V>,
        x: &[[DVec3; V]],
    ) {
        let exact: Vec<[[f64; M]; M]> =
            x.iter().map(|x| element.hessian(x, Psd::Exact).to_matrix()).collect();
        let mut best = [f64::INFINITY; 7];
        for _ in 0..ROUNDS / 4 {
            keep_best(
                &mut best,
                [
                    time(|i| _ = black_box(element.energy(black_box(&x[i])))),
                    time(|i| _ = black_box(&element.gradient(black_box(&x[i])))),
                    time(|i| _ = black_box(&element.hessian(black_box(&x[i]), Psd::Exact))),
                    time(|i| _ = black_box(&element.hessian(black_box(&x[i]), Psd::Clamp))),
                    time(|i| _ = black_box(&element.hessian(black_box(&x[i]), Psd::Abs))),
                    time(|i| _ = black_box(&project_numeric(black_box(&exact[i]), Psd::Clamp))),
                    time(|i| _ = black_box(&element.evaluate(black_box(&x[i]), Psd::Clamp))),
                ],
            );
        }
        self.print(name, best);
    }

    fn print(&self, name: &str, best: [f64; 7]) {
        let [e, p, exact, clamp, abs, numeric, fused] = best;
        let (per_exact, per_clamp, per_three) = (clamp / exact, numeric / clamp, fused / (e + p + clamp));
        if self.json {
            println!(
                "{}",
                serde_json::json!({
                    "energy": name, "ns": {"energy": e, "gradient": p, "exact": exact, "clamp": clamp, "abs": abs,
                    "numeric": numeric, "fused": fused}, "clamp/exact": per_exact, "numeric/clamp": per_clamp,
                    "fused/three": per_three,
                })
            );
        } else {
            println!(
                "{name:<24}{e:>8.1}{p:>8.1}{exact:>8.1}{clamp:>8.1}{abs:>8.1}{numeric:>9.0}{fused:>8.1} |{per_exact:>9.2}{per_clamp:>9.1}{per_three:>9.2}"
            );
        }
    }
}

fn keep_best(best: &mut [f64; 7], times: [f64; 7]) {
    for (b, t) in best.iter_mut().zip(times) {
        *b = b.min(t);
    }
}

/// A face of a Koiter shell: St. Venant-Kirchhoff membrane and mid-edge bending.
struct Shell {
    membrane: MembraneElement<StVenantKirchhoff>,
    bending: KoiterBending,
}

fn shell() -> Result<(Shell, [DVec3; 6])> {
    // A face with three neighbours.
    let faces = [[0, 1, 2], [2, 1, 3], [0, 2, 4], [1, 0, 5]];
    let uv = [[0.0, 0.0], [1.0, 0.1], [0.3, 0.9], [1.2, 1.0], [-0.6, 0.7], [0.6, -0.8]];
    let mesh = TriMesh::new(6, &faces)?;
    let uv = Field::from_vec(uv.map(DVec2::from).to_vec());
    let rest = RestShape::from_uv(&mesh, &uv)?;
    let face = Id::new(0);
    let energy = StVenantKirchhoff::new(Lame::new(Positive::ONE, 0.5)?);
    let bending = KoiterBending::new(
        &mesh,
        &rest,
        face,
        Director::Tangent,
        &Plate::of_sheet(&IsotropicSheet::new(Positive::ONE, PoissonRatio::literal(0.3), Positive::ONE))?,
    );
    let membrane = MembraneElement::new(mesh.faces()[face], *rest.map(face), energy);
    let x = bending.nodes().map(|v| uv[v].extend(0.0));
    Ok((Shell { membrane, bending }, x))
}

impl Element<6> for Shell {
    type Space = Vertices;
    fn nodes(&self) -> [Id<Vertices>; 6] {
        self.bending.nodes()
    }
    fn energy(&self, x: &[DVec3; 6]) -> f64 {
        self.bending.energy(x) + self.membrane.energy(&[x[0], x[1], x[2]])
    }
    fn gradient(&self, x: &[DVec3; 6]) -> [DVec3; 6] {
        let mut out = self.bending.gradient(x);
        for (o, g) in out.iter_mut().zip(self.membrane.gradient(&[x[0], x[1], x[2]])) {
            *o += g;
        }
        out
    }
    fn hessian(&self, x: &[DVec3; 6], psd: Psd) -> Blocks<6> {
        let mut out = self.bending.hessian(x, psd);
        let inner = self.membrane.hessian(&[x[0], x[1], x[2]], psd);
        for i in 0..3 {
            for j in 0..3 {
                out.0[i][j] += inner.0[i][j];
            }
        }
        out
    }
}

/// Half a second of work, so that the first row does not pay for a processor that is still waking
/// up.
fn warm_up() {
    let start = Instant::now();
    let mut x = 1.0f64;
    while start.elapsed().as_millis() < 500 {
        x = black_box(x * 1.000_001 + 1e-9).sqrt();
    }
}

/// Nanoseconds per call over one sweep of the samples.
#[inline(never)]
fn time(mut body: impl FnMut(usize)) -> f64 {
    let start = Instant::now();
    for i in 0..SAMPLES {
        body(i);
    }
    start.elapsed().as_nanos() as f64 / SAMPLES as f64
}

/// Stencils around a regular one, with corners displaced by 0.15.
fn points<const V: usize>(regular: &[DVec3; V]) -> Vec<[DVec3; V]> {
    let mut random = Random::new();
    let mut jitter = |x: &DVec3| *x + 0.15 * DVec3::new(random.normal(), random.normal(), random.normal());
    (0..SAMPLES).map(|_| std::array::from_fn(|i| jitter(&regular[i]))).collect()
}

/// Deformation gradients `Q (I + 0.3 N)`: a cloth in the middle of a hard step.
fn samples() -> Vec<Mat3x2> {
    let mut random = Random::new();
    (0..SAMPLES)
        .map(|_| {
            let mut f = Mat3x2::FLAT.to_array().map(|x| x + 0.3 * random.normal());
            // Turn about two axes.
            for (axis, angle) in [(0, random.normal()), (1, random.normal())] {
                let (sin, cos) = angle.sin_cos();
                for column in 0..2 {
                    let (i, j) = (3 * column + axis, 3 * column + axis + 1);
                    (f[i], f[j]) = (cos * f[i] - sin * f[j], sin * f[i] + cos * f[j]);
                }
            }
            Mat3x2::from_array(f)
        })
        .collect()
}

/// A linear congruential generator: the samples are the same in every run.
struct Random(u64);

impl Random {
    fn new() -> Self {
        Self(0x1234_5678_9abc_def0)
    }

    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A sum of uniforms is normal enough.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}
