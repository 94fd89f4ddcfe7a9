//! `myriscope info`: what the channels of a capture carried.

use analyzer::captured::CapturedRow;
use analyzer::filter::RowKind;
use analyzer::reading::Tallies;
use analyzer::tally::TallyRow;
use analyzer::text;
use serde::Serialize;

use crate::args::{Format, View};
use crate::files::{self, Capture};
use crate::listing::{Choice, Listing, Origin, read_on};
use crate::output::Output;
use crate::report::{Failure, Report};

#[derive(Serialize)]
struct Info<'a> {
    channels: Vec<CapturedRow<'a, TallyRow<'a>>>,
    skipped_interfaces: u64,
    /// Blocks that were left out because something was wrong with them.
    faults: u64,
}

pub(crate) fn run(view: &View, output: &mut Output) -> Result<Report, Failure> {
    let Some(mut choice) = Choice::of(view, RowKind::Channels, output)? else {
        return Ok(Report::default());
    };
    let capture = files::open(&view.file).map_err(|e| Failure::file(&view.file, &e))?;
    let mut report = Report::of(&view.file);
    let mut tallies = Tallies::new(capture);
    read_on(&mut report, |report| tallies.step(&view.window(), &mut |fault| report.fault(fault)))?;
    if let Some(name) = &view.channel {
        let names = tallies.channels().values().map(|counted| counted.channel.name.as_str());
        if !names.clone().any(|found| found == name) {
            report.no_channel(name, names);
        }
        tallies.keep(|_, counted| counted.channel.name == *name);
    }
    tallies.keep(|id, counted| {
        choice.keeps(&counted.tally.row(counted.place(id)), Origin::on(Some(&counted.channel)))
    });
    let mut left = view.limit.unwrap_or(u64::MAX);
    tallies.keep(|_, _| left.checked_sub(1).map(|fewer| left = fewer).is_some());
    let nothing = tallies.channels().is_empty() && !report.is_clean();
    if choice.columns().is_some() {
        print_columns(view, choice, &tallies, output);
        return Ok(report);
    }
    let rows: Vec<(TallyRow<'_>, u32)> = tallies
        .channels()
        .iter()
        .map(|(id, counted)| (counted.tally.row(counted.place(*id)), counted.channel.capture))
        .collect();
    let rows = rows.iter().map(|(row, capture)| CapturedRow { row, capture: *capture });
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

/// Prints some of what the channels carried.
fn print_columns(view: &View, choice: Choice, tallies: &Tallies<Capture>, output: &mut Output) {
    let mut listing = Listing::new(view, choice, "channels", output);
    listing.head(|_| {});
    for (id, counted) in tallies.channels() {
        listing.row(&counted.tally.row(counted.place(*id)), counted.channel.capture, |_| {});
    }
    listing.finish();
}
