//! What closed surfaces enclose, piece by piece.

use std::fmt;

use glam::DVec3;

use super::TriMesh;
use crate::space::{Faces, Field, Id, Vertices};

/// A piece of a closed surface whose faces point inwards, or that encloses nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct InvertedPiece {
    /// Which piece, counted from one in the order of their first vertices.
    pub piece: usize,
    /// How many pieces there are.
    pub pieces: usize,
    /// How many of them are inverted.
    pub inverted: usize,
    /// Its first face.
    pub face: Id<Faces>,
    /// How many faces it has.
    pub faces: usize,
    /// What it encloses, m³: negative, or zero for a piece that is flat.
    pub volume: f64,
}

impl fmt::Display for InvertedPiece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { piece, pieces, inverted, face, faces, volume } = self;
        if *pieces == 1 {
            write!(f, "the surface")?;
        } else {
            write!(f, "piece {piece} of {pieces} of the surface ({faces} faces, the first is {face})")?;
        }
        if *volume < 0.0 {
            write!(f, " encloses {volume:.3e} m³: its faces point inwards")?;
        } else {
            write!(f, " encloses nothing: it is flat")?;
        }
        match inverted - 1 {
            0 => {}
            1 => write!(f, ", and so is one more")?,
            others => write!(f, ", and so are {others} others")?,
        }
        if *volume < 0.0 {
            write!(f, ". Reverse the order of the corners of its faces")
        } else {
            write!(f, ". Give it an inside, or remove it")
        }
    }
}

/// Volumes below this part of what they could be are rounding errors.
const NOTHING: f64 = 1e-9;

impl TriMesh {
    /// The first piece of a closed surface that is inside out, with positions in m; `None` if there
    /// is none.
    ///
    /// A piece is right if it encloses a positive volume, or a negative one inside of other pieces:
    /// the surface of a cavity points into it. A flat piece, which encloses nothing, is right if
    /// `flat` says so. Pieces are held together by vertices. The volumes of a surface with a
    /// boundary mean nothing.
    ///
    /// ```
    /// use plisse_core::{TriMesh, generate};
    /// let (mesh, x) = generate::sphere(1, 1.0)?;
    /// assert_eq!(mesh.inverted_piece(&x, false), None);
    /// let inside_out: Vec<[u32; 3]> =
    ///     mesh.faces().as_slice().iter().map(|[a, b, c]| [a.get(), c.get(), b.get()]).collect();
    /// let inside_out = TriMesh::new(x.len(), &inside_out)?;
    /// assert!(inside_out.inverted_piece(&x, false).is_some_and(|found| found.volume < -3.0));
    /// # Ok::<(), plisse_core::MeshError>(())
    /// ```
    ///
    /// # Panics
    /// If there are fewer positions than vertices.
    #[must_use]
    pub fn inverted_piece(&self, x: &Field<Vertices, DVec3>, flat: bool) -> Option<InvertedPiece> {
        let mut piece_of = vec![0_usize; self.vertex_count()];
        // Vertices without faces are no pieces of a surface.
        let pieces = self.pieces().into_iter().filter(|piece| !self.vertex_faces(piece[0]).is_empty());
        let firsts: Vec<Id<Vertices>> = (0..)
            .zip(pieces)
            .map(|(number, piece)| {
                piece.iter().for_each(|v| piece_of[v.index()] = number);
                piece[0]
            })
            .collect();
        let mut parts: Vec<Part> = firsts.iter().map(|_| Part::default()).collect();
        for (face, corners) in self.faces().iter() {
            let number = piece_of[corners[0].index()];
            let origin = x[firsts[number]];
            let [a, b, c] = corners.map(|v| x[v] - origin);
            let part = &mut parts[number];
            part.first.get_or_insert(face);
            part.faces += 1;
            part.volume += a.dot(b.cross(c)) / 6.0;
            // Of a flat piece that is turned, the volume is a rounding error of these.
            part.size += a.length() * b.cross(c).length() / 6.0;
        }
        let is_wrong = |number: &usize| {
            let Part { volume, size, .. } = parts[*number];
            if volume.abs() <= NOTHING * size {
                return !flat;
            }
            volume < 0.0 && self.winding(x, &piece_of, *number, x[firsts[*number]]) < 0.5
        };
        let wrong: Vec<usize> = (0..parts.len()).filter(is_wrong).collect();
        let number = *wrong.first()?;
        let Part { first, faces, volume, size } = parts[number];
        Some(InvertedPiece {
            piece: number + 1,
            pieces: parts.len(),
            inverted: wrong.len(),
            face: first?,
            faces,
            volume: if volume.abs() <= NOTHING * size { 0.0 } else { volume },
        })
    }

    /// How often all pieces but one wind around a point: the solid angles of their faces over that
    /// of a sphere.
    fn winding(&self, x: &Field<Vertices, DVec3>, piece_of: &[usize], without: usize, point: DVec3) -> f64 {
        let others = self.faces().as_slice().iter().filter(|face| piece_of[face[0].index()] != without);
        let angle = |face: &[Id<Vertices>; 3]| {
            let [a, b, c] = face.map(|v| x[v] - point);
            let [la, lb, lc] = [a, b, c].map(DVec3::length);
            let below = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
            2.0 * a.dot(b.cross(c)).atan2(below)
        };
        others.map(angle).sum::<f64>() / (4.0 * std::f64::consts::PI)
    }
}

#[derive(Clone, Copy, Default)]
struct Part {
    first: Option<Id<Faces>>,
    faces: usize,
    volume: f64,
    /// What the volume would be at most, with the same lengths.
    size: f64,
}
