//! What is drawn: surfaces and wires, and how they look.

use glam::DVec3;

use super::colour::{ColourMap, Rgb};

/// Parts drawn together in one picture. Without parts the picture shows the background.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawing<'a> {
    /// Surfaces and wires, in any order.
    pub parts: Vec<Part<'a>>,
}

/// One part of a drawing.
#[derive(Clone, Debug, PartialEq)]
pub enum Part<'a> {
    /// Cloth, or an obstacle.
    Surface(Surface<'a>),
    /// Threads, rods, struts.
    Wires(Wires<'a>),
}

/// Triangles in space.
///
/// Triangles with an index out of range, or with a corner that is not finite or beyond 1e30 m, are
/// left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface<'a> {
    /// Positions of the vertices, in metres.
    pub positions: &'a [DVec3],
    /// Three vertices per triangle, counter-clockwise seen from the front.
    pub faces: &'a [[u32; 3]],
    /// Colours.
    pub look: Look<'a>,
    /// Normals are shared at the vertices, as suits cloth. Otherwise every triangle is flat, as
    /// suits a box.
    pub smooth: bool,
    /// Thin dark lines along the edges of the triangles, where they are visible.
    pub edges: bool,
}

/// Colours of a surface.
#[derive(Clone, Debug, PartialEq)]
pub enum Look<'a> {
    /// One colour for each side.
    Plain {
        /// Side on which the corners turn counter-clockwise.
        front: Rgb,
        /// The other side.
        back: Rgb,
    },
    /// A number per vertex, shown as colour with a bar beside the picture.
    Scalar {
        /// One value per vertex, in any unit; missing values and NaN are grey.
        values: &'a [f64],
        /// Values at the two ends of the colour map; values outside take the colour of the end.
        range: [f64; 2],
        /// Colours.
        map: ColourMap,
        /// What is shown, with its unit: the title of the bar.
        label: &'a str,
    },
}

/// Round wires along segments.
///
/// A wire thinner than a pixel is drawn as wide as a pixel. Segments are left out for the same
/// reasons as triangles of a [`Surface`].
#[derive(Clone, Debug, PartialEq)]
pub struct Wires<'a> {
    /// Positions of the vertices, in metres.
    pub positions: &'a [DVec3],
    /// Two vertices per segment.
    pub segments: &'a [[u32; 2]],
    /// Radius in metres.
    pub radius: f64,
    /// Colour.
    pub colour: Rgb,
}

impl<'a> Surface<'a> {
    /// Cloth: smooth, with two sides of similar muted colours.
    #[must_use]
    pub fn cloth(positions: &'a [DVec3], faces: &'a [[u32; 3]]) -> Self {
        let look = Look::Plain { front: [88, 128, 158], back: [206, 178, 142] };
        Self { positions, faces, look, smooth: true, edges: false }
    }

    /// An obstacle: smooth and light grey.
    #[must_use]
    pub fn obstacle(positions: &'a [DVec3], faces: &'a [[u32; 3]]) -> Self {
        let grey = [196, 194, 190];
        let look = Look::Plain { front: grey, back: grey };
        Self { positions, faces, look, smooth: true, edges: false }
    }

    /// The same surface with other colours.
    #[must_use]
    pub fn with_look(self, look: Look<'a>) -> Self {
        Self { look, ..self }
    }
}

/// Farthest coordinate that is drawn, in metres: products of four coordinates stay finite.
pub(super) const FARTHEST: f64 = 1e30;

/// Whether a corner can be drawn.
pub(super) fn drawable(x: DVec3) -> bool {
    x.is_finite() && x.abs().max_element() <= FARTHEST
}
