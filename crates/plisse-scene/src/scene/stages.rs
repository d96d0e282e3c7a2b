//! Pins that let go: a scene has a system for each time between two releases.
//!
//! What is held is eliminated from the equations, not in contact with obstacles by itself, and
//! clamps what it bounds. So the system is made anew when pins let go. No step crosses such a time.

use plisse_core::Positive;
use plisse_system::{Cause, State, StepError, StepReport};

use super::SceneError;
use super::builder::SceneBuilder;
use super::crossings::CrossedStart;
use super::scene::Scene;

/// When pins of a scene let go, and what the system is made from then.
pub(super) struct Stages {
    /// Ascending, s.
    times: Vec<f64>,
    /// None if no pin ever lets go.
    builder: Option<Box<SceneBuilder>>,
    /// How many of the times have passed.
    passed: usize,
}

/// Times are sums of steps: within this, in parts of a second and of themselves, they are the same.
const SAME_TIME: f64 = 1e-9;

fn tolerance(time: f64) -> f64 {
    SAME_TIME * (1.0 + time.abs())
}

impl Stages {
    /// Of a scene whose pins hold for ever.
    pub(super) fn none() -> Self {
        Self { times: Vec::new(), builder: None, passed: 0 }
    }

    /// Checks that the scene can be built without the pins that let go as well.
    pub(super) fn new(builder: SceneBuilder) -> Result<Self, SceneError> {
        let times = builder.releases();
        let Some(last) = times.last() else { return Ok(Self::none()) };
        builder.stage(*last)?;
        Ok(Self { times, builder: Some(Box::new(builder)), passed: 0 })
    }

    /// How many releases a step from this time on starts after.
    fn due(&self, time: f64) -> usize {
        self.times.partition_point(|at| *at <= time + tolerance(time))
    }

    /// How many releases lie before the end of a step at this time.
    fn before(&self, time: f64) -> usize {
        self.times.partition_point(|at| *at < time - tolerance(time))
    }

    /// The first release between two times.
    fn between(&self, from: f64, to: f64) -> Option<f64> {
        let next = self.times.get(self.due(from)).copied();
        next.filter(|next| *next < to - tolerance(to))
    }
}

impl Scene {
    /// Advances in steps that end where pins let go. On error the scene is as it was.
    pub(super) fn step_in_stages(&mut self, dt: Positive) -> Result<StepReport, StepError> {
        let (before, passed) = (self.state.clone(), self.stages.passed);
        let result = self.step_past_releases(dt);
        if result.is_err() {
            if self.stages.passed != passed {
                self.enter(passed)?;
            }
            self.state = before;
        }
        result
    }

    fn step_past_releases(&mut self, dt: Positive) -> Result<StepReport, StepError> {
        let end = self.time() + dt.get();
        let mut total: Option<StepReport> = None;
        loop {
            let time = self.time();
            let due = self.stages.due(time);
            if due != self.stages.passed {
                self.enter(due)?;
                self.check_released()?;
                self.forget_motion()?;
            }
            let next = self.stages.between(time, end);
            let length = next.unwrap_or(end) - time;
            let length = Positive::new(length).map_err(|_| StepError::NoAdvance { time, dt: length })?;
            // One piece has the length that was asked for, to the last bit.
            let is_whole = next.is_none() && total.is_none();
            let report = self.step_within(if is_whole { dt } else { length })?;
            let report = match total.take() {
                None => report,
                Some(before) => before.followed_by(report),
            };
            if next.is_none() {
                // That a piece was short says nothing about the next step.
                if !is_whole {
                    self.integrator.forget();
                }
                return Ok(report);
            }
            total = Some(report);
        }
    }

    /// Makes the system without the pins of the first releases.
    fn enter(&mut self, passed: usize) -> Result<(), StepError> {
        let Some(builder) = &self.stages.builder else { return Ok(()) };
        let time = passed.checked_sub(1).map_or(f64::NEG_INFINITY, |last| self.stages.times[last]);
        let scene = builder.stage(time).map_err(|error| self.cannot_release(error))?;
        self.system = scene.system;
        self.integrator = scene.integrator;
        self.held = scene.held;
        self.stages.passed = passed;
        Ok(())
    }

    /// The system that belongs to a state that was saved.
    pub(super) fn enter_at(&mut self, time: f64) -> Result<(), StepError> {
        match self.stages.before(time) {
            passed if passed == self.stages.passed => Ok(()),
            passed => self.enter(passed),
        }
    }

    /// Refuses to let go what pins have moved through something.
    fn check_released(&self) -> Result<(), StepError> {
        let ignores = |builder: &SceneBuilder| builder.on_crossed_start() == CrossedStart::Ignore;
        if self.stages.builder.as_deref().is_none_or(ignores) {
            return Ok(());
        }
        let found = self.crossings();
        let Some(first) = found.forbidden.first() else { return Ok(()) };
        Err(self.cannot_release(SceneError::ReleasedCrossing {
            bodies: first.bodies.clone(),
            faces: first.faces,
            place: first.place.to_array(),
            count: found.forbidden.len(),
        }))
    }

    /// Forces change at once: what schemes remember of the motion before would spread the change
    /// over steps.
    fn forget_motion(&mut self) -> Result<(), StepError> {
        let state = &self.state;
        let (x, v, own) = (state.x().clone(), state.v().clone(), state.own().clone());
        let fresh = State::resume(x, v, own, state.time(), None, None, state.ledger().copied());
        self.state = fresh.map_err(|error| self.cannot_release(error.into()))?;
        Ok(())
    }

    fn cannot_release(&self, error: SceneError) -> StepError {
        StepError::Failed {
            time: self.time(),
            dt: self.settings.time_step.get(),
            may_heal: false,
            cause: Cause::new(error),
        }
    }
}
