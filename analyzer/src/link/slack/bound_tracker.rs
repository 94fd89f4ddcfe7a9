//! Bounds of a fill from what enters and what is commanded: forward period by period, and back from
//! each STOP and GO, at which the fill is known. Runs of periods are one step. F-3, F-5, F-9

use std::collections::VecDeque;

use super::linear::{LinearRamp, higher, lower};
use super::segment::{CellInput, FillSegment, LastCommand};
use crate::link::parameters::ChannelParameters;

/// Cells that may be taken out beyond one a period. Reading: a switch uses up the route byte and has
/// the next one in one period, and gives that period back as it decodes (S-3).
const AHEAD: i64 = 1;

/// Periods up to which a STOP or GO tells of what was before. *Chosen*: most that matter lie within
/// one or two fillings of the buffer; with less traffic the bounds say little anyway.
const REACH: (u64, u64) = (1024, 8192);

/// What is fixed about a slack buffer, in cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct BufferModel {
    pub(super) go_at: i64,
    pub(super) stop_at: i64,
    pub(super) cells: i64,
    /// Cells that are taken out in a period of the link at most.
    pub(super) drain: i64,
}

impl BufferModel {
    pub(super) fn new(parameters: &ChannelParameters, drain: u64) -> Self {
        Self {
            go_at: parameters.kg.value.into(),
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

/// How the bounds came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BoundAnchor {
    /// From a fill that was known at a STOP.
    Stop,
    Nothing,
}

/// The wire shows what cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ImpossibleFill;

/// The bounds so far, and those of the last periods, which may still be narrowed.
#[derive(Clone, Debug)]
pub(super) struct BoundTracker {
    model: BufferModel,
    /// The next period.
    next: u64,
    /// Bounds of the period before.
    lo: i64,
    hi: i64,
    commanded: LastCommand,
    anchor: BoundAnchor,
    /// What was before this period has nothing to do with what comes after: a reset.
    barrier: u64,
    recent: VecDeque<FillSegment>,
}

impl BoundTracker {
    /// Nothing is known before a period.
    pub(super) const fn new(model: BufferModel, next: u64) -> Self {
        Self {
            model,
            next,
            lo: 0,
            hi: model.cells,
            commanded: LastCommand::Unknown,
            anchor: BoundAnchor::Nothing,
            barrier: next,
            recent: VecDeque::new(),
        }
    }

    /// The first period is this one.
    pub(super) const fn start(&mut self, next: u64) {
        self.next = next;
        self.barrier = next;
    }

    /// So many periods back everything can still be forgotten.
    pub(super) fn hold(&self) -> u64 {
        u64::try_from(self.model.cells).unwrap_or(0).clamp(32, REACH.0)
    }

    /// The next period.
    pub(super) const fn next(&self) -> u64 {
        self.next
    }

    /// What has been commanded last is not known any more.
    pub(super) fn forget_command(&mut self) {
        if self.commanded == LastCommand::Stop {
            // It was above the lower threshold because STOP stood; from there it may now fall by
            // what is taken out at once.
            self.lo = (self.lo - AHEAD).max(0);
        }
        self.commanded = LastCommand::Unknown;
        self.anchor = BoundAnchor::Nothing;
    }

    /// Nothing is known of the fill from a period on, not long ago.
    pub(super) fn forget(&mut self, since: u64) {
        self.forget_command();
        (self.lo, self.hi) = (0, self.model.cells);
        let unknown = |piece: FillSegment| FillSegment {
            lo: LinearRamp::flat(0),
            hi: LinearRamp::flat(self.model.cells),
            commanded: LastCommand::Unknown,
            ..piece
        };
        let mut forgotten = Vec::new();
        while let Some(piece) = self.recent.pop_back_if(|piece| piece.end > since) {
            let (before, after) = piece.split(since);
            self.recent.extend(before);
            forgotten.push(unknown(after));
        }
        self.recent.extend(forgotten.into_iter().rev());
    }

    /// The same enters in all periods up to one; hands back how many cells may have been lost for
    /// want of room. F-9
    pub(super) fn extend(&mut self, end: u64, input: CellInput) -> Result<u64, ImpossibleFill> {
        let len = end.saturating_sub(self.next);
        if len == 0 {
            return Ok(0);
        }
        let (lo, flat_from) = self.lower_bound(input, len);
        let (hi, full_from) = self.upper_bound(input, len);
        let mut cuts = [Some(0), flat_from.map(|(from, _)| from), full_from.map(|(from, _)| from)];
        cuts.sort_unstable();
        let mut cuts = cuts.into_iter().flatten().peekable();
        let start = self.next;
        while let Some(from) = cuts.next() {
            let to = cuts.peek().copied().unwrap_or(len);
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
        }
        let lost = match (full_from, self.anchor, input) {
            (Some((from, _)), BoundAnchor::Stop, CellInput::Cell) => len - from,
            (_, BoundAnchor::Stop | BoundAnchor::Nothing, _) => 0,
        };
        Ok(lost)
    }

    /// From the next period on, and from which on it is flat.
    fn lower_bound(&self, input: CellInput, len: u64) -> (LinearRamp, Option<(u64, i64)>) {
        let BufferModel { go_at, stop_at, cells, drain } = self.model;
        let enters = i64::from(input == CellInput::Cell);
        // With STOP standing it has not fallen to the lower threshold, unless the next cell made it
        // rise to the upper one at once.
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
        // With nothing taken out beyond what enters, it stays.
        let periods = if slope == 0 { len } else { u64::try_from(room / -slope).unwrap_or(len) };
        (ramp, (periods < len).then_some((periods, floor)))
    }

    /// From the next period on, and from which on it is flat.
    fn upper_bound(&self, input: CellInput, len: u64) -> (LinearRamp, Option<(u64, i64)>) {
        let most = match self.commanded {
            LastCommand::Go => self.model.stop_at - 1,
            LastCommand::Stop | LastCommand::Unknown => self.model.cells,
        };
        let slope = i64::from(input != CellInput::Nothing);
        let room = most - self.hi;
        if slope == 0 || room <= 0 {
            let ramp = LinearRamp::flat(self.hi.min(most));
            // So that every period in which a cell may be lost is told.
            return (ramp, (slope == 1).then_some((0, most)));
        }
        let periods = u64::try_from(room).unwrap_or(len);
        let ramp = LinearRamp { at: self.hi + 1, slope };
        (ramp, (periods < len).then_some((periods, most)))
    }

    /// In the next period it commands STOP, or is heard to have.
    pub(super) fn stop(&mut self, input: CellInput) -> Result<(), ImpossibleFill> {
        let before = std::mem::replace(&mut self.commanded, LastCommand::Stop);
        if before != LastCommand::Go {
            self.anchor = BoundAnchor::Nothing;
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
        self.anchor = BoundAnchor::Stop;
        Ok(())
    }

    /// In the next period it commands GO, or is heard to have.
    pub(super) fn go(&mut self, input: CellInput) -> Result<(), ImpossibleFill> {
        let before = std::mem::replace(&mut self.commanded, LastCommand::Go);
        self.anchor = BoundAnchor::Nothing;
        if before != LastCommand::Stop {
            return self.extend(self.next + 1, input).map(|_| ());
        }
        let BufferModel { go_at, stop_at, drain, .. } = self.model;
        let left = (self.lo - drain - AHEAD).max(0);
        if left > go_at {
            return Err(ImpossibleFill);
        }
        self.sink(go_at + drain + AHEAD);
        let (lo, may_enter) = match input {
            CellInput::Nothing => (left, 0),
            CellInput::Cell => (left + 1, 1),
            CellInput::Unknown => (0, 1),
        };
        let hi = (go_at + may_enter).min(stop_at - 1);
        self.one(LinearRamp::flat(lo.min(hi)), LinearRamp::flat(hi), input)
    }

    /// In the next period it is emptied. R-2
    pub(super) fn reset(&mut self) {
        if self.commanded == LastCommand::Stop {
            self.commanded = LastCommand::Go;
        }
        self.anchor = BoundAnchor::Nothing;
        self.barrier = self.next;
        let emptied = self.one(LinearRamp::flat(0), LinearRamp::flat(0), CellInput::Nothing);
        debug_assert!(emptied.is_ok(), "0 is not above 0");
    }

    /// The next period.
    fn one(
        &mut self,
        lo: LinearRamp,
        hi: LinearRamp,
        input: CellInput,
    ) -> Result<(), ImpossibleFill> {
        let (start, end, commanded) = (self.next, self.next + 1, self.commanded);
        self.push(FillSegment { start, end, lo, hi, commanded, input })
    }

    fn push(&mut self, piece: FillSegment) -> Result<(), ImpossibleFill> {
        let last = piece.end - piece.start - 1;
        let (lo, hi) = (piece.lo.after(last), piece.hi.after(last));
        if piece.lo.at > piece.hi.at || lo > hi {
            return Err(ImpossibleFill);
        }
        (self.lo, self.hi, self.next) = (lo, hi, piece.end);
        match self.recent.back_mut() {
            Some(back) if back.goes_on_as(&piece) => back.end = piece.end,
            Some(_) | None => self.recent.push_back(piece),
        }
        Ok(())
    }

    /// In the period before the next one there were at least so many cells: so in those before, but
    /// for what entered since.
    fn raise(&mut self, mut least: i64) {
        let mut raised = Vec::new();
        while least > 0
            && let Some(piece) = self.pop_reached()
        {
            if piece.input == CellInput::Unknown {
                self.recent.push_back(piece);
                break;
            }
            let slope = i64::from(piece.input == CellInput::Cell);
            let len = piece.end - piece.start;
            let ramp =
                LinearRamp { at: LinearRamp { at: least, slope: -slope }.after(len - 1), slope };
            let (first, then) = higher(piece.lo, ramp, len);
            let cut = then.map(|(periods, lo)| (piece.start + periods, lo));
            let (before, after) = piece.cut(cut.map(|(at, _)| at));
            raised.extend(after.zip(cut).map(|(after, (_, lo))| FillSegment { lo, ..after }));
            raised.push(FillSegment { lo: first, ..before });
            least = ramp.at - slope;
        }
        self.recent.extend(raised.into_iter().rev());
    }

    /// In the period before the next one there were at most so many cells: so in those before, but
    /// for what was taken out since.
    fn sink(&mut self, mut most: i64) {
        let mut sunk = Vec::new();
        while most < self.model.cells
            && let Some(piece) = self.pop_reached()
        {
            if piece.input == CellInput::Unknown {
                self.recent.push_back(piece);
                break;
            }
            // Where it may have been full, what entered may have been lost.
            let full = piece.hi == LinearRamp::flat(self.model.cells);
            let entered = i64::from(piece.input == CellInput::Cell && !full);
            let slope = entered - self.model.drain;
            let len = piece.end - piece.start;
            let ramp =
                LinearRamp { at: LinearRamp { at: most, slope: -slope }.after(len - 1), slope };
            let (first, then) = lower(piece.hi, ramp, len);
            let cut = then.map(|(periods, hi)| (piece.start + periods, hi));
            let (before, after) = piece.cut(cut.map(|(at, _)| at));
            sunk.extend(after.zip(cut).map(|(after, (_, hi))| FillSegment { hi, ..after }));
            sunk.push(FillSegment { hi: first, ..before });
            most = ramp.at - slope;
        }
        self.recent.extend(sunk.into_iter().rev());
    }

    /// Takes the last piece out, or what of it is within reach.
    fn pop_reached(&mut self) -> Option<FillSegment> {
        let least = self.barrier.max(self.next.saturating_sub(self.model.reach()));
        let piece = self.recent.pop_back_if(|piece| piece.end > least)?;
        let (before, after) = piece.split(least);
        self.recent.extend(before);
        Some(after)
    }

    /// Hands out what will not be narrowed any more.
    pub(super) fn settled(&mut self) -> Option<FillSegment> {
        let least = self.next.saturating_sub(self.model.reach());
        self.recent.pop_front_if(|piece| piece.end <= least)
    }

    /// Hands out the rest.
    pub(super) fn rest(&mut self) -> Option<FillSegment> {
        self.recent.pop_front()
    }
}
