//! Coulomb's friction of the ghost mesh: what should stick does, what should slip slips as far as
//! the law says, and what moves carries what lies on it.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use std::sync::Arc;

use common::{p, sheet};
use glam::DVec3;
use plisse_collision::{Body, Colliders, ResponseSettings};
use plisse_constrained::{Developable, DevelopableBuilder, GhostContact};
use plisse_core::{Field, RestShape, TriMesh, Vertices};
use plisse_system::{Adaptive, Integrator, Scheme, State, System};

const G: f64 = 9.81;

/// Sheets of 20 cm on a plane whose triangles end two metres away.
struct Slope {
    sheet: Adaptive<Developable>,
    system: System<Vertices>,
    state: State<Vertices>,
    start: DVec3,
    /// Of the forces of contact, the largest part that was wrong in any step.
    wrong: f64,
}

impl Slope {
    /// `angle` in radians about y; the plane moves along x as `motion` says, m by s.
    fn new(
        (friction, angle): (f64, f64),
        scheme: Scheme,
        cells: usize,
        motion: impl Fn(f64) -> f64 + Send + Sync + 'static,
    ) -> Self {
        let (mesh, uv) = sheet([cells, cells], [0.2, 0.2]);
        let x = uv.map(|u| DVec3::new(u.x - 0.1, u.y - 0.1, 2.95e-3));
        let count = x.len();
        let topology = mesh.mesh().clone();
        let plane = TriMesh::new(4, &[[0, 1, 2], [0, 2, 3]]).unwrap();
        let mut colliders = Colliders::new(count + 4);
        colliders.add_surface(Body(0), &topology.among(0, count + 4), 5e-4).unwrap();
        colliders.add_surface(Body(1), &plane.among(count as u32, count + 4), 5e-4).unwrap();
        let rest = RestShape::from_uv(&topology, &uv).unwrap();
        let inverse = rest.vertex_areas(&topology).map(|a| 1.0 / (0.2 * a));
        let settings = ResponseSettings { friction, reach: 2e-3, ..Default::default() };
        let corner = |x: f64, y: f64| DVec3::new(2.1 * x, 1.9 * y, 0.0);
        let corners = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
        let places = Arc::new(move |time: f64, _: f64, _: &Field<Vertices, DVec3>| {
            corners.map(|x| x + DVec3::X * motion(time)).to_vec()
        });
        let contact = GhostContact::new(colliders, &inverse, places, settings, Vec::new()).unwrap();
        let gravity = DVec3::new(angle.sin(), 0.0, -angle.cos()) * G;
        let sheet = DevelopableBuilder::new(mesh, p(0.2)).bending(p(1e-5)).gravity(gravity);
        let sheet = sheet.contact(contact).scheme(scheme).build().unwrap();
        let system = System::builder(Field::filled(count, 1.0)).build().unwrap();
        let state = State::at_rest(x).unwrap();
        let mut out =
            Self { sheet: Adaptive::new(sheet, p(1e-5)), system, state, start: DVec3::ZERO, wrong: 0.0 };
        out.start = out.mean();
        out
    }

    fn mean(&self) -> DVec3 {
        self.state.x().as_slice().iter().sum::<DVec3>() / self.state.x().len() as f64
    }

    fn run(&mut self, steps: usize, dt: f64) -> DVec3 {
        for _ in 0..steps {
            self.sheet.step(&self.system, &mut self.state, p(dt)).unwrap();
            self.wrong = self.wrong.max(self.sheet.inner().last().wrong_forces);
        }
        self.mean() - self.start
    }
}

const SCHEMES: [Scheme; 2] = [Scheme::BackwardEuler, Scheme::Bdf2];

/// Before, impulses acted on the ghost alone, and such a sheet crept 18 mm in that time.
#[test]
fn a_sheet_on_a_rough_slope_stays() {
    for scheme in SCHEMES {
        for (cells, steps, dt) in [(4, 60, 0.005), (7, 30, 0.01), (4, 200, 0.0015)] {
            let mut slope = Slope::new((0.6, 20f64.to_radians()), scheme, cells, |_| 0.0);
            let gone = slope.run(steps, dt);
            assert!(gone.truncate().length() < 1e-3, "{scheme:?} {cells} {dt}: {gone:?}");
        }
    }
}

/// Sliding is uniformly accelerated; backward Euler, which contact is stepped with, is ahead by
/// half a step.
#[test]
fn a_sheet_on_a_smooth_slope_slides_as_coulomb_says() {
    let angle = 20f64.to_radians();
    for scheme in SCHEMES {
        for friction in [0.0, 0.05, 0.1, 0.3] {
            let mut slope = Slope::new((friction, angle), scheme, 4, |_| 0.0);
            let (steps, dt) = (60, 0.005);
            let gone = slope.run(steps, dt).x;
            let time = steps as f64 * dt;
            let expected = 0.5 * G * (angle.sin() - friction * angle.cos()) * time * (time + dt);
            // Of the way without friction: a hundredth, which is what forces may be off by.
            let free = 0.5 * G * angle.sin() * time * (time + dt);
            assert!((gone - expected).abs() < 0.01 * free, "{scheme:?} {friction}: {gone} {expected}");
            assert!(slope.wrong < 0.05, "{scheme:?} {friction}: {}", slope.wrong);
        }
    }
}

/// A belt that starts at half a metre per second: the sheet is accelerated by friction until it
/// goes with it, and then stays on its place there.
#[test]
fn a_belt_carries_a_sheet() {
    let (friction, speed) = (0.4, 0.5);
    for scheme in SCHEMES {
        let mut slope = Slope::new((friction, 0.0), scheme, 4, move |t| speed * t);
        let gone = slope.run(60, 0.005).x;
        let rest = speed / (friction * G);
        let expected = speed * (0.3 - 0.5 * rest);
        assert!((gone - expected).abs() < 0.02 * expected, "{scheme:?}: {gone} {expected}");
        let later = slope.run(20, 0.005).x - gone;
        assert!((later - 0.1 * speed).abs() < 1e-4, "{scheme:?}: {later}");
    }
}
