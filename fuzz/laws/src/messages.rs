//! A network of hosts with endpoints, character by character: whatever its parts and whatever breaks, every
//! message is accounted for, and the laws of links and switches hold as ever. T-1, T-5, T-9, T-13

use arbitrary::{Arbitrary, Unstructured};
use codec::transport::Nic;
use simulator::endpoint::MICROSECOND;
use simulator::fault::Break;
use simulator::interface::Consumption;
use simulator::network::{Layout, Network};
use simulator::scenario::Scenario;
use simulator::truth::{Wanted, What};

use crate::endpoints::ledger::Ledger;
use crate::endpoints::plan::Plan as Talk;
use crate::network;
use crate::network::plan::Plan as Parts;

/// How often it is looked whether all has come to rest.
const SLICE: u64 = 500 * MICROSECOND;

/// By when it has. *Chosen*: what hosts say to each other takes some ten milliseconds; patience and
/// silence take as much again.
const END: u64 = 2_000_000 * MICROSECOND;

/// A network, and what is said in it.
#[derive(Clone, Debug, Arbitrary)]
pub struct Plan {
    parts: Parts,
    talk: Talk,
}

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Messages that applications handed over.
    pub messages: usize,
    /// How long it took until all had come to rest, in periods of the full rate.
    pub periods: u64,
}

impl Plan {
    /// The plan that some bytes stand for.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Self::arbitrary(&mut Unstructured::new(bytes)).ok()
    }

    /// The scenario that it stands for, if it has two hosts at least. What breaks is mended in the
    /// end, and every host takes what comes, so that messages can end.
    #[must_use]
    pub fn scenario(&self) -> Option<Scenario> {
        let mut scenario = self.parts.scenario()?;
        let hosts: Vec<_> = scenario.topology.hosts().collect();
        let nics: Vec<Nic> = hosts
            .iter()
            .map(|host| u16::try_from(host.0).map(Nic))
            .collect::<Result<_, _>>()
            .ok()?;
        if nics.len() < 2 {
            return None;
        }
        scenario.messaging = hosts.into_iter().zip(self.talk.hosts_at(&nics)).collect();
        scenario.raw.clear();
        for (_, host) in &mut scenario.interfaces {
            host.consumption = Consumption::Always;
            host.receive_memory = host.receive_memory.max(16_384);
            host.send_memory = host.send_memory.max(16_384);
        }
        for stream in &mut scenario.streams {
            stream.packets = Some(stream.packets.unwrap_or(50));
        }
        scenario.faults.retain(|fault| !matches!(fault.what, Break::Consume { .. }));
        for fault in &mut scenario.faults {
            fault.until = fault.until.or(Some(fault.at + 5000));
        }
        Some(scenario)
    }
}

/// The laws, of a network that some bytes stand for.
///
/// # Panics
/// If one is broken.
pub fn law(bytes: &[u8]) {
    Plan::from_bytes(bytes).into_iter().for_each(|plan| {
        planned(&plan);
    });
}

/// The laws, of a network that was planned; none if it has no two hosts.
///
/// # Panics
/// If one is broken.
pub fn planned(plan: &Plan) -> Option<Summary> {
    let mut scenario = plan.scenario()?;
    let summary = accounted(&scenario);
    // The same again, as far as it went, for the laws of everything else.
    scenario.duration = summary.periods;
    scenario.taps.iter_mut().for_each(|tap| tap.to = summary.periods);
    network::simulated(&scenario);
    Some(summary)
}

/// Every message of a scenario is accounted for, and all comes to rest.
///
/// # Panics
/// If not.
#[must_use]
pub fn accounted(scenario: &Scenario) -> Summary {
    let mut silent = scenario.clone();
    silent.taps.clear();
    silent.duration = END;
    let mut network = Network::new(&silent, Wanted::Everything, Layout::AsGiven);
    let plans: Vec<_> = scenario.messaging.values().cloned().collect();
    let mut ledger = Ledger::new(&plans);
    let mut restarts = restarts(scenario);
    let faults = scenario.faults.iter().filter_map(|fault| fault.until).max().unwrap_or(0);
    let starts = plans.iter().flat_map(|plan| &plan.streams).map(|stream| stream.start).max();
    let least = faults.max(starts.unwrap_or(0));
    let mut now = 0;
    loop {
        now += SLICE;
        network.run(now);
        for row in network.happened() {
            while let Some((_, nic)) = restarts.pop_if(|(at, _)| *at <= row.at) {
                ledger.forgets(nic);
            }
            if let What::Told(told) = &row.what
                && let Ok(nic) = u16::try_from(row.place.node.0)
            {
                ledger.tell(Nic(nic), told);
            }
        }
        let quiet = now > least && ledger.open() == 0 && network.under_way() == 0;
        if quiet && ledger.credits_are_back() {
            return Summary { messages: ledger.messages(), periods: now };
        }
        assert!(now < END, "all comes to rest. T-1: {} are open", ledger.open());
    }
}

/// When control programs are loaded, the last first.
fn restarts(scenario: &Scenario) -> Vec<(u64, Nic)> {
    let mut restarts: Vec<(u64, Nic)> =
        scenario.messaging.values().map(|plan| (0, plan.nic)).collect();
    for fault in &scenario.faults {
        let (Break::Restart { host: node } | Break::PowerOff { node }) = fault.what else {
            continue;
        };
        let Ok(nic) = u16::try_from(node.0) else { continue };
        restarts.extend([fault.at, fault.until.unwrap_or(fault.at)].map(|at| (at, Nic(nic))));
    }
    restarts.retain(|(_, nic)| scenario.messaging.values().any(|plan| plan.nic == *nic));
    restarts.sort();
    restarts.reverse();
    restarts
}
