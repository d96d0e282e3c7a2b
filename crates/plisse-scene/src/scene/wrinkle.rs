//! A scene of wrinkles: frame after frame the equilibrium of a coarse sheet, and the fine wrinkles
//! on it.

use glam::DVec3;
use plisse_core::{Faces, Field, Id, IsotropicSheet, Positive, TriMesh, Vertices};
use plisse_wrinkle::{
    BaseProblem, BaseSettings, BaseSheet, BaseSolution, BendingStiffness, Curvature, FrameChange, FreeRule,
    ObstacleLimit, Phase, PhaseFaces, PhaseOptions, Quadrature, SequenceSettings, SurfaceOptions,
    WrinkleError, WrinkleField, WrinkleProblem, WrinkleSequence, WrinkleSettings, WrinkledSurface,
    wrinkle_free, wrinkled_surface,
};

use super::SceneError;
use super::cloth::{Cloth, Filling};
use super::obstacle::{ContactLaw, ContactTerm, Obstacle, Touch};
use super::pins::{Grip, Held, Hold};
use super::plausible::{shape_warnings, thickness_warning};
use super::start::{Placed, check_start};
use super::terms::{check_filling, cloth_masses, mean_edge};
use super::warning::SceneWarning;

/// How wrinkles are found and drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct WrinkleOptions {
    /// How often every triangle of the base is divided into four for the surface.
    pub levels: usize,
    /// Whether amplitudes are zero at held vertices.
    pub clamped: bool,
    /// Whether amplitudes and phases of the first frame are optimised once more with whole numbers
    /// of waves; those of all others are. Faces without amplitude then have a phase, too.
    pub rounded: bool,
    /// How much a frame may lose by keeping the numbers of waves of the frame before, as a part of
    /// the bending energy of the waves; see [`SequenceSettings::snap`]. At least 0, default 0.5.
    pub snap: f64,
    /// Stiffness of the base against bending.
    pub bending: BendingStiffness,
    /// Part of the elastic energy, compression included, that is added to the tension field; zero
    /// to one.
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
    /// Three levels, nothing clamped or rounded, a plate without added compression, everything else
    /// as in `plisse_wrinkle`.
    fn default() -> Self {
        Self {
            levels: 3,
            clamped: false,
            rounded: false,
            snap: SequenceSettings::default().snap,
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

/// The base at one time, before its wrinkles are known.
#[derive(Clone, Debug)]
pub struct WrinkleBase {
    /// s.
    pub time: f64,
    /// The mesh in equilibrium.
    pub solution: BaseSolution,
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
    /// The phase, continuing that of the frame that was solved before.
    pub phase: Phase,
    /// What has happened since that frame: numbers of waves that have changed, and how far the
    /// phase has moved. None in the first frame.
    pub change: Option<FrameChange>,
    /// Newton steps of all solves for the wrinkles.
    pub steps: usize,
}

/// One cloth as a thin sheet that wrinkles (Chen21): base, wrinkle field, phase and surface at one
/// time after the other.
///
/// Pins hold vertices entirely, at rest or in motion. A pressure acts on a closed cloth, or on one
/// whose whole boundary is held. Obstacles push, without friction. The material, the velocity and
/// the damping of the cloth do not matter.
///
/// ```
/// use glam::DVec3;
/// use plisse_core::{IsotropicSheet, PoissonRatio, Positive};
/// use plisse_scene::scene::{Cloth, Obstacle, Pick, WrinkleFrame, WrinkleOptions, WrinkleScene};
///
/// // A film that was pulled lengthwise by 5 % between its ends wrinkles along the pull.
/// let film = Cloth::delaunay([20, 8], [0.25, 0.1], 1)?
///     .deformed(|x| DVec3::new(1.05 * x.x, x.y, x.z))
///     .pin(Pick::group("left"))
///     .pin(Pick::group("right"));
/// let [young, thickness] = [1e6, 1e-4].map(Positive::literal);
/// let sheet = IsotropicSheet::new(young, PoissonRatio::literal(0.5), thickness);
/// let mut scene = WrinkleScene::new(&film, sheet)?
///     .with_options(WrinkleOptions { levels: 4, clamped: true, ..WrinkleOptions::default() })?
///     .with_obstacle(Obstacle::sphere(DVec3::new(0.0, 0.0, -1.0), Positive::new(0.5)?))?
///     .with_gravity(DVec3::ZERO, Positive::new(1000.0)?)?;
/// let frame: WrinkleFrame = scene.next_frame(0.0)?;
/// assert!(frame.field.report.converged() && frame.largest_amplitude() > 1e-4);
/// let surface = scene.surface(&frame)?;
/// assert_eq!(surface.mesh.face_count(), 256 * scene.mesh().face_count());
/// assert!(scene.penetration(&frame) <= scene.sheet().thickness());
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
    sequence: WrinkleSequence,
    name: String,
    warnings: Vec<SceneWarning>,
}

/// Every frame with wrinkles as these options say.
fn sequence(options: &WrinkleOptions) -> Result<WrinkleSequence, WrinkleError> {
    let faces = if options.rounded { PhaseFaces::Wrinkling } else { PhaseFaces::Visible };
    WrinkleSequence::new(SequenceSettings {
        wrinkles: options.wrinkles.clone(),
        phase: PhaseOptions { faces, ..PhaseOptions::default() },
        snap: options.snap,
        rounded: options.rounded,
    })
}

impl WrinkleScene {
    /// A cloth where it is placed, with its pins and its pressure, made of this sheet.
    ///
    /// # Errors
    /// [`SceneError::NotForWrinkles`] for a cloth filled with a volume or pins that leave a
    /// direction free, [`SceneError::Pick`] for pins that pick nothing or hold a vertex in two
    /// ways, [`SceneError::Wrinkle`] for what `plisse_wrinkle` refuses.
    pub fn new(cloth: &Cloth, sheet: IsotropicSheet) -> Result<Self, SceneError> {
        let name = cloth.body.name.clone().unwrap_or_else(|| "cloth 1".to_owned());
        let refuse = |reason| SceneError::NotForWrinkles { body: name.clone(), reason };
        let mut problem = BaseProblem::new(cloth.mesh.clone(), cloth.rest.maps().clone(), sheet)?;
        if !cloth.loose.is_empty() {
            let panels = cloth.mesh.cut(&cloth.loose).map_err(WrinkleError::from)?;
            problem = problem.with_panels(panels)?;
        }
        let is_plain = |grip: &Grip| {
            grip.until.is_none() && grip.stiffness.is_none() && !matches!(grip.hold, Hold::Following(_))
        };
        if !cloth.body.pins.iter().all(|(_, grip)| is_plain(grip)) {
            return Err(refuse(
                "its pins hold exactly and for ever; remove \"until\", \"stiffness\" and \"follow\"",
            ));
        }
        if !cloth.body.forces.is_empty() {
            return Err(refuse("wrinkles know gravity and pressure as loads; remove \"force\""));
        }
        let held = cloth.body.held(&name, &[])?;
        match &cloth.filling {
            None => {}
            Some(Filling::Pressure(pressure)) => {
                if cloth.mesh.boundary_edges().next().is_none() {
                    check_filling(cloth, &name, &held)?;
                }
                problem = problem.with_pressure(*pressure)?;
            }
            Some(Filling::PressureOverTime(_)) => {
                return Err(refuse("wrinkles know a constant pressure; give one in place of that over time"));
            }
            Some(Filling::Volume { .. }) => {
                return Err(refuse("wrinkles know fillings of a constant pressure only, not of a volume"));
            }
        }
        if held.iter().any(|held| !held.is_fixed()) {
            return Err(refuse("wrinkles know pins that hold entirely; remove \"line\" or \"plane\""));
        }
        if cloth.membrane.is_some() {
            return Err(refuse(
                "the sheet of wrinkles has its own membrane energy; remove that of the cloth",
            ));
        }
        let mut is_held = Field::filled(cloth.mesh.vertex_count(), false);
        held.iter().for_each(|pinned| is_held[pinned.vertex] = true);
        let start = Field::from_vec(cloth.body.start(|v| is_held[v]));
        let (_, areas) = cloth_masses(cloth);
        let radii = Field::filled(areas.len(), 0.0);
        let options = WrinkleOptions::default();
        let ranges = Field::filled(areas.len(), 0.5 * mean_edge(cloth));
        let touch = Touch { areas, radii, ranges };
        let sequence = sequence(&options)?;
        let mut warnings = shape_warnings(cloth, &name);
        thickness_warning(cloth, &name, sheet.thickness(), &mut warnings);
        Ok(Self { problem, held, obstacles: Vec::new(), touch, options, start, sequence, name, warnings })
    }

    /// With other options.
    ///
    /// # Errors
    /// [`SceneError::Wrinkle`] if the part of compression is not from zero to one, or a setting of
    /// the wrinkles is out of its range.
    pub fn with_options(self, options: WrinkleOptions) -> Result<Self, SceneError> {
        let problem = self.problem.with_bending(options.bending).with_compression(options.compression)?;
        let sequence = sequence(&options)?;
        Ok(Self { problem, options, sequence, ..self })
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
    /// [`SceneError`] for a shape that is not finite, and for one that the cloth starts inside of.
    pub fn with_obstacle(mut self, obstacle: Obstacle) -> Result<Self, SceneError> {
        self.obstacles.push(obstacle.checked()?);
        let mut held = vec![false; self.start.len()];
        self.held.iter().for_each(|pinned| held[pinned.vertex.index()] = true);
        let (x, radii) = (self.start.as_slice(), self.touch.radii.as_slice());
        // The penalty pushes out what is not deeper than its range.
        let range = self.touch.ranges.as_slice().first().copied().unwrap_or(0.0);
        let tangled = vec![false; x.len()];
        let placed = Placed { name: self.name.clone(), x, radii, held: &held, tangled: &tangled };
        check_start(&self.obstacles, &[placed], |obstacle| obstacle.range().unwrap_or(range))?;
        Ok(self)
    }

    /// The base mesh.
    #[must_use]
    pub fn mesh(&self) -> &TriMesh {
        self.problem.mesh()
    }

    /// What the cloth is made of.
    #[must_use]
    pub fn sheet(&self) -> IsotropicSheet {
        self.problem.sheet()
    }

    /// What can be computed and is probably not what was meant.
    #[must_use]
    pub fn warnings(&self) -> &[SceneWarning] {
        &self.warnings
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

    /// Base, wrinkles and phase at a time in seconds, from those of the last call: pins and
    /// obstacles should have moved little since. On error the next frame continues what this one
    /// should have continued.
    ///
    /// # Errors
    /// [`WrinkleError::NoEquilibrium`] if the base does not converge,
    /// [`WrinkleError::NotConverged`] if the wrinkles do not, [`WrinkleError::TooHigh`] if the
    /// sheet has no material for them, and whatever else the stages report.
    pub fn next_frame(&mut self, time: f64) -> Result<WrinkleFrame, WrinkleError> {
        let base = self.base_at(time)?;
        let frame = self.wrinkles_on(base)?;
        self.start = frame.base.x.clone();
        Ok(frame)
    }

    /// The base alone, from that of the last call. With [`wrinkles_on`](Self::wrinkles_on), bases
    /// can be given wrinkles in another order than that of time: from the last to the first, all
    /// frames have the numbers of waves that suit the last one.
    ///
    /// # Errors
    /// [`WrinkleError::NoEquilibrium`] if it does not converge.
    pub fn next_base(&mut self, time: f64) -> Result<WrinkleBase, WrinkleError> {
        let base = self.base_at(time)?;
        self.start = base.solution.x.clone();
        Ok(base)
    }

    /// Wrinkles and phase on a base, continuing the frame of the last call.
    ///
    /// ```
    /// use glam::{DQuat, DVec3};
    /// use plisse_core::{IsotropicSheet, PoissonRatio, Positive};
    /// use plisse_scene::scene::{Cloth, Hold, Keyframe, Keyframes, Pick, WrinkleBase, WrinkleScene};
    ///
    /// let key = |time, x| Keyframe { time, translation: DVec3::X * x, rotation: DQuat::IDENTITY };
    /// let pull = Keyframes::new(vec![key(0.0, 0.0), key(1.0, 0.0125)])?.linear();
    /// let film = Cloth::delaunay([20, 8], [0.25, 0.1], 1)?
    ///     .pin(Pick::group("left"))
    ///     .hold(Pick::group("right"), Hold::Moving(pull));
    /// let [young, thickness] = [1e6, 1e-4].map(Positive::literal);
    /// let sheet = IsotropicSheet::new(young, PoissonRatio::literal(0.5), thickness);
    /// let mut scene = WrinkleScene::new(&film, sheet)?;
    /// let mut bases: Vec<WrinkleBase> = Vec::new();
    /// for time in [0.95, 1.0] {
    ///     bases.push(scene.next_base(time)?);
    /// }
    /// // The last frame chooses, the first one follows.
    /// for base in bases.into_iter().rev() {
    ///     let frame = scene.wrinkles_on(base)?;
    ///     assert!(frame.jump().is_none_or(|jump| jump < 1.0));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`WrinkleError::NotConverged`], [`WrinkleError::TooHigh`] and whatever else the stages
    /// report; the next call then continues what this one should have continued.
    pub fn wrinkles_on(&mut self, base: WrinkleBase) -> Result<WrinkleFrame, WrinkleError> {
        let WrinkleBase { time, solution: base } = base;
        let (mesh, rest, material) = (self.problem.mesh(), self.problem.rest(), self.problem.sheet());
        let sheet = BaseSheet::new(mesh, rest, &base.x, material, self.options.curvature)?;
        let free = wrinkle_free(&sheet, self.options.free);
        let mut wrinkles =
            WrinkleProblem::with_free_faces(sheet, &free)?.with_quadrature(self.options.quadrature);
        if self.options.clamped {
            let held: Vec<Id<Vertices>> = self.held.iter().map(|held| held.vertex).collect();
            wrinkles = wrinkles.with_clamped(&held)?;
        }
        let found = self.sequence.next_frame(&wrinkles, rest)?;
        let (field, phase, change, steps) = (found.field, found.phase, found.change, found.steps);
        Ok(WrinkleFrame { time, base, free, field, phase, change, steps })
    }

    /// The surface of a frame, with every wave and outside of the obstacles by half a thickness at
    /// least.
    ///
    /// # Errors
    /// [`WrinkleError::Mesh`] if it would have too many triangles, [`WrinkleError::Length`] for a
    /// frame of another scene.
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

    /// The largest depth of a vertex of the base inside of an obstacle, m; zero if all are outside.
    /// Contact of a base is a penalty, which yields. Pinned vertices do not count.
    #[must_use]
    pub fn penetration(&self, frame: &WrinkleFrame) -> f64 {
        let is_held = |v: Id<Vertices>| self.held.iter().any(|held| held.vertex == v);
        let depth = |x: DVec3| {
            let all = self.obstacles.iter().map(|obstacle| -obstacle.distance(frame.time, x).value);
            all.fold(0.0, f64::max)
        };
        // Most are outside: pins are looked up for the others only.
        let inside = frame.base.x.iter().map(|(v, x)| (v, depth(*x))).filter(|(_, depth)| *depth > 0.0);
        inside.filter(|(v, _)| !is_held(*v)).map(|(_, depth)| depth).fold(0.0, f64::max)
    }

    fn base_at(&self, time: f64) -> Result<WrinkleBase, WrinkleError> {
        let solution = self.base_problem(time)?.solve(&self.start, &self.options.base)?;
        Ok(WrinkleBase { time, solution })
    }

    /// The base with pins and obstacles where they are at this time.
    fn base_problem(&self, time: f64) -> Result<BaseProblem, WrinkleError> {
        let pins = self.held.iter().map(|held| (held.vertex, held.at(time)));
        let mut problem = self.problem.clone().with_pins(pins)?;
        for (index, obstacle) in self.obstacles.iter().enumerate() {
            let name = obstacle.called(index);
            // The start may lie inside. Held vertices are no unknowns: what they feel does not
            // matter.
            let touchers = self.touch.touchers(obstacle, |_| true).collect();
            let law = ContactLaw::Penalty;
            let term = ContactTerm::new(format!("{name}: contact"), obstacle.at_rest(time), law, touchers);
            problem = problem.with_term(Box::new(term));
        }
        Ok(problem)
    }
}

impl WrinkleFrame {
    /// The largest amplitude, m.
    #[must_use]
    pub fn largest_amplitude(&self) -> f64 {
        self.field.amplitude.as_slice().iter().fold(0.0, |m: f64, a| m.max(*a))
    }

    /// How far the phase has moved at most since the frame that was solved before, in radians from
    /// 0 to π, where the wrinkles are seen in both. None in the first frame, and where nothing is
    /// left to compare.
    #[must_use]
    pub fn jump(&self) -> Option<f64> {
        Some(self.change.as_ref()?.step?.largest)
    }
}
