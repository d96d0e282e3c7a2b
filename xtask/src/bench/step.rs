//! Steps of a hanging sheet.
use std::time::Instant;
use anyhow::Result;
use glam::DVec3;
use plisse::core::{Field, Positive, Psd};
use plisse::system::{BlockMatrix, HessianPolicy, Implicit, Integrator, Linear, LinearSolver, NewtonSettings, Pose, Scheme};
use crate::scene::{DENIM, hanging_sheet};

pub(crate) fn run(args: &[&str]) -> Result<()> {
    let n: usize = args.first().map_or(Ok(100), |s| s.parse())?;
    let cloth = DENIM;
    let (system, mut state) = hanging_sheet(n, cloth)?;
    let mut integrator = Implicit::new(&system, Scheme::BackwardEuler, NewtonSettings::default())?;
    for _ in 0..5 { integrator.step(&system, &mut state, Positive::new(0.033)?)?; }
    let x = state.x().clone();
    let pose = Pose::at(&x);
    let mut g = Field::filled(x.len(), DVec3::ZERO);
    let mut a = BlockMatrix::zeros(system.pattern().clone());
    let mut d = Linear::new(LinearSolver::Cholesky, system.pattern());
    let mut f = Linear::new(LinearSolver::StaleCholesky, system.pattern());
    let b = vec![DVec3::ONE; system.unknowns().len()];
    let mut y = b.clone();
    let mut best = [f64::INFINITY; 10];
    for _ in 0..8 {
        let t = |k: usize, body: &mut dyn FnMut(), best: &mut [f64; 10]| { let s = Instant::now(); body(); best[k] = best[k].min(s.elapsed().as_secs_f64() * 1e3); };
        t(0, &mut || { std::hint::black_box(system.energy(&pose)); }, &mut best);
        t(1, &mut || system.gradient(&pose, &mut g), &mut best);
        t(2, &mut || system.hessian(&pose, Psd::Exact, &mut a), &mut best);
        t(3, &mut || system.hessian(&pose, Psd::Clamp, &mut a), &mut best);
        for i in 0..system.unknowns().len() { *a.diagonal_mut(i) += glam::DMat3::from_diagonal(DVec3::splat(system.mass().unwrap()[system.unknowns()[i]] / 0.033 / 0.033)); }
        t(4, &mut || a.mul(&b, &mut y), &mut best);
        t(5, &mut || d.factorise(&a).unwrap(), &mut best);
        t(6, &mut || d.substitute(&b, &mut y), &mut best);
        t(7, &mut || f.factorise(&a).unwrap(), &mut best);
        t(8, &mut || f.substitute(&b, &mut y), &mut best);
    }
    println!("energy {:.2} grad {:.2} hess exact {:.2} clamp {:.2} spmv {:.3} f64 factor {:.1} solve {:.2} f32 factor {:.1} solve {:.2}; factor len {:?} blocks {}", best[0], best[1], best[2], best[3], best[4], best[5], best[6], best[7], best[8], d.factor_len(), system.pattern().block_count());
    if args.len() > 1 { 
    for (dt, steps) in [(0.005, 40), (0.033, 15)] {
        for solver in [LinearSolver::StaleCholesky] {
            for hessian in [HessianPolicy::OnDemand] {
                let (system, mut state) = hanging_sheet(n, cloth)?;
                let mut integrator = Implicit::new(&system, Scheme::BackwardEuler, NewtonSettings { solver, hessian, ..Default::default() })?;
                let start = Instant::now();
                let (mut its, mut lin, mut fac, mut hes, mut hal) = (0, 0, 0, 0, 0);
                let mut worst = 0.0f64;
                for _ in 0..steps {
                    match integrator.step(&system, &mut state, Positive::new(dt)?) {
                        Ok(r) => { its += r.iterations(); for s in &r.solves { lin += s.linear_iterations(); fac += s.factorisations(); hal += s.halvings(); hes += s.iterations.iter().map(|i| i.hessians).sum::<usize>(); worst = worst.max(s.residual);
 if args.len() > 2 { println!("{:?}", s.residuals().collect::<Vec<_>>()); }
 } }
                        Err(e) => { println!("{e}"); if let plisse::system::StepError::NotConverged{error,..} = &e { for i in &error.report.iterations { println!("res {:.3e} dec {:.3e} exact {} reg {:.1e} len {} hess {} lin {} {:?} {:.1e}", i.residual, i.decrement, i.exact, i.regularisation, i.length, i.hessians, i.linear.iterations, i.linear.method, i.linear.relative_residual); } } break; }
                    }
                    if start.elapsed().as_secs() > 40 { println!("cut"); break; }
                }
                println!("dt {dt} {solver:?} {hessian:?}: {:.1} ms/step, newton {its} hess {hes} halv {hal} linear {lin} fact {fac} (of {steps}) worst {worst:.1e}", start.elapsed().as_secs_f64() * 1e3 / steps as f64);
            }
        }
    }
    }
    Ok(())
}
