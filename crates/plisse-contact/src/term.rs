//! Contact as a term of a system.

use std::borrow::Cow;

use glam::DVec3;
use plisse_collision::{Body, Ccd, ContactPair, PairFilter, Response, ResponseError, ResponseSettings};
use plisse_core::{Blocks, ElementEvaluation, Field, Id, Psd, StepEnergy, Vertices, outer, project_numeric};
use plisse_sparse::parallel::{is_serial, smallest};
use plisse_system::{Clearance, Gradient, Memory, Pose, Role, Sink, StepMap, Term, Unknown, Way};
use rayon::prelude::*;

use crate::builder::{ContactBuilder, Depth};
use crate::friction::{Coulomb, Rubbing};
use crate::impact::Impact;
use crate::list::{List, Pair, Radii, Room, Touch, Touching, mean_way};
use crate::model::{Admitted, Model, Near, Place};

/// Barrier contact with friction between everything that it knows: cloth with cloth and with
/// itself, wires, obstacles.
///
/// Nothing ever passes through anything: every step of the solver ends where continuous collision
/// detection proves the way free, with at least a tenth of each gap left.
pub struct ContactTerm {
    name: String,
    pub(crate) model: Model,
    depth: Option<Depth>,
    response: Response,
    /// One that gives up where contacts are everywhere.
    brief: Response,
}

/// What a step keeps.
#[derive(Default)]
struct Kept {
    list: Option<List>,
    /// Obstacles at the end of the step.
    solids: Vec<DVec3>,
    /// Their velocities, m/s.
    velocities: Vec<DVec3>,
    time: f64,
    rubbing: Vec<Rubbing>,
    impact: Impact,
    /// For the next list.
    room: Room,
}

/// The smallest and largest radius of a list, in mean edges: beyond, nearly all neighbours are
/// pairs.
const RADIUS: [f64; 2] = [0.1, 0.2];
/// Part of a gap that a step of the solver leaves.
const KEPT: f64 = 0.1;
/// Part of a gap that a first guess leaves: nearly all of it, since forces grow fast as gaps close.
const GUESSED: f64 = 0.9;
/// Solves of a step, each with the normal forces of the last.
const PASSES: usize = 2;
/// Relative change of normal forces that is worth another solve.
const CHANGE: f64 = 0.05;

impl ContactTerm {
    /// Nothing yet.
    #[must_use]
    pub fn builder() -> ContactBuilder {
        ContactBuilder::new()
    }

    #[expect(clippy::expect_used, reason = "ranges are in the range of parameters")]
    pub(crate) fn new(name: String, model: Model, depth: Option<Depth>) -> Self {
        let reach = model.laws.largest_range();
        let settings = ResponseSettings { reach, keep: GUESSED, ..ResponseSettings::default() };
        let brief = ResponseSettings { most_contacts: 2 * model.nodes, ..settings };
        let [response, brief] = [settings, brief].map(|settings| Response::new(settings).expect("a range"));
        Self { name, model, depth, response, brief }
    }

    /// A list that covers a pose, that of the step or a new one, and where obstacles are.
    fn at<'a>(&self, pose: &Pose<'a, Vertices>) -> (Cow<'a, [DVec3]>, Listed<'a>) {
        let kept: Option<&Kept> = pose.step.and_then(|step| step.memory).and_then(Memory::get);
        let nodes = pose.x.as_slice();
        if let Some(kept) = kept
            && kept.time.to_bits() == pose.time.to_bits()
            && let Some(list) = &kept.list
        {
            let place = Place { nodes, solids: &kept.solids };
            if list.covers(&list.moved(&place)) {
                return (Cow::Borrowed(&kept.solids), Listed::Kept(list));
            }
        }
        let solids = self.model.solids_at(pose.time, &Near::of(pose));
        let place = Place { nodes, solids: &solids };
        let list = List::new(&self.model, place, Radii::default(), &Impact::default(), None, Room::default());
        (Cow::Owned(solids), Listed::New(list))
    }

    fn kept<'a>(pose: &Pose<'a, Vertices>) -> Option<&'a Kept> {
        pose.step.filter(|step| step.rate > 0.0).and_then(|step| step.memory).and_then(Memory::get)
    }

    /// Contacts that rub, with their tangential velocities.
    fn sliding<'a>(
        &'a self,
        pose: &'a Pose<'_, Vertices>,
    ) -> impl Iterator<Item = (&'a Rubbing, DVec3)> + 'a {
        let kept = Self::kept(pose);
        let rubbing = kept.map_or(&[][..], |kept| &kept.rubbing);
        rubbing.iter().map(move |rubbing| {
            let velocity = |v: u32| {
                let solids = kept.map_or(&[][..], |kept| &kept.velocities);
                match (v as usize).checked_sub(self.model.nodes) {
                    None => pose.velocity(Id::new(v)),
                    Some(solid) => solids[solid],
                }
            };
            let relative: DVec3 = (0..4).map(|i| velocity(rubbing.vertices[i]) * rubbing.weights[i]).sum();
            (rubbing, rubbing.tangential(relative))
        })
    }

    /// Normal forces where everything is here.
    fn rubbing(&self, list: &List, place: &Place<'_>) -> Vec<Rubbing> {
        let rubs = |touch: Touch<'_>| {
            let Touch { pair, nearest, gap } = touch;
            if pair.friction == 0.0 || gap <= 0.0 {
                return None;
            }
            let x = place.gather(pair.vertices);
            let fade = pair.mollifier(&x).map_or(1.0, |mollifier| mollifier.weight(&x));
            let limit = -pair.friction * pair.weight * fade * pair.barrier().evaluate(gap)[1];
            (limit > 0.0).then_some(Rubbing {
                kind: pair.kind,
                parts: pair.parts,
                vertices: pair.vertices,
                weights: nearest.weights,
                normal: nearest.normal,
                limit,
                law: Coulomb { slip: pair.slip },
            })
        };
        list.touching(place).within_range().filter_map(rubs).collect()
    }

    /// How far the lists of a step reach: as far as bodies are expected to go.
    fn radii(&self, step: &StepMap<'_, Vertices>, solids_move: f64) -> Radii {
        let [least, most] = RADIUS.map(|part| part * self.model.edge);
        let target = step.inertia.map_or(step.start, |inertia| inertia.target);
        let ways = || target.as_slice().iter().zip(step.start.as_slice()).map(|(to, from)| *to - *from);
        let mean = ways().sum::<DVec3>() / step.start.len().max(1) as f64;
        let own = ways().map(|way| way.distance_squared(mean)).fold(0.0, f64::max).sqrt();
        let all = ways().map(DVec3::length_squared).fold(0.0, f64::max).sqrt();
        Radii { own: (1.5 * own).clamp(least, most), solid: (1.5 * all).max(least) + solids_move }
    }

    /// Whether the straight way from the start of a step to a guess of its end is free, obstacles
    /// included. None if the list of the step does not reach as far.
    fn is_free_by_list(&self, way: &Way<'_, Vertices>, from: &Place<'_>, to: &Place<'_>) -> Option<bool> {
        let kept: Option<&Kept> = way.memory.and_then(Memory::get);
        let list = kept?.list.as_ref()?;
        let covers = [from, to].iter().all(|place| list.covers(&list.moved(place)));
        covers.then(|| self.share_between(list, from, to) >= 1.0)
    }

    /// The common motion that is taken off before a first guess is mended; none if it is short.
    fn shift_of_response(&self, from: &Place<'_>, to: &Place<'_>) -> DVec3 {
        let shift = mean_way(from.nodes, to.nodes);
        if shift.length() <= self.response.settings().reach { DVec3::ZERO } else { shift }
    }

    /// The share of a straight way along which all pairs keep a part of their gaps.
    fn share_between(&self, list: &List, from: &Place<'_>, to: &Place<'_>) -> f64 {
        let ccd = Ccd::with_levels(10);
        let (moved, ways) = (list.moved(from), Radii::between(from, to));
        let one = |pair: &Pair| {
            let closest = pair.distance - pair.approach(&moved) - pair.approach(&ways);
            if closest > pair.offset + KEPT * pair.range {
                return 1.0;
            }
            let [a, b] = [from, to].map(|place| place.gather(pair.vertices));
            let nearest = pair.kind.nearest(&a);
            let gap = nearest.distance - pair.offset;
            let separation = pair.offset + KEPT * gap.min(pair.range).max(0.0);
            let way: [DVec3; 4] = std::array::from_fn(|i| b[i] - a[i]);
            if nearest.distance - pair.kind.reach(&way) > separation {
                return 1.0;
            }
            pair.kind.time_of_contact(ccd, &a, &b, separation).unwrap_or(1.0)
        };
        smallest(&list.pairs, 1.0, one)
    }

    /// Whether nothing touches at the start of a straight way nor anywhere along it, so that
    /// contact has no energy on all of it, whichever list is asked.
    fn is_clear(&self, list: &List, from: &Place<'_>, to: &Place<'_>) -> bool {
        let ccd = Ccd::with_levels(10);
        let stays_apart = |pair: &Pair| {
            let [a, b] = [from, to].map(|place| place.gather(pair.vertices));
            pair.kind.time_of_contact(ccd, &a, &b, pair.offset + pair.range).is_none()
        };
        list.touching(from).within_range().next().is_none()
            && List::along(&self.model, *from, to).pairs.iter().all(stays_apart)
    }

    /// The node of a pair that has most to do with its contact.
    fn node_of(&self, touch: &Touch<'_>) -> Option<Id<Vertices>> {
        let weight = |i: &usize| touch.nearest.weights[*i].abs();
        let nodes =
            (0..touch.pair.kind.vertices()[1]).filter(|i| !self.model.is_solid(touch.pair.vertices[*i]));
        nodes.max_by(|a, b| weight(a).total_cmp(&weight(b))).map(|i| Id::new(touch.pair.vertices[i]))
    }

    /// Of each of the two parts, the vertex that has most to do with their contact, in words.
    fn parts_of(&self, touch: &Touch<'_>) -> [String; 2] {
        let [first, all] = touch.pair.kind.vertices();
        let weight = |i: &usize| touch.nearest.weights[*i].abs();
        [0..first, first..all].map(|range| {
            let start = range.start;
            let vertex = range.max_by(|a, b| weight(a).total_cmp(&weight(b))).unwrap_or(start);
            self.model.name_of(touch.pair.vertices[vertex])
        })
    }

    /// The middle of the gap between the surfaces of two parts, m.
    fn place_of(&self, touch: &Touch<'_>, at: &Place<'_>) -> DVec3 {
        let Touch { pair, nearest, gap } = touch;
        let [first, all] = pair.kind.vertices();
        // The weights of the second part sum to minus one, and the normal points to the first.
        let on_second: DVec3 = (first..all).map(|i| at.of(pair.vertices[i]) * -nearest.weights[i]).sum();
        let radius = self.model.colliders.vertex_radius(Id::new(pair.vertices[first]));
        on_second + nearest.normal * (radius + 0.5 * gap)
    }

    /// Energy and gradient of a touching pair.
    fn force(&self, touch: &Touch<'_>, place: &Place<'_>) -> (f64, [DVec3; 4]) {
        let Touch { pair, nearest, gap } = touch;
        let [energy, slope, _] = pair.barrier().evaluate(*gap).map(|value| value * pair.weight);
        let mut gradient = nearest.weights.map(|c| nearest.normal * (c * slope));
        let x = place.gather(pair.vertices);
        let Some(mollifier) = pair.mollifier(&x) else { return (energy, gradient) };
        let fade = mollifier.evaluate(&x);
        for (sum, fading) in gradient.iter_mut().zip(fade.gradient) {
            *sum = *sum * fade.energy + fading * energy;
        }
        (energy * fade.energy, gradient)
    }

    /// Adds the Hessian of a pair.
    fn add_barrier(&self, touch: &Touch<'_>, place: &Place<'_>, sink: &mut Sink<'_>) {
        let Touch { pair, nearest, gap } = touch;
        let [energy, slope, curvature] = pair.barrier().evaluate(*gap).map(|value| value * pair.weight);
        if curvature <= 0.0 {
            return;
        }
        let normal = nearest.normal;
        let matrix = outer(normal * curvature, normal);
        let x = place.gather(pair.vertices);
        let mollifier = pair.mollifier(&x);
        if mollifier.is_none() && !pair.is_thick() {
            return sink.add_weighted(&nearest.weights, &matrix);
        }
        let hessian = if pair.is_thick() {
            pair.kind.hessian(&x, slope, curvature)
        } else {
            let c = nearest.weights;
            Blocks::<4>(std::array::from_fn(|i| std::array::from_fn(|j| matrix * (c[i] * c[j]))))
        };
        let Some(mollifier) = mollifier else { return sink.add_lower(&hessian.0) };
        let gradient = nearest.weights.map(|c| normal * (c * slope));
        let faded = mollifier.apply(&x, &ElementEvaluation { energy, gradient, hessian });
        let matrix = project_numeric(&faded.hessian.to_matrix::<12>(), Psd::Clamp);
        sink.add_lower(&Blocks::<4>::from_matrix(&matrix).0);
    }

    fn unknown(&self, vertex: u32) -> Unknown<Vertices> {
        if self.model.is_solid(vertex) { Unknown::Held } else { Unknown::Node(Id::new(vertex)) }
    }
}

enum Listed<'a> {
    Kept(&'a List),
    New(List),
}

impl Listed<'_> {
    fn list(&self) -> &List {
        match self {
            Self::Kept(list) => list,
            Self::New(list) => list,
        }
    }
}

/// Blocks of a stencil of four: the lower triangle.
const BLOCKS: usize = 10;
/// Forces that are kept before they are added.
const AT_ONCE: usize = 4096;

/// Every pair that touches or rubs, once, in ascending order: nearly all do both.
fn for_each_stencil(
    touching: &Touching<'_>,
    rubbing: &[Rubbing],
    mut each: impl FnMut(Option<usize>, Option<usize>),
) {
    let mut rest = rubbing.iter().enumerate().peekable();
    for (number, touch) in touching.all().enumerate() {
        let key = touch.pair.key();
        while let Some((rub, _)) = rest.next_if(|(_, rub)| rub.key() < key) {
            each(None, Some(rub));
        }
        let rub = rest.next_if(|(_, rub)| rub.key() == key);
        each(Some(number), rub.map(|(rub, _)| rub));
    }
    rest.for_each(|(rub, _)| each(None, Some(rub)));
}

impl Term<Vertices> for ContactTerm {
    fn name(&self) -> &str {
        &self.name
    }

    fn role(&self) -> Role {
        Role::Elastic
    }

    fn depends_on_time(&self) -> bool {
        self.model.moves()
    }

    fn drives(&self) -> bool {
        self.model.moves()
    }

    fn pattern(&self, _: &mut dyn FnMut(Unknown<Vertices>, Unknown<Vertices>)) {}

    fn pairs(&self, pose: &Pose<'_, Vertices>, pair: &mut dyn FnMut(Unknown<Vertices>, Unknown<Vertices>)) {
        let (solids, listed) = self.at(pose);
        let place = Place { nodes: pose.x.as_slice(), solids: &solids };
        let touching = listed.list().touching(&place);
        let rubbing = Self::kept(pose).map_or(&[][..], |kept| &kept.rubbing);
        for_each_stencil(&touching, rubbing, |touch, rub| {
            let (kind, vertices) = match (touch, rub) {
                (Some(number), _) => {
                    let found = touching.get(number).pair;
                    (found.kind, found.vertices)
                }
                (None, Some(number)) => (rubbing[number].kind, rubbing[number].vertices),
                (None, None) => return,
            };
            let used = kind.vertices()[1];
            let unknowns: [Unknown<Vertices>; 4] =
                std::array::from_fn(|k| if k < used { self.unknown(vertices[k]) } else { Unknown::Held });
            for i in 0..4 {
                for j in 0..=i {
                    pair(unknowns[i], unknowns[j]);
                }
            }
        });
    }

    fn energy(&self, pose: &Pose<'_, Vertices>) -> f64 {
        let (solids, listed) = self.at(pose);
        let place = Place { nodes: pose.x.as_slice(), solids: &solids };
        let touching = listed.list().touching(&place);
        let stored: f64 = touching.within_range().map(|touch| self.force(&touch, &place).0).sum();
        let rate = pose.step.map_or(1.0, |step| step.rate);
        let lost: f64 =
            self.sliding(pose).map(|(r, slip)| r.limit * r.law.evaluate(slip.length())[0] / rate).sum();
        stored + lost
    }

    fn add_gradient(&self, pose: &Pose<'_, Vertices>, gradient: &mut Gradient<'_, Vertices>) {
        self.energy_and_add_gradient(pose, gradient);
    }

    fn energy_and_add_gradient(
        &self,
        pose: &Pose<'_, Vertices>,
        gradient: &mut Gradient<'_, Vertices>,
    ) -> StepEnergy {
        let (solids, listed) = self.at(pose);
        let place = Place { nodes: pose.x.as_slice(), solids: &solids };
        let touching = listed.list().touching(&place);
        let one = |number: usize| {
            let touch = touching.get(number);
            if touch.is_within_range() { self.force(&touch, &place) } else { (0.0, [DVec3::ZERO; 4]) }
        };
        let mut stored = 0.0;
        let mut forces = Vec::new();
        // Few at a time, so that forces are still in the cache when they are added.
        for first in (0..touching.len()).step_by(AT_ONCE) {
            let numbers = first..touching.len().min(first + AT_ONCE);
            if is_serial(numbers.len()) {
                forces.clear();
                forces.extend(numbers.clone().map(one));
            } else {
                numbers.clone().into_par_iter().map(one).collect_into_vec(&mut forces);
            }
            for (number, (energy, force)) in numbers.zip(&forces) {
                let pair = touching.get(number).pair;
                stored += energy;
                for (vertex, force) in pair.vertices[..pair.kind.vertices()[1]].iter().zip(force) {
                    if !self.model.is_solid(*vertex) {
                        gradient[Id::new(*vertex)] += *force;
                    }
                }
            }
        }
        let mut sum = StepEnergy::of_storage(stored);
        let Some(step) = pose.step.filter(|step| step.rate > 0.0) else { return sum };
        let mut potential = 0.0;
        for (rubbing, slip) in self.sliding(pose) {
            let [value, slope, _] = rubbing.law.evaluate(slip.length());
            potential += rubbing.limit * value / step.rate;
            let force = slip * (rubbing.limit * slope);
            for (vertex, weight) in rubbing.vertices.iter().zip(rubbing.weights) {
                if weight != 0.0 && !self.model.is_solid(*vertex) {
                    let node = Id::new(*vertex);
                    gradient[node] += force * weight;
                    sum.dissipated += weight * force.dot(pose.x[node] - step.start[node]);
                }
            }
        }
        sum.potential += potential;
        sum
    }

    /// Gauss-Newton, `ψ'' ∇d ∇dᵀ`, where surfaces are thin: what it leaves out is smaller by the
    /// ratio of distance and edge, and Newton's method converges no worse without. Around a ball
    /// that ratio is large, and a face that turns a little touches it elsewhere: there `ψ' ∇²d`
    /// counts, projected.
    fn add_hessian(&self, pose: &Pose<'_, Vertices>, _: Psd, sink: &mut Sink<'_>) {
        let (solids, listed) = self.at(pose);
        let place = Place { nodes: pose.x.as_slice(), solids: &solids };
        let touching = listed.list().touching(&place);
        let sliding: Vec<(&Rubbing, DVec3)> = self.sliding(pose).collect();
        let rubbing = Self::kept(pose).map_or(&[][..], |kept| &kept.rubbing);
        let mut stencils = Vec::with_capacity(touching.len());
        for_each_stencil(&touching, rubbing, |touch, rub| stencils.push((touch, rub)));
        let rate = pose.step.map_or(0.0, |step| step.rate);
        sink.for_each(BLOCKS, |i, part| {
            let (touch, rub) = stencils[i];
            if let Some(touch) = touch {
                self.add_barrier(&touching.get(touch), &place, part);
            }
            if let Some(rub) = rub {
                let (rubbing, slip) = &sliding[rub];
                let matrix = rubbing.law.hessian(*slip, rubbing.normal) * (rubbing.limit * rate);
                part.add_weighted(&rubbing.weights, &matrix);
            }
        });
    }

    fn remember(&self, _: &StepMap<'_, Vertices>, memory: &mut Memory) {
        let old: Kept = memory.take();
        let room = old.list.map_or(old.room, List::into_room);
        memory.keep(Kept { room, ..Kept::default() });
    }

    fn follow(&self, pose: &Pose<'_, Vertices>, memory: &mut Memory) {
        let Some(step) = pose.step else { return };
        let mut kept: Kept = memory.take();
        let nodes = pose.x.as_slice();
        if let Some(list) = &kept.list {
            let place = Place { nodes, solids: &kept.solids };
            let moved = list.moved(&place);
            if moved.own > 0.5 * list.radii.own || moved.solid > 0.5 * list.radii.solid {
                let room = std::mem::take(&mut kept.room);
                let new = List::new(&self.model, place, list.radii, &kept.impact, Some(list), room);
                kept.room = kept.list.replace(new).map_or_else(Room::default, List::into_room);
            }
        } else {
            kept.time = pose.time;
            let near = Near::of(pose);
            kept.solids = self.model.solids_at(pose.time, &near);
            let moves = self.model.moves() && step.dt.is_finite();
            let before = if moves { self.model.solids_at(near.time, &near) } else { kept.solids.clone() };
            let ways = kept.solids.iter().zip(&before).map(|(to, from)| *to - *from);
            kept.velocities =
                ways.clone().map(|way| if moves { way / step.dt } else { DVec3::ZERO }).collect();
            self.model.begin(&Place { nodes: step.start.as_slice(), solids: &before });
            kept.impact = Impact::new(&step, ways.clone());
            let solids_move = ways.map(DVec3::length_squared).fold(0.0, f64::max).sqrt();
            let place = Place { nodes, solids: &kept.solids };
            let radii = self.radii(&step, solids_move);
            let room = std::mem::take(&mut kept.room);
            let list = List::new(&self.model, place, radii, &kept.impact, None, room);
            if step.rate > 0.0 && self.rubs() {
                let start = Place { nodes: step.start.as_slice(), solids: &before };
                if list.covers(&list.moved(&start)) {
                    kept.rubbing = self.rubbing(&list, &start);
                } else {
                    let none = Radii::default();
                    let at_start = List::new(&self.model, start, none, &kept.impact, None, Room::default());
                    kept.rubbing = self.rubbing(&at_start, &start);
                }
            }
            kept.list = Some(list);
        }
        memory.keep(kept);
    }

    fn refines(&self, memory: &Memory) -> bool {
        memory.get().is_some_and(|kept: &Kept| !kept.rubbing.is_empty())
    }

    fn refine(&self, pose: &Pose<'_, Vertices>, pass: usize, memory: &mut Memory) -> bool {
        if pass >= PASSES || !pose.step.is_some_and(|step| step.rate > 0.0) || !self.rubs() {
            return false;
        }
        let mut kept: Kept = memory.take();
        let mut again = false;
        if let Some(list) = &kept.list {
            let place = Place { nodes: pose.x.as_slice(), solids: &kept.solids };
            let new = self.rubbing(list, &place);
            let total: f64 = new.iter().chain(&kept.rubbing).map(|r| r.limit).sum();
            if change(&kept.rubbing, &new) > 0.5 * CHANGE * total {
                kept.rubbing = new;
                again = true;
            }
        }
        memory.keep(kept);
        again
    }

    fn longest_step(&self, pose: &Pose<'_, Vertices>, to: &Pose<'_, Vertices>) -> f64 {
        let (solids, listed) = self.at(pose);
        let [from, to] = [pose, to].map(|pose| Place { nodes: pose.x.as_slice(), solids: &solids });
        match listed {
            Listed::Kept(list) => {
                let share = list.longest_step(&from, &to);
                // Nothing says how far an equilibrium is: its way may be longer than any list.
                if share < 1.0
                    && pose.step.is_some_and(|step| step.dt.is_infinite())
                    && self.is_clear(list, &from, &to)
                {
                    return 1.0;
                }
                if share <= 0.0 {
                    return 0.0;
                }
                if share > 1.0 {
                    let (moved, ways) = (list.moved(&from), Radii::between(&from, &to));
                    let is_far = |pair: &Pair| {
                        let approach = pair.approach(&moved) + share * pair.approach(&ways);
                        pair.distance - approach > pair.offset + KEPT * pair.range
                    };
                    if list.pairs.iter().all(is_far) {
                        return share;
                    }
                }
                let share = share.min(1.0);
                let end: Vec<DVec3> =
                    from.nodes.iter().zip(to.nodes).map(|(a, b)| a.lerp(*b, share)).collect();
                share * self.share_between(list, &from, &Place { nodes: &end, solids: &solids })
            }
            Listed::New(_) => self.share_between(&List::along(&self.model, from, &to), &from, &to),
        }
    }

    fn admit(&self, way: &Way<'_, Vertices>, guess: &mut Field<Vertices, DVec3>) {
        if guess == way.start && !self.model.moves() {
            return;
        }
        let model = &self.model;
        let [before, after] = model.solids_along(way);
        let from = Place { nodes: way.start.as_slice(), solids: &before };
        self.model.begin(&from);
        let to = Place { nodes: guess.as_slice(), solids: &after };
        if self.is_free_by_list(way, &from, &to) == Some(true) {
            return;
        }
        if self.model.is_clear_between(&from, &to) {
            // As the response leaves it: seen from the bodies on the whole, and back.
            let shift = self.shift_of_response(&from, &to);
            for (guess, held) in guess.as_mut_slice().iter_mut().zip(&model.kinematic) {
                if !held {
                    *guess = (*guess - shift) + shift;
                }
            }
            *self.model.admitted() = Admitted::new(way, guess);
            return;
        }
        let old = from.field();
        let is_led = {
            let mut nodes = from.nodes.iter().zip(to.nodes).zip(&model.kinematic);
            before != after || nodes.any(|((from, to), held)| *held && from != to)
        };
        // Where nothing is led by hand, to rest is a guess, too.
        let response = if is_led { &self.response } else { &self.brief };
        let filter = PairFilter {
            bodies: |a: Body, b: Body| model.laws.meet(a, b),
            pairs: |pair: ContactPair| model.takes_part(pair),
        };
        let respond = |shift: DVec3| {
            let mut new = to.field();
            new.as_mut_slice().iter_mut().for_each(|x| *x -= shift);
            let answer = response.respond(&mut model.phase(), &model.inverse_masses, &filter, &old, &mut new);
            answer.map(|_| (new, shift))
        };
        // Seen from the bodies on the whole a common motion makes no pair. But an obstacle that
        // rests moves then, and may squeeze what lies on it.
        let shift = self.shift_of_response(&from, &to);
        let answer = match respond(shift) {
            Err(ResponseError::Squeezed { .. }) if shift != DVec3::ZERO => respond(DVec3::ZERO),
            answer => answer,
        };
        if let Ok((new, shift)) = answer {
            let new = new.as_slice().iter().zip(&model.kinematic);
            for (guess, (new, held)) in guess.as_mut_slice().iter_mut().zip(new) {
                if !held {
                    *guess = *new + shift;
                }
            }
            *self.model.admitted() = Admitted::new(way, guess);
        }
    }

    fn is_reachable(&self, way: &Way<'_, Vertices>, guess: &Field<Vertices, DVec3>) -> bool {
        if (guess == way.start && !self.model.moves()) || self.model.admitted().is(way, guess) {
            return true;
        }
        let [before, after] = self.model.solids_along(way);
        let from = Place { nodes: way.start.as_slice(), solids: &before };
        self.model.begin(&from);
        let to = Place { nodes: guess.as_slice(), solids: &after };
        self.is_free_by_list(way, &from, &to)
            .unwrap_or_else(|| self.share_between(&List::along(&self.model, from, &to), &from, &to) >= 1.0)
    }

    /// Thin things can be led around each other within one step, where they would hold each other
    /// in several: the straight way goes through, and comes out where the other faces another way.
    fn crossed(&self, way: &Way<'_, Vertices>, end: &Field<Vertices, DVec3>) -> Option<Id<Vertices>> {
        let model = &self.model;
        if !model.has_wires {
            return None;
        }
        let [before, after] = model.solids_along(way);
        let from = Place { nodes: way.start.as_slice(), solids: &before };
        let to = Place { nodes: end.as_slice(), solids: &after };
        let ccd = Ccd::with_levels(10);
        let has_crossed = |pair: &&Pair| {
            let [a, b] = [&from, &to].map(|place| place.gather(pair.vertices));
            let [n, m] = [&a, &b].map(|x| pair.kind.nearest(x).normal);
            n.dot(m) < std::f64::consts::FRAC_1_SQRT_2
                && pair.kind.time_of_contact(ccd, &a, &b, 0.5 * pair.offset).is_some()
        };
        let list = List::along(model, from, &to);
        let crossed = list.pairs.iter().find(has_crossed)?;
        let node = crossed.vertices.iter().find(|v| !model.is_solid(**v))?;
        Some(Id::new(*node))
    }

    fn clearance(&self, pose: &Pose<'_, Vertices>) -> Option<Clearance<Vertices>> {
        let (solids, listed) = self.at(pose);
        let place = Place { nodes: pose.x.as_slice(), solids: &solids };
        let touching = listed.list().touching(&place);
        let closest = touching.within_range().min_by(|a, b| a.gap.total_cmp(&b.gap));
        let held_depth = self.depth.as_ref().map_or(0.0, |depth| depth(pose.time, pose.x));
        match closest {
            Some(closest) => Some(Clearance {
                node: self.node_of(&closest)?,
                gap: closest.gap,
                parts: self.parts_of(&closest),
                place: self.place_of(&closest, &place),
                held_depth,
            }),
            None if held_depth > 0.0 => Some(Clearance {
                node: Id::new(0),
                gap: f64::INFINITY,
                parts: [String::new(), String::new()],
                place: DVec3::ZERO,
                held_depth,
            }),
            None => None,
        }
    }

    /// The force on the vertices of obstacles at the end times their way.
    fn work(&self, start: &Pose<'_, Vertices>, end: &Pose<'_, Vertices>) -> f64 {
        let (solids, listed) = self.at(end);
        let place = Place { nodes: end.x.as_slice(), solids: &solids };
        let before = self.model.solids_at(start.time, &Near::of(end));
        let mut work = 0.0;
        for touch in listed.list().touching(&place).within_range() {
            let (_, gradient) = self.force(&touch, &place);
            for (vertex, force) in
                touch.pair.vertices.iter().zip(gradient).take(touch.pair.kind.vertices()[1])
            {
                if let Some(solid) = (*vertex as usize).checked_sub(self.model.nodes) {
                    work += force.dot(solids[solid] - before[solid]);
                }
            }
        }
        work
    }
}

impl ContactTerm {
    fn rubs(&self) -> bool {
        self.model.laws.bodies.iter().any(|body| body.friction > 0.0)
            || self.model.laws.friction.values().any(|friction| *friction > 0.0)
    }
}

/// The sum of the changes of normal forces; both lists have the order of their pairs.
fn change(old: &[Rubbing], new: &[Rubbing]) -> f64 {
    let mut old = old.iter().peekable();
    let mut sum = 0.0;
    for rub in new {
        while let Some(gone) = old.next_if(|old| old.key() < rub.key()) {
            sum += gone.limit;
        }
        let was = old.next_if(|old| old.key() == rub.key()).map_or(0.0, |old| old.limit);
        sum += (rub.limit - was).abs();
    }
    sum + old.map(|gone| gone.limit).sum::<f64>()
}
