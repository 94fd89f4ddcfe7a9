//! A scenario at work: what it yields is written as it happens.

use std::fmt;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use codec::capture::{ByteOrder, CaptureWriter, WriteError};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use simulator::network::{Network, VisitOrder};
use simulator::scenario::Scenario;
use simulator::truth::{TraceLevel, TruthEvent};

use crate::atomic_file::{AtomicFile, is_standard};
use crate::exit::CliError;
use crate::input::PROGRESS_DELAY;

/// Periods between looks at what has happened and what has been recorded. *Chosen*: few enough to
/// keep all of it, many enough to look seldom.
const SLICE: u64 = 1 << 10;
/// Periods of the full rate in a microsecond. §4.2
const PERIODS_PER_US: u64 = 80;

/// The files that a run is written to.
#[derive(Debug, Default)]
pub(crate) struct RunFiles {
    capture: Option<AtomicFile>,
    truth: Option<AtomicFile>,
}

/// The same while they are written.
#[derive(Debug)]
struct OutputFiles {
    capture: Option<(PathBuf, CaptureWriter<AtomicFile>)>,
    truth: Option<(PathBuf, BufWriter<AtomicFile>)>,
}

impl RunFiles {
    /// Starts them.
    ///
    /// # Errors
    /// One of them could not be.
    pub(crate) fn create(capture: Option<&Path>, truth: Option<&Path>) -> Result<Self, CliError> {
        if capture.is_some_and(is_standard) && io::stdout().is_terminal() {
            let what = "a capture is not for a terminal: name a file, or a program after |";
            return Err(CliError::writing(Path::new("-"), &what));
        }
        let create =
            |path: &Path| AtomicFile::create(path).map_err(|e| CliError::writing(path, &e));
        Ok(Self {
            capture: capture.map(create).transpose()?,
            truth: truth.map(create).transpose()?,
        })
    }
}

/// Runs a scenario to its end.
///
/// # Errors
/// A file could not be written; none is left.
pub(crate) fn run_scenario(
    scenario: &Scenario,
    wanted: TraceLevel,
    files: RunFiles,
    observe: &mut dyn FnMut(&TruthEvent),
) -> Result<Network, CliError> {
    let mut network = Network::new(scenario, wanted, VisitOrder::AsGiven);
    let mut pens = OutputFiles::new(files, &network)?;
    let progress = progress(scenario.duration);
    while network.now() < scenario.duration {
        network.run(network.now().saturating_add(SLICE).min(scenario.duration));
        pens.write_events(scenario, &mut network, observe)?;
        if network.needs_flush() {
            pens.record(&mut network)?;
        }
        if progress.elapsed() > PROGRESS_DELAY {
            progress.set_position(network.now());
        }
    }
    network.finish();
    pens.write_events(scenario, &mut network, observe)?;
    pens.record(&mut network)?;
    pens.finish()?;
    progress.finish_and_clear();
    Ok(network)
}

impl OutputFiles {
    fn new(files: RunFiles, network: &Network) -> Result<Self, CliError> {
        let RunFiles { capture, truth } = files;
        let capture = match capture {
            Some(target) => {
                let path = target.path().to_owned();
                let writer = CaptureWriter::new(target, ByteOrder::Little, network.channels());
                Some((path.clone(), writer.map_err(|error| unwritten(&path, &error))?))
            }
            None => None,
        };
        let truth = truth.map(|target| (target.path().to_owned(), BufWriter::new(target)));
        Ok(Self { capture, truth })
    }

    /// Writes down what has happened.
    fn write_events(
        &mut self,
        scenario: &Scenario,
        network: &mut Network,
        observe: &mut dyn FnMut(&TruthEvent),
    ) -> Result<(), CliError> {
        for happened in network.drain_events() {
            observe(&happened);
            if let Some((path, file)) = &mut self.truth {
                let name = |node| scenario.topology.node(node).map_or("?", |node| &*node.name);
                serde_json::to_writer(&mut *file, &happened.row(name))
                    .map_err(io::Error::from)
                    .and_then(|()| file.write_all(b"\n"))
                    .map_err(|error| CliError::writing(path, &error))?;
            }
        }
        Ok(())
    }

    /// Writes down what has been recorded.
    fn record(&mut self, network: &mut Network) -> Result<(), CliError> {
        match &mut self.capture {
            Some((path, writer)) => network
                .flush_recorded(&mut |channel, chunk| writer.write(channel, chunk))
                .map_err(|error| unwritten(path, &error)),
            None => network.flush_recorded(&mut |_, _| Ok(())),
        }
    }

    /// Ends the files. Each is put in its place only when all are whole.
    fn finish(self) -> Result<(), CliError> {
        let mut whole = Vec::new();
        if let Some((path, writer)) = self.capture {
            whole.push(writer.finish().map_err(|error| unwritten(&path, &error))?);
        }
        if let Some((path, file)) = self.truth {
            whole.push(file.into_inner().map_err(|error| CliError::writing(&path, error.error()))?);
        }
        for target in &mut whole {
            target.sync().map_err(|error| CliError::writing(target.path(), &error))?;
        }
        for target in whole {
            let path = target.path().to_owned();
            target.commit().map_err(|error| CliError::writing(&path, &error))?;
        }
        Ok(())
    }
}

fn unwritten(path: &Path, error: &WriteError) -> CliError {
    CliError::writing(path, error)
}

/// The progress of a run, on a terminal.
fn progress(duration: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(duration), ProgressDrawTarget::stderr());
    let time = |state: &ProgressState, out: &mut dyn fmt::Write| {
        let all = state.len().unwrap_or(0) / PERIODS_PER_US;
        // Nobody can be told that a line could not be drawn.
        let _ = write!(out, "{} of {all} µs", state.pos() / PERIODS_PER_US);
    };
    let rate = |state: &ProgressState, out: &mut dyn fmt::Write| {
        let _ = write!(out, "{:.0} periods/s", state.per_sec());
    };
    // The template is a constant of this file.
    let style = ProgressStyle::with_template("{bar:30} {time}  {rate}  ETA {eta}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.with_key("time", time).with_key("rate", rate));
    bar
}
