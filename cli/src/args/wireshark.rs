//! Arguments of `myriscope wireshark`.

use std::path::PathBuf;

use clap::Args;

use crate::catalog;

#[derive(Args, Clone, Debug)]
pub(crate) struct WiresharkArgs {
    /// Installs the dissector and the profile "Myriscope" in Wireshark's directory of settings, and prints the files.
    #[arg(long, value_name = "DIR", num_args = 0..=1)]
    pub(crate) install: Option<Option<PathBuf>>,
    /// Overwrites files of another origin.
    #[arg(long, requires = "install")]
    pub(crate) replace: bool,
}

/// Options with which Wireshark runs the program; names are those of its extcap protocol.
#[derive(Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "command-line flags")]
pub(crate) struct ExtcapArgs {
    /// Lists the interface.
    #[arg(long)]
    pub(crate) extcap_interfaces: bool,
    /// Version of Wireshark.
    #[arg(long, value_name = "VERSION")]
    pub(crate) extcap_version: Option<String>,
    /// The interface that the other options are about.
    #[arg(long, value_name = "NAME")]
    pub(crate) extcap_interface: Option<String>,
    /// Lists the link types of the interface.
    #[arg(long)]
    pub(crate) extcap_dlts: bool,
    /// Lists the options of the interface.
    #[arg(long)]
    pub(crate) extcap_config: bool,
    /// Capture filter of Wireshark; without effect.
    #[arg(long, value_name = "FILTER")]
    pub(crate) extcap_capture_filter: Option<String>,
    /// Simulates, and writes the capture to the pipe.
    #[arg(long)]
    pub(crate) capture: bool,
    /// The pipe.
    #[arg(long, value_name = "PIPE")]
    pub(crate) fifo: Option<PathBuf>,
    /// Built-in scenario.
    #[arg(long, default_value = "two-hosts", value_parser = catalog::demo_names())]
    pub(crate) demo: String,
    /// Scenario file in place of a built-in scenario.
    #[arg(long, value_name = "SCENARIO")]
    pub(crate) scenario: Option<PathBuf>,
    /// Replaces the scenario's seed.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}
