//! `myriscope blocking`: who waited for whom, and why.

use analyzer::event::Picoseconds;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::options::AnalysisScope;
use std::ops::ControlFlow;

use analyzer::blocking::BlockingEvent;
use analyzer::blocking::trees::WaitTrees;
use analyzer::filter::RowKind;

use analyzer::pipeline::{AnalysisEvent, CaptureAnalysis};
use analyzer::render;

use analyzer::window::{TimeWindow, WindowEdge};
use codec::capture::{Channel, ChannelId};
use codec::time::Tick;

use crate::analyze::{analyze, check_channel_exists, print_unread};
use crate::args::{self, OutputFormat, ViewArgs};
use crate::exit::{CliError, RunReport};
use crate::input::CliCapture;
use crate::listing::{RowSelection, RowSource, RowWriter};
use crate::output::StandardOutput;

/// Trees that are shown where no number is asked for. *Chosen*: a page.
const TREES: usize = 10;

pub(crate) fn run(
    arguments: &args::BlockingArgs,
    output: &mut StandardOutput,
) -> Result<RunReport, CliError> {
    let view = &arguments.view;
    let Some(mut choice) = RowSelection::of(view, RowKind::Waits, output)? else {
        return Ok(RunReport::default());
    };
    let mut report = RunReport::of(&view.file);
    if view.format == OutputFormat::Text && choice.columns().is_none() {
        let mut trees = WaitTrees::default();
        let analysis = each_wait(arguments, &mut report, &mut |analysis, blocked| {
            let known = |id| analysis.channel(id);
            if choice.keeps(&blocked.row(&known), origin(analysis, &blocked)) {
                trees.add(blocked);
            }
            ControlFlow::Continue(())
        })?;
        let most = view.limit.map_or(TREES, |limit| usize::try_from(limit).unwrap_or(TREES));
        let known = |id| analysis.channel(id);
        print_unread(&analysis, output);
        render::blocking(&trees, most, &known, &mut |line| output.line(&line));
        return Ok(report);
    }
    let mut listing = RowWriter::new(view, choice, "blocking", output);
    listing.head(|_| {});
    each_wait(arguments, &mut report, &mut |analysis, blocked| {
        let known = |id| analysis.channel(id);
        let row = blocked.row(&known);
        let origin = origin(analysis, &blocked);
        if listing.keeps(&row, origin) {
            listing.row(&row, origin.capture, |_| {});
        }
        if listing.accepts_more() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    listing.finish();
    Ok(report)
}

/// Hands out the waits that are asked for.
fn each_wait(
    arguments: &args::BlockingArgs,
    report: &mut RunReport,
    out: &mut dyn FnMut(&CaptureAnalysis<CliCapture>, BlockingEvent) -> ControlFlow<()>,
) -> Result<CaptureAnalysis<CliCapture>, CliError> {
    let args::BlockingArgs { view, min } = arguments;
    let assumptions = LinkAssumptions::default();
    let analysis =
        analyze(&view.file, AnalysisScope::Network, assumptions, report, &mut |known, told| {
            match told {
                AnalysisEvent::Blocked(blocked) if is_selected(view, *min, known, &blocked) => {
                    out(known, blocked)
                }
                AnalysisEvent::Blocked(_)
                | AnalysisEvent::Interval(_)
                | AnalysisEvent::Slack(_)
                | AnalysisEvent::Journey(_) => ControlFlow::Continue(()),
                AnalysisEvent::Row(_) | AnalysisEvent::Spoken(_) | AnalysisEvent::Fault(_) => {
                    ControlFlow::Continue(())
                }
            }
        })?;
    check_channel_exists(view, &analysis, report);
    Ok(analysis)
}

/// Places of a wait are on the channel that was stopped, those of a deadlock on its first.
fn origin(known: &CaptureAnalysis<CliCapture>, blocked: &BlockingEvent) -> RowSource {
    RowSource::on(known.channel(blocked.channel()))
}

/// Whether it has to do with the channel that is asked for, lies in the window in part, and is long
/// enough.
fn is_selected(
    view: &ViewArgs,
    min: Option<WindowEdge>,
    known: &CaptureAnalysis<CliCapture>,
    blocked: &BlockingEvent,
) -> bool {
    let (first, rest, since, until) = match blocked {
        BlockingEvent::Stop(stop) => (stop.channel, stop.chain.as_slice(), stop.since, stop.until),
        BlockingEvent::Deadlock(deadlock) => {
            let first = deadlock.channels.first().copied().unwrap_or_default();
            (first, deadlock.channels.as_slice(), deadlock.since, deadlock.until)
        }
    };
    let Some(channel) = known.channel(first) else { return false };
    let place = |time: Picoseconds| {
        Tick(u64::try_from(time / Picoseconds::from(channel.period_ps.get())).unwrap_or(u64::MAX))
    };
    let named = |id: &ChannelId| {
        let name = known.channel(*id).map(|channel: &Channel| &channel.name);
        view.channel.is_none() || view.channel.as_ref() == name
    };
    let (from, to) = view.window().on(channel);
    let (least, _) = TimeWindow { from: min.unwrap_or(TimeWindow::ALL.from), to: None }.on(channel);
    let is_long = place(until.saturating_sub(since)) >= least;
    is_long
        && place(since) < to
        && from <= place(until)
        && (named(&first) || rest.iter().any(named))
}
