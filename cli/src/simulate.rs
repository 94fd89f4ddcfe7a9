//! `myriscope simulate`: a scenario at work; its capture, the truth and numbers about it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use simulator::scenario::{Scenario, limits};
use simulator::statistics::RunStatistics;
use simulator::truth::TraceLevel;

use crate::args::SimulateArgs;
use crate::atomic_file::is_standard;
use crate::exit::{CliError, RunReport};
use crate::output::StandardOutput;
use crate::run_simulation::{RunFiles, run_scenario};
use crate::statistics;

pub(crate) fn run(
    arguments: &SimulateArgs,
    output: &mut StandardOutput,
) -> Result<RunReport, CliError> {
    let SimulateArgs { scenario: path, capture, truth, seed, stats } = arguments;
    let text = read(path)?;
    let scenario = Scenario::read_with(&path.display().to_string(), &text, *seed)
        .map_err(|error| CliError::scenario(&error))?;
    let written = [Some(capture.as_path()), truth.as_deref()];
    check_apart(Some(path), written)?;
    if *stats && let Some(path) = written.into_iter().flatten().find(|path| is_standard(path)) {
        return Err(CliError::writing(path, &"two things would be written there"));
    }
    if scenario.taps.is_empty() && truth.is_none() && !*stats {
        return Err(CliError::reading(path, &"no [[tap]] says what is to be captured"));
    }
    let files = RunFiles::create(Some(capture), truth.as_deref())?;
    if !*stats {
        let wanted = if truth.is_some() { TraceLevel::Everything } else { TraceLevel::Nothing };
        run_scenario(&scenario, wanted, files, &mut |_| {})?;
        return Ok(RunReport::default());
    }
    let mut seen = RunStatistics::default();
    let network = run_scenario(&scenario, TraceLevel::Everything, files, &mut |happened| {
        seen.observe(happened)
    })?;
    statistics::print(&scenario, &network, &seen, output);
    Ok(RunReport::default())
}

/// The text of a scenario; `-` is standard input.
pub(crate) fn read(path: &Path) -> Result<String, CliError> {
    let most = limits::TEXT_MAX;
    let mut bytes = Vec::new();
    let mut all = |stream: &mut dyn Read| stream.take(most as u64 + 1).read_to_end(&mut bytes);
    let read = if is_standard(path) {
        all(&mut io::stdin().lock())
    } else {
        File::open(path).and_then(|mut file| all(&mut file))
    };
    read.map_err(|error| CliError::reading(path, &error))?;
    if bytes.len() > most {
        let what = format!("more than {most} bytes: no scenario has so many");
        return Err(CliError::reading(path, &what));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let byte = error.as_bytes().get(at).copied().unwrap_or_default();
        CliError::reading(path, &format!("byte {at}: {byte:02x} is no text (UTF-8)"))
    })
}

/// No two of the files may be the same, the first being the scenario's.
pub(crate) fn check_apart(
    scenario: Option<&Path>,
    written: [Option<&Path>; 2],
) -> Result<(), CliError> {
    if let [Some(capture), Some(truth)] = written
        && is_same(capture, truth)
    {
        return Err(CliError::writing(capture, &"two things would be written there"));
    }
    let scenario = scenario.filter(|path| !is_standard(path));
    let lost = |path: &&Path| scenario.is_some_and(|scenario| is_same(scenario, path));
    match written.into_iter().flatten().find(lost) {
        Some(path) => Err(CliError::writing(path, &"the scenario would be overwritten")),
        None => Ok(()),
    }
}

/// Whether two paths are of one file. A pipe or a device takes whatever comes.
fn is_same(a: &Path, b: &Path) -> bool {
    match (fs::canonicalize(a), fs::canonicalize(b)) {
        (Ok(a), Ok(b)) => a == b && a.is_file(),
        (Err(_), _) | (_, Err(_)) => a == b,
    }
}
