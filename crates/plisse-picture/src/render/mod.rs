//! Pictures of cloth, drawn by the CPU.
//!
//! | what | items |
//! |---|---|
//! | what is drawn | [`Drawing`], [`Part`], [`Surface`], [`Wires`], [`Look`], [`ColourMap`] |
//! | from where | [`Camera`] |
//! | how | [`RenderOptions`], [`Ground`], [`Background`] |
//! | the result | [`render`], [`Picture`] |

mod bar;
mod camera;
mod colour;
mod depth_map;
mod drawing;
mod floor;
mod light;
mod options;
mod picture;
mod shade;
mod shadow;
mod soup;
mod tubes;
mod visibility;

use glam::{DVec2, DVec3};
use rayon::prelude::*;

pub use camera::Camera;
pub use colour::{ColourMap, NO_VALUE, Rgb, value_range};
pub use drawing::{Drawing, Look, Part, Surface, Wires};
pub use options::{Background, Ground, RenderError, RenderOptions};
pub use picture::Picture;
pub(crate) use picture::plain_error;

use camera::View;
use floor::Floor;
use light::{Lamp, Sky};
use shade::Scene;
use shadow::{MARGIN, Shadows};
use soup::Soup;
use visibility::{TILE, Tile, pixel_box, sample_places};

/// Draws a picture. The same input gives the same pixels with any number of threads.
///
/// # Errors
/// [`RenderError`] for a camera that sees nothing or options out of range; never for what is drawn.
///
/// ```
/// use glam::DVec3;
/// use plisse_picture::{Camera, Drawing, Part, RenderOptions, Surface, render};
/// let positions = [DVec3::ZERO, DVec3::X, DVec3::Z];
/// let cloth = Part::Surface(Surface::cloth(&positions, &[[0, 1, 2]]));
/// let options = RenderOptions { size: [64, 48], ..RenderOptions::default() };
/// let from = Camera::three_quarter(DVec3::Z);
/// let camera = Camera::framing(positions, from, DVec3::Z, options.aspect())?;
/// let picture = render(&Drawing { parts: vec![cloth] }, &camera, &options)?;
/// assert_ne!(picture.pixel(28, 28), picture.pixel(0, 28));
/// # Ok::<(), plisse_picture::RenderError>(())
/// ```
pub fn render(
    drawing: &Drawing<'_>,
    camera: &Camera,
    options: &RenderOptions,
) -> Result<Picture, RenderError> {
    options.check()?;
    let view = camera.view(options.size, bar::strip(drawing, options.size))?;
    let soup = Soup::new(drawing, &view);
    let up = options.ground.map_or(camera.up, |ground| ground.up);
    let up = view.direction(up.normalize_or_zero());
    let sky = Sky::new(&soup, up, options.occlusion, &view);
    let floor = options.ground.and_then(|ground| Floor::new(&ground, &soup, &sky, &view));
    let towards = options.light.map_or_else(|| over_the_shoulder(up), |light| view.direction(light));
    let towards = towards.normalize_or_zero();
    let scene = Scene {
        lamp: (!soup.triangles.is_empty()).then(|| Lamp::new(&soup, towards, &view)),
        sky: sky.light(&soup.positions, &soup.normals),
        floor,
        background: [options.background.top, options.background.bottom].map(colour::linear),
        soup: &soup,
        view: &view,
    };
    let mut picture = draw_tiles(&scene, options);
    bar::draw(&mut picture, drawing);
    Ok(picture)
}

/// Direction towards the lamp in the space of the camera.
fn over_the_shoulder(up: DVec3) -> DVec3 {
    let back = (DVec3::NEG_Z + up * up.z).normalize_or_zero();
    up + 0.55 * DVec3::NEG_X + 0.5 * back
}

fn draw_tiles(scene: &Scene<'_>, options: &RenderOptions) -> Picture {
    let places = sample_places(options.samples);
    let [width, height] = options.size;
    let [columns, rows] = [width.div_ceil(TILE), height.div_ceil(TILE)];
    let boxes = boxes(scene.soup, scene.view);
    let mut touched = vec![Vec::new(); (columns * rows) as usize];
    for (triangle, bounds) in boxes.iter().enumerate() {
        let Some([x0, x1, y0, y1]) = *bounds else { continue };
        // Tiles see a little beyond their edges.
        let [x0, y0] = [x0, y0].map(|pixel| pixel.saturating_sub(MARGIN) / TILE);
        let [x1, y1] = [(x1, columns), (y1, rows)].map(|(pixel, n)| ((pixel + MARGIN) / TILE).min(n - 1));
        for row in y0..=y1 {
            for column in x0..=x1 {
                touched[(row * columns + column) as usize].push(triangle as u32);
            }
        }
    }
    let ground = scene.floor.as_ref().map(|floor| floor.inverse_depth(scene.view));
    let tiles: Vec<([u32; 2], [u32; 2], Vec<Rgb>)> = touched
        .par_iter()
        .enumerate()
        .map(|(index, triangles)| {
            let first = [index as u32 % columns * TILE, index as u32 / columns * TILE];
            let size = [(width - first[0]).min(TILE), (height - first[1]).min(TILE)];
            let outer = first.map(|pixel| pixel.saturating_sub(MARGIN));
            let end = [0, 1].map(|k| (first[k] + size[k] + MARGIN).min(options.size[k]));
            let mut tile = Tile::new(outer, [end[0] - outer[0], end[1] - outer[1]], &places, ground);
            for &triangle in triangles {
                if let Some(bounds) = boxes[triangle as usize] {
                    tile.draw(scene.soup, triangle, bounds, scene.view, &places);
                }
            }
            let shadows = Shadows::new(scene, &tile, &places);
            let rows = first[1]..first[1] + size[1];
            let pixels = rows.flat_map(|y| (first[0]..first[0] + size[0]).map(move |x| [x, y]));
            let colour = |[x, y]: [u32; 2]| {
                let pixel = (y - outer[1]) * tile.size[0] + (x - outer[0]);
                resolve(scene, &tile, &shadows, pixel, &places)
            };
            (first, size, pixels.map(colour).collect())
        })
        .collect();
    let mut picture = Picture::new(width, height, [0; 3]);
    for (first, size, colours) in tiles {
        for (y, row) in colours.chunks(size[0] as usize).enumerate() {
            let start = first[0] as usize;
            picture.row_mut(first[1] + y as u32)[start..start + row.len()].copy_from_slice(row);
        }
    }
    picture
}

fn boxes(soup: &Soup, view: &View) -> Vec<Option<[u32; 4]>> {
    soup.triangles.par_iter().map(|triangle| pixel_box(soup.corners(triangle), view)).collect()
}

/// Colour of a pixel: every triangle seen in it is shaded once, where its samples lie in the mean.
fn resolve(scene: &Scene<'_>, tile: &Tile, shadows: &Shadows, pixel: u32, places: &[DVec2]) -> Rgb {
    let seen = tile.pixel(pixel);
    let corner = tile.corner(pixel);
    let colour = |triangle, place| scene.colour(triangle, place, shadows, pixel);
    if seen.iter().all(|triangle| *triangle == seen[0]) {
        return colour::screen(colour(seen[0], corner + 0.5));
    }
    let mut light = DVec3::ZERO;
    for (k, &triangle) in seen.iter().enumerate() {
        if seen[..k].contains(&triangle) {
            continue;
        }
        let same = || seen.iter().zip(places).filter(|(other, _)| **other == triangle);
        let count = same().count() as f64;
        let middle = same().map(|(_, place)| *place).sum::<DVec2>() / count;
        light += colour(triangle, corner + middle) * count;
    }
    colour::screen(light / places.len() as f64)
}
