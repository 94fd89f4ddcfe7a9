//! The canaries: for every target, what breaks its law on purpose, which the law's own functions must catch.

use std::collections::BTreeSet;
use std::panic::catch_unwind;

use crate::*;

/// A target, words of the law that is to catch it, and what runs into that law.
type Canary = (&'static str, &'static str, fn());

/// Sorted by target.
const CANARIES: &[Canary] = &[
    ("analyze", "what is found happened", analyze::tests::a_packet_that_was_not_there_is_caught),
    (
        "capture",
        "a channel's rows are in sequence",
        capture::tests::rows_out_of_sequence_are_caught,
    ),
    ("capture", "an error is the reader's", capture::tests::an_error_that_is_swallowed_is_caught),
    (
        "capture",
        "counts are the reference's",
        capture::counts::tests::a_tally_that_leaves_out_a_round_is_caught,
    ),
    ("capture", "cutting changes nothing", capture::tests::rows_that_depend_on_the_cut_are_caught),
    (
        "capture",
        "rows are the reference's",
        capture::tests::a_timeline_that_takes_a_repeat_for_one_round_is_caught,
    ),
    ("capture", "rows are the reference's", capture::tests::a_timeline_without_links_is_caught),
    (
        "chars",
        "a chunk goes on from the one before it",
        chars::tests::a_receiver_that_starts_anew_is_caught,
    ),
    ("chars", "a chunk is its characters", chars::tests::a_receiver_that_loses_a_round_is_caught),
    ("chars", "cutting changes nothing", chars::tests::a_receiver_that_forgets_at_a_cut_is_caught),
    (
        "filter",
        "what is written out is read",
        filter::tests::a_writer_of_words_that_there_are_not_is_caught,
    ),
    (
        "filter",
        "what is written out reads as the same",
        filter::tests::a_writer_that_leaves_out_parentheses_is_caught,
    ),
    ("link", "what is sent", link::tests::one_wrong_character_is_caught),
    (
        "message",
        "the table decides what parses",
        message::tests::a_parser_that_does_not_look_behind_the_end_is_caught,
    ),
    ("network", "what is read happened", network::tests::a_symbol_that_nobody_sent_is_caught),
    (
        "notation",
        "what is printed is read back",
        notation::tests::a_printer_that_hides_corrections_is_caught,
    ),
    (
        "packet",
        "a bad packet stays bad by the same bits",
        packet::tests::a_switch_that_heals_is_caught,
    ),
    (
        "receiver",
        "a receiver notices what the reference does",
        receiver::tests::a_silence_that_opens_no_link_is_caught,
    ),
    ("receiver", "cutting changes", receiver::tests::a_receiver_that_counts_chunks_is_caught),
    ("receiver", "seams are the ref", receiver::tests::a_seam_that_is_missed_is_caught),
    ("states", "cutting changes no row", states::tests::a_row_that_is_lost_at_a_cut_is_caught),
    (
        "states",
        "cutting changes no state",
        states::tests::a_state_that_depends_on_the_cut_is_caught,
    ),
    ("states", "up to the last", states::tests::a_state_that_is_left_out_is_caught),
    ("switch", "what is read happened", network::tests::a_symbol_that_nobody_sent_is_caught),
    ("transport", "ffered", transport::tests::a_wrong_sequence_number_is_caught),
];

/// Targets that have no canary yet.
const WITHOUT: &[&str] = &["endpoints"];

#[test]
fn every_target_has_a_canary() {
    let targets: BTreeSet<&str> = TARGETS.iter().map(|(target, _)| *target).collect();
    let kept = CANARIES.iter().map(|(target, ..)| *target).chain(WITHOUT.iter().copied());
    assert_eq!(kept.collect::<BTreeSet<&str>>(), targets);
    assert!(CANARIES.iter().all(|(target, ..)| !WITHOUT.contains(target)));
}

#[test]
fn every_canary_is_caught() {
    for (target, law, canary) in CANARIES {
        let said = catch_unwind(canary).expect_err("nothing was caught");
        let said = said.downcast_ref::<String>().cloned().unwrap_or_else(|| {
            said.downcast_ref::<&str>().map(|said| (*said).to_owned()).unwrap_or_default()
        });
        assert!(said.contains(law), "{target}: {said}");
    }
}
