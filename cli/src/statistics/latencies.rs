//! Latencies of packets: percentiles and a histogram.

use analyzer::render::{StyledLine, TextStyle};
use simulator::statistics::{LogHistogram, PacketLatencies};

use super::short;
use crate::text_table::{TextColumn, print_columns};

/// Maximum number of lines of a histogram. *Chosen*
const BINS: u64 = 12;
/// Periods in a tenth of a microsecond.
const TENTH_US: u64 = 8;

/// Prints the latencies of packets: `docs/output.md`, Latency.
pub(super) fn print(latencies: &PacketLatencies, out: &mut impl FnMut(StyledLine)) {
    let PacketLatencies { queue, transfer, packet, network } = latencies;
    if transfer.count() == 0 {
        return;
    }
    let rows = [
        ("queue time", queue),
        ("network latency", network),
        ("transfer time", transfer),
        ("packet latency", packet),
    ];
    let mut columns = vec![TextColumn::of("latency µs", &rows, |row| row.0.to_owned()).left()];
    for (head, share) in [
        ("min", 0),
        ("50 %", 500_000),
        ("90 %", 900_000),
        ("99 %", 990_000),
        ("99.9 %", 999_000),
        ("max", 1_000_000),
    ] {
        let quantile = |(_, times): &(&str, &LogHistogram)| {
            let time = if share == 0 { times.min() } else { times.quantile(share) };
            time.map_or_else(String::new, short)
        };
        columns.push(TextColumn::of(head, &rows, quantile));
    }
    out(StyledLine::default());
    print_columns(&columns, out);
    histogram(transfer, out);
}

/// Prints a bar for each range of values. The last includes everything above the 99 % quantile.
fn histogram(values: &LogHistogram, out: &mut impl FnMut(StyledLine)) {
    let (Some(min), Some(most)) = (values.min(), values.quantile(990_000)) else { return };
    let width = width(min, most);
    let first = min / width;
    let last = most / width;
    if first == last {
        return;
    }
    let bins = (last - first + 1).try_into().unwrap_or(1);
    let mut counts = vec![0; bins];
    for (value, count) in values.buckets() {
        let bin = (value / width).clamp(first, last) - first;
        if let Some(sum) = usize::try_from(bin).ok().and_then(|bin| counts.get_mut(bin)) {
            *sum += count;
        }
    }
    let highest = counts.iter().copied().max().unwrap_or(0);
    out(StyledLine::default());
    out(StyledLine::of(TextStyle::Head, "transfer time"));
    for (bin, count) in (first..).zip(counts) {
        let thousandths = (u128::from(count) * 1000).div_ceil(u128::from(highest.max(1)));
        let from = short(bin.saturating_mul(width));
        let open = bin == last && values.max().is_some_and(|max| max / width > last);
        let beyond = if open { "…" } else { "" };
        out(StyledLine::of(TextStyle::Plain, format!("{:>9} µs{beyond:<2}", from))
            .and(TextStyle::Good, bar(thousandths))
            .and(TextStyle::Plain, format!(" {count}")));
    }
}

/// Width of the bins: 1, 2 or 5 times a power of ten, in tenths of a microsecond.
fn width(min: u64, max: u64) -> u64 {
    let mut decade = TENTH_US;
    loop {
        let fits = |width: &u64| max / width - min / width < BINS;
        let widths = [1, 2, 5].map(|digit| decade.saturating_mul(digit));
        match widths.into_iter().find(fits) {
            Some(width) => return width,
            None => decade = decade.saturating_mul(10),
        }
    }
}

/// A bar of at most 30 characters for a share in thousandths.
fn bar(share: u128) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = usize::try_from(share * 240 / 1000).unwrap_or(240);
    let part = EIGHTHS.get(eighths % 8).copied().unwrap_or_default();
    format!("{}{part}", "█".repeat(eighths / 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_twelve_bins_cover_the_values_each_with_a_bar() {
        // Twelve tenths of a microsecond, then one more.
        assert_eq!((width(0, 95), width(0, 96)), (8, 16));
        assert_eq!(width(0, 80 * 100), 80 * 10);
        assert_eq!(width(u64::MAX - 1, u64::MAX), 8);
        assert!(width(0, u64::MAX) > u64::MAX / 12);
        // 0.1, 0.1 and 0.3 µs; a hundred at 0.2 µs; one far off.
        let (mut far, mut shown) = (LogHistogram::default(), Vec::new());
        [8, 8, 24, 8_000].into_iter().chain([16; 100]).for_each(|value| far.record(value));
        histogram(&far, &mut |line| shown.push(line.to_string()));
        assert_eq!(
            shown,
            [
                "",
                "transfer time",
                "     0.10 µs  ▌ 2",
                "     0.20 µs  ██████████████████████████████ 100",
                "     0.30 µs… ▌ 2",
            ]
        );
    }
}
