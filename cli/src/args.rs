//! The command line.

#[expect(dead_code, reason = "the program myriscope-laws reads the values")]
mod laws;

use analyzer::link::parameters::LinkAssumptions;
use std::path::PathBuf;
use std::str::FromStr;

use analyzer::filter::RowKind;

use analyzer::window::{TimeWindow, WindowEdge};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub(crate) use self::laws::{ReproduceArgs, StormArgs};
use crate::{demo, experiment};

/// Looks at Myrinet captures, at the characters on the wire and upward from them; simulates the
/// networks that they come from.
///
/// With a file and no command, tells what its channels carried.
#[derive(Debug, Parser)]
#[command(name = "myriscope", version, args_conflicts_with_subcommands = true)]
#[command(arg_required_else_help = true, after_help = AFTER)]
pub(crate) struct CliArguments {
    #[command(subcommand)]
    pub(crate) command: Option<CliCommand>,
    #[command(flatten)]
    pub(crate) info: Option<ViewArgs>,
    /// When to colour the output.
    #[arg(long, global = true, value_enum, default_value_t = ColourChoice::Auto, value_name = "WHEN")]
    pub(crate) color: ColourChoice,
}

const AFTER: &str = "\
Exit status: 0 all is well; 1 what was looked for was found wrong; 2 the capture, the scenario or
the command line was bad (all that could be read of a capture has been printed), or a file could
not be written.";

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Tells what is wrong with a capture, the worst first, and how each rule of Myrinet stands.
    #[command(after_help = "Exit status 1: there are errors or warnings.")]
    Check(CheckArgs),
    /// Explains a rule or a finding: its text, what it takes to see it, its limits, an example.
    Explain(ExplainArgs),
    /// Tells what every link was doing: open, stopped, sending, idle; its lamps, stops and pings.
    Links(LinksArgs),
    /// Follows packets over all captured links: their ways, latencies, waits, ends and injuries.
    Journeys(ViewArgs),
    /// Follows the reliability protocol: messages, their ACKs and NACKs, and why they were sent again.
    Conversations(ConversationsArgs),
    /// Shows who waited for whom, for how long and why: deadlocks, and trees of stopped senders.
    Blocking(BlockingArgs),
    /// Shows the nodes, ports and links of the network: as names have them, and as packets imply.
    Topology(TopologyArgs),
    /// Tells what the channels of a capture carried.
    Info(ViewArgs),
    /// Lists the packets, as a receiver at the tap would frame them.
    Packets(PacketsArgs),
    /// Lists what else a receiver at the tap notices: resets, silence, flow control, bad codes.
    Events(ViewArgs),
    /// Prints the characters of both directions of a link side by side.
    Show(ViewArgs),
    /// Copies a capture and puts what is wrong beside it, as packet comments that Wireshark shows.
    Annotate(AnnotateArgs),
    /// Compares what is read in a simulated capture with what really happened, event by event.
    #[command(after_help = "Exit status 1: something that the wire tells was missed or invented.")]
    Score(ScoreArgs),
    /// Simulates a network character by character, and writes what it observes to a capture.
    Simulate(SimulateArgs),
    /// Simulates a network that is built in, and shows what it is to show.
    Demo(DemoArgs),
    /// Makes published measurements again on the reference network: tables and pictures.
    Experiment(ExperimentArgs),
    /// Shows an input of a fuzz target with the tools of this program: whether the target's law holds
    /// of it, and what was on the wire.
    #[command(after_help = "Exit status 1: the law is broken.")]
    Reproduce(ReproduceArgs),
    /// Lets random networks run in bad weather and holds them to all laws; shrinks the first that breaks one.
    #[command(after_help = "Exit status 1: a law is broken.")]
    Storm(StormArgs),
    /// Prints a completion script for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Writes the manual pages.
    Man {
        /// The directory to write them to.
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
}

/// What every view takes.
#[derive(Args, Clone, Debug)]
pub(crate) struct ViewArgs {
    /// The capture: pcapng or pcap, as it is or compressed with gzip or zstd; - for standard input.
    #[arg(required = false, required_unless_present = "list_fields")]
    #[arg(default_value_if("list_fields", "true", "-"), hide_default_value = true)]
    pub(crate) file: PathBuf,
    /// The form of the output.
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) format: OutputFormat,
    /// Only this channel, by its name: `h0:0>s0:3` (`show`: with its opposite on the right).
    #[arg(long, value_name = "NAME")]
    pub(crate) channel: Option<String>,
    /// Only what is at or after this place: a character (`4096ch`) or a time (`12.5us`).
    #[arg(long, value_name = "PLACE", value_parser = WindowEdge::from_str)]
    pub(crate) from: Option<WindowEdge>,
    /// Only what is before this place.
    #[arg(long, value_name = "PLACE", value_parser = WindowEdge::from_str)]
    pub(crate) to: Option<WindowEdge>,
    /// At most so many rows.
    #[arg(long, value_name = "ROWS")]
    pub(crate) limit: Option<u64>,
    /// Only rows that are so: `length > 1000 && channel ~ "s0:*"`. `--list-fields` has the names,
    /// docs/filter.md the language.
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    pub(crate) filter: Option<String>,
    /// Only these fields of the rows, in this order: `channel,start,length`.
    #[arg(long, value_name = "NAMES")]
    pub(crate) fields: Option<String>,
    /// Lists the fields that the rows of this command have, and reads nothing.
    #[arg(long)]
    pub(crate) list_fields: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct PacketsArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// With the bytes of every packet.
    #[arg(long)]
    pub(crate) hex: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ConversationsArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Lists what is noticed of each packet instead: what it is, why it came again, what must not be.
    #[arg(long)]
    pub(crate) events: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct BlockingArgs {
    /// With `--limit`: at most so many trees, and deadlocks; 10 if it is not given.
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Only what lasted as long as this, a number of characters (`100ch`) or a time (`12.5us`).
    #[arg(long, value_name = "TIME", value_parser = WindowEdge::from_str)]
    pub(crate) min: Option<WindowEdge>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct TopologyArgs {
    /// The capture: pcapng or pcap, as it is or compressed with gzip or zstd; - for standard input.
    pub(crate) file: PathBuf,
    /// The form of the output.
    #[arg(long, value_enum, default_value_t = TopologyFormat::Text)]
    pub(crate) format: TopologyFormat,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// What slack buffers, cables and senders are like, whatever the capture says; also path=44,
    /// reset=own-gap|next-gap, fill=chip|other, framing=free|waits.
    #[arg(long, value_name = "kg=32,h=16,ks=32,delay=12,gen=2,int=2")]
    pub(crate) assume: Option<LinkAssumptions>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ExplainArgs {
    /// Of which rule (`F-3`), or which finding (`crc-bad`); without it all are listed.
    #[arg(value_name = "RULE")]
    pub(crate) name: Option<String>,
    /// The form of the output.
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) format: OutputFormat,
}

#[derive(Args, Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "flags of a command line, one at most of which is given"
)]
pub(crate) struct LinksArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Lists the intervals in which each channel was in one state.
    #[arg(long)]
    pub(crate) intervals: bool,
    /// Tells how full the slack buffer at the far end of each channel was, and what is assumed.
    #[arg(long, conflicts_with = "intervals")]
    pub(crate) slack: bool,
    /// Lists bounds of those fills at every moment.
    #[arg(long, conflicts_with_all = ["intervals", "slack"])]
    pub(crate) fill: bool,
    /// What slack buffers, cables and senders are like, whatever the capture says; also path=44,
    /// reset=own-gap|next-gap, fill=chip|other, framing=free|waits.
    #[arg(long, value_name = "kg=32,h=16,ks=32,delay=12,gen=2,int=2")]
    pub(crate) assume: Option<LinkAssumptions>,
}

impl LinksArgs {
    /// Which rows it is to print.
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
    /// The capture that is written: pcapng; - for standard output.
    #[arg(short = 'o', long = "output", value_name = "CAPTURE")]
    pub(crate) capture: PathBuf,
    /// Also writes down all that happens, a JSON object a line.
    #[arg(long, value_name = "FILE")]
    pub(crate) truth: Option<PathBuf>,
    /// Another seed than the scenario's.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Prints numbers about the run.
    #[arg(long)]
    pub(crate) stats: bool,
}

#[derive(Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line are that")]
pub(crate) struct DemoArgs {
    /// Which; without it they are listed.
    #[arg(value_parser = demo::names())]
    pub(crate) name: Option<String>,
    /// Lists them.
    #[arg(long, conflicts_with = "name")]
    pub(crate) list: bool,
    /// Also writes the capture: pcapng; - for standard output, to which nothing else goes then.
    #[arg(short = 'o', long = "output", value_name = "CAPTURE")]
    pub(crate) capture: Option<PathBuf>,
    /// Also writes down all that happens, a JSON object a line.
    #[arg(long, value_name = "FILE")]
    pub(crate) truth: Option<PathBuf>,
    /// Prints the scenario instead, for a start with one's own.
    #[arg(long, conflicts_with_all = ["capture", "truth"], requires = "name")]
    pub(crate) scenario: bool,
}

#[derive(Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line are that")]
pub(crate) struct ExperimentArgs {
    /// Which, or all; without it they are listed.
    #[arg(value_parser = experiment::names())]
    pub(crate) name: Option<String>,
    /// Lists them.
    #[arg(long, conflicts_with = "name")]
    pub(crate) list: bool,
    /// Also writes text, JSON, a CSV file for each table and an SVG file for each picture there.
    #[arg(short = 'o', long = "output", value_name = "DIR", requires = "name")]
    pub(crate) directory: Option<PathBuf>,
    /// The form of the output.
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) format: OutputFormat,
    /// Shorter runs at fewer points, to see that it works.
    #[arg(long)]
    pub(crate) quick: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct AnnotateArgs {
    /// The capture: pcapng, as it is or compressed with gzip or zstd.
    pub(crate) file: PathBuf,
    /// The copy that is written: pcapng, not compressed; - for standard output.
    #[arg(short = 'o', long, value_name = "CAPTURE")]
    pub(crate) output: PathBuf,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ScoreArgs {
    /// The capture, as simulate writes it: pcapng, compressed or not.
    pub(crate) capture: PathBuf,
    /// The truth about the same run (simulate --truth); - for standard input.
    pub(crate) truth: PathBuf,
    /// The form of the output.
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) format: OutputFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// For people.
    Text,
    /// One JSON object.
    Json,
    /// One JSON object a line.
    Jsonl,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TopologyFormat {
    /// For people.
    Text,
    /// One JSON object.
    Json,
    /// One JSON object a line.
    Jsonl,
    /// For Graphviz: `myriscope topology FILE --format dot | dot -Tsvg`.
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
