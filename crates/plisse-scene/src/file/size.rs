//! How large a scene is, before anything of it is made.

use plisse_core::Positive;
use plisse_io::scene_file::{Annulus, ClothTable, Count, SceneFile, WiresTable, WovenShape};

use super::Reader;

/// Most vertices of a scene file, all bodies and mesh obstacles together. Ten times what is
/// practical today.
const LARGEST: u64 = 1_000_000;

/// Most positions of all mesh sequences together, beyond their first meshes: half a gigabyte.
const LARGEST_SEQUENCES: u64 = 20_000_000;

impl Reader<'_> {
    /// Notes a scene that would be too large, and sees to it that nothing of it is made: a slip of
    /// the keyboard, or a small file from a stranger, should not fill the memory.
    pub(super) fn sizes(&mut self, file: &SceneFile) {
        let cloth = file.cloth.iter().map(|table| (table.at_line, cloth_vertices(table)));
        let wires = file.wires.iter().map(|table| (table.at_line, wires_vertices(table)));
        let mut total = 0_u64;
        let mut too_large = None;
        for (line, vertices) in cloth.chain(wires) {
            if vertices > LARGEST {
                self.note(line, format!("{vertices} vertices are more than {LARGEST}; choose fewer cells"));
                self.is_small = false;
            }
            total = total.saturating_add(vertices);
            if total > LARGEST && too_large.is_none() {
                too_large = Some(line);
            }
        }
        if let Some(line) = too_large.filter(|_| self.is_small) {
            let message =
                format!("all bodies together have {total} vertices, more than {LARGEST}; choose fewer cells");
            self.note(line, message);
            self.is_small = false;
        }
        self.vertices = total;
    }

    /// Counts the vertices of a mesh that was read; none if there are too many by now.
    pub(super) fn count(&mut self, line: usize, vertices: usize) -> Option<()> {
        self.vertices = self.vertices.saturating_add(vertices as u64);
        if self.vertices > LARGEST {
            let message =
                format!("with this mesh the scene has more than {LARGEST} vertices; choose smaller ones");
            self.note(line, message);
            self.is_small = false;
        }
        self.is_small.then_some(())
    }

    /// Counts the vertices of a mesh that follows others in a sequence; none if there are too many
    /// by now.
    pub(super) fn count_frame(&mut self, line: usize, vertices: usize) -> Option<()> {
        self.sequence_positions = self.sequence_positions.saturating_add(vertices as u64);
        if self.sequence_positions > LARGEST_SEQUENCES {
            let message = format!(
                "the mesh sequences have more than {LARGEST_SEQUENCES} positions; \
                     choose fewer or smaller meshes"
            );
            self.note(line, message);
            self.is_small = false;
        }
        self.is_small.then_some(())
    }
}

/// Vertices of a shape, or a little more; none for a mesh, which is counted when it is read.
fn cloth_vertices(table: &ClothTable) -> u64 {
    let vertices = |[a, b]: [Count; 2]| (a.0 as u64 + 1).saturating_mul(b.0 as u64 + 1);
    let count = [
        table.grid.as_ref().map(|shape| vertices(shape.cells)),
        table.disc.as_ref().map(|shape| 3 * (shape.rings.0 as u64).pow(2)),
        table.discs.as_ref().map(|shape| 7 * (shape.rings.0 as u64).pow(2)),
        table.annuli.as_ref().map(ring_vertices),
        table.cylinder.as_ref().map(|shape| vertices(shape.cells)),
        table.pillow.as_ref().map(|shape| 2 * vertices(shape.cells)),
        table.woven.as_ref().map(woven_vertices),
        // More than eight divisions are refused with a message of their own.
        table.sphere.as_ref().map(|shape| 2 + 10 * 4_u64.pow(shape.divisions.min(8))),
    ];
    count.into_iter().flatten().max().unwrap_or(0)
}

/// Crossings, and the ends of tails and at cuts: a straight cut meets each yarn once at most.
fn woven_vertices(shape: &WovenShape) -> u64 {
    let [nx, ny] = shape.counts.map(|count| count.0 as u64);
    let ends = (1 + shape.cut.len() as u64).saturating_mul(2 * (nx + ny));
    nx.saturating_mul(ny).saturating_add(ends)
}

fn wires_vertices(table: &WiresTable) -> u64 {
    match (&table.net, &table.line) {
        (Some(net), _) => {
            let [a, b] = net.meshes.map(|m| m.0 as u64 + 1);
            a.saturating_mul(b).saturating_mul(2 * net.segments.0 as u64)
        }
        (_, Some(shape)) => shape.segments.0 as u64,
        _ => 0,
    }
}

/// Vertices of two rings: cells are about as long around as across.
fn ring_vertices(shape: &Annulus) -> u64 {
    let [inner, outer] = shape.radii.map(Positive::get);
    let across = shape.across.0 as f64;
    // Saturates; radii in the wrong order are refused later.
    (7.0 * across * across * (inner + outer) / (outer - inner).abs().max(1e-300)) as u64
}
