//! Firmware of the NIC: one processor that receives and answers packets, scans, and sends for the
//! scheduler. T-5..T-8, T-10, T-14

use std::collections::VecDeque;

use codec::transport::MessageRole;

use super::costs::ProtocolLayers;
use super::endpoint_queues::SendPath;
use super::message::SharedMessage;
use super::scheduler::{
    EndpointScheduler, EndpointSupply, HeaderState, LoiterState, SchedulerChoice,
};
use super::serial_server::SerialServer;
use super::{HostMessaging, MICROSECOND};
use crate::arena::{EndpointNumber, PartNumber};
use crate::transport::{Micros, ProtocolPacket};
use crate::truth::{MessageId, ReturnCause, TransmissionAttempt};

/// Unprocessed incoming packets that the NIC holds. *Chosen*: twice what four senders have in
/// flight.
const RING: usize = 32;

/// Packets ready for the send engine: one leaves, the next waits. *Chosen*
const OUTBOX: usize = 2;

/// Answers waiting to be built; at this limit no data packet is accepted. *Chosen*
const ANSWERS: usize = 32;

/// Messages in transfer to the host: one moves, the next waits. *Chosen*
const INCOMING: usize = 2;

#[derive(Clone, Debug)]
pub(super) struct MessagingFirmware {
    pub(super) processor: SerialServer<FirmwareWork>,
    scheduler: EndpointScheduler,
    pub(super) arrived: VecDeque<ProtocolPacket<SharedMessage>>,
    pub(super) answers: VecDeque<ProtocolPacket<SharedMessage>>,
    again: VecDeque<OutboundPacket>,
    pub(super) outbox: VecDeque<OutboundPacket>,
    pub(super) on_wire: Option<OutboundPacket>,
    /// Free buffers for medium and bulk packets.
    buffers: u8,
    side: FirmwareSide,
    /// Start of loitering. T-14
    looking: Option<u64>,
    /// End of loitering if nothing happens.
    until: Option<u64>,
}

#[derive(Clone, Debug)]
pub(super) enum FirmwareWork {
    TakeIn(ProtocolPacket<SharedMessage>),
    Answer(ProtocolPacket<SharedMessage>),
    Scan,
    Again(OutboundPacket),
    Send { endpoint: EndpointNumber, message: MessageId, memory: PacketMemory, state: HeaderState },
    Look(LoiterState),
}

enum EndpointTurn {
    Begin(FirmwareWork),
    Return(EndpointNumber, SharedMessage),
}

#[derive(Clone, Debug)]
pub(super) struct OutboundPacket {
    /// Packet as on the wire, except for the timestamp, which is set when it leaves. T-8
    pub packet: ProtocolPacket<SharedMessage>,
    pub turn: TransmissionAttempt,
    pub memory: PacketMemory,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PacketMemory {
    /// The endpoint's frame; answers need none.
    Own,
    Buffer,
}

/// Sides of the firmware, served alternately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FirmwareSide {
    In,
    Out,
}

/// Time on the NIC's clock. T-8
pub(super) const fn micros(now: u64) -> Micros {
    Micros(now / MICROSECOND)
}

impl MessagingFirmware {
    pub(super) fn new(scheduler: EndpointScheduler, buffers: u8) -> Self {
        Self {
            processor: SerialServer::default(),
            scheduler,
            arrived: VecDeque::new(),
            answers: VecDeque::new(),
            again: VecDeque::new(),
            outbox: VecDeque::new(),
            on_wire: None,
            // One at least, or nothing could ever be sent.
            buffers: buffers.max(1),
            side: FirmwareSide::In,
            looking: None,
            until: None,
        }
    }

    pub(super) fn has_room(&self) -> bool {
        self.arrived.len() < RING
    }

    pub(super) fn take(&mut self) -> Option<&OutboundPacket> {
        if self.on_wire.is_some() {
            return None;
        }
        self.on_wire = self.outbox.pop_front();
        self.on_wire.as_ref()
    }

    pub(super) fn sent(&mut self) {
        if let Some(queued) = self.on_wire.take() {
            self.give_back(queued.memory);
        }
    }

    pub(super) fn due(&self) -> Option<u64> {
        self.processor.due().or(self.until)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.processor.is_idle()
            && self.arrived.is_empty()
            && self.answers.is_empty()
            && self.again.is_empty()
            && self.outbox.is_empty()
            && self.on_wire.is_none()
    }

    pub(super) const fn is_busy(&self) -> bool {
        !self.processor.is_idle() || self.until.is_some()
    }

    /// Reserves a buffer for a message that needs one, of which there is one.
    fn reserve(&mut self, letter: &SharedMessage) -> PacketMemory {
        if letter.is_transferred() {
            self.buffers = self.buffers.saturating_sub(1);
            PacketMemory::Buffer
        } else {
            PacketMemory::Own
        }
    }

    pub(super) const fn give_back(&mut self, memory: PacketMemory) {
        match memory {
            PacketMemory::Own => {}
            PacketMemory::Buffer => self.buffers = self.buffers.saturating_add(1),
        }
    }

    pub(super) fn send_again(&mut self, packet: ProtocolPacket<SharedMessage>) {
        self.again.push_back(OutboundPacket {
            packet,
            turn: TransmissionAttempt::Again,
            memory: PacketMemory::Own,
        });
    }

    /// Drops waiting packets that are no longer to be sent. T-5
    pub(super) fn drop_old(&mut self, is_queued: impl Fn(&ProtocolPacket<SharedMessage>) -> bool) {
        self.again.retain(|queued| is_queued(&queued.packet));
        for _ in 0..self.outbox.len() {
            match self.outbox.pop_front() {
                Some(queued) if is_queued(&queued.packet) => self.outbox.push_back(queued),
                Some(queued) => self.give_back(queued.memory),
                None => {}
            }
        }
    }

    /// Starts to poll an empty queue: once if a packet has arrived, to the end of the turn if
    /// another endpoint waits, else until something happens. T-14
    fn loiter(&mut self, now: u64, look: u64, LoiterState { left, others_wait }: LoiterState) {
        let looks = if self.arrived.is_empty() { others_wait.then_some(left) } else { Some(1) };
        self.looking = Some(now);
        self.until = looks.map(|looks| now.saturating_add(look.saturating_mul(looks.into())));
        self.side = FirmwareSide::In;
    }

    /// Counts the polls so far; one in progress is finished first. T-14
    fn is_done_looking(&mut self, now: u64, look: u64) -> bool {
        let Some(since) = self.looking else { return true };
        let looks = now.saturating_sub(since).div_ceil(look);
        let end = since.saturating_add(looks.saturating_mul(look));
        if end > now {
            self.until = Some(end);
            return false;
        }
        self.scheduler.count_looks(looks);
        self.looking = None;
        self.until = None;
        true
    }

    fn has_outbox(&self) -> bool {
        self.outbox.len() + usize::from(self.on_wire.is_some()) < OUTBOX
    }

    /// Next incoming packet, if there is room for its effects.
    fn next_in(&mut self, incoming: usize) -> Option<FirmwareWork> {
        let room = match self.arrived.front()? {
            ProtocolPacket::Data(_, _, letter) => {
                self.answers.len() < ANSWERS && !(letter.is_transferred() && incoming >= INCOMING)
            }
            ProtocolPacket::Ack(_) | ProtocolPacket::Nack(..) => true,
        };
        if room { self.arrived.pop_front().map(FirmwareWork::TakeIn) } else { None }
    }

    fn next_again(&mut self) -> Option<FirmwareWork> {
        let ProtocolPacket::Data(_, _, letter) = &self.again.front()?.packet else { return None };
        if letter.is_transferred() && self.buffers == 0 {
            return None;
        }
        let letter = letter.clone();
        let queued = self.again.pop_front()?;
        Some(FirmwareWork::Again(OutboundPacket { memory: self.reserve(&letter), ..queued }))
    }
}

impl HostMessaging {
    /// Assigns work to the idle NIC processor: first answers, which make room at the other end,
    /// then a due scan, then packets in and out alternately.
    pub(super) fn begin_firmware(&mut self) {
        let now = self.clock;
        let look = self.costs.look.max(1);
        if now < self.ready.max(self.reserved)
            || !self.firmware.processor.is_idle()
            || !self.firmware.is_done_looking(now, look)
        {
            return;
        }
        let work =
            self.next_answer().or_else(|| self.next_scan()).or_else(|| match self.firmware.side {
                FirmwareSide::In => self.next_in().or_else(|| self.next_out()),
                FirmwareSide::Out => self.next_out().or_else(|| self.next_in()),
            });
        let Some(work) = work else { return };
        let layers = self.parameters.layers;
        let time = match &work {
            FirmwareWork::TakeIn(ProtocolPacket::Data(..)) => self.costs.receiving(layers),
            FirmwareWork::TakeIn(ProtocolPacket::Ack(_) | ProtocolPacket::Nack(..)) => {
                self.costs.answer_receive
            }
            FirmwareWork::Answer(_) => self.costs.answer_send,
            FirmwareWork::Scan => self.costs.scan,
            FirmwareWork::Again(_) => self.costs.sending(layers, HeaderState::Built),
            FirmwareWork::Send { state, .. } => self.costs.sending(layers, *state),
            FirmwareWork::Look(loitering) => return self.firmware.loiter(now, look, *loitering),
        };
        self.firmware.side = match &work {
            FirmwareWork::TakeIn(_) => FirmwareSide::Out,
            FirmwareWork::Again(_) | FirmwareWork::Send { .. } => FirmwareSide::In,
            FirmwareWork::Answer(_) | FirmwareWork::Scan | FirmwareWork::Look(_) => {
                self.firmware.side
            }
        };
        self.firmware.processor.begin(now, time, work);
    }

    fn next_answer(&mut self) -> Option<FirmwareWork> {
        let answer =
            if self.firmware.has_outbox() { self.firmware.answers.pop_front() } else { None };
        answer.map(FirmwareWork::Answer)
    }

    fn next_scan(&self) -> Option<FirmwareWork> {
        self.transport
            .due()
            .is_some_and(|due| due <= micros(self.clock))
            .then_some(FirmwareWork::Scan)
    }

    fn next_in(&mut self) -> Option<FirmwareWork> {
        let incoming = if self.parameters.dma.is_none() { self.bus.incoming() } else { 0 };
        self.firmware.next_in(incoming)
    }

    /// Next packet to send: retransmissions before new messages.
    fn next_out(&mut self) -> Option<FirmwareWork> {
        while self.firmware.has_outbox() {
            if let Some(work) = self.firmware.next_again() {
                return Some(work);
            }
            match self.choose()? {
                EndpointTurn::Begin(work) => return Some(work),
                EndpointTurn::Return(endpoint, letter) => {
                    self.bring_back(endpoint, letter, ReturnCause::Unreachable);
                }
            }
        }
        None
    }

    /// Turn of the current endpoint. T-2, T-3, T-11, T-14
    ///
    /// Reading: a NIC has no path to itself, and the last free of several logical channels is
    /// reserved for replies. Otherwise requests refused for full queues at both ends could occupy
    /// all channels, and no reply could empty a queue.
    fn choose(&mut self) -> Option<EndpointTurn> {
        let Self { firmware, endpoints, transport, protocol, routes, nic, .. } = self;
        let is_reliable = self.parameters.layers != ProtocolLayers::Baseline;
        let buffers = firmware.buffers;
        let path = |letter: &SharedMessage| {
            let (to, _) = letter.to;
            let reserved = u32::from(letter.role == MessageRole::Request && protocol.channels > 1);
            let has_channel = !is_reliable || transport.free_channels(to) > reserved;
            if to == *nic
                || is_reliable && to.0 >= protocol.nics
                || routes.as_ref().is_some_and(|routes| !routes.contains(&to))
            {
                SendPath::None
            } else if has_channel && (buffers > 0 || !letter.is_transferred()) {
                SendPath::Open
            } else {
                SendPath::Blocked
            }
        };
        let supply = |place| endpoints[EndpointNumber::at(place)].queue_supply(path);
        match firmware.scheduler.choose(endpoints.len(), supply) {
            SchedulerChoice::Send(place, state) => {
                let endpoint = EndpointNumber::at(place);
                let (letter, path) = endpoints[endpoint].pick(path)?;
                if path == SendPath::None {
                    return Some(EndpointTurn::Return(endpoint, letter));
                }
                let (message, memory) = (letter.id, firmware.reserve(&letter));
                Some(EndpointTurn::Begin(FirmwareWork::Send { endpoint, message, memory, state }))
            }
            SchedulerChoice::Look(left) => {
                let others_wait =
                    (0..endpoints.len()).any(|place| supply(place) == EndpointSupply::Ready);
                Some(EndpointTurn::Begin(FirmwareWork::Look(LoiterState { left, others_wait })))
            }
            SchedulerChoice::Nothing => None,
        }
    }
}
