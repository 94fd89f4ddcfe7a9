//! Arguments of `myriscope import`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use codec::wires::WIRES;

use super::ProfileArgs;

#[derive(Args, Clone, Debug)]
pub(crate) struct ImportArgs {
    /// The recording: VCD, FST, a sigrok session (.sr), CSV, as Saleae writes it or with a row a sample, or characters
    /// in the notation of `show`; - for standard input.
    pub(crate) file: PathBuf,
    /// The capture to write: pcapng, uncompressed; - for standard output.
    #[arg(short = 'o', long, value_name = "CAPTURE")]
    pub(crate) output: PathBuf,
    /// Name of a channel, `FROM>TO`: twice for both directions of a link.
    #[arg(long, value_name = "NAME", default_value = "a:0>b:0")]
    pub(crate) channel: Vec<String>,
    /// Signals of a channel's wires d, 7, 6 … 0, separated by commas; once for each --channel. Without it, the
    /// signals of the recording in their order.
    #[arg(long, value_name = "SIGNALS")]
    pub(crate) wires: Vec<SignalNames>,
    /// Searches the order of the wires by the CRC of packets.
    #[arg(long)]
    pub(crate) guess: bool,
    /// Characters in a second, in millions: 80 unless given. Only a given rate is judged (W-6).
    #[arg(long, value_name = "MEGAHERTZ")]
    pub(crate) rate: Option<f64>,
    /// Samples in a second, in millions, of a CSV without times; `state` if both edges of sendclk clocked the
    /// samples of the only channel.
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

/// Names of nine signals: of wire d, then of 7 to 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SignalNames(pub(crate) Vec<String>);

impl FromStr for SignalNames {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        match names.len() {
            WIRES => Ok(Self(names)),
            count => {
                Err(format!("{count} signals, expected {WIRES}: of d, 7, 6, 5, 4, 3, 2, 1, 0"))
            }
        }
    }
}
