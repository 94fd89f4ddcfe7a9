//! Prints the findings of a capture file, the worst first, and the rules that failed.
//!
//! `cargo run -p myriscope-analyzer --example check -- capture.pcapng`

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "an example program")]

use std::error::Error;
use std::fs::File;

use myriscope_analyzer::codec::capture::decompress;
use myriscope_analyzer::rules::RuleOutcome;
use myriscope_analyzer::{AnalysisOptions, analyze};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: check FILE")?;
    let report = analyze(decompress(File::open(path)?)?, &AnalysisOptions::default());
    report.faults.iter().for_each(|fault| println!("! {fault}"));
    report.error.iter().for_each(|error| println!("! {error}"));
    for finding in report.finding_rows() {
        let (severity, rule) = (finding.severity.name(), finding.rule.unwrap_or("-"));
        let (channel, count) = (finding.channel, finding.count);
        println!("{severity} {rule} {} ({count} on {channel}): {}", finding.finding, finding.text);
    }
    let verdicts = report.verdicts();
    let failed = verdicts.iter().filter(|verdict| verdict.outcome == RuleOutcome::Fail);
    failed.for_each(|verdict| println!("failed: {} {}", verdict.rule.id, verdict.rule.text()));
    Ok(())
}
