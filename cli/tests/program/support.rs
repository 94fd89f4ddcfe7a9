//! Running the program, and the files that tests use.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use analyzer::filter::RowKind;
use codec::capture::{ByteOrder, CaptureWriter, Channel, ChannelId, Chunk, ChunkContent};
use codec::notation::parse;
use codec::time::Tick;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

/// The commands that print rows of a capture.
pub(crate) fn views() -> impl Iterator<Item = &'static [&'static str]> {
    let commands = RowKind::ALL.into_iter().map(RowKind::command);
    let of_one = commands.filter(|command| !["diff", "compare"].contains(command));
    of_one.map(|command| &*command.split(' ').collect::<Vec<_>>().leak())
}

/// All views, and `topology`.
pub(crate) fn readers() -> impl Iterator<Item = &'static [&'static str]> {
    views().chain([&["topology"][..]])
}

/// Exit status and output of a run.
pub(crate) struct RunOutcome {
    pub(crate) status: Option<i32>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for RunOutcome {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        Self { status: output.status.code(), bytes: output.stdout, out, err }
    }
}

pub(crate) fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_myriscope"));
    command
        .args(arguments)
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("COLUMNS")
        .env("LC_ALL", "C.UTF-8");
    command.stdin(Stdio::null());
    command
}

pub(crate) fn run(arguments: &[&str]) -> RunOutcome {
    program(arguments).output().unwrap().into()
}

pub(crate) fn run_in(directory: &ScratchDirectory, arguments: &[&str]) -> RunOutcome {
    program(arguments).current_dir(directory.path()).output().unwrap().into()
}

/// Runs the program with these bytes on standard input.
pub(crate) fn piped(arguments: &[&str], input: &[u8]) -> RunOutcome {
    let mut command = program(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // The program may close the pipe before the end.
    let feeder = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    let _ = feeder.join().unwrap();
    output.into()
}

/// Output of a run that must succeed without a message.
pub(crate) fn good(arguments: &[&str]) -> String {
    let RunOutcome { status, out, err, .. } = run(arguments);
    assert_eq!((status, err.as_str()), (Some(0), ""), "{arguments:?}");
    out
}

/// Output of a view of a fixture.
pub(crate) fn view(name: &str, arguments: &[&str]) -> String {
    good(&[arguments, &[&capture(name)]].concat())
}

/// Error messages of a run that must fail and print nothing.
pub(crate) fn bad(arguments: &[&str]) -> String {
    let RunOutcome { status, out, err, .. } = run(arguments);
    assert_eq!((status, out.as_str()), (Some(2), ""), "{arguments:?}");
    err
}

/// Checks that a run fails for a reason and prints nothing.
pub(crate) fn refused(arguments: &[&str], reason: &str) {
    let error = bad(arguments);
    assert!(error.contains(reason), "{arguments:?}: {error}");
}

pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Values of JSON, one a line.
pub(crate) fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(json).collect()
}

/// A capture of channels, each with a pattern that repeats so many times.
pub(crate) fn repeats<'p>(
    channels: &[Channel],
    patterns: impl IntoIterator<Item = (&'p str, u64)>,
) -> Vec<u8> {
    let mut file = CaptureWriter::new(Vec::new(), ByteOrder::Little, channels).unwrap();
    for (id, (pattern, count)) in (0..).zip(patterns) {
        let pattern = parse(pattern).unwrap();
        let content = ChunkContent::Repeat { pattern: pattern.chars(), count };
        file.write(ChannelId(id), &Chunk { first: Tick(0), content }).unwrap();
    }
    file.finish().unwrap()
}

pub(crate) fn fixture(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    root.join("fixtures").join(path).to_str().unwrap().to_owned()
}

/// Captures in the directories of `fixtures/`, sorted.
pub(crate) fn fixtures() -> Vec<PathBuf> {
    let entries = |directory: &Path| {
        fs::read_dir(directory).into_iter().flatten().map(|entry| entry.unwrap().path())
    };
    let mut paths: Vec<_> =
        entries(Path::new(&fixture(""))).flat_map(|it| entries(&it).collect::<Vec<_>>()).collect();
    paths.retain(|path| path.extension().is_some_and(|it| it == "pcapng"));
    paths.sort();
    paths
}

pub(crate) fn capture(name: &str) -> String {
    fixture(&format!("{name}/capture.pcapng"))
}

pub(crate) fn capture_bytes(name: &str) -> Vec<u8> {
    fs::read(capture(name)).unwrap()
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

/// A directory of one test, removed at the end.
pub(crate) struct ScratchDirectory(PathBuf);

impl ScratchDirectory {
    pub(crate) fn new(name: &str) -> Self {
        let name = format!("myriscope-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> String {
        fs::write(self.0.join(name), bytes).unwrap();
        self.file(name)
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.0.join(name)).unwrap()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    /// The capture of a scenario.
    pub(crate) fn simulate(&self, scenario: &str) -> String {
        let scenario = self.write("scenario.toml", scenario.as_bytes());
        let capture = self.file("scenario.pcapng");
        good(&["simulate", &scenario, "-o", &capture]);
        capture
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.names_in("")
    }

    pub(crate) fn names_in(&self, below: &str) -> Vec<String> {
        let entries = fs::read_dir(self.0.join(below)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

impl Drop for ScratchDirectory {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

/// Colours that the styles of every page name.
pub(crate) const COLOURS: &str = include_str!("../../templates/colours.css");
