//! Arguments of the commands that cut and compare captures.

use std::path::PathBuf;
use std::str::FromStr;

use analyzer::window::WindowEdge;
use clap::{Args, ValueEnum};

use super::{CapturePart, ViewArgs};

#[derive(Args, Clone, Debug)]
#[command(mut_arg("join", |it| it.hide(true)), mut_arg("follow", |it| it.hide(true)))]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Differences that do not count; `time`: only the order and the bytes of packets count.
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub(crate) ignore: Vec<DiffIgnore>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffIgnore {
    /// Times of packets.
    Time,
}

#[derive(Args, Clone, Debug)]
#[command(mut_arg("join", |it| it.hide(true)), mut_arg("follow", |it| it.hide(true)))]
#[command(mut_arg("from", |it| it.hide(true)), mut_arg("to", |it| it.hide(true)))]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Change from which on a figure differs, as a share of that of the first capture; `0.1` are 10 %.
    #[arg(long, value_name = "SHARE", value_parser = share, default_value_t = 0.1)]
    pub(crate) threshold: f64,
    /// Writes what differs, and all figures, to an HTML page; - for standard output, without text.
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share: &f64| share.is_finite() && *share >= 0.0);
    share.ok_or_else(|| "expected a share of at least 0, like `0.1`".to_owned())
}

#[derive(Args, Clone, Debug)]
pub(crate) struct MergeArgs {
    /// The captures: pcapng or pcap, plain or compressed with gzip or zstd; - for standard input.
    #[arg(required = true, num_args = 2.., value_name = "CAPTURE")]
    pub(crate) files: Vec<PathBuf>,
    /// Moves the characters of a capture to later times, for recorders whose clocks began apart:
    /// `b.pcapng=1.5us`.
    #[arg(long, value_name = "CAPTURE=TIME", value_parser = ClockOffset::from_str)]
    pub(crate) offset: Vec<ClockOffset>,
    /// The capture to write: pcapng, uncompressed; - for standard output.
    #[arg(short = 'o', long, value_name = "CAPTURE")]
    pub(crate) output: PathBuf,
}

/// Time by which the characters of a capture are moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClockOffset {
    pub(crate) file: PathBuf,
    pub(crate) picoseconds: u128,
}

impl FromStr for ClockOffset {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (file, time) = text.rsplit_once('=').ok_or("expected CAPTURE=TIME")?;
        match WindowEdge::from_str(time).map_err(|error| error.to_string())? {
            WindowEdge::Picoseconds(picoseconds) => Ok(Self { file: file.into(), picoseconds }),
            WindowEdge::Character(_) => Err("expected a time, as 1.5us".to_owned()),
        }
    }
}

#[derive(Args, Clone, Debug)]
pub(crate) struct SliceArgs {
    /// The capture: pcapng or pcap, plain or compressed with gzip or zstd; - for standard input.
    pub(crate) file: PathBuf,
    /// The slice to write: pcapng, uncompressed; - for standard output.
    #[arg(short = 'o', long, value_name = "CAPTURE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) part: CapturePart,
    /// Cuts around the first occurrence of a finding: its name (`crc-bad`), or its number in the list of
    /// `check`, from 1.
    #[arg(long, value_name = "KIND|N", conflicts_with_all = ["from", "to"])]
    pub(crate) finding: Option<String>,
    /// Time before and after the finding: a time (`12.5us`) or characters (`400ch`).
    #[arg(long, value_name = "TIME", value_parser = WindowEdge::from_str, requires = "finding")]
    #[arg(default_value = "5us")]
    pub(crate) around: WindowEdge,
}
