//! Wrinkles on the test beds of Chen21 (section 6): how many, how high, and in how many steps.

use std::f64::consts::{PI, TAU};

use anyhow::{Context, Result};
use glam::DVec3;
use plisse::core::{Field, Positive, Vertices};
use plisse::wrinkle::beds::{self, Bed};
use plisse::wrinkle::{
    BaseSheet, Curvature, ElasticReference, Profile, SurfaceOptions, WrinkleEnd, WrinkleError,
    elastic_reference, wrinkled_surface,
};

use super::progress::Progress;
use super::{Findings, Tolerance};
use crate::wrinkles::{Chain, Count, Line, Waves, swings};

/// `cargo xtask regress wrinkle`.
pub(crate) fn run() -> Result<Findings> {
    let mut findings = Findings::new("wrinkle");
    let mut progress = Progress::new("wrinkle");
    table(&mut findings, &mut progress)?;
    independence(&mut findings, &mut progress)?;
    refinement(&mut findings, &mut progress)?;
    elastic(&mut findings, &mut progress)?;
    Ok(findings)
}

/// Energies of minima.
const MINIMUM: Tolerance = Tolerance::Relative(1e-3);

/// A bed, where its waves are counted, and what the paper and others say about it.
struct Row {
    name: &'static str,
    bed: Bed,
    clamped: bool,
    count: Count,
    /// Vertices, steps of the base and of the wrinkles, waves, amplitude.
    paper: &'static str,
    others: &'static str,
}

/// Across the middle of a stretched sheet, a little off the places where vertices may be.
fn across(strain: f64) -> Count {
    let x = 0.125 * (1.0 + strain) + 1e-5;
    Count::Line(Line::new([x, 0.0], [x, 0.1]))
}

/// Along the middle of the sheared film.
fn along() -> Count {
    Count::Line(Line::new([0.0, 0.064 + 1e-5], [0.383, 0.064 + 1e-5]))
}

fn rows() -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut row = |name, bed: Bed, clamped, count, paper, others| {
        rows.push(Row { name, bed, clamped, count, paper, others });
    };
    let twisted = "1.3k: 46 waves; 688: 12, 813 steps";
    for (around, seed) in [(30, 1), (34, 2), (42, 3)] {
        let bed = beds::twisted_cylinder(10.0, around, seed)?;
        row("twisted cylinder", bed, true, Count::Rim, twisted, "regular meshes 38 to 40; elastic 10 to 20");
    }
    let stretched = "522: 10, 23 steps, 5 waves, 0.42 mm; strain not stated";
    let sheets = "Wang 0.35 mm; ARCSim 5, 0.34 mm; elastic 3, 0.33 mm";
    row("sheet stretched 5 %", beds::stretched_sheet(0.05, 15, 1)?, true, across(0.05), stretched, sheets);
    row("sheet stretched 10 %", beds::stretched_sheet(0.1, 15, 1)?, true, across(0.1), stretched, sheets);
    let film = beds::sheared_rectangle(0.003, 0.0, 19, 1)?;
    let sheared = "1k: 21, 147 steps, 25 waves; sizes, material, shear not stated";
    row("sheared film", film, true, along(), sheared, "experiment 19; ARCSim 26; elastic 13");
    let disk = || beds::pressurised_disk(600.0, 9, 1);
    row("disk, rim wrinkles", disk()?, false, Count::Rim, "data: 273, 85 waves, 1.05 mm", "");
    row("disk, rim clamped", disk()?, true, Count::Rim, "", "");
    let balloon = "5k: 33, 91 steps, 8 creases; thickness, pressure not stated";
    row("disk balloon", beds::disk_balloon(600.0, 19, 1)?, true, Count::Rim, balloon, "");
    let torus = "2k: 11, 125 steps; thickness, pressure not stated";
    row("torus", beds::torus(2000.0, 11, 1)?, true, Count::Rim, torus, "");
    row("teabag", beds::teabag(10.0, 16, 1)?, true, Count::Rim, "936: 8, 46 steps; pressure not stated", "");
    Ok(rows)
}

fn table(findings: &mut Findings, progress: &mut Progress) -> Result<()> {
    println!(
        "test beds; steps from the starts Strain/Stress (! not converged); energy of the smooth base and what wrinkles gain, mJ;"
    );
    println!(
        "waves from the solver, counted without sign where the phase turns back, and of the rounded phase; along lines where the amplitude is"
    );
    println!("at least half of its largest; wavelength: 2π times height over slope, root mean squares");
    println!(
        "{:<22}{:>6}{:>6}{:>9}{:>10}{:>12}{:>13}{:>9}{:>4}{:>9}{:>10}{:>7}{:>10}{:>9}  Chen21: vertices, steps, result | others",
        "bed",
        "vert.",
        "base",
        "Pa",
        "steps",
        "smooth mJ",
        "gain mJ",
        "KKT",
        "b1",
        "waves",
        "unsigned",
        "whole",
        "wave, mm",
        "a, mm"
    );
    for row in rows()? {
        let chain = Chain::solve(row.bed, row.clamped).with_context(|| row.name)?;
        let report = &chain.field.report;
        let steps: Vec<String> = (report.runs.iter())
            .map(|run| {
                format!("{}{}", run.iterations.len(), if run.end == WrinkleEnd::Converged { "" } else { "!" })
            })
            .collect();
        let waves = chain.waves(row.count);
        let name = format!("{}, {} vertices", row.name, chain.bed.problem.mesh().vertex_count());
        progress.at(|| name.clone());
        let converged = report.runs.iter().all(|run| run.end == WrinkleEnd::Converged);
        // Minima found to a small residual: the same on every processor, but for the ways that lead
        // there.
        findings
            .figure(format!("{name}: energy without wrinkles (mJ)"), 1e3 * report.smooth_energy, MINIMUM)
            .figure(
                format!("{name}: gain (mJ)"),
                1e3 * (report.smooth_energy - report.terms.total()),
                Tolerance::Relative(0.01),
            );
        // Along an open line whose phase turns back, the sum with signs is that of one of many
        // minima: the teabag had 73.8 or 10.3, with gains that agree to 0.1 %.
        let counts = |w: &Waves| w.whole.is_some() || w.absolute <= 1.001 * w.real;
        if let Some(waves) = waves.as_ref().filter(|w| counts(w)) {
            findings.figure(format!("{name}: waves"), waves.real, Tolerance::Relative(0.01));
        }
        findings
            .figure(
                format!("{name}: wavelength (mm)"),
                chain.wavelength().unwrap_or(0.0),
                Tolerance::Relative(0.01),
            )
            .figure(
                format!("{name}: largest amplitude (mm)"),
                1e3 * chain.largest_amplitude(),
                Tolerance::Relative(0.01),
            )
            .figure(
                format!("{name}: steps of all starts"),
                report.runs.iter().map(|run| run.iterations.len()).sum::<usize>() as f64,
                Tolerance::Either(0.5, 20.0),
            )
            .require(format!("{name}: every start converges"), converged);
        if row.name == "twisted cylinder" {
            // The one bed that the paper states completely: 46 waves there, 44 here on every mesh.
            findings.require(
                format!("{name}: 44 waves, within one"),
                waves.is_some_and(|w| (w.real - 44.0).abs() < 1.0),
            );
        }
        let show = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.2}"));
        println!(
            "{:<22}{:>6}{:>6}{:>9.1e}{:>10}{:>12.4}{:>13.5}{:>9.0e}{:>4}{:>9}{:>10}{:>7}{:>10}{:>9.3}  {} | {}",
            row.name,
            chain.bed.problem.mesh().vertex_count(),
            chain.base.report.iterations.len(),
            chain.base.report.residual,
            steps.join("/"),
            1e3 * report.smooth_energy,
            1e3 * (report.smooth_energy - report.terms.total()),
            report.run().map_or(0.0, |run| run.kkt.relative),
            report.betti,
            show(waves.map(|w| w.real)),
            show(waves.filter(|w| w.absolute > 1.001 * w.real).map(|w| w.absolute)),
            waves.and_then(|w| w.whole).map_or("-".to_owned(), |k| k.to_string()),
            show(chain.wavelength()),
            1e3 * chain.largest_amplitude(),
            row.paper,
            row.others,
        );
    }
    println!();
    Ok(())
}

/// One problem on meshes of other sizes and seeds: the answers should be the same.
fn independence(findings: &mut Findings, progress: &mut Progress) -> Result<()> {
    type Make = fn(usize, u64) -> Result<Bed, WrinkleError>;
    /// Cells and seed.
    type Meshes = [(usize, u64); 3];
    type Problem = (&'static str, Make, Meshes, bool, Count);
    let problems: [Problem; 6] = [
        (
            "twisted cylinder",
            |n, seed| beds::twisted_cylinder(10.0, n, seed),
            [(30, 1), (36, 2), (42, 3)],
            true,
            Count::Rim,
        ),
        (
            "sheet stretched 5 %",
            |n, seed| beds::stretched_sheet(0.05, n, seed),
            [(14, 1), (18, 2), (22, 3)],
            true,
            across(0.05),
        ),
        (
            "sheet stretched 10 %",
            |n, seed| beds::stretched_sheet(0.1, n, seed),
            [(14, 1), (18, 2), (22, 3)],
            true,
            across(0.1),
        ),
        (
            "disk, rim wrinkles",
            |n, seed| beds::pressurised_disk(600.0, n, seed),
            [(9, 1), (12, 2), (16, 3)],
            false,
            Count::Rim,
        ),
        (
            "disk, rim clamped",
            |n, seed| beds::pressurised_disk(600.0, n, seed),
            [(9, 1), (12, 2), (16, 3)],
            true,
            Count::Rim,
        ),
        (
            "disk balloon",
            |n, seed| beds::disk_balloon(600.0, n, seed),
            [(12, 1), (15, 2), (18, 3)],
            true,
            Count::Rim,
        ),
    ];
    println!("the same problem on three triangulations; spread: largest less smallest, over the mean");
    println!(
        "{:<22}{:>16}{:>20}{:>8}{:>22}{:>8}{:>22}{:>8}",
        "bed", "vertices", "waves", "spread", "wavelength, mm", "spread", "a, mm", "spread"
    );
    for (name, make, meshes, clamped, count) in problems {
        let mut vertices = Vec::new();
        let (mut waves, mut lengths, mut amplitudes) = (Vec::new(), Vec::new(), Vec::new());
        for (n, seed) in meshes {
            let chain = Chain::solve(make(n, seed)?, clamped).with_context(|| name)?;
            vertices.push(chain.bed.problem.mesh().vertex_count().to_string());
            waves.push(chain.waves(count).context("waves end where they are counted")?.real);
            lengths.push(chain.wavelength().context("there are no wrinkles")?);
            amplitudes.push(1e3 * chain.largest_amplitude());
        }
        progress.at(|| name.to_owned());
        // The spread over meshes of these sizes, as seen, with room for the last digit of each.
        // Waves that are seen along a line fall with the size of the cells, which widen the strip
        // that wrinkles: only those around a loop are bounded.
        let seen = matches!(count, Count::Line(_));
        for (what, values, allowed) in
            [("waves", &waves, 5.0), ("wavelengths", &lengths, 5.0), ("amplitudes", &amplitudes, 20.0)]
        {
            findings.figure(
                format!("{name}: spread of {what} (%)"),
                spread(values),
                Tolerance::Absolute(1.0),
            );
            if !(seen && what == "waves") {
                let rule = format!("{name}: {what} within {allowed} % on three meshes");
                findings.require(rule, spread(values) < allowed);
            }
        }
        let list = |values: &[f64], digits: usize| {
            values.iter().map(|v| format!("{v:.digits$}")).collect::<Vec<_>>().join(" ")
        };
        println!(
            "{name:<22}{:>16}{:>20}{:>7.1}%{:>22}{:>7.1}%{:>22}{:>7.1}%",
            vertices.join(" "),
            list(&waves, 2),
            spread(&waves),
            list(&lengths, 2),
            spread(&lengths),
            list(&amplitudes, 3),
            spread(&amplitudes)
        );
    }
    println!();
    Ok(())
}

/// The stretched sheet on many meshes: what depends on them, and how much of it goes away with
/// their cells.
fn refinement(findings: &mut Findings, progress: &mut Progress) -> Result<()> {
    println!("sheet stretched by 5 %, seeds 1 to 3; gain: what wrinkles gain, mJ");
    println!("{:>9}{:>24}{:>24}{:>24}{:>24}", "vertices", "width/wavelength", "waves seen", "a, mm", "gain");
    let mut counts = Vec::new();
    for n in [14, 16, 18, 20, 22, 26, 30, 34] {
        let mut vertices = 0;
        let mut columns = [const { Vec::new() }; 4];
        for seed in 1..=3 {
            let chain = Chain::solve(beds::stretched_sheet(0.05, n, seed)?, true)?;
            let report = &chain.field.report;
            vertices = chain.bed.problem.mesh().vertex_count();
            counts.push(100.0 / chain.wavelength().context("there are no wrinkles")?);
            let seen = chain.waves(across(0.05)).map_or(0.0, |waves| waves.real);
            let gain = 1e3 * (report.smooth_energy - report.terms.total());
            let values = [counts[counts.len() - 1], seen, 1e3 * chain.largest_amplitude(), gain];
            columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
        }
        let list = |column: &Vec<f64>, digits: usize| {
            column.iter().map(|v| format!("{v:.digits$}")).collect::<Vec<_>>().join(" ")
        };
        let [length, seen, amplitude, gain] = &columns;
        progress.at(|| format!("refinement, {vertices} vertices"));
        for (what, column) in [
            ("width over wavelength", length),
            ("waves seen", seen),
            ("amplitude (mm)", amplitude),
            ("gain (mJ)", gain),
        ] {
            let mean = column.iter().sum::<f64>() / column.len() as f64;
            findings.figure(format!("{vertices} vertices, mean: {what}"), mean, Tolerance::Relative(0.02));
        }
        println!(
            "{vertices:>9}{:>24}{:>24}{:>24}{:>24}",
            list(length, 3),
            list(seen, 2),
            list(amplitude, 3),
            list(gain, 5)
        );
    }
    findings
        .require("wavelength of the sheet stretched by 5 %: within 2 % on all meshes", spread(&counts) < 2.0);
    println!("width/wavelength: spread {:.1} % over {} meshes", spread(&counts), counts.len());
    println!();
    Ok(())
}

fn spread(values: &[f64]) -> f64 {
    let (low, high) = values.iter().fold((f64::INFINITY, 0.0f64), |(l, h), v| (l.min(*v), h.max(*v)));
    100.0 * (high - low) * values.len() as f64 / values.iter().sum::<f64>()
}

/// Waves along x of 0.4 mm, this many over y, highest in the middle and none at the ends. An
/// elastic sheet that could wrinkle would keep some.
fn with_waves(start: &Field<Vertices, DVec3>, waves: f64) -> Field<Vertices, DVec3> {
    let size = start.as_slice().iter().fold(DVec3::ZERO, |m, x| m.max(*x));
    let height = if waves > 0.0 { 4e-4 } else { 0.0 };
    start.map(|x| {
        let wave = (PI * x.x / size.x).sin() * (TAU * waves * x.y / size.y).cos();
        *x + DVec3::Z * (height * wave)
    })
}

/// The wavelength of heights above a plane in mm at rest, as of a wrinkle field: 2π times height
/// over slope, root mean squares.
fn wavelength_of(bed: &Bed, x: &Field<Vertices, DVec3>) -> Result<f64> {
    let problem = &bed.problem;
    let (mesh, sheet) = (problem.mesh(), problem.sheet());
    let flat = BaseSheet::new(mesh, problem.rest(), x, sheet, Curvature::SecondForm)?;
    let (mut height, mut slope) = (0.0, 0.0);
    for (face, corners) in mesh.faces().iter() {
        let [a, b, c] = corners.map(|v| x[v].z);
        let face = &flat.faces()[face];
        height += face.area() * (a * a + b * b + c * c + a * b + b * c + c * a) / 6.0;
        slope += face.area() * face.covector([b - a, c - a]).length_squared();
    }
    Ok(1e3 * TAU * (height / slope).sqrt())
}

/// Wrinkle fields on coarse meshes and elastic sheets on finer ones, measured in the same way:
/// heights along the line where waves are counted.
fn elastic(findings: &mut Findings, progress: &mut Progress) -> Result<()> {
    println!(
        "wrinkle field, subdivided, against an elastic sheet that bears compression and buckles on its own mesh"
    );
    println!(
        "heights along the middle line: waves are half the changes of sign; cells per wave of the wrinkle field"
    );
    println!(
        "{:<22}{:>16}{:>10}{:>7}{:>13}{:>9}{:>8}{:>12}{:>10}{:>12}",
        "bed",
        "method",
        "vertices",
        "steps",
        "energy, mJ",
        "minimum",
        "waves",
        "height, mm",
        "wave, mm",
        "cells/wave"
    );
    type Make = fn(usize) -> Result<Bed, WrinkleError>;
    /// What the mesh is like, bed, cells.
    type Elastic = (&'static str, Make, &'static [usize]);
    /// Name, bed and cells of the wrinkle field, elastic sheets, line, its length in widths of the
    /// bed, waves to start from.
    type Problem = (&'static str, Make, usize, Vec<Elastic>, Count, f64, f64);
    let problems: [Problem; 3] = [
        (
            "sheet stretched 5 %",
            |n| beds::stretched_sheet(0.05, n, 1),
            15,
            vec![
                ("elastic, regular", |n| beds::stretched_grid(0.05, n), &[30, 45, 60]),
                ("elastic", |n| beds::stretched_sheet(0.05, n, 1), &[45, 70]),
            ],
            across(0.05),
            1.0,
            5.0,
        ),
        (
            "sheet stretched 10 %",
            |n| beds::stretched_sheet(0.1, n, 1),
            15,
            vec![
                ("elastic, regular", |n| beds::stretched_grid(0.1, n), &[30, 45, 60]),
                ("elastic", |n| beds::stretched_sheet(0.1, n, 1), &[45, 70]),
            ],
            across(0.1),
            1.0,
            5.0,
        ),
        (
            "sheared film",
            |n| beds::sheared_rectangle(0.003, 0.0, n, 1),
            19,
            vec![("elastic", |n| beds::sheared_rectangle(0.003, 0.0, n, 1), &[24, 30])],
            along(),
            0.38 / 0.128,
            0.0,
        ),
    ];
    for (name, make, coarse, elastic, count, length, seeded) in problems {
        let Count::Line(line) = count else { continue };
        let chain = Chain::solve(make(coarse)?, true).with_context(|| name)?;
        let (mesh, report) = (chain.bed.problem.mesh(), &chain.field.report);
        let (base, amplitude) = (&chain.base.x, &chain.field.amplitude);
        let options = SurfaceOptions { profile: Profile::Cosine, ..SurfaceOptions::default() };
        let surface = wrinkled_surface(mesh, base, amplitude, &chain.phase.field, &options)?;
        // Base and start are the same along the line but for less than a cell.
        let place = surface.base.map(|x| x.truncate());
        let profile = line.profile(&surface.mesh, &place, |v| surface.x[v].z - surface.base[v].z);
        let (waves, height) = swings(&profile);
        let cells = |n: usize| n as f64 * length / waves;
        progress.at(|| format!("{name}, elastic"));
        println!(
            "{name:<22}{:>16}{:>10}{:>7}{:>13.5}{:>9}{waves:>8.1}{:>12.3}{:>10.2}{:>12.1}",
            "wrinkle field",
            mesh.vertex_count(),
            report.run().map_or(0, |run| run.iterations.len()),
            1e3 * report.terms.total(),
            "",
            1e3 * height,
            chain.wavelength().unwrap_or(f64::NAN),
            cells(coarse)
        );
        let sizes =
            elastic.iter().flat_map(|(label, make, sizes)| sizes.iter().map(move |n| (label, make, *n)));
        for (label, make, n) in sizes {
            let bed = make(n)?;
            let mesh = bed.problem.mesh();
            let mut how = ElasticReference::for_sheet(&bed.problem);
            // Energies do not change in six digits beyond.
            how.settings.tolerance = Positive::literal(1e-5);
            how.settings.max_iterations = 400;
            let start = with_waves(&bed.start, seeded);
            match elastic_reference(&bed.problem, &start, &how) {
                Ok(solution) => {
                    let place = solution.x.map(|x| x.truncate());
                    let profile = line.profile(mesh, &place, |v| solution.x[v].z);
                    let (waves, height) = swings(&profile);
                    // A thousandth of the thickness is flat.
                    let buckled = height > 1e-3 * bed.problem.sheet().thickness();
                    let length = wavelength_of(&bed, &solution.x)?;
                    let row = format!("{name}, {label}, {} vertices", mesh.vertex_count());
                    progress.at(|| row.clone());
                    // Energies are those of minima; shapes that are nearly flat follow the
                    // residual.
                    findings
                        .figure(format!("{row}: energy (mJ)"), 1e3 * solution.report.total_energy(), MINIMUM)
                        .figure(format!("{row}: height (mm)"), 1e3 * height, Tolerance::Either(0.1, 0.01));
                    let length = if buckled { format!("{length:.2}") } else { "-".to_owned() };
                    let waves = if buckled { format!("{waves:.1}") } else { "flat".to_owned() };
                    println!(
                        "{name:<22}{label:>16}{:>10}{:>7}{:>13.5}{:>9}{waves:>8}{:>12.3}{:>10}{:>12.1}",
                        mesh.vertex_count(),
                        solution.report.iterations.len(),
                        1e3 * solution.report.total_energy(),
                        if solution.report.minimum { "yes" } else { "no" },
                        1e3 * height,
                        length,
                        cells(n)
                    );
                }
                Err(error) => {
                    println!("{name:<22}{label:>16}{:>10}  {error}", mesh.vertex_count());
                    findings
                        .text(format!("{name}, {label}, {} vertices", mesh.vertex_count()), "no equilibrium");
                }
            }
        }
    }
    Ok(())
}
