//! Captures that are read, from files or standard input.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;
use std::time::Duration;

use codec::capture::{DecompressedInput, decompress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::atomic_file::is_standard;

/// How long something may take before its progress is shown.
pub(crate) const PROGRESS_DELAY: Duration = Duration::from_millis(500);

/// A capture on its way in, compressed or not, with its progress on a terminal.
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
///
/// # Errors
/// It cannot be read, or is a directory.
pub(crate) fn open(path: &Path) -> io::Result<CliCapture> {
    let (stream, len) = if is_standard(path) {
        (InputStream::Standard(io::stdin()), None)
    } else {
        let file = File::open(path)?;
        let data = file.metadata()?;
        if data.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        (InputStream::File(file), data.is_file().then_some(data.len()))
    };
    decompress(ProgressReader { stream, progress: progress(len), read: 0 })
}

fn progress(len: Option<u64>) -> ProgressBar {
    // Rows on a terminal are progress enough, and a bar would tear them.
    let target = if io::stdout().is_terminal() {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr()
    };
    let template = match len {
        Some(_) => "{bar:40} {bytes}/{total_bytes} {binary_bytes_per_sec} {eta}",
        None => "{spinner} {bytes} {binary_bytes_per_sec}",
    };
    let bar = ProgressBar::with_draw_target(len, target);
    // The template is a constant of this file.
    bar.set_style(
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    bar
}

impl Read for ProgressReader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = match &mut self.stream {
            InputStream::File(file) => file.read(buf)?,
            InputStream::Standard(stdin) => stdin.read(buf)?,
        };
        self.read += read as u64;
        if self.progress.elapsed() > PROGRESS_DELAY {
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
