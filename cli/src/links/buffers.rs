//! `myriscope links --slack` and `--fill`: how full the slack buffers at the ends of channels were.

use std::ops::ControlFlow;

use analyzer::analysis::{Analysis, Told, Wanted};
use analyzer::filter::RowKind;
use analyzer::link::Link;
use analyzer::link::slack::{Assumptions, Slack, SlackSaid};
use analyzer::text;

use crate::analysing::{analyse, look_for_channel, tell_unread};
use crate::args::{Format, View};
use crate::files::Capture;
use crate::listing::{Choice, Listing, Origin};
use crate::output::Output;
use crate::report::{Failure, Report};

/// Lists bounds of fills.
pub(super) fn list(
    view: &View,
    choice: Choice,
    assumptions: Assumptions,
    output: &mut Output,
) -> Result<Report, Failure> {
    let mut report = Report::of(&view.file);
    let mut listing = Listing::new(view, choice, RowKind::Fills.name(), output);
    listing.head(|out| out(text::fill_head()));
    let mut told = |analysis: &Analysis<Capture>, told: Told| {
        if let Told::Slack(SlackSaid::Fill(fill)) = told
            && let Some(channel) = analysis.channel(fill.channel)
        {
            let (from, to) = view.window().on(channel);
            let named = view.channel.as_ref().is_none_or(|name| *name == channel.name);
            let row = fill.row(&channel.name);
            let wanted = named && fill.start < to && from < fill.end;
            if wanted && listing.keeps(&row, Origin::on(Some(channel))) {
                listing.row(&row, channel.capture, |out| out(text::fill(channel, &fill)));
            }
        }
        if listing.wants_more() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let analysis = analyse(&view.file, Wanted::Fills, assumptions, &mut report, &mut told)?;
    if listing.wants_more() {
        look_for_channel(view, &analysis, &mut report);
    }
    listing.finish();
    Ok(report)
}

/// Tells of every buffer.
pub(super) fn sum(
    view: &View,
    mut choice: Choice,
    assumptions: Assumptions,
    output: &mut Output,
) -> Result<Report, Failure> {
    let mut report = Report::of(&view.file);
    let mut told = |_: &Analysis<Capture>, _| ControlFlow::Continue(());
    let analysis = analyse(&view.file, Wanted::Findings, assumptions, &mut report, &mut told)?;
    look_for_channel(view, &analysis, &mut report);
    let mut left = view.limit.unwrap_or(u64::MAX);
    let slacks = analysis.links().flat_map(Link::slack);
    let slacks: Vec<&Slack> = slacks
        .filter(|slack| {
            view.channel.as_ref().is_none_or(|name| *name == slack.channel().name)
                && choice.keeps(&slack.summary(), Origin::on(Some(slack.channel())))
                && left.checked_sub(1).map(|fewer| left = fewer).is_some()
        })
        .collect();
    if view.format == Format::Text && choice.columns().is_none() {
        tell_unread(&analysis, output);
        text::slack(slacks.into_iter(), &mut |line| output.line(&line));
        return Ok(report);
    }
    let mut listing = Listing::new(view, choice, RowKind::Buffers.name(), output);
    listing.head(|_| {});
    for slack in slacks {
        listing.row(&slack.summary(), slack.channel().capture, |_| {});
    }
    listing.finish();
    Ok(report)
}
