//! Spanning trees of the faces and of the nodes; each edge in neither gives a generator.

use std::collections::VecDeque;

use plisse_core::{Edges, Faces, Field, Id, TriMesh};

use super::split::Split;
use super::{Branch, Crossing, Nodes, Step};

pub(super) struct Trees {
    pub(super) node_component: Field<Nodes, u32>,
    pub(super) roots: Vec<Id<Nodes>>,
    pub(super) branches: Vec<Branch>,
    pub(super) crossing_start: Vec<u32>,
    pub(super) crossings: Vec<Crossing>,
    pub(super) primal_loops: Vec<Vec<Step>>,
}

/// The tree of faces comes first and grows in breadth from the boundary, which makes the dual loops
/// short: each of their edges couples a generator to a face. The faces' tree contains no loop,
/// hence cuts no node off, and the nodes' tree finds its way.
pub(super) fn trees(mesh: &TriMesh, kept: &Field<Faces, bool>, split: &Split) -> Trees {
    let dual = DualTree::new(mesh, kept, split);
    let primal = PrimalTree::new(split, &dual.crossed);

    let mut per_edge: Vec<Vec<Crossing>> = vec![Vec::new(); split.edges.len()];
    let mut primal_loops = Vec::new();
    for (place, edge) in split.edges.iter().enumerate() {
        if dual.crossed[place] || primal.in_tree[place] {
            continue;
        }
        let generator = primal_loops.len();
        for step in dual.loop_across(mesh, kept, edge.edge) {
            if let Some(at) = split.edge_place[step.edge] {
                per_edge[at as usize].push(Crossing { generator, sign: step.sign });
            }
        }
        primal_loops.push(primal.loop_along(split, place));
    }
    let mut crossing_start = vec![0];
    let mut crossings = Vec::new();
    for list in per_edge {
        crossings.extend(list);
        crossing_start.push(crossings.len() as u32);
    }
    Trees {
        node_component: primal.component,
        roots: primal.roots,
        branches: primal.branches,
        crossing_start,
        crossings,
        primal_loops,
    }
}

/// Left and right of an edge that runs from its smaller to its larger vertex; `None` is the
/// outside, the boundary of the kept faces.
fn sides(mesh: &TriMesh, kept: &Field<Faces, bool>, edge: Id<Edges>) -> [Option<Id<Faces>>; 2] {
    let edge = &mesh.edges()[edge];
    let [left, right] = [Some(edge.faces.0), edge.faces.1].map(|face| face.filter(|f| kept[*f]));
    if edge.vertices[0] < edge.vertices[1] { [left, right] } else { [right, left] }
}

/// How a face was reached: from which face (`None` is the outside) and across which edge.
#[derive(Clone, Copy)]
struct Reached {
    depth: u32,
    from: Option<(Option<Id<Faces>>, Id<Edges>)>,
}

struct DualTree {
    reached: Field<Faces, Option<Reached>>,
    /// Per complex edge, whether the tree crosses it.
    crossed: Vec<bool>,
}

impl DualTree {
    fn new(mesh: &TriMesh, kept: &Field<Faces, bool>, split: &Split) -> Self {
        let mut tree =
            Self { reached: Field::filled(mesh.face_count(), None), crossed: vec![false; split.edges.len()] };
        let mut queue = VecDeque::new();
        for (place, edge) in split.edges.iter().enumerate() {
            if let [Some(face), None] | [None, Some(face)] = sides(mesh, kept, edge.edge)
                && tree.reached[face].is_none()
            {
                tree.reached[face] = Some(Reached { depth: 1, from: Some((None, edge.edge)) });
                tree.crossed[place] = true;
                queue.push_back(face);
            }
        }
        tree.grow(mesh, split, &mut queue, kept);
        // What the boundary does not reach is closed and has a root of its own.
        for (face, keep) in kept.iter() {
            if *keep && tree.reached[face].is_none() {
                tree.reached[face] = Some(Reached { depth: 0, from: None });
                queue.push_back(face);
                tree.grow(mesh, split, &mut queue, kept);
            }
        }
        tree
    }

    fn grow(
        &mut self,
        mesh: &TriMesh,
        split: &Split,
        queue: &mut VecDeque<Id<Faces>>,
        kept: &Field<Faces, bool>,
    ) {
        while let Some(face) = queue.pop_front() {
            let depth = self.depth(Some(face));
            for edge in mesh.face_edges()[face] {
                let [left, right] = sides(mesh, kept, edge);
                let other = if left == Some(face) { right } else { left };
                if let (Some(other), Some(place)) = (other, split.edge_place[edge])
                    && self.reached[other].is_none()
                {
                    self.reached[other] = Some(Reached { depth: depth + 1, from: Some((Some(face), edge)) });
                    self.crossed[place as usize] = true;
                    queue.push_back(other);
                }
            }
        }
    }

    fn depth(&self, face: Option<Id<Faces>>) -> u32 {
        face.and_then(|f| self.reached[f]).map_or(0, |reached| reached.depth)
    }

    /// The edges crossed by the loop that leaves the left face of `edge` across it and comes back
    /// through the tree.
    fn loop_across(&self, mesh: &TriMesh, kept: &Field<Faces, bool>, edge: Id<Edges>) -> Vec<Step> {
        let mut steps = vec![Step { edge, sign: 1.0 }];
        let [mut end, mut start] = sides(mesh, kept, edge);
        // Climb from both ends to where the paths meet; what they share further up would be crossed
        // forth and back.
        while start != end {
            let forth = self.depth(start) >= self.depth(end);
            let climber = if forth { &mut start } else { &mut end };
            let Some((face, (parent, across))) =
                climber.and_then(|f| Some((f, self.reached[f].and_then(|reached| reached.from)?)))
            else {
                break;
            };
            let outwards = if sides(mesh, kept, across)[0] == Some(face) { 1.0 } else { -1.0 };
            steps.push(Step { edge: across, sign: if forth { outwards } else { -outwards } });
            *climber = parent;
        }
        steps
    }
}

struct PrimalTree {
    component: Field<Nodes, u32>,
    roots: Vec<Id<Nodes>>,
    branches: Vec<Branch>,
    /// Where `branches` has the node; `None` for roots.
    branch_of: Field<Nodes, Option<u32>>,
    depth: Field<Nodes, u32>,
    in_tree: Vec<bool>,
}

impl PrimalTree {
    fn new(split: &Split, crossed: &[bool]) -> Self {
        let nodes = split.node_vertex.len();
        let mut neighbours: Vec<Vec<(Id<Nodes>, usize, f64)>> = vec![Vec::new(); nodes];
        for (place, edge) in split.edges.iter().enumerate().filter(|(place, _)| !crossed[*place]) {
            let [tail, head] = edge.nodes;
            neighbours[tail.index()].push((head, place, 1.0));
            neighbours[head.index()].push((tail, place, -1.0));
        }
        let mut tree = Self {
            component: Field::filled(nodes, u32::MAX),
            roots: Vec::new(),
            branches: Vec::new(),
            branch_of: Field::filled(nodes, None),
            depth: Field::filled(nodes, 0),
            in_tree: vec![false; split.edges.len()],
        };
        let mut queue = VecDeque::new();
        for root in split.node_vertex.ids() {
            if tree.component[root] != u32::MAX {
                continue;
            }
            let component = tree.roots.len() as u32;
            tree.roots.push(root);
            tree.component[root] = component;
            queue.push_back(root);
            while let Some(parent) = queue.pop_front() {
                for &(node, place, sign) in &neighbours[parent.index()] {
                    if tree.component[node] == u32::MAX {
                        tree.component[node] = component;
                        tree.depth[node] = tree.depth[parent] + 1;
                        tree.in_tree[place] = true;
                        tree.branch_of[node] = Some(tree.branches.len() as u32);
                        let step = Step { edge: split.edges[place].edge, sign };
                        tree.branches.push(Branch { node, parent, step });
                        queue.push_back(node);
                    }
                }
            }
        }
        tree
    }

    /// Along the edge, then through the tree from its head back to its tail.
    fn loop_along(&self, split: &Split, place: usize) -> Vec<Step> {
        let [tail, head] = split.edges[place].nodes;
        let mut steps = vec![Step { edge: split.edges[place].edge, sign: 1.0 }];
        let mut last = Vec::new();
        let (mut from, mut to) = (head, tail);
        while from != to {
            let up = self.depth[from] >= self.depth[to];
            let Some(branch) =
                self.branch_of[if up { from } else { to }].map(|at| self.branches[at as usize])
            else {
                break;
            };
            if up {
                steps.push(Step { sign: -branch.step.sign, ..branch.step });
                from = branch.parent;
            } else {
                last.push(branch.step);
                to = branch.parent;
            }
        }
        steps.extend(last.into_iter().rev());
        steps
    }
}
