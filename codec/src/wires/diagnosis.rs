//! Causes of characters that are no Myrinet traffic, found by what would repair them.

use super::map::good_packets;
use super::{GuessedMap, PlacedCharacter, WIRES, WireMap, WireQuality, find_order};
use crate::character::{Character, DecodedCode, decode_control};

/// Periods that the search for late wires looks at.
const LATE_TRIED: usize = 8192;

/// Fewest packets with a good CRC that show late wires: of 510 sets, none makes four good by chance.
const GOOD_MIN: usize = 4;

/// Fewest characters whose places show one edge of `sendclk`, and whose wires show that one is open.
const CHARACTERS_MIN: u64 = 64;

/// Fewest characters with `d` that show two in one: the ends of two packets. *Chosen*
const MERGED_MIN: usize = 4;

/// Fault of a recording's wires or clock, with the evidence for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WiringFault {
    /// The wires are in another order.
    Order(GuessedMap),
    /// Some wires, given as a set, are recorded a character later than the others; packets with a good CRC
    /// once they are moved, and all packets.
    LateWires(u16, usize, usize),
    /// Samples of one edge of `sendclk` only: two characters in one. W-2
    OneEdge,
    /// Wires, given as a set, that never change. W-5
    Open(u16),
    /// Transitions of a wire are spread over more than half a period.
    Spread,
    /// None of these.
    Unknown,
}

impl WiringFault {
    /// The wires that never change, if there are any and enough characters to tell. W-5
    pub fn open(quality: &WireQuality) -> Option<Self> {
        let never = (0..).zip(&quality.eyes).filter(|(_, eye)| eye.count() == 0);
        let open = never.fold(0, |open, (wire, _)| open | 1 << wire);
        (open != 0 && quality.characters >= CHARACTERS_MIN).then_some(Self::Open(open))
    }

    /// The smallest set of wires that gives most packets a good CRC once each is a character earlier.
    pub fn late(characters: &[PlacedCharacter]) -> Option<Self> {
        let first = characters.first()?.place;
        let mut periods = [0; LATE_TRIED];
        for placed in characters {
            let at = usize::try_from(placed.place - first).ok();
            match at.and_then(|at| periods.get_mut(at)) {
                Some(period) => *period = placed.character.bits(),
                None => break,
            }
        }
        let mut sets: Vec<u16> = (1..(1 << WIRES) - 1).collect();
        sets.sort_by_key(|set| set.count_ones());
        sets.into_iter().find_map(|late| {
            let later = periods.iter().skip(1);
            let moved: Vec<u16> =
                periods.iter().zip(later).map(|(now, next)| now & !late | next & late).collect();
            let (good, packets) = good_packets(&moved);
            (good >= GOOD_MIN && good * 2 >= packets)
                .then_some(Self::LateWires(late, good, packets))
        })
    }

    /// Searches the cause of bad characters, from those of the beginning of a recording. `proved` are orders of the wires on
    /// other channels.
    pub fn find(characters: &[PlacedCharacter], quality: &WireQuality, proved: &[WireMap]) -> Self {
        let sent = PlacedCharacter::bits(characters);
        let alike = [0, quality.characters].contains(&quality.odd_places);
        if alike && quality.characters >= CHARACTERS_MIN {
            return Self::OneEdge;
        }
        let order = find_order(&sent, proved).map(Self::Order);
        let named = order.or_else(|| Self::late(characters)).or_else(|| Self::open(quality));
        if let Some(named) = named {
            named
        } else if quality.off_phase * 20 > quality.characters {
            Self::Spread
        } else if is_merged(characters) {
            Self::OneEdge
        } else {
            Self::Unknown
        }
    }
}

/// True if the characters look like two in one: `d` cancels inside packets, where two bytes then make a code
/// that is in no table, and is left at their ends alone.
fn is_merged(characters: &[PlacedCharacter]) -> bool {
    let (mut data, mut invalid, mut beside, mut last) = (0, 0, 0, None);
    for PlacedCharacter { place, character, .. } in characters {
        match character {
            Character::Data(_) => {
                data += 1;
                beside += usize::from(last.replace(*place) == place.checked_sub(1));
            }
            Character::Control(code) => {
                invalid += usize::from(decode_control(*code) == DecodedCode::Invalid);
            }
        }
    }
    (MERGED_MIN..characters.len() / 3).contains(&data)
        && beside * 8 < data
        && invalid * 4 > characters.len()
}
