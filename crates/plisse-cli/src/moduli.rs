//! `plisse moduli`: virtual tests of woven cloth.

use clap::Args;
use plisse::yarn::{
    Contacts, Moduli, ModuliError, Reading, Specimen, TestSettings, VirtualTest, Weave, Woven, YarnMaterial,
};
use serde_json::{Value, json};

use crate::arguments::Talk;
use crate::error::Failure;
use crate::progress::{out, print as print_line};

/// Measure the moduli of woven cloth on a patch of its yarns.
///
/// Pulls a patch along warp, weft and bias, shears it and bends it, each time in equilibrium, and
/// prints tensile and shear moduli, bending rigidities, mass per area, and a material with these
/// figures for ordinary cloth in scene files.
///
/// Of two numbers with a comma in between, the first is for the warp and the second for the weft.
/// Without options, it is the cotton of plisse-yarn.
#[derive(Debug, Args)]
pub(crate) struct ModuliOptions {
    /// Crossings of the patch in each direction; from 4 to 200.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(4..=200))]
    crossings: u16,
    /// Distances between crossings along warp and weft, m.
    #[arg(long, value_parser = pair, value_name = "M", allow_hyphen_values = true)]
    spacing: Option<[f64; 2]>,
    /// plain, twill:OVER/UNDER or satin:SIZE/STEP.
    #[arg(long, value_parser = weave, default_value = "plain")]
    weave: Weave,
    /// Radius of the yarns, m.
    #[arg(long, value_parser = pair, value_name = "M", allow_hyphen_values = true)]
    radius: Option<[f64; 2]>,
    /// Mass per length of the yarns, kg/m: a millionth of their tex.
    #[arg(long, value_parser = pair, value_name = "KG/M", allow_hyphen_values = true)]
    density: Option<[f64; 2]>,
    /// Stretch stiffness of the yarns, N: force by strain.
    #[arg(long, value_parser = pair, value_name = "N", allow_hyphen_values = true)]
    stretch: Option<[f64; 2]>,
    /// Flexural rigidity of the yarns, N m2; zero for none.
    #[arg(long, value_parser = pair, value_name = "N M2", allow_hyphen_values = true)]
    bending: Option<[f64; 2]>,
    /// Damping time of stretching, s.
    #[arg(long, value_parser = pair, value_name = "S", allow_hyphen_values = true)]
    stretch_damping: Option<[f64; 2]>,
    /// Damping time of bending, s.
    #[arg(long, value_parser = pair, value_name = "S", allow_hyphen_values = true)]
    bending_damping: Option<[f64; 2]>,
    /// Stiffness of a crossing against a change of its angle, N m; zero for none.
    #[arg(long, value_name = "N M", allow_hyphen_values = true)]
    shear: Option<f64>,
    /// Coefficient of friction at crossings; zero for none.
    #[arg(long, allow_hyphen_values = true)]
    friction: Option<f64>,
    /// Force with which the weave presses crossings together, N.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    press: Option<f64>,
    /// Strain of the tests that pull.
    #[arg(long, default_value_t = TestSettings::default().strain, allow_hyphen_values = true)]
    strain: f64,
    /// Change of the angle between warp and weft, rad.
    #[arg(long, default_value_t = TestSettings::default().angle, allow_hyphen_values = true)]
    angle: f64,
    /// Curvature of the bending tests, 1/m.
    #[arg(long, default_value_t = TestSettings::default().curvature, allow_hyphen_values = true)]
    curvature: f64,
}

impl ModuliOptions {
    fn woven(&self) -> Woven {
        let yarn = |family: usize| {
            let cotton = YarnMaterial::COTTON;
            let of = |given: Option<[f64; 2]>, otherwise: f64| given.map_or(otherwise, |both| both[family]);
            YarnMaterial {
                radius: of(self.radius, cotton.radius),
                density: of(self.density, cotton.density),
                stretch: of(self.stretch, cotton.stretch),
                bending: of(self.bending, cotton.bending),
                stretch_damping: of(self.stretch_damping, cotton.stretch_damping),
                bending_damping: of(self.bending_damping, cotton.bending_damping),
            }
        };
        let cotton = Contacts::COTTON;
        let contacts = Contacts {
            shear: self.shear.unwrap_or(cotton.shear),
            friction: self.friction.unwrap_or(cotton.friction),
            press: self.press.unwrap_or(cotton.press),
            ..cotton
        };
        Woven {
            counts: [usize::from(self.crossings); 2],
            spacing: self.spacing.unwrap_or(Woven::default().spacing),
            tails: [0.0; 2],
            weave: self.weave.clone(),
            warp: yarn(0),
            weft: yarn(1),
            contacts,
        }
    }
}

/// Makes the tests and prints what they found.
pub(crate) fn moduli(options: &ModuliOptions, talk: &Talk) -> Result<(), Failure> {
    let settings =
        TestSettings { strain: options.strain, angle: options.angle, curvature: options.curvature };
    let found = Specimen::new(&options.woven()).and_then(|specimen| specimen.moduli(&settings));
    let moduli = found.map_err(|error| match error {
        ModuliError::Step(error) => Failure::Step(error),
        ModuliError::NoWidth { .. } => Failure::NotConverged(error.to_string()),
        other => Failure::Input(other.to_string()),
    })?;
    if talk.json {
        print_line(&report(&moduli).to_string());
    } else if !talk.quiet {
        print(&moduli);
    }
    Ok(())
}

fn print(moduli: &Moduli) {
    out!("{:<14} {:>10}       {:>11}      {:>11}      {:>8}", "test", "to", "stress", "modulus", "Poisson");
    for reading in &moduli.readings {
        let (strain, stress, modulus) = match reading.test {
            VirtualTest::Warp | VirtualTest::Weft | VirtualTest::Bias => ("   ", "N/m", "N/m"),
            VirtualTest::Shear => ("rad", "N/m", "N/m"),
            VirtualTest::BendWarp | VirtualTest::BendWeft => ("1/m", "N  ", "N m"),
        };
        // Without the sign of a zero.
        let ratio = if reading.poisson().abs() < 5e-5 { 0.0 } else { reading.poisson() };
        let poisson = if pulls(reading.test) { format!("{ratio:8.4}") } else { String::new() };
        let line = format!(
            "{:<14} {:>10} {strain}   {:>11.4e} {stress}  {:>11.4e} {modulus}  {poisson}",
            reading.test.name(),
            reading.strain,
            reading.stress,
            reading.modulus(),
        );
        out!("{}", line.trim_end());
    }
    out!("");
    out!("{:<32} {:>11.4e} kg/m2", "mass per area", moduli.density);
    out!("{:<32} {:>11.4e} N/m", "stress across, width held", moduli.coupling);
    out!("{:<32} {:>11.4e} N/m", "bias of a sheet like that", moduli.bias_of_sheet());
    out!("");
    out!("{}", material(moduli));
}

fn pulls(test: VirtualTest) -> bool {
    matches!(test, VirtualTest::Warp | VirtualTest::Weft | VirtualTest::Bias)
}

/// A line of a scene file. Sheets with two fibres have no stress across what is pulled.
fn material(moduli: &Moduli) -> String {
    let Moduli { density, warp, weft, shear, bending, stretch_damping, bending_damping, .. } = moduli;
    let [density, warp, weft] = [density, warp, weft].map(|value| figure(*value));
    // Yarns without shear stiffness leave rounding errors, and no shear has no law.
    let shear = if *shear > 1e-9 * moduli.warp {
        format!("shear = {}, shear_law = \"quadratic\"", figure(*shear))
    } else {
        "shear = 0".to_owned()
    };
    let largest = bending[0].max(bending[1]);
    let bending = if largest > 0.0 {
        // Hinges need some rigidity in either direction.
        let [a, b] = bending.map(|rigidity| figure(rigidity.max(1e-3 * largest)));
        format!("bending = \"hinge\", rigidity = [{a}, {b}]")
    } else {
        "bending = \"none\"".to_owned()
    };
    let damping = format!(
        "damping = {{ strain_rate = {}, bending = {} }}",
        figure(*stretch_damping),
        figure(*bending_damping)
    );
    format!(
        "material = {{ density = {density}, membrane = \"fibres\", warp = {warp}, weft = {weft}, \
         {shear}, {bending}, {damping} }}"
    )
}

/// Four digits, in a form that TOML reads as a number.
fn figure(value: f64) -> String {
    let text = format!("{value:.3e}");
    let rounded: f64 = text.parse().unwrap_or(value);
    if rounded == 0.0 || (1e-3..1e5).contains(&rounded.abs()) { rounded.to_string() } else { text }
}

fn report(moduli: &Moduli) -> Value {
    let test = |reading: &Reading| {
        json!({
            "test": reading.test.name(),
            "strain": reading.strain,
            "stress": reading.stress,
            "modulus": reading.modulus(),
            "poisson": pulls(reading.test).then(|| reading.poisson()),
        })
    };
    json!({
        "density": moduli.density,
        "warp": moduli.warp,
        "weft": moduli.weft,
        "coupling": moduli.coupling,
        "shear": moduli.shear,
        "bending": moduli.bending,
        "stretch_damping": moduli.stretch_damping,
        "bending_damping": moduli.bending_damping,
        "bias_of_sheet": moduli.bias_of_sheet(),
        "tests": moduli.readings.iter().map(test).collect::<Vec<_>>(),
        "material": material(moduli),
    })
}

/// A number for warp and weft, or one for each.
fn pair(text: &str) -> Result<[f64; 2], String> {
    let number = |part: &str| part.trim().parse::<f64>().ok().filter(|value| value.is_finite());
    let both = match text.split_once(',') {
        None => number(text).map(|value| [value; 2]),
        Some((warp, weft)) => number(warp).zip(number(weft)).map(|(warp, weft)| [warp, weft]),
    };
    both.ok_or_else(|| "give a number, or two for warp and weft with a comma in between".to_owned())
}

fn weave(text: &str) -> Result<Weave, String> {
    let wanted = "give plain, twill:OVER/UNDER as twill:2/2, or satin:SIZE/STEP as satin:5/2";
    if text == "plain" {
        return Ok(Weave::plain());
    }
    let numbers = |rest: &str| {
        let (a, b) = rest.split_once('/')?;
        Some((a.parse::<usize>().ok()?, b.parse::<usize>().ok()?))
    };
    let (kind, rest) = text.split_once(':').ok_or(wanted)?;
    let (a, b) = numbers(rest).filter(|(a, b)| *a <= 1000 && *b <= 1000).ok_or(wanted)?;
    let made = match kind {
        "twill" => Weave::twill(a, b),
        "satin" => Weave::satin(a, b),
        _ => return Err(wanted.to_owned()),
    };
    made.map_err(|error| error.to_string())
}
