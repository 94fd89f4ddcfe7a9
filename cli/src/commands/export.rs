//! `myriscope export`: captures for other programs.

mod packets;
mod perfetto;
mod state_dump;
#[cfg(feature = "parquet")]
mod tables;
mod timeline;

use std::io::BufWriter;

use analyzer::channel_selector::ChannelSelector;
use analyzer::render::{StyledLine, TextStyle, count};
use codec::capture::{CaptureItem, CaptureReader, Channel, ChannelId, Chunk, ReadProgress};
use codec::recording::SELECTED_MAX;
use codec::recording::export::{ExportError, WireDelays, WireExport};
use codec::wires::WIRES;
use codec::words::escape_text;

use crate::args::{ExportArgs, ExportKind, ExportWiresArgs, WireSkew};
use crate::atomic_file::{AtomicFile, commit_read};
use crate::exit::{CliError, CommandResult, RunReport, is_standard};
use crate::input::InputFile;
use crate::output::StandardOutput;
use crate::run_simulation::check_output;

pub(crate) fn run(arguments: &ExportArgs, output: &mut StandardOutput) -> CommandResult {
    match &arguments.kind {
        ExportKind::Wires(arguments) => wires(arguments, output),
        ExportKind::Packets(arguments) => packets::run(arguments, output),
        ExportKind::Perfetto(arguments) => timeline::perfetto(arguments),
        ExportKind::States(arguments) => timeline::states(arguments),
        #[cfg(feature = "parquet")]
        ExportKind::Parquet(arguments) => tables::run(arguments, output),
        #[cfg(not(feature = "parquet"))]
        ExportKind::Parquet(_) => Err(CliError::Message(
            "this program was built without the feature `parquet`: build it with `cargo build --release \
             --features parquet`"
                .to_owned(),
        )),
    }
}

fn wires(arguments: &ExportWiresArgs, output: &mut StandardOutput) -> CommandResult {
    let ExportWiresArgs { file, output: copy, .. } = arguments;
    check_output("capture", std::iter::once(file.as_path()), copy)?;
    let mut reader = CaptureReader::new(InputFile::whole(file).open()?);
    let mut report = RunReport::of(file);
    let stream = BufWriter::with_capacity(1 << 18, AtomicFile::create(copy)?);
    let mut writing =
        DumpWriting { arguments, channels: Vec::new(), stream: Some(stream), export: None };
    let mut error = None;
    loop {
        let step = reader.step(&mut |item| {
            if error.is_none() {
                error = writing.receive(item, &mut report).err();
            }
        });
        if let Some(error) = error.take() {
            return Err(error);
        }
        match step {
            Ok(ReadProgress::More) => {}
            Ok(ReadProgress::Done) => break,
            // What could be read is written.
            Err(error) if writing.export.is_some() => {
                report.error(&error);
                break;
            }
            Err(error) => return Err(report.failure(&error)),
        }
    }
    for line in writing.finish(&mut report)? {
        if !is_standard(copy) {
            output.line(&StyledLine::of(TextStyle::Plain, line));
        }
    }
    Ok(report)
}

/// Writing of a capture's selected channels to a dump.
struct DumpWriting<'a> {
    arguments: &'a ExportWiresArgs,
    /// Channels declared before the first character.
    channels: Vec<(ChannelId, Channel)>,
    stream: Option<BufWriter<AtomicFile>>,
    export: Option<StartedExport>,
}

/// An export, and the channels in it, in order of their numbers.
struct StartedExport {
    export: WireExport<BufWriter<AtomicFile>>,
    channels: Vec<ChannelId>,
}

impl DumpWriting<'_> {
    fn selector(&self) -> ChannelSelector<'_> {
        ChannelSelector { patterns: &self.arguments.channel, capture: Some(self.arguments.capture) }
    }

    fn receive(&mut self, item: CaptureItem<'_>, report: &mut RunReport) -> Result<(), CliError> {
        match item {
            CaptureItem::Section | CaptureItem::Link(..) => Ok(()),
            CaptureItem::Fault(fault) => {
                report.fault(fault);
                Ok(())
            }
            CaptureItem::Channel(id, channel) => {
                let is_late = self.export.is_some() && self.selector().selects(channel);
                if is_late {
                    let text = format!("{} begins after other characters", channel.label());
                    let text = format!("{text}: cut the capture there, with slice");
                    return Err(CliError::reading(&self.arguments.file, &escape_text(text)));
                }
                self.channels.push((id, Channel::clone(channel)));
                Ok(())
            }
            CaptureItem::Chunk(id, chunk) => self.chunk(id, &chunk),
        }
    }

    fn chunk(&mut self, id: ChannelId, chunk: &Chunk<'_>) -> Result<(), CliError> {
        if self.export.is_none() {
            self.begin()?;
        }
        let Some(StartedExport { export, channels }) = &mut self.export else { return Ok(()) };
        let Ok(number) = channels.binary_search(&id) else { return Ok(()) };
        export.receive(number, chunk).map_err(|error| match &error {
            ExportError::Write(error) => CliError::writing(&self.arguments.output, error),
            ExportError::TooLate { .. } => {
                CliError::reading(&self.arguments.file, &escape_text(error.to_string()))
            }
        })
    }

    /// Channels that are written, in order of their numbers.
    fn selected(&self) -> impl Iterator<Item = &(ChannelId, Channel)> {
        let selector = self.selector();
        self.channels.iter().filter(move |(_, channel)| selector.selects(channel))
    }

    fn begin(&mut self) -> Result<(), CliError> {
        let ExportWiresArgs { file, output, skew, jitter, seed, .. } = self.arguments;
        let known = self.channels.iter().map(|(_, channel)| channel);
        let checked = self.selector().check(&known);
        checked.map_err(|error| CliError::reading(file, &error))?;
        let delays = self.selected().zip(0_u64..).map(|((_, channel), number)| {
            // Each channel has delays of its own.
            let seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number << 32);
            let delays = match skew {
                WireSkew::Random(largest) => WireDelays::random(*largest, *jitter, seed),
                WireSkew::Given(delays) => {
                    WireDelays { skew_fs: *delays, ..WireDelays::random(0, *jitter, seed) }
                }
            };
            (channel.clone(), delays)
        });
        let (delays, channels) =
            (delays.collect::<Vec<_>>(), self.selected().map(|(id, _)| *id).collect());
        let Some(stream) = self.stream.take() else { return Ok(()) };
        let export = WireExport::new(stream, &delays);
        let export = export.map_err(|error| CliError::writing(output, &error))?;
        self.export = Some(StartedExport { export, channels });
        Ok(())
    }

    /// Completes the dump; returns what can be said about it.
    fn finish(mut self, report: &mut RunReport) -> Result<Vec<String>, CliError> {
        let ExportWiresArgs { file, output, .. } = self.arguments;
        let Some(StartedExport { export, .. }) = self.export.take() else {
            return Err(CliError::reading(file, &"no characters: nothing was written"));
        };
        let writing = |error: &std::io::Error| CliError::writing(output, error);
        let stream = export.finish().map_err(|error| writing(&error))?;
        let stream = stream.into_inner().map_err(|error| writing(error.error()))?;
        if !commit_read(vec![stream], report)? {
            return Ok(Vec::new());
        }
        let names: Vec<String> =
            self.selected().map(|(_, channel)| escape_text(channel.name.clone())).collect();
        let mut lines = vec![format!(
            "wires of {} written: {}",
            count(names.len(), "channel"),
            names.join(" ")
        )];
        if (1..=SELECTED_MAX / WIRES).contains(&names.len()) {
            let options: String = names.iter().map(|name| format!(" --channel '{name}'")).collect();
            let dump = escape_text(output.display().to_string());
            lines.push(format!("read by: myriscope import {dump} -o CAPTURE{options}"));
        }
        Ok(lines)
    }
}
