//! Looks for what is suspicious about bodies.

use std::collections::HashMap;

use glam::{DVec2, DVec3};
use plisse_bending::HingeWeight;
use plisse_core::{Edges, Field, Id, TriMesh, Vertices, coincident, connected_pieces};

use super::body::Body;
use super::cloth::Cloth;
use super::material::{Bending, Material, Stretching};
use super::warning::SceneWarning;
use super::wires::Wires;

/// What is nearer than this part of the size of a body is in the same place. Files in single
/// precision have seven digits.
pub(crate) const SAME_PLACE: f64 = 1e-6;

/// All that is suspicious about a cloth and its material.
pub(super) fn cloth_warnings(cloth: &Cloth, name: &str) -> Vec<SceneWarning> {
    let mut warnings = shape_warnings(cloth, name);
    material_warnings(&cloth.material, cloth.membrane.is_some(), name, &mut warnings);
    warnings
}

/// All that is suspicious about the shape of a cloth and its start.
pub(super) fn shape_warnings(cloth: &Cloth, name: &str) -> Vec<SceneWarning> {
    let mut warnings = Vec::new();
    size_warning(&cloth.body, name, &mut warnings);
    if !cloth.body.apart {
        let seams = open_seams(&cloth.mesh, &cloth.body.x);
        if let Some(pair) = seams.first() {
            let ends = |e: Id<Edges>| cloth.mesh.edges()[e].vertices.map(Id::get);
            let (body, edges) = (name.to_owned(), seams.len());
            warnings.push(SceneWarning::OpenSeam { body, edges, example: pair.map(ends) });
        }
        let links = cloth.mesh.edges().as_slice().iter().map(|edge| edge.vertices.map(Id::get));
        piece_warning(&cloth.body, name, links, &mut warnings);
    }
    stretch_warnings(cloth, name, &mut warnings);
    warnings
}

/// All that is suspicious about wires.
pub(super) fn wire_warnings(wires: &Wires, name: &str) -> Vec<SceneWarning> {
    let mut warnings = Vec::new();
    size_warning(&wires.body, name, &mut warnings);
    if !wires.body.apart {
        let x = &wires.rest;
        let first = coincident(x.as_slice(), SAME_PLACE * diagonal(x.as_slice()));
        let joined: Vec<[u32; 2]> =
            (0..).zip(&first).filter(|(v, w)| v != *w).map(|(v, w)| [v, *w]).collect();
        if let Some(example) = joined.first() {
            let body = name.to_owned();
            warnings.push(SceneWarning::Coincident { body, vertices: joined.len(), example: *example });
        }
        piece_warning(&wires.body, name, wires.segments.iter().copied(), &mut warnings);
    }
    let wire = &wires.wire;
    let solid = "Solids have kg/m3: water 1000, steel 7850";
    implausible(name, "the density", wire.density.get(), "kg/m3", [10.0, 25e3], solid, &mut warnings);
    let pascals = "Young's modulus is in Pa: steel has 200e9";
    implausible(name, "Young's modulus", wire.young.get(), "Pa", [1e3, 2e12], pascals, &mut warnings);
    let metres = "It is in metres: 1e-3 for a millimetre";
    implausible(name, "the radius", wire.radius.get(), "m", [1e-7, 0.1], metres, &mut warnings);
    warnings
}

/// Pairs of boundary edges whose ends are in the same places: they look joined and are not. Each
/// edge is in at most one pair.
pub(crate) fn open_seams(mesh: &TriMesh, x: &Field<Vertices, DVec3>) -> Vec<[Id<Edges>; 2]> {
    let boundary: Vec<Id<Vertices>> = mesh.vertices().filter(|v| mesh.is_boundary_vertex(*v)).collect();
    let places: Vec<DVec3> = boundary.iter().map(|v| x[*v]).collect();
    let first = coincident(&places, SAME_PLACE * diagonal(x.as_slice()));
    let place: HashMap<Id<Vertices>, u32> = boundary.into_iter().zip(first).collect();
    let mut seen: HashMap<[u32; 2], Id<Edges>> = HashMap::new();
    let mut pairs = Vec::new();
    for edge in mesh.boundary_edges() {
        let mut ends = mesh.edges()[edge].vertices.map(|v| place[&v]);
        ends.sort_unstable();
        // An edge shorter than the tolerance lies on nothing.
        if ends[0] == ends[1] {
            continue;
        }
        match seen.remove(&ends) {
            Some(other) => pairs.push([other, edge]),
            None => _ = seen.insert(ends, edge),
        }
    }
    pairs
}

/// The diagonal of the box around points; zero without points.
fn diagonal(x: &[DVec3]) -> f64 {
    let low = x.iter().fold(DVec3::INFINITY, |low, x| low.min(*x));
    let high = x.iter().fold(DVec3::NEG_INFINITY, |high, x| high.max(*x));
    if x.is_empty() { 0.0 } else { (high - low).length() }
}

/// Ratios of lengths as placed to those at rest, of the whole and of its triangles.
pub(crate) struct Fit {
    /// At rest, m².
    pub(crate) rest: f64,
    /// As placed, m².
    pub(crate) placed: f64,
    /// The face that is worst, and its smallest and largest ratio.
    worst: (u32, [f64; 2]),
    /// Faces with a ratio beyond two.
    faces: usize,
}

impl Fit {
    pub(crate) fn new(cloth: &Cloth) -> Self {
        let mut fit = Self { rest: 0.0, placed: 0.0, worst: (0, [1.0; 2]), faces: 0 };
        let mut furthest = 0.0;
        for (face, corners) in cloth.mesh.faces().iter() {
            let map = cloth.rest.map(face);
            let f = map.deformation_gradient(&corners.map(|v| cloth.body.x[v]));
            let (a, b) = (f.c0, f.c1);
            let (uu, vv, uv) = (a.length_squared(), b.length_squared(), a.dot(b));
            let mean = 0.5 * (uu + vv);
            let spread = (0.5 * (uu - vv)).hypot(uv);
            let ratios = [(mean - spread).max(0.0), mean + spread].map(f64::sqrt);
            fit.rest += map.area();
            fit.placed += map.area() * ratios[0] * ratios[1];
            let off = ratios[1].max(1.0 / ratios[0].max(1e-300));
            fit.faces += usize::from(off > 2.0);
            if off > furthest {
                (furthest, fit.worst) = (off, (face.get(), ratios));
            }
        }
        fit
    }

    /// How much longer it is as placed, on average.
    pub(crate) fn stretch(&self) -> f64 {
        (self.placed / self.rest).sqrt()
    }
}

/// Whether the material coordinates lie in the unit square and reach from one side of it to the
/// other, as unwrapping leaves them.
pub(crate) fn in_unit_square(cloth: &Cloth) -> bool {
    let (mut low, mut high) = (DVec2::INFINITY, DVec2::NEG_INFINITY);
    for u in cloth.uv.iter().flat_map(Field::as_slice).flatten() {
        (low, high) = (low.min(*u), high.max(*u));
    }
    low.min_element() >= -1e-3 && high.max_element() <= 1.001 && (high - low).max_element() >= 0.9
}

fn stretch_warnings(cloth: &Cloth, name: &str, warnings: &mut Vec<SceneWarning>) {
    let fit = Fit::new(cloth);
    let is_off = !(0.99..=1.01).contains(&fit.stretch());
    if !cloth.in_metres && is_off && in_unit_square(cloth) {
        warnings.push(SceneWarning::UnitSquare { body: name.to_owned(), stretch: fit.stretch() });
    }
    if !(0.7..=1.4).contains(&fit.stretch()) {
        warnings.push(SceneWarning::Area { body: name.to_owned(), rest: fit.rest, placed: fit.placed });
    }
    // A collapsed start says nothing that the area has not said.
    if fit.faces > 0 && fit.placed > 0.0 {
        let (face, stretch) = fit.worst;
        warnings.push(SceneWarning::Stretched { body: name.to_owned(), face, stretch, faces: fit.faces });
    }
}

/// A sheet is thin if it is this many times wider than thick.
const THIN: f64 = 10.0;

/// Doubts that a sheet of this thickness is one.
///
/// Its width is four times the area over the length of the boundary: the side of a square, the
/// diameter of a disc, twice the width of a long strip. A closed surface has the side of a square
/// of its area.
pub(super) fn thickness_warning(cloth: &Cloth, name: &str, thickness: f64, warnings: &mut Vec<SceneWarning>) {
    let area: f64 = cloth.rest.area();
    let length = |edge: Id<Edges>| {
        let face = cloth.mesh.edges()[edge].faces.0;
        let map = cloth.rest.map(face);
        let corner = (0..3).find(|i| cloth.mesh.face_edges()[face][*i] == edge);
        // The gradient of a barycentric coordinate is one over the height on the edge.
        corner.map_or(0.0, |i| 2.0 * map.area() * map.barycentric_gradient(i).length())
    };
    let boundary: f64 = cloth.mesh.boundary_edges().map(length).sum();
    let square = area.sqrt();
    let width = if boundary > 0.0 { square.min(4.0 * area / boundary) } else { square };
    if THIN * thickness > width {
        warnings.push(SceneWarning::Thick { body: name.to_owned(), thickness, width });
    }
}

fn size_warning(body: &Body, name: &str, warnings: &mut Vec<SceneWarning>) {
    let hint = "Lengths are metres; for a file in millimetres, set mesh_unit = 1e-3";
    let size = diagonal(body.x.as_slice());
    implausible(name, "the size", size, "m", [2e-3, 50.0], hint, warnings);
}

fn piece_warning(
    body: &Body,
    name: &str,
    links: impl Iterator<Item = [u32; 2]>,
    warnings: &mut Vec<SceneWarning>,
) {
    let pieces = connected_pieces(body.x.len(), links);
    if pieces.len() < 2 {
        return;
    }
    let mut held = vec![false; body.x.len()];
    // Pins that cannot hold are refused elsewhere.
    let picked = body.pins.iter().filter_map(|(pick, _)| pick.resolve(name, &body.x, &body.groups).ok());
    for vertex in picked.flatten() {
        held[vertex.index()] = true;
    }
    let loose = pieces.iter().filter(|piece| !piece.iter().any(|v| held[*v as usize])).count();
    if loose > 0 {
        let smallest = pieces.iter().map(Vec::len).fold(usize::MAX, usize::min);
        let (body, pieces) = (name.to_owned(), pieces.len());
        warnings.push(SceneWarning::Pieces { body, pieces, loose, smallest });
    }
}

fn material_warnings(
    material: &Material,
    has_own_membrane: bool,
    name: &str,
    warnings: &mut Vec<SceneWarning>,
) {
    let areal = "It is mass per area: a fabric of 200 g/m2 has 0.2 kg/m2";
    implausible(name, "the density", material.density.get(), "kg/m2", [0.005, 20.0], areal, warnings);
    let moduli = material.membrane.tensile_moduli();
    if let Stretching::NeoHookean(lame) = material.membrane.stretching
        && (lame.poisson() - 0.5).abs() < 1e-3
    {
        warnings.push(SceneWarning::NotRubber { body: name.to_owned(), poisson: lame.poisson() });
    }
    let per_width = "It is force per width: Young's modulus in Pa times thickness in m";
    for modulus in distinct(&moduli).filter(|_| !has_own_membrane) {
        implausible(name, "the tensile stiffness", *modulus, "N/m", [0.1, 1e9], per_width, warnings);
    }
    let rigidities = match material.bending {
        Bending::Hinge { rigidity, weight: HingeWeight::AreaSum | HingeWeight::DiscreteShells, .. } => {
            [rigidity.warp.get(), rigidity.weft.get()]
        }
        Bending::MidEdge { rigidity, .. } | Bending::Quadratic { rigidity } => [rigidity.get(); 2],
        Bending::Hinge { .. } | Bending::None => return,
    };
    let plate = "Fabrics have 1e-7 to 1e-3 N m; 1 gf cm2/cm is 9.8e-7 N m";
    for rigidity in distinct(&rigidities) {
        implausible(name, "the bending rigidity", *rigidity, "N m", [1e-10, 1e4], plate, warnings);
    }
}

/// Two values, or one of them if they are the same.
fn distinct([warp, weft]: &[f64; 2]) -> impl Iterator<Item = &f64> {
    [warp].into_iter().chain(Some(weft).filter(|weft| weft.total_cmp(warp).is_ne()))
}

fn implausible(
    body: &str,
    what: &'static str,
    value: f64,
    unit: &'static str,
    usual: [f64; 2],
    hint: &'static str,
    warnings: &mut Vec<SceneWarning>,
) {
    if !(usual[0]..=usual[1]).contains(&value) {
        warnings.push(SceneWarning::Implausible { body: body.to_owned(), what, value, unit, usual, hint });
    }
}
