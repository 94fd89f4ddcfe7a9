//! Recordings of instruments: a file of any bytes is read to an end, in whatever pieces it comes, and an error names a place
//! in it. What the wires of a simulated network carry comes back from a dump of them. W-1 to W-6

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io::{Cursor, Read, Result as IoResult, Write};
use std::num::NonZeroU32;

use codec::capture::{CaptureItem, CaptureReader, Channel, ChannelId, Chunk, ReadProgress};
use codec::character::Character;
use codec::recording::export::{WireDelays, WireExport};
use codec::recording::fst::FstReader;
use codec::recording::import::{RecordedChannel, RecordingImport};
use codec::recording::sigrok::SigrokReader;
use codec::recording::table::TableReader;
use codec::recording::vcd::VcdReader;
use codec::recording::{
    RecordingError, RecordingPlace, SampleDistance, SignalChange, SignalReader, SignalTable,
};
use codec::time::CharacterPeriod;
use codec::wires::{WIRES, WireMap};
use simulator::scenario::Scenario;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::judged_network::{with_cables, with_clocks};
use crate::network::input::NetworkInput;
use crate::network::run::RunOutcome;
use crate::repair::SeededRng;
use crate::taps;

/// Changes from which clocks are learned.
const HEAD: usize = 20_000;

/// Signals that are selected in any recording: two channels.
const SELECTED: usize = 2 * WIRES;

/// Changes of a recording's first signals, and the error that ends it.
#[derive(Debug, Default, PartialEq)]
struct ReadRecording {
    changes: Vec<SignalChange>,
    error: Option<(RecordingPlace, String)>,
}

impl ReadRecording {
    fn of(
        reader: Result<impl SignalReader, RecordingError>,
        selected: impl FnOnce(&SignalTable) -> Vec<usize>,
    ) -> Self {
        let mut recording = Self::default();
        let error = match reader {
            Ok(reader) => {
                let selected = selected(reader.signals());
                let mut sink = |changes: &[SignalChange]| recording.changes.extend(changes);
                Box::new(reader).read(&selected, &mut sink).error
            }
            Err(error) => Some(error),
        };
        recording.error = error.map(|error| (error.place, error.cause));
        recording
    }
}

/// A stream that gives a few bytes at a time.
struct PieceReader<'a>(&'a [u8]);

impl Read for PieceReader<'_> {
    fn read(&mut self, room: &mut [u8]) -> IoResult<usize> {
        let length = room.len().min(3);
        self.0.read(room.get_mut(..length).unwrap_or_default())
    }
}

fn first_signals(table: &SignalTable) -> Vec<usize> {
    (0..table.names().len().min(SELECTED)).collect()
}

/// A value change dump.
pub fn vcd(bytes: &[u8]) {
    fn read(stream: impl Read) -> ReadRecording {
        ReadRecording::of(VcdReader::new(stream), first_signals)
    }
    let recording = read(bytes);
    assert!(recording == read(PieceReader(bytes)), "pieces change nothing");
    check(bytes, &recording);
}

/// A table.
pub fn table(bytes: &[u8]) {
    fn read(stream: impl Read) -> ReadRecording {
        ReadRecording::of(
            TableReader::new(stream, Some(SampleDistance::of_period(2_000_000))),
            first_signals,
        )
    }
    let recording = read(bytes);
    assert!(recording == read(PieceReader(bytes)), "pieces change nothing");
    check(bytes, &recording);
}

/// An FST file.
pub fn fst(bytes: &[u8]) {
    // Changes may be compressed a thousandfold.
    check_times(&ReadRecording::of(FstReader::new(Cursor::new(bytes)), first_signals));
}

/// A sigrok session: the archive.
pub fn sigrok(bytes: &[u8]) {
    // Samples may be compressed a thousandfold.
    check_times(&ReadRecording::of(SigrokReader::new(Cursor::new(bytes)), first_signals));
}

/// A sigrok session of a description and of samples, with a zero byte between.
pub fn session(bytes: &[u8]) {
    let split = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let (description, samples) = bytes.split_at(split);
    let files = [
        ("version", &b"2"[..]),
        ("metadata", description),
        ("logic-1-1", samples.get(1..).unwrap_or_default()),
    ];
    stored(&files).iter().for_each(|archive| sigrok(archive));
}

/// A zip archive of files without compression. `None` if a name occurs twice.
pub fn stored(files: &[(&str, &[u8])]) -> Option<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, content) in files {
        archive.start_file(*name, options).ok()?;
        archive.write_all(content).ok()?;
    }
    archive.finish().ok().map(Cursor::into_inner)
}

fn check(bytes: &[u8], recording: &ReadRecording) {
    assert!(recording.changes.len() <= bytes.len(), "a change takes a byte");
    if let Some((RecordingPlace::Line(line), cause)) = &recording.error {
        let lines = bytes.iter().filter(|byte| [b'\n', b'\r'].contains(byte)).count() as u64;
        assert!((1..=lines + 1).contains(line), "an error has a place: {line} {cause}");
        assert!(!cause.contains(|c: char| c.is_control()), "an error is printable: {cause:?}");
    }
    check_times(recording);
}

/// Changes are in order of time, and so are the chunks that they are converted to.
fn check_times(recording: &ReadRecording) {
    let changes = &recording.changes;
    let in_order = changes.windows(2).all(|pair| matches!(pair, [a, b] if a.time_fs < b.time_fs));
    assert!(in_order, "changes are in order of time");
    assert!(changes.iter().all(|it| it.signals >> SELECTED == 0), "only selected signals change");
    let nominal = [CharacterPeriod::FULL_RATE.fs(); 2];
    let Some((chunks, _)) = imported(changes, &nominal) else { return };
    for chunks in chunks {
        let apart = chunks.windows(2).all(|pair| matches!(pair, [a, b] if a.0 < b.0));
        assert!(apart, "characters are in order of their places");
    }
}

/// Places and characters of a channel.
type PlacedCharacters = Vec<(u64, Character)>;

/// Characters other than IDLE of the channels with a clock, and the periods in their holes and at their ends; `None` if one has
/// no clock.
fn imported(
    changes: &[SignalChange],
    periods: &[u64],
) -> Option<(Vec<PlacedCharacters>, Vec<[u64; 2]>)> {
    let head = changes.get(..changes.len().min(HEAD))?;
    let learned = (0..)
        .zip(periods)
        .map(|(number, period)| RecordedChannel::learn(head, number * 9, WireMap::SAME, *period));
    let mut import = RecordingImport::new(learned.collect::<Option<_>>()?);
    let mut all = vec![PlacedCharacters::new(); periods.len()];
    let mut spans = vec![None; periods.len()];
    let mut write = |ChannelId(id): ChannelId, chunk: &Chunk<'_>| {
        if let Some(span) = spans.get_mut(id as usize) {
            let [missing, end] = span.unwrap_or([0, chunk.first.0]);
            *span = Some([missing + chunk.first.0 - end, chunk.end().0]);
        }
        all.iter_mut().skip(id as usize).take(1).for_each(|all| add(all, chunk));
        Ok::<(), Infallible>(())
    };
    // A reader gives some at a time.
    for changes in changes.chunks(100) {
        let Ok(()) = import.receive(changes, &mut write);
    }
    let Ok(_) = import.finish(&mut write);
    Some((all, spans.into_iter().map(Option::unwrap_or_default).collect()))
}

/// Adds the characters of a chunk other than IDLE.
fn add(all: &mut PlacedCharacters, chunk: &Chunk<'_>) {
    let (chars, count) = chunk.content.parts();
    let count = count.unwrap_or(1);
    if chars.iter().all(|character| character == Character::IDLE) {
        return;
    }
    let rounds = (0..count).flat_map(|_| chars.iter());
    let placed = (chunk.first.0..).zip(rounds);
    all.extend(placed.filter(|(_, character)| *character != Character::IDLE));
}

/// The wires of the network that some bytes stand for.
pub fn trip(bytes: &[u8]) {
    let plan = NetworkInput::from_bytes(bytes);
    if let Some(scenario) = plan.and_then(|plan| plan.scenario()) {
        round_trip(scenario);
    }
}

/// Exports the links of a network with random delays of the wires, and imports them, then without the levels of one signal for
/// some time; returns how many characters came back.
pub fn round_trip(scenario: Scenario) -> usize {
    let mut dice = SeededRng::new(&scenario.seed.to_le_bytes());
    let mut scenario = with_clocks(scenario);
    // Characters of one end that last far longer than those of the other.
    if dice.below(6) == 0 {
        scenario = with_cables(scenario, |cable| {
            let [one, other] = &mut cable.link.ports;
            (one.divisor, other.divisor) = (NonZeroU32::MIN, NonZeroU32::MIN.saturating_add(5));
        });
        scenario.duration = scenario.duration.saturating_mul(4);
    }
    scenario.taps = taps::at_every_cable(&scenario);
    let outcome = RunOutcome::untold(&scenario);
    let links = outcome.channels.chunks(2).zip(0..).take(2);
    links
        .map(|(channels, link)| {
            let delays = |channel: &Channel| {
                let (skew, jitter) = (dice.below(5_500_001), dice.below(1_000_001));
                let delays = WireDelays::random(skew, jitter, dice.roll());
                (channel.clone(), WireDelays { phase_fs: dice.below(1_000_000_000), ..delays })
            };
            let channels: Vec<_> = channels.iter().map(delays).collect();
            link_round_trip(&outcome.capture, &channels, 2 * link)
        })
        .sum()
}

/// Fewest characters from which a clock is learned well enough for silences between them.
const CHARACTERS_MIN: usize = 500;

fn link_round_trip(capture: &[u8], channels: &[(Channel, WireDelays)], first: u32) -> usize {
    let Ok(mut export) = WireExport::new(Vec::new(), channels) else { return 0 };
    let mut sent = vec![PlacedCharacters::new(); channels.len()];
    let mut reader = CaptureReader::new(capture);
    let mut take = |item: CaptureItem<'_>| {
        let CaptureItem::Chunk(ChannelId(id), chunk) = item else { return };
        let Some(number) = id.checked_sub(first).map(|number| number as usize) else { return };
        if let Some(sent) = sent.get_mut(number) {
            add(sent, &chunk);
            assert!(export.receive(number, &chunk).is_ok(), "what is captured is exported");
        }
    };
    while matches!(reader.step(&mut take), Ok(ReadProgress::More)) {}
    if sent.iter().any(|sent| sent.len() < CHARACTERS_MIN) {
        return 0;
    }
    let dump = export.finish().unwrap_or_default();
    let recording = ReadRecording::of(VcdReader::new(dump.as_slice()), |table| {
        assert_eq!(table.names().len(), channels.len() * WIRES, "a dump has the wires alone");
        first_signals(table)
    });
    assert_eq!(recording.error, None, "a dump is read");
    let nominal = CharacterPeriod::FULL_RATE.fs();
    let periods: Vec<u64> = channels
        .iter()
        .map(|(channel, _)| (channel.period.fs() + nominal / 2) / nominal * nominal)
        .collect();
    let received = imported(&recording.changes, &periods);
    assert!(received.is_some(), "the clocks of a dump are found");
    let Some((received, whole)) = received else { return 0 };
    assert!(whole.iter().all(|[missing, _]| *missing == 0), "all of a dump is recorded");
    for (sent, received) in sent.iter().zip(&received) {
        check_same(sent, received);
    }
    check_hidden(&recording.changes, dump.len() as u64, &periods, (&received, &whole));
    check_sampled(&recording.changes, dump.len() as u64, &periods, &received);
    sent.iter().map(Vec::len).sum()
}

/// Imports samples of a part that begins and ends inside of characters, of which all are known: none is received as another.
fn check_sampled(changes: &[SignalChange], number: u64, periods: &[u64], all: &[PlacedCharacters]) {
    let mut dice = SeededRng::new(&number.to_le_bytes());
    for _ in 0..4 {
        let (quarter, sample_fs) = (changes.len() / 4, 1 + dice.below(2_000_000));
        let [begin_fs, end_fs] = [0, 3 * quarter].map(|from| {
            let at = from + usize::try_from(dice.below(quarter as u64)).unwrap_or_default();
            changes.get(at).map_or(0, |change| change.time_fs / sample_fs * sample_fs)
        });
        let mut samples = BTreeMap::from([(begin_fs, 0)]);
        for change in changes.iter().filter(|it| begin_fs < it.time_fs && it.time_fs <= end_fs) {
            let time_fs = change.time_fs.next_multiple_of(sample_fs);
            *samples.entry(time_fs).or_default() ^= change.certain();
        }
        let change = |(time_fs, signals)| SignalChange { time_fs, signals, unknown: 0 };
        let end = SignalChange { time_fs: end_fs + 1, signals: 0, unknown: u64::MAX };
        let samples: Vec<_> = samples.into_iter().map(change).chain([end]).collect();
        let Some((received, _)) = imported(&samples, periods) else { continue };
        for ((sent, received), period) in all.iter().zip(&received).zip(periods) {
            let is_same = |(one, other): (&(u64, Character), &(_, _))| one.1 == other.1;
            let mut parts = sent.windows(received.len().max(1));
            let is_part = parts.any(|part| part.iter().zip(received).all(is_same));
            assert!(is_part, "not seen whole: {begin_fs} {sample_fs} {end_fs}");
            let until = |time_fs| sent.partition_point(|(place, _)| place * period < time_fs);
            let least = until(end_fs - 3 * period).saturating_sub(until(begin_fs + 2 * period));
            assert!(received.len() >= least, "all of them: {} {least}", received.len());
        }
    }
}

/// Imports again with the level of a signal unknown for some time. `all` and `whole` are what the import without that gave.
fn check_hidden(
    changes: &[SignalChange],
    number: u64,
    periods: &[u64],
    (all, whole): (&[PlacedCharacters], &[[u64; 2]]),
) {
    // Clocks are learned from fewer changes then, so that silences may differ.
    let unsharp = unsharp_levels(changes, periods.iter().min().map_or(0, |period| period / 5));
    let (unsharp, spans) = imported(&unsharp, periods).unwrap_or_default();
    assert_eq!(spans.len(), all.len(), "what is unknown for a short time shows the clocks");
    for ((one, other), [missing, _]) in all.iter().zip(&unsharp).zip(spans) {
        check_hole((one, other), missing, 0);
    }
    let (changes, hidden_fs) = with_unknown_levels(changes, number);
    let Some((rest, spans)) = imported(&changes, periods) else { return };
    let eighths =
        periods.iter().zip([hidden_fs, 0]).map(|(period, hidden_fs)| 8 * hidden_fs / period);
    for (((pair, [missing, end]), [_, last]), eighths) in
        all.iter().zip(&rest).zip(spans).zip(whole).zip(eighths)
    {
        // A hole may reach up to the end.
        check_hole(pair, missing + last.saturating_sub(end), eighths);
    }
}

/// Changes, before each of which the levels of its signals are unknown for some time.
fn unsharp_levels(changes: &[SignalChange], hidden_fs: u64) -> Vec<SignalChange> {
    let (mut all, mut unknown) = (BTreeMap::<u64, [u64; 2]>::new(), 0);
    for (time_fs, signals) in changes.iter().map(|it| (it.time_fs, it.certain())) {
        let begin = time_fs.checked_sub(hidden_fs).map(|begin_fs| all.entry(begin_fs).or_default());
        begin.into_iter().for_each(|[begun, _]| *begun |= signals);
        let [_, ended] = all.entry(time_fs).or_default();
        *ended |= signals;
    }
    let change = |(time_fs, [begun, signals]): (u64, [u64; 2])| {
        unknown = unknown & !signals | begun;
        SignalChange { time_fs, signals, unknown }
    };
    all.into_iter().map(change).collect()
}

/// Changes of which the level of a signal of the first channel is not known for some time in their last half, and that time.
fn with_unknown_levels(changes: &[SignalChange], number: u64) -> (Vec<SignalChange>, u64) {
    let mut dice = SeededRng::new(&number.to_le_bytes());
    let mut below = |most: usize| usize::try_from(dice.below(most as u64)).unwrap_or_default();
    let first = changes.len() / 2 + below(changes.len() / 4);
    let last = first + 1 + if below(2) == 0 { below(3) } else { below(changes.len() / 8) };
    let unknown = 1 << below(WIRES);
    let mut all = changes.to_vec();
    let Some([begin, between @ .., end]) = all.get_mut(first..=last) else { return (all, 0) };
    begin.unknown = unknown;
    // A wire that is unknown has no transitions until it is known again.
    for change in between {
        end.signals ^= change.signals & unknown;
        (change.signals, change.unknown) = (change.signals & !unknown, unknown);
    }
    end.signals ^= begin.signals & unknown;
    begin.signals &= !unknown;
    let hidden_fs = end.time_fs - begin.time_fs;
    (all, hidden_fs)
}

/// Checks the characters of a channel with a hole of some eighths of a period: all before it and behind it, none in between.
fn check_hole((all, rest): (&PlacedCharacters, &PlacedCharacters), missing: u64, eighths: u64) {
    let before = all.iter().zip(rest).take_while(|(one, other)| one.1 == other.1).count();
    let behind = all.iter().rev().zip(rest.iter().rev());
    let behind = behind.take_while(|((_, one), (_, other))| one == other).count();
    assert!(before + behind >= rest.len(), "only characters that were sent are received");
    let lost = all.len().saturating_sub(rest.len()) as u64;
    let is_hole = eighths > 8 || missing > 0;
    // Characters without silence between them may be four periods off; behind a hole they are moved to their times.
    let most = if missing > 0 { missing + 4 } else { 0 };
    assert!(lost <= most && (eighths > 0 || missing == 0), "{lost} {missing} {eighths}");
    assert!(!is_hole || missing > 0 && most >= eighths / 8, "a hole holds what is missing");
}

/// Compares characters and their distances.
fn check_same(sent: &PlacedCharacters, received: &PlacedCharacters) {
    let since_first = |all: &PlacedCharacters| {
        let first = all.first().map_or(0, |(place, _)| *place);
        all.iter().map(|(place, character)| (place - first, *character)).collect::<Vec<_>>()
    };
    let [sent, received] = [sent, received].map(since_first);
    let same = sent.iter().zip(&received).take_while(|(one, other)| one == other).count();
    assert_eq!(sent.get(same), received.get(same), "what is exported is imported: {same}");
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn a_time_that_goes_back_is_caught() {
        let change = |time_fs| SignalChange { time_fs, signals: 1, unknown: 0 };
        check(&[0; 9], &ReadRecording { changes: vec![change(7), change(5)], error: None });
    }

    pub(crate) fn an_error_behind_the_end_is_caught() {
        let error = Some((RecordingPlace::Line(4), "no level".to_owned()));
        check(b"a\nb", &ReadRecording { changes: Vec::new(), error });
    }

    pub(crate) fn a_signal_that_was_not_selected_is_caught() {
        let changes = vec![SignalChange { time_fs: 1, signals: 1 << SELECTED, unknown: 0 }];
        check_times(&ReadRecording { changes, error: None });
    }

    pub(crate) fn a_character_that_is_lost_is_caught() {
        let sent = vec![(3, Character::GAP), (4, Character::Data(1)), (9, Character::GAP)];
        let received = vec![(8, Character::GAP), (9, Character::Data(1))];
        check_same(&sent, &received);
    }

    #[test]
    fn a_session_of_description_and_samples_is_read() {
        for (description, fault) in [
            ("unitsize=1\nprobe8=a", ""),
            ("unitsize=1\nprobe9=a", "9 signals do not fit"),
            ("unitsize=1\ntotal probes=9", "9 signals do not fit"),
            ("unitsize=8\nprobe65=a", "beyond 64 signals"),
            ("unitsize=9", "not 1 to 8"),
            ("unitsize=0", "not 1 to 8"),
        ] {
            let description = format!("capturefile=logic-1\nsamplerate=500 MHz\n{description}");
            let files = [("metadata", description.as_bytes()), ("logic-1-1", &[0, 1, 1, 0][..])];
            let session = SigrokReader::new(Cursor::new(stored(&files).unwrap()));
            let ReadRecording { changes, error } = ReadRecording::of(session, |_| vec![0]);
            let times: Vec<u64> = changes.iter().map(|it| it.time_fs).collect();
            let Some((_, cause)) = error else {
                assert_eq!((times, fault), (vec![0, 2_000_000, 6_000_000, 6_000_001], ""));
                continue;
            };
            assert!(cause.contains(fault) && times.is_empty(), "{cause}");
        }
    }
}
