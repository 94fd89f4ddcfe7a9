//! A capture through all storeys: whatever the threads, the same.

use myriscope_analyzer::link::parameters::LinkAssumptions;
use myriscope_analyzer::options::AnalysisScope;
use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;

use codec::capture::ReadProgress;

use myriscope_analyzer::pipeline::CaptureAnalysis;

use crate::snapshots::fixtures;

/// All that is told of a capture.
fn told(path: &Path) -> String {
    let capture = File::open(path).unwrap();
    let mut analysis =
        CaptureAnalysis::new(capture, AnalysisScope::Everything, LinkAssumptions::default());
    let mut text = String::new();
    let mut out = |told| writeln!(text, "{told:?}").unwrap();
    while analysis.step(&mut out).unwrap() == ReadProgress::More {}
    writeln!(text, "{:?}", analysis.findings()).unwrap();
    text
}

#[test]
fn any_number_of_threads_tells_the_same() {
    for path in fixtures("") {
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| told(&path))
        };
        let one = with(1);
        assert!(one == with(2) && one == with(7), "{}", path.display());
    }
}
