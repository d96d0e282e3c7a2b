//! A rectangular lattice of yarns, all of whose arc lengths may change: five numbers per node, as
//! the vectors have them.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "not every test needs all of it, and tests may panic"
)]

use glam::DVec3;
use plisse_core::{Id, Positive, Psd, Vertices};
use plisse_yarn::{ArcLength, Bend, SegmentInertia, Stretch, Weight, YarnElement};

pub struct Lattice {
    pub nodes: usize,
    pub stretches: Vec<Stretch>,
    pub bends: Vec<Bend>,
    pub weights: Vec<Weight>,
    pub inertia: Vec<SegmentInertia>,
}

pub struct Constants {
    pub stretch: f64,
    pub bending: f64,
    pub density: f64,
    pub gravity: f64,
    pub damping: [f64; 2],
}

pub fn positive(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

fn id(node: usize) -> Id<Vertices> {
    Id::new(node as u32)
}

impl Lattice {
    /// Node `(i, j)` is `j nx + i`; warp yarns along `i` have the fourth number, weft yarns the
    /// fifth.
    pub fn new(nx: usize, ny: usize, c: &Constants) -> Self {
        let mut out = Self {
            nodes: nx * ny,
            stretches: Vec::new(),
            bends: Vec::new(),
            weights: Vec::new(),
            inertia: Vec::new(),
        };
        let warps = (0..ny).map(|j| (0, (0..nx).map(|i| j * nx + i).collect::<Vec<_>>()));
        let wefts = (0..nx).map(|i| (1, (0..ny).map(|j| j * nx + i).collect::<Vec<_>>()));
        for (family, nodes) in warps.chain(wefts) {
            let arc = |node: usize| ArcLength::Free((2 * node + family) as u32);
            for pair in nodes.windows(2) {
                let (ends, arcs) = ([id(pair[0]), id(pair[1])], [arc(pair[0]), arc(pair[1])]);
                out.stretches.push(Stretch::new(ends, arcs, positive(c.stretch), c.damping[0]));
                let g = DVec3::new(0.0, 0.0, -c.gravity);
                out.weights.push(Weight::new(ends, arcs, positive(c.density), g, DVec3::ZERO));
                out.inertia.push(SegmentInertia::new(ends, arcs, positive(c.density), 0.0));
            }
            for three in nodes.windows(3) {
                let arcs = [arc(three[0]), arc(three[2])];
                let nodes = [id(three[0]), id(three[1]), id(three[2])];
                out.bends.push(Bend::new(nodes, arcs, positive(c.bending), c.damping[1]));
            }
        }
        out
    }

    pub fn size(&self) -> usize {
        5 * self.nodes
    }

    pub fn elastic_energy(&self, q: &[f64]) -> f64 {
        sum(&self.stretches, q) + sum(&self.bends, q) + sum(&self.weights, q)
    }

    /// Elastic forces and weight.
    pub fn force(&self, q: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; q.len()];
        add(&self.stretches, q, None, &mut out);
        add(&self.bends, q, None, &mut out);
        add(&self.weights, q, None, &mut out);
        out
    }

    /// The dissipative force at velocities: that of a step that ends here with these, to second
    /// order.
    pub fn damping_force(&self, q: &[f64], v: &[f64]) -> Vec<f64> {
        let still = self.force(q);
        let h = 1e-6;
        let at = |dt: f64| {
            let before: Vec<f64> = q.iter().zip(v).map(|(q, v)| q - dt * v).collect();
            let mut out = vec![0.0; q.len()];
            add(&self.stretches, q, Some((&before, dt)), &mut out);
            add(&self.bends, q, Some((&before, dt)), &mut out);
            add(&self.weights, q, None, &mut out);
            out
        };
        let (a, b) = (at(h), at(2.0 * h));
        (0..q.len()).map(|i| 2.0 * a[i] - b[i] - still[i]).collect()
    }

    pub fn kinetic_energy(&self, q: &[f64], v: &[f64]) -> f64 {
        self.inertia.iter().map(|e| e.kinetic_energy(&gather(e, q), &gather(e, v))).sum()
    }

    pub fn flow_force(&self, q: &[f64], v: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; q.len()];
        for e in &self.inertia {
            let f = e.flow_force(&gather(e, q), &gather(e, v));
            for (k, f) in places(e).into_iter().zip(f) {
                out[k] += f;
            }
        }
        out
    }

    pub fn mass(&self, q: &[f64]) -> Vec<Vec<f64>> {
        let mut out = vec![vec![0.0; q.len()]; q.len()];
        for e in &self.inertia {
            let m = e.mass(&gather(e, q));
            let places = places(e);
            for i in 0..8 {
                for j in 0..8 {
                    out[places[i]][places[j]] += m[i][j];
                }
            }
        }
        out
    }

    /// A step by Runge's and Kutta's method; some numbers are held.
    pub fn runge_kutta(&self, q: &mut [f64], v: &mut [f64], held: &[bool], dt: f64) {
        let plus =
            |a: &[f64], b: &[f64], h: f64| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a + h * b).collect() };
        let k1 = (v.to_vec(), self.acceleration(q, v, held));
        let (q2, v2) = (plus(q, &k1.0, 0.5 * dt), plus(v, &k1.1, 0.5 * dt));
        let k2 = (v2.clone(), self.acceleration(&q2, &v2, held));
        let (q3, v3) = (plus(q, &k2.0, 0.5 * dt), plus(v, &k2.1, 0.5 * dt));
        let k3 = (v3.clone(), self.acceleration(&q3, &v3, held));
        let (q4, v4) = (plus(q, &k3.0, dt), plus(v, &k3.1, dt));
        let k4 = (v4.clone(), self.acceleration(&q4, &v4, held));
        for i in 0..q.len() {
            q[i] += dt / 6.0 * (k1.0[i] + 2.0 * k2.0[i] + 2.0 * k3.0[i] + k4.0[i]);
            v[i] += dt / 6.0 * (k1.1[i] + 2.0 * k2.1[i] + 2.0 * k3.1[i] + k4.1[i]);
        }
    }

    /// `M⁻¹ (f + flow)` by Cholesky's method; zero for what is held.
    pub fn acceleration(&self, q: &[f64], v: &[f64], held: &[bool]) -> Vec<f64> {
        let mut b: Vec<f64> = self.force(q).iter().zip(self.flow_force(q, v)).map(|(f, g)| f + g).collect();
        let mut m = self.mass(q);
        let n = b.len();
        for i in (0..n).filter(|&i| held[i]) {
            b[i] = 0.0;
            for j in 0..n {
                (m[i][j], m[j][i]) = (0.0, 0.0);
            }
            m[i][i] = 1.0;
        }
        for j in 0..n {
            for k in 0..j {
                let factor = m[j][k];
                for i in j..n {
                    m[i][j] -= m[i][k] * factor;
                }
            }
            assert!(m[j][j] > 0.0, "the mass matrix is not positive definite");
            let root = m[j][j].sqrt();
            for row in &mut m[j..] {
                row[j] /= root;
            }
        }
        for i in 0..n {
            for k in 0..i {
                b[i] -= m[i][k] * b[k];
            }
            b[i] /= m[i][i];
        }
        for i in (0..n).rev() {
            for k in i + 1..n {
                b[i] -= m[k][i] * b[k];
            }
            b[i] /= m[i][i];
        }
        b
    }
}

/// Where the numbers of an element are in the list of all.
pub fn places<E: YarnElement<V, O, N>, const V: usize, const O: usize, const N: usize>(e: &E) -> [usize; N] {
    let (nodes, arcs) = (e.nodes(), e.arcs());
    std::array::from_fn(|i| match i.checked_sub(3 * V) {
        None => 5 * nodes[i / 3].index() + i % 3,
        Some(k) => {
            let ArcLength::Free(k) = arcs[k] else { panic!("all are free") };
            5 * (k as usize / 2) + 3 + k as usize % 2
        }
    })
}

pub fn gather<E: YarnElement<V, O, N>, const V: usize, const O: usize, const N: usize>(
    e: &E,
    q: &[f64],
) -> [f64; N] {
    places(e).map(|k| q[k])
}

fn sum<E: YarnElement<V, O, N>, const V: usize, const O: usize, const N: usize>(all: &[E], q: &[f64]) -> f64 {
    all.iter().map(|e| e.energies(&gather(e, q), None).stored).sum()
}

/// Adds the negative gradient; with a start, that of a step.
fn add<E: YarnElement<V, O, N>, const V: usize, const O: usize, const N: usize>(
    all: &[E],
    q: &[f64],
    start: Option<(&[f64], f64)>,
    out: &mut [f64],
) {
    for e in all {
        let start = start.map(|(q, dt)| e.start(&gather(e, q), &[0.0; N], dt));
        let (_, g) = e.gradient(&gather(e, q), start.as_ref());
        for (k, g) in places(e).into_iter().zip(g) {
            out[k] -= g;
        }
    }
}

/// Exact and projected Hessians of an element.
pub fn hessians<E: YarnElement<V, O, N>, const V: usize, const O: usize, const N: usize>(
    e: &E,
    q: &[f64; N],
    start: Option<&E::Start>,
) -> [[[f64; N]; N]; 2] {
    [e.hessian(q, start, Psd::Exact), e.hessian(q, start, Psd::Clamp)]
}
