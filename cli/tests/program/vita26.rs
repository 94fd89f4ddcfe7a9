//! Packets whose type has four bytes. docs/dialect.md

use std::fs;

use crate::support::{ScratchDirectory, capture, capture_bytes, fixture, good, run};

/// Options that ask for packets with types of four bytes.
const VITA26: [&str; 2] = ["--dialect", "vita26"];

#[test]
fn rows_are_the_expected_ones() {
    let directory = ScratchDirectory::new("vita26-text");
    let copy = directory.file("copy.pcapng");
    good(&["import", &fixture("vita26/capture.txt"), "-o", &copy]);
    assert!(fs::read(copy).unwrap() == fs::read(capture("vita26")).unwrap());
    let expected = fs::read_to_string(fixture("vita26/packets.jsonl")).unwrap();
    let rows =
        good(&["packets", &capture("vita26"), "--hex", "--format", "jsonl", VITA26[0], VITA26[1]]);
    assert_eq!(rows, expected);
}

#[test]
fn a_guess_is_a_note_with_its_reason_and_changes_nothing() {
    let file = capture("vita26");
    let outcome = run(&["packets", &file, "--format", "jsonl"]);
    assert!(outcome.err.contains("the CRC is good: 3 gm, 2 gm-ethernet"), "{}", outcome.err);
    assert!(outcome.err.contains("read by their tags; --dialect vita26"), "{}", outcome.err);
    assert_eq!((outcome.status, outcome.out.contains("vita26")), (Some(0), false));
    // Packets of a simulation are random bytes behind types of one byte.
    assert_eq!(run(&["packets", &capture("demo-lossy")]).err, "");
    assert_eq!(run(&["packets", &file, VITA26[0], VITA26[1]]).err, "");
}

#[test]
fn protocols_of_types_of_one_byte_are_not_looked_for() {
    let file = capture("vita26");
    for (options, expected) in [(&[][..], true), (&VITA26[..], false)] {
        let found = run(&[&["check", &file][..], options].concat()).out;
        assert_eq!(found.contains("malformed-message"), expected, "{found}");
        assert!(found.contains("crc-bad"), "{found}");
        let file = fixture("findings/ip-checksum.pcapng");
        let found = run(&[&["check", &file, "--fields", "finding"][..], options].concat());
        assert_eq!(found.out.contains("ip-checksum"), expected, "{}", found.out);
    }
}

#[test]
fn contents_are_exported() {
    let (file, directory) = (capture("vita26"), ScratchDirectory::new("vita26"));
    let copy = directory.file("copy.pcapng");
    let export = ["export", "packets", &file, "-o", &copy, VITA26[0], VITA26[1], "--payload"];
    assert_eq!(good(&[&export[..], &["ethernet"]].concat()), "2 Ethernet frames written\n");
    let frames = fs::read(&copy).unwrap();
    assert_eq!(good(&[&export[..], &["ip"]].concat()), "1 IP packet written\n");
    let packets = fs::read(&copy).unwrap();
    let count =
        |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).filter(|it| *it == part).count();
    // Headers of the Ethernet frames and of the IP packets in them.
    assert_eq!(count(&frames, &[2, 0, 0, 0, 0, 2, 8, 0, 0x45]), 1);
    assert_eq!(count(&packets, &[2, 0, 0, 0, 0, 2, 8, 0, 0x45]), 0);
    assert_eq!(count(&packets, &[0x45, 0, 0, 33, 0, 1]), 1);
    assert_eq!(count(&packets, b"hello"), 1);
    // Another packet carries the word; a comment on a finding has it behind a number.
    assert_eq!(count(&packets, b"bytes"), count(&packets, b" bytes"));
    // H-1: each of the 56 packets on both links once, in each capture of a file.
    let two = [capture_bytes("demo-ip"), capture_bytes("demo-ip")].concat();
    for (file, number) in [(capture("demo-ip"), 56), (directory.write("two", &two), 112)] {
        let written = good(&["export", "packets", &file, "-o", &copy, "--payload", "ip"]);
        assert_eq!(written, format!("{number} IP packets written\n"));
    }
}

#[test]
fn damaged_captures_are_read_to_their_end() {
    let file = fs::read(capture("vita26")).unwrap();
    let directory = ScratchDirectory::new("vita26-damaged");
    for round in 0..40_usize {
        let mut bytes = file.clone();
        let place = 400 + round * 17 % (bytes.len() - 400);
        if round % 2 == 0 {
            bytes[place] ^= 1 << (round % 8);
        } else {
            bytes.truncate(place);
        }
        let copy = directory.write("damaged.pcapng", &bytes);
        for command in [&["packets", &copy][..], &["export", "packets", &copy, "-o", "/dev/null"]] {
            let outcome = run(&[command, &VITA26].concat());
            assert!(matches!(outcome.status, Some(0 | 2)), "{round} {command:?}: {}", outcome.err);
            assert!(!outcome.err.contains("panicked"), "{}", outcome.err);
        }
    }
}
