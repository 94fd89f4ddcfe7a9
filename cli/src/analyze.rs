//! A capture read through all storeys of the analyzer, for the commands that show what it finds.

use analyzer::link::parameters::LinkAssumptions;
use analyzer::options::AnalysisScope;
use std::ops::ControlFlow;
use std::path::Path;

use analyzer::pipeline::{AnalysisEvent, CaptureAnalysis};
use analyzer::render::check::unread;
use analyzer::render::{StyledLine, TextStyle};
use codec::capture::ReadProgress;

use crate::args::ViewArgs;
use crate::exit::{CliError, RunReport};
use crate::input::{self, CliCapture};
use crate::listing::read_all;
use crate::output::StandardOutput;

/// Reads a capture to its end, or until nobody wants more. What is wrong with the file goes to the
/// report; what else is told, to `told`.
///
/// # Errors
/// The file cannot be opened.
pub(crate) fn analyze(
    file: &Path,
    wanted: AnalysisScope,
    assumptions: LinkAssumptions,
    report: &mut RunReport,
    told: &mut dyn FnMut(&CaptureAnalysis<CliCapture>, AnalysisEvent) -> ControlFlow<()>,
) -> Result<CaptureAnalysis<CliCapture>, CliError> {
    let capture = input::open(file).map_err(|error| CliError::file(file, &error))?;
    let mut analysis = CaptureAnalysis::new(capture, wanted, assumptions);
    let mut step = Vec::new();
    read_all(report, |report| {
        let progress = analysis.step(&mut |told| step.push(told));
        for said in step.drain(..) {
            if let AnalysisEvent::Fault(fault) = said {
                report.fault(fault);
            } else if told(&analysis, said).is_break() {
                return Ok(ReadProgress::Done);
            }
        }
        progress
    })?;
    Ok(analysis)
}

/// Prints, above a summary for people, up to where a file was read, if not to its end.
pub(crate) fn print_unread(analysis: &CaptureAnalysis<CliCapture>, output: &mut StandardOutput) {
    if let Some(unread) = unread(&analysis.extent(), &|id| analysis.channel(id)) {
        output.line(&StyledLine::of(TextStyle::Bad, format!("✗ {unread}")));
    }
}

/// Whether the channel that was asked for, if any, is in the file; if it is not, that is told.
pub(crate) fn check_channel_exists(
    view: &ViewArgs,
    analysis: &CaptureAnalysis<CliCapture>,
    report: &mut RunReport,
) -> bool {
    let names = || analysis.channels().map(|(_, channel)| channel.name.as_str());
    let missing = view.channel.as_ref().filter(|asked| !names().any(|name| name == *asked));
    missing.into_iter().for_each(|asked| report.no_channel(asked, names()));
    missing.is_none()
}
