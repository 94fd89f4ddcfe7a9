//! Input that arrives slowly or grows, and Ctrl-C.

use std::fs::{self, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use super::support::{ScratchDirectory, capture_bytes, fixture, good, program};

/// A time after which a line that does not come is missing.
const LONG: Duration = Duration::from_secs(120);

/// The program at work, and the lines that it prints.
struct RunningProgram {
    child: Child,
    lines: Receiver<String>,
}

impl RunningProgram {
    fn start(arguments: &[&str]) -> Self {
        let mut command = program(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Self { child, lines }
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(LONG).unwrap()
    }

    /// Presses Ctrl-C.
    fn interrupt(&self) {
        let kill = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status();
        assert!(kill.unwrap().success());
    }

    /// Status, remaining lines and error messages.
    fn end(self) -> (Option<i32>, Vec<String>, String) {
        let output = self.child.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), self.lines.iter().collect(), err)
    }
}

/// A capture in two pieces; most of its packets are in the first.
fn pieces() -> (Vec<u8>, Vec<u8>) {
    let mut bytes = capture_bytes("demo-lossy");
    let rest = bytes.split_off(bytes.len() * 3 / 4);
    (bytes, rest)
}

#[test]
fn rows_are_printed_before_more_input_is_waited_for() {
    for command in [
        &["packets"][..],
        &["events"],
        &["show"],
        &["journeys"],
        &["conversations", "--events"],
        &["links", "--intervals"],
        &["log"],
    ] {
        let mut program = RunningProgram::start(&[command, &["-", "--format", "jsonl"]].concat());
        let mut stdin = program.child.stdin.take().unwrap();
        let (first, rest) = pieces();
        stdin.write_all(&first).unwrap();
        for _ in 0..50 {
            program.line();
        }
        stdin.write_all(&rest).unwrap();
        drop(stdin);
        let (status, lines, err) = program.end();
        assert_eq!((status, err.as_str()), (Some(0), ""), "{command:?}");
        assert!(!lines.is_empty(), "{command:?}");
    }
}

#[test]
fn a_growing_file_is_followed_until_ctrl_c() {
    let directory = ScratchDirectory::new("follow");
    let (first, rest) = pieces();
    let path = directory.write("growing.pcapng", &first);
    let count = good(&["packets", &fixture("demo-lossy/capture.pcapng")]).lines().count();
    let program = RunningProgram::start(&["packets", "-f", &path]);
    (0..100).for_each(|_| _ = program.line());
    OpenOptions::new().append(true).open(&path).unwrap().write_all(&rest).unwrap();
    // The last packets of the file end with the capture, and so are printed after Ctrl-C.
    (100..count - 4).for_each(|_| _ = program.line());
    program.interrupt();
    let (status, lines, err) = program.end();
    assert_eq!((status, err.as_str()), (Some(0), ""));
    assert_eq!(lines.len(), 4);
}

#[test]
fn a_growing_file_is_followed_no_longer_than_somebody_reads() {
    let directory = ScratchDirectory::new("reader");
    let path = directory.write("growing.pcapng", &pieces().0);
    let mut command = program(&["packets", "-f", &path]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut String::new()).unwrap();
    drop(stdout);
    // The last block is cut.
    assert_eq!(child.wait().unwrap().code(), Some(2));
}

#[test]
fn ctrl_c_prints_what_was_found_so_far() {
    let directory = ScratchDirectory::new("part");
    let path = directory.write("part.pcapng", &pieces().0);
    let started = Instant::now();
    program(&["check", &path]).output().unwrap();
    let whole = started.elapsed();
    let mut program = RunningProgram::start(&["check", "-"]);
    let mut stdin = program.child.stdin.take().unwrap();
    stdin.write_all(&pieces().0).unwrap();
    // Findings are printed at the end. A slow machine reads for longer.
    std::thread::sleep(Duration::from_secs(2) + 3 * whole);
    program.interrupt();
    let (status, lines, err) = program.end();
    assert_eq!(status, Some(130), "{lines:?} {err}");
    assert!(lines[0].starts_with("✗ not judged to the end: reading stopped at byte "), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("crc-bad")), "{lines:?}");
    assert!(err.ends_with("read failed: interrupted\n"), "{err}");
}

#[test]
fn ctrl_c_during_a_simulation_or_an_experiment_leaves_no_file() {
    let directory = ScratchDirectory::new("interrupt");
    let scenario = fs::read_to_string(fixture("demo-now36/scenario.toml")).unwrap();
    let old = scenario.lines().find(|line| line.starts_with("duration_us")).unwrap();
    let scenario = scenario.replacen(old, "duration_us = 900000000", 1);
    let path = directory.write("long.toml", scenario.as_bytes());
    let [capture, runs] = ["out.pcapng", "runs"].map(|name| directory.file(name));
    for (arguments, begun, expected) in [
        (["simulate", &path, "-o", &capture], ".out.pcapng.part", "interrupted after "),
        (["experiment", "permutations", "-o", &runs], "runs", "interrupted during permutations"),
    ] {
        let program = RunningProgram::start(&arguments);
        while !directory.path().join(begun).exists() {
            std::thread::sleep(Duration::from_millis(50));
        }
        std::thread::sleep(Duration::from_secs(1));
        program.interrupt();
        let (status, lines, err) = program.end();
        assert_eq!((status, lines.len()), (Some(130), 0), "{err}");
        assert!(err.contains(expected), "{err}");
    }
    assert_eq!(directory.names(), ["long.toml", "runs"]);
    assert!(directory.names_in("runs").is_empty());
}

#[test]
fn ctrl_c_during_a_sweep_keeps_the_finished_runs() {
    let directory = ScratchDirectory::new("interrupted-sweep");
    let scenario = fixture("demo-contention/scenario.toml");
    let out = directory.file("out");
    // The second point takes for ever.
    let durations = "duration_us=20,900000000";
    let options = ["sweep", &scenario, "--vary", durations, "--seeds", "2", "-o", &out];
    let program = RunningProgram::start(&options);
    let runs = directory.path().join("out/sweep-runs.jsonl");
    let kept = || fs::read_to_string(&runs).unwrap_or_default().lines().count();
    // On one processor the runs are one after the other, in any order.
    let started = Instant::now();
    while kept() < 3 && started.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(50));
    }
    program.interrupt();
    let (status, lines, err) = program.end();
    assert_eq!((status, lines.len()), (Some(130), 0), "{err}");
    let count = kept() - 1;
    let expected = format!("interrupted after {count} of 4 runs: the same command goes on");
    assert!(err.contains(&expected), "{err}");
    assert_eq!(directory.names_in("out"), ["sweep-runs.jsonl"]);
}
