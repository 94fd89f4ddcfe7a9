//! Files that are read, or standard input.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;

use codec::capture::{DecompressedInput, decompress};
use indicatif::{ProgressBar, ProgressDrawTarget};

use crate::exit::{CliError, is_standard};
use crate::progress;

/// A capture, compressed or not, with its progress on a terminal.
pub(crate) type CliCapture = DecompressedInput<ProgressReader>;

/// A stream whose progress is shown.
#[derive(Debug)]
pub(crate) struct ProgressReader {
    stream: InputStream,
    progress: ProgressBar,
    read: u64,
}

#[derive(Debug)]
enum InputStream {
    File(File),
    Standard(io::Stdin),
}

/// Opens a capture; `-` is standard input.
pub(crate) fn open(path: &Path) -> io::Result<CliCapture> {
    let (stream, len) = if is_standard(path) {
        (InputStream::Standard(io::stdin()), None)
    } else {
        let file = open_file(path)?;
        let data = file.metadata()?;
        (InputStream::File(file), data.is_file().then_some(data.len()))
    };
    decompress(ProgressReader { stream, progress: bar(len), read: 0 })
}

/// Opens a file that is no directory.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    Ok(file)
}

/// Reads a whole file, or standard input, of at most `max` bytes; `kind` is its name in the error.
pub(crate) fn read_limited(path: &Path, max: usize, kind: &str) -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    let mut all = |stream: &mut dyn Read| stream.take(max as u64 + 1).read_to_end(&mut bytes);
    let read = if is_standard(path) {
        all(&mut io::stdin().lock())
    } else {
        File::open(path).and_then(|mut file| all(&mut file))
    };
    read.map_err(|error| CliError::reading(path, &error))?;
    if bytes.len() > max {
        return Err(CliError::reading(path, &format!("{kind} exceeds {max} bytes")));
    }
    Ok(bytes)
}

fn bar(len: Option<u64>) -> ProgressBar {
    let bar = progress::bar(
        len,
        progress::style(match len {
            Some(_) => "{bar:40} {bytes}/{total_bytes} {binary_bytes_per_sec} {eta}",
            None => "{spinner} {bytes} {binary_bytes_per_sec}",
        }),
    );
    // A bar between rows on a terminal would garble both.
    if io::stdout().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar
}

impl Read for ProgressReader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = match &mut self.stream {
            InputStream::File(file) => file.read(buf)?,
            InputStream::Standard(stdin) => stdin.read(buf)?,
        };
        self.read += read as u64;
        if progress::is_due(&self.progress) {
            self.progress.set_position(self.read);
        }
        if read == 0 {
            self.progress.finish_and_clear();
        }
        Ok(read)
    }
}

impl Drop for ProgressReader {
    fn drop(&mut self) {
        self.progress.finish_and_clear();
    }
}
