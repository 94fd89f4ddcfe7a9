//! Text of `myriscope mapping`: probes by kind, mappers over time, and the maps they distributed.

use std::collections::{BTreeMap, VecDeque};

use super::{ReportLayout, StyledLine, TextStyle, count};
use crate::event::Picoseconds;
use crate::mapping::{DistributedMap, MapperTerm, MappingEvent, ProbeOutcome, TermEnd};

/// Maximum numbers of mappers and maps of a summary, the latest ones. *Chosen*: as many as anybody reads.
const LISTED_MAX: usize = 256;

/// Columns of outcomes.
const OUTCOMES: [(&str, &[ProbeOutcome]); 6] = [
    ("answered", &[ProbeOutcome::Answered]),
    ("home", &[ProbeOutcome::Home]),
    ("lost", &[ProbeOutcome::Lost, ProbeOutcome::Elsewhere]),
    ("unseen", &[ProbeOutcome::Unseen, ProbeOutcome::UnderWay]),
    ("no answer", &[ProbeOutcome::Unanswered, ProbeOutcome::AnswerLost]),
    ("unasked", &[ProbeOutcome::Unasked]),
];

/// Events of mapping of a summary.
#[derive(Debug, Default)]
pub struct MappingText {
    probes: BTreeMap<&'static str, BTreeMap<ProbeOutcome, u64>>,
    unread: u64,
    installations: u64,
    mappers: ListedEvents<(String, MapperTerm)>,
    maps: ListedEvents<DistributedMap>,
}

/// The latest events of a kind, and the number of earlier ones.
#[derive(Debug)]
struct ListedEvents<T> {
    latest: VecDeque<T>,
    earlier: u64,
}

impl<T> Default for ListedEvents<T> {
    fn default() -> Self {
        Self { latest: VecDeque::new(), earlier: 0 }
    }
}

impl<T> ListedEvents<T> {
    fn add(&mut self, event: T) {
        self.latest.push_back(event);
        if self.latest.len() > LISTED_MAX {
            self.latest.pop_front();
            self.earlier += 1;
        }
    }

    fn earlier(&self, out: &mut impl FnMut(StyledLine)) {
        if self.earlier > 0 {
            out(StyledLine::of(TextStyle::Dim, format!("and {} before", self.earlier)));
        }
    }
}

impl MappingText {
    /// Adds an event; `node` names the node from which its first packet came.
    pub fn add(&mut self, event: MappingEvent, node: String) {
        match event {
            MappingEvent::Probe(probe) => {
                *self.probes.entry(probe.kind).or_default().entry(probe.outcome).or_default() += 1;
            }
            MappingEvent::Installation(_) => self.installations += 1,
            MappingEvent::Map(map) => self.maps.add(*map),
            MappingEvent::Mapper(term) => self.mappers.add((node, term)),
            MappingEvent::Unread(_) => self.unread += 1,
        }
    }
}

/// Prints the summary.
pub fn mapping(text: &MappingText, layout: ReportLayout, out: &mut impl FnMut(StyledLine)) {
    if text.probes.is_empty() && text.unread == 0 && text.mappers.latest.is_empty() {
        return out(StyledLine::of(TextStyle::Dim, "no packets of mapping"));
    }
    probes(text, out);
    mappers(text, layout, out);
    maps(text, layout, out);
}

fn probes(text: &MappingText, out: &mut impl FnMut(StyledLine)) {
    let names = OUTCOMES.map(|(name, _)| format!(" {name:>9}")).concat();
    out(StyledLine::of(TextStyle::Head, format!("{:<13} {:>6}{names}", "probe", "all")));
    for (kind, outcomes) in &text.probes {
        let all: u64 = outcomes.values().sum();
        let line = StyledLine::of(TextStyle::Plain, format!("{kind:<13} {all:>6}"));
        out(OUTCOMES.iter().fold(line, |line, (name, of)| {
            let number: u64 = of.iter().filter_map(|outcome| outcomes.get(outcome)).sum();
            let style = match (number, *name) {
                (0, _) => TextStyle::Dim,
                (_, "no answer" | "unasked") => TextStyle::Notice,
                (_, _) => TextStyle::Plain,
            };
            line.and(style, format!(" {number:>9}"))
        }));
    }
    if text.unread > 0 {
        let unread = format!("{} of mapping cannot be read", count(text.unread, "packet"));
        out(StyledLine::of(TextStyle::Notice, unread));
    }
}

fn mappers(text: &MappingText, layout: ReportLayout, out: &mut impl FnMut(StyledLine)) {
    if text.mappers.latest.is_empty() {
        return;
    }
    let unit = layout.unit.of_times();
    out(StyledLine::default());
    let from = format!("from {}", unit.name());
    let head = format!("{:<17} {:<9} {from:>11} {:>11}", "mapper", "node", "to");
    let head = StyledLine::of(TextStyle::Head, head)
        .and_ranked(1, TextStyle::Head, format!(" {:>7}", "packets"))
        .and(TextStyle::Head, format!("  {:<27}", "ended"));
    let rank = layout.rank(&head);
    out(head.without(rank));
    let mut terms: Vec<_> = text.mappers.latest.iter().collect();
    terms.sort_by_key(|(_, term)| (term.place.time, term.address));
    for (node, term) in terms {
        let [from, to] = [term.place.time, term.last].map(|time| unit.rounded(time));
        let line = format!("{:<17} {node:<9} {from:>11} {to:>11}", term.address);
        let line = StyledLine::of(TextStyle::Plain, line).and_ranked(
            1,
            TextStyle::Plain,
            format!(" {:>7}", term.packets),
        );
        let winner = term.winner.map_or_else(String::new, |winner| format!(" {winner}"));
        let ended = if term.ended == TermEnd::CaptureEnd { "-" } else { term.ended.name() };
        out(line.and(TextStyle::Plain, format!("  {ended}{winner}")).without(rank));
    }
    text.mappers.earlier(out);
}

fn maps(text: &MappingText, layout: ReportLayout, out: &mut impl FnMut(StyledLine)) {
    if text.maps.latest.is_empty() {
        return;
    }
    let unit = layout.unit.of_times();
    let time = |time: Option<Picoseconds>| time.map_or("-".to_owned(), |time| unit.rounded(time));
    out(StyledLine::default());
    let begun = format!("begun {}", unit.name());
    let head = format!("{:<17} {:>7} {begun:>11}", "map of", "version");
    let head = StyledLine::of(TextStyle::Head, head)
        .and_ranked(1, TextStyle::Head, format!(" {:>11}", "complete"))
        .and(TextStyle::Head, format!(" {:>11} {:>8}", "installed", "by"))
        .and(TextStyle::Head, "  hosts, switches, links");
    let rank = layout.rank(&head);
    out(head.without(rank));
    let mut maps: Vec<_> = text.maps.latest.iter().collect();
    maps.sort_by_key(|map| (map.place.time, map.mapper));
    for told in maps {
        let begun = unit.rounded(told.place.time);
        let [complete, installed] = [told.complete_time, told.installed_time].map(time);
        let by = format!("{} of {}", told.installed, told.asked);
        let style = if told.installed == told.asked { TextStyle::Good } else { TextStyle::Notice };
        let line = format!("{:<17} {:>7} {begun:>11}", told.mapper, told.version.0);
        let line = StyledLine::of(TextStyle::Plain, line)
            .and_ranked(1, TextStyle::Plain, format!(" {complete:>11}"))
            .and(TextStyle::Plain, format!(" {installed:>11}"))
            .and(style, format!(" {by:>8}  "));
        let line = match (&told.map, &told.fault, told.kind) {
            (Some(map), ..) => {
                let size = [map.hosts.len(), map.switches.into(), map.links.len()];
                line.and(TextStyle::Plain, size.map(|number| number.to_string()).join(", "))
            }
            (None, Some(fault), _) => line.and(TextStyle::Bad, fault),
            (None, None, "routes") => line.and(TextStyle::Dim, "routes"),
            (None, None, _) => line.and(TextStyle::Notice, "pieces are missing"),
        };
        out(line.without(rank));
    }
    text.maps.earlier(out);
    let installed = format!("{} of new routes", count(text.installations, "installation"));
    out(StyledLine::of(TextStyle::Plain, installed));
}
