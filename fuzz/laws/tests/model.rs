//! The reliability protocol, walked through: it holds in every state within bounds, and what is no law
//! has a history that speaks against it. Large walks: `cargo run --release -p laws --example model`.

use laws::model::plan::{
    DepartureMode, ExtraClaim, FaultBounds, ModelPlan, ModelSide, PlannedMessage, SeededFlaw,
};
use laws::model::trace_text::trace_text;
use laws::model::walk::{WalkExtent, WalkResult, walk};

/// States of a walk at most: as many as these take, and some.
const STATES_MAX: usize = 1_000_000;

/// All states, and no law is broken in any.
fn holds(plan: &ModelPlan) -> WalkResult {
    let walked = walk(plan, STATES_MAX);
    let counterexample = walked.counterexample.as_ref().map(|found| trace_text(plan, found));
    assert_eq!(counterexample, None);
    assert_eq!(walked.extent, WalkExtent::Whole);
    walked
}

/// The shortest history that speaks against a law: its steps, and what happens.
fn against(plan: &ModelPlan) -> (usize, String) {
    let walked = walk(plan, STATES_MAX);
    let counterexample = walked.counterexample.as_ref();
    counterexample
        .map_or_else(Default::default, |found| (found.actions.len(), trace_text(plan, found)))
}

fn bounded(bounds: FaultBounds) -> ModelPlan {
    ModelPlan { bounds, ..ModelPlan::small() }
}

#[test]
fn it_holds_with_packets_lost() {
    let walked = holds(&bounded(FaultBounds { losses: 2, ..FaultBounds::default() }));
    assert!(walked.states > 20_000, "{walked:?}");
}

#[test]
fn it_holds_with_a_packet_lost_and_one_doubled() {
    holds(&bounded(FaultBounds { losses: 1, duplicates: 1, ..FaultBounds::default() }));
}

#[test]
fn it_holds_with_a_queue_full_and_an_endpoint_unloaded() {
    let bounds = FaultBounds { fulls: 1, unloads: 1, ..FaultBounds::default() };
    holds(&ModelPlan {
        messages: vec![PlannedMessage::good(ModelSide::Left); 2],
        ..bounded(bounds)
    });
}

#[test]
fn it_holds_with_a_nic_started_anew() {
    holds(&bounded(FaultBounds { restarts: 1, ..FaultBounds::default() }));
}

#[test]
fn it_holds_with_a_message_refused_for_good() {
    let messages = vec![
        PlannedMessage::bad(ModelSide::Left),
        PlannedMessage::good(ModelSide::Left),
        PlannedMessage::good(ModelSide::Left),
    ];
    let bounds = FaultBounds { losses: 2, duplicates: 1, ..FaultBounds::default() };
    holds(&ModelPlan { messages, ..bounded(bounds) });
}

#[test]
fn it_holds_for_an_endpoint_beside_one_that_is_unloaded() {
    let messages =
        vec![PlannedMessage::good(ModelSide::Left), PlannedMessage::neighbours(ModelSide::Left)];
    let bounds = FaultBounds { losses: 1, fulls: 1, unloads: 1, ..FaultBounds::default() };
    holds(&ModelPlan { messages, ..bounded(bounds) });
}

#[test]
fn it_holds_where_numbers_come_again() {
    let bounds = FaultBounds { losses: 3, duplicates: 1, ..FaultBounds::default() };
    holds(&ModelPlan {
        messages: vec![PlannedMessage::good(ModelSide::Left); 4],
        bounds,
        ..ModelPlan::single()
    });
}

#[test]
fn it_holds_over_a_single_channel_with_everything_at_once() {
    let bounds =
        FaultBounds { losses: 1, fulls: 1, unloads: 1, restarts: 1, ..FaultBounds::default() };
    holds(&ModelPlan { bounds, ..ModelPlan::single() });
}

/// Queued packets leave at any time: after an ACK, a return, an unload of the endpoint. T-3, T-10, T-13
#[test]
fn it_holds_where_packets_wait_to_leave() {
    let one = ModelPlan { departure: DepartureMode::Delayed, ..ModelPlan::single() };
    let none = FaultBounds::default();
    for bounds in [
        FaultBounds { losses: 1, duplicates: 1, ..none },
        FaultBounds { fulls: 1, unloads: 1, ..none },
        FaultBounds { losses: 1, restarts: 1, ..none },
    ] {
        holds(&ModelPlan { bounds, ..one.clone() });
    }
    let messages =
        vec![PlannedMessage::bad(ModelSide::Left), PlannedMessage::good(ModelSide::Left)];
    let bounds = FaultBounds { losses: 1, ..none };
    holds(&ModelPlan { messages, bounds, departure: DepartureMode::Delayed, ..ModelPlan::small() });
}

#[test]
fn property_7_a_path_that_is_not_fifo_writes_a_message_twice() {
    let bounds = FaultBounds { overtakings: 1, ..FaultBounds::default() };
    let (steps, story) = against(&ModelPlan { bounds, ..ModelPlan::single() });
    assert_eq!(steps, 7);
    insta::assert_snapshot!(story, @"
    1  NIC 0 sends A(channel 0 #ffff.0 at 0 SYNC)
    2  A(channel 0 #ffff.0 at 0 SYNC) reaches NIC 1; it is WRITTEN; NIC 1 sends ACK(channel 0 #ffff.0 at 0)
    3  time passes: it is 1; NIC 0 sends A(channel 0 #ffff.0 at 1 SYNC)
    4  ACK(channel 0 #ffff.0 at 0) reaches NIC 0; at NIC 0 A is ACKNOWLEDGED
    5  NIC 0 sends B(channel 0 #ffff.1 at 1)
    6  B(channel 0 #ffff.1 at 1) reaches NIC 1 before the one ahead of it; it is WRITTEN; NIC 1 sends ACK(channel 0 #ffff.1 at 1)
    7  A(channel 0 #ffff.0 at 1 SYNC) reaches NIC 1; it is WRITTEN
       A is written twice (property 1)
    ");
}

#[test]
fn without_incarnations_a_message_is_acknowledged_for_the_one_before_it() {
    let (steps, story) =
        against(&ModelPlan { flaw: SeededFlaw::OneIncarnation, ..ModelPlan::single() });
    assert_eq!(steps, 7);
    insta::assert_snapshot!(story, @"
    1  NIC 0 sends A(channel 0 #ffff.0 at 0 SYNC)
    2  A(channel 0 #ffff.0 at 0 SYNC) reaches NIC 1; it is WRITTEN; NIC 1 sends ACK(channel 0 #ffff.0 at 0)
    3  time passes: it is 1; NIC 0 sends A(channel 0 #ffff.0 at 1 SYNC)
    4  time passes: it is 2; NIC 0 sends A(channel 0 #ffff.0 at 2 SYNC)
    5  time passes: it is 3; at NIC 0 A is RETURNED: unreachable
    6  NIC 0 sends B(channel 0 #0.0 at 3 SYNC)
    7  ACK(channel 0 #ffff.0 at 0) reaches NIC 0; at NIC 0 B is ACKNOWLEDGED
       B is acknowledged, and was never written (property 2)
    ");
}

#[test]
fn returned_is_not_undelivered() {
    let mut plan =
        ModelPlan { claim: Some(ExtraClaim::ReturnedIsUnwritten), ..ModelPlan::single() };
    plan.parameters.retries = 0;
    let (steps, story) = against(&plan);
    assert_eq!(steps, 3);
    insta::assert_snapshot!(story, @"
    1  NIC 0 sends A(channel 0 #ffff.0 at 0 SYNC)
    2  A(channel 0 #ffff.0 at 0 SYNC) reaches NIC 1; it is WRITTEN; NIC 1 sends ACK(channel 0 #ffff.0 at 0)
    3  time passes: it is 1; at NIC 0 A is RETURNED: unreachable
       A comes back, and was written: returned is not undelivered
    ");
}

#[test]
fn a_message_is_written_once_in_each_life_of_its_destination() {
    let bounds = FaultBounds { restarts: 1, ..FaultBounds::default() };
    let claim = Some(ExtraClaim::OneLife);
    let (steps, story) = against(&ModelPlan { bounds, claim, ..ModelPlan::single() });
    assert_eq!(steps, 6);
    insta::assert_snapshot!(story, @"
    1  NIC 0 sends A(channel 0 #ffff.0 at 0 SYNC)
    2  A(channel 0 #ffff.0 at 0 SYNC) reaches NIC 1; it is WRITTEN; NIC 1 sends ACK(channel 0 #ffff.0 at 0)
    3  NIC 1 is started anew
    4  the endpoint of NIC 1 is loaded
    5  time passes: it is 1; NIC 0 sends A(channel 0 #ffff.0 at 1 SYNC)
    6  A(channel 0 #ffff.0 at 1 SYNC) reaches NIC 1; it is WRITTEN
       A is written in two lives of its destination
    ");
}

#[test]
fn a_host_that_sends_again_what_a_restart_took_has_it_written_twice() {
    let bounds = FaultBounds { restarts: 1, ..FaultBounds::default() };
    let (steps, story) =
        against(&ModelPlan { bounds, flaw: SeededFlaw::LostSentAgain, ..ModelPlan::single() });
    assert_eq!(steps, 6);
    insta::assert_snapshot!(story, @"
    1  NIC 0 sends A(channel 0 #ffff.0 at 0 SYNC)
    2  NIC 0 is started anew
    3  the endpoint of NIC 0 is loaded
    4  NIC 0 sends A(channel 0 #0.0 at 0 SYNC)
    5  A(channel 0 #ffff.0 at 0 SYNC) reaches NIC 1; it is WRITTEN; NIC 1 sends ACK(channel 0 #ffff.0 at 0)
    6  A(channel 0 #0.0 at 0 SYNC) reaches NIC 1; it is WRITTEN
       A is written twice (property 1)
    ");
}

#[test]
fn a_network_that_doubles_packets_spoils_an_unload() {
    let bounds = FaultBounds { duplicates: 1, fulls: 1, unloads: 1, ..FaultBounds::default() };
    let (steps, story) = against(&ModelPlan { bounds, ..ModelPlan::single() });
    assert_eq!(steps, 10);
    insta::assert_snapshot!(story, @"
    1  NIC 0 sends A(channel 0 #ffff.0 at 0 SYNC)
    2  the endpoint of NIC 0 is to leave its frame
    3  the receive queue at NIC 1 is full
    4  A(channel 0 #ffff.0 at 0 SYNC) reaches NIC 1, and is doubled; NIC 1 sends NACK(channel 0 #ffff.0 at 0 queue full)
    5  NACK(channel 0 #ffff.0 at 0 queue full) reaches NIC 0; at NIC 0 A is carried along; the endpoint of NIC 0 has left
    6  the endpoint of NIC 0 is loaded
    7  NIC 0 sends A(channel 0 #0.0 at 0 SYNC)
    8  the receive queue at NIC 1 has room again
    9  A(channel 0 #ffff.0 at 0 SYNC) reaches NIC 1; it is WRITTEN; NIC 1 sends ACK(channel 0 #ffff.0 at 0)
    10 A(channel 0 #0.0 at 0 SYNC) reaches NIC 1; it is WRITTEN
       A is written twice (property 1)
    ");
}

#[test]
fn a_nack_of_an_earlier_transmission_must_not_count() {
    let bounds = FaultBounds { fulls: 1, unloads: 1, ..FaultBounds::default() };
    let (steps, story) =
        against(&ModelPlan { bounds, flaw: SeededFlaw::NacksForAll, ..ModelPlan::single() });
    assert_eq!(steps, 11);
    insta::assert_snapshot!(story, @"
    1  NIC 0 sends A(channel 0 #ffff.0 at 0 SYNC)
    2  the endpoint of NIC 0 is to leave its frame
    3  the receive queue at NIC 1 is full
    4  A(channel 0 #ffff.0 at 0 SYNC) reaches NIC 1; NIC 1 sends NACK(channel 0 #ffff.0 at 0 queue full)
    5  the receive queue at NIC 1 has room again
    6  time passes: it is 1; NIC 0 sends A(channel 0 #ffff.0 at 1 SYNC)
    7  NACK(channel 0 #ffff.0 at 0 queue full) reaches NIC 0; at NIC 0 A is carried along; the endpoint of NIC 0 has left
    8  the endpoint of NIC 0 is loaded
    9  NIC 0 sends A(channel 0 #0.0 at 1 SYNC)
    10 A(channel 0 #ffff.0 at 1 SYNC) reaches NIC 1; it is WRITTEN; NIC 1 sends ACK(channel 0 #ffff.0 at 1)
    11 A(channel 0 #0.0 at 1 SYNC) reaches NIC 1; it is WRITTEN
       A is written twice (property 1)
    ");
}

#[test]
fn an_ack_of_another_message_must_not_count() {
    let (steps, story) =
        against(&ModelPlan { flaw: SeededFlaw::AcksForAll, ..ModelPlan::single() });
    assert_eq!(steps, 7);
    insta::assert_snapshot!(story, @"
    1  NIC 0 sends A(channel 0 #ffff.0 at 0 SYNC)
    2  A(channel 0 #ffff.0 at 0 SYNC) reaches NIC 1; it is WRITTEN; NIC 1 sends ACK(channel 0 #ffff.0 at 0)
    3  time passes: it is 1; NIC 0 sends A(channel 0 #ffff.0 at 1 SYNC)
    4  ACK(channel 0 #ffff.0 at 0) reaches NIC 0; at NIC 0 A is ACKNOWLEDGED
    5  NIC 0 sends B(channel 0 #ffff.1 at 1)
    6  A(channel 0 #ffff.0 at 1 SYNC) reaches NIC 1; it is a duplicate; NIC 1 sends ACK(channel 0 #ffff.0 at 1)
    7  ACK(channel 0 #ffff.0 at 1) reaches NIC 0; at NIC 0 B is ACKNOWLEDGED
       B is acknowledged, and was never written (property 2)
    ");
}

#[test]
fn a_duplicate_must_be_answered() {
    let flaw = SeededFlaw::DuplicatesUnanswered;
    let (steps, story) = against(&ModelPlan { flaw, ..ModelPlan::single() });
    assert_eq!(steps, 4);
    insta::assert_snapshot!(story, @"
    1  NIC 0 sends A(channel 0 #ffff.0 at 0 SYNC)
    2  A(channel 0 #ffff.0 at 0 SYNC) reaches NIC 1; it is WRITTEN; NIC 1 sends ACK(channel 0 #ffff.0 at 0)
    3  time passes: it is 1; NIC 0 sends A(channel 0 #ffff.0 at 1 SYNC)
    4  A(channel 0 #ffff.0 at 1 SYNC) reaches NIC 1
       A is heard, and not answered (property 3)
    ");
}

/// Nothing would give up the message, and nobody would notice but who follows every state to its end.
#[test]
fn duplicates_that_are_not_answered_go_on_for_ever() {
    let bounds = FaultBounds { losses: 1, ..FaultBounds::default() };
    let flaw = SeededFlaw::DuplicatesUnanswered;
    let mut plan = ModelPlan { bounds, flaw, claim: None, ..ModelPlan::single() };
    plan.parameters.retries = 1 << 20;
    let walked = walk(&plan, 2_000);
    let found = walked.counterexample.as_ref().map(|found| trace_text(&plan, found));
    let lines: Vec<_> = found.iter().flat_map(|story| story.lines()).take(12).collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    1  NIC 0 sends A(channel 0 #ffff.0 at 0 SYNC)
    2  A(channel 0 #ffff.0 at 0 SYNC) reaches NIC 1; it is WRITTEN; NIC 1 sends ACK(channel 0 #ffff.0 at 0)
    3  ACK(channel 0 #ffff.0 at 0) to NIC 0 is lost
       from here on nothing goes wrong any more
    4  time passes: it is 1; NIC 0 sends A(channel 0 #ffff.0 at 1 SYNC)
    5  A(channel 0 #ffff.0 at 1 SYNC) reaches NIC 1; it is a duplicate
    6  time passes: it is 2; NIC 0 sends A(channel 0 #ffff.0 at 2 SYNC)
    7  A(channel 0 #ffff.0 at 2 SYNC) reaches NIC 1; it is a duplicate
    8  time passes: it is 3; NIC 0 sends A(channel 0 #ffff.0 at 3 SYNC)
    9  A(channel 0 #ffff.0 at 3 SYNC) reaches NIC 1; it is a duplicate
    10 time passes: it is 4; NIC 0 sends A(channel 0 #ffff.0 at 4 SYNC)
    11 A(channel 0 #ffff.0 at 4 SYNC) reaches NIC 1; it is a duplicate
    ");
}

#[test]
fn duplicates_that_are_refused_go_in_circles() {
    let bounds = FaultBounds { losses: 1, ..FaultBounds::default() };
    let (_, story) =
        against(&ModelPlan { bounds, flaw: SeededFlaw::DuplicatesRefused, ..ModelPlan::single() });
    insta::assert_snapshot!(story, @"
    1  NIC 0 sends A(channel 0 #ffff.0 at 0 SYNC)
    2  A(channel 0 #ffff.0 at 0 SYNC) reaches NIC 1; it is WRITTEN; NIC 1 sends ACK(channel 0 #ffff.0 at 0)
    3  ACK(channel 0 #ffff.0 at 0) to NIC 0 is lost
       from here on nothing goes wrong any more
    4  time passes: it is 1; NIC 0 sends A(channel 0 #ffff.0 at 1 SYNC)
    5  A(channel 0 #ffff.0 at 1 SYNC) reaches NIC 1; it is a duplicate; NIC 1 sends NACK(channel 0 #ffff.0 at 1 queue full)
    6  NACK(channel 0 #ffff.0 at 1 queue full) reaches NIC 0
    7  time passes: it is 2; NIC 0 sends A(channel 0 #ffff.0 at 2 SYNC)
       and so on. nothing goes wrong any more, and it never ends (property 3)
    ");
}
