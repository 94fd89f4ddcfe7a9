//! A capture file: any bytes are read to an end, and what is read is worked out as the reference
//! does, however its characters are cut into chunks.

pub(crate) mod counts;

use std::collections::BTreeMap;

use analyzer::packet::Bytes;
use analyzer::reading::{Rows, Said};
use analyzer::timeline::{Row, Want, What};
use codec::capture::{
    ByteOrder, Channel, ChannelId, Chunk, Item, Progress, Reader, WriteError, cut,
};
use codec::character::Character;
use codec::chars::CharBuf;
use codec::tick::Tick;

use crate::chars::{expansion, is_noisy, pieces};
use crate::plan::{self, Owned, Plan};
use crate::reference::{self, Told, Track};
use crate::repair::Dice;

/// Most periods that the reference plays through. *Chosen*: about a millisecond.
const PERIODS_MAX: u64 = 1 << 12;
/// Most rounds of a repeat that brings something every time. *Chosen*, likewise: the analyzer goes
/// through a million of them.
const ROUNDS_MAX: u64 = 1 << 8;

/// Reading ends, and says nothing after an error; rows are in order; where the capture is short
/// they are the reference's, and those of the same characters cut into other chunks.
///
/// # Panics
/// If not.
pub fn law(file: &[u8]) {
    check(file, rows);
}

/// A capture that was planned is read as it was planned, and keeps [`law`].
///
/// # Panics
/// If not.
pub fn planned(plan: &Plan) {
    let (channels, chunks) = plan.capture();
    let Ok(file) = plan.file() else { return };
    let read = Read::to_end(&file);
    assert_eq!((read.faults, read.error), (0, None), "what is written is read without a fault");
    let [section] = read.sections.as_slice() else {
        assert!(read.sections.is_empty(), "what is written is one section");
        return;
    };
    let declared: Vec<_> = section.channels.values().cloned().collect();
    assert_eq!((&declared, &section.chunks), (&channels, &chunks), "reading undoes writing");
    assert_eq!(section.links, [(ChannelId(0), ChannelId(1))], "the link is known");
    law(&file);
}

/// How a capture's rows come to be, and the error that ended them.
type Observed = (Vec<Row>, Option<String>);

fn check(file: &[u8], rows: impl Fn(&[u8], Want, Bytes) -> Observed) {
    let read = Read::to_end(file);
    if read.sections.iter().any(Section::is_endless) {
        return;
    }
    let periods = read.sections.iter().map(Section::periods).fold(0, u64::saturating_add);
    let length = if periods <= PERIODS_MAX { Length::Short } else { Length::Long };
    counts::tallies(file, &read, length);
    let bytes = match length {
        Length::Short => Bytes::Keep,
        Length::Long => Bytes::Forget,
    };
    for want in [Want::Packets, Want::Events] {
        let (got, error) = rows(file, want, bytes);
        assert_eq!(error, read.error, "an error is the reader's");
        if !read.sections.iter().all(Section::is_in_order) {
            continue;
        }
        in_sequence(&got);
        if length == Length::Long {
            continue;
        }
        let expected: Vec<Expected> = read.sections.iter().map(|s| s.rows(want)).collect();
        agree(&got, &expected, "rows are the reference's");
        let mut dice = Dice::new(file);
        for (section, expected) in read.sections.iter().zip(expected) {
            let Some(other) = section.written_anew(&mut dice) else { continue };
            let (got, error) = rows(&other, want, bytes);
            assert_eq!(error, None, "what is written anew is whole");
            agree(&got, &[expected.numbered_from_0()], "cutting changes nothing");
        }
    }
}

/// Whether the reference plays a capture through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Length {
    Short,
    Long,
}

/// What a capture file says, read to its end.
#[derive(Debug, Default)]
pub(crate) struct Read {
    pub(crate) sections: Vec<Section>,
    faults: u64,
    error: Option<String>,
}

#[derive(Debug, Default)]
pub(crate) struct Section {
    channels: BTreeMap<ChannelId, Channel>,
    links: Vec<(ChannelId, ChannelId)>,
    chunks: Vec<(ChannelId, Owned)>,
    /// Channels or links declared behind the first chunk.
    late: u64,
}

impl Read {
    pub(crate) fn to_end(file: &[u8]) -> Self {
        let mut reader = Reader::new(file);
        let mut read = Self { sections: vec![Section::default()], ..Self::default() };
        // A step that is not the last takes at least the 12 bytes of a block, or opens the file.
        for _ in 0..=file.len() / 12 + 2 {
            match reader.step(&mut |item| read.take(&item)) {
                Ok(Progress::More) => {}
                Ok(Progress::Done) => return read.ended(reader, file),
                Err(error) => {
                    read.error = Some(error.to_string());
                    return read.ended(reader, file);
                }
            }
        }
        assert!(file.is_empty(), "every step reads on");
        read
    }

    fn ended(mut self, mut reader: Reader<&[u8]>, file: &[u8]) -> Self {
        assert!(reader.offset() <= file.len() as u64, "no more is read than there is");
        for _ in 0..2 {
            let mut items = 0;
            let after = reader.step(&mut |_| items += 1);
            assert!(matches!(after, Ok(Progress::Done)) && items == 0, "the end is the end");
        }
        self.sections.retain(|section| !section.channels.is_empty());
        self
    }

    fn take(&mut self, item: &Item<'_>) {
        let Some(section) = self.sections.last_mut() else { return };
        section.late += match item {
            Item::Channel(..) | Item::Link(..) => u64::from(!section.chunks.is_empty()),
            Item::Section | Item::Chunk(..) | Item::Fault(_) => 0,
        };
        match item {
            Item::Section => self.sections.push(Section::default()),
            Item::Channel(id, channel) => {
                section.channels.insert(*id, (*channel).clone());
            }
            Item::Link(one, other) => section.links.push((*one, *other)),
            Item::Chunk(id, chunk) => section.take(*id, *chunk),
            Item::Fault(_) => self.faults += 1,
        }
    }
}

impl Section {
    fn take(&mut self, id: ChannelId, chunk: Chunk<'_>) {
        assert!(self.channels.contains_key(&id), "channels are declared before their chunks");
        assert!(chunk.periods() > 0, "a chunk has a character");
        let last = self.chunks.iter().rev().find(|(other, _)| *other == id);
        let end = last.map_or(Tick(0), |(_, last)| last.chunk().end());
        assert!(end <= chunk.first, "chunks of one channel do not overlap");
        self.chunks.push((id, chunk.into()));
    }

    pub(crate) fn periods(&self) -> u64 {
        self.chunks.iter().fold(0, |sum, (_, chunk)| sum.saturating_add(chunk.chunk().periods()))
    }

    /// Whether a repeat brings something in every round for more rounds than a law goes through.
    pub(crate) fn is_endless(&self) -> bool {
        let long = |count: Option<u64>| count.is_some_and(|count| count > ROUNDS_MAX);
        self.chunks.iter().any(|(_, chunk)| long(chunk.count) && is_noisy(chunk.chars.chars()))
    }

    /// What was recorded of each channel: from a character up to another, in order.
    pub(crate) fn stretches(&self) -> BTreeMap<ChannelId, Vec<(Tick, Tick)>> {
        let mut all: BTreeMap<ChannelId, Vec<(Tick, Tick)>> =
            self.channels.keys().map(|id| (*id, Vec::new())).collect();
        for (id, chunk) in &self.chunks {
            let chunk = chunk.chunk();
            let own = all.entry(*id).or_default();
            match own.last_mut() {
                Some((_, end)) if *end == chunk.first => *end = chunk.end(),
                _ if chunk.periods() == 0 => {}
                Some(_) | None => own.push((chunk.first, chunk.end())),
            }
        }
        all
    }

    fn period_ps(&self, id: ChannelId) -> u64 {
        self.channels.get(&id).map_or(1, |channel| channel.period_ps.get())
    }

    /// Whether blocks stand where a writer puts them: by time, as far as pcapng's nanoseconds
    /// tell, and behind all descriptions.
    pub(crate) fn is_in_order(&self) -> bool {
        let nanosecond = |(id, chunk): &(ChannelId, Owned)| {
            u128::from(chunk.first.0) * u128::from(self.period_ps(*id)) / 1000
        };
        self.late == 0 && self.chunks.iter().map(nanosecond).is_sorted()
    }

    fn characters(&self, id: ChannelId) -> Vec<(u64, Character)> {
        let own = self.chunks.iter().filter(|(other, _)| *other == id);
        own.flat_map(|(_, chunk)| expansion(&chunk.chunk())).collect()
    }

    fn rows(&self, want: Want) -> Expected {
        let ids: Vec<ChannelId> = self.channels.keys().copied().collect();
        let place = |id: ChannelId| ids.iter().position(|other| *other == id);
        let peer = |id| {
            let of = |&(one, other)| match id {
                _ if id == one => Some(other),
                _ if id == other => Some(one),
                _ => None,
            };
            self.links.iter().find_map(of).and_then(place)
        };
        let track = |id: &ChannelId| Track {
            period_ps: self.period_ps(*id),
            peer: peer(*id),
            characters: self.characters(*id),
        };
        let wanted = |(_, _, told): &reference::Row| {
            (want == Want::Packets) == matches!(told, Told::Packet(_))
        };
        let name = |(id, at, told)| ids.get(id).map(|id| (*id, at, told));
        let rows = reference::rows(&ids.iter().map(track).collect::<Vec<_>>());
        let rows = rows.into_iter().filter(wanted).filter_map(name).collect();
        Expected { rows, base: ids.first().copied() }
    }

    /// A file with the same characters in other chunks. None where the format has no room: a time
    /// beyond 584 years, or interfaces of other kinds between the channels.
    pub(crate) fn written_anew(&self, dice: &mut Dice) -> Option<Vec<u8>> {
        let base = self.channels.keys().next()?.0;
        if self.channels.keys().zip(base..).any(|(id, n)| id.0 != n) {
            return None;
        }
        let channels: Vec<Channel> = self.channels.values().cloned().collect();
        let mut chunks = Vec::new();
        for id in self.channels.keys() {
            let renamed = ChannelId(id.0 - base);
            let other = if dice.below(2) == 0 { self.as_written(*id) } else { self.cut(*id, dice) };
            chunks.extend(other.into_iter().map(|chunk| (renamed, chunk)));
        }
        plan::in_order(&channels, &mut chunks);
        let order = if dice.below(2) == 0 { ByteOrder::Big } else { ByteOrder::Little };
        match plan::write(order, &channels, &chunks) {
            Ok(file) => Some(file),
            Err(error) => {
                let no_room = matches!(error, WriteError::Form(_));
                assert!(no_room, "what was read can be written: {error}");
                None
            }
        }
    }

    /// A channel's characters as a writer cuts them.
    fn as_written(&self, id: ChannelId) -> Vec<Owned> {
        let mut stretches: Vec<(u64, CharBuf)> = Vec::new();
        for (at, character) in self.characters(id) {
            match stretches.last_mut() {
                Some((first, chars)) if *first + chars.len() as u64 == at => chars.push(character),
                _ => stretches.push((at, CharBuf::from_iter([character]))),
            }
        }
        let chunks = stretches.iter().flat_map(|(first, chars)| cut(Tick(*first), chars.chars()));
        chunks.map(Owned::from).collect()
    }

    /// A channel's chunks in small pieces.
    fn cut(&self, id: ChannelId, dice: &mut Dice) -> Vec<Owned> {
        let own = self.chunks.iter().filter(|(other, _)| *other == id);
        own.flat_map(|(_, chunk)| pieces(chunk.chunk(), dice)).map(Owned::from).collect()
    }
}

/// The rows of a section, in order.
#[derive(Clone, Debug)]
struct Expected {
    rows: Vec<(ChannelId, u64, Told)>,
    base: Option<ChannelId>,
}

impl Expected {
    /// The same in a file of its own.
    fn numbered_from_0(mut self) -> Self {
        let base = self.base.take().unwrap_or_default();
        self.rows.iter_mut().for_each(|(id, ..)| id.0 -= base.0);
        self
    }
}

/// All rows in their order. Fails with what differs first, not with all there is.
fn agree(got: &[Row], expected: &[Expected], law: &str) {
    let got: Vec<_> = got.iter().map(|row| (row.channel, row.at.0, told(&row.what))).collect();
    let expected: Vec<_> = expected.iter().flat_map(|section| &section.rows).collect();
    let same = got.iter().zip(&expected).take_while(|(got, expected)| got == *expected).count();
    assert_eq!((same, got.get(same)), (same, expected.get(same).copied()), "{law}");
}

fn told(what: &What) -> Told {
    match what {
        What::Packet(packet) => Told::Packet((&**packet).into()),
        What::Event(event) => Told::Event(*event),
        What::Detail(_) => unreachable!("details are not asked for"),
        What::Omitted { rounds, every } => {
            assert_eq!((rounds, every), (&0, &0), "nothing short is left out");
            Told::Command(analyzer::channel::Command::Stop)
        }
    }
}

/// Rows of one channel follow each other.
fn in_sequence(rows: &[Row]) {
    let mut last: BTreeMap<ChannelId, (Tick, u64)> = BTreeMap::new();
    for row in rows {
        let (at, packets) = last.entry(row.channel).or_default();
        assert!(*at <= row.at, "a channel's rows are in sequence");
        *at = row.at;
        if let What::Packet(packet) = &row.what {
            assert_eq!(packet.number, *packets, "a channel's packets are counted");
            *packets += 1;
        }
    }
}

/// The analyzer's rows.
fn rows(file: &[u8], want: Want, bytes: Bytes) -> Observed {
    let mut rows = Rows::new(file, want, bytes);
    let mut out = Vec::new();
    let mut step = || {
        rows.step(&mut |said| match said {
            Said::Row(_, row) => out.push(row),
            Said::Fault(_) => {}
        })
    };
    let error = loop {
        match step() {
            Ok(Progress::More) => {}
            Ok(Progress::Done) => break None,
            Err(error) => break Some(error.to_string()),
        }
    };
    assert!(matches!(step(), Ok(Progress::Done)), "the end is the end");
    (out, error)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::seeds;
    use analyzer::Timeline;

    /// A capture as a timeline sees it that is told less than there is.
    fn played(
        file: &[u8],
        (want, bytes): (Want, Bytes),
        known: impl Fn(&(ChannelId, ChannelId)) -> bool,
        rounds: impl Fn(u64) -> u64,
    ) -> Observed {
        let mut timeline = Timeline::new(want, bytes);
        let mut rows = Vec::new();
        let read = Read::to_end(file);
        for section in &read.sections {
            section.channels.iter().for_each(|(id, channel)| timeline.declare(*id, channel));
            let links = section.links.iter().filter(|link| known(link));
            links.for_each(|(one, other)| timeline.link(*one, *other));
            for (id, chunk) in &section.chunks {
                let chunk = Owned { count: chunk.count.map(&rounds), ..chunk.clone() };
                timeline.feed(*id, &chunk.chunk(), &mut |row| rows.push(row));
            }
            timeline.finish(&mut |row| rows.push(row));
        }
        (rows, read.error)
    }

    fn seed(wanted: &str) -> Vec<u8> {
        let found = seeds::all().into_iter().find(|(_, name, _)| *name == wanted);
        found.map(|(.., bytes)| bytes).unwrap()
    }

    #[test]
    fn a_timeline_told_everything_keeps_the_law() {
        let rows = |file: &[u8], want, bytes| played(file, (want, bytes), |_| true, |n| n);
        check(&seed("whole-flow-control"), rows);
        check(&seed("whole-repeats"), rows);
    }

    pub(crate) fn a_timeline_without_links_is_caught() {
        let rows = |file: &[u8], want, bytes| played(file, (want, bytes), |_| false, |n| n);
        check(&seed("whole-flow-control"), rows);
    }

    pub(crate) fn a_timeline_that_takes_a_repeat_for_one_round_is_caught() {
        let rows = |file: &[u8], want, bytes| played(file, (want, bytes), |_| true, |_| 1);
        check(&seed("whole-repeats"), rows);
    }

    pub(crate) fn rows_that_depend_on_the_cut_are_caught() {
        let file = seed("whole-flow-control");
        let tidy = |other: &[u8], want, bytes| {
            let (mut all, error) = rows(other, want, bytes);
            if other != file {
                all.pop();
            }
            (all, error)
        };
        check(&file, tidy);
    }

    pub(crate) fn rows_out_of_sequence_are_caught() {
        check(&seed("whole-flow-control"), |file, want, bytes| {
            let (mut all, error) = rows(file, want, bytes);
            if want == Want::Events {
                all.reverse();
            }
            (all, error)
        });
    }

    pub(crate) fn an_error_that_is_swallowed_is_caught() {
        check(&seed("cut-in-a-chunk"), |file, want, bytes| (rows(file, want, bytes).0, None));
    }

    #[test]
    fn the_published_captures_keep_the_law() {
        for fixture in seeds::FIXTURES {
            law(fixture.1);
        }
    }
}
