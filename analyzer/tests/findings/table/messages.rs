//! The kinds that the reliability protocol has, with packets that have them and packets that nearly do.
//!
//! Packets are separated by `|`; each has µs, letter, incarnation and sequence number, its sender's µs; then words. Letters: `S` data
//! with SYNC, `D` data without, `A` ACK, `N1` NACK with reason 1, `M` a packet that breaks off. Words: `=7` other
//! content, `bad` a wrong CRC byte.

use codec::capture::Channel;
use codec::crc::crc8;
use codec::notation::parse;
use codec::transport::{
    ChannelIncarnation, EndpointId, EndpointKey, LogicalChannel, MessageBody, MessageForm,
    MessageRole, NackReason, Nic, SequenceBit, SyncFlag, TAG, TransportHeader, TransportMessage,
    TransportPacket, TransportTimestamp,
};
use codec::{CharBuf, Character};
use myriscope_analyzer::finding::FindingKind;

/// A kind, packets that have it, and packets that nearly have it.
pub(super) type MessageTalk = (FindingKind, &'static str, &'static str);

/// All of them, in order of kinds.
pub(super) const TALKS: &[MessageTalk] = &[
    // T-2: the second message has no ACK when the third follows.
    (
        FindingKind::TwoOutstanding,
        "10 S 7.0 10 | 22 A 7.0 10 | 30 D 7.1 30 =1 | 60 D 7.0 60 =2 | 72 A 7.0 60",
        "10 S 7.0 10 | 22 A 7.0 10 | 30 D 7.1 30 =1 | 42 A 7.1 30 | 60 D 7.0 60 =2",
    ),
    // T-4
    (
        FindingKind::NotFlipped,
        "10 S 7.0 10 | 22 A 7.0 10 | 30 D 7.0 30 =1",
        "10 S 7.0 10 | 22 A 7.0 10 | 30 D 7.1 30 =1",
    ),
    (
        FindingKind::MessageAltered,
        "10 S 7.0 10 | 22 N2 7.0 10 | 4010 S 7.0 4010 =1",
        "10 S 7.0 10 | 22 N2 7.0 10 | 4010 S 7.0 4010",
    ),
    // T-5, T-7: the ACK is to the transmission that was hurt.
    (
        FindingKind::AckOfLost,
        "10 S 7.0 10 | 22 A 7.0 10 | 30 D 7.1 30 =1 bad | 42 A 7.1 30",
        "10 S 7.0 10 | 22 A 7.0 10 | 30 D 7.1 30 =1 bad | 4030 D 7.1 4030 =1 | 4042 A 7.1 4030",
    ),
    // T-5: a duplicate is acknowledged again; T-12: but SYNC is new to a receiver that began anew.
    (
        FindingKind::NackAfterAck,
        "10 D 7.0 10 | 22 A 7.0 10 bad | 4010 D 7.0 4010 | 4022 N2 7.0 4010",
        "10 S 7.0 10 | 22 A 7.0 10 bad | 4010 S 7.0 4010 | 4022 N2 7.0 4010",
    ),
    // T-6
    (FindingKind::MessageRefused, "10 S 7.0 10 | 22 N16 7.0 10", "10 S 7.0 10 | 22 N1 7.0 10"),
    (
        FindingKind::NackStorm,
        "10 S 7.0 10 | 22 N2 7.0 10 | 30 S 7.0 30 | 42 N2 7.0 30 | 50 S 7.0 50 | 62 N2 7.0 50 | \
         70 S 7.0 70 | 82 N2 7.0 70 | 90 S 7.0 90 | 102 N2 7.0 90 | 110 S 7.0 110 | \
         122 N2 7.0 110 | 130 S 7.0 130 | 142 N2 7.0 130 | 150 S 7.0 150 | 162 N2 7.0 150 | \
         170 S 7.0 170 | 182 A 7.0 170",
        "10 S 7.0 10 | 22 N2 7.0 10 | 30 S 7.0 30 | 42 N2 7.0 30 | 50 S 7.0 50 | 62 N2 7.0 50 | \
         70 S 7.0 70 | 82 N2 7.0 70 | 90 S 7.0 90 | 102 N2 7.0 90 | 110 S 7.0 110 | \
         122 N2 7.0 110 | 130 S 7.0 130 | 142 N2 7.0 130 | 150 S 7.0 150 | 162 A 7.0 150",
    ),
    // T-7: what was hurt is not malformed.
    (FindingKind::MalformedMessage, "10 M 7.0 10", "10 M 7.0 10 bad"),
    // T-8
    (
        FindingKind::AnswerUnasked,
        "10 S 7.0 10 | 22 A 7.0 10 | 30 A 7.0 20",
        "10 S 7.0 10 | 22 A 7.0 10 | 30 A 7.0 10",
    ),
    // T-10: eight times again, or seven.
    (
        FindingKind::ResendStorm,
        "10 S 7.0 10 | 4010 S 7.0 4010 | 8010 S 7.0 8010 | 12010 S 7.0 12010 | \
         16010 S 7.0 16010 | 20010 S 7.0 20010 | 24010 S 7.0 24010 | 28010 S 7.0 28010 | \
         32010 S 7.0 32010 | 32022 A 7.0 32010",
        "10 S 7.0 10 | 4010 S 7.0 4010 | 8010 S 7.0 8010 | 12010 S 7.0 12010 | \
         16010 S 7.0 16010 | 20010 S 7.0 20010 | 24010 S 7.0 24010 | 28010 S 7.0 28010 | \
         28022 A 7.0 28010",
    ),
    // The second ACK is to the first transmission; or there is only one ACK.
    (
        FindingKind::TimerTooEarly,
        "10 S 7.0 10 | 4010 S 7.0 4010 | 4015 A 7.0 10 | 4030 A 7.0 4010",
        "10 S 7.0 10 | 4010 S 7.0 4010 | 4030 A 7.0 4010",
    ),
    (
        FindingKind::ResentAfterAck,
        "10 S 7.0 10 | 22 A 7.0 10 | 4010 S 7.0 4010 | 4022 A 7.0 4010",
        "10 S 7.0 10 | 22 A 7.0 10 bad | 4010 S 7.0 4010 | 4022 A 7.0 4010",
    ),
    // T-11: the same message again is a receiver that was started anew.
    (
        FindingKind::MessageUnanswered,
        "1 S 7.0 1 | 9 A 7.0 1 | 10 D 7.1 10 =1 | 4010 S 8.0 4010 =2 | 4022 A 8.0 4010",
        "10 S 7.0 10 | 22 N4 7.0 10 | 4010 S 8.0 4010 | 4022 A 8.0 4010",
    ),
    // T-12
    (
        FindingKind::SyncMissing,
        "10 S 7.0 10 | 22 A 7.0 10 | 30 D 8.0 30 =1",
        "10 S 7.0 10 | 22 A 7.0 10 | 30 S 8.0 30 =1",
    ),
    (
        FindingKind::SyncAgain,
        "10 S 7.0 10 | 22 A 7.0 10 | 30 S 7.1 30 =1",
        "10 S 7.0 10 | 22 A 7.0 10 | 30 D 7.1 30 =1",
    ),
    (
        FindingKind::IncarnationBackwards,
        "10 S 7.0 10 | 22 A 7.0 10 | 30 S 6.0 30 =1",
        "10 S 65535.0 10 | 22 A 65535.0 10 | 30 S 0.0 30 =1",
    ),
    (
        FindingKind::StalePacket,
        "10 S 7.0 10 | 22 A 7.0 10 | 30 D 7.1 30 =1 | 42 A 7.1 30 | 50 S 7.0 10",
        "10 S 7.0 10 | 22 A 7.0 10 | 30 D 7.1 30 =1 | 42 A 7.1 30 | 50 D 7.0 50 =2",
    ),
];

/// The channel of the capture, the period, and the payload and CRC byte of a packet between NIC 0, which
/// sends the data, and NIC 1.
fn packet(line: &str) -> (u32, u64, Vec<u8>) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [at, letter, number, timestamp, rest @ ..] = words.as_slice() else { panic!("{line}") };
    let (incarnation, seq) = number.split_once('.').unwrap();
    let header = TransportHeader {
        source: Nic(0),
        destination: Nic(1),
        channel: LogicalChannel(2),
        seq: if seq == "0" { SequenceBit::Zero } else { SequenceBit::One },
        timestamp: TransportTimestamp(timestamp.parse().unwrap()),
        incarnation: ChannelIncarnation(incarnation.parse().unwrap()),
    };
    let content = rest.iter().find_map(|word| word.strip_prefix('=')).unwrap_or("0");
    let word = [0, 0, 0, content.parse().unwrap()];
    let message = TransportMessage {
        role: MessageRole::Request,
        source: EndpointId(3),
        destination: EndpointId(4),
        key: EndpointKey(5),
        handler: 6,
        body: MessageBody::new(MessageForm::Short, &word).unwrap(),
    };
    let mut bytes = vec![TAG];
    let (channel, packet) = match *letter {
        "S" => (0, TransportPacket::Data(header, SyncFlag::Set, message)),
        "D" | "M" => (0, TransportPacket::Data(header, SyncFlag::Clear, message)),
        "A" => (1, TransportPacket::Ack(header.answer())),
        nack => {
            let reason = match nack {
                "N1" => NackReason::NotResident,
                "N2" => NackReason::QueueFull,
                "N4" => NackReason::NoChannelState,
                _ => NackReason::BadKey,
            };
            (1, TransportPacket::Nack(header.answer(), reason))
        }
    };
    packet.emit(&mut bytes);
    if *letter == "M" {
        bytes.truncate(12);
    }
    let wrong = if rest.contains(&"bad") { 0x10 } else { 0 };
    bytes.push(crc8(&bytes) ^ wrong);
    (channel, at.parse::<u64>().unwrap() * 80, bytes)
}

/// The capture of the link of two hosts, tapped at the one that sends the data.
pub(crate) fn capture(packets: &str) -> Vec<u8> {
    let channels = ["h0:0>h1:0", "h1:0>h0:0"].map(|name| {
        let mut channel = Channel::named(name);
        channel.apply_description("myrinet-channel v=1 tap=h0:0 delay=1", &mut |_, fault| {
            panic!("{fault}")
        });
        channel
    });
    let packets: Vec<_> = packets.split('|').map(packet).collect();
    written(&channels, packets)
}

/// The capture of packets, each with its channel and its first period, in the order of time.
pub(super) fn written(channels: &[Channel], packets: Vec<(u32, u64, Vec<u8>)>) -> Vec<u8> {
    let fill = parse("GO GAP").unwrap();
    let (mut next, mut pieces) = (vec![0_u64; channels.len()], Vec::new());
    let end = packets.last().map_or(0, |(_, at, _)| at + 1600);
    for (channel, at, bytes) in packets.into_iter().chain([(0, end, Vec::new())]) {
        for (id, next) in (0..).zip(&mut next) {
            let count = at.saturating_sub(*next) / 2;
            pieces.extend((count > 0).then(|| (*next, id, fill.clone(), Some(count))));
            *next += 2 * count;
        }
        let mut chars: CharBuf = bytes.into_iter().map(Character::Data).collect();
        chars.push(Character::GAP);
        let next = next.get_mut(usize::try_from(channel).unwrap()).unwrap();
        let len = chars.chars().len() as u64;
        pieces.push((*next, channel, chars, None));
        *next += len;
    }
    super::write(channels, pieces)
}
