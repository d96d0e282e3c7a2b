//! Pressure and volume of closed surfaces, and pressure on sheets whose boundary is held.

use std::fmt;
use std::sync::Arc;

use glam::{DMat3, DVec3};
use plisse_core::range::{PARAMETER, largest_coordinate, limit_vector, multiply};
use plisse_core::{Field, Id, Positive, Psd, SATURATION, TriMesh, Vertices, saturate};
use plisse_sparse::Sink;

use crate::error::SetupError;
use crate::pose::Pose;
use crate::term::{Gradient, RankOne, Role, Term, Unknown};

type Corners = [Id<Vertices>; 3];

/// The volume within a closed surface, or of the cone over an open one, and its derivatives.
#[derive(Clone, Debug)]
struct Enclosure {
    faces: Vec<Corners>,
    /// The tip of the cone over an open surface.
    tip: Option<DVec3>,
}

impl Enclosure {
    fn new(mesh: &TriMesh) -> Result<Self, SetupError> {
        match mesh.boundary_edges().next() {
            Some(edge) => Err(SetupError::OpenSurface { edge: edge.to_string() }),
            None => Ok(Self { faces: mesh.faces().as_slice().to_vec(), tip: None }),
        }
    }

    fn corners<'a>(
        &'a self,
        x: &'a Field<Vertices, DVec3>,
    ) -> impl Iterator<Item = (Corners, [DVec3; 3])> + 'a {
        self.corners_from(self.tip, x)
    }

    /// Positions count from the tip, or from one of the corners: the volume within a closed surface
    /// does not depend on the origin, its rounding error does.
    fn corners_from<'a>(
        &'a self,
        tip: Option<DVec3>,
        x: &'a Field<Vertices, DVec3>,
    ) -> impl Iterator<Item = (Corners, [DVec3; 3])> + 'a {
        let corner = || self.faces.first().map_or(DVec3::ZERO, |face| x[face[0]]);
        let origin = tip.unwrap_or_else(corner);
        self.faces.iter().map(move |face| (*face, face.map(|v| x[v] - origin)))
    }

    /// In m³, saturated.
    fn volume(&self, x: &Field<Vertices, DVec3>) -> f64 {
        let plain = self.corners(x).map(|(_, [a, b, c])| a.dot(b.cross(c)) / 6.0).sum::<f64>();
        if plain.is_finite() {
            return plain;
        }
        let largest = largest_coordinate(x.as_slice().iter().chain(&self.tip));
        let (unit, tip) = (x.map(|x| *x / largest), self.tip.map(|tip| tip / largest));
        let volume: f64 = self.corners_from(tip, &unit).map(|(_, [a, b, c])| a.dot(b.cross(c)) / 6.0).sum();
        [largest; 3].into_iter().fold(volume, |product, factor| saturate(product * factor))
    }

    /// Adds `factor ∇V`: a third of each face's area vector per corner; saturated. On the boundary
    /// of an open surface, where the derivative would depend on the tip, this is the force that
    /// whatever holds it bears.
    fn add_gradient(&self, x: &Field<Vertices, DVec3>, factor: f64, out: &mut Field<Vertices, DVec3>) {
        for (face, [a, b, c]) in self.corners(x) {
            let plain = (b - a).cross(c - a) * (factor / 6.0);
            // Sums of finite numbers may not be finite.
            let share = if plain.is_finite() && plain.abs().max_element() <= SATURATION {
                plain
            } else {
                multiply(area_vector(face.map(|v| x[v])), factor / 3.0)
            };
            for v in face {
                out[v] += share;
            }
        }
    }

    fn pattern(&self, pair: &mut dyn FnMut(Unknown<Vertices>, Unknown<Vertices>)) {
        for [a, b, c] in &self.faces {
            pair((*b).into(), (*a).into());
            pair((*c).into(), (*b).into());
            pair((*a).into(), (*c).into());
        }
    }

    /// Adds `factor ∇²V`: for `V = a·(b × c)/6`, `∂²V/∂b∂a = [c]×/6` and cyclic.
    fn add_hessian(&self, x: &Field<Vertices, DVec3>, factor: f64, sink: &mut Sink<'_>) {
        for (k, (_, [a, b, c])) in self.corners(x).enumerate() {
            for (pair, opposite) in [c, a, b].into_iter().enumerate() {
                let opposite = limit_vector(opposite, SATURATION);
                sink.add(3 * k + pair, &cross_matrix(multiply(opposite, factor / 6.0)));
            }
        }
    }
}

/// Area times normal of a triangle, saturated.
pub(super) fn area_vector([a, b, c]: [DVec3; 3]) -> DVec3 {
    let plain = (b - a).cross(c - a) * 0.5;
    if plain.is_finite() {
        return plain;
    }
    let [p, q] = [b, c].map(|corner| limit_vector(corner - a, SATURATION));
    let largest = largest_coordinate(&[p, q]);
    multiply(multiply((p / largest).cross(q / largest) * 0.5, largest), largest)
}

/// `[v]×`, the matrix of `w ↦ v × w`.
fn cross_matrix(v: DVec3) -> DMat3 {
    DMat3::from_cols(DVec3::new(0.0, v.z, -v.y), DVec3::new(-v.z, 0.0, v.x), DVec3::new(v.y, -v.x, 0.0))
}

/// Constant pressure inside a closed surface, or on one side of a sheet whose boundary is held:
/// `E = -p V`.
///
/// Its Hessian has eigenvalues of both signs in pairs and belongs to no single face; the projected
/// policies leave it out, the exact one has it. A pressure may change with time
/// ([`Pressure::over_time`]); what changes at a volume that stays is work.
#[derive(Clone, Debug)]
pub struct Pressure {
    name: String,
    enclosure: Enclosure,
    pressure: Amount,
}

/// A number that is constant, or a function of time.
#[derive(Clone)]
enum Amount {
    Constant(f64),
    OverTime(Arc<dyn Fn(f64) -> f64 + Send + Sync>),
}

impl Amount {
    fn at(&self, time: f64) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::OverTime(course) => saturate(course(time)),
        }
    }
}

impl fmt::Debug for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(value) => value.fmt(f),
            Self::OverTime(_) => f.write_str("over time"),
        }
    }
}

impl Pressure {
    /// A pressure in pascals above that outside; negative for suction. The surface must be closed.
    pub fn new(mesh: &TriMesh, pressure: f64) -> Result<Self, SetupError> {
        Self::within(Enclosure::new(mesh)?, pressure)
    }

    /// A pressure in pascals on the side that the faces point away from, so that it pushes along
    /// their normals. The surface may be open, but pins must hold all of its boundary.
    ///
    /// `V` is the volume of the cone over the surface with its tip in `tip`, a fixed place. While
    /// the boundary is held another tip changes it by a constant, and the force on a vertex that
    /// may move is pressure times area either way.
    pub fn held(mesh: &TriMesh, pressure: f64, tip: DVec3) -> Result<Self, SetupError> {
        if let Some(value) = tip.to_array().into_iter().find(|c| !c.is_finite()) {
            let (what, expected) = ("the coordinate of the tip", "give a finite number of metres");
            return Err(SetupError::BadParameter { what, value, expected });
        }
        Self::within(Enclosure { faces: mesh.faces().as_slice().to_vec(), tip: Some(tip) }, pressure)
    }

    fn within(enclosure: Enclosure, pressure: f64) -> Result<Self, SetupError> {
        if pressure.abs() <= *PARAMETER.end() {
            Ok(Self { name: "pressure".to_owned(), enclosure, pressure: Amount::Constant(pressure) })
        } else {
            let expected = "give a number of pascals up to 1e60";
            Err(SetupError::BadParameter { what: "the pressure", value: pressure, expected })
        }
    }

    /// The same load with a pressure in pascals that changes with time in seconds.
    #[must_use]
    pub fn over_time(self, pressure: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Self {
        Self { pressure: Amount::OverTime(Arc::new(pressure)), ..self }
    }

    /// The same load under another name.
    #[must_use]
    pub fn with_name(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// The enclosed volume in m³; that of the cone over a sheet that is held.
    #[must_use]
    pub fn volume(&self, x: &Field<Vertices, DVec3>) -> f64 {
        self.enclosure.volume(x)
    }
}

impl Term<Vertices> for Pressure {
    fn name(&self) -> &str {
        &self.name
    }

    fn depends_on_time(&self) -> bool {
        matches!(self.pressure, Amount::OverTime(_))
    }

    fn role(&self) -> Role {
        Role::External
    }

    fn pattern(&self, pair: &mut dyn FnMut(Unknown<Vertices>, Unknown<Vertices>)) {
        self.enclosure.pattern(pair);
    }

    fn energy(&self, pose: &Pose<'_, Vertices>) -> f64 {
        saturate(-self.pressure.at(pose.time) * self.enclosure.volume(pose.x))
    }

    fn add_gradient(&self, pose: &Pose<'_, Vertices>, gradient: &mut Gradient<'_, Vertices>) {
        self.enclosure.add_gradient(pose.x, -self.pressure.at(pose.time), gradient.nodes);
    }

    fn add_hessian(&self, pose: &Pose<'_, Vertices>, psd: Psd, sink: &mut Sink<'_>) {
        if psd == Psd::Exact {
            self.enclosure.add_hessian(pose.x, -self.pressure.at(pose.time), sink);
        }
    }
}

/// Derivatives of a volume beyond this are made smaller as a whole where they enter the Hessian,
/// m².
const LARGEST_SLOPE: f64 = 1e90;

fn check_target(volume: f64) -> Result<(), SetupError> {
    if PARAMETER.contains(&volume) {
        return Ok(());
    }
    let expected = "give a positive number of cubic metres from 1e-60 to 1e60";
    Err(SetupError::BadParameter { what: "the target volume", value: volume, expected })
}

/// A filling that resists changes of volume: `E = ½ K (V - V₀)² / V₀`.
///
/// The pressure inside is `K (V₀ - V)/V₀`. A large `K` keeps the volume; [`Volume::pressure`] tells
/// what that takes. The Hessian has a dense part `K/V₀ ∇V ∇Vᵀ`, which solvers apply without forming
/// it.
#[derive(Clone, Debug)]
pub struct Volume {
    name: String,
    enclosure: Enclosure,
    target: f64,
    bulk: f64,
}

impl Volume {
    /// A bulk modulus in pascals and the volume without pressure in m³. The surface must be closed.
    pub fn new(mesh: &TriMesh, bulk: Positive, target: f64) -> Result<Self, SetupError> {
        check_target(target)?;
        Ok(Self { name: "volume".to_owned(), enclosure: Enclosure::new(mesh)?, target, bulk: bulk.get() })
    }

    /// Keeps the volume that `x` encloses. The faces of every piece must point outwards; those of a
    /// cavity point into it.
    pub fn keeping(mesh: &TriMesh, x: &Field<Vertices, DVec3>, bulk: Positive) -> Result<Self, SetupError> {
        x.check_len(mesh.vertex_count())
            .map_err(|source| SetupError::Length { what: "positions", source })?;
        let enclosure = Enclosure::new(mesh)?;
        if let Some(inverted) = mesh.inverted_piece(x, false) {
            return Err(SetupError::InsideOut(inverted));
        }
        let target = enclosure.volume(x);
        check_target(target)?;
        Ok(Self { name: "volume".to_owned(), enclosure, target, bulk: bulk.get() })
    }

    /// The same load under another name.
    #[must_use]
    pub fn with_name(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// The enclosed volume in m³.
    #[must_use]
    pub fn volume(&self, x: &Field<Vertices, DVec3>) -> f64 {
        self.enclosure.volume(x)
    }

    /// The pressure inside, in pascals; saturated.
    #[must_use]
    pub fn pressure(&self, x: &Field<Vertices, DVec3>) -> f64 {
        saturate(self.bulk * (self.target - self.volume(x)) / self.target)
    }
}

impl Term<Vertices> for Volume {
    fn name(&self) -> &str {
        &self.name
    }

    fn role(&self) -> Role {
        Role::Elastic
    }

    fn pattern(&self, pair: &mut dyn FnMut(Unknown<Vertices>, Unknown<Vertices>)) {
        self.enclosure.pattern(pair);
    }

    fn energy(&self, pose: &Pose<'_, Vertices>) -> f64 {
        let excess = self.volume(pose.x) - self.target;
        saturate(0.5 * self.bulk * excess * excess / self.target)
    }

    fn add_gradient(&self, pose: &Pose<'_, Vertices>, gradient: &mut Gradient<'_, Vertices>) {
        self.enclosure.add_gradient(pose.x, -self.pressure(pose.x), gradient.nodes);
    }

    fn add_hessian(&self, pose: &Pose<'_, Vertices>, psd: Psd, sink: &mut Sink<'_>) {
        if psd == Psd::Exact {
            self.enclosure.add_hessian(pose.x, -self.pressure(pose.x), sink);
        }
    }

    fn rank_ones(&self, pose: &Pose<'_, Vertices>, out: &mut Vec<RankOne<Vertices>>) {
        let mut vector = Field::filled(pose.x.len(), DVec3::ZERO);
        self.enclosure.add_gradient(pose.x, 1.0, &mut vector);
        // The weight is at most 1e120: entries of the dense matrix stay below 1e300.
        let largest = largest_coordinate(vector.as_slice());
        if largest > LARGEST_SLOPE {
            vector = vector.map(|v| *v * (LARGEST_SLOPE / largest));
        }
        out.push(RankOne { weight: self.bulk / self.target, vector });
    }
}
