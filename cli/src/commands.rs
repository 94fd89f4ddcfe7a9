//! The commands, one file each.

mod annotate;
mod blocking;
mod check;
mod compare;
mod conversations;
mod cutting;
mod demo;
mod diff;
mod experiment;
mod explain;
mod export;
mod extcap;
mod flows;
mod import;
mod info;
mod laws_program;
mod links;
pub(crate) mod mapping;
mod packets;
mod report;
mod schema;
mod score;
mod series;
mod show;
mod simulate;
mod sweep;
mod topology;
#[cfg(feature = "view")]
mod view;
mod watch;
mod wireshark;

use analyzer::filter::RowKind;
use analyzer::packet::ByteRetention;
use analyzer::render::{StyledLine, TextStyle, wrapped};
use analyzer::timeline::EventFilter;

use crate::analyze::print_list;
use crate::args::{CliArguments, CliCommand, PacketsArgs};
use crate::exit::{CliError, CommandResult, RunReport};
use crate::help::{self, manual};
use crate::output::StandardOutput;

pub(crate) fn run(arguments: CliArguments, output: &mut StandardOutput) -> CommandResult {
    use CliCommand as Cli;
    match arguments.command {
        Cli::Info(view) => info::run(&view, output),
        Cli::Packets(PacketsArgs { view, hex }) => {
            let bytes = if hex { ByteRetention::Keep } else { ByteRetention::Forget };
            packets::run(&view, EventFilter::Packets, bytes, output)
        }
        Cli::Events(view) => {
            packets::run(&view, EventFilter::Events, ByteRetention::Forget, output)
        }
        Cli::Log(view) => print_list(&view, RowKind::Log, output),
        Cli::Show(arguments) => show::run(&arguments, output),
        Cli::Blocking(arguments) => blocking::run(&arguments, output),
        Cli::Topology(arguments) => topology::run(&arguments, output),
        Cli::Check(arguments) => check::run(&arguments, output),
        Cli::Explain(arguments) => explain::run(&arguments, output),
        Cli::Links(arguments) => links::run(&arguments, output),
        Cli::Journeys(view) => print_list(&view, RowKind::Journeys, output),
        Cli::Series(arguments) => series::run(&arguments, output),
        Cli::Import(arguments) => import::run(&arguments, output),
        Cli::Report(arguments) => report::run(&arguments, output),
        Cli::Export(arguments) => export::run(&arguments, output),
        Cli::Flows(view) => flows::run(&view, output),
        Cli::Mapping(arguments) => mapping::run(&arguments, output),
        Cli::Conversations(arguments) => conversations::run(&arguments, output),
        Cli::Simulate(arguments) => simulate::run(&arguments, output),
        Cli::Sweep(arguments) => sweep::run(&arguments, output),
        Cli::Demo(arguments) => demo::run(&arguments, output),
        Cli::Experiment(arguments) => experiment::run(&arguments, output),
        Cli::Storm(_) | Cli::Reproduce(_) => laws_program::run(),
        Cli::Annotate(arguments) => annotate::run(&arguments, output),
        Cli::Slice(arguments) => cutting::run_slice(&arguments, output),
        Cli::Diff(arguments) => diff::run(&arguments, output),
        Cli::Compare(arguments) => compare::run(&arguments, output),
        Cli::Merge(arguments) => cutting::run_merge(&arguments, output),
        #[cfg(feature = "view")]
        Cli::View(arguments) => view::run(&arguments, output),
        #[cfg(not(feature = "view"))]
        Cli::View(_) => Err(CliError::Message(
            "this program was built without the feature `view`: build it with `cargo build --release`"
                .to_owned(),
        )),
        Cli::Watch(arguments) => watch::run(&arguments, output),
        Cli::Wireshark(arguments) => wireshark::run(&arguments, output),
        Cli::Extcap(arguments) => extcap::run(&arguments, output),
        Cli::Score(arguments) => score::run(&arguments, output),
        Cli::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut help::command(), "myriscope", &mut script);
            output.text(&String::from_utf8_lossy(&script));
            Ok(RunReport::default())
        }
        Cli::Man { directory } => {
            manual::write_pages(help::command(), &directory)
                .map_err(|error| CliError::reading(&directory, &error))?;
            Ok(RunReport::default())
        }
        Cli::Schema { command } => schema::run(command.as_deref(), output),
        Cli::Help { subject } => help_about(&subject, output),
    }
}

fn help_about(subject: &[String], output: &mut StandardOutput) -> CommandResult {
    let mut command = help::command();
    let (subject, below) = match subject {
        [] => (None, &[][..]),
        [name, below @ ..] => (Some(name.as_str()), below),
    };
    let topic = manual::TOPICS.iter().find(|(name, ..)| Some(*name) == subject);
    match (subject, topic) {
        (_, Some((.., text))) => {
            let width = output.width().unwrap_or(usize::MAX);
            for line in text.lines().flat_map(|line| wrapped(line.split(' '), " ", width)) {
                output.line(&StyledLine::of(TextStyle::Plain, line));
            }
        }
        (Some("exit-codes"), None) => help::EXIT_STATUS
            .iter()
            .for_each(|(status, meaning)| output.text(&format!("{status:<4} {meaning}\n"))),
        (Some(name), None) => {
            command.build();
            let found = below.iter().try_fold(command.find_subcommand_mut(name), |found, name| {
                Some(found?.find_subcommand_mut(name)).filter(Option::is_some)
            });
            let Some(found) = found.flatten() else {
                let name = [&[name.to_owned()], below].concat().join(" ");
                let names = command.get_subcommands().map(clap::Command::get_name);
                let names =
                    names.chain(manual::TOPICS.map(|(name, ..)| name)).chain(["exit-codes"]);
                let names = names.collect::<Vec<_>>().join(", ");
                return Err(CliError::Message(format!(
                    "no help about {name:?}; there is help about {names}"
                )));
            };
            output.text(&found.render_help().to_string());
        }
        (None, None) => output.text(&command.render_help().to_string()),
    }
    Ok(RunReport::default())
}
