//! Damaged, foreign and extreme captures: the program reports what is wrong and where, and ends.

use analyzer::snapshot::{SnapshotView, render};
use codec::capture::{Channel, decompress};
use serde_json::{Value, json};

use crate::support::{ScratchDirectory, capture_bytes, gzip, piped, readers, repeats, run};

/// A capture of a link with these descriptions of its channels and a repeated pattern on each.
fn link(more: &[(&str, &str)], patterns: [(&str, u64); 2]) -> Vec<u8> {
    let mut channels = [Channel::named("h0:0>s0:1"), Channel::named("s0:1>h0:0")];
    for channel in &mut channels {
        channel.tap = Some("s0:1".into());
        channel.more = more.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    }
    repeats(&channels, patterns)
}

fn json_of(command: &[&str], file: &str) -> (Option<i32>, Option<Value>, String) {
    let output = run(&[command, &[file, "--format", "json"]].concat());
    (output.status, serde_json::from_str(&output.out).ok(), output.err)
}

#[test]
fn a_channel_may_declare_any_number() {
    let directory = ScratchDirectory::new("declared");
    for number in ["0", "1", "65537", "18446744073709551615", "-1", "x"] {
        let more = ["kg", "h", "ks", "delay", "gen", "int"].map(|key| (key, number));
        let capture = link(&more, [("83 05 92 GAP FRES", 100), ("STOP GO", 300)]);
        let file = directory.write("capture", &capture);
        for command in readers() {
            let (_, json, error) = json_of(command, &file);
            assert!(!error.contains("internal error"), "{command:?}: {error}");
            assert!(json.is_some(), "{command:?}: {error}");
        }
    }
}

#[test]
fn no_repeat_is_too_long() {
    let directory = ScratchDirectory::new("long");
    for pattern in ["83 GAP", "STOP GO", "83 05 92 GAP FRES"] {
        let capture = link(&[], [(pattern, 1 << 60), ("GAP GO", 1 << 60)]);
        let file = directory.write("capture", &capture);
        for command in [&["links"][..], &["topology"], &["journeys", "--limit", "1"]] {
            assert!(json_of(command, &file).1.is_some(), "{command:?}");
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

#[test]
fn a_file_without_a_channel_is_an_error_of_every_command() {
    let directory = ScratchDirectory::new("none");
    let [pcapng, pcap] = foreign(1);
    let ethernet =
        "no Myrinet channel: 1 interface of link type 1 (Ethernet), expected 147 (USER0)";
    let none = "no Myrinet channel: 2 section headers and no interface, expected 147 (USER0)";
    let truth = directory.write("truth", b"");
    let copy = directory.write("copy", b"");
    for (capture, reason) in [
        (gzip(&pcapng), ethernet),
        (pcap[..pcap.len() - 1].to_vec(), ethernet),
        (pcap, ethernet),
        (pcapng[..28].repeat(2), none),
        (pcapng, ethernet),
    ] {
        let file = directory.write("capture", &capture);
        let mut commands: Vec<Vec<&str>> = readers().map(|it| [it, &[&file]].concat()).collect();
        commands.extend(readers().map(|it| [it, &["-", "--format", "jsonl"]].concat()));
        commands.extend([vec!["annotate", &file, "-o", &copy], vec!["score", &file, &truth]]);
        commands.push(vec!["export", "packets", &file, "-o", &copy]);
        commands.push(vec!["export", "packets", "--journeys", &file, "-o", &copy]);
        for command in commands {
            let output = piped(&command, &capture);
            assert_eq!((output.status, output.out.as_str()), (Some(2), ""), "{command:?}");
            let is_reported = output.err.contains(reason) && output.err.lines().count() == 1;
            assert!(is_reported, "{command:?}: {}", output.err);
        }
        let plain = decompress(capture.as_slice()).unwrap();
        assert!(render(plain, SnapshotView::Packets).starts_with(&format!("! {reason}")));
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
fn a_bad_file_never_passes_and_never_panics() {
    let directory = ScratchDirectory::new("bad");
    let files = bad_files();
    assert!(files.len() >= 60, "{}", files.len());
    let readers: Vec<_> = readers().collect();
    for (number, (name, capture)) in files.into_iter().enumerate() {
        let file = directory.write("capture", &capture);
        // A flipped bit may leave a valid file.
        let may_be_valid = name.starts_with("flip-");
        // Files of each kind with all commands: of a cut or a flipped bit, each with some of them.
        let apart = if may_be_valid || name.starts_with("cut-") { 6 } else { 1 };
        for &command in readers.iter().skip(number % apart).step_by(apart) {
            let (status, json, error) = json_of(command, &file);
            let is_reported = error.starts_with("myriscope: ") && !error.contains("internal error");
            let is_bad = status == Some(2) && is_reported;
            assert!(is_bad || may_be_valid, "{name} {command:?}: {error}");
            assert!(json.is_some(), "{name} {command:?}");
        }
        let check = json_of(&["check"], &file).1.unwrap();
        if check["read"]["whole"] == true && may_be_valid {
            continue;
        }
        let output = piped(&["check", "-"], &capture);
        assert_eq!(output.status, Some(2), "{name}");
        assert_eq!(check["verdicts"][0]["judged_on"], "part", "{name}");
        for text in [output.out, render(capture.as_slice(), SnapshotView::Check)] {
            assert!(text.contains("✗ not ") && !text.contains("nothing wrong"), "{name}: {text}");
        }
    }
}

#[test]
fn check_reports_how_far_a_damaged_file_was_read() {
    let whole = link(&[], [("83 05 92 GAP", 40), ("GAP GO", 80)]);
    // The last block is a repeat of 2 characters in 60 bytes; 160 characters of 12.5 ns come before.
    let at = whole.len() - 60;
    let mut bad = whole.clone();
    bad[at + 29] = 9;
    for (capture, stopped_at, left_out, parts) in [
        (&whole[..whole.len() - 1], Some(at), 0, ["2.0000 µs", "h0:0>s0:1"]),
        (&bad, None, 1, ["1 faulty chunk", "left out"]),
    ] {
        let first = piped(&["check", "-"], capture).out.lines().next().unwrap().to_owned();
        assert!(parts.iter().all(|part| first.contains(part)), "{first}");
        assert!(render(capture, SnapshotView::Check).contains(&first));
        for summary in ["links", "blocking", "topology", "conversations"] {
            assert!(piped(&[summary, "-"], capture).out.starts_with(&first), "{summary}");
        }
        let check = piped(&["check", "-", "--format", "json"], capture).out;
        let read = &serde_json::from_str::<Value>(&check).unwrap()["read"];
        let expected = json!({"whole": false, "stopped_at": stopped_at, "left_out": left_out,
            "faults": left_out, "reason": first.trim_start_matches("✗ ")});
        assert_eq!(*read, expected);
    }
}

#[test]
fn a_truncated_file_yields_the_rows_before_the_damage() {
    let whole = capture_bytes("link-1");
    let output = piped(&["packets", "-", "--format", "jsonl"], &whole[..700]);
    assert_eq!(output.status, Some(2));
    assert!(output.out.lines().count() >= 5, "{}", output.out);
    let first = "myriscope: standard input: byte 520: block 5 (enhanced packet): ";
    assert!(output.err.starts_with(first) && output.err.lines().count() == 1, "{}", output.err);
    // The object is closed all the same.
    let output = piped(&["packets", "-", "--format", "json"], &whole[..700]);
    assert!(serde_json::from_str::<Value>(&output.out).unwrap()["packets"].is_array());
}
