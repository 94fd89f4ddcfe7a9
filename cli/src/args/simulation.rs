//! Arguments of the commands that simulate.

use std::path::PathBuf;
use std::str::FromStr;

use analyzer::window::WindowEdge;
use clap::{Args, ValueEnum};
use simulator::network::SimulationEngine;

use super::{ListFormat, OutputFormat};
use crate::catalog;

/// Way to simulate a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineChoice {
    /// Every part of the network in every character period.
    Step,
    /// Only the parts to which something happens.
    #[default]
    Event,
}

impl From<EngineChoice> for SimulationEngine {
    fn from(choice: EngineChoice) -> Self {
        match choice {
            EngineChoice::Step => Self::Step,
            EngineChoice::Event => Self::Event,
        }
    }
}

#[derive(Args, Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "command-line flags")]
pub(crate) struct SimulateArgs {
    /// The scenario, as docs/scenario.md describes it; - for standard input.
    pub(crate) scenario: PathBuf,
    /// The capture to write: pcapng; - for standard output.
    #[arg(short = 'o', long = "output", value_name = "CAPTURE")]
    pub(crate) capture: Option<PathBuf>,
    /// Also writes every event of the simulation, one JSON object per line.
    #[arg(long, value_name = "FILE")]
    pub(crate) truth: Option<PathBuf>,
    /// Writes only events of these kinds (docs/truth.md): `injected,consumed`; or all but these: `'!fill'`.
    #[arg(long, value_name = "KINDS", requires = "truth", allow_hyphen_values = true)]
    #[arg(value_delimiter = ',', value_parser = catalog::truth_kind)]
    pub(crate) truth_kinds: Vec<String>,
    /// Replaces or adds a key of the scenario: `traffic.0.load=0.3`, `link.go_slack=8`,
    /// `duration_us=500`; may be repeated.
    #[arg(long, value_name = "KEY=VALUE", value_parser = KeySetting::from_str)]
    pub(crate) set: Vec<KeySetting>,
    /// Replaces the scenario's seed.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Way to simulate; the results are the same, and `event` is faster.
    #[arg(long, value_enum, default_value_t = EngineChoice::Event)]
    pub(crate) engine: EngineChoice,
    /// Prints statistics of the run; of an interrupted run, up to the interruption.
    #[arg(long)]
    pub(crate) stats: bool,
    /// Prints all hosts, endpoints and channels, not only the busiest.
    #[arg(long, requires = "stats")]
    pub(crate) all: bool,
    /// Writes complete statistics as JSON: docs/output.md describes it; - for standard output.
    #[arg(long, value_name = "FILE")]
    pub(crate) stats_out: Option<PathBuf>,
}

#[derive(Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "command-line flags")]
pub(crate) struct DemoArgs {
    /// Name of the demo; without it all are listed.
    #[arg(value_parser = catalog::demo_names())]
    pub(crate) name: Option<String>,
    /// Lists the demos.
    #[arg(long, conflicts_with = "name")]
    pub(crate) list: bool,
    /// Also writes the capture: pcapng; - for standard output, instead of all other output.
    #[arg(short = 'o', long = "output", value_name = "CAPTURE")]
    pub(crate) capture: Option<PathBuf>,
    /// Also writes every event of the simulation, one JSON object per line.
    #[arg(long, value_name = "FILE")]
    pub(crate) truth: Option<PathBuf>,
    /// Prints the scenario file instead of running it.
    #[arg(long, conflicts_with_all = ["capture", "truth"], requires = "name")]
    pub(crate) scenario: bool,
}

#[derive(Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "command-line flags")]
pub(crate) struct ExperimentArgs {
    /// Name of the experiment, or `all`; without it all are listed.
    #[arg(value_parser = catalog::experiment_names())]
    pub(crate) name: Option<String>,
    /// Lists the experiments.
    #[arg(long, conflicts_with = "name")]
    pub(crate) list: bool,
    /// Also writes text, JSON, a CSV file per table and an SVG file per plot to this directory.
    #[arg(short = 'o', long = "output", value_name = "DIR", requires = "name")]
    pub(crate) directory: Option<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) format: OutputFormat,
    /// Shorter runs at fewer points, for a first impression.
    #[arg(long)]
    pub(crate) quick: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct SweepArgs {
    /// The scenario, as docs/scenario.md describes it; - for standard input.
    pub(crate) scenario: PathBuf,
    /// Key of the scenario and its values: a range with a step, `traffic.0.load=0.05..0.6:0.05`, or a list,
    /// `traffic.0.payload=64,512`. Repeated: all combinations.
    #[arg(long, required_unless_present = "saturation", value_name = "KEY=VALUES")]
    #[arg(value_parser = VariedKey::from_str)]
    pub(crate) vary: Vec<VariedKey>,
    /// Searches a range of a key, `traffic.0.load=0.05..1:0.01`, for the place from which on the network is saturated,
    /// at all combinations of `--vary`: less than 95 % of what is offered is accepted, or the mean latency is more than
    /// three times that at the range's begin.
    #[arg(long, value_name = "KEY=FROM..TO:STEP", value_parser = VariedKey::from_str)]
    pub(crate) saturation: Option<VariedKey>,
    /// Replaces or adds a key of the scenario at all points; may be repeated.
    #[arg(long, value_name = "KEY=VALUE", value_parser = KeySetting::from_str)]
    pub(crate) set: Vec<KeySetting>,
    /// Number of runs at each point, with consecutive seeds from the scenario's on.
    #[arg(long, value_name = "N", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) seeds: u64,
    /// Time at the start of each run that is not measured: `500us`.
    #[arg(long, value_name = "TIME", default_value = "0us", value_parser = periods)]
    pub(crate) warmup: u64,
    /// Longest time behind the end of each run in which measured packets may still arrive; by default as long as
    /// what is measured.
    #[arg(long, value_name = "TIME", value_parser = periods)]
    pub(crate) drain: Option<u64>,
    /// Format of the printed table.
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    pub(crate) format: ListFormat,
    /// Writes the results to this directory, each run as soon as it is finished: after Ctrl-C the same command goes
    /// on from there. The result of another sweep is not overwritten.
    #[arg(short = 'o', long = "output", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

/// Maximum number of runs of a sweep. *Chosen*
pub(crate) const RUNS_MAX: u64 = 10_000;

/// A key of a scenario, and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeySetting {
    pub(crate) key: String,
    pub(crate) value: String,
}

impl FromStr for KeySetting {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (key, value) =
            text.split_once('=').ok_or("expected a key and a value, like `traffic.0.load=0.3`")?;
        Ok(Self { key: key.trim().to_owned(), value: value.trim().to_owned() })
    }
}

/// A key of a scenario, and its values: those of a list, `64,512`, or of a range, `0.05..0.6:0.05`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VariedKey {
    pub(crate) key: String,
    pub(crate) values: Vec<String>,
}

impl FromStr for VariedKey {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let KeySetting { key, value } = text.parse()?;
        if key == "seed" {
            return Err("--seeds gives the number of seeds at each point");
        }
        let expected =
            "expected a range with a step, like `0.05..0.6:0.05`, or a list, like `64,512,1500`";
        let Some((from, rest)) = value.split_once("..") else {
            let values: Vec<String> = value.split(',').map(|it| it.trim().to_owned()).collect();
            let is_empty = values.iter().any(String::is_empty);
            return if is_empty { Err(expected) } else { Ok(Self { key, values }) };
        };
        let Some((to, step)) = rest.split_once(':') else {
            return Err("a range without a step: write it behind a colon, like `0.05..0.6:0.05`");
        };
        let [from, to, step] =
            [from, to, step].map(|it| it.trim().parse::<f64>().unwrap_or(f64::NAN));
        if !(from <= to && step > 0.0) {
            return Err(expected);
        }
        let values = (0..=RUNS_MAX).map(|at| from + at as f64 * step);
        let values = values.take_while(|value| *value <= to + step * 1e-6);
        // Without the errors of binary fractions.
        let values = values.map(|value| ((value * 1e9).round() / 1e9).to_string());
        Ok(Self { key, values: values.collect() })
    }
}

/// Periods of the full rate in a time.
fn periods(text: &str) -> Result<u64, &'static str> {
    /// Picoseconds of a period. §4.2
    const PERIOD: u128 = codec::time::FULL_RATE_PERIOD_PS as u128;
    match text.parse() {
        Ok(WindowEdge::Picoseconds(time)) => u64::try_from(time / PERIOD).ok(),
        Ok(WindowEdge::Character(_)) | Err(_) => None,
    }
    .ok_or("expected a time, like `500us`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_lists_have_exact_values() {
        for (text, expected) in [
            ("k=0.1..0.3:0.1", "0.1 0.2 0.3"),
            ("k=0.05..0.2:0.1", "0.05 0.15"),
            ("k=-1..1:1", "-1 0 1"),
            ("k=0.1..0.9", "a range without a step"),
            ("k = 7", "7"),
            ("k=64, 512", "64 512"),
            ("k=uniform,shift", "uniform shift"),
            ("k=0.3..0.1:0.1", "expected a range"),
            ("k=0..1:0", "expected a range"),
            ("k=0..x:1", "expected a range"),
            ("k=nan..nan:nan", "expected a range"),
            ("k=1,,2", "expected a range"),
            ("k", "expected a key and a value"),
            ("seed=1..2", "--seeds gives"),
        ] {
            let found = text.parse::<VariedKey>().map(|varied| varied.values.join(" "));
            let found = found.unwrap_or_else(str::to_owned);
            assert!(found.starts_with(expected), "{text}: {found}");
        }
        let many = "k=0..1e300:1e-300".parse::<VariedKey>().unwrap();
        assert_eq!(many.values.len() as u64, RUNS_MAX + 1);
    }
}
