//! What cloth and wires have in common: a name, a place, pins.

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::{DQuat, DVec3};
use plisse_core::{Field, Id, SplitMix, Vertices};

use super::SceneError;
use super::motion::Keyframes;
use super::pick::{Groups, Pick};
use super::touching::BodyContact;

/// How picked vertices are held.
///
/// ```
/// use glam::DVec3;
/// use plisse_scene::scene::{Cloth, Hold, Keyframes, Pick};
/// let sheet = Cloth::sheet([8, 8], [1.0, 1.0])?
///     .deformed(|x| DVec3::new(x.x, x.y, 0.1 * x.x * x.x))
///     .velocity(DVec3::Z)
///     .apart()
///     .hold(Pick::group("left"), Hold::Moving(Keyframes::still()))
///     .hold(Pick::group("top-right"), Hold::Line(DVec3::X))
///     .hold(Pick::group("bottom-right"), Hold::Plane(DVec3::Z));
/// assert_eq!(sheet.positions().len(), 81);
/// # Ok::<(), plisse_scene::scene::SceneError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Hold {
    /// Where they are placed.
    Still,
    /// On a rigid motion about the centre of the picked vertices.
    Moving(Keyframes),
    /// Free along a direction.
    Line(DVec3),
    /// Free in the plane with this normal.
    Plane(DVec3),
}

/// Vertices in space, with names and pins.
#[derive(Clone, Debug)]
pub(super) struct Body {
    pub(super) name: Option<String>,
    pub(super) x: Field<Vertices, DVec3>,
    pub(super) velocity: DVec3,
    pub(super) jitter: f64,
    pub(super) groups: Groups,
    pub(super) pins: Vec<(Pick, Hold)>,
    /// Whether vertices in the same place and loose pieces are meant.
    pub(super) apart: bool,
    pub(super) contact: BodyContact,
}

/// A vertex that a pin holds.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) vertex: Id<Vertices>,
    /// Where it was placed.
    pub(super) place: DVec3,
    pub(super) way: Way,
}

/// How a vertex is held.
#[derive(Clone, Debug)]
pub(super) enum Way {
    Still,
    /// By a motion, with the centre of its rotation.
    Moving(Arc<Keyframes>, DVec3),
    /// Free along a direction.
    Line(DVec3),
    /// Free in the plane with this normal.
    Plane(DVec3),
}

impl Held {
    /// Where its pin has it at a time, or where it was placed if the pin leaves it a direction.
    pub(super) fn at(&self, time: f64) -> DVec3 {
        match &self.way {
            Way::Moving(keys, centre) => keys.place(time, *centre, self.place),
            Way::Still | Way::Line(_) | Way::Plane(_) => self.place,
        }
    }
}

impl Body {
    /// The vertices that pins hold, each once, in the order of the pins; `name` is what errors call
    /// the body.
    ///
    /// A corner belongs to two sides: holding it twice in the same way is no mistake. Two motions
    /// are never the same: each has its own centre.
    pub(super) fn held(&self, name: &str) -> Result<Vec<Held>, SceneError> {
        let mut by: BTreeMap<Id<Vertices>, usize> = BTreeMap::new();
        let mut all = Vec::new();
        for (index, (pick, hold)) in self.pins.iter().enumerate() {
            let picked = pick.resolve(name, &self.x, &self.groups)?;
            let centre = picked.iter().map(|v| self.x[*v]).sum::<DVec3>() / picked.len() as f64;
            let way = match hold {
                Hold::Still => Way::Still,
                Hold::Moving(keys) => Way::Moving(Arc::new(keys.clone()), centre),
                Hold::Line(direction) => Way::Line(*direction),
                Hold::Plane(normal) => Way::Plane(*normal),
            };
            for vertex in picked {
                match by.insert(vertex, index) {
                    None => all.push(Held { vertex, place: self.x[vertex], way: way.clone() }),
                    Some(first) if first == index => {}
                    Some(first) if self.pins[first].1 == *hold && !matches!(hold, Hold::Moving(_)) => {}
                    Some(_) => {
                        let reason =
                            format!("{vertex} is held in two ways; let the picks of its pins not overlap");
                        return Err(SceneError::Pick { body: name.to_owned(), reason });
                    }
                }
            }
        }
        Ok(all)
    }

    pub(super) fn new(x: Field<Vertices, DVec3>, groups: Groups) -> Self {
        Self {
            name: None,
            x,
            velocity: DVec3::ZERO,
            jitter: 0.0,
            groups,
            pins: Vec::new(),
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
            self.hold(pick, Hold::Still)
        }

        /// Holds vertices, in one of several ways.
        #[must_use]
        pub fn hold(mut self, pick: Pick, hold: Hold) -> Self {
            self.body.pins.push((pick, hold));
            self
        }

        /// Whether the last pin holds anything; `name` is what errors call the body.
        #[allow(dead_code, reason = "only files need it")]
        pub(crate) fn check_last_pin(&self, name: &str) -> Result<(), SceneError> {
            let last = self.body.pins.last();
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
