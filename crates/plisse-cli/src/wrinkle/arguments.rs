//! What can be said about wrinkles on the command line.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use plisse::core::{PoissonRatio, Positive};
use plisse::file::Meaning;
use plisse::io::scene_file::{CurvatureName, FreeRuleName, Name, QuadratureName, WrinkleStartName};
use plisse::wrinkle::{Profile, Quadrature};

/// Put fine wrinkles on a coarse base mesh (Chen21).
///
/// For a base mesh that is there already: the sheet in equilibrium without its wrinkles, as a
/// simulation of a tension field gives it. Finds amplitude and frequency of the wrinkles of least
/// energy, a phase with whole numbers of waves, and with --out the wrinkled surface.
///
/// With --evaluate nothing is solved: the energy of amplitudes and phase differences from files is
/// printed by its terms.
#[derive(Debug, Args)]
#[command(after_long_help = FILES)]
pub(crate) struct WrinkleOptions {
    /// The sheet at rest (OBJ, metres), in the plane or not: only the lengths of edges count.
    ///
    /// Its faces are those of the base, in the same order and with their corners in the same order.
    /// Vertices may be others: a base that is sewn of panels has one vertex at a seam where the
    /// panels have two.
    #[arg(long, value_name = "OBJ")]
    pub(crate) rest: PathBuf,
    /// The base mesh (OBJ, metres, triangles).
    #[arg(long, value_name = "OBJ")]
    pub(crate) base: PathBuf,
    /// Young's modulus in Pa.
    #[arg(long, value_parser = positive, value_name = "PA", allow_hyphen_values = true)]
    pub(crate) young: Positive,
    /// Poisson's ratio, between -1 and 1.
    #[arg(long, value_parser = poisson, value_name = "RATIO", allow_hyphen_values = true)]
    pub(crate) poisson: PoissonRatio,
    /// Thickness in m.
    #[arg(long, value_parser = positive, value_name = "M", allow_hyphen_values = true)]
    pub(crate) thickness: Positive,
    /// File of vertices at which the amplitude is zero; subdivision leaves them where they are.
    #[arg(long, value_name = "FILE")]
    pub(crate) clamped: Option<PathBuf>,
    /// Folder for the results; without it they are only printed.
    #[arg(long, short, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Print the energy of these amplitudes and phase differences instead of solving.
    ///
    /// The settings are those of the published results of Chen21: three-point quadrature, unless
    /// --quadrature says otherwise, quadric curvature and the authors' rule for wrinkle-free faces.
    #[arg(
        long,
        num_args = 2,
        value_names = ["AMPLITUDE", "DPHI"],
        conflicts_with_all = ["start", "rounded", "tolerance", "max_iterations"]
    )]
    pub(crate) evaluate: Option<Vec<PathBuf>>,
    /// How powers of the amplitude are integrated [default: exact; with --evaluate: three-point].
    #[arg(long, value_parser = choice::<QuadratureName>())]
    pub(crate) quadrature: Option<QuadratureName>,
    /// Where the curvature of the base along crests comes from.
    #[arg(long, value_parser = choice::<CurvatureName>(), default_value = "quadric-fit")]
    pub(crate) curvature: CurvatureName,
    /// Which faces are free of wrinkles.
    #[arg(long, value_parser = choice::<FreeRuleName>(), default_value = "authors")]
    pub(crate) free_rule: FreeRuleName,
    /// Where to start; of both the answer of lower energy is taken.
    #[arg(long, value_parser = choice::<WrinkleStartName>(), default_value = "both")]
    pub(crate) start: WrinkleStartName,
    /// Solve again with the whole numbers of waves held, so that everything else adapts to them.
    #[arg(long)]
    pub(crate) rounded: bool,
    /// Relative residual at which a solution is one.
    #[arg(long, value_parser = positive, default_value = "1e-8", value_name = "NUMBER", allow_hyphen_values = true)]
    pub(crate) tolerance: Positive,
    /// Steps from each start.
    #[arg(long, default_value_t = 300, value_name = "COUNT")]
    pub(crate) max_iterations: usize,
    /// How often triangles of the surface are divided into four, 0 to 8.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(0..=i64::from(MOST_LEVELS)), value_name = "COUNT")]
    pub(crate) levels: u8,
    /// The shape of a wave: with the in-plane part that makes large wrinkles bulge, or along the
    /// normal only.
    #[arg(long, default_value = "bulging")]
    pub(crate) profile: ProfileName,
}

/// Divisions of a triangle, at most.
pub(crate) const MOST_LEVELS: u8 = 8;

const FILES: &str = "\
Files to read. Amplitudes: one number per vertex in m. DPHI: one number per edge in rad; edges are sorted by smaller, then larger \
vertex, and run from the smaller to the larger. Before these numbers their count may stand. Clamped vertices: one per line, counted from 0; \
three numbers after it (a position) are not used. Their count may stand in a line of its own before lines with positions; before lines \
without it would be a vertex, and is refused if it could be either. Lines that start with # are skipped.

Files in the folder of --out: amplitude.txt and dphi.txt in these formats; phi.txt, the phase of every vertex in rad (up to whole turns; 0 \
at vertices without a phase; where wrinkled parts touch in one vertex, that of the first part); surface.obj, the wrinkled surface; smooth.obj, \
the same triangles without wrinkles; wrinkle.json, everything that is printed. dphi.txt is what the \
solver found, with real numbers of waves around holes; phi.txt and the surface have whole ones, so that their differences are not \
quite those of dphi.txt. With --rounded both are the same up to whole turns. Results of an earlier run are replaced; a folder with files \
of these names but without its wrinkle.json is refused. Without any compressed face the surface is that of the subdivided base.

Exit status: 0 also where nothing wrinkles; 3 if the solver did not converge: what it found is written all the same.";

/// The names that scene files have for a choice, too.
#[expect(clippy::expect_used, reason = "only known names come through")]
fn choice<T: Name + Send + Sync>() -> impl TypedValueParser<Value = T> {
    let names = T::KNOWN.iter().map(|(name, about, _)| PossibleValue::new(*name).help(*about));
    PossibleValuesParser::new(names).map(|name| T::from_name(&name).expect("one of the names"))
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ProfileName {
    Bulging,
    Cosine,
}

impl WrinkleOptions {
    pub(crate) fn quadrature(&self) -> Quadrature {
        let default =
            if self.evaluate.is_some() { QuadratureName::ThreePoint } else { QuadratureName::Exact };
        self.quadrature.unwrap_or(default).meaning()
    }

    pub(crate) fn profile(&self) -> Profile {
        match self.profile {
            ProfileName::Bulging => Profile::Bulging,
            ProfileName::Cosine => Profile::Cosine,
        }
    }
}

/// The name under which a choice of the command line alone is given.
pub(crate) fn name(choice: &impl ValueEnum) -> String {
    choice.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

fn positive(text: &str) -> Result<Positive, String> {
    Positive::new(number(text)?).map_err(|error| error.to_string())
}

fn poisson(text: &str) -> Result<PoissonRatio, String> {
    PoissonRatio::new(number(text)?).map_err(|error| error.to_string())
}

fn number(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_| "give a number such as 1e-4".to_owned())
}
