//! `myriscope merge`: one capture of several, by time and channel.

use analyzer::channel_name::escape_text;
use analyzer::render::{StyledLine, TextStyle};
use codec::capture::{MergeError, merge};

use crate::args::MergeArgs;
use crate::atomic_file::{AtomicFile, commit_all};
use crate::exit::{CliError, CommandResult, RunReport, is_standard, is_standard_input};
use crate::input::InputFile;
use crate::output::StandardOutput;
use crate::run_simulation::{is_same, refuse_terminal};

pub(crate) fn run(arguments: &MergeArgs, output: &mut StandardOutput) -> CommandResult {
    let MergeArgs { files, output: copy } = arguments;
    refuse_terminal(copy)?;
    if !is_standard(copy) && files.iter().any(|file| is_same(file, copy)) {
        return Err(CliError::writing(copy, &"a capture to merge would be overwritten"));
    }
    if files.iter().filter(|file| is_standard_input(file)).count() > 1 {
        return Err(CliError::Message("standard input can be one of the captures only".to_owned()));
    }
    let inputs = files.iter().map(|file| InputFile::whole(file).open());
    let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
    let mut reports: Vec<RunReport> = files.iter().map(|file| RunReport::of(file)).collect();
    let stream = AtomicFile::create(copy)?;
    let merged = merge(inputs, stream, &mut |number, fault| {
        reports.get_mut(number).into_iter().for_each(|report| report.fault(fault.clone()));
    });
    let reading = |number: usize, error: &MergeError| match files.get(number) {
        Some(file) => CliError::reading(file, &escape_text(error.to_string())),
        None => CliError::Message(error.to_string()),
    };
    let (stream, [channels, characters]) = merged.map_err(|error| match error {
        MergeError::Read(input, _)
        | MergeError::SeveralCaptures(input)
        | MergeError::Differs { input, .. } => reading(input, &error),
        MergeError::Write(error) => CliError::writing(copy, &error),
    })?;
    commit_all(vec![stream])?;
    if !is_standard(copy) {
        let text = format!("{characters} characters of {channels} channels written");
        output.line(&StyledLine::of(TextStyle::Plain, text));
    }
    // Of several files with faults, the first is reported.
    let faulty = reports.iter().position(|report| !report.is_clean()).unwrap_or_default();
    Ok(reports.into_iter().nth(faulty).unwrap_or_default())
}
