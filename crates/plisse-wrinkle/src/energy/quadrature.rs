//! Means of powers of the amplitude over a face.

/// How powers of the amplitude are integrated over a face.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quadrature {
    /// In closed form.
    #[default]
    Exact,
    /// At the three points with barycentric coordinates 2/3, 1/6, 1/6, as in the published results:
    /// exact for `a²`, not for `a⁴`.
    ThreePoint,
}

impl Quadrature {
    /// The mean of `a⁴` over the face.
    pub(super) fn mean4(self, a: [f64; 3]) -> f64 {
        match self {
            Self::Exact => complete::<4, 3>(a) / 15.0,
            Self::ThreePoint => points(a).map(|p| p.powi(4)).iter().sum::<f64>() / 3.0,
        }
    }

    /// Its derivative by the amplitudes.
    pub(super) fn mean4_gradient(self, a: [f64; 3]) -> [f64; 3] {
        match self {
            Self::Exact => a.map(|ai| complete::<3, 4>([a[0], a[1], a[2], ai]) / 15.0),
            Self::ThreePoint => {
                let cubes = points(a).map(|p| p.powi(3));
                std::array::from_fn(|i| 4.0 * points(cubes)[i] / 3.0)
            }
        }
    }

    /// Its second derivative.
    pub(super) fn mean4_hessian(self, a: [f64; 3]) -> [[f64; 3]; 3] {
        let squares = points(a).map(|p| p * p);
        std::array::from_fn(|i| {
            std::array::from_fn(|j| match self {
                Self::Exact => {
                    let double = if i == j { 2.0 } else { 1.0 };
                    double * complete::<2, 5>([a[0], a[1], a[2], a[i], a[j]]) / 15.0
                }
                Self::ThreePoint => {
                    (0..3).map(|p| 12.0 * squares[p] * point_weight(p, i) * point_weight(p, j)).sum::<f64>()
                        / 3.0
                }
            })
        })
    }
}

/// The barycentric coordinate of corner `i` at quadrature point `p`.
fn point_weight(p: usize, i: usize) -> f64 {
    if p == i { 2.0 / 3.0 } else { 1.0 / 6.0 }
}

/// A linear function at the three quadrature points. The weights are symmetric: this is its own
/// transpose.
fn points(a: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|p| (0..3).map(|i| point_weight(p, i) * a[i]).sum())
}

/// The complete homogeneous symmetric polynomial of degree `N` in `K` variables, the sum of all
/// monomials. The mean of the `N`-th power of a linear function over a triangle is this polynomial
/// of its corner values over the number of monomials; its derivative by one variable is the
/// polynomial of degree `N - 1` with that variable repeated.
fn complete<const N: usize, const K: usize>(values: [f64; K]) -> f64 {
    // h[n] over the variables so far; h_n(x.., y) = h_n(x..) + y h_{n-1}(x.., y).
    let mut h = [0.0; 5];
    h[0] = 1.0;
    for value in values {
        for n in 1..=N {
            h[n] += value * h[n - 1];
        }
    }
    h[N]
}

/// The mean of `a²` over the face, which both rules give.
pub(crate) fn mean2(a: [f64; 3]) -> f64 {
    complete::<2, 3>(a) / 6.0
}

/// Its derivative by the amplitudes.
pub(super) fn mean2_gradient(a: [f64; 3]) -> [f64; 3] {
    let sum = a[0] + a[1] + a[2];
    a.map(|a| (sum + a) / 6.0)
}
