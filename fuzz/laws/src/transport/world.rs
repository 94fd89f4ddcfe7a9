//! NICs, the paths between them, and an adversary who decides what arrives and when.

mod flaw;
mod paths;
mod sending;
mod text;
mod times;

use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

use codec::transport::{self as wire, ChannelIncarnation, EndpointId, Nic};
use simulator::transport::{ProtocolPacket, Transport, TransportEffect, TransportParameters};

use super::checker::{
    EndpointAddress, ExtraClaim, MachineStep, MessageNumber, StepCause, TransportChecker,
    TransportOutcome,
};
use crate::trace::{self, LawTraceEntry};

pub use self::flaw::SeededFlaw;
use self::text::effect_name;
pub(crate) use self::times::ORIGIN;
use super::input::{ENDPOINTS, EndpointPick, EndpointRoom, NicPairPick, TransportOp};

/// Packets of a path that are remembered. *Chosen*: those of several messages.
const REMEMBERED: usize = 16;

/// What a world is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorldSetup {
    pub(crate) parameters: TransportParameters,
    pub(crate) flaw: SeededFlaw,
    pub(crate) claim: Option<ExtraClaim>,
}

pub(crate) type NicPair = (Nic, Nic);

pub(crate) type WorldPacket = ProtocolPacket<MessageNumber>;

type WorldEffects = Vec<TransportEffect<MessageNumber>>;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct TransportPath {
    pub(crate) packets: VecDeque<WorldPacket>,
    held: bool,
    past: VecDeque<WorldPacket>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum FrameResidency {
    Resident,
    Leaving,
    #[default]
    Out,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct WorldEndpoint {
    pub(crate) frame: FrameResidency,
    pub(crate) room: EndpointRoom,
    key: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct WorldHost {
    machine: Transport<MessageNumber>,
    ahead: u64,
    pub(crate) endpoints: Vec<WorldEndpoint>,
    /// Time when the next scan is due, by its clock. T-10
    scan: Option<u64>,
    /// Data that is to leave, without a time before it does.
    pub(crate) queue: VecDeque<WorldPacket>,
    stalled: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct TransportWorld {
    pub(crate) hosts: Vec<Rc<WorldHost>>,
    pub(crate) paths: Vec<Rc<TransportPath>>,
    pub(crate) checker: TransportChecker,
    setup: WorldSetup,
    now: u64,
    seen: [Option<&'static str>; 20],
    /// NICs that something was done to since they were looked at, a bit each.
    touched: u64,
}

impl TransportWorld {
    /// NICs that have just been started, all endpoints in their frames. `start` gives each its first
    /// incarnation, and how far ahead its clock is.
    pub(crate) fn new(setup: WorldSetup, start: impl Fn(Nic) -> (ChannelIncarnation, u64)) -> Self {
        let WorldSetup { parameters, claim, .. } = setup;
        let host = |nic| {
            let (first, ahead) = start(nic);
            let mut machine = Transport::new(nic, parameters, first);
            let endpoint = |id| {
                machine.on_load(EndpointId(id));
                let (frame, room) = (FrameResidency::Resident, EndpointRoom::Free);
                WorldEndpoint { frame, room, key: id.into() }
            };
            let endpoints = (0..ENDPOINTS).map(endpoint).collect();
            let (queue, stalled) = (VecDeque::new(), false);
            Rc::new(WorldHost { machine, endpoints, ahead, scan: None, queue, stalled })
        };
        let ways = usize::from(parameters.nics).pow(2);
        Self {
            hosts: (0..parameters.nics).map(Nic).map(host).collect(),
            paths: std::iter::repeat_with(Rc::default).take(ways).collect(),
            checker: TransportChecker::new(parameters, claim),
            setup,
            now: 0,
            seen: [None; 20],
            touched: 0,
        }
    }

    /// Does something, and looks whether all is as it must be.
    pub(crate) fn checked(&mut self, act: impl FnOnce(&mut Self)) {
        let before = self.now;
        act(self);
        let touched = std::mem::take(&mut self.touched);
        let touched = if self.now > before { u64::MAX } else { touched };
        self.nics().filter(|nic| touched >> nic.0 & 1 == 1).for_each(|nic| self.check(nic));
    }

    pub(super) fn apply(&mut self, op: TransportOp) {
        trace::record(|| LawTraceEntry::Did(self.now, format!("{op:?}")));
        match op {
            TransportOp::Send { from, to, key } => self.send(from, to, key),
            TransportOp::Deliver(path, count) => {
                let way = self.way(path);
                (0..count).for_each(|_| self.deliver(way, 0));
            }
            TransportOp::Flush => self.flush(),
            TransportOp::Lose(path) => self.lose(self.way(path)),
            TransportOp::DuplicateAnswer(path) => {
                self.path_mut(self.way(path)).duplicate_answer();
            }
            TransportOp::Hold(path) => self.path_mut(self.way(path)).held = true,
            TransportOp::Release(path) => self.path_mut(self.way(path)).held = false,
            TransportOp::Stall(nic) => self.stall(self.nic(nic)),
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
            TransportOp::Unload(place) => self.unload(self.at(place)),
            TransportOp::Load(place) => {
                self.load(self.at(place));
                self.send_waiting(self.at(place));
            }
            TransportOp::Room(place, room) => self.set_room(self.at(place), room),
            TransportOp::Rekey(place) => {
                self.checker.change_key();
                self.endpoint_mut(self.at(place)).key += 2;
            }
            TransportOp::Replay(path, which) => self.replay(self.way(path), which.into()),
            TransportOp::Forge(path, forged) => self.forge(self.way(path), forged),
        }
    }

    /// It is to be looked at: see [`TransportWorld::check`].
    pub(super) const fn touch(&mut self, nic: Nic) {
        self.touched |= 1 << nic.0;
    }

    /// Faults cease, and every message ends in bounded time. T-1
    pub(super) fn settle(&mut self) {
        trace::record(|| LawTraceEntry::Did(self.now, "Nothing goes wrong any more".to_owned()));
        self.paths.iter_mut().for_each(|path| Rc::make_mut(path).held = false);
        self.nics().for_each(|nic| self.start(nic));
        for host in &mut self.hosts {
            Rc::make_mut(host).endpoints.iter_mut().for_each(|it| it.room = EndpointRoom::Free);
        }
        let places: Vec<EndpointAddress> = self.places().collect();
        let TransportParameters { scan, timeout, .. } = self.setup.parameters;
        // A message that waits may wait for each other one on its channel. Each takes a timeout and a
        // scan, again if its receiver has forgotten the channel, and again where it is not loaded.
        let turn = 3 * (timeout.0 + 2 * scan.0);
        let rounds = 4 + u64::try_from(self.checker.accounts.len()).unwrap_or(u64::MAX);
        let end = self.now + turn * rounds;
        loop {
            self.flush();
            for at in &places {
                // Who leaves does so first.
                if !self.checker.is_unloading(*at) {
                    self.load(*at);
                }
            }
            places.iter().for_each(|at| self.send_waiting(*at));
            let is_quiet = self.paths.iter().all(|path| path.packets.is_empty());
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
        let ends = self.checker.accounts.iter().map(|account| account.end).enumerate();
        ends.filter(|(_, end)| matches!(end, TransportOutcome::Open | TransportOutcome::Stored))
            .collect()
    }

    fn nics(&self) -> impl Iterator<Item = Nic> + use<> {
        (0..self.setup.parameters.nics).map(Nic)
    }

    pub(crate) fn host(&self, nic: Nic) -> &WorldHost {
        match self.hosts.get(usize::from(nic.0)) {
            Some(host) => host,
            None => unreachable!("every NIC has a host: {nic:?}"),
        }
    }

    fn host_mut(&mut self, nic: Nic) -> &mut WorldHost {
        match self.hosts.get_mut(usize::from(nic.0)) {
            Some(host) => Rc::make_mut(host),
            None => unreachable!("every NIC has a host: {nic:?}"),
        }
    }

    fn place(&self, (from, to): NicPair) -> usize {
        usize::from(from.0) * usize::from(self.setup.parameters.nics) + usize::from(to.0)
    }

    pub(crate) fn path(&self, way: NicPair) -> &TransportPath {
        match self.paths.get(self.place(way)) {
            Some(path) => path,
            None => unreachable!("there is a path between any two NICs: {way:?}"),
        }
    }

    fn path_mut(&mut self, way: NicPair) -> &mut TransportPath {
        let place = self.place(way);
        match self.paths.get_mut(place) {
            Some(path) => Rc::make_mut(path),
            None => unreachable!("there is a path between any two NICs: {way:?}"),
        }
    }

    fn nic(&self, number: u16) -> Nic {
        Nic(number % self.setup.parameters.nics)
    }

    fn way(&self, path: NicPairPick) -> NicPair {
        let Nic(from) = self.nic(path.from);
        (Nic(from), self.nic(from + 1 + path.to % (self.setup.parameters.nics - 1)))
    }

    fn at(&self, place: EndpointPick) -> EndpointAddress {
        EndpointAddress {
            nic: self.nic(place.nic),
            endpoint: EndpointId(place.endpoint % ENDPOINTS),
        }
    }

    fn places(&self) -> impl Iterator<Item = EndpointAddress> + use<> {
        let at =
            |nic| (0..ENDPOINTS).map(move |id| EndpointAddress { nic, endpoint: EndpointId(id) });
        self.nics().flat_map(at)
    }

    fn endpoint(&self, at: EndpointAddress) -> Option<&WorldEndpoint> {
        self.host(at.nic).endpoints.get(usize::from(at.endpoint.0))
    }

    fn endpoint_mut(&mut self, at: EndpointAddress) -> &mut WorldEndpoint {
        match self.host_mut(at.nic).endpoints.get_mut(usize::from(at.endpoint.0)) {
            Some(endpoint) => endpoint,
            None => unreachable!("only messages are for an endpoint that is not there: {at:?}"),
        }
    }

    /// Lets nothing that a NIC has queued leave it.
    pub(crate) fn stall(&mut self, nic: Nic) {
        self.host_mut(nic).stalled = true;
    }

    pub(crate) fn set_room(&mut self, at: EndpointAddress, room: EndpointRoom) {
        self.endpoint_mut(at).room = room;
    }

    fn clock(&self, nic: Nic) -> u64 {
        self.now.wrapping_add(self.host(nic).ahead)
    }

    /// Checks the effects of a step of a machine, and transmits what it sent.
    fn done(&mut self, nic: Nic, cause: StepCause, mut effects: WorldEffects) {
        let clock = self.clock(nic);
        self.touch(nic);
        effects.iter().for_each(|effect| self.tell_effect(nic, effect));
        self.checker.step(&MachineStep { nic, clock, cause, effects: &effects });
        self.flaw_in_effects(&mut effects);
        for effect in effects {
            let (place, name) = effect_name(&effect);
            self.seen.get_mut(place).into_iter().for_each(|seen| *seen = Some(name));
            match effect {
                TransportEffect::Send(mut packet @ ProtocolPacket::Data(..)) => {
                    header_mut(&mut packet).timestamp = wire::TransportTimestamp(0);
                    self.host_mut(nic).queue.push_back(packet);
                }
                TransportEffect::Send(packet) => self.transmit(nic, &packet),
                TransportEffect::Unloaded(endpoint, _) => {
                    let at = EndpointAddress { nic, endpoint };
                    self.endpoint_mut(at).frame = FrameResidency::Out;
                }
                TransportEffect::Acknowledged(_)
                | TransportEffect::Returned(..)
                | TransportEffect::Noted(..) => {}
            }
        }
        self.depart(nic);
    }

    /// Checks the invariants of a NIC. T-2, T-3, T-10
    fn check(&mut self, nic: Nic) {
        let host = self.host(nic);
        for id in (0..ENDPOINTS).map(EndpointId) {
            let outstanding = self.checker.outstanding(EndpointAddress { nic, endpoint: id });
            assert_eq!(host.machine.outstanding(id), outstanding, "outstanding of {nic:?} {id:?}");
        }
        for to in self.nics().filter(|to| *to != nic) {
            let free = self.checker.taken(nic, to) < usize::from(self.setup.parameters.channels);
            assert_eq!(host.machine.has_channel(to), free, "a free channel to {to:?}. T-2");
        }
        let due = host.machine.due().map(|due| due.0);
        assert_eq!(due.is_some(), self.checker.waits(nic), "a scan is due iff something waits");
        let clock = self.clock(nic);
        // Since the last look nothing but a scan may have put it off.
        let latest = match host.scan {
            Some(scan) if clock < scan => scan,
            Some(_) | None => clock + self.setup.parameters.scan.0,
        };
        assert!(due.is_none_or(|due| due <= latest), "the next scan is near. T-10");
        assert!(host.machine.is_consistent(), "what a machine keeps twice agrees. T-3");
        self.host_mut(nic).scan = due;
    }
}

impl TransportPath {
    fn duplicate_answer(&mut self) {
        let answer = |packet: &WorldPacket| !matches!(packet, ProtocolPacket::Data(..));
        if let Some(place) = self.packets.iter().position(answer)
            && let Some(answer) = self.packets.get(place).copied()
        {
            self.packets.insert(place, answer);
        }
    }

    fn remember(&mut self, packet: WorldPacket) {
        self.past.push_back(packet);
        if self.past.len() > REMEMBERED {
            self.past.pop_front();
        }
    }
}

const fn header(packet: &WorldPacket) -> &wire::TransportHeader {
    let (ProtocolPacket::Data(header, ..)
    | ProtocolPacket::Ack(header)
    | ProtocolPacket::Nack(header, _)) = packet;
    header
}

const fn header_mut(packet: &mut WorldPacket) -> &mut wire::TransportHeader {
    let (ProtocolPacket::Data(header, ..)
    | ProtocolPacket::Ack(header)
    | ProtocolPacket::Nack(header, _)) = packet;
    header
}
