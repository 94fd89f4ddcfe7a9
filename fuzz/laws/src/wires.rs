//! The wires of a channel: what is encoded is decoded again, whatever the skew inside the window; a glitch changes two
//! characters at most; any transitions are read. W-1 to W-8

use arbitrary::{Arbitrary, Unstructured};
use codec::character::Character;
use codec::wires::{
    ClockRecovery, PlacedCharacter, SenderClock, WIRES, WindowDecoder, WireEncoder, WireTransition,
    guess_map,
};

/// Character period at the full rate.
const PERIOD_FS: u64 = 12_500_000;

/// Longest window that the next character cannot enter, whatever its wires' delays. W-3
const WINDOW_FS: u64 = PERIOD_FS / 2 - 1_000_000;

/// Characters on a channel, and the delays of its wires.
#[derive(Clone, Debug, Arbitrary)]
struct WiresInput {
    delays: [u8; WIRES],
    ppm: i8,
    glitch: Option<(u16, u16, u8)>,
    characters: Vec<u16>,
}

/// Encodes the characters that some bytes stand for, and reads them as a receiver does.
pub fn law(bytes: &[u8]) {
    let Ok(input) = WiresInput::arbitrary(&mut Unstructured::new(bytes)) else { return };
    let sent: Vec<Character> =
        input.characters.iter().map(|bits| Character::from_bits(bits & 0x1ff)).collect();
    let period_fs = PERIOD_FS.saturating_add_signed(i64::from(input.ppm) * 1250);
    let delays = input.delays.map(|delay| u64::from(delay) * (WINDOW_FS / 256));
    let places: Vec<(u64, Character)> = (0..)
        .zip(sent.iter().copied())
        .filter(|(_, character)| *character != Character::IDLE)
        .collect();
    let all = transitions(&sent, period_fs, delays, None);
    check(&places, &received(&all), period_fs, 0);
    if let Some((place, length, wire)) = input.glitch {
        let wire = usize::from(wire) % WIRES;
        let place = u64::from(place) * period_fs / 64;
        let toggles = [place, place.saturating_add(1 + u64::from(length) * 100)];
        let all = transitions(&sent, period_fs, delays, Some((toggles, wire)));
        check(&places, &received(&all), period_fs, 4);
        // Without skew it makes no more than it takes.
        let all = transitions(&sent, period_fs, [0; WIRES], Some((toggles, wire)));
        check(&places, &received(&all), period_fs, 2);
    }
}

/// Reads what bytes stand for as transitions in order of time.
pub fn any(bytes: &[u8]) {
    let Ok((period_fs, steps)) = <(u64, Vec<(u32, u16)>)>::arbitrary(&mut Unstructured::new(bytes))
    else {
        return;
    };
    let mut time_fs = 0_u64;
    let all: Vec<WireTransition> = steps
        .into_iter()
        .map(|(step, wires)| {
            // Of 256 steps one is large.
            let step = if step % 256 == 0 { u64::from(step) << 32 } else { u64::from(step) };
            time_fs = time_fs.saturating_add(step);
            WireTransition { time_fs, wires }
        })
        .collect();
    let most = all.iter().map(|it| it.each().count()).sum::<usize>();
    let mut decoder = WindowDecoder::new(period_fs / 2);
    let read: Vec<_> = all.iter().filter_map(|it| decoder.receive(*it)).collect();
    let read = read.len() + usize::from(decoder.finish().is_some());
    assert!(read <= all.len(), "a transition begins one character at most");
    let Some(clock) = SenderClock::learn(&all, period_fs) else { return };
    let mut recovery = ClockRecovery::new(&clock);
    let mut placed: Vec<PlacedCharacter> = Vec::new();
    recovery.receive(&all, &mut placed);
    placed.extend(recovery.finish().0);
    assert!(placed.len() <= most, "a character has a transition");
    in_order(&placed);
    let signals: Vec<u16> = placed.iter().map(|it| it.character.bits()).take(64).collect();
    if let Some(guess) = guess_map(&signals) {
        assert!(guess.good <= guess.packets, "good packets are packets");
    }
}

fn in_order(placed: &[PlacedCharacter]) {
    let in_order = placed.windows(2).all(|pair| matches!(pair, [a, b] if a.place < b.place));
    assert!(in_order, "each place has one character");
}

fn transitions(
    sent: &[Character],
    period_fs: u64,
    delays: [u64; WIRES],
    glitch: Option<([u64; 2], usize)>,
) -> Vec<WireTransition> {
    let (mut encoder, mut all) = (WireEncoder::new(period_fs, 0), Vec::new());
    if let Some((times, wire)) = glitch {
        times.into_iter().for_each(|time| encoder.toggle(time, wire));
    }
    let delay = |wire: usize| delays.get(wire).copied().unwrap_or_default();
    sent.iter().for_each(|character| encoder.send(*character, delay, |it| all.push(it)));
    encoder.finish(|it| all.push(it));
    assert!(all.is_sorted_by_key(|it| it.time_fs), "transitions are in order of time");
    all
}

fn received(all: &[WireTransition]) -> Vec<(u64, Character)> {
    let mut decoder = WindowDecoder::new(WINDOW_FS);
    let mut read: Vec<_> = all.iter().filter_map(|it| decoder.receive(*it)).collect();
    read.extend(decoder.finish());
    read
}

/// Compares characters with those sent, where `differences` may be other ones or missing.
fn check(sent: &[(u64, Character)], read: &[(u64, Character)], period_fs: u64, differences: usize) {
    let read: Vec<(u64, Character)> =
        read.iter().map(|(time, it)| (time / period_fs, *it)).collect();
    if differences == 0 {
        assert_eq!(read, sent, "what is sent is read");
        return;
    }
    let lacking = sent.iter().filter(|it| !read.contains(it)).count();
    let other = read.iter().filter(|it| !sent.contains(it)).count();
    assert!(
        lacking <= 2 && other <= differences,
        "a glitch changes two characters: {lacking} {other}"
    );
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Characters sent, and those received.
    fn pair() -> [Vec<(u64, Character)>; 2] {
        let sent = [Character::Data(0x5a), Character::GAP];
        let read = received(&transitions(&sent, PERIOD_FS, [0; WIRES], None));
        [(0..).zip(sent).collect(), read]
    }

    pub(crate) fn a_wire_that_is_open_is_caught() {
        let [sent, mut read] = pair();
        read[0].1 = Character::Data(0x5b);
        check(&sent, &read, PERIOD_FS, 0);
    }

    pub(crate) fn a_glitch_that_spreads_is_caught() {
        let [sent, _] = pair();
        let more: Vec<_> = sent.iter().chain(&sent).copied().collect();
        let sent: Vec<_> = (0..).zip(more).map(|(at, (_, it))| (at, it)).collect();
        check(&sent, &[], PERIOD_FS, 4);
    }

    pub(crate) fn a_character_that_is_placed_twice_is_caught() {
        let (place, time_fs, edge_fs, spread_fs) = (3, 0, 0, 0);
        let (character, is_behind_hole) = (Character::GAP, false);
        let placed =
            PlacedCharacter { place, time_fs, edge_fs, spread_fs, character, is_behind_hole };
        in_order(&[placed, placed]);
    }
}
