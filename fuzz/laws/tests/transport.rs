//! Random schedules keep the laws of the reliability protocol, and a world that breaks its
//! assumptions is caught.

use std::collections::BTreeSet;
use std::panic::catch_unwind;

use laws::repair::SeededRng;
use laws::shrink::shortest;
use laws::transport::input::{TransportInput, TransportOp};
use laws::transport::planned;

fn plans(name: &str, count: u64) -> impl Iterator<Item = TransportInput> {
    let mut dice = SeededRng::new(name.as_bytes());
    (0..count).filter_map(move |_| {
        let len = usize::try_from(7 + 4 * dice.below(80)).unwrap_or_default();
        TransportInput::from_bytes(&dice.bytes(len))
    })
}

fn holds(plan: &TransportInput) -> bool {
    catch_unwind(|| planned(plan)).is_ok()
}

/// Fails with the fewest operations that do.
fn check(plan: &TransportInput, number: usize) {
    let with = |ops: &[TransportOp]| TransportInput { shape: plan.shape, ops: ops.to_vec() };
    let fewest = || shortest(&plan.ops, &mut |ops| !holds(&with(ops)));
    assert!(holds(plan), "{number}: {:?} {:#?}", plan.shape, fewest());
}

#[test]
fn a_storm_over_the_machine_keeps_the_laws() {
    for (number, plan) in plans("the machine", 4000).enumerate() {
        check(&plan, number);
    }
}

/// A storm that missed something would prove little.
#[test]
fn everything_that_a_machine_can_do_it_does_in_a_storm() {
    let all: BTreeSet<_> = plans("all that it can do", 1000).flat_map(|it| planned(&it)).collect();
    let all: Vec<_> = all.into_iter().collect();
    assert_eq!(
        all.join(", "),
        "ack, acknowledged, bad key, data, duplicate, late, nack, no channel state, no resource, \
         no such endpoint, not resident, queue full, refused for good, retransmitted, stale, sync, \
         unloaded, unloaded with messages, unreachable"
    );
}
