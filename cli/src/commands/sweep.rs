//! `myriscope sweep`: runs a scenario at several points with several seeds, and compares the results.

mod report;
mod vary;

use std::fs;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use simulator::network::{Network, VisitOrder};
use simulator::scenario::Scenario;
use simulator::statistics::RunStatistics;
use simulator::truth::TraceLevel;

use self::report::{RunNumbers, SweepReport};
use self::vary::{SweepPoint, points};
use super::simulate::{ScenarioSettings, read_scenario};
use crate::args::SweepArgs;
use crate::atomic_file::write_files;
use crate::exit::{CliError, CommandResult, RunReport};
use crate::output::StandardOutput;
use crate::{interrupt, progress};

/// Periods simulated at a time. *Chosen*: few enough to keep all events.
const SLICE: u64 = 1 << 12;

/// A scenario, and the end of its warm-up in periods of the full rate.
struct SweptScenario<'a> {
    settings: ScenarioSettings<'a>,
    warm_up: u64,
}

pub(crate) fn run(arguments: &SweepArgs, output: &mut StandardOutput) -> CommandResult {
    let SweepArgs { scenario: path, vary, set, seeds, warmup, directory } = arguments;
    let text = read_scenario(path)?;
    let points = points(vary, *seeds)?;
    let settings = ScenarioSettings { path, text: &text, set };
    let swept = SweptScenario { settings, warm_up: warmup.periods() };
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
    if let Some(directory) = directory {
        fs::create_dir_all(directory).map_err(|error| CliError::writing(directory, &error))?;
    }
    interrupt::handle();
    let style = progress::style("{bar:30} {percent} %  ETA {eta}");
    let bar = progress::bar(periods, style);
    let seeds: Vec<u64> = (0..*seeds).map(|seed| first_seed.wrapping_add(seed)).collect();
    let runs: Vec<(&SweepPoint, u64)> =
        points.iter().flat_map(|point| seeds.iter().map(move |seed| (point, *seed))).collect();
    // In the order of the points and seeds, however many threads there are.
    let numbers: Result<Vec<RunNumbers>, CliError> = runs
        .into_par_iter()
        .map(|(point, seed)| {
            let scenario = swept.read(point, Some(seed))?;
            swept.measure(&scenario, &|periods| progress::advance(&bar, periods))
        })
        .collect();
    bar.finish_and_clear();
    let report =
        SweepReport { points: &points, seeds: &seeds, warm_up: swept.warm_up, runs: &numbers? };
    if let Some(directory) = directory {
        let files = [
            ("sweep.csv", report.csv()),
            ("sweep.json", report.json()),
            ("sweep.svg", report.plot()),
        ];
        let files = files.map(|(name, text)| (directory.join(name), text));
        write_files(files.iter().map(|(path, text)| (path.as_path(), text.as_bytes())))?;
    }
    report.print(output);
    Ok(RunReport::default())
}

impl SweptScenario<'_> {
    /// The scenario of a point, with another seed if one is given.
    fn read(&self, point: &SweepPoint, seed: Option<u64>) -> Result<Scenario, CliError> {
        let mut scenario = self.settings.read(point.settings(), seed)?;
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
