//! Standard output: lines with or without colour, JSON, and a silent end if the reader closes the pipe.

use std::borrow::Cow;
use std::env;
use std::io::{self, BufWriter, Write};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use analyzer::render::{StyledLine, TextStyle};
use analyzer::row::json_text;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use codec::words::escape_json;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;

use crate::progress;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColourChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    Always,
    Never,
}

/// Standard output, shared with the input, which flushes it before it waits.
static STREAM: LazyLock<Mutex<BufWriter<TerminalStream>>> =
    LazyLock::new(|| Mutex::new(BufWriter::with_capacity(64 << 10, TerminalStream)));

/// Standard output, with any progress bar removed while it is written.
struct TerminalStream;

impl Write for TerminalStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        progress::suspended(|| io::stdout().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}

fn stream() -> MutexGuard<'static, BufWriter<TerminalStream>> {
    STREAM.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints what is buffered. An error is that of the next write.
pub(crate) fn flush() {
    let _ = stream().flush();
}

/// True if nobody can read standard output any more: its terminal or the reader of its pipe is gone. A write would
/// fail, but one who waits does not write.
pub(crate) fn is_gone() -> bool {
    let stdout = io::stdout();
    let mut streams = [PollFd::new(&stdout, PollFlags::empty())];
    let polled = poll(&mut streams, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
    polled.is_ok()
        && streams.iter().any(|it| it.revents().intersects(PollFlags::HUP | PollFlags::ERR))
}

/// Colours and characters of a terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TerminalLook {
    pub(crate) style: fn(TextStyle) -> Style,
    /// True in a locale that has no other characters.
    pub(crate) is_ascii: bool,
}

impl TerminalLook {
    /// A line in the characters of the terminal.
    pub(crate) fn line(self, line: &StyledLine) -> Cow<'_, StyledLine> {
        if self.is_ascii { Cow::Owned(line.each_piece(ascii)) } else { Cow::Borrowed(line) }
    }
}

/// Standard output. After the first error nothing more is printed.
pub(crate) struct StandardOutput {
    #[cfg(feature = "view")]
    pub(crate) look: TerminalLook,
    width: Option<usize>,
    result: io::Result<()>,
}

impl StandardOutput {
    pub(crate) fn new(colour: ColourChoice, width: Option<usize>) -> Self {
        let is_coloured = match colour {
            ColourChoice::Auto => AutoStream::choice(&io::stdout()) != ColorChoice::Never,
            ColourChoice::Always => true,
            ColourChoice::Never => false,
        };
        let style = if is_coloured { style } else { |_| Style::new() };
        let look = TerminalLook { style, is_ascii: is_locale_ascii() };
        Self { look, width, result: Ok(()) }
    }

    /// False after an error, for example a closed pipe.
    pub(crate) const fn is_open(&self) -> bool {
        self.result.is_ok()
    }

    /// Columns of a line: those of --width, of COLUMNS, or of the terminal. None elsewhere, where lines
    /// have no limit.
    pub(crate) fn width(&self) -> Option<usize> {
        let columns = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let terminal = || terminal_size::terminal_size_of(io::stdout());
        self.width
            .or(columns)
            .or_else(|| terminal().map(|(terminal_size::Width(columns), _)| columns.into()))
    }

    pub(crate) fn line(&mut self, line: &StyledLine) {
        let (look, line) = (self.look, self.look.line(line));
        // Trailing blanks are not printed, as in the line's own text.
        let mut left = line.to_string().len();
        self.write(|stream| {
            for (role, piece) in line.pieces() {
                let piece = piece.get(..left.min(piece.len())).unwrap_or(piece);
                left -= piece.len();
                let style = (look.style)(role);
                if style == Style::new() {
                    stream.write_all(piece.as_bytes())?;
                } else {
                    write!(stream, "{style}{piece}{style:#}")?;
                }
            }
            writeln!(stream)
        });
    }

    /// Prints a line, shortened to the width.
    pub(crate) fn fitted(&mut self, line: StyledLine) {
        let width = self.width();
        self.line(&line.narrowed(width));
    }

    /// Prints a value as JSON, followed by `end`.
    pub(crate) fn json(&mut self, value: &impl Serialize, end: &str) {
        self.text(&json_text(value));
        self.text(end);
    }

    /// Prints text, or a part of JSON: characters of names that would harm a terminal are escaped as there.
    pub(crate) fn text(&mut self, text: &str) {
        let text = escape_json(text);
        self.write(|stream| stream.write_all(text.as_bytes()));
    }

    fn write(&mut self, print: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        if self.result.is_ok() {
            self.result = print(&mut *stream());
        }
    }

    /// Prints the rest of the buffer. A closed pipe is no error.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.write(|stream| stream.flush());
        match self.result {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => result,
        }
    }
}

/// True if the locale, where one is set, has no UTF-8.
fn is_locale_ascii() -> bool {
    let set = |name| env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    locale.is_some_and(|locale| !locale.to_lowercase().replace('-', "").contains("utf8"))
}

/// Text with characters of ASCII for those with which this program draws and writes; names stay as they are.
fn ascii(text: &str) -> String {
    let (mut plain, mut is_raised) = (String::with_capacity(text.len()), false);
    for char in text.chars() {
        let raised = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹".chars().zip("-0123456789".chars());
        let raised = raised.filter(|(high, _)| *high == char).map(|(_, low)| low).next();
        if raised.is_some() && !is_raised {
            plain.push('^');
        }
        is_raised = raised.is_some();
        plain.push(raised.unwrap_or(match char {
            '─' | '━' | '–' | '−' | '╌' | '┈' => '-',
            '│' | '┃' | '╎' | '┊' | '┆' | '▏' => '|',
            '\u{250c}'..='\u{254b}' | '╭' | '╮' | '╯' | '╰' => '+',
            '►' | '▶' | '→' | '›' | '≥' => '>',
            '◄' | '◀' | '←' | '≤' => '<',
            '▅'..='█' | '▓' | '●' => '#',
            '▁'..='▄' | '◐' | '⇄' => '=',
            '▒' => '%',
            '░' => ':',
            '▔' => '~',
            '§' => 'S',
            '⊕' | '↑' => '^',
            '·' | '…' | '⋯' | '•' | '○' => '.',
            '✓' | '↓' => 'v',
            '✗' | '×' => 'x',
            'µ' => 'u',
            '±' => '~',
            other => other,
        }));
    }
    plain
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
