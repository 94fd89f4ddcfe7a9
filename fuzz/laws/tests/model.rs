//! The reliability protocol, walked through: it holds in every state within bounds, and what is no law
//! has a history that speaks against it. Large walks: `cargo run --release -p laws --example model`.

use laws::explorer::ExploredStates;
use laws::model::plan::{DepartureMode, FaultBounds, LEFT, ModelPlan, PlannedMessage, RIGHT};
use laws::model::state::ModelAction;
use laws::model::trace_text::trace_text;
use laws::model::walk::walk;
use laws::repair::draws;
use laws::transport::{ExtraClaim, SeededFlaw};

/// States of a walk at most: as many as these take, and some.
const STATES_MAX: usize = 1_000_000;

/// All states, and no law is broken in any.
fn holds(name: &str, plan: &ModelPlan) -> ExploredStates<ModelAction> {
    let walked = walk(plan, STATES_MAX);
    let counterexample = walked.counterexample.as_ref().map(|found| trace_text(plan, found));
    assert_eq!(counterexample, None, "{name}");
    assert!(walked.is_whole, "{name}");
    walked
}

/// The shortest counterexample with one logical channel, as text.
fn against(flaw: SeededFlaw, bounds: FaultBounds) -> String {
    story(&ModelPlan { bounds, flaw, ..ModelPlan::single() })
}

fn story(plan: &ModelPlan) -> String {
    walk(plan, STATES_MAX).counterexample.map_or_else(String::new, |it| trace_text(plan, &it))
}

const NONE: FaultBounds =
    FaultBounds { losses: 0, duplicates: 0, overtakings: 0, fulls: 0, unloads: 0, restarts: 0 };

#[test]
fn it_holds_within_all_these_bounds() {
    let (good, bad) = (PlannedMessage::good, PlannedMessage::bad);
    let (small, single) = (ModelPlan::small(), ModelPlan::single());
    let neighbour = vec![good(LEFT), PlannedMessage::neighbours(LEFT)];
    let refused = vec![bad(LEFT), good(LEFT), good(LEFT)];
    // Faults of walks of several times as many states as the others.
    let large = u8::from(draws(1) > 1);
    let both = [good(LEFT), good(RIGHT)].into_iter().chain((large > 0).then(|| good(LEFT)));
    let both = both.collect();
    let all_at_once = FaultBounds { losses: 1, fulls: 1, unloads: 1, restarts: large, ..NONE };
    for (name, base, messages, bounds) in [
        (
            "a packet lost and one doubled",
            &small,
            &both,
            FaultBounds { losses: 1, duplicates: 1, ..NONE },
        ),
        (
            "a full queue and an unload",
            &small,
            &vec![good(LEFT); 2],
            FaultBounds { fulls: 1, unloads: 1, ..NONE },
        ),
        ("a restart of a NIC", &small, &both, FaultBounds { restarts: 1, ..NONE }),
        (
            "a message refused for good",
            &small,
            &refused,
            FaultBounds { losses: 2, duplicates: 1, ..NONE },
        ),
        (
            "an endpoint beside one that is unloaded",
            &small,
            &neighbour,
            FaultBounds { losses: large, fulls: 1, unloads: 1, ..NONE },
        ),
        (
            "sequence numbers that return",
            &single,
            &vec![good(LEFT); 4],
            FaultBounds { losses: 3, duplicates: 1, ..NONE },
        ),
        ("one channel with all of it at once", &single, &single.messages, all_at_once),
    ] {
        holds(name, &ModelPlan { messages: messages.clone(), bounds, ..base.clone() });
    }
    let bounds = FaultBounds { losses: 2, ..NONE };
    let walked = holds("packets lost", &ModelPlan { bounds, ..small });
    assert!(walked.states > 20_000, "{walked:?}");
}

/// Queued packets leave at any time: after an ACK, a return, an unload of the endpoint. T-3, T-10, T-13
#[test]
fn it_holds_where_packets_wait_to_leave() {
    let large = u8::from(draws(1) > 1);
    let one = ModelPlan { departure: DepartureMode::Delayed, ..ModelPlan::single() };
    for bounds in [
        FaultBounds { losses: 1, duplicates: 1, ..NONE },
        FaultBounds { fulls: 1, unloads: large, ..NONE },
        FaultBounds { unloads: 1, ..NONE },
        FaultBounds { losses: large, restarts: 1, ..NONE },
    ] {
        holds("waiting packets", &ModelPlan { bounds, ..one.clone() });
    }
    let messages = vec![PlannedMessage::bad(LEFT), PlannedMessage::good(LEFT)];
    let bounds = FaultBounds { losses: 1, ..NONE };
    let plan =
        ModelPlan { messages, bounds, departure: DepartureMode::Delayed, ..ModelPlan::small() };
    holds("a waiting packet that is refused", &plan);
}

#[test]
fn property_7_a_path_that_is_not_fifo_writes_a_message_twice() {
    let bounds = FaultBounds { overtakings: 1, ..NONE };
    let text = against(SeededFlaw::None, bounds);
    insta::assert_snapshot!(text, @"
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
    let text = against(SeededFlaw::OneIncarnation, NONE);
    insta::assert_snapshot!(text, @"
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
    let text = story(&plan);
    insta::assert_snapshot!(text, @"
    1  NIC 0 sends A(channel 0 #ffff.0 at 0 SYNC)
    2  A(channel 0 #ffff.0 at 0 SYNC) reaches NIC 1; it is WRITTEN; NIC 1 sends ACK(channel 0 #ffff.0 at 0)
    3  time passes: it is 1; at NIC 0 A is RETURNED: unreachable
       A comes back, and was written: returned is not undelivered
    ");
}

#[test]
fn a_message_is_written_once_in_each_life_of_its_destination() {
    let bounds = FaultBounds { restarts: 1, ..NONE };
    let claim = Some(ExtraClaim::OneLife);
    let text = story(&ModelPlan { bounds, claim, ..ModelPlan::single() });
    insta::assert_snapshot!(text, @"
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
    let bounds = FaultBounds { restarts: 1, ..NONE };
    let text = against(SeededFlaw::LostSentAgain, bounds);
    insta::assert_snapshot!(text, @"
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
    let bounds = FaultBounds { duplicates: 1, fulls: 1, unloads: 1, ..NONE };
    let text = against(SeededFlaw::None, bounds);
    insta::assert_snapshot!(text, @"
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
    let bounds = FaultBounds { fulls: 1, unloads: 1, ..NONE };
    let text = against(SeededFlaw::NacksForAll, bounds);
    insta::assert_snapshot!(text, @"
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
    let text = against(SeededFlaw::AcksForAll, NONE);
    insta::assert_snapshot!(text, @"
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
    let text = against(SeededFlaw::DuplicatesUnanswered, NONE);
    insta::assert_snapshot!(text, @"
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
    let bounds = FaultBounds { losses: 1, ..NONE };
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
    let bounds = FaultBounds { losses: 1, ..NONE };
    let text = against(SeededFlaw::DuplicatesRefused, bounds);
    insta::assert_snapshot!(text, @"
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
