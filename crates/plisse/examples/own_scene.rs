//! A membrane energy, a term and an obstacle of one's own in a scene, with checkpoints and
//! pictures.
use glam::{DMat3, DVec3};
use plisse::core::{Blocks, Id, Mat3x2, Positive, Psd, Vertices};
use plisse::membrane::{Arap, MembraneEnergy};
use plisse::picture::{Camera, Drawing, Part, RenderOptions as Options, Surface, render};
use plisse::scene::{Cloth, Distance, Obstacle, Scene};
use plisse::system::{Gradient, Pose, Sink, Term, Unknown};
pub(crate) struct Swelling(pub(crate) f64); // ψ = k/8 (‖F‖² - 2)² with k in N/m: resists swelling
impl MembraneEnergy for Swelling {
    fn energy(&self, f: &Mat3x2) -> f64 {
        0.125 * self.0 * (f.norm_squared() - 2.0).powi(2)
    }
    fn pk1(&self, f: &Mat3x2) -> Mat3x2 {
        *f * (0.5 * self.0 * (f.norm_squared() - 2.0))
    }
    fn hessian(&self, f: &Mat3x2, psd: Psd) -> Blocks<2> {
        let (n, slope) = (f.norm_squared().max(1e-300), 0.5 * self.0 * (f.norm_squared() - 2.0));
        let mut hessian = Blocks::identity() * psd.apply(slope); // the eigenvalue of all directions but F
        hessian.add_outer(&[f.c0, f.c1], (psd.apply(slope + self.0 * n) - psd.apply(slope)) / n);
        hessian
    }
}
pub(crate) struct Well(u32, f64); // draws so many vertices towards the origin, with so many N/m each
impl Term<Vertices> for Well {
    fn name(&self) -> &str {
        "well"
    }
    fn pattern(&self, pair: &mut dyn FnMut(Unknown<Vertices>, Unknown<Vertices>)) {
        (0..self.0).for_each(|i| pair(Id::new(i).into(), Id::new(i).into()));
    }
    fn energy(&self, pose: &Pose<'_, Vertices>) -> f64 {
        pose.x.as_slice().iter().map(|x| 0.5 * self.1 * x.length_squared()).sum()
    }
    fn add_gradient(&self, pose: &Pose<'_, Vertices>, gradient: &mut Gradient<'_, Vertices>) {
        pose.x.iter().for_each(|(v, x)| gradient[v] += *x * self.1);
    }
    fn add_hessian(&self, _: &Pose<'_, Vertices>, _: Psd, sink: &mut Sink<'_>) {
        (0..self.0 as usize).for_each(|i| sink.add(i, &DMat3::from_diagonal(DVec3::splat(self.1))));
    }
}
pub(crate) fn ring(x: DVec3) -> Distance {
    let offset = x - x.truncate().normalize_or_zero().extend(0.0) * 0.2; // from the circle inside of the ring
    Distance::without_curvature(offset.length() - 0.05, offset.normalize_or(DVec3::Z))
}
pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let energy = Swelling(200.0).plus(Arap::new(Positive::literal(50.0)));
    let cloth = Cloth::sheet([24, 24], [0.6, 0.6])?.membrane(energy).at(DVec3::Z * 0.07);
    let scene = Scene::builder().cloth(cloth).obstacle(Obstacle::solid(ring));
    let mut scene = scene.term(|bodies| Ok(Well(bodies.masses().len() as u32, 1e-3))).build()?;
    let view = Camera { from: DVec3::ONE, at: DVec3::ZERO, up: DVec3::Z, field_of_view: 30.0 };
    for k in 1..=4 {
        scene.advance(Positive::literal(0.04))?;
        let bytes = scene.checkpoint(k, 1).to_bytes();
        plisse::io::write_atomically(format!("out/{k}.plisse").as_ref(), |out| out.write_all(&bytes))?;
        let surfaces = scene.surfaces();
        let parts = surfaces.iter().map(|(x, faces)| Part::Surface(Surface::cloth(x, faces))).collect();
        render(&Drawing { parts }, &view, &Options::default())?.write_png(format!("out/{k}.png").as_ref())?;
    }
    Ok(())
}
