//! What a light far away sees: how near the nearest thing is, for every direction across.

use glam::{DVec2, DVec3};
use rayon::prelude::*;

use super::soup::Soup;

/// Depths seen along one direction, on a square grid of texels.
#[derive(Debug)]
pub(super) struct DepthMap {
    /// Across, across, and towards the light.
    axes: [DVec3; 3],
    /// Coordinates across of the first texel's corner, and depth of the middle, in metres.
    corner: DVec2,
    base: f64,
    /// Size of a texel in metres.
    pub(super) texel: f64,
    side: usize,
    /// Height above the middle towards the light, in metres; minus infinity where nothing is.
    heights: Vec<f32>,
    /// The same seen from the other side: heights of the lowest things with the sign turned. Empty
    /// in maps of one side.
    depths: Vec<f32>,
}

/// Which of the two lights of a map: the one it was made towards, or the opposite one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Front,
    Back,
}

/// Nothing is there.
const NOTHING: f32 = f32::NEG_INFINITY;

impl DepthMap {
    /// The map of `side` by `side` texels around the middle of the soup. Bands of rows are drawn in
    /// parallel.
    pub(super) fn new(soup: &Soup, towards: DVec3, side: usize, bands: usize) -> Self {
        let (mut map, points) = Self::empty(soup, towards, side);
        let rows = side.div_ceil(bands.max(1));
        let mut heights = std::mem::take(&mut map.heights);
        heights.par_chunks_mut(rows * side).enumerate().for_each(|(band, heights)| {
            let mut band = Band { heights, side, first: band * rows };
            for triangle in &soup.triangles {
                band.draw(triangle.corners.map(|v| points[v as usize]), |_| ());
            }
        });
        map.heights = heights;
        map
    }

    /// The map of two lights, one opposite the other: every triangle is drawn once.
    pub(super) fn of_both_sides(soup: &Soup, towards: DVec3, side: usize) -> Self {
        let (mut map, points) = Self::empty(soup, towards, side);
        map.depths = vec![NOTHING; side * side];
        let mut band = Band { heights: &mut map.heights, side, first: 0 };
        for triangle in &soup.triangles {
            let corners = triangle.corners.map(|v| points[v as usize]);
            band.draw(corners, |(texel, height)| map.depths[texel] = map.depths[texel].max(-height));
        }
        map
    }

    /// A map without anything, and the places of the vertices in it.
    fn empty(soup: &Soup, towards: DVec3, side: usize) -> (Self, Vec<DVec3>) {
        let (u, v) = towards.any_orthonormal_pair();
        let axes = [u, v, towards];
        // Tubes reach beyond the vertices they follow, and edges of the map must not cut anything
        // off.
        let half = 1.06 * soup.radius;
        let texel = 2.0 * half / side as f64;
        let corner = DVec2::new(u.dot(soup.middle), v.dot(soup.middle)) - half;
        let base = towards.dot(soup.middle);
        let heights = vec![NOTHING; side * side];
        let map = Self { axes, corner, base, texel, side, heights, depths: Vec::new() };
        let points = soup.positions.iter().map(|&x| map.place(x)).collect();
        (map, points)
    }

    /// Column and row in texels, and height in metres.
    pub(super) fn place(&self, x: DVec3) -> DVec3 {
        let across = (DVec2::new(self.axes[0].dot(x), self.axes[1].dot(x)) - self.corner) / self.texel;
        across.extend(self.axes[2].dot(x) - self.base)
    }

    /// A direction as columns, rows and height, all in metres.
    pub(super) fn direction(&self, d: DVec3) -> DVec3 {
        DVec3::from(self.axes.map(|axis| axis.dot(d)))
    }

    /// Height of the nearest thing at a column and row.
    pub(super) fn height(&self, column: f64, row: f64) -> f32 {
        let side = self.side as f64;
        if column >= 0.0 && row >= 0.0 && column < side && row < side {
            self.heights[index(row) * self.side + index(column)]
        } else {
            NOTHING
        }
    }

    /// Smallest and largest height in blocks of `block` by `block` texels and in the blocks around
    /// each: the number of blocks along a side, and the heights. Beyond the map there is nothing.
    pub(super) fn bounds(&self, block: usize) -> (usize, Vec<[f32; 2]>) {
        let count = self.side.div_ceil(block);
        let mut own = vec![[f32::INFINITY, NOTHING]; count * count];
        let wider = |[low, high]: [f32; 2], [a, b]: [f32; 2]| [low.min(a), high.max(b)];
        for (y, row) in self.heights.chunks(self.side).enumerate() {
            for (x, texels) in row.chunks(block).enumerate() {
                let slot = &mut own[y / block * count + x];
                *slot = texels.iter().fold(*slot, |bounds, height| wider(bounds, [*height; 2]));
            }
        }
        let around = |k: usize| {
            let (x, y) = ((k % count) as isize, (k / count) as isize);
            let inside = 0..count as isize;
            let neighbours = (-1..=1).flat_map(|j| (-1..=1).map(move |i| (x + i, y + j)));
            neighbours.fold([f32::INFINITY, NOTHING], |bounds, (x, y)| {
                let there = inside.contains(&x) && inside.contains(&y);
                wider(bounds, if there { own[y as usize * count + x as usize] } else { [NOTHING; 2] })
            })
        };
        (count, (0..count * count).map(around).collect())
    }

    /// Part of the light that passes to a place at `height`: 0 or 1 at texels, mixed between them.
    pub(super) fn passes(&self, column: f64, row: f64, height: f64) -> f64 {
        self.passes_from(Side::Front, column, row, height)
    }

    /// The same for either light; the height is towards it.
    pub(super) fn passes_from(&self, from: Side, column: f64, row: f64, height: f64) -> f64 {
        let heights = if from == Side::Front { &self.heights } else { &self.depths };
        let (x, y) = (column - 0.5, row - 0.5);
        let last = (self.side - 1) as f64;
        if !(x >= 0.0 && y >= 0.0 && x < last && y < last) {
            return 1.0;
        }
        let start = index(y) * self.side + index(x);
        // Not `fract`: on plain x86-64 that is a call.
        let (fx, fy) = (x - f64::from(x as i32), y - f64::from(y as i32));
        let height = height as f32;
        let lit = |i: usize| f64::from(u8::from(heights[i] <= height));
        let upper = lit(start) * (1.0 - fx) + lit(start + 1) * fx;
        let lower = lit(start + self.side) * (1.0 - fx) + lit(start + self.side + 1) * fx;
        upper * (1.0 - fy) + lower * fy
    }
}

/// The texel of a column or row that is not negative. Conversion to small signed integers is
/// fastest.
fn index(place: f64) -> usize {
    place as i32 as usize
}

/// Some rows of a map.
struct Band<'a> {
    heights: &'a mut [f32],
    side: usize,
    first: usize,
}

impl Band<'_> {
    /// Draws a triangle; `also` is told every texel that it covers, and its height there.
    fn draw(&mut self, [a, b, c]: [DVec3; 3], mut also: impl FnMut((usize, f32))) {
        let rows = self.heights.len() / self.side;
        let low = a.min(b).min(c);
        let high = a.max(b).max(c);
        // Texels whose middles lie in the box of the triangle.
        let first = |low: f64, least: usize| (low - 0.5).ceil().max(least as f64);
        let last = |high: f64, most: usize| (high - 0.5).floor().min(most as f64 - 1.0);
        let (x0, x1) = (first(low.x, 0), last(high.x, self.side));
        let (y0, y1) = (first(low.y, self.first), last(high.y, self.first + rows));
        let area = (b - a).truncate().perp_dot((c - a).truncate());
        if !(x0 <= x1 && y0 <= y1 && area != 0.0) {
            return;
        }
        let (ab, ac) = ((b - a) / area, (c - a) / area);
        // Weights of b and c rise evenly along rows and columns.
        let (across, down) = (DVec2::new(ac.y, -ab.y), DVec2::new(-ac.x, ab.x));
        let rise = DVec2::new(b.z - a.z, c.z - a.z);
        for y in y0 as u32..=y1 as u32 {
            let first = (y as usize - self.first) * self.side;
            let row = &mut self.heights[first..][..self.side];
            let start = down * (f64::from(y) + 0.5 - a.y);
            for x in x0 as u32..=x1 as u32 {
                let weights = start + across * (f64::from(x) + 0.5 - a.x);
                if weights.x >= 0.0 && weights.y >= 0.0 && weights.x + weights.y <= 1.0 {
                    // Nearly edge-on, rounding must not lift the triangle above its corners.
                    let height = (a.z + rise.dot(weights)).max(low.z).min(high.z) as f32;
                    let slot = &mut row[x as usize];
                    *slot = slot.max(height);
                    also((first + x as usize, height));
                }
            }
        }
    }
}
