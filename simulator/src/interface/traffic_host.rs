//! The host behind the interface: generates the traffic, and reads received packets. I-6
//!
//! *Chosen*: the host is fast. It gives at most one command per period, reads acknowledgments in
//! the period in which they come, and posts every buffer again at once: only the interface and the
//! network are measured.

use super::HostStatistics;
use super::queues::{
    BoundedQueue, CommandOutcome, EndedCommand, HostAcknowledgment, HostBuffer, SendCommand,
};
use crate::packet_types::{ANSWER, PacketRoutine};
use crate::rng::Rng;
use crate::topology::NodeId;
use crate::traffic::{CLOSED_BYTES_MIN, DrawnPacket, StreamGenerator, TrafficStream};

const START: usize = CLOSED_BYTES_MIN as usize;

/// Size of a receive buffer, in bytes: half a page. *Chosen*
pub(super) const BUFFER: usize = 4096;

/// Maximum number of unanswered requests; further ones are refused. *Chosen* above all windows of
/// the hosts that may ask, so that only requests without a window reach it.
const ANSWERS: usize = 1 << 16;

/// The queues between a host and its interface. I-6
#[derive(Clone, Debug)]
pub(super) struct HostQueues {
    /// From the host.
    pub commands: BoundedQueue<SendCommand>,
    /// To the host.
    pub acknowledgments: BoundedQueue<HostAcknowledgment>,
    /// Empty receive buffers, from the host.
    pub posted: BoundedQueue<HostBuffer>,
}

/// A host and its traffic.
#[derive(Clone, Debug)]
pub(super) struct TrafficHost {
    id: NodeId,
    machines: Vec<StreamGenerator>,
    /// The generator that is served first if several are due.
    turn: usize,
    /// Requests to answer.
    answers: BoundedQueue<ClosedLoopRequest>,
    /// Number of commands given.
    number: u32,
    /// Longest payload that fits the memory; longer ones are refused. I-5
    longest: u32,
}

/// A request of a closed loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ClosedLoopRequest {
    /// Its first bytes, which the answer repeats.
    start: [u8; START],
    /// Bytes of its payload, and of the answer's.
    length: u32,
    /// Time at which the host has read it.
    at: u64,
}

/// Payload of a host's command: a function of the host, the number of the command and the position.
#[must_use]
pub fn payload(host: NodeId, number: u32, length: u32) -> Vec<u8> {
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let mut rng = Rng::new(u64::from(host.0), u64::from(number));
    let mut bytes = Vec::with_capacity(length.saturating_add(8));
    while bytes.len() < length {
        bytes.extend_from_slice(&rng.next_u64().to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

impl ClosedLoopRequest {
    /// The requesting host, and the number of its command.
    fn parts(&self) -> (NodeId, u32) {
        let [a, b, c, d, e, f, g, h] = self.start;
        (NodeId(u32::from_be_bytes([a, b, c, d])), u32::from_be_bytes([e, f, g, h]))
    }

    fn new(host: NodeId, number: u32, length: u32, at: u64) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (host.0.to_be_bytes(), number.to_be_bytes());
        Self { start: [a, b, c, d, e, f, g, h], length, at }
    }

    /// Reads the request from its payload, if that is long enough.
    fn read(buffers: &[HostBuffer], at: u64) -> Option<Self> {
        let length: usize = buffers.iter().map(|buffer| buffer.bytes.len()).sum();
        let bytes = buffers.iter().flat_map(|buffer| &buffer.bytes);
        let start: Vec<u8> = bytes.take(START).copied().collect();
        let start = <[u8; START]>::try_from(start).ok()?;
        Some(Self { start, length: u32::try_from(length).ok()?, at })
    }
}

impl HostQueues {
    pub(super) fn new(commands: u32, receive_memory: u32) -> Self {
        let buffers = receive_memory as usize / BUFFER + 1;
        let mut posted = BoundedQueue::new(buffers);
        while posted.push(HostBuffer::new(BUFFER)).is_ok() {}
        Self {
            commands: BoundedQueue::new(commands as usize),
            // A command ends, a packet arrives and the host reads, in every period at most once.
            acknowledgments: BoundedQueue::new(4),
            posted,
        }
    }
}

impl TrafficHost {
    pub(super) fn new(id: NodeId, streams: Vec<TrafficStream>, longest: u32, mut rng: Rng) -> Self {
        let machine =
            |(stream, rng): (TrafficStream, u64)| StreamGenerator::new(stream, Rng::new(rng, 0));
        let rng = std::iter::repeat_with(|| rng.next_u64());
        let machines = streams.into_iter().zip(rng).map(machine).collect();
        Self { id, machines, turn: 0, answers: BoundedQueue::new(ANSWERS), number: 0, longest }
    }

    /// Time of its next packet.
    pub(super) fn due(&self) -> Option<u64> {
        if self.answers.first().is_none() {
            self.machines.iter().filter_map(StreamGenerator::due).min()
        } else {
            Some(0)
        }
    }

    /// Gives a command if the queue has room: answers first, then the packet that is due longest,
    /// in turn among equals.
    pub(super) fn step(
        &mut self,
        now: u64,
        queues: &mut HostQueues,
        statistics: &mut HostStatistics,
    ) {
        if queues.commands.is_full() {
            return;
        }
        let command = match self.answers.pop() {
            Some(request) => Some(self.answer(request)),
            None => self.send(now, statistics),
        };
        // It has a place.
        command.map(|command| queues.commands.push(command));
    }

    fn answer(&mut self, request: ClosedLoopRequest) -> SendCommand {
        let (to, _) = request.parts();
        let packet = DrawnPacket { to, tag: ANSWER, length: request.length, ready: request.at };
        let number = self.next_number();
        self.command(number, packet, Some(request.start))
    }

    fn send(&mut self, now: u64, statistics: &mut HostStatistics) -> Option<SendCommand> {
        let count = self.machines.len();
        let order = (self.turn..count).chain(0..self.turn.min(count));
        let due = |at: &usize| self.machines.get(*at).and_then(StreamGenerator::due);
        let place = order.filter(|at| due(at).is_some_and(|due| due <= now)).min_by_key(due)?;
        self.turn = place + 1;
        let number = self.next_number();
        let machine = self.machines.get_mut(place)?;
        let packet = machine.draw(now, number)?;
        let is_closed = machine.is_closed();
        if packet.length > self.longest {
            statistics.refused += 1;
            machine.answered(now, number);
            return None;
        }
        let start =
            is_closed.then(|| ClosedLoopRequest::new(self.id, number, packet.length, now).start);
        Some(self.command(number, packet, start))
    }

    fn next_number(&mut self) -> u32 {
        let number = self.number;
        self.number = number.wrapping_add(1);
        number
    }

    /// The command for a packet whose payload begins with `start`, in a block of its own.
    fn command(&self, number: u32, packet: DrawnPacket, start: Option<[u8; START]>) -> SendCommand {
        let mut body = payload(self.id, number, packet.length);
        let gather = match start {
            None => vec![body],
            Some(start) => {
                body.drain(..START.min(body.len()));
                vec![start.to_vec(), body]
            }
        };
        let DrawnPacket { to, tag, ready, .. } = packet;
        SendCommand { number, gather, checksum: None, to, tag, ready, interrupt: false }
    }

    /// Reads the acknowledgments.
    pub(super) fn read(
        &mut self,
        now: u64,
        queues: &mut HostQueues,
        statistics: &mut HostStatistics,
    ) {
        while let Some(acknowledgment) = queues.acknowledgments.pop() {
            match acknowledgment {
                HostAcknowledgment::Ended(EndedCommand { number, interrupt, outcome }) => {
                    statistics.interrupts += u64::from(interrupt);
                    match outcome {
                        CommandOutcome::Sent => {}
                        CommandOutcome::Cut => self.answered(now, number),
                        CommandOutcome::NoRoute | CommandOutcome::TooLong => {
                            statistics.refused += 1;
                            self.answered(now, number);
                        }
                    }
                }
                HostAcknowledgment::Arrived { routine, buffers, .. } => {
                    self.arrived(now, routine, &buffers, statistics);
                    for mut buffer in buffers {
                        buffer.bytes.clear();
                        // Only as many go round as the queue has places.
                        queues.posted.push(buffer).err();
                    }
                }
            }
        }
    }

    fn arrived(
        &mut self,
        now: u64,
        routine: PacketRoutine,
        buffers: &[HostBuffer],
        statistics: &mut HostStatistics,
    ) {
        match routine {
            PacketRoutine::Deliver | PacketRoutine::Transport | PacketRoutine::Mapping => {}
            PacketRoutine::Request => {
                let waits =
                    ClosedLoopRequest::read(buffers, now).map(|request| self.answers.push(request));
                statistics.refused += u64::from(waits.is_some_and(|waits| waits.is_err()));
            }
            PacketRoutine::Answer => {
                let answer = ClosedLoopRequest::read(buffers, now).map(|answer| answer.parts());
                if let Some((asker, number)) = answer
                    && asker == self.id
                {
                    self.answered(now, number);
                }
            }
        }
    }

    fn answered(&mut self, now: u64, number: u32) {
        self.machines.iter_mut().for_each(|machine| machine.answered(now, number));
    }

    /// Gives up all requests without an answer, since the interface has lost its packets.
    pub(super) fn reset(&mut self, now: u64) {
        self.machines.iter_mut().for_each(|machine| machine.forget(now));
    }

    /// Restarts after a loss of power: forgets the requests, and skips what was due meanwhile.
    pub(super) fn power_on(&mut self, now: u64) {
        self.answers.clear();
        self.reset(now);
        self.machines.iter_mut().for_each(|machine| machine.skip(now));
    }
}
