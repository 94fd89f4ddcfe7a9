//! `simulate` and `demo`.

use std::collections::BTreeMap;
use std::fs;
use std::sync::LazyLock;

use serde_json::Value;

use crate::support::{ScratchDirectory, bad, fixture, good, json, json_lines, refused, run};

/// Output and capture of each demo. Each is run once: the ring is simulated for 54 ms.
pub(crate) static DEMOS: LazyLock<BTreeMap<String, (String, Vec<u8>)>> = LazyLock::new(|| {
    let directory = ScratchDirectory::new("demos");
    let list = good(&["demo"]);
    let names = list.lines().map(|line| line.split(' ').next().unwrap().to_owned());
    let demo = |name: String| {
        let text = good(&["demo", &name, "-o", &directory.file(&name)]);
        let capture = directory.read(&name);
        (name, (text, capture))
    };
    names.map(demo).collect()
});

fn cut_capture() -> Vec<u8> {
    fs::read(fixture("demo-cut/capture.pcapng")).unwrap()
}

/// To regenerate the captures: `myriscope demo NAME -o fixtures/demo-NAME/capture.pcapng`.
#[test]
fn every_demo_reproduces_its_fixture_and_describes_itself() {
    let list = good(&["demo"]);
    assert_eq!((DEMOS.len(), good(&["demo", "--list"])), (24, list.clone()));
    for (demo, (text, capture)) in &*DEMOS {
        let expected = fs::read(fixture(&format!("demo-{demo}/capture.pcapng"))).unwrap();
        assert!(expected.len() < 200_000, "{demo}: {} bytes", expected.len());
        assert!(*capture == expected, "{demo}: another capture");
        assert!(list.contains(text.lines().next().unwrap()), "{demo}");
        assert!(text.lines().all(|line| line.chars().count() <= 95), "{demo}:\n{text}");
        let scenario = fs::read_to_string(fixture(&format!("demo-{demo}/scenario.toml"))).unwrap();
        assert_eq!(good(&["demo", demo, "--scenario"]), scenario);
    }
}

/// S-8. To regenerate the capture: `myriscope simulate scenario.toml -o answer.pcapng` in that directory.
#[test]
fn a_computer_in_a_switch_tells_the_state_of_its_ports() {
    let directory = ScratchDirectory::new("switch-computer");
    let capture = directory.file("answer.pcapng");
    good(&["simulate", &fixture("switch-computer/scenario.toml"), "-o", &capture]);
    let expected = fs::read(fixture("switch-computer/answer.pcapng")).unwrap();
    assert!(directory.read("answer.pcapng") == expected);
    let filter = "switch.ports.stopped > 900000";
    let row = json(&good(&["packets", &capture, "--filter", filter, "--format", "jsonl"]));
    assert_eq!(row["switch"][0]["ports"][0]["drops"], 1);
    let text = good(&["packets", &capture]);
    for shown in [
        "ff 80 switch\n",
        " switch node 0: 5 ports absolute from 0, port 0: 0.0 % data 0.0 % STOP 1 dropped, \
         port 1: 98.8 % data 0.0 % STOP 0 dropped, port 2: 1.9 % data 96.9 % STOP 0 dropped\n",
        "80 switch malformed: byte 0: identity of a switch is cut short\n",
    ] {
        assert!(text.contains(shown), "{text}");
    }
}

#[test]
fn the_demos_measure_the_published_numbers() {
    for line in include_str!("published.txt").lines().filter(|line| !line.starts_with('#')) {
        let (demo, expected) = line.split_once(" =>").unwrap();
        let lines = DEMOS[demo].0.lines().skip_while(|line| !line.contains(" published ")).skip(1);
        let lines = lines.take_while(|line| !line.is_empty());
        let mut lines =
            lines.map(|line| format!(" {}", line.split_whitespace().collect::<Vec<_>>().join(" ")));
        assert!(lines.any(|line| line.contains(expected)), "{demo}: {expected}");
    }
}

#[test]
fn the_truth_has_a_row_for_each_event_in_order_of_time() {
    let directory = ScratchDirectory::new("truth");
    good(&["demo", "cut", "-o", &directory.file("c"), "--truth", &directory.file("t")]);
    let rows = json_lines(&directory.text("t"));
    assert!(rows.windows(2).all(|two| two[0]["at"].as_u64() <= two[1]["at"].as_u64()));
    let count = |event: &str| rows.iter().filter(|row| row["event"] == event).count();
    assert_eq!((count("injected"), count("consumed"), count("dropped")), (4, 3, 1));
    assert_eq!(directory.names(), ["c", "t"]);
}

#[test]
fn the_capture_depends_on_the_seed_alone() {
    let directory = ScratchDirectory::new("seed");
    let scenario = fixture("demo-now36/scenario.toml");
    let capture = |seed: &str| {
        good(&["simulate", &scenario, "-o", &directory.file("c"), "--seed", seed]);
        directory.read("c")
    };
    let two = capture("2");
    assert!(two == capture("2") && two != capture("3"));
    assert!(capture("1") == fs::read(fixture("demo-now36/capture.pcapng")).unwrap());
}

#[test]
fn a_capture_on_standard_output_is_the_same_and_stands_alone() {
    let scenario = fixture("demo-cut/scenario.toml");
    assert!(run(&["simulate", &scenario, "-o", "-"]).bytes == cut_capture());
    assert!(run(&["demo", "cut", "-o", "-"]).bytes == cut_capture());
}

#[test]
fn statistics_count_packets_by_outcome() {
    let directory = ScratchDirectory::new("stats");
    let scenario = fixture("demo-cut/scenario.toml");
    let text = good(&["simulate", &scenario, "-o", &directory.file("c"), "--stats"]);
    assert!(text.starts_with("60.0000 µs, 4 packets: 2 delivered, 1 corrupt, 1 dropped\n"));
    // 400 bytes in each; 800 · 640 Mb/s / 4800.
    assert!(text.contains("payload delivered: 800 bytes, 106.6 Mb/s\n"), "{text}");
    assert!(text.contains("         1  S-1  "), "{text}");
    assert!(!text.contains('\u{1b}'));
    for (demo, coloured) in [
        ("lossy", "       40         0     0  "),
        ("unreachable", "        4  \u{1b}[1m\u{1b}[31m       4\u{1b}[0m     0  "),
    ] {
        let text = good(&["demo", demo, "--color", "always"]);
        assert!(text.contains(coloured), "{text}");
    }
    // F-3: a channel fills the buffer behind it, of 32 + 16 + 32 cells and of 32 + 16 + 40.
    let pair = "duration_us = 9\nhost = [{ name = 'h0' }, { name = 'h1' }]\n\
                [[cable]]\nends = ['h0:0', 'h1:0']\nb = { stop_slack = 40 }\n";
    let text = good(&["simulate", &directory.write("pair.toml", pair.as_bytes()), "--stats"]);
    for (channel, cells) in [("h0:0>h1:0", " of 88 "), ("h1:0>h0:0", " of 80 ")] {
        assert!(text.lines().any(|it| it.starts_with(channel) && it.contains(cells)), "{text}");
    }
    let text = good(&["simulate", &fixture("demo-now36/scenario.toml"), "--stats", "--all"]);
    assert!(!text.contains("less busy") && text.contains("\nh35 "), "{text}");
}

#[test]
fn an_invalid_scenario_is_shown_with_its_line_and_nothing_is_written() {
    let directory = ScratchDirectory::new("wrong");
    let (scenario, capture) = (directory.file("net.toml"), directory.file("c"));
    let check = |text: &[u8]| {
        directory.write("net.toml", text);
        let said = bad(&["simulate", &scenario, "-o", &capture, "--truth", &directory.file("t")]);
        assert_eq!(directory.names(), ["net.toml"]);
        said.replace(&scenario, "net.toml")
    };
    insta::assert_snapshot!(check(b"seed = 7\nduration_us = 5\n[link]\nlenght_m = 25\n"));
    assert_eq!(check(b""), "myriscope: net.toml: the file is empty\n");
    assert!(check(b"\n").contains("`duration_us`"));
    assert!(check(b"duration_us = 99999999999999999999").contains("net.toml:1:15"));
    assert_eq!(check(b"\xff\xfe"), "myriscope: net.toml: byte 0: ff is not valid UTF-8\n");
    let long = check(&[b'#'; (1 << 20) + 1]);
    assert_eq!(long, "myriscope: net.toml: scenario exceeds 1048576 bytes\n");
    let missing = directory.file("missing.toml");
    assert!(bad(&["simulate", &missing, "-o", &capture]).starts_with("myriscope: "));
    refused(&["simulate", &directory.file(""), "-o", &capture], "directory");
    directory.write("net.toml", b"duration_us = 5\n");
    let untapped = "net.toml: the scenario has no [[tap]] to capture: add one";
    refused(&["simulate", &scenario, "-o", &capture], untapped);
    assert_eq!(directory.names(), ["net.toml"]);
}

#[test]
fn a_run_that_fails_leaves_existing_files_alone() {
    let directory = ScratchDirectory::new("fails");
    let (capture, truth) = (directory.write("c", b"precious"), directory.file("t"));
    for (capture, truth) in [(capture.as_str(), "/dev/full"), ("/dev/full", truth.as_str())] {
        let error = bad(&["demo", "cut", "-o", capture, "--truth", truth]);
        assert!(error.starts_with("myriscope: /dev/full: No space left on device"), "{error}");
        assert_eq!(directory.names(), ["c"]);
        assert_eq!(directory.read("c"), b"precious");
    }
    let nowhere = directory.file("no/c");
    refused(&["demo", "cut", "-o", &nowhere], "No such file or directory");
    refused(&["demo", "cut", "-o", &directory.file("")], "directory");
    good(&["demo", "cut", "-o", &capture, "--truth", "/dev/null"]);
    assert!(directory.read("c") == cut_capture());
    let text = fs::read(fixture("demo-cut/scenario.toml")).unwrap();
    let scenario = directory.write("net.toml", &text);
    refused(&["simulate", &scenario, "-o", &scenario], "the scenario would be overwritten\n");
    assert_eq!(directory.read("net.toml"), text);
}

#[cfg(unix)]
#[test]
fn a_replaced_file_keeps_its_permissions_and_its_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let directory = ScratchDirectory::new("replaced");
    let (file, link) = (directory.write("c", b"old"), directory.file("link"));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    symlink(&file, &link).unwrap();
    good(&["demo", "cut", "-o", &link]);
    assert!(directory.read("c") == cut_capture());
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(directory.names(), ["c", "link"]);
}

#[test]
fn numbers_need_neither_a_capture_nor_a_tap() {
    let directory = ScratchDirectory::new("numbers");
    let scenario = fs::read_to_string(fixture("demo-nacks/scenario.toml")).unwrap();
    let untapped = scenario.split("[[tap]]").next().unwrap();
    let path = directory.write("net.toml", untapped.as_bytes());
    let file = directory.file("stats.json");
    good(&["simulate", &path, "--stats", "--stats-out", &file]);
    let printed = good(&["simulate", &path, "--stats-out", "-"]);
    assert!(directory.read("stats.json") == printed.as_bytes());
    let all = json(&printed);
    let documented = fs::read_to_string(fixture("../docs/output.md")).unwrap();
    let [host, channel, endpoint] = ["hosts", "channels", "endpoints"].map(|list| &all[list][0]);
    for object in [&all, &all["packets"], host, &host["messaging"], channel, endpoint] {
        for member in object.as_object().unwrap().keys() {
            assert!(documented.contains(&format!("`{member}`")), "{member}");
        }
    }
    assert_eq!(all["simulated_ps"], all["duration_ps"]);
    let sum = |list: &str, key: &str| -> u64 {
        all[list].as_array().unwrap().iter().map(|row| row[key].as_u64().unwrap()).sum()
    };
    assert_eq!(sum("hosts", "injected"), all["packets"]["injected"].as_u64().unwrap());
    assert!(sum("endpoints", "completed") > 0 && sum("channels", "data") > 0);
    // Each latency is of the same packets, and the packet latency is the sum of two.
    let mean = |kind: &str| all["latencies"][kind]["mean_ps"].as_u64().unwrap();
    assert!((mean("queue") + mean("transfer")).abs_diff(mean("packet")) <= 1);
    assert!(mean("network") < mean("transfer"));
    for (kind, histogram) in all["latencies"].as_object().unwrap() {
        assert_eq!(histogram["count"], all["packets"]["handling"]["delivered"], "{kind}");
        let buckets = histogram["buckets"].as_array().unwrap().iter();
        let count: u64 = buckets.map(|bucket| bucket["count"].as_u64().unwrap()).sum();
        assert_eq!(histogram["count"], count, "{kind}");
    }
    let lines = good(&["simulate", &path, "--stats"]);
    assert!(lines.lines().all(|line| line.chars().count() <= 80), "{lines}");
}

#[test]
fn truth_has_the_chosen_kinds_only() {
    let scenario = fixture("demo-cut/scenario.toml");
    let truth = |kinds: &[&str]| {
        let text = good(&[&["simulate", &scenario, "--truth", "-"], kinds].concat());
        let event = |row: &Value| row["event"].as_str().unwrap().to_owned();
        json_lines(&text).iter().map(event).collect::<Vec<String>>()
    };
    let all = truth(&[]);
    let is_packet = |event: &&String| ["injected", "consumed"].contains(&event.as_str());
    let packets: Vec<String> = all.iter().filter(is_packet).cloned().collect();
    assert_eq!(truth(&["--truth-kinds", "consumed,injected"]), packets);
    let mut others = all;
    others.retain(|event| event != "fill" && event != "sent");
    assert_eq!(truth(&["--truth-kinds", "!fill,!sent"]), others);
    assert_eq!(truth(&["--truth-kinds", "!fill,consumed,injected,fill"]), packets);
}

#[test]
fn a_key_on_the_command_line_takes_the_place_of_the_file_s() {
    let scenario = fixture("demo-cut/scenario.toml");
    let statistics =
        |set: &[&str]| json(&good(&[&["simulate", &scenario, "--stats-out", "-"], set].concat()));
    let short = statistics(&["--set", "duration_us=30", "--set", "seed=9"]);
    assert_eq!((&short["duration_ps"], &short["seed"]), (&30_000_000.into(), &9.into()));
    assert_eq!(statistics(&["--set", "seed=9", "--seed", "4"])["seed"], 4);
}
