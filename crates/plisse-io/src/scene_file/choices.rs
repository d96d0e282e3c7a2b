//! Values of scene files that may be written in more than one way.

use plisse_core::Positive;
use toml::de::DeValue;

use super::canonical::Canonical;
use super::mistakes::Collector;
use super::read::{Item, Read, list, number, refuse};

/// Whether vertices of a file that are in the same place are merged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WeldChoice {
    /// Those at most a millionth of the size of the mesh apart.
    Same,
    /// Those at most this far apart, m.
    Within(Positive),
    /// None: they stay apart, also where edges lie on each other.
    Apart,
}

const WELD: &str = "true, false, or a distance in metres";

impl Read for WeldChoice {
    fn expected() -> String {
        WELD.to_owned()
    }
    fn read(item: &Item<'_>, mistakes: &mut Collector) -> Option<Self> {
        let choice = match item.get_ref() {
            DeValue::Boolean(true) => Some(Self::Same),
            DeValue::Boolean(false) => Some(Self::Apart),
            _ => number(item).and_then(|metres| Positive::new(metres).ok()).map(Self::Within),
        };
        if choice.is_none() {
            refuse(item, WELD, mistakes);
        }
        choice
    }
}

impl Canonical for WeldChoice {
    fn add_canonical(&self, out: &mut String) {
        match self {
            Self::Same => out.push_str("same"),
            Self::Within(metres) => metres.add_canonical(out),
            Self::Apart => out.push_str("apart"),
        }
    }
}

/// What texture coordinates are multiplied by to be metres of the flat cloth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UvScaleChoice {
    /// This factor.
    Factor(Positive),
    /// The factor that makes the area at rest that of the mesh.
    Area,
}

const UV_SCALE: &str = "a positive number, or \"area\"";

impl Read for UvScaleChoice {
    fn expected() -> String {
        UV_SCALE.to_owned()
    }
    fn read(item: &Item<'_>, mistakes: &mut Collector) -> Option<Self> {
        let choice = match item.get_ref().as_str() {
            Some("area") => Some(Self::Area),
            Some(_) => None,
            None => number(item).and_then(|factor| Positive::new(factor).ok()).map(Self::Factor),
        };
        if choice.is_none() {
            refuse(item, UV_SCALE, mistakes);
        }
        choice
    }
}

impl Canonical for UvScaleChoice {
    fn add_canonical(&self, out: &mut String) {
        match self {
            Self::Factor(factor) => factor.add_canonical(out),
            Self::Area => out.push_str("area"),
        }
    }
}

/// How a direction of a cloth gives way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ComplianceChoice {
    /// With this compliance, m/N; zero is inextensible.
    Number(f64),
    /// As its material does.
    Material,
}

const COMPLIANCE: &str = "zero, a positive number, or \"material\"";

impl Read for ComplianceChoice {
    fn expected() -> String {
        COMPLIANCE.to_owned()
    }
    fn read(item: &Item<'_>, mistakes: &mut Collector) -> Option<Self> {
        let choice = match item.get_ref().as_str() {
            Some("material") => Some(Self::Material),
            Some(_) => None,
            None => number(item).filter(|number| *number >= 0.0 && number.is_finite()).map(Self::Number),
        };
        if choice.is_none() {
            refuse(item, COMPLIANCE, mistakes);
        }
        choice
    }
}

impl Canonical for ComplianceChoice {
    fn add_canonical(&self, out: &mut String) {
        match self {
            Self::Number(number) => number.add_canonical(out),
            Self::Material => out.push_str("material"),
        }
    }
}

/// One value for every direction, or one along the warp and one along the weft.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarpWeft {
    /// Along the warp.
    pub warp: Positive,
    /// Along the weft.
    pub weft: Positive,
}

impl Canonical for WarpWeft {
    fn add_canonical(&self, out: &mut String) {
        [self.warp, self.weft].add_canonical(out);
    }
}

const WARP_WEFT: &str = "a positive number, or two: [warp, weft]";

impl Read for WarpWeft {
    fn expected() -> String {
        WARP_WEFT.to_owned()
    }
    fn read(item: &Item<'_>, mistakes: &mut Collector) -> Option<Self> {
        if item.get_ref().as_array().is_some() {
            return list(item, WARP_WEFT, mistakes).map(|[warp, weft]| Self { warp, weft });
        }
        let value = number(item).and_then(|value| Positive::new(value).ok());
        if value.is_none() {
            refuse(item, WARP_WEFT, mistakes);
        }
        value.map(|value| Self { warp: value, weft: value })
    }
}
