//! The command line.

#[expect(dead_code, reason = "the program myriscope-laws reads the values")]
mod laws;

use std::path::PathBuf;
use std::str::FromStr;

use analyzer::filter::RowKind;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::window::{TimeWindow, WindowEdge};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub(crate) use self::laws::{ReproduceArgs, StormArgs};
use crate::catalog;

/// Decodes and analyzes captures of Myrinet links, from single characters to messages, and
/// simulates Myrinet networks that produce such captures.
///
/// With a file and no command, prints what each channel carried (`myriscope info`).
#[derive(Debug, Parser)]
#[command(name = "myriscope", version, args_conflicts_with_subcommands = true)]
#[command(arg_required_else_help = true, after_help = AFTER)]
pub(crate) struct CliArguments {
    #[command(subcommand)]
    pub(crate) command: Option<CliCommand>,
    #[command(flatten)]
    pub(crate) info: Option<ViewArgs>,
    /// Colours in the output.
    #[arg(long, global = true, value_enum, default_value_t = ColourChoice::Auto, value_name = "WHEN")]
    pub(crate) color: ColourChoice,
}

const AFTER: &str = "\
Exit status: 0 success; 1 the command found errors, warnings or violations; 2 the capture, the
scenario or the command line is invalid (rows before the damage have been printed), or a file could
not be written.";

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Lists findings, the most severe first, and the verdict on each rule of Myrinet.
    #[command(after_help = "Exit status 1: there are errors or warnings.")]
    Check(CheckArgs),
    /// Explains a rule or a finding: text, required evidence, limits, and an example.
    Explain(ExplainArgs),
    /// Shows the state of every link over time: open, stopped, sending, idle; lamps, stops, pings.
    Links(LinksArgs),
    /// Follows packets across all captured links: route, latency, waits, corruption and outcome.
    Journeys(ViewArgs),
    /// Follows the reliability protocol: messages, ACKs and NACKs, retransmissions and their causes.
    Conversations(ConversationsArgs),
    /// Shows which senders waited for which, how long and why: deadlocks and trees of stopped senders.
    Blocking(BlockingArgs),
    /// Shows nodes, ports and links of the network, derived from channel names and packet routes.
    Topology(TopologyArgs),
    /// Counts what each channel of a capture carried.
    Info(ViewArgs),
    /// Lists the packets that a receiver at the tap would decode.
    Packets(PacketsArgs),
    /// Lists events other than packets: resets, silence, flow control, invalid codes, holes.
    Events(ViewArgs),
    /// Prints the characters of both directions of a link side by side.
    Show(ViewArgs),
    /// Copies a capture and adds the findings as packet comments, which Wireshark displays.
    Annotate(AnnotateArgs),
    /// Compares the analysis of a simulated capture with the simulator's truth, event by event.
    #[command(after_help = "Exit status 1: the analysis missed or invented a visible event.")]
    Score(ScoreArgs),
    /// Simulates a network character by character and writes its tapped links to a capture.
    Simulate(SimulateArgs),
    /// Runs a built-in scenario and prints the behaviour it demonstrates.
    Demo(DemoArgs),
    /// Repeats published measurements on the simulated reference network: tables and plots.
    Experiment(ExperimentArgs),
    /// Runs a fuzz input: checks the target's law and prints the characters of the input.
    #[command(after_help = "Exit status 1: the law is violated.")]
    Reproduce(ReproduceArgs),
    /// Simulates random networks with injected faults, checks every law, and minimizes the first
    /// failing network.
    #[command(after_help = "Exit status 1: a law is violated.")]
    Storm(StormArgs),
    /// Prints a shell completion script.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Writes manual pages.
    Man {
        /// Output directory.
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
}

/// Options common to all views of a capture.
#[derive(Args, Clone, Debug)]
pub(crate) struct ViewArgs {
    /// The capture: pcapng or pcap, plain or compressed with gzip or zstd; - for standard input.
    #[arg(required = false, required_unless_present = "list_fields")]
    #[arg(default_value_if("list_fields", "true", "-"), hide_default_value = true)]
    pub(crate) file: PathBuf,
    /// Output format.
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) format: OutputFormat,
    /// Prints only the channel with this name: `h0:0>s0:3` (`show`: this channel on the left).
    #[arg(long, value_name = "NAME")]
    pub(crate) channel: Option<String>,
    /// Start of the window: a character (`4096ch`) or a time (`12.5us`).
    #[arg(long, value_name = "POSITION", value_parser = WindowEdge::from_str)]
    pub(crate) from: Option<WindowEdge>,
    /// End of the window, exclusive.
    #[arg(long, value_name = "POSITION", value_parser = WindowEdge::from_str)]
    pub(crate) to: Option<WindowEdge>,
    /// Prints at most this number of rows.
    #[arg(long, value_name = "ROWS")]
    pub(crate) limit: Option<u64>,
    /// Prints only the rows that match the expression: `length > 1000 && channel ~ "s0:*"`
    /// (fields: `--list-fields`; language: docs/filter.md).
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    pub(crate) filter: Option<String>,
    /// Prints only these fields, in this order: `channel,start,length`.
    #[arg(long, value_name = "NAMES")]
    pub(crate) fields: Option<String>,
    /// Lists the fields of this command's rows and exits.
    #[arg(long)]
    pub(crate) list_fields: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct PacketsArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Prints the bytes of every packet.
    #[arg(long)]
    pub(crate) hex: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ConversationsArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Lists the observations of each packet instead: kind, retransmission cause, violations.
    #[arg(long)]
    pub(crate) events: bool,
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
    /// The capture: pcapng or pcap, plain or compressed with gzip or zstd; - for standard input.
    pub(crate) file: PathBuf,
    /// Output format.
    #[arg(long, value_enum, default_value_t = TopologyFormat::Text)]
    pub(crate) format: TopologyFormat,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Parameters of slack buffers, cables and senders; they override the capture's. Also path=44,
    /// reset=own-gap|next-gap, fill=chip|other, framing=free|waits.
    #[arg(long, value_name = "kg=32,h=16,ks=32,delay=12,gen=2,int=2")]
    pub(crate) assume: Option<LinkAssumptions>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ExplainArgs {
    /// A rule (`F-3`) or a finding (`crc-bad`); without it all are listed.
    #[arg(value_name = "RULE")]
    pub(crate) name: Option<String>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) format: OutputFormat,
}

#[derive(Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "mutually exclusive command-line flags")]
pub(crate) struct LinksArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Lists the intervals in which each channel was in one state.
    #[arg(long)]
    pub(crate) intervals: bool,
    /// Prints the fill level of the slack buffer at the far end of each channel, and its parameters.
    #[arg(long, conflicts_with = "intervals")]
    pub(crate) slack: bool,
    /// Lists bounds of the fill levels over time.
    #[arg(long, conflicts_with_all = ["intervals", "slack"])]
    pub(crate) fill: bool,
    /// Parameters of slack buffers, cables and senders; they override the capture's. Also path=44,
    /// reset=own-gap|next-gap, fill=chip|other, framing=free|waits.
    #[arg(long, value_name = "kg=32,h=16,ks=32,delay=12,gen=2,int=2")]
    pub(crate) assume: Option<LinkAssumptions>,
}

impl LinksArgs {
    /// Kind of the rows to print.
    pub(crate) const fn kind(&self) -> RowKind {
        if self.intervals {
            RowKind::Intervals
        } else if self.slack {
            RowKind::Buffers
        } else if self.fill {
            RowKind::Fills
        } else {
            RowKind::Links
        }
    }
}

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

#[derive(Args, Clone, Debug)]
pub(crate) struct AnnotateArgs {
    /// The capture: pcapng, plain or compressed with gzip or zstd.
    pub(crate) file: PathBuf,
    /// The copy to write: pcapng, uncompressed; - for standard output.
    #[arg(short = 'o', long, value_name = "CAPTURE")]
    pub(crate) output: PathBuf,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Text for a terminal.
    Text,
    /// One JSON object.
    Json,
    /// One JSON object per line.
    Jsonl,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TopologyFormat {
    /// Text for a terminal.
    Text,
    /// One JSON object.
    Json,
    /// One JSON object per line.
    Jsonl,
    /// Graphviz: `myriscope topology FILE --format dot | dot -Tsvg`.
    Dot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColourChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    Always,
    Never,
}

impl ViewArgs {
    pub(crate) fn window(&self) -> TimeWindow {
        TimeWindow { from: self.from.unwrap_or(TimeWindow::ALL.from), to: self.to }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        CliArguments::command().debug_assert();
    }
}
