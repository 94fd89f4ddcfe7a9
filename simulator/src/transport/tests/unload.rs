//! Unloading. T-13

use super::check;

#[test]
fn an_endpoint_with_nothing_outstanding_leaves_at_once() {
    insta::assert_snapshot!(check("
        0 load 3
        1 unload 3
        2 unload 3
        3 load 3
        4 send 3 a
        5 ack 0 0 7 @4
        6 unload 3
        7 load 4
        8 send 4 b
        9 load 5
        10 unload 5
    "), @"
    0 load 3
    1 unload 3
      unloaded 3 with []
    2 unload 3
      unloaded 3 with []
    3 load 3
    4 send 3 a
      data 1.0 0 7 @4 sync a
    5 ack 0 0 7 @4
      acknowledged a
    6 unload 3
      unloaded 3 with []
    7 load 4
    8 send 4 b
      data 1.0 1 7 @8 b
    9 load 5
    10 unload 5
      unloaded 5 with []
    ");
}

#[test]
fn an_endpoint_leaves_when_each_packet_has_its_answer_and_takes_the_refused_along() {
    insta::assert_snapshot!(check("
        0 load 3
        1 load 4
        2 send 3 a
        3 send 3 b
        4 send 4 c to 0
        5 unload 3
        6 unload 3
        7 nack 0 0 7 @2 full
        8 nack 0 0 7 @2 full
        9 ack 1 0 8 @3
        10 ack 0 0 7 @2
        11 load 3
        12 send 3 a
        13 send 3 d
        14 ack 0 0 9 @4 from 0
    "), @"
    0 load 3
    1 load 4
    2 send 3 a
      data 1.0 0 7 @2 sync a
    3 send 3 b
      data 1.1 0 8 @3 sync b
    4 send 4 c to 0
      data 0.0 0 9 @4 sync c
    5 unload 3
    6 unload 3
    7 nack 0 0 7 @2 full
      noted Refused(QueueFull)
    8 nack 0 0 7 @2 full
      noted Late
    9 ack 1 0 8 @3
      acknowledged b
      unloaded 3 with ['a']
    10 ack 0 0 7 @2
      noted Late
    11 load 3
    12 send 3 a
      data 1.0 0 10 @12 sync a
    13 send 3 d
      data 1.1 1 8 @13 d
    14 ack 0 0 9 @4 from 0
      acknowledged c
    ");
}

#[test]
fn what_was_refused_before_the_unload_lets_the_endpoint_leave_at_once() {
    insta::assert_snapshot!(check("
        0 load 3
        1 send 3 a
        2 send 3 b
        3 nack 1 0 8 @2 full
        4 nack 0 0 7 @1 stateless
        5 unload 3
        5 due
        60 tick
    "), @"
    0 load 3
    1 send 3 a
      data 1.0 0 7 @1 sync a
    2 send 3 b
      data 1.1 0 8 @2 sync b
    3 nack 1 0 8 @2 full
      noted Refused(QueueFull)
    4 nack 0 0 7 @1 stateless
      noted Refused(NoChannelState)
    5 unload 3
      unloaded 3 with ['a', 'b']
    5 due -> never
    60 tick
    ");
}

#[test]
fn a_nack_of_an_earlier_transmission_does_not_let_the_endpoint_leave() {
    insta::assert_snapshot!(check("
        0 load 3
        1 send 3 a
        50 tick
        51 unload 3
        52 nack 0 0 7 @1 full
        53 nack 0 0 7 @50 full
    "), @"
    0 load 3
    1 send 3 a
      data 1.0 0 7 @1 sync a
    50 tick
      noted Retransmitted
      data 1.0 0 7 @50 sync a
    51 unload 3
    52 nack 0 0 7 @1 full
      noted Refused(QueueFull)
    53 nack 0 0 7 @50 full
      noted Refused(QueueFull)
      unloaded 3 with ['a']
    ");
}

#[test]
fn while_an_endpoint_leaves_only_what_has_no_answer_goes_again() {
    insta::assert_snapshot!(check("
        0 load 3
        1 send 3 a
        2 send 3 b
        3 nack 0 0 7 @1 full
        50 tick
        51 nack 0 0 7 @50 full
        52 unload 3
        100 tick
        101 nack 1 0 8 @100 stateless
    "), @"
    0 load 3
    1 send 3 a
      data 1.0 0 7 @1 sync a
    2 send 3 b
      data 1.1 0 8 @2 sync b
    3 nack 0 0 7 @1 full
      noted Refused(QueueFull)
    50 tick
      noted Retransmitted
      noted Retransmitted
      data 1.0 0 7 @50 sync a
      data 1.1 0 8 @50 sync b
    51 nack 0 0 7 @50 full
      noted Refused(QueueFull)
    52 unload 3
    100 tick
      noted Retransmitted
      data 1.1 0 8 @100 sync b
    101 nack 1 0 8 @100 stateless
      noted Refused(NoChannelState)
      unloaded 3 with ['a', 'b']
    ");
}

#[test]
fn an_endpoint_leaves_when_its_last_message_goes_back() {
    insta::assert_snapshot!(check("
        0 load 3
        1 send 3 a
        2 send 3 b
        3 nack 0 0 7 @1 full
        4 unload 3
        50 tick
        100 tick
        150 tick
        403 tick
        404 load 3
        405 send 3 c
        406 unload 3
        407 nack 0 0 9 @405 key
    "), @"
    0 load 3
    1 send 3 a
      data 1.0 0 7 @1 sync a
    2 send 3 b
      data 1.1 0 8 @2 sync b
    3 nack 0 0 7 @1 full
      noted Refused(QueueFull)
    4 unload 3
    50 tick
      noted Retransmitted
      data 1.1 0 8 @50 sync b
    100 tick
      noted Retransmitted
      data 1.1 0 8 @100 sync b
    150 tick
      noted Retransmitted
      data 1.1 0 8 @150 sync b
    403 tick
      returned b, unreachable
      unloaded 3 with ['a']
    404 load 3
    405 send 3 c
      data 1.0 0 9 @405 sync c
    406 unload 3
    407 nack 0 0 9 @405 key
      noted Refused(BadKey)
      returned c, key
      unloaded 3 with []
    ");
}

#[test]
fn an_endpoint_that_is_loaded_while_it_leaves_stays() {
    insta::assert_snapshot!(check("
        0 load 3
        1 send 3 a
        2 send 3 b
        3 load 3
        4 unload 3
        5 nack 0 0 7 @1 full
        6 load 3
        7 ack 1 0 8 @2
        8 send 3 c
        2000 tick
        2001 ack 0 0 7 @2000
        2002 unload 3
        2003 ack 1 1 8 @2000
    "), @"
    0 load 3
    1 send 3 a
      data 1.0 0 7 @1 sync a
    2 send 3 b
      data 1.1 0 8 @2 sync b
    3 load 3
    4 unload 3
    5 nack 0 0 7 @1 full
      noted Refused(QueueFull)
    6 load 3
    7 ack 1 0 8 @2
      acknowledged b
    8 send 3 c
      data 1.1 1 8 @8 c
    2000 tick
      noted Retransmitted
      noted Retransmitted
      data 1.0 0 7 @2000 sync a
      data 1.1 1 8 @2000 c
    2001 ack 0 0 7 @2000
      acknowledged a
    2002 unload 3
    2003 ack 1 1 8 @2000
      acknowledged c
      unloaded 3 with []
    ");
}
