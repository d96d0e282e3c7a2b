//! Pairs that were near not long ago: as long as nothing has come much closer, lists are made of
//! them, and not of all that there is.
//!
//! What is kept holds every pair up to some distance of where it was made. A pair that is not kept
//! can only matter after it has come closer by what was searched in addition. The distance of two
//! parts changes by no more than their vertices move against each other, and of that only by what
//! is no common turn: [groups of nodes](crate::groups) tell, also where a sheet swings by an edge
//! in every step.

use glam::DVec3;
use plisse_core::Id;
use plisse_sparse::parallel::filter_map;

use crate::groups::{Groups, Question, Shapes};
use crate::list::{Apart, Radii, Raw, collect};
use crate::model::{Model, Place};

/// Pairs of bodies with each other, and of bodies with obstacles, which move in their own ways.
#[derive(Default)]
pub(crate) struct Neighbours {
    own: Option<Found>,
    solid: Option<Found>,
    groups: Option<Groups>,
}

/// Everything within a radius of somewhere.
struct Found {
    which: Which,
    /// Pairs, how far they were from each other, and by how much their surfaces were beyond the
    /// range of contact, m.
    pairs: Vec<(Raw, Apart, f64)>,
    nodes: Vec<DVec3>,
    solids: Vec<DVec3>,
    radius: f64,
    /// Where groups of nodes were; none of pairs with obstacles.
    shapes: Option<Shapes>,
    /// How many lists were made of it.
    lists: u32,
}

/// What is searched in addition, in mean edges, so that the next lists need no search.
const SLACK: f64 = 0.1;
/// Lists for which that must be enough, to be worth it. One is: most steps make two lists, at their
/// start and where they are expected to end, and the start of a step is about where the last one
/// was expected to end. That makes one search for two lists.
const WORTH: f64 = 1.0;

/// Which pairs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Own,
    Solid,
}

impl Which {
    /// The one of two radii that counts for these pairs.
    fn of(self, radii: &Radii) -> f64 {
        match self {
            Self::Own => radii.own,
            Self::Solid => radii.solid,
        }
    }

    /// How much closer two parts may have come when everything has moved so far: both parts move,
    /// and of obstacles the radius counts both.
    fn approach(self, moved: f64) -> f64 {
        match self {
            Self::Own => 2.0 * moved,
            Self::Solid => moved,
        }
    }
}

impl Neighbours {
    /// All pairs that are in a list with these radii, and few more, in ascending order, each with
    /// its distance if that is known.
    pub(crate) fn within(
        &mut self,
        model: &Model,
        at: &Place<'_>,
        radii: &Radii,
    ) -> Vec<(&Raw, Option<Apart>)> {
        let groups = self.groups.get_or_insert_with(|| Groups::new(model));
        let mut raw = near(&mut self.own, Which::Own, model, groups, at, radii);
        if !model.solids.is_empty() {
            raw.extend(near(&mut self.solid, Which::Solid, model, groups, at, radii));
            // Two ascending runs, which a stable sort merges.
            raw.sort_by_key(|(raw, _)| raw.key());
        }
        raw
    }

    /// Whether it is certain that no pair comes within the largest range on straight ways from one
    /// place to another, all at constant speed.
    ///
    /// On such ways, the ways from where pairs were found change linearly. How far vertices have
    /// moved against each other is a convex function of these, and nowhere larger than at one of
    /// the ends.
    pub(crate) fn is_clear(&self, model: &Model, from: &Place<'_>, to: &Place<'_>) -> bool {
        let Some(groups) = &self.groups else { return false };
        // Comparisons below say nothing about what is no number.
        if !to.nodes.iter().chain(to.solids).all(|x| x.is_finite()) {
            return false;
        }
        let is_clear = |found: &Option<Found>| {
            found.as_ref().is_some_and(|found| found.is_clear(model, groups, from, to))
        };
        is_clear(&self.own) && (model.solids.is_empty() || is_clear(&self.solid))
    }
}

fn near<'a>(
    kept: &'a mut Option<Found>,
    which: Which,
    model: &Model,
    groups: &Groups,
    at: &Place<'_>,
    radii: &Radii,
) -> Vec<(&'a Raw, Option<Apart>)> {
    let wanted = which.approach(which.of(radii));
    let mut slack = SLACK * model.edge;
    let mut moved = None;
    if let Some(found) = kept {
        let all = found.largest_way(&[at]);
        let approach = found.approach(model, groups, &[at], all, wanted);
        if approach + wanted <= which.approach(found.radius) {
            found.lists += 1;
            moved = Some(all);
        } else if WORTH * approach > which.approach(slack) * f64::from(found.lists) {
            slack = 0.0;
        }
    }
    if moved.is_none() {
        *kept = None;
    }
    let found = kept.get_or_insert_with(|| Found::new(which, model, groups, at, which.of(radii) + slack));
    found.select(at, moved, wanted)
}

/// Room for rounding.
const ROOM: f64 = 1.0 + 1e-6;

impl Found {
    fn new(which: Which, model: &Model, groups: &Groups, at: &Place<'_>, radius: f64) -> Self {
        let laws = &model.laws;
        let gap = laws.largest_range();
        let around = match which {
            Which::Own => radius * ROOM,
            Which::Solid => 0.5 * radius * ROOM,
        };
        let near = model.phase().near(&at.field(), gap, around, |a, b| {
            laws.is_obstacle(b) == (which == Which::Solid) && laws.meet(a, b)
        });
        let mut raw = Vec::with_capacity(near.pairs().len());
        collect(model, near.pairs(), &mut raw);
        raw.sort_by_key(Raw::key);
        raw.dedup_by_key(|raw| raw.key());
        let reach = which.approach(radius * ROOM);
        let rated = |(_, raw): (usize, &Raw)| {
            let apart = raw.apart(at);
            let beyond = model.beyond(raw, &apart);
            (beyond <= reach).then_some((*raw, apart, beyond))
        };
        let pairs = filter_map(&raw, rated);
        let shapes = match which {
            Which::Own => Some(groups.shapes(at.nodes)),
            Which::Solid => None,
        };
        let (nodes, solids) = (at.nodes.to_vec(), at.solids.to_vec());
        Self { which, pairs, nodes, solids, radius, shapes, lists: 1 }
    }

    fn place(&self) -> Place<'_> {
        Place { nodes: &self.nodes, solids: &self.solids }
    }

    /// How much closer two parts may have come at any of these places, or on straight ways between
    /// them, by how far anything has moved, m.
    fn largest_way(&self, places: &[&Place<'_>]) -> f64 {
        let moved = places.iter().map(|at| self.which.of(&Radii::between(&self.place(), at)));
        self.which.approach(moved.fold(0.0, f64::max))
    }

    /// The same of two parts that are not kept, by how groups have deformed; no more than `all`, as
    /// [`Self::largest_way`] says. Where all of them are farther apart than is wanted, the answer
    /// may be anything that says so.
    fn approach(&self, model: &Model, groups: &Groups, places: &[&Place<'_>], all: f64, wanted: f64) -> f64 {
        let beyond = self.which.approach(self.radius);
        let Some(shapes) = self.shapes.as_ref().filter(|_| all + wanted > beyond) else { return all };
        let question = Question {
            beyond,
            touch: 2.0 * thickest(model) + model.laws.largest_range(),
            enough: (beyond - wanted) / (ROOM * ROOM),
            meet: &|a, b| model.laws.meet(a, b),
        };
        let nodes: Vec<&[DVec3]> = places.iter().map(|place| place.nodes).collect();
        all.min(groups.approach(shapes, &self.nodes, &nodes, &question) * ROOM)
    }

    /// Pairs that can be as close as is wanted, with what is known of them if nothing has moved
    /// since. `moved` is by how much any pair may have come closer.
    fn select(&self, at: &Place<'_>, moved: Option<f64>, wanted: f64) -> Vec<(&Raw, Option<Apart>)> {
        let Some(moved) = moved else {
            let reach = wanted * ROOM;
            let near = self.pairs.iter().filter(|(_, _, beyond)| *beyond <= reach);
            return near.map(|(raw, apart, _)| (raw, Some(*apart))).collect();
        };
        let (limit, ways) = ((moved + wanted) * ROOM, self.ways(at));
        let is_near = |raw: &Raw, beyond: f64| {
            // Few need more than the bound of all.
            beyond <= limit && beyond <= (wanted + raw.reach(&ways)) * ROOM
        };
        filter_map(&self.pairs, |(_, (raw, _, beyond))| is_near(raw, *beyond).then_some((raw, None)))
    }

    /// Ways of all vertices from where pairs were found.
    fn ways(&self, at: &Place<'_>) -> Vec<DVec3> {
        let to = at.nodes.iter().chain(at.solids);
        to.zip(self.nodes.iter().chain(&self.solids)).map(|(to, from)| *to - *from).collect()
    }

    fn is_clear(&self, model: &Model, groups: &Groups, from: &Place<'_>, to: &Place<'_>) -> bool {
        let largest = model.laws.largest_range();
        // Pairs are kept by the ranges of their bodies, which may be shorter.
        let wanted = largest - model.laws.smallest_range();
        let all = self.largest_way(&[from, to]);
        let approach = self.approach(model, groups, &[from, to], all, wanted);
        if approach + wanted > self.which.approach(self.radius) {
            return false;
        }
        let [before, after] = [from, to].map(|place| self.ways(place));
        let way: Vec<DVec3> = after.iter().zip(&before).map(|(after, before)| *after - *before).collect();
        self.pairs.iter().all(|(raw, apart, _)| {
            let touch = raw.radius + largest;
            let moved = raw.reach(&before).max(raw.reach(&after));
            apart.distance - moved * ROOM > touch || raw.apart(from).distance - raw.reach(&way) * ROOM > touch
        })
    }
}

/// The largest radius of a body, m.
fn thickest(model: &Model) -> f64 {
    (0..model.nodes as u32).map(|v| model.colliders.vertex_radius(Id::new(v))).fold(0.0, f64::max)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use plisse_collision::Body;
    use plisse_core::{Field, Positive, SplitMix, TriMesh};

    use super::*;
    use crate::builder::Shape;
    use crate::stencil::Kind;
    use crate::term::ContactTerm;
    use crate::touching::Touching;

    fn touching(radius: f64, range: f64) -> Touching {
        Touching {
            radius,
            range: Positive::new(range).unwrap(),
            stiffness: Positive::literal(1e3),
            friction: 0.0,
            slip: Positive::literal(1e-3),
            touches_itself: true,
            neighbours: 0.0,
        }
    }

    fn unit(random: &mut SplitMix) -> DVec3 {
        DVec3::new(random.signed(), random.signed(), random.signed())
    }

    /// Triangles of edges of about one, three to a cluster or all apart, in two bodies with ranges
    /// of their own, a thick line far from them, and a triangle that is an obstacle.
    fn scattered(random: &mut SplitMix, apart: bool) -> ContactTerm {
        let mut x = Vec::new();
        for k in 0..72 {
            let place = [k / 4, k / 2 % 2, k % 2].map(f64::from);
            let middle = match x.len() % 9 {
                _ if apart => DVec3::from(place) * 1.3 - DVec3::new(11.0, 0.0, 0.0),
                0 => unit(random) * DVec3::new(12.0, 2.5, 2.5),
                _ => x[x.len() - 3],
            };
            x.extend((0..3).map(|_| middle + unit(random) * if apart { 0.5 } else { 0.7 }));
        }
        let first_of_line = x.len() as u32;
        x.extend((0..13).map(|k| DVec3::new(2.0 * f64::from(k) - 12.0, 0.0, 25.0) + unit(random) * 0.2));
        let faces: Vec<[u32; 3]> = (0..first_of_line / 3).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
        let mut builder = ContactTerm::builder();
        for (name, own, range) in [("thin", &faces[..36], 0.02), ("other", &faces[36..], 0.05)] {
            let start = own[0][0];
            let local: Vec<[u32; 3]> = own.iter().map(|face| face.map(|v| v - start)).collect();
            let mesh = TriMesh::new(3 * own.len(), &local).unwrap().among(start, x.len());
            builder = builder.cloth(name, mesh, Field::filled(own.len(), 0.5), touching(0.01, range));
        }
        let line = (first_of_line..x.len() as u32 - 1).map(|v| [v, v + 1].map(Id::new)).collect();
        builder = builder.wires("line", line, touching(0.1, 0.03));
        let wall: Vec<DVec3> =
            [[-15.0, -9.0], [15.0, -9.0], [0.0, 9.0]].map(|[x, y]| DVec3::new(x, y, -5.0)).to_vec();
        builder = builder.obstacle(
            "wall",
            Shape::Surface(vec![[0, 1, 2]]),
            wall.len(),
            Arc::new(wall),
            touching(0.0, 0.04),
        );
        // Whatever crosses where it is scattered may.
        let builder = builder.may_start_tangled();
        let start = Field::from_vec(x);
        builder.build("contact", &start, &Field::filled(start.len(), 1.0), |_| false).unwrap()
    }

    /// Every pair of parts that may touch, with how far it is beyond its range and how far its
    /// surfaces are apart.
    fn every_pair(model: &Model, at: &Place<'_>) -> Vec<(Raw, f64, f64)> {
        let laws = &model.laws;
        let everywhere = model.phase().near(&at.field(), 0.0, 1e3, |a, b| laws.meet(a, b));
        let mut raw = Vec::new();
        collect(model, everywhere.pairs(), &mut raw);
        let rate = |raw: &Raw| {
            let apart = raw.apart(at);
            (*raw, model.beyond(raw, &apart), apart.distance - raw.radius)
        };
        raw.iter().map(rate).collect()
    }

    /// Asks for pairs and looks for any that is missing; answers how many there must be.
    fn check(kept: &mut Neighbours, model: &Model, at: &Place<'_>, radii: &Radii) -> usize {
        let found: BTreeSet<(Kind, [u32; 2])> =
            kept.within(model, at, radii).iter().map(|(raw, _)| raw.key()).collect();
        let mut count = 0;
        for (raw, beyond, _) in every_pair(model, at) {
            let is_solid = raw.vertices.iter().any(|v| model.is_solid(*v));
            let wanted = if is_solid { radii.solid } else { 2.0 * radii.own };
            if beyond <= wanted {
                count += 1;
                assert!(found.contains(&raw.key()), "{:?} at {beyond} of {wanted}", raw.key());
            }
        }
        count
    }

    fn radii(random: &mut SplitMix, model: &Model) -> Radii {
        let [own, solid] = [(); 2].map(|()| 0.1 * model.edge * random.signed().abs());
        Radii { own, solid }
    }

    /// Leads a pair that is not kept to where it is wanted, with one part alone, what is around it
    /// or its whole body.
    #[test]
    fn no_pair_comes_near_unseen() {
        let mut tried = 0;
        for seed in 0..12 {
            let mut random = SplitMix::new(seed);
            let contact = scattered(&mut random, seed % 2 == 0);
            let model = &contact.model;
            let (start, solids) = model.start.as_slice().split_at(model.nodes);
            let base = Place { nodes: start, solids };
            let mut pairs = every_pair(model, &base);
            pairs.sort_by(|(_, a, _), (_, b, _)| a.total_cmp(b));
            for _ in 0..30 {
                let mut kept = Neighbours::default();
                check(&mut kept, model, &base, &radii(&mut random, model));
                let radius = kept.own.as_ref().unwrap().radius;
                let far = pairs.partition_point(|(_, beyond, _)| *beyond <= 2.0 * radius * ROOM);
                // The line is far from everything, and nothing near it moves against it.
                let whole = random.signed() > 0.5;
                let is_line = |raw: &Raw| model.colliders.body(Id::new(raw.vertices[0])) == Some(Body(2));
                let mut others = pairs[far..].iter().filter(|(raw, ..)| is_line(raw) || !whole);
                let among = if random.signed() < 0.5 { 40 } else { 1000 };
                let (raw, beyond, _) = *others.nth((random.next_u64() % among) as usize).unwrap();
                if model.is_solid(raw.vertices[0]) || model.is_solid(raw.vertices[3]) {
                    continue;
                }
                let wanted = radii(&mut random, model);
                let normal = raw.kind.nearest(&base.gather(raw.vertices)).normal;
                let way = -normal * (beyond - 2.0 * wanted.own * random.signed().abs());
                let first = &raw.vertices[..raw.kind.vertices()[0]];
                let reach = (1.5 + 1.5 * random.signed()).max(0.0);
                let mut nodes = start.to_vec();
                for (v, x) in nodes.iter_mut().enumerate() {
                    let [own, body] = [raw.vertices[0], v as u32].map(|v| model.colliders.body(Id::new(v)));
                    let is_around = x.distance(base.of(first[0])) < reach;
                    if first.contains(&(v as u32)) || if whole { own == body } else { is_around } {
                        *x += way;
                    }
                }
                tried += check(&mut kept, model, &Place { nodes: &nodes, solids }, &wanted).min(1);
            }
        }
        assert!(tried > 100, "{tried}");
    }

    /// Moves clusters of nodes against others, so that what is not kept comes close, and single
    /// nodes by less.
    fn disturb(random: &mut SplitMix, x: &mut [DVec3], size: f64) {
        let shift = unit(random) * 10.0 * size;
        for _ in 0..6 {
            let pick = |random: &mut SplitMix| (random.next_u64() % x.len() as u64) as usize;
            let (centre, target) = (x[pick(random)], x[pick(random)]);
            let way = (target - centre).normalize_or_zero() * size * (1.0 + random.signed());
            let reach = 2.0 + 1.5 * random.signed();
            x.iter_mut().filter(|x| x.distance(centre) < reach).for_each(|x| *x += way);
        }
        x.iter_mut().for_each(|x| *x += shift + unit(random) * 0.05 * size);
    }

    #[test]
    fn what_is_kept_holds_every_pair_that_comes_near() {
        let (mut reused, mut sharper, mut wanted, mut clear) = (0, 0, 0, 0);
        for seed in 0..20 {
            let mut random = SplitMix::new(seed);
            let contact = scattered(&mut random, seed % 2 == 0);
            let model = &contact.model;
            let (mut nodes, mut solids) = {
                let (nodes, solids) = model.start.as_slice().split_at(model.nodes);
                (nodes.to_vec(), solids.to_vec())
            };
            let mut kept = Neighbours::default();
            // From hardly anything, where pairs are kept for long, to several edges.
            let size = 0.3 * 10f64.powf(1.5 * random.signed() - 1.0);
            for _ in 0..12 {
                let radii = radii(&mut random, model);
                let at = Place { nodes: &nodes, solids: &solids };
                if let (Some(found), Some(groups)) = (&kept.own, &kept.groups) {
                    let all = 2.0 * Radii::between(&found.place(), &at).own;
                    let approach = found.approach(model, groups, &[&at], all, 2.0 * radii.own);
                    sharper += usize::from(approach < 0.9 * all);
                }
                wanted += check(&mut kept, model, &at, &radii);
                reused += usize::from(kept.own.as_ref().unwrap().lists > 1);
                let before = (nodes.clone(), solids.clone());
                disturb(&mut random, &mut nodes, size);
                let fall = unit(&mut random) * size;
                solids.iter_mut().for_each(|x| *x += fall);
                let from = Place { nodes: &before.0, solids: &before.1 };
                if kept.is_clear(model, &from, &Place { nodes: &nodes, solids: &solids }) {
                    clear += 1;
                    for part in 0..=8 {
                        let part = f64::from(part) / 8.0;
                        let lerp = |from: &[DVec3], to: &[DVec3]| -> Vec<DVec3> {
                            from.iter().zip(to).map(|(from, to)| from.lerp(*to, part)).collect()
                        };
                        let (nodes, solids) = (lerp(from.nodes, &nodes), lerp(from.solids, &solids));
                        let at = Place { nodes: &nodes, solids: &solids };
                        for (raw, _, gap) in every_pair(model, &at) {
                            assert!(gap > model.laws.largest_range(), "{:?} at {gap}", raw.key());
                        }
                    }
                }
            }
        }
        // All of it has been tried. Groups are asked only where the largest way is not enough.
        assert!(
            reused > 50 && sharper > 30 && wanted > 1000 && clear > 10,
            "{reused} {sharper} {wanted} {clear}"
        );
    }
}
