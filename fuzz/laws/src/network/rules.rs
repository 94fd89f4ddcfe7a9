//! Laws of the truth alone, for any scenario.

#![expect(clippy::wildcard_enum_match_arm, reason = "each law is about a few kinds of rows")]

use codec::framing::FrameEnd;
use std::collections::{BTreeMap, BTreeSet};

use codec::character::Character;
use simulator::link::LinkParameters;
use simulator::link::tagged_char::PacketId;
use simulator::scenario::Scenario;
use simulator::topology::{ExtensionSupport, NodeKind, NodePort};
use simulator::truth::{FrameRecord, TruthEvent, TruthEventKind};

use super::facts::{commands_due, is_sound, keeps_alive};
use super::run::RunOutcome;

pub fn check(scenario: &Scenario, outcome: &RunOutcome) {
    // Every packet that is injected ends exactly once, or is still in transit.
    let alive = under_way(&outcome.rows);
    assert_eq!(alive.len(), outcome.under_way, "a packet that has not ended is there: {alive:?}");
    let ports = scenario.topology.cables().iter().flat_map(|cable| cable.ends);
    let rows = outcome.rows_by_port();
    let slip = if outcome.rows.iter().any(|row| row.time_ps.is_some()) { 2 } else { 0 };
    for port in ports {
        let Some(end) = LinkEnd::new(scenario, &rows, port, (outcome.from, slip)) else { continue };
        end.what_is_sent_is_received();
        end.no_slack_buffer_overflows();
        end.no_living_link_is_silent();
        end.commands_are_few();
    }
    syndromes_survive(scenario, outcome);
}

/// Cells that the slack buffer at the first end of a link must have above its threshold of STOP, so
/// that it never overflows. The character that crosses the threshold comes in in some period of the far
/// sender. STOP goes out after the generation latency, after the next clock of the own sender;
/// it takes ⌈D/B⌉ periods to the clock by which it can be obeyed, and is obeyed after the far end's
/// periods of interpretation. Characters sent before that arrive ⌊D/B⌋ periods later; and the mark of a
/// packet may follow its last byte even then. Where the clocks differ, they meet anyhow: nearly a
/// period of the own sender more may pass. F-1, F-4
pub fn stop_slack(link: &LinkParameters) -> u32 {
    let [own, far] = &link.ports;
    let [period, far_period] = [own, far].map(|port| u64::from(port.divisor.get()));
    let generation = u64::from(own.generation);
    let periods = if period == far_period {
        2 * link.delay.0.div_ceil(period) + generation
    } else {
        (2 * link.delay.0 + (generation + 1) * period - 1).div_ceil(far_period)
    };
    u32::try_from(periods).unwrap_or(u32::MAX).saturating_add(far.interpretation.into())
}

/// Packets that have not ended, with the times at which they were injected.
pub(crate) fn under_way(rows: &[TruthEvent]) -> BTreeMap<PacketId, u64> {
    let mut alive = BTreeMap::new();
    let mut injected: BTreeSet<PacketId> = BTreeSet::new();
    for row in rows {
        let Some(id) = row.packet else { continue };
        match &row.kind {
            TruthEventKind::Injected { .. } => {
                assert!(injected.insert(id), "a packet is injected once: {row:?}");
                alive.insert(id, row.at);
            }
            TruthEventKind::Consumed { .. }
            | TruthEventKind::Dropped(_)
            | TruthEventKind::Merged => {
                assert!(alive.remove(&id).is_some(), "a packet ends once: {row:?}");
            }
            _ => {}
        }
    }
    alive
}

/// A port, and what is known about its link.
struct LinkEnd<'a> {
    scenario: &'a Scenario,
    from: u64,
    port: NodePort,
    peer: NodePort,
    link: LinkParameters,
    /// Tests whether the channel that goes out and the one that comes in are sound, and not forged.
    sound: [bool; 2],
    /// Periods by which times differ more if clocks do. W-6
    slip: u32,
    own: &'a [&'a TruthEvent],
    far: &'a [&'a TruthEvent],
}

impl<'a> LinkEnd<'a> {
    fn new(
        scenario: &'a Scenario,
        rows: &'a BTreeMap<NodePort, Vec<&'a TruthEvent>>,
        port: NodePort,
        (from, slip): (u64, u32),
    ) -> Option<Self> {
        let peer = scenario.topology.peer(port)?;
        let rows = |port| rows.get(&port).map_or(&[][..], Vec::as_slice);
        Some(Self {
            scenario,
            from,
            port,
            peer,
            link: scenario.topology.link(port)?,
            slip,
            sound: [(port, peer), (peer, port)].map(|(from, to)| is_sound(scenario, from, to)),
            own: rows(port),
            far: rows(peer),
        })
    }

    /// The character periods of its own sender and of the far one, in periods of the full rate.
    fn periods(&self) -> [u64; 2] {
        self.link.ports.map(|port| port.divisor.get().into())
    }

    /// Tests whether a port is a host's that is made to send a character.
    fn has_raw(&self, port: NodePort, character: Character) -> bool {
        let own = self.scenario.raw.iter().filter(|raw| raw.from == port.node);
        own.flat_map(|raw| raw.chars.chars().iter()).any(|other| other == character)
    }

    /// A sound channel brings the frames that were put in.
    fn what_is_sent_is_received(&self) {
        let [own, far] = self.periods();
        let silent = own != far && self.has_raw(self.port, Character::IDLE);
        if !self.sound[0] || !keeps_alive(&self.link) || silent {
            return;
        }
        let frame = |row: &&&TruthEvent| match &row.kind {
            TruthEventKind::Sent(frame) | TruthEventKind::Received(frame)
                if frame.ended_by != FrameEnd::CaptureEnd =>
            {
                Some(frame.clone())
            }
            _ => None,
        };
        let is_sent = |row: &&&TruthEvent| matches!(row.kind, TruthEventKind::Sent(_));
        let is_received = |row: &&&TruthEvent| matches!(row.kind, TruthEventKind::Received(_));
        let arrives = |row: &&&TruthEvent| {
            row.at + self.link.delay.0 + u64::from(self.slip) < self.scenario.duration
        };
        let sent: Vec<FrameRecord> =
            self.own.iter().filter(is_sent).filter(arrives).filter_map(|row| frame(&row)).collect();
        // Periods between the place of a character as it is sent and as it arrives.
        let shift = self.link.delay.0 / own;
        let later = |frame: FrameRecord| FrameRecord {
            start: frame.start + shift,
            end: frame.end + shift,
            ..frame
        };
        let sent: Vec<FrameRecord> = sent.into_iter().map(later).collect();
        let received: Vec<FrameRecord> =
            self.far.iter().filter(is_received).filter_map(|row| frame(&row)).collect();
        // The last one may just arrive.
        let just = usize::from(self.slip > 0 && received.len() == sent.len() + 1);
        let received = received.get(..received.len() - just).unwrap_or_default();
        assert_eq!(sent, received, "what {:?} sends is received", self.port);
    }

    /// F-4, F-9
    fn no_slack_buffer_overflows(&self) {
        let forged = self.has_raw(self.port, Character::Control(0x03));
        let enough = self.link.ports[0].slack.stop_slack >= stop_slack(&self.link) + self.slip;
        // Who takes the other for dead sends on. F-7
        if !enough || forged || self.sound != [true; 2] || !keeps_alive(&self.link) {
            return;
        }
        let overflow = self.own.iter().find(|row| row.kind == TruthEventKind::Overflow);
        assert_eq!(overflow, None, "with enough slack nothing overflows: {:?}", self.link);
    }

    /// F-7, F-8
    fn no_living_link_is_silent(&self) {
        let open = |row: &&&TruthEvent| {
            matches!(row.kind, TruthEventKind::LinkOpen | TruthEventKind::LinkRestored)
        };
        let [own, far] = self.periods();
        let slot = |row: &TruthEvent| row.at / far;
        let open: Vec<_> = self.own.iter().filter(open).map(|row| (slot(row), &row.kind)).collect();
        // The first character arrives this much later.
        let delay = self.link.delay.0;
        let silence = [
            (if own == far { 15 } else { 15 * own / far }, &TruthEventKind::LinkOpen),
            (delay / far, &TruthEventKind::LinkRestored),
        ];
        let before = if own == far { delay / far } else { delay.div_ceil(own) };
        let longer = before >= 16 && self.from == 0;
        let expected: Vec<_> =
            silence.into_iter().take(if longer { open.len().min(2) } else { 0 }).collect();
        let silent = self.has_raw(self.peer, Character::IDLE) || !keeps_alive(&self.link);
        if self.sound[1] && !silent && self.slip == 0 {
            assert_eq!(open, expected, "{:?} hears something", self.port);
        }
    }

    /// Checks the spacing of STOP, GO, STOP: h characters come in between the last two, between the first two h
    /// are taken, one in a period of the full rate. F-4
    fn commands_are_few(&self) {
        let reset = self.own.iter().any(|row| row.kind == TruthEventKind::ResetReceived);
        let hysteresis = u64::from(self.link.ports[0].slack.hysteresis);
        let [own, far] = self.periods();
        // A switch takes the route byte and the next one at once, and gives back that period as it
        // decodes the first.
        let head_start = match self.scenario.topology.node(self.port.node).map(|node| node.kind) {
            Some(NodeKind::Switch(switch))
                if switch.routing > 0 && switch.extensions == ExtensionSupport::Off =>
            {
                1
            }
            Some(NodeKind::Host) => 0,
            Some(NodeKind::Switch(_)) | None => return,
        };
        if reset || self.sound != [true; 2] || !keeps_alive(&self.link) {
            return;
        }
        let taken = hysteresis - head_start.min(hysteresis);
        // Clocks that differ meet anyhow: the first character may come right after GO.
        let least = if own == far {
            hysteresis + taken.div_ceil(own)
        } else {
            (((hysteresis - 1) * far + taken) / own).saturating_sub(1)
        };
        let rows = self.own.iter().copied();
        let due: BTreeSet<u64> = commands_due(&self.link.ports[0], rows).collect();
        let due: Vec<u64> = due.into_iter().collect();
        for three in due.windows(3) {
            if let [first, _, third] = three {
                let apart = third - first;
                assert!(
                    apart + 1 + u64::from(self.slip) >= least,
                    "{three:?} are too near: {:?}",
                    self.link
                );
            }
        }
    }
}

/// A packet that goes through a switch whole is wrong by the same bits as before. P-5
fn syndromes_survive(scenario: &Scenario, outcome: &RunOutcome) {
    type Seen<'a> = [Vec<&'a FrameRecord>; 2];
    let mut seen: BTreeMap<_, Seen<'_>> = BTreeMap::new();
    let mut cut = BTreeSet::new();
    let switches: BTreeSet<_> = scenario.topology.switches().collect();
    let rows = outcome.rows.iter().filter(|row| switches.contains(&row.place.node));
    for row in rows {
        let Some(id) = row.packet else { continue };
        let [came, went] = seen.entry((row.place.node, id)).or_default();
        match &row.kind {
            TruthEventKind::Received(frame) => came.push(frame),
            TruthEventKind::Sent(frame) => went.push(frame),
            TruthEventKind::Overflow | TruthEventKind::Truncated(_) => {
                cut.extend([(row.place.node, id)]);
            }
            _ => {}
        }
    }
    // What is not whole may have as many bytes all the same, those of other packets.
    seen.retain(|place, _| !cut.contains(place));
    for (place, [came, went]) in seen {
        if let ([came], [went]) = (&came[..], &went[..])
            && [came, went].iter().all(|frame| frame.ended_by == FrameEnd::Gap)
            && came.packet.length == went.packet.length + 1
            && went.packet.length > 1
        {
            assert_eq!(came.packet.check, went.packet.check, "a syndrome survives {place:?}");
        }
    }
}
