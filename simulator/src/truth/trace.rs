//! The log of events, and the context in which they are emitted.

use std::collections::BTreeMap;

use codec::time::CharacterPeriod;

use super::{RuleId, TruthEvent, TruthEventKind};
use crate::node::NodePort;
use crate::node::PacketId;

/// Events not yet drained; the driver of a simulation drains them regularly.
#[derive(Clone, Debug, Default)]
pub struct TruthLog {
    level: TraceLevel,
    events: Vec<TruthEvent>,
    /// Packets dropped so far, by place.
    drops: BTreeMap<NodePort, u64>,
    /// The true time of the events, if their node's clock differs from that of the scenario.
    time: Option<TrueTime>,
}

/// Times in femtoseconds. W-6
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrueTime {
    /// Time of the node's tick.
    pub(crate) tick: u128,
    /// Arrival of the character that the tick takes; the tick's own time if it takes none.
    pub(crate) character: u128,
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
    pub const fn new(level: TraceLevel) -> Self {
        Self { level, events: Vec::new(), drops: BTreeMap::new(), time: None }
    }

    pub(crate) const fn level(&self) -> TraceLevel {
        self.level
    }

    /// Sets the true time of the events to come.
    pub(crate) const fn set_time(&mut self, time: TrueTime) {
        self.time = Some(time);
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
            let (at, time_ps) = self.time.map_or((at, None), TrueTime::shown_as);
            self.events.push(TruthEvent { at, time_ps, place, packet, kind: kind() });
        }
    }

    /// Counts a packet that is dropped, and adds the event.
    pub(crate) fn drop_packet(
        &mut self,
        at: u64,
        place: NodePort,
        packet: Option<PacketId>,
        rule: RuleId,
    ) {
        *self.drops.entry(place).or_default() += 1;
        self.emit(at, place, packet, || TruthEventKind::Dropped(rule));
    }

    /// Number of packets that have been dropped at a port.
    pub(crate) fn drops(&self, place: NodePort) -> u64 {
        self.drops.get(&place).copied().unwrap_or_default()
    }

    /// Removes all events.
    pub fn drain(&mut self) -> impl Iterator<Item = TruthEvent> {
        self.events.drain(..)
    }
}

impl TrueTime {
    /// The fields of a row: periods of the full rate, and picoseconds.
    fn shown_as(self) -> (u64, Option<u64>) {
        let periods = self.tick / u128::from(CharacterPeriod::FULL_RATE.fs());
        let [periods, time] = [periods, self.character / 1000].map(u64::try_from);
        (periods.unwrap_or(u64::MAX), time.ok())
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

    /// Drops a packet at this time and place.
    pub(crate) fn drop_packet(&mut self, packet: Option<PacketId>, rule: RuleId) {
        self.log.drop_packet(self.now, self.place, packet, rule);
    }
}
