//! A storm as JSON: the contract of `docs/output.md`. Nothing in it depends on the clock.

use std::collections::BTreeMap;

use laws::network::facts::switches;
use serde::Serialize;
use simulator::scenario::Scenario;

use super::{StormInput, StormOutcome};

#[derive(Serialize)]
pub(super) struct StormJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    networks: u64,
    hosts: u64,
    switches: u64,
    cables: u64,
    periods: u64,
    stepped: u64,
    compared: u64,
    episodes: u64,
    too_large: u64,
    packets: u64,
    messages: u64,
    faults: &'a BTreeMap<&'static str, u64>,
    likely: BTreeMap<&'static str, LikelyJson>,
    laws: &'a BTreeMap<&'static str, u64>,
    failure: Option<ViolationJson<'a>>,
}

/// Kinds that a capture cannot always identify.
#[derive(Serialize)]
struct LikelyJson {
    in_truth: u64,
    found: u64,
    right: u64,
}

#[derive(Serialize)]
struct ViolationJson<'a> {
    network: Option<u64>,
    place: &'a str,
    law: &'a str,
    file: String,
    tries: u32,
    hosts: usize,
    switches: usize,
    streams: usize,
    faults: usize,
    periods: u64,
}

pub(super) fn row(outcome: &StormOutcome) -> StormJson<'_> {
    let StormOutcome { input, counts, failure, took: _, end: _ } = outcome;
    let seed = match input {
        StormInput::Storm(runner) => Some(runner.seed),
        StormInput::Network { seed, .. } => Some(*seed),
        StormInput::Scenario(_) => None,
    };
    let failure = failure.as_ref().map(|found| {
        let left = &found.shrunk.scenario;
        ViolationJson {
            network: found.network,
            place: &found.broken.place,
            law: &found.broken.text,
            file: found.file.display().to_string(),
            tries: found.shrunk.tries,
            hosts: left.topology.hosts().count(),
            switches: switches(&left.topology),
            streams: streams(left),
            faults: left.faults.len(),
            periods: left.duration,
        }
    });
    let likely = counts.likely.iter().map(|(kind, sums)| {
        let [in_truth, found, right] = *sums;
        (*kind, LikelyJson { in_truth, found, right })
    });
    StormJson {
        seed,
        networks: counts.networks,
        hosts: counts.hosts,
        switches: counts.switches,
        cables: counts.cables,
        periods: counts.periods,
        stepped: counts.stepped,
        compared: counts.recorded,
        episodes: counts.episodes,
        too_large: counts.too_large,
        packets: counts.packets,
        messages: counts.messages,
        faults: &counts.faults,
        likely: likely.collect(),
        laws: &counts.laws,
        failure,
    }
}

/// Number of streams of packets, of messages, and of raw characters.
pub(super) fn streams(scenario: &Scenario) -> usize {
    let messages: usize = scenario.messaging.values().map(|plan| plan.streams.len()).sum();
    scenario.streams.len() + scenario.raw.len() + messages
}
