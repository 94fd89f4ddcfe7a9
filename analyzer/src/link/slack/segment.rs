//! A stretch of periods in which the bounds of a fill are straight lines.

use super::linear::LinearRamp;

/// What enters in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellInput {
    Nothing,
    /// A byte or a framing mark. F-5
    Cell,
    /// Nobody knows; it may be a reset.
    Unknown,
}

/// What the slack buffer has commanded last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LastCommand {
    Go,
    Stop,
    Unknown,
}

/// A stretch of periods in which the bounds are straight lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FillSegment {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) lo: LinearRamp,
    pub(super) hi: LinearRamp,
    pub(super) commanded: LastCommand,
    pub(super) input: CellInput,
}

impl FillSegment {
    /// Whether another goes on where this one ends, in the same way.
    pub(super) fn goes_on_as(&self, other: &Self) -> bool {
        let len = self.end - self.start;
        self.end == other.start
            && (self.input, self.commanded) == (other.input, other.commanded)
            && self.lo.from(len) == other.lo
            && self.hi.from(len) == other.hi
    }

    /// What is before a period, if anything is, and what is not.
    pub(super) fn split(self, at: u64) -> (Option<Self>, Self) {
        if at <= self.start {
            return (None, self);
        }
        let (before, after) = self.cut(Some(at));
        (Some(before), after.unwrap_or(before))
    }

    /// What is before a period inside it, and the rest.
    pub(super) fn cut(self, at: Option<u64>) -> (Self, Option<Self>) {
        let Some(at) = at else { return (self, None) };
        let len = at - self.start;
        let after = Self { start: at, lo: self.lo.from(len), hi: self.hi.from(len), ..self };
        (Self { end: at, ..self }, Some(after))
    }
}
