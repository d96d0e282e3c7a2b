//! Pairs of parts with up to four vertices, of all kinds.

use glam::DVec3;
use plisse_collision::{
    Ccd, Closest, ContactFrame, ContactHessian, Feature, edge_edge, point_edge, point_point, point_triangle,
};
use plisse_core::Blocks;

/// What two parts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    VertexFace,
    EdgeEdge,
    VertexEdge,
    VertexVertex,
}

/// Where two parts are closest. Weights of vertices that a kind does not have are zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearest {
    pub(crate) distance: f64,
    pub(crate) normal: DVec3,
    pub(crate) weights: [f64; 4],
    /// Whether both points lie inside of the parts, and not on what bounds them.
    pub(crate) interior: bool,
}

impl Kind {
    /// How many vertices belong to the first part, and to both.
    pub(crate) fn vertices(self) -> [usize; 2] {
        match self {
            Self::VertexFace => [1, 4],
            Self::EdgeEdge => [2, 4],
            Self::VertexEdge => [1, 3],
            Self::VertexVertex => [1, 2],
        }
    }

    #[inline]
    pub(crate) fn nearest(self, x: &[DVec3; 4]) -> Nearest {
        let [a, b, c, d] = *x;
        match self {
            Self::VertexFace => {
                let found = point_triangle(a, [b, c, d]);
                Nearest {
                    distance: found.distance(),
                    normal: found.normal(),
                    weights: *found.weights(),
                    interior: found.feature() == Feature::PointTriangle,
                }
            }
            Self::EdgeEdge => {
                let found = edge_edge([a, b], [c, d]);
                Nearest {
                    distance: found.distance(),
                    normal: found.normal(),
                    weights: *found.weights(),
                    interior: found.feature() == Feature::EdgeEdge,
                }
            }
            Self::VertexEdge => {
                let found = point_edge(a, [b, c]);
                let [u, v, w] = *found.weights();
                Nearest {
                    distance: found.distance(),
                    normal: found.normal(),
                    weights: [u, v, w, 0.0],
                    interior: matches!(found.feature(), Feature::PointEdge { .. }),
                }
            }
            Self::VertexVertex => {
                let found = point_point(a, b);
                Nearest {
                    distance: found.distance(),
                    normal: found.normal(),
                    weights: [1.0, -1.0, 0.0, 0.0],
                    interior: true,
                }
            }
        }
    }

    /// The Hessian of an energy of the distance with these derivatives, positive semidefinite.
    pub(crate) fn hessian(self, x: &[DVec3; 4], slope: f64, curvature: f64) -> Blocks<4> {
        fn of<const V: usize>(closest: &Closest<V>, x: [DVec3; V], slope: f64, curvature: f64) -> Blocks<4> {
            let small = ContactFrame::new(closest, &x).hessian(slope, curvature, ContactHessian::Closed);
            let mut blocks = Blocks::ZERO;
            for (row, from) in blocks.0.iter_mut().zip(small.0) {
                row[..V].copy_from_slice(&from);
            }
            blocks
        }
        let [a, b, c, d] = *x;
        match self {
            Self::VertexFace => of(&point_triangle(a, [b, c, d]), *x, slope, curvature),
            Self::EdgeEdge => of(&edge_edge([a, b], [c, d]), *x, slope, curvature),
            Self::VertexEdge => of(&point_edge(a, [b, c]), [a, b, c], slope, curvature),
            Self::VertexVertex => of(&point_point(a, b), [a, b], slope, curvature),
        }
    }

    /// The time up to which straight motions are proven to keep a separation.
    #[inline]
    pub(crate) fn time_of_contact(
        self,
        ccd: Ccd,
        from: &[DVec3; 4],
        to: &[DVec3; 4],
        separation: f64,
    ) -> Option<f64> {
        fn first<const V: usize>(x: &[DVec3; 4]) -> [DVec3; V] {
            std::array::from_fn(|i| x[i])
        }
        match self {
            Self::VertexFace => ccd.point_triangle(from, to, separation),
            Self::EdgeEdge => ccd.edge_edge(from, to, separation),
            Self::VertexEdge => ccd.point_edge(&first(from), &first(to), separation),
            Self::VertexVertex => ccd.point_point(&first(from), &first(to), separation),
        }
    }

    /// How fast the distance can change at most, for these ways of the vertices: the ways of the
    /// two parts against each other.
    #[inline]
    pub(crate) fn reach(self, way: &[DVec3; 4]) -> f64 {
        let [first, all] = self.vertices();
        let mut largest: f64 = 0.0;
        for a in &way[..first] {
            for b in &way[first..all] {
                largest = largest.max((*a - *b).length_squared());
            }
        }
        largest.sqrt() * (1.0 + 1e-12)
    }
}
