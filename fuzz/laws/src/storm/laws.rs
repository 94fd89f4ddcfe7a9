//! What is held against a stretch of a run, from rest to rest.

use std::collections::BTreeMap;

use simulator::scenario::Scenario;
use simulator::topology::NodePort;

use super::StormCounts;
use super::run::MessagesBefore;
use crate::analyze::{self, LIKELY};
use crate::delivery;
use crate::network::analyzed::AnalyzedCapture;
use crate::network::run::RunOutcome;
use crate::network::{agreement, facts, findings, rules, slack, waits};
use crate::score;

/// What is told of messages follows from journeys; these are sure only where every cable is tapped and
/// nothing is cut short. How often they are right is counted.
const OF_JOURNEYS: [&str; 8] =
    ["data", "retransmission", "cause", "ack", "nack", "duplicate", "refused", "gone"];

/// Whether all of it is in the capture, at all ports that are tapped.
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

/// The laws of the truth by itself.
pub(super) fn held(part: &Scenario, outcome: &RunOutcome, counts: &mut StormCounts) {
    rules::check(part, outcome);
    counts.checked("links, switches and packets keep the rules", 1);
}

/// What the analyzer makes of the capture is what really happened.
pub(super) fn agreed(
    part: &Scenario,
    outcome: &RunOutcome,
    begun: MessagesBefore,
    counts: &mut StormCounts,
) {
    if !facts::rates_are_alike(part) {
        return;
    }
    let mut part = part.clone();
    // Of each port one, as it is observed all the time.
    part.taps.dedup_by_key(|tap| tap.port);
    let reading = AnalyzedCapture::of(&outcome.capture);
    agreement::check(&part, outcome, &reading);
    counts.checked("what is read in a capture happened", 1);
    let width = slack::check(&part, outcome, &reading);
    assert_eq!(width.contradictions, 0, "what is assumed is so");
    counts.checked("slack buffers are as full as is said", 1);
    let in_order = findings::check(&part, outcome, &reading);
    counts.checked("nothing is found wrong where nothing is", in_order.into());
    waits::check(&part, outcome, &reading);
    counts.checked("who waits for whom does", 1);
    let score = score::of(&part, outcome);
    assert!(score.is_ok(), "{:?}", score.err());
    let score = score.unwrap_or_default();
    let fills: &[&str] = if part.raw.is_empty() { &[] } else { &["fill"] };
    analyze::check_score(&score, &[&LIKELY, &OF_JOURNEYS, fills]);
    // Where every cable is tapped and nothing breaks they are sure, if nothing was said before.
    if delivery::has_message_events(&part, &outcome.rows)
        && part.raw.is_empty()
        && begun == MessagesBefore::None
    {
        delivery::check_score(&score);
        counts.checked("what is found of conversations was said", 1);
    }
    for row in &score.scores {
        if LIKELY.contains(&row.kind) || OF_JOURNEYS.contains(&row.kind) {
            let sums = counts.likely.entry(row.kind).or_default();
            let more = [row.in_truth, row.found, row.right];
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
    }
    counts.checked(
        "truth and analysis agree, row by row",
        score.scores.iter().map(|row| row.in_truth).sum(),
    );
    let ledger = &reading.ledger;
    if part.faults.is_empty()
        && part.raw.is_empty()
        && !outcome.rows.iter().any(|row| analyze::is_trouble(&row.kind))
    {
        analyze::check_no_damage_found(ledger);
        counts.checked("no damage is found where there is none", 1);
    }
    analyze::check_damage_found(&score, ledger);
    counts.checked("damage that is there is found", 1);
}
