//! Bending of plates on three triangulations, with directors as unknowns, with averaged normals and
//! with hinges.
//!
//! **Energy of given shapes.** `z = (kx x² + ky y²)/2 + kxy x y`, shallow, costs
//! `D/2 (kx + ky)² - D (1 - ν)(kx ky - kxy²)` per area. Director angles minimise the energy of the
//! positions. A plate keeps such a shape only with moments along its boundary, except for twist.
//! Without them, with free directors at the boundary, the last cells relax: an error of first order
//! in the size of the cells. With the directors of the boundary held at the normals of the shape
//! there is none.
//!
//! **Lateral buckling.** A strip is clamped at one end, with its width upright, and carries its own
//! weight in its plane. At `Γ = ρ g L³/D` it leaves the plane sideways. References are those of a
//! Ritz method with 14 × 7 functions. The load is found by bisection: at the equilibrium in the
//! plane, the tangent stiffness over displacements out of the plane and directors has its first
//! negative eigenvalue. The clamp is the last row of held vertices; directors there are held normal
//! to the plane of the clamp.

use anyhow::{Context, Result, ensure};
use glam::{DVec2, DVec3};
use plisse::bending::{Director, HingeElement, HingeWeight, KoiterBending, Plate, QuadraticAngle};
use plisse::core::generate::{self, Diagonal};
use plisse::core::{
    Edges, Element, Field, Id, IsotropicSheet, PoissonRatio, Positive, Psd, RestShape, TriMesh, Vertices,
};
use plisse::membrane::{Lame, MembraneElement, StVenantKirchhoff};
use plisse::sparse::{BlockMatrix, Layout, Linear, LinearSolver, Operator, Pattern};

use super::{Findings, Tolerance};

const POISSON: f64 = 0.35;
/// Cells along and across of the plates whose energy is measured.
const CELLS: [usize; 2] = [80, 40];
/// Curvature of the shapes times their length: shallow.
const SHALLOW: f64 = 1e-3;

/// Names and `kx`, `ky`, `kxy`.
const SHAPES: [(&str, [f64; 3]); 6] = [
    ("twist", [0.0, 0.0, 1.0]),
    ("saddle", [1.0, -1.0, 0.0]),
    ("dome", [1.0, 1.0, 0.0]),
    ("bend x", [1.0, 0.0, 0.0]),
    ("bend y", [0.0, 1.0, 0.0]),
    ("bend at 45 degrees", [0.5, 0.5, 0.5]),
];

const GRIDS: [(&str, Grid); 3] =
    [("alternating", Grid::Alternating), ("right", Grid::Right), ("irregular", Grid::Irregular)];

/// Width over length, and critical `Γ`.
const BUCKLING: [[f64; 2]; 4] = [[0.1, 14.88], [0.2, 16.20], [0.5, 20.83], [0.9, 27.56]];
/// Cells along the strips; as many across as make them square.
const ALONG: usize = 40;
/// Tensile stiffness times `L²/D`: the plane hardly deforms before it buckles.
const MEMBRANE: f64 = 1e7;

/// Measures energies and critical loads.
pub(crate) fn run() -> Result<Findings> {
    let mut findings = Findings::new("plate");
    println!(
        "plate: energy over that of the plate, {} x {} cells, Poisson's ratio {POISSON}\n",
        CELLS[0], CELLS[1]
    );
    println!("{:<34}{:>12}{:>12}{:>12}{:>12}", "", "held rim", "free rim", "averaged", "hinges");
    for (mesh, grid) in GRIDS {
        let sheet = Sheet::new(grid, CELLS, [1.0, 0.5])?;
        let coarse = Sheet::new(grid, CELLS.map(|n| n / 2), [1.0, 0.5])?;
        for (shape, curvatures) in SHAPES {
            let name = format!("{shape}, {mesh}");
            let [held, free, averaged, hinges] = sheet.energies(curvatures)?;
            println!("{name:<34}{held:>12.4}{free:>12.4}{averaged:>12.4}{hinges:>12.4}");
            let mut figure = |model: &str, value: f64| {
                let what = format!("{name}: energy over that of the plate, {model}");
                findings.figure(what, value, Tolerance::Relative(0.001));
            };
            figure("directors held at the boundary", held);
            figure("all directors free", free);
            figure("averaged normals", averaged);
            figure("hinges", hinges);
            let what = format!("{name}: within 1 % with directors held at the boundary");
            findings.require(what, (held - 1.0).abs() <= 0.01);
            let before = coarse.energies(curvatures)?;
            if shape == "twist" {
                let what = format!("{name}: within 1 % with all directors free");
                findings.require(what, (free - 1.0).abs() <= 0.01);
                let [held, free, averaged_before, hinges_before] = before;
                print!("{:<34}{held:>12.4}{free:>12.4}", "  half the cells");
                println!("{averaged_before:>12.4}{hinges_before:>12.4}");
                let stays = |now: f64, before: f64| now > 1.5 && (now / before - 1.0).abs() < 0.1;
                findings.require(format!("{name}: hinges do not converge"), stays(hinges, hinges_before));
                // On right triangles all diagonals are the same.
                if !matches!(grid, Grid::Right) {
                    let what = format!("{name}: averaged normals do not converge");
                    findings.require(what, stays(averaged, averaged_before));
                }
            }
            let (error, before) = ((free - 1.0).abs(), (before[1] - 1.0).abs());
            let what =
                format!("{name}: the error with a free boundary is below 1e-3 or halves with the cells");
            findings.require(what, error < 1e-3 || error < 0.6 * before);
        }
    }
    println!("\nlateral buckling: critical load over that of the plate, {ALONG} cells along\n");
    println!("{:<34}{:>12}{:>12}", "", "directors", "averaged");
    for [width, reference] in BUCKLING {
        for (mesh, grid) in GRIDS {
            let name = format!("width {width}, {mesh}");
            let load = |director| -> Result<f64> {
                Ok(Strip::new(grid, width, ALONG, director)?.critical_load(reference)? / reference)
            };
            let (free, averaged) = (load(Director::Sine)?, load(Director::Average)?);
            println!("{name:<34}{free:>12.4}{averaged:>12.4}");
            let what = |model: &str| format!("{name}: critical load over that of the plate, {model}");
            findings.figure(what("directors"), free, Tolerance::Relative(0.001));
            findings.figure(what("averaged normals"), averaged, Tolerance::Relative(0.001));
            findings.require(format!("{name}: within 3 % with directors"), (free - 1.0).abs() <= 0.03);
        }
    }
    let [width, reference] = BUCKLING[0];
    println!("\nwidth {width}, alternating, by cells along\n");
    let mut before = f64::INFINITY;
    for along in [ALONG / 2, ALONG, 2 * ALONG] {
        let strip = Strip::new(Grid::Alternating, width, along, Director::Sine)?;
        let load = strip.critical_load(reference)? / reference;
        let error = (load - 1.0).abs();
        println!("{along:<34}{load:>12.4}");
        findings
            .require(format!("width {width}, alternating: {along} cells along are better"), error < before);
        before = error;
    }
    Ok(findings)
}

#[derive(Clone, Copy, Debug)]
enum Grid {
    Alternating,
    Right,
    Irregular,
}

impl Grid {
    fn build(self, [along, across]: [usize; 2], size: [f64; 2]) -> Result<(TriMesh, Field<Vertices, DVec2>)> {
        Ok(match self {
            Self::Alternating => generate::grid(along, across, size, Diagonal::Alternating)?,
            Self::Right => generate::grid(along, across, size, Diagonal::Right)?,
            Self::Irregular => generate::irregular_grid(along, across, size, 7)?,
        })
    }
}

/// A plate of rigidity one.
fn plate() -> Result<Plate> {
    let young = Positive::new(12.0 * (1.0 - POISSON * POISSON))?;
    Ok(Plate::of_sheet(&IsotropicSheet::new(young, PoissonRatio::literal(POISSON), Positive::ONE))?)
}

/// Numbers what is an unknown.
fn numbered(is_unknown: impl Iterator<Item = bool>) -> (usize, Vec<Option<usize>>) {
    let mut count = 0;
    let number = |is_unknown: bool| {
        is_unknown.then(|| {
            count += 1;
            count - 1
        })
    };
    let all = is_unknown.map(number).collect();
    (count, all)
}

/// A symmetric matrix of scalars.
struct Matrix(BlockMatrix);

impl Matrix {
    /// A matrix of zeros that can hold the pairs among the unknowns of each element.
    fn new(size: usize, elements: impl Iterator<Item = Vec<usize>>) -> Result<Self> {
        let pairs = elements.flat_map(|ids| {
            let pairs = ids.iter().flat_map(|i| ids.iter().map(|j| (*i as u32, *j as u32)));
            pairs.collect::<Vec<_>>()
        });
        Ok(Self(BlockMatrix::zeros(Pattern::new(Layout::scalars(size), pairs)?)))
    }

    /// Adds to an entry of the lower triangle; those above the diagonal are the same and are
    /// ignored.
    fn add(&mut self, i: usize, j: usize, value: f64) {
        if let Some(slot) = self.0.pattern().slot(i as u32, j as u32).filter(|_| j <= i) {
            self.0.values_mut()[slot.offset()] += value;
        }
    }

    fn is_positive_definite(&self) -> Result<bool> {
        Ok(Linear::new(LinearSolver::Cholesky).is_positive_definite(&self.0)?)
    }

    /// Solves with the matrix, which must be positive definite.
    fn solve(&self, b: &[f64]) -> Result<Vec<f64>> {
        let mut x = vec![0.0; b.len()];
        let operator = Operator { matrix: &self.0, rank_ones: &[] };
        Linear::new(LinearSolver::Cholesky).solve(&operator, b, &mut x, 1e-13)?;
        Ok(x)
    }
}

fn middle(mesh: &TriMesh, uv: &Field<Vertices, DVec2>, edge: Id<Edges>) -> DVec2 {
    let [a, b] = mesh.edges()[edge].vertices;
    0.5 * (uv[a] + uv[b])
}

/// A plate at rest.
struct Sheet {
    mesh: TriMesh,
    uv: Field<Vertices, DVec2>,
    rest: RestShape,
}

impl Sheet {
    fn new(grid: Grid, cells: [usize; 2], size: [f64; 2]) -> Result<Self> {
        let (mesh, uv) = grid.build(cells, size)?;
        let rest = RestShape::from_uv(&mesh, &uv)?;
        Ok(Self { mesh, uv, rest })
    }

    /// Energies over that of the plate: with directors that are held at the boundary or all free,
    /// with averaged normals, with hinges.
    fn energies(&self, [kx, ky, kxy]: [f64; 3]) -> Result<[f64; 4]> {
        let plate = plate()?;
        let per_area = 0.5 * (kx + ky).powi(2) - (1.0 - POISSON) * (kx * ky - kxy * kxy);
        let area: f64 = self.mesh.faces().ids().map(|face| self.rest.map(face).area()).sum();
        let exact = SHALLOW * SHALLOW * area * per_area;
        let x = self.uv.map(|u| {
            let z = 0.5 * (kx * u.x * u.x + ky * u.y * u.y) + kxy * u.x * u.y;
            DVec3::new(u.x, u.y, SHALLOW * z)
        });
        let faces = |director| -> Vec<KoiterBending> {
            let new = |face| KoiterBending::new(&self.mesh, &self.rest, face, director, &plate);
            self.mesh.faces().ids().map(new).collect()
        };
        let average: f64 =
            faces(Director::Average).iter().map(|face| face.energy(&face.nodes().map(|v| x[v]))).sum();
        let hinge = |hinge| HingeElement::new(hinge, QuadraticAngle, Positive::ONE, HingeWeight::AreaSum);
        let hinges: f64 =
            self.rest.hinges().iter().map(hinge).map(|h| h.energy(&h.nodes().map(|v| x[v]))).sum();
        // The normal of the shape in the middle of an edge, as the angle over the only face there.
        let held = |edge: Id<Edges>| {
            let (a, b, c) = self.mesh.edges()[edge].is_boundary().then(|| {
                let ([a, b], face) = (self.mesh.edges()[edge].vertices, self.mesh.edges()[edge].faces.0);
                Some((x[a], x[b], x[self.mesh.opposite_vertex(face, edge)?]))
            })??;
            let at = middle(&self.mesh, &self.uv, edge);
            let slope = DVec2::new(kx * at.x + kxy * at.y, ky * at.y + kxy * at.x) * SHALLOW;
            let normal = (-slope).extend(1.0);
            let altitude = (c - a).reject_from(b - a).normalize();
            let up = altitude.cross(b - a).normalize();
            let up = up * up.z.signum();
            Some(normal.dot(altitude).atan2(normal.dot(up)))
        };
        let bending = faces(Director::Sine);
        let [held, free] = [self.relaxed(&bending, &x, held)?, self.relaxed(&bending, &x, |_| None)?];
        Ok([held, free, average, hinges].map(|energy| energy / exact))
    }

    /// The lowest energy over the directors that are not held, by Newton's method.
    fn relaxed(
        &self,
        faces: &[KoiterBending],
        x: &Field<Vertices, DVec3>,
        held: impl Fn(Id<Edges>) -> Option<f64>,
    ) -> Result<f64> {
        let held: Vec<_> = (0..self.mesh.edge_count() as u32).map(|e| held(Id::new(e))).collect();
        let (size, rank) = numbered(held.iter().map(Option::is_none));
        let of = |face: &KoiterBending| face.edges().map(|e| rank[e.index()]);
        let mut alpha: Vec<f64> = held.iter().map(|held| held.unwrap_or_default()).collect();
        let mut before = f64::INFINITY;
        for _ in 0..20 {
            let mut matrix =
                Matrix::new(size, faces.iter().map(|face| of(face).into_iter().flatten().collect()))?;
            let (mut gradient, mut energy) = (vec![0.0; size], 0.0);
            for face in faces {
                let ids = of(face);
                let all = face.evaluate_with_directors(
                    &face.nodes().map(|v| x[v]),
                    &face.edges().map(|e| alpha[e.index()]),
                    Psd::Exact,
                );
                energy += all.energy;
                for (a, i) in ids.iter().enumerate() {
                    let Some(i) = *i else { continue };
                    gradient[i] += all.director_gradient[a];
                    for (b, j) in ids.iter().enumerate() {
                        let Some(j) = *j else { continue };
                        matrix.add(i, j, all.director_hessian[a][b]);
                    }
                }
            }
            if (before - energy).abs() <= 1e-10 * energy {
                return Ok(energy);
            }
            before = energy;
            let step = matrix.solve(&gradient).context("the directors are not at a minimum")?;
            for (a, i) in alpha.iter_mut().zip(&rank) {
                *a -= i.map_or(0.0, |i| step[i]);
            }
        }
        anyhow::bail!("the directors did not converge")
    }
}

/// A strip of length one with a column of held cells before its clamp.
struct Strip {
    mesh: TriMesh,
    uv: Field<Vertices, DVec2>,
    bending: Vec<KoiterBending>,
    membrane: Vec<MembraneElement<StVenantKirchhoff>>,
    /// Directors that are unknowns.
    free_edges: Vec<bool>,
}

impl Strip {
    fn new(grid: Grid, width: f64, along: usize, director: Director) -> Result<Self> {
        let across = (width * along as f64).round() as usize;
        let (free, place) = grid.build([along, across], [1.0, width])?;
        // The held cells: vertices of the first column, once more, one cell further back.
        let mut uv: Vec<DVec2> = place.as_slice().to_vec();
        let mut faces: Vec<[u32; 3]> = free.faces().iter().map(|(_, f)| f.map(Id::get)).collect();
        let clamp = |j: usize| (j * (along + 1)) as u32;
        let back = |j: usize| (place.len() + j) as u32;
        for j in 0..=across {
            uv.push(place[Id::new(clamp(j))] - DVec2::X / along as f64);
        }
        for j in 0..across {
            faces.push([back(j), clamp(j), clamp(j + 1)]);
            faces.push([back(j), clamp(j + 1), back(j + 1)]);
        }
        let mesh = TriMesh::new(uv.len(), &faces)?;
        let uv = Field::from_vec(uv);
        let rest = RestShape::from_uv(&mesh, &uv)?;
        let mut bending: Vec<KoiterBending> = {
            let plate = plate()?;
            mesh.faces().ids().map(|face| KoiterBending::new(&mesh, &rest, face, director, &plate)).collect()
        };
        let mut free_edges = vec![director != Director::Average; mesh.edge_count()];
        for j in 0..across {
            let edge =
                mesh.edge_between(Id::new(clamp(j)), Id::new(clamp(j + 1))).context("a clamped edge")?;
            let (left, right) = mesh.edges()[edge].faces;
            let held = if left.index() >= free.face_count() { left } else { right.context("a held face")? };
            for face in &mut bending {
                *face = face.with_clamp(&rest, edge, held);
            }
            free_edges[edge.index()] = false;
        }
        let lame = Lame::from_tensile(Positive::literal(MEMBRANE), PoissonRatio::literal(POISSON))?;
        let membrane = mesh
            .faces()
            .iter()
            .map(|(face, nodes)| MembraneElement::new(*nodes, *rest.map(face), StVenantKirchhoff::new(lame)))
            .collect();
        Ok(Self { mesh, uv, bending, membrane, free_edges })
    }

    fn is_held(&self, v: Id<Vertices>) -> bool {
        self.uv[v].x < 1e-12
    }

    /// The equilibrium in the plane, with the weight along `-y`.
    fn equilibrium(&self, load: f64) -> Result<Field<Vertices, DVec3>> {
        let (count, rank) = numbered(self.mesh.vertices().map(|v| !self.is_held(v)));
        let unknowns = |element: &MembraneElement<StVenantKirchhoff>| -> Vec<(usize, usize)> {
            let nodes = element.nodes();
            let of = |i: usize| rank[nodes[i].index()].map(|r| [(3 * i, 2 * r), (3 * i + 1, 2 * r + 1)]);
            (0..3).filter_map(of).flatten().collect()
        };
        let mut x = generate::embed(&self.uv);
        for _ in 0..20 {
            let ids = self.membrane.iter().map(|e| unknowns(e).into_iter().map(|(_, i)| i).collect());
            let mut matrix = Matrix::new(2 * count, ids)?;
            let mut force = vec![0.0; 2 * count];
            for element in &self.membrane {
                let weight = load * element.map().area() / 3.0;
                let all = element.evaluate(&element.nodes().map(|v| x[v]), Psd::Exact);
                for (a, i) in unknowns(element) {
                    force[i] -= all.gradient[a / 3][a % 3] + if a % 3 == 1 { weight } else { 0.0 };
                    for (b, j) in unknowns(element) {
                        matrix.add(i, j, all.hessian.entry(a, b));
                    }
                }
            }
            let step = matrix.solve(&force)?;
            let longest = step.iter().fold(0.0f64, |m, s| m.max(s.abs()));
            for v in self.mesh.vertices() {
                if let Some(r) = rank[v.index()] {
                    x[v] += DVec3::new(step[2 * r], step[2 * r + 1], 0.0);
                }
            }
            if longest < 1e-12 {
                return Ok(x);
            }
        }
        anyhow::bail!("no equilibrium in the plane")
    }

    /// Whether the strip under this load is stable against displacements out of its plane.
    fn is_stable(&self, load: f64) -> Result<bool> {
        let x = self.equilibrium(load)?;
        let vertices = self.mesh.vertices().map(|v| !self.is_held(v));
        let (size, rank) = numbered(vertices.chain(self.free_edges.iter().copied()));
        let vertex = |v: Id<Vertices>| rank[v.index()];
        let edge = |e: Id<Edges>| rank[self.mesh.vertex_count() + e.index()];
        // Rows of an element: z of its nodes, then directors.
        let rows = |face: &KoiterBending| -> Vec<Option<usize>> {
            face.nodes().iter().map(|v| vertex(*v)).chain(face.edges().iter().map(|e| edge(*e))).collect()
        };
        let mut matrix =
            Matrix::new(size, self.bending.iter().map(|face| rows(face).into_iter().flatten().collect()))?;
        for (face, element) in self.bending.iter().zip(&self.membrane) {
            let at = face.nodes().map(|v| x[v]);
            let all = face.evaluate_with_directors(&at, &[0.0; 3], Psd::Exact);
            let membrane = element.hessian(&element.nodes().map(|v| x[v]), Psd::Exact);
            let rows = rows(face);
            for (a, i) in rows.iter().enumerate() {
                for (b, j) in rows.iter().enumerate() {
                    let (Some(i), Some(j)) = (*i, *j) else { continue };
                    let mut value = match (a < 6, b < 6) {
                        (true, true) => all.hessian.entry(3 * a + 2, 3 * b + 2),
                        (true, false) => all.mixed_hessian[b - 6][a].z,
                        (false, true) => all.mixed_hessian[a - 6][b].z,
                        (false, false) => all.director_hessian[a - 6][b - 6],
                    };
                    if a < 3 && b < 3 {
                        value += membrane.entry(3 * a + 2, 3 * b + 2);
                    }
                    matrix.add(i, j, value);
                }
            }
        }
        matrix.is_positive_definite()
    }

    /// The load at which stability is lost, to 1e-4 of itself.
    fn critical_load(&self, reference: f64) -> Result<f64> {
        let (mut low, mut high) = (0.25 * reference, 4.0 * reference);
        ensure!(self.is_stable(low)? && !self.is_stable(high)?, "no critical load near {reference}");
        while high - low > 1e-4 * low {
            let load = 0.5 * (low + high);
            *(if self.is_stable(load)? { &mut low } else { &mut high }) = load;
        }
        Ok(0.5 * (low + high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a coarse mesh: what holds on every triangulation, and what does not hold without
    /// directors.
    #[test]
    fn directors_find_the_energy_of_the_plate() {
        for (name, grid) in GRIDS {
            let sheet = Sheet::new(grid, [16, 8], [1.0, 0.5]).unwrap();
            for (shape, curvatures) in SHAPES {
                let [held, free, ..] = sheet.energies(curvatures).unwrap();
                assert!((held - 1.0).abs() < 1e-4, "{shape}, {name}: {held}");
                // The boundary relaxes, by first order.
                assert!(free < held * (1.0 + 1e-9) && free > 0.8, "{shape}, {name}: {free}");
            }
        }
        let [_, _, averaged, hinges] =
            Sheet::new(Grid::Alternating, [16, 8], [1.0, 0.5]).unwrap().energies([0.0, 0.0, 1.0]).unwrap();
        assert!(averaged > 2.5 && hinges > 2.5, "{averaged} {hinges}");
    }

    #[test]
    fn a_clamped_strip_buckles() {
        let load =
            Strip::new(Grid::Alternating, 0.2, 20, Director::Sine).unwrap().critical_load(16.2).unwrap();
        assert!((load / 16.2 - 1.0).abs() < 0.05, "{load}");
    }
}
