//! Table of a score.

use super::{StyledLine, TextStyle};
use crate::score::{HiddenEvents, ScoreDifference, ScoreReport, ScoreRow};

/// Prints a score: compared events, hidden events, differences.
pub fn score(score: &ScoreReport, out: &mut impl FnMut(StyledLine)) {
    out(StyledLine::of(
        TextStyle::Head,
        format!(
            "{:<16}{:>10}{:>10}{:>10}{:>11}{:>9}  {}",
            "kind", "in truth", "found", "right", "precision", "recall", "remark"
        ),
    ));
    score.scores.iter().for_each(|row| out(line(row)));
    if !score.unseen.is_empty() {
        out(StyledLine::default());
        out(StyledLine::of(
            TextStyle::Head,
            format!("{:<16}{:>10}  {}", "no wire shows", "in truth", "why"),
        ));
        for HiddenEvents { event, count, why } in &score.unseen {
            out(StyledLine::of(TextStyle::Plain, format!("{event:<16}{count:>10}  "))
                .and(TextStyle::Dim, why));
        }
    }
    if !score.differences.is_empty() {
        out(StyledLine::default());
        out(StyledLine::of(TextStyle::Head, "differences"));
        score.differences.iter().for_each(|it| out(difference(it)));
    }
}

fn line(row: &ScoreRow) -> StyledLine {
    let role = if row.is_perfect() { TextStyle::Good } else { TextStyle::Bad };
    let ScoreRow { kind, in_truth, found, right, .. } = row;
    let mut remarks: Vec<String> =
        row.width.iter().map(|width| format!("{width:.2} cells wide in the mean")).collect();
    let left_out = |(reason, count): (&&str, &u64)| format!("{count} not compared: {reason}");
    remarks.extend(row.left_out.iter().map(left_out));
    StyledLine::of(TextStyle::Plain, format!("{kind:<16}{in_truth:>10}{found:>10}{right:>10}"))
        .and(role, format!("{:>11}{:>9}  ", share(row.precision), share(row.recall)))
        .and(TextStyle::Dim, remarks.join("; "))
}

/// Share to four decimals; 1 only if it is exact.
fn share(share: Option<f64>) -> String {
    match share {
        None => "-".to_owned(),
        Some(share) if share < 1.0 => format!("{:.4}", share.min(0.9999)),
        Some(share) => format!("{share:.4}"),
    }
}

fn difference(difference: &ScoreDifference) -> StyledLine {
    let ScoreDifference { account, channel, at, kind, what } = difference;
    let channel = channel.as_deref().unwrap_or_default();
    let at = at.map_or(String::new(), |at| at.to_string());
    StyledLine::of(TextStyle::Bad, format!("{account:<9}"))
        .and(TextStyle::Plain, format!("{channel:<15} {at:>12}  {kind:<15} {what}"))
}
