//! What to do with negative eigenvalues.

/// The policy for the eigenvalues of an element Hessian.
///
/// An energy's Hessian is indefinite in compression and under shear. A solver that needs a descent
/// direction asks for a positive semidefinite replacement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Psd {
    /// The true Hessian, whatever its signs.
    Exact,
    /// Negative eigenvalues become zero: the nearest positive semidefinite matrix in the Frobenius
    /// norm.
    #[default]
    Clamp,
    /// Eigenvalues become their absolute values: stiffer than `Clamp` along concave directions,
    /// hence shorter steps.
    Abs,
}

impl Psd {
    /// All policies, in the order of their declaration.
    pub const ALL: [Self; 3] = [Self::Exact, Self::Clamp, Self::Abs];

    /// Applies the policy to one eigenvalue.
    ///
    /// ```
    /// use plisse_core::Psd;
    /// assert_eq!(Psd::ALL.map(|psd| psd.apply(-2.0)), [-2.0, 0.0, 2.0]);
    /// ```
    #[inline]
    #[must_use]
    pub fn apply(self, eigenvalue: f64) -> f64 {
        match self {
            Self::Exact => eigenvalue,
            // Not f64::max, which would turn NaN into zero.
            Self::Clamp if eigenvalue < 0.0 => 0.0,
            Self::Clamp => eigenvalue,
            Self::Abs => eigenvalue.abs(),
        }
    }
}
