//! From OBJ files to cloth: the unit, welding, and material coordinates of the right size.

use glam::{DVec2, DVec3};
use plisse_core::{Faces, Field, Id, Positive, RestError, RestShape, TriMesh, Vertices};
use plisse_io::scene_file::{UvScaleChoice, WeldChoice};
use plisse_io::{Obj, ObjError, ObjSurface};
use thiserror::Error;

use crate::scene::{Cloth, Fit, SAME_PLACE, SceneError, in_unit_square, open_seams, short};

/// How a mesh file becomes cloth. Nothing is assumed by default: what is ambiguous is refused.
///
/// ```
/// use plisse_scene::file::{MeshOptions, MeshRefusal};
/// use plisse_io::Obj;
/// use plisse_io::scene_file::WeldChoice;
/// // Two triangles with vertices of their own, in millimetres.
/// let text = "v 0 0 0\nv 200 0 0\nv 200 200 0\nv 0 0 0\nv 200 200 0\nv 0 200 0\nf 1 2 3\nf 4 5 6";
/// let obj = Obj::parse(text, "napkin.obj")?;
/// let refused = MeshOptions::default().cloth(obj.clone());
/// assert!(matches!(refused, Err(MeshRefusal::OpenSeams { edges: 1, pieces: 2, .. })));
/// let unit = Some(plisse_core::Positive::literal(1e-3));
/// let options = MeshOptions { unit, weld: Some(WeldChoice::Same), ..MeshOptions::default() };
/// let napkin = options.cloth(obj)?;
/// assert_eq!(napkin.mesh().vertex_count(), 4);
/// assert!((napkin.rest().area() - 0.04).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MeshOptions {
    /// Metres per unit of positions.
    pub unit: Option<Positive>,
    /// Whether vertices in the same place are merged; without a choice, edges that lie on each
    /// other are refused.
    pub weld: Option<WeldChoice>,
    /// What texture coordinates are multiplied by; without a choice, those that disagree with the
    /// size of the mesh are refused.
    pub uv_scale: Option<UvScaleChoice>,
}

/// Why a mesh file is no cloth. Names the file, the values and the remedy.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MeshRefusal {
    /// The file is no surface.
    #[error(transparent)]
    Obj(#[from] ObjError),
    /// The file is no surface after vertices were merged.
    #[error(
        "{source}. This is so after vertices within {tolerance} m were merged; weld = false keeps them apart"
    )]
    Welded {
        /// What is wrong.
        source: ObjError,
        /// Distance within which vertices were merged, m.
        tolerance: f64,
    },
    /// Edges that look joined and are not.
    #[error(
        "{file}: {edges} edges lie on others without being joined, the first at {place:?} m, so that the mesh consists of {pieces} \
         pieces; weld = true joins them, weld = false lets them come apart"
    )]
    OpenSeams {
        /// The file.
        file: String,
        /// How many edges lie on others.
        edges: usize,
        /// How many pieces there are.
        pieces: usize,
        /// The middle of the first such edge.
        place: [f64; 3],
    },
    /// Texture coordinates that cannot be the material coordinates of this mesh in metres.
    #[error(
        "{file}: vt {}gives {} m2 at rest, and the mesh has {} m2. vt must be in metres, at the size of the flat cloth; \
         uv_scale = \"area\" makes both equal (the factor is {}), uv_scale = 1 takes vt as it is",
        if *unit_square { "lies in the unit square, as unwrapping leaves it. It " } else { "" },
        short(*rest), short(*placed), short((placed / rest).sqrt())
    )]
    UvSize {
        /// The file.
        file: String,
        /// Area by texture coordinates, m².
        rest: f64,
        /// Area of the mesh, m².
        placed: f64,
        /// Whether the texture coordinates fill the unit square.
        unit_square: bool,
    },
    /// The mesh is no cloth.
    #[error("{file}: {source}")]
    Scene {
        /// The file.
        file: String,
        /// What is wrong.
        source: Box<SceneError>,
    },
}

impl MeshOptions {
    /// The faces of a file as cloth: flat at rest if it has texture coordinates or lies in a plane,
    /// otherwise at rest as it is.
    ///
    /// # Errors
    /// [`MeshRefusal`] for what is no surface, and for what these options leave ambiguous.
    pub fn cloth(&self, obj: Obj) -> Result<Cloth, MeshRefusal> {
        let file = obj.name.clone();
        let (obj, tolerance) = self.prepared(obj)?;
        let mut surface = obj.into_surface().map_err(|source| match tolerance {
            Some(tolerance) => MeshRefusal::Welded { source, tolerance },
            None => source.into(),
        })?;
        if self.weld.is_none() {
            no_open_seams(&surface, &file)?;
        }
        let wrong = |source: SceneError| MeshRefusal::Scene { file: file.clone(), source: source.into() };
        if let Some(scale) = self.uv_scale {
            surface.uv = match surface.uv {
                Some(uv) => Some(scaled(&surface.mesh, &surface.positions, &uv, scale).map_err(wrong)?),
                None => None,
            };
        }
        let given = surface.uv.is_some();
        let uv = surface.uv.or_else(|| flat_coordinates(&surface.mesh, &surface.positions));
        let mut cloth = match uv {
            Some(uv) => Cloth::sewn(surface.mesh, surface.positions, uv, surface.groups),
            None => Cloth::curved(surface.mesh, surface.positions, surface.groups),
        }
        .map_err(wrong)?;
        if given && self.uv_scale.is_none() {
            right_size(&cloth, &file)?;
        } else {
            cloth = cloth.in_metres();
        }
        Ok(if self.weld == Some(WeldChoice::Apart) { cloth.apart() } else { cloth })
    }

    /// In metres and welded, if that was asked for, and the distance that was used.
    pub(super) fn prepared(&self, obj: Obj) -> Result<(Obj, Option<f64>), MeshRefusal> {
        let obj = obj.scaled(self.unit.map_or(1.0, Positive::get));
        let tolerance = match self.weld {
            None | Some(WeldChoice::Apart) => return Ok((obj, None)),
            Some(WeldChoice::Same) => SAME_PLACE * obj.size(),
            Some(WeldChoice::Within(metres)) => metres.get(),
        };
        Ok((obj.welded(tolerance)?, Some(tolerance)))
    }
}

fn no_open_seams(surface: &ObjSurface, file: &str) -> Result<(), MeshRefusal> {
    let seams = open_seams(&surface.mesh, &surface.positions);
    let Some([first, _]) = seams.first() else { return Ok(()) };
    let [a, b] = surface.mesh.edges()[*first].vertices.map(|v| surface.positions[v]);
    Err(MeshRefusal::OpenSeams {
        file: file.to_owned(),
        edges: seams.len(),
        pieces: surface.mesh.pieces().len(),
        place: a.midpoint(b).to_array().map(short),
    })
}

fn scaled(
    mesh: &TriMesh,
    x: &Field<Vertices, DVec3>,
    uv: &Field<Faces, [DVec2; 3]>,
    scale: UvScaleChoice,
) -> Result<Field<Faces, [DVec2; 3]>, SceneError> {
    let wrong = |source: RestError| SceneError::Rest { body: "cloth".to_owned(), source };
    let factor = match scale {
        UvScaleChoice::Factor(factor) => factor.get(),
        UvScaleChoice::Area => {
            let placed = RestShape::from_positions(mesh, x).map_err(wrong)?.area();
            let rest = RestShape::from_corner_uv(mesh, uv).map_err(wrong)?.area();
            (placed / rest).sqrt()
        }
    };
    Ok(uv.map(|corners| corners.map(|u| u * factor)))
}

/// Refuses texture coordinates that are certainly not in metres, or as they are after unwrapping.
fn right_size(cloth: &Cloth, file: &str) -> Result<(), MeshRefusal> {
    let fit = Fit::new(cloth);
    let unit_square = in_unit_square(cloth);
    // Within these factors the cloth may start stretched; a little is also left to what happens to
    // be as large as its square.
    let accepted = if unit_square { 0.9..=1.1 } else { 0.5..=2.0 };
    if accepted.contains(&fit.stretch()) {
        return Ok(());
    }
    Err(MeshRefusal::UvSize { file: file.to_owned(), rest: fit.rest, placed: fit.placed, unit_square })
}

/// Material coordinates of a mesh that lies in a plane: its own, with the first axis along x, or
/// along y if it stands across x.
fn flat_coordinates(mesh: &TriMesh, x: &Field<Vertices, DVec3>) -> Option<Field<Faces, [DVec2; 3]>> {
    let area = |f: &[Id<Vertices>; 3]| (x[f[1]] - x[f[0]]).cross(x[f[2]] - x[f[0]]);
    let normal = mesh.faces().as_slice().iter().map(area).sum::<DVec3>().try_normalize()?;
    let origin = x[Id::new(0)];
    let size = x.as_slice().iter().fold(0.0, |m: f64, x| m.max((*x - origin).length()));
    if x.as_slice().iter().any(|x| normal.dot(*x - origin).abs() > 1e-9 * size) {
        return None;
    }
    let along = if normal.x.abs() < 0.9 { DVec3::X } else { DVec3::Y };
    let u = (along - normal * normal.dot(along)).try_normalize()?;
    let v = normal.cross(u);
    Some(mesh.faces().map(|f| f.map(|i| DVec2::new(u.dot(x[i] - origin), v.dot(x[i] - origin)))))
}
