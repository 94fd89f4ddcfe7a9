//! Archives of sessions, whole or cut, and those of other programs.

use std::io::{Read, Seek};

use zip::ZipArchive;
use zip::read::read_zipfile_from_stream;

use super::RecordingError;

/// Longest description.
const METADATA_MAX: u64 = 1_048_576;

/// Archives of other programs by the beginning of a file's name in them, and the export to use.
const OTHER_ARCHIVES: [(&str, &str); 4] = [
    ("L-0/", "a session of DSView (.dsl): export it there as CSV, or as a sigrok session (.sr)"),
    ("meta.json", "a capture of Saleae Logic 2 (.sal): export its raw data there as CSV"),
    ("digital-0.bin", "a capture of Saleae Logic 2 (.sal): export its raw data there as CSV"),
    ("[Content_Types].xml", "an office document: save the table as CSV"),
];

/// An archive. One that is cut has lost the directory at its end, and is read from its beginning.
#[derive(Debug)]
pub(super) enum SessionArchive<R> {
    Whole(ZipArchive<R>),
    Cut(R, String),
}

impl<R: Read + Seek> SessionArchive<R> {
    pub(super) fn open(mut reader: R) -> Result<Self, RecordingError> {
        match ZipArchive::new(&mut reader) {
            Ok(_) => {
                let whole = reader.rewind().map_err(zip::result::ZipError::from);
                let whole = whole.and_then(|()| ZipArchive::new(reader));
                whole.map(Self::Whole).map_err(|error| no_session(&error))
            }
            Err(error) => Ok(Self::Cut(reader, error.to_string())),
        }
    }

    /// Text of the description.
    pub(super) fn metadata(&mut self) -> Result<String, RecordingError> {
        let mut text = String::new();
        let read = match self {
            Self::Whole(archive) => {
                let other = other_archive(archive);
                let file = archive.by_name("metadata").map_err(|error| {
                    RecordingError::at_byte(
                        0,
                        other.unwrap_or_else(|| format!("no sigrok session: {error}")),
                    )
                })?;
                file.take(METADATA_MAX).read_to_string(&mut text)
            }
            Self::Cut(reader, cause) => {
                reader.rewind().map_err(|error| no_session(&error))?;
                loop {
                    match read_zipfile_from_stream(reader) {
                        Ok(Some(file)) if file.name() == "metadata" => {
                            break file.take(METADATA_MAX).read_to_string(&mut text);
                        }
                        Ok(Some(_)) => {}
                        Ok(None) | Err(_) => return Err(no_session(cause)),
                    }
                }
            }
        };
        read.map_err(|error| RecordingError::at_byte(0, format!("metadata: {error}")))?;
        Ok(text)
    }
}

fn no_session(cause: &impl std::fmt::Display) -> RecordingError {
    RecordingError::at_byte(0, format!("no sigrok session: {cause}"))
}

/// Name of an archive that is no session, and the export to use.
fn other_archive<R: Read + Seek>(archive: &ZipArchive<R>) -> Option<String> {
    let known = |(part, text): &(&str, &'static str)| {
        archive.file_names().any(|name| name.starts_with(part)).then_some(*text)
    };
    if let Some(text) = OTHER_ARCHIVES.iter().find_map(known) {
        return Some(text.to_owned());
    }
    let is_recording = |name: &&str| {
        let ending = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
        ["vcd", "csv", "fst", "sr", "txt", "gz"].contains(&ending.as_str())
    };
    let name = archive.file_names().filter(is_recording).min()?;
    Some(format!("a zip archive with {name} in it: unpack that and import it"))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    #[test]
    fn an_archive_that_is_no_session_is_named() {
        for (file, named) in [
            ("L-0/0", "a session of DSView (.dsl)"),
            ("digital-0.bin", "a capture of Saleae Logic 2 (.sal)"),
            ("runs/ONE.CSV", "a zip archive with runs/ONE.CSV in it: unpack that"),
            ("notes.md", "no sigrok session: "),
        ] {
            let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
            archive.start_file(file, SimpleFileOptions::default()).unwrap();
            let archive = SessionArchive::open(archive.finish().unwrap()).unwrap().metadata();
            let error = archive.unwrap_err().to_string();
            assert!(error.contains(named), "{file}: {error}");
        }
    }
}
