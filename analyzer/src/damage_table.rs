//! Damage by link and wire: bits flipped between two captured channels. P-5, W-5

use std::collections::BTreeMap;

use codec::capture::{Channel, ChannelId};

use crate::journey::{Corruption, Journey, WireTally};
use crate::row::FieldShape::Number;
use crate::row::row;
use crate::totals::AddTotals;

/// Maximum of pairs of channels. *Chosen*: a switch of 32 ports has 1024.
const PAIRS_MAX: usize = 1 << 16;
/// Number of wires of a data byte. W-1
const WIRES: usize = 8;

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

/// Damage between two channels.
#[derive(Debug, Default)]
struct ChannelDamage {
    tally: WireTally,
    packets: [u64; WIRES],
    alone: [u64; WIRES],
    damaged: u64,
    not_compared: u64,
}

/// Damage of all links of a capture.
#[derive(Debug, Default)]
pub struct DamageTable {
    pairs: BTreeMap<(ChannelId, ChannelId), ChannelDamage>,
}

impl DamageTable {
    /// Adds what was flipped in a packet, on channels that are selected.
    pub fn add(&mut self, journey: &Journey, is_selected: impl Fn(ChannelId) -> bool) {
        for injury in &journey.injuries {
            let (Some(after), Corruption::Flipped(_)) = (injury.after, injury.harm) else {
                continue;
            };
            let pair = (after, injury.seen);
            let is_full = self.pairs.len() >= PAIRS_MAX && !self.pairs.contains_key(&pair);
            if is_full || !(is_selected(after) || is_selected(injury.seen)) {
                continue;
            }
            let known = self.pairs.entry(pair).or_default();
            known.damaged += 1;
            let Some(damage) = &injury.damage else {
                known.not_compared += 1;
                continue;
            };
            known.tally.absorb(&damage.tally);
            let alone = damage.tally.single().is_some();
            for (wire, ..) in damage.tally.wires() {
                let counts = [(&mut known.packets, true), (&mut known.alone, alone)];
                for (counts, is_one) in counts {
                    let count = counts.get_mut(usize::from(wire));
                    count.into_iter().for_each(|count| *count += u64::from(is_one));
                }
            }
        }
    }

    /// The rows by channels and wires, each with the channel on which the damage was seen.
    pub fn rows<'a>(
        &self,
        known: &dyn Fn(ChannelId) -> Option<&'a Channel>,
    ) -> Vec<(Option<&'a Channel>, WireDamageRow<'a>)> {
        let name = |id| known(id).map_or("", |channel| channel.name.as_str());
        let mut rows = Vec::new();
        for ((after, seen), it) in &self.pairs {
            let (after, damaged) = (name(*after), it.damaged);
            let mut add = |wire: Option<u8>, [cleared, set, packets, alone]: [u64; 4]| {
                let seen_name = name(*seen);
                let row = WireDamageRow {
                    after,
                    seen: seen_name,
                    wire,
                    cleared,
                    set,
                    packets,
                    alone,
                    damaged,
                };
                rows.push((known(*seen), row));
            };
            let packets = it.packets.into_iter().zip(it.alone);
            let wires = (0..).zip(it.tally.cleared.into_iter().zip(it.tally.set).zip(packets));
            for (wire, ((cleared, set), (packets, alone))) in wires.filter(|it| it.1.1.0 > 0) {
                add(Some(wire), [cleared, set, packets, alone]);
            }
            if it.not_compared > 0 {
                add(None, [0, 0, it.not_compared, 0]);
            }
        }
        rows
    }
}
