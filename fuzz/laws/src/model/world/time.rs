//! Time, which has no beginning here: states that differ only in when they came are one.

use std::rc::Rc;

use codec::transport::{Header, Timestamp};
use simulator::transport::{Micros, Packet};

use super::World;
use crate::model::plan::{Message, Side};

/// How time is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reckoning {
    /// Every step begins at the same time, and what came before moves back.
    Relative,
    /// Clocks run.
    Absolute,
}

/// What is told of a transmission that is not the latest of what is outstanding.
const LONG_AGO: Timestamp = Timestamp(1 << 20);

/// When what was transmitted long ago was: longer ago than any timeout of a walk. A message that was
/// refused waits for as long as its endpoint leaves. T-13
const OLDEST: Micros = Micros(World::ORIGIN.0 - 8);

impl World {
    /// Moves everything back to when every step begins.
    pub(super) fn rewind(&mut self, by: Micros) {
        let then = |at: Timestamp| {
            Timestamp(at.0.saturating_sub(by.timestamp().0).max(OLDEST.timestamp().0))
        };
        for side in Side::BOTH {
            let station = Rc::make_mut(self.stations.of_mut(side));
            station.transport.earlier(by, OLDEST);
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
    /// outstanding. Nothing can tell any more: a timestamp is only compared with that of the latest, and
    /// no later one will be as old. T-8
    pub(super) fn forget_times(&mut self) {
        for side in Side::BOTH {
            let path = self.paths.of(side);
            let is_latest = |packet: &Packet<Message>| {
                let (header, sender) = match packet {
                    Packet::Data(header, ..) => (*header, side.other()),
                    Packet::Ack(header) | Packet::Nack(header, _) => (header.answer(), side),
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

const fn header_mut(packet: &mut Packet<Message>) -> &mut Header {
    match packet {
        Packet::Data(header, ..) | Packet::Ack(header) | Packet::Nack(header, _) => header,
    }
}
