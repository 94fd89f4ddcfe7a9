//! `myriscope packets` and `myriscope events`: rows of a capture in order of time.

use analyzer::event::{ChannelEvent, TimedEvent};
use analyzer::event_reader::{EventReader, ReadItem};
use analyzer::filter::RowKind;
use analyzer::packet::ByteRetention;
use analyzer::render;
use analyzer::timeline::EventFilter;
use codec::capture::{Channel, ReadProgress};

use crate::analyze::{DialectGuess, check_channels, read_all, warn_of_empty_window};
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
    let kind = match filter {
        EventFilter::Packets => RowKind::Packets,
        EventFilter::Events | EventFilter::All => RowKind::Events,
    };
    list_rows(view, kind, output, |writer| list(view, (filter, bytes), writer))
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
        warn_of_empty_window((&view.part, view.unit()), rows.latest(), &mut report);
        check_channels(&view.part, &rows.channels(), &mut report);
    }
    Ok(report)
}

/// Prints a row that the options select. Rows left out of a repeat are always reported.
fn print(
    (view, shown): (&ViewArgs, ByteRetention),
    channel: &Channel,
    mut event: TimedEvent,
    writer: &mut RowWriter<'_>,
    report: &mut RunReport,
) {
    let (part, kind) = (&view.part, writer.selection().kind);
    // The filter may use bytes that are not printed: then it is asked before they are taken away.
    let mut is_kept = None;
    if shown == ByteRetention::Forget && event.body.packet().is_some_and(|it| it.bytes.is_some()) {
        is_kept = Some(false);
        part.channel_row(kind, (channel, &event), &mut |row| {
            is_kept = Some(writer.keeps(row.row, RowSource::of(row)));
        });
        if let ChannelEvent::Packet(packet) = &mut event.body {
            packet.bytes = None;
        }
    }
    if is_kept != Some(false) {
        part.channel_row(kind, (channel, &event), &mut |row| {
            if is_kept.is_some() || writer.keeps(row.row, RowSource::of(row)) {
                writer.row(row.row, RowSource::of(row), |out| row.lines(view.unit(), out));
            }
        });
    }
    if let ChannelEvent::Omitted { rounds, every, .. } = event.body
        && part.has(channel, [event.at; 2])
    {
        render::row(channel, &event, view.unit(), &mut |line| writer.line(&line));
        report.error(&format!(
            "channel {}, character {}: the rows of the preceding {every} characters repeat \
             {rounds} more times and are not listed",
            channel.name, event.at
        ));
    }
}
