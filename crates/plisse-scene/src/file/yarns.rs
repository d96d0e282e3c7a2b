//! Woven cloth as yarns, from tables.

use glam::{DVec2, DVec3};
use plisse_core::Positive;
use plisse_io::scene_file::{
    ClothTable, LimitName, MaterialChoice, SingleYarnTable, WeaveChoice, WovenShape, YarnMaterialTable,
    YarnTable,
};
use plisse_yarn::{Contacts, PatchError, Weave, Woven, YarnMaterial};

use super::Reader;
use super::meshes::MeshOptions;
use crate::scene::{BodyContact, SceneError, Yarns, rotation_degrees};

impl Reader<'_> {
    /// A cloth with `model = "yarn"`.
    pub(super) fn yarns(&mut self, table: &ClothTable) -> Option<Yarns> {
        let line = table.at_line;
        self.only_yarns(table);
        let pins = self.pins(&table.pin);
        let forces = self.forces(&table.force);
        let shapes = [("woven", table.woven.is_some()), ("mesh", table.mesh.is_some())];
        if !self.one_shape(line, "[[cloth]] with model = \"yarn\"", &shapes) || !self.is_small {
            return None;
        }
        let made_of = MadeOf::of(table.yarn.as_ref());
        let made_of = self.keep(table.yarn.as_ref().map_or(line, |yarn| yarn.at_line), made_of)?;
        let mut yarns = match &table.woven {
            Some(shape) => self.woven(shape, made_of)?,
            None => self.quads(table.mesh.as_deref().unwrap_or_default(), table, &made_of)?,
        };
        for single in table.yarn.iter().flat_map(|yarn| &yarn.single) {
            let changed = yarns.with_yarn(&single.yarn, |material| changed(material, single));
            yarns = self.keep(single.at_line, changed.map_err(plain))?;
        }
        self.identity.yarns(table, yarns.patch());
        let scale = DVec3::from(table.scale.map(Positive::get));
        yarns = yarns
            .deformed(|x| x * scale)
            .rotated(rotation_degrees(table.rotation.x, table.rotation.y, table.rotation.z))
            .at(table.position)
            .velocity(table.velocity);
        if let Some(name) = &table.name {
            yarns = yarns.named(name);
        }
        let name = table.name.as_deref().unwrap_or("this cloth");
        for ((pick, grip), pin) in pins?.into_iter().zip(&table.pin) {
            yarns = yarns.hold(pick, grip);
            self.keep(pin.at_line, yarns.check_last_pin(name));
        }
        for ((pick, force), given) in forces?.into_iter().zip(&table.force) {
            yarns = yarns.force(pick, force);
            self.keep(given.at_line, yarns.check_last_force(name));
        }
        let contact = BodyContact {
            thickness: 0.0,
            range: table.contact_range,
            friction: table.contact_friction.0,
            touches_itself: table.self_contact.unwrap_or(yarns.body_contact().touches_itself),
        };
        Some(yarns.contact(contact).jittered(table.jitter.0))
    }

    /// Notes keys of `model = "yarn"` on a cloth of another model.
    pub(super) fn no_yarns(&mut self, table: &ClothTable) {
        let keys = [
            table.woven.as_ref().map(|t| ("woven", t.at_line)),
            table.yarn.as_ref().map(|t| ("yarn", t.at_line)),
        ];
        for (key, line) in keys.into_iter().flatten() {
            self.note(line, format!("\"{key}\" belongs to model = \"yarn\"; choose that, or remove it"));
        }
    }

    /// Notes keys that yarns do not have.
    fn only_yarns(&mut self, table: &ClothTable) {
        let keys = [
            ("grid", table.grid.is_some()),
            ("disc", table.disc.is_some()),
            ("cylinder", table.cylinder.is_some()),
            ("sphere", table.sphere.is_some()),
            ("pillow", table.pillow.is_some()),
            ("discs", table.discs.is_some()),
            ("annuli", table.annuli.is_some()),
        ];
        for (key, _) in keys.into_iter().filter(|(_, given)| *given) {
            let message = format!(
                "a \"{key}\" is made of triangles; with model = \"yarn\", give \"woven\" or a \"mesh\" of quads"
            );
            self.note(table.at_line, message);
        }
        let keys = [
            ("strain_limit", table.strain_limit.is_some()),
            ("strain_limit_of", table.strain_limit_of != LimitName::Any),
            ("fold", table.fold.is_some()),
            ("pressure", table.pressure.is_some()),
            ("pressure_over_time", !table.pressure_over_time.is_empty()),
            ("volume", table.volume.is_some()),
            ("compliance", table.compliance.is_some()),
            ("uv_scale", table.uv_scale.is_some()),
            ("contact_thickness", table.contact_thickness.0 != 0.0),
        ];
        for (key, _) in keys.into_iter().filter(|(_, given)| *given) {
            self.note(table.at_line, format!("\"{key}\" does not go with model = \"yarn\"; remove it"));
        }
        if let Some(line) = material_line(table) {
            self.note(line, "yarns are described in the table \"yarn\"; remove \"material\"");
        }
        if table.mesh.is_none() {
            let keys = [("mesh_unit", table.mesh_unit.is_some()), ("weld", table.weld.is_some())];
            self.only_for_meshes(table.at_line, &keys);
        }
    }

    fn woven(&mut self, shape: &WovenShape, made_of: MadeOf) -> Option<Yarns> {
        let line = shape.at_line;
        let counts = shape.counts.map(|count| count.0);
        let given = [("spacing", shape.spacing.is_some()), ("size", shape.size.is_some())];
        if !self.one_shape(line, "woven", &given) {
            return None;
        }
        // A yarn of one crossing is refused with its name.
        let gaps = counts.map(|count| count.saturating_sub(1).max(1) as f64);
        let spacing = match (shape.spacing, shape.size) {
            (Some(spacing), _) => spacing.map(Positive::get),
            (_, size) => {
                let [x, y] = size?.map(Positive::get);
                [x / gaps[0], y / gaps[1]]
            }
        };
        let MadeOf { weave, warp, weft, contacts } = made_of;
        let woven =
            Woven { counts, spacing, tails: shape.tails.map(|tail| tail.0), weave, warp, weft, contacts };
        let cuts: Vec<_> = shape.cut.iter().map(|cut| [cut.from, cut.to].map(DVec2::from)).collect();
        let made = Yarns::woven_with_cuts(&woven, &cuts);
        let line = match &made {
            Err(SceneError::BadCut { number, .. }) => shape.cut.get(*number).map_or(line, |cut| cut.at_line),
            _ => line,
        };
        self.keep(line, made.map_err(plain))
    }

    fn quads(&mut self, path: &str, table: &ClothTable, made_of: &MadeOf) -> Option<Yarns> {
        let line = table.at_line;
        let obj = self.obj(path, line)?;
        let options = MeshOptions { unit: table.mesh_unit, weld: table.weld, uv_scale: None };
        let (obj, _) = self.keep(line, options.prepared(obj))?;
        let quads = self.keep(line, obj.quads())?;
        let corners: Vec<[u32; 4]> = quads.iter().map(|quad| quad.corners).collect();
        let ids = |v: &Vec<u32>| v.iter().copied().map(plisse_core::Id::new).collect();
        let groups: Vec<_> = obj.groups.iter().map(|(name, v)| (name.clone(), ids(v))).collect();
        let MadeOf { weave, warp, weft, contacts } = made_of;
        let made = Yarns::quads(&obj.positions, &corners, weave, [*warp, *weft], *contacts, groups);
        let made = made.map_err(|error| {
            let at = match &error {
                SceneError::Patch { source: PatchError::Families { quad, .. }, .. } => {
                    quads.get(*quad).map(|quad| format!(", line {}", quad.line))
                }
                _ => None,
            };
            format!("{}{}: {}", obj.name, at.unwrap_or_default(), plain(error))
        });
        self.keep(line, made)
    }
}

/// Where the material of a cloth is given, if it is: the default is read from a text of its own, in
/// which it is in the first line.
pub(super) fn material_line(table: &ClothTable) -> Option<usize> {
    match &table.material {
        MaterialChoice::Preset(_, line) => (*line >= table.at_line).then_some(*line),
        MaterialChoice::Table(material) => Some(material.at_line),
    }
}

/// What a cloth is woven of, and how.
struct MadeOf {
    weave: Weave,
    warp: YarnMaterial,
    weft: YarnMaterial,
    contacts: Contacts,
}

impl MadeOf {
    fn of(table: Option<&YarnTable>) -> Result<Self, PatchError> {
        let Some(table) = table else {
            let (warp, weft) = (YarnMaterial::COTTON, YarnMaterial::COTTON);
            return Ok(Self { weave: Weave::plain(), warp, weft, contacts: Contacts::COTTON });
        };
        let weave = match &table.weave {
            WeaveChoice::Plain => Weave::plain(),
            WeaveChoice::Twill { over, under } => Weave::twill(*over, *under)?,
            WeaveChoice::Satin { size, step } => Weave::satin(*size, *step)?,
            WeaveChoice::Matrix(rows) => Weave::matrix(rows.clone())?,
        };
        let contacts = Contacts {
            shear: table.shear.0,
            jamming: table.jamming.get(),
            friction: table.friction.0,
            stick: table.stick.get(),
            press: table.press.0,
        };
        Ok(Self { weave, warp: material(&table.warp), weft: material(&table.weft), contacts })
    }
}

fn material(table: &YarnMaterialTable) -> YarnMaterial {
    YarnMaterial {
        radius: table.radius.get(),
        density: table.density.get(),
        stretch: table.stretch.get(),
        bending: table.bending.0,
        stretch_damping: table.stretch_damping.0,
        bending_damping: table.bending_damping.0,
    }
}

fn changed(base: YarnMaterial, table: &SingleYarnTable) -> YarnMaterial {
    YarnMaterial {
        radius: table.radius.map_or(base.radius, Positive::get),
        density: table.density.map_or(base.density, Positive::get),
        stretch: table.stretch.map_or(base.stretch, Positive::get),
        bending: table.bending.map_or(base.bending, |value| value.0),
        stretch_damping: table.stretch_damping.map_or(base.stretch_damping, |value| value.0),
        bending_damping: table.bending_damping.map_or(base.bending_damping, |value| value.0),
    }
}

/// Without the name of a body: the line says which it is.
fn plain(error: SceneError) -> String {
    match error {
        SceneError::Patch { source, .. } => source.to_string(),
        SceneError::Pick { reason, .. } => reason,
        other => other.to_string(),
    }
}
