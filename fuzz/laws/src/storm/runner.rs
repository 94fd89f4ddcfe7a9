//! The networks of a storm, several at once. What comes of it does not depend on how many.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use simulator::scenario::Scenario;

use super::generator::draft;
use super::{StormCounts, StormLaws, planned, tried};
use crate::failure::LawFailure;

#[derive(Clone, Copy, Debug)]
pub struct StormRunner {
    pub seed: u64,
    /// Its simulated time at least, in periods of the full rate: as many networks as fill it; none: no limit.
    pub periods: Option<u64>,
    /// Number of switches each network has; otherwise 1 to 8.
    pub switches: Option<u8>,
    pub jobs: usize,
    pub laws: StormLaws,
}

#[derive(Clone, Debug, Default)]
pub struct StormResult {
    /// Counts of all networks, or of those before the first that broke a law.
    pub counts: StormCounts,
    pub failure: Option<StormFailure>,
}

#[derive(Clone, Debug)]
pub struct StormFailure {
    pub number: u64,
    /// Its scenario file.
    pub text: String,
    pub broken: LawFailure,
}

/// Finished networks by number: those that kept the laws, and those that broke one.
#[derive(Default)]
struct FinishedNetworks {
    kept: BTreeMap<u64, StormCounts>,
    broke: BTreeMap<u64, LawFailure>,
}

impl StormRunner {
    /// Number of networks.
    pub fn networks(&self) -> u64 {
        let Some(mut left) = self.periods else { return u64::MAX };
        (0..)
            .take_while(|number| {
                let more = left > 0;
                left = left.saturating_sub(self.network(*number).map_or(1, |it| it.duration));
                more
            })
            .count() as u64
    }

    fn network(&self, number: u64) -> Option<Scenario> {
        planned(self.seed, number, self.switches)
    }

    /// Checks the networks up to the first that breaks a law, and begins none once `is_over` returns true.
    /// Calls `progress` for each that breaks none, in any order.
    pub fn run(
        &self,
        is_over: &(dyn Fn() -> bool + Sync),
        progress: &(dyn Fn(&StormCounts) + Sync),
    ) -> StormResult {
        let (next, end) = (AtomicU64::new(0), AtomicU64::new(self.networks()));
        let done = Mutex::new(FinishedNetworks::default());
        let work = || {
            while !is_over() {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= end.load(Ordering::Relaxed) {
                    return;
                }
                let Some(scenario) = self.network(number) else { continue };
                let result = tried(&scenario, self.laws);
                // Whoever had it has added something whole.
                let mut done = done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                match result {
                    Ok(counts) => {
                        progress(&counts);
                        done.kept.insert(number, counts);
                    }
                    Err(broken) => {
                        // Those before it are looked at still: one of them may be the first.
                        end.fetch_min(number, Ordering::Relaxed);
                        done.broke.insert(number, broken);
                    }
                }
            }
        };
        thread::scope(|scope| {
            (0..self.jobs.max(1)).for_each(|_| {
                scope.spawn(work);
            });
        });
        let done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        self.result(done)
    }

    fn result(&self, mut done: FinishedNetworks) -> StormResult {
        let failure = done.broke.pop_first().map(|(number, broken)| {
            let text = draft(self.seed, number, self.switches).map(|draft| draft.text());
            StormFailure { number, text: text.unwrap_or_default(), broken }
        });
        let mut counts = StormCounts::default();
        let last = failure.as_ref().map_or(u64::MAX, |failure| failure.number);
        done.kept.range(..last).for_each(|(_, more)| counts.add(more));
        StormResult { counts, failure }
    }
}
