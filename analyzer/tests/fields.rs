//! The registry of fields and the rows that are printed say the same.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::collections::BTreeSet;
use std::fmt::Write as _;

use analyzer::Event;
use analyzer::blocking::{BlockedRow, DeadlockRow, HolderRow, StopRow};
use analyzer::event::By;
use analyzer::filter::{Field, Filter, RowKind, Shape};
use analyzer::finding::{self, About, FindingRow, First, Said};
use analyzer::link::report::ChannelReport;
use analyzer::link::state::{Interval, State};
use analyzer::link::summary::{Summary, Times};
use analyzer::packet::{EndedBy, Hex, PacketRow};
use analyzer::path::{HopRow, InjuryRow, JourneyRow, PlaceRow};
use analyzer::show::ShownRow;
use analyzer::tally::{ChannelPlace, Control, TallyRow};
use codec::capture::{Channel, ChannelId, Chunk, Content};
use codec::character::{ProbeNumber, ReplyStatus, Symbol};
use codec::notation;
use codec::tick::Tick;
use serde_json::Value;

/// Rows of a kind which together have all that such rows may have.
fn samples(kind: RowKind) -> Vec<Value> {
    match kind {
        RowKind::Channels => {
            let place = ChannelPlace { index: 0, name: "a>b", peer: Some(1), period_ps: 12_500 };
            let kinds = ["IDLE", "GAP", "GO", "STOP", "ORUN", "FRES", "BRES", "PRBn", "REPLx"];
            let row = TallyRow {
                place,
                characters: 1,
                data: 2,
                control: Control(kinds.map(|kind| (kind, 3)).to_vec()),
                corrected: 4,
                invalid: 5,
                holes: 6,
                first: Some(7),
                last: Some(8),
            };
            vec![serde_json::to_value(row).unwrap()]
        }
        RowKind::Packets => {
            let row = PacketRow {
                channel: "a>b",
                packet: 1,
                start: 2,
                end: 3,
                length: 4,
                route: &[0x80],
                tag: Some(5),
                payload: 6,
                crc: "good",
                syndrome: Some(7),
                ended_by: EndedBy::Gap.name(),
                bytes: Some(Hex(&[0x80])),
                route_left_out: 8,
                bytes_left_out: 9,
            };
            vec![serde_json::to_value(row).unwrap()]
        }
        RowKind::Events => events()
            .iter()
            .map(|event| serde_json::to_value(event.row("a>b", Tick(1))).unwrap())
            .collect(),
        RowKind::Links => vec![link()],
        RowKind::Intervals => State::ALL.into_iter().map(interval).collect(),
        RowKind::Journeys => vec![serde_json::to_value(journey()).unwrap()],
        RowKind::Characters => {
            let row = ShownRow { at: 1, left: "GAP".to_owned(), right: "GO".to_owned() };
            vec![serde_json::to_value(row).unwrap()]
        }
        RowKind::Findings => finding::ALL.iter().map(finding_of).collect(),
        RowKind::Waits => waits(),
    }
}

/// A stop and a deadlock that have everything.
fn waits() -> Vec<Value> {
    let stop = StopRow {
        number: 1,
        channel: "a>b",
        start: 2,
        end: 3,
        periods: 4,
        ended_by: "reset",
        timeout: true,
        packet: Some(5),
        chain: vec!["b>c"],
        behind: Some(6),
        root: "busy",
        node: Some("b".to_owned()),
        holders: vec![HolderRow { channel: "d>b", packets: 7 }],
    };
    let deadlock = DeadlockRow {
        channels: vec!["a>b", "b>a"],
        start: 1,
        end: 2,
        periods: 3,
        broken_by: Some("reset"),
        broken_at: Some("a>b"),
    };
    [BlockedRow::Stop(stop), BlockedRow::Deadlock(deadlock)]
        .map(|row| serde_json::to_value(row).unwrap())
        .to_vec()
}

/// What a channel did on which there was everything.
fn link() -> Value {
    let mut channel = Channel::named("a:0>b:0");
    channel.tap = Some("a:0".to_owned());
    let mut summary = Summary::default();
    let codes = notation::parse("IDLE GAP GO STOP ORUN FRES BRES PRB0 REPL3").unwrap();
    let content = Content::Literal(codes.chars());
    summary.tally.feed(&Chunk { first: Tick(0), content });
    summary.pings.sent(Tick(1), ProbeNumber::new(0).unwrap());
    summary.pings.answered(Tick(2));
    let (peer, lamp) = (Some(ChannelId(1)), Times::default());
    let (channel, summary, lamp) = (&channel, &summary, &lamp);
    let report = ChannelReport { id: ChannelId(0), channel, peer, summary, lamp };
    serde_json::to_value(report.row()).unwrap()
}

fn interval(state: State) -> Value {
    let interval = Interval { channel: ChannelId(0), start: Tick(0), end: Tick(2), state };
    serde_json::to_value(interval.row("a>b")).unwrap()
}

/// A journey that has everything.
fn journey() -> JourneyRow<'static> {
    let hop = HopRow {
        channel: "a>b",
        packet: 1,
        start: 2,
        end: 3,
        time_ps: 4,
        length: 5,
        route: Some(0x80),
        port: Some(0),
        switches: 1,
        latency_ps: Some(6),
        waited_ps: Some(7),
        waited_for: Some("output"),
        behind: Some(8),
        crc: "bad",
        syndrome: Some(9),
        ended_by: "gap",
    };
    let injury = InjuryRow {
        after: Some("a>b"),
        seen: "b>c",
        switches: 1,
        harm: "flipped",
        syndrome: Some(10),
        flips: Some("odd"),
        bit: Some(11),
        places: vec![PlaceRow { byte: -1, bit: 7 }],
        missing: Some(12),
        more: Some(13),
        by: Some("reset"),
    };
    JourneyRow {
        journey: 0,
        time_ps: 1,
        latency_ps: 2,
        waited_ps: 3,
        tag: Some(4),
        payload: 5,
        fate: "dropped",
        rule: Some("S-1"),
        certainty: "certain",
        hops: vec![hop],
        injuries: vec![injury],
    }
}

/// A finding of a kind.
fn finding_of(about: &About) -> Value {
    let row = FindingRow {
        severity: about.severity,
        finding: about.name,
        rule: Some("P-4"),
        clause: Some("5"),
        channel: "a>b",
        at: 1,
        time_ps: 12_500,
        count: 2,
        first: First(vec![("packet", Said::Number(1)), ("code", Said::Byte(2))]),
        last_at: 3,
        last_time_ps: 37_500,
        text: about.text,
    };
    serde_json::to_value(row).unwrap()
}

/// An event of every kind.
fn events() -> Vec<Event> {
    let corrected = [
        (0x04, Symbol::Gap),
        (0x01, Symbol::Go),
        (0x07, Symbol::Stop),
        (0x13, Symbol::ForwardReset),
        (0x10, Symbol::OverrunAlarm),
        (0x1c, Symbol::BackwardReset),
    ];
    let corrected = corrected.map(|(code, symbol)| Event::CorrectedCode { code, symbol });
    let resumed = [By::Go, By::OpenLink, By::Reset].map(Event::SenderResumed);
    [
        Event::OpenLink,
        Event::LinkRestored,
        Event::ForwardReset,
        Event::ResetEnded,
        Event::BackwardReset,
        Event::OverrunAlarm,
        Event::Probe(ProbeNumber::new(7).unwrap()),
        Event::Reply(ReplyStatus::new(15).unwrap()),
        Event::InvalidCode(0xa6),
        Event::Hole { missing: 5 },
        Event::SenderStopped,
    ]
    .into_iter()
    .chain(corrected)
    .chain(resumed)
    .collect()
}

/// The values at the end of a path, through lists.
fn at<'v>(value: &'v Value, path: &str) -> Vec<&'v Value> {
    if let Value::Array(elements) = value {
        return elements.iter().flat_map(|element| at(element, path)).collect();
    }
    match path.split_once('.') {
        None => value.get(path).into_iter().collect(),
        Some((name, rest)) => value.get(name).map_or_else(Vec::new, |inner| at(inner, rest)),
    }
}

fn fits(field: &Field, value: &Value) -> bool {
    match field.shape {
        Shape::Number(most) => value.as_u64().is_some_and(|number| number <= most),
        Shape::Signed => value.is_i64(),
        Shape::Real => value.is_f64(),
        Shape::Place | Shape::Time => value.is_u64(),
        Shape::Text => match value.as_array() {
            None => value.is_string(),
            Some(texts) => texts.iter().all(Value::is_string),
        },
        Shape::Words(words) | Shape::Ranks(words) => {
            value.as_str().is_some_and(|word| words.contains(&word))
        }
        Shape::Bytes => value.is_array() || value.is_string(),
        Shape::Flag => value.is_boolean(),
        Shape::List => value.is_array() || value.is_object(),
    }
}

#[test]
fn every_member_of_a_row_is_a_field_and_every_field_a_member() {
    for kind in RowKind::ALL {
        let rows = samples(kind);
        let members: BTreeSet<&str> = rows
            .iter()
            .flat_map(|row| row.as_object().unwrap().keys())
            .map(String::as_str)
            .collect();
        let fields: BTreeSet<&str> =
            kind.fields().iter().map(|f| f.name).filter(|name| !name.contains('.')).collect();
        assert_eq!(members, fields, "{}", kind.name());
        for field in kind.fields() {
            let values: Vec<&Value> = rows.iter().flat_map(|row| at(row, field.name)).collect();
            assert!(!values.is_empty(), "{} of {}: not there", field.name, kind.name());
            for value in values.iter().filter(|value| !value.is_null()) {
                assert!(fits(field, value), "{} of {}: {value}", field.name, kind.name());
            }
            let said: BTreeSet<&str> = values.iter().filter_map(|value| value.as_str()).collect();
            if matches!(kind, RowKind::Events | RowKind::Findings) && !field.words().is_empty() {
                let words: BTreeSet<&str> = field.words().iter().copied().collect();
                assert_eq!(said, words, "{}", field.name);
            }
        }
    }
}

#[test]
fn names_are_there_once_and_every_field_can_be_asked_for() {
    for kind in RowKind::ALL {
        let names: BTreeSet<&str> = kind.fields().iter().map(|field| field.name).collect();
        assert_eq!(names.len(), kind.fields().len());
        for (field, rows) in kind.fields().iter().map(|field| (field, samples(kind))) {
            let mut filter = Filter::parse(field.name, kind).unwrap();
            assert!(rows.iter().any(|row| filter.keeps(row, 1)), "{}", field.name);
            assert!(!field.help.is_empty() && field.help.len() <= 60, "{}", field.name);
        }
    }
}

/// The registry as the tables of `docs/filter.md`.
fn tables() -> String {
    let mut text = String::new();
    for kind in RowKind::ALL {
        writeln!(text, "### `{}`\n", kind.command()).unwrap();
        text += "| field | type | unit | rule | meaning |\n|---|---|---|---|---|\n";
        for Field { name, shape, unit, rule, help } in kind.fields() {
            let words = kind.field(name).unwrap().words();
            let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            let words =
                if words.is_empty() { String::new() } else { format!(": {}", words.join(" ")) };
            let shape = shape.name();
            writeln!(text, "| `{name}` | {shape} | {unit} | {rule} | {help}{words} |").unwrap();
        }
        text.push('\n');
    }
    text
}

#[test]
fn the_documentation_lists_every_field() {
    let page = include_str!("../../docs/filter.md");
    let listed = page.split_once("a test holds that.\n\n").unwrap().1;
    assert_eq!(
        listed.trim_end(),
        tables().trim_end(),
        "docs/filter.md: its tables should be\n{}",
        tables()
    );
}
