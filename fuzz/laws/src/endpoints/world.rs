//! Hosts, the packets between them, and an adversary.

use std::collections::{BTreeSet, VecDeque};

use codec::transport::{Nic, TransportPacket};
use simulator::messaging::{HostMessaging, MICROSECOND, MessagingEvent, MessagingPlan};

use super::checker::MessagingChecker;
use super::fairness::FairnessChecker;
use super::input::{MessagingFault, MessagingFaultKind, MessagingSetup};
use crate::repair::SeededRng;
use crate::trace::{self, LawTraceEntry};

/// Bytes of a packet on the wire besides its payload. *Chosen*: a route, the tag, CRC and GAP.
const AROUND: u64 = 5;

/// Time that things may take that are not known beforehand, when all is well again: every load, every
/// timeout of every message of the longest streams, one after the other. *Chosen*, far more than it
/// takes.
const REST: u64 = 2_000_000 * MICROSECOND;

/// Most events. *Chosen*: ten times what it takes.
const EVENTS_MAX: u64 = 2_000_000;

#[derive(Debug)]
struct SimulatedHost {
    messaging: HostMessaging,
    turns: FairnessChecker,
    /// The packet that its sending engine is at, and until when.
    sending: Option<(u64, Nic, Vec<u8>)>,
}

#[derive(Clone, Debug, Default)]
struct DelayedPackets {
    packets: VecDeque<(u64, Vec<u8>)>,
}

impl SimulatedHost {
    fn due(&self) -> Option<u64> {
        let sent = self.sending.as_ref().map(|(until, ..)| *until);
        [self.messaging.due(), sent].into_iter().flatten().min()
    }
}

impl DelayedPackets {
    fn next(&self) -> Option<u64> {
        self.packets.front().map(|(at, _)| *at)
    }
}

#[derive(Debug)]
pub(super) struct MessagingWorld {
    hosts: Vec<SimulatedHost>,
    lanes: Vec<Vec<DelayedPackets>>,
    faults: Vec<MessagingFault>,
    next: usize,
    latency: u64,
    dice: SeededRng,
    now: u64,
    events: Vec<MessagingEvent>,
    /// Filter of the events for the checker: all pass, except in tests.
    filter: fn(MessagingEvent) -> Option<MessagingEvent>,
    checker: MessagingChecker,
}

impl MessagingWorld {
    pub(super) fn new(setup: &MessagingSetup) -> Self {
        let MessagingSetup { hosts, latency, seed, faults } = setup;
        let count = hosts.len();
        let host = |plan: &MessagingPlan| SimulatedHost {
            messaging: HostMessaging::new(plan.clone(), *seed),
            turns: FairnessChecker::new(plan),
            sending: None,
        };
        let mut faults = faults.clone();
        faults.sort_by_key(|fault| fault.at);
        Self {
            hosts: hosts.iter().map(host).collect(),
            lanes: vec![vec![DelayedPackets::default(); count]; count],
            faults,
            next: 0,
            latency: *latency,
            dice: SeededRng::new(&seed.to_le_bytes()),
            now: 0,
            events: Vec::new(),
            filter: Some,
            checker: MessagingChecker::new(hosts),
        }
    }

    /// Until nothing is to happen any more.
    pub(super) fn run(&mut self) {
        let faults = self.faults.iter().map(|fault| fault.at + fault.lasts);
        let end = faults.max().unwrap_or(0) + REST;
        for _ in 0..EVENTS_MAX {
            self.moment();
            let Some(next) = self.upcoming() else {
                self.checker.settled();
                return;
            };
            assert!(next > self.now, "time goes on");
            assert!(next <= end, "all comes to rest. T-1: {} are open", self.checker.open());
            self.now = next;
        }
        assert!(self.hosts.is_empty(), "all comes to rest after few events");
    }

    #[cfg(test)]
    pub(super) fn filtering(self, heard: fn(MessagingEvent) -> Option<MessagingEvent>) -> Self {
        Self { filter: heard, ..self }
    }

    pub(super) fn into_seen(self) -> BTreeSet<&'static str> {
        self.checker.into_seen()
    }

    fn moment(&mut self) {
        while let Some(fault) = self.faults.get(self.next).filter(|it| it.at <= self.now) {
            let fault = *fault;
            self.next += 1;
            self.begins(&fault);
        }
        for at in 0..self.hosts.len() {
            if !self.has_something(at) {
                continue;
            }
            self.is_out(at);
            self.steps(at);
            (0..self.hosts.len()).for_each(|from| self.arrives(from, at));
            self.steps(at);
            self.goes_out(at);
            let agrees = self.hosts.get(at).is_some_and(|host| host.messaging.is_consistent());
            assert!(agrees, "credits, queues and frames are conserved. T-9, T-15");
        }
    }

    /// Tests whether a host has something to do now, or is handed something.
    fn has_something(&self, at: usize) -> bool {
        let now = self.now;
        let is_now = |time: Option<u64>| time.is_some_and(|time| time <= now);
        self.hosts.get(at).is_some_and(|host| is_now(host.due()))
            || self.lanes.iter().any(|lanes| is_now(lanes.get(at).and_then(DelayedPackets::next)))
    }

    fn steps(&mut self, at: usize) {
        let now = self.now;
        if let Some(host) = self.hosts.get_mut(at) {
            host.messaging.step(now, &mut self.events);
        }
        self.drain_events(at);
    }

    fn upcoming(&self) -> Option<u64> {
        let now = self.now;
        let hosts = self.hosts.iter().filter_map(SimulatedHost::due).map(|at| at.max(now + 1));
        // What is held up, or found no room, waits for something else to happen.
        let arrivals = self.lanes.iter().flatten().filter_map(DelayedPackets::next);
        let faults = self.faults.iter().flat_map(|fault| [fault.at, fault.at + fault.lasts]);
        hosts.chain(arrivals.chain(faults).filter(|at| *at > now)).min()
    }

    fn drain_events(&mut self, at: usize) {
        let nic = nic(at);
        for told in self.events.drain(..) {
            trace::record(|| LawTraceEntry::Row(self.now, nic, told.clone()));
            self.hosts.get_mut(at).into_iter().for_each(|host| host.turns.record(&told));
            if let Some(told) = (self.filter)(told) {
                self.checker.record(nic, &told);
            }
        }
    }

    fn begins(&mut self, fault: &MessagingFault) {
        let at = usize::from(fault.host) % self.hosts.len();
        match fault.what {
            MessagingFaultKind::Restart => {
                let (now, ready) = (self.now, self.now + fault.lasts);
                self.checker.restarts(nic(at));
                if let Some(host) = self.hosts.get_mut(at) {
                    // What its sending engine is at goes out whole or not at all; here whole.
                    host.messaging.restart(now, ready, &mut self.events);
                }
                self.drain_events(at);
                self.checker.restarted(nic(at));
            }
            MessagingFaultKind::Noise(count) => {
                for _ in 0..count % 8 {
                    let len = usize::try_from(self.dice.below(60)).unwrap_or_default();
                    let bytes = self.dice.bytes(len);
                    let now = self.now;
                    if let Some(host) = self.hosts.get_mut(at)
                        && TransportPacket::parse(&bytes).is_err()
                        && host.messaging.has_room()
                    {
                        host.messaging.receive(now, &bytes, &mut self.events);
                    }
                    self.drain_events(at);
                }
            }
            MessagingFaultKind::Loss(_) | MessagingFaultKind::Hold | MessagingFaultKind::Island => {
            }
        }
    }

    fn wrong(&self, from: usize, to: usize) -> impl Iterator<Item = MessagingFaultKind> {
        let count = self.hosts.len();
        let now = self.now;
        let on = move |fault: &&MessagingFault| (fault.at..fault.at + fault.lasts).contains(&now);
        let here = move |fault: &&MessagingFault| {
            let host = usize::from(fault.host) % count;
            let other = (host + 1 + usize::from(fault.other) % (count - 1)) % count;
            match fault.what {
                MessagingFaultKind::Loss(_) | MessagingFaultKind::Hold => {
                    (host, other) == (from, to)
                }
                MessagingFaultKind::Island => host == from || host == to,
                MessagingFaultKind::Restart | MessagingFaultKind::Noise(_) => false,
            }
        };
        self.faults.iter().filter(on).filter(here).map(|fault| fault.what)
    }

    /// The sending engine of a host is done with a packet.
    fn is_out(&mut self, at: usize) {
        let now = self.now;
        let Some(host) = self.hosts.get_mut(at) else { return };
        if let Some((_, to, payload)) = host.sending.take_if(|(until, ..)| *until <= now) {
            host.messaging.sent(now);
            self.carries(at, usize::from(to.0), payload);
        }
    }

    fn goes_out(&mut self, at: usize) {
        let now = self.now;
        let Some(host) = self.hosts.get_mut(at) else { return };
        if host.sending.is_none()
            && host.messaging.take_outgoing().is_some()
            && let Some(out) = host.messaging.leaves(now)
        {
            host.turns.send(&out);
            let length = u64::try_from(out.payload.len()).unwrap_or(u64::MAX);
            host.sending = Some((now + length + AROUND, out.to, out.payload));
        }
    }

    fn carries(&mut self, from: usize, to: usize, payload: Vec<u8>) {
        let loss = self.wrong(from, to).map(|wrong| match wrong {
            MessagingFaultKind::Loss(share) => u64::from(share),
            MessagingFaultKind::Island => 256,
            MessagingFaultKind::Hold
            | MessagingFaultKind::Restart
            | MessagingFaultKind::Noise(_) => 0,
        });
        let loss = loss.max().unwrap_or(0);
        let lost = self.dice.below(256) < loss;
        let began = self.now.saturating_sub(payload.len() as u64 + AROUND);
        trace::record(|| LawTraceEntry::Packet(began, nic(from), nic(to), payload.clone()));
        let at = self.now + self.latency;
        let lane = self.lanes.get_mut(from).and_then(|lanes| lanes.get_mut(to));
        if let Some(lane) = lane.filter(|_| !lost) {
            lane.packets.push_back((at, payload));
        }
    }

    fn arrives(&mut self, from: usize, to: usize) {
        let now = self.now;
        let next =
            self.lanes.get(from).and_then(|lanes| lanes.get(to)).and_then(DelayedPackets::next);
        if next.is_none_or(|next| next > now) {
            return;
        }
        let held = self.wrong(from, to).any(|wrong| wrong == MessagingFaultKind::Hold);
        let lane = self.lanes.get_mut(from).and_then(|lanes| lanes.get_mut(to));
        let (Some(lane), Some(host)) = (lane, self.hosts.get_mut(to)) else { return };
        while !held
            && host.messaging.has_room()
            && let Some((_, payload)) = lane.packets.pop_front_if(|(at, _)| *at <= self.now)
        {
            host.messaging.receive(self.now, &payload, &mut self.events);
        }
        self.drain_events(to);
    }
}

fn nic(at: usize) -> Nic {
    Nic(u16::try_from(at).unwrap_or(u16::MAX))
}
