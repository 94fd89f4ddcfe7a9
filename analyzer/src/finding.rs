//! What is odd about a capture: counted by kind and channel, the first of each kept with its details.

mod kind;
mod ledger;
mod network;
mod row;
mod spoken;
mod watch;
mod wire;

use std::collections::{BTreeMap, BTreeSet};

use codec::capture::{Channel, ChannelId, Chunk};

pub use self::kind::{ALL, About, Kind, Severity};
use self::ledger::Scribe;
pub use self::ledger::{Counts, Fact, Found, Ledger, Occurrence, Talked, Value};
pub use self::row::{FindingRow, First, Said, ranked};
use self::watch::Watch;
use self::wire::Wire;
use crate::timeline::Row;

/// All findings so far, counted by kind and channel: memory does not grow with their number.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    ledger: Ledger,
    sides: BTreeMap<ChannelId, Side>,
    /// Channels of whose slack buffers the capture tells all.
    told: BTreeSet<ChannelId>,
    /// Channels of the section by their names.
    names: BTreeMap<String, ChannelId>,
    /// Channels that were captured at both ends: of their packets only one capture has the rest.
    twins: BTreeSet<ChannelId>,
}

/// One channel on its way.
#[derive(Clone, Debug)]
struct Side {
    peer: Option<ChannelId>,
    period_ps: u64,
    wire: Wire,
    watch: Watch,
}

impl Findings {
    /// Adds a channel.
    pub fn declare(&mut self, id: ChannelId, channel: &Channel) {
        let side = Side {
            peer: None,
            period_ps: channel.period_ps.get(),
            wire: Wire::default(),
            watch: Watch::new(channel),
        };
        self.sides.insert(id, side);
        self.ledger.seen.channels += 1;
    }

    /// Makes two channels the directions of a link.
    pub fn join(&mut self, one: ChannelId, other: ChannelId) {
        for (id, peer) in [(one, other), (other, one)] {
            let opposite_ps = self.sides.get(&peer).map(|side| side.period_ps);
            if let (Some(side), Some(opposite_ps)) = (self.sides.get_mut(&id), opposite_ps) {
                side.peer = Some(peer);
                side.watch.join(side.period_ps, opposite_ps);
                self.ledger.seen.paired += 1;
            }
        }
    }

    /// What the characters of a chunk say; comes before the rows that they bring.
    pub fn feed(&mut self, id: ChannelId, chunk: &Chunk<'_>) {
        let Self { ledger, sides, .. } = self;
        if let Some(side) = sides.get_mut(&id) {
            let mut scribe = Scribe { ledger, channel: id, period_ps: side.period_ps };
            side.wire.feed(chunk, &mut scribe);
        }
    }

    /// What a row says; rows come in order of time.
    pub fn row(&mut self, row: &Row) {
        let Self { ledger, sides, .. } = self;
        let Some(side) = sides.get_mut(&row.channel) else { return };
        let mut scribe = Scribe { ledger, channel: row.channel, period_ps: side.period_ps };
        if side.peer.is_some() {
            side.watch.expire(row.at, &mut scribe);
        }
        side.watch.row(row, &mut scribe);
        let (peer, period_ps) = (side.peer, side.period_ps);
        let odd = peer.and_then(|peer| sides.get_mut(&peer)?.watch.opposite(&row.what));
        if let Some(kind) = odd {
            Scribe { ledger, channel: row.channel, period_ps }.note(kind, row.at, Vec::new);
        }
    }

    /// The recording of the link ends.
    pub fn finish(&mut self) {
        let Self { ledger, sides, .. } = self;
        for (id, side) in sides {
            let mut scribe = Scribe { ledger, channel: *id, period_ps: side.period_ps };
            if side.peer.is_none() {
                scribe.note(Kind::OneWay, side.watch.first(), Vec::new);
            } else {
                side.watch.expire(side.wire.next(), &mut scribe);
            }
            side.watch.finish(side.wire.next(), &mut scribe);
        }
    }

    /// What was found.
    #[must_use]
    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Takes over what others have found, and the channels that they were at.
    pub fn absorb(&mut self, other: &Self) {
        self.ledger.absorb(&other.ledger);
        self.sides.extend(other.sides.iter().map(|(id, side)| (*id, side.clone())));
    }
}
