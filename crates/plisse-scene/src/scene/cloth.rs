//! A piece of cloth before it is part of a scene.

use std::sync::Arc;

use glam::{DQuat, DVec2, DVec3};
use plisse_bending::AngleEnergy;
use plisse_constrained::Compliance;
use plisse_core::{Edges, Faces, Field, Id, MeshError, Positive, RestShape, TriMesh, Vertices, generate};
use plisse_membrane::MembraneEnergy;

use super::SceneError;
use super::body::{Body, body_methods};
use super::material::Material;
use super::own::Own;
use super::pick::{Groups, Pick};
use super::plausible::shape_warnings;
use super::strain_limit::MaxStretch;
use super::timeline::Timeline;
use super::touching::BodyContact;
use super::warning::SceneWarning;

/// A piece of cloth: mesh, rest shape, place, material, pins.
///
/// ```
/// use glam::DVec3;
/// use plisse_scene::scene::{Cloth, Material, Pick, rotation_degrees};
/// let curtain = Cloth::sheet([40, 60], [1.0, 1.5])?
///     .named("curtain")
///     .material(Material::cotton())
///     .rotated(rotation_degrees(90.0, 0.0, 0.0))
///     .at(DVec3::new(0.0, 0.0, 0.2))
///     .pin(Pick::group("top"));
/// assert_eq!(curtain.mesh().vertex_count(), 41 * 61);
/// // A mesh that prefers no direction.
/// let napkin = Cloth::irregular([30, 30], [0.4, 0.4], 7)?;
/// assert!((napkin.rest().area() - 0.16).abs() < 1e-12);
/// let irregular = [
///     Cloth::delaunay([30, 30], [0.4, 0.4], 7)?,
///     Cloth::irregular_disc(8, 0.1, 7)?,
///     Cloth::irregular_cylinder([24, 20], 0.1, 0.5, 7)?.pin(Pick::group("top")),
///     Cloth::irregular_pillow([8, 8], [0.4, 0.4], 7)?,
///     Cloth::discs(8, 0.1, 7)?.pin(Pick::group("rim")),
///     Cloth::annuli(4, [0.04, 0.1], 7)?.pin(Pick::group("inner")),
/// ];
/// assert!(irregular.iter().all(|cloth| cloth.rest().area() > 0.03));
/// # Ok::<(), plisse_scene::scene::SceneError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cloth {
    pub(super) body: Body,
    pub(super) mesh: TriMesh,
    pub(super) rest: RestShape,
    pub(super) uv: Option<Field<Faces, [DVec2; 3]>>,
    /// Edges that bend freely, ascending.
    pub(super) loose: Vec<Id<Edges>>,
    pub(super) curved: bool,
    pub(super) material: Material,
    /// In place of the membrane of the material.
    pub(super) membrane: Option<Own<dyn MembraneEnergy>>,
    /// In place of the law of the hinges of the material.
    pub(super) angle_law: Option<Own<dyn AngleEnergy>>,
    pub(super) strain_limit: Option<MaxStretch>,
    pub(super) model: Model,
    pub(super) compliance: Compliance,
    pub(super) filling: Option<Filling>,
    /// Whether the material coordinates are in metres for certain.
    pub(super) in_metres: bool,
}

/// What a closed surface is filled with, or what pushes an open one.
///
/// ```
/// use plisse_core::{generate, Positive};
/// use plisse_scene::scene::{Cloth, Filling, Scene};
/// let pillow = Cloth::pillow([4, 4], [0.4, 0.4])?.filled(Filling::Pressure(50.0)).jittered(1e-4);
/// let water = Filling::Volume { target: 4.2e-3, bulk: Positive::literal(1e5) };
/// let balloon = Cloth::sphere(1, 0.1)?.filled(water).at(glam::DVec3::Z);
/// // The same from meshes: at rest as they are, or with a flat pattern of their own.
/// let (mesh, x) = generate::sphere(1, 0.1)?;
/// let shell = Cloth::curved(mesh, x, [])?.at(glam::DVec3::X);
/// let tube = generate::cylinder(8, 4, 0.1, 0.3, generate::Diagonal::Right)?;
/// let sleeve = Cloth::sewn(tube.mesh, tube.positions, tube.uv, [])?;
/// let rolled = sleeve.resting_bent()?.at(glam::DVec3::Y);
/// let scene = Scene::builder().cloth(pillow).cloth(balloon).cloth(shell).cloth(rolled).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Filling {
    /// A constant pressure above that outside, in Pa. On an open surface it pushes along the
    /// normals of faces; pins must then hold all of the boundary where it starts.
    Pressure(f64),
    /// The same over time.
    PressureOverTime(Timeline<f64>),
    /// A gas or liquid that keeps a volume, in m³, with a bulk modulus in Pa.
    Volume {
        /// The volume without pressure, m³.
        target: f64,
        /// Pa.
        bulk: Positive,
    },
}

/// A vertex is on a crease if it is this near, as a part of the size of the cloth.
const CREASED: f64 = 1e-9;

fn mesh_error(source: MeshError) -> SceneError {
    SceneError::Mesh { body: "cloth".to_owned(), source }
}

/// How a cloth resists stretch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Model {
    /// By the stiffness of its material.
    #[default]
    Elastic,
    /// It does not stretch at all and bends freely: fast projection on nonconforming elements
    /// (EB08). A scene has one such cloth, alone but for obstacles. Of its material density and
    /// bending count; its vertices are those of the ghost mesh.
    Developable,
}

impl Cloth {
    fn new(
        mesh: TriMesh,
        rest: RestShape,
        x: Field<Vertices, DVec3>,
        uv: Option<Field<Faces, [DVec2; 3]>>,
        groups: Groups,
    ) -> Self {
        // Rounding gives a flat mesh in space angles of 1e-16.
        let curved = rest.hinges().iter().any(|hinge| hinge.rest_angle().abs() > 1e-9);
        let body = Body::new(x, groups);
        let material = Material::cotton();
        Self {
            body,
            mesh,
            rest,
            uv,
            loose: Vec::new(),
            curved,
            material,
            membrane: None,
            angle_law: None,
            strain_limit: None,
            filling: None,
            model: Model::Elastic,
            compliance: Compliance::default(),
            in_metres: true,
        }
    }

    /// A rectangle in the plane `z = 0` about the origin, `cells` and metres along x and y, with
    /// alternating diagonals.
    ///
    /// Groups: `left`, `right`, `bottom`, `top` (smallest and largest x and y), `corners`, and each
    /// corner alone, as `top-left`.
    pub fn sheet(cells: [usize; 2], size: [f64; 2]) -> Result<Self, SceneError> {
        Self::grid(cells, size, generate::Diagonal::Alternating)
    }

    /// The same with another choice of diagonals.
    pub fn grid(cells: [usize; 2], size: [f64; 2], diagonal: generate::Diagonal) -> Result<Self, SceneError> {
        let planar = generate::grid(cells[0], cells[1], size, diagonal).map_err(mesh_error)?;
        Self::rectangle(planar, cells, size)
    }

    /// The same with vertices moved at random and random diagonals: no direction of the mesh is
    /// preferred.
    pub fn irregular(cells: [usize; 2], size: [f64; 2], seed: u64) -> Result<Self, SceneError> {
        let planar = generate::irregular_grid(cells[0], cells[1], size, seed).map_err(mesh_error)?;
        Self::rectangle(planar, cells, size)
    }

    /// The same with Delaunay triangles. Their shapes are better; the tension fields of wrinkles
    /// need that.
    pub fn delaunay(cells: [usize; 2], size: [f64; 2], seed: u64) -> Result<Self, SceneError> {
        let planar = generate::delaunay_rectangle(cells[0], cells[1], size, seed).map_err(mesh_error)?;
        Self::rectangle(planar, cells, size)
    }

    fn rectangle(
        (mesh, uv): generate::Planar,
        cells: [usize; 2],
        size: [f64; 2],
    ) -> Result<Self, SceneError> {
        let [left, right, bottom, top] = sides(cells);
        let mut groups = Groups::new();
        let both = |a: &[Id<Vertices>], b: &[Id<Vertices>]| -> Vec<Id<Vertices>> {
            a.iter().copied().filter(|v| b.contains(v)).collect()
        };
        let mut corners = Vec::new();
        for (name, a, b) in [
            ("bottom-left", &bottom, &left),
            ("bottom-right", &bottom, &right),
            ("top-left", &top, &left),
            ("top-right", &top, &right),
        ] {
            let corner = both(a, b);
            corners.extend(corner.iter().copied());
            groups.insert(name.to_owned(), corner);
        }
        groups.insert("corners".to_owned(), corners);
        for (name, side) in [("left", left), ("right", right), ("bottom", bottom), ("top", top)] {
            groups.insert(name.to_owned(), side);
        }
        let middle = DVec2::new(0.5 * size[0], 0.5 * size[1]);
        Ok(Self::flat(mesh, &uv, groups)?.at(-middle.extend(0.0)))
    }

    fn flat(mesh: TriMesh, uv: &Field<Vertices, DVec2>, groups: Groups) -> Result<Self, SceneError> {
        let rest = RestShape::from_uv(&mesh, uv).map_err(rest_error)?;
        let corners = mesh.faces().map(|face| face.map(|v| uv[v]));
        Ok(Self::new(mesh, rest, generate::embed(uv), Some(corners), groups))
    }

    /// A disc in the plane `z = 0` about the origin. Groups: `rim`, `centre`.
    pub fn disc(rings: usize, radius: f64) -> Result<Self, SceneError> {
        Self::round(generate::disc(rings, radius).map_err(mesh_error)?)
    }

    /// The same with irregular triangles.
    pub fn irregular_disc(rings: usize, radius: f64, seed: u64) -> Result<Self, SceneError> {
        Self::round(generate::delaunay_disc(rings, radius, seed).map_err(mesh_error)?)
    }

    fn round((mesh, uv): generate::Planar) -> Result<Self, SceneError> {
        let groups = Groups::from([
            ("rim".to_owned(), mesh.vertices().filter(|v| mesh.is_boundary_vertex(*v)).collect()),
            ("centre".to_owned(), vec![Id::new(0)]),
        ]);
        Self::flat(mesh, &uv, groups)
    }

    /// An open tube about the z axis, from `z = 0` up, cells around and along. Groups: `bottom`,
    /// `top`. It is rolled from a flat pattern, but at rest where it is: its rest angles are those
    /// of the tube.
    pub fn cylinder(cells: [usize; 2], radius: f64, length: f64) -> Result<Self, SceneError> {
        let tube = generate::cylinder(cells[0], cells[1], radius, length, generate::Diagonal::Alternating)
            .map_err(mesh_error)?;
        Self::tube(tube, length)
    }

    /// The same with irregular triangles; six cells around or more.
    pub fn irregular_cylinder(
        cells: [usize; 2],
        radius: f64,
        length: f64,
        seed: u64,
    ) -> Result<Self, SceneError> {
        let tube = generate::delaunay_tube(cells[0], cells[1], radius, length, seed).map_err(mesh_error)?;
        Self::tube(tube, length)
    }

    fn tube(tube: generate::Tube, length: f64) -> Result<Self, SceneError> {
        let row = |z: f64| {
            let near = |x: &DVec3| (x.z - z).abs() < 1e-9 * length;
            tube.positions.iter().filter(|(_, x)| near(x)).map(|(v, _)| v).collect()
        };
        let groups = Groups::from([("bottom".to_owned(), row(0.0)), ("top".to_owned(), row(length))]);
        let rest = RestShape::from_corner_uv(&tube.mesh, &tube.uv)
            .and_then(|rest| rest.with_rest_angles(&tube.positions))
            .map_err(rest_error)?;
        Ok(Self::new(tube.mesh, rest, tube.positions, Some(tube.uv), groups))
    }

    /// A closed sphere about the origin, at rest as it is: an icosahedron divided so many times.
    /// Its material must be isotropic, as for [`Self::curved`].
    pub fn sphere(divisions: usize, radius: f64) -> Result<Self, SceneError> {
        let (mesh, x) = generate::sphere(divisions, radius).map_err(mesh_error)?;
        Self::curved(mesh, x, None)
    }

    /// Two rectangles sewn along their sides, flat in the plane `z = 0` about the origin. Seams
    /// bend freely. Groups: `seam`.
    pub fn pillow(cells: [usize; 2], size: [f64; 2]) -> Result<Self, SceneError> {
        let pillow = generate::pillow(cells[0], cells[1], size).map_err(mesh_error)?;
        let cloth = Self::panels(pillow, |_| "seam")?;
        Ok(cloth.at(DVec3::new(-0.5 * size[0], -0.5 * size[1], 0.0)))
    }

    /// The same with irregular triangles.
    pub fn irregular_pillow(cells: [usize; 2], size: [f64; 2], seed: u64) -> Result<Self, SceneError> {
        let planar = generate::delaunay_rectangle(cells[0], cells[1], size, seed).map_err(mesh_error)?;
        let cloth = Self::panels(generate::sewn_twice(&planar).map_err(mesh_error)?, |_| "seam")?;
        Ok(cloth.at(DVec3::new(-0.5 * size[0], -0.5 * size[1], 0.0)))
    }

    /// Two discs of irregular triangles sewn along their rims, flat in the plane `z = 0` about the
    /// origin. Seams bend freely. Groups: `rim`.
    pub fn discs(rings: usize, radius: f64, seed: u64) -> Result<Self, SceneError> {
        let planar = generate::delaunay_disc(rings, radius, seed).map_err(mesh_error)?;
        Self::panels(generate::sewn_twice(&planar).map_err(mesh_error)?, |_| "rim")
    }

    /// Two rings of irregular triangles between these radii, sewn along both rims to a flat torus,
    /// with `across` cells between the rims. Seams bend freely. Groups: `inner`, `outer`.
    pub fn annuli(across: usize, [inner, outer]: [f64; 2], seed: u64) -> Result<Self, SceneError> {
        let planar = generate::delaunay_annulus(across, inner, outer, seed).map_err(mesh_error)?;
        let side = |x: DVec3| if x.length() < 0.5 * (inner + outer) { "inner" } else { "outer" };
        Self::panels(generate::sewn_twice(&planar).map_err(mesh_error)?, side)
    }

    /// Sewn panels; `group` names the seam that a place belongs to.
    fn panels(pillow: generate::Pillow, group: impl Fn(DVec3) -> &'static str) -> Result<Self, SceneError> {
        let mut seam: Vec<Id<Vertices>> =
            pillow.seam.iter().flat_map(|e| pillow.mesh.edges()[*e].vertices).collect();
        seam.sort_unstable();
        seam.dedup();
        let mut groups = Groups::new();
        for v in seam {
            groups.entry(group(pillow.positions[v]).to_owned()).or_default().push(v);
        }
        let rest = RestShape::from_corner_uv(&pillow.mesh, &pillow.uv).map_err(rest_error)?;
        let cloth = Self::new(pillow.mesh, rest, pillow.positions, Some(pillow.uv), groups);
        let mut loose = pillow.seam;
        loose.sort_unstable();
        // Both sheets start in one place, where no contact can tell them apart.
        let apart = BodyContact { touches_itself: false, ..BodyContact::default() };
        Ok(Self { loose, ..cloth }.contact(apart))
    }

    /// Any mesh that is flat at rest, with material coordinates per corner in metres: patterns sewn
    /// along seams, for example. `groups` names sets of vertices for pins.
    pub fn sewn(
        mesh: TriMesh,
        positions: Field<Vertices, DVec3>,
        uv: Field<Faces, [DVec2; 3]>,
        groups: impl IntoIterator<Item = (String, Vec<Id<Vertices>>)>,
    ) -> Result<Self, SceneError> {
        check_positions(&mesh, &positions)?;
        let groups = groups.into_iter().collect();
        check_groups(positions.len(), &groups)?;
        let rest = RestShape::from_corner_uv(&mesh, &uv).map_err(rest_error)?;
        let cloth = Self::new(mesh, rest, positions, Some(uv), groups);
        Ok(Self { in_metres: false, ..cloth })
    }

    /// Any mesh that is at rest as it is, curved or not. It has no material coordinates, so warp
    /// and weft have no direction: [`SceneBuilder::build`](super::SceneBuilder::build) accepts
    /// isotropic materials only. Without another choice it is an isotropic sheet with the density
    /// and bending of cotton.
    pub fn curved(
        mesh: TriMesh,
        positions: Field<Vertices, DVec3>,
        groups: impl IntoIterator<Item = (String, Vec<Id<Vertices>>)>,
    ) -> Result<Self, SceneError> {
        check_positions(&mesh, &positions)?;
        let groups = groups.into_iter().collect();
        check_groups(positions.len(), &groups)?;
        let rest = RestShape::from_positions(&mesh, &positions).map_err(rest_error)?;
        let cloth = Self::new(mesh, rest, positions, None, groups);
        Ok(cloth.material(Material::isotropic_cotton()))
    }

    body_methods!();

    /// Made of this. Cotton, if nothing is said.
    #[must_use]
    pub fn material(self, material: Material) -> Self {
        Self { material, ..self }
    }

    /// With a membrane energy of one's own in place of that of the material, in J/m² of rest area.
    ///
    /// Density, bending and damping stay those of the material: damping in proportion to the moduli
    /// takes the moduli of the material. The first axis of the deformation gradient is that of the
    /// material coordinates; a cloth without them ([`Self::curved`]) has axes that differ from face
    /// to face, and needs an isotropic energy.
    ///
    /// ```
    /// use plisse_core::Positive;
    /// use plisse_membrane::{Arap, MembraneEnergy, Stretch};
    /// use plisse_scene::scene::{Cloth, Pick, Scene};
    /// let [soft, stiff] = [20.0, 500.0].map(Positive::literal);
    /// let energy = Arap::new(soft).plus(Stretch::warp_weft().scaled(stiff));
    /// let sheet = Cloth::sheet([6, 6], [0.3, 0.3])?.membrane(energy).pin(Pick::group("top"));
    /// Scene::builder().cloth(sheet).build()?.step()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn membrane(self, energy: impl MembraneEnergy + 'static) -> Self {
        Self { membrane: Some(Own(Arc::new(energy))), ..self }
    }

    /// With a bending law of one's own in place of that of the material, whose rigidity it is
    /// multiplied by. The material must bend by hinges.
    #[must_use]
    pub fn angle_law(self, law: impl AngleEnergy + 'static) -> Self {
        Self { angle_law: Some(Own(Arc::new(law))), ..self }
    }

    /// Stretched at most so far, whatever pulls. Its start must be within the limit, and pins that
    /// pull further make steps fail. Explicit integrators do not keep it.
    #[must_use]
    pub fn strain_limit(self, limit: MaxStretch) -> Self {
        Self { strain_limit: Some(limit), ..self }
    }

    /// With another way to resist stretch.
    ///
    /// ```
    /// use plisse_scene::scene::{Cloth, Model, Pick, Scene};
    /// let paper = Cloth::sheet([8, 8], [0.3, 0.3])?.model(Model::Developable).pin(Pick::group("left"));
    /// let mut scene = Scene::builder().cloth(paper).build()?;
    /// scene.step()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn model(self, model: Model) -> Self {
        Self { model, ..self }
    }

    /// Developable, but for what these compliances let it give way in its plane: threads may be
    /// inextensible and shear soft, as in woven cloth.
    #[must_use]
    pub fn compliance(self, compliance: Compliance) -> Self {
        Self { compliance, model: Model::Developable, ..self }
    }

    /// With a crease from place to place: edges that bend freely. It must lie along edges of the
    /// mesh, where they are now; beyond the cloth it may go on. Its lengths stay.
    ///
    /// # Errors
    /// [`SceneError::Crease`] if it cuts through cells, or if no edge lies on it.
    ///
    /// ```
    /// use glam::DVec3;
    /// use plisse_scene::scene::{Cloth, Model};
    /// let paper = Cloth::sheet([8, 8], [0.2, 0.2])?.model(Model::Developable);
    /// let folded = paper.clone().creased(DVec3::new(0.05, -0.1, 0.0), DVec3::new(0.05, 0.1, 0.0))?;
    /// assert!(paper.creased(DVec3::new(0.03, -0.1, 0.0), DVec3::new(0.03, 0.1, 0.0)).is_err());
    /// # Ok::<(), plisse_scene::scene::SceneError>(())
    /// ```
    pub fn creased(mut self, from: DVec3, to: DVec3) -> Result<Self, SceneError> {
        let wrong = |reason: String| SceneError::Crease { from: from.to_array(), to: to.to_array(), reason };
        let way = to - from;
        let x = &self.body.x;
        let size = x.as_slice().iter().fold(0.0, |m: f64, x| m.max(x.abs().max_element()));
        let (length, tolerance) = (way.length(), CREASED * size);
        if !(length > tolerance && length.is_finite()) {
            return Err(wrong("its ends are in one place; move one".to_owned()));
        }
        let direction = way / length;
        // Where a vertex lies along the line, if it is on it.
        let along = |v: Id<Vertices>| {
            let at = x[v] - from;
            let along = at.dot(direction);
            let is_on = (at - direction * along).length() <= tolerance;
            (is_on && (-tolerance..=length + tolerance).contains(&along)).then_some(along)
        };
        let mut on: Vec<(f64, f64, Id<Edges>)> = Vec::new();
        for (id, edge) in self.mesh.edges().iter() {
            if let [Some(a), Some(b)] = edge.vertices.map(along) {
                on.push((a.min(b), a.max(b), id));
            }
        }
        let Some(first) = on.iter().map(|(start, ..)| *start).reduce(f64::min) else {
            return Err(wrong("no edge of the mesh lies on it; put it where cells meet".to_owned()));
        };
        on.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
        let mut reached = first;
        for (start, end, _) in &on {
            if *start > reached + tolerance {
                let place = from + direction * reached;
                let reason = format!("it leaves the edges of the mesh at {place}; put it where cells meet");
                return Err(wrong(reason));
            }
            reached = reached.max(*end);
        }
        // Where it ends before its end, it must have left the cloth.
        let ends = [(first, 0.0), (reached, length)];
        for (at, end) in ends.into_iter().filter(|(at, end)| (at - end).abs() > tolerance) {
            let place = from + direction * at;
            let leaves =
                |v: Id<Vertices>| x[v].distance(place) <= 2.0 * tolerance && self.mesh.is_boundary_vertex(v);
            if !self.mesh.vertices().any(leaves) {
                let there = from + direction * end;
                let reason = format!(
                    "it leaves the edges of the mesh at {place} and goes on to {there}; put it where cells meet"
                );
                return Err(wrong(reason));
            }
        }
        self.loose
            .extend(on.iter().map(|(.., edge)| *edge).filter(|edge| !self.mesh.edges()[*edge].is_boundary()));
        self.loose.sort_unstable();
        self.loose.dedup();
        Ok(self)
    }

    /// Filled with something. The surface must be closed; for a pressure it is enough that pins
    /// hold all of its boundary.
    #[must_use]
    pub fn filled(self, filling: Filling) -> Self {
        Self { filling: Some(filling), ..self }
    }

    /// At rest in the shape it now has, as far as bending goes: its angles become the rest angles.
    /// Lengths stay.
    pub fn resting_bent(self) -> Result<Self, SceneError> {
        let rest = self.rest.with_rest_angles(&self.body.x).map_err(rest_error)?;
        Ok(Self { rest, curved: true, ..self })
    }

    /// With material coordinates that are in metres for certain, even if they fill the unit square.
    #[allow(dead_code, reason = "only files need it")]
    pub(crate) fn in_metres(self) -> Self {
        Self { in_metres: true, ..self }
    }

    /// What is suspicious about its shape and its start;
    /// [`Scene::warnings`](super::Scene::warnings) also has what is suspicious about the materials.
    #[must_use]
    pub fn warnings(&self) -> Vec<SceneWarning> {
        shape_warnings(self, self.body.name.as_deref().unwrap_or("the cloth"))
    }

    /// The mesh.
    #[must_use]
    pub fn mesh(&self) -> &TriMesh {
        &self.mesh
    }

    /// The rest shape.
    #[must_use]
    pub fn rest(&self) -> &RestShape {
        &self.rest
    }
}

fn rest_error(source: plisse_core::RestError) -> SceneError {
    SceneError::Rest { body: "cloth".to_owned(), source }
}

fn check_positions(mesh: &TriMesh, x: &Field<Vertices, DVec3>) -> Result<(), SceneError> {
    x.check_len(mesh.vertex_count()).map_err(|source| rest_error(source.into()))
}

/// Vertices on the four sides of a rectangle: left, right, bottom, top. By index: a coordinate of
/// the far side may miss the size by a rounding error.
fn sides([nx, ny]: [usize; 2]) -> [Vec<Id<Vertices>>; 4] {
    let at = |i: usize, j: usize| Id::new((j * (nx + 1) + i) as u32);
    [
        (0..=ny).map(|j| at(0, j)).collect(),
        (0..=ny).map(|j| at(nx, j)).collect(),
        (0..=nx).map(|i| at(i, 0)).collect(),
        (0..=nx).map(|i| at(i, ny)).collect(),
    ]
}

/// Groups must name vertices that exist.
pub(super) fn check_groups(count: usize, groups: &Groups) -> Result<(), SceneError> {
    for (name, vertices) in groups {
        if let Some(v) = vertices.iter().find(|v| v.index() >= count) {
            let reason = format!("group \"{name}\" names {v}, but there are only {count} vertices");
            return Err(SceneError::Pick { body: "groups".to_owned(), reason });
        }
    }
    Ok(())
}
