//! Selection of rows: --channel, --from, --to, --limit, --filter, --fields and the options of `links`.

use serde_json::Value;

use crate::support::{bad, capture, good, json, json_lines, run, view, views};

#[test]
fn a_channel_a_window_and_a_limit_select_rows() {
    for line in include_str!("selection.txt").lines().filter(|line| !line.starts_with('#')) {
        let (command, rows) = line.split_once(" => ").unwrap();
        let command: Vec<&str> = command.split('|').collect();
        let printed = view("link-1", &[&command[..], &["--format", "jsonl"]].concat());
        assert_eq!(printed.lines().count().to_string(), rows, "{line}");
    }
    // Characters 10..20 of each channel.
    let part = ["info", "--format", "json", "--from", "10ch", "--to", "20ch"];
    let info = json(&view("link-1", &part));
    let counts = |key: &str| -> Vec<u64> {
        info["channels"].as_array().unwrap().iter().map(|c| c[key].as_u64().unwrap()).collect()
    };
    assert_eq!((counts("characters"), counts("first")), (vec![10, 10], vec![10, 10]));
    assert_eq!(counts("last"), [19, 19]);
}

#[test]
fn a_filter_adds_nothing_to_the_output() {
    let row = view("link-1", &["packets", "--format", "jsonl", "--filter", "bytes[0:2] == ba:05"]);
    assert!(row.starts_with("{\"channel\":\"h1:0>s1:1\",\"packet\":0,") && !row.contains("bytes"));
    let stops = view("link-1", &["show", "--format", "jsonl", "--filter", "right contains STOP"]);
    assert!(stops.lines().count() > 0 && stops.lines().all(|line| line.contains("STOP")));
    let one = view("link-1", &["info", "--filter", "control.FRES > 0", "--fields", "name"]);
    assert_eq!(one, "name\ns1:1>h1:0\n");
}

#[test]
fn fields_are_listed_without_a_capture() {
    for command in views() {
        let listed = good(&[command, &["--list-fields"]].concat());
        assert!(listed.lines().all(|line| line.chars().count() <= 120), "{command:?}");
    }
    let listed = json(&good(&["packets", "--list-fields", "--format", "json"]));
    assert_eq!(listed["fields"][0]["name"], "channel");
}

#[test]
fn a_bad_filter_is_reported_before_anything_is_read() {
    for arguments in [
        ["packets", "no-such-file", "--filter", "lenght > 5"],
        ["packets", "no-such-file", "--fields", "lenght"],
        ["show", "no-such-file", "--filter", "lfet ~ \"*\""],
        ["info", "no-such-file", "--filter", "nam == x"],
    ] {
        let error = bad(&arguments);
        assert!(error.contains("^") && error.contains("did you mean `"), "{error}");
    }
}

#[test]
fn waits_are_selected_by_length_filter_and_number() {
    let lines = |options: &[&str]| {
        view("demo-ring", &[&["blocking", "--format", "jsonl"], options].concat())
    };
    let (all, long) = (lines(&[]), lines(&["--min", "1ms"]));
    // Sixteen stops and a deadlock, of which eight stops and the deadlock are long.
    assert_eq!((all.lines().count(), long.lines().count()), (17, 9));
    assert_eq!(long, lines(&["--filter", "timeout && root.deadlock || kind == deadlock"]));
    let periods: Vec<_> = json_lines(&all).iter().map(|row| row["periods"].as_u64()).collect();
    for least in periods.iter().flatten() {
        let as_long = periods.iter().filter(|it| **it >= Some(*least)).count();
        assert_eq!(lines(&["--min", &format!("{least}ch")]).lines().count(), as_long, "{least}");
    }
    let text = view("demo-ring", &["blocking", "--limit", "0"]);
    assert!(text.contains("and 3 more trees"), "{text}");
    let columns = view("demo-ring", &["blocking", "--fields", "channel,periods", "--limit", "1"]);
    assert_eq!(columns.lines().count(), 2, "{columns}");
}

#[test]
fn links_are_summed_up_or_listed_as_intervals() {
    // Up to eight links each have their own lines.
    assert!(view("demo-ring", &["links"]).starts_with("16 channels, 8 links"));
    let text = view("link-1", &["links"]);
    assert!(text.starts_with("2 channels, 1 link, 3.7500 µs\n") && text.contains("h1:0 ⇄ s1:1"));
}

/// The lines of `docs/output.md`, and parameters that override the capture's.
#[test]
fn slack_buffers_are_summed_up_or_bounded_at_every_moment() {
    let page = include_str!("../../../docs/output.md").replace("},\n\"sources", "},\"sources");
    let page = page.replace("},\n\"cells", "},\"cells");
    let slack = view("demo-slack", &["links", "--slack", "--format", "jsonl", "--limit", "1"]);
    assert!(page.contains(&slack), "{slack}");
    let fills = ["links", "--fill", "--format", "jsonl", "--limit", "7"];
    let fills = view("demo-adversary", &fills);
    let fourth = fills.match_indices('\n').nth(2).unwrap().0 + 1;
    assert!(page.contains(&fills[fourth..]), "{fills}");
    let text = view("demo-slack", &["links", "--slack", "--assume", "kg=20,delay=40"]);
    let first = text.lines().nth(2).unwrap();
    for part in ["68 cells", "kg=20 delay=40", "h=16 ks=32 gen=2 int=2"] {
        assert!(first.contains(part), "{first}");
    }
    assert!(text.contains("10 characters"), "{text}");
}

/// A row is selected if one of its characters lies in the window.
#[test]
fn a_window_selects_the_rows_that_overlap_it_and_no_other() {
    // Places are characters, of `series` the times of 12 500 ps each; the second one of a row is of it, or behind it.
    let lists = [
        (&["packets"][..], ["start", "end"], ("ch", 1), 0),
        (&["links", "--intervals"], ["start", "end"], ("ch", 1), 0),
        (&["check"], ["at", "last_at"], ("ch", 1), 0),
        (&["blocking"], ["start", "end"], ("ch", 1), 0),
        (&["log"], ["start", "at"], ("ch", 1), 0),
        (&["series", "--every", "500ns"], ["time_ps", "end_ps"], ("ps", 12_500), 1),
    ];
    let capture = capture("link-1");
    for (command, names, (unit, step), behind) in lists {
        let rows = |window: &[&str]| -> Vec<(u64, u64)> {
            let list = [command, &["--format", "jsonl"], window, &[&capture]].concat();
            let rows = json_lines(&run(&list).out).into_iter();
            let place = |row: &Value, end: usize| row[names[end]].as_u64().map(|it| it / step);
            rows.filter_map(|row| Some((place(&row, 0)?, place(&row, 1)? - behind))).collect()
        };
        let all = rows(&[]);
        let has_long = all.iter().any(|(first, last)| first < last);
        assert!(all.len() > 1 && has_long, "{command:?}: {all:?}");
        let edges = all.iter().take(6).flat_map(|(first, last)| [*first, *last, last + 1]);
        for edge in edges.filter(|edge| *edge > 0) {
            let text = format!("{}{unit}", edge * step);
            for (option, [from, to]) in [("--from", [edge, u64::MAX]), ("--to", [0, edge])] {
                let is_inside = |(first, last): &&(u64, u64)| *first < to && from <= *last;
                let expected: Vec<_> = all.iter().filter(is_inside).copied().collect();
                assert_eq!(rows(&[option, &text]), expected, "{command:?} {option} {edge}");
            }
        }
    }
}
