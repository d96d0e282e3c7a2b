//! Putting a scene together.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use glam::DVec3;
use plisse_core::{Faces, Field, Id, Positive, Vertices};
use plisse_system::{
    Adaptive, Gravity, Implicit, Integrator, NewtonSettings, Pin, Scheme, SetupError, State, System, Term,
    Wind,
};
use plisse_yarn::YarnModel;

use super::SceneError;
use super::bodies::{Bodies, Place};
use super::body::{Body, Held, Way};
use super::cloth::{Cloth, Model};
use super::crossings::{CrossedStart, Surfaces};
use super::damping::Damping;
use super::developable::{self, Sheet, Sheets};
use super::drag::MassDamping;
use super::friction::{Named, PairFriction, PairFrictions};
use super::obstacle::{ContactLaw, ContactTerm, FrictionTerm, Names, Obstacle, Touch, Toucher};
use super::plausible::{cloth_warnings, wire_warnings};
use super::scene::{BodyInfo, Kind, Scene};
use super::start::{Placed, check_start};
use super::strain_limit::StrainLimitTerm;
use super::terms::{
    Slot, check_filling, cloth_masses, cloth_terms, mean_edge, whole_surface, wire_masses, wire_terms,
};
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
enum Part {
    Cloth(Box<Cloth>),
    Wires(Box<Wires>),
    Yarns(Box<Yarns>),
}

/// Moving or still air around the cloth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Air {
    /// Mean wind in m/s; zero for still air, which only drags.
    pub velocity: DVec3,
    /// Part of the wind that comes and goes, as a multiple of the mean: zero for a steady wind.
    pub gusts: f64,
    /// kg/m³.
    pub density: Positive,
    /// Drag coefficient of a plate across the wind.
    pub coefficient: Positive,
}

impl Default for Air {
    /// Still air: 1.2 kg/m³, drag coefficient 1.2.
    fn default() -> Self {
        Self {
            velocity: DVec3::ZERO,
            gusts: 0.0,
            density: Positive::literal(1.2),
            coefficient: Positive::literal(1.2),
        }
    }
}

impl Air {
    /// The wind at a time. Gusts are three sines without a common period, the same in every run.
    #[must_use]
    pub fn at(&self, time: f64) -> DVec3 {
        let wave = (2.1 * time).sin() + 0.6 * (5.3 * time + 1.0).sin() + 0.4 * (11.7 * time + 2.0).sin();
        self.velocity * (1.0 + 0.5 * self.gusts * wave)
    }
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
        let mut warnings: Vec<SceneWarning> =
            self.parts.iter().zip(&names).flat_map(|(part, name)| part.warnings(name)).collect();
        let counts: Vec<usize> = self.parts.iter().map(|part| part.body().x.len()).collect();
        let total = counts.iter().sum();
        self.check_yarns(&names)?;
        let mut assembly = Assembly::new(self.gravity);
        for ((part, name), place) in self.parts.iter().zip(&names).zip(Place::all(&counts)) {
            assembly.add(part, name, place)?;
        }
        let Assembly { mass, weighed, areas, radii, ranges, finest, x, v, .. } = assembly;
        let Assembly { mut terms, limits, pins, faces, mut bodies, .. } = assembly;
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
        let seen = |obstacle: Obstacle| Ok(obstacle.checked()?.resolving(finest_range));
        let obstacles: Vec<Obstacle> =
            self.obstacles.into_iter().map(seen).collect::<Result<_, SceneError>>()?;
        let mut held = vec![false; total];
        for (v, pin) in &pins {
            held[v.index()] |= matches!(pin, Pin::Still | Pin::Moving(_));
        }
        let x = if self.crossed_start == CrossedStart::Untangle {
            let surfaces = Surfaces::new(&bodies, &contacts, &obstacles, &x, &held);
            let mut apart = x.clone();
            let is_pinned: BTreeSet<u32> = pins.iter().map(|(v, _)| v.get()).collect();
            let moved = surfaces.untangle(&mut apart, |v| !is_pinned.contains(&v.get()));
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
            let (held, friction, air) = (&*held, &friction, self.air);
            let sheets = Sheets { all: sheets, pins: &pins, start: &x, masses: &mass, held, friction, air };
            edge_sheets = sheets.edges(&whole_surface(&faces, total)?);
            Some(sheets.integrator(&obstacles, self.gravity, &self.settings)?)
        };
        if let Some(air) = self.air.filter(|_| developable.is_none() && !faces.is_empty()) {
            let mesh = whole_surface(&faces, total)?;
            terms.push(Box::new(Wind::gusts(&mesh, move |t| air.at(t), air.density, air.coefficient)));
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

fn check_air(air: &Air) -> Result<(), SceneError> {
    if !air.velocity.is_finite() {
        return Err(SceneError::NotFinite { what: "the wind", value: air.velocity.to_array() });
    }
    if !(0.0..=1.0).contains(&air.gusts) {
        let expected = "give a number from 0 (steady) to 1";
        return Err(SceneError::BadParameter { what: "the strength of gusts", value: air.gusts, expected });
    }
    Ok(())
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
    fn held_faces(&self, held: &[Held]) -> Field<Faces, bool> {
        let Self::Cloth(cloth) = self else { return Field::from_vec(Vec::new()) };
        let is_held = held_vertices(&cloth.body, held);
        cloth.mesh.faces().map(|corners| corners.iter().all(|v| is_held[*v]))
    }

    fn is_developable(&self) -> bool {
        matches!(self, Self::Cloth(cloth) if cloth.model == Model::Developable)
    }

    fn body(&self) -> &Body {
        match self {
            Self::Cloth(cloth) => &cloth.body,
            Self::Wires(wires) => &wires.body,
            Self::Yarns(yarns) => &yarns.body,
        }
    }
}

/// Whether a pin says where a vertex of a body is.
fn held_vertices(body: &Body, held: &[Held]) -> Field<Vertices, bool> {
    let mut is_held = Field::filled(body.x.len(), false);
    for held in held.iter().filter(|held| matches!(held.way, Way::Still | Way::Moving(..))) {
        is_held[held.vertex] = true;
    }
    is_held
}

/// Coordinates up to this many mean edges resolve an edge to a part in a thousand million.
const RESOLVED: f64 = 1e-9 / f64::EPSILON;

/// All bodies in one numbering.
struct Assembly {
    gravity: DVec3,
    mass: Vec<f64>,
    /// Masses that gravity acts on; yarns, whose material slides, have weights of their own.
    weighed: Vec<f64>,
    areas: Vec<f64>,
    radii: Vec<f64>,
    /// Gaps at which contact begins where obstacles say nothing.
    ranges: Vec<f64>,
    /// The smallest mean edge of a body, m.
    finest: f64,
    x: Vec<DVec3>,
    v: Vec<DVec3>,
    terms: Vec<Box<dyn Term<Vertices>>>,
    /// Strain limits with the name of their body.
    limits: Vec<(String, StrainLimitTerm)>,
    pins: Vec<(Id<Vertices>, Pin)>,
    faces: Vec<[u32; 3]>,
    bodies: Vec<BodyInfo>,
}

impl Assembly {
    fn new(gravity: DVec3) -> Self {
        Self {
            gravity,
            mass: Vec::new(),
            weighed: Vec::new(),
            areas: Vec::new(),
            radii: Vec::new(),
            ranges: Vec::new(),
            finest: f64::INFINITY,
            x: Vec::new(),
            v: Vec::new(),
            terms: Vec::new(),
            limits: Vec::new(),
            pins: Vec::new(),
            faces: Vec::new(),
            bodies: Vec::new(),
        }
    }

    fn add(&mut self, part: &Part, name: &str, place: Place) -> Result<(), SceneError> {
        let body = part.body();
        let all_held = body.held(name)?;
        let held = part.held_faces(&all_held);
        let slot = Slot { name, held: &held };
        let Measured { masses, areas, damping, edge, range, kind } = match part {
            Part::Cloth(cloth) => {
                check_filling(cloth, name)?;
                let placed = place.cloth(cloth);
                // Developable cloth has none on vertices.
                if !part.is_developable() {
                    cloth_terms(&placed, slot, &mut self.terms)?;
                }
                let limit = StrainLimitTerm::of_cloth(cloth, &held_vertices(body, &all_held), place, name)?;
                self.limits.extend(limit.map(|limit| (name.to_owned(), limit)));
                self.faces.extend(placed.mesh.faces().as_slice().iter().map(|f| f.map(Id::get)));
                let (masses, areas) = cloth_masses(cloth);
                let (mesh, rest, uv) = (cloth.mesh.clone(), cloth.rest.clone(), cloth.uv.clone());
                let edge = mean_edge(cloth);
                let (damping, range) = (cloth.material.damping, 0.5 * edge);
                Measured { masses, areas, damping, edge, range, kind: Kind::Cloth { mesh, rest, uv } }
            }
            Part::Wires(wires) => {
                wires.check_net(name)?;
                wire_terms(&place.wires(wires), slot, &mut self.terms)?;
                let (masses, areas) = wire_masses(wires);
                let radius = wires.wire.radius.get();
                let segments = wires.segments.clone();
                // The net has been built: no index is out of range.
                let length = |[a, b]: &[u32; 2]| wires.rest[Id::new(*a)].distance(wires.rest[Id::new(*b)]);
                let rest_lengths: Vec<f64> = segments.iter().map(length).collect();
                let mean = rest_lengths.iter().sum::<f64>() / rest_lengths.len() as f64;
                let (damping, range) = (wires.wire.damping, radius.min(0.5 * mean));
                let kind = Kind::Wires { segments, rest_lengths, radius };
                Measured { masses, areas, damping, edge: mean, range, kind }
            }
            Part::Yarns(yarns) => self.add_yarns(yarns, name, place),
        };
        if let Some(rate) = damping.mass {
            let coefficients = masses.iter().map(|(v, m)| (place.id(v), m * rate.get())).collect();
            self.terms.push(Box::new(MassDamping { name: format!("{name}: damping"), coefficients }));
        }
        let start = self.pin(body, all_held, place);
        self.mass.extend_from_slice(masses.as_slice());
        self.areas.extend_from_slice(areas.as_slice());
        let is_weighed = !matches!(kind, Kind::Yarns { .. });
        self.weighed.extend(masses.as_slice().iter().map(|mass| if is_weighed { *mass } else { 0.0 }));
        match &kind {
            Kind::Cloth { .. } => self.radii.resize(self.areas.len(), 0.0),
            Kind::Wires { radius, .. } => self.radii.resize(self.areas.len(), *radius),
            Kind::Yarns { model, .. } => self.radii.extend(Yarns::node_sizes(model.patch()).0),
        }
        self.ranges.resize(self.areas.len(), range);
        self.finest = self.finest.min(edge);
        self.x.extend(start.x);
        self.v.extend(start.v);
        self.bodies.push(BodyInfo { name: name.to_owned(), vertices: place.range(), kind });
        Ok(())
    }

    /// Adds the terms of yarns.
    fn add_yarns(&mut self, yarns: &Yarns, name: &str, place: Place) -> Measured {
        let first = place.id(Id::new(0));
        let model = YarnModel::new(yarns.patch.clone()).named(name).starting_at(first);
        let x = yarns.body.x.as_slice();
        let origin = x.iter().sum::<DVec3>() / x.len() as f64;
        self.terms.extend(model.terms(self.gravity, origin));
        let (patch, radii) = (&yarns.patch, Yarns::contact_radii(&yarns.patch));
        let mean = Yarns::mean_segment(patch);
        let range = radii.iter().copied().fold(0.5 * mean, f64::min);
        let [masses, areas] = [patch.masses(), Yarns::node_sizes(patch).1].map(Field::from_vec);
        let kind = Kind::Yarns { model, own: 0..0, radii };
        Measured { masses, areas, damping: Damping::NONE, edge: mean, range, kind }
    }

    /// The pins of a body; gives where its vertices start.
    fn pin(&mut self, body: &Body, all: Vec<Held>, place: Place) -> Start {
        let mut is_held = Field::filled(body.x.len(), false);
        all.iter().for_each(|held| is_held[held.vertex] = true);
        let mut x = body.start(|v| is_held[v]);
        let v = is_held.iter().map(|(_, held)| if *held { DVec3::ZERO } else { body.velocity }).collect();
        for held in all {
            let pin = match held.way {
                Way::Still => Pin::Still,
                Way::Line(direction) => Pin::Line(direction),
                Way::Plane(normal) => Pin::Plane(normal),
                Way::Moving(..) => {
                    let held = held.clone();
                    x[held.vertex.index()] = held.at(0.0);
                    Pin::Moving(Arc::new(move |t| held.at(t)))
                }
            };
            self.pins.push((place.id(held.vertex), pin));
        }
        Start { x, v }
    }
}

/// What a body adds to a scene beside its terms.
struct Measured {
    /// kg.
    masses: Field<Vertices, f64>,
    /// Areas that contact of vertices acts on, m².
    areas: Field<Vertices, f64>,
    damping: Damping,
    /// Mean length of edges or segments, m.
    edge: f64,
    /// Gap at which contact of vertices begins where nothing else is said, m.
    range: f64,
    kind: Kind,
}

/// Positions and velocities of a body at the start. Held vertices are where their pins have them,
/// at rest.
struct Start {
    x: Vec<DVec3>,
    v: Vec<DVec3>,
}
