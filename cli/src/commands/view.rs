//! `myriscope view`: a viewer on the terminal.

use std::fs;
use std::io::{self, IsTerminal, Stdout};
use std::mem::ManuallyDrop;
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ratatui_core::terminal::Terminal;
use ratatui_crossterm::CrosstermBackend;
use ratatui_crossterm::crossterm::cursor::Show;
use ratatui_crossterm::crossterm::event::{DisableMouseCapture, EnableMouseCapture, poll, read};
use ratatui_crossterm::crossterm::execute;
use ratatui_crossterm::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use signal_hook::consts::{SIGHUP, SIGTERM};
use signal_hook::flag;
use tempfile::NamedTempFile;

use crate::args::BrowseArgs;
use crate::exit::{CliError, CommandResult, RunReport, is_standard_input};
use crate::input::InputFile;
use crate::interrupt;
use crate::output::{self, StandardOutput};
use crate::view::{CaptureViewer, ViewerOptions, WorkProgress, time_of};

/// Time of a part of the work between two keys. *Chosen*: nobody sees the delay.
const PART: Duration = Duration::from_millis(20);
/// Time for which a key is waited for when nothing is to be done.
const WAIT: Duration = Duration::from_millis(200);
/// Exit status after a second signal: 128 + SIGTERM.
const KILLED: i32 = 143;

pub(crate) fn run(arguments: &BrowseArgs, output: &StandardOutput) -> CommandResult {
    let input = arguments.files.input();
    let file = input.path;
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() && !is_standard_input(file) {
        let error = "view needs a terminal; `check`, `packets` and `show` print the same to files and pipes";
        return Err(CliError::Message(error.to_owned()));
    }
    let unpacked = unpacked(input)?;
    let path = unpacked.as_ref().map_or(file, |unpacked| unpacked.path());
    let options = ViewerOptions {
        unit: arguments.units.unwrap_or_default(),
        channels: arguments.channel.clone(),
        to: arguments.to,
        profile: input.profile.cloned(),
        look: output.look,
        name: file.display().to_string(),
    };
    let viewer = CaptureViewer::open(path, options);
    let mut viewer = viewer.map_err(|error| RunReport::of(file).failure(&error))?;
    let from = arguments.from.map(time_of);
    viewer
        .start(arguments.list, from, arguments.filter.as_deref())
        .map_err(|error| CliError::filter(&error))?;
    interrupt::handle();
    let shown = RawTerminal::open().and_then(|mut terminal| terminal.show(&mut viewer));
    shown.map_err(|error| CliError::Message(format!("terminal: {error}")))?;
    Ok(RunReport::of(file))
}

/// A copy of a capture that cannot be read at any place: of a compressed one, of several, or of standard input.
fn unpacked(capture: InputFile<'_>) -> Result<Option<NamedTempFile>, CliError> {
    let file = capture.path;
    let reading = |error: io::Error| CliError::reading(file, &error);
    let mut input = capture.open()?;
    // A pipe that is opened twice waits for another writer.
    let is_file = !is_standard_input(file) && fs::metadata(file).map_err(reading)?.is_file();
    if is_file && capture.others.is_empty() && input.is_plain() {
        return Ok(None);
    }
    let mut copy = NamedTempFile::new().map_err(reading)?;
    io::copy(&mut input, copy.as_file_mut()).map_err(reading)?;
    Ok(Some(copy))
}

/// A terminal on which the program has the whole screen, until this is dropped.
struct RawTerminal {
    /// Never dropped: it would panic over an error where a terminal that is gone cannot show it.
    terminal: ManuallyDrop<Terminal<CrosstermBackend<Stdout>>>,
    /// Set by a signal to end.
    is_killed: Arc<AtomicBool>,
}

impl RawTerminal {
    fn open() -> io::Result<Self> {
        // Messages of a panic appear on the usual screen.
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            restore();
            report(panic);
        }));
        let is_killed = Arc::new(AtomicBool::new(false));
        for signal in [SIGHUP, SIGTERM] {
            // The second ends the program wherever it is.
            flag::register_conditional_shutdown(signal, KILLED, Arc::clone(&is_killed))?;
            flag::register(signal, Arc::clone(&is_killed))?;
        }
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, EnableMouseCapture)
            .inspect_err(|_| restore())?;
        let terminal =
            Terminal::new(CrosstermBackend::new(io::stdout())).inspect_err(|_| restore())?;
        Ok(Self { terminal: ManuallyDrop::new(terminal), is_killed })
    }

    fn show(&mut self, viewer: &mut CaptureViewer) -> io::Result<()> {
        let size = self.terminal.size()?;
        viewer.resize((size.width.into(), size.height.into()));
        let mut is_old = true;
        loop {
            let progress = viewer.work(PART);
            let is_at_work = progress == WorkProgress::More;
            if is_old || is_at_work {
                self.terminal.draw(|frame| viewer.draw(frame.buffer_mut()))?;
            }
            is_old = is_at_work;
            let mut wait = if is_at_work { Duration::ZERO } else { WAIT };
            while is_pressed(wait)? {
                if viewer.event(&read()?).is_break() {
                    return Ok(());
                }
                (is_old, wait) = (true, Duration::ZERO);
            }
            if interrupt::is_pressed() || self.is_killed.load(Ordering::Relaxed) {
                return Err(io::Error::other("ended by a signal"));
            }
        }
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        restore();
    }
}

/// Waits for a key or another event. It is an error if the terminal is gone: the library would read its end for ever.
fn is_pressed(wait: Duration) -> io::Result<bool> {
    let (stdin, stdout) = (io::stdin(), io::stdout());
    let keys = PollFlags::IN;
    let terminal =
        if stdin.is_terminal() { PollFd::new(&stdin, keys) } else { PollFd::new(&stdout, keys) };
    let mut terminal = [terminal];
    let wait = Timespec::try_from(wait).map_err(io::Error::other)?;
    match rustix::event::poll(&mut terminal, Some(&wait)) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let [terminal] = terminal;
    if terminal.revents().intersects(PollFlags::HUP | PollFlags::ERR) || output::is_gone() {
        return Err(io::Error::other("it is gone"));
    }
    // A new size is no key.
    poll(Duration::ZERO)
}

/// Gives the terminal back as it was. An error has nowhere to be shown.
fn restore() {
    let _ = execute!(io::stdout(), Show, DisableMouseCapture, LeaveAlternateScreen);
    let _ = disable_raw_mode();
}
