//! In which order unknowns are eliminated.
//!
//! Minimum degree works on the graph of nodes, each expanded to its unknowns: the same fill as on
//! scalars, for a fraction of the time. Where nodes of few unknowns hang on larger ones, as arc
//! lengths on the crossings of yarns, they have low degrees and go first, whole chains of them, and
//! what they leave behind couples places far from each other: 7.5 times the fill on a patch of 45
//! by 45 crossings. There a second order treats each of them as a part of the node with which it
//! has most neighbours in common.

use faer::dyn_stack::MemStack;
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::amd;

use crate::error::LinearError;
use crate::indefinite::buffer;
use crate::pattern::Pattern;

/// The nodes by minimum degree.
pub(crate) fn by_nodes(blocks: &Pattern) -> Result<Vec<u32>, LinearError> {
    let starts: Vec<u32> = (0..blocks.size())
        .map(|j| blocks.entries(j).start as u32)
        .chain([blocks.block_count() as u32])
        .collect();
    minimum_degree(&starts, blocks.rows())
}

/// The nodes by minimum degree of groups: nodes with fewer unknowns than the largest join one of
/// these. None where that would be the order of the nodes again.
pub(crate) fn by_groups(blocks: &Pattern) -> Result<Option<Vec<u32>>, LinearError> {
    let Some(home) = homes(blocks) else { return Ok(None) };
    // Groups in the order of their first nodes.
    let mut group_of = vec![u32::MAX; home.len()];
    let mut members: Vec<Vec<u32>> = Vec::new();
    for node in 0..home.len() {
        let head = home[node] as usize;
        if group_of[head] == u32::MAX {
            group_of[head] = members.len() as u32;
            members.push(Vec::new());
        }
        members[group_of[head] as usize].push(node as u32);
    }
    let group = |node: u32| group_of[home[node as usize] as usize];
    let mut pairs: Vec<(u32, u32)> = (0..members.len() as u32).map(|k| (k, k)).collect();
    for j in 0..blocks.size() {
        for &i in blocks.rows_of_column(j) {
            let (a, b) = (group(i), group(j as u32));
            pairs.push((a.min(b), a.max(b)));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    let mut starts = vec![0u32; members.len() + 1];
    for (column, _) in &pairs {
        starts[*column as usize + 1] += 1;
    }
    for k in 0..members.len() {
        starts[k + 1] += starts[k];
    }
    let rows: Vec<u32> = pairs.into_iter().map(|(_, row)| row).collect();
    let order = minimum_degree(&starts, &rows)?;
    Ok(Some(order.into_iter().flat_map(|k| std::mem::take(&mut members[k as usize])).collect()))
}

/// For each node the largest node it belongs to; itself for those, and where there is none among
/// its neighbours. None if that holds for all.
fn homes(blocks: &Pattern) -> Option<Vec<u32>> {
    let (n, layout) = (blocks.size(), blocks.layout());
    let largest = (0..n).map(|node| layout.size(node)).max()?;
    if (0..n).all(|node| layout.size(node) == largest) {
        return None;
    }
    let neighbours = neighbours(blocks);
    let mut seen_from = vec![u32::MAX; n];
    let mut home: Vec<u32> = (0..n as u32).collect();
    for node in (0..n).filter(|node| layout.size(*node) < largest) {
        for &other in &neighbours[node] {
            seen_from[other as usize] = node as u32;
        }
        let mut best = 0;
        for &other in neighbours[node].iter().filter(|other| layout.size(**other as usize) == largest) {
            let is_common = |third: &&u32| seen_from[**third as usize] == node as u32;
            let common = 1 + neighbours[other as usize].iter().filter(is_common).count();
            if common > best {
                best = common;
                home[node] = other;
            }
        }
    }
    home.iter().enumerate().any(|(node, home)| *home as usize != node).then_some(home)
}

/// The neighbours of each node, ascending.
fn neighbours(blocks: &Pattern) -> Vec<Vec<u32>> {
    let mut out = vec![Vec::new(); blocks.size()];
    for j in 0..blocks.size() {
        for &i in blocks.rows_of_column(j).iter().filter(|i| **i as usize != j) {
            out[i as usize].push(j as u32);
            out[j].push(i);
        }
    }
    out.iter_mut().for_each(|list| list.sort_unstable());
    out
}

/// Minimum degree on a graph whose edges are in one triangle, or in both, by columns.
pub(crate) fn minimum_degree(starts: &[u32], rows: &[u32]) -> Result<Vec<u32>, LinearError> {
    let n = starts.len() - 1;
    let (mut order, mut rank) = (vec![0u32; n], vec![0u32; n]);
    let graph = SymbolicSparseColMatRef::new_checked(n, n, starts, None, rows);
    let mut memory = buffer(amd::order_scratch::<u32>(n, rows.len()))?;
    amd::order(&mut order, &mut rank, graph, amd::Control::default(), MemStack::new(&mut memory))
        .map_err(|_| LinearError::OutOfMemory)?;
    Ok(order)
}
