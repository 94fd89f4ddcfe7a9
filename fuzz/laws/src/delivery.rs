//! A network of hosts with endpoints, character by character: whatever its parts and whatever breaks, every
//! message is accounted for, and the laws of links and switches hold as ever. T-1, T-5, T-9, T-13

use std::iter;

use analyzer::score::ScoreReport;
use arbitrary::{Arbitrary, Unstructured};
use codec::transport::Nic;
use simulator::fault::FaultKind;
use simulator::messaging::{MICROSECOND, MessagingEvent};
use simulator::network::{Network, VisitOrder};
use simulator::scenario::Scenario;
use simulator::topology::CableSpec;
use simulator::truth::{TraceLevel, TruthEvent, TruthEventKind};
use toml::Value;

use crate::endpoints::checker::MessagingChecker;
use crate::endpoints::input::MessagingInput as Talk;
use crate::judged_network::{self, JudgedNetwork};
use crate::network;
use crate::network::draft::NetworkDraft;
use crate::network::findings::is_trouble;
use crate::network::input::NetworkInput as Parts;
use crate::score;

/// Number of times that it is looked whether all has come to rest.
const SLICE: u64 = 500 * MICROSECOND;

/// Latest time of quiescence. *Chosen*: messages of hosts take some ten milliseconds; patience and
/// silence take as much again.
const END: u64 = 2_000_000 * MICROSECOND;

/// Time that a network is watched that need not come to rest.
const WATCHED: u64 = 40_000 * MICROSECOND;

/// Periods after which a fuzzer gives up on a plan: storms wait on. *Chosen*: ten milliseconds, in which most
/// is over, and no input takes seconds.
const LONG: u64 = 10_000 * MICROSECOND;

/// Periods up to which it is looked at character by character too. *Chosen*: a millisecond of it, which
/// takes many of ours.
const SHORT: u64 = 1000 * MICROSECOND;

#[derive(Clone, Debug, Arbitrary)]
pub struct ConversationInput {
    parts: Parts,
    talk: Talk,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliverySummary {
    /// Messages that applications handed over.
    pub messages: usize,
    /// Time that it took until all had come to rest, or how long it was watched, in periods of the full rate.
    pub periods: u64,
}

impl ConversationInput {
    /// The plan that some bytes stand for.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut bytes = Unstructured::new(bytes);
        let plan = Self::arbitrary(&mut bytes).ok()?;
        let ends = bytes.arbitrary().ok()?;
        Some(Self { parts: Parts { ends, ..plan.parts }, ..plan })
    }

    /// The file that it stands for, if it has two hosts at least. What breaks is mended in the end, and every host
    /// takes what comes, so that messages can end.
    pub fn draft(&self) -> Option<NetworkDraft> {
        let mut draft = self.parts.draft().filter(|draft| draft.hosts.len() > 1)?;
        draft.remove(&["raw"]);
        let patient = "consumption = 'always'\nsend_memory = 16384\nreceive_memory = 16384";
        draft.set_each("host", iter::repeat(patient.to_owned()));
        for stream in draft.tables("traffic") {
            stream.entry("packets").or_insert(Value::Integer(50));
        }
        draft.faults.retain(|fault| !matches!(fault.kind, FaultKind::Consume(_)));
        for fault in draft.faults.iter_mut().filter(|fault| fault.kind.lasts()) {
            fault.until = fault.until.or(Some(fault.at + 5000));
        }
        draft.set(&format!("duration_periods = {END}"));
        self.talk.shape.add_endpoints(&mut draft);
        self.talk.add_messages(&self.talk.shape, &mut draft, 0);
        Some(draft)
    }

    /// The scenario of the file.
    pub fn scenario(&self) -> Option<Scenario> {
        self.draft().map(|draft| draft.scenario())
    }

    /// The file, up to where it comes to rest if a fuzzer waits for that.
    pub fn attempt(&self) -> Option<NetworkDraft> {
        let mut draft = self.draft()?;
        let rest = kept(&draft.scenario(), LONG, &mut |_| 1).map_or(LONG, |it| it.periods);
        draft.set(&format!("duration_periods = {rest}"));
        Some(draft)
    }
}

/// The laws, of a network that some bytes stand for; of what takes long, only that every message is
/// accounted for.
pub fn law(bytes: &[u8]) {
    let Some(scenario) = ConversationInput::from_bytes(bytes).and_then(|plan| plan.scenario())
    else {
        return;
    };
    let summary = kept(&scenario, LONG, &mut |_| 1);
    if let Some(summary) = summary.filter(|summary| summary.periods <= SHORT) {
        recorded(scenario, summary);
    }
}

/// The laws, of a network that was planned; none if it has no two hosts.
pub fn planned(plan: &ConversationInput) -> Option<DeliverySummary> {
    let scenario = plan.scenario()?;
    let summary = require_quiescence(kept(&scenario, END, &mut |_| 1));
    recorded(scenario, summary);
    Some(summary)
}

/// Simulates the network again, for the same time, and checks all other laws.
fn recorded(mut scenario: Scenario, summary: DeliverySummary) {
    scenario.duration = summary.periods;
    scenario.taps.iter_mut().for_each(|tap| tap.to = summary.periods);
    let judged = JudgedNetwork::of(scenario);
    judged_network::check(&judged);
    if has_message_events(&judged.scenario, &judged.outcome.rows) {
        check_score(judged.score());
    }
}

/// Tests whether the capture shows all messages: nothing breaks, nothing is cut short for long waiting or want
/// of room, and every link is tapped, once; fibres have no taps. R-4, F-9, N-5
pub(crate) fn has_message_events(scenario: &Scenario, rows: &[TruthEvent]) -> bool {
    let cables = scenario.topology.cables();
    let is_tapped_once = |cable: &CableSpec| {
        scenario.topology.is_fibre(cable)
            || scenario.taps.iter().filter(|tap| cable.ends.contains(&tap.port)).count() == 1
    };
    scenario.faults.is_empty()
        && cables.iter().all(is_tapped_once)
        && !rows.iter().any(|row| is_trouble(&row.kind))
}

pub(crate) fn check_score(score: &ScoreReport) {
    for row in score.scores.iter().filter(|row| score::MESSAGES.contains(&row.kind)) {
        assert!(row.is_perfect(), "what is found was said: {row:?}, {:?}", score.differences);
    }
}

/// Every message of a scenario is accounted for, and all comes to rest; but for where slack buffers can
/// overflow. There the end of a packet may be lost for good, and what it had taken in switches stays
/// taken until its host sends again. F-9
fn require_quiescence(summary: Option<DeliverySummary>) -> DeliverySummary {
    assert!(summary.is_some(), "every message is accounted for, and all comes to rest. T-1");
    summary.unwrap_or_default()
}

/// Summary, if the network becomes quiescent before `end`. The checker gets each event `times` times: once, except in
/// tests.
fn kept(
    scenario: &Scenario,
    end: u64,
    times: &mut dyn FnMut(&MessagingEvent) -> usize,
) -> Option<DeliverySummary> {
    let mut silent = scenario.clone();
    silent.taps.clear();
    silent.duration = end;
    let mut network = Network::new(&silent, TraceLevel::Everything, VisitOrder::AsGiven);
    let mut delivery = NetworkDelivery::new(scenario);
    let faults = scenario.faults.iter().filter_map(|fault| fault.until).max().unwrap_or(0);
    let starts =
        scenario.messaging.values().flat_map(|plan| &plan.streams).map(|stream| stream.start).max();
    let least = faults.max(starts.unwrap_or(0));
    let mut now = 0;
    loop {
        now += SLICE;
        network.run(now);
        for row in network.drain_events() {
            delivery.record(&row, times);
        }
        let checker = &delivery.checker;
        let quiet = now > least && checker.open() == 0 && network.in_transit() == 0;
        if quiet && checker.credits_are_back()
            || now > WATCHED.max(least) && !loses_nothing(scenario)
        {
            return Some(DeliverySummary { messages: checker.messages(), periods: now });
        }
        if now >= end {
            return None;
        }
    }
}

/// Checks the fate of every message of a network from the truth about it.
pub(crate) struct NetworkDelivery<'a> {
    scenario: &'a Scenario,
    pub(crate) checker: MessagingChecker,
    /// Times when control programs are loaded, the last first.
    restarts: Vec<(u64, Nic)>,
}

impl<'a> NetworkDelivery<'a> {
    pub(crate) fn new(scenario: &'a Scenario) -> Self {
        let plans: Vec<_> = scenario.messaging.values().cloned().collect();
        Self { scenario, checker: MessagingChecker::new(&plans), restarts: restarts(scenario) }
    }

    /// The checker gets each message event `times` times: once, except in tests.
    pub(crate) fn record(
        &mut self,
        row: &TruthEvent,
        times: &mut dyn FnMut(&MessagingEvent) -> usize,
    ) {
        let Self { scenario, checker, restarts } = self;
        while let Some((_, nic)) = restarts.pop_if(|(at, _)| *at <= row.at) {
            checker.forgets(nic);
        }
        let Ok(nic) = u16::try_from(row.place.node.0).map(Nic) else { return };
        // Its control program is loaded again. I-3
        let is_host = scenario.messaging.contains_key(&row.place.node);
        if is_host && row.kind == TruthEventKind::ResetReceived {
            checker.forgets(nic);
        }
        if let TruthEventKind::Messaging(event) = &row.kind {
            (0..times(event)).for_each(|_| checker.record(nic, event));
        }
    }
}

/// Tests whether every slack buffer has room enough. F-4
pub(crate) fn loses_nothing(scenario: &Scenario) -> bool {
    let links = scenario.topology.cables().iter().flat_map(|it| [it.link, it.link.turned()]);
    links.into_iter().all(|link| {
        let enough = link.ports[0].slack.stop_slack >= network::rules::stop_slack(&link);
        enough && network::facts::keeps_alive(&link)
    })
}

/// Times when control programs are loaded, the last first.
fn restarts(scenario: &Scenario) -> Vec<(u64, Nic)> {
    let mut restarts: Vec<(u64, Nic)> =
        scenario.messaging.values().map(|plan| (0, plan.nic)).collect();
    for fault in &scenario.faults {
        if !matches!(fault.kind, FaultKind::Restart | FaultKind::PowerOff | FaultKind::SupplyOff) {
            continue;
        }
        let Ok(nic) = u16::try_from(fault.place.node.0) else { continue };
        restarts.extend([fault.at, fault.until.unwrap_or(fault.at)].map(|at| (at, Nic(nic))));
    }
    restarts.retain(|(_, nic)| scenario.messaging.values().any(|plan| plan.nic == *nic));
    restarts.sort();
    restarts.reverse();
    restarts
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::canaries::two_hosts;
    use simulator::scenario::PortTap;

    const MORE: &str = "
        [transport]
        scan_us = 100
        timeout_us = 400
        unreachable_us = 1500
        [[endpoint]]
        name = 'server'
        host = 'h0'
        [[endpoint]]
        name = 'client'
        host = 'h1'
        [[messages]]
        from = 'client'
        to = 'server'
        words = 4
        every_us = 100
        count = 3
    ";

    fn summary(times: impl Fn(&MessagingEvent) -> usize) -> DeliverySummary {
        let scenario = two_hosts("duration_us = 1000", MORE);
        require_quiescence(kept(&scenario, 20_000 * MICROSECOND, &mut |summary| times(summary)))
    }

    #[test]
    fn the_canary_lives() {
        // Three requests, and a reply to each.
        assert_eq!(summary(|_| 1).messages, 6);
    }

    pub(crate) fn an_answer_that_was_not_sent_is_caught() {
        let mut scenario = two_hosts("duration_us = 1000", MORE);
        scenario.taps.extend(scenario.topology.cables().iter().map(|cable| PortTap {
            port: cable.ends[0],
            from: 0,
            to: scenario.duration,
        }));
        let JudgedNetwork { scenario, mut outcome, .. } = JudgedNetwork::of(scenario);
        assert!(has_message_events(&scenario, &[]));
        check_score(&score::of(&scenario, &outcome).unwrap());
        // The wire shows ACKs that no host sent.
        outcome.rows.retain(|row| row.kind.name() != "ack-transmitted");
        check_score(&score::of(&scenario, &outcome).unwrap());
    }

    pub(crate) fn a_message_without_end_is_caught() {
        summary(|summary| {
            usize::from(!matches!(summary, MessagingEvent::Acknowledged(id) if id.number == 1))
        });
    }

    pub(crate) fn a_message_that_is_written_twice_is_caught() {
        summary(|summary| if matches!(summary, MessagingEvent::Written(..)) { 2 } else { 1 });
    }
}
