//! Nodes that are close together move nearly alike: how much closer anything can have come follows
//! from how groups of them move against each other, and not from how far each of them has moved.

use glam::DVec3;
use plisse_collision::Body;
use plisse_core::Id;

use crate::model::Model;

/// Most nodes of a group.
const SIZE: usize = 16;
/// Most near groups of a group, on average: where edges are of very different lengths, all groups
/// are near each other, and comparing them tells nothing.
const MOST_NEAR: usize = 128;

/// All nodes that can touch something, in groups of one body each, by where they start. Groups only
/// decide how sharp a bound is.
pub(crate) struct Groups {
    nodes: Vec<u32>,
    /// Where each group ends among the nodes.
    ends: Vec<usize>,
}

impl Groups {
    pub(crate) fn new(model: &Model) -> Self {
        let body = |v: &u32| model.colliders.body(Id::new(*v));
        let mut nodes: Vec<u32> = (0..model.nodes as u32).filter(|v| body(v).is_some()).collect();
        nodes.sort_by_key(|v| body(v).unwrap_or(Body(u32::MAX)));
        let mut ends = Vec::new();
        let mut first = 0;
        for of_body in nodes.chunk_by_mut(|a, b| body(a) == body(b)) {
            split(of_body, first, &mut ends, &|v| model.start[Id::new(v)]);
            first += of_body.len();
        }
        Self { nodes, ends }
    }

    fn all(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.nodes[start..*end])
    }

    /// Every two groups with nodes within a distance of each other, each group with itself
    /// included. None if there are too many.
    pub(crate) fn near(&self, x: &[DVec3], distance: f64) -> Option<Vec<[u32; 2]>> {
        let bounds = |group: &[u32]| {
            let points = group.iter().map(|v| x[*v as usize]);
            points.fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)])
        };
        let mut boxes: Vec<(u32, [DVec3; 2])> =
            self.all().enumerate().map(|(i, group)| (i as u32, bounds(group))).collect();
        boxes.sort_by(|(_, a), (_, b)| a[0].x.total_cmp(&b[0].x));
        let most = MOST_NEAR * boxes.len();
        let mut near = Vec::new();
        for (i, (a, [low, high])) in boxes.iter().enumerate() {
            for (b, [other_low, other_high]) in &boxes[i..] {
                if other_low.x - high.x > distance {
                    break;
                }
                let between = (*other_low - *high).max(*low - *other_high).max(DVec3::ZERO);
                // What is no number is near.
                let is_far = between.length_squared() > distance * distance;
                if !is_far {
                    near.push([*a, *b]);
                }
            }
            if near.len() > most {
                return None;
            }
        }
        Some(near)
    }

    /// The largest way of a node of one group against a node of the other, of all these groups: no
    /// more than the difference of the mean ways, and what single nodes differ from these.
    pub(crate) fn relative_way(&self, near: &[[u32; 2]], from: &[DVec3], to: &[DVec3]) -> f64 {
        let way = |v: &u32| to[*v as usize] - from[*v as usize];
        let of_group = |group: &[u32]| {
            let mean = group.iter().map(way).sum::<DVec3>() / group.len() as f64;
            let rest = group.iter().map(|v| way(v).distance_squared(mean)).fold(0.0, f64::max);
            (mean, rest.sqrt())
        };
        let ways: Vec<(DVec3, f64)> = self.all().map(of_group).collect();
        let relative = |[a, b]: &[u32; 2]| {
            let ((mean, rest), (other_mean, other_rest)) = (ways[*a as usize], ways[*b as usize]);
            mean.distance(other_mean) + rest + other_rest
        };
        near.iter().map(relative).fold(0.0, f64::max)
    }
}

/// Halves nodes along the longest side of their box until groups are small, and adds their ends.
/// Ties are broken by number, so that groups are the same on every machine.
fn split(nodes: &mut [u32], first: usize, ends: &mut Vec<usize>, at: &impl Fn(u32) -> DVec3) {
    if nodes.len() <= SIZE {
        ends.push(first + nodes.len());
        return;
    }
    let points = || nodes.iter().map(|v| at(*v));
    let size = points().fold(DVec3::NEG_INFINITY, DVec3::max) - points().fold(DVec3::INFINITY, DVec3::min);
    let axis = if size.x >= size.y && size.x >= size.z { 0 } else { 1 + usize::from(size.z > size.y) };
    let half = nodes.len() / 2;
    nodes.select_nth_unstable_by(half, |a, b| at(*a)[axis].total_cmp(&at(*b)[axis]).then(a.cmp(b)));
    let (left, right) = nodes.split_at_mut(half);
    split(left, first, ends, at);
    split(right, first + half, ends, at);
}
