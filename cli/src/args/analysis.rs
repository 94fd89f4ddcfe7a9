//! Arguments of the commands that read captures.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::str::FromStr;

use analyzer::channel_selector::{ChannelPatterns, ChannelSelector};
use analyzer::filter::RowKind;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::render::TimeUnit;
use analyzer::window::WindowEdge;
use clap::{Args, ValueEnum};

use super::{CaptureFiles, ExportSelection, OutputFormat, ProfileArgs, TopologyFormat, ViewArgs};

#[derive(Args, Clone, Debug)]
pub(crate) struct PacketsArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Prints the bytes of every packet; in text with offsets and ASCII, like `hexdump -C`.
    #[arg(long)]
    pub(crate) hex: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Prints only the row at this position, and the rows around it: a character (`4096ch`) or a time
    /// (`12.5us`).
    #[arg(long, value_name = "POSITION", value_parser = WindowEdge::from_str)]
    #[arg(allow_hyphen_values = true, conflicts_with_all = ["from", "to"])]
    pub(crate) at: Option<WindowEdge>,
    /// Number of rows before and after that of `--at`.
    #[arg(long, value_name = "ROWS", default_value_t = 4)]
    pub(crate) context: u16,
    /// Omits the lines about packets, events and findings below the characters.
    #[arg(long)]
    pub(crate) plain: bool,
}

#[derive(Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "mutually exclusive command-line flags")]
pub(crate) struct ConversationsArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Lists the observations of each packet instead: kind, retransmission cause, violations.
    #[arg(long)]
    pub(crate) events: bool,
    /// Lists conversations over IP instead, by addresses and ports.
    #[arg(long, conflicts_with = "events")]
    pub(crate) ip: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct MappingArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Prints the network as a Graphviz graph: links that the newest map lacks are red, those that only
    /// it has are blue.
    #[arg(long, conflicts_with_all = ["fields", "sort", "group", "count", "format"])]
    pub(crate) dot: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct SeriesArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Length of the intervals: a time (`10us`).
    #[arg(long, value_name = "TIME", value_parser = interval_length, default_value = "10us")]
    pub(crate) every: NonZeroU64,
}

/// Parses a length in picoseconds.
fn interval_length(text: &str) -> Result<NonZeroU64, String> {
    let length = match text.parse::<WindowEdge>() {
        Ok(WindowEdge::Picoseconds(length)) => u64::try_from(length).ok(),
        Ok(WindowEdge::Character(_)) | Err(_) => None,
    };
    length.and_then(NonZeroU64::new).ok_or_else(|| {
        "expected a time of at least a picosecond (250ns, 12.5us, 3ms, 1s)".to_owned()
    })
}

#[derive(Args, Clone, Debug)]
pub(crate) struct BlockingArgs {
    /// `--limit` applies to trees and to deadlocks; its default is 10.
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Prints only waits of at least this length: characters (`100ch`) or time (`12.5us`).
    #[arg(long, value_name = "TIME", value_parser = WindowEdge::from_str)]
    pub(crate) min: Option<WindowEdge>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct TopologyArgs {
    #[command(flatten)]
    pub(crate) files: CaptureFiles,
    /// Output format.
    #[arg(long, value_enum, default_value_t = TopologyFormat::Text)]
    pub(crate) format: TopologyFormat,
}

#[derive(Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "mutually exclusive command-line flags")]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Prints the verdict on every rule, not only on failed rules and those that cannot be judged.
    #[arg(long)]
    pub(crate) rules: bool,
    /// Lists every case of every finding in order of time, instead of the first of each.
    #[arg(long, conflicts_with = "rules")]
    pub(crate) each: bool,
    /// Parameters of slack buffers, cables and senders; they override the capture's. Also path=44,
    /// reset=own-gap|next-gap, fill=chip|other, framing=free|waits.
    #[arg(long, value_name = "kg=32,h=16,ks=32,delay=12,gen=2,int=2")]
    pub(crate) assume: Option<LinkAssumptions>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) selection: ExportSelection,
    /// Writes a page to print, one of A4: the result, the network, five figures of each host, what to do next.
    #[arg(long, conflicts_with_all = ["from", "to"])]
    pub(crate) brief: bool,
    /// Reports only the findings that match the expression (fields: `check --list-fields`).
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    pub(crate) filter: Option<String>,
    /// Parameters of slack buffers, cables and senders; they override the capture's.
    #[arg(long, value_name = "kg=32,h=16,ks=32,delay=12,gen=2,int=2")]
    pub(crate) assume: Option<LinkAssumptions>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ExplainArgs {
    /// A rule (`F-3`), a finding (`crc-bad`) or a term (`GAP`); without it all rules and findings are
    /// listed.
    pub(crate) name: Option<String>,
    /// Writes a small capture that has the finding instead of its text; - for standard output.
    #[arg(short = 'o', long = "output", value_name = "CAPTURE", requires = "name")]
    pub(crate) capture: Option<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) format: OutputFormat,
}

#[derive(Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "mutually exclusive command-line flags")]
pub(crate) struct LinksArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Prints states, lamps, symbols and parameters of every link, also where there are more than 8.
    #[arg(long)]
    pub(crate) details: bool,
    /// Lists the intervals in which each channel was in one state.
    #[arg(long)]
    pub(crate) intervals: bool,
    /// Prints the fill level of the slack buffer at the far end of each channel, and its parameters.
    #[arg(long, conflicts_with = "intervals")]
    pub(crate) slack: bool,
    /// Lists bounds of the fill levels over time.
    #[arg(long, conflicts_with_all = ["intervals", "slack"])]
    pub(crate) fill: bool,
    /// Lists the bits that were flipped between two captured channels, by wire.
    #[arg(long, conflicts_with_all = ["intervals", "slack", "fill"])]
    pub(crate) damage: bool,
    /// Parameters of slack buffers, cables and senders; they override the capture's. Also path=44,
    /// reset=own-gap|next-gap, fill=chip|other, framing=free|waits.
    #[arg(long, value_name = "kg=32,h=16,ks=32,delay=12,gen=2,int=2")]
    pub(crate) assume: Option<LinkAssumptions>,
}

impl LinksArgs {
    pub(crate) const fn kind(&self) -> RowKind {
        if self.intervals {
            RowKind::Intervals
        } else if self.slack {
            RowKind::Buffers
        } else if self.fill {
            RowKind::Fills
        } else if self.damage {
            RowKind::Damage
        } else {
            RowKind::Links
        }
    }
}

#[derive(Args, Clone, Debug)]
pub(crate) struct AnnotateArgs {
    /// The capture: pcapng, plain or compressed with gzip or zstd.
    pub(crate) file: PathBuf,
    /// The copy to write: pcapng, uncompressed; - for standard output.
    #[arg(short = 'o', long, value_name = "CAPTURE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ScoreArgs {
    /// A capture written by `simulate`: pcapng, compressed or not.
    pub(crate) capture: PathBuf,
    /// The truth of the same run (`simulate --truth`); - for standard input.
    pub(crate) truth: PathBuf,
    /// Output format.
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) format: OutputFormat,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct BrowseArgs {
    #[command(flatten)]
    pub(crate) files: CaptureFiles,
    /// The list to begin with.
    #[arg(long, value_enum, default_value_t = BrowsedList::Findings)]
    pub(crate) list: BrowsedList,
    /// Shows only these channels, separated by commas (`\,` in a name): a channel `h0:0-s0:3`, a port `s0:3`,
    /// a node `h0`, or a pattern `s*:3`.
    #[arg(long, value_name = "NAMES", value_parser = ChannelPatterns::from_str)]
    pub(crate) channel: Vec<ChannelPatterns>,
    /// Begins at this position: a time (`12.5us`), or a character of a channel at the full rate (`4096ch`).
    #[arg(long, value_name = "POSITION", value_parser = WindowEdge::from_str, allow_hyphen_values = true)]
    pub(crate) from: Option<WindowEdge>,
    /// Leaves out rows of lists that begin at this position or behind it.
    #[arg(long, value_name = "POSITION", value_parser = WindowEdge::from_str, allow_hyphen_values = true)]
    pub(crate) to: Option<WindowEdge>,
    /// Shows only the rows of the list that match the expression (language: docs/filter.md).
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    pub(crate) filter: Option<String>,
    /// Unit of times: us (the default), ns, or chars for character indices.
    #[arg(long, value_name = "UNIT", value_parser = TimeUnit::from_str)]
    pub(crate) units: Option<TimeUnit>,
}

codec::named_enum! {
    /// A list of `view`, with the name of its tab: those of all fit 80 columns.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
    pub(crate) enum BrowsedList {
        /// Findings about the whole capture, the most severe first.
        Findings = "findings",
        /// Channels, with their states over time.
        Links = "links",
        /// Packets.
        Packets = "packets",
        /// Events other than packets.
        Events = "events",
        /// Characters of both directions of a link.
        Characters = "chars",
        /// Packets across all captured links.
        Journeys = "journeys",
        /// Conversations of the reliability protocol.
        Conversations = "talks",
        /// The nine wires of a channel.
        Wires = "wires",
        /// The network, with the states of its links at a moment.
        Network = "net",
    }
}

#[derive(Args, Clone, Debug)]
pub(crate) struct WatchArgs {
    /// The capture: a file that grows, or - for standard input; Ctrl-C ends the reading of a file.
    pub(crate) file: PathBuf,
    /// Shows only these channels, separated by commas (`\,` in a name): a channel `h0:0-s0:3`, a port `s0:3`,
    /// a node `h0`, or a pattern `s*:3`.
    #[arg(long, value_name = "NAMES", value_parser = ChannelPatterns::from_str)]
    channel: Vec<ChannelPatterns>,
    /// Shows only the capture of this number, of several in one file; counted from 0.
    #[arg(long, value_name = "NUMBER")]
    capture: Option<u32>,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

impl WatchArgs {
    pub(crate) fn channels(&self) -> ChannelSelector<'_> {
        ChannelSelector { patterns: &self.channel, capture: self.capture }
    }
}
