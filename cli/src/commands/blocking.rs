//! `myriscope blocking`: waits of senders, their causes, and deadlocks.

use analyzer::blocking::trees::WaitTrees;
use analyzer::filter::RowKind;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::pipeline::AnalysisEvent;
use analyzer::render;
use codec::capture::Channel;

use crate::analyze::{CliAnalysis, list, print_unread, sum_up};
use crate::args::BlockingArgs;
use crate::exit::CommandResult;
use crate::output::StandardOutput;
use crate::rows::{RowSource, RowWriter, list_rows};

/// Default of --limit for trees and deadlocks. *Chosen*: a page.
const TREES: usize = 10;

pub(crate) fn run(arguments: &BlockingArgs, output: &mut StandardOutput) -> CommandResult {
    list_rows(&arguments.view, RowKind::Waits, output, |writer| list_waits(arguments, writer))
}

fn list_waits(arguments: &BlockingArgs, writer: &mut RowWriter<'_>) -> CommandResult {
    let mut view = arguments.view.clone();
    view.part.wait_min = arguments.min;
    if !writer.is_report() {
        return list(&view, LinkAssumptions::default(), writer);
    }
    let mut trees = WaitTrees::default();
    let add =
        &mut |analysis: &CliAnalysis, channel: &Channel, event, writer: &mut RowWriter<'_>| {
            if let AnalysisEvent::Blocked(wait) = event
                && writer.keeps(&wait.row(&|id| analysis.channel(id)), RowSource::on(channel))
            {
                trees.add(wait);
            }
        };
    let (analysis, report) = sum_up(&view, LinkAssumptions::default(), writer, add)?;
    let is_whole = writer.selection().filter().is_none() && view.part.channels().text().is_none();
    if let Some(output) = writer.report() {
        let max = view.limit.map_or(TREES, |limit| usize::try_from(limit).unwrap_or(TREES));
        print_unread(&analysis, view.unit(), output);
        let known = |id| analysis.channel(id);
        let layout = view.layout(output);
        if is_whole {
            let findings = analysis.findings();
            let held_up = render::held_up(findings.set(), &known);
            held_up.iter().for_each(|line| output.line(line));
        }
        render::blocking(&trees, (max, layout), &known, &mut |line| output.fitted(line));
    }
    Ok(report)
}
