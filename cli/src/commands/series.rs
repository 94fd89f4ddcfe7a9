//! `myriscope series`: utilisation, stops, packets and latencies of each channel over time.

use std::num::NonZeroU64;

use analyzer::filter::RowKind;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::pipeline::AnalysisEvent;
use analyzer::series::{INTERVALS_MAX, SeriesInterval, SeriesKey, SeriesTracker};
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
    let scope = RowKind::Series.scope();
    let assumptions = LinkAssumptions::default();
    let analysis =
        analyze(writer.input(), scope, assumptions, &mut report, &mut |analysis, event| {
            add(&mut series, analysis, event);
            while let Some(taken) = series.take_excess() {
                print(view, analysis, &series, taken, writer);
            }
            writer.flow()
        })?;
    while writer.accepts_more()
        && let Some(taken) = series.take()
    {
        print(view, &analysis, &series, taken, writer);
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

fn print(
    view: &ViewArgs,
    analysis: &CliAnalysis,
    series: &SeriesTracker,
    ((number, id), interval): (SeriesKey, SeriesInterval),
    writer: &mut RowWriter<'_>,
) {
    let Some(channel) = analysis.channel(id) else { return };
    let [first, end] = series.characters(number, channel);
    if view.part.has(channel, [first, Tick(end.0.saturating_sub(1))]) {
        let row = series.row(number, &interval, channel);
        writer.select(&row, RowSource::of_capture(channel.capture), |_| {});
    }
}
