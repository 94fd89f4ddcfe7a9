//! The NIC's firmware: one processor that takes packets in, answers them, scans, and sends what the
//! scheduler chooses. T-5..T-8, T-10, T-14

use std::collections::VecDeque;

use super::loiter::{Loitering, Others};
use super::parcel::Letter;
use super::queue::Pick;
use super::scheduler::{Choice, HeaderState, Scheduler, Supply};
use super::server::Server;
use super::told::{MessageId, Turn, Why};
use super::ways::Ways;
use super::{MICROSECOND, Messaging, Told};
use crate::transport::{Micros, Packet};

/// Packets that the NIC holds which came in and were not looked at. *Chosen*: twice what four senders
/// have in flight.
const RING: usize = 32;

/// Packets that are ready for the sending engine: one leaves, the next waits. *Chosen*
const OUTBOX: usize = 2;

/// Answers that wait to be built; while there are as many no data packet is taken. *Chosen*
const ANSWERS: usize = 32;

/// Messages on their way to the host: one moves, the next waits. *Chosen*
const INCOMING: usize = 2;

/// The firmware of a NIC.
#[derive(Clone, Debug)]
pub(super) struct Firmware {
    processor: Server<Work>,
    pub(super) scheduler: Scheduler,
    arrived: VecDeque<Packet<Letter>>,
    answers: VecDeque<Packet<Letter>>,
    /// Packets to be sent again. T-10
    again: VecDeque<Queued>,
    outbox: VecDeque<Queued>,
    /// The packet that the sending engine has, if any.
    pub(super) on_wire: Option<Queued>,
    /// Memory for medium and bulk packets on their way out.
    buffers: u8,
    /// What comes first, if there is a packet to take in and one to send.
    side: Side,
    /// Since when it looks at an empty queue, again and again. T-14
    pub(super) looking: Option<u64>,
    /// When it is to go on although nothing happens meanwhile.
    pub(super) until: Option<u64>,
}

/// What the processor works on.
#[derive(Clone, Debug)]
pub(super) enum Work {
    /// A packet that came in.
    TakeIn(Packet<Letter>),
    /// An ACK or a NACK.
    Answer(Packet<Letter>),
    /// A scan. T-10
    Scan,
    /// A packet that is sent again.
    Again(Queued),
    /// A message of an endpoint.
    Send { endpoint: usize, message: MessageId, memory: Memory, state: HeaderState },
    /// Looks at an empty queue. T-14
    Look(Loitering),
}

/// What the NIC does in the turn of an endpoint. T-14
enum EndpointTurn {
    /// A message goes, or goes back.
    Send(usize, Pick, HeaderState),
    /// Its queue is empty.
    Look(Loitering),
}

/// A packet on its way to the sending engine.
#[derive(Clone, Debug)]
pub(super) struct Queued {
    /// As on the wire, but for its timestamp: it gets that as it leaves. T-8
    pub packet: Packet<Letter>,
    /// Whether its message was sent before.
    pub turn: Turn,
    /// The memory that it has.
    pub memory: Memory,
}

/// Whether a packet takes one of the send buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    /// It is in its endpoint's frame, or an answer.
    Own,
    /// It does.
    Buffer,
}

/// Two sides of the firmware, served in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    In,
    Out,
}

/// Time on the NIC's clock. T-8
pub(super) const fn micros(now: u64) -> Micros {
    Micros(now / MICROSECOND)
}

impl Firmware {
    pub(super) fn new(scheduler: Scheduler, buffers: u8) -> Self {
        Self {
            processor: Server::default(),
            scheduler,
            arrived: VecDeque::new(),
            answers: VecDeque::new(),
            again: VecDeque::new(),
            outbox: VecDeque::new(),
            on_wire: None,
            // One at least, or nothing could ever be sent.
            buffers: buffers.max(1),
            side: Side::In,
            looking: None,
            until: None,
        }
    }

    /// Whether there is room for a packet that comes in.
    pub(super) fn has_room(&self) -> bool {
        self.arrived.len() < RING
    }

    /// Whether a packet waits to be taken in.
    pub(super) fn has_arrivals(&self) -> bool {
        !self.arrived.is_empty()
    }

    /// Packets in come next.
    pub(super) const fn turn_in(&mut self) {
        self.side = Side::In;
    }

    /// A packet has come in.
    pub(super) fn arrive(&mut self, packet: Packet<Letter>) {
        self.arrived.push_back(packet);
    }

    /// The next packet for the sending engine, if it has none.
    pub(super) fn take(&mut self) -> Option<&Queued> {
        if self.on_wire.is_some() {
            return None;
        }
        self.on_wire = self.outbox.pop_front();
        self.on_wire.as_ref()
    }

    /// The sending engine is done.
    pub(super) fn sent(&mut self) {
        if let Some(queued) = self.on_wire.take() {
            self.give_back(queued.memory);
        }
    }

    /// When it has something to do by itself.
    pub(super) fn due(&self) -> Option<u64> {
        self.processor.due().or(self.until)
    }

    /// Whether nothing is in it.
    pub(super) fn is_idle(&self) -> bool {
        self.processor.is_idle()
            && self.arrived.is_empty()
            && self.answers.is_empty()
            && self.again.is_empty()
            && self.outbox.is_empty()
            && self.on_wire.is_none()
    }

    /// Whether it is working on something until a time that is known.
    pub(super) const fn is_busy(&self) -> bool {
        !self.processor.is_idle() || self.until.is_some()
    }

    /// How long its processor has been busy.
    pub(super) const fn busy(&self) -> u64 {
        self.processor.busy()
    }

    /// Takes memory for a message on its way out, if it needs some: [`Ways`] has looked.
    fn reserve(&mut self, letter: &Letter) -> Memory {
        if letter.is_transferred() {
            self.buffers = self.buffers.saturating_sub(1);
            Memory::Buffer
        } else {
            Memory::Own
        }
    }

    const fn give_back(&mut self, memory: Memory) {
        match memory {
            Memory::Own => {}
            Memory::Buffer => self.buffers = self.buffers.saturating_add(1),
        }
    }
}

impl Firmware {
    /// A packet waits to be sent again.
    pub(super) fn send_again(&mut self, packet: Packet<Letter>) {
        self.again.push_back(Queued { packet, turn: Turn::Again, memory: Memory::Own });
    }

    /// Drops what waits and need not leave any more. T-5
    pub(super) fn drop_old(&mut self, is_queued: impl Fn(&Packet<Letter>) -> bool) {
        self.again.retain(|queued| is_queued(&queued.packet));
        for _ in 0..self.outbox.len() {
            match self.outbox.pop_front() {
                Some(queued) if is_queued(&queued.packet) => self.outbox.push_back(queued),
                Some(queued) => self.give_back(queued.memory),
                None => {}
            }
        }
    }

    /// An answer waits to be built.
    pub(super) fn answer(&mut self, packet: Packet<Letter>) {
        self.answers.push_back(packet);
    }

    /// A packet is ready for the sending engine.
    pub(super) fn ready(&mut self, queued: Queued) {
        self.outbox.push_back(queued);
    }

    /// What was to be sent is not.
    pub(super) const fn abandon(&mut self, memory: Memory) {
        self.give_back(memory);
    }

    /// What the processor is done with by now.
    pub(super) fn end(&mut self, now: u64) -> Option<Work> {
        self.processor.end(now)
    }

    /// Whether a packet can be added to those that are ready.
    fn has_outbox(&self) -> bool {
        self.outbox.len() + usize::from(self.on_wire.is_some()) < OUTBOX
    }

    /// The next packet to take in, unless it would have to wait for room behind it.
    fn next_in(&mut self, incoming: usize) -> Option<Work> {
        let room = match self.arrived.front()? {
            Packet::Data(_, _, letter) => {
                self.answers.len() < ANSWERS && !(letter.is_transferred() && incoming >= INCOMING)
            }
            Packet::Ack(_) | Packet::Nack(..) => true,
        };
        if room { self.arrived.pop_front().map(Work::TakeIn) } else { None }
    }

    /// The next packet to send again.
    fn next_again(&mut self) -> Option<Work> {
        let Packet::Data(_, _, letter) = &self.again.front()?.packet else { return None };
        if letter.is_transferred() && self.buffers == 0 {
            return None;
        }
        let letter = letter.clone();
        let queued = self.again.pop_front()?;
        Some(Work::Again(Queued { memory: self.reserve(&letter), ..queued }))
    }
}

impl Messaging {
    /// Gives the NIC's processor something to do, if it is idle: first answers, which make room at
    /// the other end, then a scan that is due, then packets in and out by turns.
    pub(super) fn begin_firmware(&mut self, now: u64, told: &mut Vec<Told>) {
        let look = self.costs.look.max(1);
        if now < self.ready
            || !self.firmware.processor.is_idle()
            || !self.firmware.is_done_looking(now, look)
        {
            return;
        }
        let work = self.next_answer().or_else(|| self.next_scan(now)).or_else(|| {
            match self.firmware.side {
                Side::In => self.next_in().or_else(|| self.next_out(now, told)),
                Side::Out => self.next_out(now, told).or_else(|| self.next_in()),
            }
        });
        let Some(work) = work else { return };
        let layers = self.parameters.layers;
        let time = match &work {
            Work::TakeIn(Packet::Data(..)) => self.costs.receiving(layers),
            Work::TakeIn(Packet::Ack(_) | Packet::Nack(..)) => self.costs.answer_receive,
            Work::Answer(_) => self.costs.answer_send,
            Work::Scan => self.costs.scan,
            Work::Again(_) => self.costs.sending(layers, HeaderState::Built),
            Work::Send { state, .. } => self.costs.sending(layers, *state),
            Work::Look(loitering) => return self.firmware.loiter(now, look, *loitering),
        };
        self.firmware.side = match &work {
            Work::TakeIn(_) => Side::Out,
            Work::Again(_) | Work::Send { .. } => Side::In,
            Work::Answer(_) | Work::Scan | Work::Look(_) => self.firmware.side,
        };
        self.firmware.processor.begin(now, time, work);
    }

    fn next_answer(&mut self) -> Option<Work> {
        if !self.firmware.has_outbox() {
            return None;
        }
        self.firmware.answers.pop_front().map(Work::Answer)
    }

    fn next_scan(&self, now: u64) -> Option<Work> {
        self.transport.due().is_some_and(|due| due <= micros(now)).then_some(Work::Scan)
    }

    fn next_in(&mut self) -> Option<Work> {
        let incoming = if self.parameters.dma.is_none() { self.bus.incoming() } else { 0 };
        self.firmware.next_in(incoming)
    }

    /// What is sent next: what is sent again before what is new.
    fn next_out(&mut self, now: u64, told: &mut Vec<Told>) -> Option<Work> {
        while self.firmware.has_outbox() {
            if let Some(work) = self.firmware.next_again() {
                return Some(work);
            }
            let (endpoint, pick, state) = match self.choose()? {
                EndpointTurn::Send(endpoint, pick, state) => (endpoint, pick, state),
                EndpointTurn::Look(loitering) => return Some(Work::Look(loitering)),
            };
            match pick {
                Pick::Send(letter) => {
                    let memory = self.firmware.reserve(&letter);
                    return Some(Work::Send { endpoint, message: letter.id, memory, state });
                }
                Pick::Nowhere(letter) => {
                    self.bring_back(now, endpoint, (letter, Why::Unreachable), told);
                }
            }
        }
        None
    }

    /// The endpoint whose turn it is, and what it sends. T-14
    fn choose(&mut self) -> Option<EndpointTurn> {
        let Self { firmware, endpoints, transport, .. } = self;
        let ways = Ways {
            nic: self.nic,
            nics: self.protocol.nics,
            channels: self.protocol.channels,
            routes: self.routes.as_ref(),
            layers: self.parameters.layers,
            transport,
            buffers: firmware.buffers,
        };
        let way = |to, letter: &Letter| ways.way(to, letter);
        let supply = |place: usize| {
            endpoints.get(place).map_or(Supply::Away, |endpoint| endpoint.supply(way))
        };
        match firmware.scheduler.choose(endpoints.len(), supply) {
            Choice::Send(place, state) => {
                let pick = endpoints.get(place)?.pick(way)?;
                Some(EndpointTurn::Send(place, pick, state))
            }
            Choice::Look(left) => {
                let waits = (0..endpoints.len()).any(|place| supply(place) == Supply::Ready);
                let others = if waits { Others::Wait } else { Others::Nothing };
                Some(EndpointTurn::Look(Loitering { left, others }))
            }
            Choice::Nothing => None,
        }
    }
}
