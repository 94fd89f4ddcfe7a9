//! Text of `myriscope series` and `myriscope flows`.

use super::{StyledLine, TextStyle, microseconds};
use crate::flow_table::PacketFlowRow;
use crate::series::SeriesRow;

/// Heading above the rows of a series.
#[must_use]
pub fn series_head() -> StyledLine {
    let names = ["used", "stopped", "packets", "bad", "p50 µs", "p99 µs"];
    columns(&format!("{:>12}  {:<12}", "start µs", "channel"), &names.map(str::to_owned))
}

/// Line of a channel in an interval.
#[must_use]
pub fn series_line(row: &SeriesRow<'_>) -> StyledLine {
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    columns(
        &format!("{:>12}  {:<12}", microseconds(row.time_ps), row.channel),
        &[
            percent(row.utilisation),
            percent(row.stopped),
            row.packets.to_string(),
            row.bad.to_string(),
            latency(row.latency_p50_ps),
            latency(row.latency_p99_ps),
        ],
    )
}

/// Heading above flows.
#[must_use]
pub fn flow_head() -> StyledLine {
    let names = ["packets", "bytes", "dropped", "mean µs", "p50 µs", "p99 µs"];
    columns(&format!("{:<8}  {:<8}", "from", "to"), &names.map(str::to_owned))
}

/// Line of a flow.
#[must_use]
pub fn flow_line(row: &PacketFlowRow<'_>) -> StyledLine {
    columns(
        &format!("{:<8}  {:<8}", row.source, row.destination.unwrap_or("-")),
        &[
            row.packets.to_string(),
            row.bytes.to_string(),
            row.dropped.to_string(),
            latency(row.latency_mean_ps),
            latency(row.latency_p50_ps),
            latency(row.latency_p99_ps),
        ],
    )
}

/// Names, and numbers in columns; those that are zero or missing stand back.
fn columns(names: &str, numbers: &[String; 6]) -> StyledLine {
    numbers.iter().fold(StyledLine::of(TextStyle::Plain, names), |line, number| {
        let is_nothing = ["0", "0.0 %", "-"].contains(&number.as_str());
        let style = if is_nothing { TextStyle::Dim } else { TextStyle::Plain };
        line.and(style, format!("  {number:>7}"))
    })
}

fn latency(latency: Option<u128>) -> String {
    latency.map_or_else(|| "-".to_owned(), microseconds)
}
