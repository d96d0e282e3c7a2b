//! Cloth and wires from tables.

use std::path::PathBuf;

use glam::DVec3;
use plisse_core::generate::Diagonal;
use plisse_core::{Id, Positive, Vertices, coincident};
use plisse_io::Obj;
use plisse_io::scene_file::{
    ClothModelName, ClothTable, ComplianceChoice, ComplianceTable, DiagonalName, Fold, Grid, LargestStretch,
    LimitName, WeldChoice, WiresTable,
};

use super::meshes::MeshOptions;
use super::{Meaning, Reader};
use crate::scene::{
    BodyContact, Cloth, Compliance, Filling, MaxStretch, Model, SAME_PLACE, SceneError, Timeline, Wire,
    Wires, rotation_degrees,
};

impl Reader<'_> {
    pub(super) fn cloth(&mut self, table: &ClothTable) -> Option<Cloth> {
        let line = table.at_line;
        let material = self.material(&table.material);
        let pins = self.pins(&table.pin);
        let forces = self.forces(&table.force);
        let shapes = [
            ("grid", table.grid.is_some()),
            ("disc", table.disc.is_some()),
            ("cylinder", table.cylinder.is_some()),
            ("sphere", table.sphere.is_some()),
            ("pillow", table.pillow.is_some()),
            ("discs", table.discs.is_some()),
            ("annuli", table.annuli.is_some()),
            ("mesh", table.mesh.is_some()),
        ];
        self.no_yarns(table);
        let one = self.one_shape(line, "[[cloth]]", &shapes);
        let shape = if one { self.cloth_shape(table) } else { None };
        let fillings = [
            ("pressure", table.pressure.is_some()),
            ("pressure_over_time", !table.pressure_over_time.is_empty()),
            ("volume", table.volume.is_some()),
        ];
        let given: Vec<&str> = fillings.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect();
        if given.len() > 1 {
            self.note(line, format!("a filling has {}; remove all but one", given.join(" and ")));
        }
        if table.strain_limit.is_none() && table.strain_limit_of != LimitName::Any {
            self.note(line, "\"strain_limit_of\" needs a \"strain_limit\"");
        }
        if let Some(compliance) = &table.compliance
            && table.model != ClothModelName::Developable
        {
            let text = "\"compliance\" belongs to model = \"developable\"; choose that, or remove it";
            self.note(compliance.at_line, text);
        }
        let scale = DVec3::from(table.scale.map(Positive::get));
        let mut cloth = shape?;
        let material = material?;
        self.identity.cloth(table, &material);
        if scale != DVec3::ONE {
            // Whatever differs from the size at rest is meant from here on.
            cloth = cloth.in_metres().deformed(|x| x * scale);
        }
        for crease in &table.crease {
            cloth = self.keep(crease.at_line, cloth.creased(crease.from, crease.to))?;
        }
        if let Some(fold) = &table.fold {
            cloth = self.folded(cloth, fold)?;
        }
        cloth = cloth
            .material(material)
            .model(match table.model {
                ClothModelName::Developable => Model::Developable,
                ClothModelName::Elastic | ClothModelName::Yarn => Model::Elastic,
            })
            .rotated(rotation_degrees(table.rotation.x, table.rotation.y, table.rotation.z))
            .at(table.position)
            .velocity(table.velocity);
        if let Some(ComplianceTable { warp, weft, shear, at_line }) = &table.compliance {
            let [warp, weft, shear] = [warp, weft, shear].map(|part| match part {
                ComplianceChoice::Number(number) => *number,
                ComplianceChoice::Material => f64::INFINITY,
            });
            let compliance = Compliance { warp, weft, shear };
            if let Err(error) = compliance.check() {
                self.note(*at_line, error.to_string());
            }
            if table.model == ClothModelName::Developable {
                cloth = cloth.compliance(compliance);
            }
        }
        if let Some(name) = &table.name {
            cloth = cloth.named(name);
        }
        if let Some(LargestStretch(value)) = table.strain_limit {
            cloth = cloth.strain_limit(MaxStretch { value, of: table.strain_limit_of.meaning() });
        }
        if let Some(pressure) = table.pressure {
            cloth = cloth.filled(Filling::Pressure(pressure));
        }
        if let Some(first) = table.pressure_over_time.first() {
            let frames = table.pressure_over_time.iter().map(|frame| (frame.time, frame.pressure));
            let course = self.keep(first.at_line, Timeline::new(frames))?;
            cloth = cloth.filled(Filling::PressureOverTime(course));
        }
        if let Some(volume) = &table.volume {
            cloth = cloth.filled(Filling::Volume { target: volume.target.get(), bulk: volume.bulk });
        }
        let name = table.name.as_deref().unwrap_or("this cloth");
        for ((pick, grip), pin) in pins?.into_iter().zip(&table.pin) {
            cloth = cloth.hold(pick, grip);
            self.keep(pin.at_line, cloth.check_last_pin(name));
        }
        for ((pick, force), given) in forces?.into_iter().zip(&table.force) {
            cloth = cloth.force(pick, force);
            self.keep(given.at_line, cloth.check_last_force(name));
        }
        let contact = BodyContact {
            thickness: table.contact_thickness.0,
            range: table.contact_range,
            friction: table.contact_friction.0,
            touches_itself: table.self_contact.unwrap_or(cloth.body_contact().touches_itself),
        };
        Some(cloth.contact(contact).jittered(table.jitter.0))
    }

    fn cloth_shape(&mut self, table: &ClothTable) -> Option<Cloth> {
        if let Some(path) = &table.mesh {
            return self.mesh(path, table);
        }
        let keys = [
            ("mesh_unit", table.mesh_unit.is_some()),
            ("weld", table.weld.is_some()),
            ("uv_scale", table.uv_scale.is_some()),
        ];
        self.only_for_meshes(table.at_line, &keys);
        if !self.is_small {
            return None;
        }
        let result: Result<Cloth, SceneError> = if let Some(shape) = &table.grid {
            let delaunay = shape.diagonal == Some(DiagonalName::Delaunay);
            if shape.irregular.is_some() && shape.diagonal.is_some() && !delaunay {
                self.note(
                    shape.at_line,
                    "the diagonals of an irregular grid are random; remove \"diagonal\", or choose \"delaunay\"",
                );
            }
            if shape.irregular.is_none() && delaunay {
                self.note(
                    shape.at_line,
                    "Delaunay triangles of a regular grid are not unique; add \"irregular\", a number",
                );
            }
            grid(shape)
        } else if let Some(shape) = &table.disc {
            match shape.irregular {
                Some(seed) => Cloth::irregular_disc(shape.rings.0, shape.radius.get(), seed.into()),
                None => Cloth::disc(shape.rings.0, shape.radius.get()),
            }
        } else if let Some(shape) = &table.cylinder {
            let (cells, radius, length) = (shape.cells.map(|c| c.0), shape.radius.get(), shape.length.get());
            match shape.irregular {
                Some(seed) => Cloth::irregular_cylinder(cells, radius, length, seed.into()),
                None => Cloth::cylinder(cells, radius, length),
            }
        } else if let Some(shape) = &table.sphere {
            Cloth::sphere(shape.divisions as usize, shape.radius.get())
        } else if let Some(shape) = &table.pillow {
            let (cells, size) = (shape.cells.map(|c| c.0), shape.size.map(Positive::get));
            match shape.irregular {
                Some(seed) => Cloth::irregular_pillow(cells, size, seed.into()),
                None => Cloth::pillow(cells, size),
            }
        } else if let Some(shape) = &table.discs {
            Cloth::discs(shape.rings.0, shape.radius.get(), shape.irregular.unwrap_or(1).into())
        } else if let Some(shape) = &table.annuli {
            Cloth::annuli(shape.across.0, shape.radii.map(Positive::get), shape.irregular.into())
        } else {
            return None;
        };
        self.keep(table.at_line, result)
    }

    /// Turns what lies beyond a line of the mesh upwards. Lengths do not change.
    fn folded(&mut self, cloth: Cloth, fold: &Fold) -> Option<Cloth> {
        let x = cloth.positions();
        let size = x.as_slice().iter().fold(0.0, |m: f64, x| m.max(x.abs().max_element()));
        let side = |v: Id<Vertices>| x[v].x - fold.at;
        let tolerance = 1e-9 * size;
        if x.as_slice().iter().any(|x| x.z.abs() > tolerance) {
            self.note(fold.at_line, "only a flat shape can be folded");
            return None;
        }
        let crossed =
            |[a, b]: [Id<Vertices>; 2]| side(a).min(side(b)) < -tolerance && side(a).max(side(b)) > tolerance;
        if cloth.mesh().edges().as_slice().iter().any(|edge| crossed(edge.vertices)) {
            let message = format!("the fold at x = {} cuts through cells; put it where cells meet", fold.at);
            self.note(fold.at_line, message);
            return None;
        }
        let (sin, cos) = fold.angle.to_radians().sin_cos();
        let folded = cloth.deformed(|x| {
            let beyond = (x.x - fold.at).max(0.0);
            DVec3::new(x.x.min(fold.at) + cos * beyond, x.y, sin * beyond)
        });
        self.keep(fold.at_line, folded.resting_bent())
    }

    /// An OBJ file named by a scene.
    pub(super) fn obj(&mut self, path: &str, line: usize) -> Option<Obj> {
        self.frame(path, line, 0)
    }

    /// Reads a mesh of a sequence after so many others.
    pub(super) fn frame(&mut self, path: &str, line: usize, others: usize) -> Option<Obj> {
        let path: PathBuf = self.folder.join(path);
        // Nothing more is read for a scene that is too large already.
        let obj = if self.is_small { self.keep(line, Obj::read(&path))? } else { return None };
        if others == 0 {
            self.count(line, obj.positions.len())?;
        } else {
            self.count_frame(line, obj.positions.len())?;
        }
        self.identity.mesh(&obj);
        self.inputs.push(path);
        Some(obj)
    }

    fn mesh(&mut self, path: &str, table: &ClothTable) -> Option<Cloth> {
        let obj = self.obj(path, table.at_line)?;
        let options = MeshOptions { unit: table.mesh_unit, weld: table.weld, uv_scale: table.uv_scale };
        self.keep(table.at_line, options.cloth(obj))
    }

    /// Notes keys that say how a file is read, where there is no file.
    pub(super) fn only_for_meshes(&mut self, line: usize, keys: &[(&str, bool)]) {
        for (key, _) in keys.iter().filter(|(_, given)| *given) {
            self.note(line, format!("\"{key}\" says how a \"mesh\" is read; remove it"));
        }
    }

    pub(super) fn wires(&mut self, table: &WiresTable) -> Option<Wires> {
        let line = table.at_line;
        let pins = self.pins(&table.pin);
        let forces = self.forces(&table.force);
        let shapes =
            [("net", table.net.is_some()), ("line", table.line.is_some()), ("mesh", table.mesh.is_some())];
        if !self.one_shape(line, "[[wires]]", &shapes) {
            return None;
        }
        if !self.is_small {
            return None;
        }
        if table.mesh.is_none() {
            let keys = [("mesh_unit", table.mesh_unit.is_some()), ("weld", table.weld.is_some())];
            self.only_for_meshes(line, &keys);
        }
        let wires = if let Some(net) = &table.net {
            self.keep(line, Wires::net(net.meshes.map(|m| m.0), net.segments.0, net.size.map(Positive::get)))?
        } else if let Some(shape) = &table.line {
            self.keep(line, Wires::line(shape.from, shape.to, shape.segments.0))?
        } else {
            let path = table.mesh.as_deref().unwrap_or_default();
            let obj = self.obj(path, line)?;
            let options = MeshOptions { unit: table.mesh_unit, weld: table.weld, uv_scale: None };
            let (obj, _) = self.keep(line, options.prepared(obj))?;
            if table.weld.is_none() {
                self.joined(&obj, path, line)?;
            }
            let groups = obj.groups.into_iter().map(|(name, v)| (name, v.into_iter().map(Id::new).collect()));
            let groups: Vec<(String, Vec<Id<Vertices>>)> = groups.collect();
            self.keep(line, Wires::new(obj.positions, obj.segments, groups))?
        };
        let damping = self.damping(&table.damping)?;
        self.identity.wires(table, &damping);
        let mut wires = wires
            .wire(Wire {
                young: table.young,
                radius: table.radius,
                density: table.density,
                law: table.law.meaning(),
                damping,
            })
            .rotated(rotation_degrees(table.rotation.x, table.rotation.y, table.rotation.z))
            .at(table.position)
            .velocity(table.velocity);
        if table.weld == Some(WeldChoice::Apart) {
            wires = wires.apart();
        }
        if let Some(name) = &table.name {
            wires = wires.named(name);
        }
        let name = table.name.as_deref().unwrap_or("these wires");
        for ((pick, grip), pin) in pins?.into_iter().zip(&table.pin) {
            wires = wires.hold(pick, grip);
            self.keep(pin.at_line, wires.check_last_pin(name));
        }
        for ((pick, force), given) in forces?.into_iter().zip(&table.force) {
            wires = wires.force(pick, force);
            self.keep(given.at_line, wires.check_last_force(name));
        }
        let contact = BodyContact {
            thickness: 0.0,
            range: table.contact_range,
            friction: table.contact_friction.0,
            touches_itself: table.self_contact,
        };
        Some(wires.contact(contact).jittered(table.jitter.0))
    }

    /// Refuses wires that meet without being joined.
    fn joined(&mut self, obj: &Obj, path: &str, line: usize) -> Option<()> {
        let first = coincident(&obj.positions, SAME_PLACE * obj.size());
        let on_others: Vec<(usize, u32)> =
            first.into_iter().enumerate().filter(|(v, first)| v != &(*first as usize)).collect();
        let Some((vertex, other)) = on_others.first() else { return Some(()) };
        let message = format!(
            "{path}: {} vertices lie on others without being joined, the first vertex {vertex} on vertex {other}; weld = true joins them, \
             weld = false lets them come apart",
            on_others.len()
        );
        self.note(line, message);
        None
    }
}

fn grid(shape: &Grid) -> Result<Cloth, SceneError> {
    let (cells, size) = (shape.cells.map(|c| c.0), shape.size.map(Positive::get));
    match (shape.irregular, shape.diagonal) {
        (Some(seed), Some(DiagonalName::Delaunay)) => Cloth::delaunay(cells, size, seed.into()),
        (Some(seed), _) => Cloth::irregular(cells, size, seed.into()),
        (None, Some(DiagonalName::Left)) => Cloth::grid(cells, size, Diagonal::Left),
        (None, Some(DiagonalName::Right)) => Cloth::grid(cells, size, Diagonal::Right),
        (None, Some(DiagonalName::Alternating | DiagonalName::Delaunay) | None) => {
            Cloth::grid(cells, size, Diagonal::Alternating)
        }
    }
}
