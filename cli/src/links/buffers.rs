//! `myriscope links --slack` and `--fill`: how full the slack buffers at the ends of channels were.

use analyzer::link::parameters::LinkAssumptions;
use analyzer::options::AnalysisScope;
use std::ops::ControlFlow;

use analyzer::filter::RowKind;
use analyzer::link::LinkAnalysis;
use analyzer::link::slack::{SlackEvent, SlackTracker};
use analyzer::pipeline::{AnalysisEvent, CaptureAnalysis};
use analyzer::render;

use crate::analyze::{analyze, check_channel_exists, print_unread};
use crate::args::{OutputFormat, ViewArgs};
use crate::exit::{CliError, RunReport};
use crate::input::CliCapture;
use crate::listing::{RowSelection, RowSource, RowWriter};
use crate::output::StandardOutput;

/// Lists bounds of fills.
pub(super) fn list(
    view: &ViewArgs,
    choice: RowSelection,
    assumptions: LinkAssumptions,
    output: &mut StandardOutput,
) -> Result<RunReport, CliError> {
    let mut report = RunReport::of(&view.file);
    let mut listing = RowWriter::new(view, choice, RowKind::Fills.name(), output);
    listing.head(|out| out(render::fill_head()));
    let mut told = |analysis: &CaptureAnalysis<CliCapture>, told: AnalysisEvent| {
        if let AnalysisEvent::Slack(SlackEvent::Fill(fill)) = told
            && let Some(channel) = analysis.channel(fill.channel)
        {
            let (from, to) = view.window().on(channel);
            let named = view.channel.as_ref().is_none_or(|name| *name == channel.name);
            let row = fill.row(&channel.name);
            let wanted = named && fill.start < to && from < fill.end;
            if wanted && listing.keeps(&row, RowSource::on(Some(channel))) {
                listing.row(&row, channel.capture, |out| out(render::fill(channel, &fill)));
            }
        }
        if listing.accepts_more() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let analysis = analyze(&view.file, AnalysisScope::Fills, assumptions, &mut report, &mut told)?;
    if listing.accepts_more() {
        check_channel_exists(view, &analysis, &mut report);
    }
    listing.finish();
    Ok(report)
}

/// Tells of every buffer.
pub(super) fn sum(
    view: &ViewArgs,
    mut choice: RowSelection,
    assumptions: LinkAssumptions,
    output: &mut StandardOutput,
) -> Result<RunReport, CliError> {
    let mut report = RunReport::of(&view.file);
    let mut told = |_: &CaptureAnalysis<CliCapture>, _| ControlFlow::Continue(());
    let analysis =
        analyze(&view.file, AnalysisScope::Findings, assumptions, &mut report, &mut told)?;
    check_channel_exists(view, &analysis, &mut report);
    let mut left = view.limit.unwrap_or(u64::MAX);
    let slacks = analysis.links().flat_map(LinkAnalysis::slack);
    let slacks: Vec<&SlackTracker> = slacks
        .filter(|slack| {
            view.channel.as_ref().is_none_or(|name| *name == slack.channel().name)
                && choice.keeps(&slack.summary(), RowSource::on(Some(slack.channel())))
                && left.checked_sub(1).map(|fewer| left = fewer).is_some()
        })
        .collect();
    if view.format == OutputFormat::Text && choice.columns().is_none() {
        print_unread(&analysis, output);
        render::slack(slacks.into_iter(), &mut |line| output.line(&line));
        return Ok(report);
    }
    let mut listing = RowWriter::new(view, choice, RowKind::Buffers.name(), output);
    listing.head(|_| {});
    for slack in slacks {
        listing.row(&slack.summary(), slack.channel().capture, |_| {});
    }
    listing.finish();
    Ok(report)
}
