//! Which yarn lies on top at each crossing.

use crate::error::PatchError;

/// A pattern of floats that repeats: at crossing `(i, j)` of warp yarn `i` and weft yarn `j` the
/// warp lies over the weft, or under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weave {
    /// Rows are weft yarns, columns are warp yarns.
    over: Vec<Vec<bool>>,
}

impl Weave {
    /// Plain weave: over one, under one.
    #[must_use]
    pub fn plain() -> Self {
        Self { over: vec![vec![true, false], vec![false, true]] }
    }

    /// Twill: over `over`, under `under`, one step to the side in each row.
    ///
    /// # Errors
    /// If one of the two is zero, or both together are more than 64.
    pub fn twill(over: usize, under: usize) -> Result<Self, PatchError> {
        let size = over + under;
        if over == 0 || under == 0 || size > LARGEST {
            return Err(PatchError::Twill { over, under });
        }
        let row = |j: usize| (0..size).map(|i| (i + size - j % size) % size < over).collect();
        Ok(Self { over: (0..size).map(row).collect() })
    }

    /// Satin of `size` yarns: each warp lies under one weft and over all others of the repeat; from
    /// one weft yarn to the next, that place moves by `step`.
    ///
    /// # Errors
    /// If `size` is below 5 or above 64, or if `step` is not between 2 and `size - 2` or has a
    /// divisor in common with `size`: such a pattern is no satin.
    pub fn satin(size: usize, step: usize) -> Result<Self, PatchError> {
        let is_satin = (5..=LARGEST).contains(&size) && step >= 2 && step + 2 <= size && gcd(size, step) == 1;
        if !is_satin {
            return Err(PatchError::Satin { size, step });
        }
        let row = |j: usize| (0..size).map(|i| i != (j * step) % size).collect();
        Ok(Self { over: (0..size).map(row).collect() })
    }

    /// Any pattern: `rows[j][i]` says whether warp `i` lies over weft `j`. It repeats in both
    /// directions.
    ///
    /// # Errors
    /// If there is no entry, if rows have different lengths, or if a yarn of the repeat stays on
    /// one side, so that nothing holds it in the cloth.
    pub fn matrix(rows: Vec<Vec<bool>>) -> Result<Self, PatchError> {
        let width = rows.first().map_or(0, Vec::len);
        if width == 0 {
            return Err(PatchError::EmptyWeave);
        }
        if let Some((row, found)) = rows.iter().map(Vec::len).enumerate().find(|(_, found)| *found != width) {
            return Err(PatchError::RaggedWeave { row, expected: width, found });
        }
        let same = |mut side: Box<dyn Iterator<Item = bool> + '_>| {
            side.next().is_none_or(|first| side.all(|other| other == first))
        };
        if let Some(j) = (0..rows.len()).find(|&j| same(Box::new(rows[j].iter().copied()))) {
            return Err(PatchError::LooseYarn { yarn: format!("weft {j}") });
        }
        if let Some(i) = (0..width).find(|&i| same(Box::new(rows.iter().map(move |row| row[i])))) {
            return Err(PatchError::LooseYarn { yarn: format!("warp {i}") });
        }
        Ok(Self { over: rows })
    }

    /// Whether warp yarn `i` lies over weft yarn `j`.
    #[must_use]
    pub fn warp_is_over(&self, i: usize, j: usize) -> bool {
        let row = &self.over[j % self.over.len()];
        row[i % row.len()]
    }
}

/// The largest repeat of a named weave.
const LARGEST: usize = 64;

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_weave_alternates() {
        let weave = Weave::plain();
        for (i, j) in [(0, 0), (1, 0), (0, 1), (7, 4), (10, 3)] {
            assert_eq!(weave.warp_is_over(i, j), (i + j) % 2 == 0, "({i}, {j})");
        }
    }

    #[test]
    fn twill_moves_by_one_and_keeps_its_floats() {
        let weave = Weave::twill(2, 1).unwrap();
        for j in 0..6 {
            let over = (0..9).filter(|&i| weave.warp_is_over(i, j)).count();
            assert_eq!(over, 6);
            for i in 0..9 {
                assert_eq!(weave.warp_is_over(i, j), weave.warp_is_over(i + 1, j + 1));
            }
        }
        assert!(Weave::twill(0, 2).is_err() && Weave::twill(2, 0).is_err() && Weave::twill(40, 40).is_err());
    }

    #[test]
    fn each_yarn_of_a_satin_is_bound_once_in_a_repeat() {
        let weave = Weave::satin(5, 2).unwrap();
        for k in 0..5 {
            assert_eq!((0..5).filter(|&i| !weave.warp_is_over(i, k)).count(), 1);
            assert_eq!((0..5).filter(|&j| !weave.warp_is_over(k, j)).count(), 1);
        }
        // Neighbours are never bound in neighbouring rows: that would be a twill.
        for (size, step) in [(5, 1), (5, 4), (6, 2), (4, 2), (8, 4), (100, 3)] {
            assert!(Weave::satin(size, step).is_err(), "{size}, {step}");
        }
    }

    #[test]
    fn a_yarn_that_stays_on_one_side_is_refused_with_its_number() {
        let error = Weave::matrix(vec![vec![true, false], vec![true, true]]).unwrap_err();
        assert!(error.to_string().contains("weft 1"), "{error}");
        let error = Weave::matrix(vec![vec![true, false], vec![true, false]]).unwrap_err();
        assert!(error.to_string().contains("warp 0"), "{error}");
        assert!(Weave::matrix(vec![]).is_err() && Weave::matrix(vec![vec![], vec![]]).is_err());
        let error = Weave::matrix(vec![vec![true, false], vec![true]]).unwrap_err();
        assert!(error.to_string().contains("row 1"), "{error}");
        assert_eq!(Weave::matrix(vec![vec![true, false], vec![false, true]]).unwrap(), Weave::plain());
    }
}
