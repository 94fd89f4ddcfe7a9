//! Arguments of the commands that simulate.

use std::path::PathBuf;

use clap::Args;

use super::OutputFormat;
use crate::catalog;

#[derive(Args, Clone, Debug)]
pub(crate) struct SimulateArgs {
    /// The scenario, as docs/scenario.md describes it; - for standard input.
    pub(crate) scenario: PathBuf,
    /// The capture to write: pcapng; - for standard output.
    #[arg(short = 'o', long = "output", value_name = "CAPTURE")]
    pub(crate) capture: PathBuf,
    /// Also writes every event of the simulation, one JSON object per line.
    #[arg(long, value_name = "FILE")]
    pub(crate) truth: Option<PathBuf>,
    /// Replaces the scenario's seed.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Prints statistics of the run.
    #[arg(long)]
    pub(crate) stats: bool,
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
