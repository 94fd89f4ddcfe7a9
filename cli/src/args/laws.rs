//! Arguments of `storm` and `reproduce`; the program `myriscope-laws` compiles this file too.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;

use super::OutputFormat;

#[derive(Args, Clone, Debug)]
pub(crate) struct StormArgs {
    /// Seed of all random choices; the result does not depend on the number of jobs.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Simulated time of all networks together, in minutes: `10`, `0.5`; default: 1, with `--time` no limit.
    #[arg(long, value_name = "M", value_parser = SimulatedMinutes::from_str)]
    pub(crate) minutes: Option<SimulatedMinutes>,
    /// Time by the clock after which no further network is begun: `60s`, `10m`, `8h`.
    #[arg(long, value_name = "TIME", value_parser = wall_time, conflicts_with = "network")]
    pub(crate) time: Option<Duration>,
    /// Number of networks simulated in parallel; default: one per processor.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub(crate) jobs: Option<u64>,
    /// Number of switches in each network; default: 1 to 8 at random.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=8))]
    pub(crate) switches: Option<u8>,
    /// Directory for the scenario of a network that violates a law.
    #[arg(short = 'o', long = "output", value_name = "DIR", default_value = ".")]
    pub(crate) directory: PathBuf,
    /// Maximum number of smaller networks tried to minimize a failing one.
    #[arg(long, value_name = "N", default_value_t = 400)]
    pub(crate) tries: u32,
    /// Simulates only the network with this number.
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["minutes", "jobs"])]
    pub(crate) network: Option<u64>,
    /// Simulates only the network of this scenario file; - for standard input.
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["seed", "minutes", "time", "jobs", "switches", "network"])]
    pub(crate) scenario: Option<PathBuf>,
    /// Checks a single law that is wrong on purpose, "no cable is ever cut", to demonstrate a failure.
    #[arg(long, hide = true)]
    pub(crate) canary: bool,
    /// Output format.
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) format: OutputFormat,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ReproduceArgs {
    /// The fuzz target, or one of its modes; `storm` for a scenario that a storm has written.
    #[arg(required_unless_present = "list")]
    pub(crate) target: Option<String>,
    /// The input that a fuzzer has written; - for standard input.
    #[arg(required_unless_present = "list")]
    pub(crate) input: Option<PathBuf>,
    /// Lists the targets, each with its modes.
    #[arg(long, conflicts_with_all = ["target", "input"])]
    pub(crate) list: bool,
    /// Also writes the target's files to this directory: capture.pcapng, scenario.toml, truth.jsonl,
    /// report.txt; and input.min if the law is violated.
    #[arg(short = 'o', long = "output", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// Maximum number of runs of the law to minimize an input that violates it.
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub(crate) runs: u32,
}

/// Parses a time by the clock, of at most a year.
fn wall_time(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text.strip_prefix(digits) {
        Some("s") => Some(1),
        Some("m") => Some(60),
        Some("h") => Some(3600),
        Some(_) | None => None,
    };
    let seconds = digits.parse::<u64>().ok().zip(unit).and_then(|(n, unit)| n.checked_mul(unit));
    let time = seconds.filter(|it| (1..=31_536_000).contains(it)).map(Duration::from_secs);
    time.ok_or_else(|| "expected a time from 1s to a year, like `60s`, `10m` or `8h`".to_owned())
}

/// Simulated time, in periods of the full rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SimulatedMinutes(u64);

impl SimulatedMinutes {
    /// A minute.
    pub(crate) const ONE: Self = Self(80_000_000 * 60);

    pub(crate) const fn periods(self) -> u64 {
        self.0
    }
}

impl FromStr for SimulatedMinutes {
    type Err = String;

    /// Parses a number of minutes with at most three decimals.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        /// Periods of the full rate in a thousandth of a minute. §4.2
        const PERIODS: u64 = 80_000 * 60;
        let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let thousandths = format!("{part:0<3}");
        let number = |text: &str| digits(text).then(|| text.parse::<u64>().ok())?;
        let sum = number(whole)
            .zip(number(&thousandths).filter(|_| part.len() <= 3))
            .and_then(|(whole, part)| whole.checked_mul(1000)?.checked_add(part))
            .filter(|sum| (1..=10_000_000).contains(sum));
        sum.map(|sum| Self(sum * PERIODS)).ok_or_else(|| {
            "expected 0.001 to 10000 minutes of simulated time, like `10` or `0.5`".to_owned()
        })
    }
}
