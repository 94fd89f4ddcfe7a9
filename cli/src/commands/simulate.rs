//! `myriscope simulate`: runs a scenario and writes its capture, truth and statistics.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use simulator::scenario::{Scenario, limits};
use simulator::statistics::RunStatistics;
use simulator::truth::TraceLevel;

use crate::args::SimulateArgs;
use crate::exit::{CliError, CommandResult, RunReport, is_standard, print_error};
use crate::input::read_limited;
use crate::output::StandardOutput;
use crate::run_simulation::{RunPaths, run_scenario};
use crate::statistics;

pub(crate) fn run(arguments: &SimulateArgs, output: &mut StandardOutput) -> CommandResult {
    let SimulateArgs { scenario: path, capture, truth, seed, stats } = arguments;
    let text = read_scenario(path)?;
    let files = |name: &str| read_beside(path, name);
    let scenario = Scenario::read_from(&path.display().to_string(), &text, *seed, &files)
        .map_err(|error| CliError::scenario(&error))?;
    note_deadlock(&scenario);
    let paths = RunPaths { scenario: Some(path), capture: Some(capture), truth: truth.as_deref() };
    if *stats && let Some(path) = paths.outputs().find(|path| is_standard(path)) {
        return Err(CliError::writing(path, &"named for two outputs"));
    }
    if scenario.taps.is_empty() && truth.is_none() && !*stats {
        return Err(CliError::reading(path, &"the scenario has no [[tap]] to capture"));
    }
    let traced = *stats || truth.is_some();
    let level = if traced { TraceLevel::Everything } else { TraceLevel::Nothing };
    let mut statistics = RunStatistics::default();
    let observe = &mut |event: &_| {
        if *stats {
            statistics.observe(event);
        }
    };
    let network = run_scenario(&scenario, level, &paths, observe)?;
    if *stats {
        statistics::print(&scenario, &network, &statistics, output);
    }
    Ok(RunReport::default())
}

/// Text of a file that a scenario names, relative to the scenario.
pub(crate) fn read_beside(scenario: &Path, name: &str) -> Result<String, String> {
    let directory = if is_standard(scenario) { None } else { scenario.parent() };
    let file = File::open(directory.unwrap_or(Path::new("")).join(name));
    let mut bytes = Vec::new();
    let limit = limits::TEXT_MAX as u64 + 1;
    let read = file.and_then(|file| file.take(limit).read_to_end(&mut bytes));
    read.map_err(|error| error.to_string())?;
    if bytes.len() > limits::TEXT_MAX {
        return Err(format!("it exceeds {} bytes", limits::TEXT_MAX));
    }
    String::from_utf8(bytes).map_err(|error| error.to_string())
}

/// Notes that the routes can deadlock, with the cycle of channels.
fn note_deadlock(scenario: &Scenario) {
    /// Channels of a cycle that are shown. *Chosen*: three lines.
    const SHOWN: usize = 16;
    let Some(cycle) = scenario.routes.cycle(&scenario.topology) else { return };
    let names: Vec<String> =
        cycle.iter().take(SHOWN).map(|port| scenario.topology.port_name(*port)).collect();
    let rest = if cycle.len() > SHOWN { " …" } else { "" };
    print_error(&format!(
        "note: the routes can deadlock: packets sent on {}{rest} can wait for one another in a circle",
        names.join(", ")
    ));
}

/// Text of a scenario file; `-` is standard input.
pub(crate) fn read_scenario(path: &Path) -> Result<String, CliError> {
    String::from_utf8(read_limited(path, limits::TEXT_MAX, "scenario")?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let byte = error.as_bytes().get(at).copied().unwrap_or_default();
        CliError::reading(path, &format!("byte {at}: {byte:02x} is not valid UTF-8"))
    })
}
