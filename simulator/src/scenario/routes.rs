//! `[routes]` and `[[route]]`: computed or given routes.

use codec::Character;
use codec::notation::parse;
use codec::route::is_route_byte;

use super::limits::ROUTE_MAX;
use super::names::{NameLookup, NetworkCompleteness, node_name};
use super::toml_reader::{TomlTable, TomlText};
use super::toml_writer::{TomlKeys, TomlPage, word_of};
use crate::routes::{RouteTable, RoutingMethod};
use crate::topology::Topology;

/// Values of `method`; `None` means that all routes are given.
const METHODS: [(&str, Option<RoutingMethod>); 4] = [
    ("shortest", Some(RoutingMethod::Shortest)),
    ("up-down", Some(RoutingMethod::UpDown)),
    ("dimension-order", Some(RoutingMethod::DimensionOrder)),
    ("given", None),
];

pub(super) fn read(
    root: &mut TomlTable<'_>,
    map: NameLookup<'_>,
    default: RoutingMethod,
) -> RouteTable {
    let mut method = Some(default);
    let mut span = 0..0;
    if let Some(mut table) = root.table("routes") {
        span = table.span();
        method = table.word("method", &METHODS).unwrap_or(method);
        table.finish();
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
    for mut table in root.tables("route") {
        let mut host = |key| map.host(&table.needed(key)?.text("the name of a host")?);
        let (from, to) = (host("from"), host("to"));
        let bytes = table
            .needed("bytes")
            .and_then(|item| item.text("route bytes, like `83 bf`"))
            .and_then(|text| route(map, &text));
        if let (Some(from), Some(to), Some(bytes)) = (from, to, bytes) {
            routes.set(from, to, bytes);
        }
        table.finish();
    }
    routes
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

/// Writes the method with the fewest exceptions, and these.
pub(super) fn write(page: &mut TomlPage, routes: &RouteTable, topology: &Topology) {
    let computed = |method| {
        let computed = RouteTable::compute(topology, method).ok()?;
        // What is computed cannot be taken away again.
        let fits = computed.iter().all(|(from, to, _)| routes.get(from, to).is_some());
        fits.then_some((Some(method), computed))
    };
    let methods = [RoutingMethod::UpDown, RoutingMethod::Shortest, RoutingMethod::DimensionOrder];
    let differing = |base: &RouteTable| {
        routes.iter().filter(|(from, to, bytes)| base.get(*from, *to) != Some(*bytes)).count()
    };
    let none = (None, RouteTable::default());
    let ways = methods.into_iter().filter_map(computed).chain([none.clone()]);
    let (method, base) = ways.min_by_key(|(_, base)| differing(base)).unwrap_or(none);
    let mut keys = TomlKeys::default();
    if method != Some(RoutingMethod::UpDown) {
        keys.text("method", word_of(&METHODS, method));
    }
    page.table("routes", &keys);
    for (from, to, bytes) in routes.iter() {
        if base.get(from, to) != Some(bytes) {
            let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            let mut keys = TomlKeys::default();
            keys.text("from", node_name(topology, from));
            keys.text("to", node_name(topology, to));
            keys.text("bytes", &bytes.join(" "));
            page.element("route", &keys);
        }
    }
}
