//! How full a slack buffer is, told as straight lines: for the truth, where a link is tapped. F-3

use crate::truth::{TraceContext, TruthEventKind};

/// What was told last of a slack buffer's fill, and when.
#[derive(Clone, Debug, Default)]
pub struct FillTrace {
    traced: Option<FillLine>,
}

/// From a period of the link on the fill rises by so many cells in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FillLine {
    slot: u64,
    fill: u32,
    slope: i32,
}

impl FillTrace {
    /// Looks at the fill once a period of the link, just after what arrived in it has been put in;
    /// tells of it if it is not where the line told last leads.
    pub fn record(&mut self, fill: u32, telling: &mut TraceContext<'_>) {
        let expected = self.traced.map(|line| (line.at(telling.slot), line));
        let slope = match expected {
            Some((expected, _)) if expected == i64::from(fill) => return,
            // The line went through the period before.
            Some((expected, line)) => i64::from(fill) - (expected - i64::from(line.slope)),
            None => 0,
        };
        let slope = i32::try_from(slope).unwrap_or_default();
        self.traced = Some(FillLine { slot: telling.slot, fill, slope });
        telling.emit(None, || TruthEventKind::Fill { fill, slope });
    }

    /// Whether it has told that the fill stays at that.
    #[must_use]
    pub fn is_level_at(&self, fill: u32) -> bool {
        self.traced.is_some_and(|line| line.slope == 0 && line.fill == fill)
    }
}

impl FillLine {
    /// Where it leads.
    fn at(self, slot: u64) -> i64 {
        let periods = i64::try_from(slot.saturating_sub(self.slot)).unwrap_or(i64::MAX);
        i64::from(self.fill).saturating_add(i64::from(self.slope).saturating_mul(periods))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{NodeId, NodePort};
    use crate::truth::{TraceLevel, TruthLog};
    use codec::route::PortId;

    #[test]
    fn a_fill_is_told_where_its_slope_changes() {
        let (mut watch, mut log) = (FillTrace::default(), TruthLog::new(TraceLevel::Everything));
        let place = NodePort { node: NodeId(0), port: PortId(0) };
        for (slot, fill) in (7..).zip([0, 0, 1, 2, 3, 3, 3, 2, 1, 1, 5, 0, 0]) {
            watch.record(fill, &mut TraceContext { now: 2 * slot, slot, place, log: &mut log });
        }
        let told = log.drain().filter_map(|row| {
            let TruthEventKind::Fill { fill, slope } = row.kind else { return None };
            Some((row.at, fill, slope))
        });
        let told: Vec<_> = told.collect();
        let lines =
            [(14, 0, 0), (18, 1, 1), (24, 3, 0), (28, 2, -1), (32, 1, 0), (34, 5, 4), (36, 0, -5)];
        assert_eq!(told, [&lines[..], &[(38, 0, 0)]].concat());
    }
}
