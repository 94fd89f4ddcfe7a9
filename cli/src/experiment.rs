//! `myriscope experiment`: published measurements, made again on the reference network.

mod csv;
mod json;
mod svg;
mod text;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use analyzer::render::{StyledLine, TextStyle};
use clap::builder::PossibleValuesParser;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use simulator::experiment::{
    EXPERIMENTS, Experiment, ExperimentEffort, ExperimentResult, PointMeasurement,
};
use simulator::scenario::ScenarioError;

use crate::args::{ExperimentArgs as Arguments, OutputFormat};
use crate::atomic_file::AtomicFile;
use crate::exit::{CliError, RunReport};
use crate::input::PROGRESS_DELAY;
use crate::output::StandardOutput;

/// All of them, one after the other.
const ALL: &str = "all";

/// An experiment and what came of it.
struct ExperimentOutcome {
    experiment: &'static Experiment,
    effort: ExperimentEffort,
    findings: ExperimentResult,
}

/// The names, for the command line.
pub(crate) fn names() -> PossibleValuesParser {
    let names = EXPERIMENTS.iter().map(|experiment| experiment.name);
    names.chain([ALL]).collect::<Vec<_>>().into()
}

pub(crate) fn run(
    arguments: &Arguments,
    output: &mut StandardOutput,
) -> Result<RunReport, CliError> {
    let Arguments { name, list: _, directory, format, quick } = arguments;
    let Some(name) = name else {
        list(output);
        return Ok(RunReport::default());
    };
    if let Some(directory) = directory {
        fs::create_dir_all(directory).map_err(|error| CliError::writing(directory, &error))?;
    }
    let effort = if *quick { ExperimentEffort::Quick } else { ExperimentEffort::Full };
    let mut outcomes = Vec::new();
    for experiment in EXPERIMENTS.iter().filter(|one| name == ALL || one.name == name) {
        let findings = measure(experiment, effort).map_err(|error| CliError::scenario(&error))?;
        let outcome = ExperimentOutcome { experiment, effort, findings };
        if let Some(directory) = directory {
            write(directory, &outcome)?;
        }
        match format {
            OutputFormat::Text => {
                if !outcomes.is_empty() {
                    output.line(&StyledLine::default());
                }
                text::print(&outcome, &mut |line| output.line(&line));
            }
            OutputFormat::Jsonl => output.json(&json::whole(&outcome), "\n"),
            OutputFormat::Json => {}
        }
        outcomes.push(outcome);
    }
    if *format == OutputFormat::Json {
        output.json(&json::all(&outcomes), "\n");
    }
    Ok(RunReport::default())
}

fn list(output: &mut StandardOutput) {
    let width = EXPERIMENTS.iter().map(|one| one.name.len()).max().unwrap_or(0);
    for experiment in &EXPERIMENTS {
        let name = StyledLine::of(TextStyle::Head, format!("{:<width$} ", experiment.name));
        output.line(&name.and(TextStyle::Plain, experiment.title));
    }
}

/// Runs all points, several at once. What comes of them does not depend on how many.
fn measure(
    experiment: &Experiment,
    effort: ExperimentEffort,
) -> Result<ExperimentResult, ScenarioError> {
    let points = experiment.points(effort);
    let progress = progress(points.iter().map(|point| point.duration).sum());
    let readings: Result<Vec<PointMeasurement>, ScenarioError> = points
        .par_iter()
        .map(|point| {
            point.run(&|periods| {
                if progress.elapsed() > PROGRESS_DELAY {
                    progress.inc(periods);
                } else {
                    // Counted, but not yet shown.
                    progress.update(|state| state.set_pos(state.pos() + periods));
                }
            })
        })
        .collect();
    progress.finish_and_clear();
    Ok(experiment.conclude(effort, &readings?))
}

/// The progress of an experiment, on a terminal.
fn progress(periods: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(periods), ProgressDrawTarget::stderr());
    // The template is a constant of this file.
    let style =
        ProgressStyle::with_template("{bar:30} {percent} %  {per_sec:0} periods  ETA {eta}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style);
    bar
}

/// Writes the files of an experiment: text, JSON, a CSV file for each table, an SVG for each picture.
fn write(directory: &Path, outcome: &ExperimentOutcome) -> Result<(), CliError> {
    let name = outcome.experiment.name;
    let ExperimentResult { figures, settings, tables, plots, notes: _ } = &outcome.findings;
    let path = |end: &str| directory.join(format!("{name}{end}"));
    let mut text = String::new();
    text::print(outcome, &mut |line| text += &format!("{line}\n"));
    let mut files: Vec<(PathBuf, String)> = vec![
        (path(".txt"), text),
        (path(".json"), json::line(outcome)),
        (path("-figures.csv"), csv::figures(figures)),
        (path("-settings.csv"), csv::settings(settings)),
    ];
    files.extend(
        tables.iter().map(|table| (path(&format!("-{}.csv", table.name)), csv::table(table))),
    );
    files.extend(plots.iter().map(|plot| (path(&format!("-{}.svg", plot.name)), svg::draw(plot))));
    files.iter().try_for_each(|(path, text)| put(path, text))
}

/// Writes a file: whole, or not at all.
fn put(path: &Path, text: &str) -> Result<(), CliError> {
    AtomicFile::create(path)
        .and_then(|mut target| {
            target.write_all(text.as_bytes())?;
            target.sync()?;
            target.commit()
        })
        .map_err(|error| CliError::writing(path, &error))
}
