//! `[[messages]]`: messages between endpoints. T-1, T-6, T-9

use std::collections::BTreeMap;

use codec::transport::{DATA_HEADER_LEN, EndpointId, EndpointKey, MEDIUM_MAX, Nic, WORDS_MAX};
use codec::words::shortened;

use super::arrivals::{self, ArrivalLaw};
use super::endpoints::{EndpointMember, EndpointRegistry, nic};
use super::limits::MESSAGE_PAIRS_MAX;
use super::names::NameLookup;
use super::toml_reader::{TomlItem, TomlTable, TomlText};
use crate::messaging::{MessageKind, MessageStream, MessagingPlan, ReturnHandler, SEGMENT_MAX};
use crate::routes::RouteTable;
use crate::topology::NodeId;
use crate::traffic::{ArrivalProcess, PayloadSize};

const WORD: u32 = 4;

const KINDS: [(&str, MessageKind); 3] =
    [("short", MessageKind::Short), ("medium", MessageKind::Medium), ("bulk", MessageKind::Bulk)];

const HANDLERS: [(&str, ReturnHandler); 2] =
    [("drop", ReturnHandler::Drop), ("again", ReturnHandler::SendAgain)];

pub(super) struct MessageReader<'a> {
    map: NameLookup<'a>,
    routes: &'a RouteTable,
    duration: u64,
    registry: EndpointRegistry,
    pairs: usize,
}

#[derive(Clone, Copy)]
struct MessageTarget {
    host: NodeId,
    nic: Nic,
    id: EndpointId,
    key: EndpointKey,
    /// Segment size, if the endpoint exists.
    segment: Option<u32>,
}

struct MessageTemplate {
    kind: MessageKind,
    size: PayloadSize,
    law: ArrivalLaw,
    start: u64,
    count: Option<u64>,
    key: Option<EndpointKey>,
    returned: ReturnHandler,
}

impl<'a> MessageReader<'a> {
    pub(super) const fn new(
        map: NameLookup<'a>,
        routes: &'a RouteTable,
        duration: u64,
        registry: EndpointRegistry,
    ) -> Self {
        Self { map, routes, duration, registry, pairs: 0 }
    }

    pub(super) fn read(mut self, root: &mut TomlTable<'_>) -> BTreeMap<NodeId, MessagingPlan> {
        for table in root.tables("messages") {
            self.messages(table);
        }
        for plan in self.registry.plans.values_mut() {
            plan.names.sort_unstable();
            plan.names.dedup();
        }
        self.registry.plans
    }

    fn messages(&mut self, mut table: TomlTable<'_>) {
        let from = table.needed("from").and_then(|item| self.members(&item));
        let to = table.needed("to");
        let targets = to.as_ref().and_then(|item| self.targets(item));
        let body = body(&mut table);
        let law = arrivals::read(&mut table);
        let start = table.time("start", 0..=self.duration.saturating_sub(1));
        let count = table.integer("count", 0..=u64::MAX);
        let key = table.integer("key", 0..=u64::MAX).map(EndpointKey);
        let returned = self.returned(&mut table);
        let span = to.map_or_else(|| table.span(), |to| to.span);
        table.finish();
        let (Some(from), Some(targets)) = (from, targets) else { return };
        if from.is_empty() || targets.is_empty() {
            return;
        }
        let pairs = pairs(&from, &targets);
        let problems = self.map.problems;
        let Some(pairs) = pairs else {
            let message = format!("{} endpoints send to {}", from.len(), targets.len());
            let expected = "expected one receiver, or as many as there are senders";
            return problems.add(&span, message, expected);
        };
        self.pairs = self.pairs.saturating_add(pairs.len());
        if self.pairs > MESSAGE_PAIRS_MAX {
            let message = format!("more than {MESSAGE_PAIRS_MAX} pairs of sender and receiver");
            return problems.add(&span, message, "expected fewer");
        }
        let (Some((kind, size)), Some(law)) = (body, law) else { return };
        let start = start.map_or(0, |start| start.periods);
        let form = MessageTemplate { kind, size, law, start, count, key, returned };
        for (from, to) in pairs {
            if from.host == to.host {
                let name = shortened(self.map.name(to.host));
                let message = format!("sender and receiver are both at `{name}`");
                return problems.add(&span, message, "expected an endpoint of another host");
            }
            if let (MessageKind::Bulk, Some(segment)) = (kind, to.segment)
                && arrivals::largest(size) > segment
            {
                let message = format!("the segment of the receiver has {segment} bytes");
                let expected = "expected a larger `segment` in its [[endpoint]], or fewer `bytes`";
                return problems.add(&span, message, expected);
            }
            self.add(&from, &to, &form);
        }
    }

    fn add(&mut self, from: &EndpointMember, to: &MessageTarget, form: &MessageTemplate) {
        let arrivals = self.arrivals(from.host, to.host, form);
        let stream = MessageStream {
            from: from.id,
            to: (to.nic, to.id),
            key: form.key.unwrap_or(to.key),
            kind: form.kind,
            size: form.size,
            arrivals,
            start: form.start,
            count: form.count,
            returned: form.returned,
        };
        if let Some(plan) = self.registry.plans.get_mut(&from.host) {
            plan.streams.push(stream);
        }
        // Who is to reply knows whom to.
        let elsewhere = match form.returned {
            ReturnHandler::SendElsewhere((Nic(other), _), _) => Some(NodeId(other.into())),
            ReturnHandler::Drop | ReturnHandler::SendAgain => None,
        };
        for host in elsewhere.into_iter().chain([to.host]) {
            if let (Some(nic), Some(plan)) = (nic(from.host), self.registry.plans.get_mut(&host)) {
                plan.names.push(((nic, from.id), from.key));
            }
        }
    }

    /// Handler of returned messages: `drop`, `again`, or another endpoint.
    fn returned(&self, table: &mut TomlTable<'_>) -> ReturnHandler {
        let Some(item) = table.item("returned") else { return ReturnHandler::Drop };
        let Some(mut table) = item.as_table() else {
            let text = item.as_text();
            let is_named = |name| text.as_ref().is_some_and(|text| text.text == name);
            let handler = HANDLERS.iter().find(|(name, _)| is_named(*name));
            if handler.is_none() {
                item.report("expected `drop`, `again` or `{ to = … }`".to_owned());
            }
            return handler.map(|(_, handler)| *handler).unwrap_or_default();
        };
        let to = table.needed("to").and_then(|item| self.targets(&item));
        table.finish();
        match to.as_deref() {
            Some([to]) => ReturnHandler::SendElsewhere((to.nic, to.id), to.key),
            Some(_) => {
                item.report("expected one endpoint".to_owned());
                ReturnHandler::Drop
            }
            None => ReturnHandler::Drop,
        }
    }

    fn members(&self, item: &TomlItem<'_>) -> Option<Vec<EndpointMember>> {
        let found = |text: &TomlText<'_>| {
            self.registry.find(self.map, text).map(<[EndpointMember]>::to_vec)
        };
        if let Some(list) = item.as_list() {
            // All of them are looked up before one that is wrong ends it.
            let all: Vec<_> =
                list.iter().map(|item| found(&item.text("the name of an endpoint")?)).collect();
            let all: Option<Vec<_>> = all.into_iter().collect();
            return all.map(|all| all.concat());
        }
        found(&item.text("an endpoint, or a list of endpoints")?)
    }

    /// Endpoints by name, or one by host and number, which need not exist. T-6
    fn targets(&self, item: &TomlItem<'_>) -> Option<Vec<MessageTarget>> {
        let Some(mut table) = item.as_table() else {
            let members = self.members(item)?;
            let target = |EndpointMember { host, id, key, segment }| {
                Some(MessageTarget { host, nic: nic(host)?, id, key, segment: Some(segment) })
            };
            return members.into_iter().map(target).collect();
        };
        let host = table.needed("host").and_then(|item| item.text("the name of a host"));
        let host = host.and_then(|name| self.map.host(&name));
        let id = table.needed("number").and_then(|item| item.integer(0..=u16::MAX.into()));
        table.finish();
        let (host, id) = (host?, EndpointId(id?));
        let plan = self.registry.plans.get(&host);
        let known = plan.and_then(|plan| plan.endpoints.iter().find(|plan| plan.id == id));
        let key = known.map(|known| known.key).unwrap_or_default();
        let segment = known.map(|known| known.segment);
        Some(vec![MessageTarget { host, nic: nic(host)?, id, key, segment }])
    }

    fn arrivals(&self, from: NodeId, to: NodeId, form: &MessageTemplate) -> ArrivalProcess {
        form.law.process(self.map.topology, from, || {
            let route = self.routes.get(from, to).map_or(0, <[u8]>::len);
            // All in 65 536ths of a character. Each packet has a route, a tag, a header, a CRC byte and
            // a GAP.
            let bytes = arrivals::mean_payload(form.size);
            let packets = bytes.div_ceil(MEDIUM_MAX as u128 * 65_536).max(1);
            bytes + packets * (route as u128 + DATA_HEADER_LEN as u128 + 3) * 65_536
        })
    }
}

/// Reads kind and size: `words` of a short message, `bytes` of others.
fn body(table: &mut TomlTable<'_>) -> Option<(MessageKind, PayloadSize)> {
    let kind = table.item("kind").map_or(Some(MessageKind::Short), |item| item.word(&KINDS));
    let (words, bytes) = (table.item("words"), table.item("bytes"));
    let (item, other, limits, name) = match kind? {
        MessageKind::Short => (words, bytes, 1..=WORDS_MAX as u64, "words"),
        MessageKind::Medium => (bytes, words, WORD.into()..=MEDIUM_MAX as u64, "bytes"),
        MessageKind::Bulk => (bytes, words, WORD.into()..=SEGMENT_MAX.into(), "bytes"),
    };
    if let Some(other) = other {
        other.report(format!("expected `{name}` for messages of this kind"));
        return None;
    }
    let Some(item) = item else {
        table.missing(&format!("expected the key `{name}`"));
        return None;
    };
    let like = match kind? {
        MessageKind::Short => {
            "words, like `4`, `[1, 8]` or `{ small = 1, large = 8, large_share = 0.1 }`"
        }
        MessageKind::Medium | MessageKind::Bulk => arrivals::BYTES,
    };
    let size = arrivals::size(&item, limits, like)?;
    Some(match kind? {
        MessageKind::Short => {
            (MessageKind::Short, arrivals::converted(size, |words| words.saturating_mul(WORD)))
        }
        kind @ (MessageKind::Medium | MessageKind::Bulk) => (kind, size),
    })
}

/// Pairs senders and receivers: all to one, or one to one.
fn pairs(
    from: &[EndpointMember],
    to: &[MessageTarget],
) -> Option<Vec<(EndpointMember, MessageTarget)>> {
    match to {
        [one] => Some(from.iter().map(|from| (*from, *one)).collect()),
        to if to.len() == from.len() => {
            Some(from.iter().copied().zip(to.iter().copied()).collect())
        }
        _ => None,
    }
}
