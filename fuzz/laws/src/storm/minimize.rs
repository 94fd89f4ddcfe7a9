//! A scenario that breaks a law, made smaller while it still breaks the same one: fewer hosts and switches,
//! less traffic, fewer faults, shorter. Always the same way, and bounded.

mod nodes;
mod parts;

use simulator::scenario::Scenario;

use super::{StormLaws, tried};
use crate::failure::LawFailure;

/// Most scenarios that are tried. *Chosen*: enough for what is left to fit on a screen, mostly.
pub const TRIES_MAX: u32 = 400;

#[derive(Clone, Debug)]
pub struct MinimizedScenario {
    pub scenario: Scenario,
    pub broken: LawFailure,
    pub tries: u32,
}

/// Minimizes a scenario that breaks a law, with at most `tries` candidates. Each candidate is one that a
/// file can express, so that the result can be written.
pub fn shrunk(
    scenario: &Scenario,
    broken: &LawFailure,
    laws: StormLaws,
    tries: u32,
    tell: &dyn Fn(u32),
) -> MinimizedScenario {
    let mut left =
        MinimizedScenario { scenario: scenario.clone(), broken: broken.clone(), tries: 0 };
    loop {
        let before = left.tries;
        let mut any = false;
        for pass in parts::PASSES {
            any |= left.by(pass, laws, tries, tell);
        }
        if !any || left.tries == before || left.tries >= tries {
            return left;
        }
    }
}

impl MinimizedScenario {
    /// Takes what a pass offers, as long as it breaks the law; whether any did.
    fn by(
        &mut self,
        pass: &parts::MinimizePass,
        laws: StormLaws,
        tries: u32,
        tell: &dyn Fn(u32),
    ) -> bool {
        let (mut any, mut place) = (false, 0);
        // Of what a pass offers, the place is kept: what was refused before is refused again, mostly.
        while self.tries < tries
            && let Some(candidate) = pass(&self.scenario, place)
        {
            place += 1;
            let Some(candidate) = candidate.filter(|it| it.write().is_ok()) else { continue };
            self.tries += 1;
            tell(self.tries);
            if let Err(broken) = tried(&candidate, laws)
                && broken.is_same(&self.broken)
            {
                (self.scenario, self.broken) = (candidate, broken);
                any = true;
                place -= 1;
            }
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storm::planned;

    /// The first network of a seed that breaks the law that is wrong on purpose.
    fn found() -> (Scenario, LawFailure) {
        let networks = (0..).filter_map(|number| planned(3, number, Some(8)));
        let broken = |it: &Scenario| tried(it, StormLaws::Canary).err();
        let mut found = networks.filter_map(|it| broken(&it).map(|broken| (it, broken)));
        found.next().unwrap()
    }

    #[test]
    fn a_network_that_breaks_a_law_is_made_small_and_still_breaks_it() {
        let (scenario, broken) = found();
        let left = shrunk(&scenario, &broken, StormLaws::Canary, TRIES_MAX, &|_| ());
        assert!(left.broken.is_same(&broken), "{:?}", left.broken);
        let Scenario { topology, streams, raw, messaging, faults, taps, .. } = &left.scenario;
        // What is cut is a cable, and that has two ends.
        assert_eq!((topology.nodes().len(), topology.cables().len()), (2, 1));
        assert_eq!((streams.len(), raw.len(), messaging.len(), taps.len()), (0, 0, 0, 0));
        assert_eq!(faults.len(), 1, "{faults:?}");
        let text = left.scenario.write().unwrap();
        let again = Scenario::read("left.toml", &text).unwrap();
        assert!(tried(&again, StormLaws::Canary).is_err(), "{text}");
    }

    #[test]
    fn what_is_left_is_the_same_each_time_and_tries_have_an_end() {
        let (scenario, broken) = found();
        let shrunk = || shrunk(&scenario, &broken, StormLaws::Canary, 25, &|_| ());
        let [one, other] = [shrunk(), shrunk()];
        assert_eq!(one.scenario, other.scenario);
        assert_eq!((one.tries, other.tries), (25, 25));
    }
}
