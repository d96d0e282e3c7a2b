//! Coefficients of friction of single pairs of bodies.

use std::collections::BTreeMap;

use super::SceneError;

/// Two names and their coefficient, as somebody gave them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PairFriction {
    pub(super) names: [String; 2],
    pub(super) coefficient: f64,
}

/// What names of pairs can mean. Bodies are numbered from zero, obstacles after them.
pub(super) struct Named {
    /// Names of the bodies, and whether each touches itself.
    pub(super) bodies: Vec<(String, bool)>,
    /// Names of the obstacles.
    pub(super) obstacles: Vec<String>,
}

/// Coefficients by the numbers of two bodies, the smaller first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PairFrictions(BTreeMap<[usize; 2], f64>);

impl PairFrictions {
    /// The table of these pairs, and what is wrong with some, by their places in the list.
    pub(super) fn new(pairs: &[PairFriction], named: &Named) -> (Self, Vec<(usize, SceneError)>) {
        let (mut table, mut wrong) = (Self::default(), Vec::new());
        for (index, pair) in pairs.iter().enumerate() {
            if let Err(reason) = table.add(pair, named) {
                wrong.push((index, SceneError::FrictionBetween { names: pair.names.clone(), reason }));
            }
        }
        (table, wrong)
    }

    fn add(&mut self, pair: &PairFriction, named: &Named) -> Result<(), String> {
        let PairFriction { names, coefficient } = pair;
        if !(*coefficient >= 0.0 && coefficient.is_finite()) {
            return Err(format!("the coefficient is {coefficient}; give zero or a positive number"));
        }
        let [a, b] = [named.number(&names[0])?, named.number(&names[1])?];
        let key = [a.min(b), a.max(b)];
        match named.bodies.get(key[0]) {
            None => return Err("obstacles do not touch each other; name a cloth or wires".to_owned()),
            Some((_, false)) if a == b => {
                return Err(
                    "it does not touch itself (self_contact = false), so that nothing rubs".to_owned()
                );
            }
            Some(_) => {}
        }
        match self.0.insert(key, *coefficient) {
            None => Ok(()),
            Some(_) => Err("this pair is given twice".to_owned()),
        }
    }

    /// The coefficient of two bodies; none where their own coefficients count.
    pub(super) fn between(&self, a: usize, b: usize) -> Option<f64> {
        self.0.get(&[a.min(b), a.max(b)]).copied()
    }

    /// All pairs, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = ([usize; 2], f64)> + '_ {
        self.0.iter().map(|(pair, coefficient)| (*pair, *coefficient))
    }
}

impl Named {
    fn number(&self, name: &str) -> Result<usize, String> {
        let mut all = self.bodies.iter().map(|(name, _)| name).chain(&self.obstacles);
        all.position(|known| known == name).ok_or_else(|| {
            let known = self.bodies.iter().map(|(name, _)| name).chain(&self.obstacles);
            let known: Vec<String> = known.map(|name| format!("\"{name}\"")).collect();
            format!("there is no \"{name}\"; there are {}", known.join(", "))
        })
    }
}
