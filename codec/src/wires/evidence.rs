//! Evidence that signals are the wires of a channel, beyond what chance brings about.

use super::map::{is_good, packets};
use super::recovery::HOLE;
use super::{WIRES, WireMap};
use crate::character::{Character, FIXED};

/// Bits of evidence from which on an order of the wires counts as proved: one in a thousand by chance. *Chosen*
const PROVED_BITS: u32 = 10;

/// Bits of evidence for Myrinet that need nothing else: one in a million. *Chosen*
const CERTAIN_BITS: u32 = 20;

/// Bits that the CRC of a packet gives. P-4
const CRC_BITS: u32 = 8;

/// Fewest control codes that show whether codes are symbols, and packets that show whether CRCs are good. *Chosen*
const CODES_MIN: usize = 8;
const PACKETS_MIN: usize = 4;

/// Packets and symbols of characters, in an order of the wires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireEvidence {
    /// Control codes other than IDLE, probes and replies.
    pub codes: usize,
    /// Those of them that are GAP, GO, STOP, a reset or an alarm. C-2
    pub symbols: usize,
    /// GAPs among them.
    pub gaps: usize,
    /// Different packets between two GAPs that have a CRC to be judged: of three bytes or more that are not all alike.
    pub packets: usize,
    /// Packets of them with a good CRC. P-4
    pub good: usize,
    /// Wires with transitions, as a set.
    pub used: u16,
}

impl WireEvidence {
    /// The evidence in the sets of signals that change in each character, as [`super::PlacedCharacter::bits`] gives them.
    pub fn of(characters: &[u16], map: &WireMap) -> Self {
        let (table, mut found) = (map.table(), Self::default());
        let wires = |signals: &u16| table.get(usize::from(*signals)).copied().unwrap_or(HOLE);
        let sent: Vec<u16> = characters.iter().map(wires).collect();
        found.used = sent.iter().fold(0, |used, wires| used | wires) & !HOLE;
        // The 1s of a single open wire arrive as 0s. W-5
        let is_one_open = found.used.count_ones() as usize == WIRES - 1;
        let carried = if is_one_open { found.used } else { u16::MAX };
        let symbols = FIXED.map(|(code, _)| u16::from(code) & carried);
        for &bits in &sent {
            // Probes and replies are rare, and so many that they prove nothing.
            if bits != 0 && bits >> 8 == 0 && !matches!(bits, 0xc0..=0xc7 | 0xf0..=0xff) {
                found.codes += 1;
                found.symbols += usize::from(symbols.contains(&bits));
                found.gaps += usize::from(bits == Character::GAP.bits() & carried);
            }
        }
        let packets = packets(&sent, 1 << 8, Character::GAP.bits());
        found.good = packets.iter().filter(|packet| is_good(packet)).count();
        Self { packets: packets.len(), ..found }
    }

    /// True if nearly all control codes are symbols.
    pub const fn is_in_code(&self) -> bool {
        // A packet with a good CRC makes up for half of the codes.
        let least = if self.good > 0 { CODES_MIN / 2 } else { CODES_MIN };
        self.codes >= least && self.symbols * 10 >= self.codes * 9
    }

    /// Bits of evidence of the CRCs, where some orders were tried: chance does as well once in two to that power.
    pub fn bits(&self, tried: usize) -> u32 {
        chance_bits(self.good, self.packets, tried)
    }

    /// True if the characters are Myrinet beyond doubt, or nothing speaks against it: GAPs, codes that are symbols, and
    /// packets with good CRCs, or too few packets to judge, or an open wire that spoils them. W-5
    pub fn is_myrinet(&self) -> bool {
        // GAPs alone are any two signals that change together, as a clock and its complement.
        let is_pair = self.used & !Character::GAP.bits() == 0;
        let spoiled = self.packets >= PACKETS_MIN && self.good * 4 < self.packets;
        let open = self.used & 0x1f0 != 0x1f0 && self.used & 0x100 != 0;
        self.gaps > 0
            && !is_pair
            && (self.bits(1) >= CERTAIN_BITS || self.is_in_code() && (!spoiled || open))
    }

    /// Bits of evidence that prove this order to be another one's better: of CRCs, or of a CRC and of codes that are symbols
    /// in this order alone.
    pub fn proof_against(&self, given: &Self, tried: usize) -> Option<u32> {
        let by_codes = self.is_in_code() && given.symbols * 2 < given.codes && self.good > 0;
        let more = if by_codes { CRC_BITS } else { 0 };
        let is_better = self.good > given.good && self.good * 2 >= self.packets;
        Some(self.bits(tried) + more).filter(|bits| is_better && *bits >= PROVED_BITS)
    }
}

/// Bits of evidence of good CRCs among some packets: those of all but the choice of packets and of orders.
pub(super) fn chance_bits(good: usize, packets: usize, tried: usize) -> u32 {
    let mut ways = tried.max(1) as f64;
    for at in 0..good.min(packets - good.min(packets)) {
        ways *= (packets - at) as f64 / (at + 1) as f64;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "0 to some thousand"
    )]
    let spent = ways.log2().ceil().clamp(0.0, 1e6) as u32;
    CRC_BITS.saturating_mul(u32::try_from(good).unwrap_or(u32::MAX)).saturating_sub(spent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_myrinet_by_codes_or_by_packets() {
        // Codes, symbols, GAPs, packets, good ones, and the wires that are used, not all of them with an open wire (W-5).
        let myrinet = "8 8 1 0 0 511; 4 4 1 4 1 511; 20 18 1 0 0 511; 8 8 1 3 0 511; 8 8 1 8 2 511; \
                       8 8 1 4 0 495; 0 0 1 3 3 511; 0 0 1 5 3 511";
        let other = "8 8 0 0 0 511; 7 7 1 0 0 511; 3 3 1 4 1 511; 20 17 1 0 0 511; 8 8 1 4 0 511; 8 8 1 5 1 511; \
                     8 8 1 9 2 511; 99 99 99 0 0 12; 8 8 1 4 0 503; 8 8 1 4 0 255; 0 0 1 2 2 511; 0 0 1 6 3 511";
        for (rows, expected) in [(myrinet, true), (other, false)] {
            for row in rows.split("; ") {
                let numbers: Vec<usize> = row.split(' ').map(|it| it.parse().unwrap()).collect();
                let [codes, symbols, gaps, packets, good, used] = *numbers else { panic!("{row}") };
                let used = u16::try_from(used).unwrap();
                let it = WireEvidence { codes, symbols, gaps, packets, good, used };
                assert_eq!(it.is_myrinet(), expected, "{it:?}");
            }
        }
    }
}
