//! `myriscope packets` and `myriscope events`: the rows of a capture, in time.

use analyzer::filter::RowKind;
use analyzer::packet::Bytes;
use analyzer::reading::{Rows, Said};
use analyzer::text;
use analyzer::timeline::{Row, Want, What};
use codec::capture::{Channel, Progress};

use crate::args::View;
use crate::files;
use crate::listing::{Choice, Listing, Origin, read_on};
use crate::output::Output;
use crate::report::{Failure, Report};

pub(crate) fn run(
    view: &View,
    want: Want,
    bytes: Bytes,
    output: &mut Output,
) -> Result<Report, Failure> {
    let (kind, head) = match want {
        Want::Packets => (RowKind::Packets, text::packet_head()),
        Want::Events | Want::All => (RowKind::Events, text::event_head()),
    };
    let Some(choice) = Choice::of(view, kind, output)? else { return Ok(Report::default()) };
    let capture = files::open(&view.file).map_err(|e| Failure::file(&view.file, &e))?;
    let mut report = Report::of(&view.file);
    let shown = if choice.shows("bytes") { Bytes::Keep } else { bytes };
    let needed = if choice.needs("bytes") { Bytes::Keep } else { bytes };
    let mut rows = Rows::new(capture, want, needed);
    let mut listing = Listing::new(view, choice, kind.name(), output);
    listing.head(|out| out(head));
    read_on(&mut report, |report| {
        if !listing.wants_more() {
            return Ok(Progress::Done);
        }
        rows.step(&mut |said| match said {
            Said::Row(channel, mut row)
                if is_asked_for(view, channel, &row) && keeps(&mut listing, channel, &row) =>
            {
                if shown == Bytes::Forget {
                    forget(&mut row);
                }
                print(channel, &row, &mut listing, report);
            }
            Said::Row(..) => {}
            Said::Fault(fault) => report.fault(fault),
        })
    })?;
    if let Some(name) = &view.channel
        && listing.wants_more()
        && !rows.names().any(|found| found == name)
    {
        report.no_channel(name, rows.names());
    }
    listing.finish();
    Ok(report)
}

/// Whether the row is of the channel, and any of its characters in the window.
fn is_asked_for(view: &View, channel: &Channel, row: &Row) -> bool {
    let (from, to) = view.window().on(channel);
    let (first, last) = match &row.what {
        What::Packet(packet) => (packet.start, packet.end),
        What::Event(_) | What::Detail(_) | What::Omitted { .. } => (row.at, row.at),
    };
    let named = view.channel.as_ref().is_none_or(|name| *name == channel.name);
    named && first < to && from <= last
}

/// Whether the row is as the filter says. What is left out is told all the same.
fn keeps(listing: &mut Listing<'_>, channel: &Channel, row: &Row) -> bool {
    let origin = Origin::on(Some(channel));
    match &row.what {
        What::Packet(packet) => listing.keeps(&packet.row(&channel.name), origin),
        What::Event(event) => listing.keeps(&event.row(&channel.name, row.at), origin),
        What::Detail(_) | What::Omitted { .. } => true,
    }
}

/// Drops bytes that only the filter has asked for.
fn forget(row: &mut Row) {
    if let What::Packet(packet) = &mut row.what {
        packet.bytes = None;
    }
}

fn print(channel: &Channel, row: &Row, listing: &mut Listing<'_>, report: &mut Report) {
    let lines = |mut out: &mut dyn FnMut(text::Line)| text::row(channel, row, &mut out);
    match &row.what {
        What::Packet(packet) => listing.row(&packet.row(&channel.name), channel.capture, lines),
        What::Event(event) => {
            listing.row(&event.row(&channel.name, row.at), channel.capture, lines);
        }
        // They are not asked for.
        What::Detail(_) => {}
        What::Omitted { rounds, every } => {
            text::row(channel, row, &mut |line| listing.line(&line));
            report.left_out(format!(
                "channel {}, character {}: the rows of the {every} characters before come {rounds} \
                 times more, and are not listed",
                channel.name, row.at
            ));
        }
    }
}
