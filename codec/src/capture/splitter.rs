//! Splits the channels of links with virtual channels into a channel for each. C-7 (§4.8.4)

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::channel::{Channel, ChannelId};
use super::chunk::{Chunk, ChunkContent};
use super::item::CaptureItem;
use super::start_state::StartState;
use crate::character::Character;
use crate::chars::{CharBuf, Chars};
use crate::time::Tick;
use crate::virtual_channels::{
    AssignedChar, LinkProfile, VIRTUAL_CHANNELS_MAX, VirtualChannelSelector,
};

#[derive(Debug, Default)]
pub(super) struct ChannelSplitter {
    assumed: Option<LinkProfile>,
    channels: BTreeMap<ChannelId, SplitChannel>,
    /// Characters of the current chunk by virtual channel, for all channels.
    chars: [CharBuf; VIRTUAL_CHANNELS_MAX as usize],
}

#[derive(Debug)]
struct SplitChannel {
    selector: VirtualChannelSelector,
    /// Virtual channel that is selected before character 0. P-7, §4.8.5
    first: Option<u8>,
    /// The first character behind the last chunk.
    end: Option<Tick>,
    /// True if a character since the beginning or a hole may be one of any virtual channel.
    is_lost: bool,
    /// Number of virtual channels.
    count: u8,
}

impl ChannelSplitter {
    pub(super) fn new(assumed: Option<LinkProfile>) -> Self {
        Self { assumed, ..Self::default() }
    }

    /// Emits the items that take the place of one of the file.
    pub(super) fn split(&mut self, item: CaptureItem<'_>, out: &mut dyn FnMut(CaptureItem<'_>)) {
        match item {
            CaptureItem::Channel(id, channel) => {
                let profile = channel.profile().or_else(|| self.assumed.clone());
                match profile.filter(|_| channel.virtual_channel().is_none()) {
                    Some(profile) => self.declare(id, channel, profile, out),
                    None => out(item),
                }
            }
            CaptureItem::Link(one, other) => {
                // An end without virtual channels sends and receives on virtual channel 0. §4.8.5
                let count = self.count(one).min(self.count(other));
                for number in 0..count {
                    let [one, other] = [one, other].map(|id| id.of_virtual_channel(number));
                    out(CaptureItem::Link(one, other));
                }
            }
            CaptureItem::Chunk(id, chunk) => match self.channels.get_mut(&id) {
                Some(channel) => channel.chunk(chunk, &mut self.chars, &mut |number, chunk| {
                    out(CaptureItem::Chunk(id.of_virtual_channel(number), chunk));
                }),
                None => out(item),
            },
            CaptureItem::Section | CaptureItem::Fault(_) => out(item),
        }
    }

    fn declare(
        &mut self,
        id: ChannelId,
        channel: &Channel,
        profile: LinkProfile,
        out: &mut dyn FnMut(CaptureItem<'_>),
    ) {
        let count = profile.channels();
        for number in 0..count {
            out(CaptureItem::Channel(
                id.of_virtual_channel(number),
                &Arc::new(virtual_channel(channel, number, &profile)),
            ));
        }
        let power_up = channel.more.iter().any(|(key, word)| key == "start" && word == "power-up");
        let split = SplitChannel {
            selector: VirtualChannelSelector::new(profile, None),
            first: power_up.then_some(0),
            end: None,
            is_lost: false,
            count,
        };
        self.channels.insert(id, split);
    }

    fn count(&self, id: ChannelId) -> u8 {
        self.channels.get(&id).map_or(1, |channel| channel.count)
    }
}

/// Name of a virtual channel of a link's channel or port: `s0:1.vc1>h1:0.vc1`. C-7
pub fn virtual_channel_name(name: &str, number: u8) -> String {
    let end = |name: &str| format!("{name}.vc{number}");
    name.split_once('>')
        .map_or_else(|| end(name), |(from, to)| format!("{}>{}", end(from), end(to)))
}

/// The channel of a virtual channel. It keeps the peer's number of its link.
fn virtual_channel(channel: &Channel, number: u8, profile: &LinkProfile) -> Channel {
    let mut split = channel.clone();
    split.name = virtual_channel_name(&channel.name, number);
    split.tap = channel.tap.as_deref().map(|tap| virtual_channel_name(tap, number));
    split.more.retain(|(key, _)| key != "profile");
    split.more.extend([("profile".into(), profile.to_string()), ("vc".into(), number.to_string())]);
    // The state at a cut is that of the characters of all virtual channels together.
    StartState::describe(None, &mut split);
    split
}

impl SplitChannel {
    /// Emits the chunk of each virtual channel, with its number; `chars_of` is room for their characters.
    fn chunk(
        &mut self,
        chunk: Chunk<'_>,
        chars_of: &mut [CharBuf],
        out: &mut impl FnMut(u8, Chunk<'_>),
    ) {
        match self.end.replace(chunk.end()) {
            Some(end) if end == chunk.first => {}
            before => {
                let is_begin = before.is_none() && chunk.first == Tick(0);
                self.selector.select(self.first.filter(|_| is_begin));
                self.is_lost = false;
            }
        }
        let (chars, count) = chunk.content.parts();
        let mut after = self.selector.clone();
        chars.iter().for_each(|character| _ = after.assign(character));
        let is_kept = after.selected() == self.selector.selected();
        let known = self.known(chars);
        let at = |place: usize| Tick(chunk.first.0.saturating_add(place as u64));
        let is_whole = known.first().is_some_and(|range| range.len() == chars.len());
        let whole = count.filter(|_| is_kept && is_whole);
        let known = known.into_iter().map(|range| (at(range.start), chars.slice(range), whole));
        // From the second iteration on all begin alike; where nothing is selected, all are lost.
        let rest = count.filter(|count| !is_kept && *count > 1);
        let rest = rest.map(|count| (at(chars.len()), chars, Some(count - 1)));
        let Self { selector, count: channels, .. } = self;
        let own = chars_of.get_mut(..usize::from(*channels)).unwrap_or_default();
        for (first, chars, count) in known.chain(rest) {
            own.iter_mut().for_each(CharBuf::clear);
            selector.split(chars, own);
            for (number, own) in (0..).zip(&*own) {
                out(number, Chunk { first, content: ChunkContent::new(own.chars(), count) });
            }
        }
    }

    /// Characters that are to be read: those before the first that may be one of any virtual channel, and those from the
    /// selection behind it on. What is between them is a hole of each virtual channel, but for silence, which is of
    /// all. A GAP alone carries nothing. F-7, P-7
    fn known(&mut self, chars: Chars<'_>) -> Vec<Range<usize>> {
        let (len, mut known) = (chars.len(), Vec::<Range<usize>>::new());
        let mut selector = self.selector.clone();
        if selector.selected().is_some() {
            known.push(0..len);
            return known;
        }
        for (place, character) in chars.iter().enumerate() {
            match selector.assign(character) {
                AssignedChar::Selection(_) => {
                    self.is_lost = false;
                    known.push(place..len);
                    break;
                }
                AssignedChar::Unknown if character != Character::GAP => {
                    self.is_lost = true;
                    continue;
                }
                AssignedChar::Of(..) | AssignedChar::Unknown if self.is_lost => continue,
                AssignedChar::Silence | AssignedChar::Of(..) | AssignedChar::Unknown => {}
            }
            match known.last_mut() {
                Some(range) if range.end == place => range.end += 1,
                Some(_) | None => known.push(place..place + 1),
            }
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::{ByteOrder, CaptureReader, CaptureWriter, ReadProgress};
    use crate::notation;

    const PROFILE: &str = "profile=VC0=50,VC1=51,GO1=60,STOP1=6f";
    const CUT: &str = r#"cut={"at":100,"packets":7}"#;

    /// A capture of channels with descriptions and chunks: first character, text, count.
    fn capture(channels: &[(&str, &str)], chunks: &[(u32, u64, &str, Option<u64>)]) -> Vec<u8> {
        let described = channels.iter().map(|(name, words)| {
            let mut channel = Channel::named(*name);
            channel.apply_description(&format!("myrinet-channel {words}"), &mut |_, fault| {
                panic!("{fault}");
            });
            channel
        });
        let described: Vec<_> = described.collect();
        let mut writer = CaptureWriter::new(Vec::new(), ByteOrder::Little, &described).unwrap();
        for (id, first, text, count) in chunks {
            let chars = notation::parse(text).unwrap();
            let content = ChunkContent::new(chars.chars(), *count);
            writer.write(ChannelId(*id), &Chunk { first: Tick(*first), content }).unwrap();
        }
        writer.finish().unwrap()
    }

    fn read(
        channels: &[(&str, &str)],
        chunks: &[(u32, u64, &str, Option<u64>)],
        assumed: Option<&str>,
    ) -> Vec<String> {
        let file = capture(channels, chunks);
        let assumed = assumed.map(|text| text.parse().unwrap());
        items(CaptureReader::new(file.as_slice()).with_virtual_channels(assumed))
    }

    fn items(mut reader: CaptureReader<&[u8]>) -> Vec<String> {
        let mut items = Vec::new();
        let mut item = |item: CaptureItem<'_>| match item {
            CaptureItem::Channel(id, channel) => {
                let words = channel.more.iter().filter(|(key, _)| key != "profile");
                let words = words.map(|(key, word)| format!("{key}={word}"));
                let words = channel.tap.clone().into_iter().chain(words).collect::<Vec<_>>();
                items.push(format!("{id}: {} {}", channel.name, words.join(" ")).trim_end().into());
            }
            CaptureItem::Link(one, other) => items.push(format!("{one}-{other}")),
            CaptureItem::Chunk(id, Chunk { first, content }) => items.push(match content {
                ChunkContent::Literal(chars) => format!("{id} at {first}: {chars}"),
                ChunkContent::Repeat { pattern, count } => {
                    format!("{id} at {first}: ({pattern})×{count}")
                }
            }),
            CaptureItem::Section => {}
            CaptureItem::Fault(fault) => panic!("{fault}"),
        };
        while reader.step(&mut item).unwrap() == ReadProgress::More {}
        items
    }

    /// C-7
    #[test]
    fn a_link_with_a_profile_is_a_link_for_each_virtual_channel() {
        let words = format!("{PROFILE} tap=s0:1 start=power-up");
        let chunks = [
            (0, 0, "83 !51 92 GAP", None),
            (0, 4, "!50 05 GAP !51", Some(3)),
            // Its second iteration begins with another selection than the first.
            (0, 16, "06 !50", Some(2)),
            (0, 24, "07 !51", None),
            (0, 26, "08 !50", Some(1)),
        ];
        let items = read(&[("s0:1>s1:0", &words), ("s1:0>s0:1", &words)], &chunks, None);
        // Behind the hole at 24 no selection is known: it goes on to the next one.
        let expected = "0: s0:1.vc0>s1:0.vc0 s0:1.vc0 start=power-up vc=0; 65536: s0:1.vc1>s1:0.vc1 s0:1.vc1 start=power-up vc=1; \
                        1: s1:0.vc0>s0:1.vc0 s0:1.vc0 start=power-up vc=0; 65537: s1:0.vc1>s0:1.vc1 s0:1.vc1 start=power-up vc=1; 0-1; 65536-65537; \
                        0 at 0: 83 !51 !51 !51; 65536 at 0: !50 !51 92 GAP; 0 at 4: (!50 05 GAP !51)×3; 65536 at 4: (!50 !50 !50 !51)×3; \
                        0 at 16: !51 !50; 65536 at 16: 06 !50; 0 at 18: (06 !50)×1; 65536 at 18: (!50 !50)×1; 0 at 25: !51; 65536 at 25: !51; 0 at 26: !51 !50; 65536 at 26: 08 !50";
        assert_eq!(items, expected.split("; ").collect::<Vec<_>>());
        // A reader that is not asked for virtual channels gives the channels of the file.
        let file = capture(&[("s0:1>s1:0", &words)], &chunks[..1]);
        let whole = ["0: s0:1>s1:0 s0:1 start=power-up", "0 at 0: 83 !51 92 GAP"];
        assert_eq!(self::items(CaptureReader::new(&file)), whole);
    }

    /// C-7
    #[test]
    fn virtual_channel_0_is_selected_at_power_up_only() {
        for (start, first, text, count, expected) in [
            ("power-up", 0, "05 !51", None, &["0 at 0: 05 !51"][..]),
            ("power-up", 1, "05 !51", None, &["0 at 2: !51"]),
            ("later", 0, "05 !51", None, &["0 at 1: !51"]),
            // A GAP carries nothing, and STOP and GO have numbers of their own.
            ("later", 0, "GAP STOP !6f !51 05", None, &["0 at 0: !50 STOP !51", "0 at 3: !51 !51"]),
            ("later", 0, "STOP 05 GO", Some(3), &["0 at 0: STOP"]),
            ("later", 0, "GO GAP", Some(3), &["0 at 0: (GO !50)×3"]),
            // Silence is of all virtual channels. F-7
            (
                "later",
                0,
                "GO 05 IDLE IDLE GO !51",
                None,
                &["0 at 0: GO", "0 at 2: IDLE IDLE", "0 at 5: !51"],
            ),
            (
                "later",
                0,
                "GO 05 !51",
                Some(3),
                &["0 at 0: GO", "0 at 2: !51", "0 at 3: (GO !51 !51)×2"],
            ),
        ] {
            let words = format!("{PROFILE} start={start}");
            let items = read(&[("a:0>b:0", &words)], &[(0, first, text, count)], None);
            let items: Vec<_> = items.iter().filter(|item| item.starts_with("0 at")).collect();
            assert_eq!(items, expected, "{start}, {first}, {text}");
        }
    }

    /// Nothing before a hole tells what is behind it. C-7
    #[test]
    fn what_is_behind_a_hole_is_split_as_if_it_were_alone() {
        let parts = [
            ("05", None),
            ("!51 05", None),
            ("GAP STOP !51 05", None),
            ("STOP 05 GO", Some(3)),
            ("GO GAP", Some(3)),
            ("GO 05 !51", Some(3)),
        ];
        let split = |chunks: &[_]| read(&[("a:0>b:0", PROFILE)], chunks, None);
        for ((before, times), (text, count)) in
            parts.map(|it| parts.map(|other| (it, other))).concat()
        {
            let behind = (0, 100, text, count);
            let [whole, alone] = [&[(0, 0, before, times), behind][..], &[behind]].map(split);
            let (_, alone) = alone.split_at(2);
            assert!(whole.ends_with(alone), "{whole:?} {alone:?}");
        }
    }

    /// §4.8.5
    #[test]
    fn an_end_without_virtual_channels_has_virtual_channel_0() {
        let items = read(&[("a:0>b:0", PROFILE), ("b:0>a:0", "")], &[(1, 3, "05", None)], None);
        assert_eq!(items[..2], ["0: a:0.vc0>b:0.vc0 vc=0", "65536: a:0.vc1>b:0.vc1 vc=1"]);
        assert_eq!(items[2..], ["1: b:0>a:0", "0-1", "1 at 3: 05"]);
    }

    #[test]
    fn a_profile_may_be_assumed_and_a_split_channel_is_not_split_again() {
        let items = read(
            &[("a:0>b:0", CUT), ("c.vc1>d.vc1", &format!("{PROFILE} vc=1 {CUT}"))],
            &[(0, 0, "!51 05", None)],
            Some("VC0=50,VC1=51,GO1=60,STOP1=6f"),
        );
        let described = format!("1: c.vc1>d.vc1 vc=1 {CUT}");
        let declared = ["0: a:0.vc0>b:0.vc0 vc=0", "65536: a:0.vc1>b:0.vc1 vc=1", &described];
        assert_eq!(items[..3], declared, "a cut of the link is none of a virtual channel");
        assert_eq!(items[3..], ["0 at 0: !51 !51", "65536 at 0: !51 05"]);
    }
}
