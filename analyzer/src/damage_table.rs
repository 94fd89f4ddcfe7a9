//! Damage by link and wire: bits flipped between two captured channels. P-5, W-5

use std::collections::BTreeMap;

use codec::capture::{Channel, ChannelId};

use crate::journey::{Corruption, Journey};
use crate::row::FieldShape::Number;
use crate::row::row;
use crate::totals::AddTotals;

/// Maximum of pairs of channels. *Chosen*: a switch of 32 ports has 1024.
const PAIRS_MAX: usize = 1 << 16;
row! {
    /// Row of `myriscope links --damage`, as specified in `docs/output.md`.
    pub struct WireDamageRow<'a> {
        after: &'a str, "", "", "last channel on which the packets were as before";
        seen: &'a str, "", "", "first channel on which they are different";
        wire: Option<u8> as Number(7), "", "W-1", "wire of the flipped bits; none for packets not compared";
        cleared: u64, "bits", "W-5", "ones that became zeros on it";
        set: u64, "bits", "W-8", "zeros that became ones on it";
        packets: u64, "packets", "P-5", "packets with flipped bits on it";
        alone: u64, "packets", "P-5", "packets of these that it explains alone";
        damaged: u64, "packets", "P-5", "all packets with bits flipped between the two channels";
    }
}

/// Damage of all links of a capture.
#[derive(Debug, Default)]
pub struct DamageTable {
    /// By pair of channels and wire: cleared and set bits, packets, and packets that it explains alone.
    wires: BTreeMap<(ChannelId, ChannelId, Option<u8>), [u64; 4]>,
    /// All packets by pair of channels.
    damaged: BTreeMap<(ChannelId, ChannelId), u64>,
}

impl DamageTable {
    /// Adds what was flipped in a packet, on channels that are selected.
    pub fn add(&mut self, journey: &Journey, is_selected: impl Fn(ChannelId) -> bool) {
        for injury in journey.own_injuries() {
            let (Some(after), Corruption::Flipped(_)) = (injury.after, injury.harm) else {
                continue;
            };
            let pair = (after, injury.seen);
            let is_full = self.damaged.len() >= PAIRS_MAX && !self.damaged.contains_key(&pair);
            if is_full || !(is_selected(after) || is_selected(injury.seen)) {
                continue;
            }
            *self.damaged.entry(pair).or_default() += 1;
            let mut add = |wire, counts: [u64; 4]| {
                self.wires.entry((after, injury.seen, wire)).or_default().absorb(&counts);
            };
            let Some(damage) = &injury.damage else {
                add(None, [0, 0, 1, 0]);
                continue;
            };
            let alone = damage.tally.single().is_some().into();
            for (wire, cleared, set) in damage.tally.wires() {
                add(Some(wire), [cleared, set, 1, alone]);
            }
        }
    }

    /// The rows by channels and wires, each with the channel on which the damage was seen.
    pub fn rows<'a>(
        &self,
        known: &dyn Fn(ChannelId) -> Option<&'a Channel>,
    ) -> Vec<(&'a Channel, WireDamageRow<'a>)> {
        let row = |(key, counts): (&(ChannelId, ChannelId, Option<u8>), &[u64; 4])| {
            let ((after, seen, wire), [cleared, set, packets, alone]) = (*key, *counts);
            let damaged = self.damaged.get(&(after, seen)).copied().unwrap_or_default();
            let (after, channel) = (&*known(after)?.name, known(seen)?);
            let seen = &channel.name;
            let row = WireDamageRow { after, seen, wire, cleared, set, packets, alone, damaged };
            Some((channel, row))
        };
        self.wires.iter().filter_map(row).collect()
    }
}
