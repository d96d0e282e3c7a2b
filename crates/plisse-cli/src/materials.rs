//! `plisse materials`.

use plisse::core::Positive;
use plisse::scene::{Bending, Damping, Material, Rigidity, Shearing, StrainRate, Stretching};

use crate::progress::out;

/// Prints every preset with its figures and source.
pub(crate) fn list() {
    out!(
        "{:<12} {:>7}  {:<34} {:>7}  {:<10} {:>8}",
        "name",
        "kg/m2",
        "stretch, N/m",
        "shear",
        "bending",
        "N m"
    );
    for preset in Material::presets() {
        let Material { density, membrane, bending, damping } = preset.material;
        let stretch = match membrane.stretching {
            Stretching::Fibres { warp, weft } => format!("warp {}, weft {}", warp.get(), weft.get()),
            Stretching::Corotational(lame) => {
                format!("tensile {:.4e}, Poisson {:.2}", lame.tensile_stiffness(), lame.poisson())
            }
            other => format!("{other:?}"),
        };
        let shear = match membrane.shearing {
            Shearing::None => "-".to_owned(),
            Shearing::Quadratic(k) | Shearing::Quartic(k) => k.get().to_string(),
        };
        let one = |rigidity: f64| format!("{rigidity:.1e}");
        let (model, rigidity) = match bending {
            Bending::None => ("none", one(0.0)),
            Bending::Hinge { rigidity, .. } if rigidity.is_uniform() => ("hinge", one(rigidity.warp.get())),
            Bending::Hinge { rigidity: Rigidity { warp, weft }, .. } => {
                ("hinge", format!("{:.1e}, {:.1e}", warp.get(), weft.get()))
            }
            Bending::MidEdge { rigidity, .. } => ("mid-edge", one(rigidity.get())),
            Bending::Quadratic { rigidity } => ("quadratic", one(rigidity.get())),
        };
        out!(
            "{:<12} {:>7.3}  {:<34} {:>7}  {:<10} {:>8}",
            preset.name,
            density.get(),
            stretch,
            shear,
            model,
            rigidity
        );
        out!("{:<12} source: {}", "", preset.source);
        let Damping { membrane: StrainRate::Proportional(membrane), bending: Some(bending), .. } = damping
        else {
            out!("{:<12} damping: {damping:?}", "");
            continue;
        };
        let milliseconds = |beta: Positive| 1e3 * beta.get();
        out!(
            "{:<12} damping: membrane {} ms, bending {} ms",
            "",
            milliseconds(membrane),
            milliseconds(bending)
        );
    }
}
