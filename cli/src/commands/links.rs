//! `myriscope links`: states of links as totals or intervals, and fill levels of slack buffers.

use analyzer::filter::RowKind;
use analyzer::link::LinkAnalysis;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::link::report::ChannelReport;
use analyzer::link::slack::{SlackEvent, SlackTracker};
use analyzer::options::AnalysisScope;
use analyzer::pipeline::AnalysisEvent;
use analyzer::render;
use codec::time::Tick;

use crate::analyze::{
    analyze_all, check_channel_exists, is_selected, list, print_unread, row_limit,
};
use crate::args::{LinksArgs, OutputFormat, ViewArgs};
use crate::exit::{CliError, CommandResult, RunReport};
use crate::output::StandardOutput;
use crate::rows::{RowSelection, RowSource, RowWriter};

pub(crate) fn run(arguments: &LinksArgs, output: &mut StandardOutput) -> CommandResult {
    let LinksArgs { view, assume, .. } = arguments;
    let kind = arguments.kind();
    let Some(selection) = RowSelection::of(view, kind, output)? else {
        return Ok(RunReport::default());
    };
    let timed = matches!(kind, RowKind::Intervals | RowKind::Fills);
    if !timed && (view.from.is_some() || view.to.is_some()) {
        let error = "--from and --to require --intervals or --fill";
        return Err(CliError::reading(&view.file, &error));
    }
    let assumptions = assume.unwrap_or_default();
    if kind == RowKind::Intervals {
        list_intervals(view, RowWriter::new(view, selection, kind.name(), output))
    } else if kind == RowKind::Fills {
        list_fills(view, assumptions, RowWriter::new(view, selection, kind.name(), output))
    } else if kind == RowKind::Buffers {
        print_buffers(view, selection, assumptions, output)
    } else {
        print_totals(view, selection, assumptions, output)
    }
}

fn list_intervals(view: &ViewArgs, mut writer: RowWriter<'_>) -> CommandResult {
    writer.head(|out| out(render::interval_head()));
    let assumptions = LinkAssumptions::default();
    list(view, AnalysisScope::Intervals, assumptions, writer, &mut |analysis, event, writer| {
        if let AnalysisEvent::Interval(it) = event
            && let Some(channel) = analysis.channel(it.channel)
            && is_selected(view, channel, it.start, Tick(it.end.0.saturating_sub(1)))
        {
            let lines =
                |out: &mut dyn FnMut(render::StyledLine)| out(render::interval(channel, &it));
            writer.select(&it.row(&channel.name), RowSource::on(Some(channel)), lines);
        }
    })
}

/// Lists bounds of fill levels.
fn list_fills(
    view: &ViewArgs,
    assumptions: LinkAssumptions,
    mut writer: RowWriter<'_>,
) -> CommandResult {
    writer.head(|out| out(render::fill_head()));
    list(view, AnalysisScope::Fills, assumptions, writer, &mut |analysis, event, writer| {
        if let AnalysisEvent::Slack(SlackEvent::Fill(it)) = event
            && let Some(channel) = analysis.channel(it.channel)
            && is_selected(view, channel, it.start, Tick(it.end.0.saturating_sub(1)))
        {
            let lines = |out: &mut dyn FnMut(render::StyledLine)| out(render::fill(channel, &it));
            writer.select(&it.row(&channel.name), RowSource::on(Some(channel)), lines);
        }
    })
}

/// Prints a summary of every slack buffer.
fn print_buffers(
    view: &ViewArgs,
    mut selection: RowSelection,
    assumptions: LinkAssumptions,
    output: &mut StandardOutput,
) -> CommandResult {
    let mut report = RunReport::of(&view.file);
    let analysis = analyze_all(view.input(), AnalysisScope::Findings, assumptions, &mut report)?;
    check_channel_exists(view, &analysis, &mut report);
    let mut has_room = row_limit(view);
    let slacks = analysis.links().flat_map(LinkAnalysis::slack);
    let slacks: Vec<&SlackTracker> = slacks
        .filter(|slack| {
            view.channels().selects(slack.channel())
                && selection.keeps(&slack.summary(), RowSource::on(Some(slack.channel())))
                && has_room()
        })
        .collect();
    if view.format == OutputFormat::Text && selection.columns().is_none() {
        print_unread(&analysis, output);
        render::slack(slacks.into_iter(), &mut |line| output.line(&line));
        return Ok(report);
    }
    let mut writer = RowWriter::new(view, selection, RowKind::Buffers.name(), output);
    for slack in slacks {
        writer.row(&slack.summary(), slack.channel().capture, |_| {});
    }
    writer.finish();
    Ok(report)
}

/// Prints the totals of every channel.
fn print_totals(
    view: &ViewArgs,
    mut selection: RowSelection,
    assumptions: LinkAssumptions,
    output: &mut StandardOutput,
) -> CommandResult {
    let mut report = RunReport::of(&view.file);
    let analysis = analyze_all(view.input(), AnalysisScope::Counts, assumptions, &mut report)?;
    check_channel_exists(view, &analysis, &mut report);
    let mut has_room = row_limit(view);
    let mut keeps = |found: &ChannelReport<'_>| {
        view.channels().selects(found.channel)
            && selection.keeps(&found.row(), RowSource::on(Some(found.channel)))
            && has_room()
    };
    let links: Vec<Vec<ChannelReport<'_>>> = analysis
        .links()
        .map(|link| LinkAnalysis::reports(link).filter(&mut keeps).collect())
        .filter(|link: &Vec<_>| !link.is_empty())
        .collect();
    if view.format == OutputFormat::Text && selection.columns().is_none() {
        print_unread(&analysis, output);
        if !links.is_empty() || report.is_clean() {
            render::links(&links, &mut |line| output.line(&line));
        }
        return Ok(report);
    }
    let mut writer = RowWriter::new(view, selection, RowKind::Links.name(), output);
    for found in links.iter().flatten() {
        writer.row(&found.row(), found.channel.capture, |_| {});
    }
    writer.finish();
    Ok(report)
}
