//! What `myriscope check` prints for people: findings, the worst first, and how each rule stands.

use super::{Line, Role, count, microseconds};
use crate::finding::{Counts, FindingRow, First, Ledger, Said, Severity};
use crate::rules::{GROUPS, Outcome, Verdict};

/// Channels listed of a finding. *Chosen*: one screen for a network that has one thing wrong.
const CHANNELS_SHOWN: usize = 8;
/// Channels of a chain that are named.
const CHAIN_SHOWN: usize = 6;
/// Columns of a finding's name at least.
const NAME: usize = 18;
/// Columns of text.
const WIDTH: usize = 96;

/// How a severity is marked.
const fn mark(severity: Severity) -> (&'static str, Role) {
    match severity {
        Severity::Error => ("✗", Role::Bad),
        Severity::Warning => ("!", Role::Notice),
        Severity::Note => ("·", Role::Dim),
    }
}

/// How an outcome is marked.
const fn sign(outcome: Outcome) -> (&'static str, Role) {
    match outcome {
        Outcome::Pass => ("✓", Role::Good),
        Outcome::Fail => ("✗", Role::Bad),
        Outcome::NotExercised(_) => ("·", Role::Plain),
        Outcome::CannotTell(_) => ("?", Role::Notice),
        Outcome::NeverShown(_) => ("–", Role::Dim),
    }
}

/// How many findings there are, and in how much.
#[must_use]
pub fn headline(ledger: &Ledger) -> Line {
    let mut line = Line::default();
    for severity in [Severity::Error, Severity::Warning, Severity::Note] {
        let found = ledger.count(severity);
        if found > 0 {
            let (mark, role) = mark(severity);
            line = line.and(role, format!("{mark} {}", count(found, severity.name())));
            line = line.and(Role::Plain, "   ");
        }
    }
    let Counts { channels, characters, packets, .. } = *ledger.seen();
    if ledger.count(Severity::Error) + ledger.count(Severity::Warning) == 0 {
        let notes = line;
        line = Line::of(Role::Good, "✓ nothing wrong").and(Role::Plain, "   ");
        line = notes.pieces().fold(line, |line, (role, piece)| line.and(role, piece));
    }
    let size =
        [count(channels, "channel"), count(characters, "character"), count(packets, "packet")];
    line.and(Role::Dim, format!("in {}", size.join(", ")))
}

/// The findings, in the order given; those of one kind stand together.
pub fn findings(rows: &[FindingRow<'_>], out: &mut impl FnMut(Line)) {
    let width = rows.iter().map(|row| row.channel.chars().count()).max().unwrap_or(0);
    let longest = rows.iter().map(|row| row.finding.len()).max().unwrap_or(0).max(NAME);
    for alike in rows.chunk_by(|one, other| one.finding == other.finding) {
        let Some(row) = alike.first() else { continue };
        let (mark, role) = mark(row.severity);
        out(Line::default());
        out(Line::of(role, format!("{mark} {:<longest$} ", row.finding))
            .and(Role::Head, format!("{:<4} ", row.rule.unwrap_or("")))
            .and(Role::Plain, row.text));
        for row in alike.iter().take(CHANNELS_SHOWN) {
            out(Line::of(role, format!("{:>8}× ", row.count))
                .and(Role::Plain, format!("{:<width$}  ", row.channel))
                .and(Role::Dim, format!("{:>12} µs  ", microseconds(row.time_ps)))
                .and(Role::Plain, details(&row.first)));
        }
        let more = alike.get(CHANNELS_SHOWN..).unwrap_or_default();
        if !more.is_empty() {
            let all = more.iter().map(|row| row.count).fold(0, u64::saturating_add);
            let text = format!("{all:>8}× on {}", count(more.len(), "more channel"));
            out(Line::of(Role::Dim, text));
        }
    }
}

/// What is known of the first occurrence, in words.
pub(crate) fn details(first: &First<'_>) -> String {
    let words: Vec<String> = first.0.iter().map(|(name, said)| detail(name, said)).collect();
    words.join(", ")
}

fn detail(name: &str, said: &Said<'_>) -> String {
    match said {
        Said::Byte(byte) if name == "code" => format!("0x{byte:02x}"),
        Said::Byte(byte) => format!("{name} {byte:02x}"),
        Said::Text(text) if name == "symbol" => format!("taken for {text}"),
        Said::Text(text) if name == "after" => format!("last seen as before on {text}"),
        Said::Text(text) if name == "flipped" => format!("an {text} number of bits flipped"),
        Said::Text(text) => format!("{name} {text}"),
        Said::Texts(names) => {
            let shown = names.get(..CHAIN_SHOWN).unwrap_or(names).join(" → ");
            let more = if names.len() > CHAIN_SHOWN { " → …" } else { "" };
            match name {
                "circle" => format!("{shown}{more} → again"),
                _ => format!("waits for {shown}{more}"),
            }
        }
        Said::Number(number) => match name {
            "length" | "bytes" => count(*number, "byte"),
            "cells" => format!("by {}", count(*number, "cell")),
            "periods" => count(*number, "period"),
            "missing" => count(*number, "character"),
            "after_stop" => format!("{} after STOP", count(*number, "period")),
            "rounds" => format!("{} more", count(*number, "round")),
            "every" => format!("{} each", count(*number, "character")),
            "number" => format!("PRB{number}"),
            "missing_bytes" => format!("{} missing", count(*number, "byte")),
            "more_bytes" => format!("{} more", count(*number, "byte")),
            "beyond_ns" => format!("{number} ns beyond that"),
            "bit" => format!("{number} bits before its end if one bit flipped, modulo 127"),
            "source" => format!("from NIC {number}"),
            "destination" => format!("to NIC {number}"),
            "logical_channel" => format!("logical channel {number}"),
            _ => format!("{name} {number}"),
        },
    }
}

/// How each rule stands, and why some cannot be told.
pub fn verdicts(verdicts: &[Verdict], out: &mut impl FnMut(Line)) {
    out(Line::default());
    for (letter, name) in GROUPS {
        let group = verdicts.iter().filter(|verdict| verdict.rule.group() == letter);
        let mut line =
            Line::of(Role::Head, format!("{letter} ")).and(Role::Dim, format!("{name:<14}"));
        for verdict in group {
            let (sign, role) = sign(verdict.outcome);
            let number = verdict.rule.id.split('-').nth(1).unwrap_or(" ");
            line = line.and(Role::Dim, format!("  {number}")).and(role, sign);
        }
        out(line);
    }
    out(legend(verdicts));
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for verdict in verdicts {
        let Outcome::CannotTell(why) = verdict.outcome else { continue };
        match reasons.iter_mut().find(|(known, _)| known == why) {
            Some((_, rules)) => rules.push(verdict.rule.id),
            None => reasons.push((why.to_owned(), vec![verdict.rule.id])),
        }
    }
    for (why, rules) in reasons {
        let text = format!("{}: {why}", rules.join(" "));
        paragraph(&Line::of(Role::Notice, "? "), &text, WIDTH, out);
    }
}

fn legend(verdicts: &[Verdict]) -> Line {
    let kinds = [
        (Outcome::Pass, "passed"),
        (Outcome::Fail, "failed"),
        (Outcome::NotExercised(""), "not exercised"),
        (Outcome::CannotTell(""), "cannot tell here"),
        (Outcome::NeverShown(""), "on no wire"),
    ];
    let mut line = Line::of(Role::Plain, format!("{:16}", ""));
    for (kind, name) in kinds {
        let (mark, role) = sign(kind);
        let alike = |verdict: &&Verdict| sign(verdict.outcome).0 == mark;
        let count = verdicts.iter().filter(alike).count();
        line = line.and(role, format!("  {mark}")).and(Role::Dim, format!(" {count} {name}"));
    }
    line
}

/// Text in lines of a width, the first behind `head`, the others below its text.
pub(super) fn paragraph(head: &Line, text: &str, width: usize, out: &mut impl FnMut(Line)) {
    let indent: usize = head.pieces().map(|(_, piece)| piece.chars().count()).sum();
    let room = width.saturating_sub(indent);
    let (mut line, mut len) = (head.clone(), 0);
    for word in text.split_whitespace() {
        let more = word.chars().count();
        if len > 0 && len + 1 + more > room {
            out(std::mem::replace(&mut line, Line::of(Role::Plain, " ".repeat(indent))));
            len = 0;
        }
        let blank = if len > 0 { " " } else { "" };
        line = line.and(Role::Plain, format!("{blank}{word}"));
        len += more + blank.len();
    }
    out(line);
}
