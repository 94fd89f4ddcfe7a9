//! Conversations as lists of packets, a line each, with what is to be made of them worked out by hand.
//!
//! A line: µs of first sight, letter, incarnation and sequence number, the sender's µs; then words. Letters:
//! `S` data with SYNC, `D` data without, `A` ACK, `N1` NACK with reason 1. Words: `lost`, `hurt`, `far` (out of
//! sight), `end` (under way); `=7` is the content, `7` µs more to the last sight, `bad` a header that is hurt.

mod causes;
mod ends;
mod rules;
mod sight;

use codec::capture::ChannelId;
use codec::crc::Residue;
use codec::tick::Tick;
use codec::transport::{
    EndpointId, Form, Header, Incarnation, LogicalChannel, Nic, Reason, Role, Seq, Sync, Timestamp,
};

use super::*;

/// Data of NIC 1 to NIC 2 pass link 1 first and link 2 last, on logical channel 3; answers the other way.
pub(super) fn seen(line: &str) -> Seen {
    let words: Vec<&str> = line.split_whitespace().collect();
    let time = words[0].parse::<Time>().unwrap() * 1_000_000;
    let (incarnation, seq) = words[2].split_once('.').unwrap();
    let label = (Incarnation(incarnation.parse().unwrap()), Timestamp(words[3].parse().unwrap()));
    let rest = &words[4..];
    let content: u8 =
        rest.iter().find_map(|word| word.strip_prefix('=')).map_or(0, |word| word.parse().unwrap());
    let took: Time = rest.iter().find_map(|word| word.parse().ok()).unwrap_or(5);
    let data = |sync| {
        What::Data(Data {
            sync,
            role: Role::Request,
            form: Form::Short,
            source: EndpointId(0),
            destination: EndpointId(0),
            bytes: 8,
            content: Residue::NEW.feed(&[content]),
        })
    };
    let what = match words[1] {
        "S" => data(Sync::Set),
        "D" => data(Sync::Clear),
        "A" => What::Ack,
        nack => What::Nack(reason(nack)),
    };
    let there = matches!(what, What::Data(_));
    let (source, destination) = if there { (Nic(1), Nic(2)) } else { (Nic(2), Nic(1)) };
    let links = if there { (1, 2) } else { (2, 1) };
    let says = |word| rest.contains(&word);
    Seen {
        place: Place { time, channel: ChannelId(0), at: Tick(0), packet: 0 },
        last: time + took * 1_000_000,
        links: (Link(ChannelId(links.0)), Link(ChannelId(links.1))),
        header: Header {
            source,
            destination,
            channel: LogicalChannel(3),
            seq: if seq == "0" { Seq::Zero } else { Seq::One },
            timestamp: label.1,
            incarnation: label.0,
        },
        what,
        fate: match () {
            () if says("lost") => Fate::Lost,
            () if says("hurt") || says("bad") => Fate::Hurt,
            () if says("far") => Fate::OutOfSight,
            () if says("end") => Fate::UnderWay,
            () => Fate::Arrived,
        },
        certainty: crate::path::Certainty::Certain,
        reading: if says("bad") { Reading::Doubtful } else { Reading::Sound },
    }
}

fn reason(nack: &str) -> Reason {
    let number: usize = nack.strip_prefix('N').unwrap().parse().unwrap();
    let place = if number >= 16 { number - 12 } else { number - 1 };
    Reason::ALL[place]
}

/// What is told of packets, which come in any order.
fn told(lines: &str) -> (Vec<Noticed>, Vec<Conversation>) {
    let mut conversations = Conversations::default();
    let (mut noticed, mut ended) = (Vec::new(), Vec::new());
    let mut out = |spoken| match spoken {
        Spoken::Noticed(it) => noticed.push(it),
        Spoken::Conversation(it) => ended.push(*it),
        Spoken::Malformed(_) => {}
    };
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match line.strip_suffix(" hole") {
            Some(time) => {
                conversations.hole(time.parse::<Time>().unwrap() * 1_000_000, &mut out);
            }
            None => conversations.packet(seen(line), &mut out),
        }
    }
    conversations.finish(&mut out);
    (noticed, ended)
}

/// The history, and what is out of the ordinary, a line each.
fn check(lines: &str) -> String {
    let (noticed, ended) = told(lines);
    let mut text = String::new();
    for talk in &ended {
        let sums = &talk.sums;
        text += &format!(
            "{} | {} of {} acknowledged",
            talk.history.line(),
            sums.acknowledged,
            sums.messages
        );
        if let (Some((min, max)), Some(mean)) = (sums.trips.bounds, sums.trips.mean()) {
            let us = |time: Time| time / 1_000_000;
            text += &format!(", rtt {}/{}/{}", us(min), us(mean), us(max));
        }
        text.push('\n');
    }
    for it in noticed {
        let detail = match it.remark {
            Remark::Data(_) | Remark::Ack(_) => continue,
            Remark::Resent(_, cause) => cause.name(),
            Remark::Nack(reason) => reason.name(),
            Remark::Gone(gone) => gone.name(),
            Remark::Duplicate | Remark::Late | Remark::Stale => "",
            Remark::Storm(_) | Remark::Broken(_) => "",
        };
        let line = format!("{:>5} {} {detail}", it.place.time / 1_000_000, it.remark.name());
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[test]
fn a_conversation_without_trouble_has_data_and_ack_in_turn() {
    // 12 − 0 + 5, 112 − 100 + 5, 214 − 200 + 5: from first sight of data to last sight of the ACK.
    insta::assert_snapshot!(check("
        0 S 7.0 0
        12 A 7.0 0
        100 D 7.1 100 =1
        112 A 7.1 100
        200 D 7.0 200 =2
        214 A 7.0 200
    "), @"SA (DA)2 | 3 of 3 acknowledged, rtt 17/17/19");
}

/// 65535 is followed by 0, and so is the last µs of a clock of 32 bits.
#[test]
fn numbers_wrap() {
    insta::assert_snapshot!(check("
        0 S 65535.0 4294967290
        12 A 65535.0 4294967290
        100 D 65535.1 4294967295 =1
        4100 D 65535.1 4000 =1
        4112 A 65535.1 4000
        5000 S 0.0 5000 =2
        5012 A 0.0 5000
    "), @"
    SA DRA SA | 3 of 3 acknowledged, rtt 17/17/17
     4100 retransmission unanswered
    ");
}

#[test]
fn memory_does_not_grow_with_a_message_that_is_sent_for_ever() {
    let mut conversations = Conversations::default();
    let mut sums = Sums::default();
    let mut out = |spoken| {
        if let Spoken::Conversation(it) = spoken {
            sums = it.sums;
        }
    };
    for round in 0..10_000_u64 {
        let time = round * 4000;
        conversations.packet(seen(&format!("{time} S 7.0 {time}")), &mut out);
        conversations.packet(seen(&format!("{} N2 7.0 {time}", time + 12)), &mut out);
        conversations.pass(Time::from(time) * 1_000_000, &mut out);
    }
    conversations.finish(&mut out);
    assert_eq!((sums.messages, sums.data), (1, 10_000));
    assert_eq!(sums.resent.get(&Cause::Nack), Some(&9_999));
    assert_eq!(sums.nacks.get(&Reason::QueueFull), Some(&10_000));
}
