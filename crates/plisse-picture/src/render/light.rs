//! A lamp with soft shadows, and light from all around.

use std::f64::consts::PI;

use glam::{DVec2, DVec3};
use rayon::prelude::*;

use super::camera::View;
use super::depth_map::DepthMap;
use super::soup::Soup;

/// Tangent of half the angle under which the lamp is seen: the width of soft shadows.
const LAMP: f64 = 0.085;
/// Texels along the side of the map of the lamp: per pixel of the longer side of the picture, and
/// limits.
const LAMP_DETAIL: f64 = 1.2;
const LAMP_SIDES: [f64; 2] = [256.0, 3072.0];
/// Widest blur of shadows, in radii of what the picture is about.
const WIDEST: f64 = 0.07;

/// The lamp.
#[derive(Debug)]
pub(super) struct Lamp {
    map: DepthMap,
    /// Unit vector towards the lamp.
    pub(super) towards: DVec3,
    /// Widest blur in texels.
    widest: f64,
    /// Nothing within the widest blur of a block is higher than this; blocks along a side and
    /// texels of a block.
    ceilings: Vec<f32>,
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
        let (blocks, ceilings) = map.ceilings(block);
        // Denser in the middle: thin things that nearly touch must not be missed.
        let search = disc(22).iter().map(|tap| *tap * tap.length()).collect();
        Self { map, towards, widest, ceilings, blocks, block, search, blur: disc(36) }
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
        if self.ceiling(place.x, place.y) <= height - texel * slope.length() * self.widest {
            return 1.0;
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
        if count == self.search.len() && blur > 0.4 * self.widest {
            return 0.0;
        }
        let lit = self.blur.iter().map(|tap| {
            let (column, row, height) = at(turn.rotate(*tap) * blur);
            self.map.passes(column, row, height)
        });
        lit.sum::<f64>() / self.blur.len() as f64
    }

    /// Nothing within the widest blur of a column and row is higher than this.
    fn ceiling(&self, column: f64, row: f64) -> f64 {
        // Blocks next to the map look into it.
        let last = (self.blocks * self.block) as f64;
        let around = self.block as f64;
        if !(column > -around && row > -around && column < last + around && row < last + around) {
            return f64::NEG_INFINITY;
        }
        let block = |place: f64| (place.max(0.0) as usize / self.block).min(self.blocks - 1);
        f64::from(self.ceilings[block(row) * self.blocks + block(column)])
    }
}

/// A turn that differs much between neighbouring pixels: shadows get fine grain in place of bands.
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
    directions: Vec<DVec3>,
    /// One map per direction; none without occlusion.
    maps: Vec<DepthMap>,
}

/// The same as for the lamp.
const SKY_DETAIL: f64 = 0.25;
const SKY_SIDES: [f64; 2] = [64.0, 320.0];
const ABOVE: DVec3 = DVec3::new(0.90, 0.96, 1.04);
const BELOW: DVec3 = DVec3::new(0.52, 0.48, 0.44);
/// Part of the light that reaches a hidden place after all, from surface to surface.
const SCATTERED: f64 = 0.12;

impl Sky {
    pub(super) fn new(soup: &Soup, up: DVec3, occlusion: bool, view: &View) -> Self {
        let side = (SKY_DETAIL * view.longer_side()).clamp(SKY_SIDES[0], SKY_SIDES[1]) as usize;
        // Large meshes are seen from fewer directions: their vertices are many.
        let count = (6_000_000 / soup.triangles.len().max(1)).clamp(24, 72);
        let golden = PI * (3.0 - 5f64.sqrt());
        let direction = |i: usize| {
            let z = 1.0 - (2 * i + 1) as f64 / count as f64;
            let (sin, cos) = (golden * i as f64).sin_cos();
            let across = (1.0 - z * z).sqrt();
            DVec3::new(across * cos, across * sin, z)
        };
        let directions: Vec<DVec3> = (0..count).map(direction).collect();
        let maps = if occlusion && !soup.triangles.is_empty() {
            directions.par_iter().map(|&d| DepthMap::new(soup, d, side, 1)).collect()
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
        let whole: f64 = self.directions.iter().map(weight).sum();
        self.directions.iter().map(|d| self.radiance(*d) * weight(d)).sum::<DVec3>() / whole.max(1e-9)
    }

    /// Light on both sides of every point: along its normal and against it.
    pub(super) fn light(&self, points: &[DVec3], normals: &[DVec3]) -> Vec<[DVec3; 2]> {
        let mut light = vec![[DVec3::ZERO; 2]; points.len()];
        // Neighbours look up the same texels: all of them in one map before the next map.
        light.par_chunks_mut(256).enumerate().for_each(|(chunk, light)| {
            let points = &points[256 * chunk..][..light.len()];
            let normals = &normals[256 * chunk..][..light.len()];
            let mut weights = vec![[0.0; 2]; light.len()];
            for (i, &direction) in self.directions.iter().enumerate() {
                let radiance = self.radiance(direction);
                for (k, light) in light.iter_mut().enumerate() {
                    let cosine = normals[k].dot(direction);
                    let side = usize::from(cosine < 0.0);
                    let seen = self.maps.get(i).map_or(1.0, |map| {
                        seen(map, points[k], if side == 0 { normals[k] } else { -normals[k] })
                    });
                    light[side] += radiance * (cosine.abs() * (SCATTERED + (1.0 - SCATTERED) * seen));
                    weights[k][side] += cosine.abs();
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

/// Part of the light along one direction that reaches a point of a surface.
fn seen(map: &DepthMap, point: DVec3, normal: DVec3) -> f64 {
    let cosine = map.direction(normal).z.clamp(0.2, 1.0);
    let slope = (1.0 - cosine * cosine).sqrt() / cosine;
    let place = map.place(point + normal * map.texel);
    map.passes(place.x, place.y, place.z + map.texel * (0.5 + 0.7 * slope))
}
