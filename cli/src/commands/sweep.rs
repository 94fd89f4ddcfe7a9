//! `myriscope sweep`: runs a scenario at several points with several seeds, and compares the results.

mod journal;
mod report;
mod saturation;

use std::fmt;
use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressState};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use simulator::network::{Network, VisitOrder};
use simulator::scenario::Scenario;
use simulator::statistics::OfferedLoad;
use simulator::statistics::RunStatistics;
use simulator::truth::TraceLevel;

use self::journal::{RunJournal, SweepIdentity, TextHash};
use self::report::{RunEnding, RunNumbers, SweepReport};
use self::saturation::SaturationSearch;
use super::experiment::text;
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
    /// Limit of the time behind the end of a run; none for as long as what is measured.
    drain: Option<u64>,
}

/// All runs of a sweep: of each point, in order, those of each seed.
struct SweepPlan {
    /// Points; of a search its key is the first, and varied slowest.
    points: Vec<Vec<KeySetting>>,
    seeds: u64,
    first_seed: u64,
    /// Simulated periods of all runs.
    periods: u64,
    identity: SweepIdentity,
}

pub(crate) fn run(arguments: &SweepArgs, output: &mut StandardOutput) -> CommandResult {
    let SweepArgs { scenario: path, set, saturation, warmup, drain, format, directory, .. } =
        arguments;
    interrupt::handle();
    let text = read_scenario(path)?;
    let searched = saturation.as_ref().map(|it| &*it.key);
    let settings = ScenarioSettings { path, text: &text, set, searched };
    let swept = SweptScenario { settings, warm_up: *warmup, drain: *drain };
    let plan = SweepPlan::new(arguments, &swept)?;
    let search = SaturationSearch::of(arguments, &plan)?;
    let open = |directory: &PathBuf| RunJournal::open(directory, &plan.identity);
    let journal = directory.as_ref().map(open).transpose()?;
    let (bar, journal) = (plan.bar(), journal.as_ref());
    let mut run = |points: &[usize]| plan.runs(&swept, journal, points, &bar);
    let (points, runs, found) = match &search {
        Some(search) => search.run(&mut run)?,
        None => (plan.points.clone(), run(&(0..plan.points.len()).collect::<Vec<_>>())?, None),
    };
    bar.finish_and_clear();
    let report = SweepReport { points: &points, seeds: plan.seeds, runs: &runs };
    let all = report.table();
    let table = found.as_ref().unwrap_or(&all);
    match format {
        ListFormat::Text => text::table(table, &mut |line| output.line(&line)),
        ListFormat::Json => output.json(table, "\n"),
        ListFormat::Jsonl => table.records().for_each(|row| output.json(&row, "\n")),
        ListFormat::Csv | ListFormat::Tsv => output.text(&ValueSeparator::of(*format).table(table)),
    }
    let Some(directory) = directory else { return Ok(RunReport::default()) };
    let files = [
        ("sweep.csv", ValueSeparator::Comma.table(&all)),
        ("sweep-seeds.csv", ValueSeparator::Comma.table(&report.seed_table(plan.first_seed))),
        ("sweep.svg", plot::draw(&report.plot())),
    ];
    let found = found.map(|found| ("saturation.csv", ValueSeparator::Comma.table(&found)));
    let files: Vec<_> =
        files.into_iter().chain(found).map(|(name, text)| (directory.join(name), text)).collect();
    write_files(files.iter().map(|(path, text)| (path.as_path(), text.as_bytes())))?;
    Ok(RunReport::default())
}

impl SweepPlan {
    /// Reads the scenarios of all points, so that errors come before the first run.
    fn new(arguments: &SweepArgs, swept: &SweptScenario<'_>) -> Result<Self, CliError> {
        let SweepArgs { scenario: path, vary, saturation, seeds, .. } = arguments;
        let searched = saturation.iter().map(|it| ("--saturation", it));
        let points = points(searched.chain(vary.iter().map(|it| ("--vary", it))), *seeds)?;
        let (mut first_seed, mut periods, mut hash) = (0, 0_u64, TextHash::default());
        for point in &points {
            if interrupt::is_pressed() {
                return Err(CliError::Message(interrupt::error().to_string()));
            }
            let scenario = swept.read(point, None)?;
            if swept.warm_up >= scenario.duration {
                let what =
                    "the warm-up is not shorter than the run: expected a time below the duration";
                return Err(CliError::reading(path, &what));
            }
            if let Some(VariedKey { key, .. }) = saturation
                && OfferedLoad::of(&scenario, swept.warm_up..scenario.duration).is_none()
            {
                let what = "the offered load depends on the network: expected streams with times of their own";
                return Err(CliError::Message(format!("--saturation {key}: {what}")));
            }
            first_seed = scenario.seed;
            periods = periods.saturating_add(scenario.duration.saturating_mul(*seeds));
            hash.add(&scenario);
        }
        let varied = |it: &VariedKey| format!("{}={}", it.key, it.values.join(","));
        let identity = SweepIdentity {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            vary: vary.iter().map(varied).collect(),
            saturation: saturation.as_ref().map(varied),
            seeds: *seeds,
            warmup_periods: swept.warm_up,
            drain_periods: swept.drain,
            scenario: hash.digits(),
        };
        Ok(Self { points, seeds: *seeds, first_seed, periods, identity })
    }

    fn bar(&self) -> ProgressBar {
        let rate = |state: &ProgressState, out: &mut dyn fmt::Write| {
            // A line that cannot be drawn is not worth an error.
            let _ = write!(out, "{:.0} µs/s", state.per_sec() / 80.0);
        };
        let jobs = format!(
            "{{bar:30}} {{percent}} %  {{rate}}  {} jobs  ETA {{eta}}",
            rayon::current_num_threads()
        );
        progress::bar(self.periods, progress::style(&jobs).with_key("rate", rate))
    }

    /// Runs what is not finished of these points, in parallel; the results are in order, however many threads there
    /// are.
    fn runs(
        &self,
        swept: &SweptScenario<'_>,
        journal: Option<&RunJournal>,
        points: &[usize],
        bar: &ProgressBar,
    ) -> Result<Vec<RunNumbers>, CliError> {
        let advance = |periods| progress::advance(bar, periods);
        let all =
            self.points.iter().flat_map(|point| (0..self.seeds).map(move |seed| (point, seed)));
        let seeds = usize::try_from(self.seeds).unwrap_or(usize::MAX);
        let is_asked = |(at, _): &(usize, _)| points.binary_search(&(at / seeds.max(1))).is_ok();
        let runs: Vec<_> = all.enumerate().filter(is_asked).collect();
        let run = |&(at, (point, seed)): &(usize, (&Vec<KeySetting>, u64))| {
            if interrupt::is_pressed() {
                return Ok(None);
            }
            let scenario = swept.read(point, Some(self.first_seed.wrapping_add(seed)))?;
            if let Some(numbers) = journal.and_then(|journal| journal.finished(at)) {
                advance(scenario.duration);
                return Ok(Some(numbers));
            }
            let numbers = swept.measure(&scenario, &advance);
            journal.zip(numbers).map_or(Ok(()), |(journal, numbers)| journal.add(at, numbers))?;
            Ok(numbers)
        };
        let results: Result<Vec<Option<RunNumbers>>, CliError> = runs.par_iter().map(run).collect();
        let results = results?;
        let (count, all) = (results.iter().flatten().count(), results.len());
        let complete: Option<Vec<RunNumbers>> = results.into_iter().collect();
        complete.ok_or_else(|| {
            let kept = match journal {
                Some(_) => "the same command goes on from there",
                None => "nothing is kept without -o DIR",
            };
            CliError::Message(format!("{} after {count} of {all} runs: {kept}", interrupt::error()))
        })
    }
}

/// All combinations of the values of the keys, the last key varied fastest.
fn points<'a>(
    vary: impl Iterator<Item = (&'a str, &'a VariedKey)>,
    seeds: u64,
) -> Result<Vec<Vec<KeySetting>>, CliError> {
    let mut points: Vec<Vec<KeySetting>> = vec![Vec::new()];
    for (option, VariedKey { key, values }) in vary {
        if points.iter().flatten().any(|setting| setting.key == *key) {
            return Err(CliError::Message(format!("{option} {key}: the key is varied already")));
        }
        let count = (points.len() as u64).saturating_mul(values.len() as u64);
        if count.saturating_mul(seeds) > RUNS_MAX {
            let expected = "expected fewer values or seeds";
            let message = format!("{option} {key}: more than {RUNS_MAX} runs; {expected}");
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

    /// Numbers of a run; none after Ctrl-C. Behind its end the network is drained: the hosts go on sending, until
    /// the measured packets have arrived or the limit is reached.
    fn measure(&self, scenario: &Scenario, advance: &dyn Fn(u64)) -> Option<RunNumbers> {
        let end = scenario.duration;
        let span = self.warm_up..end;
        let drain = self.drain.unwrap_or(end - self.warm_up);
        let offered = OfferedLoad::of(scenario, span.clone());
        let mut network = Network::new(scenario, TraceLevel::Everything, VisitOrder::AsGiven);
        let mut seen = RunStatistics::new(scenario, self.warm_up).until(end);
        while network.now() < end
            || network.now() < end.saturating_add(drain) && unfinished(&seen, offered) > 0
        {
            if interrupt::is_pressed() {
                return None;
            }
            let start = network.now();
            let until = if start < end { end } else { end.saturating_add(drain) };
            network.run(start.saturating_add(SLICE).min(until));
            network.drain_events().for_each(|event| seen.observe(&event));
            if start < end {
                advance(network.now() - start);
            }
        }
        let standing = seen.standing(&network, drain).map_or(0, |found| found.packets);
        let unfinished = unfinished(&seen, offered);
        Some(RunNumbers::of(&seen, span, RunEnding { offered, unfinished, standing }))
    }
}

/// Number of measured packets that have neither arrived nor been lost.
fn unfinished(seen: &RunStatistics, offered: Option<OfferedLoad>) -> u64 {
    let finished = seen.latencies.packet.count().saturating_add(seen.lost);
    offered.map_or_else(|| seen.measured_under_way(), |load| load.packets.saturating_sub(finished))
}
