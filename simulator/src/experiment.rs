//! Experiments: published measurements, reproduced on the reference network.
//!
//! An experiment is a file of `simulator/experiments`: networks that are simulated separately, and what is
//! shown of their measurements: tables, plots, and figures compared with the published ones. Points are independent and may
//! run in any order or in parallel. The result depends only on the experiment and the
//! [`ExperimentEffort`].

mod calibration;
mod description;
mod evaluation;
mod formula;
mod measure;
pub mod plot;
mod reduction;
pub mod result_table;

use std::ops::ControlFlow;
use std::sync::LazyLock;

use serde::Deserialize;

use self::description::{ExperimentPart, SettingDescription};
use self::evaluation::PartEvaluation;
pub use self::measure::{ExperimentPoint, PointMeasurement};
use self::plot::PlotSpec;
use self::result_table::{CalibratedSetting, PublishedFigure, ResultTable};
use crate::scenario::ScenarioError;

/// Experiment with its points and evaluation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Name on the command line, which is the name of the file.
    #[serde(skip)]
    pub name: &'static str,
    /// One-line summary.
    pub title: String,
    /// Description of the measurement, a few lines.
    pub text: String,
    /// Remarks for the reader.
    pub notes: Vec<String>,
    /// Systems whose calibrated costs are listed.
    #[serde(default)]
    costs: Vec<String>,
    #[serde(default)]
    settings: Vec<SettingDescription>,
    #[serde(rename = "part")]
    parts: Vec<ExperimentPart>,
}

/// Duration and number of the points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ExperimentEffort {
    /// The durations that the documentation's figures come from.
    #[default]
    Full,
    /// Shorter and with fewer points, as a check that it works.
    Quick,
}

/// Results of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExperimentResult {
    /// Published figures compared with simulated ones.
    pub figures: Vec<PublishedFigure>,
    /// Parameters that were calibrated to published figures.
    pub settings: Vec<CalibratedSetting>,
    /// Measured values.
    pub tables: Vec<ResultTable>,
    /// Plots of the measured values.
    pub plots: Vec<PlotSpec>,
}

macro_rules! files {
    ($($name:literal),+ $(,)?) => { [$(($name, include_str!(concat!("../experiments/", $name, ".toml")))),+] };
}

/// Name and description of every experiment.
const DESCRIPTIONS: [(&str, &str); 13] = files![
    "logp",
    "bandwidth",
    "permutations",
    "clients",
    "networks-small",
    "networks-large",
    "interface",
    "mapping",
    "atomic",
    "cut-through",
    "degree",
    "multicast",
    "mesh",
];

/// All experiments.
#[expect(clippy::expect_used, reason = "the descriptions are part of the program")]
pub static EXPERIMENTS: LazyLock<Vec<Experiment>> = LazyLock::new(|| {
    let parse = |(name, text)| Experiment {
        name,
        ..toml::from_str(text).expect("a description is complete")
    };
    DESCRIPTIONS.map(parse).into()
});

impl Experiment {
    /// Names of all experiments, for which no description is parsed.
    pub fn names() -> impl Iterator<Item = &'static str> {
        DESCRIPTIONS.into_iter().map(|(name, _)| name)
    }

    /// Finds an experiment by its name.
    pub fn find(name: &str) -> Option<&'static Self> {
        EXPERIMENTS.iter().find(|experiment| experiment.name == name)
    }

    /// Points to run.
    pub fn points(&self, effort: ExperimentEffort) -> Vec<ExperimentPoint> {
        self.parts.iter().flat_map(|part| part.points(effort)).collect()
    }

    /// Evaluates the measurements of all points, given in the points' order.
    pub fn conclude(
        &'static self,
        effort: ExperimentEffort,
        readings: &[PointMeasurement],
    ) -> ExperimentResult {
        let costs = self.costs.iter().flat_map(|system| calibration::costs(system));
        let settings = costs.chain(self.settings.iter().map(SettingDescription::setting));
        let mut result =
            ExperimentResult { settings: settings.collect(), ..ExperimentResult::default() };
        let mut rest = readings;
        for part in &self.parts {
            let evaluation;
            (evaluation, rest) = PartEvaluation::new(part, effort, rest);
            evaluation.conclude(&mut result);
        }
        result
    }

    /// Runs all points sequentially.
    ///
    /// # Errors
    /// A built-in scenario is invalid.
    pub fn run(&'static self, effort: ExperimentEffort) -> Result<ExperimentResult, ScenarioError> {
        let points = self.points(effort);
        let readings: Result<Vec<_>, _> =
            points.iter().map(|point| point.run(&|_| ControlFlow::Continue(()))).collect();
        Ok(self.conclude(effort, &readings?))
    }
}

#[cfg(test)]
mod tests;
