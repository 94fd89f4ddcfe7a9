//! A point of an experiment: a network that runs for a while, and what is read of it.

use std::collections::BTreeMap;

use super::table::{Milli, PERIODS_PER_US};
use crate::network::{Layout, Network};
use crate::scenario::{Scenario, ScenarioError};
use crate::topology::NodeId;
use crate::truth::{Happened, Wanted, What};

/// Periods between looks at what has happened. *Chosen*: few enough to keep all of it.
const SLICE: u64 = 1 << 12;

/// A network of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// What tells it from others.
    pub label: String,
    /// The network, in the form of `docs/scenario.md`, but for its duration.
    pub scenario: String,
    /// What happens before this period is not counted.
    pub warm_up: u64,
    /// How long it runs, the warm-up included: periods of the full rate.
    pub duration: u64,
}

/// What was read of a point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// What each host took in after the warm-up.
    pub taken: BTreeMap<NodeId, Taken>,
}

/// What a host took in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Packets.
    pub packets: u64,
    /// When it had the first.
    pub first: u64,
    /// When it had the last.
    pub last: u64,
    /// Bytes between tag and CRC byte of all but the first.
    pub payload: u64,
}

impl Point {
    /// The whole scenario.
    #[must_use]
    pub fn text(&self) -> String {
        format!("duration_periods = {}\n{}", self.duration, self.scenario)
    }

    /// Runs it. `progress` is told now and then how many periods have gone by.
    ///
    /// # Errors
    /// The scenario does not hold together.
    pub fn run(&self, progress: &dyn Fn(u64)) -> Result<Reading, ScenarioError> {
        let scenario = Scenario::read(&self.label, &self.text())?;
        let mut network = Network::new(&scenario, Wanted::Everything, Layout::AsGiven);
        let mut reading = Reading::default();
        while network.now() < self.duration {
            let before = network.now();
            network.run(before.saturating_add(SLICE).min(self.duration));
            network.happened().for_each(|row| reading.observe(&row, self.warm_up));
            progress(network.now() - before);
        }
        Ok(reading)
    }
}

impl Reading {
    fn observe(&mut self, row: &Happened, warm_up: u64) {
        if let What::Consumed { length, .. } = row.what
            && row.at >= warm_up
        {
            self.taken.entry(row.place.node).or_default().add(row.at, length.saturating_sub(2));
        }
    }

    /// Megabits of payload in a second that all hosts took in.
    #[must_use]
    pub fn megabits(&self) -> Milli {
        Milli(self.taken.values().map(|taken| taken.megabits().0).sum())
    }
}

impl Taken {
    /// A packet with so many bytes of payload has been taken in.
    pub fn add(&mut self, at: u64, payload: u64) {
        if self.packets == 0 {
            self.first = at;
        } else {
            self.payload = self.payload.saturating_add(payload);
        }
        self.last = at;
        self.packets += 1;
    }

    /// Megabits of payload in a second, from packet to packet.
    #[must_use]
    pub fn megabits(&self) -> Milli {
        Milli::megabits(self.payload, self.last.saturating_sub(self.first))
    }

    /// Microseconds from packet to packet.
    #[must_use]
    pub fn interval(&self) -> Option<Milli> {
        let periods = self.last.saturating_sub(self.first);
        let steps = self.packets.checked_sub(1).filter(|steps| *steps > 0)?;
        Some(Milli::ratio(periods.into(), u128::from(steps) * u128::from(PERIODS_PER_US)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_counted_from_packet_to_packet() {
        let mut taken = Taken::default();
        assert_eq!(taken.megabits(), Milli(0));
        taken.add(1000, 64);
        assert_eq!((taken.packets, taken.megabits(), taken.interval()), (1, Milli(0), None));
        taken.add(1064, 64);
        taken.add(1192, 64);
        // 128 bytes in 192 periods: two thirds of 640 Mb/s.
        assert_eq!(taken.megabits(), Milli(426_667));
        // 1.2 µs.
        assert_eq!(taken.interval(), Some(Milli(1200)));
    }

    #[test]
    fn only_what_comes_after_the_warm_up_is_counted() {
        // Every 100 periods a packet of 10 bytes, from period 1000 on.
        let point = |warm_up| Point {
            label: "pair".to_owned(),
            scenario: "[[host]]\nname = \"a\"\n[[host]]\nname = \"b\"\n\
                       [[cable]]\nends = [\"a:0\", \"b:0\"]\n\
                       [[traffic]]\nfrom = \"a\"\nto = \"b\"\npayload = 10\n\
                       every_periods = 100\nstart_periods = 1000\npackets = 20\n"
                .to_owned(),
            warm_up,
            duration: 4000,
        };
        let [all, half] = [0, 2000].map(|from| point(from).run(&|_| ()).unwrap().taken);
        let [all, half] = [&all, &half].map(|taken| taken.get(&NodeId(1)).copied().unwrap());
        assert_eq!((all.packets, all.payload, all.last - all.first), (20, 190, 1900));
        assert_eq!((half.packets, half.last), (10, all.last));
    }
}
