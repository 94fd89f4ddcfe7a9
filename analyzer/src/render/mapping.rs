//! Text of `myriscope mapping`: probes by kind, mappers over time, and the maps they distributed.

use std::collections::{BTreeMap, VecDeque};

use codec::capture::Channel;

use super::{ReportLayout, StyledLine, TextStyle, count};
use crate::channel_name::ChannelEnds;
use crate::event::Picoseconds;
use crate::mapping::{
    DistributedMap, LinkOutage, LinkSource, MapComparison, MapperTerm, MappingEvent, ProbeOutcome,
    TermEnd,
};

/// Maximum numbers of mappers and maps of a summary, the latest ones. *Chosen*: as many as anybody reads.
const LISTED_MAX: usize = 256;

/// Maximum number of differences that are listed. *Chosen*: the drawing shows all.
const DIFFERENCES_MAX: usize = 32;

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
    outages: ListedEvents<(String, LinkOutage)>,
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
    /// Adds an event on a channel.
    pub fn add(&mut self, event: MappingEvent, channel: &Channel) {
        match event {
            MappingEvent::Probe(probe) => {
                *self.probes.entry(probe.kind).or_default().entry(probe.outcome).or_default() += 1;
            }
            MappingEvent::Installation(_) => self.installations += 1,
            MappingEvent::Map(map) => self.maps.add(*map),
            MappingEvent::Mapper(term) => {
                let node = ChannelEnds::of(channel).map(|ends| ends.from.node);
                self.mappers.add((node.unwrap_or_else(|| "?".to_owned()), term));
            }
            MappingEvent::Outage(outage) => self.outages.add((channel.name.clone(), outage)),
            MappingEvent::Unread(_) => self.unread += 1,
        }
    }

    /// True without packets of mapping.
    pub fn is_empty(&self) -> bool {
        self.probes.is_empty() && self.unread == 0 && self.mappers.latest.is_empty()
    }

    /// The latest maps.
    pub fn maps(&self) -> impl Iterator<Item = &DistributedMap> {
        self.maps.latest.iter()
    }
}

/// Prints the summary.
pub fn mapping(
    text: &MappingText,
    compared: &MapComparison,
    layout: ReportLayout,
    out: &mut impl FnMut(StyledLine),
) {
    if text.is_empty() {
        return out(StyledLine::of(TextStyle::Dim, "no packets of mapping"));
    }
    probes(text, out);
    mappers(text, layout, out);
    maps(text, layout, out);
    outages(text, layout, out);
    if text.maps().any(|distributed| distributed.map.is_some()) {
        differences(compared, out);
    }
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
    let head = format!("{:<17} {:<9} {from:>11} {:>11}", "mapper", "seen at", "to");
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
    for distributed in maps {
        let begun = unit.rounded(distributed.place.time);
        let [complete, installed] =
            [distributed.complete_time, distributed.installed_time].map(time);
        let by = format!("{} of {}", distributed.installed, distributed.requested);
        let style = if distributed.installed == distributed.requested {
            TextStyle::Good
        } else {
            TextStyle::Notice
        };
        let line = format!("{:<17} {:>7} {begun:>11}", distributed.mapper, distributed.version.0);
        let line = StyledLine::of(TextStyle::Plain, line)
            .and_ranked(1, TextStyle::Plain, format!(" {complete:>11}"))
            .and(TextStyle::Plain, format!(" {installed:>11}"))
            .and(style, format!(" {by:>8}  "));
        let line = match (&distributed.map, &distributed.fault, distributed.kind) {
            (Some(map), ..) => {
                let size = [map.hosts.len(), map.switches.into(), map.links.len()];
                let line =
                    line.and(TextStyle::Plain, size.map(|number| number.to_string()).join(", "));
                map.routers
                    .iter()
                    .filter_map(|router| map.hosts.get(usize::from(*router)))
                    .fold(line, |line, router| {
                        line.and(TextStyle::Plain, format!(", router {router}"))
                    })
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

fn outages(text: &MappingText, layout: ReportLayout, out: &mut impl FnMut(StyledLine)) {
    if text.outages.latest.is_empty() {
        return;
    }
    let unit = layout.unit.of_times();
    out(StyledLine::default());
    let [at, after] = ["at", "healed after"].map(|text| format!("{text} {}", unit.name()));
    let head = format!("{:<23} {at:>11} {:>11} {after:>15}", "silent link", "new routes");
    out(StyledLine::of(TextStyle::Head, format!("{head} {:>12}", "last flow")));
    for (channel, outage) in &text.outages.latest {
        let routes = format!("{} of {}", outage.healed, outage.flows);
        let at = unit.rounded(outage.place.time);
        let time = |time: Option<Picoseconds>| time.map_or("-".to_owned(), |it| unit.rounded(it));
        let first = time(outage.times.map(|(first, _)| first));
        let last = time(outage.times.map(|(_, last)| last));
        let style = if outage.healed == outage.flows { TextStyle::Good } else { TextStyle::Notice };
        out(StyledLine::of(TextStyle::Plain, format!("{channel:<23} {at:>11} "))
            .and(style, format!("{routes:>11}"))
            .and(TextStyle::Plain, format!(" {first:>15} {last:>12}")));
    }
    text.outages.earlier(out);
}

/// Links that the newest maps and the capture do not have in common.
fn differences(compared: &MapComparison, out: &mut impl FnMut(StyledLine)) {
    let [both, capture, map] = [LinkSource::Both, LinkSource::Capture, LinkSource::Map]
        .map(|source| compared.count(source));
    out(StyledLine::default());
    let head = format!("{} in the newest map and in the capture", count(both, "link"));
    out(StyledLine::of(TextStyle::Head, head));
    for (number, source, what) in [
        (capture, LinkSource::Capture, "in the capture only"),
        (map, LinkSource::Map, "in the map only"),
    ] {
        if number > 0 {
            out(StyledLine::of(TextStyle::Notice, format!("{} {what}", count(number, "link"))));
        }
        for link in compared.links(source).take(DIFFERENCES_MAX) {
            out(StyledLine::of(TextStyle::Plain, format!("  {link}")));
        }
        if number > DIFFERENCES_MAX {
            out(StyledLine::of(TextStyle::Dim, format!("  and {}", number - DIFFERENCES_MAX)));
        }
    }
    if compared.unplaced > 0 {
        let links = count(compared.unplaced, "link");
        let text = format!(
            "{links} of maps cannot be placed: no interface beside, or a port is used twice"
        );
        out(StyledLine::of(TextStyle::Notice, text));
    }
}
