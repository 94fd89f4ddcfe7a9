//! The repository's files and the commands that are run in it.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Message of an error that ends a task.
pub(crate) type TaskError = String;

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// A path relative to the repository's root.
pub(crate) fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// Converts an I/O error to a message with its path.
pub(crate) fn at(path: &Path) -> impl Fn(io::Error) -> TaskError + '_ {
    move |error| format!("{}: {error}", shown(path))
}

/// A command that runs at the root.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// Runs a command to its end, with its output in ours.
pub(crate) fn run_command(command: &mut Command) -> Result<(), TaskError> {
    let status = command.status().map_err(|error| format!("{}: {error}", typed(command)))?;
    if status.success() { Ok(()) } else { Err(format!("{}: {status}", typed(command))) }
}

/// Output of a command, trimmed.
pub(crate) fn output(command: &mut Command) -> Result<String, TaskError> {
    let ended = command.stderr(Stdio::inherit()).output();
    let ended = ended.map_err(|error| format!("{}: {error}", typed(command)))?;
    if !ended.status.success() {
        return Err(format!("{}: {}", typed(command), ended.status));
    }
    let text = String::from_utf8(ended.stdout);
    text.map(|text| text.trim().to_owned()).map_err(|error| format!("{}: {error}", typed(command)))
}

/// A command line.
fn typed(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// The files of a directory, sorted; none if there is no such directory.
pub(crate) fn files(directory: &Path) -> Result<Vec<PathBuf>, TaskError> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(at(directory)(error)),
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = paths.collect::<io::Result<Vec<_>>>().map_err(at(directory))?;
    paths.retain(|path| path.is_file());
    paths.sort();
    Ok(paths)
}

/// The triple that rustc builds for here.
pub(crate) fn host() -> Result<String, TaskError> {
    let version = output(command("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc -vV names no host".to_owned())
}
