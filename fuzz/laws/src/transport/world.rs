//! NICs, the paths between them, and an adversary who decides what arrives and when.

mod paths;
mod sending;
mod times;

use std::collections::{BTreeSet, VecDeque};

use codec::transport::{self as wire, EndpointId, Nic, Reason};
use simulator::transport::{Effect, Note, Packet, Return, Transport, TransportParameters};

use super::ledger::{At, Cause, End, Ledger, Number, Step};
use crate::journal::{self, Entry};

use super::plan::{ENDPOINTS, Op, Path, Place, Room, Shape};

/// Packets of a path that are remembered. *Chosen*: those of several messages.
const REMEMBERED: usize = 16;

/// What is wrong with the world, for a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(test), expect(dead_code, reason = "nothing but in tests"))]
pub(super) enum Wrong {
    /// Nothing.
    Nothing,
    /// Now and then a packet overtakes those before it on its path.
    Overtaking,
    /// Now and then a NACK arrives as an ACK.
    Praise,
    /// Now and then data arrives with the other sequence number.
    Flip,
}

/// From the first NIC to the second.
type Way = (Nic, Nic);

#[derive(Clone, Debug, Default)]
struct Lane {
    packets: VecDeque<Packet<Number>>,
    held: bool,
    /// What was under way there before.
    past: VecDeque<Packet<Number>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Frame {
    Resident,
    Leaving,
    #[default]
    Out,
}

#[derive(Clone, Debug)]
struct Endpoint {
    frame: Frame,
    room: Room,
    key: u64,
    /// Messages that wait for a channel, or for the endpoint to be loaded.
    waiting: VecDeque<Number>,
}

#[derive(Clone, Debug)]
struct Host {
    machine: Transport<Number>,
    /// How far its clock is ahead; wraps.
    ahead: u64,
    endpoints: Vec<Endpoint>,
    /// When the next scan is due, by its clock. T-10
    scan: Option<u64>,
    /// Data that has not left.
    queue: VecDeque<Packet<Number>>,
    /// Whether none leaves.
    stalled: bool,
}

/// All of it.
#[derive(Debug)]
pub(super) struct World {
    /// By the numbers of their NICs.
    hosts: Vec<Host>,
    /// By sender, then by receiver.
    lanes: Vec<Lane>,
    ledger: Ledger,
    parameters: TransportParameters,
    now: u64,
    wrong: Wrong,
    /// What machines did, each in its place.
    seen: [Option<&'static str>; 20],
    effects: Vec<Effect<Number>>,
    bytes: Vec<u8>,
    /// NICs that something was done to since they were looked at, a bit each.
    touched: u64,
}

impl World {
    pub(super) fn new(shape: &Shape, wrong: Wrong) -> Self {
        let parameters = shape.parameters();
        let nics = || (0..parameters.nics).map(Nic);
        let host = |nic| {
            let mut machine = Transport::new(nic, parameters, shape.incarnation(nic));
            let endpoint = |id| {
                machine.on_load(EndpointId(id));
                let (frame, key) = (Frame::Resident, id.into());
                Endpoint { frame, key, room: Room::Free, waiting: VecDeque::new() }
            };
            let endpoints = (0..ENDPOINTS).map(endpoint).collect();
            let (queue, stalled) = (VecDeque::new(), false);
            Host { machine, endpoints, ahead: shape.clock(nic), scan: None, queue, stalled }
        };
        let ways = usize::from(parameters.nics).pow(2);
        Self {
            hosts: nics().map(host).collect(),
            lanes: std::iter::repeat_with(Lane::default).take(ways).collect(),
            ledger: Ledger::new(parameters),
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
    pub(super) fn apply(&mut self, op: Op) {
        journal::tell(|| Entry::Did(self.now, format!("{op:?}")));
        match op {
            Op::Send { from, to, key } => self.send(from, to, key),
            Op::Deliver(path, count) => {
                let way = self.way(path);
                (0..count).for_each(|_| self.deliver(way));
            }
            Op::Flush => self.flush(),
            Op::Lose(path) => {
                if let Some(lane) = self.lane(path) {
                    let lost = lane.packets.pop_front();
                    lane.remember(lost);
                }
            }
            Op::DuplicateAnswer(path) => {
                self.lane(path).into_iter().for_each(Lane::duplicate_answer);
            }
            Op::Hold(path) => self.lane(path).into_iter().for_each(|lane| lane.held = true),
            Op::Release(path) => self.lane(path).into_iter().for_each(|lane| lane.held = false),
            Op::Stall(nic) => {
                let nic = self.nic(nic);
                self.host_mut(nic).into_iter().for_each(|host| host.stalled = true);
            }
            Op::Start(nic) => self.start(self.nic(nic)),
            Op::Pass(time) => self.pass(time),
            Op::PassToNext => {
                let next = self.next().map_or(0, |(at, _)| at.saturating_sub(self.now));
                self.pass(next);
            }
            Op::Jump(time) => {
                self.now += time;
                self.nics().for_each(|nic| self.tick(nic));
            }
            Op::Restart(nic, clock) => self.restart(self.nic(nic), clock),
            Op::Unload(place) => {
                self.unload(self.at(place));
            }
            Op::Load(place) => self.load(self.at(place)),
            Op::Room(place, room) => {
                let at = self.at(place);
                self.endpoint(at).into_iter().for_each(|endpoint| endpoint.room = room);
            }
            Op::Rekey(place) => {
                let at = self.at(place);
                self.endpoint(at).into_iter().for_each(|endpoint| endpoint.key += 2);
            }
            Op::Replay(path, which) => self.replay(self.way(path), which.into()),
            Op::Forge(path, forged) => self.forge(self.way(path), forged),
        }
        let touched = if op.takes_time() { u64::MAX } else { self.touched };
        self.nics().filter(|nic| touched >> nic.0 & 1 == 1).for_each(|nic| self.check(nic));
        self.touched = 0;
    }

    /// It is to be looked at: see [`World::check`].
    pub(super) const fn touch(&mut self, nic: Nic) {
        self.touched |= 1 << nic.0;
    }

    /// Faults cease, and every message ends in bounded time. T-1
    pub(super) fn settle(&mut self) {
        journal::tell(|| Entry::Did(self.now, "Nothing goes wrong any more".to_owned()));
        self.lanes.iter_mut().for_each(|lane| lane.held = false);
        self.nics().for_each(|nic| self.start(nic));
        for endpoint in self.hosts.iter_mut().flat_map(|host| &mut host.endpoints) {
            endpoint.room = Room::Free;
        }
        let places: Vec<At> = self.places().collect();
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

    /// What machines did.
    pub(super) fn into_seen(self) -> BTreeSet<&'static str> {
        self.seen.into_iter().flatten().collect()
    }

    /// Messages that have not ended.
    fn open(&self) -> Vec<(usize, End)> {
        let ends = self.ledger.accounts.iter().map(|account| account.end).enumerate();
        ends.filter(|(_, end)| matches!(end, End::Open | End::Stored)).collect()
    }

    fn nics(&self) -> impl Iterator<Item = Nic> + use<> {
        (0..self.parameters.nics).map(Nic)
    }

    fn host(&self, nic: Nic) -> Option<&Host> {
        self.hosts.get(usize::from(nic.0))
    }

    fn host_mut(&mut self, nic: Nic) -> Option<&mut Host> {
        self.hosts.get_mut(usize::from(nic.0))
    }

    /// Where the lane of a way stands.
    fn place(&self, (from, to): Way) -> usize {
        usize::from(from.0) * usize::from(self.parameters.nics) + usize::from(to.0)
    }

    fn nic(&self, number: u16) -> Nic {
        Nic(number % self.parameters.nics)
    }

    fn way(&self, path: Path) -> Way {
        let Nic(from) = self.nic(path.from);
        (Nic(from), self.nic(from + 1 + path.to % (self.parameters.nics - 1)))
    }

    fn lane(&mut self, path: Path) -> Option<&mut Lane> {
        let place = self.place(self.way(path));
        self.lanes.get_mut(place)
    }

    fn at(&self, place: Place) -> At {
        At { nic: self.nic(place.nic), endpoint: EndpointId(place.endpoint % ENDPOINTS) }
    }

    fn places(&self) -> impl Iterator<Item = At> + use<> {
        let nics = (0..self.parameters.nics).map(Nic);
        let at = |nic| (0..ENDPOINTS).map(move |id| At { nic, endpoint: EndpointId(id) });
        nics.flat_map(at)
    }

    fn endpoint(&mut self, at: At) -> Option<&mut Endpoint> {
        self.host_mut(at.nic)?.endpoints.get_mut(usize::from(at.endpoint.0))
    }

    fn clock(&self, nic: Nic) -> u64 {
        self.host(nic).map_or(0, |host| self.now.wrapping_add(host.ahead))
    }

    /// What a machine did goes into the ledger, and what it sent on its way.
    fn done(&mut self, nic: Nic, cause: Cause) {
        let clock = self.clock(nic);
        self.touch(nic);
        let mut effects = std::mem::take(&mut self.effects);
        self.ledger.step(&Step { nic, clock, cause, effects: &effects });
        for effect in effects.drain(..) {
            let (place, name) = name(&effect);
            self.seen.get_mut(place).into_iter().for_each(|seen| *seen = Some(name));
            match effect {
                Effect::Send(packet @ Packet::Data(..)) => {
                    self.host_mut(nic).into_iter().for_each(|host| host.queue.push_back(packet));
                }
                Effect::Send(packet) => self.transmit(nic, &packet),
                Effect::Unloaded(endpoint, messages) => {
                    let at = At { nic, endpoint };
                    let it = self.endpoint(at);
                    it.into_iter().for_each(|it| {
                        it.frame = Frame::Out;
                        it.waiting.extend(&messages);
                    });
                }
                Effect::Acknowledged(_) | Effect::Returned(..) | Effect::Noted(..) => {}
            }
        }
        self.effects = effects;
        self.depart(nic);
    }

    /// What must be so at any time. T-2, T-3, T-10
    fn check(&mut self, nic: Nic) {
        let Some(host) = self.host(nic) else { return };
        for id in (0..ENDPOINTS).map(EndpointId) {
            let outstanding = self.ledger.outstanding(At { nic, endpoint: id });
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
        assert!(host.machine.agrees(), "what a machine keeps twice agrees. T-3");
        self.host_mut(nic).into_iter().for_each(|host| host.scan = due);
    }
}

impl Lane {
    fn duplicate_answer(&mut self) {
        let answer = |packet: &Packet<Number>| !matches!(packet, Packet::Data(..));
        if let Some(place) = self.packets.iter().position(answer)
            && let Some(answer) = self.packets.get(place).copied()
        {
            self.packets.insert(place, answer);
        }
    }

    fn remember(&mut self, packet: Option<Packet<Number>>) {
        self.past.extend(packet);
        if self.past.len() > REMEMBERED {
            self.past.pop_front();
        }
    }
}

const fn header(packet: &Packet<Number>) -> &wire::Header {
    match packet {
        Packet::Data(header, ..) | Packet::Ack(header) | Packet::Nack(header, _) => header,
    }
}

/// What a machine can do: a place of its own, and a name.
const fn name(effect: &Effect<Number>) -> (usize, &'static str) {
    match effect {
        Effect::Send(Packet::Data(_, wire::Sync::Set, _)) => (0, "sync"),
        Effect::Send(Packet::Data(_, wire::Sync::Clear, _)) => (1, "data"),
        Effect::Send(Packet::Ack(_)) => (2, "ack"),
        Effect::Send(Packet::Nack(..)) => (3, "nack"),
        Effect::Acknowledged(_) => (4, "acknowledged"),
        Effect::Returned(_, Return::Unreachable) => (5, "unreachable"),
        Effect::Returned(_, Return::Refused(_)) => (6, "refused for good"),
        Effect::Unloaded(_, messages) if messages.is_empty() => (7, "unloaded"),
        Effect::Unloaded(..) => (8, "unloaded with messages"),
        Effect::Noted(_, Note::Duplicate) => (9, "duplicate"),
        Effect::Noted(_, Note::Stale) => (10, "stale"),
        Effect::Noted(_, Note::Late) => (11, "late"),
        Effect::Noted(_, Note::Unknown) => (12, "unknown"),
        Effect::Noted(_, Note::Retransmitted) => (13, "retransmitted"),
        Effect::Noted(_, Note::Refused(reason)) => match reason {
            Reason::NotResident => (14, "not resident"),
            Reason::QueueFull => (15, "queue full"),
            Reason::NoResource => (16, "no resource"),
            Reason::NoChannelState => (17, "no channel state"),
            Reason::BadKey => (18, "bad key"),
            Reason::NoSuchEndpoint => (19, "no such endpoint"),
        },
    }
}
