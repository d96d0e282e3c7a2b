//! Patches from quad meshes: every edge is a piece of a yarn.

use std::collections::BTreeMap;

use glam::DVec3;

use crate::error::PatchError;
use crate::patch::Patch;
use crate::weave::Weave;
use crate::yarn::{Contacts, Family, Yarn, YarnMaterial};

/// An edge, its smaller node first.
type Edge = (u32, u32);

fn edge(a: u32, b: u32) -> Edge {
    (a.min(b), a.max(b))
}

/// A patch whose yarns are the edges of quads: opposite edges of a quad belong to one family, its
/// neighbours to the other. Yarns go straight on through nodes, so that four quads at most may meet
/// at a node. The first edge of the first quad is a piece of a warp yarn; arc lengths are lengths
/// of edges; all yarns end at the boundary, where nothing slides.
///
/// # Errors
/// If edges cannot be two families of yarns, with the quad or the node, and as [`Patch::new`].
pub fn patch_of_quads(
    x: &[DVec3],
    quads: &[[u32; 4]],
    weave: &Weave,
    [warp, weft]: [YarnMaterial; 2],
    contacts: Contacts,
) -> Result<Patch, PatchError> {
    let count = x.len();
    for (quad, corners) in quads.iter().enumerate() {
        if let Some(&node) = corners.iter().find(|node| **node as usize >= count) {
            return Err(PatchError::NoNode { yarn: format!("quad {quad}"), node, count });
        }
    }
    let families = families(quads)?;
    let mut yarns = Vec::new();
    for family in [Family::Warp, Family::Weft] {
        let mut around: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (&(a, b), _) in families.iter().filter(|(_, of)| **of == family) {
            around.entry(a).or_default().push(b);
            around.entry(b).or_default().push(a);
        }
        if let Some((&node, others)) = around.iter().find(|(_, others)| others.len() > 2) {
            return Err(PatchError::Branch { node, count: others.len() });
        }
        let material = if family == Family::Warp { warp } else { weft };
        for (number, nodes) in chains(&around).into_iter().enumerate() {
            let mut lengths = vec![0.0];
            for pair in nodes.windows(2) {
                let last = lengths.last().copied().unwrap_or(0.0);
                lengths.push(last + x[pair[0] as usize].distance(x[pair[1] as usize]));
            }
            yarns.push(Yarn { family, number, material, nodes, lengths });
        }
    }
    let mut numbers = vec![[0; 2]; count];
    for yarn in &yarns {
        for node in &yarn.nodes {
            numbers[*node as usize][usize::from(yarn.family == Family::Weft)] = yarn.number;
        }
    }
    let over = numbers.iter().map(|[i, j]| weave.warp_is_over(*i, *j)).collect();
    Patch::new(x.to_vec(), yarns, over, contacts)
}

/// The family of each edge.
fn families(quads: &[[u32; 4]]) -> Result<BTreeMap<Edge, Family>, PatchError> {
    let mut of_edge: BTreeMap<Edge, Vec<usize>> = BTreeMap::new();
    for (quad, c) in quads.iter().enumerate() {
        for k in 0..4 {
            of_edge.entry(edge(c[k], c[(k + 1) % 4])).or_default().push(quad);
        }
    }
    let mut families = BTreeMap::new();
    let mut seen = vec![false; quads.len()];
    for first in 0..quads.len() {
        if std::mem::replace(&mut seen[first], true) {
            continue;
        }
        let mut queue = vec![(first, Family::Warp)];
        while let Some((quad, family)) = queue.pop() {
            let c = quads[quad];
            for k in 0..4 {
                let this = if k % 2 == 0 { family } else { other(family) };
                let key = edge(c[k], c[(k + 1) % 4]);
                if *families.entry(key).or_insert(this) != this {
                    let yarn = format!("the edge from node {} to node {}", key.0, key.1);
                    return Err(PatchError::Families { quad, yarn });
                }
                for &next in &of_edge[&key] {
                    if !std::mem::replace(&mut seen[next], true) {
                        let n = quads[next];
                        let place = (0..4).find(|&m| edge(n[m], n[(m + 1) % 4]) == key).unwrap_or(0);
                        queue.push((next, if place % 2 == 0 { this } else { other(this) }));
                    }
                }
            }
        }
    }
    Ok(families)
}

fn other(family: Family) -> Family {
    match family {
        Family::Warp => Family::Weft,
        Family::Weft => Family::Warp,
    }
}

/// Open chains of nodes, each from its end with the smaller number. Closed ones have no end: they
/// are cut at their smallest node, which then is an end of neither family's sliding.
fn chains(around: &BTreeMap<u32, Vec<u32>>) -> Vec<Vec<u32>> {
    let mut used: BTreeMap<u32, bool> = around.keys().map(|node| (*node, false)).collect();
    let mut chains = Vec::new();
    let ends = around.iter().filter(|(_, others)| others.len() == 1).map(|(node, _)| *node);
    for start in ends.chain(around.keys().copied()) {
        if used[&start] {
            continue;
        }
        let mut chain = vec![start];
        used.insert(start, true);
        while let Some(&next) = chain.last().and_then(|last| around[last].iter().find(|n| !used[n])) {
            used.insert(next, true);
            chain.push(next);
        }
        chains.push(chain);
    }
    chains
}
