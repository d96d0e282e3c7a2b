//! Sheets and small helpers for the tests.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test uses some of it; a test may panic"
)]

use glam::DVec3;
use plisse_bending::{HingeElement, HingeWeight, QuadraticAngle};
use plisse_core::{Field, Positive, RestShape, TriMesh, Vertices, generate};
use plisse_damping::{Dissipation, FibreStrain, OnTriangle, Potential};
use plisse_membrane::{BaraffWitkin, MembraneElement, MembraneEnergy};
use plisse_system::{
    Criterion, ElementTerm, Gravity, HessianPolicy, LinearSolver, NewtonSettings, System, SystemBuilder,
};

pub const G: DVec3 = DVec3::new(0.0, 0.0, -9.81);

pub fn positive(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

/// A mesh with its rest shape and flat positions.
pub struct Sheet {
    pub mesh: TriMesh,
    pub rest: RestShape,
    pub flat: Field<Vertices, DVec3>,
}

impl Sheet {
    pub fn grid(nx: usize, ny: usize, size: [f64; 2], diagonal: generate::Diagonal) -> Self {
        let (mesh, uv) = generate::grid(nx, ny, size, diagonal).unwrap();
        let rest = RestShape::from_uv(&mesh, &uv).unwrap();
        Self { mesh, rest, flat: generate::embed(&uv) }
    }

    pub fn mass(&self, density: f64) -> Field<Vertices, f64> {
        self.rest.vertex_areas(&self.mesh).map(|a| density * a)
    }

    pub fn membrane<E: MembraneEnergy + Copy>(&self, energy: E) -> ElementTerm<MembraneElement<E>, 3> {
        let element = |(face, v): (_, &[_; 3])| MembraneElement::new(*v, *self.rest.map(face), energy);
        ElementTerm::new("membrane", self.mesh.faces().iter().map(element).collect())
    }

    pub fn hinges(&self, rigidity: f64, weight: HingeWeight) -> ElementTerm<HingeElement<QuadraticAngle>, 4> {
        let element = |h| HingeElement::new(h, QuadraticAngle, positive(rigidity), weight);
        ElementTerm::new("bending", self.rest.hinges().iter().map(element).collect())
    }

    /// Damping of the stretch of fibres and the shear between them.
    pub fn dampers<P: Potential<3> + Copy>(
        &self,
        potential: P,
    ) -> Vec<Dissipation<OnTriangle<FibreStrain>, P, 3, 3>> {
        let element = |(face, v): (_, &[_; 3])| {
            let map = *self.rest.map(face);
            let strain = OnTriangle::new(map, FibreStrain::default());
            Dissipation::new(*v, strain, potential, positive(map.area()))
        };
        self.mesh.faces().iter().map(element).collect()
    }

    /// Baraff-Witkin membrane and hinges.
    pub fn cloth(&self, density: f64, moduli: [f64; 3], rigidity: f64) -> SystemBuilder<Vertices> {
        let [warp, weft, shear] = moduli.map(positive);
        System::builder(self.mass(density))
            .term(self.membrane(BaraffWitkin::from_moduli(warp, weft, shear)))
            .term(self.hinges(rigidity, HingeWeight::AreaSum))
    }

    pub fn gravity(&self, density: f64) -> Gravity<Vertices> {
        Gravity::new(G, &self.mass(density)).unwrap()
    }
}

pub fn settings(tolerance: f64) -> NewtonSettings {
    NewtonSettings {
        criterion: Criterion::Acceleration(positive(tolerance)),
        hessian: HessianPolicy::ProjectedThenExact,
        ..NewtonSettings::default()
    }
}

pub fn with_solver(tolerance: f64, solver: LinearSolver) -> NewtonSettings {
    NewtonSettings { solver, ..settings(tolerance) }
}

/// Largest distance between two sets of positions.
pub fn distance(a: &Field<Vertices, DVec3>, b: &Field<Vertices, DVec3>) -> f64 {
    a.iter().map(|(i, a)| a.distance(b[i])).fold(0.0, f64::max)
}
