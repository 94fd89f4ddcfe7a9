//! A storm for people.

use analyzer::text::{Line, Role};
use laws::storm::Counts;
use simulator::scenario::Scenario;

use super::json::streams;
use super::{Found, Looked, Outcome, PERIODS_PER_S};

/// Columns of the word that a line begins with.
const WORD: usize = 11;

pub(super) fn print(outcome: &Outcome, out: &mut impl FnMut(Line)) {
    let Outcome { what, counts, failure, took } = outcome;
    let title = match what {
        Looked::Storm(front) => match front.switches {
            Some(1) => format!("storm of seed {}, 1 switch a network", front.seed),
            Some(switches) => {
                format!("storm of seed {}, {switches} switches a network", front.seed)
            }
            None => format!("storm of seed {}", front.seed),
        },
        Looked::Network { seed, number } => format!("network {number} of seed {seed}"),
        Looked::Scenario(path) => path.display().to_string(),
    };
    out(Line::of(Role::Head, title));
    if counts.networks > 0 {
        sums(counts, out);
        let seconds = took.as_secs_f64();
        let speed = counts.periods as f64 / PERIODS_PER_S as f64 / seconds.max(0.001);
        let speed = format!("{seconds:.1} s, {speed:.2} simulated s in each");
        out(word("speed").and(Role::Dim, speed));
    }
    out(Line::default());
    match failure {
        None => out(Line::of(Role::Good, "no law is broken")),
        Some(found) => broken(what, found, out),
    }
}

fn word(word: &str) -> Line {
    Line::of(Role::Plain, format!("{word:<WORD$}"))
}

fn sums(counts: &Counts, out: &mut impl FnMut(Line)) {
    let Counts { networks, hosts, switches, cables, episodes, too_large, .. } = counts;
    let line = format!("{networks}, with {hosts} hosts, {switches} switches and {cables} cables");
    out(word("networks").and(Role::Plain, line));
    let percent = |part: u64| part as f64 * 100.0 / counts.periods.max(1) as f64;
    let time = format!(
        "{:.1} s; in {:.2} % of it something went on, {:.1} % is captured and compared",
        counts.periods as f64 / PERIODS_PER_S as f64,
        percent(counts.stepped),
        percent(counts.recorded)
    );
    out(word("simulated").and(Role::Plain, time));
    let mut line = format!("{episodes} from rest to rest");
    if *too_large > 0 {
        line += &format!("; {too_large} too large to be looked at but for messages and their end");
    }
    out(word("stretches").and(Role::Plain, line));
    let sent = format!("{} packets, {} messages", counts.packets, counts.messages);
    out(word("sent").and(Role::Plain, sent));
    let all: u64 = counts.faults.values().sum();
    let kinds: Vec<String> =
        counts.faults.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    let colon = if all > 0 { ": " } else { "" };
    out(word("faults").and(Role::Plain, format!("{all}{colon}")).and(Role::Dim, kinds.join(", ")));
    let likely = counts.likely.iter().filter(|(_, [in_truth, ..])| *in_truth > 0);
    for (at, (kind, [in_truth, _, right])) in likely.enumerate() {
        let first = if at == 0 { "likely" } else { "" };
        let share = *right as f64 * 100.0 / (*in_truth).max(1) as f64;
        let share = format!("{share:>9.2} % of {in_truth} ");
        out(word(first).and(Role::Plain, share).and(Role::Dim, format!("{kind}: found as it was")));
    }
    for (at, (law, times)) in counts.laws.iter().enumerate() {
        let first = if at == 0 { "laws" } else { "" };
        out(word(first).and(Role::Plain, format!("{times:>9} × ")).and(Role::Dim, law));
    }
}

fn broken(what: &Looked, found: &Found, out: &mut impl FnMut(Line)) {
    let place = match (what, found.network) {
        (Looked::Storm(front), Some(number)) => {
            format!("network {number} of seed {} breaks a law: ", front.seed)
        }
        (Looked::Network { .. } | Looked::Scenario(_) | Looked::Storm(_), _) => {
            "it breaks a law: ".to_owned()
        }
    };
    out(Line::of(Role::Bad, place).and(Role::Plain, &found.broken.place));
    for line in found.broken.text.lines() {
        out(Line::of(Role::Plain, format!("  {line}")));
    }
    let left = &found.shrunk.scenario;
    out(Line::of(
        Role::Plain,
        format!(
            "{}: so small breaks it too, after {} tries: {}",
            found.file.display(),
            found.shrunk.tries,
            size(left)
        ),
    ));
    out(Line::of(Role::Dim, format!("  myriscope storm --scenario {}", found.file.display())));
}

fn size(left: &Scenario) -> String {
    format!(
        "{} hosts, {} switches, {} streams, {} faults, {} µs",
        left.topology.hosts().count(),
        left.topology.switches().count(),
        streams(left),
        left.faults.len(),
        left.duration / 80
    )
}
