//! Results of experiments as JSON.

use serde::Serialize;
use simulator::experiment::ExperimentEffort;
use simulator::experiment::result_table::{CalibratedSetting, PublishedFigure, ResultTable};

use super::ExperimentOutcome;

#[derive(Serialize)]
pub(super) struct ExperimentsJson<'a> {
    experiments: Vec<ExperimentJson<'a>>,
}

#[derive(Serialize)]
pub(super) struct ExperimentJson<'a> {
    experiment: &'a str,
    title: &'a str,
    effort: &'a str,
    figures: ResultTable,
    settings: ResultTable,
    tables: Vec<TableJson<'a>>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct TableJson<'a> {
    table: &'a str,
    title: &'a str,
    rows: &'a ResultTable,
}

pub(super) fn all(outcomes: &[ExperimentOutcome]) -> ExperimentsJson<'_> {
    ExperimentsJson { experiments: outcomes.iter().map(whole).collect() }
}

pub(super) fn whole(outcome: &ExperimentOutcome) -> ExperimentJson<'_> {
    let ExperimentOutcome { experiment, effort, findings } = outcome;
    let tables = findings.tables.iter();
    ExperimentJson {
        experiment: experiment.name,
        title: &experiment.title,
        effort: match effort {
            ExperimentEffort::Full => "full",
            ExperimentEffort::Quick => "quick",
        },
        figures: PublishedFigure::table(&findings.figures),
        settings: CalibratedSetting::table(&findings.settings),
        tables: tables
            .map(|rows| TableJson { table: rows.name, title: &rows.title, rows })
            .collect(),
        notes: &experiment.notes,
    }
}

/// One experiment as a line. Serialization of these types cannot fail.
pub(super) fn line(outcome: &ExperimentOutcome) -> String {
    serde_json::to_string(&whole(outcome)).map_or_else(|_| String::new(), |line| line + "\n")
}
