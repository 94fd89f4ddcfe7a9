//! Experiments: published measurements, reproduced on the reference network.
//!
//! An experiment is a list of points, each a network that is simulated separately, and an
//! evaluation: tables, and figures compared with the published ones. Points are independent and may
//! run in any order or in parallel. The result depends only on the experiment and the
//! [`ExperimentEffort`].

mod atomic;
mod bandwidth;
mod calibration;
mod clients;
mod cut_through;
mod degree;
mod interface;
mod logp;
mod mapping;
mod measure;
mod mesh;
mod multicast;
mod networks;
mod permutations;
pub mod plot;
pub mod result_table;
mod series;

use std::ops::ControlFlow;

use crate::scenario::ScenarioError;

pub use self::measure::{
    EndpointActivity, ExperimentPoint, HostActivity, HostReceived, MetricKind, PacketLatency,
    PointMeasurement,
};
use self::plot::PlotSpec;
use self::result_table::{CalibratedSetting, PublishedFigure, ResultTable};

/// Experiment with its points and evaluation.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// Name on the command line.
    pub name: &'static str,
    /// One-line summary.
    pub title: &'static str,
    /// Description of the measurement, a few lines.
    pub text: &'static str,
    points: fn(ExperimentEffort) -> Vec<ExperimentPoint>,
    conclude: fn(ExperimentEffort, &[PointMeasurement]) -> ExperimentResult,
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
    /// Remarks for the reader.
    pub notes: &'static [&'static str],
}

/// All experiments.
pub const EXPERIMENTS: [Experiment; 13] = [
    logp::EXPERIMENT,
    bandwidth::EXPERIMENT,
    permutations::EXPERIMENT,
    clients::EXPERIMENT,
    networks::SMALL,
    networks::LARGE,
    interface::EXPERIMENT,
    mapping::EXPERIMENT,
    atomic::EXPERIMENT,
    cut_through::EXPERIMENT,
    degree::EXPERIMENT,
    multicast::EXPERIMENT,
    mesh::EXPERIMENT,
];

impl Experiment {
    /// Finds an experiment by its name.
    pub fn find(name: &str) -> Option<&'static Self> {
        EXPERIMENTS.iter().find(|experiment| experiment.name == name)
    }

    /// Points to run.
    pub fn points(&self, effort: ExperimentEffort) -> Vec<ExperimentPoint> {
        (self.points)(effort)
    }

    /// Evaluates the measurements of all points, given in the points' order.
    pub fn conclude(
        &self,
        effort: ExperimentEffort,
        readings: &[PointMeasurement],
    ) -> ExperimentResult {
        (self.conclude)(effort, readings)
    }

    /// Runs all points sequentially.
    ///
    /// # Errors
    /// A built-in scenario is invalid.
    pub fn run(&self, effort: ExperimentEffort) -> Result<ExperimentResult, ScenarioError> {
        let points = self.points(effort);
        let readings: Result<Vec<_>, _> =
            points.iter().map(|point| point.run(&|_| ControlFlow::Continue(()))).collect();
        Ok(self.conclude(effort, &readings?))
    }
}

impl ExperimentEffort {
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
