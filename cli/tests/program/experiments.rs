//! `experiment`.

use crate::support::{good, json};

#[test]
fn json_has_the_content_of_the_tables() {
    let [all, line] = ["json", "jsonl"]
        .map(|format| json(&good(&["experiment", "interface", "--quick", "--format", format])));
    assert_eq!(all["experiments"][0], line);
    assert_eq!(line["experiment"], "interface");
    assert_eq!(line["figures"][5]["published"], 55);
    assert_eq!(line["tables"][0]["rows"][0]["block_bytes"], 512);
    assert_eq!(line.as_object().unwrap().len(), 7);
}

#[test]
fn without_a_name_they_are_listed() {
    let list = good(&["experiment"]);
    assert_eq!(list, good(&["experiment", "--list"]));
    assert!(list.starts_with("logp "));
}
