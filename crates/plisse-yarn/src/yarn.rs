//! Yarns: their material, and the nodes that they pass.

use std::fmt;

use crate::error::PatchError;

/// Warp or weft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// The yarns of one direction.
    Warp,
    /// The yarns that cross them.
    Weft,
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Warp => "warp",
            Self::Weft => "weft",
        })
    }
}

/// What a yarn is made of. Numbers are checked when a patch is built.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct YarnMaterial {
    /// Radius, m.
    pub radius: f64,
    /// Mass per length, kg/m.
    pub density: f64,
    /// Stretch stiffness, N: force per strain.
    pub stretch: f64,
    /// Bending stiffness `k` of `k θ²/L`, N m²: the flexural rigidity where crossings are evenly
    /// spaced, because the material `L` of a joint is that of two segments. Zero for none.
    pub bending: f64,
    /// Damping time `β` of stretching, s.
    pub stretch_damping: f64,
    /// Damping time `β` of bending, s.
    pub bending_damping: f64,
}

impl YarnMaterial {
    /// A cotton yarn of 0.2 mm radius (about 100 tex) with little damping.
    pub const COTTON: Self = Self {
        radius: 2e-4,
        density: 1e-4,
        stretch: 60.0,
        bending: 1e-9,
        stretch_damping: 1e-3,
        bending_damping: 1e-2,
    };

    pub(crate) fn check(&self, yarn: &str) -> Result<(), PatchError> {
        let positive = [
            ("the radius", self.radius),
            ("the density", self.density),
            ("the stretch stiffness", self.stretch),
        ];
        let others = [
            ("the bending stiffness", self.bending),
            ("the stretch damping", self.stretch_damping),
            ("the bending damping", self.bending_damping),
        ];
        let refused = |what, value, expected| {
            Err(PatchError::Material { yarn: yarn.to_owned(), what, value, expected })
        };
        if let Some((what, value)) = positive.into_iter().find(|(_, value)| !(RANGE.contains(value))) {
            return refused(what, value, "give a positive number in SI units, 1e-30 to 1e30");
        }
        match others.into_iter().find(|(_, value)| !(*value == 0.0 || RANGE.contains(value))) {
            Some((what, value)) => refused(what, value, "give zero or a positive number up to 1e30"),
            None => Ok(()),
        }
    }
}

/// What numbers of materials may be.
pub(crate) const RANGE: std::ops::RangeInclusive<f64> = 1e-30..=1e30;

/// What happens between yarns. Numbers are checked when a patch is built.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contacts {
    /// Stiffness against a change of the angle between warp and weft, N m for each crossing.
    pub shear: f64,
    /// Stiffness of yarns that are pushed against each other, N/m.
    pub jamming: f64,
    /// Coefficient of friction of sliding yarns.
    pub friction: f64,
    /// Stiffness of a contact that sticks, N/m.
    pub stick: f64,
    /// Force with which the weave presses two yarns together at rest, N.
    pub press: f64,
}

impl Contacts {
    /// Of the cotton yarn: friction of 0.3 under 1 mN.
    pub const COTTON: Self = Self { shear: 1e-6, jamming: 1e3, friction: 0.3, stick: 50.0, press: 1e-3 };

    /// The force with which straight yarns press on each other where a plain weave bends them
    /// around each other, N. Between two crossings a distance `spacing` apart a yarn of flexural
    /// rigidity `k` is a beam with level ends, a height `offset` apart (the sum of both radii); two
    /// such spans push with `24 k · offset / spacing³`.
    #[must_use]
    pub fn crimp_press(bending: f64, offset: f64, spacing: f64) -> f64 {
        24.0 * bending * offset / (spacing * spacing * spacing)
    }

    pub(crate) fn check(&self) -> Result<(), PatchError> {
        let numbers = [
            ("the shear stiffness", self.shear, true),
            ("the stiffness of jamming", self.jamming, false),
            ("the coefficient of friction", self.friction, true),
            ("the stiffness of sticking", self.stick, false),
            ("the pressing force", self.press, true),
        ];
        let is_wrong = |(_, value, may_vanish): &(&str, f64, bool)| {
            !(RANGE.contains(value) || (*may_vanish && *value == 0.0))
        };
        match numbers.into_iter().find(is_wrong) {
            None => Ok(()),
            Some((what, value, true)) => Err(PatchError::Contacts {
                what,
                value,
                expected: "give zero or a positive number up to 1e30",
            }),
            Some((what, value, false)) => {
                Err(PatchError::Contacts { what, value, expected: "give a positive number, 1e-30 to 1e30" })
            }
        }
    }
}

/// A yarn through nodes of a patch.
#[derive(Clone, Debug, PartialEq)]
pub struct Yarn {
    /// Warp or weft.
    pub family: Family,
    /// Its number within the family; names in messages have it.
    pub number: usize,
    /// What it is made of.
    pub material: YarnMaterial,
    /// The nodes that it passes, in order.
    pub nodes: Vec<u32>,
    /// How much material lies before each of them, m; increasing.
    pub lengths: Vec<f64>,
}

impl Yarn {
    /// Its name in messages: `warp 3`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{} {}", self.family, self.number)
    }
}
