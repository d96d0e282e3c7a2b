//! The force that keeps vertices out of an obstacle.

use std::ops::Range;
use std::sync::Arc;

use glam::DVec3;
use plisse_core::{Field, Id, Psd, StepEnergy, Vertices, outer};
use plisse_system::{Clearance, Gradient, Pose, Role, Sink, Term, Unknown, Way};

use super::{Distance, Obstacle};

/// A vertex that contact acts on.
#[derive(Clone, Copy, Debug)]
pub(in crate::scene) struct Toucher {
    pub(in crate::scene) vertex: Id<Vertices>,
    /// The area that it stands for, m².
    pub(in crate::scene) area: f64,
    /// Thickness around it, m.
    pub(in crate::scene) radius: f64,
    /// Gap at which contact begins, m.
    pub(in crate::scene) range: f64,
}

/// How the pressure grows as the gap closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::scene) enum ContactLaw {
    /// Without bound: nothing gets through.
    Barrier,
    /// To a finite pressure at the surface and on inside: for equilibria that start inside.
    Penalty,
}

/// Energy `Σᵢ Aᵢ p rᵢ φ(dᵢ)` over the vertices with a gap `gᵢ < rᵢ`, where `A` is the area of a
/// vertex, `p` the pressure scale, `r` the range and `d = 1 - g/r`. The [`ContactLaw`] gives `φ`:
/// `-ln(1 - d) - d - d²/2` of the barrier, `d³/3` of the penalty. Both agree for light contact, and
/// both have continuous second derivatives.
pub(in crate::scene) struct ContactTerm {
    name: String,
    obstacle: Obstacle,
    law: ContactLaw,
    touchers: Arc<[Toucher]>,
    /// Vertices that pins hold, and their thickness: contact cannot move them, but somebody may
    /// want to know.
    held: Vec<(Id<Vertices>, f64)>,
    names: Names,
}

/// What messages call things.
#[derive(Clone, Debug, Default)]
pub(in crate::scene) struct Names {
    /// The obstacle.
    pub(in crate::scene) obstacle: String,
    /// The bodies, with their vertices among all.
    pub(in crate::scene) bodies: Vec<(String, Range<usize>)>,
}

impl Names {
    /// A vertex, counted from the first of its body.
    fn vertex(&self, vertex: Id<Vertices>) -> String {
        let index = vertex.index();
        match self.bodies.iter().find(|(_, vertices)| vertices.contains(&index)) {
            Some((body, vertices)) => format!("vertex {} of {body}", index - vertices.start),
            None => format!("vertex {index}"),
        }
    }
}

impl ContactTerm {
    pub(in crate::scene) fn new(
        name: String,
        obstacle: Obstacle,
        law: ContactLaw,
        touchers: Arc<[Toucher]>,
    ) -> Self {
        Self { name, obstacle, law, touchers, held: Vec::new(), names: Names::default() }
    }

    /// Also watches vertices that are held.
    pub(in crate::scene) fn watching(self, held: Vec<(Id<Vertices>, f64)>) -> Self {
        Self { held, ..self }
    }

    /// Calls things by these names.
    pub(in crate::scene) fn naming(self, names: Names) -> Self {
        Self { names, ..self }
    }

    /// The vertices in contact, by their place in the list.
    fn touching<'a>(
        &'a self,
        pose: &'a Pose<'_, Vertices>,
    ) -> impl Iterator<Item = (usize, &'a Toucher, Distance)> + 'a {
        self.touchers.iter().enumerate().filter_map(|(index, toucher)| {
            let distance = self.obstacle.touch(pose.time, pose.x[toucher.vertex], toucher)?;
            Some((index, toucher, distance))
        })
    }

    /// Energy, slope and curvature by the gap.
    fn law(&self, toucher: &Toucher, gap: f64) -> [f64; 3] {
        law(&self.obstacle, self.law, toucher, gap)
    }
}

/// A gap below this part of the range, or none, is taken for this part where a force must be given.
const SMALLEST_GAP: f64 = 1e-12;
/// Below this depth the barrier is summed as a series: the logarithm would cancel.
const SHALLOW: f64 = 0.1;

/// Energy, slope and curvature of contact by the gap.
pub(super) fn law(obstacle: &Obstacle, law: ContactLaw, toucher: &Toucher, gap: f64) -> [f64; 3] {
    let (range, scale) = (toucher.range, toucher.area * obstacle.contact.stiffness.get());
    let d = (1.0 - gap / range).max(0.0);
    match law {
        ContactLaw::Penalty => {
            let force = scale * d * d;
            [force * d * range / 3.0, -force, 2.0 * scale * d / range]
        }
        ContactLaw::Barrier => {
            let y = (gap / range).max(SMALLEST_GAP);
            let energy = if gap <= 0.0 {
                f64::INFINITY
            } else if d < SHALLOW {
                // d³/3 + d⁴/4 + …
                let series = (3..16).rev().fold(0.0, |sum, k| sum * d + 1.0 / f64::from(k));
                series * d * d * d
            } else {
                -y.ln() - d - 0.5 * d * d
            };
            [scale * range * energy, -scale * d * d / y, scale / range * d * (2.0 - d) / (y * y)]
        }
    }
}

impl Term<Vertices> for ContactTerm {
    fn name(&self) -> &str {
        &self.name
    }

    fn role(&self) -> Role {
        Role::Elastic
    }

    fn depends_on_time(&self) -> bool {
        self.obstacle.moves()
    }

    fn pattern(&self, pair: &mut dyn FnMut(Unknown<Vertices>, Unknown<Vertices>)) {
        for toucher in &*self.touchers {
            pair(toucher.vertex.into(), toucher.vertex.into());
        }
    }

    fn energy(&self, pose: &Pose<'_, Vertices>) -> f64 {
        self.touching(pose).map(|(_, toucher, d)| self.law(toucher, d.value)[0]).sum()
    }

    fn add_gradient(&self, pose: &Pose<'_, Vertices>, gradient: &mut Gradient<'_, Vertices>) {
        for (_, toucher, d) in self.touching(pose) {
            gradient[toucher.vertex] += d.gradient * self.law(toucher, d.value)[1];
        }
    }

    fn energy_and_add_gradient(
        &self,
        pose: &Pose<'_, Vertices>,
        gradient: &mut Gradient<'_, Vertices>,
    ) -> StepEnergy {
        let each = self.touching(pose).map(|(_, toucher, d)| {
            let [energy, slope, _] = self.law(toucher, d.value);
            gradient[toucher.vertex] += d.gradient * slope;
            energy
        });
        StepEnergy::of_storage(each.sum())
    }

    /// The two parts act in directions at right angles, so that each is projected by itself. The
    /// curvature of the surface counts with the sign of the force: around a convex body it is the
    /// negative part.
    fn add_hessian(&self, pose: &Pose<'_, Vertices>, psd: Psd, sink: &mut Sink<'_>) {
        for (index, toucher, d) in self.touching(pose) {
            let [_, slope, curvature] = self.law(toucher, d.value);
            let trace = d.hessian.x_axis.x + d.hessian.y_axis.y + d.hessian.z_axis.z;
            let around = if trace == 0.0 { 0.0 } else { psd.apply(slope * trace) / trace };
            let block = outer(d.gradient * curvature, d.gradient) + d.hessian * around;
            sink.add(index, &block);
        }
    }

    fn longest_step(&self, pose: &Pose<'_, Vertices>, to: &Pose<'_, Vertices>) -> f64 {
        if self.law == ContactLaw::Penalty {
            return f64::INFINITY;
        }
        let free = self.touchers.iter().map(|toucher| {
            let path = [pose.x[toucher.vertex], to.x[toucher.vertex]];
            let [from, to] = path.map(|x| self.obstacle.to_local(pose.time, x));
            self.obstacle.free_path(pose.time, from, to, toucher.radius)
        });
        free.fold(f64::INFINITY, f64::min)
    }

    /// Seen from the obstacle, which may move, a vertex goes straight from where it was to where it
    /// is guessed to be, as far as nothing is in the way. Where the obstacle turns far or changes
    /// its direction, piece by piece.
    fn admit(&self, way: &Way<'_, Vertices>, guess: &mut Field<Vertices, DVec3>) {
        if self.law == ContactLaw::Penalty {
            return;
        }
        let Way { start, from, time, .. } = *way;
        let times = self.obstacle.motion.pieces(from, time);
        for toucher in &*self.touchers {
            let guess = &mut guess[toucher.vertex];
            let mut here = start[toucher.vertex];
            for piece in times.windows(2) {
                let goes_to = here.lerp(*guess, (piece[1] - piece[0]) / (time - piece[0]));
                let was = self.obstacle.to_local(piece[0], here);
                let goes = self.obstacle.to_local(piece[1], goes_to);
                let free = self.obstacle.free_path(piece[1], was, goes, toucher.radius);
                if free < 1.0 {
                    here = self.obstacle.to_world(piece[1], was.lerp(goes, free));
                    // What was in the way stays there: it is not predicted to go on.
                    *guess = here;
                } else {
                    here = goes_to;
                }
            }
        }
    }

    fn is_reachable(&self, way: &Way<'_, Vertices>, guess: &Field<Vertices, DVec3>) -> bool {
        let Way { start, from, time, .. } = *way;
        self.law == ContactLaw::Penalty
            || self.touchers.iter().all(|toucher| {
                let was = self.obstacle.to_local(from, start[toucher.vertex]);
                let goes = self.obstacle.to_local(time, guess[toucher.vertex]);
                self.obstacle.is_free(time, was, goes, toucher.radius)
            })
    }

    /// The straight path, seen from the obstacle, goes through it and comes out where the surface
    /// faces another way. Within one long step a vertex could slide around a thin rod that would
    /// hold it in several.
    fn crossed(&self, way: &Way<'_, Vertices>, end: &Field<Vertices, DVec3>) -> Option<Id<Vertices>> {
        let Way { start, from, time, .. } = *way;
        if self.law == ContactLaw::Penalty {
            return None;
        }
        let has_crossed = |toucher: &&Toucher| {
            let was = self.obstacle.to_local(from, start[toucher.vertex]);
            let is = self.obstacle.to_local(time, end[toucher.vertex]);
            // Most are far away and need no directions.
            !self.obstacle.is_free(time, was, is, toucher.radius) && self.obstacle.turns_round(time, was, is)
        };
        self.touchers.iter().find(has_crossed).map(|toucher| toucher.vertex)
    }

    fn clearance(&self, pose: &Pose<'_, Vertices>) -> Option<Clearance<Vertices>> {
        let gaps = self.touching(pose).map(|(_, toucher, d)| (toucher.vertex, d.value));
        let closest = gaps.min_by(|a, b| a.1.total_cmp(&b.1));
        let depth =
            |(v, radius): &(Id<Vertices>, f64)| radius - self.obstacle.distance(pose.time, pose.x[*v]).value;
        let held_depth = self.held.iter().map(depth).fold(0.0, f64::max);
        let (node, gap) = match closest {
            // The penalty lets vertices in, and says so as pressure.
            Some((node, gap)) if self.law == ContactLaw::Barrier => (node, gap),
            _ => (self.held.first().filter(|_| held_depth > 0.0)?.0, f64::INFINITY),
        };
        let parts = [self.names.vertex(node), self.names.obstacle.clone()];
        Some(Clearance { node, gap, parts, place: pose.x[node], held_depth })
    }

    /// The force on the vertices at the end times the displacement of the surface that pushes them.
    fn work(&self, start: &Pose<'_, Vertices>, end: &Pose<'_, Vertices>) -> f64 {
        let each = self.touching(end).map(|(_, toucher, d)| {
            let x = end.x[toucher.vertex];
            let was = self.obstacle.to_world(start.time, self.obstacle.to_local(end.time, x));
            -self.law(toucher, d.value)[1] * d.gradient.dot(x - was)
        });
        each.sum()
    }
}
