//! `myriscope import`: a capture from an instrument's recording of the wires.

mod eye;
mod notation;
mod quality;
mod source;

use analyzer::channel_name::escape_text;
use analyzer::render::{StyledLine, TextStyle};
use codec::capture::{ByteOrder, CaptureWriter, Channel, WriteError};
use codec::recording::import::{RecordedChannel, RecordedQuality, RecordingImport};
use codec::recording::{RecordingError, SELECTED_MAX, SignalChange};
use codec::time::CharacterPeriod;
use codec::wires::{GuessedMap, PlacedCharacter, WIRES, WireMap, guess_map};

use self::quality::ChannelReport;
use self::source::{InstrumentRecording, OpenedRecording, SampleTimes};
use crate::args::{ImportArgs, SampleRate};
use crate::atomic_file::{AtomicFile, commit_all, write_files};
use crate::exit::{CliError, CommandResult, RunReport, is_standard};
use crate::output::StandardOutput;
use crate::run_simulation::{is_same, refuse_terminal};

/// Full rate, in millions of characters a second. §4.2
const FULL_RATE: f64 = 80.0;

/// Changes at the beginning of a recording, from which clocks and the order of the wires are learned.
const HEAD: usize = 400_000;

/// Characters from which the order of the wires and the causes of bad characters are found.
const SAMPLE: usize = 100_000;

pub(crate) fn run(arguments: &ImportArgs, output: &mut StandardOutput) -> CommandResult {
    let ImportArgs { file, output: capture, .. } = arguments;
    refuse_terminal(capture)?;
    if !is_standard(capture) && is_same(file, capture) {
        return Err(CliError::writing(capture, &"the recording would be overwritten"));
    }
    let period_fs = period_fs("--rate", arguments.rate.unwrap_or(FULL_RATE))?;
    let recording = OpenedRecording::open(file, &sampling(arguments, period_fs)?)?;
    let report = match recording {
        OpenedRecording::Notation(text) => return notation::write(arguments, period_fs, text),
        OpenedRecording::Signals(signals) => convert(arguments, period_fs, signals)?,
    };
    let mut done = RunReport::of(file);
    for channel in &report.channels {
        channel.fault_texts().iter().for_each(|text| done.warning(&escape_text(text.clone())));
    }
    if !is_standard(capture) {
        for line in
            report.notes.into_iter().chain(report.channels.iter().flat_map(ChannelReport::lines))
        {
            output.line(&StyledLine::of(TextStyle::Plain, line));
        }
    }
    if let Some(path) = &arguments.eye {
        let svg = eye::draw(&report.channels);
        write_files([(path.as_path(), svg.as_bytes())])?;
    }
    if let Some(error) = report.error {
        done.error(&escape_text(error.to_string()));
    }
    Ok(done)
}

/// Distances of samples without times.
fn sampling(arguments: &ImportArgs, period_fs: u64) -> Result<SampleTimes, CliError> {
    Ok(match arguments.sample_rate {
        Some(SampleRate::Megahertz(rate)) => {
            SampleTimes::Rate(self::period_fs("--sample-rate", rate)?)
        }
        Some(SampleRate::State) if arguments.channel.len() > 1 => {
            let text = "--sample-rate state: the samples of one sendclk hold one --channel (W-6)";
            return Err(CliError::Message(text.to_owned()));
        }
        Some(SampleRate::State) => SampleTimes::Characters(period_fs),
        None => SampleTimes::Unknown,
    })
}

/// Converts a recording of signals. What precedes an error is converted.
fn convert(
    arguments: &ImportArgs,
    period_fs: u64,
    recording: InstrumentRecording,
) -> Result<ImportReport, CliError> {
    let selected = selected(arguments, recording.signals())?;
    let mut writing = CaptureWriting {
        arguments,
        period_fs,
        head: Vec::new(),
        begun: None,
        samples: Vec::new(),
        result: Ok(()),
        notes: Vec::new(),
    };
    let read = recording.read(&selected, &mut |changes| writing.receive(changes));
    match (writing.finish(), read) {
        // Where nothing could be converted, the recording's error is the cause.
        (Err(_), Err(error)) => Err(source::reading(&arguments.file, &error)),
        (done, read) => Ok(ImportReport { error: read.err(), ..done? }),
    }
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

/// Result of a conversion.
#[derive(Default)]
struct ImportReport {
    notes: Vec<String>,
    channels: Vec<ChannelReport>,
    /// End of the reading before that of the recording.
    error: Option<RecordingError>,
}

/// A capture that is being written.
struct BegunCapture {
    import: RecordingImport,
    writer: CaptureWriter<AtomicFile>,
    declared: Vec<Channel>,
    sample_fs: Option<u64>,
}

/// Conversion of a recording's changes to a capture.
struct CaptureWriting<'a> {
    arguments: &'a ImportArgs,
    period_fs: u64,
    /// Changes before the conversion begins.
    head: Vec<SignalChange>,
    begun: Option<BegunCapture>,
    /// Characters at the beginning of each channel.
    samples: Vec<Vec<PlacedCharacter>>,
    result: Result<(), CliError>,
    notes: Vec<String>,
}

impl CaptureWriting<'_> {
    fn receive(&mut self, changes: &[SignalChange]) {
        let mut left = changes;
        if self.begun.is_none() {
            let (head, later) = left.split_at(left.len().min(HEAD - self.head.len()));
            self.head.extend(head);
            left = later;
        }
        if self.result.is_ok() && self.begun.is_none() && self.head.len() == HEAD {
            self.result = self.begin();
        }
        if self.result.is_ok() {
            self.result = self.convert(left);
        }
    }

    /// Converts changes, once the conversion has begun.
    fn convert(&mut self, changes: &[SignalChange]) -> Result<(), CliError> {
        let Some(BegunCapture { import, writer, .. }) = &mut self.begun else { return Ok(()) };
        let written = import.receive(changes, &mut |id, chunk| writer.write(id, chunk));
        written.map_err(|error| self.writing(&error))
    }

    fn writing(&self, error: &WriteError) -> CliError {
        CliError::writing(&self.arguments.output, error)
    }

    /// Learns the clocks, declares the channels, and converts what was kept.
    fn begin(&mut self) -> Result<(), CliError> {
        let ImportArgs { output, channel: names, .. } = self.arguments;
        let head = std::mem::take(&mut self.head);
        if head.is_empty() {
            return Err(CliError::reading(&self.arguments.file, &quality::SILENT));
        }
        let learned: Vec<(RecordedChannel, RecordedQuality)> = (0_u32..)
            .zip(names)
            .map(|(number, name)| self.learn(&head, number, name))
            .collect::<Result<_, _>>()?;
        let (channels, qualities): (Vec<_>, Vec<_>) = learned.into_iter().unzip();
        let periods: Vec<CharacterPeriod> = channels.iter().map(RecordedChannel::period).collect();
        let mut declared = declared(self.arguments, names, &periods);
        // Transitions of all wires fall at the recorder's sampling times.
        let times = head.iter().map(|change| change.time_fs);
        let sample_fs = times.clone().skip(1).zip(times).map(|(later, time)| later - time).min();
        for (channel, quality) in declared.iter_mut().zip(&qualities) {
            self.describe(channel, quality, sample_fs);
        }
        let stream = AtomicFile::create(output)?;
        let writer = CaptureWriter::new(stream, ByteOrder::Little, &declared)
            .map_err(|error| self.writing(&error))?;
        let import = RecordingImport::new(channels);
        self.begun = Some(BegunCapture { import, writer, declared, sample_fs });
        self.convert(&head)
    }

    /// Puts the measurements on a channel into its description.
    fn describe(&self, channel: &mut Channel, quality: &RecordedQuality, sample_fs: Option<u64>) {
        let nominal = self.arguments.rate.and_then(|_| CharacterPeriod::from_fs(self.period_fs));
        if let Some(measurement) = quality.measurement(sample_fs, nominal) {
            measurement.describe(channel);
        }
    }

    /// Learns the clock of a channel and, if that is asked for, the order of its wires. Returns also the
    /// quality of the beginning.
    fn learn(
        &mut self,
        head: &[SignalChange],
        number: u32,
        name: &str,
    ) -> Result<(RecordedChannel, RecordedQuality), CliError> {
        let (first, period_fs) = (number * 9, self.period_fs);
        let learned = |map| {
            RecordedChannel::learn(head, first, map, period_fs).ok_or_else(|| {
                let text = "no clock near --rate: too few transitions, or of other signals";
                CliError::reading(&self.arguments.file, &escape_text(format!("{name}: {text}")))
            })
        };
        let mut channel = learned(WireMap::SAME)?;
        let (mut sample, mut quality) = channel.preview(head, SAMPLE);
        if self.arguments.guess {
            let bits: Vec<u16> = sample.iter().map(|placed| placed.character.bits()).collect();
            let guess = guess_map(&bits);
            if let Some(GuessedMap { map, .. }) = guess {
                channel = learned(map)?;
                (sample, quality) = channel.preview(head, SAMPLE);
            }
            self.notes.push(format!("{name}: {}", quality::guess_text(guess)));
        }
        self.samples.push(sample);
        Ok((channel, quality))
    }

    /// Completes the capture.
    fn finish(mut self) -> Result<ImportReport, CliError> {
        std::mem::replace(&mut self.result, Ok(()))?;
        if self.begun.is_none() {
            self.begin()?;
        }
        let Some(BegunCapture { import, mut writer, mut declared, sample_fs }) = self.begun.take()
        else {
            return Ok(ImportReport::default());
        };
        let qualities = import
            .finish(&mut |id, chunk| writer.write(id, chunk))
            .map_err(|error| self.writing(&error))?;
        let mut stream = writer.finish().map_err(|error| self.writing(&error))?;
        let head = |channels: &[Channel]| {
            CaptureWriter::new(Vec::new(), ByteOrder::Little, channels)?.finish()
        };
        let begun = head(&declared).map_err(|error| self.writing(&error))?;
        for (channel, quality) in declared.iter_mut().zip(&qualities) {
            self.describe(channel, quality, sample_fs);
        }
        let whole = head(&declared).map_err(|error| self.writing(&error))?;
        // A channel that was silent at first has no measurements.
        if whole.len() == begun.len() {
            let replaced = stream.replace_head(&whole);
            replaced.map_err(|error| CliError::writing(&self.arguments.output, &error))?;
        }
        commit_all(vec![stream])?;
        let names = self.arguments.channel.iter().zip(self.samples);
        let channels = names.zip(qualities).map(|((name, sample), quality)| ChannelReport {
            fault: quality::fault(&sample, &quality),
            name: name.clone(),
            nominal_fs: self.period_fs,
            quality,
        });
        Ok(ImportReport { notes: self.notes, channels: channels.collect(), error: None })
    }
}

/// Descriptions of the channels. Two are the directions of a link.
fn declared(arguments: &ImportArgs, names: &[String], periods: &[CharacterPeriod]) -> Vec<Channel> {
    let profile = arguments.profile.value().map(|it| ("profile".to_owned(), it.to_string()));
    let channels = (0_u32..).zip(names).zip(periods);
    let declared = channels.map(|((number, name), period)| Channel {
        period: *period,
        peer: (names.len() == 2).then_some(1 - number.min(1)),
        tap: arguments.tap.clone(),
        more: profile.clone().into_iter().collect(),
        ..Channel::named(name.as_str())
    });
    declared.collect()
}
