//! Conversations as lists of packets, with results worked out by hand.
//!
//! Packets are separated by `|` or lines. A packet has the µs of first capture, a letter,
//! incarnation and sequence number, the sender's µs, and words. Letters: `S` data with SYNC, `D`
//! data without, `A` ACK, `N1` NACK with reason 1. Words: `lost`, `hurt` (corrupted), `far` (left the captured part), `end` (in transit); `=7` is
//! the content, `7` the µs from first to last capture, `bad` a corrupted header, `tap2` another tap, `blind` that no answer would be captured.

/// Declares tests of packets and the result of [`check`], without indentation.
macro_rules! cases {
    ($($(#[$meta:meta])* fn $name:ident() { $($packets:literal => $result:literal,)+ })+) => {$(
        $(#[$meta])*
        fn $name() {
            $($crate::conversation::tests::compare($packets, $result);)+
        }
    )+};
}

mod causes;
mod ends;
mod rules;
mod sight;

use crate::capture_network::LinkKey;
use crate::time_queue::TimeQueue;
use codec::capture::ChannelId;
use codec::crc::CrcResidue;
use codec::time::Tick;
use codec::transport::{
    ChannelIncarnation, EndpointId, LogicalChannel, MessageForm, MessageRole, NackReason, Nic,
    SequenceBit, SyncFlag, TransportHeader, TransportTimestamp,
};
use std::cell::Cell;

use super::*;

/// Parses a line. Data from NIC 1 to NIC 2 on logical channel 3 pass link 1 first and link 2 last;
/// answers pass them in reverse.
pub(super) fn seen(line: &str) -> ObservedPacket {
    let words: Vec<&str> = line.split_whitespace().collect();
    let time = words[0].parse::<Picoseconds>().unwrap() * 1_000_000;
    let (incarnation, seq) = words[2].split_once('.').unwrap();
    let label = (
        ChannelIncarnation(incarnation.parse().unwrap()),
        TransportTimestamp(words[3].parse().unwrap()),
    );
    let rest = &words[4..];
    let content: u8 =
        rest.iter().find_map(|word| word.strip_prefix('=')).map_or(0, |word| word.parse().unwrap());
    let took: Picoseconds = rest.iter().find_map(|word| word.parse().ok()).unwrap_or(5);
    let data = |sync| {
        PacketContent::Data(DataContent {
            sync,
            role: MessageRole::Request,
            form: MessageForm::Short,
            source: EndpointId(0),
            destination: EndpointId(0),
            bytes: 8,
            content: CrcResidue::NEW.feed(&[content]),
        })
    };
    let what = match words[1] {
        "S" => data(SyncFlag::Set),
        "D" => data(SyncFlag::Clear),
        "A" => PacketContent::Ack,
        nack => PacketContent::Nack(reason(nack)),
    };
    let there = matches!(what, PacketContent::Data(_));
    let (source, destination) = if there { (Nic(1), Nic(2)) } else { (Nic(2), Nic(1)) };
    let links = if there { (1, 2) } else { (2, 1) };
    let says = |word| rest.contains(&word);
    let channel = ChannelId(says("tap2").into());
    ObservedPacket {
        place: ObservedPlace { time, channel, at: Tick(0), packet: 0 },
        last: time + took * 1_000_000,
        links: (LinkKey(ChannelId(links.0)), LinkKey(ChannelId(links.1))),
        header: TransportHeader {
            source,
            destination,
            channel: LogicalChannel(3),
            seq: if seq == "0" { SequenceBit::Zero } else { SequenceBit::One },
            timestamp: label.1,
            incarnation: label.0,
        },
        what,
        fate: match () {
            () if says("lost") => TransportFate::Lost,
            () if says("hurt") || says("bad") => TransportFate::Hurt,
            () if says("far") => TransportFate::OutOfSight,
            () if says("end") => TransportFate::UnderWay,
            () => TransportFate::Arrived,
        },
        certainty: crate::journey::MatchCertainty::Certain,
        shows_answers: !says("blind"),
        reading: if says("bad") { HeaderTrust::Doubtful } else { HeaderTrust::Sound },
    }
}

fn packet(line: &str) -> (Picoseconds, TransportItem) {
    let seen = seen(line);
    (seen.place.time, TransportItem::Packet(Box::new(seen)))
}

fn reason(nack: &str) -> NackReason {
    let number: usize = nack.strip_prefix('N').unwrap().parse().unwrap();
    let place = if number >= 16 { number - 12 } else { number - 1 };
    NackReason::ALL[place]
}

/// Observations and conversations of packets in any order.
fn observations(lines: &str) -> (Vec<Observation>, Vec<Conversation>) {
    let (mut conversations, mut waiting) = <(ConversationTracker, TimeQueue<_>)>::default();
    let (mut observation, mut ended) = (Vec::new(), Vec::new());
    let mut out = |spoken| match spoken {
        TransportEvent::Observed(it) => observation.push(it),
        TransportEvent::Conversation(it) => ended.push(*it),
        TransportEvent::Malformed(_) => {}
    };
    for line in lines.split(['\n', '|']).map(str::trim).filter(|line| !line.is_empty()) {
        let (time, item) = match line.strip_suffix(" hole") {
            Some(time) => (time.parse::<Picoseconds>().unwrap() * 1_000_000, TransportItem::Hole),
            None => packet(line),
        };
        assert!(waiting.push(time, item).is_none());
    }
    while let Some((time, item)) = waiting.pop() {
        conversations.process(time, item, &mut out);
    }
    conversations.finish(&mut out);
    (observation, ended)
}

/// The history, and one line for each unusual observation.
fn check(lines: &str) -> String {
    let (observation, ended) = observations(lines);
    // T-7: what was lost, by its observations.
    let mut lost = [0; 2];
    for it in observation.iter().filter(|it| it.fate.is_lost()) {
        let is_answer = matches!(it.observed, ObservationKind::Ack(_) | ObservationKind::Nack(_));
        let is_data = matches!(it.observed, ObservationKind::Data(_) | ObservationKind::Resent(..));
        lost = [lost[0] + u64::from(is_answer), lost[1] + u64::from(is_data)];
    }
    let sums = ended.iter().map(|talk| [talk.sums.answers_lost, talk.sums.data_lost]);
    assert_eq!(sums.fold([0; 2], |[a, b], [c, d]| [a + c, b + d]), lost, "{lines}");
    let mut text = String::new();
    for talk in &ended {
        let (sums, history) = (&talk.sums, talk.history.line());
        text += &format!("{history} | {} of {} acknowledged", sums.acknowledged, sums.messages);
        if let (Some((min, max)), Some(mean)) = (sums.trips.bounds, sums.trips.mean()) {
            let us = |time: Picoseconds| time / 1_000_000;
            text += &format!(", rtt {}/{}/{}", us(min), us(mean), us(max));
        }
        text.push('\n');
    }
    for it in observation {
        let detail = match it.observed {
            ObservationKind::Data(_) | ObservationKind::Ack(_) => continue,
            ObservationKind::Resent(_, cause) => cause.name(),
            ObservationKind::Nack(reason) => reason.name(),
            ObservationKind::Gone(gone) => gone.name(),
            ObservationKind::Duplicate | ObservationKind::Late | ObservationKind::Stale => "",
            ObservationKind::Storm(_) | ObservationKind::Broken(_) => "",
        };
        let line = format!("{:>5} {} {detail}", it.place.time / 1_000_000, it.observed.name());
        text += line.trim_end();
        text.push('\n');
    }
    text
}

fn compare(packets: &str, expected: &str) {
    let lines = |text: &str| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
    assert_eq!(lines(&check(packets)), lines(expected), "{packets}");
}

/// Lines of packets, each followed by its result: lines that begin with `=`.
#[test]
fn every_case_of_the_text_file_has_its_result() {
    let (mut packets, mut expected) = (String::new(), String::new());
    for line in include_str!("tests/cases.txt").lines().chain([""]) {
        if let Some(result) = line.strip_prefix("  = ") {
            expected += &format!("{result}\n");
            continue;
        }
        if !expected.is_empty() {
            compare(&std::mem::take(&mut packets), &std::mem::take(&mut expected));
        }
        if !line.starts_with('#') {
            packets += &format!("{line}\n");
        }
    }
    assert_eq!(packets.trim(), "");
}

cases! {
    /// 65535 is followed by 0, and so is the last µs of a clock of 32 bits.
    #[test]
    fn a_conversation_without_trouble_has_data_and_ack_in_turn_whose_numbers_wrap() {
        // 12 − 0 + 5, 112 − 100 + 5, 214 − 200 + 5: from first capture of data to last capture
        // of the ACK.
        "0 S 7.0 0 | 12 A 7.0 0 | 100 D 7.1 100 =1 | 112 A 7.1 100 | 200 D 7.0 200 =2
         214 A 7.0 200"
            => "SA (DA)2 | 3 of 3 acknowledged, rtt 17/17/19",
        "0 S 65535.0 4294967290 | 12 A 65535.0 4294967290 | 100 D 65535.1 4294967295 =1
         4100 D 65535.1 4000 =1 | 4112 A 65535.1 4000 | 5000 S 0.0 5000 =2 | 5012 A 0.0 5000"
            => "SA DRA SA | 3 of 3 acknowledged, rtt 17/17/17
                4100 retransmission unanswered",
    }
}

#[test]
fn memory_does_not_grow_with_a_message_that_is_sent_for_ever() {
    let mut conversations = ConversationTracker::default();
    let mut sums = ConversationTotals::default();
    let (emitted, mut most) = (Cell::new(0), 0);
    let mut out = |spoken| {
        emitted.set(emitted.get() + 1);
        if let TransportEvent::Conversation(it) = spoken {
            sums = it.sums;
        }
    };
    for round in 0..10_000_u64 {
        let time = round * 4000;
        for line in [format!("{time} S 7.0 {time}"), format!("{} N2 7.0 {time}", time + 12)] {
            let (time, item) = packet(&line);
            conversations.process(time, item, &mut out);
            most = most.max(emitted.take());
        }
    }
    conversations.finish(&mut out);
    // As many observations are held before they are emitted.
    assert_eq!(most, 24);
    assert_eq!((sums.messages, sums.data), (1, 10_000));
    assert_eq!(sums.resent.get(&ResendCause::Nack), Some(&9_999));
    assert_eq!(sums.nacks.get(&NackReason::QueueFull), Some(&10_000));
}
