//! Pins, forces and motions from tables.

use glam::DVec3;
use plisse_io::scene_file::{Bounds, ForceTable, Indices, KeyframeTable, PinTable};

use super::Reader;
use crate::scene::{Grip, Hold, Keyframe, Keyframes, Pick, Timeline, rotation_degrees};

impl Reader<'_> {
    /// Every pin, or none with notes.
    pub(super) fn pins(&mut self, tables: &[PinTable]) -> Option<Vec<(Pick, Grip)>> {
        let pins: Vec<Option<(Pick, Grip)>> = tables.iter().map(|table| self.pin(table)).collect();
        pins.into_iter().collect()
    }

    fn pin(&mut self, table: &PinTable) -> Option<(Pick, Grip)> {
        let line = table.at_line;
        let picks = [
            ("vertices", table.vertices.is_some()),
            ("box", table.r#box.is_some()),
            ("group", table.group.is_some()),
        ];
        let one = self.one_shape(line, "a pin", &picks);
        let ways =
            [!table.motion.is_empty(), table.line.is_some(), table.plane.is_some(), table.follow.is_some()];
        if ways.iter().filter(|way| **way).count() > 1 {
            self.note(line, "a pin has at most one of motion, follow, line, plane");
            return None;
        }
        if table.linear && table.motion.is_empty() {
            self.note(line, "\"linear\" needs a \"motion\"");
        }
        if table.stiffness.is_some() && (table.line.is_some() || table.plane.is_some()) {
            let message = "springs do not let vertices slide on a line or in a plane; remove \"stiffness\", or \
                           \"line\" or \"plane\"";
            self.note(line, message);
        }
        if let Some(leader) = &table.follow {
            self.follows(leader, line);
        }
        let hold = if !table.motion.is_empty() {
            Hold::Moving(self.keyframes(&table.motion, table.linear)?)
        } else if let Some(direction) = table.line {
            Hold::Line(direction.0)
        } else if let Some(normal) = table.plane {
            Hold::Plane(normal.0)
        } else if let Some(leader) = &table.follow {
            Hold::Following(leader.clone())
        } else {
            Hold::Still
        };
        let grip = Grip { hold, until: table.until, stiffness: table.stiffness };
        let pick = picked(table.vertices.as_ref(), table.r#box.as_ref(), table.group.as_ref())?;
        one.then_some((pick, grip))
    }

    /// Notes an obstacle that does not exist.
    fn follows(&mut self, leader: &str, line: usize) {
        if self.obstacles.iter().any(|name| name == leader) {
            return;
        }
        let known = if self.obstacles.is_empty() {
            "the scene has none".to_owned()
        } else {
            format!("there are {}", self.obstacles.join(", "))
        };
        self.note(line, format!("a pin follows \"{leader}\", but no obstacle is called that; {known}"));
    }

    /// Every force, or none with notes.
    pub(super) fn forces(&mut self, tables: &[ForceTable]) -> Option<Vec<(Pick, Timeline<DVec3>)>> {
        let forces: Vec<Option<(Pick, Timeline<DVec3>)>> =
            tables.iter().map(|table| self.force(table)).collect();
        forces.into_iter().collect()
    }

    fn force(&mut self, table: &ForceTable) -> Option<(Pick, Timeline<DVec3>)> {
        let line = table.at_line;
        let picks = [table.vertices.is_some(), table.r#box.is_some(), table.group.is_some()].map(usize::from);
        if picks.iter().sum::<usize>() > 1 {
            self.note(line, "a force has at most one of vertices, box, group; without, it pulls all");
            return None;
        }
        let frames = table.over_time.iter().map(|frame| (frame.time, frame.total));
        let force = match (table.total, table.over_time.is_empty()) {
            (Some(total), true) => self.keep(line, Timeline::new([(0.0, total)]))?,
            (None, false) => self.keep(line, Timeline::new(frames))?,
            (Some(_), false) => {
                self.note(line, "a force has either \"total\" or \"over_time\"; remove one");
                return None;
            }
            (None, true) => {
                self.note(line, "a force needs \"total\", three numbers in N, or \"over_time\"");
                return None;
            }
        };
        let pick = picked(table.vertices.as_ref(), table.r#box.as_ref(), table.group.as_ref());
        Some((pick.unwrap_or(Pick::All), force))
    }

    pub(super) fn keyframes(&mut self, tables: &[KeyframeTable], linear: bool) -> Option<Keyframes> {
        let line = tables.first().map_or(1, |table| table.at_line);
        let frame = |table: &KeyframeTable| Keyframe {
            time: table.time,
            translation: table.r#move,
            rotation: rotation_degrees(table.rotate.x, table.rotate.y, table.rotate.z),
        };
        // A rotation is known up to whole turns: more than half of one would be taken the other way
        // round.
        for pair in tables.windows(2) {
            let turn = (pair[1].rotate - pair[0].rotate).abs().max_element();
            if turn > 180.0 {
                let text =
                    format!("this keyframe turns by {turn} degrees; give one after each half turn at least");
                self.note(pair[1].at_line, text);
            }
        }
        let keys = self.keep(line, Keyframes::new(tables.iter().map(frame).collect()))?;
        Some(if linear { keys.linear() } else { keys })
    }
}

fn picked(vertices: Option<&Indices>, bounds: Option<&Bounds>, group: Option<&String>) -> Option<Pick> {
    match (vertices, bounds, group) {
        (Some(vertices), _, _) => Some(Pick::Vertices(vertices.0.clone())),
        (_, Some(bounds), _) => Some(Pick::Box { min: bounds.min, max: bounds.max }),
        (_, _, Some(group)) => Some(Pick::Group(group.clone())),
        _ => None,
    }
}
