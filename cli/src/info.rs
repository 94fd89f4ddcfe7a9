//! `myriscope info`: what the channels of a capture carried.

use analyzer::captured::CapturedRow;
use analyzer::counters::CountersRow;
use analyzer::event_reader::CounterReader;
use analyzer::filter::RowKind;
use analyzer::render;
use serde::Serialize;

use crate::args::{OutputFormat, ViewArgs};
use crate::exit::{CliError, RunReport};
use crate::input::{self, CliCapture};
use crate::listing::{RowSelection, RowSource, RowWriter, read_all};
use crate::output::StandardOutput;

#[derive(Serialize)]
struct InfoOutput<'a> {
    channels: Vec<CapturedRow<'a, CountersRow<'a>>>,
    skipped_interfaces: u64,
    /// Blocks that were left out because something was wrong with them.
    faults: u64,
}

pub(crate) fn run(view: &ViewArgs, output: &mut StandardOutput) -> Result<RunReport, CliError> {
    let Some(mut choice) = RowSelection::of(view, RowKind::Channels, output)? else {
        return Ok(RunReport::default());
    };
    let capture = input::open(&view.file).map_err(|e| CliError::file(&view.file, &e))?;
    let mut report = RunReport::of(&view.file);
    let mut tallies = CounterReader::new(capture);
    read_all(&mut report, |report| tallies.step(&view.window(), &mut |fault| report.fault(fault)))?;
    if let Some(name) = &view.channel {
        let names = tallies.channels().values().map(|counted| counted.channel.name.as_str());
        if !names.clone().any(|found| found == name) {
            report.no_channel(name, names);
        }
        tallies.keep(|_, counted| counted.channel.name == *name);
    }
    tallies.keep(|id, counted| {
        choice
            .keeps(&counted.counters.row(counted.place(id)), RowSource::on(Some(&counted.channel)))
    });
    let mut left = view.limit.unwrap_or(u64::MAX);
    tallies.keep(|_, _| left.checked_sub(1).map(|fewer| left = fewer).is_some());
    let nothing = tallies.channels().is_empty() && !report.is_clean();
    if choice.columns().is_some() {
        print_columns(view, choice, &tallies, output);
        return Ok(report);
    }
    let rows: Vec<(CountersRow<'_>, u32)> = tallies
        .channels()
        .iter()
        .map(|(id, counted)| (counted.counters.row(counted.place(*id)), counted.channel.capture))
        .collect();
    let rows = rows.iter().map(|(row, capture)| CapturedRow { row, capture: *capture });
    match view.format {
        OutputFormat::Text if nothing => {}
        OutputFormat::Text => render::info(&tallies, &mut |line| output.line(&line)),
        OutputFormat::Jsonl => rows.for_each(|row| output.json(&row, "\n")),
        OutputFormat::Json => {
            let info = InfoOutput {
                channels: rows.collect(),
                skipped_interfaces: tallies.skipped_interfaces(),
                faults: report.count(),
            };
            output.json(&info, "\n");
        }
    }
    Ok(report)
}

/// Prints some of what the channels carried.
fn print_columns(
    view: &ViewArgs,
    choice: RowSelection,
    tallies: &CounterReader<CliCapture>,
    output: &mut StandardOutput,
) {
    let mut listing = RowWriter::new(view, choice, "channels", output);
    listing.head(|_| {});
    for (id, counted) in tallies.channels() {
        listing.row(&counted.counters.row(counted.place(*id)), counted.channel.capture, |_| {});
    }
    listing.finish();
}
