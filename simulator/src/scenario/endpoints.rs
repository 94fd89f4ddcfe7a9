//! `[transport]` and `[[endpoint]]`: parameters of the protocol, and the endpoints. T-2, T-3,
//! T-9..T-15

use std::collections::BTreeMap;

use codec::transport::{EndpointId, EndpointKey, Nic};
use codec::words::{did_you_mean, shortened};

use super::error::KeyUse;
use super::keys::{self, FieldKey, IntRange, KeyList, TimeRange, WordList, key};
use super::limits::{
    BURST_LOG2_MAX, CHANNELS_MAX, CREDITS_MAX, DMA_MAX, DURATION_MAX, ENDPOINTS_MAX, ENTRIES_MAX,
    FRAMES_MAX, MICROS_MAX, NAME_MAX, NICS_MAX, QUEUE_MAX, RETRIES_MAX, SEGMENTS_MAX,
};
use super::names::{NameLookup, NetworkCompleteness, RESERVED};
use super::toml_reader::{TomlItem, TomlTable, TomlText};
use crate::messaging::{
    EndpointParameters, EndpointPlan, MessageCosts, MessagingPlan, ProtocolLayers, SEGMENT_MAX,
    WakeMode,
};
use crate::topology::NodeId;
use crate::transport::TransportParameters;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CommonKeys {
    transport: TransportParameters,
    nics: Option<u16>,
    parameters: EndpointParameters,
}

pub(super) struct EndpointReader<'a> {
    map: NameLookup<'a>,
    common: CommonKeys,
    costs: &'a BTreeMap<NodeId, MessageCosts>,
    plans: BTreeMap<NodeId, MessagingPlan>,
    names: BTreeMap<String, Vec<EndpointMember>>,
    count: u64,
    segments: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EndpointMember {
    pub(super) host: NodeId,
    pub(super) id: EndpointId,
    pub(super) key: EndpointKey,
    pub(super) segment: u32,
}

pub(super) struct EndpointRegistry {
    pub(super) plans: BTreeMap<NodeId, MessagingPlan>,
    pub(super) names: BTreeMap<String, Vec<EndpointMember>>,
}

const LAYERS: [(&str, ProtocolLayers); 3] = [
    ("baseline", ProtocolLayers::Baseline),
    ("reliability", ProtocolLayers::Reliability),
    ("protection", ProtocolLayers::Protection),
];

const WAKES: [(&str, WakeMode); 2] = [("poll", WakeMode::Poll), ("event", WakeMode::Event)];

/// NIC of a host: the number of its node. *Chosen*
pub(super) fn nic(host: NodeId) -> Option<Nic> {
    u16::try_from(host.0).ok().map(Nic)
}

/// T-2, T-3, T-6, T-9..T-11, T-14, T-15
pub(super) const TRANSPORT: &KeyList<CommonKeys> = &[
    key!(CommonKeys, "channels", IntRange(1..=CHANNELS_MAX), transport.channels),
    key!(CommonKeys, "scan_us", IntRange(1..=MICROS_MAX), transport.scan),
    key!(CommonKeys, "timeout_us", IntRange(1..=MICROS_MAX), transport.timeout),
    key!(CommonKeys, "retries", IntRange(1..=RETRIES_MAX), transport.retries),
    key!(CommonKeys, "nics", IntRange(1..=NICS_MAX), nics),
    key!(CommonKeys, "frames", IntRange(1..=FRAMES_MAX), parameters.frames),
    key!(CommonKeys, "credits", IntRange(1..=CREDITS_MAX), parameters.credits),
    key!(CommonKeys, "request_queue", IntRange(1..=QUEUE_MAX), parameters.request_queue),
    key!(CommonKeys, "staging", IntRange(1..=QUEUE_MAX), parameters.staging),
    key!(CommonKeys, "dma", IntRange(1..=DMA_MAX), parameters.dma),
    key!(CommonKeys, "mappings", IntRange(2..=QUEUE_MAX), parameters.mappings),
    key!(CommonKeys, "map", TimeRange(0..=DURATION_MAX), parameters.map),
    key!(CommonKeys, "burst_log2", IntRange(0..=BURST_LOG2_MAX), parameters.burst_log2),
    key!(CommonKeys, "load", TimeRange(0..=DURATION_MAX), parameters.load),
    key!(CommonKeys, "patience", TimeRange(0..=DURATION_MAX), parameters.patience),
    key!(CommonKeys, "layers", WordList(&LAYERS), parameters.layers),
];

/// Reads `[transport]`; its keys are to be used later.
pub(super) fn read_transport(root: &mut TomlTable<'_>) -> (CommonKeys, Vec<KeyUse>) {
    let Some(mut table) = root.table("transport") else { return Default::default() };
    let mut common = keys::read(TRANSPORT, &mut table, CommonKeys::default());
    // An older form of `retries`: as many as timeouts fit into this time. T-11
    let unreachable: Option<u64> = table.integer("unreachable_us", 1..=MICROS_MAX);
    if let Some(unreachable) = unreachable.filter(|_| !table.has("retries")) {
        let fit = unreachable.checked_div(common.transport.timeout.0).unwrap_or(0);
        common.transport.retries = u32::try_from(fit).unwrap_or(u32::MAX).max(1);
    }
    if table.has("credits") && !table.has("request_queue") {
        common.parameters.request_queue = common.parameters.four_senders();
    }
    let left = table.leave_all();
    table.finish();
    (common, left)
}

impl<'a> EndpointReader<'a> {
    pub(super) const fn new(
        map: NameLookup<'a>,
        common: CommonKeys,
        costs: &'a BTreeMap<NodeId, MessageCosts>,
    ) -> Self {
        let plans = BTreeMap::new();
        let names = BTreeMap::new();
        Self { map, common, costs, plans, names, count: 0, segments: 0 }
    }

    pub(super) fn read(mut self, root: &mut TomlTable<'_>) -> EndpointRegistry {
        for table in root.tables("endpoint") {
            self.endpoint(table);
        }
        EndpointRegistry { plans: self.plans, names: self.names }
    }

    fn endpoint(&mut self, mut table: TomlTable<'_>) {
        let span = table.span();
        let name = table.needed("name").and_then(|item| item.text("a name"));
        let hosts = table.needed("host").and_then(|item| self.hosts(&item));
        let count: Option<u64> = table.integer("count", 1..=ENDPOINTS_MAX);
        let key = table.integer("key", 0..=u64::MAX).map(EndpointKey);
        let segment = table.integer("segment", 0..=SEGMENT_MAX.into()).unwrap_or(0);
        let wake = table.word("wake", &WAKES).unwrap_or_default();
        table.finish();
        let Some(name) = name else { return };
        let Some(hosts) = hosts else { return self.name(&name, Vec::new()) };
        let count = count.unwrap_or(hosts.len() as u64);
        self.count = self.count.saturating_add(count);
        self.segments = self.segments.saturating_add(u64::from(segment).saturating_mul(count));
        for (what, sum, most) in [
            ("endpoints", self.count, ENDPOINTS_MAX),
            ("bytes of all segments", self.segments, SEGMENTS_MAX),
        ] {
            if sum > most {
                let message = format!("the file has {sum} {what}");
                return self.map.problems.add(&span, message, format!("expected {most} at most"));
            }
        }
        let first = self.count - count;
        let members =
            (first..self.count).zip(hosts.into_iter().cycle()).filter_map(|(at, host)| {
                // Counted from 1, so that an endpoint without a key has none by chance.
                let key = key.unwrap_or(EndpointKey(at + 1));
                let plan = self.plan(host)?;
                let id = EndpointId(u16::try_from(plan.endpoints.len()).ok()?);
                plan.endpoints.push(EndpointPlan { id, key, segment, wake });
                Some(EndpointMember { host, id, key, segment })
            });
        let members: Vec<EndpointMember> = members.collect();
        self.check_rows(&span, &members);
        self.name(&name, members);
    }

    /// Registers the members under the common name, and each of several as name and number. The
    /// name of a faulty table is registered too, so that it is not reported as unknown.
    fn name(&mut self, name: &TomlText<'_>, members: Vec<EndpointMember>) {
        if members.len() > 1 {
            for (at, member) in members.iter().enumerate() {
                let one = format!("{}{at}", name.text);
                if let Some(one) =
                    self.check_name(&TomlText { text: &one, span: name.span.clone() })
                {
                    self.names.insert(one, vec![*member]);
                }
            }
        }
        if let Some(all) = self.check_name(name) {
            self.names.insert(all, members);
        }
    }

    fn check_name(&self, TomlText { text, span }: &TomlText<'_>) -> Option<String> {
        let shown = shortened(text);
        let strange = |c: char| c.is_whitespace() || c.is_control() || "#:>".contains(c);
        let (message, expected) = if text.is_empty()
            || text.len() > NAME_MAX
            || text.contains(strange)
        {
            let expected =
                format!("expected 1 to {NAME_MAX} bytes without blanks, `:`, `>` and `#`");
            (format!("invalid name `{shown}`"), expected)
        } else if RESERVED.contains(text) {
            let expected = "expected another name".to_owned();
            (format!("the name `{shown}` is reserved"), expected)
        } else if self.names.contains_key(*text) {
            (format!("`{shown}` is the name of two endpoints"), "expected another name".to_owned())
        } else {
            return Some((*text).to_owned());
        };
        self.map.problems.add(span, message, expected);
        None
    }

    /// A host, a list of hosts or `all`, with cables; hosts may be repeated.
    fn hosts(&self, item: &TomlItem<'_>) -> Option<Vec<NodeId>> {
        let hosts = self.map.hosts(item)?;
        if hosts.is_empty() && self.map.whole == NetworkCompleteness::Complete {
            item.report("expected a host, a list of hosts or `all`".to_owned());
        }
        (!hosts.is_empty()).then_some(hosts)
    }

    /// Plan of a host, empty at first.
    fn plan(&mut self, host: NodeId) -> Option<&mut MessagingPlan> {
        let CommonKeys { transport, nics, parameters } = self.common;
        let nic = nic(host)?;
        let nodes = u16::try_from(self.map.topology.nodes().len()).ok()?;
        let nics = nics.unwrap_or_else(|| transport.nics.max(nodes));
        Some(self.plans.entry(host).or_insert_with(|| MessagingPlan {
            nic,
            transport: TransportParameters { nics, ..transport },
            parameters,
            costs: self.costs.get(&host).copied().unwrap_or_default(),
            endpoints: Vec::new(),
            streams: Vec::new(),
            names: Vec::new(),
        }))
    }

    /// Checks that the tables have a row for each NIC and are not too large. T-3
    fn check_rows(&self, span: &std::ops::Range<usize>, members: &[EndpointMember]) {
        let Some(plan) = self.plans.values().next() else { return };
        let (rows, columns) = (plan.transport.nics, plan.transport.channels);
        let last = members.iter().map(|member| member.host).max();
        if let Some(host) = last.filter(|host| host.0 >= u32::from(rows)) {
            let name = shortened(self.map.name(host));
            let message =
                format!("the NIC of `{name}` is {}, and the tables have {rows} rows", host.0);
            let expected = "expected more `nics` in [transport]";
            self.map.problems.add(span, message, expected);
        }
        let entries = self.plans.len() as u64 * u64::from(rows) * u64::from(columns);
        if entries > ENTRIES_MAX {
            let message = format!("the tables of all NICs have {entries} entries");
            let expected = format!("expected {ENTRIES_MAX} at most: hosts × `nics` × `channels`");
            self.map.problems.add(span, message, expected);
        }
    }
}

impl EndpointRegistry {
    /// Finds the endpoints of a name, or reports it as unknown.
    pub(super) fn find(
        &self,
        map: NameLookup<'_>,
        name: &TomlText<'_>,
    ) -> Option<&[EndpointMember]> {
        let found = self.names.get(name.text);
        if found.is_none() {
            let message = format!("unknown endpoint `{}`", shortened(name.text));
            let help = if map.problems.are_many() {
                None
            } else {
                did_you_mean(name.text, self.names.keys().map(String::as_str))
            };
            let expected = "expected the name of an [[endpoint]]";
            map.problems.add_with_help(&name.span, message, expected, help);
        }
        found.map(Vec::as_slice)
    }
}
