//! `myriscope export packets`: packets or journeys, each in a block of a pcapng file.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::ops::ControlFlow;

use analyzer::annotations::CommentSet;
use analyzer::event::{ChannelEvent, TimedEvent};
use analyzer::event_reader::{EventReader, ReadItem};
use analyzer::filter::{Filter, RowKind};
use analyzer::link::parameters::LinkAssumptions;
use analyzer::options::AnalysisScope;
use analyzer::packet::{ByteRetention, ReceivedPacket};
use analyzer::pipeline::AnalysisEvent;
use analyzer::render::{StyledLine, TextStyle, count};
use analyzer::row::ListRow as _;
use analyzer::timeline::EventFilter;
use codec::capture::{
    Channel, ChannelId, ExportContents, ExportedPacket, PacketExport, WriteError,
};
use codec::packet::PacketDialect;
use codec::vita26::ip_packet;
use serde_json::Value;

use crate::analyze::{DialectGuess, analyze, read_all};
use crate::args::{ExportPacketsArgs, ExportSelection, PayloadKind};
use crate::atomic_file::{AtomicFile, commit_read};
use crate::commands::annotate;
use crate::exit::{CliError, CommandResult, RunReport, is_standard, is_standard_input};
use crate::input::InputFile;
use crate::output::StandardOutput;
use crate::rows::parse_filter;
use crate::selection::SelectedRow;

/// Payloads whose copies on other channels are known. *Chosen*: those of some seconds on a large network.
const PAYLOADS_MAX: usize = 1 << 17;

pub(super) fn run(arguments: &ExportPacketsArgs, output: &mut StandardOutput) -> CommandResult {
    let ExportPacketsArgs { selection, journeys, payload, filter, dialect } = arguments;
    let ExportSelection { files, output: copy, .. } = selection;
    let file = &files.file;
    if is_standard_input(file) {
        let error = "export packets reads the capture twice: name a file";
        return Err(CliError::reading(file, &error));
    }
    files.check_output(copy)?;
    let contents = match payload {
        None => ExportContents::Records,
        Some(PayloadKind::Ethernet) if dialect.value() == PacketDialect::Tag => {
            let what = "--payload ethernet: no type of packet of one byte carries Ethernet; \
                        --dialect vita26 has one";
            return Err(CliError::Message(what.to_owned()));
        }
        Some(PayloadKind::Ethernet) => ExportContents::Ethernet,
        Some(PayloadKind::Ip) => ExportContents::Ip,
    };
    let kind = if *journeys { RowKind::Journeys } else { RowKind::Packets };
    let mut report = RunReport::of(file);
    let mut writing = PacketWriting {
        arguments,
        filter: parse_filter(filter.as_deref(), kind)?,
        comments: annotate::collect(input(arguments), &mut report)?,
        export: PacketExport::new(AtomicFile::create(copy)?, contents)
            .map_err(|error| CliError::writing(copy, &error))?,
        interfaces: BTreeMap::new(),
        guess: DialectGuess::default(),
        payloads: WrittenPayloads::default(),
        written: 0,
        failure: None,
    };
    if *journeys { writing.journeys() } else { writing.packets() }?;
    let PacketWriting { export, written, failure, guess, .. } = writing;
    guess.report(&mut report);
    let finished = match failure {
        Some(error) => Err(error),
        None => export.finish().map_err(WriteError::from),
    };
    let finished = vec![finished.map_err(|error| CliError::writing(copy, &error))?];
    if commit_read(finished, &mut report)? && !is_standard(copy) {
        let what = match payload {
            None if *journeys => "journey",
            None => "packet",
            Some(PayloadKind::Ethernet) => "Ethernet frame",
            Some(PayloadKind::Ip) => "IP packet",
        };
        let text = format!("{} written", count(written, what));
        output.line(&StyledLine::of(TextStyle::Plain, text));
    }
    Ok(report)
}

/// The capture in its dialect.
fn input(arguments: &ExportPacketsArgs) -> InputFile<'_> {
    let dialect = arguments.dialect.value();
    InputFile { dialect, ..arguments.selection.files.input() }
}

struct PacketWriting<'a> {
    arguments: &'a ExportPacketsArgs,
    filter: Option<Filter>,
    comments: CommentSet,
    export: PacketExport<AtomicFile>,
    /// Interfaces of channels that have been written.
    interfaces: BTreeMap<ChannelId, u32>,
    guess: DialectGuess,
    payloads: WrittenPayloads,
    written: u64,
    failure: Option<WriteError>,
}

/// Payloads that were written. Each is written once, though a packet passes several channels: the n-th time that a
/// channel has the same bytes is the n-th packet with them.
#[derive(Debug, Default)]
struct WrittenPayloads {
    /// Number of times that a payload was written, and that each channel had it.
    counts: BTreeMap<u64, (u32, BTreeMap<ChannelId, u32>)>,
    /// Payloads in the order of their first bytes.
    order: VecDeque<u64>,
}

impl WrittenPayloads {
    /// True for a packet whose payload has not been written.
    fn is_new(&mut self, id: ChannelId, payload: &(impl Hash + ?Sized)) -> bool {
        let mut hasher = DefaultHasher::new();
        payload.hash(&mut hasher);
        let key = hasher.finish();
        if !self.counts.contains_key(&key) {
            self.order.push_back(key);
            if self.order.len() > PAYLOADS_MAX {
                self.order.pop_front().iter().for_each(|old| drop(self.counts.remove(old)));
            }
        }
        let (written, channels) = self.counts.entry(key).or_default();
        let count = channels.entry(id).or_default();
        *count += 1;
        let is_new = *count > *written;
        *written = (*written).max(*count);
        is_new
    }
}

impl PacketWriting<'_> {
    fn packets(&mut self) -> Result<(), CliError> {
        let capture = input(self.arguments).channels()?;
        let mut rows = EventReader::of_reader(capture, EventFilter::Packets, ByteRetention::Keep);
        // The faults are in the report of the first reading.
        read_all(&mut RunReport::default(), |_| {
            rows.step(&mut |item| {
                if let ReadItem::Row(channel, mut row) = item
                    && let ChannelEvent::Packet(packet) = &mut row.body
                    && self.failure.is_none()
                {
                    packet.read_as(self.arguments.dialect.value());
                    self.guess.add(packet);
                    self.failure = self.packet(channel, &row).err();
                }
            })
        })?;
        self.check_channels(&rows.channels())
    }

    fn packet(&mut self, channel: &Channel, event: &TimedEvent) -> Result<(), WriteError> {
        let ChannelEvent::Packet(packet) = &event.body else { return Ok(()) };
        let (id, start, end) = (event.channel, packet.start, packet.end);
        let (part, mut is_kept) = (&self.arguments.selection.part, false);
        part.channel_row(RowKind::Packets, (channel, event), &mut |row| {
            is_kept = self.keeps(row);
        });
        if !is_kept {
            return Ok(());
        }
        if let Some(kind) = self.arguments.payload {
            return self.payload(kind, (id, channel), packet);
        }
        let interface = self.interface(id, channel)?;
        let packet = ExportedPacket {
            channel,
            number: packet.number,
            start,
            end,
            length: packet.length,
            bytes: packet.bytes.as_ref().map(|bytes| bytes.bytes()).unwrap_or_default(),
            is_headless: packet.is_headless(),
            check: packet.check,
            ended_by: packet.ended_by,
            dialect: packet.dialect,
        };
        self.written += 1;
        self.export.packet(interface, &packet, self.comments.within(id, start, end))
    }

    /// Writes what a packet carries, if it carries this.
    fn payload(
        &mut self,
        kind: PayloadKind,
        (id, channel): (ChannelId, &Channel),
        packet: &ReceivedPacket,
    ) -> Result<(), WriteError> {
        let is_vita26 = packet.dialect == PacketDialect::Vita26;
        let frame = packet.vita26_frame().filter(|_| is_vita26);
        let carried = match kind {
            PayloadKind::Ethernet => frame,
            PayloadKind::Ip => frame
                .and_then(|(frame, missing)| Some((ip_packet(frame)?, missing)))
                .or_else(|| packet.ip_bytes()),
        };
        let Some((bytes, missing)) = carried else { return Ok(()) };
        if !self.payloads.is_new(id, &(channel.capture, bytes)) {
            return Ok(());
        }
        let interface = self.interface(id, channel)?;
        let time = channel.period.time(packet.start.0);
        self.written += 1;
        let comments = self.comments.within(id, packet.start, packet.end);
        self.export.payload(interface, time, (bytes, missing), comments)
    }

    fn journeys(&mut self) -> Result<(), CliError> {
        let (scope, assumptions) = (AnalysisScope::Network, LinkAssumptions::default());
        let file = input(self.arguments);
        let mut report = RunReport::default();
        let analysis = analyze(file, scope, assumptions, &mut report, &mut |analysis, event| {
            self.failure = self.journey(&event, &|id| analysis.channel(id)).err();
            match self.failure {
                Some(_) => ControlFlow::Break(()),
                None => ControlFlow::Continue(()),
            }
        })?;
        let channels: Vec<&Channel> = analysis.channels().map(|(_, channel)| channel).collect();
        self.check_channels(&channels.into_iter())
    }

    fn journey<'c>(
        &mut self,
        event: &AnalysisEvent,
        known: &dyn Fn(ChannelId) -> Option<&'c Channel>,
    ) -> Result<(), WriteError> {
        let AnalysisEvent::Journey(journey) = event else { return Ok(()) };
        let (part, mut fields) = (&self.arguments.selection.part, None);
        part.row(RowKind::Journeys, event, known, &mut |row| {
            fields = self.keeps(row).then(|| {
                let mut fields = String::new();
                add_fields(&mut fields, "", &row.captured().json());
                fields
            });
        });
        let mut hops = journey.hops.iter();
        let first = hops.find_map(|hop| Some((hop, known(hop.channel)?)));
        let (Some(fields), Some((first, channel))) = (fields, first) else { return Ok(()) };
        let interface = self.interface(first.channel, channel)?;
        let hops = journey.hops.iter();
        let comments = hops.flat_map(|hop| self.comments.within(hop.channel, hop.start, hop.end));
        self.written += 1;
        self.export.journey(interface, (first.time, &fields), comments)
    }

    fn keeps(&mut self, row: &SelectedRow<'_>) -> bool {
        self.filter.as_mut().is_none_or(|filter| filter.keeps(&row.captured(), row.period))
    }

    fn check_channels<'c>(
        &self,
        channels: &(impl Iterator<Item = &'c Channel> + Clone),
    ) -> Result<(), CliError> {
        let checked = self.arguments.selection.part.channels().check(channels);
        checked.map_err(|error| CliError::reading(&self.arguments.selection.files.file, &error))
    }

    fn interface(&mut self, id: ChannelId, channel: &Channel) -> Result<u32, WriteError> {
        if let Some(interface) = self.interfaces.get(&id) {
            return Ok(*interface);
        }
        let interface = self.export.declare(channel)?;
        self.interfaces.insert(id, interface);
        Ok(interface)
    }
}

/// Adds the values of an object as lines `name=value`, members under their whole names. A list is its length,
/// then a line with its name before each element. Line breaks in texts, which end lines, become spaces.
fn add_fields(out: &mut String, name: &str, value: &Value) {
    let mut line = |value: &dyn std::fmt::Display| {
        let value = value.to_string().replace(['\n', '\r'], " ");
        // Writing to a string does not fail.
        let _ = writeln!(out, "{name}={value}");
    };
    match value {
        Value::Null => {}
        Value::Bool(value) => line(value),
        Value::Number(value) => line(value),
        Value::String(value) => line(value),
        Value::Array(list) => {
            line(&list.len());
            for element in list {
                *out += name;
                out.push('\n');
                add_fields(out, name, element);
            }
        }
        Value::Object(members) => {
            for (member, value) in members {
                let name =
                    if name.is_empty() { member.clone() } else { format!("{name}.{member}") };
                add_fields(out, &name, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_written_as_often_as_one_channel_has_it() {
        let mut payloads = WrittenPayloads::default();
        let is_new = [0, 0, 1, 1, 1, 0, 0].map(|id| payloads.is_new(ChannelId(id), "payload"));
        assert_eq!(is_new, [true, true, false, false, true, false, true]);
    }
}
