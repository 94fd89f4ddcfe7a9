//! `myriscope info`: counts of what each channel carried.

use analyzer::captured::CapturedRow;
use analyzer::counters::CountersRow;
use analyzer::event_reader::CounterReader;
use analyzer::filter::RowKind;
use analyzer::render;
use serde::Serialize;

use crate::analyze::{check_channels, row_limit};
use crate::args::{OutputFormat, ViewArgs};
use crate::exit::{CommandResult, RunReport};
use crate::output::StandardOutput;
use crate::rows::{RowSelection, RowSource, RowWriter, read_all};

#[derive(Serialize)]
struct InfoOutput<'a> {
    channels: Vec<CapturedRow<'a, CountersRow<'a>>>,
    skipped_interfaces: u64,
    /// Defective blocks and words, which were skipped.
    faults: u64,
}

pub(crate) fn run(view: &ViewArgs, output: &mut StandardOutput) -> CommandResult {
    let Some(mut selection) = RowSelection::of(view, RowKind::Channels, output)? else {
        return Ok(RunReport::default());
    };
    let capture = view.input().open()?;
    let mut report = RunReport::of(&view.file);
    let mut counts = CounterReader::new(capture);
    read_all(&mut report, |report| counts.step(&view.window(), &mut |fault| report.fault(fault)))?;
    let channels = counts.channels().values().map(|counter| &counter.channel);
    check_channels(view, &channels, &mut report);
    counts.keep(|_, counter| view.channels().selects(&counter.channel));
    counts.keep(|id, counter| {
        selection.keeps(&counter.row(id), RowSource::on(Some(&counter.channel)))
    });
    let mut has_room = row_limit(view);
    counts.keep(|_, _| has_room());
    let nothing = counts.channels().is_empty() && !report.is_clean();
    if selection.columns().is_some() {
        let mut writer = RowWriter::new(view, selection, "channels", output);
        for (id, counter) in counts.channels() {
            writer.row(&counter.row(*id), counter.channel.capture, |_| {});
        }
        writer.finish();
        return Ok(report);
    }
    let rows: Vec<(CountersRow<'_>, u32)> = counts
        .channels()
        .iter()
        .map(|(id, counter)| (counter.row(*id), counter.channel.capture))
        .collect();
    let rows = rows.iter().map(|(row, capture)| CapturedRow { row, capture: *capture });
    match view.format {
        OutputFormat::Text if nothing => {}
        OutputFormat::Text => render::info(&counts, &mut |line| output.line(&line)),
        OutputFormat::Jsonl => rows.for_each(|row| output.json(&row, "\n")),
        OutputFormat::Json => {
            let info = InfoOutput {
                channels: rows.collect(),
                skipped_interfaces: counts.skipped_interfaces(),
                faults: report.count(),
            };
            output.json(&info, "\n");
        }
    }
    Ok(report)
}
