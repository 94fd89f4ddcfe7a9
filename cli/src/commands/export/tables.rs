//! `myriscope export parquet`: the rows of the views as tables in Parquet files, partitioned by link.

mod columns;
mod files;

use std::ops::ControlFlow;

use analyzer::captured::CapturedRow;
use analyzer::conversation::TransportEvent;
use analyzer::event::{ChannelEvent, TimedEvent};
use analyzer::filter::{Filter, RowKind};
use analyzer::finding_row::finding_rows;
use analyzer::journey::Journey;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::link::slack::SlackEvent;
use analyzer::link_shard::LinkShard;
use analyzer::options::AnalysisScope;
use analyzer::pipeline::AnalysisEvent;
use analyzer::render::{StyledLine, TextStyle};
use analyzer::row::ListRow;
use analyzer::window::TimeWindow;
use clap::ValueEnum as _;
use codec::capture::{Channel, ChannelId};
use codec::time::Tick;
use serde_json::Value;

use self::columns::{BODY, COUNTED, HOP, JOURNEY};
use self::files::TableFiles;
use crate::analyze::{CliAnalysis, analyze};
use crate::args::{ExportTablesArgs, ExportedTable};
use crate::commands::blocking::is_concerned;
use crate::exit::{CliError, CommandResult, RunReport};
use crate::input::InputFile;
use crate::output::StandardOutput;
use crate::rows::RowSource;

impl ExportedTable {
    /// Kind of the rows of which it is made.
    const fn kind(self) -> RowKind {
        match self {
            Self::Packets => RowKind::Packets,
            Self::Events => RowKind::Events,
            Self::LinkIntervals => RowKind::Intervals,
            Self::Fills => RowKind::Fills,
            Self::Journeys | Self::Hops => RowKind::Journeys,
            Self::Waits => RowKind::Waits,
            Self::Messages => RowKind::Remarks,
            Self::Findings => RowKind::Findings,
        }
    }

    /// True if its rows follow from one link alone.
    const fn is_of_links(self) -> bool {
        matches!(self, Self::Packets | Self::Events | Self::LinkIntervals | Self::Fills)
    }

    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

pub(super) fn run(arguments: &ExportTablesArgs, output: &mut StandardOutput) -> CommandResult {
    let ExportTablesArgs { files, output: directory, shard, .. } = arguments;
    let tables = selected_tables(arguments)?;
    let mut export = TableExport {
        arguments,
        filter: filter(arguments, &tables)?,
        files: TableFiles::create(directory, &tables)?,
        omitted: 0,
        failure: None,
    };
    let (mut report, scope) = (RunReport::of(&files.file), AnalysisScope::Everything);
    let assumptions = LinkAssumptions::default();
    let input = InputFile { shard: shard.unwrap_or(LinkShard::ALL), ..files.input() };
    let analysis = analyze(input, scope, assumptions, &mut report, &mut |analysis, event| {
        export.event(analysis, event);
        match export.failure {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    })?;
    export.findings(&analysis);
    let TableExport { files, omitted, failure, .. } = export;
    if let Some(failure) = failure {
        return Err(failure);
    }
    if omitted > 0 {
        report.error(&format!(
            "{omitted} runs of repeated rows are not in the tables packets and events"
        ));
    }
    let channels: Vec<&Channel> = analysis.channels().map(|(_, channel)| channel).collect();
    if let Err(missing) = arguments.part.channels().check(&channels.iter().copied()) {
        report.error(&missing);
    }
    for (table, rows) in files.finish()? {
        let text = format!("{:<14} {rows:>12} rows", table.name());
        output.line(&StyledLine::of(TextStyle::Plain, text));
    }
    Ok(report)
}

fn selected_tables(arguments: &ExportTablesArgs) -> Result<Vec<ExportedTable>, CliError> {
    let is_possible = |table: &ExportedTable| arguments.shard.is_none() || table.is_of_links();
    let mut tables = arguments.table.clone();
    if tables.is_empty() {
        tables = ExportedTable::value_variants().iter().copied().filter(is_possible).collect();
    }
    if let Some(table) = tables.iter().find(|table| !is_possible(table)) {
        let error = format!(
            "--shard: the table {} needs all links; a share has packets, events, link_intervals and fills",
            table.name()
        );
        return Err(CliError::Message(error));
    }
    tables.sort_unstable();
    tables.dedup();
    Ok(tables)
}

fn filter(
    arguments: &ExportTablesArgs,
    tables: &[ExportedTable],
) -> Result<Option<Filter>, CliError> {
    let Some(text) = &arguments.filter else { return Ok(None) };
    let kind = tables.first().map_or(RowKind::Packets, |table| table.kind());
    if tables.iter().any(|table| table.kind() != kind) {
        let error = "--filter needs --table: tables have different fields".to_owned();
        return Err(CliError::Message(error));
    }
    Filter::parse(text, kind).map(Some).map_err(|error| CliError::filter(&error))
}

struct TableExport<'a> {
    arguments: &'a ExportTablesArgs,
    filter: Option<Filter>,
    files: TableFiles,
    /// Runs of repeated events that the analysis has left out.
    omitted: u64,
    failure: Option<CliError>,
}

impl TableExport<'_> {
    fn event(&mut self, analysis: &CliAnalysis, event: AnalysisEvent) {
        let known = |id| analysis.channel(id);
        match event {
            AnalysisEvent::Row(row) => {
                known(row.channel)
                    .into_iter()
                    .for_each(|channel| self.channel_event(channel, &row));
            }
            AnalysisEvent::Interval(it) => {
                let last = Tick(it.end.0.saturating_sub(1));
                if let Some(channel) = known(it.channel).filter(|on| self.has(on, it.start, last)) {
                    self.row(ExportedTable::LinkIntervals, Some(channel), &it.row(&channel.name));
                }
            }
            AnalysisEvent::Slack(SlackEvent::Fill(it)) => {
                let last = Tick(it.end.0.saturating_sub(1));
                if let Some(channel) = known(it.channel).filter(|on| self.has(on, it.start, last)) {
                    self.row(ExportedTable::Fills, Some(channel), &it.row(&channel.name));
                }
            }
            AnalysisEvent::Journey(journey) => self.journey(&journey, &known),
            AnalysisEvent::Blocked(wait) => {
                let part = &self.arguments.part;
                let windows = [part.window(), TimeWindow::ALL];
                if is_concerned(&part.channels(), windows, analysis, &wait) {
                    self.row(ExportedTable::Waits, known(wait.channel()), &wait.row(&known));
                }
            }
            AnalysisEvent::Spoken(event) => {
                let place = event.place();
                let channel = known(place.channel).filter(|on| self.has(on, place.at, place.at));
                match event {
                    TransportEvent::Noticed(it) if channel.is_some() => {
                        self.row(ExportedTable::Messages, channel, &it.row(&known));
                    }
                    TransportEvent::Malformed(it) if channel.is_some() => {
                        self.row(ExportedTable::Messages, channel, &it.row(&known));
                    }
                    TransportEvent::Noticed(_)
                    | TransportEvent::Malformed(_)
                    | TransportEvent::Conversation(_) => {}
                }
            }
            AnalysisEvent::Slack(
                SlackEvent::Late { .. }
                | SlackEvent::OverrunRisk { .. }
                | SlackEvent::Contradiction { .. },
            )
            | AnalysisEvent::Mapping(_)
            | AnalysisEvent::Case(_)
            | AnalysisEvent::Fault(_) => {}
        }
    }

    fn channel_event(&mut self, channel: &Channel, event: &TimedEvent) {
        match &event.body {
            ChannelEvent::Packet(packet) if self.has(channel, packet.start, packet.end) => {
                let row = packet.row(&channel.name);
                if let Some(mut row) = self.value(ExportedTable::Packets, Some(channel), &row) {
                    insert(&mut row, BODY.name, format!("{:032x}", packet.body.bits()).into());
                    self.add(ExportedTable::Packets, Some(&channel.name), row);
                }
            }
            ChannelEvent::Link(link) if self.has(channel, event.at, event.at) => {
                let row = link.row(&channel.name, event.at);
                self.row(ExportedTable::Events, Some(channel), &row);
            }
            ChannelEvent::Omitted { .. } => self.omitted += 1,
            ChannelEvent::Begins
            | ChannelEvent::Framed
            | ChannelEvent::Head(_)
            | ChannelEvent::Data(_)
            | ChannelEvent::Packet(_)
            | ChannelEvent::Link(_)
            | ChannelEvent::Command(_) => {}
        }
    }

    /// Writes a journey, and its hops to a table of their own.
    fn journey<'c>(&mut self, journey: &Journey, known: &dyn Fn(ChannelId) -> Option<&'c Channel>) {
        let has = |id, start, end| known(id).is_some_and(|channel| self.has(channel, start, end));
        if !journey.hops.iter().any(|hop| has(hop.channel, hop.start, hop.end)) {
            return;
        }
        let first = journey.hops.first().and_then(|hop| known(hop.channel));
        let table = if self.files.has(ExportedTable::Journeys) {
            ExportedTable::Journeys
        } else {
            ExportedTable::Hops
        };
        let Some(mut row) = self.value(table, first, &journey.row(known)) else { return };
        let hops = row.get_mut(COUNTED.name).map(Value::take).unwrap_or_default();
        let hops = if let Value::Array(hops) = hops { hops } else { Vec::new() };
        insert(&mut row, COUNTED.name, hops.len().into());
        for (number, mut hop) in hops.into_iter().enumerate() {
            insert(&mut hop, JOURNEY.name, journey.number.into());
            insert(&mut hop, HOP.name, number.into());
            insert(&mut hop, "capture", row.get("capture").cloned().unwrap_or_default());
            let channel = hop.get("channel").and_then(Value::as_str).map(str::to_owned);
            self.add(ExportedTable::Hops, channel.as_deref(), hop);
        }
        self.add(ExportedTable::Journeys, None, row);
    }

    /// Writes the findings, which are known at the end.
    fn findings(&mut self, analysis: &CliAnalysis) {
        let findings = analysis.findings();
        let (known, capture) = (|id| analysis.channel(id), self.arguments.files.argument());
        for (_, _, channel, row) in finding_rows(findings.ledger(), &known, capture) {
            if self.has(channel, Tick(row.at), Tick(row.last_at)) {
                self.row(ExportedTable::Findings, Some(channel), &row);
            }
        }
    }

    /// True if characters `first..=last` of a channel are selected.
    fn has(&self, channel: &Channel, first: Tick, last: Tick) -> bool {
        let part = &self.arguments.part;
        part.channels().selects(channel) && part.window().overlaps(channel, first, last)
    }

    fn row(&mut self, table: ExportedTable, channel: Option<&Channel>, row: &dyn ListRow) {
        if let Some(value) = self.value(table, channel, row) {
            self.add(table, channel.map(|channel| channel.name.as_str()), value);
        }
    }

    /// The JSON of a row, if it is to be written.
    fn value(
        &mut self,
        table: ExportedTable,
        channel: Option<&Channel>,
        row: &dyn ListRow,
    ) -> Option<Value> {
        let RowSource { capture, period } = match table {
            ExportedTable::Journeys | ExportedTable::Hops => RowSource::across(channel),
            ExportedTable::Packets
            | ExportedTable::Events
            | ExportedTable::LinkIntervals
            | ExportedTable::Fills
            | ExportedTable::Waits
            | ExportedTable::Messages
            | ExportedTable::Findings => RowSource::on(channel),
        };
        let row = CapturedRow::new(row, capture, period);
        let is_kept = self.files.has(table)
            && self.filter.as_mut().is_none_or(|filter| filter.keeps(&row, period));
        is_kept.then(|| row.json())
    }

    fn add(&mut self, table: ExportedTable, channel: Option<&str>, row: Value) {
        if self.failure.is_none() {
            self.failure = self.files.add(table, channel, row).err();
        }
    }
}

fn insert(row: &mut Value, name: &str, value: Value) {
    if let Value::Object(members) = row {
        members.insert(name.to_owned(), value);
    }
}
