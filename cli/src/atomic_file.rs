//! Output files, written whole or not at all.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use codec::words::escape_text;

use crate::exit::{CliError, RunReport, is_standard};

/// An output file. A regular or new file is written to a temporary file beside it, which replaces it
/// when complete and is removed otherwise. A pipe or a device is written directly.
#[derive(Debug)]
pub(crate) struct AtomicFile {
    path: PathBuf,
    stream: FileDestination,
}

#[derive(Debug)]
enum FileDestination {
    Standard(io::Stdout),
    Special(File),
    Regular { file: File, part: PartFile, place: PathBuf },
}

/// A temporary file, removed when dropped.
#[derive(Debug)]
struct PartFile(PathBuf);

impl AtomicFile {
    /// Creates a file; `-` is standard output.
    pub(crate) fn create(path: &Path) -> Result<Self, CliError> {
        let stream =
            FileDestination::open(path).map_err(|error| CliError::writing(path, &error))?;
        Ok(Self { path: path.to_owned(), stream })
    }

    /// Replaces the first bytes of a regular file; a pipe or a device has sent them.
    pub(crate) fn replace_head(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.stream {
            FileDestination::Standard(_) | FileDestination::Special(_) => Ok(()),
            FileDestination::Regular { file, .. } => {
                file.rewind()?;
                file.write_all(bytes)?;
                file.seek(SeekFrom::End(0)).map(drop)
            }
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        match &mut self.stream {
            FileDestination::Standard(stdout) => stdout.flush(),
            FileDestination::Special(file) => file.flush(),
            FileDestination::Regular { file, .. } => file.sync_all(),
        }
    }

    /// Moves the complete file to its place.
    fn commit(self) -> io::Result<()> {
        match self.stream {
            FileDestination::Standard(_) | FileDestination::Special(_) => Ok(()),
            FileDestination::Regular { part, place, .. } => fs::rename(&part.0, place),
        }
    }
}

/// Completes files; none is put in its place unless all reached the disk.
pub(crate) fn commit_all(mut files: Vec<AtomicFile>) -> Result<(), CliError> {
    for file in &mut files {
        file.sync().map_err(|error| CliError::writing(&file.path, &error))?;
    }
    files.into_iter().try_for_each(|file| {
        let path = file.path.clone();
        file.commit().map_err(|error| CliError::writing(&path, &error))
    })
}

/// Completes files of what was read. Where the input was damaged, no old file is replaced by a part: false, and the
/// report says so.
pub(crate) fn commit_read(
    files: Vec<AtomicFile>,
    report: &mut RunReport,
) -> Result<bool, CliError> {
    let is_replacement = |file: &&AtomicFile| match &file.stream {
        FileDestination::Regular { place, .. } => place.exists(),
        FileDestination::Standard(_) | FileDestination::Special(_) => false,
    };
    if !report.is_clean()
        && let Some(file) = files.iter().find(is_replacement)
    {
        let path = escape_text(file.path.display().to_string());
        report.error(&format!("{path} is kept as it is: what could be read is only a part"));
        return Ok(false);
    }
    commit_all(files).map(|()| true)
}

/// Writes files with these contents: all of them, or none. A closed pipe behind standard output is no error.
pub(crate) fn write_files<'a>(
    files: impl IntoIterator<Item = (&'a Path, &'a [u8])>,
) -> Result<(), CliError> {
    let write = |(path, bytes): (&Path, &[u8])| {
        let mut file = AtomicFile::create(path)?;
        match file.write_all(bytes).and_then(|()| file.flush()) {
            Err(error) if is_standard(path) && error.kind() == io::ErrorKind::BrokenPipe => {}
            written => written.map_err(|error| CliError::writing(path, &error))?,
        }
        Ok(file)
    };
    commit_all(files.into_iter().map(write).collect::<Result<_, _>>()?)
}

impl FileDestination {
    fn open(path: &Path) -> io::Result<Self> {
        if is_standard(path) {
            return Ok(Self::Standard(io::stdout()));
        }
        if !path.exists() {
            return Self::beside(path.to_owned());
        }
        // Fails now, not at the end, if the file is not writable.
        let old = OpenOptions::new().write(true).open(path)?;
        let data = old.metadata()?;
        if !data.is_file() {
            return Ok(Self::Special(old));
        }
        let stream = Self::beside(fs::canonicalize(path)?)?;
        stream.set_permissions(data.permissions())?;
        Ok(stream)
    }

    fn beside(place: PathBuf) -> io::Result<Self> {
        let Some(name) = place.file_name() else {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        };
        let name =
            [".".as_ref(), name, ".part".as_ref()].into_iter().collect::<std::ffi::OsString>();
        let part = place.with_file_name(name);
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(&part)?;
        lock(&file)?;
        let part = PartFile(part);
        file.set_len(0)?;
        Ok(Self::Regular { file, part, place })
    }

    fn set_permissions(&self, permissions: fs::Permissions) -> io::Result<()> {
        match self {
            Self::Standard(_) | Self::Special(_) => Ok(()),
            Self::Regular { file, .. } => file.set_permissions(permissions),
        }
    }
}

/// Locks a file against other processes, where its file system has locks.
pub(crate) fn lock(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            Err(io::Error::other("another process is writing this file"))
        }
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        // After a commit there is nothing to remove.
        let _ = fs::remove_file(&self.0);
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.stream {
            FileDestination::Standard(stdout) => stdout.write(bytes),
            FileDestination::Special(file) | FileDestination::Regular { file, .. } => {
                file.write(bytes)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.stream {
            FileDestination::Standard(stdout) => stdout.flush(),
            FileDestination::Special(file) | FileDestination::Regular { file, .. } => file.flush(),
        }
    }
}
