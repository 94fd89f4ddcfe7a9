//! `myriscope check`: what is wrong with a capture, and how each rule stands.

use std::ops::ControlFlow;

use analyzer::analysis::Wanted;
use analyzer::finding::{FindingRow, Severity, ranked};
use analyzer::link::slack::Assumptions;
use analyzer::rules::{VerdictRow, verdicts};
use analyzer::text::check as text;
use serde::Serialize;

use crate::analysing::analyse;
use crate::args::{Check, Format};
use crate::output::Output;
use crate::report::{Failure, Report};

#[derive(Serialize)]
struct Checked<'a> {
    findings: &'a [FindingRow<'a>],
    verdicts: Vec<VerdictRow>,
}

pub(crate) fn run(arguments: &Check, output: &mut Output) -> Result<Report, Failure> {
    let mut report = Report::of(&arguments.file);
    let told = &mut |_: &_, _| ControlFlow::Continue(());
    let assumptions = Assumptions::default();
    let analysis = analyse(&arguments.file, Wanted::Counts, assumptions, &mut report, told)?;
    let findings = analysis.findings();
    let ledger = findings.ledger();
    let name = |id| analysis.channel(id).map_or("", |channel| channel.name.as_str());
    let ranked = ranked(ledger);
    let rows: Vec<FindingRow<'_>> =
        ranked.iter().map(|(kind, channel, found)| found.row(*kind, *channel, &name)).collect();
    let verdicts = verdicts(ledger);
    match arguments.format {
        Format::Text => {
            let out = &mut |line| output.line(&line);
            out(text::headline(ledger));
            text::findings(&rows, out);
            text::verdicts(&verdicts, out);
        }
        Format::Json => {
            let verdicts = verdicts.iter().map(|verdict| verdict.row()).collect();
            output.json(&Checked { findings: &rows, verdicts }, "\n");
        }
        Format::Jsonl => {
            rows.iter().for_each(|row| output.json(row, "\n"));
            verdicts.iter().for_each(|verdict| output.json(&verdict.row(), "\n"));
        }
    }
    if rows.iter().any(|row| row.severity != Severity::Note) {
        report.found_wrong();
    }
    Ok(report)
}
