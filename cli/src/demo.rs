//! `myriscope demo`: scenarios that are built in, and what each of them shows.

use std::collections::BTreeMap;

use analyzer::text::{Line, Role};
use clap::builder::PossibleValuesParser;
use serde_json::Value;
use simulator::endpoint::{MessageId, Told};
use simulator::network::Network;
use simulator::scenario::Scenario;
use simulator::stats::RunStatistics;
use simulator::topology::NodeId;
use simulator::truth::{Happened, Wanted, What};

use crate::args::Demo as Arguments;
use crate::demos::DEMOS;
use crate::output::Output;
use crate::report::{Failure, Report};
use crate::running::{Files, run_through};
use crate::simulate::check_apart;
use crate::statistics;
use crate::target::is_standard;

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
pub(crate) struct Demo {
    pub(crate) name: &'static str,
    /// In a line.
    pub(crate) title: &'static str,
    /// In a few lines, with the rules.
    pub(crate) text: &'static str,
    pub(crate) scenario: &'static str,
    /// Kinds of events of the timeline.
    pub(crate) events: &'static [&'static str],
    /// What is published beside what is measured.
    pub(crate) figures: fn(&Run<'_>) -> Vec<Figure>,
}

/// A published figure, and the one that was measured.
pub(crate) struct Figure {
    pub(crate) what: String,
    pub(crate) published: String,
    pub(crate) measured: String,
}

/// A run that has ended.
pub(crate) struct Run<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) network: &'a Network,
    pub(crate) seen: &'a Seen,
}

/// What is kept of what happened.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) statistics: RunStatistics,
    /// The first rows of the timeline; how many more like it follow each; how many are left out.
    rows: Vec<(Happened, u64)>,
    left_out: u64,
    /// Packets taken in, by the host that sent them.
    pub(crate) consumed: BTreeMap<NodeId, u64>,
    /// The first of each kind, and how many there are.
    pub(crate) kinds: BTreeMap<&'static str, (Happened, u64)>,
    /// Messages that were written, in each millisecond.
    pub(crate) written: BTreeMap<u64, u64>,
    /// How often each was.
    times: BTreeMap<MessageId, u64>,
}

/// Whether a row brings nothing new after another.
fn is_like(one: &Happened, other: &Happened) -> bool {
    let Happened { place, packet, what, .. } = one;
    (*place, *packet, what.kind()) == (other.place, other.packet, other.what.kind())
}

/// The names, for the command line.
pub(crate) fn names() -> PossibleValuesParser {
    DEMOS.iter().map(|demo| demo.name).collect::<Vec<_>>().into()
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Report, Failure> {
    let Arguments { name, list: _, capture, truth, scenario } = arguments;
    let found = name.as_ref().and_then(|name| DEMOS.iter().find(|demo| demo.name == name));
    let Some(demo) = found else {
        list(output);
        return Ok(Report::default());
    };
    if *scenario {
        output.text(demo.scenario);
        return Ok(Report::default());
    }
    let mut scenario =
        Scenario::read(demo.name, demo.scenario).map_err(|error| Failure::scenario(&error))?;
    let written = [capture.as_deref(), truth.as_deref()];
    check_apart(None, written)?;
    let files = Files::create(capture.as_deref(), truth.as_deref())?;
    if capture.is_none() {
        scenario.taps.clear();
    }
    let mut seen = Seen::default();
    let network = run_through(&scenario, Wanted::Everything, files, &mut |happened| {
        seen.observe(happened, demo.events);
    })?;
    if !written.into_iter().flatten().any(is_standard) {
        print(demo, &Run { scenario: &scenario, network: &network, seen: &seen }, output);
    }
    Ok(Report::default())
}

fn list(output: &mut Output) {
    for demo in &DEMOS {
        let name = Line::of(Role::Head, format!("{:<11} ", demo.name));
        output.line(&name.and(Role::Plain, demo.title));
    }
}

impl Seen {
    fn observe(&mut self, happened: &Happened, events: &[&str]) {
        self.statistics.observe(happened);
        let kind = happened.what.kind();
        let (_, count) = self.kinds.entry(kind).or_insert_with(|| (happened.clone(), 0));
        *count += 1;
        if let (What::Consumed { .. }, Some(packet)) = (&happened.what, happened.packet) {
            *self.consumed.entry(packet.host).or_default() += 1;
        }
        if let What::Told(Told::Written(message, _)) = happened.what {
            *self.times.entry(message).or_default() += 1;
            *self.written.entry(happened.at / PERIODS_PER_MS).or_default() += 1;
        }
        if events.contains(&kind) {
            self.list(happened);
        }
    }

    fn list(&mut self, happened: &Happened) {
        let full = self.rows.len() >= ROWS;
        match self.rows.last_mut() {
            Some((last, more)) if self.left_out == 0 && is_like(last, happened) => *more += 1,
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
    pub(crate) fn first(&self, kind: &str) -> Option<&Happened> {
        self.kinds.get(kind).map(|(first, _)| first)
    }

    /// The rows of the timeline.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &Happened> {
        self.rows.iter().map(|(row, _)| row)
    }
}

fn print(demo: &Demo, run: &Run<'_>, output: &mut Output) {
    output.line(&Line::of(Role::Head, demo.title));
    demo.text.lines().for_each(|line| output.line(&Line::of(Role::Plain, line)));
    timeline(run, output);
    figures(&(demo.figures)(run), output);
    output.line(&Line::default());
    statistics::print(run.scenario, run.network, &run.seen.statistics, output);
}

fn timeline(run: &Run<'_>, output: &mut Output) {
    if run.seen.rows.is_empty() {
        return;
    }
    let rows = || run.seen.rows.iter().map(|(happened, _)| happened);
    let kinds = rows().map(|happened| happened.what.kind().len());
    let places =
        rows().map(|happened| run.scenario.topology.port_name(happened.place).chars().count());
    let widths =
        [(places.max(), PLACE), (kinds.max(), EVENT)].map(|(most, least)| most.max(Some(least)));
    let [place, event] = widths.map(Option::unwrap_or_default);
    output.line(&Line::default());
    let head = format!("{:>12}  {:<place$} {:<7} event", "time µs", "place", "packet");
    output.line(&Line::of(Role::Head, head));
    for shown in &run.seen.rows {
        output.line(&row(run.scenario, [place, event], shown));
    }
    if run.seen.left_out > 0 {
        let more = format!("{:14}and {} rows more", "", run.seen.left_out);
        output.line(&Line::of(Role::Dim, more));
    }
}

fn figures(figures: &[Figure], output: &mut Output) {
    if figures.is_empty() {
        return;
    }
    output.line(&Line::default());
    let head = format!("{:<50} {:>14} {:>14}", "figure", "published", "here");
    output.line(&Line::of(Role::Head, head));
    for Figure { what, published, measured } in figures {
        let line = Line::of(Role::Plain, format!("{what:<50} {published:>14} "));
        output.line(&line.and(Role::Good, format!("{measured:>14}")));
    }
}

/// A row of the timeline, with so many columns for place and event: its fields as they are in the truth.
fn row(
    scenario: &Scenario,
    [place, event]: [usize; 2],
    (happened, more_like_it): &(Happened, u64),
) -> Line {
    let name = |node| scenario.topology.node(node).map_or("?", |node| &*node.name);
    let row = happened.row(name);
    let packet = row.packet.map_or_else(String::new, |packet| packet.to_string());
    let line = Line::of(Role::Dim, format!("{:>12}  ", statistics::time(row.at)))
        .and(Role::Plain, format!("{:<place$} {packet:<7} ", row.place.to_string()))
        .and(role(&happened.what), format!("{:<event$}", row.event));
    let more = serde_json::to_value(&row.more).unwrap_or_default();
    let message = serde_json::to_value(&row.message).unwrap_or_default();
    let of_message = message.as_object().into_iter().flatten();
    // Where it says which message, the wire's numbers say no more.
    let named = row.message.as_ref().is_some_and(|row| row.message.is_some());
    let told = |key: &str| SHOWN.contains(&key) && !(named && matches!(key, "channel" | "seq"));
    let of_message = of_message.filter(|(key, _)| told(key));
    let fields = more.as_object().into_iter().flatten().chain(of_message);
    let fields: String = fields.map(|field| said(field, row.event)).collect();
    let more =
        if *more_like_it > 0 { format!(" (and {more_like_it} more)") } else { String::new() };
    line.and(Role::Plain, fields).and(Role::Dim, more)
}

/// A field of a row in words: its name, unless the event is called so or it is plain, and its value.
fn said((key, value): (&String, &Value), event: &str) -> String {
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

fn role(what: &What) -> Role {
    match what.kind() {
        "dropped" | "truncated" | "merged" | "overflow" | "blocked" | "fault" => Role::Bad,
        "message-returned" | "message-lost" | "message-given-up" => Role::Bad,
        "open-link" | "forward-reset" | "corrected-code" | "overrun-alarm" => Role::Notice,
        "message-refused" | "transport-retransmitted" | "transport-duplicate" => Role::Notice,
        _ => Role::Plain,
    }
}
