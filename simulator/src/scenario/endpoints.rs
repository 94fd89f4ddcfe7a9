//! `[transport]` and `[[endpoint]]`: parameters of the protocol, and the endpoints. T-2, T-3,
//! T-9..T-15

use std::collections::BTreeMap;

use codec::transport::{EndpointId, EndpointKey, Nic};

use super::Scenario;
use super::error::{did_you_mean, shortened};
use super::limits::{
    BURST_LOG2_MAX, CHANNELS_MAX, CREDITS_MAX, DMA_MAX, DURATION_MAX, ENDPOINTS_MAX, ENTRIES_MAX,
    FRAMES_MAX, MICROS_MAX, NAME_MAX, NICS_MAX, QUEUE_MAX, RETRIES_MAX, SEGMENTS_MAX,
};
use super::names::NameLookup;
use super::network::{NetworkCompleteness, RESERVED};
use super::toml_reader::{TomlItem, TomlTable, TomlText};
use super::write::{NodeNames, TomlKeys, TomlPage};
use crate::messaging::{
    EndpointParameters, EndpointPlan, MessageCosts, MessagingPlan, ProtocolLayers, SEGMENT_MAX,
    WakeMode,
};
use crate::topology::NodeId;
use crate::transport::{Micros, TransportParameters};

/// Parameters shared by all hosts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TransportDefaults {
    transport: TransportParameters,
    /// Rows of the tables, if given.
    nics: Option<u16>,
    parameters: EndpointParameters,
}

pub(super) struct EndpointReader<'a> {
    map: NameLookup<'a>,
    common: TransportDefaults,
    costs: &'a BTreeMap<NodeId, MessageCosts>,
    plans: BTreeMap<NodeId, MessagingPlan>,
    names: BTreeMap<String, Vec<EndpointMember>>,
    count: u64,
    segments: u64,
}

/// Endpoint as a sender or receiver of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EndpointMember {
    pub(super) host: NodeId,
    pub(super) id: EndpointId,
    pub(super) key: EndpointKey,
    pub(super) segment: u32,
}

/// Endpoints by host and by name.
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

pub(super) fn read_transport(root: &mut TomlTable<'_>) -> TransportDefaults {
    let mut common = TransportDefaults::default();
    let Some(mut table) = root.table("transport") else { return common };
    let transport = &mut common.transport;
    transport.channels = table.integer("channels", 1..=CHANNELS_MAX).unwrap_or(transport.channels);
    let mut micros = |key, field: &mut Micros| {
        *field = table.integer(key, 1..=MICROS_MAX).map_or(*field, Micros);
    };
    micros("scan_us", &mut transport.scan);
    micros("timeout_us", &mut transport.timeout);
    // An older spelling of the same: as many as timeouts fit into this time. T-11
    if let Some(unreachable) = table.integer::<u64>("unreachable_us", 1..=MICROS_MAX) {
        let fit = unreachable.checked_div(transport.timeout.0).unwrap_or(0);
        transport.retries = u32::try_from(fit).unwrap_or(u32::MAX).max(1);
    }
    transport.retries = table.integer("retries", 1..=RETRIES_MAX).unwrap_or(transport.retries);
    common.nics = table.integer("nics", 1..=NICS_MAX);
    let parameters = &mut common.parameters;
    parameters.frames = table.integer("frames", 1..=FRAMES_MAX).unwrap_or(parameters.frames);
    if let Some(credits) = table.integer("credits", 1..=CREDITS_MAX) {
        // Four senders at full rate. T-9
        parameters.request_queue = 4 * credits;
        parameters.credits = credits;
    }
    parameters.request_queue =
        table.integer("request_queue", 1..=QUEUE_MAX).unwrap_or(parameters.request_queue);
    parameters.staging = table.integer("staging", 1..=QUEUE_MAX).unwrap_or(parameters.staging);
    parameters.dma = table.integer("dma", 1..=DMA_MAX);
    parameters.mappings = table.integer("mappings", 2..=QUEUE_MAX);
    scheduling(&mut table, parameters);
    table.finish();
    common
}

/// Scheduling and protocol layers. T-14, T-15
fn scheduling(table: &mut TomlTable<'_>, parameters: &mut EndpointParameters) {
    parameters.burst_log2 =
        table.integer("burst_log2", 0..=BURST_LOG2_MAX).unwrap_or(parameters.burst_log2);
    let mut time = |keys, field: &mut u64| {
        *field = table.time(keys, 0..=DURATION_MAX).map_or(*field, |time| time.periods);
    };
    time(["load_us", "load_periods"], &mut parameters.load);
    time(["map_us", "map_periods"], &mut parameters.map);
    time(["patience_us", "patience_periods"], &mut parameters.patience);
    parameters.layers = table.word("layers", &LAYERS).unwrap_or(parameters.layers);
}

impl<'a> EndpointReader<'a> {
    pub(super) const fn new(
        map: NameLookup<'a>,
        common: TransportDefaults,
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

    /// Checks that a name is valid and new.
    fn check_name(&self, TomlText { text, span }: &TomlText<'_>) -> Option<String> {
        let shown = shortened(text);
        let strange = |c: char| c.is_whitespace() || c.is_control() || "#:>".contains(c);
        let (message, expected) = if text.is_empty()
            || text.len() > NAME_MAX
            || text.contains(strange)
        {
            let expected =
                format!("expected 1 to {NAME_MAX} bytes without blanks, `:`, `>` and `#`");
            (format!("`{shown}` is no name of an endpoint"), expected)
        } else if RESERVED.contains(text) {
            let expected = "expected another name: this word means several".to_owned();
            (format!("`{shown}` is no name of an endpoint"), expected)
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
        let hosts = match (item.as_text(), item.as_list()) {
            (Some(text), _) if text.text == "all" => self.map.cabled_hosts(),
            (Some(text), _) => vec![self.map.cabled_host(&text)?],
            (None, Some(list)) => {
                let host =
                    |item: &TomlItem<'_>| self.map.cabled_host(&item.text("the name of a host")?);
                let hosts: Vec<Option<NodeId>> = list.iter().map(host).collect();
                hosts.into_iter().collect::<Option<Vec<_>>>()?
            }
            (None, None) => Vec::new(),
        };
        if hosts.is_empty() && self.map.whole == NetworkCompleteness::Yes {
            item.report("expected a host, a list of hosts or `all`".to_owned());
        }
        (!hosts.is_empty()).then_some(hosts)
    }

    /// Plan of a host, empty at first.
    fn plan(&mut self, host: NodeId) -> Option<&mut MessagingPlan> {
        let TransportDefaults { transport, nics, parameters } = self.common;
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

pub(super) fn write(page: &mut TomlPage, scenario: &Scenario) {
    let names = NodeNames { topology: &scenario.topology };
    if let Some(plan) = scenario.messaging.values().next() {
        let nodes = u16::try_from(scenario.topology.nodes().len()).unwrap_or(u16::MAX);
        page.table("transport", &common_keys(plan, nodes));
    }
    for (host, plan) in &scenario.messaging {
        for endpoint in &plan.endpoints {
            let mut keys = TomlKeys::default();
            keys.text("name", &endpoint_name(names, *host, endpoint.id));
            keys.text("host", names.node(*host));
            keys.value("key", endpoint.key.0);
            keys.word("wake", &WAKES, endpoint.wake, WakeMode::default());
            keys.differing("segment", endpoint.segment, 0);
            page.element("endpoint", &keys);
        }
    }
}

/// Name of an endpoint in a written file: host name, point, number.
pub(super) fn endpoint_name(names: NodeNames<'_>, host: NodeId, id: EndpointId) -> String {
    let name = format!("{}.{}", names.node(host), id.0);
    if name.len() > NAME_MAX { format!("{}.{}", host.0, id.0) } else { name }
}

/// Writes what [`read_transport`] reads, of a network of so many nodes.
fn common_keys(plan: &MessagingPlan, nodes: u16) -> TomlKeys {
    let (transport, parameters) = (plan.transport, plan.parameters);
    let base = TransportParameters::default();
    let usual = EndpointParameters::default();
    let mut keys = TomlKeys::default();
    keys.differing("channels", transport.channels, base.channels);
    keys.differing("scan_us", transport.scan.0, base.scan.0);
    keys.differing("timeout_us", transport.timeout.0, base.timeout.0);
    keys.differing("retries", transport.retries, base.retries);
    keys.differing("nics", transport.nics, base.nics.max(nodes));
    keys.differing("frames", parameters.frames, usual.frames);
    keys.differing("credits", parameters.credits, usual.credits);
    let queue = parameters.credits.saturating_mul(4);
    keys.differing("request_queue", parameters.request_queue, queue);
    keys.differing("staging", parameters.staging, usual.staging);
    parameters.dma.iter().for_each(|dma| keys.value("dma", dma));
    parameters.mappings.iter().for_each(|mappings| keys.value("mappings", mappings));
    keys.differing("map_periods", parameters.map, usual.map);
    keys.differing("burst_log2", parameters.burst_log2, usual.burst_log2);
    keys.differing("load_periods", parameters.load, usual.load);
    keys.differing("patience_periods", parameters.patience, usual.patience);
    keys.word("layers", &LAYERS, parameters.layers, usual.layers);
    keys
}
