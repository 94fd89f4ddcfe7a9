//! Where circuits and nodes tell what happens to them.

use super::{TruthEvent, TruthEventKind};
use crate::link::tagged_char::PacketId;
use crate::topology::NodePort;

/// Rows on their way out: the driver of a simulation empties it after every period.
#[derive(Clone, Debug, Default)]
pub struct TruthLog {
    level: TraceLevel,
    rows: Vec<TruthEvent>,
}

/// Whether rows are wanted; otherwise they are not even made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TraceLevel {
    /// They are not.
    #[default]
    Nothing,
    /// They are.
    Everything,
}

impl TruthLog {
    /// No rows yet.
    #[must_use]
    pub const fn new(level: TraceLevel) -> Self {
        Self { level: level, rows: Vec::new() }
    }

    /// Whether rows are wanted.
    #[must_use]
    pub const fn level(&self) -> TraceLevel {
        self.level
    }

    /// Adds a row, if rows are wanted.
    #[inline]
    pub fn emit(
        &mut self,
        at: u64,
        place: NodePort,
        packet: Option<PacketId>,
        what: impl FnOnce() -> TruthEventKind,
    ) {
        if self.level == TraceLevel::Everything {
            self.rows.push(TruthEvent { at, place, packet, kind: what() });
        }
    }

    /// Hands out the rows and forgets them.
    pub fn drain(&mut self) -> impl Iterator<Item = TruthEvent> {
        self.rows.drain(..)
    }
}

/// A place and a time to tell of, and the channel's own time.
#[derive(Debug)]
pub struct TraceContext<'a> {
    /// Periods of the full rate.
    pub now: u64,
    /// Periods of the channel.
    pub slot: u64,
    /// The port.
    pub place: NodePort,
    /// Where it is told.
    pub log: &'a mut TruthLog,
}

impl TraceContext<'_> {
    /// Tells what happened here and now.
    pub fn emit(&mut self, packet: Option<PacketId>, what: impl FnOnce() -> TruthEventKind) {
        self.log.emit(self.now, self.place, packet, what);
    }
}
