//! `myriscope packets` and `myriscope events`: the rows of a capture, in time.

use analyzer::packet::{Bytes, PacketSeen};
use analyzer::reading::{Rows, Said};
use analyzer::text;
use analyzer::timeline::{Row, Want, What};
use codec::capture::{Channel, Progress};
use codec::tick::Tick;

use crate::args::{Format, View};
use crate::files;
use crate::output::Output;
use crate::report::{Failure, Report};

pub(crate) fn run(
    view: &View,
    want: Want,
    bytes: Bytes,
    output: &mut Output,
) -> Result<Report, Failure> {
    let capture = files::open(&view.file).map_err(|e| Failure::file(&view.file, &e))?;
    let mut report = Report::of(&view.file);
    let mut reading = Rows::new(capture, want, bytes);
    let mut printer = Printer { view, output, printed: 0 };
    printer.head(want);
    while printer.wants_more() {
        let step = reading.step(&mut |said| match said {
            Said::Row(channel, row) => printer.row(channel, &row, &mut report),
            Said::Fault(fault) => report.fault(fault),
        });
        match step {
            Ok(Progress::More) => {}
            Ok(Progress::Done) => break,
            Err(error) => {
                report.error(&error);
                break;
            }
        }
    }
    printer.foot();
    match &view.channel {
        Some(name) if printer.wants_more() => reading
            .names()
            .any(|n| n == name)
            .then_some(report)
            .ok_or_else(|| Failure::no_channel(name, reading.names())),
        _ => Ok(report),
    }
}

/// Prints the rows that are asked for.
struct Printer<'a> {
    view: &'a View,
    output: &'a mut Output,
    printed: u64,
}

impl Printer<'_> {
    fn wants_more(&self) -> bool {
        self.output.is_open() && self.view.limit.is_none_or(|limit| self.printed < limit)
    }

    fn head(&mut self, want: Want) {
        match (self.view.format, want) {
            (Format::Text, Want::Packets) => self.output.line(&text::packet_head()),
            (Format::Text, Want::Events) => self.output.line(&text::event_head()),
            (Format::Json, Want::Packets) => self.output.text("{\"packets\":["),
            (Format::Json, Want::Events) => self.output.text("{\"events\":["),
            (Format::Jsonl, _) => {}
        }
    }

    fn foot(&mut self) {
        if self.view.format == Format::Json {
            self.output.text("]}\n");
        }
    }

    fn row(&mut self, channel: &Channel, row: &Row, report: &mut Report) {
        let wanted = self.view.channel.as_ref().is_none_or(|name| *name == channel.name);
        if !self.wants_more() || !wanted || !self.is_inside(channel, row) {
            return;
        }
        if let What::Omitted { rounds, every } = row.what {
            report.left_out(format!(
                "channel {}, character {}: the rows of the last {every} characters repeat {rounds} \
                 times more, and are not listed",
                channel.name, row.at
            ));
        }
        let before = if self.printed > 0 && self.view.format == Format::Json { ",\n" } else { "" };
        match (self.view.format, &row.what) {
            (Format::Text, _) => {
                text::row(channel, row, &mut |line| self.output.line(&line));
            }
            (Format::Json | Format::Jsonl, What::Omitted { .. }) => return,
            (Format::Json | Format::Jsonl, What::Packet(packet)) => {
                self.output.text(before);
                self.output.json(&packet.row(&channel.name), self.after());
            }
            (Format::Json | Format::Jsonl, What::Event(event)) => {
                self.output.text(before);
                self.output.json(&event.row(&channel.name, row.at), self.after());
            }
        }
        self.printed += 1;
    }

    fn after(&self) -> &'static str {
        if self.view.format == Format::Jsonl { "\n" } else { "" }
    }

    /// Whether any of the row's characters is in the window.
    fn is_inside(&self, channel: &Channel, row: &Row) -> bool {
        let (from, to) = self.view.window().on(channel);
        let (first, last): (Tick, Tick) = match &row.what {
            What::Packet(PacketSeen { start, end, .. }) => (*start, *end),
            What::Event(_) | What::Omitted { .. } => (row.at, row.at),
        };
        first < to && from <= last
    }
}
