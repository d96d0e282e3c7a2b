//! A term of elements of yarns.

use glam::DVec3;
use plisse_core::{Field, Psd, StepEnergy, Vertices};
use plisse_sparse::parallel::{CHUNK, fill, is_serial, sum_in_chunks};
use plisse_system::{Gradient, Memory, Moving, OwnUnknown, Pose, Role, Sink, StepMap, Term, Unknown};

use crate::element::{ArcLength, YarnElement};

/// The sum of [elements](YarnElement), with the bits of a single thread.
#[derive(Clone, Debug)]
pub(crate) struct YarnTerm<E, const V: usize, const O: usize, const N: usize> {
    name: String,
    role: Role,
    elements: Vec<E>,
    own: Own,
}

/// Whose the arc lengths are.
#[derive(Clone, Debug)]
pub(crate) enum Own {
    /// This term brings them along.
    Brings(Vec<OwnUnknown>),
    /// The term with this name has brought them along.
    Shares(String),
}

impl<E: YarnElement<V, O, N>, const V: usize, const O: usize, const N: usize> YarnTerm<E, V, O, N> {
    pub(crate) fn new(name: String, role: Role, elements: Vec<E>, own: Own) -> Self {
        const { assert!(N == 3 * V + O, "coordinates and arc lengths") };
        Self { name, role, elements, own }
    }

    fn gather(element: &E, x: &Field<Vertices, DVec3>, own: &[f64], held: impl Fn(f64) -> f64) -> [f64; N] {
        let (nodes, arcs) = (element.nodes(), element.arcs());
        std::array::from_fn(|i| {
            if i < 3 * V {
                x[nodes[i / 3]][i % 3]
            } else {
                match arcs[i - 3 * V] {
                    ArcLength::Free(k) => own[k as usize],
                    ArcLength::Held(value) => held(value),
                }
            }
        })
    }

    fn at(element: &E, pose: &Pose<'_, Vertices>) -> [f64; N] {
        Self::gather(element, pose.x, pose.own, |value| value)
    }

    /// What an element needs of a step; none in an equilibrium.
    fn start_of(element: &E, step: &StepMap<'_, Vertices>) -> Option<E::Start> {
        let inertia = step.inertia?;
        let q = Self::gather(element, step.start, step.own, |value| value);
        let target = Self::gather(element, inertia.target, inertia.own_target, |value| value);
        let rates = std::array::from_fn(|i| (target[i] - q[i]) / step.dt);
        Some(element.start(&q, &rates, step.dt))
    }

    /// Works on an element with what it keeps of the step: from the memory, or computed now.
    fn with<T>(
        (i, element): (usize, &E),
        pose: &Pose<'_, Vertices>,
        work: impl Fn(&E, &[f64; N], Option<&E::Start>) -> T,
    ) -> T {
        let q = Self::at(element, pose);
        let Some(step) = &pose.step else { return work(element, &q, None) };
        let kept = step.memory.and_then(|memory| memory.get::<Vec<Option<E::Start>>>());
        match kept.and_then(|all| all.get(i)) {
            Some(start) => work(element, &q, start.as_ref()),
            None => work(element, &q, Self::start_of(element, step).as_ref()),
        }
    }

    fn add(element: &E, g: &[f64; N], to: &mut Gradient<'_, Vertices>) {
        for (i, node) in element.nodes().into_iter().enumerate() {
            to.nodes[node] += DVec3::new(g[3 * i], g[3 * i + 1], g[3 * i + 2]);
        }
        for (arc, slope) in element.arcs().into_iter().zip(&g[3 * V..]) {
            if let ArcLength::Free(k) = arc {
                to.own[k as usize] += slope;
            }
        }
    }

    /// Each element once, then the sums in order: energies with the bits of `sum_in_chunks`.
    fn gradients(&self, pose: &Pose<'_, Vertices>, to: &mut Gradient<'_, Vertices>) -> StepEnergy {
        let one = |item| Self::with(item, pose, E::gradient);
        let numbered: Vec<(usize, &E)> = self.elements.iter().enumerate().collect();
        let mut all = Vec::new();
        if !is_serial(numbered.len()) {
            fill(&numbered, &mut all, |item| one(*item));
        }
        let mut total = StepEnergy::default();
        for chunk in numbered.chunks(CHUNK) {
            let mut sum = StepEnergy::default();
            for item in chunk {
                let (energy, g) = all.get(item.0).copied().unwrap_or_else(|| one(*item));
                Self::add(item.1, &g, to);
                sum = sum + energy;
            }
            total = total + sum;
        }
        total
    }
}

impl<E, const V: usize, const O: usize, const N: usize> Term<Vertices> for YarnTerm<E, V, O, N>
where
    E: YarnElement<V, O, N>,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn role(&self) -> Role {
        self.role
    }

    fn own(&self) -> Vec<OwnUnknown> {
        match &self.own {
            Own::Brings(own) => own.clone(),
            Own::Shares(_) => Vec::new(),
        }
    }

    fn shares_own(&self) -> Option<&str> {
        match &self.own {
            Own::Brings(_) => None,
            Own::Shares(name) => Some(name),
        }
    }

    fn pattern(&self, pair: &mut dyn FnMut(Unknown<Vertices>, Unknown<Vertices>)) {
        for element in &self.elements {
            let nodes = element.nodes();
            let arcs = element.arcs().map(|arc| match arc {
                ArcLength::Free(k) => Unknown::Own(k),
                ArcLength::Held(_) => Unknown::Held,
            });
            for a in 0..V {
                for b in 0..=a {
                    pair(nodes[a].into(), nodes[b].into());
                }
            }
            for a in 0..O {
                for node in nodes {
                    pair(arcs[a], node.into());
                }
                for other in &arcs[..=a] {
                    pair(arcs[a], *other);
                }
            }
        }
    }

    fn energy(&self, pose: &Pose<'_, Vertices>) -> f64 {
        sum_in_chunks(&self.elements, |item| Self::with(item, pose, E::energies)).potential
    }

    fn add_gradient(&self, pose: &Pose<'_, Vertices>, gradient: &mut Gradient<'_, Vertices>) {
        self.gradients(pose, gradient);
    }

    fn energy_and_add_gradient(
        &self,
        pose: &Pose<'_, Vertices>,
        gradient: &mut Gradient<'_, Vertices>,
    ) -> StepEnergy {
        self.gradients(pose, gradient)
    }

    fn kinetic_energy(&self, moving: &Moving<'_, Vertices>) -> f64 {
        let of = |(_, element): (usize, &E)| {
            let q = Self::gather(element, moving.x, moving.own, |value| value);
            let still = moving.own_rates.is_empty();
            let arcs = element.arcs();
            let mut rates = [0.0; N];
            for (i, node) in element.nodes().into_iter().enumerate() {
                rates[3 * i..3 * i + 3].copy_from_slice(&moving.v[node].to_array());
            }
            for (rate, arc) in rates[3 * V..].iter_mut().zip(arcs) {
                if let (ArcLength::Free(k), false) = (arc, still) {
                    *rate = moving.own_rates[k as usize];
                }
            }
            element.kinetic(&q, &rates)
        };
        sum_in_chunks(&self.elements, of)
    }

    fn add_hessian(&self, pose: &Pose<'_, Vertices>, psd: Psd, sink: &mut Sink<'_>) {
        let pairs = V * (V + 1) / 2 + O * V + O * (O + 1) / 2;
        sink.for_each(pairs, |i, part| {
            let h =
                Self::with((i, &self.elements[i]), pose, |element, q, start| element.hessian(q, start, psd));
            let mut index = 0;
            for a in 0..V {
                for b in 0..=a {
                    let block: [[f64; 3]; 3] =
                        std::array::from_fn(|c| std::array::from_fn(|r| h[3 * a + r][3 * b + c]));
                    part.add_block(index, &block);
                    index += 1;
                }
            }
            for a in 0..O {
                let row = &h[3 * V + a];
                for b in 0..V {
                    part.add_block(index, &[[row[3 * b]], [row[3 * b + 1]], [row[3 * b + 2]]]);
                    index += 1;
                }
                for b in 0..=a {
                    part.add_block(index, &[[row[3 * V + b]]]);
                    index += 1;
                }
            }
        });
    }

    fn remember(&self, step: &StepMap<'_, Vertices>, memory: &mut Memory) {
        let mut kept: Vec<Option<E::Start>> = memory.take();
        fill(&self.elements, &mut kept, |element| Self::start_of(element, step));
        memory.keep(kept);
    }

    fn longest_step(&self, pose: &Pose<'_, Vertices>, to: &Pose<'_, Vertices>) -> f64 {
        let longest = |element: &E| element.longest_step(&Self::at(element, pose), &Self::at(element, to));
        self.elements.iter().map(longest).fold(f64::INFINITY, f64::min)
    }
}
