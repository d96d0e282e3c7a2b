//! The wrinkled surface: subdivision and displacement.

mod displace;
mod level;
mod limit;
mod subdivide;
#[cfg(test)]
mod tests;

use glam::DVec3;
use plisse_core::{Faces, Field, Id, IsotropicSheet, TriMesh, TriangleMap, Vertices};

use crate::error::{WrinkleError, fits};
use crate::phase::{LARGEST_PHASE, PhaseField};
use displace::{Means, Shift, displacements, vertex_normals};
use level::Level;
pub use limit::ObstacleLimit;

/// Vertices that subdivision leaves where they are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum SharpVertices<'a> {
    /// Boundary vertices of the base whose angle differs from a straight line by more than 45
    /// degrees.
    #[default]
    Corners,
    /// These and no others: clamped vertices, for instance.
    Given(&'a [Id<Vertices>]),
}

/// What a vertex takes for the phase of neighbours that have none, at the border of wrinkle-free
/// faces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PhaseExtension {
    /// The phase continued with its gradient. Plane waves stay plane waves up to the border and
    /// beyond.
    #[default]
    Linear,
    /// The vertex's own phase, as the authors of Chen21 do. This bends waves at the border: where
    /// wavelengths are shorter than coarse edges, by more than a radian.
    OwnValue,
}

/// The shape of one wave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// With the in-plane term `a²/8 sin 2φ ∇φ`, which spreads the length evenly: large wrinkles
    /// bulge and hang over (Chen21, equation 19).
    #[default]
    Bulging,
    /// Along the normal only.
    Cosine,
}

/// The in-plane term `a sin φ v` of Chen21, equation 19: material moves from where the curvature of
/// the base stretches crests to the troughs.
///
/// Hardly visible, and noisy where the phase is nearly constant; the displacement is limited to a
/// strain of one half and to the amplitude. Off unless given.
#[derive(Clone, Copy, Debug)]
pub struct CurvatureShift<'a> {
    /// What the sheet is made of; only the ratio of its moduli matters.
    pub sheet: &'a IsotropicSheet,
    /// The rest shape of the base mesh.
    pub rest: &'a Field<Faces, TriangleMap>,
}

/// How [`wrinkled_surface`] makes its surface.
#[derive(Clone, Copy, Debug)]
pub struct SurfaceOptions<'a> {
    /// How often every triangle is divided into four. Default 3; the result can have 50 million
    /// triangles. See [`WrinkledSurface::largest_step`] for whether that is enough.
    pub levels: usize,
    /// Vertices that stay where they are. Where fans of faces touch in a point, vertices always
    /// stay.
    pub sharp: SharpVertices<'a>,
    /// The phase at the border of wrinkle-free faces.
    pub extension: PhaseExtension,
    /// The shape of one wave.
    pub profile: Profile,
    /// The curvature term.
    pub curvature: Option<CurvatureShift<'a>>,
    /// An obstacle to stay away from.
    pub limit: Option<ObstacleLimit<'a>>,
}

impl Default for SurfaceOptions<'_> {
    fn default() -> Self {
        Self {
            levels: 3,
            sharp: SharpVertices::default(),
            extension: PhaseExtension::default(),
            profile: Profile::default(),
            curvature: None,
            limit: None,
        }
    }
}

/// A base mesh, subdivided, with its wrinkles.
#[derive(Clone, Debug, PartialEq)]
pub struct WrinkledSurface {
    /// The subdivided triangles. Vertex `v` of the base is vertex `v` here.
    pub mesh: TriMesh,
    /// Positions with wrinkles, m.
    pub x: Field<Vertices, DVec3>,
    /// Positions without wrinkles, m.
    pub base: Field<Vertices, DVec3>,
    /// Amplitudes, m; zero at the vertices of faces without a phase.
    pub amplitude: Field<Vertices, f64>,
    /// Phases in `(-π, π]`, for pictures: the direction of the mean of `(cos φ, sin φ)`. Zero where
    /// there is none.
    pub phase: Field<Vertices, f64>,
    /// The face of the base mesh that each face comes from.
    pub parent: Field<Faces, Id<Faces>>,
    /// Whether each face has a phase. Faces without are flat parts: their region shrinks with each
    /// level towards the middle of what was wrinkle-free in the base.
    pub wrinkled: Field<Faces, bool>,
    /// The largest difference of phase along an edge with a visible amplitude, in radians. From π
    /// on waves are lost between vertices: take more levels. A smooth picture needs less than 1.
    pub largest_step: f64,
    /// Vertices that the obstacle has moved.
    pub limited: usize,
    /// Vertices that are closer to the obstacle than the margin all the same: its distance has led
    /// nowhere.
    pub stuck: usize,
}

/// Lengths up to here (m) are accepted: their fourth powers stay in range.
const LARGEST_LENGTH: f64 = 1e70;

/// Triangles of a surface, at most: with all that is computed for them they take tens of gigabytes.
const MOST_TRIANGLES: usize = 50_000_000;

/// Amplitudes below this part of the largest one are not visible.
const VISIBLE: f64 = 1e-3;

/// Subdivides base, amplitude and phase, and displaces the result (Chen21, section E.5 and equation
/// 19):
///
/// ```text
/// x = r + a cos φ n + a²/8 sin 2φ ∇φ
/// ```
///
/// All three are subdivided by Loop's rules, phases on the branch of the vertex they are computed
/// for. Faces without a phase are flat: the amplitude is zero at their vertices, before and after
/// each level. Each level gives a phase to their small corner triangles where one is known, so that
/// the flat part shrinks and the amplitude fades out smoothly; an edge through the flat part with a
/// phase at both ends protects the triangles beside it.
///
/// ```
/// use glam::DVec3;
/// use plisse_core::{Field, generate};
/// use plisse_wrinkle::{PhaseField, SurfaceOptions, wrinkled_surface};
///
/// // Waves of 0.1 m along x, 5 mm high.
/// let (mesh, uv) = generate::irregular_grid(6, 6, [1.0, 1.0], 1)?;
/// let base = generate::embed(&uv);
/// let phases = mesh.faces().map(|corners| Some(corners.map(|v| std::f64::consts::TAU * uv[v].x / 0.1)));
/// let phase = PhaseField::from_corners(&mesh, &phases)?;
/// let amplitude = Field::filled(mesh.vertex_count(), 0.005);
///
/// let surface = wrinkled_surface(&mesh, &base, &amplitude, &phase, &SurfaceOptions { levels: 4, ..SurfaceOptions::default() })?;
/// let height = |p: &DVec3| p.z.abs();
/// let highest = surface.x.as_slice().iter().map(height).fold(0.0, f64::max);
/// assert!((highest - 0.005).abs() < 1e-6);
/// assert!(surface.largest_step < 1.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`WrinkleError::Length`] for values of another mesh, [`WrinkleError::NotFinite`],
/// [`WrinkleError::Parameter`] and [`WrinkleError::Phase`] for numbers that are not finite or
/// absurdly large, [`WrinkleError::TooManyTriangles`] if the result would have more than 50
/// million.
pub fn wrinkled_surface(
    mesh: &TriMesh,
    base: &Field<Vertices, DVec3>,
    amplitude: &Field<Vertices, f64>,
    phase: &PhaseField,
    options: &SurfaceOptions<'_>,
) -> Result<WrinkledSurface, WrinkleError> {
    check(mesh, base, amplitude, phase, options)?;
    let mut level = Level {
        mesh: mesh.clone(),
        x: base.clone(),
        amplitude: amplitude.clone(),
        phase: phase.clone(),
        sharp: sharp_vertices(mesh, base, options.sharp)?,
        parent: Field::from_fn(mesh.face_count(), |face| face),
        normals: options.curvature.map(|_| vertex_normals(mesh, base)),
    };
    level.flatten();
    for _ in 0..options.levels {
        level = level.finer(options.extension)?;
    }
    let means = Means::new(&level);
    let shift = options.curvature.as_ref().map(|term| Shift::new(term, mesh, base));
    let displacements = displacements(&level, &means, options.profile, shift.as_ref());
    let (mut limited, mut stuck) = (0, 0);
    let x = Field::from_fn(level.mesh.vertex_count(), |v| match &options.limit {
        None => level.x[v] + displacements[v],
        Some(limit) => {
            let place = limit.apply(level.x[v], displacements[v]);
            limited += usize::from(place.changed);
            stuck += usize::from(place.stuck);
            place.x
        }
    });
    let largest_step = largest_step(&level);
    Ok(WrinkledSurface {
        x,
        phase: Field::from_fn(level.mesh.vertex_count(), |v| means.sin[v].atan2(means.cos[v])),
        wrinkled: level.phase.corners().map(Option::is_some),
        base: level.x,
        amplitude: level.amplitude,
        parent: level.parent,
        mesh: level.mesh,
        largest_step,
        limited,
        stuck,
    })
}

fn check(
    mesh: &TriMesh,
    base: &Field<Vertices, DVec3>,
    amplitude: &Field<Vertices, f64>,
    phase: &PhaseField,
    options: &SurfaceOptions<'_>,
) -> Result<(), WrinkleError> {
    let (levels, faces) = (options.levels, mesh.face_count());
    let parts = u32::try_from(levels).ok().and_then(|levels| 4usize.checked_pow(levels));
    if parts.and_then(|parts| parts.checked_mul(faces)).is_none_or(|count| count > MOST_TRIANGLES) {
        let triangles = faces as f64 * 4f64.powf(levels as f64);
        return Err(WrinkleError::TooManyTriangles { levels, faces, triangles, limit: MOST_TRIANGLES });
    }
    fits("positions of the base", base, mesh.vertex_count())?;
    fits("amplitudes", amplitude, mesh.vertex_count())?;
    fits("phases", phase.corners(), mesh.face_count())?;
    if let Some(ObstacleLimit { margin: value, .. }) = options.limit
        && !value.is_finite()
    {
        let expected = "give a finite distance in m";
        return Err(WrinkleError::Parameter { what: "the margin to the obstacle", value, expected });
    }
    if let Some(term) = &options.curvature {
        fits("rest shapes", term.rest, mesh.face_count())?;
    }
    if let Some((vertex, x)) = base.iter().find(|(_, x)| !x.is_finite()) {
        return Err(WrinkleError::NotFinite { vertex, position: x.to_string() });
    }
    let bad = |place: String, what: &str, value: f64, most: f64| {
        let reason = format!("the {what} is {value:e}; numbers up to {most:e} are accepted, check the unit");
        Err(WrinkleError::Phase { place, reason })
    };
    let within = |value: f64, most: f64| value.abs() <= most;
    if let Some((v, x)) = base.iter().find(|(_, x)| !within(x.abs().max_element(), LARGEST_LENGTH)) {
        return bad(v.to_string(), "coordinate in m", x.abs().max_element(), LARGEST_LENGTH);
    }
    if let Some((v, a)) = amplitude.iter().find(|(_, a)| !within(**a, LARGEST_LENGTH)) {
        return bad(v.to_string(), "amplitude in m", *a, LARGEST_LENGTH);
    }
    for face in mesh.faces().ids() {
        let value = phase.at(face).and_then(|p| p.into_iter().find(|p| !within(*p, LARGEST_PHASE)));
        if let Some(value) = value {
            return bad(face.to_string(), "phase in radians", value, LARGEST_PHASE);
        }
    }
    Ok(())
}

fn sharp_vertices(
    mesh: &TriMesh,
    base: &Field<Vertices, DVec3>,
    choice: SharpVertices<'_>,
) -> Result<Field<Vertices, bool>, WrinkleError> {
    let mut sharp = subdivide::pinched(mesh)?;
    match choice {
        SharpVertices::Corners => {
            let corners = subdivide::boundary_corners(mesh, base);
            for v in mesh.vertices() {
                sharp[v] |= corners[v];
            }
        }
        SharpVertices::Given(vertices) => {
            for v in vertices {
                match sharp.as_mut_slice().get_mut(v.index()) {
                    Some(sharp) => *sharp = true,
                    None => {
                        let reason =
                            format!("there are {} vertices; it cannot be sharp", mesh.vertex_count());
                        return Err(WrinkleError::Phase { place: v.to_string(), reason });
                    }
                }
            }
        }
    }
    Ok(sharp)
}

fn largest_step(level: &Level) -> f64 {
    let visible = VISIBLE * level.amplitude.as_slice().iter().fold(0.0, |m: f64, a| m.max(a.abs()));
    let omega = level.phase.differential(&level.mesh);
    let edges = level.mesh.edges().iter();
    edges
        .filter(|(_, edge)| edge.vertices.iter().any(|v| level.amplitude[*v].abs() > visible))
        .fold(0.0, |m: f64, (id, _)| m.max(omega[id].abs()))
}
