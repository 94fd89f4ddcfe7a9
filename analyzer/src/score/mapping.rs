//! Comparison of mapping with the truth: probes and requests with their outcomes, installations, maps,
//! and mappers. N-2, N-7
//!
//! Expectations follow from the packets that were sent and captured intact, and from the interfaces'
//! own events, never from the analysis. What was damaged, or is not over at the end, is not compared.

#![expect(clippy::wildcard_enum_match_arm, reason = "most kinds of rows are not about mapping")]

use std::collections::{BTreeMap, BTreeSet};

use codec::capture::ChannelId;
use codec::mapping::TAG;
use codec::packet::CrcCheck;

use super::channel_score::MatchCount;
use super::truth::{TruthFrame, TruthLine, TruthMap, TruthMapping, TruthWhat};
use crate::mapping::{MappingEvent, ProbeOutcome, TermEnd};
use crate::named_enum::named_enum;
use crate::packet::FrameEnd;

/// Maximum number of examples. *Chosen*: as many as a reader examines.
const ODD_MAX: usize = 16;

/// Maximum number of places that are not compared. *Chosen*: more than are damaged in milliseconds.
const OPTIONAL_MAX: usize = 1 << 16;

named_enum! {
    pub(super) enum MappingLineKind {
        Probe = "mapping-probe",
        Installation = "installation",
        Map = "map",
        Mapper = "mapper",
        Resignation = "resignation",
    }
}

/// Channel and first byte of a packet's first capture.
type ScoredPlace = (ChannelId, u64);

/// A fact, its place if it is about one packet, and its words.
type MappingLine = (MappingLineKind, Option<ScoredPlace>, String);

/// A mapping packet that has not ended.
#[derive(Clone, Debug)]
struct SentMapping {
    label: TruthMapping,
    /// Port of its interface.
    home: String,
    place: Option<ScoredPlace>,
    is_whole: bool,
    /// Row of the switch that dropped it, before its last byte was sent.
    dropped: Option<Box<TruthLine>>,
}

/// What the truth of one interface has announced and its packets have not shown yet.
#[derive(Clone, Debug, Default)]
struct InterfaceNews {
    is_elected: bool,
    winner: Option<String>,
    map: Option<(TruthMap, BTreeSet<u16>)>,
    installed: Option<(String, u32)>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct MappingScore {
    /// Packets by name.
    sent: BTreeMap<String, SentMapping>,
    /// Requests that have arrived, by ticket and port.
    arrived: BTreeMap<(u32, String), Vec<SentMapping>>,
    news: BTreeMap<String, InterfaceNews>,
    /// Interfaces that are mappers by their packets.
    mappers: BTreeSet<String>,
    /// Ports of interfaces.
    homes: BTreeSet<String>,
    /// Unmatched lines: the surplus in the truth, or, if negative, in the analysis.
    open: BTreeMap<MappingLine, i64>,
    /// Ports at which probes were dropped.
    drops: BTreeMap<ScoredPlace, String>,
    /// Number of matched lines.
    right: BTreeMap<MappingLineKind, u64>,
    /// Places of packets whose unmatched lines are not compared.
    optional: BTreeSet<ScoredPlace>,
}

impl MappingScore {
    pub(super) fn row(&mut self, row: &TruthLine) {
        let news = || row.place.clone();
        match &row.what {
            TruthWhat::MappingTransmitted(label) => self.transmitted(row, label),
            TruthWhat::MapperElected => self.news.entry(news()).or_default().is_elected = true,
            TruthWhat::MapperResigned { winner } => {
                self.news.entry(news()).or_default().winner = Some(winner.clone());
            }
            TruthWhat::MapVersion(map) => {
                self.news.entry(news()).or_default().map = Some((*map, BTreeSet::new()));
            }
            TruthWhat::RoutesInstalled { mapper, version } => {
                let installed = Some((mapper.clone(), *version));
                self.news.entry(news()).or_default().installed = installed;
            }
            TruthWhat::Truncated | TruthWhat::Overflow | TruthWhat::Merged => {
                let sent = row.packet.as_ref().and_then(|name| self.sent.get_mut(name));
                sent.into_iter().for_each(|sent| sent.is_whole = false);
            }
            TruthWhat::Consumed { .. } | TruthWhat::Dropped { .. } => self.ended(row),
            _ => {}
        }
    }

    fn transmitted(&mut self, row: &TruthLine, label: &TruthMapping) {
        let Some(name) = row.packet.clone() else { return };
        let (home, label) = (row.place.clone(), label.clone());
        self.homes.insert(home.clone());
        let sent = SentMapping { label, home, place: None, is_whole: true, dropped: None };
        self.sent.insert(name, sent);
    }

    pub(super) fn frame(&mut self, id: ChannelId, row: &TruthLine, frame: &TruthFrame) {
        let sent = row.packet.as_ref().and_then(|name| self.sent.get_mut(name));
        let Some(sent) = sent else { return };
        let good = frame.crc == CrcCheck::Good.name() && frame.ended_by == FrameEnd::Gap.name();
        sent.is_whole &= good && frame.tag == Some(TAG);
        if sent.place.is_none() {
            sent.place = Some((id, frame.start));
            if sent.is_whole {
                let sent = sent.clone();
                self.shows(&sent);
            }
            let dropped =
                row.packet.as_ref().and_then(|name| self.sent.get_mut(name)?.dropped.take());
            dropped.into_iter().for_each(|row| self.ended(&row));
        }
    }

    /// Expects what the first capture of a packet shows, in the order of transmission.
    fn shows(&mut self, sent: &SentMapping) {
        let SentMapping { label, home, place, .. } = sent;
        let source = &label.source;
        let news = self.news.entry(home.clone()).or_default();
        let mut lines = Vec::new();
        match label.kind.as_str() {
            "answer" => {
                if label.mapper.as_ref() != Some(source) {
                    self.mappers.remove(source);
                }
                let shown = label.mapper.clone().zip(label.version);
                if label.status.as_deref() == Some("installed") && shown == news.installed {
                    news.installed = None;
                    let text = installation(source, label.mapper.as_deref(), label.version);
                    lines.push((MappingLineKind::Installation, *place, text));
                }
            }
            "resign" => {
                let winner = news.winner.take().filter(|_| self.mappers.remove(source));
                let text = winner.map(|winner| format!("{source} for {winner}"));
                lines.extend(text.map(|text| (MappingLineKind::Resignation, None, text)));
            }
            kind => {
                if self.mappers.insert(source.clone()) && news.is_elected {
                    lines.push((MappingLineKind::Mapper, *place, source.clone()));
                }
                news.is_elected = false;
                if let (Some((map, pieces)), Some(piece)) = (&mut news.map, label.piece)
                    && Some(map.version) == label.version
                {
                    pieces.insert(piece);
                    if kind == "routes" || Some(pieces.len()) == label.pieces.map(usize::from) {
                        let TruthMap { hosts, switches, links, version } = *map;
                        let size = (kind == "map").then_some([hosts, switches, links]);
                        let text = map_text(source, version, size);
                        lines.push((MappingLineKind::Map, None, text));
                        news.map = None;
                    }
                }
            }
        }
        lines.into_iter().for_each(|line| self.add(line, 1));
    }

    /// Processes the end of a packet at a port.
    fn ended(&mut self, row: &TruthLine) {
        // Its frame, which tells its place, is known when its last byte has been sent.
        if let (Some(name), TruthWhat::Dropped { .. }) = (&row.packet, &row.what)
            && let Some(sent) = self.sent.get_mut(name).filter(|sent| sent.place.is_none())
        {
            sent.dropped = Some(Box::new(row.clone()));
            return;
        }
        let Some(sent) = row.packet.as_ref().and_then(|name| self.sent.remove(name)) else {
            return;
        };
        let at = &row.place;
        let good = matches!(&row.what, TruthWhat::Consumed { crc: Some(crc), .. }
            if crc == CrcCheck::Good.name());
        // A packet that is dropped in an interface has arrived there.
        let inside = !good && self.homes.contains(at);
        if !sent.is_whole || sent.place.is_none() || inside {
            if sent.label.kind == "answer" {
                let request_of = self.request_of(&sent, at);
                request_of.iter().for_each(|request_of| self.may_be(request_of));
            }
            return self.may_be(&sent);
        }
        let is_request = sent.label.version.is_some();
        match (sent.label.kind.as_str(), good) {
            ("resign", _) => {}
            ("answer", _) => {
                let outcome = if good { "answered" } else { "answer-lost" };
                match self.request_of(&sent, at) {
                    Some(request_of) => self.probe(&request_of, outcome, &sent.label.source),
                    // It answers what was not compared.
                    None => self.may_be(&sent),
                }
            }
            (_, false) => {
                self.drops.extend(sent.place.map(|place| (place, at.clone())));
                self.probe(&sent, "lost", "");
            }
            (_, true) if sent.home == *at => self.probe(&sent, "home", ""),
            (_, true) if !is_request => self.probe(&sent, "elsewhere", ""),
            (_, true) => {
                let key = (sent.label.ticket.unwrap_or_default(), at.clone());
                self.arrived.entry(key).or_default().push(sent);
            }
        }
    }

    /// Removes the request that an answer, which has ended at a port, is for.
    fn request_of(&mut self, answer: &SentMapping, at: &str) -> Option<SentMapping> {
        let key = (answer.label.ticket?, answer.home.clone());
        let request_of = self.arrived.get_mut(&key)?;
        let fits = request_of.iter().position(|request_of| request_of.home == *at);
        let found = request_of.remove(fits.unwrap_or(0));
        if request_of.is_empty() {
            self.arrived.remove(&key);
        }
        Some(found)
    }

    fn probe(&mut self, sent: &SentMapping, outcome: &str, by: &str) {
        let TruthMapping { kind, source, ticket, .. } = &sent.label;
        let text = probe_text(kind, source, ticket.unwrap_or_default(), outcome) + by;
        self.add((MappingLineKind::Probe, sent.place, text), 1);
    }

    fn may_be(&mut self, sent: &SentMapping) {
        self.optional.extend(sent.place);
        if self.optional.len() > OPTIONAL_MAX {
            self.optional.pop_first();
        }
    }

    /// Adds an event of the analysis; `to` is the port to which a channel leads.
    pub(super) fn found(&mut self, event: &MappingEvent, to: impl Fn(ChannelId) -> Option<String>) {
        let place = Some((event.place().channel, event.place().at.0));
        match event {
            MappingEvent::Probe(probe) => {
                let drop = place.and_then(|place| self.drops.remove(&place));
                let outcome = match probe.outcome {
                    // A node that drops it may be an interface, as far as its last link shows.
                    ProbeOutcome::Unanswered if drop.is_some() && drop == to(probe.last) => {
                        ProbeOutcome::Lost
                    }
                    ProbeOutcome::UnderWay => return self.optional.extend(place),
                    // Behind a port without a cable nothing is seen, but what is unseen may have come to an
                    // interface.
                    ProbeOutcome::Unseen => {
                        self.optional.extend(place);
                        ProbeOutcome::Lost
                    }
                    outcome => outcome,
                };
                let by = probe.answer.map_or_else(String::new, |it| it.source.to_string());
                let source = probe.source.to_string();
                let text = probe_text(probe.kind, &source, probe.ticket.0, outcome.name()) + &by;
                self.add((MappingLineKind::Probe, place, text), -1);
            }
            MappingEvent::Installation(it) => {
                let mapper = it.mapper.map(|mapper| mapper.to_string());
                let (address, version) = (it.address.to_string(), Some(it.version.0));
                let text = installation(&address, mapper.as_deref(), version);
                self.add((MappingLineKind::Installation, place, text), -1);
            }
            MappingEvent::Map(distributed) => {
                let map = distributed.map.as_ref();
                let size = map.map(|map| {
                    [map.hosts.len() as u64, map.switches.into(), map.links.len() as u64]
                });
                if distributed.kind == "routes" || size.is_some() {
                    let text =
                        map_text(&distributed.mapper.to_string(), distributed.version.0, size);
                    self.add((MappingLineKind::Map, None, text), -1);
                }
            }
            MappingEvent::Mapper(term) => {
                let address = term.address.to_string();
                if let (TermEnd::Resigned, Some(winner)) = (term.ended, term.winner) {
                    let text = format!("{address} for {winner}");
                    self.add((MappingLineKind::Resignation, None, text), -1);
                }
                self.add((MappingLineKind::Mapper, place, address), -1);
            }
            MappingEvent::Outage(_) => {}
            MappingEvent::Unread(_) => self.optional.extend(place),
        }
    }

    /// Adds a line of the truth (`step` 1) or of the analysis (`step` −1).
    fn add(&mut self, line: MappingLine, step: i64) {
        let open = self.open.remove(&line).unwrap_or(0);
        if open.signum() == -step {
            *self.right.entry(line.0).or_default() += 1;
            if let Some(place) = &line.1 {
                self.optional.remove(place);
            }
        }
        if open != -step {
            self.open.insert(line, open + step);
        }
    }

    /// Ends the comparison.
    pub(super) fn finish(&mut self) {
        let waiting: Vec<SentMapping> =
            std::mem::take(&mut self.arrived).into_values().flatten().collect();
        let under_way: Vec<SentMapping> = std::mem::take(&mut self.sent).into_values().collect();
        for sent in waiting {
            let is_it = |answer: &SentMapping| {
                answer.label.ticket == sent.label.ticket && answer.label.kind == "answer"
            };
            match under_way.iter().any(is_it) {
                true => self.may_be(&sent),
                false => self.probe(&sent, "unanswered", ""),
            }
        }
        under_way.iter().for_each(|sent| self.may_be(sent));
        let optional = &self.optional;
        self.open.retain(|(_, place, _), _| place.is_none_or(|place| !optional.contains(&place)));
    }

    pub(super) fn counts(&self) -> [(&'static str, MatchCount); 5] {
        MappingLineKind::ALL.map(|kind| {
            let right = self.right.get(&kind).copied().unwrap_or_default();
            let mut count = MatchCount { in_truth: right, found: right, right };
            for (_, more) in self.open.iter().filter(|((of, ..), _)| *of == kind) {
                let side = if *more > 0 { &mut count.in_truth } else { &mut count.found };
                *side += more.unsigned_abs();
            }
            (kind.name(), count)
        })
    }

    /// The first differences: account, kind and description.
    pub(super) fn odd(&self) -> impl Iterator<Item = (&'static str, &'static str, String)> {
        self.open.iter().take(ODD_MAX).map(|((kind, _, text), more)| {
            (if *more > 0 { "missed" } else { "invented" }, kind.name(), text.clone())
        })
    }
}

fn probe_text(kind: &str, source: &str, ticket: u32, outcome: &str) -> String {
    format!("{kind} {ticket} of {source} {outcome} ")
}

fn installation(address: &str, mapper: Option<&str>, version: Option<u32>) -> String {
    format!("{address}: map {} of {}", version.unwrap_or_default(), mapper.unwrap_or("none"))
}

fn map_text(mapper: &str, version: u32, size: Option<[u64; 3]>) -> String {
    format!("{version} of {mapper}: {size:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn installations_of_other_interfaces_mappers_or_versions_differ() {
        let lines = [("a", "m", 1), ("b", "m", 1), ("a", "n", 1), ("a", "m", 2)]
            .map(|(address, mapper, version)| installation(address, Some(mapper), Some(version)));
        assert_eq!(lines, ["a: map 1 of m", "b: map 1 of m", "a: map 1 of n", "a: map 2 of m"]);
    }
}
