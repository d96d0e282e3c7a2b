//! Positions and velocities, and what integrators remember of the past.

use glam::DVec3;
use plisse_core::{Field, FieldError, Space};

use crate::error::SetupError;
use crate::ledger::Ledger;
use crate::pose::Pose;

/// The state of a simulation: everything the next step depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct State<S: Space> {
    x: Field<S, DVec3>,
    v: Field<S, DVec3>,
    own: OwnState,
    time: f64,
    pub(crate) previous: Option<Previous<S>>,
    pub(crate) acceleration: Option<Field<S, DVec3>>,
    ledger: Option<Ledger>,
}

/// The unknowns that terms bring along ([`Term::own`](crate::Term::own)), those of all terms one
/// after the other. Empty before the first step, where they have their values at the start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnState {
    /// Their values.
    pub values: Vec<f64>,
    /// Their changes per second during the last step; zero after an equilibrium.
    pub rates: Vec<f64>,
}

/// What an integrator leaves for its next step.
pub(crate) struct Kept<S: Space> {
    pub(crate) previous: Option<Previous<S>>,
    pub(crate) acceleration: Option<Field<S, DVec3>>,
    pub(crate) ledger: Option<Ledger>,
}

/// Where everything is: what a step looks for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Configuration<S: Space> {
    pub(crate) x: Field<S, DVec3>,
    /// Values of the unknowns of all terms' own.
    pub(crate) own: Vec<f64>,
}

impl<S: Space> Configuration<S> {
    pub(crate) fn pose(&self, time: f64) -> Pose<'_, S> {
        Pose { x: &self.x, own: &self.own, time, step: None }
    }
}

/// The step before the last, which BDF2 needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Previous<S: Space> {
    /// Positions one step ago.
    pub x: Field<S, DVec3>,
    /// Velocities one step ago.
    pub v: Field<S, DVec3>,
    /// Length of the step from there, in seconds.
    pub dt: f64,
}

impl<S: Space> State<S> {
    /// A state at time zero.
    pub fn new(x: Field<S, DVec3>, v: Field<S, DVec3>) -> Result<Self, SetupError> {
        v.check_len(x.len()).map_err(|source| SetupError::Length { what: "velocities", source })?;
        check_finite("the position", &x)?;
        check_finite("the velocity", &v)?;
        Ok(Self {
            x,
            v,
            own: OwnState::default(),
            time: 0.0,
            previous: None,
            acceleration: None,
            ledger: None,
        })
    }

    /// A state without velocity at time zero.
    pub fn at_rest(x: Field<S, DVec3>) -> Result<Self, SetupError> {
        let v = Field::filled(x.len(), DVec3::ZERO);
        Self::new(x, v)
    }

    /// Puts a state together again from what was saved of it.
    pub fn resume(
        x: Field<S, DVec3>,
        v: Field<S, DVec3>,
        own: OwnState,
        time: f64,
        previous: Option<Previous<S>>,
        acceleration: Option<Field<S, DVec3>>,
        ledger: Option<Ledger>,
    ) -> Result<Self, SetupError> {
        let expected = "give a finite time in seconds";
        if !time.is_finite() {
            return Err(SetupError::BadParameter { what: "the time", value: time, expected });
        }
        let state = Self { time, ..Self::new(x, v)? };
        let size = state.x.len();
        let length = |what| move |source| SetupError::Length { what, source };
        if let Some(p) = &previous {
            p.x.check_len(size).map_err(length("previous positions"))?;
            p.v.check_len(size).map_err(length("previous velocities"))?;
            check_finite("the previous position", &p.x)?;
            check_finite("the previous velocity", &p.v)?;
            if !(p.dt > 0.0 && p.dt.is_finite()) {
                let expected = "give a positive number of seconds";
                return Err(SetupError::BadParameter { what: "the previous step", value: p.dt, expected });
            }
        }
        if let Some(a) = &acceleration {
            a.check_len(size).map_err(length("accelerations"))?;
            check_finite("the acceleration", a)?;
        }
        if let Some(ledger) = ledger.filter(|ledger| !ledger.is_finite()) {
            let expected = "give an account of finite energies";
            return Err(SetupError::BadParameter {
                what: "the energy account",
                value: ledger.excess,
                expected,
            });
        }
        let (expected, found) = (own.values.len(), own.rates.len());
        if expected != found {
            return Err(length("rates")(FieldError { space: "unknown of a term", expected, found }));
        }
        if let Some(&value) = own.values.iter().chain(&own.rates).find(|value| !value.is_finite()) {
            let expected = "give finite numbers";
            return Err(SetupError::BadParameter { what: "an unknown of a term", value, expected });
        }
        Ok(Self { own, previous, acceleration, ledger, ..state })
    }

    /// Positions in metres.
    #[must_use]
    pub fn x(&self) -> &Field<S, DVec3> {
        &self.x
    }

    /// Velocities in m/s.
    #[must_use]
    pub fn v(&self) -> &Field<S, DVec3> {
        &self.v
    }

    /// The unknowns that terms bring along.
    #[must_use]
    pub fn own(&self) -> &OwnState {
        &self.own
    }

    /// Time in seconds.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.time
    }

    /// What BDF2 remembers of the step before; none at the start and after other integrators.
    #[must_use]
    pub fn previous(&self) -> Option<&Previous<S>> {
        self.previous.as_ref()
    }

    /// The acceleration at the end of the last dynamic step, in m/s²: part of Newmark's scheme, a
    /// start for the solver in the others.
    #[must_use]
    pub fn acceleration(&self) -> Option<&Field<S, DVec3>> {
        self.acceleration.as_ref()
    }

    /// The energy account of the motion; none before the first dynamic step.
    #[must_use]
    pub fn ledger(&self) -> Option<&Ledger> {
        self.ledger.as_ref()
    }

    /// The state at rest as a pose, at its time.
    pub(crate) fn pose(&self) -> Pose<'_, S> {
        Pose { x: &self.x, own: &self.own.values, time: self.time, step: None }
    }

    /// Replaces positions and velocities, and forgets the past: multistep schemes start anew.
    pub fn set(&mut self, x: Field<S, DVec3>, v: Field<S, DVec3>) -> Result<(), SetupError> {
        x.check_len(self.x.len()).map_err(|source| SetupError::Length { what: "positions", source })?;
        *self = Self { time: self.time, ..Self::new(x, v)? };
        Ok(())
    }

    /// The end of a step. The caller has checked the numbers.
    pub(crate) fn advance(
        &mut self,
        x: Field<S, DVec3>,
        v: Field<S, DVec3>,
        own: OwnState,
        time: f64,
        Kept { previous, acceleration, ledger }: Kept<S>,
    ) {
        *self = Self { x, v, own, time, previous, acceleration, ledger };
    }
}

pub(crate) fn check_finite<S: Space>(what: &'static str, field: &Field<S, DVec3>) -> Result<(), SetupError> {
    match field.iter().find(|(_, value)| !value.is_finite()) {
        None => Ok(()),
        Some((node, value)) => {
            Err(SetupError::NotFinite { what, node: node.to_string(), value: value.to_array() })
        }
    }
}
