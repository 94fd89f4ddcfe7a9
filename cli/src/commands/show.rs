//! `myriscope show`: the characters of both directions of a link, side by side.

use analyzer::channel_name::escape_text;
use analyzer::filter::RowKind;
use analyzer::show::{LinkView, LinkViewItem};
use codec::capture::{CaptureItem, CaptureReader, ReadProgress};

use crate::analyze::check_channels;
use crate::args::ViewArgs;
use crate::exit::{CommandResult, RunReport};
use crate::output::StandardOutput;
use crate::rows::{RowSource, RowWriter, list_rows, read_all};

pub(crate) fn run(view: &ViewArgs, output: &mut StandardOutput) -> CommandResult {
    list_rows(view, (RowKind::Characters, "rows"), output, |writer| list(view, writer))
}

fn list(view: &ViewArgs, writer: &mut RowWriter<'_>) -> CommandResult {
    let capture = view.input().open()?;
    let mut report = RunReport::of(&view.file);
    let mut reader = CaptureReader::new(capture);
    let mut show = LinkView::new(view.channels());
    let window = view.window();
    let mut left = RowSource { capture: 0, period_ps: 0 };
    read_all(&mut report, |report| {
        if !writer.accepts_more() {
            return Ok(ReadProgress::Done);
        }
        reader.step(&mut |item| {
            show.feed(&item, &window, &mut |shown| print(&shown, &mut left, writer));
            if let CaptureItem::Fault(fault) = item {
                report.fault(fault);
            }
        })
    })?;
    show.finish(&mut |shown| print(&shown, &mut left, writer));
    if check_channels(view, &show.channels(), &mut report) && !view.channel.is_empty() {
        warn_of_others(&show, &mut report);
    }
    Ok(report)
}

/// Names the selected channels that are not shown.
fn warn_of_others(show: &LinkView<'_>, report: &mut RunReport) {
    const SHOWN: usize = 8;
    let names: Vec<String> =
        show.not_shown().map(|channel| escape_text(channel.name.clone())).collect();
    if !names.is_empty() {
        let more = names.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let names = names.get(..SHOWN).unwrap_or(&names).join(", ");
        report
            .warning(&format!("--channel also selects {names}{more}; show prints the first link"));
    }
}

/// Prints a row, a head or a note; `left` is the channel on the left, once it is known.
fn print(shown: &LinkViewItem, left: &mut RowSource, writer: &mut RowWriter<'_>) {
    match shown {
        LinkViewItem::Row(row) if writer.keeps(row, *left) => {
            writer.row(row, *left, |mut out| shown.lines(&mut out));
        }
        LinkViewItem::Row(_) => {}
        LinkViewItem::Head { period_ps, capture, .. } => {
            *left = RowSource { capture: *capture, period_ps: *period_ps };
            writer.enter(*capture);
            writer.head(|mut out| shown.lines(&mut out));
        }
        LinkViewItem::Unrecorded { .. } => shown.lines(&mut |line| writer.line(&line)),
    }
}
