//! Clock drift between senders. Every sender has its own clock (W-6), and a declared period may be
//! wrong: the characters of one channel then come increasingly early, or increasingly late,
//! compared with those of others.
//!
//! Two observations show drift. Without contention, the latency of a packet's first byte through a
//! switch varies only by the travel of the token (S-6). And data that continues after STOP, or
//! resumes before GO, by a growing number of periods was sent in time by its sender's clock (F-1).

use std::collections::{BTreeMap, BTreeSet};

use codec::capture::{Channel, ChannelId};
use codec::time::{CharacterPeriod, FULL_RATE_PERIOD_PS, Tick};

use crate::event::Picoseconds;

/// Greatest difference of two clocks that counts as drift, in parts per billion. *Chosen*:
/// oscillators at both ends of their tolerance (W-6), and a declared period that is wrong by as
/// much as one of them.
const DRIFT_MAX: i64 = 3 * PPM_100;
/// The tolerance of an oscillator. W-6
const PPM_100: i64 = 100_000;
/// Denominator of rates.
const BILLION: i64 = 1_000_000_000;
/// Packets per window, without a trend and with one; the least latency of a window counts. *Chosen*
const WINDOWS: [u32; 2] = [2, 16];
/// Consecutive windows with shorter latencies that make a trend. *Chosen*: only drift shortens them,
/// unless uncaptured packets have delayed those of the first window.
const SHORTER: i64 = 4;
/// Consecutive windows with longer latencies that make a trend. *Chosen*: an uncaptured stop
/// lengthens latencies too.
const LONGER: i64 = 8;
/// Longest delay of a packet by symbols, which take precedence. *Chosen*
const SYMBOLS: i128 = 8 * FULL_RATE_PERIOD_PS as i128;
/// Greatest offset that is not corrected. *Chosen*: twice the travel of the token.
const TOLERANCE: i128 = 24 * FULL_RATE_PERIOD_PS as i128;
/// Maximum of compared pairs of channels. *Chosen*: four switches of 32 ports.
const PAIRS_MAX: usize = 4096;
/// Minimum of offsets of a link that make a trend. *Chosen*
const OFFSETS_MIN: u64 = 3;

/// Passage of a packet through a switch: its first byte on the input channel and on the output
/// channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimedPassage {
    /// Indices of the channels, in the order of their declarations.
    pub(crate) channels: [usize; 2],
    pub(crate) first_bytes: [Tick; 2],
    /// True if it was delayed by contention or flow control.
    pub(crate) held: bool,
    /// Greatest difference between two passages without contention: the travel of the token. S-6
    pub(crate) spread: Picoseconds,
}

/// Estimates rates of channels from passages through switches.
#[derive(Debug, Default)]
pub(crate) struct ClockEstimator {
    channels: Vec<ClockedChannel>,
    /// Number of compared pairs of channels.
    pairs: usize,
    /// Delay of channels in parts per billion, and the time of its detection.
    rates: BTreeMap<ChannelId, (i64, Picoseconds)>,
    /// Time of the next estimate.
    due: Picoseconds,
    /// Last corrected time of each channel.
    last: BTreeMap<ChannelId, Picoseconds>,
}

/// A channel, with the trends of packets that come from other channels.
#[derive(Debug)]
struct ClockedChannel {
    id: ChannelId,
    period: CharacterPeriod,
    /// By the index of the other channel, in ascending order.
    trends: Vec<(usize, LatencyTrend)>,
}

/// Trend of the latencies between two channels.
#[derive(Debug, Default)]
struct LatencyTrend {
    /// Least latency of the first window, and its time.
    base: Option<(Picoseconds, i128)>,
    packets: u32,
    /// The least latency of a window, and the least one of packets without contention.
    least: Option<i128>,
    least_free: Option<i128>,
    /// Consecutive windows with shorter (below 0) or longer latencies.
    unlike: i64,
    /// Growth of the latency in the first of these windows, and its time since the first of all.
    onset: (i128, Picoseconds),
    /// Growth of the latency, and the time in which it grew; `None` without a trend.
    growth: Option<(i128, Picoseconds)>,
    /// Time from the first window to the last.
    span: Picoseconds,
}

impl ClockEstimator {
    pub(crate) fn declare(&mut self, id: ChannelId, channel: &Channel) {
        let period = channel.period;
        self.channels.push(ClockedChannel { id, period, trends: Vec::new() });
    }

    pub(crate) fn passage(&mut self, passage: &TimedPassage) {
        let [from, to] = passage.channels;
        let Some(input) = self.channels.get(from).map(|input| input.period) else { return };
        let Some(output) = self.channels.get_mut(to) else { return };
        let output_period = output.period;
        let place = match output.trends.binary_search_by_key(&from, |(from, _)| *from) {
            Ok(place) => place,
            Err(_) if self.pairs == PAIRS_MAX => return,
            Err(place) => {
                self.pairs += 1;
                output.trends.insert(place, (from, LatencyTrend::default()));
                place
            }
        };
        let Some((_, trend)) = output.trends.get_mut(place) else { return };
        let [came, left] = passage.first_bytes;
        let (came, left) = (input.time(came.0), output_period.time(left.0));
        let tolerance = signed(passage.spread).saturating_add(input.max(output_period).ps().into());
        let latency = signed(left) - signed(came);
        trend.add(came, latency, Some(latency).filter(|_| !passage.held), tolerance);
        if trend.growth.is_some() && came >= self.due {
            self.due = came.saturating_add(came / 64);
            self.estimate(came);
        }
    }

    /// Estimates the rates. Channels are connected by the growth of latencies between them; the
    /// clocks of most connected channels are assumed to be right.
    fn estimate(&mut self, now: Picoseconds) {
        let mut joined: BTreeMap<ChannelId, Vec<(ChannelId, i64)>> = BTreeMap::new();
        let mut steady: BTreeMap<ChannelId, usize> = BTreeMap::new();
        let mut pairs: Vec<_> = self.pairs().collect();
        pairs.sort_unstable_by_key(|(channels, _)| *channels);
        for ([from, to], trend) in pairs {
            if let Some(rate) = trend.rate() {
                joined.entry(from).or_default().push((to, rate));
                joined.entry(to).or_default().push((from, -rate));
            } else if trend.base.is_some() {
                for id in [from, to] {
                    *steady.entry(id).or_default() += 2;
                }
            }
        }
        let full_rate = CharacterPeriod::FULL_RATE;
        let full_rate = self.channels.iter().filter(|known| known.period == full_rate);
        let full_rate: BTreeSet<ChannelId> = full_rate.map(|known| known.id).collect();
        let full = |id: &ChannelId| full_rate.contains(id);
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

    fn pairs(&self) -> impl Iterator<Item = ([ChannelId; 2], &LatencyTrend)> {
        self.channels.iter().flat_map(|output| {
            output.trends.iter().filter_map(|(from, trend)| {
                Some(([self.channels.get(*from)?.id, output.id], trend))
            })
        })
    }

    /// Drifting channels, with their delay in parts per billion and the time of its detection.
    pub(crate) fn rates(&self) -> impl Iterator<Item = (ChannelId, i64, Picoseconds)> {
        self.rates.iter().map(|(id, (rate, noticed))| (*id, *rate, *noticed))
    }

    /// Number of pairs of channels observed for long enough to show clocks at the limits of W-6.
    pub(crate) fn compared(&self) -> u64 {
        let long = |trend: &LatencyTrend| offset(2 * PPM_100, trend.span) > TOLERANCE;
        self.pairs().filter(|(_, trend)| long(trend)).count() as u64
    }

    /// Converts a time of a channel to the clock of the others; results never decrease.
    pub(crate) fn corrected(&mut self, id: ChannelId, time: Picoseconds) -> Picoseconds {
        let rate = self.rates.get(&id).map_or(0, |(rate, _)| *rate);
        let last = self.last.entry(id).or_default();
        *last = less(time, offset(rate, time)).max(*last);
        *last
    }

    /// Corrected time before which all events are known, once all events before `time` have been
    /// corrected.
    pub(crate) fn complete(&self, time: Picoseconds) -> Picoseconds {
        let most = self.rates.values().map(|(rate, _)| *rate).max().unwrap_or(0).max(0);
        less(time, offset(most, time))
    }
}

impl LatencyTrend {
    /// Adds the latency of a packet, which is also `free` without contention.
    fn add(&mut self, time: Picoseconds, latency: i128, free: Option<i128>, tolerance: i128) {
        let least = |known: Option<i128>, new| Some(known.map_or(new, |known| known.min(new)));
        self.least = least(self.least, latency);
        if let Some(free) = free {
            self.least_free = least(self.least_free, free);
        }
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
        // Contention never shortens a latency.
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
        if self.unlike.signum() != trend {
            self.onset = (growth, span);
        }
        if self.unlike == 0 {
            self.growth = None;
        } else if side != 0
            && (self.growth.is_some() || self.unlike <= -SHORTER || self.unlike >= LONGER)
        {
            self.growth = self.is_linear(growth, span).then_some((growth, span));
        }
    }

    /// True if the latency has grown since the onset about as fast as since the first window, and no faster
    /// than clocks explain. Uncaptured packets change latencies too, but not ever more.
    fn is_linear(&self, growth: i128, span: Picoseconds) -> bool {
        let (first, since) = self.onset;
        let more = growth.saturating_sub(first).saturating_mul(growth.signum());
        let slope = more.saturating_mul(signed(span));
        let whole = growth.abs().saturating_mul(signed(span.saturating_sub(since)));
        let is_slow = growth.abs() <= offset(DRIFT_MAX, span);
        is_slow && whole > 0 && slope.saturating_mul(2) >= whole && slope <= whole.saturating_mul(3)
    }

    /// Growth of the latency in parts per billion.
    fn rate(&self) -> Option<i64> {
        let (growth, span) = self.growth?;
        i64::try_from(growth.saturating_mul(BILLION.into()).checked_div(signed(span))?).ok()
    }
}

/// Trend of data after STOP or before GO, which the clocks of a link may explain.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OffsetTrend {
    count: u64,
    /// The first offset in periods, and the first of the greatest ones, each with its character.
    first: (i64, Tick),
    greatest: (i64, Tick),
    last: Tick,
}

impl OffsetTrend {
    /// Adds an offset: periods by which data came too late (above 0) or too early; `None` if that
    /// is not known. Returns false if no drift explains it.
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

    /// Delay of the channel's data in parts per million, if it has grown with time.
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

    /// Number of offsets after the first, and the character of the last.
    pub(crate) const fn more(&self) -> (u64, Tick) {
        (self.count.saturating_sub(1), self.last)
    }

    /// True if W-6 explains the offsets and they have had no time to grow.
    pub(crate) fn is_slight(&self) -> bool {
        let ((_, since), (greatest, _)) = (self.first, self.greatest);
        greatest != 0 && greatest.abs() <= 2 && self.last.0 < since.0.saturating_mul(2)
    }
}

/// Offset of a rate in parts per billion after some time.
fn offset(rate: i64, time: Picoseconds) -> i128 {
    signed(time).saturating_mul(rate.into()) / i128::from(BILLION)
}

/// A time minus an offset.
fn less(time: Picoseconds, offset: i128) -> Picoseconds {
    Picoseconds::try_from(signed(time).saturating_sub(offset)).unwrap_or(0)
}

fn signed(time: Picoseconds) -> i128 {
    i128::try_from(time).unwrap_or(i128::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// W-6: a clock is off by 100 ppm at most, three of them by 300: 3 periods in 10 000.
    #[test]
    fn an_offset_is_explained_up_to_the_drift_of_three_clocks() {
        for (at, periods, is_explained) in
            [(9_999, 3, false), (10_000, 3, true), (10_000, 4, false)]
        {
            assert_eq!(OffsetTrend::default().add(Tick(at), periods, None), is_explained, "{at}");
        }
    }
}
