//! Forms of the output: text, JSON, colours, columns; input from pipes and several captures.

use std::fs;
use std::process::Stdio;

use serde_json::Value;

use crate::support::{
    RunOutcome, ScratchDirectory, capture, capture_bytes, fixture, good, gzip, json, json_lines,
    piped, program, run, view, views,
};

#[test]
fn a_file_alone_means_info() {
    assert_eq!(view("link-1", &[]), view("link-1", &["info"]));
    assert!(view("link-1", &[]).starts_with("2 channels, 1 link, 3.7500 µs\n"));
}

#[test]
fn json_and_jsonl_have_the_same_rows() {
    for (command, name) in [
        ("info", "channels"),
        ("packets", "packets"),
        ("events", "events"),
        ("show", "rows"),
        ("links", "links"),
        ("blocking", "blocking"),
    ] {
        let whole = json(&view("link-7", &[command, "--format", "json"]));
        let rows = json_lines(&view("link-7", &[command, "--format", "jsonl"]));
        assert!(rows.len() > 1, "{command}");
        assert_eq!(whole.get(name), Some(&Value::from(rows)), "{command}");
    }
}

#[test]
fn info_as_json_agrees_with_the_reference() {
    let found = json(&view("link-14", &["info", "--format", "json"]));
    let expected = json(&fs::read_to_string(fixture("link-14/info.json")).unwrap());
    // Members may be added, none may change.
    for (key, value) in expected.as_object().unwrap() {
        let mut found = found[key].clone();
        for row in found.as_array_mut().into_iter().flatten() {
            let members = row.as_object_mut().unwrap();
            assert_eq!(members.remove("capture"), Some(Value::from(0)));
            assert_eq!(members.remove("time_ps"), Some(Value::from(0)));
            assert_eq!(members.remove("end_ps"), Some(Value::from(3_737_500)));
        }
        assert_eq!(found, *value, "{key}");
    }
}

#[test]
fn show_puts_the_named_channel_on_the_left_and_keeps_to_80_columns() {
    let text = view("link-1", &["show", "--channel", "s1:1>h1:0"]);
    let head: Vec<&str> = text.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(head, ["time", "µs", "s1:1>h1:0", "│", "h1:0>s1:1"]);
    for name in ["link-1", "link-2", "link-7", "link-8", "link-11", "link-14"] {
        let text = view(name, &["show"]);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{name}");
    }
}

#[test]
fn topology_has_the_same_rows_in_every_format() {
    let whole = json(&view("demo-now36", &["topology", "--format", "json"]));
    let rows = view("demo-now36", &["topology", "--format", "jsonl"]);
    let kinds = ["nodes", "links", "passages", "remarks"];
    let all: usize = kinds.iter().map(|kind| whole[kind].as_array().unwrap().len()).sum();
    assert_eq!(rows.lines().count(), all);
    let dot = view("demo-now36", &["topology", "--format", "dot"]);
    assert!(dot.starts_with("graph myrinet {\n") && dot.ends_with("}\n"), "{dot}");
    // A line of 170 switches, each with a host: 160 are drawn, and the links between them.
    let directory = ScratchDirectory::new("line");
    let text = "duration_us = 1\n[[tap]]\nall = true\n[topology]\nkind = 'mesh'\nwidth = 170\nheight = 1\n";
    let svg = good(&["topology", &directory.simulate(text), "--format", "svg"]);
    assert!(svg.contains(">not shown: 180 nodes, "), "{svg:.3000}");
    assert!(view("demo-now36", &["topology"]).starts_with("2 switches, 2 hosts, 2 links\n"));
}

#[test]
fn cables_of_a_topology_are_a_network_of_a_scenario() {
    let directory = ScratchDirectory::new("cables");
    let cables = view("ring-deadlock", &["topology", "--format", "csv"]);
    assert!(cables.starts_with("from,from_port,to,to_port\nh0,0,s0,2\n"), "{cables}");
    assert_eq!(cables.lines().count(), 9);
    directory.write("net.csv", cables.as_bytes());
    let text = "duration_us = 1\ntopology.file = 'net.csv'\n[[tap]]\nall = true\n";
    let again = good(&["topology", &directory.simulate(text), "--format", "csv"]);
    let sorted = |text: &str| {
        let mut lines: Vec<Vec<String>> = text.lines().map(ends).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&again), sorted(&cables));
}

/// The two ends of a cable in order, each with its port.
fn ends(line: &str) -> Vec<String> {
    let fields: Vec<&str> = line.split(',').collect();
    let mut ends: Vec<String> = fields.chunks(2).map(|end| end.join(":")).collect();
    ends.sort();
    ends
}

#[test]
fn colours_appear_only_on_request() {
    assert!(!view("link-1", &["packets"]).contains('\u{1b}'));
    assert!(view("link-1", &["packets", "--color", "always"]).contains("\u{1b}["));
    let mut command = program(&["packets", "--color", "auto", &capture("link-1")]);
    let output: RunOutcome = command.env("NO_COLOR", "1").output().unwrap().into();
    assert!(!output.out.contains('\u{1b}'));
}

#[test]
fn compressed_captures_and_pipes_read_alike_and_a_channel_of_any_section_can_be_named() {
    let (plain, bytes) = (view("link-1", &["packets"]), capture_bytes("link-1"));
    for input in [gzip(&bytes), bytes] {
        assert_eq!(piped(&["packets", "-"], &input).out, plain);
    }
    let both = [capture_bytes("link-1"), capture_bytes("link-14")].concat();
    for command in ["info", "packets", "events", "show"] {
        for name in ["s1:1>h1:0", "s2:6>h4:0"] {
            let output = piped(&[command, "-", "--channel", name, "--format", "jsonl"], &both);
            assert_eq!((output.status, output.err.as_str()), (Some(0), ""), "{command} {name}");
            assert!(output.out.lines().count() >= 1, "{command} {name}");
        }
    }
}

#[test]
fn rows_of_two_captures_in_one_file_are_distinguished() {
    for demo in ["demo-cut", "demo-nacks", "demo-ring"] {
        let once = capture_bytes(demo);
        // A section header alone is no capture.
        let twice = [&once[..28], &once, &once].concat();
        for command in views() {
            let jsonl = piped(&[command, &["-", "--format", "jsonl"]].concat(), &twice).out;
            let rows = jsonl.lines().filter(|row| !row.starts_with("{\"row\":\"verdict\""));
            let (first, second) =
                rows.partition::<Vec<&str>, _>(|row| row.ends_with("\"capture\":0}"));
            assert_eq!(first.len(), second.len(), "{command:?}");
            assert!(second.iter().all(|row| row.ends_with("\"capture\":1}")), "{command:?}");
            let text = piped(&[command, &["-"]].concat(), &twice).out;
            assert!(first.is_empty() || text.contains("capture 1"), "{command:?}");
        }
        // Of several files, each begins with its own.
        let directory = ScratchDirectory::new(demo);
        let files = ["a", "b"].map(|name| directory.write(name, &twice));
        for command in ["packets", "journeys"] {
            let lines = |files: &[String]| {
                let files = files.iter().map(String::as_str);
                let words: Vec<_> = [command, "--capture", "1"].into_iter().chain(files).collect();
                run(&words).out.matches("\ncapture 1\n").count()
            };
            assert_eq!((lines(&files[..1]), lines(&files)), (1, 2), "{command}");
        }
    }
}

#[test]
fn an_opposite_channel_outside_the_selection_is_not_called_missing() {
    let text = view("link-1", &["links", "--channel", "h1:0>s1:1"]);
    assert!(text.contains("opposite not shown") && !text.contains("no opposite"), "{text}");
}

#[test]
fn foreign_interfaces_are_counted() {
    let words = |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|w| w.to_le_bytes()).collect() };
    // A section header, interfaces of link type 1 (Ethernet), and one of a channel.
    let section = words(&[0x0a0d_0d0a, 28, 0x1a2b_3c4d, 1, u32::MAX, u32::MAX, 28]);
    let interface = words(&[1, 20, 1, 0, 20]);
    let channel = words(&[1, 20, 147, 0, 20]);
    let file = [section, interface.clone(), channel, interface].concat();
    let output = piped(&["info", "-", "--format", "json"], &file);
    let info = json(&output.out);
    assert_eq!((output.status, &info["skipped_interfaces"]), (Some(0), &Value::from(2)));
    assert_eq!(info["channels"].as_array().unwrap().len(), 1);
    let one = &file[..file.len() - 20];
    for (file, text) in
        [(&file[..], "2 foreign interfaces skipped"), (one, "1 foreign interface skipped")]
    {
        assert!(piped(&["-"], file).out.contains(text));
    }
}

#[test]
fn a_closed_pipe_is_an_error_only_where_the_capture_goes_to_it() {
    let link_7 = capture("link-7");
    for (arguments, status) in [
        (&["packets", "--format", "jsonl", &link_7][..], 0),
        (&["events", "--format", "jsonl", &link_7], 0),
        (&["show", "--format", "jsonl", &link_7], 0),
        (&["compare", &link_7, &link_7, "-o", "-"], 0),
        (&["demo", "now36"], 0),
        (&["demo", "now36", "-o", "-"], 2),
    ] {
        let mut command = program(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output: RunOutcome = child.wait_with_output().unwrap().into();
        assert_eq!(output.status, Some(status), "{arguments:?}");
        let expected = if status == 0 { "" } else { "myriscope: standard output: Broken pipe" };
        assert!(output.err.starts_with(expected), "{}", output.err);
        assert_eq!(output.err.is_empty(), status == 0, "{}", output.err);
    }
}

#[test]
fn completions_and_manual_pages_name_every_command() {
    let script = good(&["completions", "bash"]);
    let commands = ["info", "packets", "events", "show", "simulate", "demo", "two-hosts"];
    assert!(commands.iter().all(|command| script.contains(command)));
    let directory = ScratchDirectory::new("man");
    good(&["man", &directory.file("")]);
    assert!(directory.names().contains(&"myriscope-packets.1".to_owned()));
}

#[test]
fn json_of_an_experiment_has_the_content_of_its_tables_and_all_are_listed_without_a_name() {
    let [all, line] = ["json", "jsonl"]
        .map(|format| json(&good(&["experiment", "interface", "--quick", "--format", format])));
    assert_eq!(all["experiments"][0], line);
    assert_eq!(line["experiment"], "interface");
    assert_eq!(line["figures"][5]["published"], 55);
    assert_eq!(line["tables"][0]["rows"][0]["block_bytes"], 512);
    assert_eq!(line.as_object().unwrap().len(), 7);
    let list = good(&["experiment"]);
    assert_eq!(list, good(&["experiment", "--list"]));
    assert!(list.starts_with("logp "));
}

/// `watch`; a terminal is not tested here.
#[test]
fn without_a_terminal_the_end_is_shown_of_a_file_and_of_a_pipe() {
    let file = good(&["watch", &capture("demo-glitch")]);
    assert_eq!(piped(&["watch", "-"], &capture_bytes("demo-glitch")).out, file);
    insta::assert_snapshot!(file);
    let some = good(&["watch", &capture("demo-glitch"), "--channel", "h0:0>s0:0"]);
    assert!(some.starts_with("1 channel, 3200 characters") && !some.contains("h1:0"), "{some}");
}

#[test]
fn the_end_of_a_pipe_ends_a_list_that_follows() {
    let rows = piped(&["packets", "-f", "-"], &capture_bytes("link-1"));
    assert_eq!((rows.status, rows.out), (Some(0), good(&["packets", &capture("link-1")])));
}
