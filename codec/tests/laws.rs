//! The codec's laws: parse undoes emit, in every format; cutting changes nothing; no bytes panic.

use myriscope_codec::capture::{
    ByteOrder, CaptureItem, CaptureReader, CaptureWriter, Channel, ChannelId, Chunk, ChunkContent,
    ReadProgress,
};
use myriscope_codec::chars::{CharBuf, CharRun, Chars};
use myriscope_codec::crc::{Crc8, CrcResidue, crc_after_hop, crc8, syndrome};
use myriscope_codec::framing::{Frame, FrameEnd, frames};
use myriscope_codec::packet::{CrcCheck, Packet, PacketParser, PacketTag};
use myriscope_codec::time::{CharacterPeriod, Tick};
use myriscope_codec::transport::{
    ChannelIncarnation, DATA_HEADER_LEN, EndpointId, EndpointKey, LogicalChannel, MessageBody,
    MessageForm, MessageRole, NackReason, Nic, SequenceBit, SyncFlag, TransportHeader,
    TransportMessage, TransportPacket as Transport, TransportTimestamp,
};
use myriscope_codec::{Character, notation};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

fn character() -> impl Strategy<Value = Character> {
    prop_oneof![
        3 => any::<u8>().prop_map(Character::Data),
        2 => any::<u8>().prop_map(Character::Control),
        2 => prop::sample::select(vec![0x00, 0x0c, 0x03, 0x0f, 0x33, 0x04]).prop_map(Character::Control),
    ]
}

/// Characters in runs, so that words of the `d` plane are met that are all one kind.
fn characters() -> impl Strategy<Value = Vec<Character>> {
    let run = (character(), prop_oneof![4 => 1..4_usize, 1 => 1..150_usize]);
    let runs = vec(run, 0..12);
    runs.prop_map(|runs| {
        let all = runs.into_iter().flat_map(|(it, count)| std::iter::repeat_n(it, count));
        all.collect()
    })
}

fn buf(model: &[Character]) -> CharBuf {
    model.iter().copied().collect()
}

/// Places in order, within characters.
fn places(len: usize) -> impl Strategy<Value = (usize, usize)> {
    (0..=len, 0..=len).prop_map(|(one, other)| (one.min(other), one.max(other)))
}

fn cut_characters() -> impl Strategy<Value = (Vec<Character>, (usize, usize))> {
    characters().prop_flat_map(|model| {
        let len = model.len();
        (Just(model), places(len))
    })
}

fn model(chars: Chars<'_>) -> Vec<Character> {
    chars.iter().collect()
}

fn channel() -> impl Strategy<Value = Channel> {
    let word = "[a-z][a-z0-9:.-]{0,7}";
    let more = vec(("k[a-z]{0,5}", "[a-z0-9=]{0,6}"), 0..3);
    let period = any::<u64>().prop_filter_map("a period is not 0", CharacterPeriod::from_fs);
    let fields = ("[a-z0-9:> é]{0,12}", period, option::of(any::<u32>()), option::of(word), more);
    fields.prop_map(|(name, period, peer, tap, more)| {
        let plain = Channel::named(name);
        Channel { period, peer, tap, more, ..plain }
    })
}

/// A chunk's place, characters, and rounds.
type ChunkParts = (u64, Vec<Character>, Option<u64>);

fn chunk() -> impl Strategy<Value = ChunkParts> {
    let literal = characters().prop_filter("a character", |chars| !chars.is_empty());
    let pattern = vec(character(), 1..=64);
    let repeat = (0..1_u64 << 60, pattern, 1..1_u64 << 50);
    prop_oneof![
        (0..1_u64 << 60, literal).prop_map(|(first, chars)| (first, chars, None)),
        repeat.prop_map(|(first, chars, count)| (first, chars, Some(count))),
    ]
}

fn header() -> impl Strategy<Value = TransportHeader> {
    let nics = (any::<u16>().prop_map(Nic), any::<u16>().prop_map(Nic));
    let seq = prop::sample::select(vec![SequenceBit::Zero, SequenceBit::One]);
    let channel = any::<u8>().prop_map(LogicalChannel);
    let timestamp = any::<u32>().prop_map(TransportTimestamp);
    let incarnation = any::<u16>().prop_map(ChannelIncarnation);
    let fields = (nics, channel, seq, timestamp, incarnation);
    fields.prop_map(|((source, destination), channel, seq, timestamp, incarnation)| {
        TransportHeader { source, destination, channel, seq, timestamp, incarnation }
    })
}

/// A form and bytes that it holds.
fn body() -> impl Strategy<Value = (MessageForm, Vec<u8>)> {
    let words = vec(any::<[u8; 4]>(), 0..=8);
    let long = prop_oneof![4 => vec(any::<u8>(), 0..60), 1 => vec(any::<u8>(), 8190..=8192)];
    prop_oneof![
        words.prop_map(|words| (MessageForm::Short, words.concat())),
        long.clone().prop_map(|bytes| (MessageForm::Medium, bytes)),
        (any::<u32>(), any::<u32>(), long).prop_map(|(offset, total, bytes)| {
            let total = total.max(u32::try_from(bytes.len()).unwrap_or(0));
            (MessageForm::Bulk { offset, total }, bytes)
        }),
    ]
}

proptest! {
    #[test]
    fn parse_undoes_emit_for_transport_packets(
        header in header(),
        sync in prop::sample::select(vec![SyncFlag::Clear, SyncFlag::Set]),
        role in prop::sample::select(vec![MessageRole::Request, MessageRole::Reply]),
        ends in any::<(u16, u16, u64, u8)>(),
        (form, bytes) in body(),
        reason in option::of(prop::sample::select(NackReason::ALL.to_vec())),
    ) {
        let (source, destination, key, handler) = ends;
        let message = TransportMessage {
            role,
            source: EndpointId(source),
            destination: EndpointId(destination),
            key: EndpointKey(key),
            handler,
            body: MessageBody::new(form, &bytes).unwrap(),
        };
        let answer = reason.map_or(Transport::Ack(header), |it| Transport::Nack(header, it));
        for packet in [Transport::Data(header, sync, message), answer] {
            let mut out = Vec::new();
            packet.emit(&mut out);
            prop_assert_eq!(Transport::parse(&out), Ok(packet));
        }
    }

    #[test]
    fn emit_undoes_parse_for_transport_packets(
        header in header(),
        (form, bytes) in body(),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in 0..4_usize,
    ) {
        let message = TransportMessage {
            role: MessageRole::Request,
            source: EndpointId(0),
            destination: EndpointId(0),
            key: EndpointKey(0),
            handler: 0,
            body: MessageBody::new(form, &bytes).unwrap(),
        };
        let mut bytes = Vec::new();
        Transport::Data(header, SyncFlag::Clear, message).emit(&mut bytes);
        for (at, byte) in changes {
            // Where the fields are, so that about half the packets still parse.
            let at = at.index(DATA_HEADER_LEN);
            bytes[at] = byte;
        }
        bytes.truncate(bytes.len() - cut.saturating_sub(2));
        let parsed = Transport::parse(&bytes);
        let head = |len| Transport::parse_head(&bytes[..bytes.len().min(DATA_HEADER_LEN)], len);
        let whole = parsed.as_ref().map(Transport::header).map_err(Clone::clone);
        prop_assert_eq!(head(bytes.len() as u64).map(|packet| packet.header()), whole);
        prop_assert!(head(u64::MAX - cut as u64).is_err());
        match parsed {
            Ok(packet) => {
                let mut out = Vec::new();
                packet.emit(&mut out);
                prop_assert_eq!(out, bytes);
            }
            Err(fault) => prop_assert!(fault.at() <= bytes.len()),
        }
    }

    #[test]
    fn parse_undoes_emit_for_chunks((first, chars, count) in chunk(), skip in 0..9_usize) {
        // From any place of a `d` plane's byte.
        let padded = buf(&[&vec![Character::IDLE; skip][..], &chars].concat());
        let chars = padded.chars().split_at(skip).1;
        let chunk = Chunk { first: Tick(first), content: ChunkContent::new(chars, count) };
        let mut payload = Vec::new();
        chunk.emit(&mut payload);
        prop_assert_eq!(Chunk::parse(&payload), Ok(chunk));
    }

    #[test]
    fn parse_undoes_emit_for_channels(channel in channel()) {
        let mut read = Channel::named(channel.name.clone());
        let mut faults = Vec::new();
        read.apply_description(&channel.description(), &mut |field, fault| faults.push((field, fault)));
        prop_assert_eq!((read, faults), (channel, vec![]));
    }

    #[test]
    fn parse_undoes_print_for_characters(model in characters()) {
        let chars = buf(&model);
        prop_assert_eq!(notation::parse(&chars.to_string()), Ok(chars));
    }

    #[test]
    fn print_undoes_parse_for_words(words in vec(character().prop_map(|c| c.to_string()), 0..3)) {
        // Of up to three words none is folded.
        let text = words.join(" ");
        prop_assert_eq!(notation::parse(&text).map(|chars| chars.to_string()), Ok(text));
    }

    #[test]
    fn parse_undoes_emit_for_packets(
        route in vec(0x80..=0xff_u8, 0..5),
        tag in 0..0x80_u8,
        payload in vec(any::<u8>(), 0..80),
        syndrome in any::<u8>(),
    ) {
        let check = CrcCheck::from_syndrome(Some(syndrome));
        let packet = Packet { route: &route, tag: PacketTag::new(tag), payload: &payload, check };
        let mut out = CharBuf::new();
        packet.emit(&mut out);
        let found: Vec<Frame<'_>> = frames(out.chars()).collect();
        prop_assert_eq!(found.len(), 1);
        prop_assert_eq!(found[0].end, FrameEnd::Gap);
        prop_assert_eq!(Packet::parse(&found[0].bytes), packet);
    }

    #[test]
    fn emit_undoes_parse_for_the_bytes_of_any_packet(frame in vec(any::<u8>(), 1..80)) {
        let mut out = CharBuf::new();
        Packet::parse(&frame).emit(&mut out);
        let mut expected = CharBuf::new();
        expected.push_data(&frame);
        expected.push(Character::GAP);
        prop_assert_eq!(out, expected);
    }

    #[test]
    fn a_packet_in_pieces_is_parsed_as_the_whole(
        route in vec(0x80..=0xff_u8, 0..20),
        rest in vec(any::<u8>(), 0..80),
        repeated in vec(any::<u8>(), 0..4),
        count in 0..40_usize,
        cut in any::<prop::sample::Index>(),
    ) {
        let head = [route, rest].concat();
        let (one, other) = head.split_at(cut.index(head.len() + 1));
        let mut parser = PacketParser::default();
        let mut behind = parser.feed(one).to_vec();
        behind.extend(parser.feed(other));
        behind.extend(parser.feed(&repeated));
        parser.feed_repeated(&repeated, count as u64);
        let bytes = [head, repeated.repeat(count + 1)].concat();
        prop_assert_eq!(parser.length(), bytes.len() as u64);
        prop_assert_eq!(parser.residue(), CrcResidue::NEW.feed(&bytes));
        prop_assert!(parser.tag().is_some() || behind.is_empty());
        let (packet, parsed) = (Packet::parse(&bytes), parser.finish());
        prop_assert_eq!(parsed.route.bytes(), packet.route);
        prop_assert_eq!((parsed.tag, parsed.check), (packet.tag, packet.check));
        prop_assert_eq!(parsed.payload(), packet.payload.len() as u64);
        let tag = packet.tag.map(PacketTag::value);
        let body = CrcResidue::NEW.feed(tag.as_slice()).feed(packet.payload);
        prop_assert_eq!(parsed.body(), body);
    }

    #[test]
    fn reading_undoes_writing_for_captures(
        channels in vec(channel(), 1..4),
        chunks in vec((0..3_u32, 0..300_u64, characters(), option::of(1..1000_u64)), 0..8),
        order in prop::sample::select(vec![ByteOrder::Big, ByteOrder::Little]),
    ) {
        // One rate, so that places are times; each chunk behind all that came before.
        let channels: Vec<Channel> = channels
            .into_iter()
            .map(|channel| Channel { period: Channel::named("").period, ..channel })
            .collect();
        let mut writer = CaptureWriter::new(Vec::new(), order, &channels).unwrap();
        let mut expected = Vec::new();
        let mut end = 0;
        for (id, hole, chars, count) in chunks {
            let most = if count.is_some() { 64 } else { usize::MAX };
            let chars: Vec<Character> = chars.into_iter().take(most).collect();
            let id = ChannelId(id % u32::try_from(channels.len()).unwrap());
            if !chars.is_empty() {
                let chars = buf(&chars);
                let first = Tick(end + hole);
                let chunk = Chunk { first, content: ChunkContent::new(chars.chars(), count) };
                writer.write(id, &chunk).unwrap();
                end = chunk.end().0;
                expected.push((id, format!("{chunk:?}")));
            }
        }
        let file = writer.finish().unwrap();
        let (mut declared, mut found) = (Vec::new(), Vec::new());
        let mut reader = CaptureReader::new(file.as_slice());
        while reader.step(&mut |item| match item {
            CaptureItem::Channel(_, channel) => declared.push(Channel::clone(channel)),
            CaptureItem::Chunk(id, chunk) => found.push((id, format!("{chunk:?}"))),
            CaptureItem::Section | CaptureItem::Link(..) | CaptureItem::Fault(_) => {}
        }).unwrap() == ReadProgress::More {}
        prop_assert_eq!(declared, channels);
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn the_crc_of_any_split_is_that_of_the_whole(
        bytes in vec(any::<u8>(), 0..400),
        cuts in vec(any::<prop::sample::Index>(), 0..4),
    ) {
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        places.extend([0, bytes.len()]);
        places.sort_unstable();
        let pieces = places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
        prop_assert_eq!(pieces.fold(Crc8::NEW, Crc8::feed).value(), crc8(&bytes));
    }

    #[test]
    fn a_repeat_is_fed_as_its_rounds(
        head in vec(any::<u8>(), 0..20),
        bytes in vec(any::<u8>(), 0..70),
        count in 0..600_u64,
        more in any::<u64>(),
    ) {
        let start = CrcResidue::NEW.feed(&head);
        let looped = (0..count).fold(start, |residue, _| residue.feed(&bytes));
        prop_assert_eq!(start.feed_repeated(&bytes, count), looped);
        // Any count, in two parts.
        let part = more / 3;
        let parts = start.feed_repeated(&bytes, part).feed_repeated(&bytes, more - part);
        prop_assert_eq!(start.feed_repeated(&bytes, more), parts);
    }

    #[test]
    fn a_syndrome_survives_any_number_of_hops(packet in vec(any::<u8>(), 2..60)) {
        let injected = syndrome(&packet);
        prop_assert_eq!(Some(Crc8::NEW.feed(&packet).syndrome()), injected);
        let mut packet = packet;
        while let Some(crc) = crc_after_hop(&packet) {
            let (_, rest) = packet.split_first().unwrap();
            let mut forwarded = rest.to_vec();
            *forwarded.last_mut().unwrap() = crc;
            packet = forwarded;
            prop_assert_eq!(syndrome(&packet), injected);
        }
        prop_assert_eq!(packet.len(), 2);
    }
}

// Characters in planes against a plain list of them.
proptest! {
    #[test]
    fn planes_hold_their_characters((model_, (from, to)) in cut_characters()) {
        let buf = buf(&model_);
        let chars = buf.chars();
        prop_assert_eq!(Chars::from_planes(chars.low(), buf.d_plane()), Some(chars));
        prop_assert_eq!(model(chars), &model_[..]);
        prop_assert_eq!(model(chars.slice(from..to)), &model_[from..to]);
        let (before, after) = chars.slice(from..to).split_at((to - from) / 3);
        let at = from + (to - from) / 3;
        prop_assert_eq!((model(before), model(after)), (model_[from..at].to_vec(), model_[at..to].to_vec()));
        prop_assert_eq!(chars.get(from), model_.get(from).copied());
        prop_assert_eq!(chars.get(chars.len()), None);
        prop_assert_eq!(model(chars.split_at(usize::MAX).0), &model_[..]);
        prop_assert_eq!(model(chars.slice(from..usize::MAX)), &model_[from..]);
    }

    #[test]
    fn counts_and_runs_are_those_of_the_list((model_, (from, to)) in cut_characters()) {
        let (buf, part) = (buf(&model_), &model_[from..to]);
        let chars = buf.chars().slice(from..to);
        prop_assert_eq!(chars.len(), part.len());
        prop_assert_eq!(chars.is_empty(), part.is_empty());
        prop_assert_eq!(chars.data_count(), part.iter().filter(|c| c.is_data()).count());
        prop_assert_eq!(chars.data_len(), part.iter().take_while(|c| c.is_data()).count());
        prop_assert_eq!(chars.control_len(), part.iter().take_while(|c| !c.is_data()).count());
        let runs: Vec<Vec<Character>> = chars.runs().map(|run| match run {
            CharRun::Data(bytes) => bytes.iter().copied().map(Character::Data).collect(),
            CharRun::Control(codes) => codes.iter().copied().map(Character::Control).collect(),
        }).collect();
        let expected: Vec<&[Character]> =
            part.chunk_by(|one, next| one.is_data() == next.is_data()).collect();
        prop_assert_eq!(runs, expected);
    }

    #[test]
    fn equal_characters_are_equal_at_any_place(model_ in characters(), skip in 0..20_usize) {
        let shifted = buf(&[&vec![Character::Data(0xff); skip][..], &model_].concat());
        let (own, other) = (buf(&model_), shifted.chars().split_at(skip).1);
        prop_assert_eq!(own.chars(), other);
        if let Some(last) = model_.len().checked_sub(1) {
            let mut changed = model_;
            changed[last] = Character::from_bits(changed[last].bits() ^ 0x100);
            let changed = buf(&changed);
            prop_assert_ne!(changed.chars(), other);
        }
    }

    #[test]
    fn what_is_pushed_stands_behind_what_was_there(
        (model_, (from, to)) in cut_characters(),
        bytes in vec(any::<u8>(), 0..150),
        last in character(),
    ) {
        let whole = buf(&model_);
        let mut pushed = buf(&model_[..from]);
        pushed.push_chars(whole.chars().slice(from..to));
        pushed.push_data(&bytes);
        pushed.push(last);
        pushed.push_chars(whole.chars());
        let data = bytes.iter().copied().map(Character::Data);
        let mut expected = model_[..to].to_vec();
        expected.extend(data.chain([last]).chain(model_.iter().copied()));
        prop_assert_eq!(&pushed, &buf(&expected));
        prop_assert_eq!(model(pushed.chars()), expected);
        let used = pushed.len() % 8;
        let spare = pushed.d_plane().last().map_or(0, |d| d.checked_shr(u32::try_from(used).unwrap()).unwrap_or(0));
        prop_assert!(used == 0 || spare == 0, "unused bits are 0");
        // What stands behind a part that is copied as it is goes nowhere.
        let mut part = CharBuf::new();
        part.push_chars(whole.chars().slice(0..to));
        part.push(last);
        prop_assert_eq!(&part, &buf(&[&model_[..to], &[last]].concat()));
    }
}
