//! `myriscope view` on a pseudo-terminal, which `script` of util-linux makes.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::support::fixture;

#[cfg(target_os = "linux")]
#[test]
fn keys_end_the_viewer_and_the_terminal_is_as_before() {
    let capture = fixture("demo-cut/capture.pcapng");
    let line = format!(
        "stty rows 24 cols 80; {} view {capture}; stty -a",
        env!("CARGO_BIN_EXE_myriscope")
    );
    let mut script = Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).env("TERM", "xterm").stdin(Stdio::piped());
    let mut script = script.stdout(Stdio::piped()).spawn().unwrap();
    // The keys wait in the terminal until the viewer reads them.
    script.stdin.take().unwrap().write_all(b"2\r3q").unwrap();
    let output = script.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    let (shown, after) = text.rsplit_once("\u{1b}[?1049l").unwrap();
    assert!(shown.contains("\u{1b}[?1049h") && shown.contains("findings"), "{text}");
    assert!(after.contains(" icanon") && after.contains(" echo "), "{after}");
}
