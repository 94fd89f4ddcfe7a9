//! Time, which has no beginning here: states that differ only in when they came are one.

use std::rc::Rc;

use codec::transport::{TransportHeader, TransportTimestamp};
use simulator::transport::{Micros, ProtocolPacket};

use super::ModelState;
use crate::model::plan::{ModelMessage, ModelSide};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelClock {
    /// Every step begins at the same time, and what came before moves back.
    Relative,
    Absolute,
}

/// Timestamp of a transmission that is not the latest of an outstanding message.
const LONG_AGO: TransportTimestamp = TransportTimestamp(1 << 20);

/// Time when what was transmitted long ago was: longer ago than any timeout of a walk. A message that was
/// refused waits for as long as its endpoint leaves. T-13
const OLDEST: Micros = Micros(ModelState::ORIGIN.0 - 8);

impl ModelState {
    /// Moves everything back to when every step begins.
    pub(super) fn rewind(&mut self, by: Micros) {
        let then = |at: TransportTimestamp| {
            TransportTimestamp(at.0.saturating_sub(by.timestamp().0).max(OLDEST.timestamp().0))
        };
        for side in ModelSide::BOTH {
            let station = Rc::make_mut(self.stations.of_mut(side));
            station.transport.shift_back(by, OLDEST);
            station.ledger.earlier(then);
            let path = self.paths.of_mut(side);
            if !path.is_empty() {
                for packet in Rc::make_mut(path) {
                    let timestamp = &mut header_mut(packet).timestamp;
                    if *timestamp != LONG_AGO {
                        *timestamp = then(*timestamp);
                    }
                }
            }
        }
        self.now = Self::ORIGIN;
    }

    /// Forgets when packets were transmitted that are not the latest transmission of what is
    /// outstanding. Nothing depends on it: a timestamp is only compared with that of the latest, and
    /// no later one will be as old. T-8
    pub(super) fn forget_times(&mut self) {
        for side in ModelSide::BOTH {
            let path = self.paths.of(side);
            let is_latest = |packet: &ProtocolPacket<ModelMessage>| {
                let (header, sender) = match packet {
                    ProtocolPacket::Data(header, ..) => (*header, side.other()),
                    ProtocolPacket::Ack(header) | ProtocolPacket::Nack(header, _) => {
                        (header.answer(), side)
                    }
                };
                let own = self.stations.of(sender).ledger.on(header.channel);
                header.timestamp == LONG_AGO || own.is_some_and(|own| own.latest == Some(header))
            };
            if path.iter().all(is_latest) {
                continue;
            }
            let latest: Vec<bool> = path.iter().map(is_latest).collect();
            let path = Rc::make_mut(self.paths.of_mut(side));
            for (packet, latest) in path.iter_mut().zip(latest) {
                if !latest {
                    header_mut(packet).timestamp = LONG_AGO;
                }
            }
        }
    }
}

const fn header_mut(packet: &mut ProtocolPacket<ModelMessage>) -> &mut TransportHeader {
    match packet {
        ProtocolPacket::Data(header, ..)
        | ProtocolPacket::Ack(header)
        | ProtocolPacket::Nack(header, _) => header,
    }
}
