//! Numbers, vectors and texts of scene files, with the ranges that are accepted.

use glam::{DVec2, DVec3};
use plisse_core::range::PARAMETER;
use plisse_core::{PoissonRatio, Positive, UnitDir2};
use toml::de::DeValue;

use super::mistakes::Collector;
use super::read::{Item, Read, list, number, refuse};

/// Reads a number in a range.
fn in_range<T>(
    item: &Item<'_>,
    expected: &str,
    mistakes: &mut Collector,
    make: impl FnOnce(f64) -> Option<T>,
) -> Option<T> {
    let value = number(item).and_then(make);
    if value.is_none() {
        refuse(item, expected, mistakes);
    }
    value
}

macro_rules! value {
    ($T:ty, $expected:literal, |$item:ident, $mistakes:ident| $body:expr) => {
        impl Read for $T {
            fn expected() -> String {
                $expected.to_owned()
            }
            fn read($item: &Item<'_>, $mistakes: &mut Collector) -> Option<Self> {
                $body
            }
        }
    };
}

/// A number that is zero or positive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NonNegative(pub f64);

/// A number from zero to one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fraction(pub f64);

/// The power of the strain rate with which dissipation grows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateExponent(pub f64);

/// The largest length of a cloth, as a multiple of that at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LargestStretch(pub f64);

/// A whole number from one to ten million.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count(pub usize);

/// A whole number of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pixels(pub u32);

/// An opening angle in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViewAngle(pub f64);

/// A vector that is not zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Direction(pub DVec3);

/// The version of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version(pub u32);

value!(f64, "a finite number", |item, m| in_range(item, "a finite number", m, |x| x
    .is_finite()
    .then_some(x)));
value!(Positive, "a positive number", |item, m| {
    // Who gives a number that is positive must be told why it is refused.
    let small_or_large = number(item).is_some_and(|x| x > 0.0);
    let expected = if small_or_large { "a number from 1e-60 to 1e60" } else { "a positive number" };
    in_range(item, expected, m, |x| Self::new(x).ok())
});
value!(NonNegative, "zero or a positive number", |item, m| {
    let large = number(item).is_some_and(|x| x > 0.0);
    let expected = if large { "a number up to 1e60" } else { "zero or a positive number" };
    in_range(item, expected, m, |x| (0.0..=*PARAMETER.end()).contains(&x).then_some(Self(x)))
});
value!(Fraction, "a number from 0 to 1", |item, m| {
    in_range(item, "a number from 0 to 1", m, |x| (0.0..=1.0).contains(&x).then_some(Self(x)))
});
value!(RateExponent, "a number from 1 to 4", |item, m| {
    in_range(item, "a number from 1 to 4", m, |x| (1.0..=4.0).contains(&x).then_some(Self(x)))
});
value!(LargestStretch, "a number from 1.0001 to 100, such as 1.05", |item, m| {
    in_range(item, "a number from 1.0001 to 100, such as 1.05", m, |x| {
        (1.0001..=100.0).contains(&x).then_some(Self(x))
    })
});
value!(PoissonRatio, "a number between -1 and 1", |item, m| {
    in_range(item, "a number between -1 and 1", m, |x| Self::new(x).ok())
});
value!(ViewAngle, "an angle from 1 to 170 degrees", |item, m| {
    in_range(item, "an angle from 1 to 170 degrees", m, |x| (1.0..=170.0).contains(&x).then_some(Self(x)))
});
value!(Count, "a whole number from 1 to 10000000", |item, m| {
    whole(item, 1, 10_000_000, "a whole number from 1 to 10000000", m).map(|n| Self(n as usize))
});
value!(Pixels, "a whole number from 16 to 8192", |item, m| {
    whole(item, 16, 8192, "a whole number from 16 to 8192", m).map(|n| Self(n as u32))
});
value!(u32, "a whole number, zero or more", |item, m| {
    whole(item, 0, u32::MAX.into(), "a whole number, zero or more", m).map(|n| n as Self)
});
value!(Version, "1, the version of the format", |item, m| {
    // Noted; the rest is read all the same.
    whole(item, 1, 1, "1, the version of the format that this program reads", m);
    Some(Self(1))
});
value!(bool, "true or false", |item, m| {
    let value = item.get_ref().as_bool();
    if value.is_none() {
        refuse(item, "true or false", m);
    }
    value
});
value!(String, "a text", |item, m| {
    let text = item.get_ref().as_str().filter(|text| !text.trim().is_empty());
    if text.is_none() {
        refuse(item, "a text", m);
    }
    text.map(str::to_owned)
});
value!(DVec3, "three finite numbers", |item, m| list::<f64, 3>(item, "a list of three finite numbers", m)
    .map(DVec3::from));
value!(DVec2, "two finite numbers", |item, m| list::<f64, 2>(item, "a list of two finite numbers", m)
    .map(DVec2::from));
value!(Direction, "three finite numbers, not all zero", |item, m| {
    let v = DVec3::read(item, m)?;
    if v == DVec3::ZERO {
        refuse(item, "a direction: three finite numbers, not all zero", m);
        return None;
    }
    Some(Self(v))
});
value!([Positive; 2], "two positive numbers", |item, m| list(item, "a list of two positive numbers", m));
value!([Positive; 3], "three positive numbers", |item, m| list(item, "a list of three positive numbers", m));
value!([NonNegative; 2], "two numbers, zero or positive", |item, m| {
    list(item, "a list of two numbers, zero or positive", m)
});
value!([u32; 2], "two whole numbers, zero or more", |item, m| {
    list(item, "a list of two whole numbers, zero or more", m)
});
value!([f64; 2], "two finite numbers", |item, m| list(item, "a list of two finite numbers", m));
value!([Count; 2], "two whole numbers of at least 1", |item, m| {
    list(item, "a list of two whole numbers of at least 1", m)
});
value!([Pixels; 2], "two whole numbers from 16 to 8192", |item, m| {
    list(item, "a list of two whole numbers from 16 to 8192", m)
});
value!([String; 2], "two names", |item, m| list(item, "a list of two names", m));
value!([UnitDir2; 2], "two directions of two numbers each, none zero", |item, m| {
    list(item, "a list of two directions", m)
});
value!([Fraction; 3], "three numbers from 0 to 1: red, green, blue", |item, m| {
    list(item, "a list of three numbers from 0 to 1", m)
});
value!(UnitDir2, "a direction of two numbers, not both zero", |item, m| {
    let v = DVec2::read(item, m)?;
    let unit = UnitDir2::new(v.x, v.y).ok();
    if unit.is_none() {
        refuse(item, "a direction of two numbers, not both zero", m);
    }
    unit
});

fn whole(item: &Item<'_>, low: i64, high: i64, expected: &str, mistakes: &mut Collector) -> Option<i64> {
    let value = match item.get_ref() {
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok(),
        _ => None,
    };
    let value = value.filter(|n| (low..=high).contains(n));
    if value.is_none() {
        refuse(item, expected, mistakes);
    }
    value
}
