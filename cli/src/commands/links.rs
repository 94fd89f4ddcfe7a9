//! `myriscope links`: states of links as totals or intervals, and fill levels of slack buffers.

use std::borrow::Cow;

use analyzer::damage_table::DamageTable;
use analyzer::filter::RowKind;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::link::report::ChannelReport;
use analyzer::link::slack::SlackTracker;
use analyzer::link_analysis::LinkAnalysis;
use analyzer::pipeline::AnalysisEvent;
use analyzer::render;
use codec::capture::Channel;

use crate::analyze::{CliAnalysis, analyze_all, check_channel_exists, list, print_unread, sum_up};
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
        if !timed && (view.part.from.is_some() || view.part.to.is_some()) {
            let error = "--from and --to require --intervals, --fill or --damage";
            return Err(CliError::reading(writer.file, &error));
        }
        if matches!(kind, RowKind::Intervals | RowKind::Fills) {
            list(view, assumptions, writer)
        } else if kind == RowKind::Buffers {
            list_buffers(view, assumptions, writer)
        } else if kind == RowKind::Damage {
            list_damage(view, assumptions, writer)
        } else {
            list_totals(arguments, writer)
        }
    })
}

/// Lists the bits flipped between two captured channels, by wire.
fn list_damage(
    view: &ViewArgs,
    assumptions: LinkAssumptions,
    writer: &mut RowWriter<'_>,
) -> CommandResult {
    let mut table = DamageTable::default();
    let add = &mut |analysis: &CliAnalysis, _: &Channel, event, _: &mut RowWriter<'_>| {
        let AnalysisEvent::Journey(journey) = event else { return };
        table.add(&journey, |id| {
            let hop = journey.hops.iter().find(|hop| hop.channel == id).zip(analysis.channel(id));
            hop.is_some_and(|(hop, it)| view.part.has(it, [hop.start, hop.end]))
        });
    };
    let (analysis, report) = sum_up(view, assumptions, writer, add)?;
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
    let analysis = analyze_all(writer.input(), RowKind::Buffers.scope(), assumptions, &mut report)?;
    check_channel_exists((&view.part, view.unit()), &analysis, &mut report);
    let slacks = analysis.links().flat_map(LinkAnalysis::slack);
    let slacks: Vec<Cow<'_, SlackTracker>> = slacks
        .filter(|slack| {
            view.part.channels().selects(slack.channel())
                && writer.admits(&slack.summary(), RowSource::on(slack.channel()))
        })
        .collect();
    if let Some(output) = writer.report() {
        print_unread(&analysis, view.unit(), output);
        render::slack(slacks.into_iter(), &mut |line| output.fitted(line));
        return Ok(report);
    }
    for slack in slacks {
        writer.row(&slack.summary(), RowSource::on(slack.channel()), |_| {});
    }
    Ok(report)
}

fn list_totals(arguments: &LinksArgs, writer: &mut RowWriter<'_>) -> CommandResult {
    let (view, assumptions) = (&arguments.view, arguments.assume.unwrap_or_default());
    let mut report = writer.run_report();
    let analysis = analyze_all(writer.input(), RowKind::Links.scope(), assumptions, &mut report)?;
    check_channel_exists((&view.part, view.unit()), &analysis, &mut report);
    let is_long = analysis.links().count() > LINKS_MAX;
    if is_long && view.part.channel.is_empty() && view.part.capture.is_none() && !arguments.details
    {
        writer.list_instead();
    }
    let mut keeps = |found: &ChannelReport<'_>| {
        view.part.channels().selects(found.channel)
            && writer.admits(&found.row(), RowSource::on(found.channel))
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
        writer.row(&found.row(), RowSource::on(found.channel), |_| {});
    }
    Ok(report)
}
