//! `myriscope experiment`: published measurements, made again on the reference network.

mod csv;
mod json;
mod svg;
mod text;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use analyzer::text::{Line, Role};
use clap::builder::PossibleValuesParser;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use simulator::experiment::{EXPERIMENTS, Effort, Experiment, Findings, Reading};
use simulator::scenario::ScenarioError;

use crate::args::{Experiment as Arguments, Format};
use crate::files::QUIET;
use crate::output::Output;
use crate::report::{Failure, Report};
use crate::target::Target;

/// All of them, one after the other.
const ALL: &str = "all";

/// An experiment and what came of it.
struct Outcome {
    experiment: &'static Experiment,
    effort: Effort,
    findings: Findings,
}

/// The names, for the command line.
pub(crate) fn names() -> PossibleValuesParser {
    let names = EXPERIMENTS.iter().map(|experiment| experiment.name);
    names.chain([ALL]).collect::<Vec<_>>().into()
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Report, Failure> {
    let Arguments { name, list: _, directory, format, quick } = arguments;
    let Some(name) = name else {
        list(output);
        return Ok(Report::default());
    };
    if let Some(directory) = directory {
        fs::create_dir_all(directory).map_err(|error| Failure::writing(directory, &error))?;
    }
    let effort = if *quick { Effort::Quick } else { Effort::Full };
    let mut outcomes = Vec::new();
    for experiment in EXPERIMENTS.iter().filter(|one| name == ALL || one.name == name) {
        let findings = measure(experiment, effort).map_err(|error| Failure::scenario(&error))?;
        let outcome = Outcome { experiment, effort, findings };
        if let Some(directory) = directory {
            write(directory, &outcome)?;
        }
        match format {
            Format::Text => {
                if !outcomes.is_empty() {
                    output.line(&Line::default());
                }
                text::print(&outcome, &mut |line| output.line(&line));
            }
            Format::Jsonl => output.json(&json::whole(&outcome), "\n"),
            Format::Json => {}
        }
        outcomes.push(outcome);
    }
    if *format == Format::Json {
        output.json(&json::all(&outcomes), "\n");
    }
    Ok(Report::default())
}

fn list(output: &mut Output) {
    let width = EXPERIMENTS.iter().map(|one| one.name.len()).max().unwrap_or(0);
    for experiment in &EXPERIMENTS {
        let name = Line::of(Role::Head, format!("{:<width$} ", experiment.name));
        output.line(&name.and(Role::Plain, experiment.title));
    }
}

/// Runs all points, several at once. What comes of them does not depend on how many.
fn measure(experiment: &Experiment, effort: Effort) -> Result<Findings, ScenarioError> {
    let points = experiment.points(effort);
    let progress = progress(points.iter().map(|point| point.duration).sum());
    let readings: Result<Vec<Reading>, ScenarioError> = points
        .par_iter()
        .map(|point| {
            point.run(&|periods| {
                if progress.elapsed() > QUIET {
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
fn write(directory: &Path, outcome: &Outcome) -> Result<(), Failure> {
    let name = outcome.experiment.name;
    let Findings { figures, settings, tables, plots, notes: _ } = &outcome.findings;
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
fn put(path: &Path, text: &str) -> Result<(), Failure> {
    Target::create(path)
        .and_then(|mut target| {
            target.write_all(text.as_bytes())?;
            target.settle()?;
            target.keep()
        })
        .map_err(|error| Failure::writing(path, &error))
}
