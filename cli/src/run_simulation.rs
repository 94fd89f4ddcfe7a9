//! Running a scenario and writing its capture and truth.

use std::fmt;
use std::fs;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use codec::capture::{ByteOrder, CaptureWriter};
use indicatif::{ProgressBar, ProgressState};
use simulator::network::{Network, SimulationEngine, VisitOrder};
use simulator::scenario::Scenario;
use simulator::truth::{TraceLevel, TruthEvent};

use crate::atomic_file::{AtomicFile, commit_all};
use crate::exit::{CliError, is_standard, print_error};
use crate::{interrupt, progress};

/// Periods between two flushes of events and records. *Chosen*: few enough to keep in memory.
const SLICE: u64 = 1 << 10;
/// Periods of the full rate in a microsecond. §4.2
const PERIODS_PER_US: u64 = 80;

/// Files of a run, as named on the command line.
pub(crate) struct RunPaths<'a> {
    /// The scenario, which no output may overwrite.
    pub(crate) scenario: Option<&'a Path>,
    pub(crate) capture: Option<&'a Path>,
    pub(crate) truth: Option<&'a Path>,
    pub(crate) statistics: Option<&'a Path>,
    /// Kinds of events in the truth, as on the command line.
    pub(crate) truth_kinds: &'a [String],
    pub(crate) engine: SimulationEngine,
}

/// True for a kind of event in a list of kinds. One behind `!` is left out; without others, the list has
/// all kinds.
fn includes(kinds: &[String], name: &str) -> bool {
    let is_left_out = kinds.iter().any(|kind| kind.strip_prefix('!') == Some(name));
    let are_all = kinds.iter().all(|kind| kind.starts_with('!'));
    !is_left_out && (are_all || kinds.iter().any(|kind| kind == name))
}

/// Open output files of a run, with their paths for error messages.
#[derive(Debug)]
pub(crate) struct OutputFiles<'a> {
    capture: Option<(PathBuf, CaptureWriter<AtomicFile>)>,
    truth: Option<(PathBuf, BufWriter<AtomicFile>)>,
    statistics: Option<(PathBuf, AtomicFile)>,
    truth_kinds: &'a [String],
}

/// A run that has ended, with its files, which are not in their places yet.
pub(crate) struct EndedRun<'a> {
    pub(crate) network: Network,
    /// None if Ctrl-C ended the run before its end.
    pub(crate) files: Option<OutputFiles<'a>>,
}

/// Runs a scenario to its end, or until Ctrl-C. If it does not end or a file cannot be written, no file is
/// left.
pub(crate) fn run_scenario<'a>(
    scenario: &Scenario,
    level: TraceLevel,
    paths: &RunPaths<'a>,
    observe: &mut dyn FnMut(&TruthEvent),
) -> Result<EndedRun<'a>, CliError> {
    interrupt::handle();
    let mut network = Network::new(scenario, level, VisitOrder::AsGiven);
    let mut files = OutputFiles::create(paths, &network)?;
    let progress = bar(scenario.duration);
    while network.now() < scenario.duration && !interrupt::is_pressed() {
        let until = network.now().saturating_add(SLICE).min(scenario.duration);
        network.run_with(paths.engine, until);
        files.write_events(scenario, &mut network, observe)?;
        if network.needs_flush() {
            files.record(&mut network)?;
        }
        if progress::is_due(&progress) {
            progress.set_position(network.now());
        }
    }
    progress.finish_and_clear();
    let is_complete = network.now() >= scenario.duration;
    network.finish();
    files.write_events(scenario, &mut network, observe)?;
    if is_complete {
        files.record(&mut network)?;
    } else {
        let (now, all) = (network.now() / PERIODS_PER_US, scenario.duration / PERIODS_PER_US);
        let written = if paths.outputs().next().is_some() { ": no file is written" } else { "" };
        print_error(&format!("{} after {now} of {all} µs{written}", interrupt::error()));
    }
    Ok(EndedRun { network, files: is_complete.then_some(files) })
}

impl RunPaths<'_> {
    pub(crate) fn outputs(&self) -> impl Iterator<Item = &Path> {
        [self.capture, self.truth, self.statistics].into_iter().flatten()
    }

    /// Refuses one file for two purposes, and a capture on a terminal.
    fn check(&self) -> Result<(), CliError> {
        let others = |at: usize| self.outputs().skip(at + 1);
        let is_twice = |(at, path): &(usize, &Path)| others(*at).any(|other| is_same(path, other));
        if let Some((_, path)) = self.outputs().enumerate().find(is_twice) {
            return Err(CliError::writing(path, &"named for two outputs"));
        }
        let scenario = self.scenario.filter(|path| !is_standard(path));
        let lost = |path: &&Path| scenario.is_some_and(|scenario| is_same(scenario, path));
        if let Some(path) = self.outputs().find(lost) {
            return Err(CliError::writing(path, &"the scenario would be overwritten"));
        }
        self.capture.map_or(Ok(()), refuse_terminal)
    }
}

/// Refuses to write a capture over an input, a capture or a recording, or to a terminal.
pub(crate) fn check_output<'a>(
    input: &str,
    mut files: impl Iterator<Item = &'a Path>,
    output: &Path,
) -> Result<(), CliError> {
    if !is_standard(output) && files.any(|file| is_same(file, output)) {
        return Err(CliError::writing(output, &format!("the {input} would be overwritten")));
    }
    refuse_terminal(output)
}

/// Refuses to write a capture to a terminal.
pub(crate) fn refuse_terminal(capture: &Path) -> Result<(), CliError> {
    if is_standard(capture) && io::stdout().is_terminal() {
        let what = "refusing to write a capture to a terminal: name a file or use a pipe";
        return Err(CliError::writing(capture, &what));
    }
    Ok(())
}

/// True if two paths name one regular file. Pipes and devices may be named twice.
pub(crate) fn is_same(a: &Path, b: &Path) -> bool {
    match (fs::canonicalize(a), fs::canonicalize(b)) {
        (Ok(a), Ok(b)) => a == b && a.is_file(),
        (Err(_), _) | (_, Err(_)) => a == b,
    }
}

impl<'a> OutputFiles<'a> {
    fn create(paths: &RunPaths<'a>, network: &Network) -> Result<Self, CliError> {
        paths.check()?;
        let capture =
            paths.capture.map(|path| Ok((path, AtomicFile::create(path)?))).transpose()?;
        let truth = |path: &Path| Ok((path.into(), BufWriter::new(AtomicFile::create(path)?)));
        let truth = paths.truth.map(truth).transpose()?;
        let writer = |(path, file): (&Path, AtomicFile)| {
            let writer = CaptureWriter::new(file, ByteOrder::Little, network.channels());
            Ok((path.into(), writer.map_err(|error| CliError::writing(path, &error))?))
        };
        let statistics = |path: &Path| Ok((path.into(), AtomicFile::create(path)?));
        let statistics = paths.statistics.map(statistics).transpose()?;
        let truth_kinds = paths.truth_kinds;
        Ok(Self { capture: capture.map(writer).transpose()?, truth, statistics, truth_kinds })
    }

    fn write_events(
        &mut self,
        scenario: &Scenario,
        network: &mut Network,
        observe: &mut dyn FnMut(&TruthEvent),
    ) -> Result<(), CliError> {
        for event in network.drain_events() {
            observe(&event);
            if let Some((path, file)) = &mut self.truth
                && includes(self.truth_kinds, event.kind.name())
            {
                let name = |node| scenario.topology.node(node).map_or("?", |node| &*node.name);
                serde_json::to_writer(&mut *file, &event.row(name))
                    .map_err(io::Error::from)
                    .and_then(|()| file.write_all(b"\n"))
                    .map_err(|error| CliError::writing(path, &error))?;
            }
        }
        Ok(())
    }

    fn record(&mut self, network: &mut Network) -> Result<(), CliError> {
        match &mut self.capture {
            Some((path, writer)) => network
                .flush_recorded(&mut |channel, chunk| writer.write(channel, chunk))
                .map_err(|error| CliError::writing(path, &error)),
            None => network.flush_recorded(&mut |_, _| Ok(())),
        }
    }

    /// Writes the statistics, and puts all files in their places.
    pub(crate) fn finish(self, statistics: &str) -> Result<(), CliError> {
        let mut files = Vec::new();
        if let Some((path, writer)) = self.capture {
            files.push(writer.finish().map_err(|error| CliError::writing(&path, &error))?);
        }
        if let Some((path, file)) = self.truth {
            files.push(file.into_inner().map_err(|error| CliError::writing(&path, error.error()))?);
        }
        if let Some((path, mut file)) = self.statistics {
            let written = file.write_all(statistics.as_bytes());
            written.map_err(|error| CliError::writing(&path, &error))?;
            files.push(file);
        }
        commit_all(files)
    }
}

fn bar(duration: u64) -> ProgressBar {
    // A line that cannot be drawn is not worth an error.
    let time = |state: &ProgressState, out: &mut dyn fmt::Write| {
        let all = state.len().unwrap_or(0) / PERIODS_PER_US;
        let _ = write!(out, "{} of {all} µs", state.pos() / PERIODS_PER_US);
    };
    let rate = |state: &ProgressState, out: &mut dyn fmt::Write| {
        let _ = write!(out, "{:.0} periods/s", state.per_sec());
    };
    let style = progress::style("{bar:30} {time}  {rate}  ETA {eta}");
    progress::bar(duration, style.with_key("time", time).with_key("rate", rate))
}
