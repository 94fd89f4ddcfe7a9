//! `myriscope reproduce`: an input of a fuzz target, looked at with the tools of this program.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use laws::failure::{LawFailure, catch_failure};
use laws::reproduction::{self, CANARY, Reproduction, ReproductionPart, minimal};
use laws::{LawFunction, TARGETS};

use crate::args::ReproduceArgs;
use crate::atomic_file::{AtomicFile, is_standard};
use crate::exit::{CliError, RunReport};
use crate::output::StandardOutput;

/// Most bytes of an input. *Chosen*: far more than any fuzzer tries.
const INPUT_MAX: u64 = 1 << 24;

/// The least input, where there is one.
const INPUT_MIN: &str = "input.min";

pub(crate) fn run(
    arguments: &ReproduceArgs,
    output: &mut StandardOutput,
) -> Result<RunReport, CliError> {
    let ReproduceArgs { target, input: path, directory, runs } = arguments;
    let law = law(target)?;
    let input = read(path)?;
    let mut report = RunReport::of(path);
    let mut say = |line: String| output.text(&format!("{line}\n"));
    let least = match catch_failure(|| law(&input)) {
        Ok(()) => {
            say(format!("// {target}: the law holds of this input of {} bytes", input.len()));
            None
        }
        Err(broken) => {
            report.problem_found();
            let least = minimal(law, &input, &broken, *runs);
            print_violation(target, &broken, &mut say);
            say(format!(
                "// least input that does so: {} of {} bytes, after {} more runs",
                least.input.len(),
                input.len(),
                least.runs
            ));
            Some(least.input)
        }
    };
    let Some(picture) = reproduction::picture(target, least.as_ref().unwrap_or(&input)) else {
        return Err(unknown(target));
    };
    if let Some(directory) = directory {
        write(directory, &picture, least.as_deref(), &mut say)?;
    }
    say(picture.notation.trim_end().to_owned());
    Ok(report)
}

/// Says how a law is broken: all lines of its message, without what harms a terminal.
fn print_violation(target: &str, broken: &LawFailure, say: &mut impl FnMut(String)) {
    say(format!("// {target}: THE LAW IS BROKEN at {}", broken.place));
    for line in broken.text.lines() {
        let line: String = line.chars().flat_map(escaped).collect();
        say(format!("//   {line}"));
    }
}

/// A character, or what stands for it on a terminal.
fn escaped(c: char) -> impl Iterator<Item = char> {
    let (plain, escaped) =
        if c.is_control() { (None, Some(c.escape_default())) } else { (Some(c), None) };
    plain.into_iter().chain(escaped.into_iter().flatten())
}

fn law(target: &str) -> Result<LawFunction, CliError> {
    reproduction::law(target).ok_or_else(|| unknown(target))
}

/// There is no such target: which there are, and which may have been meant.
fn unknown(target: &str) -> CliError {
    let names = || TARGETS.iter().map(|(name, _)| *name);
    let distance = |name: &&str| strsim::damerau_levenshtein(name, target);
    let near = names().min_by_key(distance).filter(|name| distance(name) <= 2);
    let near = near.map_or_else(String::new, |name| format!(" (did you mean {name:?}?)"));
    let names: Vec<&str> = names().collect();
    CliError::message(format!(
        "no target {target:?}{near}: there are {}; and {CANARY}, whose law is broken on purpose",
        names.join(", ")
    ))
}

/// An input, which may be any bytes, or none.
fn read(path: &Path) -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    let mut all = |stream: &mut dyn Read| stream.take(INPUT_MAX + 1).read_to_end(&mut bytes);
    let read = if is_standard(path) {
        all(&mut io::stdin().lock())
    } else {
        File::open(path).and_then(|mut file| all(&mut file))
    };
    read.map_err(|error| CliError::reading(path, &error))?;
    if bytes.len() as u64 > INPUT_MAX {
        let what = format!("more than {INPUT_MAX} bytes: no fuzzer tries so many");
        return Err(CliError::reading(path, &what));
    }
    Ok(bytes)
}

/// Writes what there is, all of it or nothing, and takes away what an earlier picture has left there.
fn write(
    directory: &Path,
    picture: &Reproduction,
    least: Option<&[u8]>,
    say: &mut impl FnMut(String),
) -> Result<(), CliError> {
    fs::create_dir_all(directory).map_err(|error| CliError::writing(directory, &error))?;
    let text = |part: &ReproductionPart<String>| part.clone().map(String::into_bytes);
    let least = least.map(<[u8]>::to_vec);
    let parts = [
        ("capture.pcapng", picture.capture.clone()),
        ("scenario.toml", text(&picture.scenario)),
        ("truth.jsonl", picture.truth.clone()),
        ("report.txt", text(&picture.report)),
        (INPUT_MIN, least.ok_or_else(|| "the law holds".to_owned())),
    ];
    let mut whole = Vec::new();
    for (name, part) in &parts {
        let path = directory.join(name);
        let Ok(bytes) = part else { continue };
        let put = || {
            let mut target = AtomicFile::create(&path)?;
            target.write_all(bytes)?;
            target.sync()?;
            Ok(target)
        };
        whole.push(put().map_err(|error: io::Error| CliError::writing(&path, &error))?);
    }
    for target in whole {
        let path = target.path().to_owned();
        target.commit().map_err(|error| CliError::writing(&path, &error))?;
    }
    for (name, part) in parts {
        let path = directory.join(name);
        match part {
            Ok(bytes) => say(format!("// {}: {} bytes", path.display(), bytes.len())),
            Err(why) => {
                remove(&path)?;
                say(format!("// no {name}: {}", why.replace('\n', " ")));
            }
        }
    }
    Ok(())
}

/// Takes a file away, if it is there.
fn remove(path: &Path) -> Result<(), CliError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(CliError::writing(path, &error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
