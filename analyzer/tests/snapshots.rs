//! Every published fixture as a person sees it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use myriscope_analyzer::snapshot::{SnapshotView, render};

/// Captures of the fixtures whose names begin so.
pub(crate) fn fixtures(prefix: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    let mut paths: Vec<_> = fs::read_dir(root).unwrap().map(|it| it.unwrap().path()).collect();
    paths.retain(|path| path.file_name().unwrap().to_string_lossy().starts_with(prefix));
    paths.iter_mut().for_each(|path| path.push("capture.pcapng"));
    paths.retain(|path| path.exists());
    paths.sort();
    paths
}

/// Compares views of fixtures with their snapshots.
fn compare(name: &str, prefix: &str, views: &[SnapshotView]) {
    for path in fixtures(prefix) {
        let text = views.iter().map(|view| render(File::open(&path).unwrap(), *view));
        let text = text.collect::<Vec<_>>().join("\n");
        let fixture = path.parent().and_then(Path::file_name).unwrap().to_string_lossy();
        let suffix = format!("{fixture}__capture.pcapng");
        insta::with_settings!({ omit_expression => true, snapshot_suffix => suffix }, {
            insta::assert_snapshot!(name, text);
        });
    }
}

fn check(name: &str, view: SnapshotView) {
    compare(name, "link-", &[view]);
}

#[test]
fn info() {
    check("info", SnapshotView::Info);
}

#[test]
fn packets() {
    check("packets", SnapshotView::Packets);
}

#[test]
fn events() {
    check("events", SnapshotView::Events);
}

#[test]
fn show() {
    check("show", SnapshotView::Show);
}

#[test]
fn links() {
    everywhere("links", &[SnapshotView::Links]);
}

#[test]
fn slack_buffers() {
    everywhere("slack", &[SnapshotView::Slack]);
}

#[test]
fn networks_and_waits() {
    everywhere("network", &[SnapshotView::Topology, SnapshotView::Blocking]);
}

/// Views of every fixture, those of whole networks too.
fn everywhere(name: &str, views: &[SnapshotView]) {
    compare(name, "", views);
}
