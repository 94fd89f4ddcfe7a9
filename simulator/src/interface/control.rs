//! The control program of an interface: takes the host's commands, looks up routes, starts the
//! engines, and hands received packets to the host. I-2, I-3, I-6

use std::collections::BTreeMap;

use super::dma::DmaEngine;
use super::mapping_firmware::MappingFirmware;
use super::parameters::InterfaceParameters;
use super::processor::{InterfaceProcessor, ProgramJob};
use super::queues::{BUFFER, CommandOutcome, HostAcknowledgment, HostQueues, SendCommand};
use super::receive_engine::{ReceiveEngine, StoredPacket};
use super::relay::{MulticastRelay, RelayedPacket};
use super::send_engine::{FinishedPacket, OutgoingPacket, PacketOwner, SendEngine};
use super::transfers::{GatherTransfer, ScatterTransfer};
use crate::packet_types::PacketRoutine;
use crate::topology::NodeId;

/// State of the control program.
#[derive(Clone, Debug)]
pub(super) struct ControlProgram {
    routes: BTreeMap<NodeId, Vec<u8>>,
    knowledge: RouteKnowledge,
    /// Bytes of send memory, in all and in use.
    memory: usize,
    used: usize,
    pub(super) processor: InterfaceProcessor,
    pub(super) relay: MulticastRelay,
}

/// Completeness of the routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RouteKnowledge {
    /// A host without a route is out of reach.
    Known,
    /// The network is not mapped yet: commands wait. *Chosen*
    Awaited,
}

impl ControlProgram {
    pub(super) fn new(
        routes: Vec<(NodeId, Vec<u8>)>,
        memory: usize,
        parameters: &InterfaceParameters,
    ) -> Self {
        let routes = routes.into_iter().collect();
        let knowledge = RouteKnowledge::Known;
        let processor = InterfaceProcessor::new(parameters.costs);
        Self { routes, knowledge, memory, used: 0, processor, relay: MulticastRelay::default() }
    }

    /// Forgets all routes until others are installed. N-2
    pub(super) fn await_routes(&mut self) {
        self.routes.clear();
        self.knowledge = RouteKnowledge::Awaited;
    }

    /// Replaces all routes. N-2
    pub(super) fn install(&mut self, routes: BTreeMap<NodeId, Vec<u8>>) {
        self.routes = routes;
        self.knowledge = RouteKnowledge::Known;
    }

    /// Restarts with empty memory. R-3
    pub(super) fn reset(&mut self) {
        self.processor.restart();
        self.relay.reset();
        self.used = 0;
    }

    /// Bytes of send memory in use.
    pub(super) const fn used(&self) -> usize {
        self.used
    }

    /// Takes send memory for a packet that a router passes on, if there is enough. N-5
    pub(super) const fn reserve(&mut self, bytes: usize) -> bool {
        let has_room = bytes <= self.memory - self.used;
        self.used += if has_room { bytes } else { 0 };
        has_room
    }

    pub(super) const fn routes(&self) -> &BTreeMap<NodeId, Vec<u8>> {
        &self.routes
    }

    pub(super) fn route(&self, to: NodeId) -> Option<&[u8]> {
        self.routes.get(&to).map(Vec::as_slice)
    }

    pub(super) fn destinations(&self) -> impl Iterator<Item = &NodeId> {
        self.routes.keys()
    }

    /// The action that the next command allows.
    fn command(&self, queues: &HostQueues, dma: &DmaEngine) -> Option<CommandStart<'_>> {
        let command = queues.commands.front().filter(|_| dma.gather.is_none())?;
        let route = match (self.routes.get(&command.to), self.knowledge) {
            // Each copy gets its own.
            (_, RouteKnowledge::Known) if self.relay.is_root(command.to) => &[][..],
            (Some(route), _) => route,
            (None, RouteKnowledge::Awaited) => return None,
            (None, RouteKnowledge::Known) => {
                return Some(CommandStart::Refuse(CommandOutcome::NoRoute));
            }
        };
        let payload: usize = command.gather.iter().map(Vec::len).sum();
        let length = payload + route.len() + 2;
        if length > self.memory {
            return Some(CommandStart::Refuse(CommandOutcome::TooLong));
        }
        (length <= self.memory - self.used).then_some(CommandStart::Gather(route, length))
    }

    /// True if the first received packet can be moved to the host's buffers now.
    fn can_scatter(&self, queues: &HostQueues, dma: &DmaEngine, receiving: &ReceiveEngine) -> bool {
        let for_host = |first: &&StoredPacket| {
            !matches!(
                first.routine,
                PacketRoutine::Transport | PacketRoutine::Mapping | PacketRoutine::Internetwork
            )
        };
        let first = receiving.first().filter(for_host).filter(|_| dma.scatter.is_none());
        first.is_some_and(|first| {
            let is_relayed = first.routine == PacketRoutine::Relay;
            first.payload().len().div_ceil(BUFFER) <= queues.posted
                && (!is_relayed
                    || self.relay.has_room(&first.bytes, (self.memory - self.used, self.memory)))
        })
    }

    pub(super) fn jobs(
        &self,
        queues: &HostQueues,
        dma: &DmaEngine,
        receiving: &ReceiveEngine,
        mapping: Option<&MappingFirmware>,
    ) -> impl Iterator<Item = ProgramJob> + use<> {
        let sends = mapping.is_some_and(MappingFirmware::sends);
        let maps = sends || receiving.routine() == Some(PacketRoutine::Mapping);
        [
            (ProgramJob::Packet, self.can_scatter(queues, dma, receiving)),
            (ProgramJob::Command, self.command(queues, dma).is_some()),
            (ProgramJob::Mapping, maps),
        ]
        .into_iter()
        .filter_map(|(job, waits)| waits.then_some(job))
    }

    /// Takes the next command, if there is memory for its packet, and time.
    #[expect(clippy::expect_used, reason = "a command is begun only if it waits")]
    pub(super) fn take_command(&mut self, queues: &mut HostQueues, dma: &mut DmaEngine) {
        let waits = self.command(queues, dma).is_some();
        if !waits || !self.processor.has_done(ProgramJob::Command) {
            return;
        }
        let start = self.command(queues, dma).expect("a command waits");
        let command = queues.commands.pop_front().expect("a command waits");
        match start {
            CommandStart::Refuse(outcome) => {
                let SendCommand { number, interrupt, .. } = command;
                let ended = HostAcknowledgment::Ended { number, interrupt, outcome };
                queues.acknowledgments.push_back(ended);
            }
            CommandStart::Gather(route, length) => {
                dma.gather = Some(GatherTransfer::new(command, route));
                self.used += length;
            }
        }
    }

    /// Starts moving the next received packet to the host.
    #[expect(clippy::expect_used, reason = "a packet is handed on only if it waits")]
    pub(super) fn hand_on(
        &mut self,
        queues: &mut HostQueues,
        dma: &mut DmaEngine,
        (sending, receiving): (&mut SendEngine, &mut ReceiveEngine),
        now: u64,
    ) {
        let waits = self.can_scatter(queues, dma, receiving);
        if !waits || !self.processor.has_done(ProgramJob::Packet) {
            return;
        }
        let mut stored = receiving.pop().expect("a packet waits");
        if stored.routine == PacketRoutine::Relay {
            let bytes = std::mem::take(&mut stored.bytes);
            let behalf = PacketOwner::Relay(0);
            let packet = OutgoingPacket { bytes, behalf, ready: now };
            let free = self.memory - self.used;
            if self.relay.send(&packet, &self.routes, free, sending) {
                self.used += packet.bytes.len();
            }
            stored.bytes = packet.bytes;
        }
        queues.posted -= stored.payload().len().div_ceil(BUFFER);
        dma.scatter = Some(ScatterTransfer::new(stored));
    }

    /// Passes packets that the DMA engine has moved to the sending engine or to the host.
    pub(super) fn collect(
        &mut self,
        queues: &mut HostQueues,
        dma: &mut DmaEngine,
        sending: &mut SendEngine,
        receiving: &mut ReceiveEngine,
    ) {
        if let Some(gather) = dma.gathered() {
            let is_multicast = self.relay.is_root(gather.to());
            let packet = gather.finish();
            if !is_multicast {
                sending.push(packet);
            } else if !self.relay.send(&packet, &self.routes, usize::MAX, sending) {
                let OutgoingPacket { bytes, behalf, .. } = packet;
                let outcome = CommandOutcome::NoRoute;
                self.left(FinishedPacket { behalf, outcome, bytes: bytes.len() }, queues);
            }
        }
        if let Some(scatter) = dma.scattered() {
            let (arrived, behind) = scatter.finish();
            receiving.free(behind);
            queues.acknowledgments.push_back(arrived);
        }
    }

    /// Frees the send memory of a packet and acknowledges its command.
    pub(super) fn left(&mut self, left: FinishedPacket, queues: &mut HostQueues) {
        let FinishedPacket { behalf, outcome, bytes } = left;
        match behalf {
            PacketOwner::Host { number, interrupt } => {
                self.used = self.used.saturating_sub(bytes);
                let ended = HostAcknowledgment::Ended { number, interrupt, outcome };
                queues.acknowledgments.push_back(ended);
            }
            PacketOwner::Relay(slot) => match self.relay.left(slot) {
                Some(RelayedPacket { bytes, command: Some(behalf), .. }) => {
                    self.left(FinishedPacket { behalf, outcome, bytes }, queues);
                }
                Some(RelayedPacket { bytes, command: None, .. }) => {
                    self.used = self.used.saturating_sub(bytes);
                }
                None => {}
            },
            PacketOwner::Router => self.used = self.used.saturating_sub(bytes),
            // It has memory of its own for what it sends.
            PacketOwner::Firmware | PacketOwner::Mapping => {}
        }
    }
}

enum CommandStart<'a> {
    Refuse(CommandOutcome),
    Gather(&'a [u8], usize),
}
