//! Measures false alarms of `check`, and what it misses: `cargo run --release -p laws --example faults -- 1000`.
//! `faults sound NUMBER` and `faults broken NUMBER` print the scenario of a network without and with a fault.
//!
//! Draws random networks in which nothing is wrong, and counts errors and warnings. Of others it taps every port, injects one fault into each, and
//! prints the tables of `docs/faults.md`: the findings of each kind of fault, and why nothing was found
//! where nothing was. A fault whose captures equal those of the run without it cannot be seen by anyone.

use std::collections::BTreeMap;
use std::io::{self, Write};

use analyzer::finding::{FindingKind, Severity};
use arbitrary::{Arbitrary, Unstructured};
use codec::packet::CrcCheck;
use laws::network::analyzed::AnalyzedCapture;
use laws::network::draft::NetworkDraft;
use laws::network::facts::rates_are_alike;
use laws::network::findings::is_in_order;
use laws::network::input::NetworkInput;
use laws::network::rules::stop_slack;
use laws::network::run::RunOutcome;
use laws::network::traffic_input;
use laws::network::undeclared::{StrippedWords, stripped};
use simulator::fault::{FaultKind, FaultSpec};
use simulator::scenario::Scenario;
use simulator::topology::CableSpec;
use simulator::truth::TruthEventKind;

/// Kinds of faults, in the order of the table.
const FAULTS: [&str; 13] = [
    "bit errors",
    "flipped bits",
    "open wire",
    "cut cable",
    "lost GAP",
    "forward reset",
    "backward reset",
    "probe",
    "host without power",
    "switch without power",
    "dead port",
    "slow host",
    "restarted interface",
];

/// Fewest packets that arrive in a network, so that there is something to break. *Chosen*
const PACKETS_MIN: usize = 8;

/// Periods that a network runs on behind the last moment of a fault, so that what it hurt can end. *Chosen*
const AFTERMATH: u64 = 8_000;

#[derive(Default)]
struct FaultFindings {
    networks: u64,
    found: u64,
    /// Networks in which each kind of finding was new.
    kinds: BTreeMap<FindingKind, u64>,
    /// Faults without a finding, by the reason.
    misses: BTreeMap<&'static str, Vec<u64>>,
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = arguments.last().and_then(|it| it.parse::<u64>().ok());
    let networks = number.unwrap_or(1000);
    let out = &mut io::stdout().lock();
    let draft = match arguments.first().map(String::as_str) {
        Some("sound") => sound(networks).map(|(draft, ..)| draft),
        Some("broken") => broken(networks).map(|(draft, ..)| draft),
        _ => None,
    };
    if let Some(draft) = draft {
        return write!(out, "{}", draft.text());
    }
    print_alarms(networks, out)?;
    let mut rows: Vec<FaultFindings> = FAULTS.iter().map(|_| FaultFindings::default()).collect();
    let each = networks / FAULTS.len() as u64;
    for number in 0.. {
        let Some(row) = rows.get_mut(kind_of(number)) else { continue };
        if row.networks < each
            && let Some((_, before, after)) = broken(number)
        {
            row.add(number, &before, &after);
        }
        if rows.iter().all(|row| row.networks == each) {
            break;
        }
    }
    print(&rows, out)
}

/// The kind of fault of a network, by its place in [`FAULTS`].
fn kind_of(number: u64) -> usize {
    usize::try_from(number % FAULTS.len() as u64).unwrap_or_default()
}

/// Counts errors and warnings in networks in order, of all variants and with unlike ends: as their
/// captures are, without what they declare of links, and with nothing but names and periods.
fn print_alarms(networks: u64, out: &mut impl Write) -> io::Result<()> {
    let (mut done, mut unlike) = (0, 0);
    let mut alarms: [BTreeMap<FindingKind, Vec<u64>>; 3] = Default::default();
    for number in 0_u64.. {
        let Some((_, scenario, outcome)) = sound(number) else { continue };
        let [some, all] = [StrippedWords::Parameters, StrippedWords::Everything]
            .map(|words| stripped(&outcome.capture, words));
        for (alarms, capture) in alarms.iter_mut().zip([&outcome.capture, &some, &all]) {
            for (kind, (severity, _)) in counts(&AnalyzedCapture::of(capture)) {
                if severity != Severity::Note {
                    alarms.entry(kind).or_default().push(number);
                }
            }
        }
        unlike += u64::from(!rates_are_alike(&scenario));
        done += 1;
        if done == networks {
            break;
        }
    }
    writeln!(
        out,
        "{done} networks in order, {unlike} of them with unlike rates at the ends of a link"
    )?;
    for (name, alarms) in ["as declared", "no parameters", "no description"].iter().zip(alarms) {
        let kinds = alarms.iter().map(|(kind, numbers)| {
            format!("`{}` {} ({:?})", kind.about().name, numbers.len(), numbers)
        });
        let kinds: Vec<_> = kinds.collect();
        let kinds = if kinds.is_empty() { "none".to_owned() } else { kinds.join(", ") };
        writeln!(out, "| {name} | {kinds} |")?;
    }
    writeln!(out)
}

/// A network in which nothing goes wrong, and its run.
fn sound(number: u64) -> Option<(NetworkDraft, Scenario, RunOutcome)> {
    let (draft, _) = NetworkInput::sound(b"no fault", number)?;
    let scenario = Some(draft.scenario()).filter(|it| !it.taps.is_empty())?;
    let outcome = RunOutcome::of(&scenario);
    let covers_all = scenario.topology.cables().iter().all(covers);
    (covers_all && is_in_order(&scenario, &outcome)).then_some((draft, scenario, outcome))
}

/// Tests whether both slack buffers of a cable cover its round trip. F-4
fn covers(cable: &CableSpec) -> bool {
    [cable.link, cable.link.turned()].iter().all(|link| {
        link.ports.first().is_some_and(|port| port.slack.stop_slack >= stop_slack(link))
    })
}

impl FaultFindings {
    fn add(&mut self, number: u64, before: &RunOutcome, after: &RunOutcome) {
        let [old, new] =
            [before, after].map(|outcome| counts(&AnalyzedCapture::of(&outcome.capture)));
        let more = |kind: &FindingKind, count: u64| count > old.get(kind).map_or(0, |it| it.1);
        let kinds: Vec<(FindingKind, Severity)> = new
            .into_iter()
            .filter(|(kind, (_, count))| more(kind, *count))
            .map(|(kind, (severity, _))| (kind, severity))
            .collect();
        self.networks += 1;
        for (kind, _) in &kinds {
            *self.kinds.entry(*kind).or_default() += 1;
        }
        if kinds.iter().any(|(_, severity)| *severity != Severity::Note) {
            self.found += 1;
        } else {
            let noted = "a note says it";
            let reason = if kinds.is_empty() { reason(before, after) } else { noted };
            self.misses.entry(reason).or_default().push(number);
        }
    }
}

/// A network in order, tapped at every port: its run, and its run with one fault of a kind. Of several
/// faults the first that costs a packet something, or else one that any tap can see, if there is one.
fn broken(number: u64) -> Option<(NetworkDraft, RunOutcome, RunOutcome)> {
    let (mut draft, mut dice) = NetworkInput::sound(b"one fault", number)?;
    let begun = draft.scenario().duration;
    draft.set(&format!("duration_periods = {}", begun + AFTERMATH));
    draft.remove(&["tap"]);
    let cables = draft.topology.cables().to_vec();
    cables.iter().flat_map(|cable| cable.ends).for_each(|end| draft.add_tap(end, ""));
    let scenario = draft.scenario();
    let before = RunOutcome::of(&scenario);
    let consumed =
        before.rows.iter().filter(|row| matches!(row.kind, TruthEventKind::Consumed { .. }));
    if !is_in_order(&scenario, &before) || consumed.count() < PACKETS_MIN {
        return None;
    }
    let mut fault = || {
        let bytes = dice.bytes(16);
        let fault = traffic_input::FaultInput::arbitrary(&mut Unstructured::new(&bytes)).ok()?;
        fault.fault(&scenario.topology, begun)
    };
    let wanted = FAULTS.get(kind_of(number));
    let is_wanted = |fault: &FaultSpec| wanted == Some(&name(fault, &scenario));
    let faults = std::iter::repeat_with(&mut fault).take(1000).flatten().filter(is_wanted).take(20);
    let runs = faults.map(|fault| {
        let mut broken = draft.clone();
        broken.faults.push(fault);
        let scenario = broken.scenario();
        let after = RunOutcome::of(&scenario);
        (broken, after)
    });
    let cost =
        |(_, after): &(_, RunOutcome)| (is_costly(&before, after), after.capture != before.capture);
    let (broken, after) = runs.max_by_key(cost)?;
    Some((broken, before, after))
}

fn name(fault: &FaultSpec, scenario: &Scenario) -> &'static str {
    match fault.kind {
        FaultKind::Noise { .. } => "bit errors",
        FaultKind::Flip { .. } => "flipped bits",
        FaultKind::OpenWire { .. } => "open wire",
        FaultKind::Wires(_) => "disturbed wires",
        FaultKind::Cut => "cut cable",
        FaultKind::LoseGap => "lost GAP",
        FaultKind::ForwardReset => "forward reset",
        FaultKind::BackwardReset => "backward reset",
        FaultKind::Probe(_) => "probe",
        FaultKind::PowerOff if scenario.topology.hosts().any(|host| host == fault.place.node) => {
            "host without power"
        }
        FaultKind::PowerOff => "switch without power",
        FaultKind::SupplyOff => "supply off",
        FaultKind::DeadPort => "dead port",
        FaultKind::Consume(_) => "slow host",
        FaultKind::Restart => "restarted interface",
    }
}

/// The worst severity of each kind, and how many there are.
fn counts(reading: &AnalyzedCapture) -> BTreeMap<FindingKind, (Severity, u64)> {
    let mut counts = BTreeMap::new();
    for (kind, _, found) in reading.set.found() {
        let (severity, count) = counts.entry(kind).or_insert((found.severity, 0));
        *severity = found.severity.min(*severity);
        *count += found.count;
    }
    counts
}

/// Reason why nothing was found: the strongest reason that holds.
fn reason(before: &RunOutcome, after: &RunOutcome) -> &'static str {
    if before.capture == after.capture {
        "no character of any tap differs"
    } else if is_costly(before, after) {
        "missed"
    } else {
        "no packet is hurt or lost"
    }
}

/// Tests whether a packet was hurt or lost: both runs are alike but for the fault.
fn is_costly(before: &RunOutcome, after: &RunOutcome) -> bool {
    use TruthEventKind::{Dropped, Merged, Overflow, Truncated};
    let is_cost = |what: &TruthEventKind| {
        matches!(what, Dropped(_) | Truncated(_) | Merged | Overflow)
            || matches!(what, TruthEventKind::Consumed { check, .. } if *check != CrcCheck::Good)
    };
    let costs = |it: &RunOutcome| it.rows.iter().filter(|row| is_cost(&row.kind)).count();
    costs(after) > costs(before)
}

fn print(rows: &[FaultFindings], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "| fault | networks | error or warning | findings (networks) |")?;
    writeln!(out, "|---|---|---|---|")?;
    for (name, row) in FAULTS.iter().zip(rows) {
        let mut kinds: Vec<_> = row.kinds.iter().collect();
        kinds.sort_by_key(|(kind, count)| (std::cmp::Reverse(**count), **kind));
        let kinds: Vec<_> =
            kinds.iter().map(|(kind, count)| format!("`{}` {count}", kind.about().name)).collect();
        let FaultFindings { networks, found, .. } = row;
        writeln!(out, "| {name} | {networks} | {found} | {} |", kinds.join(", "))?;
    }
    writeln!(out)?;
    for (name, row) in FAULTS.iter().zip(rows) {
        for (reason, numbers) in &row.misses {
            let some: Vec<_> = numbers.iter().take(4).map(u64::to_string).collect();
            writeln!(out, "| {name} | {} | {reason} | {} |", numbers.len(), some.join(", "))?;
        }
    }
    Ok(())
}
