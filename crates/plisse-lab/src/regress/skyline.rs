//! A symmetric matrix in skyline storage and its `L D Lᵀ` factors, for small experiments whose
//! unknowns are scalars.
//!
//! Rows are stored from their first entry to the diagonal. Factors fill only this envelope, so
//! unknowns should be numbered along the longer side of a mesh. Without pivoting: for positive
//! definite matrices, and to count the negative eigenvalues of others (Sylvester's law of inertia).

/// The lower triangle of a symmetric matrix.
pub(crate) struct Skyline {
    /// First column of each row.
    first: Vec<usize>,
    /// Where each row starts in `values`.
    start: Vec<usize>,
    values: Vec<f64>,
}

impl Skyline {
    /// A matrix of zeros that can hold the pairs among the unknowns of each element.
    pub(crate) fn new(size: usize, elements: impl Iterator<Item = Vec<usize>>) -> Self {
        let mut first: Vec<usize> = (0..size).collect();
        for unknowns in elements {
            if let Some(&least) = unknowns.iter().min() {
                for i in unknowns {
                    first[i] = first[i].min(least);
                }
            }
        }
        let mut start = Vec::with_capacity(size + 1);
        let mut length = 0;
        for (i, column) in first.iter().enumerate() {
            start.push(length);
            length += i + 1 - column;
        }
        start.push(length);
        Self { first, start, values: vec![0.0; length] }
    }

    /// Adds to the entry at `(i, j)` and, by symmetry, at `(j, i)`; entries above the diagonal are
    /// those below it and are ignored.
    pub(crate) fn add(&mut self, i: usize, j: usize, value: f64) {
        if j <= i {
            self.values[self.start[i] + j - self.first[i]] += value;
        }
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.values[self.start[i]..self.start[i + 1]]
    }

    /// The factors, in place: rows of `L` with the pivots on their diagonal.
    pub(crate) fn factor(mut self) -> Factor {
        for i in 0..self.first.len() {
            let from = self.first[i];
            let (done, rest) = self.values.split_at_mut(self.start[i]);
            let row = &mut rest[..i + 1 - from];
            // With u_j = L_ij D_j: u_j = a_ij - Σ_k u_k L_jk.
            for j in from..i {
                let other = &done[self.start[j]..self.start[j + 1]];
                let low = from.max(self.first[j]);
                let (a, b) = (&row[low - from..j - from], &other[low - self.first[j]..j - self.first[j]]);
                let sum: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                row[j - from] -= sum;
            }
            let mut pivot = row[i - from];
            for j in from..i {
                let u = row[j - from];
                let d = done[self.start[j + 1] - 1];
                row[j - from] = u / d;
                pivot -= u * (u / d);
            }
            row[i - from] = pivot;
        }
        Factor(self)
    }
}

/// Factors of a [`Skyline`].
pub(crate) struct Factor(Skyline);

impl Factor {
    /// How many eigenvalues of the matrix are negative.
    pub(crate) fn negative(&self) -> usize {
        (0..self.0.first.len()).filter(|i| self.0.row(*i).last().is_some_and(|d| *d < 0.0)).count()
    }

    /// Solves with the matrix.
    pub(crate) fn solve(&self, mut b: Vec<f64>) -> Vec<f64> {
        let n = b.len();
        for i in 0..n {
            let (row, from) = (self.0.row(i), self.0.first[i]);
            let sum: f64 = row[..i - from].iter().zip(&b[from..i]).map(|(l, b)| l * b).sum();
            b[i] -= sum;
        }
        for (i, value) in b.iter_mut().enumerate() {
            let row = self.0.row(i);
            *value /= row[row.len() - 1];
        }
        for i in (0..n).rev() {
            let (row, from) = (self.0.row(i), self.0.first[i]);
            let value = b[i];
            for (l, x) in row[..i - from].iter().zip(&mut b[from..i]) {
                *x -= l * value;
            }
        }
        b
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(shift: f64) -> Skyline {
        let mut matrix = Skyline::new(5, [vec![0, 1, 2], vec![2, 3], vec![1, 4]].into_iter());
        for (i, j, value) in
            [(0, 0, 4.0), (1, 0, -1.0), (1, 1, 5.0), (2, 0, 0.5), (2, 1, -1.0), (2, 2, 3.0), (3, 2, 1.0)]
        {
            matrix.add(i, j, value);
        }
        for (i, j, value) in [(3, 3, 2.0), (4, 1, -2.0), (4, 4, 3.0)] {
            matrix.add(i, j, value);
        }
        (0..5).for_each(|i| matrix.add(i, i, -shift));
        matrix
    }

    #[test]
    fn solves_and_counts_negative_eigenvalues() {
        let x = example(0.0).factor().solve(vec![1.0, -2.0, 0.5, 3.0, 1.5]);
        let rows = [
            [4.0, -1.0, 0.5, 0.0, 0.0],
            [-1.0, 5.0, -1.0, 0.0, -2.0],
            [0.5, -1.0, 3.0, 1.0, 0.0],
            [0.0, 0.0, 1.0, 2.0, 0.0],
            [0.0, -2.0, 0.0, 0.0, 3.0],
        ];
        for (row, expected) in rows.iter().zip([1.0, -2.0, 0.5, 3.0, 1.5]) {
            let found: f64 = row.iter().zip(&x).map(|(a, b)| a * b).sum();
            assert!((found - expected).abs() < 1e-13, "{found} {expected}");
        }
        // By Gershgorin's theorem all eigenvalues are within (0, 9).
        assert_eq!(example(0.0).factor().negative(), 0);
        assert_eq!(example(9.0).factor().negative(), 5);
        let between = example(3.0).factor().negative();
        assert!((1..5).contains(&between), "{between}");
    }
}
