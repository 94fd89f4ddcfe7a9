//! What journeys, waits and slack buffers say. P-1, P-5, F-3, F-4, F-9, S-1..S-3, S-6, I-2, I-4, N-2

use codec::capture::{Channel, ChannelId};
use codec::tick::Tick;

use super::ledger::{Fact, Occurrence, Value};
use super::{Findings, Kind};
use crate::blocking::{Blocked, Deadlock, Root};
use crate::clock::ClockEstimator;
use crate::link::slack::SlackSaid;
use crate::path::{Fate, Harm, Hop, Injury, Journey};
use crate::timeline::Time;

/// For how long a host may take nothing. *Chosen*: 5 µs are "a few". I-4
const SLOW_PS: Time = 5_000_000;

/// Periods in which two clocks may come apart by one: 200 ppm. W-6
const PERIOD_APART: u64 = 5000;

/// How much longer than the longest path formation is not worth a word. *Chosen*: two periods, for what
/// the rounding of cables to periods leaves open.
const GRACE_PS: Time = 25_000;

impl Findings {
    /// What a journey says.
    pub fn journey(&mut self, journey: &Journey) {
        let Some(last) = journey.hops.last() else { return };
        let far = u64::from(journey.hops.len() > 1);
        let seen = &mut self.ledger.seen;
        seen.travelled += far;
        let odd = match journey.fate {
            Fate::Arrived => {
                seen.arrived += 1;
                None
            }
            Fate::Misrouted => {
                seen.arrived += 1;
                Some(Kind::Misrouted)
            }
            Fate::Dropped("S-1") => Some(Kind::NoSuchPort),
            Fate::Dropped("S-2") => Some(Kind::NoRoute),
            // Resets and runts are found where they are.
            Fate::Dropped(_) => None,
            Fate::Merged => Some(Kind::Merged),
            Fate::OutOfSight | Fate::UnderWay => None,
        };
        let dropped = matches!(journey.fate, Fate::Dropped(_));
        seen.switched += u64::from(dropped).max(far);
        let seen_elsewhere = dropped && self.twins.contains(&last.channel);
        if let Some(kind) = odd.filter(|_| !seen_elsewhere) {
            let byte = last.route.map(|byte| Fact::byte("route", byte));
            self.ledger.note(kind, last.channel, place(last), || {
                [packet(last)].into_iter().chain(byte).collect()
            });
        }
        for hop in &journey.hops {
            self.waited(hop);
        }
        for injury in &journey.injuries {
            self.injury(injury, journey);
        }
    }

    /// How long a packet took through a switch. S-6
    fn waited(&mut self, hop: &Hop) {
        let Some(beyond) = hop.beyond else { return };
        self.ledger.seen.timed += 1;
        if beyond > GRACE_PS && hop.waited_for.is_none() {
            self.ledger.note(Kind::SlowPath, hop.channel, place(hop), || {
                let beyond = u64::try_from(beyond / 1000).unwrap_or(u64::MAX);
                vec![packet(hop), Fact::number("beyond_ns", beyond)]
            });
        }
    }

    /// What was done to a packet between two taps. P-5, P-1
    fn injury(&mut self, injury: &Injury, journey: &Journey) {
        let Some(after) = injury.after else {
            // It was bad where it was first seen: P-4.
            return;
        };
        let Some(hop) = journey.hops.iter().find(|hop| hop.channel == injury.seen) else { return };
        let kind = match injury.harm {
            Harm::Flipped(_) => Kind::HurtOnTheWay,
            Harm::Cut(..) => Kind::CutOnTheWay,
            Harm::Grown(_) => Kind::Merged,
        };
        self.ledger.note(kind, injury.seen, place(hop), || {
            let mut facts = vec![packet(hop), Fact { name: "after", value: Value::Channel(after) }];
            match injury.harm {
                Harm::Flipped(flips) => {
                    facts.push(Fact::byte("syndrome", injury.syndrome));
                    facts.push(Fact::word("flipped", flips.name()));
                    facts.extend(injury.bit.map(|bit| Fact::number("bit", u64::from(bit))));
                }
                Harm::Cut(missing, _) => {
                    facts.extend(missing.map(|bytes| Fact::number("missing_bytes", bytes)));
                }
                Harm::Grown(bytes) => facts.push(Fact::number("more_bytes", bytes)),
            }
            facts
        });
    }

    /// What a wait says; `period_ps` is that of a channel.
    pub fn blocked(&mut self, blocked: &Blocked, period_ps: impl Fn(ChannelId) -> u64) {
        let (channel, kind, since, periods, chain) = match blocked {
            Blocked::Stop(stop) => {
                self.ledger.seen.waits += 1;
                let kind = match stop.root {
                    Root::Busy => Kind::Busy,
                    Root::Host if stop.until.saturating_sub(stop.since) > SLOW_PS => Kind::SlowHost,
                    Root::Host | Root::Switch | Root::OutOfSight => return,
                    Root::OpenLink | Root::Cycle => return,
                };
                (stop.channel, kind, stop.since, stop.periods, &stop.chain)
            }
            Blocked::Deadlock(deadlock) => {
                let Some(first) = deadlock.channels.first() else { return };
                let Deadlock { since, periods, channels, .. } = deadlock;
                (*first, Kind::Deadlock, *since, *periods, channels)
            }
        };
        let at = since.checked_div(Time::from(period_ps(channel))).unwrap_or_default();
        let when = Occurrence { time: since, at: Tick(u64::try_from(at).unwrap_or(u64::MAX)) };
        self.ledger.note(kind, channel, when, || {
            let name = if kind == Kind::Deadlock { "circle" } else { "waits_for" };
            let mut facts = vec![Fact::number("periods", periods)];
            let chain = (!chain.is_empty()).then(|| Value::Channels(chain.clone()));
            facts.extend(chain.map(|value| Fact { name, value }));
            facts
        });
    }

    /// What is known of clocks when a section ends; `period_ps` is that of a channel. W-6
    pub(crate) fn clocks(&mut self, clocks: &ClockEstimator, period_ps: impl Fn(ChannelId) -> u64) {
        self.ledger.seen.clocks += clocks.compared();
        for (id, rate, time) in clocks.rates() {
            let at = time.checked_div(Time::from(period_ps(id))).unwrap_or_default();
            let at = Tick(u64::try_from(at).unwrap_or(u64::MAX));
            self.ledger.note(Kind::ClockDrift, id, Occurrence { time, at }, || drift(rate / 1000));
        }
    }

    /// A channel of which the network's storey will hear.
    pub(crate) fn know(&mut self, id: ChannelId, channel: &Channel) {
        if let Some(twin) = self.names.insert(channel.name.clone(), id) {
            self.twins.extend([twin, id]);
        }
    }

    /// The section ends: names begin anew.
    pub(crate) fn end_section(&mut self) {
        self.names.clear();
    }

    /// What a slack buffer says; `period_ps` is that of a channel. F-3, F-4, F-9
    pub fn slack(&mut self, said: &SlackSaid, period_ps: impl Fn(ChannelId) -> u64) {
        let (kind, by) = match *said {
            SlackSaid::Fill(_) => {
                self.ledger.seen.fills += 1;
                return;
            }
            // Clocks may have come apart by a period or two since time zero. W-6
            SlackSaid::Late { by: by @ 1..=2, at, .. } if at.0 > by * PERIOD_APART => return,
            SlackSaid::Late { by, .. } => (Kind::StopTooLate, Some(by)),
            SlackSaid::OverrunRisk { by, .. } => (Kind::OverrunRisk, Some(by)),
            SlackSaid::Contradiction { is_told: true, .. } => (Kind::UnlikeThresholds, None),
            SlackSaid::Contradiction { .. } => (Kind::UnlikeAssumed, None),
        };
        let (channel, at) = (said.channel(), said.at());
        let time = Time::from(at.0) * Time::from(period_ps(channel));
        self.ledger.note(kind, channel, Occurrence { time, at }, || {
            by.into_iter().map(|by| Fact::number("cells", by)).collect()
        });
    }
}

/// Parts per million by which characters come too late against other channels: the clock is fast for the
/// declared period.
pub(super) fn drift(ppm: i64) -> Vec<Fact> {
    let clock = if ppm > 0 { "fast" } else { "slow" };
    vec![Fact::number("ppm", ppm.unsigned_abs()), Fact::word("clock", clock)]
}

const fn place(hop: &Hop) -> Occurrence {
    Occurrence { time: hop.time, at: hop.start }
}

const fn packet(hop: &Hop) -> Fact {
    Fact::number("packet", hop.packet)
}
