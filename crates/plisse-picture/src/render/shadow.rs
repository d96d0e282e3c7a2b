//! Shadows of the lamp on a tile. Every pixel looks at few places of the map of the lamp, each at
//! others; the mean over neighbours on the same surface is smooth and cheaper than many places.

use glam::{DVec2, DVec3, Vec3};

use super::light::Lamp;
use super::shade::Scene;
use super::visibility::Tile;

/// Neighbours on each side over which means are taken, in pixels. Tiles overlap by as much.
pub(super) const MARGIN: u32 = 2;
/// Weights of a row of neighbours.
const WEIGHTS: [f32; 2 * MARGIN as usize + 1] = [1.0, 2.0, 2.0, 2.0, 1.0];
/// Neighbours whose normals have a smaller cosine belong to other surfaces, as do those further
/// from the tangent plane than this many pixels.
const SAME_SIDE: f32 = 0.85;
const SAME_PLANE: f64 = 2.0;

/// What pixels of a tile see of the lamp.
pub(super) struct Shadows {
    size: [u32; 2],
    pixels: Vec<Lit>,
    /// What all see, if it is the same.
    even: Option<f64>,
}

/// A point of a surface that faces the lamp.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) point: DVec3,
    /// Unit normal on the side that is seen.
    pub(super) normal: DVec3,
}

#[derive(Clone, Copy)]
struct Lit {
    /// Part of the lamp that is seen; not a number where nothing faces the lamp.
    seen: f32,
    point: Vec3,
    normal: Vec3,
}

const DARK_SIDE: Lit = Lit { seen: f32::NAN, point: Vec3::ZERO, normal: Vec3::ZERO };

impl Shadows {
    /// Of all pixels of a tile, at the sample in the middle of each.
    pub(super) fn new(scene: &Scene<'_>, tile: &Tile, places: &[DVec2]) -> Self {
        let mut shadows = Self { size: tile.size, pixels: Vec::new(), even: Some(1.0) };
        let Some(lamp) = &scene.lamp else { return shadows };
        let middle = places.len() / 2;
        let lit = |pixel: u32| {
            let place = tile.corner(pixel) + places[middle];
            let Some(spot) = scene.spot(tile.pixel(pixel)[middle], place) else { return DARK_SIDE };
            let seen = lamp.seen(spot.point, spot.normal, place) as f32;
            Lit { seen, point: spot.point.as_vec3(), normal: spot.normal.as_vec3() }
        };
        shadows.pixels = (0..tile.size[0] * tile.size[1]).map(lit).collect();
        let mut known = shadows.pixels.iter().map(|pixel| pixel.seen).filter(|seen| !seen.is_nan());
        let first = known.next().unwrap_or(1.0);
        shadows.even = known.all(|seen| seen.to_bits() == first.to_bits()).then_some(f64::from(first));
        shadows
    }

    /// Part of the lamp seen from a spot in a pixel of the tile, which is at `place` in the
    /// picture. `width` is that of a pixel at the spot, in metres.
    pub(super) fn seen(&self, lamp: &Lamp, pixel: u32, spot: &Spot, place: DVec2, width: f64) -> f64 {
        if let Some(even) = self.even {
            return even;
        }
        let [columns, rows] = self.size;
        let (x, y) = (pixel % columns, pixel / columns);
        let (point, normal) = (spot.point.as_vec3(), spot.normal.as_vec3());
        let thick = (SAME_PLANE * width) as f32;
        let (mut sum, mut whole) = (0.0, 0.0);
        for (j, row) in (y.saturating_sub(MARGIN)..=(y + MARGIN).min(rows - 1))
            .map(|row| ((row + MARGIN - y) as usize, row))
        {
            for column in x.saturating_sub(MARGIN)..=(x + MARGIN).min(columns - 1) {
                let other = &self.pixels[(row * columns + column) as usize];
                let near = (other.point - point).dot(normal).abs() <= thick;
                if !other.seen.is_nan() && near && other.normal.dot(normal) > SAME_SIDE {
                    let weight = WEIGHTS[j] * WEIGHTS[(column + MARGIN - x) as usize];
                    sum += weight * other.seen;
                    whole += weight;
                }
            }
        }
        // Something thinner than a pixel.
        if whole == 0.0 { lamp.seen(spot.point, spot.normal, place) } else { f64::from(sum / whole) }
    }
}
