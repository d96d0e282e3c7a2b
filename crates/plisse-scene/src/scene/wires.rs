//! Rods and wire nets before they are part of a scene.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use plisse_bending::{AngleEnergy, Net, QuadraticAngle, wire_rigidity};
use plisse_core::{Field, Id, Positive, Vertices};

use super::SceneError;
use super::body::{Body, body_methods};
use super::cloth::check_groups;
use super::damping::Damping;
use super::material::AngleLaw;
use super::own::Own;
use super::pick::{Groups, Pick};
use super::touching::BodyContact;

/// Round wires, straight or crossing, at rest as they are given.
///
/// ```
/// use glam::DVec3;
/// use plisse_core::Positive;
/// use plisse_scene::scene::{Pick, Wire, Wires};
/// let wire = Wire { young: Positive::literal(1e9), radius: Positive::literal(1e-3), ..Wire::default() };
/// let rod = Wires::line(DVec3::ZERO, DVec3::X, 20)?.wire(wire).pin(Pick::vertices([0, 1]));
/// let net = Wires::net([8, 8], 2, [1.0, 1.0])?.wire(wire).pin(Pick::group("corners"));
/// assert_eq!((rod.segments().len(), net.segments().len()), (20, 288));
/// # Ok::<(), plisse_scene::scene::SceneError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Wires {
    pub(super) body: Body,
    pub(super) rest: Field<Vertices, DVec3>,
    pub(super) segments: Vec<[u32; 2]>,
    pub(super) wire: Wire,
    /// In place of the law of the wire.
    pub(super) angle_law: Option<Own<dyn AngleEnergy>>,
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
            damping: Damping::NONE,
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

/// Most vertices of a net.
const MOST: u128 = 10_000_000;
/// Most segments that may meet.
const MOST_AT_A_VERTEX: usize = 64;

impl Wires {
    /// Wires through points, by pairs of indices; crossings bend in every pair of segments that
    /// meet.
    pub fn new(
        points: Vec<DVec3>,
        segments: Vec<[u32; 2]>,
        groups: impl IntoIterator<Item = (String, Vec<Id<Vertices>>)>,
    ) -> Result<Self, SceneError> {
        let groups = groups.into_iter().collect();
        check_groups(points.len(), &groups)?;
        let mut degrees = vec![0usize; points.len()];
        for &index in segments.iter().flatten() {
            // Indices out of range are refused with the name of the segment when the net is built.
            if let Some(degree) = degrees.get_mut(index as usize) {
                *degree += 1;
            }
        }
        if let Some(index) = degrees.iter().position(|degree| *degree > MOST_AT_A_VERTEX) {
            let reason = format!(
                "{} segments meet at vertex {index}; every pair of them bends, so that at most {MOST_AT_A_VERTEX} may meet",
                degrees[index]
            );
            return Err(SceneError::Pick { body: "wires".to_owned(), reason });
        }
        if let Some(index) = degrees.iter().position(|degree| *degree == 0) {
            let reason = format!("vertex {index} belongs to no segment and would have no mass; remove it");
            return Err(SceneError::Pick { body: "wires".to_owned(), reason });
        }
        let rest = Field::from_vec(points);
        let body = Body::new(rest.clone(), groups);
        Ok(Self { body, rest, segments, wire: Wire::default(), angle_law: None })
    }

    /// A straight wire. Groups: `start`, `end`.
    pub fn line(from: DVec3, to: DVec3, segments: usize) -> Result<Self, SceneError> {
        if segments == 0 || segments as u128 > MOST {
            return Err(too_few("the number of segments", segments));
        }
        let points = (0..=segments).map(|i| from.lerp(to, i as f64 / segments as f64)).collect();
        let pairs = (0..segments as u32).map(|i| [i, i + 1]).collect();
        let end = Id::new(segments as u32);
        let groups = [("start".to_owned(), vec![Id::new(0)]), ("end".to_owned(), vec![end])];
        Self::new(points, pairs, groups)
    }

    /// A net of crossing wires in the plane `z = 0` about the origin: meshes along x and y,
    /// segments along each side of a mesh, size in metres. Groups: `left`, `right`, `bottom`,
    /// `top`, `corners`.
    pub fn net(meshes: [usize; 2], per_mesh: usize, size: [f64; 2]) -> Result<Self, SceneError> {
        for count in [meshes[0], meshes[1], per_mesh] {
            if count == 0 {
                return Err(too_few("the number of meshes and of segments along each", count));
            }
        }
        let [across, along] = meshes;
        // One vertex per crossing and `per_mesh - 1` on each side of a mesh, counted without
        // overflow.
        let [a, b, n] = [across, along, per_mesh].map(|n| n as u128);
        let vertices = (a + 1) * (b + 1) + (n - 1) * (a * (b + 1) + b * (a + 1));
        if vertices > MOST {
            return Err(SceneError::BadParameter {
                what: "the number of vertices of a net",
                value: vertices as f64,
                expected: "give fewer meshes or segments: at most ten million vertices",
            });
        }
        let place = |u: f64, v: f64| {
            DVec3::new(size[0] * (u / across as f64 - 0.5), size[1] * (v / along as f64 - 0.5), 0.0)
        };
        let crossing = |i: usize, j: usize| (j * (across + 1) + i) as u32;
        let mut points = Vec::with_capacity(vertices as usize);
        for j in 0..=along {
            points.extend((0..=across).map(|i| place(i as f64, j as f64)));
        }
        let mut segments = Vec::new();
        let mut sides: [Vec<Id<Vertices>>; 4] = Default::default();
        let mut wire = |from: [usize; 2], to: [usize; 2], side: Option<usize>| {
            let mut last = crossing(from[0], from[1]);
            let mut on_wire = vec![Id::new(last)];
            for k in 1..per_mesh {
                let s = k as f64 / per_mesh as f64;
                let mix = |a: usize, b: usize| a as f64 + s * (b as f64 - a as f64);
                let next = points.len() as u32;
                points.push(place(mix(from[0], to[0]), mix(from[1], to[1])));
                segments.push([last, next]);
                on_wire.push(Id::new(next));
                last = next;
            }
            let end = crossing(to[0], to[1]);
            segments.push([last, end]);
            on_wire.push(Id::new(end));
            if let Some(side) = side {
                sides[side].extend(on_wire);
            }
        };
        for j in 0..=along {
            for i in 0..=across {
                if i < across {
                    let side = if j == 0 { Some(2) } else { (j == along).then_some(3) };
                    wire([i, j], [i + 1, j], side);
                }
                if j < along {
                    let side = if i == 0 { Some(0) } else { (i == across).then_some(1) };
                    wire([i, j], [i, j + 1], side);
                }
            }
        }
        let mut groups = Groups::new();
        for (name, mut side) in ["left", "right", "bottom", "top"].into_iter().zip(sides) {
            side.sort_unstable();
            side.dedup();
            groups.insert(name.to_owned(), side);
        }
        let corners = [(0, 0), (across, 0), (0, along), (across, along)];
        groups.insert("corners".to_owned(), corners.map(|(i, j)| Id::new(crossing(i, j))).to_vec());
        Self::new(points, segments, groups)
    }

    body_methods!();

    /// Made of this. Steel of 1 mm radius, if nothing is said.
    #[must_use]
    pub fn wire(self, wire: Wire) -> Self {
        Self { wire, ..self }
    }

    /// With a bending law of one's own in place of that of the wire, whose rigidity it is
    /// multiplied by.
    #[must_use]
    pub fn angle_law(self, law: impl AngleEnergy + 'static) -> Self {
        Self { angle_law: Some(Own(Arc::new(law))), ..self }
    }

    /// Whether the segments are a net; `name` is what errors call the body.
    pub(super) fn check_net(&self, name: &str) -> Result<(), SceneError> {
        let net = Net::new(&self.rest, &self.segments, QuadraticAngle, self.wire.young, self.wire.radius);
        net.map(|_| ()).map_err(|source| SceneError::Net { body: name.to_owned(), source })
    }

    /// Pairs of vertices.
    #[must_use]
    pub fn segments(&self) -> &[[u32; 2]] {
        &self.segments
    }
}

fn too_few(what: &'static str, value: usize) -> SceneError {
    SceneError::BadParameter {
        what,
        value: value as f64,
        expected: "give at least one, and at most ten million",
    }
}
