//! A scenario at work: what it yields is written as it happens.

use std::fmt;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use codec::capture::{ByteOrder, WriteError, Writer};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use simulator::network::{Layout, Network};
use simulator::scenario::Scenario;
use simulator::truth::{Happened, Wanted};

use crate::files::QUIET;
use crate::report::Failure;
use crate::target::{Target, is_standard};

/// Periods between looks at what has happened and what has been recorded. *Chosen*: few enough to
/// keep all of it, many enough to look seldom.
const SLICE: u64 = 1 << 10;
/// Periods of the full rate in a microsecond. §4.2
const PERIODS_PER_US: u64 = 80;

/// The files that a run is written to.
#[derive(Debug, Default)]
pub(crate) struct Files {
    capture: Option<Target>,
    truth: Option<Target>,
}

/// The same while they are written.
#[derive(Debug)]
struct Pens {
    capture: Option<(PathBuf, Writer<Target>)>,
    truth: Option<(PathBuf, BufWriter<Target>)>,
}

impl Files {
    /// Starts them.
    ///
    /// # Errors
    /// One of them could not be.
    pub(crate) fn create(capture: Option<&Path>, truth: Option<&Path>) -> Result<Self, Failure> {
        if capture.is_some_and(is_standard) && io::stdout().is_terminal() {
            let what = "a capture is not for a terminal: name a file, or a program after |";
            return Err(Failure::writing(Path::new("-"), &what));
        }
        let create = |path: &Path| Target::create(path).map_err(|e| Failure::writing(path, &e));
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
pub(crate) fn run_through(
    scenario: &Scenario,
    wanted: Wanted,
    files: Files,
    observe: &mut dyn FnMut(&Happened),
) -> Result<Network, Failure> {
    let mut network = Network::new(scenario, wanted, Layout::AsGiven);
    let mut pens = Pens::new(files, &network)?;
    let progress = progress(scenario.duration);
    while network.now() < scenario.duration {
        network.run(network.now().saturating_add(SLICE).min(scenario.duration));
        pens.tell(scenario, &mut network, observe)?;
        if network.is_full() {
            pens.record(&mut network)?;
        }
        if progress.elapsed() > QUIET {
            progress.set_position(network.now());
        }
    }
    network.finish();
    pens.tell(scenario, &mut network, observe)?;
    pens.record(&mut network)?;
    pens.finish()?;
    progress.finish_and_clear();
    Ok(network)
}

impl Pens {
    fn new(files: Files, network: &Network) -> Result<Self, Failure> {
        let Files { capture, truth } = files;
        let capture = match capture {
            Some(target) => {
                let path = target.path().to_owned();
                let writer = Writer::new(target, ByteOrder::Little, network.channels());
                Some((path.clone(), writer.map_err(|error| unwritten(&path, &error))?))
            }
            None => None,
        };
        let truth = truth.map(|target| (target.path().to_owned(), BufWriter::new(target)));
        Ok(Self { capture, truth })
    }

    /// Writes down what has happened.
    fn tell(
        &mut self,
        scenario: &Scenario,
        network: &mut Network,
        observe: &mut dyn FnMut(&Happened),
    ) -> Result<(), Failure> {
        for happened in network.happened() {
            observe(&happened);
            if let Some((path, file)) = &mut self.truth {
                let name = |node| scenario.topology.node(node).map_or("?", |node| &*node.name);
                serde_json::to_writer(&mut *file, &happened.row(name))
                    .map_err(io::Error::from)
                    .and_then(|()| file.write_all(b"\n"))
                    .map_err(|error| Failure::writing(path, &error))?;
            }
        }
        Ok(())
    }

    /// Writes down what has been recorded.
    fn record(&mut self, network: &mut Network) -> Result<(), Failure> {
        match &mut self.capture {
            Some((path, writer)) => network
                .recorded(&mut |channel, chunk| writer.write(channel, chunk))
                .map_err(|error| unwritten(path, &error)),
            None => network.recorded(&mut |_, _| Ok(())),
        }
    }

    /// Ends the files. Each is put in its place only when all are whole.
    fn finish(self) -> Result<(), Failure> {
        let mut whole = Vec::new();
        if let Some((path, writer)) = self.capture {
            whole.push(writer.finish().map_err(|error| unwritten(&path, &error))?);
        }
        if let Some((path, file)) = self.truth {
            whole.push(file.into_inner().map_err(|error| Failure::writing(&path, error.error()))?);
        }
        for target in &mut whole {
            target.settle().map_err(|error| Failure::writing(target.path(), &error))?;
        }
        for target in whole {
            let path = target.path().to_owned();
            target.keep().map_err(|error| Failure::writing(&path, &error))?;
        }
        Ok(())
    }
}

fn unwritten(path: &Path, error: &WriteError) -> Failure {
    Failure::writing(path, error)
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
