//! A scene in motion.

use std::ops::Range;

use glam::{DVec2, DVec3};
use plisse_core::range::PARAMETER;
use plisse_core::{Faces, Field, Id, Positive, RestShape, TriMesh, Vertices};
use plisse_system::{Integrator, Scheme, State, StepError, StepReport, System};
use plisse_yarn::{Passing, YarnEvent, YarnModel};

use super::builder::{SceneBuilder, Settings};
use super::checkpoint::Checkpoint;
use super::crossings::{Crossings, Surfaces};
use super::drawn_yarns::DrawnYarns;
use super::obstacle::{DrawnSurface, Obstacle};
use super::smooth::EdgeSheet;
use super::stages::Stages;
use super::touching::BodyContact;
use super::warning::SceneWarning;

/// Cloth, wires and obstacles in motion: the system, its state and its integrator.
///
/// ```
/// use glam::DVec3;
/// use plisse_core::Positive;
/// use plisse_scene::scene::{Cloth, Material, Obstacle, Scene};
/// let cloth = Cloth::sheet([12, 12], [0.6, 0.6])?.material(Material::cotton()).at(DVec3::Z * 0.205);
/// let ball = Obstacle::sphere(DVec3::ZERO, Positive::literal(0.2));
/// let mut scene = Scene::builder().cloth(cloth).obstacle(ball).build()?;
/// let report = scene.step()?;
/// assert!(report.residual() <= 0.1 && scene.time() == 0.01);
///
/// // Two frames of 1/25 s, in steps no longer than the time step.
/// use plisse_scene::scene::{BodyInfo, Kind};
/// let frame = Positive::literal(0.04);
/// assert_eq!(scene.steps_in(frame).0, 4);
/// scene.advance(frame)?;
/// scene.step_by(frame)?;
/// let body: &BodyInfo = &scene.bodies()[0];
/// if let Kind::Cloth { mesh, .. } = &body.kind {
///     println!("{}: {} faces, {} vertices", body.name, mesh.face_count(), scene.positions(body).len());
/// }
/// let largest = scene.strain(body).into_iter().fold(0.0, f64::max);
/// println!("strain {largest}, {} obstacles, {:?}", scene.obstacles().len(), scene.settings().scheme);
/// assert!(!scene.is_quasistatic() && scene.system().size() == scene.state().x().len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Scene {
    pub(super) system: System<Vertices>,
    pub(super) state: State<Vertices>,
    pub(super) integrator: Box<dyn Integrator<Vertices> + Send + Sync>,
    pub(super) bodies: Vec<BodyInfo>,
    pub(super) obstacles: Vec<Obstacle>,
    pub(super) settings: Settings,
    /// The largest coordinate at which positions still resolve the meshes, m.
    pub(super) farthest: f64,
    pub(super) warnings: Vec<SceneWarning>,
    /// How each body touches.
    pub(super) contacts: Vec<BodyContact>,
    /// Where vertices started, m.
    pub(super) start: Field<Vertices, DVec3>,
    /// Of each vertex, whether a pin says where it is.
    pub(super) held: Vec<bool>,
    /// Of each body, where its edges are among those of the state; empty unless all are
    /// developable.
    pub(super) edge_sheets: Vec<EdgeSheet>,
    pub(super) stages: Stages,
}

/// A body of a scene: its vertices among those of the whole scene, and what they belong to.
#[derive(Clone, Debug)]
pub struct BodyInfo {
    /// Its name.
    pub name: String,
    /// Its vertices.
    pub vertices: Range<usize>,
    /// What it is.
    pub kind: Kind,
}

/// What a body is. Vertices count from the first of the body.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A cloth.
    Cloth {
        /// Its triangles.
        mesh: TriMesh,
        /// Its rest shape.
        rest: RestShape,
        /// Material coordinates per corner; none if it is curved at rest.
        uv: Option<Field<Faces, [DVec2; 3]>>,
    },
    /// Wires.
    Wires {
        /// Pairs of vertices.
        segments: Vec<[u32; 2]>,
        /// Length of each at rest, m.
        rest_lengths: Vec<f64>,
        /// Radius, m.
        radius: f64,
    },
    /// Woven yarns.
    Yarns {
        /// The patch as it moves.
        model: YarnModel,
        /// Its arc lengths and anchors among the unknowns of all terms
        /// ([`OwnState`](plisse_system::OwnState)).
        own: Range<usize>,
        /// Radius of each yarn in contact, m.
        radii: Vec<f64>,
    },
}

impl Scene {
    /// An empty scene to add to.
    #[must_use]
    pub fn builder() -> SceneBuilder {
        SceneBuilder::default()
    }

    /// Advances by one time step of the settings. On error the scene is as it was.
    pub fn step(&mut self) -> Result<StepReport, StepError> {
        self.step_by(self.settings.time_step)
    }

    /// Advances by a step of this length, in seconds; by several where pins let go within it. On
    /// error the scene is as it was.
    pub fn step_by(&mut self, dt: Positive) -> Result<StepReport, StepError> {
        self.step_in_stages(dt)
    }

    /// Advances by a step within which the same pins hold.
    pub(super) fn step_within(&mut self, dt: Positive) -> Result<StepReport, StepError> {
        let before = self.state.clone();
        let report = self.integrator.step(&self.system, &mut self.state, dt);
        let report = report.map_err(|error| self.explain(error))?;
        let lost = self.state.x().iter().find(|(_, x)| x.abs().max_element() > self.farthest);
        let Some((node, x)) = lost else { return Ok(report) };
        let error = StepError::Lost { time: self.state.time(), node: node.index(), distance: x.length() };
        self.state = before;
        Err(error)
    }

    /// How many equal steps no longer than the time step make up a duration, and how long each is.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a part of a positive number, not below the smallest one")]
    pub fn steps_in(&self, duration: Positive) -> (usize, Positive) {
        let longest = self.settings.time_step.get();
        // A duration that is a whole number of steps up to rounding has that many.
        let count = (duration.get() / longest * (1.0 - 1e-9)).ceil().max(1.0);
        let each = (duration.get() / count).max(*PARAMETER.start());
        (count as usize, Positive::new(each).expect("a step has a length"))
    }

    /// Advances by a duration in equal steps, and gives the report of the last. On error the scene
    /// is at the end of the last step that succeeded.
    pub fn advance(&mut self, duration: Positive) -> Result<StepReport, StepError> {
        let (count, dt) = self.steps_in(duration);
        for _ in 1..count {
            self.step_by(dt)?;
        }
        self.step_by(dt)
    }

    /// Forgets what earlier steps left in the solver, so that what follows depends on the state
    /// alone, bit by bit.
    pub fn forget(&mut self) {
        self.integrator.forget();
    }

    /// The state to go on from later, with the number of its frame and what the caller will
    /// recognise the scene by. Calls [`Self::forget`], so that a run that is resumed here has the
    /// bits of one that was not interrupted.
    #[must_use]
    pub fn checkpoint(&mut self, frame: u32, tag: u64) -> Checkpoint {
        self.forget();
        Checkpoint { frame, tag, state: self.state.clone() }
    }

    /// Everything that has a surface, as it is now: cloths and tubes of yarns, then obstacles, in
    /// the order in which they were added.
    #[must_use]
    pub fn surfaces(&self) -> Vec<DrawnSurface> {
        let cloths = self.bodies.iter().filter_map(|body| match &body.kind {
            Kind::Cloth { mesh, .. } => {
                let faces = mesh.faces().as_slice().iter().map(|face| face.map(Id::get)).collect();
                Some((self.positions(body).to_vec(), faces))
            }
            Kind::Yarns { .. } => {
                let drawn = body.drawn_yarns(self.positions(body))?;
                Some((drawn.points, drawn.faces))
            }
            Kind::Wires { .. } => None,
        });
        cloths.chain(self.obstacles.iter().filter_map(|obstacle| obstacle.surface(self.time()))).collect()
    }

    /// Which triangles cross each other as everything is now, of cloths and of obstacles that are
    /// boxes or meshes. Exact: what is listed crosses or touches, and nothing else does.
    ///
    /// ```
    /// use glam::DVec3;
    /// use plisse_scene::scene::{Cloth, Scene};
    /// let sheet = |z: f64| Cloth::sheet([4, 4], [0.2, 0.2]).map(|sheet| sheet.at(DVec3::Z * z));
    /// let mut scene = Scene::builder().cloth(sheet(0.0)?).cloth(sheet(0.01)?).build()?;
    /// scene.step()?;
    /// let found = scene.crossings();
    /// assert_eq!(found.checked, ["cloth 1", "cloth 2"]);
    /// assert!(found.forbidden.is_empty() && found.allowed.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn crossings(&self) -> Crossings {
        let Self { bodies, contacts, obstacles, start, held, .. } = self;
        Surfaces::new(bodies, contacts, obstacles, start, held).find(self.time(), self.state.x())
    }

    /// Time in seconds.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.state.time()
    }

    /// Positions and velocities of all bodies.
    #[must_use]
    pub fn state(&self) -> &State<Vertices> {
        &self.state
    }

    /// Replaces the state, for example by one that was saved.
    pub fn set_state(&mut self, state: State<Vertices>) -> Result<(), StepError> {
        let (expected, found) = (self.system.size(), state.x().len());
        if expected != found {
            return Err(StepError::WrongSize { expected, found });
        }
        // Empty before the first step. What moves without terms keeps numbers of its own there.
        let (expected, found) = (self.system.own_count(), state.own().values.len());
        let has_yarns = self.bodies.iter().any(|body| matches!(body.kind, Kind::Yarns { .. }));
        if has_yarns && found != expected && found != 0 {
            return Err(StepError::WrongSize { expected, found });
        }
        self.enter_at(state.time())?;
        self.state = state;
        self.forget();
        Ok(())
    }

    /// The system of equations behind it.
    #[must_use]
    pub fn system(&self) -> &System<Vertices> {
        &self.system
    }

    /// The settings of time and solver.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The bodies, in the order in which they were added.
    #[must_use]
    pub fn bodies(&self) -> &[BodyInfo] {
        &self.bodies
    }

    /// What can be simulated and is probably not what was meant.
    #[must_use]
    pub fn warnings(&self) -> &[SceneWarning] {
        &self.warnings
    }

    /// The obstacles.
    #[must_use]
    pub fn obstacles(&self) -> &[Obstacle] {
        &self.obstacles
    }

    /// Positions of a body, in metres.
    #[must_use]
    pub fn positions(&self, body: &BodyInfo) -> &[DVec3] {
        &self.state.x().as_slice()[body.vertices.clone()]
    }

    /// Whether equilibria are sought instead of motion.
    #[must_use]
    pub fn is_quasistatic(&self) -> bool {
        self.settings.scheme == Scheme::Quasistatic
    }

    /// The largest principal strain at each vertex of a body: that of the faces around it, weighted
    /// by area; for wires and yarns the strain of the segments. Zero at rest, negative where all is
    /// compressed.
    #[must_use]
    pub fn strain(&self, body: &BodyInfo) -> Vec<f64> {
        body.strain(&self.state)
    }

    /// Crossings that have come to the end of a yarn and stay there, with the names of their
    /// bodies.
    #[must_use]
    pub fn yarn_events(&self) -> Vec<(&str, YarnEvent)> {
        let of = |body: &'_ BodyInfo| body.yarn_events(&self.state);
        self.bodies.iter().flat_map(|body| of(body).into_iter().map(|event| (&*body.name, event))).collect()
    }
}

impl BodyInfo {
    /// A vertex of this body among those of the scene; none if the body has no such vertex.
    #[must_use]
    pub fn vertex(&self, own: Id<Vertices>) -> Option<Id<Vertices>> {
        let index = Some(self.vertices.start + own.index()).filter(|index| self.vertices.contains(index));
        index.map(|index| Id::new(index as u32))
    }

    /// Centre lines and tubes of yarns, of positions of this body; none of other bodies.
    ///
    /// # Panics
    /// If there are fewer positions than vertices.
    #[must_use]
    pub fn drawn_yarns(&self, x: &[DVec3]) -> Option<DrawnYarns> {
        match &self.kind {
            Kind::Yarns { model, .. } => Some(DrawnYarns::new(model.patch(), x)),
            Kind::Cloth { .. } | Kind::Wires { .. } => None,
        }
    }

    /// Arc lengths of yarns in a state, and their anchors: before the first step as they are at
    /// rest. Empty for other bodies.
    #[must_use]
    pub fn arc_lengths<'a>(&'a self, state: &'a State<Vertices>) -> &'a [f64] {
        match &self.kind {
            Kind::Yarns { model, own, .. } => {
                state.own().values.get(own.clone()).unwrap_or(model.patch().free_lengths())
            }
            Kind::Cloth { .. } | Kind::Wires { .. } => &[],
        }
    }

    /// Crossings of this body that have come to the end of a yarn in a state.
    #[must_use]
    pub fn yarn_events(&self, state: &State<Vertices>) -> Vec<YarnEvent> {
        match &self.kind {
            Kind::Yarns { model, .. } => model.events(self.arc_lengths(state)),
            Kind::Cloth { .. } | Kind::Wires { .. } => Vec::new(),
        }
    }

    /// The largest principal strain at each vertex in a state of the scene.
    ///
    /// # Panics
    /// If the state has fewer positions than the scene.
    #[must_use]
    pub fn strain(&self, state: &State<Vertices>) -> Vec<f64> {
        let x = &state.x().as_slice()[self.vertices.clone()];
        let mut sums = vec![(0.0, 0.0); x.len()];
        match &self.kind {
            Kind::Cloth { mesh, rest, .. } => {
                for (face, corners) in mesh.faces().iter() {
                    let map = rest.map(face);
                    let f = map.deformation_gradient(&corners.map(|v| x[v.index()]));
                    let (a, b, c) = (f.c0.length_squared(), f.c1.length_squared(), f.c0.dot(f.c1));
                    let largest = 0.5 * (a + b) + (0.25 * (a - b) * (a - b) + c * c).sqrt();
                    for v in corners {
                        let sum = &mut sums[v.index()];
                        *sum = (sum.0 + map.area() * (largest.sqrt() - 1.0), sum.1 + map.area());
                    }
                }
            }
            Kind::Wires { segments, rest_lengths, .. } => {
                for (&[a, b], &rest) in segments.iter().zip(rest_lengths) {
                    let strain = x[a as usize].distance(x[b as usize]) / rest - 1.0;
                    for v in [a, b] {
                        let sum = &mut sums[v as usize];
                        *sum = (sum.0 + strain * rest, sum.1 + rest);
                    }
                }
            }
            Kind::Yarns { model, .. } => {
                let (patch, own) = (model.patch(), self.arc_lengths(state));
                for (index, yarn) in patch.yarns().iter().enumerate() {
                    let length = |place| patch.arc_length(Passing { yarn: index, place }, own);
                    for k in 1..yarn.nodes.len() {
                        let (ends, material) =
                            ([yarn.nodes[k - 1], yarn.nodes[k]], length(k) - length(k - 1));
                        let [a, b] = ends.map(|node| x[node as usize]);
                        for node in ends {
                            let sum = &mut sums[node as usize];
                            *sum = (sum.0 + a.distance(b) - material, sum.1 + material);
                        }
                    }
                }
            }
        }
        sums.into_iter().map(|(sum, weight)| if weight > 0.0 { sum / weight } else { 0.0 }).collect()
    }
}
