//! `myriscope show`: the characters of both directions of a link, side by side.

use std::collections::VecDeque;

use analyzer::filter::RowKind;
use analyzer::show::{LinkLayout, LinkView, LinkViewItem, ViewedRow};
use analyzer::window::WindowEdge;
use codec::capture::{CaptureItem, ReadProgress};
use codec::time::Tick;
use codec::words::{LISTED_MAX, listed};

use crate::analyze::{check_channels, read_all, warn_of_empty_window};
use crate::args::{ListFormat, ShowArgs, ViewArgs};
use crate::exit::{CommandResult, RunReport};
use crate::output::StandardOutput;
use crate::rows::{RowSource, RowWriter, list_rows};

pub(crate) fn run(arguments: &ShowArgs, output: &mut StandardOutput) -> CommandResult {
    let width = output.width().unwrap_or(80);
    arguments.view.refuse_dialect()?;
    let unit = arguments.view.unit();
    let layout = match arguments.view.format {
        ListFormat::Text => {
            LinkLayout { unit, has_notes: !arguments.plain, ..LinkLayout::of_width(width) }
        }
        ListFormat::Json | ListFormat::Jsonl | ListFormat::Csv | ListFormat::Tsv => {
            LinkLayout::default()
        }
    };
    list_rows(&arguments.view, RowKind::Characters, output, |writer| {
        list(arguments, layout, writer)
    })
}

fn list(arguments: &ShowArgs, layout: LinkLayout, writer: &mut RowWriter<'_>) -> CommandResult {
    let view = &arguments.view;
    let mut reader = writer.input().channels()?;
    let mut report = writer.run_report();
    let mut show = LinkView::new(view.part.channels(), layout);
    let window = view.part.window();
    let mut printer = RowPrinter::new(arguments, layout);
    read_all(&mut report, |report| {
        if !writer.accepts_more() || printer.is_done() {
            return Ok(ReadProgress::Done);
        }
        reader.step(&mut |item| {
            show.feed(&item, &window, &mut |shown| printer.take(shown, writer));
            if let CaptureItem::Fault(fault) = item {
                report.fault(fault);
            }
        })
    })?;
    show.finish(&mut |shown| printer.take(shown, writer));
    let last = reader.extent().latest;
    warn_of_empty_window(
        (&view.part, view.unit()),
        last.and_then(|(_, id, end)| Some((show.channel(id)?, end))),
        &mut report,
    );
    if let Some(ContextRows { place, rest: None, .. }) = &printer.around {
        report.warning(&format!("no row at {place}: the capture has no characters there or later"));
    }
    if check_channels(&view.part, &show.channels(), &mut report) && !view.part.channel.is_empty() {
        warn_of_others(view, &show, &mut report);
    }
    Ok(report)
}

/// Names the selected channels that are not shown.
fn warn_of_others(view: &ViewArgs, show: &LinkView<'_>, report: &mut RunReport) {
    if show.not_shown().next().is_some() {
        let given = view.part.channels().text().unwrap_or_default();
        let names = listed(show.not_shown().map(|channel| channel.name.as_str()), LISTED_MAX);
        report.warning(&format!(
            "--channel {given} also selects {names}; show prints the first link"
        ));
    }
}

/// Prints the items of a view: all, or those around the place of --at.
struct RowPrinter {
    layout: LinkLayout,
    /// Source of the rows: the channel on the left, once it is known.
    left: RowSource,
    around: Option<ContextRows>,
}

struct ContextRows {
    place: WindowEdge,
    context: usize,
    /// The place on the channel on the left.
    at: Tick,
    /// Rows before the place; at most as many as the context.
    before: VecDeque<ViewedRow>,
    /// Number of rows still to print, once the row at the place is found.
    rest: Option<usize>,
}

impl RowPrinter {
    fn new(arguments: &ShowArgs, layout: LinkLayout) -> Self {
        let context = arguments.context.into();
        let around = arguments.at.map(|place| ContextRows {
            place,
            context,
            at: Tick(0),
            before: VecDeque::new(),
            rest: None,
        });
        Self { layout, left: RowSource::of_capture(0), around }
    }

    /// True if all rows around the place have been printed.
    fn is_done(&self) -> bool {
        self.around.as_ref().is_some_and(|around| around.rest == Some(0))
    }

    fn take(&mut self, shown: LinkViewItem, writer: &mut RowWriter<'_>) {
        let layout = self.layout;
        match (shown, &mut self.around) {
            (LinkViewItem::Head(head), around) => {
                self.left = RowSource::on(&head.left);
                if let Some(around) = around {
                    around.at = around.place.on(&head.left);
                    around.before.clear();
                }
                writer.enter(head.left.capture);
                writer.head(|mut out| head.lines(layout, &mut out));
            }
            (LinkViewItem::Row(row), None) => self.print(&row, writer),
            (LinkViewItem::Row(row), Some(around)) => {
                around.take(row).iter().for_each(|row| self.print(row, writer));
            }
        }
    }

    fn print(&self, shown: &ViewedRow, writer: &mut RowWriter<'_>) {
        writer.select(&shown.row, self.left, |mut out| shown.lines(self.layout, &mut out));
    }
}

impl ContextRows {
    /// Adds the next row, and returns those that are to be printed.
    fn take(&mut self, row: ViewedRow) -> VecDeque<ViewedRow> {
        if let Some(rest) = &mut self.rest {
            let is_printed = *rest > 0;
            *rest = rest.saturating_sub(1);
            return is_printed.then_some(row).into_iter().collect();
        }
        let is_hit = row.row.end >= self.at.0;
        self.before.push_back(row);
        if self.before.len() > self.context + usize::from(is_hit) {
            self.before.pop_front();
        }
        if !is_hit {
            return VecDeque::new();
        }
        self.rest = Some(self.context);
        std::mem::take(&mut self.before)
    }
}
