//! `myriscope import`: a capture from an instrument's recording of the wires.

mod clock;
mod doubt;
mod eye;
mod look;
mod notation;
mod plan;
mod quality;
mod source;

use std::path::Path;

use analyzer::render::{StyledLine, TextStyle};
use codec::capture::{ByteOrder, CaptureWriter, Channel, WireMeasurement, WriteError};
use codec::recording::format::SampleTimes;
use codec::recording::import::{RecordedChannel, RecordedQuality, RecordingImport};
use codec::recording::{ReadSummary, RecordingError, SampleDistance, SignalChange, SignalReader};
use codec::time::CharacterPeriod;
use codec::wires::{GuessedMap, PlacedCharacter, WireEvidence, WireMap, find_order, guess_map};
use codec::words::escape_text;

use self::clock::{LearnedChannel, begin_fs, channel_mask, period_fs, sample_distance};
use self::doubt::{
    CHANGES_MIN, CLOCKED_TEXT, ChannelDoubts, RecordingContext, level_doubts, proved_order,
    same_text, unknown_text,
};
use self::plan::{ChannelPlan, declared};
use self::quality::ChannelReport;
use self::source::OpenedRecording;
use crate::args::{ImportArgs, SampleRate};
use crate::atomic_file::{AtomicFile, commit_all, write_files};
use crate::exit::{CliError, CommandResult, RunReport, is_standard};
use crate::output::StandardOutput;
use crate::run_simulation::check_output;

/// Full rate, in millions of characters a second. §4.2
const FULL_RATE: f64 = 80.0;

/// Changes at the beginning of a recording, from which clocks and the order of the wires are learned.
const HEAD: usize = 400_000;

const NO_CLOCK: &str = "no Myrinet found: no clock near --rate: few transitions, other signals, or a wrong sample rate";

/// Length of the description and the notes that are written before all of the recording is known. *Chosen*
const NOTES_LENGTH: usize = 800;

pub(crate) fn run(arguments: &ImportArgs, output: &mut StandardOutput) -> CommandResult {
    let ImportArgs { file, output: capture, .. } = arguments;
    let period_fs = period_fs(arguments.rate.unwrap_or(FULL_RATE))?;
    let times = sampling(arguments, period_fs)?;
    let Some(capture) = capture else {
        return look::print(arguments, OpenedRecording::open(file, times), output);
    };
    check_output("recording", std::iter::once(file.as_path()), capture)?;
    let report = match OpenedRecording::open(file, times)? {
        OpenedRecording::Notation(text) => {
            let period = CharacterPeriod::from_fs(period_fs).unwrap_or_default();
            return notation::write(arguments, capture, period, text);
        }
        OpenedRecording::Signals(_, signals) => convert(arguments, capture, period_fs, signals)?,
    };
    let mut done = RunReport::of(file);
    for channel in &report.channels {
        channel.fault_texts().iter().for_each(|text| done.warning(&escape_text(text.clone())));
    }
    if !is_standard(capture) {
        let lines = report.channels.iter().flat_map(ChannelReport::lines);
        for line in report.notes.into_iter().chain(lines) {
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
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
            let distance = SampleDistance::of_rate((1e9 * rate).round() as u64);
            SampleTimes::Rate(distance.ok_or_else(|| {
                let text = format!("--sample-rate: {rate} MHz is not from 0.000001 to 1000000");
                CliError::Message(text)
            })?)
        }
        Some(SampleRate::State) if arguments.channel.len() > 1 => {
            let text = "--sample-rate state: the samples of one sendclk hold one --channel (W-6)";
            return Err(CliError::Message(text.to_owned()));
        }
        Some(SampleRate::State) => SampleTimes::Characters(SampleDistance::of_period(period_fs)),
        None => SampleTimes::Stated,
    })
}

/// Converts a recording of signals. What precedes an error is converted.
fn convert(
    arguments: &ImportArgs,
    output: &Path,
    period_fs: u64,
    signals: Box<dyn SignalReader>,
) -> Result<ImportReport, CliError> {
    let ChannelPlan { names, selected, notes } = ChannelPlan::of(arguments, signals.signals())?;
    let mut writing = CaptureWriting {
        arguments,
        output,
        period_fs,
        head: Vec::new(),
        begun: None,
        samples: vec![Vec::new(); names.len()],
        doubts: vec![ChannelDoubts::default(); names.len()],
        names,
        context: RecordingContext::default(),
        result: Ok(()),
        notes,
    };
    let summary = signals.read(&selected, &mut |changes| writing.receive(changes));
    match (writing.finish(&summary), summary.error) {
        // Where nothing could be converted, the recording's error is the cause.
        (Err(_), Some(error)) => Err(source::reading(&arguments.file, &error)),
        (done, error) => Ok(ImportReport { error, ..done? }),
    }
}

#[derive(Default)]
struct ImportReport {
    notes: Vec<String>,
    channels: Vec<ChannelReport>,
    /// End of the reading before that of the recording.
    error: Option<RecordingError>,
}

struct BegunCapture {
    import: RecordingImport,
    writer: CaptureWriter<AtomicFile>,
    declared: Vec<Channel>,
    sample_fs: Option<u64>,
    /// True if comments have a fixed length, so that those of the whole recording can replace them.
    is_padded: bool,
}

/// Conversion of a recording's changes to a capture.
struct CaptureWriting<'a> {
    arguments: &'a ImportArgs,
    output: &'a Path,
    names: Vec<String>,
    period_fs: u64,
    /// Changes before the conversion begins; then those of channels that were silent until then.
    head: Vec<SignalChange>,
    begun: Option<BegunCapture>,
    /// Characters at the beginning of each channel, and doubts about it.
    samples: Vec<Vec<PlacedCharacter>>,
    doubts: Vec<ChannelDoubts>,
    context: RecordingContext,
    result: Result<(), CliError>,
    notes: Vec<String>,
}

impl CaptureWriting<'_> {
    fn receive(&mut self, mut changes: &[SignalChange]) {
        if self.begun.is_none() {
            let (head, later) = changes.split_at(changes.len().min(HEAD - self.head.len()));
            self.head.extend(head);
            changes = later;
            if self.result.is_ok() && self.head.len() == HEAD {
                self.result = self.begin(None);
            }
        }
        if self.begun.is_some() {
            let silent = (0..).zip(&self.samples).filter(|(_, sample)| sample.is_empty());
            let signals = silent.fold(0, |all, (number, _)| all | channel_mask(number * 9));
            let late = changes.iter().filter(|it| it.certain() & signals != 0);
            self.head.extend(late.take(HEAD - self.head.len()));
        }
        if self.result.is_ok() {
            self.result = self.convert(changes);
        }
    }

    /// Converts changes, once the conversion has begun.
    fn convert(&mut self, changes: &[SignalChange]) -> Result<(), CliError> {
        let Some(BegunCapture { import, writer, .. }) = &mut self.begun else { return Ok(()) };
        let written = import.receive(changes, &mut |id, chunk| writer.write(id, chunk));
        written.map_err(|error| self.writing(&error))
    }

    fn writing(&self, error: &WriteError) -> CliError {
        CliError::writing(self.output, error)
    }

    /// Learns the clocks, declares the channels, and converts what was kept. The summary is known if that is all of the
    /// recording.
    fn begin(&mut self, summary: Option<&ReadSummary>) -> Result<(), CliError> {
        let head = std::mem::take(&mut self.head);
        if head.iter().all(|it| it.certain() == 0) {
            let known = summary.map_or(0, |summary| summary.known);
            let text = if known == 0 { "no samples of the wires" } else { quality::SILENT };
            return Err(CliError::reading(&self.arguments.file, &text));
        }
        // Transitions of all wires fall at the recorder's sampling times.
        let sample_fs = sample_distance(&head);
        let learned = self.learn((&head, sample_fs), summary)?;
        self.refuse()?;
        let (channels, qualities): (Vec<_>, Vec<_>) =
            learned.into_iter().map(|it| (it.channel, it.quality)).unzip();
        let periods: Vec<CharacterPeriod> = channels.iter().map(RecordedChannel::period).collect();
        let mut declared = declared(self.arguments, &self.names, &periods);
        let is_padded = summary.is_none();
        self.describe(&mut declared, &qualities, (sample_fs, is_padded));
        let stream = AtomicFile::create(self.output)?;
        let writer = CaptureWriter::new(stream, ByteOrder::Little, &declared)
            .map_err(|error| self.writing(&error))?;
        let import = RecordingImport::new(channels);
        self.begun = Some(BegunCapture { import, writer, declared, sample_fs, is_padded });
        self.convert(&head)
    }

    /// Puts measurements and doubts into the descriptions of the channels.
    fn describe(
        &self,
        channels: &mut [Channel],
        qualities: &[RecordedQuality],
        (sample_fs, is_padded): (Option<u64>, bool),
    ) {
        let nominal = self.arguments.rate.and_then(|_| CharacterPeriod::from_fs(self.period_fs));
        for ((channel, quality), doubts) in channels.iter_mut().zip(qualities).zip(&self.doubts) {
            if let Some(measurement) = quality.measurement(sample_fs, nominal) {
                let forced = Some(doubts.refusal.is_some());
                WireMeasurement { forced, ..measurement }.describe(channel);
            }
            // A channel that was silent at first has its measurements later.
            let used = channel.description().len().next_multiple_of(4);
            let length = NOTES_LENGTH.saturating_sub(used);
            channel.set_import_notes(&doubts.all(), is_padded.then_some(length));
        }
    }

    /// Learns the clocks of the channels and, if that is asked for, the orders of their wires, and judges them.
    fn learn(
        &mut self,
        (head, sample_fs): (&[SignalChange], Option<u64>),
        summary: Option<&ReadSummary>,
    ) -> Result<Vec<LearnedChannel>, CliError> {
        let is_clocked = matches!(self.arguments.sample_rate, Some(SampleRate::State));
        let shows_distance = head.len() >= CHANGES_MIN && !is_clocked;
        let mut all = self.recover(head, &vec![WireMap::SAME; self.names.len()])?;
        let search = if self.arguments.guess { guess_map } else { proved_order };
        let mut orders: Vec<Option<GuessedMap>> =
            all.iter().map(|learned| search(&PlacedCharacter::bits(&learned.sample))).collect();
        let mut proved: Vec<WireMap> = orders.iter().flatten().map(|order| order.map).collect();
        if self.arguments.guess {
            for ((order, learned), name) in orders.iter_mut().zip(&all).zip(&self.names) {
                *order =
                    order.or_else(|| find_order(&PlacedCharacter::bits(&learned.sample), &proved));
                self.notes.push(format!("{name}: {}", quality::guess_text(*order)));
            }
            let maps: Vec<WireMap> =
                orders.iter().map(|it| it.map_or(WireMap::SAME, |it| it.map)).collect();
            all = self.recover(head, &maps)?;
            proved.clear();
        }
        let is_sound = |evidence: &WireEvidence| evidence.good > 0 && evidence.is_myrinet();
        self.context = RecordingContext {
            sample_fs: sample_fs.filter(|_| shows_distance).unwrap_or_default(),
            clocked_text: is_clocked.then_some(CLOCKED_TEXT),
            nominal_fs: self.period_fs,
            proved,
            channels: self.names.len(),
            has_profile: self.arguments.profile.value().is_some(),
            sound_channels: all.iter().map(LearnedChannel::evidence).filter(is_sound).count(),
        };
        self.judge(head, &mut all, summary);
        Ok(all)
    }

    /// Judges the channels that have not been, by what was learned from some changes, and all by the whole recording.
    fn judge(
        &mut self,
        head: &[SignalChange],
        all: &mut [LearnedChannel],
        summary: Option<&ReadSummary>,
    ) {
        let channels = self.doubts.iter_mut().zip(&mut self.samples).zip(all);
        for (((doubts, sample), learned), number) in channels.zip(0..) {
            if sample.is_empty() && !learned.sample.is_empty() {
                *doubts = self.context.judge(&learned.sample, &learned.quality);
                let good = learned.quality.content.good;
                doubts.warnings.extend(same_text(head, &self.names, number).filter(|_| good > 0));
                *sample = std::mem::take(&mut learned.sample);
            }
            if sample.is_empty() {
                let no_clock = (!learned.has_clock).then_some(NO_CLOCK);
                let texts = no_clock.into_iter().chain(unknown_text(head, number * 9));
                let texts: Vec<&str> = texts.collect();
                doubts.refusal =
                    (!texts.is_empty()).then(|| texts.join("; ")).or(doubts.refusal.take());
            }
            if let Some(summary) = summary {
                let begin_fs = if self.begun.is_some() { Some(0) } else { begin_fs(head, number) };
                doubts.extend(level_doubts(summary, number * 9, begin_fs));
                let damage = summary.error.as_ref();
                doubts.damage = damage.map(|it| format!("the recording ends with damage: {it}"));
            }
        }
    }

    /// Judges the channels that were silent at first by what came later.
    fn judge_late(&mut self, summary: &ReadSummary) -> Result<(), CliError> {
        let head = std::mem::take(&mut self.head);
        let mut all = self.recover(&head, &vec![WireMap::SAME; self.names.len()])?;
        let order = |late: &LearnedChannel| proved_order(&PlacedCharacter::bits(&late.sample));
        self.context.proved.extend(all.iter().filter_map(order).map(|order| order.map));
        self.judge(&head, &mut all, Some(summary));
        Ok(())
    }

    /// Learns the clocks of the channels that are not judged, with some orders of their wires.
    fn recover(
        &self,
        head: &[SignalChange],
        maps: &[WireMap],
    ) -> Result<Vec<LearnedChannel>, CliError> {
        let named = maps.iter().zip(&self.names).zip(&self.samples);
        let channels = (0..).zip(named).map(|(number, ((map, name), sample))| {
            let learn =
                |head: &[SignalChange]| LearnedChannel::of(head, number * 9, *map, self.period_fs);
            let at_rate = || Some(LearnedChannel { has_clock: false, ..learn(&[])? });
            let learned = learn(if sample.is_empty() { head } else { &[] }).or_else(at_rate);
            learned.ok_or_else(|| CliError::Message(format!("{name}: {NO_CLOCK}")))
        });
        channels.collect()
    }

    /// An error if a channel shows no sign of Myrinet, or its characters are known to be wrong.
    fn refuse(&self) -> Result<(), CliError> {
        let named = self.names.iter().zip(&self.doubts);
        let texts = named.filter_map(|(name, doubts)| {
            let all = std::iter::once(doubts.refusal.as_ref()?).chain(&doubts.warnings);
            Some(format!("{name}: {}", all.map(String::as_str).collect::<Vec<_>>().join("; ")))
        });
        let texts: Vec<String> = texts.collect();
        if texts.is_empty() || self.arguments.force {
            return Ok(());
        }
        let text = format!("{}. --force converts it all the same", texts.join(". "));
        Err(CliError::reading(&self.arguments.file, &escape_text(text)))
    }

    fn finish(mut self, summary: &ReadSummary) -> Result<ImportReport, CliError> {
        std::mem::replace(&mut self.result, Ok(()))?;
        if self.begun.is_none() {
            self.begin(Some(summary))?;
        } else {
            self.judge_late(summary)?;
        }
        let Some(begun) = self.begun.take() else { return Ok(ImportReport::default()) };
        let BegunCapture { import, mut writer, mut declared, sample_fs, is_padded } = begun;
        let qualities = import
            .finish(&mut |id, chunk| writer.write(id, chunk))
            .map_err(|error| self.writing(&error))?;
        for ((doubts, sample), quality) in self.doubts.iter_mut().zip(&self.samples).zip(&qualities)
        {
            if is_padded
                && !doubts.is_explained
                && let Some(fault) = quality::fault(sample, quality, &self.context.proved)
            {
                doubts.add_fault(fault);
            }
        }
        self.refuse()?;
        let mut stream = writer.finish().map_err(|error| self.writing(&error))?;
        let head = |channels: &[Channel]| {
            CaptureWriter::new(Vec::new(), ByteOrder::Little, channels)?.finish()
        };
        let begun = head(&declared).map_err(|error| self.writing(&error))?;
        self.describe(&mut declared, &qualities, (sample_fs, is_padded));
        let whole = head(&declared).map_err(|error| self.writing(&error))?;
        if whole.len() == begun.len() {
            let replaced = stream.replace_head(&whole);
            replaced.map_err(|error| CliError::writing(self.output, &error))?;
        }
        commit_all(vec![stream])?;
        let channels = self.names.into_iter().zip(self.doubts).zip(qualities);
        let nominal_fs = self.period_fs;
        let report =
            |((name, doubts), quality)| ChannelReport { name, nominal_fs, quality, doubts };
        let channels = channels.map(report).collect();
        Ok(ImportReport { notes: self.notes, channels, error: None })
    }
}
