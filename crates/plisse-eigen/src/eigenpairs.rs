//! What an eigenanalysis returns.

use glam::DVec3;
use plisse_core::{Blocks, Mat3x2, Psd, symmetric_eigen};

/// `M` eigenvalues with orthonormal modes over `N` nodes, `M = 3 N`, in no particular order.
///
/// `N = 2` is F space (node 0 is the first column of the eigenmatrix), `N = 3` a triangle or a rod,
/// `N = 4` a hinge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Eigenpairs<const N: usize, const M: usize> {
    /// Eigenvalues.
    pub values: [f64; M],
    /// Unit modes, in the order of the values.
    pub modes: [[DVec3; N]; M],
}

/// Eigenpairs in F space: six values, six 3×2 eigenmatrices given by their columns.
pub type MembraneEigenpairs = Eigenpairs<2, 6>;

impl<const N: usize, const M: usize> Eigenpairs<N, M> {
    /// `Σ psd(λᵢ) qᵢ qᵢᵀ`: the matrix itself for [`Psd::Exact`], its projection otherwise.
    #[must_use]
    pub fn rebuild(&self, psd: Psd) -> Blocks<N> {
        const { assert!(M == 3 * N, "a complete eigensystem over N nodes has 3 N pairs") }
        let mut out = Blocks::ZERO;
        for (value, mode) in self.values.iter().zip(&self.modes) {
            out.add_outer(mode, psd.apply(*value));
        }
        out
    }

    /// The eigenvalues in ascending order.
    #[must_use]
    pub fn sorted_values(&self) -> [f64; M] {
        let mut values = self.values;
        values.sort_by(f64::total_cmp);
        values
    }

    /// The eigenpairs of any symmetric matrix, numerically: for sums of energies and other cases
    /// without a closed form.
    #[must_use]
    pub fn numeric(matrix: &Blocks<N>) -> Self {
        let (values, rows) = symmetric_eigen(&matrix.to_matrix::<M>());
        let node = |row: &[f64; M], i: usize| DVec3::new(row[3 * i], row[3 * i + 1], row[3 * i + 2]);
        Self { values, modes: rows.map(|row| std::array::from_fn(|i| node(&row, i))) }
    }
}

impl MembraneEigenpairs {
    /// Mode `i` as a 3×2 matrix.
    #[must_use]
    pub fn eigenmatrix(&self, i: usize) -> Mat3x2 {
        let [c0, c1] = self.modes[i];
        Mat3x2::new(c0, c1)
    }
}
