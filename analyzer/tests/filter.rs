//! Filters: what they keep, and what is said where they are wrong.

use codec::time::CharacterPeriod;
use myriscope_analyzer::filter::{ColumnList, DEPTH_MAX, Filter, FilterError, RowKind, TEXT_MAX};
use myriscope_analyzer::packet::{HexBytes, PacketRow};
use myriscope_analyzer::render::TimeUnit;
use serde_json::json;

/// Errors of filters, as they are shown.
fn wrong(texts: &[&str]) -> String {
    let shown = texts.iter().map(|text| Filter::parse(text, RowKind::Packets).unwrap_err());
    shown.map(|error| format!("{error}\n\n")).collect()
}

/// An error in a line: the faulty text in brackets, the message, what was expected, and help.
fn place(text: &str, error: &FilterError) -> String {
    let (before, rest) = text.split_at(error.place().start);
    let (faulty, behind) = rest.split_at(error.place().len());
    let shown = error.to_string();
    let parts = ["^ ", "= help: "].map(|mark| shown.split_once(mark).map(|(_, part)| part));
    let parts = parts.into_iter().flatten().filter_map(|part| part.lines().next());
    let parts = [error.message()].into_iter().chain(parts).collect::<Vec<_>>().join("; ");
    format!("{before}[{faulty}]{behind}    {parts}\n")
}

/// Errors of filters, one in a line.
fn places(kind: RowKind, texts: &[&str]) -> String {
    texts.iter().map(|text| place(text, &Filter::parse(text, kind).unwrap_err())).collect()
}

fn packet() -> PacketRow<'static> {
    PacketRow {
        channel: "s0:3>h0:0",
        packet: 7,
        start: 1000,
        end: 1011,
        length: 6,
        route: &[0x83, 0x81],
        tag: Some(5),
        payload: 2,
        crc: "bad",
        syndrome: Some(0x10),
        ended_by: "gap",
        bytes: Some(HexBytes(&[0x83, 0x81, 0x05, 0xaa, 0xbb, 0xcc])),
        ..PacketRow::default()
    }
}

/// True if the packet, on a channel of the full rate, passes.
fn keeps(text: &str) -> bool {
    Filter::parse(text, RowKind::Packets).unwrap().keeps(&packet(), CharacterPeriod::FULL_RATE)
}

fn all_keep(texts: &[&str]) {
    texts.iter().for_each(|text| assert!(keeps(text), "{text}"));
}

fn none_keeps(texts: &[&str]) {
    texts.iter().for_each(|text| assert!(!keeps(text), "{text}"));
}

#[test]
fn numbers_compare_and_places_are_characters_or_times() {
    all_keep(&["tag == 5", "tag==0x05", "tag != 4", "length > 5", "length >= 6", "length < 7"]);
    all_keep(&["length <= 6", "length eq 6", "length ne 5", "length gt 5", "length ge 6"]);
    all_keep(&["length lt 7", "length le 6", "length in 6..7", "length in {1, 6}"]);
    all_keep(&["length in {1, 5..8}", "packet == 7", "syndrome == 16"]);
    none_keeps(&["tag == 4", "tag != 5", "length > 6", "length >= 7", "length < 6"]);
    none_keeps(&["length <= 5", "length in 5..6", "length in {5, 7}", "length in {7..9}"]);
    // 1000 × 12.5 ns.
    all_keep(&["start == 1000", "start == 1000ch", "start == 12.5us", "start >= 12.5us"]);
    all_keep(&["start in 12us..13us", "start in 1000ch..12501ns", "start < 0.0125001ms"]);
    all_keep(&["start in {3, 12.5µs}", "start > 0s", "end == 1011"]);
    none_keeps(&["start > 12.5us", "start < 12.5us", "start == 12501ns", "start in 10us..12.5us"]);
    none_keeps(&["start == 99999999999999999999s"]);
}

#[test]
fn text_and_words_compare() {
    all_keep(&["channel == \"s0:3>h0:0\"", "channel ~ \"s0:*\"", "channel ~ s0:*", "crc == bad"]);
    all_keep(&["channel contains \">h0\"", "channel in {\"a\", \"s0:3>h0:0\"}"]);
    all_keep(&["crc.bad", "ended_by == gap", "ended_by.gap", "crc in {bad, runt}", "crc != good"]);
    all_keep(&[
        "channel ~ \"??:3*0\"",
        "ended_by ~ \"g*\"",
        "crc != runt",
        "channel like \"*>h0:0\"",
    ]);
    none_keeps(&["channel == s0:3", "channel ~ \"s0\"", "crc.good", "ended_by.open-link"]);
    none_keeps(&["channel != \"s0:3>h0:0\"", "channel contains h1", "channel ~ \"S0:*\""]);
}

#[test]
fn bytes_compare_and_have_parts() {
    all_keep(&["bytes[0:2] == 83:81", "bytes[0:2] == 8381", "bytes[2] == 05", "bytes[2] == 5"]);
    all_keep(&["bytes[-1] == cc", "bytes[4:] == bb:cc", "bytes[:2] == 83:81"]);
    all_keep(&["bytes contains 05:aa", "route contains 81", "route == 83:81", "route != 83"]);
    all_keep(&["bytes[0] >= 80", "bytes[2] in {04, 05}", "bytes[0] in 80..90", "route[0] == 83"]);
    all_keep(&["bytes[2:] contains aa", "bytes[5]", "bytes[-2:2] == 0xbbcc"]);
    none_keeps(&["bytes[0:2] == 83:82", "bytes contains aa:05", "bytes[6]", "bytes[6] == cc"]);
    none_keeps(&["bytes[-7] == 83", "bytes[5:2] == cc:00", "bytes[0] < 83", "bytes[7:] != 00"]);
}

#[test]
fn not_binds_closer_than_and_and_that_closer_than_or() {
    all_keep(&["tag == 5 or tag == 6 and tag == 7", "!tag == 6 && crc.bad", "not crc.good"]);
    all_keep(&["tag == 4 || crc.bad && length == 6", "!(tag == 5 && crc.good)", "!!crc.bad"]);
    none_keeps(&["(tag == 5 or tag == 6) and tag == 7", "!tag == 5", "not not crc.good"]);
}

#[test]
fn what_a_row_does_not_have_passes_no_test_but_a_negation_and_a_row_that_is_no_object_none() {
    let runt = PacketRow { tag: None, syndrome: None, route: &[], crc: "runt", ..packet() };
    let tests = "tag, tag == 5, tag != 5, tag in {5}, syndrome > 0, route, route != 83, route[0]";
    for text in tests.split(", ") {
        for (filter, expected) in [(text, false), (&format!("!({text})"), true)] {
            let mut filter = Filter::parse(filter, RowKind::Packets).unwrap();
            assert_eq!(filter.keeps(&runt, CharacterPeriod::FULL_RATE), expected, "{text}");
        }
    }
    let mut filter = Filter::parse("tag", RowKind::Packets).unwrap();
    let rows = [json!(5), json!(["tag"]), json!("tag")];
    rows.iter().for_each(|row| assert!(!filter.keeps(row, CharacterPeriod::PICOSECOND), "{row}"));
}

#[test]
fn what_is_written_out_reads_as_the_same() {
    let out = |text: &str| Filter::parse(text, RowKind::Packets).unwrap().to_string();
    insta::assert_snapshot!(out("not tag==0x05&&(crc.bad or length in 6..0x10)"), @"!(tag == 5) && (crc == bad || length in 6..16)");
    insta::assert_snapshot!(out("start in {1, 12.5us, 250ns..3ms} and bytes[:2]==8305"), @"start in {1ch, 12500ns, 250ns..3ms} && bytes[0:2] == 83:05");
    insta::assert_snapshot!(out(r#"channel ~ "a\"\\*" || !!route[-1] || channel != x"#), @r#"channel ~ "a\"\\*" || !!route[-1] || channel != "x""#);
}

#[test]
fn unknown_names_are_told_with_what_may_have_been_meant() {
    insta::assert_snapshot!(wrong(&["lenght > 1000", "crc.bda"]), @"
    error: unknown field `lenght`
     --> --filter:1:1
      |
    1 | lenght > 1000
      | ^^^^^^ packets have no such field
      |
      = help: did you mean `length`?

    error: `crc` cannot be `bda`
     --> --filter:1:5
      |
    1 | crc.bda
      |     ^^^ expected `good`, `bad`, `runt` or `partial`
      |
      = help: did you mean `bad`?
    ");
    insta::assert_snapshot!(places(RowKind::Packets, &["tag == 5 && fish", "event == hole"]), @"
    tag == 5 && [fish]    unknown field `fish`; packets have no such field; --list-fields lists them all
    [event] == hole    packets have no field `event`; the rows of `events` and `conversations --events` have it; --list-fields lists them all
    ");
    insta::assert_snapshot!(places(RowKind::Events, &["event == open-lnk", "event == x", "event ~ \"x*\""]), @r#"
    event == [open-lnk]    `event` cannot be `open-lnk`; expected one of 13 words; did you mean `open-link`?
    event == [x]    `event` cannot be `x`; expected one of 13 words; they are `open-link`, `link-restored`, `forward-reset`, `reset-ended`, `backward-reset`, `overrun-alarm`, `probe`, `reply`, `invalid-code`, `corrected-code`, `hole`, `sender-stopped` and `sender-resumed`
    event ~ ["x*"]    no value of `event` matches `x*`; expected one of 13 words; they are `open-link`, `link-restored`, `forward-reset`, `reset-ended`, `backward-reset`, `overrun-alarm`, `probe`, `reply`, `invalid-code`, `corrected-code`, `hole`, `sender-stopped` and `sender-resumed`
    "#);
}

#[test]
fn values_must_be_of_the_field() {
    insta::assert_snapshot!(places(RowKind::Packets, &["tag == 300", "length == 10us", "start == 5 kB", "bytes == xyz", "crc == 5"]), @"
    tag == [300]    `tag` cannot be 300; at most 127
    length == [10us]    invalid value `10us` of `length`; expected a number: 12 or 0x0c
    start == 5 [kB]    unexpected `kB`; expected `&&`, `||` or the end
    bytes == [xyz]    invalid value `xyz` of `bytes`; expected bytes, in hex: 83:05
    crc == [5]    `crc` cannot be `5`; expected `good`, `bad`, `runt` or `partial`
    ");
}

#[test]
fn operators_must_be_of_the_field() {
    insta::assert_snapshot!(places(RowKind::Packets, &["channel > a", "crc < bad", "length contains 5", "tag ~ 5", "length[0] == 5"]), @"
    channel [>] a    `channel` is text; it takes `==` `!=` `in` `contains` `~`
    crc [<] bad    `crc` is a word; it takes `==` `!=` `in` `~`
    length [contains] 5    `length` is a number; it takes `==` `!=` `<` `<=` `>` `>=` `in`
    tag [~] 5    `tag` is a number; it takes `==` `!=` `<` `<=` `>` `>=` `in`
    length[[0]] == 5    `length` is a number; it takes `==` `!=` `<` `<=` `>` `>=` `in`
    ");
    insta::assert_snapshot!(places(RowKind::Packets, &["bytes[0:2] == 83", "bytes[x] == 83", "bytes[0:0]", "length in 20..10", "tag in 5"]), @"
    bytes[0:2] == [83]    2 bytes cannot equal 1; expected 2 bytes
    bytes[[x]] == 83    invalid slice `x`; expected the first, `:`, how many: `[0:2]`
    bytes[[0:0]]    invalid slice `0:0`; expected the first, `:`, how many: `[0:2]`
    length in [20..10]    empty range: 20..10; expected the lower end first
    tag in [5]    `in` takes a range or a set; expected `10..20`, or `{10, 12}`
    ");
}

#[test]
fn what_does_not_hang_together_is_told_where() {
    insta::assert_snapshot!(places(RowKind::Packets, &["", "tag ==", "tag = 5", "(tag == 5", "tag == 5)"]), @"
    []    the expression is empty; expected a field
    tag ==[]    the expression ends too early; expected a number: 12 or 0x0c
    tag [=] 5    unexpected `=`; not an operator; did you mean `==`?
    [(]tag == 5    unclosed parenthesis; no `)` behind it
    tag == 5[)]    unmatched closing parenthesis; no `(` before it
    ");
    insta::assert_snapshot!(places(RowKind::Packets, &["tag & crc.bad", "crc.bad length", "channel == \"s0", "tag in {1, 2", "5 == tag"]), @r#"
    tag [&] crc.bad    unexpected `&`; not an operator; did you mean `&&`?
    crc.bad [length]    unexpected `length`; expected `&&`, `||` or the end
    channel == ["]s0    unterminated text; it begins here, and there is no `"` behind it
    tag in {1, 2[]    the expression ends too early; expected `,` or `}`
    [5] == tag    unknown field `5`; packets have no such field; the field comes first: `tag == 5`
    "#);
}

#[test]
fn long_deep_and_hostile_expressions_are_refused() {
    let deep = |levels: usize| format!("{}tag{}", "(".repeat(levels), ")".repeat(levels));
    assert!(keeps(&deep(DEPTH_MAX)));
    let error = Filter::parse(&deep(DEPTH_MAX + 1), RowKind::Packets).unwrap_err();
    assert_eq!((error.message(), error.place()), ("nested too deep", DEPTH_MAX..DEPTH_MAX + 1));
    assert!(Filter::parse(&"!".repeat(100_000), RowKind::Packets).is_err());
    assert!(Filter::parse(&"!".repeat(TEXT_MAX), RowKind::Packets).is_err());
    let long = format!("tag in {{{}5}}", "1, ".repeat(1300));
    assert!(keeps(&long) && long.len() < TEXT_MAX);
    let error = Filter::parse(&long.repeat(2), RowKind::Packets).unwrap_err();
    assert_eq!(error.message(), "the expression has 7820 bytes");
    let error = Filter::parse("tag == \"\u{1b}[31m\"", RowKind::Packets).unwrap_err().to_string();
    assert!(!error.contains('\u{1b}'), "{error:?}");
}

#[test]
fn columns_stand_below_their_names() {
    let mut columns =
        ColumnList::parse("channel, start ,route,crc,syndrome", RowKind::Packets).unwrap();
    let text =
        format!("{}\n{}", columns.head(), columns.line(&packet(), CharacterPeriod::FULL_RATE));
    insta::assert_snapshot!(text, @"
    channel            start [ch]  route        crc      syndrome
    s0:3>h0:0                1000  83:81        bad            16
    ");
    let mut timed = columns.clone().in_unit(Some(TimeUnit::Nanoseconds));
    let text = format!("{}\n{}", timed.head(), timed.line(&packet(), CharacterPeriod::FULL_RATE));
    assert!(text.contains("start [ns]") && text.contains("  12500.0  "), "{text}");
    let names = ["channel", "start", "route", "crc", "syndrome"];
    assert_eq!(columns.names().collect::<Vec<_>>(), names);
    let row = json!({ "name": "a>b", "control": { "GAP": 1, "GO": 2 } });
    let mut columns = ColumnList::parse("name,control,peer", RowKind::Channels).unwrap();
    insta::assert_snapshot!(columns.line(&row, CharacterPeriod::PICOSECOND).to_string(), @"a>b                    2        -");
}

#[test]
fn all_fields_of_a_row_may_be_columns() {
    for kind in RowKind::ALL {
        let names: Vec<&str> = kind.fields().iter().map(|field| field.name).collect();
        let columns = ColumnList::parse(&names.join(","), kind).unwrap();
        assert_eq!(columns.names().collect::<Vec<_>>(), names);
    }
}

#[test]
fn names_of_columns_are_looked_up_too() {
    let wrong = |list| place(list, &ColumnList::parse(list, RowKind::Packets).unwrap_err());
    let lists = ["start,lenght", "tag,,crc", "tag,tag", "left"];
    insta::assert_snapshot!(lists.map(wrong).concat(), @"
    start,[lenght]    unknown field `lenght`; packets have no such field; did you mean `length`?
    tag,[],crc    a name is missing; expected a field
    tag,[tag]    `tag` is listed twice; the second time
    [left]    packets have no field `left`; the rows of `show` have it; --list-fields lists them all
    ");
}
