//! A capture through all storeys: whatever the threads, the same.

use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;

use myriscope_analyzer::{AnalysisOptions, AnalysisScope, analyze};

use crate::snapshots::fixtures;
use crate::support::analysed;

/// All that is told of a capture.
fn analysis_text(path: &Path) -> String {
    let (events, analysis) = analysed(File::open(path).unwrap(), AnalysisScope::Everything);
    let mut text = String::new();
    events.iter().for_each(|event| writeln!(text, "{event:?}").unwrap());
    writeln!(text, "{:?}", analysis.findings()).unwrap();
    text
}

#[test]
fn the_report_of_a_capture_has_a_member_for_each_part() {
    let path = fixtures("demo-lossy").pop().unwrap();
    let report = analyze(File::open(path).unwrap(), &AnalysisOptions::default());
    let all = serde_json::to_value(&report).unwrap();
    let parts: Vec<&str> = all.as_object().unwrap().keys().map(String::as_str).collect();
    insta::assert_snapshot!(parts.join(" "), @"channels conversations findings journeys read topology verdicts waits");
    assert_eq!(all["conversations"]["count"], report.conversation_count);
    assert_eq!(all["channels"].as_array().unwrap().len(), report.channels.len());
}

#[test]
fn any_number_of_threads_tells_the_same() {
    for path in fixtures("") {
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| analysis_text(&path))
        };
        let one = with(1);
        assert!(one == with(2) && one == with(7), "{}", path.display());
    }
}
