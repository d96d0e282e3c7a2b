//! What all steps of a run together tell about how far its result can be trusted.

use plisse::system::Ledger;
use serde_json::{Value, json};

/// Collected from the lines of the report, so that a resumed run knows of its first part.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Summary {
    steps: u64,
    rejected: u64,
    newton: u64,
    at_rounding: u64,
    smallest_gap: Option<Gap>,
    held_depth: f64,
    /// Of cloth with a strain limit.
    largest_stretch: Option<f64>,
    unexplained: f64,
    /// Equilibria that are not stable.
    unstable: u64,
    /// Whether the last line is of an equilibrium that is not stable.
    ends_unstable: bool,
    /// Crossings that came to the end of a yarn, each once.
    yarn_ends: Vec<YarnEnd>,
}

/// A crossing at the end of a yarn, and when it was there first.
#[derive(Clone, Debug, PartialEq)]
struct YarnEnd {
    body: String,
    yarn: String,
    crossing: String,
    /// s.
    time: f64,
}

impl YarnEnd {
    fn of(event: &Value, time: f64) -> Option<Self> {
        let text = |key: &str| event[key].as_str().map(str::to_owned);
        Some(Self { body: text("body")?, yarn: text("yarn")?, crossing: text("crossing")?, time })
    }

    fn is_same(&self, other: &Self) -> bool {
        self.body == other.body && self.yarn == other.yarn && self.crossing == other.crossing
    }
}

/// How many crossings at the ends of yarns are named.
const NAMED: usize = 5;

/// A gap, and what a line of the report says about it.
#[derive(Clone, Debug, PartialEq)]
struct Gap {
    /// m.
    size: f64,
    /// s.
    time: f64,
    /// The two parts in words; none in reports of older versions.
    between: Option<[String; 2]>,
    /// Where, m.
    at: Option<[f64; 3]>,
}

impl Gap {
    fn of(line: &Value) -> Option<Self> {
        let parts = |key: &str| line[key].as_array();
        let words = |parts: &Vec<Value>| -> Option<[String; 2]> {
            let words: Option<Vec<String>> =
                parts.iter().map(|part| Some(part.as_str()?.to_owned())).collect();
            words?.try_into().ok()
        };
        let place = |parts: &Vec<Value>| -> Option<[f64; 3]> {
            let numbers: Option<Vec<f64>> = parts.iter().map(Value::as_f64).collect();
            numbers?.try_into().ok()
        };
        Some(Self {
            size: line["gap"].as_f64()?,
            time: line["time"].as_f64().unwrap_or(0.0),
            between: parts("gap_between").and_then(words),
            at: parts("gap_at").and_then(place),
        })
    }

    /// For people.
    fn text(&self) -> String {
        let mut text = format!("smallest gap {:.3} mm", 1e3 * self.size);
        if let (Some([one, other]), Some([x, y, z])) = (&self.between, self.at) {
            let time = self.time;
            text += &format!(" ({one} and {other} at ({x:.4}, {y:.4}, {z:.4}), t = {time:.3} s)");
        }
        text
    }
}

impl Summary {
    /// Adds a line of the report.
    pub(crate) fn add(&mut self, line: &Value) {
        let count = |key: &str| line[key].as_u64().unwrap_or(0);
        let number = |key: &str| line[key].as_f64().unwrap_or(0.0);
        self.steps += 1;
        self.rejected += count("rejected");
        self.newton += count("newton");
        self.at_rounding += count("at_rounding");
        self.held_depth = self.held_depth.max(number("held_depth"));
        self.unexplained = self.unexplained.max(number("unexplained"));
        self.ends_unstable = line["stable"] == false;
        self.unstable += u64::from(self.ends_unstable);
        for end in line["yarn_ends"].as_array().into_iter().flatten() {
            let end = YarnEnd::of(end, number("time"));
            let new = end.filter(|end| !self.yarn_ends.iter().any(|known| known.is_same(end)));
            self.yarn_ends.extend(new);
        }
        if let Some(gap) = Gap::of(line)
            && self.smallest_gap.as_ref().is_none_or(|smallest| gap.size < smallest.size)
        {
            self.smallest_gap = Some(gap);
        }
        if let Some(stretch) = line["stretch"].as_f64() {
            self.largest_stretch = Some(self.largest_stretch.map_or(stretch, |largest| largest.max(stretch)));
        }
    }

    /// For people; none before the first step.
    pub(crate) fn line(&self) -> Option<String> {
        if self.steps == 0 {
            return None;
        }
        let mut text = format!("{} steps, {} Newton iterations", self.steps, self.newton);
        if self.rejected > 0 {
            text += &format!(", {} attempts repeated with shorter steps", self.rejected);
        }
        if self.at_rounding > 0 {
            text += &format!(", {} solves ended at the floor of rounding", self.at_rounding);
        }
        if let Some(gap) = &self.smallest_gap {
            text += &format!("; {}", gap.text());
        }
        if let Some(stretch) = self.largest_stretch {
            text += &format!("; largest stretch {stretch:.5}");
        }
        Some(text)
    }

    /// What makes the result doubtful.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.unexplained > Ledger::WARNING {
            warnings.push(format!(
                "the motion has gained {:.0} % of its energy without an explanation; take a shorter time step, or a scheme that \
                 dissipates more",
                100.0 * self.unexplained
            ));
        }
        if self.unstable > 0 {
            let last = if self.ends_unstable { ", the last one included" } else { "" };
            warnings.push(format!(
                "{} of {} equilibria are unstable{last}: the least disturbance would end them, as that of a sheet that stands on \
                 its edge. Disturb the start with `jitter`",
                self.unstable, self.steps
            ));
        }
        for YarnEnd { body, yarn, crossing, time } in self.yarn_ends.iter().take(NAMED) {
            warnings.push(format!(
                "{body}: {crossing} has reached the end of {yarn} at t = {time:.3} s and stays there; \
                 a real yarn would slip out. Give yarns longer tails, or more friction"
            ));
        }
        if let Some(more @ 1..) = self.yarn_ends.len().checked_sub(NAMED) {
            warnings.push(format!("{more} more crossings have reached the ends of their yarns"));
        }
        if self.held_depth > 0.0 {
            warnings.push(format!(
                "pins hold vertices up to {:.3} mm inside of an obstacle; nothing pushes these out",
                1e3 * self.held_depth
            ));
        }
        warnings
    }

    /// For machines.
    pub(crate) fn to_json(&self) -> Value {
        let gap = self.smallest_gap.as_ref();
        let end = |YarnEnd { body, yarn, crossing, time }: &YarnEnd| json!({ "body": body, "yarn": yarn, "crossing": crossing, "time": time });
        json!({
            "steps": self.steps,
            "rejected": self.rejected,
            "newton": self.newton,
            "at_rounding": self.at_rounding,
            "smallest_gap": gap.map(|gap| gap.size),
            "smallest_gap_between": gap.and_then(|gap| gap.between.as_ref()),
            "smallest_gap_at": gap.and_then(|gap| gap.at),
            "smallest_gap_time": gap.map(|gap| gap.time),
            "held_depth": self.held_depth,
            "largest_stretch": self.largest_stretch,
            "unexplained": self.unexplained,
            "unstable": self.unstable,
            "yarn_ends": self.yarn_ends.iter().map(end).collect::<Vec<Value>>(),
        })
    }
}
