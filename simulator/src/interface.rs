//! A host's interface: memory, engines, queues and control program. I-1..I-6

pub mod checksum;
mod consumption;
pub mod dma;
pub mod endpoint_firmware;
pub mod queues;
pub mod receive_engine;
pub mod send_engine;
mod statistics;
pub mod traffic_host;
pub mod transfers;

use codec::route::PortId;
use codec::time::Ticks;
use codec::transport::Nic;

use self::dma::DmaEngine;
use self::endpoint_firmware::EndpointFirmware;
use self::receive_engine::{ProgramState, ReceiveEngine, TransportRouting};
pub use self::send_engine::OfferedItem;
use self::send_engine::{FinishedPacket, PacketOwner, SendEngine, TakenPart};
pub use self::statistics::{HandlingCounts, HostStatistics};
use self::traffic_host::{HostQueues, TrafficHost};
use crate::control::{ControlProgram, PacketRoutine};
use crate::messaging::HostMessaging;
use crate::rng::Rng;
use crate::tagged_char::{PacketId, TaggedChar};
use crate::topology::{NodeId, NodePort};
use crate::traffic::{RawText, StreamDestination, TrafficStream};
use crate::truth::{RuleId, StopGo, TruthEventKind, TruthLog};

/// The parameters of an interface and its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfaceParameters {
    /// The host's bus, over which the DMA engine reaches host memory. I-5
    pub bus: DmaBus,
    /// Bytes of memory for packets on their way out. I-5
    pub send_memory: u32,
    /// Bytes of memory for packets that have come in; when it is full the link is held up. I-4, I-5
    pub receive_memory: u32,
    /// How fast characters are taken from the slack buffer. I-4
    pub consumption: ConsumptionMode,
    /// How long loading the control program takes, in periods of the full rate. I-3
    pub boot: Ticks,
    /// Commands that the host's queue holds. I-6
    pub commands: u32,
}

/// How fast the DMA engine moves data. I-5 (Micro)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DmaBus {
    /// At once: what is measured is the network.
    #[default]
    Ideal,
    /// A `SPARCstation`'s `SBus`: 20 MHz, bursts of 16 words of 4 bytes in 23 clocks, 444 Mb/s.
    SBus,
}

/// How an interface takes characters from its slack buffer. I-4
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConsumptionMode {
    /// Whenever there is one.
    #[default]
    Always,
    /// Not at all.
    Never,
    /// One in so many periods of the full rate.
    Every(std::num::NonZeroU32),
    /// So as to provoke the most STOP and GO: it takes while the last command is STOP. F-4
    Adversary,
}

/// A host with its interface.
///
/// In every period it is told the time, then takes a character at most, then offers one.
#[derive(Clone, Debug)]
pub struct HostInterface {
    place: NodePort,
    parameters: InterfaceParameters,
    /// Before this period there is nothing to do but to take and to send characters.
    due: u64,
    /// Before this period it takes no character. I-4
    takes_from: u64,
    state: InterfaceState,
    host: TrafficHost,
    queues: HostQueues,
    control: ControlProgram,
    dma: DmaEngine,
    sending: SendEngine,
    receiving: ReceiveEngine,
    /// Where the host has endpoints.
    firmware: Option<Box<EndpointFirmware>>,
    statistics: HostStatistics,
}

/// Whether an interface works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InterfaceState {
    /// It has no power.
    Off,
    /// It is held in reset while its control program is loaded. I-3
    Loading { until: u64 },
    /// Its control program runs.
    Running,
}

/// What is lost for want of power is lost as on a link that falls silent. F-7
const POWER: RuleId = RuleId("F-7");

impl HostInterface {
    /// An interface that has just been powered, with its own table of routes.
    #[must_use]
    #[expect(
        clippy::too_many_arguments,
        reason = "all that a host has of its own, told apart by type"
    )]
    pub fn new(
        host: NodeId,
        parameters: InterfaceParameters,
        dice: Rng,
        routes: Vec<(NodeId, Vec<u8>)>,
        mut streams: Vec<TrafficStream>,
        raw: Vec<RawText>,
    ) -> Self {
        let place = NodePort { node: host, port: PortId(0) };
        let control = ControlProgram::new(routes, parameters.send_memory as usize);
        for stream in &mut streams {
            match &mut stream.to {
                StreamDestination::Among(to) => to.retain(|to| control.route(*to).is_some()),
                StreamDestination::One(_) => {}
            }
        }
        Self {
            place,
            parameters,
            due: 0,
            takes_from: 0,
            state: InterfaceState::Loading { until: parameters.boot.0 },
            host: TrafficHost::new(host, streams, parameters.send_memory, dice),
            queues: HostQueues::new(parameters.commands, parameters.receive_memory),
            control,
            dma: DmaEngine::new(parameters.bus),
            sending: SendEngine::new(place, raw),
            receiving: ReceiveEngine::new(
                place,
                parameters.receive_memory as usize,
                TransportRouting::Delivered,
            ),
            firmware: None,
            statistics: HostStatistics::default(),
        }
    }

    /// The same with endpoints. T
    #[must_use]
    pub fn with_endpoints(mut self, messaging: HostMessaging) -> Self {
        let memory = self.parameters.receive_memory as usize;
        self.receiving = ReceiveEngine::new(self.place, memory, TransportRouting::Served);
        let nic = |node: &NodeId| u16::try_from(node.0).ok().map(Nic);
        let messaging = messaging.with_routes(self.control.destinations().filter_map(nic));
        let firmware = EndpointFirmware::new(messaging, self.parameters.boot.0);
        self.firmware = Some(Box::new(firmware));
        self
    }

    /// Advances host, DMA engine and control program to a period; once in each.
    #[inline]
    pub fn tick(&mut self, now: u64, log: &mut TruthLog) {
        if now >= self.due {
            self.work(now);
            self.emit_events(now, log);
        }
    }

    fn work(&mut self, now: u64) {
        let Self { host, queues, control, dma, sending, receiving, firmware, statistics, .. } =
            self;
        let next = match self.state {
            InterfaceState::Off => None,
            InterfaceState::Loading { until } if now < until => {
                // The host goes on meanwhile.
                if let Some(firmware) = firmware {
                    firmware.work(now, control, (sending, receiving));
                }
                sending.step(now);
                let firmware = firmware.as_ref().and_then(|firmware| firmware.due());
                [Some(until), firmware, sending.due()].into_iter().flatten().min()
            }
            InterfaceState::Loading { .. } | InterfaceState::Running => {
                self.state = InterfaceState::Running;
                control.hand_on(queues, dma, receiving);
                host.step(now, queues, statistics);
                control.take_command(queues, dma);
                receiving.free(dma.step(now));
                control.collect(queues, dma, sending, receiving);
                host.read(now, queues, statistics);
                if let Some(firmware) = firmware {
                    firmware.work(now, control, (sending, receiving));
                }
                sending.step(now);
                let host = host.due().filter(|_| !queues.commands.is_full());
                let control = control.is_due(queues, dma, receiving).then_some(0);
                let firmware = firmware.as_ref().and_then(|firmware| firmware.due());
                [host, control, firmware, dma.due(), sending.due()].into_iter().flatten().min()
            }
        };
        self.due = next.map_or(u64::MAX, |next| next.max(now.saturating_add(1)));
    }

    /// Tells what has happened to messages.
    fn emit_events(&mut self, now: u64, log: &mut TruthLog) {
        let Self { firmware: Some(firmware), place, .. } = self else { return };
        for told in firmware.drain_events() {
            log.emit(now, *place, None, || TruthEventKind::Messaging(told));
        }
    }

    /// What its sending engine has next for the output circuit.
    #[must_use]
    #[inline]
    pub fn offered(&self) -> OfferedItem {
        self.sending.offer()
    }

    /// The output circuit has taken what was offered.
    #[inline]
    pub fn taken(&mut self, now: u64, log: &mut TruthLog) {
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

    /// The first byte of a packet has gone; it may be one of the firmware's.
    fn transmitted(&mut self, now: u64, log: &mut TruthLog) {
        if let (Some(firmware), Some(PacketOwner::Firmware)) =
            (&mut self.firmware, self.sending.behalf())
            && let Some((bytes, transmission)) = firmware.leaves(now, &self.control)
        {
            self.sending.restamp(bytes);
            let id = self.sending.last_id();
            log.emit(now, self.place, Some(id), || TruthEventKind::Transmitted(transmission));
        }
    }

    /// The output circuit has ended the packet that it was sending by itself, and tells so: its rest
    /// is discarded, and so is the end of a text that left a packet open.
    pub fn cut(&mut self) {
        let left = self.sending.cut();
        self.left(left);
    }

    /// Something else may be sent, and there may be more memory.
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

    /// Whether it takes a character from its slack buffer, whose last command this was.
    #[must_use]
    #[inline]
    pub fn takes(&self, now: u64, commanded: StopGo) -> bool {
        let willing = match self.parameters.consumption {
            ConsumptionMode::Always => true,
            ConsumptionMode::Never => false,
            ConsumptionMode::Every(_) => now >= self.takes_from,
            ConsumptionMode::Adversary => commanded == StopGo::Stop,
        };
        willing && self.state != InterfaceState::Off && self.receiving.has_room()
    }

    /// Takes a byte or a framing mark from the slack buffer, and which packet begins with it. One
    /// that begins inside another has lost the GAP before it, and is a part of the other now.
    #[inline]
    pub fn take(&mut self, now: u64, cell: TaggedChar, id: Option<PacketId>, log: &mut TruthLog) {
        if let ConsumptionMode::Every(periods) = self.parameters.consumption {
            self.takes_from = now.saturating_add(periods.get().into());
        }
        if !cell.is_data() {
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

    /// FRES has come: the host has an interrupt, and the control program starts at its initialisation.
    /// The packet half taken in is lost; one half sent is ended without its rest. Reading: what is
    /// whole in memory stays, the queues too, but the protocol of endpoints begins anew. R-3
    pub fn reset(&mut self, now: u64, log: &mut TruthLog) {
        let ready = match self.state {
            InterfaceState::Off => return,
            InterfaceState::Loading { until } => until.max(now),
            InterfaceState::Running => now,
        };
        self.statistics.interrupts += 1;
        self.receiving.break_off(now, RuleId("R-3"), log);
        let left = self.sending.break_off(now, RuleId("R-3"), log);
        self.left(left);
        if let Some(firmware) = &mut self.firmware {
            self.receiving.forget(PacketRoutine::Transport);
            self.sending.forget(PacketOwner::Firmware);
            firmware.restart(now, ready);
        }
    }

    /// A restart was ordered: the control program is loaded again, into an empty memory. I-3
    pub fn reload(&mut self, now: u64, log: &mut TruthLog) {
        if self.state != InterfaceState::Off {
            self.receiving.reset(now, RuleId("R-3"), log);
            self.sending.reset(now, RuleId("R-3"), log);
            self.load(now);
        }
    }

    /// The power goes off: nothing is sent or taken any more.
    pub fn power_off(&mut self, now: u64, log: &mut TruthLog) {
        self.receiving.reset(now, POWER, log);
        self.sending.power_off(now, POWER, log);
        self.forget(now, u64::MAX);
        self.state = InterfaceState::Off;
    }

    /// The power comes on again: the host starts anew, and loads the control program. I-3
    pub fn power_on(&mut self, now: u64) {
        if self.state == InterfaceState::Off {
            self.host.power_on(now);
            self.load(now);
        }
    }

    /// The control program is loaded again. I-3
    fn load(&mut self, now: u64) {
        let until = now.saturating_add(self.parameters.boot.0);
        self.forget(now, until);
        self.state = InterfaceState::Loading { until };
    }

    /// Nothing is left in the interface's memory, the queues in it included. A control program will
    /// run from `ready` on. Reading: a host's own memory outlives even its power, and the endpoints
    /// that are in it.
    fn forget(&mut self, now: u64, ready: u64) {
        let InterfaceParameters { commands, receive_memory, .. } = self.parameters;
        self.queues = HostQueues::new(commands, receive_memory);
        self.dma.reset();
        self.control.reset();
        self.host.reset(now);
        if let Some(firmware) = &mut self.firmware {
            firmware.restart(now, ready);
        }
        self.due = 0;
    }

    /// Whether a packet is half taken in.
    #[must_use]
    pub fn is_taking(&self) -> bool {
        self.receiving.has_head()
    }

    /// Before this period it has nothing to do of itself.
    #[must_use]
    pub(crate) const fn due(&self) -> u64 {
        self.due
    }

    /// Its host's endpoints, if there are any.
    #[must_use]
    pub fn messaging(&self) -> Option<&HostMessaging> {
        self.firmware.as_ref().map(|firmware| firmware.messaging())
    }

    /// What has passed through it.
    #[must_use]
    pub const fn statistics(&self) -> &HostStatistics {
        &self.statistics
    }
}

impl Default for InterfaceParameters {
    /// What is measured is the network. *Chosen*: half of the memory of 128 KB for either way, and
    /// a queue that is seldom full. I-5, I-6
    fn default() -> Self {
        Self {
            bus: DmaBus::Ideal,
            send_memory: 1 << 16,
            receive_memory: 1 << 16,
            consumption: ConsumptionMode::Always,
            boot: Ticks(0),
            commands: 64,
        }
    }
}

#[cfg(test)]
mod tests;
