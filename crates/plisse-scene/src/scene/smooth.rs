//! Smooth surfaces of developable cloth, to look at: a subdivision of where its edges are.
//!
//! The vertices of the ghost mesh are means of corners, each the linear continuation of a face
//! beyond the midpoints of its edges. On a curved sheet they therefore lie outside of it, and the
//! ghost looks rough (EB08, section 3.3). On a regular mesh of edge length `h` and a surface `z =
//! -½ κ x²`, the mean over the faces of a vertex is `κ h²/16` too high, the mean over the midpoints
//! of its edges `κ h²/16` too low. So the first subdivision takes midpoints where they are and
//! vertices halfway between both means, which is exact for quadratics; all others are Loop's.
//! Creases and boundaries stay what they are.

use std::collections::{BTreeMap, BTreeSet};

use glam::{DVec2, DVec3};
use plisse_collision::{SurfaceFace, intersections};
use plisse_core::{Edges, Faces, Field, Id, TriMesh, Vertices};
use plisse_system::State;

use super::crossings::triangles;
use super::obstacle::Obstacle;
use super::scene::{BodyInfo, Kind, Scene};

/// A sheet in smaller triangles than it was simulated with.
#[derive(Clone, Debug, PartialEq)]
pub struct SmoothSheet {
    /// Places of its vertices, m; those of the sheet come first.
    pub points: Vec<DVec3>,
    /// Its triangles.
    pub faces: Vec<[u32; 3]>,
    /// Material coordinates of the corners of its triangles, if the sheet has any.
    pub uv: Option<Vec<[DVec2; 3]>>,
    /// Of each point, a face of the sheet, its corners and barycentric coordinates there.
    origins: Vec<([u32; 3], [f64; 3])>,
    /// The largest part of the way to the smooth place that a point had to go back so that nothing
    /// crosses, from 0 to 1.
    pub held_back: f64,
}

impl SmoothSheet {
    /// Values of the vertices of the sheet, on the points.
    ///
    /// # Panics
    /// If there are fewer values than vertices.
    #[must_use]
    pub fn on_points<T>(&self, values: &[T]) -> Vec<T>
    where
        T: Copy + std::ops::Mul<f64, Output = T> + std::ops::Add<Output = T>,
    {
        let one = |(corners, [a, b, c]): &([u32; 3], [f64; 3])| {
            let [p, q, r] = corners.map(|v| values[v as usize]);
            p * *a + q * *b + r * *c
        };
        self.origins.iter().map(one).collect()
    }
}

/// What of a cloth is on edges of the whole.
#[derive(Clone, Debug)]
pub(super) struct EdgeSheet {
    /// Of each edge of its mesh, the number among all.
    pub(super) numbers: Field<Edges, u32>,
    /// Edges that stay sharp.
    pub(super) sharp: BTreeSet<[u32; 2]>,
}

/// Edges that are bent by more than this at rest are folds, rad.
pub(super) const FOLDED: f64 = 0.5;
/// Rounds in which points go back, before all do.
const ROUNDS: usize = 12;
/// What is left of the way after one.
const KEPT: f64 = 0.5;
/// Less of it is none.
const LEAST: f64 = 0.1;
/// More levels would make more triangles than anybody can see.
pub const MOST_LEVELS: u32 = 4;

impl Scene {
    /// Smooth surfaces of the developable cloths in a state of this scene, with each triangle
    /// divided into four so many times, at most [`MOST_LEVELS`]; none of other bodies.
    ///
    /// Where the smooth surface would cross itself, another body or an obstacle, and the mesh of
    /// the simulation does not, its points go back towards that mesh: nothing crosses that did not.
    /// For balls, capsules and other obstacles without triangles that is asked of the corners of
    /// the small triangles, the middles of their sides and their centres.
    #[must_use]
    pub fn smooth_sheets(&self, state: &State<Vertices>, levels: u32) -> Vec<Option<SmoothSheet>> {
        let edges: Vec<DVec3> = state.own().values.chunks_exact(3).map(DVec3::from_slice).collect();
        let levels = levels.min(MOST_LEVELS);
        let mut all: Vec<Option<Divided>> = Vec::new();
        for (body, sheet) in self.bodies.iter().zip(&self.edge_sheets) {
            let Kind::Cloth { mesh, .. } = &body.kind else {
                all.push(None);
                continue;
            };
            let ghost = &state.x().as_slice()[body.vertices.clone()];
            let middles = mesh.edges().iter().map(|(id, edge)| {
                let [a, b] = edge.vertices.map(|v| ghost[v.index()]);
                // A state that has not moved yet has no edges of its own.
                edges.get(sheet.numbers[id] as usize).copied().unwrap_or((a + b) * 0.5)
            });
            let middles = Field::from_vec(middles.collect());
            all.push((levels > 0).then(|| Divided::new(mesh, ghost, &middles, &sheet.sharp, levels)));
        }
        all.resize_with(self.bodies.len(), || None);
        if all.iter().any(Option::is_some) {
            self.hold_back(state, &mut all);
        }
        let sheet = |(divided, body): (Option<Divided>, &BodyInfo)| Some(divided?.finished(body));
        all.into_iter().zip(&self.bodies).map(sheet).collect()
    }

    /// Leads points back until nothing crosses that did not cross before.
    fn hold_back(&self, state: &State<Vertices>, all: &mut [Option<Divided>]) {
        let time = state.time();
        let solids: Vec<(TriMesh, Vec<DVec3>)> = self
            .obstacles
            .iter()
            .filter_map(|obstacle| {
                let (mesh, local) = triangles(obstacle, &self.start)?;
                let mut placed = vec![DVec3::ZERO; local.len()];
                obstacle.place_parts(time, &local, &mut placed);
                Some((mesh, placed))
            })
            .collect();
        let round: Vec<&Obstacle> = self.obstacles.iter().filter(|o| !o.is_faceted()).collect();
        let before = crossed(&coarse(all, state, &self.bodies), &solids);
        for left in (0..ROUNDS).rev() {
            let fine: Vec<(Vec<[u32; 3]>, Vec<DVec3>)> =
                all.iter().flatten().map(|divided| (divided.faces.clone(), divided.points())).collect();
            let mut wrong: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); fine.len()];
            for pair in crossed(&fine, &solids) {
                let parent = |face: SurfaceFace| {
                    let of = all.iter().flatten().nth(face.surface);
                    let parent = of.map_or(face.face, |divided| divided.parents[face.face.index()]);
                    SurfaceFace { face: parent, ..face }
                };
                if before.contains(&pair.map(parent)) {
                    continue;
                }
                for face in pair.into_iter().filter(|face| face.surface < fine.len()) {
                    wrong[face.surface].insert(face.face.index());
                }
            }
            for ((divided, (faces, x)), wrong) in all.iter().flatten().zip(&fine).zip(&mut wrong) {
                let old = divided.plain_points();
                for (index, corners) in faces.iter().enumerate() {
                    let [now, then] = [x, &old].map(|x| corners.map(|v| x[v as usize]));
                    let enters = |obstacle: &&Obstacle| {
                        let inside = |x: DVec3| obstacle.distance(time, x).value < 0.0;
                        let of = |x: [DVec3; 3]| samples(x).into_iter().any(inside);
                        of(now) && !of(then)
                    };
                    if round.iter().any(enters) {
                        wrong.insert(index);
                    }
                }
            }
            if wrong.iter().all(BTreeSet::is_empty) {
                return;
            }
            for (divided, wrong) in all.iter_mut().flatten().zip(wrong) {
                divided.go_back(&wrong, left == 0);
            }
        }
    }
}

/// Places on a triangle.
fn samples([a, b, c]: [DVec3; 3]) -> [DVec3; 7] {
    [a, b, c, (a + b) * 0.5, (b + c) * 0.5, (c + a) * 0.5, (a + b + c) / 3.0]
}

/// The meshes of the simulation.
fn coarse(
    all: &[Option<Divided>],
    state: &State<Vertices>,
    bodies: &[BodyInfo],
) -> Vec<(Vec<[u32; 3]>, Vec<DVec3>)> {
    let one = |(_, body): (&Option<Divided>, &BodyInfo)| {
        let Kind::Cloth { mesh, .. } = &body.kind else { return (Vec::new(), Vec::new()) };
        let faces = mesh.faces().as_slice().iter().map(|face| face.map(Id::get)).collect();
        (faces, state.x().as_slice()[body.vertices.clone()].to_vec())
    };
    all.iter().zip(bodies).filter(|(divided, _)| divided.is_some()).map(one).collect()
}

/// Pairs of triangles that cross.
fn crossed(
    surfaces: &[(Vec<[u32; 3]>, Vec<DVec3>)],
    solids: &[(TriMesh, Vec<DVec3>)],
) -> BTreeSet<[SurfaceFace; 2]> {
    let total = surfaces.iter().map(|(_, x)| x.len()).chain(solids.iter().map(|(_, x)| x.len())).sum();
    let (mut meshes, mut x): (Vec<TriMesh>, Vec<DVec3>) = (Vec::new(), Vec::with_capacity(total));
    for (faces, points) in surfaces {
        #[expect(clippy::expect_used, reason = "a subdivision of a mesh is a mesh")]
        let mesh = TriMesh::with_isolated_vertices(points.len(), faces).expect("a mesh");
        meshes.push(mesh.among(x.len() as u32, total));
        x.extend_from_slice(points);
    }
    for (mesh, points) in solids {
        meshes.push(mesh.among(x.len() as u32, total));
        x.extend_from_slice(points);
    }
    let all: Vec<&TriMesh> = meshes.iter().collect();
    let found = intersections(&all, &Field::from_vec(x)).crossings;
    let of_sheets = |pair: &[SurfaceFace; 2]| pair.iter().any(|face| face.surface < surfaces.len());
    found.into_iter().map(|crossing| crossing.faces).filter(of_sheets).collect()
}

/// A sheet in smaller triangles.
struct Divided {
    faces: Vec<[u32; 3]>,
    /// Of each face, that of the sheet in which it lies, and where its corners are there.
    parents: Vec<Id<Faces>>,
    places: Vec<[[f64; 3]; 3]>,
    /// Of each point, where it would be smooth, and where on the mesh.
    smooth: Vec<DVec3>,
    plain: Vec<DVec3>,
    origins: Vec<([u32; 3], [f64; 3])>,
    /// How far each point is on its way from the mesh to its smooth place.
    share: Vec<f64>,
}

impl Divided {
    fn new(
        mesh: &TriMesh,
        ghost: &[DVec3],
        middles: &Field<Edges, DVec3>,
        sharp: &BTreeSet<[u32; 2]>,
        levels: u32,
    ) -> Self {
        let corners: Vec<[u32; 3]> = mesh.faces().as_slice().iter().map(|face| face.map(Id::get)).collect();
        let own = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let mut out = Self {
            faces: corners.clone(),
            parents: mesh.faces().ids().collect(),
            places: vec![own; corners.len()],
            smooth: ghost.to_vec(),
            plain: Vec::new(),
            origins: Vec::new(),
            share: Vec::new(),
        };
        // Sharp edges and boundaries.
        let mut curves = sharp.clone();
        curves.extend(
            mesh.edges().iter().filter(|(_, edge)| edge.is_boundary()).map(|(_, edge)| ends(edge.vertices)),
        );
        let mut fixed: BTreeSet<u32> =
            mesh.vertices().filter(|v| mesh.vertex_faces(*v).len() <= 2).map(Id::get).collect();
        let by_ends: BTreeMap<[u32; 2], Id<Edges>> =
            mesh.edges().iter().map(|(id, edge)| (ends(edge.vertices), id)).collect();
        for level in 0..levels {
            let links = Links::new(&out.faces, &curves);
            let old = &out.smooth;
            let mut next: Vec<DVec3> = Vec::with_capacity(old.len() + links.edges.len());
            for (v, x) in (0..).zip(old) {
                let curve = links.curve.get(&v).map_or(&[][..], Vec::as_slice);
                let around = &links.around[v as usize];
                next.push(match (level, curve, around.len()) {
                    (_, _, 0) => *x,
                    (0, [], count) => {
                        let mean = around.iter().map(|w| middles[by_ends[&pair(v, *w)]]).sum::<DVec3>()
                            / count as f64;
                        (*x + mean) * 0.5
                    }
                    (0, ..) => *x,
                    (_, [], count) => {
                        let weight = if count == 3 { 3.0 / 16.0 } else { 3.0 / (8.0 * count as f64) };
                        let sum: DVec3 = around.iter().map(|w| old[*w as usize]).sum();
                        *x * (1.0 - weight * count as f64) + sum * weight
                    }
                    (_, [a, b], _) if !fixed.contains(&v) => {
                        *x * 0.75 + (old[*a as usize] + old[*b as usize]) * 0.125
                    }
                    _ => *x,
                });
            }
            let mut numbers = BTreeMap::new();
            let mut finer = BTreeSet::new();
            for (edge, apexes) in &links.edges {
                let number = next.len() as u32;
                numbers.insert(*edge, number);
                let [a, b] = edge.map(|v| old[v as usize]);
                let is_curve = curves.contains(edge);
                next.push(match (level, &apexes[..]) {
                    (0, _) => middles[by_ends[edge]],
                    (_, [c, d]) if !is_curve => {
                        (a + b) * 0.375 + (old[*c as usize] + old[*d as usize]) * 0.125
                    }
                    _ => (a + b) * 0.5,
                });
                if is_curve {
                    finer.extend(edge.map(|v| pair(v, number)));
                }
            }
            // Where curves meet or end.
            fixed.extend(links.curve.iter().filter(|(_, list)| list.len() != 2).map(|(v, _)| *v));
            curves = finer;
            out.smooth = next;
            out.split(&numbers);
        }
        out.origins = vec![([0; 3], [0.0; 3]); out.smooth.len()];
        for ((face, parent), places) in out.faces.iter().zip(&out.parents).zip(&out.places) {
            for (v, place) in face.iter().zip(places) {
                out.origins[*v as usize] = (corners[parent.index()], *place);
            }
        }
        let mean = |(corners, places): &([u32; 3], [f64; 3])| {
            corners.iter().zip(places).map(|(v, part)| ghost[*v as usize] * *part).sum()
        };
        out.plain = out.origins.iter().map(mean).collect();
        out.share = vec![1.0; out.smooth.len()];
        out
    }

    /// Every face into four.
    fn split(&mut self, numbers: &BTreeMap<[u32; 2], u32>) {
        let (mut faces, mut parents, mut places) = (Vec::new(), Vec::new(), Vec::new());
        let half = |a: [f64; 3], b: [f64; 3]| [0, 1, 2].map(|k| 0.5 * (a[k] + b[k]));
        for (([a, b, c], parent), [pa, pb, pc]) in self.faces.iter().zip(&self.parents).zip(&self.places) {
            let [d, e, f] = [pair(*b, *c), pair(*c, *a), pair(*a, *b)].map(|edge| numbers[&edge]);
            let [pd, pe, pf] = [half(*pb, *pc), half(*pc, *pa), half(*pa, *pb)];
            for (face, place) in [
                ([*a, f, e], [*pa, pf, pe]),
                ([f, *b, d], [pf, *pb, pd]),
                ([e, d, *c], [pe, pd, *pc]),
                ([d, e, f], [pd, pe, pf]),
            ] {
                faces.push(face);
                parents.push(*parent);
                places.push(place);
            }
        }
        (self.faces, self.parents, self.places) = (faces, parents, places);
    }

    fn plain_points(&self) -> Vec<DVec3> {
        self.plain.clone()
    }

    fn points(&self) -> Vec<DVec3> {
        let both = self.plain.iter().zip(&self.smooth).zip(&self.share);
        // Without a way the bits of the mesh.
        both.map(|((plain, smooth), share)| if *share > 0.0 { plain.lerp(*smooth, *share) } else { *plain })
            .collect()
    }

    /// The corners of these faces go back, those of the last round entirely and with all others.
    fn go_back(&mut self, wrong: &BTreeSet<usize>, entirely: bool) {
        if entirely && !wrong.is_empty() {
            self.share.fill(0.0);
            return;
        }
        let corners: BTreeSet<u32> = wrong.iter().flat_map(|face| self.faces[*face]).collect();
        for v in corners {
            let share = &mut self.share[v as usize];
            *share = if *share * KEPT < LEAST { 0.0 } else { *share * KEPT };
        }
    }

    fn finished(self, body: &BodyInfo) -> SmoothSheet {
        let uv = match &body.kind {
            Kind::Cloth { uv: Some(uv), .. } => Some(uv),
            _ => None,
        };
        let corner = |parent: Id<Faces>, uv: &Field<Faces, [DVec2; 3]>, place: [f64; 3]| -> DVec2 {
            uv[parent].iter().zip(place).map(|(u, part)| *u * part).sum()
        };
        let uv = uv.map(|uv| {
            let both = self.parents.iter().zip(&self.places);
            both.map(|(parent, places)| places.map(|place| corner(*parent, uv, place))).collect()
        });
        let held_back = 1.0 - self.share.iter().copied().fold(1.0, f64::min);
        let points = self.points();
        SmoothSheet { points, faces: self.faces, uv, origins: self.origins, held_back }
    }
}

/// Who is next to whom.
struct Links {
    /// Neighbours of each vertex, ascending.
    around: Vec<Vec<u32>>,
    /// The corners opposite each edge.
    edges: BTreeMap<[u32; 2], Vec<u32>>,
    /// Neighbours along curves.
    curve: BTreeMap<u32, Vec<u32>>,
}

impl Links {
    fn new(faces: &[[u32; 3]], curves: &BTreeSet<[u32; 2]>) -> Self {
        let mut edges: BTreeMap<[u32; 2], Vec<u32>> = BTreeMap::new();
        for [a, b, c] in faces {
            for (v, w, apex) in [(*a, *b, *c), (*b, *c, *a), (*c, *a, *b)] {
                edges.entry(pair(v, w)).or_default().push(apex);
            }
        }
        let count = faces.iter().flatten().max().map_or(0, |v| *v as usize + 1);
        let (mut around, mut curve) = (vec![Vec::new(); count], BTreeMap::new());
        for edge @ [a, b] in edges.keys() {
            around[*a as usize].push(*b);
            around[*b as usize].push(*a);
            if curves.contains(edge) {
                curve.entry(*a).or_insert_with(Vec::new).push(*b);
                curve.entry(*b).or_insert_with(Vec::new).push(*a);
            }
        }
        Self { around, edges, curve }
    }
}

fn pair(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

fn ends([a, b]: [Id<Vertices>; 2]) -> [u32; 2] {
    pair(a.get(), b.get())
}
