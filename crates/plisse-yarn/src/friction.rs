//! Friction of yarns that slide at their crossings.
//!
//! Each arc length `u` that may change has an anchor `a` where it sticks. The force is a spring
//! `-k (u - a)` up to the limit `F = μ N`; beyond it the anchor follows. With the anchor of the
//! start of a step this is the gradient of Huber's function, which is convex:
//!
//! ```text
//! ½ k s²            for |s| ≤ F/k,   s = u - a
//! F |s| - F²/(2 k)  beyond
//! ```
//!
//! The normal force `N` of a crossing is the force with which the weave presses it together, and
//! what stretch and bending of its two yarns add along the normal of the cloth, as they are at the
//! start of the step.

use glam::DVec3;
use plisse_core::{Field, Id, Psd, StepEnergy, Vertices};
use plisse_sparse::parallel::fill;
use plisse_system::{Gradient, Memory, Pose, Role, Sink, StepMap, Term, Unknown};

use crate::bend::Bend;
use crate::element::{ArcLength, YarnElement};
use crate::stretch::Stretch;

/// A crossing where yarns rub.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rub {
    pub(crate) node: Id<Vertices>,
    /// Neighbours on the warp yarn and on the weft yarn.
    pub(crate) neighbours: [[Id<Vertices>; 2]; 2],
    /// 1 where the warp yarn is on top, else -1.
    pub(crate) side: f64,
    /// Arc lengths of warp and weft that may change.
    pub(crate) arcs: [Option<u32>; 2],
}

/// What pulls at the nodes of a family of yarns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pulls {
    pub(crate) stretches: Vec<Stretch>,
    pub(crate) bends: Vec<Bend>,
}

/// Friction of all crossings of a patch.
#[derive(Clone, Debug)]
pub(crate) struct FrictionTerm {
    pub(crate) name: String,
    pub(crate) owner: String,
    pub(crate) rubs: Vec<Rub>,
    pub(crate) pulls: [Pulls; 2],
    /// Coefficient.
    pub(crate) friction: f64,
    /// N/m.
    pub(crate) stick: f64,
    /// N.
    pub(crate) press: f64,
    /// Place of the first anchor among the own unknowns; that of arc length `k` is `k` later.
    pub(crate) anchors: u32,
}

/// Limits `μ N` of the crossings, in newtons.
#[derive(Clone, Debug, Default)]
struct Limits(Vec<f64>);

impl FrictionTerm {
    /// Largest friction of each crossing, N.
    pub(crate) fn limits(&self, x: &Field<Vertices, DVec3>, own: &[f64]) -> Vec<f64> {
        let forces = self.pulls.each_ref().map(|pulls| forces(pulls, x, own));
        let limit = |rub: &Rub| {
            let [warp, weft] = rub.neighbours.map(|[before, after]| x[after] - x[before]);
            let up = warp.cross(weft).normalize_or_zero() * rub.side;
            // What the lower yarn pushes up, and the upper one down; half of each.
            let pressed = 0.5 * (forces[1][rub.node] - forces[0][rub.node]).dot(up);
            self.friction * (self.press + pressed).max(0.0)
        };
        let mut limits = Vec::new();
        fill(&self.rubs, &mut limits, limit);
        limits
    }

    /// The limits of the step, from the memory or computed now; none outside of a step.
    fn with<T>(&self, pose: &Pose<'_, Vertices>, work: impl FnOnce(Option<&[f64]>) -> T) -> T {
        let Some(step) = &pose.step else { return work(None) };
        match step.memory.and_then(|memory| memory.get::<Limits>()) {
            Some(limits) => work(Some(&limits.0)),
            None => {
                // An equilibrium outside of a solver: what the pose itself says.
                let own = if step.own.is_empty() { pose.own } else { step.own };
                work(Some(&self.limits(step.start, own)))
            }
        }
    }

    /// Every arc length that rubs, with its anchor and its limit; outside of a step it sticks.
    fn each<'a>(&'a self, limits: Option<&'a [f64]>) -> impl Iterator<Item = (usize, usize, f64)> + 'a {
        self.rubs.iter().enumerate().flat_map(move |(i, rub)| {
            let limit = limits.map_or(f64::INFINITY, |limits| limits[i]);
            rub.arcs.into_iter().flatten().map(move |k| (k as usize, (self.anchors + k) as usize, limit))
        })
    }

    fn one(&self, way: f64, limit: f64) -> Huber {
        let k = self.stick;
        if k * way.abs() <= limit {
            let energy = StepEnergy::of_storage(0.5 * k * way * way);
            return Huber { energy, force: k * way, stiffness: k, left: way };
        }
        let left = (limit / k).copysign(way);
        let stored = 0.5 * limit * (limit / k);
        let lost = limit * (way.abs() - limit / k);
        let energy = StepEnergy { potential: stored + lost, stored, dissipated: lost };
        Huber { energy, force: limit.copysign(way), stiffness: 0.0, left }
    }
}

/// A sliding contact at a distance from its anchor.
struct Huber {
    energy: StepEnergy,
    force: f64,
    stiffness: f64,
    /// Distance from the anchor after it has followed.
    left: f64,
}

/// Forces of stretch and bending on all nodes.
fn forces(pulls: &Pulls, x: &Field<Vertices, DVec3>, own: &[f64]) -> Field<Vertices, DVec3> {
    let mut out = Field::filled(x.len(), DVec3::ZERO);
    add_forces(&pulls.stretches, x, own, &mut out);
    add_forces(&pulls.bends, x, own, &mut out);
    out
}

fn add_forces<E: YarnElement<V, O, N>, const V: usize, const O: usize, const N: usize>(
    elements: &[E],
    x: &Field<Vertices, DVec3>,
    own: &[f64],
    out: &mut Field<Vertices, DVec3>,
) {
    for element in elements {
        let (nodes, arcs) = (element.nodes(), element.arcs());
        let q: [f64; N] = std::array::from_fn(|i| match i.checked_sub(3 * V) {
            None => x[nodes[i / 3]][i % 3],
            Some(k) => match arcs[k] {
                ArcLength::Free(k) => own[k as usize],
                ArcLength::Held(value) => value,
            },
        });
        let (_, g) = element.gradient(&q, None);
        for (i, node) in nodes.into_iter().enumerate() {
            out[node] -= DVec3::new(g[3 * i], g[3 * i + 1], g[3 * i + 2]);
        }
    }
}

impl Term<Vertices> for FrictionTerm {
    fn name(&self) -> &str {
        &self.name
    }

    fn role(&self) -> Role {
        Role::Elastic
    }

    fn shares_own(&self) -> Option<&str> {
        Some(&self.owner)
    }

    fn pattern(&self, pair: &mut dyn FnMut(Unknown<Vertices>, Unknown<Vertices>)) {
        for (arc, anchor, _) in self.each(None) {
            for k in [arc, anchor] {
                pair(Unknown::Own(k as u32), Unknown::Own(k as u32));
            }
        }
    }

    fn energy(&self, pose: &Pose<'_, Vertices>) -> f64 {
        self.with(pose, |limits| {
            let one =
                |(arc, anchor, limit)| self.one(pose.own[arc] - pose.own[anchor], limit).energy.potential;
            self.each(limits).map(one).sum()
        })
    }

    fn add_gradient(&self, pose: &Pose<'_, Vertices>, gradient: &mut Gradient<'_, Vertices>) {
        self.energy_and_add_gradient(pose, gradient);
    }

    /// Anchors stay during a step: the derivative by them counts as zero.
    fn energy_and_add_gradient(
        &self,
        pose: &Pose<'_, Vertices>,
        gradient: &mut Gradient<'_, Vertices>,
    ) -> StepEnergy {
        self.with(pose, |limits| {
            let mut total = StepEnergy::default();
            for (arc, anchor, limit) in self.each(limits) {
                let one = self.one(pose.own[arc] - pose.own[anchor], limit);
                gradient.own[arc] += one.force;
                total = total + one.energy;
            }
            total
        })
    }

    /// The diagonal entry of an anchor says only that it stays.
    fn add_hessian(&self, pose: &Pose<'_, Vertices>, _: Psd, sink: &mut Sink<'_>) {
        self.with(pose, |limits| {
            for (i, (arc, anchor, limit)) in self.each(limits).enumerate() {
                let one = self.one(pose.own[arc] - pose.own[anchor], limit);
                sink.add_block(2 * i, &[[one.stiffness]]);
                sink.add_block(2 * i + 1, &[[self.stick]]);
            }
        });
    }

    fn remember(&self, step: &StepMap<'_, Vertices>, memory: &mut Memory) {
        memory.keep(Limits(self.limits(step.start, step.own)));
    }

    fn settle(&self, pose: &Pose<'_, Vertices>, own: &mut [f64]) {
        self.with(pose, |limits| {
            for (arc, anchor, limit) in self.each(limits) {
                let way = pose.own[arc] - pose.own[anchor];
                if self.stick * way.abs() > limit {
                    own[anchor] = pose.own[arc] - self.one(way, limit).left;
                }
            }
        });
    }
}
