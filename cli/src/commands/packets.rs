//! `myriscope packets` and `myriscope events`: rows of a capture in order of time.

use analyzer::event::{ChannelEvent, TimedEvent};
use analyzer::event_reader::{EventReader, ReadItem};
use analyzer::filter::RowKind;
use analyzer::packet::ByteRetention;
use analyzer::render;
use analyzer::timeline::EventFilter;
use codec::capture::{Channel, ReadProgress};

use crate::analyze::{check_channels, is_selected};
use crate::args::ViewArgs;
use crate::exit::{CommandResult, RunReport};
use crate::output::StandardOutput;
use crate::rows::{RowSelection, RowSource, RowWriter, read_all};

pub(crate) fn run(
    view: &ViewArgs,
    filter: EventFilter,
    bytes: ByteRetention,
    output: &mut StandardOutput,
) -> CommandResult {
    let (kind, head) = match filter {
        EventFilter::Packets => (RowKind::Packets, render::packet_head()),
        EventFilter::Events | EventFilter::All => (RowKind::Events, render::event_head()),
    };
    let Some(selection) = RowSelection::of(view, kind, output)? else {
        return Ok(RunReport::default());
    };
    let capture = view.input().open()?;
    let mut report = RunReport::of(&view.file);
    let shown = if selection.shows("bytes") { ByteRetention::Keep } else { bytes };
    let needed = if selection.needs("bytes") { ByteRetention::Keep } else { bytes };
    let mut rows = EventReader::new(capture, filter, needed);
    let mut writer = RowWriter::new(view, selection, kind.name(), output);
    writer.head(|out| out(head));
    read_all(&mut report, |report| {
        if !writer.accepts_more() {
            return Ok(ReadProgress::Done);
        }
        rows.step(&mut |item| match item {
            ReadItem::Row(channel, row) => {
                print((view, shown), channel, row, &mut writer, report);
            }
            ReadItem::Fault(fault) => report.fault(fault),
        })
    })?;
    if writer.accepts_more() {
        check_channels(view, &rows.channels(), &mut report);
    }
    writer.finish();
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
    let lines = |mut out: &mut dyn FnMut(render::StyledLine)| render::row(channel, row, &mut out);
    match &row.body {
        ChannelEvent::Packet(packet) => {
            writer.row(&packet.row(&channel.name), channel.capture, lines);
        }
        ChannelEvent::Link(event) => {
            writer.row(&event.row(&channel.name, row.at), channel.capture, lines);
        }
        ChannelEvent::Begins
        | ChannelEvent::Framed
        | ChannelEvent::Head(_)
        | ChannelEvent::Data(_)
        | ChannelEvent::Command(_) => {}
        ChannelEvent::Omitted { rounds, every } => {
            render::row(channel, row, &mut |line| writer.line(&line));
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
