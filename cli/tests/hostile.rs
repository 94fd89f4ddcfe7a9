//! Input that is odd on purpose: the program says what is wrong and where, and comes to an end.

#![expect(clippy::unwrap_used, reason = "a test runs programs, and stops if it cannot go on")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use analyzer::render::{SnapshotView, render};
use codec::capture::{
    ByteOrder, CaptureWriter, Channel, ChannelId, Chunk, ChunkContent, decompress,
};
use codec::notation::parse;
use codec::time::Tick;
use serde_json::{Value, json};

/// Every command that reads a capture, as JSON.
const COMMANDS: [&[&str]; 14] = [
    &["info"],
    &["packets"],
    &["events"],
    &["show"],
    &["links"],
    &["links", "--intervals"],
    &["links", "--slack"],
    &["links", "--fill"],
    &["journeys"],
    &["conversations"],
    &["conversations", "--events"],
    &["blocking"],
    &["topology"],
    &["check"],
];

fn run(command: &[&str], file: &Path) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_myriscope"));
    program.args(command).arg(file).args(["--format", "json"]).output().unwrap()
}

/// A capture of a link; what its channels say of it, and what they carry: a pattern as often.
fn link(more: &[(&str, &str)], patterns: [(&str, u64); 2]) -> Vec<u8> {
    let mut channels = [Channel::named("h0:0>s0:1"), Channel::named("s0:1>h0:0")];
    for channel in &mut channels {
        channel.tap = Some("s0:1".into());
        channel.more = more.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    }
    let mut file = CaptureWriter::new(Vec::new(), ByteOrder::Little, &channels).unwrap();
    for (id, (pattern, count)) in (0..).zip(patterns) {
        let pattern = parse(pattern).unwrap();
        let content = ChunkContent::Repeat { pattern: pattern.chars(), count };
        file.write(ChannelId(id), &Chunk { first: Tick(0), content }).unwrap();
    }
    file.finish().unwrap()
}

/// Keeps a capture in a file.
fn kept(name: &str, capture: &[u8]) -> PathBuf {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("hostile-{name}.pcapng"));
    std::fs::write(&file, capture).unwrap();
    file
}

/// Runs all commands over a capture: none fails, and each prints JSON that is whole.
fn read_by_all(name: &str, capture: &[u8]) {
    let file = kept(name, capture);
    for command in COMMANDS {
        let output = run(command, &file);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!error.contains("an error of this program"), "{command:?}: {error}");
        assert!(serde_json::from_slice::<Value>(&output.stdout).is_ok(), "{command:?}: {error}");
    }
}

#[test]
fn of_a_file_that_cannot_be_opened_nothing_is_printed() {
    for (file, told) in [("not-there.pcapng", "No such file"), (".", "is a directory")] {
        for command in COMMANDS {
            let output = run(command, Path::new(file));
            let error = String::from_utf8(output.stderr).unwrap();
            assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]));
            assert!(
                error.starts_with("myriscope: ") && error.contains(told),
                "{command:?} {error}"
            );
        }
    }
}

#[test]
fn what_a_link_says_of_itself_may_be_any_number() {
    for number in ["0", "1", "65537", "18446744073709551615", "-1", "x"] {
        let more = ["kg", "h", "ks", "delay", "gen", "int"].map(|key| (key, number));
        read_by_all("says", &link(&more, [("83 05 92 GAP FRES", 100), ("STOP GO", 300)]));
    }
}

#[test]
fn no_repeat_is_too_long() {
    for pattern in ["83 GAP", "STOP GO", "83 05 92 GAP FRES"] {
        let file = kept("long", &link(&[], [(pattern, 1 << 60), ("GAP GO", 1 << 60)]));
        for command in [&["links"][..], &["topology"], &["journeys", "--limit", "1"]] {
            let output = run(command, &file);
            assert!(serde_json::from_slice::<Value>(&output.stdout).is_ok(), "{command:?}");
        }
    }
}

/// Pcapng and classic pcap of one interface of a link type, with a packet of 4 bytes.
fn foreign(link_type: u32) -> [Vec<u8>; 2] {
    let bytes = |words: &[u32]| words.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<u8>>();
    let section = [0x0a0d_0d0a, 28, 0x1a2b_3c4d, 1, u32::MAX, u32::MAX, 28];
    let packet = [6, 36, 0, 0, 0, 4, 4, 0x0101_0101, 36];
    let pcapng = [&section[..], &[1, 20, link_type, 0, 20], &packet].concat();
    let pcap = [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, link_type, 1, 1, 4, 4, 0x0101_0101];
    [bytes(&pcapng), bytes(&pcap)]
}

/// Runs a program with a capture on standard input.
fn piped(arguments: &[&str], capture: &[u8]) -> (Option<i32>, String, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_myriscope"));
    let program = program.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut program = program.stderr(Stdio::piped()).spawn().unwrap();
    // A program that reads no further than the first bytes closes the pipe.
    let _ = program.stdin.take().unwrap().write_all(capture);
    let output = program.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

#[test]
fn of_a_file_without_a_channel_every_command_says_what_there_is_and_prints_nothing() {
    let [pcapng, pcap] = foreign(1);
    let ethernet =
        "no Myrinet channel: 1 interface of link type 1 (Ethernet), expected 147 (USER0)";
    let none = "no Myrinet channel: 2 section headers and no interface, expected 147 (USER0)";
    let (truth, copy) = (kept("truth", b""), kept("copy", b""));
    for (capture, told) in [
        (gzip(&pcapng), ethernet),
        (pcap[..pcap.len() - 1].to_vec(), ethernet),
        (pcap, ethernet),
        (pcapng[..28].repeat(2), none),
        (pcapng, ethernet),
    ] {
        let file = kept("none", &capture);
        let [file, truth, copy] = [&file, &truth, &copy].map(|path| path.to_str().unwrap());
        let mut commands: Vec<Vec<&str>> = COMMANDS.map(|it| [it, &[file]].concat()).to_vec();
        commands.extend(COMMANDS.map(|it| [it, &["-", "--format", "jsonl"]].concat()));
        commands.extend([vec!["annotate", file, "-o", copy], vec!["score", file, truth]]);
        for command in commands {
            let (status, out, error) = piped(&command, &capture);
            assert_eq!((status, &*out), (Some(2), ""), "{command:?}");
            assert!(error.contains(told) && error.lines().count() == 1, "{command:?}: {error}");
        }
        let plain = decompress(capture.as_slice()).unwrap();
        assert!(render(plain, SnapshotView::Packets).starts_with(&format!("! {told}")));
    }
}

fn start(bytes: &[u8], len: usize) -> Vec<u8> {
    bytes.get(..len).unwrap().to_vec()
}

/// Bad files of all kinds, each with its name.
fn bad_files() -> Vec<(String, Vec<u8>)> {
    let whole = link(&[("kg", "32")], [("83 05 92 GAP", 40), ("GAP GO", 80)]);
    let noise = (0..3000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0]);
    let [user0, user0_pcap] = foreign(147);
    let mut files = vec![
        ("empty".to_owned(), Vec::new()),
        ("text".to_owned(), b"no capture at all\n".to_vec()),
        ("jpeg".to_owned(), b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01".to_vec()),
        ("noise".to_owned(), noise.collect()),
        ("zeros".to_owned(), vec![0; 5000]),
        ("gzip-cut".to_owned(), start(&gzip(&whole), 60)),
        ("gzip-text".to_owned(), gzip(b"no capture at all\n")),
        ("user0".to_owned(), user0),
        ("user0-pcap".to_owned(), user0_pcap),
        ("twice-cut".to_owned(), [whole.clone(), start(&whole, whole.len() - 5)].concat()),
    ];
    // An odd length is never between two blocks.
    let cuts = (1..whole.len()).step_by(16);
    files.extend(cuts.map(|len| (format!("cut-{len}"), start(&whole, len))));
    files.extend((0..whole.len()).step_by(13).map(|at| {
        let mut flipped = whole.clone();
        flipped.get_mut(at).into_iter().for_each(|byte| *byte ^= 0x90);
        (format!("flip-{at}"), flipped)
    }));
    files
}

#[test]
fn of_bad_files_nothing_is_called_right_and_nothing_panics() {
    let files = bad_files();
    assert!(files.len() >= 60, "{}", files.len());
    for (name, capture) in files {
        let file = kept("bad", &capture);
        // A flipped bit may leave a sound file.
        let may_be_sound = name.starts_with("flip-");
        for command in COMMANDS {
            let output = run(command, &file);
            let error = String::from_utf8(output.stderr).unwrap();
            let is_told = error.starts_with("myriscope: ") && !error.contains("an error of this");
            let is_bad = output.status.code() == Some(2) && is_told;
            assert!(is_bad || may_be_sound, "{name} {command:?}: {error}");
            assert!(serde_json::from_slice::<Value>(&output.stdout).is_ok(), "{name} {command:?}");
        }
        let check: Value = serde_json::from_slice(&run(&["check"], &file).stdout).unwrap();
        if check["read"]["whole"] == true && may_be_sound {
            continue;
        }
        let (status, text, _) = piped(&["check", "-"], &capture);
        assert!(status == Some(2) && text.starts_with("✗ not "), "{name}: {text}");
        assert_eq!(check["verdicts"][0]["judged_on"], "part", "{name}");
        for text in [text, render(capture.as_slice(), SnapshotView::Check)] {
            assert!(text.contains("✗ not ") && !text.contains("nothing wrong"), "{name}: {text}");
        }
    }
}

#[test]
fn where_a_file_breaks_off_check_says_up_to_where_it_judged() {
    let whole = link(&[], [("83 05 92 GAP", 40), ("GAP GO", 80)]);
    // The last block is a repeat of 2 characters in 60 bytes; 160 characters of 12.5 ns come before.
    let at = whole.len() - 60;
    let end = format!(
        "not judged to the end: reading stopped at byte {at}, after 2.0000 µs of h0:0>s0:1"
    );
    let mut bad = whole.clone();
    bad[at + 29] = 9;
    for (capture, stopped_at, left_out, reason) in [
        (&whole[..whole.len() - 1], Some(at), 0, &*end),
        (&bad, None, 1, "not all judged: 1 faulty chunk left out"),
    ] {
        let first = format!("✗ {reason}\n");
        assert!(piped(&["check", "-"], capture).1.starts_with(&first));
        assert!(render(capture, SnapshotView::Check).contains(&first));
        for summary in ["links", "blocking", "topology", "conversations"] {
            assert!(piped(&[summary, "-"], capture).1.starts_with(&first), "{summary}");
        }
        let check = piped(&["check", "-", "--format", "json"], capture).1;
        let read = &serde_json::from_str::<Value>(&check).unwrap()["read"];
        let expected = json!({"whole": false, "stopped_at": stopped_at, "left_out": left_out,
            "faults": left_out, "reason": reason});
        assert_eq!(*read, expected);
    }
}
