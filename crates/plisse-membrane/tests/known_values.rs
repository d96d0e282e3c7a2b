//! Numbers worked out by hand or to many digits elsewhere.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use plisse_core::{Mat3x2, Positive, Psd, UnitDir2};
use plisse_membrane::{
    Arap, Corotational, Eigenanalysis, Lame, NeoHookeanIncompressible, NeoHookeanLog, NeoHookeanStable,
    QuarticShear, QuarticStretch, Shear, StVenantKirchhoff, Stretch,
};
use plisse_testkit::assert_close;

fn positive(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

fn check(energy: &dyn Eigenanalysis, f: [f64; 6], psi: f64, eigenvalues: [f64; 6]) {
    let f = Mat3x2::from_array(f);
    assert_close("energy", &[energy.energy(&f)], &[psi], 1e-13, 0.0);
    assert_close("eigenvalues", &energy.eigensystem(&f).sorted_values(), &eigenvalues, 1e-13, 0.0);
    let trace: f64 = (0..6).map(|i| energy.hessian(&f, Psd::Clamp).entry(i, i)).sum();
    let expected: f64 = eigenvalues.iter().filter(|v| **v > 0.0).sum();
    assert_close("trace of the clamp", &[trace], &[expected], 1e-13, 0.0);
}

#[test]
fn stretch() {
    let axes = [UnitDir2::U, UnitDir2::V];
    let energy = Stretch::new(axes, [positive(0.7), positive(1.25)]);
    let (a, b) = (-0.9061909685954819, 0.7527808710753531);
    check(&energy, [1.1, 0.2, -0.1, 0.1, 0.8, 0.3], 0.330422580794288, [a, a, b, b, 2.0, 2.0]);
    let (a, b) = (-1.3806170189140663, -1.1234752377721213);
    let compressed = [0.6, 0.2, -0.1, 0.1, 0.5, 0.3];
    check(&Stretch::warp_weft(), compressed, 0.2961591958935071, [a, a, b, b, 2.0, 2.0]);
    let (a, b) = (-0.4605297775476719, -0.2906995604636611);
    let values = [a, a, b, b, 1.5525018301611633, 2.0014085205609216];
    check(&QuarticStretch::warp_weft(), compressed, 0.044554847214080685, values);
}

#[test]
fn shear() {
    let values = [-0.62, -0.62, -0.2677062748526088, 0.62, 0.62, 4.307706274852609];
    check(&Shear::warp_weft(), [1.0, 0.1, 0.0, -0.4, 0.9, 0.2], 0.0961, values);

    let energy = Shear::new(UnitDir2::U, UnitDir2::new(3.0, 1.0).unwrap());
    let (a, b) = (-0.035376529916706714, 1.3433765299167073);
    let values = [a, a, -0.03486386149521051, b, b, 11.592863861495212];
    check(&energy, [1.1, -0.1, 0.3, 0.2, 0.9, 0.1], 0.11881, values);

    let angle = |degrees: f64| UnitDir2::from_angle(degrees.to_radians()).unwrap();
    let (a, b) = (-0.03862082503151509, 0.01287360834383836);
    let values = [a, a, 0.009825505142671546, b, b, 0.461864165381182];
    check(
        &QuarticShear::new(angle(10.0), angle(70.0)),
        [0.5, 0.2, -0.1, 0.1, 0.6, 0.3],
        0.001197366387013332,
        values,
    );
}

#[test]
fn isotropic() {
    let f = [1.3, 0.0, 0.0, 0.0, 0.7, 0.0];
    let lame = Lame::new(positive(1.25), 2.5).unwrap();
    check(&Arap::new(Positive::ONE), f, 0.18, [-0.8571428571428573, 0.0, 0.46153846153846156, 2.0, 2.0, 2.0]);
    check(
        &StVenantKirchhoff::new(lame),
        f,
        0.2401875,
        [-0.4125, 0.5625, 1.0875, 1.4013712969179755, 2.8375, 10.173628703082025],
    );
    check(&Corotational::new(lame), f, 0.225, [-1.0714285714285716, 0.0, 0.576923076923077, 2.5, 2.5, 7.5]);
    check(
        &NeoHookeanLog::new(lame).unwrap(),
        f,
        0.24150647966696076,
        [
            -1.7821973442410277,
            -0.3827216468990148,
            0.3708421901312998,
            2.5104507880021463,
            2.882721646899015,
            10.482235123262516,
        ],
    );
    check(
        &NeoHookeanIncompressible::new(positive(1.25)),
        f,
        0.24223976572877678,
        [
            -1.8305704723623546,
            -0.40876871588742153,
            0.3568168452913885,
            2.5446314065891675,
            2.9087687158874216,
            11.87662947462373,
        ],
    );
    check(
        &NeoHookeanStable::with_raw_parameters(positive(1.25), 2.5).unwrap(),
        f,
        0.235125,
        [-1.4892857142857148, -0.225, 0.4557692307692308, 2.275, 2.725, 5.675],
    );
}

#[test]
fn uniaxial_stress_of_a_strip_pulled_by_a_tenth() {
    // Kept at unit width: P00 = ∂ψ/∂σ₀ in closed form for each law.
    let f = Mat3x2::from_array([1.1, 0.0, 0.0, 0.0, 1.0, 0.0]);
    let lame = Lame::new(positive(1.0), 0.5).unwrap();
    let stress = |energy: &dyn Eigenanalysis| energy.pk1(&f).c0.x;
    assert_close("stvk", &[stress(&StVenantKirchhoff::new(lame))], &[1.1 * 1.25 * (1.21 - 1.0)], 1e-14, 0.0);
    assert_close("corotational", &[stress(&Corotational::new(lame))], &[2.5 * 0.1], 1e-14, 0.0);
    let log = 1.1 + (-1.0 + 0.5 * 1.1f64.ln()) / 1.1;
    assert_close("log", &[stress(&NeoHookeanLog::new(lame).unwrap())], &[log], 1e-14, 0.0);
    assert_close("stable", &[stress(&NeoHookeanStable::new(lame))], &[0.1 + 1.5 * 0.1], 1e-14, 0.0);
    let incompressible = 1.1 - 1.1f64.powi(-3);
    assert_close(
        "incompressible",
        &[stress(&NeoHookeanIncompressible::new(Positive::ONE))],
        &[incompressible],
        1e-14,
        0.0,
    );
    assert_close("stretch", &[stress(&Stretch::warp_weft())], &[0.2], 1e-14, 0.0);
}
