//! `myriscope sweep`: runs a scenario at several points with several seeds, and compares the results.

mod report;

use std::fs;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use simulator::network::{Network, VisitOrder};
use simulator::scenario::Scenario;
use simulator::statistics::RunStatistics;
use simulator::truth::TraceLevel;

use self::report::{RunNumbers, SweepReport};
use super::experiment::{csv, text};
use super::simulate::{ScenarioSettings, read_scenario};
use crate::args::{KeySetting, ListFormat, RUNS_MAX, SweepArgs, VariedKey};
use crate::atomic_file::write_files;
use crate::exit::{CliError, CommandResult, RunReport};
use crate::output::StandardOutput;
use crate::rows::ValueSeparator;
use crate::{interrupt, plot, progress};

/// Periods simulated at a time. *Chosen*: few enough to keep all events.
const SLICE: u64 = 1 << 12;

/// A scenario, and the end of its warm-up in periods of the full rate.
struct SweptScenario<'a> {
    settings: ScenarioSettings<'a>,
    warm_up: u64,
}

pub(crate) fn run(arguments: &SweepArgs, output: &mut StandardOutput) -> CommandResult {
    let Some(directory) = &arguments.directory else { return sweep(arguments, output) };
    let is_new = !directory.exists();
    fs::create_dir_all(directory).map_err(|error| CliError::writing(directory, &error))?;
    let result = sweep(arguments, output);
    if result.is_err() && is_new {
        // It stays if anything is in it.
        let _ = fs::remove_dir(directory);
    }
    result
}

fn sweep(arguments: &SweepArgs, output: &mut StandardOutput) -> CommandResult {
    let SweepArgs { scenario: path, vary, set, seeds, warmup, format, directory } = arguments;
    let text = read_scenario(path)?;
    let points = points(vary, *seeds)?;
    let settings = ScenarioSettings { path, text: &text, set };
    let swept = SweptScenario { settings, warm_up: *warmup };
    let mut first_seed = 0;
    let mut periods = 0_u64;
    for point in &points {
        let scenario = swept.read(point, None)?;
        if swept.warm_up >= scenario.duration {
            let what =
                "the warm-up is not shorter than the run: expected a time below the duration";
            return Err(CliError::reading(path, &what));
        }
        first_seed = scenario.seed;
        periods = periods.saturating_add(scenario.duration.saturating_mul(*seeds));
    }
    interrupt::handle();
    let bar = progress::bar(periods, progress::style("{bar:30} {percent} %  ETA {eta}"));
    let runs = points.iter().flat_map(|point| (0..*seeds).map(move |seed| (point, seed)));
    // In the order of the points and seeds, however many threads there are.
    let runs: Result<Vec<RunNumbers>, CliError> = runs
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|(point, seed)| {
            let scenario = swept.read(point, Some(first_seed.wrapping_add(seed)))?;
            swept.measure(&scenario, &|periods| progress::advance(&bar, periods))
        })
        .collect();
    bar.finish_and_clear();
    let report = SweepReport { points: &points, seeds: *seeds, runs: &runs? };
    let table = report.table();
    match format {
        ListFormat::Text => text::table(&table, &mut |line| output.line(&line)),
        ListFormat::Json => output.json(&table, "\n"),
        ListFormat::Jsonl => table.records().for_each(|row| output.json(&row, "\n")),
        ListFormat::Csv => output.text(&csv::table(&table, ValueSeparator::Comma)),
        ListFormat::Tsv => output.text(&csv::table(&table, ValueSeparator::Tab)),
    }
    let Some(directory) = directory else { return Ok(RunReport::default()) };
    let files = [
        ("sweep.csv", csv::table(&table, ValueSeparator::Comma)),
        ("sweep.svg", plot::draw(&report.plot())),
    ];
    let files = files.map(|(name, text)| (directory.join(name), text));
    write_files(files.iter().map(|(path, text)| (path.as_path(), text.as_bytes())))?;
    Ok(RunReport::default())
}

/// All combinations of the values of the keys, the last key varied fastest.
fn points(vary: &[VariedKey], seeds: u64) -> Result<Vec<Vec<KeySetting>>, CliError> {
    let mut points = vec![Vec::new()];
    for VariedKey { key, values } in vary {
        let count = (points.len() as u64).saturating_mul(values.len() as u64);
        if count.saturating_mul(seeds) > RUNS_MAX {
            let expected = "expected fewer values or seeds";
            let message = format!("--vary {key}: more than {RUNS_MAX} runs; {expected}");
            return Err(CliError::Message(message));
        }
        let with = |(point, value): (&Vec<KeySetting>, &String)| {
            let setting = KeySetting { key: key.clone(), value: value.clone() };
            point.iter().cloned().chain([setting]).collect()
        };
        let pairs = points.iter().flat_map(|point| values.iter().map(move |value| (point, value)));
        points = pairs.map(with).collect();
    }
    Ok(points)
}

impl SweptScenario<'_> {
    /// The scenario of a point, with another seed if one is given.
    fn read(&self, point: &[KeySetting], seed: Option<u64>) -> Result<Scenario, CliError> {
        let mut scenario = self.settings.read(point, seed)?;
        scenario.taps.clear();
        Ok(scenario)
    }

    fn measure(&self, scenario: &Scenario, advance: &dyn Fn(u64)) -> Result<RunNumbers, CliError> {
        let mut network = Network::new(scenario, TraceLevel::Everything, VisitOrder::AsGiven);
        let mut seen = RunStatistics::new(scenario, self.warm_up);
        while network.now() < scenario.duration {
            if interrupt::is_pressed() {
                let error = interrupt::error();
                return Err(CliError::Message(format!("{error}: no file is written")));
            }
            let start = network.now();
            network.run(start.saturating_add(SLICE).min(scenario.duration));
            network.drain_events().for_each(|event| seen.observe(&event));
            advance(network.now() - start);
        }
        Ok(RunNumbers::of(&seen, scenario.duration - self.warm_up))
    }
}
