//! A whole capture as text, for snapshot tests.

use crate::link::parameters::LinkAssumptions;
use crate::options::AnalysisScope;
use std::io::Read;

use codec::capture::{CaptureError, CaptureItem, CaptureReader, Channel, ReadProgress};

use crate::render::check::{self, CheckScope};
use crate::render::{
    ConversationText, StyledLine, capture_line, check, error, event_head, fault, info, packet_head,
    row,
};
use crate::blocking::trees::WaitTrees;
use crate::conversation::TransportEvent;
use crate::event_reader::{CounterReader, EventReader, ReadItem};
use crate::finding_row::{FindingRow, ranked};
use crate::link::LinkAnalysis;

use crate::packet::ByteRetention;
use crate::pipeline::{AnalysisEvent, CaptureAnalysis};
use crate::rules::verdicts;
use crate::show::{LinkChoice, LinkView, LinkViewItem};
use crate::timeline::EventFilter;
use crate::window::TimeWindow;

/// What [`render`] shows: what the command of that name prints of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotView {
    /// What the channels carried.
    Info,
    /// The packets.
    Packets,
    /// The events.
    Events,
    /// The characters of the first link, both directions side by side.
    Show,
    /// What every link was doing.
    Links,
    /// How full slack buffers were, and what is assumed of them: `links --slack`.
    Slack,
    /// Packets over all links.
    Journeys,
    /// The reliability protocol: messages, and what became of them.
    Conversations,
    /// Who waited for whom: all trees and deadlocks.
    Blocking,
    /// Nodes, ports and links.
    Topology,
    /// What is wrong, and how each rule stands.
    Check,
}

/// A capture as text: what `myriscope` prints, without colours. Whatever is wrong with the capture
/// stands in it too, on lines that begin with `!`; of a file without a channel nothing else.
///
/// ```
/// use myriscope_analyzer::snapshot::{SnapshotView, render};
/// use codec::capture::{ByteOrder, Channel, ChannelId, CaptureWriter, Chunk, ChunkContent};
/// use codec::{notation, time::Tick};
///
/// let mut capture = CaptureWriter::new(Vec::new(), ByteOrder::Little, &[Channel::named("h0:0>s0:3")])?;
/// let chars = notation::parse("GAP 83 05 92 GAP")?;
/// let content = ChunkContent::Literal(chars.chars());
/// capture.write(ChannelId(0), &Chunk { first: Tick(0), content })?;
/// let capture = capture.finish()?;
///
/// assert!(render(capture.as_slice(), SnapshotView::Packets).contains("good"));
/// assert!(render(capture.as_slice(), SnapshotView::Check).starts_with("✓ nothing wrong"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
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
        SnapshotView::Blocking => render_blocking(capture, out),
        SnapshotView::Links => render_counts(capture, out, |analysis, out| {
            let links: Vec<Vec<_>> =
                analysis.links().map(|link| LinkAnalysis::reports(link).collect()).collect();
            crate::render::links(&links, out);
        }),
        SnapshotView::Slack => render_counts(capture, out, |analysis, out| {
            super::slack(analysis.links().flat_map(LinkAnalysis::slack), out);
        }),
        SnapshotView::Topology => render_counts(capture, out, |analysis, out| {
            super::topology(&analysis.topology(), out);
        }),
        SnapshotView::Check => render_counts(capture, out, checked),
    };
    match result {
        Ok(()) => text,
        Err(found @ CaptureError::NoChannel { .. }) => format!("{}\n", error(&found)),
        Err(found) => text + &format!("{}\n", error(&found)),
    }
}

/// Calls for a line between captures where a row is of another capture than the one before it.
fn enter(current: &mut u32, channel: Option<&Channel>, out: &mut impl FnMut(StyledLine)) {
    if let Some(channel) = channel.filter(|channel| channel.capture != *current) {
        *current = channel.capture;
        out(capture_line(*current));
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
    let mut conversed = ConversationText::default();
    let (_, result) =
        analyse(capture, AnalysisScope::Conversations, &mut |analysis, told| match told {
            AnalysisEvent::Spoken(TransportEvent::Conversation(it)) => {
                let channel = analysis.channel(it.first.channel);
                conversed.add(channel.map_or(0, |channel| channel.capture), *it);
            }
            AnalysisEvent::Spoken(TransportEvent::Malformed(it)) => conversed.malformed(&it),
            AnalysisEvent::Fault(found) => out(fault(&found)),
            AnalysisEvent::Spoken(TransportEvent::Noticed(_))
            | AnalysisEvent::Row(_)
            | AnalysisEvent::Interval(_) => {}
            AnalysisEvent::Slack(_) | AnalysisEvent::Journey(_) | AnalysisEvent::Blocked(_) => {}
        });
    super::conversations(&conversed, out);
    result
}

fn render_info(capture: impl Read, out: &mut impl FnMut(StyledLine)) -> Result<(), CaptureError> {
    let mut tallies = CounterReader::new(capture);
    let result = to_end(|| tallies.step(&TimeWindow::ALL, &mut |found| out(fault(&found))));
    info(&tallies, out);
    result
}

fn render_rows(
    capture: impl Read,
    want: EventFilter,
    out: &mut impl FnMut(StyledLine),
) -> Result<(), CaptureError> {
    out(match want {
        EventFilter::Packets => packet_head(),
        EventFilter::Events | EventFilter::All => event_head(),
    });
    let mut rows = EventReader::new(capture, want, ByteRetention::Forget);
    let mut current = 0;
    let mut said = |said: ReadItem<'_>| match said {
        ReadItem::Row(channel, found) => {
            enter(&mut current, Some(channel), out);
            row(channel, &found, out);
        }
        ReadItem::Fault(found) => out(fault(&found)),
    };
    to_end(|| rows.step(&mut said))
}

fn render_show(capture: impl Read, out: &mut impl FnMut(StyledLine)) -> Result<(), CaptureError> {
    let mut reader = CaptureReader::new(capture);
    let mut show = LinkView::new(LinkChoice::First);
    let result = to_end(|| {
        reader.step(&mut |item| {
            if let CaptureItem::Fault(found) = &item {
                out(fault(found));
            }
            show.feed(&item, &TimeWindow::ALL, &mut |shown| shown_lines(&shown, out));
        })
    });
    show.finish(&mut |shown| shown_lines(&shown, out));
    result
}

fn shown_lines(shown: &LinkViewItem, out: &mut impl FnMut(StyledLine)) {
    if let LinkViewItem::Head { capture: capture @ 1.., .. } = shown {
        out(capture_line(*capture));
    }
    shown.lines(out);
}

/// Reads a capture through all storeys.
fn analyse<R: Read + Send>(
    capture: R,
    wanted: AnalysisScope,
    out: &mut impl FnMut(&CaptureAnalysis<R>, AnalysisEvent),
) -> (CaptureAnalysis<R>, Result<(), CaptureError>) {
    let mut analysis = CaptureAnalysis::new(capture, wanted, LinkAssumptions::default());
    let mut step = Vec::new();
    let result = to_end(|| {
        let progress = analysis.step(&mut |told| step.push(told));
        step.drain(..).for_each(|told| out(&analysis, told));
        progress
    });
    (analysis, result)
}

fn render_journeys(
    capture: impl Read + Send,
    out: &mut impl FnMut(StyledLine),
) -> Result<(), CaptureError> {
    out(super::journey_head());
    let mut current = 0;
    let (_, result) = analyse(capture, AnalysisScope::Network, &mut |analysis, told| match told {
        AnalysisEvent::Journey(journey) => {
            let first = journey.hops.first().and_then(|hop| analysis.channel(hop.channel));
            enter(&mut current, first, out);
            super::journey_lines(&journey, &|id| analysis.channel(id), out);
        }
        AnalysisEvent::Fault(found) => out(fault(&found)),
        AnalysisEvent::Row(_)
        | AnalysisEvent::Interval(_)
        | AnalysisEvent::Slack(_)
        | AnalysisEvent::Blocked(_) => {}
        AnalysisEvent::Spoken(_) => {}
    });
    result
}

fn render_blocking(
    capture: impl Read + Send,
    out: &mut impl FnMut(StyledLine),
) -> Result<(), CaptureError> {
    let mut trees = WaitTrees::default();
    let (analysis, result) = analyse(capture, AnalysisScope::Network, &mut |_, told| match told {
        AnalysisEvent::Blocked(blocked) => trees.add(blocked),
        AnalysisEvent::Fault(found) => out(fault(&found)),
        AnalysisEvent::Row(_)
        | AnalysisEvent::Interval(_)
        | AnalysisEvent::Slack(_)
        | AnalysisEvent::Journey(_) => {}
        AnalysisEvent::Spoken(_) => {}
    });
    super::blocking(&trees, usize::MAX, &|id| analysis.channel(id), out);
    result
}

/// What is counted, and told at the end.
fn render_counts<R: Read + Send, F: FnMut(StyledLine)>(
    capture: R,
    out: &mut F,
    tell: impl FnOnce(&CaptureAnalysis<R>, &mut F),
) -> Result<(), CaptureError> {
    let (analysis, result) = analyse(capture, AnalysisScope::Counts, &mut |_, told| {
        if let AnalysisEvent::Fault(found) = told {
            out(fault(&found));
        }
    });
    tell(&analysis, out);
    result
}

fn checked<R: Read + Send>(analysis: &CaptureAnalysis<R>, out: &mut impl FnMut(StyledLine)) {
    let findings = analysis.findings();
    let ledger = findings.ledger();
    let name = |id| analysis.channel(id).map_or("", |channel| channel.name.as_str());
    let ranked = ranked(ledger);
    let known = |id| analysis.channel(id);
    let rows = ranked.iter().map(|(kind, id, found)| {
        let capture = known(*id).map_or(0, |channel| channel.capture);
        (capture, found.row(*kind, *id, &name))
    });
    let rows: Vec<(u32, FindingRow<'_>)> = rows.collect();
    let scope = CheckScope {
        unread: check::unread(&analysis.extent(), &known),
        selection: None,
        selected: rows.iter().map(|(_, row)| row.severity).collect(),
        elsewhere: Vec::new(),
    };
    check::headline(ledger, &scope, out);
    check::findings(&rows, out);
    check::verdicts(&verdicts(ledger), &scope, out);
}
