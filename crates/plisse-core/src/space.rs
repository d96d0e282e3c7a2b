//! Typed indices and per-element storage: a value per vertex cannot be read with the index of a
//! face.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use thiserror::Error;

/// A kind of mesh element that values can live on.
pub trait Space: Copy + Send + Sync + 'static {
    /// Singular name for messages, "vertex" for instance.
    const NAME: &'static str;
}

/// Values per vertex: positions, velocities, masses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vertices {}
/// Values per edge: mid-edge positions of nonconforming elements, one-forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edges {}
/// Values per face: strains, stresses, rest maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Faces {}

impl Space for Vertices {
    const NAME: &'static str = "vertex";
}
impl Space for Edges {
    const NAME: &'static str = "edge";
}
impl Space for Faces {
    const NAME: &'static str = "face";
}

/// Index of an element of the space `S`.
pub struct Id<S>(u32, PhantomData<S>);

impl<S: Space> Id<S> {
    /// The id with this index.
    #[inline]
    #[must_use]
    pub const fn new(index: u32) -> Self {
        Self(index, PhantomData)
    }

    /// The index as it is stored.
    #[inline]
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The index, to look into plain arrays.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

// Written by hand: derived impls would demand the same of `S`.
impl<S> Clone for Id<S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S> Copy for Id<S> {}
impl<S> PartialEq for Id<S> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<S> Eq for Id<S> {}
impl<S> PartialOrd for Id<S> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<S> Ord for Id<S> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}
impl<S> Hash for Id<S> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}
impl<S: Space> fmt::Debug for Id<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", S::NAME, self.0)
    }
}
impl<S: Space> fmt::Display for Id<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A field whose length does not fit the mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected one value per {space}, that is {expected}, got {found}")]
pub struct FieldError {
    /// What the values belong to.
    pub space: &'static str,
    /// How many the mesh has.
    pub expected: usize,
    /// How many there were.
    pub found: usize,
}

/// One value of type `T` per element of the space `S`.
///
/// ```
/// use plisse_core::{Field, Id, Vertices};
/// let mass: Field<Vertices, f64> = Field::from_vec(vec![0.1, 0.2, 0.1]);
/// assert_eq!(mass[Id::new(1)], 0.2);
/// assert_eq!(mass.ids().last().unwrap().to_string(), "vertex 2");
/// ```
///
/// ```compile_fail
/// use plisse_core::{Faces, Field, Id, Vertices};
/// let mass: Field<Vertices, f64> = Field::from_vec(vec![0.1, 0.2, 0.1]);
/// let face: Id<Faces> = Id::new(1);
/// mass[face]; // a face is not a vertex
/// ```
pub struct Field<S, T> {
    values: Vec<T>,
    space: PhantomData<S>,
}

impl<S: Space, T> Field<S, T> {
    /// Takes the values in the order of the ids.
    ///
    /// # Panics
    /// If there are `2³²` values or more: ids are 32 bits wide.
    #[must_use]
    pub fn from_vec(values: Vec<T>) -> Self {
        assert!(u32::try_from(values.len()).is_ok(), "a field holds fewer than 2^32 values");
        Self { values, space: PhantomData }
    }

    /// One value per id, computed from the id.
    #[must_use]
    pub fn from_fn(len: usize, mut value: impl FnMut(Id<S>) -> T) -> Self {
        Self::from_vec((0..len).map(|i| value(Id::new(i as u32))).collect())
    }

    /// The same value for every id.
    #[must_use]
    pub fn filled(len: usize, value: T) -> Self
    where
        T: Clone,
    {
        Self::from_vec(vec![value; len])
    }

    /// How many values.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is no value at all.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The values in the order of the ids.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        &self.values
    }

    /// The values in the order of the ids, to change.
    #[inline]
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// Gives the values back.
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        self.values
    }

    /// Every id, ascending.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = Id<S>> + use<S, T> {
        (0..self.values.len() as u32).map(Id::new)
    }

    /// Every id with its value, ascending.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Id<S>, &T)> {
        self.values.iter().enumerate().map(|(i, value)| (Id::new(i as u32), value))
    }

    /// A field of the same length, value by value.
    #[must_use]
    pub fn map<U>(&self, value: impl FnMut(&T) -> U) -> Field<S, U> {
        Field { values: self.values.iter().map(value).collect(), space: PhantomData }
    }

    /// Checks the length against what the mesh needs.
    ///
    /// # Errors
    /// [`FieldError`] with both lengths.
    pub fn check_len(&self, expected: usize) -> Result<(), FieldError> {
        if self.len() == expected {
            Ok(())
        } else {
            Err(FieldError { space: S::NAME, expected, found: self.len() })
        }
    }
}

impl<S, T: Clone> Clone for Field<S, T> {
    fn clone(&self) -> Self {
        Self { values: self.values.clone(), space: PhantomData }
    }
}
impl<S, T: PartialEq> PartialEq for Field<S, T> {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}
impl<S: Space, T: fmt::Debug> fmt::Debug for Field<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "per {} ", S::NAME)?;
        f.debug_list().entries(&self.values).finish()
    }
}
impl<S: Space, T> Index<Id<S>> for Field<S, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: Id<S>) -> &T {
        &self.values[id.index()]
    }
}
impl<S: Space, T> IndexMut<Id<S>> for Field<S, T> {
    #[inline]
    fn index_mut(&mut self, id: Id<S>) -> &mut T {
        &mut self.values[id.index()]
    }
}
