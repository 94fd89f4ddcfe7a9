//! `myriscope series`: utilisation, stops, packets and latencies of each channel over time.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use analyzer::event::Picoseconds;
use analyzer::filter::RowKind;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::link_analysis::LinkAnalysis;
use analyzer::pipeline::AnalysisEvent;
use analyzer::series::{INTERVALS_MAX, SeriesInterval, SeriesKey, SeriesTracker};
use codec::capture::ChannelId;
use codec::time::Tick;

use crate::analyze::{CliAnalysis, analyze, check_channel_exists};
use crate::args::{SeriesArgs, ViewArgs};
use crate::exit::CommandResult;
use crate::output::StandardOutput;
use crate::rows::{RowSource, RowWriter, list_rows};

pub(crate) fn run(arguments: &SeriesArgs, output: &mut StandardOutput) -> CommandResult {
    let SeriesArgs { view, every } = arguments;
    list_rows(view, RowKind::Series, output, |writer| list(view, *every, writer))
}

fn list(view: &ViewArgs, every: NonZeroU64, writer: &mut RowWriter<'_>) -> CommandResult {
    let mut report = writer.run_report();
    let mut series = SeriesTracker::new(every);
    let mut opposed = OpposedTimes::default();
    let scope = RowKind::Series.scope();
    let assumptions = LinkAssumptions::default();
    let analysis =
        analyze(writer.input(), scope, assumptions, &mut report, &mut |analysis, event| {
            add(&mut series, analysis, event);
            while let Some(taken) = series.take_excess() {
                print((view, analysis), &series, (taken, &mut opposed), writer);
            }
            writer.flow()
        })?;
    while writer.accepts_more()
        && let Some(taken) = series.take()
    {
        print((view, &analysis), &series, (taken, &mut opposed), writer);
    }
    if writer.accepts_more() {
        check_channel_exists((&view.part, view.unit()), &analysis, &mut report);
    }
    if series.omitted() > 0 {
        report.error(&format!(
            "some packets and stops are not counted: too many intervals at a time, or more than \
             {INTERVALS_MAX}; expected a longer --every"
        ));
    }
    Ok(report)
}

fn add(series: &mut SeriesTracker, analysis: &CliAnalysis, event: AnalysisEvent) {
    if let AnalysisEvent::Journey(journey) = event {
        series.journey(&journey, &|id| analysis.channel(id));
    } else if let AnalysisEvent::Interval(interval) = event
        && let Some(channel) = analysis.channel(interval.channel)
    {
        series.interval(&interval, channel);
    }
}

/// Times in which the opposite channel of each channel was recorded, as known at the newest interval.
#[derive(Default)]
struct OpposedTimes {
    number: Option<u64>,
    times: BTreeMap<ChannelId, Option<[Picoseconds; 2]>>,
}

impl OpposedTimes {
    fn at(&mut self, (number, id): SeriesKey, analysis: &CliAnalysis) -> Option<[Picoseconds; 2]> {
        if self.number != Some(number) {
            let reports = analysis.links().flat_map(LinkAnalysis::reports);
            self.times = reports.map(|report| (report.id, report.opposed)).collect();
            self.number = Some(number);
        }
        self.times.get(&id).copied().flatten()
    }
}

fn print(
    (view, analysis): (&ViewArgs, &CliAnalysis),
    series: &SeriesTracker,
    ((key, interval), opposed): ((SeriesKey, SeriesInterval), &mut OpposedTimes),
    writer: &mut RowWriter<'_>,
) {
    let (number, id) = key;
    let Some(channel) = analysis.channel(id) else { return };
    let [first, end] = series.characters(number, channel);
    if view.part.has(channel, [first, Tick(end.0.saturating_sub(1))]) {
        let row = series.row(number, &interval, (channel, opposed.at(key, analysis)));
        writer.select(&row, RowSource::of_capture(channel.capture), |_| {});
    }
}
