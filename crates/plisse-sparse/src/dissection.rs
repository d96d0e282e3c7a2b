//! Nested dissection: an order of elimination by separators, for large graphs.
//!
//! A set of nodes that cuts the graph into two halves is eliminated last, and each half is cut
//! again (George 1973). Separators are found on coarser and coarser graphs and refined on the way
//! back (Karypis and Kumar 1998), by moving single nodes (Fiduccia and Mattheyses 1982). The two
//! halves do not know of each other: they are worked on in parallel, with random numbers that
//! depend on the path to them, so that the order is the same for any number of threads.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::graph::Graph;
use crate::order::minimum_degree;

/// Parts of so few nodes are ordered by minimum degree.
const LEAF: usize = 120;

/// Coarsening ends at so few nodes.
const COARSEST: usize = 100;

/// The heaviest that a side may be, of the whole.
const SIDE: f64 = 0.56;

/// A separator of more than this part of the whole is none.
const WORST: f64 = 0.3;

/// And the heavier side of more than this part of the whole is no half.
const HEAVIEST: f64 = 0.8;

/// Parts of more nodes that cannot be cut are left to faer's minimum degree.
const LARGEST_BY_BITS: usize = 500;

/// Moves without gain until a pass ends.
const IDLE: usize = 60;

/// Parts of so many nodes are worked on in parallel.
const PARALLEL: usize = 2000;

/// No node.
const NONE: u32 = u32::MAX;

const LEFT: u8 = 0;
const RIGHT: u8 = 1;
const SEPARATOR: u8 = 2;

/// The nodes in the order of their elimination.
pub(crate) fn order(graph: &Graph) -> Vec<u32> {
    let nodes: Vec<u32> = (0..graph.len() as u32).collect();
    let mut out = Vec::with_capacity(nodes.len());
    dissect(graph, Weighted::of(graph), &nodes, 1, &mut out);
    out
}

/// Orders the nodes of a part of the graph.
fn dissect(whole: &Graph, part: Weighted, nodes: &[u32], seed: u64, out: &mut Vec<u32>) {
    if nodes.len() <= LEAF {
        return by_degree(whole, nodes, out);
    }
    let mut scratch = vec![NONE; nodes.len()];
    let name = |places: &[u32]| -> Vec<u32> { places.iter().map(|at| nodes[*at as usize]).collect() };
    let components = part.components();
    if components.len() > 1 {
        for (k, places) in components.into_iter().enumerate() {
            dissect(whole, part.part(&places, &mut scratch), &name(&places), next(seed, 2 + k as u64), out);
        }
        return;
    }
    let Some(sides) = bisect(&part, seed) else {
        if nodes.len() <= LARGEST_BY_BITS {
            by_degree(whole, nodes, out);
        } else {
            let rows: Vec<u32> = part.edges.iter().map(|(other, _)| *other).collect();
            let order = minimum_degree(&part.starts, &rows);
            // Without the memory for it any order will do: there will be none for the factor.
            let order = order.unwrap_or_else(|_| (0..nodes.len() as u32).collect());
            out.extend(name(&order));
        }
        return;
    };
    let of =
        |side: u8| -> Vec<u32> { (0..nodes.len() as u32).filter(|at| sides[*at as usize] == side).collect() };
    let [left, right] = [LEFT, RIGHT].map(|side| {
        let places = of(side);
        (part.part(&places, &mut scratch), name(&places))
    });
    let separator = name(&of(SEPARATOR));
    drop((part, scratch));
    if nodes.len() >= PARALLEL && rayon::current_num_threads() > 1 {
        let mut others = Vec::new();
        rayon::join(
            || dissect(whole, left.0, &left.1, next(seed, 0), out),
            || dissect(whole, right.0, &right.1, next(seed, 1), &mut others),
        );
        out.extend(others);
    } else {
        dissect(whole, left.0, &left.1, next(seed, 0), out);
        dissect(whole, right.0, &right.1, next(seed, 1), out);
    }
    out.extend(separator);
}

/// A number that looks random.
fn next(seed: u64, step: u64) -> u64 {
    let mut x = seed.wrapping_add(step.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Minimum degree on bit sets; neighbours outside of the part count.
fn by_degree(whole: &Graph, nodes: &[u32], out: &mut Vec<u32>) {
    let mut ids: Vec<u32> = nodes.to_vec();
    ids.sort_unstable();
    let own = ids.len();
    let mut halo: Vec<u32> = ids
        .iter()
        .flat_map(|node| whole.neighbours(*node))
        .copied()
        .filter(|other| ids.binary_search(other).is_err())
        .collect();
    halo.sort_unstable();
    halo.dedup();
    let total = own + halo.len();
    let words = total.div_ceil(64);
    let mut sets = vec![0u64; own * words];
    let weights: Vec<u32> = ids.iter().chain(&halo).map(|node| whole.weight(*node)).collect();
    for (k, node) in ids.iter().enumerate() {
        for other in whole.neighbours(*node) {
            let at = ids.binary_search(other).or_else(|_| halo.binary_search(other).map(|at| own + at));
            if let Ok(at) = at {
                sets[k * words + at / 64] |= 1 << (at % 64);
            }
        }
    }
    let bits = |set: &[u64]| -> Vec<usize> {
        let mut out = Vec::new();
        for (k, word) in set.iter().enumerate() {
            let mut word = *word;
            while word != 0 {
                out.push(64 * k + word.trailing_zeros() as usize);
                word &= word - 1;
            }
        }
        out
    };
    let weigh = |set: &[u64]| bits(set).into_iter().map(|at| weights[at]).sum::<u32>();
    let mut degrees: Vec<u32> = (0..own).map(|k| weigh(&sets[k * words..(k + 1) * words])).collect();
    let mut heap: BinaryHeap<Reverse<(u32, usize)>> =
        degrees.iter().enumerate().map(|(k, degree)| Reverse((*degree, k))).collect();
    let mut is_done = vec![false; own];
    while let Some(Reverse((degree, k))) = heap.pop() {
        if is_done[k] || degree != degrees[k] {
            continue;
        }
        is_done[k] = true;
        out.push(ids[k]);
        let pivot = sets[k * words..(k + 1) * words].to_vec();
        for other in bits(&pivot).into_iter().filter(|at| *at < own) {
            let set = &mut sets[other * words..(other + 1) * words];
            for (to, from) in set.iter_mut().zip(&pivot) {
                *to |= from;
            }
            for gone in [k, other] {
                set[gone / 64] &= !(1 << (gone % 64));
            }
            degrees[other] = weigh(set);
            heap.push(Reverse((degrees[other], other)));
        }
    }
}

/// A graph with weights of nodes and of edges.
struct Weighted {
    starts: Vec<u32>,
    /// Neighbour and weight of the edge.
    edges: Vec<(u32, u32)>,
    weights: Vec<u32>,
}

impl Weighted {
    fn of(whole: &Graph) -> Self {
        let (mut starts, mut edges) = (vec![0], Vec::new());
        for node in 0..whole.len() as u32 {
            edges.extend(whole.neighbours(node).iter().map(|other| (*other, 1)));
            starts.push(edges.len() as u32);
        }
        Self { starts, edges, weights: (0..whole.len() as u32).map(|node| whole.weight(node)).collect() }
    }

    /// The part with these nodes, in their order. `name` is [`NONE`] for every node, before and
    /// after.
    fn part(&self, nodes: &[u32], name: &mut [u32]) -> Self {
        for (at, node) in nodes.iter().enumerate() {
            name[*node as usize] = at as u32;
        }
        let (mut starts, mut edges) = (vec![0], Vec::new());
        for &node in nodes {
            let others = self.edges(node).iter().map(|(other, edge)| (name[*other as usize], *edge));
            edges.extend(others.filter(|(other, _)| *other != NONE));
            starts.push(edges.len() as u32);
        }
        for node in nodes {
            name[*node as usize] = NONE;
        }
        Self { starts, edges, weights: nodes.iter().map(|node| self.weights[*node as usize]).collect() }
    }

    fn len(&self) -> usize {
        self.weights.len()
    }

    fn edges(&self, node: u32) -> &[(u32, u32)] {
        &self.edges[self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize]
    }

    fn total(&self) -> u64 {
        self.weights.iter().map(|weight| u64::from(*weight)).sum()
    }

    /// Sets of nodes that hang together.
    fn components(&self) -> Vec<Vec<u32>> {
        let mut is_seen = vec![false; self.len()];
        let mut out = Vec::new();
        for start in 0..self.len() as u32 {
            if std::mem::replace(&mut is_seen[start as usize], true) {
                continue;
            }
            let mut component = vec![start];
            let mut at = 0;
            while at < component.len() {
                for &(other, _) in self.edges(component[at]) {
                    if !std::mem::replace(&mut is_seen[other as usize], true) {
                        component.push(other);
                    }
                }
                at += 1;
            }
            component.sort_unstable();
            out.push(component);
        }
        out
    }

    /// A graph of pairs of nodes, each with the neighbour that its heaviest edge leads to, and the
    /// node of that graph for each of these. None if hardly a pair is found.
    fn coarser(&self, most: u64, seed: u64) -> Option<(Self, Vec<u32>)> {
        let n = self.len();
        let mut sequence: Vec<(u64, u32)> =
            (0..n as u32).map(|node| (next(seed, u64::from(node)), node)).collect();
        sequence.sort_unstable();
        let mut name = vec![NONE; n];
        let mut pairs: Vec<[u32; 2]> = Vec::with_capacity(n / 2 + 1);
        for (_, node) in sequence {
            if name[node as usize] != NONE {
                continue;
            }
            let own = u64::from(self.weights[node as usize]);
            let mut best = (0, NONE);
            for &(other, weight) in self.edges(node) {
                let fits = own + u64::from(self.weights[other as usize]) <= most;
                if name[other as usize] == NONE && other != node && fits && weight > best.0 {
                    best = (weight, other);
                }
            }
            let other = if best.1 == NONE { node } else { best.1 };
            name[node as usize] = pairs.len() as u32;
            name[other as usize] = pairs.len() as u32;
            pairs.push([node, other]);
        }
        if 10 * pairs.len() > 9 * n {
            return None;
        }
        let mut out = Self {
            starts: Vec::with_capacity(pairs.len() + 1),
            edges: Vec::with_capacity(self.edges.len()),
            weights: Vec::with_capacity(pairs.len()),
        };
        out.starts.push(0);
        let mut place = vec![NONE; pairs.len()];
        for (k, &[a, b]) in pairs.iter().enumerate() {
            let start = out.edges.len();
            let mut weight = 0;
            for node in [a, b].into_iter().take(if a == b { 1 } else { 2 }) {
                weight += self.weights[node as usize];
                for &(other, edge) in self.edges(node) {
                    let other = name[other as usize];
                    if other as usize == k {
                        continue;
                    }
                    let at = &mut place[other as usize];
                    if *at == NONE {
                        *at = out.edges.len() as u32;
                        out.edges.push((other, edge));
                    } else {
                        out.edges[*at as usize].1 += edge;
                    }
                }
            }
            for (other, _) in &out.edges[start..] {
                place[*other as usize] = NONE;
            }
            out.weights.push(weight);
            out.starts.push(out.edges.len() as u32);
        }
        Some((out, name))
    }

    /// Sides by breadth-first search from a node until half of the weight is reached; what is next
    /// is the separator.
    fn grown(&self, start: u32) -> Vec<u8> {
        let half = self.total() / 2;
        let mut sides = vec![RIGHT; self.len()];
        let mut is_seen = vec![false; self.len()];
        is_seen[start as usize] = true;
        let mut queue = vec![start];
        let (mut at, mut weight) = (0, 0);
        while at < queue.len() && weight < half {
            let node = queue[at];
            at += 1;
            sides[node as usize] = LEFT;
            weight += u64::from(self.weights[node as usize]);
            for &(other, _) in self.edges(node) {
                if !std::mem::replace(&mut is_seen[other as usize], true) {
                    queue.push(other);
                }
            }
        }
        for &node in &queue[at..] {
            sides[node as usize] = SEPARATOR;
        }
        sides
    }
}

/// Two sides and a separator of a graph that hangs together; none if there is none to speak of.
fn bisect(graph: &Weighted, seed: u64) -> Option<Vec<u8>> {
    let mut levels: Vec<(Weighted, Vec<u32>)> = Vec::new();
    let most = (graph.total() / 30).max(1);
    loop {
        let last = levels.last().map_or(graph, |(coarse, _)| coarse);
        if last.len() <= COARSEST {
            break;
        }
        let Some(coarser) = last.coarser(most, next(seed, 1000 + levels.len() as u64)) else { break };
        levels.push(coarser);
    }
    let coarsest = levels.last().map_or(graph, |(coarse, _)| coarse);
    let mut best: Option<Cut> = None;
    for start in 0..6 {
        let start = next(seed, start) % coarsest.len() as u64;
        let mut cut = Cut::new(coarsest, coarsest.grown(start as u32));
        cut.refine(coarsest);
        if best.as_ref().is_none_or(|best| cut.quality() < best.quality()) {
            best = Some(cut);
        }
    }
    let mut sides = best?.sides;
    while let Some((_, name)) = levels.pop() {
        let finer = levels.last().map_or(graph, |(coarse, _)| coarse);
        let mut cut = Cut::new(finer, name.iter().map(|coarse| sides[*coarse as usize]).collect());
        cut.refine(finer);
        sides = cut.sides;
    }
    let weights = Cut::new(graph, sides);
    let [left, right, separator] = weights.weights;
    let total = (left + right + separator) as f64;
    let is_half = left > 0 && right > 0 && left.max(right) as f64 <= HEAVIEST * total;
    let is_good = is_half && separator as f64 <= WORST * total;
    is_good.then_some(weights.sides)
}

/// Sides of nodes, and their weights.
struct Cut {
    sides: Vec<u8>,
    weights: [u64; 3],
    /// The heaviest that a side may be.
    most: u64,
}

impl Cut {
    fn new(graph: &Weighted, sides: Vec<u8>) -> Self {
        let mut weights = [0; 3];
        for (side, weight) in sides.iter().zip(&graph.weights) {
            weights[usize::from(*side)] += u64::from(*weight);
        }
        Self { sides, weights, most: (SIDE * graph.total() as f64) as u64 }
    }

    /// Smaller is better: balance first, as far as it is asked for, then the separator.
    fn quality(&self) -> (u64, u64, u64) {
        let [left, right, separator] = self.weights;
        (left.max(right).saturating_sub(self.most), separator, left.abs_diff(right))
    }

    fn set(&mut self, graph: &Weighted, node: u32, side: u8) -> u8 {
        let weight = u64::from(graph.weights[node as usize]);
        let before = std::mem::replace(&mut self.sides[node as usize], side);
        self.weights[usize::from(before)] -= weight;
        self.weights[usize::from(side)] += weight;
        before
    }

    /// What the separator loses when a node of it moves to a side and pulls its neighbours in.
    fn gain(&self, graph: &Weighted, node: u32, side: u8) -> i64 {
        let weight = |node: u32| i64::from(graph.weights[node as usize]);
        let pulled = graph.edges(node).iter().filter(|(other, _)| self.sides[*other as usize] == 1 - side);
        weight(node) - pulled.map(|(other, _)| weight(*other)).sum::<i64>()
    }

    /// Moves nodes while that makes the separator smaller.
    fn refine(&mut self, graph: &Weighted) {
        let mut is_locked = vec![false; graph.len()];
        for _ in 0..6 {
            let before = self.quality();
            self.pass(graph, &mut is_locked);
            if self.quality() >= before {
                return;
            }
        }
    }

    fn pass(&mut self, graph: &Weighted, is_locked: &mut [bool]) {
        // The last pushed of equal gains first.
        let mut heap: BinaryHeap<(i64, u32, u32, u8)> = BinaryHeap::new();
        let mut count = 0;
        let mut push = |cut: &Self, heap: &mut BinaryHeap<_>, node: u32, side: u8| {
            count += 1;
            heap.push((cut.gain(graph, node, side), count, node, side));
        };
        for node in (0..graph.len() as u32).filter(|node| self.sides[*node as usize] == SEPARATOR) {
            push(self, &mut heap, node, LEFT);
            push(self, &mut heap, node, RIGHT);
        }
        let mut moves: Vec<(u32, u8)> = Vec::new();
        let mut locked = Vec::new();
        let (mut best, mut kept, mut idle) = (self.quality(), 0, 0);
        while let Some((gain, _, node, side)) = heap.pop() {
            if is_locked[node as usize] || self.sides[node as usize] != SEPARATOR {
                continue;
            }
            let now = self.gain(graph, node, side);
            if now < gain {
                push(self, &mut heap, node, side);
                continue;
            }
            let weight = u64::from(graph.weights[node as usize]);
            let to = self.weights[usize::from(side)] + weight;
            // To the lighter side always.
            if to > self.most && to > self.weights[usize::from(1 - side)] {
                continue;
            }
            is_locked[node as usize] = true;
            locked.push(node);
            moves.push((node, self.set(graph, node, side)));
            for &(other, _) in graph.edges(node) {
                if self.sides[other as usize] != 1 - side {
                    continue;
                }
                moves.push((other, self.set(graph, other, SEPARATOR)));
                if !is_locked[other as usize] {
                    push(self, &mut heap, other, LEFT);
                    push(self, &mut heap, other, RIGHT);
                }
                // Their moves to this side do not pull it in any more.
                for &(third, _) in graph.edges(other) {
                    if self.sides[third as usize] == SEPARATOR && !is_locked[third as usize] {
                        push(self, &mut heap, third, side);
                    }
                }
            }
            let quality = self.quality();
            if quality < best {
                (best, kept, idle) = (quality, moves.len(), 0);
            } else {
                idle += 1;
                if idle > IDLE {
                    break;
                }
            }
        }
        for (node, side) in moves.drain(kept..).rev() {
            self.set(graph, node, side);
        }
        for node in locked {
            is_locked[node as usize] = false;
        }
    }
}
