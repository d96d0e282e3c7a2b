//! Woven cloth as yarns, before it is part of a scene.

use glam::{DQuat, DVec2, DVec3};
use plisse_core::{Field, Id, Vertices};
use plisse_yarn::{Contacts, Family, Patch, Weave, Woven, Yarn, YarnMaterial, patch_of_quads};

use super::SceneError;
use super::body::{Body, body_methods};
use super::cloth::check_groups;
use super::pick::{Groups, Pick};
use super::touching::BodyContact;

/// Woven cloth as yarns that cross, stick and slide. A scene with such a cloth moves by backward
/// Euler and has no air.
///
/// Yarns are thick lines in contact. They do not touch yarns of their own cloth, unless
/// [`BodyContact::touches_itself`] says so: where yarns cross and where they lie side by side, the
/// patch keeps them apart itself. Even then, parts that start within three thicknesses of each
/// other do not touch.
///
/// ```
/// use glam::DVec3;
/// use plisse_core::Positive;
/// use plisse_scene::scene::{Obstacle, Pick, Scene, Yarns};
/// use plisse_yarn::Woven;
/// let woven = Woven { counts: [12, 8], tails: [1e-3, 1e-3], ..Woven::default() };
/// let patch = Yarns::woven(&woven)?.at(DVec3::Z * 0.012).pin(Pick::group("warp 3 end"));
/// let ball = Obstacle::sphere(DVec3::ZERO, Positive::literal(0.01));
/// let scene = Scene::builder().yarns(patch).obstacle(ball).time_step(Positive::literal(1e-3));
/// let mut scene = scene.build()?;
/// scene.step()?;
/// assert!(scene.yarn_events().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Yarns {
    pub(super) body: Body,
    pub(super) patch: Patch,
}

impl Yarns {
    /// A patch with groups of its vertices. Groups named after yarns are added where these names
    /// are free: `warp 3` has all vertices of the yarn, `warp 3 start` and `warp 3 end` its ends.
    ///
    /// # Errors
    /// If a group has a vertex that does not exist.
    pub fn new(
        patch: Patch,
        groups: impl IntoIterator<Item = (String, Vec<Id<Vertices>>)>,
    ) -> Result<Self, SceneError> {
        let mut groups: Groups = groups.into_iter().collect();
        check_groups(patch.len(), &groups)?;
        let mut of_yarns = Groups::new();
        // Pieces of a yarn that was cut have one name, and follow each other.
        for yarn in patch.yarns() {
            let name = yarn.name();
            let [start, end] = [yarn.nodes.first(), yarn.nodes.last()].map(|end| ids(end.copied()));
            of_yarns.entry(format!("{name} start")).or_insert(start);
            of_yarns.insert(format!("{name} end"), end);
            of_yarns.entry(name).or_default().extend(ids(yarn.nodes.iter().copied()));
        }
        for (name, vertices) in of_yarns {
            groups.entry(name).or_insert(vertices);
        }
        let mut body = Body::new(Field::from_vec(patch.rest().to_vec()), groups);
        body.contact.touches_itself = false;
        Ok(Self { body, patch })
    }

    /// A rectangle about the origin, in x and y. Groups: `left`, `right`, `bottom`, `top`,
    /// `corners`, and corners as `top-left` are outer crossings; `left-ends` and so on are where
    /// yarns end.
    ///
    /// # Errors
    /// [`SceneError::Patch`] with the yarn and the crossing.
    pub fn woven(woven: &Woven) -> Result<Self, SceneError> {
        Self::woven_with_cuts(woven, &[])
    }

    /// As [`Self::woven`], with straight cuts from one point in x and y to another, m: every yarn
    /// that a cut meets ends there, on both sides ([`Patch::cut`]).
    ///
    /// # Errors
    /// Also [`SceneError::BadCut`] for a cut that meets no yarn.
    pub fn woven_with_cuts(woven: &Woven, cuts: &[[DVec2; 2]]) -> Result<Self, SceneError> {
        let mut patch = woven.patch().map_err(refused)?;
        let [nx, ny] = woven.counts;
        let middle =
            0.5 * DVec3::new((nx - 1) as f64 * woven.spacing[0], (ny - 1) as f64 * woven.spacing[1], 0.0);
        for (number, cut) in cuts.iter().enumerate() {
            let [from, to] = cut.map(|end| end + middle.truncate());
            let torn = patch.cut(|a, b| meets([from, to], [a.truncate(), b.truncate()])).map_err(refused)?;
            if torn.len() == patch.len() {
                return Err(SceneError::BadCut { number, ends: cut.map(|end| end.to_array()) });
            }
            patch = torn;
        }
        let at = |i: usize, j: usize| (j * nx + i) as u32;
        let mut groups = vec![
            ("left", (0..ny).map(|j| at(0, j)).collect::<Vec<u32>>()),
            ("right", (0..ny).map(|j| at(nx - 1, j)).collect()),
            ("bottom", (0..nx).map(|i| at(i, 0)).collect()),
            ("top", (0..nx).map(|i| at(i, ny - 1)).collect()),
            ("corners", vec![at(0, 0), at(nx - 1, 0), at(0, ny - 1), at(nx - 1, ny - 1)]),
            ("bottom-left", vec![at(0, 0)]),
            ("bottom-right", vec![at(nx - 1, 0)]),
            ("top-left", vec![at(0, ny - 1)]),
            ("top-right", vec![at(nx - 1, ny - 1)]),
        ];
        // Of the pieces of a yarn, which follow each other, the first and the last.
        let ends = |family: Family| -> [Vec<u32>; 2] {
            let of: Vec<&Yarn> = patch.yarns().iter().filter(|yarn| yarn.family == family).collect();
            let whole = || of.chunk_by(|a, b| a.number == b.number);
            let first = whole().filter_map(|pieces| pieces.first()?.nodes.first()).copied().collect();
            [first, whole().filter_map(|pieces| pieces.last()?.nodes.last()).copied().collect()]
        };
        let ([left, right], [bottom, top]) = (ends(Family::Warp), ends(Family::Weft));
        groups.extend([
            ("left-ends", left),
            ("right-ends", right),
            ("bottom-ends", bottom),
            ("top-ends", top),
        ]);
        let groups = groups.into_iter().map(|(name, vertices)| (name.to_owned(), ids(vertices)));
        Ok(Self::new(patch, groups)?.at(-middle))
    }

    /// The edges of quads as yarns: see [`patch_of_quads`].
    ///
    /// # Errors
    /// [`SceneError::Patch`] with the quad, or the yarn and the crossing.
    pub fn quads(
        positions: &[DVec3],
        quads: &[[u32; 4]],
        weave: &Weave,
        materials: [YarnMaterial; 2],
        contacts: Contacts,
        groups: impl IntoIterator<Item = (String, Vec<Id<Vertices>>)>,
    ) -> Result<Self, SceneError> {
        let patch = patch_of_quads(positions, quads, weave, materials, contacts).map_err(refused)?;
        Self::new(patch, groups)
    }

    body_methods!();

    /// With another material for the yarn of this name, such as `warp 3`. Of the pieces of a yarn
    /// that was cut, all change.
    ///
    /// # Errors
    /// If there is no such yarn, and [`SceneError::Patch`] for a material that does not fit.
    pub fn with_yarn(
        mut self,
        name: &str,
        change: impl Fn(YarnMaterial) -> YarnMaterial,
    ) -> Result<Self, SceneError> {
        let mut yarns = self.patch.yarns().to_vec();
        let mut found = false;
        for yarn in yarns.iter_mut().filter(|yarn| yarn.name() == name) {
            yarn.material = change(yarn.material);
            found = true;
        }
        if !found {
            let [warp, weft] = [Family::Warp, Family::Weft]
                .map(|family| yarns.iter().filter(|yarn| yarn.family == family).count());
            let reason = format!(
                "there is no yarn \"{name}\"; there are {warp} warp yarns and {weft} weft yarns, counted from \
                 zero, such as \"warp 0\""
            );
            return Err(SceneError::Pick { body: "yarns".to_owned(), reason });
        }
        let over = (0..self.patch.len() as u32).map(|node| self.patch.warp_is_over(node)).collect();
        let rest = self.patch.rest().to_vec();
        self.patch = Patch::new(rest, yarns, over, *self.patch.contacts()).map_err(refused)?;
        Ok(self)
    }

    /// The patch, as it is at rest.
    #[must_use]
    pub fn patch(&self) -> &Patch {
        &self.patch
    }

    /// Radius of each yarn in contact, m: where yarns cross, one lies above the other, so that
    /// beyond its own radius each reaches half the sum of both.
    pub(super) fn contact_radii(patch: &Patch) -> Vec<f64> {
        let radius = |yarn: &Yarn| {
            let crimp = yarn.nodes.iter().filter_map(|node| match patch.at_node(*node) {
                [Some(warp), Some(weft)] => {
                    let [a, b] = [warp, weft].map(|at| patch.yarns()[at.yarn].material.radius);
                    Some(0.5 * (a + b))
                }
                _ => None,
            });
            yarn.material.radius + crimp.fold(0.0, f64::max)
        };
        patch.yarns().iter().map(radius).collect()
    }

    /// Mean length of segments at rest, m.
    pub(super) fn mean_segment(patch: &Patch) -> f64 {
        let (mut sum, mut count) = (0.0, 0);
        for yarn in patch.yarns() {
            sum += yarn.lengths[yarn.lengths.len() - 1] - yarn.lengths[0];
            count += yarn.nodes.len() - 1;
        }
        sum / f64::from(count.max(1) as u32)
    }

    /// Of each node, the radius in contact, m, and the shadow of its half segments, m².
    pub(super) fn node_sizes(patch: &Patch) -> (Vec<f64>, Vec<f64>) {
        let (mut radii, mut areas) = (vec![0.0_f64; patch.len()], vec![0.0; patch.len()]);
        for (yarn, radius) in patch.yarns().iter().zip(Self::contact_radii(patch)) {
            for k in 1..yarn.nodes.len() {
                let area = radius * (yarn.lengths[k] - yarn.lengths[k - 1]);
                for node in [yarn.nodes[k - 1], yarn.nodes[k]] {
                    radii[node as usize] = radii[node as usize].max(radius);
                    areas[node as usize] += area;
                }
            }
        }
        (radii, areas)
    }
}

/// Whether a cut meets a segment. A segment that ends on the line of the cut counts on one side of
/// it only, so that a yarn is cut once.
fn meets([from, to]: [DVec2; 2], [a, b]: [DVec2; 2]) -> bool {
    let along = to - from;
    let beside = [a, b].map(|x| along.perp_dot(x - from));
    if (beside[0] >= 0.0) == (beside[1] >= 0.0) {
        return false;
    }
    let place = a.lerp(b, beside[0] / (beside[0] - beside[1]));
    (0.0..=1.0).contains(&(along.dot(place - from) / along.length_squared()))
}

/// What a patch is called before it has a name.
fn refused(source: plisse_yarn::PatchError) -> SceneError {
    SceneError::Patch { body: "yarns".to_owned(), source }
}

fn ids(nodes: impl IntoIterator<Item = u32>) -> Vec<Id<Vertices>> {
    nodes.into_iter().map(Id::new).collect()
}
