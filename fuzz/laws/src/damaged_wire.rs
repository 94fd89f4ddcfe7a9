//! Law: one damaged wire in a random network is named where its packets pass two taps.

#![expect(clippy::wildcard_enum_match_arm, reason = "most kinds of rows are not about a frame")]

use analyzer::finding::{FactValue, FindingKind};
use codec::packet::CrcCheck;
use simulator::fault::{FaultKind, FaultSpec};
use simulator::scenario::Scenario;
use simulator::topology::NodePort;
use simulator::truth::{TruthEvent, TruthEventKind};

use crate::network::analyzed::AnalyzedCapture;
use crate::network::draft::NetworkDraft;
use crate::network::findings::is_in_order;
use crate::network::input::NetworkInput;
use crate::network::run::RunOutcome;
use crate::repair::SeededRng;

/// Shortest packet that must be followed. *Chosen*: fewer bytes agree with others by chance.
const LENGTH_MIN: u64 = 10;

/// Result of a network with a damaged wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WireOutcome {
    /// No network, or no packet was damaged between two taps.
    NoDamage,
    /// Every finding names the wire.
    Named,
    /// What the findings say instead.
    Missed(String),
}

/// Draws a network in which nothing else is wrong, taps every cable at one end, damages a wire of one
/// channel, and checks what is said of it.
pub fn damaged_wire(number: u64) -> WireOutcome {
    let Some((draft, fault, wire)) = drawn(number) else { return WireOutcome::NoDamage };
    let broken = draft.scenario();
    let outcome = RunOutcome::of(&broken);
    if !is_seen(&outcome.rows, &broken, fault.place) {
        return WireOutcome::NoDamage;
    }
    let set = AnalyzedCapture::of(&outcome.capture).set;
    let found = set.found().filter(|(kind, ..)| *kind == FindingKind::CorruptedInTransit);
    let named: Vec<Option<u64>> =
        found.map(|(_, _, found)| found.fact("wire").and_then(FactValue::number)).collect();
    if !named.is_empty() && named.iter().all(|it| *it == Some(wire)) {
        return WireOutcome::Named;
    }
    WireOutcome::Missed(format!("wire {wire}, found {named:?}"))
}

/// The file of a network with its fault, for its examination.
pub fn draft(number: u64) -> Option<NetworkDraft> {
    drawn(number).map(|(draft, ..)| draft)
}

fn drawn(number: u64) -> Option<(NetworkDraft, FaultSpec, u64)> {
    let (mut draft, mut dice) = NetworkInput::sound(b"one wire", number)?;
    draft.remove(&["tap"]);
    draft.add("tap", "all = true");
    let scenario = draft.scenario();
    let draw = |dice: &mut SeededRng, below: u64| {
        let bytes = dice.bytes(8).try_into().unwrap_or_default();
        u64::from_le_bytes(bytes) % below.max(1)
    };
    let tap =
        *scenario.taps.get(usize::try_from(draw(&mut dice, scenario.taps.len() as u64)).ok()?)?;
    let place =
        if draw(&mut dice, 2) == 0 { tap.port } else { scenario.topology.peer(tap.port)? };
    let wire = draw(&mut dice, 8);
    let at = draw(&mut dice, scenario.duration / 2);
    let until = at + 1 + draw(&mut dice, scenario.duration - at);
    let kind = FaultKind::OpenWire { wire: u8::try_from(wire).ok()? };
    let before = RunOutcome::of(&scenario);
    let fault = FaultSpec { at, until: Some(until), place, kind };
    draft.faults.push(fault.clone());
    is_in_order(&scenario, &before).then_some((draft, fault, wire))
}

/// Tests whether a packet that the channel from a port hurt was captured whole before and after: by the tap
/// of the channel itself at one end, and by one beyond the switch at the other end. Copies of a packet that met a
/// full buffer differ by more than the wire.
fn is_seen(rows: &[TruthEvent], scenario: &Scenario, from: NodePort) -> bool {
    let Some(to) = scenario.topology.peer(from) else { return false };
    let is_before = scenario.taps.iter().any(|tap| tap.port == from);
    let frame = |row: &TruthEvent| match &row.kind {
        TruthEventKind::Received(frame) => {
            Some((row.packet?, row.place, true, frame.packet.length, frame.packet.check))
        }
        TruthEventKind::Sent(frame) => {
            Some((row.packet?, row.place, false, frame.packet.length, frame.packet.check))
        }
        _ => None,
    };
    let frames = || rows.iter().filter_map(frame);
    frames().any(|(id, place, is_received, length, check)| {
        let is_bad = matches!(check, CrcCheck::Bad(_)) && length >= LENGTH_MIN;
        let is = |wanted: (NodePort, bool, u64)| {
            frames().any(|(it, place, received, length, _)| {
                (it, (place, received, length)) == (id, wanted)
            })
        };
        let beyond = |node, received, wanted| {
            frames().any(|(it, place, is_received, length, _)| {
                (it, place.node, is_received, length) == (id, node, received, wanted)
            })
        };
        let is_surrounded = || {
            if is_before {
                beyond(to.node, false, length - 1)
            } else {
                beyond(from.node, true, length + 1)
            }
        };
        let is_lost = || {
            let mut rows = rows.iter().filter(|row| row.packet == Some(id));
            rows.any(|row| row.kind == TruthEventKind::Overflow)
        };
        (place, is_received, is_bad) == (to, true, true)
            && !is_lost()
            && is((from, false, length))
            && is_surrounded()
    })
}
