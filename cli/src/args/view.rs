//! Options common to all views of a capture.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use analyzer::channel_selector::{ChannelPatterns, ChannelSelector};
use analyzer::finding::CaptureArgument;
use analyzer::render::{ReportLayout, TimeUnit};
use analyzer::window::{TimeWindow, WindowEdge};
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{ArgAction, Args, ValueEnum};
use codec::packet::PacketDialect;
use codec::virtual_channels::{LinkProfile, ProfileError};

use crate::exit::CliError;
use crate::input::{InputEnd, InputFile, open_file};
use crate::output::StandardOutput;
use crate::run_simulation::check_output;

/// Options common to all views of a capture.
#[derive(Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "command-line flags")]
pub(crate) struct ViewArgs {
    /// Captures: pcapng or pcap, plain or compressed with gzip or zstd; - for standard input. Rows of
    /// several have the member `file`.
    #[arg(value_name = "FILE", required_unless_present = "list_fields")]
    pub(crate) files: Vec<PathBuf>,
    /// Reads the files as one capture, as `merge` writes it: pieces of a ring buffer or of a splitter, or taps of
    /// one network.
    #[arg(long, conflicts_with = "follow")]
    pub(crate) join: bool,
    /// Output format.
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    pub(crate) format: ListFormat,
    #[command(flatten)]
    pub(crate) part: CapturePart,
    /// Prints at most this number of rows; with `--sort`, the first in that order.
    #[arg(long, value_name = "ROWS")]
    pub(crate) limit: Option<u64>,
    /// Prints only the rows that match the expression: `length > 1000 && channel ~ "s0:*"`
    /// (fields: `--list-fields`; language: docs/filter.md).
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    pub(crate) filter: Option<String>,
    /// Prints only these fields, in this order: `channel,start,length`.
    #[arg(long, value_name = "NAMES")]
    pub(crate) fields: Option<String>,
    /// Unit of times in text: us (the default), ns, or chars for character indices. Columns of
    /// `--fields` are as in JSON without it.
    #[arg(long, value_name = "UNIT", value_parser = TimeUnit::from_str)]
    pub(crate) units: Option<TimeUnit>,
    #[command(flatten)]
    pub(crate) arrange: ArrangeArgs,
    #[command(flatten)]
    pub(crate) dialect: DialectArgs,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
    /// Reads a growing file until Ctrl-C, and prints rows as they are complete.
    #[arg(short = 'f', long)]
    pub(crate) follow: bool,
    /// Lists the fields of this command's rows and exits.
    #[arg(long)]
    pub(crate) list_fields: bool,
}

/// The part of a capture that a command reads, prints or writes.
#[derive(Args, Clone, Debug)]
pub(crate) struct CapturePart {
    /// Only these channels, separated by commas (`\,` in a name): a channel `h0:0-s0:3` (or `'h0:0>s0:3'`, in
    /// quotes), a port `s0:3`, a node `h0`, or a pattern `s*:3`.
    #[arg(long, value_name = "NAMES", value_parser = ChannelPatterns::from_str)]
    pub(crate) channel: Vec<ChannelPatterns>,
    /// Only the capture of this number, of several in one file; counted from 0.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) capture: Option<u32>,
    /// Start of the window: a character (`4096ch`) or a time (`12.5us`).
    #[arg(long, value_name = "POSITION", value_parser = WindowEdge::from_str, allow_hyphen_values = true)]
    pub(crate) from: Option<WindowEdge>,
    /// End of the window, exclusive.
    #[arg(long, value_name = "POSITION", value_parser = WindowEdge::from_str, allow_hyphen_values = true)]
    pub(crate) to: Option<WindowEdge>,
    /// Least length of a wait.
    #[arg(skip)]
    pub(crate) wait_min: Option<WindowEdge>,
}

impl CapturePart {
    /// Channels selected by --channel and --capture.
    pub(crate) fn channels(&self) -> ChannelSelector<'_> {
        ChannelSelector { patterns: &self.channel, capture: self.capture }
    }

    pub(crate) fn window(&self) -> TimeWindow {
        TimeWindow { from: self.from.unwrap_or(TimeWindow::ALL.from), to: self.to }
    }

    /// Error if --to is not behind --from.
    pub(crate) fn check_window(&self) -> Result<(), CliError> {
        let is_empty = match (self.from, self.to) {
            (Some(WindowEdge::Character(from)), Some(WindowEdge::Character(to))) => from >= to,
            (Some(WindowEdge::Picoseconds(from)), Some(WindowEdge::Picoseconds(to))) => from >= to,
            (_, _) => false,
        };
        match (self.from, self.to) {
            (Some(from), Some(to)) if is_empty => Err(CliError::Message(format!(
                "--from {from} is not before --to {to}: the window is empty"
            ))),
            (_, _) => Ok(()),
        }
    }
}

/// The capture of a command that reads one.
#[derive(Args, Clone, Debug)]
pub(crate) struct CaptureFiles {
    /// The capture: pcapng or pcap, plain or compressed with gzip or zstd; - for standard input.
    pub(crate) file: PathBuf,
    /// Files that are read with FILE as one capture, as `merge` writes it; behind --join.
    #[arg(value_name = "FILE", requires = "join")]
    others: Vec<PathBuf>,
    /// Reads the files as one capture, as `merge` writes it: pieces of a ring buffer or of a splitter, or taps of
    /// one network.
    #[arg(long)]
    join: bool,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

impl CaptureFiles {
    pub(crate) fn input(&self) -> InputFile<'_> {
        let profile = self.profile.value();
        InputFile { others: &self.others, profile, ..InputFile::whole(&self.file) }
    }

    pub(crate) fn argument(&self) -> CaptureArgument<'_> {
        self.profile.argument(&self.file, &self.others)
    }

    /// Error if the file to write is one that is read, or a terminal.
    pub(crate) fn check_output(&self, output: &Path) -> Result<(), CliError> {
        let files = std::iter::once(&self.file).chain(&self.others).map(PathBuf::as_path);
        check_output("capture", files, output)
    }
}

/// Meaning of the bytes behind the route of a packet.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct DialectArgs {
    /// Type of packets: tag, one byte behind the route, or vita26, four bytes, as in ANSI/VITA 26-1998
    /// (docs/dialect.md).
    #[arg(long, default_value = "tag")]
    #[arg(value_parser = PossibleValuesParser::new(["tag", "vita26"]).map(|name| dialect(&name)))]
    dialect: PacketDialect,
}

fn dialect(name: &str) -> PacketDialect {
    if name == "vita26" { PacketDialect::Vita26 } else { PacketDialect::Tag }
}

impl DialectArgs {
    pub(crate) const fn value(self) -> PacketDialect {
        self.dialect
    }
}

/// Codes of virtual channels.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ProfileArgs {
    /// A link profile: codes of the symbols of virtual channels, for channels that declare none
    /// (docs/capture-format.md).
    #[arg(long, value_name = "FILE", value_parser = read_profile)]
    profile: Option<ProfileFile>,
}

/// A link profile that was read.
#[derive(Clone, Debug)]
struct ProfileFile {
    path: PathBuf,
    profile: LinkProfile,
}

impl ProfileArgs {
    pub(crate) const fn value(&self) -> Option<&LinkProfile> {
        match &self.profile {
            Some(file) => Some(&file.profile),
            None => None,
        }
    }

    /// A capture as an argument of another command that reads it as this one.
    pub(crate) fn argument<'a>(
        &'a self,
        file: &'a Path,
        others: &'a [PathBuf],
    ) -> CaptureArgument<'a> {
        CaptureArgument { file, others, profile: self.profile.as_ref().map(|it| it.path.as_path()) }
    }
}

/// Reads a link profile. An error names the line.
fn read_profile(path: &str) -> Result<ProfileFile, String> {
    let mut text = String::new();
    let file = open_file(path.as_ref()).map(|file| file.take(PROFILE_MAX + 1));
    file.and_then(|mut file| file.read_to_string(&mut text)).map_err(|error| error.to_string())?;
    if text.len() as u64 > PROFILE_MAX {
        return Err(format!("a link profile exceeds {PROFILE_MAX} bytes"));
    }
    let is_wrong = |text: &str| {
        let fault = text.parse::<LinkProfile>().err();
        fault.is_some_and(|fault| !matches!(fault, ProfileError::Missing(_)))
    };
    let profile = text.parse().map_err(|fault: ProfileError| {
        // A fault of some lines is that of all texts that begin with them.
        let ends: Vec<usize> = text.match_indices('\n').map(|(end, _)| end).collect();
        let line = 1 + ends.partition_point(|end| !is_wrong(text.get(..*end).unwrap_or_default()));
        if is_wrong(&text) { format!("line {line}: {fault}") } else { fault.to_string() }
    })?;
    Ok(ProfileFile { path: path.into(), profile })
}

/// Longest text of a link profile, in bytes. *Chosen*: with room for comments.
const PROFILE_MAX: u64 = 1 << 16;

/// Options that sort, group and count rows.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Sorting and counting")]
#[expect(clippy::struct_excessive_bools, reason = "command-line flags")]
pub(crate) struct ArrangeArgs {
    /// Prints the number of rows instead of the rows.
    #[arg(long)]
    pub(crate) count: bool,
    /// Sorts rows by fields, ascending or descending: `length`, `crc,start:desc`. Rows without a value
    /// come last.
    #[arg(long, value_name = "FIELD[:desc]")]
    pub(crate) sort: Option<String>,
    /// Counts the rows of each combination of values: `channel,crc`. `--sort count` and `--sort count:desc`
    /// sort the groups; --count may stand beside it.
    #[arg(long, value_name = "NAMES", conflicts_with = "fields")]
    pub(crate) group: Option<String>,
    /// Prints the rows with the greatest values of `--sort`, or the largest groups of `--group`.
    #[arg(long, value_name = "ROWS", conflicts_with = "limit")]
    pub(crate) top: Option<u64>,
    /// Omits the heading (text, CSV and TSV).
    #[arg(long = "no-head", action = ArgAction::SetFalse)]
    pub(crate) has_head: bool,
}

/// Format of a list of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// Text for a terminal.
    Text,
    /// One JSON object.
    Json,
    /// One JSON object per line.
    Jsonl,
    /// Comma-separated values, with a heading.
    Csv,
    /// Tab-separated values, with a heading.
    Tsv,
}

impl ViewArgs {
    /// Unit of times in text.
    pub(crate) fn unit(&self) -> TimeUnit {
        self.units.unwrap_or_default()
    }

    /// Unit and width of a report.
    pub(crate) fn layout(&self, output: &StandardOutput) -> ReportLayout {
        ReportLayout { unit: self.unit(), width: output.width() }
    }

    /// End of the reading of a capture.
    pub(crate) const fn end(&self) -> InputEnd {
        if self.follow { InputEnd::Interrupt } else { InputEnd::EndOfFile }
    }

    /// Error if an option is given that is for lists of one file each; `--from` and `--to` go with the window.
    pub(crate) fn refuse_lists(&self) -> Result<(), CliError> {
        if self.join || self.follow {
            let error = "--join and --follow are for lists: join captures with `myriscope merge`";
            return Err(CliError::Message(error.to_owned()));
        }
        Ok(())
    }

    /// Error if --dialect is given to a command that reads no types of packets.
    pub(crate) fn refuse_dialect(&self) -> Result<(), CliError> {
        match self.dialect.value() {
            PacketDialect::Tag => Ok(()),
            PacketDialect::Vita26 => {
                let error = "--dialect has no effect: this command reads no types of packets";
                Err(CliError::Message(error.to_owned()))
            }
        }
    }
}
