//! Experiments as a person or a script runs them.

#![expect(clippy::unwrap_used, reason = "a test runs programs, and stops if it cannot go on")]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

/// What is printed; nothing may go wrong.
fn good(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_myriscope"));
    command.args(arguments).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    let output = command.stdin(Stdio::null()).output().unwrap();
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), complaint.as_str()), (Some(0), ""), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A directory of its own, removed at the end.
struct OutputDirectory(PathBuf);

impl OutputDirectory {
    fn new(name: &str) -> Self {
        let name = format!("myriscope-{name}-{}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    fn files(&self) -> BTreeMap<String, String> {
        let files = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path());
        let read = |path: PathBuf| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(path).unwrap())
        };
        files.map(read).collect()
    }
}

impl Drop for OutputDirectory {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn written(name: &str) -> (String, BTreeMap<String, String>) {
    let directory = OutputDirectory::new(name);
    let path = directory.0.to_str().unwrap();
    let text = good(&["experiment", "interface", "--quick", "-o", path]);
    (text, directory.files())
}

#[test]
fn an_experiment_prints_what_is_published_beside_what_is_measured() {
    insta::assert_snapshot!(good(&["experiment", "interface", "--quick"]));
}

#[test]
fn an_experiment_writes_its_tables_and_pictures_and_always_the_same() {
    let (text, files) = written("experiment-one");
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "interface-figures.csv",
            "interface-rates.csv",
            "interface-rates.svg",
            "interface-settings.csv",
            "interface.json",
            "interface.txt"
        ]
    );
    assert_eq!(files["interface.txt"], text);
    let head = |file: &str| files[file].lines().next().unwrap().to_owned();
    assert_eq!(head("interface-rates.csv"), "layer,block_bytes,rate_mb_per_s,block_time_us");
    assert_eq!(head("interface-figures.csv"), "figure,unit,published,ours,origin,source");
    assert_eq!(head("interface-settings.csv"), "parameter,value,unit,why");
    assert!(files["interface-rates.svg"].starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    assert_eq!(written("experiment-two").1, files);
}

#[test]
fn json_says_what_the_tables_say() {
    let all = good(&["experiment", "interface", "--quick", "--format", "json"]);
    let line = good(&["experiment", "interface", "--quick", "--format", "jsonl"]);
    let [all, line]: [Value; 2] = [all, line].map(|text| serde_json::from_str(&text).unwrap());
    assert_eq!(all["experiments"][0], line);
    assert_eq!(line["experiment"], "interface");
    assert_eq!(line["figures"][5]["published"], 55);
    assert_eq!(line["tables"][0]["rows"][0]["block_bytes"], 512);
    assert_eq!(line.as_object().unwrap().len(), 7);
}

#[test]
fn without_a_name_they_are_listed() {
    let list = good(&["experiment"]);
    assert_eq!(list, good(&["experiment", "--list"]));
    assert!(list.starts_with("logp "));
}
