//! `cargo xtask coverage`: line coverage of all tests, and of the replay of the corpus alone.

mod lines;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use crate::TaskOutcome;
use crate::source;
use crate::workspace::{TaskError, at, command, files, host, output, root, run_command};

use lines::{CrateLines, LineCounts};

#[derive(Debug, Args)]
pub(crate) struct CoverageArgs {
    /// Also lists the lines that no test covers.
    #[arg(long)]
    missing: bool,
}

/// The crates, as their sources stand.
const CRATES: [&str; 4] = ["codec", "simulator", "analyzer", "cli"];

/// Measured runs: a name and the arguments of `cargo test`.
const MEASURED: [(&str, &[&str]); 2] = [
    ("corpus", &["--package", "laws", "--test", "tests", "every_input_of_the_corpus"]),
    ("all tests", &["--workspace", "--lib", "--bins", "--tests"]),
];

/// Builds the tests with counters, runs them, and prints how much of each crate they reach.
pub(crate) fn run(arguments: &CoverageArgs) -> Result<TaskOutcome, TaskError> {
    let tools = LlvmTools::find()?;
    let mut measured = Vec::new();
    for (name, tests) in MEASURED {
        measured.push(reached(&tools, name, tests)?);
    }
    let files = source::all()?;
    let sources: Vec<CrateLines> = CRATES.iter().map(|name| CrateLines::of(name, &files)).collect();
    let mut text = table(&sources, &measured);
    if let (true, Some(all)) = (arguments.missing, measured.last()) {
        text += &sources.iter().map(|lines| lines.missing(all)).collect::<String>();
    }
    let printed = io::stdout().write_all(text.as_bytes());
    printed.map_err(|error| format!("cannot print: {error}"))?;
    Ok(TaskOutcome::Well)
}

/// LLVM's tools, in the version of rustc.
struct LlvmTools {
    profdata: PathBuf,
    cov: PathBuf,
}

impl LlvmTools {
    /// rustup's component `llvm-tools`, else Debian's packages.
    fn find() -> Result<Self, TaskError> {
        let sysroot = output(command("rustc").args(["--print", "sysroot"]))?;
        let rustups = Path::new(&sysroot).join("lib/rustlib").join(host()?).join("bin");
        let version = output(command("rustc").arg("-vV"))?;
        let llvm = version.lines().find_map(|line| line.strip_prefix("LLVM version: "));
        let major = llvm.and_then(|llvm| llvm.split('.').next()).unwrap_or_default();
        let debians = PathBuf::from(format!("/usr/lib/llvm-{major}/bin"));
        let found = [rustups, debians].into_iter().find(|path| path.join("llvm-cov").is_file());
        let found = found.ok_or_else(|| {
            format!("no llvm-cov: rustup component add llvm-tools, or apt-get install llvm-{major}")
        })?;
        Ok(Self { profdata: found.join("llvm-profdata"), cov: found.join("llvm-cov") })
    }
}

/// Runs tests; the lines that they reach.
fn reached(tools: &LlvmTools, name: &str, tests: &[&str]) -> Result<LineCounts, TaskError> {
    let target = root().join("target/coverage");
    let counts = target.join("counts").join(name);
    if counts.exists() {
        fs::remove_dir_all(&counts).map_err(at(&counts))?;
    }
    let cargo = || {
        let mut cargo = command("cargo");
        cargo.arg("test").args(tests).env("CARGO_TARGET_DIR", &target);
        cargo.env("RUSTFLAGS", "-Cinstrument-coverage");
        // A file a program, to which all its processes add.
        cargo.env("LLVM_PROFILE_FILE", counts.join("%m.profraw"));
        cargo
    };
    // Cargo's output goes to standard error, the table alone to standard output.
    let programs =
        programs(&output(cargo().args(["--no-run", "--message-format=json-render-diagnostics"]))?);
    run_command(cargo().stdout(io::stderr()))?;
    let merged = counts.join("merged");
    let mut merge = Command::new(&tools.profdata);
    merge.args(["merge", "--sparse", "--output"]).arg(&merged).args(files(&counts)?);
    run_command(&mut merge)?;
    let mut export = Command::new(&tools.cov);
    export.args(["export", "--format=lcov", "--instr-profile"]).arg(&merged);
    for (at, program) in programs.iter().enumerate() {
        // The first stands alone.
        if at > 0 {
            export.arg("--object");
        }
        export.arg(program);
    }
    Ok(LineCounts::read(&output(&mut export)?))
}

/// Executables in cargo's messages: the tests and the programs they run.
fn programs(messages: &str) -> Vec<String> {
    let read = |line: &str| serde_json::from_str::<serde_json::Value>(line).ok();
    let program = |message: serde_json::Value| {
        message.get("executable").and_then(|path| path.as_str().map(str::to_owned))
    };
    messages.lines().filter_map(read).filter_map(program).collect()
}

/// A line a crate: how many lines it has that do something, and what part of them each run reached.
fn table(crates: &[CrateLines], measured: &[LineCounts]) -> String {
    let mut text = format!("{:<12} {:>8}", "crate", "lines");
    for (name, _) in MEASURED {
        text += &format!(" {name:>10}");
    }
    text.push('\n');
    for lines in crates {
        let all = measured.last().map_or(0, |reached| lines.all(reached));
        text += &format!("{:<12} {all:>8}", lines.name);
        for reached in measured {
            text += &format!(" {:>8} %", percent(lines.reached(reached), all));
        }
        text.push('\n');
    }
    text
}

/// A part in percent, to a tenth, rounded down.
fn percent(part: usize, whole: usize) -> String {
    let tenths = (part * 1000).checked_div(whole).unwrap_or_default();
    format!("{}.{}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_what_cargo_has_built() {
        let messages = concat!(
            "{\"reason\":\"compiler-artifact\",\"executable\":null}\n",
            "{\"reason\":\"compiler-artifact\",\"executable\":\"/t/laws-1\"}\n",
            "{\"reason\":\"build-finished\",\"success\":true}",
        );
        assert_eq!(programs(messages), ["/t/laws-1"]);
    }

    #[test]
    fn nothing_missing_is_a_hundred_percent_and_a_line_missing_is_not() {
        assert_eq!(percent(2000, 2000), "100.0");
        assert_eq!(percent(1999, 2000), "99.9");
        assert_eq!(percent(0, 0), "0.0");
    }
}
