//! Analysis of a capture for the commands that print its results.

use analyzer::channel_name::PortName;
use analyzer::channel_selector::quoting_help;
use analyzer::filter::RowKind;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::mapping::{MapComparison, newest_maps};
use analyzer::options::AnalysisScope;
use analyzer::packet::ReceivedPacket;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use analyzer::pipeline::{AnalysisEvent, CaptureAnalysis};
use analyzer::render::check::unread;
use analyzer::render::{MappingText, StyledLine, TextStyle, TimeUnit};
use codec::capture::{CaptureError, CaptureReader, Channel, ReadProgress};
use codec::packet::PacketDialect;
use codec::time::Tick;
use codec::words::escape_text;

use crate::args::{CapturePart, ViewArgs};
use crate::exit::{CliError, CommandResult, RunReport};
use crate::input::{self, CliCapture, InputFile};
use crate::output::StandardOutput;
use crate::rows::{RowSource, RowWriter, list_rows};

pub(crate) type CliAnalysis = CaptureAnalysis<CliCapture>;

/// Reads a capture to its end, or until `emit` breaks. Faults go to the report, other events to `emit`.
pub(crate) fn analyze(
    file: InputFile<'_>,
    scope: AnalysisScope,
    assumptions: LinkAssumptions,
    report: &mut RunReport,
    emit: &mut dyn FnMut(&CliAnalysis, AnalysisEvent) -> ControlFlow<()>,
) -> Result<CliAnalysis, CliError> {
    analyze_opened((file, file.channels()?), scope, assumptions, report, emit)
}

/// [`analyze`], of a file that has been opened.
pub(crate) fn analyze_opened(
    (file, reader): (InputFile<'_>, CaptureReader<CliCapture>),
    scope: AnalysisScope,
    assumptions: LinkAssumptions,
    report: &mut RunReport,
    emit: &mut dyn FnMut(&CliAnalysis, AnalysisEvent) -> ControlFlow<()>,
) -> Result<CliAnalysis, CliError> {
    let assumptions = assumptions.with_dialect(file.dialect);
    let mut analysis = CaptureAnalysis::of_reader(reader, scope, assumptions);
    analysis.restrict(file.shard);
    // The order of fill levels across channels follows the batches, which pauses of the input would cut.
    if !matches!(scope, AnalysisScope::Fills | AnalysisScope::Timeline) {
        analysis.emit_when(input::is_waiting);
    }
    let mut step = Vec::new();
    read_all(report, |report| {
        let progress = analysis.step(&mut |event| step.push(event));
        for event in step.drain(..) {
            if let AnalysisEvent::Fault(fault) = event {
                report.fault(fault);
            } else if emit(&analysis, event).is_break() {
                return Ok(ReadProgress::Done);
            }
        }
        progress
    })?;
    Ok(analysis)
}

/// Reads a capture to its end, or to the first error that ends the reading. A file without a channel
/// is an error of the command.
pub(crate) fn read_all(
    report: &mut RunReport,
    mut step: impl FnMut(&mut RunReport) -> Result<ReadProgress, CaptureError>,
) -> Result<(), CliError> {
    loop {
        match step(report) {
            Ok(ReadProgress::More) => {}
            Ok(ReadProgress::Done) => return Ok(()),
            Err(error @ CaptureError::NoChannel { .. }) => return Err(report.failure(&error)),
            Err(error) => {
                report.stopped(&error);
                return Ok(());
            }
        }
    }
}

/// Texts of the doubts that the import of channels' wires left.
pub(crate) fn import_texts<'c>(
    channels: impl Iterator<Item = &'c Channel>,
) -> impl Iterator<Item = String> {
    channels.flat_map(|channel| {
        let notes = channel.import_notes().filter(|note| !note.is_empty());
        notes.map(|note| format!("{}: import: {note}", channel.label()))
    })
}

/// Warns of what was doubtful when the wires of channels were imported.
pub(crate) fn warn_of_import<'c>(
    channels: impl Iterator<Item = &'c Channel>,
    report: &mut RunReport,
) {
    import_texts(channels).for_each(|text| report.warning(&escape_text(text)));
}

/// Reads a capture to its end, for the totals of the analysis.
pub(crate) fn analyze_all(
    file: InputFile<'_>,
    scope: AnalysisScope,
    assumptions: LinkAssumptions,
    report: &mut RunReport,
) -> Result<CliAnalysis, CliError> {
    analyze(file, scope, assumptions, report, &mut |_, _| ControlFlow::Continue(()))
}

/// Prints the rows of a kind that the events of an analysis are.
pub(crate) fn print_list(
    view: &ViewArgs,
    kind: RowKind,
    output: &mut StandardOutput,
) -> CommandResult {
    list_rows(view, kind, output, |writer| list(view, LinkAssumptions::default(), writer))
}

/// Lists the rows of selected events of an analysis, until the limit is reached.
pub(crate) fn list(
    view: &ViewArgs,
    assumptions: LinkAssumptions,
    writer: &mut RowWriter<'_>,
) -> CommandResult {
    let (kind, part) = (writer.selection().kind, &view.part);
    let (mut report, scope) = (writer.run_report(), kind.scope());
    let analysis =
        analyze(writer.input(), scope, assumptions, &mut report, &mut |analysis, event| {
            let known = |id| analysis.channel(id);
            part.row(kind, &event, &known, &mut |row| {
                writer.select(row.row, RowSource::of(row), |out| row.lines(view.unit(), out));
            });
            writer.flow()
        })?;
    if writer.accepts_more() {
        check_channel_exists((part, view.unit()), &analysis, &mut report);
    }
    Ok(report)
}

/// Reads a capture to its end and passes the selected events to `add`, each with the channel by which it is
/// selected.
pub(crate) fn sum_up(
    view: &ViewArgs,
    assumptions: LinkAssumptions,
    writer: &mut RowWriter<'_>,
    add: &mut dyn FnMut(&CliAnalysis, &Channel, AnalysisEvent, &mut RowWriter<'_>),
) -> Result<(CliAnalysis, RunReport), CliError> {
    let part = &view.part;
    let (mut report, scope) = (writer.run_report(), writer.selection().kind.scope());
    let analysis =
        analyze(writer.input(), scope, assumptions, &mut report, &mut |analysis, event| {
            if let Some(channel) = part.channel_of(&event, &|id| analysis.channel(id)) {
                add(analysis, channel, event, writer);
            }
            ControlFlow::Continue(())
        })?;
    check_channel_exists((part, view.unit()), &analysis, &mut report);
    Ok((analysis, report))
}

/// Prints how far a file was read, above a summary, if not to its end.
pub(crate) fn print_unread(analysis: &CliAnalysis, unit: TimeUnit, output: &mut StandardOutput) {
    if let Some(unread) = unread(&analysis.extent(), unit, &|id| analysis.channel(id)) {
        output.line(&StyledLine::of(TextStyle::Bad, format!("✗ {unread}")));
    }
}

/// True if the file has the channels and the capture given with --channel and --capture; reports an
/// error otherwise, and a warning if the shell seems to have taken `>h1:0` for the name of a file.
pub(crate) fn check_channels<'c>(
    part: &CapturePart,
    channels: &(impl Iterator<Item = &'c Channel> + Clone),
    report: &mut RunReport,
) -> bool {
    let missing = part.channels().check(channels).err();
    missing.iter().for_each(|missing| report.error(missing));
    if let Some(port) = redirected_to_port()
        && let Some(given) = part.channels().names().rev().find(|it| it.is_port())
        && missing.is_none()
    {
        let help = quoting_help(&format!("{}>{port}", given.text()));
        report.warning(&format!("standard output is a file named {port}. {help}"));
    }
    missing.is_none()
}

/// The port after which the file is named that standard output goes to, if there is one.
pub(crate) fn redirected_to_port() -> Option<PortName> {
    let file = std::fs::read_link("/proc/self/fd/1").ok()?;
    PortName::parse(&escape_text(file.file_name()?.to_str()?.to_owned()))
        .filter(|_| file.is_absolute())
}

/// [`check_channels`] of the channels that an analysis has met.
pub(crate) fn check_channel_exists(
    (part, unit): (&CapturePart, TimeUnit),
    analysis: &CliAnalysis,
    report: &mut RunReport,
) -> bool {
    let channels: Vec<&Channel> = analysis.channels().map(|(_, channel)| channel).collect();
    let last = analysis.extent().latest;
    let last = last.and_then(|(_, id, end)| Some((analysis.channel(id)?, end)));
    warn_of_empty_window((part, unit), last, report);
    check_channels(part, &channels.iter().copied(), report)
}

/// Packets that must look like those of the later dialect: one of so many. *Chosen*: by chance it is one of
/// hundreds of thousands.
const DIALECT_SHARE: u64 = 10;

/// Packets read by their tags that look like packets of the later dialect, by group.
#[derive(Debug, Default)]
pub(crate) struct DialectGuess {
    groups: BTreeMap<&'static str, u64>,
    /// Number of all packets read by their tags.
    packets: u64,
}

impl DialectGuess {
    pub(crate) fn add(&mut self, packet: &ReceivedPacket) {
        if packet.dialect == PacketDialect::Tag {
            self.packets += 1;
            if let Some(group) = packet.vita26_guess() {
                *self.groups.entry(group.name()).or_default() += 1;
            }
        }
    }

    /// Reports the guess and its reason, by the share of packets. Nothing else depends on it.
    pub(crate) fn report(&self, report: &mut RunReport) {
        let alike = self.groups.values().fold(0, |sum: u64, count| sum.saturating_add(*count));
        if alike == 0 || alike.saturating_mul(DIALECT_SHARE) < self.packets {
            return;
        }
        let groups: Vec<String> =
            self.groups.iter().map(|(name, count)| format!("{count} {name}")).collect();
        report.warning(&format!(
            "ANSI/VITA 26-1998? Four bytes behind the route and the header after them fit its packets, and \
             the CRC is good: {}. They were read by their tags; --dialect vita26 shows their fields",
            groups.join(", ")
        ));
    }
}

/// Reports a warning if --from is behind the end of the chunk that ends last.
pub(crate) fn warn_of_empty_window(
    (part, unit): (&CapturePart, TimeUnit),
    last: Option<(&Channel, Tick)>,
    report: &mut RunReport,
) {
    if let (Some(from), Some((channel, end))) = (part.from, last)
        && from.on(channel) >= end
    {
        let end = format!("{} {}", unit.text(end.0, channel.period), unit.name());
        report.warning(&format!("--from {from} is behind the end of the capture, at {end}"));
    }
}

/// The newest maps beside the captured network.
pub(crate) fn compared_maps(analysis: &CliAnalysis, text: &MappingText) -> MapComparison {
    let homes = analysis.mapping().homes();
    let homes = homes.filter_map(|(it, id)| Some((it, analysis.channel(id)?.name.clone())));
    MapComparison::new(analysis.topology(), &newest_maps(text.maps()), &homes.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_of_the_packets_makes_a_guess() {
        for (alike, packets, is_told) in [(0, 0, false), (1, 10, true), (1, 11, false)] {
            let guess = DialectGuess { groups: [("gm", alike)].into(), packets };
            let mut report = RunReport::default();
            guess.report(&mut report);
            assert_eq!(format!("{report:?}").contains("1 gm"), is_told, "{alike} of {packets}");
        }
    }
}
