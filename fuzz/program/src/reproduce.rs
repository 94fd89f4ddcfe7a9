//! `reproduce`: an input of a fuzz target as a capture, scenario, truth, report and test.

use std::fs;
use std::io;
use std::path::Path;

use codec::words::{did_you_mean, escape_text};
use laws::failure::{LawFailure, catch_failure};
use laws::reproduction::{self, CANARY, Reproduction, ReproductionPart, minimal};
use laws::{LawFunction, TARGETS};

use crate::arguments::{ReproduceArgs, StormArgs};
use crate::output::{LawsError, LawsOutput, read, write};
use crate::storm;

/// Most bytes of an input. *Chosen*: far more than any fuzzer tries.
const INPUT_MAX: u64 = 1 << 24;

/// Name for scenarios of storms, whose directory is `corpus/storm` like those of the targets.
const STORM: &str = "storm";

pub(crate) fn run(arguments: &ReproduceArgs) -> Result<LawsOutput, LawsError> {
    let ReproduceArgs { target, input, directory, runs, list: _ } = arguments;
    let (Some(target), Some(path)) = (target, input) else { return Ok(listed()) };
    if target == STORM {
        return storm::run(&StormArgs::of_scenario(path, directory.as_deref()));
    }
    let law = law(target)?;
    let input = read(path, INPUT_MAX)?;
    let mut output = LawsOutput::default();
    let least = match catch_failure(|| law(&input)) {
        Ok(()) => {
            let len = input.len();
            output.text(&format!("// {target}: this input of {len} bytes keeps the law"));
            None
        }
        Err(broken) => {
            output.status = 1;
            let least = minimal(law, &input, &broken, *runs);
            print_violation(target, &broken, &mut output);
            output.text(&format!(
                "// minimized input: {} of {} bytes, after {} more runs",
                least.input.len(),
                input.len(),
                least.runs
            ));
            Some(least.input)
        }
    };
    let shown = reproduction::picture(target, least.as_ref().unwrap_or(&input));
    let Some(reproduction) = shown else { return Err(unknown(target)) };
    if let Some(directory) = directory {
        write_files(directory, &reproduction, least, &mut output)?;
    }
    output.text(reproduction.notation.trim_end());
    Ok(output)
}

/// All targets, each with its modes.
fn listed() -> LawsOutput {
    let mut output = LawsOutput::default();
    for target in TARGETS {
        let modes: Vec<&str> = target.modes.iter().map(|(name, _)| *name).collect();
        output.text(format!("{:<12} {}", target.name, modes.join(" ")).trim_end());
    }
    output.text(&format!("{STORM:<12} a scenario that a storm has written"));
    output.text(&format!("{CANARY:<12} a law that is broken on purpose"));
    output
}

/// Prints all lines of a failure, without control characters.
fn print_violation(target: &str, broken: &LawFailure, output: &mut LawsOutput) {
    output.text(&format!("// {target}: THE LAW IS BROKEN at {}", broken.place));
    for line in broken.text.lines() {
        output.text(&format!("//   {}", escape_text(line.to_owned())));
    }
}

fn law(target: &str) -> Result<LawFunction, LawsError> {
    reproduction::law(target).ok_or_else(|| unknown(target))
}

/// An error with the names of all targets, and the nearest.
fn unknown(target: &str) -> LawsError {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    let near = did_you_mean(target, names.iter().copied());
    let near = near.map_or_else(String::new, |hint| format!(" ({hint})"));
    LawsError::Message(format!(
        "no target {target:?}{near}: there are {}; {STORM} for the scenario of a storm; and {CANARY}, whose \
         law is broken on purpose",
        names.join(", ")
    ))
}

/// Writes the files of a reproduction, and removes those of an earlier one that it does not have.
fn write_files(
    directory: &Path,
    reproduction: &Reproduction,
    least: Option<Vec<u8>>,
    output: &mut LawsOutput,
) -> Result<(), LawsError> {
    fs::create_dir_all(directory).map_err(|error| LawsError::file(directory, &error))?;
    let text = |part: &ReproductionPart<String>| part.clone().map(String::into_bytes);
    let parts = [
        ("capture.pcapng", reproduction.capture.clone()),
        ("scenario.toml", text(&reproduction.scenario)),
        ("truth.jsonl", reproduction.truth.clone()),
        ("report.txt", text(&reproduction.report)),
        ("input.min", least.ok_or_else(|| "the law holds".to_owned())),
    ];
    let files = parts.iter().filter_map(|(name, part)| {
        part.as_ref().ok().map(|bytes| (directory.join(name), bytes.clone()))
    });
    write(&files.collect::<Vec<_>>())?;
    for (name, part) in parts {
        let path = directory.join(name);
        match part {
            Ok(bytes) => output.text(&format!("// {}: {} bytes", path.display(), bytes.len())),
            Err(why) => {
                remove(&path)?;
                output.text(&format!("// no {name}: {}", why.replace('\n', " ")));
            }
        }
    }
    Ok(())
}

/// Removes a file, if it is there.
fn remove(path: &Path) -> Result<(), LawsError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(LawsError::file(path, &error)),
        Ok(()) | Err(_) => Ok(()),
    }
}
