//! `plisse run` of scenes with `model = "wrinkle"`: frames without checkpoints, each with its line
//! of the report.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use plisse::file::LoadedWrinkle;
use plisse::io::scene_file::WavesFromName;
use plisse::io::{ObjPart, ObjSource, append, write_obj};
use plisse::scene::{WrinkleBase, WrinkleFrame};
use plisse::wrinkle::{Kkt, WaveChange, WrinkleRun, WrinkledSurface};
use serde_json::{Value, json};

use crate::arguments::Talk;
use crate::error::Failure;
use crate::export::{chosen, pictures_made};
use crate::folder::{Folder, frame_name};
use crate::picture::{Bounds, View};
use crate::progress::{Progress, print, printed, say, warn};
use crate::reel::Reel;
use crate::run::{frame_count, interrupt_flag};

/// All frames, then the pictures: these share a camera and a range of colours.
pub(crate) fn go(
    loaded: LoadedWrinkle,
    folder: &Folder,
    stop_after: Option<u32>,
    talk: &Talk,
) -> Result<(), Failure> {
    let interrupted = interrupt_flag();
    let time = &loaded.file.time;
    let (duration, interval) = (time.duration.get(), 1.0 / time.frames_per_second.get());
    let total = frame_count(duration, interval);
    let last = stop_after.map_or(total, |stop| stop.min(total));
    let mut run = Run { loaded, folder, talk, frames: Vec::new() };
    let started = Instant::now();
    let result = run.frames(last, duration, interval, &interrupted).and_then(|()| {
        let seconds = started.elapsed().as_secs_f64();
        say(talk, &format!("{last} frames in {seconds:.1} s"));
        folder.is_plain()?;
        run.pictures(&interrupted)
    });
    let done = run.frames.len() as u32;
    let outcome = match &result {
        Ok(()) if done >= total => json!({ "outcome": "finished", "frame": done, "frames": total }),
        Ok(()) => json!({ "outcome": "stopped", "frame": done, "frames": total }),
        Err(Failure::Interrupted) => json!({ "outcome": "interrupted", "frame": done }),
        Err(failure @ Failure::WrinkleFrame { .. }) => {
            json!({ "outcome": "not converged", "frame": done, "reason": failure.to_string() })
        }
        Err(failure) => json!({ "outcome": "failed", "frame": done, "reason": failure.to_string() }),
    };
    if folder.still_ours().is_ok() {
        if talk.json {
            print(&outcome.to_string());
        }
        let written = folder.end(&outcome);
        // The first failure is the one to tell.
        result?;
        written?;
    } else {
        result?;
    }
    say(talk, &format!("results in {}:\n{}", folder.root.display(), run.made()));
    Ok(())
}

/// Whether frames are solved from the last to the first.
fn is_backwards(loaded: &LoadedWrinkle) -> bool {
    loaded.file.wrinkle.as_ref().is_some_and(|table| table.waves_from == WavesFromName::Last)
}

/// Refuses to stop a run before the frame that its numbers of waves come from.
pub(crate) fn can_stop(loaded: &LoadedWrinkle, stop_after: Option<u32>) -> Result<(), Failure> {
    match stop_after {
        Some(stop) if is_backwards(loaded) => Err(Failure::Input(format!(
            "--stop-after {stop}: this scene takes its numbers of waves from the last frame (waves_from = \"last\"); run all of it, or set waves_from = \"first\""
        ))),
        _ => Ok(()),
    }
}

struct Run<'a> {
    loaded: LoadedWrinkle,
    folder: &'a Folder,
    talk: &'a Talk,
    /// The coarse results of all frames; surfaces are made when they are needed.
    frames: Vec<WrinkleFrame>,
}

/// What a frame is made from.
enum Source {
    /// The base is yet to be found, at this time.
    Time(f64),
    /// A base, and how long it took.
    Base(Box<WrinkleBase>, Duration),
}

impl Run<'_> {
    fn frames(
        &mut self,
        last: u32,
        duration: f64,
        interval: f64,
        interrupted: &AtomicBool,
    ) -> Result<(), Failure> {
        let times = (1..=last).map(|frame| (frame, (f64::from(frame) * interval).min(duration)));
        let backwards = is_backwards(&self.loaded);
        let todo: Vec<(u32, Source)> = if backwards {
            // Bases follow the loads in the order of time; wrinkles follow the last of them.
            self.bases(&times.collect::<Vec<_>>(), interrupted)?.into_iter().rev().collect()
        } else {
            times.map(|(frame, time)| (frame, Source::Time(time))).collect()
        };
        let mut progress = Progress::new(self.talk, "frame", 0, last);
        for (count, (frame, source)) in (1..).zip(todo) {
            let text = self.next_frame(frame, source, interrupted).inspect_err(|_| progress.finish())?;
            progress.message(text);
            progress.done(count, "frame");
        }
        progress.finish();
        if backwards {
            self.frames.reverse();
        }
        let all: Vec<u32> = (1..=last).collect();
        if let Some(text) = doubtful(&self.frames) {
            warn(&text);
        }
        for (frame, found) in (1..).zip(&self.frames) {
            let before = if backwards { frame + 1 } else { frame - 1 };
            for change in found.change.iter().flat_map(|change| &change.waves) {
                say(self.talk, &jumps(frame, before, change));
            }
        }
        for frame in chosen(&all, self.loaded.file.output.meshes) {
            let surface = self.surface(frame)?;
            self.mesh(frame, &surface)?;
        }
        Ok(())
    }

    /// All bases, without wrinkles.
    fn bases(
        &mut self,
        times: &[(u32, f64)],
        interrupted: &AtomicBool,
    ) -> Result<Vec<(u32, Source)>, Failure> {
        let mut progress = Progress::new(self.talk, "base", 0, times.len() as u32);
        let mut bases = Vec::with_capacity(times.len());
        for &(frame, time) in times {
            self.go_on(interrupted).inspect_err(|_| progress.finish())?;
            let clock = Instant::now();
            let base = self.loaded.scene.next_base(time).map_err(|source| {
                progress.finish();
                Failure::WrinkleFrame { frame, source }
            })?;
            bases.push((frame, Source::Base(Box::new(base), clock.elapsed())));
            progress.done(frame, "base");
        }
        progress.finish();
        Ok(bases)
    }

    /// Computes a frame and adds its line to the report; gives a word about it.
    fn next_frame(
        &mut self,
        frame: u32,
        source: Source,
        interrupted: &AtomicBool,
    ) -> Result<String, Failure> {
        self.go_on(interrupted)?;
        self.folder.still_ours()?;
        let clock = Instant::now();
        let fail = |source| Failure::WrinkleFrame { frame, source };
        let (found, earlier) = match source {
            Source::Time(time) => (self.loaded.scene.next_frame(time), Duration::ZERO),
            Source::Base(base, earlier) => (self.loaded.scene.wrinkles_on(*base), earlier),
        };
        let found = found.map_err(fail)?;
        let surface = self.loaded.scene.surface(&found).map_err(fail)?;
        let seconds = (earlier + clock.elapsed()).as_secs_f64();
        let penetration = self.loaded.scene.penetration(&found);
        if penetration > self.loaded.scene.sheet().thickness() {
            warn(&format!(
                "frame {frame}: the base is up to {:.3} mm inside of an obstacle; make its contact stiffer",
                1e3 * penetration
            ));
        }
        if surface.stuck > 0 {
            warn(&format!(
                "frame {frame}: {} vertices of the surface stay closer to an obstacle than half a thickness; take a finer base, or \
                 an obstacle that the base is farther from",
                surface.stuck
            ));
        }
        let mut line = line(frame, &found, &surface, seconds);
        line["penetration"] = json!(penetration);
        let line = line.to_string();
        append(&self.folder.report(), format!("{line}\n").as_bytes())?;
        if self.talk.json {
            print(&line);
            printed()?;
        }
        let text = format!("t = {:.3} s, amplitude {:.2e} m,", found.time, found.largest_amplitude());
        self.frames.push(found);
        Ok(text)
    }

    fn surface(&self, frame: u32) -> Result<WrinkledSurface, Failure> {
        let fail = |source| Failure::WrinkleFrame { frame, source };
        self.loaded.scene.surface(&self.frames[frame as usize - 1]).map_err(fail)
    }

    fn mesh(&self, frame: u32, surface: &WrinkledSurface) -> Result<(), Failure> {
        let faces: Vec<[u32; 3]> =
            surface.mesh.faces().as_slice().iter().map(|f| f.map(plisse::core::Id::get)).collect();
        let name = self.loaded.file.cloth.first().and_then(|cloth| cloth.name.as_deref()).unwrap_or("cloth");
        let parts = [ObjPart { name, faces: &faces, uv: None, segments: &[] }];
        let path = self.folder.root.join("meshes").join(frame_name(frame, "obj"));
        Ok(write_obj(&path, &ObjSource { positions: surface.x.as_slice(), parts: &parts })?)
    }

    fn pictures(&self, interrupted: &AtomicBool) -> Result<(), Failure> {
        let (file, scene) = (&self.loaded.file, &self.loaded.scene);
        let all: Vec<u32> = (1..=self.frames.len() as u32).collect();
        let wanted = chosen(&all, file.output.pictures);
        if wanted.is_empty() {
            return Ok(());
        }
        let mut bounds = Bounds::none();
        for frame in &self.frames {
            bounds.add(frame.base.x.as_slice());
            bounds.add_obstacles(scene.obstacles(), frame.time);
        }
        let mut view = View::new(file, scene.obstacles(), &bounds, None)?;
        for frame in &all {
            view.widen_wrinkles(file, &self.surface(*frame)?);
        }
        let mut progress = Progress::new(self.talk, "picture", 0, wanted.len() as u32);
        let mut reel =
            Reel::new(&self.folder.root.join("pictures"), wanted.len(), file.time.frames_per_second.get());
        for (count, frame) in (1..).zip(wanted) {
            self.go_on(interrupted).inspect_err(|_| progress.finish())?;
            let surface = self.surface(frame)?;
            let time = self.frames[frame as usize - 1].time;
            reel.take(frame, &view.take_wrinkles(file, scene.obstacles(), &surface, time)?)?;
            progress.done(count, "picture");
        }
        progress.finish();
        reel.finish()
    }

    /// An error after Ctrl-C.
    fn go_on(&self, interrupted: &AtomicBool) -> Result<(), Failure> {
        if interrupted.load(Ordering::Relaxed) {
            let frames = self.frames.len();
            say(self.talk, &format!("interrupted after {frames} frames; runs of wrinkles cannot be resumed"));
            return Err(Failure::Interrupted);
        }
        Ok(())
    }

    fn made(&self) -> String {
        let mut made = String::new();
        let mut list = |what: &str, text: &str| _ = writeln!(made, "  {what:<24} {text}");
        list("report.jsonl", "every frame: iterations, residuals, waves, amplitudes");
        let output = &self.loaded.file.output;
        if !chosen(&[1], output.meshes).is_empty() {
            list("meshes/", "OBJ");
        }
        let all: Vec<u32> = (1..=self.frames.len() as u32).collect();
        let pictures = chosen(&all, output.pictures).len();
        if pictures > 0 {
            list("pictures/", pictures_made(pictures));
        }
        made.trim_end().to_owned()
    }
}

/// A sentence about bases that are perhaps no minima; none if all are.
fn doubtful(frames: &[WrinkleFrame]) -> Option<String> {
    let saddle = |(_, found): &(u32, &WrinkleFrame)| !found.base.report.minimum;
    let mut saddles = (1..).zip(frames).filter(saddle).map(|(frame, _)| frame);
    let first = saddles.next()?;
    Some(format!(
        "the bases of {} frames, the first of them {first}, may be unstable equilibria: their stiffness is not positive definite. \
         Disturb the start with `jitter`",
        1 + saddles.count()
    ))
}

/// A sentence about a number of waves that has changed.
fn jumps(frame: u32, before: u32, change: &WaveChange) -> String {
    let WaveChange { generator, now, before: was, .. } = change;
    format!(
        "frame {frame}: {now} waves around loop {generator}, {was} in frame {before}; the surface jumps in between"
    )
}

/// The line of a frame.
fn line(frame: u32, found: &WrinkleFrame, surface: &WrinkledSurface, seconds: f64) -> Value {
    let (base, report) = (&found.base.report, &found.field.report);
    let run: Option<&WrinkleRun> = report.run();
    let change = found.change.as_ref();
    let kkt = run.map_or_else(Kkt::default, |run| run.kkt);
    let free = found.free.as_slice().iter().filter(|free| **free).count();
    json!({
        "frame": frame,
        "time": found.time,
        "vertices": found.base.x.len(),
        "base": {
            "iterations": base.iterations.len(),
            "residual": base.residual,
            "tolerance": base.tolerance,
            "minimum": base.minimum,
            "energy": base.total_energy(),
            "taut_wrinkled_slack": base.regimes,
            "volume": base.volume,
        },
        "wrinkle": {
            "iterations": run.map_or(0, |run| run.iterations.len()),
            "iterations_of_all_starts": found.steps,
            "converged": report.converged(),
            "kkt": kkt.relative,
            "energy": report.terms.total(),
            "energy_without_wrinkles": report.smooth_energy,
            "unknowns": report.unknowns,
            "continued": change.is_some_and(|change| change.continued),
            "cost_of_waves": change.map(|change| change.relative_cost),
            "largest_amplitude": found.largest_amplitude(),
            "faces_kept": found.free.len() - free,
            "faces_free": free,
        },
        "phase": {
            "waves": found.phase.waves,
            "rounding": found.phase.rounding(),
            "deviation": found.phase.deviation,
            "proven": found.phase.proven,
            "jump": found.jump(),
            "mean_jump": change.and_then(|change| change.step).map(|step| step.mean),
            "changed": change.map_or_else(Vec::new, |change| change.waves.clone()).iter().map(|waves| json!({
                "generator": waves.generator,
                "before": waves.before,
                "now": waves.now,
            })).collect::<Vec<_>>(),
        },
        "surface": {
            "vertices": surface.mesh.vertex_count(),
            "largest_step": surface.largest_step,
            "limited": surface.limited,
            "stuck": surface.stuck,
        },
        "seconds": seconds,
    })
}
