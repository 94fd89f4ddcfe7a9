//! Canaries: for every mode of a target at least one input or machine that breaks its law on purpose, which the law
//! must catch.

use std::collections::BTreeSet;

use simulator::scenario::Scenario;

use crate::analyze::tests as analyze;
use crate::capture::blocks::tests as blocks;
use crate::capture::counts::tests as counts;
use crate::capture::cuts::tests as cuts;
use crate::capture::index::tests as index;
use crate::capture::plans::tests as plans;
use crate::capture::rows::tests as rows;
use crate::capture::tests as capture;
use crate::chars::tests as chars;
use crate::crossbar::tests as crossbar;
use crate::delivery::tests as delivery;
use crate::endpoints::tests as endpoints;
use crate::engines::tests as engines;
use crate::failure::catch_failure;
use crate::filter::tests as filter;
use crate::ip::tests as ip;
use crate::judged_network::tests as network;
use crate::link::tests as link;
use crate::mapping::tests as mapping;
use crate::notation::tests as notation;
use crate::packet::tests as packet;
use crate::receiver::tests as receiver;
use crate::recordings::tests as recordings;
use crate::scenario::tests as scenario;
use crate::states::tests as states;
use crate::transport::tests as transport;
use crate::transport_framing::tests as transport_framing;
use crate::transport_packet::tests as transport_packet;
use crate::vita26::tests as vita26;
use crate::wires::tests as wires;
use crate::*;

/// Scenario of two hosts at a switch: its duration, and further sections.
pub(crate) fn two_hosts(duration: &str, more: &str) -> Scenario {
    const HOSTS: &str = "
        [[switch]]
        name = 's0'
        [[host]]
        name = 'h0'
        at = 's0:0'
        [[host]]
        name = 'h1'
        at = 's0:1'
    ";
    Scenario::read("canary", &[duration, HOSTS, more].concat()).unwrap()
}

/// Target or mode, words of the law that must catch it, and the function that breaks it.
type CanaryTest = (&'static str, &'static str, fn());

#[rustfmt::skip]
const CANARIES: &[CanaryTest] = &[
    ("analyze-any", "what is found happened", analyze::a_packet_that_was_not_there_is_caught),
    ("analyze-threads", "threads change nothing", analyze::an_order_that_depends_on_threads_is_caught),
    ("capture-blocks", "a chunk is its packet's payload", blocks::a_chunk_at_another_place_is_caught),
    ("capture-blocks", "a channel is an interface", blocks::a_channel_by_another_name_is_caught),
    ("capture-blocks", "a chunk is left out for a reason", blocks::a_block_that_is_left_out_is_caught),
    ("capture-cuts", "cutting changes nothing", cuts::rows_that_depend_on_the_cut_are_caught),
    ("capture-index", "reading goes on as in the whole", index::a_place_behind_a_chunk_is_caught),
    ("capture-plans", "reading undoes writing", plans::a_character_that_changes_on_its_way_is_caught),
    ("capture-plans", "a block's time is its first character's", plans::a_time_that_is_off_is_caught),
    ("capture-read", "chunks of one channel do not overlap", capture::a_chunk_that_is_told_twice_is_caught),
    ("capture-read", "channels are declared before their chunks", capture::a_channel_that_is_not_declared_is_caught),
    ("capture-read", "a channel is of one link", capture::a_link_of_three_is_caught),
    ("capture-rows", "rows are the reference's", rows::a_timeline_without_links_is_caught),
    ("capture-rows", "rows are the reference's", rows::a_timeline_that_takes_a_repeat_for_one_round_is_caught),
    ("capture-rows", "a channel's rows are in sequence", rows::rows_out_of_sequence_are_caught),
    ("capture-rows", "an error is the reader's", rows::an_error_that_is_swallowed_is_caught),
    ("capture-rows", "counts are the reference's", counts::a_tally_that_leaves_out_a_round_is_caught),
    ("chars-runs", "the format decides what is a chunk", chars::a_reader_of_no_rounds_is_caught),
    ("chars-runs", "a chunk begins where it says", chars::a_reader_that_begins_late_is_caught),
    ("chars-runs", "a run ends where the kind changes", chars::a_run_of_two_kinds_is_caught),
    ("chars-runs", "data and control alike", chars::a_bit_that_moves_is_caught),
    ("chars-runs", "runs are all of the characters", chars::a_run_that_loses_its_last_character_is_caught),
    ("chars-runs", "a frame ends with its mark", chars::frames_that_go_on_behind_a_weakened_gap_are_caught),
    ("chars-runs", "a part has the chunk's characters", chars::a_cut_that_turns_a_repeat_is_caught),
    ("chars-single", "a receiver notices what the reference does", receiver::a_receiver_that_loses_a_round_is_caught),
    ("crossbar", "what a switch sends", crossbar::a_switch_that_mends_a_packet_is_caught),
    ("crossbar", "what a switch sends", crossbar::a_switch_that_is_a_period_late_is_caught),
    ("endpoints", "credits. T-9", endpoints::a_credit_too_many_is_caught),
    ("endpoints", "every message ends. T-1", endpoints::a_message_that_never_ends_is_caught),
    ("endpoints", "T-5", endpoints::a_message_that_nobody_wrote_is_caught),
    ("engines", "engines agree on what happens", engines::an_event_a_period_late_is_caught),
    ("engines", "engines agree on the capture", engines::another_character_is_caught),
    ("filter-errors", "a fault has a caret", filter::a_fault_without_a_caret_is_caught),
    ("filter-rows", "keeps the same rows", filter::a_writer_that_turns_a_comparison_is_caught),
    ("filter-rows", "from its first value on and before its second", filter::a_range_that_takes_in_its_end_is_caught),
    ("filter-text", "what is written out reads as the same", filter::a_writer_that_leaves_out_parentheses_is_caught),
    ("filter-text", "what is written out is read", filter::a_writer_of_words_that_there_are_not_is_caught),
    ("link", "what is sent", link::one_wrong_character_is_caught),
    ("mapping-machines", "the map is the network", mapping::a_map_without_a_link_is_caught),
    ("mapping-packets", "emit writes what parse read", mapping::a_parser_that_skips_a_byte_is_caught),
    ("message-fields", "the table decides what parses", transport_packet::a_parser_that_does_not_look_behind_the_end_is_caught),
    ("message-fields", "left", transport_packet::a_parser_that_swaps_the_nics_is_caught),
    ("message-ip", "the sums are those of smoltcp", ip::a_reader_that_checks_nothing_is_caught),
    ("message-ip", "a packet of the type of IP is read", ip::a_reader_that_reads_nothing_is_caught),
    ("message-stream", "a receiver hears the same", transport_framing::a_wire_that_loses_a_byte_is_caught),
    ("network-any", "no back doors", network::a_route_that_a_packet_changed_is_caught),
    ("network-switch", "no back doors", network::a_program_that_a_packet_loaded_is_caught),
    ("message-vita26", "the table decides what parses", vita26::a_reader_of_short_headers_is_caught),
    ("message-vita26", "a field is at its place", vita26::a_reader_that_swaps_the_interfaces_is_caught),
    ("network-any", "a packet that has not ended is there", network::a_packet_that_never_ends_is_caught),
    ("network-any", "is received", network::a_frame_that_never_arrives_is_caught),
    ("network-any", "what is found happened", network::a_frame_that_nobody_knows_of_is_caught),
    ("network-any", "what is found happened", network::a_stop_that_nobody_heard_is_caught),
    ("network-any", "what is found happened", network::a_command_that_nobody_sent_is_caught),
    ("network-any", "hears something", network::a_silence_on_a_living_link_is_caught),
    ("network-any", "with enough slack nothing overflows", network::an_overflow_is_caught),
    ("network-any", "are too near", network::commands_without_hysteresis_are_caught),
    ("network-any", "a syndrome survives", network::a_switch_that_mends_packets_is_caught),
    ("network-any", "what is found happened", network::one_wrong_character_is_caught),
    ("network-any", "the same things happen", network::a_run_that_depends_on_the_layout_is_caught),
    ("network-any", "the same characters", network::a_capture_that_depends_on_who_listens_is_caught),
    ("network-any", "what is found happened", network::a_symbol_that_nobody_sent_is_caught),
    ("network-switch", "what is found happened", network::a_symbol_that_nobody_sent_is_caught),
    ("network-talk", "every message is accounted for", delivery::a_message_without_end_is_caught),
    ("network-talk", "what is found was said", delivery::an_answer_that_was_not_sent_is_caught),
    ("network-talk", "is written once. T-1", delivery::a_message_that_is_written_twice_is_caught),
    ("notation-long", "what is printed is read back", notation::a_printer_that_loses_a_round_is_caught),
    ("notation-short", "what is printed is read back", notation::a_printer_that_hides_corrections_is_caught),
    ("packet", "a bad packet stays bad by the same bits", packet::a_switch_that_heals_is_caught),
    ("packet", "the parts are the frame", packet::a_packet_without_its_last_byte_is_caught),
    ("packet", "emit writes what parse read", packet::a_packet_that_is_mended_when_sent_is_caught),
    ("receiver", "a receiver notices what the reference does", receiver::a_silence_that_opens_no_link_is_caught),
    ("receiver", "cutting changes", receiver::a_receiver_that_counts_chunks_is_caught),
    ("receiver", "seams are the ref", receiver::a_seam_that_is_missed_is_caught),
    ("recordings-fst", "changes are in order of time", recordings::a_time_that_goes_back_is_caught),
    ("recordings-session", "only selected signals", recordings::a_signal_that_was_not_selected_is_caught),
    ("recordings-sigrok", "changes are in order of time", recordings::a_time_that_goes_back_is_caught),
    ("recordings-table", "an error has a place", recordings::an_error_behind_the_end_is_caught),
    ("recordings-trip", "what is exported is imported", recordings::a_character_that_is_lost_is_caught),
    ("recordings-vcd", "changes are in order of time", recordings::a_time_that_goes_back_is_caught),
    ("scenario-errors", "every problem has a caret", scenario::a_problem_without_a_caret_is_caught),
    ("scenario-run", "nothing happens behind the end", scenario::a_row_behind_the_end_is_caught),
    ("scenario-text", "a problem has a place", scenario::a_problem_beyond_the_text_is_caught),
    ("scenario-text", "a tap is on a cable", scenario::a_tap_on_no_cable_is_caught),
    ("states", "cutting changes no bound", states::a_bound_that_is_lost_at_a_cut_is_caught),
    ("states", "cutting changes no row", states::a_row_that_is_lost_at_a_cut_is_caught),
    ("states", "cutting changes no state", states::a_state_that_depends_on_the_cut_is_caught),
    ("states", "no gap and no overlap", states::a_gap_is_caught),
    ("states", "up to the last character", states::a_missing_end_is_caught),
    ("states", "up to the last", states::a_state_that_is_left_out_is_caught),
    ("transport", "is written twice", transport::packets_that_overtake_are_caught),
    ("transport", "is acknowledged, and was never written", transport::an_acknowledgment_of_what_was_not_written_is_caught),
    ("transport", "is written twice", transport::a_wrong_sequence_number_is_caught),
    ("wires-any", "each place has one character", wires::a_character_that_is_placed_twice_is_caught),
    ("wires-window", "what is sent is read", wires::a_wire_that_is_open_is_caught),
    ("wires-window", "a glitch changes two", wires::a_glitch_that_spreads_is_caught),
];

#[test]
fn every_mode_of_a_target_has_a_canary() {
    let modes = TARGETS.iter().flat_map(|target| match target.modes {
        [] => vec![target.name],
        modes => modes.iter().map(|(mode, _)| *mode).collect(),
    });
    let kept = CANARIES.iter().map(|(mode, ..)| *mode);
    assert_eq!(kept.collect::<BTreeSet<&str>>(), modes.collect());
}

/// The laws about programs and routes among them: I-8
#[test]
fn every_canary_is_caught() {
    let text = |canary: &fn()| {
        catch_failure(canary)
            .map_or_else(|broken| broken.text, |()| "nothing was caught".to_owned())
    };
    let others: Vec<_> = CANARIES
        .iter()
        .map(|(mode, law, canary)| (mode, law, text(canary)))
        .filter(|(_, law, text)| !text.contains(**law))
        .collect();
    assert!(others.is_empty(), "{others:#?}");
}
