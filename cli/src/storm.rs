//! `myriscope storm`: random networks in bad weather, held to all laws; the first that breaks one is made
//! small and written down.

mod json;
mod text;

use std::fmt;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use laws::caught::Broken;
use laws::storm::{Counts, Front, Laws, Shrunk, planned, shrunk, tried};
use simulator::scenario::{Scenario, Unwritable};

use crate::args::Storm as Arguments;
use crate::files::QUIET;
use crate::output::Output;
use crate::report::{Failure, Report};
use crate::simulate;
use crate::target::Target;

/// Periods of the full rate in a second. §4.2
const PERIODS_PER_S: u64 = 80_000_000;

/// What a storm was, and what came of it.
struct Outcome {
    what: Looked,
    counts: Counts,
    failure: Option<Found>,
    took: Duration,
}

/// At what it was looked.
enum Looked {
    /// Networks of a seed.
    Storm(Front),
    /// One of them.
    Network { seed: u64, number: u64 },
    /// One that a file says.
    Scenario(PathBuf),
}

/// A law that is broken.
struct Found {
    /// In which network of a seed.
    network: Option<u64>,
    broken: Broken,
    shrunk: Shrunk,
    /// Where what is left was written.
    file: PathBuf,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Report, Failure> {
    let Arguments { seed, scenario, network, directory, .. } = arguments;
    fs::create_dir_all(directory).map_err(|error| Failure::writing(directory, &error))?;
    let begin = Instant::now();
    let laws = if arguments.canary { Laws::Canary } else { Laws::All };
    let (what, counts, failure) = match (scenario, network) {
        (Some(path), _) => {
            let text = simulate::read(path)?;
            let scenario = Scenario::read(&path.display().to_string(), &text)
                .map_err(|error| Failure::scenario(&error))?;
            let (counts, broken) = alone(&scenario, laws);
            (Looked::Scenario(path.clone()), counts, broken.map(|it| (None, scenario, it)))
        }
        (None, Some(number)) => {
            let Some(scenario) = planned(*seed, *number, arguments.switches) else {
                return Err(Failure::told(format!("network {number} of seed {seed} is none")));
            };
            let (counts, broken) = alone(&scenario, laws);
            let what = Looked::Network { seed: *seed, number: *number };
            (what, counts, broken.map(|it| (Some(*number), scenario, it)))
        }
        (None, None) => {
            let front = front(arguments, laws);
            let ended = watched(&front);
            let failure = ended.failure.map(|it| (Some(it.number), it.scenario, it.broken));
            (Looked::Storm(front), ended.counts, failure)
        }
    };
    let took = begin.elapsed();
    let failure = failure
        .map(|(network, scenario, broken)| {
            let name = match network {
                Some(number) => format!("storm-{seed}-{number}.toml"),
                None => "storm-scenario.toml".to_owned(),
            };
            let found = (network, &scenario, broken);
            smallest(found, laws, arguments.tries, &directory.join(name))
        })
        .transpose()?;
    let outcome = Outcome { what, counts, failure, took };
    let mut report = Report::default();
    if outcome.failure.is_some() {
        report.found_wrong();
    }
    match arguments.format {
        crate::args::Format::Text => text::print(&outcome, &mut |line| output.line(&line)),
        crate::args::Format::Json | crate::args::Format::Jsonl => {
            output.json(&json::row(&outcome), "\n");
        }
    }
    Ok(report)
}

fn front(arguments: &Arguments, laws: Laws) -> Front {
    let Arguments { seed, minutes, jobs, switches, .. } = arguments;
    let all = available_parallelism().map_or(1, Into::into);
    let jobs = jobs.map_or(all, |jobs| usize::try_from(jobs).unwrap_or(all));
    Front { seed: *seed, periods: minutes.periods(), switches: *switches, jobs, laws }
}

/// One network alone.
fn alone(scenario: &Scenario, laws: Laws) -> (Counts, Option<Broken>) {
    match tried(scenario, laws) {
        Ok(counts) => (counts, None),
        Err(broken) => (Counts::default(), Some(broken)),
    }
}

/// A storm, with its progress on a terminal.
fn watched(front: &Front) -> laws::storm::Ended {
    let bar = ProgressBar::with_draw_target(Some(front.periods), ProgressDrawTarget::stderr());
    let time = |state: &ProgressState, out: &mut dyn fmt::Write| {
        let seconds = |periods: u64| periods / PERIODS_PER_S;
        let all = seconds(state.len().unwrap_or(0));
        // Nobody can be told that a line could not be drawn.
        let _ = write!(out, "{} of {all} simulated s", seconds(state.pos()).min(all));
    };
    // The template is a constant of this file.
    let style = ProgressStyle::with_template("{bar:30} {time}  ETA {eta}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.with_key("time", time));
    let ended = front.run(&|counts| {
        if bar.elapsed() > QUIET {
            bar.inc(counts.periods);
        } else {
            // Counted, but not yet shown.
            bar.update(|state| state.set_pos(state.pos() + counts.periods));
        }
    });
    bar.finish_and_clear();
    ended
}

/// Makes a network small that breaks a law, and writes it down.
fn smallest(
    (network, scenario, broken): (Option<u64>, &Scenario, Broken),
    laws: Laws,
    most: u32,
    file: &Path,
) -> Result<Found, Failure> {
    let bar = ProgressBar::with_draw_target(Some(most.into()), ProgressDrawTarget::stderr());
    // The template is a constant of this file.
    let style = ProgressStyle::with_template("{bar:30} {pos} of {len} smaller networks tried")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style);
    let shrunk = shrunk(scenario, &broken, laws, most, &|tries| bar.set_position(tries.into()));
    bar.finish_and_clear();
    let text = shrunk.scenario.write();
    // What is not sayable comes near at least.
    let text = text.unwrap_or_else(|error: Unwritable| error.text().to_owned());
    let mut head = format!("# {}\n", broken.place);
    shrunk.broken.text.lines().for_each(|line| head += &format!("# {line}\n"));
    let head = head.replace(|c: char| c.is_control() && c != '\n', " ");
    Target::create(file)
        .and_then(|mut target| {
            target.write_all(head.as_bytes())?;
            target.write_all(text.as_bytes())?;
            target.settle()?;
            target.keep()
        })
        .map_err(|error| Failure::writing(file, &error))?;
    Ok(Found { network, broken, shrunk, file: file.to_owned() })
}
