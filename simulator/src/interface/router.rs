//! Interfaces at an end of a fibre between two networks: each packet is received whole by one, and
//! sent on by the other. N-5
//!
//! *Chosen*: the control program takes no time for it, and the packets of one port wait in the send
//! memory of the other. What finds no room there is lost, so that neither network waits for the other.

use std::collections::VecDeque;

use codec::mapping::InternetworkPacket;
use codec::route::PortId;
use serde::Serialize;

use super::HostInterface;
use super::control::ControlProgram;
use super::mapping_firmware::MappingFirmware;
use super::receive_engine::{InternetworkUse, ReceiveEngine, ServedTypes, StoredPacket};
use super::send_engine::{OutgoingPacket, PacketOwner, SendEngine, with_crc};
use crate::packet_types::PacketRoutine;
use crate::truth::{RouterNotice, RouterOutcome};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RouterPort {
    /// Port 0, in its network: a packet takes the route to the address that it carries.
    Network,
    /// Port 1: a packet crosses the fibre without a route.
    Fibre,
}

/// Counters of a router's interface, for the packets from its other port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RouterCounters {
    /// Packets sent on.
    pub forwarded: u64,
    /// Packets lost since their address is in no map of its network.
    pub unknown: u64,
    /// Packets lost for lack of memory.
    pub full: u64,
}

/// The part of a router's control program that passes packets on.
#[derive(Clone, Debug)]
pub(super) struct RouterFirmware {
    port: RouterPort,
    /// Packets from the other port, from tag to CRC byte, with the times from which they are here.
    arrived: VecDeque<(u64, Vec<u8>)>,
    /// Packets for the other port.
    passed: Vec<Vec<u8>>,
    notices: Vec<RouterNotice>,
    counters: RouterCounters,
}

impl RouterFirmware {
    /// Performs all work due by `now`; returns true if it has taken a packet.
    pub(super) fn work(
        &mut self,
        now: u64,
        control: &mut ControlProgram,
        (sending, receiving): (&mut SendEngine, &mut ReceiveEngine),
        mapping: Option<&MappingFirmware>,
    ) -> bool {
        let mut taken = false;
        while receiving.routine() == Some(PacketRoutine::Internetwork)
            && let Some(StoredPacket { bytes, .. }) = receiving.take()
        {
            self.passed.push(bytes);
            taken = true;
        }
        while let Some((ready, packet)) = self.arrived.pop_front_if(|(at, _)| *at <= now) {
            let Some(content) = packet.get(..packet.len().saturating_sub(1)) else { continue };
            let carried = InternetworkPacket::parse(content.get(1..).unwrap_or_default());
            // The receiving engine has checked it.
            let Ok(InternetworkPacket { destination, .. }) = carried else { continue };
            let route = match self.port {
                RouterPort::Fibre => Some(&[][..]),
                RouterPort::Network => mapping.and_then(|mapping| mapping.route_to(destination)),
            };
            let outcome = match route.map(|route| with_crc(&[route, content])) {
                None => RouterOutcome::Unknown,
                Some(bytes) if control.reserve(bytes.len()) => {
                    sending.push(OutgoingPacket { bytes, behalf: PacketOwner::Router, ready });
                    RouterOutcome::Forwarded
                }
                Some(_) => RouterOutcome::Full,
            };
            self.counters.count(outcome);
            self.notices.push(RouterNotice { destination, outcome });
        }
        taken
    }

    pub(super) fn due(&self) -> Option<u64> {
        self.arrived.front().map(|(at, _)| *at)
    }

    pub(super) fn drain_notices(&mut self) -> impl Iterator<Item = RouterNotice> {
        self.notices.drain(..)
    }

    /// Loses the packets that it has. R-3
    pub(super) fn reset(&mut self) {
        self.arrived.clear();
        self.passed.clear();
    }
}

impl RouterCounters {
    const fn count(&mut self, outcome: RouterOutcome) {
        match outcome {
            RouterOutcome::Forwarded => self.forwarded += 1,
            RouterOutcome::Unknown => self.unknown += 1,
            RouterOutcome::Full => self.full += 1,
        }
    }
}

impl HostInterface {
    /// Makes it the interface of a router's port.
    pub(crate) fn with_router(mut self, port: RouterPort) -> Self {
        self.place.port = match port {
            RouterPort::Network => PortId(0),
            RouterPort::Fibre => PortId(1),
        };
        let served =
            ServedTypes { internetwork: InternetworkUse::Passes, ..ServedTypes::default() };
        self.sending = SendEngine::new(self.place, Vec::new());
        self.receiving = ReceiveEngine::new(self.place, self.receiving.memory(), served);
        self.router = Some(Box::new(RouterFirmware {
            port,
            arrived: VecDeque::new(),
            passed: Vec::new(),
            notices: Vec::new(),
            counters: RouterCounters::default(),
        }));
        self
    }

    /// Removes the packets for the router's other port.
    pub(crate) fn take_passed(&mut self) -> Vec<Vec<u8>> {
        self.router.as_mut().map_or_else(Vec::new, |it| std::mem::take(&mut it.passed))
    }

    /// Adds packets from the router's other port, which are here from a time on.
    pub(crate) fn pass(&mut self, at: u64, packets: Vec<Vec<u8>>) {
        if let Some(router) = &mut self.router {
            router.arrived.extend(packets.into_iter().map(|packet| (at, packet)));
            self.due = self.due.min(at);
        }
    }

    /// Counters of a router's port, if it is one. N-5
    pub fn router(&self) -> Option<RouterCounters> {
        self.router.as_ref().map(|router| router.counters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    ///
    #[test]
    fn a_reset_loses_the_packets_in_either_direction() {
        let mut router = RouterFirmware {
            port: RouterPort::Fibre,
            arrived: VecDeque::from([(7, vec![5, 0xcc])]),
            passed: vec![vec![5, 0xcc]],
            notices: Vec::new(),
            counters: RouterCounters::default(),
        };
        assert_eq!(router.due(), Some(7));
        router.reset();
        assert_eq!((router.due(), router.passed.len()), (None, 0));
    }
}
