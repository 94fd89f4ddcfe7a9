//! Experiments: published measurements, made again on the reference network.
//!
//! An experiment is a list of points, each a network of its own that runs for a while, and what is
//! made of them: tables, and figures beside the published ones. Points know nothing of each other:
//! they may run in any order, or at once. All of it is a function of the experiment and of the
//! [`ExperimentEffort`].

mod bandwidth;
mod calibration;
mod clients;
mod interface;
mod logp;
mod measure;
mod networks;
mod permutations;
pub mod plot;
pub mod result_table;

use crate::scenario::ScenarioError;

pub use self::measure::{
    EndpointActivity, ExperimentPoint, HostActivity, HostReceived, MetricKind, PointMeasurement,
    RequestTotals,
};
use self::plot::PlotSpec;
use self::result_table::{CalibratedSetting, PublishedFigure, ResultTable};

/// An experiment.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// What it is called on the command line.
    pub name: &'static str,
    /// In a line.
    pub title: &'static str,
    /// What is measured, and how, in a few lines.
    pub text: &'static str,
    points: fn(ExperimentEffort) -> Vec<ExperimentPoint>,
    conclude: fn(ExperimentEffort, &[PointMeasurement]) -> ExperimentResult,
}

/// How long points run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ExperimentEffort {
    /// As long as the figures of the documentation.
    #[default]
    Full,
    /// Shorter, and at fewer points: to see that it works.
    Quick,
}

/// What an experiment finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExperimentResult {
    /// Published figures beside ours.
    pub figures: Vec<PublishedFigure>,
    /// What was set so that some of them come out; the others follow.
    pub settings: Vec<CalibratedSetting>,
    /// What was measured.
    pub tables: Vec<ResultTable>,
    /// The same as pictures.
    pub plots: Vec<PlotSpec>,
    /// What a reader should know of.
    pub notes: Vec<String>,
}

/// All there are.
pub const EXPERIMENTS: [Experiment; 7] = [
    logp::EXPERIMENT,
    bandwidth::EXPERIMENT,
    permutations::EXPERIMENT,
    clients::EXPERIMENT,
    networks::SMALL,
    networks::LARGE,
    interface::EXPERIMENT,
];

impl Experiment {
    /// The one of this name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        EXPERIMENTS.iter().find(|experiment| experiment.name == name)
    }

    /// What is to be run.
    #[must_use]
    pub fn points(&self, effort: ExperimentEffort) -> Vec<ExperimentPoint> {
        (self.points)(effort)
    }

    /// What comes of what the points gave, in their order.
    #[must_use]
    pub fn conclude(
        &self,
        effort: ExperimentEffort,
        readings: &[PointMeasurement],
    ) -> ExperimentResult {
        (self.conclude)(effort, readings)
    }

    /// Runs it, one point after the other.
    ///
    /// # Errors
    /// A scenario that is built in does not hold together.
    pub fn run(&self, effort: ExperimentEffort) -> Result<ExperimentResult, ScenarioError> {
        let points = self.points(effort);
        let readings: Result<Vec<_>, _> = points.iter().map(|point| point.run(&|_| ())).collect();
        Ok(self.conclude(effort, &readings?))
    }
}

impl ExperimentEffort {
    /// One for each.
    pub(crate) fn choose<T>(self, full: T, quick: T) -> T {
        match self {
            Self::Full => full,
            Self::Quick => quick,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::scenario::Scenario;

    #[test]
    fn every_scenario_holds_together_and_is_called_by_its_own_name() {
        for experiment in &EXPERIMENTS {
            for effort in [ExperimentEffort::Full, ExperimentEffort::Quick] {
                let points = experiment.points(effort);
                let labels: BTreeSet<&str> =
                    points.iter().map(|point| point.label.as_str()).collect();
                assert!(!points.is_empty() && labels.len() == points.len(), "{}", experiment.name);
                for point in &points {
                    assert!(point.warm_up < point.duration, "{}", point.label);
                    if let Err(error) = Scenario::read(&point.label, &point.text()) {
                        panic!("{}: {error}", experiment.name);
                    }
                }
            }
        }
    }

    #[test]
    fn an_experiment_is_found_by_its_name() {
        let names: BTreeSet<&str> = EXPERIMENTS.iter().map(|experiment| experiment.name).collect();
        assert_eq!(names.len(), EXPERIMENTS.len());
        assert!(names.iter().all(|name| Experiment::find(name).is_some()));
        assert!(Experiment::find("none").is_none());
    }
}
