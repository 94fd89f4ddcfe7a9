//! Laws of the wires: what is encoded is decoded again. W-1 to W-8

use std::error::Error;

use myriscope_codec::capture::{ChannelId, Chunk, ChunkContent, WriteError};
use myriscope_codec::recording::SignalChange;
use myriscope_codec::recording::export::WireDelays;
use myriscope_codec::recording::import::{RecordedChannel, RecordingImport};
use myriscope_codec::wires::{
    ClockRecovery, PlacedCharacter, SenderClock, WIRES, WindowDecoder, WireEncoder, WireMap,
    WireTransition, guess_map,
};
use myriscope_codec::{CharBuf, Character, notation};
use proptest::prelude::*;

/// Character period at the full rate.
const PERIOD_FS: u64 = 12_500_000;

#[test]
fn a_clock_begins_with_the_first_character_whatever_wire_it_comes_on() {
    // Wire 1 is 5.5 ns behind wire 0, and its first transition 1 ns more: nearer to the edge after its own.
    let transition = |time_fs, wires| WireTransition { time_fs, wires };
    let later = (11..500_u64).flat_map(|place| {
        [transition(place * PERIOD_FS, 1), transition(place * PERIOD_FS + 5_500_000, 2)]
    });
    let all: Vec<_> =
        [transition(10 * PERIOD_FS + 6_500_000, 2)].into_iter().chain(later).collect();
    let clock = SenderClock::learn(&all, PERIOD_FS).unwrap();
    assert!(clock.edge_fs.abs_diff(10 * PERIOD_FS) < PERIOD_FS / 10, "{}", clock.edge_fs);
}

/// Of wires that always change together nobody can tell which is which.
#[test]
fn orders_that_do_as_well_are_counted() -> Result<(), Box<dyn Error>> {
    let is_alike = |byte: u8| byte >> 5 & 1 == byte >> 6 & 1;
    let mut characters = notation::parse("GAP GO GAP")?;
    for number in 0..4000_u64 {
        let bytes = [number, number * 7, number * 31].map(|it| u8::try_from(it % 256).unwrap());
        let check = myriscope_codec::crc::crc8(&bytes);
        if bytes.into_iter().chain([check]).all(is_alike) {
            characters.push_data(&[&bytes[..], &[check]].concat());
            characters.push_chars(notation::parse("GAP GO GAP")?.chars());
        }
    }
    let bits: Vec<u16> = characters.chars().iter().map(Character::bits).collect();
    assert_eq!(guess_map(&bits).ok_or("no map")?.ties, 1);
    Ok(())
}

/// Fill and packets whose bytes take all values.
fn traffic(packets: usize) -> Result<CharBuf, Box<dyn Error>> {
    let mut characters = CharBuf::new();
    for packet in 0..packets {
        let bytes: Vec<u8> = (0..40)
            .map(|at| u8::try_from((packet * 67 + at * 29) % 256))
            .collect::<Result<_, _>>()?;
        characters.push_chars(notation::parse("GAP GO GAP GO GAP IDLE×3 GO GAP")?.chars());
        characters.push_data(&bytes);
        characters.push_data(&[myriscope_codec::crc::crc8(&bytes)]);
    }
    characters.push(Character::GAP);
    Ok(characters)
}

/// Transitions with the delay of each wire and jitter.
fn transitions(
    characters: &CharBuf,
    period_fs: u64,
    delays: [u64; WIRES],
    jitter_fs: u64,
) -> Vec<WireTransition> {
    let mut delays = WireDelays { skew_fs: delays, ..WireDelays::random(0, jitter_fs, 1) };
    let (mut encoder, mut all) = (WireEncoder::new(period_fs, 3 * PERIOD_FS), Vec::new());
    for character in characters.chars().iter() {
        encoder.send(character, |wire| delays.delay(wire), |transition| all.push(transition));
    }
    encoder.finish(|transition| all.push(transition));
    all
}

fn change(it: &WireTransition) -> SignalChange {
    SignalChange { time_fs: it.time_fs, signals: it.wires.into(), unknown: 0 }
}

fn without_idle(characters: &CharBuf) -> Vec<Character> {
    characters.chars().iter().filter(|character| *character != Character::IDLE).collect()
}

#[test]
fn a_1_is_a_transition_of_its_wire() -> Result<(), Box<dyn Error>> {
    // 83 is 1000 0011 with d = 1, GAP is 0000 1100; IDLE is silence. W-1, W-2, C-2
    let characters = notation::parse("83 GAP IDLE 83")?;
    let transitions = transitions(&characters, 10, [0; WIRES], 0);
    let seen: Vec<(u64, u16)> =
        transitions.iter().map(|t| (t.time_fs - 3 * PERIOD_FS, t.wires)).collect();
    assert_eq!(seen, [(0, 0x183), (10, 0x00c), (30, 0x183)]);
    Ok(())
}

proptest! {
    #[test]
    fn a_receiver_reads_what_was_sent_with_skew_inside_its_window(
        bits in prop::collection::vec(0_u16..512, 1..200),
        delays in prop::array::uniform9(0_u64..PERIOD_FS / 2),
        ppm in -100_i64..=100,
    ) {
        let sent: CharBuf = bits.into_iter().map(Character::from_bits).collect();
        let period = PERIOD_FS.saturating_add_signed(ppm * 125 / 10);
        let mut decoder = WindowDecoder::new(PERIOD_FS / 2);
        // W-3. The earliest wire of a character may be the latest wire of the cable.
        prop_assume!(spread(&delays) * 2 < period - PERIOD_FS / 2 + spread(&delays));
        let all = transitions(&sent, period, delays, 0);
        let mut received: Vec<Character> = Vec::new();
        for transition in all {
            received.extend(decoder.receive(transition).map(|(_, character)| character));
        }
        received.extend(decoder.finish().map(|(_, character)| character));
        prop_assert_eq!(received, without_idle(&sent));
    }

    #[test]
    fn transitions_in_any_order_do_no_harm(
        all in prop::collection::vec((any::<u64>(), any::<u16>()), 0..100),
        period_fs in any::<u64>(),
    ) {
        recover(&all, period_fs);
    }
}

/// Recovers a clock from transitions, if they have one.
fn recover(all: &[(u64, u16)], period_fs: u64) {
    let transition = |&(time_fs, wires): &(u64, u16)| WireTransition { time_fs, wires };
    let all: Vec<WireTransition> = all.iter().map(transition).collect();
    if let Some(clock) = SenderClock::learn(&all, period_fs) {
        let mut recovery = ClockRecovery::new(&clock);
        recovery.receive(&all, &mut Vec::new());
        recovery.finish();
    }
}

/// Once found by random transitions.
#[test]
fn transitions_far_apart_do_no_harm() {
    let all = [
        (7_877_473_036_787_523_392, 1060),
        (1_553_644_407_340_199_296, 1964),
        (16_569_724_576_598_361_584, 660),
    ];
    recover(&all, 3_336_906_704_279_591_620);
}

fn spread(delays: &[u64; WIRES]) -> u64 {
    delays.iter().max().unwrap_or(&0) - delays.iter().min().unwrap_or(&0)
}

#[test]
fn a_recovered_clock_places_every_character() -> Result<(), Box<dyn Error>> {
    let sent = traffic(400)?;
    // The skew of W-4 and more, in another order each; jitter of 1 ns; clocks of W-6.
    for (ppm, rotate, jitter, longest) in [
        (0, 0, 0, 5_500_000),
        (100, 3, 700_000, 5_500_000),
        (-100, 7, 700_000, 5_500_000),
        (37, 5, 500_000, 5_500_000),
        // More than the window of a receiver. W-3
        (0, 1, 0, 6_750_000),
    ] {
        let mut delays =
            [longest, 0, 1_000_000, 2_000_000, 300_000, 4_000_000, 5_000_000, 700_000, 2_500_000];
        delays.rotate_left(rotate);
        let period = PERIOD_FS.saturating_add_signed(ppm * 125 / 10);
        let mut all = transitions(&sent, period, delays, jitter);
        let clock =
            SenderClock::learn(all.get(..8000).ok_or("too few")?, PERIOD_FS).ok_or("no clock")?;
        // A wire that changes twice more in its character. W-8
        let at = (9000..).find(|at| all[*at].time_fs - all[at - 1].time_fs < period / 4).unwrap();
        let wires = all[at - 1].wires & all[at - 1].wires.wrapping_neg();
        all.splice(at + 1..at + 1, [WireTransition { wires, ..all[at] }; 2]);
        assert!(clock.period_fs.abs_diff(period) < 1250, "1 ppm in {ppm}: {}", clock.period_fs);
        let mut recovery = ClockRecovery::new(&clock);
        let mut placed = Vec::new();
        recovery.receive(&all, &mut placed);
        let (last, quality) = recovery.finish();
        placed.extend(last);
        let first = placed.first().ok_or("none")?.place;
        let seen: Vec<(u64, Character)> =
            placed.iter().map(|at| (at.place - first, at.character)).collect();
        let expected: Vec<(u64, Character)> = (0..)
            .zip(sent.chars().iter())
            .filter(|(_, character)| *character != Character::IDLE)
            .collect();
        assert_eq!(seen, expected, "{ppm} ppm");
        let counted = |is: fn(&&PlacedCharacter) -> bool| placed.iter().filter(is).count() as u64;
        let count = placed.len() as u64;
        assert_eq!((quality.characters, quality.doubled, quality.off_phase), (count, 2, 0));
        assert_eq!(quality.odd_places, counted(|it| it.place % 2 == 1));
        assert_eq!(quality.beyond_window, counted(|it| it.spread_fs > PERIOD_FS / 2));
        let spread_fs = quality.spread_fs;
        assert_eq!(Some(spread_fs), placed.iter().map(|it| it.spread_fs).max());
        // Bytes with all bits set meet every wire.
        assert!((longest..=longest + jitter).contains(&spread_fs), "{spread_fs}");
        assert_eq!(
            quality.eyes.iter().map(myriscope_codec::wires::EyeHistogram::count).sum::<u64>(),
            all.iter().map(|t| u64::from(t.wires.count_ones())).sum::<u64>()
        );
    }
    Ok(())
}

/// The first one is at a time at which levels become known that were not: whether those that are low have changed is not.
#[test]
fn a_character_of_levels_that_were_unknown_is_left_out() -> Result<(), Box<dyn Error>> {
    let all = transitions(&traffic(2)?, PERIOD_FS, [0; WIRES], 0);
    let mut changes: Vec<SignalChange> = all.iter().map(change).collect();
    let learn = |changes: &[SignalChange]| {
        RecordedChannel::learn(changes, 0, WireMap::SAME, PERIOD_FS).ok_or("no clock")
    };
    let (whole, _) = learn(&changes)?.preview(&changes, usize::MAX);
    let first = changes.first_mut().ok_or("none")?;
    (first.signals, first.unknown) = (0x1ff, 0x1ff & !first.signals);
    let channel = learn(&changes)?;
    assert_eq!(channel.preview(&changes, usize::MAX).0, whole[1..]);
    let (mut import, mut starts) = (RecordingImport::new(vec![channel]), Vec::new());
    let mut write = |_: ChannelId, chunk: &Chunk<'_>| -> Result<(), WriteError> {
        starts.push(chunk.first.0);
        Ok(())
    };
    import.receive(&changes, &mut write)?;
    import.finish(&mut write)?;
    assert_eq!(starts.first(), Some(&whole[1].place));
    Ok(())
}

/// Its last transition may come at the end of the window. W-3
#[test]
fn a_character_is_beyond_the_window_if_it_takes_more_than_half_a_period() {
    let delays = [0, PERIOD_FS / 2].map(Some);
    let delay_fs = std::array::from_fn(|wire| delays.get(wire).copied().flatten());
    let (period_fs, edge_fs) = (PERIOD_FS, PERIOD_FS);
    let clock = SenderClock { period_fs, period_error_fs: 0, edge_fs, delay_fs };
    for (late_fs, expected) in [(0, 0), (1, 50)] {
        let times = (1..=50).map(|place| place * PERIOD_FS);
        let times = times.flat_map(|at| [(at, 1), (at + PERIOD_FS / 2 + late_fs, 2)]);
        let all: Vec<_> = times.map(|(time_fs, wires)| WireTransition { time_fs, wires }).collect();
        let mut recovery = ClockRecovery::new(&clock);
        recovery.receive(&all, &mut Vec::new());
        assert_eq!(recovery.finish().1.beyond_window, expected, "{late_fs}");
    }
}

/// Each of its wires may change up to the end of its period.
#[test]
fn a_character_in_which_a_level_becomes_unknown_is_left_out() -> Result<(), Box<dyn Error>> {
    let all = transitions(&traffic(10)?, PERIOD_FS, [0; WIRES], 0);
    let changes: Vec<SignalChange> = all.iter().map(change).collect();
    let channel =
        RecordedChannel::learn(&changes, 0, WireMap::SAME, PERIOD_FS).ok_or("no clock")?;
    let (whole, _) = channel.preview(&changes, usize::MAX);
    for (place, start) in changes.iter().enumerate().skip(50).take(200) {
        let (unknown, time_fs) = (1 << (place % WIRES), start.time_fs + PERIOD_FS * 7 / 8);
        let begin = SignalChange { time_fs, signals: 0, unknown };
        let hide =
            |it: &SignalChange| SignalChange { signals: it.signals & !unknown, unknown, ..*it };
        let (known, behind) = changes.split_at(place + 1);
        let part = known.iter().copied().chain([begin]).chain(behind.iter().map(hide));
        let (read, _) = channel.preview(&part.collect::<Vec<_>>(), usize::MAX);
        let before = whole.iter().take_while(|it| it.time_fs < start.time_fs).copied();
        assert_eq!(read, before.collect::<Vec<_>>(), "{begin:?}");
    }
    Ok(())
}

#[test]
fn a_pause_counts_for_the_clock_if_it_is_a_whole_number_of_periods() {
    let period = PERIOD_FS + PERIOD_FS / 2000;
    // Half a period for each wire, and for a pause that does not count: over the periods that do.
    for (pause_fs, runs, periods) in
        [(1000 * period, 9, 99 + 1000 + 99), (1000 * period + period / 2, 10, 99 + 99)]
    {
        let run = (0..100).map(|at| at * period);
        let times = run.clone().chain(run.map(|time_fs| 99 * period + pause_fs + time_fs));
        let all: Vec<_> = times.map(|time_fs| WireTransition { time_fs, wires: 1 }).collect();
        let clock = SenderClock::learn(&all, PERIOD_FS).unwrap();
        let error_fs = (runs * period / 2).div_ceil(periods);
        assert_eq!((clock.period_fs, clock.period_error_fs), (period, error_fs), "{pause_fs}");
    }
}

#[test]
fn the_map_of_the_wires_is_found_by_the_crc() -> Result<(), Box<dyn Error>> {
    let sent = traffic(60)?;
    for wires in
        [[0, 1, 2, 3, 4, 5, 6, 7, 8], [8, 7, 6, 5, 4, 3, 2, 1, 0], [3, 8, 1, 0, 7, 5, 2, 6, 4]]
    {
        let map = WireMap::new(wires).ok_or("a permutation")?;
        // Signals of a character: those whose wire changes.
        let signals = |bits: u16| {
            let changed = (0..WIRES).filter(|signal| bits >> wires[*signal] & 1 == 1);
            changed.fold(0, |set, signal| set | 1_u16 << signal)
        };
        let bits = || without_idle(&sent).into_iter().map(Character::bits);
        let recorded: Vec<u16> = bits().map(signals).collect();
        let guess = guess_map(&recorded).ok_or("no map")?;
        assert_eq!((guess.map, guess.ties), (map, 0));
        assert!(recorded.iter().map(|signals| map.table()[usize::from(*signals)]).eq(bits()));
    }
    assert_eq!(guess_map(&[1, 2, 3, 0x1ff]), None);
    assert_eq!(WireMap::new([0; WIRES]), None);
    Ok(())
}

#[test]
fn characters_stay_at_their_times_when_the_clock_drifts() -> Result<(), Box<dyn Error>> {
    // The clock is learned at the nominal rate; then it is 80 ppm slow, and 160 ppm fast.
    let sent = traffic(2000)?;
    let (first, rest) = sent.chars().split_at(sent.len() / 3);
    let (second, last) = rest.split_at(first.len());
    let (mut all, mut times, mut now) = (Vec::new(), Vec::new(), 3 * PERIOD_FS);
    for (part, ppm) in [(first, 0), (second, 80), (last, -160)] {
        let period = PERIOD_FS.saturating_add_signed(ppm * 1250 / 100);
        let mut encoder = WireEncoder::new(period, now);
        for character in part.iter() {
            times.extend((character != Character::IDLE).then_some((now, character)));
            encoder.send(character, |wire| wire as u64 * 500_000, |it| all.push(it));
            now += period;
        }
        encoder.finish(|transition| all.push(transition));
    }
    let changes: Vec<SignalChange> = all.iter().map(change).collect();
    let head = changes.get(..4000).ok_or("too few")?;
    let channel = RecordedChannel::learn(head, 0, WireMap::SAME, PERIOD_FS).ok_or("no clock")?;
    let period = channel.period();
    let mut import = RecordingImport::new(vec![channel]);
    let mut seen = Vec::new();
    let mut write = |_: ChannelId, chunk: &Chunk<'_>| -> Result<(), WriteError> {
        if let ChunkContent::Literal(characters) = chunk.content {
            let placed = (chunk.first.0..).zip(characters.iter());
            seen.extend(placed.filter(|(_, character)| *character != Character::IDLE));
        }
        Ok(())
    };
    import.receive(&changes, &mut write)?;
    let quality = import.finish(&mut write)?;
    assert_eq!(seen.len(), times.len());
    for ((tick, character), (time, sent)) in seen.iter().zip(&times) {
        assert_eq!(character, sent);
        let off = (tick * period.fs()).abs_diff(*time);
        // The first tick is the nearest; a silence is at most some packets away.
        assert!(off < 2 * PERIOD_FS, "{off} fs at tick {tick}");
    }
    let line = quality.first().ok_or("none")?.line;
    assert!(line.adjusted > 1 && line.farthest_fs < PERIOD_FS && line.lost == 0, "{line:?}");
    Ok(())
}
