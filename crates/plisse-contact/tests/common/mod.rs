//! Sheets with contact.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test uses some of it; a test may panic"
)]

use std::sync::Arc;

use glam::DVec3;
use plisse_bending::{HingeElement, HingeWeight, QuadraticAngle};
use plisse_collision::intersections;
use plisse_contact::{ContactBuilder, ContactTerm, Kinematic, Near, Shape, Touching};
use plisse_core::{Field, Id, Positive, RestShape, TriMesh, Vertices, generate};
use plisse_membrane::{BaraffWitkin, MembraneElement};
use plisse_system::{Criterion, ElementTerm, Gravity, NewtonSettings, System, SystemBuilder};

pub fn positive(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

/// Contact as the figures of the sheet have it: 1 mm, 1 kPa.
pub fn touching() -> Touching {
    Touching {
        radius: 0.0,
        range: positive(1e-3),
        stiffness: positive(1e3),
        friction: 0.0,
        slip: positive(1e-3),
        touches_itself: true,
        neighbours: 0.0,
    }
}

pub fn settings(tolerance: f64) -> NewtonSettings {
    NewtonSettings { criterion: Criterion::Acceleration(positive(tolerance)), ..NewtonSettings::default() }
}

/// Several sheets, numbered one after the other.
#[derive(Default)]
pub struct Sheets {
    pub meshes: Vec<(TriMesh, RestShape, u32)>,
    pub x: Vec<DVec3>,
}

impl Sheets {
    /// Adds a sheet of `nx` by `ny` cells whose points are placed by a function.
    pub fn add(&mut self, cells: [usize; 2], size: [f64; 2], place: impl Fn(DVec3) -> DVec3) {
        let (mesh, uv) = generate::grid(cells[0], cells[1], size, generate::Diagonal::Alternating).unwrap();
        let rest = RestShape::from_uv(&mesh, &uv).unwrap();
        self.meshes.push((mesh, rest, self.x.len() as u32));
        self.x.extend(generate::embed(&uv).as_slice().iter().map(|x| place(*x)));
    }

    pub fn start(&self) -> Field<Vertices, DVec3> {
        Field::from_vec(self.x.clone())
    }

    pub fn masses(&self, density: f64) -> Field<Vertices, f64> {
        let areas = self.meshes.iter().flat_map(|(mesh, rest, _)| {
            rest.vertex_areas(mesh).as_slice().iter().map(|a| a * density).collect::<Vec<_>>()
        });
        Field::from_vec(areas.collect())
    }

    pub fn contact(&self, touching: Touching) -> ContactBuilder {
        self.meshes.iter().fold(ContactTerm::builder(), |builder, (mesh, rest, first)| {
            let areas = mesh.faces().iter().map(|(face, _)| rest.map(face).area()).collect();
            builder.cloth(
                format!("sheet {first}"),
                mesh.among(*first, self.x.len()),
                Field::from_vec(areas),
                touching,
            )
        })
    }

    /// Masses, membranes, bending and gravity.
    pub fn system(
        &self,
        density: f64,
        moduli: [f64; 3],
        rigidity: f64,
        gravity: DVec3,
    ) -> SystemBuilder<Vertices> {
        let masses = self.masses(density);
        let [warp, weft, shear] = moduli.map(positive);
        let energy = BaraffWitkin::from_moduli(warp, weft, shear);
        let mut builder = System::builder(masses.clone());
        for (k, (mesh, rest, first)) in self.meshes.iter().enumerate() {
            let id = |v: Id<Vertices>| Id::new(v.get() + first);
            let membrane =
                mesh.faces().iter().map(|(face, v)| MembraneElement::new(v.map(id), *rest.map(face), energy));
            let name = format!("membrane {k}");
            builder = builder.term(ElementTerm::<MembraneElement<_>, 3>::new(name, membrane.collect()));
            let rest = rest.among(*first, self.x.len());
            let hinge =
                |hinge| HingeElement::new(hinge, QuadraticAngle, positive(rigidity), HingeWeight::AreaSum);
            let hinges = rest.hinges().iter().map(hinge).collect();
            builder = builder.term(ElementTerm::<HingeElement<_>, 4>::new(format!("bending {k}"), hinges));
        }
        if gravity != DVec3::ZERO {
            builder = builder.term(Gravity::new(gravity, &masses).unwrap());
        }
        builder
    }

    /// How many pairs of triangles cross.
    pub fn crossings(&self, x: &Field<Vertices, DVec3>) -> usize {
        let meshes: Vec<TriMesh> =
            self.meshes.iter().map(|(mesh, _, first)| mesh.among(*first, self.x.len())).collect();
        intersections(&meshes.iter().collect::<Vec<_>>(), x).crossings.len()
    }
}

/// A floor that may move along itself.
pub struct Belt {
    pub normal: DVec3,
    pub velocity: DVec3,
}

impl Kinematic for Belt {
    fn place(&self, time: f64, _: &Near, out: &mut [DVec3]) {
        let (u, v) = self.normal.any_orthonormal_pair();
        for (k, x) in out.iter_mut().enumerate() {
            let angle = k as f64 * std::f64::consts::TAU / 3.0;
            *x = (u * angle.cos() + v * angle.sin()) * 50.0 + self.velocity * time;
        }
    }

    fn moves(&self) -> bool {
        self.velocity != DVec3::ZERO
    }
}

pub fn floor(builder: ContactBuilder, belt: Belt, touching: Touching) -> ContactBuilder {
    builder.obstacle("floor", Shape::Surface(vec![[0, 1, 2]]), 3, Arc::new(belt), touching)
}
