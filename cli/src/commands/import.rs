//! `myriscope import`: a capture from an instrument's recording of the wires.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use analyzer::channel_name::escape_text;
use analyzer::render::{StyledLine, TextStyle};
use codec::capture::{ByteOrder, CaptureWriter, Channel, WriteError};
use codec::recording::import::{RecordedChannel, RecordingImport, transitions};
use codec::recording::sigrok::SigrokReader;
use codec::recording::table::TableReader;
use codec::recording::vcd::VcdReader;
use codec::recording::{RecordingError, SELECTED_MAX, SignalChange};
use codec::wires::{ClockRecovery, SenderClock, WIRES, WireMap, WireQuality, guess_map};

use crate::args::ImportArgs;
use crate::atomic_file::{AtomicFile, commit_all};
use crate::exit::{CliError, CommandResult, RunReport};
use crate::input::{CliCapture, InputFile, open_file};
use crate::output::StandardOutput;
use crate::run_simulation::refuse_terminal;

/// Changes at the beginning of a recording, from which clocks and the order of the wires are learned.
const HEAD: usize = 400_000;

/// Characters that the search of the order of the wires looks at.
const GUESS: usize = 100_000;

/// An opened recording.
enum InstrumentRecording {
    Vcd(VcdReader<CliCapture>),
    Sigrok(SigrokReader<File>),
    Table(TableReader<CliCapture>),
}

impl InstrumentRecording {
    /// Opens a recording of the format that its first bytes show.
    fn open(path: &Path, row_fs: u64) -> Result<Self, CliError> {
        let wrong = |error: RecordingError| reading(path, &error);
        let mut magic = [0; 2];
        let mut file = open_file(path).map_err(|error| CliError::file(path, &error))?;
        let is_zip = file.read_exact(&mut magic).is_ok() && magic == *b"PK";
        if is_zip {
            let file = open_file(path).map_err(|error| CliError::file(path, &error))?;
            return SigrokReader::new(file).map(Self::Sigrok).map_err(wrong);
        }
        let stream = InputFile::whole(path).open()?;
        if magic.first().is_some_and(|byte| *byte == b'$' || byte.is_ascii_whitespace()) {
            VcdReader::new(stream).map(Self::Vcd).map_err(wrong)
        } else {
            TableReader::new(stream, row_fs).map(Self::Table).map_err(wrong)
        }
    }

    fn signals(&self) -> &[String] {
        match self {
            Self::Vcd(dump) => dump.signals(),
            Self::Sigrok(session) => session.signals(),
            Self::Table(table) => table.signals(),
        }
    }

    fn read(
        self,
        selected: &[usize],
        change: impl FnMut(SignalChange),
    ) -> Result<(), RecordingError> {
        match self {
            Self::Vcd(dump) => dump.read(selected, change),
            Self::Sigrok(session) => session.read(selected, change),
            Self::Table(table) => table.read(selected, change),
        }
    }
}

fn reading(path: &Path, error: &RecordingError) -> CliError {
    CliError::reading(path, &escape_text(error.to_string()))
}

pub(crate) fn run(arguments: &ImportArgs, output: &mut StandardOutput) -> CommandResult {
    let ImportArgs { file, output: copy, sample_rate, .. } = arguments;
    refuse_terminal(copy)?;
    let recording = InstrumentRecording::open(file, period_fs("--sample-rate", *sample_rate)?)?;
    let selected = selected(arguments, recording.signals())?;
    let stream = Some(AtomicFile::create(copy)?);
    let nominal_fs = period_fs("--rate", arguments.rate)?;
    let (head, error, notes) = (Vec::new(), None, Vec::new());
    let mut writing = CaptureWriting {
        arguments,
        period_fs: nominal_fs,
        head,
        stream,
        begun: None,
        error,
        notes,
    };
    let read = recording.read(&selected, |change| writing.receive(change));
    let read = read.map_err(|error| reading(file, &error));
    let ((qualities, notes), read) = match (writing.finish(), read) {
        // Where nothing could be converted, the recording's error is the cause.
        (Err(_), Err(error)) => return Err(error),
        (done, read) => (done?, read),
    };
    for line in notes {
        output.line(&StyledLine::of(TextStyle::Notice, line));
    }
    for (name, counts) in arguments.channel.iter().zip(&qualities) {
        for line in report(name, nominal_fs, counts) {
            output.line(&StyledLine::of(TextStyle::Plain, line));
        }
    }
    read?;
    Ok(RunReport::of(file))
}

/// Femtoseconds of a rate in MHz.
fn period_fs(option: &str, megahertz: f64) -> Result<u64, CliError> {
    let femtoseconds = 1e9 / megahertz;
    if !(1000.0..=1e12).contains(&femtoseconds) {
        let text = format!("{option}: {megahertz} MHz is not from 0.001 to 1000000");
        return Err(CliError::Message(text));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1000 to 1e12")]
    Ok(femtoseconds.round() as u64)
}

/// Numbers of the signals of all channels, wire 0 first.
fn selected(arguments: &ImportArgs, signals: &[String]) -> Result<Vec<usize>, CliError> {
    let ImportArgs { file, channel, wires, .. } = arguments;
    let wrong = |text: String| Err(CliError::reading(file, &escape_text(text)));
    let count = channel.len() * WIRES;
    let listed = || {
        let shown: Vec<&str> = signals.iter().take(SELECTED_MAX).map(String::as_str).collect();
        let more = if signals.len() > shown.len() { ", …" } else { "" };
        format!("the recording has {} signals: {}{more}", signals.len(), shown.join(", "))
    };
    if count > SELECTED_MAX {
        return wrong(format!("{} channels, more than {}", channel.len(), SELECTED_MAX / WIRES));
    }
    if wires.is_empty() {
        let named: Vec<usize> = (0..signals.len())
            .filter(|at| signals.get(*at).is_some_and(|it| !it.is_empty()))
            .collect();
        return match named.len() {
            all if all == count => Ok(named),
            _ => wrong(format!("{count} signals needed; name them with --wires; {}", listed())),
        };
    }
    if wires.len() != channel.len() {
        return wrong(format!("{} times --wires for {} channels", wires.len(), channel.len()));
    }
    let mut all = Vec::new();
    for name in wires.iter().flat_map(|names| names.0.iter().rev()) {
        // A name without its scopes is enough.
        let is_named = |it: &&String| it.as_str() == name || it.rsplit('.').next() == Some(name);
        let mut found = signals.iter().enumerate().filter(|(_, it)| is_named(it)).map(|(at, _)| at);
        match (found.next(), found.next()) {
            (Some(at), None) if !all.contains(&at) => all.push(at),
            (Some(_), None) => return wrong(format!("signal {name} is named twice")),
            (Some(_), Some(_)) => return wrong(format!("several signals are called {name}")),
            (None, _) => return wrong(format!("no signal {name}; {}", listed())),
        }
    }
    Ok(all)
}

/// Last character period of a channel, in femtoseconds, and counts of its transitions.
type ChannelQuality = (u64, WireQuality);

/// Conversion of a recording's changes to a capture.
struct CaptureWriting<'a> {
    arguments: &'a ImportArgs,
    period_fs: u64,
    /// Changes before the conversion begins.
    head: Vec<SignalChange>,
    stream: Option<AtomicFile>,
    begun: Option<(RecordingImport, CaptureWriter<AtomicFile>)>,
    error: Option<CliError>,
    notes: Vec<String>,
}

impl CaptureWriting<'_> {
    fn receive(&mut self, change: SignalChange) {
        if self.error.is_some() {
            return;
        }
        let result = match &mut self.begun {
            Some((import, writer)) => {
                let written = import.receive(change, &mut |id, chunk| writer.write(id, chunk));
                written.map_err(|error| self.writing(&error))
            }
            None => {
                self.head.push(change);
                if self.head.len() == HEAD { self.begin() } else { Ok(()) }
            }
        };
        self.error = result.err();
    }

    fn writing(&self, error: &WriteError) -> CliError {
        CliError::writing(&self.arguments.output, error)
    }

    /// Learns the clocks, declares the channels, and converts what was kept.
    fn begin(&mut self) -> Result<(), CliError> {
        let (arguments, period_fs) = (self.arguments, self.period_fs);
        let ImportArgs { file, channel: names, tap, .. } = arguments;
        let head = std::mem::take(&mut self.head);
        let mut channels = Vec::new();
        let mut declared = Vec::new();
        for (number, name) in (0_u32..).zip(names) {
            let first = number * 9;
            let map = self.map(&head, first, name);
            let Some(channel) = RecordedChannel::learn(&head, first, map, period_fs) else {
                let text = format!(
                    "{name}: no clock near --rate: too few transitions, or of other signals"
                );
                return Err(CliError::reading(file, &escape_text(text)));
            };
            let peer = (names.len() == 2).then_some(1 - number);
            let period = channel.period();
            declared.push(Channel {
                period,
                peer,
                tap: tap.clone(),
                ..Channel::named(name.as_str())
            });
            channels.push(channel);
        }
        let Some(stream) = self.stream.take() else { return Ok(()) };
        let mut writer = CaptureWriter::new(stream, ByteOrder::Little, &declared)
            .map_err(|error| self.writing(&error))?;
        let mut import = RecordingImport::new(channels);
        for change in head {
            let written = import.receive(change, &mut |id, chunk| writer.write(id, chunk));
            written.map_err(|error| self.writing(&error))?;
        }
        self.begun = Some((import, writer));
        Ok(())
    }

    /// Order of the wires, searched by the CRC if that is asked for.
    fn map(&mut self, head: &[SignalChange], first_signal: u32, name: &str) -> WireMap {
        if !self.arguments.guess {
            return WireMap::SAME;
        }
        let transitions = transitions(head, first_signal, &WireMap::SAME);
        let mut characters = Vec::new();
        if let (Some(clock), Some(first)) =
            (SenderClock::learn(&transitions, self.period_fs), transitions.first())
        {
            let mut recovery = ClockRecovery::new(&clock, first.time_fs);
            for transition in &transitions {
                recovery.receive(*transition, |placed| characters.push(placed.character.bits()));
            }
        }
        characters.truncate(GUESS);
        let Some(guess) = guess_map(&characters) else {
            let text = "no order of the wires gives four packets a good CRC; taken as given";
            self.notes.push(format!("{name}: {text}"));
            return WireMap::SAME;
        };
        let wire = |wire: &u8| if *wire == 8 { "d".to_owned() } else { wire.to_string() };
        let wires: Vec<String> = guess.map.wires().iter().map(wire).collect();
        let (good, packets) = (guess.good, guess.packets);
        let text = match guess.map {
            WireMap::SAME => "the wires are in order".to_owned(),
            _ => format!("signals, in the given order from 0 to d, are wires {}", wires.join(" ")),
        };
        self.notes.push(format!("{name}: {text}: CRC good in {good} of {packets} packets"));
        guess.map
    }

    /// Completes the capture; returns period and counts of each channel.
    fn finish(mut self) -> Result<(Vec<ChannelQuality>, Vec<String>), CliError> {
        if self.begun.is_none() && self.error.is_none() {
            self.begin()?;
        }
        if let Some(error) = self.error {
            return Err(error);
        }
        let Some((import, mut writer)) = self.begun.take() else {
            return Ok((Vec::new(), Vec::new()));
        };
        let qualities = import
            .finish(&mut |id, chunk| writer.write(id, chunk))
            .map_err(|error| self.writing(&error))?;
        let stream = writer.finish().map_err(|error| self.writing(&error))?;
        commit_all(vec![stream])?;
        Ok((qualities, self.notes))
    }
}

/// Lines about the wires of a channel: its clock, the eye of each wire, and what a receiver would miss.
fn report(name: &str, nominal_fs: u64, (period_fs, quality): &ChannelQuality) -> Vec<String> {
    let ppm = (nominal_fs as f64 / *period_fs as f64 - 1.0) * 1e6;
    let WireQuality { eyes, characters, doubled, off_phase, spread_fs, beyond_window } = quality;
    let nanoseconds = |femtoseconds: u64| femtoseconds as f64 / 1e6;
    let rate = 1e9 / *period_fs as f64;
    let mut lines = vec![
        format!("{name}: {characters} characters other than IDLE, {rate:.4} M/s ({ppm:+.1} ppm)"),
        "  wire  transitions  their place in the character period, latest in ns behind the edge"
            .to_owned(),
    ];
    for (wire, eye) in eyes.iter().enumerate().rev() {
        let wire = if wire == 8 { "d".to_owned() } else { wire.to_string() };
        let most = eye.0.iter().max().copied().unwrap_or_default().max(1);
        let bar = |count: &u64| match count * 7 / most {
            0 if *count == 0 => '·',
            level => {
                char::from_u32(0x2581 + u32::try_from(level).unwrap_or_default()).unwrap_or('█')
            }
        };
        let bins = eye.0.len();
        let latest = eye.0.iter().rposition(|count| *count > 0);
        // The edge stands at the end of the first eighth.
        let latest = latest.map(|bin| (bin + 1).saturating_sub(bins / 8));
        let latest = latest.map(|bin| nanoseconds(period_fs * bin as u64 / bins as u64));
        lines.push(match latest {
            Some(latest) => {
                let picture: String = eye.0.iter().map(bar).collect();
                format!("  {wire:>4} {:>12}  {picture} {latest:>5.2}", eye.count())
            }
            None => {
                format!("  {wire:>4}            0  never changes: open, or not connected (W-5)")
            }
        });
    }
    let window = nanoseconds(period_fs / 2);
    let spread = nanoseconds(*spread_fs);
    lines.push(format!(
        "  longest character {spread:.2} ns of {window:.2} ns that a receiver waits (W-3); beyond it: {beyond_window}"
    ));
    if *doubled + *off_phase > 0 {
        lines.push(format!(
            "  {doubled} second transitions of a wire in a character (W-8), {off_phase} far from their wire's others"
        ));
    }
    lines
}
