//! Solid bodies that cloth rests on and slides over.

mod anchor;
mod contact;
mod distance;
mod drawn;
mod friction;
mod frustum;
#[cfg(test)]
mod frustum_tests;
mod mesh_distance;
mod parts;
mod passage;
mod sequence;
#[cfg(test)]
mod sequence_tests;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use glam::{DMat3, DQuat, DVec3};
use plisse_core::{Field, Id, Positive, TriMesh, Vertices};

pub(super) use anchor::Anchor;
pub(super) use contact::{ContactLaw, ContactTerm, Names, Toucher};
pub use distance::Distance;
pub(super) use friction::FrictionTerm;
use frustum::Frustum;
use mesh_distance::SolidMesh;
pub(super) use parts::Parts;
pub use sequence::MeshFrame;
use sequence::MeshSequence;

use super::SceneError;
use super::motion::Keyframes;
use super::own::Own;

/// A solid that moves on prescribed paths and that nothing can enter or pass, however thin or fast
/// it is.
///
/// Within `range` of the surface a pressure pushes vertices, edges and faces outwards, without
/// bound where the gap closes ([`Barrier`](plisse_contact::Barrier)). The solver takes no step
/// along which anything could meet the surface, and a moving obstacle carries with it what is in
/// its way.
///
/// Shapes of one's own ([`Self::solid`]) are known by their distance alone: there contact acts on
/// vertices, with the pressure `stiffness d²/(1 - d)`, `d = 1 - gap/range`, and faces of a coarse
/// mesh may cut what they lie on. Vertices that pins hold are where their pins have them, inside or
/// not; what they bound passes through an obstacle in which it starts.
///
/// ```
/// use glam::DVec3;
/// use plisse_core::Positive;
/// use plisse_scene::scene::Obstacle;
/// let ball = Obstacle::sphere(DVec3::ZERO, Positive::literal(0.2)).friction(0.5)?;
/// assert!((ball.distance(0.0, DVec3::X).value - 0.8).abs() < 1e-15);
///
/// use plisse_core::generate;
/// use plisse_scene::scene::{Contact, Distance, DrawnSurface, Keyframes, rotation_degrees};
/// let [thin, wide] = [0.02, 0.5].map(Positive::literal);
/// let rod = Obstacle::capsule(DVec3::ZERO, DVec3::X, thin).named("rod").moving(Keyframes::still());
/// let turn = rotation_degrees(0.0, 0.0, 45.0);
/// let block = Obstacle::cuboid(DVec3::ZERO, [wide, wide, thin], turn).placed(turn, DVec3::Z);
/// let soft = Contact { stiffness: Positive::literal(100.0), ..Contact::default() };
/// let floor = Obstacle::plane(DVec3::ZERO, DVec3::Z)?.contact(soft)?;
/// let (mesh, x) = generate::sphere(2, 0.3)?;
/// let solid = Obstacle::mesh(&mesh, &x)?;
/// let Distance { value, gradient, .. } = solid.distance(0.0, DVec3::Z);
/// assert!((value - 0.7).abs() < 0.01 && gradient.z > 0.9);
/// let drawn: Option<DrawnSurface> = block.surface(0.0);
/// assert!(drawn.is_some() && rod.name() == Some("rod") && floor.as_plane(0.0).is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Obstacle {
    name: Option<String>,
    shape: Shape,
    motion: Arc<Keyframes>,
    contact: Contact,
}

/// How an obstacle pushes and rubs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Gap at which contact begins, m, if that of a body is not smaller ([`BodyContact`]). What
    /// starts closer keeps the gap of its start, so that nothing is thrown off. Shapes of one's
    /// own: half of the mean edge where nothing is said.
    ///
    /// [`BodyContact`]: crate::scene::BodyContact
    pub range: Option<Positive>,
    /// Pressure at 0.53 of the range, Pa. Cloth at rest floats where the pressure carries its
    /// weight.
    pub stiffness: Positive,
    /// Coefficient of Coulomb friction; zero for none.
    pub friction: f64,
    /// Speed below which friction holds instead of sliding, m/s. What should stick creeps at most
    /// this fast.
    pub slip: Positive,
}

impl Default for Contact {
    /// The range of the mesh, 1 kPa, friction 0.3, 1 mm/s.
    fn default() -> Self {
        Self { range: None, stiffness: Positive::literal(1e3), friction: 0.3, slip: Positive::literal(1e-3) }
    }
}

/// How the vertices of a scene touch obstacles.
#[derive(Clone, Debug)]
pub(super) struct Touch {
    /// The area that contact acts on, m².
    pub(super) areas: Field<Vertices, f64>,
    /// Radius of wires, m; zero for cloth.
    pub(super) radii: Field<Vertices, f64>,
    /// Gap at which contact begins where an obstacle says nothing, m.
    pub(super) ranges: Field<Vertices, f64>,
}

/// Of the range, what a vertex has at least that starts as close as can be.
const SMALLEST_RANGE: f64 = 1e-4;

impl Touch {
    /// The vertices that may touch an obstacle: those that `is_free` names.
    pub(super) fn touchers<'a>(
        &'a self,
        obstacle: &'a Obstacle,
        is_free: impl Fn(Id<Vertices>) -> bool + 'a,
    ) -> impl Iterator<Item = Toucher> + 'a {
        self.areas.iter().filter(move |(v, _)| is_free(*v)).map(|(vertex, &area)| {
            let range = obstacle.contact.range.map_or(self.ranges[vertex], Positive::get);
            Toucher { vertex, area, radius: self.radii[vertex], range }
        })
    }

    /// The same for vertices that start here, outside: closer ones have a shorter range, so that
    /// contact begins without energy.
    pub(super) fn touchers_from_start(
        &self,
        obstacle: &Obstacle,
        is_free: impl Fn(Id<Vertices>) -> bool,
        start: &Field<Vertices, DVec3>,
    ) -> Arc<[Toucher]> {
        let started = |toucher: Toucher| {
            let gap = obstacle.distance(0.0, start[toucher.vertex]).value - toucher.radius;
            Toucher { range: toucher.range.min(gap.max(SMALLEST_RANGE * toucher.range)), ..toucher }
        };
        self.touchers(obstacle, is_free).map(started).collect()
    }
}

/// The shape of an obstacle of one's own, in the frame in which it is described; see
/// [`Obstacle::solid`].
///
/// ```
/// use glam::DVec3;
/// use plisse_scene::scene::{Distance, Obstacle, Solid};
///
/// /// A vertical pillar of half a metre across.
/// struct Pillar;
///
/// impl Solid for Pillar {
///     fn distance(&self, x: DVec3) -> Distance {
///         let offset = DVec3::new(x.x, x.y, 0.0);
///         Distance::without_curvature(offset.length() - 0.25, offset.normalize_or(DVec3::X))
///     }
///
///     fn is_convex(&self) -> bool {
///         true
///     }
/// }
///
/// let pillar = Obstacle::solid(Pillar).friction(0.1)?;
/// assert_eq!(pillar.distance(0.0, DVec3::Y).value, 0.75);
///
/// // A function will do where nothing but the distance is known.
/// let below = |x: DVec3| Distance::without_curvature(x.z, DVec3::Z);
/// assert_eq!(Obstacle::solid(below).distance(0.0, DVec3::Z).value, 1.0);
/// # Ok::<(), plisse_scene::scene::SceneError>(())
/// ```
pub trait Solid: Send + Sync {
    /// Signed distance to the surface, negative inside, with its derivatives by `x`.
    ///
    /// Outside it must not be larger than the real distance: the solver lets a vertex go as far as
    /// this says. The gradient is the direction in which it grows, a unit vector everywhere; where
    /// there are several, any of them.
    fn distance(&self, x: DVec3) -> Distance;

    /// The point that motions turn it about.
    fn centre(&self) -> DVec3 {
        DVec3::ZERO
    }

    /// Whether it is convex, so that the distance is a convex function. Vertices may then slide
    /// along it freely; if not, a step is no longer than the distance.
    fn is_convex(&self) -> bool {
        false
    }

    /// The surface to draw; none for what pictures need not show.
    fn surface(&self) -> Option<DrawnSurface> {
        None
    }
}

impl<F: Fn(DVec3) -> Distance + Send + Sync> Solid for F {
    fn distance(&self, x: DVec3) -> Distance {
        self(x)
    }
}

#[derive(Clone, Debug)]
enum Shape {
    Plane {
        point: DVec3,
        normal: DVec3,
    },
    Sphere {
        centre: DVec3,
        radius: f64,
    },
    Capsule {
        a: DVec3,
        b: DVec3,
        radius: f64,
    },
    /// A cylinder or a cone.
    Frustum(Frustum),
    Box {
        centre: DVec3,
        rotation: DQuat,
        half: DVec3,
    },
    Mesh(Arc<SolidMesh>),
    Sequence(Arc<MeshSequence>),
    /// One of the user's own, turned and moved.
    Own {
        solid: Own<dyn Solid>,
        turn: DQuat,
        by: DVec3,
    },
}

/// A surface to draw: positions and triangles.
pub type DrawnSurface = (Vec<DVec3>, Vec<[u32; 3]>);

impl Obstacle {
    fn new(shape: Shape) -> Self {
        Self { name: None, shape, motion: Arc::new(Keyframes::still()), contact: Contact::default() }
    }

    /// The half space below a plane. The normal points to where the cloth is; its length does not
    /// matter, but it must not be zero.
    pub fn plane(point: DVec3, normal: DVec3) -> Result<Self, SceneError> {
        finite("the point of a plane", point)?;
        let unit = normal.try_normalize().filter(|n| n.is_finite());
        let normal =
            unit.ok_or(SceneError::Direction { what: "the normal of a plane", value: normal.to_array() })?;
        Ok(Self::new(Shape::Plane { point, normal }))
    }

    /// A ball.
    #[must_use]
    pub fn sphere(centre: DVec3, radius: Positive) -> Self {
        Self::new(Shape::Sphere { centre, radius: radius.get() })
    }

    /// A rod with round ends, from `a` to `b`.
    #[must_use]
    pub fn capsule(a: DVec3, b: DVec3, radius: Positive) -> Self {
        Self::new(Shape::Capsule { a, b, radius: radius.get() })
    }

    /// A round pillar with flat ends, whose axis goes from `a` to `b`.
    ///
    /// Its distance is exact. Contact sees flat sides around the round one, as many as keep them
    /// within a hundredth of the smallest range of contact from it. The ends are flat and exact but
    /// for their rims. Pictures have 64 sides or more.
    ///
    /// ```
    /// use glam::DVec3;
    /// use plisse_core::Positive;
    /// use plisse_scene::scene::Obstacle;
    /// let pillar = Obstacle::cylinder(DVec3::ZERO, DVec3::Z, Positive::literal(0.2))?;
    /// assert!((pillar.distance(0.0, DVec3::new(0.5, 0.0, 0.5)).value - 0.3).abs() < 1e-15);
    /// assert!((pillar.distance(0.0, DVec3::Z * 1.1).value - 0.1).abs() < 1e-15);
    /// let tent = Obstacle::cone(DVec3::ZERO, DVec3::Z, [1.0, 0.0])?;
    /// assert!((tent.distance(0.0, DVec3::Z * 2.0).value - 1.0).abs() < 1e-15);
    /// # Ok::<(), plisse_scene::scene::SceneError>(())
    /// ```
    ///
    /// # Errors
    /// [`SceneError::NotFinite`] and [`SceneError::RoundObstacle`] if the ends are not finite or
    /// lie in one place.
    pub fn cylinder(a: DVec3, b: DVec3, radius: Positive) -> Result<Self, SceneError> {
        Ok(Self::new(Shape::Frustum(Frustum::new("cylinder", a, b, [radius.get(); 2])?)))
    }

    /// A cone or what is left of one without its tip: the axis goes from `a` to `b`, with these
    /// radii in metres at its ends. One of them may be zero: there is the tip.
    ///
    /// Its distance is exact. Contact and pictures see flat sides, as of a [cylinder]; the tip is
    /// exact.
    ///
    /// # Errors
    /// [`SceneError::NotFinite`] and [`SceneError::RoundObstacle`] if the ends are not finite or
    /// lie in one place, if a radius is negative or not finite, or if both are zero.
    ///
    /// [cylinder]: Self::cylinder
    pub fn cone(a: DVec3, b: DVec3, radii: [f64; 2]) -> Result<Self, SceneError> {
        Ok(Self::new(Shape::Frustum(Frustum::new("cone", a, b, radii)?)))
    }

    /// A box about `centre` with these sides, turned by `rotation`, a unit quaternion.
    #[must_use]
    pub fn cuboid(centre: DVec3, size: [Positive; 3], rotation: DQuat) -> Self {
        let half = DVec3::from(size.map(|s| 0.5 * s.get()));
        Self::new(Shape::Box { centre, rotation, half })
    }

    /// A closed triangle mesh whose faces point outwards.
    pub fn mesh(mesh: &TriMesh, positions: &Field<Vertices, DVec3>) -> Result<Self, SceneError> {
        Ok(Self::new(Shape::Mesh(Arc::new(SolidMesh::new(mesh, positions)?))))
    }

    /// A closed triangle mesh that deforms: its vertices go straight from frame to frame. Before
    /// the first frame it is as in the first, after the last as in the last. Contact and friction
    /// follow from the motion of its vertices.
    ///
    /// A motion of its own ([`Self::moving`]) moves it as a whole, with rotations about the centre
    /// of the box around the first frame. Within a time step all vertices go straight, past frames
    /// that lie inside of the step.
    ///
    /// ```
    /// use glam::DVec3;
    /// use plisse_core::generate;
    /// use plisse_scene::scene::{MeshFrame, Obstacle};
    /// let (mesh, x) = generate::sphere(2, 0.3)?;
    /// let frame = |time: f64, size: f64| MeshFrame { time, positions: x.map(|x| *x * size) };
    /// let growing = Obstacle::mesh_sequence(&mesh, vec![frame(0.0, 1.0), frame(2.0, 2.0)])?;
    /// let above = |time: f64| growing.distance(time, DVec3::Z).value;
    /// assert!(above(0.0) > 0.69 && (above(1.0) - 0.55).abs() < 0.01 && above(3.0) < 0.41);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SceneError::SequenceTimes`] if there are fewer than two frames or times do not ascend,
    /// [`SceneError::SequenceFrame`] if the mesh of a frame could not be an obstacle by itself, or
    /// has another number of vertices.
    pub fn mesh_sequence(mesh: &TriMesh, frames: Vec<MeshFrame>) -> Result<Self, SceneError> {
        Ok(Self::new(Shape::Sequence(Arc::new(MeshSequence::new(mesh, frames)?))))
    }

    /// A shape of one's own.
    #[must_use]
    pub fn solid(solid: impl Solid + 'static) -> Self {
        let solid = Own::<dyn Solid>(Arc::new(solid));
        Self::new(Shape::Own { solid, turn: DQuat::IDENTITY, by: DVec3::ZERO })
    }

    /// Turned about the origin, then moved. Meshes and mesh sequences stay: turn and
    /// move their positions before.
    #[must_use]
    pub fn placed(self, turn: DQuat, by: DVec3) -> Self {
        let at = |x: DVec3| turn * x + by;
        let shape = match self.shape {
            Shape::Plane { point, normal } => Shape::Plane { point: at(point), normal: turn * normal },
            Shape::Sphere { centre, radius } => Shape::Sphere { centre: at(centre), radius },
            Shape::Capsule { a, b, radius } => Shape::Capsule { a: at(a), b: at(b), radius },
            Shape::Frustum(frustum) => Shape::Frustum(frustum.map(at)),
            Shape::Box { centre, rotation, half } => {
                Shape::Box { centre: at(centre), rotation: turn * rotation, half }
            }
            Shape::Mesh(mesh) => Shape::Mesh(mesh),
            Shape::Sequence(sequence) => Shape::Sequence(sequence),
            Shape::Own { solid, turn: before, by } => Shape::Own { solid, turn: turn * before, by: at(by) },
        };
        Self { shape, ..self }
    }

    /// Grown or shrunk about the origin by factors along x, y and z, before it is
    /// [placed](Self::placed). Meshes and mesh sequences stay: scale their positions before.
    ///
    /// ```
    /// use glam::DVec3;
    /// use plisse_core::Positive;
    /// use plisse_scene::scene::Obstacle;
    /// let ball = Obstacle::sphere(DVec3::X, Positive::ONE);
    /// let twice = ball.clone().scaled([Positive::literal(2.0); 3])?;
    /// assert_eq!(twice.distance(0.0, DVec3::X * 5.0).value, 1.0);
    /// assert!(ball.scaled([Positive::ONE, Positive::ONE, Positive::literal(2.0)]).is_err());
    /// # Ok::<(), plisse_scene::scene::SceneError>(())
    /// ```
    ///
    /// # Errors
    /// [`SceneError::ObstacleScale`] for factors that differ on round shapes and turned boxes,
    /// which would become other shapes, and for shapes of one's own.
    pub fn scaled(self, factors: [Positive; 3]) -> Result<Self, SceneError> {
        let by = DVec3::from(factors.map(Positive::get));
        if by == DVec3::ONE {
            return Ok(self);
        }
        let refuse = |shape| Err(SceneError::ObstacleScale { shape, factors: by.to_array() });
        let is_uniform = by == DVec3::splat(by.x);
        let uniform = by.x;
        let shape = match self.shape {
            Shape::Plane { point, normal } => {
                Shape::Plane { point: point * by, normal: (normal / by).normalize_or(normal) }
            }
            Shape::Box { centre, rotation, half } if is_uniform || rotation.is_near_identity() => {
                Shape::Box { centre: centre * by, rotation, half: half * by }
            }
            Shape::Sphere { centre, radius } if is_uniform => {
                Shape::Sphere { centre: centre * by, radius: radius * uniform }
            }
            Shape::Capsule { a, b, radius } if is_uniform => {
                Shape::Capsule { a: a * by, b: b * by, radius: radius * uniform }
            }
            Shape::Frustum(frustum) if is_uniform => Shape::Frustum(frustum.scaled(uniform)?),
            Shape::Mesh(mesh) => Shape::Mesh(mesh),
            Shape::Sequence(sequence) => Shape::Sequence(sequence),
            Shape::Box { .. } => return refuse("a box that is turned by itself"),
            Shape::Sphere { .. } => return refuse("a sphere"),
            Shape::Capsule { .. } => return refuse("a capsule"),
            Shape::Frustum(_) => return refuse("a cylinder or cone"),
            Shape::Own { .. } => return refuse("a shape of one's own"),
        };
        Ok(Self { shape, ..self })
    }

    /// With a name for reports.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// With a motion. Rotations are about the centre of the shape, for meshes that of their
    /// bounding box, for mesh sequences that of the first frame, for planes their point.
    #[must_use]
    pub fn moving(self, motion: Keyframes) -> Self {
        Self { motion: Arc::new(motion), ..self }
    }

    /// With other properties of contact.
    pub fn contact(self, contact: Contact) -> Result<Self, SceneError> {
        if contact.friction >= 0.0 && contact.friction.is_finite() {
            Ok(Self { contact, ..self })
        } else {
            Err(SceneError::Friction { value: contact.friction })
        }
    }

    /// With another coefficient of friction.
    pub fn friction(self, friction: f64) -> Result<Self, SceneError> {
        let contact = Contact { friction, ..self.contact };
        self.contact(contact)
    }

    /// The name, if it has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Signed distance at a time, with derivatives by `x`.
    #[must_use]
    pub fn distance(&self, time: f64, x: DVec3) -> Distance {
        turned(self.local_distance(time, self.to_local(time, x)), self.motion.at(time).0)
    }

    /// Signed distance in the frame in which it was placed. The time matters for what deforms.
    fn local_distance(&self, time: f64, x: DVec3) -> Distance {
        match &self.shape {
            Shape::Plane { point, normal } => distance::plane(x, *point, *normal),
            Shape::Sphere { centre, radius } => distance::sphere(x, *centre, *radius),
            Shape::Capsule { a, b, radius } => distance::capsule(x, *a, *b, *radius),
            Shape::Box { centre, rotation, half } => {
                turned(distance::cuboid(rotation.inverse() * (x - *centre), *half), *rotation)
            }
            Shape::Frustum(frustum) => frustum.distance(x),
            Shape::Mesh(mesh) => mesh.distance(x),
            Shape::Sequence(sequence) => sequence.at(time).distance(x),
            Shape::Own { solid, turn, by } => turned(solid.distance(turn.inverse() * (x - *by)), *turn),
        }
    }

    /// The obstacle as it is at a time, at rest.
    #[cfg(feature = "wrinkle")]
    #[expect(clippy::expect_used, reason = "what a motion gives is finite, and its rotation is one")]
    pub(super) fn at_rest(&self, time: f64) -> Self {
        if let Shape::Sequence(sequence) = &self.shape {
            let placed = sequence.positions(time).map(|x| self.to_world(time, x)).collect();
            let solid = SolidMesh::of_checked(sequence.mesh(), &Field::from_vec(placed));
            let shape = Shape::Mesh(Arc::new(solid));
            return Self { shape, motion: Arc::new(Keyframes::still()), ..self.clone() };
        }
        let (rotation, translation) = self.motion.at(time);
        let frame = super::Keyframe { time: 0.0, translation, rotation };
        self.clone().moving(Keyframes::new(vec![frame]).expect("between keyframes all is finite"))
    }

    /// Velocity of the point of the obstacle at `x`, as a difference over a step, m/s. Only for
    /// shapes of the user's own, which do not deform.
    fn velocity(&self, x: DVec3, start: f64, dt: f64) -> DVec3 {
        if !self.motion.moves() {
            return DVec3::ZERO;
        }
        (self.to_world(start + dt, self.to_local(start, x)) - x) / dt
    }

    fn centre(&self) -> DVec3 {
        match &self.shape {
            Shape::Plane { point, .. } => *point,
            Shape::Sphere { centre, .. } | Shape::Box { centre, .. } => *centre,
            Shape::Capsule { a, b, .. } => (*a + *b) * 0.5,
            Shape::Frustum(frustum) => frustum.centre(),
            Shape::Mesh(mesh) => mesh.centre(),
            Shape::Sequence(sequence) => sequence.centre(),
            Shape::Own { solid, turn, by } => *turn * solid.centre() + *by,
        }
    }

    /// The gap of a vertex where contact acts; none beyond its range.
    fn touch(&self, time: f64, x: DVec3, toucher: &Toucher) -> Option<Distance> {
        let reach = toucher.range + toucher.radius;
        let local = self.to_local(time, x);
        if self.is_beyond(time, local, reach) {
            return None;
        }
        let distance = Some(self.local_distance(time, local)).filter(|distance| distance.value < reach)?;
        let distance = turned(distance, self.motion.at(time).0);
        Some(Distance { value: distance.value - toucher.radius, ..distance })
    }

    pub(super) fn to_local(&self, time: f64, x: DVec3) -> DVec3 {
        let (rotation, translation) = self.motion.at(time);
        rotation.inverse() * (x - self.centre() - translation) + self.centre()
    }

    pub(super) fn to_world(&self, time: f64, local: DVec3) -> DVec3 {
        self.motion.place(time, self.centre(), local)
    }

    /// Whether it is a plane, with its point and normal at a time.
    #[must_use]
    pub fn as_plane(&self, time: f64) -> Option<(DVec3, DVec3)> {
        let Shape::Plane { point, normal } = &self.shape else { return None };
        let (rotation, translation) = self.motion.at(time);
        Some((*point + translation, rotation * *normal))
    }

    /// Gap at which contact begins, m; none where it follows the mesh.
    #[cfg(feature = "wrinkle")]
    pub(super) fn range(&self) -> Option<f64> {
        self.contact.range.map(Positive::get)
    }

    /// What messages call it: its name, or its number among all obstacles, which counts from zero.
    pub(super) fn called(&self, index: usize) -> String {
        self.name.clone().unwrap_or_else(|| format!("obstacle {}", index + 1))
    }

    /// How it pushes and rubs.
    pub(super) fn law(&self) -> &Contact {
        &self.contact
    }

    pub(super) fn moves(&self) -> bool {
        let deforms = matches!(&self.shape, Shape::Sequence(sequence) if sequence.moves());
        deforms || self.motion.moves()
    }

    fn check(&self) -> Result<(), SceneError> {
        match &self.shape {
            Shape::Sphere { centre, .. } => finite("the centre of a sphere", *centre),
            Shape::Capsule { a, b, .. } => finite("the ends of a capsule", *a + *b),
            Shape::Box { centre, rotation, .. } => {
                unit("the rotation of a box", *rotation)?;
                finite("the centre of a box", *centre)
            }
            Shape::Own { turn, by, .. } => {
                unit("the rotation of an obstacle", *turn)?;
                finite("the position of an obstacle", *by)
            }
            Shape::Frustum(frustum) => finite("the middle of a cylinder or cone", frustum.centre()),
            Shape::Plane { .. } | Shape::Mesh(_) | Shape::Sequence(_) => Ok(()),
        }
    }

    pub(super) fn checked(self) -> Result<Self, SceneError> {
        self.check().map(|()| self)
    }
}

fn finite(what: &'static str, value: DVec3) -> Result<(), SceneError> {
    if value.is_finite() { Ok(()) } else { Err(SceneError::NotFinite { what, value: value.to_array() }) }
}

fn unit(what: &'static str, rotation: DQuat) -> Result<(), SceneError> {
    if rotation.is_finite() && (rotation.length_squared() - 1.0).abs() < 1e-6 {
        return Ok(());
    }
    Err(SceneError::Direction { what, value: [rotation.x, rotation.y, rotation.z] })
}

/// A distance in a body's own frame, seen from outside.
fn turned(distance: Distance, rotation: DQuat) -> Distance {
    let r = DMat3::from_quat(rotation);
    Distance {
        value: distance.value,
        gradient: rotation * distance.gradient,
        hessian: r * distance.hessian * r.transpose(),
    }
}
