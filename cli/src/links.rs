//! `myriscope links`: what every link was doing, added up or as intervals.

mod buffers;

use analyzer::link::interval::ActivityInterval;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::options::AnalysisScope;
use std::ops::ControlFlow;

use analyzer::filter::RowKind;
use analyzer::link::LinkAnalysis;
use analyzer::link::report::ChannelReport;

use analyzer::pipeline::{AnalysisEvent, CaptureAnalysis};
use analyzer::render;
use codec::capture::Channel;

use crate::analyze::{analyze, check_channel_exists, print_unread};
use crate::args::{LinksArgs, OutputFormat, ViewArgs};
use crate::exit::{CliError, RunReport};
use crate::input::CliCapture;
use crate::listing::{RowSelection, RowSource, RowWriter};
use crate::output::StandardOutput;

pub(crate) fn run(
    arguments: &LinksArgs,
    output: &mut StandardOutput,
) -> Result<RunReport, CliError> {
    let LinksArgs { view, .. } = arguments;
    let kind = arguments.kind();
    let Some(choice) = RowSelection::of(view, kind, output)? else {
        return Ok(RunReport::default());
    };
    let timed = matches!(kind, RowKind::Intervals | RowKind::Fills);
    if !timed && (view.from.is_some() || view.to.is_some()) {
        let what = "--from and --to choose among intervals and fills: add --intervals or --fill";
        return Err(CliError::reading(&view.file, &what));
    }
    let assumptions = arguments.assume.unwrap_or_default();
    match kind {
        RowKind::Intervals => list(view, choice, output),
        RowKind::Fills => buffers::list(view, choice, assumptions, output),
        RowKind::Buffers => buffers::sum(view, choice, assumptions, output),
        RowKind::Links
        | RowKind::Channels
        | RowKind::Packets
        | RowKind::Events
        | RowKind::Characters
        | RowKind::Conversations
        | RowKind::Remarks
        | RowKind::Waits
        | RowKind::Journeys
        | RowKind::Findings => sum(view, choice, assumptions, output),
    }
}

/// Lists the intervals.
fn list(
    view: &ViewArgs,
    choice: RowSelection,
    output: &mut StandardOutput,
) -> Result<RunReport, CliError> {
    let mut report = RunReport::of(&view.file);
    let mut listing = RowWriter::new(view, choice, RowKind::Intervals.name(), output);
    listing.head(|out| out(render::interval_head()));
    let mut told = |analysis: &CaptureAnalysis<CliCapture>, told: AnalysisEvent| {
        if let AnalysisEvent::Interval(interval) = told
            && let Some(channel) = analysis.channel(interval.channel)
            && is_selected(view, channel, &interval)
        {
            let row = interval.row(&channel.name);
            if listing.keeps(&row, RowSource::on(Some(channel))) {
                listing.row(&row, channel.capture, |out| out(render::interval(channel, &interval)));
            }
        }
        if listing.accepts_more() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let file = &view.file;
    let analysis = analyze(
        file,
        AnalysisScope::Intervals,
        LinkAssumptions::default(),
        &mut report,
        &mut told,
    )?;
    if listing.accepts_more() {
        check_channel_exists(view, &analysis, &mut report);
    }
    listing.finish();
    Ok(report)
}

/// Whether an interval is of the channel, and any of its characters in the window.
fn is_selected(view: &ViewArgs, channel: &Channel, interval: &ActivityInterval) -> bool {
    let (from, to) = view.window().on(channel);
    let named = view.channel.as_ref().is_none_or(|name| *name == channel.name);
    named && interval.start < to && from < interval.end
}

/// Tells what every channel did, added up.
fn sum(
    view: &ViewArgs,
    mut choice: RowSelection,
    assumptions: LinkAssumptions,
    output: &mut StandardOutput,
) -> Result<RunReport, CliError> {
    let mut report = RunReport::of(&view.file);
    let mut told = |_: &CaptureAnalysis<CliCapture>, _| ControlFlow::Continue(());
    let analysis = analyze(&view.file, AnalysisScope::Counts, assumptions, &mut report, &mut told)?;
    check_channel_exists(view, &analysis, &mut report);
    let mut left = view.limit.unwrap_or(u64::MAX);
    let mut keeps = |found: &ChannelReport<'_>| {
        view.channel.as_ref().is_none_or(|name| *name == found.channel.name)
            && choice.keeps(&found.row(), RowSource::on(Some(found.channel)))
            && left.checked_sub(1).map(|fewer| left = fewer).is_some()
    };
    let links: Vec<Vec<ChannelReport<'_>>> = analysis
        .links()
        .map(|link| LinkAnalysis::reports(link).filter(&mut keeps).collect())
        .filter(|link: &Vec<_>| !link.is_empty())
        .collect();
    if view.format == OutputFormat::Text && choice.columns().is_none() {
        print_unread(&analysis, output);
        if !links.is_empty() || report.is_clean() {
            render::links(&links, &mut |line| output.line(&line));
        }
        return Ok(report);
    }
    let mut listing = RowWriter::new(view, choice, RowKind::Links.name(), output);
    listing.head(|_| {});
    for found in links.iter().flatten() {
        listing.row(&found.row(), found.channel.capture, |_| {});
    }
    listing.finish();
    Ok(report)
}
