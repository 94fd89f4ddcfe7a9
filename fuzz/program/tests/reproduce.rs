//! Inputs of fuzz targets as the program shows them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use laws::network::run::RunOutcome;
use laws::score::truth;
use simulator::scenario::Scenario;

/// A directory of a test's own, empty.
fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("reproduce-{name}"));
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    directory
}

/// Status, standard output and standard error, with the directory's name left out.
fn run(directory: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_myriscope-laws"));
    let output = program.arg("reproduce").args(arguments).current_dir(directory).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn files(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).unwrap().map(|it| it.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_broken_law_is_told_with_the_least_input_that_breaks_it() {
    let directory = directory("broken");
    fs::write(directory.join("crash"), [1, 9, 5, 7, 0, 17]).unwrap();
    let (status, said, complaint) = run(&directory, &["canary", "crash", "-o", "shown"]);
    assert_eq!((status, complaint.as_str()), (Some(1), ""));
    // The place is a line of the law.
    let (first, rest) = said.split_once('\n').unwrap();
    assert!(first.starts_with("// canary: THE LAW IS BROKEN at fuzz/laws/src/reproduction.rs:"));
    insta::assert_snapshot!(rest);
    let shown = directory.join("shown");
    assert_eq!(files(&shown), ["capture.pcapng", "input.min", "report.txt"]);
    assert_eq!(fs::read(shown.join("input.min")).unwrap(), [9, 7]);
    // It is the least there is, so it says the same of itself.
    let (status, again, _) = run(&directory, &["canary", "shown/input.min"]);
    assert_eq!(status, Some(1));
    assert!(again.contains("minimized input: 2 of 2 bytes"), "{again}");
    let test = |said: &str| said.split_once("#[test]").unwrap().1.to_owned();
    assert_eq!(test(&again), test(&said));
}

#[test]
fn a_network_is_there_in_all_files_and_what_was_there_before_is_not() {
    let directory = directory("network");
    let seed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/network/backward-reset");
    fs::write(directory.join("input.min"), "of another run").unwrap();
    let (status, said, complaint) =
        run(&directory, &["network", seed.to_str().unwrap(), "-o", "."]);
    assert_eq!((status, complaint.as_str()), (Some(0), ""), "{said}");
    let names = ["capture.pcapng", "report.txt", "scenario.toml", "truth.jsonl"];
    assert_eq!(files(&directory), names);
    // The scenario runs to the same capture and truth.
    let file = |name: &str| fs::read(directory.join(name)).unwrap();
    let text = String::from_utf8(file("scenario.toml")).unwrap();
    let scenario = Scenario::read("scenario.toml", &text).unwrap();
    let outcome = RunOutcome::of(&scenario);
    assert!(outcome.capture == file("capture.pcapng"));
    assert!(truth(&scenario, &outcome) == file("truth.jsonl"));
}

#[test]
fn odd_input_is_told_and_nothing_is_written() {
    let directory = directory("odd");
    fs::write(directory.join("empty"), []).unwrap();
    fs::write(directory.join("a-file"), "in the way").unwrap();
    let mut all = String::new();
    for arguments in [
        &["chrs", "empty"][..],
        &["chars", "."],
        &["chars", "nowhere"],
        &["chars", "/dev/zero"],
        &["chars", "empty", "-o", "a-file"],
        &["chars", "empty"],
    ] {
        let (status, said, complaint) = run(&directory, arguments);
        // Which targets there are changes.
        let complaint = match complaint.split_once(": there are analyze, ") {
            Some((head, rest)) => {
                assert!(rest.contains(", transport, wires; storm for the scenario of a storm; and canary, whose law is broken on purpose"));
                format!("{head}: there are …\n")
            }
            None => complaint,
        };
        all += &format!("{} -> {status:?}\n{complaint}{said}", arguments.join(" "));
    }
    insta::assert_snapshot!(all);
    assert_eq!(files(&directory), ["a-file", "empty"]);
}

#[test]
fn an_input_may_come_through_a_pipe() {
    let directory = directory("pipe");
    let mut program = Command::new(env!("CARGO_BIN_EXE_myriscope-laws"));
    program.args(["reproduce", "packet", "-"]).current_dir(&directory);
    let frame =
        fs::File::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/packet/good"));
    let output = program.stdin(frame.unwrap()).output().unwrap();
    assert!(output.status.success());
    insta::assert_snapshot!(String::from_utf8(output.stdout).unwrap());
}
