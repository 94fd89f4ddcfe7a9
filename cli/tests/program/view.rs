//! `myriscope view` on a pseudo-terminal, which `script` of util-linux makes.

use std::io::{Read as _, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{ScratchDirectory, fixture, good};

/// A time after which a program that goes on has no end.
const LONG: Duration = Duration::from_secs(60);

/// Commands on a pseudo-terminal.
fn script(line: &str) -> Child {
    let mut script = Command::new("script");
    script.args(["-qec", line, "/dev/null"]).env("TERM", "xterm").stdin(Stdio::piped());
    script.stdout(Stdio::piped()).spawn().unwrap()
}

/// Starts a command on a pseudo-terminal of so many lines, and waits until it draws, which begins with `first`. It writes
/// its number to `pid` and, at its end, its status to `ended`; no hangup of the terminal is passed on to it.
fn on_terminal(directory: &ScratchDirectory, rows: usize, command: &str, first: &str) -> Child {
    let [pid, ended] = ["pid", "ended"].map(|name| directory.file(name));
    let program = env!("CARGO_BIN_EXE_myriscope");
    let capture = fixture("demo-lossy/capture.pcapng");
    let line = format!(
        "stty rows {rows} cols 200; trap '' HUP; setsid --wait sh -c 'echo $$ > {pid}; exec {program} {command} {capture}'; \
         echo $? > {ended}"
    );
    let mut script = script(&line);
    let mut drawn = vec![0; first.len()];
    script.stdout.as_mut().unwrap().read_exact(&mut drawn).unwrap();
    assert_eq!(drawn, first.as_bytes());
    std::thread::sleep(Duration::from_millis(500));
    script
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_that_is_gone_and_sigterm_end_what_draws_on_it() {
    std::thread::scope(|scope| {
        for (rows, command, kinds, status) in [
            (24, "view", &["KILL"][..], 2),
            (24, "view", &["TERM"], 2),
            // Nobody reads so much of what it draws: it waits for the terminal, until the second signal.
            (1000, "view --list characters", &["TERM", "TERM"], 143),
            (24, "watch", &["KILL"], 2),
            (24, "watch", &["TERM"], 143),
        ] {
            scope.spawn(move || ends(rows, command, kinds, status));
        }
    });
}

/// The terminal of a command is killed, or the command gets SIGTERM, once or twice.
#[cfg(target_os = "linux")]
fn ends(rows: usize, command: &str, kinds: &[&str], status: u8) {
    let directory = ScratchDirectory::new(&format!(
        "terminal-{}-{}",
        command.replace(' ', "-"),
        kinds.concat()
    ));
    let first = if command == "watch" { "\u{1b}[2J" } else { "\u{1b}[?1049h" };
    let mut script = on_terminal(&directory, rows, command, first);
    for kind in kinds {
        let pid = directory.text("pid");
        let signal = if *kind == "KILL" { script.id().to_string() } else { pid.trim().to_owned() };
        let signalled = Command::new("kill").args([&format!("-{kind}"), &signal]).status();
        assert!(signalled.unwrap().success());
        std::thread::sleep(Duration::from_millis(100));
    }
    let started = Instant::now();
    while !directory.names().contains(&"ended".to_owned()) || directory.read("ended").is_empty() {
        assert!(started.elapsed() < LONG, "{command} goes on after {kinds:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(directory.text("ended"), format!("{status}\n"), "{command} {kinds:?}");
    let _ = script.kill();
    script.wait().unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn keys_end_the_viewer_and_the_terminal_is_as_before() {
    let directory = ScratchDirectory::new("viewer");
    let capture = fixture("demo-cut/capture.pcapng");
    let [a, b] = ["a", "b"].map(|name| directory.file(name));
    good(&["slice", &capture, "--to", "20us", "-o", &a]);
    good(&["slice", &capture, "--from", "20us", "-o", &b]);
    for files in [&capture, &format!("{a} {b} --join")] {
        shows_and_ends(files);
    }
}

#[cfg(target_os = "linux")]
fn shows_and_ends(files: &str) {
    // The keys wait in the terminal until the viewer reads them.
    let text = shown("", files, Duration::ZERO, "2\r3q");
    let (shown, after) = text.rsplit_once("\u{1b}[?1049l").unwrap();
    assert!(shown.contains("\u{1b}[?1049h") && shown.contains("findings"), "{text}");
    assert!(after.contains(" icanon") && after.contains(" echo "), "{after}");
}

/// Output of the viewer on a terminal, with variables, if keys come after some time; the terminal's state follows it.
#[cfg(target_os = "linux")]
fn shown(variables: &str, files: &str, wait: Duration, keys: &str) -> String {
    let program = env!("CARGO_BIN_EXE_myriscope");
    let line = format!("stty rows 24 cols 80; env {variables} {program} view {files}; stty -a");
    let mut script = script(&line);
    std::thread::sleep(wait);
    script.stdin.take().unwrap().write_all(keys.as_bytes()).unwrap();
    let output = script.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
    text
}

#[cfg(target_os = "linux")]
#[test]
fn the_locale_and_no_color_decide_glyphs_and_colours() {
    let capture = fixture("demo-ring/capture.pcapng");
    let lists = ["findings", "links", "wires", "network"];
    let judge = |variables: &str, list: &str, is_ascii: bool, is_coloured: bool| {
        let files = format!("{capture} --list {list} --from 1us");
        let text = shown(variables, &files, Duration::from_millis(700), "q");
        assert_eq!(text.is_ascii(), is_ascii, "{variables} {list}: {text}");
        // Colours of the foreground; of wires only the progress of reading has one.
        let has_colour = text.contains("\u{1b}[38;5;");
        let is_either = is_coloured && list == "wires";
        assert!(is_either || has_colour == is_coloured, "{variables} {list}: {text}");
    };
    // Side by side, as most of the time is waiting.
    std::thread::scope(|scope| {
        for (variables, is_ascii, is_coloured) in [
            ("-u NO_COLOR LC_ALL=C.UTF-8", false, true),
            ("NO_COLOR=1 LC_ALL= LC_CTYPE= LANG=en_US.UTF-8", false, false),
            ("NO_COLOR=1 LC_ALL=POSIX LC_CTYPE=C.UTF-8", true, false),
            ("NO_COLOR=1 LC_ALL= LC_CTYPE=de_DE.ISO-8859-1 LANG=C.UTF-8", true, false),
            ("-u NO_COLOR LC_ALL= LC_CTYPE= LANG=C", true, true),
        ] {
            // Every list with both kinds of glyphs, and one with each spelling of the locale.
            let is_first = variables.starts_with("-u");
            for list in &lists[..if is_first { lists.len() } else { 1 }] {
                scope.spawn(move || judge(variables, list, is_ascii, is_coloured));
            }
        }
    });
}
