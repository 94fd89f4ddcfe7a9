//! `myriscope check`: what is wrong with a capture, and how each rule stands.

use analyzer::options::AnalysisScope;
use std::ops::ControlFlow;

use analyzer::captured::CapturedRow;
use analyzer::filter::RowKind;
use analyzer::finding::{FindingRow, FindingSet, ranked};

use analyzer::render::check::{self as text, CheckScope};
use analyzer::rules::{VerdictRow, verdicts};
use codec::capture::{Channel, ReadExtent};
use serde::Serialize;
use serde_json::{Value, json};

use crate::analyze::{analyze, check_channel_exists};
use crate::args::{CheckArgs, OutputFormat, ViewArgs};
use crate::exit::{CliError, RunReport};
use crate::listing::{RowSelection, RowSource, RowWriter};
use crate::output::StandardOutput;

#[derive(Serialize)]
struct CheckOutput<'a> {
    findings: Vec<CapturedRow<'a, FindingRow<'a>>>,
    verdicts: Vec<JudgedVerdict>,
    read: Value,
}

/// A verdict, and how much of the file it is based on.
#[derive(Serialize)]
struct JudgedVerdict {
    #[serde(flatten)]
    verdict: VerdictRow,
    judged_on: &'static str,
}

pub(crate) fn run(
    arguments: &CheckArgs,
    output: &mut StandardOutput,
) -> Result<RunReport, CliError> {
    let view = &arguments.view;
    let Some(mut choice) = RowSelection::of(view, RowKind::Findings, output)? else {
        return Ok(RunReport::default());
    };
    let mut report = RunReport::of(&view.file);
    let told = &mut |_: &_, _| ControlFlow::Continue(());
    let assumptions = arguments.assume.unwrap_or_default();
    let analysis = analyze(&view.file, AnalysisScope::Findings, assumptions, &mut report, told)?;
    let findings = analysis.findings();
    let ledger = findings.ledger();
    let known = |id| analysis.channel(id);
    let name = |id| known(id).map_or("", |channel| channel.name.as_str());
    let ranked = ranked(ledger);
    let rows = ranked
        .iter()
        .filter_map(|(kind, id, found)| Some((known(*id)?, found.row(*kind, *id, &name))));
    let (mut rows, others): (Vec<_>, Vec<_>) = rows.partition(|(channel, row)| {
        is_selected(view, channel, row) && choice.keeps(row, RowSource::on(Some(channel)))
    });
    let severities =
        |rows: &[(&Channel, FindingRow<'_>)]| rows.iter().map(|(_, row)| row.severity).collect();
    let scope = CheckScope {
        unread: text::unread(&analysis.extent(), &known),
        selection: selection(view, &choice),
        selected: severities(&rows),
        elsewhere: severities(&others),
    };
    if scope.is_wrong() {
        report.problem_found();
    }
    // The limit is of what is printed: what is selected stays wrong.
    rows.truncate(
        view.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX)),
    );
    let rows: Vec<(u32, FindingRow<'_>)> =
        rows.into_iter().map(|(channel, row)| (channel.capture, row)).collect();
    let is_channel_known = check_channel_exists(view, &analysis, &mut report);
    if choice.columns().is_some() {
        let mut listing = RowWriter::new(view, choice, "findings", output);
        listing.head(|_| {});
        rows.iter().for_each(|(capture, row)| listing.row(row, *capture, |_| {}));
        listing.finish();
    } else if is_channel_known || view.format != OutputFormat::Text {
        print((ledger, analysis.extent()), &rows, (&scope, view.format), output);
    }
    Ok(report)
}

/// Name of what was asked for, unless it is everything.
fn selection(view: &ViewArgs, choice: &RowSelection) -> Option<String> {
    let is_narrowed = view.from.is_some() || view.to.is_some() || choice.is_filtered();
    match &view.channel {
        Some(channel) if is_narrowed => Some(format!("in what was selected on {channel}")),
        Some(channel) => Some(format!("on {channel}")),
        None => is_narrowed.then(|| "in what was selected".to_owned()),
    }
}

/// Whether a finding is of the channel, and any of its kind may be in the window.
fn is_selected(view: &ViewArgs, channel: &Channel, row: &FindingRow<'_>) -> bool {
    let (from, to) = view.window().on(channel);
    let named = view.channel.as_ref().is_none_or(|name| *name == channel.name);
    named && row.at < to.0 && from.0 <= row.last_at
}

fn print(
    (ledger, extent): (&FindingSet, ReadExtent),
    rows: &[(u32, FindingRow<'_>)],
    (scope, format): (&CheckScope, OutputFormat),
    output: &mut StandardOutput,
) {
    let verdicts = verdicts(ledger);
    let findings = rows.iter().map(|(capture, row)| CapturedRow { row, capture: *capture });
    let judged_on = if extent.is_whole() { "all" } else { "part" };
    let judged = verdicts.iter().map(|it| JudgedVerdict { verdict: it.row(), judged_on });
    match format {
        OutputFormat::Text => {
            let out = &mut |line| output.line(&line);
            text::headline(ledger, scope, out);
            text::findings(rows, out);
            if scope.unread.is_none() || ledger.seen().characters > 0 {
                text::verdicts(&verdicts, scope, out);
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
