//! The host behind the interface: generates the traffic, and reads received packets. I-6
//!
//! *Chosen*: the host is fast. It gives at most one command per period, reads acknowledgments in
//! the period in which they come, and posts every buffer again at once. Interrupts and checksums take
//! time of its processor if the scenario says so; meanwhile it gives no commands.

use std::collections::VecDeque;

use super::checksum::InternetChecksum;
use super::queues::{BUFFER, CommandOutcome, HostAcknowledgment, HostQueues, SendCommand};
use super::share::HostShare;
use super::software::gathered;
use super::{HostCosts, HostStatistics};
use crate::ip::{IpStack, SentBytes};
use crate::packet_types::{ANSWER, PacketRoutine};
use crate::rng::Rng;
use crate::topology::NodeId;
use crate::traffic::{
    CLOSED_BYTES_MIN, ChecksumMode, CommandForm, DrawnPacket, ReplayedPacket, SignalMode,
    StreamGenerator, TrafficStream, payload,
};
use crate::truth::InterruptCause;

const START: usize = CLOSED_BYTES_MIN as usize;

/// Maximum number of unanswered requests; further ones are refused. *Chosen* above all windows of
/// the hosts that may ask, so that only requests without a window reach it.
const ANSWERS: usize = 1 << 16;

/// A period of a host: its counters, and what it shares with other interfaces.
pub(super) struct HostPeriod<'a> {
    pub(super) now: u64,
    pub(super) statistics: &'a mut HostStatistics,
    pub(super) share: &'a mut HostShare,
}

impl HostPeriod<'_> {
    /// Makes the processor work this much longer.
    pub(super) const fn work(&mut self, time: u64) {
        self.share.work(self.now, time);
    }

    /// True while the processor works.
    const fn is_busy(&self) -> bool {
        self.now < self.share.busy
    }
}

#[derive(Debug)]
pub(super) struct TrafficHost {
    id: NodeId,
    machines: Vec<StreamGenerator>,
    /// The generator that is served first if several are due.
    turn: usize,
    /// Requests to answer.
    answers: VecDeque<ClosedLoopRequest>,
    /// Number of commands given.
    number: u32,
    pub(super) costs: HostCosts,
    /// A command whose checksum is done then.
    computed: Option<SendCommand>,
    interrupts: Vec<InterruptCause>,
    /// Interrupts that have taken no time yet.
    unserved: u64,
    /// Longest payload that fits the memory; longer ones are refused. I-5
    longest: u64,
    pub(super) ip: Option<Box<IpStack>>,
    /// Packets of recordings, in order of time. H-1
    pub(super) replay: VecDeque<ReplayedPacket>,
    /// Bytes over IP that have left the interface, if the host sends any.
    pub(super) sent: Option<SentBytes>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ClosedLoopRequest {
    /// Its first bytes, which the answer repeats.
    start: [u8; START],
    /// Bytes of its payload, and of the answer's.
    length: u32,
    /// Time at which the host has read it.
    at: u64,
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
    fn read(payload: &[u8], at: u64) -> Option<Self> {
        let start = *payload.first_chunk()?;
        Some(Self { start, length: u32::try_from(payload.len()).ok()?, at })
    }
}

impl TrafficHost {
    pub(super) fn new(
        (id, costs): (NodeId, HostCosts),
        streams: Vec<TrafficStream>,
        longest: u64,
        rng: Rng,
    ) -> Self {
        Self {
            id,
            machines: StreamGenerator::each(streams, rng).collect(),
            turn: 0,
            answers: VecDeque::new(),
            number: 0,
            costs,
            computed: None,
            interrupts: Vec::new(),
            unserved: 0,
            longest,
            ip: None,
            replay: VecDeque::new(),
            sent: None,
        }
    }

    /// Time of its next packet.
    pub(super) fn due(&self, share: &HostShare) -> Option<u64> {
        let due = if !self.answers.is_empty() || self.computed.is_some() {
            Some(0)
        } else {
            let stack = self.ip.iter().map(|stack| stack.due());
            let replay = self.replay.front().map(|packet| packet.at);
            self.machines.iter().filter_map(StreamGenerator::due).chain(stack).chain(replay).min()
        };
        due.map(|due| due.max(share.busy))
    }

    /// Interrupts the host's processor.
    pub(super) fn interrupt(&mut self, cause: InterruptCause) {
        self.interrupts.push(cause);
        self.unserved += 1;
    }

    /// Spends the time of new interrupts.
    fn serve_interrupts(&mut self, period: &mut HostPeriod<'_>) {
        period.work(self.costs.interrupt.saturating_mul(std::mem::take(&mut self.unserved)));
    }

    pub(super) fn drain_interrupts(&mut self) -> impl Iterator<Item = InterruptCause> {
        self.interrupts.drain(..)
    }

    /// Gives a command if the queue has room: answers first, then the packet that is due longest,
    /// in turn among equals.
    pub(super) fn step(&mut self, queues: &mut HostQueues, period: &mut HostPeriod<'_>) {
        self.serve_interrupts(period);
        if queues.is_full() || period.is_busy() {
            return;
        }
        let command = self.computed.take().or_else(|| match self.answers.pop_front() {
            Some(request) => {
                let length = request.length as usize;
                self.call(length, period);
                self.packet(length, ChecksumMode::None, period);
                Some(self.answer(request))
            }
            None => self
                .step_ip(period)
                .or_else(|| self.step_replay(period))
                .or_else(|| self.send(period)),
        });
        if period.is_busy() {
            self.computed = command;
            return;
        }
        queues.commands.extend(command);
    }

    fn answer(&mut self, request: ClosedLoopRequest) -> SendCommand {
        let (to, _) = request.parts();
        let (length, form) = (request.length, CommandForm::default());
        let packet = DrawnPacket { to, tag: ANSWER, length, ready: request.at, form };
        let number = self.next_number();
        self.command(number, packet, Some(request.start))
    }

    fn send(&mut self, period: &mut HostPeriod<'_>) -> Option<SendCommand> {
        let now = period.now;
        let count = self.machines.len();
        let order = (self.turn..count).chain(0..self.turn.min(count));
        let due = |at: &usize| self.machines.get(*at).and_then(StreamGenerator::due);
        let place = order.filter(|at| due(at).is_some_and(|due| due <= now)).min_by_key(due)?;
        self.turn = place + 1;
        let number = self.next_number();
        let machine = self.machines.get_mut(place)?;
        let packet = machine.draw(now, number)?;
        let is_numbered = machine.is_numbered();
        if u64::from(packet.length) > self.longest {
            period.statistics.refused += 1;
            machine.answered(now, number);
            return None;
        }
        let length = packet.length as usize;
        self.call(length, period);
        self.packet(length, packet.form.checksum, period);
        let start =
            is_numbered.then(|| ClosedLoopRequest::new(self.id, number, packet.length, now).start);
        Some(self.command(number, packet, start))
    }

    pub(super) fn next_number(&mut self) -> u32 {
        let number = self.number;
        self.number = number.wrapping_add(1);
        number
    }

    /// The command for a packet whose payload begins with `start`.
    fn command(&self, number: u32, packet: DrawnPacket, start: Option<[u8; START]>) -> SendCommand {
        let form = packet.form;
        let mut body = payload(self.id, number, packet.length);
        for (place, byte) in body.iter_mut().zip(start.into_iter().flatten()) {
            *place = byte;
        }
        let place = body.len().checked_sub(2);
        let checksum = match form.checksum {
            ChecksumMode::None => None,
            ChecksumMode::Host | ChecksumMode::Nic => place,
        };
        body.iter_mut().skip(checksum.unwrap_or(usize::MAX)).for_each(|byte| *byte = 0);
        let checksum = checksum.filter(|place| {
            if form.checksum == ChecksumMode::Host {
                InternetChecksum::of(&body).insert(&mut body, *place);
            }
            form.checksum == ChecksumMode::Nic
        });
        // A request's first bytes are a block of their own.
        gathered(number, packet, (&body, start.map_or(0, |_| START)), checksum)
    }

    /// Reads the acknowledgments.
    pub(super) fn read(&mut self, queues: &mut HostQueues, period: &mut HostPeriod<'_>) {
        let now = period.now;
        while let Some(acknowledgment) = queues.acknowledgments.pop_front() {
            match acknowledgment {
                HostAcknowledgment::Ended { number, interrupt, outcome } => {
                    if interrupt {
                        self.interrupt(InterruptCause::Command);
                    }
                    match outcome {
                        CommandOutcome::Sent => {}
                        CommandOutcome::Cut => self.answered(now, number),
                        CommandOutcome::NoRoute | CommandOutcome::TooLong => {
                            period.statistics.refused += 1;
                            self.answered(now, number);
                        }
                    }
                }
                HostAcknowledgment::Arrived { routine, payload } => {
                    queues.posted += payload.len().div_ceil(BUFFER);
                    self.receive(routine, payload.len(), period);
                    if self.costs.arrivals == SignalMode::Interrupt {
                        self.interrupt(InterruptCause::Packet);
                    }
                    self.arrived(routine, payload, period);
                }
            }
        }
        self.serve_interrupts(period);
    }

    fn arrived(&mut self, routine: PacketRoutine, payload: Vec<u8>, period: &mut HostPeriod<'_>) {
        let now = period.now;
        match routine {
            PacketRoutine::Deliver
            | PacketRoutine::Relay
            | PacketRoutine::Transport
            | PacketRoutine::Mapping
            | PacketRoutine::Internetwork => {}
            PacketRoutine::Ip => {
                if let Some(stack) = &mut self.ip {
                    stack.arrived(now, payload);
                }
            }
            PacketRoutine::Request => {
                // An answer to the host itself would be a multicast of its own.
                let other = |request: &ClosedLoopRequest| request.parts().0 != self.id;
                match ClosedLoopRequest::read(&payload, now).filter(other) {
                    Some(_) if self.answers.len() >= ANSWERS => period.statistics.refused += 1,
                    request => self.answers.extend(request),
                }
            }
            PacketRoutine::Answer => {
                let answer = ClosedLoopRequest::read(&payload, now).map(|answer| answer.parts());
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
        self.computed = None;
        self.machines.iter_mut().for_each(|machine| machine.forget(now));
    }

    /// Restarts after a loss of power: forgets the requests, and skips what was due meanwhile.
    pub(super) fn power_on(&mut self, now: u64) {
        self.answers.clear();
        self.reset(now);
        self.machines.iter_mut().for_each(|machine| machine.skip(now));
        self.ip.iter_mut().for_each(|stack| stack.skip(now));
        while self.replay.pop_front_if(|packet| packet.at < now).is_some() {}
    }
}
