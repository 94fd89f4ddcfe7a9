//! `myriscope info`: what the channels of a capture carried.

use analyzer::reading::Tallies;
use analyzer::tally::TallyRow;
use analyzer::text;
use serde::Serialize;

use crate::args::{Format, View};
use crate::files;
use crate::listing::read_on;
use crate::output::Output;
use crate::report::{Failure, Report};

#[derive(Serialize)]
struct Info<'a> {
    channels: Vec<TallyRow<'a>>,
    skipped_interfaces: u64,
    /// Blocks that were left out because something was wrong with them.
    faults: u64,
}

pub(crate) fn run(view: &View, output: &mut Output) -> Result<Report, Failure> {
    let capture = files::open(&view.file).map_err(|e| Failure::file(&view.file, &e))?;
    let mut report = Report::of(&view.file);
    let mut tallies = Tallies::new(capture);
    read_on(&mut report, |report| tallies.step(&view.window(), &mut |fault| report.fault(fault)));
    if let Some(name) = &view.channel {
        let names = tallies.channels().values().map(|counted| counted.channel.name.as_str());
        if !names.clone().any(|found| found == name) {
            report.no_channel(name, names);
        }
        tallies.keep(|channel| channel.name == *name);
    }
    let mut left = view.limit.unwrap_or(u64::MAX);
    tallies.keep(|_| left.checked_sub(1).map(|fewer| left = fewer).is_some());
    let nothing = tallies.channels().is_empty() && !report.is_clean();
    let rows = tallies.channels().iter().map(|(id, c)| c.tally.row(c.place(*id)));
    match view.format {
        Format::Text if nothing => {}
        Format::Text => text::info(&tallies, &mut |line| output.line(&line)),
        Format::Jsonl => rows.for_each(|row| output.json(&row, "\n")),
        Format::Json => {
            let info = Info {
                channels: rows.collect(),
                skipped_interfaces: tallies.skipped_interfaces(),
                faults: report.count(),
            };
            output.json(&info, "\n");
        }
    }
    Ok(report)
}
