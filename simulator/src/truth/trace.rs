//! The log of events, and the context in which they are emitted.

use super::{TruthEvent, TruthEventKind};
use crate::link::tagged_char::PacketId;
use crate::topology::NodePort;

/// Events not yet drained; the driver of a simulation drains them regularly.
#[derive(Clone, Debug, Default)]
pub struct TruthLog {
    level: TraceLevel,
    events: Vec<TruthEvent>,
}

/// Amount of events to log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TraceLevel {
    /// None; they are not even created.
    #[default]
    Nothing,
    /// All of them.
    Everything,
}

impl TruthLog {
    /// An empty log.
    #[must_use]
    pub const fn new(level: TraceLevel) -> Self {
        Self { level, events: Vec::new() }
    }

    pub(crate) const fn level(&self) -> TraceLevel {
        self.level
    }

    /// Adds an event, if events are logged.
    #[inline]
    pub(crate) fn emit(
        &mut self,
        at: u64,
        place: NodePort,
        packet: Option<PacketId>,
        kind: impl FnOnce() -> TruthEventKind,
    ) {
        if self.level == TraceLevel::Everything {
            self.events.push(TruthEvent { at, place, packet, kind: kind() });
        }
    }

    /// Removes all events.
    pub fn drain(&mut self) -> impl Iterator<Item = TruthEvent> {
        self.events.drain(..)
    }
}

/// Time and place of a port's events.
#[derive(Debug)]
pub struct TraceContext<'a> {
    /// Periods of the full rate.
    pub now: u64,
    /// Periods of the channel.
    pub slot: u64,
    /// The port.
    pub place: NodePort,
    /// The log that takes the events.
    pub log: &'a mut TruthLog,
}

impl TraceContext<'_> {
    /// Emits an event at this time and place.
    pub(crate) fn emit(&mut self, packet: Option<PacketId>, kind: impl FnOnce() -> TruthEventKind) {
        self.log.emit(self.now, self.place, packet, kind);
    }
}
