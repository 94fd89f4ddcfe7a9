//! Running a scenario and writing its capture and truth.

use std::fmt;
use std::fs;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use codec::capture::{ByteOrder, CaptureWriter};
use indicatif::{ProgressBar, ProgressState};
use simulator::network::{Network, VisitOrder};
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
}

/// Open output files of a run, with their paths for error messages.
#[derive(Debug)]
struct OutputFiles {
    capture: Option<(PathBuf, CaptureWriter<AtomicFile>)>,
    truth: Option<(PathBuf, BufWriter<AtomicFile>)>,
}

/// Runs a scenario to its end, or until Ctrl-C. If it does not end or a file cannot be written, no file is
/// left.
pub(crate) fn run_scenario(
    scenario: &Scenario,
    level: TraceLevel,
    paths: &RunPaths<'_>,
    observe: &mut dyn FnMut(&TruthEvent),
) -> Result<Network, CliError> {
    interrupt::handle();
    let mut network = Network::new(scenario, level, VisitOrder::AsGiven);
    let mut files = OutputFiles::create(paths, &network)?;
    let progress = bar(scenario.duration);
    while network.now() < scenario.duration && !interrupt::is_pressed() {
        network.run(network.now().saturating_add(SLICE).min(scenario.duration));
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
        files.finish()?;
    } else {
        let (now, all) = (network.now() / PERIODS_PER_US, scenario.duration / PERIODS_PER_US);
        let written = if paths.outputs().next().is_some() { ": no file is written" } else { "" };
        print_error(&format!("{} after {now} of {all} µs{written}", interrupt::error()));
    }
    Ok(network)
}

impl RunPaths<'_> {
    pub(crate) fn outputs(&self) -> impl Iterator<Item = &Path> {
        [self.capture, self.truth].into_iter().flatten()
    }

    /// Refuses one file for two purposes, and a capture on a terminal.
    fn check(&self) -> Result<(), CliError> {
        if let (Some(capture), Some(truth)) = (self.capture, self.truth)
            && is_same(capture, truth)
        {
            return Err(CliError::writing(capture, &"named for two outputs"));
        }
        let scenario = self.scenario.filter(|path| !is_standard(path));
        let lost = |path: &&Path| scenario.is_some_and(|scenario| is_same(scenario, path));
        if let Some(path) = self.outputs().find(lost) {
            return Err(CliError::writing(path, &"the scenario would be overwritten"));
        }
        self.capture.map_or(Ok(()), refuse_terminal)
    }
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

impl OutputFiles {
    fn create(paths: &RunPaths<'_>, network: &Network) -> Result<Self, CliError> {
        paths.check()?;
        let capture =
            paths.capture.map(|path| Ok((path, AtomicFile::create(path)?))).transpose()?;
        let truth = |path: &Path| Ok((path.into(), BufWriter::new(AtomicFile::create(path)?)));
        let truth = paths.truth.map(truth).transpose()?;
        let writer = |(path, file): (&Path, AtomicFile)| {
            let writer = CaptureWriter::new(file, ByteOrder::Little, network.channels());
            Ok((path.into(), writer.map_err(|error| CliError::writing(path, &error))?))
        };
        Ok(Self { capture: capture.map(writer).transpose()?, truth })
    }

    fn write_events(
        &mut self,
        scenario: &Scenario,
        network: &mut Network,
        observe: &mut dyn FnMut(&TruthEvent),
    ) -> Result<(), CliError> {
        for event in network.drain_events() {
            observe(&event);
            if let Some((path, file)) = &mut self.truth {
                let name = |node| scenario.topology.node(node).map_or("?", |node| &*node.name);
                serde_json::to_writer(&mut *file, &event.row(name))
                    .map_err(io::Error::from)
                    .and_then(|()| file.write_all(b"\n"))
                    .map_err(|error| CliError::writing(path, &error))?;
            }
        }
        Ok(())
    }

    /// Writes the recorded chunks.
    fn record(&mut self, network: &mut Network) -> Result<(), CliError> {
        match &mut self.capture {
            Some((path, writer)) => network
                .flush_recorded(&mut |channel, chunk| writer.write(channel, chunk))
                .map_err(|error| CliError::writing(path, &error)),
            None => network.flush_recorded(&mut |_, _| Ok(())),
        }
    }

    fn finish(self) -> Result<(), CliError> {
        let mut files = Vec::new();
        if let Some((path, writer)) = self.capture {
            files.push(writer.finish().map_err(|error| CliError::writing(&path, &error))?);
        }
        if let Some((path, file)) = self.truth {
            files.push(file.into_inner().map_err(|error| CliError::writing(&path, error.error()))?);
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
