//! Pairs that can touch around some positions, with what their contact would be.

use std::sync::{Arc, Mutex, PoisonError};

use glam::DVec3;
use plisse_collision::{Body, EdgeMollifier};
use plisse_core::{Id, Positive};
use plisse_sparse::parallel::{filter_into, filter_map};

use crate::barrier::Barrier;
use crate::impact::Impact;
use crate::model::{Model, Place};
use crate::stencil::{Kind, Nearest};
use crate::weights::weigh;

/// Two parts that can touch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) kind: Kind,
    /// The numbers of the two parts.
    pub(crate) parts: [u32; 2],
    pub(crate) vertices: [u32; 4],
    /// Whether one of them belongs to an obstacle.
    pub(crate) solid: bool,
    /// Whether the closest points lay inside of both when the list was made.
    pub(crate) interior: bool,
    /// Whether that on the second part was one of its corners then.
    pub(crate) at_corner: bool,
    /// The distance then, m.
    pub(crate) distance: f64,
    /// The area that contact acts on, m².
    pub(crate) weight: f64,
    /// The distance at which the surfaces touch, m.
    pub(crate) offset: f64,
    /// Gap at which contact begins, m.
    pub(crate) range: f64,
    /// Pa.
    pub(crate) stiffness: f64,
    pub(crate) friction: f64,
    /// m/s.
    pub(crate) slip: Positive,
    /// Rest lengths of two edges, m.
    pub(crate) lengths: [f64; 2],
}

impl Pair {
    pub(crate) fn key(&self) -> (Kind, [u32; 2]) {
        (self.kind, self.parts)
    }

    #[inline]
    pub(crate) fn barrier(&self) -> Barrier {
        Barrier::raw(self.stiffness, self.range)
    }

    /// How much closer the two parts can be than when the list was made, after everything has
    /// moved so far.
    #[inline]
    pub(crate) fn approach(&self, moved: &Radii) -> f64 {
        ROOM * if self.solid { moved.solid } else { 2.0 * moved.own }
    }

    /// Whether the points that are closest lie far below the surfaces.
    #[inline]
    pub(crate) fn is_thick(&self) -> bool {
        self.offset > self.range
    }

    /// The weight of nearly parallel edges.
    #[inline]
    pub(crate) fn mollifier(&self, x: &[DVec3; 4]) -> Option<EdgeMollifier> {
        if self.kind != Kind::EdgeEdge {
            return None;
        }
        let [a, b] = self.lengths.map(Positive::new);
        let (Ok(a), Ok(b)) = (a, b) else { return None };
        Some(EdgeMollifier::new([a, b])).filter(|mollifier| mollifier.is_active(x))
    }
}

/// A pair that is close, where its points are closest.
#[derive(Clone, Copy)]
pub(crate) struct Touch<'a> {
    pub(crate) pair: &'a Pair,
    pub(crate) nearest: Nearest,
    pub(crate) gap: f64,
}

/// Every pair that can come into its range while nothing moves farther than two radii from where it
/// was, in ascending order.
///
/// Bodies count against each other, so that a common shift of all of them costs nothing; against
/// obstacles they count as they are.
pub(crate) struct List {
    pub(crate) pairs: Vec<Pair>,
    /// Positions of the nodes.
    nodes: Vec<DVec3>,
    solids: Vec<DVec3>,
    pub(crate) radii: Radii,
    /// What was close when it was asked last.
    last: Mutex<Last>,
}

#[derive(Default)]
struct Last {
    close: Option<Arc<Close>>,
    /// For the next one.
    room: Vec<Hit>,
}

/// The pairs that are close at one place, with room.
struct Close {
    nodes: Vec<DVec3>,
    solids: Vec<DVec3>,
    /// Numbers of pairs, where their points are closest, and gaps.
    hits: Vec<Hit>,
}

type Hit = (u32, Nearest, f64);

/// Memory of lists that are no longer used. A hundred thousand pairs are tens of megabytes, which
/// the system would clear for every list.
#[derive(Default)]
pub(crate) struct Room {
    pairs: Vec<Pair>,
    hits: Vec<Hit>,
}

/// Pairs of a list that are close at one place, in ascending order.
pub(crate) struct Touching<'a> {
    list: &'a List,
    close: Arc<Close>,
}

impl<'a> Touching<'a> {
    /// How many there are, those that have no energy yet included.
    pub(crate) fn len(&self) -> usize {
        self.close.hits.len()
    }

    /// # Panics
    /// If there are not so many.
    #[inline]
    pub(crate) fn get(&self, number: usize) -> Touch<'a> {
        let (pair, nearest, gap) = self.close.hits[number];
        Touch { pair: &self.list.pairs[pair as usize], nearest, gap }
    }

    /// All that are within [`MARGIN`] ranges.
    pub(crate) fn all(&self) -> impl Iterator<Item = Touch<'a>> + '_ {
        (0..self.len()).map(|number| self.get(number))
    }

    /// Those that have energy.
    pub(crate) fn within_range(&self) -> impl Iterator<Item = Touch<'a>> + '_ {
        self.all().filter(Touch::is_within_range)
    }
}

impl Touch<'_> {
    /// Whether contact has energy.
    #[inline]
    pub(crate) fn is_within_range(&self) -> bool {
        self.gap < self.pair.range
    }
}

/// Pairs that have a place in the matrix, in ranges, so that it need not change with every pair
/// that comes into contact.
pub(crate) const MARGIN: f64 = 1.2;

/// How far something has moved, or may move, m.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Radii {
    /// A vertex of a body against the mean of all.
    pub(crate) own: f64,
    /// A vertex of a body and one of an obstacle together.
    pub(crate) solid: f64,
}

/// The mean way of all nodes.
pub(crate) fn mean_way(from: &[DVec3], to: &[DVec3]) -> DVec3 {
    let sum: DVec3 = to.iter().zip(from).map(|(to, from)| *to - *from).sum();
    sum / to.len().max(1) as f64
}

impl Radii {
    /// How far everything goes from one place to another.
    pub(crate) fn between(from: &Place<'_>, to: &Place<'_>) -> Self {
        let shift = mean_way(from.nodes, to.nodes);
        let (mut own, mut all): (f64, f64) = (0.0, 0.0);
        for (to, from) in to.nodes.iter().zip(from.nodes) {
            let way = *to - *from;
            own = own.max((way - shift).length_squared());
            all = all.max(way.length_squared());
        }
        let solids = to.solids.iter().zip(from.solids).map(|(to, from)| (*to - *from).length_squared());
        Self { own: own.sqrt(), solid: all.sqrt() + solids.fold(0.0, f64::max).sqrt() }
    }
}

/// Of its range, the gap of a pair that has just come apart. Contact pushes it with some kPa, but
/// not far, since the range is short: without energy to speak of.
const APART: f64 = 0.3;
/// Room for rounding.
const ROOM: f64 = 1.0 + 1e-6;

impl List {
    /// Makes a list. Pairs that are in an older one keep their weights.
    pub(crate) fn new(
        model: &Model,
        at: Place<'_>,
        radii: Radii,
        impact: &Impact,
        older: Option<&Self>,
        room: Room,
    ) -> Self {
        let mut neighbours = model.neighbours();
        let raw = neighbours.within(model, &at, &radii);
        let rated = |(raw, known): &(&Raw, Option<Apart>)| {
            let mut pair = model.rate(**raw, known.unwrap_or_else(|| raw.apart(&at)), radii)?;
            pair.stiffness = pair.stiffness.max(impact.stiffness(model, pair.kind, pair.vertices));
            Some(pair)
        };
        let Room { mut pairs, hits } = room;
        filter_into(&raw, &mut pairs, |(_, raw)| rated(raw));
        weigh(model, &mut pairs);
        if let Some(older) = older {
            for pair in &mut pairs {
                if let Ok(place) = older.pairs.binary_search_by_key(&pair.key(), Pair::key) {
                    pair.weight = older.pairs[place].weight;
                }
            }
        }
        Self::of(pairs, &at, radii, hits)
    }

    /// What it leaves to the next one.
    pub(crate) fn into_room(self) -> Room {
        let Last { close, room } = self.last.into_inner().unwrap_or_else(PoisonError::into_inner);
        let hits = close.and_then(Arc::into_inner).map_or(room, |close| close.hits);
        Room { pairs: self.pairs, hits }
    }

    /// Every pair that can come into contact on straight ways from one place to another, all at
    /// constant speed, as they are at the start. Good for nothing else.
    pub(crate) fn along(model: &Model, from: Place<'_>, to: &Place<'_>) -> Self {
        let shift = mean_way(from.nodes, to.nodes);
        let laws = &model.laws;
        let mut end = to.field();
        // A common motion makes no pair.
        end.as_mut_slice().iter_mut().for_each(|x| *x -= shift);
        let found = model.phase().along(&from.field(), &end, laws.largest_range(), |a, b| laws.meet(a, b));
        let mut raw = Vec::with_capacity(found.len());
        collect(model, &found, &mut raw);
        let radii = Radii::between(&from, to);
        let far = Radii { own: f64::INFINITY, solid: f64::INFINITY };
        let reaches = |raw: &Raw| {
            let [a, b] = [&from, to].map(|place| place.gather(raw.vertices));
            let way: [DVec3; 4] = std::array::from_fn(|i| b[i] - a[i]);
            let pair = model.rate(*raw, raw.apart(&from), far)?;
            (pair.distance - pair.kind.reach(&way) <= pair.offset + pair.range).then_some(pair)
        };
        let pairs = filter_map(&raw, |(_, raw)| reaches(raw));
        Self::of(pairs, &from, radii, Vec::new())
    }

    fn of(pairs: Vec<Pair>, at: &Place<'_>, radii: Radii, room: Vec<Hit>) -> Self {
        let (nodes, solids) = (at.nodes.to_vec(), at.solids.to_vec());
        Self { pairs, nodes, solids, radii, last: Mutex::new(Last { close: None, room }) }
    }

    /// How far everything is from where it was.
    pub(crate) fn moved(&self, at: &Place<'_>) -> Radii {
        Radii::between(&self.place(), at)
    }

    fn shift(&self, nodes: &[DVec3]) -> DVec3 {
        mean_way(&self.nodes, nodes)
    }

    fn place(&self) -> Place<'_> {
        Place { nodes: &self.nodes, solids: &self.solids }
    }

    /// Whether the list is complete for something that has moved so far.
    pub(crate) fn covers(&self, moved: &Radii) -> bool {
        let room = 1.0 + 1e-9;
        moved.own <= self.radii.own * room && moved.solid <= self.radii.solid * room
    }

    /// The largest multiple of the way between two places that the list covers, up to [`MOST`].
    pub(crate) fn longest_step(&self, from: &Place<'_>, to: &Place<'_>) -> f64 {
        let [s, t] = [from, to].map(|place| self.shift(place.nodes));
        let solids = from.solids.iter().zip(&self.solids).map(|(x, was)| (*x - *was).length_squared());
        let room = (self.radii.solid - solids.fold(0.0, f64::max).sqrt()).max(0.0);
        let mut share: f64 = MOST;
        for ((x, y), was) in from.nodes.iter().zip(to.nodes).zip(&self.nodes) {
            share = share.min(within(*x - *was - s, *y - *was - t, self.radii.own));
            if !self.solids.is_empty() {
                share = share.min(within(*x - *was, *y - *was, room));
            }
        }
        share
    }

    /// Pairs whose gap is smaller than [`MARGIN`] ranges.
    pub(crate) fn touching(&self, at: &Place<'_>) -> Touching<'_> {
        Touching { list: self, close: self.close(at) }
    }

    /// Forces, pairs and Hessian are asked one after the other at the same place.
    fn close(&self, at: &Place<'_>) -> Arc<Close> {
        let last = || self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let mut hits = {
            let mut last = last();
            match &last.close {
                Some(close) if close.nodes == at.nodes && close.solids == at.solids => {
                    return Arc::clone(close);
                }
                _ => {}
            }
            // Of a place that is still in use elsewhere, the room stays there.
            let gone = last.close.take().and_then(Arc::into_inner);
            gone.map_or_else(|| std::mem::take(&mut last.room), |close| close.hits)
        };
        let moved = self.moved(at);
        let one = |(number, pair): (usize, &Pair)| {
            if pair.distance - pair.offset - MARGIN * pair.range > pair.approach(&moved) {
                return None;
            }
            let nearest = pair.kind.nearest(&at.gather(pair.vertices));
            let gap = nearest.distance - pair.offset;
            (gap < MARGIN * pair.range).then_some((number as u32, nearest, gap))
        };
        filter_into(&self.pairs, &mut hits, one);
        let close = Arc::new(Close { nodes: at.nodes.to_vec(), solids: at.solids.to_vec(), hits });
        last().close = Some(Arc::clone(&close));
        close
    }
}

/// The largest multiple of a step that is asked for.
const MOST: f64 = 64.0;

/// The largest multiple of the way from `u` to `v` that stays within a radius of zero, up to
/// [`MOST`]; zero if the way leads away from outside.
fn within(u: DVec3, v: DVec3, radius: f64) -> f64 {
    let limit = radius * radius;
    let p = v - u;
    if (u + p * MOST).length_squared() <= limit {
        return MOST;
    }
    let (pp, up, room) = (p.length_squared(), u.dot(p), limit - u.length_squared());
    if room <= 0.0 || pp == 0.0 {
        return 0.0;
    }
    let root = (up * up + pp * room).sqrt();
    // The form of the root that does not cancel.
    let t = if up > 0.0 { room / (root + up) } else { (root - up) / pp };
    // A whole step that ends within is one, whatever rounding makes of the root.
    if v.length_squared() <= limit { t.clamp(1.0, MOST) } else { t.min(1.0) }
}

/// Two parts, before anything is known about them.
#[derive(Clone, Copy)]
pub(crate) struct Raw {
    pub(crate) kind: Kind,
    parts: [u32; 2],
    pub(crate) vertices: [u32; 4],
    bodies: [Body; 2],
    pub(crate) radius: f64,
}

/// How far two parts are from each other.
#[derive(Clone, Copy)]
pub(crate) struct Apart {
    /// m.
    pub(crate) distance: f64,
    /// Whether the closest points lie inside of both.
    interior: bool,
    /// Whether that on the second part is one of its corners.
    at_corner: bool,
}

impl Raw {
    pub(crate) fn key(&self) -> (Kind, [u32; 2]) {
        (self.kind, self.parts)
    }

    /// By how much the distance can have changed after vertices have gone these ways.
    #[inline]
    pub(crate) fn reach(&self, ways: &[DVec3]) -> f64 {
        self.kind.reach(&self.vertices.map(|v| ways[v as usize]))
    }

    pub(crate) fn apart(&self, at: &Place<'_>) -> Apart {
        let Nearest { distance, interior, weights, .. } = self.kind.nearest(&at.gather(self.vertices));
        let [first, all] = self.kind.vertices();
        let at_corner = weights[first..all].iter().filter(|weight| **weight != 0.0).count() == 1;
        Apart { distance, interior, at_corner }
    }
}

pub(crate) fn collect(model: &Model, pairs: &plisse_collision::Pairs, out: &mut Vec<Raw>) {
    let colliders = &model.colliders;
    let body = |v: u32| colliders.body(Id::new(v)).unwrap_or(Body(u32::MAX));
    let mut add = |kind: Kind, parts: [u32; 2], vertices: [u32; 4], radius: f64| {
        let [first, all] = kind.vertices();
        let bodies = [body(vertices[0]), body(vertices[first])];
        let used = &vertices[..all];
        if used.iter().all(|v| model.kinematic[*v as usize]) {
            return;
        }
        if !model.inside.is_empty() {
            let solid = if bodies[0] > bodies[1] { bodies[0] } else { bodies[1] };
            if used.iter().any(|v| model.inside.contains(&(*v, solid.0))) {
                return;
            }
        }
        out.push(Raw { kind, parts, vertices, bodies, radius });
    };
    for (v, f) in &pairs.vertex_faces {
        let [a, b, c] = colliders.face(*f).map(Id::get);
        let (p, radius) = (v.get(), colliders.vertex_radius(*v) + colliders.face_radius(*f));
        add(Kind::VertexFace, [p, f.get()], [p, a, b, c], radius);
        // A ball presses on vertices; on faces only where these are large.
        if model.is_solid(p) && model.is_point(p) {
            for corner in [a, b, c] {
                let radius = colliders.vertex_radius(*v) + colliders.vertex_radius(Id::new(corner));
                add(Kind::VertexVertex, [corner, p], [corner, p, p, p], radius);
            }
        }
    }
    for (e, f) in &pairs.edge_edges {
        let ([a, b], [c, d]) = (colliders.edge(*e).map(Id::get), colliders.edge(*f).map(Id::get));
        let radius = colliders.edge_radius(*e) + colliders.edge_radius(*f);
        add(Kind::EdgeEdge, [e.get(), f.get()], [a, b, c, d], radius);
    }
    for (v, e) in &pairs.vertex_edges {
        let ([a, b], p) = (colliders.edge(*e).map(Id::get), v.get());
        let radius = colliders.vertex_radius(*v) + colliders.edge_radius(*e);
        add(Kind::VertexEdge, [p, e.get()], [p, a, b, b], radius);
    }
    for (v, w) in &pairs.vertex_vertices {
        let radius = colliders.vertex_radius(*v) + colliders.vertex_radius(*w);
        add(Kind::VertexVertex, [v.get(), w.get()], [v.get(), w.get(), w.get(), w.get()], radius);
    }
}

impl Model {
    /// What the contact of a pair would be; none if it is too far away.
    fn rate(&self, raw: Raw, apart: Apart, radii: Radii) -> Option<Pair> {
        let Raw { kind, parts, vertices, bodies, radius } = raw;
        if self.ignores(&vertices[..kind.vertices()[1]]) {
            return None;
        }
        let between = self.laws.between(bodies[0], bodies[1]);
        let solid = bodies.iter().any(|body| self.laws.is_obstacle(*body));
        let reach = if solid { radii.solid } else { 2.0 * radii.own };
        if apart.distance - radius - between.range > reach * ROOM {
            return None;
        }
        let (mut offset, mut range) = (radius, between.range);
        for vertex in &vertices[..kind.vertices()[1]] {
            range = range.min(self.start_ranges[*vertex as usize]);
        }
        if bodies[0] == bodies[1] {
            // Neighbours in a fine mesh, or layers that start close to each other, must not repel
            // where they start.
            let start = kind.nearest(&vertices.map(|v| self.start[Id::new(v)])).distance;
            let room = start / (2.0 * (offset + range));
            if start <= self.laws.neighbours(bodies[0]) {
                return None;
            }
            if room < 1.0 {
                offset *= room;
                range *= room;
            }
        }
        if let Some(start) = self.start_of_step(vertices) {
            // What has just come apart is close: contact grows with the gap that it makes.
            let room = kind.nearest(&start).distance / (offset + APART * range);
            if room < 1.0 {
                offset *= room;
                range *= room;
            }
        }
        let lengths = match kind {
            Kind::EdgeEdge => parts.map(|edge| self.edge_lengths[edge as usize]),
            _ => [0.0; 2],
        };
        Some(Pair {
            kind,
            parts,
            vertices,
            solid,
            interior: apart.interior,
            at_corner: apart.at_corner,
            distance: apart.distance,
            weight: 0.0,
            offset,
            range,
            stiffness: between.stiffness,
            friction: between.friction,
            slip: between.slip,
            lengths,
        })
    }

    /// How far the surfaces of two parts are apart beyond the range of contact, m.
    pub(crate) fn beyond(&self, raw: &Raw, apart: &Apart) -> f64 {
        apart.distance - raw.radius - self.laws.between(raw.bodies[0], raw.bodies[1]).range
    }

    /// Whether a vertex has neither edges nor faces.
    pub(crate) fn is_point(&self, vertex: u32) -> bool {
        self.points.binary_search(&vertex).is_ok()
    }
}
