//! What takes energy out of the motion: the choices of a material, and the terms that follow.

use plisse_bending::{AngleEnergy, HingeElement, HingeWeight, Net};
use plisse_core::{Element, Hinge, Id, Positive, Vertices};
use plisse_damping::{
    Dissipation, EdgeStretch, ElasticViscosity, FibreStrain, GreenStrain, HingeAngle, JointViscosity,
    OnTriangle, PlaneStrain, Potential, RodJoint, StretchTensor, Viscosity,
};
use plisse_system::{RateTerm, Term};

use super::SceneError;
use super::cloth::Cloth;
use super::material::{Bending, Membrane, Shearing, Stretching};
use super::terms::Slot;

type BoxedTerm = Box<dyn Term<Vertices>>;

/// What takes energy out of the motion, besides the time integration.
///
/// ```
/// use plisse::core::Positive;
/// use plisse::scene::{Damping, Material, StrainRate};
/// let damping = Damping { bending: Some(Positive::literal(0.01)), ..Damping::strain_rate(Positive::literal(0.02)) };
/// let cotton = Material { damping, ..Material::cotton() };
/// assert!(matches!(cotton.damping.membrane, StrainRate::Proportional(_)) && cotton.damping.mass.is_none());
/// # let _ = Damping::NONE;
/// # let _ = Damping::mass(Positive::ONE);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Damping {
    /// Resistance to changes of strain in the plane of a sheet, or along wires. Rigid motions are free.
    pub membrane: StrainRate,
    /// Resistance to changes of bending angles: the stiffness times this, in seconds. Rigid motions are free.
    pub bending: Option<Positive>,
    /// A force `-rate · mass · velocity`, with the rate in 1/s: the air of a still room, roughly. It also slows free
    /// fall and rigid turning.
    pub mass: Option<Positive>,
    /// Rayleigh's damping in proportion to the stiffness in the plane, in seconds, for comparison: it slows down swinging under tension
    /// although nothing deforms.
    pub rayleigh: Option<Positive>,
}

/// Resistance to changes of strain in the plane of a sheet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum StrainRate {
    /// None.
    #[default]
    None,
    /// The moduli of the material times this, in seconds, in the strain of its membrane. A vibration of angular frequency `ω` has the damping
    /// ratio `ω/2` times this.
    Proportional(Positive),
    /// Viscosities of an isotropic sheet, N s/m, independent of its elasticity; `mu` and `lambda + mu` must not be negative.
    Isotropic {
        /// Of changes of area.
        lambda: f64,
        /// Of changes of shape.
        mu: f64,
    },
    /// Viscosities of warp, weft and shear, N s/m; not negative.
    PerDirection([f64; 3]),
}

impl Damping {
    /// None.
    pub const NONE: Self = Self { membrane: StrainRate::None, bending: None, mass: None, rayleigh: None };

    /// In proportion to the moduli in the plane, in seconds.
    #[must_use]
    pub fn strain_rate(beta: Positive) -> Self {
        Self { membrane: StrainRate::Proportional(beta), ..Self::NONE }
    }

    /// In proportion to mass, 1/s.
    #[must_use]
    pub fn mass(rate: Positive) -> Self {
        Self { mass: Some(rate), ..Self::NONE }
    }
}

/// The terms of strain-rate damping of a cloth.
pub(super) fn cloth_damping(
    cloth: &Cloth,
    slot: Slot<'_>,
    out: &mut Vec<BoxedTerm>,
) -> Result<(), SceneError> {
    let damping = cloth.material.damping;
    let membrane = cloth.material.membrane;
    let directions = membrane.directions;
    let wrong = |source| SceneError::Viscosity { body: slot.name.to_owned(), source };
    match damping.membrane {
        StrainRate::None => {}
        StrainRate::Proportional(beta) => proportional(cloth, membrane, beta, slot, out).map_err(wrong)?,
        StrainRate::Isotropic { lambda, mu } => {
            let viscosity = Viscosity::isotropic(lambda, mu).map_err(wrong)?;
            out.push(match membrane.stretching {
                Stretching::Arap(_) | Stretching::Corotational(_) => {
                    faces(cloth, StretchTensor, viscosity, slot)
                }
                _ => faces(cloth, GreenStrain::default(), viscosity, slot),
            });
        }
        StrainRate::PerDirection(values) => {
            if cloth.uv.is_none() {
                return Err(SceneError::NoWarp { body: slot.name.to_owned() });
            }
            let viscosity = Viscosity::per_component(values).map_err(wrong)?;
            out.push(faces(cloth, FibreStrain::along(directions), viscosity, slot));
        }
    }
    if let Some(beta) = damping.bending {
        bending(cloth, beta, slot, out);
    }
    Ok(())
}

/// The moduli of the membrane times `beta`, in its own strain (SO18, equation 12).
fn proportional(
    cloth: &Cloth,
    membrane: Membrane,
    beta: Positive,
    slot: Slot<'_>,
    out: &mut Vec<BoxedTerm>,
) -> Result<(), plisse_damping::ViscosityError> {
    let directions = membrane.directions;
    let b = beta.get();
    let isotropic = |lambda: f64, mu: f64| Viscosity::isotropic(b * lambda, b * mu);
    let shear = match membrane.shearing {
        Shearing::Quadratic(k) => k.get(),
        _ => 0.0,
    };
    let woven = |warp: Positive, weft: Positive| {
        Viscosity::per_component([b * warp.get(), b * weft.get(), b * shear])
    };
    let is_woven = match membrane.stretching {
        Stretching::Fibres { warp, weft } => {
            out.push(faces(cloth, FibreStrain::along(directions), woven(warp, weft)?, slot));
            true
        }
        Stretching::GreenFibres { warp, weft } => {
            out.push(faces(cloth, GreenStrain::along(directions), woven(warp, weft)?, slot));
            true
        }
        Stretching::Arap(mu) => {
            out.push(faces(cloth, StretchTensor, isotropic(0.0, mu.get())?, slot));
            false
        }
        Stretching::Corotational(lame) => {
            out.push(faces(cloth, StretchTensor, isotropic(lame.lambda(), lame.mu())?, slot));
            false
        }
        // The moduli at rest; further away they differ between the two.
        Stretching::StVenantKirchhoff(lame) | Stretching::NeoHookean(lame) => {
            out.push(faces(cloth, GreenStrain::default(), isotropic(lame.lambda(), lame.mu())?, slot));
            false
        }
    };
    if let Shearing::Quartic(k) = membrane.shearing {
        // k (Fa·Fb - d)⁴ has the second derivative 12 k (Fa·Fb - d)².
        let d = directions[0].dot(directions[1]);
        let modulus =
            move |e: &[f64; 3]| [[0.0; 3], [0.0; 3], [0.0, 0.0, 12.0 * k.get() * (e[2] - d) * (e[2] - d)]];
        let potential = ElasticViscosity::new(beta, modulus);
        out.push(faces_named("shear damping", cloth, FibreStrain::along(directions), potential, slot));
    } else if !is_woven && shear > 0.0 {
        let potential = Viscosity::per_component([0.0, 0.0, b * shear])?;
        out.push(faces_named("shear damping", cloth, FibreStrain::along(directions), potential, slot));
    }
    Ok(())
}

fn faces<S: PlaneStrain + Copy + 'static, P: Potential<3> + Copy + 'static>(
    cloth: &Cloth,
    strain: S,
    potential: P,
    slot: Slot<'_>,
) -> BoxedTerm {
    faces_named("membrane damping", cloth, strain, potential, slot)
}

fn faces_named<S: PlaneStrain + Copy + 'static, P: Potential<3> + Copy + 'static>(
    what: &str,
    cloth: &Cloth,
    strain: S,
    potential: P,
    slot: Slot<'_>,
) -> BoxedTerm {
    let element = |(face, v): (_, &[Id<Vertices>; 3])| {
        let map = *cloth.rest.map(face);
        // The area of a rest triangle is positive.
        let area = Positive::new(map.area()).unwrap_or(Positive::ONE);
        Dissipation::<_, _, 3, 3>::new(slot.shift(*v), OnTriangle::new(map, strain), potential, area)
    };
    let elements = cloth.mesh.faces().iter().map(element).collect();
    Box::new(RateTerm::new(format!("{}: {what}", slot.name), elements))
}

/// Angles of hinges, in proportion to their stiffness. Models without hinges are damped as if they had them.
fn bending(cloth: &Cloth, beta: Positive, slot: Slot<'_>, out: &mut Vec<BoxedTerm>) {
    use plisse_bending::{CosineAngle, QuadraticAngle, SineAngle, TangentAngle};

    use super::material::AngleLaw;
    let bends =
        || cloth.rest.hinges().iter().filter(|hinge| cloth.loose.binary_search(&hinge.edge()).is_err());
    match cloth.material.bending {
        Bending::None => {}
        Bending::Hinge { law, rigidity, weight } => out.push(match law {
            AngleLaw::Quadratic => hinges(bends(), QuadraticAngle, rigidity, weight, beta, slot),
            AngleLaw::Tangent => hinges(bends(), TangentAngle, rigidity, weight, beta, slot),
            AngleLaw::Sine => hinges(bends(), SineAngle, rigidity, weight, beta, slot),
            AngleLaw::Cosine => hinges(bends(), CosineAngle, rigidity, weight, beta, slot),
        }),
        Bending::MidEdge { rigidity, .. } | Bending::Quadratic { rigidity } => {
            out.push(hinges(bends(), QuadraticAngle, rigidity, HingeWeight::AreaSum, beta, slot));
        }
    }
}

fn hinges<'a, L: AngleEnergy + Copy + 'static>(
    hinges: impl Iterator<Item = &'a Hinge>,
    law: L,
    rigidity: Positive,
    weight: HingeWeight,
    beta: Positive,
    slot: Slot<'_>,
) -> BoxedTerm {
    let element = |hinge: &Hinge| {
        let elastic = HingeElement::new(hinge, law, rigidity, weight);
        let (stiffness, rest) = (elastic.stiffness(), elastic.rest_angle());
        let modulus = move |theta: &[f64; 1]| [[stiffness * law.h(theta[0], rest)]];
        let potential = ElasticViscosity::new(beta, modulus);
        Dissipation::<_, _, 4, 1>::new(slot.shift(hinge.vertices()), HingeAngle, potential, Positive::ONE)
    };
    Box::new(RateTerm::new(format!("{}: bending damping", slot.name), hinges.map(element).collect()))
}

/// The terms of strain-rate damping of wires.
pub(super) fn wire_damping<L: AngleEnergy>(
    net: &Net<L>,
    damping: &Damping,
    slot: Slot<'_>,
    out: &mut Vec<BoxedTerm>,
) -> Result<(), SceneError> {
    let times = |beta: Positive, stiffness: f64| {
        Positive::new(beta.get() * stiffness).unwrap_or(Positive::literal(f64::MIN_POSITIVE))
    };
    match damping.membrane {
        StrainRate::None => {}
        StrainRate::Proportional(beta) => {
            let element = |segment: &plisse_bending::RodStretch| {
                // Lengths of segments are positive, or the net would have been refused.
                let length = Positive::new(segment.rest_length()).unwrap_or(Positive::ONE);
                let viscosity = Viscosity::of_elasticity(beta, &[[segment.stiffness()]]);
                let nodes = slot.shift(segment.nodes());
                Dissipation::<_, _, 2, 1>::new(nodes, EdgeStretch::new(length), viscosity, length)
            };
            let elements = net.stretching.iter().map(element).collect();
            out.push(Box::new(RateTerm::new(format!("{}: stretching damping", slot.name), elements)));
        }
        StrainRate::Isotropic { .. } | StrainRate::PerDirection(_) => {
            return Err(SceneError::WireViscosity { body: slot.name.to_owned() });
        }
    }
    if let Some(beta) = damping.bending {
        let element = |joint: &plisse_bending::RodElement<L>| {
            let viscosity = JointViscosity::new(times(beta, joint.stiffness()));
            Dissipation::<_, _, 3, 4>::new(slot.shift(joint.nodes()), RodJoint, viscosity, Positive::ONE)
        };
        let elements = net.bending.iter().map(element).collect();
        out.push(Box::new(RateTerm::new(format!("{}: bending damping", slot.name), elements)));
    }
    Ok(())
}
