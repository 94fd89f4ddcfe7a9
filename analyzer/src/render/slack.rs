//! Slack buffers, as gauges and as bounds over time.

use std::ops::Deref;

use super::{StyledLine, TextStyle, count};
use crate::channel_name::link_name;
use crate::link::slack::{SlackRow, SlackTracker};

const GAUGE: u32 = 40;

/// Prints the fill levels of slack buffers; equal ones are grouped.
pub fn slack(
    slacks: impl Iterator<Item: Deref<Target = SlackTracker>>,
    out: &mut impl FnMut(StyledLine),
) {
    let mut before = None;
    for slack in slacks {
        let row = slack.summary();
        let parameters = slack.parameters();
        if before != Some(*parameters) {
            if before.is_none() {
                out(legend());
            }
            out(StyledLine::default());
            let cells = parameters.cells();
            out(StyledLine::of(TextStyle::Head, format!("buffers of {cells} cells"))
                .and(TextStyle::Dim, format!(", {parameters}")));
            out(head(&row));
            before = Some(*parameters);
        }
        buffer(&slack.channel().label(), &row, out);
    }
}

fn legend() -> StyledLine {
    StyledLine::of(TextStyle::Plain, "cells full in the buffer behind each channel:  ")
        .and(TextStyle::Good, "█")
        .and(TextStyle::Plain, " reached   ")
        .and(TextStyle::Dim, "░")
        .and(TextStyle::Plain, " may have been reached")
}

/// Column of a gauge for a cell of the buffer.
fn place(cells: u32, row: &SlackRow<'_>) -> u32 {
    let cell = u64::from(cells) * u64::from(GAUGE) / u64::from(row.cells.max(1));
    u32::try_from(cell).unwrap_or(GAUGE).min(GAUGE)
}

fn head(row: &SlackRow<'_>) -> StyledLine {
    let (go, stop) = (row.assumed.kg, row.assumed.kg.saturating_add(row.assumed.h));
    let mut scale = String::new();
    for (at, word) in [(0, "0"), (go, "GO"), (stop, "STOP")] {
        let at = place(at, row) as usize;
        let room = at >= scale.chars().count() + usize::from(!scale.is_empty());
        if room && at + word.len() <= GAUGE as usize {
            scale = format!("{scale:<at$}{word}");
        }
    }
    StyledLine::of(
        TextStyle::Dim,
        format!(
            "{:<22} {scale:<40}  {:>8} {:>8} {:>6} {:>6}",
            "", "fell to", "rose to", "known", "STOPs"
        ),
    )
}

/// Gauge of the certain and the possible fill level, with the GO and STOP thresholds.
fn gauge(row: &SlackRow<'_>) -> StyledLine {
    let level = |mark: Option<i64>| {
        let mark = u32::try_from(mark.unwrap_or(0)).unwrap_or(0);
        // A column is full if any part of it is.
        let cells = u64::from(mark) * u64::from(GAUGE);
        u32::try_from(cells.div_ceil(u64::from(row.cells.max(1)))).unwrap_or(GAUGE).min(GAUGE)
    };
    let (sure, perhaps) = (level(row.high_water_lo), level(row.high_water_hi));
    let (go, stop) = (row.assumed.kg, row.assumed.kg.saturating_add(row.assumed.h));
    let thresholds = [place(go, row), place(stop, row)];
    let full = |count: u32, sign: &str| sign.repeat(count as usize);
    let rest: String = (perhaps.max(sure)..GAUGE)
        .map(|cell| if thresholds.contains(&cell) { '┊' } else { '·' })
        .collect();
    let role = if row.late > 0 || row.overrun_risks > 0 { TextStyle::Bad } else { TextStyle::Good };
    StyledLine::of(role, full(sure, "█"))
        .and(TextStyle::Dim, full(perhaps.saturating_sub(sure), "░"))
        .and(TextStyle::Dim, rest)
}

fn buffer(name: &str, row: &SlackRow<'_>, out: &mut impl FnMut(StyledLine)) {
    let mut line = StyledLine::of(TextStyle::Head, format!("{name:<22} "));
    if row.periods == 0 || row.tapped_at.is_none() {
        let why = if link_name(name) != name {
            "not computed for virtual channels, which share the wire"
        } else if row.tapped_at.is_none() {
            "the capture does not say at which end it was tapped"
        } else {
            "nothing is known of it"
        };
        out(line.and(TextStyle::Dim, why));
        return;
    }
    for (role, text) in gauge(row).pieces() {
        line = line.and(role, text);
    }
    let range = |lo: Option<i64>, hi: Option<i64>| match (lo, hi) {
        (Some(lo), Some(hi)) if lo == hi => lo.to_string(),
        (Some(lo), Some(hi)) => format!("{lo}..{hi}"),
        (Some(_) | None, _) => "?".to_owned(),
    };
    let known = u128::from(row.known) * 100 / u128::from(row.periods);
    out(line.and(
        TextStyle::Plain,
        format!(
            "  {:>8} {:>8} {:>6} {:>6}",
            range(row.low_water_lo, row.low_water_hi),
            range(row.high_water_lo, row.high_water_hi),
            format!("{known} %"),
            row.stops
        ),
    ));
    trouble(row, out);
}

/// Prints the violations at a slack buffer.
fn trouble(row: &SlackRow<'_>, out: &mut impl FnMut(StyledLine)) {
    let stops =
        |count: u64| if count == 1 { "a STOP".to_owned() } else { format!("{count} STOPs") };
    let mut say = |role, text: String| out(StyledLine::of(role, format!("  {text}")));
    if row.late > 0 {
        let by = count(row.late_by, "character");
        let text = format!("after {} data came too late, by {by} at most", stops(row.late));
        say(TextStyle::Bad, text);
    }
    if row.overrun_risks > 0 {
        say(
            TextStyle::Bad,
            format!(
                "after {} more came in than there need have been room for",
                stops(row.overrun_risks)
            ),
        );
    }
    if row.contradictions > 0 {
        let times = if row.contradictions == 1 {
            "once".to_owned()
        } else {
            format!("{} times", row.contradictions)
        };
        say(TextStyle::Notice, format!("what was seen cannot be with these numbers: {times}"));
    }
}
