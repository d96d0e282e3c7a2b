//! Which tag stands for which energy, and what is computed for it.

use anyhow::Result;
use glam::{DVec2, DVec3};
use plisse::bending::HingeFilter;
use plisse::core::{Blocks, Element, Id, Mat3x2, Psd, TriangleMap, Vertices};
use plisse::membrane::{
    Arap, Corotational, CrossFibre, Eigenanalysis, FibreLaw, FibrePair, Lame, MembraneElement,
    MembraneEnergy, NeoHookeanIncompressible, NeoHookeanLog, NeoHookeanStable, Shear, ShearLaw,
    StVenantKirchhoff, Stretch,
};

use super::bending;
use super::case::Case;

/// Every tag, for messages.
const TAGS: [&str; 21] = [
    "bw_stretch",
    "stretch_quartic",
    "stretch_i5_squared",
    "bw_shear",
    "shear_quartic",
    "arap_membrane",
    "stvk_membrane",
    "corotational_membrane",
    "neohookean_log_membrane",
    "neohookean_incompressible_membrane",
    "stable_neohookean_membrane",
    TRIANGLE,
    "rod_quadratic",
    "rod_der_tan",
    "rod_sin",
    "hinge_theta",
    "hinge_quadratic",
    "hinge_tan",
    "hinge_sin",
    "hinge_cos_paper",
    "hinge_cos_restoring",
];

const TRIANGLE: &str = "triangle_bw_stretch_plus_shear_area_weighted";

/// What is computed for a case. Matrices are rows.
pub(crate) struct Output {
    pub(crate) psi: f64,
    pub(crate) grad: Vec<f64>,
    pub(crate) hess: Vec<Vec<f64>>,
    pub(crate) hess_psd: Vec<Vec<f64>>,
    pub(crate) eigenvalues: Option<Vec<f64>>,
}

pub(crate) fn evaluate(case: &Case<'_>) -> Result<Output> {
    let tag = case.tag()?;
    if tag == TRIANGLE {
        return triangle(case);
    }
    if tag.starts_with("rod_") || tag.starts_with("hinge_") {
        return bending::evaluate(case, tag, HingeFilter::V2);
    }
    let energy = membrane(case, tag)?.scaled(case.scale()?);
    let f = Mat3x2::from_array(case.x()?);
    Ok(Output {
        psi: energy.energy(&f),
        grad: energy.pk1(&f).to_array().to_vec(),
        hess: rows(&energy.hessian(&f, Psd::Exact)),
        hess_psd: rows(&energy.hessian(&f, Psd::Clamp)),
        eigenvalues: Some(energy.eigensystem(&f).sorted_values().to_vec()),
    })
}

fn membrane(case: &Case<'_>, tag: &str) -> Result<Box<dyn Eigenanalysis>> {
    Ok(match tag {
        "bw_stretch" => fibres::<plisse::membrane::Quadratic>(case)?,
        "stretch_quartic" => fibres::<plisse::membrane::Quartic>(case)?,
        "stretch_i5_squared" => fibres::<plisse::membrane::Green>(case)?,
        "bw_shear" => shear::<plisse::membrane::Quadratic>(case)?,
        "shear_quartic" => shear::<plisse::membrane::Quartic>(case)?,
        "arap_membrane" => {
            case.expect_params(&[])?;
            Box::new(Arap::new(plisse::core::Positive::ONE))
        }
        "stvk_membrane" => Box::new(StVenantKirchhoff::new(lame(case)?)),
        "corotational_membrane" => Box::new(Corotational::new(lame(case)?)),
        "neohookean_log_membrane" => {
            let energy = NeoHookeanLog::new(lame(case)?);
            Box::new(energy.map_err(|e| case.error("params.lambda_", e))?)
        }
        "neohookean_incompressible_membrane" => {
            // The energy has one parameter; cases made for all neo-Hookean energies carry both.
            case.expect_params(&["mu", "lambda_"])?;
            case.optional_number("lambda_")?;
            Box::new(NeoHookeanIncompressible::new(case.positive("mu")?))
        }
        "stable_neohookean_membrane" => {
            case.expect_params(&["mu", "lambda_"])?;
            let energy = NeoHookeanStable::with_raw_parameters(case.positive("mu")?, case.number("lambda_")?);
            Box::new(energy.map_err(|e| case.error("params.lambda_", e))?)
        }
        _ => return Err(unknown_tag(case, tag)),
    })
}

pub(super) fn unknown_tag(case: &Case<'_>, tag: &str) -> anyhow::Error {
    case.error("energy", format!("unknown tag {tag:?}; known are {}", TAGS.join(", ")))
}

fn fibres<L: FibreLaw + Default + 'static>(case: &Case<'_>) -> Result<Box<dyn Eigenanalysis>> {
    case.expect_params(&["a", "b", "bu", "bv"])?;
    let directions = [case.direction("a")?, case.direction("b")?];
    Ok(Box::new(FibrePair::<L>::new(directions, [case.positive("bu")?, case.positive("bv")?])))
}

fn shear<L: ShearLaw + Default + 'static>(case: &Case<'_>) -> Result<Box<dyn Eigenanalysis>> {
    case.expect_params(&["a", "b", "d"])?;
    Ok(Box::new(CrossFibre::<L>::with_offset(case.direction("a")?, case.direction("b")?, case.number("d")?)))
}

fn lame(case: &Case<'_>) -> Result<Lame> {
    case.expect_params(&["mu", "lambda_"])?;
    Lame::new(case.positive("mu")?, case.number("lambda_")?).map_err(|e| case.error("params.lambda_", e))
}

/// `area (k_stretch stretch + k_shear shear)` of a triangle; the projection is that of F space,
/// term by term.
fn triangle(case: &Case<'_>) -> Result<Output> {
    case.expect_params(&["rest", "bu", "bv", "k_stretch", "k_shear"])?;
    let axes = [plisse::core::UnitDir2::U, plisse::core::UnitDir2::V];
    let stretch = Stretch::new(axes, [case.positive("bu")?, case.positive("bv")?]);
    let stretch = case.stiffness("k_stretch")?.map(|k| stretch.scaled(k));
    let shear = case.stiffness("k_shear")?.map(|k| Shear::warp_weft().with_stiffness(k));
    let energy = stretch.plus(shear).scaled(case.scale()?);
    let map = TriangleMap::new(case.triangle("rest")?.map(DVec2::from));
    let map = map.ok_or_else(|| case.error("params.rest", "the triangle has no area"))?;
    let element = MembraneElement::<_, Vertices>::new([0, 1, 2].map(Id::new), map, energy);

    Ok(of_element(&element, &corners(&case.x::<9>()?), None))
}

/// Positions from their coordinates.
pub(super) fn corners<const V: usize>(x: &[f64]) -> [DVec3; V] {
    std::array::from_fn(|i| DVec3::new(x[3 * i], x[3 * i + 1], x[3 * i + 2]))
}

pub(super) fn of_element<const V: usize>(
    element: &impl Element<V>,
    x: &[DVec3; V],
    eigenvalues: Option<Vec<f64>>,
) -> Output {
    Output {
        psi: element.energy(x),
        grad: element.gradient(x).iter().flat_map(DVec3::to_array).collect(),
        hess: rows(&element.hessian(x, Psd::Exact)),
        hess_psd: rows(&element.hessian(x, Psd::Clamp)),
        eigenvalues,
    }
}

fn rows<const N: usize>(h: &Blocks<N>) -> Vec<Vec<f64>> {
    (0..3 * N).map(|i| (0..3 * N).map(|j| h.entry(i, j)).collect()).collect()
}
