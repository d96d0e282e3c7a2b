//! The bodies of a scene in one numbering.

use glam::DVec3;
use plisse_core::{Field, Id, Vertices};

use super::cloth::Cloth;
use super::scene::BodyInfo;
use super::wires::Wires;

/// The bodies of a scene in one numbering: what a [term of one's own](super::SceneBuilder::term) is
/// made from.
#[derive(Clone, Copy, Debug)]
pub struct Bodies<'a> {
    pub(super) all: &'a [BodyInfo],
    pub(super) masses: &'a Field<Vertices, f64>,
    pub(super) start: &'a Field<Vertices, DVec3>,
}

impl<'a> Bodies<'a> {
    /// The bodies, in the order in which they were added.
    #[must_use]
    pub fn all(&self) -> &'a [BodyInfo] {
        self.all
    }

    /// The body of this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&'a BodyInfo> {
        self.all.iter().find(|body| body.name == name)
    }

    /// Mass of each vertex of the scene, kg.
    #[must_use]
    pub fn masses(&self) -> &'a Field<Vertices, f64> {
        self.masses
    }

    /// Where each vertex of the scene starts, m.
    #[must_use]
    pub fn start(&self) -> &'a Field<Vertices, DVec3> {
        self.start
    }
}

/// Where the vertices of one body are among those of the scene. Nothing else turns one numbering
/// into the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    first: u32,
    count: usize,
    total: usize,
}

impl Place {
    /// The places of bodies with so many vertices each, one after the other.
    pub(super) fn all(counts: &[usize]) -> Vec<Self> {
        let total = counts.iter().sum();
        let mut first = 0;
        let mut next = |&count: &usize| {
            let place = Self { first, count, total };
            first += count as u32;
            place
        };
        counts.iter().map(&mut next).collect()
    }

    /// A vertex of the body among all.
    pub(super) fn id(self, local: Id<Vertices>) -> Id<Vertices> {
        Id::new(local.get() + self.first)
    }

    /// All vertices of the body.
    pub(super) fn range(self) -> std::ops::Range<usize> {
        self.first as usize..self.first as usize + self.count
    }

    /// A cloth whose triangles and hinges have the vertices of the scene. Its own vertices, with
    /// their pins and groups, stay.
    pub(super) fn cloth(self, cloth: &Cloth) -> Cloth {
        let (mesh, rest) =
            (cloth.mesh.among(self.first, self.total), cloth.rest.among(self.first, self.total));
        Cloth { mesh, rest, ..cloth.clone() }
    }

    /// Wires whose segments have the vertices of the scene; their rest positions have gaps for the
    /// others.
    pub(super) fn wires(self, wires: &Wires) -> Wires {
        let mut rest = Field::filled(self.total, DVec3::ZERO);
        for (local, x) in wires.rest.iter() {
            rest[self.id(local)] = *x;
        }
        let segments = wires.segments.iter().map(|ends| ends.map(|v| self.id(Id::new(v)).get())).collect();
        Wires { rest, segments, ..wires.clone() }
    }
}
