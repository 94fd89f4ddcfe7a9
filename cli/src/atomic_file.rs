//! Files that are written: whole, or not at all.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file on its way out. What is a regular file, or is not there yet, is written beside its place
/// and put there when it is whole; otherwise nothing is left of it. Anything else, a pipe or a
/// device, is written as it is.
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

/// The name of a file that is not whole; removed when it is dropped.
#[derive(Debug)]
struct PartFile(PathBuf);

impl AtomicFile {
    /// Starts a file; `-` is standard output.
    ///
    /// # Errors
    /// It could not be written.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let stream = if is_standard(path) {
            FileDestination::Standard(io::stdout())
        } else if path.exists() {
            // Whether it may be written shows here, not when all is done.
            let old = OpenOptions::new().write(true).open(path)?;
            let data = old.metadata()?;
            if data.is_file() {
                let stream = FileDestination::beside(fs::canonicalize(path)?)?;
                stream.permit(data.permissions())?;
                stream
            } else {
                FileDestination::Special(old)
            }
        } else {
            FileDestination::beside(path.to_owned())?
        };
        Ok(Self { path: path.to_owned(), stream })
    }

    /// As it was given.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Has all that was written reach the disk.
    ///
    /// # Errors
    /// It did not.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        match &mut self.stream {
            FileDestination::Standard(stdout) => stdout.flush(),
            FileDestination::Special(file) => file.flush(),
            FileDestination::Regular { file, .. } => file.sync_all(),
        }
    }

    /// The file is whole: puts it in its place.
    ///
    /// # Errors
    /// It could not be put there, and is gone.
    pub(crate) fn commit(self) -> io::Result<()> {
        match self.stream {
            FileDestination::Standard(_) | FileDestination::Special(_) => Ok(()),
            FileDestination::Regular { part, place, .. } => fs::rename(&part.0, place),
        }
    }
}

impl FileDestination {
    fn beside(place: PathBuf) -> io::Result<Self> {
        let Some(name) = place.file_name() else {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        };
        let name =
            [".".as_ref(), name, ".part".as_ref()].into_iter().collect::<std::ffi::OsString>();
        let part = place.with_file_name(name);
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(&part)?;
        match file.try_lock() {
            // Some file systems know no locks.
            Ok(()) | Err(TryLockError::Error(_)) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::other("another run is writing it"));
            }
        }
        let part = PartFile(part);
        file.set_len(0)?;
        Ok(Self::Regular { file, part, place })
    }

    /// Gives a file the permissions of the one whose place it takes.
    fn permit(&self, permissions: fs::Permissions) -> io::Result<()> {
        match self {
            Self::Standard(_) | Self::Special(_) => Ok(()),
            Self::Regular { file, .. } => file.set_permissions(permissions),
        }
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        // In its place already, or of no use to anybody.
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

/// Whether standard input or output is meant.
pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}
