//! Findings: anomalies of a capture, counted by kind and channel, with details of each first
//! occurrence.

mod case;
mod collected_map;
mod evidence;
mod fact;
mod flow;
mod journeys;
mod kind;
mod mapping;
mod observed_routes;
mod parameter_check;
mod route_union;
mod set;
mod sink;
mod standstill;
mod symbols;
mod transport;
mod wires;

use crate::event::{ChannelEvent, TimedEvent};
use std::collections::BTreeMap;

use codec::capture::{Channel, ChannelId, Chunk, WireMeasurement};
use codec::framing::FrameEvent;
use codec::time::{CharacterPeriod, Tick};

pub use self::case::FindingCase;
pub use self::evidence::{CaptureArgument, EvidenceView, ShellCommand};
pub use self::fact::{FactValue, FindingFact};
use self::flow::FlowChecker;
pub use self::kind::{ALL, FindingInfo, FindingKind, Severity};
use self::mapping::MappingChecks;
use self::observed_routes::ObservedRoutes;
pub use self::parameter_check::{CheckCoverage, ParameterCheck};
pub use self::set::{Finding, FindingSet, Occurrence, RuleCoverage};
use self::sink::FindingSink;
use self::standstill::HeldTime;
pub use self::standstill::NOTHING_FOLLOWS;
use self::symbols::SymbolChecker;
pub use self::transport::TransportCoverage;
pub use self::wires::WireCoverage;
use self::wires::{OpenWirePackets, open_wire};
use crate::journey::WireTally;
use crate::link::parameters::{ChannelParameters, OTHER_VARIANT};

/// Findings that depend on comparing times of a link's two channels.
const COMPARED: [FindingKind; 5] = [
    FindingKind::DataWhileStopped,
    FindingKind::UnexpectedStopGo,
    FindingKind::UnlikeAssumed,
    FindingKind::StopTooLate,
    FindingKind::OverrunRisk,
];

/// Checks of a capture, and their findings so far. Memory is independent of the number of
/// occurrences.
#[derive(Clone, Debug, Default)]
pub struct FindingChecks {
    set: FindingSet,
    sides: BTreeMap<ChannelId, Box<CheckedChannel>>,
    /// Channels of the checks that were added.
    compared: BTreeMap<ChannelId, ComparedChannel>,
    /// Routes of the section. N-2
    routes: ObservedRoutes,
    mapping: MappingChecks,
    /// Stops of the section.
    held: HeldTime,
    /// Flipped bits of packets, by the channel on which they were seen first. P-5
    damage: BTreeMap<ChannelId, WireTally>,
}

#[derive(Clone, Debug)]
struct CheckedChannel {
    peer: Option<ChannelId>,
    period: CharacterPeriod,
    parameters: ChannelParameters,
    measured: WireMeasurement,
    wire: SymbolChecker,
    watch: FlowChecker,
    open_wires: OpenWirePackets,
}

/// Clock of a channel against that of the opposite one. W-6
#[derive(Clone, Copy, Debug)]
struct ComparedChannel {
    peer: Option<ChannelId>,
    period: CharacterPeriod,
    drift: Option<(Tick, i64)>,
}

/// Checker of the characters of one chunk.
#[derive(Debug)]
pub(crate) struct SymbolObserver<'a> {
    checker: &'a mut SymbolChecker,
    sink: FindingSink<'a>,
}

impl SymbolObserver<'_> {
    #[inline]
    pub(crate) fn observe(&mut self, at: Tick, event: FrameEvent<'_>) {
        self.checker.observe(at, event, &mut self.sink);
    }
}

impl FindingChecks {
    /// Keeps every case from now on, until it is taken.
    pub(crate) fn keep_cases(&mut self) {
        self.set.keep_cases();
    }

    /// Removes the cases that were found since the last call.
    pub fn take_cases(&mut self) -> Vec<FindingCase> {
        self.set.take_cases()
    }

    /// Adds a channel.
    pub fn declare(&mut self, id: ChannelId, channel: &Channel, parameters: &ChannelParameters) {
        let side = Box::new(CheckedChannel {
            peer: None,
            period: channel.period,
            parameters: *parameters,
            measured: WireMeasurement::of(channel),
            wire: SymbolChecker::new(channel, parameters),
            watch: FlowChecker::new(channel, parameters),
            open_wires: OpenWirePackets::default(),
        });
        self.sides.insert(id, side);
        self.set.recorded.declare(id);
        self.set.seen.channels += 1;
    }

    /// Declares two channels as the directions of one link.
    pub fn join(&mut self, one: ChannelId, other: ChannelId) {
        self.set.recorded.join(one, other);
        for (id, peer) in [(one, other), (other, one)] {
            let opposite = self.sides.get(&peer).map(|side| (side.period, side.parameters));
            if let (Some(side), Some((opposite_period, opposite))) =
                (self.sides.get_mut(&id), opposite)
            {
                side.peer = Some(peer);
                side.watch.join([side.period, opposite_period], &opposite);
            }
        }
    }

    /// Checks the characters of a chunk. Must be called before `row` for the events of the chunk.
    /// `walk` passes the framer's events of a literal chunk to its argument.
    pub(crate) fn symbols(
        &mut self,
        id: ChannelId,
        chunk: &Chunk<'_>,
        walk: impl FnOnce(&mut SymbolObserver<'_>),
    ) {
        let Self { set, sides, .. } = self;
        let Some(side) = sides.get_mut(&id) else { return };
        set.recorded.add(id, [chunk.first, chunk.end()].map(|at| side.period.time(at.0)));
        let sink = FindingSink { set, channel: id, period: side.period };
        let mut observer = SymbolObserver { checker: &mut side.wire, sink };
        observer.checker.begin(chunk, &mut observer.sink);
        walk(&mut observer);
        observer.checker.end(chunk, &mut observer.sink);
    }

    /// Checks an event; events must be passed in order of time.
    pub fn row(&mut self, row: &TimedEvent) {
        let Self { set, sides, .. } = self;
        set.pass(row.time);
        let Some(side) = sides.get_mut(&row.channel) else { return };
        let (peer, period) = (side.peer, side.period);
        if let Some(span) = row.omitted(period) {
            set.recorded.omit(row.channel, span);
        }
        let mut sink = FindingSink { set, channel: row.channel, period };
        if side.peer.is_some() {
            side.watch.requests.expire(row.at, &mut sink);
        }
        if let ChannelEvent::Packet(packet) = &row.body
            && let Some((wire, at)) = side.open_wires.packet(packet)
        {
            sink.note(FindingKind::WireOpen, at, || open_wire(wire));
        }
        let command = side.watch.row(row, side.wire.used, &mut sink);
        let event = row.body.link();
        if command.is_none() && event.is_none() {
            return;
        }
        let Some(opposite) = peer.and_then(|peer| sides.get_mut(&peer)) else { return };
        if let Some(command) = command {
            opposite.watch.commanded(command, &mut set.seen);
        }
        let odd = event.and_then(|event| opposite.watch.opposite(event, &mut set.seen));
        if let Some(kind) = odd {
            FindingSink { set, channel: row.channel, period }.note(kind, row.at, Vec::new);
        }
    }

    /// Variants of a channel's sender that its characters prove: reset and fill. R-1, F-8
    pub(crate) fn variants(&self, id: ChannelId) -> [Option<u32>; 2] {
        let side = self.sides.get(&id);
        let pauses = side.is_some_and(|side| side.wire.pauses);
        [side.and_then(|side| side.watch.resets.variant), pauses.then_some(OTHER_VARIANT)]
    }

    /// Upper bound on the hysteresis of the slack buffer that a channel fills: the fill level
    /// crossed it within the shortest time between two changes of STOP and GO. F-3, S-3
    pub(crate) fn hysteresis_max(&self, id: ChannelId) -> Option<u32> {
        let side = self.sides.get(&id)?;
        let peer = self.sides.get(&side.peer?)?;
        let apart = peer.watch.turns.apart.filter(|_| peer.period == side.period)?;
        let cells = side.period.full_rate_periods();
        u32::try_from(apart.saturating_mul(cells).saturating_add(1)).ok()
    }

    /// Ends the recording of all channels.
    pub fn finish(&mut self) {
        let Self { set, sides, .. } = self;
        for (id, side) in sides {
            let has_opposite = set.recorded.has_opposite(*id);
            set.seen.paired += u64::from(has_opposite);
            let mut sink = FindingSink { set, channel: *id, period: side.period };
            if has_opposite {
                side.watch.requests.expire(side.wire.next(), &mut sink);
            } else {
                sink.note(FindingKind::OneWay, side.watch.first, Vec::new);
            }
            side.watch.stops.finish(side.wire.next(), &mut sink);
        }
        self.measurements();
    }

    /// Findings and rule coverage so far.
    pub const fn set(&self) -> &FindingSet {
        &self.set
    }

    /// Reports clock drift once per link, and removes the findings that compare times of such a
    /// link. Must be called after the last `absorb`. W-6
    pub(crate) fn forgive_drift(&mut self) {
        let Self { set, compared: sides, .. } = self;
        for (id, side) in &*sides {
            let told = |id: &ChannelId| set.has(FindingKind::ClockDrift, *id);
            if let Some((at, ppm)) = side.drift
                && !told(id)
                && !side.peer.is_some_and(|peer| told(&peer))
            {
                // Reading: of two clocks, the one declared at the full rate is right.
                let full = CharacterPeriod::FULL_RATE;
                let other = side.peer.filter(|_| side.period == full);
                let other =
                    other.filter(|peer| sides.get(peer).is_some_and(|it| it.period != full));
                let (channel, ppm) = other.map_or((*id, ppm), |peer| (peer, -ppm));
                let mut sink = FindingSink { set, channel, period: side.period };
                sink.note(FindingKind::ClockDrift, at, || journeys::drift(ppm));
            }
        }
        for (id, side) in &*sides {
            if set.has(FindingKind::ClockDrift, *id) {
                for id in [Some(*id), side.peer].into_iter().flatten() {
                    set.forget(&COMPARED, id);
                }
            }
        }
    }

    /// Continues other checks.
    pub(crate) fn take_over(&mut self, other: Self) {
        self.set.absorb(other.set);
        self.sides.extend(other.sides);
        self.compared.extend(other.compared);
    }

    /// Adds the findings of other checks, of channels without characters.
    pub(crate) fn absorb_silent(&mut self, other: Self) {
        self.set.absorb(other.set);
    }

    /// Adds the findings and channels of other checks.
    pub fn absorb(&mut self, other: &Self) {
        self.set.absorb(other.set.clone());
        let compared = other.sides.iter().map(|(id, side)| {
            let CheckedChannel { peer, period, watch, .. } = &**side;
            (*id, ComparedChannel { peer: *peer, period: *period, drift: watch.stops.drift() })
        });
        self.compared.extend(compared);
        self.compared.extend(&other.compared);
    }
}
