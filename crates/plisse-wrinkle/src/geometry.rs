//! First fundamental forms and strains of rest and base.

use glam::{DVec2, DVec3};
use plisse_core::{
    Edges, Faces, Field, HingeFrame, Id, IsotropicSheet, Mat3x2, TriMesh, TriangleMap, Vertices,
    length_and_direction,
};
use plisse_eigen::Sym2;

use crate::curvature::{Curvature, PrincipalCurvature, principal_curvatures};
use crate::error::{WrinkleError, fits};

/// Strains up to here (a stretch of 1e25) keep every product of the energy and its derivatives in
/// the range of `f64`.
const LARGEST_STRAIN: f64 = 1e50;
/// Constants of a face saturate here, for the same reason.
const LARGEST_CONSTANT: f64 = 1e100;

/// Everything about one base triangle that stays constant while amplitudes and frequencies change.
///
/// All tensors are written in the orthonormal frame of the rest triangle, where the first
/// fundamental form of the rest is the identity and a covector of the parameter domain (edges 01
/// and 02) becomes `w = R⁻ᵀ ω` with `I_u = Rᵀ R`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BaseFace {
    pub(crate) area: f64,
    /// Gradients of the barycentric coordinates; the last two are the columns of `R⁻ᵀ`.
    pub(crate) gradients: [DVec2; 3],
    /// Deformation gradient from the rest frame to the base.
    f: Mat3x2,
    /// `S0 = FᵀF - I`.
    pub(crate) strain: Sym2,
    strains: [f64; 2],
    direction: DVec2,
    curvature: f64,
    /// Moduli divided by Young's modulus, so that stiffness cannot overflow what is inside the
    /// braces of the energy.
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
    /// `C_κ` and `W_b1`, divided by Young's modulus.
    pub(crate) crest_cost: f64,
    pub(crate) base_bending: f64,
    /// `A h Y/4`: what multiplies the stretching energy, in J.
    pub(crate) weight: f64,
    /// `h²/3`: the factor of bending over that of stretching, in m².
    pub(crate) bending_ratio: f64,
}

impl BaseFace {
    /// `bends` are `b_j` of [`mid_edge_bends`]; `fit` the principal curvatures at the corners, if
    /// they are to be used.
    fn new(
        map: &TriangleMap,
        x: &[DVec3; 3],
        bends: [f64; 3],
        fit: Option<[&PrincipalCurvature; 3]>,
        sheet: IsotropicSheet,
    ) -> Self {
        let f = map.deformation_gradient(x);
        let strain = Sym2::new(
            (f.c0.dot(f.c0) - 1.0).min(f64::MAX),
            f.c0.dot(f.c1).clamp(f64::MIN, f64::MAX),
            (f.c1.dot(f.c1) - 1.0).min(f64::MAX),
        );
        let (strains, direction) = strain.eigen();
        let direction = DVec2::from(direction);
        let gradients = [0, 1, 2].map(|i| map.barycentric_gradient(i));
        let form = second_form(&gradients, bends);
        let (young, poisson) = (sheet.young(), sheet.poisson());
        let (alpha, beta) = (poisson / (1.0 - poisson * poisson), 0.5 / (1.0 + poisson));
        let image = f.c0 * direction.x + f.c1 * direction.y;
        // The square of its length, which is at least one wherever the curvature is used.
        let stretch = 1.0 + strains[0];
        let curvature = match fit {
            Some(corners) => fitted_curvature(corners, length_and_direction(image).1),
            None => along(&form, direction) / stretch,
        };
        let curvature = if curvature.is_finite() { curvature } else { 0.0 };
        // Where both strains have one sign there are no crests with a direction of tension to
        // follow.
        let mixed = mixed(strains);
        let bent = curvature * stretch;
        let crest_cost =
            if mixed { 4.0 * beta * (alpha + beta) / (alpha + 2.0 * beta) * bent * bent } else { 0.0 };
        Self {
            area: map.area(),
            gradients,
            f,
            strain,
            strains,
            direction,
            curvature,
            alpha,
            beta,
            crest_cost: crest_cost.min(LARGEST_CONSTANT),
            base_bending: norm(&form, alpha, beta).min(LARGEST_CONSTANT),
            weight: (0.25 * map.area() * sheet.thickness() * young).min(f64::MAX),
            bending_ratio: (sheet.thickness() * sheet.thickness() / 3.0).min(1e30),
        }
    }

    /// Area of the rest triangle in m².
    #[inline]
    #[must_use]
    pub fn area(&self) -> f64 {
        self.area
    }

    /// The eigenvalues of `M = FᵀF - I`, the larger one first: twice the principal Green strains.
    /// At least -1; both are -1 in a base triangle that is a point.
    #[inline]
    #[must_use]
    pub fn strains(&self) -> [f64; 2] {
        self.strains
    }

    /// The unit eigenvectors of `M` in the rest frame, in the order of [`Self::strains`]. Where the
    /// eigenvalues are equal any pair.
    #[inline]
    #[must_use]
    pub fn directions(&self) -> [DVec2; 2] {
        [self.direction, self.direction.perp()]
    }

    /// `M = FᵀF - I` in the rest frame.
    #[inline]
    #[must_use]
    pub fn strain(&self) -> Sym2 {
        self.strain
    }

    /// The image on the base of a vector in the rest frame, `F v`; shorter than `v` under
    /// compression, zero where the base has collapsed.
    #[inline]
    #[must_use]
    pub fn base_direction(&self, v: DVec2) -> DVec3 {
        self.f.c0 * v.x + self.f.c1 * v.y
    }

    /// `w = R⁻ᵀ ω`: the covector in the rest frame, in rad/m, whose differences along the edges 01
    /// and 02 are `omega`, in rad. With differences of an amplitude instead: its gradient.
    #[inline]
    #[must_use]
    pub fn covector(&self, omega: [f64; 2]) -> DVec2 {
        self.gradients[1] * omega[0] + self.gradients[2] * omega[1]
    }

    /// The normal curvature of the base in 1/m along the direction of the larger strain, positive
    /// where the base bends away from its normal. Given for every face; the energy uses it only
    /// where [`Self::is_mixed`].
    #[inline]
    #[must_use]
    pub fn curvature(&self) -> f64 {
        self.curvature
    }

    /// Whether one strain is tension and the other compression, zero being both.
    #[inline]
    #[must_use]
    pub fn is_mixed(&self) -> bool {
        mixed(self.strains)
    }
}

/// A base mesh with its rest shape and material, ready to carry wrinkles.
///
/// ```
/// use plisse_core::{generate, Field, IsotropicSheet, PoissonRatio, Positive, RestShape};
/// use plisse_wrinkle::{BaseSheet, Curvature, FreeRule, Quadrature, wrinkle_free};
///
/// // A strip, stretched by 5 % and a tenth narrower.
/// let (mesh, uv) = generate::irregular_grid(10, 4, [0.25, 0.1], 1)?;
/// let rest = RestShape::from_uv(&mesh, &uv)?;
/// let x = uv.map(|u| glam::DVec3::new(1.05 * u.x, 0.9 * u.y, 0.0));
/// let [young, thickness] = [1e6, 1e-4].map(Positive::literal);
/// let rubber = IsotropicSheet::new(young, PoissonRatio::literal(0.5), thickness);
/// let base = BaseSheet::new(&mesh, rest.maps(), &x, rubber, Curvature::default())?;
/// assert!(wrinkle_free(&base, FreeRule::default()).as_slice().iter().all(|free| !free));
///
/// // Twelve waves over the width, first without amplitude, then with the one that takes away the compression.
/// let k = 12.0 * std::f64::consts::TAU / 0.1;
/// let omega = Field::from_fn(mesh.edge_count(), |edge| {
///     let [p, q] = mesh.edges()[edge].vertices;
///     k * (uv[p.max(q)].y - uv[p.min(q)].y)
/// });
/// let energy = |a: f64| base.terms(&Field::filled(mesh.vertex_count(), a), &omega, Quadrature::Exact).total();
/// let strain = (1.0 - 0.9 * 0.9) - 0.5 * (1.05 * 1.05 - 1.0);
/// let a = (2.0 * strain / (k * k) - 1e-4 * 1e-4 / 3.0f64).sqrt();
/// assert!(energy(a) < energy(0.0) && energy(a) < energy(0.99 * a) && energy(a) < energy(1.01 * a));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BaseSheet {
    mesh: TriMesh,
    sheet: IsotropicSheet,
    faces: Field<Faces, BaseFace>,
    x: Field<Vertices, DVec3>,
}

impl BaseSheet {
    /// A base at positions `x` in metres, with one rest triangle per face, so that sewn panels need
    /// no common rest coordinates.
    ///
    /// Base triangles may have no area (a tension field compresses as it likes): they have a strain
    /// of -1, no curvature of their own, and bend no neighbour.
    ///
    /// # Errors
    /// [`WrinkleError::Length`] if rest shape or positions belong to another mesh,
    /// [`WrinkleError::NotFinite`] for a position that is infinite or NaN,
    /// [`WrinkleError::TooLarge`] for strains beyond 1e50.
    pub fn new(
        mesh: &TriMesh,
        rest: &Field<Faces, TriangleMap>,
        x: &Field<Vertices, DVec3>,
        sheet: IsotropicSheet,
        curvature: Curvature,
    ) -> Result<Self, WrinkleError> {
        fits("rest shapes", rest, mesh.face_count())?;
        fits("positions of the base", x, mesh.vertex_count())?;
        if let Some((vertex, p)) = x.iter().find(|(_, p)| !p.is_finite()) {
            return Err(WrinkleError::NotFinite { vertex, position: p.to_string() });
        }
        let fit = match curvature {
            Curvature::QuadricFit => Some(principal_curvatures(mesh, x)?),
            Curvature::SecondForm => None,
        };
        let mut faces = Vec::with_capacity(mesh.face_count());
        for (id, corners) in mesh.faces().iter() {
            let bends = mid_edge_bends(mesh, x, id);
            let fit = fit.as_ref().map(|fit| corners.map(|v| &fit[v]));
            let face = BaseFace::new(&rest[id], &corners.map(|v| x[v]), bends, fit, sheet);
            let strain = face.strain.a.abs().max(face.strain.b.abs()).max(face.strain.c.abs());
            let fits = strain <= LARGEST_STRAIN;
            if !fits {
                return Err(WrinkleError::TooLarge { face: id, strain });
            }
            faces.push(face);
        }
        Ok(Self { mesh: mesh.clone(), sheet, faces: Field::from_vec(faces), x: x.clone() })
    }

    /// The mesh.
    #[must_use]
    pub fn mesh(&self) -> &TriMesh {
        &self.mesh
    }

    /// The material.
    #[must_use]
    pub fn sheet(&self) -> IsotropicSheet {
        self.sheet
    }

    /// The constants of every face.
    #[must_use]
    pub fn faces(&self) -> &Field<Faces, BaseFace> {
        &self.faces
    }

    /// Positions of the base in m.
    #[must_use]
    pub fn x(&self) -> &Field<Vertices, DVec3> {
        &self.x
    }

    /// The differences along the edges 01 and 02 of a face, of a one-form with one value per edge,
    /// **from the smaller to the larger vertex** of the edge.
    ///
    /// # Panics
    /// If the field is too short for the mesh.
    #[inline]
    #[must_use]
    pub fn face_omega(&self, face: Id<Faces>, omega: &Field<Edges, f64>) -> [f64; 2] {
        let ([v0, v1, v2], [_, e02, e01]) = (self.mesh.faces()[face], self.mesh.face_edges()[face]);
        let along = |edge, end| if v0 < end { omega[edge] } else { -omega[edge] };
        [along(e01, v1), along(e02, v2)]
    }
}

/// `b_j = 2 h_j tan(θ_j/2)` of a face, with its height `h_j` over edge `j` and the angle `θ_j` to
/// the neighbour there, positive where the surface bends away from its normal. Zero on the boundary
/// and where the face or the neighbour has no height; a full fold is limited to a slope of 1e20.
fn mid_edge_bends(mesh: &TriMesh, x: &Field<Vertices, DVec3>, face: Id<Faces>) -> [f64; 3] {
    let (corners, edges) = (mesh.faces()[face], mesh.face_edges()[face]);
    std::array::from_fn(|j| {
        let (left, right) = mesh.edges()[edges[j]].faces;
        let neighbour = if left == face { right } else { Some(left) };
        let wing = neighbour.and_then(|other| mesh.opposite_vertex(other, edges[j]));
        let frame = wing.and_then(|wing| {
            HingeFrame::new(&[x[corners[(j + 1) % 3]], x[corners[(j + 2) % 3]], x[corners[j]], x[wing]])
        });
        frame.map_or(0.0, |frame| -2.0 * frame.heights()[0] * (0.5 * frame.theta()).tan().clamp(-1e20, 1e20))
    })
}

/// The second fundamental form of the base in the rest frame: `Σ b_j ∇λ_j ∇λ_jᵀ`, which is
/// `[[b0 + b1, b0], [b0, b0 + b2]]` in the parameter domain.
fn second_form(gradients: &[DVec2; 3], bends: [f64; 3]) -> Sym2 {
    let mut form = Sym2::new(0.0, 0.0, 0.0);
    for (g, b) in gradients.iter().zip(bends) {
        form.a += b * g.x * g.x;
        form.b += b * g.x * g.y;
        form.c += b * g.y * g.y;
    }
    // Entries of a folded, tiny triangle may be huge: limited, so that their squares are finite.
    let limit = |value: f64| value.clamp(-1e60, 1e60);
    Sym2::new(limit(form.a), limit(form.b), limit(form.c))
}

fn mixed(strains: [f64; 2]) -> bool {
    strains[1] <= 0.0 && strains[0] >= 0.0
}

/// `v · M v`.
fn along(m: &Sym2, v: DVec2) -> f64 {
    m.a * v.x * v.x + 2.0 * m.b * v.x * v.y + m.c * v.y * v.y
}

/// `‖M‖² = α/2 tr²M + β tr(M²)`.
pub(crate) fn norm(m: &Sym2, alpha: f64, beta: f64) -> f64 {
    let trace = m.a + m.c;
    0.5 * alpha * trace * trace + beta * (m.a * m.a + 2.0 * m.b * m.b + m.c * m.c)
}

/// The curvature along a unit vector of the face, mean of Euler's formula at the three corners. The
/// principal directions of a corner are not turned into the plane of the face: a corner whose
/// tangent plane is tilted counts its second curvature for the rest.
fn fitted_curvature(corners: [&PrincipalCurvature; 3], t: DVec3) -> f64 {
    let at = |corner: &PrincipalCurvature| {
        let cos = corner.directions[0].dot(t);
        corner.values[0] * cos * cos + corner.values[1] * (1.0 - cos * cos)
    };
    (at(corners[0]) + at(corners[1]) + at(corners[2])) / 3.0
}
