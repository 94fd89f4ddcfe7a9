//! What answers mean. T-5, T-6, T-8, T-12

use codec::transport::{ChannelIncarnation, Nic};

use super::{PARAMETERS, REASONS, check, step};
use crate::transport::{Micros, Transport};

/// T-4
#[test]
fn a_message_is_acknowledged_and_the_number_flips() {
    insta::assert_snapshot!(check("
        0 load 3
        5 send 3 a
        9 ack 0 0 7 @5
        11 send 3 b
        15 ack 0 1 7 @11
        17 send 3 c
    "), @"
    0 load 3
    5 send 3 a
      data 1.0 0 7 @5 sync a
    9 ack 0 0 7 @5
      acknowledged a
    11 send 3 b
      data 1.0 1 7 @11 b
    15 ack 0 1 7 @11
      acknowledged b
    17 send 3 c
      data 1.0 0 7 @17 c
    ");
}

#[test]
fn an_acknowledgment_of_any_transmission_counts() {
    insta::assert_snapshot!(check("
        0 load 3
        5 send 3 a
        50 tick
        51 ack 0 0 7 @5
        52 ack 0 0 7 @50
        53 send 3 b
        54 ack 0 0 7 @50
        55 ack 0 1 8 @53
        56 ack 0 1 6 @53
        57 ack 0 1 7 @53
    "), @"
    0 load 3
    5 send 3 a
      data 1.0 0 7 @5 sync a
    50 tick
      noted Retransmitted
      data 1.0 0 7 @50 sync a
    51 ack 0 0 7 @5
      acknowledged a
    52 ack 0 0 7 @50
      noted Late
    53 send 3 b
      data 1.0 1 7 @53 b
    54 ack 0 0 7 @50
      noted Late
    55 ack 0 1 8 @53
      noted Late
    56 ack 0 1 6 @53
      noted Late
    57 ack 0 1 7 @53
      acknowledged b
    ");
}

/// T-8
#[test]
fn a_nack_of_the_latest_transmission_counts_once_and_others_are_signs_of_life() {
    insta::assert_snapshot!(check("
        0 load 3
        5 send 3 a
        50 tick
        51 nack 0 0 7 @5 full
        52 nack 0 1 7 @50 full
        53 nack 0 0 8 @50 full
        54 nack 0 0 7 @50 full
        55 nack 0 0 7 @50 full
        56 nack 0 0 7 @50 key
        57 nack 0 0 7 @50 stateless
        58 nack 0 0 7 @5 stateless
        59 ack 0 0 7 @50
        60 nack 0 0 7 @50 full
    "), @"
    0 load 3
    5 send 3 a
      data 1.0 0 7 @5 sync a
    50 tick
      noted Retransmitted
      data 1.0 0 7 @50 sync a
    51 nack 0 0 7 @5 full
      noted Refused(QueueFull)
    52 nack 0 1 7 @50 full
      noted Late
    53 nack 0 0 8 @50 full
      noted Late
    54 nack 0 0 7 @50 full
      noted Refused(QueueFull)
    55 nack 0 0 7 @50 full
      noted Late
    56 nack 0 0 7 @50 key
      noted Late
    57 nack 0 0 7 @50 stateless
      noted Late
    58 nack 0 0 7 @5 stateless
      noted Refused(NoChannelState)
    59 ack 0 0 7 @50
      acknowledged a
    60 nack 0 0 7 @50 full
      noted Late
    ");
}

#[test]
fn a_nack_does_not_send_again_by_itself() {
    insta::assert_snapshot!(check("
        0 load 3
        5 send 3 a
        9 nack 0 0 7 @5 absent
        45 tick
        55 tick
        59 nack 0 0 7 @55 busy
        95 tick
        105 tick
        109 ack 0 0 7 @105
        110 due
    "), @"
    0 load 3
    5 send 3 a
      data 1.0 0 7 @5 sync a
    9 nack 0 0 7 @5 absent
      noted Refused(NotResident)
    45 tick
    55 tick
      noted Retransmitted
      data 1.0 0 7 @55 sync a
    59 nack 0 0 7 @55 busy
      noted Refused(NoResource)
    95 tick
    105 tick
      noted Retransmitted
      data 1.0 0 7 @105 sync a
    109 ack 0 0 7 @105
      acknowledged a
    110 due -> never
    ");
}

#[test]
fn a_final_nack_of_the_latest_transmission_returns_the_message_at_once() {
    insta::assert_snapshot!(check("
        0 load 3
        5 send 3 a
        9 ack 0 0 7 @5
        10 send 3 b
        60 tick
        61 nack 0 1 7 @10 key
        62 nack 0 1 7 @60 key
        63 due
        64 send 3 c
        65 nack 0 1 7 @60 key
        66 nack 0 0 8 @64 nowhere
        67 send 3 d
    "), @"
    0 load 3
    5 send 3 a
      data 1.0 0 7 @5 sync a
    9 ack 0 0 7 @5
      acknowledged a
    10 send 3 b
      data 1.0 1 7 @10 b
    60 tick
      noted Retransmitted
      data 1.0 1 7 @60 b
    61 nack 0 1 7 @10 key
      noted Refused(BadKey)
    62 nack 0 1 7 @60 key
      noted Refused(BadKey)
      returned b, key
    63 due -> never
    64 send 3 c
      data 1.0 0 8 @64 sync c
    65 nack 0 1 7 @60 key
      noted Late
    66 nack 0 0 8 @64 nowhere
      noted Refused(NoSuchEndpoint)
      returned c, nowhere
    67 send 3 d
      data 1.0 0 9 @67 sync d
    ");
}

#[test]
fn sync_is_repeated_with_its_incarnation_until_it_is_acknowledged() {
    insta::assert_snapshot!(check("
        0 load 3
        5 send 3 a
        50 tick
        51 nack 0 0 7 @50 full
        100 tick
        101 ack 0 0 7 @100
        102 send 3 b
        150 tick
    "), @"
    0 load 3
    5 send 3 a
      data 1.0 0 7 @5 sync a
    50 tick
      noted Retransmitted
      data 1.0 0 7 @50 sync a
    51 nack 0 0 7 @50 full
      noted Refused(QueueFull)
    100 tick
      noted Retransmitted
      data 1.0 0 7 @100 sync a
    101 ack 0 0 7 @100
      acknowledged a
    102 send 3 b
      data 1.0 1 7 @102 b
    150 tick
      noted Retransmitted
      data 1.0 1 7 @150 b
    ");
}

#[test]
fn a_receiver_without_state_is_sent_the_same_message_with_sync() {
    insta::assert_snapshot!(check("
        0 load 3
        5 send 3 a
        9 ack 0 0 7 @5
        10 send 3 b
        60 tick
        61 nack 0 1 7 @10 stateless
        62 nack 0 1 7 @60 stateless
        63 ack 0 1 7 @60
        64 nack 0 1 7 @60 full
        100 tick
        110 tick
        111 ack 0 1 7 @60
        112 ack 0 0 7 @5
        113 ack 0 0 8 @110
        114 send 3 c
    "), @"
    0 load 3
    5 send 3 a
      data 1.0 0 7 @5 sync a
    9 ack 0 0 7 @5
      acknowledged a
    10 send 3 b
      data 1.0 1 7 @10 b
    60 tick
      noted Retransmitted
      data 1.0 1 7 @60 b
    61 nack 0 1 7 @10 stateless
      noted Refused(NoChannelState)
    62 nack 0 1 7 @60 stateless
      noted Refused(NoChannelState)
    63 ack 0 1 7 @60
      noted Late
    64 nack 0 1 7 @60 full
      noted Late
    100 tick
    110 tick
      noted Retransmitted
      data 1.0 0 8 @110 sync b
    111 ack 0 1 7 @60
      noted Late
    112 ack 0 0 7 @5
      noted Late
    113 ack 0 0 8 @110
      acknowledged b
    114 send 3 c
      data 1.0 1 8 @114 c
    ");
}

#[test]
fn late_answers_leave_the_machine_as_it_was() {
    let mut nic = Transport::new(Nic(0), PARAMETERS, ChannelIncarnation(7));
    let mut effects = Vec::new();
    for (now, words) in
        [(0, "load 3"), (5, "send 3 a"), (9, "ack 0 0 7 @5"), (10, "send 3 b"), (60, "tick")]
    {
        let words: Vec<_> = words.split_whitespace().collect();
        step(&mut nic, Micros(now), &words, &mut effects);
    }
    let before = nic.clone();
    for seq in [0, 1] {
        for incarnation in [6, 7, 8] {
            for timestamp in [4, 5, 10, 59, 60, 61] {
                for answer in ["ack", "nack"]
                    .into_iter()
                    .flat_map(|kind| REASONS.iter().map(move |(reason, _)| (kind, *reason)))
                {
                    let counts = match answer.0 {
                        "ack" => (seq, incarnation) == (1, 7),
                        // T-11: whichever transmission it is of, there was a sign of life.
                        _ => (seq, incarnation) == (1, 7),
                    };
                    let line =
                        format!("{} 0 {seq} {incarnation} @{timestamp} {}", answer.0, answer.1);
                    let words: Vec<_> = line.split_whitespace().collect();
                    step(&mut nic, Micros(70), &words, &mut effects);
                    assert_eq!(nic != before, counts, "{line}");
                    nic = before.clone();
                }
            }
        }
    }
}
