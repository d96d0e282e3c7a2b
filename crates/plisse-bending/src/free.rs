//! Mid-edge bending with director angles as unknowns.
//!
//! The director of an edge is a unit vector across the edge, turned by `α` from the mean of the two
//! face normals. Seen from a face it leans by `φ = θ/2 + s α` over that face's normal, with `s = 1`
//! for the left face and `s = -1` for the right one. At the boundary, and at a clamp, the director
//! is measured from the normal of one face: `φ = s α` for that face, `φ = θ + s α` for the other.
//!
//! **The sine law needs a guard.** Alone, an edge with equal faces costs
//! `sin² φ_left + sin² φ_right = 1 - cos θ cos 2α`. That has a second minimum at `α = π`, where the
//! director points to the other side of the sheet and the bend has the wrong sign; and from
//! `|θ| = π/2` on the minimum is `α = ±π/2` instead of zero, so that a fold costs less the sharper
//! it is. So each face adds
//!
//! ```text
//! ½ Q_jj 4h² γ        γ = 2 (1 - cos α) - cos θ sin² α ≥ 0
//! ```
//!
//! which is of fourth order in the angles and vanishes for `α = 0`. Then the edge costs
//! `(1 - cos θ) + 4 (1 - cos α)`: one minimum per turn, at `α = 0`, for every `θ`. If the faces
//! differ, with the weights `1 ± ρ`, the term `ρ sin θ sin 2α` joins. The stationary points are
//! `2k sin² α - 4 sin α - k = 0` with `k = 2ρ sin θ`, `|k| ≤ 2`; of the two roots only one is
//! within [-1, 1], `|sin α| ≤ 0.37`, and the second derivative there is `4 cos α (1 - k sin α)`:
//! one minimum, with `|α| < 22°`, and one maximum. Where the director is measured from one face,
//! `γ = (1 - cos φ)²`, and the face's own part is `2 (1 - cos φ)`.
//!
//! **Full folds.** The mean normal turns over at `θ = ±π`, and with it `b` of both faces. The blend
//! of [`crate::fold`] is used: `b²` and `γ` are smooth there as functions of `θ` and `α`, and what
//! is odd in `b` is multiplied by `χ`. Measured from one face, `b` itself has the period 2π.
//!
//! **Collapse.** The weights `W` of [`crate::fold`], at the boundary that of the only triangle:
//!
//! ```text
//! c = W χ (b - b̄)      m = W² [ (1 - χ²)(b² + b̄²) + 4h² γ ]
//! E = ½ Σ Q_jk c_j c_k + ½ Σ Q_jj m_j
//! ```
//!
//! **Bound** of the sine law, with `M`, `H`, `|Q|` and reach as in [`crate::fold`]: `γ ≤ 4`,
//! `|∂γ/∂θ| ≤ 1` and `|∇h| ≤ h/q` add `46 M²/reach` to `|∇m|`, so that `|∇E| ≤ 230 |Q| M²/reach`
//! over all vertices; `|∂E/∂α_j| ≤ 6 |Q| M²`.
//!
//! The tangent law has a pole at `|φ| = π/2` and needs neither guard nor blend: turning over and
//! folding are outside of it. [`longest`] keeps a step inside.

use std::f64::consts::FRAC_PI_2;

use glam::DVec3;
use plisse_core::{Blocks, HingeFrame, Psd, outer, project_numeric, saturate};
use plisse_eigen::{HingeFade, TriangleFade, hinge_form};

use crate::fold::fold_blend;
use crate::koiter::{Director, KoiterEvaluation, places, project_scaled};
use crate::law::nothing;

/// From which normal the angle of a director is measured, seen from one face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    /// The mean of both normals.
    Mean,
    /// The normal of this face: at the boundary, and for a face that holds a clamped director.
    Own,
    /// The normal of the neighbour, which holds the director.
    Other,
}

impl Reference {
    /// The part of the hinge angle by which the director leans over this face.
    pub(crate) fn share(self) -> f64 {
        match self {
            Self::Mean => 0.5,
            Self::Own => 0.0,
            Self::Other => 1.0,
        }
    }
}

/// What is constant of one edge of a face.
#[derive(Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) interior: bool,
    pub(crate) reference: Reference,
    /// 1 for the left face of the edge, -1 for the right one.
    pub(crate) side: f64,
    /// `b̄`.
    pub(crate) rest: f64,
}

/// A face: settings of its edges, `Q`, the reach of the fade and the law.
pub(crate) struct Face<'a> {
    pub(crate) edges: [Setting; 3],
    pub(crate) form: &'a [[f64; 3]; 3],
    pub(crate) reach: f64,
    pub(crate) director: Director,
}

/// A function of the hinge angle and the director angle, with both derivatives.
#[derive(Clone, Copy)]
struct Angular {
    value: f64,
    t: f64,
    a: f64,
    tt: f64,
    ta: f64,
    aa: f64,
}

impl Angular {
    const ZERO: Self = Self::constant(0.0);

    const fn constant(value: f64) -> Self {
        Self { value, t: 0.0, a: 0.0, tt: 0.0, ta: 0.0, aa: 0.0 }
    }

    /// A function of the hinge angle alone.
    fn of_angle([value, t, tt]: [f64; 3]) -> Self {
        Self { value, t, tt, ..Self::ZERO }
    }

    /// `f(φ)` with `φ = share θ + side α`.
    fn of_lean([f, f1, f2]: [f64; 3], share: f64, side: f64) -> Self {
        Self { value: f, t: share * f1, a: side * f1, tt: share * share * f2, ta: share * side * f2, aa: f2 }
    }

    fn times(&self, other: &Self) -> Self {
        let (f, g) = (self, other);
        Self {
            value: f.value * g.value,
            t: f.t * g.value + f.value * g.t,
            a: f.a * g.value + f.value * g.a,
            tt: f.tt * g.value + 2.0 * f.t * g.t + f.value * g.tt,
            ta: f.ta * g.value + f.t * g.a + f.a * g.t + f.value * g.ta,
            aa: f.aa * g.value + 2.0 * f.a * g.a + f.value * g.aa,
        }
    }

    fn scaled(&self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            t: self.t * factor,
            a: self.a * factor,
            tt: self.tt * factor,
            ta: self.ta * factor,
            aa: self.aa * factor,
        }
    }

    fn plus(&self, other: &Self) -> Self {
        Self {
            value: self.value + other.value,
            t: self.t + other.t,
            a: self.a + other.a,
            tt: self.tt + other.tt,
            ta: self.ta + other.ta,
            aa: self.aa + other.aa,
        }
    }
}

/// A function of the height of the face, the hinge angle and the director angle.
#[derive(Clone, Copy)]
struct Scalar {
    value: f64,
    h: f64,
    hh: f64,
    ht: f64,
    ha: f64,
    /// Derivatives by the angles.
    by_angles: Angular,
}

impl Scalar {
    /// `p0 + h p1 + h² p2`.
    fn polynomial(height: f64, p0: &Angular, p1: &Angular, p2: &Angular) -> Self {
        let slope = p1.plus(&p2.scaled(2.0 * height));
        let by_angles = p0.plus(&p1.scaled(height)).plus(&p2.scaled(height * height));
        Self {
            value: by_angles.value.clamp(-1e160, 1e160),
            h: slope.value,
            hh: 2.0 * p2.value,
            ht: slope.t,
            ha: slope.a,
            by_angles,
        }
    }

    /// `self · a + other · b`.
    fn combined(&self, a: f64, other: &Self, b: f64) -> Self {
        Self {
            value: self.value * a + other.value * b,
            h: self.h * a + other.h * b,
            hh: self.hh * a + other.hh * b,
            ht: self.ht * a + other.ht * b,
            ha: self.ha * a + other.ha * b,
            by_angles: self.by_angles.scaled(a).plus(&other.by_angles.scaled(b)),
        }
    }
}

/// A number that depends on the four vertices of a hinge and on its director, with both
/// derivatives.
#[derive(Clone, Copy)]
struct Jet {
    value: f64,
    gradient: [DVec3; 4],
    turn: f64,
    hessian: Blocks<4>,
    mixed: [DVec3; 4],
    turn_turn: f64,
}

impl Jet {
    fn times(&self, other: &Self) -> Self {
        let (f, g) = (self, other);
        let symmetric: Blocks<4> = Blocks(std::array::from_fn(|i| {
            std::array::from_fn(|j| outer(f.gradient[i], g.gradient[j]) + outer(g.gradient[i], f.gradient[j]))
        }));
        Self {
            value: f.value * g.value,
            gradient: std::array::from_fn(|i| f.gradient[i] * g.value + g.gradient[i] * f.value),
            turn: f.turn * g.value + f.value * g.turn,
            hessian: f.hessian * g.value + g.hessian * f.value + symmetric,
            mixed: std::array::from_fn(|i| {
                f.mixed[i] * g.value + g.mixed[i] * f.value + f.gradient[i] * g.turn + g.gradient[i] * f.turn
            }),
            turn_turn: f.turn_turn * g.value + 2.0 * f.turn * g.turn + f.value * g.turn_turn,
        }
    }
}

/// One edge of a face at one state.
struct Bend {
    frame: HingeFrame,
    /// `χ (b - b̄)`, without the weight of a collapse.
    c: Scalar,
    /// `m`, without that weight.
    m: Scalar,
    /// The weight, where it is not one.
    fade: Option<Jet>,
}

impl Bend {
    fn new(face: &Face<'_>, j: usize, x: &[DVec3; 6], alpha: f64) -> Option<Self> {
        let setting = &face.edges[j];
        let (frame, corners) = hinge_of(x, j, setting.interior)?;
        let [c, m] = match face.director {
            Director::Tangent => tangent(&frame, setting, alpha),
            Director::Average | Director::Sine => sine(&frame, setting, alpha),
        };
        let fade = if frame.is_higher_than(face.reach) {
            None
        } else {
            fade(&corners, face.reach, setting.interior)
        };
        Some(Self { frame, c, m, fade })
    }

    /// Value, gradient and turn of `self.c` or `self.m` times a power of the weight.
    fn slope(&self, phi: &Scalar, power: i32) -> (f64, [DVec3; 4], f64) {
        let gradient = self.gradient_of(phi);
        let Some(fade) = &self.fade else { return (phi.value, gradient, phi.by_angles.a) };
        let (w, w1) =
            if power == 1 { (fade.value, 1.0) } else { (fade.value * fade.value, 2.0 * fade.value) };
        let gradient = std::array::from_fn(|i| gradient[i] * w + fade.gradient[i] * (w1 * phi.value));
        (w * phi.value, gradient, w * phi.by_angles.a)
    }

    /// `Φ_h ∇h + Φ_θ ∇θ` over the four corners.
    fn gradient_of(&self, phi: &Scalar) -> [DVec3; 4] {
        let (foot, tau) = (self.frame.feet()[0], self.frame.altitudes()[0]);
        let weights = [-(1.0 - foot), -foot, 1.0, 0.0];
        let theta = self.frame.gradient();
        let by_angle = phi.by_angles.t;
        std::array::from_fn(|i| {
            // Without a neighbour the angle is none of the vertices' business.
            let angle = if by_angle == 0.0 { DVec3::ZERO } else { theta[i] * by_angle };
            tau * (phi.h * weights[i]) + angle
        })
    }

    /// The two forms of [`hinge_form`] for a function of height and angles: over
    /// `(u0, v0, u1, v1, α)` and `(dm, dk, s0, s1)`.
    fn forms(&self, phi: &Scalar) -> ([[f64; 5]; 5], [[f64; 4]; 4]) {
        let h = self.frame.heights()[0];
        let angle = &phi.by_angles;
        let (t, tt, ta) = (angle.t, angle.tt, angle.ta);
        let (uv, ua, vv) = (phi.ht * h - t, phi.ha * h, phi.h * h + tt);
        let in_plane = [
            [phi.hh * h * h, uv, 0.0, phi.ht * h, ua],
            [uv, vv, 0.0, tt, ta],
            [0.0, 0.0, 0.0, -t, 0.0],
            [phi.ht * h, tt, -t, tt, ta],
            [ua, ta, 0.0, ta, angle.aa],
        ];
        let (s2, c2) = (0.5 * self.frame.theta()).sin_cos();
        let turn = t * self.frame.sin_cos().0;
        let (es, ec) = (-phi.h * h * s2, -phi.h * h * c2);
        let across = [
            [es * s2 - turn, es * c2, es - t * c2, -t * c2],
            [es * c2, ec * c2 + turn, ec + t * s2, -t * s2],
            [es - t * c2, ec + t * s2, 0.0, 0.0],
            [-t * c2, -t * s2, 0.0, 0.0],
        ];
        (in_plane, across)
    }

    /// Second derivatives from the two forms: by positions, mixed, by the director.
    fn assembled(&self, in_plane: &[[f64; 5]; 5], across: &[[f64; 4]; 4]) -> (Blocks<4>, [DVec3; 4], f64) {
        let plane = std::array::from_fn(|i| std::array::from_fn(|k| in_plane[i][k]));
        let hessian = hinge_form(&self.frame, &plane, across);
        let (tau, n, h, feet) =
            (self.frame.altitudes(), self.frame.normals(), self.frame.heights(), self.frame.feet());
        let row = in_plane[4];
        let z0 = (tau[0] * row[0] + n[0] * row[1]) / h[0];
        let z1 = (tau[1] * row[2] + n[1] * row[3]) / h[1];
        let mixed = [-(z0 * (1.0 - feet[0]) + z1 * (1.0 - feet[1])), -(z0 * feet[0] + z1 * feet[1]), z0, z1];
        (hessian, mixed, row[4])
    }

    fn jet(&self, phi: &Scalar) -> Jet {
        let (in_plane, across) = self.forms(phi);
        let (hessian, mixed, turn_turn) = self.assembled(&in_plane, &across);
        Jet {
            value: phi.value,
            gradient: self.gradient_of(phi),
            turn: phi.by_angles.a,
            hessian,
            mixed,
            turn_turn,
        }
    }

    /// `∇²(moment c + own m)`, projected over the positions and the director, or over the positions
    /// alone where the director is held.
    fn curvature(
        &self,
        moment: f64,
        own: f64,
        reach: f64,
        held: bool,
        psd: Psd,
    ) -> (Blocks<4>, [DVec3; 4], f64) {
        let Some(fade) = &self.fade else {
            let (mut in_plane, across) = self.forms(&self.c.combined(moment, &self.m, own));
            if held {
                (in_plane[4], in_plane[0][4], in_plane[1][4], in_plane[3][4]) = ([0.0; 5], 0.0, 0.0, 0.0);
            }
            let [p, q] = self.frame.heights().map(|h| 1.0 / h);
            let [w0, w1] = self.frame.feet().map(|a| ((1.0 - a) * (1.0 - a) + a * a + 1.0).sqrt());
            let d = std::f64::consts::SQRT_2 / self.frame.length();
            let (turn, p, q) = (p, p * w0, q * w1);
            let in_plane = project_scaled(&in_plane, [p, p, q, q, turn], 1.0, psd);
            let across = project_scaled(&across, [d, d, p, q], 1.0, psd);
            return self.assembled(&in_plane, &across);
        };
        let (c, m) = (fade.times(&self.jet(&self.c)), fade.times(fade).times(&self.jet(&self.m)));
        let hessian = c.hessian * moment + m.hessian * own;
        let mixed: [DVec3; 4] = std::array::from_fn(|i| c.mixed[i] * moment + m.mixed[i] * own);
        let turn_turn = c.turn_turn * moment + m.turn_turn * own;
        if psd == Psd::Exact {
            return (hessian, mixed, turn_turn);
        }
        if held {
            return (
                Blocks::from_matrix(&project_numeric(&hessian.to_matrix::<12>(), psd)),
                mixed,
                turn_turn,
            );
        }
        // The nearest matrix, with the director in units of a length that makes its row like the
        // others.
        let positions = hessian.to_matrix::<12>();
        let balance = (turn_turn.abs() / hessian.max_abs()).sqrt();
        let reach = if (1e-60..1e60).contains(&balance) { balance } else { reach };
        let full: [[f64; 13]; 13] = std::array::from_fn(|i| {
            std::array::from_fn(|k| match (i < 12, k < 12) {
                (true, true) => positions[i][k],
                (true, false) => mixed[i / 3][i % 3] / reach,
                (false, true) => mixed[k / 3][k % 3] / reach,
                (false, false) => turn_turn / reach / reach,
            })
        });
        let full = project_numeric(&full, psd);
        let positions: [[f64; 12]; 12] = std::array::from_fn(|i| std::array::from_fn(|k| full[i][k]));
        let mixed = std::array::from_fn(|i| DVec3::from_slice(&full[12][3 * i..]) * reach);
        (Blocks::from_matrix(&positions), mixed, full[12][12] * reach * reach)
    }
}

/// The hinge of edge `j` and its corners. Without a neighbour: the own corner reflected in the
/// middle of the edge, which makes a flat hinge.
fn hinge_of(x: &[DVec3; 6], j: usize, interior: bool) -> Option<(HingeFrame, [DVec3; 4])> {
    let (a, b, c) = (x[(j + 1) % 3], x[(j + 2) % 3], x[j]);
    let corners = [a, b, c, if interior { x[3 + j] } else { a + b - c }];
    HingeFrame::new(&corners).map(|frame| (frame, corners))
}

/// The weight of both triangles of an edge, or of the only one; none where it is one.
fn fade(x: &[DVec3; 4], reach: f64, interior: bool) -> Option<Jet> {
    let (value, gradient, hessian) = if interior {
        let fade = HingeFade::new(x, reach)?;
        (fade.weight(), *fade.gradient(), *fade.hessian())
    } else {
        let fade = TriangleFade::new(&[x[0], x[1], x[2]], reach);
        if fade == TriangleFade::NONE {
            return None;
        }
        let [a, b, c] = *fade.gradient();
        let mut hessian = Blocks::ZERO;
        for (i, row) in fade.hessian().0.iter().enumerate() {
            hessian.0[i][..3].copy_from_slice(row);
        }
        (fade.weight(), [a, b, c, DVec3::ZERO], hessian)
    };
    Some(Jet { value, gradient, turn: 0.0, hessian, mixed: [DVec3::ZERO; 4], turn_turn: 0.0 })
}

/// `c` and `m` of the sine law.
fn sine(frame: &HingeFrame, setting: &Setting, alpha: f64) -> [Scalar; 2] {
    let (height, rest, side) = (frame.heights()[0], setting.rest, setting.side);
    let (sin_a, cos_a) = alpha.sin_cos();
    let share = setting.reference.share();
    let (sin_t, cos_t) = if share == 0.0 { (0.0, 1.0) } else { (share * frame.theta()).sin_cos() };
    // By the sum of two angles, so that whole turns of the director cost no digits of the other.
    let (sin, cos) = (sin_t * cos_a + side * cos_t * sin_a, cos_t * cos_a - side * sin_t * sin_a);
    let bend = Angular::of_lean([sin, cos, -sin], share, side);
    let zero = Angular::ZERO;
    if setting.reference != Reference::Mean {
        let short = Angular::of_lean([1.0 - cos, sin, cos], share, side);
        let guard = short.times(&short);
        return [
            Scalar::polynomial(height, &Angular::constant(-rest), &bend.scaled(2.0), &zero),
            Scalar::polynomial(height, &zero, &zero, &guard.scaled(4.0)),
        ];
    }
    let (sin_theta, cos_theta) = frame.sin_cos();
    let guard = Angular {
        // 2 (1 - cos α) - cos θ sin² α, without cancellation for small angles.
        value: {
            let versed = 2.0 * (0.5 * alpha).sin().powi(2);
            versed * (versed + (1.0 - cos_theta) * (1.0 + cos_a))
        },
        t: sin_theta * sin_a * sin_a,
        a: 2.0 * sin_a * (1.0 - cos_theta * cos_a),
        tt: cos_theta * sin_a * sin_a,
        ta: 2.0 * sin_theta * sin_a * cos_a,
        aa: 2.0 * cos_a - 2.0 * cos_theta * (cos_a * cos_a - sin_a * sin_a),
    };
    let Some(blend) = fold_blend(frame) else {
        return [
            Scalar::polynomial(height, &Angular::constant(-rest), &bend.scaled(2.0), &zero),
            Scalar::polynomial(height, &zero, &zero, &guard.scaled(4.0)),
        ];
    };
    let chi = Angular::of_angle(blend);
    let left = Angular::constant(1.0).plus(&chi.times(&chi).scaled(-1.0));
    let kept = left.times(&bend.times(&bend)).plus(&guard);
    [
        Scalar::polynomial(height, &chi.scaled(-rest), &chi.times(&bend).scaled(2.0), &zero),
        Scalar::polynomial(height, &left.scaled(rest * rest), &zero, &kept.scaled(4.0)),
    ]
}

/// `c` and `m = 0` of the tangent law. Within 1e-6 of the pole and beyond it, the value there:
/// large against everything else, and small enough for the projection, which loses `tan φ` in
/// digits.
fn tangent(frame: &HingeFrame, setting: &Setting, alpha: f64) -> [Scalar; 2] {
    const POLE: f64 = 1e6;
    let share = setting.reference.share();
    let phi = lean(frame, setting, alpha);
    let t = if phi.abs() < FRAC_PI_2 { phi.tan().clamp(-POLE, POLE) } else { POLE.copysign(phi) };
    let sec = 1.0 + t * t;
    let bend = Angular::of_lean([t, sec, 2.0 * t * sec], share, setting.side);
    let (height, zero) = (frame.heights()[0], Angular::ZERO);
    [
        Scalar::polynomial(height, &Angular::constant(-setting.rest), &bend.scaled(2.0), &zero),
        Scalar::polynomial(height, &zero, &zero, &zero),
    ]
}

/// The larger `|φ|` of both faces where the director is measured from the mean normal, otherwise
/// that of this face.
fn farthest_lean(frame: &HingeFrame, setting: &Setting, alpha: f64) -> f64 {
    match setting.reference {
        Reference::Mean => 0.5 * frame.theta().abs() + alpha.abs(),
        Reference::Own | Reference::Other => lean(frame, setting, alpha).abs(),
    }
}

/// `φ`.
fn lean(frame: &HingeFrame, setting: &Setting, alpha: f64) -> f64 {
    let share = setting.reference.share();
    let part = if share == 0.0 { 0.0 } else { share * frame.theta() };
    part + setting.side * alpha
}

impl Face<'_> {
    fn bends(&self, x: &[DVec3; 6], directors: &[f64; 3]) -> [Option<Bend>; 3] {
        std::array::from_fn(|j| Bend::new(self, j, x, directors[j]))
    }

    /// `Q c`.
    fn moments(&self, strain: [f64; 3]) -> [f64; 3] {
        self.form.map(|row| (0..3).map(|k| row[k] * strain[k]).sum::<f64>().clamp(-1e100, 1e100))
    }

    /// `½ Q_jj`, limited like a moment.
    fn own(&self, j: usize) -> f64 {
        (0.5 * self.form[j][j]).min(1e100)
    }

    pub(crate) fn energy(&self, x: &[DVec3; 6], directors: &[f64; 3]) -> f64 {
        let bends = self.bends(x, directors);
        let weighted = |j: usize| {
            let Some(bend) = &bends[j] else { return (0.0, 0.0) };
            let w = bend.fade.as_ref().map_or(1.0, |fade| fade.value);
            (w * bend.c.value, w * w * bend.m.value)
        };
        let all = [weighted(0), weighted(1), weighted(2)];
        self.energy_of(all.map(|v| v.0), all.map(|v| v.1)) + nothing(x)
    }

    fn energy_of(&self, strain: [f64; 3], kept: [f64; 3]) -> f64 {
        let moment = self.moments(strain);
        saturate((0..3).map(|j| 0.5 * strain[j] * moment[j] + self.own(j) * kept[j]).sum::<f64>())
    }

    pub(crate) fn gradient(&self, x: &[DVec3; 6], directors: &[f64; 3]) -> ([DVec3; 6], [f64; 3]) {
        let bends = self.bends(x, directors);
        let slopes = bends.each_ref().map(|bend| bend.as_ref().map(|b| (b.slope(&b.c, 1), b.slope(&b.m, 2))));
        let moment = self.moments(slopes.each_ref().map(|s| s.as_ref().map_or(0.0, |(c, _)| c.0)));
        let mut out = ([DVec3::splat(nothing(x)); 6], [0.0; 3]);
        for (j, slope) in slopes.iter().enumerate() {
            let Some((c, m)) = slope else { continue };
            let own = self.own(j);
            for (i, place) in places(j).into_iter().enumerate() {
                out.0[place] += c.1[i] * moment[j] + m.1[i] * own;
            }
            out.1[j] = c.2 * moment[j] + m.2 * own;
        }
        out
    }

    /// `held`: only derivatives by the positions are of interest, and only they are projected.
    pub(crate) fn evaluate(
        &self,
        x: &[DVec3; 6],
        directors: &[f64; 3],
        held: bool,
        psd: Psd,
    ) -> KoiterEvaluation {
        let bends = self.bends(x, directors);
        let nothing = nothing(x);
        let slopes = bends.each_ref().map(|bend| bend.as_ref().map(|b| (b.slope(&b.c, 1), b.slope(&b.m, 2))));
        let strain = slopes.each_ref().map(|s| s.as_ref().map_or(0.0, |(c, _)| c.0));
        let kept = slopes.each_ref().map(|s| s.as_ref().map_or(0.0, |(_, m)| m.0));
        let moment = self.moments(strain);
        let mut out = KoiterEvaluation {
            energy: self.energy_of(strain, kept) + nothing,
            gradient: [DVec3::splat(nothing); 6],
            director_gradient: [0.0; 3],
            hessian: Blocks::identity() * nothing,
            mixed_hessian: [[DVec3::ZERO; 6]; 3],
            director_hessian: [[0.0; 3]; 3],
        };
        let mut gradients = [[DVec3::ZERO; 6]; 3];
        let mut turns = [0.0; 3];
        for (j, (bend, slope)) in bends.iter().zip(&slopes).enumerate() {
            let (Some(bend), Some((c, m))) = (bend, slope) else { continue };
            let own = self.own(j);
            let (hessian, mixed, turn_turn) = bend.curvature(moment[j], own, self.reach, held, psd);
            turns[j] = c.2;
            out.director_gradient[j] = c.2 * moment[j] + m.2 * own;
            out.director_hessian[j][j] += turn_turn;
            let at = places(j);
            for (a, &i) in at.iter().enumerate() {
                gradients[j][i] = c.1[a];
                out.gradient[i] += c.1[a] * moment[j] + m.1[a] * own;
                out.mixed_hessian[j][i] += mixed[a];
                for (b, &k) in at.iter().enumerate() {
                    out.hessian.0[i][k] += hessian.0[a][b];
                }
            }
        }
        for j in 0..3 {
            let row = self.form[j];
            let weighted: [DVec3; 6] =
                std::array::from_fn(|a| (0..3).map(|k| gradients[k][a] * row[k]).sum());
            for a in 0..6 {
                out.mixed_hessian[j][a] += weighted[a] * turns[j];
                for b in 0..6 {
                    out.hessian.0[a][b] += outer(gradients[j][a], weighted[b]);
                }
            }
            for k in 0..3 {
                out.director_hessian[j][k] += row[k] * turns[j] * turns[k];
            }
        }
        out
    }

    /// The part of a step, at most one, that stays inside the poles of the tangent law.
    pub(crate) fn longest_step(
        &self,
        x: &[DVec3; 6],
        directors: &[f64; 3],
        p: &[DVec3; 6],
        q: &[f64; 3],
    ) -> f64 {
        if self.director != Director::Tangent {
            return 1.0;
        }
        (0..3).fold(1.0, |t, j| longest(&self.edges[j], j, x, directors[j], p, q[j], t))
    }
}

/// The longest step up to `end` along which edge `j` leaves at least a tenth of its distance from
/// the pole.
///
/// A normal along `N(t) = N0 + t N1 + t² N2` (twice the area, so polynomial) turns by at most
/// `∫ |N'|/|N| dt`, and `θ` by no more than both normals together. With `V = |N1| + 2 r |N2|` over
/// a part `Δ ≤ r` of the step with `Δ V ≤ |N0|/2`, this is at most `2 Δ V/|N0|` per normal. Such
/// parts follow each other until they get short. Both faces of an edge are kept inside, since
/// otherwise the hinge angle could pass π, where it jumps.
fn longest(setting: &Setting, j: usize, x: &[DVec3; 6], alpha: f64, p: &[DVec3; 6], q: f64, end: f64) -> f64 {
    const KEPT: f64 = 0.1;
    let share = setting.reference.share();
    let at = |t: f64| -> [DVec3; 6] { std::array::from_fn(|i| x[i] + p[i] * t) };
    // Without a frame the edge has no energy, and no pole is near.
    let Some((frame, _)) = hinge_of(x, j, setting.interior) else { return end };
    let gap = FRAC_PI_2 - farthest_lean(&frame, setting, alpha);
    if gap <= 0.0 {
        return 0.0;
    }
    let limit = FRAC_PI_2 - KEPT * gap;
    let mut t = 0.0;
    for _ in 0..48 {
        let y = at(t);
        let Some((frame, corners)) = hinge_of(&y, j, setting.interior) else { return t };
        let left = limit - farthest_lean(&frame, setting, alpha + t * q);
        if left <= 0.0 {
            break;
        }
        let rest = end - t;
        let mut speed = q.abs();
        let mut step = rest;
        if share > 0.0 {
            let v = places(j).map(|i| p[i]);
            for triangle in [[0, 1, 2], [1, 0, 3]] {
                let [a, b, c] = triangle.map(|i| corners[i]);
                let [va, vb, vc] = triangle.map(|i| v[i]);
                let n0 = (b - a).cross(c - a).length();
                let n1 = ((vb - va).cross(c - a) + (b - a).cross(vc - va)).length();
                let n2 = (vb - va).cross(vc - va).length();
                let velocity = n1 + 2.0 * rest * n2;
                if velocity > 0.0 {
                    step = step.min(0.5 * n0 / velocity);
                    speed += 2.0 * share * velocity / n0;
                }
            }
        }
        if speed > 0.0 {
            step = step.min(left / speed);
        }
        t += step;
        if t >= end {
            return end;
        }
        if step < 1e-3 * t || step.is_nan() {
            break;
        }
    }
    t
}
