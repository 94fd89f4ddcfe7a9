//! NICs, the paths between them, and an adversary who decides what arrives and when.

mod paths;
mod sending;
mod times;

use std::collections::{BTreeSet, VecDeque};

use codec::transport::{self as wire, EndpointId, NackReason, Nic};
use simulator::transport::{
    ProtocolPacket, ReturnReason, Transport, TransportEffect, TransportNotice, TransportParameters,
};

use super::checker::{
    EndpointAddress, MachineStep, MessageNumber, StepCause, TransportChecker, TransportOutcome,
};
use crate::trace::{self, LawTraceEntry};

use super::input::{
    ENDPOINTS, EndpointPick, EndpointRoom, NicPairPick, TransportOp, TransportShape,
};

/// Packets of a path that are remembered. *Chosen*: those of several messages.
const REMEMBERED: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(test), expect(dead_code, reason = "nothing but in tests"))]
pub(super) enum WorldFlaw {
    Nothing,
    /// Now and then a packet overtakes those before it on its path.
    Overtaking,
    /// Now and then a NACK arrives as an ACK.
    Praise,
    /// Now and then data arrives with the other sequence number.
    Flip,
}

type NicPair = (Nic, Nic);

#[derive(Clone, Debug, Default)]
struct TransportPath {
    packets: VecDeque<ProtocolPacket<MessageNumber>>,
    held: bool,
    past: VecDeque<ProtocolPacket<MessageNumber>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum FrameResidency {
    Resident,
    Leaving,
    #[default]
    Out,
}

#[derive(Clone, Debug)]
struct WorldEndpoint {
    frame: FrameResidency,
    room: EndpointRoom,
    key: u64,
    /// Messages that wait for a channel, or for the endpoint to be loaded.
    waiting: VecDeque<MessageNumber>,
}

#[derive(Clone, Debug)]
struct WorldHost {
    machine: Transport<MessageNumber>,
    ahead: u64,
    endpoints: Vec<WorldEndpoint>,
    /// Time when the next scan is due, by its clock. T-10
    scan: Option<u64>,
    queue: VecDeque<ProtocolPacket<MessageNumber>>,
    stalled: bool,
}

#[derive(Debug)]
pub(super) struct TransportWorld {
    hosts: Vec<WorldHost>,
    lanes: Vec<TransportPath>,
    ledger: TransportChecker,
    parameters: TransportParameters,
    now: u64,
    wrong: WorldFlaw,
    seen: [Option<&'static str>; 20],
    effects: Vec<TransportEffect<MessageNumber>>,
    bytes: Vec<u8>,
    /// NICs that something was done to since they were looked at, a bit each.
    touched: u64,
}

impl TransportWorld {
    pub(super) fn new(shape: &TransportShape, wrong: WorldFlaw) -> Self {
        let parameters = shape.parameters();
        let nics = || (0..parameters.nics).map(Nic);
        let host = |nic| {
            let mut machine = Transport::new(nic, parameters, shape.incarnation(nic));
            let endpoint = |id| {
                machine.on_load(EndpointId(id));
                let (frame, key) = (FrameResidency::Resident, id.into());
                WorldEndpoint { frame, key, room: EndpointRoom::Free, waiting: VecDeque::new() }
            };
            let endpoints = (0..ENDPOINTS).map(endpoint).collect();
            let (queue, stalled) = (VecDeque::new(), false);
            WorldHost { machine, endpoints, ahead: shape.clock(nic), scan: None, queue, stalled }
        };
        let ways = usize::from(parameters.nics).pow(2);
        Self {
            hosts: nics().map(host).collect(),
            lanes: std::iter::repeat_with(TransportPath::default).take(ways).collect(),
            ledger: TransportChecker::new(parameters),
            parameters,
            now: 0,
            wrong,
            seen: [None; 20],
            effects: Vec::new(),
            bytes: Vec::new(),
            touched: 0,
        }
    }

    /// Does something, and looks whether all is as it must be.
    pub(super) fn apply(&mut self, op: TransportOp) {
        trace::record(|| LawTraceEntry::Did(self.now, format!("{op:?}")));
        match op {
            TransportOp::Send { from, to, key } => self.send(from, to, key),
            TransportOp::Deliver(path, count) => {
                let way = self.way(path);
                (0..count).for_each(|_| self.deliver(way));
            }
            TransportOp::Flush => self.flush(),
            TransportOp::Lose(path) => {
                if let Some(lane) = self.lane(path) {
                    let lost = lane.packets.pop_front();
                    lane.remember(lost);
                }
            }
            TransportOp::DuplicateAnswer(path) => {
                self.lane(path).into_iter().for_each(TransportPath::duplicate_answer);
            }
            TransportOp::Hold(path) => {
                self.lane(path).into_iter().for_each(|lane| lane.held = true);
            }
            TransportOp::Release(path) => {
                self.lane(path).into_iter().for_each(|lane| lane.held = false);
            }
            TransportOp::Stall(nic) => {
                let nic = self.nic(nic);
                self.host_mut(nic).into_iter().for_each(|host| host.stalled = true);
            }
            TransportOp::Start(nic) => self.start(self.nic(nic)),
            TransportOp::Pass(time) => self.pass(time),
            TransportOp::PassToNext => {
                let next = self.next().map_or(0, |(at, _)| at.saturating_sub(self.now));
                self.pass(next);
            }
            TransportOp::Jump(time) => {
                self.now += time;
                self.nics().for_each(|nic| self.tick(nic));
            }
            TransportOp::Restart(nic, clock) => self.restart(self.nic(nic), clock),
            TransportOp::Unload(place) => {
                self.unload(self.at(place));
            }
            TransportOp::Load(place) => self.load(self.at(place)),
            TransportOp::Room(place, room) => {
                let at = self.at(place);
                self.endpoint(at).into_iter().for_each(|endpoint| endpoint.room = room);
            }
            TransportOp::Rekey(place) => {
                let at = self.at(place);
                self.endpoint(at).into_iter().for_each(|endpoint| endpoint.key += 2);
            }
            TransportOp::Replay(path, which) => self.replay(self.way(path), which.into()),
            TransportOp::Forge(path, forged) => self.forge(self.way(path), forged),
        }
        let touched = if op.takes_time() { u64::MAX } else { self.touched };
        self.nics().filter(|nic| touched >> nic.0 & 1 == 1).for_each(|nic| self.check(nic));
        self.touched = 0;
    }

    /// It is to be looked at: see [`TransportWorld::check`].
    pub(super) const fn touch(&mut self, nic: Nic) {
        self.touched |= 1 << nic.0;
    }

    /// Faults cease, and every message ends in bounded time. T-1
    pub(super) fn settle(&mut self) {
        trace::record(|| LawTraceEntry::Did(self.now, "Nothing goes wrong any more".to_owned()));
        self.lanes.iter_mut().for_each(|lane| lane.held = false);
        self.nics().for_each(|nic| self.start(nic));
        for endpoint in self.hosts.iter_mut().flat_map(|host| &mut host.endpoints) {
            endpoint.room = EndpointRoom::Free;
        }
        let places: Vec<EndpointAddress> = self.places().collect();
        let TransportParameters { scan, timeout, .. } = self.parameters;
        // A message that waits may wait for each other one on its channel. Each takes a timeout and a
        // scan, again if its receiver has forgotten the channel, and again where it is not loaded.
        let turn = 3 * (timeout.0 + 2 * scan.0);
        let rounds = 4 + u64::try_from(self.ledger.accounts.len()).unwrap_or(u64::MAX);
        let end = self.now + turn * rounds;
        loop {
            self.flush();
            for at in &places {
                // Who leaves does so first.
                if !self.ledger.is_unloading(*at) {
                    self.load(*at);
                }
            }
            places.iter().for_each(|at| self.send_waiting(*at));
            let is_quiet = self.lanes.iter().all(|lane| lane.packets.is_empty());
            let Some((at, _)) = self.next() else {
                if is_quiet {
                    break;
                }
                continue;
            };
            assert!(at <= end, "it settles in {} µs. T-1: {:?}", end - self.now, self.open());
            self.pass(at.saturating_sub(self.now));
        }
        assert_eq!(self.open(), [], "every message ends. T-1");
        self.nics().for_each(|nic| self.check(nic));
        for (nic, host) in self.hosts.iter().enumerate() {
            assert_eq!(host.machine.due(), None, "nothing more is due: {nic}");
        }
    }

    pub(super) fn into_seen(self) -> BTreeSet<&'static str> {
        self.seen.into_iter().flatten().collect()
    }

    fn open(&self) -> Vec<(usize, TransportOutcome)> {
        let ends = self.ledger.accounts.iter().map(|account| account.end).enumerate();
        ends.filter(|(_, end)| matches!(end, TransportOutcome::Open | TransportOutcome::Stored))
            .collect()
    }

    fn nics(&self) -> impl Iterator<Item = Nic> + use<> {
        (0..self.parameters.nics).map(Nic)
    }

    fn host(&self, nic: Nic) -> Option<&WorldHost> {
        self.hosts.get(usize::from(nic.0))
    }

    fn host_mut(&mut self, nic: Nic) -> Option<&mut WorldHost> {
        self.hosts.get_mut(usize::from(nic.0))
    }

    fn place(&self, (from, to): NicPair) -> usize {
        usize::from(from.0) * usize::from(self.parameters.nics) + usize::from(to.0)
    }

    fn nic(&self, number: u16) -> Nic {
        Nic(number % self.parameters.nics)
    }

    fn way(&self, path: NicPairPick) -> NicPair {
        let Nic(from) = self.nic(path.from);
        (Nic(from), self.nic(from + 1 + path.to % (self.parameters.nics - 1)))
    }

    fn lane(&mut self, path: NicPairPick) -> Option<&mut TransportPath> {
        let place = self.place(self.way(path));
        self.lanes.get_mut(place)
    }

    fn at(&self, place: EndpointPick) -> EndpointAddress {
        EndpointAddress {
            nic: self.nic(place.nic),
            endpoint: EndpointId(place.endpoint % ENDPOINTS),
        }
    }

    fn places(&self) -> impl Iterator<Item = EndpointAddress> + use<> {
        let nics = (0..self.parameters.nics).map(Nic);
        let at =
            |nic| (0..ENDPOINTS).map(move |id| EndpointAddress { nic, endpoint: EndpointId(id) });
        nics.flat_map(at)
    }

    fn endpoint(&mut self, at: EndpointAddress) -> Option<&mut WorldEndpoint> {
        self.host_mut(at.nic)?.endpoints.get_mut(usize::from(at.endpoint.0))
    }

    fn clock(&self, nic: Nic) -> u64 {
        self.host(nic).map_or(0, |host| self.now.wrapping_add(host.ahead))
    }

    /// Checks the effects of a step of a machine, and transmits what it sent.
    fn done(&mut self, nic: Nic, cause: StepCause) {
        let clock = self.clock(nic);
        self.touch(nic);
        let mut effects = std::mem::take(&mut self.effects);
        self.ledger.step(&MachineStep { nic, clock, cause, effects: &effects });
        for effect in effects.drain(..) {
            let (place, name) = name(&effect);
            self.seen.get_mut(place).into_iter().for_each(|seen| *seen = Some(name));
            match effect {
                TransportEffect::Send(packet @ ProtocolPacket::Data(..)) => {
                    self.host_mut(nic).into_iter().for_each(|host| host.queue.push_back(packet));
                }
                TransportEffect::Send(packet) => self.transmit(nic, &packet),
                TransportEffect::Unloaded(endpoint, messages) => {
                    let at = EndpointAddress { nic, endpoint };
                    let it = self.endpoint(at);
                    it.into_iter().for_each(|it| {
                        it.frame = FrameResidency::Out;
                        it.waiting.extend(&messages);
                    });
                }
                TransportEffect::Acknowledged(_)
                | TransportEffect::Returned(..)
                | TransportEffect::Noted(..) => {}
            }
        }
        self.effects = effects;
        self.depart(nic);
    }

    /// Checks the invariants of a NIC. T-2, T-3, T-10
    fn check(&mut self, nic: Nic) {
        let Some(host) = self.host(nic) else { return };
        for id in (0..ENDPOINTS).map(EndpointId) {
            let outstanding = self.ledger.outstanding(EndpointAddress { nic, endpoint: id });
            assert_eq!(host.machine.outstanding(id), outstanding, "outstanding of {nic:?} {id:?}");
        }
        for to in self.nics().filter(|to| *to != nic) {
            let free = self.ledger.taken(nic, to) < usize::from(self.parameters.channels);
            assert_eq!(host.machine.has_channel(to), free, "a free channel to {to:?}. T-2");
        }
        let due = host.machine.due().map(|due| due.0);
        assert_eq!(due.is_some(), self.ledger.waits(nic), "a scan is due iff something waits");
        let clock = self.clock(nic);
        // Since the last look nothing but a scan may have put it off.
        let latest = match host.scan {
            Some(scan) if clock < scan => scan,
            Some(_) | None => clock + self.parameters.scan.0,
        };
        assert!(due.is_none_or(|due| due <= latest), "the next scan is near. T-10");
        assert!(host.machine.is_consistent(), "what a machine keeps twice agrees. T-3");
        self.host_mut(nic).into_iter().for_each(|host| host.scan = due);
    }
}

impl TransportPath {
    fn duplicate_answer(&mut self) {
        let answer =
            |packet: &ProtocolPacket<MessageNumber>| !matches!(packet, ProtocolPacket::Data(..));
        if let Some(place) = self.packets.iter().position(answer)
            && let Some(answer) = self.packets.get(place).copied()
        {
            self.packets.insert(place, answer);
        }
    }

    fn remember(&mut self, packet: Option<ProtocolPacket<MessageNumber>>) {
        self.past.extend(packet);
        if self.past.len() > REMEMBERED {
            self.past.pop_front();
        }
    }
}

const fn header(packet: &ProtocolPacket<MessageNumber>) -> &wire::TransportHeader {
    match packet {
        ProtocolPacket::Data(header, ..)
        | ProtocolPacket::Ack(header)
        | ProtocolPacket::Nack(header, _) => header,
    }
}

const fn name(effect: &TransportEffect<MessageNumber>) -> (usize, &'static str) {
    match effect {
        TransportEffect::Send(ProtocolPacket::Data(_, wire::SyncFlag::Set, _)) => (0, "sync"),
        TransportEffect::Send(ProtocolPacket::Data(_, wire::SyncFlag::Clear, _)) => (1, "data"),
        TransportEffect::Send(ProtocolPacket::Ack(_)) => (2, "ack"),
        TransportEffect::Send(ProtocolPacket::Nack(..)) => (3, "nack"),
        TransportEffect::Acknowledged(_) => (4, "acknowledged"),
        TransportEffect::Returned(_, ReturnReason::Unreachable) => (5, "unreachable"),
        TransportEffect::Returned(_, ReturnReason::Refused(_)) => (6, "refused for good"),
        TransportEffect::Unloaded(_, messages) if messages.is_empty() => (7, "unloaded"),
        TransportEffect::Unloaded(..) => (8, "unloaded with messages"),
        TransportEffect::Noted(_, TransportNotice::Duplicate) => (9, "duplicate"),
        TransportEffect::Noted(_, TransportNotice::Stale) => (10, "stale"),
        TransportEffect::Noted(_, TransportNotice::Late) => (11, "late"),
        TransportEffect::Noted(_, TransportNotice::Unknown) => (12, "unknown"),
        TransportEffect::Noted(_, TransportNotice::Retransmitted) => (13, "retransmitted"),
        TransportEffect::Noted(_, TransportNotice::Refused(reason)) => match reason {
            NackReason::NotResident => (14, "not resident"),
            NackReason::QueueFull => (15, "queue full"),
            NackReason::NoResource => (16, "no resource"),
            NackReason::NoChannelState => (17, "no channel state"),
            NackReason::BadKey => (18, "bad key"),
            NackReason::NoSuchEndpoint => (19, "no such endpoint"),
        },
    }
}
