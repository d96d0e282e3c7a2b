//! Materials from tables: a preset and what differs from it.

use plisse_bending::HingeWeight;
use plisse_core::Positive;
use plisse_damping::{RateLaw, Viscosity};
use plisse_io::scene_file::{
    BendingName, DampingChoice, LawName, MaterialChoice, MaterialTable, MembraneName, NonNegative, ShearName,
    WeightName,
};
use plisse_membrane::Lame;

use super::Reader;
use crate::scene::{AngleLaw, Bending, Damping, Material, Membrane, Shearing, StrainRate, Stretching};

pub(super) fn angle_law(name: LawName) -> AngleLaw {
    match name {
        LawName::Quadratic => AngleLaw::Quadratic,
        LawName::Tangent => AngleLaw::Tangent,
        LawName::Sine => AngleLaw::Sine,
        LawName::Cosine => AngleLaw::Cosine,
    }
}

fn hinge_weight(name: WeightName) -> HingeWeight {
    match name {
        WeightName::AreaSum => HingeWeight::AreaSum,
        WeightName::DiscreteShells => HingeWeight::DiscreteShells,
        WeightName::Unit => HingeWeight::Unit,
    }
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
            MaterialChoice::Table(table) => {
                let base = self.preset(&table.preset, table.at_line)?;
                let membrane = self.membrane(table, base.membrane)?;
                let bending = self.bending(table, base.bending, membrane)?;
                Some(Material {
                    density: table.density.unwrap_or(base.density),
                    membrane,
                    bending,
                    damping: match &table.damping {
                        Some(choice) => self.damping(choice)?,
                        None => base.damping,
                    },
                })
            }
        }
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
            _ => None,
        };
        let tensile =
            table.tensile.or_else(|| base_lame.and_then(|lame| Positive::new(lame.tensile_stiffness()).ok()));
        let poisson = table.poisson.map(|p| p.0).or_else(|| base_lame.map(|lame| lame.poisson()));
        let name = table.membrane.unwrap_or(match base.stretching {
            Stretching::GreenFibres { .. } => MembraneName::Green,
            Stretching::Arap(_) => MembraneName::Arap,
            Stretching::StVenantKirchhoff(_) => MembraneName::StVenantKirchhoff,
            Stretching::Corotational(_) => MembraneName::Corotational,
            Stretching::NeoHookean(_) => MembraneName::NeoHookean,
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
                Stretching::Arap(Positive::new(0.5 * tensile.get()).unwrap_or(tensile))
            } else {
                let lame = Lame::plane_stress(tensile, poisson.unwrap_or(0.3), Positive::ONE);
                let lame = self.keep(line, lame)?;
                match name {
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

    fn shearing(&mut self, table: &MaterialTable, base: Shearing, woven: bool) -> Option<Shearing> {
        let stiffness = match (table.shear, base) {
            (Some(shear), _) => Positive::new(shear.0).ok(),
            // Isotropic sheets resist shear by themselves; what the fabric of a preset had does not belong to them.
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
            Bending::Hinge { rigidity, .. }
            | Bending::MidEdge { rigidity, .. }
            | Bending::Quadratic { rigidity } => Some(rigidity),
            Bending::None => None,
        };
        let rigidity = table.rigidity.or(base_rigidity);
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
            (Some(poisson), _, _) => poisson.0,
            (
                None,
                Stretching::StVenantKirchhoff(lame)
                | Stretching::Corotational(lame)
                | Stretching::NeoHookean(lame),
                _,
            ) => lame.poisson(),
            (None, _, Bending::MidEdge { poisson, .. }) => poisson,
            _ => 0.0,
        };
        Some(match name {
            BendingName::MidEdge => Bending::MidEdge { rigidity, poisson },
            BendingName::Quadratic => Bending::Quadratic { rigidity },
            _ => {
                let (law, weight) = match base {
                    Bending::Hinge { law, weight, .. } => (law, weight),
                    _ => (AngleLaw::default(), HingeWeight::AreaSum),
                };
                let law = table.law.map_or(law, angle_law);
                Bending::Hinge { law, rigidity, weight: table.weight.map_or(weight, hinge_weight) }
            }
        })
    }
}
