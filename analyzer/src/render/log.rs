//! Text of `myriscope log` and `myriscope check --each`: a line per row.

use super::check::mark;
use super::fact_text::details;
use super::{StyledLine, TextStyle, TimeUnit};
use crate::finding_row::CaseRow;
use crate::render::LogRow;

/// Minimum width of the column of channels.
const CHANNEL: usize = 12;

/// Heading above the rows of `log`.
pub fn log_head(unit: TimeUnit) -> StyledLine {
    let head = format!("{:>12}  {:<CHANNEL$} {:<10}  what", unit.heading(), "channel", "kind");
    StyledLine::of(TextStyle::Head, head)
}

/// Line of a row of `log`.
pub fn log_line(row: &LogRow<'_>, unit: TimeUnit) -> StyledLine {
    let (role, text) = log_text(row);
    StyledLine::of(TextStyle::Dim, format!("{:>12}  ", unit.place(row.at, row.time_ps)))
        .and(TextStyle::Plain, format!("{:<CHANNEL$} ", row.channel))
        .and(TextStyle::Dim, format!("{:<10}  ", row.kind))
        .and(role, text)
        .and(TextStyle::Plain, &row.text)
}

/// Mark and name of a row, in front of its text.
pub(crate) fn log_text(row: &LogRow<'_>) -> (TextStyle, String) {
    let name = row.name.unwrap_or_default();
    match (row.kind, row.packet, row.severity) {
        ("packet", Some(number), _) => (TextStyle::Plain, format!("{number}  ")),
        ("deadlock", ..) => (TextStyle::Bad, String::new()),
        (_, _, Some(severity)) => {
            let (sign, role) = mark(severity);
            (role, format!("{sign} {name} "))
        }
        ("event" | "wait-start", ..) => (TextStyle::Plain, format!("{name} ")),
        _ => (TextStyle::Plain, String::new()),
    }
}

/// Heading above the rows of `check --each`.
pub fn case_head(unit: TimeUnit) -> StyledLine {
    let head = format!(
        "{:>12}  {:<CHANNEL$}   {:<22} {:<4}  facts",
        unit.heading(),
        "channel",
        "finding",
        "rule"
    );
    StyledLine::of(TextStyle::Head, head)
}

/// Line of a row of `check --each`.
pub fn case_line(row: &CaseRow<'_>, unit: TimeUnit) -> StyledLine {
    let (sign, role) = mark(row.severity);
    let text = match row.count {
        1 => details(&row.facts),
        count => format!("{count} more times, the last here"),
    };
    StyledLine::of(TextStyle::Dim, format!("{:>12}  ", unit.place(row.at, row.time_ps)))
        .and(TextStyle::Plain, format!("{:<CHANNEL$} ", row.channel))
        .and(role, format!("{sign} {:<22} ", row.finding))
        .and(TextStyle::Head, format!("{:<4}  ", row.rule.unwrap_or("")))
        .and(TextStyle::Plain, text)
}
