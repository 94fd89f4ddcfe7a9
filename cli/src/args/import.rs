//! Arguments of `myriscope import`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use super::ProfileArgs;

#[derive(Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "options of the command line")]
pub(crate) struct ImportArgs {
    /// The recording: VCD, FST, a sigrok session (.sr), CSV, as Saleae writes it or with a row a sample, or characters
    /// in the notation of `show`; - for standard input.
    pub(crate) file: PathBuf,
    /// The capture to write: pcapng, uncompressed; - for standard output. Without it, the signals of the recording are
    /// listed, and the command that converts them.
    #[arg(short = 'o', long, value_name = "CAPTURE")]
    pub(crate) output: Option<PathBuf>,
    /// Name of a channel, `FROM>TO`: twice for both directions of a link. Without it, as many as the signals are for.
    #[arg(long, value_name = "NAME")]
    pub(crate) channel: Vec<String>,
    /// Signals of a channel's wires d, 7, 6 … 0, separated by commas, or a bus, `tx[8:0]`; once for each --channel.
    /// Without it, by the names of the signals, or in their order.
    #[arg(long, value_name = "SIGNALS")]
    pub(crate) wires: Vec<String>,
    /// Lists only signals that have this text in their names, without -o.
    #[arg(long, value_name = "TEXT", conflicts_with = "output")]
    pub(crate) signals: Option<String>,
    /// Converts also what shows no sign of Myrinet.
    #[arg(long)]
    pub(crate) force: bool,
    /// Searches the order of the wires by the CRC of packets.
    #[arg(long)]
    pub(crate) guess: bool,
    /// Characters in a second, in millions: 80 unless given. Only a given rate is judged (W-6).
    #[arg(long, value_name = "MEGAHERTZ")]
    pub(crate) rate: Option<f64>,
    /// Samples in a second, in millions, of a CSV without times, or with rounded ones; `state` if both edges of
    /// sendclk clocked the samples of the only channel.
    #[arg(long, value_name = "MEGAHERTZ")]
    pub(crate) sample_rate: Option<SampleRate>,
    /// Draws the transitions of each wire by their place in the character period.
    #[arg(long, value_name = "SVG")]
    pub(crate) eye: Option<PathBuf>,
    /// The end, `node:port`, at which the recording was made.
    #[arg(long, value_name = "PORT")]
    pub(crate) tap: Option<String>,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

/// Rate of samples without times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SampleRate {
    Megahertz(f64),
    /// A sample is a character: both edges of `sendclk` clock the samples. W-2
    State,
}

impl FromStr for SampleRate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse() {
            _ if text == "state" => Ok(Self::State),
            Ok(megahertz) => Ok(Self::Megahertz(megahertz)),
            Err(_) => Err("expected a number of MHz, or state".to_owned()),
        }
    }
}
