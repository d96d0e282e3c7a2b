//! Obstacles from tables.

use glam::DVec3;
use plisse_core::{Field, Positive, TriMesh, Vertices};
use plisse_io::scene_file::ObstacleTable;

use super::Reader;
use super::meshes::MeshOptions;
use crate::scene::{Contact, Obstacle, SceneError, open_seams, rotation_degrees};

impl Reader<'_> {
    pub(super) fn obstacle(&mut self, table: &ObstacleTable) -> Option<Obstacle> {
        let line = table.at_line;
        let shapes = [
            ("plane", table.plane.is_some()),
            ("sphere", table.sphere.is_some()),
            ("capsule", table.capsule.is_some()),
            ("cylinder", table.cylinder.is_some()),
            ("cone", table.cone.is_some()),
            ("box", table.r#box.is_some()),
            ("mesh", table.mesh.is_some()),
            ("mesh_sequence", table.mesh_sequence.is_some()),
        ];
        if !self.one_shape(line, "[[obstacle]]", &shapes) {
            return None;
        }
        if table.mesh.is_none() && table.mesh_sequence.is_none() {
            let keys = [("mesh_unit", table.mesh_unit.is_some()), ("weld", table.weld.is_some())];
            self.only_for_meshes(line, &keys);
        }
        let shape = if let Some(plane) = &table.plane {
            self.keep(line, Obstacle::plane(plane.point, plane.normal.0))?
        } else if let Some(ball) = &table.sphere {
            Obstacle::sphere(ball.centre, ball.radius)
        } else if let Some(rod) = &table.capsule {
            Obstacle::capsule(rod.from, rod.to, rod.radius)
        } else if let Some(pillar) = &table.cylinder {
            let shape = Obstacle::cylinder(pillar.from, pillar.to, pillar.radius);
            self.keep(pillar.at_line, shape)?
        } else if let Some(cone) = &table.cone {
            let shape = Obstacle::cone(cone.from, cone.to, cone.radii.map(|radius| radius.0));
            self.keep(cone.at_line, shape)?
        } else if let Some(cuboid) = &table.r#box {
            let turn = cuboid.rotation;
            Obstacle::cuboid(cuboid.centre, cuboid.size, rotation_degrees(turn.x, turn.y, turn.z))
        } else if let Some(sequence) = &table.mesh_sequence {
            self.mesh_sequence(table, sequence)?
        } else {
            self.mesh_obstacle(table)?
        };
        self.identity.obstacle(table);
        let shape = self.keep(line, shape.scaled(table.scale))?;
        let turn = rotation_degrees(table.rotation.x, table.rotation.y, table.rotation.z);
        let shape = shape.placed(turn, table.position);
        if table.linear && table.motion.is_empty() {
            self.note(line, "\"linear\" needs a \"motion\"");
        }
        let contact = Contact {
            range: table.range,
            stiffness: table.stiffness,
            friction: table.friction.0,
            slip: table.slip,
        };
        let mut obstacle = self.keep(line, shape.contact(contact))?;
        if let Some(name) = &table.name {
            obstacle = obstacle.named(name);
        }
        if !table.motion.is_empty() {
            obstacle = obstacle.moving(self.keyframes(&table.motion, table.linear)?);
        }
        Some(obstacle)
    }

    fn mesh_obstacle(&mut self, table: &ObstacleTable) -> Option<Obstacle> {
        let (path, line) = (table.mesh.as_deref().unwrap_or_default(), table.at_line);
        let obj = self.obj(path, line)?;
        let options = MeshOptions { unit: table.mesh_unit, weld: table.weld, uv_scale: None };
        let (obj, _) = self.keep(line, options.prepared(obj))?;
        let surface = self.keep(line, obj.into_surface())?;
        let turn = rotation_degrees(table.rotation.x, table.rotation.y, table.rotation.z);
        let scale = DVec3::from(table.scale.map(Positive::get));
        let x = surface.positions.map(|x| turn * (*x * scale) + table.position);
        let obstacle = Obstacle::mesh(&surface.mesh, &x)
            .map_err(|error| format!("{path}: {error}{}", seam_hint(&error, &surface.mesh, &x)));
        self.keep(line, obstacle)
    }
}

/// What helps if a mesh is open only where edges lie on each other.
pub(super) fn seam_hint(error: &SceneError, mesh: &TriMesh, x: &Field<Vertices, DVec3>) -> String {
    let seams = open_seams(mesh, x).len();
    if matches!(error, SceneError::OpenObstacle { .. }) && seams > 0 {
        format!(". {seams} edges lie on others without being joined; weld = true joins them")
    } else {
        String::new()
    }
}
