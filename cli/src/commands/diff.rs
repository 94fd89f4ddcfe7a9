//! `myriscope diff`: packets of two captures, channel by channel.

use std::path::Path;

use analyzer::diff::{CaptureComparison, DiffRow, DiffTime, diff_head};
use analyzer::event::{ChannelEvent, Picoseconds};
use analyzer::event_reader::{EventReader, ReadItem};
use analyzer::filter::RowKind;
use analyzer::packet::ByteRetention;
use analyzer::timeline::EventFilter;
use codec::capture::ReadProgress;
use codec::virtual_channels::LinkProfile;

use crate::args::{DiffArgs, DiffIgnore, ViewArgs};
use crate::exit::{CliError, CommandResult, FoundProblem, RunReport, is_standard_input};
use crate::input::{CliCapture, InputFile};
use crate::output::StandardOutput;
use crate::rows::{RowSource, list_rows};

/// A capture that is read, and the time up to which its packets are known.
struct ComparedFile<'a> {
    path: &'a Path,
    rows: EventReader<CliCapture>,
    /// Time of the newest packet; none at the end.
    time: Option<Picoseconds>,
    blocks: u64,
    report: RunReport,
}

pub(crate) fn run(arguments: &DiffArgs, output: &mut StandardOutput) -> CommandResult {
    // The list is of both files, not of each.
    arguments.view.refuse_dialect()?;
    arguments.view.refuse_lists()?;
    let files = arguments.view.files.iter().take(1).cloned().collect();
    let view = ViewArgs { files, ..arguments.view.clone() };
    list_rows(&view, RowKind::Differences, output, |writer| {
        let (mut rows, mut report) = compare(arguments)?;
        rows.retain(|row| writer.keeps(row, RowSource::of_capture(0)));
        writer.head(|out| out(diff_head(&rows)));
        for row in &rows {
            writer.row(row, RowSource::of_capture(0), |mut out| row.lines(&mut out));
        }
        if rows.iter().any(|row| row.differs) {
            report.found = FoundProblem::Something;
        }
        Ok(report)
    })
}

fn compare(arguments: &DiffArgs) -> Result<(Vec<DiffRow>, RunReport), CliError> {
    let DiffArgs { view, ignore } = arguments;
    let [a, b] = view.files.as_slice() else {
        return Err(CliError::Message("expected two captures: diff A B".to_owned()));
    };
    if is_standard_input(a) && is_standard_input(b) {
        return Err(CliError::Message("standard input can be one of the captures only".to_owned()));
    }
    let is_ignored = ignore.contains(&DiffIgnore::Time);
    let time = if is_ignored { DiffTime::Ignore } else { DiffTime::Compare };
    let mut compared = CaptureComparison::new(time);
    let profile = view.profile.value();
    let mut files = [ComparedFile::open(a, profile)?, ComparedFile::open(b, profile)?];
    // The one that is behind, so that few packets of the other wait.
    while let Some((number, file)) = files
        .iter_mut()
        .enumerate()
        .filter(|(_, file)| file.time.is_some())
        .min_by_key(|(_, file)| (file.time, file.blocks))
    {
        file.step(number, arguments, &mut compared)?;
    }
    let [a, b] = &files;
    let selector = view.part.channels();
    selector
        .check(&a.rows.channels().chain(b.rows.channels()))
        .map_err(|error| CliError::reading(a.path, &error))?;
    for (number, file) in files.iter().enumerate() {
        let channels = file.rows.channels().filter(|channel| selector.selects(channel));
        channels.for_each(|channel| compared.declare(number, channel));
    }
    let [a, b] = files.map(|file| file.report);
    Ok((compared.finish(), if a.is_clean() { b } else { a }))
}

impl<'a> ComparedFile<'a> {
    fn open(path: &'a Path, profile: Option<&LinkProfile>) -> Result<Self, CliError> {
        let capture = InputFile { profile, ..InputFile::whole(path) }.channels()?;
        let rows = EventReader::of_reader(capture, EventFilter::Packets, ByteRetention::Forget);
        Ok(Self { path, rows, time: Some(0), blocks: 0, report: RunReport::of(path) })
    }

    /// Reads a block.
    fn step(
        &mut self,
        number: usize,
        arguments: &DiffArgs,
        compared: &mut CaptureComparison,
    ) -> Result<(), CliError> {
        let Self { rows, time, blocks, report, .. } = self;
        *blocks += 1;
        let progress = rows.step(&mut |item| match item {
            ReadItem::Fault(fault) => report.fault(fault),
            ReadItem::Row(channel, row) => {
                *time = (*time).max(Some(row.time));
                if let ChannelEvent::Packet(packet) = &row.body
                    && arguments.view.part.has(channel, [packet.start, packet.end])
                {
                    compared.feed(number, channel, packet);
                }
            }
        });
        let progress = progress.map_err(|error| report.failure(&error))?;
        if progress == ReadProgress::Done {
            *time = None;
        }
        Ok(())
    }
}
