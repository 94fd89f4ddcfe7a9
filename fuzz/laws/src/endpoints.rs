//! Hosts with endpoints and virtual networks: whatever they send, and whatever an adversary loses, holds
//! up and restarts, every message ends as it must. T-1, T-5, T-6, T-9, T-13..T-15

pub(crate) mod ledger;
pub mod plan;
mod turns;
mod world;

use std::collections::BTreeSet;

use self::plan::{Plan, Setup};
use self::world::World;

/// The law: every message is written once in a life of its destination's NIC, and ends once; frames are
/// not exceeded, and credits come back; who can send waits for the attempts of the others at most; and
/// when nothing goes wrong any more, all comes to rest.
///
/// # Panics
/// If not.
pub fn law(bytes: &[u8]) {
    Plan::small(bytes).into_iter().for_each(|plan| {
        planned(&plan);
    });
}

/// The law, of a plan. What hosts told of.
///
/// # Panics
/// If it is broken.
pub fn planned(plan: &Plan) -> BTreeSet<&'static str> {
    held(&plan.setup())
}

/// The law, of hosts as they stand. What they told of.
///
/// # Panics
/// If it is broken.
pub fn held(setup: &Setup) -> BTreeSet<&'static str> {
    let mut world = World::new(setup);
    world.run();
    world.into_seen()
}

#[cfg(test)]
pub(crate) mod tests {
    use simulator::endpoint::Told;

    use super::*;
    use crate::repair::Dice;

    fn storm(heard: fn(Told) -> Option<Told>) {
        let mut dice = Dice::new(b"a storm over hosts that say what is not so");
        for _ in 0..200 {
            let plan = Plan::small(&dice.bytes(65)).unwrap();
            World::new(&plan.setup()).hearing(heard).run();
        }
    }

    #[test]
    fn a_storm_keeps_the_law() {
        storm(Some);
    }

    pub(crate) fn a_message_that_nobody_wrote_is_caught() {
        storm(|told| (!matches!(told, Told::Written(..))).then_some(told));
    }

    pub(crate) fn a_message_that_never_ends_is_caught() {
        storm(|told| (!matches!(told, Told::Acknowledged(_) | Told::Lost(..))).then_some(told));
    }

    pub(crate) fn a_credit_too_many_is_caught() {
        storm(|told| {
            if let Told::Credits(endpoint, credits) = told {
                Some(Told::Credits(endpoint, credits + 1))
            } else {
                Some(told)
            }
        });
    }
}
