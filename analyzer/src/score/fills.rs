//! Comparison of the analysis' fill bounds of slack buffers with their true fill levels. F-3

use std::collections::{BTreeMap, VecDeque};

use codec::capture::ChannelId;
use codec::time::{CharacterPeriod, Picoseconds, Tick};

use crate::channel_name::{ChannelEnds, TapEnd};
use crate::link::slack::FillBounds;
use crate::totals::{AddTotals, totals};

/// All slack buffers at the far ends of captured channels.
#[derive(Clone, Debug, Default)]
pub(super) struct FillScore {
    buffers: BTreeMap<ChannelId, ScoredBuffer>,
    /// Buffers by port.
    places: BTreeMap<String, Vec<ChannelId>>,
    /// Buffers whose cable, as the tap captures it, ends at a port.
    cables: BTreeMap<String, Vec<ChannelId>>,
}

totals! {
    /// Totals of compared bounds.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(super) struct FillTotals {
        /// Periods with both bounds and a true fill level.
        pub(super) moments: u64,
        /// Periods in which the true fill level lies within the bounds.
        pub(super) inside: u64,
        /// Sum of upper bound minus lower bound, in cells, over all compared periods.
        pub(super) width: u128,
        /// Periods that are not compared.
        pub(super) left_out: u64,
    }
}

/// Bounds that the true fill level leaves: the buffer's channel, its first period outside, and a
/// description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OutsideBounds {
    pub(super) channel: ChannelId,
    pub(super) at: u64,
    pub(super) what: String,
}

/// Longest time in link periods from a fault to its detection, in which bounds may be wrong.
/// *Chosen*: more than 16 periods of silence (F-7) or a round trip (F-4).
const NOTICED: u64 = 256;

/// Maximum number of pieces of the truth held for later bounds. *Chosen*: bounds arrive with the
/// events of a batch, which has fewer periods; at most 24 MiB per buffer.
const PIECES_MAX: usize = 1 << 20;

#[derive(Clone, Debug, Default)]
struct ScoredBuffer {
    /// The period of its channel.
    period: CharacterPeriod,
    /// True fill levels that later bounds may need.
    pieces: VecDeque<FillPiece>,
    /// Bounds that await the truth.
    bounds: VecDeque<FillBounds>,
    end: u64,
    /// Period from which the buffer is not compared.
    limit: u64,
    worth: FillTotals,
    outside: Vec<OutsideBounds>,
}

/// Maximum number of examples per buffer. *Chosen*: as many as a reader examines.
const OUTSIDE_MAX: usize = 4;

/// A linear stretch of the true fill level, from a period to the next piece.
#[derive(Clone, Copy, Debug)]
struct FillPiece {
    from: u64,
    fill: i64,
    slope: i64,
}

impl FillScore {
    /// Adds the buffer at the far end of a channel with its character period, whose recording ends at place `end`.
    pub(super) fn declare(
        &mut self,
        (id, period): (ChannelId, CharacterPeriod),
        way: &ChannelEnds,
        tap: TapEnd,
        end: u64,
    ) {
        let buffer = ScoredBuffer { period, end, limit: u64::MAX, ..ScoredBuffer::default() };
        self.buffers.insert(id, buffer);
        self.places.entry(way.to.to_string()).or_default().push(id);
        // A tap at the receiver's end captures faults of the cable.
        if tap == TapEnd::Sender {
            for place in [&way.from, &way.to] {
                self.cables.entry(place.to_string()).or_default().push(id);
            }
        }
    }

    /// Adds the true fill level of a port's buffers: `fill` at a time, then
    /// changing by `slope` per period of the link.
    pub(super) fn truth(&mut self, place: &str, at: Picoseconds, fill: u32, slope: i64) {
        for id in self.places.get(place).into_iter().flatten() {
            let Some(buffer) = self.buffers.get_mut(id) else { continue };
            let (from, fill) = (buffer.period.periods(at), i64::from(fill));
            buffer.pieces.push_back(FillPiece { from, fill, slope });
            if buffer.pieces.len() > PIECES_MAX {
                buffer.pieces.pop_front();
            }
        }
    }

    /// Ends the comparison of a port's buffers some periods before `at`.
    pub(super) fn limit(&mut self, place: &str, at: Picoseconds) {
        limit(&mut self.buffers, self.places.get(place), at);
    }

    /// Ends the comparison of the buffers behind a cable some periods before a fault of the cable
    /// at a port.
    pub(super) fn harm(&mut self, place: &str, at: Picoseconds) {
        limit(&mut self.buffers, self.cables.get(place), at);
    }

    /// Adds bounds that the analysis found.
    pub(super) fn bounds(&mut self, fill: FillBounds) {
        if let Some(buffer) = self.buffers.get_mut(&fill.channel) {
            buffer.bounds.push_back(fill);
        }
    }

    /// Compares the bounds for which the truth, known before a period of the full rate, is
    /// complete.
    pub(super) fn settle(&mut self, before: u64) {
        for buffer in self.buffers.values_mut() {
            while let Some(fill) = buffer.bounds.front().copied() {
                let observation = fill.end.0.saturating_add(NOTICED);
                if buffer.period.time(observation) > CharacterPeriod::FULL_RATE.time(before) {
                    break;
                }
                buffer.bounds.pop_front();
                buffer.compare(&fill);
            }
        }
    }

    /// Compares all remaining bounds. Returns the totals and examples of true levels outside the
    /// bounds.
    pub(super) fn finish(&mut self) -> (FillTotals, Vec<OutsideBounds>) {
        let (mut worth, mut outside) = (FillTotals::default(), Vec::new());
        self.settle(u64::MAX);
        for buffer in self.buffers.values_mut() {
            worth.absorb(&buffer.worth);
            outside.append(&mut buffer.outside);
        }
        (worth, outside)
    }
}

fn limit(
    buffers: &mut BTreeMap<ChannelId, ScoredBuffer>,
    ids: Option<&Vec<ChannelId>>,
    at: Picoseconds,
) {
    for id in ids.into_iter().flatten() {
        let Some(buffer) = buffers.get_mut(id) else { continue };
        buffer.limit = buffer.limit.min(buffer.period.periods(at).saturating_sub(NOTICED));
    }
}

impl ScoredBuffer {
    fn compare(&mut self, fill: &FillBounds) {
        // Bounds arrive in order of time: pieces that end before these are no longer needed.
        while self.pieces.get(1).is_some_and(|next| next.from <= fill.start.0) {
            self.pieces.pop_front();
        }
        let last = fill.end.0.min(self.end);
        let end = last.min(self.limit.max(fill.start.0));
        self.worth.left_out += last - end;
        let nexts = self.pieces.iter().skip(1).map(|next| next.from).chain([u64::MAX]);
        for (piece, next) in self.pieces.iter().zip(nexts) {
            let (from, to) = (piece.from.max(fill.start.0), next.min(end));
            if piece.from >= end {
                break;
            }
            if from < to {
                let moments = to - from;
                self.worth.moments += moments;
                let (enter, leave) = piece.inside(from, to, fill);
                self.worth.inside += leave - enter;
                self.worth.width += widths(from, to, fill);
                if leave - enter < moments && self.outside.len() < OUTSIDE_MAX {
                    let at = if enter > 0 || leave == 0 { from } else { from + leave };
                    self.outside.push(piece.outside(at, fill));
                }
            }
        }
    }
}

impl FillPiece {
    /// The example of a period whose true fill level lies outside the bounds.
    fn outside(&self, at: u64, bounds: &FillBounds) -> OutsideBounds {
        let fill = i128::from(self.fill) + i128::from(self.slope) * i128::from(at - self.from);
        let (lo, hi) = bounds.at(Tick(at)).unwrap_or_default();
        let what = format!("{fill} cells are full, found: {lo} to {hi}");
        OutsideBounds { channel: bounds.channel, at, what }
    }

    /// Periods of a stretch, relative to `from`, at which the fill level enters and leaves the
    /// bounds.
    fn inside(&self, from: u64, to: u64, bounds: &FillBounds) -> (u64, u64) {
        let moments = i128::from(to - from);
        let line = |first: i128, slope: i128, start: u64| {
            (first + slope * i128::from(from - start), slope)
        };
        let fill = line(self.fill.into(), self.slope.into(), self.from);
        let lo = line(bounds.lo.into(), bounds.lo_slope.into(), bounds.start.0);
        let hi = line(bounds.hi.into(), bounds.hi_slope.into(), bounds.start.0);
        let (above, below) = ((fill.0 - lo.0, fill.1 - lo.1), (hi.0 - fill.0, hi.1 - fill.1));
        let [(enter, leave), (other_enter, other_leave)] =
            [above, below].map(|(first, slope)| not_negative(first, slope, moments));
        let (enter, leave) = (enter.max(other_enter), leave.min(other_leave));
        let places = [enter.min(leave), leave].map(|place| u64::try_from(place).unwrap_or(0));
        places.into()
    }
}

/// Steps, at most `steps`, at which a line becomes and stops being non-negative.
const fn not_negative(first: i128, slope: i128, steps: i128) -> (i128, i128) {
    let (mut enter, mut leave) = (0, steps);
    if slope > 0 && first < 0 {
        enter = (-first + slope - 1) / slope;
    } else if slope < 0 && first >= 0 {
        leave = first / -slope + 1;
    } else if first < 0 {
        leave = 0;
    }
    if leave > steps {
        leave = steps;
    }
    (enter, leave)
}

/// Sum of hi − lo over a stretch of some bounds.
fn widths(from: u64, to: u64, bounds: &FillBounds) -> u128 {
    let ends = [from, to - 1].map(|place| bounds.at(Tick(place)).unwrap_or_default());
    let ends = ends.map(|(lo, hi)| u128::from(hi.saturating_sub(lo)));
    u128::from(to - from) * ends.iter().sum::<u128>() / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use codec::capture::Channel;

    fn at(period: u64) -> Picoseconds {
        CharacterPeriod::FULL_RATE.time(period)
    }

    fn declare(fills: &mut FillScore, channel: ChannelId, divisor: u64) {
        let way = ChannelEnds::of(&Channel::named("h0:0>s0:3")).unwrap();
        let period = CharacterPeriod::from_ps(divisor * 12_500).unwrap();
        fills.declare((channel, period), &way, TapEnd::Sender, 1000);
    }

    /// Compares constant bounds with a fill level that is 0, rises to 30 and falls to 10.
    fn check(start: u64, end: u64, lo: u32, hi: u32) -> FillTotals {
        checked(FillBounds { lo, hi, ..flat(start, end) })
    }

    /// Bounds that are both 5.
    fn flat(start: u64, end: u64) -> FillBounds {
        FillBounds {
            channel: ChannelId(3),
            start: Tick(start),
            end: Tick(end),
            lo: 5,
            lo_slope: 0,
            hi: 5,
            hi_slope: 0,
        }
    }

    fn checked(bounds: FillBounds) -> FillTotals {
        let mut fills = FillScore::default();
        let channel = ChannelId(3);
        declare(&mut fills, channel, 2);
        fills.truth("s0:3", at(0), 0, 0);
        fills.truth("s0:3", at(200), 0, 1);
        fills.truth("h0:0", at(230), 7, 1);
        fills.truth("s0:3", at(260), 30, -2);
        fills.truth("s0:3", at(280), 10, 0);
        fills.bounds(bounds);
        fills.finish().0
    }

    #[test]
    fn every_period_of_bounds_that_rise_and_fall_is_looked_at() {
        let worth = |moments, inside, width| FillTotals { moments, inside, width, left_out: 0 };
        assert_eq!(check(0, 100, 0, 4), worth(100, 100, 400));
        // The fill is 0 up to 100, then 1, 2, 3 at 101, 102, 103.
        assert_eq!(check(98, 110, 1, 3), worth(12, 3, 24));
        // 28 and 30 and 29 at 128, 130 and 129; then 28 and 26 at 131 and 132.
        assert_eq!(check(120, 140, 28, 30), worth(20, 4, 40));
        assert_eq!(check(130, 1000, 10, 11), worth(870, 860, 870));
        assert_eq!(check(500, 501, 11, 80), worth(1, 0, 69));
        // The fill is 1 at 101 and rises with the upper bound; the lower one overtakes it at 111,
        // when it is 11.
        let bounds = FillBounds { lo: 0, lo_slope: 2, hi: 11, hi_slope: 1, ..flat(105, 116) };
        let worth = checked(bounds);
        assert_eq!((worth.moments, worth.inside), (11, 6));
        assert_eq!(worth.width, (11 + 1) * 11 / 2);
        // It falls from 30 at 130 on by 2; so does the upper bound, from 28 on.
        let bounds = FillBounds { lo: 20, lo_slope: 0, hi: 28, hi_slope: -2, ..flat(131, 140) };
        assert_eq!((checked(bounds).moments, checked(bounds).inside), (9, 5));
    }

    #[test]
    fn what_is_not_comparable_is_counted_apart() {
        let mut fills = FillScore::default();
        declare(&mut fills, ChannelId(3), 1);
        fills.truth("s0:3", at(0), 5, 0);
        fills.limit("s0:3", at(60 + NOTICED));
        for (start, end) in [(0, 50), (50, 70), (70, 90)] {
            fills.bounds(flat(start, end));
            fills.settle(end);
        }
        assert_eq!(
            fills.finish().0,
            FillTotals { moments: 60, inside: 60, width: 0, left_out: 30 }
        );
    }
}
