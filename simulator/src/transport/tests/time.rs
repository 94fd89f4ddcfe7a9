//! What time does. T-8, T-10, T-11

use codec::transport::ChannelIncarnation;

use super::{PARAMETERS, check, check_with};
use crate::transport::TransportParameters;

#[test]
fn a_packet_goes_again_when_it_is_unacknowledged_for_longer_than_the_timeout() {
    insta::assert_snapshot!(check("
        0 load 3
        5 send 3 a
        15 tick
        44 tick
        53 tick
        54 tick
        94 tick
        104 tick
    "), @"
    0 load 3
    5 send 3 a
      data 1.0 0 7 @5 sync a
    15 tick
    44 tick
    53 tick
    54 tick
      noted Retransmitted
      data 1.0 0 7 @54 sync a
    94 tick
    104 tick
      noted Retransmitted
      data 1.0 0 7 @104 sync a
    ");
}

#[test]
fn the_timeout_is_exceeded() {
    for (scan, resent) in [(39, 0), (40, 0), (41, 1)] {
        let script = format!("0 load 3\n 5 send 3 a\n {} tick", 5 + scan);
        let picture = check(&script);
        assert_eq!(picture.matches("Retransmitted").count(), resent, "{picture}");
    }
}

#[test]
fn scans_come_in_their_period_while_anything_is_outstanding() {
    insta::assert_snapshot!(check("
        0 due
        0 load 3
        5 send 3 a
        6 due
        7 send 3 b
        8 due
        14 tick
        14 due
        15 tick
        15 due
        31 tick
        31 due
        32 ack 0 0 7 @5
        33 due
        34 ack 1 0 8 @7
        35 due
        36 send 3 c
        37 due
    "), @"
    0 due -> never
    0 load 3
    5 send 3 a
      data 1.0 0 7 @5 sync a
    6 due -> 15
    7 send 3 b
      data 1.1 0 8 @7 sync b
    8 due -> 15
    14 tick
    14 due -> 15
    15 tick
    15 due -> 25
    31 tick
    31 due -> 41
    32 ack 0 0 7 @5
      acknowledged a
    33 due -> 41
    34 ack 1 0 8 @7
      acknowledged b
    35 due -> never
    36 send 3 c
      data 1.0 1 7 @36 c
    37 due -> 46
    ");
}

#[test]
fn one_scan_sends_again_all_that_is_due_and_nothing_else() {
    let parameters = TransportParameters { nics: 300, ..PARAMETERS };
    insta::assert_snapshot!(check_with(parameters, ChannelIncarnation(7), "
        0 load 3
        1 send 3 a to 299
        2 send 3 b to 63
        3 send 3 c to 64
        4 send 3 d to 299
        5 send 3 e to 70
        6 send 3 f to 64
        7 ack 0 0 11 @5 from 70
        46 tick
        46 due
    "), @"
    0 load 3
    1 send 3 a to 299
      data 299.0 0 7 @1 sync a
    2 send 3 b to 63
      data 63.0 0 8 @2 sync b
    3 send 3 c to 64
      data 64.0 0 9 @3 sync c
    4 send 3 d to 299
      data 299.1 0 10 @4 sync d
    5 send 3 e to 70
      data 70.0 0 11 @5 sync e
    6 send 3 f to 64
      data 64.1 0 12 @6 sync f
    7 ack 0 0 11 @5 from 70
      acknowledged e
    46 tick
      noted Retransmitted
      noted Retransmitted
      noted Retransmitted
      noted Retransmitted
      data 63.0 0 8 @46 sync b
      data 64.0 0 9 @46 sync c
      data 299.0 0 7 @46 sync a
      data 299.1 0 10 @46 sync d
    46 due -> 56
    ");
}

/// T-11
#[test]
fn a_message_goes_back_when_as_many_retransmissions_as_there_may_be_had_no_answer() {
    for retries in [0, 1, 3, 20] {
        let parameters = TransportParameters { retries, ..PARAMETERS };
        let ticks: String =
            (0..=retries).map(|count| format!("\n {} tick", 50 * (count + 1))).collect();
        let picture =
            check_with(parameters, ChannelIncarnation(7), &format!("0 load 3\n 5 send 3 a{ticks}"));
        assert_eq!(picture.matches("Retransmitted").count(), retries as usize, "{picture}");
        assert!(picture.ends_with("tick\n  returned a, unreachable\n"), "{picture}");
    }
}

/// Timers were set so short that each answer came behind the next transmission: of 8993 NACKs none
/// counted, and whoever sent them was declared unreachable. T-8, T-11
#[test]
fn a_nack_of_an_earlier_transmission_is_a_sign_of_life() {
    let turn = |count: u32| {
        let now = 50 * (count + 1);
        format!("\n {now} tick\n {} nack 0 0 7 @{} full", now + 1, (now - 50).max(5))
    };
    let turns: String = (0..8993).map(turn).collect();
    let picture = check(&format!("0 load 3\n 5 send 3 a{turns}"));
    assert_eq!(picture.matches("noted Refused(QueueFull)").count(), 8993);
    assert_eq!(picture.matches("noted Retransmitted").count(), 8993);
    assert_eq!(picture.matches("returned").count(), 0);
}

/// T-3, T-8, T-10
#[test]
fn timestamp_and_timer_begin_as_the_packet_leaves_and_none_is_queued_twice() {
    insta::assert_snapshot!(check("
        0 load 3
        1 hold
        5 send 3 a
        60 tick
        999 tick
        1000 leave
        1040 tick
        1041 hold
        1050 tick
        1060 tick
        2000 tick
        2001 leave
    "), @"
    0 load 3
    1 hold
    5 send 3 a
    60 tick
    999 tick
    1000 leave
      data 1.0 0 7 @1000 sync a
    1040 tick
    1041 hold
    1050 tick
      noted Retransmitted
    1060 tick
    2000 tick
    2001 leave
      data 1.0 0 7 @2001 sync a
    ");
}

/// T-5, T-13
#[test]
fn what_is_answered_while_it_waits_to_leave_is_not_sent() {
    insta::assert_snapshot!(check("
        0 load 3
        5 send 3 a
        6 send 3 b
        47 hold
        50 tick
        51 ack 0 0 7 @5
        52 nack 1 0 8 @6 full
        53 send 3 c
        60 leave
        100 tick
        101 hold
        102 ack 1 0 8 @6
        103 ack 0 1 7 @60
        104 leave
    "), @"
    0 load 3
    5 send 3 a
      data 1.0 0 7 @5 sync a
    6 send 3 b
      data 1.1 0 8 @6 sync b
    47 hold
    50 tick
      noted Retransmitted
      noted Retransmitted
    51 ack 0 0 7 @5
      acknowledged a
    52 nack 1 0 8 @6 full
      noted Refused(QueueFull)
    53 send 3 c
    60 leave
      not sent
      not sent
      data 1.0 1 7 @60 c
    100 tick
      noted Retransmitted
      data 1.1 0 8 @100 sync b
    101 hold
    102 ack 1 0 8 @6
      acknowledged b
    103 ack 0 1 7 @60
      acknowledged c
    104 leave
    ");
}

#[test]
fn retransmissions_are_no_sign_of_life_and_a_nack_is_one() {
    insta::assert_snapshot!(check("
        0 load 3
        5 send 3 a
        50 tick
        100 tick
        150 tick
        151 nack 0 0 7 @50 full
        200 tick
        250 tick
        300 tick
        350 tick
        350 due
        351 send 3 b
    "), @"
    0 load 3
    5 send 3 a
      data 1.0 0 7 @5 sync a
    50 tick
      noted Retransmitted
      data 1.0 0 7 @50 sync a
    100 tick
      noted Retransmitted
      data 1.0 0 7 @100 sync a
    150 tick
      noted Retransmitted
      data 1.0 0 7 @150 sync a
    151 nack 0 0 7 @50 full
      noted Refused(QueueFull)
    200 tick
      noted Retransmitted
      data 1.0 0 7 @200 sync a
    250 tick
      noted Retransmitted
      data 1.0 0 7 @250 sync a
    300 tick
      noted Retransmitted
      data 1.0 0 7 @300 sync a
    350 tick
      returned a, unreachable
    350 due -> never
    351 send 3 b
      data 1.0 0 8 @351 sync b
    ");
}

#[test]
fn what_was_refused_is_asked_again_before_it_is_given_up() {
    insta::assert_snapshot!(check("
        0 load 3
        5 send 3 a
        9 nack 0 0 7 @5 full
        2000 tick
        2400 tick
        2401 tick
        2441 tick
        2482 tick
    "), @"
    0 load 3
    5 send 3 a
      data 1.0 0 7 @5 sync a
    9 nack 0 0 7 @5 full
      noted Refused(QueueFull)
    2000 tick
      noted Retransmitted
      data 1.0 0 7 @2000 sync a
    2400 tick
      noted Retransmitted
      data 1.0 0 7 @2400 sync a
    2401 tick
    2441 tick
      noted Retransmitted
      data 1.0 0 7 @2441 sync a
    2482 tick
      returned a, unreachable
    ");
}

#[test]
fn an_acknowledgment_after_the_message_was_returned_is_late() {
    insta::assert_snapshot!(check("
        0 load 3
        5 send 3 a
        50 tick
        100 tick
        150 tick
        406 tick
        407 ack 0 0 7 @5
        408 send 3 b
        409 ack 0 0 7 @5
        410 ack 0 0 8 @408
    "), @"
    0 load 3
    5 send 3 a
      data 1.0 0 7 @5 sync a
    50 tick
      noted Retransmitted
      data 1.0 0 7 @50 sync a
    100 tick
      noted Retransmitted
      data 1.0 0 7 @100 sync a
    150 tick
      noted Retransmitted
      data 1.0 0 7 @150 sync a
    406 tick
      returned a, unreachable
    407 ack 0 0 7 @5
      noted Late
    408 send 3 b
      data 1.0 0 8 @408 sync b
    409 ack 0 0 7 @5
      noted Late
    410 ack 0 0 8 @408
      acknowledged b
    ");
}

#[test]
fn timestamps_wrap() {
    insta::assert_snapshot!(check("
        0 load 3
        4294967290 send 3 a
        4294967331 tick
        4294967332 nack 0 0 7 @4294967290 full
        4294967333 nack 0 0 7 @35 full
        4294967372 tick
        4294967373 ack 0 0 7 @76
    "), @"
    0 load 3
    4294967290 send 3 a
      data 1.0 0 7 @4294967290 sync a
    4294967331 tick
      noted Retransmitted
      data 1.0 0 7 @35 sync a
    4294967332 nack 0 0 7 @4294967290 full
      noted Refused(QueueFull)
    4294967333 nack 0 0 7 @35 full
      noted Refused(QueueFull)
    4294967372 tick
      noted Retransmitted
      data 1.0 0 7 @76 sync a
    4294967373 ack 0 0 7 @76
      acknowledged a
    ");
}

#[test]
fn a_clock_that_goes_back_does_nothing() {
    insta::assert_snapshot!(check("
        0 load 3
        100 send 3 a
        20 tick
        111 tick
        50 tick
        120 tick
    "), @"
    0 load 3
    100 send 3 a
      data 1.0 0 7 @100 sync a
    20 tick
    111 tick
    50 tick
    120 tick
    ");
}

#[test]
fn the_counter_of_incarnations_wraps() {
    insta::assert_snapshot!(check_with(PARAMETERS, ChannelIncarnation(65535), "
        0 load 3
        1 send 3 a
        2 send 3 b
        3 ack 1 0 0 @2
    "), @"
    0 load 3
    1 send 3 a
      data 1.0 0 65535 @1 sync a
    2 send 3 b
      data 1.1 0 0 @2 sync b
    3 ack 1 0 0 @2
      acknowledged b
    ");
}
