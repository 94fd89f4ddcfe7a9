//! `myriscope export perfetto` and `export states`: states, packets, slack buffers and findings over time.

use std::io::{self, BufWriter};
use std::ops::ControlFlow;

use analyzer::journey::{Journey, JourneyHop};
use analyzer::link::interval::ChannelActivity;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::link::slack::SlackEvent;
use analyzer::options::AnalysisScope;
use analyzer::pipeline::AnalysisEvent;
use analyzer::render::TimeUnit;
use codec::capture::{Channel, ChannelId};
use codec::time::{Picoseconds, Tick};

use super::perfetto::PerfettoTrace;
use super::state_dump::StateDump;
use crate::analyze::{CliAnalysis, analyze, check_channel_exists};
use crate::args::ExportSelection;
use crate::atomic_file::{AtomicFile, commit_read};
use crate::exit::{CliError, CommandResult, RunReport};

/// Something that a timeline shows on a channel.
#[derive(Debug)]
pub(super) struct TimelineItem<'a> {
    pub(super) channel: ChannelId,
    /// The character at which it begins.
    pub(super) place: u64,
    /// Its begin and its end; the same time of an instant.
    pub(super) times: [Picoseconds; 2],
    pub(super) kind: TimelineItemKind<'a>,
}

#[derive(Debug)]
pub(super) enum TimelineItemKind<'a> {
    /// The state of the channel, until its end.
    State(ChannelActivity),
    /// A packet of a journey.
    Packet { journey: &'a Journey, hop: &'a JourneyHop, is_last: bool },
    /// Minimum and maximum of the full cells in the slack buffer, from here on. F-3
    Fill([u32; 2]),
    /// A finding, and the number of its occurrences here.
    Finding { kind: &'static str, count: u64 },
}

#[derive(Debug)]
enum TimelineFile {
    Perfetto(PerfettoTrace<BufWriter<AtomicFile>>),
    States(StateDump, BufWriter<AtomicFile>),
}

impl TimelineFile {
    fn item(&mut self, channel: &Channel, item: &TimelineItem<'_>) -> io::Result<()> {
        match self {
            Self::Perfetto(trace) => trace.item(channel, item),
            Self::States(dump, _) => dump.item(channel, item),
        }
    }

    fn finish(self) -> io::Result<AtomicFile> {
        let out = match self {
            Self::Perfetto(trace) => trace.finish(),
            Self::States(dump, mut out) => {
                dump.write(&mut out)?;
                out
            }
        };
        out.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

pub(super) fn perfetto(arguments: &ExportSelection) -> CommandResult {
    run(arguments, |out| TimelineFile::Perfetto(PerfettoTrace::new(out)))
}

pub(super) fn states(arguments: &ExportSelection) -> CommandResult {
    run(arguments, |out| TimelineFile::States(StateDump::default(), out))
}

fn run(
    arguments: &ExportSelection,
    begin: impl FnOnce(BufWriter<AtomicFile>) -> TimelineFile,
) -> CommandResult {
    let ExportSelection { files, output, .. } = arguments;
    files.check_output(output)?;
    let input = files.input();
    let mut timeline = begin(BufWriter::with_capacity(1 << 18, AtomicFile::create(output)?));
    let (mut report, mut written) = (RunReport::of(&files.file), Ok(()));
    let assumptions = LinkAssumptions::default();
    let mut emit = |analysis: &CliAnalysis, event| {
        each(analysis, &event, &mut |item| {
            let channel = analysis.channel(item.channel);
            let Some(channel) = channel.filter(|it| is_selected(arguments, it, &item)) else {
                return;
            };
            if written.is_ok() {
                written = timeline.item(channel, &item);
            }
        });
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let analysis = analyze(input, AnalysisScope::Timeline, assumptions, &mut report, &mut emit)?;
    check_channel_exists((&arguments.part, TimeUnit::default()), &analysis, &mut report);
    let file = written.and_then(|()| timeline.finish());
    let file = file.map_err(|error| CliError::writing(output, &error))?;
    commit_read(vec![file], &mut report)?;
    Ok(report)
}

fn is_selected(arguments: &ExportSelection, channel: &Channel, item: &TimelineItem<'_>) -> bool {
    let (from, to) = arguments.part.window().on(channel);
    let last = item.times[1].saturating_sub(1).max(item.times[0]);
    arguments.part.channels().selects(channel)
        && Tick(item.place) < to
        && from <= Tick(channel.period.periods(last))
}

/// Emits what an event shows.
fn each(analysis: &CliAnalysis, event: &AnalysisEvent, out: &mut dyn FnMut(TimelineItem<'_>)) {
    let time = |id, at: Tick| analysis.channel(id).map_or(0, |it| it.period.time(at.0));
    if let AnalysisEvent::Interval(interval) = event {
        let (channel, place) = (interval.channel, interval.start.0);
        let times = [interval.start, interval.end].map(|at| time(channel, at));
        let kind = TimelineItemKind::State(interval.state);
        out(TimelineItem { channel, place, times, kind });
    } else if let AnalysisEvent::Slack(SlackEvent::Fill(fill)) = event {
        let last = fill.end.0.saturating_sub(fill.start.0).saturating_sub(1);
        // The bounds change evenly in between: their first and last values show that.
        for offset in [0, last].into_iter().take(if last == 0 { 1 } else { 2 }) {
            let (channel, place) = (fill.channel, fill.start.0.saturating_add(offset));
            let times = [time(channel, Tick(place)); 2];
            let (lo, hi) = fill.at(Tick(place)).unwrap_or((fill.lo, fill.hi));
            out(TimelineItem { channel, place, times, kind: TimelineItemKind::Fill([lo, hi]) });
        }
    } else if let AnalysisEvent::Journey(journey) = event {
        for (number, hop) in journey.hops.iter().enumerate() {
            let (channel, place) = (hop.channel, hop.start.0);
            let times = [hop.start, Tick(hop.end.0.saturating_add(1))];
            let times = times.map(|at| time(channel, at));
            let is_last = number + 1 == journey.hops.len();
            let kind = TimelineItemKind::Packet { journey, hop, is_last };
            out(TimelineItem { channel, place, times, kind });
        }
    } else if let AnalysisEvent::Case(case) = event {
        let (channel, place) = (case.channel, case.place.at.0);
        let kind = TimelineItemKind::Finding { kind: case.kind.about().name, count: case.count };
        out(TimelineItem { channel, place, times: [case.place.time; 2], kind });
    }
}

/// The name of a channel's link: its two ends in order of their names.
pub(super) fn link_name(channel: &Channel) -> String {
    let label = channel.label();
    let Some((from, to)) = channel.name.split_once('>') else { return label.into_owned() };
    let [first, second] = if from <= to { [from, to] } else { [to, from] };
    label.replace(&channel.name, &format!("{first} ⇄ {second}"))
}

/// The name of a packet: its tag.
pub(super) fn packet_name(journey: &Journey) -> String {
    journey.tag.map_or_else(|| "packet".to_owned(), |tag| format!("tag {:02x}", tag.value()))
}
