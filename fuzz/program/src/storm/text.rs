//! Text of a storm.

use analyzer::render::{StyledLine, TextStyle};
use laws::network::facts::switches;
use laws::storm::StormCounts;
use simulator::scenario::Scenario;

use super::json::streams;
use super::{MinimizedViolation, PERIODS_PER_S, StormEnd, StormInput, StormOutcome};

/// Columns of the first word of a line.
const WORD: usize = 11;

pub(super) fn print(outcome: &StormOutcome, out: &mut impl FnMut(StyledLine)) {
    let StormOutcome { input, counts, failure, took, end } = outcome;
    let title = match input {
        StormInput::Storm(runner) => match runner.switches {
            Some(1) => format!("storm of seed {}, 1 switch a network", runner.seed),
            Some(switches) => {
                format!("storm of seed {}, {switches} switches a network", runner.seed)
            }
            None => format!("storm of seed {}", runner.seed),
        },
        StormInput::Network { seed, number } => format!("network {number} of seed {seed}"),
        StormInput::Scenario(path) => path.display().to_string(),
    };
    out(StyledLine::of(TextStyle::Head, title));
    if counts.networks > 0 {
        sums(counts, out);
        let seconds = took.as_secs_f64();
        let speed = counts.periods as f64 / PERIODS_PER_S as f64 / seconds.max(0.001);
        let speed = format!("{seconds:.1} s, {speed:.2} simulated s in each");
        out(word("speed").and(TextStyle::Dim, speed));
    }
    out(StyledLine::default());
    match failure {
        None if *end == StormEnd::CtrlC => {
            out(StyledLine::of(TextStyle::Notice, "ended by Ctrl-C: no law is broken so far"));
        }
        None => out(StyledLine::of(TextStyle::Good, "no law is broken")),
        Some(found) => broken(input, found, out),
    }
}

fn word(word: &str) -> StyledLine {
    StyledLine::of(TextStyle::Plain, format!("{word:<WORD$}"))
}

fn sums(counts: &StormCounts, out: &mut impl FnMut(StyledLine)) {
    let StormCounts { networks, hosts, switches, cables, episodes, too_large, .. } = counts;
    let line = format!("{networks}, with {hosts} hosts, {switches} switches and {cables} cables");
    out(word("networks").and(TextStyle::Plain, line));
    let percent = |part: u64| part as f64 * 100.0 / counts.periods.max(1) as f64;
    let time = format!(
        "{:.1} s; active in {:.2} % of it, {:.1} % captured and compared",
        counts.periods as f64 / PERIODS_PER_S as f64,
        percent(counts.stepped),
        percent(counts.recorded)
    );
    out(word("simulated").and(TextStyle::Plain, time));
    let mut line = format!("{episodes} from quiescence to quiescence");
    if *too_large > 0 {
        line += &format!("; {too_large} too large, checked only for messages and their end");
    }
    out(word("episodes").and(TextStyle::Plain, line));
    let sent = format!("{} packets, {} messages", counts.packets, counts.messages);
    out(word("sent").and(TextStyle::Plain, sent));
    let all: u64 = counts.faults.values().sum();
    let kinds: Vec<String> =
        counts.faults.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    let colon = if all > 0 { ": " } else { "" };
    out(word("faults")
        .and(TextStyle::Plain, format!("{all}{colon}"))
        .and(TextStyle::Dim, kinds.join(", ")));
    let likely = counts.likely.iter().filter(|(_, [in_truth, ..])| *in_truth > 0);
    for (at, (kind, [in_truth, _, right])) in likely.enumerate() {
        let first = if at == 0 { "likely" } else { "" };
        let share = *right as f64 * 100.0 / (*in_truth).max(1) as f64;
        let share = format!("{share:>9.2} % of {in_truth} ");
        out(word(first)
            .and(TextStyle::Plain, share)
            .and(TextStyle::Dim, format!("{kind}: correct")));
    }
    for (at, (law, times)) in counts.laws.iter().enumerate() {
        let first = if at == 0 { "laws" } else { "" };
        out(word(first).and(TextStyle::Plain, format!("{times:>9} × ")).and(TextStyle::Dim, law));
    }
}

fn broken(input: &StormInput, found: &MinimizedViolation, out: &mut impl FnMut(StyledLine)) {
    let place = match (input, found.network) {
        (StormInput::Storm(runner), Some(number)) => {
            format!("network {number} of seed {} breaks a law: ", runner.seed)
        }
        (StormInput::Network { .. } | StormInput::Scenario(_) | StormInput::Storm(_), _) => {
            "the network breaks a law: ".to_owned()
        }
    };
    out(StyledLine::of(TextStyle::Bad, place).and(TextStyle::Plain, &found.broken.place));
    for line in found.broken.text.lines() {
        out(StyledLine::of(TextStyle::Plain, format!("  {line}")));
    }
    let left = &found.shrunk.scenario;
    out(StyledLine::of(
        TextStyle::Plain,
        format!(
            "{}: minimized network, after {} tries: {}",
            found.file.display(),
            found.shrunk.tries,
            size(left)
        ),
    ));
    out(StyledLine::of(
        TextStyle::Dim,
        format!("  myriscope storm --scenario {}", found.file.display()),
    ));
}

fn size(left: &Scenario) -> String {
    format!(
        "{} hosts, {} switches, {} streams, {} faults, {} µs",
        left.topology.hosts().count(),
        switches(&left.topology),
        streams(left),
        left.faults.len(),
        left.duration / 80
    )
}
