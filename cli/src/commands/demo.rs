//! `myriscope demo`: built-in scenarios, their events and measured numbers.

mod figures;

use std::collections::BTreeMap;

use analyzer::render::{StyledLine, TextStyle};
use serde_json::Value;
use simulator::messaging::{MessageId, MessagingEvent};
use simulator::network::Network;
use simulator::network::SimulationEngine;
use simulator::scenario::Scenario;
use simulator::statistics::RunStatistics;
use simulator::topology::NodeId;
use simulator::truth::{TraceLevel, TruthEvent, TruthEventKind};

use crate::args::DemoArgs;
use crate::catalog::{BuiltinDemo, DEMOS};
use crate::exit::{CliError, CommandResult, RunReport, is_standard};
use crate::output::StandardOutput;
use crate::run_simulation::{RunPaths, run_scenario};
use crate::statistics;
use crate::statistics::{SHOWN as BUSIEST, StatisticsOfRun};

/// Rows of the timeline. *Chosen*: with the rest they fill a screen.
const ROWS: usize = 24;

/// Minimum widths of the columns of places and events.
const PLACE: usize = 7;
const EVENT: usize = 14;

/// Periods of the full rate in a millisecond. §4.2
const PERIODS_PER_MS: u64 = 80_000;

/// Fields of message events in the timeline. *Chosen*: the others do not fit a line.
const SHOWN: [&str; 7] = ["channel", "credits", "endpoint", "message", "reason", "seq", "why"];

/// A published number and the measured one.
struct DemoFigure {
    what: String,
    published: String,
    measured: String,
}

struct DemoRun<'a> {
    scenario: &'a Scenario,
    network: &'a Network,
    seen: &'a DemoEvents,
}

/// Events of a run, as far as they are printed or measured.
#[derive(Default)]
struct DemoEvents {
    statistics: RunStatistics,
    /// The first rows of the timeline, each with the number of similar ones that follow it.
    rows: Vec<(TruthEvent, u64)>,
    left_out: u64,
    /// Consumed packets by sending host.
    consumed: BTreeMap<NodeId, u64>,
    /// First event and number of events of each kind.
    kinds: BTreeMap<&'static str, (TruthEvent, u64)>,
    /// Messages written, by millisecond.
    written: BTreeMap<u64, u64>,
    /// Number of times each message was written.
    times: BTreeMap<MessageId, u64>,
}

fn is_similar(one: &TruthEvent, other: &TruthEvent) -> bool {
    let TruthEvent { place, packet, kind: what, .. } = one;
    (*place, *packet, what.name()) == (other.place, other.packet, other.kind.name())
}

pub(crate) fn run(arguments: &DemoArgs, output: &mut StandardOutput) -> CommandResult {
    let DemoArgs { name, list: _, capture, truth, scenario } = arguments;
    let found = name.as_ref().and_then(|name| DEMOS.iter().find(|demo| demo.name == name));
    let Some(demo) = found else {
        list(output);
        return Ok(RunReport::default());
    };
    if *scenario {
        output.text(demo.scenario);
        return Ok(RunReport::default());
    }
    let mut scenario =
        Scenario::read(demo.name, demo.scenario).map_err(|error| CliError::scenario(&error))?;
    if capture.is_none() {
        scenario.taps.clear();
    }
    let paths = RunPaths {
        scenario: None,
        capture: capture.as_deref(),
        truth: truth.as_deref(),
        statistics: None,
        truth_kinds: &[],
        engine: SimulationEngine::Event,
    };
    let statistics = RunStatistics::new(&scenario, 0);
    let mut seen = DemoEvents { statistics, ..DemoEvents::default() };
    let observe = &mut |event: &_| seen.observe(event, demo.events);
    let run = run_scenario(&scenario, TraceLevel::Everything, &paths, observe)?;
    run.files.map_or(Ok(()), |files| files.finish(""))?;
    if !paths.outputs().any(is_standard) {
        print(demo, &DemoRun { scenario: &scenario, network: &run.network, seen: &seen }, output);
    }
    Ok(RunReport::default())
}

fn list(output: &mut StandardOutput) {
    for demo in DEMOS {
        let name = StyledLine::of(TextStyle::Head, format!("{:<12} ", demo.name));
        output.line(&name.and(TextStyle::Plain, demo.title));
    }
}

impl DemoEvents {
    fn observe(&mut self, happened: &TruthEvent, events: &[&str]) {
        self.statistics.observe(happened);
        let kind = happened.kind.name();
        let (_, count) = self.kinds.entry(kind).or_insert_with(|| (happened.clone(), 0));
        *count += 1;
        if let (TruthEventKind::Consumed { .. }, Some(packet)) = (&happened.kind, happened.packet) {
            *self.consumed.entry(packet.host).or_default() += 1;
        }
        if let TruthEventKind::Messaging(MessagingEvent::Written(message, _)) = happened.kind {
            *self.times.entry(message).or_default() += 1;
            *self.written.entry(happened.at / PERIODS_PER_MS).or_default() += 1;
        }
        if events.contains(&kind) {
            self.list(happened);
        }
    }

    fn list(&mut self, happened: &TruthEvent) {
        let full = self.rows.len() >= ROWS;
        match self.rows.last_mut() {
            Some((last, more)) if self.left_out == 0 && is_similar(last, happened) => *more += 1,
            Some(_) if full => self.left_out += 1,
            Some(_) | None => self.rows.push((happened.clone(), 0)),
        }
    }

    fn count(&self, kind: &str) -> u64 {
        self.kinds.get(kind).map_or(0, |(_, count)| *count)
    }

    fn first(&self, kind: &str) -> Option<&TruthEvent> {
        self.kinds.get(kind).map(|(first, _)| first)
    }

    fn rows(&self) -> impl Iterator<Item = &TruthEvent> {
        self.rows.iter().map(|(row, _)| row)
    }
}

fn print(demo: &BuiltinDemo, run: &DemoRun<'_>, output: &mut StandardOutput) {
    output.line(&StyledLine::of(TextStyle::Head, demo.title));
    demo.text.lines().for_each(|line| output.line(&StyledLine::of(TextStyle::Plain, line)));
    timeline(run, output);
    print_figures(&figures::figures(demo.name, run), output);
    output.line(&StyledLine::default());
    let DemoRun { scenario, network, seen } = *run;
    let run = StatisticsOfRun { scenario, network, seen: &seen.statistics };
    run.print(BUSIEST, output);
}

fn timeline(run: &DemoRun<'_>, output: &mut StandardOutput) {
    if run.seen.rows.is_empty() {
        return;
    }
    let rows = || run.seen.rows.iter().map(|(happened, _)| happened);
    let kinds = rows().map(|happened| happened.kind.name().len());
    let places =
        rows().map(|happened| run.scenario.topology.port_name(happened.place).chars().count());
    let widths =
        [(places.max(), PLACE), (kinds.max(), EVENT)].map(|(most, least)| most.max(Some(least)));
    let [place, event] = widths.map(Option::unwrap_or_default);
    output.line(&StyledLine::default());
    let head = format!("{:>12}  {:<place$} {:<7} event", "time µs", "place", "packet");
    output.line(&StyledLine::of(TextStyle::Head, head));
    for shown in &run.seen.rows {
        output.line(&row(run.scenario, [place, event], shown));
    }
    if run.seen.left_out > 0 {
        let more = format!("{:14}and {} more rows", "", run.seen.left_out);
        output.line(&StyledLine::of(TextStyle::Dim, more));
    }
}

fn print_figures(figures: &[DemoFigure], output: &mut StandardOutput) {
    if figures.is_empty() {
        return;
    }
    output.line(&StyledLine::default());
    let head = format!("{:<50} {:>14} {:>14}", "quantity", "published", "measured");
    output.line(&StyledLine::of(TextStyle::Head, head));
    for DemoFigure { what, published, measured } in figures {
        let line = StyledLine::of(TextStyle::Plain, format!("{what:<50} {published:>14} "));
        output.line(&line.and(TextStyle::Good, format!("{measured:>14}")));
    }
}

/// A row of the timeline, with these widths of place and event: fields are named as in the truth.
fn row(
    scenario: &Scenario,
    [place, event]: [usize; 2],
    (happened, more_like_it): &(TruthEvent, u64),
) -> StyledLine {
    let name = |node| scenario.topology.node(node).map_or("?", |node| &*node.name);
    let row = serde_json::to_value(happened.row(name)).unwrap_or_default();
    let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default();
    let (port, packet, kind) = (text("place"), text("packet"), text("event"));
    let line = StyledLine::of(TextStyle::Dim, format!("{:>12}  ", statistics::time(happened.at)))
        .and(TextStyle::Plain, format!("{port:<place$} {packet:<7} "))
        .and(role(&happened.kind), format!("{kind:<event$}"));
    // With the message's name, the wire's numbers are redundant.
    let named = row.get("message").is_some();
    let is_wire = matches!(happened.kind, TruthEventKind::Sent(_) | TruthEventKind::Received(_));
    let is_message =
        matches!(happened.kind, TruthEventKind::Transmitted(_) | TruthEventKind::Messaging(_));
    let shown = |key: &str| {
        if is_message {
            SHOWN.contains(&key) && !(named && matches!(key, "channel" | "seq"))
        } else {
            let is_known =
                matches!(key, "at" | "time_ps" | "place" | "packet" | "event" | "character");
            // The statistics have them.
            !is_wire && !is_known && !matches!(key, "probes" | "took")
        }
    };
    let fields = row.as_object().into_iter().flatten().filter(|(key, _)| shown(key));
    let fields: String = fields.map(|field| field_text(field, kind)).collect();
    let more =
        if *more_like_it > 0 { format!(" (and {more_like_it} more)") } else { String::new() };
    line.and(TextStyle::Plain, fields).and(TextStyle::Dim, more)
}

/// A field as `NAME VALUE`; without its name if that repeats the event's.
fn field_text((key, value): (&String, &Value), event: &str) -> String {
    let hex = matches!(key.as_str(), "code" | "syndrome");
    let value = match (value.as_str(), value.as_u64()) {
        (Some(text), _) => text.to_owned(),
        // The syndrome of a good packet is always 0.
        (None, Some(0)) if key == "syndrome" => return String::new(),
        (None, Some(bits)) if hex => format!("{bits:02x}"),
        (None, _) => value.to_string(),
    };
    if key == event || key == "message" { format!(" {value}") } else { format!(" {key} {value}") }
}

fn role(what: &TruthEventKind) -> TextStyle {
    match what.name() {
        "dropped" | "truncated" | "merged" | "overflow" | "blocked" | "fault" => TextStyle::Bad,
        "message-returned" | "message-lost" | "message-given-up" => TextStyle::Bad,
        "open-link" | "forward-reset" | "corrected-code" | "overrun-alarm" => TextStyle::Notice,
        "message-refused" | "transport-retransmitted" | "transport-duplicate" => TextStyle::Notice,
        _ => TextStyle::Plain,
    }
}
