//! Light that a point of the drawing sends to the camera.

use glam::{DVec2, DVec3};

use super::camera::View;
use super::colour::linear;
use super::floor::Floor;
use super::light::Lamp;
use super::shadow::{Shadows, Spot};
use super::soup::{Paint, Soup, Triangle};
use super::visibility::{BACKGROUND, GROUND, Linear, planes};

/// Light of the lamp on a surface that faces it, relative to white on screen.
pub(super) const LAMPLIGHT: DVec3 = DVec3::new(1.05, 1.01, 0.96);
/// The same for light from all around.
pub(super) const SKYLIGHT: f64 = 0.50;
/// How far the lamp reaches around the edge of the lit side: fibres stand up.
const WRAP: f64 = 0.12;
/// Light along the rim, scattered by the fibres.
const SHEEN: f64 = 0.16;
const GLOSS: f64 = 0.035;
/// Brightness of mapped colours: light ones must stay apart in full light.
const MAPPED: f64 = 0.84;
/// How dark lines along edges are.
const LINE: f64 = 0.62;

/// All that decides the colour of a pixel.
pub(super) struct Scene<'a> {
    pub(super) soup: &'a Soup,
    pub(super) view: &'a View,
    pub(super) lamp: Option<Lamp>,
    /// Light from all around on both sides of every vertex.
    pub(super) sky: Vec<[DVec3; 2]>,
    pub(super) floor: Option<Floor>,
    /// Linear light of the upper and lower edge of the background.
    pub(super) background: [DVec3; 2],
}

/// A place on a triangle.
struct Hit {
    spot: Spot,
    weights: [f64; 3],
    /// Whether its front is seen.
    front: bool,
    /// Normals of the planes through the eye and its edges.
    edges: [DVec3; 3],
}

impl Scene<'_> {
    /// Linear light of what is seen at a place in the picture, which is in this pixel of a tile: a
    /// triangle, the ground or the background.
    pub(super) fn colour(&self, seen: u32, place: DVec2, shadows: &Shadows, pixel: u32) -> DVec3 {
        let lamp = |spot: &Spot| match &self.lamp {
            Some(lamp) => shadows.seen(lamp, pixel, spot, place, self.view.slope * spot.point.z),
            None => 1.0,
        };
        match seen {
            BACKGROUND => self.behind(place),
            GROUND => {
                let behind = self.behind(place);
                self.floor.as_ref().map_or(behind, |floor| {
                    let towards = self.lamp.as_ref().map(|lamp| lamp.towards);
                    behind * floor.light(self.view.ray(place), towards, lamp)
                })
            }
            triangle => self.surface(triangle, place, lamp),
        }
    }

    /// The point that is seen at a place in the picture, if the lamp can change its colour.
    pub(super) fn spot(&self, seen: u32, place: DVec2) -> Option<Spot> {
        let towards = self.lamp.as_ref()?.towards;
        match seen {
            BACKGROUND => None,
            GROUND => self.floor.as_ref()?.spot(self.view.ray(place)),
            triangle => {
                let spot = self.hit(&self.soup.triangles[triangle as usize], place).spot;
                (spot.normal.dot(towards) > -WRAP).then_some(spot)
            }
        }
    }

    fn behind(&self, place: DVec2) -> DVec3 {
        let [top, bottom] = self.background;
        top.lerp(bottom, (place.y / self.view.size.y).clamp(0.0, 1.0))
    }

    /// Where a triangle is seen.
    fn hit(&self, triangle: &Triangle, place: DVec2) -> Hit {
        let corners = self.soup.corners(triangle);
        let (edges, flat) = planes(corners);
        let ray = self.view.ray(place);
        let volume = corners[0].dot(flat);
        // The mean of the samples of a pixel may lie outside by rounding, or in a gap between them.
        let raw = edges.map(|edge| (edge.dot(ray) * volume.signum()).max(0.0));
        let sum: f64 = raw.iter().sum();
        let weights = if sum > 0.0 { raw.map(|w| w / sum) } else { [1.0 / 3.0; 3] };
        let mix = |field: &[DVec3]| -> DVec3 {
            (0..3).map(|k| field[triangle.corners[k] as usize] * weights[k]).sum()
        };
        // The space of the camera is left-handed.
        let front = volume > 0.0;
        let facing = if front { 1.0 } else { -1.0 };
        let point = mix(&self.soup.positions);
        let normal = mix(&self.soup.normals).try_normalize().or_else(|| (-flat).try_normalize());
        let normal = normal.unwrap_or(DVec3::NEG_Z) * facing;
        Hit { spot: Spot { point, normal }, weights, front, edges }
    }

    fn surface(&self, index: u32, place: DVec2, lamp: impl Fn(&Spot) -> f64) -> DVec3 {
        let triangle = &self.soup.triangles[index as usize];
        let Hit { spot, weights, front, edges } = self.hit(triangle, place);
        let sky: DVec3 =
            (0..3).map(|k| self.sky[triangle.corners[k] as usize][usize::from(!front)] * weights[k]).sum();
        let albedo = match self.soup.paints[triangle.paint as usize] {
            Paint::Plain { front: colour, .. } if front => colour,
            Paint::Plain { back, .. } => back,
            Paint::Mapped(map) => {
                let value = (0..3).map(|k| self.soup.values[triangle.corners[k] as usize] * weights[k]).sum();
                MAPPED * linear(map.colour(value))
            }
        };
        let lit = tone(self.lit(albedo, &spot, sky, lamp));
        if !triangle.edges.contains(&true) {
            return lit;
        }
        lit * (1.0 - LINE * self.line(triangle.edges, edges, place))
    }

    fn lit(&self, albedo: DVec3, spot: &Spot, sky: DVec3, seen: impl Fn(&Spot) -> f64) -> DVec3 {
        let Spot { point, normal } = *spot;
        let to_eye = -point.normalize_or_zero();
        let grazing = 1.0 - normal.dot(to_eye).clamp(0.0, 1.0);
        let rim = SHEEN * grazing.powi(3);
        let mut light = (albedo + rim * (0.4 + 0.6 * albedo)) * sky * SKYLIGHT;
        if let Some(lamp) = &self.lamp {
            let cosine = normal.dot(lamp.towards);
            let wrapped = ((cosine + WRAP) / (1.0 + WRAP)).max(0.0);
            if wrapped > 0.0 {
                let seen = seen(spot);
                let halfway = normal.dot((lamp.towards + to_eye).normalize_or_zero()).max(0.0);
                let gloss = GLOSS * halfway.powi(20) * cosine.max(0.0);
                light += LAMPLIGHT * seen * (albedo * wrapped + rim * wrapped * albedo + gloss);
            }
        }
        light
    }

    /// How much of a pixel the lines along edges cover, 0 to 1.
    fn line(&self, lines: [bool; 3], edges: [DVec3; 3], place: DVec2) -> f64 {
        let half = (self.view.size.y / 2200.0).max(0.35);
        let distance = (0..3)
            .filter(|&k| lines[k])
            .map(|k| {
                let edge = Linear::new(edges[k], self.view);
                edge.at(place).abs() / edge.steepness().max(f64::MIN_POSITIVE)
            })
            .fold(f64::INFINITY, f64::min);
        (half + 0.5 - distance).clamp(0.0, 1.0)
    }
}

/// Brightness on screen: as it is while moderate, then ever closer to white.
fn tone(light: DVec3) -> DVec3 {
    const KNEE: f64 = 0.6;
    DVec3::from(light.to_array().map(|c| {
        if c <= KNEE { c } else { KNEE + (1.0 - KNEE) * (1.0 - (-(c - KNEE) / (1.0 - KNEE)).exp()) }
    }))
}
