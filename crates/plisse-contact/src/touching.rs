//! How bodies touch, and what two of them make of it.

use std::collections::BTreeMap;

use plisse_collision::Body;
use plisse_core::Positive;

/// How a body touches others and itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touching {
    /// Half of the thickness of a sheet, the radius of a wire, a ball or a rod, m.
    pub radius: f64,
    /// Gap at which contact begins, m. Of two bodies the smaller one counts.
    pub range: Positive,
    /// Pressure at 0.53 of the range, Pa. Of two bodies the smaller one counts, unless one of them
    /// is an obstacle: then that of the obstacle.
    pub stiffness: Positive,
    /// Coefficient of Coulomb friction. Of two bodies the geometric mean counts, unless one of them
    /// is an obstacle: then that of the obstacle.
    pub friction: f64,
    /// Speed below which friction holds instead of sliding, m/s. What should stick creeps at most
    /// this fast. Of two bodies the smaller one counts, of a body and an obstacle that of the
    /// obstacle.
    pub slip: Positive,
    /// Whether parts of it touch each other.
    pub touches_itself: bool,
    /// Parts of it that start closer than this to each other, m, are neighbours and never touch.
    /// Zero for sheets and nets, whose neighbours may come half as close as they start.
    pub neighbours: f64,
}

/// What holds between two bodies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Between {
    pub(crate) range: f64,
    pub(crate) stiffness: f64,
    pub(crate) friction: f64,
    pub(crate) slip: Positive,
}

/// All bodies: those that move by themselves first, then obstacles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Laws {
    pub(crate) bodies: Vec<Touching>,
    /// Number of the first obstacle.
    pub(crate) obstacles: u32,
    /// Coefficients of friction of pairs, the smaller number first.
    pub(crate) friction: BTreeMap<(u32, u32), f64>,
}

impl Laws {
    pub(crate) fn is_obstacle(&self, body: Body) -> bool {
        body.0 >= self.obstacles
    }

    /// Whether two bodies can touch.
    pub(crate) fn meet(&self, a: Body, b: Body) -> bool {
        if a == b {
            !self.is_obstacle(a) && self.bodies[a.0 as usize].touches_itself
        } else {
            !(self.is_obstacle(a) && self.is_obstacle(b))
        }
    }

    pub(crate) fn between(&self, a: Body, b: Body) -> Between {
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        let [p, q] = [a, b].map(|body| &self.bodies[body.0 as usize]);
        let own = self.friction.get(&(a.0, b.0)).copied();
        let friction = own.unwrap_or_else(|| {
            if self.is_obstacle(b) { q.friction } else { (p.friction * q.friction).sqrt() }
        });
        Between {
            range: p.range.get().min(q.range.get()),
            stiffness: if self.is_obstacle(b) {
                q.stiffness.get()
            } else {
                p.stiffness.get().min(q.stiffness.get())
            },
            friction,
            slip: if self.is_obstacle(b) || q.slip < p.slip { q.slip } else { p.slip },
        }
    }

    /// How far apart two parts of this body must start to touch each other, m.
    pub(crate) fn neighbours(&self, body: Body) -> f64 {
        self.bodies[body.0 as usize].neighbours
    }

    /// No pair has a smaller one.
    pub(crate) fn smallest_range(&self) -> f64 {
        self.bodies.iter().map(|body| body.range.get()).fold(f64::MAX, f64::min)
    }

    pub(crate) fn largest_range(&self) -> f64 {
        // No pair has a larger one than the body that is no obstacle.
        self.bodies[..self.obstacles as usize].iter().map(|body| body.range.get()).fold(0.0, f64::max)
    }
}
