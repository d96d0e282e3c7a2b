//! Nodes whose motion is prescribed, wholly or in part.

use std::fmt;
use std::sync::Arc;

use glam::{DMat3, DVec3};
use plisse_core::{Id, Space, length_and_direction, outer};

use crate::error::SetupError;

/// A prescribed path: position in metres as a function of time in seconds.
pub type Motion = Arc<dyn Fn(f64) -> DVec3 + Send + Sync>;

/// What is prescribed for a node. It is eliminated exactly; no penalty is involved.
#[derive(Clone)]
pub enum Pin {
    /// The node stays where the state has it.
    Still,
    /// The node follows a path.
    Moving(Motion),
    /// The node slides on a line through its place, with this direction.
    Line(DVec3),
    /// The node slides in a plane through its place, with this normal.
    Plane(DVec3),
}

impl fmt::Debug for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(d) => write!(f, "Line({d})"),
            Self::Plane(n) => write!(f, "Plane({n})"),
            Self::Still | Self::Moving(_) => f.write_str(self.kind()),
        }
    }
}

impl Pin {
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Still => "a still pin",
            Self::Moving(_) => "a moving pin",
            Self::Line(_) => "sliding on a line",
            Self::Plane(_) => "sliding in a plane",
        }
    }
}

/// The pins of a system, sorted by what the solver does with them.
#[derive(Clone, Debug)]
pub(crate) struct Pins<S: Space> {
    /// Unknown of each node, or none where the node is held.
    unknown: Vec<Option<u32>>,
    /// Node of each unknown.
    nodes: Vec<Id<S>>,
    moving: Vec<(Id<S>, MotionDebug)>,
    /// Allowed directions of unknowns that slide, empty if none does.
    allowed: Vec<Option<DMat3>>,
}

#[derive(Clone)]
struct MotionDebug(Motion);
impl fmt::Debug for MotionDebug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("motion")
    }
}

impl<S: Space> Pins<S> {
    pub(crate) fn new(size: usize, pins: &[(Id<S>, Pin)]) -> Result<Self, SetupError> {
        let mut of_node: Vec<Option<&Pin>> = vec![None; size];
        for (node, pin) in pins {
            let Some(place) = of_node.get_mut(node.index()) else {
                return Err(SetupError::PinOutOfRange { node: node.to_string(), count: size });
            };
            match (&place, pin) {
                (None, _) => *place = Some(pin),
                // Saying the same thing twice is no conflict.
                (Some(Pin::Still), Pin::Still) => {}
                (Some(first), second) => {
                    let (first, second) = (first.kind(), second.kind());
                    return Err(SetupError::ConflictingPins { node: node.to_string(), first, second });
                }
            }
        }
        let mut out =
            Self { unknown: vec![None; size], nodes: Vec::new(), moving: Vec::new(), allowed: Vec::new() };
        for (index, pin) in of_node.into_iter().enumerate() {
            let node = Id::new(index as u32);
            match pin {
                Some(Pin::Still) => continue,
                Some(Pin::Moving(motion)) => {
                    out.moving.push((node, MotionDebug(Arc::clone(motion))));
                    continue;
                }
                Some(Pin::Line(direction)) => {
                    let d = unit(node, "direction", *direction)?;
                    out.allowed.push(Some(outer(d, d)));
                }
                Some(Pin::Plane(normal)) => {
                    let n = unit(node, "normal", *normal)?;
                    out.allowed.push(Some(DMat3::IDENTITY - outer(n, n)));
                }
                None => out.allowed.push(None),
            }
            out.unknown[index] = Some(out.nodes.len() as u32);
            out.nodes.push(node);
        }
        if out.allowed.iter().all(Option::is_none) {
            out.allowed.clear();
        }
        Ok(out)
    }

    pub(crate) fn unknown(&self, node: Id<S>) -> Option<u32> {
        self.unknown[node.index()]
    }

    pub(crate) fn nodes(&self) -> &[Id<S>] {
        &self.nodes
    }

    pub(crate) fn any(&self) -> bool {
        self.nodes.len() < self.unknown.len() || !self.allowed.is_empty()
    }

    pub(crate) fn allowed(&self) -> &[Option<DMat3>] {
        &self.allowed
    }

    pub(crate) fn moving(&self) -> impl Iterator<Item = (Id<S>, &Motion)> {
        self.moving.iter().map(|(node, motion)| (*node, &motion.0))
    }

    /// Removes the forbidden part of a vector over the unknowns.
    pub(crate) fn filter(&self, v: &mut [DVec3]) {
        for (v, allowed) in v.iter_mut().zip(&self.allowed) {
            if let Some(p) = allowed {
                *v = *p * *v;
            }
        }
    }
}

fn unit<S: Space>(node: Id<S>, what: &'static str, value: DVec3) -> Result<DVec3, SetupError> {
    let (length, direction) = length_and_direction(value);
    if length > 0.0 && value.is_finite() {
        Ok(direction)
    } else {
        Err(SetupError::NoDirection { what, node: node.to_string(), value: value.to_array() })
    }
}
