//! The force at the end of a yarn that is pulled out of a patch.

use std::path::Path;

use glam::DVec3;
use plisse::core::{Field, Id, Positive};
use plisse::picture::{Curve, Plot};
use plisse::system::{Criterion, Implicit, Integrator, NewtonSettings, Pose, Scheme, State, System};
use plisse::yarn::{Contacts, Woven, YarnMaterial, YarnModel};

use super::DrawResult;

/// Speed of the end in m/s, length of a step in s, and how far the end goes, m.
const SPEED: f64 = 0.1;
const DT: Positive = Positive::literal(2e-4);
const WAY: f64 = 2e-3;
/// Warp yarns; the middle one is pulled.
const WARPS: usize = 3;

/// Pulls with several coefficients of friction and numbers of crossings.
pub(super) fn pull_out(file: &Path) -> DrawResult {
    let mut curves = Vec::new();
    for (wefts, friction) in [(8, 0.6), (12, 0.3), (8, 0.3), (4, 0.3), (8, 0.15), (8, 0.0)] {
        let label = format!("{wefts} crossings, friction {friction}");
        curves.push(Curve { label, points: pull(wefts, friction)?, ..Curve::default() });
    }
    let plot = Plot {
        title: "A yarn is pulled out, crossings pressed with 1 mN".to_owned(),
        x_label: "displacement of the end, mm".to_owned(),
        y_label: "force, mN".to_owned(),
        curves,
        // Room for the legend.
        y_range: Some([-0.2, 7.5]),
        ..Plot::default()
    };
    plot.write_svg(file)?;
    Ok(())
}

/// Displacement in mm and force in mN.
fn pull(wefts: usize, friction: f64) -> Result<Vec<[f64; 2]>, Box<dyn std::error::Error>> {
    let contacts = Contacts { friction, stick: 100.0, ..Contacts::COTTON };
    // Damping would carry a part of the force that is read, for as long as its time.
    let yarn = YarnMaterial { stretch_damping: 1e-5, bending_damping: 1e-5, ..YarnMaterial::COTTON };
    let counts = [wefts, WARPS];
    let woven = Woven { counts, tails: [4e-3, 0.0], warp: yarn, weft: yarn, contacts, ..Woven::default() };
    let model = YarnModel::new(woven.patch()?);
    let id = |node: usize| Id::new(node as u32);
    let (crossings, pulled) = (WARPS * wefts, WARPS * wefts + WARPS);
    // Everything on the outer warp yarns is held.
    let outer = (0..crossings).filter(|node| node / wefts != WARPS / 2);
    let ends = (crossings..crossings + 2 * WARPS).filter(|node| (node - crossings) / 2 != WARPS / 2);
    let start = model.patch().rest()[pulled];
    let mut builder = System::builder(Field::from_vec(model.patch().masses()));
    for term in model.terms(DVec3::ZERO, DVec3::ZERO) {
        builder = builder.boxed_term(term);
    }
    let system = builder
        .pins(outer.chain(ends).map(id))
        .move_pin(id(pulled), move |t| start + DVec3::X * (SPEED * t))
        .build()?;
    let criterion = Criterion::Acceleration(Positive::literal(0.05));
    let settings = NewtonSettings { criterion, ..NewtonSettings::default() };
    let mut implicit = Implicit::new(&system, Scheme::BackwardEuler, settings)?;
    let mut state = State::at_rest(Field::from_vec(model.patch().rest().to_vec()))?;
    let mut points = vec![[0.0, 0.0]];
    for _ in 0..(WAY / (SPEED * DT.get())).round() as usize {
        implicit.step(&system, &mut state, DT)?;
        let mut gradient = Field::filled(system.size(), DVec3::ZERO);
        let pose = Pose { own: &state.own().values, ..Pose::at(state.x()) };
        system.gradient(&pose, &mut gradient);
        points.push([1e3 * SPEED * state.time(), 1e3 * gradient[id(pulled)].x]);
    }
    Ok(points)
}
