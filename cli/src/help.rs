//! Help of the program and its commands: groups, examples and exit statuses, for the terminal and for manual
//! pages.

pub(crate) mod examples;
pub(crate) mod manual;
mod markdown;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;

use analyzer::render::wrapped;
use clap::{Arg, Command, CommandFactory};

use self::examples::CommandHelp;
use crate::args::CliArguments;

pub(crate) const EXIT_STATUS: [(u8, &str); 4] = [
    (0, "success"),
    (1, "the command found errors, warnings or violations"),
    (
        2,
        "the capture, the scenario or the command line is invalid (rows before the damage have been \
         printed), or a file could not be written",
    ),
    (130, "Ctrl-C ended the work before it was complete"),
];

/// Groups of commands, in the order of the help.
const GROUPS: [(&str, &[&str]); 8] = [
    ("What went wrong", &["check", "report", "log", "explain"]),
    ("What was on the wire", &["view", "info", "show", "packets", "events", "annotate", "watch"]),
    ("Captures from and for other programs", &["import", "export", "wireshark", "extcap"]),
    ("Cutting and comparing captures", &["slice", "merge", "diff", "compare"]),
    (
        "Links, routes and the network",
        &[
            "links",
            "journeys",
            "series",
            "flows",
            "blocking",
            "conversations",
            "mapping",
            "topology",
        ],
    ),
    ("Simulation", &["demo", "simulate", "sweep", "experiment"]),
    ("Proof of this program", &["score", "storm", "reproduce"]),
    ("Help and setup", &["help", "schema", "man", "completions"]),
];

/// Groups of options that many commands share.
const OPTION_GROUPS: [(&str, &str); 2] = [
    ("Selection", "channel from to at context capture_number filter limit top min"),
    (
        "Output",
        "format fields list_fields sort group count no_head units width color output capture \
         directory follow",
    ),
];

/// The command line with groups, examples and exit statuses in its help.
pub(crate) fn command() -> Command {
    let command = CliArguments::command();
    let template = template(&command);
    let command = command.help_template(template).after_help(exit_statuses());
    examples::commands().fold(command, |command, help| {
        let explained = |sub: Command| sub.mut_args(with_heading).after_help(after_help(&help));
        command.mut_subcommand(help.name, |sub| explained(sub).mut_subcommands(explained))
    })
}

/// An option under the heading of its group; `--limit` is also `-n`.
fn with_heading(argument: Arg) -> Arg {
    let name = argument.get_id().to_string();
    let mut groups = OPTION_GROUPS.iter();
    let is_in = |names: &str| names.split(' ').any(|other| other == name);
    match groups.find(|(_, names)| !argument.is_positional() && is_in(names)) {
        Some((heading, _)) if name == "limit" => argument.help_heading(*heading).short('n'),
        Some((heading, _)) => argument.help_heading(*heading),
        None => argument,
    }
}

/// Help of the program: its commands in groups, then its options.
fn template(command: &Command) -> String {
    let mut text = "{about-with-newline}\n{usage-heading} myriscope [OPTIONS] COMMAND\n       \
                    myriscope FILE   (the same as `myriscope info FILE`)\n"
        .to_owned();
    for (title, names) in GROUPS {
        // Writing to a string does not fail.
        let _ = writeln!(text, "\n{title}:");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(|it| it.ansi().to_string()).unwrap_or_default();
            let mut name = *name;
            for line in wrapped(about.split(' '), " ", 80 - 17) {
                let _ = writeln!(text, "  {name:<14} {line}");
                name = "";
            }
        }
    }
    text + "\nOptions:\n{options}{after-help}"
}

fn exit_statuses() -> String {
    let mut text =
        "`myriscope help COMMAND` shows the options of a command, with examples.\n\nExit status:"
            .to_owned();
    for (status, meaning) in EXIT_STATUS {
        let _ = write!(text, "\n  {status:<4} {meaning}");
    }
    text
}

fn after_help(help: &CommandHelp) -> String {
    let mut text = String::new();
    if let Some(meaning) = help.status_one {
        let _ = write!(text, "Exit status 1: {meaning}\n\n");
    }
    text += "Examples:";
    for (line, meaning) in &help.examples {
        let _ = write!(text, "\n  # {meaning}\n  {line}");
    }
    if help.examples.iter().any(|(line, _)| line.contains(".pcapng")) {
        text += "\n\n`myriscope demo cut -o cut.pcapng` writes the capture of an example, and likewise the others.";
    }
    text
}

/// Inserts the command `info` where the command line has a file but no command.
pub(crate) fn with_command(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.collect();
    let mut place = 1;
    let options = ["--color", "--width"];
    while let Some(text) = arguments.get(place).map(|it| it.to_string_lossy())
        && options.iter().any(|option| text.starts_with(option))
    {
        place += if options.contains(&&*text) { 2 } else { 1 };
    }
    let is_implied = arguments.get(place).is_some_and(|first| {
        let text = first.to_string_lossy();
        let is_program_option = ["-h", "--help", "-V", "--version"].contains(&&*text);
        let is_command = GROUPS.iter().any(|(_, names)| names.contains(&&*text));
        let is_option = text.starts_with('-') && text.len() > 1;
        let looks_like_file =
            text == "-" || text.contains(['.', '/', '\\']) || Path::new(first).exists();
        !is_program_option && !is_command && (is_option || looks_like_file)
    });
    if is_implied {
        arguments.insert(place, "info".into());
    }
    arguments
}
