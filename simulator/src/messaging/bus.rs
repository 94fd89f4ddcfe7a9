//! The bus between host and NIC, which moves one thing after the other by DMA. I-5

use std::collections::VecDeque;

use codec::transport::{LogicalChannel, Nic};

use super::costs::{MessageCosts, TransferMode};
use super::firmware::OutboundPacket;
use super::message::SharedMessage;
use super::serial_server::SerialServer;
use crate::transport::ProtocolPacket;

/// The bus, and what waits for it. Its queue is bounded by the NIC's memory.
#[derive(Clone, Debug)]
pub(super) struct HostBus {
    server: SerialServer<BusCompletion>,
    queue: VecDeque<(u64, BusTransfer)>,
    /// A packet that may leave from then on, though its end may still be on the bus.
    release: Option<(u64, OutboundPacket)>,
    costs: MessageCosts,
}

/// What moves.
#[derive(Clone, Debug)]
pub(super) enum BusTransfer {
    /// A message's bytes, to the NIC.
    Out(OutboundPacket),
    /// A message's bytes, to the host.
    In(ProtocolPacket<SharedMessage>),
    /// An endpoint, into its frame or out of it. T-15
    Page,
}

/// What has moved.
#[derive(Clone, Debug)]
pub(super) enum BusCompletion {
    /// A message's bytes, to the NIC: the packet was released.
    Out,
    /// A message's bytes, to the host.
    In(ProtocolPacket<SharedMessage>),
    /// An endpoint.
    Page,
}

impl HostBus {
    pub(super) fn new(costs: MessageCosts) -> Self {
        Self { server: SerialServer::default(), queue: VecDeque::new(), release: None, costs }
    }

    /// Adds so many bytes to what is to be moved.
    pub(super) fn push(&mut self, bytes: usize, transfer: BusTransfer) {
        self.queue.push_back((bytes as u64, transfer));
    }

    /// Messages that wait to be moved to the host, and one more if anything is moving.
    pub(super) fn incoming(&self) -> usize {
        let waiting = self.queue.iter().filter(|(_, transfer)| match transfer {
            BusTransfer::In(_) => true,
            BusTransfer::Out(_) | BusTransfer::Page => false,
        });
        waiting.count() + usize::from(!self.server.is_idle())
    }

    /// Whether a message of a logical channel waits to be moved to the host, or is moving.
    pub(super) fn is_transferring(&self, source: Nic, channel: LogicalChannel) -> bool {
        let its = |packet: &ProtocolPacket<SharedMessage>| match packet {
            ProtocolPacket::Data(header, ..) => {
                (header.source, header.channel) == (source, channel)
            }
            ProtocolPacket::Ack(_) | ProtocolPacket::Nack(..) => false,
        };
        let moving = self.server.job().is_some_and(|done| match done {
            BusCompletion::In(packet) => its(packet),
            BusCompletion::Out | BusCompletion::Page => false,
        });
        moving
            || self.queue.iter().any(|(_, transfer)| match transfer {
                BusTransfer::In(packet) => its(packet),
                BusTransfer::Out(_) | BusTransfer::Page => false,
            })
    }

    /// Begins with what waits, if it is idle.
    pub(super) fn begin(&mut self, now: u64) {
        if !self.server.is_idle() || self.release.is_some() {
            return;
        }
        let Some((bytes, transfer)) = self.queue.pop_front() else { return };
        let time = self.costs.transfer(bytes).max(1);
        let (time, done) = match transfer {
            BusTransfer::Out(queued) => {
                self.release = Some((now.saturating_add(self.lead(time, bytes)), queued));
                (time, BusCompletion::Out)
            }
            BusTransfer::In(packet) => (self.lead(time, bytes), BusCompletion::In(packet)),
            BusTransfer::Page => (time, BusCompletion::Page),
        };
        self.server.begin(now, time, done);
    }

    /// Of a transfer, what does not happen while the packet is on the wire: there a byte takes a
    /// period, at the full rate.
    fn lead(&self, time: u64, bytes: u64) -> u64 {
        match self.costs.transfers {
            TransferMode::StoreAndForward => time,
            TransferMode::Pipelined => {
                time.saturating_sub(bytes).max(self.costs.bus_setup.min(time)).max(1)
            }
        }
    }

    /// The packet that may leave by now.
    pub(super) fn released(&mut self, now: u64) -> Option<OutboundPacket> {
        self.release.take_if(|(at, _)| *at <= now).map(|(_, queued)| queued)
    }

    /// What has moved by now.
    pub(super) fn end(&mut self, now: u64) -> Option<BusCompletion> {
        self.server.end(now)
    }

    /// When something has moved, or a packet may leave.
    pub(super) fn due(&self) -> Option<u64> {
        let release = self.release.as_ref().map(|(at, _)| *at);
        release.into_iter().chain(self.server.due()).min()
    }

    /// All is lost.
    pub(super) fn clear(&mut self) {
        self.server.stop();
        self.queue.clear();
        self.release = None;
    }

    /// Whether nothing moves or waits.
    pub(super) fn is_idle(&self) -> bool {
        self.server.is_idle() && self.queue.is_empty() && self.release.is_none()
    }

    /// How long it has been busy.
    pub(super) const fn busy(&self) -> u64 {
        self.server.busy()
    }
}
