//! `annotate` and `score`.

use std::path::Path;

use serde_json::Value;

use crate::support::{
    ScratchDirectory, bad, capture, capture_bytes, good, gzip, piped, run, run_in,
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
    let json: Value = serde_json::from_str(&right.out).unwrap();
    assert_eq!(json["scores"][0]["kind"], "packet");
    assert_eq!(json["scores"][0]["recall"], 1.0);
    let text = run_in(&directory, &["score", "slack", "slack.jsonl"]).out;
    let words: Vec<&str> = text.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(words.join(" "), "kind in truth found right precision recall remark");
    assert!(text.contains("1.0000"), "{text}");
    let wrong = score("two-hosts.jsonl");
    assert_eq!(wrong.status, Some(1), "{}", wrong.out);
    directory.write("bad.jsonl", b"{\"at\":1}\n");
    let bad = score("bad.jsonl");
    assert_eq!(bad.status, Some(2));
    assert!(bad.err.contains("bad.jsonl: line 1: "), "{}", bad.err);
    assert!(bad.err.contains("missing field"), "{}", bad.err);
    assert!(!Path::new("slack").exists() && run(&["score", "-", "x"]).status == Some(2));
}
