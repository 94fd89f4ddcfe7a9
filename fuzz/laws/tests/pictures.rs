//! Inputs of every target as pictures.

use std::fmt::Write;

use laws::reproduction::{CANARY, Reproduction, bytes, picture};
use laws::{LawTarget, TARGETS, corpus};

/// The parts of a picture, those that are binary or long by their size.
fn shown(picture: &Reproduction) -> String {
    let held = picture.verdict.as_ref();
    let mut out = held.map_or_else(ToString::to_string, |()| "Holds".to_owned());
    out.push('\n');
    let mut part = |name: &str, part: Result<String, &String>| {
        let _ = match part {
            Ok(text) => writeln!(out, "== {name}\n{text}"),
            Err(why) => writeln!(out, "== no {name}: {why}"),
        };
    };
    let size = |bytes: &Vec<u8>| format!("{} bytes", bytes.len());
    part("capture", picture.capture.as_ref().map(size));
    part("truth", picture.truth.as_ref().map(|truth| String::from_utf8_lossy(truth).into_owned()));
    part("scenario", picture.scenario.as_ref().cloned());
    part("notation", Ok(picture.notation.clone()));
    out
}

fn of(target: &str, input: &[u8]) -> String {
    picture(target, input).as_ref().map_or_else(String::new, shown)
}

#[test]
fn inputs_of_every_target_have_a_picture() {
    for LawTarget { name: target, .. } in TARGETS {
        let all = corpus::inputs(target);
        // Laws of networks take their time.
        let own: Vec<_> = all.iter().step_by(all.len().div_ceil(8).max(1)).collect();
        let pictures: Vec<Reproduction> =
            own.iter().map(|(_, input)| picture(target, input).unwrap()).collect();
        for (picture, (name, _)) in pictures.iter().zip(&own) {
            assert_eq!(picture.verdict, Ok(()), "{target}/{name}");
            assert!(picture.notation.starts_with("#[test]\nfn "), "{target}/{name}");
            let nobody = |why: &String| why.contains("nobody");
            let drawn = !picture.capture.as_ref().is_err_and(nobody);
            assert!(drawn, "{target} has no draft function in fuzz/laws/src/reproduction.rs");
            if let Ok(capture) = &picture.capture {
                assert!(!capture.is_empty(), "{target}/{name}");
                assert!(picture.report.is_ok(), "{target}/{name}: {:?}", picture.report);
            }
        }
        let without = ["filter", "wires"].contains(target);
        let some = pictures.iter().any(|picture| picture.capture.is_ok());
        assert!(without || pictures.is_empty() || some, "{target} shows no characters at all");
    }
    assert_eq!(picture("no-such-target", b""), None);
}

#[test]
fn no_input_is_too_odd_for_a_picture() {
    for LawTarget { name: target, .. } in TARGETS {
        for input in [&b""[..], b"\0", b"\xff\xff\xff\xff", &[0; 40], b"GAP \x1b[31m 83"] {
            let picture = picture(target, input).unwrap();
            assert_eq!(picture.verdict, Ok(()), "{target}: {input:?}");
            let harm = |c: char| c.is_control() && c != '\n';
            assert!(!picture.notation.contains(harm), "{target}: {}", picture.notation);
        }
    }
}

#[test]
fn characters_packets_messages_and_texts_are_shown() {
    insta::assert_snapshot!(of("chars", &corpus::chunk("GAP 83 05 92 GAP STOP", Some(20))));
    insta::assert_snapshot!(of("packet", &corpus::input("packet", "bad")));
    insta::assert_snapshot!(of("message", &corpus::input("message", "good-medium")));
    insta::assert_snapshot!(of("filter", &corpus::input("filter", "text")));
    insta::assert_snapshot!(of("notation", b"GAP 83 (05 STOP)\xc3\x973"));
}

#[test]
fn a_network_is_shown_with_its_scenario_and_its_truth() {
    let picture = picture("network", &corpus::input("network", "backward-reset")).unwrap();
    insta::assert_snapshot!(picture.scenario.as_ref().unwrap());
    assert!(picture.report.unwrap().contains("backward-reset     R-5"));
    let truth = picture.truth.unwrap();
    assert!(String::from_utf8_lossy(&truth).contains("backward-reset"));
}

#[test]
fn a_capture_is_its_own_picture() {
    let input = corpus::input("capture", "whole-flow-control");
    let picture = picture("capture", &input).unwrap();
    assert_eq!(picture.capture.as_ref(), Ok(&input));
    insta::assert_snapshot!(picture.notation);
    insta::assert_snapshot!(picture.report.unwrap());
}

#[test]
fn circuits_are_shown_by_both_channels_of_their_cable() {
    let input =
        bytes("fb 5c 15 3a 96 ba 1c 7d 97 86 6b 98 db c0 7d 94 7a 8c 4f c6 7a 5d 74 ea 7f 02");
    insta::assert_snapshot!(of("link", &input));
}

#[test]
fn machines_are_shown_by_what_is_done_to_them_and_by_their_packets() {
    let input = bytes("00×7 00 01 02 ff 0d 00 00 00 1c 00 00 04 12 00 00 00");
    insta::assert_snapshot!(of("transport", &input));
}

#[test]
fn hosts_are_shown_by_what_they_send_and_what_they_tell() {
    let input = bytes("01 02 03×20 11 22 33 44 55 66 77 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d");
    let picture = picture("endpoints", &input).unwrap();
    insta::assert_snapshot!(picture.notation);
    let truth = String::from_utf8(picture.truth.unwrap()).unwrap();
    for told in ["message-accepted", "message-written", "message-acknowledged", "message-returned"]
    {
        assert!(truth.contains(told), "{told}");
    }
    assert!(picture.report.unwrap().contains("n2.1:0>n1.2:0"));
}

#[test]
fn a_law_that_is_broken_says_how_and_where() {
    let picture = picture(CANARY, &[1, 9, 5, 7]).unwrap();
    let broken = picture.verdict.unwrap_err();
    assert_eq!(broken.text, "no 09 comes before a 07: 1, 3");
    assert!(broken.place.starts_with("fuzz/laws/src/reproduction.rs:"), "{broken}");
    assert!(picture.notation.contains("\"01 09 05 07\""));
}
