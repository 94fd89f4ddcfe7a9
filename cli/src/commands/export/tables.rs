//! `myriscope export parquet`: the rows of the views as tables in Parquet files, partitioned by link.

mod columns;
mod files;

use std::ops::ControlFlow;

use analyzer::captured::CapturedRow;
use analyzer::event::{ChannelEvent, TimedEvent};
use analyzer::filter::{Filter, RowKind};
use analyzer::finding_row::finding_rows;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::link_shard::LinkShard;
use analyzer::options::AnalysisScope;
use analyzer::pipeline::AnalysisEvent;
use analyzer::render::{StyledLine, TextStyle, TimeUnit};
use analyzer::row::ListRow;
use clap::ValueEnum as _;
use codec::time::{CharacterPeriod, Tick};
use serde_json::Value;

use self::columns::{BODY, COUNTED, HOP, JOURNEY};
use self::files::TableFiles;
use crate::analyze::{CliAnalysis, analyze, check_channel_exists};
use crate::args::{ExportTablesArgs, ExportedTable};
use crate::exit::{CliError, CommandResult, RunReport};
use crate::input::InputFile;
use crate::output::StandardOutput;
use crate::rows::parse_filter;

impl ExportedTable {
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
        export.event(analysis, &event);
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
    if !check_channel_exists((&arguments.part, TimeUnit::default()), &analysis, &mut report) {
        return Ok(report);
    }
    for (table, rows) in files.finish()? {
        let text = format!("{:<14} {rows:>12} rows", table.name());
        output.line(&StyledLine::of(TextStyle::Plain, text));
    }
    Ok(report)
}

fn selected_tables(arguments: &ExportTablesArgs) -> Result<Vec<ExportedTable>, CliError> {
    // A share of the links has what follows from one link alone.
    use ExportedTable::{Events, Fills, LinkIntervals, Packets};
    let is_possible = |table: &ExportedTable| {
        arguments.shard.is_none() || matches!(table, Packets | Events | LinkIntervals | Fills)
    };
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
    let kind = tables.first().map_or(RowKind::Packets, |table| table.kind());
    if arguments.filter.is_some() && tables.iter().any(|table| table.kind() != kind) {
        let error = "--filter needs --table: tables have different fields".to_owned();
        return Err(CliError::Message(error));
    }
    parse_filter(arguments.filter.as_deref(), kind)
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
    fn event(&mut self, analysis: &CliAnalysis, event: &AnalysisEvent) {
        let (known, part) = (|id| analysis.channel(id), &self.arguments.part);
        for table in ExportedTable::value_variants().iter().copied() {
            // Hops are written with their journeys.
            let is_done = table == ExportedTable::Hops && self.files.has(ExportedTable::Journeys);
            if is_done || !self.files.has(table) {
                continue;
            }
            part.row(table.kind(), event, &known, &mut |selected| {
                let Some(mut row) = self.value(&selected.captured(), selected.period) else {
                    return;
                };
                if let AnalysisEvent::Journey(journey) = event {
                    return self.journey(journey.number, row);
                }
                if let AnalysisEvent::Row(event) = event
                    && let ChannelEvent::Packet(packet) = &event.body
                {
                    let body = format!("{:032x}", packet.body.bits());
                    insert(&mut row, BODY.name, body.into());
                }
                self.add(table, Some(&selected.channel.name), row);
            });
        }
        if let AnalysisEvent::Row(TimedEvent { body: ChannelEvent::Omitted { .. }, .. }) = event {
            self.omitted += 1;
        }
    }

    /// Writes a journey, and its hops to a table of their own.
    fn journey(&mut self, journey: u64, mut row: Value) {
        let hops = row.get_mut(COUNTED.name).map(Value::take).unwrap_or_default();
        let hops = if let Value::Array(hops) = hops { hops } else { Vec::new() };
        insert(&mut row, COUNTED.name, hops.len().into());
        for (number, mut hop) in hops.into_iter().enumerate() {
            insert(&mut hop, JOURNEY.name, journey.into());
            insert(&mut hop, HOP.name, number.into());
            insert(&mut hop, "capture", row.get("capture").cloned().unwrap_or_default());
            let channel = hop.get("channel").and_then(Value::as_str).map(str::to_owned);
            self.add(ExportedTable::Hops, channel.as_deref(), hop);
        }
        self.add(ExportedTable::Journeys, None, row);
    }

    /// Writes the findings, which are known at the end.
    fn findings(&mut self, analysis: &CliAnalysis) {
        if !self.files.has(ExportedTable::Findings) {
            return;
        }
        let findings = analysis.findings();
        let (known, capture) = (|id| analysis.channel(id), self.arguments.files.argument());
        let part = &self.arguments.part;
        for (_, _, channel, row) in finding_rows(findings.set(), &known, capture) {
            let captured = CapturedRow::new(&row, channel.capture, channel.period);
            if part.has(channel, [Tick(row.at), Tick(row.last_at)])
                && let Some(row) = self.value(&captured, channel.period)
            {
                self.add(ExportedTable::Findings, Some(&channel.name), row);
            }
        }
    }

    /// The JSON of a row, if it passes the filter.
    fn value(&mut self, row: &CapturedRow<'_>, period: CharacterPeriod) -> Option<Value> {
        let is_kept = self.filter.as_mut().is_none_or(|filter| filter.keeps(row, period));
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
