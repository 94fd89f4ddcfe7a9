//! `myriscope info`: counts of what each channel carried.

use analyzer::event_reader::CounterReader;
use analyzer::filter::RowKind;
use analyzer::render;

use crate::analyze::{check_channels, read_all, warn_of_empty_window, warn_of_import};
use crate::args::ViewArgs;
use crate::exit::CommandResult;
use crate::output::StandardOutput;
use crate::rows::{RowSource, RowWriter, list_rows};

pub(crate) fn run(view: &ViewArgs, output: &mut StandardOutput) -> CommandResult {
    view.refuse_dialect()?;
    list_rows(view, RowKind::Channels, output, |writer| list(view, writer))
}

fn list(view: &ViewArgs, writer: &mut RowWriter<'_>) -> CommandResult {
    let capture = writer.input().channels()?;
    let mut report = writer.run_report();
    let mut counts = CounterReader::of_reader(capture);
    read_all(&mut report, |report| {
        counts.step(&view.part.window(), &mut |fault| report.fault(fault))
    })?;
    let channels = counts.channels().values().map(|counter| &*counter.channel);
    warn_of_empty_window((&view.part, view.unit()), counts.latest(), &mut report);
    check_channels(&view.part, &channels, &mut report);
    warn_of_import(channels, &mut report);
    counts.keep(|_, counter| view.part.channels().selects(&counter.channel));
    counts.keep(|id, counter| writer.admits(&counter.row(id), RowSource::on(&counter.channel)));
    if let Some(output) = writer.report() {
        if !counts.channels().is_empty() || report.is_clean() {
            let layout = view.layout(output);
            render::info(&counts, layout, &mut |line| output.fitted(line));
        }
        return Ok(report);
    }
    for (id, counter) in counts.channels() {
        writer.row(&counter.row(*id), RowSource::on(&counter.channel), |_| {});
    }
    writer.trailer().member("skipped_interfaces", &counts.skipped_interfaces());
    writer.trailer().member("faults", &report.count());
    Ok(report)
}
