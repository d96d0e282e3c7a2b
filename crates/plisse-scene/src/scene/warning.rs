//! What is suspicious about a scene that can be simulated.

use std::fmt;

/// Something that can be simulated and is probably not what was meant. Names the body, the value
/// and the remedy.
///
/// ```
/// use plisse_core::Positive;
/// use plisse_scene::scene::{Cloth, Material, Scene, SceneWarning};
/// // 200 g/m², written as if it were kg/m².
/// let heavy = Material { density: Positive::literal(200.0), ..Material::cotton() };
/// let cloth = Cloth::sheet([8, 8], [1.0, 1.0])?.material(heavy);
/// assert!(cloth.warnings().is_empty());
/// let scene = Scene::builder().cloth(cloth).build()?;
/// assert!(matches!(scene.warnings(), [SceneWarning::Implausible { value: 200.0, .. }]));
/// println!("{}", scene.warnings()[0]);
/// # Ok::<(), plisse_scene::scene::SceneError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SceneWarning {
    /// A figure far from what sheets and wires have.
    Implausible {
        /// Which body.
        body: String,
        /// Which figure.
        what: &'static str,
        /// The value.
        value: f64,
        /// Its unit.
        unit: &'static str,
        /// What is usual.
        usual: [f64; 2],
        /// What may have happened.
        hint: &'static str,
    },
    /// A body in several pieces, some of which nothing holds.
    Pieces {
        /// Which body.
        body: String,
        /// How many pieces.
        pieces: usize,
        /// How many of them have no pin.
        loose: usize,
        /// Vertices of the smallest.
        smallest: usize,
    },
    /// Edges of a boundary that lie on each other and do not hang together.
    OpenSeam {
        /// Which body.
        body: String,
        /// How many edges.
        edges: usize,
        /// Vertices of two of them.
        example: [[u32; 2]; 2],
    },
    /// Vertices of wires in the same place.
    Coincident {
        /// Which body.
        body: String,
        /// How many vertices are in the place of another one.
        vertices: usize,
        /// Two of them.
        example: [u32; 2],
    },
    /// Texture coordinates in the unit square, as unwrapping leaves them, that nearly have the size
    /// of the mesh.
    UnitSquare {
        /// Which body.
        body: String,
        /// How much longer the mesh is than its material coordinates.
        stretch: f64,
    },
    /// A cloth whose area at the start is far from that at rest.
    Area {
        /// Which body.
        body: String,
        /// At rest, m².
        rest: f64,
        /// As placed, m².
        placed: f64,
    },
    /// A sheet that is too thick for the theory of thin sheets.
    Thick {
        /// Which body.
        body: String,
        /// Its thickness, m.
        thickness: f64,
        /// How wide it is, m.
        width: f64,
    },
    /// A membrane of the surface alone with the Poisson's ratio of rubber.
    NotRubber {
        /// Which body.
        body: String,
        /// Its Poisson's ratio.
        poisson: f64,
    },
    /// Triangles crossed at the start and were moved apart
    /// ([`CrossedStart::Untangle`](super::CrossedStart::Untangle)).
    Untangled {
        /// How many pairs crossed.
        pairs: usize,
        /// The longest way of a vertex, m.
        farthest: f64,
    },
    /// Triangles cross at the start and pass through each other until they have come apart
    /// ([`CrossedStart::Ignore`](super::CrossedStart::Ignore)).
    StartsTangled {
        /// How many pairs cross.
        pairs: usize,
        /// In how many places.
        tangles: usize,
    },
    /// A triangle that starts far from its rest shape.
    Stretched {
        /// Which body.
        body: String,
        /// The face that is worst.
        face: u32,
        /// Its smallest and largest ratio of a length at the start to that at rest.
        stretch: [f64; 2],
        /// How many faces are stretched or shrunk by more than a factor of two.
        faces: usize,
    },
}

impl fmt::Display for SceneWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Implausible { body, what, value, unit, usual: [low, high], hint } => {
                let value = short(*value);
                write!(f, "{what} of {body} is {value} {unit}; usual are {low} to {high} {unit}. {hint}")
            }
            Self::Pieces { body, pieces, loose, smallest } => write!(
                f,
                "{body} consists of {pieces} separate pieces, the smallest with {smallest} vertices, and nothing holds {loose} of \
                 them: each moves by itself. Weld the mesh (weld = true) if they belong together, or pin each piece"
            ),
            Self::OpenSeam { body, edges, example: [[a, b], [c, d]] } => write!(
                f,
                "{edges} boundary edges of {body} lie on others without being joined, the first from vertex {a} to {b} on that \
                 from {c} to {d}: they will come apart. Weld the mesh (weld = true) if they belong together"
            ),
            Self::Coincident { body, vertices, example: [a, b] } => write!(
                f,
                "{vertices} vertices of {body} are in the place of another without being joined, the first vertex {a} on vertex \
                 {b}: they will come apart. Weld the wires (weld = true) if they belong together"
            ),
            Self::UnitSquare { body, stretch } => write!(
                f,
                "the material coordinates (vt) of {body} lie in the unit square, as unwrapping leaves them, and the mesh is longer \
                 by the factor {}. Set uv_scale = \"area\" if they are not in metres, uv_scale = 1 if they are",
                short(*stretch)
            ),
            Self::Area { body, rest, placed } => write!(
                f,
                "{body} has {} m2 at rest and starts with {} m2. Check the size of its material coordinates (uv_scale), and scale",
                short(*rest),
                short(*placed)
            ),
            Self::Thick { body, thickness, width } => write!(
                f,
                "{body} is {} m thick and about {} m wide: it is no thin sheet, whose width is ten times its thickness at least. \
                 The thickness is in metres: 1e-4 for a tenth of a millimetre",
                short(*thickness),
                short(*width)
            ),
            Self::NotRubber { body, poisson } => write!(
                f,
                "{body} has membrane = \"neo-hookean\" and a Poisson's ratio of {}, as rubber, but this membrane does not thin when \
                 it is stretched. Choose membrane = \"neo-hookean-incompressible\" for rubber",
                short(*poisson)
            ),
            Self::Untangled { pairs, farthest } => write!(
                f,
                "{pairs} pairs of triangles crossed at the start and were moved apart, \
                 vertices by up to {} m",
                short(*farthest)
            ),
            Self::StartsTangled { pairs, tangles } => write!(
                f,
                "{pairs} pairs of triangles cross at the start ({tangles} separate tangles): \
                 there they pass through each other until they have come apart, and nothing makes \
                 them. `plisse info` says what crosses in a frame"
            ),
            Self::Stretched { body, face, stretch: [low, high], faces } => write!(
                f,
                "{faces} triangles of {body} start stretched or shrunk by more than a factor of two, the worst, face {face}, \
                 to {} and {} times its lengths at rest. Check the material coordinates (vt), and scale",
                short(*low),
                short(*high)
            ),
        }
    }
}

/// Four digits are enough for people.
#[expect(clippy::expect_used, reason = "what is written as a number can be read as one")]
pub(crate) fn short(value: f64) -> f64 {
    format!("{value:.3e}").parse().expect("a number")
}
