//! `myriscope check`: findings, and the verdict on each rule.

use analyzer::captured::CapturedRow;
use analyzer::filter::RowKind;
use analyzer::finding::FindingSet;
use analyzer::finding_row::{FindingRow, ranked};
use analyzer::options::AnalysisScope;
use analyzer::render::check::{self as text, CheckScope, RuleTable};
use analyzer::rules::{VerdictRow, verdicts};
use codec::capture::{Channel, ReadExtent};
use codec::time::Tick;
use serde::Serialize;
use serde_json::{Value, json};

use crate::analyze::{analyze_all, check_channel_exists, is_selected};
use crate::args::{CheckArgs, OutputFormat, ViewArgs};
use crate::exit::{CommandResult, RunReport};
use crate::output::StandardOutput;
use crate::rows::{RowSelection, RowSource, RowWriter};

#[derive(Serialize)]
struct CheckOutput<'a> {
    findings: Vec<CapturedRow<'a, FindingRow<'a>>>,
    verdicts: Vec<JudgedVerdict>,
    read: Value,
}

/// A verdict, and whether it is based on all of the file.
#[derive(Serialize)]
struct JudgedVerdict {
    #[serde(flatten)]
    verdict: VerdictRow,
    judged_on: &'static str,
}

pub(crate) fn run(arguments: &CheckArgs, output: &mut StandardOutput) -> CommandResult {
    let view = &arguments.view;
    let Some(mut selection) = RowSelection::of(view, RowKind::Findings, output)? else {
        return Ok(RunReport::default());
    };
    let mut report = RunReport::of(&view.file);
    let assumptions = arguments.assume.unwrap_or_default();
    let analysis = analyze_all(view.input(), AnalysisScope::Findings, assumptions, &mut report)?;
    let findings = analysis.findings();
    let set = findings.ledger();
    let known = |id| analysis.channel(id);
    let name = |id| known(id).map_or("", |channel| channel.name.as_str());
    let ranked = ranked(set);
    let rows = ranked.iter().filter_map(|(kind, id, found)| {
        let (channel, row) = (known(*id)?, found.row(*kind, *id, &name));
        let command = kind.about().view.command(&view.file, channel, found.first.at);
        Some((channel, FindingRow { see: Some(command), ..row }))
    });
    let (mut rows, others): (Vec<_>, Vec<_>) = rows.partition(|(channel, row)| {
        is_selected(view, channel, Tick(row.at), Tick(row.last_at))
            && selection.keeps(row, RowSource::on(Some(channel)))
    });
    let severities =
        |rows: &[(&Channel, FindingRow<'_>)]| rows.iter().map(|(_, row)| row.severity).collect();
    let scope = CheckScope {
        unread: text::unread(&analysis.extent(), &known),
        selection: selection_text(view, &selection),
        selected: severities(&rows),
        elsewhere: severities(&others),
    };
    if scope.is_wrong() {
        report.problem_found();
    }
    // The limit applies to the printed rows only.
    rows.truncate(
        view.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX)),
    );
    let rows: Vec<(u32, FindingRow<'_>)> =
        rows.into_iter().map(|(channel, row)| (channel.capture, row)).collect();
    let is_channel_known = check_channel_exists(view, &analysis, &mut report);
    if selection.columns().is_some() {
        let mut writer = RowWriter::new(view, selection, "findings", output);
        rows.iter().for_each(|(capture, row)| writer.row(row, *capture, |_| {}));
        writer.finish();
    } else if is_channel_known || view.format != OutputFormat::Text {
        print((set, analysis.extent()), &rows, (&scope, arguments), output);
    }
    Ok(report)
}

/// Description of the selection, unless it is everything.
fn selection_text(view: &ViewArgs, selection: &RowSelection) -> Option<String> {
    let is_narrowed = view.from.is_some() || view.to.is_some() || selection.is_filtered();
    match view.channels().text() {
        Some(channel) if is_narrowed => Some(format!("in the selection on {channel}")),
        Some(channel) => Some(format!("on {channel}")),
        None => is_narrowed.then(|| "in the selection".to_owned()),
    }
}

fn print(
    (set, extent): (&FindingSet, ReadExtent),
    rows: &[(u32, FindingRow<'_>)],
    (scope, arguments): (&CheckScope, &CheckArgs),
    output: &mut StandardOutput,
) {
    let verdicts = verdicts(set);
    let findings = rows.iter().map(|(capture, row)| CapturedRow { row, capture: *capture });
    let judged_on = if extent.is_whole() { "all" } else { "part" };
    let judged = verdicts.iter().map(|it| JudgedVerdict { verdict: it.row(), judged_on });
    match arguments.view.format {
        OutputFormat::Text => {
            let width = output.width();
            let out = &mut |line| output.line(&line);
            text::headline(set, scope, out);
            text::findings(rows, width, out);
            if scope.unread.is_none() || set.seen().characters > 0 {
                let table = if arguments.rules { RuleTable::Whole } else { RuleTable::Brief };
                text::verdicts(&verdicts, scope, table, width, out);
            }
        }
        OutputFormat::Json => {
            let ReadExtent { stopped_at, left_out, faults, .. } = extent;
            let (whole, reason) = (extent.is_whole(), &scope.unread);
            let read = json!({ "whole": whole, "stopped_at": stopped_at, "left_out": left_out,
                "faults": faults, "reason": reason });
            let (findings, verdicts) = (findings.collect(), judged.collect());
            output.json(&CheckOutput { findings, verdicts, read }, "\n");
        }
        OutputFormat::Jsonl => {
            findings.for_each(|row| output.json(&row, "\n"));
            judged.for_each(|row| output.json(&row, "\n"));
        }
    }
}
