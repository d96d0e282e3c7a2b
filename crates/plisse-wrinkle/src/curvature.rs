//! Curvature of the base surface along wrinkle crests.

use glam::{DVec2, DVec3};
use plisse_core::{Field, Id, TriMesh, Vertices, length_and_direction};
use plisse_eigen::Sym2;

use crate::error::{WrinkleError, fits};

/// Where the curvature along the crests comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Curvature {
    /// A quadric through the five rings of neighbours of each vertex ([`principal_curvatures`]):
    /// smooth, as in the published results.
    #[default]
    QuadricFit,
    /// The mid-edge second fundamental form of the face (`2 h tan(θ/2)` across each edge), as in
    /// the paper's text. Depends on the nearest neighbours only; blind to the curvature beyond the
    /// boundary.
    SecondForm,
}

/// Principal curvatures of a surface at one vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrincipalCurvature {
    /// In 1/m, the larger one first; positive where the surface bends away from its normal, as a
    /// sphere does.
    pub values: [f64; 2],
    /// Unit directions in the tangent plane of the vertex, in the same order; zero where nothing
    /// could be fitted.
    pub directions: [DVec3; 2],
}

impl PrincipalCurvature {
    /// Of a vertex where nothing could be fitted.
    const NONE: Self = Self { values: [0.0; 2], directions: [DVec3::ZERO; 2] };
}

/// How many rings of neighbours take part.
const RINGS: u32 = 5;
/// Fewer points than this, the vertex included, determine no quadric.
const FEWEST: usize = 6;
/// Singular values below this part of the largest one are rounding.
const RANK: f64 = 64.0 * f64::EPSILON;

/// Principal curvatures at every vertex by fitting a quadric to its neighbourhood (PPR10).
///
/// Around a vertex, the vertices within five edges take part, without those whose normals point
/// away from its own if at least six are left. In a frame with the vertex in the origin and its
/// area-weighted normal as z axis, `z = a x² + b x y + c y² + d x + e y` is fitted by least squares
/// (of shortest coefficients where there are several) and its shape operator at the origin taken.
/// That operator is symmetrised by using one of its two off-diagonal entries twice, which is exact
/// only where the fitted slope `(d, e)` is zero; the first axis, which then matters, points to the
/// neighbour with the smallest index. A vertex with fewer than six points around, without a normal,
/// or in the same place as that neighbour, has zero curvature.
///
/// Never NaN for finite positions.
///
/// # Errors
/// [`WrinkleError::Length`] unless there is one position per vertex.
pub fn principal_curvatures(
    mesh: &TriMesh,
    x: &Field<Vertices, DVec3>,
) -> Result<Field<Vertices, PrincipalCurvature>, WrinkleError> {
    fits("positions of the base", x, mesh.vertex_count())?;
    let normals = vertex_normals(mesh, x);
    let mut rings = Rings::new(mesh);
    let mut fit = QuadricFit::default();
    Ok(Field::from_fn(mesh.vertex_count(), |vertex| {
        at_vertex(mesh, x, &normals, vertex, &mut rings, &mut fit).unwrap_or(PrincipalCurvature::NONE)
    }))
}

/// Unit normals, weighted by the areas of the faces around; zero where these cancel.
fn vertex_normals(mesh: &TriMesh, x: &Field<Vertices, DVec3>) -> Field<Vertices, DVec3> {
    let mut sums = Field::filled(mesh.vertex_count(), DVec3::ZERO);
    for (_, corners) in mesh.faces().iter() {
        let [a, b, c] = corners.map(|v| x[v]);
        let normal = (b - a).cross(c - a);
        for corner in corners {
            sums[*corner] += normal;
        }
    }
    sums.map(|sum| if sum.is_finite() { length_and_direction(*sum).1 } else { DVec3::ZERO })
}

fn at_vertex(
    mesh: &TriMesh,
    x: &Field<Vertices, DVec3>,
    normals: &Field<Vertices, DVec3>,
    vertex: Id<Vertices>,
    rings: &mut Rings,
    fit: &mut QuadricFit,
) -> Option<PrincipalCurvature> {
    let (origin, normal) = (x[vertex], normals[vertex]);
    let around = rings.around(mesh, vertex);
    if around.len() < FEWEST || normal == DVec3::ZERO {
        return None;
    }
    let edge = mesh.edges()[*mesh.vertex_edges(vertex).first()?];
    let step = x[if edge.vertices[0] == vertex { edge.vertices[1] } else { edge.vertices[0] }] - origin;
    let (length, axis) = length_and_direction(step - normal * step.dot(normal));
    if length == 0.0 {
        return None;
    }
    let frame = [axis, normal.cross(axis).normalize_or_zero(), normal];

    let same_side = |v: &Id<Vertices>| normals[*v].dot(normal) > 0.0;
    let all = around.iter().filter(|v| same_side(v)).count() < FEWEST;
    fit.clear();
    for v in around.iter().filter(|v| all || same_side(v)) {
        let step = x[*v] - origin;
        fit.add(frame.map(|direction| step.dot(direction)));
    }
    let quadric = fit.solve();
    quadric.iter().all(|value| value.is_finite()).then_some(())?;
    let (values, directions) = shape(quadric);
    let in_space = |v: DVec2| frame[0] * v.x + frame[1] * v.y;
    values.iter().all(|value| value.is_finite()).then_some(())?;
    Some(PrincipalCurvature { values, directions: directions.map(in_space) })
}

/// Principal curvatures and directions of `z = a x² + b x y + c y² + d x + e y` in the origin.
fn shape([a, b, c, d, e]: [f64; 5]) -> ([f64; 2], [DVec2; 2]) {
    let (g11, g12, g22) = (1.0 + d * d, d * e, 1.0 + e * e);
    let up = 1.0 / (1.0 + d * d + e * e).sqrt();
    let (l, m, n) = (2.0 * a * up, b * up, 2.0 * c * up);
    let det = g11 * g22 - g12 * g12;
    // One off-diagonal entry used twice.
    let operator = Sym2::new((l * g22 - m * g12) / det, (m * g11 - l * g12) / det, (n * g11 - m * g12) / det);
    let ([high, low], direction) = operator.eigen();
    let direction = DVec2::from(direction);
    // The z axis is the normal: a sphere opens downwards.
    ([-low, -high], [direction.perp(), direction])
}

/// Breadth-first neighbourhoods, with memory kept between vertices.
struct Rings {
    /// The start from which a vertex was last reached, plus one.
    reached: Vec<u32>,
    queue: Vec<Id<Vertices>>,
}

impl Rings {
    fn new(mesh: &TriMesh) -> Self {
        Self { reached: vec![0; mesh.vertex_count()], queue: Vec::new() }
    }

    /// The vertices within five edges, from the start outwards.
    fn around(&mut self, mesh: &TriMesh, start: Id<Vertices>) -> &[Id<Vertices>] {
        let mark = start.get() + 1;
        self.queue.clear();
        self.queue.push(start);
        self.reached[start.index()] = mark;
        let mut ring = 0;
        for _ in 0..RINGS {
            let end = self.queue.len();
            for i in ring..end {
                let vertex = self.queue[i];
                for edge in mesh.vertex_edges(vertex) {
                    for next in mesh.edges()[*edge].vertices {
                        if self.reached[next.index()] != mark {
                            self.reached[next.index()] = mark;
                            self.queue.push(next);
                        }
                    }
                }
            }
            ring = end;
        }
        &self.queue
    }
}

/// Least squares for the five coefficients of a quadric, with memory kept between vertices.
///
/// By one-sided Jacobi rotations: pairs of columns are rotated until all are orthogonal. Then their
/// lengths are the singular values. Normal equations would square the condition, which the mixed
/// units of `x²` and `x` make large already.
#[derive(Default)]
struct QuadricFit {
    columns: [Vec<f64>; 5],
    heights: Vec<f64>,
}

impl QuadricFit {
    fn clear(&mut self) {
        self.columns.iter_mut().for_each(Vec::clear);
        self.heights.clear();
    }

    fn add(&mut self, [x, y, z]: [f64; 3]) {
        for (column, value) in self.columns.iter_mut().zip([x * x, x * y, y * y, x, y]) {
            column.push(value);
        }
        self.heights.push(z);
    }

    /// The shortest of the coefficient vectors with the least squares of errors. Uses up the
    /// points.
    fn solve(&mut self) -> [f64; 5] {
        // Rows: the turned basis.
        let mut basis: [[f64; 5]; 5] =
            std::array::from_fn(|i| std::array::from_fn(|k| f64::from(u8::from(i == k))));
        // Converges quadratically, in six to ten sweeps; the limit is for the case that rounding
        // never comes to rest.
        for _ in 0..40 {
            let mut turned = false;
            for p in 0..4 {
                for q in p + 1..5 {
                    turned |= self.turn(p, q, &mut basis);
                }
            }
            if !turned {
                break;
            }
        }
        let squares = [0, 1, 2, 3, 4].map(|k| dot(&self.columns[k], &self.columns[k]));
        let largest = squares.iter().fold(0.0f64, |m, s| m.max(*s)).sqrt();
        let mut out = [0.0; 5];
        for k in 0..5 {
            if squares[k].sqrt() > (RANK * largest).max(1e-140) {
                let part = dot(&self.columns[k], &self.heights) / squares[k];
                for i in 0..5 {
                    out[i] += part * basis[k][i];
                }
            }
        }
        out
    }

    /// Makes two columns orthogonal; false if they are.
    fn turn(&mut self, p: usize, q: usize, basis: &mut [[f64; 5]; 5]) -> bool {
        let (left, right) = self.columns.split_at_mut(q);
        let (cp, cq) = (&mut left[p], &mut right[0]);
        let (pp, qq, pq) = (dot(cp, cp), dot(cq, cq), dot(cp, cq));
        let skew = pq.abs() > 2.0 * f64::EPSILON * pp.sqrt() * qq.sqrt();
        if !skew {
            return false;
        }
        let cot = (qq - pp) / (2.0 * pq);
        let tan = cot.signum() / (cot.abs() + (1.0 + cot * cot).sqrt());
        let cos = 1.0 / (1.0 + tan * tan).sqrt();
        let sin = cos * tan;
        let rotate = |a: &mut f64, b: &mut f64| (*a, *b) = (cos * *a - sin * *b, sin * *a + cos * *b);
        cp.iter_mut().zip(cq.iter_mut()).for_each(|(a, b)| rotate(a, b));
        let (left, right) = basis.split_at_mut(q);
        left[p].iter_mut().zip(right[0].iter_mut()).for_each(|(a, b)| rotate(a, b));
        true
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plisse_testkit::assert_close;

    fn fitted(points: &[[f64; 3]]) -> [f64; 5] {
        let mut fit = QuadricFit::default();
        points.iter().for_each(|p| fit.add(*p));
        fit.solve()
    }

    #[test]
    fn a_quadric_is_found_again() {
        let q = [0.7, -1.1, 0.3, 0.2, -0.4];
        // Millimetres: x² is a thousand times smaller than x.
        for size in [1.0, 1e-3] {
            let points: Vec<_> = (0..12)
                .map(|i| {
                    let (s, c) = (2.1 * f64::from(i)).sin_cos();
                    let (x, y) = (size * s * (1.0 + 0.1 * f64::from(i)), size * c);
                    [x, y, q[0] * x * x + q[1] * x * y + q[2] * y * y + q[3] * x + q[4] * y]
                })
                .collect();
            // The condition is about 10/size, and rounding of the heights is divided by size².
            assert_close("quadric", &fitted(&points), &q, 1e-13 / size, 0.0);
        }
    }

    /// On two parallel lines y² and y say the same: of all quadrics through the points, the one
    /// with the shortest coefficients.
    #[test]
    fn of_several_quadrics_the_shortest() {
        let width = 0.5;
        let points: Vec<_> = (-3..=3)
            .flat_map(|i| [0.0, width].map(|y| [0.3 * f64::from(i), y, 0.2 * y + 0.09 * f64::from(i * i)]))
            .collect();
        let found = fitted(&points);
        // c y² + e y = 0.2 y on the lines: c width + e = 0.2, and (c, e) parallel to (width, 1).
        let e = 0.2 / (1.0 + width * width);
        assert_close("quadric", &found, &[1.0, 0.0, e * width, 0.0, e], 1e-13, 0.0);
    }

    #[test]
    fn points_in_one_place_give_a_plane() {
        assert_eq!(fitted(&[[0.0; 3]; 8]), [0.0; 5]);
    }

    /// The symmetrised operator is exact without a slope, whatever the twist.
    #[test]
    fn shape_of_a_twisted_quadric() {
        let (values, [along, _]) = shape([0.0, 2.0, 0.0, 0.0, 0.0]);
        assert_close("values", &values, &[2.0, -2.0], 1e-15, 0.0);
        // z = 2 x y falls along (1, -1): there the surface bends away from its normal.
        assert!((along.x + along.y).abs() < 1e-15);
    }
}
