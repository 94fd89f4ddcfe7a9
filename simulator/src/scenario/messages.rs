//! `[[messages]]`: what endpoints send each other. T-1, T-6, T-9

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use codec::tick::Ticks;
use codec::transport::{DATA_HEADER_LEN, EndpointId, EndpointKey, MEDIUM_MAX, Nic, WORDS_MAX};

use super::Scenario;
use super::endpoints::{Member, Registry, named, nic};
use super::error::shortened;
use super::law::{self, Law};
use super::limits::MESSAGE_PAIRS_MAX;
use super::map::Map;
use super::table::{Item, NANO, Table, Text};
use super::write::{Keys, Names, Page, word_of};
use crate::endpoint::{Kind, MessageStream, MessagingPlan, ReturnHandler, SEGMENT_MAX};
use crate::routes::Routes;
use crate::topology::NodeId;
use crate::traffic::{Arrivals, Size};

/// Bytes of a word.
const WORD: u64 = 4;

const KINDS: [(&str, Kind); 3] =
    [("short", Kind::Short), ("medium", Kind::Medium), ("bulk", Kind::Bulk)];

const HANDLERS: [(&str, ReturnHandler); 2] =
    [("drop", ReturnHandler::Drop), ("again", ReturnHandler::SendAgain)];

/// What is read of the messages.
pub(super) struct Messages<'a> {
    map: Map<'a>,
    routes: &'a Routes,
    /// Periods that the run lasts.
    duration: u64,
    registry: Registry,
    pairs: usize,
}

/// Whom messages are for.
#[derive(Clone, Copy)]
struct Target {
    host: NodeId,
    nic: Nic,
    id: EndpointId,
    key: EndpointKey,
    /// If there is one.
    segment: Option<u32>,
}

/// What messages of one table have in common.
struct Form {
    kind: Kind,
    size: Size,
    law: Law,
    start: u64,
    count: Option<u64>,
    key: Option<EndpointKey>,
    returned: ReturnHandler,
}

impl<'a> Messages<'a> {
    pub(super) const fn new(
        map: Map<'a>,
        routes: &'a Routes,
        duration: u64,
        registry: Registry,
    ) -> Self {
        Self { map, routes, duration, registry, pairs: 0 }
    }

    /// What hosts with endpoints do.
    pub(super) fn read(mut self, root: &mut Table<'_>) -> BTreeMap<NodeId, MessagingPlan> {
        for table in root.tables("messages") {
            self.messages(table);
        }
        for plan in self.registry.plans.values_mut() {
            plan.names.sort_unstable();
            plan.names.dedup();
        }
        self.registry.plans
    }

    fn messages(&mut self, mut table: Table<'_>) {
        let from = table.needed("from").and_then(|item| self.members(&item));
        let to = table.needed("to");
        let targets = to.as_ref().and_then(|item| self.targets(item));
        let body = body(&mut table);
        let law = law::read(&mut table);
        let start = table.time(["start_us", "start_periods"], 0..=self.duration.saturating_sub(1));
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
        let form = Form { kind, size, law, start, count, key, returned };
        for (from, to) in pairs {
            if from.host == to.host {
                let name = shortened(self.map.name(to.host));
                let message = format!("sender and receiver are both at `{name}`");
                return problems.add(&span, message, "expected an endpoint of another host");
            }
            if let (Kind::Bulk, Some(segment)) = (kind, to.segment)
                && law::most(size) > segment
            {
                let message = format!("the segment of the receiver has {segment} bytes");
                let expected = "expected a larger `segment` in its [[endpoint]], or fewer `bytes`";
                return problems.add(&span, message, expected);
            }
            self.add(&from, &to, &form);
        }
    }

    fn add(&mut self, from: &Member, to: &Target, form: &Form) {
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

    /// The handler of messages that come back: `drop`, `again`, or the endpoint that they go to then.
    fn returned(&self, table: &mut Table<'_>) -> ReturnHandler {
        let Some(item) = table.item("returned") else { return ReturnHandler::Drop };
        let Some(mut table) = item.as_table() else {
            let text = item.as_text();
            let is_named = |name| text.as_ref().is_some_and(|text| text.text == name);
            let handler = HANDLERS.iter().find(|(name, _)| is_named(*name));
            if handler.is_none() {
                item.wrong("expected `drop`, `again` or `{ to = … }`".to_owned());
            }
            return handler.map(|(_, handler)| *handler).unwrap_or_default();
        };
        let to = table.needed("to").and_then(|item| self.targets(&item));
        table.finish();
        match to.as_deref() {
            Some([to]) => ReturnHandler::SendElsewhere((to.nic, to.id), to.key),
            Some(_) => {
                item.wrong("expected one endpoint".to_owned());
                ReturnHandler::Drop
            }
            None => ReturnHandler::Drop,
        }
    }

    /// The endpoints of a name, or of a list of names.
    fn members(&self, item: &Item<'_>) -> Option<Vec<Member>> {
        let found = |text: &Text<'_>| self.registry.find(self.map, text).map(<[Member]>::to_vec);
        if let Some(list) = item.as_list() {
            // All of them are looked up before one that is wrong ends it.
            let all: Vec<_> =
                list.iter().map(|item| found(&item.text("the name of an endpoint")?)).collect();
            let all: Option<Vec<_>> = all.into_iter().collect();
            return all.map(|all| all.concat());
        }
        found(&item.text("an endpoint, or a list of endpoints")?)
    }

    /// The same, or an endpoint of a host by its number, which need not be there. T-6
    fn targets(&self, item: &Item<'_>) -> Option<Vec<Target>> {
        let Some(mut table) = item.as_table() else {
            let members = self.members(item)?;
            let target = |Member { host, id, key, segment }| {
                Some(Target { host, nic: nic(host)?, id, key, segment: Some(segment) })
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
        Some(vec![Target { host, nic: nic(host)?, id, key, segment }])
    }

    fn arrivals(&self, from: NodeId, to: NodeId, form: &Form) -> Arrivals {
        match form.law {
            Law::Every(spacing, periods) => spacing.arrivals(periods),
            Law::Load(spacing, nanos) => {
                let route = self.routes.get(from, to).map_or(0, <[u8]>::len);
                let link = self.map.topology.link(Map::host_port(from));
                let divisor = link.map_or(NonZeroU32::MIN, |link| link.ports[0].divisor);
                // All in 65 536ths of a character. With each packet go its route, tag, header, CRC
                // byte and GAP.
                let bytes = law::mean_payload(form.size);
                let packets = bytes.div_ceil(MEDIUM_MAX as u128 * 65_536).max(1);
                let chars =
                    bytes + packets * (route as u128 + DATA_HEADER_LEN as u128 + 3) * 65_536;
                let scaled = chars * u128::from(divisor.get()) * u128::from(spacing.together());
                let mean = (scaled * NANO).div_ceil(nanos.max(1) * 65_536);
                spacing.arrivals(u64::try_from(mean).unwrap_or(u64::MAX))
            }
            Law::Saturating => Arrivals::Saturating,
            Law::Closed(window, think) => Arrivals::Closed(window, Ticks(think)),
        }
    }
}

/// Kind and size: `words` of a short message, `bytes` of another.
fn body(table: &mut Table<'_>) -> Option<(Kind, Size)> {
    let kind = table.item("kind").map_or(Some(Kind::Short), |item| item.word(&KINDS));
    let (words, bytes) = (table.item("words"), table.item("bytes"));
    let (item, other, limits, name) = match kind? {
        Kind::Short => (words, bytes, 1..=WORDS_MAX as u64, "words"),
        Kind::Medium => (bytes, words, WORD..=MEDIUM_MAX as u64, "bytes"),
        Kind::Bulk => (bytes, words, WORD..=SEGMENT_MAX.into(), "bytes"),
    };
    if let Some(other) = other {
        other.wrong(format!("expected `{name}` for messages of this kind"));
        return None;
    }
    let Some(item) = item else {
        table.missing(&format!("expected the key `{name}`"));
        return None;
    };
    let like = match kind? {
        Kind::Short => "words, like `4`, `[1, 8]` or `{ small = 1, large = 8, large_share = 0.1 }`",
        Kind::Medium | Kind::Bulk => law::BYTES,
    };
    let size = law::size(&item, limits, like)?;
    let word = u32::try_from(WORD).unwrap_or(1);
    Some(match kind? {
        Kind::Short => (Kind::Short, law::times(size, word)),
        kind @ (Kind::Medium | Kind::Bulk) => (kind, size),
    })
}

/// Who sends to whom: all to one, or each to its own.
fn pairs(from: &[Member], to: &[Target]) -> Option<Vec<(Member, Target)>> {
    match to {
        [one] => Some(from.iter().map(|from| (*from, *one)).collect()),
        to if to.len() == from.len() => {
            Some(from.iter().copied().zip(to.iter().copied()).collect())
        }
        _ => None,
    }
}

/// Writes what endpoints send.
pub(super) fn write(page: &mut Page, scenario: &Scenario) {
    let names = Names { topology: &scenario.topology };
    for (host, plan) in &scenario.messaging {
        for stream in &plan.streams {
            let mut keys = Keys::default();
            keys.text("from", &named(names, *host, stream.from));
            let known = write_target(&mut keys, "to", scenario, stream.to);
            write_body(&mut keys, stream);
            law::write(&mut keys, stream.arrivals);
            keys.differing("start_periods", stream.start, 0);
            if let Some(count) = stream.count {
                keys.value("count", count);
            }
            keys.differing("key", stream.key.0, known.0);
            match stream.returned {
                ReturnHandler::SendElsewhere(to, _) => {
                    let mut place = Keys::default();
                    write_target(&mut place, "to", scenario, to);
                    keys.value("returned", place.inline());
                }
                word @ (ReturnHandler::Drop | ReturnHandler::SendAgain) => {
                    keys.word("returned", &HANDLERS, word, ReturnHandler::Drop);
                }
            }
            page.element("messages", &keys);
        }
    }
}

/// Writes an endpoint by its name, or by its number if there is none; and returns the key that it has.
fn write_target(
    keys: &mut Keys,
    key: &'static str,
    scenario: &Scenario,
    (nic, id): (Nic, EndpointId),
) -> EndpointKey {
    let names = Names { topology: &scenario.topology };
    let to = NodeId(nic.0.into());
    let there = scenario.messaging.get(&to);
    let known = there.and_then(|plan| plan.endpoints.iter().find(|plan| plan.id == id));
    if known.is_some() {
        keys.text(key, &named(names, to, id));
    } else {
        let mut place = Keys::default();
        place.text("host", names.node(to));
        place.value("number", id.0);
        keys.value(key, place.inline());
    }
    known.map(|known| known.key).unwrap_or_default()
}

fn write_body(keys: &mut Keys, stream: &MessageStream) {
    match stream.kind {
        Kind::Short => {
            let word = u32::try_from(WORD).unwrap_or(1);
            keys.value("words", law::written(law::parts(stream.size, word)));
        }
        kind @ (Kind::Medium | Kind::Bulk) => {
            keys.text("kind", word_of(&KINDS, kind));
            keys.value("bytes", law::written(stream.size));
        }
    }
}

/// The plans with those names only that replies need: what hosts know besides changes nothing.
pub(super) fn replies(plans: &BTreeMap<NodeId, MessagingPlan>) -> BTreeMap<NodeId, MessagingPlan> {
    let asks = |from: (Nic, EndpointId), to: Nic| {
        plans.values().filter(|plan| plan.nic == from.0).any(|plan| {
            plan.streams.iter().any(|stream| stream.from == from.1 && stream.goes_to(to))
        })
    };
    let needed = |(host, plan): (&NodeId, &MessagingPlan)| {
        let mut plan = plan.clone();
        let nic = plan.nic;
        plan.names.retain(|(from, _)| asks(*from, nic));
        plan.names.sort_unstable();
        (*host, plan)
    };
    plans.iter().map(needed).collect()
}
