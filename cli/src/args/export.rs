//! Arguments of `myriscope export`.

use std::path::PathBuf;
use std::str::FromStr;

use analyzer::channel_selector::ChannelPatterns;
use analyzer::link_shard::LinkShard;
use clap::{Args, Subcommand, ValueEnum};
use codec::wires::WIRES;

use super::{CaptureFiles, CapturePart, DialectArgs};

#[derive(Args, Clone, Debug)]
#[command(disable_help_subcommand = true)]
pub(crate) struct ExportArgs {
    #[command(subcommand)]
    pub(crate) kind: ExportKind,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum ExportKind {
    /// Writes the levels of the wires of channels and their characters: a value change dump (VCD).
    Wires(ExportWiresArgs),
    /// Writes packets or journeys one by one, with findings as comments, for Wireshark (pcapng).
    Packets(ExportPacketsArgs),
    /// Writes states of links, packets, bounds of slack buffers and findings over time, for ui.perfetto.dev.
    Perfetto(ExportSelection),
    /// Writes states of links, packets, bounds of slack buffers and findings over time: a value change
    /// dump (VCD), for waveform viewers.
    States(ExportSelection),
    /// Writes tables of packets, events, states, journeys and findings in Parquet files, by link, for DuckDB,
    /// DataFusion or Spark. Only in builds with the feature `parquet`.
    Parquet(ExportTablesArgs),
}

/// A capture, the part of it that is written, and the file that is written.
#[derive(Args, Clone, Debug)]
pub(crate) struct ExportSelection {
    #[command(flatten)]
    pub(crate) files: CaptureFiles,
    /// The file to write; - for standard output.
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) part: CapturePart,
}

/// Tables, the part of a capture that is in them, and their directory.
#[derive(Args, Clone, Debug)]
pub(crate) struct ExportTablesArgs {
    #[command(flatten)]
    pub(crate) files: CaptureFiles,
    /// The directory to write; it must be empty if it exists.
    #[arg(short = 'o', long, value_name = "DIRECTORY")]
    pub(crate) output: PathBuf,
    /// Writes only these tables, separated by commas.
    #[arg(long, value_enum, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) table: Vec<ExportedTable>,
    #[command(flatten)]
    pub(crate) part: CapturePart,
    /// Writes only rows that match the expression, of one table: `--table packets --filter crc.bad`
    /// (language: docs/filter.md).
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    pub(crate) filter: Option<String>,
    /// Analyses only share K (from 0) of N shares of the links, for N machines that read the same capture. Writes
    /// the tables of links alone; journeys are joins over those of all shares.
    #[arg(long, value_name = "K/N")]
    pub(crate) shard: Option<LinkShard>,
}

/// A table of `myriscope export parquet`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum ExportedTable {
    /// Rows of `myriscope packets`.
    Packets,
    /// Rows of `myriscope events`.
    Events,
    /// Rows of `myriscope links --intervals`.
    LinkIntervals,
    /// Rows of `myriscope links --fill`.
    Fills,
    /// Rows of `myriscope journeys`.
    Journeys,
    /// The hops of these.
    Hops,
    /// Rows of `myriscope blocking`.
    Waits,
    /// Rows of `myriscope conversations --events`.
    Messages,
    /// Rows of `myriscope check`.
    Findings,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ExportPacketsArgs {
    #[command(flatten)]
    pub(crate) selection: ExportSelection,
    /// Writes one record per journey over all captured links, with its hops.
    #[arg(long)]
    pub(crate) journeys: bool,
    /// Writes only what packets carry, as captures of Ethernet or IP, which Wireshark reads without the
    /// dissector. Ethernet only with --dialect vita26.
    #[arg(long, value_enum, conflicts_with = "journeys")]
    pub(crate) payload: Option<PayloadKind>,
    #[command(flatten)]
    pub(crate) dialect: DialectArgs,
    /// Writes only packets, or journeys, that match the expression: `length > 1000 && crc.bad`
    /// (language: docs/filter.md).
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    pub(crate) filter: Option<String>,
}

/// Contents of packets that are written without them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PayloadKind {
    /// Ethernet frames.
    Ethernet,
    /// IP packets.
    Ip,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ExportWiresArgs {
    /// The capture: pcapng or pcap, plain or compressed with gzip or zstd; - for standard input.
    pub(crate) file: PathBuf,
    /// The dump to write; - for standard output.
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Writes only these channels, separated by commas (`\,` in a name): a channel `h0:0-s0:3`, a port `s0:3`,
    /// a node `h0`, or a pattern `s*:3`.
    #[arg(long, value_name = "NAMES", value_parser = ChannelPatterns::from_str)]
    pub(crate) channel: Vec<ChannelPatterns>,
    /// Writes the capture of this number, of several in one file; counted from 0.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(crate) capture: u32,
    /// Delays of wires: the largest of random ones, or those of d, 7, 6 … 0, separated by commas.
    #[arg(long, value_name = "NS", default_value = "0")]
    pub(crate) skew: WireSkew,
    /// Largest random delay of a transition.
    #[arg(long, value_name = "NS", default_value = "0", value_parser = nanoseconds)]
    pub(crate) jitter: u64,
    /// Seed of random delays.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,
}

/// Delays of wires in femtoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WireSkew {
    /// Random ones up to the largest.
    Random(u64),
    /// Delays of wires 0 to 7, then of d.
    Given([u64; WIRES]),
}

impl FromStr for WireSkew {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut delays = text.split(',').map(nanoseconds).collect::<Result<Vec<_>, _>>()?;
        delays.reverse();
        match (delays.as_slice().try_into(), delays.as_slice()) {
            (Ok(delays), _) => Ok(Self::Given(delays)),
            (Err(_), [largest]) => Ok(Self::Random(*largest)),
            (Err(_), delays) => Err(format!("{} delays, expected 1 or {WIRES}", delays.len())),
        }
    }
}

/// Femtoseconds of a number of nanoseconds.
fn nanoseconds(text: &str) -> Result<u64, String> {
    let number: Option<f64> = text.trim().parse().ok();
    let number = number.filter(|number| (0.0..=1000.0).contains(number));
    let number = number.ok_or_else(|| format!("{text:?} is no time from 0 to 1000 ns"))?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1000")]
    Ok((number * 1e6).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_of_wires_are_one_or_those_of_d_first() {
        let ns = 1_000_000;
        for (text, delays) in [
            ("2.5", Ok(WireSkew::Random(2_500_000))),
            (
                "9,8,7,6,5,4,3,2,1",
                Ok(WireSkew::Given([1, 2, 3, 4, 5, 6, 7, 8, 9].map(|wire| wire * ns))),
            ),
            ("1,2", Err("2 delays, expected 1 or 9".to_owned())),
            ("1000.5", Err("\"1000.5\" is no time from 0 to 1000 ns".to_owned())),
        ] {
            assert_eq!(text.parse(), delays, "{text}");
        }
    }
}
