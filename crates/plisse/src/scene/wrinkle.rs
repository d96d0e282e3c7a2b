//! A scene of wrinkles: frame after frame the equilibrium of a coarse sheet, and the fine wrinkles on it.

use std::f64::consts::TAU;
use std::sync::Arc;

use glam::DVec3;
use plisse_core::{Edges, Faces, Field, Id, Positive, TriMesh, Vertices};
use plisse_wrinkle::{
    BaseProblem, BaseSettings, BaseSheet, BaseSolution, BendingStiffness, Curvature, FreeRule, ObstacleLimit,
    Periods, Phase, PhaseFaces, PhaseOptions, PhaseProblem, Quadrature, SurfaceOptions, ThinSheet,
    WrinkleError, WrinkleField, WrinkleProblem, WrinkleSettings, WrinkledSurface, recover_phase,
    recover_phase_following, solve_wrinkles, solve_wrinkles_from, wrinkle_free, wrinkled_surface,
};

use super::SceneError;
use super::body::Hold;
use super::cloth::{Cloth, Filling};
use super::motion::Keyframes;
use super::obstacle::{ContactTerm, Obstacle, Touch};
use super::terms::cloth_masses;

/// How wrinkles are found and drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct WrinkleOptions {
    /// How often every triangle of the base is divided into four for the surface.
    pub levels: usize,
    /// Whether amplitudes are zero at held vertices.
    pub clamped: bool,
    /// Whether amplitudes and phases are optimised once more with whole numbers of waves.
    pub rounded: bool,
    /// Stiffness of the base against bending.
    pub bending: BendingStiffness,
    /// Part of the elastic energy, compression included, that is added to the tension field; zero to one.
    pub compression: f64,
    /// How the base is solved for.
    pub base: BaseSettings,
    /// Where the curvature along the crests comes from.
    pub curvature: Curvature,
    /// How powers of the amplitude are integrated.
    pub quadrature: Quadrature,
    /// Which faces are held free of wrinkles.
    pub free: FreeRule,
    /// How the wrinkle field is solved for.
    pub wrinkles: WrinkleSettings,
}

impl Default for WrinkleOptions {
    /// Three levels, nothing clamped or rounded, a plate without added compression, everything else as in `plisse_wrinkle`.
    fn default() -> Self {
        Self {
            levels: 3,
            clamped: false,
            rounded: false,
            bending: BendingStiffness::default(),
            compression: 0.0,
            base: BaseSettings::default(),
            curvature: Curvature::default(),
            quadrature: Quadrature::default(),
            free: FreeRule::default(),
            wrinkles: WrinkleSettings::default(),
        }
    }
}

/// What was found at one time.
#[derive(Clone, Debug)]
pub struct WrinkleFrame {
    /// s.
    pub time: f64,
    /// The base mesh in equilibrium.
    pub base: BaseSolution,
    /// Faces that were held free of wrinkles.
    pub free: Field<Faces, bool>,
    /// Amplitudes and frequencies.
    pub field: WrinkleField,
    /// Whether the field continues that of the frame before, instead of one of the usual starts.
    pub continued: bool,
    /// The phase, continuing that of the frame before.
    pub phase: Phase,
    /// Largest change of phase since the frame before, up to whole turns, where the amplitude is above a fifth of its maximum; in radians.
    /// None in the first frame, and where nothing is left to compare.
    pub jump: Option<f64>,
}

/// One cloth as a thin sheet that wrinkles (Chen21): base, wrinkle field, phase and surface at one time after the other.
///
/// Pins hold vertices entirely, at rest or in motion. A pressure acts on a closed cloth, or on one whose whole boundary is held. Obstacles
/// push, without friction. The material, the velocity and the damping of the cloth do not matter.
///
/// ```
/// use glam::DVec3;
/// use plisse::core::Positive;
/// use plisse::scene::{Cloth, Obstacle, Pick, WrinkleFrame, WrinkleOptions, WrinkleScene};
/// use plisse::wrinkle::ThinSheet;
///
/// // A film that was pulled lengthwise by 5 % between its ends wrinkles along the pull.
/// let film = Cloth::delaunay([20, 8], [0.25, 0.1], 1)?
///     .deformed(|x| DVec3::new(1.05 * x.x, x.y, x.z))
///     .pin(Pick::group("left"))
///     .pin(Pick::group("right"));
/// let sheet = ThinSheet::new(Positive::new(1e6)?, 0.5, Positive::new(1e-4)?)?;
/// let mut scene = WrinkleScene::new(&film, sheet)?
///     .with_options(WrinkleOptions { levels: 4, clamped: true, ..WrinkleOptions::default() })?
///     .with_obstacle(Obstacle::sphere(DVec3::new(0.0, 0.0, -1.0), Positive::new(0.5)?))?
///     .with_gravity(DVec3::ZERO, Positive::new(1000.0)?)?;
/// let frame: WrinkleFrame = scene.next_frame(0.0)?;
/// assert!(frame.field.report.converged() && frame.largest_amplitude() > 1e-4);
/// let surface = scene.surface(&frame)?;
/// assert_eq!(surface.mesh.face_count(), 256 * scene.mesh().face_count());
/// assert!(scene.obstacles().len() == 1 && scene.sheet() == sheet && scene.options().levels == 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct WrinkleScene {
    /// Without pins and obstacles, which change with time.
    problem: BaseProblem,
    held: Vec<Held>,
    obstacles: Vec<Obstacle>,
    touch: Touch,
    options: WrinkleOptions,
    /// Where the next base is sought from.
    start: Field<Vertices, DVec3>,
    last: Option<Last>,
}

/// A held vertex.
struct Held {
    vertex: Id<Vertices>,
    place: DVec3,
    /// The motion, and the centre of its rotation.
    motion: Option<(Arc<Keyframes>, DVec3)>,
}

/// What the next frame continues.
struct Last {
    amplitude: Field<Vertices, f64>,
    omega: Field<Edges, f64>,
    phase: Phase,
}

/// Visible are amplitudes above this part of the largest.
const VISIBLE: f64 = 0.2;

/// A field that continues the last one is kept unless another start gives an energy that is lower by more than this part: a wrinkle that
/// pops up somewhere else is worse to look at than a minimum that is not the lowest.
const POPPING: f64 = 0.01;

impl WrinkleScene {
    /// A cloth where it is placed, with its pins and its pressure, made of this sheet.
    ///
    /// # Errors
    /// [`SceneError::NotForWrinkles`] for a cloth filled with a volume or pins that leave a direction free, [`SceneError::Pick`] for pins
    /// that pick nothing or hold a vertex in two ways, [`SceneError::Wrinkle`] for what `plisse_wrinkle` refuses.
    pub fn new(cloth: &Cloth, sheet: ThinSheet) -> Result<Self, SceneError> {
        let name = cloth.body.name.clone().unwrap_or_else(|| "cloth 1".to_owned());
        let refuse = |reason| SceneError::NotForWrinkles { body: name.clone(), reason };
        let mut problem = BaseProblem::new(cloth.mesh.clone(), cloth.rest.maps().clone(), sheet)?;
        if !cloth.loose.is_empty() {
            let panels = cloth.mesh.cut(&cloth.loose).map_err(WrinkleError::from)?;
            problem = problem.with_panels(panels)?;
        }
        match cloth.filling {
            None => {}
            Some(Filling::Pressure(pressure)) => problem = problem.with_pressure(pressure)?,
            Some(Filling::Volume { .. }) => {
                return Err(refuse("wrinkles know fillings of a constant pressure only, not of a volume"));
            }
        }
        let mut held: Vec<Held> = Vec::new();
        let mut by: Field<Vertices, Option<usize>> = Field::filled(cloth.mesh.vertex_count(), None);
        for (index, (pick, hold)) in cloth.body.pins.iter().enumerate() {
            let keys = match hold {
                Hold::Still => None,
                Hold::Moving(keys) => Some(Arc::new(keys.clone())),
                Hold::Line(_) | Hold::Plane(_) => {
                    return Err(refuse(
                        "wrinkles know pins that hold entirely; remove \"line\" or \"plane\"",
                    ));
                }
            };
            let picked = pick.resolve(&name, &cloth.body.x, &cloth.body.groups)?;
            let centre = picked.iter().map(|v| cloth.body.x[*v]).sum::<DVec3>() / picked.len() as f64;
            for vertex in picked {
                if let Some(first) = by[vertex].replace(index) {
                    if first == index || (keys.is_none() && cloth.body.pins[first].1 == Hold::Still) {
                        continue;
                    }
                    let reason =
                        format!("{vertex} is held in two ways; let the picks of its pins not overlap");
                    return Err(SceneError::Pick { body: name, reason });
                }
                let motion = keys.as_ref().map(|keys| (Arc::clone(keys), centre));
                held.push(Held { vertex, place: cloth.body.x[vertex], motion });
            }
        }
        let start = Field::from_vec(cloth.body.start(|v| by[v].is_some()));
        let (_, areas) = cloth_masses(cloth);
        let radii = Field::filled(areas.len(), 0.0);
        let options = WrinkleOptions::default();
        let touch = Touch { areas, radii };
        Ok(Self { problem, held, obstacles: Vec::new(), touch, options, start, last: None })
    }

    /// With other options.
    ///
    /// # Errors
    /// [`SceneError::Wrinkle`] if the part of compression is not from zero to one.
    pub fn with_options(self, options: WrinkleOptions) -> Result<Self, SceneError> {
        let problem = self.problem.with_bending(options.bending).with_compression(options.compression)?;
        Ok(Self { problem, options, ..self })
    }

    /// With weight: an acceleration in m/s² and the density of the solid in kg/m³.
    ///
    /// # Errors
    /// [`SceneError::Wrinkle`] for an acceleration that is not finite.
    pub fn with_gravity(self, gravity: DVec3, density: Positive) -> Result<Self, SceneError> {
        Ok(Self { problem: self.problem.with_gravity(gravity, density)?, ..self })
    }

    /// With an obstacle, which base and wrinkles stay out of.
    ///
    /// # Errors
    /// [`SceneError`] for a shape that is not finite.
    pub fn with_obstacle(mut self, obstacle: Obstacle) -> Result<Self, SceneError> {
        self.obstacles.push(obstacle.checked()?);
        Ok(self)
    }

    /// The base mesh.
    #[must_use]
    pub fn mesh(&self) -> &TriMesh {
        self.problem.mesh()
    }

    /// What the cloth is made of.
    #[must_use]
    pub fn sheet(&self) -> ThinSheet {
        self.problem.sheet()
    }

    /// The obstacles.
    #[must_use]
    pub fn obstacles(&self) -> &[Obstacle] {
        &self.obstacles
    }

    /// The options.
    #[must_use]
    pub fn options(&self) -> &WrinkleOptions {
        &self.options
    }

    /// Base, wrinkles and phase at a time in seconds, from those of the last call: pins and obstacles should have moved little since.
    /// On error the next frame continues what this one should have continued.
    ///
    /// # Errors
    /// [`WrinkleError::NoEquilibrium`] if the base does not converge, and whatever else the stages report.
    pub fn next_frame(&mut self, time: f64) -> Result<WrinkleFrame, WrinkleError> {
        let problem = self.base_problem(time)?;
        let base = problem.solve(&self.start, &self.options.base)?;
        let sheet =
            BaseSheet::new(problem.mesh(), problem.rest(), &base.x, problem.sheet(), self.options.curvature)?;
        let free = wrinkle_free(&sheet, self.options.free);
        let mut wrinkles =
            WrinkleProblem::with_free_faces(sheet, &free)?.with_quadrature(self.options.quadrature);
        if self.options.clamped {
            let held: Vec<Id<Vertices>> = self.held.iter().map(|held| held.vertex).collect();
            wrinkles = wrinkles.with_clamped(&held)?;
        }
        let (mut field, continued) = self.field(&wrinkles)?;
        let mut phase = self.phase(&field, &free, self.last.as_ref().map(|last| &last.phase))?;
        if self.options.rounded && !phase.waves.is_empty() {
            let settings = WrinkleSettings { periods: Periods::Held, ..self.options.wrinkles.clone() };
            field = solve_wrinkles_from(&wrinkles, &field.amplitude, &phase.omega, &settings)?;
            phase = self.phase(&field, &free, Some(&phase))?;
        }
        let jump =
            self.last.as_ref().and_then(|last| jump(self.mesh(), &last.phase, &phase, &field.amplitude));
        self.start = base.x.clone();
        self.last = Some(Last {
            amplitude: field.amplitude.clone(),
            omega: field.omega.clone(),
            phase: phase.clone(),
        });
        Ok(WrinkleFrame { time, base, free, field, continued, phase, jump })
    }

    /// The surface of a frame, with every wave and outside of the obstacles by half a thickness at least.
    ///
    /// # Errors
    /// [`WrinkleError::Mesh`] if it would have too many triangles, [`WrinkleError::Length`] for a frame of another scene.
    pub fn surface(&self, frame: &WrinkleFrame) -> Result<WrinkledSurface, WrinkleError> {
        let distance = |x: DVec3| {
            let all = self.obstacles.iter().map(|obstacle| obstacle.distance(frame.time, x));
            let nearest = all.min_by(|a, b| a.value.total_cmp(&b.value));
            nearest.map_or((f64::INFINITY, DVec3::ZERO), |nearest| (nearest.value, nearest.gradient))
        };
        let limit = ObstacleLimit { distance: &distance, margin: 0.5 * self.sheet().thickness() };
        let options = SurfaceOptions {
            levels: self.options.levels,
            limit: (!self.obstacles.is_empty()).then_some(limit),
            ..SurfaceOptions::default()
        };
        wrinkled_surface(self.mesh(), &frame.base.x, &frame.field.amplitude, &frame.phase.field, &options)
    }

    /// The base with pins and obstacles where they are at this time.
    fn base_problem(&self, time: f64) -> Result<BaseProblem, WrinkleError> {
        let place = |held: &Held| match &held.motion {
            Some((keys, centre)) => keys.place(time, *centre, held.place),
            None => held.place,
        };
        let pins = self.held.iter().map(|held| (held.vertex, place(held)));
        let mut problem = self.problem.clone().with_pins(pins)?;
        for (index, obstacle) in self.obstacles.iter().enumerate() {
            let name = obstacle.name().map_or_else(|| format!("obstacle {}", index + 1), str::to_owned);
            let term =
                ContactTerm::new(format!("{name}: contact"), obstacle.at_rest(time), self.touch.clone());
            problem = problem.with_term(Box::new(term));
        }
        Ok(problem)
    }

    /// The field from the usual starts or from the last field, and whether it is the latter.
    fn field(&self, wrinkles: &WrinkleProblem) -> Result<(WrinkleField, bool), WrinkleError> {
        let anew = solve_wrinkles(wrinkles, &self.options.wrinkles)?;
        let Some(last) = &self.last else {
            return Ok((anew, false));
        };
        let continued = solve_wrinkles_from(wrinkles, &last.amplitude, &last.omega, &self.options.wrinkles)?;
        let energy = |field: &WrinkleField| field.report.terms.total();
        let better = energy(&anew) < (1.0 - POPPING) * energy(&continued);
        Ok(if better { (anew, false) } else { (continued, true) })
    }

    fn phase(
        &self,
        field: &WrinkleField,
        free: &Field<Faces, bool>,
        before: Option<&Phase>,
    ) -> Result<Phase, WrinkleError> {
        let (mesh, rest) = (self.problem.mesh(), self.problem.rest());
        let problem = PhaseProblem { mesh, rest, amplitude: &field.amplitude, omega: &field.omega, free };
        let faces = if self.options.rounded { PhaseFaces::Wrinkling } else { PhaseFaces::Visible };
        let options = PhaseOptions { faces, ..PhaseOptions::default() };
        match before {
            Some(before) => recover_phase_following(before, &problem, &options),
            None => recover_phase(&problem, &options),
        }
    }
}

impl WrinkleFrame {
    /// The largest amplitude, m.
    #[must_use]
    pub fn largest_amplitude(&self) -> f64 {
        self.field.amplitude.as_slice().iter().fold(0.0, |m: f64, a| m.max(*a))
    }
}

fn jump(mesh: &TriMesh, before: &Phase, now: &Phase, amplitude: &Field<Vertices, f64>) -> Option<f64> {
    let visible = VISIBLE * amplitude.as_slice().iter().fold(0.0, |m: f64, a| m.max(*a));
    let mut largest = None;
    for (face, corners) in mesh.faces().iter() {
        let (Some(before), Some(now)) = (before.field.at(face), now.field.at(face)) else { continue };
        for k in (0..3).filter(|k| amplitude[corners[*k]] > visible) {
            let off = (now[k] - before[k]) / TAU;
            let off = TAU * (off - off.round()).abs();
            largest = Some(largest.map_or(off, |m: f64| m.max(off)));
        }
    }
    largest
}
