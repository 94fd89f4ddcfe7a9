//! The examples of the documents and of every command's help, run by a shell as a user types them.

use std::fs;
use std::process::Command;

use crate::support::{ScratchDirectory, fixture, good};

/// Commands of a program of its own, whose tests run their examples.
const LAWS: [&str; 2] = ["storm", "reproduce"];

/// A directory with the captures and scenarios of the demos, as the examples name them.
pub(crate) fn workplace(name: &str) -> ScratchDirectory {
    let directory = ScratchDirectory::new(name);
    for entry in fs::read_dir(fixture("")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(demo) = name.strip_prefix("demo-") else { continue };
        for (file, ending) in [("capture.pcapng", "pcapng"), ("scenario.toml", "toml")] {
            let to = directory.file(&format!("{demo}.{ending}"));
            fs::copy(fixture(&format!("{name}/{file}")), to).unwrap();
        }
    }
    fs::copy(fixture("vita26/capture.pcapng"), directory.file("vita26.pcapng")).unwrap();
    for entry in fs::read_dir(fixture("../docs/lessons")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), directory.file(entry.file_name().to_str().unwrap())).unwrap();
    }
    for ending in ["vcd", "sr", "fst"] {
        let recording = fixture(&format!("recordings/link-1.{ending}"));
        fs::copy(recording, directory.file(&format!("link.{ending}"))).unwrap();
    }
    directory
}

/// Names of the commands, from the help of the program.
fn commands() -> Vec<String> {
    let help = good(&["help"]);
    let commands = help.split("\nOptions:").next().unwrap().lines().skip(5);
    commands
        .filter_map(|line| Some(line.strip_prefix("  ")?.split(' ').next().unwrap().to_owned()))
        .filter(|name| !name.is_empty())
        .collect()
}

/// Status and standard error of a command line that a shell runs.
#[cfg(unix)]
pub(crate) fn shell(directory: &ScratchDirectory, line: &str) -> (Option<i32>, String) {
    let script = format!("myriscope() {{ \"$PROGRAM\" \"$@\"; }}\n{line}");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).env("PROGRAM", env!("CARGO_BIN_EXE_myriscope"));
    shell.env("HOME", directory.path());
    for name in ["WIRESHARK_CONFIG_DIR", "XDG_CONFIG_HOME"] {
        shell.env_remove(name);
    }
    let output = shell.current_dir(directory.path()).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn every_command_has_examples() {
    let commands = commands();
    assert!(commands.len() > 18, "{commands:?}");
    for command in commands {
        let help = good(&["help", &command]);
        let own = format!("myriscope {command}");
        let examples = help.split_once("\nExamples:\n").map(|(_, text)| text.contains(&own));
        assert_eq!(examples, Some(true), "{command}");
    }
}

/// Commands in the blocks of a shell of a document.
fn shell_commands(text: &str) -> impl Iterator<Item = &str> {
    let mut blocks = text.split("\n```");
    blocks.next();
    let blocks = blocks.filter_map(|block| block.strip_prefix("sh\n"));
    blocks.flat_map(str::lines).filter(|line| line.starts_with("myriscope "))
}

#[cfg(unix)]
#[test]
fn the_commands_in_readme_and_documents_run() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let documents = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let documents = documents.filter(|path| path.extension().is_some_and(|end| end == "md"));
    let mut count = 0;
    for document in documents.chain([root.join("README.md")]) {
        let text = fs::read_to_string(&document).unwrap();
        let name = document.file_stem().unwrap().to_str().unwrap();
        let directory = workplace(&format!("document-{name}"));
        for line in shell_commands(&text) {
            if LAWS.iter().any(|name| line.starts_with(&format!("myriscope {name}"))) {
                continue;
            }
            count += 1;
            let (status, err) = shell(&directory, line);
            if line.starts_with("myriscope view") {
                let needs = "view needs a terminal";
                assert!(status == Some(2) && err.contains(needs), "{name}: {line}\n{err}");
                continue;
            }
            assert!(matches!(status, Some(0 | 1)), "{name}: {line}\n{err}");
            assert!(err.is_empty(), "{name}: {line}\n{err}");
        }
    }
    assert!(count > 75, "{count}");
}

#[test]
fn options_of_the_program_stand_before_or_after_the_command() {
    let capture = crate::support::capture("link-7");
    let after = good(&["info", &capture, "--color", "always"]);
    assert_eq!(good(&["--color", "always", "info", &capture]), after);
    assert_eq!(good(&["--color=always", &capture]), after);
    assert_eq!(good(&["--color", "always", "--limit", "9", &capture]), after);
}

#[test]
fn manual_pages_have_examples_exit_statuses_and_the_subjects_of_help() {
    let directory = ScratchDirectory::new("pages");
    good(&["man", &directory.file("")]);
    let names = directory.names();
    for page in ["myriscope-filter.7", "myriscope-scenario.5", "myriscope-output.7", "myriscope.1"]
    {
        assert!(names.iter().any(|name| name == page), "{names:?}");
    }
    let page = fs::read_to_string(directory.file("myriscope-check.1")).unwrap();
    assert!(page.contains(".SH \"EXIT STATUS\"\n") && page.contains(".SH EXAMPLES\n"), "{page}");
    assert_eq!(page.matches("there are errors or warnings.").count(), 1, "{page}");
    assert!(page.contains("\n\\fB1\\fR\nthere are errors or warnings.\n"), "{page}");
    assert!(!page.contains("EXTRA"), "{page}");
    let page = fs::read_to_string(directory.file("myriscope-packets.1")).unwrap();
    assert!(page.contains("\n\\fB2\\fR\n") && !page.contains("\n\\fB1\\fR\n"), "{page}");
}
