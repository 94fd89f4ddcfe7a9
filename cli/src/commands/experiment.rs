//! `myriscope experiment`: published measurements, repeated on the reference network.

mod json;
pub(crate) mod text;

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use analyzer::render::{StyledLine, TextStyle};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use simulator::experiment::result_table::{CalibratedSetting, PublishedFigure, ResultTable};
use simulator::experiment::{
    EXPERIMENTS, Experiment, ExperimentEffort, ExperimentResult, PointMeasurement,
};
use simulator::scenario::ScenarioError;

use crate::args::{ExperimentArgs, OutputFormat};
use crate::atomic_file::write_files;
use crate::catalog::ALL_EXPERIMENTS;
use crate::exit::{CliError, CommandResult, RunReport};
use crate::output::StandardOutput;
use crate::rows::ValueSeparator;
use crate::{interrupt, plot, progress};

struct ExperimentOutcome {
    experiment: &'static Experiment,
    effort: ExperimentEffort,
    findings: ExperimentResult,
}

pub(crate) fn run(arguments: &ExperimentArgs, output: &mut StandardOutput) -> CommandResult {
    let ExperimentArgs { name, list: _, directory, format, quick } = arguments;
    let Some(name) = name else {
        list(output);
        return Ok(RunReport::default());
    };
    interrupt::handle();
    if let Some(directory) = directory {
        fs::create_dir_all(directory).map_err(|error| CliError::writing(directory, &error))?;
    }
    let effort = if *quick { ExperimentEffort::Quick } else { ExperimentEffort::Full };
    let mut outcomes = Vec::new();
    for experiment in EXPERIMENTS.iter().filter(|one| name == ALL_EXPERIMENTS || one.name == *name)
    {
        let findings = measure(experiment, effort).map_err(|error| CliError::scenario(&error))?;
        if interrupt::is_pressed() {
            let text = format!("{} during {}", interrupt::error(), experiment.name);
            return Err(CliError::Message(text));
        }
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
    for experiment in EXPERIMENTS.iter() {
        let name = StyledLine::of(TextStyle::Head, format!("{:<width$} ", experiment.name));
        output.line(&name.and(TextStyle::Plain, &experiment.title));
    }
}

/// Runs all points in parallel, up to Ctrl-C. The result does not depend on the number of threads.
fn measure(
    experiment: &'static Experiment,
    effort: ExperimentEffort,
) -> Result<ExperimentResult, ScenarioError> {
    let points = experiment.points(effort);
    let periods: u64 = points.iter().map(|point| point.duration).sum();
    let style = progress::style("{bar:30} {percent} %  {per_sec:0} periods  ETA {eta}");
    let bar = progress::bar(periods, style);
    let advance = |periods| {
        progress::advance(&bar, periods);
        if interrupt::is_pressed() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let readings: Result<Vec<PointMeasurement>, ScenarioError> =
        points.par_iter().map(|point| point.run(&advance)).collect();
    bar.finish_and_clear();
    Ok(experiment.conclude(effort, &readings?))
}

/// Writes the files of an experiment: text, JSON, a CSV file per table and an SVG file per plot.
fn write(directory: &Path, outcome: &ExperimentOutcome) -> Result<(), CliError> {
    let name = &outcome.experiment.name;
    let ExperimentResult { figures, settings, tables, plots } = &outcome.findings;
    let path = |end: &str| directory.join(format!("{name}{end}"));
    let values = |table: &ResultTable| ValueSeparator::Comma.table(table);
    let mut text = String::new();
    text::print(outcome, &mut |line| text += &format!("{line}\n"));
    let mut files: Vec<(PathBuf, String)> = vec![
        (path(".txt"), text),
        (path(".json"), json::line(outcome)),
        (path("-figures.csv"), values(&PublishedFigure::table(figures))),
        (path("-settings.csv"), values(&CalibratedSetting::table(settings))),
    ];
    files.extend(tables.iter().map(|table| (path(&format!("-{}.csv", table.name)), values(table))));
    files.extend(plots.iter().map(|plot| (path(&format!("-{}.svg", plot.name)), plot::draw(plot))));
    write_files(files.iter().map(|(path, text)| (path.as_path(), text.as_bytes())))
}
