//! Several files that are read as one capture: a thread merges them into a pipe.

use std::io::{self, PipeReader, Read};
use std::iter;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

use codec::capture::{CaptureFault, MergeError, merge};
use codec::time::Tick;

use super::{CliCapture, InputFile};

#[derive(Debug)]
pub(super) struct JoinedFiles {
    pipe: PipeReader,
    /// The thread, until its result has been read.
    merging: Option<JoinHandle<Result<(), String>>>,
}

impl JoinedFiles {
    pub(super) fn open(file: &Path, others: &[PathBuf]) -> io::Result<Self> {
        let files = || iter::once(file).chain(others.iter().map(PathBuf::as_path));
        let named = |file: &Path, error: &dyn std::fmt::Display| {
            io::Error::other(format!("{}: {error}", file.display()))
        };
        let open = |file: &Path| {
            InputFile::whole(file).open_capture().map_err(|error| named(file, &error))
        };
        let inputs = files().map(|file| Ok((open(file)?, 0)));
        let inputs = inputs.collect::<io::Result<Vec<(CliCapture, _)>>>()?;
        let names: Vec<String> = files().map(|file| file.display().to_string()).collect();
        let (pipe, output) = io::pipe()?;
        let merging = thread::spawn(move || {
            let mut first: Option<(usize, CaptureFault)> = None;
            let merged =
                merge(inputs, output, &mut |_, _| (Tick(0), Tick(u64::MAX)), &mut |at, it| {
                    first.get_or_insert((at, it));
                });
            let name = |at: usize| names.get(at).map_or("", String::as_str);
            match (merged, first) {
                (Ok(_), None) => Ok(()),
                // The reader has ended before the files.
                (Err(MergeError::Write(_)), _) => Ok(()),
                (
                    Err(error @ (MergeError::Read(at, _) | MergeError::Differs { input: at, .. })),
                    _,
                ) => Err(format!("{}: {error}", name(at))),
                (Ok(_), Some((at, fault))) => Err(format!("{}: {fault}", name(at))),
            }
        });
        Ok(Self { pipe, merging: Some(merging) })
    }
}

impl Read for JoinedFiles {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.pipe.read(buf)?;
        if read > 0 || buf.is_empty() {
            return Ok(read);
        }
        match self.merging.take().map(JoinHandle::join) {
            None | Some(Ok(Ok(()))) => Ok(0),
            Some(Ok(Err(error))) => Err(io::Error::other(error)),
            Some(Err(_)) => Err(io::Error::other("the files could not be merged")),
        }
    }
}
