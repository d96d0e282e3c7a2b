//! The sheet as it is: elastic in compression too, on a mesh fine enough for its wrinkles.

use glam::DVec3;
use plisse_bending::{Director, KoiterBending, Plate};
use plisse_core::{
    Blocks, Element, ElementEvaluation, Field, Id, Positive, Psd, SplitMix, TriMesh, Vertices,
};
use plisse_membrane::StVenantKirchhoff;
use plisse_system::{ElementTerm, System};

use super::BENDING;
use super::bending::{rest_shape, seams};
use super::problem::BaseProblem;
use super::report::BaseSolution;
use super::solve::BaseSettings;
use crate::error::WrinkleError;

/// How the elastic reference is solved for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElasticReference {
    /// Newton's method; buckled sheets need hundreds of iterations.
    pub settings: BaseSettings,
    /// Random displacements of the start, each component up to this many metres: without any, a
    /// flat sheet stays flat.
    pub perturbation: f64,
    /// Seed of the displacements.
    pub seed: u64,
}

impl ElasticReference {
    /// A tolerance of 1e-7, 2000 iterations, and displacements of a tenth of the thickness.
    #[must_use]
    pub fn for_sheet(problem: &BaseProblem) -> Self {
        let settings = BaseSettings { tolerance: Positive::literal(1e-7), max_iterations: 2000 };
        Self { settings, perturbation: 0.1 * problem.sheet().thickness(), seed: 1 }
    }
}

/// Solves a problem once more with the full elastic energy: St. Venant-Kirchhoff in compression,
/// too, and mid-edge bending with directors at the mean normals (Chen21, section 3), from `start`
/// (the tension field's solution, for instance) and a small perturbation. Loads, pins and added
/// terms are those of the problem.
///
/// Only a mesh that can resolve the wrinkles shows them: some ten vertices per wave. The rest shape
/// is flat; the seams of panels fold freely.
pub fn elastic_reference(
    problem: &BaseProblem,
    start: &Field<Vertices, DVec3>,
    how: &ElasticReference,
) -> Result<BaseSolution, WrinkleError> {
    let (mesh, sheet) = (problem.mesh(), problem.sheet());
    if !(how.perturbation >= 0.0 && how.perturbation.is_finite()) {
        let expected = "give a finite number of metres that is not negative";
        return Err(WrinkleError::Parameter { what: "the perturbation", value: how.perturbation, expected });
    }
    let refuse = |reason: String| WrinkleError::Sheet { what: "a plate", reason };
    let plate = Plate::of_sheet(&sheet).map_err(|e| refuse(e.to_string()))?;
    let bends = match problem.panels() {
        None => bends(mesh, problem, &plate, |v| v)?,
        Some(panels) => {
            let sewn = seams(mesh, panels)?;
            bends(panels, problem, &plate, |v| sewn[v])?
        }
    };
    let builder = System::massless(mesh.vertex_count())
        .term(problem.membrane_term(StVenantKirchhoff::new(problem.lame())))
        .term(ElementTerm::new(BENDING, bends));
    let mut random = SplitMix::new(how.seed);
    let start =
        start.map(|x| *x + how.perturbation * DVec3::new(random.signed(), random.signed(), random.signed()));
    problem.equilibrium(builder, &start, &how.settings)
}

/// Mid-edge bending of every face of the panels, with the vertices that they have become.
fn bends(
    panels: &TriMesh,
    problem: &BaseProblem,
    plate: &Plate,
    sewn: impl Fn(Id<Vertices>) -> Id<Vertices>,
) -> Result<Vec<Sewn>, WrinkleError> {
    let rest = rest_shape(panels, problem.rest())?;
    let bend = |face| {
        let element = KoiterBending::new(panels, &rest, face, Director::Average, plate);
        Sewn { nodes: element.nodes().map(&sewn), element }
    };
    Ok(panels.faces().ids().map(bend).collect())
}

/// An element of the panels on the vertices of the sewn mesh.
struct Sewn {
    element: KoiterBending,
    nodes: [Id<Vertices>; 6],
}

impl Element<6> for Sewn {
    type Space = Vertices;

    fn nodes(&self) -> [Id<Vertices>; 6] {
        self.nodes
    }
    fn energy(&self, x: &[DVec3; 6]) -> f64 {
        self.element.energy(x)
    }
    fn gradient(&self, x: &[DVec3; 6]) -> [DVec3; 6] {
        self.element.gradient(x)
    }
    fn hessian(&self, x: &[DVec3; 6], psd: Psd) -> Blocks<6> {
        self.element.hessian(x, psd)
    }
    fn energy_and_gradient(&self, x: &[DVec3; 6]) -> (f64, [DVec3; 6]) {
        self.element.energy_and_gradient(x)
    }
    fn evaluate(&self, x: &[DVec3; 6], psd: Psd) -> ElementEvaluation<6> {
        self.element.evaluate(x, psd)
    }
}
