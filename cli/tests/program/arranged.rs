//! Lists that are sorted, grouped or counted, and the formats CSV and TSV.

use crate::support::{capture, good, json, run, view, views};

#[test]
fn rows_are_counted_grouped_and_sorted() {
    let cases: Vec<(String, String)> = serde_json::from_str(include_str!("arranged.json")).unwrap();
    for (command, expected) in cases {
        let options: Vec<&str> = command.split(' ').collect();
        assert_eq!(view("link-1", &options), expected, "{command}");
    }
}

#[test]
fn every_list_can_be_arranged() {
    for command in views() {
        let list = |options: &[&str]| view("demo-nacks", &[command, options].concat());
        let rows = list(&["--format", "jsonl"]);
        let rows: Vec<&str> =
            rows.lines().filter(|row| !row.starts_with("{\"row\":\"verdict\"")).collect();
        assert_eq!(list(&["--count"]), format!("{}\n", rows.len()), "{command:?}");
        // A place is that of its time, on a channel of the full rate.
        for field in ["at", "start"] {
            let places = rows.iter().filter_map(|row| json(row)[field].as_u64());
            let places: Vec<u64> = places.collect();
            let Some(place) = places.get(places.len() / 2) else { continue };
            let later = places.iter().filter(|it| *it >= place).count();
            let filter = format!("{field} >= {}ps", place * 12_500);
            let count = list(&["--filter", &filter, "--count"]);
            assert_eq!(count, format!("{later}\n"), "{command:?}");
        }
        let mut sorted: Vec<String> =
            list(&["--format", "jsonl", "--sort", "capture"]).lines().map(str::to_owned).collect();
        sorted.retain(|row| !row.starts_with("{\"row\":\"verdict\""));
        assert_eq!(sorted, rows, "equal rows keep their order: {command:?}");
        let table = list(&["--format", "csv"]);
        assert_eq!(table.lines().count(), rows.len() + 1, "{command:?}");
        let table = list(&["--format", "tsv"]);
        let mut lines: Vec<_> = table.lines().map(|line| line.split('\t').count()).collect();
        lines.dedup();
        assert_eq!(lines.len(), 1, "{command:?}: all lines have the same number of values");
        let groups = list(&["--group", "capture", "--format", "csv"]);
        let expected = if rows.is_empty() { String::new() } else { format!("0,{}\n", rows.len()) };
        assert_eq!(groups, format!("capture,count\n{expected}"), "{command:?}");
        // The text of a sorted list has a line or more for each row.
        let text = list(&["--sort", "capture", "--no-head"]);
        assert!(text.lines().count() >= rows.len(), "{command:?}");
    }
}

#[test]
fn rows_of_several_files_are_one_list() {
    let (one, other) = (&*capture("link-1"), &*capture("demo-nacks"));
    for (options, expected) in [
        (&["packets", "--count"][..], "309\n".to_owned()),
        (
            &["packets", "--group", "file", "--format", "csv"],
            format!("file,count\n{other},300\n{one},9\n"),
        ),
        (
            &["packets", "--sort", "length", "--top", "1", "--fields", "file", "--format", "jsonl"],
            format!("{{\"file\":\"{one}\"}}\n"),
        ),
        (&["packets", "--filter", "file ~ \"*nacks*\"", "--count"], "300\n".to_owned()),
    ] {
        assert_eq!(good(&[options, &[one, other]].concat()), expected, "{options:?}");
    }
    let checked = run(&["check", other, one, "missing"]);
    assert_eq!(checked.status, Some(2));
    assert!(checked.err.contains("missing: No such file"), "{}", checked.err);
    let mut lines = checked.out.lines();
    for expected in [
        format!("{other}: ✓ nothing wrong"),
        format!("{one}: ✗ 2 errors"),
        "3 files: 1 without errors and warnings, 1 with, 1 not read or damaged".to_owned(),
    ] {
        assert!(lines.next().unwrap().starts_with(&expected), "{}", checked.out);
    }
    assert_eq!(lines.next(), None);
    assert_eq!(run(&["check", one, other]).status, Some(1));
    let info = json(&good(&["info", one, other, "--format", "json"]));
    assert_eq!(info["faults"], serde_json::json!([0, 0]));
}

#[test]
fn no_line_of_a_table_is_wider_than_the_output() {
    for command in
        ["packets", "events", "journeys", "links --intervals", "check --fields text,channel"]
    {
        let command: Vec<&str> = command.split(' ').collect();
        let whole = view("demo-now36", &command);
        for width in [60, 80, 120] {
            let text =
                view("demo-now36", &[&command[..], &["--width", &width.to_string()]].concat());
            // Lines below a row of the table, which begin with a blank column of times, are not cut.
            let table = text.lines().filter(|line| !line.starts_with(&" ".repeat(13)));
            let widest = table.map(|line| line.chars().count()).max();
            assert!(widest <= Some(width), "{command:?} at {width}: {widest:?}");
            assert_eq!(text.lines().count(), whole.lines().count(), "{command:?} at {width}");
        }
    }
    for (width, heading) in [
        ("80", "    start µs  channel         packet   length  crc      ended by     route"),
        ("60", "    start µs  channel          length  crc      route"),
    ] {
        let packets = view("link-1", &["packets", "--width", width]);
        assert_eq!(packets.lines().next(), Some(heading));
    }
    for (option, unit) in [("us", "µs"), ("ns", "ns"), ("chars", "ch")] {
        for command in ["links", "check", "journeys"] {
            let text = view("demo-nacks", &[command, "--units", option]);
            assert!(text.contains(&format!(" {unit}")), "{command} {unit}: {text}");
        }
    }
    let narrow = view("demo-now36", &["journeys", "--width", "80", "--limit", "1"]);
    let is_whole = |line: &str| line.ends_with("fate") || line.ends_with("arrived");
    assert!(narrow.lines().all(is_whole), "{narrow}");
}
