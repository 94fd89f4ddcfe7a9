//! Utilisation, stops, packets and latencies of each channel over time, in intervals of one length.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use codec::capture::{Channel, ChannelId};
use codec::packet::CrcCheck;
use codec::time::{CharacterPeriod, Tick};

use crate::distribution::LatencyDistribution;
use crate::event::Picoseconds;
use crate::journey::{Journey, JourneyHop};
use crate::link::interval::{ActivityInterval, ChannelActivity};
use crate::row::row;

/// Maximum of intervals of a capture.
pub const INTERVALS_MAX: u64 = 1 << 20;
/// Maximum of intervals of all channels that are open at a time. *Chosen*: some ten megabytes, and more
/// than 10 ms of 128 channels in intervals of 10 µs.
const OPEN_MAX: usize = 1 << 17;
/// Maximum of counted parts of packets and stops, for captures whose repeats last for years. *Chosen*: some
/// seconds.
const PARTS_MAX: u64 = 1 << 24;

row! {
    /// Row of `myriscope series`, as specified in `docs/output.md`.
    pub struct SeriesRow<'a> {
        channel: &'a str, "", "", "name of the channel";
        time_ps: u128, "ps", "", "start of the interval";
        end_ps: u128, "ps", "", "end of the interval";
        utilisation: f64, "", "P-1", "share of periods that carry bytes of packets";
        stopped: Option<f64>, "", "F-1", "share of periods in which its sender was stopped";
        packets: u64, "packets", "P-1", "packets that end in the interval";
        bad: u64, "packets", "P-5", "packets of these with a bad CRC";
        arrived: u64, "packets", "", "packets seen before that end their journey here";
        latency_p50_ps: Option<u128>, "ps", "", "median of their network latency";
        latency_p99_ps: Option<u128>, "ps", "", "99th percentile of it";
    }
}

/// Counts of a channel in an interval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeriesInterval {
    bytes: u64,
    stopped: u64,
    packets: u64,
    bad: u64,
    arrived: u64,
    latencies: LatencyDistribution,
}

/// Number of an interval from 0, and a channel.
pub type SeriesKey = (u64, ChannelId);

/// Collects the intervals of all channels; those in which a channel was neither used nor stopped are left
/// out.
#[derive(Debug)]
pub struct SeriesTracker {
    every: NonZeroU64,
    open: BTreeMap<SeriesKey, SeriesInterval>,
    /// First interval that has not been taken.
    next: u64,
    parts: u64,
    omitted: u64,
}

impl SeriesTracker {
    /// Starts with the length of the intervals in picoseconds.
    pub const fn new(every: NonZeroU64) -> Self {
        Self { every, open: BTreeMap::new(), next: 0, parts: 0, omitted: 0 }
    }

    /// Adds an interval of a channel's activity.
    pub fn interval(&mut self, interval: &ActivityInterval, channel: &Channel) {
        if interval.state == ChannelActivity::Stopped {
            let ActivityInterval { channel: id, start, end, .. } = *interval;
            self.spread(id, channel, [start, end], |bin, periods| bin.stopped += periods);
        }
    }

    /// Adds a packet on all its channels. Those before a switch that copied it have it once. S-9
    pub fn journey<'a>(
        &mut self,
        journey: &Journey,
        known: &dyn Fn(ChannelId) -> Option<&'a Channel>,
    ) {
        for hop in journey.hops.iter().skip(journey.shared) {
            if let Some(channel) = known(hop.channel) {
                self.hop(hop, channel);
            }
        }
        if let [first, .., last] = journey.hops.as_slice() {
            let latency = last.time.saturating_sub(first.time);
            if let Some(bin) = self.at(last.channel, last.time) {
                bin.arrived += 1;
                bin.latencies.add(latency);
            }
        }
    }

    /// Bytes of a packet are spread evenly from its first to its last.
    fn hop(&mut self, hop: &JourneyHop, channel: &Channel) {
        let end = Tick(hop.end.0.saturating_add(1));
        let whole = u128::from(end.0.saturating_sub(hop.start.0).max(1));
        let mut passed = 0_u64;
        self.spread(hop.channel, channel, [hop.start, end], |bin, periods| {
            let share = |periods: u64| u128::from(hop.length) * u128::from(periods) / whole;
            let bytes = share(passed + periods).saturating_sub(share(passed));
            bin.bytes += u64::try_from(bytes).unwrap_or(u64::MAX);
            passed += periods;
        });
        let time = channel.period.time(hop.end.0);
        if let Some(bin) = self.at(hop.channel, time) {
            bin.packets += 1;
            bin.bad += u64::from(matches!(hop.check, CrcCheck::Bad(_)));
        }
    }

    /// Calls a function for each interval of a stretch of characters, with the number of these in it.
    fn spread(
        &mut self,
        id: ChannelId,
        channel: &Channel,
        [start, end]: [Tick; 2],
        mut add: impl FnMut(&mut SeriesInterval, u64),
    ) {
        let period = channel.period;
        let mut at = start.0;
        while at < end.0 {
            let time = period.time(at);
            if self.at(id, time).is_none() {
                // Intervals that have been taken are skipped at once; later ones are not counted.
                let first = first_character(self.next, self.every, period);
                if at < first && first < end.0 {
                    at = first;
                    continue;
                }
                return;
            }
            let next = first_character(self.number(time).saturating_add(1), self.every, period);
            let until = end.0.min(next.max(at + 1));
            if let Some(bin) = self.open.get_mut(&(self.number(time), id)) {
                add(bin, until - at);
            }
            at = until;
        }
    }

    fn number(&self, time: Picoseconds) -> u64 {
        u64::try_from(time / Picoseconds::from(self.every.get())).unwrap_or(u64::MAX)
    }

    /// The interval of a channel at a time, if it is still open and within the limits.
    fn at(&mut self, id: ChannelId, time: Picoseconds) -> Option<&mut SeriesInterval> {
        let number = self.number(time);
        self.parts = self.parts.saturating_add(1);
        if number < self.next || number >= INTERVALS_MAX || self.parts > PARTS_MAX {
            self.omitted += 1;
            return None;
        }
        Some(self.open.entry((number, id)).or_default())
    }

    /// Takes the oldest interval of a channel if too many are open.
    pub fn take_excess(&mut self) -> Option<(SeriesKey, SeriesInterval)> {
        if self.open.len() > OPEN_MAX { self.take() } else { None }
    }

    /// Takes the oldest interval of a channel.
    pub fn take(&mut self) -> Option<(SeriesKey, SeriesInterval)> {
        let taken = self.open.pop_first();
        if let Some(((number, _), _)) = taken {
            // Other channels of the same interval follow; nothing is added to them.
            self.next = self.next.max(number + 1);
        }
        taken
    }

    /// Parts of packets and stops that are in no interval: more than the limits, or known too late.
    pub const fn omitted(&self) -> u64 {
        self.omitted
    }

    /// The row of an interval. Stops are told if they were seen, or the opposite channel was recorded in some of it.
    pub fn row<'a>(
        &self,
        number: u64,
        interval: &SeriesInterval,
        (channel, opposed): (&'a Channel, Option<[Picoseconds; 2]>),
    ) -> SeriesRow<'a> {
        let SeriesInterval { bytes, stopped, packets, bad, arrived, latencies } = interval;
        let [first, end] = self.characters(number, channel).map(|at| at.0);
        let share = |part: u64| {
            let millionths = u128::from(part) * 1_000_000 / u128::from((end - first).max(1));
            f64::from(u32::try_from(millionths.min(1_000_000)).unwrap_or(1_000_000)) / 1e6
        };
        let every = Picoseconds::from(self.every.get());
        let time_ps = Picoseconds::from(number) * every;
        let end_ps = time_ps + every;
        let is_told =
            *stopped > 0 || opposed.is_some_and(|[from, to]| from < end_ps && time_ps < to);
        SeriesRow {
            channel: &channel.name,
            time_ps,
            end_ps,
            utilisation: share(*bytes),
            stopped: is_told.then(|| share(*stopped)),
            packets: *packets,
            bad: *bad,
            arrived: *arrived,
            latency_p50_ps: latencies.percentile(50),
            latency_p99_ps: latencies.percentile(99),
        }
    }

    /// First character of an interval on a channel, and the first after it.
    pub fn characters(&self, number: u64, channel: &Channel) -> [Tick; 2] {
        let period = channel.period;
        let first = |number| Tick(first_character(number, self.every, period));
        [first(number), first(number.saturating_add(1))]
    }
}

/// First character that begins in an interval.
fn first_character(number: u64, every: NonZeroU64, period: CharacterPeriod) -> u64 {
    let time = Picoseconds::from(number) * Picoseconds::from(every.get());
    period.periods_up(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight characters of 12.5 ns.
    const EVERY: NonZeroU64 = NonZeroU64::new(100_000).unwrap();

    fn stopped(end: u64) -> SeriesTracker {
        let mut series = SeriesTracker::new(EVERY);
        let (start, end) = (Tick(4), Tick(end));
        let state = ChannelActivity::Stopped;
        let interval = ActivityInterval { channel: ChannelId(0), start, end, state };
        series.interval(&interval, &Channel::named("a>b"));
        series
    }

    #[test]
    fn a_stop_is_divided_among_the_intervals_that_it_touches() {
        let mut series = stopped(20);
        let channel = Channel::named("a>b");
        let mut rows = Vec::new();
        while let Some(((number, _), interval)) = series.take() {
            let row = series.row(number, &interval, (&channel, None));
            rows.push((row.time_ps, row.end_ps, row.stopped.unwrap()));
        }
        assert_eq!(rows, [(0, 100_000, 0.5), (100_000, 200_000, 1.0), (200_000, 300_000, 0.5)]);
        assert_eq!(series.omitted(), 0);
        // Without a stop, the opposite channel tells it, if that was recorded for a part of the interval.
        for (opposed, told) in [
            ([0, 100_000], None),
            ([0, 100_001], Some(0.0)),
            ([199_999, 300_000], Some(0.0)),
            ([200_000, 300_000], None),
        ] {
            let row = series.row(1, &SeriesInterval::default(), (&channel, Some(opposed)));
            assert_eq!(row.stopped, told, "{opposed:?}");
        }
    }

    #[test]
    fn a_stop_of_centuries_is_not_counted_to_its_end() {
        let mut series = stopped(u64::MAX);
        assert!(series.omitted() > 0);
        let mut taken = 0_u64;
        while series.take_excess().is_some() {
            taken += 1;
        }
        assert_eq!(taken + OPEN_MAX as u64, INTERVALS_MAX);
    }
}
