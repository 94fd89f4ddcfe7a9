//! Bounds of slack buffers against what was in them. F-3

use std::collections::{BTreeMap, VecDeque};

use codec::capture::ChannelId;
use codec::tick::Tick;

use crate::link::slack::Fill;

/// All slack buffers at the far ends of captured channels.
#[derive(Clone, Debug, Default)]
pub(super) struct Fills {
    buffers: BTreeMap<ChannelId, Buffer>,
    /// Which buffers are at a port.
    places: BTreeMap<String, Vec<ChannelId>>,
}

/// What bounds were worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Worth {
    /// Moments of which both witnesses tell.
    pub(super) moments: u64,
    /// Those in which the truth is inside.
    pub(super) inside: u64,
    /// Cells from the lower bound to the upper, all moments together.
    pub(super) width: u128,
    /// Moments that are not compared.
    pub(super) left_out: u64,
}

/// One slack buffer.
#[derive(Clone, Debug)]
struct Buffer {
    /// Periods of the full rate in one of the link's.
    divisor: u64,
    /// What was in it, as far as bounds that are still to come may need it.
    pieces: VecDeque<Piece>,
    /// Bounds that the truth has not reached.
    bounds: VecDeque<Fill>,
    /// From where on it is not compared.
    limit: u64,
    worth: Worth,
}

/// From a period on, up to the next piece, the fill runs straight.
#[derive(Clone, Copy, Debug)]
struct Piece {
    from: u64,
    fill: i64,
    slope: i64,
}

impl Fills {
    /// Adds the buffer at the far end of a channel, which is at a port.
    pub(super) fn declare(&mut self, id: ChannelId, place: &str, divisor: u64) {
        let buffer = Buffer {
            divisor,
            pieces: VecDeque::new(),
            bounds: VecDeque::new(),
            limit: u64::MAX,
            worth: Worth::default(),
        };
        self.buffers.insert(id, buffer);
        self.places.entry(place.to_owned()).or_default().push(id);
    }

    /// At a port the fill runs straight from a period of the full rate on.
    pub(super) fn truth(&mut self, place: &str, at: u64, fill: u32, slope: i64) {
        for id in self.places.get(place).into_iter().flatten() {
            let Some(buffer) = self.buffers.get_mut(id) else { continue };
            let (from, fill) = (at / buffer.divisor, i64::from(fill));
            buffer.pieces.push_back(Piece { from, fill, slope });
        }
    }

    /// What is in the buffers of a port is not compared any more.
    pub(super) fn limit(&mut self, place: &str, at: u64) {
        for id in self.places.get(place).into_iter().flatten() {
            let Some(buffer) = self.buffers.get_mut(id) else { continue };
            buffer.limit = buffer.limit.min(at / buffer.divisor);
        }
    }

    /// Bounds were found.
    pub(super) fn bounds(&mut self, fill: Fill) {
        if let Some(buffer) = self.buffers.get_mut(&fill.channel) {
            buffer.bounds.push_back(fill);
        }
    }

    /// The truth is known before a period of the full rate.
    pub(super) fn settle(&mut self, before: u64) {
        for buffer in self.buffers.values_mut() {
            while let Some(fill) = buffer.bounds.front().copied() {
                if fill.end.0.saturating_mul(buffer.divisor) > before {
                    break;
                }
                buffer.bounds.pop_front();
                buffer.compare(&fill);
            }
        }
    }

    /// The truth is at its end.
    pub(super) fn finish(&mut self) -> Worth {
        let mut worth = Worth::default();
        for buffer in self.buffers.values_mut() {
            while let Some(fill) = buffer.bounds.pop_front() {
                buffer.compare(&fill);
            }
            worth.moments += buffer.worth.moments;
            worth.inside += buffer.worth.inside;
            worth.width += buffer.worth.width;
            worth.left_out += buffer.worth.left_out;
        }
        worth
    }
}

impl Buffer {
    fn compare(&mut self, fill: &Fill) {
        // Bounds come in order of time: pieces that end before these are done with.
        while self.pieces.get(1).is_some_and(|next| next.from <= fill.start.0) {
            self.pieces.pop_front();
        }
        let end = fill.end.0.min(self.limit.max(fill.start.0));
        self.worth.left_out += fill.end.0 - end;
        let nexts = self.pieces.iter().skip(1).map(|next| next.from).chain([u64::MAX]);
        for (piece, next) in self.pieces.iter().zip(nexts) {
            let (from, to) = (piece.from.max(fill.start.0), next.min(end));
            if piece.from >= end {
                break;
            }
            if from < to {
                let moments = to - from;
                self.worth.moments += moments;
                self.worth.inside += piece.inside(from, to, fill);
                self.worth.width += widths(from, to, fill);
            }
        }
    }
}

impl Piece {
    /// In how many periods of a stretch the fill is inside some bounds.
    fn inside(&self, from: u64, to: u64, bounds: &Fill) -> u64 {
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
        let inside = leave.min(other_leave) - enter.max(other_enter);
        u64::try_from(inside).unwrap_or(0)
    }
}

/// From which of so many steps on, and up to which, a line is not below 0.
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

/// The sum of hi − lo over a stretch of some bounds.
fn widths(from: u64, to: u64, bounds: &Fill) -> u128 {
    let ends = [from, to - 1].map(|place| bounds.at(Tick(place)).unwrap_or_default());
    let ends = ends.map(|(lo, hi)| u128::from(hi.saturating_sub(lo)));
    u128::from(to - from) * ends.iter().sum::<u128>() / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bounds of a buffer against a fill that is 0 at first, then rises to 30, then falls to 10.
    fn check(start: u64, end: u64, lo: u32, hi: u32) -> Worth {
        checked(Fill { lo, hi, ..flat(start, end) })
    }

    /// Bounds 5 and 5.
    fn flat(start: u64, end: u64) -> Fill {
        Fill {
            channel: ChannelId(3),
            start: Tick(start),
            end: Tick(end),
            lo: 5,
            lo_slope: 0,
            hi: 5,
            hi_slope: 0,
        }
    }

    fn checked(bounds: Fill) -> Worth {
        let mut fills = Fills::default();
        let channel = ChannelId(3);
        fills.declare(channel, "s0:3", 2);
        fills.truth("s0:3", 0, 0, 0);
        fills.truth("s0:3", 200, 0, 1);
        fills.truth("h0:0", 230, 7, 1);
        fills.truth("s0:3", 260, 30, -2);
        fills.truth("s0:3", 280, 10, 0);
        fills.bounds(bounds);
        fills.finish()
    }

    #[test]
    fn every_period_of_bounds_is_looked_at() {
        let worth = |moments, inside, width| Worth { moments, inside, width, left_out: 0 };
        assert_eq!(check(0, 100, 0, 4), worth(100, 100, 400));
        // The fill is 0 up to 100, then 1, 2, 3 at 101, 102, 103.
        assert_eq!(check(98, 110, 1, 3), worth(12, 3, 24));
        // 28 and 30 and 29 at 128, 130 and 129; then 28 and 26 at 131 and 132.
        assert_eq!(check(120, 140, 28, 30), worth(20, 4, 40));
        assert_eq!(check(130, 1000, 10, 11), worth(870, 860, 870));
        assert_eq!(check(500, 501, 11, 80), worth(1, 0, 69));
    }

    #[test]
    fn bounds_that_rise_and_fall_are_looked_at_period_by_period() {
        // The fill is 1 at 101 and rises with the upper bound; the lower one overtakes it at 111,
        // when it is 11.
        let bounds = Fill { lo: 0, lo_slope: 2, hi: 11, hi_slope: 1, ..flat(105, 116) };
        let worth = checked(bounds);
        assert_eq!((worth.moments, worth.inside), (11, 6));
        assert_eq!(worth.width, (11 + 1) * 11 / 2);
        // It falls from 30 at 130 on by 2; so does the upper bound, from 28 on.
        let bounds = Fill { lo: 20, lo_slope: 0, hi: 28, hi_slope: -2, ..flat(131, 140) };
        assert_eq!((checked(bounds).moments, checked(bounds).inside), (9, 5));
    }

    #[test]
    fn what_is_not_comparable_is_counted_apart() {
        let mut fills = Fills::default();
        fills.declare(ChannelId(3), "s0:3", 1);
        fills.truth("s0:3", 0, 5, 0);
        fills.limit("s0:3", 60);
        for (start, end) in [(0, 50), (50, 70), (70, 90)] {
            fills.bounds(flat(start, end));
            fills.settle(end);
        }
        assert_eq!(fills.finish(), Worth { moments: 60, inside: 60, width: 0, left_out: 30 });
    }
}
