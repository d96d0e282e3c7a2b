//! Fast projection: Newton's method on the constraints, weighted by mass (EB08, eqs 8-10;
//! Goldenthal et al. 2007).
//!
//! From a candidate `y` repeat `(J M⁻¹ Jᵀ) λ = -c(y)`, `y += M⁻¹ Jᵀ λ` until `max |c|` is small.
//! The paper leaves out `M⁻¹` in the second formula, which contradicts its own equation 9 and loses
//! momentum. A compliance `α` adds `α/h²` to the diagonal and `α λ/h²` to the rows, where `λ` is
//! the sum so far and `h²` what the scheme multiplies forces with.

use std::sync::Arc;

use glam::DVec3;
use plisse_core::{Field, Id, Space};
use plisse_sparse::{BlockMatrix, Layout, Linear, LinearSolver, Operator, Pattern, Sink, Slot, parallel};
use plisse_system::{Energies, Role, State, System, TermEnergy};

use crate::constraint::{Constraint, LARGEST_GROUP, Rows};
use crate::error::{ConstrainedError, ProjectionError, ProjectionFailure};
use crate::forces::StepForces;
use crate::tangent::{Stiff, Tangent};

/// When a projection ends, and how its linear systems are solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProjectionSettings {
    /// The largest absolute value of a row at the end: about a relative error of lengths. Above
    /// zero.
    pub tolerance: f64,
    /// Iterations after which the projection has failed.
    pub max_iterations: usize,
    /// What is added to the diagonal of `J M⁻¹ Jᵀ`, relative to it. A flat sheet needs it: there
    /// rows of the ribbon depend on each other. 1e-5 and more only slow the iteration down.
    pub regularisation: f64,
    /// Where the directions of constraint forces are taken.
    pub directions: Directions,
    /// How linear systems are solved. [`LinearSolver::Cholesky`] makes a factor per iteration.
    /// [`LinearSolver::StaleCholesky`] keeps an old one while that pays. Along explicit directions
    /// it does not: the matrix changes as much from iteration to iteration as the sheet turns, and
    /// is so badly conditioned that single precision costs iterations (`cargo xtask bench
    /// developable`). Along implicit ones a factor serves the iterations of one step.
    pub solver: LinearSolver,
    /// Relative residual of linear systems. Each iteration of the projection reduces the error by
    /// about this at best.
    pub linear_tolerance: f64,
}

/// Where the directions of constraint forces are taken, and what the projection knows beside
/// masses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Directions {
    /// Fast projection as in EB08: each iteration pushes along the derivatives where it is, and the
    /// sum of all is the force. That is explicit in the turning of tension: waves of it, some
    /// metres per second, may cross no more than about an edge per step, and near a pin they are
    /// far faster. Bending acts in the predictor only.
    #[default]
    Explicit,
    /// Along the derivatives at the end of the step, with the energies `E` of the terms there:
    /// `M (y - x) + h² (∇E(y) - ∇E(x)) = J(y)ᵀ λ` from the predicted positions `x`, what fast
    /// projection is an approximation of. Newton's method starts with the multipliers of the last
    /// step. An iteration costs more, and there are far fewer.
    Implicit,
}

impl Default for ProjectionSettings {
    /// Relative errors of 1e-4 as in EB08, 30 iterations, 1e-7 on the diagonal, a factor per
    /// iteration.
    fn default() -> Self {
        Self {
            tolerance: 1e-4,
            max_iterations: 30,
            regularisation: 1e-7,
            directions: Directions::Explicit,
            solver: LinearSolver::Cholesky,
            linear_tolerance: 1e-3,
        }
    }
}

impl ProjectionSettings {
    /// Implicit directions, with a factor that is kept while iterations reduce the error well.
    #[must_use]
    pub fn implicit() -> Self {
        let solver = LinearSolver::StaleCholesky;
        Self { directions: Directions::Implicit, solver, ..Self::default() }
    }

    fn check(&self) -> Result<(), ConstrainedError> {
        let checks = [
            ("the tolerance of the projection", self.tolerance, self.tolerance > 0.0, "a number above zero"),
            (
                "the regularisation of the projection",
                self.regularisation,
                (0.0..1.0).contains(&self.regularisation),
                "a number from zero to one",
            ),
            (
                "the linear tolerance of the projection",
                self.linear_tolerance,
                self.linear_tolerance > 0.0 && self.linear_tolerance < 1.0,
                "a number between zero and one",
            ),
        ];
        match checks.into_iter().find(|(_, value, is_good, _)| !is_good || !value.is_finite()) {
            None => Ok(()),
            Some((what, value, _, expected)) => {
                Err(ConstrainedError::BadNumber { what: what.to_owned(), value, expected })
            }
        }
    }
}

/// What a projection did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProjectionReport {
    /// Largest absolute value of a row before each iteration and at the end.
    pub errors: Vec<f64>,
    /// Numeric factorisations.
    pub factorisations: usize,
    /// Iterations of the linear solver.
    pub linear_iterations: usize,
    /// Along implicit directions, how far the last iteration went, relative to what forces and
    /// constraints have done together in this step, in the norm of the masses: about the error of
    /// that. Infinite before the first; zero along explicit directions.
    pub last_change: f64,
}

impl ProjectionReport {
    /// Newton iterations.
    #[must_use]
    pub fn iterations(&self) -> usize {
        self.errors.len().saturating_sub(1)
    }

    /// Largest absolute value of a row at the end.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.errors.last().copied().unwrap_or(0.0)
    }
}

/// Steps shorter than this, in s, wish for more than the tolerance.
const USUAL: f64 = 3e-3;
/// Down to this part of it.
const TIGHTEST: f64 = 1e-2;

/// A group of rows among those of all constraints.
#[derive(Clone, Copy, Debug)]
struct Group {
    constraint: u32,
    /// Its number there.
    local: u32,
    first_row: u32,
    rows: u8,
    nodes: u8,
    /// Where its nodes begin in the list of all.
    first_node: u32,
    /// Where its derivatives begin.
    first_gradient: u32,
}

impl Group {
    fn rows(&self) -> std::ops::Range<usize> {
        self.first_row as usize..self.first_row as usize + usize::from(self.rows)
    }
    fn nodes(&self) -> std::ops::Range<usize> {
        self.first_node as usize..self.first_node as usize + usize::from(self.nodes)
    }
    fn gradients(&self) -> std::ops::Range<usize> {
        let first = self.first_gradient as usize;
        first..first + usize::from(self.rows) * usize::from(self.nodes)
    }
}

/// Positions that are good enough, their multipliers, the error and the last change.
type Good<S> = (Field<S, DVec3>, Vec<f64>, [f64; 2]);

/// Two groups that share free nodes.
#[derive(Clone, Copy, Debug)]
struct Coupling {
    groups: [u32; 2],
    /// Their part of the list of shared nodes.
    shared: [u32; 2],
}

/// Finds positions that satisfy constraints, near given ones in the norm of the masses.
pub struct Projector<S: Space> {
    constraints: Vec<Arc<dyn Constraint<S>>>,
    groups: Vec<Group>,
    nodes: Vec<Id<S>>,
    /// Inverse masses, zero for held nodes.
    weights: Field<S, f64>,
    couplings: Vec<Coupling>,
    /// Of each coupling: the place of a node in the first group and in the second.
    shared: Vec<[u8; 2]>,
    slots: Vec<Slot>,
    /// Rows none of whose nodes can move.
    idle: Vec<bool>,
    matrix: BlockMatrix,
    linear: Linear,
    settings: ProjectionSettings,
    values: Vec<f64>,
    gradients: Vec<DVec3>,
    lambda: Vec<f64>,
    right: Vec<f64>,
    change: Vec<f64>,
    last: ProjectionReport,
    tangent: Option<Tangent<S>>,
    /// Of the stiffness of the terms.
    terms: Option<Arc<Pattern>>,
    /// Stiffness of the rows of the tangent.
    kappa: Vec<f64>,
    /// Derivatives that the factor of the tangent is of.
    frozen: Vec<DVec3>,
    /// Forces of the rows in the last projection that succeeded, multipliers over what the scheme
    /// multiplies forces with; empty before, and along explicit directions.
    forces: Vec<f64>,
    /// Of the terms, where the factor of the tangent is of.
    stiffness: Option<BlockMatrix>,
    /// Derivatives of the terms at predicted positions, and now, N.
    pulls: [Field<S, DVec3>; 2],
    /// Forces from outside times what the scheme multiplies forces with, kg m, one for each node.
    push: Option<Field<S, DVec3>>,
    /// How many of the constraints are not of contacts, which come and go.
    lasting: usize,
}

/// Along implicit directions rows can hold before forces balance: the last iteration must change
/// the way from the predicted positions by no more than this part of it.
const SETTLED: f64 = 0.1;

/// Changes below this part of coordinates are rounding, which rows stiffen.
const ROUNDING: f64 = 1e-11;

/// A factor is kept while an iteration leaves no more than this part of the error.
const KEPT: f64 = 0.3;

impl<S: Space> Projector<S> {
    /// A projector for the masses and pins of this system.
    ///
    /// # Errors
    /// [`ConstrainedError`] for a constraint with nodes that do not exist, a system without masses
    /// or with nodes that slide, and settings out of their ranges.
    pub fn new(
        system: &System<S>,
        constraints: Vec<Arc<dyn Constraint<S>>>,
        settings: ProjectionSettings,
    ) -> Result<Self, ConstrainedError> {
        settings.check()?;
        let mass = system.mass().ok_or(ConstrainedError::Massless)?;
        if system.has_sliding_pins() {
            return Err(ConstrainedError::Slides);
        }
        let weights =
            Field::from_fn(mass.len(), |node| if system.is_held(node) { 0.0 } else { 1.0 / mass[node] });
        Self::with_weights(weights, constraints, settings, Some(Arc::clone(system.pattern())))
    }

    fn with_weights(
        weights: Field<S, f64>,
        constraints: Vec<Arc<dyn Constraint<S>>>,
        settings: ProjectionSettings,
        terms: Option<Arc<Pattern>>,
    ) -> Result<Self, ConstrainedError> {
        let lasting = constraints.len();
        let (groups, nodes) = list_groups(&constraints, weights.len())?;
        let rows = groups.last().map_or(0, |group| group.rows().end);
        let gradients = groups.last().map_or(0, |group| group.gradients().end);
        let (couplings, shared) = couple(&groups, &nodes, &weights);
        let layout = Layout::mixed(groups.iter().map(|group| usize::from(group.rows)))?;
        let pattern = Pattern::new(layout, couplings.iter().map(|c| (c.groups[0], c.groups[1])))?;
        let slot = |c: &Coupling| pattern.slot(c.groups[0], c.groups[1]).unwrap_or(Slot::NONE);
        let slots = couplings.iter().map(slot).collect();
        let tangent = match settings.directions {
            Directions::Explicit => None,
            Directions::Implicit => {
                let of_group = groups.iter().map(|g| &nodes[g.nodes()]);
                Some(Tangent::new(&weights, of_group, terms.as_deref())?)
            }
        };
        let stiffness = terms.as_ref().filter(|_| tangent.is_some()).map(Arc::clone).map(BlockMatrix::zeros);
        let count = if tangent.is_some() { weights.len() } else { 0 };
        let pulls = [0, 1].map(|_| Field::filled(count, DVec3::ZERO));
        let mut idle = vec![false; rows];
        for group in &groups {
            let held = nodes[group.nodes()].iter().all(|node| weights[*node] == 0.0);
            idle[group.rows()].fill(held);
        }
        Ok(Self {
            constraints,
            groups,
            nodes,
            weights,
            couplings,
            shared,
            slots,
            idle,
            matrix: BlockMatrix::zeros(pattern),
            linear: Linear::new(settings.solver),
            settings,
            values: vec![0.0; rows],
            gradients: vec![DVec3::ZERO; gradients],
            lambda: vec![0.0; rows],
            right: vec![0.0; rows],
            change: vec![0.0; rows],
            last: ProjectionReport::default(),
            tangent,
            terms,
            kappa: vec![0.0; rows],
            frozen: Vec::new(),
            forces: Vec::new(),
            stiffness,
            pulls,
            push: None,
            lasting,
        })
    }

    /// How many scalar rows there are.
    #[must_use]
    pub fn row_count(&self) -> usize {
        self.values.len()
    }

    /// Numbers in the triangular factor, once there was one.
    #[must_use]
    pub fn factor_len(&self) -> Option<usize> {
        self.tangent.as_ref().map_or_else(|| self.linear.factor_len(), Tangent::factor_len)
    }

    /// A projector with further constraints after those of this one, which are of contacts: they
    /// come and go with steps, and store no energy. It keeps nothing of past solves but the
    /// multipliers that it starts with.
    ///
    /// # Errors
    /// Those of [`Projector::new`].
    pub fn with(&self, more: Vec<Arc<dyn Constraint<S>>>) -> Result<Self, ConstrainedError> {
        let all = self.constraints.iter().cloned().chain(more).collect();
        let terms = self.terms.clone();
        let other = Self::with_weights(self.weights.clone(), all, self.settings, terms)?;
        Ok(Self { forces: self.forces.clone(), lasting: self.lasting, ..other })
    }

    /// The same with forces that act beside those of the rows, one for each node, times what the
    /// scheme multiplies forces with: kg m.
    pub(crate) fn pushed(self, push: Field<S, DVec3>) -> Self {
        Self { push: Some(push), ..self }
    }

    /// The multipliers that the last projection ended with, row by row: what the rows of a
    /// constraint did, in kg m² times the derivative's unit.
    #[must_use]
    pub fn multipliers(&self) -> &[f64] {
        &self.lambda
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &ProjectionSettings {
        &self.settings
    }

    /// What the last projection that succeeded did.
    #[must_use]
    pub fn last(&self) -> &ProjectionReport {
        &self.last
    }

    /// Forgets old factors: the next projection depends on its arguments alone, bit by bit.
    pub fn forget(&mut self) {
        self.linear.forget();
        if let Some(tangent) = &mut self.tangent {
            tangent.forget();
        }
        self.forces.clear();
    }

    /// The rows and their derivatives, dense, at these positions: to look at small systems.
    #[must_use]
    pub fn jacobian(&mut self, x: &Field<S, DVec3>, time: f64) -> Vec<Vec<f64>> {
        self.evaluate(x, time);
        let mut out = vec![vec![0.0; 3 * self.weights.len()]; self.values.len()];
        for group in &self.groups {
            let gradients = self.gradients[group.gradients()].chunks_exact(usize::from(group.nodes).max(1));
            for (row, gradients) in group.rows().zip(gradients) {
                for (node, gradient) in self.nodes[group.nodes()].iter().zip(gradients) {
                    for axis in 0..3 {
                        out[row][3 * node.index() + axis] += gradient[axis];
                    }
                }
            }
        }
        out
    }

    /// The values of all rows at these positions.
    pub fn rows(&mut self, x: &Field<S, DVec3>, time: f64) -> &[f64] {
        self.evaluate(x, time);
        &self.values
    }

    /// Moves `x` onto the constraints at a time. `factor` is what the scheme multiplies forces per
    /// mass with, in s²; only compliances need it.
    ///
    /// # Errors
    /// [`ProjectionError`]; `x` is then as it was.
    ///
    /// # Panics
    /// If there are fewer positions than nodes.
    pub fn project(
        &mut self,
        x: &mut Field<S, DVec3>,
        time: f64,
        factor: f64,
    ) -> Result<&ProjectionReport, ProjectionError> {
        self.project_with(x, time, (None, factor), None)
    }

    /// [`Self::project`] with what terms do on the way. Explicit directions know the masses only.
    /// Along implicit directions iterations may begin elsewhere than at `x`: at `guess`, where that
    /// violates the constraints less.
    pub(crate) fn project_with(
        &mut self,
        x: &mut Field<S, DVec3>,
        time: f64,
        (terms, factor): (Option<&StepForces<'_, S>>, f64),
        guess: Option<&Field<S, DVec3>>,
    ) -> Result<&ProjectionReport, ProjectionError> {
        let mut y = x.clone();
        if let Some(push) = self.push.as_ref().filter(|_| self.tangent.is_none()) {
            y = Field::from_fn(x.len(), |node| x[node] + push[node] * self.weights[node]);
        }
        if let Some(guess) = guess.filter(|_| self.tangent.is_some()) {
            self.lambda.fill(0.0);
            let [there, here] = [guess, &*x].map(|at| {
                self.evaluate(at, time);
                self.residual(factor);
                largest(&self.right)
            });
            if there < here {
                y.clone_from(guess);
                // Held nodes are where they must be.
                for (node, _) in self.weights.iter().filter(|(_, weight)| **weight == 0.0) {
                    y[node] = x[node];
                }
            }
        }
        if let Some(terms) = terms.filter(|_| self.tangent.is_some()) {
            terms.gradient(x, &mut self.pulls[0]);
        }
        self.lambda.fill(0.0);
        // Empty before, and along explicit directions.
        for (lambda, force) in self.lambda.iter_mut().zip(&self.forces) {
            *lambda = force * factor;
        }
        let last_change = if self.tangent.is_some() { f64::INFINITY } else { 0.0 };
        let mut report = ProjectionReport { last_change, ..ProjectionReport::default() };
        let mut good: Option<Good<S>> = None;
        loop {
            self.evaluate(&y, time);
            self.residual(factor);
            let error = largest(&self.right);
            report.errors.push(error);
            let (first, iterations) = (report.errors[0], report.iterations());
            let wished = self.wished_tolerance(factor);
            let change = report.last_change;
            if error <= self.settings.tolerance && change <= SETTLED {
                let before = good.replace((y.clone(), self.lambda.clone(), [error, change]));
                // Zero stays zero, as changes do along explicit directions.
                let improves =
                    before.is_none_or(|(_, _, last)| error < 0.5 * last[0] || change < 0.5 * last[1]);
                let is_done = error <= wished && change <= self.wished_change();
                if is_done || !improves || iterations >= self.settings.max_iterations {
                    break;
                }
            } else if let Some((x, lambda, [error, change])) = good.take() {
                // One more was one too many.
                (y, self.lambda, report.last_change) = (x, lambda, change);
                report.errors.push(error);
                break;
            }
            let failure = if !error.is_finite() {
                Some(ProjectionFailure::NotFinite)
            } else if error > 1e3 * first.max(1.0) {
                Some(ProjectionFailure::Diverged)
            } else if iterations >= self.settings.max_iterations {
                Some(ProjectionFailure::Iterations)
            } else {
                match self.tangent {
                    None => self.iterate(&mut y, factor, &mut report).err(),
                    Some(_) => {
                        let anew = self.needs_factor(&report.errors);
                        self.iterate_implicit(
                            [x, guess.unwrap_or(x)],
                            &mut y,
                            (terms, factor),
                            anew,
                            &mut report,
                        )
                        .err()
                    }
                }
            };
            if let Some(ended) = failure {
                return Err(self.failed(ended, error, iterations));
            }
        }
        if self.tangent.is_some() {
            self.forces.clear();
            self.forces.extend(self.lambda.iter().map(|lambda| lambda / factor));
        }
        *x = y;
        self.last = report;
        Ok(&self.last)
    }

    /// Takes from velocities what would change the constraints at these positions, weighted by
    /// mass: the velocities of a motion that they allow. Rows are taken as they are at fixed time.
    ///
    /// # Errors
    /// [`ProjectionError`] if the linear system has no solution; `v` is then as it was.
    ///
    /// # Panics
    /// If there are fewer positions or velocities than nodes.
    pub fn project_velocities(
        &mut self,
        x: &Field<S, DVec3>,
        v: &mut Field<S, DVec3>,
        time: f64,
    ) -> Result<(), ProjectionError> {
        self.evaluate(x, time);
        for group in &self.groups {
            let gradients = self.gradients[group.gradients()].chunks_exact(usize::from(group.nodes).max(1));
            for (row, gradients) in group.rows().zip(gradients) {
                let nodes = self.nodes[group.nodes()].iter().zip(gradients);
                let rate: f64 = nodes.map(|(node, gradient)| gradient.dot(v[*node])).sum();
                self.right[row] = if self.idle[row] { 0.0 } else { -rate };
            }
        }
        let error = largest(&self.right);
        self.iterate(v, f64::INFINITY, &mut ProjectionReport::default())
            .map_err(|ended| self.failed(ended, error, 0))
    }

    /// What a step whose forces act through `factor`, in s², goes on for while it gains. An error
    /// of lengths becomes one of velocities when it is divided by the step: shorter steps should be
    /// more exact, or they gain energy. Taut sheets may not allow it, so that it is a wish.
    fn wished_tolerance(&self, factor: f64) -> f64 {
        let shorter = (factor.sqrt() / USUAL).clamp(TIGHTEST, 1.0);
        // Iterations with a factor that is there cost little.
        let cheaper = if self.tangent.is_some() { 0.1 } else { 1.0 };
        self.settings.tolerance * shorter * cheaper
    }

    /// What iterations along implicit directions go on for while they gain: the change of the last
    /// one. A flat sheet may not allow less than [`SETTLED`], as its rows depend on each other.
    fn wished_change(&self) -> f64 {
        (10.0 * self.settings.tolerance.sqrt()).clamp(1e-3, SETTLED)
    }

    /// One linear solve and what it moves.
    fn iterate(
        &mut self,
        y: &mut Field<S, DVec3>,
        factor: f64,
        report: &mut ProjectionReport,
    ) -> Result<(), ProjectionFailure> {
        self.assemble(factor);
        let operator = Operator { matrix: &self.matrix, rank_ones: &[] };
        let solve =
            self.linear.solve(&operator, &self.right, &mut self.change, self.settings.linear_tolerance)?;
        report.factorisations += solve.factorisations;
        report.linear_iterations += solve.iterations;
        for group in &self.groups {
            let gradients = self.gradients[group.gradients()].chunks_exact(usize::from(group.nodes).max(1));
            for (row, gradients) in group.rows().zip(gradients) {
                for (node, gradient) in self.nodes[group.nodes()].iter().zip(gradients) {
                    y[*node] += *gradient * (self.change[row] * self.weights[*node]);
                }
            }
        }
        for (lambda, change) in self.lambda.iter_mut().zip(&self.change) {
            *lambda += change;
        }
        Ok(())
    }

    /// Whether the next iteration makes a factor: each does, or where the last one has not reduced
    /// the error well. The first of a step always does: triangles have turned since.
    fn needs_factor(&self, errors: &[f64]) -> bool {
        match errors {
            [.., before, last] if self.settings.solver != LinearSolver::Cholesky => *last > KEPT * before,
            _ => true,
        }
    }

    /// One step of Newton's method on `M (y - x) + h² (∇E(y) - ∇E(x)) = J(y)ᵀ λ`,
    /// `c(y) + α λ/h² = 0`: rows give way by `ε λ'` of the change `λ'` of their multiplier, so that
    /// `λ' = -κ (c + α λ/h² + J δ)`, and the rest is a matrix over nodes.
    fn iterate_implicit(
        &mut self,
        [x, guess]: [&Field<S, DVec3>; 2],
        y: &mut Field<S, DVec3>,
        (terms, factor): (Option<&StepForces<'_, S>>, f64),
        anew: bool,
        report: &mut ProjectionReport,
    ) -> Result<(), ProjectionFailure> {
        let Self {
            constraints,
            groups,
            nodes,
            weights,
            gradients,
            lambda,
            right,
            kappa,
            tangent,
            frozen,
            stiffness,
            pulls: [first, now],
            push,
            ..
        } = self;
        let Some(tangent) = tangent else { return Ok(()) };
        let inertia = |n: Id<S>| if weights[n] > 0.0 { (x[n] - y[n]) / weights[n] } else { DVec3::ZERO };
        let pushed = |n: Id<S>| push.as_ref().map_or(DVec3::ZERO, |push| push[n]);
        let mut force = Field::from_fn(y.len(), |n| inertia(n) + pushed(n));
        if let Some(terms) = terms {
            terms.gradient(y, now);
            for node in y.ids() {
                force[node] -= (now[node] - first[node]) * factor;
            }
        }
        let anew = anew || !tangent.has_factor();
        if anew {
            frozen.clone_from(gradients);
        }
        let stiffness = match (terms, stiffness) {
            (Some(terms), Some(stiffness)) if anew => {
                terms.stiffness(y, stiffness);
                Some(&*stiffness)
            }
            _ => None,
        };
        for group in groups.iter() {
            let constraint = &constraints[group.constraint as usize];
            let size = usize::from(group.nodes).max(1);
            let now = gradients[group.gradients()].chunks_exact(size);
            let then = frozen[group.gradients()].chunks_exact(size);
            for ((row, gradients), old) in group.rows().zip(now).zip(then) {
                let members = || nodes[group.nodes()].iter().zip(gradients);
                if anew {
                    let mobility: f64 = members().map(|(node, g)| weights[*node] * g.length_squared()).sum();
                    let own = row - group.rows().start;
                    let compliance = constraint.compliance(group.local as usize, own) / factor;
                    let soft = self.settings.regularisation * mobility + compliance;
                    kappa[row] = if mobility > 0.0 && soft > 0.0 { 1.0 / soft } else { 0.0 };
                }
                for ((node, gradient), old) in members().zip(old) {
                    force[*node] += *gradient * lambda[row] + *old * (kappa[row] * right[row]);
                }
            }
        }
        if anew {
            let stiff = groups.iter().map(|group| {
                let constraint = &*constraints[group.constraint as usize];
                Stiff {
                    nodes: usize::from(group.nodes),
                    gradients: &gradients[group.gradients()],
                    kappa: &kappa[group.rows()],
                    multipliers: &lambda[group.rows()],
                    curved: constraint.is_curved().then_some((constraint, group.local as usize)),
                }
            });
            tangent.assemble(weights, (stiffness, factor), stiff);
            tangent.factorise()?;
            report.factorisations += 1;
        }
        tangent.substitute(&force);
        report.linear_iterations += 1;
        let mut change = Field::filled(y.len(), DVec3::ZERO);
        let (mut moved, mut whole) = (0.0, 0.0);
        for (node, by) in tangent.change() {
            change[node] = by;
            y[node] += by;
            moved += by.length_squared() / weights[node];
            let far = y[node].distance_squared(x[node]) + y[node].distance_squared(guess[node]);
            whole += (far + y[node].length_squared() * ROUNDING * ROUNDING) / weights[node];
        }
        report.last_change = if moved == 0.0 { 0.0 } else { (moved / whole).sqrt() };
        for group in groups.iter() {
            let own = frozen[group.gradients()].chunks_exact(usize::from(group.nodes).max(1));
            for (row, gradients) in group.rows().zip(own) {
                let members = nodes[group.nodes()].iter().zip(gradients);
                let rate: f64 = members.map(|(node, g)| g.dot(change[*node])).sum();
                lambda[row] += kappa[row] * (right[row] - rate);
            }
        }
        Ok(())
    }

    fn failed(&self, ended: ProjectionFailure, error: f64, iterations: usize) -> ProjectionError {
        // The first row that is at least as wrong as the error, or no number at all.
        let is_worst = |value: &f64| value.abs() >= error || !value.is_finite();
        let row = self.right.iter().position(is_worst).unwrap_or(0);
        let worst = self.groups.iter().find(|group| group.rows().contains(&row));
        let worst = worst.map_or_else(String::new, |group| {
            self.constraints[group.constraint as usize].describe(group.local as usize)
        });
        ProjectionError { ended, error, worst, iterations, tolerance: self.settings.tolerance }
    }

    /// Work of rows that change with time and of held nodes that move, in joules, by the
    /// multipliers of the last projection: force times the way from `start` to `end`.
    pub(crate) fn work(&self, start: &Field<S, DVec3>, end: &Field<S, DVec3>, factor: f64) -> f64 {
        let mut sum = 0.0;
        for group in &self.groups {
            let moves = self.constraints[group.constraint as usize].depends_on_time();
            let gradients = self.gradients[group.gradients()].chunks_exact(usize::from(group.nodes).max(1));
            for (row, gradients) in group.rows().zip(gradients) {
                for (node, gradient) in self.nodes[group.nodes()].iter().zip(gradients) {
                    let way = self.lambda[row] / factor * gradient.dot(end[*node] - start[*node]);
                    if self.weights[*node] == 0.0 {
                        sum -= way;
                    }
                    if moves {
                        sum += way;
                    }
                }
            }
        }
        sum
    }

    /// Energy that errors of rows within the tolerance can hide, in joules: their forces times what
    /// they may be off by.
    pub(crate) fn slack(&self, factor: f64) -> f64 {
        self.settings.tolerance * self.lambda.iter().map(|lambda| (lambda / factor).abs()).sum::<f64>()
    }

    /// Energy that compliant rows store, by the multipliers of the last projection, in joules.
    pub(crate) fn stored(&self, factor: f64) -> f64 {
        let of_group = |group: &Group| {
            let energy = |(own, row): (usize, usize)| {
                let force = self.lambda[row] / factor;
                0.5 * self.row_compliance(group, own) * force * force
            };
            group.rows().enumerate().map(energy).sum::<f64>()
        };
        self.groups.iter().filter(|group| group.constraint as usize >= self.lasting).map(of_group).sum()
    }

    fn row_compliance(&self, group: &Group, row: usize) -> f64 {
        self.constraints[group.constraint as usize].compliance(group.local as usize, row)
    }

    /// Energy `c²/(2 α)` of the compliant rows at these positions, in joules; none without such
    /// rows. Those of contacts, which come and go, do not count. Rows within the tolerance count as
    /// zero: a compliance that is next to nothing would make an energy of their errors.
    pub(crate) fn elastic(&self, x: &Field<S, DVec3>, time: f64) -> Option<f64> {
        let (mut values, mut gradients) = (Vec::new(), Vec::new());
        let mut sum = None;
        for group in self.groups.iter().filter(|group| (group.constraint as usize) < self.lasting) {
            let is_soft = |row: &usize| self.row_compliance(group, *row) > 0.0;
            if !(0..usize::from(group.rows)).any(|row| is_soft(&row)) {
                continue;
            }
            values.resize(usize::from(group.rows), 0.0);
            gradients.resize(usize::from(group.rows) * usize::from(group.nodes), DVec3::ZERO);
            let mut out = Rows::new(&mut values, &mut gradients);
            self.constraints[group.constraint as usize].evaluate(group.local as usize, x, time, &mut out);
            let counts = |row: &usize| is_soft(row) && values[*row].abs() > self.settings.tolerance;
            let energy = |row: usize| 0.5 * values[row] * values[row] / self.row_compliance(group, row);
            let own: f64 = (0..values.len()).filter(counts).map(energy).sum();
            sum = Some(sum.unwrap_or(0.0) + own);
        }
        sum
    }

    /// The energies of a state with that of compliant rows among them.
    pub(crate) fn energies(&self, system: &System<S>, state: &State<S>) -> Energies {
        let mut energies = Energies::of(system, state);
        if let Some(energy) = self.elastic(state.x(), state.time()) {
            energies.terms.push(TermEnergy { name: "compliance".to_owned(), role: Role::Elastic, energy });
        }
        energies
    }

    fn evaluate(&mut self, x: &Field<S, DVec3>, time: f64) {
        let (groups, constraints) = (&self.groups, &self.constraints);
        let (mut values, mut gradients) = (&mut *self.values, &mut *self.gradients);
        for group in groups {
            let (own, rest) = std::mem::take(&mut values).split_at_mut(usize::from(group.rows));
            values = rest;
            let count = usize::from(group.rows) * usize::from(group.nodes);
            let (own_gradients, rest) = std::mem::take(&mut gradients).split_at_mut(count);
            gradients = rest;
            let mut out = Rows::new(own, own_gradients);
            constraints[group.constraint as usize].evaluate(group.local as usize, x, time, &mut out);
        }
    }

    /// `-(c + α λ/h²)`; zero for rows that nothing can change.
    fn residual(&mut self, factor: f64) {
        for group in &self.groups {
            let constraint = &self.constraints[group.constraint as usize];
            for (own, row) in group.rows().enumerate() {
                let compliance = constraint.compliance(group.local as usize, own);
                let value = self.values[row] + compliance / factor * self.lambda[row];
                self.right[row] = if self.idle[row] { 0.0 } else { -value };
            }
        }
    }

    fn assemble(&mut self, factor: f64) {
        let pattern = Arc::clone(self.matrix.pattern());
        self.matrix.reset(&pattern);
        let Self { groups, nodes, weights, couplings, shared, gradients, slots, matrix, .. } = self;
        let (groups, nodes, weights, gradients) = (&**groups, &**nodes, &*weights, &**gradients);
        let (couplings, shared) = (&**couplings, &**shared);
        let mut block = [0.0; LARGEST_GROUP * LARGEST_GROUP];
        let fill = |coupling: &Coupling, block: &mut [f64; LARGEST_GROUP * LARGEST_GROUP]| -> [usize; 2] {
            let [a, b] = coupling.groups.map(|g| &groups[g as usize]);
            let (rows, columns) = (usize::from(a.rows), usize::from(b.rows));
            let (na, nb) = (usize::from(a.nodes), usize::from(b.nodes));
            block[..rows * columns].fill(0.0);
            let (ga, gb) = (&gradients[a.gradients()], &gradients[b.gradients()]);
            for [i, j] in &shared[coupling.shared[0] as usize..coupling.shared[1] as usize] {
                let (i, j) = (usize::from(*i), usize::from(*j));
                let weight = weights[nodes[a.nodes().start + i]];
                for c in 0..columns {
                    let g = gb[c * nb + j] * weight;
                    for r in 0..rows {
                        block[c * rows + r] += ga[r * na + i].dot(g);
                    }
                }
            }
            [rows, columns]
        };
        let mut sink = Sink::new(matrix, slots);
        if parallel::is_serial(couplings.len()) {
            for (index, coupling) in couplings.iter().enumerate() {
                let [rows, columns] = fill(coupling, &mut block);
                sink.add_columns(index, rows, &block[..rows * columns]);
            }
        } else {
            sink.for_each(1, |index, sink| {
                let mut block = [0.0; LARGEST_GROUP * LARGEST_GROUP];
                let [rows, columns] = fill(&couplings[index], &mut block);
                sink.add_columns(0, rows, &block[..rows * columns]);
            });
        }
        for (node, group) in self.groups.iter().enumerate() {
            let constraint = &self.constraints[group.constraint as usize];
            let rows = usize::from(group.rows);
            let diagonal = self.matrix.diagonal_mut(node).iter_mut().step_by(rows + 1);
            for (row, entry) in diagonal.enumerate() {
                let added = constraint.compliance(group.local as usize, row) / factor;
                *entry += self.settings.regularisation * *entry + added;
                // A row that nothing can change, or whose derivative vanishes here.
                if *entry <= 0.0 {
                    *entry = 1.0;
                }
            }
        }
    }
}

/// Largest absolute value; NaN if one is.
fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m: f64, v| if v.abs() <= m { m } else { v.abs() })
}

fn list_groups<S: Space>(
    constraints: &[Arc<dyn Constraint<S>>],
    count: usize,
) -> Result<(Vec<Group>, Vec<Id<S>>), ConstrainedError> {
    let (mut groups, mut all) = (Vec::new(), Vec::new());
    let (mut first_row, mut first_gradient) = (0u32, 0u32);
    for (index, constraint) in constraints.iter().enumerate() {
        for local in 0..constraint.groups() {
            let (rows, nodes) = (constraint.rows(local), constraint.nodes(local));
            let repeated = (1..nodes.len()).any(|k| nodes[..k].contains(&nodes[k]));
            if !(1..=LARGEST_GROUP).contains(&rows) || nodes.is_empty() || nodes.len() > 255 || repeated {
                let group = constraint.describe(local);
                return Err(ConstrainedError::BadGroup { group, rows, nodes: nodes.len() });
            }
            if let Some(node) = nodes.iter().find(|node| node.index() >= count) {
                let (group, node) = (constraint.describe(local), node.to_string());
                return Err(ConstrainedError::NoSuchNode { group, node, count });
            }
            let bad = |compliance: &f64| !(*compliance >= 0.0 && compliance.is_finite());
            if let Some(compliance) = (0..rows).map(|row| constraint.compliance(local, row)).find(bad) {
                let what = format!("the compliance of {}", constraint.describe(local));
                let expected = "a finite number, zero or more, in 1/J";
                return Err(ConstrainedError::BadNumber { what, value: compliance, expected });
            }
            groups.push(Group {
                constraint: index as u32,
                local: local as u32,
                first_row,
                rows: rows as u8,
                nodes: nodes.len() as u8,
                first_node: all.len() as u32,
                first_gradient,
            });
            all.extend_from_slice(nodes);
            first_row += rows as u32;
            first_gradient += (rows * nodes.len()) as u32;
        }
    }
    Ok((groups, all))
}

/// Every pair of groups with a free node in common, each once, and each group with itself.
fn couple<S: Space>(
    groups: &[Group],
    nodes: &[Id<S>],
    weights: &Field<S, f64>,
) -> (Vec<Coupling>, Vec<[u8; 2]>) {
    let mut of_node: Vec<Vec<(u32, u8)>> = vec![Vec::new(); weights.len()];
    for (index, group) in groups.iter().enumerate() {
        for (place, node) in nodes[group.nodes()].iter().enumerate() {
            of_node[node.index()].push((index as u32, place as u8));
        }
    }
    let mut pairs: Vec<([u32; 2], [u8; 2])> = Vec::new();
    for (node, list) in of_node.iter().enumerate() {
        if weights[Id::new(node as u32)] == 0.0 {
            continue;
        }
        for (k, (a, i)) in list.iter().enumerate() {
            // Groups come in ascending order: the larger one first.
            pairs.extend(list[..=k].iter().map(|(b, j)| ([*a, *b], [*i, *j])));
        }
    }
    pairs.sort_unstable();
    let mut couplings = Vec::new();
    let mut shared = Vec::with_capacity(pairs.len());
    for same in pairs.chunk_by(|a, b| a.0 == b.0) {
        let first = shared.len() as u32;
        shared.extend(same.iter().map(|(_, places)| *places));
        couplings.push(Coupling { groups: same[0].0, shared: [first, shared.len() as u32] });
    }
    (couplings, shared)
}
