//! `plisse run` and `plisse resume`: frame after frame, each with a checkpoint.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use plisse::core::Positive;
use plisse::file::{AnyScene, Loaded};
use plisse::io::scene_file::Kept;
use serde_json::{Value, json};

use crate::arguments::{ResumeOptions, RunOptions, Talk};
use crate::error::Failure;
use crate::export;
use crate::folder::{Folder, New, embedded as embedded_scene};
use crate::live::Live;
use crate::progress::{Progress, complain, print, printed, say, suspect, warn};
use crate::report::Report;
use crate::wrinkle_run;

/// Runs the scene that is built in.
pub(crate) fn embedded(talk: &Talk) -> Result<(), Failure> {
    let folder = Folder::numbered(Path::new("out/default"))?;
    let root = folder.root.display();
    say(talk, &format!("running the built-in scene in {root}; `plisse --help` tells what else there is"));
    let new = New { scene: None, inputs: &[], force: false, resumable: true };
    begin(embedded_scene()?, &folder, &new, None, talk)
}

pub(crate) fn start(options: &RunOptions, talk: &Talk) -> Result<(), Failure> {
    let scene = AnyScene::read(&options.scene)?;
    suspect(talk, None, scene.warnings());
    let stem = options.scene.file_stem().map_or("scene".into(), |stem| stem.to_string_lossy());
    let root = options.out.clone().unwrap_or_else(|| PathBuf::from("out").join(stem.as_ref()));
    let folder = Folder::new(root);
    let scene_path = Some(options.scene.as_path());
    match scene {
        AnyScene::Elastic(loaded) => {
            let inputs = loaded.inputs.clone();
            let new = New { scene: scene_path, inputs: &inputs, force: options.force, resumable: true };
            begin(*loaded, &folder, &new, options.stop_after, talk)
        }
        AnyScene::Wrinkle(loaded) => {
            wrinkle_run::can_stop(&loaded, options.stop_after)?;
            let inputs = &loaded.inputs;
            folder.take(&New { scene: scene_path, inputs, force: options.force, resumable: false })?;
            wrinkle_run::go(*loaded, &folder, options.stop_after, talk)
        }
    }
}

fn begin(
    loaded: Loaded,
    folder: &Folder,
    new: &New<'_>,
    stop_after: Option<u32>,
    talk: &Talk,
) -> Result<(), Failure> {
    folder.take(new)?;
    let mut run = Run { loaded, folder, talk, report: Report::default(), frame: 0, live: None };
    run.save(0)?;
    run.go(stop_after)
}

pub(crate) fn resume(options: &ResumeOptions, talk: &Talk) -> Result<(), Failure> {
    let folder = Folder::new(&options.folder);
    let (mut loaded, scene) = folder.scene()?;
    folder.is_of_this_version()?;
    folder.is_plain()?;
    folder.spare(scene.as_deref(), &loaded.inputs)?;
    let frames = folder.frames();
    let wanted = options.from.or(frames.last().copied());
    let frame = wanted.filter(|frame| frames.contains(frame)).ok_or_else(|| {
        let known: Vec<String> = frames.iter().map(u32::to_string).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Failure::Input(format!("{}: no such checkpoint; there are: {known}", folder.root.display()))
    })?;
    let checkpoint =
        folder.load(frame, &loaded).map_err(|failure| last_good(&folder, &loaded, frame, failure))?;
    same_rate(&folder, &loaded, frame, checkpoint.state.time())?;
    let mut report = Report::read(&folder.report(), frame, checkpoint.state.time())?;
    loaded.scene.set_state(checkpoint.state).map_err(Failure::Step)?;
    say(talk, &format!("going on from frame {frame}, t = {:.3} s", loaded.scene.time()));
    folder.begin(scene.as_deref())?;
    folder.reopen()?;
    report.restart(&folder.report())?;
    // Last, so that nothing is lost where nothing can be written. An earlier run may have gone on
    // until now.
    for later in folder.frames().into_iter().filter(|later| *later > frame) {
        folder.discard(later);
    }
    Run { loaded, folder: &folder, talk, report, frame, live: None }.go(options.stop_after)
}

/// Refuses to go on from a frame that is not where the scene has it now: frames of one run have one
/// rate, and only the last may be shorter.
fn same_rate(folder: &Folder, loaded: &Loaded, frame: u32, time: f64) -> Result<(), Failure> {
    let (duration, rate) = (loaded.file.time.duration.get(), loaded.file.time.frames_per_second.get());
    // Times are sums of steps, whose rounding errors are far less than this part of a frame.
    let fits = |frame: u32, time: f64| (time * rate - f64::from(frame)).abs() <= 1e-6;
    let is_last = frame >= frame_count(duration, 1.0 / rate) && time >= duration * (1.0 - 1e-9);
    if fits(frame, time) || is_last {
        return Ok(());
    }
    let found = format!(
        "frame {frame} of this run ends at t = {time:.6} s, with {rate} frames per second it would end at t = {:.6} s",
        f64::from(frame) / rate
    );
    let before = frame.saturating_sub(1);
    let cut = folder.load(before, loaded).is_ok_and(|earlier| fits(before, earlier.state.time()));
    Err(Failure::Input(if cut && before > 0 {
        format!(
            "{found}: the end of an earlier duration has cut it short. Go on from the frame before with:\n  \
             plisse resume \"{}\" --from {before}",
            folder.root.display()
        )
    } else {
        format!(
            "{found}: the rate of frames cannot change within a run. Set frames_per_second back to what it was, {:.6} if this \
             frame was a whole one, or start a new run in another folder",
            f64::from(frame) / time
        )
    }))
}

/// Adds to a failure from which frame one can go on instead.
fn last_good(folder: &Folder, loaded: &Loaded, frame: u32, failure: Failure) -> Failure {
    if matches!(failure, Failure::OtherScene { .. }) {
        return failure;
    }
    let earlier = folder.frames().into_iter().filter(|earlier| *earlier < frame);
    let good = earlier.rev().find(|earlier| folder.load(*earlier, loaded).is_ok());
    let root = folder.root.display();
    Failure::Input(match good {
        Some(good) => format!(
            "{failure}. The last good checkpoint before it is of frame {good}; go on from there with:\n  \
             plisse resume \"{root}\" --from {good}"
        ),
        None => format!("{failure}. No checkpoint before it is good; run the scene again"),
    })
}

struct Run<'a> {
    loaded: Loaded,
    folder: &'a Folder,
    talk: &'a Talk,
    report: Report,
    /// Last frame that is done.
    frame: u32,
    /// Pictures while it runs.
    live: Option<Live>,
}

/// How a frame ended.
enum Frame {
    Done,
    Interrupted,
}

impl Run<'_> {
    /// All frames that are left, then everything that is made of them.
    fn go(&mut self, stop_after: Option<u32>) -> Result<(), Failure> {
        let duration = self.loaded.file.time.duration.get();
        let interval = 1.0 / self.loaded.file.time.frames_per_second.get();
        let total = frame_count(duration, interval);
        let last = stop_after.map_or(total, |stop| stop.min(total));
        let interrupted = interrupt_flag();
        self.live = Live::new(&self.loaded, self.folder, self.frame, last)?;
        if self.frame == 0 {
            self.take_picture()?;
        }
        let mut progress = Progress::new(self.talk, "frame", self.frame, last);
        let started = Instant::now();
        while self.frame < last {
            // The last frame may be shorter.
            let end = (f64::from(self.frame + 1) * interval).min(duration);
            match self.next_frame(end, &progress, &interrupted) {
                Ok(Frame::Done) => {
                    if let Err(failure) = self.take_picture() {
                        progress.finish();
                        return self.failed(failure, &interrupted);
                    }
                    progress.done(self.frame, "frame");
                }
                Ok(Frame::Interrupted) => {
                    progress.finish();
                    return self.interrupted();
                }
                Err(failure) => {
                    progress.finish();
                    return self.failed(failure, &interrupted);
                }
            }
        }
        progress.finish();
        let seconds = started.elapsed().as_secs_f64();
        say(self.talk, &format!("simulated to t = {:.3} s in {seconds:.1} s", self.loaded.scene.time()));
        let summary = self.report.summary();
        if let Some(line) = summary.line() {
            say(self.talk, &line);
        }
        for warning in summary.warnings() {
            warn(&warning);
        }
        // Only what was tangled at the start can cross at the end.
        let left = self.loaded.scene.crossings().forbidden;
        if let Some(first) = left.first() {
            warn(&format!("{} pairs of triangles cross still, the first {first}", left.len()));
        }
        let made = match self.export(&interrupted) {
            Ok(made) => made,
            Err(failure) => return self.failed(failure, &interrupted),
        };
        self.end(&json!({
            "outcome": if self.frame >= total { "finished" } else { "stopped" },
            "frame": self.frame,
            "frames": total,
            "time": self.loaded.scene.time(),
            "summary": self.report.summary().to_json(),
        }))?;
        say(self.talk, &format!("results in {}:\n{made}", self.folder.root.display()));
        Ok(())
    }

    /// The picture of the last frame that is done, if one is taken while it runs.
    fn take_picture(&mut self) -> Result<(), Failure> {
        let Some(live) = &mut self.live else { return Ok(()) };
        self.folder.still_ours()?;
        live.take(self.frame, &self.loaded)
    }

    /// The plot, and everything that is made of checkpoints.
    fn export(&mut self, interrupted: &AtomicBool) -> Result<String, Failure> {
        self.folder.still_ours()?;
        let title = self.loaded.file.title.as_deref().unwrap_or_default();
        self.report.plot(title).write_svg(&self.folder.root.join("energies.svg"))?;
        let taken = self.live.take().map(Live::finish).transpose()?.flatten();
        export::export(&self.loaded, self.folder, self.talk, interrupted, taken)
    }

    fn next_frame(
        &mut self,
        end: f64,
        progress: &Progress,
        interrupted: &AtomicBool,
    ) -> Result<Frame, Failure> {
        let frame = self.frame + 1;
        let start = self.loaded.scene.time();
        let bad = |_| Failure::Input(format!("frame {frame} would have no length"));
        let (steps, dt) = self.loaded.scene.steps_in(Positive::new(end - start).map_err(bad)?);
        for _ in 0..steps {
            if interrupted.load(Ordering::Relaxed) {
                return Ok(Frame::Interrupted);
            }
            let clock = Instant::now();
            let step = self.loaded.scene.step_by(dt)?;
            let time = self.loaded.scene.time();
            let ends = self.loaded.scene.yarn_events();
            let line = self.report.add(frame, time, &step, &ends, clock.elapsed().as_secs_f64());
            if self.talk.json {
                print(&line);
                printed()?;
            }
            progress.step(time, &step);
        }
        self.save(frame)?;
        Ok(Frame::Done)
    }

    /// Writes the checkpoint of a frame, after its part of the report: a frame without report could
    /// not be mended. What follows depends on the checkpoint alone, whether the run goes on or is
    /// resumed.
    fn save(&mut self, frame: u32) -> Result<(), Failure> {
        self.folder.still_ours()?;
        self.report.write(&self.folder.report())?;
        self.folder.save(&self.loaded.scene.checkpoint(frame, self.loaded.tag))?;
        if self.loaded.file.output.checkpoints == Kept::Last && frame > 1 {
            self.folder.discard(frame - 1);
        }
        self.frame = frame;
        Ok(())
    }

    /// Writes down how it ended, and says it to machines.
    fn end(&self, outcome: &Value) -> Result<(), Failure> {
        if self.talk.json {
            print(&outcome.to_string());
        }
        self.folder.still_ours()?;
        self.folder.end(outcome)
    }

    fn interrupted(&mut self) -> Result<(), Failure> {
        self.report.drop_frame();
        self.end(&json!({ "outcome": "interrupted", "frame": self.frame }))?;
        let folder = self.folder.root.display();
        say(
            self.talk,
            &format!("interrupted; frame {} is saved. Go on with:\n  plisse resume \"{folder}\"", self.frame),
        );
        Err(Failure::Interrupted)
    }

    fn failed(&mut self, failure: Failure, interrupted: &AtomicBool) -> Result<(), Failure> {
        self.report.drop_frame();
        // What was simulated until then shows best what went wrong.
        if matches!(failure, Failure::Step(_))
            && let Ok(made) = self.export(interrupted)
        {
            let (frame, root) = (self.frame, self.folder.root.display());
            say(self.talk, &format!("results up to frame {frame} in {root}:\n{made}"));
        }
        // The first failure is the one to tell; that of writing down the outcome would hide it.
        let outcome = match failure {
            Failure::Step(_) => "not converged",
            Failure::Interrupted => "interrupted",
            _ => "failed",
        };
        if self.folder.still_ours().is_err() {
            return Err(failure);
        }
        _ = self.end(&json!({
            "outcome": outcome,
            "frame": self.frame,
            "time": self.loaded.scene.time(),
            "reason": failure.to_string(),
            "summary": self.report.summary().to_json(),
        }));
        Err(failure)
    }
}

/// Frames until the end, the last one perhaps shorter.
pub(crate) fn frame_count(duration: f64, interval: f64) -> u32 {
    // A duration that is a whole number of frames up to rounding has that many.
    (duration / interval * (1.0 - 1e-9)).ceil().clamp(1.0, 1e6) as u32
}

/// Set by the first Ctrl-C, or when the system asks the program to end; the second time it ends at
/// once.
pub(crate) fn interrupt_flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let shared = Arc::clone(&flag);
    let result = ctrlc::set_handler(move || {
        if shared.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        complain("\nstopping after this step; once more to stop at once");
    });
    if result.is_err() {
        complain("plisse: Ctrl-C will end this run without a word; checkpoints are written all the same");
    }
    flag
}

#[cfg(test)]
mod tests {
    use super::frame_count;

    #[test]
    fn frames_fit_the_duration() {
        assert_eq!(frame_count(1.0, 0.04), 25);
        assert_eq!(frame_count(1.0, 1.0 / 3.0), 3);
        assert_eq!(frame_count(1.01, 0.04), 26);
        assert_eq!(frame_count(0.01, 0.04), 1);
    }
}
