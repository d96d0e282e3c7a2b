//! What moves a state: prescribed paths, and forces at its positions and velocities.

use glam::DVec3;
use plisse_core::{Field, Id, Past, Space};

use super::report::StepError;
use crate::pose::{Pose, StepMap};
use crate::state::State;
use crate::system::System;
use crate::term::{Gradient, Role};

/// Where the moving pins are at a time.
pub(super) fn pin_targets<S: Space>(system: &System<S>, time: f64) -> Result<Vec<(Id<S>, DVec3)>, StepError> {
    let mut targets = Vec::new();
    for (node, motion) in system.moving() {
        let target = motion(time);
        if !target.is_finite() {
            return Err(StepError::BadMotion { node: node.to_string(), time, value: target.to_array() });
        }
        targets.push((node, target));
    }
    Ok(targets)
}

/// Work that the dissipative terms, as they are at the state, would do on the way to `x`.
pub(super) fn work_at_start<S: Space>(
    system: &System<S>,
    state: &State<S>,
    x: &Field<S, DVec3>,
    dt: f64,
) -> f64 {
    let (start, v) = (state.x(), state.v());
    let reference = Field::from_fn(start.len(), |i| start[i] - v[i] * dt);
    let past = Past::Velocity { time: -dt, v };
    let map = StepMap {
        start,
        dt,
        reference: &reference,
        rate: 1.0 / dt,
        past,
        own: &[],
        inertia: None,
        memory: None,
    };
    let pose = Pose { step: Some(map), ..state.pose() };
    let mut gradient = Field::filled(start.len(), DVec3::ZERO);
    let mut unused = vec![0.0; system.own_count()];
    for (term, pose) in system.at(&pose).filter(|(term, _)| term.role() == Role::Dissipative && term.drives())
    {
        let own = &mut unused[..pose.own.len()];
        term.add_gradient(&pose, &mut Gradient { nodes: &mut gradient, own });
    }
    -system.unknowns().iter().map(|&node| gradient[node].dot(x[node] - start[node])).sum::<f64>()
}

/// `a = M⁻¹ f(x, v)` of a state; zero at held nodes and in directions that sliding nodes may not
/// take.
pub(super) fn acceleration_of<S: Space>(system: &System<S>, state: &State<S>, dt: f64) -> Field<S, DVec3> {
    let (x, v) = (state.x(), state.v());
    let reference = Field::from_fn(x.len(), |i| x[i] - v[i] * dt);
    let past = Past::Velocity { time: -dt, v };
    let map = StepMap {
        start: x,
        dt,
        reference: &reference,
        rate: 1.0 / dt,
        past,
        own: &[],
        inertia: None,
        memory: None,
    };
    let mut gradient = Field::filled(x.len(), DVec3::ZERO);
    system.gradient(&Pose { step: Some(map), ..state.pose() }, &mut gradient);
    let mut forces: Vec<DVec3> = system.unknowns().iter().map(|&node| -gradient[node]).collect();
    system.pins().filter(&mut forces);
    let mut a = Field::filled(x.len(), DVec3::ZERO);
    if let Some(mass) = system.mass() {
        for (&node, force) in system.unknowns().iter().zip(&forces) {
            a[node] = *force / mass[node];
        }
    }
    a
}
