//! Arguments of `myriscope wireshark`.

use std::path::PathBuf;

use clap::Args;

#[derive(Args, Clone, Debug)]
pub(crate) struct WiresharkArgs {
    /// Installs the dissector and the profile "Myriscope" in Wireshark's directory of settings, and prints the files.
    #[arg(long, value_name = "DIR", num_args = 0..=1)]
    pub(crate) install: Option<Option<PathBuf>>,
    /// Overwrites files of another origin.
    #[arg(long, requires = "install")]
    pub(crate) replace: bool,
}
