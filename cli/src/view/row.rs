//! Rows of the viewer, and the readers that emit them.

use std::fs::File;
use std::sync::Arc;

use analyzer::captured::CapturedRow;
use analyzer::channel_selector::{ChannelPatterns, ChannelSelector};
use analyzer::event::{ChannelEvent, Picoseconds, TimedEvent};
use analyzer::event_reader::{EventReader, ReadItem};
use analyzer::filter::Filter;
use analyzer::journey::Journey;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::options::AnalysisScope;
use analyzer::packet::ByteRetention;
use analyzer::pipeline::{AnalysisEvent, CaptureAnalysis};
use analyzer::render::{self, StyledLine, TextStyle, TimeUnit};
use analyzer::row::ListRow;
use analyzer::show::waveform::{WaveformItem, WaveformView};
use analyzer::show::{LinkLayout, LinkView, LinkViewItem, LinkViewRow};
use analyzer::timeline::EventFilter;
use analyzer::window::{TimeWindow, WindowEdge};
use codec::capture::{
    CaptureError, CaptureItem, CaptureReader, Channel, ChannelId, ReadProgress, ResumedStream,
};
use codec::time::{CharacterPeriod, Tick};

use super::ViewKind;
use super::network::NetworkReader;

/// A capture from some place on.
pub(super) type ResumedCapture = CaptureReader<ResumedStream<File>>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RowPosition {
    pub(super) capture: u32,
    pub(super) channel: String,
    pub(super) first: Tick,
    pub(super) last: Tick,
    /// Times of the first and of the last character.
    pub(super) time: Picoseconds,
    pub(super) end: Picoseconds,
}

impl RowPosition {
    pub(super) fn on(channel: &Channel, first: Tick, last: Tick) -> Self {
        let (time, end) = (channel.period.time(first.0), channel.period.time(last.0));
        Self { capture: channel.capture, channel: channel.name.clone(), first, last, time, end }
    }

    fn contains(&self, capture: u32, channel: &str, at: Tick) -> bool {
        let is_inside = self.first <= at && at <= self.last;
        is_inside && self.capture == capture && self.channel == channel
    }
}

/// A row; its lines share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ViewedEntry {
    pub(super) position: RowPosition,
    /// The hops of a journey, or the states of a link's channels.
    pub(super) parts: Vec<RowPosition>,
    /// Text below the list.
    pub(super) detail: String,
}

impl ViewedEntry {
    pub(super) const fn at(position: RowPosition) -> Self {
        Self { position, parts: Vec::new(), detail: String::new() }
    }

    /// True if the row or a part of it contains a character of a channel.
    pub(super) fn contains(&self, capture: u32, channel: &str, at: Tick) -> bool {
        let mut positions = self.parts.iter().chain([&self.position]);
        positions.any(|position| position.contains(capture, channel, at))
    }
}

#[derive(Clone, Debug)]
pub(super) struct ViewedLine {
    pub(super) line: StyledLine,
    pub(super) row: Arc<ViewedEntry>,
    pub(super) number: usize,
}

/// The options that select rows, and their unit.
#[derive(Clone, Debug, Default)]
pub(super) struct RowChoice {
    pub(super) unit: TimeUnit,
    pub(super) channels: Vec<ChannelPatterns>,
    pub(super) to: Option<WindowEdge>,
    pub(super) filter: Option<Filter>,
}

impl RowChoice {
    pub(super) fn selects(&self, channel: &Channel) -> bool {
        ChannelSelector { patterns: &self.channels, capture: None }.selects(channel)
    }

    /// True if a row that begins at a character of a channel is before the end of the lists.
    pub(super) fn reaches(&self, channel: &Channel, first: Tick) -> bool {
        self.to.is_none_or(|end| first < end.on(channel))
    }

    /// True if a row on a channel passes the filter; `period` is that of its positions.
    pub(super) fn keeps(
        &mut self,
        row: &dyn ListRow,
        channel: &Channel,
        period: CharacterPeriod,
    ) -> bool {
        let row = CapturedRow::new(row, channel.capture, period);
        self.filter.as_mut().is_none_or(|filter| filter.keeps(&row, period))
    }
}

#[derive(Debug)]
pub(super) enum RowReader {
    Events(Box<EventReader<ResumedStream<File>>>),
    Journeys(Box<CaptureAnalysis<ResumedStream<File>>>),
    Characters(Box<CharacterReader>),
    Wires(Box<WireReader>),
    Network(Box<NetworkReader>),
}

/// Reads the wires of a channel.
#[derive(Debug)]
pub(super) struct WireReader {
    reader: ResumedCapture,
    view: WaveformView,
    channel: Option<Arc<Channel>>,
}

/// Reads the characters of a link.
#[derive(Debug)]
pub(super) struct CharacterReader {
    reader: ResumedCapture,
    view: LinkView<'static>,
    layout: LinkLayout,
    /// Capture and time before which nothing is shown.
    from: (u32, Picoseconds),
    left: Option<Channel>,
}

impl RowReader {
    pub(super) fn new(
        kind: ViewKind,
        reader: ResumedCapture,
        at: (u32, Picoseconds),
    ) -> Option<Self> {
        let events = |reader, filter| {
            let events = EventReader::of_reader(reader, filter, ByteRetention::Forget);
            Some(Self::Events(Box::new(events)))
        };
        match kind {
            ViewKind::Packets => events(reader, EventFilter::Packets),
            ViewKind::Events => events(reader, EventFilter::Events),
            ViewKind::Journeys => {
                let (scope, assumed) = (AnalysisScope::Network, LinkAssumptions::default());
                let analysis = CaptureAnalysis::of_reader(reader, scope, assumed);
                Some(Self::Journeys(Box::new(analysis)))
            }
            ViewKind::Network => Some(Self::Network(Box::new(NetworkReader::new(reader, at)))),
            ViewKind::Characters | ViewKind::Wires | ViewKind::Findings => None,
            ViewKind::Links | ViewKind::Conversations => None,
        }
    }

    /// Reads the link of a channel, or the first link.
    pub(super) fn characters(
        reader: ResumedCapture,
        channel: Option<String>,
        (unit, width): (TimeUnit, usize),
        from: (u32, Picoseconds),
    ) -> Self {
        let layout = LinkLayout { unit, has_notes: true, ..LinkLayout::of_width(width) };
        let mut view = LinkView::new(ChannelSelector::ALL, layout);
        if let Some(name) = channel {
            view = view.of_channel(name);
        }
        let reader = CharacterReader { reader, view, layout, from, left: None };
        Self::Characters(Box::new(reader))
    }

    /// Reads the wires of a channel, or of the first one.
    pub(super) fn wires(
        reader: ResumedCapture,
        channel: Option<String>,
        (unit, width): (TimeUnit, usize),
    ) -> Self {
        let layout = LinkLayout { unit, ..LinkLayout::of_width(width) };
        let view = WaveformView::new(channel, layout);
        Self::Wires(Box::new(WireReader { reader, view, channel: None }))
    }

    /// Reads a part, and emits its rows with their lines, and lines of a new heading.
    pub(super) fn step(
        &mut self,
        choice: &mut RowChoice,
        out: &mut dyn FnMut(RowItem),
    ) -> Result<ReadProgress, CaptureError> {
        match self {
            Self::Events(reader) => reader.step(&mut |item| match item {
                ReadItem::Row(channel, event) => out_event(channel, &event, choice, out),
                ReadItem::Fault(_) => {}
            }),
            Self::Journeys(analysis) => {
                let mut journeys = Vec::new();
                let progress = analysis.step(&mut |event| {
                    if let AnalysisEvent::Journey(journey) = event {
                        journeys.push(journey);
                    }
                })?;
                journeys.iter().for_each(|journey| out_journey(journey, analysis, choice, out));
                Ok(progress)
            }
            Self::Characters(reader) => reader.step(choice, out),
            Self::Wires(reader) => reader.step(choice, out),
            Self::Network(reader) => reader.step(choice, out),
        }
    }
}

/// Output of a reader.
#[derive(Debug)]
pub(super) enum RowItem {
    Row(ViewedEntry, Vec<StyledLine>),
    /// One behind the end of the list.
    Beyond,
    Head(StyledLine),
}

fn out_event(
    channel: &Channel,
    event: &TimedEvent,
    choice: &mut RowChoice,
    out: &mut dyn FnMut(RowItem),
) {
    let period = channel.period;
    let (first, last, is_kept) = if let ChannelEvent::Packet(packet) = &event.body {
        let is_kept = choice.keeps(&packet.row(&channel.name), channel, period);
        (packet.start, packet.end, is_kept)
    } else if let ChannelEvent::Link(link) = &event.body {
        let is_kept = choice.keeps(&link.row(&channel.name, event.at), channel, period);
        (event.at, event.at, is_kept)
    } else {
        (event.at, event.at, matches!(event.body, ChannelEvent::Omitted { .. }))
    };
    if !choice.reaches(channel, first) {
        out(RowItem::Beyond);
    } else if is_kept && choice.selects(channel) {
        let mut lines = Vec::new();
        render::row(channel, event, choice.unit, &mut |line| lines.push(line));
        out(RowItem::Row(ViewedEntry::at(RowPosition::on(channel, first, last)), lines));
    }
}

fn out_journey(
    journey: &Journey,
    analysis: &CaptureAnalysis<ResumedStream<File>>,
    choice: &mut RowChoice,
    out: &mut dyn FnMut(RowItem),
) {
    let known = |id: ChannelId| analysis.channel(id);
    let channels = journey.hops.iter().filter_map(|hop| Some((hop, known(hop.channel)?)));
    let is_selected = channels.clone().any(|(_, channel)| choice.selects(channel));
    let hops: Vec<_> =
        channels.clone().map(|(hop, it)| RowPosition::on(it, hop.start, hop.end)).collect();
    let (Some((_, channel)), Some(first), Some(last)) =
        (channels.clone().next(), hops.first(), hops.last())
    else {
        return;
    };
    if !choice.reaches(channel, first.first) {
        return out(RowItem::Beyond);
    }
    if !is_selected || !choice.keeps(&journey.row(&known), channel, CharacterPeriod::PICOSECOND) {
        return;
    }
    let unit = choice.unit;
    let detail = channels.map(|(hop, channel)| {
        let time = unit.text(hop.start.0, channel.period);
        format!("{} at {time} {} (packet {})", channel.name, unit.name(), hop.packet)
    });
    let detail = detail.collect::<Vec<_>>().join(" → ");
    let position = RowPosition { end: last.end, ..first.clone() };
    let mut lines = Vec::new();
    render::journey_lines(journey, &known, unit, &mut |line| lines.push(line));
    out(RowItem::Row(ViewedEntry { position, parts: hops, detail }, lines));
}

fn out_characters(
    channel: &Channel,
    row: &LinkViewRow,
    lines: Vec<StyledLine>,
    choice: &mut RowChoice,
    out: &mut dyn FnMut(RowItem),
) {
    let position = RowPosition::on(channel, Tick(row.at), Tick(row.end));
    if !choice.reaches(channel, position.first) {
        out(RowItem::Beyond);
    } else if choice.keeps(row, channel, channel.period) {
        out(RowItem::Row(ViewedEntry::at(position), lines));
    }
}

impl WireReader {
    fn step(
        &mut self,
        choice: &mut RowChoice,
        out: &mut dyn FnMut(RowItem),
    ) -> Result<ReadProgress, CaptureError> {
        let Self { reader, view, channel } = self;
        let mut emit = |item| match item {
            WaveformItem::Head(own) => {
                let name = format!("{:13}{}", "", own.name);
                out(RowItem::Head(StyledLine::of(TextStyle::Head, name)));
                *channel = Some(own);
            }
            WaveformItem::Row(row, lines) => {
                if let Some(channel) = channel {
                    out_characters(channel, &row, lines, choice, out);
                }
            }
        };
        let progress = reader.step(&mut |item| view.feed(&item, &mut emit));
        if !matches!(progress, Ok(ReadProgress::More)) {
            view.finish(&mut emit);
        }
        progress
    }
}

impl CharacterReader {
    fn step(
        &mut self,
        choice: &mut RowChoice,
        out: &mut dyn FnMut(RowItem),
    ) -> Result<ReadProgress, CaptureError> {
        let Self { reader, view, layout, from, left } = self;
        let mut emit = |item| match item {
            LinkViewItem::Head(head) => {
                // The last line has the names of both channels.
                let mut names = StyledLine::default();
                head.lines(*layout, &mut |line| names = line);
                *left = Some(head.left);
                out(RowItem::Head(names));
            }
            LinkViewItem::Row(shown) => {
                let Some(channel) = left.as_ref() else { return };
                if (channel.capture, channel.period.time(shown.row.end)) >= *from {
                    let mut lines = Vec::new();
                    shown.lines(*layout, &mut |line| lines.push(line));
                    out_characters(channel, &shown.row, lines, choice, out);
                }
            }
        };
        let progress = reader.step(&mut |item| {
            let mut window = TimeWindow::ALL;
            if let CaptureItem::Chunk(id, chunk) = &item
                && let Some(channel) = view.channel(*id)
                && (channel.capture, channel.period.time(chunk.end().0)) <= *from
            {
                // Its characters are not shown, but the notes behind it depend on them.
                window.from = WindowEdge::Character(Tick(u64::MAX));
            }
            view.feed(&item, &window, &mut emit);
        });
        if !matches!(progress, Ok(ReadProgress::More)) {
            view.finish(&mut emit);
        }
        progress
    }
}
