//! A whole capture as text, for snapshot tests.

use std::io::Read;

use codec::capture::{CaptureError, Channel, Item, Progress, Reader};

use super::check::CheckScope;
use super::{
    Conversed, Line, capture_line, check, error, event_head, fault, info, packet_head, row,
};
use crate::analysis::{Analysis, Told, Wanted};
use crate::blocking::trees::Trees;
use crate::conversation::Spoken;
use crate::finding::{FindingRow, ranked};
use crate::link::Link;
use crate::link::slack::Assumptions;
use crate::packet::Bytes;
use crate::reading::{Rows, Said, Tallies};
use crate::rules::verdicts;
use crate::show::{Pair, Show, Shown};
use crate::timeline::Want;
use crate::window::Window;

/// What [`render`] shows: what the command of that name prints of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
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
/// use analyzer::text::{View, render};
/// use codec::capture::{ByteOrder, Channel, ChannelId, Chunk, Content, Writer};
/// use codec::{notation, tick::Tick};
///
/// let mut capture = Writer::new(Vec::new(), ByteOrder::Little, &[Channel::named("h0:0>s0:3")])?;
/// let chars = notation::parse("GAP 83 05 92 GAP")?;
/// let content = Content::Literal(chars.chars());
/// capture.write(ChannelId(0), &Chunk { first: Tick(0), content })?;
/// let capture = capture.finish()?;
///
/// assert!(render(capture.as_slice(), View::Packets).contains("good"));
/// assert!(render(capture.as_slice(), View::Check).starts_with("✓ nothing wrong"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn render(capture: impl Read + Send, view: View) -> String {
    let mut text = String::new();
    let out = &mut |line: Line| {
        text += &line.to_string();
        text.push('\n');
    };
    let result = match view {
        View::Info => render_info(capture, out),
        View::Packets => render_rows(capture, Want::Packets, out),
        View::Events => render_rows(capture, Want::Events, out),
        View::Show => render_show(capture, out),
        View::Journeys => render_journeys(capture, out),
        View::Conversations => render_conversations(capture, out),
        View::Blocking => render_blocking(capture, out),
        View::Links => render_counts(capture, out, |analysis, out| {
            let links: Vec<Vec<_>> =
                analysis.links().map(|link| Link::reports(link).collect()).collect();
            super::links(&links, out);
        }),
        View::Slack => render_counts(capture, out, |analysis, out| {
            super::slack(analysis.links().flat_map(Link::slack), out);
        }),
        View::Topology => render_counts(capture, out, |analysis, out| {
            super::topology(&analysis.topology(), out);
        }),
        View::Check => render_counts(capture, out, checked),
    };
    match result {
        Ok(()) => text,
        Err(found @ CaptureError::NoChannel { .. }) => format!("{}\n", error(&found)),
        Err(found) => text + &format!("{}\n", error(&found)),
    }
}

/// Calls for a line between captures where a row is of another capture than the one before it.
fn enter(current: &mut u32, channel: Option<&Channel>, out: &mut impl FnMut(Line)) {
    if let Some(channel) = channel.filter(|channel| channel.capture != *current) {
        *current = channel.capture;
        out(capture_line(*current));
    }
}

/// Reads a capture to its end, or as far as it can be read.
fn to_end(mut step: impl FnMut() -> Result<Progress, CaptureError>) -> Result<(), CaptureError> {
    while step()? == Progress::More {}
    Ok(())
}

fn render_conversations(
    capture: impl Read + Send,
    out: &mut impl FnMut(Line),
) -> Result<(), CaptureError> {
    let mut conversed = Conversed::default();
    let (_, result) = analyse(capture, Wanted::Conversations, &mut |analysis, told| match told {
        Told::Spoken(Spoken::Conversation(it)) => {
            let channel = analysis.channel(it.first.channel);
            conversed.add(channel.map_or(0, |channel| channel.capture), *it);
        }
        Told::Spoken(Spoken::Malformed(it)) => conversed.malformed(&it),
        Told::Fault(found) => out(fault(&found)),
        Told::Spoken(Spoken::Noticed(_)) | Told::Row(_) | Told::Interval(_) => {}
        Told::Slack(_) | Told::Journey(_) | Told::Blocked(_) => {}
    });
    super::conversations(&conversed, out);
    result
}

fn render_info(capture: impl Read, out: &mut impl FnMut(Line)) -> Result<(), CaptureError> {
    let mut tallies = Tallies::new(capture);
    let result = to_end(|| tallies.step(&Window::ALL, &mut |found| out(fault(&found))));
    info(&tallies, out);
    result
}

fn render_rows(
    capture: impl Read,
    want: Want,
    out: &mut impl FnMut(Line),
) -> Result<(), CaptureError> {
    out(match want {
        Want::Packets => packet_head(),
        Want::Events | Want::All => event_head(),
    });
    let mut rows = Rows::new(capture, want, Bytes::Forget);
    let mut current = 0;
    let mut said = |said: Said<'_>| match said {
        Said::Row(channel, found) => {
            enter(&mut current, Some(channel), out);
            row(channel, &found, out);
        }
        Said::Fault(found) => out(fault(&found)),
    };
    to_end(|| rows.step(&mut said))
}

fn render_show(capture: impl Read, out: &mut impl FnMut(Line)) -> Result<(), CaptureError> {
    let mut reader = Reader::new(capture);
    let mut show = Show::new(Pair::First);
    let result = to_end(|| {
        reader.step(&mut |item| {
            if let Item::Fault(found) = &item {
                out(fault(found));
            }
            show.feed(&item, &Window::ALL, &mut |shown| shown_lines(&shown, out));
        })
    });
    show.finish(&mut |shown| shown_lines(&shown, out));
    result
}

fn shown_lines(shown: &Shown, out: &mut impl FnMut(Line)) {
    if let Shown::Head { capture: capture @ 1.., .. } = shown {
        out(capture_line(*capture));
    }
    shown.lines(out);
}

/// Reads a capture through all storeys.
fn analyse<R: Read + Send>(
    capture: R,
    wanted: Wanted,
    out: &mut impl FnMut(&Analysis<R>, Told),
) -> (Analysis<R>, Result<(), CaptureError>) {
    let mut analysis = Analysis::new(capture, wanted, Assumptions::default());
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
    out: &mut impl FnMut(Line),
) -> Result<(), CaptureError> {
    out(super::journey_head());
    let mut current = 0;
    let (_, result) = analyse(capture, Wanted::Network, &mut |analysis, told| match told {
        Told::Journey(journey) => {
            let first = journey.hops.first().and_then(|hop| analysis.channel(hop.channel));
            enter(&mut current, first, out);
            super::journey_lines(&journey, &|id| analysis.channel(id), out);
        }
        Told::Fault(found) => out(fault(&found)),
        Told::Row(_) | Told::Interval(_) | Told::Slack(_) | Told::Blocked(_) => {}
        Told::Spoken(_) => {}
    });
    result
}

fn render_blocking(
    capture: impl Read + Send,
    out: &mut impl FnMut(Line),
) -> Result<(), CaptureError> {
    let mut trees = Trees::default();
    let (analysis, result) = analyse(capture, Wanted::Network, &mut |_, told| match told {
        Told::Blocked(blocked) => trees.add(blocked),
        Told::Fault(found) => out(fault(&found)),
        Told::Row(_) | Told::Interval(_) | Told::Slack(_) | Told::Journey(_) => {}
        Told::Spoken(_) => {}
    });
    super::blocking(&trees, usize::MAX, &|id| analysis.channel(id), out);
    result
}

/// What is counted, and told at the end.
fn render_counts<R: Read + Send, F: FnMut(Line)>(
    capture: R,
    out: &mut F,
    tell: impl FnOnce(&Analysis<R>, &mut F),
) -> Result<(), CaptureError> {
    let (analysis, result) = analyse(capture, Wanted::Counts, &mut |_, told| {
        if let Told::Fault(found) = told {
            out(fault(&found));
        }
    });
    tell(&analysis, out);
    result
}

fn checked<R: Read + Send>(analysis: &Analysis<R>, out: &mut impl FnMut(Line)) {
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
