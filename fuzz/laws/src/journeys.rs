//! Journeys against the truth, in networks in which nothing is ordered to break.

#![expect(clippy::wildcard_enum_match_arm, reason = "most kinds of rows are not about a packet")]

use analyzer::options::AnalysisScope;
use codec::framing::FrameEnd;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use analyzer::journey::{Corruption, Journey, JourneyFate, MatchCertainty};
use analyzer::pipeline::AnalysisEvent;
use arbitrary::{Arbitrary, Unstructured};
use codec::capture::ChannelId;
use codec::time::Ticks;
use rayon::prelude::*;
use simulator::link::BLOCKED;
use simulator::link::tagged_char::PacketId;
use simulator::scenario::Scenario;
use simulator::truth::TruthEventKind;
use toml::Value;

use crate::network::analyzed::analyzed;
use crate::network::draft::NetworkDraft;
use crate::network::facts;
use crate::network::input::NetworkInput;
use crate::network::rules::stop_slack;
use crate::network::run::RunOutcome;
use crate::repair::SeededRng;
use crate::storm::generator;

/// The kind of a network without faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkClass {
    /// Slack buffers have room enough and every host consumes.
    Sound,
    /// Slack buffers have less room above STOP than F-4 requires.
    Starved,
    /// Hosts that do not consume, routes that may deadlock, short blocked-packet timeouts. R-4
    Blocked,
}

impl NetworkClass {
    pub const ALL: [Self; 3] = [Self::Sound, Self::Starved, Self::Blocked];

    /// The network of a class and a number: the same on every machine.
    pub fn scenario(self, number: u64) -> Option<Scenario> {
        self.draft(number).map(|draft| draft.scenario())
    }

    /// The file of the network.
    pub fn draft(self, number: u64) -> Option<NetworkDraft> {
        let mut dice = SeededRng::new(&[&[self as u8][..], &number.to_le_bytes()].concat());
        let mut draft = match dice.below(3) {
            0 => NetworkInput::arbitrary(&mut Unstructured::new(&dice.bytes(600))).ok()?.draft()?,
            _ => generator::draft(dice.roll(), number, None)?,
        };
        let duration = 400 << (2 * dice.below(3));
        let duration = duration + dice.below(duration);
        draft.set(&format!("duration_periods = {duration}"));
        draft.faults.clear();
        draft.remove(&["raw", "endpoint", "messages", "tap"]);
        self.parameters(&mut draft, &mut dice)?;
        Self::traffic(&mut draft, duration, &mut dice);
        let end = usize::try_from(dice.below(2)).ok()?;
        let cables = draft.topology.cables().iter();
        // Taps record wires. N-5
        let cables = cables.filter(|cable| !draft.topology.is_fibre(cable));
        let ends: Vec<_> = cables.filter_map(|cable| cable.ends.get(end)).copied().collect();
        ends.into_iter().for_each(|port| draft.add_tap(port, ""));
        Some(draft)
    }

    /// Links, hosts and routes of the class.
    fn parameters(self, draft: &mut NetworkDraft, dice: &mut SeededRng) -> Option<()> {
        let mut cables = draft.topology.cables().to_vec();
        let timeout = 50 + dice.below(2000);
        for link in cables.iter_mut().map(|cable| &mut cable.link) {
            let enough = [stop_slack(link), stop_slack(&link.turned())];
            for (port, enough) in link.ports.iter_mut().zip(enough) {
                port.blocked = if self == Self::Blocked { Ticks(timeout) } else { BLOCKED };
                // A slow link that fills with IDLE is silent again and again, and loses packets. F-7
                port.fill = facts::without_idle(port.fill);
                port.slack.stop_slack = match self {
                    // Up to half too little.
                    Self::Starved => {
                        enough - u32::try_from(dice.below(1 + u64::from(enough) / 2)).ok()?
                    }
                    Self::Sound | Self::Blocked => enough.max(port.slack.stop_slack),
                };
            }
        }
        draft.set_cables(&cables)?;
        let never = dice.below(3);
        for host in draft.tables("host") {
            host.insert("boot_periods".to_owned(), Value::Integer(0));
            let consumption = host.entry("consumption").or_insert_with(|| "always".into());
            if self == Self::Blocked && dice.below(4) < never {
                *consumption = "never".into();
            } else if self != Self::Starved && consumption.as_str() == Some("never") {
                *consumption = "always".into();
            }
        }
        if self == Self::Blocked {
            let method = if dice.below(4) == 0 { "up-down" } else { "shortest" };
            draft.remove(&["mapper"]);
            draft.set(&format!("routes.method = '{method}'"));
        }
        Some(())
    }

    /// Streams that all begin early, and now and then one of every host.
    fn traffic(draft: &mut NetworkDraft, duration: u64, dice: &mut SeededRng) {
        draft.start_within(duration / 2, 8);
        let large = dice.below(1000);
        if draft.hosts.len() < 2 || dice.below(2) == 0 {
            return;
        }
        for host in draft.hosts.clone() {
            let arrivals = match dice.below(2) {
                0 => "saturate = true".to_owned(),
                _ => format!("every_periods = {}\nlaw = 'poisson'", 1 + dice.below(1000)),
            };
            let from = draft.name(host);
            let keys =
                format!("from = '{from}'\nto = 'uniform'\npayload = [0, {large}]\n{arrivals}");
            draft.add("traffic", &keys);
        }
    }
}

/// Position where a packet was seen: when, on which channel, from which character on, with which syndrome.
type PacketSighting = (u64, ChannelId, u64, Option<u8>);

/// The ways of packets, and what became of them.
#[derive(Debug, Default)]
pub struct JourneyTruth {
    /// The packet of each frame, by its channel and its first byte.
    pub frames: BTreeMap<(ChannelId, u64), PacketId>,
    pub sightings: BTreeMap<PacketId, Vec<PacketSighting>>,
    pub ends: BTreeMap<PacketId, String>,
    pub cut: Vec<PacketId>,
    /// Packets that were on a captured channel as the run ended: their bytes are not all there.
    pub cut_off: Vec<PacketId>,
}

/// The truth of a run, as far as it was captured.
pub fn truth(scenario: &Scenario, outcome: &RunOutcome) -> JourneyTruth {
    let mut truth = JourneyTruth::default();
    let topology = &scenario.topology;
    let mut taps: BTreeMap<_, [Option<ChannelId>; 2]> = BTreeMap::new();
    for tap in &scenario.taps {
        let Some(peer) = topology.peer(tap.port) else { continue };
        let [own, far] = [tap.port, peer].map(|port| topology.port_name(port));
        let channel = |name: String| {
            let mut channels = (0..).zip(&outcome.channels);
            channels.find(|(_, channel)| channel.name == name).map(|(id, _)| ChannelId(id))
        };
        let ids = [channel(format!("{own}>{far}")), channel(format!("{far}>{own}"))];
        taps.insert(tap.port, ids);
    }
    for row in &outcome.rows {
        let Some(packet) = row.packet else { continue };
        let [out, back] = taps.get(&row.place).copied().unwrap_or_default();
        let (frame, channel) = match &row.kind {
            TruthEventKind::Sent(frame) => (frame, out),
            TruthEventKind::Received(frame) => (frame, back),
            TruthEventKind::Consumed { .. } => {
                truth.ends.insert(packet, "arrived".to_owned());
                continue;
            }
            TruthEventKind::Dropped(rule) => {
                truth.ends.insert(packet, rule.0.to_owned());
                continue;
            }
            TruthEventKind::Merged => {
                truth.ends.insert(packet, "merged".to_owned());
                continue;
            }
            TruthEventKind::Truncated(_) | TruthEventKind::Overflow => {
                truth.cut.push(packet);
                continue;
            }
            _ => continue,
        };
        let Some(channel) = channel else { continue };
        let period_ps =
            outcome.channels.get(channel.0 as usize).map_or(12_500, |it| it.period.ps());
        let period = period_ps / 12_500;
        match frame.ended_by {
            FrameEnd::Gap => {}
            FrameEnd::CaptureEnd => truth.cut_off.push(packet),
            FrameEnd::OpenLink | FrameEnd::Reset | FrameEnd::Hole => truth.cut.push(packet),
        }
        truth.frames.insert((channel, frame.start), packet);
        let seen = (frame.start * period, channel, frame.start, frame.packet.check.syndrome());
        truth.sightings.entry(packet).or_default().push(seen);
    }
    truth.sightings.values_mut().for_each(|way| way.sort());
    truth
}

pub fn journeys(capture: &[u8]) -> Vec<Journey> {
    let journey =
        |told| if let AnalysisEvent::Journey(journey) = told { Some(journey) } else { None };
    analyzed(capture, AnalysisScope::Network, journey).0
}

/// Journeys of a network, or of several, compared with the truth.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JourneyTally {
    pub packets: usize,
    /// Packets with a journey of all their hops and no other.
    pub right: usize,
    /// Packets without one in a network with fibres that were cut there by FRES, or lost bytes. R-2, F-9
    pub cut_at_fibres: usize,
    pub journeys: usize,
    pub followed: usize,
    pub by_order: usize,
    pub certain: usize,
    /// Journeys of several packets among these.
    pub too_certain: usize,
    /// Injuries between two taps of packets that were not damaged there.
    pub false_injuries: usize,
    /// Differences from the truth, one per line.
    pub differences: String,
    /// Numbers of the networks with differences.
    pub wrong: Vec<u64>,
}

impl JourneyTally {
    /// Runs the networks of a class and compares the journeys of their captures with the truth.
    pub fn of(class: NetworkClass, numbers: Range<u64>) -> Self {
        let each = numbers.into_par_iter().filter_map(|number| {
            let tally = Self::compare(&class.scenario(number)?);
            let is_right =
                tally.right + tally.cut_at_fibres == tally.packets && tally.false_injuries == 0;
            let wrong = (!is_right || tally.too_certain > 0).then_some(number);
            let wrong = wrong.into_iter().collect();
            Some(Self { wrong, differences: String::new(), ..tally })
        });
        each.reduce(Self::default, |mut sum, one| {
            sum.packets += one.packets;
            sum.right += one.right;
            sum.cut_at_fibres += one.cut_at_fibres;
            sum.certain += one.certain;
            sum.too_certain += one.too_certain;
            sum.false_injuries += one.false_injuries;
            sum.wrong.extend(one.wrong);
            sum
        })
    }

    /// Runs a network and compares the journeys of its capture with the truth.
    pub fn compare(scenario: &Scenario) -> Self {
        let outcome = RunOutcome::of(scenario);
        let truth = truth(scenario, &outcome);
        let mut tally = Self { packets: truth.sightings.len(), ..Self::default() };
        let topology = &scenario.topology;
        let has_fibres = topology.cables().iter().any(|cable| topology.is_fibre(cable));
        let mut found = BTreeMap::new();
        for journey in journeys(&outcome.capture) {
            let hops = journey.hops.iter().map(|hop| (hop.channel, hop.start.0));
            let hops: Vec<_> = hops.collect();
            let packet = hops.first().and_then(|hop| truth.frames.get(hop));
            let mixed = hops.iter().any(|hop| truth.frames.get(hop) != packet);
            let certain = journey.certainty == MatchCertainty::Certain;
            tally.journeys += 1;
            tally.followed += usize::from(hops.len() > 1);
            tally.by_order += usize::from(journey.certainty == MatchCertainty::ByOrder);
            tally.certain += usize::from(certain);
            tally.too_certain += usize::from(certain && mixed);
            let between = journey.injuries.iter().filter(|injury| injury.after.is_some());
            let wrong = between.filter(|it| mixed || matches!(it.harm, Corruption::Flipped(_)));
            tally.false_injuries += wrong.count();
            let known: BTreeSet<_> = hops.iter().filter_map(|hop| truth.frames.get(hop)).collect();
            if known.len() > 1 {
                let text = format!("MIXED {:?} {known:?}: {journey:?}\n", journey.certainty);
                tally.differences += &text;
            }
            found.insert(hops, journey);
        }
        for (packet, way) in &truth.sightings {
            let way: Vec<_> = way.iter().map(|seen| (seen.1, seen.2)).collect();
            match found.get(&way) {
                Some(journey) => {
                    tally.right += 1;
                    let differences = [
                        truth.fate(packet, journey, scenario.duration),
                        truth.injuries(packet, journey),
                    ];
                    tally.differences.extend(differences.into_iter().flatten());
                }
                None if has_fibres && truth.is_cut(packet) => tally.cut_at_fibres += 1,
                None => tally.differences += &format!("LOST {packet:?} went {way:?}\n"),
            }
        }
        tally
    }
}

impl JourneyTruth {
    fn is_cut(&self, packet: &PacketId) -> bool {
        self.cut.contains(packet) || self.cut_off.contains(packet)
    }

    /// Difference between the end of a journey and that of its packet.
    fn fate(&self, packet: &PacketId, journey: &Journey, duration: u64) -> Option<String> {
        let end = self.ends.get(packet).map_or("under way", String::as_str);
        let right = match journey.fate {
            JourneyFate::OutOfSight => true,
            JourneyFate::Arrived | JourneyFate::Misrouted => {
                let last = journey.hops.last();
                end == "arrived" || last.is_some_and(|last| last.end.0 + 64 > duration)
            }
            JourneyFate::Dropped(None) => !["arrived", "merged", "under way"].contains(&end),
            JourneyFate::Dropped(Some(rule)) => {
                rule == end || (rule == "R-2" && end == "R-3") || (rule == "S-1" && end == "F-7")
            }
            JourneyFate::Merged => end == "merged",
            JourneyFate::UnderWay => end == "under way",
        };
        (!right).then(|| format!("{packet:?} {end}: {journey:?}\n"))
    }

    /// Difference in injuries: the syndrome changes where a packet is damaged, and only there. P-5
    fn injuries(&self, packet: &PacketId, journey: &Journey) -> Option<String> {
        if self.is_cut(packet) {
            return None;
        }
        let (mut before, mut after, mut expected) = (0, None, Vec::new());
        for (_, channel, _, syndrome) in self.sightings.get(packet)? {
            let Some(syndrome) = *syndrome else { continue };
            if syndrome != before {
                expected.push((after, *channel, syndrome ^ before));
            }
            (before, after) = (syndrome, Some(*channel));
        }
        let flipped =
            journey.injuries.iter().filter(|it| matches!(it.harm, Corruption::Flipped(_)));
        let found: Vec<_> = flipped.map(|it| (it.after, it.seen, it.syndrome)).collect();
        let text = || format!("{packet:?} damaged {expected:?}, found {found:?}: {journey:?}\n");
        (found != expected).then(text)
    }
}
