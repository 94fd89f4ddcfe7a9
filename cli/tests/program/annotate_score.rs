//! `annotate` and `score`.

use std::path::Path;

use serde_json::Value;

use crate::support::{
    ScratchDirectory, bad, capture, capture_bytes, good, gzip, json, piped, run, run_in,
};

#[test]
fn an_annotated_capture_has_the_same_characters_and_comments_beside_them() {
    let directory = ScratchDirectory::new("annotate");
    for name in ["link-1", "link-14", "demo-slack"] {
        let (path, copy) = (capture(name), directory.file(name));
        let said = good(&["annotate", "-o", &copy, &path]);
        assert!(said.ends_with(" comments written\n"), "{said}");
        assert_eq!(good(&["show", &path]), good(&["show", &copy]), "{name}");
        let bytes = directory.read(name);
        assert!(String::from_utf8_lossy(&bytes).contains("myriscope warning "), "{name}");
        // Once more adds nothing; and compressed it is the same.
        let packed = directory.write("packed", &gzip(&bytes));
        good(&["annotate", "-o", &directory.file("again"), &packed]);
        assert_eq!(bytes, directory.read("again"), "{name}");
    }
}

#[test]
fn of_a_capture_that_cannot_be_annotated_no_copy_is_left() {
    let directory = ScratchDirectory::new("annotate-damaged");
    let (damaged, link_1) = (directory.file("damaged"), capture_bytes("link-1"));
    directory.write("damaged", &link_1[..1000]);
    let said = bad(&["annotate", "-o", &directory.file("copy"), &damaged]);
    assert!(said.contains("byte ") && directory.names() == ["damaged"], "{said}");
    let refused = piped(&["annotate", "-", "-o", "x"], &link_1);
    assert_eq!(refused.status, Some(2));
    assert!(refused.err.contains("annotate reads the capture twice: name a file"));
}

#[test]
fn a_simulated_capture_scores_and_another_s_truth_does_not() {
    let directory = ScratchDirectory::new("score");
    for demo in ["two-hosts", "slack"] {
        let truth = format!("{demo}.jsonl");
        let done = run_in(&directory, &["demo", demo, "-o", demo, "--truth", &truth]);
        assert_eq!(done.status, Some(0));
    }
    let score = |truth: &str| run_in(&directory, &["score", "--format", "json", "slack", truth]);
    let right = score("slack.jsonl");
    assert_eq!((right.status, right.err.as_str()), (Some(0), ""), "{}", right.out);
    let first = &json(&right.out)["scores"][0];
    assert_eq!((&first["kind"], &first["recall"]), (&"packet".into(), &1.0.into()));
    let text = run_in(&directory, &["score", "slack", "slack.jsonl"]).out;
    let words: Vec<&str> = text.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(words.join(" "), "kind in truth found right precision recall remark");
    assert!(text.contains("1.0000"), "{text}");
    let wrong = score("two-hosts.jsonl");
    assert_eq!(wrong.status, Some(1), "{}", wrong.out);
    let differences = json(&wrong.out)["differences"].clone();
    let is_found = |it: &Value| it["account"] == "invented" && it["channel"].is_string();
    assert!(differences.as_array().unwrap().iter().any(is_found), "{differences}");
    directory.write("bad.jsonl", b"{\"at\":1}\n");
    let bad = score("bad.jsonl");
    assert_eq!(bad.status, Some(2));
    assert!(bad.err.contains("bad.jsonl: line 1: "), "{}", bad.err);
    assert!(bad.err.contains("missing field"), "{}", bad.err);
    assert!(!Path::new("slack").exists() && run(&["score", "-", "x"]).status == Some(2));
}

/// H-1: the IP packets of demo `ip`, each on both its links, are recorded ones. It changes a character of one; here
/// another gets another protocol.
#[test]
fn exported_packets_are_replayed_and_score() {
    let directory = ScratchDirectory::new("replay");
    let done = |arguments: &[&str]| {
        let outcome = run_in(&directory, arguments);
        assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""), "{arguments:?}");
        outcome.out
    };
    done(&["export", "packets", &capture("demo-ip"), "--payload", "ip", "-o", "talk.pcapng"]);
    let mut talk = directory.read("talk.pcapng");
    let ends = [10, 0, 0, 4, 10, 0, 0, 3, 0x80, 1, 4, 1];
    let first = talk.windows(12).position(|bytes| bytes == ends).unwrap();
    // TCP is protocol 6, ICMP 1; the header's checksum is as much greater.
    talk[first - 3] -= 5;
    talk[first - 1] += 5;
    directory.write("talk.pcapng.gz", &gzip(&talk));
    let scenario = "duration_us = 2000\ntopology = { kind = 'switch', ports = 3 }\n\
                    tap = [{ all = true }]\n[[replay]]\nfile = 'talk.pcapng.gz'\n\
                    hosts = { '10.0.0.2' = 'h0', '10.0.0.3' = 'h1', '10.0.0.4' = 'h2' }\n";
    directory.write("net.toml", scenario.as_bytes());
    done(&["simulate", "net.toml", "-o", "again.pcapng", "--truth", "truth.jsonl"]);
    let bad = ["packets", "again.pcapng", "--filter", "ip.checksum == bad", "--format", "jsonl"];
    assert_eq!(done(&bad).lines().count(), 2);
    let scores = json(&done(&["score", "--format", "json", "again.pcapng", "truth.jsonl"]));
    let score = |kind: &str| {
        let mut rows = scores["scores"].as_array().unwrap().iter();
        let row = rows.find(|row| row["kind"] == kind).unwrap();
        ["in_truth", "found", "right"].map(|name| row[name].as_u64().unwrap())
    };
    assert_eq!(score("ip"), [112; 3]);
    // From h0 first and later fragments, from h2 segments and the one of another protocol, answers of h1.
    assert_eq!(score("ip-conversation"), [5; 3]);
}
