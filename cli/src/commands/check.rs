//! `myriscope check`: findings, and the verdict on each rule.

mod each;

use analyzer::filter::{Filter, RowKind};
use analyzer::finding::FindingSet;
use analyzer::finding_row::{FindingRow, finding_rows};
use analyzer::render::check::{self as text, CheckScope, RuleTable};
use analyzer::render::{StyledLine, TextStyle};
use analyzer::rules::verdicts;
use codec::capture::{Channel, ChannelId, ReadExtent};
use codec::time::Tick;
use serde_json::json;

use crate::analyze::{analyze_all, check_channel_exists, warn_of_import};
use crate::args::{CapturePart, CheckArgs};
use crate::exit::{CommandResult, FoundProblem};
use crate::output::StandardOutput;
use crate::rows::{RowSource, RowWriter, list_rows};

pub(crate) fn run(arguments: &CheckArgs, output: &mut StandardOutput) -> CommandResult {
    if arguments.each {
        return each::run(arguments, output);
    }
    list_rows(&arguments.view, RowKind::Findings, output, |writer| check(arguments, writer))
}

fn check(arguments: &CheckArgs, writer: &mut RowWriter<'_>) -> CommandResult {
    let view = &arguments.view;
    let (mut report, capture) = (writer.run_report(), writer.argument());
    let assumptions = arguments.assume.unwrap_or_default();
    let analysis =
        analyze_all(writer.input(), RowKind::Findings.scope(), assumptions, &mut report)?;
    let is_channel_known = check_channel_exists((&view.part, view.unit()), &analysis, &mut report);
    warn_of_import(analysis.channels().map(|(_, channel)| channel), &mut report);
    let extent = analysis.extent();
    let (findings, channels) = analysis.into_findings();
    let set = findings.set();
    let known = |id| channels.get(&id).map(|channel| &**channel);
    // Made anew rather than kept: there may be one for each of many channels.
    let rows = || finding_rows(set, &known, capture);
    let is_kept = |channel: &Channel, row: &FindingRow<'_>, writer: &mut RowWriter<'_>| {
        view.part.has(channel, [Tick(row.at), Tick(row.last_at)])
            && writer.keeps(row, RowSource::on(channel))
    };
    let unread = text::unread(&extent, view.unit(), &known);
    let selection = selection_text(&view.part, writer.selection().filter());
    let scope = CheckScope::of(
        unread,
        selection,
        set.seen().characters,
        rows().map(|(kind, _, channel, row)| (is_kept(channel, &row, writer), kind, row.severity)),
    );
    if scope.is_wrong() {
        report.found = FoundProblem::Something;
    } else if scope.is_beyond_sight {
        report.found = FoundProblem::Unknown;
    }
    if !writer.is_report() {
        for (_, _, channel, row) in rows() {
            if is_kept(channel, &row, writer) {
                writer.row(&row, RowSource::on(channel), |_| {});
            }
        }
        print_verdicts(set, extent, &scope, writer);
    } else if is_channel_known {
        let max = view.limit.map_or(usize::MAX, |max| usize::try_from(max).unwrap_or(usize::MAX));
        let rows = rows().filter(|(_, _, channel, row)| is_kept(channel, row, writer));
        let rows = rows.map(|(_, _, channel, row)| (channel.capture, row)).take(max);
        let rows: Vec<(u32, FindingRow<'_>)> = rows.collect();
        let name = writer.file_name();
        let Some(output) = writer.report_output() else { return Ok(report) };
        match name {
            None => print_report(set, &rows, (&scope, arguments, &known), output),
            Some(name) => {
                // A line for each file.
                let mut all = StyledLine::of(TextStyle::Head, format!("{name}: "));
                let mut mark = "";
                text::headline(set, &scope, &known, &mut |line| {
                    let before = std::mem::take(&mut all).and(TextStyle::Plain, mark);
                    (all, mark) = (before.followed_by(line), "   ");
                });
                output.line(&all);
            }
        }
    }
    Ok(report)
}

/// Description of the selection, unless it is everything.
pub(super) fn selection_text(part: &CapturePart, filter: Option<&Filter>) -> Option<String> {
    let is_narrowed = part.from.is_some() || part.to.is_some() || filter.is_some();
    match part.channels().text() {
        Some(channel) if is_narrowed => Some(format!("in the selection on {channel}")),
        Some(channel) => Some(format!("on {channel}")),
        None => is_narrowed.then(|| "in the selection".to_owned()),
    }
}

fn print_report<'a>(
    set: &FindingSet,
    rows: &[(u32, FindingRow<'_>)],
    (scope, arguments, known): (&CheckScope, &CheckArgs, &dyn Fn(ChannelId) -> Option<&'a Channel>),
    output: &mut StandardOutput,
) {
    let width = output.width();
    let out = &mut |line: StyledLine| output.fitted(line);
    text::headline(set, scope, known, out);
    text::findings(rows, (width, arguments.view.unit()), out);
    if scope.unread.is_none() || set.seen().characters > 0 {
        let table = if arguments.rules { RuleTable::Whole } else { RuleTable::Brief };
        text::verdicts(&verdicts(set), scope, table, width, out);
    }
}

/// Prints the verdicts and how much was read, behind the findings.
fn print_verdicts(
    set: &FindingSet,
    extent: ReadExtent,
    scope: &CheckScope,
    writer: &mut RowWriter<'_>,
) {
    let ReadExtent { stopped_at, left_out, faults, .. } = extent;
    let whole = extent.is_whole();
    let rows: Vec<_> = verdicts(set).iter().map(|verdict| verdict.row(&extent)).collect();
    writer.trailer().other_rows("verdicts", &rows);
    writer.trailer().member(
        "read",
        &json!({ "whole": whole, "stopped_at": stopped_at, "left_out": left_out,
            "faults": faults, "reason": scope.unread }),
    );
}
