//! Conversations from the characters of captures written by hand.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on stops")]

use codec::capture::{
    ByteOrder, CaptureWriter, Channel, ChannelId, Chunk, ChunkContent, ReadProgress,
};
use codec::crc::crc8;
use codec::time::Tick;
use codec::transport::{
    ChannelIncarnation, EndpointId, EndpointKey, LogicalChannel, MessageBody, MessageForm,
    MessageRole, NackReason, Nic, SequenceBit, SyncFlag, TAG, TransportHeader, TransportMessage,
    TransportPacket, TransportTimestamp,
};
use codec::{CharBuf, Character, notation};
use myriscope_analyzer::conversation::TransportEvent;
use myriscope_analyzer::link::parameters::LinkAssumptions;
use myriscope_analyzer::options::AnalysisScope;

use myriscope_analyzer::pipeline::{AnalysisEvent, CaptureAnalysis};
use myriscope_analyzer::render::{self, ConversationText, StyledLine};

/// A packet: channel of the capture, µs, and what it is, which gives its payload.
type SentPacket = (u32, u64, Vec<u8>);

/// That of data from NIC 0 to NIC 1.
const fn header((incarnation, seq, timestamp): (u16, u8, u32)) -> TransportHeader {
    TransportHeader {
        source: Nic(0),
        destination: Nic(1),
        channel: LogicalChannel(2),
        seq: if seq == 0 { SequenceBit::Zero } else { SequenceBit::One },
        timestamp: TransportTimestamp(timestamp),
        incarnation: ChannelIncarnation(incarnation),
    }
}

fn payload(packet: &TransportPacket<MessageBody<'_>>) -> Vec<u8> {
    let mut bytes = Vec::new();
    packet.emit(&mut bytes);
    bytes
}

fn data(at: u64, label: (u16, u8, u32), sync: SyncFlag, words: &[u8]) -> SentPacket {
    let message = TransportMessage {
        role: MessageRole::Request,
        source: EndpointId(3),
        destination: EndpointId(4),
        key: EndpointKey(5),
        handler: 6,
        body: MessageBody::new(MessageForm::Short, words).unwrap(),
    };
    (0, at, payload(&TransportPacket::Data(header(label), sync, message)))
}

fn ack(at: u64, label: (u16, u8, u32)) -> SentPacket {
    (1, at, payload(&TransportPacket::Ack(header(label).answer())))
}

fn nack(at: u64, label: (u16, u8, u32), reason: NackReason) -> SentPacket {
    (1, at, payload(&TransportPacket::Nack(header(label).answer(), reason)))
}

/// The capture of the link of two hosts, tapped at the first of them.
fn capture(packets: &[SentPacket]) -> Vec<u8> {
    let mut channels = [Channel::named("h0:0>h1:0"), Channel::named("h1:0>h0:0")];
    channels.iter_mut().for_each(|channel| channel.tap = Some("h0:0".to_owned()));
    let mut file = CaptureWriter::new(Vec::new(), ByteOrder::Little, &channels).unwrap();
    let fill = notation::parse("GO GAP").unwrap();
    let (mut next, mut pieces) = ([0_u64; 2], Vec::new());
    for (channel, at, payload) in packets {
        for (id, next) in (0..).zip(&mut next) {
            let count = (at * 80 - *next) / 2;
            pieces.push((*next, id, fill.clone(), Some(count)));
            *next += 2 * count;
        }
        let mut bytes = vec![TAG];
        bytes.extend(payload);
        bytes.push(crc8(&bytes));
        let mut chars: CharBuf = bytes.into_iter().map(Character::Data).collect();
        chars.push(Character::GAP);
        let next = &mut next[usize::try_from(*channel).unwrap()];
        let len = chars.chars().len() as u64;
        pieces.push((*next, *channel, chars, None));
        *next += len;
    }
    // Chunks come in time, and of the same time in order of channels.
    pieces.sort_by_key(|(first, channel, ..)| (*first, *channel));
    for (first, channel, chars, count) in &pieces {
        let content = match count {
            None => ChunkContent::Literal(chars.chars()),
            Some(count) => ChunkContent::Repeat { pattern: chars.chars(), count: *count },
        };
        file.write(ChannelId(*channel), &Chunk { first: Tick(*first), content }).unwrap();
    }
    file.finish().unwrap()
}

/// What `conversations` prints, and then what it prints with `--events`.
fn printed(packets: &[SentPacket]) -> String {
    let file = capture(packets);
    let assumptions = LinkAssumptions::default();
    let mut analysis =
        CaptureAnalysis::new(file.as_slice(), AnalysisScope::Conversations, assumptions);
    let mut told = Vec::new();
    while analysis.step(&mut |it| told.push(it)).unwrap() == ReadProgress::More {}
    let (mut conversed, mut events) = (ConversationText::default(), String::new());
    let known = |id| analysis.channel(id);
    let add = |text: &mut String, line: StyledLine| *text += &format!("{line}\n");
    add(&mut events, render::remark_head());
    for it in told {
        match it {
            AnalysisEvent::Spoken(TransportEvent::Conversation(it)) => conversed.add(0, *it),
            AnalysisEvent::Spoken(TransportEvent::Noticed(it)) => {
                render::remark_line(&it, &known, &mut |line| add(&mut events, line));
            }
            AnalysisEvent::Spoken(TransportEvent::Malformed(it)) => {
                conversed.malformed(&it);
                render::malformed_line(&it, &known, &mut |line| add(&mut events, line));
            }
            AnalysisEvent::Row(_)
            | AnalysisEvent::Interval(_)
            | AnalysisEvent::Slack(_)
            | AnalysisEvent::Fault(_) => {}
            AnalysisEvent::Journey(_) | AnalysisEvent::Blocked(_) => {}
        }
    }
    let mut summary = String::new();
    render::conversations(&conversed, &mut |line| add(&mut summary, line));
    summary + &events
}

#[test]
fn messages_and_their_answers_are_followed() {
    let sync = SyncFlag::Set;
    let packets = [
        data(10, (7, 0, 10), sync, b"one."),
        ack(30, (7, 0, 10)),
        data(40, (7, 1, 40), SyncFlag::Clear, b"two.more"),
        nack(60, (7, 1, 40), NackReason::QueueFull),
        data(4040, (7, 1, 4040), SyncFlag::Clear, b"two.more"),
        ack(4065, (7, 1, 4040)),
        (1, 4100, vec![0x18, 2]),
        data(4200, (7, 1, 4200), SyncFlag::Clear, b"else"),
    ];
    insta::assert_snapshot!(printed(&packets), @"
    NIC 0 → NIC 1   3 messages, 16 bytes   2 acknowledged   1 open
              sent again: 1 nack
              NACKs: 1 queue-full
              must not be: 1 sequence-not-flipped
      ch messages   data resent   acks  nacks dup late stale   rtt min     mean   max µs  history
       2        3      4      1      2      1   0    0     0      20.0     22.5     25.0  SA DNRA! D?

    2 round trips of 20.0 to 25.0 µs
            16 µs  ████████████████████████████████████████ 2

    1 packet malformed (T-7)
           1× byte 2: source NIC is cut short
           time µs  channel         conversation     message  event                  inc.seq  timestamp  what
           10.0000  h0:0>h1:0       0→1.2                  0  data                       7.0         10  SYNC short request 3→4, 4 bytes
           30.0000  h1:0>h0:0       0→1.2                  0  ack                        7.0         10  after 20.0 µs
         4099.9875  h1:0>h0:0                                 malformed              byte 2: source NIC is cut short
           39.9875  h0:0>h1:0       0→1.2                  1  data                       7.1         40  short request 3→4, 8 bytes
           59.9875  h1:0>h0:0       0→1.2                  1  nack                       7.1         40  queue-full
         4040.0000  h0:0>h1:0       0→1.2                  1  retransmission             7.1       4040  short request 3→4, 8 bytes: nack
         4065.0000  h1:0>h0:0       0→1.2                  1  ack                        7.1       4040  after 25.0 µs
         4199.9875  h0:0>h1:0       0→1.2                  1  sequence-not-flipped       7.1       4200
         4199.9875  h0:0>h1:0       0→1.2                  2  data                       7.1       4200  short request 3→4, 4 bytes
         4199.9875  h0:0>h1:0       0→1.2                  2  gone                       7.1       4200  open
    ");
}
