//! `cargo xtask readme`: the commands of README.md, each with the output that it has today.

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

/// Runs every `cargo run` command that has a block of its own, and updates the block after it.
pub(crate) fn run(arguments: &ReadmeArgs) -> Result<TaskOutcome, TaskError> {
    let path = root().join("README.md");
    let old = fs::read_to_string(&path).map_err(at(&path))?;
    let new = updated(&old, &mut printed)?;
    if old == new {
        return Ok(TaskOutcome::Well);
    }
    if arguments.check {
        let stale = old.lines().zip(new.lines()).find(|(old, new)| old != new);
        let (old, new) = stale.unwrap_or_default();
        let text = format!("README.md is out of date: cargo xtask readme\n- {old}\n+ {new}\n");
        let printed = io::stdout().write_all(text.as_bytes());
        return printed.map(|()| TaskOutcome::Found).map_err(|error| error.to_string());
    }
    fs::write(&path, new).map(|()| TaskOutcome::Well).map_err(at(&path))
}

/// The text with the block after each command replaced by the command's output.
fn updated(
    text: &str,
    output: &mut dyn FnMut(&str) -> Result<String, TaskError>,
) -> Result<String, TaskError> {
    let mut new = String::new();
    let mut lines = text.lines();
    let mut command = None;
    while let Some(line) = lines.next() {
        new += &format!("{line}\n");
        if line.starts_with("cargo run ") {
            command = Some(line);
        } else if line.starts_with("```text")
            && let Some(command) = command.take()
        {
            new += &output(command)?;
            lines.find(|line| *line == "```");
            new += "```\n";
        }
    }
    Ok(new)
}

/// Output of a command. Findings in a capture give exit status 1.
fn printed(line: &str) -> Result<String, TaskError> {
    let mut words = line.split_whitespace();
    let mut command = command(words.next().unwrap_or_default());
    command.args(words).stdin(Stdio::null()).stderr(Stdio::inherit());
    let ended = command.output().map_err(|error| format!("{line}: {error}"))?;
    if !matches!(ended.status.code(), Some(0 | 1)) {
        return Err(format!("{line}: {}", ended.status));
    }
    String::from_utf8(ended.stdout).map_err(|error| format!("{line}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_after_a_command_is_its_output() {
        let text = "a\n```sh\ncargo run x\n```\n\n```text\nold\n```\nb\n```text\nkept\n```\n";
        let new = updated(text, &mut |command| Ok(format!("{command}!\n"))).unwrap();
        assert_eq!(new, text.replace("old", "cargo run x!"));
    }
}
