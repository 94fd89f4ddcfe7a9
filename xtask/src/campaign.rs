//! `cargo xtask campaign`: fuzzers, storms, laws and mutants in turn for hours, with one report.

use std::fs;
use std::io::{self, Write};
use std::process::Command;
use std::time::{Duration, SystemTime};

use clap::Args;

use crate::fuzz::{self, FuzzArgs};
use crate::workspace::{TaskError, at, command, output, root, shown};
use crate::{TaskOutcome, laws};

/// Time of a round, which runs every step once. *Chosen*: short enough that all of them have run in a night.
const ROUND: Duration = Duration::from_secs(3600);
/// Multiple of the random cases in `cargo test`. *Chosen*: it takes about as long as the other steps.
const LAWS: u32 = 4;
/// Time of a mutant: what changed is built, and tested. *Chosen* from those of measurements.md.
const MUTANT: Duration = Duration::from_secs(150);

#[derive(Debug, Args)]
pub(crate) struct CampaignArgs {
    /// Hours of all rounds together, those before an interruption included: 8, 0.5.
    #[arg(long, value_name = "N", default_value = "8", value_parser = hours)]
    hours: Duration,
    /// Forgets the rounds before.
    #[arg(long)]
    fresh: bool,
}

/// Steps of a round, in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CampaignStep {
    Fuzz,
    Storm,
    Laws,
    Mutants,
}

/// A step that has been run.
#[derive(Clone, Debug, PartialEq, Eq)]
struct StepRecord {
    round: u32,
    step: CampaignStep,
    seconds: u64,
    /// `well`, or what was found and where it is.
    result: String,
}

impl CampaignStep {
    const ALL: [Self; 4] = [Self::Fuzz, Self::Storm, Self::Laws, Self::Mutants];

    const fn name(self) -> &'static str {
        match self {
            Self::Fuzz => "fuzz",
            Self::Storm => "storm",
            Self::Laws => "laws",
            Self::Mutants => "mutants",
        }
    }

    /// Runs the step for about this time. Seeds and mutants are those of the round.
    fn run(self, round: u32, time: Duration) -> Result<String, TaskError> {
        let seconds = format!("{}s", time.as_secs().max(1));
        let found = |outcome: TaskOutcome, place: &str| match outcome {
            TaskOutcome::Well => "well".to_owned(),
            TaskOutcome::Found => format!("found: {place}"),
        };
        match self {
            Self::Fuzz => {
                let ended = fuzz::run(&FuzzArgs::timed(time, round))?;
                Ok(found(ended, "fuzz/artifacts"))
            }
            Self::Storm => {
                let directory = root().join("fuzz/artifacts/storm");
                fs::create_dir_all(&directory).map_err(at(&directory))?;
                let mut cargo = command("cargo");
                cargo.args(["run", "--release", "--locked", "-p", "myriscope-laws", "--", "storm"]);
                cargo.args(["--seed", &round.to_string(), "--time", &seconds, "-o"]);
                status(cargo.arg(&directory), &shown(&directory))
            }
            Self::Laws => status(&mut laws::tests(LAWS, round.into()), "the tests above"),
            Self::Mutants => {
                if output(command("cargo").args(["mutants", "--version"])).is_err() {
                    return Ok("left out: cargo-mutants is not installed".to_owned());
                }
                let list = output(command("cargo").args(["mutants", "--list"]))?;
                let wanted = (time.as_secs() / MUTANT.as_secs()).max(1);
                let shards = (list.lines().count() as u64 / wanted).max(1);
                let shard = format!("{}/{shards}", u64::from(round) * 7919 % shards);
                let mut cargo = command("cargo");
                cargo.args(["mutants", "--shard", &shard, "--test-workspace", "true"]);
                cargo.args(["--timeout", "600", "-o", "fuzz/work/mutants"]);
                let result = status(&mut cargo, "fuzz/work/mutants/mutants.out/missed.txt")?;
                Ok(format!("shard {shard}: {result}"))
            }
        }
    }
}

/// Runs a command to its end. Whatever status it has but 0, something was found.
fn status(command: &mut Command, place: &str) -> Result<String, TaskError> {
    let status = command.status().map_err(|error| error.to_string())?;
    Ok(if status.success() { "well".to_owned() } else { format!("{status}: {place}") })
}

impl StepRecord {
    fn has_found(&self) -> bool {
        !self.result.ends_with("well") && !self.result.starts_with("left out")
    }

    fn line(&self) -> String {
        let Self { round, step, seconds, result } = self;
        format!("{round}\t{}\t{seconds}\t{result}\n", step.name())
    }

    fn parse(line: &str) -> Option<Self> {
        let mut parts = line.splitn(4, '\t');
        let round = parts.next()?.parse().ok()?;
        let name = parts.next()?;
        let step = CampaignStep::ALL.into_iter().find(|step| step.name() == name)?;
        let seconds = parts.next()?.parse().ok()?;
        Some(Self { round, step, seconds, result: parts.next()?.to_owned() })
    }
}

/// Reads a number of hours, of at most a year.
fn hours(text: &str) -> Result<Duration, TaskError> {
    let hours = text.parse::<f64>().ok().filter(|hours| (0.0..=8766.0).contains(hours));
    hours
        .map(|hours| Duration::from_secs_f64(hours * 3600.0))
        .ok_or_else(|| "not a number of hours".to_owned())
}

/// The step behind those that have been run, of rounds that are counted from 1.
fn next(records: &[StepRecord]) -> (u32, CampaignStep) {
    let Some(last) = records.last() else { return (1, CampaignStep::Fuzz) };
    let mut behind = CampaignStep::ALL.into_iter().skip_while(|step| *step != last.step).skip(1);
    behind.next().map_or((last.round + 1, CampaignStep::Fuzz), |step| (last.round, step))
}

/// Runs steps until the hours are over. Their records are kept after each, so that the same command goes on after an
/// interruption.
pub(crate) fn run(arguments: &CampaignArgs) -> Result<TaskOutcome, TaskError> {
    let path = root().join("fuzz/work/campaign.txt");
    fs::create_dir_all(root().join("fuzz/work")).map_err(at(&path))?;
    let is_new = arguments.fresh || !path.exists();
    let text = if is_new { String::new() } else { fs::read_to_string(&path).map_err(at(&path))? };
    let mut records: Vec<StepRecord> = text.lines().filter_map(StepRecord::parse).collect();
    loop {
        let spent = Duration::from_secs(records.iter().map(|record| record.seconds).sum());
        let Some(left) = arguments.hours.checked_sub(spent).filter(|left| !left.is_zero()) else {
            break;
        };
        let (round, step) = next(&records);
        let time = left.min(ROUND.min(arguments.hours) / 4);
        let [minutes, left] = [time, left].map(|time| time.as_secs() / 60);
        let step_name = step.name();
        // Progress only: an error here is ignored.
        let _ = writeln!(
            io::stderr(),
            "== round {round}: {step_name} for {minutes} min, {left} min left"
        );
        let begin = SystemTime::now();
        let result = step.run(round, time)?;
        let seconds = begin.elapsed().map_or(1, |time| time.as_secs().max(1));
        records.push(StepRecord { round, step, seconds, result });
        let text: String = records.iter().map(StepRecord::line).collect();
        fs::write(&path, text).map_err(at(&path))?;
    }
    let printed = io::stdout().write_all(report(&records).as_bytes());
    printed.map_err(|error| format!("cannot print: {error}"))?;
    let has_found = records.iter().any(StepRecord::has_found);
    Ok(if has_found { TaskOutcome::Found } else { TaskOutcome::Well })
}

/// Time and results of each step over all rounds.
fn report(records: &[StepRecord]) -> String {
    let mut text = String::new();
    for step in CampaignStep::ALL {
        let own: Vec<_> = records.iter().filter(|record| record.step == step).collect();
        let minutes = own.iter().map(|record| record.seconds).sum::<u64>() / 60;
        let found = own.iter().filter(|record| record.has_found()).count();
        let (name, rounds) = (step.name(), own.len());
        text += &format!("{name:<8} {rounds:>3} rounds, {minutes:>5} min, {found} with findings\n");
        for record in own.iter().filter(|record| !record.result.ends_with("well")) {
            text += &format!("         round {}: {}\n", record.round, record.result);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(lines: &str) -> Vec<StepRecord> {
        lines.lines().filter_map(StepRecord::parse).collect()
    }

    #[test]
    fn a_campaign_goes_on_behind_what_was_run() {
        assert_eq!(next(&[]), (1, CampaignStep::Fuzz));
        let text =
            "1\tfuzz\t900\twell\n1\tstorm\t905\texit status: 1: fuzz/artifacts/storm\nhalf a li";
        assert_eq!(next(&records(text)), (1, CampaignStep::Laws));
        assert_eq!(
            records(text).iter().map(StepRecord::line).collect::<String>() + "half a li",
            text
        );
        let whole = "3\tmutants\t60\tshard 5/900: well\n";
        assert_eq!(next(&records(whole)), (4, CampaignStep::Fuzz));
    }

    #[test]
    fn a_report_names_what_was_found() {
        let text = report(&records("1\tfuzz\t900\twell\n2\tfuzz\t900\tfound: fuzz/artifacts\n"));
        assert!(text.starts_with("fuzz       2 rounds,    30 min, 1 with findings\n"), "{text}");
        assert!(text.contains("round 2: found: fuzz/artifacts\n"), "{text}");
    }
}
