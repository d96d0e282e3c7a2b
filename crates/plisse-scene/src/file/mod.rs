//! Scenes from files.
//!
//! A [`SceneFile`] is what the text says; [`Loaded`] is the scene that it describes, with
//! its meshes read, [`LoadedWrinkle`] one with `model = "wrinkle"`, [`AnyScene`] either.

mod blame;
mod bodies;
mod identity;
mod materials;
mod meshes;
mod names;
mod obstacles;
mod pins;
mod sequences;
mod size;
mod wrinkle;
mod yarns;

use std::path::{Path, PathBuf};

use glam::DVec3;
use plisse_io::scene_file::{
    ClothModelName, FrictionTable, Kept, Mistake, Mistakes, ObstacleTable, SceneFile, SchemeName, Solver,
    StartName, Time, Up, Which, is_full,
};
use plisse_io::{FileError, read_text_up_to};
use plisse_system::{Criterion, NewtonSettings, Scheme, SpectralRadius};
use thiserror::Error;

pub use meshes::{MeshOptions, MeshRefusal};
pub use names::Meaning;
pub use wrinkle::{AnyScene, LoadedWrinkle, MOST_TRIANGLES};

use crate::scene::{Air, CrossedStart, MOST_LEVELS, Scene, SceneBuilder, Settings, Timeline};
use identity::Identity;

/// Most bytes of a scene file, 16 MiB: room for a million numbers of pinned vertices.
const LARGEST_FILE: u64 = 16 << 20;

/// A scene, the file that describes it, and a tag that changes when what is simulated does.
pub struct Loaded {
    /// The scene, at its start.
    pub scene: Scene,
    /// What the file says.
    pub file: SceneFile,
    /// A digest of what is simulated: bodies, obstacles, meshes, gravity and air. Time, solver,
    /// output, camera, names and colours do not count, nor does the way in which the same is
    /// written.
    pub tag: u64,
    /// The meshes that were read.
    pub inputs: Vec<PathBuf>,
}

/// Why a scene could not be loaded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The scene file itself could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file has mistakes, or its meshes do.
    #[error(transparent)]
    Mistakes(#[from] Mistakes),
}

impl Loaded {
    /// Reads a scene file and the meshes it names. Paths in it count from its own folder.
    ///
    /// ```
    /// use plisse_scene::file::{LoadError, Loaded};
    /// match Loaded::read(std::path::Path::new("no such scene.toml")) {
    ///     Ok(loaded) => println!("{} bodies", loaded.scene.bodies().len()),
    ///     Err(LoadError::Mistakes(mistakes)) => println!("{mistakes}"),
    ///     Err(error) => println!("{error}"),
    /// }
    /// ```
    pub fn read(path: &Path) -> Result<Self, LoadError> {
        read_and(path, Self::parse)
    }

    /// Makes a scene from text. `name` is that of the file in messages, `folder` where paths in it
    /// count from.
    ///
    /// ```
    /// use plisse_scene::file::Loaded;
    /// let text = r#"
    /// version = 1
    /// time = { duration = 0.1 }
    /// [[cloth]]
    /// grid = { cells = [8, 8], size = [1, 1] }
    /// material = { preset = "denim", damping = 0.5 }
    /// pin = [{ group = "corners" }]
    /// "#;
    /// let mut loaded = Loaded::parse(text, "example", std::path::Path::new(""))?;
    /// loaded.scene.step()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parse(text: &str, name: &str, folder: &Path) -> Result<Self, Mistakes> {
        let (file, mistakes) = described(text, name)?;
        Self::from_file(file, mistakes, name, folder)
    }

    fn from_file(
        file: SceneFile,
        mistakes: Vec<Mistake>,
        name: &str,
        folder: &Path,
    ) -> Result<Self, Mistakes> {
        let mut reader = Reader::new(folder, &file, mistakes);
        reader.is_elastic(&file);
        let builder = reader.scene(&file);
        if reader.mistakes.is_empty() {
            reader.friction(&file, &builder);
        }
        if !reader.mistakes.is_empty() {
            return Err(Mistakes::new(name, reader.mistakes));
        }
        match builder.build() {
            Ok(scene) => Ok(Self { scene, file, tag: reader.identity.digest(), inputs: reader.inputs }),
            Err(error) => Err(Mistakes::new(name, vec![blame::mistake(&error, &file, folder)])),
        }
    }
}

/// Reads a scene file and parses it with its name in messages and the folder that paths in it count
/// from.
fn read_and<T>(
    path: &Path,
    parse: impl FnOnce(&str, &str, &Path) -> Result<T, Mistakes>,
) -> Result<T, LoadError> {
    let text = read_text_up_to(path, LARGEST_FILE)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    Ok(parse(&text, &path.display().to_string(), folder)?)
}

/// What a text describes as far as it can be read, with the mistakes in it.
fn described(text: &str, name: &str) -> Result<(SceneFile, Vec<Mistake>), Mistakes> {
    match SceneFile::parse_leniently(text) {
        (Some(file), mistakes) => Ok((file, mistakes)),
        (None, mistakes) => Err(Mistakes::new(name, mistakes)),
    }
}

/// Lines where the description of a body or obstacle starts, ascending.
fn starts(file: &SceneFile) -> Vec<usize> {
    let cloth = file.cloth.iter().map(|table| table.at_line);
    let wires = file.wires.iter().map(|table| table.at_line);
    let mut starts: Vec<usize> =
        cloth.chain(wires).chain(file.obstacle.iter().map(|table| table.at_line)).collect();
    starts.sort_unstable();
    starts
}

/// What obstacles are called, in their order.
fn obstacle_names(file: &SceneFile) -> Vec<String> {
    let name = |(index, table): (usize, &ObstacleTable)| {
        table.name.clone().unwrap_or_else(|| format!("obstacle {}", index + 1))
    };
    file.obstacle.iter().enumerate().map(name).collect()
}

/// Turns tables into parts of a scene and notes what is wrong.
struct Reader<'a> {
    folder: &'a Path,
    mistakes: Vec<Mistake>,
    starts: Vec<usize>,
    /// What messages and pins call the obstacles.
    obstacles: Vec<String>,
    identity: Identity,
    /// The meshes that were read.
    inputs: Vec<PathBuf>,
    /// Vertices of the scene as far as they are known.
    vertices: u64,
    /// Positions of mesh sequences beyond their first meshes.
    sequence_positions: u64,
    /// Whether that is few enough to go on.
    is_small: bool,
}

impl<'a> Reader<'a> {
    fn new(folder: &'a Path, file: &SceneFile, mistakes: Vec<Mistake>) -> Self {
        let (identity, starts) = (Identity::new(file), starts(file));
        let mut reader = Self {
            folder,
            mistakes,
            starts,
            obstacles: obstacle_names(file),
            identity,
            inputs: Vec::new(),
            vertices: 0,
            sequence_positions: 0,
            is_small: true,
        };
        reader.sizes(file);
        reader
    }
}

impl Reader<'_> {
    fn note(&mut self, line: usize, message: impl Into<String>) {
        if is_full(&self.mistakes) {
            return;
        }
        self.mistakes.push(Mistake { line, message: message.into() });
    }

    /// The value, or none with a note.
    fn keep<T, E: ToString>(&mut self, line: usize, result: Result<T, E>) -> Option<T> {
        result.map_err(|error| self.note(line, error.to_string())).ok()
    }

    /// Notes smooth surfaces that cannot be made.
    fn smooth(&mut self, file: &SceneFile) {
        let levels = file.output.smooth;
        if levels > MOST_LEVELS {
            let message = format!("smooth = {levels} is more than {MOST_LEVELS}; choose fewer divisions");
            self.note(file.output.at_line, message);
        }
        if levels > 0 && file.cloth.iter().all(|table| table.model != ClothModelName::Developable) {
            let message = "\"smooth\" is for developable cloth, of which there is none; remove it";
            self.note(file.output.at_line, message);
        }
    }

    fn scene(&mut self, file: &SceneFile) -> SceneBuilder {
        let up = if file.up == Up::Y { DVec3::Y } else { DVec3::Z };
        let mut builder =
            Scene::builder().gravity(-up * file.gravity.0).settings(settings(&file.time, &file.solver));
        builder = builder.crossed_start(match file.start {
            StartName::Refuse => CrossedStart::Refuse,
            StartName::Ignore => CrossedStart::Ignore,
            StartName::Untangle => CrossedStart::Untangle,
        });
        if let Some(air) = &file.air {
            builder = builder.air(Air {
                velocity: air.wind,
                gusts: air.gusts.0,
                density: air.density,
                coefficient: air.drag,
            });
            if let Some(first) = air.wind_over_time.first() {
                let frames = air.wind_over_time.iter().map(|frame| (frame.time, frame.wind));
                let wind = self.keep(first.at_line, Timeline::new(frames));
                builder = match wind {
                    Some(wind) => builder.wind(wind),
                    None => builder,
                };
                if air.wind != DVec3::ZERO {
                    self.note(air.at_line, "the air has \"wind\" and \"wind_over_time\"; remove one");
                }
            }
        }
        if file.cloth.is_empty() && file.wires.is_empty() {
            self.note(1, "the scene has nothing that moves; add a [[cloth]] or [[wires]]");
        }
        if file.time.shortest_step > file.time.step {
            let message = format!(
                "shortest_step, {} s, is longer than step, {} s",
                file.time.shortest_step.get(),
                file.time.step.get()
            );
            self.note(file.time.at_line, message);
        }
        self.times(&file.time);
        self.tolerance(file);
        self.camera(file);
        let output = &file.output;
        let wants_all =
            output.pictures == Which::All || output.meshes == Which::All || output.pc2 || output.vtk;
        if output.checkpoints == Kept::Last && wants_all {
            let message = "pictures, meshes, pc2 and vtk of all frames are made from checkpoints; \
                           set checkpoints = \"all\", or pictures and meshes to \"last\" and the others to false";
            self.note(output.at_line, message);
        }
        self.smooth(file);
        for table in &file.cloth {
            if table.model == ClothModelName::Yarn {
                builder = match self.yarns(table) {
                    Some(yarns) => builder.yarns(yarns),
                    None => builder,
                };
            } else if let Some(cloth) = self.cloth(table) {
                builder = builder.cloth(cloth);
            }
        }
        for table in &file.wires {
            if let Some(wires) = self.wires(table) {
                builder = builder.wires(wires);
            }
        }
        for table in &file.obstacle {
            if let Some(obstacle) = self.obstacle(table) {
                builder = builder.obstacle(obstacle);
            }
        }
        for FrictionTable { between: [a, b], coefficient, .. } in &file.friction {
            builder = builder.friction(a, b, coefficient.0);
        }
        builder
    }

    /// Notes what is wrong with friction of pairs, once all names are known.
    fn friction(&mut self, file: &SceneFile, builder: &SceneBuilder) {
        // Names that two bodies have are an error of the scene.
        let Ok((table, wrong)) = builder.friction_table() else { return };
        for (index, error) in wrong {
            let line = file.friction.get(index).map_or(1, |table| table.at_line);
            self.note(line, error.to_string());
        }
        self.identity.friction(&table);
    }

    fn camera(&mut self, file: &SceneFile) {
        if file.camera.from.is_some() && file.camera.from == file.camera.at {
            self.note(
                file.camera.at_line,
                "the camera looks at the place where it stands; move \"from\" or \"at\"",
            );
        }
    }

    /// Refuses tolerances with which nothing would move.
    fn tolerance(&mut self, file: &SceneFile) {
        let (tolerance, gravity) = (file.solver.tolerance.get(), file.gravity.0);
        if gravity > 0.0 && tolerance > 0.25 * gravity {
            let message = format!(
                "a tolerance of {tolerance} m/s² hides gravity of {gravity} m/s²: nothing would fall; give a hundredth of it"
            );
            self.note(file.solver.at_line, message);
        }
    }

    /// Refuses runs that would never end.
    fn times(&mut self, time: &Time) {
        let (duration, step) = (time.duration.get(), time.step.get());
        let interval = 1.0 / time.frames_per_second.get();
        if duration / interval > 1e6 {
            let message = format!(
                "{:.0} frames are more than a million; lower duration or frames_per_second",
                duration / interval
            );
            self.note(time.at_line, message);
        }
        if duration.min(interval) / step > 1e7 || duration + time.shortest_step.get() <= duration {
            self.note(time.at_line, "step or shortest_step is too short: the end would never be reached");
        }
    }

    /// The one shape that is given; a note if there is none or more than one.
    fn one_shape(&mut self, line: usize, what: &str, given: &[(&str, bool)]) -> bool {
        let names: Vec<&str> = given.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect();
        let all: Vec<&str> = given.iter().map(|(name, _)| *name).collect();
        match names.as_slice() {
            [_] => true,
            [] => {
                // What was meant may be among the mistakes already noted.
                let end = self.starts.iter().copied().find(|start| *start > line).unwrap_or(usize::MAX);
                if !self.mistakes.iter().any(|mistake| (line..end).contains(&mistake.line)) {
                    self.note(line, format!("{what} needs one of {}", all.join(", ")));
                }
                false
            }
            _ => {
                self.note(line, format!("{what} has {}; only one of them is possible", names.join(" and ")));
                false
            }
        }
    }
}

#[expect(clippy::expect_used, reason = "the reader of scene files accepts the same range")]
fn newmark(time: &Time) -> Scheme {
    let radius = SpectralRadius::new(time.spectral_radius.0);
    Scheme::Newmark(radius.expect("a fraction is a spectral radius"))
}

fn settings(time: &Time, solver: &Solver) -> Settings {
    Settings {
        time_step: time.step,
        shortest_step: Some(time.shortest_step),
        scheme: match time.scheme {
            SchemeName::BackwardEuler => Scheme::BackwardEuler,
            SchemeName::Bdf2 => Scheme::Bdf2,
            SchemeName::Newmark => newmark(time),
            SchemeName::Quasistatic => Scheme::Quasistatic,
        },
        newton: NewtonSettings {
            criterion: Criterion::Acceleration(solver.tolerance),
            max_iterations: solver.max_iterations.0,
            hessian: solver.hessian.meaning(),
            solver: solver.linear.meaning(),
            ..NewtonSettings::default()
        },
    }
}
