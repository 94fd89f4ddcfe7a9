//! A trace for Perfetto: a group of tracks for each link, written event by event.
//!
//! Messages and numbers of fields are those of `protos/perfetto/trace/` of the Perfetto project: `TracePacket`,
//! `TrackDescriptor`, `TrackEvent`, `InternedData`.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{self, Write};

use codec::capture::{Channel, ChannelId};
use codec::time::Picoseconds;

use super::timeline::{TimelineItem, TimelineItemKind, link_name, packet_name};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ChannelTrack {
    State,
    Packets,
    FillMin,
    FillMax,
    Findings,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TrackEventKind {
    Begin = 1,
    End = 2,
    Instant = 3,
    Counter = 4,
}

/// A message of protocol buffers.
#[derive(Debug, Default)]
struct ProtoMessage(Vec<u8>);

impl ProtoMessage {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.0.push(value.to_le_bytes()[0]);
    }

    fn uint(&mut self, field: u64, value: u64) -> &mut Self {
        self.varint(field << 3);
        self.varint(value);
        self
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) -> &mut Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }
}

#[derive(Debug)]
pub(super) struct PerfettoTrace<W> {
    out: W,
    /// Number of each interned name, by the list that has it.
    names: BTreeMap<(u64, String), u64>,
    /// Group of each link, by capture and name of a channel.
    groups: BTreeMap<(u32, String), u64>,
    tracks: BTreeMap<(ChannelId, ChannelTrack), u64>,
    /// Number of groups and tracks.
    described: u64,
}

impl<W: Write> PerfettoTrace<W> {
    pub(super) fn new(out: W) -> Self {
        let (groups, tracks) = (BTreeMap::new(), BTreeMap::new());
        Self { out, names: BTreeMap::new(), groups, tracks, described: 0 }
    }

    pub(super) fn item(&mut self, channel: &Channel, item: &TimelineItem<'_>) -> io::Result<()> {
        use ChannelTrack::{FillMax, FillMin, Findings, Packets, State};
        let (id, [start, end]) = (item.channel, item.times);
        let on = |track| (id, channel, track);
        match &item.kind {
            TimelineItemKind::State(state) => {
                self.event(on(State), (start, TrackEventKind::Begin), |event, names| {
                    names.name(event, state.name());
                    names.annotate(event, "character", item.place);
                })?;
                self.event(on(State), (end, TrackEventKind::End), |_, _| {})
            }
            TimelineItemKind::Packet { journey, hop, is_last } => {
                self.event(on(Packets), (start, TrackEventKind::Begin), |event, names| {
                    names.name(event, &packet_name(journey));
                    if journey.hops.len() > 1 {
                        // Of eight bytes (1): 47 continues a flow of slices, 48 ends it.
                        event.varint(if *is_last { 48 << 3 | 1 } else { 47 << 3 | 1 });
                        event.0.extend((journey.number + 1).to_le_bytes());
                    }
                    names.annotate(event, "character", item.place);
                    names.annotate(event, "packet", hop.packet);
                    names.annotate(event, "bytes", hop.length);
                    names.annotate_text(event, "crc", hop.check.name());
                    names.annotate_text(event, "fate", journey.fate.name());
                    names.annotate_text(event, "match", journey.certainty.name());
                })?;
                self.event(on(Packets), (end, TrackEventKind::End), |_, _| {})
            }
            TimelineItemKind::Fill([min, max]) => {
                for (track, value) in [(FillMin, min), (FillMax, max)] {
                    let at = (start, TrackEventKind::Counter);
                    self.event(on(track), at, |event, _| {
                        event.uint(30, u64::from(*value));
                    })?;
                }
                Ok(())
            }
            TimelineItemKind::Finding { kind, count } => {
                self.event(on(Findings), (start, TrackEventKind::Instant), |event, names| {
                    names.name(event, kind);
                    names.annotate(event, "character", item.place);
                    names.annotate(event, "count", *count);
                })
            }
        }
    }

    /// Writes an event of a track, and before it what describes its track.
    fn event(
        &mut self,
        track: (ChannelId, &Channel, ChannelTrack),
        (time, kind): (Picoseconds, TrackEventKind),
        fill: impl FnOnce(&mut ProtoMessage, &mut NewNames<'_>),
    ) -> io::Result<()> {
        let track = self.track(track)?;
        let mut event = ProtoMessage::default();
        event.uint(9, kind as u64).uint(11, track);
        let mut names = NewNames { known: &mut self.names, new: ProtoMessage::default() };
        fill(&mut event, &mut names);
        let NewNames { new, .. } = names;
        let mut packet = ProtoMessage::default();
        let nanoseconds = u64::try_from(time / 1000).unwrap_or(u64::MAX);
        // 2: the packet needs the names of packets before it.
        packet.uint(8, nanoseconds).uint(10, 1).uint(13, 2).bytes(11, &event.0);
        if !new.0.is_empty() {
            packet.bytes(12, &new.0);
        }
        self.packet(&packet)
    }

    /// The identifier of a track, which is described at its first event.
    fn track(
        &mut self,
        (id, channel, track): (ChannelId, &Channel, ChannelTrack),
    ) -> io::Result<u64> {
        if let Some(known) = self.tracks.get(&(id, track)) {
            return Ok(*known);
        }
        let group = self.group(channel)?;
        let (name, is_counter) = match track {
            ChannelTrack::State => ("state", false),
            ChannelTrack::Packets => ("packets", false),
            ChannelTrack::FillMin => ("slack buffer, at least", true),
            ChannelTrack::FillMax => ("slack buffer, at most", true),
            ChannelTrack::Findings => ("findings", false),
        };
        self.described += 1;
        let mut about = ProtoMessage::default();
        about.uint(1, self.described).uint(5, group);
        about.bytes(2, format!("{} {name}", channel.name).as_bytes());
        if is_counter {
            about.bytes(8, ProtoMessage::default().bytes(6, b"cells").0.as_slice());
        }
        self.describe(&about)?;
        self.tracks.insert((id, track), self.described);
        Ok(self.described)
    }

    /// The identifier of the group of a channel's link.
    fn group(&mut self, channel: &Channel) -> io::Result<u64> {
        let key = |name: String| (channel.capture, name);
        if let Some(known) = self.groups.get(&key(channel.name.clone())) {
            return Ok(*known);
        }
        self.described += 1;
        if self.described == 1 {
            // 1: names are counted from here on.
            self.packet(ProtoMessage::default().uint(10, 1).uint(13, 1))?;
        }
        let mut about = ProtoMessage::default();
        about.uint(1, self.described).bytes(2, link_name(channel).as_bytes());
        self.describe(&about)?;
        for name in [Some(channel.name.clone()), channel.opposite_name()].into_iter().flatten() {
            self.groups.insert(key(name), self.described);
        }
        Ok(self.described)
    }

    fn describe(&mut self, track: &ProtoMessage) -> io::Result<()> {
        self.packet(ProtoMessage::default().uint(10, 1).bytes(60, &track.0))
    }

    fn packet(&mut self, packet: &ProtoMessage) -> io::Result<()> {
        let mut trace = ProtoMessage::default();
        trace.bytes(1, &packet.0);
        self.out.write_all(&trace.0)
    }

    pub(super) fn finish(self) -> W {
        self.out
    }
}

/// Names of events and annotations, which are written once and have a number from then on.
struct NewNames<'a> {
    known: &'a mut BTreeMap<(u64, String), u64>,
    /// An `InternedData` of the names that are new.
    new: ProtoMessage,
}

impl NewNames<'_> {
    /// The number of a name; `list` is the field of the list that has it.
    fn number(&mut self, list: u64, name: &str) -> u64 {
        let number = self.known.len() as u64 + 1;
        match self.known.entry((list, name.to_owned())) {
            Entry::Occupied(known) => return *known.get(),
            Entry::Vacant(place) => place.insert(number),
        };
        self.new.bytes(list, &ProtoMessage::default().uint(1, number).bytes(2, name.as_bytes()).0);
        number
    }

    fn name(&mut self, event: &mut ProtoMessage, name: &str) {
        event.uint(10, self.number(2, name));
    }

    fn annotate(&mut self, event: &mut ProtoMessage, name: &'static str, value: u64) {
        let number = self.number(3, name);
        event.bytes(4, &ProtoMessage::default().uint(1, number).uint(3, value).0);
    }

    fn annotate_text(&mut self, event: &mut ProtoMessage, name: &'static str, text: &str) {
        let number = self.number(3, name);
        event.bytes(4, &ProtoMessage::default().uint(1, number).bytes(6, text.as_bytes()).0);
    }
}
