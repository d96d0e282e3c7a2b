//! Phases of forms that are known, alone and one after the other.

use std::f64::consts::{PI, TAU};

use glam::DVec2;
use plisse_core::generate::{self, Diagonal};
use plisse_core::{Edges, Faces, Field, Id, RestShape, TriMesh, Vertices};

use super::*;

/// A planar mesh with fields on it, from which problems are made.
struct Case {
    mesh: TriMesh,
    uv: Field<Vertices, DVec2>,
    rest: RestShape,
    amplitude: Field<Vertices, f64>,
    omega: Field<Edges, f64>,
    free: Field<Faces, bool>,
}

impl Case {
    fn new((mesh, uv): generate::Planar) -> Self {
        let rest = RestShape::from_uv(&mesh, &uv).unwrap();
        let amplitude = Field::filled(mesh.vertex_count(), 1.0);
        let omega = Field::filled(mesh.edge_count(), 0.0);
        let free = Field::filled(mesh.face_count(), false);
        Self { mesh, uv, rest, amplitude, omega, free }
    }

    fn problem(&self) -> PhaseProblem<'_> {
        PhaseProblem {
            mesh: &self.mesh,
            rest: self.rest.maps(),
            amplitude: &self.amplitude,
            omega: &self.omega,
            free: &self.free,
        }
    }

    fn recover(&self) -> Phase {
        let phase = recover_phase(&self.problem(), &PhaseOptions::default()).unwrap();
        check(&self.mesh, &phase);
        phase
    }

    fn follow(&self, previous: &Phase) -> Phase {
        let phase = recover_phase_following(previous, &self.problem(), &PhaseOptions::default()).unwrap();
        check(&self.mesh, &phase);
        phase
    }

    /// Sets `ω` to the differences of a linear function and of angles around centres.
    fn set_omega(&mut self, slope: DVec2, vortices: &[(DVec2, f64)]) {
        self.omega = Field::from_fn(self.mesh.edge_count(), |edge| {
            let [a, b] = self.mesh.edges()[edge].vertices;
            let (p, q) = (self.uv[a.min(b)], self.uv[a.max(b)]);
            let turn = |c: DVec2| (p - c).perp_dot(q - c).atan2((p - c).dot(q - c));
            slope.dot(q - p) + vortices.iter().map(|(c, waves)| waves * turn(*c)).sum::<f64>()
        });
    }

    /// The area- and amplitude²-weighted mean of `1 - cos` of the difference of two phases, over
    /// common corners.
    fn distance(&self, a: &Phase, b: &Phase) -> f64 {
        let (mut sum, mut weight) = (0.0, 0.0);
        for (face, corners) in self.mesh.faces().iter() {
            let (Some(a), Some(b)) = (a.field.at(face), b.field.at(face)) else { continue };
            for i in 0..3 {
                let w = self.amplitude[corners[i]].powi(2) * self.rest.map(face).area();
                sum += w * (1.0 - (a[i] - b[i]).cos());
                weight += w;
            }
        }
        sum / weight
    }

    /// The largest difference of two phases as an angle, over common corners with at least a tenth
    /// of the largest amplitude.
    fn farthest(&self, a: &Phase, b: &Phase) -> f64 {
        let least = 0.1 * self.amplitude.as_slice().iter().fold(0.0, |m: f64, a| m.max(*a));
        let mut largest = 0.0f64;
        for (face, corners) in self.mesh.faces().iter() {
            let (Some(a), Some(b)) = (a.field.at(face), b.field.at(face)) else { continue };
            for i in (0..3).filter(|i| self.amplitude[corners[*i]] > least) {
                largest = largest.max((a[i] - b[i]).cos().clamp(-1.0, 1.0).acos());
            }
        }
        largest
    }
}

/// What holds for every phase: no tear, and periods that are whole turns, in integers and in
/// radians.
#[track_caller]
fn check(mesh: &TriMesh, phase: &Phase) {
    assert!(phase.proven);
    assert_eq!(phase.field.torn_edge(mesh), None);
    let vertices = phase.complex.node_vertices();
    for (k, waves) in phase.waves.iter().enumerate() {
        let path: Vec<Id<Vertices>> = phase
            .complex
            .primal_loop(k)
            .iter()
            .map(|step| {
                let place = phase.complex.edge_place(step.edge).unwrap();
                let nodes = phase.complex.edges()[place].nodes;
                vertices[nodes[usize::from(step.sign < 0.0)]]
            })
            .collect();
        assert_eq!(phase.field.winding(mesh, &path), Some(*waves));
    }
    for (period, k) in phase.complex.periods(&phase.omega).unwrap().iter().zip(&phase.waves) {
        // A sum of some dozen numbers of up to 2π k.
        assert!((period / TAU - *k as f64).abs() < 1e-12 * (1.0 + k.abs() as f64), "{period} {k}");
    }
}

/// A square with holes around these cells (two faces each).
fn square_with_holes(n: usize, holes: &[usize]) -> (Case, Vec<DVec2>) {
    let mut case = Case::new(generate::grid(n, n, [1.0, 1.0], Diagonal::Right).unwrap());
    let mut centres = Vec::new();
    for &cell in holes {
        let mut centre = DVec2::ZERO;
        for face in [2 * cell, 2 * cell + 1] {
            let face = Id::new(face as u32);
            case.free[face] = true;
            centre += case.mesh.faces()[face].iter().map(|v| case.uv[*v]).sum::<DVec2>() / 6.0;
        }
        centres.push(centre);
    }
    (case, centres)
}

#[test]
fn a_form_without_holes_is_integrated() {
    let mut case = Case::new(generate::irregular_grid(9, 7, [1.0, 0.7], 3).unwrap());
    case.set_omega(DVec2::new(40.0, -23.0), &[]);
    let phase = case.recover();
    assert!(phase.waves.is_empty());
    assert!(phase.cost < 1e-22 && phase.deviation < 1e-10, "{} {}", phase.cost, phase.deviation);
    let at = |v: Id<Vertices>| DVec2::new(40.0, -23.0).dot(case.uv[v]);
    for (face, corners) in case.mesh.faces().iter() {
        for (phi, v) in phase.field.at(face).unwrap().iter().zip(corners) {
            assert!((phi - at(*v) + at(Id::new(0))).abs() < 1e-9);
        }
    }
}

#[test]
fn fractions_of_waves_are_rounded() {
    let mut case = Case::new(generate::annulus(24, 4, 0.5, 1.0, Diagonal::Alternating).unwrap());
    case.set_omega(DVec2::new(3.0, 1.0), &[(DVec2::ZERO, -85.078)]);
    let phase = case.recover();
    // The sense of the loop is the generator's.
    assert_eq!(phase.waves[0].abs(), 85);
    assert!((phase.real_waves[0].abs() - 85.078).abs() < 1e-9);
    assert!((phase.rounding() - 0.078).abs() < 1e-9);
    // 0.078 turns are spread evenly around: 24 edges along the circle, each off by 2π 0.078/24.
    let even = TAU * 0.078 / 24.0;
    assert!((phase.deviation - even).abs() < 0.05 * even, "{} {even}", phase.deviation);
    assert_eq!(phase.periods(), vec![TAU * phase.waves[0] as f64]);
    // The rounded form is closed with whole periods: recovering it again changes nothing.
    case.omega = phase.omega.clone();
    let again = case.recover();
    assert_eq!(again.waves, phase.waves);
    assert!(again.rounding() < 1e-11 && again.deviation < 1e-10);
}

#[test]
fn many_holes_need_the_exact_optimum() {
    let n = 12;
    // Holes close to each other: their loops share most of their edges.
    let holes = [2 * n + 2, 2 * n + 4, 4 * n + 2, 4 * n + 4, 7 * n + 8, 9 * n + 8, 9 * n + 6];
    let (mut case, centres) = square_with_holes(n, &holes);
    let strengths = [3.47, -2.52, 1.45, 4.51, -6.48, 2.46, -1.53];
    let vortices: Vec<_> = centres.into_iter().zip(strengths).collect();
    case.set_omega(DVec2::new(11.0, 5.0), &vortices);
    let phase = case.recover();
    assert_eq!(phase.waves.len(), 7);
    // The real numbers are those of the vortices, added up by what each loop encloses; every loop
    // here is around one hole or several.
    let rounded: Vec<i64> = phase.real_waves.iter().map(|k| k.round() as i64).collect();
    assert_ne!(phase.waves, rounded, "choose strengths that are harder to round: {:?}", phase.real_waves);
    // Against every change of one or two numbers: no lower sum of squares over the edges. The cost
    // of a choice is computed on the mesh, not with the matrix the choice was made with.
    let setup = recover::Setup::new(&case.problem(), &PhaseOptions::default()).unwrap();
    let reduced = setup.reduced(&case.problem(), &[false]).unwrap();
    let cost = |k: &[i64]| {
        let c: Vec<f64> = k.iter().map(|k| TAU * *k as f64).collect();
        reduced.misfit(&phase.complex, &phase.complex.omega(&reduced.phase(k), &c).unwrap()).0
    };
    assert!((cost(&phase.waves) - phase.cost).abs() < 1e-9 * phase.cost);
    assert!(cost(&rounded) > 1.1 * phase.cost, "{} {}", cost(&rounded), phase.cost);
    for i in 0..7 {
        for j in 0..7 {
            for (a, b) in [(1, 1), (1, -1), (-1, 1), (-1, -1), (1, 0), (-1, 0)] {
                let mut k = phase.waves.clone();
                k[i] += a;
                k[j] += b;
                assert!(cost(&k) >= phase.cost * (1.0 - 1e-9));
            }
        }
    }
}

#[test]
fn faces_without_amplitude_have_no_phase() {
    let mut case = Case::new(generate::disc(6, 1.0).unwrap());
    // A vortex in the middle is closed only where nothing is left of the middle.
    case.set_omega(DVec2::ZERO, &[(DVec2::new(0.01, 0.02), 7.0)]);
    case.amplitude = Field::from_fn(case.mesh.vertex_count(), |v| (case.uv[v].length() - 0.45).max(0.0));
    let phase = case.recover();
    assert_eq!(phase.waves.iter().map(|k| k.abs()).collect::<Vec<_>>(), [7]);
    assert!(phase.deviation < 1e-10);
    for (face, corners) in case.mesh.faces().iter() {
        let visible = corners.iter().any(|v| case.amplitude[*v] > 0.0);
        assert_eq!(phase.field.at(face).is_some(), visible);
    }
    // On request they have: then the middle is filled, and no wave fits around it.
    let options = PhaseOptions { faces: PhaseFaces::Wrinkling, ..PhaseOptions::default() };
    let filled = recover_phase(&case.problem(), &options).unwrap();
    assert_eq!((filled.complex.node_count(), filled.waves.len()), (case.mesh.vertex_count(), 0));
    assert!(filled.deviation > 1.0);
    case.amplitude = Field::filled(case.mesh.vertex_count(), 0.0);
    let nothing = case.recover();
    assert_eq!((nothing.complex.node_count(), nothing.cost), (0, 0.0));
}

#[test]
fn an_animation_has_no_jumps() {
    let mut case = Case::new(generate::annulus(48, 6, 0.4, 1.0, Diagonal::Alternating).unwrap());
    let rim = case
        .mesh
        .boundary_loops()
        .into_iter()
        .max_by(|a, b| case.uv[a[0]].length().total_cmp(&case.uv[b[0]].length()));
    let rim = rim.unwrap();
    let mut previous: Option<Phase> = None;
    let (mut smooth, mut counts, mut alone) = (0, vec![], 0.0f64);
    for frame in 0..40 {
        let t = frame as f64 / 40.0;
        // Slowly changing wrinkles, whose solver came out with either sign; the real number of
        // waves grows from 20.2 to 21.3.
        let sign = if frame % 3 == 1 { -1.0 } else { 1.0 };
        let slope = DVec2::from_angle(2.0 * t) * 3.0;
        case.set_omega(sign * slope, &[(DVec2::ZERO, sign * (20.2 + 1.1 * t))]);
        case.amplitude = Field::from_fn(case.mesh.vertex_count(), |v| {
            0.01 * (0.55 + 0.5 * case.uv[v].dot(DVec2::from_angle(1.0 + t)))
        });
        // Faces come and go; the rim stays, to count its waves.
        case.free = Field::from_fn(case.mesh.face_count(), |face| {
            (face.index() * 7 + frame) % 53 == 0
                && case.mesh.faces()[face].iter().all(|v| case.uv[*v].length() < 0.95)
        });
        let now = previous.as_ref().map_or_else(|| case.recover(), |before| case.follow(before));
        counts.push(now.field.winding(&case.mesh, &rim).unwrap().abs());
        if let Some(before) = &previous
            && counts[frame] == counts[frame - 1]
        {
            smooth += 1;
            // At most 3 · 2/40 rad of slope on a radius of one, and 1.1/40 waves that the rounding
            // moves around.
            let bound = 1.0 - (0.15f64 + TAU * 0.0275).cos();
            assert!(case.distance(before, &now) < bound, "frame {frame}: {}", case.distance(before, &now));
            assert!(case.farthest(before, &now) < 0.5, "frame {frame}: {}", case.farthest(before, &now));
            alone = alone.max(case.distance(before, &case.recover()));
        }
        previous = Some(now);
    }
    // Frames that do not follow do jump, at the changes of sign at least.
    assert!(alone > 0.5, "{alone}");
    // One wave more appears once, when the real number is 0.6 above: there the surface must change.
    assert_eq!(smooth, 38);
    let appears = counts.iter().position(|k| *k == 21).unwrap();
    assert!(counts[..appears].iter().all(|k| *k == 20) && counts[appears..].iter().all(|k| *k == 21));
    let real = 20.2 + 1.1 * appears as f64 / 40.0;
    assert!((20.6..20.63).contains(&real), "{real}");
}

#[test]
fn the_number_of_waves_does_not_flicker() {
    let mut case = Case::new(generate::annulus(30, 3, 0.4, 1.0, Diagonal::Right).unwrap());
    let set = |case: &mut Case, waves: f64| case.set_omega(DVec2::ZERO, &[(DVec2::ZERO, waves)]);
    set(&mut case, 12.45);
    let mut previous = case.recover();
    let first = previous.waves[0];
    assert_eq!(first.abs(), 12);
    let mut alone = Vec::new();
    for frame in 0..10 {
        set(&mut case, 12.5 + if frame % 2 == 0 { 0.06 } else { -0.06 });
        alone.push(case.recover().waves[0].abs());
        previous = case.follow(&previous);
        assert_eq!(previous.waves[0], first);
    }
    assert!(alone.contains(&12) && alone.contains(&13));
    // When the energy clearly asks for it they change, by as much as it asks for.
    set(&mut case, 12.61);
    assert_eq!(case.follow(&previous).waves[0].abs(), 13);
    set(&mut case, -40.3);
    assert_eq!(case.follow(&previous).waves[0], 40 * first.signum());
    assert_eq!(case.follow(&previous).flipped, [true]);
}

#[test]
fn loops_over_new_faces_keep_their_count() {
    // In one sector only the innermost ring of faces has a phase in even frames, only the outermost
    // in odd ones: no loop of one frame is a loop of the next.
    let mut case = Case::new(generate::annulus(30, 4, 0.4, 1.0, Diagonal::Right).unwrap());
    let middle = |case: &Case, face: Id<Faces>| {
        case.mesh.faces()[face].iter().map(|v| case.uv[*v]).sum::<DVec2>() / 3.0
    };
    let mut loops = case.mesh.boundary_loops();
    loops.sort_by(|a, b| case.uv[a[0]].length().total_cmp(&case.uv[b[0]].length()));
    let mut previous: Option<Phase> = None;
    let mut alone = Vec::new();
    for frame in 0..6 {
        let odd = frame % 2;
        case.set_omega(DVec2::ZERO, &[(DVec2::ZERO, [12.44, 12.56][odd])]);
        case.free = Field::from_fn(case.mesh.face_count(), |face| {
            let at = middle(&case, face);
            let left = if odd == 0 { at.length() < 0.54 } else { at.length() > 0.86 };
            at.to_angle().abs() < 0.4 && !left
        });
        let now = previous.as_ref().map_or_else(|| case.recover(), |before| case.follow(before));
        let count = |phase: &Phase| phase.field.winding(&case.mesh, &loops[odd]).map(i64::abs);
        assert_eq!(count(&now), Some(12), "frame {frame}");
        alone.push(count(&case.recover()));
        previous = Some(now);
    }
    assert_eq!(alone[..2], [Some(12), Some(13)]);
}

#[test]
fn values_continue_too() {
    // Not only cosines: the value at each corner moves by what the slope moves it.
    let mut case = Case::new(generate::annulus(30, 3, 0.4, 1.0, Diagonal::Right).unwrap());
    case.set_omega(DVec2::ZERO, &[(DVec2::ZERO, 9.0)]);
    let mut before = case.recover();
    before.field.values_mut().as_mut_slice().iter_mut().for_each(|phi| *phi += 31.0);
    case.set_omega(DVec2::new(0.2, 0.0), &[(DVec2::ZERO, -9.0)]);
    let now = case.follow(&before);
    for face in case.mesh.faces().ids() {
        for (a, b) in before.field.at(face).unwrap().iter().zip(now.field.at(face).unwrap()) {
            assert!((a - b).abs() < 0.21, "{a} {b}");
        }
    }
}

#[test]
fn pieces_follow_one_by_one() {
    // Two pieces whose phases move differently: each has a shift and a sign of its own.
    let (mut case, _) = square_with_holes(10, &(0..10).map(|i| 10 * i + 5).collect::<Vec<_>>());
    let slopes = [DVec2::new(9.0, 2.0), DVec2::new(-4.0, 7.0)];
    let omega = |case: &Case, signs: [f64; 2]| {
        Field::from_fn(case.mesh.edge_count(), |edge| {
            let [a, b] = case.mesh.edges()[edge].vertices;
            let (p, q) = (case.uv[a.min(b)], case.uv[a.max(b)]);
            let piece = usize::from(p.midpoint(q).x > 0.55);
            signs[piece] * slopes[piece].dot(q - p)
        })
    };
    case.omega = omega(&case, [1.0, 1.0]);
    let mut before = case.recover();
    let complex = before.complex.clone();
    assert_eq!(complex.component_count(), 2);
    for (node, value) in before.field.values_mut().as_mut_slice().iter_mut().enumerate() {
        *value += [1.0, -2.5][complex.node_components()[Id::new(node as u32)] as usize];
    }
    for signs in [[1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]] {
        case.omega = omega(&case, signs);
        let now = case.follow(&before);
        assert_eq!(now.flipped, signs.map(|s| s < 0.0));
        assert!(case.distance(&before, &now) < 1e-20);
    }
}

#[test]
fn steps_of_a_phase_are_measured_up_to_whole_turns() {
    let mut case = Case::new(generate::annulus(48, 4, 0.4, 1.0, Diagonal::Right).unwrap());
    case.set_omega(DVec2::ZERO, &[(DVec2::ZERO, 9.0)]);
    let before = case.recover();
    let step = |case: &Case, now: &PhaseField, amplitude: &Field<Vertices, f64>| {
        phase_step(&case.mesh, case.rest.maps(), (&before.field, &case.amplitude), (now, amplitude)).unwrap()
    };
    for (shift, seen) in [(0.3, 0.3), (TAU + 0.3, 0.3), (-0.3, 0.3), (6.0 * TAU, 0.0), (PI, PI)] {
        let mut now = before.field.clone();
        now.values_mut().as_mut_slice().iter_mut().for_each(|phi| *phi += shift);
        let step = step(&case, &now, &case.amplitude).unwrap();
        assert!((step.largest - seen).abs() < 1e-12 && (step.mean - seen).abs() < 1e-12, "{step:?} {seen}");
    }
    // One wave more: every difference occurs, π among them, and equally often but for one place of
    // the mesh.
    case.set_omega(DVec2::ZERO, &[(DVec2::ZERO, 10.0)]);
    let more = case.recover();
    let step_more = step(&case, &more.field, &case.amplitude).unwrap();
    assert!(step_more.largest > PI - TAU / 48.0, "{step_more:?}");
    assert!((step_more.mean - PI / 3f64.sqrt()).abs() < 0.02, "{step_more:?}");
    // It is not seen if it is flat where they differ.
    let half = Field::from_fn(case.mesh.vertex_count(), |v| case.uv[v].x.max(0.0));
    let hidden = step(&case, &more.field, &half).unwrap();
    assert!(hidden.largest < PI - 0.1, "{hidden:?}");
    let flat = Field::filled(case.mesh.vertex_count(), 0.0);
    assert_eq!(step(&case, &more.field, &flat), None);
    let short = Field::filled(3, 1.0);
    let now = (&more.field, &short);
    let error = phase_step(&case.mesh, case.rest.maps(), (&before.field, &case.amplitude), now).unwrap_err();
    assert!(error.to_string().contains("amplitudes"), "{error}");
}

#[test]
fn bad_numbers_are_refused() {
    let mut case = Case::new(generate::disc(2, 1.0).unwrap());
    let message =
        |case: &Case, options| recover_phase(&case.problem(), &options).map(|_| ()).unwrap_err().to_string();
    let bad = PhaseOptions { hysteresis: -1.0, ..PhaseOptions::default() };
    assert!(message(&case, bad).contains("hysteresis is -1"));
    case.omega[Id::new(3)] = f64::NAN;
    assert!(message(&case, PhaseOptions::default()).contains("edge 3"));
    case.omega[Id::new(3)] = 1e15;
    assert!(
        message(&case, PhaseOptions::default())
            .contains("edge 3: the difference of phase in radians is 1e15")
    );
    case.omega[Id::new(3)] = PI;
    case.amplitude[Id::new(4)] = f64::INFINITY;
    assert!(message(&case, PhaseOptions::default()).contains("vertex 4"));
}
