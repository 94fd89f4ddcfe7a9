//! `[routes]` and `[[route]]`: computed or given routes.

mod way;

use codec::Character;
use codec::notation::parse;
use codec::route::is_route_byte;

use self::way::RouteWay;
use super::limits::ROUTE_MAX;
use super::mapper::{self, MappingPlan};
use super::names::{NameLookup, NetworkCompleteness};
use super::toml_reader::{TomlTable, TomlText};
use crate::routes::{RouteTable, RoutingMethod};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RouteOrigin {
    Computed(RoutingMethod),
    /// All routes are given.
    Given,
    /// The interfaces compute them from the map that one of them makes. N-2
    Mapped,
}

/// Values of `method`.
const METHODS: [(&str, RouteOrigin); 5] = [
    ("shortest", RouteOrigin::Computed(RoutingMethod::Shortest)),
    ("up-down", RouteOrigin::Computed(RoutingMethod::UpDown)),
    ("dimension-order", RouteOrigin::Computed(RoutingMethod::DimensionOrder)),
    ("mapped", RouteOrigin::Mapped),
    ("given", RouteOrigin::Given),
];

/// Reads the routes. Those of a mapped network show only which pairs of hosts are connected.
pub(super) fn read(
    root: &mut TomlTable<'_>,
    map: NameLookup<'_>,
    default: RoutingMethod,
) -> (RouteTable, Option<MappingPlan>) {
    let mut origin = RouteOrigin::Computed(default);
    let mut span = 0..0;
    if let Some(mut table) = root.table("routes") {
        span = table.span();
        origin = table.word("method", &METHODS).unwrap_or(origin);
        table.finish();
    }
    let method = match origin {
        RouteOrigin::Computed(method) => Some(method),
        RouteOrigin::Mapped => Some(RoutingMethod::UpDown),
        RouteOrigin::Given => None,
    };
    let is_mapped = origin == RouteOrigin::Mapped;
    if is_mapped && let Err(switch) = mapper::switch_search(map.topology) {
        let message = format!("the switch `{switch}` of a mapped network has absolute addressing");
        let expected = "expected relative addressing, or `extensions` at all switches: without \
                        identities some cannot be told apart";
        map.problems.add(&span, message, expected);
    }
    let mut routes = match (map.whole, method) {
        (NetworkCompleteness::Complete, Some(method)) => RouteTable::compute(map.topology, method)
            .unwrap_or_else(|error| {
                let expected = "expected a network for the method, or another method in [routes]";
                map.problems.add(&span, error.to_string(), expected);
                RouteTable::default()
            }),
        (NetworkCompleteness::Complete, None) | (NetworkCompleteness::Incomplete, _) => {
            RouteTable::default()
        }
    };
    let topology = map.topology.without_fibres();
    for mut table in root.tables("route") {
        if is_mapped {
            table.report("[[route]] in a mapped network".to_owned(), "expected no given routes");
        }
        let mut host = |key| map.host(&table.needed(key)?.text("the name of a host")?);
        let (from, to) = (host("from"), host("to"));
        let bytes = match (table.item("bytes"), table.item("via")) {
            (Some(_), Some(via)) => {
                via.report("expected `bytes` or `via`, not both".to_owned());
                None
            }
            (Some(bytes), None) => {
                bytes.text("route bytes, like `83 bf`").and_then(|text| route(map, &text))
            }
            (None, Some(via)) => RouteWay { map, topology: &topology }.bytes(&via, from, to),
            (None, None) => {
                table.missing("expected the key `bytes` or `via`");
                None
            }
        };
        if let (Some(from), Some(to), Some(bytes)) = (from, to, bytes) {
            routes.set(from, to, bytes);
        }
        table.finish();
    }
    (routes, is_mapped.then(MappingPlan::default))
}

/// Parses route bytes in notation; their destination is not checked. P-2
fn route(map: NameLookup<'_>, text: &TomlText<'_>) -> Option<Vec<u8>> {
    // A repetition may stand for millions of characters: what cannot be short enough is not read.
    let parsed = if text.text.len() <= 3 * ROUTE_MAX { parse(text.text).ok() } else { None };
    let bytes = parsed.filter(|chars| chars.chars().len() <= ROUTE_MAX).and_then(|chars| {
        let bytes = chars.chars().iter().map(|character| match character {
            Character::Data(byte) if is_route_byte(byte) => Some(byte),
            Character::Data(_) | Character::Control(_) => None,
        });
        bytes.collect()
    });
    if bytes.is_none() {
        let message = format!("`bytes` is {}", map.problems.shown(&text.span));
        let expected = format!("expected at most {ROUTE_MAX} bytes from 80 to ff, like `83 bf`");
        map.problems.add(&text.span, message, expected);
    }
    bytes
}
