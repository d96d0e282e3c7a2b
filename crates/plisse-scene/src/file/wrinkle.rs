//! Scenes of wrinkles from tables.

use std::path::{Path, PathBuf};

use glam::DVec3;
use plisse_core::IsotropicSheet;
use plisse_io::scene_file::{
    ClothModelName, ClothTable, ColourBy, Mistakes, ModelName, SceneFile, StartName, Up, WrinkleTable,
};
use plisse_wrinkle::{BaseSettings, WrinkleSettings};

use super::yarns::material_line;
use super::{LoadError, Loaded, Meaning, Reader, blame, described, read_and};
use crate::scene::{SceneWarning, WrinkleOptions, WrinkleScene};

/// Most levels of subdivision: a triangle becomes 16384.
const MOST_LEVELS: u32 = 7;

/// Most triangles of a wrinkled surface: more fill the memory of most machines.
pub const MOST_TRIANGLES: usize = 20_000_000;

/// A scene with `model = "wrinkle"`, and the file that describes it.
pub struct LoadedWrinkle {
    /// The scene, before its first frame.
    pub scene: WrinkleScene,
    /// What the file says.
    pub file: SceneFile,
    /// The meshes that were read.
    pub inputs: Vec<PathBuf>,
}

/// A scene of either model.
///
/// ```
/// use plisse_scene::file::{AnyScene, LoadedWrinkle};
/// let text = r#"
/// version = 1
/// model = "wrinkle"
/// time = { duration = 1, frames_per_second = 1 }
/// wrinkle = { young = 1e7, poisson = 0.44, thickness = 1e-4 }
/// [[cloth]]
/// disc = { rings = 6, radius = 0.1, irregular = 1 }
/// scale = [0.8, 0.8, 1]
/// pin = [{ group = "rim" }]
/// pressure = 600
/// "#;
/// match AnyScene::parse(text, "example", std::path::Path::new(""))? {
///     AnyScene::Elastic(loaded) => println!("{} bodies", loaded.scene.bodies().len()),
///     AnyScene::Wrinkle(loaded) => {
///         let LoadedWrinkle { mut scene, file, .. } = *loaded;
///         let frame = scene.next_frame(file.time.duration.get())?;
///         assert!(frame.phase.waves.iter().any(|waves| waves.abs() > 20));
///     }
/// }
/// assert!(AnyScene::read(std::path::Path::new("no such scene.toml")).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub enum AnyScene {
    /// Cloth and wires in motion.
    Elastic(Box<Loaded>),
    /// Wrinkles on an equilibrium.
    Wrinkle(Box<LoadedWrinkle>),
}

impl AnyScene {
    /// Reads a scene file and the meshes it names. Paths in it count from its own folder.
    pub fn read(path: &Path) -> Result<Self, LoadError> {
        read_and(path, Self::parse)
    }

    /// Makes a scene from text. `name` is that of the file in messages, `folder` where paths in it
    /// count from.
    pub fn parse(text: &str, name: &str, folder: &Path) -> Result<Self, Mistakes> {
        let (file, mistakes) = described(text, name)?;
        if file.model == ModelName::Elastic {
            return Loaded::from_file(file, mistakes, name, folder)
                .map(|loaded| Self::Elastic(Box::new(loaded)));
        }
        let mut reader = Reader::new(folder, &file, mistakes);
        let scene = reader.wrinkle_scene(&file);
        match scene {
            Some(scene) if reader.mistakes.is_empty() => {
                Ok(Self::Wrinkle(Box::new(LoadedWrinkle { scene, file, inputs: reader.inputs })))
            }
            _ => Err(Mistakes::new(name, reader.mistakes)),
        }
    }

    /// What can be simulated and is probably not what was meant.
    #[must_use]
    pub fn warnings(&self) -> &[SceneWarning] {
        match self {
            Self::Elastic(loaded) => loaded.scene.warnings(),
            Self::Wrinkle(loaded) => loaded.scene.warnings(),
        }
    }

    /// What the file says.
    #[must_use]
    pub fn file(&self) -> &SceneFile {
        match self {
            Self::Elastic(loaded) => &loaded.file,
            Self::Wrinkle(loaded) => &loaded.file,
        }
    }
}

impl Reader<'_> {
    /// Notes what only scenes of wrinkles have.
    pub(super) fn is_elastic(&mut self, file: &SceneFile) {
        if file.model == ModelName::Wrinkle {
            self.note(1, "this is a scene of wrinkles (model = \"wrinkle\"); load it as AnyScene");
            return;
        }
        if let Some(table) = &file.wrinkle {
            self.note(
                table.at_line,
                "[wrinkle] has no meaning for this model; add model = \"wrinkle\" at the top",
            );
        }
        if matches!(file.camera.colour_by, ColourBy::Amplitude | ColourBy::Phase) {
            let message = "only wrinkles have an amplitude and a phase; colour by material, strain, speed or height, \
                           or choose model = \"wrinkle\"";
            self.note(file.camera.at_line, message);
        }
    }

    fn wrinkle_scene(&mut self, file: &SceneFile) -> Option<WrinkleScene> {
        self.only_wrinkles(file);
        self.times(&file.time);
        self.camera(file);
        let obstacles: Vec<_> = file.obstacle.iter().map(|table| self.obstacle(table)).collect();
        let cloth = file.cloth.first().and_then(|table| self.cloth(table));
        let Some(table) = &file.wrinkle else {
            self.note(1, "model = \"wrinkle\" needs a table [wrinkle] with young, poisson and thickness");
            return None;
        };
        let sheet = IsotropicSheet::new(table.young, table.poisson, table.thickness);
        let options = self.wrinkle_options(table);
        let cloth_line = file.cloth.first().map_or(1, |cloth| cloth.at_line);
        let up = if file.up == Up::Y { DVec3::Y } else { DVec3::Z };
        let scene = WrinkleScene::new(&cloth?, sheet);
        let scene = self.keep(cloth_line, scene)?;
        let options = options?;
        let triangles = scene.mesh().face_count() << (2 * options.levels);
        if triangles > MOST_TRIANGLES {
            let message = format!(
                "{} levels: the surface would have {triangles} triangles; at most {MOST_TRIANGLES} are possible",
                options.levels
            );
            self.note(table.at_line, message);
            return None;
        }
        let mut scene = self.keep(table.at_line, scene.with_options(options))?;
        if let Some(density) = table.density {
            scene = self.keep(table.at_line, scene.with_gravity(-up * file.gravity.0, density))?;
        }
        for (obstacle, at) in obstacles.into_iter().zip(&file.obstacle) {
            scene = match scene.with_obstacle(obstacle?) {
                Ok(scene) => scene,
                Err(error) => {
                    let mistake = blame::mistake(&error, file, self.folder);
                    self.note(mistake.line.max(at.at_line), mistake.message);
                    return None;
                }
            };
        }
        Some(scene)
    }

    /// Notes what scenes of wrinkles do not have.
    fn only_wrinkles(&mut self, file: &SceneFile) {
        match file.cloth.as_slice() {
            [] => self.note(1, "a scene of wrinkles needs one [[cloth]]"),
            [cloth] => self.bare_cloth(cloth),
            [_, second, ..] => {
                self.note(second.at_line, "a scene of wrinkles has one [[cloth]]; remove the others");
            }
        }
        if let Some(wires) = file.wires.first() {
            self.note(wires.at_line, "a scene of wrinkles has no wires; remove them");
        }
        if file.start != StartName::Refuse {
            self.note(file.at_line, "the base of wrinkles does not touch itself; remove start");
        }
        if let Some(friction) = file.friction.first() {
            self.note(friction.at_line, "wrinkles are equilibria without friction; remove [[friction]]");
        }
        if let Some(air) = &file.air {
            self.note(air.at_line, "a scene of wrinkles has no air; remove [air]");
        }
        if file.output.pc2 || file.output.vtk {
            self.note(
                file.output.at_line,
                "of wrinkles only pictures and meshes are written; remove \"pc2\" and \"vtk\"",
            );
        }
        if matches!(file.camera.colour_by, ColourBy::Strain | ColourBy::Speed) {
            self.note(file.camera.at_line, "wrinkles are coloured by material, height, amplitude or phase");
        }
    }

    fn bare_cloth(&mut self, cloth: &ClothTable) {
        if let Some(line) = material_line(cloth) {
            self.note(
                line,
                "the sheet of a scene of wrinkles is described in [wrinkle]; remove \"material\"",
            );
        }
        if cloth.model == ClothModelName::Yarn {
            self.note(cloth.at_line, "yarns do not wrinkle as sheets do; remove model = \"yarn\"");
        }
        if let Some(volume) = &cloth.volume {
            self.note(volume.at_line, "wrinkles know a constant \"pressure\" only; remove \"volume\"");
        }
        if cloth.strain_limit.is_some() {
            self.note(cloth.at_line, "wrinkles know no limit of stretch; remove \"strain_limit\"");
        }
        if cloth.velocity != DVec3::ZERO {
            self.note(cloth.at_line, "wrinkles are equilibria; remove \"velocity\"");
        }
        for pin in &cloth.pin {
            let keys = [
                ("line", pin.line.is_some()),
                ("plane", pin.plane.is_some()),
                ("follow", pin.follow.is_some()),
                ("until", pin.until.is_some()),
                ("stiffness", pin.stiffness.is_some()),
            ];
            for (key, _) in keys.into_iter().filter(|(_, given)| *given) {
                let message =
                    format!("pins of a scene of wrinkles hold exactly and for ever; remove \"{key}\"");
                self.note(pin.at_line, message);
            }
        }
        if let Some(force) = cloth.force.first() {
            self.note(force.at_line, "wrinkles know gravity and pressure as loads; remove \"force\"");
        }
        if let Some(frame) = cloth.pressure_over_time.first() {
            self.note(frame.at_line, "wrinkles know a constant \"pressure\"; remove \"pressure_over_time\"");
        }
    }

    fn wrinkle_options(&mut self, table: &WrinkleTable) -> Option<WrinkleOptions> {
        if table.levels > MOST_LEVELS {
            let message = format!("{} levels are more than {MOST_LEVELS}; choose fewer", table.levels);
            self.note(table.at_line, message);
            return None;
        }
        Some(WrinkleOptions {
            levels: table.levels as usize,
            clamped: table.clamped,
            rounded: table.rounded,
            snap: table.snap.0,
            bending: table.bending.meaning(),
            compression: table.compression.0,
            base: BaseSettings { tolerance: table.tolerance, max_iterations: table.max_iterations.0 },
            curvature: table.curvature.meaning(),
            quadrature: table.quadrature.meaning(),
            free: table.free_rule.meaning(),
            wrinkles: WrinkleSettings { starts: table.start.meaning(), ..WrinkleSettings::default() },
        })
    }
}
