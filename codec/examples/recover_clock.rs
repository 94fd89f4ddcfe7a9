//! Sends characters over the wires of a link, whose clocks are 100 ppm fast and slow, with a skew of 5.5 ns and 1 ns of
//! jitter, recovers them, and compares each: `cargo run --release -p myriscope-codec --example recover_clock -- 1000000000`.
//! W-1 to W-6

use std::collections::VecDeque;
use std::io::{self, Write};

use myriscope_codec::Character;
use myriscope_codec::recording::export::WireDelays;
use myriscope_codec::wires::{
    ClockRecovery, PlacedCharacter, SenderClock, WIRES, WireEncoder, WireQuality,
};

/// Character period at the full rate.
const PERIOD_FS: u64 = 12_500_000;

/// Skew of W-4: wire 3 is the latest.
const SKEW_FS: [u64; WIRES] =
    [0, 2_700_000, 400_000, 5_500_000, 1_300_000, 4_900_000, 3_100_000, 900_000, 2_200_000];

/// Transitions that are read at once; from the first of them the clock is learned.
const BATCH: usize = 20_000;

fn main() -> io::Result<()> {
    let count = std::env::args().nth(1).and_then(|it| it.parse().ok()).unwrap_or(10_000_000) / 2;
    let mut out = io::stdout().lock();
    for ppm in [100, -100] {
        let mut check = CharacterCheck::default();
        let Some(WireQuality { doubled, off_phase, spread_fs, .. }) = check.run(ppm, count) else {
            return Err(io::Error::other("too few characters to learn the clock"));
        };
        let CharacterCheck { sent, right, .. } = check;
        let (wrong, ns, ps) = (sent - right, spread_fs / 1_000_000, spread_fs / 1000 % 1000);
        writeln!(
            out,
            "{ppm:+} ppm: {count} characters sent, {sent} other than IDLE, {right} right, {wrong} wrong; \
             spread {ns}.{ps:03} ns, {doubled} doubled, {off_phase} off phase"
        )?;
    }
    Ok(())
}

/// Characters of a channel, each of which is compared.
#[derive(Default)]
struct CharacterCheck {
    sent: u64,
    right: u64,
    /// Places and characters that have been sent and not received, since the first one.
    expected: VecDeque<(u64, Character)>,
    /// Place of the first received character.
    first: Option<u64>,
}

impl CharacterCheck {
    fn run(&mut self, ppm: i64, count: u64) -> Option<WireQuality> {
        let period_fs = PERIOD_FS.saturating_add_signed(-ppm * 1250);
        let mut delays = WireDelays { skew_fs: SKEW_FS, ..WireDelays::random(0, 1_000_000, 1) };
        let mut encoder = WireEncoder::new(period_fs, 3 * PERIOD_FS);
        let mut random = 1_u64;
        let (mut batch, mut placed) = (Vec::new(), Vec::new());
        let mut recovery: Option<ClockRecovery> = None;
        for place in 0..count {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let character = traffic(place, random);
            if character != Character::IDLE {
                self.sent += 1;
                self.expected.push_back((place, character));
            }
            encoder.send(character, |wire| delays.delay(wire), |it| batch.push(it));
            if batch.len() >= BATCH || place + 1 == count {
                let learn =
                    || SenderClock::learn(&batch, PERIOD_FS).as_ref().map(ClockRecovery::new);
                recovery = recovery.or_else(learn);
                recovery.as_mut()?.receive(&batch, &mut placed);
                batch.clear();
                placed.drain(..).for_each(|placed| self.receive(placed));
            }
        }
        encoder.finish(|it| batch.push(it));
        let mut recovery = recovery?;
        recovery.receive(&batch, &mut placed);
        let (last, quality) = recovery.finish();
        placed.into_iter().chain(last).for_each(|placed| self.receive(placed));
        Some(quality)
    }

    fn receive(&mut self, placed: PlacedCharacter) {
        let first_sent = self.expected.front().map_or(0, |(place, _)| *place);
        let first = *self.first.get_or_insert(placed.place.wrapping_sub(first_sent));
        let place = placed.place.wrapping_sub(first);
        // A character that was lost leaves its place.
        while self.expected.front().is_some_and(|(sent, _)| *sent < place) {
            self.expected.pop_front();
        }
        if self.expected.front() == Some(&(place, placed.character)) {
            self.expected.pop_front();
            self.right += 1;
        }
    }
}

/// Packets of random bytes, each behind fill and silence of 15 periods. F-7
fn traffic(place: u64, random: u64) -> Character {
    match place % 2048 {
        0..1000 if place.is_multiple_of(2) => Character::Control(0x03),
        0..1000 | 2047 => Character::GAP,
        1000..1015 => Character::IDLE,
        _ => Character::Data(random.to_le_bytes()[7]),
    }
}
