//! Assignment of a recording's signals to the wires of a channel, and the search for it.

use super::evidence::chance_bits;
use super::recovery::HOLE;
use super::{WIRES, WireEvidence, WireTransition};
use crate::character::Character;
use crate::crc;

/// Assignment of nine signals to the wires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireMap([u8; WIRES]);

impl WireMap {
    /// Signal i is wire i.
    pub const SAME: Self = Self([0, 1, 2, 3, 4, 5, 6, 7, 8]);

    /// Signals in the opposite order, as at the other end of a cable. W-7
    pub const REVERSED: Self = Self([8, 7, 6, 5, 4, 3, 2, 1, 0]);

    /// Signals of the wires 0 to 7 in the opposite order.
    pub const LOW_REVERSED: Self = Self([7, 6, 5, 4, 3, 2, 1, 0, 8]);

    /// Signal i is wire `wires[i]`. `None` if a wire occurs twice or is none of the nine.
    pub fn new(wires: [u8; WIRES]) -> Option<Self> {
        let seen = wires
            .iter()
            .fold(0_u32, |seen, wire| seen | 1_u32.checked_shl(u32::from(*wire)).unwrap_or(0));
        (seen == (1 << WIRES) - 1).then_some(Self(wires))
    }

    /// The wire of each signal.
    pub const fn wires(&self) -> [u8; WIRES] {
        self.0
    }

    /// The two wires that are exchanged, if the others are in order.
    pub fn swapped(&self) -> Option<(u8, u8)> {
        let mut other = (0..).zip(self.0).filter(|(signal, wire)| signal != wire);
        let (first, _) = other.next()?;
        let (second, _) = other.next()?;
        other.next().is_none().then_some((first, second))
    }

    /// Reversals and all exchanges of two wires: the commonest mistakes.
    fn usual() -> impl Iterator<Item = Self> {
        let pairs = (0..WIRES).flat_map(|first| (0..first).map(move |second| (first, second)));
        let swapped = pairs.map(|(first, second)| {
            let mut wires = Self::SAME.0;
            wires.swap(first, second);
            Self(wires)
        });
        [Self::REVERSED, Self::LOW_REVERSED].into_iter().chain(swapped)
    }

    /// The wires of each set of signals, by the set's bits.
    pub fn table(&self) -> [u16; 1 << WIRES] {
        std::array::from_fn(|signals| {
            let wires = (0..).zip(self.0);
            wires.fold(0, |all, (signal, wire)| all | u16::from(signals >> signal & 1 == 1) << wire)
        })
    }
}

/// A map found by [`guess_map`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuessedMap {
    /// The map.
    pub map: WireMap,
    /// Packets with a good CRC among those looked at.
    pub good: usize,
    /// Packets looked at.
    pub packets: usize,
    /// Evidence: chance does as well once in two to that power, the number of orders tried included.
    pub bits: u32,
    /// Other maps that do as well: the recording cannot tell them apart.
    pub ties: usize,
}

/// Most frequent codes of two bits that are tried as GAP and as GO.
const CODES_TRIED: usize = 4;

/// Fewest good packets: of some ten thousand maps, one makes two good by chance, none four.
const GOOD_MIN: usize = 4;

/// Maps that a search tries, at most: nine signals `d`, four codes of GAP, and with each 96 for four codes of GO and 1440
/// without.
const MAPS_TRIED: usize = 9 * 4 * (4 * 96 + 1440);

/// Packets and bytes of them that a map is judged by.
const PACKETS_TRIED: usize = 64;
const BYTES_TRIED: usize = 4096;

/// The order of the wires for which there is evidence, if there is not for the given one: one that is proved on
/// another channel, a usual mistake, or any other order. `None` if there is none.
pub fn find_order(characters: &[u16], proved: &[WireMap]) -> Option<GuessedMap> {
    let given = WireEvidence::of(characters, &WireMap::SAME);
    let best = |maps: &[WireMap]| {
        let all = maps.iter().map(|map| (*map, WireEvidence::of(characters, map)));
        let (map, found) = all.max_by_key(|(_, found)| (found.good, found.symbols))?;
        let (good, packets) = (found.good, found.packets);
        let bits = found.proof_against(&given, maps.len())?;
        Some(GuessedMap { map, good, packets, bits, ties: 0 })
    };
    let likely = |guess: &GuessedMap| guess.good > given.good + 1;
    best(proved)
        .or_else(|| best(&WireMap::usual().collect::<Vec<_>>()))
        .or_else(|| guess_map(characters).filter(likely))
}

/// Packets with a good CRC, and packets looked at, of characters in the order of the wires.
pub(super) fn good_packets(characters: &[u16]) -> (usize, usize) {
    let packets = packets(characters, 1 << 8, Character::GAP.bits());
    (packets.iter().filter(|packet| is_good(packet)).count(), packets.len())
}

/// Searches the assignment of nine signals for which packets have good CRCs. `characters` are the
/// signals that change in each character with a transition, some ten thousand of them. `None` if no map
/// makes most packets good, at least four.
///
/// GAP and GO are two disjoint codes of two bits, so a choice of `d`, GAP and GO leaves 96 maps;
/// where GO does not occur, 1440. P-1, C-2
pub fn guess_map(characters: &[u16]) -> Option<GuessedMap> {
    let mut best: Option<GuessedMap> = None;
    for d in 0..WIRES {
        let codes = frequent_codes(characters, 1 << d);
        for &gap in &codes {
            let packets = packets(characters, 1 << d, gap);
            if packets.len() < GOOD_MIN {
                continue;
            }
            let sums: Vec<_> = packets.iter().map(|it| SignalSyndromes::of(it)).collect();
            let partners = codes.iter().copied().filter(|go| go & gap == 0);
            for go in partners.map(Some).chain([None]) {
                for_each_map(d, gap, go, |map| {
                    let good = sums.iter().filter(|packet| packet.is_good(map)).count();
                    if good < GOOD_MIN || good * 2 < packets.len() {
                        return;
                    }
                    let bits = chance_bits(good, packets.len(), MAPS_TRIED);
                    let guess = GuessedMap { map, good, packets: packets.len(), bits, ties: 0 };
                    match &mut best {
                        Some(best) if best.map == map => {}
                        Some(best) if best.good * guess.packets == good * best.packets => {
                            // Those with a GO are among those without.
                            best.ties += usize::from(go.is_none());
                        }
                        Some(best) if best.good * guess.packets > good * best.packets => {}
                        best => *best = Some(guess),
                    }
                });
            }
        }
    }
    best
}

/// The commonest codes of two signals without `d`, most frequent first.
fn frequent_codes(characters: &[u16], d: u16) -> Vec<u16> {
    let mut counts = [0_usize; 1 << WIRES];
    for &signals in
        characters.iter().filter(|signals| *signals & d == 0 && signals.count_ones() == 2)
    {
        if let Some(count) = counts.get_mut(usize::from(signals)) {
            *count += 1;
        }
    }
    let mut codes: Vec<(usize, u16)> =
        counts.into_iter().zip(0..).filter(|(count, _)| *count > 0).collect();
    codes.sort_unstable_by_key(|&(count, code)| (usize::MAX - count, code));
    codes.into_iter().take(CODES_TRIED).map(|(_, code)| code).collect()
}

/// Bytes between GAPs, as sets of signals: different ones, of three bytes or more that are not all alike. Short
/// packets and zeros have a good CRC in many orders. P-1
pub(super) fn packets(characters: &[u16], d: u16, gap: u16) -> Vec<Vec<u16>> {
    let mut packets: Vec<Vec<u16>> = Vec::new();
    let mut bytes = 0;
    // What precedes the first GAP may be the end of a packet, and what follows the last is not complete.
    let mut frames: Vec<&[u16]> = characters.split(|signals| *signals == gap).skip(1).collect();
    frames.pop();
    frames.retain(|frame| frame.iter().all(|signals| signals & HOLE == 0));
    for frame in frames {
        let packet: Vec<u16> = frame.iter().copied().filter(|signals| signals & d != 0).collect();
        let is_telling = packet.len() > 2 && packet.iter().any(|byte| Some(byte) != packet.first());
        let has_room = packets.len() < PACKETS_TRIED && bytes + packet.len() <= BYTES_TRIED;
        if is_telling && has_room && !packets.contains(&packet) {
            bytes += packet.len();
            packets.push(packet);
        }
    }
    packets
}

/// True if the CRC is good, of characters in the order of the wires.
pub(super) fn is_good(packet: &[u16]) -> bool {
    let byte = |wires: &u16| match Character::from_bits(*wires) {
        Character::Data(byte) | Character::Control(byte) => byte,
    };
    let bytes: Vec<u8> = packet.iter().map(byte).collect();
    crc::syndrome(&bytes) == Some(0)
}

/// Syndromes of a packet with the bits of one signal alone, by signal and by the wire that it is. The CRC is linear: the
/// syndrome with all signals is their sum. P-4, P-5
struct SignalSyndromes([[u8; 8]; WIRES]);

impl SignalSyndromes {
    fn of(packet: &[u16]) -> Self {
        let alone = |signal, wire| {
            let bytes = packet.iter().map(|signals| u8::from(signals >> signal & 1 == 1) << wire);
            crc::syndrome(&bytes.collect::<Vec<_>>()).unwrap_or_default()
        };
        Self(std::array::from_fn(|signal| std::array::from_fn(|wire| alone(signal, wire))))
    }

    fn is_good(&self, map: WireMap) -> bool {
        // Wire 8 is no bit of a byte.
        let of_wire = |(signal, wire): (&[u8; 8], u8)| signal.get(usize::from(wire)).copied();
        self.0.iter().zip(map.0).filter_map(of_wire).fold(0, |sum, alone| sum ^ alone) == 0
    }
}

/// All maps with these signals as `d`, GAP and GO.
fn for_each_map(d: usize, gap: u16, go: Option<u16>, mut map: impl FnMut(WireMap)) {
    let set =
        |signals: u16| WireTransition { time_fs: 0, wires: signals }.each().collect::<Vec<_>>();
    let used = gap | go.unwrap_or_default() | 1 << d;
    let rest = set(!used & ((1 << WIRES) - 1));
    // GAP is 0x0c and GO is 0x03. C-2
    let (gap, go) = (set(gap), go.map(set));
    let rest_wires: &[u8] = if go.is_some() { &[4, 5, 6, 7] } else { &[0, 1, 4, 5, 6, 7] };
    permutations(&rest, &mut |rest| {
        for swap in 0..if go.is_some() { 4 } else { 2 } {
            let mut wires = [8; WIRES];
            let mut assign = |signal: Option<&usize>, wire: u8| {
                if let Some(entry) = signal.and_then(|signal| wires.get_mut(*signal)) {
                    *entry = wire;
                }
            };
            rest.iter().zip(rest_wires).for_each(|(signal, wire)| assign(Some(signal), *wire));
            gap.iter()
                .zip(0_u8..)
                .for_each(|(signal, at)| assign(Some(signal), 2 + (at ^ (swap & 1))));
            go.iter()
                .flatten()
                .zip(0_u8..)
                .for_each(|(signal, at)| assign(Some(signal), at ^ (swap >> 1)));
            WireMap::new(wires).into_iter().for_each(&mut map);
        }
    });
}

/// Calls `each` with every order of the items.
fn permutations(items: &[usize], each: &mut impl FnMut(&[usize])) {
    fn extend(chosen: &mut Vec<usize>, left: &[usize], each: &mut dyn FnMut(&[usize])) {
        if left.is_empty() {
            each(chosen);
        }
        for (at, item) in left.iter().enumerate() {
            let others: Vec<usize> = left
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != at)
                .map(|(_, item)| *item)
                .collect();
            chosen.push(*item);
            extend(chosen, &others, each);
            chosen.pop();
        }
    }
    extend(&mut Vec::new(), items, each);
}
