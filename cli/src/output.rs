//! Standard output: lines in colour or not, JSON, and a quiet end when nobody reads on.

use std::io::{self, BufWriter, StdoutLock, Write};

use analyzer::text::{Line, Role};
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crate::args::Colour;

/// What is printed. The first error ends it; what comes after is not printed.
pub(crate) struct Output {
    stream: BufWriter<StdoutLock<'static>>,
    style: fn(Role) -> Style,
    result: io::Result<()>,
}

impl Output {
    pub(crate) fn new(colour: Colour) -> Self {
        let coloured = match colour {
            Colour::Auto => AutoStream::choice(&io::stdout()) != ColorChoice::Never,
            Colour::Always => true,
            Colour::Never => false,
        };
        Self {
            stream: BufWriter::with_capacity(64 << 10, io::stdout().lock()),
            style: if coloured { style } else { |_| Style::new() },
            result: Ok(()),
        }
    }

    /// Whether there is still somebody to print for.
    pub(crate) const fn is_open(&self) -> bool {
        self.result.is_ok()
    }

    /// Prints a line.
    pub(crate) fn line(&mut self, line: &Line) {
        let style = self.style;
        // Blanks at the end are not printed, as in the line's own text.
        let mut left = line.to_string().len();
        self.write(|stream| {
            for (role, piece) in line.pieces() {
                let piece = piece.get(..left.min(piece.len())).unwrap_or(piece);
                left -= piece.len();
                let style = style(role);
                write!(stream, "{style}{piece}{style:#}")?;
            }
            writeln!(stream)
        });
    }

    /// Prints a value as JSON, and what follows it.
    pub(crate) fn json(&mut self, value: &impl Serialize, end: &str) {
        self.write(|stream| {
            serde_json::to_writer(&mut *stream, value)?;
            stream.write_all(end.as_bytes())
        });
    }

    /// Prints text as it is.
    pub(crate) fn text(&mut self, text: &str) {
        self.write(|stream| stream.write_all(text.as_bytes()));
    }

    fn write(&mut self, print: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        if self.result.is_ok() {
            self.result = print(&mut self.stream);
        }
    }

    /// Prints what is still buffered.
    ///
    /// # Errors
    /// Something could not be printed; that nobody reads on is none.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.write(|stream| stream.flush());
        match self.result {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => result,
        }
    }
}

const fn style(role: Role) -> Style {
    match role {
        Role::Plain => Style::new(),
        Role::Dim => Style::new().dimmed(),
        Role::Head => Style::new().bold(),
        Role::Good => AnsiColor::Green.on_default(),
        Role::Notice => AnsiColor::Yellow.on_default(),
        Role::Bad => AnsiColor::Red.on_default().bold(),
    }
}
