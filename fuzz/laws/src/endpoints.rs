//! Hosts with endpoints and virtual networks: whatever they send, and whatever an adversary loses, holds
//! up and restarts, every message ends as it must. T-1, T-5, T-6, T-9, T-13..T-15

pub(crate) mod checker;
mod fairness;
pub mod input;
mod world;

use std::collections::BTreeSet;

use self::input::{MessagingInput, MessagingSetup};
use self::world::MessagingWorld;

/// The law: every message is written once in a life of its destination's NIC, and ends once; frames are
/// not exceeded, and credits come back; who can send waits for the attempts of the others at most; and
/// when nothing goes wrong any more, all comes to rest.
pub fn law(bytes: &[u8]) {
    MessagingInput::small(bytes).into_iter().for_each(|plan| {
        planned(&plan);
    });
}

/// Checks the law for a plan; returns the events of hosts.
pub fn planned(plan: &MessagingInput) -> BTreeSet<&'static str> {
    held(&plan.setup())
}

/// Checks the law for a setup; returns the events of hosts.
pub fn held(setup: &MessagingSetup) -> BTreeSet<&'static str> {
    let mut world = MessagingWorld::new(setup);
    world.run();
    world.into_seen()
}

#[cfg(test)]
pub(crate) mod tests {
    use simulator::messaging::MessagingEvent;

    use super::*;
    use crate::repair::SeededRng;

    fn storm(heard: fn(MessagingEvent) -> Option<MessagingEvent>) {
        let mut dice = SeededRng::new(b"a storm over hosts that say what is not so");
        for _ in 0..200 {
            let plan = MessagingInput::small(&dice.bytes(65)).unwrap();
            MessagingWorld::new(&plan.setup()).filtering(heard).run();
        }
    }

    #[test]
    fn a_storm_keeps_the_law() {
        storm(Some);
    }

    pub(crate) fn a_message_that_nobody_wrote_is_caught() {
        storm(|told| (!matches!(told, MessagingEvent::Written(..))).then_some(told));
    }

    pub(crate) fn a_message_that_never_ends_is_caught() {
        storm(|told| {
            (!matches!(told, MessagingEvent::Acknowledged(_) | MessagingEvent::Lost(..)))
                .then_some(told)
        });
    }

    pub(crate) fn a_credit_too_many_is_caught() {
        storm(|told| {
            if let MessagingEvent::Credits(endpoint, credits) = told {
                Some(MessagingEvent::Credits(endpoint, credits + 1))
            } else {
                Some(told)
            }
        });
    }
}
