//! Wire nets: every pair of segments that meet bends against each other.

use glam::DVec3;
use plisse_core::{Angle, Field, Id, Positive, Vertices};
use plisse_eigen::AngleFrame;
use thiserror::Error;

use crate::law::AngleEnergy;
use crate::rod::{RodElement, RodStretch, wire_rigidity};

/// Why segments are not a net.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum NetError {
    /// A segment that ends outside the list of vertices.
    #[error("segment {segment}: vertex {vertex} is out of range, there are {vertex_count} positions")]
    IndexOutOfRange {
        /// Which segment.
        segment: usize,
        /// The index found.
        vertex: u32,
        /// How many positions there are.
        vertex_count: usize,
    },
    /// A segment without a rest length.
    #[error("segment {segment} between {} and {} has the rest length {length}: move a vertex or remove the segment", vertices[0], vertices[1])]
    NoLength {
        /// Which segment.
        segment: usize,
        /// Its ends.
        vertices: [Id<Vertices>; 2],
        /// Its length, m.
        length: f64,
    },
    /// The same segment twice.
    #[error("segments {first} and {second} join the same two vertices: remove one of them")]
    Duplicate {
        /// The earlier one.
        first: usize,
        /// The later one.
        second: usize,
    },
    /// Wires so thin or soft that their stiffness underflows, or so thick that it overflows.
    #[error("the stiffness that follows from these wires, {value}, is not between 1e-60 and 1e60")]
    Stiffness {
        /// The value found.
        value: f64,
    },
}

/// Elements of a net of round wires: one stretching element per segment, one bending element per
/// pair of segments that share a vertex, so that a straight wire has one per inner vertex and a
/// crossing of two wires six.
#[derive(Clone, Debug, PartialEq)]
pub struct Net<L> {
    /// Stretching, in the order of the segments.
    pub stretching: Vec<RodStretch>,
    /// Bending, ordered by the shared vertex.
    pub bending: Vec<RodElement<L>>,
}

impl<L: AngleEnergy + Clone> Net<L> {
    /// Builds the elements of a net at rest in the given positions: Young's modulus in Pa, radius
    /// of the wires in m.
    ///
    /// Bending stiffness is `E π r⁴/4` over half the sum of the two rest lengths, stretching
    /// stiffness `E π r²`.
    ///
    /// # Errors
    /// [`NetError`] names the segment.
    #[allow(clippy::needless_pass_by_value, reason = "a law is a value; most are empty")]
    pub fn new(
        positions: &Field<Vertices, DVec3>,
        segments: &[[u32; 2]],
        law: L,
        young: Positive,
        radius: Positive,
    ) -> Result<Self, NetError> {
        let stiffness = |value: f64| Positive::new(value).map_err(|_| NetError::Stiffness { value });
        let axial = stiffness(young.get() * std::f64::consts::PI * radius.get() * radius.get())?;
        let rigidity = wire_rigidity(young, radius);

        let mut stretching = Vec::with_capacity(segments.len());
        let mut at_vertex: Vec<Vec<usize>> = vec![Vec::new(); positions.len()];
        for (segment, ends) in segments.iter().enumerate() {
            if ends[0] == ends[1] {
                return Err(NetError::NoLength { segment, vertices: ends.map(Id::new), length: 0.0 });
            }
            for vertex in *ends {
                let Some(list) = at_vertex.get_mut(vertex as usize) else {
                    return Err(NetError::IndexOutOfRange { segment, vertex, vertex_count: positions.len() });
                };
                if let Some(&first) = list.iter().find(|other| joins(segments[**other], *ends)) {
                    return Err(NetError::Duplicate { first, second: segment });
                }
                list.push(segment);
            }
            let vertices = ends.map(Id::new);
            let length = (positions[vertices[1]] - positions[vertices[0]]).length();
            let rest = Positive::new(length).map_err(|_| NetError::NoLength { segment, vertices, length })?;
            stretching.push(RodStretch::new(vertices, rest, axial));
        }

        let mut bending = Vec::new();
        for (vertex, list) in at_vertex.iter().enumerate() {
            for (i, &first) in list.iter().enumerate() {
                for &second in &list[i + 1..] {
                    let centre = Id::new(vertex as u32);
                    let nodes =
                        [other_end(segments[first], centre), centre, other_end(segments[second], centre)];
                    let [a, b, c] = nodes.map(|v| positions[v]);
                    let rest = AngleFrame::new(b - a, c - b).map_or(0.0, |frame| frame.theta());
                    let rest = Angle::new(rest).unwrap_or(Angle::ZERO);
                    let mean = 0.5 * (stretching[first].rest_length() + stretching[second].rest_length());
                    bending.push(RodElement::new(nodes, law.clone(), stiffness(rigidity / mean)?, rest));
                }
            }
        }
        Ok(Self { stretching, bending })
    }
}

fn joins(a: [u32; 2], b: [u32; 2]) -> bool {
    a == b || a == [b[1], b[0]]
}

fn other_end(segment: [u32; 2], vertex: Id<Vertices>) -> Id<Vertices> {
    Id::new(if segment[0] as usize == vertex.index() { segment[1] } else { segment[0] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::QuadraticAngle;
    use plisse_core::Element;

    fn build(points: &[[f64; 3]], segments: &[[u32; 2]]) -> Result<Net<QuadraticAngle>, NetError> {
        let positions = Field::from_vec(points.iter().map(|p| DVec3::from(*p)).collect());
        Net::new(
            &positions,
            segments,
            QuadraticAngle,
            Positive::new(1e9).unwrap(),
            Positive::new(1e-3).unwrap(),
        )
    }

    const CROSS: [[f64; 3]; 5] =
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]];

    #[test]
    fn a_crossing_has_six_stencils_at_rest() {
        let net = build(&CROSS, &[[0, 1], [0, 2], [3, 0], [4, 0]]).unwrap();
        assert_eq!((net.stretching.len(), net.bending.len()), (4, 6));
        let straight = net.bending.iter().filter(|rod| rod.rest_angle() == 0.0).count();
        assert_eq!(straight, 2);
        for rod in &net.bending {
            let x = rod.nodes().map(|v| DVec3::from(CROSS[v.index()]));
            assert!(rod.energy(&x).abs() < 1e-25 && rod.gradient(&x).iter().all(|g| g.length() < 1e-12));
            let expected = 1e9 * std::f64::consts::PI * 1e-12 / 4.0;
            assert!((rod.stiffness() / expected - 1.0).abs() < 1e-14);
        }
    }

    #[test]
    fn mistakes_name_the_segment() {
        let message = |segments: &[[u32; 2]]| build(&CROSS, segments).unwrap_err().to_string();
        assert_eq!(message(&[[0, 9]]), "segment 0: vertex 9 is out of range, there are 5 positions");
        assert_eq!(
            message(&[[0, 1], [1, 0]]),
            "segments 0 and 1 join the same two vertices: remove one of them"
        );
        assert_eq!(
            message(&[[2, 2]]),
            "segment 0 between vertex 2 and vertex 2 has the rest length 0: move a vertex or remove the segment"
        );
    }
}
