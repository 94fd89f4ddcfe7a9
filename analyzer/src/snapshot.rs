//! A whole capture as text, for snapshot tests.

use std::io::Read;

use codec::capture::{CaptureError, CaptureItem, CaptureReader, Channel, ReadProgress};

use crate::channel_selector::ChannelSelector;
use crate::conversation::TransportEvent;
use crate::event_reader::{CounterReader, EventReader, ReadItem};
use crate::finding_row::{FindingRow, ranked};
use crate::link::parameters::LinkAssumptions;
use crate::link_analysis::LinkAnalysis;
use crate::options::AnalysisScope;
use crate::packet::ByteRetention;
use crate::pipeline::{AnalysisEvent, CaptureAnalysis};
use crate::render::check::{self, CheckScope, RuleTable};
use crate::render::{self, ConversationText, ReportLayout, StyledLine, TimeUnit};
use crate::report::{AnalysisOptions, Report, analyze};
use crate::rules::verdicts;
use crate::show::{LinkLayout, LinkView, LinkViewItem};
use crate::timeline::EventFilter;
use crate::window::TimeWindow;

/// View of a capture: the output of the command of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotView {
    /// Totals of channels.
    Info,
    /// The packets.
    Packets,
    /// The events.
    Events,
    /// The characters of the first link, both directions side by side.
    Show,
    /// Activity of links.
    Links,
    /// Fill of slack buffers and their assumed sizes: `links --slack`.
    Slack,
    /// Packets over all links.
    Journeys,
    /// The reliability protocol: messages, and what became of them.
    Conversations,
    /// Wait trees and deadlocks.
    Blocking,
    /// Nodes, ports and links.
    Topology,
    /// Findings and verdicts.
    Check,
}

/// Renders a capture as text: the output of `myriscope`, without colours. Faults of the capture are lines that begin
/// with `!`; without a channel there are no other lines. `docs/snapshots.md` shows its use.
pub fn render(capture: impl Read + Send, view: SnapshotView) -> String {
    let mut text = String::new();
    let out = &mut |line: StyledLine| {
        text += &line.to_string();
        text.push('\n');
    };
    let result = match view {
        SnapshotView::Info => render_info(capture, out),
        SnapshotView::Packets => render_rows(capture, EventFilter::Packets, out),
        SnapshotView::Events => render_rows(capture, EventFilter::Events, out),
        SnapshotView::Show => render_show(capture, out),
        SnapshotView::Journeys => render_journeys(capture, out),
        SnapshotView::Conversations => render_conversations(capture, out),
        SnapshotView::Blocking => render_report(capture, out, |report, out| {
            let known = |id| report.channels.get(&id);
            render::blocking(&report.waits, (usize::MAX, ReportLayout::default()), &known, out);
        }),
        SnapshotView::Links => render_report(capture, out, |report, out| {
            let links: Vec<Vec<_>> =
                report.links.iter().map(|link| link.reports().collect()).collect();
            render::links(&links, TimeUnit::default(), out);
        }),
        SnapshotView::Slack => render_report(capture, out, |report, out| {
            render::slack(report.links.iter().flat_map(LinkAnalysis::slack), out);
        }),
        SnapshotView::Topology => render_report(capture, out, |report, out| {
            render::topology(&report.topology, out);
        }),
        SnapshotView::Check => render_report(capture, out, render_check),
    };
    match result {
        Ok(()) => text,
        Err(found @ CaptureError::NoChannel { .. }) => format!("{}\n", render::error(&found)),
        Err(found) => text + &format!("{}\n", render::error(&found)),
    }
}

/// Calls for a line between captures where a row is of another capture than the one before it.
fn enter(current: &mut u32, channel: Option<&Channel>, out: &mut impl FnMut(StyledLine)) {
    if let Some(channel) = channel.filter(|channel| channel.capture != *current) {
        *current = channel.capture;
        out(render::capture_line(*current));
    }
}

/// Reads a capture to its end, or as far as it can be read.
fn to_end(
    mut step: impl FnMut() -> Result<ReadProgress, CaptureError>,
) -> Result<(), CaptureError> {
    while step()? == ReadProgress::More {}
    Ok(())
}

fn render_conversations(
    capture: impl Read + Send,
    out: &mut impl FnMut(StyledLine),
) -> Result<(), CaptureError> {
    let mut text = ConversationText::default();
    let scope = AnalysisScope::Conversations;
    let result = render_events(capture, scope, out, |analysis, event, _| {
        let AnalysisEvent::Conversation(event) = event else { return };
        match event {
            TransportEvent::Conversation(it) => {
                let channel = analysis.channel(it.first.channel);
                text.add(channel.map_or(0, |channel| channel.capture), *it);
            }
            TransportEvent::Malformed(it) => text.malformed(&it),
            TransportEvent::Observed(_) => {}
        }
    });
    render::conversations(&text, ReportLayout::default(), out);
    result
}

fn render_info(capture: impl Read, out: &mut impl FnMut(StyledLine)) -> Result<(), CaptureError> {
    let mut counters = CounterReader::new(capture);
    let mut fault = |found| out(render::fault(&found));
    let result = to_end(|| counters.step(&TimeWindow::ALL, &mut fault));
    render::info(&counters, ReportLayout::default(), out);
    result
}

fn render_rows(
    capture: impl Read,
    filter: EventFilter,
    out: &mut impl FnMut(StyledLine),
) -> Result<(), CaptureError> {
    out(match filter {
        EventFilter::Packets => render::packet_head(TimeUnit::default()),
        EventFilter::Events | EventFilter::All => render::event_head(TimeUnit::default()),
    });
    let mut rows = EventReader::new(capture, filter, ByteRetention::Forget);
    let mut current = 0;
    let mut print = |item: ReadItem<'_>| match item {
        ReadItem::Row(channel, found) => {
            enter(&mut current, Some(channel), out);
            render::row(channel, &found, TimeUnit::default(), out);
        }
        ReadItem::Fault(found) => out(render::fault(&found)),
    };
    to_end(|| rows.step(&mut print))
}

fn render_show(capture: impl Read, out: &mut impl FnMut(StyledLine)) -> Result<(), CaptureError> {
    let mut reader = CaptureReader::new(capture).with_virtual_channels(None);
    let mut view = LinkView::new(ChannelSelector::ALL, LinkLayout::default());
    let result = to_end(|| {
        reader.step(&mut |item| {
            if let CaptureItem::Fault(found) = &item {
                out(render::fault(found));
            }
            view.feed(&item, &TimeWindow::ALL, &mut |shown| view_lines(&shown, out));
        })
    });
    view.finish(&mut |shown| view_lines(&shown, out));
    result
}

fn view_lines(item: &LinkViewItem, out: &mut impl FnMut(StyledLine)) {
    if let LinkViewItem::Head(head) = item
        && head.left.capture > 0
    {
        out(render::capture_line(head.left.capture));
    }
    item.lines(LinkLayout::default(), out);
}

fn render_journeys(
    capture: impl Read + Send,
    out: &mut impl FnMut(StyledLine),
) -> Result<(), CaptureError> {
    out(render::journey_head(TimeUnit::default()));
    let mut current = 0;
    render_events(capture, AnalysisScope::Network, out, |analysis, event, out| {
        let AnalysisEvent::Journey(journey) = event else { return };
        let first = journey.hops.first().and_then(|hop| analysis.channel(hop.channel));
        enter(&mut current, first, out);
        render::journey_lines(&journey, &|id| analysis.channel(id), TimeUnit::default(), out);
    })
}

/// Renders events as they come, with the faults of the file among them.
fn render_events<R: Read + Send, F: FnMut(StyledLine)>(
    capture: R,
    scope: AnalysisScope,
    out: &mut F,
    mut print: impl FnMut(&CaptureAnalysis<R>, AnalysisEvent, &mut F),
) -> Result<(), CaptureError> {
    let mut events = CaptureAnalysis::new(capture, scope, LinkAssumptions::default()).events();
    while let Some(event) = events.next() {
        let event = event?;
        if let AnalysisEvent::Fault(found) = &event {
            out(render::fault(found));
        }
        print(events.analysis(), event, out);
    }
    Ok(())
}

/// Renders the faults of the file, then what `print` selects of the report.
fn render_report<F: FnMut(StyledLine)>(
    capture: impl Read + Send,
    out: &mut F,
    print: impl FnOnce(&Report, &mut F),
) -> Result<(), CaptureError> {
    let options =
        AnalysisOptions { journeys_max: 0, conversations_max: 0, ..AnalysisOptions::default() };
    let report = analyze(capture, &options);
    report.faults.iter().for_each(|found| out(render::fault(found)));
    print(&report, out);
    report.error.map_or(Ok(()), Err)
}

fn render_check(report: &Report, out: &mut impl FnMut(StyledLine)) {
    let known = |id| report.channels.get(&id);
    let name = |id| report.channel_name(id);
    let ranked = ranked(&report.findings);
    let rows = ranked.iter().map(|(kind, id, found)| {
        let capture = known(*id).map_or(0, |channel| channel.capture);
        (capture, found.row(*kind, *id, &name))
    });
    let rows: Vec<(u32, FindingRow<'_>)> = rows.collect();
    let unread = check::unread(&report.extent, TimeUnit::default(), &known);
    let all = ranked.iter().map(|(kind, _, found)| (true, *kind, found.severity));
    let scope = CheckScope::of(unread, None, report.findings.seen().characters, all);
    check::headline(&report.findings, &scope, &known, out);
    check::findings(&rows, (None, TimeUnit::default()), out);
    check::verdicts(&verdicts(&report.findings), &scope, RuleTable::Whole, None, out);
}
