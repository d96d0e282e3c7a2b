//! Materials from tables: a preset and what differs from it.

use plisse_bending::HingeWeight;
use plisse_core::{IsotropicSheet, PoissonRatio, Positive};
use plisse_damping::{RateLaw, Viscosity};
use plisse_io::scene_file::{
    BendingName, DampingChoice, MaterialChoice, MaterialTable, MembraneName, NonNegative, ShearName, WarpWeft,
};
use plisse_membrane::Lame;

use super::{Meaning, Reader};
use crate::scene::short;
use crate::scene::{
    AngleLaw, Bending, Damping, Material, Membrane, Rigidity, Shearing, StrainRate, Stretching,
};

/// The preset of a table that names none.
const DEFAULT: &str = "cotton";

/// Whether a table describes a solid and its thickness.
fn is_solid(table: &MaterialTable) -> bool {
    table.young.is_some() || table.thickness.is_some() || table.mass_density.is_some()
}

/// The keys that are given, or those that are not, in quotation marks.
fn quoted(keys: &[(&str, bool)], given: bool) -> String {
    let names = keys.iter().filter(|(_, is)| *is == given).map(|(key, _)| format!("\"{key}\""));
    names.collect::<Vec<_>>().join(", ")
}

/// Whether a table names no preset but moduli of its own, which are not damped like cotton without
/// a word.
fn has_own_moduli(table: &MaterialTable) -> bool {
    let MaterialTable { membrane, warp, weft, shear, tensile, .. } = table;
    let given = membrane.is_some() || shear.is_some() || [warp, weft, tensile].iter().any(|k| k.is_some());
    table.preset.is_none() && given
}

impl Reader<'_> {
    pub(super) fn damping(&mut self, choice: &DampingChoice) -> Option<Damping> {
        let given = |value: NonNegative| Positive::new(value.0).ok();
        let table = match choice {
            DampingChoice::Mass(rate) => return Some(Damping { mass: given(*rate), ..Damping::NONE }),
            DampingChoice::Table(table) => table,
        };
        let mut choices = Vec::new();
        if let Some(beta) = given(table.strain_rate) {
            choices.push(StrainRate::Proportional(beta));
        }
        if let Some(v) = table.viscosity {
            if v.min_element() < 0.0 {
                self.note(table.at_line, "no \"viscosity\" may be negative: it would drive the motion");
                return None;
            }
            choices.push(StrainRate::PerDirection(v.to_array()));
        }
        if let Some(v) = table.isotropic_viscosity {
            let wrong =
                |_| "of \"isotropic_viscosity\" = [lambda, mu] neither mu nor lambda + mu may be negative";
            self.keep(table.at_line, Viscosity::isotropic(v.x, v.y).map_err(wrong))?;
            choices.push(StrainRate::Isotropic { lambda: v.x, mu: v.y });
        }
        if choices.len() > 1 {
            self.note(
                table.at_line,
                "of \"strain_rate\", \"viscosity\" and \"isotropic_viscosity\" only one can act; remove the others",
            );
            return None;
        }
        let mut rate_law = None;
        if let Some(law) = &table.rate_law {
            if choices.is_empty() {
                let text = "a \"rate_law\" changes a resistance in the plane; add \"strain_rate\", \"viscosity\" or \"isotropic_viscosity\"";
                self.note(law.at_line, text);
                return None;
            }
            rate_law = Some(self.keep(law.at_line, RateLaw::new(law.rate, law.exponent.0))?);
        }
        Some(Damping {
            rate_law,
            membrane: choices.pop().unwrap_or_default(),
            bending: given(table.bending),
            mass: given(table.mass),
            rayleigh: given(table.rayleigh),
        })
    }

    pub(super) fn material(&mut self, choice: &MaterialChoice) -> Option<Material> {
        match choice {
            MaterialChoice::Preset(name, line) => self.preset(name, *line),
            MaterialChoice::Table(table) if is_solid(table) => self.solid(table),
            MaterialChoice::Table(table) => {
                let base = self.preset(table.preset.as_deref().unwrap_or(DEFAULT), table.at_line)?;
                let membrane = self.membrane(table, base.membrane)?;
                let bending = self.bending(table, base.bending, membrane)?;
                Some(Material {
                    density: table.density.unwrap_or(base.density),
                    membrane,
                    bending,
                    damping: match &table.damping {
                        Some(choice) => self.damping(choice)?,
                        None if has_own_moduli(table) => Damping::NONE,
                        None => base.damping,
                    },
                })
            }
        }
    }

    /// A sheet of an isotropic solid. Its figures say everything, so that what belongs to another
    /// description is a mistake.
    fn solid(&mut self, table: &MaterialTable) -> Option<Material> {
        let line = table.at_line;
        let others = [
            ("preset", table.preset.is_some()),
            ("warp", table.warp.is_some()),
            ("weft", table.weft.is_some()),
            ("tensile", table.tensile.is_some()),
            ("rigidity", table.rigidity.is_some()),
            ("shear", table.shear.is_some()),
            ("shear_law", table.shear_law.is_some()),
            ("fibres", table.fibres.is_some()),
        ];
        let others = quoted(&others, true);
        if !others.is_empty() {
            let verb = if others.contains(',') { "do" } else { "does" };
            let message = format!(
                "{others} {verb} not go with \"young\", \"thickness\" and \"mass_density\", from which every modulus follows; \
                 remove one or the other"
            );
            self.note(line, message);
        }
        let needed = [
            ("young", table.young.is_some()),
            ("poisson", table.poisson.is_some()),
            ("thickness", table.thickness.is_some()),
        ];
        let missing = quoted(&needed, false);
        if !missing.is_empty() {
            let message =
                format!("a solid needs \"young\" in Pa, \"poisson\", \"thickness\" in m; add {missing}");
            self.note(line, message);
        }
        if table.density.is_some() == table.mass_density.is_some() {
            let found = if table.density.is_some() { "both are given" } else { "add one" };
            let message =
                format!("a solid needs either \"mass_density\" in kg/m3 or \"density\" in kg/m2; {found}");
            self.note(line, message);
        }
        let (Some(young), Some(poisson), Some(thickness)) = (table.young, table.poisson, table.thickness)
        else {
            return None;
        };
        // With the density per area, the thickness only enters the stiffness.
        let sheet = IsotropicSheet::new(young, poisson, thickness);
        let solid = Material::solid(&sheet, table.mass_density.unwrap_or(Positive::ONE));
        let solid = self.keep(line, solid)?;
        let name = table.membrane.unwrap_or(MembraneName::Corotational);
        let (Stretching::Corotational(lame), Bending::MidEdge { rigidity, .. }) =
            (solid.membrane.stretching, solid.bending)
        else {
            unreachable!("a solid is corotational and bends by mid-edge normals")
        };
        let stretching = match name {
            MembraneName::Corotational => Stretching::Corotational(lame),
            MembraneName::StVenantKirchhoff => Stretching::StVenantKirchhoff(lame),
            MembraneName::NeoHookean => Stretching::NeoHookean(lame),
            MembraneName::NeoHookeanIncompressible => self.rubber(line, &lame)?,
            MembraneName::Fibres | MembraneName::Green | MembraneName::Arap => {
                let message = "this membrane is not that of a solid with a Poisson's ratio; choose \"corotational\", \
                               \"st-venant-kirchhoff\", \"neo-hookean\" or \"neo-hookean-incompressible\", or remove \"young\", \"thickness\" and \"mass_density\"";
                self.note(line, message);
                return None;
            }
        };
        let membrane = Membrane::isotropic(stretching);
        let mut bending = Bending::MidEdge { rigidity, poisson };
        if table.bending.is_some() {
            bending = self.bending(table, bending, membrane)?;
        } else if table.law.is_some() || table.weight.is_some() {
            self.note(
                line,
                "\"law\" and \"weight\" belong to bending = \"hinge\"; remove them or choose that",
            );
        }
        let damping = match &table.damping {
            Some(choice) => self.damping(choice)?,
            None => Damping::NONE,
        };
        Some(Material { density: table.density.unwrap_or(solid.density), membrane, bending, damping })
    }

    fn preset(&mut self, name: &str, line: usize) -> Option<Material> {
        let material = Material::preset(name);
        if material.is_none() {
            let known: Vec<&str> = Material::presets().iter().map(|preset| preset.name).collect();
            self.note(line, format!("there is no material \"{name}\"; known: {}", known.join(", ")));
        }
        material
    }

    fn membrane(&mut self, table: &MaterialTable, base: Membrane) -> Option<Membrane> {
        let line = table.at_line;
        let (mut warp, mut weft) = (table.warp, table.weft);
        if let Stretching::Fibres { warp: a, weft: b } = base.stretching {
            (warp, weft) = (warp.or(Some(a)), weft.or(Some(b)));
        }
        let base_lame = match base.stretching {
            Stretching::StVenantKirchhoff(lame)
            | Stretching::Corotational(lame)
            | Stretching::NeoHookean(lame) => Some(lame),
            Stretching::NeoHookeanIncompressible(mu) => Lame::new(mu, 2.0 * mu.get()).ok(),
            _ => None,
        };
        let tensile =
            table.tensile.or_else(|| base_lame.and_then(|lame| Positive::new(lame.tensile_stiffness()).ok()));
        let poisson =
            table.poisson.or_else(|| base_lame.and_then(|lame| PoissonRatio::new(lame.poisson()).ok()));
        let name = table.membrane.unwrap_or(match base.stretching {
            Stretching::GreenFibres { .. } => MembraneName::Green,
            Stretching::Arap(_) => MembraneName::Arap,
            Stretching::StVenantKirchhoff(_) => MembraneName::StVenantKirchhoff,
            Stretching::Corotational(_) => MembraneName::Corotational,
            Stretching::NeoHookean(_) => MembraneName::NeoHookean,
            Stretching::NeoHookeanIncompressible(_) => MembraneName::NeoHookeanIncompressible,
            Stretching::Fibres { .. } => MembraneName::Fibres,
        });
        let woven = matches!(name, MembraneName::Fibres | MembraneName::Green);
        let unused = if woven {
            [("tensile", table.tensile.is_some()), ("poisson", false)]
        } else {
            [("warp", table.warp.is_some()), ("weft", table.weft.is_some())]
        };
        for (key, _) in unused.iter().filter(|(_, given)| *given) {
            self.note(
                line,
                format!("\"{key}\" has no meaning for this membrane; remove it or choose another"),
            );
        }
        let stretching = if woven {
            let (Some(warp), Some(weft)) = (warp, weft) else {
                self.note(line, "this membrane needs \"warp\" and \"weft\", in N/m");
                return None;
            };
            match name {
                MembraneName::Green => Stretching::GreenFibres { warp, weft },
                _ => Stretching::Fibres { warp, weft },
            }
        } else {
            let Some(tensile) = tensile else {
                self.note(line, "this membrane needs \"tensile\", in N/m");
                return None;
            };
            if name == MembraneName::Arap {
                // Its Poisson's ratio is zero: E h = 2 μ.
                Stretching::Arap(self.keep(line, Positive::new(0.5 * tensile.get()))?)
            } else {
                // Rubber has no other ratio than its own; one that comes from the preset does not
                // count.
                let rubber = name == MembraneName::NeoHookeanIncompressible;
                let poisson = if rubber {
                    table.poisson.unwrap_or(PoissonRatio::INCOMPRESSIBLE)
                } else {
                    poisson.unwrap_or(PoissonRatio::literal(0.3))
                };
                let lame = Lame::from_tensile(tensile, poisson);
                let lame = self.keep(line, lame)?;
                match name {
                    MembraneName::NeoHookeanIncompressible => self.rubber(line, &lame)?,
                    MembraneName::StVenantKirchhoff => Stretching::StVenantKirchhoff(lame),
                    MembraneName::NeoHookean => Stretching::NeoHookean(lame),
                    _ => Stretching::Corotational(lame),
                }
            }
        };
        Some(Membrane {
            stretching,
            shearing: self.shearing(table, base.shearing, woven)?,
            directions: table.fibres.unwrap_or(base.directions),
        })
    }

    /// Incompressible rubber with the moduli of a sheet, if they are those of rubber.
    fn rubber(&mut self, line: usize, lame: &Lame) -> Option<Stretching> {
        let poisson = lame.poisson();
        // The ratio is computed from the moduli.
        if (poisson - 0.5).abs() > 1e-9 {
            let message = format!(
                "membrane = \"neo-hookean-incompressible\" has a Poisson's ratio of 0.5, not {}; set poisson = 0.5, or choose \
                 membrane = \"neo-hookean\", which does not thin",
                short(poisson)
            );
            self.note(line, message);
            return None;
        }
        let mu = self.keep(line, Positive::new(lame.mu()))?;
        Some(Stretching::NeoHookeanIncompressible(mu))
    }

    fn shearing(&mut self, table: &MaterialTable, base: Shearing, woven: bool) -> Option<Shearing> {
        let stiffness = match (table.shear, base) {
            (Some(shear), _) => Positive::new(shear.0).ok(),
            // Isotropic sheets resist shear by themselves; what the fabric of a preset had does not
            // belong to them.
            (None, _) if table.membrane.is_some() && !woven => None,
            (None, Shearing::Quadratic(k) | Shearing::Quartic(k)) => Some(k),
            (None, Shearing::None) => None,
        };
        Some(match (stiffness, table.shear_law) {
            (None, None) => Shearing::None,
            (None, Some(_)) => {
                self.note(table.at_line, "\"shear_law\" needs a positive \"shear\", in N/m");
                return None;
            }
            (Some(k), Some(ShearName::Quartic)) => Shearing::Quartic(k),
            (Some(k), _) => Shearing::Quadratic(k),
        })
    }

    fn bending(&mut self, table: &MaterialTable, base: Bending, membrane: Membrane) -> Option<Bending> {
        let line = table.at_line;
        let base_rigidity = match base {
            Bending::Hinge { rigidity, .. } => Some(rigidity),
            Bending::MidEdge { rigidity, .. } | Bending::Quadratic { rigidity } => Some(rigidity.into()),
            Bending::None => None,
        };
        let rigidity =
            table.rigidity.map(|WarpWeft { warp, weft }| Rigidity { warp, weft }).or(base_rigidity);
        let name = table.bending.unwrap_or(match base {
            Bending::Hinge { .. } => BendingName::Hinge,
            Bending::MidEdge { .. } => BendingName::MidEdge,
            Bending::Quadratic { .. } => BendingName::Quadratic,
            Bending::None => BendingName::None,
        });
        if name != BendingName::Hinge {
            for (key, given) in [("law", table.law.is_some()), ("weight", table.weight.is_some())] {
                if given {
                    self.note(
                        line,
                        format!("\"{key}\" belongs to bending = \"hinge\"; remove it or choose that"),
                    );
                }
            }
        }
        if name == BendingName::None {
            if table.rigidity.is_some() {
                self.note(line, "\"rigidity\" has no meaning for bending = \"none\"; remove it");
            }
            return Some(Bending::None);
        }
        let isotropic = !matches!(
            membrane.stretching,
            Stretching::Fibres { .. } | Stretching::GreenFibres { .. } | Stretching::Arap(_)
        );
        if table.poisson.is_some() && !isotropic && name != BendingName::MidEdge {
            self.note(line, "\"poisson\" has no meaning for this membrane and this bending; remove it");
        }
        let Some(rigidity) = rigidity else {
            self.note(line, "this bending needs \"rigidity\", in N m");
            return None;
        };
        let poisson = match (table.poisson, membrane.stretching, base) {
            (Some(poisson), _, _) => poisson,
            (
                None,
                Stretching::StVenantKirchhoff(lame)
                | Stretching::Corotational(lame)
                | Stretching::NeoHookean(lame),
                _,
            ) => self.keep(line, PoissonRatio::new(lame.poisson()))?,
            (None, Stretching::NeoHookeanIncompressible(_), _) => PoissonRatio::INCOMPRESSIBLE,
            (None, _, Bending::MidEdge { poisson, .. }) => poisson,
            _ => PoissonRatio::ZERO,
        };
        if name != BendingName::Hinge && !rigidity.is_uniform() {
            let message = format!(
                "only hinges bend differently along warp ({:e} N m) and weft ({:e} N m); give one \"rigidity\", or bending = \"hinge\"",
                rigidity.warp.get(),
                rigidity.weft.get()
            );
            self.note(line, message);
            return None;
        }
        Some(match name {
            BendingName::MidEdge => Bending::MidEdge { rigidity: rigidity.warp, poisson },
            BendingName::Quadratic => Bending::Quadratic { rigidity: rigidity.warp },
            _ => {
                let (law, weight) = match base {
                    Bending::Hinge { law, weight, .. } => (law, weight),
                    _ => (AngleLaw::default(), HingeWeight::AreaSum),
                };
                let law = table.law.map_or(law, Meaning::meaning);
                Bending::Hinge { law, rigidity, weight: table.weight.map_or(weight, Meaning::meaning) }
            }
        })
    }
}
