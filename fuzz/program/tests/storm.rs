//! Storms as a person or a script runs them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// A directory of a test's own, empty.
fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("storm-{name}"));
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    directory
}

/// Status, standard output and standard error.
fn run(directory: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_myriscope-laws"));
    program.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    let output = program.arg("storm").args(arguments).current_dir(directory).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Without what the clock tells, and without the line of ours in which the law stands.
fn timeless(text: &str) -> String {
    let line = |line: &str| match line.split_once("storm.rs:") {
        _ if line.starts_with("speed ") => "speed …\n".to_owned(),
        Some((head, rest)) => {
            format!("{head}storm.rs:…{}\n", rest.trim_start_matches(|c: char| c.is_ascii_digit()))
        }
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

fn files(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).unwrap().map(|it| it.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

/// One network of one switch.
const SMALL: [&str; 6] = ["--seed", "11", "--minutes", "0.001", "--switches", "1"];

#[test]
fn a_time_limits_the_storm_and_reproduce_checks_a_scenario() {
    let directory = directory("time");
    let (status, text, errors) =
        run(&directory, &["--time", "1s", "--switches", "1", "--jobs", "1"]);
    assert_eq!((status, errors.as_str()), (Some(0), ""), "{text}");
    assert!(text.contains("no law is broken"), "{text}");
    let (status, _, errors) = run(&directory, &["--time", "1y"]);
    assert!(status == Some(2) && errors.contains("like `60s`, `10m` or `8h`"), "{errors}");
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/storm");
    let scenario = scenarios.join(files(&scenarios).first().unwrap());
    let mut program = Command::new(env!("CARGO_BIN_EXE_myriscope-laws"));
    let output = program.args(["reproduce", "storm"]).arg(scenario).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).contains("no law is broken"));
}

#[test]
fn a_small_storm_is_told_and_keeps_all_laws() {
    let directory = directory("small");
    let (status, said, complaint) = run(&directory, &SMALL);
    // No progress where nobody looks.
    assert_eq!((status, complaint.as_str()), (Some(0), ""), "{said}");
    insta::assert_snapshot!(timeless(&said));
    assert_eq!(files(&directory), [""; 0]);
}

#[test]
fn a_script_is_told_the_same_of_a_small_storm_however_many_look_at_it() {
    let directory = directory("script");
    let more = ["--format", "json", "--jobs", "3"];
    let (status, said, complaint) = run(&directory, &[&SMALL[..], &more].concat());
    assert_eq!((status, complaint.as_str()), (Some(0), ""), "{said}");
    insta::assert_snapshot!(said);
}

/// So far only where it is wrong on purpose.
#[test]
fn a_broken_law_is_told_and_what_is_left_of_its_network_is_a_file_that_breaks_it_again() {
    let directory = directory("broken");
    let storm = ["--seed", "5", "--minutes", "0.5", "--canary", "-o", "found"];
    let (status, said, complaint) = run(&directory, &storm);
    assert_eq!((status, complaint.as_str()), (Some(1), ""), "{said}");
    let found = directory.join("found");
    let [name] = files(&found).try_into().unwrap();
    let left = timeless(&fs::read_to_string(found.join(&name)).unwrap());
    insta::assert_snapshot!(format!("{}\n{name}:\n{left}", timeless(&said)));
    let (status, again, complaint) =
        run(&directory, &["--scenario", &format!("found/{name}"), "--canary"]);
    assert_eq!((status, complaint.as_str()), (Some(1), ""), "{again}");
    assert!(again.contains("no cable is cut"), "{again}");
    // Of a file it is not known where it came from, and what is left is another file.
    assert_eq!(files(&directory), ["found", "storm-scenario.toml"]);
    // Without the law that is wrong none is broken.
    let (status, said, _) = run(&directory, &["--scenario", &format!("found/{name}")]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.ends_with("no law is broken\n"), "{said}");
}

#[test]
fn a_script_is_told_which_law_is_broken_and_where_it_is_written() {
    let directory = directory("json");
    let storm = ["--seed", "5", "--minutes", "0.5", "--canary", "--format", "json"];
    let (status, said, complaint) = run(&directory, &storm);
    assert_eq!((status, complaint.as_str()), (Some(1), ""), "{said}");
    let row: Value = serde_json::from_str(&said).unwrap();
    let failure = &row["failure"];
    assert!(failure["place"].as_str().unwrap().starts_with("fuzz/laws/src/storm.rs:"));
    assert!(failure["law"].as_str().unwrap().starts_with("no cable is cut: "));
    let left = ["switches", "faults"].map(|kind| failure[kind].as_u64());
    assert_eq!(left, [Some(1), Some(1)]);
    let network = failure["network"].as_u64().unwrap();
    let name = format!("storm-5-{network}.toml");
    assert_eq!(failure["file"].as_str(), Some(format!("./{name}").as_str()));
    assert_eq!(files(&directory), [name]);
    // What is counted is what came before it.
    assert_eq!(row["networks"].as_u64(), Some(network));
    // It alone says the same.
    let one = ["--seed", "5", "--network", &network.to_string(), "--canary", "--format", "json"];
    let (status, said, _) = run(&directory, &one);
    let alone: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((status, &alone["failure"]), (Some(1), failure));
}

#[test]
fn odd_arguments_are_told_and_nothing_is_written() {
    let directory = directory("odd");
    fs::write(directory.join("a-file"), "in the way").unwrap();
    fs::write(directory.join("bad.toml"), "duration_us = 5\nhurricane = true\n").unwrap();
    let mut all = String::new();
    for arguments in [
        &["--minutes", "0"][..],
        &["--minutes", "-1"],
        &["--minutes", "0.0500"],
        &["--minutes", "soon"],
        &["--minutes", "99999999999999999999"],
        &["--switches", "0"],
        &["--switches", "9"],
        &["--jobs", "0"],
        &["--network", "3", "--minutes", "1"],
        &["--scenario", "bad.toml", "--seed", "4"],
        &["--scenario", "nowhere.toml"],
        &["--scenario", "bad.toml"],
        &["--minutes", "0.001", "-o", "a-file"],
    ] {
        let (status, said, complaint) = run(&directory, arguments);
        // How it is used is told below.
        let complaint = complaint.split("\n\nUsage").next().unwrap_or_default().trim_end();
        all += &format!("{} -> {status:?}\n{complaint}\n{said}", arguments.join(" "));
    }
    insta::assert_snapshot!(all);
    assert_eq!(files(&directory), ["a-file", "bad.toml"]);
}
