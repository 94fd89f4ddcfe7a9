//! Trace of a slack buffer's fill as straight lines, for the truth of tapped links. F-3

use crate::truth::{TraceContext, TruthEventKind};

/// The last line of a slack buffer's fill that was emitted.
#[derive(Clone, Debug, Default)]
pub(crate) struct FillTrace {
    traced: Option<FillLine>,
}

/// A line of fill: from a period of the link on, it rises by `slope` characters per period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FillLine {
    slot: u64,
    fill: u32,
    slope: i32,
}

impl FillTrace {
    /// Records the fill once a period of the link, right after the character of that period is
    /// stored; emits an event if the fill leaves the last line.
    pub(crate) fn record(&mut self, fill: u32, trace: &mut TraceContext<'_>) {
        let expected = self.traced.map(|line| (line.at(trace.slot), line));
        let slope = match expected {
            Some((expected, _)) if expected == i64::from(fill) => return,
            // The line went through the period before.
            Some((expected, line)) => i64::from(fill) - (expected - i64::from(line.slope)),
            None => 0,
        };
        let slope = i32::try_from(slope).unwrap_or_default();
        self.traced = Some(FillLine { slot: trace.slot, fill, slope });
        trace.emit(None, || TruthEventKind::Fill { fill, slope });
    }

    /// True if the last line goes on with this fill in a period and this slope.
    pub(crate) fn continues(&self, slot: u64, fill: u32, slope: i32) -> bool {
        self.traced.is_some_and(|line| line.slope == slope && line.at(slot) == i64::from(fill))
    }
}

impl FillLine {
    /// The fill in a period.
    fn at(self, slot: u64) -> i64 {
        let periods = i64::try_from(slot.saturating_sub(self.slot)).unwrap_or(i64::MAX);
        i64::from(self.fill).saturating_add(i64::from(self.slope).saturating_mul(periods))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::{NodeId, NodePort};
    use crate::truth::{TraceLevel, TruthLog};
    use codec::route::PortId;

    #[test]
    fn a_fill_is_traced_where_its_slope_changes() {
        let (mut watch, mut log) = (FillTrace::default(), TruthLog::new(TraceLevel::Everything));
        let place = NodePort { node: NodeId(0), port: PortId(0) };
        for (slot, fill) in (7..).zip([0, 0, 1, 2, 3, 3, 3, 2, 1, 1, 5, 0, 0]) {
            watch.record(fill, &mut TraceContext { now: 2 * slot, slot, place, log: &mut log });
        }
        let traced = log.drain().filter_map(|row| {
            let TruthEventKind::Fill { fill, slope } = row.kind else { return None };
            Some((row.at, fill, slope))
        });
        let traced: Vec<_> = traced.collect();
        let lines =
            [(14, 0, 0), (18, 1, 1), (24, 3, 0), (28, 2, -1), (32, 1, 0), (34, 5, 4), (36, 0, -5)];
        assert_eq!(traced, [&lines[..], &[(38, 0, 0)]].concat());
    }
}
