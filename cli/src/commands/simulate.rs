//! `myriscope simulate`: runs a scenario and writes its capture, truth and statistics.

use std::io::Read;
use std::path::Path;

use codec::capture::decompress;
use codec::words::escape_text;
use simulator::scenario::{Scenario, limits, with_key};
use simulator::statistics::RunStatistics;
use simulator::truth::TraceLevel;

use crate::args::{KeySetting, SimulateArgs};
use crate::exit::{CliError, CommandResult, RunReport, is_standard};
use crate::input::{open_file, read_limited};
use crate::output::StandardOutput;
use crate::run_simulation::{RunPaths, run_scenario};
use crate::statistics::{SHOWN, StatisticsOfRun};

pub(crate) fn run(arguments: &SimulateArgs, output: &mut StandardOutput) -> CommandResult {
    let SimulateArgs { scenario: path, capture, truth, stats_out, stats, .. } = arguments;
    let paths = RunPaths {
        scenario: Some(path),
        capture: capture.as_deref(),
        truth: truth.as_deref(),
        statistics: stats_out.as_deref(),
        truth_kinds: &arguments.truth_kinds,
        engine: arguments.engine.into(),
    };
    if paths.outputs().next().is_none() && !stats {
        let what = "nothing to write: name a capture (-o FILE), or --truth FILE, --stats or --stats-out FILE";
        return Err(CliError::Message(what.to_owned()));
    }
    if *stats && let Some(path) = paths.outputs().find(|path| is_standard(path)) {
        return Err(CliError::writing(path, &"named for two outputs"));
    }
    let text = read_scenario(path)?;
    let settings = ScenarioSettings { path, text: &text, set: &arguments.set, searched: None };
    let (mut scenario, unused) = settings.read_noted(&[], arguments.seed)?;
    let is_counted = *stats || stats_out.is_some();
    let is_traced = is_counted || truth.is_some();
    if capture.is_none() {
        scenario.taps.clear();
    } else if scenario.taps.is_empty() && !is_traced {
        let what = "the scenario has no [[tap]] to capture: add one, for example with `all = true`";
        return Err(CliError::reading(path, &what));
    }
    let level = if is_traced { TraceLevel::Everything } else { TraceLevel::Nothing };
    let mut statistics = RunStatistics::new(&scenario, 0);
    let observe = &mut |event: &_| {
        if is_counted {
            statistics.observe(event);
        }
    };
    let mut run = run_scenario(&scenario, level, &paths, observe)?;
    let files = run.files.take();
    let seen = StatisticsOfRun { scenario: &scenario, network: &run.network, seen: &statistics };
    files.map_or(Ok(()), |files| files.finish(&seen.json()))?;
    if *stats {
        seen.print(if arguments.all { usize::MAX } else { SHOWN }, output);
    }
    let mut report = RunReport::of(path);
    unused.iter().chain(&scenario.notes()).for_each(|note| report.warning(note));
    Ok(report)
}

/// A file of at most `most` bytes, decompressed, that a scenario names, relative to the scenario.
pub(crate) fn read_beside(scenario: &Path, name: &str, most: usize) -> Result<Vec<u8>, String> {
    let directory = if is_standard(scenario) { None } else { scenario.parent() };
    let file = open_file(&directory.unwrap_or(Path::new("")).join(name));
    let mut bytes = Vec::new();
    let limit = (most as u64).saturating_add(1);
    let read = file.and_then(decompress).and_then(|it| it.take(limit).read_to_end(&mut bytes));
    read.map_err(|error| error.to_string())?;
    let is_short = bytes.len() <= most;
    is_short.then_some(bytes).ok_or_else(|| format!("it exceeds {most} bytes"))
}

/// Characters of an option in an error. *Chosen*: a line.
const OPTION_MAX: usize = 80;

/// A scenario file, and the keys that the command line replaces.
#[derive(Clone, Copy)]
pub(crate) struct ScenarioSettings<'a> {
    pub(crate) path: &'a Path,
    pub(crate) text: &'a str,
    pub(crate) set: &'a [KeySetting],
    /// Key whose values are searched, not varied.
    pub(crate) searched: Option<&'a str>,
}

impl ScenarioSettings<'_> {
    /// Reads the scenario with its keys replaced, then those of a point of a sweep. Errors name the options.
    pub(crate) fn read(
        &self,
        vary: &[KeySetting],
        seed: Option<u64>,
    ) -> Result<Scenario, CliError> {
        self.read_noted(vary, seed).map(|(scenario, _)| scenario)
    }

    /// Reads the scenario, and notes the keys that have no effect in it.
    pub(crate) fn read_noted(
        &self,
        vary: &[KeySetting],
        seed: Option<u64>,
    ) -> Result<(Scenario, Vec<String>), CliError> {
        let mut name = self.path.display().to_string();
        let mut text = self.text.to_owned();
        let options = [("--set", self.set), ("--vary", vary)];
        for (option, KeySetting { key, value }) in
            options.into_iter().flat_map(|(option, keys)| keys.iter().map(move |key| (option, key)))
        {
            let is_searched = option == "--vary" && self.searched == Some(key);
            let option = if is_searched { "--saturation" } else { option };
            let option = escape_text(format!("{option} {key}={value}"));
            let option: String = option.chars().take(OPTION_MAX).collect();
            text = with_key(&text, key, value)
                .map_err(|error| CliError::Message(format!("{option}: {error}")))?;
            name += &format!(", {option}");
        }
        let files = |name: &str, most| read_beside(self.path, name, most);
        Scenario::read_noted(&name, &text, seed, &files).map_err(|error| CliError::scenario(&error))
    }
}

/// Text of a scenario file; `-` is standard input.
pub(crate) fn read_scenario(path: &Path) -> Result<String, CliError> {
    let bytes = read_limited(path, limits::TEXT_MAX, "scenario")?;
    if bytes.is_empty() {
        return Err(CliError::reading(path, &"the file is empty"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let byte = error.as_bytes().get(at).copied().unwrap_or_default();
        CliError::reading(path, &format!("byte {at}: {byte:02x} is not valid UTF-8"))
    })
}
