//! The part of the control program that maps the network: it gets the received mapping packets, and
//! sends its own before all others. N-2, N-3, N-7
//!
//! *Chosen*: each packet received and each one sent takes the same time. Routes lead to addresses; the host's table of addresses, which
//! the machine does not see, tells which host has which.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use codec::mapping::{InterfaceAddress, InterfaceRole, InternetworkPacket, MappingPacket, TAG};
use codec::packet::Packet;
use serde::Serialize;

use super::HostInterface;
use super::control::ControlProgram;
use super::processor::ProgramJob;
use super::receive_engine::{InternetworkUse, ReceiveEngine};
use super::send_engine::{OutgoingPacket, PacketOwner, SendEngine, with_crc};
use crate::mapping::{
    MappedRoutes, MapperParameters, MapperStart, MappingEffect, MappingNotice, NetworkMapper,
    ProbeKind, SendPace,
};
use crate::packet_types::PacketRoutine;
use crate::topology::NodeId;
use crate::truth::{MappingLabel, TruthEventKind};

/// Addresses of the interfaces of a network's hosts. N-3
pub(crate) type AddressTable = Arc<BTreeMap<NodeId, InterfaceAddress>>;

/// The mapping machine of an interface.
#[derive(Clone, Debug)]
pub(super) struct MappingFirmware {
    machine: NetworkMapper,
    role: InterfaceRole,
    parameters: MapperParameters,
    pace: SendPace,
    addresses: AddressTable,
    routes: MappedRoutes,
    effects: Vec<MappingEffect>,
    /// Packets that are still to be sent, each as a job of the processor.
    outgoing: VecDeque<Vec<u8>>,
    events: Vec<MappingNotice>,
    counters: MappingCounters,
}

/// Counters of an interface that takes part in mapping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MappingCounters {
    /// Host probes sent, repetitions included.
    pub host_probes: u64,
    /// Switch probes sent.
    pub switch_probes: u64,
    /// Compare probes sent.
    pub compare_probes: u64,
    /// Maps finished.
    pub maps: u64,
    /// Time of the latest search, in periods of the full rate.
    pub map_periods: u64,
    /// Probes of the latest search.
    pub map_probes: u64,
    /// Times that new routes were installed.
    pub installed: u64,
}

impl MappingFirmware {
    /// The machine of an interface whose control program runs from `ready` on.
    pub(super) fn new(
        (own, role): (InterfaceAddress, InterfaceRole),
        (parameters, start): (MapperParameters, MapperStart),
        addresses: AddressTable,
        (pace, ready): (SendPace, u64),
    ) -> Self {
        Self {
            machine: NetworkMapper::new(own, parameters, start, Default::default(), ready)
                .with_role(role)
                .with_pace(pace),
            role,
            parameters,
            pace,
            addresses,
            routes: MappedRoutes::default(),
            effects: Vec::new(),
            outgoing: VecDeque::new(),
            events: Vec::new(),
            counters: MappingCounters::default(),
        }
    }

    /// Performs all work due by `now`; returns true if it has taken a packet.
    pub(super) fn work(
        &mut self,
        now: u64,
        control: &mut ControlProgram,
        engines: (&mut SendEngine, &mut ReceiveEngine),
    ) -> bool {
        let (sending, receiving) = engines;
        let mut taken = false;
        loop {
            // A packet that has come goes first, so that a search does not keep its own answers waiting.
            let comes = receiving.routine() == Some(PacketRoutine::Mapping);
            if (comes || self.sends()) && !control.processor.has_done(ProgramJob::Mapping) {
                return taken;
            }
            if comes && let Some(packet) = receiving.take() {
                self.machine.on_packet(now, packet.payload(), &mut self.effects);
                taken = true;
            } else if let Some(bytes) = self.outgoing.pop_front() {
                let behalf = PacketOwner::Mapping;
                sending.push_first(OutgoingPacket { bytes, behalf, ready: now });
            } else if self.machine.due() <= now {
                self.machine.on_tick(now, &mut self.effects);
            } else {
                return taken;
            }
            self.carry_out(control);
        }
    }

    /// Carries out the effects of a step.
    fn carry_out(&mut self, control: &mut ControlProgram) {
        let Self { machine, addresses, effects, outgoing, events, counters, .. } = self;
        for effect in effects.drain(..) {
            match effect {
                MappingEffect::Send { route, payload } => {
                    outgoing.push_back(with_crc(&[&route, &[TAG], &payload]));
                }
                MappingEffect::Install(routes) => {
                    let own = machine.address();
                    let others = addresses.iter().filter(|(_, address)| **address != own);
                    let to =
                        others.filter_map(|(to, other)| Some((*to, way(&routes, own, *other)?)));
                    control.install(to.collect());
                    self.routes = routes;
                }
                MappingEffect::Noted(notice) => {
                    counters.count(&notice);
                    events.push(notice);
                }
            }
        }
    }

    /// True if packets wait to be sent.
    pub(super) fn sends(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// The route to an interface of its network. N-5
    pub(super) fn route_to(&self, address: InterfaceAddress) -> Option<&[u8]> {
        self.routes.to.get(&address).map(Vec::as_slice)
    }

    /// Time of its next step; while packets wait, that of the processor's job counts.
    pub(super) fn due(&mut self) -> u64 {
        if self.sends() { u64::MAX } else { self.machine.due() }
    }

    pub(super) fn drain_events(&mut self) -> impl Iterator<Item = MappingNotice> {
        self.events.drain(..)
    }

    pub(super) const fn counters(&self) -> MappingCounters {
        self.counters
    }

    /// Restarts without routes; the control program runs from `ready` on. I-3
    pub(super) fn restart(&mut self, ready: u64) {
        let (own, first) = (self.machine.address(), self.machine.next_ticket());
        self.machine = NetworkMapper::new(own, self.parameters, MapperStart::Patient, first, ready)
            .with_role(self.role)
            .with_pace(self.pace);
        self.routes = MappedRoutes::default();
        self.outgoing.clear();
    }
}

/// Bytes before a packet to an address: its route, or the route to a router, and what a packet between
/// networks has before the type that it carries. N-5
fn way(routes: &MappedRoutes, own: InterfaceAddress, to: InterfaceAddress) -> Option<Vec<u8>> {
    if let Some(route) = routes.to.get(&to) {
        return Some(route.clone());
    }
    let mut header = [routes.to_router()?, &[InternetworkPacket::TAG]].concat();
    InternetworkPacket { destination: to, source: own, tag: 0, payload: &[] }.emit(&mut header);
    header.pop();
    Some(header)
}

/// Fields of a mapping packet from its route to its CRC byte.
pub(super) fn label_of(bytes: &[u8]) -> Option<TruthEventKind> {
    let packet = MappingPacket::parse(Packet::parse(bytes).payload).ok()?;
    Some(TruthEventKind::MappingTransmitted(Box::new(MappingLabel::of(&packet))))
}

impl MappingCounters {
    const fn count(&mut self, notice: &MappingNotice) {
        match notice {
            MappingNotice::Probed(ProbeKind::Host) => self.host_probes += 1,
            MappingNotice::Probed(ProbeKind::Switch | ProbeKind::Identity) => {
                self.switch_probes += 1;
            }
            MappingNotice::Probed(ProbeKind::Compare) => self.compare_probes += 1,
            MappingNotice::Mapped { took, probes, .. } => {
                self.maps += 1;
                self.map_periods = *took;
                self.map_probes = *probes;
            }
            MappingNotice::Installed { .. } => self.installed += 1,
            MappingNotice::Elected | MappingNotice::Resigned { .. } => {}
        }
    }
}

impl HostInterface {
    /// Makes it compute its routes from a map of the network; the given ones only show which hosts
    /// there are. N-2
    pub(crate) fn with_mapping(
        mut self,
        addresses: &AddressTable,
        role: InterfaceRole,
        (parameters, start): (MapperParameters, MapperStart),
    ) -> Self {
        self.receiving.serve(PacketRoutine::Mapping);
        self.control.await_routes();
        let own = addresses.get(&self.place.node).map(|own| (*own, role));
        let is_free = self.parameters.costs.mapping == 0;
        let pace = if is_free { SendPace::AllAtOnce } else { SendPace::OneByOne };
        let begin = (pace, self.parameters.first_boot());
        let how = (parameters, start);
        let firmware = |own| Box::new(MappingFirmware::new(own, how, addresses.clone(), begin));
        self.mapping = own.map(firmware);
        self
    }

    /// Makes it take the packets that come from another network for its address. N-5
    pub(crate) fn with_internetwork(mut self, addresses: &AddressTable) -> Self {
        if let Some(own) = addresses.get(&self.place.node) {
            self.receiving.serve_internetwork(InternetworkUse::Delivers(*own));
        }
        self
    }

    /// Counters of mapping, if it takes part.
    pub fn mapping(&self) -> Option<MappingCounters> {
        self.mapping.as_ref().map(|mapping| mapping.counters())
    }
}
