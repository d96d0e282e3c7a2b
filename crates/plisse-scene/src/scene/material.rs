//! What a sheet is made of: density, membrane, bending, damping, and presets with their sources.

use glam::DVec2;
use plisse_bending::HingeWeight;
use plisse_core::{IsotropicSheet, PoissonRatio, Positive, UnitDir2};
use plisse_membrane::{Lame, MaterialError};

use super::damping::{Damping, StrainRate};

/// A sheet: mass per area and the energies of its deformation.
///
/// ```
/// use plisse_core::Positive;
/// use plisse_scene::scene::{Bending, Material};
/// let heavy = Material { density: Positive::literal(0.5), ..Material::denim() };
/// let limp = Material { bending: Bending::None, ..heavy };
/// assert_eq!(limp.membrane, Material::denim().membrane);
/// let all = [
///     Material::cotton(), Material::denim(), Material::silk(), Material::wool(), Material::interlock(),
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
/// use plisse_bending::HingeWeight;
/// use plisse_core::{IsotropicSheet, PoissonRatio, Positive, UnitDir2};
/// use plisse_scene::scene::{AngleLaw, Bending, Damping, Material, Membrane, Preset, Shearing, Stretching};
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
/// let [young, thickness, density] = [4e9, 2e-5, 1400.0].map(Positive::literal);
/// let film = IsotropicSheet::new(young, PoissonRatio::literal(0.4), thickness);
/// let film = Material::solid(&film, density)?;
/// let same = Material::sheet(film.density, Positive::literal(8e4), PoissonRatio::literal(0.4), d)?;
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
    /// Warp and weft in material coordinates. Isotropic stretching does not look at them, shear
    /// does.
    pub directions: [UnitDir2; 2],
}

impl Membrane {
    /// Tensile moduli along warp and weft, N/m.
    pub(super) fn tensile_moduli(&self) -> [f64; 2] {
        match self.stretching {
            Stretching::Fibres { warp, weft } | Stretching::GreenFibres { warp, weft } => {
                [warp.get(), weft.get()]
            }
            Stretching::Arap(mu) => [2.0 * mu.get(); 2],
            Stretching::StVenantKirchhoff(lame)
            | Stretching::Corotational(lame)
            | Stretching::NeoHookean(lame) => [lame.tensile_stiffness(); 2],
            Stretching::NeoHookeanIncompressible(mu) => [3.0 * mu.get(); 2],
        }
    }
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
    /// The same in Green's strain: stiffer in tension, softer in compression. Equal to
    /// [`Self::Fibres`] for small strain.
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
    /// Stable neo-Hookean: an energy of the surface alone. The sheet does not thin as it is
    /// stretched, whatever its Poisson's ratio.
    NeoHookean(Lame),
    /// Incompressible neo-Hookean, which is rubber: the solid keeps its volume, and the sheet thins
    /// as it is stretched. With the shear modulus `μ = E h/3` in N/m; Poisson's ratio is 0.5.
    NeoHookeanIncompressible(Positive),
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
    /// Hinges along the edges, filtered as in WK23. Fast; how stiff the sheet is depends somewhat
    /// on the mesh.
    Hinge {
        /// How the energy grows with the angle.
        law: AngleLaw,
        /// Bending rigidity along warp and weft, N m; with [`HingeWeight::Unit`], the stiffness of
        /// each hinge.
        rigidity: Rigidity,
        /// How the mesh enters.
        weight: HingeWeight,
    },
    /// Curvature from mid-edge normals: the rigidity of a plate whatever the mesh, for a multiple
    /// of the time.
    MidEdge {
        /// Bending rigidity, N m.
        rigidity: Positive,
        /// Poisson's ratio.
        poisson: PoissonRatio,
    },
    /// A constant matrix: the fastest. For sheets that are flat at rest and hardly stretch; a
    /// curved rest shape is refused.
    Quadratic {
        /// Bending rigidity, N m.
        rigidity: Positive,
    },
}

/// The bending rigidity of a sheet that is stiffer along one of its fibres, N m.
///
/// A hinge bends the sheet across its edge. With the direction across it written as `α a + β b` in
/// the directions `a` of the warp and `b` of the weft, its rigidity is
/// `(α² warp + β² weft)/(α² + β²)`: exactly `warp` where only the warp bends, exactly `weft` where
/// only the weft does. For perpendicular fibres this is `warp cos² + weft sin²`, which is an
/// orthotropic plate with `D3 = (warp + weft)/2`.
///
/// ```
/// use plisse_core::{Positive, UnitDir2};
/// use plisse_scene::scene::{Bending, Material, Rigidity};
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
    #[expect(clippy::expect_used, reason = "rounding is monotone: a mean of two numbers lies between them")]
    pub fn mean(self) -> Positive {
        let mean = 0.5 * self.warp.get() + 0.5 * self.weft.get();
        Positive::new(mean).expect("between two positive numbers")
    }

    /// Rigidity in N m of a sheet that bends along a direction in material coordinates, of any
    /// length, with warp and weft along these. What bends along no direction, or along parallel
    /// fibres that it does not follow, has the mean.
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
    /// `½ (θ - θr)²`. Its force jumps where a hinge folds over, from `π` to `-π`; a step that ends
    /// there does not converge.
    Quadratic,
    /// `2 (tan θ/2 - tan θr/2)²`: infinite at a full fold.
    Tangent,
    /// `1 - cos(θ - θr)`, with the force `sin(θ - θr)`. The only one that is smooth everywhere,
    /// also where cloth folds over on the scale of its mesh.
    #[default]
    Sine,
    /// `4 (1 - cos θ/2) - 2 sin(θr/2) θ`: convex, with a kink at a full fold.
    Cosine,
}

impl Membrane {
    /// Baraff-Witkin cloth from the moduli of a fabric, N/m, with warp and weft along the material
    /// axes.
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

/// Angular frequency at which the loss factors of presets hold, rad/s: folds that move three times
/// a second.
const FOLDS: f64 = 20.0;

/// Damping from the loss factors of membrane and bending at [`FOLDS`]: energy lost per cycle over
/// 2π times the stored one. The drag of air is not a property of a sheet; scenes have it as
/// [`Air`](super::Air).
const fn loss([membrane, bending]: [f64; 2]) -> Damping {
    Damping {
        membrane: StrainRate::Proportional(p(membrane / FOLDS)),
        bending: Some(p(bending / FOLDS)),
        ..Damping::NONE
    }
}

/// Loss factors of membrane and bending of woven fabrics.
///
/// Yarns rub. A bending test by Kawabata's method (KES) has a hysteresis `2HB` of about `0.5 B` per
/// cm; bent to a curvature `K` and back, the loss factor is `(2/π) (2HB/B)/K`, which is 0.13 at the
/// 2.5 per cm of that test and 0.3 at 1 per cm. Of the work of its tensile test, a third to a half
/// is lost over half a cycle, which makes 0.05 to 0.1.
const WOVEN: [f64; 2] = [0.1, 0.2];
/// Those of knits, whose loops rub more.
const KNITTED: [f64; 2] = [0.2, 0.4];
/// Those of smooth filaments.
const FILAMENT: [f64; 2] = [0.1, 0.1];

const fn fabric(
    density: f64,
    [warp, weft, shear]: [f64; 3],
    rigidity: f64,
    loss_factors: [f64; 2],
) -> Material {
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
        damping: loss(loss_factors),
    }
}

const MEASURED: &str =
    "Wang et al. 2011: density, warp, weft, shear; bending: geometric mean of the measured range";

// Measured from 20 to 121, 7 to 39 and 10 to 66 times 1e-6 N m.
const DENIM: Material = fabric(0.324, [205.0, 1014.0, 53.0], 4.9e-5, WOVEN);
const INTERLOCK: Material = fabric(0.187, [16.6, 34.5, 36.9], 1.7e-5, KNITTED);
const TABLECLOTH: Material = fabric(0.128, [2002.0, 2028.0, 19.0], 2.6e-5, WOVEN);
// By their drape.
const SILK: Material = fabric(0.113, [200.0, 200.0, 14.0], 1.6e-6, FILAMENT);
const COTTON: Material = fabric(0.2, [200.0, 200.0, 30.0], 2e-5, WOVEN);
const WOOL: Material = fabric(0.25, [200.0, 200.0, 40.0], 1.8e-5, WOVEN);

impl Material {
    /// Denim: heavy, stiff along the weft. Drape coefficient 77 %.
    #[must_use]
    pub fn denim() -> Self {
        DENIM
    }

    /// The knit of a T-shirt: stretches easily. Drape coefficient 60 %.
    #[must_use]
    pub fn interlock() -> Self {
        INTERLOCK
    }

    /// A tablecloth: hardly stretches, shears easily. Drape coefficient 84 %.
    #[must_use]
    pub fn tablecloth() -> Self {
        TABLECLOTH
    }

    /// Silk: as light as the lightest of the measured fabrics, bending by its drape coefficient of
    /// 30 %; tensile moduli assumed.
    #[must_use]
    pub fn silk() -> Self {
        SILK
    }

    /// Plain woven cotton, bending by its drape coefficient of 68 %; membrane moduli assumed.
    #[must_use]
    pub fn cotton() -> Self {
        COTTON
    }

    /// Worsted wool for suits, bending by its drape coefficient of 61 %; membrane moduli assumed.
    #[must_use]
    pub fn wool() -> Self {
        WOOL
    }

    /// Cotton for shapes that have no warp and weft: the same density, bending and tensile
    /// stiffness, isotropic.
    #[must_use]
    #[expect(clippy::expect_used, reason = "constants within their ranges")]
    pub(super) fn isotropic_cotton() -> Self {
        let sheet = Lame::from_tensile(p(200.0), PoissonRatio::literal(0.3)).expect("a sheet within range");
        let bending = match COTTON.bending {
            Bending::Hinge { law, rigidity, weight } => {
                Bending::Hinge { law, rigidity: rigidity.mean().into(), weight }
            }
            other => other,
        };
        Self { membrane: Membrane::isotropic(Stretching::Corotational(sheet)), bending, ..COTTON }
    }

    /// Writing paper, isotropic.
    #[must_use]
    #[expect(clippy::expect_used, reason = "constants within their ranges")]
    pub fn paper() -> Self {
        let sheet =
            Self::sheet(p(0.1), p(5e5), PoissonRatio::literal(0.3), p(4e-4)).expect("a sheet within range");
        sheet.losing([0.05; 2])
    }

    /// Polyester film of 25 µm: 4.5 GPa, Poisson's ratio 0.38, 1390 kg/m³.
    #[must_use]
    #[expect(clippy::expect_used, reason = "constants within their ranges")]
    pub fn mylar() -> Self {
        let film = IsotropicSheet::new(p(4.5e9), PoissonRatio::literal(0.38), p(25e-6));
        let film = Self::solid(&film, p(1390.0)).expect("a sheet within range");
        film.losing([0.02; 2])
    }

    /// Steel of 0.1 mm: 200 GPa, Poisson's ratio 0.3, 7850 kg/m³.
    #[must_use]
    #[expect(clippy::expect_used, reason = "constants within their ranges")]
    pub fn steel_sheet() -> Self {
        let sheet = IsotropicSheet::new(p(200e9), PoissonRatio::literal(0.3), p(1e-4));
        let sheet = Self::solid(&sheet, p(7850.0)).expect("a sheet within range");
        sheet.losing([0.002; 2])
    }

    /// The same with the damping of these loss factors.
    fn losing(self, loss_factors: [f64; 2]) -> Self {
        Self { damping: loss(loss_factors), ..self }
    }

    /// An isotropic sheet from its own figures: kg/m², tensile stiffness `E h` in N/m, Poisson's
    /// ratio, bending rigidity in N m.
    pub fn sheet(
        density: Positive,
        tensile: Positive,
        poisson: PoissonRatio,
        rigidity: Positive,
    ) -> Result<Self, MaterialError> {
        let lame = Lame::from_tensile(tensile, poisson)?;
        Ok(Self {
            density,
            membrane: Membrane::isotropic(Stretching::Corotational(lame)),
            bending: Bending::MidEdge { rigidity, poisson },
            damping: Damping::NONE,
        })
    }

    /// A thin sheet of a solid with so many kg/m³. The bending rigidity is that of its plate.
    pub fn solid(sheet: &IsotropicSheet, density: Positive) -> Result<Self, MaterialError> {
        let lame = Lame::plane_stress(sheet)?;
        let stiffness = |value| Positive::new(value).map_err(|_| MaterialError::Stiffness { value });
        Ok(Self {
            density: stiffness(density.get() * sheet.thickness())?,
            membrane: Membrane::isotropic(Stretching::Corotational(lame)),
            bending: Bending::MidEdge {
                rigidity: stiffness(sheet.rigidity())?,
                poisson: sheet.poisson_ratio(),
            },
            damping: Damping::NONE,
        })
    }

    /// All presets.
    #[must_use]
    pub fn presets() -> [Preset; 9] {
        let preset = |name, material, source| Preset { name, material, source };
        let cotton = "drape coefficient 68.4 % measured by Gan, Ly and Steven 1991, published 60 to 76 %; 0.2 kg/m² is the median of Feng et al. 2022; \
            200 N/m and 30 N/m assumed";
        let wool = "drape coefficients of worsted wool: 40 to 70 %, about 61 %; 0.25 kg/m², 200 N/m and 40 N/m assumed";
        let silk = "drape coefficients of woven silk: 20 to 40 % (Matsudaira and Yang 2003); lowest density and shear of Wang et al. 2011; 200 N/m assumed";
        let paper = "figures in common use for writing paper: 0.1 kg/m², 5e5 N/m, 4e-4 N m";
        let solid = "handbook figures of the solid and its thickness";
        [
            preset("cotton", Self::cotton(), cotton),
            preset("denim", Self::denim(), MEASURED),
            preset("silk", Self::silk(), silk),
            preset("wool", Self::wool(), wool),
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
            ["cotton", "denim", "silk", "wool", "interlock", "tablecloth", "paper", "mylar", "steel-sheet"];
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

    /// Every preset loses energy where it deforms, at rates of real sheets, and falls freely.
    #[test]
    fn presets_are_damped() {
        for Preset { name, material, .. } in Material::presets() {
            let Damping { membrane: StrainRate::Proportional(membrane), bending: Some(bending), .. } =
                material.damping
            else {
                panic!("{name}: {:?}", material.damping)
            };
            for loss_factor in [FOLDS * membrane.get(), FOLDS * bending.get()] {
                assert!((0.001..0.5).contains(&loss_factor), "{name}: {loss_factor}");
            }
            assert_eq!((material.damping.mass, material.damping.rayleigh), (None, None), "{name}");
        }
    }

    /// Bending lengths of fabrics, cm: those of 618 woven and knitted fabrics are from 1.06 to 3.29
    /// (5 to 95 %, Feng et al. 2022).
    #[test]
    fn fabrics_have_bending_lengths_of_fabrics() {
        for name in ["cotton", "denim", "silk", "wool", "interlock", "tablecloth"] {
            let material = Material::preset(name).unwrap();
            let Bending::Hinge { rigidity, .. } = material.bending else { panic!("{name}") };
            let length = 100.0 * (rigidity.mean().get() / (9.81 * material.density.get())).cbrt();
            assert!((1.06..3.29).contains(&length), "{name}: {length}");
        }
    }

    #[test]
    fn a_solid_has_the_rigidity_of_its_plate() {
        let Bending::MidEdge { rigidity, poisson } = Material::steel_sheet().bending else { panic!() };
        let plate =
            plisse_bending::Plate::of_sheet(&IsotropicSheet::new(p(200e9), poisson, p(1e-4))).unwrap();
        assert!((rigidity.get() / plate.rigidity().get() - 1.0).abs() < 1e-14);
        assert!((Material::steel_sheet().density.get() - 0.785).abs() < 1e-12);
    }
}
