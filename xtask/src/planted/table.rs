//! Results by fault and method, as a table in Markdown.

use std::io::{self, Write};

use super::SearchMethod;
use super::patch::FaultPatch;
use super::results::{FaultMeasurement, PlantedResults, SearchRun};
use crate::workspace::TaskError;

/// Prints the table.
pub(crate) fn print(patches: &[FaultPatch], results: &PlantedResults) -> Result<(), TaskError> {
    let mut out = io::stdout().lock();
    let mut write = |line: String| writeln!(out, "{line}").map_err(|error| error.to_string());
    write(
        "| fault | what is wrong | rule | tests | storm: networks, time | fuzzers: executions, time |"
            .into(),
    )?;
    write("|---|---|---|---|---|---|".into())?;
    for patch in patches {
        let cells: Vec<String> =
            SearchMethod::ALL.into_iter().map(|by| cell(by, results.of(patch, by))).collect();
        let FaultPatch { name, what, rule, .. } = patch;
        write(format!("| {name} | {what} | {rule} | {} |", cells.join(" | ")))?;
    }
    for by in SearchMethod::ALL {
        let found = |patch: &&FaultPatch| {
            results.of(patch, by).is_some_and(|it| it.runs.iter().any(|run| run.found.is_some()))
        };
        let (all, found) = (patches.len(), patches.iter().filter(found).count());
        write(format!("\n{found} of {all} are found by the {}.", by.name()))?;
    }
    let surviving = patches.iter().filter(|patch| results.survives(patch));
    let surviving: Vec<&str> = surviving.map(|patch| patch.name.as_str()).collect();
    write(match surviving.as_slice() {
        [] => "\nNone survives all three.".into(),
        names => format!("\nAll three are survived by {}.", names.join(", ")),
    })
}

/// Result of one method for a fault.
fn cell(by: SearchMethod, measured: Option<&FaultMeasurement>) -> String {
    let Some(FaultMeasurement { runs, .. }) = measured else { return "not measured".to_owned() };
    if by == SearchMethod::Tests {
        let found = runs.first().and_then(|run| run.found.as_deref());
        return found.map_or_else(|| "–".to_owned(), |test| format!("`{test}`"));
    }
    let found: Vec<&SearchRun> = runs.iter().filter(|run| run.found.is_some()).collect();
    let Some(name) = found.first().and_then(|run| run.found.as_deref()) else {
        return "–".to_owned();
    };
    let whom = if by == SearchMethod::Storm { String::new() } else { format!("{name}: ") };
    let how_often = match (found.len(), runs.len()) {
        (found, all) if found == all => String::new(),
        (found, all) => format!(" ({found} of {all} seeds)"),
    };
    // Of what was never found no time is known; the median is, if most were.
    let executions = median(runs, |run| run.executions);
    let tenths = median(runs, |run| run.milliseconds.div_ceil(100));
    match (executions, tenths) {
        (Some(executions), Some(tenths)) => {
            let (seconds, tenth) = (tenths / 10, tenths % 10);
            format!("{whom}{}, {seconds}.{tenth} s{how_often}", grouped(executions))
        }
        _ => format!("{whom}–{how_often}"),
    }
}

/// The median of all runs, of which those that found nothing took longest.
fn median(runs: &[SearchRun], of: impl Fn(&SearchRun) -> u64) -> Option<u64> {
    let found = runs.iter().filter(|run| run.found.is_some());
    let mut values: Vec<u64> = found.map(of).collect();
    values.sort_unstable();
    values.get(runs.len() / 2).copied()
}

/// A number with its thousands apart.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&[u8]> = digits.as_bytes().rchunks(3).rev().collect();
    let groups: Vec<_> = groups.into_iter().map(String::from_utf8_lossy).collect();
    groups.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(found: Option<&str>, executions: u64) -> SearchRun {
        SearchRun { seed: 0, found: found.map(str::to_owned), milliseconds: 2_440, executions }
    }

    fn shown(by: SearchMethod, runs: Vec<SearchRun>) -> String {
        cell(by, Some(&FaultMeasurement { commit: String::new(), budget: 20, runs }))
    }

    #[test]
    fn the_median_counts_what_found_nothing_as_the_longest() {
        let runs = vec![run(Some("link"), 7), run(None, 9), run(Some("link"), 12_345)];
        assert_eq!(shown(SearchMethod::Fuzzers, runs), "link: 12 345, 2.5 s (2 of 3 seeds)");
        let runs = vec![run(Some("storm"), 7), run(None, 9), run(None, 12_345)];
        assert_eq!(shown(SearchMethod::Storm, runs), "– (1 of 3 seeds)");
    }

    #[test]
    fn what_found_nothing_has_a_dash_and_tests_have_names() {
        assert_eq!(shown(SearchMethod::Storm, vec![run(None, 9)]), "–");
        assert_eq!(shown(SearchMethod::Tests, vec![run(Some("codec::a"), 0)]), "`codec::a`");
        assert_eq!(cell(SearchMethod::Tests, None), "not measured");
    }
}
