//! A mesh that deforms on a prescribed way.

use std::sync::{Arc, Mutex, PoisonError};

use glam::DVec3;
use plisse_core::{Field, Id, TriMesh, Vertices};

use super::super::SceneError;
use super::mesh_distance::SolidMesh;

/// The positions of a deforming mesh at a time; see
/// [`Obstacle::mesh_sequence`](super::Obstacle::mesh_sequence).
#[derive(Clone, Debug, PartialEq)]
pub struct MeshFrame {
    /// Seconds.
    pub time: f64,
    /// Of all vertices, m.
    pub positions: Field<Vertices, DVec3>,
}

/// A closed surface whose vertices go straight from frame to frame.
#[derive(Debug)]
pub(super) struct MeshSequence {
    mesh: TriMesh,
    frames: Vec<MeshFrame>,
    /// The middle of the box around the first frame.
    centre: DVec3,
    /// The surface at the time that was asked for last, by the bits of that time: many distances
    /// are wanted at one time.
    last: Mutex<Option<(u64, Arc<SolidMesh>)>>,
}

impl MeshSequence {
    pub(super) fn new(mesh: &TriMesh, frames: Vec<MeshFrame>) -> Result<Self, SceneError> {
        let wrong = |frame, reason| Err(SceneError::SequenceTimes { frame, reason });
        if frames.len() < 2 {
            return wrong(frames.len(), "a sequence needs at least two meshes; one that stays is a mesh");
        }
        if let Some(frame) = frames.iter().position(|frame| !frame.time.is_finite()) {
            return wrong(frame, "its time is not finite");
        }
        if let Some(before) = frames.windows(2).position(|pair| pair[1].time <= pair[0].time) {
            return wrong(before + 1, "times must ascend from frame to frame");
        }
        for (frame, MeshFrame { positions, .. }) in frames.iter().enumerate() {
            SolidMesh::check(mesh, positions)
                .map_err(|source| SceneError::SequenceFrame { frame, source: Box::new(source) })?;
        }
        let first = frames[0].positions.as_slice().iter();
        let low = first.clone().copied().fold(DVec3::INFINITY, DVec3::min);
        let high = first.copied().fold(DVec3::NEG_INFINITY, DVec3::max);
        Ok(Self { mesh: mesh.clone(), frames, centre: low.midpoint(high), last: Mutex::new(None) })
    }

    pub(super) fn centre(&self) -> DVec3 {
        self.centre
    }

    pub(super) fn mesh(&self) -> &TriMesh {
        &self.mesh
    }

    pub(super) fn faces(&self) -> Vec<[u32; 3]> {
        self.mesh.faces().as_slice().iter().map(|face| face.map(Id::get)).collect()
    }

    /// Whether any two frames differ.
    pub(super) fn moves(&self) -> bool {
        self.frames.windows(2).any(|pair| pair[0].positions != pair[1].positions)
    }

    /// Positions at a time: the first frame before its time, the last after its time.
    pub(super) fn positions(&self, time: f64) -> impl Iterator<Item = DVec3> {
        let ([before, next], passed) = self.around(time);
        let both = before.positions.as_slice().iter().zip(next.positions.as_slice());
        both.map(move |(from, to)| from.lerp(*to, passed))
    }

    /// The position of one vertex at a time.
    pub(super) fn position(&self, time: f64, vertex: usize) -> DVec3 {
        let ([before, next], passed) = self.around(time);
        before.positions.as_slice()[vertex].lerp(next.positions.as_slice()[vertex], passed)
    }

    /// The frames before and after a time, and which part of the way between them has passed.
    fn around(&self, time: f64) -> ([&MeshFrame; 2], f64) {
        let after = self.frames.partition_point(|frame| frame.time <= time);
        let last = self.frames.len() - 1;
        let [before, next] = [after.saturating_sub(1), after.min(last)].map(|i| &self.frames[i]);
        // Both are the same frame at the ends.
        let passed = (time - before.time) / (next.time - before.time);
        ([before, next], if before.time < next.time { passed } else { 0.0 })
    }

    /// The surface at a time, for distances.
    pub(super) fn at(&self, time: f64) -> Arc<SolidMesh> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((bits, solid)) if *bits == time.to_bits() => Arc::clone(solid),
            _ => {
                let positions = Field::from_vec(self.positions(time).collect());
                let solid = Arc::new(SolidMesh::of_checked(&self.mesh, &positions));
                *last = Some((time.to_bits(), Arc::clone(&solid)));
                solid
            }
        }
    }
}
