//! Which triangle is seen in each sample of a tile of the picture.
//!
//! With the eye in the origin, the weight of corner `a` where a ray `d` meets the triangle `a b c`
//! is proportional to `d·(b × c)`. This is linear in the place in the picture and needs no clipping
//! before or behind the camera.

use glam::{DVec2, DVec3};

use super::camera::View;
use super::soup::Soup;

/// Side of a tile in pixels.
pub(super) const TILE: u32 = 64;
/// In place of a triangle: the background, and the ground.
pub(super) const BACKGROUND: u32 = u32::MAX;
pub(super) const GROUND: u32 = u32::MAX - 1;

/// A function `x·p.x + y·p.y + z` of the place `p` in the picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Linear(DVec3);

impl Linear {
    /// `n·ray(p)`. Opposite vectors give opposite values to the last bit.
    pub(super) fn new(n: DVec3, view: &View) -> Self {
        let (x, y) = (n.x * view.slope, -n.y * view.slope);
        Self(DVec3::new(x, y, n.z - (x * view.middle.x + y * view.middle.y)))
    }

    pub(super) fn at(&self, p: DVec2) -> f64 {
        self.0.x * p.x + self.0.y * p.y + self.0.z
    }

    /// Change per pixel in the direction in which it is largest.
    pub(super) fn steepness(&self) -> f64 {
        self.0.truncate().length()
    }
}

/// Normals of the planes through the eye and the edges opposite the corners, and of the triangle.
pub(super) fn planes([a, b, c]: [DVec3; 3]) -> ([DVec3; 3], DVec3) {
    ([b.cross(c), c.cross(a), a.cross(b)], (b - a).cross(c - a))
}

/// Places of the samples in a pixel: as many different columns and rows as samples.
pub(super) fn sample_places(samples: u32) -> Vec<DVec2> {
    let n = f64::from(samples);
    let place = |k: u32| {
        let (i, j) = (f64::from(k % samples), f64::from(k / samples));
        DVec2::new(i + (j + 0.5) / n, j + (n - i - 0.5) / n) / n
    };
    (0..samples * samples).map(place).collect()
}

/// First and last column and row of the pixels a triangle may touch, none if it is out of sight.
pub(super) fn pixel_box(corners: [DVec3; 3], view: &View) -> Option<[u32; 4]> {
    let near = view.near();
    let mut low = DVec2::INFINITY;
    let mut high = DVec2::NEG_INFINITY;
    let mut include = |x: DVec3| {
        let pixel = view.pixel(x);
        low = low.min(pixel);
        high = high.max(pixel);
    };
    for i in 0..3 {
        let (a, b) = (corners[i], corners[(i + 1) % 3]);
        if a.z >= near {
            include(a);
        }
        if (a.z >= near) != (b.z >= near) {
            let mut cut = a.lerp(b, (near - a.z) / (b.z - a.z));
            cut.z = near;
            include(cut);
        }
    }
    let last = view.size - 1.0;
    let seen = high.cmpge(DVec2::ZERO).all() && low.cmple(view.size).all();
    // A pixel more on each side: places were rounded.
    let from = (low.floor() - 1.0).clamp(DVec2::ZERO, last);
    let to = (high.floor() + 1.0).clamp(DVec2::ZERO, last);
    seen.then_some([from.x as u32, to.x as u32, from.y as u32, to.y as u32])
}

/// Samples of a tile.
pub(super) struct Tile {
    /// First column and row, in pixels.
    pub(super) first: [u32; 2],
    /// Columns and rows, in pixels.
    pub(super) size: [u32; 2],
    samples: usize,
    /// Inverse depths, relative to the distance of the camera, and triangles; all samples of a
    /// pixel together.
    inverse: Vec<f32>,
    seen: Vec<u32>,
}

impl Tile {
    /// A tile without triangles. `ground` is the inverse depth of the ground, where it is positive.
    pub(super) fn new(first: [u32; 2], size: [u32; 2], places: &[DVec2], ground: Option<Linear>) -> Self {
        let count = (size[0] * size[1]) as usize * places.len();
        let mut tile = Self {
            first,
            size,
            samples: places.len(),
            inverse: vec![0.0; count],
            seen: vec![BACKGROUND; count],
        };
        let Some(ground) = ground else { return tile };
        for (pixel, inverse) in tile.inverse.chunks_mut(places.len()).enumerate() {
            let corner = corner(first, size, pixel as u32);
            for (k, place) in places.iter().enumerate() {
                let depth = ground.at(corner + *place);
                if depth > 0.0 {
                    inverse[k] = depth as f32;
                    tile.seen[pixel * places.len() + k] = GROUND;
                }
            }
        }
        tile
    }

    /// Triangles seen in the samples of a pixel of the tile, counted row by row.
    pub(super) fn pixel(&self, pixel: u32) -> &[u32] {
        &self.seen[pixel as usize * self.samples..][..self.samples]
    }

    /// Upper left corner of a pixel of the tile, as a place in the picture.
    pub(super) fn corner(&self, pixel: u32) -> DVec2 {
        corner(self.first, self.size, pixel)
    }

    /// Draws a triangle of the soup; `bounds` as from [`pixel_box`].
    pub(super) fn draw(&mut self, soup: &Soup, index: u32, bounds: [u32; 4], view: &View, places: &[DVec2]) {
        let corners = soup.corners(&soup.triangles[index as usize]);
        let (edges, normal) = planes(corners);
        let volume = corners[0].dot(normal);
        let sign = if volume > 0.0 { 1.0 } else { -1.0 };
        if volume == 0.0 || !volume.is_finite() {
            return;
        }
        let edges = edges.map(|n| Linear::new(n * sign, view));
        let depth = Linear::new(normal * (view.distance / volume), view);
        // Seen edge-on, rounding must not bring the triangle nearer than its corners.
        let z = corners.map(|x| x.z.max(view.near()));
        let nearest = view.distance / z[0].min(z[1]).min(z[2]);
        let clipped = corners.iter().any(|x| x.z < view.near());
        let x0 = bounds[0].max(self.first[0]);
        let x1 = bounds[1].min(self.first[0] + self.size[0] - 1);
        let y0 = bounds[2].max(self.first[1]);
        let y1 = bounds[3].min(self.first[1] + self.size[1] - 1);
        // From the middle of a pixel to its corners the weights change by this much at most.
        let slack = edges.map(|e| 0.5 * (e.0.x.abs() + e.0.y.abs()));
        let outside = |p: DVec2, size: f64| (0..3).any(|i| edges[i].at(p) < -slack[i] * size);
        let span = DVec2::new(f64::from(x1) - f64::from(x0), f64::from(y1) - f64::from(y0)) + 1.0;
        let middle = DVec2::new(f64::from(x0), f64::from(y0)) + 0.5 * span;
        if x0 > x1 || y0 > y1 || outside(middle, 1.001 * span.max_element()) {
            return;
        }
        for y in y0..=y1 {
            for x in x0..=x1 {
                let corner = DVec2::new(f64::from(x), f64::from(y));
                if outside(corner + 0.5, 1.001) {
                    continue;
                }
                let pixel = (y - self.first[1]) * self.size[0] + (x - self.first[0]);
                let start = pixel as usize * self.samples;
                for (k, place) in places.iter().enumerate() {
                    let p = corner + *place;
                    let inverse = depth.at(p);
                    let visible = inverse > 0.0 && !(clipped && inverse > nearest);
                    if visible && edges.iter().all(|edge| edge.at(p) >= 0.0) {
                        let inverse = inverse.min(nearest) as f32;
                        if inverse > self.inverse[start + k] {
                            self.inverse[start + k] = inverse;
                            self.seen[start + k] = index;
                        }
                    }
                }
            }
        }
    }
}

fn corner(first: [u32; 2], size: [u32; 2], pixel: u32) -> DVec2 {
    DVec2::new(f64::from(first[0] + pixel % size[0]), f64::from(first[1] + pixel / size[0]))
}
