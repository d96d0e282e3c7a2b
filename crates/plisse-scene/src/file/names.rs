//! What the names of scene files stand for.

use plisse_bending::HingeWeight;
use plisse_core::Psd;
use plisse_io::scene_file::{
    BaseBendingName, CurvatureName, FreeRuleName, HessianName, LawName, LimitName, LinearName, Name,
    QuadratureName, WeightName, WrinkleStartName,
};
use plisse_system::{HessianPolicy, LinearSolver};
use plisse_wrinkle::{BendingStiffness, Curvature, FreeRule, Quadrature, WrinkleStart};

use crate::scene::{AngleLaw, Limited};

/// A name and the choice that it stands for: the same for scene files and the command line.
///
/// ```
/// use plisse_io::scene_file::{Name, QuadratureName};
/// use plisse_scene::file::Meaning;
/// use plisse_wrinkle::Quadrature;
/// let three = QuadratureName::from_name("three-point").map(Meaning::meaning);
/// assert_eq!(three, Some(Quadrature::ThreePoint));
/// assert_eq!(QuadratureName::of(&Quadrature::Exact), Some(QuadratureName::Exact));
/// ```
pub trait Meaning: Name {
    /// What is chosen.
    type Choice: PartialEq;

    /// The choice.
    #[must_use]
    fn meaning(self) -> Self::Choice;

    /// The name of a choice; none for those that have no name.
    #[must_use]
    fn of(choice: &Self::Choice) -> Option<Self> {
        Self::KNOWN.iter().map(|(.., name)| *name).find(|name| name.meaning() == *choice)
    }
}

macro_rules! meanings {
    ($($Name:ident: $Choice:ty { $($name:ident => $choice:expr),* $(,)? })*) => {
        $(
            impl Meaning for $Name {
                type Choice = $Choice;

                fn meaning(self) -> $Choice {
                    match self {
                        $(Self::$name => $choice),*
                    }
                }
            }
        )*
    };
}

meanings! {
    LawName: AngleLaw {
        Quadratic => AngleLaw::Quadratic,
        Tangent => AngleLaw::Tangent,
        Sine => AngleLaw::Sine,
        Cosine => AngleLaw::Cosine,
    }
    LimitName: Limited {
        Any => Limited::Any,
        WarpWeft => Limited::WarpWeft,
    }
    WeightName: HingeWeight {
        AreaSum => HingeWeight::AreaSum,
        DiscreteShells => HingeWeight::DiscreteShells,
        Unit => HingeWeight::Unit,
    }
    HessianName: HessianPolicy {
        OnDemand => HessianPolicy::OnDemand,
        ProjectedThenExact => HessianPolicy::ProjectedThenExact,
        Projected => HessianPolicy::Always(Psd::Clamp),
    }
    LinearName: LinearSolver {
        Auto => LinearSolver::Auto,
        Cholesky => LinearSolver::Cholesky,
        StaleCholesky => LinearSolver::StaleCholesky,
        BlockJacobi => LinearSolver::BlockJacobi,
    }
    BaseBendingName: BendingStiffness {
        Plate => BendingStiffness::Plate,
        NuD => BendingStiffness::AuthorsNuD,
    }
    CurvatureName: Curvature {
        QuadricFit => Curvature::QuadricFit,
        SecondForm => Curvature::SecondForm,
    }
    QuadratureName: Quadrature {
        Exact => Quadrature::Exact,
        ThreePoint => Quadrature::ThreePoint,
    }
    FreeRuleName: FreeRule {
        Authors => FreeRule::Authors,
        Paper => FreeRule::Paper,
    }
    WrinkleStartName: Vec<WrinkleStart> {
        Both => vec![WrinkleStart::Strain, WrinkleStart::Stress],
        Strain => vec![WrinkleStart::Strain],
        Stress => vec![WrinkleStart::Stress],
    }
}
