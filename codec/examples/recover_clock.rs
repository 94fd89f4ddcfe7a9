//! Sends characters over the wires of a link, whose clocks are 100 ppm fast and slow, with a skew of 5.5 ns and 1 ns of
//! jitter, recovers them, and compares each: `cargo run --release -p myriscope-codec --example recover_clock -- 1000000000`.
//! W-1 to W-6

use std::collections::VecDeque;
use std::io::{self, Write};

use myriscope_codec::Character;
use myriscope_codec::recording::export::WireDelays;
use myriscope_codec::wires::{
    ClockRecovery, PlacedCharacter, SenderClock, WIRES, WireEncoder, WireQuality, WireTransition,
};

/// Character period at the full rate.
const PERIOD_FS: u64 = 12_500_000;

/// Skew of W-4: wire 3 is the latest.
const SKEW_FS: [u64; WIRES] =
    [0, 2_700_000, 400_000, 5_500_000, 1_300_000, 4_900_000, 3_100_000, 900_000, 2_200_000];

/// Transitions from which the clock is learned.
const HEAD: usize = 20_000;

/// Transitions that are read at once.
const BATCH: usize = 1000;

fn main() -> io::Result<()> {
    let count = std::env::args().nth(1).and_then(|it| it.parse::<u64>().ok());
    let count = count.unwrap_or(10_000_000) / 2;
    let mut out = io::stdout().lock();
    for ppm in [100, -100] {
        let channel = ChannelCheck::run(ppm, count);
        let Some(WireQuality { doubled, off_phase, spread_fs, .. }) = channel.quality else {
            return Err(io::Error::other("too few characters to learn the clock"));
        };
        writeln!(
            out,
            "{ppm:+} ppm: {count} characters sent, {} other than IDLE, {} right, {} wrong; \
             spread {}.{:03} ns, {doubled} doubled, {off_phase} off phase",
            channel.sent,
            channel.right,
            channel.sent - channel.right,
            spread_fs / 1_000_000,
            spread_fs / 1000 % 1000,
        )?;
    }
    Ok(())
}

/// A channel of which every character is compared.
struct ChannelCheck {
    sent: u64,
    right: u64,
    /// Places and characters that have been sent and not received, since the first one.
    expected: VecDeque<(u64, Character)>,
    /// Place of the first received character.
    first: Option<u64>,
    quality: Option<WireQuality>,
}

impl ChannelCheck {
    fn run(ppm: i64, count: u64) -> Self {
        let period_fs = PERIOD_FS.saturating_add_signed(-ppm * 1250);
        let mut delays = WireDelays { skew_fs: SKEW_FS, ..WireDelays::random(0, 1_000_000, 1) };
        let mut encoder = WireEncoder::new(period_fs, 3 * PERIOD_FS);
        let mut traffic = RandomTraffic { state: 1, left: 0, kind: 0 };
        let (mut head, mut recovery): (Vec<WireTransition>, Option<ClockRecovery>) =
            (Vec::new(), None);
        let mut check =
            Self { sent: 0, right: 0, expected: VecDeque::new(), first: None, quality: None };
        let mut batch = Vec::new();
        for place in 0..count {
            let character = traffic.next();
            if character != Character::IDLE {
                check.sent += 1;
                check.expected.push_back((place, character));
            }
            encoder.send(character, |wire| delays.delay(wire), |it| batch.push(it));
            match &mut recovery {
                Some(recovery) if batch.len() >= BATCH => {
                    check.take(recovery, &batch);
                    batch.clear();
                }
                Some(_) => {}
                None => head.append(&mut batch),
            }
            if recovery.is_none() && (head.len() >= HEAD || place + 1 == count) {
                let clock = SenderClock::learn(&head, PERIOD_FS);
                recovery = clock.as_ref().map(ClockRecovery::new);
                let head = std::mem::take(&mut head);
                recovery.iter_mut().for_each(|recovery| check.take(recovery, &head));
            }
        }
        encoder.finish(|it| batch.push(it));
        if let Some(mut recovery) = recovery {
            check.take(&mut recovery, &batch);
            let (placed, quality) = recovery.finish();
            placed.into_iter().for_each(|placed| check.receive(placed));
            check.quality = Some(quality);
        }
        check
    }

    fn take(&mut self, recovery: &mut ClockRecovery, transitions: &[WireTransition]) {
        let mut placed = Vec::new();
        recovery.receive(transitions, &mut placed);
        placed.into_iter().for_each(|placed| self.receive(placed));
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

/// Packets of random bytes, fill, and silence of up to 15 periods. F-7
struct RandomTraffic {
    state: u64,
    left: u64,
    kind: u64,
}

impl RandomTraffic {
    const fn roll(&mut self) -> u64 {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.state >> 32
    }

    fn next(&mut self) -> Character {
        if self.left == 0 {
            self.kind = self.roll() % 4;
            self.left = match self.kind {
                0 => 1 + self.roll() % 15,
                1 => 2 * (1 + self.roll() % 500),
                _ => 1 + self.roll() % 2000,
            };
        }
        self.left -= 1;
        match (self.kind, self.left) {
            (0, _) => Character::IDLE,
            (1, left) if left % 2 == 1 => Character::Control(0x03),
            (1, _) | (_, 0) => Character::GAP,
            (_, _) => Character::Data(self.roll().to_le_bytes()[0]),
        }
    }
}
