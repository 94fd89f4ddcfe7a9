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

/// Claims that do not hold, and machines with a flaw. T-8, T-10, T-12, T-13
#[test]
fn what_is_no_law_has_a_shortest_history_against_it() {
    let [overtaking, restart, loss] = [
        FaultBounds { overtakings: 1, ..NONE },
        FaultBounds { restarts: 1, ..NONE },
        FaultBounds { losses: 1, ..NONE },
    ];
    let unload = FaultBounds { fulls: 1, unloads: 1, ..NONE };
    let doubled = FaultBounds { duplicates: 1, ..unload };
    let flawed = |flaw, bounds| ModelPlan { bounds, flaw, ..ModelPlan::single() };
    let claimed = |claim, bounds| ModelPlan { bounds, claim: Some(claim), ..ModelPlan::single() };
    let mut impatient = claimed(ExtraClaim::ReturnedIsUnwritten, NONE);
    impatient.parameters.retries = 0;
    let plans = [
        ("property 7: a path that is not FIFO", flawed(SeededFlaw::None, overtaking)),
        ("without incarnations", flawed(SeededFlaw::OneIncarnation, NONE)),
        ("what is returned was not written", impatient),
        (
            "a message is written once, whatever its destination forgets",
            claimed(ExtraClaim::OneLife, restart),
        ),
        ("a host sends again what a restart took", flawed(SeededFlaw::LostSentAgain, restart)),
        ("a network that doubles packets spoils an unload", flawed(SeededFlaw::None, doubled)),
        ("a NACK of an earlier transmission counts", flawed(SeededFlaw::NacksForAll, unload)),
        ("an ACK of another message counts", flawed(SeededFlaw::AcksForAll, NONE)),
        ("a duplicate is not answered", flawed(SeededFlaw::DuplicatesUnanswered, NONE)),
        ("a duplicate is refused", flawed(SeededFlaw::DuplicatesRefused, loss)),
    ];
    let histories = plans.iter().map(|(name, plan)| {
        let found = walk(plan, STATES_MAX).counterexample;
        let history = found.map_or_else(String::new, |it| trace_text(plan, &it));
        format!("{name}:\n{history}")
    });
    let text = histories.collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(text);
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
