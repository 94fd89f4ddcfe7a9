//! Bounds of a fill, from the characters stored and the commands sent: forward period by period, and
//! backward from each STOP and GO, at which the fill is known. Runs of periods are one step. F-3, F-5, F-9

use std::collections::VecDeque;

use super::linear::{LinearRamp, higher, lower};
use super::segment::{CellInput, FillSegment, LastCommand};
use crate::link::parameters::ChannelParameters;

/// Cells that may be removed beyond one per period. Reading: a switch removes the route byte and the next
/// one in one period, and loses that period while it decodes (S-3).
const AHEAD: i64 = 1;

/// Range in periods in which a STOP or GO narrows the bounds before it. *Chosen*: relevant periods lie
/// within one or two fillings of the buffer; with less traffic the bounds are wide anyway.
const REACH: (u64, u64) = (1024, 8192);

/// Parameters of a slack buffer, in cells.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BufferModel {
    pub(super) go_at: i64,
    pub(super) stop_at: i64,
    pub(super) cells: i64,
    /// Maximum of cells removed in a period of the link.
    pub(super) drain: i64,
}

impl BufferModel {
    pub(super) fn new(parameters: &ChannelParameters, drain: u64) -> Self {
        Self {
            go_at: parameters.go_at().into(),
            stop_at: parameters.stop_at().into(),
            cells: parameters.cells().into(),
            drain: i64::try_from(drain).unwrap_or(1).max(1),
        }
    }

    fn reach(&self) -> u64 {
        let (least, most) = REACH;
        u64::try_from(2 * self.cells).unwrap_or(least).clamp(least, most)
    }
}

/// The capture contradicts the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ImpossibleFill;

/// The bounds so far. Those of the last periods may still be narrowed.
#[derive(Clone, Debug, Default)]
pub(super) struct BoundTracker {
    model: BufferModel,
    pub(super) next: u64,
    /// Bounds of the previous period.
    lo: i64,
    hi: i64,
    pub(super) commanded: LastCommand,
    /// True if the fill was known at a STOP.
    is_anchored: bool,
    /// Period of the last reset: the bounds before it are independent of those after it.
    barrier: u64,
    recent: VecDeque<FillSegment>,
}

impl BoundTracker {
    /// Bounds before the first period.
    pub(super) fn new(model: BufferModel, next: u64) -> Self {
        Self { model, next, hi: model.cells, barrier: next, ..Self::default() }
    }

    /// Sets the first period.
    pub(super) const fn start(&mut self, next: u64) {
        self.next = next;
        self.barrier = next;
    }

    /// Number of past periods that a contradiction makes unknown.
    pub(super) fn hold(&self) -> u64 {
        u64::try_from(self.model.cells).unwrap_or(0).clamp(32, REACH.0)
    }

    /// Makes the last command unknown.
    pub(super) fn forget_command(&mut self) {
        if self.commanded == LastCommand::Stop {
            // STOP kept it above the lower threshold; from there it may now fall by what is removed
            // at once.
            self.lo = (self.lo - AHEAD).max(0);
        }
        self.commanded = LastCommand::Unknown;
        self.is_anchored = false;
    }

    /// Makes the fill unknown from a recent period on.
    pub(super) fn forget(&mut self, since: u64) {
        self.forget_command();
        (self.lo, self.hi) = (0, self.model.cells);
        let unknown = |segment: FillSegment| FillSegment {
            lo: LinearRamp::flat(0),
            hi: LinearRamp::flat(self.model.cells),
            commanded: LastCommand::Unknown,
            ..segment
        };
        let mut forgotten = Vec::new();
        while let Some(segment) = self.recent.pop_back_if(|segment| segment.end > since) {
            let (before, after) = segment.split(since);
            self.recent.extend(before);
            forgotten.push(unknown(after));
        }
        self.recent.extend(forgotten.into_iter().rev());
    }

    /// Extends the bounds by periods of equal input. Returns the number of cells that may have been lost
    /// for want of room. F-9
    pub(super) fn extend(&mut self, end: u64, input: CellInput) -> Result<u64, ImpossibleFill> {
        let len = end.saturating_sub(self.next);
        if len == 0 {
            return Ok(0);
        }
        let (lo, flat_from) = self.lower_bound(input, len);
        let (hi, full_from) = self.upper_bound(input, len);
        let [one, other] = [flat_from, full_from].map(|then| then.map_or(len, |(from, _)| from));
        let (start, mut from) = (self.next, 0);
        for to in [one.min(other), one.max(other), len] {
            if from == to {
                continue;
            }
            let value = |ramp: LinearRamp, then: Option<(u64, i64)>| match then {
                Some((then, flat)) if from >= then => LinearRamp::flat(flat),
                Some(_) | None => ramp.from(from),
            };
            let (lo, hi) = (value(lo, flat_from), value(hi, full_from));
            self.push(FillSegment {
                start: start + from,
                end: start + to,
                lo,
                hi,
                commanded: self.commanded,
                input,
            })?;
            from = to;
        }
        let lost = match (full_from, self.is_anchored, input) {
            (Some((from, _)), true, CellInput::Cell) => len - from,
            (_, _, _) => 0,
        };
        Ok(lost)
    }

    /// Lower bound from the next period on, and the period and value at which it becomes flat.
    fn lower_bound(&self, input: CellInput, len: u64) -> (LinearRamp, Option<(u64, i64)>) {
        let BufferModel { go_at, stop_at, cells, drain } = self.model;
        let enters = i64::from(input == CellInput::Cell);
        // After STOP it has not fallen to the lower threshold, unless the next cell raised it to the
        // upper one at once.
        let standing = match self.commanded {
            LastCommand::Stop if stop_at == go_at + 1 => go_at + 1,
            LastCommand::Stop => go_at + 1 + enters,
            LastCommand::Go | LastCommand::Unknown => enters,
        };
        let floor = standing.min(cells);
        let slope = enters - drain;
        let room = self.lo - floor;
        if input == CellInput::Unknown || room + slope <= 0 {
            return (LinearRamp::flat(floor), None);
        }
        let ramp = LinearRamp { at: self.lo + slope, slope };
        // It stays if no more is removed than stored.
        let periods = if slope == 0 { len } else { u64::try_from(room / -slope).unwrap_or(len) };
        (ramp, (periods < len).then_some((periods, floor)))
    }

    /// Upper bound from the next period on, and the period and value at which it becomes flat.
    fn upper_bound(&self, input: CellInput, len: u64) -> (LinearRamp, Option<(u64, i64)>) {
        let most = match self.commanded {
            LastCommand::Go => self.model.stop_at - 1,
            LastCommand::Stop | LastCommand::Unknown => self.model.cells,
        };
        let slope = i64::from(input != CellInput::Nothing);
        let room = most - self.hi;
        if slope == 0 || room <= 0 {
            let ramp = LinearRamp::flat(self.hi.min(most));
            // Flat from 0: every period in which a cell may be lost is reported.
            return (ramp, (slope == 1).then_some((0, most)));
        }
        let periods = u64::try_from(room).unwrap_or(len);
        let ramp = LinearRamp { at: self.hi + 1, slope };
        (ramp, (periods < len).then_some((periods, most)))
    }

    /// Processes a STOP in the next period.
    pub(super) fn stop(&mut self, input: CellInput) -> Result<(), ImpossibleFill> {
        let before = std::mem::replace(&mut self.commanded, LastCommand::Stop);
        if before != LastCommand::Go {
            self.is_anchored = false;
            return self.extend(self.next + 1, input).map(|_| ());
        }
        let BufferModel { stop_at, cells, drain, .. } = self.model;
        let (enters, lo) = match input {
            CellInput::Nothing => return Err(ImpossibleFill),
            CellInput::Cell => (1, (self.lo - drain).max(0) + 1),
            CellInput::Unknown => (1, 0),
        };
        if stop_at > (self.hi + enters).min(cells) || stop_at < lo {
            return Err(ImpossibleFill);
        }
        self.raise(stop_at - 1);
        self.one(LinearRamp::flat(stop_at), LinearRamp::flat(stop_at), input)?;
        self.lo = (stop_at - AHEAD).max(0);
        self.is_anchored = true;
        Ok(())
    }

    /// Processes a GO in the next period.
    pub(super) fn go(&mut self, input: CellInput) -> Result<(), ImpossibleFill> {
        let before = std::mem::replace(&mut self.commanded, LastCommand::Go);
        self.is_anchored = false;
        if before != LastCommand::Stop {
            return self.extend(self.next + 1, input).map(|_| ());
        }
        let BufferModel { go_at, stop_at, drain, .. } = self.model;
        let left = (self.lo - drain - AHEAD).max(0);
        let (lo, may_enter) = match input {
            CellInput::Nothing => (left, 0),
            CellInput::Cell => (left + 1, 1),
            CellInput::Unknown => (0, 1),
        };
        // A reset that was not recorded may have emptied it in this period.
        if lo - may_enter > go_at {
            return Err(ImpossibleFill);
        }
        if input != CellInput::Unknown {
            self.sink(go_at + drain + AHEAD);
        }
        let hi = (go_at + may_enter).min(stop_at - 1);
        self.one(LinearRamp::flat(lo.min(hi)), LinearRamp::flat(hi), input)
    }

    /// Empties the buffer in the next period. R-2
    pub(super) fn reset(&mut self) {
        if self.commanded == LastCommand::Stop {
            self.commanded = LastCommand::Go;
        }
        self.is_anchored = false;
        self.barrier = self.next;
        let emptied = self.one(LinearRamp::flat(0), LinearRamp::flat(0), CellInput::Nothing);
        assert!(emptied.is_ok(), "0 is not above 0");
    }

    /// Adds one period.
    fn one(
        &mut self,
        lo: LinearRamp,
        hi: LinearRamp,
        input: CellInput,
    ) -> Result<(), ImpossibleFill> {
        let (start, end, commanded) = (self.next, self.next + 1, self.commanded);
        self.push(FillSegment { start, end, lo, hi, commanded, input })
    }

    fn push(&mut self, segment: FillSegment) -> Result<(), ImpossibleFill> {
        let last = segment.end - segment.start - 1;
        let (lo, hi) = (segment.lo.after(last), segment.hi.after(last));
        if segment.lo.at > segment.hi.at || lo > hi {
            return Err(ImpossibleFill);
        }
        (self.lo, self.hi, self.next) = (lo, hi, segment.end);
        match self.recent.back_mut() {
            Some(back) if back.continues_as(&segment) => back.end = segment.end,
            Some(_) | None => self.recent.push_back(segment),
        }
        Ok(())
    }

    /// Raises the lower bounds: at least `least` cells were full in the last period, and before that as many
    /// less what was stored since.
    fn raise(&mut self, mut least: i64) {
        let mut raised = Vec::new();
        while least > 0
            && let Some(segment) = self.pop_reached()
        {
            if segment.input == CellInput::Unknown {
                self.recent.push_back(segment);
                break;
            }
            let slope = i64::from(segment.input == CellInput::Cell);
            let len = segment.end - segment.start;
            let ramp =
                LinearRamp { at: LinearRamp { at: least, slope: -slope }.after(len - 1), slope };
            let (first, then) = higher(segment.lo, ramp, len);
            let cut = then.map(|(periods, lo)| (segment.start + periods, lo));
            let (before, after) = segment.cut(cut.map(|(at, _)| at));
            raised.extend(after.zip(cut).map(|(after, (_, lo))| FillSegment { lo, ..after }));
            raised.push(FillSegment { lo: first, ..before });
            least = ramp.at - slope;
        }
        self.recent.extend(raised.into_iter().rev());
    }

    /// Lowers the upper bounds: at most `most` cells were full in the last period, and before that as many
    /// plus what was removed since.
    fn sink(&mut self, mut most: i64) {
        let mut sunk = Vec::new();
        while most < self.model.cells
            && let Some(segment) = self.pop_reached()
        {
            if segment.input == CellInput::Unknown {
                self.recent.push_back(segment);
                break;
            }
            // In a buffer that may have been full, the input may have been lost.
            let full = segment.hi == LinearRamp::flat(self.model.cells);
            let entered = i64::from(segment.input == CellInput::Cell && !full);
            let slope = entered - self.model.drain;
            let len = segment.end - segment.start;
            let ramp =
                LinearRamp { at: LinearRamp { at: most, slope: -slope }.after(len - 1), slope };
            let (first, then) = lower(segment.hi, ramp, len);
            let cut = then.map(|(periods, hi)| (segment.start + periods, hi));
            let (before, after) = segment.cut(cut.map(|(at, _)| at));
            sunk.extend(after.zip(cut).map(|(after, (_, hi))| FillSegment { hi, ..after }));
            sunk.push(FillSegment { hi: first, ..before });
            most = ramp.at - slope;
        }
        self.recent.extend(sunk.into_iter().rev());
    }

    /// Removes the part of the last segment that is within reach.
    fn pop_reached(&mut self) -> Option<FillSegment> {
        let least = self.barrier.max(self.next.saturating_sub(self.model.reach()));
        let segment = self.recent.pop_back_if(|segment| segment.end > least)?;
        let (before, after) = segment.split(least);
        self.recent.extend(before);
        Some(after)
    }

    /// Removes a segment that cannot be narrowed any more.
    pub(super) fn settled(&mut self) -> Option<FillSegment> {
        let least = self.next.saturating_sub(self.model.reach());
        self.recent.pop_front_if(|segment| segment.end <= least)
    }

    /// Removes a segment at the end.
    pub(super) fn rest(&mut self) -> Option<FillSegment> {
        self.recent.pop_front()
    }
}
