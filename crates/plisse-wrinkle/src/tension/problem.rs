//! What a base mesh is the equilibrium of.

use std::sync::Arc;

use glam::DVec3;
use plisse_core::{Faces, Field, Id, IsotropicSheet, Positive, TriMesh, TriangleMap, Vertices};
use plisse_membrane::{Lame, MembraneElement, MembraneEnergy, Scaled, StVenantKirchhoff, Sum, TensionField};
use plisse_system::{ConstantTerm, ElementTerm, Gravity, Pressure, Term};

use super::bending::{BendingStiffness, matrix, seams};
use super::{BENDING, GRAVITY, MEMBRANE, PRESSURE};
use crate::error::{WrinkleError, fits};

/// A sheet with its loads and what holds it, in equilibrium as a tension field (Chen21, section
/// 4.1).
///
/// The energy is that of [`TensionField`] and
/// [`QuadraticBending`](plisse_bending::QuadraticBending), less the work of pressure and gravity,
/// plus whatever terms are added. Every number is checked when it is given;
/// [`Self::solve`](Self::solve) finds a minimum.
///
/// ```
/// use glam::DVec3;
/// use plisse_core::{generate, IsotropicSheet, PoissonRatio, Positive, RestShape};
/// use plisse_wrinkle::{BaseProblem, BaseSettings};
///
/// // A film over a ring, blown up by 100 Pa.
/// let (mesh, uv) = generate::disc(4, 0.1)?;
/// let rest = RestShape::from_uv(&mesh, &uv)?.maps().clone();
/// let [young, thickness] = [1e7, 1e-4].map(Positive::literal);
/// let sheet = IsotropicSheet::new(young, PoissonRatio::literal(0.4), thickness);
/// let start = generate::embed(&uv);
/// let rim: Vec<_> = mesh.vertices().filter(|v| mesh.is_boundary_vertex(*v)).map(|v| (v, start[v])).collect();
/// let problem = BaseProblem::new(mesh, rest, sheet)?.with_pins(rim)?.with_pressure(100.0)?;
/// let base = problem.solve(&start, &BaseSettings::default())?;
/// assert!(base.x.as_slice().iter().all(|x| x.z >= 0.0));
/// assert!(base.report.volume.is_some_and(|v| v > 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct BaseProblem {
    mesh: TriMesh,
    rest: Field<Faces, TriangleMap>,
    panels: Option<TriMesh>,
    sheet: IsotropicSheet,
    lame: Lame,
    bending: BendingStiffness,
    compression: Option<Positive>,
    pressure: f64,
    gravity: DVec3,
    density: f64,
    pinned: Vec<(Id<Vertices>, DVec3)>,
    terms: Vec<Arc<dyn Term<Vertices>>>,
}

impl BaseProblem {
    /// A sheet without loads, held nowhere. `rest` is the rest shape of each face; the faces of
    /// sewn panels need not fit together.
    pub fn new(
        mesh: TriMesh,
        rest: Field<Faces, TriangleMap>,
        sheet: IsotropicSheet,
    ) -> Result<Self, WrinkleError> {
        fits("rest shapes", &rest, mesh.face_count())?;
        let refuse = |reason: String| WrinkleError::Sheet { what: "a membrane", reason };
        let h = sheet.thickness();
        let mu = Positive::new(sheet.beta() * h).map_err(|e| refuse(e.to_string()))?;
        let lame = Lame::new(mu, sheet.alpha() * h).map_err(|e| refuse(e.to_string()))?;
        Ok(Self {
            mesh,
            rest,
            panels: None,
            sheet,
            lame,
            bending: BendingStiffness::default(),
            compression: None,
            pressure: 0.0,
            gravity: DVec3::ZERO,
            density: 0.0,
            pinned: Vec::new(),
            terms: Vec::new(),
        })
    }

    /// The panels before they were sewn: the same faces in the same order, with vertices of their
    /// own on each side of a seam. Bending then stops at seams, which fold freely. Without panels
    /// the mesh bends as one piece.
    pub fn with_panels(self, panels: TriMesh) -> Result<Self, WrinkleError> {
        seams(&self.mesh, &panels)?;
        Ok(Self { panels: Some(panels), ..self })
    }

    /// Holds vertices at places, in metres, instead of those that were held before.
    pub fn with_pins(
        self,
        pins: impl IntoIterator<Item = (Id<Vertices>, DVec3)>,
    ) -> Result<Self, WrinkleError> {
        let mut place: Field<Vertices, Option<DVec3>> = Field::filled(self.mesh.vertex_count(), None);
        for (vertex, x) in pins {
            if vertex.index() >= place.len() {
                let (node, count) = (vertex.to_string(), place.len());
                return Err(plisse_system::SetupError::PinOutOfRange { node, count }.into());
            }
            if !x.is_finite() {
                return Err(WrinkleError::PinPlace { vertex, place: x.to_array() });
            }
            match place[vertex] {
                Some(first) if first != x => {
                    let (first, second) = (first.to_array(), x.to_array());
                    return Err(WrinkleError::PinTwice { vertex, first, second });
                }
                _ => place[vertex] = Some(x),
            }
        }
        let pinned = place.iter().filter_map(|(vertex, x)| x.map(|x| (vertex, x))).collect();
        Ok(Self { pinned, ..self })
    }

    /// A constant pressure in Pa on the side that the faces point away from, so that it pushes
    /// along their normals; negative for suction. A closed surface, or one whose boundary is held.
    pub fn with_pressure(self, pressure: f64) -> Result<Self, WrinkleError> {
        let expected = "give a finite number of pascals";
        finite("the pressure", pressure, expected)?;
        Ok(Self { pressure, ..self })
    }

    /// An acceleration in m/s² and the density of the solid in kg/m³.
    pub fn with_gravity(self, gravity: DVec3, density: Positive) -> Result<Self, WrinkleError> {
        for value in gravity.to_array() {
            finite("a component of gravity", value, "give finite numbers of m/s²")?;
        }
        Ok(Self { gravity, density: density.get(), ..self })
    }

    /// Another stiffness against bending.
    #[must_use]
    pub fn with_bending(self, bending: BendingStiffness) -> Self {
        Self { bending, ..self }
    }

    /// Adds this part of the elastic energy, compression included; zero, the default, adds nothing.
    ///
    /// A tension field does not care how compression is distributed between triangles (Chen21,
    /// section 6.3). A small part of the elastic energy, 1e-4 for instance, evens it out, but
    /// brings back a little of the buckling.
    pub fn with_compression(self, factor: f64) -> Result<Self, WrinkleError> {
        if !(0.0..=1.0).contains(&factor) {
            let expected = "give a number from 0 to 1";
            return Err(WrinkleError::Parameter { what: "the part of compression", value: factor, expected });
        }
        Ok(Self { compression: Positive::new(factor).ok(), ..self })
    }

    /// Adds a term to the energy, an obstacle for instance. Its name must differ from "membrane",
    /// "bending", "pressure", "gravity".
    #[must_use]
    pub fn with_term(mut self, term: Box<dyn Term<Vertices>>) -> Self {
        self.terms.push(Arc::from(term));
        self
    }

    /// The mesh, sewn.
    #[must_use]
    pub fn mesh(&self) -> &TriMesh {
        &self.mesh
    }

    /// The rest shape of each face.
    #[must_use]
    pub fn rest(&self) -> &Field<Faces, TriangleMap> {
        &self.rest
    }

    /// The panels before they were sewn, if there are any.
    #[must_use]
    pub fn panels(&self) -> Option<&TriMesh> {
        self.panels.as_ref()
    }

    /// What the sheet is made of.
    #[must_use]
    pub fn sheet(&self) -> IsotropicSheet {
        self.sheet
    }

    /// Pressure in Pa.
    #[must_use]
    pub fn pressure(&self) -> f64 {
        self.pressure
    }

    /// Held vertices with their places in metres, ascending.
    #[must_use]
    pub fn pinned(&self) -> &[(Id<Vertices>, DVec3)] {
        &self.pinned
    }

    /// The law of the membrane.
    #[must_use]
    pub fn tension_field(&self) -> TensionField {
        TensionField::new(self.lame)
    }

    pub(super) fn lame(&self) -> Lame {
        self.lame
    }

    /// A third of the rest area of the faces around each vertex, m².
    pub(super) fn vertex_areas(&self) -> Field<Vertices, f64> {
        Field::from_fn(self.mesh.vertex_count(), |v| {
            self.mesh.vertex_faces(v).iter().map(|face| self.rest[*face].area()).sum::<f64>() / 3.0
        })
    }

    pub(super) fn membrane_term<E: MembraneEnergy + Copy>(
        &self,
        energy: E,
    ) -> ElementTerm<MembraneElement<E>, 3> {
        let element = |(face, corners): (_, &[_; 3])| MembraneElement::new(*corners, self.rest[face], energy);
        ElementTerm::new(MEMBRANE, self.mesh.faces().iter().map(element).collect())
    }

    /// Membrane and bending of the base mesh.
    pub(super) fn sheet_terms(&self) -> Result<[Box<dyn Term<Vertices>>; 2], WrinkleError> {
        let elastic = |stiffness| Scaled { stiffness, energy: StVenantKirchhoff::new(self.lame) };
        let membrane: Box<dyn Term<Vertices>> = match self.compression {
            None => Box::new(self.membrane_term(self.tension_field())),
            Some(factor) => Box::new(self.membrane_term(Sum(self.tension_field(), elastic(factor)))),
        };
        let rigidity = self.bending.rigidity(&self.sheet)?;
        let bending = matrix(&self.mesh, self.panels.as_ref(), &self.rest, rigidity)?;
        let bending = ConstantTerm::from_rows(BENDING, bending.size(), |i| bending.row(i));
        Ok([membrane, Box::new(bending)])
    }

    /// Pressure, gravity and what the caller has added.
    pub(super) fn load_terms(&self) -> Result<Vec<Box<dyn Term<Vertices>>>, WrinkleError> {
        let mut out: Vec<Box<dyn Term<Vertices>>> = Vec::new();
        if let Some(pressure) = self.pressure_term()? {
            out.push(Box::new(pressure));
        }
        if self.is_heavy() {
            let mass = self.vertex_areas().map(|area| area * self.sheet.thickness() * self.density);
            out.push(Box::new(Gravity::new(self.gravity, &mass)?.with_name(GRAVITY)));
        }
        out.extend(self.terms.iter().map(|term| Box::new(term.clone()) as Box<dyn Term<Vertices>>));
        Ok(out)
    }

    pub(super) fn is_heavy(&self) -> bool {
        self.density > 0.0 && self.gravity != DVec3::ZERO
    }

    /// Whether nothing can resist or cause a rigid motion.
    pub(super) fn floats(&self) -> bool {
        self.pinned.is_empty() && !self.is_heavy() && self.terms.is_empty()
    }

    /// Refuses a heavy sheet that nothing holds.
    pub(super) fn check_held(&self) -> Result<(), WrinkleError> {
        if self.pinned.is_empty() && self.is_heavy() && self.terms.is_empty() {
            return Err(WrinkleError::Falls);
        }
        Ok(())
    }

    /// Pressure in the closed surface, or on the sheet whose boundary is held; none without any.
    pub(super) fn pressure_term(&self) -> Result<Option<Pressure>, WrinkleError> {
        if self.pressure == 0.0 {
            return Ok(None);
        }
        let is_rim = |v: &Id<Vertices>| self.mesh.is_boundary_vertex(*v);
        let mut held = vec![false; self.mesh.vertex_count()];
        for (vertex, _) in &self.pinned {
            held[vertex.index()] = true;
        }
        let rim: Vec<Id<Vertices>> = self.mesh.vertices().filter(is_rim).collect();
        if let Some(vertex) = rim.iter().copied().find(|v| !held[v.index()]) {
            return Err(WrinkleError::OpenPressure { vertex });
        }
        let pressure = if rim.is_empty() {
            Pressure::new(&self.mesh, self.pressure)?
        } else {
            let places = self.pinned.iter().filter(|(v, _)| is_rim(v)).map(|(_, x)| *x);
            Pressure::held(&self.mesh, self.pressure, places.sum::<DVec3>() / rim.len() as f64)?
        };
        Ok(Some(pressure.with_name(PRESSURE)))
    }
}

fn finite(what: &'static str, value: f64, expected: &'static str) -> Result<(), WrinkleError> {
    if value.is_finite() { Ok(()) } else { Err(WrinkleError::Parameter { what, value, expected }) }
}
