//! Deterministic meshes of simple shapes: the same call gives the same mesh.
//!
//! On every machine to the last bit for rectangles; round shapes use the machine's sine.
//!
//! Planar shapes come as topology and material coordinates in metres, counter-clockwise. To place
//! one in space, see [`embed`].

use glam::{DVec2, DVec3};

pub use super::delaunay::{delaunay_annulus, delaunay_disc, delaunay_rectangle, delaunay_tube, sewn_twice};
use super::error::MeshError;
use super::tri_mesh::TriMesh;
use crate::random::SplitMix;
use crate::range::LENGTH;
use crate::space::{Edges, Faces, Field, Id, Vertices};

/// A planar mesh: topology and material coordinates.
pub type Planar = (TriMesh, Field<Vertices, DVec2>);

/// An open cylinder: topology, positions in space, and the pattern it is rolled from.
#[derive(Clone, Debug, PartialEq)]
pub struct Tube {
    /// Topology; normals point outwards.
    pub mesh: TriMesh,
    /// Positions around the z axis.
    pub positions: Field<Vertices, DVec3>,
    /// Material coordinates per corner: the tube cut open along one line and laid flat.
    pub uv: Field<Faces, [DVec2; 3]>,
}

/// Two equal rectangles sewn together along their boundaries.
#[derive(Clone, Debug, PartialEq)]
pub struct Pillow {
    /// Topology: a closed surface, faces pointing outwards.
    pub mesh: TriMesh,
    /// Positions: both rectangles in the plane `z = 0`.
    pub positions: Field<Vertices, DVec3>,
    /// Material coordinates per corner: the two patterns side by side.
    pub uv: Field<Faces, [DVec2; 3]>,
    /// The edges along which the patterns are sewn.
    pub seam: Vec<Id<Edges>>,
}

/// How the cells of a grid are cut.
///
/// ```text
///   Left     Right    Alternating
///   +--+     +--+     +--+--+
///   |\ |     | /|     | /|\ |
///   | \|     |/ |     |/ | \|
///   +--+     +--+     +--+--+
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Diagonal {
    /// From the upper left to the lower right corner.
    Left,
    /// From the lower left to the upper right corner.
    Right,
    /// Right and left in turn, like a chessboard: no direction is preferred.
    #[default]
    Alternating,
}

/// A rectangle of `nx` by `ny` cells with its lower left corner in the origin; `size` in metres.
///
/// # Errors
/// [`MeshError::BadShape`] without cells or with a size that is not positive.
pub fn grid(nx: usize, ny: usize, size: [f64; 2], diagonal: Diagonal) -> Result<Planar, MeshError> {
    check_cells("grid", [nx, ny], [1, 1])?;
    check_lengths("grid", &size)?;
    let mut uv = Vec::with_capacity((nx + 1) * (ny + 1));
    for j in 0..=ny {
        for i in 0..=nx {
            uv.push(DVec2::new(size[0] * i as f64 / nx as f64, size[1] * j as f64 / ny as f64));
        }
    }
    let faces = cell_faces(nx, ny, |i, j| (j * (nx + 1) + i) as u32, |i, j| rising(diagonal, i, j));
    Ok((TriMesh::new(uv.len(), &faces)?, Field::from_vec(uv)))
}

/// A rectangle like [`grid`] with displaced vertices and random diagonals.
///
/// Every inner vertex moves by up to 0.22 of a cell in each direction, boundary vertices only along
/// the boundary, corners not at all; no triangle is ever turned over. The same `seed` gives the
/// same mesh.
///
/// # Errors
/// [`MeshError::BadShape`] without cells or with a size that is not positive.
pub fn irregular_grid(nx: usize, ny: usize, size: [f64; 2], seed: u64) -> Result<Planar, MeshError> {
    // Below a quarter of a cell, the two displaced legs of a right triangle still span a positive
    // area.
    const JITTER: f64 = 0.22;
    let (_, regular) = grid(nx, ny, size, Diagonal::Right)?;
    let cell = DVec2::new(size[0] / nx as f64, size[1] / ny as f64);
    let mut random = SplitMix::new(seed);
    let uv = Field::from_fn(regular.len(), |v| {
        let (i, j) = (v.index() % (nx + 1), v.index() / (nx + 1));
        let shift = cell * DVec2::new(random.signed(), random.signed()) * JITTER;
        let free = DVec2::new(f64::from(u8::from(i > 0 && i < nx)), f64::from(u8::from(j > 0 && j < ny)));
        regular[v] + shift * free
    });
    let faces = cell_faces(nx, ny, |i, j| (j * (nx + 1) + i) as u32, |_, _| random.signed() > 0.0);
    Ok((TriMesh::new(uv.len(), &faces)?, uv))
}

/// A disc about the origin made of `rings` rings around one centre vertex; ring `k` has `6 k`
/// vertices.
///
/// # Errors
/// [`MeshError::BadShape`] without rings or with a radius that is not positive.
pub fn disc(rings: usize, radius: f64) -> Result<Planar, MeshError> {
    check_cells("disc", [rings, 6 * rings.min(1 << 30)], [1, 1])?;
    check_lengths("disc", &[radius])?;
    let mut uv = vec![DVec2::ZERO];
    for ring in 1..=rings {
        let count = 6 * ring;
        let r = radius * ring as f64 / rings as f64;
        uv.extend((0..count).map(|i| r * unit_circle(i, count)));
    }
    // Vertex `i` (cyclic) of ring `k`.
    let at = |ring: usize, i: usize| {
        if ring == 0 { 0 } else { (1 + 3 * ring * (ring - 1) + i % (6 * ring)) as u32 }
    };
    let mut faces = Vec::with_capacity(6 * rings * rings);
    for ring in 1..=rings {
        for sector in 0..6 {
            for i in 0..ring {
                let (outer, inner) = (sector * ring + i, sector * (ring - 1) + i);
                faces.push([at(ring - 1, inner), at(ring, outer), at(ring, outer + 1)]);
                if i + 1 < ring {
                    faces.push([at(ring - 1, inner), at(ring, outer + 1), at(ring - 1, inner + 1)]);
                }
            }
        }
    }
    Ok((TriMesh::new(uv.len(), &faces)?, Field::from_vec(uv)))
}

/// A ring about the origin between two radii, `around` cells along the circle and `across` between
/// the radii.
///
/// # Errors
/// [`MeshError::BadShape`] with fewer than three cells around, none across, or radii that do not
/// satisfy `0 < inner < outer`.
pub fn annulus(
    around: usize,
    across: usize,
    inner: f64,
    outer: f64,
    diagonal: Diagonal,
) -> Result<Planar, MeshError> {
    check_cells("annulus", [around, across], [3, 1])?;
    check_lengths("annulus", &[inner, outer])?;
    if inner >= outer {
        return Err(bad(
            "annulus",
            format!("the inner radius {inner} must be smaller than the outer one {outer}"),
        ));
    }
    let mut uv = Vec::with_capacity(around * (across + 1));
    for j in 0..=across {
        let r = inner + (outer - inner) * j as f64 / across as f64;
        uv.extend((0..around).map(|i| r * unit_circle(i, around)));
    }
    // Outwards, then around would be clockwise, hence the reversed index.
    let at = |i: usize, j: usize| (j * around + (around - i % around) % around) as u32;
    let faces = cell_faces(around, across, at, |i, j| rising(diagonal, i, j));
    Ok((TriMesh::new(uv.len(), &faces)?, Field::from_vec(uv)))
}

/// An open tube around the z axis: `around` cells along the circle and `along` over its length.
///
/// The width of the pattern is that of the inscribed polygon, so that pattern and positions have
/// the same edge lengths.
///
/// # Errors
/// [`MeshError::BadShape`] with fewer than three cells around, none along, or lengths that are not
/// positive.
pub fn cylinder(
    around: usize,
    along: usize,
    radius: f64,
    length: f64,
    diagonal: Diagonal,
) -> Result<Tube, MeshError> {
    check_cells("cylinder", [around, along], [3, 1])?;
    check_lengths("cylinder", &[radius, length])?;
    let height = |j: usize| length * j as f64 / along as f64;
    let mut x = Vec::with_capacity(around * (along + 1));
    for j in 0..=along {
        x.extend((0..around).map(|i| (radius * unit_circle(i, around)).extend(height(j))));
    }
    let chord = 2.0 * radius * (std::f64::consts::PI / around as f64).sin();
    let flat = cell_faces(around, along, |i, j| (j * (around + 1) + i) as u32, |i, j| rising(diagonal, i, j));
    let uv = flat.iter().map(|corners| {
        corners.map(|k| {
            let k = k as usize;
            DVec2::new(chord * (k % (around + 1)) as f64, height(k / (around + 1)))
        })
    });
    let uv = Field::from_vec(uv.collect());
    let faces: Vec<[u32; 3]> = flat
        .iter()
        .map(|corners| {
            corners.map(|k| {
                let k = k as usize;
                (k / (around + 1) * around + k % (around + 1) % around) as u32
            })
        })
        .collect();
    Ok(Tube { mesh: TriMesh::new(x.len(), &faces)?, positions: Field::from_vec(x), uv })
}

/// A closed sphere around the origin, faces pointing outwards: an icosahedron whose faces are
/// divided into four, `divisions` times, with all vertices on the sphere.
///
/// # Errors
/// [`MeshError::BadShape`] for a radius that is not positive or more than eight divisions (1.3
/// million faces).
pub fn sphere(divisions: usize, radius: f64) -> Result<(TriMesh, Field<Vertices, DVec3>), MeshError> {
    check_lengths("sphere", &[radius])?;
    if divisions > 8 {
        let reason = format!("{divisions} divisions are more than eight");
        return Err(MeshError::BadShape { shape: "sphere", reason });
    }
    let golden = 0.5 * (1.0 + 5f64.sqrt());
    let mut x: Vec<DVec3> = Vec::with_capacity(10 * (1 << (2 * divisions)) + 2);
    // Three rectangles in golden proportion, one in each coordinate plane.
    for (a, b) in [(-1.0, golden), (1.0, golden), (-1.0, -golden), (1.0, -golden)] {
        x.push(DVec3::new(a, b, 0.0));
    }
    for (a, b) in [(-1.0, golden), (1.0, golden), (-1.0, -golden), (1.0, -golden)] {
        x.push(DVec3::new(0.0, a, b));
    }
    for (a, b) in [(golden, -1.0), (golden, 1.0), (-golden, -1.0), (-golden, 1.0)] {
        x.push(DVec3::new(a, 0.0, b));
    }
    let mut faces: Vec<[u32; 3]> = vec![
        [0, 11, 5],
        [0, 5, 1],
        [0, 1, 7],
        [0, 7, 10],
        [0, 10, 11],
        [1, 5, 9],
        [5, 11, 4],
        [11, 10, 2],
        [10, 7, 6],
        [7, 1, 8],
        [3, 9, 4],
        [3, 4, 2],
        [3, 2, 6],
        [3, 6, 8],
        [3, 8, 9],
        [4, 9, 5],
        [2, 4, 11],
        [6, 2, 10],
        [8, 6, 7],
        [9, 8, 1],
    ];
    for _ in 0..divisions {
        let mut middles = std::collections::HashMap::new();
        let mut finer = Vec::with_capacity(4 * faces.len());
        for &[a, b, c] in &faces {
            let [ab, bc, ca] = [(a, b), (b, c), (c, a)].map(|(i, j)| {
                *middles.entry((i.min(j), i.max(j))).or_insert_with(|| {
                    x.push(x[i as usize] + x[j as usize]);
                    (x.len() - 1) as u32
                })
            });
            finer.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
        }
        faces = finer;
        // The sum of two unit vectors is no unit vector; the next division needs them to be.
        for x in &mut x {
            *x = x.normalize();
        }
    }
    let positions = Field::from_vec(x.iter().map(|x| x.normalize() * radius).collect());
    Ok((TriMesh::new(x.len(), &faces)?, positions))
}

/// A flat pillow: two rectangles of `nx` by `ny` cells and this `size` in metres, one above the
/// other, sewn along all four sides. Diagonals point to the centre, so that no triangle has all its
/// corners on the seam.
///
/// # Errors
/// [`MeshError::BadShape`] with fewer than two cells a side or with a size that is not positive.
pub fn pillow(nx: usize, ny: usize, size: [f64; 2]) -> Result<Pillow, MeshError> {
    check_cells("pillow", [nx, ny], [2, 2])?;
    check_lengths("pillow", &size)?;
    let rising = |i: usize, j: usize| (2 * i < nx) == (2 * j < ny);
    let flat = cell_faces(nx, ny, |i, j| (j * (nx + 1) + i) as u32, rising);
    let upper = (nx + 1) * (ny + 1);
    let place = |k: usize| {
        let (i, j) = (k % (nx + 1), k / (nx + 1));
        DVec2::new(size[0] * i as f64 / nx as f64, size[1] * j as f64 / ny as f64)
    };
    let mut positions: Vec<DVec3> = (0..upper).map(|k| place(k).extend(0.0)).collect();
    // The lower rectangle has vertices of its own inside, and shares those of the boundary.
    let lower: Vec<u32> = (0..upper)
        .map(|k| {
            let (i, j) = (k % (nx + 1), k / (nx + 1));
            if i > 0 && i < nx && j > 0 && j < ny {
                positions.push(place(k).extend(0.0));
                (positions.len() - 1) as u32
            } else {
                k as u32
            }
        })
        .collect();
    let corner = |k: u32| place(k as usize);
    let beside = |k: u32| corner(k) + DVec2::new(2.0 * size[0], 0.0);
    let mut faces = flat.clone();
    let mut uv: Vec<[DVec2; 3]> = flat.iter().map(|f| f.map(corner)).collect();
    for &[a, b, c] in &flat {
        faces.push([a, c, b].map(|k| lower[k as usize]));
        uv.push([a, c, b].map(beside));
    }
    let mesh = TriMesh::new(positions.len(), &faces)?;
    let first_lower = Id::new(flat.len() as u32);
    let is_seam = |faces: (Id<Faces>, Option<Id<Faces>>)| {
        faces.1.is_some_and(|other| (faces.0 < first_lower) != (other < first_lower))
    };
    let seam = mesh.edges().iter().filter(|(_, edge)| is_seam(edge.faces)).map(|(id, _)| id).collect();
    Ok(Pillow { mesh, positions: Field::from_vec(positions), uv: Field::from_vec(uv), seam })
}

/// Places planar coordinates in the plane `z = 0` of space.
#[must_use]
pub fn embed(uv: &Field<Vertices, DVec2>) -> Field<Vertices, DVec3> {
    uv.map(|u| u.extend(0.0))
}

/// Point `i` of `count` on the unit circle; exact at the axes and symmetric about them.
fn unit_circle(i: usize, count: usize) -> DVec2 {
    // Reduce to the first octant, so that mirrored points have mirrored coordinates to the last
    // bit.
    let eighths = 8 * i;
    let octant = eighths / count;
    let local = eighths - octant * count;
    let steps = if octant.is_multiple_of(2) { local } else { count - local };
    let (sin, cos) = (std::f64::consts::FRAC_PI_4 * steps as f64 / count as f64).sin_cos();
    match octant % 8 {
        0 => DVec2::new(cos, sin),
        1 => DVec2::new(sin, cos),
        2 => DVec2::new(-sin, cos),
        3 => DVec2::new(-cos, sin),
        4 => DVec2::new(-cos, -sin),
        5 => DVec2::new(-sin, -cos),
        6 => DVec2::new(sin, -cos),
        _ => DVec2::new(cos, -sin),
    }
}

/// Two triangles per cell, counter-clockwise where `i` runs right and `j` up.
fn cell_faces(
    nx: usize,
    ny: usize,
    at: impl Fn(usize, usize) -> u32,
    mut rising: impl FnMut(usize, usize) -> bool,
) -> Vec<[u32; 3]> {
    let mut faces = Vec::with_capacity(2 * nx * ny);
    for j in 0..ny {
        for i in 0..nx {
            let (a, b, c, d) = (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
            if rising(i, j) {
                faces.extend([[a, b, c], [a, c, d]]);
            } else {
                faces.extend([[a, b, d], [b, c, d]]);
            }
        }
    }
    faces
}

fn rising(diagonal: Diagonal, i: usize, j: usize) -> bool {
    match diagonal {
        Diagonal::Left => false,
        Diagonal::Right => true,
        Diagonal::Alternating => (i + j).is_multiple_of(2),
    }
}

fn bad(shape: &'static str, reason: String) -> MeshError {
    MeshError::BadShape { shape, reason }
}

pub(super) fn check_cells(
    shape: &'static str,
    cells: [usize; 2],
    least: [usize; 2],
) -> Result<(), MeshError> {
    for (count, least) in cells.into_iter().zip(least) {
        if count < least {
            return Err(bad(shape, format!("{count} cells in one direction, at least {least} are needed")));
        }
    }
    // Six half-edges per cell must have 32-bit ids.
    match cells[0].checked_mul(cells[1]) {
        Some(count) if count <= (u32::MAX / 12) as usize => Ok(()),
        _ => Err(bad(shape, format!("{} x {} cells are too many", cells[0], cells[1]))),
    }
}

pub(super) fn check_lengths(shape: &'static str, lengths: &[f64]) -> Result<(), MeshError> {
    match lengths.iter().find(|l| !LENGTH.contains(*l)) {
        Some(length) => Err(bad(shape, format!("the length {length} m is not between 1e-30 m and 1e30 m"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pillow_is_a_closed_surface_of_twice_the_area() {
        for [nx, ny] in [[2, 2], [3, 5], [8, 4]] {
            let pillow = pillow(nx, ny, [0.4, 0.3]).unwrap();
            assert_eq!(pillow.mesh.boundary_edges().count(), 0);
            assert_eq!(pillow.mesh.euler_characteristic(), 2);
            assert_eq!(pillow.seam.len(), 2 * (nx + ny));
            let rest = RestShape::from_corner_uv(&pillow.mesh, &pillow.uv).unwrap();
            assert!((rest.area() - 0.24).abs() < 1e-14);
            // Positions and pattern have the same lengths.
            let curved = RestShape::from_positions(&pillow.mesh, &pillow.positions).unwrap();
            for (face, map) in rest.maps().iter() {
                assert!((map.area() - curved.map(face).area()).abs() < 1e-15);
            }
        }
        assert!(pillow(1, 4, [1.0, 1.0]).is_err());
    }
    use crate::RestShape;

    fn signed_areas(mesh: &TriMesh, uv: &Field<Vertices, DVec2>) -> Vec<f64> {
        let area = |c: &[Id<Vertices>; 3]| 0.5 * (uv[c[1]] - uv[c[0]]).perp_dot(uv[c[2]] - uv[c[0]]);
        mesh.faces().iter().map(|(_, corners)| area(corners)).collect()
    }

    #[test]
    fn spheres_are_closed_and_point_outwards() {
        for divisions in 0..4 {
            let (mesh, x) = sphere(divisions, 2.0).unwrap();
            assert_eq!(mesh.face_count(), 20 << (2 * divisions));
            assert_eq!((mesh.euler_characteristic(), mesh.boundary_edges().count()), (2, 0));
            assert!(x.as_slice().iter().all(|x| (x.length() - 2.0).abs() < 1e-15 * 4.0));
            for (_, corners) in mesh.faces().iter() {
                let [a, b, c] = corners.map(|v| x[v]);
                assert!((b - a).cross(c - a).dot(a + b + c) > 0.0);
            }
        }
        assert!(sphere(9, 1.0).is_err() && sphere(2, -1.0).is_err());
    }

    /// Counter-clockwise everywhere, the right total area, Euler characteristic and number of
    /// boundary loops.
    fn check((mesh, uv): &Planar, area: f64, euler: i64, loops: usize) {
        let areas = signed_areas(mesh, uv);
        assert!(areas.iter().all(|a| *a > 0.0), "smallest {:?}", areas.iter().copied().reduce(f64::min));
        let total: f64 = areas.iter().sum();
        assert!((total / area - 1.0).abs() < 1e-12, "{total} instead of {area}");
        assert_eq!(mesh.euler_characteristic(), euler);
        assert_eq!(mesh.boundary_loops().len(), loops);
    }

    #[test]
    fn planar_shapes() {
        for diagonal in [Diagonal::Left, Diagonal::Right, Diagonal::Alternating] {
            check(&grid(5, 3, [2.0, 0.5], diagonal).unwrap(), 1.0, 1, 1);
            let polygon =
                |n: usize, r: f64| 0.5 * n as f64 * r * r * (std::f64::consts::TAU / n as f64).sin();
            let ring = polygon(12, 1.5) - polygon(12, 0.5);
            check(&annulus(12, 4, 0.5, 1.5, diagonal).unwrap(), ring, 0, 2);
        }
        for seed in 0..20 {
            check(&irregular_grid(9, 7, [1.0, 2.0], seed).unwrap(), 2.0, 1, 1);
        }
        for rings in 1..6 {
            let n = 6.0 * rings as f64;
            let polygon = 0.5 * n * (std::f64::consts::TAU / n).sin() * 4.0;
            check(&disc(rings, 2.0).unwrap(), polygon, 1, 1);
        }
    }

    #[test]
    fn diagonals_are_drawn_as_documented() {
        let has = |diagonal, a: u32, b: u32| {
            let (mesh, _) = grid(1, 1, [1.0, 1.0], diagonal).unwrap();
            mesh.edge_between(Id::new(a), Id::new(b)).is_some()
        };
        // Vertices 0 1 below, 2 3 above.
        assert!(has(Diagonal::Right, 0, 3) && has(Diagonal::Left, 1, 2) && has(Diagonal::Alternating, 0, 3));
    }

    #[test]
    fn irregular_grids_repeat() {
        assert_eq!(irregular_grid(8, 8, [1.0, 1.0], 7), irregular_grid(8, 8, [1.0, 1.0], 7));
        assert_ne!(irregular_grid(8, 8, [1.0, 1.0], 7), irregular_grid(8, 8, [1.0, 1.0], 8));
    }

    #[test]
    fn cylinder_pattern_is_isometric_and_points_outwards() {
        let Tube { mesh, positions: x, uv } = cylinder(10, 4, 0.5, 2.0, Diagonal::Alternating).unwrap();
        assert_eq!((mesh.euler_characteristic(), mesh.boundary_loops().len()), (0, 2));
        let flat = RestShape::from_corner_uv(&mesh, &uv).unwrap();
        let curved = RestShape::from_positions(&mesh, &x).unwrap();
        for face in mesh.faces().ids() {
            assert!((flat.map(face).area() / curved.map(face).area() - 1.0).abs() < 1e-12);
            let [a, b, c] = mesh.faces()[face].map(|v| x[v]);
            let centre = (a + b + c) / 3.0;
            assert!((b - a).cross(c - a).dot(DVec3::new(centre.x, centre.y, 0.0)) > 0.0);
        }
    }

    #[test]
    fn mirrored_points_of_the_circle_have_mirrored_bits() {
        for count in [6, 7, 12, 30] {
            for i in 1..count {
                let (p, q) = (unit_circle(i, count), unit_circle(count - i, count));
                assert_eq!((p.x, p.y), (q.x, -q.y), "{i} of {count}");
                let angle = std::f64::consts::TAU * i as f64 / count as f64;
                assert!((p - DVec2::from_angle(angle)).length() < 1e-15);
            }
        }
        assert_eq!(unit_circle(3, 12), DVec2::new(0.0, 1.0));
    }

    #[test]
    fn impossible_shapes_are_refused() {
        let message = |e: Result<Planar, MeshError>| e.unwrap_err().to_string();
        assert_eq!(
            message(grid(0, 3, [1.0, 1.0], Diagonal::Left)),
            "cannot generate the grid: 0 cells in one direction, at least 1 are needed"
        );
        assert_eq!(
            message(disc(3, f64::NAN)),
            "cannot generate the disc: the length NaN m is not between 1e-30 m and 1e30 m"
        );
        assert_eq!(
            message(annulus(8, 1, 2.0, 1.0, Diagonal::Left)),
            "cannot generate the annulus: the inner radius 2 must be smaller than the outer one 1"
        );
        assert!(message(grid(1 << 40, 1 << 40, [1.0, 1.0], Diagonal::Left)).contains("too many"));
        assert!(message(disc(usize::MAX, 1.0)).contains("too many"));
    }
}
