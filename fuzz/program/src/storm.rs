//! `storm`: random networks with faults, all laws checked on each; the first that breaks one is minimized and
//! written to a file.

mod json;
mod text;

use std::fmt;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use laws::failure::LawFailure;
use laws::storm::{
    MinimizedScenario, StormCounts, StormLaws, StormResult, StormRunner, draft, shrunk, tried,
};
use simulator::scenario::{ErrorStyle, Scenario, limits};

use crate::OutputFormat;
use crate::arguments::{SimulatedMinutes, StormArgs};
use crate::interrupt;
use crate::output::{LawsError, LawsOutput, read, write};

/// Periods of the full rate in a second. §4.2
const PERIODS_PER_S: u64 = 80_000_000;

/// Time after which progress is shown.
const PROGRESS_DELAY: Duration = Duration::from_millis(500);

/// A storm and its result.
struct StormOutcome {
    input: StormInput,
    counts: StormCounts,
    failure: Option<MinimizedViolation>,
    took: Duration,
    end: StormEnd,
}

/// End of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StormEnd {
    Complete,
    CtrlC,
}

/// The networks that are checked.
enum StormInput {
    /// All networks of a seed.
    Storm(StormRunner),
    /// One network of a seed.
    Network { seed: u64, number: u64 },
    /// The network of a scenario file.
    Scenario(PathBuf),
}

/// A broken law.
struct MinimizedViolation {
    /// Number of the network, if it is of a seed.
    network: Option<u64>,
    broken: LawFailure,
    shrunk: MinimizedScenario,
    /// File of the minimized network.
    file: PathBuf,
}

pub(crate) fn run(arguments: &StormArgs) -> Result<LawsOutput, LawsError> {
    let StormArgs { seed, scenario, network, directory, .. } = arguments;
    fs::create_dir_all(directory).map_err(|error| LawsError::file(directory, &error))?;
    let begin = Instant::now();
    let laws = if arguments.canary { StormLaws::Canary } else { StormLaws::All };
    let (input, counts, failure) = match (scenario, network) {
        (Some(path), _) => {
            let (text, scenario) = read_scenario(path)?;
            let (counts, broken) = run_one(&scenario, laws);
            (StormInput::Scenario(path.clone()), counts, broken.map(|it| (None, text, it)))
        }
        (None, Some(number)) => {
            let Some(draft) = draft(*seed, *number, arguments.switches) else {
                let text = format!("seed {seed} has no network {number}");
                return Err(LawsError::Message(text));
            };
            let (counts, broken) = run_one(&draft.scenario(), laws);
            let input = StormInput::Network { seed: *seed, number: *number };
            (input, counts, broken.map(|it| (Some(*number), draft.text(), it)))
        }
        (None, None) => {
            let runner = runner(arguments, laws);
            interrupt::handle();
            let end = arguments.time.and_then(|time| begin.checked_add(time));
            let is_over =
                || interrupt::is_pressed() || end.is_some_and(|end| Instant::now() >= end);
            let ended = run_with_progress(&runner, &is_over);
            let failure = ended.failure.map(|it| (Some(it.number), it.text, it.broken));
            (StormInput::Storm(runner), ended.counts, failure)
        }
    };
    let took = begin.elapsed();
    let end = if interrupt::is_pressed() { StormEnd::CtrlC } else { StormEnd::Complete };
    let failure = failure.map(|(network, text, broken)| {
        let name = match network {
            Some(number) => {
                let switches = arguments.switches.map(|count| format!("-switches{count}"));
                format!("storm-{seed}{}-{number}.toml", switches.unwrap_or_default())
            }
            None => "storm-scenario.toml".to_owned(),
        };
        minimize((network, &text, broken), laws, arguments.tries, &directory.join(name))
    });
    let outcome = StormOutcome { input, counts, failure: failure.transpose()?, took, end };
    let mut output = LawsOutput::default();
    output.status = outcome.failure.is_some().into();
    if outcome.end == StormEnd::CtrlC && output.status == 0 {
        output.status = interrupt::INTERRUPTED;
    }
    match arguments.format {
        OutputFormat::Text => text::print(&outcome, &mut |line| output.line(&line)),
        OutputFormat::Json | OutputFormat::Jsonl => {
            let row = serde_json::to_string(&json::row(&outcome));
            output.text(&row.map_err(|error| LawsError::Message(error.to_string()))?);
        }
    }
    Ok(output)
}

impl StormArgs {
    /// Arguments that check the network of a scenario file.
    pub(crate) fn of_scenario(path: &Path, directory: Option<&Path>) -> Self {
        Self {
            seed: 1,
            minutes: None,
            time: None,
            jobs: None,
            switches: None,
            directory: directory.unwrap_or(Path::new(".")).to_owned(),
            tries: 400,
            network: None,
            scenario: Some(path.to_owned()),
            canary: false,
            format: OutputFormat::Text,
        }
    }
}

/// The text of a scenario file, and its scenario.
fn read_scenario(path: &Path) -> Result<(String, Scenario), LawsError> {
    let text = String::from_utf8(read(path, limits::TEXT_MAX as u64)?)
        .map_err(|_| LawsError::file(path, &"not UTF-8"))?;
    let scenario = Scenario::read(&path.display().to_string(), &text)
        .map_err(|error| LawsError::Rendered(error.render(ErrorStyle::Coloured)))?;
    Ok((text, scenario))
}

fn runner(arguments: &StormArgs, laws: StormLaws) -> StormRunner {
    let StormArgs { seed, minutes, time, jobs, switches, .. } = arguments;
    let all = available_parallelism().map_or(1, Into::into);
    let jobs = jobs.map_or(all, |jobs| usize::try_from(jobs).unwrap_or(all));
    let minute = time.is_none().then_some(SimulatedMinutes::ONE);
    let periods = minutes.or(minute).map(SimulatedMinutes::periods);
    StormRunner { seed: *seed, periods, switches: *switches, jobs, laws }
}

fn run_one(scenario: &Scenario, laws: StormLaws) -> (StormCounts, Option<LawFailure>) {
    match tried(scenario, laws) {
        Ok(counts) => (counts, None),
        Err(broken) => (StormCounts::default(), Some(broken)),
    }
}

/// Runs a storm, with a progress bar on a terminal.
fn run_with_progress(runner: &StormRunner, is_over: &(dyn Fn() -> bool + Sync)) -> StormResult {
    let bar = ProgressBar::with_draw_target(runner.periods, ProgressDrawTarget::stderr());
    let time = |state: &ProgressState, out: &mut dyn fmt::Write| {
        let seconds = |periods: u64| periods / PERIODS_PER_S;
        let done = seconds(state.pos());
        // A progress line that cannot be drawn is lost.
        let _ = match state.len() {
            Some(all) => write!(out, "{} of {} simulated s", done.min(seconds(all)), seconds(all)),
            None => write!(out, "{done} simulated s in {} s", state.elapsed().as_secs()),
        };
    };
    // The template is a constant of this file.
    let template = match runner.periods {
        Some(_) => "{bar:30} {time}  ETA {eta}",
        None => "{spinner} {time}",
    };
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.with_key("time", time));
    let ended = runner.run(is_over, &|counts| {
        if bar.elapsed() > PROGRESS_DELAY {
            bar.inc(counts.periods);
        } else {
            // Counted, not yet shown.
            bar.update(|state| state.set_pos(state.pos() + counts.periods));
        }
    });
    bar.finish_and_clear();
    ended
}

/// Minimizes a network that breaks a law up to Ctrl-C. Its file is written whenever it has become smaller.
fn minimize(
    (network, text, broken): (Option<u64>, &str, LawFailure),
    laws: StormLaws,
    most: u32,
    file: &Path,
) -> Result<MinimizedViolation, LawsError> {
    let bar = ProgressBar::with_draw_target(Some(most.into()), ProgressDrawTarget::stderr());
    // The template is a constant of this file.
    let style = ProgressStyle::with_template("{bar:30} {pos} of {len} smaller networks tried")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style);
    let (mut last, mut written) = (String::new(), Ok(()));
    let shrunk = shrunk(text, &broken, laws, &mut |least| {
        bar.set_position(least.tries.into());
        if least.text != last {
            last.clone_from(&least.text);
            written = write(&[(file.to_owned(), commented(least).into_bytes())]);
        }
        if least.tries < most && !interrupt::is_pressed() && written.is_ok() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    bar.finish_and_clear();
    written?;
    let shrunk = shrunk.map_err(|error| LawsError::Message(error.to_string()))?;
    Ok(MinimizedViolation { network, broken, shrunk, file: file.to_owned() })
}

/// The file of a network, below the law that it breaks.
fn commented(network: &MinimizedScenario) -> String {
    let mut head = format!("# {}\n", network.broken.place);
    network.broken.text.lines().for_each(|line| head += &format!("# {line}\n"));
    head.replace(|c: char| c.is_control() && c != '\n', " ") + &network.text
}
