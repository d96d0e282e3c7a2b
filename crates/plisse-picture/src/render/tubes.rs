//! Wires as tubes of triangles.

use std::f64::consts::{PI, TAU};

use glam::DVec3;

use super::camera::View;
use super::colour::linear;
use super::drawing::{Wires, drawable};
use super::soup::{Paint, Soup, Triangle};

/// Least radius in pixels.
const THINNEST: f64 = 0.6;

/// Adds a tube for every segment and a ball for every vertex that a segment uses.
pub(super) fn add_wires(soup: &mut Soup, wires: &Wires<'_>, view: &View) {
    let paint = soup.paints.len() as u32;
    let colour = linear(wires.colour);
    soup.paints.push(Paint::Plain { front: colour, back: colour });
    let good = |v: u32| wires.positions.get(v as usize).is_some_and(|&x| drawable(x));
    let segments: Vec<[u32; 2]> =
        wires.segments.iter().copied().filter(|segment| segment.iter().all(|&v| good(v))).collect();
    // Round where few wires are large, cheap where there are many.
    let sides = if segments.len() < 2_000 { 16 } else { 8 };
    let radius = if wires.radius >= 0.0 { wires.radius.min(soup.radius) } else { 0.0 };
    let mut used = vec![false; wires.positions.len()];
    let end = |v: u32| {
        let x = view.point(wires.positions[v as usize]);
        (x, radius.max(THINNEST * view.slope * x.z))
    };
    for segment in &segments {
        add_tube(soup, segment.map(end), sides, paint);
        for v in segment {
            if !std::mem::replace(&mut used[*v as usize], true) {
                add_ball(soup, end(*v), sides, paint);
            }
        }
    }
}

fn add_tube(soup: &mut Soup, ends: [(DVec3, f64); 2], sides: u32, paint: u32) {
    let Some(along) = (ends[1].0 - ends[0].0).try_normalize() else { return };
    let (u, v) = along.any_orthonormal_pair();
    let first = soup.positions.len() as u32;
    for i in 0..sides {
        let (sin, cos) = (TAU * f64::from(i) / f64::from(sides)).sin_cos();
        let normal = u * cos + v * sin;
        for (x, radius) in ends {
            soup.push_vertex(x + normal * radius, normal, 0.0);
        }
    }
    for i in 0..sides {
        let [a, b] = [first + 2 * i, first + 2 * ((i + 1) % sides)];
        for corners in [[a, b + 1, b], [a, a + 1, b + 1]] {
            soup.triangles.push(Triangle { corners, paint, edges: [false; 3] });
        }
    }
}

fn add_ball(soup: &mut Soup, (x, radius): (DVec3, f64), sides: u32, paint: u32) {
    let rings = sides / 2;
    let first = soup.positions.len() as u32;
    for ring in 0..=rings {
        let (ring_radius, height) = (PI * f64::from(ring) / f64::from(rings)).sin_cos();
        for i in 0..sides {
            let (sin, cos) = (TAU * f64::from(i) / f64::from(sides)).sin_cos();
            let normal = DVec3::new(cos * ring_radius, sin * ring_radius, height);
            soup.push_vertex(x + normal * radius, normal, 0.0);
        }
    }
    for ring in 0..rings {
        for i in 0..sides {
            let [a, b] = [i, (i + 1) % sides].map(|i| first + ring * sides + i);
            for corners in [[a, b + sides, a + sides], [a, b, b + sides]] {
                soup.triangles.push(Triangle { corners, paint, edges: [false; 3] });
            }
        }
    }
}
