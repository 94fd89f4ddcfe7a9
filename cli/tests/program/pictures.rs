//! Whole outputs of the program as files: every text, table and picture that no other test has character by character.

use std::fs;

use crate::simulate::DEMOS;
use crate::support::{RunOutcome, ScratchDirectory, fixture, program};

/// Names of the pictures, and command lines in `fixtures/`. OUT is a file or a directory, shown behind the output; NET
/// is [`SCENARIO`].
const RUNS: &str = include_str!("pictures.txt");

/// Two senders share the link of a third host.
const SCENARIO: &str = "duration_us = 200\ntopology = { kind = 'switch', ports = 4, hosts = 3 }\n[[traffic]]\n\
                        from = ['h0', 'h1']\nto = ['h2', 'h2']\npayload = 100\nload = 0.1\n";

/// A file, or all files of a directory; of a page its body without the texts of all rules.
fn written(path: &str) -> String {
    if let Ok(entries) = fs::read_dir(path) {
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        // Runs are in the order in which they ended.
        paths.retain(|path| path.extension().is_none_or(|it| it != "jsonl"));
        paths.sort();
        return paths.iter().map(|path| written(path.to_str().unwrap())).collect();
    }
    // Of other files than texts, their words are readable.
    let text = String::from_utf8_lossy(&fs::read(path).unwrap())
        .replace(|it: char| it.is_control() && it != '\n', "·");
    let body = text.split_once("</head>").map_or(&*text, |(_, body)| body);
    let body = body.split_once("<details>").map_or(body, |(body, _)| body);
    format!("--- {}\n{body}", path.rsplit('/').next().unwrap())
}

#[test]
fn outputs_are_as_they_were() {
    let directory = ScratchDirectory::new("pictures");
    let scenario = directory.write("net.toml", SCENARIO.as_bytes());
    for line in RUNS.lines() {
        let (name, line) = line.split_once(": ").unwrap();
        let out = directory.file(name);
        let line = line.replace("OUT", &out).replace("NET", &scenario);
        let mut command = program(&line.split(' ').collect::<Vec<_>>());
        let done: RunOutcome = command.current_dir(fixture("")).output().unwrap().into();
        let files = if line.contains(&out) { written(&out) } else { String::new() };
        let all = format!("{}{}exit status {}\n{files}", done.out, done.err, done.status.unwrap());
        let all = all.replace(directory.path().to_str().unwrap(), "");
        insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(name, all) });
    }
}

#[test]
fn demos_print_what_they_printed() {
    let all: Vec<&str> = DEMOS.values().map(|(text, _)| text.as_str()).collect();
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!("demos", all.join("\n")) });
}
