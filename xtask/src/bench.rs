//! Kernel benchmarks: variants of one evaluation, interleaved in one run, one thread.
//!
//! The machine is noisy, so every variant is timed in turn, many rounds, and the fastest round counts; ratios
//! between variants of one run mean more than the nanoseconds.

use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;
use plisse::core::{Mat3x2, Positive, Psd, UnitDir2, project_numeric};
use plisse::membrane::{
    Arap, BaraffWitkin, Corotational, Fibre, GreenStretch, Lame, MembraneEnergy, NeoHookeanIncompressible,
    NeoHookeanLog, NeoHookeanStable, Quadratic, QuarticShear, QuarticStretch, Shear, StVenantKirchhoff,
    Stretch,
};

const SAMPLES: usize = 512;
const ROUNDS: usize = 400;

/// `cargo xtask bench kernels`.
pub(crate) fn kernels(json: bool) -> Result<()> {
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
    if !json {
        println!("\n* no closed form: the nearest projection of two oblique fibres is computed numerically.");
        println!(
            "numeric = best numeric 6x6 clamp (tridiagonal + QR) of a given exact Hessian, evaluation not counted."
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
                "pk1",
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
        let exact: Vec<[[f64; 6]; 6]> =
            self.samples.iter().map(|f| energy.hessian(f, Psd::Exact).to_matrix()).collect();
        let mut best = [f64::INFINITY; 7];
        let f = &self.samples;
        for _ in 0..ROUNDS {
            let times = [
                time(|i| _ = black_box(energy.energy(black_box(&f[i])))),
                time(|i| _ = black_box(&energy.pk1(black_box(&f[i])))),
                time(|i| _ = black_box(&energy.hessian(black_box(&f[i]), Psd::Exact))),
                time(|i| _ = black_box(&energy.hessian(black_box(&f[i]), Psd::Clamp))),
                time(|i| _ = black_box(&energy.hessian(black_box(&f[i]), Psd::Abs))),
                time(|i| _ = black_box(&project_numeric(black_box(&exact[i]), Psd::Clamp))),
                time(|i| _ = black_box(&energy.evaluate(black_box(&f[i]), Psd::Clamp))),
            ];
            for (b, t) in best.iter_mut().zip(times) {
                *b = b.min(t);
            }
        }
        let [e, p, exact, clamp, abs, numeric, fused] = best;
        let (per_exact, per_clamp, per_three) = (clamp / exact, numeric / clamp, fused / (e + p + clamp));
        if self.json {
            println!(
                "{}",
                serde_json::json!({
                    "energy": name, "ns": {"energy": e, "pk1": p, "exact": exact, "clamp": clamp, "abs": abs,
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

/// Half a second of work, so that the first row does not pay for a processor that is still waking up.
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

/// Deformation gradients `Q (I + 0.3 N)`: a cloth in the middle of a hard step.
fn samples() -> Vec<Mat3x2> {
    let mut state = 0x1234_5678_9abc_def0u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    // A sum of uniforms is normal enough.
    let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
    (0..SAMPLES)
        .map(|_| {
            let mut f = Mat3x2::FLAT.to_array().map(|x| x + 0.3 * normal());
            // Turn about two axes.
            for (axis, angle) in [(0, normal()), (1, normal())] {
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
