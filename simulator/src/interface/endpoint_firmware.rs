//! The firmware that serves a host's endpoints, between the engines: it gets the received transport
//! packets, and its own packets get route, tag and CRC byte. T-5, T-7, P-1

use codec::transport::TAG;

use super::control::ControlProgram;
use super::parameters::{DmaBus, InterfaceParameters};
use super::processor::FirmwareUse;
use super::receive_engine::ReceiveEngine;
use super::send_engine::{OutgoingPacket, PacketOwner, SendEngine, with_crc};
use super::share::{HostShare, PLACES};
use crate::messaging::{HostMessaging, MessagingEvent, TransmissionKind};
use crate::packet_types::PacketRoutine;
use crate::topology::NodeId;

/// The firmware, and its packet in the sending engine.
#[derive(Clone, Debug)]
pub(super) struct EndpointFirmware {
    messaging: HostMessaging,
    line: FirmwareSlot,
    /// Route of the packet in the sending engine: others may be installed meanwhile.
    route: Vec<u8>,
    events: Vec<MessagingEvent>,
    /// Its turn at the host's bus, for which nobody waits if it is ideal. I-7
    turn: Option<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FirmwareSlot {
    Free,
    Busy,
    /// The packet has gone, which the firmware has not processed yet.
    Left,
}

impl EndpointFirmware {
    pub(super) fn new(mut messaging: HostMessaging, parameters: &InterfaceParameters) -> Self {
        messaging.boot(parameters.first_boot());
        let turn = match parameters.bus {
            DmaBus::Ideal => None,
            DmaBus::SBus | DmaBus::Mode(_) => Some(PLACES + parameters.place.index),
        };
        Self { messaging, line: FirmwareSlot::Free, route: Vec::new(), events: Vec::new(), turn }
    }

    pub(super) const fn messaging(&self) -> &HostMessaging {
        &self.messaging
    }

    pub(super) const fn messaging_mut(&mut self) -> &mut HostMessaging {
        &mut self.messaging
    }

    pub(super) fn processor_use(&self) -> FirmwareUse {
        self.messaging.processing_until().map_or(FirmwareUse::Idle, FirmwareUse::Busy)
    }

    pub(super) fn drain_events(&mut self) -> impl Iterator<Item = MessagingEvent> {
        self.events.drain(..)
    }

    /// Performs all work due by `now` while the control program runs.
    pub(super) fn work(
        &mut self,
        now: u64,
        control: &ControlProgram,
        engines: (&mut SendEngine, &mut ReceiveEngine),
        share: &mut HostShare,
    ) {
        let Self { messaging, line, route, events, turn } = self;
        let (sending, receiving) = engines;
        if *line == FirmwareSlot::Left {
            *line = FirmwareSlot::Free;
            messaging.sent(now);
        }
        messaging.step(now, events);
        while messaging.has_room()
            && receiving.routine() == Some(PacketRoutine::Transport)
            && let Some(packet) = receiving.take()
        {
            messaging.receive(now, packet.payload(), events);
        }
        messaging.step(now, events);
        // Its ACK has come before it has begun: it need not go. T-5
        if *line == FirmwareSlot::Busy && !messaging.is_leaving() && sending.withdraw() {
            *line = FirmwareSlot::Free;
            messaging.sent(now);
            messaging.step(now, events);
        }
        if *line == FirmwareSlot::Free
            && let Some(outgoing) = messaging.take_outgoing()
        {
            *line = match control.route(NodeId(outgoing.to.0.into())) {
                Some(found) => {
                    *route = found.to_vec();
                    let bytes = with_crc(&[route, &[TAG], &outgoing.payload]);
                    let behalf = PacketOwner::Firmware;
                    sending.push(OutgoingPacket { bytes, behalf, ready: now });
                    FirmwareSlot::Busy
                }
                // Reading: an answer that no route leads back for is not sent. T-11
                None => {
                    messaging.loses(now);
                    FirmwareSlot::Left
                }
            };
        }
        if let Some(turn) = *turn {
            messaging.take_bus(now, |at, periods| share.try_bus(at, turn, periods));
        }
    }

    /// Stamps the packet whose first byte leaves the sending engine; returns its bytes on the wire
    /// and its kind. T-3, T-8
    pub(super) fn leaves(&mut self, now: u64) -> Option<(Vec<u8>, TransmissionKind)> {
        let outgoing = self.messaging.leaves(now)?;
        Some((with_crc(&[&self.route, &[TAG], &outgoing.payload]), outgoing.what))
    }

    pub(super) fn due(&self) -> Option<u64> {
        match self.line {
            FirmwareSlot::Free | FirmwareSlot::Busy => {
                let burst = self.turn.and_then(|_| self.messaging.burst_due());
                self.messaging.due().into_iter().chain(burst).min()
            }
            FirmwareSlot::Left => Some(0),
        }
    }

    /// Records that its packet has left the sending engine, or was given up there.
    pub(super) const fn left(&mut self) {
        self.line = FirmwareSlot::Left;
    }

    /// Restarts with empty engines; the control program runs from `ready` on. I-3
    pub(super) fn restart(&mut self, now: u64, ready: u64) {
        self.line = FirmwareSlot::Free;
        self.messaging.restart(now, ready, &mut self.events);
    }
}
