//! Meshes and caches from the checkpoints of a run: OBJ, PC2 and VTK.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use glam::DVec3;
use plisse::core::Vertices;
use plisse::file::Loaded;
use plisse::io::{ObjSource, VtkCellScalars, VtkFrame, write_obj, write_pc2, write_vtk, write_vtk_series};
use plisse::scene::BodyInfo;
use plisse::system::State;

use crate::arguments::Talk;
use crate::error::Failure;
use crate::export::go_on;
use crate::folder::{Folder, cache_name, frame_name};
use crate::shown::Shown;

/// Writes meshes of a run, whether the scene asks for them or `plisse export` does.
#[derive(Clone, Copy)]
pub(crate) struct Meshes<'a> {
    pub(crate) loaded: &'a Loaded,
    pub(crate) folder: &'a Folder,
    /// Where `meshes`, `obstacles`, `pc2` and `vtk` are made.
    pub(crate) out: &'a Path,
    /// From the axes of the scene to those of the files.
    pub(crate) turn: fn(DVec3) -> DVec3,
    pub(crate) talk: &'a Talk,
    pub(crate) interrupted: &'a AtomicBool,
}

impl<'a> Meshes<'a> {
    /// What a frame shows, in the axes of the files.
    fn shown(&self, frame: u32) -> Result<Shown<'a>, Failure> {
        go_on(self.talk, self.interrupted)?;
        let state = self.folder.load(frame, self.loaded)?.state;
        Ok(self.shown_of(&state))
    }

    fn shown_of(&self, state: &State<Vertices>) -> Shown<'a> {
        Shown::new(&self.loaded.scene, state, self.loaded.file.output.smooth).turned(self.turn)
    }

    /// An OBJ file of the bodies for each frame, and one of the obstacles, if any has triangles.
    /// They are apart because a mesh of cloth with its pattern should stay one that can be read
    /// again.
    pub(crate) fn obj(&self, frames: &[u32]) -> Result<(), Failure> {
        let scene = &self.loaded.scene;
        for frame in frames {
            go_on(self.talk, self.interrupted)?;
            let state = self.folder.load(*frame, self.loaded)?.state;
            let files = [
                ("meshes", Shown::bodies(scene, &state, self.loaded.file.output.smooth)),
                ("obstacles", Shown::obstacles(scene, state.time())),
            ];
            for (part, shown) in files {
                let shown = shown.turned(self.turn);
                if !shown.positions.is_empty() {
                    let path = self.out.join(part).join(frame_name(*frame, "obj"));
                    write_obj(&path, &ObjSource { positions: &shown.positions, parts: &shown.parts() })?;
                }
            }
        }
        Ok(())
    }

    /// A point cache for each object of the OBJ files, but for obstacles that stay where they are.
    /// One frame is in memory at a time.
    pub(crate) fn pc2(&self, frames: &[u32]) -> Result<(), Failure> {
        let Some(&first) = frames.first() else { return Ok(()) };
        if let Some(gap) = frames.windows(2).find(|pair| pair[1] != pair[0] + 1) {
            return Err(Failure::Input(format!(
                "{} keeps no frame between {} and {}, and a point cache needs all; run the scene with \
                 checkpoints = \"all\"",
                self.folder.root.display(),
                gap[0],
                gap[1]
            )));
        }
        let start = self.shown(first)?;
        let mut taken = BTreeSet::new();
        for (number, part) in start.parts().iter().enumerate() {
            if number >= start.body_parts() && !self.moves(number, &start.object(number), frames)? {
                continue;
            }
            let mut name = cache_name(part.name);
            for again in 2.. {
                // Some systems do not tell capitals apart.
                if taken.insert(name.to_lowercase()) {
                    break;
                }
                name = cache_name(&format!("{}-{again}", part.name));
            }
            let mut failure = None;
            let positions = frames.iter().map(|frame| match self.shown(*frame) {
                Ok(shown) => shown.object(number),
                Err(error) => {
                    // A frame of another size makes the writer stop; the reason is this one.
                    failure.get_or_insert(error);
                    Vec::new()
                }
            });
            let result = write_pc2(&self.out.join("pc2").join(name), first as f32, 1.0, positions);
            match failure {
                Some(failure) => return Err(failure),
                None => result?,
            }
        }
        Ok(())
    }

    /// Whether an object is somewhere else in one of the frames.
    fn moves(&self, number: usize, start: &[DVec3], frames: &[u32]) -> Result<bool, Failure> {
        for frame in frames {
            if self.shown(*frame)?.object(number) != start {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A VTK file for each frame, and the list that makes a film of them if these are all frames.
    pub(crate) fn vtk(&self, frames: &[u32]) -> Result<(), Failure> {
        let mut files = Vec::new();
        for frame in frames {
            go_on(self.talk, self.interrupted)?;
            let state = self.folder.load(*frame, self.loaded)?.state;
            let shown = self.shown_of(&state);
            let strain = shown.on_points(|body| body.strain(&state), |_| 0.0);
            let turned = |v: &DVec3| (self.turn)(*v);
            let of_body =
                |body: &BodyInfo| state.v().as_slice()[body.vertices.clone()].iter().map(turned).collect();
            let velocity = shown.on_points(of_body, turned);
            let [segments, faces] = shown.numbers();
            let mut cells = vec![VtkCellScalars { name: "body", segments: &segments, faces: &faces }];
            let yarns = shown.yarns();
            cells.extend(yarns.as_ref().map(|[segments, faces]| VtkCellScalars {
                name: "yarn",
                segments,
                faces,
            }));
            let name = frame_name(*frame, "vtk");
            let content = VtkFrame {
                title: self.loaded.file.title.as_deref().unwrap_or("plisse"),
                positions: &shown.positions,
                segments: &shown.segments(),
                faces: &shown.faces(),
                point_scalars: &[("strain", &strain)],
                point_vectors: &[("velocity", &velocity)],
                cell_scalars: &cells,
            };
            write_vtk(&self.out.join("vtk").join(&name), &content)?;
            files.push((name, state.time()));
        }
        if *frames != self.folder.frames() {
            return Ok(());
        }
        Ok(write_vtk_series(&self.out.join("vtk/frames.vtk.series"), &files)?)
    }
}
