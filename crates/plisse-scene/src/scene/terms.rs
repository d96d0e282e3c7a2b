//! The energy terms of bodies.

use std::sync::Arc;

use glam::DVec3;
use plisse_bending::{
    CosineAngle, DampedHinge, HingeElement, HingeWeight, Net, Plate, QuadraticAngle, QuadraticBending,
    SineAngle, TangentAngle,
};
use plisse_core::{Element, Faces, Field, Hinge, Id, Positive, StepElement, TriMesh, Vertices};
use plisse_damping::RayleighElement;
use plisse_membrane::{
    Arap, Corotational, CrossFibre, Fibre, FibreLaw, FibrePair, Green, MembraneElement, MembraneEnergy,
    NeoHookeanIncompressible, NeoHookeanStable, Quadratic, QuarticShear, Shear, ShearLaw, StVenantKirchhoff,
    Sum,
};
use plisse_system::{ConstantTerm, ElementTerm, Pressure, SetupError, Term, Volume};

use super::SceneError;
use super::cloth::{Cloth, Filling};
use super::dashpots::{bending_hinges, cloth_damping, wire_damping};
use super::directors::director_term;
use super::material::{AngleLaw, Bending, Membrane, Rigidity, Shearing, Stretching};
use super::pins::{Held, Way};
use super::wires::Wires;

type BoxedTerm = Box<dyn Term<Vertices>>;

/// What terms of a body know of its place in the scene.
#[derive(Clone, Copy)]
pub(super) struct Slot<'a> {
    /// What its terms are called.
    pub(super) name: &'a str,
    /// Faces whose corners pins hold, each of them; none of wires.
    pub(super) held: &'a Field<Faces, bool>,
}

impl Slot<'_> {
    pub(super) fn term<const V: usize, E: StepElement<V, Space = Vertices> + 'static>(
        &self,
        what: &str,
        elements: impl IntoIterator<Item = E>,
    ) -> BoxedTerm {
        let elements = elements.into_iter().collect();
        Box::new(ElementTerm::<_, V>::new(format!("{}: {what}", self.name), elements))
    }

    fn rayleigh<const V: usize, E: Element<V, Space = Vertices> + 'static>(
        &self,
        what: &str,
        beta: Positive,
        elements: impl Iterator<Item = E>,
    ) -> BoxedTerm {
        let elements = elements.map(|element| RayleighElement::new(element, beta));
        self.term::<V, _>(&format!("Rayleigh damping of {what}"), elements)
    }
}

/// The terms of a cloth in the numbering of the scene.
pub(super) fn cloth_terms(cloth: &Cloth, slot: Slot<'_>, out: &mut Vec<BoxedTerm>) -> Result<(), SceneError> {
    let body = || slot.name.to_owned();
    check_directions(cloth, slot.name)?;
    if !cloth.loose.is_empty()
        && matches!(cloth.material.bending, Bending::MidEdge { .. } | Bending::Quadratic { .. })
    {
        return Err(SceneError::FreeSeams { body: body() });
    }
    if cloth.uv.is_none()
        && let Bending::Hinge { rigidity, .. } = cloth.material.bending
        && !rigidity.is_uniform()
    {
        return Err(SceneError::NoBendingDirections { body: body() });
    }
    if cloth.angle_law.is_some() && !matches!(cloth.material.bending, Bending::Hinge { .. }) {
        return Err(SceneError::NoHinges { body: body() });
    }
    membrane(cloth, &mut FaceTerms { cloth, slot, out })?;
    bending(cloth, slot, out)?;
    cloth_damping(cloth, slot, out)?;
    if let Some(filling) = &cloth.filling {
        out.push(filled(cloth, filling, slot)?);
    }
    Ok(())
}

/// Refuses a material with directions on a cloth without material coordinates.
pub(super) fn check_directions(cloth: &Cloth, name: &str) -> Result<(), SceneError> {
    let Membrane { stretching, shearing, .. } = cloth.material.membrane;
    let woven = matches!(stretching, Stretching::Fibres { .. } | Stretching::GreenFibres { .. });
    if cloth.uv.is_none() && cloth.membrane.is_none() && (woven || shearing != Shearing::None) {
        return Err(SceneError::NoWarp { body: name.to_owned() });
    }
    Ok(())
}

/// What takes the membrane energy of a cloth, whatever its type.
trait TakeEnergy {
    fn take<E: MembraneEnergy + Clone + 'static>(&mut self, energy: E);
}

/// The membrane energy of a cloth, J/m² of rest area.
pub(super) fn membrane_energy(cloth: &Cloth) -> Result<Arc<dyn MembraneEnergy>, SceneError> {
    #[derive(Default)]
    struct Shared(Option<Arc<dyn MembraneEnergy>>);
    impl TakeEnergy for Shared {
        fn take<E: MembraneEnergy + Clone + 'static>(&mut self, energy: E) {
            self.0 = Some(Arc::new(energy));
        }
    }
    let mut shared = Shared::default();
    membrane(cloth, &mut shared)?;
    #[expect(clippy::expect_used, reason = "every branch of the function hands one over")]
    Ok(shared.0.expect("a membrane energy"))
}

fn membrane(cloth: &Cloth, to: &mut impl TakeEnergy) -> Result<(), SceneError> {
    if let Some(own) = &cloth.membrane {
        to.take(Arc::clone(&own.0));
        return Ok(());
    }
    let membrane = cloth.material.membrane;
    // The terms of the energies are squares without the factor one half.
    match membrane.stretching {
        Stretching::Fibres { warp, weft } => {
            let halves = [times(0.5, warp)?, times(0.5, weft)?];
            sheared(fibre_pair(&membrane, halves, Quadratic), cloth, to)
        }
        Stretching::GreenFibres { warp, weft } => {
            // (s² - 1)² is 4 (s - 1)² for small strain.
            let eighths = [times(0.125, warp)?, times(0.125, weft)?];
            sheared(fibre_pair(&membrane, eighths, Green), cloth, to)
        }
        Stretching::Arap(mu) => sheared(Arap::new(mu), cloth, to),
        Stretching::StVenantKirchhoff(lame) => sheared(StVenantKirchhoff::new(lame), cloth, to),
        Stretching::Corotational(lame) => sheared(Corotational::new(lame), cloth, to),
        Stretching::NeoHookean(lame) => sheared(NeoHookeanStable::new(lame), cloth, to),
        Stretching::NeoHookeanIncompressible(mu) => sheared(NeoHookeanIncompressible::new(mu), cloth, to),
    }
}

/// A multiple of a modulus; an error where it is too small to compute with.
fn times(factor: f64, modulus: Positive) -> Result<Positive, SceneError> {
    Ok(Positive::new(factor * modulus.get())?)
}

fn fibre_pair<L: FibreLaw>(membrane: &Membrane, [warp, weft]: [Positive; 2], law: L) -> FibrePair<L> {
    let fibre = |i: usize, k| Fibre::new(membrane.directions[i], Positive::ONE, law).with_stiffness(k);
    FibrePair::from_fibres(fibre(0, warp), fibre(1, weft))
}

fn sheared<E: MembraneEnergy + Copy + 'static>(
    stretch: E,
    cloth: &Cloth,
    to: &mut impl TakeEnergy,
) -> Result<(), SceneError> {
    fn cross<L: ShearLaw>(shear: CrossFibre<L>, stiffness: Positive) -> CrossFibre<L> {
        shear.with_stiffness(stiffness)
    }
    let [a, b] = cloth.material.membrane.directions;
    match cloth.material.membrane.shearing {
        Shearing::None => to.take(stretch),
        Shearing::Quadratic(k) => to.take(Sum(stretch, cross(Shear::new(a, b), times(0.5, k)?))),
        Shearing::Quartic(k) => to.take(Sum(stretch, cross(QuarticShear::new(a, b), k))),
    }
    Ok(())
}

/// An energy on every face.
struct FaceTerms<'a> {
    cloth: &'a Cloth,
    slot: Slot<'a>,
    out: &'a mut Vec<BoxedTerm>,
}

impl TakeEnergy for FaceTerms<'_> {
    fn take<E: MembraneEnergy + Clone + 'static>(&mut self, energy: E) {
        let Self { cloth, slot, out } = self;
        let element = |(face, v): (_, &[Id<Vertices>; 3])| {
            MembraneElement::new(*v, *cloth.rest.map(face), energy.clone())
        };
        out.push(slot.term("membrane", cloth.mesh.faces().iter().map(element)));
        if let Some(beta) = cloth.material.damping.rayleigh {
            let faces = cloth.mesh.faces().iter().map(element);
            out.push(slot.rayleigh("membrane", beta, faces));
        }
    }
}

fn bending(cloth: &Cloth, slot: Slot<'_>, out: &mut Vec<BoxedTerm>) -> Result<(), SceneError> {
    match cloth.material.bending {
        Bending::None => {}
        Bending::Hinge { law, rigidity, weight } => out.push(match (&cloth.angle_law, law) {
            (Some(own), _) => hinges(cloth, Arc::clone(&own.0), rigidity, weight, slot),
            (None, AngleLaw::Quadratic) => hinges(cloth, QuadraticAngle, rigidity, weight, slot),
            (None, AngleLaw::Tangent) => hinges(cloth, TangentAngle, rigidity, weight, slot),
            (None, AngleLaw::Sine) => hinges(cloth, SineAngle, rigidity, weight, slot),
            (None, AngleLaw::Cosine) => hinges(cloth, CosineAngle, rigidity, weight, slot),
        }),
        Bending::MidEdge { rigidity, poisson } => {
            let plate = Plate::new(rigidity, poisson);
            let name = format!("{}: bending", slot.name);
            out.push(Box::new(director_term(name, cloth, &plate, slot.held)));
        }
        Bending::Quadratic { rigidity } => {
            if cloth.curved {
                return Err(SceneError::CurvedQuadratic { body: slot.name.to_owned() });
            }
            let matrix = QuadraticBending::on_vertices(&cloth.mesh, &cloth.rest, rigidity);
            let name = format!("{}: bending", slot.name);
            out.push(Box::new(ConstantTerm::from_rows(name, matrix.size(), |i| matrix.row(i))));
        }
    }
    Ok(())
}

#[allow(clippy::needless_pass_by_value, reason = "a law is a value; most are empty")]
fn hinges<L: plisse_bending::AngleEnergy + Clone + 'static>(
    cloth: &Cloth,
    law: L,
    rigidity: Rigidity,
    weight: HingeWeight,
    slot: Slot<'_>,
) -> BoxedTerm {
    let elements = bending_hinges(cloth).map(|hinge| {
        let rigidity = hinge_rigidity(cloth, hinge, rigidity);
        HingeElement::new(hinge, law.clone(), rigidity, weight)
    });
    match cloth.material.damping.bending {
        None => slot.term("bending", elements),
        Some(beta) => slot.term("bending", elements.map(|hinge| DampedHinge::new(hinge, beta))),
    }
}

/// The rigidity across the edge of a hinge. Across a seam, where both sides have directions of
/// their own, the mean of both.
#[expect(
    clippy::expect_used,
    reason = "both ends of an edge are corners of its faces; means of positive numbers"
)]
fn hinge_rigidity(cloth: &Cloth, hinge: &Hinge, rigidity: Rigidity) -> Positive {
    let (false, Some(uv)) = (rigidity.is_uniform(), &cloth.uv) else { return rigidity.warp };
    let [a, b, ..] = hinge.vertices();
    let sides = hinge.faces().map(|face| {
        let corners = cloth.mesh.faces()[face];
        let place =
            |v| corners.iter().position(|w| *w == v).map(|i| uv[face][i]).expect("a corner of the face");
        let edge = place(b) - place(a);
        rigidity.across(edge.perp(), cloth.material.membrane.directions)
    });
    let [warp, weft] = [rigidity.warp, rigidity.weft].map(Positive::get);
    // Rounding could lead out of the range of both.
    let mean = (0.5 * sides[0] + 0.5 * sides[1]).clamp(warp.min(weft), warp.max(weft));
    Positive::new(mean).expect("between two positive numbers")
}

fn filled(cloth: &Cloth, filling: &Filling, slot: Slot<'_>) -> Result<BoxedTerm, SceneError> {
    let name = format!("{}: filling", slot.name);
    let wrong = |source| SceneError::Body { body: slot.name.to_owned(), source };
    let pressure = |value: f64| {
        if cloth.mesh.boundary_edges().next().is_none() {
            return Pressure::new(&cloth.mesh, value).map_err(wrong);
        }
        // Any place will do. In the middle of the cloth, rounding errors are small.
        let x = cloth.body.x.as_slice();
        let middle = x.iter().sum::<DVec3>() / x.len() as f64;
        Pressure::held(&cloth.mesh, value, middle).map_err(wrong)
    };
    Ok(match filling {
        Filling::Pressure(value) => Box::new(pressure(*value)?.with_name(name)),
        Filling::PressureOverTime(course) => {
            let course = course.clone();
            Box::new(pressure(0.0)?.over_time(move |time| course.at(time)).with_name(name))
        }
        Filling::Volume { target, bulk } => {
            Box::new(Volume::new(&cloth.mesh, *bulk, *target).map_err(wrong)?.with_name(name))
        }
    })
}

/// Refuses a filled cloth with a closed piece that is placed inside out, and pressure on an open
/// one whose boundary is not held for good. Flat pieces, as those of pillows are at first, have no
/// inside yet.
pub(super) fn check_filling(cloth: &Cloth, name: &str, held: &[Held]) -> Result<(), SceneError> {
    let is_pressed = match &cloth.filling {
        None => return Ok(()),
        Some(Filling::Pressure(_) | Filling::PressureOverTime(_)) => true,
        Some(Filling::Volume { .. }) => false,
    };
    if cloth.mesh.boundary_edges().next().is_none() {
        return match cloth.mesh.inverted_piece(&cloth.body.x, true) {
            None => Ok(()),
            Some(inverted) => {
                Err(SceneError::Body { body: name.to_owned(), source: SetupError::InsideOut(inverted) })
            }
        };
    }
    let mut stays = vec![false; cloth.mesh.vertex_count()];
    for held in held.iter().filter(|held| matches!(held.way, Way::Still) && held.until.is_infinite()) {
        stays[held.vertex.index()] = true;
    }
    let ends = cloth.mesh.boundary_edges().flat_map(|edge| cloth.mesh.edges()[edge].vertices);
    match ends.filter(|v| is_pressed && !stays[v.index()]).map(Id::get).min() {
        None => Ok(()),
        Some(vertex) => Err(SceneError::OpenPressure { body: name.to_owned(), vertex }),
    }
}

/// The terms of wires in the numbering of the scene.
pub(super) fn wire_terms(wires: &Wires, slot: Slot<'_>, out: &mut Vec<BoxedTerm>) -> Result<(), SceneError> {
    if let Some(own) = &wires.angle_law {
        return net(wires, Arc::clone(&own.0), slot, out);
    }
    match wires.wire.law {
        AngleLaw::Quadratic => net(wires, QuadraticAngle, slot, out),
        AngleLaw::Tangent => net(wires, TangentAngle, slot, out),
        AngleLaw::Sine => net(wires, SineAngle, slot, out),
        AngleLaw::Cosine => net(wires, CosineAngle, slot, out),
    }
}

fn net<L: plisse_bending::AngleEnergy + Clone + 'static>(
    wires: &Wires,
    law: L,
    slot: Slot<'_>,
    out: &mut Vec<BoxedTerm>,
) -> Result<(), SceneError> {
    let net = Net::new(&wires.rest, &wires.segments, law, wires.wire.young, wires.wire.radius)
        .map_err(|source| SceneError::Net { body: slot.name.to_owned(), source })?;
    wire_damping(&net, &wires.wire.damping, slot, out)?;
    if let Some(beta) = wires.wire.damping.rayleigh {
        out.push(slot.rayleigh("stretching", beta, net.stretching.iter().copied()));
    }
    out.push(slot.term::<2, _>("stretching", net.stretching));
    out.push(slot.term::<3, _>("bending", net.bending));
    Ok(())
}

/// Mass and area by which contact acts, of each vertex of a cloth.
pub(super) fn cloth_masses(cloth: &Cloth) -> (Field<Vertices, f64>, Field<Vertices, f64>) {
    let areas = cloth.rest.vertex_areas(&cloth.mesh);
    (areas.map(|a| cloth.material.density.get() * a), areas)
}

/// The edge of an equilateral triangle with the mean area of the faces at rest, m.
pub(super) fn mean_edge(cloth: &Cloth) -> f64 {
    let mean = cloth.rest.area() / cloth.mesh.face_count() as f64;
    (mean * 4.0 / 3f64.sqrt()).sqrt()
}

/// Mass and area of each vertex of wires: half of each segment, and its shadow of one diameter.
pub(super) fn wire_masses(wires: &Wires) -> (Field<Vertices, f64>, Field<Vertices, f64>) {
    let wire = &wires.wire;
    let mut lengths: Field<Vertices, f64> = Field::filled(wires.rest.len(), 0.0);
    for &[a, b] in &wires.segments {
        // Indices out of range are refused when the net is built.
        if let [Some(xa), Some(xb)] = [a, b].map(|i| wires.rest.as_slice().get(i as usize)) {
            let length = 0.5 * xa.distance(*xb);
            lengths[Id::new(a)] += length;
            lengths[Id::new(b)] += length;
        }
    }
    let r = wire.radius.get();
    let section = std::f64::consts::PI * r * r * wire.density.get();
    (lengths.map(|l| section * l), lengths.map(|l| 2.0 * r * l))
}

/// The faces of all cloths over all vertices.
pub(super) fn whole_surface(faces: &[[u32; 3]], total: usize) -> Result<TriMesh, SceneError> {
    TriMesh::with_isolated_vertices(total, faces)
        .map_err(|source| SceneError::Mesh { body: "the scene".to_owned(), source })
}
