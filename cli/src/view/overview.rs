//! The analysis of the whole capture: findings, links and conversations.

use std::fs::File;
use std::sync::Arc;

use analyzer::conversation::{Conversation, TransportEvent};
use analyzer::filter::{ColumnList, RowKind};
use analyzer::finding_row::ranked;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::link::report::ChannelReport;
use analyzer::link_analysis::LinkAnalysis;
use analyzer::options::AnalysisScope;
use analyzer::pipeline::{AnalysisEvent, CaptureAnalysis};
use analyzer::render::check::unread;
use analyzer::render::fact_text::details;
use analyzer::render::{self, PictureSpan, StyledLine, TextStyle, TimeUnit, mark};
use codec::capture::{CaptureReader, ReadProgress};
use codec::time::{CharacterPeriod, Tick};
use codec::virtual_channels::LinkProfile;

use super::ViewKind;
use super::list::RowList;
use super::row::{RowChoice, RowPosition, ViewedEntry, ViewedLine};

/// Rows of a list. *Chosen*: more than anybody looks through.
const ROWS_MAX: usize = 10_000;

/// The analysis, and its progress.
#[derive(Debug)]
pub(super) struct CaptureOverview {
    analysis: CaptureAnalysis<File>,
    conversations: Vec<(RowPosition, Conversation)>,
    pub(super) is_ended: bool,
}

impl CaptureOverview {
    pub(super) fn new(file: File, profile: Option<LinkProfile>) -> Self {
        let (scope, assumed) = (AnalysisScope::Report, LinkAssumptions::default());
        let reader = CaptureReader::new(file).with_virtual_channels(profile);
        let analysis = CaptureAnalysis::of_reader(reader, scope, assumed);
        Self { analysis, conversations: Vec::new(), is_ended: false }
    }

    /// Reads a batch.
    pub(super) fn advance(&mut self) {
        let mut spoken = Vec::new();
        let progress = self.analysis.step(&mut |event| {
            if let AnalysisEvent::Conversation(TransportEvent::Conversation(it)) = event {
                spoken.push(*it);
            }
        });
        for it in spoken {
            if let Some(channel) = self.analysis.channel(it.first.channel)
                && self.conversations.len() <= ROWS_MAX
            {
                let position = RowPosition::on(channel, it.first.at, it.first.at);
                self.conversations.push((position, it));
            }
        }
        self.is_ended = !matches!(progress, Ok(ReadProgress::More));
    }

    /// Hundredths of the file that have been read.
    pub(super) fn progress(&self, bytes: u64) -> u64 {
        (self.analysis.offset() * 100).checked_div(bytes).unwrap_or(100).min(99)
    }

    /// Part of the capture that was not read, and why.
    pub(super) fn unread(&self, unit: TimeUnit) -> Option<String> {
        unread(&self.analysis.extent(), unit, &|id| self.analysis.channel(id))
    }

    /// Character period of a channel, if it has been read.
    pub(super) fn period(&self, capture: u32, name: &str) -> Option<CharacterPeriod> {
        let mut channels = self.analysis.channels().map(|(_, channel)| channel);
        channels.find(|it| it.capture == capture && it.name == name).map(|it| it.period)
    }

    /// Number of channels, of characters and of packets so far.
    pub(super) fn counts(&self) -> (usize, u64, u64) {
        let reports = self.analysis.links().flat_map(LinkAnalysis::reports);
        reports.fold((0, 0, 0), |(channels, characters, packets), it| {
            let own = it.totals.counters.characters();
            (channels + 1, characters + own, packets + it.totals.packets.count())
        })
    }

    /// Sets the lines of a list.
    pub(super) fn show(
        &self,
        kind: ViewKind,
        choice: &mut RowChoice,
        width: usize,
        list: &mut RowList,
    ) {
        let (head, rows) = match kind {
            ViewKind::Findings => self.findings(choice),
            ViewKind::Links => self.links(choice, width),
            ViewKind::Conversations => self.conversations(choice, width),
            ViewKind::Packets | ViewKind::Events | ViewKind::Journeys => return,
            ViewKind::Characters | ViewKind::Wires | ViewKind::Network => return,
        };
        let is_cut = rows.len() > ROWS_MAX;
        let rows = rows.into_iter().take(ROWS_MAX);
        list.head = head;
        list.lines =
            rows.map(|(line, row)| ViewedLine { line, row: Arc::new(row), number: 0 }).collect();
        list.notice = is_cut.then(|| format!("only the first {ROWS_MAX} rows are shown"));
        list.selected = list.selected.min(list.lines.len().saturating_sub(1));
    }

    fn findings(&self, choice: &mut RowChoice) -> (StyledLine, Vec<(StyledLine, ViewedEntry)>) {
        let findings = self.analysis.findings();
        let known = |id| self.analysis.channel(id);
        let name = |id| known(id).map_or("", |channel| channel.name.as_str());
        let unit = choice.unit;
        let rows = ranked(findings.set()).into_iter().filter_map(|(kind, id, found)| {
            let (channel, row) = (known(id)?, found.row(kind, id, &name));
            let is_selected = choice.selects(channel) && choice.reaches(channel, found.first.at);
            if !is_selected || !choice.keeps(&row, channel, channel.period) {
                return None;
            }
            let (sign, style) = mark(row.severity);
            let time = unit.text(row.at, channel.period);
            let line = StyledLine::of(style, format!("{sign} {:<24} ", row.finding))
                .and_ranked(1, TextStyle::Plain, format!("{:<5} ", row.rule.unwrap_or("")))
                .and(TextStyle::Dim, format!("{time:>14}  "))
                .and(TextStyle::Plain, format!("{:>9}  ", row.count))
                .and(TextStyle::Plain, channel.label());
            let facts = details(&row.first);
            let detail = format!("{}. First: {facts}", row.text);
            let detail = if facts.is_empty() { row.text.to_owned() } else { detail };
            let position = RowPosition::on(channel, found.first.at, found.first.at);
            Some((line, ViewedEntry { detail, ..ViewedEntry::at(position) }))
        });
        let time = format!("first {}", unit.name());
        let head = StyledLine::of(TextStyle::Head, format!("  {:<24} ", "finding"))
            .and_ranked(1, TextStyle::Head, format!("{:<5} ", "rule"))
            .and(TextStyle::Head, format!("{time:>14}  {:>9}  channel", "count"));
        let rows: Vec<_> = rows.collect();
        // Who held up whom comes first, at the place of the worst finding.
        let is_whole = choice.filter.is_none() && choice.channels.is_empty();
        let sentences = rows.first().filter(|_| is_whole).map(|(_, worst)| {
            let sentences = render::held_up(findings.set(), &known).into_iter();
            sentences.map(|line| {
                let detail = line.to_string();
                (line, ViewedEntry { detail, ..worst.clone() })
            })
        });
        let sentences: Vec<_> = sentences.into_iter().flatten().collect();
        (head, sentences.into_iter().chain(rows).collect())
    }

    fn links(
        &self,
        choice: &mut RowChoice,
        width: usize,
    ) -> (StyledLine, Vec<(StyledLine, ViewedEntry)>) {
        let links: Vec<Vec<ChannelReport<'_>>> =
            self.analysis.links().map(|link| link.reports().collect()).collect();
        let span = PictureSpan::of_width(&links, width);
        let unit = choice.unit;
        let rows = links.iter().flatten().filter(|it| {
            choice.selects(it.channel) && choice.keeps(&it.row(), it.channel, it.channel.period)
        });
        let rows = rows.take(ROWS_MAX + 1).map(|report| {
            let (totals, row) = (report.totals, report.row());
            let stops = row.stops.count.zip(row.stops.periods).zip(row.stops.longest);
            let stops = stops.map(|((count, all), longest)| {
                format!("{count} stops, {all} periods in all, {longest} the longest")
            });
            let stops = stops.unwrap_or_else(|| "its stops not recorded".to_owned());
            let (first, last) = totals.counters.span().unwrap_or((Tick(0), Tick(0)));
            let detail = format!(
                "{}: {} Mb/s, {} characters, {} of data; {} packets, {} not good; {stops}",
                report.channel.label(),
                report.channel.bits_per_second() / 1_000_000,
                row.characters,
                row.data,
                row.packets.count,
                totals.packets.not_good(),
            );
            let position = RowPosition::on(report.channel, first, last);
            (span.lane(report), ViewedEntry { detail, ..ViewedEntry::at(position) })
        });
        (render::axis(&span, unit), rows.collect())
    }

    /// Column of a lane at a number of cells, and the time there.
    pub(super) fn cell(&self, cell: usize, width: usize) -> (usize, u128) {
        let links: Vec<Vec<ChannelReport<'_>>> =
            self.analysis.links().map(|link| link.reports().collect()).collect();
        PictureSpan::of_width(&links, width).cell_start(cell)
    }

    fn conversations(
        &self,
        choice: &mut RowChoice,
        width: usize,
    ) -> (StyledLine, Vec<(StyledLine, ViewedEntry)>) {
        let columns = ColumnList::usual(RowKind::Conversations).in_unit(Some(choice.unit));
        let mut columns = columns.fitting(Some(width));
        let known = |id| self.analysis.channel(id);
        let rows = self.conversations.iter().filter_map(|(position, it)| {
            let (row, channel) = (it.row(), known(it.first.channel)?);
            let period = CharacterPeriod::PICOSECOND;
            let is_selected = choice.selects(channel) && choice.reaches(channel, position.first);
            let is_kept = is_selected && choice.keeps(&row, channel, period);
            is_kept.then(|| (columns.line(&row, period), ViewedEntry::at(position.clone())))
        });
        let rows = rows.collect();
        (columns.head(), rows)
    }
}
