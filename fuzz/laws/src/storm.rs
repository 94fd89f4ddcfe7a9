//! A storm over whole networks: each is drawn from a seed and its number, lives for some seconds of its own
//! time, with bursts of traffic and of faults in it, and is held to all laws; then faults cease, and all
//! must come to rest.

pub mod generator;
mod laws;
mod mapped;
mod minimize;
mod quiescence;
mod run;
mod runner;

use std::collections::BTreeMap;

use simulator::fault::{FaultKind, FaultSpec};
use simulator::scenario::Scenario;

pub use self::generator::{draft, planned};
pub use self::minimize::{MinimizedScenario, shrunk};
pub use self::runner::{StormFailure, StormResult, StormRunner};
use crate::failure::{LawFailure, catch_failure};
use crate::network::facts;
use crate::single_thread::use_one_thread;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StormCounts {
    pub networks: u64,
    pub hosts: u64,
    pub switches: u64,
    pub cables: u64,
    /// Simulated time: periods of the full rate.
    pub periods: u64,
    /// Those in which something could happen; the others were left out.
    pub stepped: u64,
    /// Those that were captured whole at some ports, and compared.
    pub recorded: u64,
    /// Stretches from rest to rest in which something happened.
    pub episodes: u64,
    /// Stretches that were too large to be kept: only their messages and their end were looked at.
    pub too_large: u64,
    pub packets: u64,
    /// Messages that applications handed over.
    pub messages: u64,
    /// Faults by kind, as in a scenario file.
    pub faults: BTreeMap<&'static str, u64>,
    /// Kinds that a capture cannot always identify: in the truth, found, and found correctly.
    pub likely: BTreeMap<&'static str, [u64; 3]>,
    pub laws: BTreeMap<&'static str, u64>,
}

impl StormCounts {
    fn of(scenario: &Scenario) -> Self {
        let mut faults = BTreeMap::new();
        for fault in &scenario.faults {
            *faults.entry(fault.kind.name()).or_insert(0) += 1;
        }
        faults.extend((!scenario.raw.is_empty()).then_some(("raw", scenario.raw.len() as u64)));
        Self {
            networks: 1,
            hosts: scenario.topology.hosts().count() as u64,
            switches: facts::switches(&scenario.topology) as u64,
            cables: scenario.topology.cables().len() as u64,
            periods: scenario.duration,
            faults,
            ..Self::default()
        }
    }

    fn checked(&mut self, law: &'static str, times: u64) {
        *self.laws.entry(law).or_insert(0) += times;
    }

    pub fn add(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.networks, other.networks),
            (&mut self.hosts, other.hosts),
            (&mut self.switches, other.switches),
            (&mut self.cables, other.cables),
            (&mut self.periods, other.periods),
            (&mut self.stepped, other.stepped),
            (&mut self.recorded, other.recorded),
            (&mut self.episodes, other.episodes),
            (&mut self.too_large, other.too_large),
            (&mut self.packets, other.packets),
            (&mut self.messages, other.messages),
        ] {
            *sum = sum.saturating_add(more);
        }
        for (kind, more) in &other.likely {
            let sums = self.likely.entry(kind).or_default();
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum = sum.saturating_add(*more));
        }
        for (sums, more) in [(&mut self.faults, &other.faults), (&mut self.laws, &other.laws)] {
            for (kind, count) in more {
                *sums.entry(kind).or_insert(0) += count;
            }
        }
    }
}

/// Holds a scenario to all laws, as far as it can be: to come to rest a network must have had so much time
/// after the last fault was mended.
pub fn held(scenario: &Scenario) -> StormCounts {
    run::StormRun::new(scenario).run()
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StormLaws {
    #[default]
    All,
    /// None but one that is wrong on purpose, so that one can see what a finding looks like: no cable is
    /// ever cut.
    Canary,
}

/// Runs the network, and returns the law that is broken. Prints nothing.
///
/// # Errors
/// The first law that is broken.
pub fn tried(scenario: &Scenario, laws: StormLaws) -> Result<StormCounts, LawFailure> {
    // So that it is known in this thread which law was broken.
    use_one_thread();
    catch_failure(|| match laws {
        StormLaws::All => held(scenario),
        StormLaws::Canary => canary(scenario),
    })
}

fn canary(scenario: &Scenario) -> StormCounts {
    let cut = |fault: &&FaultSpec| fault.kind == FaultKind::Cut;
    let cuts = scenario.faults.iter().filter(cut).count();
    assert!(cuts == 0, "no cable is cut: {cuts} are");
    StormCounts::of(scenario)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canaries::two_hosts;

    fn front(seed: u64, jobs: usize) -> StormRunner {
        StormRunner {
            seed,
            periods: Some(80_000_000),
            switches: Some(1),
            jobs,
            laws: StormLaws::All,
        }
    }

    #[test]
    fn what_comes_of_a_storm_does_not_depend_on_how_many_look_at_it() {
        let [one, three] = [1, 3].map(|jobs| front(5, jobs).run(&|| false, &|_| ()));
        assert_eq!(one.counts, three.counts);
        let broken =
            |ended: &StormResult| ended.failure.as_ref().map(|it| (it.number, it.broken.clone()));
        assert_eq!(broken(&one), broken(&three));
    }

    /// Two hosts, and what one sends to the other when all has been calm for long.
    const CALLED: &str = "
        [[traffic]]
        from = 'h0'
        to = 'h1'
        payload = 30
        every_us = 100
        start_us = 450_000
        packets = 1
        [[tap]]
        port = 's0:0'
    ";

    fn broken(more: &str) -> Option<String> {
        let scenario = two_hosts("duration_us = 500_000", &format!("{CALLED}{more}"));
        tried(&scenario, StormLaws::All).err().map(|broken| broken.text)
    }

    #[test]
    fn a_network_in_order_keeps_all_laws() {
        assert_eq!(broken(""), None);
        let scenario = two_hosts("duration_us = 500_000", CALLED);
        let counts = held(&scenario);
        assert_eq!((counts.packets, counts.recorded), (1, counts.periods));
        let calm = ["the network becomes quiescent", "packets sent after the last fault arrive"];
        assert!(calm.iter().all(|law| counts.laws.get(law) == Some(&1)), "{:?}", counts.laws);
    }

    #[test]
    fn the_canary_dies_of_a_packet_that_goes_astray_in_calm_weather() {
        let astray = "[[route]]\nfrom = 'h0'\nto = 'h1'\nbytes = '83'\n";
        let broken = broken(astray).unwrap();
        assert!(broken.starts_with("packets sent after the last fault arrive"), "{broken}");
    }

    #[test]
    fn a_silence_that_is_over_soon_breaks_no_law() {
        let silence = "[[raw]]\nfrom = 'h1'\nat_us = 20_000\nchars = 'IDLE×20'\n";
        assert_eq!(broken(silence), None);
    }
}
