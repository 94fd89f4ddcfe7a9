//! Bus between host and NIC, with one DMA transfer at a time. I-5
//!
//! A transfer is timed as if nobody else used the bus. Where others do, it takes the bus burst by
//! burst, and each burst that waits delays what is left of it. I-7

use std::collections::VecDeque;

use codec::transport::{LogicalChannel, Nic};

use super::HostMessaging;
use super::costs::{MessageCosts, TransferMode};
use super::firmware::OutboundPacket;
use super::message::SharedMessage;
use super::serial_server::SerialServer;
use crate::transport::ProtocolPacket;

#[derive(Clone, Debug)]
pub(super) struct HostBus {
    /// Nothing completes with a message to the NIC: its packet was released.
    server: SerialServer<Option<BusTransfer>>,
    queue: VecDeque<(u64, BusTransfer)>,
    /// Packet that may leave from this time on, while its end may still be on the bus.
    release: Option<(u64, OutboundPacket)>,
    costs: MessageCosts,
    bursts: BurstsLeft,
}

/// Part of the current transfer that has not taken the bus yet.
#[derive(Clone, Copy, Debug, Default)]
struct BurstsLeft {
    /// Time of the next burst, unless the bus is in use.
    at: u64,
    /// Periods of the next burst, the first of them with the set-up.
    next: u64,
    /// Periods of all bursts.
    all: u64,
}

#[derive(Clone, Debug)]
pub(super) enum BusTransfer {
    Out(OutboundPacket),
    In(ProtocolPacket<SharedMessage>),
    Page,
}

impl HostBus {
    pub(super) fn new(costs: MessageCosts) -> Self {
        Self {
            server: SerialServer::default(),
            queue: VecDeque::new(),
            release: None,
            costs,
            bursts: BurstsLeft::default(),
        }
    }

    pub(super) fn push(&mut self, bytes: usize, transfer: BusTransfer) {
        self.queue.push_back((bytes as u64, transfer));
    }

    /// Number of messages in transfer to the host. Transfers to the NIC do not count: two hosts that
    /// send in step would refuse each other's messages for ever. T-6
    pub(super) fn incoming(&self) -> usize {
        self.transfers().filter(|transfer| matches!(transfer, BusTransfer::In(_))).count()
    }

    /// Tests whether a message of a logical channel is on its way to the host.
    pub(super) fn is_transferring(&self, source: Nic, channel: LogicalChannel) -> bool {
        self.transfers().any(|transfer| {
            matches!(transfer, BusTransfer::In(ProtocolPacket::Data(header, ..))
                if (header.source, header.channel) == (source, channel))
        })
    }

    /// The transfer that passes, and those that wait.
    fn transfers(&self) -> impl Iterator<Item = &BusTransfer> {
        let moving = self.server.job().into_iter().flatten();
        moving.chain(self.queue.iter().map(|(_, transfer)| transfer))
    }

    pub(super) fn begin(&mut self, now: u64) {
        if !self.server.is_idle() || self.release.is_some() {
            return;
        }
        let Some((bytes, transfer)) = self.queue.pop_front() else { return };
        let time = self.costs.transfer(bytes).max(1);
        let (time, done) = match transfer {
            BusTransfer::Out(queued) => {
                self.release = Some((now.saturating_add(self.lead(time, bytes)), queued));
                (time, None)
            }
            BusTransfer::In(_) => (self.lead(time, bytes), Some(transfer)),
            BusTransfer::Page => (time, Some(transfer)),
        };
        self.server.begin(now, time, done);
        let MessageCosts { bus_setup, bus_burst, .. } = self.costs;
        self.bursts = BurstsLeft { at: now, next: bus_setup.saturating_add(bus_burst), all: time };
    }

    /// Time at which the current transfer needs the bus for a burst.
    pub(super) fn burst_due(&self) -> Option<u64> {
        (self.bursts.all > 0).then_some(self.bursts.at)
    }

    /// Takes a bus that others use too for the burst that is due; returns true if it has to wait.
    /// `take` takes the bus from a time on for some periods, or returns the time of the next attempt.
    pub(super) fn take_burst(&mut self, take: impl FnOnce(u64, u64) -> Option<u64>) -> bool {
        let BurstsLeft { at, next, all } = self.bursts;
        let burst = next.clamp(1, all.max(1));
        if let Some(later) = take(at, burst) {
            let delay = later.saturating_sub(at);
            self.server.delay(delay);
            if let Some((release, _)) = self.release.as_mut().filter(|(release, _)| *release > at) {
                *release = release.saturating_add(delay);
            }
            self.bursts.at = later;
            return true;
        }
        let (at, all) = (at.saturating_add(burst), all.saturating_sub(burst));
        self.bursts = BurstsLeft { at, next: self.costs.bus_burst, all };
        false
    }

    /// Part of a transfer that cannot overlap with the wire, where a byte takes a period at the
    /// full rate.
    fn lead(&self, time: u64, bytes: u64) -> u64 {
        match self.costs.transfers {
            TransferMode::StoreAndForward => time,
            TransferMode::Pipelined => {
                time.saturating_sub(bytes).max(self.costs.bus_setup.min(time)).max(1)
            }
        }
    }

    pub(super) fn released(&mut self, now: u64) -> Option<OutboundPacket> {
        self.release.take_if(|(at, _)| *at <= now).map(|(_, queued)| queued)
    }

    pub(super) fn end(&mut self, now: u64) -> Option<BusTransfer> {
        self.server.end(now).flatten()
    }

    /// Time of the next completion or release.
    pub(super) fn due(&self) -> Option<u64> {
        let release = self.release.as_ref().map(|(at, _)| *at);
        release.into_iter().chain(self.server.due()).min()
    }

    pub(super) fn clear(&mut self) {
        self.server.stop();
        self.queue.clear();
        self.release = None;
        self.bursts = BurstsLeft::default();
    }

    pub(super) fn is_idle(&self) -> bool {
        self.server.is_idle() && self.queue.is_empty() && self.release.is_none()
    }

    pub(super) const fn busy(&self) -> u64 {
        self.server.busy()
    }
}

impl HostMessaging {
    /// Time at which the transfer between host and NIC needs the bus for its next burst, if others
    /// use the bus too. It is no event, which would end the polls of an empty queue. I-7, T-14
    pub(crate) fn burst_due(&self) -> Option<u64> {
        self.bus.burst_due()
    }

    /// Takes a bus that others use too, after the step to this time. `take` takes it from a time on
    /// for some periods, or returns the time of the next attempt. I-7
    pub(crate) fn take_bus(&mut self, now: u64, mut take: impl FnMut(u64, u64) -> Option<u64>) {
        while self.burst_due().is_some_and(|due| due <= now) {
            if self.bus.take_burst(&mut take) {
                self.plan(now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use codec::transport::{ChannelIncarnation, SequenceBit, TransportHeader, TransportTimestamp};

    use super::*;
    use crate::interface::HostShare;
    use crate::messaging::firmware::PacketMemory;
    use crate::truth::TransmissionAttempt;

    fn outgoing() -> BusTransfer {
        let header = TransportHeader {
            source: Nic(0),
            destination: Nic(1),
            channel: LogicalChannel(0),
            seq: SequenceBit::Zero,
            timestamp: TransportTimestamp(0),
            incarnation: ChannelIncarnation(0),
        };
        let (turn, memory) = (TransmissionAttempt::First, PacketMemory::Buffer);
        BusTransfer::Out(OutboundPacket { packet: ProtocolPacket::Ack(header), turn, memory })
    }

    /// Periods in which the last of an engine's bursts of 92 periods, the release of a packet of 640
    /// bytes and its transfer end, all from period 0 on; and the periods for which the bus was taken.
    fn run(transfers: TransferMode, engine_bursts: u64) -> ([u64; 3], u64) {
        let costs =
            MessageCosts { bus_setup: 640, bus_burst: 92, transfers, ..MessageCosts::default() };
        let (mut bus, mut share) = (HostBus::new(costs), HostShare::default());
        bus.push(640, outgoing());
        bus.begin(0);
        let (mut engine, mut left, mut taken, mut ends) = (0, engine_bursts, 0, [0; 3]);
        for now in 0..4000 {
            if left > 0 && now >= engine && share.take_bus(now, 0, now + 92) {
                (engine, left, taken) = (now + 92, left - 1, taken + 92);
                ends[0] = engine;
            }
            if bus.released(now).is_some() {
                ends[1] = now;
            }
            if ends[2] == 0 && bus.end(now).is_none() && bus.server.is_idle() {
                ends[2] = now;
            }
            while bus.burst_due().is_some_and(|due| due <= now) {
                bus.take_burst(|at, periods| {
                    let later = share.try_bus(at, 8, periods);
                    taken += if later.is_none() { periods } else { 0 };
                    later
                });
            }
            assert!(taken < now + 640 + 92 + 1, "no more than the bus has moved, at {now}");
        }
        (ends, taken)
    }

    #[test]
    fn a_bus_is_idle_when_nothing_waits_or_moves() {
        let transfers = TransferMode::Pipelined;
        let costs =
            MessageCosts { bus_setup: 640, bus_burst: 92, transfers, ..MessageCosts::default() };
        let mut bus = HostBus::new(costs);
        assert_eq!((bus.is_idle(), bus.due(), bus.burst_due()), (true, None, None));
        bus.push(640, outgoing());
        assert!(!bus.is_idle(), "a transfer waits");
        bus.begin(0);
        assert_eq!((bus.is_idle(), bus.due(), bus.burst_due()), (false, Some(920), Some(0)));
        assert_eq!(bus.busy(), 1560);
        bus.clear();
        assert_eq!((bus.is_idle(), bus.due(), bus.burst_due()), (true, None, None));
    }

    /// I-7. The transfer takes 640 periods and ten bursts of 92, and the set-up belongs to the first
    /// burst. The engine goes first, and then each has every other burst: the engine has its second
    /// after 92 + 732, the transfer its last when all are done. Pipelined, the packet leaves once the
    /// 640 periods of its bytes cover the rest, after 920 of its 1560 periods: in its fourth burst, before
    /// which it waits for four of the engine.
    #[test]
    fn a_transfer_and_an_engine_take_turns_at_the_bus_burst_by_burst() {
        let stored = TransferMode::StoreAndForward;
        assert_eq!(run(stored, 0), ([0, 1560, 1560], 1560), "alone");
        assert_eq!(run(TransferMode::Pipelined, 0), ([0, 920, 1560], 1560), "alone");
        assert_eq!(run(stored, 10), ([2480 - 92, 2480, 2480], 1560 + 920));
        assert_eq!(run(stored, 2), ([92 + 732 + 92, 1744, 1744], 1560 + 184));
        assert_eq!(run(TransferMode::Pipelined, 10), ([2388, 920 + 4 * 92, 2480], 2480));
    }
}
