//! `myriscope storm` and `myriscope reproduce`: run by the program `myriscope-laws`, so that this one does not
//! link the laws of `fuzz/laws`.

use std::env;
use std::process::{self, Command};

use crate::exit::{BAD_INPUT, CliError, CommandResult, RunReport};
use crate::interrupt;

/// Runs `myriscope-laws`, from the directory of this program, with the arguments of this program.
pub(crate) fn run() -> CommandResult {
    // Ctrl-C reaches both programs; this one waits for the other.
    interrupt::handle();
    let name = format!("myriscope-laws{}", env::consts::EXE_SUFFIX);
    let ended = env::current_exe()
        .map(|own| own.with_file_name(&name))
        .and_then(|program| Command::new(program).args(env::args_os().skip(1)).status());
    let status = ended.map_err(|error| {
        let build = "`cargo build --release -p myriscope-laws` builds it beside this program";
        CliError::Message(format!("cannot run {name}: {error}; {build}"))
    })?;
    match status.code() {
        Some(0) => Ok(RunReport::default()),
        code => process::exit(code.unwrap_or(BAD_INPUT.into())),
    }
}
