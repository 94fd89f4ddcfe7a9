//! Notes about cables that cannot work as they should, about replayed packets, and about faults that no tap
//! shows. F-4, W-3, W-7, H-1

use std::collections::BTreeMap;

use codec::time::FULL_RATE_PERIOD_PS;

use super::Scenario;
use crate::fault::{FaultKind, FaultSpec};
use crate::link::{DELAY_PS_PER_M, LinkParameters};
use crate::topology::{CableSpec, NodePort};
use crate::wires::{CableEnds, CableType, NanosecondText};

/// Sampling window at the full rate, in picoseconds. W-3
const WINDOW_PS: u32 = FULL_RATE_PERIOD_PS / 2;

impl Scenario {
    /// Notes about cables: one longer than its type allows, ends that are not mirrored, skew beyond
    /// the window, and, where a type, repeaters or virtual channels are given, a slack buffer that
    /// does not cover it.
    /// Cables with the same note are counted. Then the packets of recordings that are not sent, and the
    /// faults that no tap can show.
    pub fn notes(&self) -> Vec<String> {
        let mut found: BTreeMap<String, (String, usize)> = BTreeMap::new();
        for cable in self.topology.cables() {
            let name = cable.ends.map(|end| self.topology.port_name(end)).join(" to ");
            for note in self.notes_of(cable) {
                found.entry(note).or_insert_with(|| (name.clone(), 0)).1 += 1;
            }
        }
        let line = |(note, (first, count)): (String, (String, usize))| match count - 1 {
            0 => format!("cable {first}: {note}"),
            others => format!("cable {first} and {others} more: {note}"),
        };
        let replays = self.replays.iter().filter_map(|replay| replay.note.clone());
        let hidden = self.faults.iter().filter_map(|fault| self.hidden(fault));
        found.into_iter().map(line).chain(replays).chain(hidden).collect()
    }

    /// What is to be said of a fault that changes characters behind the last tap that they pass.
    fn hidden(&self, fault: &FaultSpec) -> Option<String> {
        match fault.kind {
            FaultKind::Noise { .. } | FaultKind::Flip { .. } | FaultKind::OpenWire { .. } => {}
            FaultKind::Wires(_) | FaultKind::LoseGap => {}
            FaultKind::Cut | FaultKind::ForwardReset | FaultKind::BackwardReset => return None,
            FaultKind::Probe(_) | FaultKind::PowerOff | FaultKind::SupplyOff => return None,
            FaultKind::DeadPort | FaultKind::Consume(_) | FaultKind::Restart => return None,
        }
        let (topology, from) = (&self.topology, fault.place);
        let to = topology.peer(from)?;
        let is_tapped = |port: NodePort| self.taps.iter().any(|tap| tap.port == port);
        let beyond = topology.cables().iter().filter(|cable| {
            cable.ends.iter().any(|end| end.node == to.node) && !cable.ends.contains(&to)
        });
        let is_shown = is_tapped(to) || beyond.flat_map(|cable| cable.ends).any(is_tapped);
        let [from, to] = [from, to].map(|end| topology.port_name(end));
        let name = fault.kind.name();
        (!self.taps.is_empty() && !is_shown).then(|| {
            format!(
                "fault {name} on {from}>{to} acts behind every tap that its characters pass: the capture \
                 cannot show it; tap the port {to}"
            )
        })
    }

    fn notes_of(&self, cable: &CableSpec) -> Vec<String> {
        let CableSpec { ends, link } = cable;
        let wires = link.wires;
        let mut notes = Vec::new();
        if wires.ends == CableEnds::Straight {
            let note = "its ends are not mirror images, so that senders are joined to senders: both \
                        receivers are silent and the link is open (W-7)";
            return vec![note.to_owned()];
        }
        notes.extend(too_long(link));
        if wires.kind != CableType::Any || wires.repeaters > 0 || link.shared().is_some() {
            notes.extend(uncovered(link));
        }
        let spread = ends.map(|end| wires.spread_ps(self.seed, end)).into_iter().max();
        if let Some(spread) = spread.filter(|spread| wires.is_uneven() && *spread > WINDOW_PS) {
            let [spread, window] = [spread, WINDOW_PS].map(NanosecondText);
            notes.push(format!(
                "transitions of a character arrive up to {spread} ns apart, the sampling window of a \
                 receiver at the full rate is {window} ns: late ones fall into the next character (W-3)"
            ));
        }
        notes
    }
}

fn too_long(link: &LinkParameters) -> Option<String> {
    const NM_PER_M: u64 = 1_000_000_000;
    let most = link.wires.kind.metres_max()?;
    // A delay is at least that of the shortest cable that has it.
    let from_delay = || {
        let ps = link.cable_delay().0.saturating_sub(1).saturating_mul(FULL_RATE_PERIOD_PS.into());
        (ps / DELAY_PS_PER_M).saturating_mul(NM_PER_M)
    };
    let sections = u64::from(link.wires.repeaters) + 1;
    let least = if link.wires.length_nm.is_some() { "" } else { "at least " };
    let length = link.wires.length_nm.unwrap_or_else(from_delay) / sections;
    (length > most * NM_PER_M).then(|| {
        let what = if sections > 1 { "each of its sections" } else { "it" };
        let centimetres = length.div_ceil(NM_PER_M / 100);
        let metres = format!("{}.{:02}", centimetres / 100, centimetres % 100);
        let metres = metres.trim_end_matches('0').trim_end_matches('.');
        let word = super::word_of(&CableType::WORDS, link.wires.kind);
        format!(
            "{what} is {least}{metres} m long, the limit of the type `{word}` is {most} m (W-7)"
        )
    })
}

/// A slack buffer that does not cover the round trip, where both ends have the full rate.
fn uncovered(link: &LinkParameters) -> Option<String> {
    let short = [*link, link.turned()].into_iter().find_map(|link| {
        let [own, other] = link.ports;
        // STOP waits while others send theirs. C-7
        let others = link.shared().map_or(0, |codes| codes.channels() - 1);
        let latency = own.generation + other.interpretation + others;
        let round_trip = 2 * link.delay.0 + u64::from(latency);
        let full = [own, other].iter().all(|port| port.divisor.get() == 1);
        let slack = u64::from(own.slack.stop_slack);
        (full && slack < round_trip).then_some((slack, round_trip))
    });
    short.map(|(slack, needed)| {
        format!("`stop_slack` is {slack}, a round trip takes {needed} characters: bytes may be lost (F-4)")
    })
}
