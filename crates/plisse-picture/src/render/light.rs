//! A lamp with soft shadows, and light from all around.

use std::f64::consts::PI;

use glam::{DVec2, DVec3};
use rayon::prelude::*;

use super::camera::View;
use super::depth_map::{DepthMap, Side};
use super::soup::Soup;

/// Tangent of half the angle under which the lamp is seen: the width of soft shadows.
const LAMP: f64 = 0.085;
/// Texels along the side of the map of the lamp: per pixel of the longer side of the picture, and
/// limits.
const LAMP_DETAIL: f64 = 1.2;
const LAMP_SIDES: [f64; 2] = [256.0, 3072.0];
/// Widest blur of shadows, in radii of what the picture is about.
const WIDEST: f64 = 0.07;
/// Part of the widest blur from which on what is in the way everywhere hides the lamp.
const FAR: f64 = 0.4;

/// The lamp.
#[derive(Debug)]
pub(super) struct Lamp {
    map: DepthMap,
    /// Unit vector towards the lamp.
    pub(super) towards: DVec3,
    /// Widest blur in texels.
    widest: f64,
    /// Everything within the widest blur of a block is at least as high as the first and at most
    /// as high as the second; blocks along a side and texels of a block.
    bounds: Vec<[f32; 2]>,
    blocks: usize,
    block: usize,
    search: Vec<DVec2>,
    blur: Vec<DVec2>,
}

impl Lamp {
    pub(super) fn new(soup: &Soup, towards: DVec3, view: &View) -> Self {
        let side = (LAMP_DETAIL * view.longer_side()).clamp(LAMP_SIDES[0], LAMP_SIDES[1]);
        let map = DepthMap::new(soup, towards, side as usize, 16);
        let widest = WIDEST * soup.radius / map.texel;
        let block = (widest.ceil() as usize).max(1) + 1;
        let (blocks, bounds) = map.bounds(block);
        // Few, because the means of neighbouring pixels are taken. Denser in the middle: thin
        // things that nearly touch must not be missed.
        let search = disc(8).iter().map(|tap| *tap * tap.length()).collect();
        Self { map, towards, widest, bounds, blocks, block, search, blur: disc(9) }
    }

    /// Part of the lamp seen from a point of a surface, 0 to 1; `normal` is of unit length on the
    /// side that is seen, `pixel` a place in the picture.
    ///
    /// The mean distance of what is in the way decides how wide the edge of the shadow is: sharp
    /// where things touch.
    pub(super) fn seen(&self, point: DVec3, normal: DVec3, pixel: DVec2) -> f64 {
        let n = self.map.direction(normal);
        // Height of the surface per metre across. Near the edge of the lit side it has no limit of
        // its own.
        let slope = DVec2::new(n.x, n.y) / -n.z.max(0.2);
        let texel = self.map.texel;
        let place = self.map.place(point + normal * texel);
        // A texel has one height: the surface in it is up to half a texel times its slope higher.
        let height = place.z + texel * (0.8 + slope.length());
        let at = |offset: DVec2| (place.x + offset.x, place.y + offset.y, height + texel * slope.dot(offset));
        let [low, high] = self.bounds(place.x, place.y);
        let lift = texel * slope.length() * self.widest;
        if high <= height - lift {
            return 1.0;
        }
        // The same answer as below, without looking at any place.
        if LAMP * (low - height - lift) > FAR * self.widest * texel {
            return 0.0;
        }
        let turn = turn(pixel);
        let (mut above, mut count) = (0.0, 0);
        for tap in &self.search {
            let (column, row, height) = at(turn.rotate(*tap) * self.widest);
            let gap = f64::from(self.map.height(column, row)) - height;
            if gap > 0.0 {
                above += gap;
                count += 1;
            }
        }
        if count == 0 {
            return 1.0;
        }
        let blur = (LAMP * above / (count as f64 * texel)).clamp(1.5, self.widest);
        // In a hollow all places looked at may be a little higher: only what is far above hides the
        // lamp for sure.
        if count == self.search.len() && blur > FAR * self.widest {
            return 0.0;
        }
        let lit = self.blur.iter().map(|tap| {
            let (column, row, height) = at(turn.rotate(*tap) * blur);
            self.map.passes(column, row, height)
        });
        lit.sum::<f64>() / self.blur.len() as f64
    }

    /// Heights of the lowest and the highest thing within the widest blur of a column and row, or
    /// somewhat further.
    fn bounds(&self, column: f64, row: f64) -> [f64; 2] {
        // Blocks next to the map look into it.
        let last = (self.blocks * self.block) as f64;
        let around = self.block as f64;
        if !(column > -around && row > -around && column < last + around && row < last + around) {
            return [f64::NEG_INFINITY; 2];
        }
        let block = |place: f64| (place.max(0.0) as usize / self.block).min(self.blocks - 1);
        self.bounds[block(row) * self.blocks + block(column)].map(f64::from)
    }
}

/// A turn that differs much between neighbouring pixels: together they look at many places.
fn turn(pixel: DVec2) -> DVec2 {
    // Steps along rows and columns whose multiples spread evenly: the inverse powers of the plastic
    // number.
    let [x, y] = [pixel.x, pixel.y].map(|p| f64::from(p as u32));
    let turns = 0.754_877_666_246_692_7 * x + 0.569_840_290_998_053_2 * y;
    DVec2::from_angle(2.0 * PI * (turns - f64::from(turns as u32)))
}

/// Points spread evenly over the unit disc along a spiral.
fn disc(count: usize) -> Vec<DVec2> {
    let golden = PI * (3.0 - 5f64.sqrt());
    let point = |i: usize| {
        let radius = ((i as f64 + 0.5) / count as f64).sqrt();
        DVec2::from_angle(golden * i as f64) * radius
    };
    (0..count).map(point).collect()
}

/// Light from all around: brighter from above, less where things are in the way.
#[derive(Debug)]
pub(super) struct Sky {
    /// Unit vector up.
    up: DVec3,
    /// Light comes along these and their opposites.
    directions: Vec<DVec3>,
    /// One map per direction and its opposite; none without occlusion.
    maps: Vec<DepthMap>,
}

/// The same as for the lamp.
const SKY_DETAIL: f64 = 0.25;
const SKY_SIDES: [f64; 2] = [64.0, 256.0];
const ABOVE: DVec3 = DVec3::new(0.90, 0.96, 1.04);
const BELOW: DVec3 = DVec3::new(0.52, 0.48, 0.44);
/// Part of the light that reaches a hidden place after all, from surface to surface.
const SCATTERED: f64 = 0.12;

impl Sky {
    pub(super) fn new(soup: &Soup, up: DVec3, occlusion: bool, view: &View) -> Self {
        let side = (SKY_DETAIL * view.longer_side()).clamp(SKY_SIDES[0], SKY_SIDES[1]) as usize;
        // Large meshes are seen from fewer directions: their vertices are many.
        let count = (600_000 / soup.triangles.len().max(1)).clamp(12, 24);
        let golden = PI * (3.0 - 5f64.sqrt());
        let direction = |i: usize| {
            let z = 1.0 - (2 * i + 1) as f64 / (2 * count) as f64;
            let (sin, cos) = (golden * i as f64).sin_cos();
            let across = (1.0 - z * z).sqrt();
            DVec3::new(across * cos, across * sin, z)
        };
        let directions: Vec<DVec3> = (0..count).map(direction).collect();
        let maps = if occlusion && !soup.triangles.is_empty() {
            directions.par_iter().map(|&d| DepthMap::of_both_sides(soup, d, side)).collect()
        } else {
            Vec::new()
        };
        Self { up, directions, maps }
    }

    /// Light from one direction.
    fn radiance(&self, d: DVec3) -> DVec3 {
        let t = (0.5 + 0.75 * d.dot(self.up)).clamp(0.0, 1.0);
        BELOW.lerp(ABOVE, t * t * (3.0 - 2.0 * t))
    }

    /// Light on one side of a surface with nothing in the way.
    pub(super) fn empty(&self, normal: DVec3) -> DVec3 {
        let weight = |d: &DVec3| normal.dot(*d).max(0.0);
        let all = || self.directions.iter().flat_map(|d| [*d, -*d]);
        let whole: f64 = all().map(|d| weight(&d)).sum();
        all().map(|d| self.radiance(d) * weight(&d)).sum::<DVec3>() / whole.max(1e-9)
    }

    /// Part of the empty sky's light on points that all look up.
    pub(super) fn openness(&self, points: &[DVec3]) -> Vec<f64> {
        let normals = vec![self.up; points.len()];
        let empty = self.empty(self.up).element_sum();
        let lights = self.light_on(points, &normals, 1);
        lights.iter().map(|sides| (sides[0].element_sum() / empty).min(1.0)).collect()
    }

    /// Light on both sides of every point: along its normal and against it.
    pub(super) fn light(&self, points: &[DVec3], normals: &[DVec3]) -> Vec<[DVec3; 2]> {
        self.light_on(points, normals, 2)
    }

    /// Light on the first `sides` sides.
    fn light_on(&self, points: &[DVec3], normals: &[DVec3], sides: usize) -> Vec<[DVec3; 2]> {
        let mut light = vec![[DVec3::ZERO; 2]; points.len()];
        // Neighbours look up the same texels: all of them in one map before the next map.
        light.par_chunks_mut(256).enumerate().for_each(|(chunk, light)| {
            let points = &points[256 * chunk..][..light.len()];
            let normals = &normals[256 * chunk..][..light.len()];
            let mut weights = vec![[0.0; 2]; light.len()];
            for (i, &direction) in self.directions.iter().enumerate() {
                let radiance = [direction, -direction].map(|d| self.radiance(d));
                for (k, light) in light.iter_mut().enumerate() {
                    let cosine = normals[k].dot(direction);
                    // One side sees the light along the direction, the other its opposite.
                    let front = usize::from(cosine < 0.0);
                    let normal = if front == 0 { normals[k] } else { -normals[k] };
                    for side in 0..sides {
                        let opposite = side != front;
                        let seen = self.maps.get(i).map_or(1.0, |map| seen(map, points[k], normal, opposite));
                        let part = cosine.abs() * (SCATTERED + (1.0 - SCATTERED) * seen);
                        light[side] += radiance[usize::from(opposite)] * part;
                        weights[k][side] += cosine.abs();
                    }
                }
            }
            for (light, weights) in light.iter_mut().zip(&weights) {
                for side in 0..2 {
                    light[side] /= weights[side].max(1e-9);
                }
            }
        });
        light
    }
}

/// Part of the light along the direction of a map that reaches a point of a surface, or of the
/// opposite light that reaches its other side. `normal` is that of the side that the direction
/// lights.
fn seen(map: &DepthMap, point: DVec3, normal: DVec3, opposite: bool) -> f64 {
    let cosine = map.direction(normal).z.clamp(0.2, 1.0);
    let slope = (1.0 - cosine * cosine).sqrt() / cosine;
    let lift = map.texel * (0.5 + 0.7 * slope);
    if opposite {
        let place = map.place(point - normal * map.texel);
        map.passes_from(Side::Back, place.x, place.y, lift - place.z)
    } else {
        let place = map.place(point + normal * map.texel);
        map.passes(place.x, place.y, place.z + lift)
    }
}
