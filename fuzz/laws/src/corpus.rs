//! Inputs of `corpus/`, each named for what it shows; scenarios of `fixtures/`; chunks in notation.

use std::fs;
use std::path::Path;

use codec::notation::parse;
use codec::time::Tick;
use simulator::scenario::Scenario;

use crate::capture_input::OwnedChunk;

/// Contents of a file of this project, by its path from the root.
#[expect(clippy::disallowed_methods, clippy::expect_used, reason = "the corpus is files")]
pub fn file(path: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).expect("a file")
}

/// Names of the entries of a directory, sorted.
#[expect(clippy::expect_used, reason = "the corpus is files")]
fn names(directory: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(directory);
    let entries = fs::read_dir(path).expect("a directory");
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut names: Vec<String> = entries.map(|entry| name(entry.expect("its entries"))).collect();
    names.sort();
    names
}

/// Names and contents of the files in `corpus/TARGET/`, by name.
pub fn inputs(target: &str) -> Vec<(String, Vec<u8>)> {
    let names = names(&format!("corpus/{target}")).into_iter();
    names.map(|name| (name.clone(), input(target, &name))).collect()
}

/// Scenarios of the demos and of other fixtures, with the names of their directories.
pub fn scenarios() -> Vec<(String, Scenario)> {
    let fixtures = names("fixtures").into_iter();
    let simulated = fixtures.filter(|name| name.starts_with("demo-") || name == "ring-deadlock");
    simulated.map(|name| (name.clone(), scenario(&name))).collect()
}

/// Scenario of a fixture.
#[expect(clippy::panic, reason = "the fixtures are files")]
pub fn scenario(name: &str) -> Scenario {
    let text = file(&format!("fixtures/{name}/scenario.toml"));
    let scenario = Scenario::read(name, &String::from_utf8_lossy(&text));
    scenario.unwrap_or_else(|error| panic!("{error}"))
}

/// Contents of `corpus/TARGET/NAME`.
pub fn input(target: &str, name: &str) -> Vec<u8> {
    file(&format!("corpus/{target}/{name}"))
}

/// The payload of a chunk of characters in notation, from character 1000 on.
pub fn chunk(text: &str, count: Option<u64>) -> Vec<u8> {
    let chars = parse(text).unwrap_or_default();
    let mut out = Vec::new();
    OwnedChunk { first: Tick(1000), chars, count }.chunk().emit(&mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture_input::CaptureInput;
    use crate::endpoints::input::MessagingInput;
    use crate::network::input::{NetworkInput, SwitchInput};
    use crate::network::run::RunOutcome;
    use crate::transport::input::TransportInput;
    use crate::{
        TARGETS, analyze, crossbar, delivery, endpoints, link, receiver, states, transport,
    };
    use analyzer::event_reader::{EventReader, ReadItem};
    use analyzer::packet::ByteRetention;
    use analyzer::timeline::EventFilter;
    use codec::capture::ReadProgress;
    use simulator::messaging::MICROSECOND;
    use std::collections::BTreeSet;

    /// Ends of packets and kinds of events in a generated capture.
    fn rows(input: &[u8]) -> Vec<&'static str> {
        let file = CaptureInput::from_bytes(input).unwrap().file().unwrap_or_default();
        let mut names = Vec::new();
        for filter in [EventFilter::Packets, EventFilter::Events] {
            let mut rows = EventReader::new(file.as_slice(), filter, ByteRetention::Forget);
            let mut step = || {
                rows.step(&mut |item| {
                    if let ReadItem::Row(_, row) = item {
                        names.push(row.body.name());
                    }
                })
            };
            while matches!(step(), Ok(ReadProgress::More)) {}
        }
        names
    }

    /// Events that occur at least twice in the truth of a network.
    fn network_events(scenario: &Scenario) -> BTreeSet<&'static str> {
        let rows = RunOutcome::of(scenario).rows;
        let mut once = BTreeSet::new();
        let names = rows.iter().map(|row| row.kind.name());
        names.filter(|name| !once.insert(*name)).collect()
    }

    /// Events of the run that an input stands for; none for inputs that stand for no run.
    fn events(mode: &str, input: &[u8]) -> Option<BTreeSet<&'static str>> {
        Some(match mode {
            "capture-plans" => rows(input).into_iter().collect(),
            "endpoints" => endpoints::planned(&MessagingInput::small(input)?),
            "transport" => transport::planned(&TransportInput::from_bytes(input)?),
            "link" => link::tests::situations(input),
            "receiver" => receiver::tests::situations(input),
            "states" => states::links::tests::shown(input),
            "analyze-any" if analyze::is_capture(input) => return None,
            "network-any" | "analyze-any" | "analyze-threads" => {
                network_events(&NetworkInput::from_bytes(input)?.scenario()?)
            }
            "network-switch" => {
                network_events(&NetworkInput::from(SwitchInput::from_bytes(input)?).scenario()?)
            }
            "crossbar" => {
                network_events(&crossbar::draft(SwitchInput::from_bytes(input)?)?.scenario())
            }
            // Long enough for the longest timeout.
            "network-talk" => {
                let scenario = delivery::ConversationInput::from_bytes(input)?.scenario()?;
                let duration = 2_000_000;
                network_events(&Scenario { duration, taps: Vec::new(), ..scenario })
            }
            _ => return None,
        })
    }

    #[test]
    fn inputs_that_stand_for_runs_are_named_after_what_happens() {
        let mut checked = BTreeSet::new();
        for target in TARGETS {
            let mut inputs = inputs(target.name);
            inputs.retain(|(name, _)| {
                !name.starts_with("regression-") && !name.starts_with("reaches-")
            });
            for (name, input) in inputs {
                let (mode, body) = target.select(&input);
                let mode = target.modes.get(mode).map_or(target.name, |(mode, _)| *mode);
                let Some(events) = events(mode, body) else { continue };
                let suffix = mode.strip_prefix(target.name).unwrap_or_default();
                let prefix = format!("{}-", suffix.trim_start_matches('-'));
                let event = name.strip_prefix(&prefix).unwrap_or(&name);
                let found = events.iter().any(|name| name.replace(' ', "-") == event);
                assert!(found, "{mode}: {name}: {events:?}");
                checked.insert(mode);
            }
        }
        assert_eq!(checked.len(), 12, "{checked:?}");
    }

    #[test]
    fn what_once_broke_the_law_of_endpoints_is_what_its_name_says() {
        let hosts = |name| MessagingInput::small(&input("endpoints", name)).unwrap().hosts();
        let few = hosts("regression-one-frame");
        assert!(few.iter().all(|host| (host.parameters.frames, host.endpoints.len()) == (1, 2)));
        let full = hosts("regression-full-queues");
        assert!(
            full.iter().all(|host| (host.parameters.request_queue, host.streams.len()) == (1, 3))
        );
        assert!(hosts("regression-in-step").iter().all(|host| {
            let times = &host.transport;
            let longest = 3 * (times.timeout.0 + 2 * times.scan.0) * MICROSECOND;
            let change = host.parameters.load + 2 * host.costs.transfer(host.costs.page.into());
            host.parameters.frames == 1 && longest < change
        }));
        let streams = few.iter().chain(&full).flat_map(|host| &host.streams);
        assert!(streams.into_iter().all(|stream| stream.count == Some(8)));
    }
}
