//! Random schedules keep the laws of the reliability protocol, and a world that breaks its
//! assumptions is caught.

use std::collections::BTreeSet;

use laws::transport::input::TransportInput;
use laws::transport::planned;

#[test]
fn a_storm_over_the_machine_keeps_the_laws() {
    for bytes in crate::storm("the machine", 4000, [7, 320]) {
        crate::hold(&bytes, TransportInput::from_bytes, planned);
    }
}

/// A storm that missed something would prove little.
#[test]
fn everything_that_a_machine_can_do_it_does_in_a_storm() {
    let inputs = crate::storm("all that it can do", 1000, [7, 320]);
    let plans = inputs.flat_map(|it| TransportInput::from_bytes(&it));
    let all: BTreeSet<_> = plans.flat_map(|it| planned(&it)).collect();
    let all: Vec<_> = all.into_iter().collect();
    let expected = "ack, acknowledged, bad key, data, duplicate, late, nack, no channel state, no resource, \
         no such endpoint, not resident, queue full, refused for good, retransmitted, stale, sync, \
         unloaded, unloaded with messages, unreachable";
    assert_eq!(all.join(", "), expected);
}
