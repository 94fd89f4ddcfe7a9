//! `myriscope check`: what is wrong with a capture, and how each rule stands.

use std::ops::ControlFlow;

use analyzer::analysis::Wanted;
use analyzer::filter::RowKind;
use analyzer::finding::{FindingRow, Ledger, Severity, ranked};
use analyzer::rules::{VerdictRow, verdicts};
use analyzer::text::check as text;
use codec::capture::Channel;
use serde::Serialize;

use crate::analysing::analyse;
use crate::args::{Check, Format, View};
use crate::listing::{Choice, Listing, list_fields};
use crate::output::Output;
use crate::report::{Failure, Report};

#[derive(Serialize)]
struct Checked<'a> {
    findings: &'a [FindingRow<'a>],
    verdicts: Vec<VerdictRow>,
}

pub(crate) fn run(arguments: &Check, output: &mut Output) -> Result<Report, Failure> {
    let view = &arguments.view;
    if view.list_fields {
        list_fields(RowKind::Findings, view.format, output);
        return Ok(Report::default());
    }
    let mut choice = Choice::of(view, RowKind::Findings)?;
    let mut report = Report::of(&view.file);
    let told = &mut |_: &_, _| ControlFlow::Continue(());
    let assumptions = arguments.assume.unwrap_or_default();
    let analysis = analyse(&view.file, Wanted::Findings, assumptions, &mut report, told)?;
    let findings = analysis.findings();
    let ledger = findings.ledger();
    let name = |id| analysis.channel(id).map_or("", |channel| channel.name.as_str());
    let ranked = ranked(ledger);
    let rows = ranked.iter().filter_map(|(kind, id, found)| {
        let channel = analysis.channel(*id)?;
        let row = found.row(*kind, *id, &name);
        let chosen =
            is_asked_for(view, channel, &row) && choice.keeps(&row, channel.period_ps.get());
        chosen.then_some(row)
    });
    let limit = view.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let rows: Vec<FindingRow<'_>> = rows.take(limit).collect();
    if rows.iter().any(|row| row.severity != Severity::Note) {
        report.found_wrong();
    }
    if let Some(asked) = &view.channel {
        let names = || analysis.channels().map(|(_, channel)| channel.name.as_str());
        if !names().any(|found| found == asked) {
            report.no_channel(asked, names());
        }
    }
    if choice.columns().is_some() {
        let mut listing = Listing::new(view, choice, "findings", output);
        listing.head(|_| {});
        rows.iter().for_each(|row| listing.row(row, |_| {}));
        listing.finish();
        return Ok(report);
    }
    print(ledger, &rows, view.format, output);
    Ok(report)
}

/// Whether a finding is of the channel, and any of its kind may be in the window.
fn is_asked_for(view: &View, channel: &Channel, row: &FindingRow<'_>) -> bool {
    let (from, to) = view.window().on(channel);
    let named = view.channel.as_ref().is_none_or(|name| *name == channel.name);
    named && row.at < to.0 && from.0 <= row.last_at
}

fn print(ledger: &Ledger, rows: &[FindingRow<'_>], format: Format, output: &mut Output) {
    let verdicts = verdicts(ledger);
    match format {
        Format::Text => {
            let out = &mut |line| output.line(&line);
            out(text::headline(ledger));
            text::findings(rows, out);
            text::verdicts(&verdicts, out);
        }
        Format::Json => {
            let verdicts = verdicts.iter().map(|verdict| verdict.row()).collect();
            output.json(&Checked { findings: rows, verdicts }, "\n");
        }
        Format::Jsonl => {
            rows.iter().for_each(|row| output.json(row, "\n"));
            verdicts.iter().for_each(|verdict| output.json(&verdict.row(), "\n"));
        }
    }
}
