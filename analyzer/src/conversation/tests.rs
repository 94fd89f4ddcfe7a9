//! Conversations as lists of packets, a line each, with what is to be made of them worked out by hand.
//!
//! A line: µs of first sight, letter, incarnation and sequence number, the sender's µs; then words. Letters:
//! `S` data with SYNC, `D` data without, `A` ACK, `N1` NACK with reason 1. Words: `lost`, `hurt`, `far` (out of
//! sight), `end` (under way); `=7` is the content, `7` µs more to the last sight, `bad` a header that is hurt.

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

#[test]
fn lost_data_is_sent_again_for_being_lost() {
    insta::assert_snapshot!(check("
        0 S 7.0 0 lost
        4000 S 7.0 4000
        4012 A 7.0 4000
    "), @"
    sRA | 1 of 1 acknowledged, rtt 17/17/17
     4000 retransmission lost-data
    ");
}

#[test]
fn data_that_was_hurt_is_sent_again_for_being_corrupt() {
    insta::assert_snapshot!(check("
        0 S 7.0 0 hurt
        4000 S 7.0 4000
        4012 A 7.0 4000 hurt
        8000 S 7.0 8000
        8012 A 7.0 8000
    "), @"
    sRaRA | 1 of 1 acknowledged, rtt 17/17/17
     4000 retransmission corrupt
     8000 retransmission corrupt
     8000 duplicate
    ");
}

#[test]
fn data_whose_ack_was_lost_is_a_duplicate_when_it_comes_again() {
    insta::assert_snapshot!(check("
        0 S 7.0 0
        12 A 7.0 0 lost
        4000 S 7.0 4000
        4012 A 7.0 4000
        4100 D 7.1 4100 =1
        4112 A 7.1 4100
    "), @"
    SaRA DA | 2 of 2 acknowledged, rtt 17/17/17
     4000 retransmission lost-ack
     4000 duplicate
    ");
}

#[test]
fn what_is_not_taken_is_sent_again_for_it() {
    insta::assert_snapshot!(check("
        0 S 7.0 0
        12 N2 7.0 0
        4000 S 7.0 4000
        4012 N1 7.0 4000
        8000 S 7.0 8000
        8012 A 7.0 8000
    "), @"
    SNRNRA | 1 of 1 acknowledged, rtt 17/17/17
       12 nack queue-full
     4000 retransmission nack
     4012 nack not-resident
     8000 retransmission nack
    ");
}

/// The ACK of the first transmission is on its way when the second is made; so the first ACK counts, and the
/// second comes late.
#[test]
fn a_timer_is_too_early_if_an_answer_was_on_its_way() {
    insta::assert_snapshot!(check("
        0 S 7.0 0
        3000 A 7.0 0 2000
        4000 S 7.0 4000
        4500 A 7.0 4000 2000
        5100 D 7.1 5100 =1
        5112 A 7.1 5100
    "), @"
    SATA DA | 2 of 2 acknowledged, rtt 17/2505/5000
     3000 late
     4000 retransmission too-early
     4000 duplicate
    ");
}

/// A NACK does not resend by itself, the scan does; whatever comes over and over is told in short.
#[test]
fn a_full_queue_makes_a_storm_of_nacks() {
    let mut lines = String::new();
    for round in 0..9 {
        let time = round * 4000;
        lines += &format!("{time} S 7.0 {time}\n{} N2 7.0 {time}\n", time + 12);
    }
    lines += "36000 S 7.0 36000\n36012 A 7.0 36000\n";
    let text = check(&lines);
    let odd: Vec<&str> = text.lines().filter(|line| line.contains("storm")).collect();
    assert_eq!(text.lines().next(), Some("S(NR)9A | 1 of 1 acknowledged, rtt 17/17/17"));
    assert_eq!(odd, ["28012 nack-storm"]);
}

#[test]
fn a_message_that_gets_no_answer_makes_a_storm() {
    let lines: String = (0..12).map(|n| format!("{0} S 7.0 {0} lost\n", n * 4000)).collect();
    let text = check(&lines);
    let odd: Vec<&str> = text.lines().filter(|line| line.contains("storm")).collect();
    // The ninth transmission is the eighth again.
    assert_eq!(odd, ["32000 retransmission-storm"]);
    assert_eq!(text.lines().next(), Some("sr11? | 0 of 1 acknowledged"));
}

#[test]
fn a_final_nack_refuses_a_message() {
    insta::assert_snapshot!(check("
        0 S 7.0 0
        12 N16 7.0 0
        100 S 8.0 100 =1
        112 A 8.0 100
        200 D 8.1 200 =2
        212 N17 8.1 200
    "), @"
    SF SA DF | 1 of 3 acknowledged, rtt 17/17/17
       12 nack bad-key
      100 gone refused
      212 nack no-such-endpoint
      212 gone refused
    ");
}

#[test]
fn a_message_without_any_answer_is_gone_when_its_channel_is_opened_anew() {
    insta::assert_snapshot!(check("
        0 S 7.0 0
        12 A 7.0 0
        100 D 7.1 100 lost =1
        4100 D 7.1 4100 lost =1
        4000000 S 8.0 4000000 =2
        4000012 A 8.0 4000000
    "), @"
    SA dr< SA | 2 of 3 acknowledged, rtt 17/17/17
     4100 retransmission lost-data
    4000000 gone unanswered
    ");
}

/// Only one direction of the link was captured.
#[test]
fn where_no_answers_are_seen_nothing_is_said_of_messages_without_one() {
    insta::assert_snapshot!(check("
        0 S 7.0 0
        4000000 S 8.0 4000000 =1
    "), @"
    (S?)2 | 0 of 2 acknowledged
    4000000 gone unseen
    4000000 gone open
    ");
}

/// The receiver was started anew: the same message comes with SYNC. Another one would have been withdrawn.
#[test]
fn a_receiver_that_knows_nothing_has_its_channel_opened_anew() {
    insta::assert_snapshot!(check("
        0 S 7.0 0
        12 A 7.0 0
        100 D 7.1 100 =1
        112 N4 7.1 100
        4100 S 8.0 4100 =1
        4112 A 8.0 4100
        4200 D 8.1 4200 =2
        4212 N1 8.1 4200
        9000 S 9.0 9000 =3
        9012 A 9.0 9000
    "), @"
    SA DN> SA DN< SA | 3 of 5 acknowledged, rtt 17/17/17
      112 nack no-channel-state
     4100 gone reopened
     4212 nack not-resident
     9000 gone withdrawn
    ");
}

#[test]
fn answers_to_what_is_over_are_late_and_those_to_older_incarnations_stale() {
    insta::assert_snapshot!(check("
        0 S 7.0 0
        12 A 7.0 0
        100 D 7.1 100 =1
        105 A 7.0 0
        112 A 7.1 100
        200 S 8.0 200 =2
        205 A 6.0 0
        212 A 8.0 200
    "), @"
    SA DA SA | 3 of 3 acknowledged, rtt 17/17/17
      105 late
      205 stale
    ");
}

/// What is over is not opened again by an old copy, though its number is the one that comes next. T-4
#[test]
fn old_copies_of_data_are_stale() {
    insta::assert_snapshot!(check("
        0 S 7.0 0
        12 A 7.0 0
        100 D 7.1 100 =1
        112 A 7.1 100
        150 S 7.0 0
        160 S 6.0 77
        200 D 7.0 200 =2
        212 A 7.0 200
    "), @"
    SA (DA)2 | 3 of 3 acknowledged, rtt 17/17/17
      150 stale
      160 stale
      160 incarnation-backwards
    ");
}

#[test]
fn a_message_behind_one_that_was_not_acknowledged_breaks_a_rule_where_acks_are_seen() {
    insta::assert_snapshot!(check("
        0 S 7.0 0
        12 A 7.0 0
        100 D 7.1 100 =1
        200 D 7.0 200 =2
        212 A 7.0 200
    "), @"
    SA D?! DA | 2 of 3 acknowledged, rtt 17/17/17
      200 gone unseen
      200 two-outstanding
    ");
    // No answer was ever seen on that link: it says nothing.
    insta::assert_snapshot!(check("
        0 S 7.0 0
        200 D 7.1 200 =2
    "), @"
    S? D? | 0 of 2 acknowledged
      200 gone unseen
      200 gone open
    ");
    // Something was not recorded in between.
    insta::assert_snapshot!(check("
        0 S 7.0 0
        12 A 7.0 0
        100 D 7.1 100 =1
        120 hole
        200 D 7.0 200 =2
        212 A 7.0 200
    "), @"
    SA D? DA | 2 of 3 acknowledged, rtt 17/17/17
      200 gone unseen
    ");
}

#[test]
fn numbers_must_flip_behind_an_ack_and_only_there() {
    insta::assert_snapshot!(check("
        0 S 7.0 0
        12 A 7.0 0
        100 D 7.0 100 =1
        112 N2 7.0 100
        200 D 7.0 200 =2
        212 A 7.0 200
    "), @"
    SA! DN?! DA | 2 of 3 acknowledged, rtt 17/17/17
      100 sequence-not-flipped
      112 nack queue-full
      200 gone unseen
      200 message-altered
    ");
}

#[test]
fn what_was_lost_or_hurt_must_not_be_acknowledged() {
    insta::assert_snapshot!(check("
        0 S 7.0 0 hurt
        12 A 7.0 0
    "), @"
    sA! | 1 of 1 acknowledged, rtt 17/17/17
       12 ack-of-lost
    ");
}

#[test]
fn what_was_acknowledged_must_neither_be_refused_nor_sent_again() {
    insta::assert_snapshot!(check("
        0 S 7.0 0
        12 A 7.0 0
        4000 S 7.0 4000
        4012 N2 7.0 4000
    "), @"
    SAR!N! | 1 of 1 acknowledged, rtt 17/17/17
     4000 retransmission after-ack
     4000 resent-after-ack
     4000 duplicate
     4012 nack queue-full
     4012 nack-after-ack
    ");
}

/// T-12: what was started anew may refuse what it had written before, for it knows nothing of it.
#[test]
fn a_receiver_that_knows_nothing_may_refuse_what_it_acknowledged() {
    let told = check(
        "
        0 S 7.0 0
        12 A 7.0 0
        100 D 7.1 100 =1
        112 A 7.1 100 lost
        4100 D 7.1 4100 =1
        4112 N4 7.1 4100
        8100 S 8.0 8100 =1
        8112 A 8.0 8100
    ",
    );
    assert!(
        told.contains("4112 nack no-channel-state") && !told.contains("nack-after-ack"),
        "{told}"
    );
}

/// By the sender's clock it was made at 880 µs, when the ACK was not there, and then waited for the network.
#[test]
fn what_waited_in_its_nic_was_not_sent_again_behind_its_ack() {
    insta::assert_snapshot!(check("
        0 S 7.0 0
        900 A 7.0 0
        4000 S 7.0 880
    "), @"
    SAT | 1 of 1 acknowledged, rtt 905/905/905
     4000 retransmission too-early
     4000 duplicate
    ");
}

/// What is seen first may be sent for the second time, and the ACK be that of the first.
#[test]
fn the_first_message_that_is_seen_may_have_had_its_ack_before() {
    insta::assert_snapshot!(check("
        50 A 7.0 30
        100 D 7.1 100 =1
        200 D 7.0 200 =2
        212 A 7.0 200
    "), @"
    D? DA | 1 of 2 acknowledged, rtt 17/17/17
      200 gone unseen
    ");
}

#[test]
fn a_new_incarnation_needs_sync_and_an_old_one_bears_none() {
    insta::assert_snapshot!(check("
        0 S 7.0 0
        12 A 7.0 0
        100 D 8.0 100 =1
        112 A 8.0 100
        200 S 8.1 200 =2
        212 A 8.1 200
    "), @"
    SA D!A S!A | 3 of 3 acknowledged, rtt 17/17/17
      100 sync-missing
      200 sync-again
    ");
}

#[test]
fn an_answer_to_what_was_not_sent_breaks_a_rule_where_data_is_seen() {
    insta::assert_snapshot!(check("
        0 S 7.0 50
        12 A 7.0 50
        20 A 7.1 60
        30 A 7.1 40
    "), @"
    SA | 1 of 1 acknowledged, rtt 17/17/17
       20 answer-unasked
    ");
}

/// The scan makes of journeys, which are told late, what happened.
#[test]
fn packets_that_come_out_of_order_are_put_in_order() {
    insta::assert_snapshot!(check("
        112 A 7.1 100
        0 S 7.0 0
        100 D 7.1 100 =1
        12 A 7.0 0
    "), @"SA DA | 2 of 2 acknowledged, rtt 17/17/17");
}

#[test]
fn one_transmission_that_two_taps_saw_is_one() {
    insta::assert_snapshot!(check("
        0 S 7.0 0 far
        3 S 7.0 0
        12 A 7.0 0
    "), @"SA | 1 of 1 acknowledged, rtt 17/17/17");
}

#[test]
fn a_packet_that_is_not_seen_where_others_arrive_was_lost() {
    insta::assert_snapshot!(check("
        0 S 7.0 0
        12 A 7.0 0
        100 D 7.1 100 far =1
        4100 D 7.1 4100 =1
        4112 A 7.1 4100
    "), @"
    SA dRA | 2 of 2 acknowledged, rtt 17/17/17
     4100 retransmission lost-data
    ");
    insta::assert_snapshot!(check("
        0 S 7.0 0 far
        4000 S 7.0 4000 far
        4012 A 7.0 4000
    "), @"
    SRA | 1 of 1 acknowledged, rtt 17/17/17
     4000 retransmission unknown
    ");
    // The link of its host may not have been recorded any more; or not yet.
    for hole in ["50", "150"] {
        let text = check(&format!(
            "
            0 S 7.0 0
            12 A 7.0 0
            {hole} hole
            100 D 7.1 100 far =1
            4100 D 7.1 4100 =1
            4112 A 7.1 4100
        "
        ));
        assert!(text.contains("4100 retransmission unknown"), "{text}");
    }
}

#[test]
fn an_ack_that_went_out_of_sight_need_not_have_arrived() {
    insta::assert_snapshot!(check("
        0 S 7.0 0
        12 A 7.0 0 far
        4000 S 7.0 4000
        4012 A 7.0 4000 far
    "), @"
    SARA | 1 of 1 acknowledged, rtt 17/17/17
     4000 retransmission unknown
     4000 duplicate
    ");
}

/// Messages were missed: that two of them have one number says nothing.
#[test]
fn nothing_is_concluded_over_a_hole() {
    insta::assert_snapshot!(check("
        0 S 7.0 0
        12 A 7.0 0
        50 hole
        100 D 7.0 100 =1
        112 A 7.0 100
        150 hole
        200 D 8.0 200 =2
        212 N1 8.0 200
        250 hole
        300 D 8.0 300 =3
    "), @"
    SA DA DN? D? | 2 of 4 acknowledged, rtt 17/17/17
      212 nack not-resident
      300 gone unseen
      300 gone open
    ");
}

/// Its header may say anything; only what fits is believed.
#[test]
fn a_packet_that_is_hurt_is_believed_if_it_fits() {
    insta::assert_snapshot!(check("
        0 S 7.0 0
        12 A 7.0 0 bad
        4000 S 7.0 4000
        4012 A 7.0 4000
        4020 A 7.0 9999 bad
        4030 S 9.0 4030 bad
        5000 D 7.1 5000 bad =9
        9000 D 7.1 9000 =1
        9012 A 7.1 9000
    "), @"
    SaRA dRA | 2 of 2 acknowledged, rtt 17/17/17
     4000 retransmission corrupt
     4000 duplicate
     9000 retransmission corrupt
    ");
}

#[test]
fn the_middle_of_a_conversation_is_no_fault() {
    insta::assert_snapshot!(check("
        0 A 7.1 0
        10 D 7.0 20
        22 A 7.0 20
        100 D 7.1 100 =1
        112 A 7.1 100
        200 D 7.0 200 =2
    "), @"
    (DA)2 D? | 2 of 3 acknowledged, rtt 17/17/17
      200 gone open
    ");
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
