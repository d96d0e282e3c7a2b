//! The ground: only its shadows are seen.

use glam::{DVec2, DVec3};

use super::camera::View;
use super::light::Sky;
use super::options::Ground;
use super::shade::{LAMPLIGHT, SKYLIGHT};
use super::shadow::Spot;
use super::soup::Soup;
use super::visibility::Linear;

/// Points along the side of the grid on which light from all around is known.
const SIDE: usize = 112;
/// Half the side of that grid, and where shadows begin to fade and have faded, in radii.
const REACH: f64 = 3.0;
const FADE: [f64; 2] = [1.6, 2.9];

/// The ground in the space of the camera.
#[derive(Debug)]
pub(super) struct Floor {
    up: DVec3,
    /// Distance from the eye along `up`; negative, as the eye is above.
    height: f64,
    middle: DVec3,
    across: [DVec3; 2],
    radius: f64,
    /// Light from all around relative to that of an empty ground, 0 to 1.
    open: Vec<f64>,
}

impl Floor {
    /// None if the camera is below the ground.
    pub(super) fn new(ground: &Ground, soup: &Soup, sky: &Sky, view: &View) -> Option<Self> {
        let length = ground.up.length();
        let up = view.direction(ground.up.normalize_or_zero());
        // A little lower: cloth that lies on it must not sink in.
        let height = up.dot(view.point(ground.up / length * ground.height)) - 1e-3 * soup.radius;
        if !(height < 0.0 && height.is_finite()) {
            return None;
        }
        let middle = soup.middle + up * (height - up.dot(soup.middle));
        let (u, v) = up.any_orthonormal_pair();
        let mut floor = Self { up, height, middle, across: [u, v], radius: soup.radius, open: Vec::new() };
        let points: Vec<DVec3> = (0..SIDE * SIDE)
            .map(|k| {
                let place = DVec2::new((k % SIDE) as f64, (k / SIDE) as f64) / (SIDE - 1) as f64 * 2.0 - 1.0;
                middle + (u * place.x + v * place.y) * (REACH * soup.radius)
            })
            .collect();
        floor.open = sky.openness(&points);
        // Few directions leave blotches.
        for _ in 0..4 {
            floor.open = blurred(&floor.open);
        }
        Some(floor)
    }

    /// Inverse depth, relative to the distance of the camera.
    pub(super) fn inverse_depth(&self, view: &View) -> Linear {
        Linear::new(self.up * (view.distance / self.height), view)
    }

    /// Where a ray meets the ground; none where shadows have faded.
    pub(super) fn spot(&self, ray: DVec3) -> Option<Spot> {
        let point = ray * (self.height / self.up.dot(ray));
        let reach = FADE[1] * self.radius;
        let near = (point - self.middle).length_squared() < reach * reach;
        near.then_some(Spot { point, normal: self.up })
    }

    /// Light on the ground where a ray meets it, relative to an empty ground: 0 to 1. `towards` is
    /// the direction of the lamp, `seen` the part of it that a spot sees.
    pub(super) fn light(&self, ray: DVec3, towards: Option<DVec3>, seen: impl Fn(&Spot) -> f64) -> f64 {
        let Some(spot) = self.spot(ray) else { return 1.0 };
        let offset = spot.point - self.middle;
        let t = ((offset.length() / self.radius - FADE[0]) / (FADE[1] - FADE[0])).max(0.0);
        let fade = t * t * (3.0 - 2.0 * t);
        let mut light = SKYLIGHT * self.open(offset);
        let mut whole = SKYLIGHT;
        if let Some(towards) = towards {
            let brightness = LAMPLIGHT.y * self.up.dot(towards).max(0.0);
            light += brightness * seen(&spot);
            whole += brightness;
        }
        // Studios are brighter than a lamp and a sky: shadows on the ground are pale.
        let shadow = 0.8 * (1.0 - light / whole);
        1.0 - shadow * (1.0 - fade)
    }

    fn open(&self, offset: DVec3) -> f64 {
        let place = DVec2::from(self.across.map(|axis| axis.dot(offset))) / (REACH * self.radius);
        let last = (SIDE - 1) as f64;
        let place = ((place + 1.0) * (0.5 * last)).clamp(DVec2::ZERO, DVec2::splat(last - 1e-6));
        let (i, j) = (place.x as usize, place.y as usize);
        let part = place.fract();
        let row = |j: usize| self.open[j * SIDE + i] * (1.0 - part.x) + self.open[j * SIDE + i + 1] * part.x;
        row(j) * (1.0 - part.y) + row(j + 1) * part.y
    }
}

/// Every inner point mixed with its neighbours.
fn blurred(grid: &[f64]) -> Vec<f64> {
    let mut result = grid.to_vec();
    for j in 1..SIDE - 1 {
        for i in 1..SIDE - 1 {
            let k = j * SIDE + i;
            let sides = grid[k - 1] + grid[k + 1] + grid[k - SIDE] + grid[k + SIDE];
            let corners = grid[k - SIDE - 1] + grid[k - SIDE + 1] + grid[k + SIDE - 1] + grid[k + SIDE + 1];
            result[k] = (4.0 * grid[k] + 2.0 * sides + corners) / 16.0;
        }
    }
    result
}
