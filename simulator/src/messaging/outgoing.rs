//! Packets handed to the send engine of the interface. T-3, T-5, T-8

use codec::transport::Nic;

use super::HostMessaging;
use super::costs::ProtocolLayers;
use super::counters::reason_class;
use super::firmware::{OutboundPacket, micros};
use super::message;
use crate::transport::ProtocolPacket;
use crate::truth::{TransmissionAttempt, TransmissionKind};

/// Packet for the send engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessagingPacket {
    /// Destination NIC.
    pub to: Nic,
    /// Bytes of the transport packet.
    pub payload: Vec<u8>,
    /// Contents, for the truth.
    pub what: TransmissionKind,
}

impl HostMessaging {
    /// Takes the next packet for the send engine; the following one is available after
    /// [`HostMessaging::sent`]. [`HostMessaging::leaves`] updates its timestamp.
    pub fn take_outgoing(&mut self) -> Option<MessagingPacket> {
        self.firmware.take().map(outgoing)
    }

    /// Tests whether the packet in the send engine is still to be sent. If not, the engine may drop
    /// it before its first byte. T-5
    pub fn is_leaving(&self) -> bool {
        self.firmware.on_wire.as_ref().is_some_and(|queued| self.is_queued(&queued.packet))
    }

    /// Stamps the packet in the send engine, to whose destination no route leads: it counts as lost
    /// on its way, and is sent again after the timeout. T-10, N-2
    pub fn loses(&mut self, now: u64) -> Option<MessagingPacket> {
        let queued = self.firmware.on_wire.as_mut()?;
        match (self.parameters.layers, &mut queued.packet) {
            (ProtocolLayers::Baseline, ProtocolPacket::Data(header, ..)) => {
                header.timestamp = micros(now).timestamp();
            }
            (_, packet) => self.transport.on_leave(micros(now), packet),
        }
        Some(outgoing(queued))
    }

    /// Stamps the packet in the send engine as its first byte leaves the interface. T-3, T-8
    pub fn leaves(&mut self, now: u64) -> Option<MessagingPacket> {
        let outgoing = self.loses(now)?;
        let statistics = &mut self.statistics;
        match outgoing.what {
            TransmissionKind::Data { turn, .. } => {
                statistics.data_sent += 1;
                statistics.retransmitted += match turn {
                    TransmissionAttempt::First => 0,
                    TransmissionAttempt::Again => 1,
                };
            }
            TransmissionKind::Ack(_) => statistics.acks_sent += 1,
            TransmissionKind::Nack(_, reason) => {
                if let Some(count) = statistics.nacks_sent.get_mut(reason_class(reason)) {
                    *count += 1;
                }
            }
        }
        Some(outgoing)
    }
}

fn outgoing(queued: &OutboundPacket) -> MessagingPacket {
    let what = match &queued.packet {
        ProtocolPacket::Data(header, sync, letter) => TransmissionKind::Data {
            header: *header,
            sync: *sync,
            message: letter.id,
            turn: queued.turn,
        },
        ProtocolPacket::Ack(header) => TransmissionKind::Ack(*header),
        ProtocolPacket::Nack(header, reason) => TransmissionKind::Nack(*header, *reason),
    };
    let (to, payload) = message::emit_packet(&queued.packet);
    MessagingPacket { to, payload, what }
}
