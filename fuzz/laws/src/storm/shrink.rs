//! A scenario that breaks a law, made smaller while it still breaks the same one: fewer hosts and switches,
//! less traffic, fewer faults, shorter. Always the same way, and bounded.

mod nodes;
mod parts;

use simulator::scenario::Scenario;

use super::{Broken, tried};

/// Most scenarios that are tried. *Chosen*: enough for what is left to fit on a screen, mostly.
pub const TRIES_MAX: u32 = 400;

/// What is left.
#[derive(Clone, Debug)]
pub struct Shrunk {
    /// The scenario.
    pub scenario: Scenario,
    /// The law, as it is broken there.
    pub broken: Broken,
    /// How many were tried.
    pub tries: u32,
}

/// Makes a scenario smaller that breaks a law: so many are tried at most. Each that is tried is one that a
/// file can say, so that what is left can be written.
#[must_use]
pub fn shrunk(scenario: &Scenario, broken: &Broken, tries: u32, tell: &dyn Fn(u32)) -> Shrunk {
    let left = Shrunk { scenario: scenario.clone(), broken: broken.clone(), tries: 0 };
    smaller(left, &|candidate| tried(candidate).err(), tries, tell)
}

/// The same, whatever the law.
fn smaller(
    mut left: Shrunk,
    law: &dyn Fn(&Scenario) -> Option<Broken>,
    tries: u32,
    tell: &dyn Fn(u32),
) -> Shrunk {
    loop {
        let before = left.tries;
        let mut any = false;
        for pass in parts::PASSES {
            any |= left.by(pass, law, tries, tell);
        }
        if !any || left.tries == before || left.tries >= tries {
            return left;
        }
    }
}

impl Shrunk {
    /// Takes what a pass offers, as long as it breaks the law; whether any did.
    fn by(
        &mut self,
        pass: &parts::Pass,
        law: &dyn Fn(&Scenario) -> Option<Broken>,
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
            if let Some(broken) = law(&candidate).filter(|it| it.is_same(&self.broken)) {
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
    use crate::storm::{caught, planned};
    use simulator::fault::Break;

    /// A law that is wrong on purpose: no cable may ever be cut.
    fn no_cable_is_cut(scenario: &Scenario) {
        let cut = |what: &Break| matches!(what, Break::Cut { .. });
        let cuts = scenario.faults.iter().filter(|fault| cut(&fault.what)).count();
        assert_eq!(cuts, 0, "no cable is cut: {}", scenario.topology.nodes().len());
    }

    fn law(scenario: &Scenario) -> Option<Broken> {
        caught(|| no_cable_is_cut(scenario)).err()
    }

    /// The first network of a seed that breaks it.
    fn found() -> Shrunk {
        let networks = (0..).filter_map(|number| planned(3, number, Some(8)));
        let mut broken = networks.filter_map(|it| law(&it).map(|broken| (it, broken)));
        let (scenario, broken) = broken.next().unwrap();
        Shrunk { scenario, broken, tries: 0 }
    }

    #[test]
    fn a_network_that_breaks_a_law_is_made_small_and_still_breaks_it() {
        let found = found();
        let left = smaller(found.clone(), &law, TRIES_MAX, &|_| ());
        assert!(left.broken.is_same(&found.broken), "{:?}", left.broken);
        let Scenario { topology, streams, raw, messaging, faults, taps, .. } = &left.scenario;
        // What is cut is a cable, and that has two ends.
        assert_eq!((topology.nodes().len(), topology.cables().len()), (2, 1));
        assert_eq!((streams.len(), raw.len(), messaging.len(), taps.len()), (0, 0, 0, 0));
        assert_eq!(faults.len(), 1, "{faults:?}");
        let text = left.scenario.write().unwrap();
        assert!(law(&Scenario::read("left.toml", &text).unwrap()).is_some(), "{text}");
    }

    #[test]
    fn what_is_left_is_the_same_each_time_and_tries_have_an_end() {
        let [one, other] = [(); 2].map(|()| smaller(found(), &law, 25, &|_| ()));
        assert_eq!(one.scenario, other.scenario);
        assert_eq!((one.tries, other.tries), (25, 25));
    }
}
