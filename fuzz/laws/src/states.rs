//! States of channels: intervals that cover the whole recording, and their sums.

pub(crate) mod links;

use analyzer::link::interval::{ActivityInterval, ChannelActivity};
use analyzer::link::parameters::LinkAssumptions;
use analyzer::options::AnalysisScope;
use std::collections::BTreeMap;

use analyzer::link::report::ChannelReport;
use analyzer::link_analysis::LinkAnalysis;

use analyzer::pipeline::{AnalysisEvent, CaptureAnalysis};
use analyzer::render;
use codec::capture::{ChannelId, ReadProgress};
use codec::time::Tick;

use crate::capture::{CaptureContents, SectionContents};

pub use self::links::law;
pub(crate) use self::links::recorded_pair;

/// Whatever the bytes, every character that was recorded belongs to one interval; what is added up
/// is their lengths, and can be printed.
pub fn captured(file: &[u8]) {
    let read = CaptureContents::to_end(file);
    let mut intervals: BTreeMap<ChannelId, Vec<ActivityInterval>> = BTreeMap::new();
    let mut analysis =
        CaptureAnalysis::new(file, AnalysisScope::Intervals, LinkAssumptions::default());
    let mut told = |told: AnalysisEvent| {
        if let AnalysisEvent::Interval(interval) = told {
            intervals.entry(interval.channel).or_default().push(interval);
        }
    };
    while matches!(analysis.step(&mut told), Ok(ReadProgress::More)) {}
    let links: Vec<Vec<ChannelReport<'_>>> =
        analysis.links().map(|link| LinkAnalysis::reports(link).collect()).collect();
    let reports: BTreeMap<_, _> =
        links.iter().flatten().map(|report| (report.id, report)).collect();
    for (id, stretches) in read.sections.iter().flat_map(SectionContents::stretches) {
        let own = intervals.remove(&id).unwrap_or_default();
        tile(&own, &stretches);
        let report = reports.get(&id);
        assert!(report.is_some(), "every channel is reported");
        report.into_iter().for_each(|report| {
            sums(report, &own);
            assert!(serde_json::to_string(&report.row()).is_ok(), "rows are JSON");
        });
    }
    assert!(intervals.is_empty(), "intervals are of channels");
    let mut lines = 0;
    render::links(&links, render::TimeUnit::default(), &mut |line| lines += line.to_string().len());
    assert!(lines > 0, "something is printed");
}

/// They follow each other through all that was recorded, and only that.
fn tile(own: &[ActivityInterval], stretches: &[(Tick, Tick)]) {
    let mut own = own.iter().peekable();
    for (first, end) in stretches {
        let (mut next, mut before) = (*first, None);
        while let Some(interval) = own.next_if(|interval| interval.start < *end) {
            assert_eq!(interval.start, next, "no gap and no overlap");
            assert!(interval.end > interval.start, "an interval has characters");
            assert_ne!(before, Some(interval.state), "what follows is another state");
            (next, before) = (interval.end, Some(interval.state));
        }
        assert_eq!(next, *end, "up to the last character");
    }
    assert_eq!(own.next(), None, "nothing else");
}

fn sums(report: &ChannelReport<'_>, own: &[ActivityInterval]) {
    for (state, sum) in ChannelActivity::ALL.into_iter().zip(report.totals.times.periods()) {
        let of_it = own.iter().filter(|interval| interval.state == state);
        let all: u64 = of_it.map(|interval| interval.end.since(interval.start).0).sum();
        assert_eq!(all, *sum, "the time in a state is that of its intervals");
    }
    let all = report.totals.counters.characters();
    assert_eq!(report.totals.times.periods().iter().sum::<u64>(), all, "all has a state");
    assert_eq!(report.leds.periods().iter().sum::<u64>(), all, "lamps show something all the time");
    assert!(report.totals.stops.longest <= report.totals.stops.periods, "one stop of all");
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) use super::links::tests::*;

    const fn interval(start: u64, end: u64, state: ChannelActivity) -> ActivityInterval {
        ActivityInterval { channel: ChannelId(0), start: Tick(start), end: Tick(end), state }
    }

    #[test]
    fn intervals_that_tile_do() {
        let own = [
            interval(3, 5, ChannelActivity::Idle),
            interval(5, 9, ChannelActivity::Open),
            interval(12, 13, ChannelActivity::Open),
        ];
        tile(&own, &[(Tick(3), Tick(9)), (Tick(12), Tick(13))]);
    }

    pub(crate) fn a_gap_is_caught() {
        tile(
            &[interval(3, 5, ChannelActivity::Idle), interval(6, 9, ChannelActivity::Open)],
            &[(Tick(3), Tick(9))],
        );
    }

    pub(crate) fn a_missing_end_is_caught() {
        tile(&[interval(3, 5, ChannelActivity::Idle)], &[(Tick(3), Tick(9))]);
    }
}
