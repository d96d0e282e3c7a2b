//! Materials of cloth, and what takes energy out of motions.

use glam::{DVec2, DVec3};
use plisse_core::{PoissonRatio, Positive, UnitDir2};

use crate::scene_file::choices::WarpWeft;
use crate::scene_file::mistakes::Collector;
use crate::scene_file::read::{Item, Read, TableReference, names, table};
use crate::scene_file::values::{NonNegative, RateExponent};

/// A preset, or a preset with changes.
#[derive(Clone, Debug, PartialEq)]
pub enum MaterialChoice {
    /// The name of a preset, and its line.
    Preset(String, usize),
    /// A table.
    Table(Box<MaterialTable>),
}

impl Read for MaterialChoice {
    fn expected() -> String {
        "the name of a preset, or a table, see MaterialTable".to_owned()
    }
    fn read(item: &Item<'_>, mistakes: &mut Collector) -> Option<Self> {
        match item.get_ref().as_str() {
            Some(name) => Some(Self::Preset(name.to_owned(), mistakes.line(item.span().start))),
            None => MaterialTable::read(item, mistakes).map(|table| Self::Table(Box::new(table))),
        }
    }
    fn tables(out: &mut Vec<TableReference>) {
        MaterialTable::tables(out);
    }
}

table! {
    /// A material: a preset and what differs from it (`plisse materials` lists the presets), or an
    /// isotropic solid and its thickness: `young`, `poisson`, `thickness`, and `mass_density` or
    /// `density`. These say everything, so that nothing comes from a preset; of the rest,
    /// `membrane`, `bending`, `law`, `weight` and `damping` go with them.
    pub struct MaterialTable ("material") {
        /// Name of the preset; cotton if nothing is said.
        preset: String = optional,
        /// Mass per area, kg/m².
        density: Positive = optional,
        /// Young's modulus of a solid, Pa.
        young: Positive = optional,
        /// Thickness of the sheet, m.
        thickness: Positive = optional,
        /// Mass per volume of the solid, kg/m³; times `thickness` this is `density`.
        mass_density: Positive = optional,
        /// The energy of stretch. `fibres` takes `warp` and `weft`, the others `tensile` and
        /// `poisson` (`arap` only `tensile`).
        membrane: MembraneName = optional,
        /// Tensile modulus along the warp, N/m.
        warp: Positive = optional,
        /// Tensile modulus along the weft, N/m.
        weft: Positive = optional,
        /// Shear modulus between warp and weft, N/m; zero for none.
        shear: NonNegative = optional,
        /// How shear resists.
        shear_law: ShearName = optional,
        /// Directions of warp and weft in material coordinates.
        fibres: FibreDirections = optional,
        /// Tensile stiffness of an isotropic sheet (Young's modulus times thickness), N/m.
        tensile: Positive = optional,
        /// Poisson's ratio of an isotropic sheet or solid, also for `mid-edge` bending.
        poisson: PoissonRatio = optional,
        /// The bending model.
        bending: BendingName = optional,
        /// Bending rigidity, N m. Two values, along warp and weft, for `hinge` bending: the cloth
        /// bends with the first one where the warp bends.
        rigidity: WarpWeft = optional,
        /// How the energy of `hinge` bending grows with the angle.
        law: LawName = optional,
        /// How the mesh enters the stiffness of hinges.
        weight: WeightName = optional,
        /// What takes energy out of the motion: a rate in proportion to mass, 1/s, or a table.
        /// Without it that of the preset, and none for tensile or shear moduli without a `preset`.
        damping: DampingChoice = optional,
    }
}

/// Damping in proportion to mass, or a table.
#[derive(Clone, Debug, PartialEq)]
pub enum DampingChoice {
    /// In proportion to mass, 1/s.
    Mass(NonNegative),
    /// A table.
    Table(Box<DampingTable>),
}

impl Read for DampingChoice {
    fn expected() -> String {
        "zero or a positive number, or a table, see DampingTable".to_owned()
    }
    fn read(item: &Item<'_>, mistakes: &mut Collector) -> Option<Self> {
        if item.get_ref().is_table() {
            DampingTable::read(item, mistakes).map(|table| Self::Table(Box::new(table)))
        } else {
            NonNegative::read(item, mistakes).map(Self::Mass)
        }
    }
    fn tables(out: &mut Vec<TableReference>) {
        DampingTable::tables(out);
    }
}

table! {
    /// What takes energy out of the motion. Of `strain_rate`, `viscosity` and `isotropic_viscosity`
    /// one may be given.
    pub struct DampingTable ("damping") {
        /// Of changes of strain in the plane, or along wires: the moduli times this, s. Rigid
        /// motions are free.
        strain_rate: NonNegative = "0",
        /// Of changes of bending angles: the stiffness times this, s. Rigid motions of sheets are
        /// free, those of wires nearly.
        bending: NonNegative = "0",
        /// Of changes of strain: viscosities along warp and weft and of shear, N s/m.
        viscosity: DVec3 = optional,
        /// Of changes of strain: the viscosities lambda and mu of an isotropic sheet, N s/m.
        isotropic_viscosity: DVec2 = optional,
        /// How one of these changes with the rate.
        rate_law: RateLawTable = optional,
        /// In proportion to mass, 1/s. It slows down rigid motions, too.
        mass: NonNegative = "0",
        /// Rayleigh's damping: the stiffness in the plane times this, s. For comparison: it slows
        /// down swinging under tension.
        rayleigh: NonNegative = "0",
    }
}

table! {
    /// A resistance that is in proportion to the strain rate below a rate, and to a power of it
    /// above.
    pub struct RateLawTable ("rate_law") {
        /// The rate of the change, 1/s.
        rate: Positive = required,
        /// Above `rate` the viscous stress grows like the rate to the power of this less one: 1 as
        /// dry friction, 2 as without.
        exponent: RateExponent = required,
    }
}

names! {
    /// The energy of stretch.
    pub enum MembraneName {
        /// Baraff-Witkin.
        Fibres = "fibres",
        /// The same in Green's strain.
        Green = "green",
        /// As rigid as possible.
        Arap = "arap",
        /// St. Venant-Kirchhoff.
        StVenantKirchhoff = "st-venant-kirchhoff",
        /// Corotational.
        Corotational = "corotational",
        /// Stable neo-Hookean, of the surface alone.
        NeoHookean = "neo-hookean",
        /// Incompressible neo-Hookean: rubber, which thins as it is stretched.
        NeoHookeanIncompressible = "neo-hookean-incompressible",
    }
}

names! {
    /// How shear resists.
    pub enum ShearName {
        /// Baraff-Witkin.
        Quadratic = "quadratic",
        /// No stiffness at rest.
        Quartic = "quartic",
    }
}

names! {
    /// The bending model.
    pub enum BendingName {
        /// Hinges along edges.
        Hinge = "hinge",
        /// Mid-edge normals.
        MidEdge = "mid-edge",
        /// A constant matrix.
        Quadratic = "quadratic",
        /// None.
        None = "none",
    }
}

names! {
    /// How the energy of an angle grows.
    pub enum LawName {
        /// The square of the angle; jumps where a hinge folds over.
        Quadratic = "quadratic",
        /// The square of the tangent of its half.
        Tangent = "tangent",
        /// One minus its cosine: smooth everywhere.
        Sine = "sine",
        /// One minus the cosine of its half.
        Cosine = "cosine",
    }
}

names! {
    /// How the mesh enters the stiffness of hinges.
    pub enum WeightName {
        /// Rigidity of a plate.
        AreaSum = "area-sum",
        /// Three times that.
        DiscreteShells = "discrete-shells",
        /// Stiffness of each hinge.
        Unit = "unit",
    }
}

/// Two directions in material coordinates.
pub type FibreDirections = [UnitDir2; 2];
