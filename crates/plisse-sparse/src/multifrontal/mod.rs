//! Sparse Cholesky factors by fronts: small dense matrices along a tree.
//!
//! Duff and Reid 1983, with fronts stored in strips of one cache line of rows. The tree is cut into
//! subtrees that are worked on in parallel, and large fronts into strips; every number is one sum
//! in a fixed order, so that the bits do not depend on the number of threads.

mod dense;
mod direction;
mod plan;
mod pool;
mod real;
mod substitute;
#[cfg(test)]
mod tests;
mod tree;

use std::sync::Arc;

use pool::{Pool, lines_of_zeros};
use rayon::prelude::*;

use crate::error::LinearError;
use crate::matrix::BlockMatrix;
use dense::{Pivots, Rows, Shape, Squares, run};
pub(crate) use plan::Plan;
pub(crate) use real::Real;

/// Subtrees of fewer multiplications are worked on by one thread.
const SUBTREE: f64 = 1e6;

/// And no more of them than this, so that the tree above them is small.
const SUBTREES: f64 = 512.0;

/// Fronts of fewer multiplications are worked on by one thread.
const FRONT: f64 = 2e6;

/// A factor and its memory, used again from one factorisation to the next.
pub(crate) struct Multifrontal<T: Real> {
    plan: Arc<Plan>,
    /// The panel of each front begins here, and the end.
    starts: Vec<usize>,
    panels: Vec<T::Line>,
    /// The vector of each front begins here, and the end.
    vector_starts: Vec<usize>,
    vectors: Vec<T::Line>,
    /// Numbers of the matrix are multiplied by this power of two, so that units do not matter.
    scale: f64,
    /// Where the last factorisation has found no positive pivot.
    broken: Option<Broken>,
    pool: Pool<T>,
}

/// A pivot that is not positive: its front, and its place among the pivots of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Broken {
    front: usize,
    pivot: usize,
}

/// Why there is no factor.
#[derive(Debug)]
enum Stop {
    Memory(LinearError),
    Pivot(Broken),
}

/// What one factorisation reads.
struct Job<'a, T: Real> {
    plan: &'a Plan,
    starts: &'a [usize],
    values: &'a [f64],
    scale: f64,
    pool: &'a Pool<T>,
    /// Subtrees of more multiplications are cut.
    large: f64,
    is_parallel: bool,
}

/// What is left of the rows of a front, for its parent.
type Rest<T> = Vec<<T as Real>::Line>;

impl<T: Real> Multifrontal<T> {
    /// Room for a factor, which must be filled before it is used.
    pub(crate) fn new(plan: &Arc<Plan>) -> Result<Self, LinearError> {
        let starts = sums(plan, Shape::panel_lines::<T>);
        let vector_starts = sums(plan, |shape| shape.pivot_strips::<T>() + shape.row_strips::<T>());
        Ok(Self {
            plan: Arc::clone(plan),
            panels: lines_of_zeros::<T>(starts[plan.fronts.len()])?,
            vectors: lines_of_zeros::<T>(vector_starts[plan.fronts.len()])?,
            starts,
            vector_starts,
            scale: 1.0,
            broken: None,
            pool: Pool::new(),
        })
    }

    /// Whether this is a factor of that plan.
    pub(crate) fn is_of(&self, plan: &Arc<Plan>) -> bool {
        Arc::ptr_eq(&self.plan, plan)
    }

    /// Factorises a matrix of the pattern of the plan.
    pub(crate) fn factorise(&mut self, a: &BlockMatrix) -> Result<(), LinearError> {
        self.scale = power_of_two(1.0 / a.mean_abs_diagonal());
        self.broken = None;
        match self.eliminate(a) {
            Ok(()) => Ok(()),
            Err(Stop::Memory(error)) => Err(error),
            Err(Stop::Pivot(broken)) => {
                self.broken = Some(broken);
                Err(LinearError::NotPositiveDefinite)
            }
        }
    }

    fn eliminate(&mut self, a: &BlockMatrix) -> Result<(), Stop> {
        let Self { plan, starts, panels, pool, scale, .. } = self;
        let job = Job {
            plan,
            starts,
            values: a.values(),
            scale: *scale,
            pool,
            large: SUBTREE.max(plan.work() / SUBTREES),
            is_parallel: rayon::current_num_threads() > 1,
        };
        if !job.is_parallel {
            return job.sequence(0..plan.fronts.len(), panels).map(drop);
        }
        // Each root with its subtree.
        let mut trees = Vec::new();
        let mut rest = panels.as_mut_slice();
        for root in (0..plan.fronts.len()).filter(|k| plan.fronts[*k].parent == tree::NONE) {
            let first = plan.fronts[root].subtree as usize;
            let (tree, after) = rest.split_at_mut(starts[root + 1] - starts[first]);
            trees.push((root, tree));
            rest = after;
        }
        job.branches(trees).map(drop)
    }

    /// Bytes of factor and work space.
    pub(crate) fn bytes(&self) -> usize {
        let lines = size_of_val(self.panels.as_slice()) + size_of_val(self.vectors.as_slice());
        lines + 8 * (self.starts.len() + self.vector_starts.len()) + self.pool.bytes()
    }
}

/// Sums over the fronts: before each of them, and the whole.
fn sums(plan: &Plan, of: impl Fn(Shape) -> usize) -> Vec<usize> {
    let mut sum = 0;
    let before = plan.fronts.iter().map(|front| {
        sum += of(front.shape);
        sum
    });
    std::iter::once(0).chain(before).collect()
}

/// The power of two next to a positive number; one for others.
fn power_of_two(value: f64) -> f64 {
    if value > 1e-300 && value < 1e300 { value.log2().round().exp2() } else { 1.0 }
}

impl<T: Real> Job<'_, T> {
    /// Works on the subtree of a front, whose panels these are, in parallel.
    fn subtree(&self, root: usize, panels: &mut [T::Line]) -> Result<Rest<T>, Stop> {
        let fronts = &self.plan.fronts;
        if fronts[root].work < self.large {
            let rest = self.sequence(fronts[root].subtree as usize..root + 1, panels)?;
            return Ok(rest.into_iter().next().unwrap_or_default());
        }
        // Down while one of the children alone is large, so that recursion is as deep as the tree
        // has branches.
        let mut path = Vec::new();
        let (mut front, mut panels) = (root, panels);
        let branches = loop {
            let (own, mut parts) = self.split(front, panels);
            let is_large = |part: &(usize, &mut [T::Line])| fronts[part.0].work >= self.large;
            let mut large = parts.iter().enumerate().filter(|(_, part)| is_large(part)).map(|(at, _)| at);
            match (large.next(), large.next()) {
                (Some(at), None) => {
                    let (child, below) = std::mem::take(&mut parts[at]);
                    path.push((front, own, parts, at));
                    (front, panels) = (child, below);
                }
                _ => break (own, parts),
            }
        };
        let (own, parts) = branches;
        let children = self.branches(parts)?;
        let mut rest = self.front(front, own, children)?;
        while let Some((front, own, mut parts, at)) = path.pop() {
            parts.remove(at);
            let mut children = self.branches(parts)?;
            children.insert(at, rest);
            rest = self.front(front, own, children)?;
        }
        Ok(rest)
    }

    /// The panel of a front, and those of the subtrees of its children.
    #[expect(clippy::type_complexity, reason = "two parts of one slice")]
    fn split<'b>(
        &self,
        front: usize,
        panels: &'b mut [T::Line],
    ) -> (&'b mut [T::Line], Vec<(usize, &'b mut [T::Line])>) {
        let first = |child: u32| self.starts[self.plan.fronts[child as usize].subtree as usize];
        let mut rest = panels;
        let mut parts = Vec::new();
        for &child in self.plan.children(front) {
            let (part, after) = rest.split_at_mut(self.starts[child as usize + 1] - first(child));
            parts.push((child as usize, part));
            rest = after;
        }
        (rest, parts)
    }

    fn branches(&self, parts: Vec<(usize, &mut [T::Line])>) -> Result<Vec<Rest<T>>, Stop> {
        // All of them, even if one fails: which failure is told must not depend on the threads.
        let all: Vec<_> = parts.into_par_iter().map(|(child, panels)| self.subtree(child, panels)).collect();
        all.into_iter().collect()
    }

    /// Works on consecutive fronts, one after the other; gives what is left of those whose parents
    /// are not among them.
    fn sequence(&self, fronts: std::ops::Range<usize>, panels: &mut [T::Line]) -> Result<Vec<Rest<T>>, Stop> {
        let mut stack: Vec<Rest<T>> = Vec::new();
        let mut rest = panels;
        for front in fronts {
            let (own, after) = rest.split_at_mut(self.starts[front + 1] - self.starts[front]);
            rest = after;
            let children = stack.split_off(stack.len() - self.plan.children(front).len());
            stack.push(self.front(front, own, children)?);
        }
        Ok(stack)
    }

    /// Eliminates the pivots of a front.
    fn front(&self, front: usize, panel: &mut [T::Line], children: Vec<Rest<T>>) -> Result<Rest<T>, Stop> {
        let plan = self.plan;
        let shape = plan.fronts[front].shape;
        panel.fill(T::zeros());
        self.add_blocks(front, panel);
        let names = || plan.children(front).iter().map(|child| *child as usize);
        for (child, rest) in names().zip(&children) {
            self.add_to_pivots(child, shape, rest, panel);
        }
        let (pivots, rows) = panel.split_at_mut(shape.pivot_lines::<T>());
        run::<T, _>(Pivots(pivots, shape.pivots)).map_err(|pivot| Stop::Pivot(Broken { front, pivot }))?;
        let mut rest = self.pool.take(shape.rest_lines::<T>()).map_err(Stop::Memory)?;
        let squares = rest.get_mut(..shape.rest_lines::<T>()).unwrap_or_default();
        if self.is_parallel && shape.work() >= FRONT {
            let pivots = &*pivots;
            rows.par_chunks_exact_mut(shape.pivots)
                .for_each(|strips| run::<T, _>(Rows { factor: pivots, pivots: shape.pivots, strips }));
            let rows = &*rows;
            let (mut strips, mut left) = (Vec::with_capacity(shape.row_strips::<T>()), squares);
            for a in 0..shape.row_strips::<T>() {
                let (strip, after) = left.split_at_mut((a + 1) * T::WIDTH);
                strips.push((a, strip));
                left = after;
            }
            strips
                .into_par_iter()
                .for_each(|(first, strips)| run::<T, _>(Squares { rows, shape, first, strips }));
        } else {
            run::<T, _>(Rows { factor: pivots, pivots: shape.pivots, strips: &mut *rows });
            run::<T, _>(Squares { rows, shape, first: 0, strips: &mut *squares });
        }
        for (child, left) in names().zip(children) {
            self.add_to_rest(child, shape, &left, &mut rest);
            self.pool.give(left);
        }
        Ok(rest)
    }

    /// Adds the blocks of the matrix.
    fn add_blocks(&self, front: usize, panel: &mut [T::Line]) {
        let shape = self.plan.fronts[front].shape;
        for block in self.plan.blocks(front) {
            let (rows, columns) = (usize::from(block.rows), usize::from(block.columns));
            let numbers = &self.values[block.numbers as usize..][..rows * columns];
            let (high, wide) = if block.is_turned { (columns, rows) } else { (rows, columns) };
            let (down, along) = if block.is_turned { (rows, 1) } else { (1, rows) };
            let (row, column) = (block.row as usize, block.column as usize);
            for r in 0..high {
                let (line, lane) = shape.place_in_panel::<T>(row + r);
                // Above the diagonal nothing is stored.
                let wide = if row == column { r + 1 } else { wide };
                for c in 0..wide {
                    let value = numbers[r * down + c * along] * self.scale;
                    T::lanes_mut(&mut panel[line + column + c])[lane] = T::from_f64(value);
                }
            }
        }
    }

    /// Subtracts from the panel of a front what a child has left for its pivots.
    fn add_to_pivots(&self, child: usize, shape: Shape, rest: &[T::Line], panel: &mut [T::Line]) {
        let map = self.plan.map(child);
        let own = map.partition_point(|row| (*row as usize) < shape.pivots);
        if own == 0 {
            return;
        }
        for (a, rows) in map.chunks(T::WIDTH).enumerate() {
            let strip = &rest[Shape::pivot_strip::<T>(a)..][..(a + 1) * T::WIDTH];
            for (r, &row) in rows.iter().enumerate() {
                let (line, lane) = shape.place_in_panel::<T>(row as usize);
                let columns = own.min(a * T::WIDTH + r + 1);
                for (from, column) in strip[..columns].iter().zip(map) {
                    let to = &mut T::lanes_mut(&mut panel[line + *column as usize])[lane];
                    *to = to.minus(T::lanes(from)[r]);
                }
            }
        }
    }

    /// Adds to what is left of a front what a child has left for its rows.
    fn add_to_rest(&self, child: usize, shape: Shape, from: &[T::Line], rest: &mut [T::Line]) {
        let map = self.plan.map(child);
        let own = map.partition_point(|row| (*row as usize) < shape.pivots);
        for i in own..map.len() {
            let (a, r) = (i / T::WIDTH, i % T::WIDTH);
            let strip = &from[Shape::pivot_strip::<T>(a)..][..(a + 1) * T::WIDTH];
            let row = map[i] as usize - shape.pivots;
            let (line, lane) = (Shape::pivot_strip::<T>(row / T::WIDTH), row % T::WIDTH);
            for (from, column) in strip[own..=i].iter().zip(&map[own..]) {
                let to = &mut T::lanes_mut(&mut rest[line + *column as usize - shape.pivots])[lane];
                *to = to.plus(T::lanes(from)[r]);
            }
        }
    }
}
