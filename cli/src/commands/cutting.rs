//! `myriscope slice` and `myriscope merge`: a capture of parts of others.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use analyzer::channel_name::{ChannelEnds, PortName};
use analyzer::channel_selector::ChannelSelector;
use analyzer::finding_row::ranked;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::options::AnalysisScope;
use analyzer::render::{StyledLine, TextStyle, count};
use analyzer::window::{TimeWindow, WindowEdge};
use codec::capture::{CaptureItem, Channel, MergeError, MergedCounts, ReadProgress, merge};
use codec::time::Picoseconds;
use codec::words::escape_text;

use crate::analyze::analyze_all;
use crate::args::{CapturePart, MergeArgs, SliceArgs};
use crate::atomic_file::{AtomicFile, commit_read};
use crate::exit::{CliError, CommandResult, RunReport, is_standard, is_standard_input};
use crate::input::InputFile;
use crate::output::StandardOutput;
use crate::run_simulation::check_output;

pub(crate) fn run_slice(arguments: &SliceArgs, output: &mut StandardOutput) -> CommandResult {
    let SliceArgs { file, output: copy, part, .. } = arguments;
    let selector = ChannelSelector { capture: Some(slice_capture(part)), ..part.channels() };
    check_paths(std::slice::from_ref(file), copy)?;
    let (mut report, captures) = write(&[(file, 0)], copy, (selector, window(arguments)?), output)?;
    if part.capture.is_none() && captures > 1 {
        report
            .warning(&format!("the first of {captures} captures was cut; --capture names another"));
    }
    Ok(report)
}

pub(crate) fn run_merge(arguments: &MergeArgs, output: &mut StandardOutput) -> CommandResult {
    let MergeArgs { files, offset, output: copy } = arguments;
    if let Some(other) = offset.iter().find(|it| !files.contains(&it.file)) {
        return Err(CliError::reading(&other.file, &"--offset names no capture that is merged"));
    }
    let later = |file: &PathBuf| {
        offset.iter().rev().find(|it| it.file == *file).map_or(0, |it| it.picoseconds)
    };
    let selector = ChannelSelector { patterns: &[], capture: Some(0) };
    check_paths(files, copy)?;
    let inputs: Vec<(&PathBuf, u128)> = files.iter().map(|file| (file, later(file))).collect();
    Ok(write(&inputs, copy, (selector, TimeWindow::ALL), output)?.0)
}

/// What does not fit in captures that are merged: ports with two cables, and times.
fn misfits(
    files: &[(&PathBuf, u128)],
    channels: &[(usize, Channel)],
    apart: &[usize],
) -> Vec<String> {
    let name =
        |number: usize| files.get(number).map_or_else(String::new, |it| it.0.display().to_string());
    let mut ports: BTreeMap<PortName, (usize, PortName)> = BTreeMap::new();
    let mut notes = Vec::new();
    for (number, channel) in channels {
        let Some(ChannelEnds { from, to }) = ChannelEnds::of_link(channel) else { continue };
        let (before, known) = ports.entry(from.clone()).or_insert_with(|| (*number, to.clone()));
        if *known != to && before != number {
            let (here, there) = (name(*number), name(*before));
            notes.push(format!(
                "the networks do not fit: {from} is linked with {to} in {here}, with {known} in {there}"
            ));
        }
    }
    notes.extend(apart.iter().map(|number| {
        let name = name(*number);
        format!(
            "the times do not fit: {name} has no character at the time of those before; if the clocks of the \
             recorders began apart, give --offset {name}=TIME"
        )
    }));
    notes
}

fn check_paths(files: &[PathBuf], copy: &Path) -> Result<(), CliError> {
    if files.iter().filter(|file| is_standard_input(file)).count() > 1 {
        return Err(CliError::Message("standard input can be one of the captures only".to_owned()));
    }
    check_output("capture", files.iter().map(PathBuf::as_path), copy)
}

/// Writes a part of the selected channels of all files to one capture. Returns also how many captures a file has.
fn write(
    files: &[(&PathBuf, u128)],
    copy: &Path,
    (selector, window): (ChannelSelector<'_>, TimeWindow),
    output: &mut StandardOutput,
) -> Result<(RunReport, u32), CliError> {
    let inputs = files.iter().map(|(file, later)| Ok((InputFile::whole(file).open()?, *later)));
    let inputs = inputs.collect::<Result<Vec<_>, CliError>>()?;
    let mut reports: Vec<RunReport> = files.iter().map(|(file, _)| RunReport::of(file)).collect();
    let mut channels: Vec<(usize, Channel)> = Vec::new();
    let mut select = |number, channel: &Channel| {
        channels.push((number, channel.clone()));
        let (from, to) = window.on(channel);
        (from, if selector.selects(channel) { to } else { from })
    };
    let stream = AtomicFile::create(copy)?;
    let merged = merge(inputs, stream, &mut select, &mut |number, fault| {
        reports.get_mut(number).into_iter().for_each(|report| report.fault(fault.clone()));
    });
    let path = |number: usize| files.get(number).map_or(copy, |it| it.0.as_path());
    let reading = |number, error: &str| CliError::reading(path(number), &error);
    let (stream, done) = merged.map_err(|error| match error {
        MergeError::Read(input, error) => RunReport::of(path(input)).failure(&error),
        MergeError::Differs { input, .. } => reading(input, &escape_text(error.to_string())),
        MergeError::Write(error) => CliError::writing(copy, &error),
    })?;
    if let Some((number, _)) = channels.iter().find(|(_, channel)| channel.capture > 0)
        && files.len() > 1
    {
        let error = "several captures in one file: cut out one of them with slice --capture";
        return Err(reading(*number, error));
    }
    let misfits = misfits(files, &channels, &done.apart);
    let known = channels.iter().map(|(_, channel)| channel);
    selector.check(&known).map_err(|error| reading(0, &error.to_string()))?;
    let captures = known.map(|channel| channel.capture + 1).max().unwrap_or(0);
    let MergedCounts { channels, characters, .. } = done;
    if characters == 0 {
        let recorded = files.first().and_then(|(file, _)| recorded_time(file));
        let recorded = recorded.map_or_else(String::new, |(from, to)| {
            format!(": it was recorded from {from} to {to}")
        });
        let error =
            format!("no character in this part of the capture{recorded}; nothing was written");
        return Err(reading(0, &error));
    }
    // Of several files with faults, the first is reported.
    let faulty = reports.iter().position(|report| !report.is_clean()).unwrap_or_default();
    let mut report = reports.into_iter().nth(faulty).unwrap_or_default();
    if commit_read(vec![stream], &mut report)? && !is_standard(copy) {
        let (characters, channels) = (count(characters, "character"), count(channels, "channel"));
        let text = format!("{characters} of {channels} written");
        output.line(&StyledLine::of(TextStyle::Plain, text));
    }
    misfits.iter().for_each(|misfit| report.warning(misfit));
    Ok((report, captures))
}

/// Times of the first and behind the last character of a file that can be read again.
fn recorded_time(file: &Path) -> Option<(WindowEdge, WindowEdge)> {
    let mut reader = InputFile::whole(file).channels().ok().filter(|_| file.is_file())?;
    let (mut periods, mut times) = (BTreeMap::new(), None::<(Picoseconds, Picoseconds)>);
    let mut add = |item: CaptureItem<'_>| match item {
        CaptureItem::Channel(id, channel) => drop(periods.insert(id, channel.period)),
        CaptureItem::Chunk(id, chunk) => {
            let Some(period) = periods.get(&id) else { return };
            let (first, end) = (period.time(chunk.first.0), period.time(chunk.end().0));
            times =
                times.map_or(Some((first, end)), |(from, to)| Some((from.min(first), to.max(end))));
        }
        CaptureItem::Section | CaptureItem::Link(..) | CaptureItem::Fault(_) => {}
    };
    while matches!(reader.step(&mut add), Ok(ReadProgress::More)) {}
    times.map(|(from, to)| (WindowEdge::Picoseconds(from), WindowEdge::Picoseconds(to)))
}

/// The capture of several in one file that is cut: the first, unless --capture names another.
fn slice_capture(part: &CapturePart) -> u32 {
    part.capture.unwrap_or_default()
}

/// The part to cut out: of --from and --to, or around a finding.
fn window(arguments: &SliceArgs) -> Result<TimeWindow, CliError> {
    let SliceArgs { file, part, finding, around, .. } = arguments;
    part.check_window()?;
    let Some(wanted) = finding else { return Ok(part.window()) };
    if is_standard_input(file) {
        let error = "slice --finding reads the capture twice: name a file";
        return Err(CliError::reading(file, &error));
    }
    let (scope, assumptions) = (AnalysisScope::Findings, LinkAssumptions::default());
    let mut report = RunReport::of(file);
    let analysis = analyze_all(InputFile::whole(file), scope, assumptions, &mut report)?;
    let findings = analysis.findings();
    let ranked = ranked(findings.set());
    let mut places = ranked.iter().zip(1_usize..).filter_map(|((kind, id, found), number)| {
        let channel = analysis.channel(*id)?;
        let is_wanted = kind.about().name == wanted || number.to_string() == *wanted;
        (is_wanted && channel.capture == slice_capture(part)).then_some((channel, found.first.at))
    });
    let Some((channel, at)) = places.next() else {
        if report.is_damaged() {
            // That ends the cutting, too.
            return Ok(part.window());
        }
        let error = format!(
            "no finding {wanted:?} among the {} of the capture: expected a name or a number of the list of check",
            ranked.len()
        );
        return Err(CliError::reading(file, &error));
    };
    let period = channel.period;
    let around = match around {
        WindowEdge::Picoseconds(time) => *time,
        WindowEdge::Character(count) => period.time(count.0),
    };
    let edge = WindowEdge::Picoseconds;
    let time = period.time(at.0);
    let behind = time.saturating_add(period.ps().into()).saturating_add(around);
    Ok(TimeWindow { from: edge(time.saturating_sub(around)), to: Some(edge(behind)) })
}
