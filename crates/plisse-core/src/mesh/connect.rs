//! What belongs together: vertices in the same place, and vertices that are linked.

use std::collections::HashMap;

use glam::DVec3;

/// For each point the first point that it coincides with: itself, or an earlier one at most
/// `tolerance` metres away.
///
/// Points are taken in order. A point joins the first of the points kept so far that is near
/// enough, or is kept itself: points in exactly the same place always join the same one, and kept
/// points are further apart than the tolerance. Distances below 1e-15 of the size of the whole
/// count as zero. Points that are not finite coincide with nothing.
///
/// ```
/// use glam::DVec3;
/// let points = [DVec3::ZERO, DVec3::X, DVec3::new(1e-7, 0.0, 0.0), DVec3::X];
/// assert_eq!(plisse_core::coincident(&points, 1e-6), [0, 1, 0, 1]);
/// assert_eq!(plisse_core::coincident(&points, 0.0), [0, 1, 2, 1]);
/// ```
#[must_use]
pub fn coincident(points: &[DVec3], tolerance: f64) -> Vec<u32> {
    let finite = || points.iter().filter(|x| x.is_finite());
    let low = finite().fold(DVec3::INFINITY, |low, x| low.min(*x));
    let high = finite().fold(DVec3::NEG_INFINITY, |high, x| high.max(*x));
    let size = (high - low).max_element().clamp(f64::MIN_POSITIVE, 1e300);
    // Cells of this side: whatever is near enough lies in the same cell or in one next to it. The
    // lower bound keeps the numbers of cells far from overflow.
    let tolerance = tolerance.max(1e-15 * size);
    let cell = |x: DVec3| ((x - low) / tolerance).to_array().map(|c| c.floor() as i64);
    let mut kept: HashMap<[i64; 3], Vec<u32>> = HashMap::new();
    let mut first: Vec<u32> = Vec::with_capacity(points.len());
    for (i, x) in points.iter().enumerate() {
        let i = i as u32;
        if !x.is_finite() {
            first.push(i);
            continue;
        }
        let centre = cell(*x);
        let mut found = i;
        for around in 0..27_i64 {
            let offset = [around % 3 - 1, around / 3 % 3 - 1, around / 9 - 1];
            let key = [0, 1, 2].map(|axis| centre[axis].saturating_add(offset[axis]));
            let near = |other: &&u32| points[**other as usize].distance(*x) <= tolerance;
            found = kept.get(&key).into_iter().flatten().filter(near).copied().fold(found, u32::min);
        }
        if found == i {
            kept.entry(centre).or_default().push(i);
        }
        first.push(found);
    }
    first
}

/// The pieces that `count` vertices fall into when these pairs of them are linked: the vertices of
/// each piece, ascending, in the order of their first vertices. Pairs with an index out of range
/// link nothing.
///
/// ```
/// let pieces = plisse_core::connected_pieces(5, [[0, 3], [1, 2]]);
/// assert_eq!(pieces, [vec![0, 3], vec![1, 2], vec![4]]);
/// ```
#[must_use]
pub fn connected_pieces(count: usize, links: impl IntoIterator<Item = [u32; 2]>) -> Vec<Vec<u32>> {
    let mut parent: Vec<u32> = (0..count as u32).collect();
    for [a, b] in links {
        if (a.max(b) as usize) < count {
            let (a, b) = (root(&mut parent, a), root(&mut parent, b));
            // The smaller number stays: the root of a piece is its first vertex.
            parent[a.max(b) as usize] = a.min(b);
        }
    }
    let mut number = vec![0_usize; count];
    let mut pieces: Vec<Vec<u32>> = Vec::new();
    for v in 0..count as u32 {
        let first = root(&mut parent, v);
        if first == v {
            number[v as usize] = pieces.len();
            pieces.push(Vec::new());
        }
        pieces[number[first as usize]].push(v);
    }
    pieces
}

/// Follows the parents, and halves the path for the next one.
fn root(parent: &mut [u32], mut v: u32) -> u32 {
    while parent[v as usize] != v {
        let above = parent[parent[v as usize] as usize];
        parent[v as usize] = above;
        v = above;
    }
    v
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix;

    /// Against every pair: nothing near is missed, nothing far is joined.
    #[test]
    fn coincident_points_are_those_that_are_near() {
        let mut random = SplitMix::new(5);
        for (spread, tolerance) in [(1.0, 0.1), (1e-3, 2e-4), (1e6, 5e4), (1.0, 0.0)] {
            let far = DVec3::splat(1e3 * spread);
            let mut points: Vec<DVec3> =
                (0..300).map(|_| far + DVec3::from([0; 3].map(|_: i32| random.signed() * spread))).collect();
            points.extend_from_within(..20);
            let first = coincident(&points, tolerance);
            for (i, x) in points.iter().enumerate() {
                let kept = |j: usize| first[j] as usize == j;
                assert!(points[first[i] as usize].distance(*x) <= tolerance + 1e-15 * spread);
                let missed = (0..i).find(|j| kept(i) && kept(*j) && points[*j].distance(*x) <= tolerance);
                assert_eq!(missed, None, "{i}");
            }
            assert!((0..20).all(|i| first[300 + i] == first[i]));
        }
    }

    #[test]
    fn points_anywhere_are_no_reason_to_hang_or_to_panic() {
        let odd = [f64::NAN, f64::INFINITY, -1e308, 1e308, 0.0, 1e-308].map(DVec3::splat);
        assert_eq!(coincident(&odd, 1e-300), [0, 1, 2, 3, 4, 4]);
        assert_eq!(coincident(&[], 1.0), [] as [u32; 0]);
        assert_eq!(coincident(&[DVec3::ONE; 3], 0.0), [0, 0, 0]);
    }

    #[test]
    fn pieces_of_a_long_chain_and_of_nothing() {
        let chain = (0..99_999_u32).rev().map(|i| [i, i + 1]);
        assert_eq!(connected_pieces(100_000, chain).len(), 1);
        assert!(connected_pieces(0, []).is_empty());
        assert_eq!(connected_pieces(2, [[0, 7]]).len(), 2);
    }
}
