//! A developable sheet as a whole: elements, bending, pins, time integration, ghost and contact.

use std::sync::Arc;

use glam::DVec3;
use plisse_core::{Edges, Faces, Field, Id, Positive, Vertices};
use plisse_system::{
    Balance, Cause, Energies, Gravity, Integrator, Ledger, Motion, NewtonSettings, OwnState, Pin, Previous,
    Scheme, State, StepError, StepReport, System, Term,
};

use crate::bending::EdgeBending;
use crate::constraint::Constraint;
use crate::constraints::{Anchor, Anchors, Ribbon, RigidTriangles, Support, Supports, ribbon_edges};
use crate::contact::GhostContact;
use crate::element::CrMesh;
use crate::error::ConstrainedError;
use crate::ghost::{Ghost, GhostWeights};
use crate::integrator::{FastProjection, Predicted, with_ledger};
use crate::projector::{ProjectionReport, ProjectionSettings, Projector};
use crate::reach::{PinTarget, Reach, VertexPin};

/// What a [`Developable`] is made of.
pub struct DevelopableBuilder {
    mesh: CrMesh,
    /// Of each face, kg/m².
    densities: Field<Faces, f64>,
    rigidity: Option<EdgeBending>,
    gravity: DVec3,
    ribbon: bool,
    pins: Vec<VertexPin>,
    clamps: Vec<Id<Edges>>,
    terms: Vec<Box<dyn Term<Edges>>>,
    constraints: Vec<Arc<dyn Constraint<Edges>>>,
    scheme: Scheme,
    settings: ProjectionSettings,
    newton: Option<NewtonSettings>,
    weights: GhostWeights,
    contact: Option<GhostContact>,
}

impl DevelopableBuilder {
    /// A sheet of this density in kg/m² without bending, pins and gravity; BDF2, with a conforming
    /// ribbon along its boundary.
    #[must_use]
    pub fn new(mesh: CrMesh, density: Positive) -> Self {
        let densities = Field::filled(mesh.mesh().face_count(), density.get());
        Self {
            mesh,
            densities,
            rigidity: None,
            gravity: DVec3::ZERO,
            ribbon: true,
            pins: Vec::new(),
            clamps: Vec::new(),
            terms: Vec::new(),
            constraints: Vec::new(),
            scheme: Scheme::Bdf2,
            settings: ProjectionSettings::implicit(),
            newton: None,
            weights: GhostWeights::default(),
            contact: None,
        }
    }

    /// With this bending rigidity, J.
    #[must_use]
    pub fn bending(self, rigidity: Positive) -> Self {
        Self { rigidity: Some(EdgeBending::new(&self.mesh, rigidity)), ..self }
    }

    /// With this bending: rigidities that differ, or creases.
    #[must_use]
    pub fn edge_bending(self, bending: EdgeBending) -> Self {
        Self { rigidity: Some(bending), ..self }
    }

    /// With a density of each face, kg/m².
    #[must_use]
    pub fn densities(self, density: impl Fn(Id<Faces>) -> Positive) -> Self {
        let densities = Field::from_fn(self.mesh.mesh().face_count(), |face| density(face).get());
        Self { densities, ..self }
    }

    /// With this gravity, m/s².
    #[must_use]
    pub fn gravity(self, gravity: DVec3) -> Self {
        Self { gravity, ..self }
    }

    /// Without the conforming ribbon: triangles at the boundary meet in midpoints only.
    #[must_use]
    pub fn without_ribbon(self) -> Self {
        Self { ribbon: false, ..self }
    }

    /// Holds a vertex at a place, m.
    #[must_use]
    pub fn pin(mut self, vertex: Id<Vertices>, place: DVec3) -> Self {
        self.pins.push(VertexPin { vertex, target: PinTarget::Still(place) });
        self
    }

    /// Moves a vertex along a path, position in metres by time in seconds.
    #[must_use]
    pub fn move_pin(mut self, vertex: Id<Vertices>, motion: Motion) -> Self {
        self.pins.push(VertexPin { vertex, target: PinTarget::Moving(motion) });
        self
    }

    /// Holds edges where the state has them: neither their place nor their direction changes where
    /// all edges of a triangle are held.
    #[must_use]
    pub fn clamp(mut self, edges: impl IntoIterator<Item = Id<Edges>>) -> Self {
        self.clamps.extend(edges);
        self
    }

    /// Adds a term on edge positions: a load, a soft material.
    #[must_use]
    pub fn term(mut self, term: impl Term<Edges> + 'static) -> Self {
        self.terms.push(Box::new(term));
        self
    }

    /// Adds a constraint on edge positions.
    #[must_use]
    pub fn constraint(mut self, constraint: impl Constraint<Edges> + 'static) -> Self {
        self.constraints.push(Arc::new(constraint));
        self
    }

    /// With another scheme: backward Euler or BDF2.
    #[must_use]
    pub fn scheme(self, scheme: Scheme) -> Self {
        Self { scheme, ..self }
    }

    /// With other settings of the projection than [`ProjectionSettings::implicit`].
    #[must_use]
    pub fn projection(self, settings: ProjectionSettings) -> Self {
        Self { settings, ..self }
    }

    /// With other settings of the predictor.
    #[must_use]
    pub fn newton(self, newton: NewtonSettings) -> Self {
        Self { newton: Some(newton), ..self }
    }

    /// With other weights of what collisions do to edges.
    #[must_use]
    pub fn ghost_weights(self, weights: GhostWeights) -> Self {
        Self { weights, ..self }
    }

    /// With contact of the ghost mesh.
    #[must_use]
    pub fn contact(self, contact: GhostContact) -> Self {
        Self { contact: Some(contact), ..self }
    }

    /// Checks everything.
    ///
    /// # Errors
    /// [`ConstrainedError`] for pins of vertices that do not exist, twice the same pin, pins that
    /// start out of reach, and what the parts refuse.
    pub fn build(self) -> Result<Developable, ConstrainedError> {
        let (mesh, pins) = (&self.mesh, &self.pins);
        for (k, pin) in pins.iter().enumerate() {
            if pins[..k].iter().any(|other| other.vertex == pin.vertex) {
                return Err(ConstrainedError::PinnedTwice { vertex: pin.vertex });
            }
        }
        let anchor = |pin: &VertexPin| match &pin.target {
            PinTarget::Still(place) => Anchor::vertex(mesh, pin.vertex, *place),
            PinTarget::Moving(motion) => Anchor::moving_vertex(mesh, pin.vertex, motion.clone()),
        };
        let anchors: Vec<Anchor<Edges>> = pins.iter().map(anchor).collect::<Result<_, _>>()?;
        let mass = mesh.edge_masses(&self.densities);
        let mut builder = System::builder(mass.clone());
        if let Some(bending) = &self.rigidity {
            builder = builder.term(bending.term());
        }
        if self.gravity != DVec3::ZERO {
            builder = builder.term(Gravity::new(self.gravity, &mass)?);
        }
        for term in self.terms {
            builder = builder.boxed_term(term);
        }
        for edge in &self.clamps {
            builder = builder.constrain(*edge, Pin::Still);
        }
        let system = builder.build()?;
        let ribbon = if self.ribbon { ribbon_edges(mesh) } else { Vec::new() };
        let mut constraints: Vec<Arc<dyn Constraint<Edges>>> =
            vec![Arc::new(RigidTriangles::new(mesh, &ribbon))];
        if !ribbon.is_empty() {
            constraints.push(Arc::new(Ribbon::new(mesh, ribbon)));
        }
        if !anchors.is_empty() {
            constraints.push(Arc::new(Anchors::new(anchors)));
        }
        constraints.extend(self.constraints);
        let inner = match self.newton {
            None => FastProjection::new(&system, constraints, self.scheme, self.settings)?,
            Some(newton) => {
                FastProjection::with_newton(&system, constraints, self.scheme, self.settings, newton)?
            }
        };
        let inverse = Field::from_fn(mass.len(), |e| if system.is_held(e) { 0.0 } else { 1.0 / mass[e] });
        let ghost = Ghost::new(mesh, &inverse, self.weights)?;
        let reach = Reach::new(mesh, self.pins.clone());
        reach.check(0.0)?;
        Ok(Developable {
            system,
            inner,
            reach,
            ghost,
            contact: self.contact,
            mesh: self.mesh,
            last: DevelopableReport::default(),
        })
    }
}

/// What the last step of a [`Developable`] did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DevelopableReport {
    /// The projection.
    pub projection: ProjectionReport,
    /// Pairs of the ghost that repulsion has pushed.
    pub repelled: usize,
    /// What impulses and zones did; none without contact.
    pub response: Option<plisse_collision::ResponseReport>,
    /// How often the projection was done again with new contacts.
    pub passes: usize,
    /// The farthest that contact has moved a vertex of the ghost from where the edges see it, m.
    pub apart: f64,
}

/// A developable sheet that moves: an integrator whose state is the ghost mesh.
///
/// Positions of the state are the vertices of the ghost, which are drawn, written and collide; what
/// the edges need is among the [state's own numbers](State::own), so that a saved state goes on
/// with the same bits. A state without them starts on a conforming surface.
///
/// [`Adaptive`](plisse_system::Adaptive) around it halves steps that fail and counts them.
pub struct Developable {
    mesh: CrMesh,
    system: System<Edges>,
    inner: FastProjection<Edges>,
    reach: Reach,
    ghost: Ghost,
    contact: Option<GhostContact>,
    last: DevelopableReport,
}

impl Developable {
    /// The element.
    #[must_use]
    pub fn mesh(&self) -> &CrMesh {
        &self.mesh
    }

    /// Masses and terms of the edges.
    #[must_use]
    pub fn edge_system(&self) -> &System<Edges> {
        &self.system
    }

    /// The ghost mesh.
    #[must_use]
    pub fn ghost(&self) -> &Ghost {
        &self.ghost
    }

    /// The pins of the sheet.
    #[must_use]
    pub fn pins(&self) -> &[VertexPin] {
        self.reach.pins()
    }

    /// What the last step did.
    #[must_use]
    pub fn last(&self) -> &DevelopableReport {
        &self.last
    }

    /// The edges of a state of the ghost: as they were saved in it, or the midpoints of its
    /// vertices.
    ///
    /// # Errors
    /// [`ConstrainedError`] for a state of another sheet.
    pub fn edges(&self, state: &State<Vertices>) -> Result<State<Edges>, ConstrainedError> {
        let count = self.mesh.mesh().edge_count();
        let (values, rates) = (&state.own().values, &state.own().rates);
        let length = |source| ConstrainedError::Length { what: "positions of the ghost", source };
        if values.is_empty() {
            let x = self.mesh.midpoints(state.x()).map_err(length)?;
            let v = self.mesh.midpoints(state.v()).map_err(length)?;
            let (own, ledger) = (OwnState::default(), state.ledger().copied());
            return Ok(State::resume(x, v, own, state.time(), None, None, ledger)?);
        }
        let (short, long) = (3 * count, 9 * count + 1);
        if values.len() != short && values.len() != long {
            return Err(ConstrainedError::ForeignState { expected: long, found: values.len() });
        }
        let field = |from: &[f64]| Field::from_vec(from.chunks_exact(3).map(DVec3::from_slice).collect());
        let previous = (values.len() == long).then(|| Previous {
            x: field(&values[short..2 * short]),
            v: field(&values[2 * short..3 * short]),
            dt: values[long - 1],
        });
        let (x, v) = (field(&values[..short]), field(&rates[..short]));
        let own = OwnState::default();
        Ok(State::resume(x, v, own, state.time(), previous, None, state.ledger().copied())?)
    }

    /// A state of the ghost that holds these edges.
    fn packed(
        &self,
        edges: &State<Edges>,
        ghost: Field<Vertices, DVec3>,
    ) -> Result<State<Vertices>, ConstrainedError> {
        let numbers = |field: &Field<Edges, DVec3>| -> Vec<f64> {
            field.as_slice().iter().flat_map(DVec3::to_array).collect()
        };
        let (mut values, mut rates) = (numbers(edges.x()), numbers(edges.v()));
        if let Some(previous) = edges.previous() {
            values.extend(numbers(&previous.x));
            values.extend(numbers(&previous.v));
            values.push(previous.dt);
        }
        rates.resize(values.len(), 0.0);
        let v = self.ghost.average(edges.v());
        let own = OwnState { values, rates };
        Ok(State::resume(ghost, v, own, edges.time(), None, None, edges.ledger().copied())?)
    }

    fn advance(
        &mut self,
        state: &State<Vertices>,
        dt: Positive,
    ) -> Result<(State<Vertices>, StepReport), StepError> {
        let (time, step) = (state.time(), dt.get());
        let failed = |may_heal: bool, cause: Cause| StepError::Failed { time, dt: step, may_heal, cause };
        let wrong = |error: ConstrainedError| failed(false, Cause::new(error));
        self.reach.check(time + step).map_err(wrong)?;
        let before = self.edges(state).map_err(wrong)?;
        let predicted = self.inner.predict(&self.system, &before, dt)?;
        let x = self.inner.project(&self.system, &predicted)?;
        let mut last = DevelopableReport { projection: self.inner.last().clone(), ..Default::default() };
        let mut ghost = self.ghost.average(&x);
        let Some(contact) = &self.contact else {
            let v = predicted.velocities(&x);
            let by = self.inner.projector();
            let (edges, report) = FastProjection::finish(&self.system, &before, predicted, (x, v), by, 0.0)?;
            let next = self.packed(&edges, ghost).map_err(wrong)?;
            self.last = last;
            return Ok((next, report));
        };
        let meeting = Meeting { contact, old: state.x(), times: [time, time + step], dt };
        let touched = self.meet(&meeting, &predicted, x, &mut ghost)?;
        (last.repelled, last.response) = (touched.repelled, Some(touched.response));
        (last.passes, last.apart) = (touched.passes, touched.apart);
        last.projection.errors.extend(touched.errors);
        let way = contact.way(state.x(), [time, time + step]);
        let at_rest = way == 0.0;
        let v = predicted.velocities(&touched.x);
        let by = touched.by.as_ref().unwrap_or(self.inner.projector());
        let ends = (touched.x, v);
        let (mut edges, mut report) =
            FastProjection::finish(&self.system, &before, predicted, ends, by, touched.push * way)?;
        if let Some(free) = touched.free {
            let energy = report.energies.total();
            edges = self.corrected(&before, &edges, &free, step).map_err(wrong)?;
            if at_rest {
                let most = report.balance.before + report.balance.work;
                edges = self.calmed(edges, &free, most).map_err(wrong)?;
            }
            report.energies = Energies::of(&self.system, &edges);
            // What contact takes is no loss of the scheme.
            report.balance.dissipated += energy - report.energies.total();
            report.balance.after += report.energies.total() - energy;
            if at_rest {
                let change = Balance { before: energy, after: report.energies.total(), ..Balance::default() };
                let ledger = edges.ledger().copied().unwrap_or_else(|| Ledger::new(&report.energies));
                let ledger = ledger.after(&change, &report.energies, 0.0, 0.0, 0.0);
                report.unexplained = ledger.fraction();
                edges = with_ledger(&edges, ledger).map_err(|error| wrong(error.into()))?;
            }
            (report.momentum, report.angular_momentum) = self.system.momenta(&edges);
        }
        let next = self.packed(&edges, ghost).map_err(wrong)?;
        self.last = last;
        Ok((next, report))
    }

    /// Leads the ghost past contacts, and the edges with it.
    ///
    /// The paper corrects edges after the projection, which then pulls them back in the next step:
    /// what rests on something is stretched by `g dt²` times its mass over that of what touches. So
    /// vertices that contact has moved become rows of the projection, which is done again from the
    /// predicted positions, until contact has little left to do; rows that would pull are dropped.
    fn meet(
        &self,
        meeting: &Meeting<'_>,
        predicted: &Predicted<Edges>,
        free: Field<Edges, DVec3>,
        ghost: &mut Field<Vertices, DVec3>,
    ) -> Result<Met, StepError> {
        let (h, factor, time) = (self.mesh.mean_edge(), predicted.factor(), predicted.trial.time());
        let wrong = |error: ConstrainedError| predicted.failed(false, Cause::new(error));
        let mut supports: Vec<Support> = Vec::new();
        let (mut x, mut by, mut errors) = (free.clone(), None, Vec::new());
        let (mut passes, mut push) = (0, 0.0);
        loop {
            let candidate = ghost.clone();
            let done = meeting
                .contact
                .respond(meeting.old, ghost, meeting.times, meeting.dt)
                .map_err(|error| predicted.failed(error.may_heal(), Cause::new(error)))?;
            let (repelled, response) = (done.repelled, done.response);
            let moved = |v: Id<Vertices>| ghost[v] - candidate[v];
            let farthest = ghost.ids().map(|v| moved(v).length()).fold(0.0, f64::max);
            if passes == PASSES && farthest > UNMET * h {
                let far = ghost.ids().max_by(|a, b| moved(*a).length().total_cmp(&moved(*b).length()));
                let vertex = far.unwrap_or(Id::new(0));
                let (apart, place) = (farthest, ghost[vertex].to_array());
                let cause = Cause::new(ConstrainedError::Unmet { vertex, apart, place });
                return Err(predicted.failed(true, cause));
            }
            if farthest <= MET * h || passes == PASSES {
                let is_free = farthest == 0.0 && supports.is_empty();
                let free = (!is_free).then_some(free);
                let apart = farthest;
                return Ok(Met { x, by, free, push, repelled, response, passes, apart, errors });
            }
            passes += 1;
            for v in ghost.ids().filter(|v| moved(*v).length() > 0.1 * MET * h) {
                let normal = moved(v).normalize_or_zero();
                let support = Support::new(&self.ghost, v, [normal, ghost[v]], factor, h);
                // Between two others it has a place, and no room: what both ask for must agree.
                for known in supports.iter_mut().filter(|s| s.vertex == v) {
                    known.level = known.normal.dot(ghost[v]);
                }
                // The same contact again, a little further on.
                let same = |s: &&mut Support| s.vertex == v && s.normal.dot(normal) > 0.9;
                match supports.iter_mut().find(same) {
                    Some(known) => *known = support,
                    None => supports.push(support),
                }
            }
            let rows = Supports { list: supports.clone(), scale: 1.0 / h };
            let mut projector = self.inner.projector().with(vec![Arc::new(rows)]).map_err(wrong)?;
            let begin = std::mem::replace(&mut x, predicted.trial.x().clone());
            let report = projector
                .project_with(&mut x, time, (Some(self.inner.stiffness()), factor), Some(&begin))
                .map_err(|error| predicted.failed(true, Cause::new(error)))?;
            errors.extend_from_slice(&report.errors);
            let multipliers = projector.multipliers();
            let multipliers = &multipliers[multipliers.len() - supports.len()..];
            push = multipliers.iter().map(|m| m.max(0.0)).sum::<f64>() / (h * factor);
            let mut pushes = multipliers.iter().map(|m| *m >= 0.0);
            supports.retain(|_| pushes.next().unwrap_or(false));
            *ghost = self.ghost.average(&x);
            by = Some(projector);
        }
    }

    /// Edges that contact has moved from where they would be without it end with the velocity of
    /// their displacement, and BDF2 starts anew there: it would else extrapolate through the
    /// contact.
    ///
    /// Edges stay where the projection has them. The paper lets them follow the ghost (EB08, eq 4),
    /// which stretches them; here the rows of contact have done it but for a rest, which is in the
    /// ghost alone, and the next step begins with that.
    fn corrected(
        &self,
        before: &State<Edges>,
        edges: &State<Edges>,
        free: &Field<Edges, DVec3>,
        dt: f64,
    ) -> Result<State<Edges>, ConstrainedError> {
        let x = edges.x();
        // The factor spreads every correction over the whole sheet, ever fainter.
        let least = CORRECTED * self.mesh.mean_edge();
        let changed = x.ids().filter(|e| x[*e].distance(free[*e]) > least);
        restarted(edges, changed.map(|e| (e, (x[e] - before.x()[e]) / dt)))
    }

    /// Contact with what rests gives no energy. Corrections of positions do: what they lift or push
    /// apart is higher or faster than before. What is more than `most` joules is taken from the
    /// motion of the corrected edges against their mean, which keeps the momentum.
    fn calmed(
        &self,
        edges: State<Edges>,
        free: &Field<Edges, DVec3>,
        most: f64,
    ) -> Result<State<Edges>, ConstrainedError> {
        let excess = Energies::of(&self.system, &edges).total() - most;
        let Some(mass) = self.system.mass().filter(|_| excess > 0.0) else { return Ok(edges) };
        let least = CORRECTED * self.mesh.mean_edge();
        let is_corrected =
            |e: &Id<Edges>| !self.system.is_held(*e) && edges.x()[*e].distance(free[*e]) > least;
        let corrected: Vec<Id<Edges>> = edges.x().ids().filter(is_corrected).collect();
        let all: f64 = corrected.iter().map(|e| mass[*e]).sum();
        let v = edges.v();
        let mean = corrected.iter().map(|e| v[*e] * mass[*e]).sum::<DVec3>() / all.max(f64::MIN_POSITIVE);
        let kinetic: f64 = corrected.iter().map(|e| 0.5 * mass[*e] * v[*e].distance_squared(mean)).sum();
        let kept = (1.0 - excess / kinetic.max(excess)).sqrt();
        restarted(&edges, corrected.into_iter().map(|e| (e, mean + (v[e] - mean) * kept)))
    }
}

/// The same state with other velocities of some edges, for which BDF2 starts anew, as if they had
/// always moved so.
fn restarted(
    edges: &State<Edges>,
    velocities: impl Iterator<Item = (Id<Edges>, DVec3)>,
) -> Result<State<Edges>, ConstrainedError> {
    let (mut v, mut previous) = (edges.v().clone(), edges.previous().cloned());
    for (e, velocity) in velocities {
        v[e] = velocity;
        if let Some(previous) = &mut previous {
            previous.x[e] = edges.x()[e] - velocity * previous.dt;
            previous.v[e] = velocity;
        }
    }
    let (x, own, ledger) = (edges.x().clone(), edges.own().clone(), edges.ledger().copied());
    Ok(State::resume(x, v, own, edges.time(), previous, None, ledger)?)
}

/// A step of the ghost among obstacles.
struct Meeting<'a> {
    contact: &'a GhostContact,
    old: &'a Field<Vertices, DVec3>,
    times: [f64; 2],
    dt: Positive,
}

/// Edges that have met contacts.
struct Met {
    x: Field<Edges, DVec3>,
    /// What has projected them, if contact was among its rows.
    by: Option<Projector<Edges>>,
    /// Where the edges would be without contact; none if nothing touches.
    free: Option<Field<Edges, DVec3>>,
    /// The sum of the forces of contact, N.
    push: f64,
    repelled: usize,
    response: plisse_collision::ResponseReport,
    passes: usize,
    /// How far the ghost is from where the edges see it, m.
    apart: f64,
    errors: Vec<f64>,
}

/// Contact has little left to do where it moves vertices by no more than this part of an edge.
const MET: f64 = 1e-3;
/// How often the projection learns of new contacts within a step.
const PASSES: usize = 8;
/// What is drawn may lie this part of an edge from what moves; beyond it the step is none.
const UNMET: f64 = 0.1;

/// A correction above this part of an edge length is one.
const CORRECTED: f64 = 1e-6;

impl Integrator<Vertices> for Developable {
    /// The system says how many vertices there are and nothing else: masses, terms and pins of the
    /// sheet are those of its edges.
    fn step(
        &mut self,
        system: &System<Vertices>,
        state: &mut State<Vertices>,
        dt: Positive,
    ) -> Result<StepReport, StepError> {
        let expected = self.mesh.mesh().vertex_count();
        for found in [system.size(), state.x().len()] {
            if found != expected {
                return Err(StepError::WrongSize { expected, found });
            }
        }
        let (next, report) = self.advance(state, dt)?;
        *state = next;
        Ok(report)
    }

    fn forget(&mut self) {
        self.inner.forget();
    }

    fn remedy(&self) -> &'static str {
        self.inner.remedy()
    }
}
