//! Sets of vertices that only ever merge.

use std::collections::BTreeMap;

use plisse_core::{Id, Vertices};

/// A set of vertices with something in common.
#[derive(Clone, Debug)]
pub(super) struct Group<T> {
    pub(super) members: Vec<Id<Vertices>>,
    pub(super) data: T,
}

/// Disjoint groups, each named by one of its vertices. Vertices that were never joined have none.
#[derive(Clone, Debug)]
pub(super) struct Groups<T> {
    parent: Vec<u32>,
    /// Ordered: results must not depend on hashes.
    groups: BTreeMap<u32, Group<T>>,
}

impl<T> Groups<T> {
    pub(super) fn new(vertex_count: usize) -> Self {
        Self { parent: (0..vertex_count as u32).collect(), groups: BTreeMap::new() }
    }

    /// The name of the group of a vertex, if it has one.
    pub(super) fn of(&self, vertex: Id<Vertices>) -> Option<u32> {
        let root = self.root(vertex.get());
        self.groups.contains_key(&root).then_some(root)
    }

    pub(super) fn get(&self, name: u32) -> Option<&Group<T>> {
        self.groups.get(&name)
    }

    pub(super) fn get_mut(&mut self, name: u32) -> Option<&mut Group<T>> {
        self.groups.get_mut(&name)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Group<T>> {
        self.groups.values()
    }

    /// Joins the groups of these vertices to one, and returns its name; none without vertices.
    /// `alone` is the data of a vertex that had no group.
    pub(super) fn join(
        &mut self,
        vertices: impl Iterator<Item = Id<Vertices>>,
        alone: impl Fn() -> T,
        merge: impl Fn(&mut T, T),
    ) -> Option<u32> {
        let mut joined = None;
        for vertex in vertices {
            let root = self.root(vertex.get());
            self.groups.entry(root).or_insert_with(|| Group { members: vec![vertex], data: alone() });
            joined = match joined {
                None => Some(root),
                Some(other) => Some(self.merge(other, root, &merge)),
            };
        }
        joined
    }

    fn merge(&mut self, a: u32, b: u32, merge: &impl Fn(&mut T, T)) -> u32 {
        if a == b {
            return a;
        }
        // The larger group keeps its name, so that ways to the root stay short.
        let size = |name: u32| self.groups.get(&name).map_or(0, |group| group.members.len());
        let (keep, lose) = if size(a) >= size(b) { (a, b) } else { (b, a) };
        if let Some(lost) = self.groups.remove(&lose)
            && let Some(kept) = self.groups.get_mut(&keep)
        {
            kept.members.extend(lost.members);
            merge(&mut kept.data, lost.data);
        }
        self.parent[lose as usize] = keep;
        keep
    }

    fn root(&self, mut vertex: u32) -> u32 {
        while self.parent[vertex as usize] != vertex {
            vertex = self.parent[vertex as usize];
        }
        vertex
    }
}
