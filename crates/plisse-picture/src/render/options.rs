//! Size, quality and surroundings of a picture.

use glam::DVec3;
use thiserror::Error;

use super::colour::Rgb;
use super::drawing::drawable;

/// Why no picture was drawn.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum RenderError {
    /// A width or height that is too small or too large.
    #[error("a picture of {width} x {height} pixels: each side must be between {} and {}", LEAST, MOST)]
    Size {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
    },
    /// Too few or too many samples.
    #[error("{0} samples along each side of a pixel: it must be 1 to 8")]
    Samples(u32),
    /// A camera that sees nothing.
    #[error("the camera cannot see: {0}")]
    Camera(String),
    /// A ground without a direction.
    #[error("the ground with up = {up} and height {height} m is no plane: both must be finite, up not zero")]
    Ground {
        /// Direction away from the ground.
        up: DVec3,
        /// Height in metres.
        height: f64,
    },
    /// A light without a direction.
    #[error("the direction {0} to the light must be finite and not zero")]
    Light(DVec3),
}

/// Shortest and longest side of a picture, in pixels.
const LEAST: u32 = 16;
const MOST: u32 = 8192;

/// A plane that receives shadows and hides what is below. It has the colour of the background.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ground {
    /// Direction away from the ground, of any length.
    pub up: DVec3,
    /// Distance of the plane from the origin along `up`, in metres.
    pub height: f64,
}

/// A vertical gradient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Background {
    /// Colour of the upper edge of the picture.
    pub top: Rgb,
    /// Colour of the lower edge.
    pub bottom: Rgb,
}

impl Default for Background {
    fn default() -> Self {
        Self { top: [226, 230, 235], bottom: [246, 246, 245] }
    }
}

/// Size, quality and surroundings of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RenderOptions {
    /// Width and height in pixels, 16 to 8192 each.
    pub size: [u32; 2],
    /// Samples along each side of a pixel, 1 to 8; their square decides how smooth edges are.
    pub samples: u32,
    /// A ground that receives shadows.
    pub ground: Option<Ground>,
    /// Colours behind everything.
    pub background: Background,
    /// Direction towards the light, of any length. Without one it comes over the left shoulder of
    /// the camera.
    pub light: Option<DVec3>,
    /// Less light in folds and under things. Without it a picture is drawn somewhat faster.
    pub occlusion: bool,
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self {
            size: [1280, 960],
            samples: 3,
            ground: None,
            background: Background::default(),
            light: None,
            occlusion: true,
        }
    }
}

impl RenderOptions {
    /// Width divided by height.
    #[must_use]
    pub fn aspect(&self) -> f64 {
        f64::from(self.size[0]) / f64::from(self.size[1].max(1))
    }

    pub(super) fn check(&self) -> Result<(), RenderError> {
        let [width, height] = self.size;
        let fits = |side| (LEAST..=MOST).contains(&side);
        if !fits(width) || !fits(height) {
            return Err(RenderError::Size { width, height });
        }
        if !(1..=8).contains(&self.samples) {
            return Err(RenderError::Samples(self.samples));
        }
        if let Some(Ground { up, height }) = self.ground
            && !(drawable(up) && up.try_normalize().is_some() && drawable(DVec3::splat(height)))
        {
            return Err(RenderError::Ground { up, height });
        }
        match self.light {
            Some(light) if !drawable(light) || light.try_normalize().is_none() => {
                Err(RenderError::Light(light))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_options_are_named() {
        let good = RenderOptions::default();
        assert!(good.check().is_ok());
        for size in [[15, 100], [100, 8193], [0, 0]] {
            let message = RenderOptions { size, ..good }.check().unwrap_err().to_string();
            assert!(message.contains("between 16 and 8192"), "{message}");
        }
        assert_eq!(RenderOptions { samples: 0, ..good }.check(), Err(RenderError::Samples(0)));
        for (up, height) in [(DVec3::ZERO, 0.0), (DVec3::NAN, 0.0), (DVec3::Z, f64::INFINITY)] {
            assert!(RenderOptions { ground: Some(Ground { up, height }), ..good }.check().is_err());
        }
        assert!(RenderOptions { light: Some(DVec3::ZERO), ..good }.check().is_err());
    }
}
