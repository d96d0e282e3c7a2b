//! A scene of cloth and wires, run to its end and watched.

use glam::DVec3;
use plisse::core::Positive;
use plisse::file::Loaded;
use plisse::scene::Scene;
use plisse::system::{Energies, Ledger, Pose, StepError, StepReport};

use super::energy::Energy;
use super::inside::{Path, largest_depth};
use crate::regress::progress::Progress;
use crate::regress::{Findings, Tolerance};

/// No sheet is stretched to more than this many times its length, however soft and heavy.
const LARGEST_STRETCH: f64 = 100.0;

/// What was seen of a run.
pub(super) struct Course {
    frames: u32,
    steps: usize,
    substeps: usize,
    iterations: usize,
    rejected: usize,
    ledger: Energy,
    /// The largest part of the energy in play that came from nowhere.
    unexplained: f64,
    /// At the end of the last step.
    energies: Option<Energies>,
    finite: bool,
    /// Inside obstacles after any step, m.
    deepest: f64,
    /// Steps in which a vertex went through an obstacle, with the first such vertex.
    passed: Vec<String>,
    /// After any frame: length over length at rest.
    stretch: f64,
    /// Why it stopped before its end.
    pub(super) error: Option<StepError>,
}

impl Course {
    /// Runs all frames, or the first `frames` of them, as `plisse run` does.
    pub(super) fn of(loaded: &mut Loaded, frames: Option<u32>, progress: &mut Progress) -> Self {
        let time = &loaded.file.time;
        let (duration, interval) = (time.duration.get(), 1.0 / time.frames_per_second.get());
        let total = super::frame_count(time);
        let last = frames.map_or(total, |frames| frames.min(total));
        let scene = &mut loaded.scene;
        let mut course = Self {
            frames: 0,
            steps: 0,
            substeps: 0,
            iterations: 0,
            rejected: 0,
            ledger: Energy::new(external_energy(scene)),
            unexplained: 0.0,
            energies: None,
            finite: true,
            deepest: 0.0,
            passed: Vec::new(),
            stretch: 0.0,
            error: None,
        };
        while course.frames < last && course.finite {
            // The last frame may be shorter.
            let end = (f64::from(course.frames + 1) * interval).min(duration);
            if let Err(error) = course.frame(scene, end, progress) {
                course.error = Some(error);
                break;
            }
            // A run goes on from its checkpoints alone.
            scene.forget();
            course.frames += 1;
            course.stretch = course.stretch.max(1.0 + largest_strain(scene));
        }
        course
    }

    fn frame(&mut self, scene: &mut Scene, end: f64, progress: &mut Progress) -> Result<(), StepError> {
        let Ok(rest) = Positive::new(end - scene.time()) else { return Ok(()) };
        let (steps, dt) = scene.steps_in(rest);
        for _ in 0..steps {
            let (time, before) = (scene.time(), scene.state().x().as_slice().to_vec());
            let report = scene.step_by(dt)?;
            self.add(scene, &report, time, &before);
            progress.at(|| format!("t = {:.3} s, {} iterations", scene.time(), self.iterations));
        }
        Ok(())
    }

    fn add(&mut self, scene: &Scene, report: &StepReport, time: f64, before: &[DVec3]) {
        let after = scene.state().x().as_slice();
        self.steps += 1;
        self.substeps += report.solves.len();
        self.iterations += report.iterations();
        self.rejected += report.rejected;
        self.ledger.add(&report.energies, &report.balance);
        self.unexplained = self.unexplained.max(report.unexplained);
        self.energies = Some(report.energies.clone());
        self.finite &= after.iter().all(|x| x.is_finite()) && report.energies.total().is_finite();
        self.deepest = self.deepest.max(largest_depth(scene.obstacles(), scene.time(), after));
        let times = [time, scene.time()];
        for obstacle in scene.obstacles() {
            let paths = before.iter().zip(after).map(|(a, b)| Path { times, x: [*a, *b] });
            if let Some(vertex) = paths.enumerate().find(|(_, path)| path.passes(obstacle)).map(|(i, _)| i) {
                let name = obstacle.name().unwrap_or("an obstacle");
                self.passed.push(format!("vertex {vertex} went through {name} at t = {:.4} s", scene.time()));
            }
        }
    }

    /// The rules for a run that came to its end.
    pub(super) fn judge(&self, findings: &mut Findings) {
        println!(
            "  deepest {:.3} mm, gain {:.3} % of {:.4} J, stretch {:.3}",
            1e3 * self.deepest,
            100.0 * self.unexplained,
            self.ledger.scale(),
            self.stretch
        );
        self.passed.iter().for_each(|what| println!("  {what}"));
        findings
            .require("all positions and energies are finite", self.finite)
            .require("no vertex goes through an obstacle", self.passed.is_empty())
            .require("no vertex is inside of an obstacle", self.deepest == 0.0)
            .require(
                format!("at most {} % of the energies in play come from nowhere", 100.0 * Ledger::LIMIT),
                self.unexplained <= Ledger::LIMIT,
            )
            .require(format!("no stretch beyond {LARGEST_STRETCH}"), self.stretch < LARGEST_STRETCH);
    }

    /// The figures of a run that came to its end.
    ///
    /// How much each may change depends on whether the motion is chaotic: folds that buckle one way
    /// or the other in the last digit end in other places, with nearly the same energies.
    pub(super) fn describe(&self, scene: &Scene, chaotic: bool, findings: &mut Findings) {
        let pick = |calm: Tolerance, wild: Tolerance| if chaotic { wild } else { calm };
        findings
            .figure("vertices", scene.state().x().len() as f64, Tolerance::Exact)
            .figure("frames", f64::from(self.frames), Tolerance::Exact)
            .figure("steps", self.steps as f64, Tolerance::Exact);
        // Counts of the solver depend on rounding where a step is nearly rejected, or nearly
        // converged.
        let effort = pick(Tolerance::Either(0.05, 5.0), Tolerance::Either(0.2, 20.0));
        findings
            .figure("substeps", self.substeps as f64, effort)
            .figure(
                "rejected substeps",
                self.rejected as f64,
                pick(Tolerance::Absolute(5.0), Tolerance::Either(0.5, 20.0)),
            )
            .figure("Newton iterations", self.iterations as f64, effort);
        let energies = self.energies.clone().unwrap_or_default();
        let percent = |energy: f64| 100.0 * energy / self.ledger.scale();
        let part = pick(Tolerance::Absolute(0.2), Tolerance::Absolute(5.0));
        findings
            .figure(
                "energies in play (J)",
                self.ledger.scale(),
                pick(Tolerance::Relative(0.01), Tolerance::Relative(0.05)),
            )
            .figure("kinetic energy at the end (% of these)", percent(energies.kinetic), part)
            .figure("elastic energy at the end (%)", percent(energies.elastic()), part)
            .figure("lost by the scheme in all (%)", percent(self.ledger.numerical()), part)
            .figure("largest gain from nowhere (%)", 100.0 * self.unexplained, Tolerance::Absolute(1.0))
            .figure(
                "deepest in an obstacle (mm)",
                1e3 * self.deepest,
                pick(Tolerance::Either(0.1, 0.05), Tolerance::Either(0.3, 0.3)),
            );
        let corners = scene
            .state()
            .x()
            .as_slice()
            .iter()
            .fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[low, high], x| [low.min(*x), high.max(*x)]);
        // A patch of yarns is a few centimetres large.
        let part = if (corners[1] - corners[0]).length() < 0.1 { 0.1 } else { 1.0 };
        let place = pick(Tolerance::Absolute(0.005 * part), Tolerance::Absolute(0.05 * part));
        for (name, corner) in ["lowest", "highest"].into_iter().zip(corners) {
            for (axis, value) in ["x", "y", "z"].into_iter().zip(corner.to_array()) {
                findings.figure(format!("{name} {axis} at the end (m)"), value, place);
            }
        }
    }
}

fn external_energy(scene: &Scene) -> f64 {
    let pose = Pose::at(scene.state().x());
    let terms = scene.system().energies(&pose);
    Energies { kinetic: 0.0, terms }.external()
}

/// Largest principal strain of all bodies; zero at rest.
fn largest_strain(scene: &Scene) -> f64 {
    scene.bodies().iter().flat_map(|body| scene.strain(body)).fold(0.0, f64::max)
}
