//! Laws held over demos, fixtures, and random networks with fixed seeds.

#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test reads files, and stops if it cannot go on"
)]

mod blocking;
mod both_ends;
mod clocks;
mod comparisons;
mod conversations;
mod demos;
mod endpoints;
mod journeys;
mod mapping;
mod model;
mod multicasts;
mod pictures;
mod recordings;
mod recount;
mod regressions;
mod replay;
mod routers;
mod routes;
mod rules;
mod score;
mod slices;
mod spellings;
mod standstill;
mod stillness;
mod storms;
mod transport;
mod undeclared;
mod variants;
mod wires;

use std::fmt::Debug;

use laws::failure::catch_failure;
use laws::network::draft::NetworkDraft;
use laws::repair::SeededRng;
use laws::reproduction::minimal;
use laws::taps;
use simulator::scenario::Scenario;

/// A scenario that is in order.
fn read(text: &str) -> Scenario {
    Scenario::read("scenario.toml", text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A scenario whose cables are all tapped, each at one end.
fn tapped(text: &str) -> Scenario {
    let mut scenario = read(text);
    scenario.taps = taps::at_every_cable(&scenario);
    scenario
}

/// Kinds of rows of the truth.
fn truth_kinds() -> impl Iterator<Item = &'static str> {
    include_str!("../../../docs/truth.md").lines().filter_map(|line| {
        let (_, kind) = line.split_once("\"event\":\"")?;
        kind.split_once('"').map(|(kind, _)| kind)
    })
}

/// Inputs of a name, each as [`SeededRng::bytes_within`] draws them.
fn storm(name: &str, count: u64, [least, more]: [u64; 2]) -> impl Iterator<Item = Vec<u8>> {
    let mut dice = SeededRng::new(name.as_bytes());
    (0..count).map(move |_| dice.bytes_within(least, more))
}

/// Checks a law for the plan that some bytes stand for, and fails with the least one that breaks it.
fn hold<P: Debug, T>(bytes: &[u8], read: impl Fn(&[u8]) -> Option<P>, law: impl Fn(&P) -> T) {
    let law = |bytes: &[u8]| drop(read(bytes).as_ref().map(&law));
    let Err(broken) = catch_failure(|| law(bytes)) else { return };
    panic!("{broken}: {:#?}", read(&minimal(law, bytes, &broken, 1000).input));
}

/// The scenario file of a network, empty if there is none.
fn file(draft: Option<NetworkDraft>) -> String {
    draft.map_or_else(String::new, |draft| draft.text())
}
