//! What a sheet is made of: density, membrane, bending, damping, and presets with their sources.

use glam::DVec2;
use plisse_bending::{HingeWeight, Plate, PlateError};
use plisse_core::{Positive, UnitDir2};
use plisse_membrane::{Lame, MaterialError};

use super::damping::Damping;

/// A sheet: mass per area and the energies of its deformation.
///
/// ```
/// use plisse::core::Positive;
/// use plisse::scene::{Bending, Material};
/// let heavy = Material { density: Positive::literal(0.5), ..Material::denim() };
/// let limp = Material { bending: Bending::None, ..heavy };
/// assert_eq!(limp.membrane, Material::denim().membrane);
/// let all = [
///     Material::cotton(), Material::denim(), Material::silk(), Material::interlock(),
///     Material::tablecloth(), Material::paper(), Material::mylar(), Material::steel_sheet(),
/// ];
/// assert_eq!(Material::presets().map(|preset| preset.material), all);
/// assert_eq!(Material::preset("denim"), Some(Material::denim()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Mass per rest area, kg/m².
    pub density: Positive,
    /// Resistance to stretch and shear.
    pub membrane: Membrane,
    /// Resistance to bending.
    pub bending: Bending,
    /// What slows it down besides the time integration.
    pub damping: Damping,
}

/// Resistance of a sheet to changes of length and angle in its own plane.
///
/// ```
/// use plisse::bending::HingeWeight;
/// use plisse::core::{Positive, UnitDir2};
/// use plisse::scene::{AngleLaw, Bending, Damping, Material, Membrane, Preset, Shearing, Stretching};
/// let [k, d] = [100.0, 1e-5].map(Positive::literal);
/// let woven = Membrane::woven(k, k, k);
/// let oblique = Membrane {
///     shearing: Shearing::Quartic(k),
///     directions: [UnitDir2::U, UnitDir2::new(3.0, 1.0)?],
///     ..Membrane::isotropic(Stretching::Arap(k))
/// };
/// let bending = Bending::Hinge { law: AngleLaw::Tangent, rigidity: d.into(), weight: HingeWeight::AreaSum };
/// let material = Material { density: k, membrane: oblique, bending, damping: Damping::mass(k) };
/// assert_ne!(Bending::hinges(d), material.bending);
/// // From the figures of a sheet, or of a solid and its thickness.
/// let film = Material::solid(Positive::literal(4e9), 0.4, Positive::literal(2e-5), Positive::literal(1400.0))?;
/// let same = Material::sheet(film.density, Positive::literal(8e4), 0.4, d)?;
/// let Preset { name, source, .. } = Material::presets()[0];
/// println!("{name}: {source}, {woven:?}, {same:?}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Membrane {
    /// The energy of stretch.
    pub stretching: Stretching,
    /// The energy of shear between the two directions, beside what the stretching already resists.
    pub shearing: Shearing,
    /// Warp and weft in material coordinates. Isotropic stretching does not look at them, shear does.
    pub directions: [UnitDir2; 2],
}

/// The energy of stretch. Moduli of sheets, in N/m: those of the solid times its thickness.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Stretching {
    /// Baraff-Witkin: `warp/2 (‖Fu‖ - 1)² + weft/2 (‖Fv‖ - 1)²`.
    Fibres {
        /// Tensile modulus along the warp, N/m.
        warp: Positive,
        /// Tensile modulus along the weft, N/m.
        weft: Positive,
    },
    /// The same in Green's strain: stiffer in tension, softer in compression. Equal to [`Self::Fibres`] for small strain.
    GreenFibres {
        /// Tensile modulus along the warp, N/m.
        warp: Positive,
        /// Tensile modulus along the weft, N/m.
        weft: Positive,
    },
    /// As rigid as possible, `μ ‖F - R‖²`, with the shear modulus `μ` in N/m.
    Arap(Positive),
    /// St. Venant-Kirchhoff.
    StVenantKirchhoff(Lame),
    /// Corotational linear elasticity.
    Corotational(Lame),
    /// Stable neo-Hookean.
    NeoHookean(Lame),
}

/// The energy of shear between warp and weft, on `I6 = (Fa)·(Fb) - a·b`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shearing {
    /// None: the two directions turn freely against each other.
    None,
    /// Baraff-Witkin: `k/2 I6²`, with the shear modulus `k` in N/m.
    Quadratic(Positive),
    /// `k I6⁴` (Kim20, equation 44), in N/m. Without stiffness at rest.
    Quartic(Positive),
}

/// Resistance of a sheet to bending.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bending {
    /// None. The sheet folds on the scale of its mesh.
    None,
    /// Hinges along the edges, filtered as in WK23. Fast; how stiff the sheet is depends somewhat on the mesh.
    Hinge {
        /// How the energy grows with the angle.
        law: AngleLaw,
        /// Bending rigidity along warp and weft, N m; with [`HingeWeight::Unit`], the stiffness of each hinge.
        rigidity: Rigidity,
        /// How the mesh enters.
        weight: HingeWeight,
    },
    /// Curvature from mid-edge normals: the rigidity of a plate whatever the mesh, for a multiple of the time.
    MidEdge {
        /// Bending rigidity, N m.
        rigidity: Positive,
        /// Poisson's ratio, above -1 and up to 0.5.
        poisson: f64,
    },
    /// A constant matrix: the fastest. For sheets that are flat at rest and hardly stretch; a curved rest shape is
    /// refused.
    Quadratic {
        /// Bending rigidity, N m.
        rigidity: Positive,
    },
}

/// The bending rigidity of a sheet that is stiffer along one of its fibres, N m.
///
/// A hinge bends the sheet across its edge. With the direction across it written as `α a + β b` in the directions `a` of the warp and `b` of
/// the weft, its rigidity is `(α² warp + β² weft)/(α² + β²)`: exactly `warp` where only the warp bends, exactly `weft` where only the weft does. For
/// perpendicular fibres this is `warp cos² + weft sin²`, which is an orthotropic plate with `D3 = (warp + weft)/2`.
///
/// ```
/// use plisse::core::{Positive, UnitDir2};
/// use plisse::scene::{Bending, Material, Rigidity};
/// let [stiff, limp] = [3e-5, 1e-5].map(Positive::literal);
/// let woven = Rigidity { warp: stiff, weft: limp };
/// let axes = [UnitDir2::U, UnitDir2::V];
/// assert_eq!(woven.across(glam::DVec2::X, axes), 3e-5);
/// assert!((woven.across(glam::DVec2::ONE, axes) - 2e-5).abs() < 1e-18);
/// assert!(Rigidity::uniform(limp).is_uniform() && Rigidity::from(limp).mean() == limp);
/// let twill = Material { bending: Bending::hinges(woven), ..Material::denim() };
/// # let _ = twill;
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rigidity {
    /// Where the warp bends, N m.
    pub warp: Positive,
    /// Where the weft bends, N m.
    pub weft: Positive,
}

impl Rigidity {
    /// The same in every direction.
    #[must_use]
    pub const fn uniform(value: Positive) -> Self {
        Self { warp: value, weft: value }
    }

    /// Whether it is the same in every direction.
    #[must_use]
    pub fn is_uniform(self) -> bool {
        self.warp == self.weft
    }

    /// The mean of both, N m: that of all directions.
    #[must_use]
    pub fn mean(self) -> Positive {
        // The larger one stands in where the mean of two subnormal numbers is rounded to zero.
        let mean = 0.5 * self.warp.get() + 0.5 * self.weft.get();
        Positive::new(mean).unwrap_or(if self.warp > self.weft { self.warp } else { self.weft })
    }

    /// Rigidity in N m of a sheet that bends along a direction in material coordinates, of any length, with warp and weft along these. What
    /// bends along no direction, or along parallel fibres that it does not follow, has the mean.
    #[must_use]
    pub fn across(self, direction: DVec2, [warp, weft]: [UnitDir2; 2]) -> f64 {
        if self.is_uniform() {
            return self.warp.get();
        }
        let n = direction.normalize_or_zero();
        // n = α a + β b, both times a × b.
        let [alpha, beta] = [n.perp_dot(weft.get()), warp.get().perp_dot(n)].map(|c| c * c);
        let sum = alpha + beta;
        if sum > 0.0 {
            // A mean, whatever the rounding.
            let t = beta / sum;
            (1.0 - t) * self.warp.get() + t * self.weft.get()
        } else {
            self.mean().get()
        }
    }
}

impl From<Positive> for Rigidity {
    fn from(value: Positive) -> Self {
        Self::uniform(value)
    }
}

/// How the energy of a hinge or rod grows with its angle; all agree for small angles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AngleLaw {
    /// `½ (θ - θr)²`. Its force jumps where a hinge folds over, from `π` to `-π`; a step that ends there does not converge.
    Quadratic,
    /// `2 (tan θ/2 - tan θr/2)²`: infinite at a full fold.
    Tangent,
    /// `1 - cos(θ - θr)`, with the force `sin(θ - θr)`. The only one that is smooth everywhere, also where cloth folds over on
    /// the scale of its mesh.
    #[default]
    Sine,
    /// `4 (1 - cos θ/2) - 2 sin(θr/2) θ`: convex, with a kink at a full fold.
    Cosine,
}

impl Membrane {
    /// Baraff-Witkin cloth from the moduli of a fabric, N/m, with warp and weft along the material axes.
    #[must_use]
    pub fn woven(warp: Positive, weft: Positive, shear: Positive) -> Self {
        Self {
            stretching: Stretching::Fibres { warp, weft },
            shearing: Shearing::Quadratic(shear),
            directions: [UnitDir2::U, UnitDir2::V],
        }
    }

    /// An isotropic sheet; stretching has its own resistance to shear.
    #[must_use]
    pub fn isotropic(stretching: Stretching) -> Self {
        Self { stretching, shearing: Shearing::None, directions: [UnitDir2::U, UnitDir2::V] }
    }
}

impl Bending {
    /// Hinges with the bending rigidity of a plate, N m, and the sine law.
    #[must_use]
    pub fn hinges(rigidity: impl Into<Rigidity>) -> Self {
        Self::Hinge { law: AngleLaw::default(), rigidity: rigidity.into(), weight: HingeWeight::AreaSum }
    }
}

/// A named material and where its figures come from.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Lower-case name, as scene files use it.
    pub name: &'static str,
    /// The material.
    pub material: Material,
    /// Where the figures come from.
    pub source: &'static str,
}

const fn p(value: f64) -> Positive {
    Positive::literal(value)
}

const fn fabric(density: f64, [warp, weft, shear]: [f64; 3], rigidity: f64) -> Material {
    Material {
        density: p(density),
        membrane: Membrane {
            stretching: Stretching::Fibres { warp: p(warp), weft: p(weft) },
            shearing: Shearing::Quadratic(p(shear)),
            directions: [UnitDir2::U, UnitDir2::V],
        },
        bending: Bending::Hinge {
            law: AngleLaw::Sine,
            rigidity: Rigidity::uniform(p(rigidity)),
            weight: HingeWeight::AreaSum,
        },
        damping: Damping::NONE,
    }
}

const MEASURED: &str = "Wang et al. 2011 (density, warp, weft, shear; bending: middle of the measured range)";

const DENIM: Material = fabric(0.324, [205.0, 1014.0, 53.0], 7e-5);
const INTERLOCK: Material = fabric(0.187, [16.6, 34.5, 36.9], 2.3e-5);
const TABLECLOTH: Material = fabric(0.128, [2002.0, 2028.0, 19.0], 3.8e-5);
const SILK: Material = fabric(0.113, [200.0, 200.0, 14.0], 7e-6);
const COTTON: Material = fabric(0.2, [200.0, 200.0, 30.0], 1e-6);

impl Material {
    /// Denim: heavy, stiff along the weft.
    #[must_use]
    pub fn denim() -> Self {
        DENIM
    }

    /// The knit of a T-shirt: stretches easily.
    #[must_use]
    pub fn interlock() -> Self {
        INTERLOCK
    }

    /// A tablecloth: hardly stretches, shears easily.
    #[must_use]
    pub fn tablecloth() -> Self {
        TABLECLOTH
    }

    /// As light as the lightest and as limp as the limpest of the measured fabrics; tensile moduli assumed.
    #[must_use]
    pub fn silk() -> Self {
        SILK
    }

    /// A limp cotton; membrane moduli assumed.
    #[must_use]
    pub fn cotton() -> Self {
        COTTON
    }

    /// Cotton for shapes that have no warp and weft: the same density, bending and tensile stiffness, isotropic.
    #[must_use]
    pub(super) fn isotropic_cotton() -> Self {
        let sheet = Lame::plane_stress(p(200.0), 0.3, Positive::ONE).map(Stretching::Corotational);
        // The figures are valid.
        let stretching = sheet.unwrap_or(Stretching::Arap(p(100.0)));
        let bending = match COTTON.bending {
            Bending::Hinge { law, rigidity, weight } => {
                Bending::Hinge { law, rigidity: rigidity.mean().into(), weight }
            }
            other => other,
        };
        Self { membrane: Membrane::isotropic(stretching), bending, ..COTTON }
    }

    /// Writing paper, isotropic.
    #[must_use]
    pub fn paper() -> Self {
        Self::sheet(p(0.1), p(5e5), 0.3, p(4e-4)).unwrap_or(DENIM)
    }

    /// Polyester film of 25 µm: 4.5 GPa, Poisson's ratio 0.38, 1390 kg/m³.
    #[must_use]
    pub fn mylar() -> Self {
        Self::solid(p(4.5e9), 0.38, p(25e-6), p(1390.0)).unwrap_or(DENIM)
    }

    /// Steel of 0.1 mm: 200 GPa, Poisson's ratio 0.3, 7850 kg/m³.
    #[must_use]
    pub fn steel_sheet() -> Self {
        Self::solid(p(200e9), 0.3, p(1e-4), p(7850.0)).unwrap_or(DENIM)
    }

    /// An isotropic sheet from its own figures: kg/m², tensile stiffness `E h` in N/m, Poisson's ratio, bending rigidity in
    /// N m.
    pub fn sheet(
        density: Positive,
        tensile: Positive,
        poisson: f64,
        rigidity: Positive,
    ) -> Result<Self, MaterialError> {
        let lame = Lame::plane_stress(tensile, poisson, Positive::ONE)?;
        Ok(Self {
            density,
            membrane: Membrane::isotropic(Stretching::Corotational(lame)),
            bending: Bending::MidEdge { rigidity, poisson },
            damping: Damping::NONE,
        })
    }

    /// A thin sheet of a solid: Young's modulus in Pa, Poisson's ratio, thickness in m, kg/m³. The bending rigidity is
    /// `E h³/(12 (1 - ν²))`.
    pub fn solid(
        young: Positive,
        poisson: f64,
        thickness: Positive,
        density: Positive,
    ) -> Result<Self, MaterialError> {
        let lame = Lame::plane_stress(young, poisson, thickness)?;
        let plate = Plate::new(young, poisson, thickness).map_err(|error| match error {
            PlateError::Rigidity { value } => MaterialError::Stiffness { value },
            _ => MaterialError::PoissonRatio { value: poisson },
        })?;
        let per_area = density.get() * thickness.get();
        Ok(Self {
            density: Positive::new(per_area).map_err(|_| MaterialError::Stiffness { value: per_area })?,
            membrane: Membrane::isotropic(Stretching::Corotational(lame)),
            bending: Bending::MidEdge { rigidity: plate.rigidity(), poisson },
            damping: Damping::NONE,
        })
    }

    /// All presets.
    #[must_use]
    pub fn presets() -> [Preset; 8] {
        let preset = |name, material, source| Preset { name, material, source };
        let light =
            "Wang et al. 2011: the low end of their ranges for density, shear and bending; 200 N/m assumed";
        let cotton = "a preset in common use: 0.2 kg/m², bending 1e-6 N m; its 5 N/m needs a strain limit, so 200 N/m and 30 N/m assumed";
        let paper = "figures in common use for writing paper: 0.1 kg/m², 5e5 N/m, 4e-4 N m";
        let solid = "handbook figures of the solid and its thickness";
        [
            preset("cotton", Self::cotton(), cotton),
            preset("denim", Self::denim(), MEASURED),
            preset("silk", Self::silk(), light),
            preset("interlock", Self::interlock(), MEASURED),
            preset("tablecloth", Self::tablecloth(), MEASURED),
            preset("paper", Self::paper(), paper),
            preset("mylar", Self::mylar(), solid),
            preset("steel-sheet", Self::steel_sheet(), solid),
        ]
    }

    /// The preset of this name.
    #[must_use]
    pub fn preset(name: &str) -> Option<Self> {
        Self::presets().into_iter().find(|preset| preset.name == name).map(|preset| preset.material)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_what_their_names_say() {
        let names: Vec<&str> = Material::presets().iter().map(|preset| preset.name).collect();
        let expected =
            ["cotton", "denim", "silk", "interlock", "tablecloth", "paper", "mylar", "steel-sheet"];
        assert_eq!(names, expected);
        // None has fallen back to another one.
        for (i, a) in Material::presets().iter().enumerate() {
            for b in &Material::presets()[i + 1..] {
                assert_ne!(a.material, b.material, "{} {}", a.name, b.name);
            }
        }
        assert_eq!(Material::preset("denim"), Some(Material::denim()));
        assert_eq!(Material::preset("Denim"), None);
    }

    #[test]
    fn a_solid_has_the_rigidity_of_its_plate() {
        let Bending::MidEdge { rigidity, poisson } = Material::steel_sheet().bending else { panic!() };
        let plate = Plate::new(p(200e9), poisson, p(1e-4)).unwrap();
        assert!((rigidity.get() / plate.rigidity().get() - 1.0).abs() < 1e-14);
        assert!((Material::steel_sheet().density.get() - 0.785).abs() < 1e-12);
    }
}
