//! `myriscope links`: what every link was doing, added up or as intervals.

mod buffers;

use std::ops::ControlFlow;

use analyzer::analysis::{Analysis, Told, Wanted};
use analyzer::filter::RowKind;
use analyzer::link::Link;
use analyzer::link::report::ChannelReport;
use analyzer::link::slack::Assumptions;
use analyzer::link::state::Interval;
use analyzer::text;
use codec::capture::Channel;

use crate::analysing::{analyse, look_for_channel, tell_unread};
use crate::args::{Format, Links, View};
use crate::files::Capture;
use crate::listing::{Choice, Listing, Origin};
use crate::output::Output;
use crate::report::{Failure, Report};

pub(crate) fn run(arguments: &Links, output: &mut Output) -> Result<Report, Failure> {
    let Links { view, .. } = arguments;
    let kind = arguments.kind();
    let Some(choice) = Choice::of(view, kind, output)? else { return Ok(Report::default()) };
    let timed = matches!(kind, RowKind::Intervals | RowKind::Fills);
    if !timed && (view.from.is_some() || view.to.is_some()) {
        let what = "--from and --to choose among intervals and fills: add --intervals or --fill";
        return Err(Failure::reading(&view.file, &what));
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
fn list(view: &View, choice: Choice, output: &mut Output) -> Result<Report, Failure> {
    let mut report = Report::of(&view.file);
    let mut listing = Listing::new(view, choice, RowKind::Intervals.name(), output);
    listing.head(|out| out(text::interval_head()));
    let mut told = |analysis: &Analysis<Capture>, told: Told| {
        if let Told::Interval(interval) = told
            && let Some(channel) = analysis.channel(interval.channel)
            && is_asked_for(view, channel, &interval)
        {
            let row = interval.row(&channel.name);
            if listing.keeps(&row, Origin::on(Some(channel))) {
                listing.row(&row, channel.capture, |out| out(text::interval(channel, &interval)));
            }
        }
        if listing.wants_more() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let file = &view.file;
    let analysis =
        analyse(file, Wanted::Intervals, Assumptions::default(), &mut report, &mut told)?;
    if listing.wants_more() {
        look_for_channel(view, &analysis, &mut report);
    }
    listing.finish();
    Ok(report)
}

/// Whether an interval is of the channel, and any of its characters in the window.
fn is_asked_for(view: &View, channel: &Channel, interval: &Interval) -> bool {
    let (from, to) = view.window().on(channel);
    let named = view.channel.as_ref().is_none_or(|name| *name == channel.name);
    named && interval.start < to && from < interval.end
}

/// Tells what every channel did, added up.
fn sum(
    view: &View,
    mut choice: Choice,
    assumptions: Assumptions,
    output: &mut Output,
) -> Result<Report, Failure> {
    let mut report = Report::of(&view.file);
    let mut told = |_: &Analysis<Capture>, _| ControlFlow::Continue(());
    let analysis = analyse(&view.file, Wanted::Counts, assumptions, &mut report, &mut told)?;
    look_for_channel(view, &analysis, &mut report);
    let mut left = view.limit.unwrap_or(u64::MAX);
    let mut keeps = |found: &ChannelReport<'_>| {
        view.channel.as_ref().is_none_or(|name| *name == found.channel.name)
            && choice.keeps(&found.row(), Origin::on(Some(found.channel)))
            && left.checked_sub(1).map(|fewer| left = fewer).is_some()
    };
    let links: Vec<Vec<ChannelReport<'_>>> = analysis
        .links()
        .map(|link| Link::reports(link).filter(&mut keeps).collect())
        .filter(|link: &Vec<_>| !link.is_empty())
        .collect();
    if view.format == Format::Text && choice.columns().is_none() {
        tell_unread(&analysis, output);
        if !links.is_empty() || report.is_clean() {
            text::links(&links, &mut |line| output.line(&line));
        }
        return Ok(report);
    }
    let mut listing = Listing::new(view, choice, RowKind::Links.name(), output);
    listing.head(|_| {});
    for found in links.iter().flatten() {
        listing.row(&found.row(), found.channel.capture, |_| {});
    }
    listing.finish();
    Ok(report)
}
