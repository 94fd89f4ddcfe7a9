//! Stops and standing packets of a section, weighed against the recorded time at its end. F-1, S-3, I-4

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use codec::capture::ChannelId;
use codec::time::{CharacterPeriod, FULL_RATE_PERIOD_PS};

use super::set::{FactValue, FindingFact, Occurrence};
use super::{FindingChecks, FindingKind, Severity};
use crate::blocking::{BlockingEvent, STANDS, StopEnd, StopReport, WaitRoot};
use crate::capture_network::CaptureNetwork;
use crate::event::{Picoseconds, TimedEvent};
use crate::packet::{FrameEnd, ReceivedPacket};
use crate::recorded::RecordedTime;

/// Minimum share of the recorded time, as its reciprocal, for which a sender must be stopped to count as held
/// up, if it is as long as a standstill. *Chosen*: a tenth.
const HELD_UP_SHARE: u64 = 10;
/// Minimum share, as its reciprocal, from which a standstill is an error. *Chosen*: half of the time.
const ERROR_SHARE: u64 = 2;

const PERIOD: Picoseconds = FULL_RATE_PERIOD_PS as Picoseconds;
/// Minimum duration of a standstill to the end that is no tenth of the recording. *Chosen*: 0.8 ms.
const STANDS_LONG: Picoseconds = (1 << 16) * PERIOD;
/// Minimum duration of a standstill that ends. *Chosen*: 13 ms, a quarter of the blocked-packet timeout. R-4
const STANDS_VERY_LONG: Picoseconds = (1 << 20) * PERIOD;

/// Minimum duration of a stop to the end, a tenth of the recording at least, that may be a standstill if its cause is out
/// of sight. *Chosen*: 12.8 µs.
const MAY_STAND: Picoseconds = (1 << 10) * PERIOD;

/// Maximum of kept pairs of a stopped channel and its cause. *Chosen*: more than a network of 1000 links has.
const HOLDS_MAX: usize = 1 << 14;

/// Cause of a standstill whose sender is not stopped.
pub const NOTHING_FOLLOWS: &str = "nothing-follows";

/// Stops and standing packets of the section.
#[derive(Clone, Debug, Default)]
pub(super) struct HeldTime {
    /// By stopped channel, cause and the channel at whose far end it is.
    stops: BTreeMap<(ChannelId, WaitRoot, ChannelId), StoppedTime>,
    /// Longest wait of each channel that lasted to the end or very long.
    standing: BTreeMap<ChannelId, StandingSender>,
    /// Ends of the last stops of channels: before them a packet waited for GO.
    resumed: BTreeMap<ChannelId, Picoseconds>,
    /// Deadlocks, by their first channels.
    deadlocks: BTreeMap<ChannelId, StoppedTime>,
}

/// Stops or deadlocks of the same channel and cause.
#[derive(Clone, Debug)]
struct StoppedTime {
    since: Picoseconds,
    until: Picoseconds,
    total: Picoseconds,
}

/// A sender that is stopped, or whose packet stands though it is not.
#[derive(Clone, Debug)]
struct StandingSender {
    since: Picoseconds,
    until: Picoseconds,
    packet: Option<u64>,
    chain: Vec<ChannelId>,
    /// Cause; none for a packet that nothing follows.
    root: Option<WaitRoot>,
    /// True if it ends with the recording.
    lasts: bool,
}

impl StoppedTime {
    const fn new(since: Picoseconds, until: Picoseconds) -> Self {
        Self { since, until, total: until.saturating_sub(since) }
    }

    /// Adds a stop that was reported later than those before.
    fn add_to<K: Ord>(self, known: Entry<'_, K, Self>) {
        known
            .and_modify(|known| {
                known.until = known.until.max(self.until);
                known.total += self.total;
            })
            .or_insert(self);
    }
}

impl HeldTime {
    pub(super) fn add(&mut self, blocked: &BlockingEvent) {
        match blocked {
            BlockingEvent::Stop(stop) => self.add_stop(stop),
            BlockingEvent::Deadlock(deadlock) => {
                let stopped = StoppedTime::new(deadlock.since, deadlock.until);
                if let Some(first) = deadlock.channels.first() {
                    stopped.add_to(self.deadlocks.entry(*first));
                }
            }
        }
    }

    fn add_stop(&mut self, stop: &StopReport) {
        let lasted = stop.until.saturating_sub(stop.since);
        let key = (stop.channel, stop.root, stop.last());
        if self.stops.len() < HOLDS_MAX || self.stops.contains_key(&key) {
            StoppedTime::new(stop.since, stop.until).add_to(self.stops.entry(key));
        }
        self.resumed.insert(stop.channel, stop.until);
        let lasts = match stop.ended {
            StopEnd::CaptureEnd => true,
            StopEnd::Resumed(_) | StopEnd::Hole if lasted >= STANDS_VERY_LONG => false,
            StopEnd::Resumed(_) | StopEnd::Hole => return,
        };
        self.stand(
            stop.channel,
            StandingSender {
                since: stop.since,
                until: stop.until,
                packet: stop.packet,
                chain: stop.chain.clone(),
                root: Some(stop.root),
                lasts,
            },
        );
    }

    fn stand(&mut self, channel: ChannelId, new: StandingSender) {
        let is_longer = |known: &StandingSender| new.until - new.since > known.until - known.since;
        if self.standing.get(&channel).is_none_or(is_longer) {
            self.standing.insert(channel, new);
        }
    }
}

impl FindingChecks {
    /// Records a packet that the end of the recording cut: it may have stood for a while. P-1
    pub(crate) fn cut_off(&mut self, event: &TimedEvent, network: &CaptureNetwork) {
        if let Some(ReceivedPacket { ended_by: FrameEnd::CaptureEnd, number, end, .. }) =
            event.body.packet()
        {
            let stopped = self.held.resumed.get(&event.channel).copied().unwrap_or_default();
            let since = network.period(event.channel).time(end.0 + 1).max(stopped);
            self.held.stand(
                event.channel,
                StandingSender {
                    since,
                    until: event.time.max(since),
                    packet: Some(*number),
                    chain: Vec::new(),
                    root: None,
                    lasts: true,
                },
            );
        }
    }

    /// Reports at the end of a section what stood still and who held up whom.
    pub(crate) fn standstill(&mut self, network: &CaptureNetwork) {
        let held = std::mem::take(&mut self.held);
        let recorded = std::mem::take(&mut self.set.recorded);
        let span = |id| recorded.link_span(id);
        for (channel, sender) in held.standing {
            let Some([from, to]) = span(channel) else { continue };
            let has_opposite = recorded.has_opposite(channel);
            let since = sender.since.max(from);
            let lasted = sender.until.min(to).saturating_sub(since);
            let recorded = to.saturating_sub(from).max(1);
            let is_share = lasted.saturating_mul(HELD_UP_SHARE.into()) >= recorded;
            let least = match (sender.lasts, is_share) {
                (false, _) => STANDS_VERY_LONG,
                (true, true) => STANDS,
                (true, false) => STANDS_LONG,
            };
            let is_out_of_sight = sender.root == Some(WaitRoot::OutOfSight);
            let may_stand = sender.lasts && is_share && is_out_of_sight && lasted >= MAY_STAND;
            if lasted < least && !may_stand {
                continue;
            }
            let [when, until] =
                [sender.since, sender.until].map(|time| Occurrence::on(network, channel, time));
            let Some((kind, severity)) = sender.judged(lasted, recorded) else { continue };
            // Without the opposite channel it may have been stopped.
            let is_known = lasted >= least && (sender.root.is_some() || has_opposite);
            let (kind, severity) =
                if is_known { (kind, severity) } else { (FindingKind::HeldUp, Severity::Note) };
            let facts = if kind == FindingKind::HeldUp {
                vec![share(lasted, recorded), FindingFact::channel("behind", channel)]
            } else {
                sender.facts(lasted, recorded, network.period(channel))
            };
            self.set.note_as((severity, kind), channel, when, || facts);
            self.set.again(kind, channel, 0, until);
        }
        self.held_up(held.stops, held.deadlocks, (&recorded, network));
        self.set.recorded = recorded;
    }

    /// Reports the stops of senders and the deadlocks that took a tenth of the time.
    fn held_up(
        &mut self,
        stops: BTreeMap<(ChannelId, WaitRoot, ChannelId), StoppedTime>,
        deadlocks: BTreeMap<ChannelId, StoppedTime>,
        (recorded, network): (&RecordedTime, &CaptureNetwork),
    ) {
        let span = |id| recorded.link_span(id);
        let place = |id, time| Occurrence::on(network, id, time);
        for ((channel, root, last), StoppedTime { since, until, total }) in stops {
            let Some([from, to]) = span(channel) else { continue };
            let recorded = to.saturating_sub(from).max(1);
            if total < STANDS || total.saturating_mul(HELD_UP_SHARE.into()) < recorded {
                continue;
            }
            let (kind, severity, name) = match root {
                WaitRoot::Host => (FindingKind::SlowHost, Severity::Warning, "by"),
                WaitRoot::OutOfSight => (FindingKind::HeldUp, Severity::Note, "behind"),
                WaitRoot::Busy | WaitRoot::Switch | WaitRoot::Cycle | WaitRoot::OpenLink => {
                    continue;
                }
            };
            let facts = vec![share(total, recorded), FindingFact::channel(name, last)];
            self.set.raise((severity, kind), channel, place(channel, since), facts);
            self.set.again(kind, channel, 0, place(channel, until));
        }
        for (channel, StoppedTime { since, until, total }) in deadlocks {
            // It may rest on time that was not recorded.
            if !self.set.has(FindingKind::Deadlock, channel) {
                continue;
            }
            let Some([from, to]) = span(channel) else { continue };
            let facts = vec![share(total, to.saturating_sub(from).max(1))];
            let kind = FindingKind::Deadlock;
            self.set.raise((Severity::Error, kind), channel, place(channel, since), facts);
            self.set.again(kind, channel, 0, place(channel, until));
        }
    }
}

impl StandingSender {
    fn judged(
        &self,
        lasted: Picoseconds,
        recorded: Picoseconds,
    ) -> Option<(FindingKind, Severity)> {
        let is_long = lasted.saturating_mul(ERROR_SHARE.into()) >= recorded;
        match (self.root, is_long) {
            // Packets of others go on; whether its turn ever comes cannot be told if it waits for most of the time.
            (Some(WaitRoot::Busy), _) => {
                (is_long && self.lasts).then_some((FindingKind::HeldUp, Severity::Note))
            }
            (_, true) => Some((FindingKind::Standstill, Severity::Error)),
            (_, false) => Some((FindingKind::Standstill, Severity::Warning)),
        }
    }

    fn facts(
        self,
        lasted: Picoseconds,
        recorded: Picoseconds,
        period: CharacterPeriod,
    ) -> Vec<FindingFact> {
        let cause = self.root.map_or(NOTHING_FOLLOWS, WaitRoot::name);
        let chain = (!self.chain.is_empty()).then_some(FactValue::Channels(self.chain));
        let mut facts = vec![
            FindingFact::number("periods", period.periods(lasted)),
            share(lasted, recorded),
            FindingFact::word("cause", cause),
        ];
        facts.extend(self.lasts.then(|| FindingFact::word("until", "end")));
        facts.extend(self.packet.map(|packet| FindingFact::number("packet", packet)));
        facts.extend(chain.map(|value| FindingFact { name: "waits_for", value }));
        facts
    }
}

/// Share of the recorded time, in percent.
fn share(lasted: Picoseconds, recorded: Picoseconds) -> FindingFact {
    let percent = lasted.saturating_mul(100).checked_div(recorded).unwrap_or(0).min(100);
    FindingFact::number("share", u64::try_from(percent).unwrap_or(100))
}
