//! `myriscope links`: states of links as totals or intervals, and fill levels of slack buffers.

use std::borrow::Cow;

use std::ops::ControlFlow;

use analyzer::damage_table::DamageTable;
use analyzer::filter::RowKind;
use analyzer::link::LinkAnalysis;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::link::report::ChannelReport;
use analyzer::link::slack::{SlackEvent, SlackTracker};
use analyzer::options::AnalysisScope;
use analyzer::pipeline::AnalysisEvent;
use analyzer::render;
use codec::time::Tick;

use crate::analyze::{analyze, analyze_all, check_channel_exists, is_selected, list, print_unread};
use crate::args::{LinksArgs, ViewArgs};
use crate::exit::{CliError, CommandResult};
use crate::output::StandardOutput;
use crate::rows::{RowSource, RowWriter, list_rows};

/// Maximum number of links that are reported in detail unless channels or details are asked for.
/// *Chosen*: a few pages.
const LINKS_MAX: usize = 8;

pub(crate) fn run(arguments: &LinksArgs, output: &mut StandardOutput) -> CommandResult {
    let LinksArgs { view, assume, .. } = arguments;
    let kind = arguments.kind();
    let assumptions = assume.unwrap_or_default();
    list_rows(view, kind, output, |writer| {
        let timed = matches!(kind, RowKind::Intervals | RowKind::Fills | RowKind::Damage);
        if !timed && (view.from.is_some() || view.to.is_some()) {
            let error = "--from and --to require --intervals, --fill or --damage";
            return Err(CliError::reading(writer.file(), &error));
        }
        if kind == RowKind::Intervals {
            list_intervals(view, writer)
        } else if kind == RowKind::Fills {
            list_fills(view, assumptions, writer)
        } else if kind == RowKind::Buffers {
            list_buffers(view, assumptions, writer)
        } else if kind == RowKind::Damage {
            list_damage(view, assumptions, writer)
        } else {
            list_totals(arguments, writer)
        }
    })
}

fn list_intervals(view: &ViewArgs, writer: &mut RowWriter<'_>) -> CommandResult {
    let assumptions = LinkAssumptions::default();
    list(view, AnalysisScope::Intervals, assumptions, writer, &mut |analysis, event, writer| {
        if let AnalysisEvent::Interval(it) = event
            && let Some(channel) = analysis.channel(it.channel)
            && is_selected(view, channel, it.start, Tick(it.end.0.saturating_sub(1)))
        {
            writer.select(&it.row(&channel.name), RowSource::on(Some(channel)), |_| {});
        }
    })
}

fn list_fills(
    view: &ViewArgs,
    assumptions: LinkAssumptions,
    writer: &mut RowWriter<'_>,
) -> CommandResult {
    list(view, AnalysisScope::Fills, assumptions, writer, &mut |analysis, event, writer| {
        if let AnalysisEvent::Slack(SlackEvent::Fill(it)) = event
            && let Some(channel) = analysis.channel(it.channel)
            && is_selected(view, channel, it.start, Tick(it.end.0.saturating_sub(1)))
        {
            writer.select(&it.row(&channel.name), RowSource::on(Some(channel)), |_| {});
        }
    })
}

/// Lists the bits flipped between two captured channels, by wire.
fn list_damage(
    view: &ViewArgs,
    assumptions: LinkAssumptions,
    writer: &mut RowWriter<'_>,
) -> CommandResult {
    let (mut report, mut table) = (writer.run_report(), DamageTable::default());
    let scope = AnalysisScope::Network;
    let analysis =
        analyze(writer.input(), scope, assumptions, &mut report, &mut |analysis, event| {
            if let AnalysisEvent::Journey(journey) = event {
                table.add(&journey, |id| {
                    let hop = journey.hops.iter().find(|hop| hop.channel == id);
                    hop.zip(analysis.channel(id))
                        .is_some_and(|(hop, it)| is_selected(view, it, hop.start, hop.end))
                });
            }
            ControlFlow::Continue(())
        })?;
    check_channel_exists(view, &analysis, &mut report);
    for (channel, row) in table.rows(&|id| analysis.channel(id)) {
        writer.select(&row, RowSource::on(channel), |_| {});
    }
    Ok(report)
}

fn list_buffers(
    view: &ViewArgs,
    assumptions: LinkAssumptions,
    writer: &mut RowWriter<'_>,
) -> CommandResult {
    let mut report = writer.run_report();
    let analysis = analyze_all(writer.input(), AnalysisScope::Findings, assumptions, &mut report)?;
    check_channel_exists(view, &analysis, &mut report);
    let slacks = analysis.links().flat_map(LinkAnalysis::slack);
    let slacks: Vec<Cow<'_, SlackTracker>> = slacks
        .filter(|slack| {
            view.channels().selects(slack.channel())
                && writer.admits(&slack.summary(), RowSource::on(Some(slack.channel())))
        })
        .collect();
    if let Some(output) = writer.report() {
        print_unread(&analysis, view.unit(), output);
        render::slack(slacks.into_iter(), &mut |line| output.fitted(line));
        return Ok(report);
    }
    for slack in slacks {
        writer.row(&slack.summary(), RowSource::on(Some(slack.channel())), |_| {});
    }
    Ok(report)
}

fn list_totals(arguments: &LinksArgs, writer: &mut RowWriter<'_>) -> CommandResult {
    let (view, assumptions) = (&arguments.view, arguments.assume.unwrap_or_default());
    let mut report = writer.run_report();
    let analysis = analyze_all(writer.input(), AnalysisScope::Counts, assumptions, &mut report)?;
    check_channel_exists(view, &analysis, &mut report);
    let is_long = analysis.links().count() > LINKS_MAX;
    if is_long && view.channel.is_empty() && view.capture.is_none() && !arguments.details {
        writer.list_instead();
    }
    let mut keeps = |found: &ChannelReport<'_>| {
        view.channels().selects(found.channel)
            && writer.admits(&found.row(), RowSource::on(Some(found.channel)))
    };
    let links: Vec<Vec<ChannelReport<'_>>> = analysis
        .links()
        .map(|link| LinkAnalysis::reports(link).filter(&mut keeps).collect())
        .filter(|link: &Vec<_>| !link.is_empty())
        .collect();
    if let Some(output) = writer.report() {
        print_unread(&analysis, view.unit(), output);
        if !links.is_empty() || report.is_clean() {
            render::links(&links, view.unit(), &mut |line| output.fitted(line));
        }
        return Ok(report);
    }
    for found in links.iter().flatten() {
        writer.row(&found.row(), RowSource::on(Some(found.channel)), |_| {});
    }
    Ok(report)
}
