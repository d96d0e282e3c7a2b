//! The kept faces as a complex: split vertices, spanning trees, generators, and the closed
//! one-forms on them.

mod split;
#[cfg(test)]
mod tests;
mod trees;

use plisse_core::{Edges, Faces, Field, Id, Space, TriMesh, Vertices};

use crate::error::{WrinkleError, fits};

/// Values per node of a [`KeptComplex`]: the phase of the wrinkles. A vertex where several fans of
/// kept faces touch in a point has one node for each fan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nodes {}

impl Space for Nodes {
    const NAME: &'static str = "node";
}

/// An edge of at least one kept face, with the nodes at its ends. It runs from the smaller to the
/// larger vertex index, whatever its direction in the mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComplexEdge {
    /// The edge of the mesh.
    pub edge: Id<Edges>,
    /// The nodes of the smaller and of the larger vertex.
    pub nodes: [Id<Nodes>; 2],
}

/// That the dual loop of a generator crosses an edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// Which generator.
    pub generator: usize,
    /// `1` when it crosses from the left to the right of the edge (which runs from the smaller to
    /// the larger vertex), else `-1`.
    pub sign: f64,
}

/// An edge on a path, and whether the path runs along it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The edge.
    pub edge: Id<Edges>,
    /// `1` when the path runs from the smaller to the larger vertex, else `-1`.
    pub sign: f64,
}

/// One step of the spanning trees, from a node to one that was reached before.
#[derive(Clone, Copy, Debug)]
struct Branch {
    node: Id<Nodes>,
    parent: Id<Nodes>,
    /// From `parent` to `node`.
    step: Step,
}

/// The surface made of the kept faces, cut so that every one-form on its edges without curl is
/// known by numbers that nothing ties.
///
/// A one-form `ω` gives every edge a number, counted from its smaller to its larger vertex. It is
/// closed when its curl, the sum around a face, vanishes on every kept face. All of these, and no
/// others, are
///
/// ```text
/// ω = B φ + Γ c          (B φ)_ij = φ_j - φ_i,   φ one number per node,   c one per generator
/// ```
///
/// `Γ_k` is the set of signed edges that a loop of faces crosses: the loop enters each face once
/// and leaves it once, so `Γ_k` is closed. The boundary of the kept faces counts as one more face
/// that loops may pass through. The generators come from a spanning tree of that dual graph and a
/// spanning tree of the nodes that crosses none of it: the edges in neither are one per generator,
/// and close the *primal* loops. The sum of `ω` around primal loop `k`, its period, is `c_k`.
///
/// Vertices where kept faces touch only in a point are split into one [node](Nodes) per fan: no
/// face ties the phases there. Edges between a kept and a removed face belong to the complex, edges
/// of no kept face do not. Everything follows from the order of the ids: the same mesh gives the
/// same trees.
#[derive(Clone, Debug)]
pub struct KeptComplex {
    face_nodes: Field<Faces, Option<[Id<Nodes>; 3]>>,
    /// Edge `i` is opposite corner `i`, the sign is that of the counter-clockwise walk.
    face_steps: Field<Faces, [Step; 3]>,
    node_vertex: Field<Nodes, Id<Vertices>>,
    node_component: Field<Nodes, u32>,
    roots: Vec<Id<Nodes>>,
    edges: Vec<ComplexEdge>,
    edge_place: Field<Edges, Option<u32>>,
    /// Crossings of complex edge `i` are at `crossing_start[i]..crossing_start[i + 1]`.
    crossing_start: Vec<u32>,
    crossings: Vec<Crossing>,
    primal_loops: Vec<Vec<Step>>,
    /// Parents before children.
    branches: Vec<Branch>,
}

impl KeptComplex {
    /// Splits the kept faces and finds the generators. No kept face at all is a valid, empty
    /// complex.
    ///
    /// # Errors
    /// [`WrinkleError::Length`] if `kept` is not one value per face.
    pub fn new(mesh: &TriMesh, kept: &Field<Faces, bool>) -> Result<Self, WrinkleError> {
        fits("kept faces", kept, mesh.face_count())?;
        let split = split::split(mesh, kept);
        let trees = trees::trees(mesh, kept, &split);
        let face_steps = Field::from_fn(mesh.face_count(), |face| {
            let corners = mesh.faces()[face];
            std::array::from_fn(|i| {
                let ascending = corners[(i + 1) % 3] < corners[(i + 2) % 3];
                Step { edge: mesh.face_edges()[face][i], sign: if ascending { 1.0 } else { -1.0 } }
            })
        });
        Ok(Self {
            face_nodes: split.face_nodes,
            face_steps,
            node_vertex: split.node_vertex,
            node_component: trees.node_component,
            roots: trees.roots,
            edges: split.edges,
            edge_place: split.edge_place,
            crossing_start: trees.crossing_start,
            crossings: trees.crossings,
            primal_loops: trees.primal_loops,
            branches: trees.branches,
        })
    }

    /// How many nodes: the vertices of kept faces, each counted once per fan.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.node_vertex.len()
    }

    /// How many connected pieces the kept faces form; pieces that touch in a point are apart.
    #[must_use]
    pub fn component_count(&self) -> usize {
        self.roots.len()
    }

    /// How many generators: the first Betti number of the split surface.
    #[must_use]
    pub fn betti(&self) -> usize {
        self.primal_loops.len()
    }

    /// Dimension of the closed forms: nodes less components plus generators. Constants on a
    /// component give no form.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.node_count() - self.component_count() + self.betti()
    }

    /// The nodes at the corners of a face, `None` for a face that is not kept.
    #[inline]
    #[must_use]
    pub fn face_nodes(&self, face: Id<Faces>) -> Option<[Id<Nodes>; 3]> {
        self.face_nodes[face]
    }

    /// The edges of any face of the mesh as its counter-clockwise walk meets them; edge `i` is
    /// opposite corner `i`.
    #[inline]
    #[must_use]
    pub fn face_steps(&self, face: Id<Faces>) -> [Step; 3] {
        self.face_steps[face]
    }

    /// The vertex of every node, ascending.
    #[must_use]
    pub fn node_vertices(&self) -> &Field<Nodes, Id<Vertices>> {
        &self.node_vertex
    }

    /// The component of every node; components are numbered in the order of their smallest node.
    #[must_use]
    pub fn node_components(&self) -> &Field<Nodes, u32> {
        &self.node_component
    }

    /// The smallest node of every component, where a phase may be fixed without loss.
    #[must_use]
    pub fn roots(&self) -> &[Id<Nodes>] {
        &self.roots
    }

    /// The edges of kept faces, ascending.
    #[must_use]
    pub fn edges(&self) -> &[ComplexEdge] {
        &self.edges
    }

    /// Where [`edges`](Self::edges) has this edge of the mesh, `None` if it belongs to no kept
    /// face.
    #[inline]
    #[must_use]
    pub fn edge_place(&self, edge: Id<Edges>) -> Option<usize> {
        self.edge_place[edge].map(|place| place as usize)
    }

    /// The generators whose dual loop crosses the edge, ascending, each at most once. None for an
    /// edge of no kept face.
    #[inline]
    #[must_use]
    pub fn crossings(&self, edge: Id<Edges>) -> &[Crossing] {
        self.edge_place(edge).map_or(&[], |place| self.crossings_at(place))
    }

    fn crossings_at(&self, place: usize) -> &[Crossing] {
        &self.crossings[self.crossing_start[place] as usize..self.crossing_start[place + 1] as usize]
    }

    /// The loop of edges around which generator `k` has the period one and every other the period
    /// zero. It begins with the edge from which the generator was made and is a closed walk over
    /// the nodes.
    ///
    /// # Panics
    /// If `k` is not below [`betti`](Self::betti).
    #[must_use]
    pub fn primal_loop(&self, k: usize) -> &[Step] {
        &self.primal_loops[k]
    }

    /// `ω = B φ + Γ c`, zero on edges of no kept face.
    ///
    /// # Errors
    /// [`WrinkleError::Length`] if `phi` is not one value per node, [`WrinkleError::PeriodCount`]
    /// if `c` is not one per generator.
    pub fn omega(&self, phi: &Field<Nodes, f64>, c: &[f64]) -> Result<Field<Edges, f64>, WrinkleError> {
        self.check(phi, c)?;
        let mut omega = Field::filled(self.edge_place.len(), 0.0);
        self.write_omega(phi.as_slice(), c, &mut omega);
        Ok(omega)
    }

    /// The same without checks and without allocation; edges of no kept face are left as they are.
    pub(crate) fn write_omega(&self, phi: &[f64], c: &[f64], omega: &mut Field<Edges, f64>) {
        for (place, edge) in self.edges.iter().enumerate() {
            let [tail, head] = edge.nodes.map(Id::index);
            let mut value = phi[head] - phi[tail];
            for crossing in self.crossings_at(place) {
                value += crossing.sign * c[crossing.generator];
            }
            omega[edge.edge] = value;
        }
    }

    /// The sum of `ω` around each primal loop.
    ///
    /// # Errors
    /// [`WrinkleError::Length`] if `omega` is not one value per edge of the mesh.
    pub fn periods(&self, omega: &Field<Edges, f64>) -> Result<Vec<f64>, WrinkleError> {
        fits("omega", omega, self.edge_place.len())?;
        Ok(self.primal_loops.iter().map(|steps| sum(steps, omega)).collect())
    }

    /// The sum of `ω` counter-clockwise around a face, kept or not.
    ///
    /// # Errors
    /// [`WrinkleError::Length`] if `omega` is not one value per edge of the mesh.
    pub fn curl(&self, face: Id<Faces>, omega: &Field<Edges, f64>) -> Result<f64, WrinkleError> {
        fits("omega", omega, self.edge_place.len())?;
        Ok(sum(&self.face_steps[face], omega))
    }

    /// The `φ` and `c` of a closed form, with `φ = 0` at the root of every component: the inverse
    /// of [`omega`](Self::omega). Of a form with curl, only the values on the spanning trees and on
    /// the primal loops enter.
    ///
    /// # Errors
    /// [`WrinkleError::Length`] if `omega` is not one value per edge of the mesh.
    pub fn integrate(
        &self,
        omega: &Field<Edges, f64>,
    ) -> Result<(Field<Nodes, f64>, Vec<f64>), WrinkleError> {
        let c = self.periods(omega)?;
        let mut phi = Field::filled(self.node_count(), 0.0);
        // No dual loop crosses an edge of the trees, so B φ alone is ω there.
        for branch in &self.branches {
            phi[branch.node] = phi[branch.parent] + branch.step.sign * omega[branch.step.edge];
        }
        Ok((phi, c))
    }

    pub(crate) fn check(&self, phi: &Field<Nodes, f64>, c: &[f64]) -> Result<(), WrinkleError> {
        fits("phases", phi, self.node_count())?;
        if c.len() == self.betti() {
            Ok(())
        } else {
            Err(WrinkleError::PeriodCount { expected: self.betti(), found: c.len() })
        }
    }
}

fn sum(steps: &[Step], omega: &Field<Edges, f64>) -> f64 {
    steps.iter().map(|step| step.sign * omega[step.edge]).sum()
}
