//! Laws of an episode of a run, from quiescence to quiescence.

use std::collections::BTreeMap;

use analyzer::score::ScoreReport;
use simulator::scenario::Scenario;
use simulator::topology::NodePort;

use super::StormCounts;
use crate::delivery;
use crate::judged_network::{JudgedNetwork, ReadingCheck, RunCondition};
use crate::network::run::RunOutcome;
use crate::network::{facts, rules};
use crate::score::{LIKELY, MESSAGES};

/// State of messages at the last quiescence: whether some had not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessagesBefore {
    None,
    Some,
}

/// Is true if the whole episode is in the capture, at all tapped ports.
pub(super) fn is_whole(part: &Scenario, from: u64) -> bool {
    let mut until = BTreeMap::<NodePort, u64>::new();
    for tap in &part.taps {
        let until = until.entry(tap.port).or_insert(from);
        if tap.from <= *until {
            *until = (*until).max(tap.to);
        }
    }
    !until.is_empty() && until.values().all(|until| *until >= part.duration)
}

/// Checks the laws of the truth alone.
pub(super) fn held(part: &Scenario, outcome: &RunOutcome, counts: &mut StormCounts) {
    rules::check(part, outcome);
    counts.checked("links, switches and packets follow the rules", 1);
}

/// Checks that the analysis of the capture agrees with the truth.
pub(super) fn agreed(
    part: &Scenario,
    outcome: RunOutcome,
    begun: MessagesBefore,
    counts: &mut StormCounts,
) {
    if !facts::rates_are_alike(part) {
        return;
    }
    let mut part = part.clone();
    // One tap per port, which observes it all the time.
    part.taps.dedup_by_key(|tap| tap.port);
    let judged = JudgedNetwork::new(part, outcome);
    let ReadingCheck { score, condition, .. } = ReadingCheck::of(&judged);
    let JudgedNetwork { scenario: part, outcome, .. } = &judged;
    let none = ScoreReport::default();
    let score = score.unwrap_or(&none);
    for (law, times) in [
        ("slack buffers are within their bounds", 1),
        ("a network in order has no findings", (condition == RunCondition::InOrder).into()),
        ("waits equal the sender's events", 1),
        ("no damage is found where there is none", (condition != RunCondition::Hurt).into()),
        ("damage that reaches a tap is found", 1),
        ("truth and analysis agree, row by row", score.scores.iter().map(|row| row.in_truth).sum()),
    ] {
        counts.checked(law, times);
    }
    // A mapper may have begun before the capture.
    let is_complete = outcome.from == 0 && part.taps.iter().all(|tap| tap.from == 0);
    // They are certain where every cable is tapped, nothing breaks, and no message is from before.
    if delivery::has_message_events(part, &outcome.rows)
        && (part.mapping.is_none() || is_complete)
        && part.raw.is_empty()
        && begun == MessagesBefore::None
    {
        let mut certain = score.clone();
        // Bytes that were sent before the capture may be sent again in it. H-1
        certain.scores.retain(|row| is_complete || row.kind != "ip-conversation");
        delivery::check_score(&certain);
        counts.checked("conversations found equal the truth", 1);
    }
    for row in &score.scores {
        if LIKELY.contains(&row.kind) || MESSAGES.contains(&row.kind) {
            let sums = counts.likely.entry(row.kind).or_default();
            let more = [row.in_truth, row.found, row.right];
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
    }
}
