//! The table of what targets did.

use std::io::{self, Write};

use super::run::FuzzRun;
use super::target::FuzzTarget;
use crate::workspace::{TaskError, shown};

/// Prints a line a target, and what was found.
pub(crate) fn print(targets: &[FuzzTarget], runs: &[FuzzRun]) -> Result<(), TaskError> {
    let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
    let mut text = table(&names, runs);
    for run in runs {
        if let (Some(target), Some(log)) = (targets.get(run.target), &run.finding) {
            text += &format!("\n{} has found something:\n{log}\n", target.name);
            text += &format!("It is in {}/.\n", shown(&target.artifacts()));
        }
    }
    io::stdout().write_all(text.as_bytes()).map_err(|error| format!("cannot print: {error}"))
}

/// A line a target, with the runs of it taken together.
fn table(names: &[&str], runs: &[FuzzRun]) -> String {
    let mut text = format!(
        "{:<16} {:>12} {:>10} {:>9} {:>11} {:>9}\n",
        "target", "executions", "exec/s", "coverage", "new inputs", "findings"
    );
    for (index, name) in names.iter().enumerate() {
        let of: Vec<&FuzzRun> = runs.iter().filter(|run| run.target == index).collect();
        let executions: u64 = of.iter().map(|run| run.executions).sum();
        let rates: u64 = of.iter().map(|run| run.rate).sum();
        let rate = rates / u64::try_from(of.len()).unwrap_or(1).max(1);
        let coverage = of.iter().map(|run| run.coverage).max().unwrap_or_default();
        let new: u64 = of.iter().map(|run| run.new).sum();
        let findings = of.iter().filter(|run| run.finding.is_some()).count();
        text += &format!(
            "{name:<16} {executions:>12} {rate:>10} {coverage:>9} {new:>11} {findings:>9}\n"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_a_target_are_one_line() {
        let run = |target, executions, coverage, finding| FuzzRun {
            target,
            executions,
            rate: executions / 10,
            coverage,
            new: 3,
            finding,
        };
        let found = Some("panicked".to_owned());
        let runs = [run(0, 1000, 50, None), run(1, 90, 7, found), run(0, 3000, 40, None)];
        assert_eq!(
            table(&["chars", "network"], &runs),
            "target             executions     exec/s  coverage  new inputs  findings\n\
             chars                    4000        200        50           6         0\n\
             network                    90          9         7           3         1\n"
        );
    }
}
