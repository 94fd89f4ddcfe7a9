//! Simulations as a person or a script runs them.

#![expect(clippy::unwrap_used, reason = "a test runs programs, and stops if it cannot go on")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use serde_json::Value;

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_myriscope"));
    command.args(arguments).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command
}

fn run(arguments: &[&str]) -> Output {
    program(arguments).stdin(Stdio::null()).output().unwrap()
}

/// What is printed; nothing may go wrong.
fn good(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!((output.status.code(), err(&output)), (Some(0), ""), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// What is said to be wrong; nothing may be printed.
fn bad(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments:?}");
    err(&output).to_owned()
}

fn err(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

fn fixture(demo: &str, file: &str) -> PathBuf {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    fixtures.join(format!("demo-{demo}")).join(file)
}

/// A directory of its own, removed at the end.
struct ScratchDirectory(PathBuf);

impl ScratchDirectory {
    fn new(name: &str) -> Self {
        let name = format!("myriscope-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

impl Drop for ScratchDirectory {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

/// What each demo prints, and its capture. Each is run once: the ring is simulated for 54 ms.
static DEMOS: LazyLock<BTreeMap<String, (String, Vec<u8>)>> = LazyLock::new(|| {
    let directory = ScratchDirectory::new("demos");
    let list = good(&["demo"]);
    let names = list.lines().map(|line| line.split(' ').next().unwrap().to_owned());
    let demo = |name: String| {
        let file = directory.file(&name);
        let text = good(&["demo", &name, "-o", &file]);
        (name, (text, fs::read(file).unwrap()))
    };
    names.map(demo).collect()
});

/// To make the captures anew: `myriscope demo NAME -o fixtures/demo-NAME/capture.pcapng`.
#[test]
fn every_demo_yields_its_capture_byte_for_byte() {
    assert_eq!((DEMOS.len(), good(&["demo", "--list"])), (14, good(&["demo"])));
    for (demo, (_, capture)) in &*DEMOS {
        let expected = fs::read(fixture(demo, "capture.pcapng")).unwrap();
        assert!(expected.len() < 200_000, "{demo}: {} bytes", expected.len());
        assert!(*capture == expected, "{demo}: another capture");
    }
}

#[test]
fn every_demo_says_what_it_shows() {
    for (demo, (text, _)) in &*DEMOS {
        let title = text.lines().next().unwrap();
        assert!(good(&["demo"]).contains(title), "{demo}");
        assert!(text.lines().all(|line| line.chars().count() <= 95), "{demo}:\n{text}");
        let scenario = fs::read_to_string(fixture(demo, "scenario.toml")).unwrap();
        assert_eq!(good(&["demo", demo, "--scenario"]), scenario);
    }
}

#[test]
fn the_demos_measure_what_is_published() {
    let figures = |demo: &str| -> Vec<String> {
        let lines = DEMOS[demo].0.lines().skip_while(|line| !line.starts_with("figure")).skip(1);
        let lines = lines.take_while(|line| !line.is_empty());
        lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    };
    // S-6: 44 periods.
    assert!(figures("two-hosts")[0].ends_with(" 0.55 µs 0.5500 µs"));
    // S-5: in turn, so that no two differ by more than one packet.
    assert!(figures("contention")[0].ends_with(" equal 25, 24, 24"));
    // 2^22.
    assert!(figures("ring")[0].ends_with(" 4194304 4194304"));
    assert!(figures("cut")[0].ends_with(" 16 16"));
    // F-4: 2 · 45 periods of cable and 2 + 2 of latency.
    assert!(figures("slack")[0].ends_with(" 94 32"));
    let adversary = figures("adversary");
    assert!(adversary.iter().all(|line| line.contains(" about 6 % 5.8")), "{adversary:?}");
}

#[test]
fn the_truth_has_a_row_for_each_thing_in_order_of_time() {
    let directory = ScratchDirectory::new("truth");
    let (capture, truth) = (directory.file("c"), directory.file("t"));
    good(&["demo", "cut", "-o", &capture, "--truth", &truth]);
    let rows: Vec<Value> = fs::read_to_string(truth)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(rows.windows(2).all(|two| two[0]["at"].as_u64() <= two[1]["at"].as_u64()));
    let count = |event: &str| rows.iter().filter(|row| row["event"] == event).count();
    assert_eq!((count("injected"), count("consumed"), count("dropped")), (4, 3, 1));
    assert_eq!(directory.names(), ["c", "t"]);
}

#[test]
fn another_seed_gives_another_capture_and_the_same_seed_the_same() {
    let directory = ScratchDirectory::new("seed");
    let scenario = fixture("now36", "scenario.toml");
    let capture = |seed: &str, file: &str| {
        let file = directory.file(file);
        good(&["simulate", scenario.to_str().unwrap(), "-o", &file, "--seed", seed]);
        fs::read(file).unwrap()
    };
    let two = capture("2", "a");
    assert!(two == capture("2", "b"));
    assert!(two != capture("3", "c"));
    assert!(capture("1", "d") == fs::read(fixture("now36", "capture.pcapng")).unwrap());
}

#[test]
fn a_capture_on_standard_output_is_the_same_and_stands_alone() {
    let expected = fs::read(fixture("cut", "capture.pcapng")).unwrap();
    let scenario = fixture("cut", "scenario.toml");
    let simulated = run(&["simulate", scenario.to_str().unwrap(), "-o", "-"]);
    assert!(simulated.stdout == expected);
    assert!(run(&["demo", "cut", "-o", "-"]).stdout == expected);
}

#[test]
fn statistics_say_what_became_of_the_packets() {
    let directory = ScratchDirectory::new("stats");
    let scenario = fixture("cut", "scenario.toml");
    let file = directory.file("c");
    let text = good(&["simulate", scenario.to_str().unwrap(), "-o", &file, "--stats"]);
    assert!(text.starts_with("60.0000 µs, 4 packets: 2 delivered, 1 corrupt, 1 dropped\n"));
    // 400 bytes in each; 800 · 640 Mb/s / 4800.
    assert!(text.contains("payload delivered: 800 bytes, 106.6 Mb/s\n"), "{text}");
    assert!(text.contains("         1  S-1  "), "{text}");
    assert!(!text.contains('\u{1b}'));
    let coloured = ["demo", "cut", "--color", "always"];
    assert!(good(&coloured).contains('\u{1b}'));
}

#[test]
fn a_large_network_shows_its_busiest_channels() {
    let (text, _) = &DEMOS["now36"];
    assert!(text.contains("and 20 less busy hosts\n"), "{text}");
    assert!(text.contains("and 112 less busy channels\n"), "{text}");
}

#[test]
fn what_is_wrong_with_a_scenario_is_shown_with_its_line_and_nothing_is_written() {
    let directory = ScratchDirectory::new("wrong");
    let (scenario, capture) = (directory.file("net.toml"), directory.file("c"));
    let check = |text: &[u8]| {
        fs::write(&scenario, text).unwrap();
        let said = bad(&["simulate", &scenario, "-o", &capture, "--truth", &directory.file("t")]);
        assert_eq!(directory.names(), ["net.toml"]);
        said.replace(&scenario, "net.toml")
    };
    assert_eq!(
        check(b"seed = 7\nduration_us = 5\n[link]\nlenght_m = 25\n"),
        "\
error: unknown key `lenght_m` in [link]
 --> net.toml:4:1
  |
4 | lenght_m = 25
  | ^^^^^^^^ expected `blocked_us`, `delay_us`, `fill`, `framing`, `generation_periods`, \
`go_slack`, `hysteresis`, `interpretation_periods`, `length_m`, `rate_divisor`, `replies`, `reset`, \
`stop_slack` or `symbols`
  |
  = help: did you mean `length_m`?
"
    );
    assert!(check(b"").contains("`duration_us`"));
    assert!(check(b"duration_us = 99999999999999999999").contains("net.toml:1:15"));
    assert_eq!(check(b"\xff\xfe"), "myriscope: net.toml: byte 0: ff is no text (UTF-8)\n");
    let long = check(&[b'#'; (1 << 20) + 1]);
    assert_eq!(long, "myriscope: net.toml: more than 1048576 bytes: no scenario has so many\n");
    let missing = directory.file("missing.toml");
    assert!(bad(&["simulate", &missing, "-o", &capture]).starts_with("myriscope: "));
    assert!(bad(&["simulate", &directory.file(""), "-o", &capture]).contains("directory"));
    fs::write(&scenario, "duration_us = 5\n").unwrap();
    let untapped = bad(&["simulate", &scenario, "-o", &capture]);
    assert!(untapped.ends_with("no [[tap]] says what is to be captured\n"), "{untapped}");
    assert_eq!(directory.names(), ["net.toml"]);
}

#[test]
fn a_run_that_fails_leaves_what_was_there() {
    let directory = ScratchDirectory::new("fails");
    let (capture, truth) = (directory.file("c"), directory.file("t"));
    fs::write(&capture, "precious").unwrap();
    let said = bad(&["demo", "cut", "-o", &capture, "--truth", "/dev/full"]);
    assert!(said.starts_with("myriscope: /dev/full: No space left on device"), "{said}");
    assert_eq!(
        (directory.names(), fs::read(&capture).unwrap()),
        (vec!["c".to_owned()], b"precious".to_vec())
    );
    let said = bad(&["demo", "cut", "-o", "/dev/full", "--truth", &truth]);
    assert!(said.starts_with("myriscope: /dev/full: No space left on device"), "{said}");
    assert_eq!(directory.names(), ["c"]);
    let nowhere = directory.file("no/c");
    assert!(bad(&["demo", "cut", "-o", &nowhere]).contains("No such file or directory"));
    assert!(bad(&["demo", "cut", "-o", &directory.file("")]).contains("directory"));
    good(&["demo", "cut", "-o", &capture, "--truth", "/dev/null"]);
    assert!(fs::read(&capture).unwrap() == fs::read(fixture("cut", "capture.pcapng")).unwrap());
}

#[cfg(unix)]
#[test]
fn what_a_file_allows_and_where_it_is_stay_as_they_were() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let directory = ScratchDirectory::new("replaced");
    let (file, link) = (directory.file("c"), directory.file("link"));
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    symlink(&file, &link).unwrap();
    good(&["demo", "cut", "-o", &link]);
    assert!(fs::read(&file).unwrap() == fs::read(fixture("cut", "capture.pcapng")).unwrap());
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(directory.names(), ["c", "link"]);
}

#[test]
fn two_things_are_not_written_to_one_place() {
    let directory = ScratchDirectory::new("twice");
    let (scenario, file) = (directory.file("net.toml"), directory.file("c"));
    fs::copy(fixture("cut", "scenario.toml"), &scenario).unwrap();
    let two = "two things would be written there\n";
    for arguments in [
        &["simulate", &scenario, "-o", &file, "--truth", &file][..],
        &["simulate", &scenario, "-o", "-", "--truth", "-"],
        &["simulate", &scenario, "-o", "-", "--stats"],
    ] {
        assert!(bad(arguments).ends_with(two), "{arguments:?}");
    }
    let said = bad(&["simulate", &scenario, "-o", &scenario]);
    assert!(said.ends_with("the scenario would be overwritten\n"), "{said}");
    assert_eq!(directory.names(), ["net.toml"]);
}

#[test]
fn a_closed_pipe_is_told_where_the_capture_goes_and_quiet_where_text_does() {
    for (arguments, status) in [(&["demo", "now36"][..], 0), (&["demo", "now36", "-o", "-"], 2)] {
        let mut child =
            program(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(status), "{arguments:?}");
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        let told = said.starts_with("myriscope: standard output: Broken pipe");
        assert_eq!((told, said.is_empty()), (status == 2, status == 0), "{said}");
    }
}

#[test]
fn an_unknown_demo_is_told_the_names() {
    let said = bad(&["demo", "rings"]);
    assert!(said.contains("ring") && said.contains("two-hosts"), "{said}");
}
