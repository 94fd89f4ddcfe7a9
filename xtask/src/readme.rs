//! `cargo xtask readme`: the commands of README.md and of the lessons, each with the output that it has today.

use std::fs;
use std::io::{self, Write};
use std::process::Stdio;

use clap::Args;

use crate::TaskOutcome;
use crate::workspace::{TaskError, at, command, root};

#[derive(Debug, Args)]
pub(crate) struct ReadmeArgs {
    /// Compares the outputs and writes nothing; exit status 1 if one differs.
    #[arg(long)]
    check: bool,
}

/// Documents with commands and their outputs.
const DOCUMENTS: [&str; 2] = ["README.md", "docs/lessons.md"];

/// Runs the `myriscope` commands of every block that is followed by an output, and updates the output.
pub(crate) fn run(arguments: &ReadmeArgs) -> Result<TaskOutcome, TaskError> {
    for document in DOCUMENTS {
        let path = root().join(document);
        let old = fs::read_to_string(&path).map_err(at(&path))?;
        let new = updated(&old, &mut printed)?;
        if old != new && arguments.check {
            let stale = old.lines().zip(new.lines()).find(|(old, new)| old != new);
            let (old, new) = stale.unwrap_or_default();
            let text = format!("{document} is out of date: cargo xtask readme\n- {old}\n+ {new}\n");
            let printed = io::stdout().write_all(text.as_bytes());
            return printed.map(|()| TaskOutcome::Found).map_err(|error| error.to_string());
        }
        if old != new {
            fs::write(&path, new).map_err(at(&path))?;
        }
    }
    Ok(TaskOutcome::Well)
}

/// The text with each block of output that follows a block of commands replaced by the output of its last
/// command.
fn updated(
    text: &str,
    output: &mut dyn FnMut(&str) -> Result<String, TaskError>,
) -> Result<String, TaskError> {
    let mut new = String::new();
    let mut lines = text.lines();
    let mut commands = Vec::new();
    while let Some(line) = lines.next() {
        new += &format!("{line}\n");
        if let Some(arguments) = line.strip_prefix("cargo run --release -- ") {
            commands.push(format!("cd ../.. && myriscope {arguments}"));
        } else if line.starts_with("myriscope ") {
            commands.push(line.to_owned());
        } else if line == "```text" && !commands.is_empty() {
            let outputs =
                commands.drain(..).map(|it| output(&it)).collect::<Result<Vec<_>, _>>()?;
            new += outputs.last().map_or("", String::as_str);
            lines.find(|line| *line == "```");
            new += "```\n";
        } else if !line.is_empty() && line != "```" {
            commands.clear();
        }
    }
    Ok(new)
}

/// Output of a command in `target/readme`, of the program named by `MYRISCOPE` if that is set. Findings in a
/// capture give exit status 1.
fn printed(line: &str) -> Result<String, TaskError> {
    let directory = root().join("target/readme");
    fs::create_dir_all(&directory).map_err(at(&directory))?;
    let program = "cp ../../docs/lessons/*.toml .
    myriscope() {
        if [ \"$MYRISCOPE\" ]; then \"$MYRISCOPE\" \"$@\"
        else cargo run --quiet --release --manifest-path \"$MANIFEST\" -- \"$@\"; fi
    }";
    let mut shell = command("sh");
    shell.arg("-c").arg(format!("{program}\n{line}")).env("MANIFEST", root().join("Cargo.toml"));
    shell.current_dir(directory).stdin(Stdio::null()).stderr(Stdio::inherit());
    let ended = shell.output().map_err(|error| format!("{line}: {error}"))?;
    if !matches!(ended.status.code(), Some(0 | 1)) {
        return Err(format!("{line}: {}", ended.status));
    }
    String::from_utf8(ended.stdout).map_err(|error| format!("{line}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_after_commands_is_the_output_of_the_last() {
        let text =
            "a\n```sh\nmyriscope x\nmyriscope y\n```\n\n```text\nold\n```\nb\n```text\nkept\n```\n";
        let text = &format!("{text}```sh\nmyriscope z\n```\nb\n```text\nkept\n```\n");
        let run = "```sh\ncargo run --release -- z\n```\n```text\nold\n```\n";
        let new = updated(run, &mut |command| Ok(format!("{command}!\n"))).unwrap();
        assert_eq!(new, run.replace("old", "cd ../.. && myriscope z!"));
        let new = updated(text, &mut |command| Ok(format!("{command}!\n"))).unwrap();
        assert_eq!(new, text.replace("old", "myriscope y!"));
    }
}
