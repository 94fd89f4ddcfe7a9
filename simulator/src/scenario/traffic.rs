//! `[[traffic]]` and `[[raw]]`: patterns and loads, converted to streams. I-1

mod pattern;
mod problem;

use std::num::NonZeroU8;
use std::ops::Range;

use codec::ip;
use codec::notation::parse;
use codec::packet::PacketTag;
use codec::words::{did_you_mean, shortened};

use self::pattern::{PatternKeys, PatternRule, TrafficPattern};
use super::arrivals::{self, ArrivalLaw};
use super::keys::{self, BoolPair, FieldKey, IntRange, KeyList, WordList, key};
use super::limits::{BLOCKS_MAX, DESTINATIONS_MAX, RAW_MAX};
use super::names::{NameLookup, NetworkCompleteness};
use super::toml_reader::{TomlItem, TomlTable, TomlText};
use crate::packet_types::MULTICAST;
use crate::routes::RouteTable;
use crate::topology::{NodeId, RoutedNetworks};
use crate::traffic::IpProtocol;
use crate::traffic::{
    ArrivalProcess, ChecksumMode, CommandForm, RawText, SignalMode, StreamDestination,
    TrafficStream,
};

pub(super) struct TrafficReader<'a> {
    map: NameLookup<'a>,
    routes: &'a RouteTable,
    routed: RoutedNetworks,
    duration: u64,
    streams: Vec<TrafficStream>,
    destinations: usize,
    raw: Vec<RawText>,
    characters: usize,
}

const CHECKSUMS: [(&str, ChecksumMode); 3] =
    [("none", ChecksumMode::None), ("host", ChecksumMode::Host), ("nic", ChecksumMode::Nic)];

const PROTOCOLS: [(&str, IpProtocol); 2] = [("udp", IpProtocol::Udp), ("tcp", IpProtocol::Tcp)];

/// I-6
pub(super) const COMMAND: &KeyList<CommandForm> = &[
    key!(CommandForm, "checksum", WordList(&CHECKSUMS), checksum),
    key!(CommandForm, "blocks", IntRange(1..=BLOCKS_MAX), blocks),
    key!(CommandForm, "interrupt", BoolPair([SignalMode::Poll, SignalMode::Interrupt]), signal),
];

struct SenderList {
    hosts: Vec<NodeId>,
    span: Range<usize>,
}

/// A stream of a table, without its own sender and receiver.
struct StreamTemplate {
    span: Range<usize>,
    law: ArrivalLaw,
    stream: TrafficStream,
}

impl<'a> TrafficReader<'a> {
    pub(super) fn new(map: NameLookup<'a>, routes: &'a RouteTable, duration: u64) -> Self {
        Self {
            map,
            routes,
            routed: RoutedNetworks::of(map.topology),
            duration,
            streams: Vec::new(),
            destinations: 0,
            raw: Vec::new(),
            characters: 0,
        }
    }

    pub(super) fn read(mut self, root: &mut TomlTable<'_>) -> (Vec<TrafficStream>, Vec<RawText>) {
        for table in root.tables("traffic") {
            self.traffic(table, None);
        }
        for mut table in root.tables("ip") {
            let protocol = table.needed("proto").and_then(|item| item.word(&PROTOCOLS));
            self.traffic(table, Some(protocol.unwrap_or(IpProtocol::Udp)));
        }
        for table in root.tables("raw") {
            self.raw(table);
        }
        (self.streams, self.raw)
    }

    fn traffic(&mut self, mut table: TomlTable<'_>, protocol: Option<IpProtocol>) {
        let senders = self.senders(&mut table);
        let to = table.needed("to");
        let pattern = to.as_ref().and_then(TomlItem::as_text);
        let pattern = pattern.and_then(|to| TrafficPattern::find(to.text));
        let own = PatternKeys::read(pattern, &mut table, &self.map);
        let pairs = senders
            .zip(to.as_ref())
            .filter(|_| self.destinations <= DESTINATIONS_MAX)
            .and_then(|(senders, to)| self.pairs(&senders, to, pattern, own));
        let start = table.time("start", 0..=self.duration.saturating_sub(1));
        let multicast = match protocol {
            Some(_) => None,
            None => table.integer("multicast", 1..=u8::MAX.into()).and_then(NonZeroU8::new),
        };
        let tag: Option<u8> = match (protocol, multicast) {
            (Some(_), _) => Some(ip::TAG),
            (None, Some(_)) => Some(MULTICAST.value()),
            (None, None) => table.integer("tag", 0..=127),
        };
        let packets = table.integer("packets", 0..=u64::MAX);
        let command = keys::read(COMMAND, &mut table, CommandForm::default());
        let payload = arrivals::payload(&mut table);
        let law = arrivals::read(&mut table);
        let span = to.map_or_else(|| table.span(), |to| to.span);
        table.finish();
        if let (Some(pairs), Some(payload), Some(law), Some(tag)) =
            (pairs, payload, law, PacketTag::new(tag.unwrap_or(0)))
        {
            let start = start.map_or(0, |start| start.periods);
            let (from, to) = (NodeId(0), StreamDestination::Among(Vec::new()));
            let arrivals = ArrivalProcess::Saturating;
            let stream = TrafficStream {
                from,
                to,
                tag,
                protocol,
                multicast,
                payload,
                arrivals,
                start,
                packets,
                command,
            };
            self.add(pairs, &StreamTemplate { span, law, stream });
        }
    }

    /// Senders: the hosts of `from`, by default all with a cable.
    fn senders(&self, table: &mut TomlTable<'_>) -> Option<SenderList> {
        let Some(item) = table.item("from") else {
            return Some(SenderList { hosts: self.map.cabled_hosts(), span: table.span() });
        };
        Some(SenderList { hosts: self.map.hosts(&item)?, span: item.span })
    }

    fn pairs(
        &self,
        senders: &SenderList,
        to: &TomlItem<'_>,
        pattern: Option<TrafficPattern>,
        own: PatternKeys,
    ) -> Option<Vec<(NodeId, StreamDestination)>> {
        if let Some(list) = to.as_list() {
            let among = self.map.host_list(&list)?;
            return Some(from_each(&senders.hosts, &StreamDestination::Among(among)));
        }
        let text = to.text("a host, a list of hosts or a pattern")?;
        let Some(pattern) = pattern else {
            let to = self.destination(&text)?;
            let mut pairs = from_each(&senders.hosts, &StreamDestination::One(to));
            if senders.hosts.len() > 1 {
                pairs.retain(|(from, _)| *from != to);
            }
            return Some(pairs);
        };
        let all = self.map.cabled_hosts();
        match pattern.rule {
            PatternRule::Uniform => Some(from_each(&senders.hosts, &StreamDestination::Among(all))),
            PatternRule::Hotspot => {
                let among = own.weighted(all)?;
                let count = senders.hosts.len().saturating_mul(among.len());
                if count > DESTINATIONS_MAX {
                    self.report_destinations(&text.span);
                    return None;
                }
                Some(from_each(&senders.hosts, &StreamDestination::Among(among)))
            }
            PatternRule::Paired(partner, _) => {
                let count = self.paired_hosts(senders)?;
                let is_whole = self.map.whole == NetworkCompleteness::Complete;
                let number = own.number.unwrap_or(if pattern.name == "shift" { 1 } else { count });
                if let Some((message, expected)) =
                    pattern.problem(count, number).filter(|_| is_whole)
                {
                    self.map.problems.add(&text.span, message, expected);
                    return None;
                }
                Some(pattern::permuted(&senders.hosts, |at| partner(at, count, number)))
            }
        }
    }

    /// Finds a host by name; suggests a pattern for a misspelt one.
    fn destination(&self, text: &TomlText<'_>) -> Option<NodeId> {
        let near = did_you_mean(text.text, pattern::names());
        if self.map.topology.find(text.text).is_none() && near.is_some() {
            let message = format!("unknown host or pattern `{}`", shortened(text.text));
            let expected = "expected the name of a host, or a pattern";
            self.map.problems.add_with_help(&text.span, message, expected, near);
            return None;
        }
        self.map.cabled_host(text)
    }

    fn paired_hosts(&self, senders: &SenderList) -> Option<usize> {
        let count = senders.hosts.len();
        if count < 2 && self.map.whole == NetworkCompleteness::Complete {
            let message = format!("too few hosts for the pattern: {count}");
            self.map.problems.add(&senders.span, message, "expected two at least");
            return None;
        }
        Some(count)
    }

    fn report_destinations(&self, span: &Range<usize>) {
        let message = format!("more than {DESTINATIONS_MAX} pairs of sender and receiver");
        self.map.problems.add(span, message, "expected fewer");
    }

    fn add(&mut self, pairs: Vec<(NodeId, StreamDestination)>, form: &StreamTemplate) {
        if self.map.whole == NetworkCompleteness::Incomplete {
            return;
        }
        let problems = self.map.problems;
        let problem = self.ip_problem(&pairs, form);
        if let Some(problem) = problem.or_else(|| self.multicast_problem(&pairs, form)) {
            problems.add(&form.span, problem.0, problem.1);
            return;
        }
        if pairs.is_empty() {
            problems.add(&form.span, "no host sends", "expected a sender that is not the receiver");
        }
        for (from, to) in pairs {
            let hosts: Vec<NodeId> = match &to {
                StreamDestination::One(to) => vec![*to],
                StreamDestination::Among(among) => {
                    among.iter().copied().filter(|to| *to != from).collect()
                }
            };
            self.destinations = self.destinations.saturating_add(hosts.len());
            if self.destinations > DESTINATIONS_MAX {
                self.report_destinations(&form.span);
                return;
            }
            if !self.reachable(from, &hosts, form) {
                return;
            }
            let arrivals = self.arrivals(from, &hosts, form);
            self.streams.push(TrafficStream { from, to, arrivals, ..form.stream.clone() });
        }
    }

    /// Checks for routes to all receivers, and back if they send answers.
    fn reachable(&self, from: NodeId, to: &[NodeId], form: &StreamTemplate) -> bool {
        let name = |node| shortened(self.map.name(node));
        let report = |message: String| {
            self.map.problems.add(&form.span, message, "expected hosts with routes between them");
            false
        };
        if to.is_empty() || to.contains(&from) {
            return report(format!("`{}` has no other host to send to", name(from)));
        }
        let back = matches!(form.law, ArrivalLaw::Closed(..)) || form.stream.protocol.is_some();
        let ways: Vec<_> = if form.stream.multicast.is_some() {
            let to = StreamDestination::Among(to.to_vec());
            TrafficStream { from, to, ..form.stream.clone() }.tree()
        } else {
            let there = to.iter().map(|to| (from, *to));
            there.flat_map(|(a, b)| [Some((a, b)), back.then_some((b, a))]).flatten().collect()
        };
        // IP and multicasts stay in one network. N-5
        let is_plain = form.stream.protocol.is_none() && form.stream.multicast.is_none();
        let reaches = |a: NodeId, b: NodeId| {
            self.routes.get(a, b).is_some() || is_plain && self.routed.joins(a, b)
        };
        match ways.iter().find(|(a, b)| !reaches(*a, *b)) {
            Some((a, b)) => {
                report(format!("there is no route from `{}` to `{}`", name(*a), name(*b)))
            }
            None => true,
        }
    }

    fn arrivals(&self, from: NodeId, to: &[NodeId], form: &StreamTemplate) -> ArrivalProcess {
        form.law.process(self.map.topology, from, || {
            let routes = to.iter().filter_map(|to| self.routes.get(from, *to));
            let route: usize = routes.map(<[u8]>::len).sum();
            // All in 65 536ths of a character. Each packet has a tag, a CRC byte and a GAP.
            let route = route as u128 * 65_536 / (to.len() as u128).max(1);
            arrivals::mean_payload(form.stream.payload) + route + 3 * 65_536
        })
    }

    fn raw(&mut self, mut table: TomlTable<'_>) {
        let from = table
            .needed("from")
            .and_then(|item| item.text("the name of a host"))
            .and_then(|text| self.map.cabled_host(&text));
        let at = table.time("at", 0..=self.duration.saturating_sub(1));
        let chars = table.needed("chars");
        table.finish();
        let Some(item) = chars else { return };
        let Some(text) = item.text("characters, like `GAP 83 05 GAP`") else { return };
        let problems = self.map.problems;
        if self.characters > RAW_MAX {
            return;
        }
        let chars = match parse(text.text) {
            Ok(chars) => chars,
            Err(error) => {
                // Before it went wrong a repetition may have made any number of characters.
                if text.text.contains(['×', '*']) {
                    self.characters = self.characters.saturating_add(RAW_MAX / 4);
                }
                let message = format!("`chars`: {error}");
                return problems.add(&text.span, message, "expected characters in notation");
            }
        };
        self.characters = self.characters.saturating_add(chars.chars().len());
        if self.characters > RAW_MAX {
            let message = format!("more than {RAW_MAX} raw characters in all");
            return problems.add(&text.span, message, "expected fewer");
        }
        if let Some(from) = from {
            self.raw.push(RawText { from, at: at.map_or(0, |at| at.periods), chars });
        }
    }
}

fn from_each(senders: &[NodeId], to: &StreamDestination) -> Vec<(NodeId, StreamDestination)> {
    senders.iter().map(|from| (*from, to.clone())).collect()
}
