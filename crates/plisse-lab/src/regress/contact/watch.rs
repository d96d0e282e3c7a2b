//! A run, with everything looked at after every frame.

use std::fmt;

use plisse::scene::Scene;
use plisse::system::StepError;

use crate::regress::progress::Progress;
use crate::regress::scenes::inside::{Path, depth};

/// What was seen of a run.
#[derive(Debug, Default)]
pub(super) struct Watch {
    frames: u32,
    iterations: usize,
    rejected: usize,
    /// Of all frames, m.
    smallest_gap: Option<f64>,
    /// Pairs of triangles that cross and must not, in all frames together.
    pub(super) crossings: usize,
    /// Vertices inside an obstacle or beyond it, in all frames together.
    pub(super) wrong_side: usize,
    /// The first crossing and the first vertex on the wrong side, in words.
    first: Vec<String>,
    /// Why it stopped before its end.
    pub(super) error: Option<StepError>,
}

impl Watch {
    /// Runs so many time steps. What goes wrong is counted, and the run goes on.
    pub(super) fn of(scene: &mut Scene, frames: u32, progress: &mut Progress) -> Self {
        let mut watch = Self::default();
        watch.cross(scene);
        while watch.frames < frames && watch.error.is_none() {
            if let Err(error) = watch.frame(scene) {
                watch.error = Some(error);
            }
            progress.at(|| format!("frame {} of {frames}, {} iterations", watch.frames, watch.iterations));
        }
        watch
    }

    fn frame(&mut self, scene: &mut Scene) -> Result<(), StepError> {
        let before = (scene.time(), scene.state().x().as_slice().to_vec());
        let report = scene.step()?;
        self.frames += 1;
        self.iterations += report.iterations();
        self.rejected += report.rejected;
        let gap = report.closest.map(|closest| closest.gap).filter(|gap| gap.is_finite());
        self.smallest_gap = self.smallest_gap.into_iter().chain(gap).reduce(f64::min);
        self.cross(scene);
        self.sides(scene, before);
        Ok(())
    }

    fn cross(&mut self, scene: &Scene) {
        let found = scene.crossings().forbidden;
        if let (0, Some(pair)) = (self.crossings, found.first()) {
            self.first.push(format!("{pair} cross at t = {:.4} s", scene.time()));
        }
        self.crossings += found.len();
    }

    /// Vertices that are inside an obstacle, or went through one in the last frame.
    fn sides(&mut self, scene: &Scene, (time, before): (f64, Vec<glam::DVec3>)) {
        let times = [time, scene.time()];
        let paths = before.iter().zip(scene.state().x().as_slice()).map(|(a, b)| Path { times, x: [*a, *b] });
        for (vertex, path) in paths.enumerate() {
            for obstacle in scene.obstacles() {
                let deep = depth(obstacle, times[1], path.x[1]);
                if deep == 0.0 && !path.passes(obstacle) {
                    continue;
                }
                if self.wrong_side == 0 {
                    let name = obstacle.name().unwrap_or("an obstacle");
                    let place = format!("on the wrong side of {name}, {deep:.2e} m deep");
                    self.first.push(format!("vertex {vertex} is {place} at t = {:.4} s", times[1]));
                }
                self.wrong_side += 1;
            }
        }
    }
}

impl fmt::Display for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { frames, iterations, rejected, crossings, wrong_side, .. } = self;
        write!(f, "{frames} frames, {iterations} iterations, {rejected} rejected, ")?;
        write!(f, "{crossings} crossings, {wrong_side} on the wrong side")?;
        if let Some(gap) = self.smallest_gap {
            write!(f, ", smallest gap {gap:.2e} m")?;
        }
        for what in &self.first {
            write!(f, "; {what}")?;
        }
        match &self.error {
            Some(error) => write!(f, "; STOPPED: {error}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use plisse::file::Loaded;
    use plisse::system::State;

    use super::*;

    const TWO: &str = r#"
version = 1
[time]
duration = 1
[[cloth]]
grid = { cells = [2, 2], size = [0.1, 0.1] }
position = [0, 0, 0.1]
[[cloth]]
grid = { cells = [2, 2], size = [0.1, 0.1] }
position = [0, 0, 0.2]
[[obstacle]]
name = "floor"
plane = { normal = [0, 0, 1] }
"#;

    /// The scene with its second sheet moved.
    fn moved(by: impl Fn(usize, DVec3) -> DVec3) -> Scene {
        let mut scene = Loaded::parse(TWO, "two", std::path::Path::new("")).unwrap().scene;
        let mut x = scene.state().x().clone();
        x.as_mut_slice().iter_mut().enumerate().skip(9).for_each(|(i, x)| *x = by(i - 9, *x));
        let state = State::new(x, scene.state().v().clone()).unwrap();
        scene.set_state(state).unwrap();
        scene
    }

    #[test]
    fn triangles_that_cross_are_counted() {
        // Turned upright, through the other sheet.
        let scene = moved(|_, x| DVec3::new(0.013, x.y, 0.1 + x.x));
        let mut watch = Watch::default();
        watch.cross(&scene);
        assert!(watch.crossings > 0 && watch.first[0].contains("cloth 1"), "{watch}");
        let mut apart = Watch::default();
        apart.cross(&moved(|_, x| x));
        assert_eq!(apart.crossings, 0, "{apart}");
    }

    #[test]
    fn vertices_on_the_wrong_side_are_counted() {
        let scene = moved(|i, x| if i == 4 { x - DVec3::Z * 0.3 } else { x });
        let start = moved(|_, x| x).state().x().as_slice().to_vec();
        let mut watch = Watch::default();
        watch.sides(&scene, (-0.01, start));
        assert_eq!(watch.wrong_side, 1, "{watch}");
        assert!(watch.first[0].contains("vertex 13 is on the wrong side of floor"), "{watch}");
    }
}
