//! Checks of journeys, waits and slack buffers. P-1, P-5, F-3, F-4, F-9, S-1..S-3, S-6, I-2, I-4,
//! N-2

use crate::capture_network::CaptureNetwork;
use crate::event::{Picoseconds, TimedEvent};
use codec::capture::ChannelId;
use codec::mapping::{MappingPacket, MappingRequest, TAG};
use codec::packet::CrcCheck;
use codec::time::CharacterPeriod;

use super::fact::{FactValue, FindingFact};
use super::mapping::MappingChecks;
use super::route_union::RouteUnion;
use super::set::Occurrence;
use super::{FindingChecks, FindingKind};
use crate::blocking::{BlockingEvent, Deadlock, WaitRoot};
use crate::journey::{
    ChangedByte, Corruption, CorruptionSite, Journey, JourneyFate, JourneyHop, JourneyTracker,
    LocatedHarm, WireTally,
};
use crate::link::slack::SlackEvent;
use crate::packet::{FrameEnd, StartCoverage};
use crate::recorded::{FindingGrounds, RecordedTime};
use crate::totals::AddTotals;

/// Maximum time for which a host may accept no data. *Chosen*: 5 µs for "a few" microseconds. I-4
const SLOW_PS: Picoseconds = 5_000_000;

/// Periods after which two clocks may differ by one period: 200 ppm. W-6
const PERIOD_APART: u64 = 5000;

/// Time before a change of STOP and GO in which it and the data before it were caused. *Chosen*: far more than
/// the longest link takes.
const AROUND_PS: Picoseconds = 100_000_000;

impl FindingChecks {
    /// True if a switch may have passed on a packet that no output shows: not all its channels were recorded since.
    pub(crate) fn may_have_passed(&self, journey: &Journey, network: &CaptureNetwork) -> bool {
        let (JourneyFate::Dropped(None | Some("S-1" | "R-2")) | JourneyFate::Merged, Some(last)) =
            (journey.fate, journey.hops.last())
        else {
            return false;
        };
        let around: Vec<_> = network.around(last.channel).collect();
        !self.set.recorded.supports(FindingGrounds::Channels([last.since, self.set.now], &around))
    }

    /// Checks a journey through the network.
    pub fn journey(&mut self, journey: &Journey, network: &CaptureNetwork) {
        let Some(last) = journey.hops.last() else { return };
        let far = u64::from(journey.hops.len() > 1);
        let contents = journey.mapping.as_ref().filter(|it| it.check == CrcCheck::Good);
        let mapping = contents.and_then(|contents| contents.packet().ok());
        let (turns, united) = self.routes.add(journey, mapping, network);
        self.set.seen.turns += turns;
        self.odd_routes();
        self.used_route(journey);
        let seen = &mut self.set.seen;
        seen.travelled += far;
        let is_there = matches!(journey.fate, JourneyFate::Arrived | JourneyFate::Misrouted);
        seen.arrived += u64::from(is_there);
        seen.out_of_sight += u64::from(journey.fate == JourneyFate::OutOfSight);
        let odd = match journey.fate {
            JourneyFate::Misrouted => Some(FindingKind::Misrouted),
            JourneyFate::Dropped(None) => Some(FindingKind::LostInSwitch),
            JourneyFate::Dropped(Some("S-1")) => Some(FindingKind::NoSuchPort),
            JourneyFate::Dropped(Some("S-2")) => Some(FindingKind::NoRoute),
            JourneyFate::Merged => Some(FindingKind::Merged),
            // Resets and runts are reported on the channel where they occur.
            JourneyFate::Dropped(_) => None,
            JourneyFate::Arrived | JourneyFate::OutOfSight | JourneyFate::UnderWay => None,
        };
        let dropped = matches!(journey.fate, JourneyFate::Dropped(_));
        seen.switched += u64::from(dropped).max(far);
        // N-2: a mapper looks for nodes at ports where nothing is, and for switches where a host is. A packet whose end
        // was not recorded may be such a one.
        let is_cut = matches!(last.ended_by, FrameEnd::CaptureEnd | FrameEnd::Hole)
            && journey.tag.is_none_or(|tag| tag.value() == TAG);
        let is_expected = mapping.map_or(is_cut, |it| {
            matches!(it, MappingPacket::Home(..) | MappingPacket::Request(_, MappingRequest::Probe))
        });
        // The recording may begin inside the packet: its first byte is another.
        let is_begun = last.opening == StartCoverage::Unsure;
        if let Some(kind) = odd.filter(|_| !is_expected && !is_begun) {
            let byte = last.route.map(|byte| FindingFact::byte("route", byte));
            let facts = || [Some(packet(last)), byte].into_iter().flatten().collect();
            self.set.note_here(kind, place(last), facts);
        }
        if let Some(union) = united {
            self.cycle(&union);
        }
        if let Some(packet) = mapping {
            self.mapping(journey, packet, network);
        }
        let pairs = journey.hops.iter().zip(journey.hops.iter().skip(1));
        for (hop, next) in pairs.skip(journey.shared.saturating_sub(1)) {
            self.waited(hop, [hop, next].map(|hop| network.period(hop.channel)));
        }
        for injury in journey.own_injuries() {
            self.injury(injury, journey, network);
        }
    }

    /// Checks the time of a packet's passage through a switch, from a channel to another: a period of each may be added, for
    /// the next byte to come and for the next character to begin, as cable delays are rounded too. A packet that pauses may
    /// have kept the switch waiting for that byte. S-6 *Chosen*
    fn waited(&mut self, hop: &JourneyHop, periods: [CharacterPeriod; 2]) {
        let Some(beyond) = hop.beyond else { return };
        let rounded: Picoseconds = periods.iter().map(|period| period.time(1)).sum();
        let is_over = beyond > rounded && hop.waited_for.is_none();
        let is_whole = hop.end.0 - hop.start.0 < hop.length;
        self.set.seen.timed += u64::from(is_whole || !is_over);
        if is_over && is_whole {
            self.set.note_here(FindingKind::SlowPath, place(hop), || {
                let beyond = u64::try_from(beyond / 1000).unwrap_or(u64::MAX);
                vec![packet(hop), FindingFact::number("beyond_ns", beyond)]
            });
        }
    }

    /// Reports a corruption between two taps. P-5, P-1
    fn injury(&mut self, injury: &CorruptionSite, journey: &Journey, network: &CaptureNetwork) {
        let Some(after) = injury.after else {
            // The packet was corrupted before its first captured link: reported as P-4.
            return;
        };
        let hops = journey.hops.iter();
        let pair = hops.clone().zip(hops.skip(1)).find(|(_, hop)| hop.channel == injury.seen);
        let Some((before, hop)) = pair else { return };
        // Across a fibre, there is no other way.
        let around: Vec<_> = network.around(before.channel).chain([hop.channel]).collect();
        let span = [before.since.min(hop.since), before.closed.max(hop.closed)];
        // Two sound packets of one sender may differ by a bit of a counter.
        let damage = injury.damage.as_ref().filter(|_| injury.syndrome != 0);
        let one_wire = damage.and_then(|damage| damage.tally.single());
        let grounds = match (one_wire, injury.switches) {
            // No other packet has its bytes on all other wires.
            (Some(_), _) => FindingGrounds::Characters,
            (None, 0 | 1) => FindingGrounds::Channels(span, &around),
            (None, _) => FindingGrounds::Network(span),
        };
        let kind = match injury.harm {
            Corruption::Flipped(_) => FindingKind::CorruptedInTransit,
            Corruption::Cut(..) => FindingKind::TruncatedInTransit,
            Corruption::Grown(_) if injury.located.is_some() => FindingKind::InsertedCharacter,
            Corruption::Grown(_) => FindingKind::Merged,
        };
        let located = injury.located;
        self.set.seen.wires.located += u64::from(match located {
            Some(LocatedHarm::Apart(_)) | None => injury.bit.is_some(),
            Some(LocatedHarm::Pair(_) | LocatedHarm::Inserted(..)) => true,
        });
        let known =
            || vec![packet(hop), FindingFact { name: "after", value: FactValue::Channel(after) }];
        if let Some(LocatedHarm::Pair([first, second])) = located {
            self.set.note(FindingKind::DoubleError, place(hop), grounds, || {
                let number = |name, at: i64| FindingFact::number(name, at.unsigned_abs());
                let mut facts = known();
                facts.push(FindingFact::number("wire", first.bit.into()));
                facts.push(number("byte", first.byte));
                facts.push(number("apart", second.byte - first.byte));
                facts
            });
        }
        self.set.note(kind, place(hop), grounds, || {
            let mut facts = known();
            match injury.harm {
                Corruption::Flipped(flips) => {
                    facts.extend(changed_bytes(injury));
                    facts.push(FindingFact::byte("syndrome", injury.syndrome));
                    facts.push(FindingFact::word("flipped", flips.name()));
                    facts.extend(injury.bit.map(|bit| FindingFact::number("bit", u64::from(bit))));
                }
                Corruption::Cut(missing, _) => {
                    facts.extend(missing.map(|bytes| FindingFact::number("missing_bytes", bytes)));
                }
                Corruption::Grown(_) if let Some(LocatedHarm::Inserted(at, value)) = located => {
                    facts.push(FindingFact::number("byte", at));
                    facts.push(FindingFact::byte("value", value));
                }
                Corruption::Grown(bytes) => facts.push(FindingFact::number("more_bytes", bytes)),
            }
            facts
        });
        self.name_wire(injury);
    }

    /// Names the wire that explains all bits flipped between the last tap and that of an injury so far. W-5
    fn name_wire(&mut self, injury: &CorruptionSite) {
        if let Some(damage) = &injury.damage {
            let tally = self.damage.entry(injury.seen).or_default();
            tally.absorb(&damage.tally);
            let facts = wire_facts(tally);
            let found = (FindingKind::CorruptedInTransit, injury.seen);
            self.set.amend(found, &["wire", "cleared", "set"], facts);
        }
    }

    /// Checks a wait or a deadlock.
    pub fn blocked(&mut self, blocked: &BlockingEvent, network: &CaptureNetwork) {
        self.held.add(blocked);
        let (channel, kind, known, periods, chain) = match blocked {
            BlockingEvent::Stop(stop) => {
                self.set.seen.waits += 1;
                let kind = match stop.root {
                    WaitRoot::Busy => FindingKind::Busy,
                    WaitRoot::Host if stop.until.saturating_sub(stop.since) > SLOW_PS => {
                        FindingKind::SlowHost
                    }
                    WaitRoot::Host | WaitRoot::Switch | WaitRoot::SlowOutput => return,
                    WaitRoot::OutOfSight | WaitRoot::Unknown => return,
                    WaitRoot::OpenLink | WaitRoot::Cycle => return,
                };
                (stop.channel, kind, [stop.since, self.set.now], stop.periods, &stop.chain)
            }
            BlockingEvent::Deadlock(deadlock) => {
                let Some(first) = deadlock.channels.first() else { return };
                let Deadlock { since, certain, periods, channels, .. } = deadlock;
                (*first, FindingKind::Deadlock, [*since, *certain], *periods, channels)
            }
        };
        let when = Occurrence::on(network, channel, known[0]);
        let grounds = FindingGrounds::Channels(known, chain);
        self.set.note(kind, (channel, when), grounds, || {
            let name = if kind == FindingKind::Deadlock { "circle" } else { "waits_for" };
            let mut facts = vec![FindingFact::number("periods", periods)];
            let chain = (!chain.is_empty()).then(|| FactValue::Channels(chain.clone()));
            facts.extend(chain.map(|value| FindingFact { name, value }));
            facts
        });
    }

    /// Reports clock drift and clocks apart at the end of a section, and removes what unlike clocks explain. W-6
    pub(crate) fn clocks(&mut self, journeys: &JourneyTracker, network: &CaptureNetwork) {
        for gap in journeys.clock_gaps() {
            let compared = [FindingKind::LostInSwitch, FindingKind::SlowPath];
            for id in gap.channels {
                let near = network.inputs(id).chain(network.around(id));
                near.for_each(|id| self.set.forget(&compared, id));
            }
            let ([channel, other], (time, at)) = (gap.channels, gap.first);
            let least = u64::try_from(gap.least / 1000).unwrap_or(u64::MAX);
            let place = (channel, Occurrence { time, at });
            let least = FindingFact::number("apart_ns", least);
            let facts = || vec![FindingFact::channel("other", other), least];
            self.set.note_here(FindingKind::ClocksApart, place, facts);
        }
        let clocks = &journeys.clocks;
        self.set.seen.clocks += clocks.compared();
        for (id, rate, time) in clocks.rates() {
            let place = (id, Occurrence::on(network, id, time));
            self.set.note_here(FindingKind::ClockDrift, place, || drift(rate / 1000));
        }
    }

    /// Time that was recorded of each channel whose packets are followed through the network.
    pub(crate) const fn recorded_time(&self) -> &RecordedTime {
        &self.set.recorded
    }

    /// The recorded time, to add a channel or a span.
    pub(crate) const fn recorded_mut(&mut self) -> &mut RecordedTime {
        &mut self.set.recorded
    }

    /// Takes out time of which the events were not examined.
    pub(crate) fn omitted(&mut self, event: &TimedEvent, network: &CaptureNetwork) {
        if let Some(span) = event.omitted(network.period(event.channel)) {
            self.set.recorded.omit(event.channel, span);
        }
    }

    /// Sets the time up to which journeys and waits are known.
    pub(crate) fn pass(&mut self, now: Picoseconds) {
        self.set.now = now;
    }

    /// Ends the section: channel names may be reused.
    pub(crate) fn end_section(&mut self) {
        (self.set.recorded, self.set.now) = Default::default();
        self.mapping = MappingChecks::default();
        self.routes.finish().for_each(|union| self.cycle(&union));
    }

    /// Reports a cycle of routes. N-2
    fn cycle(&mut self, routes: &RouteUnion) {
        let Some(cycle) = routes.cycle() else { return };
        if let (Some(channel), Some(first)) = (cycle.first(), routes.first_packet(&cycle)) {
            // Each turn was seen.
            self.set.note_here(FindingKind::RouteCycle, (*channel, first.place), || {
                let circle = FactValue::Channels(cycle.clone());
                let circle = FindingFact { name: "circle", value: circle };
                vec![FindingFact::number("packet", first.number), circle]
            });
        }
    }

    /// Checks an event of a slack buffer. F-3, F-4, F-9
    pub fn slack(&mut self, event: &SlackEvent, network: &CaptureNetwork) {
        let (kind, by) = match *event {
            SlackEvent::Fill(_) => {
                self.set.seen.fills += 1;
                return;
            }
            // Clocks may have drifted apart by one or two periods since time zero. W-6
            SlackEvent::Late { by: by @ 1..=2, at, .. } if at.0 > by * PERIOD_APART => return,
            SlackEvent::Late { by, .. } => (FindingKind::StopTooLate, Some(by)),
            SlackEvent::OverrunRisk { by, .. } => (FindingKind::OverrunRisk, Some(by)),
            SlackEvent::Contradiction { is_declared: true, .. } => {
                (FindingKind::UnexpectedStopGo, None)
            }
            SlackEvent::Contradiction { .. } => (FindingKind::UnlikeAssumed, None),
        };
        let (channel, at) = (event.channel(), event.at());
        let time = network.period(channel).time(at.0);
        let grounds = FindingGrounds::Channels([time.saturating_sub(AROUND_PS), time], &[channel]);
        self.set.note(kind, (channel, Occurrence { time, at }), grounds, || {
            by.into_iter().map(|by| FindingFact::number("cells", by)).collect()
        });
    }
}

/// The wire that explains all flipped bits, or that there is none.
fn wire_facts(tally: &WireTally) -> Vec<FindingFact> {
    let wire = tally.single().map(|wire| FindingFact::number("wire", wire.into()));
    let sum =
        |counts: [u64; 8]| counts.iter().fold(0, |sum: u64, count| sum.saturating_add(*count));
    let counts = [("cleared", sum(tally.cleared)), ("set", sum(tally.set))];
    let counts = counts.into_iter().map(|(name, count)| FindingFact::number(name, count));
    let none = || FindingFact::word("wire", "no single wire");
    [wire.unwrap_or_else(none)].into_iter().chain(counts).collect()
}

/// The wire of a packet's flipped bits, and its first changed byte, if its bytes could be compared.
fn changed_bytes(injury: &CorruptionSite) -> Vec<FindingFact> {
    let Some(damage) = &injury.damage else { return Vec::new() };
    let mut facts = wire_facts(&damage.tally);
    if let Some(ChangedByte { byte, before, after }) = damage.changed.first() {
        facts.extend(u64::try_from(*byte).map(|byte| FindingFact::number("byte", byte)));
        facts.extend([FindingFact::byte("before", *before), FindingFact::byte("became", *after)]);
    }
    facts
}

/// Facts about clock drift. Positive `ppm` means that characters come too late relative to other
/// channels: the clock is fast for the declared period.
pub(super) fn drift(ppm: i64) -> Vec<FindingFact> {
    let clock = if ppm > 0 { "fast" } else { "slow" };
    vec![FindingFact::number("ppm", ppm.unsigned_abs()), FindingFact::word("clock", clock)]
}

/// Channel and place of a packet's first byte.
pub(super) const fn place(hop: &JourneyHop) -> (ChannelId, Occurrence) {
    (hop.channel, Occurrence { time: hop.time, at: hop.start })
}

pub(super) const fn packet(hop: &JourneyHop) -> FindingFact {
    FindingFact::number("packet", hop.packet)
}
