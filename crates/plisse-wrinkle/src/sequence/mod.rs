//! Wrinkles on a base that moves: each frame continues the one before.

mod choice;
mod settings;

use plisse_core::{Edges, Faces, Field, TriangleMap, Vertices};

use crate::error::{WrinkleError, fits};
use crate::phase::{
    Phase, PhaseFaces, PhaseOptions, PhaseProblem, PhaseStep, omega_before, phase_step, recover_phase,
    recover_phase_following, recover_phase_keeping, waves_before,
};
use crate::solver::{
    Periods, WrinkleEnd, WrinkleField, WrinkleProblem, WrinkleSettings, solve_wrinkles, solve_wrinkles_from,
};

use choice::{Choice, Components};
pub use settings::SequenceSettings;

/// Wrinkles on one base after the other, without popping.
///
/// The number of waves around a loop is whole. When it changes between two frames, the difference
/// of both phases winds around that loop and takes the value π somewhere: there crests become
/// troughs at once, unless the amplitude vanishes. No choice of phases avoids that, only keeping
/// the numbers does. Each frame is therefore solved with the [periods held](Periods::Held) at those
/// of the frame before, starting from its amplitudes and frequencies, and also without, from there
/// and from the usual starts. The held answer stays while it costs little
/// ([`SequenceSettings::snap`]); else the numbers of the free one are taken, and
/// [`FrameChange::waves`] tells. So real sheets behave, too: their waves change in number later
/// than the energy alone would have it.
///
/// Per component of the faces that may wrinkle; components and loops that did not exist before take
/// the numbers of least cost. Signs and shifts of the phase follow as in
/// [`recover_phase_following`](crate::recover_phase_following).
///
/// The same input gives the same bits.
///
/// ```
/// use plisse_wrinkle::{
///     BaseSettings, BaseSheet, Curvature, FreeRule, SequenceSettings, WrinkleProblem, WrinkleSequence, beds,
/// };
///
/// // A cylinder whose ends are turned against each other, a little more in the second frame.
/// let mut sequence = WrinkleSequence::new(SequenceSettings::default())?;
/// let mut waves = Vec::new();
/// for degrees in [3.5, 4.0] {
///     let bed = beds::twisted_cylinder(degrees, 20, 1)?;
///     let x = bed.problem.solve(&bed.start, &BaseSettings::default())?.x;
///     let sheet = BaseSheet::new(bed.problem.mesh(), bed.problem.rest(), &x, bed.problem.sheet(), Curvature::default())?;
///     let frame = sequence.next_frame(&WrinkleProblem::new(sheet, FreeRule::default())?, bed.problem.rest())?;
///     if let Some(change) = frame.change {
///         assert!(change.waves.is_empty() && change.step.is_some_and(|step| step.largest < 0.5));
///     }
///     waves.push(frame.phase.waves);
/// }
/// assert_eq!(waves[0], waves[1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct WrinkleSequence {
    settings: SequenceSettings,
    last: Option<Last>,
}

/// What the next frame continues.
#[derive(Clone, Debug)]
struct Last {
    amplitude: Field<Vertices, f64>,
    /// As it was returned.
    phase: Phase,
    /// On all faces that may wrinkle, those that nobody sees included: its waves are those of the
    /// solver's generators.
    whole: Phase,
}

/// The wrinkles of one frame.
#[derive(Clone, Debug)]
pub struct SequenceFrame {
    /// Amplitudes and frequencies. From the second frame on, and in a first one with
    /// [`SequenceSettings::rounded`], its periods are whole turns.
    pub field: WrinkleField,
    /// The phase, on the faces that [`SequenceSettings::phase`] says.
    pub phase: Phase,
    /// What has happened since the frame before; `None` in the first frame.
    pub change: Option<FrameChange>,
    /// Newton steps of all solves for this frame.
    pub steps: usize,
}

/// What has happened from one frame to the next.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameChange {
    /// Whether every component continues the field before. `false` if on some of them another one
    /// was so much better that it was taken, with the same numbers of waves or others.
    pub continued: bool,
    /// Where the number of waves has changed: the surface jumps there, if the wrinkles are seen all
    /// around the loop. Empty most of the time.
    pub waves: Vec<WaveChange>,
    /// Energy in J that could be gained by giving the whole numbers of waves up. Slightly negative
    /// where the continued field is the best one known.
    pub cost: f64,
    /// The same as a part of the bending energy of the waves, or of what wrinkling gains in all if
    /// that is less: the measure of [`SequenceSettings::snap`], here over all components. A number
    /// of waves that is off by the factor `r` costs about `(r - 1/r)²`. Zero without wrinkles.
    pub relative_cost: f64,
    /// How far the phase has moved; `None` if nothing is visible in both frames.
    pub step: Option<PhaseStep>,
}

/// A number of waves that has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaveChange {
    /// The generator of the faces that may wrinkle ([`WrinkleProblem::complex`]) around whose loop
    /// waves are counted.
    pub generator: usize,
    /// Turns around it in the frame before.
    pub before: i64,
    /// Turns now.
    pub now: i64,
}

impl WrinkleSequence {
    /// A sequence before its first frame.
    ///
    /// # Errors
    /// [`WrinkleError::Setting`] for settings out of range, [`WrinkleError::HeldPeriods`] if those
    /// of the solver ask for held periods.
    pub fn new(settings: SequenceSettings) -> Result<Self, WrinkleError> {
        settings.check()?;
        Ok(Self { settings, last: None })
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &SequenceSettings {
        &self.settings
    }

    /// Solves the next frame. `rest` is the rest shape that the sheet of the problem was made with.
    /// Between frames the base should move by little compared with the length of a wave; nothing
    /// else is asked: faces may come and go.
    ///
    /// On error the next frame continues what this one should have continued.
    ///
    /// # Errors
    /// [`WrinkleError::NotConverged`] if the field that was chosen does not meet the tolerance,
    /// [`WrinkleError::TooHigh`] for amplitudes that the sheet has no material for,
    /// [`WrinkleError::Length`] for a base with another mesh than that of the frames before, and
    /// whatever solver and phase report.
    pub fn next_frame(
        &mut self,
        problem: &WrinkleProblem,
        rest: &Field<Faces, TriangleMap>,
    ) -> Result<SequenceFrame, WrinkleError> {
        let on = Frame { problem, rest, free: problem.kept().map(|kept| !kept), settings: &self.settings };
        let (frame, whole) = match &self.last {
            None => on.first()?,
            Some(last) => on.following(last)?,
        };
        self.is_trustworthy(problem, &frame.field)?;
        let (amplitude, phase) = (frame.field.amplitude.clone(), frame.phase.clone());
        self.last = Some(Last { amplitude, phase, whole });
        Ok(frame)
    }

    /// That a field is a minimum that a sheet can have.
    fn is_trustworthy(&self, problem: &WrinkleProblem, field: &WrinkleField) -> Result<(), WrinkleError> {
        problem.sheet().check_amplitudes(&field.amplitude)?;
        if field.report.converged() {
            return Ok(());
        }
        // Without a chosen run every one ended with numbers that are not finite.
        let run = field.report.run().or(field.report.runs.last());
        Err(WrinkleError::NotConverged {
            end: run.map_or(WrinkleEnd::NotFinite, |run| run.end),
            iterations: run.map_or(0, |run| run.iterations.len()),
            residual: run.map_or(f64::INFINITY, |run| run.kkt.relative),
            tolerance: self.settings.wrinkles.tolerance,
            amplitude: field.amplitude.as_slice().iter().fold(0.0, |most: f64, a| most.max(*a)),
        })
    }
}

/// One frame and how it is solved.
struct Frame<'a> {
    problem: &'a WrinkleProblem,
    rest: &'a Field<Faces, TriangleMap>,
    free: Field<Faces, bool>,
    settings: &'a SequenceSettings,
}

impl Frame<'_> {
    fn first(&self) -> Result<(SequenceFrame, Phase), WrinkleError> {
        let mut field = solve_wrinkles(self.problem, &self.settings.wrinkles)?;
        let mut steps = steps(&field);
        if self.settings.rounded && !field.periods.is_empty() && !field.report.is_trivial() {
            let whole = recover_phase(&self.seen(&field.amplitude, &field.omega), &self.everywhere())?;
            field = self.held(&field.amplitude, &whole.omega)?;
            steps += self::steps(&field);
        }
        let seen = self.seen(&field.amplitude, &field.omega);
        let phase = recover_phase(&seen, &self.settings.phase)?;
        let whole = recover_phase_keeping(&phase, &seen, &self.everywhere())?;
        Ok((SequenceFrame { field, phase, change: None, steps }, whole))
    }

    fn following(&self, last: &Last) -> Result<(SequenceFrame, Phase), WrinkleError> {
        let mesh = self.problem.sheet().mesh();
        fits("amplitudes of the frame before", &last.amplitude, mesh.vertex_count())?;
        let anew = solve_wrinkles(self.problem, &self.settings.wrinkles)?;
        let kept = self.kept(last, &anew)?;
        let released =
            solve_wrinkles_from(self.problem, &kept.amplitude, &kept.omega, &self.settings.wrinkles)?;
        let mut steps = steps(&anew) + steps(&kept) + steps(&released);

        let components = Components::new(self.problem);
        let choices = components.choose([&kept, &released, &anew], self.settings.snap);
        let best = components.lowest([&kept, &released, &anew]);
        let continued = choices.iter().all(|choice| *choice != Choice::Anew);
        let field = if choices.iter().all(|choice| *choice == Choice::Kept) {
            kept
        } else {
            let [released_whole, anew_whole] = [&released, &anew].map(|field| {
                let seen = self.seen(&field.amplitude, &field.omega);
                recover_phase_following(&last.whole, &seen, &self.everywhere())
            });
            let whole = [&kept.omega, &released_whole?.omega, &anew_whole?.omega];
            let amplitudes = [&kept.amplitude, &released.amplitude, &anew.amplitude];
            let (amplitude, omega) = components.compose(&choices, amplitudes, whole);
            let field = self.held(&amplitude, &omega)?;
            steps += self::steps(&field);
            field
        };

        let seen = self.seen(&field.amplitude, &field.omega);
        let phase = recover_phase_following(&last.phase, &seen, &self.settings.phase)?;
        let whole = recover_phase_following(&last.whole, &seen, &self.everywhere())?;
        let before = waves_before(&last.whole, &whole);
        let waves = before.iter().zip(&whole.waves).enumerate();
        let waves = waves.filter_map(|(generator, (before, &now))| {
            before.filter(|before| *before != now).map(|before| WaveChange { generator, before, now })
        });
        let cost = field.report.terms.total() - best.energy;
        let change = FrameChange {
            continued,
            waves: waves.collect(),
            cost,
            relative_cost: if best.scale() > 0.0 { cost / best.scale() } else { 0.0 },
            step: phase_step(
                mesh,
                self.rest,
                (&last.phase.field, &last.amplitude),
                (&phase.field, &field.amplitude),
            )?,
        };
        Ok((SequenceFrame { field, phase, change: Some(change), steps }, whole))
    }

    /// The field of before on the base of now, with its numbers of waves. What is new starts as in
    /// `anew`.
    fn kept(&self, last: &Last, anew: &WrinkleField) -> Result<WrinkleField, WrinkleError> {
        // Zero is a saddle of the energy: from there amplitudes would not grow where the sheet
        // begins to wrinkle.
        let amplitude = Field::from_fn(last.amplitude.len(), |v| {
            if last.amplitude[v] > 0.0 { last.amplitude[v] } else { anew.amplitude[v] }
        });
        let omega = omega_before(&last.whole, &self.seen(&amplitude, &anew.omega), &self.everywhere())?;
        let whole = recover_phase_keeping(&last.whole, &self.seen(&amplitude, &omega), &self.everywhere())?;
        self.held(&amplitude, &whole.omega)
    }

    /// Solves with the periods of these frequencies.
    fn held(
        &self,
        amplitude: &Field<Vertices, f64>,
        omega: &Field<Edges, f64>,
    ) -> Result<WrinkleField, WrinkleError> {
        let settings = WrinkleSettings { periods: Periods::Held, ..self.settings.wrinkles.clone() };
        solve_wrinkles_from(self.problem, amplitude, omega, &settings)
    }

    fn seen<'b>(
        &'b self,
        amplitude: &'b Field<Vertices, f64>,
        omega: &'b Field<Edges, f64>,
    ) -> PhaseProblem<'b> {
        PhaseProblem {
            mesh: self.problem.sheet().mesh(),
            rest: self.rest,
            amplitude,
            omega,
            free: &self.free,
        }
    }

    /// For phases whose generators are those of the solver.
    fn everywhere(&self) -> PhaseOptions {
        PhaseOptions { faces: PhaseFaces::Wrinkling, ..self.settings.phase }
    }
}

fn steps(field: &WrinkleField) -> usize {
    field.report.runs.iter().map(|run| run.iterations.len()).sum()
}
