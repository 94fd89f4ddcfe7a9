//! `show`, `log` and `flows`: places, units, notes and windows. Rows and packets are those of `docs/output.md`.

use crate::examples::{shell, workplace};
use crate::support::{RunOutcome, ScratchDirectory, capture, capture_bytes, piped, run};

/// The row 9..=20 of `fixtures/link-1`, and the rows before and behind it.
const AROUND: &str = "   character h1:0>s1:1                        │ s1:1>h1:0
           1 ba 05 d6 GAP GO GAP GO GAP       │ (GAP GO)×4
             └ h1:0>s1:1 packet 0 route ba, 3 bytes, crc good
           9 (GO GAP)×6                       │ (GAP GO)×5 GAP REPL11
             └ s1:1>h1:0 reply status 11
             └ s1:1>h1:0 · unsolicited-reply a reply without a captured probe
          21 (GO GAP)×4 GO                    │ 80 87 87 82 ba 05 e2 96 GAP
             └ s1:1>h1:0 packet 0 route 80 87 87 82 ba, 8 bytes, crc good
";
/// Row 9 with times in nanoseconds: 9 × 12.5 ns.
const NANOSECONDS: &str = "     time ns h1:0>s1:1                        │ s1:1>h1:0
       112.5 (GO GAP)×6                       │ (GAP GO)×5 GAP REPL11
";
const SECOND: &str = "capture 1
     time µs s1:1>h1:0                        │ h1:0>s1:1
      0.0000 GO                               │ IDLE
";
/// A packet that the cable cuts (its GAP is missing), and one that s0 drops because the cable to h1 is open.
const LOG: &str = "     time µs  channel      kind        what
     20.0375  h0:0>s0:0    packet      1  route 81, 403 bytes, crc good
     20.1875  s0:1>h1:0    packet      1  332 bytes, crc bad ^1a, ended by open-link
     20.1875  s0:1>h1:0    event       open-link
     19.9875  s0:1>h1:0    finding     ✗ truncated-by-open-link packet 1, 332 bytes
     20.1875  s0:1>h1:0    finding     ✗ open-link no character for 16 periods: no cable, no power, or a failed sender
";
const FLOWS: &str = "source,destination,packets,dropped\nh0,h1,4,1\n";

#[test]
fn rows_around_a_place_units_windows_and_captures() {
    let behind = "warning: --from 4us is behind the end of the capture, at 3.7500 µs\n";
    let nothing = "no row at 9999ch: the capture has no characters there or later\n";
    for (options, status, out, err) in [
        ("show link-1 --at 12ch --context 1 --units chars", 0, AROUND, ""),
        ("show link-1 --at 0.15us --context 0 --units ns --plain", 0, NANOSECONDS, ""),
        ("show link-1 --at 20ch --context 0 --units ns --plain", 0, NANOSECONDS, ""),
        ("show link-1 --at 20ch --context 2 --count", 0, "5\n", ""),
        ("show link-1 --at 9999ch --no-head", 0, "", nothing),
        ("show link-1 --from 4us", 0, "", behind),
        ("packets link-1 --from 3.75us --no-head", 0, "", "--from 3.75us is behind the end"),
        ("info link-1 --from 4us --count", 0, "2\n", behind),
        ("show link-1 --from 2us --to 1us", 2, "", "--from 2us is not before --to 1us"),
        ("show - --capture 1 --channel s1:1-h1:0 --limit 1 --plain", 0, SECOND, ""),
        ("packets - --capture 1 --count", 0, "9\n", ""),
        ("show - --capture 2", 2, "", "no capture 2; the file has 2, counted from 0\n"),
        ("log demo-cut --from 19.9us --to 21us", 0, LOG, ""),
        ("flows demo-cut --fields source,destination,packets,dropped --format csv", 0, FLOWS, ""),
    ] {
        let arguments: Vec<String> = options
            .split(' ')
            .map(|word| match word.starts_with("link-") || word.starts_with("demo-") {
                true => capture(word),
                false => word.to_owned(),
            })
            .collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = match arguments.contains(&"-") {
            true => piped(&arguments, &capture_bytes("link-1").repeat(2)),
            false => run(&arguments),
        };
        let RunOutcome { status: found, out: text, err: error, .. } = output;
        assert_eq!((found, text.as_str()), (Some(status), out), "{options}\n{error}");
        assert!(error.contains(err) && error.is_empty() == err.is_empty(), "{options}: {error}");
    }
}

#[cfg(unix)]
#[test]
fn a_channel_name_that_a_shell_took_for_a_redirection_is_noticed() {
    let directory: ScratchDirectory = workplace("redirection");
    let (status, err) = shell(&directory, "myriscope show cut.pcapng --channel s0:1>h1:0");
    let expected = "standard output is a file named h1:0. \
                    Did the shell take \">\"? Quote it: 's0:1>h1:0', or write s0:1-h1:0\n";
    assert_eq!(status, Some(0), "{err}");
    assert!(err.ends_with(expected), "{err}");
}
