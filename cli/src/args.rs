//! The command line.

mod analysis;
mod cutting;
mod export;
mod import;
#[expect(dead_code, reason = "the program myriscope-laws reads the values")]
mod laws;
mod simulation;
mod view;
mod wireshark;

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub(crate) use self::analysis::{
    AnnotateArgs, BlockingArgs, BrowseArgs, BrowsedList, CheckArgs, ConversationsArgs, ExplainArgs,
    LinksArgs, MappingArgs, PacketsArgs, ReportArgs, ScoreArgs, SeriesArgs, ShowArgs, TopologyArgs,
    WatchArgs,
};
pub(crate) use self::cutting::{CompareArgs, DiffArgs, DiffIgnore, MergeArgs, SliceArgs};
pub(crate) use self::export::{
    ExportArgs, ExportKind, ExportPacketsArgs, ExportSelection, ExportWiresArgs, PayloadKind,
    WireSkew,
};
#[cfg(feature = "parquet")]
pub(crate) use self::export::{ExportTablesArgs, ExportedTable};
pub(crate) use self::import::{ImportArgs, SampleRate};
pub(crate) use self::laws::{ReproduceArgs, StormArgs};
pub(crate) use self::simulation::{
    DemoArgs, ExperimentArgs, KeySetting, RUNS_MAX, SimulateArgs, SweepArgs, VariedKey,
};
pub(crate) use self::view::{
    ArrangeArgs, CaptureFiles, CapturePart, DialectArgs, ListFormat, ProfileArgs, ViewArgs,
};
pub(crate) use self::wireshark::{ExtcapArgs, WiresharkArgs};
use crate::output::ColourChoice;

/// Decodes and analyzes captures of Myrinet links, from single characters to messages, and
/// simulates Myrinet networks that produce such captures.
#[derive(Debug, Parser)]
#[command(name = "myriscope", version, arg_required_else_help = true)]
#[command(disable_help_subcommand = true)]
pub(crate) struct CliArguments {
    #[command(subcommand)]
    pub(crate) command: CliCommand,
    /// Colours in the output.
    #[arg(long, global = true, value_enum, default_value_t = ColourChoice::Auto, value_name = "WHEN")]
    pub(crate) color: ColourChoice,
    /// Columns of text output; by default those of the terminal or of the variable COLUMNS. Lines in
    /// pipes and files have no limit.
    #[arg(long, global = true, value_name = "COLUMNS")]
    pub(crate) width: Option<usize>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Lists findings, the most severe first, and the verdict on each rule of Myrinet.
    Check(CheckArgs),
    /// Explains a rule, a finding or a term: text, evidence, limits, likely causes, and an example.
    Explain(ExplainArgs),
    /// Writes findings, verdicts, the network, links over time, waits and messages to one HTML page.
    Report(ReportArgs),
    /// Shows the state of every link over time: open, stopped, sending, idle; lamps, stops, pings.
    Links(LinksArgs),
    /// Follows packets across all captured links: route, latency, waits, corruption and outcome.
    Journeys(ViewArgs),
    /// Lists utilisation, stopped share, packets and latencies of each channel over time.
    ///
    /// A packet uses every interval from its first byte to its last, and is counted in that of its last.
    Series(SeriesArgs),
    /// Lists flows: packets, bytes, losses and latencies from each node to each other.
    Flows(ViewArgs),
    /// Follows the reliability protocol: messages, ACKs and NACKs, retransmissions and their causes.
    Conversations(ConversationsArgs),
    /// Follows the mapping of the network by its interfaces: probes, mappers over time, maps distributed.
    Mapping(MappingArgs),
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
    /// Lists packets, events, waits and findings of all channels in order of time.
    ///
    /// A finding comes when it is certain, which may be later than its own time; `--sort time_ps` orders all
    /// rows by time.
    Log(ViewArgs),
    /// Prints the characters of both directions of a link side by side.
    ///
    /// Packets, events and findings of the link stand below the row in which they became certain. Of several links
    /// the first is shown that --channel selects.
    Show(ShowArgs),
    /// Shows findings, links, packets, characters, journeys and conversations of a capture on a terminal.
    ///
    /// A key leads from each row to its place; `?` shows all keys. Compressed captures, several (--join) and standard
    /// input are first copied to a temporary file.
    View(BrowseArgs),
    /// Shows links, rates and the newest findings of a capture while it is written, refreshed in place.
    ///
    /// Without a terminal, prints one picture at the end of the input.
    Watch(WatchArgs),
    /// Copies a capture and adds the findings as packet comments, which Wireshark displays.
    Annotate(AnnotateArgs),
    /// Converts an instrument's recording of the wires to a capture: VCD, sigrok sessions, CSV.
    Import(ImportArgs),
    /// Converts a capture for other programs.
    Export(ExportArgs),
    /// Prints the dissector for Wireshark, or installs it with a profile.
    Wireshark(WiresharkArgs),
    /// Offers simulations as an interface of Wireshark, which runs this command.
    Extcap(ExtcapArgs),
    /// Cuts a part out of a capture: a time, channels, or the surroundings of a finding.
    ///
    /// Cuts the first of several captures in one file, unless --capture names another.
    Slice(SliceArgs),
    /// Joins captures of one network by time and channel.
    Merge(MergeArgs),
    /// Compares the packets of two captures, channel by channel.
    Diff(DiffArgs),
    /// Compares rates, stops, latencies and findings of two captures of one network.
    ///
    /// In place of a capture stands also a table of its figures: `compare FILE --format jsonl`, of one capture alone.
    Compare(CompareArgs),
    /// Compares the analysis of a simulated capture with the simulator's truth, event by event.
    Score(ScoreArgs),
    /// Simulates a network character by character and writes its tapped links to a capture.
    Simulate(SimulateArgs),
    /// Simulates a scenario with several values of its keys and several seeds, and compares the results.
    Sweep(SweepArgs),
    /// Runs a built-in scenario and prints the behaviour it demonstrates.
    Demo(DemoArgs),
    /// Repeats published measurements on the simulated reference network: tables and plots.
    Experiment(ExperimentArgs),
    /// Runs a fuzz input: checks the target's law and prints the characters of the input.
    Reproduce(ReproduceArgs),
    /// Simulates random networks with injected faults, checks every law, and minimizes the first
    /// failing network.
    Storm(StormArgs),
    /// Shows the help of a command, or of a subject: `filter`, `scenario`, `output`, `recordings`, `exit-codes`.
    Help {
        /// The command, with a command below it (`export wires`), or the subject; without it, all commands.
        #[arg(value_name = "SUBJECT")]
        subject: Vec<String>,
    },
    /// Prints the JSON Schema of the rows of a command.
    Schema {
        /// The command, with its option if that selects the rows: `packets`, `"links --intervals"`; without it,
        /// all are listed.
        #[arg(value_name = "COMMAND")]
        command: Option<String>,
    },
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
    /// Graphviz, with the places of the picture: `myriscope topology FILE --format dot | dot -Tpdf`.
    Dot,
    /// The picture of the report.
    Svg,
    /// Cables, as a scenario reads them with `topology.file`; ? for a port that is not known.
    Csv,
}

#[cfg(test)]
mod tests {

    #[test]
    fn the_command_line_is_consistent() {
        crate::help::command().debug_assert();
    }
}
