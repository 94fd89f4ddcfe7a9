//! What is taken. T-4..T-7, T-12

use super::check;

/// T-1, T-5
#[test]
fn a_message_is_written_once() {
    insta::assert_snapshot!(check("
        1 data 0 0 7 @5 sync a
        2 data 0 0 7 @6 sync a
        3 data 0 1 7 @7 b
        4 data 0 1 7 @8 b
    "), @"
    1 data 0 0 7 @5 sync a -> written
      ack 1.0 0 7 @5
    2 data 0 0 7 @6 sync a -> not offered
      noted Duplicate
      ack 1.0 0 7 @6
    3 data 0 1 7 @7 b -> written
      ack 1.0 1 7 @7
    4 data 0 1 7 @8 b -> not offered
      noted Duplicate
      ack 1.0 1 7 @8
    ");
}

/// T-6
#[test]
fn what_is_refused_is_not_written_and_keeps_its_number() {
    insta::assert_snapshot!(check("
        1 data 0 0 7 @5 sync a
        2 data 0 1 7 @6 b but full
        3 data 0 1 7 @7 b but absent
        4 data 0 1 7 @8 b but busy
        5 data 0 1 7 @9 b
        6 data 0 0 7 @10 c but key
        7 data 0 0 7 @11 d but nowhere
        8 data 0 0 7 @12 e
    "), @"
    1 data 0 0 7 @5 sync a -> written
      ack 1.0 0 7 @5
    2 data 0 1 7 @6 b but full -> refused
      nack 1.0 1 7 @6 full
    3 data 0 1 7 @7 b but absent -> refused
      nack 1.0 1 7 @7 absent
    4 data 0 1 7 @8 b but busy -> refused
      nack 1.0 1 7 @8 busy
    5 data 0 1 7 @9 b -> written
      ack 1.0 1 7 @9
    6 data 0 0 7 @10 c but key -> refused
      nack 1.0 0 7 @10 key
    7 data 0 0 7 @11 d but nowhere -> refused
      nack 1.0 0 7 @11 nowhere
    8 data 0 0 7 @12 e -> written
      ack 1.0 0 7 @12
    ");
}

#[test]
fn what_the_tables_have_no_place_for_is_dropped_and_counted() {
    insta::assert_snapshot!(check("
        0 load 3
        1 data 0 0 7 @5 sync a from 2
        2 data 2 0 7 @5 sync a from 0
        2 data 2 0 7 @5 sync a
        3 data 0 0 7 @5 sync a for 1
        4 send 3 b
        5 ack 0 0 7 @4 from 2
        6 ack 2 0 7 @4
        7 ack 0 0 7 @4 for 1
        8 nack 0 0 7 @4 key from 65535
        9 nack 255 0 7 @4 key
    "), @"
    0 load 3
    1 data 0 0 7 @5 sync a from 2 -> not offered
      noted Unknown
    2 data 2 0 7 @5 sync a from 0 -> not offered
      noted Unknown
    2 data 2 0 7 @5 sync a -> not offered
      noted Unknown
    3 data 0 0 7 @5 sync a for 1 -> not offered
      noted Unknown
    4 send 3 b
      data 1.0 0 7 @4 sync b
    5 ack 0 0 7 @4 from 2
      noted Unknown
    6 ack 2 0 7 @4
      noted Unknown
    7 ack 0 0 7 @4 for 1
      noted Unknown
    8 nack 0 0 7 @4 key from 65535
      noted Unknown
    9 nack 255 0 7 @4 key
      noted Unknown
    ");
}

#[test]
fn without_state_only_sync_is_taken() {
    insta::assert_snapshot!(check("
        1 data 0 1 7 @5 b
        2 data 0 0 7 @6 b
        3 data 0 0 8 @7 sync b
        4 data 1 0 8 @7 c
    "), @"
    1 data 0 1 7 @5 b -> not offered
      nack 1.0 1 7 @5 stateless
    2 data 0 0 7 @6 b -> not offered
      nack 1.0 0 7 @6 stateless
    3 data 0 0 8 @7 sync b -> written
      ack 1.0 0 8 @7
    4 data 1 0 8 @7 c -> not offered
      nack 1.1 0 8 @7 stateless
    ");
}

#[test]
fn sync_brings_the_number_that_it_carries() {
    insta::assert_snapshot!(check("
        1 data 0 1 7 @5 sync a
        2 data 0 1 7 @6 sync a
        3 data 0 0 7 @7 b
    "), @"
    1 data 0 1 7 @5 sync a -> written
      ack 1.0 1 7 @5
    2 data 0 1 7 @6 sync a -> not offered
      noted Duplicate
      ack 1.0 1 7 @6
    3 data 0 0 7 @7 b -> written
      ack 1.0 0 7 @7
    ");
}

#[test]
fn an_older_incarnation_is_stale_and_a_newer_one_needs_sync() {
    insta::assert_snapshot!(check("
        1 data 0 0 7 @5 sync a
        2 data 0 0 6 @6 sync o
        3 data 0 1 6 @7 o
        4 data 0 1 8 @8 n
        5 data 0 0 8 @9 n
        6 data 0 0 8 @10 sync n
        7 data 0 1 7 @11 o
        8 data 0 1 8 @12 p
    "), @"
    1 data 0 0 7 @5 sync a -> written
      ack 1.0 0 7 @5
    2 data 0 0 6 @6 sync o -> not offered
      noted Stale
    3 data 0 1 6 @7 o -> not offered
      noted Stale
    4 data 0 1 8 @8 n -> not offered
      nack 1.0 1 8 @8 stateless
    5 data 0 0 8 @9 n -> not offered
      nack 1.0 0 8 @9 stateless
    6 data 0 0 8 @10 sync n -> written
      ack 1.0 0 8 @10
    7 data 0 1 7 @11 o -> not offered
      noted Stale
    8 data 0 1 8 @12 p -> written
      ack 1.0 1 8 @12
    ");
}

#[test]
fn incarnations_are_compared_around_the_circle() {
    insta::assert_snapshot!(check("
        1 data 0 0 65535 @5 sync a
        2 data 0 0 0 @6 sync b
        3 data 0 0 65535 @7 sync c
        4 data 0 0 32768 @8 sync c
        5 data 0 0 32767 @9 sync c
    "), @"
    1 data 0 0 65535 @5 sync a -> written
      ack 1.0 0 65535 @5
    2 data 0 0 0 @6 sync b -> written
      ack 1.0 0 0 @6
    3 data 0 0 65535 @7 sync c -> not offered
      noted Stale
    4 data 0 0 32768 @8 sync c -> not offered
      noted Stale
    5 data 0 0 32767 @9 sync c -> written
      ack 1.0 0 32767 @9
    ");
}

/// Were it adopted, 3 would be a duplicate: acknowledged, and never written.
#[test]
fn a_refused_sync_is_not_adopted() {
    insta::assert_snapshot!(check("
        1 data 0 0 7 @5 sync a but absent
        2 data 0 1 7 @6 b
        3 data 0 0 8 @7 sync b but full
        4 data 0 1 8 @8 c
        5 data 0 0 8 @9 sync b
        6 data 0 0 9 @10 sync c but full
        7 data 0 1 9 @11 d
        8 data 0 1 8 @12 e
    "), @"
    1 data 0 0 7 @5 sync a but absent -> refused
      nack 1.0 0 7 @5 absent
    2 data 0 1 7 @6 b -> not offered
      nack 1.0 1 7 @6 stateless
    3 data 0 0 8 @7 sync b but full -> refused
      nack 1.0 0 8 @7 full
    4 data 0 1 8 @8 c -> not offered
      nack 1.0 1 8 @8 stateless
    5 data 0 0 8 @9 sync b -> written
      ack 1.0 0 8 @9
    6 data 0 0 9 @10 sync c but full -> refused
      nack 1.0 0 9 @10 full
    7 data 0 1 9 @11 d -> not offered
      nack 1.0 1 9 @11 stateless
    8 data 0 1 8 @12 e -> written
      ack 1.0 1 8 @12
    ");
}
