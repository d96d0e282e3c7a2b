//! One case of the input, with accessors whose errors name the case and the field.

use anyhow::{Context, Result, anyhow, ensure};
use plisse::core::{Positive, UnitDir2};
use serde_json::{Map, Value};

/// A case: the JSON object and how to speak of it.
pub(crate) struct Case<'a> {
    object: &'a Map<String, Value>,
    params: Option<&'a Map<String, Value>>,
    label: String,
}

impl<'a> Case<'a> {
    pub(crate) fn new(index: usize, value: &'a Value) -> Result<Self> {
        let object = value.as_object().with_context(|| format!("case {index}: must be an object"))?;
        let label = match object.get("name").and_then(Value::as_str) {
            Some(name) => format!("case {index} ({name})"),
            None => format!("case {index}"),
        };
        let params = match object.get("params") {
            None => None,
            Some(value) => {
                Some(value.as_object().with_context(|| format!("{label}, field params: must be an object"))?)
            }
        };
        Ok(Self { object, params, label })
    }

    pub(crate) fn object(&self) -> &'a Map<String, Value> {
        self.object
    }

    pub(crate) fn field(&self, key: &str) -> Option<&'a Value> {
        self.object.get(key)
    }

    /// An error about a field of this case, in one line.
    pub(crate) fn error(&self, field: &str, what: impl std::fmt::Display) -> anyhow::Error {
        anyhow!("{}, field {field}: {what}", self.label)
    }

    pub(crate) fn tag(&self) -> Result<&'a str> {
        let tag = self.field("energy").ok_or_else(|| self.error("energy", "is missing"))?;
        tag.as_str().ok_or_else(|| self.error("energy", format!("{tag} is not a string")))
    }

    /// The state, `N` finite numbers.
    pub(crate) fn x<const N: usize>(&self) -> Result<[f64; N]> {
        let value = self.field("x").ok_or_else(|| self.error("x", "is missing"))?;
        self.numbers("x", value)
    }

    /// The factor on the energy, one if absent.
    pub(crate) fn scale(&self) -> Result<Positive> {
        match self.field("scale") {
            None => Ok(Positive::ONE),
            Some(value) => self.positive_value("scale", value),
        }
    }

    /// Refuses parameters that the energy does not have.
    pub(crate) fn expect_params(&self, known: &[&str]) -> Result<()> {
        for key in self.params.into_iter().flat_map(Map::keys) {
            if !known.contains(&key.as_str()) {
                let list = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(self.error(&format!("params.{key}"), format!("unknown; this energy has {list}")));
            }
        }
        Ok(())
    }

    fn param(&self, key: &str) -> Result<(String, &'a Value)> {
        let field = format!("params.{key}");
        let value = self.params.and_then(|params| params.get(key));
        let value = value.ok_or_else(|| self.error(&field, "is missing"))?;
        Ok((field, value))
    }

    pub(crate) fn number(&self, key: &str) -> Result<f64> {
        let (field, value) = self.param(key)?;
        self.number_value(&field, value)
    }

    pub(crate) fn optional_number(&self, key: &str) -> Result<()> {
        if self.params.is_some_and(|params| params.contains_key(key)) {
            self.number(key).map(|_| ())
        } else {
            Ok(())
        }
    }

    pub(crate) fn positive(&self, key: &str) -> Result<Positive> {
        let (field, value) = self.param(key)?;
        self.positive_value(&field, value)
    }

    /// A stiffness; zero means that the term is absent.
    pub(crate) fn stiffness(&self, key: &str) -> Result<Option<Positive>> {
        if self.number(key)? == 0.0 { Ok(None) } else { self.positive(key).map(Some) }
    }

    /// A unit vector; one that is not is refused rather than normalised, because the energy would
    /// differ.
    pub(crate) fn direction(&self, key: &str) -> Result<UnitDir2> {
        let (field, value) = self.param(key)?;
        let [x, y] = self.numbers(&field, value)?;
        let length = x.hypot(y);
        if (length - 1.0).abs() > 1e-8 {
            return Err(self.error(&field, format!("({x}, {y}) has length {length}; give a unit vector")));
        }
        UnitDir2::new(x, y).map_err(|e| self.error(&field, e))
    }

    /// Three points in material space.
    pub(crate) fn triangle(&self, key: &str) -> Result<[[f64; 2]; 3]> {
        let (field, value) = self.param(key)?;
        let points = value.as_array().filter(|points| points.len() == 3);
        let points = points.ok_or_else(|| self.error(&field, "must be three pairs of numbers"))?;
        let point = |i: usize| self.numbers(&format!("{field}[{i}]"), &points[i]);
        Ok([point(0)?, point(1)?, point(2)?])
    }

    fn positive_value(&self, field: &str, value: &Value) -> Result<Positive> {
        Positive::new(self.number_value(field, value)?).map_err(|e| self.error(field, e))
    }

    fn number_value(&self, field: &str, value: &Value) -> Result<f64> {
        value.as_f64().ok_or_else(|| self.error(field, format!("{value} is not a number")))
    }

    fn numbers<const N: usize>(&self, field: &str, value: &Value) -> Result<[f64; N]> {
        let list =
            value.as_array().ok_or_else(|| self.error(field, format!("must be an array of {N} numbers")))?;
        ensure!(list.len() == N, self.error(field, format!("has {} numbers, {N} are needed", list.len())));
        let mut out = [0.0; N];
        for (i, (slot, value)) in out.iter_mut().zip(list).enumerate() {
            *slot = self.number_value(&format!("{field}[{i}]"), value)?;
        }
        Ok(out)
    }
}
