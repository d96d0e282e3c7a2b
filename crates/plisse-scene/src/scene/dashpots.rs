//! The terms of strain-rate damping.

use plisse_bending::{AngleEnergy, HingeWeight, Net};
use plisse_core::{Element, Hinge, Id, Positive, Vertices};
use plisse_damping::{
    Dissipation, EdgeStretch, ElasticViscosity, FibreStrain, GreenStrain, HingeAngle, JointViscosity,
    OnTriangle, PlaneStrain, Potential, RateDependent, RodJoint, StretchTensor, Viscosity,
};
use plisse_system::Term;

use super::SceneError;
use super::cloth::Cloth;
use super::damping::{Damping, StrainRate};
use super::material::{Bending, Shearing, Stretching};
use super::terms::Slot;

type BoxedTerm = Box<dyn Term<Vertices>>;

/// Viscosity of a strain in the plane of a sheet.
#[derive(Clone, Copy)]
enum PlaneViscosity {
    Green(GreenStrain, Viscosity<3>),
    Fibre(FibreStrain, Viscosity<3>),
    Stretch(StretchTensor, Viscosity<3>),
}

impl PlaneViscosity {
    /// What a material asks for.
    fn of(cloth: &Cloth, slot: Slot<'_>) -> Result<Option<Self>, SceneError> {
        let membrane = cloth.material.membrane;
        let directions = membrane.directions;
        let wrong = |source| SceneError::Viscosity { body: slot.name.to_owned(), source };
        Ok(match cloth.material.damping.membrane {
            StrainRate::None => None,
            StrainRate::Proportional(beta) => Some(Self::proportional(cloth, beta).map_err(wrong)?),
            StrainRate::Isotropic { lambda, mu } => {
                let viscosity = Viscosity::isotropic(lambda, mu).map_err(wrong)?;
                Some(match membrane.stretching {
                    Stretching::Arap(_) | Stretching::Corotational(_) => {
                        Self::Stretch(StretchTensor, viscosity)
                    }
                    _ => Self::Green(GreenStrain::default(), viscosity),
                })
            }
            StrainRate::PerDirection(values) => {
                if cloth.uv.is_none() {
                    return Err(SceneError::NoViscousDirections { body: slot.name.to_owned() });
                }
                let viscosity = Viscosity::per_component(values).map_err(wrong)?;
                Some(Self::Fibre(FibreStrain::along(directions), viscosity))
            }
        })
    }

    /// The moduli of the membrane times `beta`, in its own strain (SO18, equation 12).
    fn proportional(cloth: &Cloth, beta: Positive) -> Result<Self, plisse_damping::ViscosityError> {
        let membrane = cloth.material.membrane;
        let b = beta.get();
        let isotropic = |lambda: f64, mu: f64| Viscosity::isotropic(b * lambda, b * mu);
        let shear = match membrane.shearing {
            Shearing::Quadratic(k) => k.get(),
            _ => 0.0,
        };
        let woven = |warp: Positive, weft: Positive| {
            Viscosity::per_component([b * warp.get(), b * weft.get(), b * shear])
        };
        Ok(match membrane.stretching {
            Stretching::Fibres { warp, weft } => {
                Self::Fibre(FibreStrain::along(membrane.directions), woven(warp, weft)?)
            }
            Stretching::GreenFibres { warp, weft } => {
                Self::Green(GreenStrain::along(membrane.directions), woven(warp, weft)?)
            }
            Stretching::Arap(mu) => Self::Stretch(StretchTensor, isotropic(0.0, mu.get())?),
            Stretching::Corotational(lame) => {
                Self::Stretch(StretchTensor, isotropic(lame.lambda(), lame.mu())?)
            }
            // The moduli at rest; further away they differ between the two.
            Stretching::StVenantKirchhoff(lame) | Stretching::NeoHookean(lame) => {
                Self::Green(GreenStrain::default(), isotropic(lame.lambda(), lame.mu())?)
            }
            Stretching::NeoHookeanIncompressible(mu) => {
                Self::Green(GreenStrain::default(), isotropic(2.0 * mu.get(), mu.get())?)
            }
        })
    }

    /// A term of its own.
    fn term(&self, cloth: &Cloth, slot: Slot<'_>) -> BoxedTerm {
        match self {
            Self::Green(strain, viscosity) => rates("membrane damping", cloth, *strain, *viscosity, slot),
            Self::Fibre(strain, viscosity) => rates("membrane damping", cloth, *strain, *viscosity, slot),
            Self::Stretch(strain, viscosity) => rates("membrane damping", cloth, *strain, *viscosity, slot),
        }
    }
}

/// Damping of a strain in the plane, by the law of the material for its rates.
fn rates<S: PlaneStrain + Copy + 'static, P: Potential<3> + Copy + 'static>(
    what: &str,
    cloth: &Cloth,
    strain: S,
    slow: P,
    slot: Slot<'_>,
) -> BoxedTerm {
    match cloth.material.damping.rate_law {
        None => triangles(what, cloth, strain, slow, slot),
        Some(law) => triangles(what, cloth, strain, RateDependent::new(slow, law), slot),
    }
}

fn triangles<S: PlaneStrain + Copy + 'static, P: Potential<3> + Copy + 'static>(
    what: &str,
    cloth: &Cloth,
    strain: S,
    potential: P,
    slot: Slot<'_>,
) -> BoxedTerm {
    // A triangle so small that its area is zero has no damping to speak of.
    let element = |(face, v): (_, &[Id<Vertices>; 3])| {
        let map = *cloth.rest.map(face);
        let area = Positive::new(map.area()).ok()?;
        Some(Dissipation::new(*v, OnTriangle::new(map, strain), potential, area))
    };
    slot.term(what, cloth.mesh.faces().iter().filter_map(element))
}

/// The damping of a cloth. That of hinges is not here: they have it themselves.
pub(super) fn cloth_damping(
    cloth: &Cloth,
    slot: Slot<'_>,
    out: &mut Vec<BoxedTerm>,
) -> Result<(), SceneError> {
    let wrong = |source| SceneError::Viscosity { body: slot.name.to_owned(), source };
    out.extend(PlaneViscosity::of(cloth, slot)?.map(|viscosity| viscosity.term(cloth, slot)));
    if let StrainRate::Proportional(beta) = cloth.material.damping.membrane {
        shear(cloth, beta, slot, out)?;
    }
    // Models of bending without hinges are damped as if they had some.
    if let Some(beta) = cloth.material.damping.bending
        && let Bending::MidEdge { rigidity, .. } | Bending::Quadratic { rigidity } = cloth.material.bending
    {
        let mut dashpots = Vec::new();
        for hinge in bending_hinges(cloth) {
            let stiffness = rigidity.get() * HingeWeight::AreaSum.of(hinge);
            let viscosity = Viscosity::of_elasticity(beta, &[[stiffness]]).map_err(wrong)?;
            let nodes = hinge.vertices();
            let angle = HingeAngle::of(hinge);
            dashpots.push(Dissipation::<_, _, 4, 1>::new(nodes, angle, viscosity, Positive::ONE));
        }
        out.push(slot.term("bending damping", dashpots));
    }
    Ok(())
}

fn shear(cloth: &Cloth, beta: Positive, slot: Slot<'_>, out: &mut Vec<BoxedTerm>) -> Result<(), SceneError> {
    let membrane = cloth.material.membrane;
    let (directions, strain) = (membrane.directions, FibreStrain::along(membrane.directions));
    let is_woven = matches!(membrane.stretching, Stretching::Fibres { .. } | Stretching::GreenFibres { .. });
    match membrane.shearing {
        Shearing::Quartic(k) => {
            // k (Fa·Fb - d)⁴ has the second derivative 12 k (Fa·Fb - d)².
            let d = directions[0].dot(directions[1]);
            let modulus = move |e: &[f64; 3]| {
                [[0.0; 3], [0.0; 3], [0.0, 0.0, 12.0 * k.get() * (e[2] - d) * (e[2] - d)]]
            };
            out.push(rates("shear damping", cloth, strain, ElasticViscosity::new(beta, modulus), slot));
        }
        Shearing::Quadratic(k) if !is_woven => {
            let viscosity = Viscosity::per_component([0.0, 0.0, beta.get() * k.get()])
                .map_err(|source| SceneError::Viscosity { body: slot.name.to_owned(), source })?;
            out.push(rates("shear damping", cloth, strain, viscosity, slot));
        }
        Shearing::Quadratic(_) | Shearing::None => {}
    }
    Ok(())
}

/// The hinges of a cloth that resist bending.
pub(super) fn bending_hinges(cloth: &Cloth) -> impl Iterator<Item = &Hinge> {
    cloth.rest.hinges().iter().filter(|hinge| cloth.loose.binary_search(&hinge.edge()).is_err())
}

/// Damping of the stretch of wires, with a potential for each stiffness.
fn segments<L: AngleEnergy, P: Potential<1> + 'static>(
    net: &Net<L>,
    potential: impl Fn(f64) -> Result<P, SceneError>,
    slot: Slot<'_>,
) -> Result<BoxedTerm, SceneError> {
    let mut elements = Vec::with_capacity(net.stretching.len());
    for segment in &net.stretching {
        // Lengths of segments are positive, or the net would have been refused.
        let length = Positive::new(segment.rest_length())?;
        let nodes = segment.nodes();
        let potential = potential(segment.stiffness())?;
        elements.push(Dissipation::<_, _, 2, 1>::new(nodes, EdgeStretch::new(length), potential, length));
    }
    Ok(slot.term("stretching damping", elements))
}

/// The terms of strain-rate damping of wires.
pub(super) fn wire_damping<L: AngleEnergy>(
    net: &Net<L>,
    damping: &Damping,
    slot: Slot<'_>,
    out: &mut Vec<BoxedTerm>,
) -> Result<(), SceneError> {
    let wrong = |source| SceneError::Viscosity { body: slot.name.to_owned(), source };
    match damping.membrane {
        StrainRate::None => {}
        StrainRate::Proportional(beta) => {
            let viscosity = |k: f64| Viscosity::of_elasticity(beta, &[[k]]).map_err(wrong);
            out.push(match damping.rate_law {
                None => segments(net, viscosity, slot)?,
                Some(law) => segments(net, |k| Ok(RateDependent::new(viscosity(k)?, law)), slot)?,
            });
        }
        StrainRate::Isotropic { .. } | StrainRate::PerDirection(_) => {
            return Err(SceneError::WireViscosity { body: slot.name.to_owned() });
        }
    }
    if let Some(beta) = damping.bending {
        let mut elements = Vec::with_capacity(net.bending.len());
        for joint in &net.bending {
            let rest = joint.rest_angle();
            // Laws that soften at rest have no stiffness to be in proportion to.
            let Ok(stiffness) = Positive::new(joint.stiffness() * joint.law().h(rest, rest)) else {
                continue;
            };
            let viscosity = Positive::new(beta.get() * stiffness.get())?;
            let nodes = joint.nodes();
            let joint = JointViscosity::new(viscosity);
            elements.push(Dissipation::<_, _, 3, 4>::new(nodes, RodJoint, joint, Positive::ONE));
        }
        out.push(slot.term("bending damping", elements));
    }
    Ok(())
}
