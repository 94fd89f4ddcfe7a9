//! `myriscope diff`: packets of two captures, channel by channel.

use std::path::Path;

use analyzer::diff::{CaptureComparison, DiffRow, DiffSide, DiffTime};
use analyzer::event::{ChannelEvent, Picoseconds};
use analyzer::event_reader::{EventReader, ReadItem};
use analyzer::packet::ByteRetention;
use analyzer::render::{StyledLine, TextStyle};
use analyzer::timeline::EventFilter;
use codec::capture::ReadProgress;

use crate::args::{DiffArgs, DiffIgnore, OutputFormat};
use crate::exit::{CliError, CommandResult, RunReport, is_standard_input};
use crate::input::{CliCapture, InputFile};
use crate::output::StandardOutput;

/// A capture that is read, and the time up to which its packets are known.
struct ComparedFile<'a> {
    path: &'a Path,
    side: DiffSide,
    rows: EventReader<CliCapture>,
    /// Time of the newest packet; none at the end.
    time: Option<Picoseconds>,
    /// Channels that have been declared.
    channels: usize,
    report: RunReport,
}

pub(crate) fn run(arguments: &DiffArgs, output: &mut StandardOutput) -> CommandResult {
    let DiffArgs { a, b, ignore, format, .. } = arguments;
    if is_standard_input(a) && is_standard_input(b) {
        return Err(CliError::Message("standard input can be one of the captures only".to_owned()));
    }
    let time =
        if ignore.contains(&DiffIgnore::Time) { DiffTime::Ignore } else { DiffTime::Compare };
    let mut compared = CaptureComparison::new(time);
    let mut a = ComparedFile::open(a, DiffSide::A)?;
    let mut b = ComparedFile::open(b, DiffSide::B)?;
    loop {
        // The one that is behind, so that few packets of the other wait.
        let next = match (a.time, b.time) {
            (None, None) => break,
            (Some(_), None) => &mut a,
            (None, Some(_)) => &mut b,
            (Some(in_a), Some(in_b)) => {
                if in_a <= in_b {
                    &mut a
                } else {
                    &mut b
                }
            }
        };
        next.step(arguments, &mut compared)?;
    }
    arguments
        .channels()
        .check(&a.rows.channels().chain(b.rows.channels()))
        .map_err(|error| CliError::reading(a.path, &error))?;
    let rows = compared.finish();
    print(&rows, *format, output);
    let mut report = if a.report.is_clean() { b.report } else { a.report };
    if rows.iter().any(DiffRow::differs) {
        report.problem_found();
    }
    Ok(report)
}

impl<'a> ComparedFile<'a> {
    fn open(path: &'a Path, side: DiffSide) -> Result<Self, CliError> {
        let capture = InputFile::whole(path).open()?;
        let rows = EventReader::new(capture, EventFilter::Packets, ByteRetention::Keep);
        Ok(Self { path, side, rows, time: Some(0), channels: 0, report: RunReport::of(path) })
    }

    /// Reads a block.
    fn step(
        &mut self,
        arguments: &DiffArgs,
        compared: &mut CaptureComparison,
    ) -> Result<(), CliError> {
        let Self { path, side, rows, time, channels, report } = self;
        let selector = arguments.channels();
        let progress = rows.step(&mut |item| match item {
            ReadItem::Fault(fault) => report.fault(fault),
            ReadItem::Row(channel, row) => {
                *time = (*time).max(Some(row.time));
                if let ChannelEvent::Packet(packet) = &row.body
                    && selector.selects(channel)
                {
                    compared.feed(*side, channel, packet);
                }
            }
        });
        let progress = progress.map_err(|error| CliError::reading(path, &error))?;
        let known = rows.channels().filter(|channel| selector.selects(channel));
        known.clone().skip(*channels).for_each(|channel| compared.declare(*side, channel));
        *channels = known.count();
        if progress == ReadProgress::Done {
            *time = None;
        }
        Ok(())
    }
}

fn print(rows: &[DiffRow], format: OutputFormat, output: &mut StandardOutput) {
    match format {
        OutputFormat::Text => {
            let differ = rows.iter().filter(|row| row.differs()).count();
            let (role, text) = match differ {
                0 => (TextStyle::Good, format!("✓ no difference on {} channels", rows.len())),
                _ => (TextStyle::Bad, format!("✗ {differ} of {} channels differ", rows.len())),
            };
            output.line(&StyledLine::of(role, text));
            rows.iter().for_each(|row| row.lines(&mut |line| output.line(&line)));
        }
        OutputFormat::Json => output.json(&serde_json::json!({ "channels": rows }), "\n"),
        OutputFormat::Jsonl => rows.iter().for_each(|row| output.json(row, "\n")),
    }
}
