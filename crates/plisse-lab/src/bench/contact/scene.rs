//! Square sheets of one material, what they fall on, and the equations of their motion.

use std::sync::Arc;

use anyhow::Result;
use glam::{DQuat, DVec2, DVec3};
use plisse::bending::QuadraticBending;
use plisse::contact::{ContactBuilder, ContactTerm, Shape, Touching};
use plisse::core::{Faces, Field, Id, PoissonRatio, Positive, RestShape, TriMesh, Vertices, generate};
use plisse::membrane::{Lame, MembraneElement, NeoHookeanStable};
use plisse::system::{ConstantTerm, ElementTerm, Gravity, State, System, Term};

use super::book::Shared;
use super::clocked::Clocked;

/// kg/m², `E h` in N/m, N m.
const SHEET: [f64; 3] = [0.2, 100.0, 1e-5];
const POISSON: PoissonRatio = PoissonRatio::literal(0.3);
const RANGE: Positive = Positive::literal(2e-3);
/// Obstacles leave the range to the sheets.
const FAR: Positive = Positive::literal(1e50);
pub(super) const FRICTION: f64 = 0.3;
const SLIP: Positive = Positive::literal(0.01);
/// Pa.
const STIFFNESS: Positive = Positive::literal(1e3);

/// What the sheets fall on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ground {
    Nothing,
    Ball,
    Plane,
}

/// Sheets with one corner after the other along a side.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) name: &'static str,
    /// Vertices along a side.
    pub(super) vertices: usize,
    /// Of a side, m.
    size: f64,
    /// Height of each sheet and its turn in degrees.
    sheets: Vec<(f64, f64)>,
    ground: Ground,
    /// Whether the two corners of one side are held.
    pinned: bool,
}

impl Layout {
    /// A sheet of one metre with nothing near.
    pub(super) fn free(vertices: usize, pinned: bool) -> Self {
        let name = if pinned { "hanging" } else { "falling" };
        Self { name, vertices, size: 1.0, sheets: vec![(0.0, 0.0)], ground: Ground::Nothing, pinned }
    }

    /// A sheet of one metre on a ball of 0.3 m.
    pub(super) fn drape(vertices: usize) -> Self {
        let sheets = vec![(0.302, 0.0)];
        Self { name: "drape", vertices, size: 1.0, sheets, ground: Ground::Ball, pinned: false }
    }

    /// Five sheets of 0.3 m above each other, each turned against the last.
    pub(super) fn stack() -> Self {
        let sheets = (1..=5).map(|s| (0.004 * f64::from(s), 15.0 * f64::from(s))).collect();
        Self { name: "stack", vertices: 40, size: 0.3, sheets, ground: Ground::Plane, pinned: false }
    }

    pub(super) fn sheets(&self) -> usize {
        self.sheets.len()
    }

    fn start(&self, uv: &Field<Vertices, DVec2>) -> Field<Vertices, DVec3> {
        let centre = DVec2::splat(0.5 * self.size);
        let place = |(height, turn): &(f64, f64)| {
            let (height, turn) = (*height, DQuat::from_rotation_z(turn.to_radians()));
            uv.as_slice().iter().map(move |uv| turn * (*uv - centre).extend(0.0) + DVec3::Z * height)
        };
        Field::from_vec(self.sheets.iter().flat_map(place).collect())
    }

    /// The equations, without contact or with it and a coefficient of friction, and the state at
    /// the start. With a book, terms write down their times.
    pub(super) fn system(
        &self,
        friction: Option<f64>,
        book: Option<&Shared>,
    ) -> Result<(System<Vertices>, State<Vertices>)> {
        let cells = self.vertices - 1;
        let (mesh, uv) = generate::grid(cells, cells, [self.size; 2], generate::Diagonal::Alternating)?;
        let rest = RestShape::from_uv(&mesh, &uv)?;
        let x = self.start(&uv);
        let each = uv.len();
        let areas = rest.vertex_areas(&mesh);
        let mass = Field::from_vec(
            areas.as_slice().iter().map(|area| SHEET[0] * area).cycle().take(x.len()).collect::<Vec<f64>>(),
        );
        let meshes: Vec<TriMesh> =
            (0..self.sheets.len()).map(|s| mesh.among((s * each) as u32, x.len())).collect();
        let mut terms: Vec<(Box<dyn Term<Vertices>>, bool)> = vec![
            (membrane(&meshes, &rest)?, false),
            (bending(&mesh, &rest, x.len())?, false),
            (Box::new(Gravity::new(DVec3::new(0.0, 0.0, -9.81), &mass)?), false),
        ];
        let pins = if self.pinned { vec![Id::new(0), Id::new(cells as u32)] } else { Vec::new() };
        if let Some(friction) = friction {
            let areas = Field::from_vec(mesh.faces().ids().map(|face| rest.map(face).area()).collect());
            let builder = self.touching(meshes, &areas, friction);
            let contact = builder.build("contact", &x, &mass, |v| pins.contains(&v))?;
            terms.push((Box::new(contact), true));
        }
        let mut builder = System::builder(mass);
        for (inner, is_contact) in terms {
            builder = match book {
                Some(book) => builder.term(Clocked { inner, is_contact, book: book.clone() }),
                None => builder.boxed_term(inner),
            };
        }
        Ok((builder.pins(pins).build()?, State::at_rest(x)?))
    }

    fn touching(&self, meshes: Vec<TriMesh>, areas: &Field<Faces, f64>, friction: f64) -> ContactBuilder {
        let cloth = Touching {
            radius: 0.0,
            range: RANGE,
            stiffness: STIFFNESS,
            friction,
            slip: SLIP,
            touches_itself: true,
            neighbours: 0.0,
        };
        let solid = Touching { range: FAR, touches_itself: false, ..cloth };
        let mut builder = ContactTerm::builder();
        for (s, mesh) in meshes.into_iter().enumerate() {
            builder = builder.cloth(format!("sheet {s}"), mesh, areas.clone(), cloth);
        }
        match self.ground {
            Ground::Nothing => builder,
            Ground::Ball => {
                let ball = Touching { radius: 0.3, ..solid };
                builder.obstacle("ball", Shape::Points, 1, Arc::new(vec![DVec3::ZERO]), ball)
            }
            Ground::Plane => {
                // So large that nothing reaches its end.
                let corner =
                    |k: f64| DQuat::from_rotation_z(k * std::f64::consts::TAU / 3.0) * (DVec3::X * 4e3);
                let corners: Vec<DVec3> = [0.0, 1.0, 2.0].map(corner).to_vec();
                builder.obstacle("plane", Shape::Surface(vec![[0, 1, 2]]), 3, Arc::new(corners), solid)
            }
        }
    }
}

fn membrane(meshes: &[TriMesh], rest: &RestShape) -> Result<Box<dyn Term<Vertices>>> {
    let energy = NeoHookeanStable::new(Lame::from_tensile(Positive::new(SHEET[1])?, POISSON)?);
    let of_mesh = |mesh: &TriMesh| -> Vec<_> {
        let element = |(face, v): (_, &[Id<Vertices>; 3])| MembraneElement::new(*v, *rest.map(face), energy);
        mesh.faces().iter().map(element).collect()
    };
    Ok(Box::new(ElementTerm::<_, 3>::new("membrane", meshes.iter().flat_map(of_mesh).collect())))
}

/// The same matrix for every sheet.
fn bending(mesh: &TriMesh, rest: &RestShape, total: usize) -> Result<Box<dyn Term<Vertices>>> {
    let matrix = QuadraticBending::on_vertices(mesh, rest, Positive::new(SHEET[2])?);
    let each = mesh.vertex_count() as u32;
    let row = |v: Id<Vertices>| {
        let first = v.get() / each * each;
        matrix.row(Id::new(v.get() - first)).map(move |(w, value)| (Id::new(w.get() + first), value))
    };
    Ok(Box::new(ConstantTerm::from_rows("bending", total, row)))
}
