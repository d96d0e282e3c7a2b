//! Koiter's bending energy on the mid-edge second fundamental form.
//!
//! Per face, with the hinge angles `θ_j` of its edges (edge `j` opposite corner `j`) and its
//! heights `h_j` over them,
//!
//! ```text
//! b_j = 2 h_j f(θ_j/2 ± α_j),   f = sin or tan,        S = Σ b_j ∇λ_j ∇λ_jᵀ
//! E = A h³/12 ( a/2 tr²(S - S̄) + β ‖S - S̄‖² ) = ½ (b - b̄)ᵀ Q (b - b̄)
//! ```
//!
//! where `∇λ_j` are the gradients of the barycentric coordinates at rest, `a = Y ν/(1 - ν²)`,
//! `β = Y/(2 (1 + ν))` and `h` the thickness; `S` is the second fundamental form in an orthonormal
//! rest frame (Chen21, sections 3 and 4). For a cylinder of curvature κ this is `A D κ²/2` with
//! `D = Y h³/(12 (1 - ν²))`. `α_j` turns the mid-edge director away from the mean of the two face
//! normals: an unknown per edge, shared by both faces with opposite signs ([`crate::free`]
//! evaluates it); here the directors stay at the mean normals, `α = 0`.
//!
//! **Hessian.** `Σ Q_jk ∇b_j ∇b_kᵀ` is positive semidefinite. What is left, `r_j ∇²b_j` with
//! `r = Q (b - b̄)`, splits in the coordinates of the hinge kernel ([`plisse_eigen::hinge_form`]):
//! with `e = sin(θ/2) dm + cos(θ/2) dk`
//!
//! ```text
//! ∇²h = h [ v0 v0ᵀ - (s0 eᵀ + e s0ᵀ) - e eᵀ ]     ∇h = h u0     ∇θ = v0 + v1
//! ∇²b = 2f ∇²h + f' (∇h ∇θᵀ + ∇θ ∇hᵀ) + h f' ∇²θ + h f''/2 ∇θ ∇θᵀ
//! ```
//!
//! a 4×4 form over `(u0, v0, u1, v1)` and one over `(dm, dk, s0, s1)`. Each is projected by
//! itself, with rows scaled to unit length.

use glam::DVec3;
use plisse_core::{
    Blocks, Edges, Element, ElementEvaluation, Faces, Hinge, HingeFrame, Id, Psd, RestShape, TriMesh,
    Vertices, outer, project_numeric, rarely, saturate,
};
use plisse_eigen::hinge_form;

use crate::fold::{folded, is_plain};
use crate::free::{Face, Reference, Setting};
use crate::law::{limited, nothing};
use crate::plate::Plate;

/// How the mid-edge director measures a bend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Director {
    /// `f = sin`, directors fixed at the mean of the two face normals: no unknowns, director angles
    /// are ignored.
    #[default]
    Average,
    /// `f = sin`: unit directors. Energy and forces are bounded and continuous for every state and
    /// every director angle, and have the period 2π in the angle. A term of fourth order in the
    /// angles keeps directors from turning over.
    Sine,
    /// `f = tan`: directors scaled to unit height over the face. Stiffens towards a fold, where it
    /// is infinite. Steps must be limited by [`KoiterBending::longest_step`].
    Tangent,
}

impl Director {
    /// `f`, `f'`, `f''`, limited so that a full fold stays finite.
    fn law(self, phi: f64) -> [f64; 3] {
        match self {
            Self::Average | Self::Sine => {
                let (sin, cos) = phi.sin_cos();
                [sin, cos, -sin]
            }
            Self::Tangent => {
                let t = phi.tan().clamp(-1e20, 1e20);
                let sec = 1.0 + t * t;
                [t, sec, 2.0 * t * sec]
            }
        }
    }
}

/// Derivatives of the bending energy of one face by six positions and three director angles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KoiterEvaluation {
    /// Energy in joules.
    pub energy: f64,
    /// By the positions, newtons.
    pub gradient: [DVec3; 6],
    /// By the director angles, newton metres.
    pub director_gradient: [f64; 3],
    /// By two positions.
    pub hessian: Blocks<6>,
    /// By a director angle (first index) and a position.
    pub mixed_hessian: [[DVec3; 6]; 3],
    /// By two director angles.
    pub director_hessian: [[f64; 3]; 3],
}

/// Bending of one face against its three neighbours.
///
/// Nodes are the three corners, then the corner across each edge (edge `j` opposite corner `j`).
/// Where there is no neighbour the own corner `j` is repeated, with zero derivatives, and the edge
/// bends only through its director. As an [`Element`] the directors stay at the mean normals, and
/// [`Director::Sine`] is [`Director::Average`]. Faces or neighbours without height (see
/// [`HingeFrame::new`]) contribute nothing through that edge.
///
/// # Free directors
///
/// `energy_with_directors` and its derivatives take one angle per edge, in radians, the unknown of
/// [`Self::edges`]. Boundary edges have one, too. Seen along the edge with its left face to the
/// left, a positive angle turns the director towards the left face: `φ = θ/2 + α` for the left
/// face, `θ/2 - α` for the right one. [`Director::Average`] ignores the angles. Minimised over all
/// angles, the energy of a sheet converges to that of the plate on every triangulation.
///
/// An edge of which a triangle has collapsed to a line has no bending energy, and then the Hessian
/// has a row of zeros for its director.
///
/// # Folds and collapse
///
/// With [`Director::Average`] and [`Director::Sine`] energy and forces are continuous at a full
/// fold and where a triangle collapses, and the forces of faces of bounded size are bounded: beyond
/// 138°, and below [`Hinge::reach`], an edge keeps its own energy but no longer takes part in that
/// of the others, and fades (page *Mid-edge bending* of the book). With [`Director::Tangent`] this
/// holds for a collapse as long as `|φ|` is bounded away from 90°, where the energy is infinite.
/// There and beyond, large finite numbers are returned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KoiterBending {
    nodes: [Id<Vertices>; 6],
    face: Id<Faces>,
    edges: [Id<Edges>; 3],
    interior: [bool; 3],
    references: [Reference; 3],
    /// For each edge, whether this is its left face.
    left: [bool; 3],
    form: [[f64; 3]; 3],
    rest: [f64; 3],
    reach: f64,
    director: Director,
}

/// One edge of the face at one state.
struct Bend {
    frame: HingeFrame,
    /// 1 with a neighbour, 0 without: multiplies everything that depends on the angle.
    coupled: f64,
    /// `f`, `f'`, `f''`.
    f: [f64; 3],
}

impl KoiterBending {
    /// Bending of a face, with the rest angles of the rest shape (zero for a flat one) as rest
    /// curvature.
    #[must_use]
    pub fn new(mesh: &TriMesh, rest: &RestShape, face: Id<Faces>, director: Director, plate: &Plate) -> Self {
        let (a, beta) = plate.moduli();
        let map = rest.map(face);
        let gradient = |i: usize| map.barycentric_gradient(i);
        let scale = 2.0 * map.area();
        let form = std::array::from_fn(|j| {
            std::array::from_fn(|k| {
                let (gj, gk) = (gradient(j), gradient(k));
                let mixed = gj.dot(gk);
                let value = 0.5 * a * gj.length_squared() * gk.length_squared() + beta * mixed * mixed;
                // Tiny triangles have gradients whose fourth powers overflow.
                limited(value, scale)
            })
        });
        let (corners, edges) = (mesh.faces()[face], mesh.face_edges()[face]);
        let neighbour = |j: usize| {
            let (left, right) = mesh.edges()[edges[j]].faces;
            let other = if left == face { right } else { Some(left) };
            other.and_then(|other| mesh.opposite_vertex(other, edges[j]))
        };
        let across = [neighbour(0), neighbour(1), neighbour(2)];
        Self {
            nodes: std::array::from_fn(|i| {
                if i < 3 { corners[i] } else { across[i - 3].unwrap_or(corners[i - 3]) }
            }),
            face,
            edges,
            interior: across.map(|node| node.is_some()),
            references: across.map(|node| if node.is_some() { Reference::Mean } else { Reference::Own }),
            left: edges.map(|edge| mesh.edges()[edge].faces.0 == face),
            form,
            // 2 h f(θ/2), with the rest height as the inverse of the gradient.
            rest: std::array::from_fn(|j| {
                let angle = rest.hinge_on(edges[j]).map_or(0.0, Hinge::rest_angle);
                2.0 / gradient(j).length() * director.law(0.5 * angle)[0]
            }),
            reach: edges
                .iter()
                .filter_map(|edge| rest.hinge_on(*edge))
                .map(Hinge::reach)
                .fold(map.mean_height(), f64::min),
            director,
        }
    }

    /// The edges of the three director angles.
    #[must_use]
    pub fn edges(&self) -> [Id<Edges>; 3] {
        self.edges
    }

    /// Measures the director of an edge from the normal of a face that holds it, instead of from
    /// the mean normal: `φ = ±α` for that face and `φ = θ ± α` for the one across.
    ///
    /// For a clamp: hold the three vertices of a face, call this for the elements on both sides of
    /// the edge, and hold the director angle of the edge. **Zero** means that the director is
    /// normal to the plane of the held face, so that the sheet leaves the edge in that plane; with
    /// another angle the hinge angle there is `α` if `held` is the left face of the edge, and `-α`
    /// if it is the right one. Elements that do not have the edge are returned as they are, and so
    /// are those with [`Director::Average`]. `rest` is the rest shape from which the element was
    /// built.
    #[must_use]
    pub fn with_clamp(mut self, rest: &RestShape, edge: Id<Edges>, held: Id<Faces>) -> Self {
        let Some(j) = self.edges.iter().position(|e| *e == edge) else { return self };
        if self.interior[j] && self.director != Director::Average {
            let reference = if held == self.face { Reference::Own } else { Reference::Other };
            self.references[j] = reference;
            let angle = rest.hinge_on(edge).map_or(0.0, Hinge::rest_angle);
            let height = 1.0 / rest.map(self.face).barycentric_gradient(j).length();
            self.rest[j] = 2.0 * height * self.director.law(reference.share() * angle)[0];
        }
        self
    }

    /// What resists a turn of each director of the flat face at rest, N m per radian.
    pub(crate) fn director_stiffness(&self, rest: &RestShape) -> [f64; 3] {
        std::array::from_fn(|j| {
            let slope = 2.0 / rest.map(self.face).barycentric_gradient(j).length();
            limited(self.form[j][j], slope * slope)
        })
    }

    pub(crate) fn has_pole(&self) -> bool {
        self.director == Director::Tangent
    }

    /// This face with directors as unknowns.
    fn free(&self) -> Face<'_> {
        Face {
            edges: std::array::from_fn(|j| Setting {
                interior: self.interior[j],
                reference: self.references[j],
                side: if self.left[j] { 1.0 } else { -1.0 },
                rest: self.rest[j],
            }),
            form: &self.form,
            reach: self.reach,
            director: self.director,
        }
    }

    fn is_free(&self) -> bool {
        self.director != Director::Average
    }

    fn is_clamped(&self) -> bool {
        (0..3).any(|j| self.interior[j] && self.references[j] != Reference::Mean)
    }

    // In line, as the next two: called, the bends would go through memory.
    #[inline(always)]
    fn bends(&self, x: &[DVec3; 6]) -> [Option<Bend>; 3] {
        std::array::from_fn(|j| {
            let (a, b, c) = (x[(j + 1) % 3], x[(j + 2) % 3], x[j]);
            // Without a neighbour: the own corner reflected in the middle of the edge, which makes
            // a flat hinge.
            let wing = if self.interior[j] { x[3 + j] } else { a + b - c };
            let frame = HingeFrame::new(&[a, b, c, wing])?;
            let coupled = f64::from(u8::from(self.interior[j]));
            Some(Bend { frame, coupled, f: self.director.law(0.5 * coupled * frame.theta()) })
        })
    }

    /// Whether the mean normal of an edge is near to having no direction: see [`crate::fold`].
    #[inline(always)]
    fn is_folded(&self, bends: &[Option<Bend>; 3]) -> bool {
        bends.iter().flatten().any(|bend| {
            bend.coupled != 0.0
                && match self.director {
                    Director::Average | Director::Sine => !is_plain(&bend.frame, self.reach),
                    Director::Tangent => !bend.frame.is_higher_than(self.reach),
                }
        })
    }

    /// [`Self::evaluate_folded`] out of line, from the positions: handing the bends over would
    /// force them into memory in every ordinary face.
    fn folded_at(&self, x: &[DVec3; 6], psd: Psd) -> ElementEvaluation<6> {
        let x = *x;
        rarely(move || match self.director {
            Director::Average | Director::Sine => self.evaluate_folded(&x, &self.bends(&x), psd),
            Director::Tangent => self.at_mean_normals(&x, psd),
        })
    }

    /// The face with directors as unknowns, which are held at zero.
    fn at_mean_normals(&self, x: &[DVec3; 6], psd: Psd) -> ElementEvaluation<6> {
        let all = self.free().evaluate(x, &[0.0; 3], true, psd);
        ElementEvaluation { energy: all.energy, gradient: all.gradient, hessian: all.hessian }
    }

    /// Everything of a face with directors at the mean normals, one of which may be near to having
    /// no direction.
    fn evaluate_folded(&self, x: &[DVec3; 6], bends: &[Option<Bend>; 3], psd: Psd) -> ElementEvaluation<6> {
        let nothing = nothing(x);
        let mut out = ElementEvaluation {
            energy: nothing,
            gradient: [DVec3::splat(nothing); 6],
            hessian: Blocks::identity() * nothing,
        };
        let jets: [_; 3] = std::array::from_fn(|j| {
            let bend = bends[j].as_ref().filter(|bend| bend.coupled != 0.0)?;
            Some(folded(&places(j).map(|i| x[i]), &bend.frame, self.reach, self.rest[j]))
        });
        let strain = [0, 1, 2].map(|j| jets[j].as_ref().map_or(0.0, |[c, _]| c.value));
        let mut slopes = [[DVec3::ZERO; 6]; 3];
        for (j, jet) in jets.iter().enumerate() {
            let Some([c, m]) = jet else { continue };
            let moment = (0..3).map(|k| self.form[j][k] * strain[k]).sum::<f64>();
            let own = 0.5 * self.form[j][j];
            out.energy += 0.5 * moment * c.value + own * m.value;
            let curvature = project_blocks(&(c.hessian * moment + m.hessian * own), psd);
            let places = places(j);
            for (a, &i) in places.iter().enumerate() {
                slopes[j][i] = c.gradient[a];
                out.gradient[i] += c.gradient[a] * moment + m.gradient[a] * own;
                for (b, &k) in places.iter().enumerate() {
                    out.hessian.0[i][k] += curvature.0[a][b];
                }
            }
        }
        self.add_squares(&slopes, &mut out.hessian);
        out
    }

    /// Adds `Σ Q_jk s_j s_kᵀ`.
    fn add_squares(&self, slopes: &[[DVec3; 6]; 3], out: &mut Blocks<6>) {
        for j in 0..3 {
            let weighted: [DVec3; 6] =
                std::array::from_fn(|a| (0..3).map(|k| slopes[k][a] * self.form[j][k]).sum());
            for a in 0..6 {
                for b in 0..6 {
                    out.0[a][b] += outer(slopes[j][a], weighted[b]);
                }
            }
        }
    }

    /// `b - b̄` and `Q (b - b̄)`.
    #[inline(always)]
    fn moments(&self, bends: &[Option<Bend>; 3]) -> ([f64; 3], [f64; 3]) {
        let strain: [f64; 3] =
            std::array::from_fn(|j| bends[j].as_ref().map_or(0.0, |bend| bend.value() - self.rest[j]));
        let moment = |j: usize| (0..3).map(|k| self.form[j][k] * strain[k]).sum::<f64>().clamp(-1e100, 1e100);
        (strain, [moment(0), moment(1), moment(2)])
    }

    fn energy_at(strain: [f64; 3], moment: [f64; 3]) -> f64 {
        saturate(0.5 * (0..3).map(|j| strain[j] * moment[j]).sum::<f64>())
    }

    /// Energy with given director angles, in radians.
    #[must_use]
    pub fn energy_with_directors(&self, x: &[DVec3; 6], directors: &[f64; 3]) -> f64 {
        if self.is_free() {
            return self.free().energy(x, directors);
        }
        self.energy(x)
    }

    /// Derivatives by the positions and by the director angles, for a line search.
    #[must_use]
    pub fn gradient_with_directors(&self, x: &[DVec3; 6], directors: &[f64; 3]) -> ([DVec3; 6], [f64; 3]) {
        if self.is_free() {
            return self.free().gradient(x, directors);
        }
        (self.gradient(x), [0.0; 3])
    }

    /// Everything at once with given director angles, in radians. Projected, the matrix over all 21
    /// unknowns is positive semidefinite.
    #[must_use]
    pub fn evaluate_with_directors(
        &self,
        x: &[DVec3; 6],
        directors: &[f64; 3],
        psd: Psd,
    ) -> KoiterEvaluation {
        if self.is_free() {
            return self.free().evaluate(x, directors, false, psd);
        }
        let ElementEvaluation { energy, gradient, hessian } = self.evaluate(x, psd);
        KoiterEvaluation {
            energy,
            gradient,
            director_gradient: [0.0; 3],
            hessian,
            mixed_hessian: [[DVec3::ZERO; 6]; 3],
            director_hessian: [[0.0; 3]; 3],
        }
    }

    /// The part of a step, from zero to one, after which every `|φ|` of the tangent law is below
    /// 90° and has kept a tenth of its distance from there: of `x + t p`, `α + t q` for all `t` up
    /// to the answer.
    ///
    /// Conservative: the way back from the pole counts like the way towards it, and no triangle
    /// beside a hinge collapses on the way, since its normal would be undetermined there. Zero if a
    /// director is at the pole or beyond already. One for the laws without a pole.
    #[must_use]
    pub fn longest_step(&self, x: &[DVec3; 6], directors: &[f64; 3], p: &[DVec3; 6], q: &[f64; 3]) -> f64 {
        self.free().longest_step(x, directors, p, q)
    }

    /// With the directors at the mean normals.
    fn evaluate_fixed(&self, x: &[DVec3; 6], psd: Psd) -> ElementEvaluation<6> {
        if self.is_clamped() {
            return self.at_mean_normals(x, psd);
        }
        let bends = self.bends(x);
        if self.is_folded(&bends) {
            return self.folded_at(x, psd);
        }
        let (strain, moment) = self.moments(&bends);
        let nothing = nothing(x);
        let mut out = ElementEvaluation {
            energy: Self::energy_at(strain, moment) + nothing,
            gradient: [DVec3::splat(nothing); 6],
            hessian: Blocks::identity() * nothing,
        };
        let mut slopes = [[DVec3::ZERO; 6]; 3];
        for (j, bend) in bends.iter().enumerate() {
            let Some(bend) = bend else { continue };
            for (place, g) in places(j).into_iter().zip(bend.gradient()) {
                slopes[j][place] += g;
            }
            bend.add_curvature(j, moment[j], psd, &mut out.hessian);
        }
        for j in 0..3 {
            let mut weighted = [DVec3::ZERO; 6];
            for k in 0..3 {
                for (w, s) in weighted.iter_mut().zip(&slopes[k]) {
                    *w += *s * self.form[j][k];
                }
            }
            for a in 0..6 {
                out.gradient[a] += slopes[j][a] * moment[j];
                for b in 0..6 {
                    out.hessian.0[a][b] += outer(slopes[j][a], weighted[b]);
                }
            }
        }
        out
    }
}

/// Where the four corners of hinge `j` stand among the six nodes.
pub(crate) fn places(j: usize) -> [usize; 4] {
    [(j + 1) % 3, (j + 2) % 3, j, 3 + j]
}

impl Bend {
    fn height(&self) -> f64 {
        self.frame.heights()[0]
    }

    /// `b`.
    fn value(&self) -> f64 {
        (2.0 * self.height() * self.f[0]).clamp(-1e80, 1e80)
    }

    /// `∇b = 2f ∇h + h f' ∇θ` over the four corners of the hinge.
    fn gradient(&self) -> [DVec3; 4] {
        let (foot, tau) = (self.frame.feet()[0], self.frame.altitudes()[0]);
        let weights = [-(1.0 - foot), -foot, 1.0, 0.0];
        let bend = self.coupled * self.height() * self.f[1];
        let theta = self.frame.gradient();
        std::array::from_fn(|i| tau * (2.0 * self.f[0] * weights[i]) + theta[i] * bend)
    }

    /// Adds `moment · ∇²b`, projected.
    fn add_curvature(&self, j: usize, moment: f64, psd: Psd, out: &mut Blocks<6>) {
        let [f, f1, f2] = self.f;
        let c = self.coupled;
        let (f1c, f2c) = (c * f1, c * f2);
        let (s2, c2) = (0.5 * c * self.frame.theta()).sin_cos();
        let turn = f1c * c * self.frame.sin_cos().0;
        // Over (u0, v0, u1, v1) and (dm, dk, s0, s1), divided by moment · h.
        let in_plane = [
            [0.0, 0.0, 0.0, f1c],
            [0.0, 2.0 * f + 0.5 * f2c, 0.0, 0.5 * f2c],
            [0.0, 0.0, 0.0, -f1c],
            [f1c, 0.5 * f2c, -f1c, 0.5 * f2c],
        ];
        let (es, ec) = (-2.0 * f * s2, -2.0 * f * c2);
        let across = [
            [es * s2 - turn, es * c2, es - f1c * c2, -f1c * c2],
            [es * c2, ec * c2 + turn, ec + f1c * s2, -f1c * s2],
            [es - f1c * c2, ec + f1c * s2, 0.0, 0.0],
            [-f1c * c2, -f1c * s2, 0.0, 0.0],
        ];
        let scale = moment * self.height();
        let [p, q] = self.frame.heights().map(|h| 1.0 / h);
        let [w0, w1] = self.frame.feet().map(|a| ((1.0 - a) * (1.0 - a) + a * a + 1.0).sqrt());
        let d = std::f64::consts::SQRT_2 / self.frame.length();
        let (p, q) = (p * w0, q * w1);
        let in_plane = project_scaled(&in_plane, [p, p, q, q], scale, psd);
        let across = project_scaled(&across, [d, d, p, q], scale, psd);
        let local = hinge_form(&self.frame, &in_plane, &across);
        let places = places(j);
        for (a, &i) in places.iter().enumerate() {
            for (b, &k) in places.iter().enumerate() {
                out.0[i][k] += local.0[a][b];
            }
        }
    }
}

/// The nearest positive semidefinite matrix, for the policies other than exact.
fn project_blocks(exact: &Blocks<4>, psd: Psd) -> Blocks<4> {
    if psd == Psd::Exact {
        return *exact;
    }
    Blocks::from_matrix(&project_numeric(&exact.to_matrix::<12>(), psd))
}

/// `scale · form`, projected with rows scaled by the lengths of what they multiply.
pub(crate) fn project_scaled<const N: usize>(
    form: &[[f64; N]; N],
    lengths: [f64; N],
    scale: f64,
    psd: Psd,
) -> [[f64; N]; N] {
    if psd == Psd::Exact {
        return form.map(|row| row.map(|x| x * scale));
    }
    let unit: [[f64; N]; N] =
        std::array::from_fn(|i| std::array::from_fn(|k| form[i][k] * scale * lengths[i] * lengths[k]));
    let projected = project_numeric(&unit, psd);
    std::array::from_fn(|i| std::array::from_fn(|k| projected[i][k] / (lengths[i] * lengths[k])))
}

impl Element<6> for KoiterBending {
    type Space = Vertices;

    fn nodes(&self) -> [Id<Vertices>; 6] {
        self.nodes
    }

    fn energy(&self, x: &[DVec3; 6]) -> f64 {
        if self.is_clamped() {
            return self.free().energy(x, &[0.0; 3]);
        }
        let bends = self.bends(x);
        if self.is_folded(&bends) {
            return self.folded_at(x, Psd::Exact).energy;
        }
        let (strain, moment) = self.moments(&bends);
        Self::energy_at(strain, moment) + nothing(x)
    }

    fn gradient(&self, x: &[DVec3; 6]) -> [DVec3; 6] {
        if self.is_clamped() {
            return self.free().gradient(x, &[0.0; 3]).0;
        }
        let bends = self.bends(x);
        if self.is_folded(&bends) {
            return self.folded_at(x, Psd::Exact).gradient;
        }
        let (_, moment) = self.moments(&bends);
        let mut out = [DVec3::splat(nothing(x)); 6];
        for (j, bend) in bends.iter().enumerate() {
            let Some(bend) = bend else { continue };
            for (place, g) in places(j).into_iter().zip(bend.gradient()) {
                out[place] += g * moment[j];
            }
        }
        out
    }

    fn hessian(&self, x: &[DVec3; 6], psd: Psd) -> Blocks<6> {
        self.evaluate_fixed(x, psd).hessian
    }

    fn evaluate(&self, x: &[DVec3; 6], psd: Psd) -> ElementEvaluation<6> {
        self.evaluate_fixed(x, psd)
    }
}
