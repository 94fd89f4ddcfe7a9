//! Files that are read, or standard input.

mod joined;
mod live;

use std::fs::File;
use std::io::{self, IsTerminal, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use analyzer::link_shard::LinkShard;
use codec::capture::{CaptureReader, DecompressedInput, decompress};
use codec::packet::PacketDialect;
use codec::virtual_channels::LinkProfile;
use indicatif::ProgressBar;

use self::joined::JoinedFiles;
use self::live::LiveStream;
use crate::exit::{CliError, is_standard_input};
use crate::output;
use crate::{interrupt, progress};

pub(crate) use self::live::is_waiting;

/// A capture, compressed or not, with its progress on a terminal.
pub(crate) type CliCapture = DecompressedInput<ProgressReader>;

/// A capture as named on the command line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InputFile<'a> {
    /// The file; `-` is standard input.
    pub(crate) path: &'a Path,
    /// Files that are read with it as one capture.
    pub(crate) others: &'a [PathBuf],
    pub(crate) end: InputEnd,
    /// The links that are analysed.
    pub(crate) shard: LinkShard,
    /// Meaning of the bytes behind the route.
    pub(crate) dialect: PacketDialect,
    /// Codes of virtual channels on links without a profile of their own. C-7
    pub(crate) profile: Option<&'a LinkProfile>,
}

/// End of the reading of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputEnd {
    EndOfFile,
    /// Ctrl-C: the file grows.
    Interrupt,
}

#[derive(Debug)]
pub(crate) struct ProgressReader {
    stream: InputStream,
    progress: ProgressBar,
    read: u64,
}

#[derive(Debug)]
enum InputStream {
    File(File),
    /// A pipe, a device or a growing file.
    Live(LiveStream),
    /// Several files as one capture.
    Joined(JoinedFiles),
}

impl<'a> InputFile<'a> {
    /// A file that is read to its end.
    pub(crate) const fn whole(path: &'a Path) -> Self {
        let (end, shard, dialect) = (InputEnd::EndOfFile, LinkShard::ALL, PacketDialect::Tag);
        Self { path, others: &[], end, shard, dialect, profile: None }
    }

    /// Opens the capture. Ctrl-C then ends its reading.
    pub(crate) fn open(self) -> Result<CliCapture, CliError> {
        self.open_capture().map_err(|error| CliError::reading(self.path, &error))
    }

    /// Opens the capture as a channel for each virtual channel.
    pub(crate) fn channels(self) -> Result<CaptureReader<CliCapture>, CliError> {
        Ok(self.channels_of(self.open()?))
    }

    pub(crate) fn channels_of(self, capture: CliCapture) -> CaptureReader<CliCapture> {
        CaptureReader::new(capture).with_virtual_channels(self.profile.cloned())
    }

    /// Opens the capture, for callers that report the error themselves.
    pub(crate) fn open_capture(self) -> io::Result<CliCapture> {
        self.reader().and_then(decompress)
    }

    /// Opens the file as it is, compressed or not.
    pub(crate) fn reader(self) -> io::Result<ProgressReader> {
        let Self { path, others, end, .. } = self;
        interrupt::handle();
        let (stream, length) = if !others.is_empty() {
            (InputStream::Joined(JoinedFiles::open(path, others)?), None)
        } else if is_standard_input(path) {
            // The end of a pipe is final.
            (InputStream::Live(LiveStream::new(io::stdin(), end, InputEnd::EndOfFile)), None)
        } else {
            let file = open_file(path)?;
            let data = file.metadata()?;
            match (data.is_file(), end) {
                (true, InputEnd::EndOfFile) => (InputStream::File(file), Some(data.len())),
                (true, InputEnd::Interrupt) | (false, _) => {
                    (InputStream::Live(LiveStream::new(file, end, end)), None)
                }
            }
        };
        Ok(ProgressReader { stream, progress: bar(length), read: 0 })
    }
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
    if is_standard_input(path) {
        return read_to_limit(io::stdin().lock(), path, max, kind);
    }
    let file = open_file(path).map_err(|error| CliError::reading(path, &error))?;
    read_to_limit(file, path, max, kind)
}

/// Reads the rest of an opened file.
pub(crate) fn read_to_limit(
    stream: impl Read,
    path: &Path,
    max: usize,
    kind: &str,
) -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    let read = stream.take(max as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| CliError::reading(path, &error))?;
    if bytes.len() > max {
        return Err(CliError::reading(path, &format!("{kind} exceeds {max} bytes")));
    }
    Ok(bytes)
}

fn bar(length: Option<u64>) -> ProgressBar {
    let style = progress::style(match length {
        Some(_) => "{bar:30} {percent:>3} %  {binary_bytes_per_sec}  ETA {eta}",
        None => "{spinner} {binary_bytes}  {binary_bytes_per_sec}",
    });
    progress::bar(length, style)
}

impl Read for ProgressReader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        // Rows appear on a terminal as they are found.
        if io::stdout().is_terminal() {
            output::flush();
        }
        let read = match &mut self.stream {
            InputStream::File(_) if interrupt::is_pressed() => Err(interrupt::error()),
            InputStream::File(file) => file.read(buf),
            InputStream::Live(live) => live.read(buf),
            InputStream::Joined(joined) => joined.read(buf),
        }?;
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

impl Seek for ProgressReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.read = match &mut self.stream {
            InputStream::File(file) => file.seek(to)?,
            InputStream::Live(_) | InputStream::Joined(_) => {
                return Err(io::Error::from(io::ErrorKind::NotSeekable));
            }
        };
        Ok(self.read)
    }
}

impl Drop for ProgressReader {
    fn drop(&mut self) {
        self.progress.finish_and_clear();
    }
}
