//! Networks that some bytes stand for: they are run once more, for all that can be seen of them.
use simulator::scenario::Scenario;

use super::text_page::byte_test;
use super::{ReproductionDraft, captures};
use crate::analyze::is_capture;
use crate::failure::catch_failure;
use crate::network::draft::NetworkDraft;
use crate::network::input::{NetworkInput, SwitchInput};
use crate::network::run::RunOutcome;
use crate::{crossbar, delivery, score, taps};

/// An input of `network`, and of others that read bytes likewise.
pub(super) fn network(target: &str, input: &[u8]) -> ReproductionDraft {
    planned(target, input, NetworkInput::from_bytes(input).and_then(|plan| plan.draft()))
}

/// An input of `network-switch`.
pub(super) fn switch(target: &str, input: &[u8]) -> ReproductionDraft {
    let plan = SwitchInput::from_bytes(input).map(NetworkInput::from);
    planned(target, input, plan.and_then(|plan| plan.draft()))
}

/// An input of `crossbar`.
pub(super) fn crossbar(target: &str, input: &[u8]) -> ReproductionDraft {
    planned(target, input, SwitchInput::from_bytes(input).and_then(crossbar::draft))
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

fn planned(target: &str, input: &[u8], draft: Option<NetworkDraft>) -> ReproductionDraft {
    let Some(mut draft) = draft else {
        let known = ["These bytes stand for no network.".to_owned()];
        return ReproductionDraft::nothing(&known[0], byte_test(target, &known, input));
    };
    let known = ["The network that these bytes stand for is in scenario.toml.".to_owned()];
    if draft.tables("tap").next().is_none() {
        draft.add("tap", "all = true");
    }
    let notation = byte_test(target, &known, input);
    ReproductionDraft { notation, ..drawn(draft.text(), &draft.scenario()) }
}

/// Capture and truth of a run of a scenario. Without taps all cables are tapped, since nothing in a network depends on its taps.
pub(super) fn drawn(text: String, scenario: &Scenario) -> ReproductionDraft {
    let mut watched = scenario.clone();
    if watched.taps.is_empty() {
        watched.taps = taps::at_every_cable(&watched);
    }
    let outcome = catch_failure(|| RunOutcome::of(&watched));
    let outcome = outcome.map_err(|broken| format!("the run did not come to its end: {broken}"));
    let (capture, truth) = match &outcome {
        Ok(outcome) => (Ok(outcome.capture.clone()), Ok(score::truth(&watched, outcome))),
        Err(why) => (Err(why.clone()), Err(why.clone())),
    };
    ReproductionDraft { capture, scenario: Ok(text), truth, notation: String::new() }
}
