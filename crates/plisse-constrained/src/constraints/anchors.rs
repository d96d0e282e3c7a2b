//! Pins: weighted sums of nodes that stay somewhere or follow a path.

use std::fmt;

use glam::DVec3;
use plisse_core::{Edges, Field, Id, Space, Vertices};
use plisse_system::Motion;

use crate::constraint::{Constraint, Rows};
use crate::element::CrMesh;
use crate::error::ConstrainedError;

/// What is held, and where.
#[derive(Clone)]
pub struct Anchor<S: Space> {
    name: String,
    nodes: Vec<Id<S>>,
    weights: Vec<f64>,
    target: Target,
    scale: f64,
}

#[derive(Clone)]
enum Target {
    Still(DVec3),
    Moving(Motion),
}

impl Target {
    fn at(&self, time: f64) -> DVec3 {
        match self {
            Self::Still(place) => *place,
            Self::Moving(motion) => motion(time),
        }
    }
}

impl<S: Space> fmt::Debug for Anchor<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} over {:?}", self.name, self.nodes)
    }
}

impl Anchor<Edges> {
    /// Holds a vertex of a mesh of edge unknowns: as its first face sees it,
    /// `m₍ₖ₊₁₎ + m₍ₖ₊₂₎ - mₖ`.
    ///
    /// # Errors
    /// [`ConstrainedError`] for a vertex that does not exist or has no face, or a place that is not
    /// finite.
    pub fn vertex(mesh: &CrMesh, vertex: Id<Vertices>, place: DVec3) -> Result<Self, ConstrainedError> {
        Self::of_vertex(mesh, vertex, Target::Still(place))
    }

    /// Moves a vertex along a path, position in metres by time in seconds.
    ///
    /// # Errors
    /// [`ConstrainedError`] for a vertex that does not exist or has no face.
    pub fn moving_vertex(
        mesh: &CrMesh,
        vertex: Id<Vertices>,
        motion: Motion,
    ) -> Result<Self, ConstrainedError> {
        Self::of_vertex(mesh, vertex, Target::Moving(motion))
    }

    fn of_vertex(mesh: &CrMesh, vertex: Id<Vertices>, target: Target) -> Result<Self, ConstrainedError> {
        let topology = mesh.mesh();
        let (group, node, count) =
            (format!("the pin of {vertex}"), vertex.to_string(), topology.vertex_count());
        if vertex.index() >= count {
            return Err(ConstrainedError::NoSuchNode { group, node, count });
        }
        let face = topology.vertex_faces(vertex).first().copied();
        let face = face.ok_or(ConstrainedError::LooseVertex { vertex })?;
        let at = mesh.corner_at(face, vertex).ok_or(ConstrainedError::LooseVertex { vertex })?;
        let weights = (0..3).map(|k| if k == at { -1.0 } else { 1.0 }).collect();
        let nodes = topology.face_edges()[face].to_vec();
        Self::new(group, nodes, weights, target, mesh.mean_edge())
    }
}

impl<S: Space> Anchor<S> {
    /// Holds one node at a place; rows are divided by `length`, in metres.
    ///
    /// # Errors
    /// [`ConstrainedError`] if a number is not finite or the length is not positive.
    pub fn node(node: Id<S>, place: DVec3, length: f64) -> Result<Self, ConstrainedError> {
        Self::new(format!("the pin of {node}"), vec![node], vec![1.0], Target::Still(place), length)
    }

    fn new(
        name: String,
        nodes: Vec<Id<S>>,
        weights: Vec<f64>,
        target: Target,
        length: f64,
    ) -> Result<Self, ConstrainedError> {
        if !(length > 0.0 && length.is_finite()) {
            let expected = "a positive number of metres";
            return Err(ConstrainedError::BadNumber {
                what: format!("the length scale of {name}"),
                value: length,
                expected,
            });
        }
        if let Target::Still(place) = target
            && !place.is_finite()
        {
            let value = place.to_array().into_iter().find(|x| !x.is_finite()).unwrap_or(f64::NAN);
            let expected = "finite coordinates in metres";
            return Err(ConstrainedError::BadNumber {
                what: format!("the place of {name}"),
                value,
                expected,
            });
        }
        Ok(Self { name, nodes, weights, target, scale: 1.0 / length })
    }

    /// Where it is held at a time, m.
    #[must_use]
    pub fn target(&self, time: f64) -> DVec3 {
        self.target.at(time)
    }
}

/// `(Σ wᵢ xᵢ - p(t))/h`, three rows for each anchor.
#[derive(Clone, Debug)]
pub struct Anchors<S: Space> {
    anchors: Vec<Anchor<S>>,
}

impl<S: Space> Anchors<S> {
    /// These anchors together.
    #[must_use]
    pub fn new(anchors: Vec<Anchor<S>>) -> Self {
        Self { anchors }
    }

    /// The anchors.
    #[must_use]
    pub fn anchors(&self) -> &[Anchor<S>] {
        &self.anchors
    }
}

impl<S: Space> Constraint<S> for Anchors<S> {
    fn name(&self) -> &str {
        "pins"
    }

    fn groups(&self) -> usize {
        self.anchors.len()
    }

    fn nodes(&self, group: usize) -> &[Id<S>] {
        &self.anchors[group].nodes
    }

    fn rows(&self, _: usize) -> usize {
        3
    }

    fn evaluate(&self, group: usize, x: &Field<S, DVec3>, time: f64, out: &mut Rows<'_>) {
        let Anchor { nodes, weights, target, scale, .. } = &self.anchors[group];
        let mut sum = -target.at(time);
        for (node, weight) in nodes.iter().zip(weights) {
            sum += x[*node] * *weight;
        }
        for (axis, direction) in DVec3::AXES.into_iter().enumerate() {
            out.set(axis, sum[axis] * scale);
            for (k, weight) in weights.iter().enumerate() {
                out.add(axis, k, direction * (weight * scale));
            }
        }
    }

    fn depends_on_time(&self) -> bool {
        self.anchors.iter().any(|anchor| matches!(anchor.target, Target::Moving(_)))
    }

    fn describe(&self, group: usize) -> String {
        self.anchors[group].name.clone()
    }
}
