//! Nodes that are close together move nearly alike, and nearly as a rigid body: how much closer
//! anything can have come follows from how groups of them deform, and not from how far each of them
//! has moved.
//!
//! Groups form a tree. The nodes of a group, with all nodes that an edge joins to them, have a
//! rigid motion that fits them well: their mean way and a turn. Let `M` be that of one group, and
//! `r` the way of a node beyond what `M` gives it. Two parts are as far from each other after `M`
//! as before, so what follows from `r` is all that they can have come closer: the largest
//! `|rᵢ - rⱼ|` of a node of one part and one of the other. Which turn is taken does not matter for
//! the truth of the bound, only for how sharp it is.

use std::ops::Range;

use glam::{DMat3, DQuat, DVec3};
use plisse_collision::Body;
use plisse_core::Id;

use crate::model::Model;

/// Most nodes of a group, those around it not counted.
const SIZE: usize = 16;

/// All nodes that can touch something, in groups of one body each, by where they start. Groups only
/// decide how sharp a bound is.
pub(crate) struct Groups {
    /// Nodes of every smallest group, with those around it.
    nodes: Vec<u32>,
    /// Children before their parents: the last one has everything.
    tree: Vec<Group>,
}

struct Group {
    /// The body of all nodes, if it is one.
    body: Option<Body>,
    below: Below,
}

#[derive(Clone)]
enum Below {
    Nodes(Range<usize>),
    Groups([usize; 2]),
}

/// Where groups are before they move.
pub(crate) struct Shapes(Vec<Shape>);

struct Shape {
    /// The nodes with those around them lie between these.
    bounds: [DVec3; 2],
    centre: DVec3,
    /// No node is farther from the centre, m.
    radius: f64,
    /// Of a smallest group: two directions by which it is told how it has turned, and what they are
    /// before it moves.
    axes: [DVec3; 2],
    frame: Option<DMat3>,
}

/// How a group has moved: as a rigid body, but for a rest.
struct Motion {
    /// Where the centre is now.
    centre: DVec3,
    turn: DMat3,
    /// No node is farther from where the motion puts it, m.
    rest: f64,
}

/// What is asked of [`Groups::approach`].
pub(crate) struct Question<'a> {
    /// Pairs beyond this distance of touching are meant, m.
    pub(crate) beyond: f64,
    /// The distance at which parts touch, at most, m.
    pub(crate) touch: f64,
    /// An approach that is no larger need not be known, m.
    pub(crate) enough: f64,
    /// Whether two bodies can touch.
    pub(crate) meet: &'a dyn Fn(Body, Body) -> bool,
}

/// Beyond this multiple of the distance that is asked for, an approach need not be known.
const MOST: f64 = 4.0;
/// Room for rounding.
const ROOM: f64 = 1.0 + 1e-9;

impl Groups {
    pub(crate) fn new(model: &Model) -> Self {
        let body = |v: &u32| model.colliders.body(Id::new(*v));
        let mut nodes: Vec<u32> = (0..model.nodes as u32).filter(|v| body(v).is_some()).collect();
        nodes.sort_by_key(|v| body(v).unwrap_or(Body(u32::MAX)));
        let mut build = Build { tree: Vec::new(), leaves: Vec::new() };
        let mut of_bodies = Vec::new();
        for of_body in nodes.chunk_by_mut(|a, b| body(a) == body(b)) {
            let body = of_body.first().and_then(body);
            of_bodies.push(build.add(of_body, body, &|v| model.start[Id::new(v)]));
        }
        build.join(&of_bodies);
        build.finish(model)
    }

    /// Where groups are.
    pub(crate) fn shapes(&self, x: &[DVec3]) -> Shapes {
        let mut shapes: Vec<Shape> = Vec::with_capacity(self.tree.len());
        for group in &self.tree {
            let shape = match &group.below {
                Below::Nodes(range) => Shape::of_nodes(&self.nodes[range.clone()], x),
                Below::Groups(parts) => Shape::around(parts.map(|part| &shapes[part])),
            };
            shapes.push(shape);
        }
        Shapes(shapes)
    }

    fn motions(&self, shapes: &Shapes, from: &[DVec3], to: &[DVec3]) -> Vec<Motion> {
        let mut motions: Vec<Motion> = Vec::with_capacity(self.tree.len());
        for (group, shape) in self.tree.iter().zip(&shapes.0) {
            let motion = match &group.below {
                Below::Nodes(range) => shape.motion(&self.nodes[range.clone()], from, to),
                Below::Groups(parts) => {
                    Motion::of_both(shape, parts.map(|part| (&shapes.0[part], &motions[part])))
                }
            };
            motions.push(motion);
        }
        motions
    }

    /// By how much two parts at most have come closer at any of these places, or on straight ways
    /// between the first and the last, m. Of all pairs of parts those are meant that were beyond
    /// some distance of touching; what was farther away than that may have come closer by as much
    /// as it was farther away.
    ///
    /// On a straight way between two places, what a mean of both rigid motions leaves of the ways
    /// changes linearly, and is nowhere larger than at one of the ends. That mean is no rigid
    /// motion: it shrinks lengths, by no more than `cos(φ/2)` if the turns differ by the angle `φ`.
    pub(crate) fn approach(
        &self,
        shapes: &Shapes,
        from: &[DVec3],
        places: &[&[DVec3]],
        question: &Question<'_>,
    ) -> f64 {
        let Some(root) = self.tree.len().checked_sub(1) else { return 0.0 };
        let motions: Vec<Vec<Motion>> = places.iter().map(|to| self.motions(shapes, from, to)).collect();
        let mut largest = question.enough.max(0.0);
        let most = MOST * question.beyond.max(largest);
        let mut open = vec![(root, root)];
        while let Some((a, b)) = open.pop() {
            let (one, other) = (&self.tree[a], &self.tree[b]);
            if let (Some(p), Some(q)) = (one.body, other.body)
                && !(question.meet)(p.min(q), p.max(q))
            {
                continue;
            }
            let closer = closer(shapes, &motions, [a, b], question);
            // What is no number goes on.
            if closer <= largest {
                continue;
            }
            match (&one.below, &other.below) {
                (Below::Groups([l, r]), _) if a == b => open.extend([(*l, *l), (*r, *r), (*l, *r)]),
                (Below::Groups([l, r]), Below::Nodes(_)) => open.extend([(*l, b), (*r, b)]),
                (Below::Nodes(_), Below::Groups([l, r])) => open.extend([(a, *l), (a, *r)]),
                (Below::Groups([l, r]), Below::Groups(_)) if shapes.0[a].radius >= shapes.0[b].radius => {
                    open.extend([(*l, b), (*r, b)]);
                }
                (Below::Groups(_), Below::Groups([l, r])) => open.extend([(a, *l), (a, *r)]),
                (Below::Nodes(_), Below::Nodes(_)) => {
                    largest = if closer.is_nan() { f64::INFINITY } else { closer };
                    if largest > most {
                        return largest;
                    }
                }
            }
        }
        largest
    }
}

/// By how much parts of two groups may have come closer, as [`Groups::approach`] counts it.
fn closer(shapes: &Shapes, motions: &[Vec<Motion>], groups: [usize; 2], question: &Question<'_>) -> f64 {
    // By the motion of the larger one, because the other one is turned wrongly.
    let [a, b] = groups;
    let [a, b] = if shapes.0[a].radius >= shapes.0[b].radius { [a, b] } else { [b, a] };
    let [one, other] = [a, b].map(|group| &shapes.0[group]);
    let rest = |motions: &Vec<Motion>| {
        let [p, q] = [a, b].map(|group| &motions[group]);
        let own = p.rest + q.rest;
        if a == b { own } else { p.misplaces(one, other, q) + own }
    };
    let rest = motions.iter().map(rest).fold(0.0, larger);
    let shrinks = match motions {
        [first, .., last] => {
            let angle = distance(&first[a].turn, &last[a].turn);
            1.0 - (1.0 - 0.25 * angle * angle).max(0.0).sqrt()
        }
        _ => 0.0,
    };
    let [low, high] = one.bounds;
    let gap = (other.bounds[0] - high).max(low - other.bounds[1]).max(DVec3::ZERO).length();
    let beyond = question.beyond.max(gap - question.touch);
    // Distances of touching are part of what shrinks.
    (rest + shrinks * (beyond + question.touch)) * ROOM - (beyond - question.beyond)
}

/// The larger of two numbers; no number if one of them is none.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a >= b { a } else { b }
}

/// The largest stretch of the difference of two turns, no less than it is. Of its singular values
/// two are the same and one is zero.
fn distance(a: &DMat3, b: &DMat3) -> f64 {
    let d = *a - *b;
    let squares = d.x_axis.length_squared() + d.y_axis.length_squared() + d.z_axis.length_squared();
    (0.5 * squares).sqrt() * ROOM
}

impl Shape {
    fn of_nodes(nodes: &[u32], x: &[DVec3]) -> Self {
        let points = || nodes.iter().map(|v| x[*v as usize]);
        let bounds =
            points().fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)]);
        let centre = points().sum::<DVec3>() / nodes.len().max(1) as f64;
        let arms = || points().map(|x| x - centre);
        let longest = |size: &dyn Fn(DVec3) -> f64| {
            arms().fold(DVec3::ZERO, |a, b| if size(b) > size(a) { b } else { a })
        };
        let first = longest(&|arm| arm.length_squared());
        let second = longest(&|arm| arm.cross(first).length_squared());
        let axes = [first, second];
        let frame = frame(&sums(arms(), arms(), &axes));
        Self { bounds, centre, radius: first.length() * ROOM, axes, frame }
    }

    fn around(parts: [&Self; 2]) -> Self {
        let [a, b] = parts;
        let centre = 0.5 * (a.centre + b.centre);
        let radius = parts.map(|part| part.centre.distance(centre) + part.radius);
        Self {
            bounds: [a.bounds[0].min(b.bounds[0]), a.bounds[1].max(b.bounds[1])],
            centre,
            radius: radius[0].max(radius[1]) * ROOM,
            axes: [DVec3::ZERO; 2],
            frame: None,
        }
    }

    fn motion(&self, nodes: &[u32], from: &[DVec3], to: &[DVec3]) -> Motion {
        let centre = nodes.iter().map(|v| to[*v as usize]).sum::<DVec3>() / nodes.len().max(1) as f64;
        let arms = || nodes.iter().map(|v| from[*v as usize] - self.centre);
        let now = || nodes.iter().map(|v| to[*v as usize] - centre);
        let turned = sums(arms(), now(), &self.axes);
        let turn = match (self.frame, frame(&turned)) {
            (Some(before), Some(after)) => after * before.transpose(),
            // All nearly on one line, about which any turn would do, or in one place.
            _ => {
                let [before, after] = [self.axes[0], turned[0]].map(DVec3::try_normalize);
                before.zip(after).map_or(DMat3::IDENTITY, |(before, after)| {
                    DMat3::from_quat(DQuat::from_rotation_arc(before, after))
                })
            }
        };
        let rests = arms().zip(now()).map(|(arm, now)| now.distance_squared(turn * arm));
        Motion { centre, turn, rest: rests.fold(0.0, larger).sqrt() }
    }
}

impl Motion {
    fn of_both(shape: &Shape, parts: [(&Shape, &Self); 2]) -> Self {
        let [(_, a), (_, b)] = parts;
        let centre = 0.5 * (a.centre + b.centre);
        let mean = a.turn + b.turn;
        let turn = frame(&[mean.x_axis, mean.y_axis]).unwrap_or(a.turn);
        let whole = Self { centre, turn, rest: 0.0 };
        let rest = |(part, motion): (&Shape, &Self)| whole.misplaces(shape, part, motion) + motion.rest;
        let [p, q] = parts.map(rest);
        Self { rest: larger(p, q), ..whole }
    }

    /// How far this motion, of a group, puts the nodes of another group from where the other
    /// group's own motion puts them, at most.
    fn misplaces(&self, of: &Shape, other: &Shape, motion: &Self) -> f64 {
        let way = motion.centre - self.centre - self.turn * (other.centre - of.centre);
        way.length() + distance(&motion.turn, &self.turn) * other.radius
    }
}

/// `Σ (arm·axis) now` for both axes.
fn sums(
    arms: impl Iterator<Item = DVec3>,
    now: impl Iterator<Item = DVec3>,
    axes: &[DVec3; 2],
) -> [DVec3; 2] {
    arms.zip(now)
        .fold([DVec3::ZERO; 2], |[p, q], (arm, now)| [p + now * arm.dot(axes[0]), q + now * arm.dot(axes[1])])
}

/// An orthonormal frame with these directions first; none if they are nearly parallel.
fn frame(directions: &[DVec3; 2]) -> Option<DMat3> {
    let x = directions[0].try_normalize()?;
    let second = directions[1].try_normalize()?;
    let across = second - x * x.dot(second);
    if across.length_squared() < 1e-4 {
        return None;
    }
    // Twice, so that what rounding has left of the first direction goes.
    let y = across.normalize();
    let y = (y - x * x.dot(y)).normalize();
    let frame = DMat3::from_cols(x, y, x.cross(y));
    frame.is_finite().then_some(frame)
}

/// A tree while it is built.
struct Build {
    tree: Vec<Group>,
    /// The nodes of every smallest group.
    leaves: Vec<Vec<u32>>,
}

impl Build {
    /// Halves nodes along the longest side of their box until groups are small. Ties are broken by
    /// number, so that groups are the same on every machine.
    fn add(&mut self, nodes: &mut [u32], body: Option<Body>, at: &impl Fn(u32) -> DVec3) -> usize {
        let below = if nodes.len() <= SIZE {
            self.leaves.push(nodes.to_vec());
            Below::Nodes(self.leaves.len() - 1..self.leaves.len())
        } else {
            let points = || nodes.iter().map(|v| at(*v));
            let size =
                points().fold(DVec3::NEG_INFINITY, DVec3::max) - points().fold(DVec3::INFINITY, DVec3::min);
            let axis =
                if size.x >= size.y && size.x >= size.z { 0 } else { 1 + usize::from(size.z > size.y) };
            let half = nodes.len() / 2;
            nodes.select_nth_unstable_by(half, |a, b| at(*a)[axis].total_cmp(&at(*b)[axis]).then(a.cmp(b)));
            let (left, right) = nodes.split_at_mut(half);
            Below::Groups([self.add(left, body, at), self.add(right, body, at)])
        };
        self.tree.push(Group { body, below });
        self.tree.len() - 1
    }

    /// One group of several.
    fn join(&mut self, groups: &[usize]) -> Option<usize> {
        let below = match groups {
            [] => return None,
            [one] => return Some(*one),
            _ => {
                let (left, right) = groups.split_at(groups.len() / 2);
                Below::Groups([self.join(left)?, self.join(right)?])
            }
        };
        self.tree.push(Group { body: None, below });
        Some(self.tree.len() - 1)
    }

    /// Adds to every smallest group the nodes around it: every part with a node in a group is then
    /// in it as a whole.
    fn finish(self, model: &Model) -> Groups {
        let Self { mut tree, leaves } = self;
        let mut of_node = vec![usize::MAX; model.nodes];
        for (leaf, nodes) in leaves.iter().enumerate() {
            nodes.iter().for_each(|v| of_node[*v as usize] = leaf);
        }
        let mut around: Vec<(usize, u32)> = Vec::new();
        for edge in 0..model.colliders.edge_count() as u32 {
            let [a, b] = model.colliders.edge(Id::new(edge)).map(Id::get);
            if model.is_solid(a) || model.is_solid(b) {
                continue;
            }
            let [p, q] = [a, b].map(|v| of_node[v as usize]);
            if p != q {
                around.extend([(p, b), (q, a)]);
            }
        }
        around.sort_unstable();
        around.dedup();
        let mut ranges = Vec::with_capacity(leaves.len());
        let mut nodes = Vec::with_capacity(model.nodes + around.len());
        for (leaf, own) in leaves.into_iter().enumerate() {
            let first = nodes.len();
            nodes.extend(own);
            let others =
                around.partition_point(|(of, _)| *of < leaf)..around.partition_point(|(of, _)| *of <= leaf);
            nodes.extend(around[others].iter().map(|(_, v)| *v));
            ranges.push(first..nodes.len());
        }
        for group in &mut tree {
            if let Below::Nodes(leaf) = &mut group.below {
                *leaf = ranges[leaf.start].clone();
            }
        }
        Groups { nodes, tree }
    }
}
