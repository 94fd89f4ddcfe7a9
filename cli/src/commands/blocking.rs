//! `myriscope blocking`: waits of senders, their causes, and deadlocks.

use std::ops::ControlFlow;

use analyzer::blocking::BlockingEvent;
use analyzer::blocking::trees::WaitTrees;
use analyzer::channel_selector::ChannelSelector;
use analyzer::event::Picoseconds;
use analyzer::filter::RowKind;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::options::AnalysisScope;
use analyzer::pipeline::AnalysisEvent;
use analyzer::render;
use analyzer::window::{TimeWindow, WindowEdge};
use codec::capture::ChannelId;
use codec::time::Tick;

use crate::analyze::{CliAnalysis, analyze, check_channel_exists, list, print_unread};
use crate::args::{BlockingArgs, ViewArgs};
use crate::exit::CommandResult;
use crate::output::StandardOutput;
use crate::rows::{RowSource, RowWriter, list_rows};

/// Default of --limit for trees and deadlocks. *Chosen*: a page.
const TREES: usize = 10;

pub(crate) fn run(arguments: &BlockingArgs, output: &mut StandardOutput) -> CommandResult {
    list_rows(&arguments.view, RowKind::Waits, output, |writer| list_waits(arguments, writer))
}

fn list_waits(arguments: &BlockingArgs, writer: &mut RowWriter<'_>) -> CommandResult {
    let view = &arguments.view;
    let (scope, assumptions) = (AnalysisScope::Network, LinkAssumptions::default());
    if !writer.is_report() {
        return list(view, scope, assumptions, writer, &mut |analysis, event, writer| {
            if let Some(wait) = selected(view, arguments.min, analysis, event) {
                let known = |id| analysis.channel(id);
                writer.select(&wait.row(&known), source(analysis, &wait), |_| {});
            }
        });
    }
    let (mut report, input) = (writer.run_report(), writer.input());
    let mut trees = WaitTrees::default();
    let emit = &mut |analysis: &CliAnalysis, event| {
        if let Some(wait) = selected(view, arguments.min, analysis, event)
            && writer.keeps(&wait.row(&|id| analysis.channel(id)), source(analysis, &wait))
        {
            trees.add(wait);
        }
        ControlFlow::Continue(())
    };
    let analysis = analyze(input, scope, assumptions, &mut report, emit)?;
    check_channel_exists(view, &analysis, &mut report);
    let is_whole = !writer.selection().is_filtered() && view.channels().text().is_none();
    if let Some(output) = writer.report() {
        let max = view.limit.map_or(TREES, |limit| usize::try_from(limit).unwrap_or(TREES));
        print_unread(&analysis, view.unit(), output);
        let known = |id| analysis.channel(id);
        let layout = view.layout(output);
        if is_whole {
            let findings = analysis.findings();
            let held_up = render::held_up(findings.ledger(), &known);
            held_up.iter().for_each(|line| output.line(line));
        }
        render::blocking(&trees, (max, layout), &known, &mut |line| output.fitted(line));
    }
    Ok(report)
}

/// Positions of a stop are on the stopped channel, those of a deadlock on its first channel.
fn source(analysis: &CliAnalysis, wait: &BlockingEvent) -> RowSource {
    RowSource::on(analysis.channel(wait.channel()))
}

/// The wait of an event, if it concerns --channel, overlaps the window, and is as long as a minimum.
pub(crate) fn selected(
    view: &ViewArgs,
    min: Option<WindowEdge>,
    analysis: &CliAnalysis,
    event: AnalysisEvent,
) -> Option<BlockingEvent> {
    let AnalysisEvent::Blocked(wait) = event else { return None };
    let min = TimeWindow { from: min.unwrap_or(TimeWindow::ALL.from), to: None };
    is_concerned(&view.channels(), [view.window(), min], analysis, &wait).then_some(wait)
}

/// True if a wait concerns a selected channel, overlaps a window, and lasts as long as the start of another.
pub(crate) fn is_concerned(
    channels: &ChannelSelector<'_>,
    [window, min]: [TimeWindow; 2],
    analysis: &CliAnalysis,
    wait: &BlockingEvent,
) -> bool {
    let (first, rest, since, until) = match wait {
        BlockingEvent::Stop(stop) => (stop.channel, stop.chain.as_slice(), stop.since, stop.until),
        BlockingEvent::Deadlock(deadlock) => {
            let first = deadlock.channels.first().copied().unwrap_or_default();
            (first, deadlock.channels.as_slice(), deadlock.since, deadlock.until)
        }
    };
    let Some(channel) = analysis.channel(first) else { return false };
    let tick = |time: Picoseconds| Tick(channel.period.periods(time));
    let named = |id: &ChannelId| analysis.channel(*id).is_some_and(|it| channels.selects(it));
    let (from, to) = window.on(channel);
    let (min, _) = min.on(channel);
    tick(until.saturating_sub(since)) >= min
        && tick(since) < to
        && from <= tick(until)
        && (named(&first) || rest.iter().any(named))
}
