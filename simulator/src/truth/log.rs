//! Where circuits and nodes tell what happens to them.

use super::{Happened, What};
use crate::cell::PacketId;
use crate::topology::Port;

/// Rows on their way out: the driver of a simulation empties it after every period.
#[derive(Clone, Debug, Default)]
pub struct Log {
    wanted: Wanted,
    rows: Vec<Happened>,
}

/// Whether rows are wanted; otherwise they are not even made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// They are not.
    #[default]
    Nothing,
    /// They are.
    Everything,
}

impl Log {
    /// No rows yet.
    #[must_use]
    pub const fn new(wanted: Wanted) -> Self {
        Self { wanted, rows: Vec::new() }
    }

    /// Whether rows are wanted.
    #[must_use]
    pub const fn wanted(&self) -> Wanted {
        self.wanted
    }

    /// Adds a row, if rows are wanted.
    #[inline]
    pub fn tell(
        &mut self,
        at: u64,
        place: Port,
        packet: Option<PacketId>,
        what: impl FnOnce() -> What,
    ) {
        if self.wanted == Wanted::Everything {
            self.rows.push(Happened { at, place, packet, what: what() });
        }
    }

    /// Hands out the rows and forgets them.
    pub fn drain(&mut self) -> impl Iterator<Item = Happened> {
        self.rows.drain(..)
    }
}

/// A place and a time to tell of, and the channel's own time.
#[derive(Debug)]
pub struct Telling<'a> {
    /// Periods of the full rate.
    pub now: u64,
    /// Periods of the channel.
    pub slot: u64,
    /// The port.
    pub place: Port,
    /// Where it is told.
    pub log: &'a mut Log,
}

impl Telling<'_> {
    /// Tells what happened here and now.
    pub fn tell(&mut self, packet: Option<PacketId>, what: impl FnOnce() -> What) {
        self.log.tell(self.now, self.place, packet, what);
    }
}
