//! The tags of rods and hinges.

use anyhow::Result;
use plisse::bending::{
    AngleEnergy, CosineAngle, HingeElement, HingeFilter, PrintedCosine, QuadraticAngle, RodElement,
    SineAngle, TangentAngle,
};
use plisse::core::{Angle, Element, Id, Positive, Psd};
use plisse::eigen::Eigenpairs;

use super::case::Case;
use super::energies::{Output, corners, of_element, unknown_tag};

/// The angle itself, as an energy: gradient and Hessian of the hinge angle.
struct Theta;

impl AngleEnergy for Theta {
    fn psi(&self, theta: f64, _: f64) -> f64 {
        theta
    }
    fn g(&self, _: f64, _: f64) -> f64 {
        1.0
    }
    fn h(&self, _: f64, _: f64) -> f64 {
        0.0
    }
}

/// Rods, and hinges with a filter.
pub(super) fn evaluate(case: &Case<'_>, tag: &str, filter: HingeFilter) -> Result<Output> {
    let hinge =
        |law: &dyn AngleEnergy, params: &[&str], factor: f64| hinge(case, law, params, factor, filter);
    match tag {
        "rod_quadratic" => rod(case, QuadraticAngle, &["mu", "theta_r"], 1.0),
        // mu/l (tan - tan)², where our law is 2 (tan - tan)².
        "rod_der_tan" => rod(case, TangentAngle, &["mu", "theta_r", "l_bar"], 0.5),
        "rod_sin" => rod(case, SineAngle, &["mu"], 0.5),
        "hinge_theta" => hinge(&Theta, &[], 1.0),
        "hinge_quadratic" => hinge(&QuadraticAngle, &["mu", "theta_r"], 1.0),
        "hinge_tan" => hinge(&TangentAngle, &["mu", "theta_r", "l_bar"], 0.5),
        "hinge_sin" => hinge(&SineAngle, &["mu"], 0.5),
        "hinge_cos_paper" => {
            case.expect_params(&["mu", "b"])?;
            hinge(&PrintedCosine { b: case.number("b")? }, &["mu", "b"], 1.0)
        }
        "hinge_cos_restoring" => hinge(&CosineAngle, &["mu", "theta_r"], 1.0),
        _ => Err(unknown_tag(case, tag)),
    }
}

/// Stiffness and rest angle, from those of the parameters that the tag has.
fn stiffness_and_rest(case: &Case<'_>, params: &[&str], factor: f64) -> Result<(Positive, Angle)> {
    case.expect_params(params)?;
    let has = |key: &str| params.contains(&key);
    let mu = if has("mu") { case.positive("mu")?.get() } else { 1.0 };
    let length = if has("l_bar") { case.positive("l_bar")?.get() } else { 1.0 };
    let rest = if has("theta_r") { case.number("theta_r")? } else { 0.0 };
    let stiffness = factor * mu / length * case.scale()?.get();
    let stiffness = Positive::new(stiffness).map_err(|e| case.error("params.mu", e))?;
    Ok((stiffness, Angle::new(rest).map_err(|e| case.error("params.theta_r", e))?))
}

fn rod<L: AngleEnergy>(case: &Case<'_>, law: L, params: &[&str], factor: f64) -> Result<Output> {
    let (stiffness, rest) = stiffness_and_rest(case, params, factor)?;
    if rest.get() < 0.0 {
        let message = format!("{} is negative; the angle of a rod has no sign", rest.get());
        return Err(case.error("params.theta_r", message));
    }
    let element = RodElement::new([0, 1, 2].map(Id::new), law, stiffness, rest);
    let x = corners(&case.x::<9>()?);
    let pairs = Eigenpairs::<3, 9>::numeric(&element.hessian(&x, Psd::Exact));
    Ok(of_element(&element, &x, Some(pairs.sorted_values().to_vec())))
}

fn hinge(
    case: &Case<'_>,
    law: &dyn AngleEnergy,
    params: &[&str],
    factor: f64,
    filter: HingeFilter,
) -> Result<Output> {
    let (stiffness, rest) = stiffness_and_rest(case, params, factor)?;
    let element =
        HingeElement::from_parts([0, 1, 2, 3].map(Id::new), law, stiffness, rest).with_filter(filter);
    let x = corners(&case.x::<12>()?);
    let eigenvalues = element.eigensystem(&x).sorted_values().to_vec();
    Ok(of_element(&element, &x, Some(eigenvalues)))
}
