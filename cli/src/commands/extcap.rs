//! `myriscope extcap`: a simulation as an interface of Wireshark.
//!
//! Wireshark runs the program with `--extcap-interfaces`, then `--extcap-dlts` and `--extcap-config` for the interface, and
//! `--capture` with the pipe that it reads.

use std::fs::{self, OpenOptions};
use std::path::Path;
use std::thread;
use std::time::Duration;

use codec::capture::LINK_TYPE;

use super::{demo, simulate};
use crate::args::{DemoArgs, ExtcapArgs, SimulateArgs};
use crate::catalog::DEMOS;
use crate::exit::{CliError, CommandResult, RunReport};
use crate::output::StandardOutput;

/// Looks for a reader of the pipe, and the time between two. *Chosen*: Wireshark opens it within a second.
const LOOKS: u32 = 100;
const LOOK: Duration = Duration::from_millis(50);

/// Name of the interface in command lines: `tshark -i myrinet`.
const INTERFACE: &str = "myrinet";

pub(crate) fn run(arguments: &ExtcapArgs, output: &mut StandardOutput) -> CommandResult {
    let ExtcapArgs { extcap_interfaces, extcap_interface, extcap_dlts, extcap_config, .. } =
        arguments;
    if *extcap_interfaces {
        let version = env!("CARGO_PKG_VERSION");
        output.text(&format!("extcap {{version={version}}}\n"));
        output.text(&format!("interface {{value={INTERFACE}}}{{display=Myrinet simulation}}\n"));
        return Ok(RunReport::default());
    }
    if let Some(name) = extcap_interface.as_deref().filter(|name| *name != INTERFACE) {
        return Err(CliError::Message(format!("no interface {name:?}: there is {INTERFACE:?}")));
    }
    if *extcap_dlts {
        let dlt = format!("dlt {{number={LINK_TYPE}}}{{name=USER0}}{{display=Myrinet characters}}");
        output.text(&(dlt + "\n"));
    } else if *extcap_config {
        output.text(&config());
    } else if arguments.capture {
        return capture(arguments, output).inspect_err(|_| {
            arguments.fifo.iter().for_each(|fifo| end_pipe(fifo));
        });
    }
    Ok(RunReport::default())
}

/// Options of the interface in Wireshark's dialog.
fn config() -> String {
    let mut text = "arg {number=0}{call=--demo}{display=Built-in scenario}\
                    {tooltip=Scenario of `myriscope demo`}{type=selector}{group=Scenario}\n"
        .to_owned();
    for (number, demo) in DEMOS.iter().enumerate() {
        let default = if number == 0 { "{default=true}" } else { "" };
        let (name, title) = (demo.name, demo.title);
        text += &format!("value {{arg=0}}{{value={name}}}{{display={name}: {title}}}{default}\n");
    }
    text + "arg {number=1}{call=--scenario}{display=Scenario file}\
            {tooltip=In place of a built-in scenario; docs/scenario.md describes it}\
            {type=fileselect}{mustexist=true}{fileext=Scenarios (*.toml)}{group=Scenario}\n\
            arg {number=2}{call=--seed}{display=Seed}\
            {tooltip=In place of the seed of the scenario file}{type=unsigned}{group=Scenario}\n"
}

/// Shows the reader of a pipe its end, which waits for one who writes: Wireshark would wait for ever.
fn end_pipe(pipe: &Path) {
    let is_file = fs::metadata(pipe).is_ok_and(|data| data.is_file() || data.is_dir());
    if is_file || !pipe.exists() {
        return;
    }
    let pipe = pipe.to_owned();
    let opening = thread::spawn(move || drop(OpenOptions::new().write(true).open(pipe)));
    // Opening waits for the reader.
    for _ in 0..LOOKS {
        if opening.is_finished() {
            return;
        }
        thread::sleep(LOOK);
    }
}

/// Simulates into the pipe.
fn capture(arguments: &ExtcapArgs, output: &mut StandardOutput) -> CommandResult {
    let ExtcapArgs { fifo, scenario, demo: name, seed, .. } = arguments;
    if fifo.is_none() {
        return Err(CliError::Message("--capture needs --fifo, a pipe or a file".to_owned()));
    }
    let capture = fifo.clone();
    let Some(path) = scenario.as_ref().filter(|path| !path.as_os_str().is_empty()) else {
        let (name, list, truth) = (Some(name.clone()), false, None);
        return demo::run(&DemoArgs { name, list, capture, truth, scenario: false }, output);
    };
    let simulation =
        SimulateArgs { scenario: path.clone(), capture, seed: *seed, ..SimulateArgs::default() };
    simulate::run(&simulation, output)
}
