//! Filters: any text at all, for rows of any kind.

use std::sync::LazyLock;

use analyzer::LinkEvent;
use analyzer::event::ResumeCause;
use analyzer::filter::{ColumnList, Filter, FilterError, RowKind, TEXT_MAX};
use analyzer::packet::{HexBytes, PacketRow};
use analyzer::show::LinkViewRow;
use codec::time::{CharacterPeriod, Tick};
use serde_json::{Value, json};

/// An input is a command, a blank, and an expression. No text makes the reader panic: it is read,
/// written out and read as the same; or its fault has a place in it.
pub fn law(input: &[u8]) {
    check(input, Filter::to_string);
}

/// A written filter keeps the same rows; and so do comparisons that replace its ranges and sets.
pub fn rows(input: &[u8]) {
    keeping(input, Filter::to_string);
    comparing(input, |field, from, to| format!("({field} >= {from} && {field} < {to})"));
}

/// Errors of an expression, or of a list of columns, are shown with their position.
pub fn shown(input: &[u8]) {
    let input = String::from_utf8_lossy(input);
    let (kind, text) = parts(&input);
    let errors = [Filter::parse(text, kind).err(), ColumnList::parse(text, kind).err()];
    for error in errors.into_iter().flatten() {
        check_error(&error, text);
        check_reparse(&error.to_string());
    }
}

fn check(input: &[u8], write: impl Fn(&Filter) -> String) {
    let input = String::from_utf8_lossy(input);
    let (kind, text) = parts(&input);
    let filter = match Filter::parse(text, kind) {
        Ok(filter) => filter,
        Err(error) => return check_error(&error, text),
    };
    let written = write(&filter);
    if written.len() > TEXT_MAX {
        return;
    }
    match Filter::parse(&written, kind) {
        Ok(again) => assert_eq!(again, filter, "what is written out reads as the same: {written}"),
        Err(error) => unreachable!("what is written out is read: {error}"),
    }
}

fn keeping(input: &[u8], write: impl Fn(&Filter) -> String) {
    let input = String::from_utf8_lossy(input);
    let (kind, text) = parts(&input);
    let Ok(mut filter) = Filter::parse(text, kind) else { return };
    let written = write(&filter);
    let kept = kept(&mut filter);
    let again = Filter::parse(&written, kind);
    let again = again.map(|mut again| self::kept(&mut again));
    let short = written.len() <= TEXT_MAX;
    assert!(!short || again.is_ok(), "what is written out is read: {again:?}");
    assert!(again.is_err() || again == Ok(kept), "and keeps the same rows: {written}");
}

/// A range is from its first value on and before its second, and a set is one of what stands in it.
fn comparing(input: &[u8], range: impl Fn(&str, &str, &str) -> String) {
    let input = String::from_utf8_lossy(input);
    let (kind, text) = parts(&input);
    let Ok(mut filter) = Filter::parse(text, kind) else { return };
    let written = filter.to_string();
    if !written.contains(" in ") {
        return;
    }
    let compared = compared(&written, range);
    // It may be too long, or nested too deep.
    let Ok(mut again) = Filter::parse(&compared, kind) else { return };
    let [kept, again] = [&mut filter, &mut again].map(|filter| {
        let mut kept = kept(filter);
        // Of several values one may lie behind the first of a range and another before the second.
        kept.pop();
        kept
    });
    assert_eq!(again, kept, "a range is from its first value on and before its second: {compared}");
}

/// An expression as it is written out, with comparisons in the place of each `in`.
fn compared(mut text: &str, range: impl Fn(&str, &str, &str) -> String) -> String {
    let mut compared = String::new();
    while let Some(at) = outside(text, " in ") {
        let (before, behind) = (text.get(..at).unwrap_or(""), text.get(at + 4..).unwrap_or(""));
        let is_field = |c: char| !" (!".contains(c);
        let rest = before.trim_end_matches(is_field);
        let field = before.strip_prefix(rest).unwrap_or("");
        let (choices, behind) = match behind.strip_prefix('{') {
            Some(set) => halves(set, "}"),
            None => {
                let ends = [" ", ")"].map(|end| outside(behind, end).unwrap_or(behind.len()));
                behind.split_at(ends.into_iter().min().unwrap_or(0))
            }
        };
        let (mut rows, mut left) = (Vec::new(), choices);
        while !left.is_empty() {
            let (choice, more) = halves(left, ", ");
            rows.push(match outside(choice, "..") {
                Some(_) => {
                    let (from, to) = halves(choice, "..");
                    range(field, from, to)
                }
                None => format!("{field} == {choice}"),
            });
            left = more;
        }
        compared += &format!("{rest}({})", rows.join(" || "));
        text = behind;
    }
    compared + text
}

/// Text before a mark outside quotation marks, and text after it.
fn halves<'a>(text: &'a str, mark: &str) -> (&'a str, &'a str) {
    let at = outside(text, mark).unwrap_or(text.len());
    (text.get(..at).unwrap_or(""), text.get(at + mark.len()..).unwrap_or(""))
}

/// Position where a mark first stands that is not within quotation marks.
fn outside(text: &str, mark: &str) -> Option<usize> {
    let (mut quoted, mut escaped) = (false, false);
    text.char_indices().find_map(|(at, c)| {
        let found = !quoted && text.get(at..).is_some_and(|rest| rest.starts_with(mark));
        quoted ^= c == '"' && !escaped;
        escaped = c == '\\' && quoted && !escaped;
        found.then_some(at)
    })
}

/// The kind of rows that an input begins with, and the rest.
fn parts(input: &str) -> (RowKind, &str) {
    let behind = |kind: &RowKind| input.strip_prefix(kind.command())?.strip_prefix(' ');
    // Of `links` and `links --slack` the longer one.
    let kinds = RowKind::ALL.into_iter().filter_map(|kind| Some((kind, behind(&kind)?)));
    kinds.min_by_key(|(_, text)| text.len()).unwrap_or((RowKind::Packets, input))
}

/// A fault has a place between characters.
fn check_error(error: &FilterError, text: &str) {
    let place = error.place();
    assert!(text.get(place.clone()).is_some(), "{place:?} is a place in the text");
    assert!(!error.message().is_empty(), "and says what is wrong");
}

/// A fault is shown with a caret, and harms no terminal.
fn check_reparse(shown: &str) {
    assert!(shown.contains('^'), "a fault has a caret: {shown}");
    let harm = |c: char| c.is_control() && c != '\n';
    assert!(!shown.contains(harm), "nothing in it harms a terminal: {shown:?}");
}

/// Rows that a filter keeps, of a few; the last has lists in it.
fn kept(filter: &mut Filter) -> Vec<bool> {
    let packet = PacketRow {
        channel: "h0:0>s0:3",
        packet: 7,
        start: 1000,
        end: u64::MAX,
        length: 6,
        route: &[0x83, 0x81],
        tag: Some(5),
        payload: 2,
        crc: "bad",
        syndrome: Some(0x10),
        ended_by: "gap",
        bytes: Some(HexBytes(&[0x83, 0x81, 0x05, 0xaa, 0xbb, 0xcc])),
        ..PacketRow::default()
    };
    let runt = PacketRow { tag: None, route: &[], crc: "runt", syndrome: None, ..packet.clone() };
    let shown = LinkViewRow { at: 4, end: 6, left: "GAP 83".to_owned(), right: String::new() };
    let event = |event: LinkEvent| event.row("h0:0>s0:3", Tick(44));
    let events = [
        LinkEvent::SenderResumed(ResumeCause::Go),
        LinkEvent::InvalidCode(0xa6),
        LinkEvent::OpenLink,
    ];
    let full = CharacterPeriod::FULL_RATE;
    let slow = CharacterPeriod::from_fs(u64::MAX).unwrap_or(full);
    let mut kept = vec![
        filter.keeps(&packet, full),
        filter.keeps(&packet, slow),
        filter.keeps(&runt, full),
        filter.keeps(&shown, full),
        filter.keeps(&Value::from("no row"), full),
    ];
    kept.extend(events.map(|found| filter.keeps(&event(found), full)));
    kept.extend(ROWS.iter().map(|(row, period)| filter.keeps(row, *period)));
    kept
}

/// Rows without a place of their own, as their JSON, and their periods: a channel and a journey.
static ROWS: LazyLock<[(Value, CharacterPeriod); 2]> = LazyLock::new(|| {
    let hop = |channel: &str, start: u64| {
        json!({
            "channel": channel, "packet": 1, "start": start, "end": start + 9,
            "time_ps": start * 12_500, "length": 10, "route": 0x83, "port": 3, "switches": 1,
            "latency_ps": 550_000, "waited_ps": null, "waited_for": "output", "behind": null,
            "crc": "good", "syndrome": 0, "ended_by": "gap",
        })
    };
    let channel = json!({
        "index": 0, "name": "h0:0>s0:3", "peer": null, "period_ps": 12_500, "characters": 9,
        "data": 6, "control": { "GAP": 2, "GO": 1 }, "corrected": 0, "invalid": 0, "holes": 0,
        "first": 0, "last": null,
    });
    let journey = json!({
        "journey": 0, "time_ps": 0, "latency_ps": 3.4e38, "waited_ps": 0, "tag": null,
        "payload": 5, "fate": "arrived", "rule": null, "certainty": "certain", "injuries": [],
        "hops": [hop("h0:0>s0:3", 100), hop("s0:5>h1:0", 200)], "relayed_from": 2,
        "transport": { "kind": "nack", "source": 3, "reason": "queue-full" },
    });
    [(channel, CharacterPeriod::FULL_RATE), (journey, CharacterPeriod::PICOSECOND)]
});

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    #[test]
    fn an_input_names_the_kind_of_rows() {
        assert_eq!(parts("events at > 5"), (RowKind::Events, "at > 5"));
        assert_eq!(parts("links --slack at > 5"), (RowKind::Buffers, "at > 5"));
        assert_eq!(parts("tag == 5"), (RowKind::Packets, "tag == 5"));
    }

    pub(crate) fn a_writer_that_leaves_out_parentheses_is_caught() {
        let without = |filter: &Filter| filter.to_string().replace(['(', ')'], "");
        check(b"packets (tag == 5 || crc.bad) && length > 5", without);
    }

    #[test]
    fn ranges_and_sets_are_compared() {
        let plain = |text: &str| compared(text, |field, from, to| format!("<{field} {from} {to}>"));
        assert_eq!(plain("!(at in 1..5) && tag"), "!((<at 1 5>)) && tag");
        assert_eq!(plain("(tag in {1, 2..3})"), "((tag == 1 || <tag 2 3>))");
        let text = r#"name in {"a in {\"", "b..c"} || at in 1us..2us"#;
        let there = r#"(name == "a in {\"" || name == "b..c") || (<at 1us 2us>)"#;
        assert_eq!(plain(text), there);
    }

    pub(crate) fn a_range_that_takes_in_its_end_is_caught() {
        let ending =
            |field: &str, from: &str, to: &str| format!("({field} >= {from} && {field} <= {to})");
        comparing(b"packets length in 3..6", ending);
    }

    pub(crate) fn a_writer_that_turns_a_comparison_is_caught() {
        keeping(b"packets length > 5", |filter| filter.to_string().replace('>', "<"));
    }

    pub(crate) fn a_fault_without_a_caret_is_caught() {
        let error = Filter::parse("tga", RowKind::Packets).unwrap_err();
        check_reparse(&error.to_string().replace('^', ""));
    }

    pub(crate) fn a_writer_of_words_that_there_are_not_is_caught() {
        check(b"packets crc.bad", |filter| filter.to_string().replace("bad", "wrong"));
    }
}
