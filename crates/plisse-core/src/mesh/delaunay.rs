//! Irregular meshes without preferred directions: displaced points with Delaunay triangles.
//!
//! Regular meshes have regular answers: where the model does not say how something is shared
//! between triangles, diagonals do.

use glam::{DVec2, DVec3};

use super::error::MeshError;
use super::generate::{Pillow, Planar, Tube, check_cells, check_lengths};
use super::tri_mesh::TriMesh;
use crate::random::SplitMix;
use crate::space::{Faces, Field, Id};

/// Vertices in the plane and counter-clockwise faces; with a `period`, the plane is a strip closed
/// along its first axis.
struct Patch {
    faces: Vec<[u32; 3]>,
    place: Vec<DVec2>,
    period: Option<f64>,
}

type Side = ([u32; 2], u32, u8);

/// Largest displacement of a vertex in each direction, as a part of the distance of neighbours. The
/// heights of the triangles are 0.85 of that distance or more: none is turned over by four
/// displacements of 0.2 in each of two directions.
const JITTER: f64 = 0.2;

/// A rectangle of `nx` by `ny` cells and this `size` in metres from the origin: vertices displaced
/// at random by up to a fifth of a cell, Delaunay triangles. The same `seed` gives the same mesh.
/// Vertices are numbered as in [`grid`](super::generate::grid).
///
/// # Errors
/// [`MeshError::BadShape`] without cells or with a size that is not positive.
pub fn delaunay_rectangle(nx: usize, ny: usize, size: [f64; 2], seed: u64) -> Result<Planar, MeshError> {
    check_cells("rectangle", [nx, ny], [1, 1])?;
    check_lengths("rectangle", &size)?;
    rectangle([nx, ny], size, seed).planar()
}

/// A disc about the origin with cells of about `radius/rings`, irregular like
/// [`delaunay_rectangle`]. The first vertex is the centre.
///
/// # Errors
/// [`MeshError::BadShape`] without rings or with a radius that is not positive.
pub fn delaunay_disc(rings_of_cells: usize, radius: f64, seed: u64) -> Result<Planar, MeshError> {
    check_cells("disc", [rings_of_cells, 1], [1, 1])?;
    check_lengths("disc", &[radius])?;
    rings(rings_of_cells, 0.0, radius, seed).planar()
}

/// The ring between two radii about the origin with `across` cells between them, irregular like
/// [`delaunay_rectangle`].
///
/// # Errors
/// [`MeshError::BadShape`] without cells, or with radii that do not ascend from zero.
pub fn delaunay_annulus(across: usize, inner: f64, outer: f64, seed: u64) -> Result<Planar, MeshError> {
    check_cells("annulus", [across, 1], [1, 1])?;
    check_lengths("annulus", &[inner, outer - inner])?;
    rings(across, inner, outer, seed).planar()
}

/// An open tube about the z axis from `z = 0` up, irregular like [`delaunay_rectangle`], with
/// `around` cells around (at least six) and `along` cells along. In its pattern every triangle is
/// laid flat by itself, with z upwards as far as possible, so that pattern and positions have the
/// same edge lengths.
///
/// # Errors
/// [`MeshError::BadShape`] with fewer cells or lengths that are not positive.
pub fn delaunay_tube(
    around: usize,
    along: usize,
    radius: f64,
    length: f64,
    seed: u64,
) -> Result<Tube, MeshError> {
    check_cells("tube", [around, along], [6, 1])?;
    check_lengths("tube", &[radius, length])?;
    let patch = tube(around, along, std::f64::consts::TAU * radius, length, seed);
    let mesh = TriMesh::new(patch.place.len(), &patch.faces)?;
    let positions =
        Field::from_vec(patch.place).map(|u| (DVec2::from_angle(u.x / radius) * radius).extend(u.y));
    let uv = mesh.faces().map(|face| {
        let [a, b, c] = face.map(|v| positions[v]);
        let normal = (b - a).cross(c - a).normalize_or(DVec3::X);
        let up = (DVec3::Z - normal * normal.z).normalize_or(DVec3::Z);
        let around = up.cross(normal);
        [a, b, c].map(|x| DVec2::new(around.dot(x - a), up.dot(x)))
    });
    Ok(Tube { mesh, positions, uv })
}

/// A flat piece and its mirror image below, sewn along the whole boundary; the upper one points up.
/// Edges inside that join two vertices of the boundary are flipped first: both pieces would have
/// them.
///
/// # Errors
/// [`MeshError`] if such an edge cannot be flipped, or if the piece has no boundary.
pub fn sewn_twice((mesh, place): &Planar) -> Result<Pillow, MeshError> {
    let faces = mesh.faces().as_slice().iter().map(|face| face.map(Id::get)).collect();
    let patch = Patch { faces, place: place.as_slice().to_vec(), period: None }.without_chords();
    let upper = TriMesh::new(patch.place.len(), &patch.faces)?;
    // Below, vertices inside have numbers of their own.
    let mut positions: Vec<DVec3> = patch.place.iter().map(|u| u.extend(0.0)).collect();
    let mut below = Vec::with_capacity(positions.len());
    for v in upper.vertices() {
        if upper.is_boundary_vertex(v) {
            below.push(v.get());
        } else {
            below.push(positions.len() as u32);
            positions.push(patch.place[v.index()].extend(0.0));
        }
    }
    let width = patch.place.iter().fold(0.0, |m: f64, u| m.max(u.x.abs()));
    let mut faces = patch.faces.clone();
    let mut uv: Vec<[DVec2; 3]> = patch.faces.iter().map(|face| patch.corners(*face)).collect();
    for &[a, b, c] in &patch.faces {
        faces.push([a, c, b].map(|v| below[v as usize]));
        uv.push(patch.corners([a, c, b]).map(|u| u + DVec2::new(4.0 * width, 0.0)));
    }
    let mesh = TriMesh::new(positions.len(), &faces)?;
    let first_lower: Id<Faces> = Id::new(patch.faces.len() as u32);
    let is_seam = |faces: (Id<Faces>, Option<Id<Faces>>)| {
        faces.1.is_some_and(|other| (faces.0 < first_lower) != (other < first_lower))
    };
    let seam = mesh.edges().iter().filter(|(_, edge)| is_seam(edge.faces)).map(|(id, _)| id).collect();
    Ok(Pillow { mesh, positions: Field::from_vec(positions), uv: Field::from_vec(uv), seam })
}

/// A rectangle of about this many cells with its lower left corner in the origin.
fn rectangle(cells: [usize; 2], size: [f64; 2], seed: u64) -> Patch {
    let mut random = SplitMix::new(seed);
    let [nx, ny] = cells.map(|n| n.max(1));
    let cell = DVec2::new(size[0] / nx as f64, size[1] / ny as f64);
    let mut place = Vec::with_capacity((nx + 1) * (ny + 1));
    for j in 0..=ny {
        for i in 0..=nx {
            let free = DVec2::new(weight(i > 0 && i < nx), weight(j > 0 && j < ny));
            let shift = DVec2::new(random.signed(), random.signed()) * JITTER * free;
            place.push((DVec2::new(i as f64, j as f64) + shift) * cell);
        }
    }
    let at = |i: usize, j: usize| (j * (nx + 1) + i) as u32;
    let mut faces = Vec::with_capacity(2 * nx * ny);
    for j in 0..ny {
        for i in 0..nx {
            let (a, b, c, d) = (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
            faces.extend([[a, b, c], [a, c, d]]);
        }
    }
    Patch { faces, place, period: None }.delaunay()
}

/// Rings about the origin from radius `inner` to `outer` with cells of about
/// `(outer - inner)/across`; a disc without inner radius.
fn rings(across: usize, inner: f64, outer: f64, seed: u64) -> Patch {
    let mut random = SplitMix::new(seed);
    let across = across.max(1);
    let spacing = (outer - inner) / across as f64;
    let mut place = Vec::new();
    let mut rings = Vec::new();
    for k in 0..=across {
        let radius = inner + spacing * k as f64;
        // Around a point six neighbours, elsewhere as many as fit.
        let count =
            if radius == 0.0 { 1 } else { ((std::f64::consts::TAU * radius / spacing) as usize).max(6) };
        let inside = weight(k > 0 && k < across);
        let first = place.len();
        for i in 0..count {
            // Every other ring by half a cell, so that triangles are nearly equilateral.
            let angle = std::f64::consts::TAU * (i as f64 + 0.5 * (k % 2) as f64) / count as f64;
            let shift = DVec2::new(random.signed(), random.signed()) * (JITTER * inside * spacing);
            place.push(DVec2::from_angle(angle) * radius + shift);
        }
        rings.push(first..first + count);
    }
    let mut faces = Vec::new();
    for pair in rings.windows(2) {
        zip(&pair[0], &pair[1], &mut faces);
    }
    Patch { faces, place, period: None }.delaunay()
}

/// A strip of this length along its second axis, closed along the first after `around` cells of the
/// same size.
fn tube(around: usize, along: usize, circumference: f64, length: f64, seed: u64) -> Patch {
    let mut random = SplitMix::new(seed);
    // With fewer an edge could go around the other way.
    let (around, along) = (around.max(6), along.max(1));
    let cell = DVec2::new(circumference / around as f64, length / along as f64);
    let mut place = Vec::new();
    let mut rows = Vec::new();
    for j in 0..=along {
        let first = place.len();
        for i in 0..around {
            let inside = weight(j > 0 && j < along);
            let shift = DVec2::new(random.signed(), random.signed()) * (JITTER * inside);
            let offset = DVec2::new(0.5 * (j % 2) as f64, 0.0);
            place.push((DVec2::new(i as f64, j as f64) + offset + shift) * cell);
        }
        rows.push(first..first + around);
    }
    let mut faces = Vec::new();
    for pair in rows.windows(2) {
        // Outwards is to the right of the direction of rings, upwards to the left of that of rows.
        let before = faces.len();
        zip(&pair[0], &pair[1], &mut faces);
        for face in &mut faces[before..] {
            face.swap(1, 2);
        }
    }
    Patch { faces, place, period: Some(circumference) }.delaunay()
}

fn weight(free: bool) -> f64 {
    f64::from(u8::from(free))
}

/// Triangles between two closed rings, each counter-clockwise and odd ones shifted by half a cell:
/// always the corner that comes first along the ring.
fn zip(inner: &std::ops::Range<usize>, outer: &std::ops::Range<usize>, faces: &mut Vec<[u32; 3]>) {
    let at = |ring: &std::ops::Range<usize>, i: usize| (ring.start + i % ring.len()) as u32;
    let (n, m) = (inner.len(), outer.len());
    if n == 1 {
        faces.extend((0..m).map(|i| [at(inner, 0), at(outer, i), at(outer, i + 1)]));
        return;
    }
    let (mut i, mut j) = (0, 0);
    while i < n || j < m {
        // Compare (i + 1)/n with (j + 1)/m, the angles of the next corners; shifts by half a cell
        // do not change who comes first by more than one.
        if j < m && (i >= n || (j + 1) * n <= (i + 1) * m) {
            faces.push([at(inner, i), at(outer, j), at(outer, j + 1)]);
            j += 1;
        } else {
            faces.push([at(inner, i), at(outer, j), at(inner, i + 1)]);
            i += 1;
        }
    }
}

impl Patch {
    fn planar(self) -> Result<Planar, MeshError> {
        Ok((TriMesh::new(self.place.len(), &self.faces)?, Field::from_vec(self.place)))
    }

    /// `b - a`, the short way around.
    fn between(&self, a: u32, b: u32) -> DVec2 {
        let mut d = self.place[b as usize] - self.place[a as usize];
        if let Some(period) = self.period {
            d.x -= period * (d.x / period).round();
        }
        d
    }

    /// The corners of a face in the plane, the first of them at its place.
    fn corners(&self, [a, b, c]: [u32; 3]) -> [DVec2; 3] {
        let first = self.place[a as usize];
        [first, first + self.between(a, b), first + self.between(a, c)]
    }

    /// Flips edges until every circle around a triangle is empty. In each pass a face takes part in
    /// one flip at most.
    fn delaunay(mut self) -> Self {
        // Every flip lowers the sum of squared circumradii; passes are limited all the same.
        for _ in 0..200 {
            let sides = self.sides();
            let mut touched = vec![false; self.faces.len()];
            let mut flips = 0;
            for pair in sides.windows(2) {
                let [(edge, f, _), (other, g, _)] = [pair[0], pair[1]];
                let (f, g) = (f as usize, g as usize);
                if edge != other || touched[f] || touched[g] {
                    continue;
                }
                let [a, b, c, d] = self.quad(pair[0], pair[1]);
                if self.wants_flip(a, b, c, d) {
                    self.faces[f] = [c, a, d];
                    self.faces[g] = [d, b, c];
                    (touched[f], touched[g]) = (true, true);
                    flips += 1;
                }
            }
            if flips == 0 {
                break;
            }
        }
        self
    }

    /// Flips edges inside that join two vertices of the boundary: sewn to its mirror image, a patch
    /// would have them twice.
    fn without_chords(mut self) -> Self {
        for _ in 0..200 {
            let sides = self.sides();
            let mut rim = vec![false; self.place.len()];
            for (i, (edge, ..)) in sides.iter().enumerate() {
                let twin = (i > 0 && sides[i - 1].0 == *edge)
                    || sides.get(i + 1).is_some_and(|next| next.0 == *edge);
                if !twin {
                    edge.iter().for_each(|v| rim[*v as usize] = true);
                }
            }
            let chord = sides.windows(2).find_map(|pair| {
                let inside = pair[0].0 == pair[1].0 && pair[0].0.iter().all(|v| rim[*v as usize]);
                let [a, b, c, d] = self.quad(pair[0], pair[1]);
                (inside && self.is_convex(a, b, c, d)).then_some((pair[0].1, pair[1].1, [a, b, c, d]))
            });
            let Some((f, g, [a, b, c, d])) = chord else { break };
            self.faces[f as usize] = [c, a, d];
            self.faces[g as usize] = [d, b, c];
        }
        self
    }

    /// Every side of every face: its ends ascending, the face, the corner opposite; sorted, so that
    /// twins are neighbours.
    fn sides(&self) -> Vec<Side> {
        let mut sides: Vec<Side> = Vec::with_capacity(3 * self.faces.len());
        for (f, face) in self.faces.iter().enumerate() {
            for k in 0..3 {
                let (a, b) = (face[(k + 1) % 3], face[(k + 2) % 3]);
                sides.push(([a.min(b), a.max(b)], f as u32, k as u8));
            }
        }
        sides.sort_unstable();
        sides
    }

    /// The ends of a side as its first face runs, the corner of that face and the corner of the
    /// other.
    fn quad(&self, (_, f, k): Side, (_, g, l): Side) -> [u32; 4] {
        let (face, k) = (self.faces[f as usize], k as usize);
        [face[(k + 1) % 3], face[(k + 2) % 3], face[k], self.faces[g as usize][l as usize]]
    }

    /// Whether the angles at `c` and `d` over the edge from `a` to `b` add to more than π, and the
    /// flipped triangles are proper.
    fn wants_flip(&self, a: u32, b: u32, c: u32, d: u32) -> bool {
        let (ca, cb, cd) = (self.between(c, a), self.between(c, b), self.offset(c, a, d));
        let (da, db) = (ca - cd, cb - cd);
        let sum = ca.perp_dot(cb) * da.dot(db) + ca.dot(cb) * db.perp_dot(da);
        let scale = ca.length() * cb.length() * da.length() * db.length();
        // Cocircular points would flip forever.
        sum < -1e-9 * scale && self.is_convex(a, b, c, d)
    }

    /// Whether the edge between `c` and `d` would lie inside of the two triangles. It is then not
    /// there already.
    fn is_convex(&self, a: u32, b: u32, c: u32, d: u32) -> bool {
        let (ca, cb, cd) = (self.between(c, a), self.between(c, b), self.offset(c, a, d));
        ca.perp_dot(cd) > 0.0 && cd.perp_dot(cb) > 0.0
    }

    /// From `c` to `d` across the edge that starts in `a`.
    fn offset(&self, c: u32, a: u32, d: u32) -> DVec2 {
        self.between(c, a) + self.between(a, d)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proper faces of this total area, Delaunay, no needles; the same for the same seed.
    fn check(make: impl Fn(u64) -> Patch, area: f64, euler: i64) {
        let again = make(1);
        for seed in 1..6 {
            let patch = make(seed);
            let mesh = TriMesh::new(patch.place.len(), &patch.faces).unwrap();
            assert_eq!(mesh.euler_characteristic(), euler);
            let mut total = 0.0;
            for face in &patch.faces {
                let [a, b, c] = patch.corners(*face);
                let twice = (b - a).perp_dot(c - a);
                assert!(twice > 0.0, "{face:?} of seed {seed} is turned over");
                total += 0.5 * twice;
                for (p, q, r) in [(a, b, c), (b, c, a), (c, a, b)] {
                    let angle = (q - p).angle_to(r - p).to_degrees();
                    assert!(angle > 12.0, "an angle of {angle}° in {face:?} of seed {seed}");
                }
            }
            assert!((total / area - 1.0).abs() < 1e-12, "{total} instead of {area}");
            let sides = patch.sides();
            for pair in sides.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
                let [a, b, c, d] = patch.quad(pair[0], pair[1]);
                assert!(!patch.wants_flip(a, b, c, d), "seed {seed}");
            }
            assert_eq!(patch.faces == again.faces && patch.place == again.place, seed == 1);
        }
    }

    fn polygon(count: usize, radius: f64) -> f64 {
        0.5 * count as f64 * radius * radius * (std::f64::consts::TAU / count as f64).sin()
    }

    #[test]
    fn patches_are_delaunay() {
        check(|seed| rectangle([17, 8], [0.5, 0.2], seed), 0.1, 1);
        check(|seed| rings(9, 0.0, 0.1, seed), polygon((std::f64::consts::TAU * 9.0) as usize, 0.1), 1);
        let counts =
            [(0.04, 4.0), (0.1, 10.0)].map(|(r, n)| polygon((std::f64::consts::TAU * n) as usize, r));
        check(|seed| rings(6, 0.04, 0.1, seed), counts[1] - counts[0], 0);
        check(|seed| tube(24, 15, 6.0, 4.0, seed), 24.0, 0);
    }

    #[test]
    fn sewn_pieces_are_closed_and_can_be_taken_apart() {
        let disc = delaunay_disc(5, 0.1, 3).unwrap();
        let ring = delaunay_annulus(4, 0.04, 0.1, 3).unwrap();
        let flat = delaunay_rectangle(6, 4, [0.3, 0.2], 3).unwrap();
        for (piece, euler) in [(disc, 2), (ring, 0), (flat, 2)] {
            let sewn = sewn_twice(&piece).unwrap();
            assert_eq!(sewn.mesh.euler_characteristic(), euler);
            assert!(sewn.mesh.boundary_edges().next().is_none());
            assert_eq!(sewn.seam.len(), piece.0.boundary_edges().count());
            let apart = sewn.mesh.cut(&sewn.seam).unwrap();
            assert_eq!(apart.vertex_count(), 2 * piece.0.vertex_count());
            assert_eq!(apart.euler_characteristic(), 2 * piece.0.euler_characteristic());
        }
        let tube = delaunay_tube(12, 6, 1.0, 3.0, 1).unwrap();
        assert_eq!(tube.mesh.euler_characteristic(), 0);
        assert_eq!(tube.mesh.cut(&[]).unwrap(), tube.mesh);
    }

    #[test]
    fn chords_are_flipped() {
        for seed in 0..20 {
            for patch in
                [rectangle([7, 5], [1.0, 0.7], seed), rings(4, 0.0, 1.0, seed), rings(3, 0.4, 1.0, seed)]
            {
                let patch = patch.without_chords();
                let mesh = TriMesh::new(patch.place.len(), &patch.faces).unwrap();
                for (_, edge) in mesh.edges().iter().filter(|(_, edge)| !edge.is_boundary()) {
                    assert!(!edge.vertices.iter().all(|v| mesh.is_boundary_vertex(*v)), "seed {seed}");
                }
                for face in &patch.faces {
                    let [a, b, c] = patch.corners(*face);
                    assert!((b - a).perp_dot(c - a) > 0.0);
                }
            }
        }
    }
}
