//! The program as a person or a script runs it.

#![expect(clippy::unwrap_used, reason = "a test runs programs, and stops if it cannot go on")]

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(name).join("capture.pcapng")
}

fn link_1() -> Vec<u8> {
    fs::read(fixture("link-1")).unwrap()
}

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_myriscope"));
    command.args(arguments).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command
}

/// Runs the program with some bytes on standard input.
fn run(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = program(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let feeder = std::thread::spawn(move || {
        // It may have heard enough before the end.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    output
}

fn out(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn err(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

/// Runs the program on a fixture by name; nothing may go wrong.
fn good(fixture_name: &str, arguments: &[&str]) -> String {
    let path = fixture(fixture_name);
    let output = program(arguments).arg(path).output().unwrap();
    assert_eq!((output.status.code(), err(&output)), (Some(0), ""), "{arguments:?}");
    out(&output).to_owned()
}

#[test]
fn a_file_alone_means_info() {
    assert_eq!(good("link-1", &[]), good("link-1", &["info"]));
    assert!(good("link-1", &[]).starts_with("2 channels, 1 link, 3.7500 µs\n"));
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
        let whole: Value =
            serde_json::from_str(&good("link-7", &[command, "--format", "json"])).unwrap();
        let lines = good("link-7", &[command, "--format", "jsonl"]);
        let rows: Vec<Value> =
            lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(rows.len() > 1, "{command}");
        assert_eq!(whole.get(name), Some(&Value::from(rows)), "{command}");
    }
}

#[test]
fn info_as_json_is_what_the_reference_says() {
    let found: Value =
        serde_json::from_str(&good("link-14", &["info", "--format", "json"])).unwrap();
    let path = fixture("link-14").with_file_name("info.json");
    let expected: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    // Members may be added, none may change.
    for (key, value) in expected.as_object().unwrap() {
        let mut found = found[key].clone();
        for row in found.as_array_mut().into_iter().flatten() {
            assert_eq!(row.as_object_mut().unwrap().remove("capture"), Some(Value::from(0)));
        }
        assert_eq!(found, *value, "{key}");
    }
}

#[test]
fn a_channel_a_window_and_a_limit_choose_rows() {
    let lines = |arguments: &[&str]| good("link-1", arguments).lines().count();
    assert_eq!(lines(&["packets", "--format", "jsonl"]), 9);
    assert_eq!(lines(&["packets", "--format", "jsonl", "--channel", "s1:1>h1:0"]), 3);
    assert_eq!(lines(&["packets", "--format", "jsonl", "--limit", "4"]), 4);
    assert_eq!(lines(&["packets", "--format", "jsonl", "--limit", "0"]), 0);
    // Packets of which a character lies in 46..=74 of their channels: 46..=54, 56..=69, 71..=75.
    let window = ["packets", "--format", "jsonl", "--from", "46ch", "--to", "75ch"];
    assert_eq!(lines(&window), 3);
    // The same in time: 46 × 12.5 ns and 75 × 12.5 ns.
    let window = ["packets", "--format", "jsonl", "--from", "0.575us", "--to", "937.5ns"];
    assert_eq!(lines(&window), 3);
    assert_eq!(lines(&["events", "--format", "jsonl", "--from", "44ch", "--to", "46ch"]), 3);
    // Characters 10..20 of each channel.
    let info = good("link-1", &["info", "--format", "json", "--from", "10ch", "--to", "20ch"]);
    let info: Value = serde_json::from_str(&info).unwrap();
    let counts = |key: &str| -> Vec<u64> {
        info["channels"].as_array().unwrap().iter().map(|c| c[key].as_u64().unwrap()).collect()
    };
    assert_eq!((counts("characters"), counts("first")), (vec![10, 10], vec![10, 10]));
    assert_eq!(counts("last"), [19, 19]);
}

#[test]
fn a_filter_chooses_rows_by_what_they_have() {
    let count = |arguments: &[&str]| good("link-1", arguments).lines().count();
    let filtered = |filter| count(&["packets", "--format", "jsonl", "--filter", filter]);
    assert_eq!(filtered("crc.bad"), 3);
    // What only the filter looks at is not printed.
    let row = good("link-1", &["packets", "--format", "jsonl", "--filter", "bytes[0:2] == ba:05"]);
    assert!(row.starts_with("{\"channel\":\"h1:0>s1:1\",\"packet\":0,") && !row.contains("bytes"));
    // Packets that begin in characters 46..75 of their channels, which are 575 ns to 937.5 ns.
    assert_eq!(filtered("start in 575ns..937.5ns"), filtered("start >= 46 && start < 75ch"));
    let two = ["packets", "--format", "jsonl", "--filter", "crc.bad", "--limit", "2"];
    assert_eq!(count(&two), 2);
    assert_eq!(count(&["events", "--format", "jsonl", "--filter", "event ~ \"*-reset\""]), 2);
    let stops = good("link-1", &["show", "--format", "jsonl", "--filter", "right contains STOP"]);
    assert!(stops.lines().count() > 0 && stops.lines().all(|line| line.contains("STOP")));
    let one = good("link-1", &["info", "--filter", "control.FRES > 0", "--fields", "name"]);
    assert_eq!(one, "name\ns1:1>h1:0\n");
}

#[test]
fn a_filtered_check_ends_by_what_is_left() {
    let check = |filter: &str| {
        let path = fixture("link-1");
        let output =
            program(&["check", "--fields", "finding", "--filter", filter]).arg(path).output();
        let output = output.unwrap();
        assert_eq!(err(&output), "");
        (output.status.code(), out(&output).lines().count())
    };
    let ((all, rows), (errors, fewer)) = (check("severity"), check("severity >= error"));
    assert_eq!((all, errors), (Some(1), Some(1)));
    assert!(fewer < rows && fewer > 1);
    assert_eq!(check("finding == deadlock").0, Some(0));
    assert_eq!(check("severity < warning").0, Some(0));
}

#[test]
fn fields_choose_what_is_printed_of_rows() {
    let rows = ["packets", "--fields", "tag, bytes,channel", "--limit", "1"];
    assert_eq!(good("link-1", &rows), "tag  bytes        channel\n  5  ba:05:d6     h1:0>s1:1\n");
    let rows = ["packets", "--fields", "tag,bytes", "--limit", "1", "--format", "json"];
    assert_eq!(good("link-1", &rows), "{\"packets\":[{\"tag\":5,\"bytes\":\"ba05d6\"}]}\n");
}

#[test]
fn fields_are_listed_without_a_capture() {
    let commands = ["info", "packets", "events", "show", "links", "journeys", "blocking", "check"];
    for command in commands.into_iter().chain(["conversations"]) {
        let output = run(&[command, "--list-fields"], b"");
        assert_eq!((output.status.code(), err(&output)), (Some(0), ""), "{command}");
        assert!(out(&output).lines().all(|line| line.chars().count() <= 120), "{command}");
    }
    let output = run(&["packets", "--list-fields", "--format", "json"], b"");
    let listed: Value = serde_json::from_str(out(&output)).unwrap();
    assert_eq!(listed["fields"][0]["name"], "channel");
}

#[test]
fn a_bad_filter_is_told_before_anything_is_read() {
    for arguments in [
        ["packets", "no-such-file", "--filter", "lenght > 5"],
        ["packets", "no-such-file", "--fields", "lenght"],
        ["show", "no-such-file", "--filter", "lfet ~ \"*\""],
        ["info", "no-such-file", "--filter", "nam == x"],
    ] {
        let output = run(&arguments, b"");
        assert_eq!((output.status.code(), out(&output)), (Some(2), ""), "{arguments:?}");
        let said = err(&output);
        assert!(said.contains("^") && said.contains("did you mean `"), "{said}");
    }
}

#[test]
fn hex_shows_the_bytes() {
    let rows = good("link-1", &["packets", "--hex", "--format", "jsonl", "--limit", "1"]);
    let row: Value = serde_json::from_str(&rows).unwrap();
    assert_eq!(row["bytes"], "ba05d6");
    assert!(good("link-1", &["packets", "--hex"]).lines().any(|line| line.trim() == "ba05d6"));
}

#[test]
fn show_puts_the_named_channel_on_the_left_and_keeps_to_80_columns() {
    let text = good("link-1", &["show", "--channel", "s1:1>h1:0"]);
    let head: Vec<&str> = text.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(head, ["character", "s1:1>h1:0", "│", "h1:0>s1:1"]);
    for name in ["link-1", "link-2", "link-7", "link-8", "link-11", "link-14"] {
        let text = good(name, &["show"]);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{name}");
    }
}

#[test]
fn waits_are_chosen_by_length_filter_and_number() {
    let lines = |options: &[&str]| {
        good("demo-ring", &[&["blocking", "--format", "jsonl"][..], options].concat())
    };
    let (all, long) = (lines(&[]), lines(&["--min", "1ms"]));
    assert_eq!((all.lines().count(), long.lines().count()), (4, 2));
    assert_eq!(long, lines(&["--filter", "timeout && root.out-of-sight"]));
    let text = good("demo-ring", &["blocking", "--limit", "0"]);
    assert!(text.contains("and 1 more tree"), "{text}");
    let columns = good("demo-ring", &["blocking", "--fields", "channel,periods", "--limit", "1"]);
    assert_eq!(columns.lines().count(), 2, "{columns}");
}

#[test]
fn networks_are_drawn_in_every_form() {
    let whole: Value =
        serde_json::from_str(&good("demo-now36", &["topology", "--format", "json"])).unwrap();
    let rows = good("demo-now36", &["topology", "--format", "jsonl"]);
    let kinds = ["nodes", "links", "passages", "remarks"];
    let all: usize = kinds.iter().map(|kind| whole[kind].as_array().unwrap().len()).sum();
    assert_eq!(rows.lines().count(), all);
    let dot = good("demo-now36", &["topology", "--format", "dot"]);
    assert!(dot.starts_with("graph myrinet {\n") && dot.ends_with("}\n"), "{dot}");
    assert!(good("demo-now36", &["topology"]).starts_with("2 switches, 2 hosts, 2 links\n"));
}

#[test]
fn colours_come_only_where_they_are_asked_for() {
    assert!(!good("link-1", &["packets"]).contains('\u{1b}'));
    let coloured = good("link-1", &["packets", "--color", "always"]);
    assert!(coloured.contains("\u{1b}["));
    let path = fixture("link-1");
    let output = program(&["packets", "--color", "auto"]).arg(path).env("NO_COLOR", "1").output();
    assert!(!out(&output.unwrap()).contains('\u{1b}'));
}

#[test]
fn compressed_captures_and_pipes_read_alike() {
    let plain = good("link-1", &["packets"]);
    assert_eq!(out(&run(&["packets", "-"], &link_1())), plain);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(&link_1()).unwrap();
    assert_eq!(out(&run(&["packets", "-"], &gzip.finish().unwrap())), plain);
}

#[test]
fn a_channel_of_any_section_can_be_named() {
    let both = [link_1(), fs::read(fixture("link-14")).unwrap()].concat();
    for command in ["info", "packets", "events", "show"] {
        for name in ["s1:1>h1:0", "s2:6>h4:0"] {
            let output = run(&[command, "-", "--channel", name, "--format", "jsonl"], &both);
            assert_eq!((output.status.code(), err(&output)), (Some(0), ""), "{command} {name}");
            assert!(out(&output).lines().count() >= 1, "{command} {name}");
        }
    }
}

#[test]
fn rows_of_two_captures_in_one_file_are_told_apart() {
    for demo in ["demo-cut", "demo-nacks", "demo-ring"] {
        let once = fs::read(fixture(demo)).unwrap();
        // A section header alone is no capture.
        let twice = [&once[..28], &once, &once].concat();
        for command in [
            &["info"][..],
            &["packets"],
            &["events"],
            &["show"],
            &["links"],
            &["links", "--intervals"],
            &["links", "--slack"],
            &["links", "--fill"],
            &["journeys"],
            &["conversations"],
            &["conversations", "--events"],
            &["blocking"],
            &["check"],
        ] {
            let jsonl = run(&[command, &["-", "--format", "jsonl"]].concat(), &twice);
            let rows = out(&jsonl).lines().filter(|row| !row.starts_with("{\"rule\""));
            let rows: Vec<&str> = rows.collect();
            let (first, second) =
                rows.iter().partition::<Vec<&str>, _>(|row| row.ends_with("\"capture\":0}"));
            assert_eq!(
                (first.len(), first.len() + second.len()),
                (second.len(), rows.len()),
                "{command:?}"
            );
            assert!(second.iter().all(|row| row.ends_with("\"capture\":1}")), "{command:?}");
            let text = run(&[command, &["-"]].concat(), &twice);
            assert!(rows.is_empty() || out(&text).contains("capture 1"), "{command:?}");
        }
    }
}

#[test]
fn an_opposite_that_is_not_shown_is_not_told_to_be_missing() {
    let text = good("link-1", &["links", "--channel", "h1:0>s1:1"]);
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
    let output = run(&["info", "-", "--format", "json"], &file);
    let info: Value = serde_json::from_str(out(&output)).unwrap();
    assert_eq!((output.status.code(), &info["skipped_interfaces"]), (Some(0), &Value::from(2)));
    assert_eq!(info["channels"].as_array().unwrap().len(), 1);
    assert!(out(&run(&["-"], &file)).contains("2 foreign interfaces skipped"));
}

#[test]
fn a_cut_file_gives_what_came_before_and_says_where() {
    let whole = link_1();
    let output = run(&["packets", "-", "--format", "jsonl"], &whole[..700]);
    assert_eq!(output.status.code(), Some(2));
    let lines = out(&output).lines().count();
    assert!(lines >= 5, "{}", out(&output));
    let message = err(&output);
    assert!(
        message.starts_with("myriscope: standard input: byte 520: block 5 (enhanced packet): ")
    );
    assert_eq!(message.lines().count(), 1);
    // The object is closed all the same.
    let output = run(&["packets", "-", "--format", "json"], &whole[..700]);
    assert!(serde_json::from_str::<Value>(out(&output)).unwrap()["packets"].is_array());
}

#[test]
fn what_is_no_capture_is_said_so() {
    let check = |arguments: &[&str], input: &[u8]| {
        let output = run(arguments, input);
        assert_eq!((output.status.code(), out(&output)), (Some(2), ""), "{arguments:?}");
        err(&output).to_owned()
    };
    assert_eq!(check(&["-"], b""), "myriscope: standard input: the file is empty\n");
    assert_eq!(
        check(&["-"], b"hello, world"),
        "myriscope: standard input: byte 0: not a pcapng or pcap file \
         (starts with 68 65 6c 6c 6f 2c 20 77)\n"
    );
    let directory = env!("CARGO_MANIFEST_DIR");
    assert_eq!(check(&[directory], b""), format!("myriscope: {directory}: is a directory\n"));
    let missing = check(&["nowhere.pcapng"], b"");
    assert!(missing.starts_with("myriscope: nowhere.pcapng: "), "{missing}");
}

#[test]
fn a_bad_command_line_is_explained() {
    for (arguments, word) in [
        (&["packets"][..], "FILE"),
        (&["packets", "x", "--from", "12"], "is no place"),
        (&["packets", "x", "--format", "xml"], "possible values"),
        (&["pakets", "x"], "a file alone means info"),
    ] {
        let output = run(arguments, b"");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(err(&output).contains(word), "{}", err(&output));
    }
    for command in ["info", "packets", "events", "show", "blocking"] {
        let output = run(&[command, "-", "--channel", "h9:0>s0:0"], &link_1());
        assert_eq!(output.status.code(), Some(2));
        let expected = "no channel \"h9:0>s0:0\": there are h1:0>s1:1, s1:1>h1:0\n";
        assert!(err(&output).ends_with(expected), "{command}: {}", err(&output));
    }
}

#[test]
fn a_closed_pipe_ends_quietly() {
    for command in ["packets", "events", "show"] {
        let path = fixture("link-7");
        let mut child = program(&[command, "--format", "jsonl"])
            .arg(path)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let status = child.wait().unwrap();
        let mut message = String::new();
        child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
        assert_eq!((status.code(), message.as_str()), (Some(0), ""), "{command}");
    }
}

#[test]
fn completions_and_manual_pages_name_every_command() {
    let script = run(&["completions", "bash"], b"");
    let commands = ["info", "packets", "events", "show", "simulate", "demo", "two-hosts"];
    assert!(commands.iter().all(|command| out(&script).contains(command)));
    let directory = std::env::temp_dir().join(format!("myriscope-man-{}", std::process::id()));
    let output = run(&["man", directory.to_str().unwrap()], b"");
    assert_eq!((output.status.code(), err(&output)), (Some(0), ""));
    assert!(directory.join("myriscope-packets.1").exists());
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn links_are_added_up_or_listed_as_intervals() {
    let text = good("link-1", &["links"]);
    assert!(text.starts_with("2 channels, 1 link, 3.7500 µs\n") && text.contains("h1:0 ⇄ s1:1"));
    let count = |arguments: &[&str]| good("link-1", arguments).lines().count();
    assert_eq!(count(&["links", "--format", "jsonl"]), 2);
    assert_eq!(count(&["links", "--format", "jsonl", "--channel", "s1:1>h1:0"]), 1);
    assert_eq!(count(&["links", "--format", "jsonl", "--limit", "1"]), 1);
    assert_eq!(count(&["links", "--format", "jsonl", "--filter", "states.reset.share > 0.5"]), 1);
    let stopped = ["links", "--intervals", "--format", "jsonl", "--filter", "state.stopped"];
    assert_eq!(count(&stopped), 2);
    // Characters 45..=163 of h1:0>s1:1 are one interval, in which the other channel has others.
    let window = ["links", "--intervals", "--format", "jsonl", "--from", "50ch", "--to", "60ch"];
    let own = [&window[..], &["--channel", "h1:0>s1:1"]].concat();
    assert_eq!(
        good("link-1", &own),
        "{\"channel\":\"h1:0>s1:1\",\"start\":45,\"end\":163,\"periods\":119,\"state\":\"stopped\",\"capture\":0}\n"
    );
    let path = fixture("link-1");
    let refused = program(&["links", "--from", "50ch"]).arg(path).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let choose = "--from and --to choose among intervals and fills: add --intervals or --fill\n";
    assert!(err(&refused).ends_with(choose), "{}", err(&refused));
}

/// The lines of `docs/output.md`, and what is assumed instead of what the capture says.
#[test]
fn slack_buffers_are_summed_up_or_bounded_at_every_moment() {
    let page = include_str!("../../docs/output.md").replace("},\n\"sources", "},\"sources");
    let page = page.replace("},\n\"cells", "},\"cells");
    let slack = good("demo-slack", &["links", "--slack", "--format", "jsonl", "--limit", "1"]);
    assert!(page.contains(&slack), "{slack}");
    let fills = ["links", "--fill", "--format", "jsonl", "--limit", "7"];
    let fills = good("demo-adversary", &fills);
    let fourth = fills.match_indices('\n').nth(2).unwrap().0 + 1;
    assert!(page.contains(&fills[fourth..]), "{fills}");
    let text = good("demo-slack", &["links", "--slack", "--assume", "kg=20,delay=40"]);
    let first =
        "buffers of 68 cells, kg=20 delay=40 as given, h=16 ks=32 gen=2 int=2 from the capture";
    assert_eq!(text.lines().nth(2), Some(first));
    assert!(text.contains("after 3 STOPs data came too late, by 10 characters at most"));
    let refused = run(&["links", "--slack", "--assume", "kx=3"], b"");
    assert_eq!(refused.status.code(), Some(2));
    assert!(err(&refused).contains("`kx` is not known (what is: kg, h, ks, delay, gen, int, "));
}

/// A directory of a test's own.
fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&path).unwrap();
    path
}

#[test]
fn an_annotated_capture_has_the_same_characters_and_comments_beside_them() {
    let directory = directory("annotate");
    for name in ["link-1", "link-14", "demo-slack"] {
        let copy = directory.join(name);
        let path = fixture(name);
        let done = program(&["annotate", "-o"]).arg(&copy).arg(&path).output().unwrap();
        assert_eq!((done.status.code(), err(&done)), (Some(0), ""), "{name}");
        assert!(out(&done).ends_with(" comments written\n"), "{}", out(&done));
        let shown = |file: &Path| program(&["show"]).arg(file).output().unwrap().stdout;
        assert_eq!(shown(&path), shown(&copy), "{name}");
        let text = String::from_utf8_lossy(&fs::read(&copy).unwrap()).into_owned();
        assert!(text.contains("myriscope warning "), "{name}");
        // Once more adds nothing; and compressed it is the same.
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(&fs::read(&copy).unwrap()).unwrap();
        let packed = directory.join("packed");
        fs::write(&packed, gzip.finish().unwrap()).unwrap();
        let again = directory.join("again");
        program(&["annotate", "-o"]).arg(&again).arg(&packed).output().unwrap();
        assert_eq!(fs::read(&copy).unwrap(), fs::read(&again).unwrap(), "{name}");
    }
}

#[test]
fn of_a_capture_that_cannot_be_annotated_no_copy_is_left() {
    let directory = directory("annotate-damaged");
    let (damaged, copy) = (directory.join("damaged"), directory.join("copy"));
    fs::write(&damaged, &link_1()[..1000]).unwrap();
    let done = program(&["annotate", "-o"]).arg(&copy).arg(&damaged).output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    assert!(err(&done).contains("byte ") && !copy.exists(), "{}", err(&done));
    let piped = run(&["annotate", "-", "-o", "x"], &link_1());
    assert_eq!(piped.status.code(), Some(2));
    assert!(err(&piped).contains("is read twice to be annotated: name a file"));
}

#[test]
fn a_simulated_capture_scores_and_another_s_truth_does_not() {
    let directory = directory("score");
    let file = |name: &str| directory.join(name);
    for demo in ["two-hosts", "slack"] {
        let done = program(&["demo", demo, "-o"])
            .arg(file(demo))
            .arg("--truth")
            .arg(file(&format!("{demo}.jsonl")))
            .output()
            .unwrap();
        assert_eq!(done.status.code(), Some(0));
    }
    let score = |capture: &str, truth: &str| {
        program(&["score", "--format", "json"])
            .arg(file(capture))
            .arg(file(truth))
            .output()
            .unwrap()
    };
    let right = score("slack", "slack.jsonl");
    assert_eq!((right.status.code(), err(&right)), (Some(0), ""), "{}", out(&right));
    let json: Value = serde_json::from_str(out(&right)).unwrap();
    assert_eq!(json["scores"][0]["kind"], "packet");
    assert_eq!(json["scores"][0]["recall"], 1.0);
    let text = program(&["score"]).arg(file("slack")).arg(file("slack.jsonl")).output().unwrap();
    let first = out(&text).lines().next().unwrap_or_default();
    let words: Vec<&str> = first.split_whitespace().collect();
    assert_eq!(words.join(" "), "kind in truth found right precision recall remark");
    assert!(out(&text).contains("1.0000"), "{}", out(&text));
    let wrong = score("slack", "two-hosts.jsonl");
    assert_eq!(wrong.status.code(), Some(1), "{}", out(&wrong));
    fs::write(file("bad.jsonl"), "{\"at\":1}\n").unwrap();
    let bad = score("slack", "bad.jsonl");
    assert_eq!(bad.status.code(), Some(2));
    assert!(err(&bad).contains("bad.jsonl: line 1: is no row of a truth: missing field"));
}
