//! Output of the commands for a capture.

use std::fmt::Write;

use analyzer::snapshot::{SnapshotView, render};

/// Most lines of a section. *Chosen*: a few screens; the commands show all.
const LINES_MAX: usize = 200;

/// The sections, as the commands are called.
const SECTIONS: [(&str, SnapshotView); 8] = [
    ("info", SnapshotView::Info),
    ("check", SnapshotView::Check),
    ("links", SnapshotView::Links),
    ("packets", SnapshotView::Packets),
    ("events", SnapshotView::Events),
    ("journeys", SnapshotView::Journeys),
    ("conversations", SnapshotView::Conversations),
    ("show", SnapshotView::Show),
];

/// Output of `myriscope` for a capture: summary, findings and rules, links, and rows.
pub fn report(capture: &[u8]) -> String {
    let mut out = String::new();
    for (name, view) in SECTIONS {
        let text = render(capture, view);
        // Writing to a string cannot go wrong.
        let _ = writeln!(out, "== myriscope {name}");
        let mut lines = text.lines();
        for line in lines.by_ref().take(LINES_MAX) {
            let _ = writeln!(out, "{line}");
        }
        match lines.count() {
            0 => out.push('\n'),
            more => {
                let _ = writeln!(out, "… {more} lines more\n");
            }
        }
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}
