//! Putting a scene together.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use glam::DVec3;
use plisse_core::{Faces, Field, Id, Positive, Vertices};
use plisse_system::{
    Adaptive, Gravity, Implicit, Integrator, NewtonSettings, Pin, Scheme, SetupError, State, System, Term,
    Wind,
};

use super::SceneError;
use super::air::{Air, check_air};
use super::assembly::{Assembly, RESOLVED, held_vertices};
use super::bodies::{Bodies, Place};
use super::body::Body;
use super::cloth::{Cloth, Model};
use super::crossings::{CrossedStart, Surfaces};
use super::developable::{self, Sheet, Sheets};
use super::friction::{Named, PairFriction, PairFrictions};
use super::obstacle::{ContactLaw, ContactTerm, FrictionTerm, Names, Obstacle, Touch, Toucher};
use super::pins::Held;
use super::plausible::{cloth_warnings, wire_warnings};
use super::scene::{BodyInfo, Kind, Scene};
use super::stages::Stages;
use super::start::{Placed, check_start};
use super::terms::whole_surface;
use super::timeline::Timeline;
use super::touching::{BodyContact, Everything};
use super::warning::SceneWarning;
use super::wires::Wires;
use super::yarns::Yarns;

/// Collects what a scene is made of; [`SceneBuilder::build`] checks it.
///
/// ```
/// use glam::DVec3;
/// use plisse_core::Positive;
/// use plisse_scene::scene::{Air, Cloth, Material, Pick, Scene, SceneBuilder, Settings, Wires};
/// use plisse_system::{NewtonSettings, Scheme};
/// let flag = Cloth::sheet([8, 6], [0.9, 0.6])?.material(Material::silk()).pin(Pick::group("left"));
/// let wind = Air { velocity: DVec3::new(5.0, 0.0, 0.0), gusts: 0.3, ..Air::default() };
/// let settings = Settings { newton: NewtonSettings::default(), ..Settings::default() };
/// let builder: SceneBuilder = Scene::builder()
///     .cloth(flag)
///     .wires(Wires::line(DVec3::Y, DVec3::Y + DVec3::X, 4)?.pin(Pick::group("start")))
///     .settings(settings)
///     .time_step(Positive::literal(0.02))
///     .scheme(Scheme::Bdf2)
///     .gravity(DVec3::new(0.0, 0.0, -1.62))
///     .air(wind);
/// let mut scene = builder.build()?;
/// scene.step()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SceneBuilder {
    parts: Vec<Part>,
    obstacles: Vec<Obstacle>,
    friction: Vec<PairFriction>,
    crossed_start: CrossedStart,
    gravity: DVec3,
    air: Option<Air>,
    wind: Option<Timeline<DVec3>>,
    settings: Settings,
    terms: Vec<OwnTerm>,
    integrator: Option<OwnIntegrator>,
}

type BoxedTerm = Box<dyn Term<Vertices>>;
type BoxedIntegrator = Box<dyn Integrator<Vertices> + Send + Sync>;
type MakeTerm = dyn Fn(&Bodies<'_>) -> Result<BoxedTerm, Box<dyn Error>> + Send + Sync;
type MakeIntegrator =
    dyn Fn(&System<Vertices>, &Settings) -> Result<BoxedIntegrator, SetupError> + Send + Sync;

/// How a term of the user's own is made, once the bodies have their numbers.
#[derive(Clone)]
struct OwnTerm(Arc<MakeTerm>);

/// How an integrator of the user's own is made.
#[derive(Clone)]
struct OwnIntegrator(Arc<MakeIntegrator>);

impl fmt::Debug for OwnTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnTerm")
    }
}

impl fmt::Debug for OwnIntegrator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnIntegrator")
    }
}

/// A cloth, wires or yarns.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Cloth(Box<Cloth>),
    Wires(Box<Wires>),
    Yarns(Box<Yarns>),
}

/// How time advances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Longest step, s.
    pub time_step: Positive,
    /// Steps that do not converge are shortened down to this; none forbids shortening.
    pub shortest_step: Option<Positive>,
    /// The integration scheme.
    pub scheme: Scheme,
    /// How equations are solved.
    pub newton: NewtonSettings,
}

impl Default for Settings {
    /// Backward Euler with 10 ms, down to 10 µs, everything else as in [`NewtonSettings`].
    fn default() -> Self {
        Self {
            time_step: Positive::literal(0.01),
            shortest_step: Some(Positive::literal(1e-5)),
            scheme: Scheme::BackwardEuler,
            newton: NewtonSettings::default(),
        }
    }
}

impl Default for SceneBuilder {
    /// An empty scene with gravity 9.81 m/s² against z.
    fn default() -> Self {
        Self {
            parts: Vec::new(),
            obstacles: Vec::new(),
            friction: Vec::new(),
            crossed_start: CrossedStart::Refuse,
            gravity: DVec3::new(0.0, 0.0, -9.81),
            air: None,
            wind: None,
            settings: Settings::default(),
            terms: Vec::new(),
            integrator: None,
        }
    }
}

impl SceneBuilder {
    /// Adds a cloth.
    #[must_use]
    pub fn cloth(mut self, cloth: Cloth) -> Self {
        self.parts.push(Part::Cloth(Box::new(cloth)));
        self
    }

    /// Adds rods or a net.
    #[must_use]
    pub fn wires(mut self, wires: Wires) -> Self {
        self.parts.push(Part::Wires(Box::new(wires)));
        self
    }

    /// Adds woven cloth as yarns. Without a name it is counted among cloths.
    #[must_use]
    pub fn yarns(mut self, yarns: Yarns) -> Self {
        self.parts.push(Part::Yarns(Box::new(yarns)));
        self
    }

    /// Adds an obstacle.
    #[must_use]
    pub fn obstacle(mut self, obstacle: Obstacle) -> Self {
        self.obstacles.push(obstacle);
        self
    }

    /// Says what is done about triangles of cloths, boxes and meshes that cross at the start.
    #[must_use]
    pub fn crossed_start(self, crossed_start: CrossedStart) -> Self {
        Self { crossed_start, ..self }
    }

    /// Sets the coefficient of friction of two bodies, or of a body and an obstacle, in place of
    /// what follows from the coefficients of each. The same name twice is a body on itself. What
    /// has no name is called `cloth 1`, `wires 1` or `obstacle 1`, counted in the order in which it
    /// was added. Names that do not exist, pairs that cannot touch and coefficients below zero end
    /// [`Self::build`] with [`SceneError::FrictionBetween`].
    ///
    /// ```
    /// use glam::DVec3;
    /// use plisse_scene::scene::{Cloth, Obstacle, Scene, SceneError};
    /// let table = Obstacle::plane(DVec3::ZERO, DVec3::Z)?.named("table");
    /// let towel = Cloth::sheet([4, 4], [0.3, 0.3])?.named("towel").at(DVec3::Z * 0.01);
    /// let scene = Scene::builder().cloth(towel).obstacle(table).friction("towel", "table", 0.6);
    /// assert!(scene.clone().friction("towel", "towel", 0.2).build().is_ok());
    /// let wrong = scene.friction("towel", "tabel", 0.6).build().err();
    /// assert!(matches!(wrong, Some(SceneError::FrictionBetween { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn friction(mut self, a: impl Into<String>, b: impl Into<String>, coefficient: f64) -> Self {
        self.friction.push(PairFriction { names: [a.into(), b.into()], coefficient });
        self
    }

    /// With another gravity, m/s².
    #[must_use]
    pub fn gravity(self, gravity: DVec3) -> Self {
        Self { gravity, ..self }
    }

    /// With air that drags and blows.
    #[must_use]
    pub fn air(self, air: Air) -> Self {
        Self { air: Some(air), ..self }
    }

    /// With a mean wind in m/s that changes with time, in place of that of the [air](Self::air).
    /// Without air of its own, the scene has that of [`Air::default`].
    #[must_use]
    pub fn wind(mut self, velocity: Timeline<DVec3>) -> Self {
        self.air.get_or_insert_default();
        Self { wind: Some(velocity), ..self }
    }

    /// With other settings of time and solver.
    #[must_use]
    pub fn settings(self, settings: Settings) -> Self {
        Self { settings, ..self }
    }

    /// With another time step, in seconds.
    #[must_use]
    pub fn time_step(mut self, time_step: Positive) -> Self {
        self.settings.time_step = time_step;
        self
    }

    /// With another integration scheme.
    #[must_use]
    pub fn scheme(mut self, scheme: Scheme) -> Self {
        self.settings.scheme = scheme;
        self
    }

    /// Adds a term of one's own: a force, a load, a coupling between bodies. It is made when the
    /// scene is built, with the bodies in their final numbering; an error ends [`Self::build`] with
    /// [`SceneError::Term`].
    ///
    /// ```
    /// use glam::DVec3;
    /// use plisse_core::{Id, Positive};
    /// use plisse_scene::scene::{Cloth, Pick, Scene};
    /// use plisse_system::Attachments;
    ///
    /// let towel = Cloth::sheet([8, 8], [0.5, 0.5])?.named("towel").pin(Pick::group("top"));
    /// let scene = Scene::builder().cloth(towel).term(|bodies| {
    ///     let corner = bodies.find("towel").and_then(|towel| towel.vertex(Id::new(0)));
    ///     let corner = corner.ok_or("no such vertex")?;
    ///     Ok(Attachments::new("string").to_point(corner, DVec3::Z, Positive::literal(10.0)))
    /// });
    /// scene.build()?.step()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn term<T: Term<Vertices> + 'static>(
        mut self,
        make: impl Fn(&Bodies<'_>) -> Result<T, Box<dyn Error>> + Send + Sync + 'static,
    ) -> Self {
        self.terms.push(OwnTerm(Arc::new(move |bodies| Ok(Box::new(make(bodies)?)))));
        self
    }

    /// With an integrator of one's own in place of substeps of the [scheme](Settings::scheme) of
    /// the settings.
    ///
    /// What the integrator keeps between steps it must [forget](Integrator::forget) when asked, or
    /// resumed runs differ.
    ///
    /// ```
    /// use plisse_scene::scene::{Cloth, Scene};
    /// use plisse_system::SymplecticEuler;
    /// let falling = Scene::builder().cloth(Cloth::sheet([4, 4], [0.2, 0.2])?);
    /// let mut scene = falling.integrator(|system, _| SymplecticEuler::new(system)).build()?;
    /// scene.step_by(plisse_core::Positive::literal(1e-4))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn integrator<I: Integrator<Vertices> + Send + Sync + 'static>(
        mut self,
        make: impl Fn(&System<Vertices>, &Settings) -> Result<I, SetupError> + Send + Sync + 'static,
    ) -> Self {
        let boxed =
            move |system: &System<Vertices>, settings: &Settings| -> Result<BoxedIntegrator, SetupError> {
                Ok(Box::new(make(system, settings)?))
            };
        self.integrator = Some(OwnIntegrator(Arc::new(boxed)));
        self
    }

    /// Checks everything and freezes the system.
    pub fn build(self) -> Result<Scene, SceneError> {
        let scene = self.stage(f64::NEG_INFINITY)?;
        let stages = Stages::new(self)?;
        Ok(Scene { stages, ..scene })
    }

    /// The times at which pins let go, ascending.
    pub(super) fn releases(&self) -> Vec<f64> {
        let mut times: Vec<f64> = self.parts.iter().flat_map(|part| part.body().releases()).collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        times
    }

    /// What is done about triangles that cross at the start.
    pub(super) fn on_crossed_start(&self) -> CrossedStart {
        self.crossed_start
    }

    /// The scene at its start, but without the pins that have let go by a time.
    pub(super) fn stage(&self, time: f64) -> Result<Scene, SceneError> {
        if self.parts.is_empty() {
            return Err(SceneError::Empty);
        }
        if !self.gravity.is_finite() {
            return Err(SceneError::NotFinite { what: "gravity", value: self.gravity.to_array() });
        }
        let names = self.names()?;
        let (friction, wrong) = self.friction_table()?;
        if let Some((_, error)) = wrong.into_iter().next() {
            return Err(error);
        }
        let obstacles: Vec<Obstacle> =
            self.obstacles.iter().cloned().map(Obstacle::checked).collect::<Result<_, _>>()?;
        let mut warnings: Vec<SceneWarning> =
            self.parts.iter().zip(&names).flat_map(|(part, name)| part.warnings(name)).collect();
        let counts: Vec<usize> = self.parts.iter().map(|part| part.body().x.len()).collect();
        let total = counts.iter().sum();
        self.check_yarns(&names)?;
        let mut assembly = Assembly::new(self.gravity, &obstacles, time);
        for ((part, name), place) in self.parts.iter().zip(&names).zip(Place::all(&counts)) {
            assembly.add(part, name, place)?;
        }
        let Assembly { mass, weighed, areas, radii, ranges, finest, x, v, .. } = assembly;
        let Assembly { mut terms, limits, pins, held_first, faces, mut bodies, .. } = assembly;
        let mass = Field::from_vec(mass);
        let [areas, radii, ranges] = [areas, radii, ranges].map(Field::from_vec);
        let touch = Touch { areas, radii, ranges };
        let x = Field::from_vec(x);
        let farthest = RESOLVED * finest;
        if let Some((v, x)) = x.iter().find(|(_, x)| x.abs().max_element() > farthest) {
            let body = bodies.iter().find(|body| body.vertices.contains(&v.index()));
            let body = body.map_or_else(String::new, |body| body.name.clone());
            return Err(SceneError::TooFar { body, distance: x.length(), farthest });
        }
        let contacts: Vec<BodyContact> = self.parts.iter().map(|part| part.body().contact).collect();
        let finest_range = bodies
            .iter()
            .zip(&contacts)
            .map(|(body, contact)| contact.range_of(body).get())
            .fold(f64::INFINITY, f64::min);
        let obstacles: Vec<Obstacle> =
            obstacles.into_iter().map(|obstacle| obstacle.resolving(finest_range)).collect();
        let mut held = vec![false; total];
        for (v, pin) in &pins {
            held[v.index()] |= matches!(pin, Pin::Still | Pin::Moving(_));
        }
        let x = if self.crossed_start == CrossedStart::Untangle {
            let at_first: Vec<bool> = held_first.iter().map(|held| *held == Some(true)).collect();
            let surfaces = Surfaces::new(&bodies, &contacts, &obstacles, &x, &at_first);
            let mut apart = x.clone();
            let moved = surfaces.untangle(&mut apart, |v| held_first[v.index()].is_none());
            warnings.extend(moved.map(|(pairs, farthest)| SceneWarning::Untangled { pairs, farthest }));
            apart
        } else {
            x
        };
        for (body, limit) in limits {
            limit.check_start(&x, &body)?;
            terms.push(Box::new(limit));
        }
        let surroundings = Surroundings {
            obstacles: &obstacles,
            touch: &touch,
            bodies: &bodies,
            held: &held,
            start: &x,
            masses: &mass,
            contacts: &contacts,
            friction: &friction,
            crossed_start: self.crossed_start,
        };
        warnings.extend(surroundings.add_terms(&mut terms)?);
        self.air.as_ref().map_or(Ok(()), check_air)?;
        let mut sheets = Vec::new();
        for ((part, name), place) in self.parts.iter().zip(&names).zip(Place::all(&counts)) {
            if let Part::Cloth(cloth) = part
                && part.is_developable()
            {
                sheets.push(Sheet { cloth, name, place });
            }
        }
        let mut edge_sheets = Vec::new();
        let developable = if sheets.is_empty() {
            None
        } else {
            let has_own = !self.terms.is_empty() || self.integrator.is_some();
            let alone = self.parts.len() == sheets.len();
            for sheet in &sheets {
                let scene = [alone, !has_own];
                developable::check(sheet.cloth, sheet.name, &pins, scene)?;
            }
            // The edges have their own; contact was checked and is not needed.
            terms.clear();
            let (held, friction) = (&*held, &friction);
            let wind = self.air.map(|air| (air, self.wind.clone()));
            let sheets = Sheets { all: sheets, pins: &pins, start: &x, masses: &mass, held, friction, wind };
            edge_sheets = sheets.edges(&whole_surface(&faces, total)?);
            Some(sheets.integrator(&obstacles, self.gravity, &self.settings)?)
        };
        if let Some(air) = self.air.filter(|_| developable.is_none() && !faces.is_empty()) {
            let mesh = whole_surface(&faces, total)?;
            let wind = air.wind(self.wind.clone());
            terms.push(Box::new(Wind::gusts(&mesh, wind, air.density, air.coefficient)));
        }
        let has_weight = weighed.iter().any(|mass| *mass > 0.0);
        if self.gravity != DVec3::ZERO && developable.is_none() && has_weight {
            terms.push(Box::new(Gravity::new(self.gravity, &Field::from_vec(weighed))?));
        }
        let own = Bodies { all: &bodies, masses: &mass, start: &x };
        for OwnTerm(make) in &self.terms {
            terms.push(make(&own).map_err(|error| SceneError::Term { reason: error.to_string() })?);
        }
        let mut builder = System::builder(mass);
        for term in terms {
            builder = builder.boxed_term(term);
        }
        for (node, pin) in pins {
            builder = builder.constrain(node, pin);
        }
        let system = builder.build()?;
        for body in &mut bodies {
            if let Kind::Yarns { model, own, .. } = &mut body.kind {
                *own = system.own_range(&model.owner()).unwrap_or_default();
            }
        }
        let state = State::new(x.clone(), Field::from_vec(v))?;
        let settings = self.settings;
        let integrator: BoxedIntegrator = match (&self.integrator, developable) {
            (_, Some(developable)) => Box::new(developable),
            (Some(OwnIntegrator(make)), None) => make(&system, &settings)?,
            (None, None) => {
                let implicit = Implicit::new(&system, settings.scheme, settings.newton)?;
                let shortest = settings.shortest_step.unwrap_or(settings.time_step);
                Box::new(Adaptive::new(implicit, shortest))
            }
        };
        Ok(Scene {
            system,
            state,
            integrator,
            bodies,
            obstacles,
            settings,
            farthest,
            warnings,
            contacts,
            start: x,
            held,
            edge_sheets,
            stages: Stages::none(),
        })
    }

    /// Friction of single pairs by number, and what is wrong with some of them, by the order in
    /// which they were given.
    pub(crate) fn friction_table(&self) -> Result<(PairFrictions, Vec<(usize, SceneError)>), SceneError> {
        let touches_itself = self.parts.iter().map(|part| part.body().contact.touches_itself);
        let named = Named {
            bodies: self.names()?.into_iter().zip(touches_itself).collect(),
            obstacles: self.obstacles.iter().enumerate().map(|(i, obstacle)| obstacle.called(i)).collect(),
        };
        Ok(PairFrictions::new(&self.friction, &named))
    }

    /// Refuses what yarns do not know.
    fn check_yarns(&self, names: &[String]) -> Result<(), SceneError> {
        let yarns = |(part, _): &(&Part, &String)| matches!(part, Part::Yarns(_));
        let Some((_, body)) = self.parts.iter().zip(names).find(yarns) else { return Ok(()) };
        let problems = [
            (self.air.is_some(), "air does not act on them yet; remove the table of the air"),
            (
                self.integrator.is_none() && self.settings.scheme != Scheme::BackwardEuler,
                "the inertia of sliding material is that of backward Euler; choose this scheme",
            ),
        ];
        match problems.into_iter().find(|(is_so, _)| *is_so) {
            None => Ok(()),
            Some((_, reason)) => Err(SceneError::NotForYarns { body: body.clone(), reason }),
        }
    }

    /// The name of each part: its own, or its kind with a number.
    fn names(&self) -> Result<Vec<String>, SceneError> {
        let mut names: Vec<String> = Vec::new();
        let (mut cloths, mut wires) = (0, 0);
        for part in &self.parts {
            let (kind, count) = match part {
                Part::Cloth(_) | Part::Yarns(_) => ("cloth", &mut cloths),
                Part::Wires(_) => ("wires", &mut wires),
            };
            *count += 1;
            let name = part.body().name.clone().unwrap_or_else(|| format!("{kind} {count}"));
            if names.contains(&name) {
                return Err(SceneError::DuplicateName { name });
            }
            names.push(name);
        }
        Ok(names)
    }
}

/// Obstacles, and what may touch them.
struct Surroundings<'a> {
    obstacles: &'a [Obstacle],
    touch: &'a Touch,
    bodies: &'a [BodyInfo],
    /// Of each vertex, whether a pin says where it is.
    held: &'a [bool],
    start: &'a Field<Vertices, DVec3>,
    masses: &'a Field<Vertices, f64>,
    contacts: &'a [BodyContact],
    friction: &'a PairFrictions,
    crossed_start: CrossedStart,
}

impl Surroundings<'_> {
    /// Adds terms, and says what is suspicious.
    fn add_terms(
        &self,
        terms: &mut Vec<Box<dyn Term<Vertices>>>,
    ) -> Result<Option<SceneWarning>, SceneError> {
        let (pairs, tangles) = match self.crossed_start {
            CrossedStart::Ignore => self.tangles(),
            CrossedStart::Refuse | CrossedStart::Untangle => (0, Vec::new()),
        };
        self.check_starts(&tangles)?;
        let mut names: Vec<String> = self.bodies.iter().map(|body| body.name.clone()).collect();
        for (index, obstacle) in self.obstacles.iter().enumerate() {
            let name = obstacle.called(index);
            if names.contains(&name) {
                return Err(SceneError::DuplicateName { name });
            }
            if obstacle.parts(self.start).is_some() {
                names.push(name);
                continue;
            }
            let is_free = |v: Id<Vertices>| !self.held[v.index()];
            let touchers = self.touch.touchers_from_start(obstacle, is_free, self.start);
            let held = self.touch.radii.iter().filter(|(v, _)| !is_free(*v));
            let held = held.map(|(v, radius)| (v, *radius)).collect();
            let law = ContactLaw::Barrier;
            let contact =
                ContactTerm::new(format!("{name}: contact"), obstacle.clone(), law, Arc::clone(&touchers));
            let all = self.bodies.iter().map(|body| (body.name.clone(), body.vertices.clone()));
            let called = Names { obstacle: name.clone(), bodies: all.collect() };
            terms.push(Box::new(contact.watching(held).naming(called)));
            let coefficients = self.coefficients(index, &touchers);
            if coefficients.iter().any(|coefficient| *coefficient > 0.0) {
                let name = format!("{name}: friction");
                terms.push(Box::new(FrictionTerm::new(name, obstacle.clone(), touchers, coefficients)));
            }
            names.push(name);
        }
        let Self { bodies, obstacles, start, held, contacts, masses, friction, .. } = *self;
        let everything =
            Everything { bodies, contacts, obstacles, start, masses, held, friction, is_tangled: pairs > 0 };
        if let Some(contact) = everything.term()? {
            terms.push(Box::new(contact));
        }
        let warning = SceneWarning::StartsTangled { pairs, tangles: tangles.len() };
        Ok(Some(warning).filter(|_| pairs > 0))
    }

    /// How many pairs of triangles cross at the start, and what is tangled there.
    fn tangles(&self) -> (usize, Vec<Vec<Id<Vertices>>>) {
        let Self { bodies, contacts, obstacles, start, held, .. } = *self;
        Surfaces::new(bodies, contacts, obstacles, start, held).tangles(start)
    }

    /// Of each toucher, the coefficient of friction on an obstacle.
    fn coefficients(&self, obstacle: usize, touchers: &[Toucher]) -> Vec<f64> {
        let usual = self.obstacles[obstacle].law().friction;
        let one = |toucher: &Toucher| {
            let v = toucher.vertex.index();
            let body = self.bodies.iter().position(|body| body.vertices.contains(&v))?;
            self.friction.between(body, self.bodies.len() + obstacle)
        };
        touchers.iter().map(|toucher| one(toucher).unwrap_or(usual)).collect()
    }

    /// Whether every body starts outside of every obstacle, but for what is tangled.
    fn check_starts(&self, tangles: &[Vec<Id<Vertices>>]) -> Result<(), SceneError> {
        let mut tangled = vec![false; self.start.len()];
        let of_body = |v: &Id<Vertices>| v.index() < self.start.len();
        for tangle in tangles.iter().filter(|tangle| !tangle.iter().all(of_body)) {
            tangle.iter().filter(|v| of_body(v)).for_each(|v| tangled[v.index()] = true);
        }
        let (x, radii) = (self.start.as_slice(), self.touch.radii.as_slice());
        let place = |BodyInfo { name, vertices, .. }: &'_ BodyInfo| {
            let at = || vertices.clone();
            let (x, radii) = (&x[at()], &radii[at()]);
            Placed { name: name.clone(), x, radii, held: &self.held[at()], tangled: &tangled[at()] }
        };
        let bodies: Vec<Placed<'_>> = self.bodies.iter().map(place).collect();
        // The barrier is infinite on the surface.
        check_start(self.obstacles, &bodies, |_| 0.0)
    }
}

impl Part {
    fn warnings(&self, name: &str) -> Vec<SceneWarning> {
        match self {
            Self::Cloth(cloth) => cloth_warnings(cloth, name),
            Self::Wires(wires) => wire_warnings(wires, name),
            Self::Yarns(_) => Vec::new(),
        }
    }

    /// Which faces have all their corners held.
    pub(super) fn held_faces(&self, held: &[Held]) -> Field<Faces, bool> {
        let Self::Cloth(cloth) = self else { return Field::from_vec(Vec::new()) };
        let is_held = held_vertices(&cloth.body, held);
        cloth.mesh.faces().map(|corners| corners.iter().all(|v| is_held[*v]))
    }

    pub(super) fn is_developable(&self) -> bool {
        matches!(self, Self::Cloth(cloth) if cloth.model == Model::Developable)
    }

    pub(super) fn body(&self) -> &Body {
        match self {
            Self::Cloth(cloth) => &cloth.body,
            Self::Wires(wires) => &wires.body,
            Self::Yarns(yarns) => &yarns.body,
        }
    }
}
