//! Text of `myriscope series` and `myriscope flows`.

use super::{StyledLine, TextStyle, microseconds};
use crate::flow_table::PacketFlowRow;
use crate::series::SeriesRow;

/// Heading above the rows of a series.
#[must_use]
pub fn series_head() -> StyledLine {
    let text = format!(
        "{:>12}  {:<16}  {:>5}  {:>7}  {:>7}  {:>5}  {:>8}  {:>8}",
        "start µs", "channel", "used", "stopped", "packets", "bad", "p50 µs", "p99 µs"
    );
    StyledLine::of(TextStyle::Head, text)
}

/// Line of a channel in an interval.
#[must_use]
pub fn series_line(row: &SeriesRow<'_>) -> StyledLine {
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let stopped = if row.stopped > 0.0 { TextStyle::Notice } else { TextStyle::Dim };
    let bad = if row.bad > 0 { TextStyle::Bad } else { TextStyle::Dim };
    StyledLine::of(TextStyle::Dim, format!("{:>12}  ", microseconds(row.time_ps)))
        .and(TextStyle::Plain, format!("{:<16}  {:>5}  ", row.channel, percent(row.utilisation)))
        .and(stopped, format!("{:>7}  ", percent(row.stopped)))
        .and(TextStyle::Plain, format!("{:>7}  ", row.packets))
        .and(bad, format!("{:>5}  ", row.bad))
        .and(TextStyle::Plain, latency(row.latency_p50_ps) + "  " + &latency(row.latency_p99_ps))
}

/// Heading above flows.
#[must_use]
pub fn flow_head() -> StyledLine {
    let text = format!(
        "{:<10}  {:<10}  {:>7}  {:>9}  {:>7}  {:>8}  {:>8}  {:>8}",
        "from", "to", "packets", "bytes", "dropped", "mean µs", "p50 µs", "p99 µs"
    );
    StyledLine::of(TextStyle::Head, text)
}

/// Line of a flow.
#[must_use]
pub fn flow_line(row: &PacketFlowRow<'_>) -> StyledLine {
    let dropped = if row.dropped > 0 { TextStyle::Bad } else { TextStyle::Dim };
    let latencies = [row.latency_mean_ps, row.latency_p50_ps, row.latency_p99_ps].map(latency);
    let ends = format!("{:<10}  {:<10}  ", row.source, row.destination.unwrap_or("-"));
    StyledLine::of(TextStyle::Plain, ends)
        .and(TextStyle::Plain, format!("{:>7}  {:>9}  ", row.packets, row.bytes))
        .and(dropped, format!("{:>7}  ", row.dropped))
        .and(TextStyle::Plain, latencies.join("  "))
}

fn latency(latency: Option<u128>) -> String {
    format!("{:>8}", latency.map_or_else(|| "-".to_owned(), microseconds))
}
