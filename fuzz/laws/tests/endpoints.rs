//! Random hosts with endpoints keep the laws of messages.

use std::collections::BTreeSet;
use std::panic::catch_unwind;

use laws::endpoints::input::MessagingInput;
use laws::endpoints::{held, planned};
use laws::repair::SeededRng;
use simulator::messaging::{MessageKind, MessageStream};
use simulator::traffic::ArrivalProcess;

fn inputs(name: &str, count: u64) -> impl Iterator<Item = Vec<u8>> {
    crate::storm(name, count, [30, 100])
}

fn plans(name: &str, count: u64) -> impl Iterator<Item = MessagingInput> {
    inputs(name, count).filter_map(|bytes| MessagingInput::from_bytes(&bytes))
}

#[test]
fn a_storm_over_hosts_keeps_the_laws() {
    for bytes in inputs("hosts", 100) {
        crate::hold(&bytes, MessagingInput::from_bytes, planned);
    }
}

/// T-14: hosts that always have something to send, and turns of few attempts.
#[test]
fn endpoints_of_busy_hosts_wait_for_the_attempts_of_the_others_at_most() {
    for mut setup in plans("busy hosts", 30).map(|plan| plan.setup()) {
        setup.faults.clear();
        for host in &mut setup.hosts {
            host.transport.channels = 32;
            host.parameters.burst_log2 %= 3;
            host.parameters.credits = 30;
            for stream in &mut host.streams {
                *stream = MessageStream {
                    kind: MessageKind::Short,
                    arrivals: ArrivalProcess::Saturating,
                    count: Some(90),
                    ..stream.clone()
                };
            }
        }
        held(&setup);
    }
}

/// A storm that missed something would prove little.
#[test]
fn everything_that_hosts_can_tell_of_happens_in_a_storm() {
    let all: BTreeSet<_> =
        plans("all that they tell of 8", 100).flat_map(|it| planned(&it)).collect();
    let all: Vec<_> = all.into_iter().collect();
    let expected = "accepted, acknowledged, credits, given up, leaving, loaded, lost, malformed, mapped, noticed, \
         refused, returned after a restart, returned as refused, returned as unreachable, unloaded, written";
    assert_eq!(all.join(", "), expected);
}

/// Whole networks, with all that can break in them.
#[test]
fn a_storm_of_networks_accounts_for_every_message() {
    let mut dice = SeededRng::new(b"networks that talk");
    let mut messages = 0;
    for number in 0..3 {
        let plan = laws::delivery::ConversationInput::from_bytes(&dice.bytes(500)).unwrap();
        let held = catch_unwind(|| laws::delivery::planned(&plan));
        assert!(held.is_ok(), "{number}: {}", crate::file(plan.draft()));
        messages += held.ok().flatten().map_or(0, |summary| summary.messages);
    }
    assert!(messages > 20, "{messages}");
}
