//! Text of `myriscope log` and `myriscope check --each`: a line per row.

use super::check::{details, mark};
use super::{StyledLine, TextStyle, microseconds};
use crate::finding_row::CaseRow;
use crate::log_row::LogRow;

/// Minimum width of the column of channels.
const CHANNEL: usize = 12;

/// Heading above the rows of `log`.
#[must_use]
pub fn log_head() -> StyledLine {
    let head = format!("{:>12}  {:<CHANNEL$} {:<10}  what", "time µs", "channel", "kind");
    StyledLine::of(TextStyle::Head, head)
}

/// Line of a row of `log`, cut to a width.
#[must_use]
pub fn log_line(row: &LogRow<'_>, width: Option<usize>) -> StyledLine {
    let (sign, role) = row.severity.map_or(("", TextStyle::Plain), mark);
    let blank = if sign.is_empty() { "" } else { " " };
    let packet = row.packet.filter(|_| row.kind == "packet");
    let packet = packet.map_or_else(String::new, |number| format!("{number}  "));
    let name = match row.kind {
        "event" | "finding" => format!("{} ", row.name.unwrap_or("")),
        _ => String::new(),
    };
    let role = if row.kind == "deadlock" { TextStyle::Bad } else { role };
    let line = StyledLine::of(TextStyle::Dim, format!("{:>12}  ", microseconds(row.time_ps)))
        .and(TextStyle::Plain, format!("{:<CHANNEL$} ", row.channel))
        .and(TextStyle::Dim, format!("{:<10}  ", row.kind))
        .and(role, format!("{sign}{blank}{packet}{name}"));
    cut(line, &row.text, width)
}

/// Heading above the rows of `check --each`.
#[must_use]
pub fn case_head() -> StyledLine {
    let head = format!(
        "{:>12}  {:<CHANNEL$}   {:<22} {:<4}  facts",
        "time µs", "channel", "finding", "rule"
    );
    StyledLine::of(TextStyle::Head, head)
}

/// Line of a row of `check --each`, cut to a width.
#[must_use]
pub fn case_line(row: &CaseRow<'_>, width: Option<usize>) -> StyledLine {
    let (sign, role) = mark(row.severity);
    let line = StyledLine::of(TextStyle::Dim, format!("{:>12}  ", microseconds(row.time_ps)))
        .and(TextStyle::Plain, format!("{:<CHANNEL$} ", row.channel))
        .and(role, format!("{sign} {:<22} ", row.finding))
        .and(TextStyle::Head, format!("{:<4}  ", row.rule.unwrap_or("")));
    let text = match row.count {
        1 => details(&row.facts),
        count => format!("{count} more times, the last here"),
    };
    cut(line, &text, width)
}

/// Appends text to a line, cut to a width.
fn cut(line: StyledLine, text: &str, width: Option<usize>) -> StyledLine {
    let before: usize = line.pieces().map(|(_, piece)| piece.chars().count()).sum();
    let room = width.map_or(usize::MAX, |width| width.saturating_sub(before));
    if text.chars().count() <= room {
        return line.and(TextStyle::Plain, text);
    }
    let text: String = text.chars().take(room.saturating_sub(1)).collect();
    line.and(TextStyle::Plain, text + "…")
}
