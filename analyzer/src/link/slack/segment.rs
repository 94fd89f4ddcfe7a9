//! Periods in which the bounds of a fill are linear.

use super::linear::LinearRamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellInput {
    Nothing,
    /// A byte or a framing mark. F-5
    Cell,
    /// Not known; possibly a reset.
    Unknown,
}

/// The last command of a slack buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LastCommand {
    Go,
    Stop,
    #[default]
    Unknown,
}

/// Periods in which the bounds are linear.
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
    /// True if `other` continues this segment with the same input, command and lines.
    pub(super) fn continues_as(&self, other: &Self) -> bool {
        let len = self.end - self.start;
        self.end == other.start
            && (self.input, self.commanded) == (other.input, other.commanded)
            && self.lo.from(len) == other.lo
            && self.hi.from(len) == other.hi
    }

    /// Splits before a period: the part before it, if any, and the rest.
    pub(super) fn split(self, at: u64) -> (Option<Self>, Self) {
        if at <= self.start {
            return (None, self);
        }
        let (before, after) = self.cut(Some(at));
        (Some(before), after.unwrap_or(before))
    }

    /// Splits before a period inside the segment.
    pub(super) fn cut(self, at: Option<u64>) -> (Self, Option<Self>) {
        let Some(at) = at else { return (self, None) };
        let len = at - self.start;
        let after = Self { start: at, lo: self.lo.from(len), hi: self.hi.from(len), ..self };
        (Self { end: at, ..self }, Some(after))
    }
}
