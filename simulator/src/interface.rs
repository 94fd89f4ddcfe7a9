//! A host's interface: memory, engines, queues and control program. I-1..I-6

mod checksum;
mod control;
mod dma;
mod endpoint_firmware;
mod mapping_firmware;
mod memory;
mod parameters;
mod power;
mod processor;
mod queues;
mod receive_engine;
mod relay;
mod router;
mod send_engine;
mod share;
mod software;
mod statistics;
mod streaming;
mod traffic_host;
mod transfers;

use std::collections::BTreeMap;

use self::control::ControlProgram;
use self::dma::DmaEngine;
use self::endpoint_firmware::EndpointFirmware;
pub(crate) use self::mapping_firmware::AddressTable;
pub use self::mapping_firmware::MappingCounters;
use self::mapping_firmware::{MappingFirmware, label_of};
pub use self::memory::{MemoryLayout, MemoryUse};
pub use self::parameters::{
    ConsumptionMode, CopyPath, DmaBus, HostCosts, InterfaceParameters, SoftwarePath,
};
use self::processor::FirmwareUse;
pub use self::processor::ProgramCosts;
use self::queues::HostQueues;
use self::receive_engine::{ProgramState, ReceiveEngine, ServedTypes};
pub use self::relay::RelayPolicy;
pub use self::router::RouterCounters;
use self::router::RouterFirmware;
pub(crate) use self::router::RouterPort;
use self::send_engine::{FinishedPacket, PacketOwner, SendEngine, TakenPart};
pub(crate) use self::share::HostShare;
pub use self::share::InterfacePlace;
pub(crate) use self::share::PLACES;
pub use self::statistics::{ByteTouches, HandlingCounts, HostStatistics};
use self::traffic_host::{HostPeriod, TrafficHost};
use crate::link::source_item::SourceItem;
use crate::link::tagged_char::{PacketId, TaggedChar};
use crate::mapping::MappingNotice;
use crate::messaging::{HostMessaging, MessagingPlan};
use crate::packet_types::PacketRoutine;
use crate::rng::Rng;
use crate::topology::{NodeId, NodePort};
use crate::traffic::{RawText, StreamDestination, TrafficStream};
use crate::truth::{StopGo, TruthEventKind, TruthLog};
use codec::route::PortId;
use codec::transport::Nic;

/// A host with its interface.
///
/// In every period `tick` advances it; then it takes and offers at most one character.
#[derive(Debug)]
pub struct HostInterface {
    place: NodePort,
    parameters: InterfaceParameters,
    /// No work before this period, except for taking and sending characters.
    due: u64,
    /// Takes no character before this period. I-4
    takes_from: u64,
    state: InterfaceState,
    host: TrafficHost,
    queues: HostQueues,
    control: ControlProgram,
    dma: DmaEngine,
    sending: SendEngine,
    receiving: ReceiveEngine,
    firmware: Option<Box<EndpointFirmware>>,
    mapping: Option<Box<MappingFirmware>>,
    router: Option<Box<RouterFirmware>>,
    statistics: HostStatistics,
    /// Bus and processor of the host; the network has them for several interfaces. I-7
    share: HostShare,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InterfaceState {
    /// Without power.
    Off,
    /// In reset while its control program is loaded. I-3
    Loading {
        until: u64,
    },
    Running,
}

impl HostInterface {
    /// An interface after power-on, with its own table of routes.
    #[expect(
        clippy::too_many_arguments,
        reason = "all that a host has of its own, distinguished by type"
    )]
    pub(crate) fn new(
        host: NodeId,
        parameters: InterfaceParameters,
        rng: Rng,
        routes: Vec<(NodeId, Vec<u8>)>,
        mut streams: Vec<TrafficStream>,
        raw: Vec<RawText>,
    ) -> Self {
        let place = NodePort { node: host, port: PortId(0) };
        let layout = MemoryLayout::of(&parameters, None);
        let bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let control = ControlProgram::new(routes, bytes(layout.send), &parameters);
        for stream in &mut streams {
            if let StreamDestination::Among(to) = &mut stream.to {
                to.retain(|to| control.route(*to).is_some());
            }
        }
        Self {
            place,
            parameters,
            due: 0,
            takes_from: 0,
            state: InterfaceState::Loading { until: parameters.first_boot() },
            host: TrafficHost::new((host, parameters.host), streams, layout.send, rng),
            queues: HostQueues::new(parameters.commands, bytes(layout.receive)),
            control,
            dma: DmaEngine::new(parameters.bus, parameters.place.index),
            sending: SendEngine::new(place, raw),
            receiving: ReceiveEngine::new(place, bytes(layout.receive), ServedTypes::default()),
            firmware: None,
            mapping: None,
            router: None,
            statistics: HostStatistics {
                memory: MemoryUse::new(layout),
                ..HostStatistics::default()
            },
            share: HostShare::default(),
        }
    }

    /// Adds endpoints. T
    pub(crate) fn with_endpoints(mut self, plan: &MessagingPlan, seed: u64) -> Self {
        let layout = MemoryLayout::of(&self.parameters, Some(plan));
        self.statistics.memory = MemoryUse::new(layout);
        self.receiving.serve(PacketRoutine::Transport);
        let nic = |node: &NodeId| u16::try_from(node.0).ok().map(Nic);
        let messaging = HostMessaging::new(plan.clone(), seed);
        let messaging = messaging.with_routes(self.control.destinations().filter_map(nic));
        let firmware = EndpointFirmware::new(messaging, &self.parameters);
        self.firmware = Some(Box::new(firmware));
        self
    }

    /// Advances host, DMA engine and control program to a period; called once in each.
    #[inline]
    pub(crate) fn tick(&mut self, now: u64, log: &mut TruthLog) {
        if now >= self.due {
            self.record_memory(now, log);
            self.work(now);
            self.record_memory(now, log);
            self.emit_events(now, log);
        }
    }

    fn work(&mut self, now: u64) {
        let Self { host, queues, control, dma, sending, receiving, statistics, .. } = self;
        let Self { firmware, mapping, router, share, .. } = self;
        let next = match self.state {
            InterfaceState::Off => None,
            InterfaceState::Loading { until } if now < until => {
                // The host goes on meanwhile.
                if let Some(firmware) = firmware {
                    firmware.work(now, control, (sending, receiving), share);
                }
                sending.step(now);
                let firmware = firmware.as_ref().and_then(|firmware| firmware.due());
                [Some(until), firmware, sending.due()].into_iter().flatten().min()
            }
            InterfaceState::Loading { .. } | InterfaceState::Running => {
                self.state = InterfaceState::Running;
                control.processor.delay(receiving.moved() + sending.moved());
                let busy = firmware.as_ref().map_or(FirmwareUse::None, |it| it.processor_use());
                let jobs = control.jobs(queues, dma, receiving, mapping.as_deref());
                control.processor.begin(now, jobs, busy);
                control.hand_on(queues, dma, (sending, receiving), now);
                let period = &mut HostPeriod { now, statistics, share };
                host.step(queues, period);
                control.take_command(queues, dma);
                receiving.free(dma.step(now, period.share));
                control.collect(queues, dma, sending, receiving);
                host.read(queues, period);
                if let Some(firmware) = firmware {
                    firmware.messaging_mut().reserve(control.processor.reserved());
                }
                // Each takes what is for it as far as the first packet for another.
                let mut taken = true;
                while taken {
                    if let Some(firmware) = firmware {
                        firmware.work(now, control, (sending, receiving), share);
                    }
                    taken = mapping
                        .as_mut()
                        .is_some_and(|mapping| mapping.work(now, control, (sending, receiving)));
                    if let Some(router) = router {
                        let mapping = mapping.as_deref();
                        taken |= router.work(now, control, (sending, receiving), mapping);
                    }
                }
                sending.step(now);
                let host = host.due(share).filter(|_| !queues.is_full());
                let jobs = control.jobs(queues, dma, receiving, mapping.as_deref());
                let control = control.processor.due(jobs);
                let firmware = firmware.as_ref().and_then(|firmware| firmware.due());
                let mapping = mapping.as_mut().map(|mapping| mapping.due());
                let router = router.as_ref().and_then(|router| router.due());
                let due = [host, control, firmware, mapping, router, dma.due(share), sending.due()];
                due.into_iter().flatten().min()
            }
        };
        self.due = next.map_or(u64::MAX, |next| next.max(now.saturating_add(1)));
    }

    fn emit_events(&mut self, now: u64, log: &mut TruthLog) {
        let Self { firmware, mapping, router, place, .. } = self;
        for cause in self.host.drain_interrupts() {
            self.statistics.interrupts += 1;
            log.emit(now, *place, None, || TruthEventKind::Interrupted(cause));
        }
        for notice in self.control.relay.drain() {
            log.emit(now, *place, None, || TruthEventKind::Multicast(notice));
        }
        for notice in router.iter_mut().flat_map(|router| router.drain_notices()) {
            log.emit(now, *place, None, || TruthEventKind::Routed(notice));
        }
        for event in firmware.iter_mut().flat_map(|firmware| firmware.drain_events()) {
            log.emit(now, *place, None, || TruthEventKind::Messaging(event));
        }
        for notice in mapping.iter_mut().flat_map(|mapping| mapping.drain_events()) {
            // Each packet has a row of its own when it is sent.
            if !matches!(notice, MappingNotice::Probed(_)) {
                log.emit(now, *place, None, || TruthEventKind::Mapping(notice));
            }
        }
    }

    /// The next item of the sending engine for the output circuit.
    #[inline]
    pub(crate) fn offered(&self) -> SourceItem {
        self.sending.offer()
    }

    /// Removes the item that the output circuit has taken.
    #[inline]
    pub(crate) fn taken(&mut self, now: u64, log: &mut TruthLog) {
        match self.sending.taken(now, log) {
            TakenPart::Part => {}
            TakenPart::Head => {
                self.statistics.injected += 1;
                self.transmitted(now, log);
            }
            TakenPart::End(left) => {
                if let Some(FinishedPacket { bytes, .. }) = left {
                    self.statistics.sent += 1;
                    self.statistics.sent_bytes += bytes as u64;
                }
                self.left(left);
            }
        }
    }

    /// Emits the event of a packet whose first byte has been sent, if its contents are known.
    fn transmitted(&mut self, now: u64, log: &mut TruthLog) {
        let (id, bytes) = (self.sending.last_id(), self.sending.bytes());
        let label = match self.sending.behalf() {
            Some(PacketOwner::Mapping) => label_of(bytes),
            Some(PacketOwner::Host { .. }) => self.host.label(bytes),
            Some(PacketOwner::Firmware | PacketOwner::Relay(_) | PacketOwner::Router) | None => {
                None
            }
        };
        label.into_iter().for_each(|label| log.emit(now, self.place, Some(id), || label));
        if let (Some(firmware), Some(PacketOwner::Firmware)) =
            (&mut self.firmware, self.sending.behalf())
            && let Some((bytes, transmission)) = firmware.leaves(now)
        {
            self.sending.restamp(bytes);
            log.emit(now, self.place, Some(id), || TruthEventKind::Transmitted(transmission));
        }
    }

    /// Discards the rest of a packet that the output circuit has ended itself, and the end of a
    /// text that left a packet open.
    pub(crate) fn cut(&mut self) {
        let left = self.sending.cut();
        self.left(left);
    }

    /// Frees the memory of a finished packet, and schedules the next.
    fn left(&mut self, left: Option<FinishedPacket>) {
        self.due = 0;
        if let Some(left) = left {
            self.control.left(left, &mut self.queues);
            if left.behalf == PacketOwner::Firmware
                && let Some(firmware) = &mut self.firmware
            {
                firmware.left();
            }
        }
    }

    /// True if it takes a character now; `commanded` is the slack buffer's last command.
    #[inline]
    pub(crate) fn takes(&self, now: u64, commanded: StopGo) -> bool {
        let willing = match self.parameters.consumption {
            ConsumptionMode::Always => true,
            ConsumptionMode::Never => false,
            ConsumptionMode::Every(_) => now >= self.takes_from,
            ConsumptionMode::Adversary => commanded == StopGo::Stop,
        };
        willing && self.state != InterfaceState::Off && self.receiving.has_room()
    }

    /// The earliest period in which it takes a character, as long as nothing else changes.
    pub(crate) fn takes_at(&self, now: u64, commanded: StopGo) -> Option<u64> {
        let at = now.max(self.takes_from);
        self.takes(at, commanded).then_some(at)
    }

    /// Changes the consumption policy. I-4
    pub(crate) const fn set_consumption(&mut self, consumption: ConsumptionMode) {
        self.parameters.consumption = consumption;
        self.takes_from = 0;
    }

    /// Takes a byte or a framing mark from the slack buffer, and the packet that begins with it. A
    /// packet that begins inside another has lost the GAP before it, and is merged.
    #[inline]
    pub(crate) fn take(
        &mut self,
        now: u64,
        cell: TaggedChar,
        id: Option<PacketId>,
        log: &mut TruthLog,
    ) {
        if let ConsumptionMode::Every(periods) = self.parameters.consumption {
            self.takes_from = now.saturating_add(periods.get().into());
        }
        if !cell.is_data() {
            self.record_memory(now, log);
            let account = self.receiving.mark(now, log);
            account.into_iter().for_each(|account| self.statistics.count(account));
            self.due = 0;
            return;
        }
        if id.is_some() && self.receiving.is_inside() {
            log.emit(now, self.place, id, || TruthEventKind::Merged);
        }
        let program = match self.state {
            InterfaceState::Loading { until } if now < until => ProgramState::Loading,
            InterfaceState::Off | InterfaceState::Loading { .. } | InterfaceState::Running => {
                ProgramState::Running
            }
        };
        self.receiving.byte(cell.low(), id, program);
    }

    /// True while a packet is partly received.
    pub(crate) fn is_taking(&self) -> bool {
        self.receiving.has_head()
    }

    /// No work of its own before this period.
    pub(crate) const fn due(&self) -> u64 {
        self.due
    }

    /// The host's endpoints, if it has any.
    pub fn messaging(&self) -> Option<&HostMessaging> {
        self.firmware.as_ref().map(|firmware| firmware.messaging())
    }

    /// Its routes now. P-2, N-2
    pub const fn routes(&self) -> &BTreeMap<NodeId, Vec<u8>> {
        self.control.routes()
    }

    /// Counters since the start.
    pub const fn statistics(&self) -> &HostStatistics {
        &self.statistics
    }
}

#[cfg(test)]
mod tests;
