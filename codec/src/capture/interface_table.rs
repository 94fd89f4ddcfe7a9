//! Interfaces of a file: channels, the links that they form, and the end of each.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::LINK_TYPE;
use super::block_options::InterfaceOption;
use super::channel::{Channel, ChannelId, channel_id};
use super::chunk::{Chunk, PAYLOAD_MAX};
use super::error::{BlockPosition, CLASSIC_RECORD, CaptureError, CaptureFault, ReadExtent};
use super::foreign_interfaces::ForeignInterfaces;
use super::item::CaptureItem;
use crate::time::{CharacterPeriod, Tick};

/// Reciprocal of the part of the time by which blocks may be out of order: writers order them by
/// clocks, which differ by ±100 ppm. W-6
const CLOCKS_APART: u128 = 5_000;

/// Most interfaces of a file, all sections together. *Chosen*: a file of 4 GiB can declare
/// 200 million, in a few bytes each.
pub const INTERFACES_MAX: usize = 65_536;

/// Most bytes of interface descriptions in a file, all together. *Chosen*: 256 for each.
const DESCRIPTIONS_MAX: u64 = 16 << 20;

/// An interface description block without its options.
pub(super) struct InterfaceDescription {
    pub(super) link_type: u32,
    /// Length of the block.
    pub(super) len: u32,
    pub(super) place: BlockPosition,
}

#[derive(Debug, Default)]
pub(super) struct InterfaceTable {
    /// `None`: of another link type.
    interfaces: Vec<Option<InterfaceEntry>>,
    /// Interfaces of the section by number.
    section: Vec<SectionInterface>,
    /// Sections before this one.
    sections: usize,
    /// True until the first chunk of a section that may continue the capture before it.
    is_pending: bool,
    /// Offset before which each section goes on with the capture, though its first chunk may not be read.
    pub(super) one_capture: u64,
    /// Channels of the capture by name, the first of each name.
    names: BTreeMap<String, usize>,
    /// Start of the newest chunk of the capture, in nanoseconds.
    newest: u128,
    /// Number of interface descriptions so far, and of their bytes.
    pub(super) descriptions: usize,
    described: u64,
    foreign: ForeignInterfaces,
    /// Captures so far: those that have channels.
    captures: u32,
    pub(super) extent: ReadExtent,
}

/// Bytes from a block's captured length to its payload, in pcapng and in classic pcap.
const CAPTURED_LENGTH_BEFORE: u64 = 8;

#[derive(Debug)]
enum SectionInterface {
    /// Pending until the section's first chunk; none for another link type.
    Waiting(Option<Box<(Channel, BlockPosition)>>),
    /// Place in `interfaces`.
    Known(usize),
}

#[derive(Debug)]
struct InterfaceEntry {
    channel: Arc<Channel>,
    /// Its number in the section that declared it.
    number: usize,
    /// The last section that has it.
    section: usize,
    /// The other direction of the link.
    peer: Option<usize>,
    /// End of its last chunk.
    end: Tick,
    place: BlockPosition,
}

impl InterfaceTable {
    pub(super) fn skipped(&self) -> u64 {
        self.foreign.count()
    }

    pub(super) const fn stop(&mut self, offset: u64) {
        self.extent.stopped_at = Some(offset);
    }

    pub(super) fn reject(&mut self, fault: CaptureFault, out: &mut dyn FnMut(CaptureItem<'_>)) {
        self.extent.left_out = self.extent.left_out.saturating_add(1);
        out(CaptureItem::Fault(fault));
    }

    /// The contents of a file without channels, as text.
    pub(super) fn without_channel(&self) -> Option<String> {
        // The end of the file ends a section too.
        let sections = (self.sections as u64).saturating_sub(1);
        (self.captures == 0).then(|| self.foreign.describe(sections))
    }

    /// Begins a section at an offset, which may continue the capture before it.
    pub(super) fn begin_section(&mut self, offset: u64, out: &mut dyn FnMut(CaptureItem<'_>)) {
        self.end_section(out);
        if self.names.is_empty() {
            out(CaptureItem::Section);
        } else if offset >= self.one_capture {
            self.is_pending = true;
        }
    }

    pub(super) fn declare<'a>(
        &mut self,
        InterfaceDescription { link_type, len, place }: InterfaceDescription,
        words: impl Iterator<Item = InterfaceOption<'a>>,
        out: &mut dyn FnMut(CaptureItem<'_>),
    ) -> Result<(), CaptureError> {
        self.described += u64::from(len);
        self.descriptions += 1;
        if self.descriptions > INTERFACES_MAX || self.described > DESCRIPTIONS_MAX {
            let fault = format!(
                "exceeds the limit: a file may have {INTERFACES_MAX} in {DESCRIPTIONS_MAX} bytes"
            );
            return Err(CaptureError::Damaged(place.fault("interface", fault)));
        }
        let mut local = None;
        if link_type == u32::from(LINK_TYPE) {
            let mut channel = Channel::named(format!("interface{}", self.descriptions - 1));
            for word in words {
                match word {
                    InterfaceOption::Name(name) => channel.name = name.into_owned(),
                    InterfaceOption::Comment(comment) => {
                        channel.apply_description(&comment, &mut |field, fault| {
                            out(CaptureItem::Fault(place.fault(field, fault)));
                        });
                    }
                }
            }
            local = Some(Box::new((channel, place)));
        } else {
            self.foreign.add(link_type);
        }
        self.section.push(SectionInterface::Waiting(local));
        if !self.is_pending {
            self.resolve_interface(self.section.len() - 1, out);
        }
        Ok(())
    }

    fn resolve_section(&mut self, out: &mut dyn FnMut(CaptureItem<'_>)) {
        self.is_pending = false;
        (0..self.section.len()).for_each(|number| self.resolve_interface(number, out));
    }

    fn resolve_interface(&mut self, number: usize, out: &mut dyn FnMut(CaptureItem<'_>)) {
        let Some(local @ SectionInterface::Waiting(_)) = self.section.get_mut(number) else {
            return;
        };
        let id = self.interfaces.len();
        let SectionInterface::Waiting(waiting) =
            std::mem::replace(local, SectionInterface::Known(id))
        else {
            return;
        };
        let Some((mut channel, place)) = waiting.map(|waiting| *waiting) else {
            self.interfaces.push(None);
            return;
        };
        let section = self.sections;
        if let Some(old) = self.continued_channel(&channel) {
            self.interface_mut(old).into_iter().for_each(|old| old.section = section);
            if let Some(local) = self.section.get_mut(number) {
                *local = SectionInterface::Known(old);
            }
            return;
        }
        // The first channel of a capture begins it: a section header alone does not.
        self.captures += u32::from(self.names.is_empty());
        channel.capture = self.captures.saturating_sub(1);
        let channel = Arc::new(channel);
        out(CaptureItem::Channel(channel_id(id), &channel));
        self.names.entry(channel.name.clone()).or_insert(id);
        let peer = self.partner(number, &channel);
        let end = Tick(0);
        self.interfaces.push(Some(InterfaceEntry { channel, number, section, peer, end, place }));
        if let Some(peer) = peer {
            self.interface_mut(peer).into_iter().for_each(|other| other.peer = Some(id));
            out(CaptureItem::Link(channel_id(peer), channel_id(id)));
        }
    }

    /// The channel of an earlier section that an interface continues: of the same name and
    /// rate, and no other interface's of the section.
    fn continued_channel(&self, channel: &Channel) -> Option<usize> {
        let id = *self.names.get(&channel.name)?;
        let old = self.interface(id)?;
        let goes_on = old.section != self.sections && old.channel.period == channel.period;
        goes_on.then_some(id)
    }

    /// The channel declared before that makes a link with this one: each names the other, by number
    /// or by the reversed name. Numbers take precedence, but tools that merge captures do not adapt
    /// them: one that names a channel which does not name it back is ignored.
    fn partner(&self, number: usize, channel: &Channel) -> Option<usize> {
        let peer = channel.peer.map(|peer| peer as usize);
        let agrees = |id: &usize| {
            let Some(other) = self.interface(*id).filter(|other| other.peer.is_none()) else {
                return false;
            };
            let back = other.channel.peer.map(|peer| peer as usize);
            let own = self.channel_with_number(other.number) == Some(*id);
            let named = other.channel.opposite_name().as_ref() == Some(&channel.name);
            // A number that is still to be declared may yet prove right.
            own && back == Some(number) || named && (!own || back.is_none_or(|back| back < number))
        };
        let by_name = || self.names.get(&channel.opposite_name()?).copied().filter(agrees);
        match peer {
            Some(peer) if peer > number => None,
            Some(peer) => self.channel_with_number(peer).filter(agrees).or_else(by_name),
            None => by_name(),
        }
    }

    fn channel_with_number(&self, number: usize) -> Option<usize> {
        match self.section.get(number) {
            Some(SectionInterface::Known(id)) if self.interface(*id).is_some() => Some(*id),
            Some(SectionInterface::Known(_) | SectionInterface::Waiting(_)) | None => None,
        }
    }

    fn interface(&self, id: usize) -> Option<&InterfaceEntry> {
        self.interfaces.get(id)?.as_ref()
    }

    fn interface_mut(&mut self, id: usize) -> Option<&mut InterfaceEntry> {
        self.interfaces.get_mut(id)?.as_mut()
    }

    /// The character period of an interface of the section; none of one that is no channel.
    pub(super) fn period(&self, number: usize) -> Option<CharacterPeriod> {
        match self.section.get(number)? {
            SectionInterface::Waiting(waiting) => Some(waiting.as_ref()?.0.period),
            SectionInterface::Known(id) => Some(self.interface(*id)?.channel.period),
        }
    }

    /// Parses a payload: emits its chunk, or its fault.
    pub(super) fn chunk(
        &mut self,
        number: u32,
        (payload, original): (&[u8], u32),
        place: BlockPosition,
        out: &mut dyn FnMut(CaptureItem<'_>),
    ) {
        let number = number as usize;
        let Some(period) = self.period(number) else { return };
        let chunk = match parse(payload, original as usize, place) {
            Ok(chunk) => chunk,
            Err(fault) => return self.reject(fault, out),
        };
        // In whole nanoseconds: tools that order blocks see no finer.
        let start = period.time(chunk.first.0) / 1000;
        if self.is_pending {
            if !self.continues_capture(number, chunk.first, start) {
                // The channels of the section are new, even where names are the same.
                self.names.clear();
                self.newest = 0;
                out(CaptureItem::Section);
            }
            self.resolve_section(out);
        }
        self.emit_chunk(number, chunk, (start, place.within(8)), out);
    }

    /// Decides by its first chunk if a section continues the capture before it: on a
    /// channel of it, at or after its end, and not before any other chunk.
    fn continues_capture(&self, number: usize, first: Tick, start: u128) -> bool {
        let Some(SectionInterface::Waiting(Some(waiting))) = self.section.get(number) else {
            return false;
        };
        let old = self.continued_channel(&waiting.0).and_then(|id| self.interface(id));
        old.is_some_and(|old| old.end <= first) && self.newest <= start
    }

    /// Counts faults, and notes that chunks up to a character of some channels have been read before.
    pub(super) fn add(&mut self, faults: u64, ends: &[(ChannelId, Tick)]) {
        self.extent.faults = self.extent.faults.saturating_add(faults);
        for (id, end) in ends {
            if let Some(interface) = self.interface_mut(id.0 as usize) {
                interface.end = interface.end.max(*end);
            }
        }
    }

    /// Emits a chunk that begins at a nanosecond, unless it comes before its predecessor's end.
    fn emit_chunk(
        &mut self,
        number: usize,
        chunk: Chunk<'_>,
        (start, place): (u128, BlockPosition),
        out: &mut dyn FnMut(CaptureItem<'_>),
    ) {
        let Some(id) = self.channel_with_number(number) else { return };
        let newest = self.newest;
        let Some(interface) = self.interface_mut(id) else { return };
        if chunk.first < interface.end {
            let mut wrong = format!(
                "is {}, before {}, where the chunk before it ends",
                chunk.first, interface.end
            );
            if place.block == CLASSIC_RECORD {
                wrong += ": looks like several channels merged into one classic pcap, which has no \
                          interfaces: write pcapng";
            }
            return self.reject(place.fault("first", wrong), out);
        }
        interface.end = chunk.end();
        let end = interface.channel.period.time(chunk.end().0);
        self.extent.latest = self.extent.latest.max(Some((end, channel_id(id), chunk.end())));
        self.extent.last = Some((channel_id(id), chunk.end()));
        if newest - newest.min(start) > newest / CLOCKS_APART {
            let wrong = format!("is {}, earlier than a block before it begins", chunk.first);
            out(CaptureItem::Fault(place.fault("first", wrong)));
        }
        self.newest = newest.max(start);
        out(CaptureItem::Chunk(channel_id(id), chunk));
    }

    pub(super) fn abandon_section(&mut self, out: &mut dyn FnMut(CaptureItem<'_>)) {
        if self.is_pending {
            self.resolve_section(out);
        }
    }

    /// Ends a complete section and reports impossible peers. Numbers start anew.
    pub(super) fn end_section(&mut self, out: &mut dyn FnMut(CaptureItem<'_>)) {
        // A section without chunks adds its channels to the capture before it.
        self.abandon_section(out);
        for number in 0..self.section.len() {
            let Some(id) = self.channel_with_number(number) else { continue };
            let Some(interface) = self.interface(id) else { continue };
            let Some(peer) = interface.channel.peer.filter(|_| interface.number == number) else {
                continue;
            };
            let why = match self.channel_with_number(peer as usize) {
                Some(partner) if partner == id => "the channel itself",
                Some(_) if interface.peer.is_none() => "which does not name it back",
                Some(_) => continue,
                None => "which is no channel of this section",
            };
            out(CaptureItem::Fault(interface.place.fault("peer", format!("is {peer}, {why}"))));
        }
        self.section.clear();
        self.sections += 1;
    }
}

/// Parses a payload that had `original` bytes before a snap length cut it.
fn parse(payload: &[u8], original: usize, place: BlockPosition) -> Result<Chunk<'_>, CaptureFault> {
    let len = payload.len();
    if len > PAYLOAD_MAX {
        let fault = format!("takes {len} bytes, more than {PAYLOAD_MAX}");
        return Err(place.fault("payload", fault));
    }
    Chunk::parse(payload).map_err(|error| {
        if original <= len {
            return place.within(error.at() as u64).fault(error.field(), error.fault());
        }
        let fault = format!(
            "is {len} of {original}: snap length {len} cut the chunk; capture again with 0 or \
             {PAYLOAD_MAX}"
        );
        let offset = place.offset.saturating_sub(CAPTURED_LENGTH_BEFORE);
        BlockPosition { offset, ..place }.fault("captured length", fault)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Links and faults of channels with these names and peers.
    fn check(channels: &[(&str, Option<u32>)]) -> Vec<String> {
        let mut log = Vec::new();
        let mut table = InterfaceTable::default();
        for (name, peer) in channels {
            let comment = Channel { peer: *peer, ..Channel::named(*name) }.description();
            let words =
                [InterfaceOption::Name((*name).into()), InterfaceOption::Comment(comment.into())]
                    .into_iter();
            let place = BlockPosition { offset: 0, number: 0, block: "interface description" };
            let declared = InterfaceDescription { link_type: u32::from(LINK_TYPE), len: 0, place };
            let mut out = |item: CaptureItem<'_>| {
                if let CaptureItem::Link(one, other) = item {
                    log.push(format!("{one}-{other}"));
                }
            };
            table.declare(declared, words, &mut out).unwrap();
        }
        table.end_section(&mut |item| {
            if let CaptureItem::Fault(fault) = item {
                log.push(fault.fault);
            }
        });
        log
    }

    #[test]
    fn a_link_is_what_possible_numbers_say_or_else_reversed_names() {
        assert_eq!(check(&[("x", Some(1)), ("y", Some(0))]), ["0-1"]);
        let four = [("a>b", Some(2)), ("b>a", Some(3)), ("x", Some(0)), ("y", Some(1))];
        assert_eq!(check(&four), ["0-2", "1-3"]);
        assert_eq!(check(&[("a>b", None), ("c>d", None), ("b>a", None)]), ["0-2"]);
        assert_eq!(check(&[("a>b", None), ("b>a", Some(0))]), ["0-1"]);
        assert_eq!(check(&[("a>b", Some(1)), ("b>a", None)]), ["0-1"]);
        assert_eq!(check(&[("a>a", None)]), Vec::<String>::new());
        // What a merge made wrong gives way.
        let merged = [("a>b", Some(1)), ("b>a", Some(0)), ("c>d", Some(1)), ("d>c", Some(0))];
        assert_eq!(check(&merged), ["0-1", "2-3"]);
        // A number that is still to be declared comes before a name.
        assert_eq!(check(&[("a>b", Some(2)), ("b>a", None), ("x", Some(0))]), ["0-2"]);
        assert_eq!(check(&[("a>b", None), ("b>a", Some(2)), ("x", Some(1))]), ["1-2"]);
        assert_eq!(check(&[("x", Some(0))]), ["is 0, the channel itself"]);
        assert_eq!(check(&[("x", Some(7))]), ["is 7, which is no channel of this section"]);
        let three = check(&[("x", Some(1)), ("y", Some(2)), ("z", Some(1))]);
        assert_eq!(three, ["1-2", "is 1, which does not name it back"]);
    }
}
