//! Bus between host and NIC, with one DMA transfer at a time. I-5

use std::collections::VecDeque;

use codec::transport::{LogicalChannel, Nic};

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
}

#[derive(Clone, Debug)]
pub(super) enum BusTransfer {
    Out(OutboundPacket),
    In(ProtocolPacket<SharedMessage>),
    Page,
}

impl HostBus {
    pub(super) fn new(costs: MessageCosts) -> Self {
        Self { server: SerialServer::default(), queue: VecDeque::new(), release: None, costs }
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
    }

    pub(super) fn is_idle(&self) -> bool {
        self.server.is_idle() && self.queue.is_empty() && self.release.is_none()
    }

    pub(super) const fn busy(&self) -> u64 {
        self.server.busy()
    }
}
