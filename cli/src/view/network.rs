//! The network at a moment: the states of all its channels.

use std::collections::BTreeMap;
use std::fs::File;

use analyzer::channel_name::link_name;
use analyzer::event::Picoseconds;
use analyzer::link::interval::ActivityInterval;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::link_analysis::LinkAnalysis;
use analyzer::options::AnalysisScope;
use analyzer::pipeline::{AnalysisEvent, CaptureAnalysis};
use analyzer::render::{self, StyledLine, TextStyle, activity_glyph, activity_style};
use analyzer::topology::TopologyPort;
use codec::capture::{CaptureError, Channel, ChannelId, ReadProgress, ResumedStream};
use codec::time::Tick;

use super::CaptureViewer;
use super::list::RowGoal;
use super::row::{ResumedCapture, RowChoice, RowItem, RowPosition, ViewedEntry};

/// Time behind the moment up to which the end of a state is looked for. *Chosen*: longer than a chunk.
const AHEAD: Picoseconds = 1_000_000_000;

/// Reads the states of channels at a moment.
#[derive(Debug)]
pub(super) struct NetworkReader {
    analysis: CaptureAnalysis<ResumedStream<File>>,
    /// Capture and time.
    at: (u32, Picoseconds),
    states: BTreeMap<ChannelId, ActivityInterval>,
    /// True if all states are known, or cannot be: the links among them are, once another part is read.
    is_known: bool,
}

impl CaptureViewer {
    /// The goal as a moment of the network: not before the capture, and at the row of its channel.
    pub(super) fn moment(&self, goal: RowGoal) -> RowGoal {
        let at = goal.at.max(self.indexer.index().at(0).unwrap_or_default());
        let period = goal.channel.as_ref().and_then(|name| self.overview.period(at.0, name));
        let character = period.map(|period| Tick(period.periods(at.1)));
        RowGoal { at, character, ..goal }
    }
}

impl NetworkReader {
    pub(super) fn new(reader: ResumedCapture, at: (u32, Picoseconds)) -> Self {
        let (scope, assumed) = (AnalysisScope::Intervals, LinkAssumptions::default());
        let analysis = CaptureAnalysis::of_reader(reader, scope, assumed);
        Self { analysis, at, states: BTreeMap::new(), is_known: false }
    }

    /// Reads a part; the rows come at the end.
    pub(super) fn step(
        &mut self,
        choice: &mut RowChoice,
        out: &mut dyn FnMut(RowItem),
    ) -> Result<ReadProgress, CaptureError> {
        let Self { analysis, at: (capture, time), states, is_known } = self;
        let mut intervals = Vec::new();
        let progress = analysis.step(&mut |event| {
            if let AnalysisEvent::Interval(interval) = event {
                intervals.push(interval);
            }
        });
        let reports = || analysis.links().flat_map(LinkAnalysis::reports);
        intervals.extend(reports().filter_map(|report| report.now));
        for it in intervals {
            let channel = analysis.channel(it.channel).filter(|it| it.capture == *capture);
            let at = channel.map(|channel| Tick(channel.period.periods(*time)));
            if at.is_some_and(|at| (it.start..it.end).contains(&at)) {
                states.insert(it.channel, it);
            }
        }
        let channels = analysis.channels().filter(|(_, it)| it.capture == *capture).count();
        let is_behind = reports().filter(|it| it.channel.capture == *capture).any(|it| {
            let last = it.totals.counters.span().map(|(_, last)| it.channel.period.time(last.0));
            last.is_some_and(|last| last > *time + AHEAD)
        });
        let is_now = channels > 0 && states.len() == channels || is_behind;
        if !std::mem::replace(is_known, is_now) && matches!(progress, Ok(ReadProgress::More)) {
            return progress;
        }
        self.rows(choice, out);
        progress.map(|_| ReadProgress::Done)
    }

    fn rows(&self, choice: &mut RowChoice, out: &mut dyn FnMut(RowItem)) {
        let unit = choice.unit;
        let time = format!("{} {}", unit.elapsed(self.at.1), unit.of_times().name());
        out(RowItem::Head(StyledLine::of(TextStyle::Head, format!("the network at {time}"))));
        let topology = self.analysis.topology();
        let mut channels: BTreeMap<_, Vec<ChannelNow<'_>>> = BTreeMap::new();
        for (id, channel) in self.analysis.channels().filter(|(_, it)| it.capture == self.at.0) {
            let state = self.states.get(&id).copied();
            channels.entry(link_name(&channel.name)).or_default().push((channel, state));
        }
        let ways = |socket: TopologyPort| {
            let names = topology.links.get(socket.link).map(|it| it.channels.iter());
            let ways = names.into_iter().flatten().map(|it| channels.get(it.name.as_str()));
            let mut ways: Vec<&[ChannelNow<'_>]> =
                ways.map(|it| it.map_or(&[][..], Vec::as_slice)).collect();
            // The first channel leads from the first end.
            if socket.end > 0 && ways.len() > 1 {
                ways.reverse();
            }
            let arrows =
                if socket.end > 0 && ways.len() == 1 { ["◄", "►"] } else { ["►", "◄"] };
            ways.into_iter().zip(arrows)
        };
        let cable = |socket| ways(socket).fold(StyledLine::default(), arrow);
        let mut lines = Vec::new();
        render::network(&topology, &cable, &mut |socket, line| {
            let states: Vec<_> =
                socket.into_iter().flat_map(ways).flat_map(|(way, _)| way).collect();
            let names =
                states.iter().map(|(_, it)| it.map_or("not recorded", |it| it.state.name()));
            let names: Vec<_> = names.collect();
            let line = line.and(TextStyle::Plain, format!("  {}", names.join(", ")));
            let Some((channel, _)) = states.first() else {
                // A root, or a fibre, has no state: its line goes with the next.
                return lines.push(line);
            };
            if let Some(row) = self.entry(channel, &states, choice) {
                lines.push(line);
                out(RowItem::Row(row, std::mem::take(&mut lines)));
            }
        });
    }

    /// The row of a link, if it is selected, by its first channel.
    fn entry(
        &self,
        first: &Channel,
        states: &[&ChannelNow<'_>],
        choice: &mut RowChoice,
    ) -> Option<ViewedEntry> {
        let is_kept = states.iter().any(|(channel, state)| {
            let is_kept = match state {
                Some(it) => choice.keeps(&it.row(&channel.name), channel, channel.period),
                None => choice.filter.is_none(),
            };
            is_kept && choice.selects(channel)
        });
        let unit = choice.unit;
        let known = states.iter().filter_map(|(channel, it)| Some((channel, (*it)?)));
        let detail = known.clone().map(|(channel, it)| {
            let since = unit.text(it.start.0, channel.period);
            format!("{} {} since {since} {}", channel.label(), it.state.name(), unit.name())
        });
        let detail = detail.collect::<Vec<_>>().join("; ");
        let parts = known.map(|(channel, it)| RowPosition::on(channel, it.start, it.end)).collect();
        let at = Tick(first.period.periods(self.at.1));
        let position = RowPosition::on(first, at, at);
        is_kept.then_some(ViewedEntry { position, parts, detail })
    }
}

/// A channel, and its state if that is known.
type ChannelNow<'a> = (&'a Channel, Option<ActivityInterval>);

/// Adds the states of a direction to the picture of a link.
fn arrow(line: StyledLine, (way, head): (&[ChannelNow<'_>], &str)) -> StyledLine {
    let states = way.iter().map(|(_, it)| {
        it.map_or((TextStyle::Dim, "?"), |it| (activity_style(it.state), activity_glyph(it.state)))
    });
    let states = states.map(|(role, glyph)| (role, glyph.repeat(2)));
    if head == "►" {
        states.fold(line, |line, (role, glyphs)| line.and(role, glyphs)).and(TextStyle::Plain, head)
    } else {
        let line = line.and(TextStyle::Plain, format!(" {head}"));
        states.fold(line, |line, (role, glyphs)| line.and(role, glyphs))
    }
}
