//! Networks that some bytes stand for: they are run once more, for all that can be seen of them.

use simulator::network::VisitOrder;
use simulator::scenario::Scenario;
use simulator::topology::NodeId;
use simulator::traffic::{StreamDestination, TrafficStream};
use simulator::truth::TraceLevel;

use super::text_page::byte_test;
use super::{ReproductionDraft, ReproductionPart, captures};
use crate::analyze::is_capture;
use crate::failure::catch_failure;
use crate::network::input::{NetworkInput, SwitchInput};
use crate::network::run::{RunOutcome, run};
use crate::{crossbar, delivery, score, taps};

/// Number of times that what was recorded is handed out. *Chosen*.
const SLICE: u64 = 1 << 16;

/// An input of `network`, and of others that read bytes likewise.
pub(super) fn network(target: &str, input: &[u8]) -> ReproductionDraft {
    planned(target, input, NetworkInput::from_bytes(input).and_then(|plan| plan.scenario()))
}

/// An input of `network-switch`.
pub(super) fn switch(target: &str, input: &[u8]) -> ReproductionDraft {
    let plan = SwitchInput::from_bytes(input).map(NetworkInput::from);
    planned(target, input, plan.and_then(|plan| plan.scenario()))
}

/// An input of `crossbar`.
pub(super) fn crossbar(target: &str, input: &[u8]) -> ReproductionDraft {
    planned(target, input, SwitchInput::from_bytes(input).and_then(crossbar::scenario))
}

/// An input of `network-talk`, as far as its law may go.
pub(super) fn talk(target: &str, input: &[u8]) -> ReproductionDraft {
    let plan = delivery::ConversationInput::from_bytes(input);
    planned(target, input, plan.and_then(|plan| plan.attempt()))
}

/// An input of `analyze`: a capture, or the bytes of a network.
pub(super) fn analyze(target: &str, input: &[u8]) -> ReproductionDraft {
    if is_capture(input) { captures::draw(target, input) } else { network(target, input) }
}

fn planned(target: &str, input: &[u8], scenario: Option<Scenario>) -> ReproductionDraft {
    let Some(scenario) = scenario else {
        let known = ["These bytes stand for no network.".to_owned()];
        return ReproductionDraft::nothing(&known[0], byte_test(target, &known, input));
    };
    let known = ["The network that these bytes stand for is in scenario.toml.".to_owned()];
    ReproductionDraft { notation: byte_test(target, &known, input), ..drawn(&scenario) }
}

pub(super) fn drawn(scenario: &Scenario) -> ReproductionDraft {
    let watched = watched(scenario);
    let outcome =
        catch_failure(|| run(&watched, TraceLevel::Everything, VisitOrder::AsGiven, SLICE));
    let outcome = outcome.map_err(|broken| format!("the run did not come to its end: {broken}"));
    let (capture, truth) = match &outcome {
        Ok(outcome) => (Ok(outcome.capture.clone()), Ok(score::truth(&watched, outcome))),
        Err(why) => (Err(why.clone()), Err(why.clone())),
    };
    let scenario = Ok(file(&watched, &outcome));
    ReproductionDraft { capture, scenario, truth, notation: String::new() }
}

/// Adds taps at every cable of a scenario without taps. Nothing in a network depends on its taps.
fn watched(scenario: &Scenario) -> Scenario {
    let mut scenario = scenario.clone();
    if scenario.taps.is_empty() {
        scenario.taps = taps::at_every_cable(&scenario);
    }
    scenario
}

/// The file of a scenario, or the one that comes nearest, with a word on whether it runs to the same.
fn file(scenario: &Scenario, outcome: &ReproductionPart<RunOutcome>) -> String {
    let writable = writable(scenario);
    let (text, why) = match writable.write() {
        Ok(text) if writable == *scenario => return text,
        Ok(text) => (text, "what changes nothing is left out".to_owned()),
        Err(why) => (why.text().to_owned(), why.to_string()),
    };
    let same = Scenario::read("scenario.toml", &text).ok().and_then(|nearest| {
        let other =
            catch_failure(|| run(&nearest, TraceLevel::Everything, VisitOrder::AsGiven, SLICE))
                .ok()?;
        Some(outcome.as_ref().is_ok_and(|outcome| outcome.capture == other.capture))
    });
    let same = match same {
        Some(true) => "it runs to the same capture",
        Some(false) => "IT RUNS TO ANOTHER CAPTURE",
        None => "IT CANNOT BE RUN",
    };
    let why = why.lines().map(|line| format!("# {line}\n")).collect::<String>();
    format!("# The file that comes nearest to what ran; {same}.\n{why}{text}")
}

/// Removes faults that can never happen, for which the file format has no words.
fn writable(scenario: &Scenario) -> Scenario {
    let mut scenario = scenario.clone();
    for fault in &mut scenario.faults {
        if !fault.kind.lasts() {
            fault.until = None;
        }
    }
    let duration = scenario.duration;
    scenario.faults.retain(|fault| fault.at < duration);
    let hosts: Vec<NodeId> = scenario.topology.hosts().collect();
    if hosts.len() < 2 {
        // There is no other host.
        scenario.streams.clear();
    }
    for stream in &mut scenario.streams {
        // Its place among the streams stays taken: others draw the same lots.
        if is_to_itself(stream)
            && let Some(other) = hosts.iter().find(|host| **host != stream.from)
        {
            stream.to = StreamDestination::One(*other);
            stream.packets = Some(0);
        }
        if let Some(interval) = stream.arrivals.interval_mut() {
            interval.0 = interval.0.max(1);
        }
    }
    scenario
}

fn is_to_itself(stream: &TrafficStream) -> bool {
    let own = |to: &NodeId| *to == stream.from;
    match &stream.to {
        StreamDestination::One(to) => own(to),
        StreamDestination::Among(all) => all.iter().all(own),
    }
}
