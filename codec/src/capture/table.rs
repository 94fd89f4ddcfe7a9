//! The interfaces of a file: which are channels, which two make a link, how far each has come.

use std::collections::BTreeMap;

use super::LINK_TYPE;
use super::channel::{Channel, ChannelId};
use super::chunk::{Chunk, PAYLOAD_MAX};
use super::fault::{CaptureError, Fault, Place};
use super::reader::{INTERFACES_MAX, Item};
use crate::tick::Tick;

/// Most bytes of interface descriptions in a file, all together. *Chosen*: 256 for each.
const DESCRIPTIONS_MAX: u64 = 16 << 20;

/// A word of an interface's description.
pub(super) enum Word<'a> {
    Name(&'a str),
    Comment(&'a str),
}

/// An interface's description, but for its words.
pub(super) struct Declared {
    pub(super) link_type: u32,
    /// Bytes that it takes.
    pub(super) len: u32,
    pub(super) place: Place,
}

#[derive(Debug, Default)]
pub(super) struct Table {
    /// `None`: of another link type.
    interfaces: Vec<Option<Interface>>,
    /// First interface of the section.
    base: usize,
    /// Interfaces of the section by name, the first of a name.
    names: BTreeMap<String, usize>,
    /// When the newest chunk of the section begins, in nanoseconds.
    newest: u128,
    /// Bytes of descriptions so far.
    described: u64,
    skipped: u64,
}

#[derive(Debug)]
struct Interface {
    channel: Channel,
    /// The other direction of the link.
    peer: Option<usize>,
    /// Where the next chunk may begin.
    end: Tick,
    place: Place,
}

impl Table {
    pub(super) const fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Takes in an interface description.
    pub(super) fn declare<'a>(
        &mut self,
        Declared { link_type, len, place }: Declared,
        words: impl Iterator<Item = Word<'a>>,
        out: &mut impl FnMut(Item<'_>),
    ) -> Result<(), CaptureError> {
        self.described += u64::from(len);
        if self.interfaces.len() >= INTERFACES_MAX || self.described > DESCRIPTIONS_MAX {
            let fault = format!(
                "is one too many: a file may have {INTERFACES_MAX} in {DESCRIPTIONS_MAX} bytes"
            );
            return Err(CaptureError::Damaged(place.fault("interface", fault)));
        }
        if link_type != u32::from(LINK_TYPE) {
            self.skipped += 1;
            self.interfaces.push(None);
            return Ok(());
        }
        let id = self.interfaces.len();
        let mut channel = Channel::named(format!("interface{id}"));
        for word in words {
            match word {
                Word::Name(name) => name.clone_into(&mut channel.name),
                Word::Comment(comment) => channel.describe(comment, &mut |field, fault| {
                    out(Item::Fault(place.fault(field, fault)));
                }),
            }
        }
        out(Item::Channel(channel_id(id), &channel));
        self.names.entry(channel.name.clone()).or_insert(id);
        let peer = self.partner(id, &channel);
        self.interfaces.push(Some(Interface { channel, peer, end: Tick(0), place }));
        if let Some(peer) = peer {
            self.interface_mut(peer).into_iter().for_each(|other| other.peer = Some(id));
            out(Item::Link(channel_id(peer), channel_id(id)));
        }
        Ok(())
    }

    /// The channel declared before that makes a link with this one: each names the other, by number
    /// or by the reversed name. Numbers come first, but tools that merge captures leave them as
    /// they were: one that names a channel which does not name it back counts as none.
    fn partner(&self, id: usize, channel: &Channel) -> Option<usize> {
        let number = channel.peer.map(|peer| self.base + peer as usize);
        let by_name = || self.names.get(&channel.opposite_name()?).copied();
        let agrees = |partner: &usize| {
            let other = self.interface(*partner).filter(|other| other.peer.is_none())?;
            let back = other.channel.peer.map(|peer| self.base + peer as usize);
            let named = other.channel.opposite_name().as_ref() == Some(&channel.name);
            // A number that is still to be declared may yet prove right.
            let agrees = back == Some(id) || named && back.is_none_or(|back| back < id);
            agrees.then_some(())
        };
        let found = |partner: Option<usize>| partner.filter(|found| agrees(found).is_some());
        match number {
            Some(number) if number > id => None,
            Some(number) => found(Some(number)).or_else(|| found(by_name())),
            None => found(by_name()),
        }
    }

    fn interface(&self, id: usize) -> Option<&Interface> {
        self.interfaces.get(id)?.as_ref()
    }

    fn interface_mut(&mut self, id: usize) -> Option<&mut Interface> {
        self.interfaces.get_mut(id)?.as_mut()
    }

    /// Takes in a payload: hands out its chunk, or what is wrong with it.
    pub(super) fn chunk(
        &mut self,
        interface: u32,
        payload: &[u8],
        place: Place,
        out: &mut impl FnMut(Item<'_>),
    ) {
        let id = self.base + interface as usize;
        let Some(Some(interface)) = self.interfaces.get_mut(id) else { return };
        let mut fault = |place: Place, field, fault| out(Item::Fault(place.fault(field, fault)));
        if payload.len() > PAYLOAD_MAX {
            let len = payload.len();
            return fault(place, "payload", format!("takes {len} bytes, more than {PAYLOAD_MAX}"));
        }
        match Chunk::parse(payload) {
            Ok(chunk) if chunk.first < interface.end => {
                let wrong = format!(
                    "is {}, before {}, where the chunk before it ends",
                    chunk.first, interface.end
                );
                fault(place.within(8), "first", wrong);
            }
            Ok(chunk) => {
                interface.end = chunk.end();
                let period = u128::from(interface.channel.period_ps.get());
                // In whole nanoseconds: tools that order blocks see no finer.
                let start = u128::from(chunk.first.0) * period / 1000;
                if start < self.newest {
                    let wrong =
                        format!("is {}, earlier than a block before it begins", chunk.first);
                    fault(place.within(8), "first", wrong);
                }
                self.newest = self.newest.max(start);
                out(Item::Chunk(channel_id(id), chunk));
            }
            Err(error) => fault(place.within(error.at() as u64), error.field(), error.fault()),
        }
    }

    /// Ends a section that is whole: tells of peers that cannot be. Numbers start anew.
    pub(super) fn end_section(&mut self, out: &mut impl FnMut(Fault)) {
        for id in self.base..self.interfaces.len() {
            let Some(interface) = self.interface(id) else { continue };
            let Some(peer) = interface.channel.peer else { continue };
            let partner = self.base + peer as usize;
            let why = match self.interface(partner) {
                Some(_) if partner == id => "the channel itself",
                Some(_) if interface.peer.is_none() => "which does not name it back",
                Some(_) => continue,
                None => "which is no channel of this section",
            };
            out(interface.place.fault("peer", format!("is {peer}, {why}")));
        }
        self.base = self.interfaces.len();
        self.names.clear();
        self.newest = 0;
    }
}

fn channel_id(id: usize) -> ChannelId {
    // There are at most `INTERFACES_MAX`.
    ChannelId(u32::try_from(id).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Links and faults of channels with these names and peers.
    fn check(channels: &[(&str, Option<u32>)]) -> Vec<String> {
        let mut said = Vec::new();
        let mut table = Table::default();
        for (name, peer) in channels {
            let comment = Channel { peer: *peer, ..Channel::named(*name) }.description();
            let words = [Word::Name(name), Word::Comment(&comment)].into_iter();
            let place = Place { offset: 0, number: 0, block: "interface description" };
            let declared = Declared { link_type: u32::from(LINK_TYPE), len: 0, place };
            let mut out = |item: Item<'_>| {
                if let Item::Link(one, other) = item {
                    said.push(format!("{one}-{other}"));
                }
            };
            table.declare(declared, words, &mut out).unwrap();
        }
        table.end_section(&mut |fault| said.push(fault.fault));
        said
    }

    #[test]
    fn channels_that_name_each_other_are_a_link_whatever_they_are_called() {
        assert_eq!(check(&[("x", Some(1)), ("y", Some(0))]), ["0-1"]);
        assert_eq!(
            check(&[("a>b", Some(2)), ("b>a", Some(3)), ("x", Some(0)), ("y", Some(1))]),
            ["0-2", "1-3"]
        );
    }

    #[test]
    fn without_numbers_reversed_names_make_a_link() {
        assert_eq!(check(&[("a>b", None), ("c>d", None), ("b>a", None)]), ["0-2"]);
        assert_eq!(check(&[("a>b", None), ("b>a", Some(0))]), ["0-1"]);
        assert_eq!(check(&[("a>a", None)]), Vec::<String>::new());
    }

    #[test]
    fn numbers_that_a_merge_made_wrong_give_way_to_names() {
        let merged = [("a>b", Some(1)), ("b>a", Some(0)), ("c>d", Some(1)), ("d>c", Some(0))];
        assert_eq!(check(&merged), ["0-1", "2-3"]);
    }

    #[test]
    fn peers_that_cannot_be_are_faults() {
        assert_eq!(check(&[("x", Some(0))]), ["is 0, the channel itself"]);
        assert_eq!(check(&[("x", Some(7))]), ["is 7, which is no channel of this section"]);
        assert_eq!(
            check(&[("x", Some(1)), ("y", Some(2)), ("z", Some(1))]),
            ["1-2", "is 1, which does not name it back"]
        );
    }

    #[test]
    fn blocks_out_of_order_are_told_and_read_all_the_same() {
        let mut table = Table::default();
        let place = Place { offset: 0, number: 0, block: "enhanced packet" };
        for name in ["a>b", "b>a"] {
            let declared = Declared { link_type: u32::from(LINK_TYPE), len: 0, place };
            table.declare(declared, [Word::Name(name)].into_iter(), &mut |_| {}).unwrap();
        }
        let mut said = Vec::new();
        // 12.5 ns a character: character 1 begins in nanosecond 12, character 3 in 37.
        for (interface, first) in [(0, 3), (1, 1), (1, 3), (0, 2)] {
            let chars = crate::notation::parse("IDLE").unwrap();
            let content = crate::capture::Content::Literal(chars.chars());
            let mut payload = Vec::new();
            Chunk { first: Tick(first), content }.emit(&mut payload);
            table.chunk(interface, &payload, place, &mut |item| match item {
                Item::Chunk(id, chunk) => said.push(format!("{id} at {}", chunk.first)),
                Item::Fault(fault) => said.push(fault.to_string()),
                Item::Section | Item::Channel(..) | Item::Link(..) => {}
            });
        }
        assert_eq!(
            said,
            [
                "0 at 3",
                "byte 8: block 0 (enhanced packet): first is 1, earlier than a block before it begins",
                "1 at 1",
                "1 at 3",
                "byte 8: block 0 (enhanced packet): first is 2, before 4, where the chunk before it ends",
            ]
        );
    }
}
