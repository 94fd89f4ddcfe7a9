//! `experiment`.

use std::collections::BTreeMap;

use crate::support::{ScratchDirectory, good, json};

fn written(name: &str) -> (String, BTreeMap<String, Vec<u8>>) {
    let directory = ScratchDirectory::new(name);
    let path = directory.file("results");
    let text = good(&["experiment", "interface", "--quick", "-o", &path]);
    let names = directory.names_in("results").into_iter();
    (text, names.map(|name| (name.clone(), directory.read(&format!("results/{name}")))).collect())
}

#[test]
fn an_experiment_prints_published_and_measured_numbers() {
    insta::assert_snapshot!(good(&["experiment", "interface", "--quick"]));
}

#[test]
fn an_experiment_writes_the_same_tables_and_plots_every_time() {
    let (text, files) = written("experiment-one");
    assert_eq!(files["interface.txt"], text.as_bytes());
    for (name, first) in [
        ("interface-figures.csv", "figure,unit,published,ours,origin,source\n"),
        ("interface-rates.csv", "layer,block_bytes,rate_mb_per_s,block_time_us\n"),
        ("interface-rates.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\""),
        ("interface-settings.csv", "parameter,value,unit,why\n"),
        ("interface.json", "{\"experiment\":\"interface\","),
        ("interface.txt", "interface: "),
    ] {
        assert!(files[name].starts_with(first.as_bytes()), "{name}");
    }
    assert_eq!(files.len(), 6);
    assert_eq!(written("experiment-two").1, files);
}

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
