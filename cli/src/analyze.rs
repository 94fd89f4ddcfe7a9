//! Analysis of a capture for the commands that print its results.

use analyzer::link::parameters::LinkAssumptions;
use analyzer::options::AnalysisScope;
use std::ops::ControlFlow;

use analyzer::pipeline::{AnalysisEvent, CaptureAnalysis};
use analyzer::render::check::unread;
use analyzer::render::{StyledLine, TextStyle};
use codec::capture::{Channel, ReadProgress};
use codec::time::Tick;

use crate::args::ViewArgs;
use crate::exit::{CliError, CommandResult, RunReport};
use crate::input::{self, CliCapture, InputFile};
use crate::output::StandardOutput;
use crate::rows::{RowWriter, read_all};

pub(crate) type CliAnalysis = CaptureAnalysis<CliCapture>;

/// Reads a capture to its end, or until `emit` breaks. Faults go to the report, other events to `emit`.
pub(crate) fn analyze(
    file: InputFile<'_>,
    scope: AnalysisScope,
    assumptions: LinkAssumptions,
    report: &mut RunReport,
    emit: &mut dyn FnMut(&CliAnalysis, AnalysisEvent) -> ControlFlow<()>,
) -> Result<CliAnalysis, CliError> {
    let mut analysis = CaptureAnalysis::new(file.open()?, scope, assumptions);
    analysis.emit_when(input::is_waiting);
    let mut step = Vec::new();
    read_all(report, |report| {
        let progress = analysis.step(&mut |event| step.push(event));
        for event in step.drain(..) {
            if let AnalysisEvent::Fault(fault) = event {
                report.fault(fault);
            } else if emit(&analysis, event).is_break() {
                return Ok(ReadProgress::Done);
            }
        }
        progress
    })?;
    Ok(analysis)
}

/// Reads a capture to its end, for the totals of the analysis.
pub(crate) fn analyze_all(
    file: InputFile<'_>,
    scope: AnalysisScope,
    assumptions: LinkAssumptions,
    report: &mut RunReport,
) -> Result<CliAnalysis, CliError> {
    analyze(file, scope, assumptions, report, &mut |_, _| ControlFlow::Continue(()))
}

/// Lists the rows that `emit` writes, until the limit is reached.
pub(crate) fn list(
    view: &ViewArgs,
    scope: AnalysisScope,
    assumptions: LinkAssumptions,
    mut writer: RowWriter<'_>,
    emit: &mut dyn FnMut(&CliAnalysis, AnalysisEvent, &mut RowWriter<'_>),
) -> CommandResult {
    let mut report = RunReport::of(&view.file);
    let analysis =
        analyze(view.input(), scope, assumptions, &mut report, &mut |analysis, event| {
            emit(analysis, event, &mut writer);
            writer.flow()
        })?;
    if writer.accepts_more() {
        check_channel_exists(view, &analysis, &mut report);
    }
    writer.finish();
    Ok(report)
}

/// Prints how far a file was read, above a summary, if not to its end.
pub(crate) fn print_unread(analysis: &CliAnalysis, output: &mut StandardOutput) {
    if let Some(unread) = unread(&analysis.extent(), &|id| analysis.channel(id)) {
        output.line(&StyledLine::of(TextStyle::Bad, format!("✗ {unread}")));
    }
}

/// True if the capture has the channel given with --channel, if any; reports it otherwise.
pub(crate) fn check_channel_exists(
    view: &ViewArgs,
    analysis: &CliAnalysis,
    report: &mut RunReport,
) -> bool {
    let names = || analysis.channels().map(|(_, channel)| channel.name.as_str());
    let missing = view.channel.as_ref().filter(|wanted| !names().any(|name| name == *wanted));
    missing.into_iter().for_each(|wanted| report.no_channel(wanted, names()));
    missing.is_none()
}

/// True if characters `first..=last` of a channel are selected by --channel, --from and --to.
pub(crate) fn is_selected(view: &ViewArgs, channel: &Channel, first: Tick, last: Tick) -> bool {
    let (from, to) = view.window().on(channel);
    let named = view.channel.as_ref().is_none_or(|name| *name == channel.name);
    named && first < to && from <= last
}

/// Counts down the rows of --limit: true as long as one more may be printed.
pub(crate) fn row_limit(view: &ViewArgs) -> impl FnMut() -> bool {
    let mut left = view.limit.unwrap_or(u64::MAX);
    move || left.checked_sub(1).map(|fewer| left = fewer).is_some()
}
