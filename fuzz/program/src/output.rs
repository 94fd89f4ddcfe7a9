//! Output of a command, its errors, and files that are written completely or not at all.

use std::fmt::{Display, Write as _};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use analyzer::render::{StyledLine, TextStyle};
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

use crate::ColourWhen;

/// Text of a command for standard output, and its exit status: 0, or 1 if a law is broken.
#[derive(Debug, Default)]
pub(crate) struct LawsOutput {
    text: String,
    pub(crate) status: u8,
}

/// Text of an error, which ends the program with status 2.
#[derive(Debug)]
pub(crate) enum LawsError {
    Message(String),
    /// Lines that need no prefix.
    Rendered(String),
}

impl LawsOutput {
    pub(crate) fn line(&mut self, line: &StyledLine) {
        // Trailing blanks are not printed, as in the line's own text.
        let mut left = line.to_string().len();
        for (role, piece) in line.pieces() {
            let piece = piece.get(..left.min(piece.len())).unwrap_or(piece);
            left -= piece.len();
            let style = style(role);
            // Writing to a string does not fail.
            let _ = write!(self.text, "{style}{piece}{style:#}");
        }
        self.text.push('\n');
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.text += text;
        self.text.push('\n');
    }

    pub(crate) fn print(self, colour: ColourWhen) -> Result<ExitCode, LawsError> {
        let choice = match colour {
            ColourWhen::Auto => AutoStream::choice(&io::stdout()),
            ColourWhen::Always => ColorChoice::Always,
            ColourWhen::Never => ColorChoice::Never,
        };
        match AutoStream::new(io::stdout().lock(), choice).write_all(self.text.as_bytes()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(LawsError::Message(format!("cannot print: {error}")))
            }
            Ok(()) | Err(_) => Ok(ExitCode::from(self.status)),
        }
    }
}

impl LawsError {
    pub(crate) fn file(path: &Path, error: &impl Display) -> Self {
        let input = path.as_os_str() == "-";
        let name = if input { "standard input".into() } else { path.display().to_string() };
        Self::Message(format!("{name}: {error}"))
    }

    pub(crate) fn print(self) -> ExitCode {
        const STYLE: Style = AnsiColor::Red.on_default().bold();
        // An error that cannot be printed is lost.
        let _ = match self {
            Self::Message(text) => {
                writeln!(anstream::stderr(), "{STYLE}myriscope:{STYLE:#} {text}")
            }
            Self::Rendered(lines) => writeln!(anstream::stderr(), "{lines}"),
        };
        ExitCode::from(2)
    }
}

const fn style(role: TextStyle) -> Style {
    match role {
        TextStyle::Plain => Style::new(),
        TextStyle::Dim => Style::new().dimmed(),
        TextStyle::Head => Style::new().bold(),
        TextStyle::Good => AnsiColor::Green.on_default(),
        TextStyle::Notice => AnsiColor::Yellow.on_default(),
        TextStyle::Bad => AnsiColor::Red.on_default().bold(),
    }
}

/// Reads a file of at most `most` bytes; `-` is standard input.
pub(crate) fn read(path: &Path, most: u64) -> Result<Vec<u8>, LawsError> {
    let mut bytes = Vec::new();
    let read = if path.as_os_str() == "-" {
        io::stdin().lock().take(most + 1).read_to_end(&mut bytes)
    } else {
        fs::File::open(path).and_then(|file| file.take(most + 1).read_to_end(&mut bytes))
    };
    read.map_err(|error| LawsError::file(path, &error))?;
    if bytes.len() as u64 > most {
        return Err(LawsError::file(path, &format!("more than {most} bytes")));
    }
    Ok(bytes)
}

/// Writes files, all of them or none: each beside its place first.
pub(crate) fn write(files: &[(PathBuf, Vec<u8>)]) -> Result<(), LawsError> {
    let part = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        path.with_file_name(format!(".{name}.part"))
    };
    let written = files.iter().try_for_each(|(path, bytes)| {
        fs::write(part(path), bytes).map_err(|error| LawsError::file(path, &error))
    });
    let renamed = written.and_then(|()| {
        files.iter().try_for_each(|(path, _)| {
            fs::rename(part(path), path).map_err(|error| LawsError::file(path, &error))
        })
    });
    if renamed.is_err() {
        // Parts that are already in their places are gone.
        files.iter().for_each(|(path, _)| drop(fs::remove_file(part(path))));
    }
    renamed
}
