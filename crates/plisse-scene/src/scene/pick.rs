//! Choosing vertices of a body.

use std::collections::BTreeMap;

use glam::DVec3;
use plisse_core::{Field, Id, Vertices};

use super::SceneError;

/// Named sets of vertices.
pub(super) type Groups = BTreeMap<String, Vec<Id<Vertices>>>;

/// Which vertices of a body.
///
/// ```
/// use plisse_scene::scene::Pick;
/// let corners = Pick::group("corners");
/// let first_two = Pick::vertices([0, 1]);
/// let left = Pick::within([-1.0, -1.0, -1.0], [0.0, 1.0, 1.0]);
/// assert_ne!(corners, first_two);
/// # let _ = left;
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Pick {
    /// Every vertex.
    All,
    /// Vertices by their numbers within the body, from zero.
    Vertices(Vec<u32>),
    /// All vertices that are placed inside a box with these corners, its faces included.
    Box {
        /// Smallest coordinates.
        min: DVec3,
        /// Largest coordinates.
        max: DVec3,
    },
    /// A named group: from the mesh file, or one of those a shape comes with.
    Group(String),
}

impl Pick {
    /// Vertices by number.
    #[must_use]
    pub fn vertices(indices: impl IntoIterator<Item = u32>) -> Self {
        Self::Vertices(indices.into_iter().collect())
    }

    /// Vertices in a box.
    #[must_use]
    pub fn within(min: [f64; 3], max: [f64; 3]) -> Self {
        Self::Box { min: min.into(), max: max.into() }
    }

    /// A named group.
    #[must_use]
    pub fn group(name: impl Into<String>) -> Self {
        Self::Group(name.into())
    }

    /// The vertices, or why there are none.
    pub(super) fn resolve(
        &self,
        body: &str,
        x: &Field<Vertices, DVec3>,
        groups: &Groups,
    ) -> Result<Vec<Id<Vertices>>, SceneError> {
        let wrong = |reason: String| SceneError::Pick { body: body.to_owned(), reason };
        let picked: Vec<Id<Vertices>> = match self {
            Self::All => x.ids().collect(),
            Self::Vertices(indices) => {
                if let Some(index) = indices.iter().find(|i| **i as usize >= x.len()) {
                    let last = x.len().saturating_sub(1);
                    return Err(wrong(format!("there is no vertex {index}; the last one is {last}")));
                }
                indices.iter().map(|i| Id::new(*i)).collect()
            }
            Self::Box { min, max } => {
                let inside = |x: &DVec3| x.cmpge(*min).all() && x.cmple(*max).all();
                x.iter().filter(|(_, x)| inside(x)).map(|(v, _)| v).collect()
            }
            Self::Group(name) => groups.get(name).cloned().ok_or_else(|| {
                let known: Vec<&str> = groups.keys().map(String::as_str).collect();
                let known = if known.is_empty() { "it has none".to_owned() } else { known.join(", ") };
                wrong(format!("there is no group \"{name}\"; known groups: {known}"))
            })?,
        };
        if picked.is_empty() {
            let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
            for x in x.as_slice() {
                (low, high) = (low.min(*x), high.max(*x));
            }
            return Err(wrong(format!(
                "nothing was picked; the body reaches from {:?} to {:?}",
                low.to_array(),
                high.to_array()
            )));
        }
        Ok(picked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_say_what_there_is() {
        let x = Field::from_vec(vec![DVec3::ZERO, DVec3::X]);
        let mut groups = Groups::new();
        groups.insert("left".into(), vec![Id::new(0)]);
        let message = |pick: Pick| pick.resolve("flag", &x, &groups).unwrap_err().to_string();
        assert_eq!(message(Pick::vertices([2])), "flag: there is no vertex 2; the last one is 1");
        assert_eq!(message(Pick::group("lef")), "flag: there is no group \"lef\"; known groups: left");
        assert!(
            message(Pick::within([2.0; 3], [3.0; 3])).contains("from [0.0, 0.0, 0.0] to [1.0, 0.0, 0.0]")
        );
        let inside = Pick::within([0.5, -1.0, -1.0], [1.0, 1.0, 1.0]).resolve("flag", &x, &groups).unwrap();
        assert_eq!(inside, [Id::new(1)]);
    }
}
