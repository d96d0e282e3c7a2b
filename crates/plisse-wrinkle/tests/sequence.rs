//! Wrinkles on a cylinder that is twisted more and more: no frame pops, unless the numbers of waves
//! must change, and then it is said.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use std::f64::consts::TAU;

use plisse_core::{Faces, Field, Vertices};
use plisse_wrinkle::{
    BaseSettings, BaseSheet, Curvature, FreeRule, Periods, Phase, PhaseOptions, PhaseProblem, SequenceFrame,
    SequenceSettings, WaveChange, WrinkleError, WrinkleField, WrinkleProblem, WrinkleSequence,
    WrinkleSettings, beds, phase_step, recover_phase, recover_phase_following, solve_wrinkles,
    solve_wrinkles_from,
};

/// Cells around, with 750 vertices. On coarser meshes the number of waves hardly depends on the
/// twist.
const AROUND: usize = 30;

/// The bases of these angles in degrees, each from the one before if that is close, amplitudes zero
/// at both ends.
fn twisted(angles: &[f64]) -> (beds::Bed, Vec<WrinkleProblem>) {
    let first = beds::twisted_cylinder(angles[0], AROUND, 1).unwrap();
    let mut last: Option<(f64, Field<Vertices, glam::DVec3>)> = None;
    let mut frames = Vec::new();
    for degrees in angles {
        let bed = beds::twisted_cylinder(*degrees, AROUND, 1).unwrap();
        let near = last.as_ref().filter(|(before, _)| (degrees - before).abs() < 2.0);
        let start = near.map_or(&bed.start, |(_, x)| x);
        let x = bed.problem.solve(start, &BaseSettings::default()).unwrap().x;
        frames.push(problem(&bed, &x, Curvature::default(), |_| false));
        last = Some((*degrees, x));
    }
    (first, frames)
}

fn problem(
    bed: &beds::Bed,
    x: &Field<Vertices, glam::DVec3>,
    curvature: Curvature,
    free: impl Fn(f64) -> bool,
) -> WrinkleProblem {
    let (mesh, rest) = (bed.problem.mesh(), bed.problem.rest());
    let sheet = BaseSheet::new(mesh, rest, x, bed.problem.sheet(), curvature).unwrap();
    let ends: Vec<_> = mesh.vertices().filter(|v| mesh.is_boundary_vertex(*v)).collect();
    // Heights are those of the start, so that faces are the same in all frames.
    let free = Field::from_fn(mesh.face_count(), |face| {
        free(mesh.faces()[face].iter().map(|v| bed.start[*v].z).sum::<f64>() / 3.0)
    });
    WrinkleProblem::with_free_faces(sheet, &free).unwrap().with_clamped(&ends).unwrap()
}

fn settings() -> SequenceSettings {
    SequenceSettings { rounded: true, ..SequenceSettings::default() }
}

fn run(
    settings: &SequenceSettings,
    (bed, problems): &(beds::Bed, Vec<WrinkleProblem>),
) -> Vec<SequenceFrame> {
    let mut sequence = WrinkleSequence::new(settings.clone()).unwrap();
    let frames: Vec<_> =
        problems.iter().map(|problem| sequence.next_frame(problem, bed.problem.rest()).unwrap()).collect();
    frames.iter().zip(problems).for_each(|(frame, problem)| check(problem, frame));
    frames
}

/// What holds in every frame: converged, no negative amplitude, no curl, periods that are whole
/// turns and those of the phase.
#[track_caller]
fn check(problem: &WrinkleProblem, frame: &SequenceFrame) {
    let (field, complex, mesh) = (&frame.field, problem.complex(), problem.sheet().mesh());
    assert!(field.report.converged());
    assert!(field.amplitude.as_slice().iter().all(|a| *a >= 0.0));
    for face in mesh.faces().ids().filter(|face| problem.kept()[*face]) {
        let curl = complex.curl(face, &field.omega).unwrap();
        assert!(curl.abs() < 1e-10, "{face}: {curl}");
    }
    for (period, solved) in complex.periods(&field.omega).unwrap().iter().zip(&field.periods) {
        let turns = period / TAU;
        assert!(
            (turns - turns.round()).abs() < 1e-10 && (period - solved).abs() < 1e-10,
            "{period} {solved}"
        );
    }
    // In integers.
    for rim in mesh.boundary_loops() {
        let around: f64 = (0..rim.len())
            .map(|i| {
                let (from, to) = (rim[i], rim[(i + 1) % rim.len()]);
                let omega = field.omega[mesh.edge_between(from, to).unwrap()];
                if from < to { omega } else { -omega }
            })
            .sum();
        // The phase may have turned around what the solver found.
        let turns = frame.phase.field.winding(mesh, &rim).map(|turns| turns.abs() as f64);
        if let Some(turns) = turns {
            assert!(((around / TAU).abs() - turns).abs() < 1e-9, "{around} {turns}");
        }
    }
    assert!(frame.phase.rounding() < 1e-9 && frame.phase.deviation < 1e-8);
}

/// Largest and weighted mean difference of two phases as angles, over corners with more than a
/// fifth of the largest amplitude, and over all. The weights are areas and squares of the
/// amplitude.
fn difference(problem: &WrinkleProblem, before: &Phase, now: &Phase, a: &Field<Vertices, f64>) -> (f64, f64) {
    let top = a.as_slice().iter().fold(0.0, |m: f64, a| m.max(*a));
    let (mut largest, mut sum, mut weights) = (0.0f64, 0.0, 0.0);
    for (face, corners) in problem.sheet().mesh().faces().iter() {
        let (Some(before), Some(now)) = (before.field.at(face), now.field.at(face)) else { continue };
        for i in 0..3 {
            let off = (now[i] - before[i]).cos().clamp(-1.0, 1.0).acos();
            let weight = a[corners[i]].powi(2) * problem.sheet().faces()[face].area();
            sum += weight * off;
            weights += weight;
            if a[corners[i]] > 0.2 * top {
                largest = largest.max(off);
            }
        }
    }
    (largest, sum / weights)
}

fn degrees(from: f64, to: f64, frames: usize) -> Vec<f64> {
    (0..frames).map(|i| from + (to - from) * i as f64 / (frames - 1) as f64).collect()
}

#[test]
fn a_twisted_cylinder_does_not_pop() {
    // Half a degree per frame; the optimum grows from 36 to 44 waves.
    let animation = twisted(&degrees(4.0, 10.0, 13));
    let (bed, problems) = &animation;
    let frames = run(&settings(), &animation);
    let first = frames[0].phase.waves.clone();
    assert_eq!(first.len(), 1);
    for (i, pair) in frames.windows(2).enumerate() {
        let (before, now) = (&pair[0], &pair[1]);
        assert_eq!(now.phase.waves, first);
        let (largest, mean) = difference(&problems[i + 1], &before.phase, &now.phase, &now.field.amplitude);
        // 0.13 to 0.3 rad on a mesh of twice as many cells, growing with the step; π where waves
        // pop.
        assert!(largest < 0.6 && mean < 0.25, "frame {i}: {largest} {mean}");
        let change = now.change.as_ref().unwrap();
        let step = change.step.unwrap();
        assert!(
            step.largest <= largest + 1e-12 && (0.7 * mean..2.0 * mean).contains(&step.mean),
            "{step:?} {mean}"
        );
        assert!(change.continued && change.waves.is_empty());
        assert!(change.cost > -1e-9 && change.relative_cost < 0.25, "{change:?}");
    }
    // What has moved in one frame is in proportion to the frame: twice as many frames, half the
    // step.
    let coarse = run(&settings(), &twisted(&degrees(4.0, 10.0, 7)));
    let largest = |frames: &[SequenceFrame]| {
        let steps = frames.iter().filter_map(|f| f.change.as_ref()?.step);
        steps.fold(0.0, |m: f64, step| m.max(step.largest))
    };
    let ratio = largest(&coarse) / largest(&frames);
    assert!((1.6..2.4).contains(&ratio), "{ratio}");

    // Each frame for itself, with signs, shifts and rounding of the frame before, pops: the same
    // measure sees it.
    let mut previous: Option<(Phase, WrinkleField)> = None;
    let (mut popped, mut worst) = (0, (0.0f64, 0.0f64));
    for problem in problems {
        let rest = bed.problem.rest();
        let settings = WrinkleSettings::default();
        let field = match &previous {
            None => solve_wrinkles(problem, &settings).unwrap(),
            Some((_, last)) => solve_wrinkles_from(problem, &last.amplitude, &last.omega, &settings).unwrap(),
        };
        let free = Field::filled(problem.kept().len(), false);
        let mesh = problem.sheet().mesh();
        let seen = PhaseProblem { mesh, rest, amplitude: &field.amplitude, omega: &field.omega, free: &free };
        let options = PhaseOptions::default();
        let phase = match &previous {
            None => recover_phase(&seen, &options).unwrap(),
            Some((before, _)) => recover_phase_following(before, &seen, &options).unwrap(),
        };
        if let Some((before, last)) = &previous {
            let (largest, mean) = difference(problem, before, &phase, &field.amplitude);
            let step =
                phase_step(mesh, rest, (&before.field, &last.amplitude), (&phase.field, &field.amplitude));
            if before.waves != phase.waves {
                popped += 1;
                worst = (worst.0.max(largest), worst.1.max(mean));
                assert!(step.unwrap().unwrap().largest > 3.0);
            }
        }
        previous = Some((phase, field));
    }
    assert!(popped >= 6 && worst.0 > 3.0 && worst.1 > 1.5, "{popped} {worst:?}");

    // The same bits again.
    let again = run(&settings(), &(bed.clone(), problems[..4].to_vec()));
    for (a, b) in frames.iter().zip(&again) {
        assert_eq!((&a.field, &a.phase.field, &a.change), (&b.field, &b.phase.field, &b.change));
    }
}

#[test]
fn numbers_that_follow_their_optimum_are_reported() {
    let animation = twisted(&degrees(4.0, 10.0, 7));
    let frames = run(&SequenceSettings { snap: 0.0, ..settings() }, &animation);
    let mut changes = 0;
    for pair in frames.windows(2) {
        let (before, now, change) =
            (pair[0].phase.waves[0], pair[1].phase.waves[0], pair[1].change.as_ref().unwrap());
        let wanted = [WaveChange { generator: 0, before, now }];
        assert_eq!(change.waves, if before == now { &[][..] } else { &wanted[..] });
        if before != now {
            changes += 1;
            assert!(change.step.unwrap().largest > 3.0, "{change:?}");
        }
        // Rounding is all that it costs.
        assert!(change.relative_cost < 2e-3, "{change:?}");
    }
    assert!(changes >= 4, "{changes}");
    let growth = frames[6].phase.waves[0].abs() - frames[0].phase.waves[0].abs();
    assert!((6..=9).contains(&growth), "{growth}");
}

#[test]
fn a_strong_change_snaps() {
    let animation = twisted(&[4.0, 28.0]);
    let [first, second] = run(&settings(), &animation).try_into().unwrap();
    let (before, now) = (first.phase.waves[0], second.phase.waves[0]);
    let change = second.change.unwrap();
    assert_eq!(change.waves, [WaveChange { generator: 0, before, now }]);
    assert!(now.abs() > before.abs() + 12, "{before} {now}");
    // The optimum, rounded.
    let alone = solve_wrinkles(&animation.1[1], &WrinkleSettings::default()).unwrap();
    assert!((alone.periods[0].abs() / TAU - now.abs() as f64).abs() < 0.61);
    assert!(change.relative_cost < 0.01 && change.step.unwrap().largest > 2.5, "{change:?}");

    // Told to keep them whatever it costs, it does: that costs about (r - 1/r)² of the bending.
    let never = SequenceSettings { snap: f64::INFINITY, ..settings() };
    let [_, kept] = run(&never, &animation).try_into().unwrap();
    let change = kept.change.unwrap();
    assert_eq!((kept.phase.waves, change.waves), (first.phase.waves, vec![]));
    let r = before as f64 * TAU / alone.periods[0];
    let law = (r.abs() - 1.0 / r.abs()).powi(2);
    assert!(law > 0.5 && (change.relative_cost / law - 1.0).abs() < 0.3, "{} {law}", change.relative_cost);
    // Between both, the threshold: a little above the cost they stay, a little below they go.
    for (part, stays) in [(1.01, true), (0.99, false)] {
        let snap = part * change.relative_cost;
        let [_, frame] = run(&SequenceSettings { snap, ..settings() }, &animation).try_into().unwrap();
        assert_eq!(frame.change.unwrap().waves.is_empty(), stays);
    }
}

#[test]
fn components_come_go_and_snap_one_by_one() {
    let turned = |degrees: f64| {
        let bed = beds::twisted_cylinder(degrees, AROUND, 1).unwrap();
        let x = bed.problem.solve(&bed.start, &BaseSettings::default()).unwrap().x;
        (bed, x)
    };
    let ((bed, little), (_, much)) = (turned(4.0), turned(28.0));
    // A band in the middle is free of wrinkles and takes up what does not fit between two bases.
    let mixed = Field::from_fn(little.len(), |v| if bed.start[v].z < 2.5 { little[v] } else { much[v] });
    // A quadric fit would see beyond the band.
    let near = Curvature::SecondForm;
    let band = |z: f64| (z - 2.5).abs() < 0.4;
    let frames = [
        problem(&bed, &little, near, |z| z < 2.9),
        problem(&bed, &little, near, band),
        problem(&bed, &mixed, near, band),
        problem(&bed, &mixed, near, |z| z > 2.1),
    ];
    let frames = run(&settings(), &(bed.clone(), frames.to_vec()));
    let rims = bed.problem.mesh().boundary_loops();
    let [below, above] =
        [0, 1].map(|end| rims.iter().find(|rim| (bed.start[rim[0]].z > 2.5) == (end == 1)).unwrap());
    let waves: Vec<_> = frames
        .iter()
        .map(|frame| [below, above].map(|rim| frame.phase.field.winding(bed.problem.mesh(), rim)))
        .collect();
    let change = |i: usize| frames[i].change.clone().unwrap();
    // The lower component appears with numbers of its own, while the upper one keeps its own.
    assert!(waves[0][0].is_none() && waves[0][1].is_some());
    assert!(waves[1][0].is_some_and(|k| k.abs() > 10) && waves[1][1] == waves[0][1]);
    assert!(change(1).waves.is_empty() && change(1).step.unwrap().largest < 0.3, "{:?}", change(1));
    // The base changes above only, and so do the waves.
    assert!(waves[2][0] == waves[1][0] && waves[2][1] != waves[1][1], "{waves:?}");
    assert_eq!(change(2).waves.len(), 1);
    // The upper one disappears; nothing is said of loops that do not exist any more.
    assert!(waves[3][1].is_none() && waves[3][0] == waves[2][0]);
    assert!(change(3).waves.is_empty() && change(3).step.unwrap().largest < 0.3, "{:?}", change(3));
}

#[test]
fn sheets_without_loops_follow_too() {
    // No integers at all: only the basin, sign and shift.
    let mut sequence = WrinkleSequence::new(SequenceSettings::default()).unwrap();
    let mut x = None;
    for (i, strain) in [0.05, 0.0525, 0.055].into_iter().enumerate() {
        let bed = beds::stretched_sheet(strain, 9, 1).unwrap();
        let base = bed.problem.solve(x.as_ref().unwrap_or(&bed.start), &BaseSettings::default()).unwrap();
        let (mesh, rest) = (bed.problem.mesh(), bed.problem.rest());
        let sheet = BaseSheet::new(mesh, rest, &base.x, bed.problem.sheet(), Curvature::default()).unwrap();
        let frame =
            sequence.next_frame(&WrinkleProblem::new(sheet, FreeRule::default()).unwrap(), rest).unwrap();
        x = Some(base.x);
        assert_eq!(frame.change.is_none(), i == 0);
        if let Some(change) = frame.change {
            assert!(change.continued && change.waves.is_empty());
            assert!(change.step.unwrap().largest < 0.5, "{change:?}");
        }
    }
}

#[test]
fn wrinkles_may_vanish_and_return() {
    let (bed, problems) = twisted(&[4.0, 4.5]);
    let nothing: Field<Faces, bool> = Field::filled(problems[0].kept().len(), true);
    let flat = WrinkleProblem::with_free_faces(problems[0].sheet().clone(), &nothing).unwrap();
    let mut sequence = WrinkleSequence::new(settings()).unwrap();
    let rest = bed.problem.rest();
    let first = sequence.next_frame(&problems[0], rest).unwrap();
    let gone = sequence.next_frame(&flat, rest).unwrap();
    assert!(gone.field.report.is_trivial() && gone.phase.waves.is_empty());
    let change = gone.change.unwrap();
    assert!(change.step.is_none() && change.waves.is_empty() && change.relative_cost == 0.0);
    let back = sequence.next_frame(&problems[1], rest).unwrap();
    assert!(back.change.unwrap().step.is_none());
    assert!((back.phase.waves[0].abs() - first.phase.waves[0].abs()).abs() <= 1);
}

#[test]
fn bad_settings_and_other_meshes_are_refused() {
    for snap in [-0.1, f64::NAN] {
        let error = WrinkleSequence::new(SequenceSettings { snap, ..settings() }).unwrap_err();
        assert!(error.to_string().contains("the setting `snap`"), "{error}");
    }
    let wrinkles = WrinkleSettings { periods: Periods::Held, ..WrinkleSettings::default() };
    let held = SequenceSettings { wrinkles, ..settings() };
    assert_eq!(WrinkleSequence::new(held).unwrap_err(), WrinkleError::HeldPeriods);
    let phase = PhaseOptions { hysteresis: f64::NAN, ..PhaseOptions::default() };
    assert!(WrinkleSequence::new(SequenceSettings { phase, ..settings() }).is_err());

    let (bed, problems) = twisted(&[4.0]);
    let other = beds::twisted_cylinder(4.0, 10, 1).unwrap();
    let mut sequence = WrinkleSequence::new(settings()).unwrap();
    assert_eq!(sequence.settings(), &settings());
    sequence.next_frame(&problems[0], bed.problem.rest()).unwrap();
    let wrong = problem(&other, &other.start, Curvature::default(), |_| false);
    let error = sequence.next_frame(&wrong, other.problem.rest()).unwrap_err();
    assert!(matches!(error, WrinkleError::Length { .. }), "{error}");
    // The frame before is still there.
    let frame = sequence.next_frame(&problems[0], bed.problem.rest()).unwrap();
    assert!(frame.change.unwrap().step.unwrap().largest < 1e-6);
}
