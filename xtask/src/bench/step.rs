//! Steps of a hanging sheet.
use std::time::Instant;
use anyhow::Result;
use plisse::core::Positive;
use plisse::system::{HessianPolicy, Implicit, Integrator, LinearSolver, NewtonSettings, Scheme};
use crate::scene::{Cloth, DENIM, hanging_sheet};

pub(crate) fn run(args: &[&str]) -> Result<()> {
    let n: usize = args.first().map_or(Ok(100), |s| s.parse())?;
    let cloths = [("denim", DENIM), ("tablecloth", Cloth { density: 0.128, moduli: [2002.0, 2028.0, 19.0], rigidity: 3e-5 }), ("soft", Cloth { density: 0.2, moduli: [5.0, 5.0, 2.0], rigidity: 1e-6 })];
    for (name, cloth) in cloths {
    for (dt, steps) in [(0.005, 40), (0.033, 15)] {
        for solver in [LinearSolver::Auto, LinearSolver::StaleCholesky, LinearSolver::BlockJacobi, LinearSolver::Cholesky] {
            for hessian in [HessianPolicy::ProjectedThenExact, HessianPolicy::OnDemand] {
                let (system, mut state) = hanging_sheet(n, cloth)?;
                let mut integrator = Implicit::new(&system, Scheme::BackwardEuler, NewtonSettings { solver, hessian, ..Default::default() })?;
                let start = Instant::now();
                let (mut its, mut lin, mut fac, mut hes, mut hal) = (0, 0, 0, 0, 0);
                let mut worst = 0.0f64;
                for _ in 0..steps {
                    match integrator.step(&system, &mut state, Positive::new(dt)?) {
                        Ok(r) => { its += r.iterations(); for s in &r.solves { lin += s.linear_iterations(); fac += s.factorisations(); hal += s.halvings(); hes += s.iterations.iter().map(|i| i.hessians).sum::<usize>(); worst = worst.max(s.residual); } }
                        Err(e) => { println!("{e}"); break; }
                    }
                    if start.elapsed().as_secs() > 40 { println!("cut"); break; }
                }
                println!("{name} dt {dt} {solver:?} {hessian:?}: {:.1} ms/step, newton {its} hess {hes} halv {hal} linear {lin} fact {fac} (of {steps}) worst {worst:.1e}", start.elapsed().as_secs_f64() * 1e3 / steps as f64);
            }
        }
    }
    }
    Ok(())
}
