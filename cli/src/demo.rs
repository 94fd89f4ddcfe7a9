//! `myriscope demo`: scenarios that are built in, and what each of them shows.

use std::collections::BTreeMap;

use analyzer::render::{StyledLine, TextStyle};
use clap::builder::PossibleValuesParser;
use serde_json::Value;
use simulator::messaging::{MessageId, MessagingEvent};
use simulator::network::Network;
use simulator::scenario::Scenario;
use simulator::statistics::RunStatistics;
use simulator::topology::NodeId;
use simulator::truth::{TraceLevel, TruthEvent, TruthEventKind};

use crate::args::DemoArgs as Arguments;
use crate::atomic_file::is_standard;
use crate::demos::DEMOS;
use crate::exit::{CliError, RunReport};
use crate::output::StandardOutput;
use crate::run_simulation::{RunFiles, run_scenario};
use crate::simulate::check_apart;
use crate::statistics;

/// Rows of the timeline. *Chosen*: with the rest they fill a screen.
const ROWS: usize = 24;

/// Columns of a place, and of an event, at least.
const PLACE: usize = 7;
const EVENT: usize = 14;

/// Periods of the full rate in a millisecond. §4.2
const PERIODS_PER_MS: u64 = 80_000;

/// Fields of a row about a message that the timeline shows. *Chosen*: others are too long for a line.
const SHOWN: [&str; 7] = ["channel", "credits", "endpoint", "message", "reason", "seq", "why"];

/// A scenario that is built in.
pub(crate) struct BuiltinDemo {
    pub(crate) name: &'static str,
    /// In a line.
    pub(crate) title: &'static str,
    /// In a few lines, with the rules.
    pub(crate) text: &'static str,
    pub(crate) scenario: &'static str,
    /// Kinds of events of the timeline.
    pub(crate) events: &'static [&'static str],
    /// What is published beside what is measured.
    pub(crate) figures: fn(&DemoRun<'_>) -> Vec<DemoFigure>,
}

/// A published figure, and the one that was measured.
pub(crate) struct DemoFigure {
    pub(crate) what: String,
    pub(crate) published: String,
    pub(crate) measured: String,
}

/// A run that has ended.
pub(crate) struct DemoRun<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) network: &'a Network,
    pub(crate) seen: &'a DemoEvents,
}

/// What is kept of what happened.
#[derive(Default)]
pub(crate) struct DemoEvents {
    pub(crate) statistics: RunStatistics,
    /// The first rows of the timeline; how many more like it follow each; how many are left out.
    rows: Vec<(TruthEvent, u64)>,
    left_out: u64,
    /// Packets taken in, by the host that sent them.
    pub(crate) consumed: BTreeMap<NodeId, u64>,
    /// The first of each kind, and how many there are.
    pub(crate) kinds: BTreeMap<&'static str, (TruthEvent, u64)>,
    /// Messages that were written, in each millisecond.
    pub(crate) written: BTreeMap<u64, u64>,
    /// How often each was.
    times: BTreeMap<MessageId, u64>,
}

/// Whether a row brings nothing new after another.
fn is_similar(one: &TruthEvent, other: &TruthEvent) -> bool {
    let TruthEvent { place, packet, kind: what, .. } = one;
    (*place, *packet, what.name()) == (other.place, other.packet, other.kind.name())
}

/// The names, for the command line.
pub(crate) fn names() -> PossibleValuesParser {
    DEMOS.iter().map(|demo| demo.name).collect::<Vec<_>>().into()
}

pub(crate) fn run(
    arguments: &Arguments,
    output: &mut StandardOutput,
) -> Result<RunReport, CliError> {
    let Arguments { name, list: _, capture, truth, scenario } = arguments;
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
    let written = [capture.as_deref(), truth.as_deref()];
    check_apart(None, written)?;
    let files = RunFiles::create(capture.as_deref(), truth.as_deref())?;
    if capture.is_none() {
        scenario.taps.clear();
    }
    let mut seen = DemoEvents::default();
    let network = run_scenario(&scenario, TraceLevel::Everything, files, &mut |happened| {
        seen.observe(happened, demo.events);
    })?;
    if !written.into_iter().flatten().any(is_standard) {
        print(demo, &DemoRun { scenario: &scenario, network: &network, seen: &seen }, output);
    }
    Ok(RunReport::default())
}

fn list(output: &mut StandardOutput) {
    for demo in &DEMOS {
        let name = StyledLine::of(TextStyle::Head, format!("{:<11} ", demo.name));
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

    /// How often something of a kind happened.
    pub(crate) fn count(&self, kind: &str) -> u64 {
        self.kinds.get(kind).map_or(0, |(_, count)| *count)
    }

    /// How often a message was written, of which that was done most.
    pub(crate) fn most_written(&self) -> u64 {
        self.times.values().copied().max().unwrap_or(0)
    }

    /// The first of a kind.
    pub(crate) fn first(&self, kind: &str) -> Option<&TruthEvent> {
        self.kinds.get(kind).map(|(first, _)| first)
    }

    /// The rows of the timeline.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &TruthEvent> {
        self.rows.iter().map(|(row, _)| row)
    }
}

fn print(demo: &BuiltinDemo, run: &DemoRun<'_>, output: &mut StandardOutput) {
    output.line(&StyledLine::of(TextStyle::Head, demo.title));
    demo.text.lines().for_each(|line| output.line(&StyledLine::of(TextStyle::Plain, line)));
    timeline(run, output);
    figures(&(demo.figures)(run), output);
    output.line(&StyledLine::default());
    statistics::print(run.scenario, run.network, &run.seen.statistics, output);
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
        let more = format!("{:14}and {} rows more", "", run.seen.left_out);
        output.line(&StyledLine::of(TextStyle::Dim, more));
    }
}

fn figures(figures: &[DemoFigure], output: &mut StandardOutput) {
    if figures.is_empty() {
        return;
    }
    output.line(&StyledLine::default());
    let head = format!("{:<50} {:>14} {:>14}", "figure", "published", "here");
    output.line(&StyledLine::of(TextStyle::Head, head));
    for DemoFigure { what, published, measured } in figures {
        let line = StyledLine::of(TextStyle::Plain, format!("{what:<50} {published:>14} "));
        output.line(&line.and(TextStyle::Good, format!("{measured:>14}")));
    }
}

/// A row of the timeline, with so many columns for place and event: its fields as they are in the truth.
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
    let shown = |key: &str| match happened.kind {
        TruthEventKind::Sent(_) | TruthEventKind::Received(_) => false,
        TruthEventKind::Transmitted(_) | TruthEventKind::Messaging(_) => {
            SHOWN.contains(&key) && !(named && matches!(key, "channel" | "seq"))
        }
        _ => !matches!(key, "at" | "place" | "packet" | "event"),
    };
    let fields = row.as_object().into_iter().flatten().filter(|(key, _)| shown(key));
    let fields: String = fields.map(|field| field_text(field, kind)).collect();
    let more =
        if *more_like_it > 0 { format!(" (and {more_like_it} more)") } else { String::new() };
    line.and(TextStyle::Plain, fields).and(TextStyle::Dim, more)
}

/// A field of a row in words: its name, unless the event is called so or it is plain, and its value.
fn field_text((key, value): (&String, &Value), event: &str) -> String {
    let hex = matches!(key.as_str(), "code" | "syndrome");
    let value = match (value.as_str(), value.as_u64()) {
        (Some(text), _) => text.to_owned(),
        // A good packet's says no more than its CRC byte.
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
