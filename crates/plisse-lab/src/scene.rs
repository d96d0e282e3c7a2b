//! The hanging sheet that benchmarks and experiments share.

use anyhow::Result;
use glam::DVec3;
use plisse::bending::{HingeElement, HingeWeight, QuadraticAngle};
use plisse::core::{Field, Id, Positive, RestShape, TriMesh, Vertices, generate};
use plisse::membrane::{BaraffWitkin, MembraneElement};
use plisse::system::{ElementTerm, Gravity, State, System};

/// A woven cloth: kg/m², N/m along warp and weft and in shear, N m in bending.
#[derive(Clone, Copy)]
pub(crate) struct Cloth {
    pub(crate) density: f64,
    pub(crate) moduli: [f64; 3],
    pub(crate) rigidity: f64,
}

/// Denim as measured by Wang et al. 2011.
pub(crate) const DENIM: Cloth = Cloth { density: 0.324, moduli: [205.0, 1014.0, 53.0], rigidity: 1e-4 };

/// A square sheet of one metre and `n` by `n` vertices, horizontal, pinned at two corners of one
/// side.
pub(crate) fn hanging_sheet(n: usize, cloth: Cloth) -> Result<(System<Vertices>, State<Vertices>)> {
    let (mesh, uv) = generate::grid(n - 1, n - 1, [1.0, 1.0], generate::Diagonal::Alternating)?;
    let rest = RestShape::from_uv(&mesh, &uv)?;
    let system = woven(&mesh, &rest, cloth)?.pin(Id::new(0)).pin(Id::new(n as u32 - 1)).build()?;
    Ok((system, State::at_rest(generate::embed(&uv))?))
}

/// Mass, gravity, Baraff-Witkin membrane and hinges of a sheet.
pub(crate) fn woven(
    mesh: &TriMesh,
    rest: &RestShape,
    cloth: Cloth,
) -> Result<plisse::system::SystemBuilder<Vertices>> {
    let mass: Field<Vertices, f64> = rest.vertex_areas(mesh).map(|a| cloth.density * a);
    let [warp, weft, shear] = cloth.moduli.map(Positive::new);
    let energy = BaraffWitkin::from_moduli(warp?, weft?, shear?);
    let membrane =
        mesh.faces().iter().map(|(face, v)| MembraneElement::new(*v, *rest.map(face), energy)).collect();
    let rigidity = Positive::new(cloth.rigidity)?;
    let bending = rest
        .hinges()
        .iter()
        .map(|h| HingeElement::new(h, QuadraticAngle, rigidity, HingeWeight::AreaSum))
        .collect();
    let gravity = Gravity::new(DVec3::new(0.0, 0.0, -9.81), &mass)?;
    Ok(System::builder(mass)
        .term(ElementTerm::new("membrane", membrane))
        .term(ElementTerm::<_, 4>::new("bending", bending))
        .term(gravity))
}
