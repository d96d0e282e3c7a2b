//! Pins: which vertices are held, how, how firmly, and until when.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use glam::DVec3;
use plisse_core::{Id, Positive, Vertices};

use super::SceneError;
use super::body::Body;
use super::motion::Keyframes;
use super::obstacle::{Anchor, Obstacle};
use super::pick::Pick;

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
    /// As if grown together with the obstacle of this name, as it moves and turns; with the nearest
    /// face of a mesh that deforms.
    Following(String),
}

impl Hold {
    /// The same until a time in seconds, after which the vertices are free.
    #[must_use]
    pub fn until(self, time: Positive) -> Grip {
        Grip::from(self).until(time)
    }

    /// The same by springs, with the stiffness of all together in N/m.
    #[must_use]
    pub fn soft(self, stiffness: Positive) -> Grip {
        Grip::from(self).soft(stiffness)
    }
}

/// How picked vertices are held, how firmly, and until when.
///
/// ```
/// use glam::DVec3;
/// use plisse_core::Positive;
/// use plisse_scene::scene::{Cloth, Grip, Hold, Obstacle, Pick, Scene};
/// let [second, stiffness] = [1.0, 200.0].map(Positive::literal);
/// let pole = Obstacle::capsule(DVec3::Z, DVec3::Z * 2.0, Positive::literal(0.02)).named("pole");
/// let soft: Grip = Hold::Still.soft(stiffness).until(second);
/// let sheet = Cloth::sheet([8, 8], [0.4, 0.4])?
///     .at(DVec3::new(0.3, 0.0, 1.5))
///     .hold(Pick::group("left"), Hold::Following("pole".into()).until(second))
///     .hold(Pick::group("right"), soft);
/// Scene::builder().cloth(sheet).obstacle(pole).build()?.step()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Grip {
    /// Where they are held.
    pub hold: Hold,
    /// When they are let go, s; none for never. No step crosses this time.
    pub until: Option<Positive>,
    /// Of springs to where they would be held, N/m: of all together, shared in proportion to the
    /// masses of the vertices. None holds them exactly. Springs do not let vertices slide: `Line`
    /// and `Plane` are refused.
    pub stiffness: Option<Positive>,
}

impl From<Hold> for Grip {
    /// For ever and exactly.
    fn from(hold: Hold) -> Self {
        Self { hold, until: None, stiffness: None }
    }
}

impl Grip {
    /// The same until a time in seconds.
    #[must_use]
    pub fn until(self, time: Positive) -> Self {
        Self { until: Some(time), ..self }
    }

    /// The same by springs, with the stiffness of all together in N/m.
    #[must_use]
    pub fn soft(self, stiffness: Positive) -> Self {
        Self { stiffness: Some(stiffness), ..self }
    }
}

/// A vertex that a pin holds.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) vertex: Id<Vertices>,
    /// Where it was placed.
    pub(super) place: DVec3,
    pub(super) way: Way,
    /// When it is let go, s; infinite for never.
    pub(super) until: f64,
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
    /// On an obstacle.
    Following(Arc<Obstacle>, Anchor),
}

impl Held {
    /// Where its pin has it at a time, or where it was placed if the pin leaves it a direction.
    pub(super) fn at(&self, time: f64) -> DVec3 {
        match &self.way {
            Way::Moving(keys, centre) => keys.place(time, *centre, self.place),
            Way::Following(obstacle, anchor) => obstacle.carried(time, anchor),
            Way::Still | Way::Line(_) | Way::Plane(_) => self.place,
        }
    }

    /// Whether the pin says where it is.
    pub(super) fn is_fixed(&self) -> bool {
        match self.way {
            Way::Still | Way::Moving(..) | Way::Following(..) => true,
            Way::Line(_) | Way::Plane(_) => false,
        }
    }
}

/// Vertices on springs.
#[derive(Clone, Debug)]
pub(super) struct SoftPin {
    pub(super) held: Vec<Held>,
    /// Of all together, N/m.
    pub(super) stiffness: Positive,
    /// When it is let go, s; infinite for never.
    pub(super) until: f64,
}

impl Body {
    /// The vertices that pins hold exactly, each once, in the order of the pins; `name` is what
    /// errors call the body.
    ///
    /// A corner belongs to two sides: holding it twice in the same way is no mistake. Two motions
    /// are never the same: each has its own centre.
    pub(super) fn held(&self, name: &str, obstacles: &[Obstacle]) -> Result<Vec<Held>, SceneError> {
        let mut by: BTreeMap<Id<Vertices>, usize> = BTreeMap::new();
        let mut all = Vec::new();
        for (index, (pick, grip)) in self.pins.iter().enumerate() {
            if grip.stiffness.is_some() {
                continue;
            }
            for held in self.gripped(pick, grip, name, obstacles)? {
                let vertex = held.vertex;
                match by.insert(vertex, index) {
                    None => all.push(held),
                    Some(first) if first == index => {}
                    Some(first) if self.pins[first].1 == *grip && !matches!(grip.hold, Hold::Moving(_)) => {}
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

    /// The pins that hold by springs. They may overlap with others, and with each other.
    pub(super) fn soft_pins(&self, name: &str, obstacles: &[Obstacle]) -> Result<Vec<SoftPin>, SceneError> {
        let mut all = Vec::new();
        for (pick, grip) in &self.pins {
            let Some(stiffness) = grip.stiffness else { continue };
            if matches!(grip.hold, Hold::Line(_) | Hold::Plane(_)) {
                let reason = "springs do not let vertices slide on a line or in a plane; remove the \
                              stiffness, or the line or plane";
                return Err(SceneError::Pick { body: name.to_owned(), reason: reason.to_owned() });
            }
            let mut held = self.gripped(pick, grip, name, obstacles)?;
            // A vertex that was picked twice has one spring.
            let mut seen = BTreeSet::new();
            held.retain(|held| seen.insert(held.vertex));
            all.push(SoftPin { held, stiffness, until: grip.until.map_or(f64::INFINITY, Positive::get) });
        }
        Ok(all)
    }

    /// What a pin holds.
    fn gripped(
        &self,
        pick: &Pick,
        grip: &Grip,
        name: &str,
        obstacles: &[Obstacle],
    ) -> Result<Vec<Held>, SceneError> {
        let picked = pick.resolve(name, &self.x, &self.groups)?;
        let centre = picked.iter().map(|v| self.x[*v]).sum::<DVec3>() / picked.len() as f64;
        let until = grip.until.map_or(f64::INFINITY, Positive::get);
        let way: Box<dyn Fn(DVec3) -> Way> = match &grip.hold {
            Hold::Still => Box::new(|_| Way::Still),
            Hold::Moving(keys) => {
                let keys = Arc::new(keys.clone());
                Box::new(move |_| Way::Moving(Arc::clone(&keys), centre))
            }
            Hold::Line(direction) => Box::new(|_| Way::Line(*direction)),
            Hold::Plane(normal) => Box::new(|_| Way::Plane(*normal)),
            Hold::Following(leader) => {
                let obstacle = Arc::new(named(leader, name, obstacles)?.clone());
                Box::new(move |x| Way::Following(Arc::clone(&obstacle), obstacle.anchor(x)))
            }
        };
        let one = |vertex| Held { vertex, place: self.x[vertex], way: way(self.x[vertex]), until };
        Ok(picked.into_iter().map(one).collect())
    }

    /// The times at which pins let go, in no order.
    pub(super) fn releases(&self) -> impl Iterator<Item = f64> {
        self.pins.iter().filter_map(|(_, grip)| grip.until.map(Positive::get))
    }
}

/// The obstacle of this name.
fn named<'a>(leader: &str, body: &str, obstacles: &'a [Obstacle]) -> Result<&'a Obstacle, SceneError> {
    let names: Vec<String> = obstacles.iter().enumerate().map(|(i, o)| o.called(i)).collect();
    match names.iter().position(|name| name == leader) {
        Some(index) => Ok(&obstacles[index]),
        None => {
            let known = if names.is_empty() { "there are none".to_owned() } else { names.join(", ") };
            let reason =
                format!("a pin follows \"{leader}\", but no obstacle has this name; obstacles: {known}");
            Err(SceneError::Pick { body: body.to_owned(), reason })
        }
    }
}
