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
use laws::failure::LawFailure;
use laws::storm::{MinimizedScenario, StormCounts, StormLaws, StormRunner, planned, shrunk, tried};
use simulator::scenario::{Scenario, UnwritableScenario};

use crate::args::StormArgs as Arguments;
use crate::atomic_file::AtomicFile;
use crate::exit::{CliError, RunReport};
use crate::input::PROGRESS_DELAY;
use crate::output::StandardOutput;
use crate::simulate;

/// Periods of the full rate in a second. §4.2
const PERIODS_PER_S: u64 = 80_000_000;

/// What a storm was, and what came of it.
struct StormOutcome {
    what: StormInput,
    counts: StormCounts,
    failure: Option<MinimizedViolation>,
    took: Duration,
}

/// At what it was looked.
enum StormInput {
    /// Networks of a seed.
    Storm(StormRunner),
    /// One of them.
    Network { seed: u64, number: u64 },
    /// One that a file says.
    Scenario(PathBuf),
}

/// A law that is broken.
struct MinimizedViolation {
    /// In which network of a seed.
    network: Option<u64>,
    broken: LawFailure,
    shrunk: MinimizedScenario,
    /// Where what is left was written.
    file: PathBuf,
}

pub(crate) fn run(
    arguments: &Arguments,
    output: &mut StandardOutput,
) -> Result<RunReport, CliError> {
    let Arguments { seed, scenario, network, directory, .. } = arguments;
    fs::create_dir_all(directory).map_err(|error| CliError::writing(directory, &error))?;
    let begin = Instant::now();
    let laws = if arguments.canary { StormLaws::Canary } else { StormLaws::All };
    let (what, counts, failure) = match (scenario, network) {
        (Some(path), _) => {
            let text = simulate::read(path)?;
            let scenario = Scenario::read(&path.display().to_string(), &text)
                .map_err(|error| CliError::scenario(&error))?;
            let (counts, broken) = run_one(&scenario, laws);
            (StormInput::Scenario(path.clone()), counts, broken.map(|it| (None, scenario, it)))
        }
        (None, Some(number)) => {
            let Some(scenario) = planned(*seed, *number, arguments.switches) else {
                return Err(CliError::message(format!("network {number} of seed {seed} is none")));
            };
            let (counts, broken) = run_one(&scenario, laws);
            let what = StormInput::Network { seed: *seed, number: *number };
            (what, counts, broken.map(|it| (Some(*number), scenario, it)))
        }
        (None, None) => {
            let front = front(arguments, laws);
            let ended = run_with_progress(&front);
            let failure = ended.failure.map(|it| (Some(it.number), it.scenario, it.broken));
            (StormInput::Storm(front), ended.counts, failure)
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
            minimize(found, laws, arguments.tries, &directory.join(name))
        })
        .transpose()?;
    let outcome = StormOutcome { what, counts, failure, took };
    let mut report = RunReport::default();
    if outcome.failure.is_some() {
        report.problem_found();
    }
    match arguments.format {
        crate::args::OutputFormat::Text => text::print(&outcome, &mut |line| output.line(&line)),
        crate::args::OutputFormat::Json | crate::args::OutputFormat::Jsonl => {
            output.json(&json::row(&outcome), "\n");
        }
    }
    Ok(report)
}

fn front(arguments: &Arguments, laws: StormLaws) -> StormRunner {
    let Arguments { seed, minutes, jobs, switches, .. } = arguments;
    let all = available_parallelism().map_or(1, Into::into);
    let jobs = jobs.map_or(all, |jobs| usize::try_from(jobs).unwrap_or(all));
    StormRunner { seed: *seed, periods: minutes.periods(), switches: *switches, jobs, laws }
}

/// One network alone.
fn run_one(scenario: &Scenario, laws: StormLaws) -> (StormCounts, Option<LawFailure>) {
    match tried(scenario, laws) {
        Ok(counts) => (counts, None),
        Err(broken) => (StormCounts::default(), Some(broken)),
    }
}

/// A storm, with its progress on a terminal.
fn run_with_progress(front: &StormRunner) -> laws::storm::StormResult {
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
        if bar.elapsed() > PROGRESS_DELAY {
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
fn minimize(
    (network, scenario, broken): (Option<u64>, &Scenario, LawFailure),
    laws: StormLaws,
    most: u32,
    file: &Path,
) -> Result<MinimizedViolation, CliError> {
    let bar = ProgressBar::with_draw_target(Some(most.into()), ProgressDrawTarget::stderr());
    // The template is a constant of this file.
    let style = ProgressStyle::with_template("{bar:30} {pos} of {len} smaller networks tried")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style);
    let shrunk = shrunk(scenario, &broken, laws, most, &|tries| bar.set_position(tries.into()));
    bar.finish_and_clear();
    let text = shrunk.scenario.write();
    // What is not sayable comes near at least.
    let text = text.unwrap_or_else(|error: UnwritableScenario| error.text().to_owned());
    let mut head = format!("# {}\n", broken.place);
    shrunk.broken.text.lines().for_each(|line| head += &format!("# {line}\n"));
    let head = head.replace(|c: char| c.is_control() && c != '\n', " ");
    AtomicFile::create(file)
        .and_then(|mut target| {
            target.write_all(head.as_bytes())?;
            target.write_all(text.as_bytes())?;
            target.sync()?;
            target.commit()
        })
        .map_err(|error| CliError::writing(file, &error))?;
    Ok(MinimizedViolation { network, broken, shrunk, file: file.to_owned() })
}
