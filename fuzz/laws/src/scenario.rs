//! Scenario files: any text at all is read, or what is wrong with it has a line and a place in it.
use simulator::scenario::{Scenario, ScenarioError, ScenarioProblem};
use simulator::topology::Topology;

use crate::network::run::RunOutcome;

/// Most hosts, switches, cables and streams of a network that is run. *Chosen*: a run takes less than a
/// millisecond.
const PARTS_MAX: usize = 24;
/// Most periods that one is run for. *Chosen*, likewise.
const PERIODS_MAX: u64 = 600;

/// Any text is a scenario, or has problems that a reader finds; and one without a duration is likewise a
/// network in a file beside a scenario.
pub fn law(text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    check(&text, Scenario::read("net.toml", &text));
    if text.contains("duration") {
        return;
    }
    let end = if text.contains(',') { "csv" } else { "dot" };
    let scenario = format!("duration_us = 5\ntopology.file = 'net.{end}'\n");
    let files = |_: &str, _| Ok(text.as_bytes().to_vec());
    check(&scenario, Scenario::read_from("net.toml", &scenario, None, &files));
}

/// Problems of a scenario are shown in full.
pub fn shown(text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    if let Err(error) = Scenario::read("net.toml", &text) {
        rendered(&error.to_string(), error.problems().len());
    }
}

/// A scenario of a few parts can be run for a while: what it is tapped for is a capture.
pub fn tried(text: &[u8]) {
    trying(text, |_| ());
}

fn trying(text: &[u8], change: impl Fn(&mut RunOutcome)) {
    let text = String::from_utf8_lossy(text);
    let Ok(mut scenario) = Scenario::read("net.toml", &text) else { return };
    let Scenario { topology, streams, messaging, .. } = &scenario;
    let parts = topology.nodes().len() + topology.cables().len() + streams.len() + messaging.len();
    if parts > PARTS_MAX {
        return;
    }
    scenario.duration = scenario.duration.min(PERIODS_MAX);
    let mut outcome = RunOutcome::of(&scenario);
    change(&mut outcome);
    crate::capture::law(&outcome.capture);
    let late = outcome.rows.iter().find(|row| row.at > scenario.duration);
    assert!(late.is_none(), "nothing happens behind the end: {late:?}");
}

fn check(text: &str, read: Result<Scenario, ScenarioError>) {
    match read {
        Ok(scenario) => sound(&scenario),
        Err(error) => {
            let problems = error.problems();
            assert!(!problems.is_empty(), "what is no scenario has a problem");
            problems.iter().for_each(|problem| check_problem(problem, text));
        }
    }
}

fn sound(scenario: &Scenario) {
    let topology: &Topology = &scenario.topology;
    let hosts = topology.hosts().count();
    assert_eq!(scenario.interfaces.len(), hosts, "every host has an interface");
    assert!(scenario.duration > 0, "a scenario lasts");
    let from = |host| scenario.interfaces.iter().any(|(own, _)| *own == host);
    assert!(scenario.streams.iter().all(|stream| from(stream.from)), "hosts send");
    assert!(scenario.messaging.keys().all(|host| from(*host)), "hosts have endpoints");
    assert!(scenario.faults.is_sorted_by_key(|fault| fault.at), "faults are in order");
    for tap in &scenario.taps {
        let cabled = topology.cables().iter().any(|cable| cable.ends.contains(&tap.port));
        assert!(cabled, "a tap is on a cable: {tap:?}");
    }
}

/// A problem has its place in the text, the fault, and the expected text.
fn check_problem(problem: &ScenarioProblem, text: &str) {
    let ScenarioProblem { line, column, message, expected, .. } = problem;
    let found = line.checked_sub(1).and_then(|before| text.split('\n').nth(before));
    let length = found.map(|line| line.chars().count());
    let place = length.is_some_and(|length| (1..=length + 1).contains(column));
    assert!(place, "a problem has a place: line {line}, column {column}, {length:?}");
    assert!(!message.is_empty() && !expected.is_empty(), "and says what it is: {problem:?}");
    let texts = [Some(message), Some(expected), problem.help.as_ref()];
    let mut texts = texts.into_iter().flatten();
    assert!(!texts.any(|text| text.contains(char::is_control)), "in one line: {problem:?}");
}

fn rendered(shown: &str, problems: usize) {
    let carets = shown.lines().filter(|line| line.contains('^')).count();
    assert!(carets >= problems, "every problem has a caret: {shown}");
    let places = shown.lines().filter(|line| line.contains("net.toml:")).count();
    assert!(places >= problems, "every problem has a line: {shown}");
    let harm = |c: char| c.is_control() && c != '\n';
    assert!(!shown.contains(harm), "nothing in it harms a terminal: {shown:?}");
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    const STAR: &str =
        "duration_us = 2\n[topology]\nkind = \"switch\"\nports = 3\n[[tap]]\nall = true\n";

    pub(crate) fn a_problem_beyond_the_text_is_caught() {
        let text = format!("{STAR}[[fault]]\n");
        check(STAR.trim_end(), Scenario::read("net.toml", &text));
    }

    pub(crate) fn a_tap_on_no_cable_is_caught() {
        let mut scenario = Scenario::read("net.toml", STAR).unwrap();
        let two = format!("{STAR}[[host]]\nname = \"spare\"\n");
        let other = Scenario::read("net.toml", &two).unwrap();
        let spare = other.topology.find("spare").unwrap();
        scenario.taps[0].port.node = spare;
        check(STAR, Ok(scenario));
    }

    pub(crate) fn a_problem_without_a_caret_is_caught() {
        let error = Scenario::read("net.toml", "seed = -1\n").unwrap_err();
        rendered(&error.to_string().replace('^', ""), error.problems().len());
    }

    pub(crate) fn a_row_behind_the_end_is_caught() {
        let traffic = "[[traffic]]\nto=\"shift\"\npayload=9\nload=0.5\n";
        trying(format!("{STAR}{traffic}").as_bytes(), |outcome| outcome.rows[0].at = 10_000);
    }

    #[test]
    fn a_small_scenario_is_tried() {
        law(STAR.as_bytes());
        tried(STAR.as_bytes());
    }
}
