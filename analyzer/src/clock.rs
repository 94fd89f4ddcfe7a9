//! Clocks of senders against each other. Every sender has its own (W-6), and a declared period may be
//! wrong: characters of one channel then come ever earlier or later against those of others.
//!
//! Two things show it. The time from a packet's first byte before a switch to that behind it, with
//! nobody in its way, differs by the travel of the token only (S-6). And data that went on behind STOP,
//! or before GO, for ever longer stretches, was sent in time by its own clock (F-1).

use std::collections::BTreeMap;

use codec::capture::{Channel, ChannelId};
use codec::time::{FULL_RATE_PERIOD_PS, Tick};

use crate::timeline::Time;

/// Greatest difference of two clocks that counts as drift, in parts per billion. *Chosen*: oscillators
/// at both ends of their tolerance (W-6), and a declared period that is wrong by as much as one of them.
const DRIFT_MAX: i64 = 3 * PPM_100;
/// The tolerance of an oscillator. W-6
const PPM_100: i64 = 100_000;
/// Parts of a whole that a rate counts.
const BILLION: i64 = 1_000_000_000;
/// Packets of a window, the least latency of which counts: before there is a trend, and then. *Chosen*
const WINDOWS: [u32; 2] = [2, 16];
/// Windows in a row in which latencies are shorter, or longer, than at first. *Chosen*: nothing makes them
/// shorter, but a stop out of sight makes them longer.
const SHORTER: i64 = 2;
/// See [`SHORTER`].
const LONGER: i64 = 8;
/// Latencies may be longer by the travel of the token and so much. *Chosen*: symbols that go first.
const SYMBOLS: i128 = 8 * FULL_RATE_PERIOD_PS as i128;
/// Offsets up to which a channel is not corrected. *Chosen*: the travel of the token and as much again.
const TOLERANCE: i128 = 24 * FULL_RATE_PERIOD_PS as i128;
/// Pairs of channels that are followed. *Chosen*: four switches of 32 ports.
const PAIRS_MAX: usize = 4096;
/// Offsets of a link that make a trend. *Chosen*
const OFFSETS_MIN: u64 = 3;

/// A packet that passed a switch: its first byte on a channel to it and on one from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimedPassage {
    pub(crate) channels: [ChannelId; 2],
    pub(crate) first_bytes: [Tick; 2],
    /// Something was in its way.
    pub(crate) held: bool,
    /// Greatest difference between two passages without contention: the travel of the token. S-6
    pub(crate) spread: Time,
}

/// Rates of channels, estimated from packets that pass switches.
#[derive(Debug, Default)]
pub(crate) struct ClockEstimator {
    periods_ps: BTreeMap<ChannelId, u64>,
    pairs: BTreeMap<[ChannelId; 2], LatencyTrend>,
    /// Parts per billion by which the times of channels are too late, and when that was noticed.
    rates: BTreeMap<ChannelId, (i64, Time)>,
    /// When rates are estimated again.
    due: Time,
    /// Times of channels so far.
    last: BTreeMap<ChannelId, Time>,
}

/// Latencies from one channel to another.
#[derive(Debug, Default)]
struct LatencyTrend {
    /// The least at first, and when that was.
    base: Option<(Time, i128)>,
    packets: u32,
    /// The least of a window, and the least of those packets that nothing was in the way of.
    least: Option<i128>,
    least_free: Option<i128>,
    /// Windows in a row that were shorter (below 0) or longer.
    unlike: i64,
    /// Growth of the latency, and the time in which it grew; none while there is no trend.
    growth: Option<(i128, Time)>,
    /// From the first window to the last.
    span: Time,
}

impl ClockEstimator {
    /// Adds a channel.
    pub(crate) fn declare(&mut self, id: ChannelId, channel: &Channel) {
        self.periods_ps.insert(id, channel.period_ps.get());
    }

    /// Takes a packet that has passed a switch.
    pub(crate) fn passage(&mut self, passage: &TimedPassage) {
        let room = self.pairs.len() < PAIRS_MAX;
        let [Some(came_ps), Some(left_ps)] =
            passage.channels.map(|id| self.periods_ps.get(&id).copied())
        else {
            return;
        };
        if !room && !self.pairs.contains_key(&passage.channels) {
            return;
        }
        let [came, left] = passage.first_bytes;
        let came = Time::from(came.0) * Time::from(came_ps);
        let left = Time::from(left.0) * Time::from(left_ps);
        let tolerance = signed(passage.spread).saturating_add(came_ps.max(left_ps).into());
        let trend = self.pairs.entry(passage.channels).or_default();
        let latency = signed(left) - signed(came);
        trend.add(came, latency, Some(latency).filter(|_| !passage.held), tolerance);
        if trend.growth.is_some() && came >= self.due {
            self.due = came.saturating_add(came / 64);
            self.estimate(came);
        }
    }

    /// Estimates the rates: what joins two channels is the growth of latencies between them; of channels
    /// that are joined most are thought to be right.
    fn estimate(&mut self, now: Time) {
        let mut joined: BTreeMap<ChannelId, Vec<(ChannelId, i64)>> = BTreeMap::new();
        let mut steady: BTreeMap<ChannelId, usize> = BTreeMap::new();
        for ([from, to], trend) in &self.pairs {
            if let Some(rate) = trend.rate() {
                joined.entry(*from).or_default().push((*to, rate));
                joined.entry(*to).or_default().push((*from, -rate));
            } else if trend.base.is_some() {
                for id in [from, to] {
                    *steady.entry(*id).or_default() += 2;
                }
            }
        }
        let full = |id: &ChannelId| self.periods_ps.get(id) == Some(&FULL_RATE_PERIOD_PS.into());
        let weight =
            |id: &ChannelId| 2 + steady.get(id).copied().unwrap_or(0) + usize::from(full(id));
        let before = std::mem::take(&mut self.rates);
        while let Some((root, _)) = joined.first_key_value() {
            let (mut next, mut part) = (vec![(*root, 0_i64)], Vec::new());
            while let Some((id, rate)) = next.pop() {
                if let Some(more) = joined.remove(&id) {
                    part.push((rate, id));
                    next.extend(more.into_iter().map(|(to, by)| (to, rate.saturating_add(by))));
                }
            }
            part.sort_unstable();
            let half = part.iter().map(|(_, id)| weight(id)).sum::<usize>() / 2;
            let mut sum = 0;
            let mut middle = part.iter().skip_while(|(_, id)| {
                sum += weight(id);
                sum <= half
            });
            let middle = middle.next().map_or(0, |(rate, _)| *rate);
            for (rate, id) in part {
                let rate = rate.saturating_sub(middle);
                if offset(rate, now).abs() > TOLERANCE {
                    let noticed = before.get(&id).map_or(now, |(_, noticed)| *noticed);
                    self.rates.insert(id, (rate, noticed));
                }
            }
        }
    }

    /// Channels that drift: by how many parts per billion their times are too late, and since when that
    /// is known.
    pub(crate) fn rates(&self) -> impl Iterator<Item = (ChannelId, i64, Time)> {
        self.rates.iter().map(|(id, (rate, noticed))| (*id, *rate, *noticed))
    }

    /// Number of pairs of channels observed for long enough to show clocks at the ends of W-6's range.
    pub(crate) fn compared(&self) -> u64 {
        let long = |trend: &&LatencyTrend| offset(2 * PPM_100, trend.span) > TOLERANCE;
        self.pairs.values().filter(long).count() as u64
    }

    /// A time of a channel on the clock of the others, not before any that was asked for before.
    pub(crate) fn corrected(&mut self, id: ChannelId, time: Time) -> Time {
        let rate = self.rates.get(&id).map_or(0, |(rate, _)| *rate);
        let last = self.last.entry(id).or_default();
        *last = less(time, offset(rate, time)).max(*last);
        *last
    }

    /// Up to where times are complete when all of before a time have been corrected.
    pub(crate) fn complete(&self, time: Time) -> Time {
        let most = self.rates.values().map(|(rate, _)| *rate).max().unwrap_or(0).max(0);
        less(time, offset(most, time))
    }
}

impl LatencyTrend {
    /// Takes the latency of a packet, which is also `free` if nothing was in its way.
    fn add(&mut self, time: Time, latency: i128, free: Option<i128>, tolerance: i128) {
        self.least = [self.least, Some(latency)].into_iter().flatten().min();
        self.least_free = [self.least_free, free].into_iter().flatten().min();
        self.packets += u32::from(self.base.is_some() || free.is_some());
        let [short, long] = WINDOWS;
        if self.packets < if self.growth.is_some() { long } else { short } {
            return;
        }
        let (free, all) = (self.least_free.take(), self.least.take());
        self.packets = 0;
        let Some((since, base)) = self.base else {
            self.base = free.map(|least| (time, least));
            return;
        };
        // What was in the way of a packet makes its latency no shorter.
        let shorter = all.filter(|all| *all < base.saturating_sub(tolerance));
        let Some(latency) = shorter.or(free) else { return };
        let growth = latency.saturating_sub(base);
        let (span, longest) = (time.saturating_sub(since), tolerance.saturating_add(SYMBOLS));
        let side = i64::from(growth > longest) - i64::from(growth < -tolerance);
        if growth.abs() > longest.saturating_add(offset(DRIFT_MAX, span)) {
            return;
        }
        self.span = span;
        let trend = self.unlike.signum();
        self.unlike = match side {
            0 => self.unlike - trend,
            _ if side == -trend => side,
            _ => (self.unlike + side).clamp(-LONGER, LONGER),
        };
        if self.unlike == 0 {
            self.growth = None;
        } else if side != 0
            && (self.growth.is_some() || self.unlike <= -SHORTER || self.unlike >= LONGER)
        {
            self.growth = Some((growth, span));
        }
    }

    /// Parts per billion by which the latency grows.
    fn rate(&self) -> Option<i64> {
        let (growth, span) = self.growth?;
        i64::try_from(growth.saturating_mul(BILLION.into()).checked_div(signed(span))?).ok()
    }
}

/// Data of a channel behind STOP or before GO, which the clocks of its link may explain.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OffsetTrend {
    count: u64,
    /// The first offset, and the first of the greatest ones: periods, and when that was.
    first: (i64, Tick),
    greatest: (i64, Tick),
    last: Tick,
}

impl OffsetTrend {
    /// Adds an offset: periods by which data came too late (above 0) or too early; none if it is
    /// not known which. Returns false if no drift explains it.
    pub(crate) fn add(&mut self, at: Tick, periods: u64, offset: Option<i64>) -> bool {
        let explained = u128::from(periods) * u128::from(BILLION.unsigned_abs())
            <= u128::from(at.0) * u128::from(DRIFT_MAX.unsigned_abs());
        let (known, _) = self.greatest;
        let turned = offset.is_some_and(|offset| offset.signum() * known.signum() < 0);
        if !explained || turned {
            return false;
        }
        self.count += 1;
        self.last = at;
        if let Some(offset) = offset {
            self.first = if known == 0 { (offset, at) } else { self.first };
            if offset.abs() > known.abs() {
                self.greatest = (offset, at);
            }
        }
        true
    }

    /// Parts per million by which the channel's data comes too late, if that has grown with time.
    pub(crate) fn rate(&self) -> Option<i64> {
        let ((first, since), (greatest, until)) = (self.first, self.greatest);
        let per_million = |offset: i64, periods: u64| {
            i128::from(offset).saturating_mul(1_000_000).checked_div(i128::from(periods))
        };
        let slope = per_million(greatest.saturating_sub(first), until.since(since).0)?;
        let whole = per_million(greatest, until.0)?;
        let grows = 2 * slope.abs() >= whole.abs() && slope.abs() <= 3 * whole.abs();
        let rate = i64::try_from(slope).ok()?;
        (grows && rate != 0 && self.count >= OFFSETS_MIN).then_some(rate)
    }

    /// Offsets behind the first, and when the last was.
    pub(crate) const fn more(&self) -> (u64, Tick) {
        (self.count.saturating_sub(1), self.last)
    }

    /// True for offsets that W-6 explains and that have had no time to grow.
    pub(crate) fn is_slight(&self) -> bool {
        let ((_, since), (greatest, _)) = (self.first, self.greatest);
        greatest != 0 && greatest.abs() <= 2 && self.last.0 < since.0.saturating_mul(2)
    }
}

/// Picoseconds by which a rate of parts per billion is ahead after some time.
fn offset(rate: i64, time: Time) -> i128 {
    signed(time).saturating_mul(rate.into()) / i128::from(BILLION)
}

/// A time that is earlier by an offset.
fn less(time: Time, offset: i128) -> Time {
    Time::try_from(signed(time).saturating_sub(offset)).unwrap_or(0)
}

fn signed(time: Time) -> i128 {
    i128::try_from(time).unwrap_or(i128::MAX)
}
