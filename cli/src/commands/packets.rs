//! `myriscope packets` and `myriscope events`: rows of a capture in order of time.

use analyzer::event::{ChannelEvent, TimedEvent};
use analyzer::event_reader::{EventReader, ReadItem};
use analyzer::filter::RowKind;
use analyzer::packet::ByteRetention;
use analyzer::render;
use analyzer::timeline::EventFilter;
use codec::capture::{Channel, ReadProgress};

use crate::analyze::{DialectGuess, check_channels, is_selected, read_all, warn_of_empty_window};
use crate::args::ViewArgs;
use crate::exit::{CommandResult, RunReport};
use crate::output::StandardOutput;
use crate::rows::{RowSource, RowWriter, list_rows};

pub(crate) fn run(
    view: &ViewArgs,
    filter: EventFilter,
    bytes: ByteRetention,
    output: &mut StandardOutput,
) -> CommandResult {
    let (kind, head) = match filter {
        EventFilter::Packets => (RowKind::Packets, render::packet_head(view.unit())),
        EventFilter::Events | EventFilter::All => {
            (RowKind::Events, render::event_head(view.unit()))
        }
    };
    list_rows(view, kind, output, |writer| {
        writer.head(|out| out(head.clone()));
        list(view, (filter, bytes), writer)
    })
}

fn list(
    view: &ViewArgs,
    (filter, bytes): (EventFilter, ByteRetention),
    writer: &mut RowWriter<'_>,
) -> CommandResult {
    let capture = writer.input().channels()?;
    let mut report = writer.run_report();
    let retention = |is_kept| if is_kept { ByteRetention::Keep } else { bytes };
    let mut guess = DialectGuess::default();
    let shown = retention(writer.selection().shows("bytes"));
    let mut rows =
        EventReader::of_reader(capture, filter, retention(writer.selection().needs("bytes")));
    read_all(&mut report, |report| {
        if !writer.accepts_more() {
            return Ok(ReadProgress::Done);
        }
        rows.step(&mut |item| match item {
            ReadItem::Row(channel, mut row) => {
                if let ChannelEvent::Packet(packet) = &mut row.body {
                    packet.read_as(view.dialect.value());
                    guess.add(packet);
                }
                print((view, shown), channel, row, writer, report);
            }
            ReadItem::Fault(fault) => report.fault(fault),
        })
    })?;
    guess.report(&mut report);
    if writer.accepts_more() {
        warn_of_empty_window(view, rows.latest(), &mut report);
        check_channels(view, &rows.channels(), &mut report);
    }
    Ok(report)
}

/// Prints a row that the options select. Rows left out of a repeat are always reported.
fn print(
    (view, shown): (&ViewArgs, ByteRetention),
    channel: &Channel,
    mut row: TimedEvent,
    writer: &mut RowWriter<'_>,
    report: &mut RunReport,
) {
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
    if !is_selected(view, channel, first, last) || !keeps(writer, channel, &row) {
        return;
    }
    // The filter may use bytes that are not printed.
    if let ChannelEvent::Packet(packet) = &mut row.body
        && shown == ByteRetention::Forget
    {
        packet.bytes = None;
    }
    let row = &row;
    let lines = |mut out: &mut dyn FnMut(render::StyledLine)| {
        render::row(channel, row, view.unit(), &mut out);
    };
    match &row.body {
        ChannelEvent::Packet(packet) => {
            writer.row(&packet.row(&channel.name), RowSource::on(Some(channel)), lines);
        }
        ChannelEvent::Link(event) => {
            writer.row(&event.row(&channel.name, row.at), RowSource::on(Some(channel)), lines);
        }
        ChannelEvent::Begins
        | ChannelEvent::Framed
        | ChannelEvent::Head(_)
        | ChannelEvent::Data(_)
        | ChannelEvent::Command(_) => {}
        ChannelEvent::Omitted { rounds, every } => {
            render::row(channel, row, view.unit(), &mut |line| writer.line(&line));
            report.error(&format!(
                "channel {}, character {}: the rows of the preceding {every} characters repeat \
                 {rounds} more times and are not listed",
                channel.name, row.at
            ));
        }
    }
}

fn keeps(writer: &mut RowWriter<'_>, channel: &Channel, row: &TimedEvent) -> bool {
    let source = RowSource::on(Some(channel));
    match &row.body {
        ChannelEvent::Packet(packet) => writer.keeps(&packet.row(&channel.name), source),
        ChannelEvent::Link(event) => writer.keeps(&event.row(&channel.name, row.at), source),
        ChannelEvent::Begins
        | ChannelEvent::Framed
        | ChannelEvent::Head(_)
        | ChannelEvent::Data(_)
        | ChannelEvent::Command(_)
        | ChannelEvent::Omitted { .. } => true,
    }
}
