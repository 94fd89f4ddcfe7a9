//! Text of `myriscope explain`.

use super::check::paragraph;
use super::{StyledLine, TextStyle};
use crate::finding::{FindingInfo, Severity};
use crate::rules::{self, GROUPS, Rule, RuleVisibility};

/// Width of the labels before the text.
const LABEL: usize = 14;

/// Prints all rules, one per line, with their findings.
pub fn list(width: usize, out: &mut impl FnMut(StyledLine)) {
    for (letter, name) in GROUPS {
        out(StyledLine::default());
        out(StyledLine::of(TextStyle::Head, format!("{letter}. {name}")));
        for rule in rules::all().filter(|rule| rule.group() == letter) {
            let (mark, role) = match rule.shows {
                RuleVisibility::All(_) => ("●", TextStyle::Good),
                RuleVisibility::Part(..) => ("◐", TextStyle::Notice),
                RuleVisibility::Nothing(_) => ("○", TextStyle::Dim),
            };
            let text = shortened(&plain(rule.text()), width - 8);
            let line = StyledLine::of(role, format!("{mark} "))
                .and(TextStyle::Head, format!("{:<5} ", rule.id));
            out(line.and(TextStyle::Plain, text));
            let names: Vec<&str> = rule.findings().map(|about| about.name).collect();
            if !names.is_empty() {
                let head = StyledLine::of(TextStyle::Dim, format!("{:8}→ ", ""));
                paragraph(&head, &names.join("  "), width, out);
            }
        }
    }
    out(StyledLine::default());
    let marks =
        [("●", TextStyle::Good, "a capture shows it"), ("◐", TextStyle::Notice, "a part of it")];
    let mut line = StyledLine::default();
    for (mark, role, text) in marks {
        line = line.and(role, format!("{mark} ")).and(TextStyle::Dim, format!("{text}   "));
    }
    out(line.and(TextStyle::Dim, "○ no capture can show it"));
    let text = "`myriscope explain NAME` explains a rule, a finding, or a term such as GAP";
    out(StyledLine::of(TextStyle::Dim, text));
}

/// Prints a rule: its text, the required evidence, its findings, its limits and examples.
pub fn rule(rule: &Rule, width: usize, out: &mut impl FnMut(StyledLine)) {
    let name =
        GROUPS.iter().find(|(letter, _)| *letter == rule.group()).map_or("", |group| group.1);
    out(StyledLine::of(TextStyle::Head, rule.id)
        .and(TextStyle::Dim, format!("  {name}, {}", source(rule.clause()))));
    out(StyledLine::default());
    paragraph(&StyledLine::of(TextStyle::Plain, "  "), &plain(rule.text()), width, out);
    out(StyledLine::default());
    let (test, limits) = match rule.shows {
        RuleVisibility::All(test) => (Some(test), None),
        RuleVisibility::Part(test, limits) => (Some(test), Some(("limits", limits))),
        RuleVisibility::Nothing(why) => (None, Some(("not shown", why))),
    };
    if let Some(test) = test {
        labelled("evidence", rule.evidence.unwrap_or_default(), width, out);
        let text = format!("passed if there are {} and no findings", test.what);
        labelled("in check", &text, width, out);
    }
    limits.into_iter().for_each(|(label, text)| labelled(label, text, width, out));
    for (place, about) in rule.findings().enumerate() {
        let head = StyledLine::of(TextStyle::Head, label(if place == 0 { "findings" } else { "" }))
            .and(role(about.severity), format!("{:<22} ", about.name));
        paragraph(&head, &format!("{}: {}", about.severity.name(), about.text), width, out);
    }
    for (place, example) in rule.examples().iter().enumerate() {
        let head = StyledLine::of(TextStyle::Head, label(if place == 0 { "try" } else { "" }));
        out(head.and(TextStyle::Plain, example));
    }
}

/// Prints a kind of finding and its rule.
pub fn finding(about: &FindingInfo, width: usize, out: &mut impl FnMut(StyledLine)) {
    out(StyledLine::of(role(about.severity), about.name)
        .and(TextStyle::Dim, format!("  {}", about.severity.name())));
    out(StyledLine::default());
    paragraph(&StyledLine::of(TextStyle::Plain, "  "), about.text, width, out);
    out(StyledLine::default());
    let (causes, next) = about.advice();
    labelled("likely causes", causes, width, out);
    labelled("next", next, width, out);
    labelled("try", &about.example(), width, out);
    if let Some(found) = about.rule.and_then(rules::rule) {
        out(StyledLine::default());
        rule(found, width, out);
    }
}

/// Prints a term and its meaning.
pub fn term([name, source, meaning]: [&str; 3], width: usize, out: &mut impl FnMut(StyledLine)) {
    out(StyledLine::of(TextStyle::Head, name).and(TextStyle::Dim, format!("  {source}")));
    out(StyledLine::default());
    paragraph(&StyledLine::of(TextStyle::Plain, "  "), meaning, width, out);
}

fn label(text: &str) -> String {
    format!("  {text:<LABEL$}")
}

fn labelled(name: &str, text: &str, width: usize, out: &mut impl FnMut(StyledLine)) {
    paragraph(&StyledLine::of(TextStyle::Head, label(name)), text, width, out);
}

const fn role(severity: Severity) -> TextStyle {
    match severity {
        Severity::Error => TextStyle::Bad,
        Severity::Warning => TextStyle::Notice,
        Severity::Note => TextStyle::Plain,
    }
}

/// Source of a rule: sections of the link specification have numbers, papers have names.
fn source(clause: &str) -> String {
    let parts = clause.split(", ").map(|part| match part.chars().next() {
        Some('0'..='9') => format!("§{part}"),
        Some('–') => "a decision of this project".to_owned(),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// Text without emphasis marks.
pub fn plain(text: &str) -> String {
    text.replace("**", "").replace('*', "")
}

/// Text cut at a word, so that it fits a width.
pub(super) fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let cut: String = text.chars().take(width - 2).collect();
    let end = cut.rfind(' ').unwrap_or(cut.len());
    format!("{} …", cut.get(..end).unwrap_or(&cut))
}
