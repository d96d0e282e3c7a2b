//! What cloth and wires have in common: a name, a place, pins.

use glam::{DQuat, DVec3};
use plisse_core::{Field, Id, SplitMix, Vertices};

use super::pick::{Groups, Pick};
use super::pins::Grip;
use super::timeline::Timeline;
use super::touching::BodyContact;

/// Vertices in space, with names and pins.
#[derive(Clone, Debug)]
pub(super) struct Body {
    pub(super) name: Option<String>,
    pub(super) x: Field<Vertices, DVec3>,
    pub(super) velocity: DVec3,
    pub(super) jitter: f64,
    pub(super) groups: Groups,
    pub(super) pins: Vec<(Pick, Grip)>,
    /// Forces in newtons, each shared by what is picked.
    pub(super) forces: Vec<(Pick, Timeline<DVec3>)>,
    /// Whether vertices in the same place and loose pieces are meant.
    pub(super) apart: bool,
    pub(super) contact: BodyContact,
}

impl Body {
    pub(super) fn new(x: Field<Vertices, DVec3>, groups: Groups) -> Self {
        Self {
            name: None,
            x,
            velocity: DVec3::ZERO,
            jitter: 0.0,
            groups,
            pins: Vec::new(),
            forces: Vec::new(),
            apart: false,
            contact: BodyContact::default(),
        }
    }

    pub(super) fn deform(&mut self, place: impl Fn(DVec3) -> DVec3) {
        self.x = self.x.map(|x| place(*x));
    }

    /// The places of the vertices at the start: all but the held ones displaced at random, the same
    /// way every time.
    pub(super) fn start(&self, is_held: impl Fn(Id<Vertices>) -> bool) -> Vec<DVec3> {
        let mut random = SplitMix::new(0);
        let displaced = |(v, x): (Id<Vertices>, &DVec3)| {
            let shift = DVec3::new(random.signed(), random.signed(), random.signed()) * self.jitter;
            if is_held(v) { *x } else { *x + shift }
        };
        self.x.iter().map(displaced).collect()
    }
}

/// The methods that cloth and wires share.
macro_rules! body_methods {
    () => {
        /// With a name for pins, reports and files.
        #[must_use]
        pub fn named(mut self, name: impl Into<String>) -> Self {
            self.body.name = Some(name.into());
            self
        }

        /// Moved by a vector, in metres.
        #[must_use]
        pub fn at(mut self, displacement: DVec3) -> Self {
            self.body.deform(|x| x + displacement);
            self
        }

        /// Turned about the origin. Turn before [`Self::at`] to turn a body about itself.
        #[must_use]
        pub fn rotated(mut self, rotation: DQuat) -> Self {
            self.body.deform(|x| rotation * x);
            self
        }

        /// Starts in another shape; its rest shape stays.
        #[must_use]
        pub fn deformed(mut self, place: impl Fn(DVec3) -> DVec3) -> Self {
            self.body.deform(place);
            self
        }

        /// Starts with each vertex that is not held displaced by up to this many metres in each
        /// direction, the same way in every run. What is exactly flat cannot buckle; this decides
        /// to which side.
        #[must_use]
        pub fn jittered(mut self, metres: f64) -> Self {
            self.body.jitter = metres;
            self
        }

        /// Starts with this velocity, in m/s.
        #[must_use]
        pub fn velocity(mut self, velocity: DVec3) -> Self {
            self.body.velocity = velocity;
            self
        }

        /// Says that vertices in the same place are meant to come apart, and that loose pieces are
        /// meant: no warning about either.
        #[must_use]
        pub fn apart(mut self) -> Self {
            self.body.apart = true;
            self
        }

        /// Touches itself and others in another way.
        #[must_use]
        pub fn contact(mut self, contact: BodyContact) -> Self {
            self.body.contact = contact;
            self
        }

        /// How it touches itself and others.
        #[allow(dead_code, reason = "only files need it")]
        pub(crate) fn body_contact(&self) -> BodyContact {
            self.body.contact
        }

        /// Holds vertices still.
        #[must_use]
        pub fn pin(self, pick: Pick) -> Self {
            self.hold(pick, $crate::scene::Hold::Still)
        }

        /// Holds vertices, in one of several ways: for ever or until a time, exactly or by springs
        /// ([`Grip`](crate::scene::Grip)).
        #[must_use]
        pub fn hold(mut self, pick: Pick, grip: impl Into<$crate::scene::Grip>) -> Self {
            self.body.pins.push((pick, grip.into()));
            self
        }

        /// Pulls vertices with a force in newtons, constant or over time. It is shared in
        /// proportion to their masses, so that a finer mesh feels the same.
        #[must_use]
        pub fn force(mut self, pick: Pick, force: impl Into<$crate::scene::Timeline<DVec3>>) -> Self {
            self.body.forces.push((pick, force.into()));
            self
        }

        /// Whether the last pin holds anything; `name` is what errors call the body.
        #[allow(dead_code, reason = "only files need it")]
        pub(crate) fn check_last_pin(&self, name: &str) -> Result<(), SceneError> {
            let last = self.body.pins.last();
            last.map_or(Ok(()), |(pick, _)| pick.resolve(name, &self.body.x, &self.body.groups).map(|_| ()))
        }

        /// Whether the last force pulls anything; `name` is what errors call the body.
        #[allow(dead_code, reason = "only files need it")]
        pub(crate) fn check_last_force(&self, name: &str) -> Result<(), SceneError> {
            let last = self.body.forces.last();
            last.map_or(Ok(()), |(pick, _)| pick.resolve(name, &self.body.x, &self.body.groups).map(|_| ()))
        }

        /// Positions as placed, in metres.
        #[must_use]
        pub fn positions(&self) -> &Field<Vertices, DVec3> {
            &self.body.x
        }
    };
}
pub(super) use body_methods;

/// A rotation by three angles in degrees about the fixed axes x, then y, then z.
#[must_use]
pub fn rotation_degrees(x: f64, y: f64, z: f64) -> DQuat {
    let turn = |axis, degrees: f64| DQuat::from_axis_angle(axis, degrees.to_radians());
    turn(DVec3::Z, z) * turn(DVec3::Y, y) * turn(DVec3::X, x)
}
