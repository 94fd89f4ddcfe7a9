//! What a recording holds, and the command that converts it.

use std::ffi::{OsStr, OsString};

use analyzer::finding::ShellCommand;
use analyzer::render::{StyledLine, TextStyle};
use codec::recording::{SignalGroup, SignalTable};
use codec::wires::WIRES;
use codec::words::escape_text;

use super::doubt::CUT_LINE;
use super::plan::{ChannelPlan, checked_names};
use super::source::OpenedRecording;
use crate::args::{ImportArgs, SampleRate};
use crate::exit::{CliError, CommandResult, RunReport};
use crate::output::StandardOutput;

/// Most groups of signals that are listed without --signals. *Chosen*
const LISTED: usize = 32;

/// Lists the signals of a recording in groups, the channels that their names show, and the command.
pub(super) fn print(
    arguments: &ImportArgs,
    recording: Result<OpenedRecording, CliError>,
    output: &mut StandardOutput,
) -> CommandResult {
    let ImportArgs { file, signals: part, wires, channel, .. } = arguments;
    let mut print = |text: String| {
        output.line(&StyledLine::of(TextStyle::Plain, escape_text(text)));
    };
    let OpenedRecording::Signals(format, reader) = recording? else {
        print(format!("{}: characters as text", file.display()));
        print(format!("  {}", command(arguments, &[], &[])));
        return Ok(RunReport::of(file));
    };
    let table = reader.signals();
    let count = table.names().iter().filter(|name| !name.is_empty()).count();
    print(format!("{}: {}, {count} signals", file.display(), format.name));
    let is_shown =
        |group: &&SignalGroup| part.as_ref().is_none_or(|part| group.name.contains(part));
    let groups = table.groups();
    let shown: Vec<&SignalGroup> = groups.iter().filter(is_shown).collect();
    let most = if part.is_some() { usize::MAX } else { LISTED };
    for group in shown.iter().take(most) {
        print(format!("  {}", group_text(group, table.names())));
    }
    if shown.len() > most {
        print(format!(
            "  … and {} more: --signals TEXT lists those with a text in their names",
            shown.len() - most
        ));
    }
    let mut selected = Vec::new();
    match ChannelPlan::of(arguments, table) {
        Ok(plan) => {
            for (name, signals) in plan.names.iter().zip(plan.selected.chunks(WIRES)) {
                let named = |at: Option<&usize>| {
                    at.and_then(|at| table.names().get(*at)).map_or("", String::as_str)
                };
                let (first, last) = (named(signals.first()), named(signals.last()));
                print(format!("channel {name}: wire 0 is {first}, … d is {last}"));
            }
            plan.notes.into_iter().for_each(&mut print);
            print(format!("  {}", command(arguments, &plan.names, wires)));
            selected = plan.selected;
        }
        Err(error) if !wires.is_empty() => return Err(error),
        Err(_) => {
            table.note().into_iter().for_each(|text| print(text.to_owned()));
            let usual = ["h0:0>s0:0".to_owned()];
            let names = checked_names(if channel.is_empty() { &usual } else { channel })?;
            let text =
                "which signals are wires is not clear: name d, 7, 6 … 0 of each channel, or a bus";
            print(text.to_owned());
            if let Some(wires) = first_wires(table, names.len()) {
                print(format!("  {}", command(arguments, &names, &wires)));
            }
        }
    }
    // Damage is seen where all is read.
    let summary = reader.read(&selected, &mut |_| {});
    let mut done = RunReport::of(file);
    summary.error.iter().for_each(|error| done.error(&escape_text(error.to_string())));
    if summary.is_cut_line {
        done.warning(&CUT_LINE);
    }
    Ok(done)
}

/// The first signals, nine for each of some channels, as an example of `--wires`. `None` if they are too few, or their names
/// are no names of one signal each.
fn first_wires(table: &SignalTable, channels: usize) -> Option<Vec<String>> {
    let signals: Vec<usize> = table.groups().iter().flat_map(SignalGroup::ascending).collect();
    let mut nines = signals.chunks_exact(WIRES);
    let name = |at: &usize| table.names().get(*at).cloned();
    let wires = (0..channels).map(|_| {
        let text = nines.next()?.iter().rev().map(name).collect::<Option<Vec<_>>>()?.join(",");
        table.wires(&text).is_ok().then_some(text)
    });
    wires.collect()
}

/// A group with the numbers of its bits.
fn group_text(group: &SignalGroup, names: &[String]) -> String {
    let bits = || group.bits.iter().filter_map(|(_, bit)| *bit);
    match (bits().max(), bits().min(), group.bits.as_slice()) {
        (_, _, [(one, _)]) => names.get(*one).cloned().unwrap_or_default(),
        (Some(high), Some(low), several) => {
            format!("{}[{high}:{low}]  {} signals", group.name, several.len())
        }
        (.., several) => format!("{}  {} signals", group.name, several.len()),
    }
}

/// The command that converts a recording, with what was given beside its channels.
fn command(arguments: &ImportArgs, names: &[String], wires: &[String]) -> ShellCommand {
    let ImportArgs { file, force, guess, rate, sample_rate, eye, tap, profile, .. } = arguments;
    let stem = file.file_stem().filter(|stem| !stem.as_encoded_bytes().starts_with(b"-"));
    let mut capture = stem.unwrap_or(OsStr::new("link")).to_owned();
    capture.push(".pcapng");
    let sample_rate = sample_rate.map(|rate| match rate {
        SampleRate::Megahertz(rate) => rate.to_string(),
        SampleRate::State => "state".to_owned(),
    });
    let given = [
        ("--rate", rate.map(|rate| rate.to_string().into())),
        ("--sample-rate", sample_rate.map(OsString::from)),
        ("--eye", eye.clone().map(OsString::from)),
        ("--tap", tap.clone().map(OsString::from)),
    ];
    let given = given.into_iter().filter_map(|(option, value)| Some((option, value?)));
    let names = names.iter().map(|name| ("--channel", name.into()));
    let wires = wires.iter().map(|wires| ("--wires", wires.into()));
    let values = [("-o", capture)].into_iter().chain(given).chain(names).chain(wires);
    let command = ShellCommand::of("import", profile.argument(file, &[]));
    let command =
        values.fold(command, |command, (option, value)| command.with_value(option, value));
    let flags =
        [("--force", *force), ("--guess", *guess)].into_iter().filter(|(_, is_set)| *is_set);
    flags.fold(command, |command, (flag, _)| command.with(flag))
}
