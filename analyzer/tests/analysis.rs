//! A capture through all storeys: whatever the threads, the same.

use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;

use myriscope_analyzer::AnalysisScope;

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
