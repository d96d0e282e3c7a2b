//! Rods and wire nets before they are part of a scene.

use glam::{DQuat, DVec3};
use plisse_bending::wire_rigidity;
use plisse_core::{Field, Id, Positive, Vertices};

use super::SceneError;
use super::body::{Body, Hold, body_methods};
use super::material::{AngleLaw, Damping};
use super::pick::{Groups, Pick};

/// Round wires, straight or crossing, at rest as they are given.
///
/// ```
/// use glam::DVec3;
/// use plisse::core::Positive;
/// use plisse::scene::{Pick, Wire, Wires};
/// let wire = Wire { young: Positive::literal(1e9), radius: Positive::literal(1e-3), ..Wire::default() };
/// let rod = Wires::line(DVec3::ZERO, DVec3::X, 20)?.wire(wire).pin(Pick::vertices([0, 1]));
/// let net = Wires::net([8, 8], 2, [1.0, 1.0])?.wire(wire).pin(Pick::group("corners"));
/// assert_eq!((rod.segments().len(), net.segments().len()), (20, 288));
/// # Ok::<(), plisse::scene::SceneError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Wires {
    pub(super) body: Body,
    pub(super) rest: Field<Vertices, DVec3>,
    pub(super) segments: Vec<[u32; 2]>,
    pub(super) wire: Wire,
}

/// What wires are made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wire {
    /// Young's modulus, Pa.
    pub young: Positive,
    /// Radius, m.
    pub radius: Positive,
    /// Mass per volume, kg/m³.
    pub density: Positive,
    /// How the bending energy grows with the angle.
    pub law: AngleLaw,
    /// What slows them down.
    pub damping: Damping,
}

impl Default for Wire {
    /// Steel of 1 mm radius: 200 GPa, 7850 kg/m³.
    fn default() -> Self {
        Self {
            young: Positive::literal(200e9),
            radius: Positive::literal(1e-3),
            density: Positive::literal(7850.0),
            law: AngleLaw::default(),
            damping: Damping::None,
        }
    }
}

impl Wire {
    /// Bending rigidity `E π r⁴/4` in N m².
    #[must_use]
    pub fn rigidity(&self) -> f64 {
        wire_rigidity(self.young, self.radius)
    }
}

impl Wires {
    /// Wires through points, by pairs of indices; crossings bend in every pair of segments that meet.
    pub fn new(
        points: Vec<DVec3>,
        segments: Vec<[u32; 2]>,
        groups: impl IntoIterator<Item = (String, Vec<Id<Vertices>>)>,
    ) -> Result<Self, SceneError> {
        let mut used = vec![false; points.len()];
        for &index in segments.iter().flatten() {
            // Indices out of range are refused with the name of the segment when the net is built.
            if let Some(used) = used.get_mut(index as usize) {
                *used = true;
            }
        }
        if let Some(index) = used.iter().position(|used| !used) {
            let reason = format!("vertex {index} belongs to no segment and would have no mass; remove it");
            return Err(SceneError::Pick { body: "wires".to_owned(), reason });
        }
        let rest = Field::from_vec(points);
        let body = Body::new(rest.clone(), groups.into_iter().collect());
        Ok(Self { body, rest, segments, wire: Wire::default() })
    }

    /// A straight wire. Groups: `start`, `end`.
    pub fn line(from: DVec3, to: DVec3, segments: usize) -> Result<Self, SceneError> {
        if segments == 0 {
            return Err(too_few("the number of segments", segments));
        }
        let points = (0..=segments).map(|i| from.lerp(to, i as f64 / segments as f64)).collect();
        let pairs = (0..segments as u32).map(|i| [i, i + 1]).collect();
        let end = Id::new(segments as u32);
        let groups = [("start".to_owned(), vec![Id::new(0)]), ("end".to_owned(), vec![end])];
        Self::new(points, pairs, groups)
    }

    /// A net of crossing wires in the plane `z = 0` about the origin: meshes along x and y, segments along each side of a
    /// mesh, size in metres. Groups: `left`, `right`, `bottom`, `top`, `corners`.
    pub fn net(meshes: [usize; 2], per_mesh: usize, size: [f64; 2]) -> Result<Self, SceneError> {
        for count in [meshes[0], meshes[1], per_mesh] {
            if count == 0 {
                return Err(too_few("the number of meshes and of segments along each", count));
            }
        }
        let [nx, ny] = meshes.map(|n| n * per_mesh);
        let mut index = vec![u32::MAX; (nx + 1) * (ny + 1)];
        let mut points = Vec::new();
        for j in 0..=ny {
            for i in 0..=nx {
                if i % per_mesh == 0 || j % per_mesh == 0 {
                    index[j * (nx + 1) + i] = points.len() as u32;
                    let x = size[0] * (i as f64 / nx as f64 - 0.5);
                    let y = size[1] * (j as f64 / ny as f64 - 0.5);
                    points.push(DVec3::new(x, y, 0.0));
                }
            }
        }
        let at = |i: usize, j: usize| index[j * (nx + 1) + i];
        let mut segments = Vec::new();
        for j in 0..=ny {
            for i in 0..=nx {
                if i < nx && j % per_mesh == 0 {
                    segments.push([at(i, j), at(i + 1, j)]);
                }
                if j < ny && i % per_mesh == 0 {
                    segments.push([at(i, j), at(i, j + 1)]);
                }
            }
        }
        let side = |cells: Vec<(usize, usize)>| -> Vec<Id<Vertices>> {
            cells.into_iter().map(|(i, j)| Id::new(at(i, j))).collect()
        };
        let mut groups = Groups::new();
        groups.insert("left".to_owned(), side((0..=ny).map(|j| (0, j)).collect()));
        groups.insert("right".to_owned(), side((0..=ny).map(|j| (nx, j)).collect()));
        groups.insert("bottom".to_owned(), side((0..=nx).map(|i| (i, 0)).collect()));
        groups.insert("top".to_owned(), side((0..=nx).map(|i| (i, ny)).collect()));
        groups.insert("corners".to_owned(), side(vec![(0, 0), (nx, 0), (0, ny), (nx, ny)]));
        Self::new(points, segments, groups)
    }

    body_methods!();

    /// Made of this. Steel of 1 mm radius, if nothing is said.
    #[must_use]
    pub fn wire(self, wire: Wire) -> Self {
        Self { wire, ..self }
    }

    /// Pairs of vertices.
    #[must_use]
    pub fn segments(&self) -> &[[u32; 2]] {
        &self.segments
    }
}

fn too_few(what: &'static str, value: usize) -> SceneError {
    SceneError::BadParameter { what, value: value as f64, expected: "give at least one" }
}
