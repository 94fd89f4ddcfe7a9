//! `myriscope packets` and `myriscope events`: the rows of a capture, in time.

use analyzer::event::{ChannelEvent, TimedEvent};
use analyzer::event_reader::{EventReader, ReadItem};
use analyzer::filter::RowKind;
use analyzer::packet::ByteRetention;
use analyzer::render;
use analyzer::timeline::EventFilter;
use codec::capture::{Channel, ReadProgress};

use crate::args::ViewArgs;
use crate::exit::{CliError, RunReport};
use crate::input;
use crate::listing::{RowSelection, RowSource, RowWriter, read_all};
use crate::output::StandardOutput;

pub(crate) fn run(
    view: &ViewArgs,
    want: EventFilter,
    bytes: ByteRetention,
    output: &mut StandardOutput,
) -> Result<RunReport, CliError> {
    let (kind, head) = match want {
        EventFilter::Packets => (RowKind::Packets, render::packet_head()),
        EventFilter::Events | EventFilter::All => (RowKind::Events, render::event_head()),
    };
    let Some(choice) = RowSelection::of(view, kind, output)? else {
        return Ok(RunReport::default());
    };
    let capture = input::open(&view.file).map_err(|e| CliError::file(&view.file, &e))?;
    let mut report = RunReport::of(&view.file);
    let shown = if choice.shows("bytes") { ByteRetention::Keep } else { bytes };
    let needed = if choice.needs("bytes") { ByteRetention::Keep } else { bytes };
    let mut rows = EventReader::new(capture, want, needed);
    let mut listing = RowWriter::new(view, choice, kind.name(), output);
    listing.head(|out| out(head));
    read_all(&mut report, |report| {
        if !listing.accepts_more() {
            return Ok(ReadProgress::Done);
        }
        rows.step(&mut |said| match said {
            ReadItem::Row(channel, mut row)
                if is_selected(view, channel, &row) && keeps(&mut listing, channel, &row) =>
            {
                if shown == ByteRetention::Forget {
                    forget(&mut row);
                }
                print(channel, &row, &mut listing, report);
            }
            ReadItem::Row(..) => {}
            ReadItem::Fault(fault) => report.fault(fault),
        })
    })?;
    if let Some(name) = &view.channel
        && listing.accepts_more()
        && !rows.names().any(|found| found == name)
    {
        report.no_channel(name, rows.names());
    }
    listing.finish();
    Ok(report)
}

/// Whether the row is of the channel, and any of its characters in the window.
fn is_selected(view: &ViewArgs, channel: &Channel, row: &TimedEvent) -> bool {
    let (from, to) = view.window().on(channel);
    let (first, last) = match &row.body {
        ChannelEvent::Packet(packet) => (packet.start, packet.end),
        ChannelEvent::Link(_)
        | ChannelEvent::Begins
        | ChannelEvent::Framed
        | ChannelEvent::Head(_)
        | ChannelEvent::Data(_)
        | ChannelEvent::Command(_)
        | ChannelEvent::Omitted { .. } => (row.at, row.at),
    };
    let named = view.channel.as_ref().is_none_or(|name| *name == channel.name);
    named && first < to && from <= last
}

/// Whether the row is as the filter says. What is left out is told all the same.
fn keeps(listing: &mut RowWriter<'_>, channel: &Channel, row: &TimedEvent) -> bool {
    let origin = RowSource::on(Some(channel));
    match &row.body {
        ChannelEvent::Packet(packet) => listing.keeps(&packet.row(&channel.name), origin),
        ChannelEvent::Link(event) => listing.keeps(&event.row(&channel.name, row.at), origin),
        ChannelEvent::Begins
        | ChannelEvent::Framed
        | ChannelEvent::Head(_)
        | ChannelEvent::Data(_)
        | ChannelEvent::Command(_)
        | ChannelEvent::Omitted { .. } => true,
    }
}

/// Drops bytes that only the filter has asked for.
fn forget(row: &mut TimedEvent) {
    if let ChannelEvent::Packet(packet) = &mut row.body {
        packet.bytes = None;
    }
}

fn print(channel: &Channel, row: &TimedEvent, listing: &mut RowWriter<'_>, report: &mut RunReport) {
    let lines = |mut out: &mut dyn FnMut(render::StyledLine)| render::row(channel, row, &mut out);
    match &row.body {
        ChannelEvent::Packet(packet) => {
            listing.row(&packet.row(&channel.name), channel.capture, lines)
        }
        ChannelEvent::Link(event) => {
            listing.row(&event.row(&channel.name, row.at), channel.capture, lines);
        }
        // They are not asked for.
        ChannelEvent::Begins
        | ChannelEvent::Framed
        | ChannelEvent::Head(_)
        | ChannelEvent::Data(_)
        | ChannelEvent::Command(_) => {}
        ChannelEvent::Omitted { rounds, every } => {
            render::row(channel, row, &mut |line| listing.line(&line));
            report.left_out(format!(
                "channel {}, character {}: the rows of the {every} characters before come {rounds} \
                 times more, and are not listed",
                channel.name, row.at
            ));
        }
    }
}
