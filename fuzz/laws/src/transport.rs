//! The machine of the reliability protocol: whatever is sent between a few NICs, lost, held up and
//! duplicated, for any restarts, properties 1 to 6 of the protocol hold. T-1..T-13
//!
//! Paths are FIFO, as routes of Myrinet are; data is never doubled by the network, answers may be.

pub(crate) mod checker;
pub mod input;
pub(crate) mod world;

use std::collections::BTreeSet;

pub use self::checker::{ExtraClaim, MessageNumber};
use self::input::TransportInput;
pub use self::world::SeededFlaw;
use self::world::{TransportWorld, WorldSetup};

/// The law: every message is written once and ends once, and no step does anything but what the rules
/// say; and as soon as nothing goes wrong any more, all comes to rest in bounded time.
pub fn law(bytes: &[u8]) {
    TransportInput::from_bytes(bytes).into_iter().for_each(|plan| {
        planned(&plan);
    });
}

/// The law, of a plan. What machines did.
pub fn planned(plan: &TransportInput) -> BTreeSet<&'static str> {
    run(plan, SeededFlaw::None)
}

fn run(plan: &TransportInput, flaw: SeededFlaw) -> BTreeSet<&'static str> {
    let shape = &plan.shape;
    let setup = WorldSetup { parameters: shape.parameters(), flaw, claim: None };
    let mut world = TransportWorld::new(setup, |nic| (shape.incarnation(nic), shape.clock(nic)));
    plan.ops.iter().for_each(|op| world.checked(|world| world.apply(*op)));
    world.settle();
    world.into_seen()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::repair::SeededRng;

    fn storm(flaw: SeededFlaw) {
        let mut dice = SeededRng::new(b"a storm in a world where something is wrong");
        for _ in 0..2000 {
            run(&TransportInput::from_bytes(&dice.bytes(200)).unwrap(), flaw);
        }
    }

    /// Property 7: what is true of FIFO paths only.
    pub(crate) fn packets_that_overtake_are_caught() {
        storm(SeededFlaw::Overtaking);
    }

    pub(crate) fn an_acknowledgment_of_what_was_not_written_is_caught() {
        storm(SeededFlaw::NackAsAck);
    }

    pub(crate) fn a_wrong_sequence_number_is_caught() {
        storm(SeededFlaw::Flip);
    }
}
