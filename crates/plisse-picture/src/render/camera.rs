//! Where the picture is taken from.

use glam::{DVec2, DVec3};

use super::drawing::drawable;
use super::options::RenderError;

/// A perspective camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Position of the eye, in metres.
    pub from: DVec3,
    /// The point in the middle of the picture, in metres.
    pub at: DVec3,
    /// Direction that points up in the picture, of any length. Along the line of sight any other is
    /// taken.
    pub up: DVec3,
    /// Angle between the lower and the upper edge of the picture, in degrees.
    pub field_of_view: f64,
}

/// Part of the half picture that framed things fill.
const FILLED: f64 = 0.9;
/// Field of view of framing cameras, in degrees: little distortion.
const FRAMING_VIEW: f64 = 28.0;

impl Camera {
    /// A camera that sees all points with a small margin around them.
    ///
    /// `direction` points from the things to the camera (see [`Camera::three_quarter`]), both
    /// directions may have any length; `aspect` is width divided by height
    /// ([`RenderOptions::aspect`](super::RenderOptions::aspect)). Points that cannot be drawn are
    /// skipped; without points the camera sees the unit cube around the origin.
    ///
    /// # Errors
    /// [`RenderError::Camera`] for directions without length or an aspect that is not positive.
    ///
    /// ```
    /// use glam::DVec3;
    /// use plisse_picture::Camera;
    /// let points = [DVec3::ZERO, DVec3::ONE];
    /// let camera = Camera::framing(points, Camera::three_quarter(DVec3::Z), DVec3::Z, 4.0 / 3.0)?;
    /// assert!(camera.from.z > 1.0);
    /// # Ok::<(), plisse_picture::RenderError>(())
    /// ```
    pub fn framing(
        points: impl IntoIterator<Item = DVec3>,
        direction: DVec3,
        up: DVec3,
        aspect: f64,
    ) -> Result<Self, RenderError> {
        Self::frame(points, direction, up, aspect, FRAMING_VIEW)
    }

    fn frame(
        points: impl IntoIterator<Item = DVec3>,
        direction: DVec3,
        up: DVec3,
        aspect: f64,
        field_of_view: f64,
    ) -> Result<Self, RenderError> {
        if !(aspect > 0.0 && aspect.is_finite()) {
            return Err(RenderError::Camera(format!("the aspect {aspect} of the picture must be positive")));
        }
        let mut points: Vec<DVec3> = points.into_iter().filter(|&x| drawable(x)).collect();
        if points.is_empty() {
            points = corners([DVec3::splat(-0.5), DVec3::splat(0.5)]).to_vec();
        }
        let looking = Self { from: direction, at: DVec3::ZERO, up, field_of_view };
        let axes = looking.axes()?;
        let middle = points[0];
        let half_view = (0.5 * field_of_view.to_radians()).tan() * FILLED;
        let slopes = DVec2::new(half_view * aspect, half_view);
        // The eye lies behind four planes through the edges of the picture, each touching the
        // outermost point.
        let mut reach = [DVec2::splat(f64::NEG_INFINITY); 2];
        let mut depths = [f64::INFINITY, f64::NEG_INFINITY];
        for point in &points {
            let [x, y, z] = axes.map(|axis| axis.dot(*point - middle));
            reach[0] = reach[0].max(DVec2::new(x, y) - slopes * z);
            reach[1] = reach[1].max(-DVec2::new(x, y) - slopes * z);
            depths = [depths[0].min(z), depths[1].max(z)];
        }
        let side = 0.5 * (reach[0] - reach[1]);
        let eye = -(0.5 * (reach[0] + reach[1]) / slopes).max_element();
        // Points on a line away from the camera take no room in the picture; a single one is seen
        // from a metre.
        let deep = depths[1] - depths[0];
        let least = if points.iter().all(|x| *x == middle) { 1.0 } else { 0.05 * deep };
        let eye = eye.min(depths[0] - least.max(1e-6 * middle.length()));
        let from = middle + axes[0] * side.x + axes[1] * side.y + axes[2] * eye;
        let at = from + axes[2] * (0.5 * (depths[0] + depths[1]) - eye);
        Ok(Self { from, at, up, field_of_view })
    }

    /// [`Camera::framing`] of a box between two opposite corners, in metres: of all frames of a
    /// film, for example.
    ///
    /// # Errors
    /// As for [`Camera::framing`].
    pub fn framing_box(
        bounds: [DVec3; 2],
        direction: DVec3,
        up: DVec3,
        aspect: f64,
        field_of_view: f64,
    ) -> Result<Self, RenderError> {
        Self::frame(corners(bounds), direction, up, aspect, field_of_view)
    }

    /// A direction from things to a camera that shows them from the front, a little from the right
    /// and above.
    ///
    /// With z up the front is at negative y, with y up at positive z.
    #[must_use]
    pub fn three_quarter(up: DVec3) -> DVec3 {
        let up = up.try_normalize().unwrap_or(DVec3::Z);
        let sideways = if up.x.abs() < 0.9 { DVec3::X } else { DVec3::Y };
        let right = (sideways - up * up.dot(sideways)).normalize();
        (0.5 * right + 0.87 * right.cross(up) + 0.5 * up).normalize()
    }

    /// Unit vectors to the right, up and forward.
    fn axes(&self) -> Result<[DVec3; 3], RenderError> {
        let Self { from, at, up, field_of_view } = *self;
        let refuse = |reason: String| Err(RenderError::Camera(reason));
        if !(field_of_view > 0.0 && field_of_view < 180.0) {
            return refuse(format!("the field of view of {field_of_view}° must be between 0° and 180°"));
        }
        if !reachable(from) || !reachable(at) {
            return refuse(format!("the points {from} and {at} must be finite and not beyond 1e36 m"));
        }
        let Some(forward) = (at - from).try_normalize() else {
            return refuse(format!("it stands at {from} where it looks at"));
        };
        let Some(up) = up.try_normalize().filter(|up| up.is_finite()) else {
            return refuse(format!("the direction up {up} must be finite and not zero"));
        };
        let across = forward.cross(up);
        let right =
            if across.length() > 1e-6 { across.normalize() } else { forward.any_orthonormal_vector() };
        Ok([right, right.cross(forward), forward])
    }

    /// The view of a picture. A strip at its right, `strip` pixels wide, is kept free: all else is
    /// drawn smaller.
    pub(super) fn view(&self, size: [u32; 2], strip: f64) -> Result<View, RenderError> {
        let axes = self.axes()?;
        let size = DVec2::new(f64::from(size[0]), f64::from(size[1]));
        let part = (size.x - strip) / size.x;
        let slope = 2.0 * (0.5 * self.field_of_view.to_radians()).tan() / (size.y * part);
        let middle = 0.5 * size * DVec2::new(part, 1.0);
        Ok(View { from: self.from, axes, size, middle, slope, distance: (self.at - self.from).length() })
    }
}

/// A camera and the pixels it looks through. Its space: x right, y up, z forward from the eye, in
/// metres.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    from: DVec3,
    axes: [DVec3; 3],
    /// Width and height in pixels.
    pub(super) size: DVec2,
    /// Where the camera looks at, in pixels.
    pub(super) middle: DVec2,
    /// Size of a pixel at distance one.
    pub(super) slope: f64,
    /// From the eye to what it looks at: the scale of depths.
    pub(super) distance: f64,
}

impl View {
    /// The longer side of the picture, in pixels.
    pub(super) fn longer_side(&self) -> f64 {
        self.size.max_element()
    }

    /// Nothing nearer to the eye than this is seen, in metres.
    pub(super) fn near(&self) -> f64 {
        1e-5 * self.distance
    }

    /// A point of the world in the space of the camera.
    pub(super) fn point(&self, x: DVec3) -> DVec3 {
        self.direction(x - self.from)
    }

    /// A direction of the world in the space of the camera.
    pub(super) fn direction(&self, d: DVec3) -> DVec3 {
        DVec3::from(self.axes.map(|axis| axis.dot(d)))
    }

    /// Ray through a place in the picture, with length one along z. Pixel (0, 0) is the square from
    /// 0 to 1.
    pub(super) fn ray(&self, pixel: DVec2) -> DVec3 {
        let across = (pixel - self.middle) * self.slope;
        DVec3::new(across.x, -across.y, 1.0)
    }

    /// Place in the picture of a point before the camera.
    pub(super) fn pixel(&self, x: DVec3) -> DVec2 {
        DVec2::new(x.x, -x.y) / (x.z * self.slope) + self.middle
    }
}

/// A camera that frames the farthest things stands farther away than they.
fn reachable(x: DVec3) -> bool {
    drawable(x * 1e-6)
}

fn corners([a, b]: [DVec3; 2]) -> [DVec3; 8] {
    std::array::from_fn(|i| {
        let pick = |bit: usize, a: f64, b: f64| if i >> bit & 1 == 0 { a } else { b };
        DVec3::new(pick(0, a.x, b.x), pick(1, a.y, b.y), pick(2, a.z, b.z))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn framed_points_fill_the_picture() {
        let boxes = [[DVec3::ZERO, DVec3::ONE], [DVec3::new(-9.0, 2.0, 0.0), DVec3::new(30.0, 2.1, 0.5)]];
        for bounds in boxes {
            for (up, direction) in [
                (DVec3::Z, Camera::three_quarter(DVec3::Z)),
                (DVec3::Y, Camera::three_quarter(DVec3::Y)),
                (DVec3::Z, DVec3::Z),
                (DVec3::Z, DVec3::new(0.0, -7.0, 0.0)),
            ] {
                for size in [[640, 480], [200, 800]] {
                    let aspect = f64::from(size[0]) / f64::from(size[1]);
                    let view = Camera::framing_box(bounds, direction, up, aspect, 28.0)
                        .unwrap()
                        .view(size, 0.0)
                        .unwrap();
                    let mut extreme = 0f64;
                    for corner in corners(bounds) {
                        let x = view.point(corner);
                        assert!(x.z > view.near());
                        let place = (view.pixel(x) / view.size - 0.5).abs() * 2.0;
                        assert!(place.max_element() < FILLED + 1e-9, "{place}");
                        extreme = extreme.max(place.max_element());
                    }
                    assert!(extreme > FILLED - 1e-6, "something touches the margin: {extreme}");
                }
            }
        }
    }

    #[test]
    fn points_and_rays_agree() {
        let camera =
            Camera { from: DVec3::new(3.0, 1.0, 2.0), at: DVec3::ZERO, up: DVec3::Z, field_of_view: 40.0 };
        let view = camera.view([320, 200], 0.0).unwrap();
        let x = view.point(DVec3::new(0.1, -0.2, 0.3));
        assert!((view.ray(view.pixel(x)) * x.z - x).length() < 1e-12);
        assert!((view.pixel(view.point(DVec3::ZERO)) - 0.5 * view.size).length() < 1e-9);
        assert!(view.pixel(view.point(DVec3::Z * 0.1)).y < 100.0, "up is up");
    }

    #[test]
    fn blind_cameras_are_refused() {
        let good = Camera { from: DVec3::X, at: DVec3::ZERO, up: DVec3::Z, field_of_view: 40.0 };
        assert!(good.view([16, 16], 0.0).is_ok());
        assert!(Camera { up: DVec3::X, ..good }.view([16, 16], 0.0).is_ok());
        for bad in [
            Camera { from: DVec3::ZERO, ..good },
            Camera { at: DVec3::NAN, ..good },
            Camera { up: DVec3::ZERO, ..good },
            Camera { up: DVec3::INFINITY, ..good },
            Camera { field_of_view: 0.0, ..good },
            Camera { field_of_view: 180.0, ..good },
            Camera { field_of_view: f64::NAN, ..good },
        ] {
            assert!(bad.view([16, 16], 0.0).unwrap_err().to_string().contains("cannot see"));
        }
        assert!(Camera::framing([], DVec3::ZERO, DVec3::Z, 1.0).is_err());
        assert!(Camera::framing([], DVec3::X, DVec3::Z, 0.0).is_err());
    }

    #[test]
    fn strange_points_are_framed() {
        for points in [vec![], vec![DVec3::ONE], vec![DVec3::ZERO; 3], vec![DVec3::NAN, DVec3::X * 1e29]] {
            let camera = Camera::framing(points.clone(), DVec3::new(1.0, 1.0, 1.0), DVec3::Z, 1.0).unwrap();
            assert!(camera.view([16, 16], 0.0).is_ok(), "{points:?}");
        }
    }
}
