//! Cloth that is stretched at most to a limit.

use glam::DVec3;
use plisse_core::{Element, Field, Positive, Psd, StepEnergy, Vertices};
use plisse_membrane::{LimitedStretch, StrainLimit, StrainLimitElement};
use plisse_system::{ElementTerm, Gradient, Pose, Sink, Taut, Term, Unknown, Way};

use super::SceneError;
use super::bodies::Place;
use super::cloth::Cloth;

/// The largest stretch of a cloth: [`Cloth::strain_limit`].
///
/// ```
/// use plisse_scene::scene::{Cloth, Limited, MaxStretch, Pick, Scene};
/// let sheet = Cloth::sheet([6, 6], [0.3, 0.3])?.pin(Pick::group("top"));
/// let mut scene = Scene::builder().cloth(sheet.strain_limit(MaxStretch::any(1.02))).build()?;
/// let tautest = scene.step()?.tautest.expect("a cloth with a limit");
/// assert!(tautest.taut.stretch < 1.02);
/// assert_eq!(MaxStretch::warp_weft(1.05), MaxStretch { value: 1.05, of: Limited::WarpWeft });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaxStretch {
    /// As a multiple of the length at rest: 1.05 lets the cloth grow by 5 %. From 1.0001 to 100.
    pub value: f64,
    /// In which directions it holds.
    pub of: Limited,
}

/// In which directions a [`MaxStretch`] holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Limited {
    /// In all: the larger principal stretch.
    #[default]
    Any,
    /// Along warp and weft; the bias is free.
    WarpWeft,
}

impl MaxStretch {
    /// In all directions.
    #[must_use]
    pub fn any(value: f64) -> Self {
        Self { value, of: Limited::Any }
    }

    /// Along warp and weft.
    #[must_use]
    pub fn warp_weft(value: f64) -> Self {
        Self { value, of: Limited::WarpWeft }
    }
}

/// A first guess must keep this part of the distance to the limit.
const KEPT: f64 = 0.1;
/// Triangles of a guess that do not are shortened so that they keep this part.
const AIM: f64 = 0.5;
/// Passes over all triangles, there and back.
const PASSES: usize = 40;

/// The barrier of all triangles of a cloth.
///
/// Sums are those of the elements. What is added keeps solvers within the limit, and makes first
/// guesses that are: a pin that moves takes the cloth along.
pub(super) struct StrainLimitTerm {
    sum: ElementTerm<StrainLimitElement, 3>,
    /// Which corners pins hold.
    held: Vec<[bool; 3]>,
}

impl StrainLimitTerm {
    /// Of a cloth at a place in the scene; none without a limit. `held` says of each vertex of the
    /// cloth whether a pin says where it is.
    pub(super) fn of_cloth(
        cloth: &Cloth,
        held: &Field<Vertices, bool>,
        place: Place,
        name: &str,
    ) -> Result<Option<Self>, SceneError> {
        let Some(max) = cloth.strain_limit else { return Ok(None) };
        let of = match max.of {
            Limited::Any => LimitedStretch::Principal,
            Limited::WarpWeft if cloth.uv.is_none() => {
                return Err(SceneError::NoLimitDirections { body: name.to_owned() });
            }
            Limited::WarpWeft => LimitedStretch::Fibres(cloth.material.membrane.directions),
        };
        // The barrier must take over where the material gives way: at half of its depth its tension
        // is a quarter of the modulus, whatever the limit.
        let [warp, weft] = cloth.material.membrane.tensile_moduli();
        // An impossible limit is refused below.
        let stiffness = Positive::new(0.5 * (warp + weft) / (max.value - 1.0)).unwrap_or(Positive::ONE);
        let limit = StrainLimit::new(of, max.value, stiffness)?;
        let faces = cloth.mesh.faces();
        let elements = faces
            .iter()
            .map(|(face, v)| StrainLimitElement::new(v.map(|v| place.id(v)), *cloth.rest.map(face), limit))
            .collect();
        let held = faces.as_slice().iter().map(|v| v.map(|v| held[v])).collect();
        Ok(Some(Self { sum: ElementTerm::new(format!("{name}: strain limit"), elements), held }))
    }

    /// Refuses a start beyond the limit. `x` has the vertices of the scene.
    pub(super) fn check_start(&self, x: &Field<Vertices, DVec3>, body: &str) -> Result<(), SceneError> {
        match self.tautest(&Pose::at(x)) {
            Some(Taut { element, stretch, limit }) if stretch >= limit => {
                Err(SceneError::StartsStretched { body: body.to_owned(), face: element, stretch, limit })
            }
            _ => Ok(()),
        }
    }

    fn stretch(element: &StrainLimitElement, x: &Field<Vertices, DVec3>) -> f64 {
        element.stretch(&element.nodes().map(|v| x[v]))
    }

    /// The stretch of a triangle that keeps a part of the distance to the limit that it has now.
    /// What is slack may be stretched to where the barrier begins, and on from there.
    fn keeping(part: f64, element: &StrainLimitElement, start: &Field<Vertices, DVec3>) -> f64 {
        let from = Self::stretch(element, start).max(element.limit().begin());
        from + (1.0 - part) * (element.limit().limit() - from)
    }

    fn keeps(&self, start: &Field<Vertices, DVec3>, guess: &Field<Vertices, DVec3>) -> bool {
        self.sum.elements().iter().all(|element| {
            let stretch = Self::stretch(element, guess);
            // Most are slack, and where they start does not matter.
            stretch <= element.limit().begin() || stretch <= Self::keeping(KEPT, element, start)
        })
    }

    /// Shortens the triangles of a guess one after the other, which moves their neighbours: after a
    /// pass there and one back, what pins pull has come along.
    fn shorten(&self, start: &Field<Vertices, DVec3>, guess: &mut Field<Vertices, DVec3>) {
        let elements = self.sum.elements();
        let shorten = |guess: &mut Field<Vertices, DVec3>, i: usize| {
            let (element, held) = (&elements[i], self.held[i]);
            let nodes = element.nodes();
            let x = nodes.map(|v| guess[v]);
            let stretch = element.stretch(&x);
            if stretch <= element.limit().begin() || held == [true; 3] {
                return;
            }
            let aim = Self::keeping(AIM, element, start);
            if stretch > aim {
                for ((v, x), held) in nodes.into_iter().zip(element.shortened(&x, aim, held)).zip(held) {
                    if !held {
                        guess[v] = x;
                    }
                }
            }
        };
        (0..elements.len()).for_each(|i| shorten(guess, i));
        (0..elements.len()).rev().for_each(|i| shorten(guess, i));
    }
}

impl Term<Vertices> for StrainLimitTerm {
    fn name(&self) -> &str {
        self.sum.name()
    }

    fn pattern(&self, pair: &mut dyn FnMut(Unknown<Vertices>, Unknown<Vertices>)) {
        self.sum.pattern(pair);
    }

    fn energy(&self, pose: &Pose<'_, Vertices>) -> f64 {
        self.sum.energy(pose)
    }

    fn add_gradient(&self, pose: &Pose<'_, Vertices>, gradient: &mut Gradient<'_, Vertices>) {
        self.sum.add_gradient(pose, gradient);
    }

    fn energy_and_add_gradient(
        &self,
        pose: &Pose<'_, Vertices>,
        gradient: &mut Gradient<'_, Vertices>,
    ) -> StepEnergy {
        self.sum.energy_and_add_gradient(pose, gradient)
    }

    fn add_hessian(&self, pose: &Pose<'_, Vertices>, psd: Psd, sink: &mut Sink<'_>) {
        self.sum.add_hessian(pose, psd, sink);
    }

    /// What one triangle allows bounds all that follow: most are asked only whether they allow it,
    /// too.
    fn longest_step(&self, pose: &Pose<'_, Vertices>, to: &Pose<'_, Vertices>) -> f64 {
        self.sum.elements().iter().fold(f64::INFINITY, |longest, element| {
            let (x, to) = (pose.gather(element.nodes()), to.gather(element.nodes()));
            if longest.is_finite() && element.allows(&x, &to, longest) {
                longest
            } else {
                longest.min(element.longest_step(&x, &to))
            }
        })
    }

    /// A guess that has no answer is left as it is, and is not reachable.
    fn admit(&self, way: &Way<'_, Vertices>, guess: &mut Field<Vertices, DVec3>) {
        let start = way.start;
        if self.keeps(start, guess) {
            return;
        }
        let mut trial = guess.clone();
        for _ in 0..PASSES {
            self.shorten(start, &mut trial);
            if self.keeps(start, &trial) {
                *guess = trial;
                return;
            }
        }
    }

    fn is_reachable(&self, _: &Way<'_, Vertices>, guess: &Field<Vertices, DVec3>) -> bool {
        // The states within are convex: so is the straight way to the guess.
        self.sum.elements().iter().all(|element| Self::stretch(element, guess) < element.limit().limit())
    }

    fn tautest(&self, pose: &Pose<'_, Vertices>) -> Option<Taut> {
        let all = self.sum.elements().iter().enumerate().map(|(i, element)| {
            let stretch = Self::stretch(element, pose.x);
            Taut { element: i, stretch, limit: element.limit().limit() }
        });
        all.reduce(|a, b| if b.stretch > a.stretch { b } else { a })
    }
}
