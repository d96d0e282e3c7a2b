//! A developable sheet as a whole: elements, bending, pins, time integration, ghost and contact.

use std::sync::Arc;

use glam::DVec3;
use plisse_core::{Edges, Faces, Field, Id, Positive, Vertices};
use plisse_system::{
    Balance, Cause, Gravity, Integrator, Ledger, Motion, NewtonSettings, OwnState, Pin, Previous, Scheme,
    State, StepError, StepReport, System, Term,
};

use crate::bending::EdgeBending;
use crate::constraint::Constraint;
use crate::constraints::{
    Anchor, Anchors, Compliance, Grip, Ribbon, RigidTriangles, Rub, Rubs, Support, Supports, WovenTriangles,
    ribbon_edges,
};
use crate::contact::{GhostContact, Partner};
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
    compliance: Field<Faces, Compliance>,
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
        let compliance = Field::filled(mesh.mesh().face_count(), Compliance::default());
        Self {
            mesh,
            densities,
            rigidity: None,
            gravity: DVec3::ZERO,
            ribbon: true,
            compliance,
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

    /// With faces that give way in their plane; those that do not are inextensible.
    #[must_use]
    pub fn compliance(self, of: impl Fn(Id<Faces>) -> Compliance) -> Self {
        let compliance = Field::from_fn(self.mesh.mesh().face_count(), of);
        Self { compliance, ..self }
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
        let is_hard = |face: Id<Faces>| self.compliance[face].is_hard();
        let mut constraints: Vec<Arc<dyn Constraint<Edges>>> =
            vec![Arc::new(RigidTriangles::among(mesh, &ribbon, |face| self.compliance[face]))];
        let woven = WovenTriangles::new(mesh, &ribbon, |face| self.compliance[face])?;
        if woven.groups() > 0 {
            constraints.push(Arc::new(woven));
        }
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
        let reach = Reach::new(mesh, self.pins.clone(), is_hard);
        reach.check(0.0)?;
        Ok(Developable {
            pieces: pieces(&self.mesh),
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
    /// Of the sum of all forces of contact, the part by which friction is not what Coulomb's law
    /// asks for, or contacts pull, after the last pass.
    pub wrong_forces: f64,
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
    /// Of each edge, the number of the connected piece that it is of.
    pieces: Field<Edges, usize>,
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
        let mut before = self.edges(state).map_err(wrong)?;
        let mut last = DevelopableReport::default();
        let (predicted, touched, ghost) = loop {
            let predicted = self.inner.predict(&self.system, &before, dt)?;
            let x = self.inner.project(&self.system, &before, &predicted)?;
            last.projection.errors.extend_from_slice(&self.inner.last().errors);
            last.projection.factorisations += self.inner.last().factorisations;
            last.projection.linear_iterations += self.inner.last().linear_iterations;
            last.projection.last_change = self.inner.last().last_change;
            let mut ghost = self.ghost.average(&x);
            let Some(contact) = &self.contact else {
                let v = predicted.velocities(&x);
                let by = self.inner.projector();
                let (edges, report) =
                    FastProjection::finish(&self.system, &before, predicted, (x, v), by, [0.0; 2])?;
                let next = self.packed(&edges, ghost).map_err(wrong)?;
                self.last = last;
                return Ok((next, report));
            };
            let meeting =
                Meeting { contact, old: state.x(), before: &before, times: [time, time + step], dt };
            let restarts = before.previous().is_some();
            match self.meet(&meeting, &predicted, x, &mut ghost, restarts)? {
                Some(touched) => break (predicted, touched, ghost),
                None => before = without_history(&before).map_err(wrong)?,
            }
        };
        (last.repelled, last.response) = (touched.repelled, Some(touched.response));
        let [push, lift, wrong_forces] = touched.forces;
        (last.passes, last.apart, last.wrong_forces) = (touched.passes, touched.apart, wrong_forces);
        last.projection.errors.extend(touched.errors);
        let way = self.contact.as_ref().map_or(0.0, |contact| contact.way(state.x(), [time, time + step]));
        let at_rest = way == 0.0;
        let v = predicted.velocities(&touched.x);
        let by = touched.by.as_ref().unwrap_or(self.inner.projector());
        let ends = (touched.x, v);
        let (mut edges, mut report) =
            FastProjection::finish(&self.system, &before, predicted, ends, by, [push * way, lift])?;
        if let Some(free) = touched.free {
            let energy = report.energies.total();
            edges = without_history(&edges).map_err(wrong)?;
            if at_rest {
                let most = report.balance.before + report.balance.work;
                edges = self.calmed(edges, &free, most).map_err(wrong)?;
            }
            report.energies = self.inner.projector().energies(&self.system, &edges);
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
    ///
    /// Friction is in the same projection: a contact that sticks has two rows more, one that slips
    /// a force, and which it is each projection tells from the forces of the one before.
    ///
    /// None if something touches and `restarts` is true.
    fn meet(
        &self,
        meeting: &Meeting<'_>,
        predicted: &Predicted<Edges>,
        free: Field<Edges, DVec3>,
        ghost: &mut Field<Vertices, DVec3>,
        restarts: bool,
    ) -> Result<Option<Met>, StepError> {
        let (h, factor, time) = (self.mesh.mean_edge(), predicted.factor(), predicted.trial.time());
        let forces = predicted.forces(&self.system, meeting.before);
        let wrong = |error: ConstrainedError| predicted.failed(false, Cause::new(error));
        let mut supports: Vec<Support> = Vec::new();
        let (mut x, mut by, mut errors) = (free.clone(), None, Vec::new());
        let (mut passes, mut push, mut lift) = (0, 0.0, 0.0);
        let (mut wrong_forces, mut is_settled) = (0.0, true);
        loop {
            let candidate = ghost.clone();
            let done = meeting
                .contact
                .respond(meeting.old, ghost, meeting.times, meeting.dt)
                .map_err(|error| predicted.failed(error.may_heal(), Cause::new(error)))?;
            let (repelled, response) = (done.repelled, done.response);
            let moved = |v: Id<Vertices>| ghost[v] - candidate[v];
            let farthest = ghost.ids().map(|v| moved(v).length()).fold(0.0, f64::max);
            if farthest > 0.0 && restarts {
                return Ok(None);
            }
            if passes >= PASSES && farthest > UNMET * h {
                let far = ghost.ids().max_by(|a, b| moved(*a).length().total_cmp(&moved(*b).length()));
                let vertex = far.unwrap_or(Id::new(0));
                let (apart, place) = (farthest, ghost[vertex].to_array());
                let cause = Cause::new(ConstrainedError::Unmet { vertex, apart, place });
                return Err(predicted.failed(true, cause));
            }
            // The first pass takes all: short steps move less than what counts as little later, and
            // what has no row has no friction.
            let little = if passes == 0 { CORRECTED * h } else { MET * h };
            let is_met = farthest <= little || passes >= PASSES;
            if is_met && (is_settled || passes >= RUBBED) {
                if wrong_forces > UNSETTLED {
                    let cause = Cause::new(ConstrainedError::Unsettled { part: wrong_forces });
                    return Err(predicted.failed(true, cause));
                }
                let is_free = farthest == 0.0 && by.is_none();
                let free = (!is_free).then_some(free);
                let apart = farthest;
                let forces = [push, lift, wrong_forces];
                let met = Met { x, by, free, forces, repelled, response, passes, apart, errors };
                return Ok(Some(met));
            }
            passes += 1;
            for v in ghost.ids().filter(|v| moved(*v).length() > 0.1 * little) {
                let normal = moved(v).normalize_or_zero();
                let mut support = Support::new(&self.ghost, v, [normal, ghost[v]], factor, h);
                let partner = done.partners.binary_search_by_key(&v, |(vertex, _)| *vertex);
                support.rub = partner
                    .ok()
                    .and_then(|k| meeting.rub(&self.ghost, &support, &done.partners[k].1, [factor, h]));
                // Between two others it has a place, and no room: what both ask for must agree.
                for known in supports.iter_mut().filter(|s| s.vertex == v) {
                    known.level = known.normal.dot(ghost[v]);
                }
                // The same contact again, a little further on.
                let same = |s: &&mut Support| s.vertex == v && s.normal.dot(normal) > 0.9;
                match supports.iter_mut().find(same) {
                    Some(known) => {
                        if let (Some(rub), Some(known)) = (&mut support.rub, &known.rub) {
                            rub.grip = known.grip;
                        }
                        *known = support;
                    }
                    None => {
                        // One that sticks where all others slip would hold them all.
                        if let Some(rub) = support.rub.as_mut().filter(|_| passes > 1) {
                            rub.grip = Grip::Slips(DVec3::ZERO);
                        }
                        supports.push(support);
                    }
                }
            }
            let mut slips = Field::filled(x.len(), DVec3::ZERO);
            let mut sticking = Vec::new();
            for rub in supports.iter().filter_map(|support| support.rub.as_ref()) {
                match rub.grip {
                    Grip::Sticks => sticking.push(rub.clone()),
                    Grip::Slips(force) => rub.push(force, &mut slips),
                }
            }
            let (stuck, scale) = (sticking.len(), 1.0 / h);
            let rows: Vec<Arc<dyn Constraint<Edges>>> = vec![
                Arc::new(Supports { list: supports.clone(), scale }),
                Arc::new(Rubs { list: sticking, scale }),
            ];
            let mut projector = self.inner.projector().with(rows).map_err(wrong)?.pushed(slips);
            let begin = std::mem::replace(&mut x, predicted.trial.x().clone());
            let report = projector
                .project_with(&mut x, time, (Some(&forces), factor), Some(&begin))
                .map_err(|error| predicted.failed(true, Cause::new(error)))?;
            errors.extend_from_slice(&report.errors);
            let multipliers = projector.multipliers();
            let own = &multipliers[multipliers.len() - supports.len() - 2 * stuck..];
            let (normals, held) = own.split_at(supports.len());
            let mut held = held.chunks_exact(2);
            // Forces times the factor: along normals, across them, and those that should not be.
            let (mut along, mut across, mut wrongs) = (0.0, 0.0, 0.0);
            lift = 0.0;
            for (support, normal) in supports.iter_mut().zip(normals) {
                let normal = normal * scale;
                along += normal.max(0.0);
                lift += normal.max(0.0) / factor
                    * support.raised(meeting.old, &x).clamp(0.0, meeting.contact.opens());
                wrongs += (-normal).max(0.0);
                let Some(rub) = &mut support.rub else { continue };
                let force = match rub.grip {
                    Grip::Sticks => held.next().map_or(DVec3::ZERO, |m| rub.force([m[0], m[1]], scale)),
                    Grip::Slips(force) => force,
                };
                across += force.length();
                wrongs += rub.update(force, normal.max(0.0), &x);
            }
            push = (along + across) / factor;
            wrong_forces = wrongs / (along + across).max(f64::MIN_POSITIVE);
            is_settled = wrong_forces <= BALANCED;
            let mut pushes = normals.iter().map(|m| *m >= 0.0);
            supports.retain(|_| pushes.next().unwrap_or(false));
            *ghost = self.ghost.average(&x);
            by = Some(projector);
        }
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
        let excess = self.inner.projector().energies(&self.system, &edges).total() - most;
        let Some(mass) = self.system.mass().filter(|_| excess > 0.0) else { return Ok(edges) };
        let least = CORRECTED * self.mesh.mean_edge();
        let is_corrected =
            |e: &Id<Edges>| !self.system.is_held(*e) && edges.x()[*e].distance(free[*e]) > least;
        let corrected: Vec<Id<Edges>> = edges.x().ids().filter(is_corrected).collect();
        // Of each piece by itself: what one sheet gains must not stop another that slides.
        let v = edges.v();
        let mut means = vec![(0.0, DVec3::ZERO); self.pieces.as_slice().iter().max().map_or(0, |k| k + 1)];
        for e in &corrected {
            let (all, momentum) = &mut means[self.pieces[*e]];
            *all += mass[*e];
            *momentum += v[*e] * mass[*e];
        }
        let mean = |e: Id<Edges>| {
            let (all, momentum) = means[self.pieces[e]];
            momentum / f64::max(all, f64::MIN_POSITIVE)
        };
        let kinetic: f64 = corrected.iter().map(|e| 0.5 * mass[*e] * v[*e].distance_squared(mean(*e))).sum();
        let kept = (1.0 - excess / kinetic.max(excess)).sqrt();
        with_velocities(&edges, corrected.iter().map(|e| (*e, mean(*e) + (v[*e] - mean(*e)) * kept)))
    }
}

/// Of each edge, the number of its connected piece.
fn pieces(mesh: &CrMesh) -> Field<Edges, usize> {
    let topology = mesh.mesh();
    let mut piece: Field<Edges, usize> = Field::filled(topology.edge_count(), usize::MAX);
    let mut count = 0;
    for first in topology.faces().ids() {
        let mut waiting = vec![first];
        let is_new = piece[topology.face_edges()[first][0]] == usize::MAX;
        while let Some(face) = waiting.pop().filter(|_| is_new) {
            for edge in topology.face_edges()[face] {
                if std::mem::replace(&mut piece[edge], count) == usize::MAX {
                    let (a, b) = topology.edges()[edge].faces;
                    waiting.extend(std::iter::once(a).chain(b));
                }
            }
        }
        count += usize::from(is_new);
    }
    piece
}

/// The same state with other velocities of some edges.
fn with_velocities(
    edges: &State<Edges>,
    velocities: impl Iterator<Item = (Id<Edges>, DVec3)>,
) -> Result<State<Edges>, ConstrainedError> {
    let mut v = edges.v().clone();
    for (e, velocity) in velocities {
        v[e] = velocity;
    }
    let (x, own, ledger) = (edges.x().clone(), edges.own().clone(), edges.ledger().copied());
    Ok(State::resume(x, v, own, edges.time(), edges.previous().cloned(), None, ledger)?)
}

/// The same state without what was before, so that the next step is one of backward Euler.
///
/// BDF2 extrapolates, and through a contact it must not. A history of a steady velocity, for which
/// it would start anew edge by edge, is no cure: with it a step sees 4/9 of a force in its place
/// and 2/3 in its velocity, and what lies in contact all the time would fall and slide too slowly.
fn without_history(edges: &State<Edges>) -> Result<State<Edges>, ConstrainedError> {
    let (x, v, own) = (edges.x().clone(), edges.v().clone(), edges.own().clone());
    Ok(State::resume(x, v, own, edges.time(), None, None, edges.ledger().copied())?)
}

/// A step of the ghost among obstacles.
struct Meeting<'a> {
    contact: &'a GhostContact,
    old: &'a Field<Vertices, DVec3>,
    /// The edges at the start.
    before: &'a State<Edges>,
    times: [f64; 2],
    dt: Positive,
}

impl Meeting<'_> {
    /// Friction of a support on its partner; none without a coefficient.
    fn rub(&self, ghost: &Ghost, support: &Support, partner: &Partner, scales: [f64; 2]) -> Option<Rub> {
        let carried: DVec3 = partner.sheet.iter().map(|(v, share)| self.old[*v] * *share).sum();
        let place = self.old[support.vertex] - carried + partner.carried;
        let of = (support.vertex, support.normal);
        let law = (place, partner.coefficient);
        (partner.coefficient > 0.0).then(|| Rub::new(ghost, of, &partner.sheet, law, scales))
    }
}

/// Edges that have met contacts.
struct Met {
    x: Field<Edges, DVec3>,
    /// What has projected them, if contact was among its rows.
    by: Option<Projector<Edges>>,
    /// Where the edges would be without contact; none if nothing touches.
    free: Option<Field<Edges, DVec3>>,
    /// The sum of the forces of contact, N; the work of those that repulsion lifts with, J; and the
    /// part of all that friction or pulls have wrong.
    forces: [f64; 3],
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
/// How often friction may be set anew within a step, contact or not.
const RUBBED: usize = 16;
/// Friction is settled where forces are wrong by no more than this part of all of contact.
const BALANCED: f64 = 0.01;
/// Beyond this part the step is none.
const UNSETTLED: f64 = 0.25;

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
