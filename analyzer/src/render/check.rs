//! Text of `myriscope check`: findings, the most severe first, and the verdict on each rule.

use codec::capture::{Channel, ChannelId, ReadExtent};

use super::explain::{plain, shortened};
use super::fact_text::details;
use super::{StyledLine, TextStyle, TimeUnit, count, held_up};
use crate::finding::{FindingKind, FindingSet, RuleCoverage, Severity};
use crate::finding_row::FindingRow;
use crate::rules::{GROUPS, RuleOutcome, RuleVerdict};

/// Maximum number of channels listed per finding. *Chosen*: one screen for a network with one
/// fault.
const CHANNELS_SHOWN: usize = 8;
/// Minimum width of a finding's name.
const NAME: usize = 18;
/// Width of paragraphs where lines have no limit.
const WIDTH: usize = 96;
/// Indentation of lines below a finding.
const INDENT: usize = 10;

/// Mark of a severity.
pub const fn mark(severity: Severity) -> (&'static str, TextStyle) {
    match severity {
        Severity::Error => ("✗", TextStyle::Bad),
        Severity::Warning => ("!", TextStyle::Notice),
        Severity::Note => ("·", TextStyle::Dim),
    }
}

/// Mark of an outcome.
pub const fn sign(outcome: RuleOutcome) -> (&'static str, TextStyle) {
    match outcome {
        RuleOutcome::Pass => ("✓", TextStyle::Good),
        RuleOutcome::Fail => ("✗", TextStyle::Bad),
        RuleOutcome::NotExercised(_) => ("·", TextStyle::Plain),
        RuleOutcome::CannotTell(_) | RuleOutcome::NotKnown(_) => ("?", TextStyle::Notice),
        RuleOutcome::NeverShown(_) => ("–", TextStyle::Dim),
    }
}

/// Scope of a check: how much of the file was read, and which findings were selected.
#[derive(Clone, Debug)]
pub struct CheckScope {
    /// Reason that the file was not judged as a whole; none if it was.
    pub unread: Option<String>,
    /// Name of the selection: `on h0:0>s0:3`. None if everything is selected.
    pub selection: Option<String>,
    /// Severities of the selected findings.
    pub selected: Vec<Severity>,
    /// Severities of all other findings.
    pub elsewhere: Vec<Severity>,
    /// True if a selected finding says that what held up a sender is out of sight, or if nothing was recorded.
    pub is_beyond_sight: bool,
}

impl CheckScope {
    /// The scope of these findings of a number of characters: whether each is selected, its kind and severity.
    pub fn of(
        unread: Option<String>,
        selection: Option<String>,
        characters: u64,
        findings: impl Iterator<Item = (bool, FindingKind, Severity)>,
    ) -> Self {
        let [selected, elsewhere] = [vec![], vec![]];
        let is_beyond_sight = characters == 0;
        let mut scope = Self { unread, selection, selected, elsewhere, is_beyond_sight };
        for (is_selected, kind, severity) in findings {
            let place = if is_selected { &mut scope.selected } else { &mut scope.elsewhere };
            place.push(severity);
            scope.is_beyond_sight |= is_selected && kind == FindingKind::HeldUp;
        }
        scope
    }

    /// True if there are errors or warnings among the selected findings.
    pub fn is_wrong(&self) -> bool {
        self.selected.iter().any(|severity| *severity != Severity::Note)
    }
}

/// Severities that occur, the worst first, with their counts.
pub fn counted(severities: &[Severity]) -> impl Iterator<Item = (Severity, usize)> {
    let all = [Severity::Error, Severity::Warning, Severity::Note].into_iter();
    let times = |severity| severities.iter().filter(|other| **other == severity).count();
    all.map(move |severity| (severity, times(severity))).filter(|(_, found)| *found > 0)
}

/// Reason that the file was not judged as a whole; none if it was.
pub fn unread<'a>(
    extent: &ReadExtent,
    unit: TimeUnit,
    known: &dyn Fn(ChannelId) -> Option<&'a Channel>,
) -> Option<String> {
    let others = extent.faults.saturating_sub(extent.left_out);
    let faults = match (extent.left_out, others) {
        (0, 0) => None,
        (0, others) => Some(format!("{} in the file", count(others, "fault"))),
        (left_out, 0) => Some(format!("{} left out", count(left_out, "faulty chunk"))),
        (left_out, others) => {
            let left_out = count(left_out, "faulty chunk");
            Some(format!("{left_out} left out, {}", count(others, "other fault")))
        }
    };
    let Some(byte) = extent.stopped_at else {
        let what = if extent.left_out > 0 { "judged" } else { "understood" };
        return faults.map(|faults| format!("not all {what}: {faults}"));
    };
    let mut text = format!("not judged to the end: reading stopped at byte {byte}, ");
    match extent.last.and_then(|(id, end)| Some((known(id)?, end))) {
        Some((channel, end)) => {
            let end = unit.text(end.0, channel.period);
            text += &format!("after {end} {} of {}", unit.name(), channel.label());
        }
        None => text += "before the first character",
    }
    text += &faults.map_or_else(String::new, |faults| format!("; {faults}"));
    Some(text)
}

/// Line that names what was not captured; none where nothing is known to be missing.
pub fn unseen(set: &FindingSet) -> Option<String> {
    let RuleCoverage { channels, paired, out_of_sight, wires, .. } = *set.seen();
    let parts = [
        (channels.saturating_sub(paired), "the opposite of", "channel"),
        (out_of_sight, "the further way of", "packet"),
        (set.total(FindingKind::Hole), "what is in", "hole"),
        (wires.vague_skews, "the skew of", "channel"),
    ];
    let parts = parts.into_iter().filter(|(number, ..)| *number > 0);
    let parts: Vec<_> =
        parts.map(|(number, what, of)| format!("{what} {}", count(number, of))).collect();
    (!parts.is_empty()).then(|| format!("not seen: {}", parts.join(", ")))
}

/// Prints who held up whom, the number of findings and the size of the judged part. Unread parts are never
/// reported as correct, and what was not seen is said.
pub fn headline<'a>(
    set: &FindingSet,
    scope: &CheckScope,
    known: &dyn Fn(ChannelId) -> Option<&'a Channel>,
    out: &mut impl FnMut(StyledLine),
) {
    let RuleCoverage { channels, characters, packets, .. } = *set.seen();
    if scope.selection.is_none() {
        held_up(set, known).into_iter().for_each(&mut *out);
    }
    if let Some(unread) = &scope.unread {
        out(StyledLine::of(TextStyle::Bad, format!("✗ {unread}")));
        if characters == 0 {
            return;
        }
    }
    let on = scope.selection.as_deref().unwrap_or_default();
    let mut line = StyledLine::default();
    if !scope.is_wrong() {
        let (role, text) = match scope.unread {
            None if scope.is_beyond_sight => (TextStyle::Notice, "? cannot tell"),
            None => (TextStyle::Good, "✓ nothing wrong"),
            Some(_) => (TextStyle::Plain, "no error or warning in what was read"),
        };
        line = line.and(role, format!("{text} {on}").trim_end()).and(TextStyle::Plain, "   ");
    }
    for (severity, found) in counted(&scope.selected) {
        let (mark, role) = mark(severity);
        line = line.and(role, format!("{mark} {}", count(found, severity.name())));
        line = line.and(TextStyle::Plain, "   ");
    }
    if scope.is_wrong() && !on.is_empty() {
        line = line.and(TextStyle::Plain, format!("{on}   "));
    }
    let elsewhere: Vec<String> =
        counted(&scope.elsewhere).map(|(it, found)| count(found, it.name())).collect();
    let size =
        [count(channels, "channel"), count(characters, "character"), count(packets, "packet")];
    out(match &scope.selection {
        None => line.and(TextStyle::Dim, format!("in {}", size.join(", "))),
        Some(_) if elsewhere.is_empty() => line,
        Some(_) => line.and(TextStyle::Notice, format!("({} elsewhere)", elsewhere.join(", "))),
    });
    if let Some(text) = unseen(set).filter(|_| !scope.is_wrong()) {
        out(StyledLine::of(TextStyle::Dim, text));
    }
}

/// Prints the findings in the given order, each with the number of its capture, grouped by kind. Lines
/// are wrapped to a width.
pub fn findings(
    rows: &[(u32, FindingRow<'_>)],
    (width, unit): (Option<usize>, TimeUnit),
    out: &mut impl FnMut(StyledLine),
) {
    let wrap = width.unwrap_or(usize::MAX);
    let time = |row: &FindingRow<'_>| unit.place(row.at, row.time_ps);
    let label = |(capture, row): &(u32, FindingRow<'_>)| match capture {
        0 => row.channel.to_owned(),
        capture => format!("{} (capture {capture})", row.channel),
    };
    let width = rows.iter().map(|row| label(row).chars().count()).max().unwrap_or(0);
    let longest = rows.iter().map(|(_, row)| row.finding.len()).max().unwrap_or(0).max(NAME);
    for alike in rows.chunk_by(|(_, one), (_, other)| one.finding == other.finding) {
        let Some((_, row)) = alike.first() else { continue };
        let (mark, role) = mark(row.severity);
        out(StyledLine::default());
        let head = StyledLine::of(role, format!("{mark} {:<longest$} ", row.finding))
            .and(TextStyle::Head, format!("{:<4} ", row.rule.unwrap_or("")));
        paragraph(&head, row.text, wrap, out);
        for found in alike.iter().take(CHANNELS_SHOWN) {
            let (_, row) = found;
            let head = StyledLine::of(role, format!("{:>8}× ", row.count))
                .and(TextStyle::Plain, format!("{:<width$}  ", label(found)))
                .and(TextStyle::Dim, format!("{:>12} {}  ", time(row), unit.name()));
            paragraph(&head, &details(&row.first), wrap, out);
        }
        let more = alike.get(CHANNELS_SHOWN..).unwrap_or_default();
        if !more.is_empty() {
            let all = more.iter().map(|(_, row)| row.count).fold(0, u64::saturating_add);
            let text = format!("{all:>8}× on {}", count(more.len(), "more channel"));
            out(StyledLine::of(TextStyle::Dim, text));
        }
        if let Some(command) = &row.see {
            let head = StyledLine::of(TextStyle::Dim, format!("{:INDENT$}see  ", ""));
            let parts: Vec<StyledLine> =
                command.parts().map(|part| StyledLine::of(TextStyle::Dim, part)).collect();
            filled(head, &parts, (" ", " \\"), wrap, out);
        }
    }
}

/// Extent of the table of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleTable {
    /// Failed rules, and those that this capture cannot show; the numbers of the others.
    Brief,
    /// Every rule.
    Whole,
}

/// Prints the verdicts on the rules, with reasons for missing ones. Verdicts cover everything that
/// was read, independent of the selected findings.
pub fn verdicts(
    verdicts: &[RuleVerdict],
    scope: &CheckScope,
    table: RuleTable,
    width: Option<usize>,
    out: &mut impl FnMut(StyledLine),
) {
    out(StyledLine::default());
    if scope.unread.is_some() || scope.selection.is_some() {
        let all = if scope.unread.is_some() { "all that was read" } else { "the whole capture" };
        out(StyledLine::of(TextStyle::Notice, format!("rules, by {all}:")));
    }
    let wrap = width.unwrap_or(usize::MAX);
    let counts = [
        (RuleOutcome::Pass, "passed"),
        (RuleOutcome::Fail, "failed"),
        (RuleOutcome::NotExercised(""), "not exercised"),
        (RuleOutcome::CannotTell(""), "cannot tell here"),
        (RuleOutcome::NeverShown(""), "on no wire"),
    ];
    let counts = counts.map(|(outcome, name)| {
        let (mark, role) = sign(outcome);
        let alike = |verdict: &&RuleVerdict| sign(verdict.outcome).0 == mark;
        let text = format!(" {} {name}", verdicts.iter().filter(alike).count());
        StyledLine::of(role, mark).and(TextStyle::Dim, text)
    });
    match table {
        RuleTable::Whole => {
            rule_table(verdicts, wrap, out);
            let head = StyledLine::of(TextStyle::Plain, format!("{:18}", ""));
            filled(head, &counts, ("  ", ""), wrap, out);
            missing_verdicts(verdicts, wrap.min(WIDTH), out);
        }
        RuleTable::Brief => {
            failed_rules(verdicts, wrap.min(WIDTH), out);
            missing_verdicts(verdicts, wrap.min(WIDTH), out);
            let [passed, _, open, _, unseen] = counts;
            let parts = [passed, open, unseen.and(TextStyle::Dim, "; all: --rules")];
            filled(StyledLine::default(), &parts, (" ", ""), usize::MAX, out);
        }
    }
}

/// Prints every rule with the sign of its outcome, a line per group.
fn rule_table(verdicts: &[RuleVerdict], width: usize, out: &mut impl FnMut(StyledLine)) {
    for (letter, name) in GROUPS {
        let group = verdicts.iter().filter(|verdict| verdict.rule.group() == letter);
        let head = StyledLine::of(TextStyle::Head, format!("{letter} "))
            .and(TextStyle::Dim, format!("{name:<14}  "));
        let signs = group.map(|verdict| {
            let (sign, role) = sign(verdict.outcome);
            let number = verdict.rule.id.split('-').nth(1).unwrap_or(" ");
            StyledLine::of(TextStyle::Dim, number).and(role, sign)
        });
        filled(head, &signs.collect::<Vec<_>>(), ("  ", ""), width, out);
    }
}

/// Prints parts after a head, with a text between them. Lines that are too long end with another text, and
/// continue below the first part.
fn filled(
    head: StyledLine,
    parts: &[StyledLine],
    (between, end): (&str, &str),
    width: usize,
    out: &mut impl FnMut(StyledLine),
) {
    let indent = head.width();
    let (mut line, mut length) = (head, indent);
    for part in parts {
        if length > indent && length + between.len() + part.width() + end.len() > width {
            let next = StyledLine::of(TextStyle::Plain, " ".repeat(indent));
            out(std::mem::replace(&mut line, next).and(TextStyle::Dim, end));
            length = indent;
        }
        if length > indent {
            line = line.and(TextStyle::Plain, between);
            length += between.len();
        }
        length += part.width();
        line = part.pieces().fold(line, |line, (role, text)| line.and(role, text));
    }
    out(line);
}

fn failed_rules(verdicts: &[RuleVerdict], width: usize, out: &mut impl FnMut(StyledLine)) {
    for verdict in verdicts.iter().filter(|verdict| verdict.outcome == RuleOutcome::Fail) {
        let (mark, role) = sign(verdict.outcome);
        let head = format!("{:<5} ", verdict.rule.id);
        let text = shortened(&plain(verdict.rule.text()), width.saturating_sub(8).max(40));
        out(StyledLine::of(role, format!("{mark} "))
            .and(TextStyle::Head, head)
            .and(TextStyle::Plain, text));
    }
}

/// Prints the rules that this capture cannot show, by reason.
fn missing_verdicts(verdicts: &[RuleVerdict], width: usize, out: &mut impl FnMut(StyledLine)) {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for verdict in verdicts {
        let (RuleOutcome::CannotTell(_) | RuleOutcome::NotKnown(_), Some(why)) =
            (verdict.outcome, verdict.outcome.reason())
        else {
            continue;
        };
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, rules)) => rules.push(verdict.rule.id),
            None => reasons.push((why, vec![verdict.rule.id])),
        }
    }
    for (why, rules) in reasons {
        let text = format!("{}: {why}", rules.join(" "));
        paragraph(&StyledLine::of(TextStyle::Notice, "? "), &text, width, out);
    }
}

/// Prints text wrapped to a width: the first line after `head`, the others below its text; all below
/// the head if that leaves little room.
pub(super) fn paragraph(
    head: &StyledLine,
    text: &str,
    width: usize,
    out: &mut impl FnMut(StyledLine),
) {
    let words = text.split_whitespace().map(|word| StyledLine::of(TextStyle::Plain, word));
    let words: Vec<StyledLine> = words.collect();
    let mut head = head.clone();
    if head.width().saturating_add(text.chars().count()) > width && head.width() > width * 2 / 3 {
        out(std::mem::replace(&mut head, StyledLine::of(TextStyle::Plain, " ".repeat(INDENT))));
    }
    filled(head, &words, (" ", ""), width, out);
}
