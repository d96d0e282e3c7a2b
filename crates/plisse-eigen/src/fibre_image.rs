//! What becomes of a material direction.

use glam::{DVec2, DVec3};
use plisse_core::{Mat3x2, length_and_direction, rarely, saturate};

/// Length and direction of `F a`, at every scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FibreImage {
    /// `F a`, with `F` saturated.
    pub vector: DVec3,
    /// `|F a|²`, saturated.
    pub square: f64,
    /// `|F a|`.
    pub length: f64,
    /// `1/|F a|`, or zero if the length is zero.
    pub inverse: f64,
    /// The unit direction of `F a`, or zero if the length is zero.
    pub direction: DVec3,
}

impl FibreImage {
    /// The image of `a`, which need not be a unit vector.
    #[must_use]
    pub fn new(f: &Mat3x2, a: DVec2) -> Self {
        // Beyond the largest numbers F a itself overflows: a shortened F has the same direction.
        let vector = f.saturated() * a;
        let (length, direction) = length_and_direction(vector);
        let inverse = if length == 0.0 { 0.0 } else { saturate(1.0 / length) };
        Self { vector, square: saturate(length * length), length, inverse, direction }
    }

    /// Calls `body` with the image of a direction, like [`Self::with_pair`].
    #[inline(always)]
    pub fn with<T>(f: &Mat3x2, a: DVec2, body: impl Fn(Self) -> T) -> T {
        let image = Self::regular(f, a);
        if image.is_regular() { body(image) } else { rarely(|| body(Self::new(f, a))) }
    }

    /// Calls `body` with the images of both directions: inline where nothing can go wrong, out of
    /// line for collapsed fibres and extreme scales.
    #[inline(always)]
    pub fn with_pair<T>(f: &Mat3x2, directions: [DVec2; 2], body: impl Fn([Self; 2]) -> T) -> T {
        match Self::pair_if_regular(f, directions) {
            Some(images) => body(images),
            None => rarely(|| body(directions.map(|a| Self::new(f, a)))),
        }
    }

    /// Both images, unless one is zero or of a scale that needs care.
    #[inline(always)]
    pub(crate) fn pair_if_regular(f: &Mat3x2, [a, b]: [DVec2; 2]) -> Option<[Self; 2]> {
        let (image_a, image_b) = (Self::regular(f, a), Self::regular(f, b));
        (image_a.is_regular() && image_b.is_regular()).then_some([image_a, image_b])
    }

    #[inline(always)]
    fn regular(f: &Mat3x2, a: DVec2) -> Self {
        let vector = *f * a;
        let square = vector.length_squared();
        let length = square.sqrt();
        let inverse = 1.0 / length;
        Self { vector, square, length, inverse, direction: vector * inverse }
    }

    /// Whether squares neither over- nor underflowed. False for NaN.
    #[inline(always)]
    fn is_regular(&self) -> bool {
        (1e-280..1e280).contains(&self.square)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finite_at_every_scale(f in plisse_testkit::extreme(), angle in -3.0..3.0f64) {
            let image = FibreImage::new(&Mat3x2::from_array(f), DVec2::from_angle(angle));
            prop_assert!(image.length.is_finite() && image.inverse.is_finite());
            let expected = if image.length > 0.0 { 1.0 } else { 0.0 };
            prop_assert!((image.direction.length() - expected).abs() < 1e-15);
        }
    }
}
