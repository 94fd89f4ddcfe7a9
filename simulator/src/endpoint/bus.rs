//! The bus between host and NIC, which moves one thing after the other by DMA. I-5

use std::collections::VecDeque;

use codec::transport::{LogicalChannel, Nic};

use super::costs::{Costs, Transfers};
use super::firmware::Queued;
use super::parcel::Letter;
use super::server::Server;
use crate::transport::Packet;

/// The bus, and what waits for it. Its queue is bounded by the NIC's memory.
#[derive(Clone, Debug)]
pub(super) struct Bus {
    server: Server<Done>,
    queue: VecDeque<(u64, Transfer)>,
    /// A packet that may leave from then on, though its end may still be on the bus.
    release: Option<(u64, Queued)>,
    costs: Costs,
}

/// What moves.
#[derive(Clone, Debug)]
pub(super) enum Transfer {
    /// A message's bytes, to the NIC.
    Out(Queued),
    /// A message's bytes, to the host.
    In(Packet<Letter>),
    /// An endpoint, into its frame or out of it. T-15
    Page,
}

/// What has moved.
#[derive(Clone, Debug)]
pub(super) enum Done {
    /// A message's bytes, to the NIC: the packet was released.
    Out,
    /// A message's bytes, to the host.
    In(Packet<Letter>),
    /// An endpoint.
    Page,
}

impl Bus {
    pub(super) fn new(costs: Costs) -> Self {
        Self { server: Server::default(), queue: VecDeque::new(), release: None, costs }
    }

    /// Adds so many bytes to what is to be moved.
    pub(super) fn push(&mut self, bytes: usize, transfer: Transfer) {
        self.queue.push_back((bytes as u64, transfer));
    }

    /// Messages that wait to be moved to the host, and one more if anything is moving.
    pub(super) fn incoming(&self) -> usize {
        let waiting = self.queue.iter().filter(|(_, transfer)| match transfer {
            Transfer::In(_) => true,
            Transfer::Out(_) | Transfer::Page => false,
        });
        waiting.count() + usize::from(!self.server.is_idle())
    }

    /// Whether a message of a logical channel waits to be moved to the host, or is moving.
    pub(super) fn brings(&self, source: Nic, channel: LogicalChannel) -> bool {
        let its = |packet: &Packet<Letter>| match packet {
            Packet::Data(header, ..) => (header.source, header.channel) == (source, channel),
            Packet::Ack(_) | Packet::Nack(..) => false,
        };
        let moving = self.server.job().is_some_and(|done| match done {
            Done::In(packet) => its(packet),
            Done::Out | Done::Page => false,
        });
        moving
            || self.queue.iter().any(|(_, transfer)| match transfer {
                Transfer::In(packet) => its(packet),
                Transfer::Out(_) | Transfer::Page => false,
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
            Transfer::Out(queued) => {
                self.release = Some((now.saturating_add(self.lead(time, bytes)), queued));
                (time, Done::Out)
            }
            Transfer::In(packet) => (self.lead(time, bytes), Done::In(packet)),
            Transfer::Page => (time, Done::Page),
        };
        self.server.begin(now, time, done);
    }

    /// Of a transfer, what does not happen while the packet is on the wire: there a byte takes a
    /// period, at the full rate.
    fn lead(&self, time: u64, bytes: u64) -> u64 {
        match self.costs.transfers {
            Transfers::StoreAndForward => time,
            Transfers::Pipelined => {
                time.saturating_sub(bytes).max(self.costs.bus_setup.min(time)).max(1)
            }
        }
    }

    /// The packet that may leave by now.
    pub(super) fn released(&mut self, now: u64) -> Option<Queued> {
        self.release.take_if(|(at, _)| *at <= now).map(|(_, queued)| queued)
    }

    /// What has moved by now.
    pub(super) fn end(&mut self, now: u64) -> Option<Done> {
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
