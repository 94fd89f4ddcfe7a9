//! Channels and times that a tap at a port records.

use std::ops::Range;

/// The channels and time windows that a tap records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TapWindows {
    pub(crate) outgoing: u32,
    pub(crate) incoming: u32,
    /// Periods of the full rate.
    pub(crate) windows: Vec<Range<u64>>,
}

impl TapWindows {
    pub(crate) fn is_on(&self, now: u64) -> bool {
        self.windows.iter().any(|window| window.contains(&now))
    }

    /// The parts of a range in which the tap records.
    pub(crate) fn stretches(&self, range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let Range { mut start, end } = range;
        std::iter::from_fn(move || {
            let next = self.windows.iter().filter(|window| window.end > start);
            let from = next.map(|window| window.start.max(start)).min()?;
            let to = self.windows.iter().filter(|window| window.contains(&from));
            let to = to.map(|window| window.end.min(end)).max()?;
            start = to;
            (from < to).then_some(from..to)
        })
    }
}
