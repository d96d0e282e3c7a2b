//! Test beds: the experiments of Chen21, section 6, as problems that can be solved.
//!
//! | bed | sheet | loads | given by Chen21 | chosen here |
//! |---|---|---|---|---|
//! | [`stretched_sheet`] | 0.25 × 0.1 m, 0.1 mm, 1 MPa, ν 0.5 | short ends pulled apart | all but the strain | |
//! | [`sheared_rectangle`] | 0.38 × 0.128 m, 25 µm, 3.5 GPa, ν 0.31 | long sides sheared by 3 mm | the experiment (Wong and Pellegrino) | its numbers |
//! | [`twisted_cylinder`] | radius 1 m, height 5 m, 0.1 mm, 10 MPa, ν 0.44 | ends turned by 10° | all | |
//! | [`pressurised_disk`] | radius 0.1 m, 0.1 mm, 10 MPa, ν 0.44 | rim held at radius 0.08 m, 600 Pa | published with the program | |
//! | [`disk_balloon`] | two discs of 0.1 m, 10 MPa, ν 0.44 | pressure | lengths and material | 0.1 mm, 600 Pa |
//! | [`torus`] | two rings of 0.04 and 0.1 m, the same | pressure | lengths and material | 0.1 mm, 2000 Pa |
//! | [`teabag`] | two rectangles of 1.4 × 0.74 m, 1 mm, 0.1 MPa, ν 0.3 | pressure | all but the pressure | 10 Pa |
//!
//! A cloth draped over a sphere needs an obstacle, which is a term of the caller: see
//! [`BaseProblem::with_term`].
//!
//! Meshes are irregular on purpose (displaced points with Delaunay triangles); `seed` chooses one,
//! and the same seed gives the same mesh. `resolution` is a number of cells, see each bed.

use glam::{DQuat, DVec2, DVec3};
use plisse_core::generate::{self, Diagonal, Planar};
use plisse_core::{Field, Id, IsotropicSheet, PoissonRatio, Positive, RestShape, TriMesh, Vertices};

use crate::error::WrinkleError;
use crate::tension::BaseProblem;

/// A problem and where to start.
#[derive(Clone)]
pub struct Bed {
    /// The sheet, its loads and pins.
    pub problem: BaseProblem,
    /// Positions to start from, in metres; held vertices are at their places.
    pub start: Field<Vertices, DVec3>,
}

/// A sheet whose short ends are held and pulled apart by this strain (Chen21, figure 6): 0.25 m
/// long, 0.1 m wide, with `resolution` cells over the width. The paper does not state the strain;
/// Wang and others, whom it follows, go up to a tenth and more.
pub fn stretched_sheet(strain: f64, resolution: usize, seed: u64) -> Result<Bed, WrinkleError> {
    stretched(strain, &rectangle(sheet_cells(resolution), SHEET, seed)?)
}

/// The same on a regular grid with diagonals in turn. For
/// [`elastic_reference`](crate::elastic_reference): a sheet that has to bend along the edges of an
/// irregular mesh is too stiff to buckle unless its cells are very small.
pub fn stretched_grid(strain: f64, resolution: usize) -> Result<Bed, WrinkleError> {
    let [nx, ny] = sheet_cells(resolution);
    stretched(strain, &generate::grid(nx.max(1), ny.max(1), SHEET, Diagonal::Alternating)?)
}

/// Length and width of the stretched sheet, m.
const SHEET: [f64; 2] = [0.25, 0.1];

fn sheet_cells(resolution: usize) -> [usize; 2] {
    [(SHEET[0] / SHEET[1] * resolution as f64).round() as usize, resolution]
}

fn stretched(strain: f64, (mesh, place): &Planar) -> Result<Bed, WrinkleError> {
    check("the strain", strain, strain > -1.0, "give a finite number above -1")?;
    let problem = flat(mesh, place, thin_sheet(1e6, 0.5, 1e-4)?)?;
    let stretched = place.map(|u| DVec3::new((1.0 + strain) * u.x, u.y, 0.0));
    let ends = |v: &Id<Vertices>| {
        let x = stretched[*v].x / (1.0 + strain);
        x == 0.0 || x >= SHEET[0] * (1.0 - 1e-12)
    };
    let pins: Vec<_> = mesh.vertices().filter(ends).map(|v| (v, stretched[v])).collect();
    Ok(Bed { problem: problem.with_pins(pins)?, start: stretched })
}

/// A film whose long sides are held and sheared against each other by `shear` metres, with the
/// short sides free (Chen21, figure 9, after Wong and Pellegrino): 0.38 m long, 0.128 m high, 25 µm
/// of 3.5 GPa with ν = 0.31 and a shear of 3 mm in the experiment, as far as we know it.
/// `resolution` cells over the height.
///
/// `pull` moves the upper side up by this many metres, as the experiment did to straighten the
/// film; zero for none.
pub fn sheared_rectangle(shear: f64, pull: f64, resolution: usize, seed: u64) -> Result<Bed, WrinkleError> {
    check("the shear", shear, true, "give a finite number of metres")?;
    check("the pull", pull, true, "give a finite number of metres")?;
    let size = [0.38, 0.128];
    let cells = [(size[0] / size[1] * resolution as f64).round() as usize, resolution];
    let (mesh, place) = rectangle(cells, size, seed)?;
    let problem = flat(&mesh, &place, thin_sheet(3.5e9, 0.31, 25e-6)?)?;
    let moved = |u: &DVec2| DVec3::new(u.x + shear * u.y / size[1], u.y * (1.0 + pull / size[1]), 0.0);
    let start = place.map(moved);
    let held = |v: &Id<Vertices>| {
        let y = place[*v].y;
        y == 0.0 || y >= size[1] * (1.0 - 1e-12)
    };
    let pins: Vec<_> = mesh.vertices().filter(held).map(|v| (v, start[v])).collect();
    Ok(Bed { problem: problem.with_pins(pins)?, start })
}

/// A cylinder of radius 1 m and height 5 m whose ends are held and turned against each other by
/// `degrees`, 10 in Chen21, figure 21; `resolution` cells around (six at least), and as many along
/// as make them square. The rest shape is that of the triangles of the mesh on the cylinder, with
/// its curvature as if it were bent from flat.
///
/// The start is turned evenly over the height.
pub fn twisted_cylinder(degrees: f64, resolution: usize, seed: u64) -> Result<Bed, WrinkleError> {
    check("the angle", degrees, true, "give a finite number of degrees")?;
    let (radius, height): (f64, f64) = (1.0, 5.0);
    let around = resolution.max(6);
    let circumference = std::f64::consts::TAU * radius;
    let along = ((height / circumference * around as f64).round() as usize).max(1);
    let tube = generate::delaunay_tube(around, along, radius, height, seed)?;
    let mesh = tube.mesh;
    let rest = RestShape::from_positions(&mesh, &tube.positions)?.maps().clone();
    let twist = degrees.to_radians() / height;
    let start = tube.positions.map(|x| DQuat::from_rotation_z(twist * x.z) * *x);
    let pins: Vec<_> =
        mesh.vertices().filter(|v| mesh.is_boundary_vertex(*v)).map(|v| (v, start[v])).collect();
    let problem = BaseProblem::new(mesh, rest, thin_sheet(1e7, 0.44, 1e-4)?)?.with_pins(pins)?;
    Ok(Bed { problem, start })
}

/// A disc of radius 0.1 m whose rim is held at radius 0.08 m, under a pressure in Pa (600 in the
/// example published with Chen21); 0.1 mm, 10 MPa, ν = 0.44; `resolution` cells over the radius.
/// The start is flat: all faces are slack.
pub fn pressurised_disk(pressure: f64, resolution: usize, seed: u64) -> Result<Bed, WrinkleError> {
    let (mesh, place) = generate::delaunay_disc(resolution.max(1), 0.1, seed)?;
    let problem = flat(&mesh, &place, thin_sheet(1e7, 0.44, 1e-4)?)?;
    let start = place.map(|u| (0.8 * *u).extend(0.0));
    let pins: Vec<_> =
        mesh.vertices().filter(|v| mesh.is_boundary_vertex(*v)).map(|v| (v, start[v])).collect();
    Ok(Bed { problem: problem.with_pins(pins)?.with_pressure(pressure)?, start })
}

/// Two discs of radius 0.1 m sewn along their rims, under a pressure in Pa (600 here; Chen21,
/// figure 11, does not say); 0.1 mm (chosen), 10 MPa, ν = 0.44; `resolution` cells over the radius.
/// The start is flat.
pub fn disk_balloon(pressure: f64, resolution: usize, seed: u64) -> Result<Bed, WrinkleError> {
    sewn(&generate::delaunay_disc(resolution.max(1), 0.1, seed)?, thin_sheet(1e7, 0.44, 1e-4)?, pressure)
}

/// Two rings of radii 0.04 m and 0.1 m sewn along both boundaries to a torus, under a pressure in
/// Pa (2000 here; Chen21, figure 11, does not say); 0.1 mm (chosen), 10 MPa, ν = 0.44; `resolution`
/// cells between the radii. The start is flat.
///
/// At 600 Pa the flat torus is a saddle: it buckles, and the solver takes a hundred iterations to
/// follow. At 2000 Pa it is stable.
pub fn torus(pressure: f64, resolution: usize, seed: u64) -> Result<Bed, WrinkleError> {
    sewn(
        &generate::delaunay_annulus(resolution.max(1), 0.04, 0.1, seed)?,
        thin_sheet(1e7, 0.44, 1e-4)?,
        pressure,
    )
}

/// Two rectangles of 1.4 m by 0.74 m sewn along their sides, under a pressure in Pa (10 here;
/// Chen21, figure 13, does not say); 1 mm, 0.1 MPa, ν = 0.3; `resolution` cells over the shorter
/// side. The start is flat.
pub fn teabag(pressure: f64, resolution: usize, seed: u64) -> Result<Bed, WrinkleError> {
    let size = [1.4, 0.74];
    let cells = [(size[0] / size[1] * resolution as f64).round() as usize, resolution];
    sewn(&rectangle(cells, size, seed)?, thin_sheet(1e5, 0.3, 1e-3)?, pressure)
}

fn thin_sheet(young: f64, poisson: f64, thickness: f64) -> Result<IsotropicSheet, WrinkleError> {
    let poisson = PoissonRatio::literal(poisson);
    Ok(IsotropicSheet::new(
        positive("Young's modulus", young)?,
        poisson,
        positive("the thickness", thickness)?,
    ))
}

fn positive(what: &'static str, value: f64) -> Result<Positive, WrinkleError> {
    let expected = "give a positive number";
    Positive::new(value).map_err(|_| WrinkleError::Parameter { what, value, expected })
}

fn check(what: &'static str, value: f64, good: bool, expected: &'static str) -> Result<(), WrinkleError> {
    if good && value.is_finite() { Ok(()) } else { Err(WrinkleError::Parameter { what, value, expected }) }
}

/// A rectangle of at least one cell.
fn rectangle([nx, ny]: [usize; 2], size: [f64; 2], seed: u64) -> Result<Planar, WrinkleError> {
    Ok(generate::delaunay_rectangle(nx.max(1), ny.max(1), size, seed)?)
}

/// One piece as it lies.
fn flat(
    mesh: &TriMesh,
    place: &Field<Vertices, DVec2>,
    sheet: IsotropicSheet,
) -> Result<BaseProblem, WrinkleError> {
    let rest = RestShape::from_uv(mesh, place)?.maps().clone();
    BaseProblem::new(mesh.clone(), rest, sheet)
}

/// A piece and its mirror image below, sewn along the whole boundary; the upper one points up.
fn sewn(piece: &Planar, sheet: IsotropicSheet, pressure: f64) -> Result<Bed, WrinkleError> {
    let sewn = generate::sewn_twice(piece)?;
    let panels = sewn.mesh.cut(&sewn.seam)?;
    let rest = RestShape::from_corner_uv(&sewn.mesh, &sewn.uv)?.maps().clone();
    let problem = BaseProblem::new(sewn.mesh, rest, sheet)?.with_panels(panels)?.with_pressure(pressure)?;
    Ok(Bed { problem, start: sewn.positions })
}
