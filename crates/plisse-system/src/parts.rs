//! The parts of a system that nothing couples to each other: bodies that share no term.

use plisse_core::{Field, Id, Space};
use plisse_sparse::Pattern;

use crate::system::Own;

/// Which unknowns belong together, and how heavy they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Parts {
    of_unknowns: Vec<u32>,
    mass: Vec<f64>,
}

impl Parts {
    /// The connected parts of the pattern, numbered by their first unknown.
    /// What terms bring along counts only where a part has nothing else.
    pub(crate) fn new<S: Space>(
        pattern: &Pattern,
        nodes: &[Id<S>],
        mass: Option<&Field<S, f64>>,
        own: &[Own],
    ) -> Self {
        let Some(mass) = mass else { return Self::default() };
        let size = nodes.len() + own.len();
        // Each unknown points to one before it, the first of a part to itself.
        let mut parent: Vec<u32> = (0..size as u32).collect();
        fn first(parent: &mut [u32], mut i: u32) -> u32 {
            while parent[i as usize] != i {
                parent[i as usize] = parent[parent[i as usize] as usize];
                i = parent[i as usize];
            }
            i
        }
        for j in 0..size {
            for &i in pattern.rows_of_column(j) {
                let (a, b) = (first(&mut parent, i), first(&mut parent, j as u32));
                parent[a.max(b) as usize] = a.min(b);
            }
        }
        let mut out = Self { of_unknowns: vec![0; size], mass: Vec::new() };
        for i in 0..size {
            let root = first(&mut parent, i as u32) as usize;
            if root == i {
                out.of_unknowns[i] = out.mass.len() as u32;
                out.mass.push(0.0);
            } else {
                out.of_unknowns[i] = out.of_unknowns[root];
            }
            if let Some(&node) = nodes.get(i) {
                out.mass[out.of_unknowns[i] as usize] += mass[node];
            }
        }
        let massless: Vec<bool> = out.mass.iter().map(|mass| *mass == 0.0).collect();
        for (own, &part) in own.iter().zip(&out.of_unknowns[nodes.len()..]) {
            if massless[part as usize] {
                out.mass[part as usize] += own.mass;
            }
        }
        out
    }

    /// The part of each unknown.
    pub(crate) fn of_unknowns(&self) -> &[u32] {
        &self.of_unknowns
    }

    /// The mass of each part in kilograms; empty without masses.
    pub(crate) fn mass(&self) -> &[f64] {
        &self.mass
    }
}
