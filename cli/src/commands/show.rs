//! `myriscope show`: the characters of both directions of a link, side by side.

use std::collections::VecDeque;

use analyzer::channel_name::escape_text;
use analyzer::filter::RowKind;
use analyzer::show::{LinkLayout, LinkView, LinkViewItem, NoteDisplay};
use analyzer::window::WindowEdge;
use codec::capture::{CaptureItem, CaptureReader, ReadProgress};
use codec::time::Tick;

use crate::analyze::{check_channels, warn_of_empty_window};
use crate::args::{ListFormat, ShowArgs, ViewArgs};
use crate::exit::{CommandResult, RunReport};
use crate::output::StandardOutput;
use crate::rows::{RowSource, RowWriter, list_rows, read_all};

pub(crate) fn run(arguments: &ShowArgs, output: &mut StandardOutput) -> CommandResult {
    let width = output.width().unwrap_or(80);
    let notes = if arguments.plain { NoteDisplay::Omitted } else { NoteDisplay::Shown };
    let unit = arguments.units.unit();
    let layout = match arguments.view.format {
        ListFormat::Text => LinkLayout { unit, notes, ..LinkLayout::of_width(width) },
        ListFormat::Json | ListFormat::Jsonl | ListFormat::Csv | ListFormat::Tsv => {
            LinkLayout::default()
        }
    };
    list_rows(&arguments.view, (RowKind::Characters, "rows"), output, |writer| {
        list(arguments, layout, writer)
    })
}

fn list(arguments: &ShowArgs, layout: LinkLayout, writer: &mut RowWriter<'_>) -> CommandResult {
    let view = &arguments.view;
    let capture = view.input().open()?;
    let mut report = RunReport::of(&view.file);
    let mut reader = CaptureReader::new(capture);
    let mut show = LinkView::new(view.channels(), layout);
    let window = view.window();
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
    let last = reader.extent().last;
    warn_of_empty_window(
        view,
        last.and_then(|(id, end)| Some((show.channel(id)?, end))),
        &mut report,
    );
    if let Some(ContextRows { place, rest: None, .. }) = &printer.around {
        report.warning(&format!("no row at {place}: the capture has no characters there or later"));
    }
    if check_channels(view, &show.channels(), &mut report) && !view.channel.is_empty() {
        warn_of_others(view, &show, &mut report);
    }
    Ok(report)
}

/// Names the selected channels that are not shown.
fn warn_of_others(view: &ViewArgs, show: &LinkView<'_>, report: &mut RunReport) {
    const SHOWN: usize = 8;
    let names: Vec<String> =
        show.not_shown().map(|channel| escape_text(channel.name.clone())).collect();
    if !names.is_empty() {
        let given = view.channels().text().unwrap_or_default();
        let more = names.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let names = names.get(..SHOWN).unwrap_or(&names).join(", ");
        report.warning(&format!(
            "--channel {given} also selects {names}{more}; show prints the first link"
        ));
    }
}

/// Prints the items of a view: all, or those around the place of --at.
struct RowPrinter {
    layout: LinkLayout,
    /// Source of the rows: the channel on the left, once it is known.
    left: RowSource,
    around: Option<ContextRows>,
    /// True if the latest row passed the filter and the limit: only then its notes are printed.
    is_row_printed: bool,
}

/// Rows around a place.
struct ContextRows {
    place: WindowEdge,
    context: usize,
    /// The place on the channel on the left.
    at: Tick,
    /// Rows before the place, and what stands between them; at most as many rows as the context.
    before: VecDeque<LinkViewItem>,
    /// Number of rows still to print, once the row at the place is found.
    rest: Option<usize>,
}

impl RowPrinter {
    fn new(arguments: &ShowArgs, layout: LinkLayout) -> Self {
        let around = arguments.at.map(|place| ContextRows {
            place,
            context: arguments.context.into(),
            at: Tick(0),
            before: VecDeque::new(),
            rest: None,
        });
        Self { layout, left: RowSource { capture: 0, period_ps: 1 }, around, is_row_printed: false }
    }

    /// True if all rows around the place have been printed, with what belongs to the last.
    fn is_done(&self) -> bool {
        self.around.as_ref().is_some_and(ContextRows::is_past)
    }

    fn take(&mut self, shown: LinkViewItem, writer: &mut RowWriter<'_>) {
        if let LinkViewItem::Head { left, .. } = &shown {
            self.left = RowSource { capture: left.capture, period_ps: left.period_ps.get() };
            if let Some(around) = &mut self.around {
                around.at = around.place.on(left);
                around.before.clear();
            }
            self.print(&shown, writer);
            return;
        }
        let Some(around) = &mut self.around else {
            self.print(&shown, writer);
            return;
        };
        let ready = around.take(shown);
        ready.iter().for_each(|item| self.print(item, writer));
    }

    fn print(&mut self, shown: &LinkViewItem, writer: &mut RowWriter<'_>) {
        let Self { layout, left, .. } = *self;
        match shown {
            LinkViewItem::Row { row, .. } => {
                self.is_row_printed = writer.accepts_more() && writer.keeps(row, left);
                if self.is_row_printed {
                    writer.row(row, left, |mut out| shown.lines(layout, &mut out));
                }
            }
            LinkViewItem::Note(_) if !self.is_row_printed => {}
            LinkViewItem::Head { .. } => {
                writer.enter(left.capture);
                writer.head(|mut out| shown.lines(layout, &mut out));
            }
            LinkViewItem::Note(_) | LinkViewItem::Unrecorded { .. } => {
                shown.lines(layout, &mut |line| writer.line(&line));
            }
        }
    }
}

impl ContextRows {
    const fn is_past(&self) -> bool {
        matches!(self.rest, Some(0))
    }

    /// Adds the next item, and returns those that are to be printed.
    fn take(&mut self, shown: LinkViewItem) -> Vec<LinkViewItem> {
        let is_row = matches!(shown, LinkViewItem::Row { .. });
        match &mut self.rest {
            // What follows the last row belongs to it up to the next row.
            Some(rest) => {
                *rest = rest.saturating_sub(is_row.into());
                if *rest > 0 { vec![shown] } else { Vec::new() }
            }
            None => {
                let is_hit =
                    matches!(&shown, LinkViewItem::Row { row, .. } if row.end >= self.at.0);
                self.before.push_back(shown);
                let is_before = |item: &&LinkViewItem| matches!(item, LinkViewItem::Row { .. });
                while self.before.iter().filter(is_before).count()
                    > self.context + usize::from(is_hit)
                {
                    self.before.pop_front();
                }
                if !is_hit {
                    return Vec::new();
                }
                self.rest = Some(self.context + 1);
                // Notes without their row.
                let orphans = self.before.iter().take_while(|item| !is_before(item)).count();
                self.before.drain(..).skip(orphans).collect()
            }
        }
    }
}
