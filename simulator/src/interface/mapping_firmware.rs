//! The part of the control program that maps the network: it gets the received mapping packets, and
//! sends its own before all others. N-2, N-3, N-7
//!
//! *Chosen*: a received packet takes time, its other steps take none. Routes lead to addresses; the host's table of addresses, which
//! the machine does not see, tells which host has which.

use std::collections::BTreeMap;
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
    ProbeKind,
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
    addresses: AddressTable,
    routes: MappedRoutes,
    effects: Vec<MappingEffect>,
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
        ready: u64,
    ) -> Self {
        Self {
            machine: NetworkMapper::new(own, parameters, start, Default::default(), ready)
                .with_role(role),
            role,
            parameters,
            addresses,
            routes: MappedRoutes::default(),
            effects: Vec::new(),
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
        let Self { machine, addresses, routes: current, effects, events, counters, .. } = self;
        let (sending, receiving) = engines;
        let mut taken = false;
        while receiving.routine() == Some(PacketRoutine::Mapping)
            && control.processor.has_done(ProgramJob::Mapping)
            && let Some(packet) = receiving.take()
        {
            machine.on_packet(now, packet.payload(), effects);
            taken = true;
        }
        if machine.due() <= now {
            machine.on_tick(now, effects);
        }
        for effect in effects.drain(..) {
            match effect {
                MappingEffect::Send { route, payload } => {
                    let bytes = with_crc(&[&route, &[TAG], &payload]);
                    let behalf = PacketOwner::Mapping;
                    sending.push_first(OutgoingPacket { bytes, behalf, ready: now });
                }
                MappingEffect::Install(routes) => {
                    let own = machine.address();
                    let others = addresses.iter().filter(|(_, address)| **address != own);
                    let to =
                        others.filter_map(|(to, other)| Some((*to, way(&routes, own, *other)?)));
                    control.install(to.collect());
                    *current = routes;
                }
                MappingEffect::Noted(notice) => {
                    counters.count(&notice);
                    events.push(notice);
                }
            }
        }
        taken
    }

    /// The route to an interface of its network. N-5
    pub(super) fn route_to(&self, address: InterfaceAddress) -> Option<&[u8]> {
        self.routes.to.get(&address).map(Vec::as_slice)
    }

    pub(super) fn due(&mut self) -> u64 {
        self.machine.due()
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
            .with_role(self.role);
        self.routes = MappedRoutes::default();
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
            MappingNotice::Probed(ProbeKind::Switch) => self.switch_probes += 1,
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
        let boot = self.parameters.first_boot();
        let firmware =
            |own| Box::new(MappingFirmware::new(own, (parameters, start), addresses.clone(), boot));
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
