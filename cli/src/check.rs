//! `myriscope check`: what is wrong with a capture, and how each rule stands.

use std::ops::ControlFlow;

use analyzer::analysis::Wanted;
use analyzer::captured::CapturedRow;
use analyzer::filter::RowKind;
use analyzer::finding::{FindingRow, Ledger, ranked};
use analyzer::rules::{VerdictRow, verdicts};
use analyzer::text::check::{self as text, CheckScope};
use codec::capture::{Channel, ReadExtent};
use serde::Serialize;
use serde_json::{Value, json};

use crate::analysing::{analyse, look_for_channel};
use crate::args::{Check, Format, View};
use crate::listing::{Choice, Listing, Origin};
use crate::output::Output;
use crate::report::{Failure, Report};

#[derive(Serialize)]
struct Checked<'a> {
    findings: Vec<CapturedRow<'a, FindingRow<'a>>>,
    verdicts: Vec<JudgedRow>,
    read: Value,
}

/// A verdict, and how much of the file it is based on.
#[derive(Serialize)]
struct JudgedRow {
    #[serde(flatten)]
    verdict: VerdictRow,
    judged_on: &'static str,
}

pub(crate) fn run(arguments: &Check, output: &mut Output) -> Result<Report, Failure> {
    let view = &arguments.view;
    let Some(mut choice) = Choice::of(view, RowKind::Findings, output)? else {
        return Ok(Report::default());
    };
    let mut report = Report::of(&view.file);
    let told = &mut |_: &_, _| ControlFlow::Continue(());
    let assumptions = arguments.assume.unwrap_or_default();
    let analysis = analyse(&view.file, Wanted::Findings, assumptions, &mut report, told)?;
    let findings = analysis.findings();
    let ledger = findings.ledger();
    let known = |id| analysis.channel(id);
    let name = |id| known(id).map_or("", |channel| channel.name.as_str());
    let ranked = ranked(ledger);
    let rows = ranked
        .iter()
        .filter_map(|(kind, id, found)| Some((known(*id)?, found.row(*kind, *id, &name))));
    let (mut rows, others): (Vec<_>, Vec<_>) = rows.partition(|(channel, row)| {
        is_asked_for(view, channel, row) && choice.keeps(row, Origin::on(Some(channel)))
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
        report.found_wrong();
    }
    // The limit is of what is printed: what is selected stays wrong.
    rows.truncate(
        view.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX)),
    );
    let rows: Vec<(u32, FindingRow<'_>)> =
        rows.into_iter().map(|(channel, row)| (channel.capture, row)).collect();
    let is_channel_known = look_for_channel(view, &analysis, &mut report);
    if choice.columns().is_some() {
        let mut listing = Listing::new(view, choice, "findings", output);
        listing.head(|_| {});
        rows.iter().for_each(|(capture, row)| listing.row(row, *capture, |_| {}));
        listing.finish();
    } else if is_channel_known || view.format != Format::Text {
        print((ledger, analysis.extent()), &rows, (&scope, view.format), output);
    }
    Ok(report)
}

/// Name of what was asked for, unless it is everything.
fn selection(view: &View, choice: &Choice) -> Option<String> {
    let is_narrowed = view.from.is_some() || view.to.is_some() || choice.is_filtered();
    match &view.channel {
        Some(channel) if is_narrowed => Some(format!("in what was selected on {channel}")),
        Some(channel) => Some(format!("on {channel}")),
        None => is_narrowed.then(|| "in what was selected".to_owned()),
    }
}

/// Whether a finding is of the channel, and any of its kind may be in the window.
fn is_asked_for(view: &View, channel: &Channel, row: &FindingRow<'_>) -> bool {
    let (from, to) = view.window().on(channel);
    let named = view.channel.as_ref().is_none_or(|name| *name == channel.name);
    named && row.at < to.0 && from.0 <= row.last_at
}

fn print(
    (ledger, extent): (&Ledger, ReadExtent),
    rows: &[(u32, FindingRow<'_>)],
    (scope, format): (&CheckScope, Format),
    output: &mut Output,
) {
    let verdicts = verdicts(ledger);
    let findings = rows.iter().map(|(capture, row)| CapturedRow { row, capture: *capture });
    let judged_on = if extent.is_whole() { "all" } else { "part" };
    let judged = verdicts.iter().map(|it| JudgedRow { verdict: it.row(), judged_on });
    match format {
        Format::Text => {
            let out = &mut |line| output.line(&line);
            text::headline(ledger, scope, out);
            text::findings(rows, out);
            if scope.unread.is_none() || ledger.seen().characters > 0 {
                text::verdicts(&verdicts, scope, out);
            }
        }
        Format::Json => {
            let ReadExtent { stopped_at, left_out, faults, .. } = extent;
            let (whole, reason) = (extent.is_whole(), &scope.unread);
            let read = json!({ "whole": whole, "stopped_at": stopped_at, "left_out": left_out,
                "faults": faults, "reason": reason });
            let (findings, verdicts) = (findings.collect(), judged.collect());
            output.json(&Checked { findings, verdicts, read }, "\n");
        }
        Format::Jsonl => {
            findings.for_each(|row| output.json(&row, "\n"));
            judged.for_each(|row| output.json(&row, "\n"));
        }
    }
}
