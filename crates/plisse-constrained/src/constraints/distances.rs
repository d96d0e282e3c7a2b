//! Pairs of nodes that keep their distance: inextensible edges of a mesh, threads of woven cloth
//! (Goldenthal et al. 2007), rods and nets.

use glam::DVec3;
use plisse_core::{Field, Id, Space, TriMesh, Vertices};

use crate::constraint::{Constraint, Rows};
use crate::error::ConstrainedError;

/// `c = (|xᵢ - xⱼ|² - d²)/(2 d²)` for pairs of nodes: about the relative error of their distance.
///
/// A compliance makes a pair a spring: `compliance = 1/(k d²)` for a stiffness `k` in N/m. Warp
/// that is inextensible and bias that is soft are two lists.
#[derive(Clone, Debug)]
pub struct Distances<S: Space> {
    name: String,
    pairs: Vec<Pair<S>>,
    /// In 1/J.
    compliance: f64,
}

#[derive(Clone, Copy, Debug)]
struct Pair<S: Space> {
    nodes: [Id<S>; 2],
    /// `1/d²`.
    weight: f64,
}

impl<S: Space> Distances<S> {
    /// Pairs with the distance of each, in metres.
    ///
    /// # Errors
    /// [`ConstrainedError`] for a pair of one node with itself and for a distance that is not
    /// positive.
    pub fn new(
        name: impl Into<String>,
        pairs: impl IntoIterator<Item = ([Id<S>; 2], f64)>,
    ) -> Result<Self, ConstrainedError> {
        let name = name.into();
        let pair = |([a, b], d): ([Id<S>; 2], f64)| {
            if a == b {
                let group = format!("{name}: the pair of {a} with itself");
                return Err(ConstrainedError::BadGroup { group, rows: 1, nodes: 1 });
            }
            // The weight and its products must stay numbers.
            if !(1e-60..=1e60).contains(&d) {
                let (what, expected) =
                    (format!("the distance of {a} and {b}"), "a length from 1e-60 to 1e60 m");
                return Err(ConstrainedError::BadNumber { what, value: d, expected });
            }
            Ok(Pair { nodes: [a, b], weight: 1.0 / (d * d) })
        };
        let pairs = pairs.into_iter().map(pair).collect::<Result<_, _>>()?;
        Ok(Self { name, pairs, compliance: 0.0 })
    }

    /// The same pairs with a compliance in 1/J, zero or more.
    ///
    /// # Errors
    /// [`ConstrainedError::BadNumber`] for a number below zero or beyond all bounds.
    pub fn with_compliance(self, compliance: f64) -> Result<Self, ConstrainedError> {
        if (0.0..=1e60).contains(&compliance) {
            return Ok(Self { compliance, ..self });
        }
        let (what, expected) =
            (format!("the compliance of {}", self.name), "a number from 0 to 1e60, in 1/J");
        Err(ConstrainedError::BadNumber { what, value: compliance, expected })
    }
}

impl Distances<Vertices> {
    /// Every edge of a mesh keeps the length that it has in `x`. Such a sheet bends along few lines
    /// only: the conforming mesh locks.
    ///
    /// # Errors
    /// [`ConstrainedError`] for positions of another mesh and edges without length.
    pub fn edges(mesh: &TriMesh, x: &Field<Vertices, DVec3>) -> Result<Self, ConstrainedError> {
        let edges = mesh.edges().as_slice().iter().map(|edge| edge.vertices);
        Self::at_rest("inextensible edges", edges, mesh.vertex_count(), x)
    }

    /// Segments of rods and nets keep the lengths that they have in `x`.
    ///
    /// # Errors
    /// [`ConstrainedError`] for ends that do not exist and segments without length.
    pub fn segments(
        segments: &[[Id<Vertices>; 2]],
        x: &Field<Vertices, DVec3>,
    ) -> Result<Self, ConstrainedError> {
        Self::at_rest("inextensible segments", segments.iter().copied(), x.len(), x)
    }

    /// Warp and weft of cloth made of quads with corners in order: the sides of every quad keep the
    /// lengths that they have in `x`, shear is free (Goldenthal et al. 2007).
    ///
    /// # Errors
    /// [`ConstrainedError`] for corners that do not exist and sides without length.
    pub fn threads(
        quads: &[[Id<Vertices>; 4]],
        x: &Field<Vertices, DVec3>,
    ) -> Result<Self, ConstrainedError> {
        let side = |quad: &[Id<Vertices>; 4], k: usize| {
            let (a, b) = (quad[k], quad[(k + 1) % 4]);
            [a.min(b), a.max(b)]
        };
        let mut sides: Vec<_> = quads.iter().flat_map(|quad| [0, 1, 2, 3].map(|k| side(quad, k))).collect();
        sides.sort_unstable();
        sides.dedup();
        Self::at_rest("warp and weft", sides.into_iter(), x.len(), x)
    }

    fn at_rest(
        name: &'static str,
        pairs: impl Iterator<Item = [Id<Vertices>; 2]>,
        count: usize,
        x: &Field<Vertices, DVec3>,
    ) -> Result<Self, ConstrainedError> {
        x.check_len(count)
            .map_err(|source| ConstrainedError::Length { what: "the rest positions", source })?;
        let known = |pair: [Id<Vertices>; 2]| match pair.iter().find(|v| v.index() >= count) {
            None => Ok((pair, x[pair[0]].distance(x[pair[1]]))),
            Some(v) => {
                Err(ConstrainedError::NoSuchNode { group: name.to_owned(), node: v.to_string(), count })
            }
        };
        Self::new(name, pairs.map(known).collect::<Result<Vec<_>, _>>()?)
    }
}

impl<S: Space> Constraint<S> for Distances<S> {
    fn name(&self) -> &str {
        &self.name
    }

    fn groups(&self) -> usize {
        self.pairs.len()
    }

    fn nodes(&self, group: usize) -> &[Id<S>] {
        &self.pairs[group].nodes
    }

    fn rows(&self, _: usize) -> usize {
        1
    }

    #[inline]
    fn evaluate(&self, group: usize, x: &Field<S, DVec3>, _: f64, out: &mut Rows<'_>) {
        let Pair { nodes, weight } = self.pairs[group];
        let u = x[nodes[0]] - x[nodes[1]];
        out.set(0, 0.5 * (u.length_squared() * weight - 1.0));
        out.add(0, 0, u * weight);
        out.add(0, 1, u * -weight);
    }

    fn compliance(&self, _: usize, _: usize) -> f64 {
        self.compliance
    }

    fn tension(&self, group: usize, multipliers: &[f64], out: &mut [f64]) {
        let pull = (-multipliers[0] * self.pairs[group].weight).max(0.0);
        out.copy_from_slice(&[pull, -pull, -pull, pull]);
    }

    fn is_curved(&self) -> bool {
        true
    }

    fn describe(&self, group: usize) -> String {
        let [a, b] = self.pairs[group].nodes;
        format!("{}: the distance of {a} and {b}", self.name)
    }
}
